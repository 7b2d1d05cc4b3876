"""What was recommended of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._html.page_parts import Section, page_table
from exactk._html.texts import number

if TYPE_CHECKING:
    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source

_QUESTION = "Whether a system recommends more than what is popular."
_MISSING = (
    "no metric of the recommended items was computed; ask for some, such as coverage@10 and novelty@10, with "
    "items=exactk.Items(catalogue, train=train)"
)


def catalogue(source: Source) -> Section:
    """Return the section."""
    values = [value for value in source.values if value.info.of_collection or value.info.reads_list]
    if not values:
        return Section("catalogue", "Catalogue", _QUESTION, missing=_MISSING)
    systems = list(source.reports) if source.comparison is not None else ["value"]
    rows = [
        [value.spelling, value.info.summary, *(number(report[value.name]) for report in source.reports.values())]
        for value in values
    ]
    catalogue_text = source.first.state.catalogue
    note = "" if catalogue_text is None else f"The catalogue: {catalogue_text}."
    parts: list[Part] = [
        page_table("Metrics of the recommended items", ["metric", "what it is", *systems], rows, 2, note)
    ]
    return Section("catalogue", "Catalogue", _QUESTION, [*parts, *_groups_of_items(source)])


def _groups_of_items(source: Source) -> list[Part]:
    by_system = {system: report.by_item_group for system, report in source.reports.items()}
    labels = list(dict.fromkeys(label for groups in by_system.values() for label in groups))
    if not labels:
        return []
    metrics = [value.spelling for value in source.values if value.info.reads_groups]
    header = [
        "group of items",
        *(" ".join(filter(None, [system, metric])) for system in by_system for metric in metrics),
    ]
    rows = [
        [
            str(label),
            *(
                number(groups[label][metric]) if label in groups else "-"
                for groups in by_system.values()
                for metric in metrics
            ),
        ]
        for label in labels
    ]
    return [page_table("By group of items", header, rows)]
