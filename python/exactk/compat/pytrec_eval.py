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

All of its measures are here, and its nicknames. `differences` says what is not equal.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._plan.conventions import as_convention
from exactk._plan.trec_measures import HEADER, MEASURE_SETS, MEASURES_BY_NAME
from exactk.compat._judged_measures import JUDGED_MEASURES, RetrievedLists, retrieved_lists
from exactk.compat._trec_rows import Judgements
from exactk.compat._user_values import user_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "differences",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

_CONSTANTS = {"runid": 0.0, "num_q": 1.0, "relstring": 0.0}  # which are texts, or of all queries together
_LOGARITHMS = {"gm_map": "average_precision", "gm_bpref": "bpref"}
_LEAST = 1e-5  # of which a logarithm is taken
_PREFERENCES = {  # of another kind of judgements, whose measures pytrec_eval does not support either
    "prefs": ("simp", "pair", "avgjg", "num_prefs_ful", "num_prefs_ful_ret", "num_prefs_poss"),
    "all_prefs": (
        *("simp", "simp_ret", "simp_imp", "pair", "pair_ret", "pair_imp", "avgjg", "avgjg_ret", "avgjg_imp"),
        *("avgjg_Rnonrel", "avgjg_Rnonrel_ret", "num_prefs_ful", "num_prefs_ful_ret", "num_prefs_poss"),
    ),
}

supported_measures: set[str] = {
    *HEADER,
    *(name for name, measure in MEASURES_BY_NAME.items() if not measure.since_10),
}
"""The names of the measures."""

supported_nicknames: dict[str, set[str]] = {
    **{nickname: set(names) & supported_measures for nickname, names in MEASURE_SETS.items()},
    **{nickname: {*HEADER, *(f"prefs_{name}" for name in names)} for nickname, names in _PREFERENCES.items()},
    "qrels_jg": {*HEADER, "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"},
}
"""The names of sets of measures, and what is in each."""


def differences() -> tuple[str, ...]:
    """Return what is not equal to pytrec_eval, in sentences.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from exactk.compat import pytrec_eval
    >>> pytrec_eval.differences()[0]
    'Values may differ in the last digits: by 2e-16 where all sums are exact here, and rounded once.'
    """
    return (
        "Values may differ in the last digits: by 2e-16 where all sums are exact here, and rounded once.",
        "A score of NaN is a ValueError; pytrec_eval ranks it in an arbitrary place.",
        "A parameter too many is a ValueError, such as in 'map.3'; pytrec_eval ignores it: 'P_5_10' is 'P_5' there.",
        "A cutoff that is no positive whole number is a ValueError; pytrec_eval ends the process ('recall.0').",
        "relevance_level must be at least 1; pytrec_eval finds nothing relevant if it is negative.",
        "Grades below -1 count as -1; infAP of pytrec_eval counts some of them as relevant.",
        "Scores and grades may be NumPy numbers of any type; pytrec_eval takes Python's alone. Grades must be integers.",
    )


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Parse the lines of a run in TREC format: ``query Q0 document rank score tag``.

    Parameters
    ----------
    f_run : iterable of str
        The lines, such as an open file. `exactk.read` reads a file at once, and much faster.

    Returns
    -------
    dict
        ``{query: {document: score}}``

    Raises
    ------
    AssertionError
        If a query has a document twice.
    ValueError
        If a line has another number of fields, or a score is no number.

    Examples
    --------
    >>> from exactk.compat import pytrec_eval
    >>> dict(pytrec_eval.parse_run(["q1 Q0 d1 1 2.5 mine"]))
    {'q1': {'d1': 2.5}}
    """
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for line in f_run:
        query, _, document, _, score, _ = line.strip().split()
        _add_once(run[query], document, float(score), query)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Parse the lines of relevance judgements in TREC format: ``query 0 document grade``.

    Parameters
    ----------
    f_qrel : iterable of str
        The lines, such as an open file.

    Returns
    -------
    dict
        ``{query: {document: grade}}``

    Raises
    ------
    AssertionError
        If a query has a document twice.
    ValueError
        If a line has another number of fields, or a grade is no integer.

    Examples
    --------
    >>> from exactk.compat import pytrec_eval
    >>> dict(pytrec_eval.parse_qrel(["q1 0 d1 2"]))
    {'q1': {'d1': 2}}
    """
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
    """Return a measure of all queries: the sum of a ``num_`` measure, e to the mean of a ``gm_`` one, else the mean.

    Parameters
    ----------
    measure : str
        The name of the measure.
    values : sequence of float
        The value of each query.

    Returns
    -------
    float

    Examples
    --------
    >>> from exactk.compat import pytrec_eval
    >>> pytrec_eval.compute_aggregated_measure("num_ret", [10, 5])
    15.0
    """
    kind = measure.partition("_")[0]
    if kind == "num":
        return float(np.sum(values))
    if kind == "gm":
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


