"""Rankings of the labels of each sample by dense scores, in blocks of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.model.scores import Scores
from exactk._inputs.truth import Truth
from exactk._plan.conventions import as_convention
from exactk._topk import topk
from exactk.compat._user_values import user_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_BLOCK_CELLS = 1 << 18  # of scores that are sorted at a time: what a cache holds
_FEW_RELEVANT = 100  # relevant labels per sample: with more, the engine takes longer than to sort all scores
_LABELS_PER_RANK = 64  # down to a cutoff: with fewer, `topk` takes as long as to sort, or longer


def _blocks_of_rows(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK_CELLS // max(1, columns))
    return (slice(first, first + step) for first in range(0, rows, step))


def discounted_gains(
    gains: NDArray[Any], scores: NDArray[Any], discounts: NDArray[np.float64], k: int | None, *, ignore_ties: bool
) -> NDArray[np.float64]:
    """Return the discounted gain of each sample; tied labels share theirs, unless NumPy's order of them is to count.

    The engine finds the first labels of a ranking down to a small cutoff. NumPy sorts the scores of the samples that have
    ties there, or all if there is no small cutoff.
    """
    is_small = k is not None and (k + 1) * _LABELS_PER_RANK <= scores.shape[1]
    if k is None or not is_small or scores.dtype not in (np.float32, np.float64) or _are_mostly_tied(scores, k):
        return _gains_by_sorting(gains, scores, _until(discounts, k), ignore_ties=ignore_ties)
    best = topk(scores, k + 1, ties="lowest_id")
    found = np.take_along_axis(gains, np.asarray(best.items)[:, :k], axis=1) @ discounts[:k]
    is_tied = _rows_with_equal_neighbors(best.scores)
    if is_tied.any():
        found[is_tied] = _gains_by_sorting(
            gains[is_tied], scores[is_tied], _until(discounts, k), ignore_ties=ignore_ties
        )
    return found


def _are_mostly_tied(scores: NDArray[Any], k: int) -> bool:
    """Return whether most of the first samples have ties above the cutoff, or at it."""
    first = topk(scores[: 1 + len(scores) // 32], k + 1, ties="lowest_id")
    return float(_rows_with_equal_neighbors(first.scores).mean()) > 0.5


def _rows_with_equal_neighbors(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    is_tied: NDArray[np.bool_] = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    return is_tied


def ideal_gains(gains: NDArray[Any], discounts: NDArray[np.float64], k: int | None) -> NDArray[np.float64]:
    """Return the highest discounted gain of each sample."""
    parts = [np.sort(gains[rows], axis=1)[:, ::-1][:, :k] @ discounts[:k] for rows in _blocks_of_rows(*gains.shape)]
    return np.concatenate(parts)


def _until(discounts: NDArray[np.float64], k: int | None) -> NDArray[np.float64]:
    return discounts if k is None else np.where(np.arange(len(discounts)) < k, discounts, 0)


def _gains_by_sorting(
    gains: NDArray[Any], scores: NDArray[Any], discounts: NDArray[np.float64], *, ignore_ties: bool
) -> NDArray[np.float64]:
    parts = []
    for rows in _blocks_of_rows(*scores.shape):
        if ignore_ties:
            order = np.argsort(scores[rows], axis=1)[:, ::-1]
            parts.append(np.take_along_axis(gains[rows], order, axis=1) @ discounts)
        else:
            parts.append(_gains_with_shared_ties(gains[rows], -scores[rows], discounts))
    return np.concatenate(parts)


def _gains_with_shared_ties(
    gains: NDArray[Any], keys: NDArray[Any], discounts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the discounted gain of each row in the order of rising keys; equal keys have the mean of their gains."""
    order = np.argsort(keys, axis=1)
    ranked, keys = np.take_along_axis(gains, order, axis=1).astype(np.float64), np.take_along_axis(keys, order, axis=1)
    is_tied = _rows_with_equal_neighbors(keys)
    if not is_tied.any():
        untied: NDArray[np.float64] = ranked @ discounts
        return untied
    ties = _Ties.of(keys)
    sums = np.add.reduceat(ranked.ravel(), ties.starts)
    cumulative = np.concatenate([[0.0], np.cumsum(discounts)])
    columns = ties.starts % keys.shape[1]
    shares = sums / ties.lengths * (cumulative[columns + ties.lengths] - cumulative[columns])
    found: NDArray[np.float64] = np.bincount(ties.starts // keys.shape[1], shares).astype(np.float64)
    return found


class _Ties(NamedTuple):
    """The runs of equal keys in sorted rows, one row after another."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, keys: NDArray[Any]) -> _Ties:
        """Return the runs."""
        begins = np.ones(keys.shape, np.bool_)
        np.not_equal(keys[:, 1:], keys[:, :-1], out=begins[:, 1:])
        starts = np.flatnonzero(begins)
        return cls(starts, np.diff(starts, append=keys.size))


class _Ranks(NamedTuple):
    """Tied relevant labels, or single ones: of which row, how many labels score no lower, how many of these are relevant."""

    row: NDArray[np.int64]
    labels: NDArray[np.int64]
    relevant: NDArray[np.int64]
    counts: NDArray[np.int64]  # of the tied relevant labels

    def sums(self, values: NDArray[Any], rows: int) -> NDArray[np.float64]:
        """Return the sum over the relevant labels of each row."""
        return np.bincount(self.row, values * self.counts, rows).astype(np.float64)


class RelevantLabels:
    """Which labels are relevant for each sample: nonzero ones of an array, stored ones of a sparse matrix."""

    def __init__(self, labels: Any) -> None:  # noqa: ANN401 - an array, or a CSR matrix
        self.shape: tuple[int, int] = labels.shape
        self._dense: NDArray[np.bool_] | None = labels != 0 if isinstance(labels, np.ndarray) else None
        self._sparse = None if isinstance(labels, np.ndarray) else labels
        counts = np.diff(labels.indptr) if self._dense is None else self._dense.sum(axis=1)
        self.counts: NDArray[np.int64] = counts.astype(np.int64)

    @property
    def decide_nothing(self) -> NDArray[np.bool_]:
        """The samples that have no relevant label, or no other."""
        decide: NDArray[np.bool_] = (self.counts > 0) & (self.counts < self.shape[1])
        return ~decide

    def dense(self, rows: slice) -> NDArray[np.bool_]:
        """Return samples as an array."""
        if self._dense is not None:
            return self._dense[rows]
        assert self._sparse is not None  # noqa: S101 - either is there
        indptr, indices = self._sparse.indptr, self._sparse.indices
        counts = self.counts[rows]
        relevant = np.zeros((len(counts), self.shape[1]), np.bool_)
        relevant[np.repeat(np.arange(len(counts)), counts), indices[indptr[rows.start] :][: counts.sum()]] = True
        return relevant

    def truth(self) -> Truth:
        """Return them as the truth of an evaluation."""
        if self._dense is not None:
            return Truth.from_dense(self._dense)
        assert self._sparse is not None  # noqa: S101 - either is there
        return Truth(self._sparse.indptr, self._sparse.indices)

    def values(self, scores: NDArray[Any], metric: str) -> NDArray[np.float64] | None:
        """Return a metric of each sample by the engine; None where NumPy is faster, or scores are no floats."""
        if self.counts.sum() > _FEW_RELEVANT * len(self.counts) or scores.dtype not in (np.float32, np.float64):
            return None
        values = user_values(self.truth(), Scores(scores), [metric], as_convention("sklearn"))
        return values[metric]

    def ranks(self, keys: NDArray[Any], rows: slice) -> _Ranks:
        """Return the ranks of the relevant labels of samples in the order of rising keys."""
        order = np.argsort(keys[rows], axis=1)
        keys = np.take_along_axis(keys[rows], order, axis=1)
        is_relevant = np.take_along_axis(self.dense(rows), order, axis=1)
        last = np.flatnonzero(is_relevant)
        until: NDArray[np.int64] = np.arange(1, len(last) + 1, dtype=np.int64)
        counts: NDArray[np.int64] = np.ones(len(last), np.int64)
        if _rows_with_equal_neighbors(keys).any():
            ties = _Ties.of(keys)
            last = ties.starts + ties.lengths - 1
            until = np.cumsum(is_relevant, dtype=np.int64)[last]
            counts = np.diff(until, prepend=0)
            last, until, counts = last[counts > 0], until[counts > 0], counts[counts > 0]
        row = last // keys.shape[1]
        before = np.concatenate([[0], np.cumsum(self.counts[rows])])[row]
        return _Ranks(row, last - row * keys.shape[1] + 1, until - before, counts)

    def precisions(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean over relevant labels of the share of relevant ones among all that score no lower."""
        found = self.values(scores, "average_precision(empty_truth=one)")
        if found is None:
            keys, found = -scores, np.zeros(len(self.counts))
            for rows in _blocks_of_rows(*self.shape):
                ranks = self.ranks(keys, rows)
                found[rows] = ranks.sums(ranks.relevant / ranks.labels, len(self.counts[rows]))
            found /= np.maximum(self.counts, 1)
        return np.where(self.decide_nothing, 1.0, found)

    def misordered_pairs(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Return the share of the pairs of a relevant and another label of which the other scores no lower."""
        found = self.values(scores, "auc(ties=pessimistic)")
        if found is not None:
            return np.where(self.decide_nothing, 0.0, 1 - found)
        keys, found = -scores if scores.dtype.kind == "f" else ~scores, np.zeros(len(self.counts))
        for rows in _blocks_of_rows(*self.shape):
            ranks = self.ranks(keys, rows)
            found[rows] = ranks.sums(ranks.labels - ranks.relevant, len(self.counts[rows]))
        pairs = self.counts * (self.shape[1] - self.counts)
        return np.where(self.decide_nothing, 0.0, found / np.maximum(pairs, 1))
