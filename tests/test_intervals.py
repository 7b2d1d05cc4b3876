"""Intervals of one system's values: numbers computed elsewhere, and what must hold of all."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import special, stats

import exactk
from exactk._inference.intervals import MeanInterval, Sample, mean_bounds, mean_interval, one_sided_bounds
from strategies import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

UNIT = (0.0, 1.0)
LEVEL = 0.025
pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
HITS = [[1, 1, 0, 1], [0] * 60, [1] + [0] * 59, [1] * 7, [0, 1]]


def sample_of(values: Sequence[Any], weights: Sequence[Any] | None = None) -> Sample:
    """Return what is known of units with these sums of weights and of weighted values, by the definition."""
    masses = [Fraction(1)] * len(values) if weights is None else list(map(Fraction, weights))
    numerators = [
        Fraction(value) * (1 if weights is None else mass) for value, mass in zip(values, masses, strict=True)
    ]
    return sample_of_units(numerators, masses)


def sample_of_units(numerators: Sequence[Any], masses: Sequence[Any]) -> Sample:
    total, squares = sum(map(Fraction, masses)), sum(Fraction(mass) ** 2 for mass in masses)
    mean = sum(map(Fraction, numerators)) / total
    spread = sum((number - mean * mass) ** 2 for number, mass in zip(numerators, masses, strict=True))
    return Sample(float(mean), float(spread / squares), float(total**2 / squares), len(masses))


def interval_of(values: Sequence[Any], confidence: float = 0.95, limits: tuple[float, float] = UNIT) -> MeanInterval:
    mean, variance = moments_of(values)
    return mean_interval(mean, variance, len(values), confidence, limits)


def moments_of(values: Sequence[Any]) -> tuple[Fraction, Fraction]:
    mean = Fraction(sum(map(Fraction, values)), len(values))
    return mean, Fraction(sum(Fraction(value) ** 2 for value in values), len(values)) - mean**2


def hits_of(hits: int, users: int) -> list[int]:
    return [1] * hits + [0] * (users - hits)


def evaluated(hits: Sequence[int], metric: Any = "hit_rate@1", **options: Any) -> exactk.Report:
    return exactk.evaluate([[1]] * len(hits), [[1] if hit else [2] for hit in hits], metric, **options)


@pytest.mark.parametrize(
    ("values", "confidence", "low", "high", "method"),
    [
        (hits_of(0, 60), 0.95, 0, 0.05962949229, "beta"),
        (hits_of(1, 60), 0.95, 0.0004218744523, 0.08939905006, "beta"),
        (hits_of(6, 6), 0.95, 0.5407418736, 1, "beta"),
        ([0], 0.95, 0, 0.975, "beta"),
        ([0.3], 0.95, 0.0075, 0.9825, "beta"),
        ([0.5] * 10, 0.95, 0.3457514461, 0.6542485539, "beta"),
        ([1, 1 / 2, 1 / 3, *[0] * 7], 0.95, 0.03426661366, 0.501974588, "beta"),
        ([1, 1 / 2, 1 / 3, *[0] * 7], 0.99, 0.01797412771, 0.5850143458, "beta"),
        (hits_of(5, 10), 0.95, 0.1704643412, 0.8295356588, "beta and t"),
        (hits_of(10, 100), 0.95, 0.04580166684, 0.170275714, "beta and t"),
        (hits_of(30, 100), 0.95, 0.2086136765, 0.3913863235, "t"),
    ],
)  # fmt: skip
def test_values_with_equal_weights(values: Any, confidence: float, low: float, high: float, method: str) -> None:
    interval = interval_of(values, confidence)
    assert tuple(interval) == pytest.approx((low, high), rel=0, abs=1e-10)
    assert interval.method == method


@pytest.mark.parametrize(
    ("sample", "low", "high"),
    [
        (sample_of([1, 0, 0, 1, 0], [3, 1, 1, 2, 1]), 0.1479137801, 0.9576362663),
        (sample_of_units([1, 0, 1, 0], [2, 1, 3, 2]), 0.06239782837, 0.7342447267),  # clusters of users
    ],
)
def test_values_of_unequal_units(sample: Sample, low: float, high: float) -> None:
    assert mean_bounds(sample, 0.95)[:2] == pytest.approx((low, high), rel=0, abs=1e-10)


def test_values_in_other_units() -> None:
    lists = [[20], list(range(20, 30)), [1, *range(20, 29)], [1, 2, *range(20, 28)], [30]]
    report = exactk.evaluate([[1, 2]] * 5, lists, "num_hits@10")
    assert tuple(report.interval("num_hits@10")) == pytest.approx((0.09829594763, 5.505143251), rel=0, abs=1e-10)
    ranks = [[7], [7, 1], [1], [7, 8, 9, 1]]
    of_logarithms = exactk.evaluate([[1]] * 4, ranks, "mrr(average=geometric)").interval("mrr(average=geometric)")
    assert tuple(of_logarithms) == pytest.approx((9.080811159e-05, 0.7875259978), rel=0, abs=1e-10)
    nothing = exactk.evaluate([[1]] * 60, [[2]] * 60, "mrr(average=geometric)").interval("mrr(average=geometric)")
    assert tuple(nothing) == pytest.approx((1e-5, 1.99e-5), rel=2e-3)


def test_hits_have_the_interval_of_clopper_and_pearson() -> None:
    for users in (1, 2, 3, 5, 10, 31, 60):
        for hits in range(users + 1):
            expected = stats.binomtest(hits, users).proportion_ci(1 - 2 * LEVEL, method="exact")
            bounds = one_sided_bounds(sample_of(hits_of(hits, users)), LEVEL)
            assert bounds == pytest.approx(tuple(expected), rel=1e-9), (hits, users)
            quantiles = (
                special.betaincinv(hits, users - hits + 1, LEVEL),
                special.betaincinv(hits + 1, users - hits, 1 - LEVEL),
            )
            inner = 0 < hits < users
            assert bounds == pytest.approx(quantiles, rel=1e-13) or not inner, (hits, users)


SHARES = st.one_of(st.sampled_from([0.0, 0.0, 1.0, 0.5, 1 / 3]), st.floats(0, 1))
VALUES = st.lists(SHARES, min_size=1, max_size=60)
MANY = st.tuples(VALUES, st.integers(1, 20)).map(lambda drawn: drawn[0] * drawn[1])


@settings(max_examples=examples(200))
@given(MANY, st.sampled_from(CONFIDENCES))
def test_it_is_t_where_values_vary_and_exact_where_few_are_off_the_end(values: list[float], confidence: float) -> None:
    sample, interval = sample_of(values), interval_of(values, confidence)
    away = sample.size * sample.variance / max(sample.mean, 1 - sample.mean) ** 2
    if away >= 20:
        width = special.stdtrit(len(values) - 1, (1 + confidence) / 2) * sample.standard_error()
        of_t = max(0.0, sample.mean - width), min(1.0, sample.mean + width)
        assert tuple(interval) == pytest.approx(of_t, rel=0, abs=math.ulp(1.0))
    elif away <= 5:
        assert tuple(interval) == one_sided_bounds(sample, (1 - confidence) / 2)
    assert interval.method == ("t" if away >= 20 else "beta" if away <= 5 else "beta and t")


RANGES = st.sampled_from([UNIT, (-1.0, 1.0), (0.0, 10.0), (2.0, 2.5), (-1e300, 1e300)])


@settings(max_examples=examples(200))
@given(MANY, RANGES, st.sampled_from(CONFIDENCES))
def test_it_is_in_the_range_around_the_value_and_has_a_width(
    values: list[float], limits: Any, confidence: float
) -> None:
    least, most = limits
    numbers = [min(most, max(least, least * (1 - value) + most * value)) for value in values]
    low, high = interval_of(numbers, confidence, limits)
    mean = float(moments_of(numbers)[0])
    assert least <= low <= mean <= high <= most
    assert low < high


@settings(max_examples=examples(200))
@given(MANY, st.sampled_from(CONFIDENCES))
def test_it_follows_a_reflection_and_a_change_of_unit(values: list[float], confidence: float) -> None:
    low, high = interval_of(values, confidence)
    reflected = interval_of([1 - Fraction(value) for value in values], confidence)
    assert (1 - reflected.high, 1 - reflected.low) == pytest.approx((low, high), rel=0, abs=1e-9)
    scaled = interval_of([3 + 8 * Fraction(value) for value in values], confidence, (3.0, 11.0))
    assert ((scaled.low - 3) / 8, (scaled.high - 3) / 8) == pytest.approx((low, high), rel=0, abs=1e-14)


@pytest.mark.parametrize("users", [1, 2, 5, 10, 60, 200, 1000])
def test_more_hits_raise_both_bounds_and_more_confidence_widens_them(users: int) -> None:
    samples = [Sample(hits / users, hits * (users - hits) / users**2, users, users) for hits in range(users + 1)]
    bounds = [[mean_bounds(sample, one)[:2] for sample in samples] for one in CONFIDENCES]
    for of_confidence in bounds[:-1]:  # at 99.9 % t is so wide that the step to it lowers a bound of 30 users by 0.0006
        for (low, high), (next_low, next_high) in pairwise(of_confidence):
            assert low < next_low
            assert high < next_high
    for narrow, wide in pairwise(bounds):
        assert all(
            wide_low <= low and high <= wide_high
            for (low, high), (wide_low, wide_high) in zip(narrow, wide, strict=True)
        )


@settings(max_examples=examples(200))
@given(VALUES)
def test_more_users_with_the_same_values_narrow_it(values: list[float]) -> None:
    widths = [high - low for low, high in (interval_of(values * times) for times in (1, 2, 5, 30))]
    assert all(one > other for one, other in pairwise(widths))


@settings(max_examples=examples(200))
@given(MANY, st.data())
def test_a_small_step_of_a_value_moves_a_bound_little(values: list[float], data: st.DataObject) -> None:
    step, user = 1e-6, data.draw(st.integers(0, len(values) - 1))
    stepped = values.copy()
    stepped[user] += step if stepped[user] < 0.5 else -step
    moves = [abs(one - other) for one, other in zip(interval_of(values), interval_of(stepped), strict=True)]
    assert max(moves) < 4 * step / len(values) + 1e-13


def test_a_value_that_rises_from_zero_moves_the_bound_without_a_jump() -> None:
    exponents = np.linspace(-12, 0, 49)
    highs = [interval_of([0.0] * 60).high, *(interval_of([10.0**one, *[0.0] * 59]).high for one in exponents)]
    steps = np.diff([0.0, *(10.0**exponents)])
    assert (np.diff(highs) >= 0).all()
    assert (np.diff(highs) <= 4 * steps / 60 + 1e-12).all()


@pytest.mark.parametrize("hits", HITS)
def test_metrics_with_equal_values_have_equal_intervals(hits: list[int]) -> None:
    report = evaluated(hits, ["hit_rate@1", "recall@1", "num_hits@1", "ndcg@5"])
    assert len({report.interval(metric) for metric in report}) == 1


@pytest.mark.parametrize("hits", HITS)
def test_shards_order_and_threads_change_no_bit(hits: list[int]) -> None:
    lists = [[1] if hit else [2, 3, 1] for hit in hits]
    whole = exactk.evaluate([[1]] * len(hits), lists, "mrr").interval("mrr")
    reverse = exactk.evaluate([[1]] * len(hits), lists[::-1], "mrr", num_threads=2).interval("mrr")
    halves = [exactk.evaluate([[1]] * len(half), half, "mrr") for half in (lists[::2], lists[1::2])]
    assert whole == reverse == exactk.merge(halves).interval("mrr")
    assert (
        exactk.evaluate([[1]] * len(hits), lists, "mrr", groups=["a"] * len(hits)).interval("mrr", group="a") == whole
    )


@pytest.mark.parametrize("hits", [0, 3, 12])
def test_few_hits_of_a_billion_users_keep_their_digits(hits: int) -> None:
    users = 10**9
    mean = Fraction(hits, users)
    low, high, method = mean_bounds(Sample(float(mean), float(mean - mean**2), users, users), 0.95)
    assert method == ("beta" if hits < 5 else "beta and t")
    at_most, at_least = one_sided_bounds(Sample(float(mean), float(mean - mean**2), users, users), LEVEL)[::-1]
    assert stats.binom.cdf(hits, users, at_most) == pytest.approx(LEVEL, rel=1e-7)
    assert hits == 0 or stats.binom.sf(hits - 1, users, at_least) == pytest.approx(LEVEL, rel=1e-7)
    assert 0 <= low <= hits / users < high < 1e-7


def test_without_an_upper_end_it_is_t_above_the_lower_end() -> None:
    lists = [[1], [2, 1], [2], [2]]
    report = exactk.evaluate([[1]] * 4, lists, "dcg@2")
    gains = [1.0, 1 / math.log2(3), 0.0, 0.0]
    _, high = stats.ttest_1samp(gains, 0).confidence_interval(0.95)
    interval = report.interval("dcg@2")
    assert interval == pytest.approx((0.0, high), rel=1e-14)
    assert interval.method == "t"
    assert interval.limits == (0.0, math.inf)


@pytest.mark.parametrize(
    ("metric", "lists", "interval"),
    [
        ("dcg@2", [[1]] * 6, (LEVEL ** (1 / 6), math.inf)),
        ("dcg@2", [[1]], (LEVEL, math.inf)),
        ("dcg@2", [[2]] * 6, (0.0, math.inf)),
        ("num_relevant", [[1]] * 6, (LEVEL ** (1 / 6), math.inf)),
        ("dcg@2(average=geometric)", [[1]] * 6, (1e-5 ** (1 - LEVEL ** (1 / 6)), math.inf)),
    ],
)
def test_equal_values_without_an_upper_end_have_one_bound(
    metric: str, lists: Any, interval: tuple[float, float]
) -> None:
    report = exactk.evaluate([[1]] * len(lists), lists, metric)
    assert report.interval(metric) == pytest.approx(interval, rel=1e-13)
    assert report.interval(metric).method == "bound"


def of_mine(value: float, declared: Any) -> exactk.Report:
    metric = exactk.custom("of_mine", lambda judged: np.full(len(judged), value), k=1, range=declared)
    return exactk.evaluate(
        [[1]] * 6, [[1]] * 6, [metric], convention=exactk.conventions["standard"].replace(undefined="skip")
    )


@pytest.mark.parametrize(
    ("declared", "interval"),
    [
        (None, (math.nan, math.nan)),
        ((-math.inf, 5), (-math.inf, 5 - 2 * LEVEL ** (1 / 6))),
        ((2, 4), (2 + LEVEL ** (1 / 6), 4 - LEVEL ** (1 / 6))),
        ((3, 3), (math.nan, math.nan)),
    ],
)
def test_a_custom_metric_has_an_interval_in_the_range_that_it_declares(declared: Any, interval: Any) -> None:
    assert tuple(of_mine(3.0, declared).interval("of_mine@1")) == pytest.approx(interval, rel=1e-14, nan_ok=True)


def test_without_users_or_a_value_there_is_no_interval() -> None:
    for report in (
        exactk.evaluate([[]], [[1]], "mrr"),
        exactk.evaluate([[]], [[1]], "recall@1", convention={"empty_truth": "compute", "undefined": "nan"}),
    ):
        (metric,) = report
        assert all(map(math.isnan, report.interval(metric)))
        assert report.interval(metric).method is None


def test_values_that_differ_by_rounding_alone_are_equal() -> None:
    numbers = [0.1 + 0.2, 0.3, 0.3]
    mean, variance = moments_of(numbers)
    assert variance > 0
    assert mean_interval(mean, variance, 3, 0.95, (0.0, math.inf)).method == "bound"
    assert mean_interval(mean, variance, 3, 0.95, (-math.inf, math.inf)).method is None


def test_bounds_are_not_rounded_by_the_convention() -> None:
    rounded = evaluated(hits_of(1, 60), convention={"decimals": 1})
    assert rounded["hit_rate@1"] == 0.0
    assert rounded.interval("hit_rate@1") == evaluated(hits_of(1, 60)).interval("hit_rate@1")


def test_averages_whose_sums_do_not_determine_it_need_the_users() -> None:
    metric = "precision@1(average=micro)"
    with pytest.raises(exactk.InputError, match=r"whose average is micro; per_user=True keeps the users' numbers"):
        evaluated([0, 1], metric).interval(metric)
    with pytest.raises(exactk.InputError, match="found hit_rate@1 with weights; per_user=True keeps"):
        evaluated([0, 1], weights=[1.0, 1.0]).interval("hit_rate@1")
    kept, lost = (evaluated([0, 1], metric, per_user=per_user) for per_user in (True, False))
    with pytest.raises(exactk.InputError, match="per_user=True keeps"):
        exactk.merge([kept, lost]).interval(metric)


def test_an_f_of_means_has_none() -> None:
    metric = "f1@1(average=of_means)"
    with pytest.raises(exactk.InputError, match=r"a ratio of sums, found f1@1.*; the differences of exactk.compare"):
        evaluated([0, 1], metric, per_user=True).interval(metric)


MICRO = "recall@2(weight=values,average=micro)"
VALUES_OF_ITEMS = exactk.Items([1, 2, 3, 4, 5], values={1: 2, 2: 4, 3: 8, 4: 5, 5: 1})
TRUTH, LISTS = [[1, 4], [2], [1, 2, 3]], [[1, 2], [3, 2], [3, 5]]  # numerators 2, 4, 8 and denominators 7, 4, 14


def test_a_ratio_of_sums_has_the_standard_error_of_the_delta_method() -> None:
    sample = sample_of_units([2, 4, 8], [7, 4, 14])
    assert sample.standard_error() == pytest.approx(0.127840, abs=1e-6)
    report = exactk.evaluate(TRUTH, LISTS, MICRO, items=VALUES_OF_ITEMS, per_user=True)
    assert report[MICRO] == 14 / 25
    assert tuple(report.interval(MICRO)) == pytest.approx(mean_bounds(sample, 0.95)[:2], rel=1e-13)
    of_gauc = exactk.evaluate([[1, 3], [2], [1]], [[1, 2, 3], [1, 2], [1, 2, 3]], "gauc", per_user=True)
    aucs = mean_bounds(sample_of_units([3 / 2, 0, 3], [3, 2, 3]), 0.95)[:2]  # times the number of ranked items
    assert tuple(of_gauc.interval("gauc")) == pytest.approx(aucs, rel=1e-13)
    unbounded = "precision@2(weight=values,average=micro)"
    of_sums = exactk.evaluate(TRUTH, LISTS, unbounded, items=VALUES_OF_ITEMS, per_user=True).interval(unbounded)
    error = sample_of_units([2, 4, 8], [2, 2, 2]).standard_error()
    half_width = special.stdtrit(2, 0.975) * error
    assert tuple(of_sums) == pytest.approx((max(0, 7 / 3 - half_width), 7 / 3 + half_width), rel=1e-13)


USERS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0, 0.5, 1, 1, 3])), min_size=1)


@settings(max_examples=examples(200), deadline=None)
@given(USERS, st.integers(1, 8), st.booleans(), st.sampled_from(CONFIDENCES))
def test_ratios_of_sums_have_the_interval_of_units_of_unequal_size(
    users: Any, copies: int, has_weights: bool, confidence: float
) -> None:
    users = [(size, min(hits, size), weight if has_weights else 1) for size, hits, weight in users * copies]
    weights = [weight for *_, weight in users] if has_weights else None
    truth, lists = ([list(range(user[i])) for user in users] for i in (0, 1))
    metrics = ["recall(average=micro)", *(["recall(empty_truth=skip)"] * has_weights)]
    report = exactk.evaluate(truth, lists, metrics, per_user=True, groups=["a"] * len(users), weights=weights)
    sizes: dict[str, Any] = {
        "micro": [(weight * hits, weight * size) for size, hits, weight in users if weight and size],
        "macro": [(Fraction(hits, size) * Fraction(weight), weight) for size, hits, weight in users if weight and size],
    }
    for metric, units in zip(metrics, sizes.values(), strict=False):
        interval = report.interval(metric, confidence)
        assert interval == report.interval(metric, confidence, group="a")
        if not units:
            assert interval.method is None
            continue
        low, high, _ = mean_bounds(sample_of_units(*zip(*units, strict=True)), confidence)
        assert tuple(interval) == pytest.approx((low, high), rel=1e-9, abs=1e-12)
        assert 0 <= interval.low <= report[metric] <= interval.high <= 1
        assert interval.low < interval.high


def test_a_ratio_of_sums_varies_as_its_users_do_and_shards_change_no_bit() -> None:
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 9, 300)
    hits = rng.binomial(sizes, rng.beta(2, 2, 300))
    truth, lists = ([list(range(size)) for size in some] for some in (sizes.tolist(), hits.tolist()))
    weights, groups = rng.random(300), rng.choice(["a", "b"], 300)
    metric = "recall(average=micro)"

    def report_of(users: slice) -> exactk.Report:
        options = {"weights": weights[users], "groups": groups[users].tolist()}
        return exactk.evaluate(truth[users], lists[users], metric, per_user=True, **options)

    whole = report_of(slice(None))
    masses, units = weights * sizes, weights * hits
    ratio, kish = units.sum() / masses.sum(), masses.sum() ** 2 / (masses**2).sum()
    error = math.sqrt(300 / 299 * ((units - ratio * masses) ** 2).sum()) / masses.sum()
    half_width = special.stdtrit(kish - 1, 0.975) * error
    interval = whole.interval(metric)
    assert interval.method == "t"
    assert tuple(interval) == pytest.approx((ratio - half_width, ratio + half_width), rel=1e-12)
    merged = exactk.merge([report_of(slice(100, None)), report_of(slice(100))])
    copied = exactk.Report.from_dict(whole.to_dict())
    for group in (None, "a", "b"):
        assert len({one.interval(metric, group=group) for one in (whole, merged, copied)}) == 1
    in_a = groups == "a"
    of_a = [[some[user] for user in np.flatnonzero(in_a)] for some in (truth, lists)]
    alone = exactk.evaluate(of_a[0], of_a[1], metric, per_user=True, weights=weights[in_a])
    assert whole.interval(metric, group="a") == alone.interval(metric)


@pytest.mark.parametrize("metric", ["recall", "recall(average=geometric)", "num_relevant", "dcg"])
def test_equal_weights_change_no_interval(metric: str) -> None:
    truth, lists = [[1, 2], [3], [4, 5, 6], [7]] * 3, [[1, 9], [3], [4, 6, 5], [8]] * 3
    plain = exactk.evaluate(truth, lists, metric).interval(metric)
    weighted = exactk.evaluate(truth, lists, metric, weights=[2.0] * 12, per_user=True).interval(metric)
    assert tuple(weighted) == pytest.approx(tuple(plain), rel=1e-9)
    assert (weighted.method, weighted.limits) == (plain.method, plain.limits)


def test_ratios_of_sums_of_odd_users() -> None:
    metric = "recall(average=micro)"

    def interval(truth: Any, lists: Any, **options: Any) -> MeanInterval:
        return exactk.evaluate(truth, lists, metric, per_user=True, **options).interval(metric)

    assert tuple(interval([[1, 2]], [[1]])) == pytest.approx((0.5 * LEVEL, 1 - 0.5 * LEVEL))  # one user
    assert interval([[1, 2]], [[1]]) == interval([[1, 2], []], [[1], [2]])  # who has a denominator
    assert interval([[1, 2]] * 2, [[1], [2]], weights=[1, 0]) == interval([[1, 2]], [[1]])
    equal = interval([[1, 2], [1, 2, 3, 4]], [[1], [1, 2]])
    assert 0 < equal.low < 0.5 < equal.high < 1
    for none in (interval([[], []], [[1], [2]]), interval([[1]], [[1]], weights=[0])):
        assert all(map(math.isnan, none))
        assert none.method is None
    undefined = {"empty_truth": "compute", "undefined": "nan"}
    report = exactk.evaluate([[], [1]], [[1], [1]], "recall", convention=undefined, weights=[1, 1], per_user=True)
    assert math.isnan(report["recall"])
    assert report.interval("recall").method is None
