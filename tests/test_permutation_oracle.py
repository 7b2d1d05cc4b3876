"""Permutation tests and bootstrap intervals against an oracle of their definitions, and against SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import exactk
import permutation_oracle as oracle
from difference_oracle import METRICS, Case
from strategies import examples
from test_difference_oracle import WAYS, assert_rows, drawn, whole

ADJUSTMENTS = ["max_t", "max_t", "holm", "benjamini_hochberg", "bonferroni", "none"]


def drawn_with_random_numbers(seed: int) -> tuple[Case, int]:
    """Return a case whose test, interval or both are drawn, and in how many blocks it is evaluated."""
    case, blocks = drawn(seed, (1, 2, 3, 12, 40, 120, 120, 120))
    rng = np.random.default_rng([seed, 1])
    test = str(rng.choice(["permutation", "permutation", "permutation", "t", "sign"]))
    interval = str(rng.choice(["t", "percentile", "bca"]))
    options = case.options | {"test": test, "interval": interval}
    if test == "permutation":
        options |= {"adjust": str(rng.choice(ADJUSTMENTS)), "permutations": int(rng.choice([99, 128, 300]))}
    if interval != "t":
        options["resamples"] = int(rng.choice([99, 200])) if options["confidence"] < 0.99 else 199
    if test == "permutation" or interval != "t":
        options["seed"] = [0, 0, 1, 2**64 - 1][rng.integers(4)]
    is_sign = test == "sign"
    weights = {user: float(rng.choice([0.0, 0.5, 1.0, 2.7])) for user in case.users}
    clusters = {user: 100 * number % 300 + int(rng.integers(25)) for number, user in enumerate(case.users)}
    return (
        replace(
            case,
            options=options,
            weights=None if is_sign or rng.random() < 0.6 else weights,
            clusters=None if is_sign or rng.random() < 0.6 else clusters,
        ),
        blocks,
    )


def assert_all(comparison: exactk.Comparison, case: Case) -> None:
    totals = oracle.rows(case, None)
    margin = case.options.get("margin")
    if isinstance(margin, str) and any(one["baseline_value"] == 0 for one in totals):
        with pytest.raises(
            exactk.InputError, match=r"(margin: expected an absolute margin|interval: expected at least)"
        ):
            _ = comparison.differences
        return
    has_few = any(not one["reason"] or one["reason"].startswith("test=") for one in totals if one["units"] < 20)
    if case.options["interval"] != "t" and has_few:
        with pytest.raises(exactk.InputError, match=r"interval: expected at least 20 (users|clusters)"):
            _ = comparison.differences
        return
    differences = comparison.differences
    # BCa's acceleration is a sum of influences that are rounded to integers, so that it depends on no order; the
    # bounds of max-T are those of many standard errors.
    is_rounded = case.options["interval"] == "bca" or case.options["adjust"] == "max_t"
    rounded = ("low", "high", "relative_low", "relative_high") if is_rounded else ()
    assert_rows(differences, totals, rounded=rounded)
    labels = [row.group for row in differences.by_group]
    of_groups = [row for label in dict.fromkeys(labels) for row in oracle.rows(case, str(label))]
    assert_rows(differences.by_group, of_groups, rounded=rounded)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_cell_is_that_of_the_oracle(way: Callable[..., exactk.Comparison]) -> None:
    for seed in range(examples(60)):
        case, blocks = drawn_with_random_numbers(seed + 1000 * WAYS.index(way))
        assert_all(way(case, blocks, baseline=case.baseline, clusters=case.clusters, **case.options), case)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_simultaneous_intervals_of_geometric_means_are_those_of_the_oracle() -> None:
    """Of systems that differ much and little, so that the size under flips is above their standard error or below."""
    geometric = [metric for metric in METRICS if metric.average == "geometric"]
    options = {"test": "permutation", "interval": "t", "adjust": "max_t", "permutations": 128}
    for seed in range(5000, 5000 + examples(15)):
        case, blocks = drawn_with_random_numbers(seed)
        some = [geometric[seed % len(geometric)]]
        case = replace(case, metrics=some, options={**case.options, **options, "seed": seed})
        case.options.pop("resamples", None)
        assert_all(whole(case, blocks, baseline=case.baseline, clusters=case.clusters, **case.options), case)


TENTHS = {
    "A": [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
    "B": [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
    "C": [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
}
"""Twenty topics of three systems in tenths, after Sakai, "Statistical reform in information retrieval?", 2014."""


def compared(values: dict[str, Any], **options: Any) -> exactk.Comparison:
    """Compare systems whose users have these values."""
    columns = np.array(list(values.values()), np.float64)
    systems, users = columns.shape
    truth = exactk.Truth(
        np.arange(users + 1) * systems, np.tile(np.arange(systems), users), np.ascontiguousarray(columns.T).ravel()
    )
    lists = {name: np.full((users, 1), number, np.int64) for number, name in enumerate(values)}
    return exactk.compare(truth, lists, "dcg@1", **{"test": "permutation", "per_user": True, **options})


@pytest.mark.parametrize(
    ("system", "baseline", "p"),
    [("A", "B", Fraction(2160, 2**15)), ("A", "C", Fraction(18954, 2**17)), ("B", "C", Fraction(40864, 2**16))],
)
def test_sums_of_tenths_that_are_equal_tie(system: str, baseline: str, p: Fraction) -> None:
    values = {name: np.array(tenths) / 10 for name, tenths in TENTHS.items()}
    (row,) = compared({name: values[name] for name in (baseline, system)}).differences
    assert (row.exact, row.p_error) == (True, 0)
    assert Fraction(row.p) == p


@pytest.mark.parametrize("divisor", [10, 3, 7, 1, 1.7])
@pytest.mark.parametrize("alternative", ["two_sided", "greater", "less"])
def test_all_patterns_are_those_of_scipy(divisor: float, alternative: Any) -> None:
    """SciPy is given the numerators, whose sums are exact."""
    for seed in range(examples(10)):
        rng = np.random.default_rng(seed)
        whole = rng.integers(0, 5, (2, rng.integers(2, 11))).astype(np.float64)
        (row,) = compared(dict(zip("ab", whole / divisor, strict=True)), alternative=alternative).differences

        def statistic(one: Any, other: Any, axis: int = -1) -> Any:
            return (one - other).sum(axis=axis)

        expected = stats.permutation_test(
            (whole[1], whole[0]), statistic, permutation_type="samples", n_resamples=math.inf,
            alternative=alternative.replace("_", "-"), vectorized=True,
        )  # fmt: skip
        # For two sides, SciPy doubles the smaller: of a symmetric distribution, that is the same.
        assert_allclose(row.p, expected.pvalue, rtol=1e-12)
        assert row.exact


def test_one_size_of_differences_is_binomial() -> None:
    rng = np.random.default_rng(1)
    values = dict(zip("ab", rng.integers(0, 2, (2, 5_000)) / 3, strict=True))
    (row,) = compared(values).differences
    assert_allclose(row.p, stats.binomtest(row.wins, row.wins + row.losses).pvalue, rtol=1e-12)
    assert (row.exact, row.p_error) == (True, 0)


def test_random_patterns_are_within_their_error_of_all_patterns() -> None:
    """Of 23 users who differ, whose values are whole, all sums can be counted."""
    rng = np.random.default_rng(7)
    whole = np.array([rng.integers(0, 9, 40), rng.integers(1, 10, 40)])
    distribution = np.zeros(2 * 9 * 40 + 1, np.float64)
    distribution[9 * 40] = 1
    for d in whole[1] - whole[0]:
        distribution = (np.roll(distribution, d) + np.roll(distribution, -d)) / 2
    observed = abs(int((whole[1] - whole[0]).sum()))
    p = float(distribution[np.abs(np.arange(len(distribution)) - 9 * 40) >= observed].sum())
    values = dict(zip("ab", whole / 10, strict=True))
    found = [compared(values, seed=seed, permutations=999).differences[0] for seed in range(50)]
    assert not any(row.exact for row in found)
    assert len({row.p for row in found}) > 10
    assert abs(np.mean([row.p for row in found]) - p) < 4 * math.sqrt(p * (1 - p) / 999 / 50) + 1e-3
    assert all(abs(row.p - p) < 4.5 * math.sqrt(p * (1 - p) / 999) + 1e-3 for row in found)


@pytest.mark.parametrize(("interval", "method"), [("percentile", "percentile"), ("bca", "BCa")])
def test_bootstrap_intervals_are_near_those_of_scipy(interval: Any, method: Any) -> None:
    rng = np.random.default_rng(3)
    base, new = rng.random(400), rng.random(400) ** 3 + 0.3
    (row,) = compared({"base": base, "new": new}, interval=interval).differences
    expected = stats.bootstrap((new - base,), np.mean, method=method, random_state=np.random.default_rng(1))
    width = row.high - row.low
    assert abs(row.low - expected.confidence_interval.low) < 0.05 * width
    assert abs(row.high - expected.confidence_interval.high) < 0.05 * width


def test_resamples_that_equal_the_estimate_but_for_rounding_count_half() -> None:
    """Thirds add up to 1 but for rounding, so that the bias is 0, and the bounds are opposite to those of the mirror."""
    one, other = np.array([1 / 3] * 3 + [0.0] * 27), np.array([0.0] * 29 + [1.0])
    row, plain = (
        compared({"a": one * unit, "b": other * unit, "all": np.ones(30)}, interval="bca").differences[
            "b", "a", "dcg@1"
        ]
        for unit in (1, 3)
    )
    assert_allclose([3 * row.low, 3 * row.high], [plain.low, plain.high], rtol=1e-9)
