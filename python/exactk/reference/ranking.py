"""Ranking by scores, compared exactly: no score is rounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.model.scores import CanonicalEmbeddings, Scores, SparseScores
from exactk._plan.fields import STRICT_TIES
from exactk.reference.distances import check_vectors, similarities
from exactk.reference.refusals import refuse, refuse_any, refuse_users

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from exactk._engine.problem import BestIndices, TopKProblem
    from exactk._inputs.model.lists import CandidateItems, Exclusions, Lists
    from exactk._inputs.model.scores import Scored
    from exactk._inputs.truth import Truth


@dataclass(frozen=True)
class ScoredRow:
    """The items that have a score for a user, in the order in which they are stored."""

    positions: Sequence[int]  # columns of a matrix, or positions among the user's candidates
    ids: Sequence[int]
    scores: Sequence[float]
    tie_ids: Sequence[int]  # what orders ties by id: the ids, or the order of their keys

    def ranking(self, excluded: Container[int], min_score: float | None, *, ties: str, nan: str) -> list[list[int]]:
        """Return the items that may be recommended, best first, as indices into the three sequences.

        Ties form one group, or one group per item if `ties` orders them. Python compares integers and floats of any
        size by value.
        """
        items = [i for i, score in enumerate(self.scores) if min_score is None or score >= min_score]
        items = [i for i in items if self.ids[i] not in excluded]
        if ties != "input_order":  # stable: of equal ids, the first stays first
            items.sort(key=lambda i: self.tie_ids[i], reverse=ties == "highest_id")
        without_nan = [i for i in items if not _is_nan(self.scores[i])]
        assert nan == "last" or len(without_nan) == len(items)  # noqa: S101 - ensured by `check_nan`
        best_first = sorted(
            without_nan, key=lambda i: self.scores[i], reverse=True
        )  # stable: of equal scores, the first stays first
        last = [i for i in items if _is_nan(self.scores[i])]
        if ties in STRICT_TIES:
            return [[i] for i in best_first + last]
        groups = [list(group) for _, group in groupby(best_first, key=lambda i: self.scores[i])]
        return groups + ([last] if last else [])

    def masked_items(self, min_score: float | None) -> set[int]:
        """Return the items that `min_score` drops and whose scores are -inf or NaN."""
        if min_score is None:
            return set()
        others = {
            item for item, score in zip(self.ids, self.scores, strict=True) if score >= min_score or score > -math.inf
        }
        return set(self.ids) - others


def scored_row(predictions: Scored, candidates: CandidateItems | None, user: int) -> ScoredRow:
    """Return the user's scored items, which may be ranked unless excluded."""
    if not predictions.has(user):
        return ScoredRow([], [], [], [])
    if isinstance(predictions, Scores):
        row = predictions.values[predictions.row_of(user)].tolist()
        return _row_of_columns(row, candidates, user, predictions.tie_ids)
    if isinstance(predictions, CanonicalEmbeddings):
        return _row_of_columns(similarities(predictions, user).tolist(), candidates, user, None)
    ids = predictions.lists.row(user).tolist()
    return ScoredRow(range(len(ids)), ids, numbers_of_row(predictions.lists, predictions.scores, user), ids)


def numbers_of_row(lists: Lists | Truth, numbers: NDArray[Any], user: int) -> list[Any]:
    """Return the numbers that lie beside the user's items."""
    begin = int(lists.indptr[user])
    row: list[Any] = numbers[begin : begin + len(lists.row(user))].tolist()
    return row


def excluded_items(exclude: Exclusions | None, user: int) -> frozenset[int]:
    """Return the user's excluded items."""
    return frozenset() if exclude is None else frozenset(exclude.row(user).tolist())


def _row_of_columns(
    row: list[float], candidates: CandidateItems | None, user: int, tie_ids: NDArray[np.int64] | None
) -> ScoredRow:
    """Return the scores of all columns, or of the user's candidates."""
    columns = range(len(row)) if candidates is None else candidates.row(user).tolist()
    by_column = columns if tie_ids is None else [int(tie_ids[column]) for column in columns]
    return ScoredRow(columns, columns, [row[column] for column in columns], by_column)


def scored_rows(predictions: Scored, candidates: CandidateItems | None) -> Iterator[ScoredRow]:
    """Return each user's row of scores."""
    return (scored_row(predictions, candidates, user) for user in range(len(predictions)))


def _is_nan(score: float) -> bool:
    return score != score  # noqa: PLR0124 - NaN alone differs from itself


def check_nan(predictions: Scored, candidates: CandidateItems | None, argument: str) -> None:
    """Raise InputError if any score is NaN, even of an item that is excluded."""
    cells = [
        (user, position)
        for user, row in enumerate(scored_rows(predictions, candidates))
        for position, score in zip(row.positions, row.scores, strict=True)
        if _is_nan(score)
    ]
    refuse_any(argument, "NaN", cells)


def check_repeats(argument: str, rows: Iterable[Sequence[int]]) -> None:
    """Raise InputError if an item is repeated within a row."""
    cells = [(user, i) for user, row in enumerate(rows) for i, item in enumerate(row) if item in row[:i]]
    refuse_any(argument, "repeated item", cells)


def reference_ranker(problem: TopKProblem) -> BestIndices:
    """Return the indices of each user's k best items in the score container, padded with -1."""
    scores, exclude = problem.scores, problem.exclude
    if problem.ties not in {*STRICT_TIES, "raise"}:
        refuse("ties", "no order of ties")
    if isinstance(scores, CanonicalEmbeddings):
        check_vectors(scores)
    if problem.nan == "raise":
        check_nan(scores, problem.candidates, "scores")
    check_repeats("scores", (row.ids for row in scored_rows(scores, problem.candidates)))
    indices = np.full((len(scores), problem.k), -1, np.int64)
    best_scores = np.full(indices.shape, np.nan) if isinstance(scores, CanonicalEmbeddings) else None
    tied = []
    for user, row in enumerate(scored_rows(scores, problem.candidates)):
        excluded = excluded_items(exclude, user)
        begin = int(scores.indptr[user]) if isinstance(scores, SparseScores) else 0
        groups = row.ranking(excluded, scores.min_score, ties=problem.ties, nan=problem.nan)
        best = list(chain.from_iterable(groups))[: problem.k]
        indices[user, : len(best)] = [begin + row.positions[i] for i in best]
        if best_scores is not None:
            best_scores[user, : len(best)] = [row.scores[i] for i in best]
        firsts = np.cumsum([0, *map(len, groups)])[:-1]
        if any(len(group) > 1 and first < problem.k for group, first in zip(groups, firsts, strict=True)):
            tied.append(user)
        if problem.report_progress is not None:
            problem.report_progress(user + 1)
    refuse_users("scores", "tie among the best items", tied)
    return indices, best_scores
