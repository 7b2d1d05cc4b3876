"""The public functions that rank: `topk` and `neighbors`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from exactk._engine.core import core_ranker
from exactk._engine.topk import TopK, rank_top_k
from exactk._inputs.embeddings import Embeddings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._runtime.progress import ProgressCallback


def topk(
    scores: object,
    k: int,
    exclude: object = None,
    *,
    candidates: object = None,
    ties: str = "lowest_id",
    nan: str = "raise",
    num_threads: int | None = None,
    progress: bool | ProgressCallback = False,
    user: str | Sequence[str] | None = None,
    item: str | None = None,
    score: str | None = None,
) -> TopK:
    """Return the k items of the highest scores of each user, best first.

    Parameters
    ----------
    scores : Scores, SparseScores, Embeddings, Batches, array of float or int, sparse matrix, mapping, or data frame
        A score for each user (row) and item (column), or for the items that may be ranked: those of
        `exactk.SparseScores`, or the entries that a sparse array or matrix of SciPy stores, each once; or by user
        and item in a mapping or data frame (`exactk.as_predictions`), of whose users each has a row, in the order
        in which they come; or the vectors that scores are made of.
    k : int
        How many, in [1, 2^31). It may be more than there are items.
    exclude : Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, or ids and distances, optional
        Items that are not to be ranked for each user, such as training items.
    candidates : sequence of int, Exclusions, Truth, Rankings, list of sequences, sparse matrix, two-dimensional array, or ids and distances, optional
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
    user, item, score : str, optional
        What the columns of data frames are called, in the scores and exclusions alike, as in `exactk.evaluate`.

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
    >>> exactk.topk(exactk.SparseScores([0, 3, 4], [40, 7, 9, 7], [1, 3, 2, 1]), k=2).ids
    array([[ 7,  9],
           [ 7, -1]])
    >>> exactk.topk({"ann": {"film": 0.5, "song": 0.75}, "bob": {"film": 0.25}}, k=2, exclude={"bob": ["song"]}).ids
    array([['song', 'film'],
           ['film', None]], dtype=object)
    """
    return rank_top_k(
        core_ranker,
        scores,
        k,
        exclude,
        candidates=candidates,
        ties=ties,
        nan=nan,
        num_threads=num_threads,
        progress=progress,
        user=user,
        item=item,
        score=score,
    )


TOPK_DEFAULTS: Mapping[str, Any] = MappingProxyType(topk.__kwdefaults__ or {})
"""What the options are that are not given, for the reference too."""


def neighbors(
    vectors: object,
    k: int = 300,
    similarity: str = "cosine",
    min_score: float | None = None,
    exclude_self: bool = True,  # noqa: FBT001, FBT002 - as the others may be given by position
    *,
    num_threads: int | None = None,
    progress: bool | ProgressCallback = False,
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
    >>> approximate = np.array([[3, 2], [0, 2], [1, -1], [0, 1]])
    >>> exactk.recall_at_k(exact.ids, approximate, k=2)
    0.875
    """
    embeddings = Embeddings.neighbors(vectors, similarity, min_score, exclude_self=exclude_self)
    return topk(embeddings, k, num_threads=num_threads, progress=progress)
