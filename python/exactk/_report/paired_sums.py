"""What a comparison keeps of each pair of systems: exact sums over the users whom both have."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import chain, starmap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from exactk._inference.estimates import Estimate, estimate, f_of_means, mean_of, size_under_exchange
from exactk._inference.moments import Moments
from exactk._plan.metric_strings import part_indices
from exactk._plan.values import range_of
from exactk._report.state import State, check_same_plan, plan_of_state
from exactk._report.validation import checked_fields, checked_integer, checked_list, fail, read_hex
from exactk._runtime.errors import StateMismatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from exactk._inference.bootstrap import BootstrapIntervals
    from exactk._inference.estimates import Gradient, Ratio
    from exactk._inference.sign_flips import FlipTest
    from exactk._inference.significance import HalfWidth
    from exactk._plan.values import Value
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._report.sums import Label, Sums

Pair: TypeAlias = tuple[str, str]
"""A system and its baseline."""


class PairedSums(NamedTuple):
    """The exact sums of one value over the users of one pair of systems."""

    users: int  # who have the value in both systems
    only_system: int  # who have it in the system alone
    only_baseline: int
    greater: int  # of the users of both, whose value is greater in the system
    less: int
    moments: Moments

    @property
    def equal(self) -> int:
        """Users of both systems with equal values."""
        return self.users - self.greater - self.less

    def plus(self, other: PairedSums) -> PairedSums:
        """Return the sums over both sets of users, which have no user and no cluster in common."""
        return PairedSums(
            self.users + other.users,
            self.only_system + other.only_system,
            self.only_baseline + other.only_baseline,
            self.greater + other.greater,
            self.less + other.less,
            self.moments.plus(other.moments),
        )


@dataclass(frozen=True)
class PairedState:
    """The exact, mergeable sums of a comparison's pairs.

    Attributes
    ----------
    weighted, clustered : bool
        Whether users had weights, and whether they were in clusters.
    totals : Mapping of (system, baseline) to tuple of PairedSums
        The sums of each value over all users.
    groups : Mapping of (system, baseline) to Mapping of label to tuple of PairedSums, or None
        The same for each group.
    """

    weighted: bool
    clustered: bool
    totals: Mapping[Pair, tuple[PairedSums, ...]]
    groups: Mapping[Pair, Mapping[Label, tuple[PairedSums, ...]]] | None = None

    def plus(self, other: PairedState) -> PairedState:
        """Return the sums over both sets of users."""
        for what, one, another in (
            ("weights", self.weighted, other.weighted),
            ("clusters", self.clustered, other.clustered),
        ):
            if one != another:
                message = f"parts: expected {what} in all or in none, found {what} in some"
                raise StateMismatchError(message, "parts")
        if list(self.totals) != list(other.totals):
            message = (
                f"parts: expected the same pairs of systems in all, found {list(self.totals)} and {list(other.totals)}"
            )
            raise StateMismatchError(message, "parts")
        totals = {pair: _add(sums, other.totals[pair]) for pair, sums in self.totals.items()}
        if self.groups is None or other.groups is None:
            return replace(self, totals=totals, groups=None)
        groups = {}
        for pair, by_label in self.groups.items():
            groups[pair] = dict(by_label)
            for label, sums in other.groups[pair].items():
                groups[pair][label] = _add(by_label[label], sums) if label in by_label else sums
        return replace(self, totals=totals, groups=groups)


def _add(one: tuple[PairedSums, ...], other: tuple[PairedSums, ...]) -> tuple[PairedSums, ...]:
    return tuple(map(PairedSums.plus, one, other))


def estimate_of(value: Value, sums: PairedSums, *, weighted: bool) -> Estimate | None:
    """Return the estimate of a value's difference; None if a value is 0/0.

    The columns are the system's numbers, the baseline's, and the weights: of a mean, each user's value; of micro
    averages, numerator and denominator; of F of means, precision and recall.
    """
    moments = sums.moments
    weight = len(moments.sums) - 1 if weighted else None
    system, baseline, function = _ratios_of(value, moments)
    is_logarithmic = value.rules["average"] == "geometric"
    found = estimate(moments, system, baseline, function, weight=weight, is_logarithmic=is_logarithmic)
    if found is None:
        return None
    differing = min(moments.units, sums.greater + sums.less)
    if value.rules["average"] == "of_means" and not have_equal_numbers(value, moments):
        differing = moments.units  # users have no values: all are taken to differ
    return replace(found, range=_range_of(value, is_logarithmic=is_logarithmic), differing=differing)


_LEAST_OF_GEOMETRIC = 1e-5  # what a value of 0 counts as


def _range_of(value: Value, *, is_logarithmic: bool) -> tuple[float, float]:
    """Return the range of what is averaged."""
    low, high = range_of(value)
    if is_logarithmic:
        low, high = (math.log(max(_LEAST_OF_GEOMETRIC, end)) for end in (low, high))
    return (low, high) if low < high else (-math.inf, math.inf)


def have_equal_numbers(value: Value, moments: Moments) -> bool:
    """Return whether all units have the same numbers in both systems."""
    system, baseline, _ = _ratios_of(value, moments)

    def are_equal(one: int, other: int) -> bool:
        contrast = [(column == one) - (column == other) for column in range(len(moments.sums))]
        return not moments.product_of_contrasts(contrast, contrast)

    return all(starmap(are_equal, zip(chain(*system), chain(*baseline), strict=True)))


def square_of_size(value: Value, moments: Moments) -> Fraction:
    """Return the mean square of a value's difference under exchange of the systems' numbers."""
    return size_under_exchange(moments, *_ratios_of(value, moments))


def _ratios_of(
    value: Value, moments: Moments
) -> tuple[list[Ratio], list[Ratio], Callable[[Sequence[Fraction]], Gradient]]:
    """Return the ratios of the system and those of the baseline, and the value as a function of them."""
    last, average = len(moments.sums) - 1, value.rules["average"]
    if average == "micro":
        return [(0, 1)], [(2, 3)], mean_of
    if average != "of_means":
        return [(0, last)], [(1, last)], mean_of
    share = precision_share(value)
    return [(0, last), (1, last)], [(2, last), (3, last)], lambda ratios: f_of_means(ratios, share)


def precision_share(value: Value) -> Fraction:
    """Return a in F = P R / ((1 - a) P + a R), which is 1 / (1 + beta^2)."""
    beta = 1.0 if value.info.parameter is None else value.parameter
    return Fraction(0) if beta == float("inf") else 1 / (1 + Fraction(beta) ** 2)


_MAX_SCALE = 2 * 4096
_COLUMNS = {"micro": 5, "of_means": 5}  # of a mean, 3


def paired_to_plain(paired: PairedState) -> dict[str, Any]:
    """Return the sums as plain data. Integers are hexadecimal text."""
    pairs = []
    for (system, baseline), totals in paired.totals.items():
        groups = None if paired.groups is None else paired.groups[system, baseline]
        pairs.append(
            {
                "system": system,
                "baseline": baseline,
                "totals": list(map(_paired_sums_to_plain, totals)),
                "groups": None
                if groups is None
                else [[label, list(map(_paired_sums_to_plain, sums))] for label, sums in groups.items()],
            }
        )
    return {"weighted": paired.weighted, "clustered": paired.clustered, "pairs": pairs}


def _paired_sums_to_plain(sums: PairedSums) -> list[Any]:
    *counts, moments = sums
    return [
        *counts,
        moments.units,
        [hex(one) for one in moments.sums],
        moments.sums_scale,
        [hex(one) for one in moments.products],
        moments.products_scale,
    ]


def paired_from_plain(data: object, systems: Mapping[str, State], options: ComparisonOptions) -> PairedState | None:
    """Return the sums, if any; raise ValueError if the systems cannot have them."""
    options.check_systems(systems)
    first = next(iter(systems.values()))
    for state in systems.values():
        check_same_plan(first, state, "comparison")
    if data is None:
        return None
    checked = checked_fields(data, ("weighted", "clustered", "pairs"), "paired")
    if type(checked["clustered"]) is not bool:
        raise fail("clustered to be true or false", checked["clustered"])
    if checked["weighted"] is not first.weighted:
        raise fail(f"weighted to be {first.weighted}, as in the systems", checked["weighted"])
    values, expected = plan_of_state(first), options.pairs(list(systems))
    rows = checked_list(checked["pairs"], "pairs", len(expected))
    totals: dict[Pair, tuple[PairedSums, ...]] = {}
    groups: dict[Pair, dict[Label, tuple[PairedSums, ...]]] = {}
    for pair, row in zip(expected, rows, strict=True):
        checked_fields(row, ("system", "baseline", "totals", "groups"), "a pair")
        if (row["system"], row["baseline"]) != pair:
            raise fail(f"the pair {pair}", (row["system"], row["baseline"]))
        users = min(systems[run].counts.users for system in pair for run in options.runs_of(system))
        totals[pair] = _checked_sums(row["totals"], values, users)
        groups[pair] = _checked_groups(row["groups"], values, first)
    paired = PairedState(first.weighted, checked["clustered"], totals, None if first.groups is None else groups)
    for pair in expected:
        _check_pair(paired, pair, values, systems)
    return paired


def _check_pair(paired: PairedState, pair: Pair, values: Sequence[Value], systems: Mapping[str, State]) -> None:
    """Raise ValueError if sums over a pair contradict those of its systems, or its groups.

    Sums with weights, and over clusters, are of rounded numbers, and only approximately the same.
    """
    if paired.weighted or paired.clustered:
        return
    parts = part_indices(values)
    for index, (value, sums) in enumerate(zip(values, paired.totals[pair], strict=True)):
        for side, (system, only) in enumerate(zip(pair, (sums.only_system, sums.only_baseline), strict=True)):
            if only or system not in systems:  # users whom the other system lacks, or a mean of training runs
                continue
            of_parts = [systems[system].totals[part] for part in parts[index]]
            expected = _numbers_of_state(value, of_parts)
            found = [sums.moments.sum(side * len(expected) + column) for column in range(len(expected))]
            if found != expected and not any(part.undefined for part in of_parts):
                raise fail(f"the sums of {value.name} of {system!r} in its pairs too", "others")
        groups = [by_value[index] for by_value in (paired.groups or {}).get(pair, {}).values()]
        if groups and not _are_equal(reduce(PairedSums.plus, groups), sums):
            raise fail(f"sums of {value.name} by group that add up to those of all users", "others")


def _numbers_of_state(value: Value, parts: Sequence[Sums]) -> list[Fraction]:
    """Return the sums of a system's columns."""
    totals = [Fraction(part.total, 1 << part.total_scale) for part in parts]
    is_micro = value.rules["average"] == "micro"
    return totals + [Fraction(part.weight, 1 << part.weight_scale) for part in parts if is_micro]


