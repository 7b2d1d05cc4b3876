"""A provider of ir_measures 0.4.3 that computes with exactk: the values of its provider pytrec_eval, faster.

It plugs into ir_measures, which must be installed; pytrec_eval need not be::

    import ir_measures
    from ir_measures import AP, nDCG
    import exactk.compat.ir_measures

    exactk.compat.ir_measures.first()
    ir_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)

Measures that the provider pytrec_eval does not have, such as ``ERR`` and ``RR @ 10``, come from the other providers, as
before.
`differences` says what is not equal; the rest is as the documentation of ir_measures says.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import starmap
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._runtime import optional
from exactk.compat import pytrec_eval
from exactk.compat._trec_queries import (
    Judgements,
    RankedQueries,
    Request,
    convention_of_level,
    requests_of,
    values_of_queries,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["differences", "first", "register"]

_TREC_NAMES = {
    "AP": "map",
    "Bpref": "bpref",
    "IPrec": "iprec_at_recall_{recall:.2f}",
    "NumQ": "num_q",
    "NumRel": "num_rel",
    "NumRet": "num_ret",
    "P": "P_{cutoff}",
    "R": "recall_{cutoff}",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "SetAP": "set_map",
    "SetF": "set_F_{beta}",
    "SetP": "set_P",
    "SetR": "set_recall",
    "Success": "success_{cutoff}",
    "infAP": "infAP",
    "nDCG": "ndcg",
}
"""By the name of a measure: that of trec_eval, unless `_trec_name` has another."""

_OF_ANY_LEVEL = frozenset({"nDCG", "NumQ", "NumRet"})


def differences() -> tuple[str, ...]:
    """Return what is not equal to ir_measures' provider pytrec_eval, in sentences."""
    return (
        *pytrec_eval.differences(),
        "nDCG has its own gains beside an nDCG with others; there, one of the two may be 0, and the other has wrong gains.",
        "NumRet counts all documents beside measures with judged_only=True too; there, it may count only judged ones.",
        "IPrec@0.1 and IPrec@0.101, which trec_eval calls alike, have the same value; there, one of them is 0.",
        "SetF with a beta below 0.0001 is a ValueError; there, it has another beta.",
        "ir_measures.parse_trec_measure imports pytrec_eval itself.",
    )


def register() -> Any:  # noqa: ANN401 - a class of ir_measures
    """Add the provider to ``ir_measures.providers.registry``, as ``"exactk"``.

    Returns
    -------
    ir_measures.Provider
        The provider, the same each time. It has ``calc_aggregate``, ``iter_calc``, ``calc`` and ``evaluator``.

    Raises
    ------
    ImportError
        If ir_measures is not installed.

    Examples
    --------
    >>> from ir_measures import P, nDCG
    >>> from exactk.compat import ir_measures
    >>> provider = ir_measures.register()
    >>> qrels = {"q1": {"d1": 1, "d2": 0, "d3": 2}}
    >>> provider.calc_aggregate([nDCG @ 10, P(rel=2) @ 1], qrels, {"q1": {"d1": 1.5, "d3": 2.5}})
    {nDCG@10: 1.0, P(rel=2)@1: 1.0}
    """
    return optional.ir_measures().providers.register(_provider())


def first() -> Any:  # noqa: ANN401 - a class of ir_measures
    """Ask the provider before all others in ``ir_measures.DefaultPipeline``, whose functions ir_measures has as its own.

    Calls of ``ir_measures.calc_aggregate`` and the like need not change. A second call changes nothing.

    Returns
    -------
    ir_measures.Provider
        As `register` does, which it calls.

    Raises
    ------
    ImportError
        If ir_measures is not installed.

    Examples
    --------
    >>> import ir_measures
    >>> import exactk.compat.ir_measures
    >>> provider = exactk.compat.ir_measures.first()
    >>> ir_measures.DefaultPipeline.providers[0] is provider
    True
    >>> ir_measures.calc_aggregate([ir_measures.AP], {"q1": {"d1": 1}}, {"q1": {"d2": 1.5, "d1": 0.5}})
    {AP: 0.5}
    >>> ir_measures.DefaultPipeline.providers.remove(provider)  # as before
    """
    provider = register()
    providers = optional.ir_measures().DefaultPipeline.providers
    providers[:] = [provider, *(one for one in providers if one is not provider)]
    return provider


