"""What pytrec_eval and the provider of ir_measures share: queries in dicts of dicts as rows of integers, and measures as users ask for them.

A document is its number among the judged ones of its query. No vocabulary of all documents is made: whether a document is
judged is asked of the dict of its query.
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.containers.sequences import other_numbers
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, reindex
from exactk._inputs.truth import Truth
from exactk._plan.conventions import as_convention
from exactk._plan.trec_measures import HEADER, MEASURE_SETS, MEASURES_BY_NAME, f_of_weight, mean_precision_at, utility
from exactk.compat._user_values import user_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Sized

    from numpy.typing import NDArray

    from exactk._plan.conventions import Convention


Documents = dict[str, float]

_NO_STRINGS = "Unable to extract query/object scores."
_NUMBERS = (int, float, np.integer, np.floating)
_KEY_BITS = 64
_SCORE_BITS = 32


@cache
def convention_of_level(level: int) -> Convention:
    """Return the rules of pytrec_eval, by which documents of this grade or a higher one are relevant."""
    return as_convention({"base": "pytrec_eval", "min_grade": level})


class RankedQueries(NamedTuple):
    """The queries of a run that have judgements, in the order of the run, with a row each."""

    queries: list[str]
    truth: Truth
    rankings: Rankings


class Judgements(NamedTuple):
    """Judged documents, with what finds them."""

    rows: Rows
    positions: dict[str, int]  # the row of each query
    documents: list[tuple[str, ...]]  # by row

    @classmethod
    def of_mapping(cls, qrel: Mapping[str, Mapping[str, int]]) -> Judgements:
        """Return the judgements; raise TypeError unless all are integers by strings."""
        _check_types(qrel, str, "Expected string as key.")
        _check_types(qrel.values(), dict, "Expected dictionary as value.")
        of_documents = "Expected mapping of document id to query relevance or matching score."
        _check_types(chain.from_iterable(qrel.values()), str, of_documents)
        grades = list(chain.from_iterable(documents.values() for documents in qrel.values()))
        _check_types(grades, (int, np.integer), "Expected relevance to be integer.")
        indptr = _offsets(qrel.values())
        items = np.arange(indptr[-1]) - np.repeat(indptr[:-1], np.diff(indptr))
        rows = Rows(indptr, items, np.array(grades, np.float64), is_owned=True)
        return cls(rows, {query: row for row, query in enumerate(qrel)}, list(map(tuple, qrel.values())))

    def ranked(self, run: dict[str, Documents], *, judged_only: bool) -> RankedQueries:
        """Return the judged queries of the run, whose documents are ranked by score, then by descending name.

        Raise TypeError unless it has numbers by strings, and ValueError if one is NaN.
        """
        _check_types(run, str, _NO_STRINGS)
        _check_types(run.values(), dict, _NO_STRINGS)
        found = [(query, row) for query in run if (row := self.positions.get(query)) is not None]
        queries, positions = [query for query, _ in found], [row for _, row in found]
        lists = [one if type(one) is dict else dict(one) for one in map(run.__getitem__, queries)]
        _check_others(run, self.positions)
        rows = other_numbers(lists, [self.documents[row] for row in positions], "scores")
        indptr, items, scores = rows.indptr, rows.items, rows.scores
        assert scores is not None  # noqa: S101 - rows of mappings have them
        _check_scores(scores, indptr, queries)
        is_whole = positions == list(range(len(self.documents)))
        truth = Truth.from_valid_rows(self.rows if is_whole else reindex(self.rows, np.array(positions, np.int64)))
        items = items[_by_score(lists, indptr, scores, items >= 0)]
        is_judged = items >= 0
        if judged_only:
            entries = np.repeat(self.rows.indptr[positions], np.diff(indptr)) + items
            is_judged[is_judged] = self.grades[entries[is_judged]] >= 0
            indptr = np.concatenate([[0], np.cumsum(is_judged)])[indptr]
            items = items[is_judged]
        else:
            items[~is_judged] = np.arange(len(self.grades), len(self.grades) + np.count_nonzero(~is_judged))
        return RankedQueries(queries, truth, Rankings.from_rows(Rows(indptr, items, is_owned=True)))

    @property
    def grades(self) -> NDArray[np.float64]:
        """The grades, one row after another."""
        assert self.rows.grades is not None  # noqa: S101 - `of_mapping` has them
        return self.rows.grades


def _offsets(lists: Iterable[Sized]) -> NDArray[np.int64]:
    return np.array([0, *accumulate(map(len, lists))], np.int64)


def _check_others(run: dict[str, Documents], positions: dict[str, int]) -> None:
    """Raise TypeError unless queries without judgements have numbers by strings too."""
    others = [documents for query, documents in run.items() if query not in positions]
    _check_types(chain.from_iterable(others), str, _NO_STRINGS)
    _check_types(chain.from_iterable(documents.values() for documents in others), _NUMBERS, _NO_STRINGS)


def _check_types(values: Iterable[object], types: type | tuple[type, ...], message: str) -> None:
    """Raise TypeError unless all values are of these types."""
    if not all(issubclass(kind, types) for kind in set(map(type, values))):
        raise TypeError(message)


def _check_scores(scores: NDArray[np.float64], indptr: NDArray[np.int64], queries: Sequence[str]) -> None:
    is_nan = np.isnan(scores)
    if is_nan.any():
        row = int(np.searchsorted(indptr, np.argmax(is_nan), side="right")) - 1
        message = f"expected numbers as scores, found NaN in query {queries[row]!r}"
        raise ValueError(message)


def _by_score(
    lists: Sequence[Documents],
    indptr: NDArray[np.int64],
    scores: NDArray[np.float64],
    is_judged: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return the positions in the order of rows, of falling scores as float32, and of falling names where these are equal.

    Equal scores of documents that are not judged stay in any order, as no measure knows one from another.
    """
    lengths = np.diff(indptr)
    position_bits = max(1, int(lengths.max(initial=1) - 1).bit_length())
    most_rows = 1 << (_KEY_BITS - _SCORE_BITS - position_bits)
    parts = []
    for first in range(0, len(lists), most_rows):
        rows = slice(first, first + most_rows)
        begin, end = indptr[first], indptr[min(first + most_rows, len(lists))]
        starts = np.repeat(indptr[:-1][rows], lengths[rows])
        keys = np.repeat(np.arange(len(lists[rows]), dtype=np.uint64), lengths[rows]) << np.uint64(_SCORE_BITS)
        keys = (keys | falling_bits(scores[begin:end])) << np.uint64(position_bits)
        keys |= (np.arange(begin, end) - starts).astype(np.uint64)
        keys.sort()
        positions = (keys & np.uint64((1 << position_bits) - 1)).astype(np.int64)
        _order_ties(lists[rows], keys >> np.uint64(position_bits), positions, is_judged[positions + starts])
        parts.append(positions + starts)
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def falling_bits(scores: NDArray[np.floating[Any]]) -> NDArray[np.uint64]:
    """Return 32-bit numbers that rise as the scores, as float32, fall."""
    with np.errstate(over="ignore"):
        bits = (scores.astype(np.float32) + np.float32(0)).view(np.uint32)  # -0 is 0
    is_negative = bits >> 31 == 1
    return np.where(is_negative, bits, bits ^ np.uint32(0x7FFFFFFF)).astype(np.uint64)


