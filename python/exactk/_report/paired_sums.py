"""What a comparison keeps of each pair of systems: exact sums over the users whom both have."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, starmap
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from exactk._inference.estimates import Estimate, estimate, f_of_means, mean_of, size_under_exchange
from exactk._plan.values import LEAST_OF_GEOMETRIC, range_of
from exactk._runtime.errors import StateMismatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from exactk._inference.bootstrap import BootstrapIntervals
    from exactk._inference.estimates import Gradient, Moments, Ratio
    from exactk._inference.sign_flips import FlipTest
    from exactk._inference.significance import HalfWidth
    from exactk._plan.values import Value
    from exactk._report.sums import Label

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


def _range_of(value: Value, *, is_logarithmic: bool) -> tuple[float, float]:
    """Return the range of what is averaged."""
    low, high = range_of(value)
    if is_logarithmic:
        low, high = (math.log(max(LEAST_OF_GEOMETRIC, end)) for end in (low, high))
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


class Resampled(NamedTuple):
    """What random numbers say of one value of one pair."""

    test: FlipTest | None
    intervals: BootstrapIntervals | None
    half_width: HalfWidth | None  # of simultaneous intervals, if they are asked

    @property
    def p_max_t(self) -> float:
        """The p-value adjusted for the family by its largest differences; NaN unless that is asked."""
        return math.nan if self.test is None else self.test.p_max_t
