"""One row of a comparison: how a system differs from its baseline in one metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from exactk._inference.bootstrap import RELATIVE_ROUNDING
from exactk._inference.geometric_means import shown_difference
from exactk._inference.intervals import lacks_width, relative_interval, t_interval
from exactk._inference.margins import Margin, detectable_difference, p_above, p_below, p_within
from exactk._inference.sign_flips import wilcoxon_test
from exactk._inference.significance import (
    UNDEFINED_INTERVAL,
    Interval,
    Significance,
    in_standard_deviations,
    quotient,
    sign_test,
    t_test,
)
from exactk._report.paired_sums import estimate_of, have_equal_numbers
from exactk._report.statistics import undefined_case
from exactk._runtime.errors import input_error
from exactk._runtime.faults import plural
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from exactk._inference.estimates import Contrast, Estimate
    from exactk._plan.values import Value
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._report.paired_sums import Pair, PairedSums, Resampled
    from exactk._report.sums import Label

Verdict = Literal["better", "worse", "higher", "lower", "equivalent", "not worse", "undecided", "undefined"]


class Difference(NamedTuple):
    """How one system differs from another in one metric: a row of `Differences`.

    Attributes
    ----------
    metric, system, baseline : str
        What is compared; the metric as requested. A system of several training runs has its name in ``runs=``.
    group : int, str or None
        The group of users; None for all users.
    value, baseline_value : float
        The values over the users who have one in both systems.
    difference, low, high : float
        The value minus that of the baseline, and its confidence interval. If it is the same for all users, the interval is
        that of users unlike them, and NaN if the metric has no upper bound.
    relative, relative_low, relative_high : float
        The value divided by that of the baseline, minus 1, and its confidence interval (Fieller's). NaN if the
        baseline's value is not above 0; the interval is also NaN if that value does not differ significantly from 0.
    statistic, p, p_adjusted : float
        The test's statistic (t, the difference of a permutation test, which is that of logarithms for geometric means,
        Wilcoxon's sum of ranks, or the number of wins of the sign test), its p-value, and the p-value adjusted for the
        other comparisons of the family. A p-value is never 0.
    p_error : float
        The standard error of ``p`` where it comes from m random sign flips, sqrt(p (1 - p) / m); 0 where no random
        numbers are used. Another seed gives a p that usually differs by less than twice as much.
    p_adjusted_error : float
        The standard error of ``p_adjusted``, likewise. With ``adjust="max_t"`` over several comparisons, it is that of m
        random sign flips, also where ``p`` is exact. Other adjustments multiply a p-value, and its error by as much; where Holm's or Benjamini
        and Hochberg's method takes the adjusted p-value from another row of the family, the error is that of this row.
    exact : bool
        Whether ``p`` is that of an exact distribution: of all patterns of signs, or binomial. With
        ``test="permutation"`` it is if at most 20 units differ, or all by the same amount.
    degrees_of_freedom : float
        Those of the t test and of the intervals: one less than the units, or than their effective number with weights;
        by Satterthwaite's formula with several training runs. NaN if there is no p-value.
    p_not_worse, p_equivalent : float
        The p-values for "not worse than the baseline by more than the margin" and "neither better nor worse by more
        than the margin", not adjusted; NaN without a margin. Where fewer than 20 users differ they are larger than those of
        t tests: users unlike those of the sample must be unlikely.
    effect : float
        The effect size d_z: the difference divided by the standard deviation of the users' differences, or of the
        differences of their means over training runs. With ``clusters=`` it is of the clusters' differences, and usually
        larger than that of users. Under ``test="wilcoxon"``, the rank-biserial correlation.
    wins, ties, losses : int
        The users for whom the system is better, equal and worse; with a greater, equal and smaller value if the metric
        has no direction. All are ties for averages of which users have no values (``"of_means"``).
    users, only_system, only_baseline : int
        The users who have a value in both systems, and those with a value in one of them alone, who are left out.
        None of them counts users of weight 0, and ``users`` no user whose ratio is 0/0 in both systems of a micro average.
    units : int
        The number of independent units of the sample: users, or clusters of users.
    detectable : float
        The smallest true difference that a two-sided t test without adjustment would find significant with a
        probability of 0.8 in a sample of this size, whatever the ``test``, ``alternative`` and ``adjust``. 0 where the
        differences have no variance; tables leave it out there, for other tests and beyond all values of the metric.
    verdict : str
        The first of these that holds: ``"equivalent"`` (by the margin), ``"better"`` or ``"worse"`` (the adjusted
        p-value is at most 1 - confidence; under ``test="wilcoxon"`` and ``"sign"``, the mean is on the same side as the
        test), ``"not worse"`` (by the margin), ``"undecided"``. ``"higher"`` and ``"lower"`` replace ``"better"`` and
        ``"worse"`` for metrics without a direction; ``"undefined"`` if there is no p-value.
    reason : str
        Why there is no p-value, such as ``"undefined for 3 users"``; empty if there is one.

    Examples
    --------
    >>> import exactk
    >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[2]] * 5 + [[1]] * 20 + [[2]] * 15
    >>> row = exactk.compare(truth, {"a": a, "b": b}, "P@1").differences["b", "a", "P@1"]
    >>> row.verdict, row.wins, row.ties, row.losses
    ('better', 15, 20, 5)
    >>> f"t({row.degrees_of_freedom:g}) = {row.statistic:.3f}, p = {row.p:.3g}, d_z = {row.effect:.3f}"
    't(39) = 2.360, p = 0.0234, d_z = 0.373'
    """

    metric: str
    system: str
    baseline: str
    group: Label | None
    value: float
    baseline_value: float
    difference: float
    low: float
    high: float
    relative: float
    relative_low: float
    relative_high: float
    statistic: float
    p: float
    p_adjusted: float
    p_error: float
    p_adjusted_error: float
    exact: bool
    degrees_of_freedom: float
    p_not_worse: float
    p_equivalent: float
    effect: float
    wins: int
    ties: int
    losses: int
    users: int
    only_system: int
    only_baseline: int
    units: int
    detectable: float
    verdict: Verdict
    reason: str


Difference.__module__ = "exactk.results"  # for its body has fields alone


RunValues: TypeAlias = tuple[float, ...]
"""The values of the training runs of a system, as they are tested; empty for a system of one run."""


class UserValues(NamedTuple):
    """The values of the users whom both systems have."""

    values: NDArray[np.float64]
    baseline_values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Compared:
    """One value of one pair of systems, over all users or one group."""

    value: Value
    pair: Pair
    group: Label | None
    sums: PairedSums
    undefined: int  # users whose value is NaN in either system
    weighted: bool
    users: UserValues | None = None  # for tests of ranks
    runs: tuple[RunValues, RunValues] = ((), ())  # of the system and of its baseline
    units: UnitNames = USERS_AND_ITEMS

    @cached_property
    def estimate(self) -> Estimate | None:
        """The estimate of the difference; None if a value is NaN."""
        if self.undefined or self._lacks_run:
            return None
        estimate = estimate_of(self.value, self.sums, weighted=self.weighted)
        return None if estimate is None else estimate.with_runs(*self.runs)

    @property
    def _lacks_run(self) -> bool:
        return any(math.isnan(value) for values in self.runs for value in values)

    @property
    def _excluded(self) -> str:
        """The users whom sums leave out, as text."""
        is_micro = self.value.rules["average"] == "micro"
        parts = [part for part, is_used in (("weight", self.weighted), ("denominator", is_micro)) if is_used]
        return f" and a {' and a '.join(parts)} above 0" if parts else ""

    @cached_property
    def reason(self) -> str:
        """Why there is no p-value; empty if there is one."""
        if self.undefined:
            case = self.units.text(undefined_case(self.value))
            return f"undefined for {plural(self.undefined, self.units.user)}{case}"
        if not self.sums.users:
            return f"no {self.units.user} has a value in both systems{self._excluded}"
        if self._lacks_run:
            return "the value of a run is NaN"
        if self.estimate is None:
            return "the denominators of a system are all 0"
        return f"fewer than two {self.units.users} or clusters" if self.estimate.degrees_of_freedom <= 0 else ""

    @cached_property
    def is_identical(self) -> bool:
        """Whether the systems have the same numbers for every user."""
        return not (self.sums.greater or self.sums.less) and have_equal_numbers(self.value, self.sums.moments)

    @property
    def has_no_loss(self) -> bool:
        """Whether no user has a worse value, nor all of them together. Of an F of means users have no values."""
        is_lower = self.direction == "lower"
        losses = self.sums.greater if is_lower else self.sums.less
        if losses or self.estimate is None or self.value.rules["average"] == "of_means":
            return False
        gain = self.estimate.contrast().difference
        return (-gain if is_lower else gain) >= 0

    @property
    def direction(self) -> str:
        """Which values are better: higher, lower, or none."""
        return self.value.info.direction


def difference_row(
    compared: Compared, resampled: Resampled | None, options: ComparisonOptions, margins: Mapping[str, Margin]
) -> Difference:
    """Return the row, its p-value not yet adjusted and without a verdict."""
    estimate, sums = compared.estimate, compared.sums
    numbers = _UNDEFINED if estimate is None else _numbers(estimate, options, resampled)
    reason = compared.reason or _reason_of_test(compared, options)
    test, effect = _NO_TEST, numbers["effect"]
    if estimate is not None and not reason and options.test != "wilcoxon":
        test = _test(estimate, sums, resampled, options)
    elif compared.users is not None and not reason:
        test, effect = wilcoxon_test(*compared.users, options.alternative)
    margin = margins.get(compared.value.name, margins.get(""))
    claims = _NO_CLAIMS if estimate is None or margin is None else _margin_claims(compared, estimate, margin)
    wins, losses = (sums.less, sums.greater) if compared.direction == "lower" else (sums.greater, sums.less)
    return Difference(
        metric=compared.value.spelling,
        system=compared.pair[0],
        baseline=compared.pair[1],
        group=compared.group,
        **{**numbers, "effect": effect},
        statistic=test.statistic,
        p=test.p,
        p_adjusted=math.nan if resampled is None else resampled.p_max_t,
        p_error=test.p_error,
        p_adjusted_error=0.0,  # until it is adjusted
        exact=test.is_exact,
        p_not_worse=claims[0],
        p_equivalent=claims[1],
        wins=wins,
        ties=sums.equal,
        losses=losses,
        users=sums.users,
        only_system=sums.only_system,
        only_baseline=sums.only_baseline,
        units=sums.moments.units,
        verdict="undefined",
        reason=reason,
    )


_NUMBERS = (
    "value", "baseline_value", "difference", "low", "high", "relative", "relative_low", "relative_high",
    "degrees_of_freedom", "effect", "detectable",
)  # fmt: skip
_UNDEFINED = dict.fromkeys(_NUMBERS, math.nan)
_NO_TEST = Significance(math.nan, math.nan, is_exact=False)
_NO_CLAIMS = (math.nan, math.nan)


def _numbers(estimate: Estimate, options: ComparisonOptions, resampled: Resampled | None) -> dict[str, float]:
    contrast, confidence = estimate.contrast(), options.confidence
    value, baseline_value = float(estimate.value), float(estimate.baseline_value)
    difference = float(contrast.difference)
    relative = quotient(contrast.difference, estimate.baseline_value) if baseline_value > 0 else math.nan
    if estimate.is_logarithmic:
        value, baseline_value, relative = math.exp(value), math.exp(baseline_value), math.expm1(difference)
        difference = shown_difference(estimate)
    interval, of_relative = _intervals_of(estimate, options, resampled)
    if options.interval != "t":  # whose samples are sums of rounded numbers
        rounding = RELATIVE_ROUNDING * (abs(value) + abs(baseline_value))
        interval = _with_rounded(interval, difference, rounding)
        of_relative = _with_rounded(of_relative, relative, rounding / abs(baseline_value or 1.0))
    cells = (
        value, baseline_value, difference, *interval, relative, *of_relative,
        float(contrast.degrees_of_freedom) if contrast.degrees_of_freedom > 0 else math.nan,
        _effect(contrast, estimate.units), detectable_difference(estimate, confidence),
    )  # fmt: skip
    return dict(zip(_NUMBERS, cells, strict=True))


def _intervals_of(
    estimate: Estimate, options: ComparisonOptions, resampled: Resampled | None
) -> tuple[Interval, Interval]:
    """Return the interval of the difference, and that of the relative difference."""
    if options.interval == "t" or lacks_width(estimate):
        half_width = None if resampled is None else resampled.half_width
        return (
            t_interval(estimate, options.confidence, half_width),
            relative_interval(estimate, options.confidence, half_width),
        )
    if resampled is None or resampled.intervals is None:
        return UNDEFINED_INTERVAL, UNDEFINED_INTERVAL
    return resampled.intervals


def _with_rounded(interval: Interval, number: float, rounding: float) -> Interval:
    """Return the interval, extended to the number if this is outside by rounding alone."""
    low = min(interval.low, number) if interval.low - number <= rounding else interval.low
    high = max(interval.high, number) if number - interval.high <= rounding else interval.high
    return Interval(low, high)


def _effect(contrast: Contrast, units: int) -> float:
    """Return the difference in standard deviations of the units' differences."""
    if units < 2:
        return math.nan
    difference = contrast.difference
    return in_standard_deviations(difference, contrast.users_variance, units) if difference else 0.0


