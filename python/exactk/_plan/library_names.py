"""The measures of ir_measures as it spells them, and F with its beta in its name, in exactk's metrics and settings."""

from __future__ import annotations

import math
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from exactk._plan.fields import number_of_text, within_spelling
from exactk._plan.metrics import metrics
from exactk._runtime.errors import input_error
from exactk._runtime.faults import quote
from exactk._runtime.texts import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from exactk._plan.metrics import MetricInfo


class Argument(NamedTuple):
    """One argument of a measure, or several that belong together, and exactk's settings."""

    names: tuple[str, ...]
    settings: Mapping[str, str]  # by name: the value, with the arguments in braces
    values: Mapping[str, str] = MappingProxyType({})  # exactk's word for each value that the argument may have
    defaults: Mapping[str, str] = MappingProxyType({})
    convert: Callable[[str], str] = str


class Measure(NamedTuple):
    """A measure of ir_measures."""

    metric: str  # exactk's
    arguments: tuple[Argument, ...] = ()  # all others are the metric's own
    at: str = ""  # the parameter that stands after @, in place of a cutoff
    metric_with_rel: str = ""  # where it has the argument rel


def _root(number: str) -> str:
    square = number_of_text(number, "metrics")
    return repr(math.sqrt(square)) if square >= 0 else number  # which beta cannot be either


_REL = Argument(("rel",), {"min_grade": "{rel}"})
_REL_OF_RBP = Argument(("rel",), {"min_grade": "{rel}", "gain": "binary"})
_JUDGED_ONLY = Argument(("judged_only",), {"unjudged": "{judged_only}"}, {"True": "remove", "False": "keep"})
_RELATIVE = Argument(("relative",), {"precision_over": "{relative}"}, {"True": "min_list_relevant", "False": "list"})
_NORMALIZE = Argument(("normalize",), {"compatibility_over": "{normalize}"}, {"True": "ideal", "False": "weights"})
_BETA = Argument(("beta",), {"beta": "{beta}"}, convert=_root)  # trec_eval's x, which is not squared
_DCG = Argument(("dcg",), {"gain": "{dcg}"}, {"log2": "linear", "exp-log2": "exp2"})
_RANGE = Argument(
    ("min_rel", "max_rel"), {"gain": "scaled", "gain_range": "[{min_rel},{max_rel}]"}, defaults={"min_rel": "0"}
)
_JUDGING = (_REL, _JUDGED_ONLY)

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        **dict.fromkeys(("P", "Precision"), Measure("precision", _JUDGING)),
        **dict.fromkeys(("R", "Recall"), Measure("recall", _JUDGING)),
        **dict.fromkeys(("AP", "MAP"), Measure("average_precision", _JUDGING)),
        **dict.fromkeys(("RR", "MRR"), Measure("reciprocal_rank", _JUDGING)),
        "nDCG": Measure("ndcg", (_DCG, _JUDGED_ONLY)),
        "Success": Measure("hit_rate", _JUDGING),
        "Rprec": Measure("r_precision", _JUDGING),
        "IPrec": Measure("interpolated_precision", _JUDGING, at="recall"),
        "Bpref": Measure("bpref", (_REL,)),
        "infAP": Measure("inferred_average_precision", (_REL,)),
        "RBP": Measure("rbp", (_REL_OF_RBP,)),
        "SetP": Measure("precision", (*_JUDGING, _RELATIVE)),
        "SetR": Measure("recall", (_REL,)),
        "SetF": Measure("fbeta", (*_JUDGING, _BETA)),
        "SetAP": Measure("set_average_precision", _JUDGING),
        "NumRet": Measure("num_recommended", (_REL,), metric_with_rel="num_hits"),
        "NumRelRet": Measure("num_hits", (_REL,)),
        "NumRel": Measure("num_relevant", (_REL,)),
        "Accuracy": Measure("pairwise_accuracy", (_REL,)),
        "Compat": Measure("compatibility", (_NORMALIZE,)),
        **{name: Measure(name.lower(), (_RANGE,)) for name in ("SDCG", "INSQ", "INST", "BPM")},
        **{f"NERR{number}": Measure(f"nerr{number}", (_RANGE,)) for number in (8, 9, 10, 11)},
    }
)
"""By name. A name and arguments that are the same in exactk need no row."""