def _order_ties(
    lists: Sequence[Documents], keys: NDArray[np.uint64], positions: NDArray[np.int64], is_judged: NDArray[np.bool_]
) -> None:
    """Put positions with equal keys, in rows with equal scores, in the order of falling names, if one of them is judged."""
    is_tied = keys[1:] == keys[:-1]
    if not is_tied.any():
        return
    edges = np.diff(np.concatenate([[0], is_tied.view(np.int8), [0]]))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) + 1
    judged = np.concatenate([[0], np.cumsum(is_judged)])
    has_judged = judged[ends] > judged[begins]
    rows = keys[begins[has_judged]] >> np.uint64(_SCORE_BITS)
    of_row, names = -1, []
    for row, begin, end in zip(*(one.tolist() for one in (rows, begins[has_judged], ends[has_judged])), strict=True):
        if row != of_row:
            of_row, names = row, list(lists[row])
        positions[begin:end] = sorted(positions[begin:end].tolist(), key=names.__getitem__, reverse=True)


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


class Request(NamedTuple):
    """A measure, with its parameters."""

    name: str
    parameters: tuple[float, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the values, as in results."""
        if not self.parameters or self.name in _OF_ALL_PARAMETERS:
            return [self.name]
        of_levels = self.name in MEASURES_BY_NAME and bool(MEASURES_BY_NAME[self.name].levels)
        return [f"{self.name}_{one:3.2f}" if of_levels else f"{self.name}_{one}" for one in self.parameters]

    @property
    def recalls(self) -> tuple[float, ...]:
        """The recall for each name, of which a precision is; NaN for others."""
        if self.name == "11pt_avg":
            return (min(self.parameters, default=0.0),)
        return self.parameters if self.name == "iprec_at_recall" else (math.nan,) * len(self.names)

    def columns(self, values: Mapping[str, NDArray[np.float64]], level: float, users: int) -> list[NDArray[np.float64]]:
        """Return the values of the users for each name."""
        if self.name in _CONSTANTS:
            return [np.full(users, _CONSTANTS[self.name])]
        terms = terms_of(self, level)
        columns = [sum((weight * values[one] for one, weight in of_name), np.zeros(users)) for of_name in terms]
        return [np.log(np.maximum(one, _LEAST)) for one in columns] if self.name in _LOGARITHMS else columns


_OF_ALL_PARAMETERS: Mapping[str, Callable[[tuple[float, ...]], Mapping[str, float]]] = {
    "utility": utility,
    "11pt_avg": mean_precision_at,
    "set_F": lambda weights: {f_of_weight(weights[0]): 1.0},
}
"""The metrics, with their weights, of measures that have one value for all their parameters."""

_PARAMETER_COUNTS = {"utility": 4, "set_F": 1}


@lru_cache
def terms_of(request: Request, level: float) -> tuple[tuple[tuple[str, float], ...], ...]:
    """Return, for each name, the metrics of exactk that add up to it, with their weights, by the lowest relevant grade."""
    name, parameters = request
    if name in _CONSTANTS:
        return ()
    if name in _LOGARITHMS:
        return (((_LOGARITHMS[name], 1.0),),)
    measure = MEASURES_BY_NAME[name]
    terms = _OF_ALL_PARAMETERS[name](parameters) if parameters and name in _OF_ALL_PARAMETERS else measure.terms
    if terms:
        return (tuple(terms.items()),)
    if not parameters:
        return (((measure.metric_of_level(level), 1.0),),)
    return tuple(((measure.metric_string(repr(one)), 1.0),) for one in parameters)


_ORDER = {name: position for position, name in enumerate((*HEADER, *MEASURES_BY_NAME))}
_WITH_PARAMETERS = re.compile(r"[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*),?\Z")


@lru_cache  # one run after another is evaluated by the same measures
def requests_of(measures: frozenset[str]) -> tuple[Request, ...]:
    """Return each measure once, with all its parameters; those without have the default ones."""
    parameters: dict[str, set[str]] = {}
    for measure in chain.from_iterable(supported_nicknames.get(one, (one,)) for one in measures):
        if measure in supported_measures:
            parameters.setdefault(str(measure), set())  # results have plain strings, such as of numpy.str_
            continue
        name, given = _split(measure)
        parameters.setdefault(name, set()).update(given)
    return tuple(_checked(name, parameters[name]) for name in sorted(parameters, key=lambda name: _ORDER[name]))


def _split(measure: object) -> tuple[str, list[str]]:
    """Return the name and the parameters of a measure such as ``P_5`` or ``P.5,10``."""
    if not isinstance(measure, str):
        message = f"expected string or bytes-like object, got {type(measure).__name__!r}"
        raise TypeError(message)
    for name in sorted(supported_measures, key=len, reverse=True):
        if measure.startswith(name) and (match := _WITH_PARAMETERS.fullmatch(measure, len(name))):
            return name, match[1].split(",")
    raise _unsupported(measure)


def _checked(name: str, given: set[str]) -> Request:
    measure = MEASURES_BY_NAME.get(name)
    asked = f"{name}.{','.join(sorted(given))}"
    if name in _OF_ALL_PARAMETERS or (measure is not None and measure.levels):
        parameters = tuple(map(float, sorted(given)))
        count = _PARAMETER_COUNTS.get(name, len(parameters))
        if given and len(parameters) != count:
            raise _unsupported(asked, f"{name} has {count} parameters")
        if measure is not None and measure.levels:
            return Request(name, tuple(sorted(parameters)) or measure.levels)
        return Request(name, parameters)
    if not given:
        return Request(name, measure.cutoffs if measure is not None else ())
    if measure is None or not measure.cutoffs:
        raise _unsupported(asked, f"{name} has no parameters")
    if not all(one.isdecimal() and int(one) for one in given):
        raise _unsupported(asked, "a cutoff is a positive whole number")
    return Request(name, tuple(sorted(map(int, given))))


def _unsupported(measure: str, why: str = "") -> ValueError:
    return ValueError(f"unsupported measure {measure}" + (f": {why}" if why else ""))


def values_of_queries(
    requests: Sequence[Request], ranked: RankedQueries, convention: Convention
) -> NDArray[np.float64]:
    """Return the values of the queries: a row each, a column for each name of the requests."""
    _, truth, rankings = ranked
    level = float(convention.min_grade or 0)
    metrics = [metric for one in requests for of_name in terms_of(one, level) for metric, _ in of_name]
    values = user_values(truth, rankings, metrics, convention) if metrics else {}
    columns = [column for one in requests for column in one.columns(values, level, len(ranked.queries))]
    if not columns:
        return np.zeros((len(ranked.queries), 0))
    found = np.stack(columns, axis=1)
    is_empty = np.diff(rankings.indptr) == 0
    if is_empty.any():
        recalls = np.array([recall for one in requests for recall in one.recalls])
        relevant = user_values(truth, rankings, ["num_relevant"], convention)["num_relevant"][is_empty]
        with np.errstate(invalid="ignore"):
            asks_for_none = np.floor(recalls * relevant[:, np.newaxis] + 0.9) == 0
        found[is_empty] = np.where(asks_for_none, np.nan, found[is_empty])  # 0 / 0, as trec_eval has it
    return found
