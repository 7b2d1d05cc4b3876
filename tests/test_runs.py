"""Systems of several training runs: means over the runs, whose variance the standard errors include."""

from __future__ import annotations

import json
import math
import pickle
import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import optimize, stats

import exactk
from exactk._engine.pairs import ChunkPairs
from runs_oracle import Numbers, difference_of_runs
from strategies import at_night, examples

METRICS = {
    "recall@5": "macro",
    "precision@5(average=micro)": "micro",
    "map@5(average=geometric)": "geometric",
    "f1@5(average=of_means)": "of_means",
}
RUNS = {"new": ["new-1", "new-2", "new-3"], "old": ["old-1", "old-2"]}


def lists_with(hits: Any) -> list[list[int]]:
    """Return lists of ten of which so many are relevant to users of ten relevant items."""
    return [list(range(int(count))) + list(range(100, 110 - int(count))) for count in hits]


def compared(hits_of: dict[str, Any], **options: Any) -> exactk.Comparison:
    """Compare systems, whose users have these numbers of hits in ten."""
    users = len(next(iter(hits_of.values())))
    systems = {name: lists_with(hits) for name, hits in hits_of.items()}
    return exactk.compare([list(range(10))] * users, systems, "P@10", **options)


def drawn(seed: int, users: int = 40) -> tuple[dict[int, list[int]], dict[str, dict[int, list[int]]]]:
    """Return a truth, and lists of six systems that are better with the number of the run."""
    rng = np.random.default_rng(seed)
    truth = {user: rng.choice(30, rng.integers(1, 6), replace=False).tolist() for user in range(users)}
    names = ["old-1", "single", "new-1", "old-2", "new-2", "new-3"]
    systems: dict[str, dict[int, list[int]]] = {name: {} for name in names}
    for number, lists in enumerate(systems.values()):
        for user, items in truth.items():
            scores = rng.random(30)
            scores[items] += 0.1 * number
            lists[user] = np.argsort(-scores)[: rng.integers(1, 12)].tolist()
    return truth, systems


# By hand.


def test_runs_without_variance_between_users_are_a_t_test_of_the_runs() -> None:
    runs = {"base": [3] * 20, "new-1": [5] * 20, "new-2": [4] * 20, "new-3": [8] * 20}
    (row,) = compared(runs, runs={"new": ["new-1", "new-2", "new-3"]}).differences
    expected = stats.ttest_1samp([0.5, 0.4, 0.8], 0.3)
    assert_allclose([row.statistic, row.p, row.degrees_of_freedom], [expected.statistic, expected.pvalue, 2], rtol=1e-9)
    assert_allclose([row.low, row.high], np.subtract(expected.confidence_interval(), 0.3), rtol=1e-9)
    assert_allclose(row.value, np.mean([0.5, 0.4, 0.8]), rtol=1e-15)
    assert row.effect == math.inf
    assert (row.system, row.baseline, row.wins) == ("new", "base", 20)


def test_two_systems_of_runs_without_variance_between_users_are_welchs_t_test() -> None:
    runs = {"old-1": [3] * 9, "old-2": [4] * 9, "new-1": [5] * 9, "new-2": [7] * 9, "new-3": [10] * 9}
    (row,) = compared(runs, runs=RUNS).differences
    expected = stats.ttest_ind([0.5, 0.7, 1.0], [0.3, 0.4], equal_var=False)
    assert_allclose([row.statistic, row.p, row.degrees_of_freedom], [*expected, expected.df], rtol=1e-9)


A = [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]
B = [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]
C = [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]


@pytest.mark.parametrize("copies", [2, 3, 5])
def test_copies_of_one_run_are_that_run(copies: int) -> None:
    truth, systems = drawn(1)
    (name, *others) = [f"copy {number}" for number in range(copies)]
    metrics = [*METRICS, "ndcg@5"]
    alone = exactk.compare(truth, {name: systems["single"], "new": systems["new-1"]}, metrics, margin="10%").differences
    systems_of_runs = {name: systems["single"], "new": systems["new-1"]} | dict.fromkeys(others, systems["single"])
    runs = {"copies": [name, *others]}
    among = exactk.compare(truth, systems_of_runs, metrics, margin="10%", runs=runs).differences
    for one, other in zip(alone, among, strict=True):
        numbers = [[cell for cell in row if isinstance(cell, (int, float))] for row in (one, other)]
        assert_allclose(numbers[1], numbers[0], rtol=1e-11, atol=1e-14)
        assert (one.wins, one.ties, one.losses, one.verdict) == (other.wins, other.ties, other.losses, other.verdict)