def _are_equal(one: PairedSums, other: PairedSums) -> bool:
    def numbers(moments: Moments) -> list[Fraction]:
        sums = [Fraction(total, 1 << moments.sums_scale) for total in moments.sums]
        return sums + [Fraction(product, 1 << moments.products_scale) for product in moments.products]

    return (one[:5], one.moments.units) == (other[:5], other.moments.units) and numbers(one.moments) == numbers(
        other.moments
    )


def _checked_groups(data: object, values: Sequence[Value], first: State) -> dict[Label, tuple[PairedSums, ...]]:
    if first.groups is None:
        if data is not None:
            raise fail("no groups", data)
        return {}
    groups = {}
    for row in checked_list(data, "groups", len(first.groups)):
        label, sums = checked_list(row, "members of a group", 2)
        if not isinstance(label, (int, str)) or label not in first.groups or label in groups:
            raise fail("the groups of the systems, each once", label)
        groups[label] = _checked_sums(sums, values, first.counts.users)
    return groups


def _checked_sums(data: object, values: Sequence[Value], users: int) -> tuple[PairedSums, ...]:
    rows = checked_list(data, "sums of a pair", len(values))
    return tuple(_read(row, value, users) for row, value in zip(rows, values, strict=True))


def _read(row: object, value: Value, users: int) -> PairedSums:
    cells = checked_list(row, "numbers of a pair", 10)
    both = checked_integer(cells[0], "users of a pair", 0, users)
    only_system, only_baseline = (checked_integer(cell, "users of one system", 0, users - both) for cell in cells[1:3])
    greater = checked_integer(cells[3], "users who are greater", 0, both)
    less = checked_integer(cells[4], "users who are less", 0, both - greater)
    units = checked_integer(cells[5], "units", min(both, 1), both)
    columns = _COLUMNS.get(value.rules["average"], 3)
    sums = tuple(map(read_hex, checked_list(cells[6], "sums of columns", columns)))
    products = tuple(map(read_hex, checked_list(cells[8], "sums of products", columns * (columns + 1) // 2)))
    scales = [checked_integer(cell, "the scale of a sum", 0, _MAX_SCALE) for cell in (cells[7], cells[9])]
    moments = Moments(units, sums, scales[0], products, scales[1])
    if not moments.are_possible():
        raise fail(f"moments of {value.name} that some numbers have", "others")
    return PairedSums(both, only_system, only_baseline, greater, less, moments)


class Resampled(NamedTuple):
    """What random numbers say of one value of one pair."""

    test: FlipTest | None
    intervals: BootstrapIntervals | None
    half_width: HalfWidth | None  # of simultaneous intervals, if they are asked

    @property
    def p_max_t(self) -> float:
        """The p-value adjusted for the family by its largest differences; NaN unless that is asked."""
        return math.nan if self.test is None else self.test.p_max_t
