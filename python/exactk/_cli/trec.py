"""Output in trec_eval's format."""

from __future__ import annotations

import math
import re
import warnings
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

import exactk
from exactk._cli.streams import print_message
from exactk._engine.systems import in_system
from exactk._files.file_errors import File
from exactk._files.formats import is_trec
from exactk._files.text import open_bytes
from exactk._plan.metric_strings import plan
from exactk._plan.trec_measures import (
    HEADER,
    MEASURE_SETS,
    MEASURES_BY_NAME,
    OUTSIDE_OF_SETS,
    TREC_MEASURES,
    f_of_weight,
    mean_precision_at,
    utility,
)
from exactk._plan.values import as_plan
from exactk._report.comparison import reports_of
from exactk._report.state import plan_of_state
from exactk._runtime.errors import InputError, input_error
from exactk._runtime.texts import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from exactk._plan.trec_measures import TrecMeasure
    from exactk._plan.values import Value
    from exactk._report.judged_lists import JudgedLists


_COUNTS = frozenset({"num_recommended", "num_relevant", "num_hits"})  # summed over users; the others are averaged
_EXACT = _COUNTS | {"user_coverage"}  # whose sums are whole numbers


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
    names: Names = MappingProxyType({})
    sums: tuple[Sum, ...] = ()
    hidden: frozenset[str] = frozenset()  # metrics that are computed for the sums alone
    grades: tuple[tuple[int, str, int], ...] = ()  # relstring: its place, name and depth
    only_header: bool = False


def parse_measures(
    measures: Iterable[str], base: str, min_grade: float | str | None = None, documents: int = 0
) -> Request:
    """Return the request for measures, sets of measures and exactk's metrics, in the preset's version of trec_eval.

    The collection has so many documents (-N), and those of this grade are relevant (-l).
    """
    is_of_9 = base in _PROGRAMS and _PROGRAMS[base].version == 9
    level = min_grade if isinstance(min_grade, float) else 0.0
    metrics: list[str] = []
    requested: dict[str, str] = {}  # the parameters of trec_eval's measures
    for text in measures:
        name, _, parameters = text.partition(".")
        if text in MEASURE_SETS:
            of_set = [MEASURES_BY_NAME[one] for one in MEASURE_SETS[text] if one not in HEADER]
            of_set = [one for one in of_set if not (is_of_9 and one.since_10)]
            requested = {**dict.fromkeys((*HEADER, *(one.name for one in of_set)), ""), **requested}
        elif name in MEASURES_BY_NAME or text in HEADER:
            requested[name] = ",".join(filter(None, (requested.get(name), parameters)))
        else:
            metrics.append(_metric_of_exactk(text))
    header = frozenset(HEADER).intersection(requested)
    of_trec: dict[str, str] = {}
    sums: list[Sum] = []
    grades: list[tuple[int, str, int]] = []
    for name in requested:
        if name in header:
            continue
        if MEASURES_BY_NAME[name].of_grades:
            grades.append((*_place_and_name(name, requested[name]), _depth(name, requested[name])))
        elif terms := _terms_of_measure(name, requested[name], base, documents):
            sums.append(Sum(*_place_and_name(name, requested[name]), terms))
        else:
            of_trec[_metric_of_measure(name, requested[name], level)] = name
    names = {metric: _place_and_name(name, requested[name]) for metric, name in of_trec.items()}
    metrics += of_trec
    # Last, for a value is spelled as it was requested first.
    hidden = dict.fromkeys(metric for one in sums for metric in one.terms if metric not in metrics)
    metrics += hidden
    only_header = not metrics
    return Request(metrics or [_COUNTING], header, names, tuple(sums), frozenset(hidden), tuple(grades), only_header)


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


def _terms_of_measure(name: str, parameters: str, base: str, documents: int) -> Mapping[str, float]:
    """Return the weights of the metrics of which a measure is the sum; none if it is one metric."""
    measure = MEASURES_BY_NAME[name]
    if parameters and (measure.terms or name == "11pt_avg"):
        _check_parameters(measure, parameters)
        numbers = [*map(float, parameters.split(","))]
        is_complete = base in _PROGRAMS and _PROGRAMS[base].is_complete
        return (
            mean_precision_at(numbers) if name == "11pt_avg" else utility(numbers, documents, is_complete=is_complete)
        )
    return measure.terms


_GRADES = 10  # of a list, by default


def _depth(name: str, parameters: str) -> int:
    if not parameters:
        return _GRADES
    _check_parameters(MEASURES_BY_NAME[name], parameters)
    return int(float(parameters))


def _check_parameters(measure: TrecMeasure, parameters: str) -> None:
    pattern, expected = _parameters_of(measure)
    if not re.fullmatch(pattern, parameters):
        raise input_error("--metric", expected, repr(f"{measure.name}.{parameters}"))


