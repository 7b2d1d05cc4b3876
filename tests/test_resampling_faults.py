"""Permutation tests and bootstrap intervals of what can hardly be compared: errors of the right kind, or defined results."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exactk
from exactk._runtime import progress
from test_hostile_states import HOSTILE, _changed
from test_permutation_oracle import compared as of_values

TRUTH: Any = [[1]] * 30
A: Any = [[1]] * 10 + [[2]] * 20
B: Any = [[2]] * 4 + [[1]] * 18 + [[2]] * 8
HOMES = [user // 3 for user in range(30)]


def compared(users: int = 30, **options: Any) -> exactk.Comparison:
    return exactk.compare(TRUTH[:users], {"a": A[:users], "b": B[:users]}, "P@1", **options)


def reports(**options: Any) -> dict[str, exactk.Report]:
    return {name: exactk.evaluate(TRUTH, lists, "P@1", **options) for name, lists in (("a", A), ("b", B))}


def graded(users: int, seed: int = 0) -> dict[str, Any]:
    """Return truth and systems of users whose values are of many sizes."""
    rng = np.random.default_rng(seed)
    systems = {name: [rng.permutation(9)[:5].tolist() for _ in range(users)] for name in "abc"}
    return {"truth": [{0: 1.0, 1: 2.0, 2: 3.0}] * users, "systems": systems}


def reports_of(data: dict[str, Any], metrics: Any = "ndcg@5") -> dict[str, exactk.Report]:
    """Return reports with users' values."""
    return {
        name: exactk.evaluate(data["truth"], lists, metrics, per_user=True) for name, lists in data["systems"].items()
    }


# Options.


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"seed": -1}, exactk.InputError, "seed: expected an integer from 0 to 18446744073709551615, found -1"),
        ({"seed": 2**64}, exactk.InputError, "seed: expected an integer from 0 to 18446744073709551615, found 18446744073709551616"),
        ({"seed": True}, exactk.InputTypeError, "seed: expected an integer, found True"),
        ({"seed": 1.5}, exactk.InputTypeError, "seed: expected an integer, found 1.5"),
        ({"seed": "1"}, exactk.InputTypeError, "seed: expected an integer, found '1'"),
        ({"seed": None}, exactk.InputTypeError, "seed: expected an integer, found NoneType"),
        ({"permutations": 0}, exactk.InputError, "permutations: expected an integer from 99 to 10000000, found 0"),
        ({"permutations": 98}, exactk.InputError, "permutations: expected an integer from 99 to 10000000, found 98"),
        ({"permutations": 10**7 + 1}, exactk.InputError, "permutations: expected an integer from 99 to 10000000, found 10000001"),
        ({"permutations": 9999.0}, exactk.InputTypeError, "permutations: expected an integer, found 9999.0"),
        ({"permutations": False}, exactk.InputTypeError, "permutations: expected an integer, found False"),
        ({"resamples": 98}, exactk.InputError, "resamples: expected an integer from 99 to 1000000, found 98"),
        ({"resamples": 10**6 + 1}, exactk.InputError, "resamples: expected an integer from 99 to 1000000, found 1000001"),
        ({"resamples": [999]}, exactk.InputTypeError, "resamples: expected an integer, found list"),
    ],
)  # fmt: skip
def test_numbers_of_draws_and_seeds_are_in_range(options: dict[str, Any], error: type[Exception], message: str) -> None:
    how: dict[str, Any] = {"test": "permutation", "interval": "bca", **options}
    calls: list[Callable[[], object]] = [lambda: compared(**how), lambda: exactk.compare_reports(reports(), **how)]
    for call in calls:
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjust": "max_t"}, "adjust: expected an adjustment of test='t', found 'max_t'; test='permutation'"),
        ({"adjust": "max_t", "test": "sign"}, "adjust: expected an adjustment of test='sign', found 'max_t'; test='permutation'"),
        ({"adjust": "max_t", "interval": "bca"}, "adjust: expected an adjustment of test='t', found 'max_t'; test='permutation'"),
        ({"permutations": 999}, "permutations: expected none with test='t', found 999; test='permutation'"),
        ({"permutations": 999, "interval": "bca"}, "permutations: expected none with test='t', found 999; test='permutation'"),
        ({"resamples": 999}, "resamples: expected none with interval='t', found 999; interval='percentile'"),
        ({"resamples": 999, "test": "permutation"}, "resamples: expected none with interval='t', found 999; interval='percentile'"),
        ({"seed": 3}, "seed: expected none, as t tests and intervals use no random numbers, found 3; test='permutation'"),
        ({"test": "permutation", "runs": {"x": ["a", "b"]}}, "test: expected 't' for several runs of a system, as no other test takes their variance into account, found 'permutation'"),
        ({"interval": "bca", "runs": {"x": ["a", "b"]}}, "interval: expected 't' for several runs of a system, as no other interval takes their variance into account, found 'bca'"),
    ],
)  # fmt: skip
def test_options_that_would_do_nothing_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(exactk.InputError) as caught:
        compared(**options)
    assert str(caught.value) == message
    hint = message.rpartition("; ")[2]
    if message != hint:  # what it says works
        name, _, value = hint.partition("=")
        assert len(compared(**{**options, name: value.strip("'")}).differences) == 1


