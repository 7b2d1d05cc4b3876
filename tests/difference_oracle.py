"""Differences between systems from their definitions, by NumPy and SciPy alone.

Nothing of exactk is used here: users' values come from their lists, sums are sums of doubles, variances are sums of squared
influences over units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

Floats = NDArray[np.float64]
LEAST_P = float(np.finfo(np.float64).tiny)
POWER = 0.8


@dataclass(frozen=True)
class Metric:
    """A metric at a cutoff; its average, and the beta of F."""

    spelling: str
    kind: str  # what a user has
    cutoff: int
    average: str = "macro"
    beta: float = 1.0
    direction: str = "higher"

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value; of geometric means, of the logarithms of values."""
        least, most = (math.log(1e-5), 0.0) if self.average == "geometric" else (0.0, 1.0)
        return (least, most) if self.kind in {"recall", "precision", "f", "rr"} else (least, math.inf)


METRICS = [
    Metric("recall@4", "recall", 4),
    Metric("P@3", "precision", 3),
    Metric("dcg@5", "dcg", 5),
    Metric("num_recommended", "length", 99, direction="none"),
    Metric("rr@5(average=geometric)", "rr", 5, "geometric"),
    Metric("dcg@4(average=geometric)", "dcg", 4, "geometric"),
    Metric("recall@4(average=micro)", "recall", 4, "micro"),
    Metric("P@5(average=micro)", "precision", 5, "micro"),
    Metric("f1@4(average=of_means)", "f", 4, "of_means"),
    Metric("fbeta@3(average=of_means,beta=2)", "f", 3, "of_means", 2.0),
]


@dataclass(frozen=True)
class Case:
    """Users' relevant items with grades, the systems' lists, and how they are compared."""

    truth: dict[str, dict[int, float]]
    systems: dict[str, dict[str, list[int]]]
    metrics: list[Metric]
    baseline: str | None = None
    policies: dict[str, str] = field(default_factory=dict)
    weights: dict[str, float] | None = None
    groups: dict[str, str] | None = None
    clusters: dict[str, int] | None = None
    options: dict[str, Any] = field(default_factory=dict)  # test, alternative, confidence, adjust, family, margin

    @property
    def users(self) -> list[str]:
        """All users: of the truth, then of any system."""
        return list(dict.fromkeys([*self.truth, *(user for lists in self.systems.values() for user in lists)]))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        names = list(self.systems)
        if self.baseline is not None:
            return [(name, self.baseline) for name in names if name != self.baseline]
        return [(later, earlier) for i, earlier in enumerate(names) for later in names[i + 1 :]]


def policy_of(case: Case, system: str, user: str) -> str:
    """Return what becomes of a user: computed, skipped, or a value of 0 or 1."""
    in_truth, in_list = user in case.truth, user in case.systems[system]
    users = {"truth": in_truth, "both": in_truth and in_list, "predictions": in_list, "union": in_truth or in_list}
    if not users[case.policies.get("users", "truth")]:
        return "skip"
    of_empty_truth = case.policies.get("empty_truth", "skip")
    if not case.truth.get(user) and of_empty_truth != "compute":
        return of_empty_truth
    if not in_list:
        return case.policies.get("missing_list", "compute")
    return "compute" if case.systems[system][user] else case.policies.get("empty_list", "compute")