class _Judged(NamedTuple):
    """What lists are judged by."""

    gains: tuple[tuple[int, int], ...]  # a measure's own gains of grades
    judged_only: bool


class _Invocation(NamedTuple):
    """Measures that come together in the results, as those of one call of pytrec_eval do."""

    level: int
    judged: _Judged
    repetition: int  # SetF has one parameter in a call


_Invocations = dict[_Invocation, dict[str, list[Any]]]
"""The measures of each invocation, by trec_eval's name."""

_Column = tuple[Any, list[str], list[float]]
"""A measure, the queries that have a value, and their values."""


class _ProviderEvaluation:
    """Measures and judgements, for any number of runs."""

    def __init__(self, measures: Iterable[Any], qrels: Mapping[str, Mapping[str, int]]) -> None:
        self._invocations = _invocations(measures)
        self._requests = {one: requests_of(frozenset(names)) for one, names in self._invocations.items()}
        gains = {one.judged.gains for one in self._invocations}
        self._judgements = {one: Judgements.of_mapping(_with_gains(qrels, dict(one))) for one in gains}
        for one in self._invocations:
            pytrec_eval.check_level(one.level)

    def columns(self, run: dict[str, dict[str, float]]) -> Iterator[list[_Column]]:
        """Yield the values of each invocation."""
        ranked: dict[_Judged, RankedQueries] = {}
        for invocation, measures in self._invocations.items() if run else ():
            judged = invocation.judged
            if judged not in ranked:
                ranked[judged] = self._judgements[judged.gains].ranked(run, judged_only=judged.judged_only)
            yield _columns_of(invocation, self._requests[invocation], measures, ranked[judged])


def _columns_of(
    invocation: _Invocation, requests: Sequence[Request], measures: Mapping[str, list[Any]], ranked: RankedQueries
) -> list[_Column]:
    if not ranked.queries:
        return []
    values = values_of_queries(requests, ranked, convention_of_level(invocation.level)).T.tolist()
    names = [name for one in requests for name in one.names]
    by_result = {_name_in_results(name): asked for name, asked in measures.items()}
    return [
        (measure, ranked.queries, column)
        for name, column in zip(names, values, strict=True)
        for measure in by_result[name]
    ]


def _invocations(measures: Iterable[Any]) -> _Invocations:
    invocations: _Invocations = {}
    set_f = 0
    for measure in dict.fromkeys(measures):
        gains = measure["gains"] if measure.NAME == "nDCG" and "gains" in measure.params else {}
        judged = _Judged(
            tuple(sorted(gains.items())), bool("judged_only" in measure.SUPPORTED_PARAMS and measure["judged_only"])
        )
        level = measure.params.get("rel", _default_level(measure, invocations, gains))
        invocation = _Invocation(level, judged, set_f if measure.NAME == "SetF" else 0)
        set_f += measure.NAME == "SetF"
        invocations.setdefault(invocation, {}).setdefault(_trec_name(measure), []).append(measure)
    return invocations


def _default_level(measure: Any, invocations: _Invocations, gains: Mapping[int, int]) -> int:  # noqa: ANN401
    """Return the lowest relevant grade: that of the first invocation where it does not matter."""
    if measure.NAME in _OF_ANY_LEVEL and not gains:
        return next(iter(invocations)).level if invocations else 1
    return 1


def _trec_name(measure: Any) -> str:  # noqa: ANN401 - a measure of ir_measures
    has_cutoff, has_level = "cutoff" in measure.params, "rel" in measure.params
    if measure.NAME in {"AP", "nDCG"} and has_cutoff:
        return f"{_TREC_NAMES[measure.NAME]}_cut_{measure['cutoff']}"
    if measure.NAME == "NumRet" and has_level:
        return "num_rel_ret"
    if measure.NAME == "SetF" and measure["beta"] == 1:
        return "set_F"
    if measure.NAME == "SetP" and measure["relative"]:
        return "set_relative_P"
    if measure.NAME not in _TREC_NAMES:
        message = f"unsupported measure {measure}"
        raise ValueError(message)
    return _TREC_NAMES[measure.NAME].format_map({name: measure[name] for name in measure.SUPPORTED_PARAMS})


def _name_in_results(name: str) -> str:
    return "set_F" if name.startswith("set_F") else name


