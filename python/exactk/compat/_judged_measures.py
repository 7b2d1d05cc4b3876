"""Measures of trec_eval that are no metrics of exactk, from lists beside their truth: arrays of queries x ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk.compat._user_values import judged_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.model.lists import Rankings
    from exactk._inputs.truth import Truth
    from exactk._plan.conventions import Convention

Floats = np.ndarray[Any, np.dtype[np.float64]]

_INFERRED = 1e-5  # added to the relevant and the irrelevant documents above a rank, in infAP
_RECALLS = tuple(tenth / 10 for tenth in range(11))
_MULTIPLES = tuple(fifth / 5 for fifth in range(1, 11))
_UTILITIES = (1.0, -1.0, 0.0, 0.0)


class RetrievedLists(NamedTuple):
    """The lists of some queries beside their truth."""

    grades: Floats  # queries x ranks: 0 if not judged, or not retrieved
    is_judged: NDArray[np.bool_]  # queries x ranks
    is_pooled: NDArray[np.bool_]  # queries x ranks: has a negative grade, which means that nobody judged it
    hits: NDArray[np.bool_]  # queries x ranks
    lengths: NDArray[np.int64]
    relevant: NDArray[np.int64]  # relevant documents of each query, retrieved or not
    graded: NDArray[np.int64]  # documents of each query with a grade, whatever it is
    ideal: Floats  # queries x documents: the positive grades of each query in descending order, then zeros

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The ranks, from 1."""
        return np.arange(1, self.hits.shape[1] + 1)

    @property
    def is_retrieved(self) -> NDArray[np.bool_]:
        """Which ranks are within each list."""
        return self.ranks <= self.lengths[:, np.newaxis]

    @property
    def hits_so_far(self) -> NDArray[np.int64]:
        """The relevant documents down to each rank."""
        counts: NDArray[np.int64] = np.cumsum(self.hits, axis=1)
        return counts

    @property
    def retrieved_relevant(self) -> NDArray[np.int64]:
        """The relevant documents in each list."""
        counts: NDArray[np.int64] = np.count_nonzero(self.hits, axis=1)
        return counts


def retrieved_blocks(truth: Truth, rankings: Rankings, convention: Convention) -> Iterator[RetrievedLists]:
    """Yield the lists, some queries at a time; documents are numbers of the truth's entries, in its order, or larger."""
    assert truth.grades is not None  # noqa: S101 - `Judgements` has them
    first = 0
    for judged in judged_blocks(truth, rankings, "num_hits", convention):
        offsets = truth.indptr[first : first + len(judged.items) + 1]
        first += len(judged.items)
        entries = offsets[:-1, np.newaxis] + judged.items
        is_entry = (judged.items >= 0) & (entries < offsets[1:, np.newaxis])
        given = np.full(judged.items.shape, np.nan)
        given[is_entry] = truth.grades[entries[is_entry]]
        yield RetrievedLists(
            np.where(given > 0, given, 0), given >= 0, given < 0, judged.hits, judged.lengths, judged.relevant,
            np.diff(offsets), _ideal_grades(offsets - offsets[0], truth.grades[offsets[0] : offsets[-1]]),
        )  # fmt: skip