def user_numbers(case: Case, system: str, user: str, metric: Metric) -> tuple[float, float, float] | None:
    """Return a user's value, and numerator and denominator (micro) or precision and recall (of means)."""
    policy = policy_of(case, system, user)
    if policy == "skip":
        return None
    if policy != "compute":
        return ({"zero": 0.0, "one": 1.0}[policy],) * 3
    grades, items = case.truth.get(user, {}), case.systems[system].get(user, [])
    ranked = list(enumerate(items[: metric.cutoff], start=1))
    ranks = [rank for rank, item in ranked if item in grades]  # of the hits
    hits, relevant = float(len(ranks)), float(len(grades))
    recall, precision = hits / relevant if relevant else 0.0, hits / metric.cutoff
    numbers: dict[str, tuple[float, float, float]] = {
        "recall": (recall, hits, relevant),
        "precision": (precision, hits, metric.cutoff),
        "f": (math.nan, precision, recall),
        "dcg": (sum(grades.get(item, 0.0) / math.log2(rank + 1) for rank, item in ranked), math.nan, math.nan),
        "rr": (1 / ranks[0] if ranks else 0.0, math.nan, math.nan),
        "length": (len(items), math.nan, math.nan),
    }
    return numbers[metric.kind]


@dataclass(frozen=True)
class Numbers:
    """Users x (value, first part, second part) of both systems of a pair, their weights and units."""

    system: Floats
    baseline: Floats
    weights: Floats
    units: NDArray[np.int64]
    is_weighted: bool
    keys: tuple[str | int, ...]  # of each unit: a user, or a cluster


RATIOS: dict[str, list[tuple[int, int | None]]] = {
    "macro": [(0, None)],
    "geometric": [(0, None)],
    "micro": [(1, 2)],
    "of_means": [(1, None), (2, None)],
}
"""The columns of numbers that are numerator and denominator of each ratio."""


def sums_by_unit(
    numbers: Floats, weights: Floats, units: NDArray[np.int64], metric: Metric
) -> list[tuple[Floats, Floats]]:
    """Return the numerator and the denominator of each ratio by unit."""
    values = np.log(np.maximum(numbers, 1e-5)) if metric.average == "geometric" else numbers

    def sums(column: int | None) -> Floats:
        return np.asarray(np.bincount(units, weights * (1.0 if column is None else values[:, column])), np.float64)

    return [(sums(numerator), sums(denominator)) for numerator, denominator in RATIOS[metric.average]]


def value_and_influence(
    numbers: Floats, weights: Floats, units: NDArray[np.int64], metric: Metric
) -> tuple[float, Floats]:
    """Return theta, or its logarithm under the geometric mean, and z by unit."""
    ratios, influences = [], []
    for n, m in sums_by_unit(numbers, weights, units, metric):
        if m.sum() == 0:
            return math.nan, np.zeros(len(n))
        theta = n.sum() / m.sum()
        ratios.append(theta)
        influences.append((n - theta * m) / m.mean())
    if metric.average != "of_means":
        return float(ratios[0]), influences[0]
    p, r = ratios
    a = 1 / (1 + metric.beta**2)
    d = (1 - a) * p + a * r
    if d == 0:
        return 0.0, np.zeros_like(influences[0])
    return p * r / d, a * r**2 / d**2 * influences[0] + (1 - a) * p**2 / d**2 * influences[1]


