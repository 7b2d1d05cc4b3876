"""Output in trec_eval's format."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from exactk._cli.streams import print_message
from exactk._engine.systems import in_system
from exactk._files.file_errors import File
from exactk._files.formats import is_trec
from exactk._files.text import open_bytes
from exactk._plan.metric_strings import plan
from exactk._plan.trec_measures import HEADER, MEASURE_SETS, MEASURES_BY_NAME, OUTSIDE_OF_SETS, TREC_MEASURES, utility
from exactk._plan.values import as_plan
from exactk._report.comparison import reports_of
from exactk._report.state import plan_of_state
from exactk._runtime.errors import InputError, input_error
from exactk._runtime.texts import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import exactk
    from exactk._plan.trec_measures import TrecMeasure
    from exactk._plan.values import Value


_COUNTS = frozenset({"num_recommended", "num_relevant", "num_hits"})  # summed over users; the others are averaged


Names: TypeAlias = "Mapping[str, tuple[int, str]]"
"""By the metric of a measure of trec_eval: its place among them, and its name but for cutoffs and levels."""


class Sum(NamedTuple):
    """A line of a measure that is a weighted sum of metrics."""

    order: int  # of the measure among trec_eval's
    name: str
    terms: Mapping[str, float]  # weights of metrics


class _Program(NamedTuple):
    """The version of trec_eval that a preset reproduces."""

    version: int
    is_complete: bool  # with -c: the mean is over all users of the qrels


_PROGRAMS = {
    "trec_eval": _Program(10, is_complete=False),
    "trec_eval_complete": _Program(10, is_complete=True),
    "trec_eval_9": _Program(9, is_complete=False),
    "trec_eval_9_complete": _Program(9, is_complete=True),
}

_COUNTING = "num_recommended"  # a metric that counts the users evaluated, as all do

CONVENTION = "trec_eval"


def complete_base(base: str) -> str:
    """Return the preset with -c. Raise InputError for one of another library."""
    if base not in _PROGRAMS:
        raise input_error("-c", "--convention trec_eval or trec_eval_9", base)
    program = _PROGRAMS[base]._replace(is_complete=True)
    return next(name for name, other in _PROGRAMS.items() if other == program)


DEFAULT_MEASURES = ("official",)


class Request(NamedTuple):
    """The values to print."""

    metrics: list[str]  # to compute
    header: frozenset[str]
    without_metric: tuple[str, ...] = ()  # trec_eval's measures that exactk has no metric for
    names: Names = MappingProxyType({})
    sums: tuple[Sum, ...] = ()
    hidden: frozenset[str] = frozenset()  # metrics that are computed for the sums alone
    only_header: bool = False


def parse_measures(measures: Iterable[str], convention: str) -> Request:
    """Return the request for measures, sets of measures and exactk's metrics, in the convention's version of trec_eval."""
    is_of_9 = convention in _PROGRAMS and _PROGRAMS[convention].version == 9
    metrics: list[str] = []
    requested: dict[str, str] = {}  # the parameters of trec_eval's measures
    missing: list[str] = []
    for text in measures:
        name, _, parameters = text.partition(".")
        if text in MEASURE_SETS:
            of_set = [MEASURES_BY_NAME[one] for one in MEASURE_SETS[text] if one not in HEADER]
            of_set = [one for one in of_set if not (is_of_9 and one.since_10)]
            requested = {**dict.fromkeys((*HEADER, *(one.name for one in of_set if one.is_supported)), ""), **requested}
            missing += [one.name for one in of_set if not one.is_supported]
        elif name in MEASURES_BY_NAME or text in HEADER:
            requested[name] = ",".join(filter(None, (requested.get(name), parameters)))
        else:
            metrics.append(_metric_of_exactk(text))
    header = frozenset(HEADER).intersection(requested)
    of_trec: dict[str, str] = {}
    sums: list[Sum] = []
    for name in requested:
        if name not in header and MEASURES_BY_NAME[name].terms:
            sums.append(Sum(*_place_and_name(name, requested[name]), _terms_of_measure(name, requested[name])))
        elif name not in header:
            of_trec[_metric_of_measure(name, requested[name])] = name
    names = {metric: _place_and_name(name, requested[name]) for metric, name in of_trec.items()}
    metrics += of_trec
    # Last, for a value is spelled as it was requested first.
    hidden = dict.fromkeys(metric for one in sums for metric in one.terms if metric not in metrics)
    metrics += hidden
    only_header = not metrics
    without_metric = tuple(dict.fromkeys(missing))
    return Request(metrics or [_COUNTING], header, without_metric, names, tuple(sums), frozenset(hidden), only_header)


def _place_and_name(name: str, parameters: str) -> tuple[int, str]:
    measure = MEASURES_BY_NAME[name]
    is_named_by_values = not parameters or measure.cutoffs or measure.levels
    return TREC_MEASURES.index(measure), name if is_named_by_values else f"{name}_{parameters}"


def _metric_of_exactk(text: str) -> str:
    """Return a metric string, unchanged but for cutoffs in the form of trec_eval. Raise InputError for other measures of it."""
    name, _, parameters = text.partition(".")
    if instead := OUTSIDE_OF_SETS.get("prefs" if name.startswith("prefs_") else name):
        raise input_error("--metric", "a measure that exactk supports", repr(text), hint=instead)
    if name in MEASURE_SETS or name in HEADER:
        raise input_error("--metric", f"{name} without parameters", repr(text))
    return f"{name}@[{parameters}]" if re.fullmatch("[0-9]+(,[0-9]+)*", parameters) else text


def _terms_of_measure(name: str, parameters: str) -> Mapping[str, float]:
    """Return the weights of the metrics of which a measure is the sum."""
    measure = MEASURES_BY_NAME[name]
    if not parameters:
        return measure.terms
    _check_parameters(measure, parameters)
    return utility(map(float, parameters.split(",")))


def _check_parameters(measure: TrecMeasure, parameters: str) -> None:
    pattern, expected = _parameters_of(measure)
    if not re.fullmatch(pattern, parameters):
        raise input_error("--metric", expected, repr(f"{measure.name}.{parameters}"))


def _metric_of_measure(name: str, parameters: str) -> str:
    """Return exactk's metric for a measure with parameters of trec_eval."""
    measure, text = MEASURES_BY_NAME[name], f"{name}.{parameters}" if parameters else name
    if measure.metric is None:
        raise input_error("--metric", "a measure that exactk supports", repr(text), hint=measure.instead)
    if not parameters:
        return measure.metric_string()
    _check_parameters(measure, parameters)
    if measure.cutoffs:
        return measure.metric_string(re.sub(r"\.[0-9]+", "", parameters))  # trec_eval truncates them
    if measure.levels:
        return measure.metric_string(parameters)
    if name == "rbp_resid":
        return f"{measure.metric}(p={float(parameters.removeprefix('p='))!r})"
    if name == "set_F":
        return f"fbeta(beta={math.sqrt(float(parameters))!r})"
    return _with_gains(measure.metric, parameters)


