"""Permutation tests and bootstrap intervals from their definitions, by NumPy and SciPy.

Of exactk, only the definition of random numbers is used. Every unit has its own signs and counts, and every pattern of signs
is one value of each system.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import difference_oracle
from difference_oracle import Case, Estimate, Floats, Metric, Numbers, expm1, simultaneous_cells, sums_by_unit
from exactk.reference.truth_digest import hash_of_key
from resampled_sums import counts, signs

MOST_ENUMERATED = 20
FEWEST_UNITS = 20
ROUNDING = 1e-11  # of sums of doubles


@cache
def signs_of(key: Hashable, seed: int, flips: int) -> Floats:
    return np.array(list(signs(hash_of_key(key), seed, 0, flips)), np.float64)


@cache
def counts_of(key: Hashable, seed: int, resamples: int) -> Floats:
    return np.array(list(counts(hash_of_key(key), seed, 0, resamples)), np.float64)


class Parts(NamedTuple):
    """By unit, the numerator and the denominator of a ratio, in the system and in its baseline."""

    system: tuple[Floats, Floats]
    baseline: tuple[Floats, Floats]


def parts_of(numbers: Numbers, metric: Metric) -> list[Parts]:
    """Return one ratio; two of an F of means."""
    system, baseline = (
        sums_by_unit(one, numbers.weights, numbers.units, metric) for one in (numbers.system, numbers.baseline)
    )
    return [Parts(*both) for both in zip(system, baseline, strict=True)]


def value(sums: list[tuple[Floats, Floats]], metric: Metric) -> Floats:
    """Return the value of which these are the sums of numerators and denominators; its logarithm if it is geometric."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [numerator / np.where(denominator == 0, math.nan, denominator) for numerator, denominator in sums]
        if metric.average != "of_means":
            return ratios[0]
        precision, recall = ratios
        share = 1 / (1 + metric.beta**2)
        divisor = (1 - share) * precision + share * recall
        return np.where(divisor == 0, 0.0, precision * recall / divisor)


def exchanged(parts: list[Parts], patterns: Floats) -> tuple[list[tuple[Floats, Floats]], list[tuple[Floats, Floats]]]:
    """Return the sums of both systems if the units of sign -1 are exchanged, by pattern."""

    kept = (1 + patterns) / 2
    leaving = 1 - kept

    def sums(one: Floats, other: Floats) -> Floats:
        return np.asarray(one @ kept + other @ leaving, np.float64)

    system = [(sums(a, b), sums(c, d)) for (a, c), (b, d) in parts]
    baseline = [(sums(b, a), sums(d, c)) for (a, c), (b, d) in parts]
    return system, baseline


def all_patterns(units: int) -> Floats:
    """Return all patterns of signs; the first has no -1."""
    bits = np.arange(2**units)[None, :] >> np.arange(units)[:, None] & 1
    return np.asarray(1 - 2 * bits, np.float64)


class Flips:
    """The differences of one row under patterns of signs."""

    def __init__(self, numbers: Numbers, metric: Metric, options: dict[str, Any]) -> None:
        self._parts, self._metric = parts_of(numbers, metric), metric
        self._is_sum = metric.average in {"macro", "geometric"}
        self.turn: Callable[[Floats], Floats] = {
            "two_sided": np.abs,
            "greater": np.positive,
            "less": np.negative,
        }[options.get("alternative", "two_sided")]
        self._alternative = options.get("alternative", "two_sided")
        self._units = len(numbers.keys)
        apart = [np.abs(a - b) for part in self._parts for a, b in zip(*part, strict=True)]
        scale = max(float(np.abs(one).max(initial=0)) for part in self._parts for side in part for one in side)
        self.differing = np.flatnonzero(np.max(apart, axis=0) > ROUNDING * scale)
        self._keys = numbers.keys
        # The root of the mean square of the difference under random signs, to first order in each of them.
        step = 1e-4 * np.eye(self._units)
        slopes = (self.differences(step) - self.differences(-step)) / 2e-4
        self.size = math.sqrt(float(np.sum(slopes**2)))
        self.observed = self.differences(np.ones((self._units, 1)))[0]
        values = [abs(float(value(one, metric)[0])) for one in exchanged(self._parts, np.ones((self._units, 1)))]
        self.allowance = ROUNDING * sum(values) if self._is_sum else 1e-9 * abs(self.observed) + 4e-12 * sum(values)

    def differences(self, patterns: Floats) -> Floats:
        """Return the difference of the values under each pattern; infinite where a value is 0/0."""
        system, baseline = (value(one, self._metric) for one in exchanged(self._parts, patterns))
        turned = system - baseline
        return np.where(np.isnan(turned), {"less": -math.inf}.get(self._alternative, math.inf), turned)

    def extreme(self, patterns: Floats) -> int:
        least = self.turn(np.array(self.observed)) - self.allowance
        return int((self.turn(self.differences(patterns)) >= least).sum())

    def p(self, random: Floats) -> tuple[float, bool]:
        """Return the p-value, and whether it is exact."""
        if len(self.differing) <= MOST_ENUMERATED:
            some = all_patterns(min(len(self.differing), 12))
            extreme, rest = 0, all_patterns(max(0, len(self.differing) - 12))
            for pattern in rest.T:
                patterns = np.ones((self._units, some.shape[1]))
                patterns[self.differing[:12]] = some
                patterns[self.differing[12:]] = pattern[:, None]
                extreme += self.extreme(patterns)
            return extreme / 2 ** len(self.differing), True
        (system, _), (baseline, _) = self._parts[0]
        d = (system - baseline)[self.differing]
        if self._is_sum and np.abs(d).max() - np.abs(d).min() < ROUNDING * np.abs(d).max():
            wins, name = int((d > 0).sum()), self._alternative.replace("_", "-")
            return float(stats.binomtest(wins, len(d), alternative=name).pvalue), True
        return (self.extreme(random) + 1) / (random.shape[1] + 1), False

    def standardized(self, patterns: Floats) -> Floats:
        """Return what pairs are compared by."""
        differences = self.differences(patterns)
        return differences / self.size if self.size else np.zeros_like(differences)