def test_means_that_are_equal_but_for_rounding_are_ties() -> None:
    """The mean of 0.1, 0.2 and 0.6 is 0.3, and no sum of the doubles is."""
    permuted = {"a": [1, 2, 6], "b": [6, 1, 2], "c": [2, 6, 1]}
    for hits in ({"a": [1] * 3, "b": [2] * 3, "c": [6] * 3}, permuted):
        (row,) = compared({**hits, "base": [3] * 3}, runs={"new": ["a", "b", "c"]}).differences
        assert (row.difference, row.p, row.wins, row.ties, row.losses) == (0, 1, 0, 3, 0)
    assert row.effect == 0
    assert row.low == -row.high == pytest.approx(0.025 ** (1 / 3) - 1)


# Against the definition.


def numbers_of(report: exactk.Report, index: int, average: str) -> list[Numbers]:
    """Return what the report keeps of each user for a value."""
    table = report._user_table
    assert table is not None
    parts = [row for row, of_value in enumerate(METRICS.values()) if of_value in {"micro", "of_means"}]
    rows = [index]
    if average in {"micro", "of_means"}:
        first = len(METRICS) + 2 * parts.index(index)
        rows = [first, first + 1]
    columns = table.rows[rows].T.tolist()
    return [None if any(map(math.isnan, one)) else tuple(one) for one in columns]


def check_rows(comparison: exactk.Comparison, rows: Any, users: NDArray[np.intp], weights: Any, clusters: Any) -> None:
    """Check each row against its definition over some users."""
    runs = RUNS | {"single": ["single"]}
    for row in rows:
        index = list(METRICS).index(row.metric)
        average = METRICS[row.metric]
        numbers = {name: numbers_of(report, index, average) for name, report in comparison.reports.items()}
        system, baseline = (
            [[numbers[run][user] for user in users] for run in runs[name]] for name in (row.system, row.baseline)
        )
        options = [None if one is None else [one[user] for user in users] for one in (weights, clusters)]
        expected = difference_of_runs(system, baseline, average, *options)
        t = expected.difference / expected.standard_error
        df = expected.degrees_of_freedom
        found = [row.statistic, row.degrees_of_freedom, row.effect, row.p]
        assert_allclose(found, [t, df, expected.effect, 2 * stats.t.sf(abs(t), df)], rtol=1e-9, atol=1e-12)
        half_width = stats.t.ppf(0.975, df) * expected.standard_error
        bounds = expected.difference - half_width, expected.difference + half_width
        if average == "geometric":
            assert_allclose([row.relative_low, row.relative_high], np.expm1(bounds), rtol=1e-9)
        else:
            assert_allclose([row.low, row.high], bounds, rtol=1e-9, atol=1e-12)


@settings(max_examples=examples(25))
@given(
    st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([None, "single", "old", "new"])
)
def test_rows_are_those_of_the_definition(
    seed: int, has_weights: bool, has_clusters: bool, has_groups: bool, baseline: str | None
) -> None:  # fmt: skip
    truth, systems = drawn(seed)
    rng = np.random.default_rng(seed)
    weights = (rng.random(len(truth)) + 0.1).tolist() if has_weights else None
    clusters = rng.integers(0, 15, len(truth)).tolist() if has_clusters else None
    groups = rng.integers(0, 2, len(truth)).tolist() if has_groups else None
    by_user = [None if one is None else dict(enumerate(one)) for one in (weights, clusters, groups)]
    comparison = exactk.compare(
        truth, systems, list(METRICS), runs=RUNS, baseline=baseline, per_user=True,
        weights=by_user[0], clusters=by_user[1], groups=by_user[2],
    )  # fmt: skip
    differences = comparison.differences
    assert len(differences) == len(METRICS) * (3 if baseline is None else 2)
    check_rows(comparison, differences, np.arange(len(truth)), weights, clusters)
    for label in (0, 1) if groups else ():
        of_group = [row for row in differences.by_group if row.group == label]
        assert len(of_group) == len(differences)
        check_rows(comparison, of_group, np.flatnonzero(np.array(groups) == label), weights, clusters)
    again = exactk.compare_reports(comparison.reports, runs=RUNS, baseline=baseline, clusters=by_user[1])
    assert again.differences == differences