_CUTOFF = r"[1-9][0-9]{0,9}(?:\.[0-9]+)?"
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_GAIN = rf"(?:[0-9]|[1-9][0-9]|1[01][0-9]|12[0-7])={_NUMBER}"
_PARAMETERS = {
    "utility": (f"-?{_NUMBER}(?:,-?{_NUMBER}){{3}}", "four numbers, as in utility.2,-1,0,0"),
    "set_F": (_NUMBER, "the weight of recall, as in set_F.0.5"),
    "rbp_resid": (f"p={_NUMBER}", "the persistence, as in rbp_resid.p=0.9"),
}


def _parameters_of(measure: TrecMeasure) -> tuple[str, str]:
    """Return the pattern of the parameters that a measure has, and how a message describes them."""
    if measure.cutoffs:
        return f"{_CUTOFF}(?:,{_CUTOFF})*", f"cutoffs such as {measure.name}.5,10"
    if measure.levels:
        return f"{_NUMBER}(?:,{_NUMBER})*", f"numbers such as {measure.name}.0.2,1"
    if measure.metric in {"dcg", "ndcg"}:
        return f"{_GAIN}(?:,{_GAIN})*", f"gains from 0 of grades, as in {measure.name}.1=3,2=9"
    return _PARAMETERS.get(measure.name, ("", f"{measure.name} without parameters"))