def max_t(family: list[Flips], patterns: list[Floats], options: dict[str, Any]) -> tuple[list[float], float]:
    """Return the step-down p-values of Westfall and Young, algorithm 4.1, and the quantile of the largest |t|."""
    turn = family[0].turn
    observed = [float(turn(np.array(one.observed))) / one.size if one.size else 0.0 for one in family]
    flipped = [one.standardized(pattern) for one, pattern in zip(family, patterns, strict=True)]
    flips = patterns[0].shape[1]
    order = sorted(range(len(family)), key=lambda i: -observed[i])
    adjusted, least = [0.0] * len(family), 0.0
    for rank, i in enumerate(order):
        largest = np.max([turn(flipped[j]) for j in order[rank:]], axis=0)
        allowance = family[i].allowance / family[i].size if family[i].size else 0.0
        least = max(least, (int((largest >= observed[i] - allowance).sum()) + 1) / (flips + 1))
        adjusted[i] = least
    sizes = sorted(np.max(np.abs(flipped), axis=0), reverse=True)
    significant = [j for j in range(1, flips + 1) if j / (flips + 1) <= difference_oracle.level_of(options)]
    return adjusted, float(sizes[len(significant) - 1]) if significant else math.inf


def rows(case: Case, label: str | None) -> list[dict[str, Any]]:
    """Return the rows of all users, or of a group."""
    result = difference_oracle.unadjusted_rows(case, label)
    defined = [one for one in result if one["_estimate"] is not None and one["_estimate"].df]
    if case.options.get("test") == "permutation":
        _test_by_flips(defined, case.options)
    if case.options.get("interval", "t") != "t":
        for one in defined:
            if one["_estimate"].error():
                one.update(bootstrap_cells(one["_numbers"], one["_metric"], one["_estimate"], case.options))
    result = difference_oracle.adjusted(result, case.options)
    if case.options.get("test") == "permutation":
        for metric in {one["metric"] for one in result} if case.options.get("family", "metric") == "metric" else {None}:
            family = [one for one in result if metric in {None, one["metric"]} and not math.isnan(one["p"])]
            for one in family:
                one["p_adjusted_error"] = _error_of_adjusted(one, family, case.options)
    return result


def _error_of_adjusted(one: dict[str, Any], family: list[dict[str, Any]], options: dict[str, Any]) -> float:
    """Return the error of the adjusted p-value: of a share of flips, or by how much the p-value it comes from is multiplied."""
    k, p, q = len(family), one["p"], one["p_adjusted"]
    match options.get("adjust", "holm"):
        case "max_t" if k > 1:
            return math.sqrt(q * (1 - q) / options["permutations"])
        case "holm" if q < 1:  # the first of the largest
            up = sorted(family, key=lambda other: (other["p"], -other["p_error"]))
            multiples = [(min(1.0, (k - i) * other["p"]), other) for i, other in enumerate(up) if other["p"] <= p]
            one = max(multiples, key=operator.itemgetter(0))[1]
        case "benjamini_hochberg" if q < 1:  # the last of the smallest
            down = sorted(family, key=lambda other: (-other["p"], -other["p_error"]))
            multiples = [(min(1.0, k / (k - i) * other["p"]), other) for i, other in enumerate(down) if other["p"] >= p]
            one = min(multiples, key=operator.itemgetter(0))[1]
    error: float = one["p_error"] * q / one["p"]
    return error