def _test(
    estimate: Estimate, sums: PairedSums, resampled: Resampled | None, options: ComparisonOptions
) -> Significance:
    if options.test == "sign":
        return sign_test(sums.greater, sums.less, options.alternative)
    if options.test == "permutation":
        if resampled is None or resampled.test is None:
            return _NO_TEST
        test = resampled.test
        return Significance(float(estimate.contrast().difference), test.p, test.is_exact, test.p_error)
    return t_test(estimate, options.alternative)


def _margin_claims(compared: Compared, estimate: Estimate, margin: Margin) -> tuple[float, float]:
    """Return the p-values of "not worse" and of "equivalent"."""
    if compared.group is None:
        check_share(compared, estimate, margin, "margin")
    elif has_no_share(estimate, margin):
        return _NO_CLAIMS
    not_worse = math.nan
    if compared.direction == "higher":
        not_worse = p_above(estimate, -margin)
    elif compared.direction == "lower":
        not_worse = p_below(estimate, margin)
    return not_worse, p_within(estimate, margin)


def has_no_share(estimate: Estimate, margin: Margin) -> bool:
    """Return whether the margin is a share of the baseline's value, and that is not above 0."""
    return margin.is_relative and margin.size != 0 and not estimate.is_logarithmic and estimate.baseline_value <= 0