_HIGHEST_GRADE = 127  # in trec_eval's qrels


def _with_gains(metric: str, parameters: str) -> str:
    """Return the metric with the gain of each grade, which is the grade unless it is given."""
    gains = [float(grade) for grade in range(_HIGHEST_GRADE + 1)]
    pairs = [pair.split("=") for pair in parameters.split(",")]
    given = {int(grade): float(gain) for grade, gain in pairs}
    if len(given) < len(pairs):
        raise input_error("--metric", "each grade once", repr(f"{metric}.{parameters}"))
    for grade, gain in given.items():
        gains[grade] = gain
    in_order = sorted(set(gains[: max(given) + 1]))
    if any(higher - lower < 1 for lower, higher in pairwise(in_order)):
        message = f"{metric}.{parameters}: trec_eval takes gains less than 1 apart for equal, and its value may differ"
        print_message("warning", message)
    table = ",".join(f"{gain:.17g}" for gain in gains)
    return f"{metric}(gain=table,gain_table=[{table}],min_grade={0 if gains[0] else None})"


class Output(NamedTuple):
    """The options of the output."""

    request: Request = Request([], frozenset())
    users: bool = False  # each user's values too
    tag: str = ""  # the runid of a single system
    in_run: Mapping[str, Collection[str]] = MappingProxyType({})  # the users to print, by system; others print all


def tell_missing_measures(names: Sequence[str]) -> None:
    """Print once which measures of trec_eval have no counterpart."""
    if names:
        print_message("warning", f"trec_eval prints measures that exactk does not support: {', '.join(names)}")


def check_evaluated(result: exactk.Report | exactk.Comparison) -> None:
    """Raise InputError if no user of a system was evaluated, as trec_eval does."""
    for system, report in reports_of(result).items():
        if not any(report.counts["evaluated"].values()):
            raise input_error("predictions", "a user to evaluate", f"none in {system}" if system else "none")


class _IncompleteRunError(InputError):
    """A run lacks a query of the qrels."""

    exit_code = 4  # as of trec_eval 10


def check_complete(
    base: str, truth: exactk.Truth, systems: Mapping[str, object], result: exactk.Report | exactk.Comparison
) -> None:
    """Raise InputError for a query of the qrels without results, where trec_eval 10 ends; its message says the reverse."""
    if base not in _PROGRAMS or _PROGRAMS[base] != _Program(10, is_complete=False):
        return
    hint = "-c counts them as 0, and --convention trec_eval_9 leaves them out"
    for system, report in reports_of(result).items():
        if count := report.counts["missing_lists"]:
            missing = set(_user_keys(truth)) - set(_user_keys(systems[system]))
            found = f"none for {min(map(key_text, missing))!r}" if missing else "none for others"
            expected = "results for each query of the qrels, as trec_eval 10 does without -c"
            with in_system(system):
                raise _IncompleteRunError.of_argument("predictions", expected, found, count=count, hint=hint)


def _user_keys(container: object) -> list[object]:
    vocabulary = getattr(container, "user_vocabulary", None)
    return [] if vocabulary is None else list(vocabulary.array.tolist())


def users_of_runs(base: str, systems: Mapping[str, object]) -> dict[str, frozenset[str]]:
    """Return the users of each run whose lines alone trec_eval 9 prints with -c; 10 prints those of all users."""
    if base not in _PROGRAMS or _PROGRAMS[base] != _Program(9, is_complete=True):
        return {}
    users = {system: frozenset(map(key_text, _user_keys(one))) for system, one in systems.items()}
    return {system: keys for system, keys in users.items() if keys}


