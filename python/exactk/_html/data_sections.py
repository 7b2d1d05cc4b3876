"""What was counted, and what a sample of this size can show."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from exactk._figures import interval_of
from exactk._html.page_parts import Bullets, number, page_table, range_of_counts, share_text
from exactk._inference.significance import t_quantile
from exactk._report.counts import count_label
from exactk._report.difference_table import left_out_lines
from exactk._runtime.errors import ExactkError
from exactk._runtime.faults import capitalized

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._html.page_parts import Content
    from exactk._html.page_source import Source
    from exactk._inference.intervals import MeanInterval
    from exactk._plan.values import Value
    from exactk._report.comparison import Comparison
    from exactk._report.difference import Difference
    from exactk._report.report import Report
    from exactk._runtime.table import Table


_EXPLANATIONS = {
    "empty_truth": "the convention's empty_truth decides what they count",
    "missing_lists": "missing_list decides what they count",
    "missing_truth": "the convention's users decides whether they are in the mean",
    "empty_predictions": "empty_list decides what they count",
    "duplicates": "duplicate_items decides what they count",
    "excluded_recommended": "they were removed from the lists",
    "relevant_excluded": "they cannot be recommended and count as misses",
    "relevant_not_rankable": "no score, column or candidate is theirs, and they count as misses",
    "unknown_actual": "they were dropped",
    "rank_gaps": "rank_gaps decides whether they are closed",
    "foreign_recommended": "foreign_items decides what they count",
    "unseen_recommended": "unseen_items decides what they count",
}


def data_health(source: Source) -> Content:
    remarks = _remarks(source) or ["Nothing unusual: every count of missing, empty or excluded data is 0."]
    ties = _ties(source)
    return [Bullets(remarks), _table_of_counts(source), *([ties] if ties.rows else [])]


def _remarks(source: Source) -> list[str]:
    """Return what deserves a look, in words."""
    lines = []
    compares_lists = source.values[0].info.compares_lists
    for name, explanation in _EXPLANATIONS.items():
        counts = {system: _scalars(report).get(name, 0) for system, report in source.reports.items()}
        if any(counts.values()):
            label = count_label(name, source.result.unit_names, compares_lists=compares_lists)
            more = "" if compares_lists else f"; {explanation}"
            lines.append(f"{capitalized(label)}: {_by_system(counts)}{more}.")
    if source.differences is not None:
        lines += [f"{capitalized(line)}." for line in left_out_lines(source.differences, source.result.unit_names)]
    return lines


def _scalars(report: Report) -> dict[str, int]:
    return report.state.counts.scalars()


def _by_system(counts: dict[str, int]) -> str:
    """Return one number if it is that of all systems, else that of each."""
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values())):,}"
    return ", ".join(f"{count:,} in {system}" for system, count in counts.items() if count)


def _table_of_counts(source: Source) -> Table:
    compares_lists = source.values[0].info.compares_lists
    names = dict.fromkeys(name for report in source.reports.values() for name in _scalars(report))
    rows = [
        [
            count_label(name, source.result.unit_names, compares_lists=compares_lists),
            *(f"{_scalars(report).get(name, 0):,}" for report in source.reports.values()),
        ]
        for name in names
    ]
    candidates = [report.counts.get("candidates") for report in source.reports.values()]
    if any(candidates):
        for name, text in {"min": "fewest", "mean": "mean", "max": "most"}.items():
            cells = ("-" if one is None else f"{one[name]:,.6g}" for one in candidates)
            rows.append([source.named(f"candidates of a user, {text}"), *cells])
    return page_table("Counts", ["", *source.column_names("count")], rows)


def _ties(source: Source) -> Table:
    """Return how many users' values depend on the order of ties, and how far apart the extremes of the mean are."""
    rows = []
    for index, value in enumerate(source.plan):
        for system, report in source.reports.items():
            ties = (report.state.counts.ties or ())[index : index + 1]
            if ties and ties[0].dependent:
                evaluated = report.counts["evaluated"][value.name]
                span = number(ties[0].spread / 1e6 / evaluated) if evaluated and _has_span(value) else "-"
                share = share_text(ties[0].dependent / max(1, report.state.counts.users))
                rows.append([value.spelling, system, f"{ties[0].dependent:,}", share, span])
    note = "The span is that of the mean over all orders of tied items, from ties=pessimistic to ties=optimistic."
    caption = source.named("Users whose value depends on the order of ties")
    header = ["metric", "system", source.named("users"), "share", "span"]
    return page_table(caption, header, rows, 2, source.named(note))