def _with_gains(qrels: Mapping[str, Mapping[str, int]], gains: Mapping[int, int]) -> dict[str, Mapping[str, int]]:
    """Return the judgements with the gains of their grades, without the queries that have none."""
    judged = {query: documents for query, documents in qrels.items() if len(documents)}
    if not gains:
        return judged
    return {
        query: {document: gains.get(grade, grade) for document, grade in documents.items()}
        for query, documents in judged.items()
    }


def _by_query(converter: Any, number: str) -> Any:  # noqa: ANN401 - of ir_measures
    """Return a dict of dicts, as ``as_dict_of_dict`` of a converter of qrels or runs does, faster."""
    kind, _ = converter.predict_type()
    fields = ("query_id", "doc_id", number)
    source = converter.qrels if number == "relevance" else converter.run
    if kind == "pd_dataframe":
        records: Iterable[tuple[Any, Any, Any]] = zip(*(source[field].tolist() for field in fields), strict=True)
    elif kind == "namedtuple_iter":
        records = map(attrgetter(*fields), source)
    else:
        return converter.as_dict_of_dict()
    result: dict[Any, dict[Any, Any]] = defaultdict(dict)
    for query, document, value in records:
        result[query][document] = value
    return result


def _in_order(columns: list[_Column]) -> Iterator[tuple[str, Any, float]]:
    """Yield each query's values, of one query after another."""
    queries = columns[0][1] if columns else []
    for row, query in enumerate(queries):
        for measure, _, values in columns:
            yield query, measure, values[row]


def _aggregated(measure: Any, values: list[float], missing: int) -> float:  # noqa: ANN401 - a measure of ir_measures
    aggregator = measure.aggregator()
    for value in values + [measure.DEFAULT] * missing:
        aggregator.add(value)
    result: float = aggregator.result()
    return result


@cache
def _provider() -> Any:  # noqa: ANN401 - its class derives from one that may not be installed
    """Return the provider."""
    library = optional.ir_measures()
    evaluator_class = _evaluator_class(library)

    class ExactkProvider(library.providers.Provider):  # type: ignore[misc, name-defined]
        """The measures of pytrec_eval, computed by exactk."""

        NAME = "exactk"
        SUPPORTED_MEASURES = library.providers.PytrecEvalProvider.SUPPORTED_MEASURES

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:  # noqa: ANN401 - of ir_measures
            return evaluator_class(list(measures), qrels)

    return ExactkProvider()


def _evaluator_class(library: Any) -> Any:  # noqa: ANN401 - of ir_measures
    class ExactkEvaluator(library.providers.Evaluator):  # type: ignore[misc]
        """Evaluates runs against the same judgements."""

        def __init__(self, measures: list[Any], qrels: Any) -> None:  # noqa: ANN401 - what ir_measures takes
            by_query = _by_query(library.util.QrelsConverter(qrels), "relevance")
            super().__init__(measures, set(by_query))
            self._evaluation = _ProviderEvaluation(measures, by_query)

        def iter_calc(self, run: Any) -> Iterator[Any]:  # noqa: ANN401 - what ir_measures takes
            """Yield the value of each measure and query."""
            found: dict[Any, list[str]] = {}
            for columns in self._columns(run):
                found |= {measure: queries for measure, queries, _ in columns}
                yield from starmap(library.Metric, _in_order(columns))
            for measure in sorted(set(self.measures), key=str):
                for query in sorted(self.qrel_qids.difference(found.get(measure, ()))):
                    yield library.Metric(query, measure, measure.DEFAULT)

        def calc_aggregate(self, run: Any) -> dict[Any, float]:  # noqa: ANN401 - what ir_measures takes
            """Return the aggregated value of each measure, without the values of the queries."""
            found: dict[Any, list[float]] = {measure: [] for measure in self.measures}
            found |= {measure: values for columns in self._columns(run) for measure, _, values in columns}
            queries = len(self.qrel_qids)
            return {measure: _aggregated(measure, values, queries - len(values)) for measure, values in found.items()}

        def _columns(self, run: Any) -> Iterator[list[_Column]]:  # noqa: ANN401 - what ir_measures takes
            return self._evaluation.columns(_by_query(library.util.RunConverter(run), "score"))

    return ExactkEvaluator