@dataclass(frozen=True)
class Estimate:
    """Values and influences of a system and its baseline; of geometric means, on the scale of logarithms."""

    value: float
    influence: Floats
    baseline_value: float
    baseline_influence: Floats
    units: int
    df: float
    is_log: bool
    effective: float  # number of units, as Kish has it, by what they weigh in the values
    range: tuple[float, float]
    differing: int  # units

    @property
    def has_range(self) -> bool:
        return math.isfinite(self.range[1])

    @property
    def size(self) -> float:
        """How large the numbers are whose differences may be rounding."""
        influences = (float(np.abs(one).max()) for one in (self.influence, self.baseline_influence))
        return abs(self.value) + abs(self.baseline_value) + sum(influences)

    @property
    def difference(self) -> float:
        delta = self.value - self.baseline_value
        return 0.0 if abs(delta) < 1e-14 * self.size else delta

    def error(self, factor: float = 1.0) -> float:
        """Return the standard error of the value less a multiple of that of the baseline."""
        if self.units < 2:
            return 0.0
        e = self.influence - factor * self.baseline_influence
        error = math.sqrt(float((e**2).sum()) / (self.units * (self.units - 1)))
        return 0.0 if error <= 1e-11 * self.size else error

    @property
    def signs(self) -> int:
        """The effective number of units, whose signs are flipped where all differences are equal."""
        return math.floor(self.df + 1 + 1e-9)

    @property
    def scale(self) -> float:
        return math.exp(self.baseline_value) if self.is_log else 1.0

    def shown(self, number: float) -> float:
        """Return a difference as it is shown, if the baseline's value is that of the sample."""
        return self.scale * expm1(number) if self.is_log else number

    def most(self, quantile: float, added: float = 0.0) -> float:
        """Return the largest e^a - e^b of the logarithms in the ellipse of so many standard errors.

        A variance is added to that of a - b: half of it to that of a, and half to that of b, without covariance.
        """
        e, z, b = self.difference, self.baseline_influence, self.baseline_value
        error = math.sqrt(self.error() ** 2 + added)
        of_baseline = math.sqrt(float((z**2).sum()) / (self.units * (self.units - 1)) + added / 2)
        cross = float(((self.influence - z) * z).sum()) / (self.units * (self.units - 1)) - added / 2
        correlation = np.clip(cross / (error * of_baseline), -1, 1) if error and of_baseline else 0.0
        if 1 - abs(correlation) < 1e-13:  # of two units, it is 1
            correlation = round(correlation)

        def differences(angle: Floats) -> Floats:
            gap = e + quantile * error * np.cos(angle)
            of_b = correlation * np.cos(angle) + math.sqrt(1 - correlation**2) * np.sin(angle)
            baseline = b + quantile * of_baseline * of_b
            with np.errstate(over="ignore"):  # inf - inf is no difference
                small = np.exp(np.minimum(baseline, 700)) * np.expm1(np.minimum(gap, 600))
                return np.where(gap > 600, np.exp(baseline + gap), small)

        angles, step = np.linspace(0, 2 * math.pi, 720, endpoint=False, retstep=True)
        values = differences(angles)
        is_peak = (values >= np.roll(values, 1)) & (values >= np.roll(values, -1))
        highest = np.argsort(np.where(is_peak, values, -math.inf))[-4:]  # there are two; more are a plateau
        peaks, most = angles[highest], float(values.max())
        while step > 1e-9:  # a row of finer angles around each peak, from one of its neighbours to the other
            around = peaks[:, None] + step * np.linspace(-1, 1, 201)
            values = differences(around)
            most = max(most, float(values.max()))
            peaks, step = np.take_along_axis(around, values.argmax(axis=1)[:, None], axis=1)[:, 0], step / 100
        return most

    @property
    def mirrored(self) -> Estimate:
        return replace(
            self,
            value=self.baseline_value,
            influence=self.baseline_influence,
            baseline_value=self.value,
            baseline_influence=self.influence,
        )


def estimate(numbers: Numbers, metric: Metric) -> Estimate | None:
    """Return the estimate; None if a value is 0/0."""
    units = int(numbers.units.max(initial=-1)) + 1
    df = units - 1.0
    of_system, of_baseline = (
        value_and_influence(one, numbers.weights, numbers.units, metric) for one in (numbers.system, numbers.baseline)
    )
    if math.isnan(of_system[0]) or math.isnan(of_baseline[0]):
        return None
    if numbers.is_weighted:
        w = np.bincount(numbers.units, numbers.weights)
        df = float(w.sum() ** 2 / (w**2).sum()) - 1
    denominators = [
        m
        for one in (numbers.system, numbers.baseline)
        for _, m in sums_by_unit(one, numbers.weights, numbers.units, metric)
    ]
    size = min(float(m.sum() ** 2 / (m**2).sum()) for m in denominators)
    x, b = numbers.system, numbers.baseline
    differing = min(units, int((x[:, 0] != b[:, 0]).sum()))
    if metric.average == "of_means":
        differing = units if (x[:, 1:] != b[:, 1:]).any() else 0
    is_log = metric.average == "geometric"
    df = df if df > 1e-12 else 0.0
    return Estimate(*of_system, *of_baseline, units, df, is_log, size, metric.range, differing)