def _metric_of_measure(name: str, parameters: str, level: float) -> str:
    """Return exactk's metric for a measure with parameters of trec_eval, of which documents of a grade are relevant."""
    measure = MEASURES_BY_NAME[name]
    assert measure.metric is not None  # noqa: S101 - others are sums, or no numbers
    if not parameters:
        return measure.metric_of_level(level)
    _check_parameters(measure, parameters)
    if measure.cutoffs or measure.levels:  # trec_eval truncates cutoffs
        return measure.metric_string(re.sub(r"\.[0-9]+", "", parameters) if measure.cutoffs else parameters)
    if name == "rbp_resid":
        return f"{measure.metric}(p={float(parameters.removeprefix('p='))!r})"
    if name == "set_F":
        return f_of_weight(float(parameters))
    if name == "rbp":
        return _graded_rbp(parameters)
    return _with_gains(measure, parameters, level)


_CUTOFF = r"[1-9][0-9]{0,9}(?:\.[0-9]+)?"
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_GAIN = rf"(?:[0-9]|[1-9][0-9]|1[01][0-9]|12[0-7])={_NUMBER}"
_PARAMETERS = {
    "utility": (f"-?{_NUMBER}(?:,-?{_NUMBER}){{3}}", "four numbers, as in utility.2,-1,0,0"),
    "set_F": (_NUMBER, "the weight of recall, as in set_F.0.5"),
    "rbp_resid": (f"p={_NUMBER}", "the persistence, as in rbp_resid.p=0.9"),
    "rbp": (
        rf"(?:p={_NUMBER}|{_GAIN})(?:,{_GAIN})*",
        "the persistence and gains from 0 of grades, as in rbp.p=0.9,1=3,2=9",
    ),
    "11pt_avg": (f"{_NUMBER}(?:,{_NUMBER})*", "recalls such as 11pt_avg.0.2,0.5"),
    "relstring": (_CUTOFF, "a number of documents, as in relstring.20"),
}


def _parameters_of(measure: TrecMeasure) -> tuple[str, str]:
    """Return the pattern of the parameters that a measure has, and how a message describes them."""
    if measure.cutoffs:
        return f"{_CUTOFF}(?:,{_CUTOFF})*", f"cutoffs such as {measure.name}.5,10"
    if measure.levels:
        return f"{_NUMBER}(?:,{_NUMBER})*", f"numbers such as {measure.name}.0.2,1"
    if measure.has_gains:
        return f"{_GAIN}(?:,{_GAIN})*", f"gains from 0 of grades, as in {measure.name}.1=3,2=9"
    return _PARAMETERS.get(measure.name, ("", f"{measure.name} without parameters"))


_HIGHEST_GRADE = 127  # in trec_eval's qrels


def _gains_of_grades(name: str, parameters: str) -> tuple[list[float], list[float]]:
    """Return the gain of each grade, which is the grade unless it is given, and of those up to the highest given one."""
    gains = [float(grade) for grade in range(_HIGHEST_GRADE + 1)]
    pairs = [pair.split("=") for pair in parameters.split(",") if pair]
    given = {int(grade): float(gain) for grade, gain in pairs}
    if len(given) < len(pairs):
        raise input_error("--metric", "each grade once", repr(f"{name}.{parameters}"))
    for grade, gain in given.items():
        gains[grade] = gain
    return gains, gains[: max(given, default=-1) + 1]


def _table(gains: Sequence[float]) -> str:
    table = ",".join(f"{gain:.17g}" for gain in gains)
    return f"gain=table,gain_table=[{table}],min_grade={0 if gains[0] else None}"


def _with_gains(measure: TrecMeasure, parameters: str, level: float) -> str:
    """Return the metric with the gain of each grade."""
    gains, given = _gains_of_grades(measure.name, parameters)
    text, least = f"{measure.name}.{parameters}", ""
    if any(higher - lower < 1 for lower, higher in pairwise(sorted(set(given)))):
        message = f"{text}: trec_eval takes gains less than 1 apart for equal, and its value may differ"
        print_message("warning", message)
    first = max(math.ceil(level), 1)  # grade of a relevant document
    if measure.name == "Rndcg" and max(gains[:first]) > 0:
        least = f"least_gain={min(gains[first:])!r},"
        if max(gains[:first]) >= min(gains[first:]):
            print_message("warning", f"{text}: trec_eval has 0 for queries without relevant documents, exactk may not")
    return f"{measure.metric}({least}{_table(gains)})"


def _graded_rbp(parameters: str) -> str:
    """Return RBP whose gains are divided by the highest one that is given, or that is a query's."""
    persistence, _, others = (parameters if parameters.startswith("p=") else f"p=0.9,{parameters}").partition(",")
    gains, given = _gains_of_grades("rbp", others)
    most = max([1.0, *given])
    text = f"p={float(persistence.removeprefix('p='))!r},rbp_over=highest_gain"
    return f"rbp({text},{_table([gain / most for gain in gains])})"