def _ideal_grades(indptr: NDArray[np.int64], grades: Floats) -> Floats:
    """Return the positive grades of each row in descending order, padded with zeros."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    is_positive = grades > 0
    rows, grades = rows[is_positive], grades[is_positive]
    order = np.lexsort((-grades, rows))
    counts = np.bincount(rows, minlength=len(indptr) - 1)
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    ideal = np.zeros((len(counts), counts.max(initial=0)))
    ideal[rows, columns] = grades[order]
    return ideal


def interpolated_precisions(lists: RetrievedLists, recalls: Sequence[float]) -> Floats:
    """Return the highest precision at or below the rank that reaches each recall: queries x recalls."""
    precisions = np.where(lists.is_retrieved, lists.hits_so_far / lists.ranks, 0)
    best = np.maximum.accumulate(precisions[:, ::-1], axis=1)[:, ::-1]
    rank_of_hit = np.argsort(~lists.hits, axis=1, kind="stable")  # of the n-th hit, in column n - 1
    values = np.zeros((len(lists.lengths), len(recalls)))
    best_of_all = np.where(lists.lengths > 0, best[:, 0], np.nan)  # 0 / 0, as trec_eval has it
    for column, recall in enumerate(recalls):
        needed = (recall * lists.relevant + 0.9).astype(np.int64)  # as trec_eval 9 rounds
        ranks = np.take_along_axis(rank_of_hit, np.clip(needed - 1, 0, best.shape[1] - 1)[:, np.newaxis], axis=1)
        reached = np.where(needed == 0, best_of_all, np.take_along_axis(best, ranks, axis=1)[:, 0])
        values[:, column] = np.where(needed <= lists.retrieved_relevant, reached, 0)
    return values


def mean_interpolated_precision(lists: RetrievedLists, recalls: Sequence[float]) -> Floats:
    """Return the mean over the recalls."""
    values = interpolated_precisions(lists, recalls)
    total = np.zeros(len(values))
    for column in reversed(range(values.shape[1])):  # in trec_eval's order, for the same last digit
        total += values[:, column]
    return (total / len(recalls))[:, np.newaxis]


def precisions_at_multiples(lists: RetrievedLists, multiples: Sequence[float]) -> Floats:
    """Return the precision at each multiple of the number of relevant documents: queries x multiples."""
    hits = np.concatenate([np.zeros((len(lists.hits), 1), np.int64), lists.hits_so_far], axis=1)
    columns = []
    for multiple in multiples:
        cutoff = (multiple * lists.relevant + 0.9).astype(np.int64)
        reached = np.minimum(cutoff, lists.lengths)[:, np.newaxis]
        columns.append(np.take_along_axis(hits, reached, axis=1)[:, 0] / np.maximum(cutoff, 1))
    values: Floats = np.stack(columns, axis=1)
    return values


def judged_irrelevant(lists: RetrievedLists, _: Sequence[float]) -> Floats:
    """Return the number of retrieved documents that are judged and not relevant."""
    counts: Floats = np.count_nonzero(lists.is_judged & ~lists.hits, axis=1, keepdims=True).astype(np.float64)
    return counts


def utility(lists: RetrievedLists, weights: Sequence[float]) -> Floats:
    """Return the weighted sum of documents: relevant and other retrieved ones, relevant and other ones that are not."""
    hits = lists.retrieved_relevant
    missed = lists.relevant - hits
    counts = (hits, lists.lengths - hits, missed, -(lists.lengths + missed))  # the size of the collection counts as 0
    return sum((weight * count for weight, count in zip(weights, counts, strict=True)), np.zeros(len(hits)))[
        :, np.newaxis
    ]


def f_measure(lists: RetrievedLists, weights: Sequence[float]) -> Floats:
    """Return F of precision and recall of the whole list, by trec_eval's weight of recall: the square of beta."""
    (weight,) = weights
    precision = lists.retrieved_relevant / np.maximum(lists.lengths, 1)
    recall = lists.retrieved_relevant / np.maximum(lists.relevant, 1)
    divisor = recall + weight * precision
    value = (weight + 1) * precision * recall / np.where(divisor > 0, divisor, 1)
    f: Floats = np.where(divisor > 0, value, 0)
    return f[:, np.newaxis]


def inferred_ap(lists: RetrievedLists, _: Sequence[float]) -> Floats:
    """Return inferred average precision, of documents that are judged or outside the pool."""
    relevant_above = lists.hits_so_far - lists.hits
    irrelevant = lists.is_judged & ~lists.hits
    irrelevant_above: NDArray[np.int64] = np.cumsum(irrelevant, axis=1) - irrelevant
    pooled_above = np.cumsum(lists.is_pooled, axis=1)
    above = (lists.ranks - 1).astype(np.float64)
    judged_share = (relevant_above + irrelevant_above + pooled_above) / np.maximum(above, 1)
    precision = (relevant_above + _INFERRED) / (relevant_above + irrelevant_above + 2 * _INFERRED)
    value = np.where(above == 0, 1, 1 / (above + 1) + above / (above + 1) * judged_share * precision)
    return _sum_over_ranks(np.where(lists.hits, value, 0)) / np.maximum(lists.relevant, 1)[:, np.newaxis]


def binary_gain(lists: RetrievedLists, _: Sequence[float]) -> Floats:
    """Return the mean over relevant documents of 1 / log2(2 + irrelevant documents above)."""
    above = lists.ranks + 2 - lists.hits_so_far
    value = np.where(lists.hits, 1 / np.log2(np.where(lists.hits, above, 2)), 0)
    return _sum_over_ranks(value) / np.maximum(lists.relevant, 1)[:, np.newaxis]


