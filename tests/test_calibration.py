"""Whether p-values, intervals and margins keep what they promise, on samples that are drawn with fixed seeds.

Each sample is a group of users, so that one comparison tests them all. The bounds hold with a probability of 99.9 % for a
test that is exactly at its level.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats

import exactk

LEVEL = 0.05
TENTHS = 10


def compared(hits: dict[str, NDArray[np.int64]], users: int, **options: Any) -> exactk.Comparison:
    """Compare systems by precision@10 in tenths; each `users` rows are a sample, which is a group."""
    size = len(next(iter(hits.values())))
    relevant = np.arange(TENTHS)
    truth = exactk.Truth(np.arange(size + 1) * TENTHS, np.tile(relevant, size))
    lists = {name: np.where(relevant < counts[:, None], relevant, relevant + TENTHS) for name, counts in hits.items()}
    return exactk.compare(truth, lists, "P@10", groups=np.arange(size) // users, **options)


def share_rejected(p_values: list[float], level: float = LEVEL) -> float:
    return float(np.mean(np.array(p_values) <= level))


def bounds(count: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the shares between which 99.9 % of the binomial distribution is."""
    low, high = stats.binom.ppf([0.0005, 0.9995], count, level) / count
    return float(low), float(high)


def reciprocal_ranks(rng: np.random.Generator, shape: Any) -> NDArray[np.int64]:
    """Return hits with the long tail of reciprocal ranks, in tenths."""
    hits: NDArray[np.int64] = np.rint(TENTHS / rng.integers(1, 21, shape)).astype(np.int64)
    return hits


def skewed(rng: np.random.Generator, size: int) -> dict[str, NDArray[np.int64]]:
    """Return systems of equal means: a gain of 0.9 for one user in ten, a loss of 0.1 for the others."""
    return {"base": np.ones(size, np.int64), "new": np.where(rng.random(size) < 0.1, TENTHS, 0)}


@cache
def skewed_samples(test: str) -> list[exactk.Difference]:
    """Return the rows of 1,000 samples of 1,000 users."""
    hits = skewed(np.random.default_rng(2), 1_000_000)
    return list(compared(hits, 1000, baseline="base", test=test, per_user=test == "wilcoxon").differences.by_group)


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_exchangeable_systems_are_rejected_at_the_level(test: str) -> None:
    base, new = reciprocal_ranks(np.random.default_rng(1), (2, 2000 * 50))
    rows = compared({"base": base, "new": new}, 50, baseline="base", test=test, per_user=True).differences.by_group
    p_values = [row.p for row in rows]
    assert len(p_values) == 2000
    low, high = bounds(2000)
    assert low > 0.034
    assert high < 0.067
    assert low <= share_rejected(p_values) <= high
    assert stats.kstest(p_values, "uniform").statistic < 0.045


def test_the_sign_test_keeps_its_level() -> None:
    """It is exact and conservative, as wins are whole numbers."""
    base, new = reciprocal_ranks(np.random.default_rng(3), (2, 1000 * 50))
    rows = compared({"base": base, "new": new}, 50, baseline="base", test="sign").differences.by_group
    assert 0.01 < share_rejected([row.p for row in rows]) <= bounds(1000)[1]


def test_t_keeps_its_level_on_large_samples_with_skew() -> None:
    low, high = bounds(1000)
    assert low > 0.028
    assert high < 0.076
    assert low <= share_rejected([row.p for row in skewed_samples("t")]) <= high


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_rank_tests_reject_equal_means_with_skew(test: str) -> None:
    """They test another hypothesis, as the page on tests says."""
    hits = skewed(np.random.default_rng(2), 100_000)
    rows = compared(hits, 1000, baseline="base", test=test, per_user=True).differences.by_group
    assert share_rejected([row.p for row in rows]) > 0.9


def test_intervals_cover_the_difference() -> None:
    rows = skewed_samples("t")
    covered = np.mean([row.low <= 0 <= row.high for row in rows])
    assert 0.92 <= covered <= 0.97
    low, high = bounds(1000)
    assert 1 - high <= covered <= 1 - low