def format_trec(result: exactk.Report | exactk.Comparison, output: Output) -> str:
    """Return the lines of one report, or of several, each after a line with its system's name."""
    lines: list[str] = []
    for system, report in reports_of(result).items():
        tag = output.tag if "runid" in output.request.header else None
        lines += _report_lines(report, output, system, printable(system) or tag)
    return "".join(lines)


def _report_lines(report: exactk.Report, output: Output, system: str, tag: str | None) -> Iterator[str]:
    measures = [] if output.request.only_header else _printed_measures(report, output.request)
    if output.users:
        yield from _user_lines(report, measures, output.in_run.get(system))
    if tag is not None:
        yield _measure_line("runid", "all", tag)
    if "num_q" in output.request.header:
        yield _measure_line("num_q", "all", str(max(report.counts["evaluated"].values())))
    for measure in measures:
        yield _measure_line(measure.name, "all", measure.text)


def _user_lines(
    report: exactk.Report, measures: Sequence[_PrintedMeasure], in_run: Collection[str] | None
) -> Iterator[str]:
    """Yield the lines of one user after another, in the order of their bytes."""
    columns = [(measure, measure.of_users(report)) for measure in measures if not measure.only_mean]
    keys = [key_text(user) for user in report.users.tolist()]
    for row in sorted(range(len(keys)), key=lambda row: keys[row].encode("utf-8", "surrogateescape")):
        if in_run is not None and keys[row] not in in_run:
            continue
        for measure, user_values in columns:
            number = user_values[row]
            if not math.isnan(number):
                text = f"{number:.0f}" if measure.is_total else f"{number:6.4f}"
                yield _measure_line(measure.name, keys[row], text)


def key_text(key: object) -> str:
    """Return a key as one word; parts of a key of several columns are joined by slashes.

    Bytes that are not UTF-8 are preserved when the text is written as data.
    """
    if isinstance(key, tuple):
        return "/".join(map(key_text, key))
    return key.decode("utf-8", "surrogateescape") if isinstance(key, bytes) else str(key)


class _PrintedMeasure(NamedTuple):
    order: int  # among trec_eval's measures; exactk's own come last
    level: float  # or cutoff
    name: str
    text: str  # of all users
    is_total: bool  # of the users, who have whole numbers
    only_mean: bool
    terms: Mapping[str, float]  # weights of values, by canonical name

    def of_users(self, report: exactk.Report) -> list[float]:
        """Return the number of each user."""
        first, *others = (weight * report.per_user[value] for value, weight in self.terms.items())
        numbers: list[float] = sum(others, first).tolist()
        return numbers


def _printed_measures(report: exactk.Report, request: Request) -> list[_PrintedMeasure]:
    """Return the report's values in trec_eval's order; one that two measures have is there under both names."""
    values = plan_of_state(report.state)
    requested = _requested_lines(report, request.names)
    totals: dict[str, int] = {}
    printed = []
    for value, parts in zip(values, as_plan(values).part_indices, strict=True):
        if value.metric in _COUNTS and value.rules["average"] == "macro" and not report.state.weighted:
            sums = report.state.totals[parts[0]]
            totals[value.name] = sums.total >> sums.total_scale
        if value.spelling in request.hidden:
            continue
        is_total = value.name in totals
        text = str(totals[value.name]) if is_total else f"{report[value.name]:6.4f}"
        for order, name in requested.get(value.name) or [_line_of_value(value, report)]:
            measure = TREC_MEASURES[order] if order < len(TREC_MEASURES) else None
            level = 0 if measure is None else value.parameter if measure.levels else value.cutoff or 0
            only_mean = measure is not None and measure.only_mean
            printed.append(_PrintedMeasure(order, level, name, text, is_total, only_mean, {value.name: 1}))
    printed += [_printed_sum(one, report, totals) for one in request.sums]
    return sorted(printed, key=lambda measure: measure[:2])


