"""Comparisons of what can hardly be compared: each is an error of the right kind, or has a defined result."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactk
from strategies import SHARE
from test_hostile_states import HOSTILE, _changed, _paths

pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")

TRUTH: Any = [[1]] * 4
A: Any = [[1]] * 4
B: Any = [[2], [1], [2], [1]]
NOTHING: Any = [[2]] * 4


def compared(**options: Any) -> exactk.Comparison:
    return exactk.compare(TRUTH, {"a": A, "b": B}, "P@1", **options)


def report(lists: Any, truth: Any = TRUTH, **options: Any) -> exactk.Report:
    return exactk.evaluate(truth, lists, "P@1", **{"per_user": True, **options})


def keyed(lists: Any, keys: list[Any]) -> exactk.Report:
    truth, predictions = (dict(zip(keys, rows, strict=True)) for rows in (TRUTH, lists))
    return exactk.evaluate(truth, predictions, "P@1", per_user=True)


# Reports.


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: report(B, per_user=False), "the users' values, found none in 'b'; per_user=True keeps them"),
        (lambda: report(B, convention={"empty_truth": "compute"}), "the same metrics and convention in all, found empty_truth 'skip' and 'compute' in system 'b'"),
        (lambda: keyed(B, ["1", "2", "3", "4"]), "user keys of one type, found int in 'a' and str in 'b'"),
        (lambda: report(B), "user keys in all reports or in none, found keys in 'a' alone"),
        (lambda: report(B * 2, truth=TRUTH * 2), "as many users in all reports, as they have no keys, found 4 in 'a', 8 in 'b'"),
        (lambda: report(B, weights=[1, 2, 1, 1]), "the same weights of each user in all reports, found others in 'b' for 1 user"),
        (lambda: report(B, weights=[1, 1, 1, 1]), "the same weights of each user in all reports, found others in 'b' for 2 users"),
        (lambda: report(B), "weighted True and False in system 'b'"),
    ],
)  # fmt: skip
def test_reports_that_do_not_match(other: Callable[[], exactk.Report], message: str) -> None:
    if "user keys" in message:
        first = keyed(A, [1, 2, 3, 4])
    else:
        first = report(A, weights=[1, 2, 1, 2] if "weight" in message else None)
    with pytest.raises(exactk.ExactkError, match=f"{re.escape(message)}$"):
        _ = exactk.compare_reports({"a": first, "b": other()}).differences


# Few users, and values of any size.

UNDEFINED = ("low", "high", "statistic", "p", "p_adjusted", "p_not_worse", "p_equivalent", "detectable")


def assert_undefined(comparison: exactk.Comparison, reason: str) -> None:
    (row,) = comparison.differences
    assert (row.reason, row.verdict, row.exact) == (reason, "undefined", False)
    of_one_unit = {"low", "high", "p_not_worse", "p_equivalent"} if row.units == 1 else {*()}  # by the range alone
    assert all(math.isnan(getattr(row, name)) != (name in of_one_unit) for name in UNDEFINED)
    gate = comparison.check(no_worse={row.metric: 0.01}, better=row.metric)
    assert gate.status == "undecided"
    assert all(failure.endswith(reason) for failure in gate.failures)
    assert reason in repr(comparison.differences)
    with pytest.raises(exactk.InputError):
        comparison.users_for(row.metric, 0.1)


NAN = {"undefined": "nan", "empty_truth": "compute"}


HOWS: list[dict[str, Any]] = [{}, {"test": "permutation", "adjust": "max_t"}, {"interval": "bca"}]


@pytest.mark.parametrize(
    ("truth", "lists", "options", "reason"),
    [
        ([], ([], []), {}, "no user has a value in both systems"),
        ([[]] * 3, (A[:3], B[:3]), {}, "no user has a value in both systems"),
        ({0: [1], 1: [1]}, ({0: [1]}, {1: [1]}), {"convention": {"users": "both"}}, "no user has a value in both systems"),
        ([[1]], (A[:1], B[:1]), {}, "fewer than two users or clusters"),
        (TRUTH, (A, B), {"clusters": [7] * 4}, "fewer than two users or clusters"),
        (TRUTH, (A, B), {"weights": [0, 0, 3, 0]}, "fewer than two users or clusters"),
        (TRUTH, (A, B), {"weights": [0] * 4}, "no user has a value in both systems and a weight above 0"),
        ([[]] * 3, (A[:3], B[:3]), {"convention": NAN}, "undefined for 3 users"),
    ],
)  # fmt: skip
def test_what_has_no_p_value_says_why(truth: Any, lists: Any, options: Any, reason: str) -> None:
    systems = dict(zip("ab", lists, strict=True))
    for how in HOWS:
        assert_undefined(exactk.compare(truth, systems, "recall@1", margin=0.1, **how, **options), reason)


@pytest.mark.parametrize(
    ("truth", "lists", "metric", "convention", "reason"),
    [
        ([[]] * 3, A[:3], "recall@1(average=micro)", {"empty_truth": "compute"}, ("no user has a value in both systems and a denominator above 0", 0)),
        ([[1]] * 3, [[]] * 3, "precision@1(average=micro)", {"precision_over": "list", "undefined": "zero"}, ("the denominators of a system are all 0", 3)),
    ],
)  # fmt: skip
def test_denominators_that_are_all_0(truth: Any, lists: Any, metric: str, convention: Any, reason: Any) -> None:
    (row,) = exactk.compare(truth, {"a": lists, "b": [[1]] * 3}, metric, convention=convention).differences
    assert (row.reason, row.users) == reason


@pytest.mark.parametrize(("users", "p"), [(2, 0.5), (3, 0.25), (20, 2.0**-19)])
def test_differences_that_are_all_equal(users: int, p: float) -> None:
    systems = {"a": [[2]] * users, "b": [[1]] * users}
    (row,) = exactk.compare([[1]] * users, systems, "P@1", margin=0.5).differences
    assert (row.difference, row.high, row.statistic, row.effect) == (1, 1, math.inf, math.inf)
    assert row.low == pytest.approx(2 * 0.025 ** (1 / users) - 1)
    assert (row.p, row.p_not_worse, row.p_equivalent, row.detectable) == (p, 0.25**users, 1.0, 0.0)
    assert row.verdict == ("better" if p < 0.05 else "not worse" if users > 2 else "undecided")


def test_grades_at_the_end_of_their_range() -> None:
    """Beyond it, they are refused; no value is infinite."""
    rng = np.random.default_rng(0)
    lists = {name: [rng.permutation(4).tolist() for _ in range(30)] for name in "ab"}
    for power in (-256, 0, 256):
        truth = [{0: 2.0**power, 1: 3 * 2.0 ** (power - 2)}] * 30
        (row,) = exactk.compare(truth, lists, "dcg@3", margin="5%").differences
        small = exactk.compare([{0: 1.0, 1: 0.75}] * 30, lists, "dcg@3", margin="5%").differences[0]
        assert row.p == small.p
        assert row.p_equivalent == small.p_equivalent
        assert row.high == small.high * 2.0**power
    with pytest.raises(exactk.InputError, match=r"grades, at most 2\^256"):
        exactk.compare([{0: 1e300}], {"a": [[0]], "b": [[1]]}, "dcg@1")


@pytest.mark.parametrize("weights", [[1, 2.0**256, 1, 1], [2.0**-256, 1, 2.0**-256, 2.0**-256], [1e-9, 1, 1e-9, 1e-9]])
@pytest.mark.parametrize("average", ["macro", "geometric", "micro"])
def test_the_weight_of_one_user_decides_nothing(weights: list[float], average: str) -> None:
    metric = f"P@1(average={average})"
    comparison = exactk.compare(TRUTH, {"a": A, "b": B}, metric, weights=weights, margin=0.1)
    (row,) = comparison.differences
    assert row.p > 0.99
    assert row.p_equivalent > 0.4
    assert comparison.check(no_worse=metric).status == "undecided"


def test_two_users_of_a_geometric_mean_have_an_interval_without_end() -> None:
    truth, lists = [{1: 1e70}, {1: 1.0}], {"a": [[9], [1]], "b": [[1], [9]]}
    comparison = exactk.compare(truth, lists, "dcg@1(average=geometric)", confidence=0.99)
    (row,) = comparison.differences
    assert (row.relative_low, row.relative_high, row.detectable) == (-1, math.inf, math.inf)
    assert row.high == math.inf
    assert row.low < -1e9 * row.baseline_value  # which may be much larger than it is in the sample
    assert "inf" in repr(comparison.differences)


# Margins.


def test_a_share_of_0_is_no_margin() -> None:
    def against_nothing(**options: Any) -> exactk.Comparison:
        return exactk.compare(TRUTH, {"a": NOTHING, "b": B}, "P@1", baseline="a", **options)

    message = "{}: expected an absolute margin of P@1, found a share of the value of 'a', which is 0"
    with pytest.raises(exactk.InputError, match=message.format("margin")):
        _ = against_nothing(margin="1%").differences
    with pytest.raises(exactk.InputError, match=message.format("no_worse")):
        against_nothing().check(no_worse={"P@1": "1%"})
    with pytest.raises(exactk.InputError, match=message.format("better")):
        against_nothing().check(better={"P@1": "1%"})
    assert against_nothing().check(better="P@1").status == "undecided"
    assert math.isnan(against_nothing().differences[0].relative)
    groups = exactk.compare(
        TRUTH, {"a": [[2], [2], [1], [1]], "b": B}, "P@1", baseline="a", margin="1%", groups=list("xxyy")
    ).differences.by_group
    assert [math.isnan(row.p_equivalent) for row in groups] == [True, False]


def test_a_share_of_a_negative_value_is_no_margin() -> None:
    """1 % of -10 is no room to be worse: -9.95 would be worse than -10 by it."""
    old, new = np.array([-10.0, -10.1, -9.9]), np.array([-9.95, -10.06, -9.84])
    features = np.stack([np.ones(3), 1 - old, 1 - new]).T.reshape(-1, 1)  # of 3 items per user
    lists = {"old": [[0, 1], [3, 4], [6, 7]], "new": [[0, 2], [3, 5], [6, 8]]}
    metric = "ild@2(distance=dot)"
    items = exactk.Items(9, features=features)
    comparison = exactk.compare(None, lists, metric, items=items, baseline="old")
    assert comparison.differences[0].difference == pytest.approx(0.05)
    numbers = comparison.differences[0].relative, comparison.differences[0].relative_low
    assert all(math.isnan(number) for number in numbers)
    message = "expected an absolute margin of .*, found a share of the value of 'old', which is -10"
    for claim in ("no_worse", "equivalent", "better"):
        with pytest.raises(exactk.InputError, match=message):
            comparison.check(groups=None, **{claim: {metric: "1%"}})
    with pytest.raises(exactk.InputError, match="'1%' of the value of 'old', which is -10"):
        comparison.users_for(metric, "1%")
    assert comparison.check(no_worse={metric: 0.1})


def test_no_margin_of_a_geometric_mean_is_certain_not_to_be_missed() -> None:
    """The baseline's value is estimated: it may be larger than any number."""
    truth, lists = [[1]] * 3, {"a": [[1], [2, 1], [1]], "b": [[1], [1], [2, 1]]}
    metric = "dcg@2(average=geometric)"
    margins: list[float | str] = [0.7, 0.9, 1e308, "99%"]
    for margin in margins:
        (row,) = exactk.compare(truth, lists, metric, baseline="a", margin=margin).differences
        assert 1e-300 < row.p_not_worse < 0.1
        assert row.p_equivalent >= row.p_not_worse