def test_pairs_without_runs_are_those_of_a_comparison_without_runs() -> None:
    truth, systems = drawn(6)
    pair = {name: systems[name] for name in ("single", "new-1")}
    alone = exactk.compare(truth, pair, list(METRICS), adjust="none").differences
    comparison = exactk.compare(truth, systems, list(METRICS), adjust="none", runs={"old": RUNS["old"]})
    for row in alone:
        assert comparison.differences["new-1", "single", row.metric] == row
    names = ["old", "single", "new-1", "new-2", "new-3"]
    pairs = [(later, earlier) for earlier, later in combinations(names, 2)]
    assert [(row.system, row.baseline) for row in comparison.differences.of("recall@5")] == pairs
    assert exactk.Comparison.from_json(comparison.to_json()).differences == comparison.differences


def p_above(new: Any, old: Any, factor: float) -> float:
    """Return the one-sided p-value of new > factor * old, means over runs of the values of users."""
    contrast = np.mean(new, axis=0) - factor * np.mean(old, axis=0)
    parts = [(np.var(contrast, ddof=1) / len(contrast), len(contrast) - 1)]
    for runs, scale in ((new, 1.0), (old, factor**2)):
        if len(runs) > 1:
            parts.append((scale * np.var(np.mean(runs, axis=1), ddof=1) / len(runs), len(runs) - 1))
    variance = sum(part for part, _ in parts)
    df = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    return float(stats.t.sf(contrast.mean() / np.sqrt(variance), df))


def test_margins_are_tests_of_contrasts() -> None:
    runs = {"new-1": A * 2, "new-2": [a + 1 for a in A] * 2, "old-1": B * 2, "old-2": C * 2}
    names = {"new": ["new-1", "new-2"], "old": ["old-1", "old-2"]}
    (row,) = compared(runs, runs=names, baseline="old", margin="30%").differences
    assert row.wins + row.losses > 20
    new, old = ([np.array(runs[run]) / 10 for run in of_system] for of_system in names.values())
    assert_allclose(p_above(new, old, 0.7), row.p_not_worse, rtol=1e-9)
    assert_allclose(max(p_above(new, old, 0.7), 1 - p_above(new, old, 1.3)), row.p_equivalent, rtol=1e-9)


def test_relative_bounds_are_where_the_contrast_is_not_rejected() -> None:
    """Also far from 1, where the degrees of freedom are others than those of the difference."""
    rng = np.random.default_rng(5)
    checked = 0
    for _ in range(40):
        some = ("new-1", "new-2", "old-1", "old-2", "old-3")[: int(rng.integers(3, 6))]
        runs = {run: rng.binomial(10, rng.uniform(0.02, 0.9), 25) for run in some}
        names = {"new": ["new-1", "new-2"]} | ({"old": list(runs)[2:]} if len(runs) > 3 else {})
        baseline = "old" if len(runs) > 3 else "old-1"
        (row,) = compared(runs, runs=names, baseline=baseline, confidence=0.8).differences
        new, old = (np.array([runs[run] for run in group]) / 10 for group in (list(runs)[:2], list(runs)[2:]))
        for bound, p in ((row.relative_low, 0.1), (row.relative_high, 0.9)):
            if not math.isnan(bound):
                checked += 1
                assert_allclose(p_above(new, old, 1 + bound), p, rtol=1e-9)
    assert checked > 40


def test_bounds_of_geometric_means_are_where_no_logarithms_have_the_difference() -> None:
    """By the point of the curve of logarithms that is fewest standard errors away, with the degrees of freedom there."""
    runs = {"new-1": [max(1, a) for a in A], "new-2": [a + 1 for a in A], "old-1": [max(1, b) for b in B]}
    names = {"new": ["new-1", "new-2"]}
    metric = "P@10(average=geometric)"
    truth, lists = [range(10)] * len(A), {k: [[*range(n), *range(10, 20 - n)] for n in v] for k, v in runs.items()}
    options: dict[str, Any] = {"runs": names, "baseline": "old-1", "confidence": 0.9}
    (row,) = exactk.compare(truth, lists, metric, **options).differences
    logs = {run: np.log(np.array(numbers) / 10) for run, numbers in runs.items()}
    new, old = (logs["new-1"] + logs["new-2"]) / 2, logs["old-1"]
    of_runs = np.var([logs["new-1"].mean(), logs["new-2"].mean()], ddof=1) / 2
    of_users = np.cov(new, old) / len(A)
    covariances = of_users + np.diag([of_runs, 0.0])

    def logarithms(difference: float, y: float) -> Any:
        return np.array([y + np.log1p(difference * np.exp(-y)), y])

    for bound in (row.low, row.high):

        def distance(y: float, difference: float = bound) -> float:
            apart = np.array([new.mean(), old.mean()]) - logarithms(difference, y)
            return float(apart @ np.linalg.solve(covariances, apart))

        found = optimize.minimize_scalar(distance, bracket=(old.mean(), old.mean() + 0.01), tol=1e-12)
        one, other = np.exp(logarithms(bound, found.x))
        contrast = np.array([1.0, -other / one])
        parts = [(contrast @ of_users @ contrast, len(A) - 1), (of_runs, 1)]
        total = sum(part for part, _ in parts)
        df = total**2 / sum(part**2 / degrees for part, degrees in parts)
        assert_allclose(stats.t.sf(math.sqrt(found.fun), df), 0.05, rtol=1e-7)
    assert row.low < row.difference < row.high