def check_share(compared: Compared, estimate: Estimate, margin: Margin, argument: str) -> None:
    """Raise InputError if the margin is a share of a value that is not above 0."""
    if has_no_share(estimate, margin):
        expected = f"an absolute margin of {compared.value.spelling}"
        found = f"a share of the value of {compared.pair[1]!r}, which is {float(estimate.baseline_value):.4g}"
        raise input_error(argument, expected, found)


def _reason_of_test(compared: Compared, options: ComparisonOptions) -> str:
    """Return why the test has no p-value; empty if it has one."""
    if options.test in {"t", "permutation"} or compared.value.rules["average"] != "of_means":
        return ""
    return f"test={options.test!r} needs values of {compared.units.users}, which an F of means has not"


def verdict_of(row: Difference, direction: str, options: ComparisonOptions) -> Verdict:
    """Return the verdict on a row with an adjusted p-value."""
    level = options.level
    if row.reason:
        return "undefined"
    if row.p_equivalent <= level:
        return "equivalent"
    side = significant_side(row, direction, options)
    if side:
        if direction == "none":
            return "higher" if side > 0 else "lower"
        return "better" if side > 0 else "worse"
    return "not worse" if row.p_not_worse <= level else "undecided"


def significant_side(row: Difference, direction: str, options: ComparisonOptions) -> int:
    """Return 1 if the system is significantly better, or higher without a direction; -1 if worse; else 0.

    Tests that are not of the mean may find more losses than wins where the mean is higher: that is 0 too.
    """
    if not row.p_adjusted <= options.level:
        return 0
    turn = -1 if direction == "lower" else 1
    of_mean = turn * _sign(row.difference)
    of_other_tests = {"wilcoxon": turn * _sign(row.effect), "sign": _sign(row.wins - row.losses)}
    of_test = of_other_tests.get(options.test, of_mean)
    return of_mean if of_mean == of_test else 0


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)