class RelevanceEvaluator:
    """Evaluates runs against relevance judgements, query by query.

    Parameters
    ----------
    query_relevance : mapping
        ``{query: {document: grade}}``, where queries and documents are strings, and grades are integers. Queries without
        documents are left out. It is converted once, here.
    measures : iterable of str
        Names of `supported_measures` or `supported_nicknames`, with parameters or without: ``"ndcg_cut"``,
        ``"ndcg_cut_10"``, ``"ndcg_cut.5,10"``.
    relevance_level : int, default 1
        The lowest grade of a relevant document, at least 1. Gains are grades whatever it is.
    judged_docs_only_flag : bool, default False
        Whether documents without a judgement are removed from the run.

    Raises
    ------
    ValueError
        If a measure or one of its parameters is not supported.
    TypeError
        If an argument has another type.

    See Also
    --------
    exactk.evaluate : The means and all else about them, in one call: ``exactk.evaluate(qrel, run, ["ndcg@10"], convention="pytrec_eval")``.

    Examples
    --------
    >>> from exactk.compat import pytrec_eval
    >>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 1, "d2": 2}}, {"recall.1,2", "recip_rank"})
    >>> evaluator.evaluate({"q1": {"d9": 3.0, "d2": 2.0}})
    {'q1': {'recip_rank': 0.5, 'recall_1': 0.0, 'recall_2': 0.5}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002 - as in pytrec_eval
    ) -> None:
        self._requests = _requests(measures)
        qrel = {query: documents for query, documents in query_relevance.items() if len(documents)}
        level: object = relevance_level
        if not isinstance(level, int):
            message = "Expected object_relevance_per_qid dictionary and measures set."
            raise TypeError(message)
        if level < 1:
            message = "Argument relevance_level should be positive."
            raise TypeError(message)
        self._judgements = Judgements.of_mapping(qrel)
        self._convention = as_convention({"base": "pytrec_eval", "min_grade": int(level)})
        self._judged_only = bool(judged_docs_only_flag)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Evaluate a run.

        Parameters
        ----------
        scores : dict
            ``{query: {document: score}}``, the higher the better. Queries without judgements are left out. Of documents
            with equal scores, the one whose name comes last is the better.

        Returns
        -------
        dict
            ``{query: {measure: value}}``, in the order of the run's queries and of trec_eval's measures.

        Raises
        ------
        TypeError
            If it is no dict of dicts from strings to numbers.
        ValueError
            If a score is NaN.
        """
        if not scores:
            return {}
        if not isinstance(scores, dict):
            message = "Argument object scores should be of type dictionary."
            raise TypeError(message)
        queries, truth, rankings = self._judgements.ranked(scores, judged_only=self._judged_only)
        if not queries:
            return {}
        metrics = [metric for one in self._requests for metric in one.metrics]
        values = user_values(truth, rankings, metrics, self._convention) if metrics else {}
        lists = None
        if any(one.name in JUDGED_MEASURES for one in self._requests):
            lists = retrieved_lists(truth, rankings, self._convention)
        names = [name for one in self._requests for name in one.names]
        columns = [one.columns(values, lists, len(queries)) for one in self._requests]
        rows = np.concatenate(columns, axis=1).tolist() if columns else repeat(())
        return {query: dict(zip(names, row, strict=True)) for query, row in zip(queries, rows, strict=False)}