def test_numbers_beyond_all_doubles_are_refused_or_hold() -> None:
    comparison = compared()
    huge = 10**400
    for options in ({"confidence": huge}, {"margin": huge}, {"margin": -huge}):
        with pytest.raises(exactk.InputError, match=f"{next(iter(options))}: expected"):
            compared(**options)
    with pytest.raises(exactk.InputError, match="power: expected"):
        comparison.users_for("P@1", 0.1, power=huge)
    with pytest.raises(exactk.InputError, match="difference: expected a difference that some number of users finds"):
        comparison.users_for("P@1", 1e-300)
    gains = exactk.compare(TRUTH, {"a": A, "b": B}, "dcg@1")
    assert gains.users_for("dcg@1", 1e300) == 2
    assert gains.check(no_worse={"dcg@1": 1e308}).status == "holds"
    assert gains.check(better={"dcg@1": 1e308}).status == "fails"
    assert comparison.check(equivalent={"P@1": 1e-308}).status == "undecided"


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")  # of the empty truth
def test_a_report_without_users_lacks_those_of_the_other() -> None:
    how: dict[str, Any] = {"per_user": True, "groups": {"x": "g"}, "weights": {"x": 1.0}}
    some, none = (exactk.evaluate({}, lists, "P@1", **how) for lists in ({"x": [1]}, {}))
    assert (len(some.users), len(none.users)) == (1, 0)
    for reports in ({"a": some, "b": none}, {"a": none, "b": some}):
        (row,) = exactk.compare_reports(reports).differences
        assert row.reason == "no user has a value in both systems and a weight above 0"


