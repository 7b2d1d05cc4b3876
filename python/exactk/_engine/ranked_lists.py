"""Predictions of any kind as lists, best first, in the vocabularies of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.base_lists import most_items
from exactk._engine.error_locations import name_rows_and_keys
from exactk._engine.topk import TopKProblem
from exactk._inputs.alignment import align_scores, in_shared_vocabularies, without_truth
from exactk._inputs.model.embeddings import check_input_order
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._inputs.restrictions import merge_restrictions
from exactk._runtime.progress import ignore_progress

if TYPE_CHECKING:
    from exactk._engine.topk import Ranker
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.predictions import Predictions
    from exactk._plan.conventions import Convention


def ranked_rows(
    ranker: Ranker, predictions: Rows | Predictions, depth: int | None, convention: Convention, encoding: Encoding
) -> Rows:
    """Return the lists, or the best items by score down to the depth; None: all of them."""
    if isinstance(predictions, Rankings):
        return predictions.rows()
    if isinstance(predictions, Rows) and predictions.scores is None:
        return predictions
    with without_truth():
        inputs = align_scores(predictions, None, encoding)
    scored = inputs.predictions
    assert not isinstance(scored, Rankings)  # noqa: S101 - as they were
    check_input_order(scored, [convention.ties], "scores")
    if convention.score_dtype == "float32":
        scored = scored.with_float32_scores()
    if convention.negative_infinity == "exclude":
        scored = scored.without_negative_infinity()
    candidates, exclude = merge_restrictions(scored, None, None)
    most = most_items(scored)
    problem = TopKProblem(
        scored,
        max(1, most if depth is None else min(depth, most)),
        exclude,
        candidates,
        convention.ties,
        convention.nan,
        encoding.threads,
        ignore_progress,
    )
    with name_rows_and_keys(inputs):
        indices, _ = ranker(problem)
    is_item = indices >= 0
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_item.sum(axis=1), dtype=np.int64)])
    best = indices[is_item]
    if isinstance(scored, SparseScores):
        assert isinstance(predictions, (Rows, SparseScores))  # noqa: S101 - as they were
        source = predictions if isinstance(predictions, Rows) else predictions.rows()  # whose items are codes
        return Rows(
            indptr,
            source.items[best],
            present=scored.present,
            user_vocabulary=source.user_vocabulary,
            item_vocabulary=source.item_vocabulary,
            column_count=source.column_count,
        )
    columns = Rows(
        indptr,
        best,
        present=scored.present,
        user_vocabulary=scored.user_vocabulary,
        item_vocabulary=scored.item_vocabulary,
        column_count=None if scored.item_vocabulary is not None else scored.item_count,
    )
    return in_shared_vocabularies(columns, "predictions", encoding)


def without_rank_gaps(rows: Rows) -> tuple[Rows, int]:
    """Return the lists, ranked 1, 2, 3, ..., and the number of users whose ranks had gaps."""
    return rows._replace(ranks=None), 0 if rows.ranks is None else Rankings.from_rows(rows).users_with_rank_gaps
