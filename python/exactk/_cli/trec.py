"""Output in trec_eval's format."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import exactk
from exactk._cli.output import print_message
from exactk._files.faults import File
from exactk._files.formats import is_trec
from exactk._files.text import open_bytes
from exactk._plan.metric_strings import part_indices, plan
from exactk._plan.trec_measures import HEADER, MEASURE_SETS, MEASURES_BY_NAME, TREC_MEASURES
from exactk._report.state import plan_of_state
from exactk._runtime.errors import input_error
from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from exactk._plan.values import Value


_COUNTS = frozenset({"num_recommended", "num_relevant", "num_hits"})  # summed over users; the others are averaged


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

CONVENTION = "trec_eval"
DEFAULT_MEASURES = ("official",)


class Request(NamedTuple):
    """The values to print."""

    metrics: list[str]  # to compute
    header: frozenset[str]
    without_metric: tuple[str, ...] = ()  # trec_eval's measures that exactk has no metric for


def parse_measures(measures: Iterable[str], convention: str) -> Request:
    """Return the request for measures, sets of measures and exactk's metrics, in the convention's version of trec_eval."""
    metrics: list[str] = []
    requested: dict[str, None] = {}
    for measure in measures:
        if measure in MEASURE_SETS:
            is_of_9 = convention in _PROGRAMS and _PROGRAMS[convention].version == 9
            requested |= dict.fromkeys(
                name
                for name in MEASURE_SETS[measure]
                if name in HEADER or not (is_of_9 and MEASURES_BY_NAME[name].since_10)
            )
        elif measure in HEADER:
            requested[measure] = None
        else:
            metrics.append(_metric_of_measure(measure))
    of_sets = [MEASURES_BY_NAME[name] for name in requested if name not in HEADER]
    metrics += [measure.metric_string() for measure in of_sets if measure.metric is not None]
    # Every metric counts the users evaluated.
    return Request(
        metrics or ["num_recommended"],
        frozenset(requested) & frozenset(HEADER),
        tuple(measure.name for measure in of_sets if measure.metric is None),
    )


def _metric_of_measure(text: str) -> str:
    """Return exactk's metric for a measure of trec_eval's -m, such as ``P`` or ``P.5,10``; return other text unchanged."""
    name, dot, cutoffs = text.partition(".")
    measure = MEASURES_BY_NAME.get(name)
    if measure is not None and measure.metric is None:
        hint = "-m rank_biased_precision is a variant that does not divide gains" if name == "rbp" else ""
        raise input_error("--metric", "a measure that exactk supports", repr(text), hint=hint)
    if dot and re.fullmatch(r"[0-9]+(,[0-9]+)*", cutoffs):
        return measure.metric_string(cutoffs) if measure is not None else f"{name}@[{cutoffs}]"
    return measure.metric_string() if measure is not None and not dot else text


class Output(NamedTuple):
    """The options of the output."""

    users: bool = False  # each user's values too
    header: frozenset[str] = frozenset()
    tag: str = ""  # the runid of a single system
    in_run: Collection[str] | None = None  # the users to print, by their text; None for all


def tell_missing_measures(names: Sequence[str]) -> None:
    """Print once which measures of trec_eval have no counterpart."""
    if names:
        print_message("warning", f"trec_eval prints measures that exactk does not support: {', '.join(names)}")


def reports_by_system(result: exactk.Report | exactk.Comparison) -> Mapping[str, exactk.Report]:
    """Return the reports of a result; that of a single system has no name."""
    return {"": result} if isinstance(result, exactk.Report) else result.reports


def check_evaluated(result: exactk.Report | exactk.Comparison) -> None:
    """Raise InputError if no user of a system was evaluated, as trec_eval does."""
    for system, report in reports_by_system(result).items():
        if not any(report.counts["evaluated"].values()):
            raise input_error("predictions", "a user to evaluate", f"none in {system}" if system else "none")


def check_judged(base: str, truth: exactk.Truth, systems: Mapping[str, object], result: object) -> None:
    """Raise InputError for a query that the qrels lack, under the conventions of trec_eval 10, which refuses such queries."""
    program = _PROGRAMS.get(base)
    if program is None or program.version < 10:
        return
    preset_of_9 = next(name for name, other in _PROGRAMS.items() if other == program._replace(version=9))
    expected = "queries of the qrels, as in trec_eval 10"
    hint = f"--convention {preset_of_9} skips the others"
    judged = set(_user_keys(truth))
    for predictions in systems.values():
        if unjudged := sorted(map(key_text, set(_user_keys(predictions)) - judged)):
            raise input_error("predictions", expected, repr(unjudged[0]), count=len(unjudged), hint=hint)
    if isinstance(result, exactk.Report) and (count := result.counts["missing_truth"]):  # a file read in parts
        raise input_error("predictions", expected, f"{count} other queries", hint=hint)


def _user_keys(container: object) -> list[object]:
    vocabulary = getattr(container, "user_vocabulary", None)
    return [] if vocabulary is None else list(vocabulary.array.tolist())


def users_of_run(base: str, systems: Mapping[str, object]) -> frozenset[str] | None:
    """Return the users of a single run, whose lines trec_eval's -c prints; None for all users."""
    if base not in _PROGRAMS or not _PROGRAMS[base].is_complete or len(systems) != 1:
        return None
    return frozenset(key_text(key) for one in systems.values() for key in _user_keys(one)) or None


