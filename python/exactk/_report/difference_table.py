"""Rows of differences as a printed table: columns, caption and notes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from exactk._report.comparison_options import ComparisonOptions
from exactk._report.display import DIGITS, format_number
from exactk._report.tables import TextTable
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from exactk._plan.conventions import Convention
    from exactk._report.difference import Difference

_FEW_USERS = 20
"""With fewer users who differ, tests of skewed differences do not keep their level."""

_MOST_NAMED = 3  # rows in a note
_MOST_DIGITS = 9

_OTHER_HYPOTHESES = {
    "wilcoxon": "p is that of differences symmetric about 0 (Wilcoxon), not that of equal means; difference and interval are of the means",
    "sign": "p is that of equally many wins and losses (sign test), not that of equal means; difference and interval are of the means",
}


@dataclass(frozen=True)
class ComparisonMethod:
    """How differences were computed, and what their metrics are."""

    options: ComparisonOptions
    pair_count: int
    convention: Convention
    spellings: Mapping[str, str]  # of the metrics, by canonical name
    of_sums: frozenset[str]  # the spellings of metrics of which users have no values, such as F of means

    def to_plain(self) -> dict[str, Any]:
        """Return the fields as public types, for pickles."""
        return {
            "options": self.options.to_dict(),
            "pair_count": self.pair_count,
            "convention": self.convention,
            "spellings": dict(self.spellings),
            "of_sums": sorted(self.of_sums),
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Return what `to_plain` described."""
        options = ComparisonOptions.from_dict(plain["options"])
        return cls(**{**plain, "options": options, "of_sums": frozenset(plain["of_sums"])})

    @property
    def caption(self) -> str:
        """The test, the adjustment and the confidence."""
        return self.options.caption(self.pair_count, len(self.spellings))

    @property
    def is_adjusted(self) -> bool:
        """Whether p-values may differ from adjusted ones."""
        return self.options.adjust != "none" and self.options.family_size(self.pair_count, len(self.spellings)) > 1


class _Column(NamedTuple):
    header: str
    cell: Callable[[Difference], str]


def difference_table(rows: Sequence[Difference], method: ComparisonMethod) -> TextTable:
    """Return the rows as text: of columns that would be the same in all rows, the caption has the number of users."""
    digits = max([_digits(row) for row in rows], default=DIGITS)
    effect = "rank-biserial" if method.options.test == "wilcoxon" else "d_z"
    names = [_Column("metric", lambda row: row.metric), _Column("system", lambda row: row.system)]
    if any(row.group is not None for row in rows):
        names.insert(0, _Column("group", lambda row: "" if row.group is None else str(row.group)))
    if method.options.baseline is None:
        names.append(_Column("baseline", lambda row: row.baseline))
    columns = [
        *names,
        _Column("value", lambda row: _or_dash(row.value, format_number)),
        _Column("baseline value", lambda row: _or_dash(row.baseline_value, format_number)),
        _Column("difference", lambda row: _signed(row.difference, digits)),
        _Column("interval", lambda row: _interval(row, digits)),
        _Column("relative", lambda row: _or_dash(row.relative, percentage)),
        _Column("p", lambda row: _or_dash(row.p, format_p)),
        *([_Column("adjusted", lambda row: _or_dash(row.p_adjusted, format_p))] if method.is_adjusted else []),
        _Column(effect, lambda row: _or_dash(row.effect, "{:.3f}".format)),
        _Column(
            "wins/ties/losses",
            lambda row: "-" if row.metric in method.of_sums else f"{row.wins}/{row.ties}/{row.losses}",
        ),
        *([] if users_text(rows) else _columns_of_users(rows)),
        *([_Column("detectable", lambda row: _unsigned(row.detectable, digits))] if len(rows) != 1 else []),
        _Column("verdict", lambda row: row.verdict),
    ]
    cells = [[column.cell(row) for column in columns] for row in rows]
    return TextTable([column.header for column in columns], cells, left=len(names))


def _columns_of_users(rows: Sequence[Difference]) -> list[_Column]:
    if all(row.users == row.units for row in rows):
        return [_Column("users", lambda row: str(row.users))]
    return [_Column("users", lambda row: str(row.users)), _Column("clusters", lambda row: str(row.units))]


def caption_lines(rows: Sequence[Difference], method: ComparisonMethod) -> list[str]:
    """Return how the rows were computed, of how many users, and what to keep in mind."""
    users = [users_text(rows)] if rows and users_text(rows) else []
    if len(rows) > 1:
        users.append("a difference of the detectable size would be found in 4 of 5 such samples")
    elif rows and rows[0].detectable > 0:
        smallest = _unsigned(rows[0].detectable, _digits(rows[0]))
        users.append(f"differences from {smallest} on would be found in 4 of 5 such samples")
    return [method.caption, *(["; ".join(users)] if users else []), *_notes(rows, method)]