def test_the_detectable_difference_and_the_users_for_one_leave_room_for_the_runs() -> None:
    runs = {"base": A, "new-1": B, "new-2": [b + 1 for b in B]}
    comparison = compared(runs, runs={"new": ["new-1", "new-2"]}, baseline="base")
    (row,) = comparison.differences
    df = row.degrees_of_freedom
    error = row.difference / row.statistic
    assert_allclose(row.detectable, (stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)) * error, rtol=1e-9)
    of_runs = np.var([np.mean(B) / 10, np.mean(B) / 10 + 0.1], ddof=1) / 2
    sd = np.std(np.mean([B, [b + 1 for b in B]], axis=0) / 10 - np.array(A) / 10, ddof=1)
    quantiles = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    expected = math.ceil(sd**2 / ((0.2 / quantiles) ** 2 - of_runs))
    assert comparison.users_for("P@10", 0.2) == expected
    with pytest.raises(exactk.InputError, match=r"difference: expected a difference above .* found 0\.1; more runs"):
        comparison.users_for("P@10", 0.1)
    (undecided,) = comparison.check(equivalent={"P@10": 0.001}).failures
    assert "; more training runs would decide, more users alone would not" in undecided


# What is kept of runs.


def test_the_runs_remain_systems_of_the_comparison() -> None:
    truth, systems = drawn(7)
    comparison = exactk.compare(truth, systems, "recall@5", runs=RUNS)
    assert list(comparison.reports) == list(comparison["recall@5"]) == list(systems)
    pairs = [(row.system, row.baseline) for row in comparison.differences]
    assert pairs == [("single", "old"), ("new", "old"), ("new", "single")]
    assert "95 % intervals, not adjusted; new: mean of 3 runs; old: mean of 2 runs\n" in repr(comparison.differences)
    of_runs = [comparison["recall@5"][run] for run in RUNS["new"]]
    assert_allclose(comparison.differences["new", "old", "recall@5"].value, np.mean(of_runs), rtol=1e-14)
    assert comparison.users_for("recall@5", 0.5, system="new") > 0


def test_tables_for_papers_mark_runs_as_their_mean() -> None:
    lists = {"popularity": [1, 2] * 20, "als-1": [7, 9] * 20, "als-2": [8, 9] * 20}
    text = compared(lists, runs={"als": ["als-1", "als-2"]}).to_markdown()
    header, _, row, *_ = text.splitlines()
    assert [cell.strip() for cell in header.split("|")[2:5]] == [
        "<sup>a</sup> popularity", "<sup>b</sup> als-1", "<sup>b</sup> als-2",
    ]  # fmt: skip
    assert [cell.strip() for cell in row.split("|")[2:5]] == ["0.1500", "0.8000<sup>a</sup>", "**0.8500**<sup>a</sup>"]
    assert "; als-1, als-2: runs of als, tested as their mean" in text


