"""Whether there are enough users."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from exactk._figures.figures import interval_of
from exactk._html.page_parts import Section, page_table
from exactk._html.texts import number, share_text
from exactk._inference.significance import t_quantile
from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._html.page_source import Source
    from exactk._inference.intervals import MeanInterval
    from exactk._plan.values import Value
    from exactk._report.comparison import Comparison
    from exactk._report.difference import Difference
    from exactk._report.report import Report
    from exactk._runtime.table import Table

_QUESTION = "Whether to collect more users, or to stop."
_SHARE = "1%"
_MOST_METRICS = 30
_MOST_SHARES = 1e5  # of the value in a half width: the mean is about 0


def sample_size(source: Source) -> Section:
    """Return the section."""
    if source.comparison is not None and source.rows_of:
        table = _table_of_pairs(source, source.comparison)
    else:
        table = _table_of_intervals(source)
    missing = "" if table.rows else "it needs intervals: SciPy, and means of users' values with equal weights"
    return Section("sample-size", "Sample size", _QUESTION, [table] if table.rows else [], missing=missing)


def _table_of_pairs(source: Source, comparison: Comparison) -> Table:
    has_clusters = any(row.units != row.users for some in source.rows_of.values() for row in some)
    unit = "clusters" if has_clusters else "users"
    weighted = source.first.state.weighted and not comparison.state.options.runs  # whose degrees of freedom are others
    rows = [
        [
            metric,
            _range([row.units for row in some]),
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


def _range(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


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
    if math.isnan(deviation):  # of a geometric mean
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
    header = ["metric", "system", "users", "half of the interval", "in percent", f"users for ±{_SHARE}"]
    if source.comparison is None:
        header, rows = [header[0], *header[2:]], [[row[0], *row[2:]] for row in rows]
    note = (
        f"The last column is about how many users would make the {source.level_text} interval ±{_SHARE} of the value."
    )
    return page_table("How well this sample knows each value", header, rows, 2 if source.comparison else 1, note)
