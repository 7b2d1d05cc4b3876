"""The public functions that rank: `topk` and `neighbors`."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from itertools import product
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from exactk._engine.core import core_ranker
from exactk._engine.inspection import find_candidate_use, find_exclusion_use
from exactk._engine.problem import Ranker, TopKProblem
from exactk._engine.warnings import describe_candidate_use, describe_exclusion_use
from exactk._evaluate import check_names, takes_options
from exactk._inputs.alignment import (
    AlignedInputs,
    align_scores,
    check_keys_beside_scores,
    name_rows_and_keys,
    without_truth,
)
from exactk._inputs.checks import vector_array
from exactk._inputs.conversions import exclusions_input, scored_input
from exactk._inputs.embeddings import Embeddings
from exactk._inputs.keys.key_lists import keys_of_items
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import Exclusions, Lists, Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import Scores, SparseScores, check_input_order
from exactk._inputs.model.top_k import TopK, with_item_keys
from exactk._inputs.readings import check_matrix, shapes_of_scores
from exactk._inputs.registry import as_candidate_items, check_columns_are_read, classify, opened
from exactk._inputs.restrictions import merge_restrictions, restrict_lists
from exactk._inputs.truth import Truth
from exactk._options import TopKOptions
from exactk._plan.fields import FIELDS
from exactk._plan.metric_strings import checked_cutoff
from exactk._runtime.errors import input_error, warn
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.scores import Scored
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


_NO_TRUTH = Truth.from_valid_rows(Rows(np.zeros(1, np.int64), np.zeros(0, np.int64)))
_BLOCK_CELLS = 1 << 20  # cells per lookup


def rank_top_k(
    ranker: Ranker,
    scores: object,
    k: object,
    exclude: object,
    *,
    candidates: object,
    ties: object,
    nan: object,
    score_dtype: object,
    num_threads: object,
    progress: object,
    user: str | Sequence[str] | None,
    item: str | None,
    score: str | None,
) -> TopK:
    """Rank with the given ranker; the other arguments are those of `exactk.topk`."""
    columns: ColumnNames = {"user": user, "item": item, "score": score}
    given = {"scores": scores, "exclude": exclude, "candidates": candidates}
    classified = {argument: classify(value, argument) for argument, value in given.items()}
    check_columns_are_read(columns, classified.items())
    classified = {argument: opened(one, argument, columns) for argument, one in classified.items()}
    tracker = Progress(progress)
    encoding, item_keys, users = Encoding(), None, None
    scored = scored_input(classified["scores"], columns, encoding)
    locations: AbstractContextManager[None] = nullcontext()
    positions: AbstractContextManager[None] = nullcontext()
    shapes = frozenset[tuple[int, ...]]() if isinstance(scored, Rows) else shapes_of_scores(classify(scored, "scores"))
    for argument in ("exclude", "candidates"):
        check_matrix(classified[argument], argument, shapes)
    candidate_items = as_candidate_items(classified["candidates"], columns)
    with without_truth():
        exclusions = exclusions_input(classified["exclude"], columns, encoding)
        check_keys_beside_scores(exclusions, scored)
    excluded = classified["exclude"].value if isinstance(classified["exclude"].value, Lists) else exclusions
    if isinstance(scored, (Rows, SparseScores)) or scored.is_keyed:
        with without_truth():
            inputs = align_scores(scored, exclusions, encoding)
            locations = name_rows_and_keys(inputs)
            with name_rows_and_keys(inputs):
                restricted = restrict_lists(inputs, candidate_items)
            if unused := describe_candidate_use(find_candidate_use(restricted, inputs, candidate_items), "the scores"):
                warn(unused)
            inputs, positions = restricted.inputs, restricted.original_positions("scores")
        assert not isinstance(inputs.predictions, Rankings)  # noqa: S101 - as they were
        scored, exclusions, item_keys = inputs.predictions, inputs.exclude, inputs.item_keys
        users = inputs.user_array
    else:
        exclusions = Exclusions.from_valid_rows(exclusions) if isinstance(exclusions, Rows) else exclusions
        inputs = AlignedInputs(_NO_TRUTH, scored, exclusions)
    if unused := describe_exclusion_use(find_exclusion_use(excluded, inputs), "the scores"):
        warn(unused)
    problem = TopKProblem(
        _compared(scored, score_dtype),
        checked_cutoff(k),
        exclusions,
        candidate_items,
        FIELDS["ties"].check(ties, "ties"),
        FIELDS["nan"].check(nan, "nan"),
        resolve_threads(num_threads),
        tracker.report_finished,
    )
    check_input_order(problem.scores, [problem.ties], "scores")
    restricted_candidates, restricted_exclusions = merge_restrictions(
        problem.scores, problem.candidates, problem.exclude
    )
    size = len(problem.scores)
    if restricted_exclusions is not None and len(restricted_exclusions) != size:
        raise input_error("exclude", f"one entry per user ({size})", str(len(restricted_exclusions)))
    with tracker.track(size), locations, positions:
        indices, similarities = ranker(
            problem._replace(candidates=restricted_candidates, exclude=restricted_exclusions)
        )
        tracker.add_finished(size)
    if similarities is not None:
        return TopK(with_item_keys(indices, item_keys), similarities, users)
    if isinstance(problem.scores, SparseScores):
        ids, best = _look_up_items(indices, problem.scores)
        return TopK(with_item_keys(ids, item_keys), best, users)
    assert isinstance(problem.scores, Scores)  # noqa: S101 - embeddings have scores of their own
    return TopK(with_item_keys(indices, item_keys), _look_up_scores(indices, problem.scores.values), users)


def _compared(scores: Scored, score_dtype: object) -> Scored:
    narrows = FIELDS["score_dtype"].check(score_dtype, "score_dtype") == "float32"
    return scores.with_float32_scores() if narrows else scores


def _padding_like(shape: tuple[int, ...], values: NDArray[Any]) -> NDArray[Any]:
    return np.full(shape, math.nan if values.dtype.kind == "f" else 0, values.dtype)


def _look_up_scores(ids: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    best = _padding_like(ids.shape, values)
    if values.shape[1] == 0:
        return best
    for block in _blocks(ids.shape):
        scores = np.take_along_axis(values[block[0]], np.maximum(ids[block], 0), axis=1)
        np.copyto(best[block], scores, where=ids[block] >= 0)
    return best


def _look_up_items(indices: NDArray[np.int64], sparse_scores: SparseScores) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return item ids in place of indices into the arrays of the sparse scores, and their scores."""
    scores = _padding_like(indices.shape, sparse_scores.scores)
    for block in _blocks(indices.shape):
        filled = indices[block] >= 0
        offsets = indices[block][filled]
        scores[block][filled] = sparse_scores.scores[offsets]
        indices[block][filled] = sparse_scores.items[offsets]
    return indices, scores


def _blocks(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Split users and columns into blocks, which bound memory and let signals be handled in between."""
    users, k = shape
    block_users = max(1, _BLOCK_CELLS // k)
    return (
        np.s_[user : user + block_users, column : column + _BLOCK_CELLS]
        for user, column in product(range(0, users, block_users), range(0, k, _BLOCK_CELLS))
    )
