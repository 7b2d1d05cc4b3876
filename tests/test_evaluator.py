"""Users who come in updates: the same bits as all of them at once, whatever the updates."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import exactk
from children import assert_ratio, cpu_seconds, run_child
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.model.item_table import CanonicalItems
from rankings import rankings_of
from strategies import (
    EVALUATIONS,
    Evaluation,
    evaluations,
    examples,
    reads_base,
    reads_history,
    score_evaluations,
    score_matrices,
)
from test_tensors import Tensor
from warned import warnings_of

pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")

METRICS = ["ndcg@2", "recall@2", "map"]
TRUTH = {"ann": ["film", "song"], "bob": ["film"], "eve": ["book"], "kim": ["song"]}
LISTS = {"ann": ["song", "book"], "bob": ["book", "film"], "eve": ["film"], "sam": ["film"]}


def rows_of(container: Any, begin: int, end: int) -> Any:
    """Return the rows of some users."""
    if isinstance(container, np.ndarray) and container.ndim == 1 and container.dtype.kind == "i":
        return container  # columns that may be ranked, for all users
    if isinstance(container, exactk.Scores):
        return exactk.Scores(container.values[begin:end], container.min_score)  # noqa: PD011 - not of pandas
    if not isinstance(container, exactk.SparseScores):
        return container[begin:end]
    indptr, present = container.indptr[begin : end + 1], container.present
    items = slice(indptr[0], indptr[-1])
    of_users = None if present is None else present[begin:end]
    return exactk.SparseScores(
        indptr - indptr[0], container.items[items], container.scores[items], container.min_score, of_users
    )


def truth_beside(predictions: Any, truth: Any) -> Any:
    """Return the truth, or other items of users, so that lists of the scores' shape are no grades and no flags."""
    return exactk.as_truth(truth) if isinstance(predictions, (np.ndarray, exactk.Scores)) else truth


class Split:
    """A call's arguments, and those of some of its users."""

    def __init__(self, evaluation: Evaluation) -> None:
        whole: dict[str, Any] = {}

        def keep(truth: Any, predictions: Any, metrics: Any, **options: Any) -> exactk.Report:
            whole.update(options, truth=truth, predictions=predictions, metrics=metrics)
            return exactk.evaluate(truth_beside(predictions, truth), predictions, metrics, **options)

        self.error: exactk.ExactkError | None = None
        self.state: exactk.State | None = None
        try:
            self.state = evaluation.run(keep).state
        except exactk.ExactkError as error:
            self.error = error
        self.setup = {name: whole.pop(name) for name in ("metrics", "convention", "items") if name in whole}
        self.arguments = {name: one for name, one in whole.items() if one is not None and name != "base_predictions"}
        self.size = len(evaluation.truth)

    def evaluator(self) -> exactk.Evaluator:
        return exactk.Evaluator(**self.setup)

    def block(self, begin: int, end: int) -> dict[str, Any]:
        block = {name: rows_of(one, begin, end) for name, one in self.arguments.items()}
        names = ["truth", *(name for name in ("exclude", "candidates") if isinstance(block.get(name), list))]
        return block | {name: truth_beside(block["predictions"], block[name]) for name in names}

    def keyed_block(self, begin: int, end: int) -> dict[str, Any]:
        """Return the arguments of these users by key: a user of the truth or of the predictions alone has no other."""
        keyed = {}
        for name, one in self.arguments.items():
            rows = {f"user {i}": one[i] for i in range(begin, end)}
            keyed[name] = {user: row for user, row in rows.items() if row is not None}
        return keyed

    def borders(self, draw: st.DataObject) -> list[tuple[int, int]]:
        inner = draw.draw(st.lists(st.integers(0, self.size), min_size=2, max_size=4), label="borders")
        ends = [0, *sorted(inner), self.size]
        return list(itertools.pairwise(ends))


def fill(evaluator: exactk.Evaluator, blocks: list[dict[str, Any]]) -> exactk.State:
    for block in blocks:
        evaluator.update(**block)
    return evaluator.compute().state


ROWS = st.one_of(
    *(drawn(min_users=2) for kind, drawn in EVALUATIONS.items() if kind != "ranks with gaps"),  # which are no rows
    score_evaluations(min_users=2, predictions=score_matrices),
)


@st.composite
def splits(draw: st.DrawFn, evaluations: st.SearchStrategy[Evaluation] = ROWS, *, fixed_size: bool = False) -> Split:
    """Draw a call of metrics without base predictions; of a fixed size are sums without groups and histories."""
    evaluation = draw(evaluations)
    unwanted = (reads_base, reads_history) if fixed_size else (reads_base,)
    metrics = [metric for metric in evaluation.metrics if not any(reads(metric) for reads in unwanted)]
    assume(metrics)
    options = {name: one for name, one in evaluation.options.items() if not (fixed_size and name == "groups")}
    split = Split(replace(evaluation, metrics=metrics, options=options))
    assume(split.setup)  # the items of the draw are valid
    return split


