"""A drop-in replacement for pytrec_eval (pytrec-eval-terrier 0.5.11): the same measures, several times as fast.

>>> from exactk.compat import pytrec_eval
>>> qrel = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d2": 1}}
>>> run = {"q1": {"d1": 1.0, "d2": 0.5}, "q2": {"d1": 1.5, "d2": 0.25}}
>>> evaluator = pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg_cut.5"})
>>> results = evaluator.evaluate(run)
>>> results["q2"]
{'map': 0.5, 'ndcg_cut_5': 0.6309297535714574}
>>> pytrec_eval.compute_aggregated_measure("map", [query["map"] for query in results.values()])
0.5

Programs that import pytrec_eval themselves, such as MTEB and BEIR, use it after::

    import sys
    import exactk.compat.pytrec_eval
    sys.modules["pytrec_eval"] = exactk.compat.pytrec_eval

All of its measures are here, and its nicknames.
`differences` says what is not equal; the rest is as the documentation of pytrec_eval says.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk.compat._trec_queries import (
    Judgements,
    convention_of_level,
    requests_of,
    supported_measures,
    supported_nicknames,
    values_of_queries,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "differences",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]


def differences() -> tuple[str, ...]:
    """Return what is not equal to pytrec_eval, in sentences."""
    return (
        "Values may differ in the last digits: by 2e-16 where all sums are exact here, and rounded once.",
        "A score of NaN is a ValueError; pytrec_eval ranks it in an arbitrary place.",
        "A parameter too many, or other text, is a ValueError, as in 'map.3' and 'P_5x'; pytrec_eval ignores it.",
        "A cutoff that is no positive whole number is a ValueError; pytrec_eval ends the process ('recall.0').",
        "relevance_level must be at least 1; pytrec_eval finds nothing relevant if it is negative.",
        "Grades below -1 count as -1; infAP of pytrec_eval counts some of them as relevant.",
        "Scores and grades may be NumPy numbers of any type; pytrec_eval takes Python's alone. Grades must be integers.",
        "Scores may not be True or False, which pytrec_eval takes for 1 and 0.",
    )


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Parse the lines of a run in TREC format: ``query Q0 document rank score tag``.

    `exactk.read` reads a file at once, and much faster.
    """
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for line in f_run:
        query, _, document, _, score, _ = line.strip().split()
        _add_once(run[query], document, float(score), query)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Parse the lines of relevance judgements in TREC format: ``query 0 document grade``."""
    qrel: dict[str, dict[str, int]] = defaultdict(dict)
    for line in f_qrel:
        query, _, document, grade = line.strip().split()
        _add_once(qrel[query], document, int(grade), query)
    return qrel


def _add_once(documents: dict[str, Any], document: str, number: float, query: str) -> None:
    if document in documents:
        message = f"document {document!r} is twice in query {query!r}"
        raise AssertionError(message)
    documents[document] = number


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Return a measure of all queries: the sum of a ``num_`` measure, e to the mean of a ``gm_`` one, else the mean."""
    kind, line, _ = measure.partition("_")
    if line and kind == "num":
        return float(np.sum(values))
    if line and kind == "gm":
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


def check_level(relevance_level: object, judged_docs_only_flag: object = False) -> None:  # noqa: FBT002 - as in pytrec_eval
    """Raise TypeError unless the lowest grade of relevant documents is a positive integer."""
    if not all(isinstance(one, (int, np.integer, np.bool_)) for one in (relevance_level, judged_docs_only_flag)):
        message = "Expected object_relevance_per_qid dictionary and measures set."
        raise TypeError(message)
    if relevance_level < 1:  # type: ignore[operator] # it is a number
        message = "Argument relevance_level should be positive."
        raise TypeError(message)


class RelevanceEvaluator:
    """Evaluates runs against relevance judgements, query by query. The judgements are converted once, here.

    See Also
    --------
    exactk.evaluate : The means and all else about them, in one call: ``exactk.evaluate(qrel, run, ["ndcg@10"], convention="pytrec_eval")``.
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002 - as in pytrec_eval
    ) -> None:
        self._requests = requests_of(frozenset(measures))
        qrel = {query: documents for query, documents in query_relevance.items() if len(documents)}
        check_level(relevance_level, judged_docs_only_flag)
        self._judgements = Judgements.of_mapping(qrel)
        self._convention = convention_of_level(int(relevance_level))
        self._judged_only = bool(judged_docs_only_flag)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Evaluate a run."""
        if not scores:
            return {}
        if not isinstance(scores, dict):
            message = "Argument object scores should be of type dictionary."
            raise TypeError(message)
        ranked = self._judgements.ranked(scores, judged_only=self._judged_only)
        if not ranked.queries:
            return {}
        rows = values_of_queries(self._requests, ranked, self._convention).tolist()
        names = [name for one in self._requests for name in one.names]
        return {query: dict(zip(names, row, strict=True)) for query, row in zip(ranked.queries, rows, strict=True)}
