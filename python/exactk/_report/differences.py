"""The differences between all compared pairs of systems, with their tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, overload

from exactk._inference.adjustment import adjust
from exactk._inference.power import heterogeneity
from exactk._report.difference import Compared, Difference, difference_row, verdict_of
from exactk._report.display import DIGITS, format_csv, format_latex, format_markdown, format_number, format_text
from exactk._report.tables import TextTable
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from exactk._inference.margins import Margin
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._report.tables import Columns


def tested_rows(
    compared: Sequence[Compared], options: ComparisonOptions, margins: Mapping[str, Margin]
) -> list[Difference]:
    """Return the rows with adjusted p-values and verdicts. A family is of one group, and of one metric or all."""
    rows = [difference_row(one, options, margins) for one in compared]
    families: dict[object, list[int]] = {}
    for index, row in enumerate(rows):
        families.setdefault((row.group, row.metric if options.family == "metric" else ""), []).append(index)
    for family in families.values():
        for index, p in zip(family, adjust([rows[i].p for i in family], options.adjust), strict=True):
            row = rows[index]._replace(p_adjusted=p)
            rows[index] = row._replace(verdict=verdict_of(row, compared[index].direction, 1 - options.confidence))
    return rows


def heterogeneity_of(groups: Iterable[Compared]) -> float:
    """Return the p-value of the claim that a difference differs between groups (Cochran's Q)."""
    estimates = [estimate for estimate in (one.estimate() for one in groups) if estimate is not None]
    contrasts = [estimate.contrast() for estimate in estimates]
    return heterogeneity([one for one, _ in contrasts], [variance for _, variance in contrasts])


class Differences(Sequence[Difference]):
    """The differences of a comparison: a sequence of one `Difference` per metric and pair of systems.

    `exactk.Comparison.differences` returns it. It prints as a table, with the test, the adjustment and the confidence
    below. ``differences["als", "ndcg@10"]`` is the row of a system and a metric, ``differences["als", "popularity",
    "ndcg@10"]`` that of a pair and a metric, and ``differences.of("ndcg@10")`` has all rows of a metric, spelled as in
    the table.

    Attributes
    ----------
    by_group : Differences
        The same by group of users, adjusted within each group; empty without ``groups=``.
    heterogeneity : Mapping of (metric, system, baseline) to float
        The p-value of Cochran's Q, which is small if the difference is not the same in all groups; NaN for fewer than
        two groups. Empty without ``groups=``.

    Examples
    --------
    >>> import exactk
    >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
    >>> groups = ["new"] * 18 + ["old"] * 22
    >>> differences = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a", groups=groups).differences
    >>> differences
    metric  system  baseline   value  baseline value  difference            interval        p  adjusted    d_z  wins/ties/losses  verdict
    P@1     b       a         0.5500          0.2500     +0.3000  +0.1516 to +0.4484  0.00021   0.00021  0.646           12/28/0   better
    paired t test; Holm over 1 comparison per metric; 95 % intervals
    >>> [(row.group, round(row.difference, 3), row.verdict) for row in differences.by_group]
    [('new', 0.444, 'better'), ('old', 0.182, 'better')]
    >>> round(differences.heterogeneity["P@1", "b", "a"], 3)
    0.074
    """

    def __init__(
        self,
        rows: Sequence[Difference],
        caption: str,
        by_group: Differences | None = None,
        heterogeneity: Mapping[tuple[str, str, str], float] | None = None,
    ) -> None:
        self._rows, self._caption = tuple(rows), caption
        self._by_group = by_group
        self._heterogeneity = dict(heterogeneity or {})

    @property
    def by_group(self) -> Differences:
        """The differences by group of users."""
        return Differences((), self._caption) if self._by_group is None else self._by_group

    @property
    def heterogeneity(self) -> Mapping[tuple[str, str, str], float]:
        """The p-value of Cochran's Q by metric, system and baseline."""
        return MappingProxyType(self._heterogeneity)

    def of(self, metric: str | None = None, system: str | None = None) -> Differences:
        """Return the rows of a metric, of a system, or of both. Raise KeyError if there are rows, but none of these."""
        rows = [row for row in self if metric in {None, row.metric} and system in {None, row.system, row.baseline}]
        if self and not rows:
            asked = [repr(one) for one in (metric, system) if one is not None]
            raise KeyError(f"no difference of {' and '.join(asked)}; {self._describe()}")
        return Differences(rows, self._caption)

    def columns(self) -> Columns:
        """Return the rows as columns, by name."""
        left_out = () if any(row.group is not None for row in self) else ("group",)
        return {name: [getattr(row, name) for row in self._rows] for name in Difference._fields if name not in left_out}

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame."""
        return optional.pandas_frame(self.columns())

    def to_polars(self) -> pl.DataFrame:
        """Return a Polars data frame."""
        return optional.polars_frame(self.columns())

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table."""
        return optional.arrow_table(self.columns())

    def to_csv(self) -> str:
        """Return CSV, with numbers in full precision."""
        return format_csv(self.columns())

    def to_markdown(self) -> str:
        """Return a Markdown table."""
        return format_markdown(*self._text_table())

    def to_latex(self) -> str:
        """Return a LaTeX ``tabular``."""
        return format_latex(*self._text_table())

    def __repr__(self) -> str:
        return "\n".join([format_text(*self._text_table()), self._caption])

    def _text_table(self) -> TextTable:
        has_groups = any(row.group is not None for row in self)
        header = [*(["group"] if has_groups else []), *_HEADER]
        rows = [[*([str(row.group)] if has_groups else []), *_cells(row)] for row in self]
        return TextTable(header, rows, left=3 + has_groups)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self._rows)

    @overload
    def __getitem__(self, index: int) -> Difference: ...
    @overload
    def __getitem__(self, index: slice) -> Differences: ...
    @overload
    def __getitem__(self, index: tuple[str, str] | tuple[str, str, str]) -> Difference: ...
    def __getitem__(self, index: int | slice | tuple[str, ...]) -> Difference | Differences:
        """Return a row by its number, by system and metric, or by system, baseline and metric."""
        if isinstance(index, slice):
            return Differences(self._rows[index], self._caption)
        if not isinstance(index, tuple):
            return self._rows[index]
        *systems, metric = index
        rows = [row for row in self if row.metric == metric and [row.system, row.baseline][: len(systems)] == systems]
        if len(rows) != 1:
            raise KeyError(f"{index!r} names {len(rows)} differences; {self._describe()}")
        return rows[0]

    def _describe(self) -> str:
        """Return the metrics and the pairs of systems."""
        metrics = ", ".join(dict.fromkeys(repr(row.metric) for row in self))
        pairs = ", ".join(dict.fromkeys(f"({row.system!r}, {row.baseline!r})" for row in self))
        return f"the metrics are {metrics}, the pairs are {pairs}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Differences):
            return NotImplemented
        return repr([*self, *self.by_group]) == repr([*other, *other.by_group])

    __hash__ = None  # type: ignore[assignment]


_HEADER = (
    "metric", "system", "baseline", "value", "baseline value", "difference", "interval", "p", "adjusted", "d_z",
    "wins/ties/losses", "verdict",
)  # fmt: skip


def _cells(row: Difference) -> list[str]:
    return [
        row.metric,
        row.system,
        row.baseline,
        format_number(row.value),
        format_number(row.baseline_value),
        f"{row.difference:+.{DIGITS}f}",
        f"{row.low:+.{DIGITS}f} to {row.high:+.{DIGITS}f}",
        _format_p(row.p),
        _format_p(row.p_adjusted),
        f"{row.effect:.3f}",
        f"{row.wins}/{row.ties}/{row.losses}",
        row.verdict,
    ]


def _format_p(p: float) -> str:
    return f"{p:.2g}" if p >= 1e-300 or math.isnan(p) else "<1e-300"
