"""The retrieval metrics of torchmetrics, each with another ``compute``; `exactk.compat.torchmetrics` imports this when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime import optional
from exactk.compat import _scored_queries as queries
from exactk.compat._scored_queries import Flags, Integers, Numbers, Retrieved, ScoredQueries

if TYPE_CHECKING:
    from collections.abc import Iterator

_torch, _torchmetrics = optional.torch_and_torchmetrics("exactk.compat.torchmetrics")
_theirs: Any = _torchmetrics.retrieval

_Values = tuple[Numbers, Flags]
"""The value of each query, and whether it depends on the order of equal scores."""


class _ByQuery:
    """What the metrics share: values of all queries at once, and those of torchmetrics where equal scores could be in any order."""

    _no_target = "positive"
    indexes: Any
    preds: Any
    target: Any
    empty_target_action: str
    allow_non_binary_target: bool
    aggregation: Any
    top_k: int | None = None

    def compute(self) -> Any:  # noqa: ANN401 - a tensor
        """Return the value of all queries."""
        states = self._states()
        if states is None:
            return super().compute()  # type: ignore[misc] # of torchmetrics
        preds, scored = states
        is_empty = self._is_empty(scored)
        self._check_empty(is_empty)
        values, depends = self._values(scored)
        for row, *documents in self._documents(scored, (depends | scored.has_nan) & ~is_empty):
            values[row] = float(self._metric(*documents))  # type: ignore[attr-defined]
        values, is_counted = self._with_empty(values, is_empty)
        if not is_counted.any():
            return _torch.tensor(0.0).to(preds)
        return _reduced(_torch.from_numpy(values[is_counted]).to(preds), self.aggregation)

    def _states(self) -> tuple[Any, ScoredQueries] | None:
        """Return the scores, and scores and targets by query; None if they are such that torchmetrics is to compute."""
        indexes, preds, target = self._tensors()
        if preds.dtype is not _torch.float32 or not self._is_usual(target):
            return None
        arrays = (state.detach().cpu().numpy() for state in (indexes, preds, target))
        return preds, ScoredQueries(*arrays)

    def _tensors(self) -> list[Any]:
        return [_torchmetrics.utilities.data.dim_zero_cat(state) for state in (self.indexes, self.preds, self.target)]

    def _documents(self, scored: ScoredQueries, is_asked: Flags) -> Iterator[tuple[int, Any, Any]]:
        """Yield the queries asked for, each with its scores and targets in the order that torchmetrics brings them into."""
        if not is_asked.any():
            return
        indexes, preds, target = self._tensors()
        order = _torch.sort(indexes).indices  # not stable: it has to be this call
        for row, documents in scored.slices(is_asked):
            yield row, preds[order[documents]], target[order[documents]]

    def _is_usual(self, target: Any) -> bool:  # noqa: ANN401 - a tensor
        """Return whether targets are 0 and 1, if they are to be, and the cutoff is positive."""
        depth: Any = self._depth()
        if depth is not None and not (isinstance(depth, int) and depth > 0):
            return False
        return self.allow_non_binary_target or bool(((target == 0) | (target == 1)).all())

    def _is_empty(self, scored: ScoredQueries) -> Flags:
        is_empty: Flags = scored.sums(scored.target) == 0
        return is_empty

    def _check_empty(self, is_empty: Flags) -> None:
        if self.empty_target_action == "error" and is_empty.any():
            message = f"`compute` method was provided with a query with no {self._no_target} target."
            raise ValueError(message)

    def _with_empty(self, values: Numbers, is_empty: Flags) -> tuple[Numbers, Flags]:
        """Return the values, with those of queries without a target, and which queries count."""
        values[is_empty] = self.empty_target_action == "pos"
        return values, ~is_empty | (self.empty_target_action != "skip")

    def _values(self, scored: ScoredQueries) -> _Values:
        lists = scored.ranked(self._depth())
        return self._by_list(lists, lists.target == 1)

    def _depth(self) -> int | None:
        return self.top_k

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:
        """Return the values."""
        raise NotImplementedError


def _reduced(values: Any, aggregation: Any, **dim: int) -> Any:  # noqa: ANN401 - tensors, and a function of the user's
    if callable(aggregation):
        return aggregation(values, dim=dim.get("dim"))
    found = getattr(values, aggregation)(**dim)
    return found.values if dim and aggregation != "mean" else found


def _cut(lists: Retrieved, hits: Flags, depths: Integers) -> _Values:
    """Return the number of hits above each depth."""
    return queries.sum_above(lists, hits, depths), lists.depends_on_cut(hits, depths)


class RetrievalMAP(_ByQuery, _theirs.RetrievalMAP):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalMAP`, computed for all queries at once."""

    def _depth(self) -> int | None:
        depth: int | None = getattr(self, "k", self.top_k)
        return depth

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:
        hits = hits & (lists.scores > 0)
        return queries.average_precisions(lists, hits), lists.depends_on_order(hits)


