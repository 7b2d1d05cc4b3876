"""Rows of differences as a printed table: columns, caption and notes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from exactk._inference.bootstrap import FEWEST_UNITS
from exactk._inference.margins import SMALL_GROUP
from exactk._report.comparison_options import ComparisonOptions
from exactk._runtime.errors import warn
from exactk._runtime.faults import Option, plural
from exactk._runtime.table import Column, Table, format_number
from exactk._runtime.texts import DIGITS
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from exactk._inference.margins import Heterogeneity
    from exactk._plan.conventions import Convention
    from exactk._report.difference import Difference
    from exactk._report.sums import Label
    from exactk._runtime.table import Kind

FEW_USERS = 20
"""With fewer users who differ, tests of skewed differences do not keep their level."""

_MOST_NAMED = 3  # rows in a note
_MOST_DIGITS = 9
_ROUNDING = 1e-12  # relative differences below it come from rounding

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
    of_unit_range: frozenset[str]  # those of metrics whose values are from 0 to 1
    is_weighted: bool  # whether users have weights
    is_by_row: bool  # whether reports of users without keys are matched by row
    units: UnitNames = USERS_AND_ITEMS

    def to_plain(self) -> dict[str, Any]:
        """Return the fields as public types, for pickles."""
        return {
            "options": self.options.to_dict(),
            "pair_count": self.pair_count,
            "convention": self.convention,
            "spellings": dict(self.spellings),
            "of_sums": sorted(self.of_sums),
            "of_unit_range": sorted(self.of_unit_range),
            "is_weighted": self.is_weighted,
            "is_by_row": self.is_by_row,
            "units": self.units.pair,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Return what `to_plain` described."""
        options = ComparisonOptions.from_dict(plain["options"])
        sets = {name: frozenset(plain[name]) for name in ("of_sums", "of_unit_range")}
        return cls(**{**plain, "options": options, **sets, "units": UnitNames(*plain["units"])})

    def caption(self, rows: Sequence[Difference]) -> str:
        """Return how these differences were computed, in a line."""
        margins = self._margins_text({row.metric for row in rows})
        parts = [self.test_text(rows), self.adjustment_of(rows), self._intervals_text, *margins]
        return "; ".join([*parts, *self.options.runs_texts])

    def test_text(self, rows: Iterable[Difference]) -> str:
        """Return the test of these differences in words."""
        return self.options.test_text([row.exact for row in rows if not row.reason])

    @property
    def level_text(self) -> str:
        """The level of significance in words."""
        return f"level {self.options.level:.3g}"

    def adjustment_of(self, rows: Iterable[Difference]) -> str:
        """Return the adjustment of these p-values in words: groups are families of their own."""
        has_groups = self.is_adjusted and any(row.group is not None for row in rows)
        return f"{self.adjustment_text}{' in each group' * has_groups}"

    @property
    def adjustment_text(self) -> str:
        """The adjustment of p-values in words."""
        return self.options.adjustment_text(self.pair_count, len(self.spellings))

    @property
    def _intervals_text(self) -> str:
        """The intervals in words."""
        options, level = self.options, f"{100 * self.options.confidence:g} %"
        if options.interval == "t" and options.adjust == "max_t":
            return f"{'simultaneous ' if self.is_adjusted else ''}{level} intervals by random sign flips"
        methods = {"t": "", "percentile": "percentile bootstrap ", "bca": "BCa bootstrap "}
        how = "" if options.interval == "t" else f" of {options.resamples:,} resamples"
        return f"{level} {methods[options.interval]}intervals{how}{', not adjusted' if self.is_adjusted else ''}"

    def _margins_text(self, metrics: Collection[str]) -> list[str]:
        """Return the margin of all metrics, or that of each which has one."""
        margins = self.options.margins(self.convention, self.spellings)
        if "" in margins:
            return [f"margin {margins['']}"]
        of_metrics = [
            f"{spelling} {margins[name]}"
            for name, spelling in self.spellings.items()
            if name in margins and spelling in metrics
        ]
        return [f"margin {', '.join(of_metrics)}"] if of_metrics else []

    @property
    def sample(self) -> str:
        """What the number of users does not say about the sample, in words."""
        how = ["weighted"] * self.is_weighted + ["matched by row"] * self.is_by_row
        return " and ".join(how)

    @property
    def one_side(self) -> list[str]:
        """What a one-sided test leaves open, in words; none of a two-sided test."""
        sides = {"greater": ("greater", "smaller"), "less": ("smaller", "greater")}
        if self.options.alternative not in sides:
            return []
        tested, untested = sides[self.options.alternative]
        return [f"one-sided: tests only whether values are {tested}; no p-value shows that they are {untested}"]

    def detectable(self, row: Difference) -> float:
        """Return the smallest difference that the row's test is likely to find; NaN where that is not known.

        It is that of a two-sided t test, and there is none without variance, or beyond all values of the metric.
        """
        is_tested = self.options.test == "t" and self.options.alternative == "two_sided"
        most = 1.0 if row.metric in self.of_unit_range else math.inf
        return row.detectable if is_tested and not row.reason and 0 < row.detectable <= most else math.nan

    def users_text(self, rows: Sequence[Difference]) -> str:
        """Return the number of users of all rows, and of their clusters; empty if the rows have different ones."""
        counts = {(row.users, row.units) for row in rows}
        if len(counts) > 1:
            return ""
        users, units = next(iter(counts), (0, 0))
        in_clusters = "" if users == units else f" in {plural(units, 'cluster')}"
        of_group = " per group" if any(row.group is not None for row in rows) else ""
        return plural(users, self.units.user) + in_clusters + of_group

    @property
    def is_adjusted(self) -> bool:
        """Whether p-values may differ from adjusted ones."""
        return self.options.adjust != "none" and self.options.family_size(self.pair_count, len(self.spellings)) > 1