@settings(max_examples=examples(600), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(splits(), st.data())
def test_any_updates_of_evaluators_that_merge_give_the_state_of_one_call(split: Split, data: st.DataObject) -> None:
    blocks = [split.block(*border) for border in split.borders(data)]
    if split.error is not None:
        with pytest.raises(type(split.error)):
            fill(split.evaluator(), blocks)
        return
    assert fill(split.evaluator(), blocks) == split.state
    if any(map(reads_history, split.setup["metrics"])):  # whose rows are in the order of the users
        return
    first, *others = parts = [split.evaluator() for _ in range(3)]
    for block in data.draw(st.permutations(blocks)):
        data.draw(st.sampled_from(parts)).update(**block)
    states = [other.state for other in others]
    first.merge(pickle.loads(pickle.dumps(others[0])))  # noqa: S301 - our own
    first.merge(others[1])
    assert first.compute().state == split.state
    assert [other.state for other in others] == states


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(splits(evaluations(min_users=2, max_users=6)), st.data())
def test_keyed_users_in_any_updates(split: Split, data: st.DataObject) -> None:
    """The whole is one call with keys, as a user without items is missing there."""
    assume(not any(map(reads_history, split.setup["metrics"])))
    blocks = [split.keyed_block(*border) for border in split.borders(data)]
    try:
        whole = exactk.evaluate(**split.keyed_block(0, split.size), **split.setup)
    except exactk.ExactkError as error:
        with pytest.raises(type(error)):
            fill(split.evaluator(), blocks)
        return
    evaluator = split.evaluator()
    assert fill(evaluator, data.draw(st.permutations(blocks))) == whole.state
    assert set(evaluator.compute().users.tolist()) == set(whole.users.tolist())


def filled() -> exactk.Evaluator:
    evaluator = exactk.Evaluator(METRICS)
    evaluator.update({"ann": TRUTH["ann"]}, {"ann": LISTS["ann"], "sam": LISTS["sam"]})
    return evaluator


def rest(*left_out: str) -> Any:
    """Return the truth and the lists of all users but those, or those of `filled`."""
    left_out = left_out or ("ann", "sam")
    return tuple({user: row for user, row in one.items() if user not in left_out} for one in (TRUTH, LISTS))


@pytest.mark.parametrize("through", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_pickle_goes_on_where_it_was(through: Callable[[Any], Any]) -> None:
    before = filled()
    evaluator = through(before)
    evaluator = pickle.loads(evaluator) if isinstance(evaluator, bytes) else evaluator  # noqa: S301 - our own
    assert repr(evaluator) == repr(before)
    evaluator.update(*rest())
    assert evaluator.compute().state == exactk.evaluate(TRUTH, LISTS, METRICS).state
    assert before.compute().counts["users"] == 2
    with pytest.raises(exactk.InputError, match="'ann' in several"):
        evaluator.update({"ann": ["film"]}, {"ann": ["film"]})


def test_reset_forgets_the_users() -> None:
    evaluator = filled()
    evaluator.reset()
    assert evaluator.compute().counts["users"] == 0
    evaluator.update([[1]], [[1, 2]], weights=[2.0], groups=["a"])
    whole = exactk.evaluate([[1]], [[1, 2]], METRICS, weights=[2.0], groups=["a"])
    assert evaluator.compute() == whole


def test_reports_stay_as_they_were() -> None:
    evaluator = filled()
    report = evaluator.compute()
    kept = (report.to_json(), report.users.tolist())
    for i in range(300):
        evaluator.update({f"user {i}": ["film"]}, {f"user {i}": ["film"]})
    assert (report.to_json(), report.users.tolist()) == kept
    assert evaluator.compute().users.tolist() == ["ann", "sam", *(f"user {i}" for i in range(300))]
    assert evaluator.compute() == evaluator.compute()


OF_PAT: dict[str, Any] = {"truth": {"pat": ["film"]}, "predictions": {}}
FAULTY: dict[str, tuple[dict[str, Any], str]] = {
    "a user again": (
        {"truth": {"pat": ["film"], "ann": []}, "predictions": {}},
        ("truth: expected each user in one update, found 'ann' in several; reset() forgets the users so far; "
        "users of the predictions count too"),
    ),
    "a user of the predictions again": (
        OF_PAT | {"predictions": {"sam": ["film"]}}, "truth: expected each user in one update, found 'sam' in several; ",
    ),
    "no keys": ({"truth": [["film"]], "predictions": [["film"]]}, ("truth: expected users of type str, as in earlier updates, "
                "found rows without user keys")),
    "other keys": ({"truth": {1: ["film"]}, "predictions": {1: ["film"]}}, ("truth: expected users of type str, as in "
                   "earlier updates, found users of type int; integer, string and bytes ids never match")),
    "weights": (OF_PAT | {"weights": {"pat": 1}}, "weights: expected None, as in earlier updates, found weights of users"),
    "groups": (OF_PAT | {"groups": {"pat": "a"}}, "groups: expected None, as in earlier updates, found groups of users"),
    "an iterator": (
        OF_PAT | {"predictions": iter([({"pat": ["film"]}, {})])},
        ("predictions: expected the predictions of some users, found an iterator; "
        "exactk.evaluate(None, predictions, metrics) reads an iterator of blocks"),
    ),
    "no truth": ({"truth": None, "predictions": {}}, "truth: expected truth, as in earlier updates, found None"),
    "several systems": (
        OF_PAT | {"predictions": {"one": {"pat": ["film"]}, "other": {"pat": ["film"]}}},
        "exactk.compare(truth, predictions, metrics) takes a mapping from system",
    ),
    "an item twice": (OF_PAT | {"predictions": {"pat": ["film", "film"]}}, "predictions: "),
    "exclusions of fewer users": (
        {"truth": [["film"]] * 2, "predictions": [["film"]] * 2, "exclude": [[]]},
        "exclude: expected one entry per user (2), found 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTY)
def test_an_update_that_fails_adds_nothing(case: str) -> None:
    arguments, message = FAULTY[case]
    evaluator = filled()
    before = evaluator.compute()
    with pytest.raises(exactk.ExactkError, match=re.escape(message)):
        evaluator.update(**arguments)
    assert evaluator.compute() == before
    evaluator.update({"pat": ["film"]}, {"pat": ["film"]})  # of whom nothing is left
    evaluator.update(*rest())
    truth, lists = TRUTH | {"pat": ["film"]}, LISTS | {"pat": ["film"]}
    assert evaluator.compute().state == exactk.evaluate(truth, lists, METRICS).state


@pytest.mark.parametrize(
    "step",
    ["updates.evaluate_chunk", "evaluation.evaluate_system", "evaluation._pairs_of", "evaluation._find_in_system"],
)
def test_an_interrupted_update_adds_nothing(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by Ctrl-C in a notebook, before the block is added to the sums or after."""
    evaluator = filled()
    before = evaluator.compute()

    def interrupt(*_args: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"exactk._engine.{step}", interrupt)
        with pytest.raises(KeyboardInterrupt):
            evaluator.update(*rest())
    with monkeypatch.context() as patch:
        patch.setattr("exactk._engine.updates.UpdateSums", interrupt)  # after the keys have been added
        with pytest.raises(KeyboardInterrupt):
            evaluator.update(*rest())
    assert evaluator.compute() == before
    evaluator.update({"pat": ["film"]}, {"pat": ["film"]})
    assert evaluator.compute().users.tolist() == ["ann", "sam", "pat"]
    evaluator.update(*rest())
    assert evaluator.compute().counts["users"] == 6


def test_before_any_update_it_is_the_report_of_no_users() -> None:
    evaluator = exactk.Evaluator(METRICS)
    assert evaluator.state == exactk.evaluate([], [], METRICS).state
    assert warnings_of(evaluator.compute) == warnings_of(lambda: exactk.evaluate([], [], METRICS)) != []
    assert evaluator.compute() == exactk.evaluate([], [], METRICS)
    evaluator.update([], [])
    evaluator.update(TRUTH, LISTS)  # an update without users does not say whether they have keys
    evaluator.update({}, {})
    evaluator.update([], [])
    assert evaluator.compute() == exactk.evaluate(TRUTH, LISTS, METRICS)


OTHERS: dict[str, tuple[Callable[[], Any], str]] = {
    "metrics": (lambda: exactk.Evaluator("mrr"), "other: expected the same metrics and convention in all, found metrics"),
    "order": (lambda: exactk.Evaluator(METRICS[::-1]), "in another order"),
    "convention": (lambda: exactk.Evaluator(METRICS, convention={"ties": "highest_id"}), "ties 'lowest_id' and 'highest_id'"),
    "itself": (filled, "other: expected another evaluator, found this one, whose users would count twice"),
    "users": (filled, "other: expected evaluators without a user in common, found 'ann' in both"),
    "keys": (lambda: updated([[1]], [[1]]), "other: expected users of type str, found rows without user keys"),
    "weights": (lambda: updated({"pat": []}, {}, weights={"pat": 1}), "expected updates without weights, found updates with weights"),
    "report": (lambda: exactk.evaluate([[1]], [[1]], "mrr"), "expected an Evaluator, found Report; exactk.merge adds reports"),
}  # fmt: skip


def updated(*arguments: Any, **options: Any) -> exactk.Evaluator:
    evaluator = exactk.Evaluator(METRICS)
    evaluator.update(*arguments, **options)
    return evaluator


def test_group_labels_of_several_types() -> None:
    """Also after a merge, the message names the argument of the update."""
    one, other = exactk.Evaluator("recall@1"), exactk.Evaluator("recall@1")
    one.update([[1]], [[1]], groups=["x"])
    other.update([[2]], [[1]], groups=["y"])
    for count in (1, 2):
        with pytest.raises(exactk.StateMismatchError, match=r"^groups: expected group labels of one type") as caught:
            one.update([[1]], [[1]], groups=[1])
        assert caught.value.argument == "groups"
        assert one.compute().counts["users"] == count
        if count == 1:
            one.merge(other)


@pytest.mark.parametrize("case", OTHERS)
def test_what_does_not_merge(case: str) -> None:
    make, message = OTHERS[case]
    evaluator = filled()
    before = evaluator.compute()
    with pytest.raises(exactk.ExactkError, match=re.escape(message)):
        evaluator.merge(evaluator if case == "itself" else make())
    assert evaluator.compute() == before


def test_other_items_and_functions_do_not_merge() -> None:
    one, other = (exactk.Evaluator("novelty@1", items=exactk.Items(train=train)) for train in ([[1], [2]], [[1], [3]]))
    with pytest.raises(exactk.StateMismatchError, match=r"^other: expected the same metrics and convention in all, "):
        one.merge(other)
    one, other = (
        exactk.Evaluator(exactk.custom("shortest", attrgetter("lengths"), k=2, version=version)) for version in "12"
    )
    with pytest.raises(exactk.StateMismatchError, match="other functions named shortest"):
        one.merge(other)


def test_evaluators_without_users_merge() -> None:
    evaluator = exactk.Evaluator(METRICS)
    evaluator.merge(exactk.Evaluator(METRICS))
    assert evaluator.compute().counts["users"] == 0
    other = updated({"ann": ["film"]}, {"ann": ["film"]}, weights={"ann": 3})
    evaluator.merge(other)
    other.merge(exactk.Evaluator(METRICS))
    evaluator.update({"bob": ["film"]}, {"bob": ["song"]}, weights={"bob": 1})
    assert other.compute().counts["users"] == 1
    assert evaluator.compute()["recall@2"] == 0.75


def test_merged_users_are_known() -> None:
    evaluator, other = filled(), updated(*rest())
    evaluator.merge(other)
    assert evaluator.compute().state == exactk.evaluate(TRUTH, LISTS, METRICS).state
    with pytest.raises(exactk.InputError, match="'bob' in several"):
        evaluator.update({"bob": []}, {})
    other.update({"ann": ["film"]}, {})  # its users are its own


def test_keys_of_all_kinds() -> None:
    """Integers from both ends, bytes, several columns, and labels of the truth's rows."""
    for users in ([2**63 + 1, 2**63 + 2, 1], [b"a", b"bb", b""], [("a", 1), ("a", 2), ("b", 1)], ["", "ä", "b" * 99]):
        whole = exactk.evaluate({user: [1] for user in users}, {users[0]: [1]}, METRICS)
        evaluator = exactk.Evaluator(METRICS)
        for user in users:
            evaluator.update({user: [1]}, {user: [1]} if user == users[0] else {})
        assert evaluator.compute() == whole
        with pytest.raises(exactk.InputError, match=re.escape(f"found {users[1]!r} in several")):
            evaluator.update({users[1]: [1]}, {})
    evaluator = exactk.Evaluator(METRICS)
    evaluator.update(exactk.Truth([0, 1, 2], [1, 2], users=["a", "b"]), [[1], [1]])
    evaluator.update(exactk.Truth([0, 1], [1], users=["c"]), [[1]])
    assert evaluator.compute().users.tolist() == ["a", "b", "c"]
    with pytest.raises(exactk.InputError, match="found 'b' in several"):
        evaluator.update(exactk.Truth([0, 1], [1], users=["b"]), [[1]])
    frame = pd.DataFrame({"user": ["x", "x", "y"], "day": [1, 2, 1], "item": [1, 2, 3], "rank": 1})
    truth = exactk.as_truth(frame, user=["user", "day"])
    evaluator = exactk.Evaluator(METRICS)
    evaluator.update(truth, rankings_of(frame, user=["user", "day"]))
    other = exactk.as_truth(frame.rename(columns={"day": "week"}), user=["user", "week"])
    with pytest.raises(exactk.InputTypeError, match=r"expected users of type str \('user'\) and int \('day'\)"):
        evaluator.update(other, rankings_of(frame.rename(columns={"day": "week"}), user=["user", "week"]))
    with pytest.raises(exactk.InputError, match=r"found \('x', 1\) in several"):
        evaluator.update(truth, rankings_of(frame, user=["user", "day"]))


def test_negative_keys_beside_keys_of_2_to_the_63() -> None:
    """No array of integers has both, so one call refuses them too."""
    message = "expected integers that all fit int64 or all fit uint64, found "
    with pytest.raises(exactk.InputError, match=f"^truth.user: {message}"):
        exactk.evaluate({-1: [1], 2**63: [1]}, {-1: [1]}, "mrr")
    evaluator = exactk.Evaluator("mrr")
    evaluator.update({-1: [1]}, {-1: [1]})
    with pytest.raises(exactk.InputError, match=f"^truth: {message}"):
        evaluator.update({2**63: [1]}, {2**63: [1]})
    assert evaluator.compute().users.tolist() == [-1]


@pytest.mark.parametrize("num_threads", [1, 2, None])
def test_embeddings_batches_and_frames(num_threads: int | None) -> None:
    rng = np.random.default_rng(0)
    truth, vectors, items = rng.random((40, 30)) < 0.1, rng.standard_normal((40, 8)), rng.standard_normal((30, 8))
    evaluator = exactk.Evaluator(METRICS, num_threads=num_threads)
    for part in np.array_split(np.arange(40), 3):
        evaluator.update(truth[part], exactk.Embeddings(Tensor(vectors[part]), items))
    assert evaluator.compute() == exactk.evaluate(truth, exactk.Embeddings(vectors, items), METRICS)
    assert evaluator.compute() == exactk.evaluate(truth, vectors @ items.T, METRICS)
    test = pd.DataFrame({"user": ["ann", "ann", "bob", "eve"], "item": [1, 2, 1, 3], "grade": [1.0, 2.0, 3.0, 1.0]})
    ranked = pd.DataFrame({"user": ["bob", "ann", "eve", "bob"], "item": [1, 1, 2, 3], "score": [0.5, 0.25, 0.75, 0.5]})
    evaluator = exactk.Evaluator(METRICS, num_threads=num_threads)
    for users in (["eve", "bob"], ["ann"]):
        frame = ranked[ranked.user.isin(users)]
        evaluator.update(test[test.user.isin(users)], exactk.Batches([frame[:1], frame[1:]].copy))
    state = exactk.evaluate(test, ranked, METRICS).state
    assert evaluator.state == state
    assert evaluator.state.grade_column == state.grade_column == "grade"


def test_metrics_of_the_lists_alone_need_no_truth() -> None:
    metrics, items = ["coverage@2", "list_fill@2", "novelty@1"], exactk.Items(train={"pat": ["film", "song", "book"]})
    evaluator = exactk.Evaluator(metrics, items=items)
    for user, row in LISTS.items():
        evaluator.update(None, {user: row}, exclude={user: row[1:]})
    exclude = {user: row[1:] for user, row in LISTS.items()}
    assert evaluator.compute() == exactk.evaluate(None, LISTS, metrics, items=items, exclude=exclude)
    with pytest.raises(exactk.InputError, match=r"^predictions: expected each user in one update, found 'ann' "):
        evaluator.update(None, {"ann": []})
    with pytest.raises(exactk.InputTypeError, match=r"^truth: expected None, as in earlier updates, found truth$"):
        evaluator.update({"pat": []}, {"pat": []})
    lists = exactk.Evaluator("list_fill@2")
    lists.update(None, [[1], [2, 3]])
    lists.update(None, [[1, 2]])
    assert lists.compute() == exactk.evaluate(None, [[1], [2, 3], [1, 2]], "list_fill@2")
    with pytest.raises(exactk.InputTypeError, match=r"^truth: expected the relevant items of each user, which map "):
        exactk.Evaluator(["map"]).update(None, LISTS)


def test_metrics_of_all_lists_take_no_weights() -> None:
    evaluator = exactk.Evaluator("coverage@2", items=exactk.Items(9))
    with pytest.raises(exactk.InputError, match=r"^weights: expected None with coverage@2, which all lists "):
        evaluator.update([[1]], [[1]], weights=[1.0])
    assert evaluator.compute().counts["users"] == 0


TRAIN = {"ann": ["book"], "eve": ["song", "film"], "kim": []}
TAGS = {"film": ["a"], "song": ["b"], "book": ["a", "c"]}


def test_histories_are_those_of_the_users_and_metrics_may_be_ones_own() -> None:
    items = exactk.Items(train=TRAIN, features=TAGS)
    lengths = exactk.custom("lengths", attrgetter("lengths"), k=2, version="1")
    metrics: list[Any] = ["calibration@2", "serendipity@2(distance=jaccard)", lengths]
    evaluator, other = exactk.Evaluator(metrics, items=items), exactk.Evaluator(metrics, items=items)
    whole = exactk.evaluate(TRUTH, LISTS, metrics, items=items)
    for user in ["sam", "eve"]:
        evaluator.update({user: TRUTH[user]} if user in TRUTH else {}, {user: LISTS[user]})
    other.update(*rest("sam", "eve"))
    evaluator = pickle.loads(pickle.dumps(evaluator))  # noqa: S301 - our own
    evaluator.merge(other)
    assert evaluator.compute().state == whole.state


def test_all_rows_of_train_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows_with_features = CanonicalItems.__dict__["rows_with_features"]
    compute, calls = rows_with_features.func, []

    def counted(items: CanonicalItems) -> Any:
        calls.append(items)
        return compute(items)

    monkeypatch.setattr(rows_with_features, "func", counted)
    items, metrics = exactk.Items(train=TRAIN, features={"film": ["a"]}), "calibration@2(missing_features=skip)"
    evaluator = exactk.Evaluator(metrics, items=items)
    for user in ["sam", "eve", "ann"]:
        evaluator.update({user: ["film"]}, {user: LISTS[user]})
    assert evaluator.state.counts.users == 3
    blocks = [({user: ["film"]}, {user: LISTS[user]}) for user in ["sam", "eve", "ann"]]
    exactk.evaluate(None, iter(blocks), metrics, items=items)
    assert len(calls) == 1


def test_rows_of_train_are_in_the_order_of_the_users() -> None:
    items = exactk.Items(train=[["book"], ["song"], [], ["film", "book"]], features=TAGS)
    truth, lists = [["film"], ["song"], ["book"], ["film"]], [["book"], ["song", "film"], [], ["film"]]
    evaluator = exactk.Evaluator("calibration@2", items=items)
    evaluator.update(truth[:1], lists[:1])
    with pytest.raises(exactk.InputError, match=r"^train: expected one entry per user \(at least 5\), found 4$"):
        evaluator.update(truth, lists)
    with pytest.raises(exactk.InputError, match=r"^train: expected one entry per user \(1\), found 4$"):
        evaluator.compute()
    evaluator.update(truth[1:], lists[1:])
    assert evaluator.compute() == exactk.evaluate(truth, lists, "calibration@2", items=items)
    with pytest.raises(exactk.StateMismatchError, match=r"^other: expected train with user keys, found rows"):
        evaluator.merge(exactk.Evaluator("calibration@2", items=items))


SETUPS: dict[str, dict[str, Any]] = {
    "no metric": {"metrics": []},
    "a misspelt one": {"metrics": "ndgc@10"},
    "a convention": {"metrics": "mrr", "convention": "trec"},
    "no groups of items": {"metrics": "exposure@2", "items": exactk.Items(3)},
    "threads": {"metrics": "mrr", "num_threads": 0},
    "items": {"metrics": "novelty@2", "items": 3},
}


@pytest.mark.parametrize("case", SETUPS)
def test_plans_are_checked_at_once(case: str) -> None:
    with pytest.raises(exactk.ExactkError) as expected:
        exactk.evaluate([[1]], [[1]], **SETUPS[case])
    with pytest.raises(type(expected.value), match=f"^{re.escape(str(expected.value))}$"):
        exactk.Evaluator(**SETUPS[case])


def test_metrics_of_other_predictions_are_refused() -> None:
    with pytest.raises(exactk.InputError) as caught:
        exactk.Evaluator("unexpectedness@2", items=[[1]])
    assert str(caught.value) == (
        "metrics: expected metrics that need no base predictions, found unexpectedness@2; "
        "exactk.evaluate(..., base_predictions=...) computes it"
    )


def test_fields_without_effect_are_warned_of_at_once() -> None:
    metric = "precision@1(gain=exp2)"
    (text,) = warnings_of(lambda: exactk.Evaluator(metric))
    assert warnings_of(lambda: exactk.evaluate([[1]], [[1]], metric)) == [text]


def test_metrics_may_be_an_iterator_or_change_later() -> None:
    metrics = ["mrr", "recall@1"]
    evaluators = [exactk.Evaluator(iter(metrics)), exactk.Evaluator(metrics)]
    metrics.append("map")
    for evaluator in evaluators:
        again = pickle.loads(pickle.dumps(evaluator))  # noqa: S301 - our own
        again.update([[1]], [[1]])
        assert list(again.compute()) == ["mrr", "recall@1"]


def of_user(user: Any, relevant: Any, recommended: Any, **options: Any) -> dict[str, Any]:
    """Return an update of one user with one item."""
    return {"truth": {user: [relevant]}, "predictions": {user: [recommended]}, **options}


def of_scores(scores: Any) -> dict[str, Any]:
    """Return an update of users whose relevant item is that of the first column."""
    return {"truth": [[0]] * len(scores), "predictions": scores}


ITEMS = exactk.Items(train=[[0, 1], [1]])
OF_OTHERS = exactk.Items(train={"bob": ["film", "song", "book"]}, features=TAGS)
SAMPLED = np.random.default_rng(0).random((30, 9))
FILMS = {"ann": ["film"], "bob": ["film"]}
RATED = pd.DataFrame({"user": ["ann", "bob"], "item": [1, 2], "rating": [1.0, 5.0]})
FEW_FEATURES = exactk.Items(train={"ann": ["film"], "bob": ["silk"], "eve": ["silk"]}, features={"film": ["a", "b"]})
WARNED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ties": (of_scores(np.zeros((9, 5))), {}),
    "empty lists": ({"truth": [[0]] * 9, "predictions": [[]] * 9}, {"metrics": "popularity_rank@2", "items": ITEMS}),
    "disjoint users": ({"truth": {1: [2]}, "predictions": {3: [2]}}, {}),
    "disjoint items": ({"truth": {1: ["a"], 2: ["a"]}, "predictions": {1: ["b"], 2: ["b"]}}, {}),
    "exclusions": ({"truth": {1: [2]}, "predictions": {1: [2]}, "exclude": {3: [2]}}, {}),
    "excluded items": ({"truth": [[2]], "predictions": [[2]], "exclude": [[2]]}, {}),
    "all weights are 0": ({"truth": [[2]], "predictions": [[2]], "weights": [0.0]}, {}),
    "ratings": ({"truth": RATED, "predictions": {"ann": [1], "bob": [2]}}, {}),
    "unreached cutoffs": ({"truth": [[1]], "predictions": [[1]]}, {"metrics": "recall@50"}),
    "train": (of_user("ann", "film", "film"), {"metrics": "calibration@1", "items": OF_OTHERS}),
    "train without features": (
        {"truth": FILMS, "predictions": {**FILMS}},
        {"metrics": "calibration@1(missing_features=skip)", "items": FEW_FEATURES},
    ),
    "sampled candidates": (of_scores(SAMPLED), {"metrics": "recall@2"}),
}


@pytest.mark.parametrize("case", WARNED)
def test_warnings_come_with_the_values(case: str) -> None:
    arguments, setup = WARNED[case]
    setup = {"metrics": METRICS, **setup}
    evaluator = exactk.Evaluator(**setup)
    assert warnings_of(lambda: evaluator.update(**arguments)) == []
    expected = warnings_of(lambda: exactk.evaluate(**arguments, **setup))
    found = warnings_of(evaluator.compute)
    assert [text[:20] for text in found] == [text[:20] for text in expected] != []
    assert warnings_of(pickle.loads(pickle.dumps(evaluator)).compute) == found  # noqa: S301 - our own


MERGED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "ratings": (of_user("ann", 1, 1, truth=RATED[:1]), of_user("bob", 2, 2, truth=RATED[1:]), {}),
    "shared items": (of_user("ann", "film", "song"), of_user("bob", "song", "film"), {}),
    "exclusions": (of_user(1, 2, 2, exclude={3: [2]}), of_user(4, 2, 2, exclude={4: [3]}), {}),
    "exclusions of unknown users": (of_user(1, 2, 2), of_user(4, 2, 2, exclude={3: [3]}), {}),
    "an update without users": ({"truth": [], "predictions": []}, {"truth": {1: [2]}, "predictions": {3: [2]}}, {}),
    **{
        case: (of_user("ann", "film", "film"), of_user("bob", "film", "film"), WARNED[case][1])
        for case in ("train", "train without features")
    },
    "ties": (of_scores(np.zeros((9, 5))), {"truth": [[0]], "predictions": [[0]]}, {}),
    "sampled candidates": (of_scores(SAMPLED[:15]), of_scores(SAMPLED[15:]), {"metrics": "recall@2"}),
    "incomplete scores": (
        {"truth": [[1], [9]], "predictions": np.eye(2, 5)},
        {"truth": [[1]], "predictions": [[(1, 0.5), (2, 0.25)]]},
        {},
    ),
}


@pytest.mark.parametrize("case", MERGED)
def test_merged_evaluators_warn_as_one(case: str) -> None:
    one, other, setup = MERGED[case]
    setup = {"metrics": METRICS, **setup}
    evaluator, *parts = (exactk.Evaluator(**setup) for _ in range(3))
    for part, arguments in zip(parts, (one, other), strict=True):
        evaluator.update(**arguments)
        part.update(**arguments)
    parts[0].merge(parts[1])
    assert warnings_of(parts[0].compute) == warnings_of(evaluator.compute)
    apart = exactk.Evaluator(**setup)
    apart.update(**one)
    assert warnings_of(apart.compute) != warnings_of(evaluator.compute), "the case shows nothing"


def test_warnings_about_columns_come_with_the_values() -> None:
    frame = pd.DataFrame({"user": ["ann", "bob"], "item": [1, 2], "plays": [1.0, 5.0]})
    evaluator = exactk.Evaluator("mrr")
    assert warnings_of(lambda: evaluator.update(frame, {"ann": [1], "bob": [2]})) == []
    frame = frame.rename(columns={"plays": "points"}).assign(user=["eve", "kim"])
    assert warnings_of(lambda: evaluator.update(frame, {"eve": [1], "kim": [2]})) == []
    for one in (evaluator, pickle.loads(pickle.dumps(evaluator))):  # noqa: S301 - our own
        (text,) = warnings_of(one.compute)
        assert text.startswith("truth: every item counts as relevant, because no grade column was found")
        assert "; exactk.as_truth(truth, grade='plays') uses it as grades, " in text


UNUSUAL = pd.DataFrame({"who": ["ann", "bob"], "item": [1, 2], "points": [1.0, 2.0]})
KEYED = {"ann": [1], "bob": [2]}
HINTS: dict[str, tuple[dict[str, Any], str]] = {
    "truth": ({"truth": UNUSUAL}, "exactk.as_truth(truth, user='who')"),
    "predictions": (
        {"predictions": UNUSUAL.rename(columns={"who": "user"})},
        "exactk.as_predictions(predictions, score='points') or exactk.as_predictions(predictions, rank='points')",
    ),
    "exclude": ({"exclude": UNUSUAL}, "exactk.as_exclusions(exclude, user='who')"),
    "candidates": ({"candidates": UNUSUAL}, "exactk.as_exclusions(candidates, user='who')"),
    "weights": ({"weights": UNUSUAL[["who", "points"]]}, "; rename it 'user'"),
}


@pytest.mark.parametrize("case", HINTS)
def test_hints_name_no_argument_that_updates_lack(case: str) -> None:
    argument, hint = HINTS[case]
    arguments: dict[str, Any] = {"truth": KEYED, "predictions": {**KEYED}} | argument
    evaluator = exactk.Evaluator("mrr")
    with pytest.raises(exactk.InputError, match=re.escape(hint) + "$") as caught:
        evaluator.update(**arguments)
    if case in {"truth", "exclude", "candidates"}:  # what they say works
        code = str(caught.value).rpartition("for example with ")[2]
        evaluator.update(**arguments | {case: eval(code, {"exactk": exactk, case: arguments[case]})})  # noqa: S307
        assert evaluator.compute().counts["users"] == 2


def test_threads_take_turns() -> None:
    rng = np.random.default_rng(0)
    truth, scores = rng.random((400, 30)) < 0.1, rng.random((400, 30))
    evaluator = exactk.Evaluator(METRICS, num_threads=1)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: evaluator.update(truth[i : i + 4], scores[i : i + 4]), range(0, 400, 4)))
    assert evaluator.state == exactk.evaluate(truth, scores, METRICS).state


def test_what_it_prints() -> None:
    assert repr(filled()) == "<Evaluator of 2 users: ndcg@2, recall@2, map; convention standard>"
    other = exactk.Evaluator("mrr", convention={"ties": "highest_id"})
    assert repr(other).startswith("<Evaluator of 0 users: mrr; convention")


def test_sums_are_all_that_is_kept() -> None:
    """What a pickle has does not grow with users without keys, or with their lists."""
    evaluator = exactk.Evaluator(METRICS)
    sizes = []
    for _ in range(3):
        evaluator.update(np.arange(600).reshape(200, 3), np.random.default_rng(0).random((200, 700)))
        sizes.append(len(pickle.dumps(evaluator)))
    assert max(sizes) < 1.1 * min(sizes) < 5_000


def test_arguments_are_those_of_evaluate() -> None:
    of_evaluate = inspect.signature(exactk.evaluate).parameters
    for method in (exactk.Evaluator, exactk.Evaluator.update):
        for name, parameter in inspect.signature(method).parameters.items():
            if name not in {"self", "metrics", "predictions"}:
                same = of_evaluate[name]
                assert (parameter.annotation, parameter.default) == (same.annotation, same.default), name


def test_an_update_without_items_does_not_hide_that_ids_differ() -> None:
    """Of lists without items it is not known whether items have keys."""
    evaluator = exactk.Evaluator("mrr")
    evaluator.update([[]], [[]])
    evaluator.update([["a"]], [["b"]])
    (text,) = warnings_of(evaluator.compute)
    assert text.startswith("no item of the truth (such as 'a') is in the predictions (such as 'b'): ")


def test_items_of_any_updates_are_known() -> None:
    """Whether an item of a truth is in any list, of the same update or of another, before or after."""
    rng = np.random.default_rng(0)
    updates = [
        ([[int(i)] for i in rng.choice(500, 9)], [[1000 + int(i)] for i in rng.choice(500, 9)]) for _ in range(40)
    ]
    evaluators = [exactk.Evaluator("mrr"), exactk.Evaluator("mrr")]
    for number, (truth, lists) in enumerate(updates):
        evaluators[number % 2].update(truth, lists)
    evaluators[0].merge(evaluators[1])
    assert [text[:20] for text in warnings_of(evaluators[0].compute)] == ["no item of the truth"]
    for number in range(3):
        evaluator = copy.deepcopy(evaluators[0])
        evaluator.update([[2000]], [updates[number][0][4]])
        assert warnings_of(evaluator.compute) == []


def time_of_late_updates() -> float:
    """Return how many times as long the last of 1,000 updates take as the first, of items that are in no list."""
    evaluator, seconds = exactk.Evaluator("mrr", num_threads=1), []
    for begin in range(0, 40_000, 40):
        truth = [[f"a{i}"] for i in range(begin, begin + 40)]
        lists = [[f"b{i}", f"c{i}"] for i in range(begin, begin + 40)]
        seconds.append(cpu_seconds(partial(evaluator.update, truth, lists)))
    return float(np.median(seconds[-200:]) / np.median(seconds[:200]))


def time_updates() -> None:
    assert_ratio("late updates", time_of_late_updates, 4)


@pytest.mark.deadline
def test_updates_cost_the_same_whatever_came_before() -> None:
    """Also while no item of a truth has been in any list, so that all items are kept."""
    run_child(time_updates)


def test_merged_evaluators_share_nothing_that_threads_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if another thread updated one evaluator in the middle of an update of the other."""
    evaluator, other = exactk.Evaluator(METRICS), filled()
    evaluator.merge(other)
    extend = Vocabulary.extend

    def interleaved(*arguments: Any) -> Any:
        monkeypatch.undo()
        other.update({"eve": ["film"]}, {"eve": ["film"]})
        return extend(*arguments)

    monkeypatch.setattr("exactk._engine.updates.Vocabulary.extend", interleaved)
    evaluator.update({"kim": ["film"]}, {"kim": ["film"]})
    assert evaluator.compute().users.tolist() == ["ann", "sam", "kim"]
    assert other.compute().users.tolist() == ["ann", "sam", "eve"]
