"""Differences between systems: tests, intervals and verdicts, against SciPy, statsmodels and the definitions."""

from __future__ import annotations

import json
import math
import pickle
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.oneway import anova_oneway

import exactk
from exactk._inference.adjustment import adjust
from strategies import examples

pytestmark = pytest.mark.filterwarnings("ignore:.*no item of the truth")

# Sakai's 20 topics: the values of three systems in tenths.
A = [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]
B = [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]
C = [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]


def lists_with(hits: list[int]) -> tuple[list[list[int]], list[list[int]]]:
    """Return a truth of ten items per user, and lists of ten with so many hits: precision@10 in tenths."""
    truth = [list(range(10)) for _ in hits]
    return truth, [list(range(count)) + list(range(100, 110 - count)) for count in hits]


def sakai(**options: Any) -> exactk.Comparison:
    truth, _ = lists_with(A)
    systems = {name: lists_with(hits)[1] for name, hits in {"C": C, "B": B, "A": A}.items()}
    return exactk.compare(truth, systems, "P@10", **options)


@pytest.mark.parametrize(
    ("pair", "difference", "t", "p", "low", "high", "effect", "outcome"),
    [
        (("A", "B"), 0.075, 2.11576, 0.0477968, 0.000806, 0.149194, 0.473098, (10, 5, 5)),
        (("A", "C"), 0.100, 1.61330, 0.123165, -0.029736, 0.229736, 0.360745, (11, 3, 6)),
        (("B", "C"), 0.025, 0.65269, 0.521773, -0.055169, 0.105169, 0.145947, (8, 4, 8)),
    ],
)
def test_sakais_topics(
    pair: tuple[str, str], difference: float, t: float, p: float, low: float, high: float, effect: float,
    outcome: tuple[int, int, int],
) -> None:  # fmt: skip
    row = sakai().differences[*pair, "P@10"]
    assert_allclose(
        [row.difference, row.statistic, row.p, row.low, row.high, row.effect],
        [difference, t, p, low, high, effect],
        rtol=1e-5,
        atol=5e-7,
    )
    assert (row.wins, row.ties, row.losses) == outcome
    assert row.users == row.units == 20


def compared(values: Any, others: Any, **options: Any) -> exactk.Comparison:
    """Compare two systems with these numbers of hits in ten."""
    truth, one = lists_with(list(values))
    return exactk.compare(truth, {"base": lists_with(list(others))[1], "new": one}, "P@10", **options)


HITS = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=40)


