"""The best items of each user: what a matrix of scores recommends."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metrik import _core
from metrik._conventions import checked_choice
from metrik._errors import input_error
from metrik._inputs import Exclude, Scores, as_exclude
from metrik._isa import wanted_isa
from metrik._metrics import checked_cutoff
from metrik._threads import settled_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TopK(NamedTuple):
    """The best items of each user and their scores, best first, padded at the end of a row.

    Attributes
    ----------
    ids : array of int64, shape (n_users, k)
        Column numbers, and -1 as padding: as `metrik.evaluate` takes rankings.
    scores : array of the matrix's type, shape (n_users, k)
        Their scores; NaN as padding, or 0 where they are integers.
    """

    ids: NDArray[np.int64]
    scores: NDArray[Any]


class Question(NamedTuple):
    """What is asked of each user, past waist 1."""

    scores: Scores
    k: int
    exclude: Exclude | None
    ties: str
    nan: str
    num_threads: int


Ranker = Callable[[Question], "NDArray[np.int64]"]

_PLACES = 1 << 20  # that are looked up at a time


def ranked(
    ranker: Ranker, scores: object, k: object, exclude: object, ties: object, nan: object, num_threads: object
) -> TopK:
    """Rank by the given ranker; the other arguments are those of `metrik.topk`."""
    question = Question(
        scores if isinstance(scores, Scores) else Scores.named(scores, "scores"),
        checked_cutoff(k),
        as_exclude(exclude),
        checked_choice("ties", ties, "ties"),
        checked_choice("nan", nan, "nan"),
        settled_threads(num_threads),
    )
    users = len(question.scores)
    if question.exclude is not None and len(question.exclude) != users:
        raise input_error("exclude", f"one entry for each of {users} users", str(len(question.exclude)))
    ids = ranker(question)
    return TopK(ids, _scores_of(ids, question.scores.values))


def _scores_of(ids: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    """Look the scores up some places at a time: signals are handled in between."""
    padding = math.nan if values.dtype.kind == "f" else 0
    if values.shape[1] == 0:
        return np.full(ids.shape, padding, values.dtype)
    best = np.empty(ids.shape, values.dtype)
    users, k = ids.shape
    block = max(1, _PLACES // k)
    for user, place in product(range(0, users, block), range(0, k, _PLACES)):
        some = np.s_[user : user + block, place : place + _PLACES]
        found = np.take_along_axis(values[user : user + block], np.maximum(ids[some], 0), axis=1)
        best[some] = np.where(ids[some] >= 0, found, padding)
    return best


def _core_ranker(question: Question) -> NDArray[np.int64]:
    """Have the C++ core rank."""
    return _core.topk(
        question.scores.core,
        question.k,
        None if question.exclude is None else question.exclude.core,
        question.ties,
        question.nan,
        question.num_threads,
        wanted_isa(),
    )


def topk(
    scores: object,
    k: int,
    exclude: object = None,
    *,
    ties: str = "lowest_id",
    nan: str = "raise",
    num_threads: int | None = None,
) -> TopK:
    """Return the k items of the highest scores of each user, best first.

    Parameters
    ----------
    scores : Scores, or two-dimensional array of float or int
        A score for each user (row) and item (column).
    k : int
        How many, in [1, 2^31). It may be more than there are items.
    exclude : Exclude, Truth, list of sequences, or two-dimensional array, optional
        Items that are not to be ranked for each user, such as training items.
    ties : {"lowest_id", "highest_id", "raise"}
        Which of several items of one score comes first, or an error if one of the k best is of several.
        The other choices of a convention need a truth.
    nan : {"raise", "last"}
        What a score that is NaN means: an error, or less than every other.
    num_threads : int, optional
        As `metrik.evaluate` takes it. No number changes the result.

    Returns
    -------
    TopK
        The named tuple ``(ids, scores)``, both of shape (n_users, k). Where a user has fewer than k items,
        the rest of the row is padding: id -1, score NaN (0 where scores are integers).

    Raises
    ------
    InputError, InputTypeError
        If an argument is not what it must be: which, what was expected, what came, where first.
    CapacityError
        If the result needs more memory than there is.

    Examples
    --------
    >>> import metrik
    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.9, 0.5, 0.9], [0.7, 0.2, 0.3, 0.1]])
    >>> best = metrik.topk(scores, k=3, exclude=[[2], []])
    >>> best.ids
    array([[1, 3, 0],
           [0, 2, 1]])
    >>> best.scores
    array([[0.9, 0.9, 0.1],
           [0.7, 0.3, 0.2]])
    >>> metrik.topk(metrik.Scores(scores, min_score=0.5), k=2, ties="highest_id").ids
    array([[ 3,  1],
           [ 0, -1]])
    """
    return ranked(_core_ranker, scores, k, exclude, ties, nan, num_threads)
