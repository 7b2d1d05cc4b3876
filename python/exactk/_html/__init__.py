"""The HTML page of a report or comparison: one file without scripts, requests and fonts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exactk._html.limits import limited_section
from exactk._html.page_source import Limits, Source
from exactk._html.sections import SECTIONS
from exactk._html.shown_lists import check_lists
from exactk._report.comparison import Comparison
from exactk._report.report import Report
from exactk._runtime import optional
from exactk._runtime.faults import plural
from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    import jinja2

    from exactk._report.exports import Exports, PageRequest

_MOST_BYTES = 950_000  # of a page, so that it is below 1 MB with what a server adds


def html_page(result: Exports, request: PageRequest) -> str:
    """Return the page."""
    comparison = result if isinstance(result, Comparison) else None
    reports = {"": result} if isinstance(result, Report) else dict(comparison.reports if comparison else {})
    template = optional.html_templates("exactk._html").get_template("page.html")
    source = Source(reports, comparison, request)
    check_lists(source)
    page, limits = _rendered(template, source), Limits()
    while len(page.encode()) > _MOST_BYTES and limits != limits.halved():
        limits = limits.halved()
        page = _rendered(template, replace(source, limits=limits))
    return page


def _rendered(template: jinja2.Template, source: Source) -> str:
    request = source.request
    title = request.title or ("Comparison of systems" if source.comparison else "Evaluation of a system")
    page = template.render(
        title=printable(title),
        note=printable(request.note),
        subtitle=_subtitle(source),
        sections=[limited_section(section(source), source.limits) for section in SECTIONS],
    )
    return page.encode(errors="backslashreplace").decode()


def _subtitle(source: Source) -> str:
    """Return what was evaluated, in a line."""
    counts = sorted({report.state.counts.users for report in source.reports.values()})
    users = (
        f"{counts[0]:,} to {counts[-1]:,} users" if len(counts) > 1 else f"{counts[0]:,} user{'s' * (counts[0] != 1)}"
    )
    systems = [plural(len(source.reports), "system")] if source.comparison else []
    return ", ".join(
        [*systems, plural(len(source.first), "metric"), users, f"convention {source.first.convention.name}"]
    )