@settings(max_examples=examples(100))
@given(HITS, st.sampled_from(["two_sided", "greater", "less"]), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_t_is_that_of_scipy(pairs: list[tuple[int, int]], alternative: Any, confidence: float) -> None:
    values, others = (np.array(one) / 10 for one in zip(*pairs, strict=True))
    row = compared(*zip(*pairs, strict=True), alternative=alternative, confidence=confidence).differences[0]
    exact = [Fraction(one, 10) - Fraction(other, 10) for one, other in pairs]
    if len(set(exact)) == 1:  # SciPy has NaN, or infinity
        sides = 2 if alternative == "two_sided" else 1
        of_equal = (
            1.0 if exact[0] == 0 or (exact[0] > 0) != (alternative != "less") else min(1, sides * 2.0 ** -len(exact))
        )
        if alternative == "two_sided":
            of_equal = 1.0 if exact[0] == 0 else 2.0 ** (1 - len(exact))
        assert row.p == of_equal
        assert row.low == row.high
        assert_allclose([row.low, row.difference], float(exact[0]), rtol=1e-14)
        return
    expected = stats.ttest_rel(values, others, alternative=alternative.replace("_", "-"))
    assert_allclose([row.statistic, row.p], [expected.statistic, expected.pvalue], rtol=1e-10, atol=1e-15)
    bounds = stats.ttest_rel(values, others).confidence_interval(confidence)
    assert_allclose([row.low, row.high], bounds, rtol=1e-10, atol=1e-15)
    assert (row.low <= 0 <= row.high) == (stats.ttest_rel(values, others).pvalue >= 1 - confidence)


def test_p_values_reach_down_to_the_smallest_doubles() -> None:
    row = compared([9, 10] * 400, [1, 0] * 400).differences[0]
    expected = stats.ttest_rel(np.array([0.9, 1.0] * 400), np.array([0.1, 0.0] * 400))
    assert 0 < row.p < 1e-280
    assert_allclose(row.p, max(float(expected.pvalue), np.finfo(float).tiny), rtol=1e-8)


@settings(max_examples=examples(100))
@given(st.lists(st.floats(1e-6, 1) | st.just(math.nan), min_size=1, max_size=12))
def test_adjustments_are_those_of_statsmodels(p_values: list[float]) -> None:
    numbers = [p for p in p_values if not math.isnan(p)]
    for method, name in {"holm": "holm", "benjamini_hochberg": "fdr_bh", "bonferroni": "bonferroni"}.items():
        adjusted = adjust(p_values, method)
        assert [math.isnan(p) for p in adjusted] == [math.isnan(p) for p in p_values]
        if numbers:
            expected = multipletests(numbers, method=name)[1]
            assert_allclose([p for p in adjusted if not math.isnan(p)], expected, rtol=1e-15)


@settings(max_examples=examples(100))
@given(HITS)
def test_the_sign_test_is_binomial(pairs: list[tuple[int, int]]) -> None:
    row = compared(*zip(*pairs, strict=True), test="sign").differences[0]
    if row.wins + row.losses:
        assert_allclose(row.p, stats.binomtest(row.wins, row.wins + row.losses).pvalue, rtol=1e-12)
    else:
        assert row.p == 1


@settings(max_examples=examples(100))
@given(HITS)
def test_wilcoxon_is_that_of_scipy_on_rounded_differences(pairs: list[tuple[int, int]]) -> None:
    comparison = compared(*zip(*pairs, strict=True), test="wilcoxon", per_user=True)
    tenths = np.array([one - other for one, other in pairs])
    row = comparison.differences[0]
    if not tenths.any():
        assert row.p == 1
        return
    expected = stats.wilcoxon(tenths, method="approx")
    assert_allclose([row.statistic, row.p], [expected.statistic, expected.pvalue], rtol=1e-12)


def reports_without_users(**options: Any) -> exactk.Comparison:
    """Return a comparison whose reports keep no users' values."""
    comparison = sakai(**options)
    return exactk.merge([comparison.state])


def test_wilcoxon_needs_the_users_values() -> None:
    with pytest.raises(
        exactk.InputError, match=r"'t' or 'sign' without the users' values, found .*; per_user=True keeps them"
    ):
        _ = reports_without_users(test="wilcoxon").differences


# Laws.


@settings(max_examples=examples(100))
@given(HITS)
def test_exchanging_the_systems_mirrors_the_row(pairs: list[tuple[int, int]]) -> None:
    one = compared(*zip(*pairs, strict=True)).differences[0]
    other = compared(*(zip(*((b, a) for a, b in pairs), strict=True))).differences[0]
    assert (one.difference, one.p, one.wins, one.losses) == (-other.difference, other.p, other.losses, other.wins)
    assert (one.low, one.high) == (-other.high, -other.low)


@settings(max_examples=examples(100))
@given(HITS, st.randoms(use_true_random=False))
def test_the_order_of_users_changes_nothing(pairs: list[tuple[int, int]], random: Any) -> None:
    shuffled = random.sample(pairs, len(pairs))
    assert compared(*zip(*pairs, strict=True)).differences == compared(*zip(*shuffled, strict=True)).differences


@settings(max_examples=examples(100))
@given(HITS)
def test_copies_of_users_in_clusters_change_nothing(pairs: list[tuple[int, int]]) -> None:
    one = compared(*zip(*pairs, strict=True)).differences[0]
    copies = compared(*zip(*(pairs * 3), strict=True), clusters=list(range(len(pairs))) * 3).differences[0]
    assert_allclose(
        [copies.difference, copies.low, copies.high, copies.p],
        [one.difference, one.low, one.high, one.p],
        rtol=1e-12,
        atol=1e-15,
    )
    assert (copies.users, copies.units) == (3 * len(pairs), len(pairs))


def test_another_system_changes_only_what_is_adjusted() -> None:
    alone, among = compared(A, B).differences[0], sakai().differences["A", "B", "P@10"]
    differing = {name for name in alone._fields if repr(getattr(alone, name)) != repr(getattr(among, name))}
    assert differing <= {"system", "baseline", "p_adjusted", "verdict"}
    assert among.p_adjusted >= among.p


def test_shards_merge_to_the_whole() -> None:
    truth, _ = lists_with(A)
    systems = {name: lists_with(hits)[1] for name, hits in {"C": C, "B": B, "A": A}.items()}
    whole = exactk.compare(truth, systems, "P@10")
    parts = [
        exactk.compare(truth[part], {name: lists[part] for name, lists in systems.items()}, "P@10")
        for part in (slice(0, 7), slice(7, 20))
    ]
    assert exactk.merge(parts).differences == whole.differences
    blocks = ((truth[i : i + 3], {name: lists[i : i + 3] for name, lists in systems.items()}) for i in range(0, 20, 3))
    assert exactk.compare(None, blocks, "P@10").differences == whole.differences


# Averages, weights, groups.


def drawn(seed: int, users: int = 60) -> tuple[dict[int, list[int]], dict[str, dict[int, list[int]]]]:
    rng = np.random.default_rng(seed)
    truth = {user: rng.choice(30, rng.integers(1, 6), replace=False).tolist() for user in range(users)}
    systems = {name: {user: rng.permutation(30)[:15].tolist() for user in range(users)} for name in ("base", "new")}
    return truth, systems


def jackknife(function: Any, *columns: Any) -> float:
    """Return the standard error of a function of columns' sums, by leaving out each user."""
    size = len(columns[0])
    leave_out = [function(*(np.delete(column, i) for column in columns)) for i in range(size)]
    return float(np.sqrt((size - 1) / size * ((leave_out - np.mean(leave_out)) ** 2).sum()))


def standard_error(row: exactk.Difference) -> float:
    return (row.high - row.low) / 2 / float(stats.t.ppf(0.975, row.units - 1))


def test_micro_averages_and_f_of_means_vary_as_the_jackknife_says() -> None:
    truth, systems = drawn(3)
    metrics = ["recall@5(average=micro)", "f1@5(average=of_means)"]
    rows = exactk.compare(truth, systems, metrics, baseline="base").differences
    hits = {name: np.array([len({*lists[u][:5]} & {*truth[u]}) for u in truth]) for name, lists in systems.items()}
    relevant = np.array([len(items) for items in truth.values()])

    def micro(new: Any, base: Any, count: Any) -> float:
        return float(new.sum() / count.sum() - base.sum() / count.sum())

    def f_of_means(new: Any, base: Any, count: Any) -> float:
        values = [(one.mean() / 5, (one / count).mean()) for one in (new, base)]
        return float(np.subtract(*(2 * p * r / (p + r) for p, r in values)))

    for row, function in zip(rows, (micro, f_of_means), strict=True):
        columns = hits["new"], hits["base"], relevant
        assert_allclose(row.difference, function(*columns), rtol=1e-12)
        assert_allclose(standard_error(row), jackknife(function, *columns), rtol=0.03)


def test_weighted_means_have_the_variance_of_their_formula() -> None:
    truth, systems = drawn(5)
    rng = np.random.default_rng(0)
    weights = {user: float(rng.random()) for user in truth}
    comparison = exactk.compare(truth, systems, "recall@5", baseline="base", weights=weights, per_user=True)
    (row,) = comparison.differences
    new, base = (comparison.reports[name].per_user["recall@5"] for name in ("new", "base"))
    w = np.array(list(weights.values()))
    mean = (w * (new - base)).sum() / w.sum()
    size = len(w)
    error = math.sqrt(size / (size - 1) * (w**2 * (new - base - mean) ** 2).sum()) / w.sum()
    df = w.sum() ** 2 / (w**2).sum() - 1
    assert_allclose(row.difference, mean, rtol=1e-12)
    assert_allclose([row.low, row.high], stats.t.interval(0.95, df, mean, error), rtol=1e-9)
    assert_allclose(row.p, 2 * stats.t.sf(abs(mean / error), df), rtol=1e-9)


EVERY_AVERAGE = [
    "recall@5", "recall@5(average=micro)", "f1@5(average=micro)", "f1@5(average=of_means)", "map@15(average=geometric)",
]  # fmt: skip


@pytest.mark.parametrize("options", ["weights", "groups", "clusters"])
def test_users_of_weight_0_change_nothing(options: str) -> None:
    """Neither those of both systems nor those of one, in clusters with others or alone."""
    truth, systems = drawn(13, users=700)
    del systems["new"][3], systems["base"][650]
    weights = {user: 1.5 if user % 7 else 0.0 for user in truth}
    of_users: dict[str, dict[str, dict[int, Any]]] = {
        "weights": {},
        "groups": {"groups": {user: "ab"[user % 2] for user in truth}},
        "clusters": {"clusters": {user: user // 2 if user % 3 else 1000 + user for user in truth}},
    }
    weights[3] = weights[650] = 0.0

    def options_of(users: list[int]) -> dict[str, Any]:
        return {name: {user: codes[user] for user in users} for name, codes in of_users[options].items()}

    def rows(users: list[int]) -> exactk.Differences:
        return exactk.compare(
            {user: truth[user] for user in users},
            {name: {user: lists[user] for user in users if user in lists} for name, lists in systems.items()},
            EVERY_AVERAGE,
            convention={"users": "both"},
            margin="5%",
            missing="error",
            weights={user: weights[user] for user in users},
            **options_of(users),
        ).differences

    with pytest.warns(exactk.EvaluationWarning, match="means over different users"):
        found = rows(list(truth))
    expected = rows([user for user in truth if weights[user]])
    assert [*found, *found.by_group] == [*expected, *expected.by_group]
    assert found.heterogeneity == expected.heterogeneity


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_users_of_whom_a_ratio_is_0_of_0_in_both_systems_change_nothing(weighted: bool, clustered: bool) -> None:
    truth, systems = drawn(14, users=700)
    for user in range(0, 700, 5):
        truth[user] = []
    for name, step in (("base", 15), ("new", 10)):  # of every 30th neither system has a ratio
        systems[name] |= {user: [] for user in range(0, 700, step)}
    convention = {"empty_truth": "compute", "undefined": "skip", "precision_over": "list"}

    def row(metric: str, users: list[int]) -> exactk.Difference:
        options: dict[str, Any] = {"weights": {user: 1 + user % 3 for user in users}} if weighted else {}
        options |= {"clusters": {user: user // 3 for user in users}} if clustered else {}
        comparison = exactk.compare(
            {user: truth[user] for user in users},
            {name: {user: lists[user] for user in users} for name, lists in systems.items()},
            metric,
            convention=convention,
            margin=0.01,
            **options,
        )
        return comparison.differences[0]

    for metric, step in (("recall@5(average=micro)", 5), ("precision@5(average=micro)", 30)):
        telling = [user for user in truth if user % step]
        found = row(metric, list(truth))
        assert found == row(metric, telling)
        assert found.users == len(telling)


@pytest.mark.parametrize("runs", [None, {"tuned": ["new", "newer"]}])
def test_the_reference_leaves_out_users_without_information(runs: Any) -> None:
    truth, systems = drawn(15, users=12)
    systems["newer"] = {user: lists[::-1] for user, lists in systems["new"].items()}
    truth |= {user: [] for user in range(5)}
    options: dict[str, Any] = {
        "convention": {"empty_truth": "compute", "undefined": "skip"},
        "weights": {user: float(user % 3) for user in truth},
        "runs": runs,
    }
    found = exactk.compare(truth, systems, EVERY_AVERAGE, **options).differences
    assert found == exactk.reference.compare(truth, systems, EVERY_AVERAGE, **options).differences
    assert {row.users for row in found if row.metric == "recall@5(average=micro)"} == {5}


def test_few_users_are_not_hidden_by_those_without_information() -> None:
    lists = {"a": [[2]] * 53, "b": [[1]] * 53}
    for truth, metric, options in (
        ([[1]] * 53, "recall@1", {"weights": [1] * 3 + [0] * 50}),
        (
            [[1]] * 3 + [[]] * 50,
            "recall@1(average=micro)",
            {"convention": {"empty_truth": "compute", "undefined": "skip"}},
        ),
    ):
        comparison = exactk.compare(truth, lists, metric, baseline="a", **options)
        (row,) = comparison.differences
        assert (row.users, row.units, row.p, row.verdict) == (3, 3, 0.25, "undecided")
        assert comparison.check(better=metric).status == "undecided"


def test_geometric_means_are_tested_as_logarithms() -> None:
    truth, systems = drawn(7)
    comparison = exactk.compare(truth, systems, "map@15(average=geometric)", baseline="base", per_user=True)
    (row,) = comparison.differences
    logs = [
        np.log(np.maximum(report.per_user["map@15(average=geometric)"], 1e-5)) for report in comparison.reports.values()
    ]
    expected = stats.ttest_rel(logs[1], logs[0])
    assert_allclose([row.statistic, row.p], [expected.statistic, expected.pvalue], rtol=1e-10)
    low, high = expected.confidence_interval()
    assert_allclose([row.relative_low, row.relative_high], [math.expm1(low), math.expm1(high)], rtol=1e-10)
    # The extremes of the difference among the logarithms that are as many standard errors away as the bounds of t.
    (base, new), covariances = np.mean(logs, axis=1), np.cov(logs) / len(logs[0])
    angles = np.linspace(0, 2 * math.pi, 100_001)
    circle = stats.t.ppf(0.975, len(logs[0]) - 1) * np.array([np.cos(angles), np.sin(angles)])
    ellipse = np.linalg.cholesky(covariances) @ circle
    differences = np.exp(new + ellipse[1]) - np.exp(base + ellipse[0])
    assert_allclose([row.low, row.high], [differences.min(), differences.max()], rtol=1e-6)
    assert_allclose(row.value - row.baseline_value, row.difference, rtol=1e-9)


def test_groups_are_compared_by_themselves() -> None:
    truth, systems = drawn(9)
    groups = {user: "ab"[user % 2] for user in truth}
    whole = exactk.compare(truth, systems, "recall@5", baseline="base", groups=groups).differences
    for label in "ab":
        users = [user for user in truth if groups[user] == label]
        alone = exactk.compare(
            {user: truth[user] for user in users},
            {name: {user: lists[user] for user in users} for name, lists in systems.items()},
            "recall@5",
            baseline="base",
        ).differences[0]
        (row,) = (row for row in whole.by_group if row.group == label)
        assert row._replace(group=None) == alone
    one, other = whole.by_group
    names = ("difference", "degrees_of_freedom")
    (d, df), (other_d, other_df) = ([getattr(row, name) for name in names] for row in (one, other))
    v, other_v = (standard_error(row) ** 2 for row in (one, other))
    welch = (v + other_v) ** 2 / (v**2 / df + other_v**2 / other_df)
    expected = 2 * stats.t.sf(abs(d - other_d) / (v + other_v) ** 0.5, welch)
    assert_allclose(whole.heterogeneity["recall@5", "new", "base"], expected, rtol=1e-9)


def test_heterogeneity_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(11)
    labels = rng.integers(4, size=200)
    hits = rng.binomial(10, (0.4, 0.5), (200, 2)).T
    lists = {
        name: np.where(np.arange(10) < one[:, None], 1, 2) + 2 * np.arange(10)
        for name, one in zip("ab", hits, strict=True)
    }
    relevant = np.tile(1 + 2 * np.arange(10), (200, 1))
    differences = exactk.compare(relevant, lists, "P@10", groups=labels).differences
    gains = [(hits[1] - hits[0])[labels == label] for label in range(4)]
    expected = anova_oneway(gains, use_var="unequal").pvalue
    assert_allclose(differences.heterogeneity["P@10", "b", "a"], expected, rtol=1e-9)


# Margins and gates.


def test_the_relative_interval_is_where_the_contrast_is_not_rejected() -> None:
    row = compared(A, B, baseline="base").differences[0]
    values, others = np.array(A) / 10, np.array(B) / 10
    for bound in (row.relative_low, row.relative_high):
        contrast = values - (1 + bound) * others
        assert_allclose(stats.ttest_1samp(contrast, 0).pvalue, 0.05, rtol=1e-9)


@pytest.mark.parametrize("margin", ["10%", 0.02, {"P@10": "25%"}])
def test_margins_are_tested_from_both_sides(margin: Any) -> None:
    row = compared(A, B, baseline="base", margin=margin).differences[0]
    values, others = np.array(A) / 10, np.array(B) / 10
    size = {"10%": (0.1, 0.0), "25%": (0.25, 0.0)}.get(
        margin if isinstance(margin, str) else margin["P@10"] if isinstance(margin, dict) else "", (0.0, 0.02)
    )
    below = values - (1 - size[0]) * others + size[1]
    above = values - (1 + size[0]) * others - size[1]
    not_worse = stats.ttest_1samp(below, 0, alternative="greater").pvalue
    not_better = stats.ttest_1samp(above, 0, alternative="less").pvalue
    assert_allclose([row.p_not_worse, row.p_equivalent], [not_worse, max(not_worse, not_better)], rtol=1e-9)


def test_a_gate_says_what_holds_and_what_would_decide() -> None:
    comparison = compared(A, B, baseline="base")
    assert comparison.check(better="P@10")
    assert not comparison.check(no_worse={"P@10": 1e-9}, equivalent={"P@10": "1%"})
    undecided = compared(B, A, baseline="base").check(no_worse={"P@10": "25%"})
    assert undecided.status == "undecided"
    assert "users would show that" in undecided.failures[0]
    assert compared([0] * 20, A, baseline="base").check(no_worse={"P@10": "1%"}).status == "fails"
    assert compared(A, A, baseline="base").check(equivalent={"P@10": "1%"}).status == "holds"


def test_a_gate_asks_for_no_impossible_number_of_users() -> None:
    """The difference is at the margin, or would be without rounding."""
    (at_margin,) = compared([4, 5, 3, 4, 2], [3, 4, 2, 4, 3], baseline="base").check(equivalent={"P@10": 0.04}).failures
    assert at_margin.endswith("so they may differ by more than 0.04; few users: 4 differ, so the bounds are rough")


def test_a_gate_prints_large_shares_without_exponent() -> None:
    gate = compared([7, 9, 8, 6, 9], [1, 2, 1, 2, 1], baseline="base").check(better="P@10")
    assert re.search(r"by \+\d{3} % to \+(\d,)?\d{3} % ", gate.checks[0].text)


def test_users_for_a_difference_find_it_in_four_of_five_samples() -> None:
    comparison = compared(A, B, baseline="base")
    sd = float(np.std((np.array(A) - np.array(B)) / 10, ddof=1))
    expected = math.ceil(((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * sd / 0.05) ** 2)
    assert comparison.users_for("P@10", 0.05) == expected


# Edges.


def test_systems_that_are_equal_have_p_1() -> None:
    row = compared(A, A).differences[0]
    assert (row.difference, row.low, row.high, row.p, row.effect, row.verdict) == (0, 0, 0, 1, 0, "undecided")


@pytest.mark.parametrize(
    ("users", "reason"), [(1, "fewer than two users or clusters"), (0, "no user has a value in both systems")]
)
def test_too_few_users_have_no_p_value(users: int, reason: str) -> None:
    truth, one = lists_with(A[:1])
    other = lists_with(B[:1])[1]
    systems: dict[str, Any] = {"base": {0: other[0]}, "new": {0: one[0]} if users else {1: one[0]}}
    convention = {"users": "both"}
    with pytest.warns(exactk.EvaluationWarning) if not users else pytest.MonkeyPatch.context():
        row = exactk.compare({0: truth[0]}, systems, "P@10", convention=convention).differences[0]
    assert (row.reason, row.verdict, math.isnan(row.p)) == (reason, "undefined", True)


def test_users_of_one_system_are_left_out_and_counted() -> None:
    truth, systems = drawn(11)
    del systems["new"][4]
    with pytest.warns(exactk.EvaluationWarning, match="means over different users"):
        comparison = exactk.compare(truth, systems, "recall@5", baseline="base", convention={"users": "both"})
    row = comparison.differences[0]
    assert (row.users, row.only_system, row.only_baseline) == (59, 0, 1)
    assert row.baseline_value != comparison["recall@5"]["base"]
    with (
        pytest.warns(exactk.EvaluationWarning),
        pytest.raises(exactk.InputError, match="1 user in 'base' alone; missing='drop'"),
    ):
        exactk.compare(truth, systems, "recall@5", baseline="base", convention={"users": "both"}, missing="error")


def test_undefined_values_have_a_reason() -> None:
    truth, systems = {0: [1], 1: [], 2: [3]}, {"a": {0: [1], 1: [2], 2: [4]}, "b": {0: [1], 1: [2], 2: [3]}}
    convention = {"undefined": "nan", "empty_truth": "compute"}
    row = exactk.compare(truth, systems, "recall@1", convention=convention).differences[0]
    assert (row.verdict, row.reason) == ("undefined", "undefined for 1 user")


def test_reports_compare_by_their_users() -> None:
    truth, systems = drawn(13)
    whole = exactk.compare(truth, systems, "recall@5", per_user=True)
    backwards = {user: truth[user] for user in reversed(truth)}
    reports = {
        "base": exactk.evaluate(truth, systems["base"], "recall@5", per_user=True),
        "new": exactk.evaluate(backwards, systems["new"], "recall@5", per_user=True),
    }
    assert exactk.compare_reports(reports).differences == whole.differences
    without = {name: exactk.evaluate(truth, lists, "recall@5") for name, lists in systems.items()}
    with pytest.raises(exactk.InputError, match="found none in 'base'; per_user=True keeps them"):
        _ = exactk.compare_reports(without).differences


def test_a_comparison_is_its_round_trip() -> None:
    truth, systems = drawn(15)
    metrics = ["recall@5", "precision@5(average=micro)", "f1@5(average=of_means)", "map@5(average=geometric)"]
    groups = {user: user % 3 for user in truth}
    comparison = exactk.compare(truth, systems, metrics, baseline="base", groups=groups, margin="1%", per_user=True)
    for other in (pickle.loads(pickle.dumps(comparison)), exactk.Comparison.from_json(comparison.to_json())):  # noqa: S301
        assert other == comparison
        assert other.differences == comparison.differences
    forged = json.loads(comparison.to_json())
    forged["comparison"]["paired"]["pairs"][0]["totals"][0][8][0] = "-0x1"
    with pytest.raises(exactk.InputError, match="moments of recall@5"):
        exactk.Comparison.from_json(json.dumps(forged))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "D"}, "baseline: expected one of 'C', 'B', 'A', found 'D'"),
        ({"baseline": 3}, "baseline: expected the name of a system, or None, found 3"),
        ({"test": "tt"}, "test: expected one of 't', 'permutation', 'wilcoxon', 'sign', found 'tt'"),
        ({"confidence": 95}, "confidence: expected at least 0.5 and below 1, found 95; confidence=0.95"),
        ({"confidence": True}, "confidence: expected a number such as 0.95, found True"),
        ({"adjust": "holms"}, "did you mean 'holm'?"),
        ({"margin": "1"}, "margin: expected a margin of P@10 below 1"),
        ({"margin": "0.9"}, ""),
        ({"margin": "-1%"}, "margin: expected a number above 0"),
        ({"margin": True}, "margin: expected a number above 0"),
        ({"margin": {"P@5": 0.1}}, "margin: expected metrics among precision@10, found 'P@5'"),
        ({"missing": None}, "missing: expected one of 'drop', 'error', found None"),
    ],
)
def test_options_are_checked_before_work(options: dict[str, Any], message: str) -> None:
    if not message:
        sakai(**options)
        return
    with pytest.raises(exactk.ExactkError) as caught:
        sakai(**options)
    assert message in str(caught.value)


def test_a_relative_margin_needs_a_baseline_above_0() -> None:
    with pytest.raises(exactk.InputError, match="margin: expected an absolute margin of P@10"):
        _ = compared(A, [0] * 20, baseline="base", margin="1%").differences


def test_rows_that_there_are_not_are_an_error() -> None:
    comparison = sakai(baseline="C")
    described = r"the metrics are 'P@10', the pairs are \('B', 'C'\), \('A', 'C'\)"
    with pytest.raises(KeyError, match=rf"\('A', 'P@5'\) names 0 differences; {described}"):
        _ = comparison.differences["A", "P@5"]
    with pytest.raises(KeyError, match=f"no difference of 'P@10' and 'D'; {described}"):
        comparison.differences.of("P@10", "D")
    assert len(comparison.differences.of("P@10", "A")) == 1
    assert len(comparison.differences.by_group.of("P@10")) == 0
    with pytest.raises(exactk.InputError, match="metric: expected one of P@10, found 'P@5'"):
        comparison.users_for("P@5", 0.1)
    with pytest.raises(exactk.InputError, match="system: expected one of 'B', 'A', found 'C'"):
        comparison.users_for("P@10", 0.1, system="C")
    with pytest.raises(exactk.InputError, match="systems: expected at least two systems, found one"):
        _ = exactk.compare([[1]], {"a": [[1]]}, "P@1").differences
    reports = sakai(per_user=True).reports
    with pytest.raises(
        exactk.InputError, match=r"expected sums over pairs .* exactk.compare_reports\(comparison.reports"
    ):
        _ = exactk.Comparison(reports).differences
    assert len(exactk.compare_reports(exactk.Comparison(reports).reports).differences) == 3


def test_more_than_thirty_systems_need_a_baseline() -> None:
    truth, lists = lists_with(A)
    systems = {f"system {i}": lists for i in range(31)}
    comparison = exactk.compare(truth, systems, "P@10")
    with pytest.raises(exactk.InputError, match="baseline: expected a system, as there are more than 30"):
        _ = comparison.differences
    assert len(exactk.compare(truth, systems, "P@10", baseline="system 3").differences) == 30


def test_a_gate_takes_the_margin_of_the_metric_in_any_spelling() -> None:
    comparison = compared(A, B, margin={"P@10": 0.3})
    gate = comparison.check(no_worse="precision@10")
    assert [check.margin for check in gate] == ["0.3"]
    assert gate == comparison.check(no_worse={"precision@10": 0.3})


def test_a_metric_without_direction_may_be_equivalent_but_not_better() -> None:
    truth = [[1]] * 20
    lengths = {"base": [3, 4] * 10, "new": [4, 4] * 10}
    systems = {name: [list(range(count)) for count in counts] for name, counts in lengths.items()}
    comparison = exactk.compare(truth, systems, "num_recommended")
    assert comparison.check(equivalent={"num_recommended": 1}).status == "holds"
    assert comparison.check(equivalent={"num_recommended": 0.01}).status == "fails"
    message = "found num_recommended; equivalent={'num_recommended': '1%'} needs no direction"
    with pytest.raises(exactk.InputError, match=re.escape(message)):
        comparison.check(no_worse={"num_recommended": 5})


def test_clusters_are_read_from_a_file(tmp_path: Path) -> None:
    clusters = {"a": 1, "b": 1, "c": 2, "d": 3}
    path = tmp_path / "clusters.csv"
    path.write_text("user,home\n" + "".join(f"{user},{home}\n" for user, home in clusters.items()), encoding="utf-8")
    truth = {"a": ["x"], "b": ["x"], "c": ["x"], "d": ["x"]}
    systems = {"base": {user: ["y"] for user in truth}, "new": {**truth, "c": ["y"]}}
    (row,) = exactk.compare(truth, systems, "P@1", clusters=path).differences
    assert row.units == 3
    assert [row] == list(exactk.compare(truth, systems, "P@1", clusters=clusters).differences)


def test_a_gate_counts_clusters_where_there_are_any() -> None:
    truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[2]] * 2 + [[1]] * 10 + [[2]] * 28
    comparison = exactk.compare(
        truth, {"a": a, "b": b}, "P@1", baseline="a", clusters=[user // 2 for user in range(40)]
    )
    (failure,) = comparison.check(no_worse={"P@1": "5%"}).failures
    assert "95 %, 20 clusters)" in failure
    assert re.search(r"\d clusters would show that it is(?: not)?, if the difference stays as it is", failure)


def test_clusters_have_the_user_column_that_is_named() -> None:
    frame = pd.DataFrame({"home": [1, 1, 2], "person": ["a", "b", "c"]})
    truth = {"a": ["x"], "b": ["x"], "c": ["x"]}
    (row,) = exactk.compare(truth, {"one": truth, "two": truth}, "P@1", clusters=frame, user="person").differences
    assert row.units == 2
    with pytest.raises(exactk.InputError, match="user: expected a data frame or file with columns as truth"):
        exactk.compare(truth, {"one": truth, "two": truth}, "P@1", clusters={"a": 1, "b": 1, "c": 2}, user="person")