def value_cells(e: Estimate) -> dict[str, float]:
    delta, error, b = e.difference, e.error(), e.baseline_value
    effect = math.nan
    if e.units >= 2:
        effect = delta / (error * math.sqrt(e.units)) if error else math.copysign(math.inf, delta) if delta else 0.0
    cells = {"difference": e.shown(delta), "effect": effect, "_delta": delta, "_error": error}
    if e.is_log:
        return cells | {"value": math.exp(e.value), "baseline_value": math.exp(b), "relative": expm1(delta)}
    return cells | {"value": e.value, "baseline_value": b, "relative": delta / b if b > 0 else math.nan}


def simultaneous_cells(e: Estimate, confidence: float, quantile: float, size: float) -> dict[str, Any]:
    """Return the interval that is the quantile times the size wide on both sides, where the size stands for the error."""
    half_width, error = quantile * size, e.error()
    ends = {"low": e.difference - half_width, "high": e.difference + half_width}
    if e.is_log:
        added = size**2 - error**2
        added = added if added > 1e-9 * size**2 else 0.0  # of two units with opposite differences, it is rounding
        errors = quantile if added or not error else half_width / error
        of_values = {"low": -e.mirrored.most(errors, added), "high": e.most(errors, added)}
        return of_values | {f"relative_{name}": expm1(end) for name, end in ends.items()}
    if not error:  # all units differ by the same amount
        return ends | dict.fromkeys(("relative_low", "relative_high"), math.nan)
    return dict.fromkeys(("relative_low", "relative_high"), math.nan) | interval_cells(
        e, confidence, half_width / error
    )


def cells_without_variance(e: Estimate, confidence: float) -> dict[str, float]:
    """Return the intervals where all units differ by the same amount: a share of others may be at the ends of the range."""
    least, most = e.range
    share = 1 - level_of({"confidence": (1 + confidence) / 2}) ** (1 / e.effective)
    gaps = [(1 - share) * e.difference + sign * share * (most - least) for sign in (-1, 1)]
    if not e.has_range:
        return {}
    if e.is_log:
        relative = {"relative_low": expm1(gaps[0]), "relative_high": expm1(gaps[1])}
        if not e.df:
            return relative
        q = float(stats.t.ppf((1 + confidence) / 2, e.df))
        added = [((gap - e.difference) / q) ** 2 for gap in gaps]
        widest = math.exp(most) - math.exp(least)
        return relative | {
            "low": max(-widest, -e.mirrored.most(q, added[0])),
            "high": min(widest, e.most(q, added[1])),
        }
    cells = {"low": gaps[0], "high": gaps[1]}
    if e.baseline_value <= 0:
        return cells
    a, b = (1 - share) * e.value, (1 - share) * e.baseline_value
    ends = (a + share * least) / (b + share * most) - 1, (a + share * most) / (b + share * least) - 1
    return cells | {"relative_low": ends[0], "relative_high": ends[1]}