class Output(NamedTuple):
    """The options of the output."""

    request: Request = Request([], frozenset())
    users: bool = False  # each user's values too
    tag: str = ""  # the runid of a single system
    in_run: Mapping[str, Collection[str]] = MappingProxyType({})  # the users to print, by system; others print all
    judged: Mapping[str, JudgedLists] = MappingProxyType({})  # by system, if their grades are printed


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


_LEVELS = "0123456789>"  # the last one for all higher grades


def grades_text(grades: Iterable[float]) -> str:
    """Return the grades of a list as characters: '-' for a document that is not in the qrels, '.' for a negative grade."""
    return "".join(
        "-" if math.isnan(grade) else "." if grade < 0 else _LEVELS[min(int(grade), len(_LEVELS) - 1)]
        for grade in grades
    )


def judged_lists(
    request: Request, truth: exactk.Truth, systems: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, JudgedLists]:
    """Return the lists whose grades are printed, of each system, with negative grades."""
    if not request.grades:
        return {}
    convention, depth = options["convention"], max(depth for _order, _name, depth in request.grades)
    if convention.unjudged == "keep":
        convention = convention.replace(negative_grades="zero_gain")
    names = ("exclude", "candidates", "parents", "grade", "user", "item", "score", "rank", "num_threads", "unit_names")
    given = {name: options[name] for name in names if name in options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the evaluation has warned
        return {
            system: exactk.judge(truth, one, depth, **{**given, "convention": convention})
            for system, one in systems.items()
        }


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
        yield from _user_lines(report, measures, output, system)
    if tag is not None:
        yield _measure_line("runid", "all", tag)
    if "num_q" in output.request.header:
        yield _measure_line("num_q", "all", str(max(report.counts["evaluated"].values())))
    for measure in measures:
        yield _measure_line(measure.name, "all", measure.text)


_Column: TypeAlias = "tuple[tuple[int, float], str, Sequence[str | None]]"
"""The place of a measure, its name, and the text of each user; None for one who is not evaluated."""


def _columns_of_measures(report: exactk.Report, measures: Sequence[_PrintedMeasure]) -> Iterator[_Column]:
    for measure in measures:
        if not measure.only_mean:
            digits = ".0f" if measure.is_total else "6.4f"
            texts = [None if math.isnan(number) else f"{number:{digits}}" for number in measure.of_users(report)]
            yield (measure.order, measure.level), measure.name, texts


def _columns_of_grades(
    report: exactk.Report, request: Request, lists: JudgedLists | None, keys: Sequence[str]
) -> Iterator[_Column]:
    if lists is None:
        return
    rows = {key_text(key): row for row, key in enumerate(lists)}
    is_evaluated = np.any([~np.isnan(values) for values in report.per_user.values()], axis=0).tolist()
    for order, name, depth in request.grades:
        grades = [lists.grades[rows[key], : min(depth, lists.lengths[rows[key]])].tolist() for key in keys]
        texts = [f"'{grades_text(one)}'" for one in grades]
        yield (order, depth), name, [text if one else None for text, one in zip(texts, is_evaluated, strict=True)]


def _user_lines(
    report: exactk.Report, measures: Sequence[_PrintedMeasure], output: Output, system: str
) -> Iterator[str]:
    """Yield the lines of one user after another, in the order of their bytes."""
    in_run = output.in_run.get(system)
    keys = [key_text(user) for user in report.users.tolist()]
    columns = [
        *_columns_of_measures(report, measures),
        *_columns_of_grades(report, output.request, output.judged.get(system), keys),
    ]
    columns.sort(key=lambda column: column[0])
    for row in sorted(range(len(keys)), key=lambda row: keys[row].encode("utf-8", "surrogateescape")):
        if in_run is not None and keys[row] not in in_run:
            continue
        for _order, name, texts in columns:
            if (text := texts[row]) is not None:
                yield _measure_line(name, keys[row], text)


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
        if value.metric in _EXACT and value.rules["average"] == "macro" and not report.state.weighted:
            sums = report.state.totals[parts[0]]
            totals[value.name] = sums.total >> sums.total_scale
        if value.spelling in request.hidden:
            continue
        is_total = value.name in totals and value.metric in _COUNTS
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
    mean = math.fsum(weight * report[value] for value, weight in terms.items())
    if report.state.weighted:
        return printed._replace(order=len(TREC_MEASURES), name=f"exactk.{line.name}", text=f"{mean:6.4f}")
    if not terms.keys() <= totals.keys():
        return printed._replace(text=f"{mean:6.4f}")
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
