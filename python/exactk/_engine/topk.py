"""The highest-scoring items of each user: a problem that a ranker solves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from exactk._engine.inspection import find_candidate_use, find_exclusion_use
from exactk._engine.warnings import describe_candidate_use, describe_exclusion_use
from exactk._inputs.alignment import AlignedInputs, align_scores, check_keys_beside_scores, without_truth
from exactk._inputs.beside_scores import check_matrix, shapes_of_scores
from exactk._inputs.candidate_lists import merge_restrictions, restrict_lists
from exactk._inputs.column_use import check_columns_are_read
from exactk._inputs.conversions import exclusions_input, scored_input
from exactk._inputs.error_locations import name_rows_and_keys
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import Exclusions, Lists, Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import Scores, SparseScores, check_input_order
from exactk._inputs.model.top_k import TopK, with_item_keys
from exactk._inputs.paths import opened
from exactk._inputs.registry import as_candidate_items, classify
from exactk._inputs.truth import Truth
from exactk._plan.fields import FIELDS
from exactk._plan.metric_strings import checked_cutoff
from exactk._runtime.errors import input_error, warn
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.scores import Scored


class TopKProblem(NamedTuple):
    """A ranking problem on canonical scores, for the core and for the reference."""

    scores: Scored
    k: int
    exclude: Exclusions | None
    candidates: CandidateItems | None  # of dense scores and embeddings; sparse scores hold only candidates
    ties: str
    nan: str
    num_threads: int
    report_progress: Callable[[int], object] | None = None  # to be called often, with the number of users done


BestIndices: TypeAlias = (
    "tuple[NDArray[np.int64], NDArray[np.float64] | None]"  # of columns or stored scores; of embeddings also the scores
)
Ranker = Callable[[TopKProblem], BestIndices]

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
