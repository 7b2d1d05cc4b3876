"""Metrics of one's own: those that compute what another metric does have its values, whatever the call."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

import exactk
from exactk import _core
from exactk._engine import custom_values
from strategies import Evaluation, evaluations, examples, score_evaluations

EVALUATORS: list[Any] = [exactk.evaluate, exactk.reference.evaluate]
TRUTH = {"ann": ["film", "song"], "bob": ["film"], "cy": []}
LISTS = {"ann": ["song", "book"], "bob": ["book", "film"], "cy": ["film"]}


def hits_of_relevant(judged: exactk.results.JudgedLists) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return judged.hits.sum(axis=1), judged.relevant


def hits_of_ranks(judged: exactk.results.JudgedLists) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return judged.hits.sum(axis=1), np.full(len(judged), judged.k)


def hit_count(judged: exactk.results.JudgedLists) -> NDArray[np.int64]:
    count: NDArray[np.int64] = judged.hits.sum(axis=1)
    return count


def any_hit(judged: exactk.results.JudgedLists) -> NDArray[np.bool_]:
    return np.asarray(judged.hits.any(axis=1))


def length(judged: exactk.results.JudgedLists) -> NDArray[np.int64]:
    return judged.lengths


def twins(k: int, average: str) -> dict[str, exactk.results.CustomMetric]:
    """Return metrics that are computed otherwise, by the metric they are."""
    fields: Any = {} if average == "macro" else {"average": average}
    ending = "" if average == "macro" else f"(average={average})"
    custom: Any = exactk.custom
    found = {
        f"recall@{k}{ending}": custom("my_recall", hits_of_relevant, k=k, range=(0, 1e9), **fields),
        f"precision@{k}{ending}": custom("my_precision", hits_of_ranks, k=k, range=(0, 1e9), **fields),
    }
    if average == "micro":
        return found
    return found | {
        f"num_hits@{k}{ending}": custom("my_hits", hit_count, k=k, **fields),
        f"hit_rate@{k}{ending}": custom("my_rate", any_hit, k=k, range=(0, 1), **fields),
    }


def run_quietly(evaluation: Evaluation, metrics: list[Any], evaluate: Any = exactk.evaluate) -> Any:
    options = {name: option for name, option in evaluation.options.items() if name != "items"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            return evaluate(evaluation.truth, evaluation.predictions, metrics, per_user=True, **options)
        except exactk.InputError as error:
            return error


def assert_same(report: exactk.Report, pairs: dict[str, str]) -> None:
    """The values, users and groups of each metric are those of its twin, bit for bit."""
    for metric, twin in pairs.items():
        for values in (report, report.standard_deviation, *report.by_group.values()):
            assert_array_equal(values[metric], values[twin], err_msg=metric)
        assert_array_equal(report.per_user[metric], report.per_user[twin], err_msg=metric)
    totals = dict(zip(report.state.metrics, report.state.totals, strict=True))
    for metric, twin in pairs.items():
        one, other = totals[metric], totals[twin]
        assert (one.users, one.undefined) == (other.users, other.undefined)
        assert one.total * 2**other.total_scale == other.total * 2**one.total_scale


def check_twins(evaluation: Evaluation, k: int, average: str, evaluate: Any = exactk.evaluate) -> None:
    convention = evaluation.options["convention"].replace(recall_over="relevant", precision_over="cutoff")
    evaluation = replace(evaluation, options=evaluation.options | {"convention": convention})
    metrics = twins(k, average)
    plain = run_quietly(evaluation, list(metrics), evaluate)
    report = run_quietly(evaluation, [*metrics, *metrics.values()], evaluate)
    assert isinstance(report, exactk.Report) == isinstance(plain, exactk.Report), (report, plain)
    if isinstance(report, exactk.Report):
        assert_same(report, {metric: twin.spelling for metric, twin in metrics.items()})
        assert exactk.State.from_bytes(report.state.to_bytes()) == report.state
        assert pickle.loads(pickle.dumps(report)) == report  # noqa: S301 - our own


averages = st.sampled_from(["macro", "macro", "micro", "geometric"])


@settings(max_examples=examples(300))
@given(evaluations(), st.integers(1, 5), averages, st.integers(1, 4))
def test_twins_are_equal_under_every_convention(evaluation: Evaluation, k: int, average: str, block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(custom_values, "BLOCK_USERS", block)
        check_twins(evaluation, k, average)


@settings(max_examples=examples(100))
@given(score_evaluations(), st.integers(1, 5), averages)
def test_twins_of_scores_are_equal_under_every_convention(evaluation: Evaluation, k: int, average: str) -> None:
    if evaluation.options["convention"].ties in {"lowest_id", "highest_id", "input_order", "raise"}:
        check_twins(evaluation, k, average)


@settings(max_examples=examples(100))
@given(evaluations(), st.integers(1, 5), averages)
def test_the_reference_has_the_same_values(evaluation: Evaluation, k: int, average: str) -> None:
    check_twins(evaluation, k, average, exactk.reference.evaluate)
    metrics: list[Any] = list(twins(k, average).values())
    core, reference = (run_quietly(evaluation, metrics, evaluate) for evaluate in EVALUATORS)
    assert type(core) is type(reference), (core, reference)
    if isinstance(core, exactk.Report):
        assert_array_equal(list(core.values()), list(reference.values()))


def test_shards_merge_to_the_whole() -> None:
    rng = np.random.default_rng(1)
    truth = [rng.integers(0, 20, 5).tolist() for _ in range(90)]
    lists = rng.permuted(np.tile(np.arange(20), (90, 1)), axis=1)
    metric = exactk.custom("thirds", lambda judged: judged.hits.sum(axis=1) / 3, k=7)
    convention = {"duplicate_truth": "first"}

    def report(users: slice) -> exactk.Report:
        return exactk.evaluate(truth[users], lists[users], ["ndcg@7", metric], convention=convention)

    whole = report(slice(90))
    states = [report(slice(begin, begin + 30)).state for begin in (60, 0, 30)]
    merged = exactk.merge([exactk.State.from_bytes(state.to_bytes()) for state in states])
    assert merged.state == whole.state
    assert merged.state.to_bytes() == whole.state.to_bytes()
    blocks = iter([(truth[:50], lists[:50]), (truth[50:], lists[50:])])
    assert exactk.evaluate(None, blocks, ["ndcg@7", metric], convention=convention).state == whole.state


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_batches_name_their_users() -> None:
    import pandas as pd  # noqa: PLC0415 - of this test alone

    seen: list[Any] = []

    def length_of_name(judged: exactk.results.JudgedLists) -> NDArray[np.int64]:
        assert judged.users is not None
        seen.extend(judged.users.tolist())
        return np.array([len(user) for user in judged.users])

    frame = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["song", "book", "film"], "score": [2.0, 1.0, 1.0]})
    metric = exactk.custom("name_length", length_of_name, k=1, of="lists", version="1")
    batches = exactk.Batches(lambda: [frame[:2], frame[2:]])
    report = exactk.evaluate({"eve": ["film"], "bob": ["film"]}, batches, metric, convention={"users": "union"})
    assert sorted(seen) == ["ann", "bob", "eve"]
    assert report["name_length@1"] == 3


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("compare", [exactk.compare, exactk.reference.compare], ids=["core", "reference"])
def test_comparisons_have_the_same_rows(compare: Any) -> None:
    rng = np.random.default_rng(2)
    truth = [rng.permutation(9)[:3].tolist() for _ in range(40)]
    systems = {name: rng.permuted(np.tile(np.arange(9), (40, 1)), axis=1) for name in "abc"}
    metric = exactk.custom("mine", hits_of_relevant, k=4, range=(0, 1))
    options: dict[str, Any] = {"groups": ["x", "y"] * 20, "margin": 0.3, "test": "t", "baseline": "b"}
    comparison = compare(truth, systems, ["recall@4", metric], **options)
    for differences in (comparison.differences, comparison.differences.by_group):
        ours = [row._replace(metric="") for row in differences if row.metric == "mine@4"]
        assert len(ours) >= 2
        assert repr(ours) == repr([row._replace(metric="") for row in differences if row.metric == "recall@4"])
    assert comparison.best("mine@4") == comparison.best("recall@4")
    again = pickle.loads(pickle.dumps(comparison.state))  # noqa: S301 - our own
    assert again == comparison.state
    with_margins = compare(truth, systems, [metric], baseline="a", margin={"mine@4": 0.2})
    assert with_margins.differences[0].p_equivalent >= 0
    assert exactk.compare(truth, systems, [metric]).ranks("mine@4")["a"].best >= 1


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_the_direction_is_as_given() -> None:
    systems: Any = {"a": LISTS, "b": {"ann": ["film", "song"], "bob": ["film"]}}
    directions = {"up": True, "down": False, "free": None}
    metrics = [exactk.custom(name, hit_count, k=2, higher_is_better=one) for name, one in directions.items()]
    comparison = exactk.compare(TRUTH, systems, metrics, convention={"missing_list": "skip"})
    assert [comparison.best(f"{name}@2") for name in directions] == [("b",), ("a",), ()]


def test_a_name_at_several_cutoffs() -> None:
    metrics: list[Any] = [*(exactk.custom("mine", hits_of_relevant, k=k) for k in (1, 2)), "mine@[3,4]"]
    with pytest.warns(exactk.EvaluationWarning, match="no list is longer than 2"):
        report = exactk.evaluate(TRUTH, LISTS, metrics)
    assert list(report) == ["mine@1", "mine@2", "mine@3", "mine@4"]
    assert report["mine@2"] == report["mine@3"] == 0.75


def test_lists_alone_need_no_truth() -> None:
    metric = exactk.custom("items", length, k=2, of="lists")
    assert exactk.evaluate(None, LISTS, metric)["items@2"] == 5 / 3
    assert exactk.evaluate(TRUTH, LISTS, metric)["items@2"] == 5 / 3  # cy has no relevant item
    assert exactk.reference.evaluate(TRUTH, LISTS, metric)["items@2"] == 5 / 3
    with pytest.raises(exactk.InputTypeError, match="which items@2 needs"):
        exactk.evaluate(None, LISTS, exactk.custom("items", length, k=2))


def counted(numbers: list[float]) -> Any:
    """Return a function of these numbers, whatever the lists."""
    return lambda judged: np.array(numbers)[: len(judged)]


@pytest.mark.parametrize("evaluate", EVALUATORS, ids=["core", "reference"])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (counted([1.0, math.nan, 0.0]), r"numbers from -2\^256 .* mine@2, found nan .*bob"),
        (counted([math.inf, math.nan, 0.0]), r"found inf at row 0 \(the first of 2\) .*ann"),
        (counted([0.0, -0.5, 0.0]), r"from 0 to 1 .*found -0.5 .*bob"),
        (lambda judged: (judged.relevant, judged.relevant * 0), r"denominators above 0 .*found 2.0 / 0.0 .*ann"),
        (lambda judged: (judged.relevant, judged.relevant - 3.0), r"denominators above 0 .*found 2.0 / -1.0 .*ann"),
        (lambda judged: (judged.relevant, judged.relevant * 2.0**-300), r"denominators above 0 .* ratios up to"),
    ],
)
def test_numbers_that_are_no_values_name_the_first_user(evaluate: Any, function: Any, expected: str) -> None:
    metric = exactk.custom("mine", function, k=2, range=(0, 1), version="1")
    with pytest.raises(exactk.InputError, match=expected):
        evaluate(TRUTH, LISTS, ["recall@2", metric])


def test_numbers_of_skipped_users_are_not_read() -> None:
    metric = exactk.custom("mine", counted([1.0, 0.5, math.nan]), k=2, version="1")
    assert exactk.evaluate(TRUTH, LISTS, metric)["mine@2"] == 0.75
    with pytest.raises(exactk.InputError, match=r"found nan .*cy"):
        exactk.evaluate(TRUTH, LISTS, metric, convention={"empty_truth": "compute"})


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("policy", ["skip", "zero", "one"])
@pytest.mark.parametrize(
    ("field", "user"), [("empty_truth", "without truth"), ("empty_list", "empty"), ("missing_list", "missing")]
)
def test_numbers_are_read_where_the_policy_is_to_compute(field: str, user: str, policy: str) -> None:
    truth = {"ann": [1, 2], "empty": [1], "missing": [1], "without truth": []}
    lists = {"ann": [1], "empty": [], "without truth": [1]}

    def recall(judged: exactk.results.JudgedLists) -> NDArray[np.float64]:
        assert judged.users is not None
        is_left_out = judged.users == user
        return np.where(is_left_out, math.nan, judged.hits.sum(axis=1) / np.maximum(judged.relevant, 1))

    metrics: list[Any] = ["recall@2", exactk.custom("mine", recall, k=2, version="1")]
    options: Any = {"per_user": True, "convention": {field: policy}}
    report = exactk.evaluate(truth, lists, metrics, **options)
    assert_array_equal(report.per_user["mine@2"], report.per_user["recall@2"])
    options["convention"] = {field: "compute"}
    for evaluate in EVALUATORS:
        with pytest.raises(exactk.InputError, match=rf"found nan .*{user}"):
            evaluate(truth, lists, metrics, **options)


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda judged: judged.hits, r"bool and shape \(3, 2\)"),
        (lambda judged: judged.relevant[1:], r"int64 and shape \(2,\)"),
        (lambda judged: [1.0] * len(judged), "list"),
        (lambda _: None, "NoneType"),
        (lambda judged: judged.users, "<U3 and shape"),
        (lambda judged: judged.relevant * 1j, "complex128"),
        (lambda judged: (judged.relevant,), "a tuple of 1"),
    ],
)
def test_other_than_arrays_by_user_is_an_error(function: Any, found: str) -> None:
    metric = exactk.custom("mine", function, k=2)
    with pytest.raises(exactk.InputTypeError, match=f"expected an array of 3 float64 .*mine@2.* found .*{found}"):
        exactk.evaluate(TRUTH, LISTS, metric)


def test_an_error_in_the_function_names_the_users_of_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom_values, "BLOCK_USERS", 2)

    def fail_at_cy(judged: exactk.results.JudgedLists) -> NDArray[np.int64]:
        assert judged.users is not None
        if "cy" in judged.users.tolist():
            raise ZeroDivisionError
        return judged.relevant

    with pytest.raises(ZeroDivisionError) as error:
        exactk.evaluate(TRUTH, LISTS, exactk.custom("mine", fail_at_cy, k=2))
    assert error.value.__notes__ == ["in the function of mine@2, called with the users of rows 2 ('cy') to 2 ('cy')"]


def closed_over(prices: Any) -> Any:
    return lambda judged: judged.hits.sum(axis=1) * prices


def test_states_of_other_functions_do_not_merge() -> None:
    def state(function: Any, **options: Any) -> exactk.State:
        return exactk.evaluate(TRUTH, LISTS, exactk.custom("mine", function, k=2, **options)).state

    first = state(closed_over(2.0))
    assert state(closed_over(2.0)) == first
    others = [
        state(closed_over(3.0)),
        state(closed_over(np.float64(2))),
        state(hit_count),
        state(closed_over(2.0), range=(0, 100)),
        state(closed_over(2.0), higher_is_better=False),
        state(closed_over(2.0), of="lists"),
        state(closed_over(2.0), version="1"),
    ]
    for other in others:
        with pytest.raises(exactk.StateMismatchError, match="other functions named mine"):
            exactk.merge([first, other])
    assert exactk.merge([others[-1], state(closed_over([3.0, 3, 3]), version="1")])["mine@2"] > 0


def test_digests_are_of_all_that_a_function_reads() -> None:
    def digest(value: Any) -> int:
        return exactk.custom("mine", closed_over(value), k=1).info.digest

    values: list[Any] = [
        1, 1.0, True, "1", b"1", None, (1,), [1], {1}, frozenset({1}), {1: 2}, {1: 3}, np.arange(3), np.arange(3.0),
        np.arange(3).reshape(3, 1), np.array(["a", "b"]), np.array(["a", 1], object), math.sqrt, math.log, hit_count, np.log,
        closed_over(1), closed_over(2), slice(1), slice(1, 2),
    ]  # fmt: skip
    digests = [digest(value) for value in values]
    assert len(set(digests)) == len(values)
    assert digests == [digest(value) for value in values]
    assert digest({3, 1, 2}) == digest({2, 3, 1})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"name": "recall"}, "name: expected a name that no other metric has"),
        ({"name": "MAP"}, "name: expected a name that no other metric has"),
        ({"name": "mine_2"}, "name: expected letters"),
        ({"name": "mine@2"}, "name: expected letters"),
        ({"name": 1}, "name: expected a string"),
        ({"function": 1}, "function: expected a function"),
        ({"function": closed_over(object())}, "function: .* object of type object.*version="),
        ({"k": 0}, "k: expected"),
        ({"of": "truth"}, "of: expected 'judged' or 'lists'"),
        ({"range": (1, 0)}, "range: expected the least"),
        ({"range": 1}, "range: expected the least"),
        ({"range": ("0", "1")}, "range: expected the least"),
        ({"higher_is_better": "yes"}, "higher_is_better: expected True, False or None"),
        ({"version": 1}, "version: expected a string"),
        ({"average": "median"}, "expected average to be one of"),
    ],
)
def test_arguments_are_checked(arguments: dict[str, Any], expected: str) -> None:
    custom: Any = exactk.custom
    with pytest.raises(exactk.ExactkError, match=expected):
        custom(**({"name": "mine", "function": hit_count, "k": 2} | arguments))


def test_one_function_per_name() -> None:
    metrics = [exactk.custom("mine", hit_count, k=1), exactk.custom("mine", length, k=2)]
    with pytest.raises(exactk.InputError, match="one function per name, found two named mine"):
        exactk.evaluate(TRUTH, LISTS, metrics)
    with pytest.raises(exactk.InputError, match="mine@k, as for every custom metric"):
        exactk.evaluate(TRUTH, LISTS, [metrics[0], "mine"])
    with pytest.raises(exactk.InputError, match="'of_means', which only"):
        exactk.evaluate(TRUTH, LISTS, exactk.custom("mine", hit_count, k=1, average="of_means"))
    with pytest.raises(exactk.InputError, match="ties of 'lowest_id'"):
        exactk.evaluate([[1], [0]], np.eye(2, 3), metrics[0], convention={"ties": "expected"})


@pytest.mark.parametrize(
    "change",
    [{"digest": "0x1"}, {"digest": None}, {"of": "all"}, {"direction": "up"}, {"range": [1.0, 0.0]}, {"range": [0.0]},
     {"range": [0, 1]}, {"name": "mine_2"}, {"more": 1}, {"name": "other"}],
)  # fmt: skip
def test_states_with_an_impossible_description_are_refused(change: dict[str, Any]) -> None:
    plain = exactk.evaluate(TRUTH, LISTS, exactk.custom("mine", hit_count, k=2, range=(0, 2))).state.to_dict()
    assert exactk.State.from_dict(plain).custom_metrics[0].range == (0, 2)
    plain["custom_metrics"] = [plain["custom_metrics"][0] | change]
    with pytest.raises(exactk.InputError, match="state: expected"):
        exactk.State.from_dict(plain)


def test_descriptions_have_the_attributes_of_the_cores() -> None:
    info = exactk.custom("lengths", length, k=2).info
    names = [name for name in dir(_core.MetricInfo) if not name.startswith("_")]
    flags = {name for name in names if getattr(info, name) is True}
    assert flags == {"micro", "positive_without_hits", "reads_predictions", "reads_truth", "may_condense"}
    assert copy.deepcopy(info) == info
    with pytest.raises(AttributeError):
        info.reads_minds  # noqa: B018 - the error