def interval_cells(e: Estimate, confidence: float, quantile: float | None = None) -> dict[str, Any]:
    """Return the interval of so many standard errors, by default those of t, and the detectable difference of t tests."""
    if not e.error():
        of_test = {"detectable": 0.0, "degrees_of_freedom": e.df} if e.df else {}
        return cells_without_variance(e, confidence) | of_test
    of_t = float(stats.t.ppf((1 + confidence) / 2, e.df))
    q = of_t if quantile is None else quantile
    low, high = e.difference - q * e.error(), e.difference + q * e.error()
    width = (of_t + float(stats.t.ppf(POWER, e.df))) * e.error()
    cells = {"low": low, "high": high, "detectable": e.shown(width), "degrees_of_freedom": e.df}
    if e.is_log:
        of_values = {"low": -e.mirrored.most(q), "high": e.most(q)}
        return cells | of_values | {"relative_low": expm1(low), "relative_high": expm1(high)}
    a, b, za, zb = e.value, e.baseline_value, e.influence, e.baseline_influence
    if b <= 0:
        return cells
    va, vb, vab = (q**2 * float(one.sum()) / (e.units * (e.units - 1)) for one in (za * za, zb * zb, za * zb))
    quadratic, linear, constant = b * b - vb, a * b - vab, a * a - va
    if quantile is not None and abs(quadratic) <= 1e-9 * b * b:  # sums of doubles cannot tell its sign
        return cells | {"relative_low": None, "relative_high": None}
    if quadratic <= 1e-12 * b * b:  # any factor of the baseline's value is possible
        return cells
    root = math.sqrt(max(0.0, linear**2 - quadratic * constant))
    return cells | {"relative_low": (linear - root) / quadratic - 1, "relative_high": (linear + root) / quadratic - 1}


def expm1(logarithm: float) -> float:
    """Return e^x - 1, infinite for the wide intervals of few users."""
    with np.errstate(over="ignore"):
        return float(np.expm1(logarithm))


def p_positive(contrast: float, error: float, e: Estimate) -> float:
    """Return the one-sided p-value of a contrast above 0."""
    if error == 0:
        return 2.0**-e.signs if contrast > 0 else 1.0
    return max(float(stats.t.sf(contrast / error, e.df)), LEAST_P)


def p_of_less(e: Estimate, margin: float) -> float:
    """Return the one-sided p-value of a difference of geometric means below the margin, which is positive."""
    is_less = e.shown(e.difference) < margin
    least, sign = (e.most, 1) if is_less else (lambda quantile: -e.mirrored.most(-quantile), -1)

    def excess(quantile: float) -> float:
        return min(max(least(quantile) / margin - 1, -1.0), 1.0)

    most = 1.0
    while sign * excess(sign * most) < 0 and most < 1e6:
        most *= 2
    is_largest = sign > 0 and abs(excess(1e6)) < 1e-9  # but for rounding, which the root would depend on
    if most >= 1e6 or is_largest:  # no logarithms have this difference
        if sign < 0 or not e.error():
            return p_positive(float(sign), 0.0, e)
        slope = float((e.influence * e.baseline_influence).sum() / (e.baseline_influence**2).sum())
        if slope < 1e-12:
            return LEAST_P
        t = abs(-math.log(slope) - e.difference) / e.error()  # where a line of that slope touches those of a difference
        return max(min(2.0**-e.signs, float(stats.t.sf(t, e.df))), LEAST_P)
    t = optimize.brentq(excess, 0.0, sign * most, xtol=1e-13, rtol=np.float64(1e-13))
    return max(float(stats.t.sf(t, e.df)), LEAST_P)


def p_bounded(e: Estimate, by_t: float, contrast: float, error: float, factors: tuple[float, float]) -> float:
    """Return the p-value of the claim that factors times both values, and a constant, are above 0, where few units differ.

    Without variance, it is the level at which a lower bound of the contrast is 0: that of a Beta distribution with the
    moments of the sample and one more unit of the least contrast, or a share of such units of which none is seen.
    """
    if not e.has_range:
        return by_t if e.differing else 1.0
    of_values = factors[0] * e.value + factors[1] * e.baseline_value
    ends = [
        sum(pick(factor * end for end in e.range) for factor in factors) - of_values + contrast for pick in (min, max)
    ]
    least, width, n = ends[0], ends[1] - ends[0], e.effective
    mean, zero = (contrast - least) / width, -least / width
    variance = n * error**2 * (e.units - 1) / e.units / width**2
    if mean <= zero:
        p = 1.0
    elif zero <= 0:
        p = 0.0
    else:
        middle = n * mean / (n + 1)
        spread = (n * variance + n * mean**2) / (n + 1) - middle**2
        count = max(middle * (1 - middle) / (spread / (n + 2)) - 1, 1.0)
        p = max(float(stats.beta.cdf(zero, middle * count, (1 - middle) * count)), (zero / mean) ** n, LEAST_P)
    if not error and not e.error():
        return max(p, LEAST_P)
    few = 1 - min(1.0, e.differing / 20)
    return by_t + few**2 * (3 - 2 * few) * max(0.0, p - by_t)