def _test_by_flips(defined: list[dict[str, Any]], options: dict[str, Any]) -> None:
    seed, flips = options.get("seed", 0), options["permutations"]
    tests = [Flips(one["_numbers"], one["_metric"], options) for one in defined]
    random = [np.array([signs_of(key, seed, flips) for key in one["_numbers"].keys]) for one in defined]
    for one, test, patterns in zip(defined, tests, random, strict=True):
        one["p"], one["exact"] = test.p(patterns)
        one["p_error"] = 0.0 if one["exact"] else math.sqrt(one["p"] * (1 - one["p"]) / flips)
    if options.get("adjust") != "max_t":
        return
    is_whole = options.get("family", "metric") == "all"
    for metric in [None] if is_whole else {one["metric"] for one in defined}:
        family = [i for i, one in enumerate(defined) if metric in {None, one["metric"]}]
        if not family:
            continue
        adjusted, quantile = max_t([tests[i] for i in family], [random[i] for i in family], options)
        for i, p in zip(family, adjusted, strict=True):
            one, e = defined[i], defined[i]["_estimate"]
            one["p_adjusted"] = max(p, one["p"]) if len(family) > 1 else one["p"]
            size = tests[i].size
            of_pair = quantile + tests[i].allowance / size if size else 0.0
            if e.error() or of_pair * size:
                one |= simultaneous_cells(e, options.get("confidence", 0.95), of_pair, size)


def bootstrap_cells(numbers: Numbers, metric: Metric, e: Estimate, options: dict[str, Any]) -> dict[str, float]:
    """Return the intervals of the difference and of the relative difference."""
    cells = dict.fromkeys(("low", "high", "relative_low", "relative_high"), math.nan)
    if len(numbers.keys) < FEWEST_UNITS:
        return cells
    drawn = np.array([counts_of(key, options.get("seed", 0), options["resamples"]) for key in numbers.keys])
    parts = parts_of(numbers, metric)
    system, baseline = (
        value([(one[side][0] @ drawn, one[side][1] @ drawn) for one in parts], metric) for side in (0, 1)
    )
    a, b, za, zb = e.value, e.baseline_value, e.influence, e.baseline_influence
    size = abs(a) + abs(b)
    low, high = bootstrap_interval(system - baseline, e.difference, za - zb, size, options)
    if e.is_log:
        one, other = math.exp(a), math.exp(b)
        influence = one * za - other * zb
        ends = bootstrap_interval(
            np.exp(baseline) * np.expm1(system - baseline), other * expm1(e.difference), influence, one + other, options
        )
        cells |= dict(zip(("low", "high"), ends, strict=True))
        return cells | {"relative_low": expm1(low), "relative_high": expm1(high)}
    cells |= {"low": low, "high": high}
    if b > 0 and (baseline > 0).all():
        ends = bootstrap_interval(system / baseline - 1, a / b - 1, za / b - zb * a / b**2, size / b, options)
        cells |= dict(zip(("relative_low", "relative_high"), ends, strict=True))
    return cells


def bootstrap_interval(
    samples: Floats, observed: float, influence: Floats, size: float, options: dict[str, Any]
) -> tuple[float, float]:
    """Return the percentile or the BCa interval."""
    samples = np.sort(samples[~np.isnan(samples)])
    confidence, norm = options.get("confidence", 0.95), stats.norm
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    if options["interval"] == "bca":
        equal = np.abs(samples - observed) <= 1e-9 * size
        share = float(((samples < observed) & ~equal).sum() + equal.sum() / 2) / len(samples)
        z0 = norm.ppf(np.clip(share, 0.5 / len(samples), 1 - 0.5 / len(samples)))
        squares = float((influence**2).sum())
        a = float((influence**3).sum()) / (6 * squares**1.5) if squares > (ROUNDING * size) ** 2 else 0.0
        shifted = [z0 + norm.ppf(tail) for tail in tails]
        tails = [float(norm.cdf(z0 + one / (1 - a * one))) if a * one < 1 else float(one > 0) for one in shifted]
    numbers = np.arange(1, len(samples) + 1)
    low, high = (float(np.interp(tail * (len(samples) + 1), numbers, samples)) for tail in tails)
    return low, high