# Groups and clusters.


def test_groups_of_one_user() -> None:
    differences = compared(groups=list("xyyy")).differences
    assert [(row.group, row.reason) for row in differences.by_group] == [
        ("x", "fewer than two users or clusters"),
        ("y", ""),
    ]
    note = "(rough: 1 group of fewer than 10 users or clusters; 1 group without variance left out)"
    assert repr(differences.by_group).endswith(f"of b against a: p = -, I² - {note}")
    assert all(map(math.isnan, differences.heterogeneity.values()))
    assert all(map(math.isnan, compared(groups=list("wxyz")).differences.heterogeneity.values()))


def test_heterogeneity_of_many_groups_is_one_sum() -> None:
    """Fractions of as many variances would have as many digits; the p-value is never 0."""
    rng = np.random.default_rng(1)
    size = 1_500 * 5
    hits = rng.random((2, size)) < np.where(np.arange(size) < size // 2, 0.9, 0.1)
    hits[1] ^= rng.random(size) < 0.3
    lists = {name: np.where(row, 1, 2)[:, None] for name, row in zip("ab", hits, strict=True)}
    truth = exactk.Truth(np.arange(size + 1), np.ones(size, np.int64))
    comparison = exactk.compare(truth, lists, "P@1", groups=np.arange(size) // 5)
    (p,) = comparison.differences.heterogeneity.values()
    assert 0 < p < 1e-20
    assert "groups without variance left out)\n" in repr(comparison.differences.by_group)


def test_p_of_heterogeneity_is_never_0() -> None:
    groups = np.repeat(["up", "down"], 1000)
    first, second = np.where(groups == "up", 2, 1), np.where(groups == "up", 1, 2)
    first[::1000] = second[::1000]
    lists = {"a": first[:, None], "b": second[:, None]}
    differences = exactk.compare(np.ones((2000, 1), np.int64), lists, "P@1", groups=groups).differences
    assert differences.heterogeneity["P@1", "b", "a"] == sys.float_info.min


@pytest.mark.parametrize(
    ("clusters", "error", "message"),
    [
        ([1, 1], exactk.InputError, "clusters: expected one entry per user (4), found 2"),
        ([1.5, 2.0, 1.0, 1.0], exactk.InputTypeError, "clusters=list(map(str, clusters)) converts them to strings in"),
        (True, exactk.InputTypeError, "clusters: expected a mapping"),
    ],
)
def test_what_are_no_clusters(clusters: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        compared(clusters=clusters)
    assert message.removesuffix(" in") in str(caught.value)
    assert str(caught.value).count("converts them") <= 1


def test_a_shard_without_users_may_have_clusters() -> None:
    clusters = {"u": 1, "v": 2, "w": 2}
    truth = {user: [1] for user in clusters}
    systems = {"a": {**truth}, "b": {"u": [2], "v": [1], "w": [2]}}
    empty = exactk.compare({}, {"a": {}, "b": {}}, "P@1", clusters=clusters)
    whole = exactk.compare(truth, systems, "P@1", clusters=clusters)
    assert exactk.merge([empty, whole]).differences == whole.differences
    assert exactk.compare({}, {"a": {}, "b": {}}, "P@1", groups={"u": "x"}).differences[0].users == 0


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_tests_that_ignore_clusters_and_weights_are_refused_with_them(test: Any) -> None:
    for options, names in (
        ({"clusters": [1, 1, 2, 2]}, "clusters"),
        ({"weights": [1, 1, 2, 2]}, "weights"),
        ({"clusters": [1, 1, 2, 2], "weights": [1, 1, 2, 2]}, "clusters and weights"),
    ):
        message = f"test: expected 't' with {names}, found '{test}'; test='t' takes them into account"
        with pytest.raises(exactk.InputError, match=re.escape(message)):
            compared(test=test, per_user=True, **options)
    weighted = {name: report(lists, weights=[1, 1, 2, 2]) for name, lists in (("a", A), ("b", B))}
    with pytest.raises(exactk.InputError, match="test: expected 't' with weights"):
        exactk.compare_reports(weighted, test=test)


# Documents from anywhere.


def state_document() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    users = "abcdef"
    systems = {name: {user: rng.permutation(6)[:4].tolist() for user in users} for name in ("x", "y")}
    comparison = exactk.compare(
        {user: [0, 1, 2] for user in users},
        systems,
        ["P@2", "recall@2(average=micro)"],
        baseline="x",
        groups=dict(zip(users, "ppqqqq", strict=True)),
        weights=dict(zip(users, [1, 2, 0.5, 1, 1, 1], strict=True)),
        margin="5%",
    )
    return comparison.state.to_dict()


def use(state: exactk.results.ComparisonState) -> None:
    """Ask for all that a state gives."""
    comparison = exactk.merge([state])
    differences = comparison.differences
    assert repr(differences) + repr(differences.by_group) + differences.to_csv() + differences.to_latex()
    assert comparison.check(no_worse={"P@2": "5%"}).to_junit()
    assert exactk.results.ComparisonState.from_dict(state.to_dict()) == state


def test_every_entry_of_a_state_is_checked() -> None:
    """Each is dropped, and changed to values of other kinds."""
    document = state_document()
    use(exactk.results.ComparisonState.from_dict(document))
    paths = [path for path in _paths(document) if path and path[0] in {"options", "paired"}]
    tried = refused = 0
    for number, path in enumerate(paths):
        with pytest.raises(exactk.ExactkError):
            exactk.results.ComparisonState.from_dict(_changed(document, path))
        step = 4 if SHARE == 1 else 16
        for value in HOSTILE[number % step :: step]:
            tried += 1
            try:
                use(exactk.results.ComparisonState.from_dict(_changed(document, path, value)))
            except exactk.ExactkError:
                refused += 1
    assert refused > tried / 2


PAIR = ("paired", "pairs", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*PAIR, "totals", 0, 0), 7),  # more users than there are
        ((*PAIR, "totals", 0, 3), 6),  # more wins than users, beside the losses
        ((*PAIR, "totals", 0, 5), 0),  # no units of users
        ((*PAIR, "totals", 0, 8, 0), "0x0"),  # no squares beside a sum
        ((*PAIR, "totals", 0, 8, 5), "-0x1"),
        ((*PAIR, "system"), "z"),
        (("paired", "weighted"), False),
        (("options", "baseline"), "z"),
        (("options", "margin"), {"P@9": 0.1}),
    ],
)
def test_sums_that_no_users_have(path: tuple[Any, ...], value: Any) -> None:
    """Counts within their bounds, and moments that some numbers have, but not these counts together."""
    is_sum = isinstance(value, str) and value.startswith(("0x", "-0x"))
    message = (
        r"found invalid data: paired\.pairs\[0\]\.totals\[0\]: expected moments of precision@2 that some numbers have$"
    )
    with pytest.raises(exactk.ExactkError, match=message if is_sum else None):
        use(exactk.results.ComparisonState.from_dict(_changed(state_document(), path, value)))