def margin_cells(e: Estimate, margin: float | str, metric: Metric) -> dict[str, float]:
    share = float(margin[:-1]) / 100 if isinstance(margin, str) else None
    if share is not None and not e.is_log and not e.baseline_value:
        return {}

    def claim(sign: int) -> float:
        """Return p of a difference above -margin (sign -1), or below margin (sign 1)."""
        if e.is_log and share is None:
            return claim_of_curve(e if sign == 1 else e.mirrored)
        factor = 1.0 if e.is_log or share is None else 1 + sign * share
        contrast = e.value - factor * e.baseline_value if factor != 1 else e.difference
        if e.is_log:
            contrast -= math.log1p(sign * (share or 0))
        elif share is None:
            contrast -= sign * float(margin)
        contrast, error = -sign * contrast, e.error(factor)
        by_t = p_positive(contrast, error, e) if e.df else math.nan
        return p_bounded(e, by_t, contrast, error, (-sign, sign * factor))

    def claim_of_curve(one: Estimate) -> float:
        """Return p of a difference of geometric means below the margin."""
        by_t = p_of_less(one, float(margin)) if e.df else math.nan
        gap = math.log1p(float(margin) / math.exp(one.baseline_value)) - one.difference
        return p_bounded(one, by_t, gap, one.error(), (-1.0, 1.0))

    cells = {"p_equivalent": max(claim(-1), claim(1))}
    return cells | ({"p_not_worse": claim(-1)} if metric.direction == "higher" else {})


def t_cells(e: Estimate, alternative: str) -> dict[str, Any]:
    delta, error = e.difference, e.error()
    if error == 0 and delta == 0:
        return {"statistic": 0.0, "p": 1.0, "exact": True}
    if error == 0:
        is_extreme = alternative == "two_sided" or (delta > 0) == (alternative == "greater")
        flips = 2.0 ** (1 - e.signs) if alternative == "two_sided" else 2.0**-e.signs
        return {"statistic": math.copysign(math.inf, delta), "p": flips if is_extreme else 1.0, "exact": True}
    t = delta / error
    tail = {"two_sided": 2 * stats.t.sf(abs(t), e.df), "greater": stats.t.sf(t, e.df), "less": stats.t.sf(-t, e.df)}
    return {"statistic": t, "p": max(float(tail[alternative]), LEAST_P)}


def sign_cells(x: Floats, y: Floats, alternative: str) -> dict[str, Any]:
    wins, losses = int((x > y).sum()), int((x < y).sum())
    if not wins + losses:
        return {"statistic": 0.0, "p": 1.0, "exact": True}
    p = stats.binomtest(wins, wins + losses, alternative=alternative.replace("_", "-")).pvalue
    return {"statistic": float(wins), "p": float(p), "exact": True}


def wilcoxon_cells(x: Floats, y: Floats, alternative: str) -> dict[str, Any]:
    largest = max(1.0, float(np.abs(x).max()), float(np.abs(y).max()))
    d = np.rint(np.ldexp(x - y, 40 - math.ceil(math.log2(largest))))
    d = d[d != 0]
    if not len(d):
        return {"statistic": 0.0, "p": 1.0, "effect": 0.0, "exact": True}
    result = stats.wilcoxon(d, alternative=alternative.replace("_", "-"), method="approx")
    ranks = stats.rankdata(np.abs(d))
    effect = (ranks[d > 0].sum() - ranks[d < 0].sum()) / ranks.sum()
    return {"statistic": float(result.statistic), "p": min(1.0, float(result.pvalue)), "effect": float(effect)}