_BY_FOLDED_NAME = {fold(name): measure for name, measure in MEASURES.items()}
_F = r"[fF](?P<beta>0\.[0-9]{1,9}|[1-9][0-9]{0,8}(?:\.[0-9]{1,9})?)"

Arguments = list[tuple[str, str]]
"""Names and values, as they were written."""


def in_words_of_exactk(
    name: str, at: str, arguments: Arguments, spelling: str, *, is_of_ir_measures: bool
) -> tuple[str, str, Arguments]:
    """Return the name of the metric, its cutoffs and settings.

    ``is_of_ir_measures`` says that the convention is: then names mean what they mean there. Else InputError is raised
    for a name that means one metric in exactk, and another in ir_measures.
    """
    of_f = re.fullmatch(_F, name)
    if of_f and name not in metrics:
        return "fbeta", at, [("beta", of_f["beta"]), *arguments]
    measure = _BY_FOLDED_NAME.get(fold(name))
    if measure is None:
        return name, at, arguments
    given = {written.lower(): value for written, value in arguments}
    if name in metrics and not _is_meant(measure, metrics[name], given, spelling, is_of_ir_measures=is_of_ir_measures):
        return name, at, arguments
    metric = measure.metric_with_rel if "rel" in given and measure.metric_with_rel else measure.metric
    if at and measure.at and measure.at not in given:
        if not is_of_ir_measures:
            _check_is_no_cutoff(measure, at)
        at, arguments = "", [*arguments, (measure.at, at)]
    for argument in measure.arguments:
        if not given.keys().isdisjoint(argument.names):
            arguments = [one for one in arguments if one[0].lower() not in argument.names]
            arguments += _settings(argument, {**argument.defaults, **given}, spelling)
    return metric, at, arguments


def _check_is_no_cutoff(measure: Measure, at: str) -> None:
    """Raise InputError for the 1 after @ that is a cutoff elsewhere, and every relevant item here."""
    if at == "1":
        expected = f"{measure.metric}({measure.at}=1), or {measure.metric}@1({measure.at}=...)"
        raise input_error("metrics", expected, "@1, which may be either", hint="@1.0 is the whole recall")


def _is_meant(
    measure: Measure, namesake: MetricInfo, given: Mapping[str, str], spelling: str, *, is_of_ir_measures: bool
) -> bool:
    """Return whether the measure is meant, and not exactk's metric of this name; raise InputError if nobody can tell."""
    required = namesake.parameter
    if namesake.name == measure.metric or required is None or required.standard is not None:
        return True
    if required.name in given:
        return False
    if not is_of_ir_measures:
        expected = (
            f"{namesake.name}({required.name}=...), or {measure.metric}, which is {spelling.strip()} of ir_measures"
        )
        raise input_error("metrics", expected, quote(spelling), hint="convention='ir_measures' has its names")
    return True


def _settings(argument: Argument, given: Mapping[str, str], spelling: str) -> Arguments:
    missing = [name for name in argument.names if name not in given]
    if missing:
        raise input_error("metrics", f"{' and '.join(argument.names)} together", quote(spelling))
    words = {}
    for name in argument.names:
        text = given[name].strip("\"'")
        if argument.values and text not in argument.values:
            expected = f"{name} to be {' or '.join(argument.values)}"
            raise input_error("metrics", expected, f"{quote(text)} in {quote(spelling)}")
        with within_spelling(spelling):
            words[name] = argument.convert(argument.values.get(text, text))
    return [(name, value.format_map(words)) for name, value in argument.settings.items()]