CONTRADICTIONS: dict[str, Callable[[Any, Any], object]] = {
    "another scale": lambda pair, _: pair["totals"][0].__setitem__(7, pair["totals"][0][7] + 1),
    "other sums": lambda pair, _: pair["totals"][0][6].__setitem__(0, hex(int(pair["totals"][0][6][0], 16) + 1)),
    "exchanged groups": lambda pair, _: pair["groups"][0].__setitem__(1, pair["groups"][1][1]),
    "exchanged reports": lambda _, reports: reports[0].update(system="b") or reports[1].update(system="a"),
}


@pytest.mark.parametrize("contradiction", CONTRADICTIONS)
@pytest.mark.parametrize(
    "metric", ["P@1", "recall@2(average=micro)", "f1@2(average=of_means)", "P@1(average=geometric)"]
)
def test_sums_over_pairs_that_contradict_the_systems_are_refused(metric: str, contradiction: str) -> None:
    truth, a = [[1, 2]] * 40, [[1, 2]] * 5 + [[1, 3]] * 5 + [[3, 4]] * 30
    b = [[1, 3]] * 22 + [[3, 2]] * 18
    comparison = exactk.compare(truth, {"a": a, "b": b}, metric, groups=["x"] * 7 + ["y"] * 33)
    document = json.loads(comparison.to_json())
    assert exactk.Comparison.from_json(json.dumps(document)) == comparison
    CONTRADICTIONS[contradiction](document["comparison"]["paired"]["pairs"][0], document["reports"])
    with pytest.raises(exactk.InputError, match="found invalid data"):
        exactk.Comparison.from_json(json.dumps(document))