class RetrievalMRR(_ByQuery, _theirs.RetrievalMRR):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalMRR`, computed for all queries at once."""

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:
        hits = hits & (lists.scores > 0)
        return queries.reciprocal_ranks(lists, hits), lists.depends_on_first(hits)


class RetrievalPrecision(_ByQuery, _theirs.RetrievalPrecision):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalPrecision`, computed for all queries at once."""

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:
        counts, depends = _cut(lists, hits & (lists.scores > 0), lists.depths)
        divisors = self.top_k if self.top_k and not self.adaptive_k else lists.depths
        return counts / divisors, depends


class RetrievalRecall(_ByQuery, _theirs.RetrievalRecall):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalRecall`, computed for all queries at once."""

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:
        counts, depends = _cut(lists, hits & (lists.scores > 0), lists.depths)
        return counts / np.maximum(lists.queries.sums(hits), 1), depends


class RetrievalHitRate(_ByQuery, _theirs.RetrievalHitRate):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalHitRate`, computed for all queries at once."""

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:
        counts, depends = _cut(lists, hits, lists.depths)
        return (counts > 0).astype(np.float64), depends


class RetrievalFallOut(_ByQuery, _theirs.RetrievalFallOut):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalFallOut`, computed for all queries at once."""

    _no_target = "negative"

    def _is_empty(self, scored: ScoredQueries) -> Flags:
        is_empty: Flags = scored.sums(scored.target) == scored.lengths
        return is_empty

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:
        counts, depends = _cut(lists, ~hits, lists.depths)
        return counts / np.maximum(lists.queries.sums(~hits), 1), depends


class RetrievalRPrecision(_ByQuery, _theirs.RetrievalRPrecision):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalRPrecision`, computed for all queries at once."""

    def _is_usual(self, target: Any) -> bool:  # noqa: ANN401 - a tensor
        return super()._is_usual(target) and not target.is_floating_point()

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:
        relevant = lists.queries.sums(hits)
        counts, depends = _cut(lists, hits, relevant.astype(np.int64))
        return counts / np.maximum(relevant, 1), depends


class RetrievalNormalizedDCG(_ByQuery, _theirs.RetrievalNormalizedDCG):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalNormalizedDCG`, computed for all queries at once."""

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:  # noqa: ARG002 - by grades
        values = queries.normalized_dcgs(lists)
        return values, np.zeros(len(values), np.bool_)


class RetrievalAUROC(_ByQuery, _theirs.RetrievalAUROC):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalAUROC`, computed for all queries at once, but by torchmetrics with ``max_fpr``."""

    def _is_usual(self, target: Any) -> bool:  # noqa: ANN401 - a tensor
        return getattr(self, "max_fpr", None) is None and super()._is_usual(target)

    def _by_list(self, lists: Retrieved, hits: Flags) -> _Values:
        depends = lists.depends_on_cut(hits, lists.depths)
        is_outside = lists.within(lists.depths) & ~((lists.scores >= 0) & (lists.scores <= 1))
        if is_outside.any():  # torchmetrics takes such scores for logits, of which some become equal
            logistic = _torch.from_numpy(lists.scores).sigmoid().numpy()
            lists.scores = np.where(lists.any(is_outside)[lists.rows], logistic, lists.scores)
            lists.__dict__.pop("starts_run", None)
        return queries.areas(lists), depends


class RetrievalPrecisionRecallCurve(_ByQuery, _theirs.RetrievalPrecisionRecallCurve):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalPrecisionRecallCurve`, computed for all queries at once."""

    def compute(self) -> tuple[Any, Any, Any]:
        """Return the precisions, the recalls and the cutoffs."""
        states = self._states()
        if states is None:
            found: tuple[Any, Any, Any] = _theirs.RetrievalPrecisionRecallCurve.compute(self)
            return found
        preds, scored = states
        max_k = int(scored.lengths.max()) if self.max_k is None else self.max_k
        is_empty = self._is_empty(scored)
        self._check_empty(is_empty)
        lists = scored.ranked(max_k)
        hits = queries.hits_by_rank(lists, max_k)
        precisions, recalls = self._curves(hits, scored)
        depends = lists.depends_on_order(lists.target == 1) | scored.has_nan
        for row, *documents in self._documents(scored, depends & ~is_empty):
            curves = _torchmetrics.functional.retrieval.retrieval_precision_recall_curve(
                *documents, max_k, self.adaptive_k
            )
            precisions[row], recalls[row] = (one.cpu().numpy() for one in curves[:2])
        top_k = _torch.arange(1, max_k + 1, device=preds.device)
        return self._mean(precisions, is_empty, preds), self._mean(recalls, is_empty, preds), top_k

    def _curves(self, hits: Numbers, scored: ScoredQueries) -> tuple[Numbers, Numbers]:
        cutoffs = np.arange(1, hits.shape[1] + 1)[np.newaxis]
        divisors = np.minimum(cutoffs, scored.lengths[:, np.newaxis]) if self.adaptive_k else cutoffs
        relevant = np.maximum(scored.sums(scored.target), 1)
        return hits / divisors, hits / relevant[:, np.newaxis]

    def _mean(self, curves: Numbers, is_empty: Flags, preds: Any) -> Any:  # noqa: ANN401 - tensors
        curves, is_counted = self._with_empty(curves, is_empty)
        if not is_counted.any():
            return _torch.zeros(curves.shape[1]).to(preds)
        return _reduced(_torch.from_numpy(curves[is_counted]).to(preds), self.aggregation, dim=0)


class RetrievalRecallAtFixedPrecision(_theirs.RetrievalRecallAtFixedPrecision, RetrievalPrecisionRecallCurve):  # type: ignore[misc]
    """`torchmetrics.retrieval.RetrievalRecallAtFixedPrecision`, computed for all queries at once."""