def format_trec(result: exactk.Report | exactk.Comparison, output: Output) -> str:
    """Return the lines of one report, or of several, each after a line with its system's name."""
    if isinstance(result, exactk.Report):
        return "".join(_report_lines(result, output))
    return "".join(
        format_trec(report, output._replace(header=output.header | {"runid"}, tag=printable(system)))
        for system, report in result.reports.items()
    )


def _report_lines(report: exactk.Report, output: Output) -> Iterator[str]:
    measures = _printed_measures(report)
    if output.users:
        yield from _user_lines(report, measures, output.in_run)
    if "runid" in output.header:
        yield _measure_line("runid", "all", output.tag)
    if "num_q" in output.header:
        yield _measure_line("num_q", "all", str(max(report.counts["evaluated"].values())))
    for measure in measures:
        text = f"{report[measure.value]:6.4f}" if measure.total is None else str(measure.total)
        yield _measure_line(measure.name, "all", text)


def _user_lines(
    report: exactk.Report, measures: Sequence[_PrintedMeasure], in_run: Collection[str] | None
) -> Iterator[str]:
    """Yield the lines of one user after another, in the order of their bytes."""
    columns = [(measure, report.per_user[measure.value].tolist()) for measure in measures if not measure.only_mean]
    keys = [key_text(user) for user in report.users.tolist()]
    for row in sorted(range(len(keys)), key=lambda row: keys[row].encode("utf-8", "surrogateescape")):
        if in_run is not None and keys[row] not in in_run:
            continue
        for measure, user_values in columns:
            number = user_values[row]
            if not math.isnan(number):
                text = f"{number:6.4f}" if measure.total is None else f"{number:.0f}"
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
    cutoff: int
    name: str
    value: str  # the canonical name
    only_mean: bool
    total: int | None  # total of a count


def _printed_measures(report: exactk.Report) -> list[_PrintedMeasure]:
    """Return the report's values in trec_eval's order."""
    values = plan_of_state(report.state)
    measures = _measures_by_rules(report.convention)
    printed = []
    for value, parts in zip(values, part_indices(values), strict=True):
        order = measures.get(_rules_of_value(value)) if not report.state.weighted else None
        measure = None if order is None else TREC_MEASURES[order]
        if measure is None:
            name = f"exactk.{value.name}" if value.name in MEASURES_BY_NAME else value.name  # differs from trec_eval's
        else:
            name = measure.name if value.cutoff is None else f"{measure.name}_{value.cutoff}"
        total = None
        if value.metric in _COUNTS and value.rules["average"] == "macro" and not report.state.weighted:
            sums = report.state.totals[parts[0]]
            total = sums.total >> sums.total_scale
        printed.append(
            _PrintedMeasure(
                len(TREC_MEASURES) if order is None else order,
                0 if measure is None else value.cutoff or 0,
                name,
                value.name,
                measure is not None and measure.only_mean,
                total,
            )
        )
    return sorted(printed, key=lambda measure: measure[:2])


@lru_cache(maxsize=8)
def _measures_by_rules(convention: exactk.Convention) -> dict[tuple[object, ...], int]:
    """Return the position of each measure by the rules of its values."""
    positions: dict[tuple[object, ...], int] = {}
    for order, measure in enumerate(TREC_MEASURES):
        if measure.metric is not None:
            value, *_ = plan(measure.metric_string(), convention)
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
            if len(fields) > _TAG_FIELD:
                return fields[_TAG_FIELD].decode("utf-8", "surrogateescape")
    return None