def test_a_comparison_in_json_is_an_object() -> None:
    document = json.loads(exactk.compare([[1]], {"a": [[1]], "b": [[2]]}, "P@1").to_json())
    with pytest.raises(exactk.InputError, match="comparison: expected a mapping, found 'two_sided'"):
        exactk.Comparison.from_json(json.dumps(document | {"comparison": "two_sided"}))


def test_comparisons_with_and_without_clusters_do_not_merge() -> None:
    truth, systems = [[1]] * 4, {"a": [[1], [1], [2], [2]], "b": [[1], [2], [1], [1]]}
    states = [exactk.compare(truth, systems, "P@1", clusters=clusters).state for clusters in (None, [0, 0, 1, 1])]
    with pytest.raises(exactk.StateMismatchError, match="expected clusters in all or in none, found clusters in some"):
        exactk.merge(states)


def test_intervals_of_tiny_and_of_few_values_exist() -> None:
    tiny = exactk.compare(
        [{1: 1e-200, 2: 5e-201}] * 20, {"a": [[1, 3]] * 10 + [[2, 3]] * 10, "b": [[2, 1]] * 15 + [[3, 4]] * 5}, "dcg@2"
    ).differences[0]
    assert tiny.relative_low < tiny.relative < tiny.relative_high
    few = exactk.evaluate([[1], [1]], [[1], [2]], "dcg@1(average=geometric)")
    assert few.interval("dcg@1(average=geometric)", 0.995) == (1e-5, math.inf)
