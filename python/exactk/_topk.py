"""The best items of each user: what scores recommend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from exactk import _core
from exactk._blas import core_of
from exactk._conventions import checked_choice
from exactk._errors import input_error
from exactk._inputs import (
    Candidates,
    Columns,
    Embeddings,
    Exclude,
    Known,
    Scored,
    Scores,
    as_columns,
    as_scored,
    exclude_of,
    settled,
)
from exactk._inputs.alignment import alone
from exactk._isa import wanted_isa
from exactk._metrics import checked_cutoff
from exactk._progress import Progress
from exactk._threads import settled_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._progress import Tell


class TopK(NamedTuple):
    """The best items of each user and their scores, best first, padded at the end of a row.

    Attributes
    ----------
    ids : array of int64 or of object, shape (n_users, k)
        Column numbers or the ids of candidates, and -1 as padding: as `exactk.evaluate` takes rankings. Of
        candidates whose items have names, these, and None as padding.
    scores : array of the scores' type, shape (n_users, k)
        Their scores, of embeddings float64; NaN as padding, or 0 where they are integers.
    """

    ids: NDArray[Any]
    scores: NDArray[Any]


class Question(NamedTuple):
    """What is asked of each user, past waist 1."""

    scores: Scored
    k: int
    exclude: Exclude | None
    candidates: Columns | None  # beside a matrix and embeddings alone
    ties: str
    nan: str
    num_threads: int
    finished: Callable[[int], object]  # to be called often, with the number of users done


Best: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64] | None]"  # places, and scores if they are embeddings'
Ranker = Callable[[Question], Best]

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
    progress: object,
) -> TopK:
    """Rank by the given ranker; the other arguments are those of `exactk.topk`."""
    told = Progress(progress)
    scored, names = as_scored(scores), None
    known = Known(scored.names, scored.catalogue) if isinstance(scored, Candidates) else Known()
    left_out = exclude_of(exclude, {}, known)
    if isinstance(scored, Candidates):
        case = alone(scored, left_out)
        assert isinstance(case.predictions, Candidates)  # noqa: S101 - as they were
        scored, left_out, names = case.predictions, case.exclude, case.item_names
    question = Question(
        scored,
        checked_cutoff(k),
        left_out,
        as_columns(candidates),
        checked_choice("ties", ties, "ties"),
        checked_choice("nan", nan, "nan"),
        settled_threads(num_threads),
        told.at_hand,
    )
    columns, excluded = settled(question.scores, question.candidates, question.exclude)
    users = len(question.scores)
    if excluded is not None and len(excluded) != users:
        raise input_error("exclude", f"one entry for each of {users} users", str(len(excluded)))
    with told.of(users):
        places, own_scores = ranker(question._replace(candidates=columns, exclude=excluded))
        told.add(users)
    if own_scores is not None:
        return TopK(places, own_scores)
    if isinstance(question.scores, Candidates):
        return _named(_of_candidates(places, question.scores), names)
    assert isinstance(question.scores, Scores)  # noqa: S101 - embeddings have scores of their own
    return TopK(places, _scores_of(places, question.scores.values))


def _named(best: TopK, names: NDArray[Any] | None) -> TopK:
    """Return the same with the names of the items, if they have some."""
    if names is None:
        return best
    items = np.full(best.ids.shape, None, object)
    filled = best.ids >= 0
    items[filled] = names[best.ids[filled]]
    return TopK(items, best.scores)


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


def _core_ranker(question: Question) -> Best:
    """Have the C++ core rank."""
    with core_of(question.scores, question.candidates) as scores:
        return _core.topk(
            scores,
            question.k,
            None if question.exclude is None else question.exclude.core,
            question.ties,
            question.nan,
            question.num_threads,
            wanted_isa(),
            question.finished,
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
    progress: bool | Tell = False,
) -> TopK:
    """Return the k items of the highest scores of each user, best first.

    Parameters
    ----------
    scores : Scores, Candidates, Embeddings, array of float or int, sparse matrix, mapping, or data frame
        A score for each user (row) and item (column), or for the items that may be ranked: those of
        `exactk.Candidates`, or the entries that a sparse array or matrix of SciPy stores, each once; or by user
        and item in a mapping or data frame (`exactk.as_predictions`), of whose users each has a row, in the order
        in which they come; or the vectors that scores are made of.
    k : int
        How many, in [1, 2^31). It may be more than there are items.
    exclude : Exclude, Truth, or what `exactk.as_exclude` takes, optional
        Items that are not to be ranked for each user, such as training items.
    candidates : sequence of int, list of sequences, two-dimensional array, sparse matrix, or CSR, optional
        As `exactk.evaluate` takes them: the only columns of a matrix that may be ranked.
    ties : {"lowest_id", "highest_id", "input_order", "raise"}
        Which of several items of one score comes first, or an error if one of the k best is of several.
        The other choices of a convention need a truth.
    nan : {"raise", "last"}
        What a score that is NaN means: an error, or less than every other.
    num_threads : int, optional
        As `exactk.evaluate` takes it. No number changes the result.
    progress : bool or callable
        As `exactk.evaluate` takes it.

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
    >>> import exactk
    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.9, 0.5, 0.9], [0.7, 0.2, 0.3, 0.1]])
    >>> best = exactk.topk(scores, k=3, exclude=[[2], []])
    >>> best.ids
    array([[1, 3, 0],
           [0, 2, 1]])
    >>> best.scores
    array([[0.9, 0.9, 0.1],
           [0.7, 0.3, 0.2]])
    >>> exactk.topk(exactk.Scores(scores, min_score=0.5), k=2, ties="highest_id").ids
    array([[ 3,  1],
           [ 0, -1]])
    >>> exactk.topk(scores, k=2, candidates=[0, 2]).ids
    array([[2, 0],
           [0, 2]])
    >>> exactk.topk(exactk.Candidates([0, 3, 4], [40, 7, 9, 7], [1, 3, 2, 1]), k=2).ids
    array([[ 7,  9],
           [ 7, -1]])
    >>> exactk.topk({"ann": {"film": 0.5, "song": 0.75}, "bob": {"film": 0.25}}, k=2, exclude={"bob": ["song"]}).ids
    array([['song', 'film'],
           ['film', None]], dtype=object)
    """
    return ranked(_core_ranker, scores, k, exclude, candidates, ties, nan, num_threads, progress)


def neighbors(
    vectors: object,
    k: int = 300,
    similarity: str = "cosine",
    min_score: float | None = None,
    exclude_self: bool = True,  # noqa: FBT001, FBT002 - as the others may be given by place
    *,
    num_threads: int | None = None,
    progress: bool | Tell = False,
) -> TopK:
    """Return the k most similar vectors of each vector, exactly: what an approximate index is measured by.

    The result serves as the truth and as predictions of `exactk.evaluate`.

    Parameters
    ----------
    vectors : array of float, shape (n, width)
        As `exactk.Embeddings` takes them.
    k : int
        How many, in [1, 2^31). It may be more than there are vectors.
    similarity : {"cosine", "dot", "euclidean"}
        As `exactk.Embeddings` has it: the higher, the more similar; of a distance, its negative.
    min_score : float, optional
        Vectors that are less similar are left out, so that a row may be shorter than k.
    exclude_self : bool
        Whether a vector is no neighbor of itself. Others that equal it are.
    num_threads : int, optional
        As `exactk.evaluate` takes it. No number changes the result.
    progress : bool or callable
        As `exactk.evaluate` takes it.

    Returns
    -------
    TopK
        The named tuple ``(ids, scores)``, both of shape (n, k): the most similar first, of equal ones the
        lowest id; the rest of a row is padding, id -1 and score NaN.

    Raises
    ------
    InputError, InputTypeError
        If an argument is not what it must be: which, what was expected, what came, where first.
    CapacityError
        If the result needs more memory than there is.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> vectors = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.0]])
    >>> exact = exactk.neighbors(vectors, k=2, min_score=0.5)
    >>> exact.ids
    array([[ 3,  1],
           [ 0,  2],
           [ 1, -1],
           [ 0,  1]])
    >>> found = np.array([[3, 2], [0, 2], [1, -1], [0, 1]])
    >>> exactk.recall_at_k(exact.ids, found, k=2)
    0.875
    """
    embeddings = Embeddings.neighbors(vectors, similarity, min_score, exclude_self=exclude_self)
    return topk(embeddings, k, num_threads=num_threads, progress=progress)
