"""Whether p-values, intervals and margins keep what they promise, on samples that are drawn with fixed seeds.

Each sample is a group of users, so that one comparison tests them all. The bounds hold with a probability of 99.9 % for a
test that is exactly at its level. All of it runs at night, as does ``tools/calibration.py --check``, which measures what the
page on tests shows: skewed differences, intervals, and claims about five systems.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import exactk
from calibration import (
    LOSSES,
    TENTHS,
    VALUES,
    compare_hits,
    compare_ranks,
    coverage_of_hits,
    coverage_of_values,
    equal_ranks,
    gate_errors,
)
from strategies import at_night

pytestmark = at_night
LEVEL = 0.05
FLIPS: dict[str, Any] = {"permutations": 999}  # random sign flips, fewer than by default


def share_rejected(p_values: list[float], level: float = LEVEL) -> float:
    return float(np.mean(np.array(p_values) <= level))


def bounds(count: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the shares between which 99.9 % of the binomial distribution is."""
    low, high = stats.binom.ppf([0.0005, 0.9995], count, level) / count
    return float(low), float(high)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "permutation", "sign"])
def test_exchangeable_systems_are_rejected_at_the_level(test: str) -> None:
    """The sign test is exact and conservative, as wins are whole numbers."""
    ranks = equal_ranks(2)(np.random.default_rng(1), 2000 * 50)
    options = {"permutation": FLIPS, "wilcoxon": {"per_user": True}}.get(test, {})
    rows = compare_ranks(ranks, 50, test=test, **options).differences.by_group
    p_values = [row.p for row in rows]
    assert len(p_values) == 2000
    low, high = bounds(2000)
    if test == "sign":
        assert 0.01 < share_rejected(p_values) <= high
    else:
        assert low <= share_rejected(p_values) <= high
        assert stats.kstest(p_values, "uniform").statistic < 0.045


@pytest.mark.parametrize(
    "options",
    [
        {"interval": "t"},
        {"interval": "percentile", "resamples": 499},
        {"interval": "bca", "resamples": 499},
        {"test": "permutation", "adjust": "max_t", "permutations": 499},
    ],
)
def test_intervals_cover_the_difference_of_geometric_means(options: dict[str, Any]) -> None:
    """The systems are alike, so that most of the difference's error is that of the baseline's value."""
    samples, users = 200, 50
    rng = np.random.default_rng(13)
    base = rng.normal(size=samples * users)
    new = -0.5 + base + 0.3 * rng.normal(size=len(base))
    grades = np.exp(np.column_stack([base, new])).ravel()
    truth = exactk.Truth(2 * np.arange(len(base) + 1), np.tile([0, 1], len(base)), grades)
    lists = {name: np.full((len(base), 1), item) for item, name in enumerate(["base", "new"])}
    groups = np.arange(len(base)) // users
    metric = "dcg@1(average=geometric)"
    rows = exactk.compare(truth, lists, metric, baseline="base", groups=groups, **options).differences.by_group
    for true, low, high in (
        (np.expm1(-0.5), "low", "high"),  # the baseline's value is 1
        (np.expm1(-0.5), "relative_low", "relative_high"),
    ):
        covered = np.mean([getattr(row, low) <= true <= getattr(row, high) for row in rows])
        is_wide = "adjust" in options and low == "relative_low"  # by random flips, as if the systems were equal
        assert 0.89 <= covered <= (1 if is_wide else 0.99)