def test_claims_about_five_equal_systems() -> None:
    """The chance of any false claim among ten comparisons, with and without adjustment."""
    rng = np.random.default_rng(4)
    hits = {f"system {i}": reciprocal_ranks(rng, 600 * 50) for i in range(5)}
    rows = compared(hits, 50, adjust="holm").differences.by_group
    assert len(rows) == 600 * 10
    of_holm, unadjusted = (
        float(np.reshape([getattr(row, name) <= LEVEL for row in rows], (600, 10)).any(axis=1).mean())
        for name in ("p_adjusted", "p")
    )
    assert of_holm <= min(0.08, bounds(600)[1])
    assert unadjusted > 0.15


@pytest.mark.parametrize("margin", ["10%", 0.03])
def test_margins_at_their_boundary_are_claimed_at_the_level(margin: Any) -> None:
    """The system is worse by 10 % of 0.3: not worse by more than that, and not equivalent beyond it."""
    rng = np.random.default_rng(5)
    users, samples = 200, 2000
    skill = rng.beta(2, 4, users * samples)  # of a user, for both systems
    base, new = (rng.binomial(TENTHS, one) for one in (0.9 * skill, 0.81 * skill))
    rows = compared({"base": base, "new": new}, users, baseline="base", margin=margin).differences.by_group
    high = bounds(samples)[1]
    assert high < 0.067
    assert 0.03 < share_rejected([row.p_not_worse for row in rows]) <= high
    assert share_rejected([row.p_equivalent for row in rows]) <= high


def test_equivalence_outside_the_margin_is_not_claimed() -> None:
    """The system is better by 0.03: more than the margin."""
    rng = np.random.default_rng(6)
    users, samples = 200, 1000
    skill = rng.beta(2, 4, users * samples)
    base, new = (rng.binomial(TENTHS, one) for one in (0.81 * skill, 0.9 * skill))
    rows = compared({"base": base, "new": new}, users, baseline="base", margin=0.0299).differences.by_group
    assert share_rejected([row.p_equivalent for row in rows]) <= bounds(samples)[1]
    assert not any(row.verdict == "equivalent" and row.p_equivalent > LEVEL for row in rows)


def test_copies_of_users_make_p_too_small_without_clusters() -> None:
    base, new = reciprocal_ranks(np.random.default_rng(7), (2, 60))
    (alone,) = compared({"base": base, "new": new}, 60, baseline="base").differences
    copies = {"base": np.repeat(base, 5), "new": np.repeat(new, 5)}
    (clustered,) = compared(copies, 300, baseline="base", clusters=np.arange(300) // 5).differences
    (as_users,) = compared(copies, 300, baseline="base").differences
    names = ("difference", "low", "high", "statistic", "p", "effect")
    assert_allclose(
        [getattr(clustered, name) for name in names], [getattr(alone, name) for name in names], rtol=1e-12, atol=0
    )
    assert_allclose(as_users.statistic / alone.statistic, np.sqrt(299 / 59), rtol=1e-12)
    assert as_users.p < clustered.p


def test_users_exchanged_in_one_group_leave_other_groups() -> None:
    base, new = reciprocal_ranks(np.random.default_rng(8), (2, 300))
    changed_base, changed_new = base.copy(), new.copy()
    changed_base[:100], changed_new[:100] = new[:100], base[:100]
    one = compared({"base": base, "new": new}, 100, baseline="base").differences
    other = compared({"base": changed_base, "new": changed_new}, 100, baseline="base").differences
    assert list(one.by_group)[1:] == list(other.by_group)[1:]
    assert one.by_group[0].difference == -other.by_group[0].difference != 0
    assert one[0] != other[0]


@pytest.mark.parametrize(("groups", "users"), [(5, 60), (30, 10)])
def test_heterogeneity_of_equal_groups_is_uniform(groups: int, users: int) -> None:
    """Cochran's Q rejects a quarter of 30 equal groups of 10 users."""
    rng = np.random.default_rng(9)
    p_values = []
    for _ in range(120):
        base, new = rng.binomial(TENTHS, 0.5, (2, groups * users))
        (p,) = compared({"base": base, "new": new}, users, baseline="base").differences.heterogeneity.values()
        p_values.append(p)
    assert share_rejected(p_values) <= bounds(120)[1]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001
