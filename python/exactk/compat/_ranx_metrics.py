"""The metrics of ranx by its names, such as ``ndcg@10-l2`` and ``rbp.95``: values per query, from ranked documents."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.containers.sequences import other_numbers
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.truth import Truth
from exactk._plan.conventions import as_convention
from exactk.compat._ranx_data import flat_values, offsets_of, reversed_rising_order
from exactk.compat._user_values import judged_blocks, user_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._engine.problem import JudgedCells


Values = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

_NAMES = {
    "hits": "num_hits",
    "hit_rate": "hit_rate",
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "r-precision": "r_precision",
    "mrr": "reciprocal_rank",
    "map": "average_precision",
    "dcg": "dcg",
    "dcg_burges": "dcg",
    "ndcg": "ndcg",
    "ndcg_burges": "ndcg",
    "bpref": "bpref",
    "rbp": "rbp",
}
_WITHOUT_CUTOFF = {"r-precision", "bpref", "rbp"}
_WITH_GAIN = {"dcg", "dcg_burges", "ndcg", "ndcg_burges", "rbp"}


class RanxMetric(NamedTuple):
    """A metric, taken from its name."""

    name: str
    parameter: float  # the cutoff, 0 for the whole list; of RBP, the persistence
    level: int  # the lowest grade of a relevant document

    @classmethod
    def parsed(cls, text: str) -> RanxMetric:
        """Return the metric; raise ValueError if there is no such metric, AssertionError if the cutoff is negative."""
        name, level = text.split("-l") if "-l" in text else (text, "1")
        if "rbp" in name:
            name, parameter = _persistence(name)
        else:
            name, *cutoff = name.split("@")
            parameter = int(cutoff[0]) if cutoff else 0
        metric = cls(name, parameter, int(level))
        if name not in _NAMES:
            message = f"metric {text!r} is not supported: expected one of {', '.join(_NAMES)}"
            raise ValueError(message)
        if parameter < 0 and name not in _WITHOUT_CUTOFF:
            message = f"k must be at least 0 in {text!r}"
            raise AssertionError(message)
        return metric

    @property
    def metric_string(self) -> str:
        """The metric of exactk."""
        cutoff = f"@{self.parameter}" if self.parameter and self.name not in _WITHOUT_CUTOFF else ""
        options = [f"min_grade={self.level}"]
        if self.name == "rbp":
            options.append(f"p={self.parameter}")
        if self.name.endswith("_burges"):
            options.append("gain=exp2")
        return f"{_NAMES[self.name]}{cutoff}({','.join(options)})"


def _persistence(text: str) -> tuple[str, float]:
    """Return the name, and the digits behind its first point, or @, as a fraction."""
    for separator in ".@":
        if separator in text:
            name, digits = text.split(separator)[:2]
            return name, float(f"0.{digits}")
    message = f"RBP requires a persistence, such as 'rbp.95': {text!r}"
    raise ValueError(message)


class RankedDocuments(NamedTuple):
    """The documents of each query in the order of their scores, and its judgements."""

    truth: Truth
    rankings: Rankings

    def values(self, metrics: Mapping[str, RanxMetric], num_threads: int | None) -> dict[str, Values]:
        """Return the values of each metric."""
        for text, metric in metrics.items():
            self._check_gains(text, metric)
        strings = {text: one.metric_string for text, one in metrics.items() if one.name != "bpref"}
        of_strings = list(strings.values())
        values = user_values(self.truth, self.rankings, of_strings, _CONVENTION, num_threads) if strings else {}
        return {
            text: values[strings[text]] if text in strings else self._bpref(metric.level)
            for text, metric in metrics.items()
        }

    def _check_gains(self, text: str, metric: RanxMetric) -> None:
        grades = self.truth.grades
        if metric.level < 0 and metric.name in _WITH_GAIN and grades is not None and (grades < 0).any():
            message = f"{text!r}: documents of negative grades are relevant, and their gains would be negative"
            raise ValueError(message)

    def _bpref(self, level: int) -> Values:
        """Return bpref as ranx defines it: NaN if a relevant document is found of a query without non-relevant ones."""
        convention = as_convention({"base": "ranx", "min_grade": level})
        blocks, first = [np.zeros(0)], 0
        for lists in judged_blocks(self.truth, self.rankings, "num_hits", convention):
            graded = np.diff(self.truth.indptr[first : first + len(lists.items) + 1])
            first += len(lists.items)
            blocks.append(_bpref_of_lists(lists, graded))
        return np.concatenate(blocks)


def _bpref_of_lists(lists: JudgedCells, graded: Integers) -> Values:
    """Return bpref of lists whose truths have so many documents, which are numbers below these."""
    is_irrelevant = (lists.items >= 0) & (lists.items < graded[:, np.newaxis]) & ~lists.hits
    above = np.minimum(np.cumsum(is_irrelevant, axis=1), lists.relevant[:, np.newaxis])
    with np.errstate(invalid="ignore", divide="ignore"):
        penalties = above / np.minimum(lists.relevant, graded - lists.relevant)[:, np.newaxis]
        total: Values = np.where(lists.hits, 1 - penalties, 0).sum(axis=1) / lists.relevant
    return np.where(lists.relevant > 0, total, 0)


_CONVENTION = as_convention("ranx")


def ranked_documents(
    judged: Sequence[Mapping[Any, float]], lists: Sequence[Mapping[Any, float]], *, is_ranked: bool
) -> RankedDocuments:
    """Return the documents of queries, one after another; those of plain dicts, which are not ranked, by their scores."""
    indptr = offsets_of(judged)
    count = int(indptr[-1])
    items = np.fromiter(chain.from_iterable(map(range, map(len, judged))), np.int64, count)
    truth = Truth.from_valid_rows(Rows(indptr, items, flat_values(judged, count), is_owned=True))
    found = other_numbers(
        [one if type(one) is dict else dict(one) for one in lists], list(map(tuple, judged)), "scores"
    )
    list_indptr, numbers, scores = found.indptr, found.items, found.scores
    assert scores is not None  # noqa: S101 - rows of mappings have them
    if not is_ranked:
        numbers = numbers[reversed_rising_order(scores, list_indptr)]
    is_unjudged = numbers < 0
    numbers[is_unjudged] = np.arange(count, count + np.count_nonzero(is_unjudged))
    return RankedDocuments(truth, Rankings.from_rows(Rows(list_indptr, numbers, is_owned=True)))
