"""From scores to a ranking: in the order of the numbers themselves, none of them rounded."""

from __future__ import annotations

from itertools import chain, groupby
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
) -> list[list[int]]:
    """Return the items that may be recommended to a user, best first: those of one score together.

    These are one by one where `ties` orders them by their ids. Python compares integers and floats by
    their values, whatever their sizes.
    """
    items = [item for item, score in enumerate(scores) if min_score is None or score >= min_score]
    items = [item for item in items if item not in excluded]
    if ties == "highest_id":
        items.reverse()
    numbers = [item for item in items if not _is_nan(scores[item])]
    assert nan == "last" or len(numbers) == len(items)  # noqa: S101 - `check_nan` has seen to it
    best_first = sorted(numbers, key=lambda item: scores[item], reverse=True)  # of equal ones, the first stays first
    last = [item for item in items if _is_nan(scores[item])]
    if ties in {"lowest_id", "highest_id"}:
        return [[item] for item in best_first + last]
    groups = [list(group) for _, group in groupby(best_first, key=lambda item: scores[item])]
    return groups + ([last] if last else [])


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
    if question.ties not in {"lowest_id", "highest_id", "raise"}:
        raise input_error("ties", "an order of the items alone, or 'raise'", repr(question.ties))
    if question.nan == "raise":
        check_nan(scores, "scores")
    ids = np.full((len(scores), question.k), -1, np.int64)
    tied = []
    for user, row in enumerate(scores.values.tolist()):
        excluded = frozenset() if exclude is None else frozenset(exclude.row(user).tolist())
        groups = rank(row, excluded, scores.min_score, ties=question.ties, nan=question.nan)
        best = list(chain.from_iterable(groups))[: question.k]
        ids[user, : len(best)] = best
        firsts = np.cumsum([0, *map(len, groups)])[:-1]
        if any(len(group) > 1 and first < question.k for group, first in zip(groups, firsts, strict=True)):
            tied.append(user)
    if tied:
        raise input_error("scores", "scores that no two of the best items share", "a tie", row=tied[0], count=len(tied))
    return ids