FLOATS = (
    "value", "baseline_value", "difference", "low", "high", "relative", "relative_low", "relative_high", "statistic", "p",
    "p_not_worse", "p_equivalent", "effect", "detectable", "degrees_of_freedom", "_delta",
)  # fmt: skip


def row(numbers: Numbers, metric: Metric, options: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of a row, but for those that other rows or users of one side alone decide."""
    test, alternative = options.get("test", "t"), options.get("alternative", "two_sided")
    x, y = numbers.system[:, 0], numbers.baseline[:, 0]
    wins, losses = (0, 0) if metric.average == "of_means" else (int((x > y).sum()), int((x < y).sum()))
    cells: dict[str, Any] = {
        "wins": wins,
        "losses": losses,
        "ties": len(x) - wins - losses,
        "users": len(x),
        "units": int(numbers.units.max(initial=-1)) + 1,
        "p_error": 0.0,
        "p_adjusted_error": 0.0,
        "exact": False,
        "_error": 0.0,
        "_estimate": None,
        **dict.fromkeys(FLOATS, math.nan),
    }
    e = estimate(numbers, metric)
    if not len(x):
        is_used = {"weight": numbers.is_weighted, "denominator": metric.average == "micro"}
        parts = [part for part, is_used_part in is_used.items() if is_used_part]
        ending = f" and a {' and a '.join(parts)} above 0" if parts else ""
        return cells | {"reason": f"no user has a value in both systems{ending}"}
    if e is None:
        return cells | {"reason": "the denominators of a system are all 0"}
    cells |= value_cells(e) | {"_estimate": e}
    cells |= interval_cells(e, options.get("confidence", 0.95))
    if options.get("margin") is not None:
        cells |= margin_cells(e, options["margin"], metric)
    if not e.df:
        return cells | {"reason": "fewer than two users or clusters"}
    if test in {"sign", "wilcoxon"} and metric.average == "of_means":
        return cells | {"reason": f"test={test!r} needs values of users, which an F of means has not"}
    of_test: dict[str, Callable[[], dict[str, Any]]] = {
        "t": lambda: t_cells(e, alternative),
        "sign": lambda: sign_cells(x, y, alternative),
        "wilcoxon": lambda: wilcoxon_cells(x, y, alternative),
        "permutation": lambda: {"statistic": e.difference},  # sign flips say the rest
    }
    return cells | {"reason": ""} | of_test[test]()


def rows(case: Case, label: str | None) -> list[dict[str, Any]]:
    """Return the rows of all users, or of a group, with adjusted p-values and verdicts."""
    return adjusted(unadjusted_rows(case, label), case.options)


def unadjusted_rows(case: Case, label: str | None) -> list[dict[str, Any]]:
    """Return the rows with p-values of their own, and what is needed to draw them again."""
    result = []
    for metric in case.metrics:
        for pair in case.pairs:
            users = [user for user in case.users if label is None or (case.groups or {})[user] == label]
            users = [user for user in users if case.weights is None or case.weights[user] > 0]
            found = [[user_numbers(case, system, user, metric) for user in users] for system in pair]
            both = [
                i for i, (one, other) in enumerate(zip(*found, strict=True)) if one is not None and other is not None
            ]
            alone = [sum(one is not None for one in side) - len(both) for side in found]
            if metric.average == "micro":  # without 0/0
                both = [i for i in both if any(part for side in found for part in (side[i] or ())[1:])]
            of_pair = [np.array([one[i] for i in both], np.float64).reshape(-1, 3) for one in found]
            clusters = [users[i] if case.clusters is None else case.clusters[users[i]] for i in both]
            keys = tuple(dict.fromkeys(clusters))
            codes = np.array([keys.index(one) for one in clusters], np.int64)
            weights = np.array([1.0 if case.weights is None else case.weights[users[i]] for i in both])
            numbers = Numbers(of_pair[0], of_pair[1], weights, codes, case.weights is not None, keys)
            cells = row(numbers, metric, case.options)
            head = {"metric": metric.spelling, "system": pair[0], "baseline": pair[1], "group": label}
            more = {"only_system": alone[0], "only_baseline": alone[1], "_metric": metric, "_numbers": numbers}
            result.append(head | cells | more)
    return result


def level_of(options: dict[str, Any]) -> float:
    """Return 1 - confidence of the decimal number: 0.1 of 0.9."""
    return float(1 - Decimal(repr(options.get("confidence", 0.95))))


def adjusted(result: list[dict[str, Any]], options: dict[str, Any]) -> list[dict[str, Any]]:
    level = level_of(options)
    metrics = {one["metric"] for one in result} if options.get("family", "metric") == "metric" else {None}
    for metric in metrics:
        family = [one for one in result if metric in {None, one["metric"]} and not math.isnan(one["p"])]
        p = np.array([one["p"] for one in family])
        order = np.argsort(p, kind="stable")
        k = len(p)
        match options.get("adjust", "holm"):
            case "holm":
                sorted_p = np.maximum.accumulate(np.minimum(1, (k - np.arange(k)) * p[order])) if k else p
                q = np.empty(k)
                q[order] = sorted_p
            case "benjamini_hochberg":
                q = stats.false_discovery_control(p) if k else p
            case "bonferroni":
                q = np.minimum(1, k * p)
            case "max_t":
                q = np.array([one["p_adjusted"] for one in family])
            case _:
                q = p
        for one, number in zip(family, q.tolist(), strict=True):
            one["p_adjusted"] = number
    for one in result:
        one.setdefault("p_adjusted", math.nan)
        one["verdict"] = verdict(one, level, options.get("test", "t"))
    return result


def verdict(one: dict[str, Any], level: float, test: str) -> str:
    if one["reason"]:
        return "undefined"
    of_test = {
        "t": one["difference"],
        "permutation": one["difference"],
        "wilcoxon": one["effect"],
        "sign": one["wins"] - one["losses"],
    }[test]
    names = ("higher", "lower") if one["_metric"].direction == "none" else ("better", "worse")
    holds = {
        "equivalent": one["p_equivalent"] <= level,
        names[0]: one["p_adjusted"] <= level and one["difference"] > 0 and of_test > 0,
        names[1]: one["p_adjusted"] <= level and one["difference"] < 0 and of_test < 0,
        "not worse": one["p_not_worse"] <= level,
    }
    return next((name for name, does in holds.items() if does), "undecided")


def heterogeneity(of_groups: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the p-value of Welch's test over the rows of one pair and metric, and I squared."""
    effects = [
        (one["_delta"], one["_error"] ** -2, one["degrees_of_freedom"])
        for one in of_groups
        if one["_error"] > 0 and one["degrees_of_freedom"] > 0
    ]
    k = len(effects)
    if k < 2:
        return math.nan, math.nan
    delta, weight, df = np.array(effects).T
    share = weight / weight.sum()
    q = float((weight * (delta - (share * delta).sum()) ** 2).sum())
    h = float(((1 - share) ** 2 / df).sum())
    f = q / (k - 1) / (1 + 2 * (k - 2) * h / (k**2 - 1))
    return max(float(stats.f.sf(f, k - 1, (k**2 - 1) / (3 * h))), LEAST_P), max(0.0, (q - (k - 1)) / q) if q else 0.0


def holm(p_values: list[float]) -> list[float]:
    """Return p-values adjusted by Holm's method, one by one; those that are NaN are left out."""
    family = [p for p in p_values if not math.isnan(p)]

    def adjusted(p: float) -> float:
        return max(min(1.0, sum(other >= smaller for other in family) * smaller) for smaller in family if smaller <= p)

    return [p if math.isnan(p) else adjusted(p) for p in p_values]