def _printed_sum(line: Sum, report: exactk.Report, totals: Mapping[str, int]) -> _PrintedMeasure:
    """Return a measure that is a sum; of users with weights, their mean, which trec_eval has not."""
    terms = {plan(metric, report.convention)[0].name: weight for metric, weight in line.terms.items()}
    printed = _PrintedMeasure(line.order, 0, line.name, "", is_total=False, only_mean=False, terms=terms)
    if report.state.weighted:
        mean = sum(weight * report[value] for value, weight in terms.items())
        return printed._replace(order=len(TREC_MEASURES), name=f"exactk.{line.name}", text=f"{mean:6.4f}")
    total = sum(weight * totals[value] for value, weight in terms.items())
    if TREC_MEASURES[line.order].is_total:
        return printed._replace(text=f"{total:.0f}", is_total=True)
    users = max(report.counts["evaluated"].values())
    return printed._replace(text=f"{total / users if users else math.nan:6.4f}")


def _requested_lines(report: exactk.Report, names: Names) -> dict[str, list[tuple[int, str]]]:
    """Return the place and the name of each line of the requested measures, by the canonical name of its value."""
    lines: dict[str, list[tuple[int, str]]] = {}
    for metric, (order, name) in {} if report.state.weighted else names.items():
        for value in plan(metric, report.convention):
            lines.setdefault(value.name, []).append((order, _line_name(TREC_MEASURES[order], name, value)))
    return lines


def _line_name(measure: TrecMeasure, name: str, value: Value) -> str:
    if measure.levels:
        return f"{name}_{value.parameter:3.2f}"
    return name if value.cutoff is None else f"{name}_{value.cutoff}"


def _line_of_value(value: Value, report: exactk.Report) -> tuple[int, str]:
    """Return the place and the name of a value that no measure of trec_eval was requested for."""
    if not report.state.weighted:
        order = _measures_by_rules(report.convention).get(_rules_of_value(value))
        if order is not None:
            return order, _line_name(TREC_MEASURES[order], TREC_MEASURES[order].name, value)
    differs = value.name in MEASURES_BY_NAME  # from trec_eval's measure of this name
    return len(TREC_MEASURES), f"exactk.{value.name}" if differs else value.name


@lru_cache(maxsize=8)
def _measures_by_rules(convention: exactk.Convention) -> dict[tuple[object, ...], int]:
    """Return the position of each measure by the rules of its values."""
    positions: dict[tuple[object, ...], int] = {}
    for order, measure in enumerate(TREC_MEASURES):
        if measure.metric is not None:
            for value in plan(measure.metric_string(), convention):
                positions.setdefault(_rules_of_value(value), order)
    return positions


def _rules_of_value(value: Value) -> tuple[object, ...]:
    return value.metric, value.parameter, value.cutoff is None, *value.rules.values()


_BREAKS = re.compile(r"[\t\n\v\f\r]")


def _measure_line(name: str, user: str, text: str) -> str:
    """Return a line. Ids are unchanged, except that characters that would end a field are escaped."""
    user, text = (_BREAKS.sub(lambda match: repr(match[0])[1:-1], field) for field in (user, text))
    return f"{name:<22}\t{user}\t{text}\n"


_TAG_FIELD = 5
_MAX_LINE = 1 << 20  # bytes


def run_tag(path: Path) -> str | None:
    """Return the tag in the first row of a run; None for pipes and for files that are not TREC text."""
    file = File(path, "predictions")
    if not path.is_file() or not is_trec(file):
        return None
    with open_bytes(file) as stream:
        while line := stream.readline(_MAX_LINE):
            fields = line.split()
            if len(fields) > _TAG_FIELD and not fields[0].startswith(b"#"):  # which begins a comment
                return fields[_TAG_FIELD].decode("utf-8", "surrogateescape")
    return None
