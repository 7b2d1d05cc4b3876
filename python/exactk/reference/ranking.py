"""From scores to a ranking: in the order of the numbers themselves, none of them rounded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING

import numpy as np

from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._plan.conventions import STRICT_TIES
from exactk._runtime.errors import input_error
from exactk.reference.similarity import check_vectors, similarities

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from exactk._engine.topk import Best, TopKProblem
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.predictions import Scored


@dataclass(frozen=True)
class Row:
    """The items that have a score for a user, in the order in which they are stored."""

    places: Sequence[int]  # columns of a matrix, or positions among the user's candidates
    ids: Sequence[int]
    scores: Sequence[float]

    def ranking(self, excluded: Container[int], min_score: float | None, *, ties: str, nan: str) -> list[list[int]]:
        """Return which of them may be recommended, best first, as indices into the three sequences.

        Those of one score are together, or one by one where `ties` orders them. Python compares integers and floats by their values, whatever their sizes.
        """
        items = [i for i, score in enumerate(self.scores) if min_score is None or score >= min_score]
        items = [i for i in items if self.ids[i] not in excluded]
        if ties != "input_order":  # of one id, the first stays first
            items.sort(key=lambda i: self.ids[i], reverse=ties == "highest_id")
        numbers = [i for i in items if not _is_nan(self.scores[i])]
        assert nan == "last" or len(numbers) == len(items)  # noqa: S101 - `check_nan` has seen to it
        best_first = sorted(numbers, key=lambda i: self.scores[i], reverse=True)  # of equal ones, the first stays first
        last = [i for i in items if _is_nan(self.scores[i])]
        if ties in STRICT_TIES:
            return [[i] for i in best_first + last]
        groups = [list(group) for _, group in groupby(best_first, key=lambda i: self.scores[i])]
        return groups + ([last] if last else [])


def row_of(predictions: Scored, columns: CandidateItems | None, user: int) -> Row:
    """Return what has a score for the user, and may be ranked unless it is excluded."""
    if not isinstance(predictions, SparseScores):
        scores = (
            similarities(predictions, user)
            if isinstance(predictions, CanonicalEmbeddings)
            else predictions.values[user]
        )
        row = scores.tolist()
        places = range(len(row)) if columns is None else columns.row(user).tolist()
        return Row(places, places, [row[place] for place in places])
    ids = predictions.lists.row(user).tolist()
    begin = int(predictions.indptr[user])
    return Row(range(len(ids)), ids, predictions.scores[begin : begin + len(ids)].tolist())


def rows_of(predictions: Scored, columns: CandidateItems | None) -> Iterator[Row]:
    """Return the row of each user."""
    return (row_of(predictions, columns, user) for user in range(len(predictions)))


def _is_nan(score: float) -> bool:
    return score != score  # noqa: PLR0124 - NaN alone differs from itself


def check_nan(predictions: Scored, columns: CandidateItems | None, argument: str) -> None:
    """Raise InputError if any score is NaN, even of an item that is excluded."""
    places = [
        (user, place)
        for user, row in enumerate(rows_of(predictions, columns))
        for place, score in zip(row.places, row.scores, strict=True)
        if _is_nan(score)
    ]
    if places:
        user, place = places[0]
        raise input_error(
            argument,
            "scores that are no NaN",
            "NaN",
            row=user,
            position=place,
            count=len(places),
            hint="nan='last' ranks them last",
        )


def check_repeats(argument: str, rows: Iterable[Sequence[int]]) -> None:
    """Raise InputError if an item is repeated within a row."""
    repeats = [
        (user, position, item)
        for user, row in enumerate(rows)
        for position, item in enumerate(row)
        if item in row[:position]
    ]
    if repeats:
        user, position, item = repeats[0]
        found = f"item {item} again"
        raise input_error(argument, "each item once", found, row=user, position=position, count=len(repeats))


def reference_ranker(question: TopKProblem) -> Best:
    """Return where the k best items of each user stand in what stores the scores, padded with -1."""
    scores, exclude = question.scores, question.exclude
    if question.ties not in {*STRICT_TIES, "raise"}:
        raise input_error("ties", "an order of the items alone, or 'raise'", repr(question.ties))
    if isinstance(scores, CanonicalEmbeddings):
        check_vectors(scores)
    if question.nan == "raise":
        check_nan(scores, question.candidates, "scores")
    check_repeats("scores", (row.ids for row in rows_of(scores, question.candidates)))
    places = np.full((len(scores), question.k), -1, np.int64)
    found = np.full(places.shape, np.nan) if isinstance(scores, CanonicalEmbeddings) else None
    tied = []
    for user, row in enumerate(rows_of(scores, question.candidates)):
        excluded = frozenset() if exclude is None else frozenset(exclude.row(user).tolist())
        begin = int(scores.indptr[user]) if isinstance(scores, SparseScores) else 0
        groups = row.ranking(excluded, scores.min_score, ties=question.ties, nan=question.nan)
        best = list(chain.from_iterable(groups))[: question.k]
        places[user, : len(best)] = [begin + row.places[i] for i in best]
        if found is not None:
            found[user, : len(best)] = [row.scores[i] for i in best]
        firsts = np.cumsum([0, *map(len, groups)])[:-1]
        if any(len(group) > 1 and first < question.k for group, first in zip(groups, firsts, strict=True)):
            tied.append(user)
        question.finished(user + 1)
    if tied:
        raise input_error("scores", "scores that no two of the best items share", "a tie", row=tied[0], count=len(tied))
    return places, found
