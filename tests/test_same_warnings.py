"""The same data warns of the same, whatever container holds it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import exactk
import warned

SCORED_ITEMS: dict[str, dict[str, float]] = {"ann": {"film": 0.5, "book": 0.4}, "bob": {"song": 0.25}}
RELEVANT: dict[str, list[str]] = {"ann": ["film", "tape"], "bob": ["song"]}
SCORED_FRAME = pd.DataFrame(
    [(user, item, score) for user, scores in SCORED_ITEMS.items() for item, score in scores.items()],
    columns=["user", "item", "score"],
)
BY_USER_AND_ITEM: dict[str, tuple[Any, Callable[[], Any]]] = {
    "frame": (RELEVANT, lambda: SCORED_FRAME),
    "batches": (RELEVANT, lambda: exactk.Batches(lambda: [SCORED_FRAME])),
    "mapping": (RELEVANT, lambda: SCORED_ITEMS),
    "lists": (list(RELEVANT.values()), lambda: list(SCORED_ITEMS.values())),
    "lists of pairs": (list(RELEVANT.values()), lambda: [list(scores.items()) for scores in SCORED_ITEMS.values()]),
    "blocks of frames": (None, lambda: iter([(RELEVANT, SCORED_FRAME)])),
    "blocks of lists": (None, lambda: iter([([RELEVANT[user]], [SCORED_ITEMS[user]]) for user in RELEVANT])),
}
"""What a system scored best, which leaves out a relevant item."""


@pytest.mark.parametrize("container", BY_USER_AND_ITEM)
def test_f44_items_that_were_not_scored_are_no_cause_for_alarm(container: str) -> None:
    truth, build = BY_USER_AND_ITEM[container]
    report = exactk.evaluate(truth, build(), "recall")  # warnings are errors
    assert (report["recall"], report.counts["relevant_not_rankable"]) == (0.75, 1)
    if truth is not None:
        assert exactk.compare(truth, {"a": build()}, "recall").reports["a"].state == report.state


MATRIX = np.array([[0.5, 0.4], [0.25, 0.1]])
ALL_ITEMS: dict[str, Callable[[], Any]] = {
    "matrix": lambda: MATRIX,
    "SciPy": lambda: scipy.sparse.csr_array(MATRIX),
    "CSR": lambda: exactk.SparseScores([0, 2, 4], [0, 1, 0, 1], MATRIX.ravel()),
    "pickled": lambda: pickle.loads(pickle.dumps(exactk.as_predictions(scipy.sparse.csr_array(MATRIX)))),  # noqa: S301
    "rounded": lambda: exactk.SparseScores([0, 2, 4], [0, 1, 0, 1], MATRIX.ravel(), min_score=0.0),
}


@pytest.mark.parametrize("container", ALL_ITEMS)
def test_f44_items_without_a_column_are(container: str) -> None:
    message = "1 relevant item has no column in the scores"
    truth, predictions = [[0, 7], [1]], ALL_ITEMS[container]()
    unusual: dict[str, Any] = {"convention": {"score_dtype": "float32", "negative_infinity": "exclude"}}
    for options in ({}, unusual):
        with pytest.warns(exactk.EvaluationWarning, match=f"^{message}"):
            exactk.evaluate(truth, predictions, "recall", **options)
        with pytest.warns(exactk.EvaluationWarning, match=f"^{message}"):
            exactk.evaluate(None, iter([(truth, predictions)]), "recall", **options)
        keyed = exactk.Truth([0, 2, 3], [0, 7, 1], users=["ann", "bob"])
        run = {"ann": {0: 0.5}, "bob": {1: 0.5}}
        for systems in ({"matrix": predictions, "run": run}, {"run": run, "matrix": predictions}):
            with pytest.warns(exactk.EvaluationWarning, match=f"^system 'matrix': {message}"):
                exactk.compare(keyed, systems, "recall", **options)


KEYED = exactk.Scores(MATRIX, users=["ann", "bob"], items=["film", "song"])
VECTORS = exactk.Embeddings([[1.0]], [[1.0], [2.0]])
EXAMPLES: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "numbers": ([[0], [1, 7, 9]], MATRIX, {}, "count as misses (such as item 7, beyond columns 0 to 1)"),
    "vectors": ([[5]], VECTORS, {}, "counts as a miss (such as item 5, beyond columns 0 to 1)"),
    "no columns": ([[5]], np.zeros((1, 0)), {}, "counts as a miss (such as item 5)"),
    "grades": (
        [{0: 3.0, 7: 1.0}, {1: 3.0, 8: 2.0}], MATRIX, {"convention": {"min_grade": 2}},
        "counts as a miss (such as item 8, beyond columns 0 to 1)",
    ),
    "grade 0": ([{7: 0.0}, {1: 3.0, 8: 2.0}], MATRIX, {}, "counts as a miss (such as item 8, beyond columns 0 to 1)"),
    "any grade": (
        [{7: 0.0}, {1: 3.0}], MATRIX, {"convention": {"min_grade": "any"}},
        "counts as a miss (such as item 7, beyond columns 0 to 1)",
    ),
    "keys": ({"bob": ["film", "Song"], "ann": ["film"]}, KEYED, {}, "counts as a miss (such as item 'Song')"),
    "of a user with scores": ({"eve": ["play"], "ann": ["Song"]}, KEYED, {}, "counts as a miss (such as item 'Song')"),
    "a column without a score": ([[0], [1]], -np.inf / MATRIX, {"convention": {"negative_infinity": "exclude"}}, "count as misses"),
}  # fmt: skip


@pytest.mark.parametrize("case", EXAMPLES)
def test_an_item_without_a_column_is_named(case: str) -> None:
    truth, predictions, options, end = EXAMPLES[case]
    calls: tuple[Callable[[], Any], ...] = (
        lambda: exactk.evaluate(truth, predictions, "recall", **options),
        lambda: exactk.compare(truth, {"a": predictions}, "recall", **options),
        lambda: exactk.evaluate(None, iter([(truth, predictions)]), "recall", **options),
    )
    for call in calls:
        texts = warned.warnings_of(call)
        assert [text.endswith(f", and {end}") for text in texts if "no column" in text] == [True]


def warnings_of(truth: Any, predictions: Any, call: Callable[..., Any] = exactk.evaluate, **options: Any) -> list[str]:
    """Return the warnings, without examples of items, which only what is kept can give."""
    texts = warned.warnings_of(partial(call, truth, predictions, "recall", **options))
    return list(map(warned.without_examples, texts))


TRUTH = {7: [0, 1], 8: [2], 9: [3]}
LISTS: dict[str, dict[int, list[int]]] = {
    "other items": {7: [50, 51], 8: [52], 9: [53, 54]},
    "items of another user": {7: [50, 2], 8: [52], 9: [53, 54]},
    "items of an earlier user": {7: [50, 51], 8: [52], 9: [53, 0]},
    "a hit": {7: [50, 51], 8: [2], 9: [53, 54]},
    "empty lists": {7: [], 8: [], 9: []},
    "other users": {1: [0, 1], 2: [2], 3: [3]},
}
DISJOINT = {
    "other items": "no item of the truth is in the predictions: check that both use the same item ids",
    "other users": "no user of the truth is in the predictions: check that both use the same user ids",
}


def frame_of(lists: dict[int, list[int]], kind: Callable[[int], Any]) -> pd.DataFrame:
    rows = [(user, kind(item), -rank) for user, items in lists.items() for rank, item in enumerate(items)]
    return pd.DataFrame(rows, columns=["user", "item", "score"])


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("case", LISTS)
def test_f44_disjoint_keys_are_told_of_whatever_holds_them(case: str, kind: Callable[[int], Any]) -> None:
    truth = {user: list(map(kind, items)) for user, items in TRUTH.items()}
    lists = {user: list(map(kind, items)) for user, items in LISTS[case].items()}
    pairs = zip(truth.items(), lists.items(), strict=True)
    blocks = [(dict([relevant]), dict([ranked])) for relevant, ranked in pairs]
    expected = [DISJOINT[case]] if case in DISJOINT else ["no list has an item"] if case == "empty lists" else []
    assert warnings_of(truth, lists) == expected
    assert warnings_of(None, iter([(truth, lists)])) == expected
    assert warnings_of(None, iter(blocks)) == expected
    if case != "empty lists":
        frame = frame_of(LISTS[case], kind)
        assert warnings_of(truth, frame) == expected
        assert warnings_of(truth, exactk.Batches(lambda: [frame[:2], frame[2:]])) == expected


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("field", ["empty_truth", "empty_list", "missing_list"])
def test_a_user_who_counts_as_1_is_no_hit(field: str, kind: Callable[[int], Any]) -> None:
    judged, listed = (1, 2) if field == "missing_list" else (1, 1)
    relevant = [] if field == "empty_truth" else [kind(4)]
    truth = {0: [kind(3)], judged: relevant}
    lists = {0: [kind(50)], listed: [] if field == "empty_list" else [kind(51)]}
    blocks = [({user: items}, {user: lists[user]} if user in lists else {}) for user, items in truth.items()]
    options: dict[str, Any] = {"convention": {field: "one"}}
    with pytest.warns(exactk.EvaluationWarning):
        assert exactk.evaluate(truth, lists, "recall", **options)["recall"] == 0.5  # one of both users counts as 1
    expected = [DISJOINT["other items"]]
    assert warnings_of(truth, lists, **options) == expected
    assert warnings_of(truth, lists, per_user=True, **options) == expected
    assert warnings_of(None, iter(blocks), **options) == expected


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("case", DISJOINT)
def test_examples_of_both_sides_are_told_whatever_holds_them(case: str, kind: Callable[[int], Any]) -> None:
    truth = {user: list(map(kind, items)) for user, items in TRUTH.items()}
    lists = {user: list(map(kind, items)) for user, items in LISTS[case].items()}
    pairs = zip(truth.items(), lists.items(), strict=True)
    blocks = [(dict([relevant]), dict([ranked])) for relevant, ranked in pairs]
    frame, evaluator = frame_of(LISTS[case], kind), exactk.Evaluator("recall")
    for relevant, ranked in blocks:
        evaluator.update(relevant, ranked)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: exactk.evaluate(truth, lists, "recall"),
        lambda: exactk.evaluate(truth, frame, "recall"),
        lambda: exactk.evaluate(truth, exactk.Batches(lambda: [frame[:2], frame[2:]]), "recall"),
        lambda: exactk.evaluate(None, iter(blocks), "recall"),
        evaluator.compute,
    )
    (expected,) = warned.warnings_of(calls[0])
    assert expected.count("(such as ") == 2
    assert [warned.warnings_of(call) for call in calls] == [[expected]] * len(calls)


@pytest.mark.parametrize("count", [3, 40])
def test_f44_few_items_without_keys_may_well_be_others(count: int) -> None:
    truth, lists = [[user] for user in range(count)], [[user + 1000] for user in range(count)]
    expected = [DISJOINT["other items"]] if count > 32 else []
    blocks = [([relevant], [ranked]) for relevant, ranked in zip(truth, lists, strict=True)]
    assert warnings_of(truth, lists) == warnings_of(None, iter(blocks)) == expected
    assert warnings_of(None, iter([*blocks, ([[0]], np.ones((1, 2)))])) == []  # a matrix, and a hit


EXCLUSIONS: dict[str, tuple[dict[int, list[int]], bool]] = {
    "other users": ({1: [50], 2: [2]}, True),
    "a user of the truth": ({1: [50], 8: [54]}, False),
    "a user of the predictions": ({1: [50], 10: [54]}, False),
    "no items": ({1: []}, False),
    "no users": ({}, False),
}


@pytest.mark.parametrize("make", [dict, exactk.as_exclusions])
@pytest.mark.parametrize("case", EXCLUSIONS)
def test_exclusions_of_other_users(case: str, make: Callable[[Any], Any]) -> None:
    exclude, warns = EXCLUSIONS[case]
    lists = {**LISTS["a hit"], 10: [55]}
    frame = frame_of(lists, int)
    message = "no user of exclude is in the truth or the predictions: check that all use the same user ids"
    together, apart = [frame[:2], frame[2:]], [frame[::2], frame[1::2]]
    for predictions in (lists, frame, exactk.Batches(together.copy), exactk.Batches(apart.copy)):
        assert warnings_of(TRUTH, predictions, exclude=make(exclude)) == [message] * warns
    assert warnings_of(None, iter([(TRUTH, lists)]), exclude=make(exclude)) == [message] * warns
    systems = {"one": lists, "other": frame}
    for truth, value in ((TRUTH, systems), (None, iter([(TRUTH, systems)]))):
        assert warnings_of(truth, value, exactk.compare, exclude=make(exclude)) == [message] * warns


def evaluate_block(truth: Any, predictions: Any) -> exactk.Report:
    return exactk.evaluate(None, iter([(truth, predictions)]), "recall@1")


def compute_update(truth: Any, predictions: Any) -> exactk.Report:
    evaluator = exactk.Evaluator("recall@1")
    evaluator.update(truth, predictions)
    return evaluator.compute()


@pytest.mark.parametrize("evaluate", [evaluate_block, compute_update])
def test_one_block_or_update_is_told_what_all_users_at_once_are(evaluate: Callable[..., exactk.Report]) -> None:
    """Scores of keyed items tell whether the truth has any of them, where there are no others."""
    truth, scores = {"ann": ["film"]}, exactk.Scores(np.eye(1, 2), users=["ann"], items=["a", "b"])
    expected = warned.warnings_of(lambda: exactk.evaluate(truth, scores, "recall@1"))
    assert any(text.startswith("no item of the truth (such as 'film')") for text in expected)
    assert warned.warnings_of(lambda: evaluate(truth, scores)) == expected
    scored, nameless = SCORED_FRAME, SCORED_FRAME.rename(columns={"item": "thing"})[["user", "thing"]]
    for function in (partial(exactk.evaluate, metrics="recall@1"), evaluate):
        with pytest.raises(exactk.InputError, match="; the truth, which comes first, has a column 'score'"):
            function(scored, nameless)


JOINED: dict[str, list[str]] = {"ann": ["film book"], "bob": ["song"]}
APART: dict[str, list[str]] = {"ann": ["film", "book"], "bob": ["song"]}
APART_FRAME = pd.DataFrame([(user, item) for user, row in APART.items() for item in row], columns=["user", "item"])


def updates_of(truth: Any, predictions: Any, metrics: str) -> exactk.Report:
    evaluator = exactk.Evaluator(metrics)
    for user in truth:
        evaluator.update({user: truth[user]}, {user: predictions[user]})
    return evaluator.compute()


WAYS_OF_TEXTS: dict[str, Callable[[], Any]] = {
    "mappings": lambda: exactk.evaluate(JOINED, APART, "recall@1"),
    "with users": lambda: exactk.evaluate(JOINED, APART, "recall@1", per_user=True),
    "two systems": lambda: exactk.compare(JOINED, {"a": APART, "b": APART}, "recall@1"),
    "blocks": lambda: exactk.evaluate(None, iter([(JOINED, APART)]), "recall@1"),
    "batches": lambda: exactk.evaluate(
        JOINED, exactk.Batches(lambda: [APART_FRAME.assign(rank=[1, 2, 1])]), "recall@1"
    ),
    "ungrouped batches": lambda: exactk.evaluate(
        JOINED, exactk.Batches(lambda: [APART_FRAME.assign(rank=[1, 2, 1]).iloc[[0, 2, 1]]]), "recall@1"
    ),
    "updates": lambda: updates_of(JOINED, APART, "recall@1"),
}


@pytest.mark.parametrize("way", WAYS_OF_TEXTS)
def test_a_text_of_several_items_is_told_of_in_every_way(way: str) -> None:
    (text,) = warned.warnings_of(WAYS_OF_TEXTS[way])
    assert "truth: 'film book' is one item, and its parts are items too" in text


SCORES_APART = exactk.Scores(MATRIX, users=["ann", "bob"], items=["a", "b"])


@pytest.mark.parametrize("lists_first", [False, True])
def test_scores_beside_lists_are_told_of_in_blocks_and_updates_too(lists_first: bool) -> None:
    truth: dict[str, list[str]] = {"ann": ["x"], "bob": ["y"]}
    lists: dict[str, list[str]] = {"ann": ["x"], "bob": ["z"]}
    systems: dict[str, Any] = (
        {"lists": lists, "scores": SCORES_APART} if lists_first else {"scores": SCORES_APART, "lists": lists}
    )
    others = [
        ({f"{user} again": row for user, row in truth.items()}, {name: _again(one) for name, one in systems.items()})
    ]
    blocks = [(truth, systems), *others]
    texts = warned.warnings_of(lambda: exactk.compare(None, iter(blocks), "recall"))
    expected = "system 'scores': no item of the truth (such as 'x') is in the predictions (such as 'a')"
    assert [text.partition(": check")[0] for text in texts if "no item of the truth" in text] == [expected]


def _again(predictions: Any) -> Any:
    """Return the predictions of other users."""
    if isinstance(predictions, exactk.Scores):
        return exactk.Scores(predictions.values, users=["ann again", "bob again"], items=["a", "b"])
    return {f"{user} again": row for user, row in predictions.items()}


@pytest.mark.parametrize("convention", [{"undefined": "zero"}, {"calibration.undefined": "zero"}])
def test_what_the_convention_says_of_users_without_train_is_not_told(convention: Any) -> None:
    features = {"a": ["x"], "b": ["y"]}
    items = exactk.Items(["a", "b"], train={"ann": ["a"]}, features=features)
    truth = {"ann": ["a"], "bob": ["b"]}

    def of(**options: Any) -> list[str]:
        texts = warned.warnings_of(lambda: exactk.evaluate(truth, dict(truth), "calibration@2", items=items, **options))
        return [text for text in texts if "in train" in text]

    assert len(of()) == 1
    assert of(convention=convention) == []


def test_merged_comparisons_are_told_of_once() -> None:
    def compare() -> exactk.Comparison:
        return exactk.compare([[1]], {"a": [[1]], "b": [[2]]}, "ndcg@5")

    parts = [warned.result_and_warnings(compare)[0] for _ in range(2)]
    text = "all systems: no list is longer than 1, so the hits at 5 are those at 1"
    assert warned.warnings_of(lambda: exactk.merge(parts)) == [text]
    assert warned.warnings_of(lambda: exactk.merge(parts[:1])) == []


def test_a_fault_of_ungrouped_batches_names_their_system_once() -> None:
    frame = pd.DataFrame({"user": ["a", "b", "a"], "item": ["x", "y", "x"], "score": [3.0, 2.0, 1.0]})
    with pytest.raises(exactk.InputError) as caught:
        exactk.compare({"a": ["x"]}, {"sys": exactk.Batches(lambda: [frame])}, "recall")
    assert str(caught.value).count("'sys'") == 1


def test_a_truth_beside_an_iterator_is_refused_before_it_is_read() -> None:
    with pytest.raises(exactk.InputError, match=r"^truth: expected None with an iterator"):
        exactk.evaluate("/nowhere.csv", iter([]), "ndcg")