def normalized_gain(lists: RetrievedLists, _: Sequence[float]) -> Floats:
    """Return the gains of the retrieved documents, each discounted by what better documents above could have gained."""
    ranks = lists.hits.shape[1]
    cost = np.cumsum(np.maximum(_columns(lists.ideal, ranks), 1), axis=1)
    lag = 2 + cost - np.cumsum(lists.grades, axis=1)
    has_gain = lists.grades > 0
    value = np.where(has_gain, lists.grades / np.log2(np.where(has_gain, lag, 2)), 0)
    total = lists.ideal.sum(axis=1, keepdims=True)
    return np.where(total > 0, _sum_over_ranks(value) / np.where(total > 0, total, 1), 0)


def ndcg_at_relevant(lists: RetrievedLists, _: Sequence[float]) -> Floats:
    """Return the mean of nDCG at the ranks of documents with a gain; of those not retrieved, of the whole list."""
    gained, ideal = _discounted_gains(lists)
    ratio = np.divide(gained, ideal, out=np.zeros_like(gained), where=ideal > 0)
    has_gain = _columns(lists.grades, gained.shape[1]) > 0
    possible = np.count_nonzero(lists.ideal, axis=1)
    missed = possible - np.count_nonzero(has_gain, axis=1)
    total = _sum_over_ranks(np.where(has_gain, ratio, 0))[:, 0] + missed * _last(ratio)
    mean: Floats = total / np.maximum(possible, 1)
    return mean[:, np.newaxis]


def ndcg_at_levels(lists: RetrievedLists, _: Sequence[float]) -> Floats:
    """Return the mean of nDCG where the ideal gain falls, and of the whole list if it is longer than the ideal one."""
    gained, ideal = _discounted_gains(lists)
    ratio = np.divide(gained, ideal, out=np.zeros_like(gained), where=ideal > 0)
    grades = _columns(lists.ideal, ratio.shape[1] + 1)
    falls = (grades[:, :-1] > 0) & (grades[:, 1:] != grades[:, :-1])
    is_longer = lists.lengths > np.count_nonzero(lists.ideal, axis=1) + 1
    total = _sum_over_ranks(np.where(falls, ratio, 0))[:, 0] + np.where(is_longer, _last(ratio), 0)
    count = np.count_nonzero(falls, axis=1) + is_longer
    return np.where(lists.relevant > 0, total / np.maximum(count, 1), 0)[:, np.newaxis]


def _discounted_gains(lists: RetrievedLists) -> tuple[Floats, Floats]:
    """Return the discounted gains down to each rank, of the list and of the ideal one."""
    ranks = max(lists.hits.shape[1], lists.ideal.shape[1])
    discounts = 1 / np.log2(np.arange(2, ranks + 2))
    gained, ideal = (np.cumsum(_columns(gains, ranks) * discounts, axis=1) for gains in (lists.grades, lists.ideal))
    return gained, ideal


def _columns(values: Floats, count: int) -> Floats:
    """Return the first columns, or all and then zeros."""
    values = values[:, :count]
    return np.pad(values, ((0, 0), (0, count - values.shape[1])))


def _last(values: Floats) -> Floats:
    return values[:, -1] if values.shape[1] else np.zeros(len(values))


def _sum_over_ranks(values: Floats) -> Floats:
    """Return the sums in the order of the ranks."""
    return np.cumsum(values, axis=1)[:, -1:] if values.shape[1] else np.zeros((len(values), 1))


class JudgedMeasure(NamedTuple):
    """A measure of judged lists."""

    compute: Callable[[RetrievedLists, Sequence[float]], Floats]  # queries x numbers
    parameters: tuple[float, ...] = ()  # by default
    is_listed: bool = False  # with a number for each parameter
    parameter_count: int | None = None  # if it is fixed


JUDGED_MEASURES: Mapping[str, JudgedMeasure] = {
    "iprec_at_recall": JudgedMeasure(interpolated_precisions, _RECALLS, is_listed=True),
    "infAP": JudgedMeasure(inferred_ap, parameter_count=0),
    "Rprec_mult": JudgedMeasure(precisions_at_multiples, _MULTIPLES, is_listed=True),
    "utility": JudgedMeasure(utility, _UTILITIES, parameter_count=4),
    "11pt_avg": JudgedMeasure(mean_interpolated_precision, _RECALLS),
    "binG": JudgedMeasure(binary_gain, parameter_count=0),
    "G": JudgedMeasure(normalized_gain, parameter_count=0),
    "ndcg_rel": JudgedMeasure(ndcg_at_relevant, parameter_count=0),
    "Rndcg": JudgedMeasure(ndcg_at_levels, parameter_count=0),
    "set_F": JudgedMeasure(f_measure, (1.0,), parameter_count=1),
    "num_nonrel_judged_ret": JudgedMeasure(judged_irrelevant, parameter_count=0),
}
"""The measures, by trec_eval's name."""
