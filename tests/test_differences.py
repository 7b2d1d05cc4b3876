"""Differences between systems, beside the oracle: known numbers, other ways to compute them, margins and gates."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.oneway import anova_oneway

import exactk

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


def standard_error(row: exactk.results.Difference) -> float:
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


@pytest.mark.parametrize("options", [(), ("weights", "clusters")])
def test_users_of_whom_a_ratio_is_0_of_0_in_both_systems_change_nothing(options: tuple[str, ...]) -> None:
    truth, systems = drawn(14)
    truth |= {user: [] for user in range(0, 60, 5)}
    for name, step in (("base", 15), ("new", 10)):  # of every 30th neither system has a ratio
        systems[name] |= {user: [] for user in range(0, 60, step)}
    convention = {"empty_truth": "compute", "undefined": "skip", "precision_over": "list"}

    def row(metric: str, users: list[int]) -> exactk.results.Difference:
        by_user = {"weights": {user: 1 + user % 3 for user in users}, "clusters": {user: user // 3 for user in users}}
        one_truth, *lists = ({user: rows[user] for user in users} for rows in (truth, *systems.values()))
        named = dict(zip(systems, lists, strict=True))
        used: dict[str, Any] = {name: by_user[name] for name in options}
        return exactk.compare(one_truth, named, metric, convention=convention, margin=0.01, **used).differences[0]

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
    metrics = ["recall@5", "recall@5(average=micro)", "f1@5(average=of_means)", "map@15(average=geometric)"]
    found = exactk.compare(truth, systems, metrics, **options).differences
    assert found == exactk.reference.compare(truth, systems, metrics, **options).differences
    assert {row.users for row in found if row.metric == "recall@5(average=micro)"} == {5}


@pytest.mark.parametrize(
    ("truth", "metric", "options"),
    [
        ([[1]] * 53, "recall@1", {"weights": [1] * 3 + [0] * 50}),
        ([[1]] * 3 + [[]] * 50, "recall@1(average=micro)", {"convention": {"empty_truth": "compute", "undefined": "skip"}}),
    ],
)  # fmt: skip
def test_few_users_are_not_hidden_by_those_without_information(truth: Any, metric: str, options: Any) -> None:
    comparison = exactk.compare(truth, {"a": [[2]] * 53, "b": [[1]] * 53}, metric, baseline="a", margin=0.5, **options)
    (row,) = comparison.differences
    assert (row.users, row.units, row.p, row.p_not_worse, row.verdict) == (3, 3, 0.25, 1 / 64, "not worse")
    assert comparison.check(better=metric).status == "undecided"


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


def test_a_gate_says_what_holds_and_what_would_decide() -> None:
    comparison = compared(A, B, baseline="base")
    assert comparison.check(better="P@10")
    assert not comparison.check(no_worse={"P@10": 1e-9}, equivalent={"P@10": "1%"})
    undecided = compared(B, A, baseline="base").check(no_worse={"P@10": "25%"})
    assert undecided.status == "undecided"
    assert "users would show that" in undecided.failures[0]
    assert compared([0] * 20, A, baseline="base").check(no_worse={"P@10": "1%"}).status == "fails"
    assert compared(A, A, baseline="base").check(equivalent={"P@10": "1%"}).status == "observed"
    assert compared(A, A, baseline="base").check(equivalent={"P@10": "50%"}).status == "holds"


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


def test_users_of_one_system_are_left_out_and_counted() -> None:
    truth, systems = drawn(11)
    del systems["new"][4]
    how: dict[str, Any] = {"baseline": "base", "convention": {"users": "both"}}
    with pytest.warns(exactk.EvaluationWarning, match="means over different users"):
        comparison = exactk.compare(truth, systems, "recall@5", **how)
    row = comparison.differences[0]
    assert (row.users, row.only_system, row.only_baseline) == (59, 0, 1)
    assert row.baseline_value != comparison["recall@5"]["base"]
    message = "1 user in 'base' alone; missing='drop'"
    with pytest.warns(exactk.EvaluationWarning), pytest.raises(exactk.InputError, match=message):
        exactk.compare(truth, systems, "recall@5", missing="error", **how)
    weights = {user: float(user != 4) for user in truth}
    with pytest.warns(exactk.EvaluationWarning):
        (row,) = exactk.compare(truth, systems, "recall@5", missing="error", weights=weights, **how).differences
    assert (row.users, row.only_baseline) == (59, 0)


def test_reports_whose_users_have_another_order_compare_by_their_keys() -> None:
    truth, systems = drawn(13)
    orders = {"base": truth, "new": {user: truth[user] for user in reversed(truth)}}
    reports = {
        name: exactk.evaluate(of_users, systems[name], "recall@5", per_user=True) for name, of_users in orders.items()
    }
    whole = exactk.compare(truth, systems, "recall@5", per_user=True)
    assert exactk.compare_reports(reports).differences == whole.differences


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "D"}, "baseline: expected one of 'C', 'B', 'A', found 'D'"),
        ({"baseline": 3}, "baseline: expected the name of a system, or None, found 3"),
        ({"test": "tt"}, "test: expected one of 't', 'permutation', 'wilcoxon', 'sign', found 'tt'"),
        ({"confidence": True}, "confidence: expected a number such as 0.95, found True"),
        ({"margin": "-1%"}, "margin: expected a number above 0"),
        ({"margin": True}, "margin: expected a number above 0"),
        ({"missing": None}, "missing: expected one of 'drop', 'error', found None"),
    ],
)
def test_options_are_checked_before_work(options: dict[str, Any], message: str) -> None:
    with pytest.raises(exactk.ExactkError) as caught:
        sakai(**options)
    assert message in str(caught.value)
    sakai(margin="0.9")


def test_rows_that_there_are_not_are_an_error() -> None:
    comparison = sakai(baseline="C")
    described = r"the metrics are 'P@10', the pairs are \('B', 'C'\), \('A', 'C'\)"
    with pytest.raises(KeyError, match=rf"\('A', 'P@5'\) names 0 differences; {described}"):
        _ = comparison.differences["A", "P@5"]
    with pytest.raises(KeyError, match=f"no difference of 'P@10' and 'D'; {described}"):
        comparison.differences.of("P@10", "D")
    assert len(comparison.differences.of("P@10", "A")) == 1
    assert len(comparison.differences.by_group.of("P@10")) == 0
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
    (row,) = exactk.compare(
        truth, {"one": {**truth}, "two": {**truth}}, "P@1", clusters=frame, user="person"
    ).differences
    assert row.units == 2
    with pytest.raises(exactk.InputError, match="user: expected a data frame or file with columns as truth"):
        exactk.compare(
            truth, {"one": {**truth}, "two": {**truth}}, "P@1", clusters={"a": 1, "b": 1, "c": 2}, user="person"
        )
