"""One warning where candidates look like sampled negatives, and none on the other side of each border."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import exactk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RELEVANT = 5  # of all users
SAMPLED = "every user has 11 candidates, which look like sampled negatives: "
ADVICE = "the values are not those of all items, and may order systems otherwise; score all items"


def rows(irrelevant: int = 10, *, pool: int = 30, offsets: Sequence[int] = range(0, 40, 2)) -> list[list[int]]:
    """Return the relevant item and others of a pool, from another offset for each of 20 users."""
    return [[RELEVANT, *(6 + (start + i) % pool for i in range(irrelevant))] for start in offsets]


def truth_of(candidates: Sequence[object]) -> list[list[int]]:
    return [[RELEVANT]] * len(candidates)


def sparse(candidates: Sequence[Sequence[int]]) -> exactk.SparseScores:
    sizes = [len(row) for row in candidates]
    items = np.concatenate(candidates)
    scores = np.random.default_rng(5).random(len(items))
    return exactk.SparseScores(np.concatenate([[0], np.cumsum(sizes)]), items, scores)


def dense(users: int, items: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).random((users, items))


def messages_of(truth: Any, predictions: Any, metrics: Any = "ndcg@2", **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exactk.evaluate(truth, predictions, metrics, **options)
    assert {one.filename for one in caught} <= {__file__}
    return [str(one.message) for one in caught]


def is_sampled(candidates: Sequence[Sequence[int]], truth: Any = None, **options: Any) -> bool:
    messages = messages_of(truth_of(candidates) if truth is None else truth, sparse(candidates), **options)
    assert all("look like sampled negatives" in message for message in messages)
    return bool(messages)


def test_the_message() -> None:
    candidates = rows()
    assert messages_of(truth_of(candidates), sparse(candidates)) == [SAMPLED + ADVICE]
    truth = [[RELEVANT], [RELEVANT, 90]] * 10
    candidates = [row if user % 2 == 0 else [*row, 90] for user, row in enumerate(candidates)]
    irrelevant = "every user has 10 irrelevant candidates, which look like sampled negatives: "
    assert messages_of(truth, sparse(candidates)) == [irrelevant + ADVICE]


@pytest.mark.parametrize("container", ["scores", "lists"])
def test_negatives_drawn_with_replacement(container: str) -> None:
    """Candidates are sets, but repeated items show that as many were drawn for every user."""
    candidates = [[*row[:-1], row[1]] if user % 3 == 0 else row for user, row in enumerate(rows())]
    truth, predictions, _ = CONTAINERS[container]
    assert messages_of(truth, predictions, candidates=candidates) == [SAMPLED + ADVICE]
    distinct = [sorted(set(row)) for row in candidates]
    assert messages_of(truth, predictions, candidates=distinct) == []


def test_at_least_20_users() -> None:
    candidates = rows(offsets=range(0, 42, 2))
    assert is_sampled(candidates[:20])
    assert not is_sampled(candidates[:19])
    # Only users who have predictions and relevant items.
    assert is_sampled(candidates, [*truth_of(candidates)[:20], []])
    assert not is_sampled(candidates, [*truth_of(candidates)[:19], [], []])
    present = np.arange(21) < 20
    indptr = np.arange(22) * 11
    indptr[21] -= 11
    items = np.concatenate(candidates[:20])
    predictions = exactk.SparseScores(indptr, items, np.arange(220.0), present=present)
    assert messages_of(truth_of(candidates), predictions) == [SAMPLED + ADVICE]


def test_at_most_1000_irrelevant_candidates() -> None:
    offsets = range(0, 100_000, 5_000)
    assert is_sampled(rows(irrelevant=1_000, pool=200_000, offsets=offsets))
    assert not is_sampled(rows(irrelevant=1_001, pool=200_000, offsets=offsets))


def test_as_many_for_every_user() -> None:
    """Either candidates, or those of them that are not relevant."""
    candidates = rows()
    assert not is_sampled([*candidates[:-1], candidates[-1][:-1]])
    more_relevant = [*truth_of(candidates)[:-1], [RELEVANT, 90]]
    assert is_sampled([*candidates[:-1], [*candidates[-1], 90]], more_relevant)
    assert is_sampled([*candidates[:-1], [*candidates[-1][:-1], 90]], more_relevant)
    assert not is_sampled([*candidates[:-1], [*candidates[-1], 90, 91]], more_relevant)


def test_twice_as_many_items_as_candidates_of_a_user() -> None:
    """One list of all users, such as a part of the items, is no sample."""
    offsets = range(20)
    assert is_sampled(rows(pool=21, offsets=offsets))  # 22 items, with the relevant one
    assert not is_sampled(rows(pool=20, offsets=offsets))
    assert not is_sampled(rows(offsets=[0] * 20))


def test_more_than_half_of_the_users_have_other_candidates() -> None:
    """Those of a region or a shop, which many users share, are no sample."""
    shared = [2 * (user % 10) for user in range(20)]
    assert not is_sampled(rows(offsets=shared))
    assert is_sampled(rows(offsets=[*shared[:-1], 20]))


def test_every_relevant_item_is_a_candidate() -> None:
    """A first stage that retrieves as many items for every user misses some."""
    candidates = rows()
    truth = [*truth_of(candidates)[:-1], [RELEVANT, 99]]
    (message,) = messages_of(truth, sparse(candidates))
    assert "1 relevant item has no column in the scores" in message


def test_some_candidates_are_unjudged() -> None:
    """Labeled data, and evaluations of the judged items alone, are no samples."""
    candidates = rows()
    judged = [{item: float(item == RELEVANT) for item in row} for row in candidates]
    assert not is_sampled(candidates, judged)
    for grades in judged:
        del grades[max(grades)]
    assert is_sampled(candidates, judged)
    assert is_sampled(candidates, [{RELEVANT: 2.0, 6: 0.0}] * 20)


def test_relevant_is_what_the_convention_says() -> None:
    candidates = [row if user % 2 == 0 else [*row, 90] for user, row in enumerate(rows())]
    truth = [{RELEVANT: 5.0}, {RELEVANT: 5.0, 90: 3.0}] * 10
    assert is_sampled(candidates, truth)
    assert is_sampled(candidates, truth, convention={"min_grade": 3})
    assert not is_sampled(candidates, truth, convention={"min_grade": 4})


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [("auc", False), (["auc", "list_fill@2"], False), (["auc", "recall@2"], True), ("reciprocal_rank", True)],
)
def test_auc_is_kept_by_samples(metrics: Any, *, expected: bool) -> None:
    assert is_sampled(rows(), metrics=metrics) == expected


def names(row: Iterable[int]) -> list[str]:
    return [f"item{item}" for item in row]


CANDIDATES = rows()
KEYED = {f"user{user}": names(row) for user, row in enumerate(CANDIDATES)}
KEYED_TRUTH = {user: [f"item{RELEVANT}"] for user in KEYED}
SCORES = dense(20, 40)
LISTS = exactk.topk(SCORES, 40).items
SCORED = {user: {item: 1 / (1 + i) for i, item in enumerate(row)} for user, row in KEYED.items()}
FRAME = pd.DataFrame(
    [(user, item, score) for user, items in SCORED.items() for item, score in items.items()],
    columns=["user", "item", "score"],
)
USERS, ITEMS = list(KEYED), names(range(40))
EMBEDDINGS = dense(20, 3), dense(40, 3)


CONTAINERS: dict[str, tuple[Any, Any, Any]] = {
    "scores": (truth_of(CANDIDATES), SCORES, CANDIDATES),
    "lists": (truth_of(CANDIDATES), LISTS, CANDIDATES),
    "sparse scores": (truth_of(CANDIDATES), sparse(CANDIDATES), None),
    "embeddings": (truth_of(CANDIDATES), exactk.Embeddings(*EMBEDDINGS), CANDIDATES),
    "candidates of embeddings": (truth_of(CANDIDATES), exactk.Embeddings(*EMBEDDINGS, candidates=CANDIDATES), None),
    "keyed scores": (KEYED_TRUTH, exactk.Scores(SCORES, users=USERS[::-1], items=ITEMS[::-1]), KEYED),
    "keyed lists": (KEYED_TRUTH, dict.fromkeys(reversed(USERS), ITEMS), KEYED),
    "mapping": (KEYED_TRUTH, SCORED, None),
    "frame": (KEYED_TRUTH, FRAME, None),
    "mapping with candidates": (KEYED_TRUTH, dict.fromkeys(USERS, dict.fromkeys(ITEMS, 0.5)), KEYED),
    "batches": (KEYED_TRUTH, exactk.Batches(lambda: [FRAME[:100], FRAME[100:]]), None),
    "ungrouped batches": (KEYED_TRUTH, exactk.Batches(lambda: [FRAME[1::2], FRAME[::2]]), None),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
def test_every_container(evaluate: Any, container: str) -> None:
    truth, predictions, candidates = CONTAINERS[container]
    with pytest.warns(exactk.EvaluationWarning, match=SAMPLED):
        evaluate(truth, predictions, "recall@2", candidates=candidates)


@pytest.mark.parametrize("predictions", [SCORES, LISTS, exactk.Embeddings(*EMBEDDINGS)], ids=["scores", "lists", "emb"])
def test_candidates_of_no_sample(predictions: Any) -> None:
    assert messages_of(truth_of(CANDIDATES), predictions) == []
    assert messages_of(truth_of(CANDIDATES), predictions, candidates=CANDIDATES[0]) == []
    assert messages_of(truth_of(CANDIDATES), predictions, candidates=[*CANDIDATES[:-1], [RELEVANT, 1, 2]]) == []
    without_relevant = [*CANDIDATES[:-1], list(range(20, 31))]
    messages = messages_of(truth_of(CANDIDATES), predictions, candidates=without_relevant)
    assert not any("sampled" in message for message in messages)


def test_blocks_are_one_sample() -> None:
    """Their users count together, and one block with other candidates shows that there is no sample."""

    def blocks(candidates: Sequence[Sequence[int]]) -> Any:
        return ((truth_of(candidates[i : i + 10]), sparse(candidates[i : i + 10])) for i in (0, 10))

    assert messages_of(None, blocks(CANDIDATES)) == [SAMPLED + ADVICE]
    assert messages_of(None, blocks(CANDIDATES[:19])) == []
    assert messages_of(None, blocks([*CANDIDATES[:10], *([*row, 95] for row in CANDIDATES[10:])])) == []
    assert messages_of(None, blocks([*CANDIDATES[:10], *(row[:9] for row in CANDIDATES[10:19]), [RELEVANT]])) == []
    dense_blocks = ((truth_of(CANDIDATES[i : i + 10]), SCORES[i : i + 10]) for i in (0, 10))
    assert messages_of(None, dense_blocks, candidates=CANDIDATES) == [SAMPLED + ADVICE]


def test_judged_lists_too() -> None:
    with pytest.warns(exactk.EvaluationWarning, match=SAMPLED):
        exactk.judge(truth_of(CANDIDATES), SCORES, 2, candidates=CANDIDATES)


@pytest.mark.parametrize("column", [0, 39])
def test_scores_of_the_relevant_item_and_of_samples(column: int) -> None:
    """Stacked as the columns of dense scores, with the relevant item first or last."""
    message = f"every user has 40 scores and the relevant item in column {column}, which look like sampled negatives: "
    assert messages_of([[column]] * 20, SCORES) == [message + ADVICE]
    assert messages_of([[column]] * 19 + [[]], SCORES) == []
    assert messages_of([[column]] * 19, SCORES[:19]) == []
    assert messages_of([[column]] * 19 + [[7]], SCORES) == []
    assert messages_of([[column]] * 19 + [[column, 7]], SCORES) == []
    assert messages_of([[column]] * 20, SCORES, "auc") == []
    keyed = exactk.Scores(SCORES, items=names(range(40)))
    assert messages_of([[f"item{column}"]] * 20, keyed) == []
    assert messages_of([{column: 1.0}] * 20, SCORES, convention={"min_grade": 1}) == [message + ADVICE]
    blocks = (([[column]] * 10, SCORES[i : i + 10]) for i in (0, 10))
    assert messages_of(None, blocks) == [message + ADVICE]
    blocks = (([[one]] * 10, SCORES[:10]) for one in (column, 39 - column))
    assert messages_of(None, blocks) == []


def test_at_most_1000_irrelevant_columns() -> None:
    assert len(messages_of([[0]] * 20, dense(20, 1_001))) == 1
    assert messages_of([[0]] * 20, dense(20, 1_002)) == []


def test_one_warning_for_several_systems() -> None:
    truth = truth_of(CANDIDATES)
    systems: Any = {"a": SCORES, "b": -SCORES, "c": exactk.Embeddings(*EMBEDDINGS)}
    with pytest.warns(exactk.EvaluationWarning) as caught:
        exactk.compare(truth, systems, "ndcg@2", candidates=CANDIDATES)
    assert [str(one.message) for one in caught] == [f"all systems: {SAMPLED}{ADVICE}"]
    with pytest.warns(exactk.EvaluationWarning) as caught:
        exactk.compare(truth, {"all": SCORES, "some": sparse(CANDIDATES)}, "ndcg@2")
    assert [str(one.message) for one in caught] == [f"system 'some': {SAMPLED}{ADVICE}"]


@pytest.mark.filterwarnings("error")
def test_it_can_be_silenced() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*look like sampled negatives", exactk.EvaluationWarning)
        exactk.evaluate(truth_of(CANDIDATES), sparse(CANDIDATES), "recall@2")
        exactk.compare(truth_of(CANDIDATES), {"a": sparse(CANDIDATES), "b": SCORES}, "recall@2")
