"""The best items of each user: what scores recommend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metrik import _core
from metrik._conventions import checked_choice
from metrik._errors import input_error
from metrik._inputs import Candidates, Columns, Exclude, Scores, as_columns, as_exclude, as_scored, check_columns
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
        Column numbers or the ids of candidates, and -1 as padding: as `metrik.evaluate` takes rankings.
    scores : array of the scores' type, shape (n_users, k)
        Their scores; NaN as padding, or 0 where they are integers.
    """

    ids: NDArray[np.int64]
    scores: NDArray[Any]


class Question(NamedTuple):
    """What is asked of each user, past waist 1."""

    scores: Scores | Candidates
    k: int
    exclude: Exclude | None
    candidates: Columns | None  # beside a matrix alone
    ties: str
    nan: str
    num_threads: int


Ranker = Callable[[Question], "NDArray[np.int64]"]

_PLACES = 1 << 20  # that are looked up at a time


def ranked(
    ranker: Ranker,
    scores: object,
    k: object,
    exclude: object,
    candidates: object,
    ties: object,
    nan: object,
    num_threads: object,
) -> TopK:
    """Rank by the given ranker; the other arguments are those of `metrik.topk`."""
    question = Question(
        as_scored(scores),
        checked_cutoff(k),
        as_exclude(exclude),
        as_columns(candidates),
        checked_choice("ties", ties, "ties"),
        checked_choice("nan", nan, "nan"),
        settled_threads(num_threads),
    )
    users = len(question.scores)
    if question.exclude is not None and len(question.exclude) != users:
        raise input_error("exclude", f"one entry for each of {users} users", str(len(question.exclude)))
    check_columns(question.candidates, question.scores)
    places = ranker(question)
    if isinstance(question.scores, Scores):
        return TopK(places, _scores_of(places, question.scores.values))
    return _of_candidates(places, question.scores)


def _padded(shape: tuple[int, ...], values: NDArray[Any]) -> NDArray[Any]:
    return np.full(shape, math.nan if values.dtype.kind == "f" else 0, values.dtype)


def _scores_of(ids: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    best = _padded(ids.shape, values)
    if values.shape[1] == 0:
        return best
    for piece in _pieces(ids.shape):
        found = np.take_along_axis(values[piece[0]], np.maximum(ids[piece], 0), axis=1)
        np.copyto(best[piece], found, where=ids[piece] >= 0)
    return best


def _of_candidates(places: NDArray[np.int64], candidates: Candidates) -> TopK:
    """Look the places up in the arrays of the candidates, in place."""
    best = TopK(places, _padded(places.shape, candidates.scores))
    for piece in _pieces(places.shape):
        filled = places[piece] >= 0
        found = places[piece][filled]
        best.scores[piece][filled] = candidates.scores[found]
        best.ids[piece][filled] = candidates.items[found]
    return best


def _pieces(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Cut users and places, so that a piece takes little memory; signals are handled between them."""
    users, k = shape
    some = max(1, _PLACES // k)
    return (
        np.s_[user : user + some, place : place + _PLACES]
        for user, place in product(range(0, users, some), range(0, k, _PLACES))
    )


def _core_ranker(question: Question) -> NDArray[np.int64]:
    """Have the C++ core rank."""
    scores = question.scores
    return _core.topk(
        scores.restricted(question.candidates) if isinstance(scores, Scores) else scores.core,
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
    candidates: object = None,
    ties: str = "lowest_id",
    nan: str = "raise",
    num_threads: int | None = None,
) -> TopK:
    """Return the k items of the highest scores of each user, best first.

    Parameters
    ----------
    scores : Scores, Candidates, two-dimensional array of float or int, or sparse matrix
        A score for each user (row) and item (column), or for the items that may be ranked: those of
        `metrik.Candidates`, or the entries that a sparse array or matrix of SciPy stores, each once.
    k : int
        How many, in [1, 2^31). It may be more than there are items.
    exclude : Exclude, Truth, list of sequences, two-dimensional array, or sparse matrix, optional
        Items that are not to be ranked for each user, such as training items.
    candidates : sequence of int, list of sequences, two-dimensional array, sparse matrix, or CSR, optional
        As `metrik.evaluate` takes them: the only columns of a matrix that may be ranked.
    ties : {"lowest_id", "highest_id", "input_order", "raise"}
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
    >>> metrik.topk(scores, k=2, candidates=[0, 2]).ids
    array([[2, 0],
           [0, 2]])
    >>> metrik.topk(metrik.Candidates([0, 3, 4], [40, 7, 9, 7], [1, 3, 2, 1]), k=2).ids
    array([[ 7,  9],
           [ 7, -1]])
    """
    return ranked(_core_ranker, scores, k, exclude, candidates, ties, nan, num_threads)