class _Request(NamedTuple):
    """A measure, with its parameters."""

    name: str
    parameters: tuple[float, ...] = ()

    @property
    def metrics(self) -> list[str]:
        """The metrics of exactk."""
        if self.name in _LOGARITHMS:
            return [_LOGARITHMS[self.name]]
        if self.name in _CONSTANTS or self.name in JUDGED_MEASURES:
            return []
        measure = MEASURES_BY_NAME[self.name]
        if not self.parameters:
            return [measure.metric_string()]
        return [measure.metric_string(str(cutoff)) for cutoff in self.parameters]

    @property
    def names(self) -> list[str]:
        """The names of the values, as in results."""
        judged = JUDGED_MEASURES.get(self.name)
        if judged is not None and judged.is_listed:
            return [f"{self.name}_{parameter:3.2f}" for parameter in self.parameters]
        if judged is not None or not self.parameters:
            return [self.name]
        return [f"{self.name}_{cutoff}" for cutoff in self.parameters]

    def columns(
        self, values: Mapping[str, NDArray[np.float64]], lists: RetrievedLists | None, users: int
    ) -> NDArray[np.float64]:
        """Return the values of the users, a column for each name."""
        if self.name in _CONSTANTS:
            return np.full((users, 1), _CONSTANTS[self.name])
        if self.name in JUDGED_MEASURES:
            assert lists is not None  # noqa: S101 - they were made for it
            return JUDGED_MEASURES[self.name].compute(lists, self.parameters)
        columns = np.stack([values[metric] for metric in self.metrics], axis=1)
        return np.log(np.maximum(columns, _LEAST)) if self.name in _LOGARITHMS else columns


_ORDER = {name: position for position, name in enumerate((*HEADER, *MEASURES_BY_NAME))}
_WITH_PARAMETERS = re.compile(r"[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*),?\Z")


def _requests(measures: Iterable[str]) -> list[_Request]:
    """Return each measure once, with all its parameters; those without have the default ones."""
    parameters: dict[str, set[str]] = {}
    for measure in chain.from_iterable(supported_nicknames.get(one, (one,)) for one in measures):
        if measure in supported_measures:
            parameters.setdefault(measure, set())
            continue
        name, given = _split(measure)
        parameters.setdefault(name, set()).update(given)
    return [_checked(name, parameters[name]) for name in sorted(parameters, key=lambda name: _ORDER[name])]


def _split(measure: object) -> tuple[str, list[str]]:
    """Return the name and the parameters of a measure such as ``P_5`` or ``P.5,10``."""
    if not isinstance(measure, str):
        message = f"expected string or bytes-like object, got {type(measure).__name__!r}"
        raise TypeError(message)
    for name in sorted(supported_measures, key=len, reverse=True):
        if measure.startswith(name) and (match := _WITH_PARAMETERS.fullmatch(measure, len(name))):
            return name, match[1].split(",")
    raise _unsupported(measure)


def _checked(name: str, given: set[str]) -> _Request:
    judged, has_cutoffs = JUDGED_MEASURES.get(name), bool(name in MEASURES_BY_NAME and MEASURES_BY_NAME[name].cutoffs)
    if judged is not None:
        parameters = tuple(map(float, sorted(given))) or judged.parameters
        if given and judged.parameter_count is not None and len(parameters) != judged.parameter_count:
            raise _unsupported(f"{name}.{','.join(sorted(given))}", f"{name} has {judged.parameter_count} parameters")
        return _Request(name, tuple(sorted(parameters)) if judged.is_listed else parameters)
    if not given:
        return _Request(name, MEASURES_BY_NAME[name].cutoffs if has_cutoffs else ())
    if not has_cutoffs:
        raise _unsupported(f"{name}.{','.join(sorted(given))}", f"{name} has no parameters")
    if not all(one.isdecimal() and int(one) for one in given):
        raise _unsupported(f"{name}.{','.join(sorted(given))}", "a cutoff is a positive whole number")
    return _Request(name, tuple(sorted(map(int, given))))


def _unsupported(measure: str, why: str = "") -> ValueError:
    return ValueError(f"unsupported measure {measure}" + (f": {why}" if why else ""))