def test_shards_and_blocks_have_equal_bits() -> None:
    truth, systems = drawn(8)
    groups = {user: "ab"[user % 2] for user in truth}
    weights = {user: 1.0 + user % 3 for user in truth}
    options: dict[str, Any] = {"runs": RUNS, "margin": "5%", "baseline": "old", "groups": groups, "weights": weights}
    whole = exactk.compare(truth, systems, list(METRICS), **options)

    def part(users: Any) -> tuple[Any, Any]:
        return {u: truth[u] for u in users}, {name: {u: one[u] for u in users} for name, one in systems.items()}

    def compared_part(users: Any, options: Any) -> exactk.Comparison:
        return exactk.compare(*part(users), metrics=list(METRICS), **options)

    parts = [range(11), range(11, 12), range(12, 40)]
    shards = [compared_part(users, options) for users in parts]
    merged = [exactk.merge(shards), exactk.merge([shard.state for shard in shards])]
    for one in merged:
        assert one.differences == whole.differences
        assert one.differences.heterogeneity == whole.differences.heterogeneity
    blocks = exactk.compare(None, (part(users) for users in parts), list(METRICS), **options)
    assert blocks.differences == whole.differences
    assert blocks.state == whole.state
    others = compared_part(parts[1], options | {"runs": None, "baseline": "old-1"})
    with pytest.raises(exactk.StateMismatchError, match="comparisons of the same baseline in all, found"):
        exactk.merge([shards[0], others])


def test_a_comparison_is_its_round_trip() -> None:
    truth, systems = drawn(9)
    for per_user in (False, True):
        comparison = exactk.compare(truth, systems, list(METRICS), runs=RUNS, per_user=per_user)
        for other in (pickle.loads(pickle.dumps(comparison)), exactk.Comparison.from_json(comparison.to_json())):  # noqa: S301
            assert other == comparison
            assert other.differences == comparison.differences
        differences = pickle.loads(pickle.dumps(comparison.differences))  # noqa: S301
        assert (differences, repr(differences)) == (comparison.differences, repr(comparison.differences))
        state = exactk.results.ComparisonState.from_dict(json.loads(json.dumps(comparison.state.to_dict())))
        assert state == comparison.state
    forged = comparison.state.to_dict()
    forged["options"]["runs"]["new"][0] = "old-1"
    with pytest.raises(exactk.InputError, match="each run in one system, once"):
        exactk.results.ComparisonState.from_dict(forged)


def test_a_user_whom_one_run_lacks_counts_as_one_of_the_other_side() -> None:
    truth, systems = drawn(10)
    del systems["new-2"][3], systems["new-3"][5], systems["old-1"][5], systems["old-2"][8]
    options: dict[str, Any] = {"runs": RUNS, "baseline": "old"}
    convention = {"users": "both"}
    with pytest.warns(exactk.EvaluationWarning, match="means over different users"):
        comparison = exactk.compare(truth, systems, list(METRICS), convention=convention, per_user=True, **options)
    for row in comparison.differences.of(system="new"):
        assert (row.users, row.only_system, row.only_baseline) == (37, 1, 1)
    with pytest.warns(exactk.EvaluationWarning, match="means over different users"):
        again = exactk.compare_reports(comparison.reports, **options)
    assert again.differences == comparison.differences
    message = "2 users in 'single' alone; missing='drop' compares the 38 users"
    with pytest.warns(exactk.EvaluationWarning), pytest.raises(exactk.InputError, match=message):
        exactk.compare(truth, systems, "recall@5", convention=convention, missing="error", **options)


def test_a_value_that_is_nan_in_one_run_is_undefined() -> None:
    truth = {0: [1], 1: [2], 2: [3]}
    systems = {"a-1": {0: [1], 1: [2], 2: [4]}, "a-2": {0: [1], 1: [], 2: [3]}, "b": {0: [1], 1: [2], 2: [3]}}
    convention = {"undefined": "nan", "empty_list": "compute"}
    runs = {"a": ["a-1", "a-2"]}
    (row,) = exactk.compare(truth, systems, "precision", convention=convention, runs=runs).differences
    assert (row.verdict, row.reason) == ("undefined", "undefined for 1 user")