def difference_table(rows: Sequence[Difference], method: ComparisonMethod, decimals: int | None = None) -> Table:
    """Return the rows as text: of columns that would be the same in all rows, the caption has the number of users.

    By default, values have four decimals, and differences as many as their intervals need.
    """
    digits = max([_digits(row) for row in rows], default=DIGITS) if decimals is None else decimals
    value_digits = DIGITS if decimals is None else decimals
    has_clusters, has_groups = any(row.users != row.units for row in rows), any(row.group is not None for row in rows)
    effect = "rank-biserial" if method.options.test == "wilcoxon" else f"d_z{' of clusters' * has_clusters}"
    shown = list(map(_without_rounding, rows))

    def column(
        name: str, text: Callable[[Difference], str], kind: Kind = "value", *, is_shown: bool = True
    ) -> list[Column]:
        return [Column(name, [*map(text, shown)], kind)] if is_shown else []

    columns = [
        *column("group", lambda row: "" if row.group is None else str(row.group), "key", is_shown=has_groups),
        *column("metric", lambda row: row.metric, "key"),
        *column("system", lambda row: row.system, "key"),
        *column("baseline", lambda row: row.baseline, "key", is_shown=method.options.baseline is None),
        *column("value", lambda row: _unsigned(row.value, value_digits)),
        *column("baseline value", lambda row: _unsigned(row.baseline_value, value_digits)),
        *column("difference", lambda row: _signed(row.difference, digits)),
        *column("interval", lambda row: _interval(row, digits)),
        *column("relative", lambda row: _or_dash(row.relative, percentage)),
        *column("p", lambda row: _or_dash(row.p, format_p)),
        *column("adjusted", lambda row: _or_dash(row.p_adjusted, format_p), is_shown=method.is_adjusted),
        *column(effect, lambda row: _or_dash(row.effect, "{:z.3f}".format)),
        *column(
            "wins/ties/losses",
            lambda row: "-" if row.metric in method.of_sums else f"{row.wins}/{row.ties}/{row.losses}",
        ),
        *column(method.units.users, lambda row: str(row.users), is_shown=not method.users_text(rows)),
        *column("clusters", lambda row: str(row.units), is_shown=has_clusters and not method.users_text(rows)),
        *column(
            "detectable",
            lambda row: _unsigned(method.detectable(row), digits),
            is_shown=len(rows) > 1 and _has_detectable(rows, method),
        ),
        *column("verdict", lambda row: row.verdict),
    ]
    return Table(columns, "Differences by group" if has_groups else "Differences")


def _without_rounding(row: Difference) -> Difference:
    """Return the row with a difference of 0 where it comes from rounding alone."""
    return row._replace(difference=0.0, relative=0.0) if abs(row.relative) < _ROUNDING else row


def caption_lines(rows: Sequence[Difference], method: ComparisonMethod) -> list[str]:
    """Return how the rows were computed, of how many users, and what to keep in mind."""
    of_all = method.users_text(rows)
    sample = [of_all, method.sample] if of_all else [f"{method.units.users} {method.sample}" * bool(method.sample)]
    users = [", ".join(filter(None, sample))] if rows and any(sample) else []
    if _has_detectable(rows, method):
        size = "the detectable size" if len(rows) > 1 else _unsigned(method.detectable(rows[0]), _digits(rows[0]))
        significant = f"significant{' before adjustment' if method.is_adjusted else ''}"
        users.append(f"a true difference of {size} or more would be {significant} in 4 of 5 samples of this size")
    if not rows:
        reason = "no rows: only metrics of which users have values are tested, and groups only with groups="
        return [method.caption(rows), method.units.text(reason)]
    return [method.caption(rows), *(["; ".join(users)] if users else []), *_notes(rows, method)]


