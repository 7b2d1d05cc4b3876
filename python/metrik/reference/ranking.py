"""From scores to a ranking: in the order of the numbers themselves, none of them rounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrik._errors import input_error

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from metrik._inputs import Scores
    from metrik._topk import Question


def rank(
    scores: Sequence[float], excluded: Container[int], min_score: float | None, *, ties: str, nan: str
) -> list[int]:
    """Return the items that may be recommended to a user, best first.

    Python compares integers and floats by their values, whatever their sizes.
    """
    items = [item for item, score in enumerate(scores) if min_score is None or score >= min_score]
    items = [item for item in items if item not in excluded]
    if ties == "highest_id":
        items.reverse()
    numbers = [item for item in items if not _is_nan(scores[item])]
    assert nan == "last" or len(numbers) == len(items)  # noqa: S101 - `check_nan` has seen to it
    best_first = sorted(numbers, key=lambda item: scores[item], reverse=True)  # of equal ones, the first stays first
    return best_first + [item for item in items if _is_nan(scores[item])]


def _is_nan(score: float) -> bool:
    return score != score  # noqa: PLR0124 - NaN alone differs from itself


def check_nan(scores: Scores, argument: str) -> None:
    """Raise InputError if any score is NaN, even of an item that is excluded."""
    places = np.argwhere(scores.values != scores.values).tolist()
    if places:
        user, item = places[0]
        raise input_error(
            argument,
            "scores that are no NaN",
            "NaN",
            row=user,
            position=item,
            count=len(places),
            hint="nan='last' ranks them last",
        )


def reference_ranker(question: Question) -> NDArray[np.int64]:
    """Return the ids of the k best items of each user, padded with -1."""
    scores, exclude = question.scores, question.exclude
    if question.nan == "raise":
        check_nan(scores, "scores")
    ids = np.full((len(scores), question.k), -1, np.int64)
    for user, row in enumerate(scores.values.tolist()):
        excluded = frozenset() if exclude is None else frozenset(exclude.row(user).tolist())
        best = rank(row, excluded, scores.min_score, ties=question.ties, nan=question.nan)[: question.k]
        ids[user, : len(best)] = best
    return ids