def _has_span(value: Value) -> bool:
    return not value.info.reads_list and value.rules["average"] == "macro"


_SHARE = "1%"
_MOST_METRICS = 30
_MOST_SHARES = 1e5  # of the value in a half width: the mean is about 0


def sample_size(source: Source) -> Content:
    if source.comparison is not None and source.rows_of:
        table = _table_of_pairs(source, source.comparison)
    else:
        table = _table_of_intervals(source)
    return [table] if table.rows else "it needs intervals: SciPy, and with weights or of micro averages per_user=True"


def _table_of_pairs(source: Source, comparison: Comparison) -> Table:
    unit = "clusters" if source.has_clusters else source.named("users")
    weighted = source.first.state.weighted and not comparison.state.options.runs  # whose degrees of freedom are others
    rows = [
        [
            metric,
            range_of_counts([row.units for row in some]),
            *([_effective(some)] if weighted else []),
            number(_largest(map(_half_width, some))),
            _detectable(some),
            _needed(comparison, metric),
        ]
        for metric, some in islice(source.rows_of.items(), _MOST_METRICS)
    ]
    header = [
        "metric",
        unit,
        *["effective number"] * weighted,
        "half of the interval",
        "detectable",
        f"{unit} for {_SHARE}",
    ]
    note = (
        "Of the pair of systems with the largest number. Detectable is the true difference that a two-sided t test without "
        f"adjustment finds in 4 of 5 samples of this size; the last column is how many {unit} find a difference of {_SHARE} "
        "of the baseline's value as often."
    )
    if weighted:
        note += f" The effective number is how many {unit} with equal weights carry as much information."
    return page_table("Differences that this sample can show", header, rows, note=note)


def _effective(rows: Sequence[Difference]) -> str:
    """Return the smallest effective number of users under weights."""
    numbers = [row.degrees_of_freedom + 1 for row in rows if math.isfinite(row.degrees_of_freedom)]
    return f"{min(numbers):,.1f}" if numbers else "-"


def _half_width(row: Difference) -> float:
    return (row.high - row.low) / 2


def _largest(numbers: Iterable[float]) -> float:
    return max((one for one in numbers if math.isfinite(one)), default=math.nan)


def _detectable(rows: Sequence[Difference]) -> str:
    largest = _largest(row.detectable for row in rows)
    return number(largest) if largest > 0 else "-"


def _needed(comparison: Comparison, metric: str) -> str:
    try:
        return f"{comparison.users_for(metric, _SHARE):,}"
    except ExactkError:
        return "-"


def _users_for_share(users: int, half: float, size: float) -> str:
    """Return how many users make the half width 1 % of the value."""
    share = 0.01 * abs(size)
    if not (half > 0 and share > 0) or half / share > _MOST_SHARES:
        return "-"
    return f"{math.ceil(users * (half / share) ** 2):,}"


def _half_of_t(report: Report, value: Value, interval: MeanInterval, confidence: float) -> float:
    """Return half of the interval of Student's t, by which it shrinks with more users; NaN if it is not known."""
    deviation, users = report.standard_deviation[value.name], report.counts["evaluated"][value.name]
    if math.isnan(deviation) or report.state.weighted:  # the deviation does not determine it
        return (interval.high - interval.low) / 2 if interval.method == "t" else math.nan
    if users < 2:
        return math.nan
    return t_quantile((1 + confidence) / 2, Fraction(users - 1)) * deviation / math.sqrt(users - 1)


def _table_of_intervals(source: Source) -> Table:
    rows = []
    for value in source.values[:_MOST_METRICS]:
        for system, report in source.reports.items():
            interval = interval_of(report, value, source.confidence)
            if interval.method is not None:
                half, size = (interval.high - interval.low) / 2, report[value.name]
                users = report.counts["evaluated"][value.name]
                relative = share_text(abs(half / size)) if size and math.isfinite(half) else "-"
                needed = _users_for_share(users, _half_of_t(report, value, interval, source.confidence), size)
                width = number(half) if math.isfinite(half) else "-"
                rows.append([value.spelling, system, f"{users:,}", width, relative, needed])
    users = source.named("users")
    header = ["metric", "system", users, "half of the interval", "in percent", f"{users} for ±{_SHARE}"]
    if source.comparison is None:
        header, rows = [header[0], *header[2:]], [[row[0], *row[2:]] for row in rows]
    note = (
        f"The last column is about how many {users} would make the {source.level_text} interval ±{_SHARE} of the value."
    )
    return page_table("How well this sample knows each value", header, rows, 2 if source.comparison else 1, note)