@pytest.mark.parametrize("unequal", ["weights", "clusters"])
def test_max_t_limits_claims_where_few_units_decide(unequal: str) -> None:
    """Differences are divided by what no sign changes: their standard errors differ between patterns of signs."""
    rng, samples = np.random.default_rng(12), 600
    sizes = np.tile(np.r_[[10] * 3, [1] * 30], samples)
    hits = {name: rng.integers(0, TENTHS + 1, len(sizes)) for name in "abcde"}
    options: dict[str, Any] = {"test": "permutation", "adjust": "max_t", **FLIPS}
    if unequal == "weights":
        options |= {"weights": sizes.astype(float), "groups": np.arange(len(sizes)) // 33}
    else:
        hits = {name: np.repeat(one, sizes) for name, one in hits.items()}
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        options |= {"clusters": clusters, "groups": clusters // 33}
    size = len(hits["a"])
    systems = {name: [range(TENTHS - n, 2 * TENTHS - n) for n in one] for name, one in hits.items()}
    rows = exactk.compare([range(TENTHS)] * size, systems, f"P@{TENTHS}", **options).differences.by_group
    claims = np.reshape([[row.p_adjusted <= LEVEL, not row.low <= 0 <= row.high] for row in rows], (samples, 10, 2))
    shares = claims.any(axis=1).mean(axis=0)
    assert (shares > 0).all()
    assert (shares <= min(0.08, bounds(samples)[1])).all()


@pytest.mark.parametrize("margin", ["10%", 0.03])
def test_margins_at_their_boundary_are_claimed_at_the_level(margin: Any) -> None:
    """The system is worse by 10 % of 0.3: not worse by more than that, and not equivalent beyond it."""
    rng = np.random.default_rng(5)
    users, samples = 200, 2000
    skill = rng.beta(2, 4, users * samples)  # of a user, for both systems
    base, new = (rng.binomial(TENTHS, one) for one in (0.9 * skill, 0.81 * skill))
    rows = compare_hits({"base": base, "new": new}, users, baseline="base", margin=margin).differences.by_group
    high = bounds(samples)[1]
    assert high < 0.067
    assert 0.03 < share_rejected([row.p_not_worse for row in rows]) <= high
    assert share_rejected([row.p_equivalent for row in rows]) <= high


@pytest.mark.parametrize("case", LOSSES)
@pytest.mark.parametrize("margin", [1, 5])
@pytest.mark.parametrize("users", [6, 60, 300, 1000])
def test_gates_at_their_margin_hold_seldom(case: str, margin: int, users: int) -> None:
    """Also where hardly any user differs. What is above 5 % is the skewness of few losses, which t does not see."""
    assert gate_errors(case, margin, users, samples=1000) <= bounds(1000, 0.085)[1]


def test_equivalence_outside_the_margin_is_not_claimed() -> None:
    """The system is better by 0.03: more than the margin."""
    rng = np.random.default_rng(6)
    users, samples = 200, 1000
    skill = rng.beta(2, 4, users * samples)
    base, new = (rng.binomial(TENTHS, one) for one in (0.81 * skill, 0.9 * skill))
    rows = compare_hits({"base": base, "new": new}, users, baseline="base", margin=0.0299).differences.by_group
    assert share_rejected([row.p_equivalent for row in rows]) <= bounds(samples)[1]
    assert not any(row.verdict == "equivalent" and row.p_equivalent > LEVEL for row in rows)


@pytest.mark.parametrize(("groups", "users"), [(5, 60), (30, 10)])
def test_heterogeneity_of_equal_groups_is_uniform(groups: int, users: int) -> None:
    """Cochran's Q rejects a quarter of 30 equal groups of 10 users."""
    rng = np.random.default_rng(9)
    p_values = []
    for _ in range(120):
        base, new = rng.binomial(TENTHS, 0.5, (2, groups * users))
        (p,) = compare_hits({"base": base, "new": new}, users, baseline="base").differences.heterogeneity.values()
        p_values.append(p)
    assert share_rejected(p_values) <= bounds(120)[1]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("users", [10, 30, 45, 60, 100, 300, 1000, 10_000])
def test_intervals_of_hit_rates_cover_whatever_the_rate(users: int) -> None:
    """By exact sums over all outcomes: t covers a rate of 0.005 in 5 % of the samples of 10 users, and 26 % of 60."""
    rates = np.r_[np.geomspace(0.001, 0.1, 100), np.linspace(0.1, 0.5, 201)]
    assert coverage_of_hits(users, rates)[0].min() >= 0.93


@pytest.mark.parametrize(("confidence", "least"), [(0.8, 0.75), (0.9, 0.87), (0.99, 0.98)])
@pytest.mark.parametrize("users", [30, 60, 100, 300, 1000])
def test_intervals_of_hit_rates_cover_at_other_levels(users: int, confidence: float, least: float) -> None:
    assert coverage_of_hits(users, np.linspace(0.001, 0.5, 400), confidence)[0].min() >= least


@pytest.mark.parametrize("users", [10, 60, 300])
@pytest.mark.parametrize("kind", VALUES)
def test_intervals_of_values_cover_the_mean(kind: str, users: int) -> None:
    """At 94.4 % at least, where t has its level too; 600 samples have less than 91.5 % in one of a thousand cases."""
    assert coverage_of_values(kind, users, 600)[0] >= bounds(600, 0.944)[0]