def _notes(rows: Sequence[Difference], method: ComparisonMethod) -> list[str]:
    notes = [_OTHER_HYPOTHESES[method.options.test]] if rows and method.options.test in _OTHER_HYPOTHESES else []
    few = [row for row in rows if _has_few_users(row, method)]
    if few:
        named = _named(few, rows, method)
        differing = "" if all(row.users == row.units for row in few) else " users or clusters"
        notes.append(f"few users: fewer than {_FEW_USERS}{differing} differ, so p and interval are rough{named}")
    for reason in dict.fromkeys(row.reason for row in rows if row.reason):
        named = _named([row for row in rows if row.reason == reason], rows, method)
        notes.append(f"no p-value: {reason}{named}")
    return notes


def _has_few_users(row: Difference, method: ComparisonMethod) -> bool:
    """Return whether few users, or clusters, decide the row. Systems that are equal for all users need no more users."""
    if row.reason:
        return False
    differing = row.wins + row.losses
    return row.units < _FEW_USERS if row.metric in method.of_sums else 0 < min(differing, row.units) < _FEW_USERS


def _named(some: Sequence[Difference], rows: Sequence[Difference], method: ComparisonMethod) -> str:
    """Return the names of some of the rows, unless they are all."""
    if len(some) == len(rows):
        return ""
    names = [name_of_row(row, method) for row in some[:_MOST_NAMED]]
    left_out = len(some) - len(names)
    return f" ({'; '.join([*names, *([f'{left_out} more'] if left_out else [])])})"


def name_of_row(row: Difference, method: ComparisonMethod) -> str:
    """Return what the row compares, such as ``ndcg@10 of b against a``; the caption names a common baseline."""
    against = f" against {row.baseline}" if method.options.baseline is None else ""
    return f"{row.metric} of {row.system}{against}" + ("" if row.group is None else f", group {row.group}")


def heterogeneity_lines(
    rows: Iterable[Difference], heterogeneity: Mapping[tuple[str, str, str], float], method: ComparisonMethod
) -> list[str]:
    """Return whether the differences differ between groups, one line per metric and pair."""
    names = {
        (row.metric, row.system, row.baseline): name_of_row(row._replace(group=None), method)
        for row in rows
        if row.group is not None
    }
    return [
        f"heterogeneity between groups, {name}: p = {_or_dash(heterogeneity[key], format_p)} (Cochran's Q)"
        for key, name in names.items()
        if key in heterogeneity
    ]


def users_text(rows: Sequence[Difference]) -> str:
    """Return the number of users of all rows, and of their clusters; empty if the rows have different ones."""
    counts = {(row.users, row.units) for row in rows}
    if len(counts) > 1:
        return ""
    users, units = next(iter(counts), (0, 0))
    return plural(users, "user") + ("" if users == units else f" in {plural(units, 'cluster')}")


def _digits(row: Difference) -> int:
    """Return the decimals that show two digits of the interval's half width, or of the difference."""
    size = (row.high - row.low) / 2 or abs(row.difference)
    if not 0 < size < math.inf:
        return DIGITS
    return min(max(DIGITS, 1 - math.floor(math.log10(size))), _MOST_DIGITS)


def _or_dash(number: float, form: Callable[[float], str]) -> str:
    return "-" if math.isnan(number) else form(number)


def _signed(number: float, digits: int) -> str:
    return _or_dash(number, lambda one: ("" if one < 0 else "+") + format_number(one, digits))


def _unsigned(number: float, digits: int) -> str:
    return _or_dash(number, lambda one: format_number(one, digits))


def _interval(row: Difference, digits: int) -> str:
    if math.isnan(row.low) or math.isnan(row.high):
        return "-"
    return f"{_signed(row.low, digits)} to {_signed(row.high, digits)}"


def percentage(share: float) -> str:
    """Return a signed share in percent, with one decimal, or one digit if it is small."""
    number = 100 * share
    if abs(number) >= 999.95:
        return f"{number:+,.0f} %"
    return f"{number:+.1f} %" if abs(number) >= 0.05 or number == 0 else f"{number:+.1g} %"


def format_p(p: float) -> str:
    """Return a p-value with two digits."""
    return f"{p:.2g}" if p >= 1e-300 else "<1e-300"