@pytest.mark.parametrize(
    ("confidence", "options", "message"),
    [
        (0.999, {"resamples": 99}, "resamples: expected at least 1999 at a confidence of 0.999, found 99; resamples=1999"),
        (0.999, {"resamples": 1998}, "resamples: expected at least 1999 at a confidence of 0.999, found 1998; resamples=1999"),
        (0.99, {"resamples": 198}, "resamples: expected at least 199 at a confidence of 0.99, found 198; resamples=199"),
        (0.997, {"resamples": 665}, "resamples: expected at least 666 at a confidence of 0.997, found 665; resamples=999"),
        (0.9999, {}, "resamples: expected at least 19999 at a confidence of 0.9999, found 9999; resamples=19999"),
        (0.99999, {"resamples": 10**6, "permutations": 9_999}, "permutations: expected at least 99999 at a confidence of 0.99999, found 9999; permutations=99999"),
        (0.999, {"permutations": 998}, "permutations: expected at least 999 at a confidence of 0.999, found 998; permutations=999"),
        (0.995, {"permutations": 99}, "permutations: expected at least 199 at a confidence of 0.995, found 99; permutations=199"),
        (1 - 1e-9, {"permutations": 10**7}, "confidence: expected a confidence that up to 10000000 permutations can reach, found 0.999999999; confidence=0.999"),
        (1 - 1e-6, {"permutations": 10**6, "resamples": 10**6}, "confidence: expected a confidence that up to 1000000 resamples can reach, found 0.999999; confidence=0.999"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_draws_that_a_confidence_does_not_reach_are_refused(
    confidence: float, options: dict[str, Any], message: str, interval: str
) -> None:
    """No random p-value is below 1 / (m + 1), and bounds of fewer than 2 / level - 1 resamples are their extremes."""
    how: dict[str, Any] = {"test": "permutation", "interval": interval, "confidence": confidence, **options}
    calls: list[Callable[[], object]] = [lambda: compared(**how), lambda: exactk.compare_reports(reports(), **how)]
    for call in calls:
        with pytest.raises(exactk.InputError) as caught:
            call()
        assert str(caught.value) == message
    name, _, value = message.rpartition("; ")[2].partition("=")  # what it says works
    assert len(compared(**{**how, name: float(value) if name == "confidence" else int(value)}).differences) == 1


def test_options_at_the_ends_of_their_ranges_and_as_they_are_by_default_are_taken() -> None:
    least: list[dict[str, Any]] = [{"permutations": 99}, {"permutations": np.uint16(99)}, {"seed": 2**64 - 1}]
    for options in least:
        assert compared(test="permutation", **options).differences[0].exact
    assert compared(permutations=9_999, resamples=9_999, seed=0) == compared()
    assert compared(confidence=1 - 1e-12).differences[0].verdict == "undecided"  # draws that are not used reach any


# What is needed.


@pytest.mark.parametrize("options", [{"test": "permutation"}, {"interval": "bca"}, {"interval": "percentile"}])
def test_reports_without_the_users_values_say_what_keeps_them(options: dict[str, Any]) -> None:
    (name, choice), *_ = options.items()
    with pytest.raises(exactk.InputError, match=r"the users' values, found none in 'a'; per_user=True keeps them$"):
        _ = exactk.compare_reports(reports(), **options).differences
    merged = exactk.merge([compared(**options).state])
    with pytest.raises(exactk.InputError) as caught:
        _ = merged.differences
    assert str(caught.value) == (
        f"{name}: expected 't' without the users' values, found '{choice}', which needs them; per_user=True keeps them"
    )
    assert "similar" not in repr(merged)
    assert exactk.compare_reports(reports(per_user=True), **options).differences == compared(**options).differences


def test_a_merged_state_of_clusters_lacks_them() -> None:
    """States have neither users nor clusters; comparisons have both."""
    one = compared(test="permutation", clusters=HOMES)
    assert exactk.merge([one]).differences == one.differences
    whole = exactk.Comparison(one.reports, one.state.options, one.state.paired)
    with pytest.raises(exactk.InputError, match="comparison: expected the clusters of its users, found none"):
        _ = whole.differences


@pytest.mark.parametrize(
    ("users", "clusters", "found"),
    [(2, None, "users for {}, found 2 users"), (19, None, "users for {}, found 19 users"), (30, HOMES, "clusters for {}, found 10 clusters")],
)  # fmt: skip
@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_a_bootstrap_needs_20_units(users: int, clusters: Any, found: str, interval: Any) -> None:
    comparison = compared(users, interval=interval, clusters=clusters)
    with pytest.raises(exactk.InputError) as caught:
        _ = comparison.differences
    expected = found.format(repr(interval))
    assert str(caught.value) == f"interval: expected at least 20 {expected}; interval='t'"
    (row,) = compared(20, interval=interval).differences
    assert row.low < row.difference < row.high


def test_a_group_of_few_users_has_no_bootstrap_interval_and_says_so() -> None:
    differences = compared(interval="bca", groups=["few"] * 10 + ["many"] * 20).differences
    few, many = differences.by_group
    assert math.isnan(few.low)
    assert few.p < 1
    assert many.low < many.difference < many.high
    assert "no bootstrap interval: fewer than 20 users or clusters (P@1 of b against a, group few)" in repr(
        differences.by_group
    )
    assert "no bootstrap interval" not in repr(differences)


# Few users, and values of any size.


@pytest.mark.parametrize("users", [3, 20, 25, 30])
def test_differences_that_are_all_equal(users: int) -> None:
    systems = {"a": [[2]] * users, "b": [[1]] * users}
    (row,) = exactk.compare(TRUTH[:users], systems, "P@1", test="permutation").differences
    assert row.p == pytest.approx(2.0 ** (1 - users), rel=1e-12)
    assert (row.exact, row.statistic) == (True, 1)
    if users >= 20:
        (row,) = exactk.compare(TRUTH[:users], systems, "P@1", interval="bca").differences
        assert_allclose([row.low, row.high], [2 * 0.025 ** (1 / users) - 1, 1], rtol=1e-12)


@pytest.mark.parametrize(("users", "is_significant"), [(3, False), (30, True)])
def test_simultaneous_intervals_of_equal_differences_are_those_of_flips(users: int, is_significant: bool) -> None:
    """Their t interval has no width, and would exclude 0 whatever p is."""
    systems: dict[str, Any] = {"a": [[2]] * users, "b": [[1]] * users, "c": [[1]] * users}
    rows = exactk.compare(TRUTH[:users], systems, "P@1", test="permutation", adjust="max_t").differences
    for row in rows[:2]:
        assert row.low < 1 < row.high
        assert (row.low > 0) == is_significant == (row.verdict == "better")
        assert math.isnan(row.relative_low)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_intervals_of_geometric_means_near_1_are_those_of_means(interval: Any) -> None:
    """Their logarithms are small, and none of them is exactly a multiple."""
    grades = 1 + 1e-7 * np.random.default_rng(5).integers(-9, 10, (30, 2))
    truth = exactk.Truth(2 * np.arange(31), np.tile([0, 1], 30), grades.ravel())
    systems = {name: np.full((30, 1), item) for item, name in enumerate(["a", "b"])}
    metrics = ["dcg@1", "dcg@1(average=geometric)"]
    of_means, of_logarithms = exactk.compare(truth, systems, metrics, interval=interval).differences
    expected = [of_means.low, of_means.high, of_means.relative_low, of_means.relative_high]
    found = [of_logarithms.low, of_logarithms.high, of_logarithms.relative_low, of_logarithms.relative_high]
    assert_allclose(found, expected, rtol=0.02)  # samples within 1e-9 of the value count as equal to it


@pytest.mark.parametrize(("users", "is_significant"), [(3, False), (30, True)])
@pytest.mark.parametrize("noise", [0.0, 1e-7])
def test_simultaneous_intervals_of_geometric_means_that_all_differ_by_one_factor(
    users: int, is_significant: bool, noise: float
) -> None:
    """Their logarithms' difference has hardly any variance, or none, and that of sign flips takes its place."""
    base = 2.0 ** np.random.default_rng(3).integers(-2, 3, users)
    grades = np.column_stack([2 * base * (1 + noise * np.arange(users)), base])
    truth = exactk.Truth(2 * np.arange(users + 1), np.tile([0, 1], users), grades.ravel())
    systems = {name: np.full((users, 1), item) for item, name in enumerate(["a", "b"])}
    options: dict[str, Any] = {"test": "permutation", "adjust": "max_t"}
    rows = [
        exactk.compare(truth, systems, "dcg@1(average=geometric)", baseline=name, **options).differences[0]
        for name in ("b", "a")
    ]
    row, mirrored = rows
    assert (row.low > 0) == is_significant == (row.verdict == "better")
    assert_allclose([row.low, row.high], [-mirrored.high, -mirrored.low], rtol=1e-12)
    # The extremes in the ellipse whose size in the direction of the difference is that of sign flips.
    logs = np.log(grades.T)
    variance, size = np.var(logs[1], ddof=1) / users, math.log(2) / math.sqrt(users)
    quantile = (math.log1p(row.relative_high) - math.log(2)) / size
    angles = np.linspace(0, 2 * math.pi, 100_001)
    of_both, of_gap = np.sqrt(variance + size**2 / 4) * np.cos(angles), size * np.sin(angles)
    a, b = (
        mean + quantile * (of_both + turn * of_gap) for mean, turn in zip(logs.mean(axis=1), (0.5, -0.5), strict=True)
    )
    differences = np.exp(a) - np.exp(b)
    assert_allclose([row.low, row.high], [differences.min(), differences.max()], rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_a_value_that_is_undefined_leaves_its_family() -> None:
    truth: Any = [[]] * 2 + [[1]] * 28
    convention: Any = {"undefined": "nan", "empty_truth": "compute"}
    how: dict[str, Any] = {"test": "permutation", "adjust": "max_t", "family": "all", "convention": convention}
    both = exactk.compare(truth, {"a": A, "b": B}, ["recall@1", "P@1"], **how).differences
    (alone,) = exactk.compare(truth, {"a": A, "b": B}, "P@1", **how).differences
    assert [row.reason for row in both] == ["undefined for 2 users", ""]
    assert both[1] == alone


def test_f_of_means_that_are_0_has_p_1_or_less() -> None:
    nothing: Any = [[2]] * 30
    systems = {"zero": nothing, "none": nothing, "some": B}
    options: dict[str, Any] = {"test": "permutation", "adjust": "max_t", "interval": "percentile"}
    differences = exactk.compare(TRUTH, systems, "f1@1(average=of_means)", **options).differences
    assert [row.p for row in differences] == [1.0, pytest.approx(2.0**-17), pytest.approx(2.0**-17)]
    assert all(math.isnan(row.relative_low) for row in differences)  # of a share of 0
    assert [row.low > 0 for row in differences] == [False, True, True]


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_denominators_that_some_patterns_lose_count_as_extreme() -> None:
    """If all users with a denominator are exchanged to one side, that value is 0/0: as extreme as any."""
    convention: Any = {"precision_over": "list", "empty_list": "compute"}
    systems: dict[str, Any] = {"a": [[1], []], "b": [[], [2]]}
    (row,) = exactk.compare([[1], [1]], systems, "precision@1(average=micro)", convention=convention, test="permutation").differences  # fmt: skip
    assert (row.difference, row.p, row.exact) == (-1, 1, True)


@pytest.mark.parametrize("power", [-1000, -40, 200])
def test_grades_of_any_size(power: int) -> None:
    of_1 = graded(40)
    truth = [{item: grade * 2.0**power for item, grade in row.items()} for row in of_1["truth"]]
    drawn: dict[str, Any] = {"permutations": 999, "interval": "bca", "resamples": 999}
    how: dict[str, Any] = {"test": "permutation", "adjust": "max_t", **drawn}
    small = exactk.compare(of_1["truth"], of_1["systems"], "dcg@5", **how).differences
    for row, of_small in zip(exactk.compare(truth, of_1["systems"], "dcg@5", **how).differences, small, strict=True):
        assert (row.p, row.p_adjusted, row.relative_low) == (of_small.p, of_small.p_adjusted, of_small.relative_low)
        assert row.low == of_small.low * 2.0**power


DRAWN: dict[str, Any] = {"permutations": 199, "resamples": 199, "interval": "bca"}


def drawn_values(users: int = 40) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {name: rng.integers(1, 6, users).astype(np.float64) for name in "abc"}


def test_the_smallest_doubles_are_numbers_like_others() -> None:
    """Their sums are whole multiples of the smallest double; only differences are rounded to it."""
    values = drawn_values()
    for options in ({"adjust": "max_t", "permutations": 199}, DRAWN, {"alternative": "less"}):
        rows = of_values(values, **options).differences
        smallest = of_values({name: one * 5e-324 for name, one in values.items()}, **options).differences
        for row, of_smallest in zip(rows, smallest, strict=True):
            for name in ("p", "p_adjusted", "relative", "relative_low", "relative_high", "verdict", "exact"):
                assert repr(getattr(of_smallest, name)) == repr(getattr(row, name))
            assert abs(of_smallest.low / 5e-324 - row.low) <= 1


def test_tiny_values_beside_others_are_0() -> None:
    """Of all of a group, they are numbers like others."""
    values = drawn_values()
    for tiny in (5e-324, 1e-305, 2.0**-400):
        for options in ({"adjust": "max_t", "permutations": 199}, DRAWN, DRAWN | {"interval": "percentile"}):
            mixed = of_values(values | {"a": values["a"] * tiny}, **options).differences
            zero = of_values(values | {"a": values["a"] * 0}, **options).differences
            for row, of_zero in zip(mixed, zero, strict=True):
                assert (row.p, row.p_adjusted, row.verdict) == (of_zero.p, of_zero.p_adjusted, of_zero.verdict)
                assert [row.low, row.high] == pytest.approx([of_zero.low, of_zero.high], rel=1e-9)


@pytest.mark.parametrize("tiny", [2.0**-1000, 2.0**-700, 2.0**-30])
def test_tiny_values_of_a_group_or_with_tiny_weights(tiny: float) -> None:
    values, is_first = drawn_values(60), np.arange(60) < 30
    groups = np.where(is_first, "x", "y").tolist()
    of_group = {name: np.where(is_first, one * tiny, one) for name, one in values.items()}
    weights = np.random.default_rng(6).integers(1, 4, 60) * 1.0
    for options in ({"adjust": "max_t", "permutations": 199}, DRAWN):
        rows = of_values(values, groups=groups, **options).differences.by_group
        others = of_values(of_group, groups=groups, **options).differences.by_group
        assert [(row.p, row.p_adjusted, row.verdict) for row in rows] == [
            (row.p, row.p_adjusted, row.verdict) for row in others
        ]
        assert [row.low * (tiny if row.group == "x" else 1) for row in rows] == [row.low for row in others]
        weighted = of_values(values, weights=weights, **options).differences
        scaled = {name: one * max(tiny, 2.0**-700) for name, one in values.items()}
        small = of_values(scaled, weights=weights * 2.0**-256, **options).differences
        assert [(row.p, row.p_adjusted, row.relative_low) for row in weighted] == [
            (row.p, row.p_adjusted, row.relative_low) for row in small
        ]


@pytest.mark.parametrize("options", [{}, {"test": "permutation", "adjust": "max_t"}, {"interval": "bca"}])
def test_relative_differences_beyond_doubles_are_infinite(options: dict[str, Any]) -> None:
    values = drawn_values()
    how = {"test": "t", **options}
    row = of_values({"b": values["b"] * 1e-305, "a": values["a"] * 1e76}, **how).differences[0]
    assert row.low < row.difference < row.high < math.inf
    assert row.relative == math.inf
    assert math.isnan(row.relative_low)
    runs = {"b": values["b"] * 1e-305, "1": values["a"] * 1e76, "2": values["c"] * 1e76}
    if not options:
        (row,) = of_values(runs, test="t", runs={"a": ["1", "2"]}).differences
        assert row.relative == math.inf
        assert math.isnan(row.relative_low)


def test_one_user_of_nearly_all_weight_decides_nothing() -> None:
    for weights in ([2.0**100] + [1.0] * 29, [1.0] + [2.0**-100] * 29):
        (row,) = compared(test="permutation", weights=weights).differences
        assert (row.p, row.losses) == (1, 4)


def test_margins_are_those_of_t_whatever_the_test() -> None:
    resampled: dict[str, Any] = {"test": "permutation", "interval": "bca"}
    (one,), (other,) = compared(margin=0.1).differences, compared(margin=0.1, **resampled).differences
    assert (one.p_not_worse, one.p_equivalent) == (other.p_not_worse, other.p_equivalent)
    assert compared(margin=0.1).check(no_worse="P@1") == compared(margin=0.1, **resampled).check(no_worse="P@1")
    nothing: Any = [[2]] * 30
    with pytest.raises(exactk.InputError, match="margin: expected an absolute margin of P@1"):
        _ = exactk.compare(TRUTH, {"a": nothing, "b": B}, "P@1", margin="1%", test="permutation").differences


# Notes.


def test_few_users_are_noted() -> None:
    assert "few users: fewer than 20 differ, so intervals are rough" in repr(compared(test="permutation").differences)
    text = "few users: fewer than 20 differ, so intervals are rough, and no p-value can be below 0.25"
    assert text in repr(compared(3, test="permutation").differences)
    clusters = compared(test="permutation", clusters=[user // 10 for user in range(30)]).differences
    assert "few clusters: 3, so intervals are rough, and no p-value can be below 0.25" in repr(clusters)


# A long call.


def test_progress_is_of_flips_and_of_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_REPORT_INTERVAL", 0)
    kept = reports_of(graded(60))
    for how, total in (
        ({"test": "permutation", "permutations": 3000}, 3000),
        ({"interval": "percentile", "resamples": 2000}, 2000),
        ({"interval": "bca"}, 9999),
    ):
        calls: list[tuple[int, int | None]] = []
        comparison = exactk.compare_reports(kept, progress=lambda *numbers, calls=calls: calls.append(numbers), **how)
        assert not calls
        _ = comparison.differences
        assert calls[-1] == (total, total)
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)
        assert {of_all for _, of_all in calls} == {total}
        _ = comparison.differences
        assert calls.count((total, total)) == 1


def test_progress_of_many_pairs_is_of_all_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of many pairs do not fit into the memory of one step."""
    monkeypatch.setattr("exactk._inference.bootstrap._SUMS_AT_A_TIME", 4 * 999 * 2)
    monkeypatch.setattr("exactk._inference.sign_flips._SUMS_AT_A_TIME", 4096)
    kept = reports_of(graded(60), ["ndcg@5", "recall@5"])
    calls: list[tuple[int, int | None]] = []
    how: dict[str, Any] = {"test": "permutation", "permutations": 3000, "interval": "bca", "resamples": 999}
    found = exactk.compare_reports(kept, progress=lambda *numbers: calls.append(numbers), **how).differences
    assert [one for one in calls if one[0] == one[1]] == [(3000, 3000), (3 * 999, 3 * 999)]
    monkeypatch.undo()
    assert found == exactk.compare_reports(kept, **how).differences


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("how", [{"test": "permutation"}, {"interval": "bca"}])
def test_an_interrupt_leaves_the_comparison_as_it_was(error: type[BaseException], how: Any) -> None:
    kept = reports_of(graded(60))
    errors: list[type[BaseException]] = [error]

    def interrupt(_done: int, _total: int | None) -> None:
        if errors:
            raise errors.pop()

    comparison = exactk.compare_reports(kept, progress=interrupt, **how)
    with pytest.raises(error):
        _ = comparison.differences
    assert comparison.differences == exactk.compare_reports(kept, **how).differences


def test_progress_that_is_none_is_refused() -> None:
    with pytest.raises(exactk.InputTypeError, match="progress: expected True, False, or a callable"):
        _ = exactk.compare_reports(reports(per_user=True), test="permutation", progress=1).differences  # type: ignore[arg-type]


# Documents from anywhere.


def whole(**options: Any) -> exactk.Comparison:
    users = [f"u{number}" for number in range(30)]
    if options.pop("clustered", True):
        options["clusters"] = dict(zip(users, HOMES, strict=True))
    truth = dict(zip(users, TRUTH, strict=True))
    systems = {name: dict(zip(users, lists, strict=True)) for name, lists in (("a", A), ("b", B))}
    return exactk.compare(truth, systems, "P@1", **options)


WAYS: dict[str, Callable[[exactk.Comparison], exactk.Comparison]] = {
    "JSON": lambda one: exactk.Comparison.from_json(one.to_json()),
    "plain data": lambda one: exactk.Comparison.from_dict(one.to_dict()),
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301 - our own
    "merge": lambda one: exactk.merge([one]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("clustered", [True, False])
def test_a_comparison_that_is_read_again_has_the_same_differences(way: str, clustered: bool) -> None:
    interval = "t" if clustered else "bca"
    how: dict[str, Any] = {"test": "permutation", "adjust": "max_t", "interval": interval, "seed": 2**63 + 5}
    one = whole(clustered=clustered, **how)
    again = WAYS[way](one)
    assert again == one
    assert again.differences == one.differences
    assert (one._cluster_hashes is not None) == clustered
    assert again != whole(clustered=clustered, **{**how, "seed": 1})


def test_clusters_of_others_make_another_comparison() -> None:
    one = whole(test="permutation")
    document = one.to_dict()
    document["clusters"] = document["clusters"][::-1]
    assert exactk.Comparison.from_dict(document) != one


def test_every_hostile_value_in_place_of_clusters_is_refused() -> None:
    document = json.loads(whole(test="permutation").to_json())
    path = ("comparison", "clusters")
    assert len(document["comparison"]["clusters"]) == 30
    for value in HOSTILE:
        if value is not None:
            with pytest.raises(exactk.InputError):
                exactk.Comparison.from_json(json.dumps(_changed(document, path, value)))
        if not (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64):
            with pytest.raises(exactk.InputError):
                exactk.Comparison.from_json(json.dumps(_changed(document, (*path, 3), value)))
    with pytest.raises(exactk.InputError):
        exactk.Comparison.from_json(json.dumps(_changed(document, path)))
    with pytest.raises(exactk.InputError):
        exactk.Comparison.from_json(json.dumps(_changed(document, path, document["comparison"]["clusters"][1:])))
    plain = json.loads(whole(clustered=False, test="permutation").to_json())
    with pytest.raises(exactk.InputError):
        exactk.Comparison.from_json(json.dumps(_changed(plain, path, list(range(30)))))


@pytest.mark.parametrize("name", ["test", "interval", "adjust", "permutations", "resamples", "seed"])
def test_every_hostile_option_is_refused(name: str) -> None:
    document = json.loads(whole(clustered=False, test="permutation", interval="bca").to_json())
    is_number = name in {"permutations", "resamples", "seed"}
    for value in HOSTILE:
        if is_number and type(value) is int and (value in {0, 1, 3, 2**31, 2**63} if name == "seed" else False):
            continue
        with pytest.raises(exactk.ExactkError):
            exactk.Comparison.from_json(json.dumps(_changed(document, ("comparison", "options", name), value)))


def test_clusters_that_contradict_the_sums_are_refused() -> None:
    """As many clusters as the sums are of: else a permutation test would be of other units than the interval beside it."""
    document = json.loads(whole(test="permutation").to_json())
    with pytest.raises(exactk.InputError, match="found invalid data"):
        exactk.Comparison.from_json(json.dumps(_changed(document, ("comparison", "clusters"), list(range(30)))))


@pytest.mark.parametrize("keys", [True, False])
def test_a_cluster_in_two_parts_is_refused(keys: bool) -> None:
    def part(users: list[int], homes: str, test: Any = "permutation") -> exactk.Comparison:
        names = [f"u{user}" for user in users]
        lists = {"a": [[1]] * len(users), "b": [[1 + user % 2] for user in users]}
        if keys:
            by_user = {name: dict(zip(names, rows, strict=True)) for name, rows in lists.items()}
            truth, clusters = {name: [1] for name in names}, dict(zip(names, homes, strict=True))
            return exactk.compare(truth, by_user, "P@1", clusters=clusters, test=test)
        return exactk.compare([[1]] * len(users), lists, "P@1", clusters=list(homes), test=test)

    one, other = part([0, 1, 2], "xxy"), part([3, 4, 5], "yzw")
    with pytest.raises(exactk.StateMismatchError, match=r"one part, found 1 of 4 clusters in several$"):
        exactk.merge([one, other])
    assert exactk.merge([one, part([3, 4, 5], "vzw")]).differences["b", "a", "P@1"].units == 5
    of_sums = exactk.merge([part([0, 1, 2], "xxy", "t"), part([3, 4, 5], "yzw", "t")])  # which cannot tell
    assert of_sums.differences["b", "a", "P@1"].units == 5


@pytest.mark.parametrize("interval", ["percentile", "bca"])
@pytest.mark.parametrize("seed", range(5))
def test_bootstrap_intervals_of_nearly_a_constant_difference_contain_it(interval: Any, seed: int) -> None:
    """Doubles that are no multiples of a power of 2, unlike 0.25: the sums of samples are rounded."""
    one, other = (np.random.default_rng(seed).random(2) * 10.0 ** (-3 * seed)).tolist()
    truth = {f"u{user}": {1: one * (1 + 1e-11 * (user < 2)), 2: other, 9: 9.0} for user in range(21)}
    systems = {name: {user: [item] for user in truth} for name, item in (("a", 1), ("b", 2))}
    differences = exactk.compare(truth, systems, "dcg@1", interval=interval, resamples=199).differences
    (row,) = differences
    assert row.low <= row.difference <= row.high
    assert row.relative_low <= row.relative <= row.relative_high
    assert 0 < row.high - row.low <= 1e-11 * one


def test_micro_averages_with_equal_denominators_are_exact_where_means_are() -> None:
    systems = {"a": [[2, 3]] * 25, "b": [[1, 3]] * 25}
    rows = exactk.compare([[1]] * 25, systems, ["P@2(average=micro)", "P@2"], test="permutation").differences
    assert [(row.p, row.exact) for row in rows] == [(2.0**-24, True)] * 2