def _has_detectable(rows: Sequence[Difference], method: ComparisonMethod) -> bool:
    return not all(math.isnan(method.detectable(row)) for row in rows)


def _notes(rows: Sequence[Difference], method: ComparisonMethod) -> list[str]:
    notes = [_OTHER_HYPOTHESES[method.options.test]] if rows and method.options.test in _OTHER_HYPOTHESES else []
    notes += method.one_side if rows else []
    clusters = [row for row in rows if _has_few_clusters(row)]
    if clusters:
        counts = sorted({row.units for row in clusters})
        text = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        notes.append(f"few clusters: {text}, so {_rough(clusters, method)}{_named(clusters, rows, method)}")
    few = [row for row in rows if not _has_few_clusters(row) and _has_few_users(row, method)]
    if few:
        named = _named(few, rows, method)
        has_margin = not all(math.isnan(row.p_equivalent) for row in few)
        wider = ", and margins are tested by wider bounds if values have a range" if has_margin else ""
        notes.append(f"few {method.units.users}: fewer than {FEW_USERS} differ, so {_rough(few, method)}{wider}{named}")
    notes += _notes_of_equal_differences(rows, method)
    without = [
        row
        for row in rows
        if method.options.interval != "t" and not row.reason and math.isnan(row.low) and row.detectable
    ]
    if without:
        named = _named(without, rows, method)
        notes.append(f"no bootstrap interval: fewer than {FEWEST_UNITS} {method.units.users} or clusters{named}")
    undecided = [row for row in rows if _is_within_error(row, method)]
    if undecided:
        some = [f"{name_of_row(row, method)}, {_with_error(row, method)}" for row in undecided[:_MOST_NAMED]]
        more = [f"{len(undecided) - _MOST_NAMED} more"] if len(undecided) > _MOST_NAMED else []
        notes.append(f"more flips may decide: {'; '.join([*some, *more])}")
    notes += left_out_lines(rows, method.units)
    for reason in dict.fromkeys(row.reason for row in rows if row.reason):
        named = _named([row for row in rows if row.reason == reason], rows, method)
        notes.append(f"no p-value: {reason}{named}")
    return notes


def _notes_of_equal_differences(rows: Sequence[Difference], method: ComparisonMethod) -> list[str]:
    """Return which intervals are not those of a sample with variance, and which are missing for it."""
    equal = [row for row in rows if row.detectable == 0]
    differing = [row for row in equal if row.difference and not math.isnan(row.low)]
    without = [row for row in equal if math.isnan(row.low)]
    users = method.users_text(differing) or method.units.users
    notes = [f"all {users} differ by the same amount{_named(differing, rows, method)}"] if differing else []
    if without:
        notes.append(f"no interval: all differences are equal{_named(without, rows, method)}")
    return notes


def _rough(rows: Sequence[Difference], method: ComparisonMethod) -> str:
    """Return what few units mean for the test and the intervals."""
    if method.options.test != "permutation":
        return "p and interval are rough"
    sides = 2 if method.options.alternative == "two_sided" else 1
    least = max(
        sides * 0.5 ** (row.units if _has_few_clusters(row) else min(row.units, row.wins + row.losses)) for row in rows
    )
    if least <= method.options.level or any(row.metric in method.of_sums for row in rows):
        return "intervals are rough"
    return f"intervals are rough, and no p-value can be below {format_p(min(1.0, least))}"


def _is_within_error(row: Difference, method: ComparisonMethod) -> bool:
    """Return whether another seed might decide otherwise: the level is within two standard errors of p."""
    error = row.p_adjusted_error
    return error > 0 and abs(row.p_adjusted - method.options.level) <= 2 * error


def _with_error(row: Difference, method: ComparisonMethod) -> str:
    """Return the adjusted p-value and its standard error, with as many decimals as show two digits of the error."""
    digits = min(max(2, 1 - math.floor(math.log10(row.p_adjusted_error))), _MOST_DIGITS)
    name = "adjusted p" if method.is_adjusted else "p"
    return f"{name} = {row.p_adjusted:.{digits}f}, standard error {row.p_adjusted_error:.{digits}f}"


def _is_least(row: Difference, options: ComparisonOptions) -> bool:
    """Return whether the p-value from random flips is the smallest that they can give."""
    return (row.p_adjusted if options.adjust == "max_t" else row.p) <= options.least_flipped_p


