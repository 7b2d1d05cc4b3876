"""Measures of pytrec_eval as users ask for them, and their values: what pytrec_eval and the provider of ir_measures share."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk._plan.trec_measures import HEADER, MEASURE_SETS, MEASURES_BY_NAME
from exactk.compat._judged_measures import JUDGED_MEASURES, retrieved_blocks
from exactk.compat._user_values import user_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._plan.conventions import Convention
    from exactk.compat._trec_rows import RankedQueries

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
        self, values: Mapping[str, NDArray[np.float64]], judged: Mapping[Request, NDArray[np.float64]], users: int
    ) -> NDArray[np.float64]:
        """Return the values of the users, a column for each name."""
        if self.name in _CONSTANTS:
            return np.full((users, 1), _CONSTANTS[self.name])
        if self in judged:
            return judged[self]
        columns = np.stack([values[metric] for metric in self.metrics], axis=1)
        return np.log(np.maximum(columns, _LEAST)) if self.name in _LOGARITHMS else columns


_ORDER = {name: position for position, name in enumerate((*HEADER, *MEASURES_BY_NAME))}
_WITH_PARAMETERS = re.compile(r"[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*),?\Z")


def requests_of(measures: Iterable[str]) -> list[Request]:
    """Return each measure once, with all its parameters; those without have the default ones."""
    parameters: dict[str, set[str]] = {}
    for measure in chain.from_iterable(supported_nicknames.get(one, (one,)) for one in measures):
        if measure in supported_measures:
            parameters.setdefault(str(measure), set())  # results have plain strings, such as of numpy.str_
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


def _checked(name: str, given: set[str]) -> Request:
    judged, has_cutoffs = JUDGED_MEASURES.get(name), bool(name in MEASURES_BY_NAME and MEASURES_BY_NAME[name].cutoffs)
    if judged is not None:
        parameters = tuple(map(float, sorted(given))) or judged.parameters
        if given and judged.parameter_count is not None and len(parameters) != judged.parameter_count:
            raise _unsupported(f"{name}.{','.join(sorted(given))}", f"{name} has {judged.parameter_count} parameters")
        return Request(name, tuple(sorted(parameters)) if judged.is_listed else parameters)
    if not given:
        return Request(name, MEASURES_BY_NAME[name].cutoffs if has_cutoffs else ())
    if not has_cutoffs:
        raise _unsupported(f"{name}.{','.join(sorted(given))}", f"{name} has no parameters")
    if not all(one.isdecimal() and int(one) for one in given):
        raise _unsupported(f"{name}.{','.join(sorted(given))}", "a cutoff is a positive whole number")
    return Request(name, tuple(sorted(map(int, given))))


def _unsupported(measure: str, why: str = "") -> ValueError:
    return ValueError(f"unsupported measure {measure}" + (f": {why}" if why else ""))


def values_of_queries(
    requests: Sequence[Request], ranked: RankedQueries, convention: Convention
) -> NDArray[np.float64]:
    """Return the values of the queries: a row each, a column for each name of the requests."""
    _, truth, rankings = ranked
    metrics = [metric for one in requests for metric in one.metrics]
    values = user_values(truth, rankings, metrics, convention) if metrics else {}
    judged = _judged_columns([one for one in requests if one.name in JUDGED_MEASURES], ranked, convention)
    columns = [one.columns(values, judged, len(ranked.queries)) for one in requests]
    return np.concatenate([np.zeros((len(ranked.queries), 0)), *columns], axis=1)


def _judged_columns(
    requests: Sequence[Request], ranked: RankedQueries, convention: Convention
) -> dict[Request, NDArray[np.float64]]:
    """Return the values of measures of judged lists, which are made some queries at a time."""
    parts: dict[Request, list[NDArray[np.float64]]] = {one: [] for one in requests}
    for lists in retrieved_blocks(ranked.truth, ranked.rankings, convention) if requests else ():
        for one, columns in parts.items():
            columns.append(JUDGED_MEASURES[one.name].compute(lists, one.parameters))
    return {one: np.concatenate(columns) for one, columns in parts.items()}