def test_few_tables_are_held_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a baseline: its mean, its form beside means if it has one run, and the mean of the system that is added."""
    most = 0
    add = ChunkPairs.add

    def counted(self: Any, *arguments: Any) -> None:
        nonlocal most
        add(self, *arguments)
        most = max(most, len(self._tables) + (self._means is not None))

    monkeypatch.setattr(ChunkPairs, "add", counted)
    truth, systems = drawn(12)
    exactk.compare(truth, systems, "recall@5", runs=RUNS, baseline="old")
    assert most == 2


# What is refused.

SYSTEMS: dict[str, Any] = {name: [[1]] for name in ("als-1", "als-2", "als-3", "popularity")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": ["als-1", "als-2"]}, "runs: expected a mapping from a system's name to those of its runs, found list"),
        ({"runs": {3: ["als-1", "als-2"]}}, "runs: expected system names as keys, found 3"),
        ({"runs": {"": ["als-1", "als-2"]}}, "runs: expected system names as keys, found ''"),
        ({"runs": {"als": "als-1,als-2"}}, "runs: expected a sequence of names for 'als', found str"),
        ({"runs": {"als": 3}}, "runs: expected a sequence of names for 'als', found int"),
        ({"runs": {"als": ["als-1", 2]}}, "runs: expected names of systems for 'als', found 2"),
        ({"runs": {"als": ["als-1"]}}, "runs: expected at least two runs of 'als', whose variance is estimated, found 'als-1'"),
        ({"runs": {"als": []}}, "runs: expected at least two runs of 'als', whose variance is estimated, found none"),
        ({"runs": {"als": ["als-1", "als-1"]}}, "runs: expected each run in one system, once, found 'als-1' twice"),
        ({"runs": {"als": ["als-1", "als-2"], "x": ["als-3", "als-2"]}}, "runs: expected each run in one system, once, found 'als-2' in 'als' and 'x'"),
        ({"runs": {"als": ["als-1", "asl-2"]}}, "found 'asl-2'; did you mean 'als-2'?"),
        ({"runs": {"popularity": ["als-1", "als-2"]}}, "runs: expected a name that no system has, for the mean of runs, found 'popularity'"),
        ({"runs": {"als-1": ["als-1", "als-2"]}}, "runs: expected a name that no system has"),
        ({"runs": {"als": ["als-1", "als-2"]}, "baseline": "als-1"}, "baseline: expected a system, found 'als-1', a run of 'als'; baseline='als'"),
        ({"runs": {"als": ["als-1", "als-2"]}, "baseline": "asl"}, "baseline: expected one of 'als', 'als-3', 'popularity', found 'asl'; did you mean 'als'?"),
        ({"runs": {"als": ["als-1", "als-2"]}, "test": "sign"}, "test: expected 't' for several runs of a system"),
        ({"runs": {"als": ["als-1", "als-2"]}, "test": "wilcoxon"}, "test: expected 't' for several runs of a system"),
    ],
)  # fmt: skip
def test_runs_are_checked_before_work(options: dict[str, Any], message: str) -> None:
    reports = exactk.compare([[1]], SYSTEMS, "P@1").reports
    with pytest.raises(exactk.ExactkError, match=re.escape(message)):
        exactk.compare([[1]], SYSTEMS, "P@1", **options)
    with pytest.raises(exactk.ExactkError, match=re.escape(message)):
        exactk.compare_reports(reports, **options)


def test_runs_of_one_system_alone_have_nobody_to_differ_from() -> None:
    comparison = exactk.compare([[1]], SYSTEMS, "P@1", runs={"all": list(SYSTEMS)})
    with pytest.raises(exactk.InputError, match="systems: expected at least two systems, found one"):
        _ = comparison.differences
    with pytest.raises(exactk.InputError, match="baseline: expected a system to check others against"):
        comparison.check(better="P@1")


def test_no_runs_are_no_option() -> None:
    assert exactk.compare([[1]], SYSTEMS, "P@1", runs={}) == exactk.compare([[1]], SYSTEMS, "P@1")


# Calibration.


@at_night
def test_new_training_runs_keep_the_level_that_plain_t_tests_do_not() -> None:
    """Of equal systems whose training runs vary, by P@10 of 40 new users and of 3 new runs each."""
    rng = np.random.default_rng(21)
    sets = 250
    rejected = {"runs": 0, "means of runs": 0, "one run": 0}
    names = {system: [f"{system}-{run}" for run in range(3)] for system in ("a", "b")}
    for _ in range(sets):
        ease = rng.normal(-0.5, 1, 40)
        of_runs = [run for runs in names.values() for run in runs]
        hits = {run: rng.binomial(10, 1 / (1 + np.exp(-(ease + rng.normal(0, 0.35))))) for run in of_runs}
        means = [np.mean([hits[run] for run in runs], axis=0) for runs in names.values()]
        rejected["runs"] += compared(hits, runs=names).differences[0].p <= 0.05
        rejected["means of runs"] += stats.ttest_rel(*means).pvalue <= 0.05
        rejected["one run"] += stats.ttest_rel(hits["a-0"], hits["b-0"]).pvalue <= 0.05
    low, high = stats.binom.interval(0.999, sets, 0.05)
    assert low <= rejected["runs"] <= high
    assert min(rejected["means of runs"], rejected["one run"]) > 0.4 * sets