def warn_of_few_flips(rows: Iterable[Difference], method: ComparisonMethod) -> None:
    """Warn if the standard error of a p-value from random flips leaves open whether it is significant."""
    undecided = [row for row in rows if _is_within_error(row, method)]
    if not undecided:
        return
    options, first, more = method.options, undecided[0], len(undecided) - 1
    others = f" and {more} more" if more else ""
    side = f"may be on either side of {options.level:g}"
    text: list[str | Option] = [f"{name_of_row(first, method)}{others}: {_with_error(first, method)}, {side}"]
    if _is_least(first, options):
        text.append(
            f"; the smallest p that {options.permutations:,} flips can give is {format_p(options.least_flipped_p)}"
        )
    if options.more_permutations is not None:
        text += ["; ", Option("permutations", options.more_permutations), " has a smaller error"]
    warn(*text)


def left_out_lines(rows: Iterable[Difference], units: UnitNames) -> list[str]:
    """Return how many users only one system of a pair has, who are left out, by the pair and their number."""
    metrics_of: dict[tuple[str, str, Label | None], set[str]] = {}
    left_out: dict[tuple[tuple[str, str, Label | None], str, str, int], list[str]] = {}
    for row in rows:
        pair = (row.system, row.baseline, row.group)
        metrics_of.setdefault(pair, set()).add(row.metric)
        for count, system, other in (
            (row.only_system, row.system, row.baseline),
            (row.only_baseline, row.baseline, row.system),
        ):
            if count:
                left_out.setdefault((pair, system, other, count), []).append(row.metric)
    lines = []
    for (pair, system, other, count), metrics in left_out.items():
        of_metrics = "" if len(metrics) == len(metrics_of[pair]) else f" ({', '.join(metrics)})"
        of_group = "" if pair[2] is None else f", group {pair[2]}"
        lines.append(f"{plural(count, units.user)} of {system} that {other} lacks{of_group}{of_metrics}")
    more = [f"{len(lines) - _MOST_NAMED} more pairs or metrics"] if len(lines) > _MOST_NAMED else []
    return [f"left out: {', '.join([*lines[:_MOST_NAMED], *more])}"] if lines else []


def _has_few_clusters(row: Difference) -> bool:
    """Return whether users are in few clusters, which are the sample."""
    return not row.reason and row.units != row.users and row.units < FEW_USERS


def _has_few_users(row: Difference, method: ComparisonMethod) -> bool:
    """Return whether few users decide the row. Systems that are equal for all users need no more users."""
    if row.reason:
        return False
    return row.units < FEW_USERS if row.metric in method.of_sums else 0 < row.wins + row.losses < FEW_USERS


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
    rows: Iterable[Difference], heterogeneity: Mapping[tuple[str, str, str], Heterogeneity], method: ComparisonMethod
) -> list[str]:
    """Return whether the differences differ between groups, one line per metric and pair, and then how that was tested."""
    names = {
        (row.metric, row.system, row.baseline): name_of_row(row._replace(group=None), method)
        for row in rows
        if row.group is not None
    }
    tests = {name: heterogeneity[key] for key, name in names.items() if key in heterogeneity}
    family, level = max((test.family for test in tests.values()), default=0), method.options.level
    adjustment = f"Holm over {family} tests" if family > 1 else "no adjustment: one test"
    note = (
        f"heterogeneity by Welch's test; {adjustment}; different verdicts of groups do not show that the groups differ"
    )
    return [
        *(
            f"heterogeneity between groups, {name}: {_describe(one, method.units, level)}"
            for name, one in tests.items()
        ),
        *([note] if family else []),
    ]


def _describe(test: Heterogeneity, units: UnitNames, level: float) -> str:
    """Return the p-values, the verdict, and which groups make them rough or are not in them."""
    text = f"p = {_or_dash(test.p, format_p)}"
    if test.family > 1:
        text += f", adjusted {_or_dash(test.p_adjusted, format_p)}"
    text += f", I² {_or_dash(100 * test.i_squared, '{:.0f} %'.format)}"
    text += ", differs between groups" if test.p_adjusted <= level else ""
    small = f"rough: {plural(test.small, 'group')} of fewer than {SMALL_GROUP} {units.users} or clusters"
    left_out = f"{plural(test.left_out, 'group')} without variance left out"
    shared = "groups are taken as independent, though clusters have users in several"
    kept = [(small, test.small), (left_out, test.left_out), (shared, test.shared)]
    notes = "; ".join(note for note, count in kept if count)
    return f"{text}{notes and f' ({notes})'}"


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


def signed_number(number: float, row: Difference) -> str:
    """Return a difference with its sign, and as many decimals as the row's interval needs."""
    return _signed(number, _digits(row))


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
