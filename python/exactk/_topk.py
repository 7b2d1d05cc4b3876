"""The public functions that rank: `topk` and `neighbors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from exactk._engine.core import core_ranker
from exactk._engine.topk import rank_top_k
from exactk._evaluate import check_names, takes_options
from exactk._inputs.checks import vector_array
from exactk._inputs.embeddings import Embeddings
from exactk._inputs.keys.key_lists import keys_of_items
from exactk._options import TopKOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.model.top_k import TopK
    from exactk._inputs.protocols import KeysLike, MatrixLike
    from exactk._inputs.types import CandidatesLike, ExclusionsLike, ScoresLike
    from exactk._plan.literals import Nan, RankingTies, ScoreDtype, Similarity
    from exactk._runtime.progress import ProgressCallback


@takes_options(TopKOptions)
def topk(
    scores: ScoresLike,
    k: int,
    exclude: ExclusionsLike | None = None,
    *,
    candidates: CandidatesLike | None = None,
    ties: RankingTies = "lowest_id",
    nan: Nan = "raise",
    score_dtype: ScoreDtype = "native",
    num_threads: int | None = None,
    progress: bool | ProgressCallback = False,
    user: str | Sequence[str] | None = None,
    item: str | None = None,
    score: str | None = None,
    **unknown: Never,
) -> TopK:
    """Return the k highest-scoring items of each user, best first.

    Parameters
    ----------
    scores : Scores, SparseScores, Embeddings, Batches, array of float or int, sparse matrix, mapping, data frame, Series, or path
        The scores to rank by:

        - an array with one score per user (row) and item (column). Integers are scores here, while `exactk.evaluate`
          reads an array of integers as ids;
        - the items that may be ranked, with their scores: `exactk.SparseScores`, or a SciPy sparse array or matrix,
          whose stored entries must be distinct;
        - scores by user and item in a mapping or data frame (`exactk.as_predictions`); rows of the result follow
          the users' first appearance;
        - embeddings, whose products or distances are the scores.
    k : int
        The number of items per user, a positive integer below 2^31. It may exceed the number of items.
    exclude : Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path, optional
        Items not to rank for each user, such as training items.
    ties : {"lowest_id", "highest_id", "input_order", "raise"}
        How to order ties. ``"raise"`` is an error if one of the k best items is tied. The other values of a
        convention's ``ties`` need the truth and are not available here.
    nan : {"raise", "last"}
        How to rank a NaN score: as an error, or below every other score.
    score_dtype : {"native", "float32"}
        The type in which scores are compared. ``"float32"`` rounds them, as trec_eval 9 does, which makes more ties; the
        scores of the result are the rounded ones.
    user, item, score : str, optional
        Column names in data frames and files, for all arguments alike; `user` may name several columns, which together identify
        a user. Usual names are detected: user_id, query_id, ...; item_id, doc_id, ...; score, prediction, ... If frames differ
        in their column names, convert each with `exactk.as_predictions` or `exactk.as_exclusions`.

    Returns
    -------
    TopK
        The named tuple ``(items, scores)``, both of shape (n_users, k). Rows of users with fewer than k items end in
        padding: id -1 (None for keyed items) and score NaN (0 for integer scores).

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid. The message names the argument, what was expected and what was found and, where it
        applies, the first row and position.
    CapacityError
        If the result needs more memory than there is.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.9, 0.5, 0.9], [0.7, 0.2, 0.3, 0.1]])
    >>> best = exactk.topk(scores, k=3, exclude=[[2], []])
    >>> best.items
    array([[1, 3, 0],
           [0, 2, 1]])
    >>> best.scores
    array([[0.9, 0.9, 0.1],
           [0.7, 0.3, 0.2]])
    >>> exactk.topk(exactk.Scores(scores, min_score=0.5), k=2, ties="highest_id").items
    array([[ 3,  1],
           [ 0, -1]])
    >>> exactk.topk(scores, k=2, candidates=[0, 2]).items
    array([[2, 0],
           [0, 2]])
    >>> exactk.topk(exactk.SparseScores([0, 3, 4], [40, 7, 9, 7], [1, 3, 2, 1]), k=2).items
    array([[ 7,  9],
           [ 7, -1]])
    >>> exactk.topk({"ann": {"film": 0.5, "song": 0.75}, "bob": {"film": 0.25}}, k=2, exclude={"bob": ["song"]}).items
    array([['song', 'film'],
           ['film', None]], dtype=object)
    """
    if unknown:
        check_names(unknown, topk)
    return rank_top_k(
        core_ranker,
        scores,
        k,
        exclude,
        candidates=candidates,
        ties=ties,
        nan=nan,
        score_dtype=score_dtype,
        num_threads=num_threads,
        progress=progress,
        user=user,
        item=item,
        score=score,
    )


def neighbors(
    vectors: MatrixLike,
    k: int = 300,
    similarity: Similarity = "cosine",
    min_score: float | None = None,
    exclude_self: bool = True,  # noqa: FBT001, FBT002 - as the others may be given by position
    *,
    items: KeysLike | None = None,
    num_threads: int | None = None,
    progress: bool | ProgressCallback = False,
) -> TopK:
    """Return the exact k nearest neighbors of each vector.

    Use the result as the truth of `exactk.evaluate` to measure the recall of an approximate index, or as predictions.

    Parameters
    ----------
    vectors : array of float, shape (n_vectors, n_dimensions)
        The vectors, as in `exactk.Embeddings`.
    k : int
        The number of neighbors per vector, in [1, 2^31). It may exceed the number of vectors.
    similarity : {"cosine", "dot", "euclidean"}
        The similarity, as in `exactk.Embeddings`; ``"euclidean"`` is the negative distance.
    min_score : float, optional
        Drop neighbors that are less similar than this; rows may then be shorter than k.
    exclude_self : bool
        Whether to leave each vector out of its own neighbors. Other, equal vectors stay.
    items : sequence, shape (n,), optional
        The key of each vector, as in `exactk.Scores`. The result then has keys, and lists the neighbors of each.
    num_threads : int, optional
        As in `exactk.evaluate`. The result does not depend on it.
    progress : bool or callable
        As in `exactk.evaluate`.

    Returns
    -------
    TopK
        The named tuple ``(items, scores)``, both of shape (n_vectors, k): the most similar first, ties by lowest id. Short rows
        end in padding: id -1 and score NaN.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid. The message names the argument, what was expected and what was found and, where it
        applies, the first row and position.
    CapacityError
        If the result needs more memory than there is.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> vectors = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.0]])
    >>> exact = exactk.neighbors(vectors, k=2, min_score=0.5)
    >>> exact.items
    array([[ 3,  1],
           [ 0,  2],
           [ 1, -1],
           [ 0,  1]])
    >>> approximate = np.array([[3, 2], [0, 2], [1, -1], [0, 1]])
    >>> exactk.recall_at_k(exact.items, approximate, k=2)
    0.875
    """
    keys = None if items is None else keys_of_items(items, "items", len(vector_array(vectors, "vectors")), "vector")
    embeddings = Embeddings.neighbors(vectors, similarity, min_score, keys, exclude_self=exclude_self)
    return topk(embeddings, k, num_threads=num_threads, progress=progress)
