"""Reports as trec_eval prints them, so that what reads its output can read ours."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import exactk
from exactk._report.display import printable
from exactk._report.state import plan_of_state
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._plan.metric_strings import Value

_GEOMETRIC = "average_precision(average=geometric)"

# trec_eval's measures in its own order: our metric, whether it has a cutoff, their name.
_MEASURES = (
    ("num_recommended", False, "num_ret"),
    ("num_relevant", False, "num_rel"),
    ("num_hits", False, "num_rel_ret"),
    ("average_precision", False, "map"),
    (_GEOMETRIC, False, "gm_map"),
    ("r_precision", False, "Rprec"),
    ("bpref", False, "bpref"),
    ("reciprocal_rank", False, "recip_rank"),
    ("precision", True, "P"),
    ("recall", True, "recall"),
    ("ndcg", False, "ndcg"),
    ("ndcg", True, "ndcg_cut"),
    ("average_precision", True, "map_cut"),
    ("hit_rate", True, "success"),
    ("precision", False, "set_P"),
    ("recall", False, "set_recall"),
    ("set_average_precision", False, "set_map"),
    ("f1", False, "set_F"),
)
_METRIC_OF_MEASURE = {name: metric for metric, has_cutoff, name in _MEASURES if not has_cutoff}
_COUNTS = frozenset({"num_ret", "num_rel", "num_rel_ret"})  # summed over users, where all others are averaged

CONVENTION = "trec_eval"
NUM_Q = "num_q"
OFFICIAL = (
    *(NUM_Q, "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    "P.5,10,15,20,30,100,200,500,1000",
)
"""What trec_eval prints if nothing is asked for, but for the precision at levels of recall."""


def metric_of_measure(measure: str) -> str:
    """Return a measure as trec_eval's -m takes it, such as ``P.5,10``, in our spelling; others as they are."""
    if re.fullmatch(r"[A-Za-z_]+\.\d+(,\d+)*", measure, re.ASCII):
        return "{}@[{}]".format(*measure.split("."))
    return _METRIC_OF_MEASURE.get(measure, measure)


class _Measure(NamedTuple):
    order: int  # among trec_eval's measures; ours come after them
    cutoff: int
    name: str
    value: str  # the canonical name


def check_evaluated(result: exactk.Report | exactk.Comparison) -> None:
    """Raise InputError if no user of a system was evaluated: trec_eval ends so too."""
    systems = result if isinstance(result, exactk.Comparison) else {"": result}
    for system, report in systems.items():
        if not any(report.counts["evaluated"].values()):
            raise input_error("predictions", "a user to evaluate", f"none in {system}" if system else "none")


def format_trec(result: exactk.Report | exactk.Comparison, *, users: bool, num_q: bool) -> str:
    """Return the lines of a report, or of one after another, each after the line that names the system."""
    if isinstance(result, exactk.Report):
        return "".join(_report_lines(result, users=users, num_q=num_q))
    return "".join(
        _measure_line("runid", "all", printable(system)) + format_trec(report, users=users, num_q=num_q)
        for system, report in result.items()
    )


def _report_lines(report: exactk.Report, *, users: bool, num_q: bool) -> Iterator[str]:
    measures = _measures_of_report(report)
    if users:
        yield from _user_lines(report, measures)
    if num_q:
        yield _measure_line(NUM_Q, "all", str(max(report.counts["evaluated"].values())))
    for measure in measures:
        number = report[measure.value]
        if measure.name in _COUNTS:
            number *= report.counts["evaluated"][measure.value]
        yield _measure_line(measure.name, "all", _format_number(measure, number))


def _user_lines(report: exactk.Report, measures: Sequence[_Measure]) -> Iterator[str]:
    """Yield the lines of one user after another; of gm_map trec_eval prints none."""
    columns = [(measure, report.per_user[measure.value].tolist()) for measure in measures if measure.name != "gm_map"]
    keys = [key_text(user) for user in report.users.tolist()]
    for row in sorted(range(len(keys)), key=keys.__getitem__):
        for measure, user_values in columns:
            if not math.isnan(user_values[row]):
                yield _measure_line(measure.name, printable(keys[row]), _format_number(measure, user_values[row]))


def key_text(key: object) -> str:
    """Return a key as one word; that of several columns has a stroke between its parts."""
    return "/".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _measures_of_report(report: exactk.Report) -> list[_Measure]:
    """Return the report's values in trec_eval's order."""
    weighted = report.state.weighted
    measures = [_measure_of_value(value, weighted=weighted) for value in plan_of_state(report.state)]
    return sorted(measures, key=lambda measure: measure[:2])


def _measure_of_value(value: Value, *, weighted: bool) -> _Measure:
    """Return the measure that trec_eval has for the value, or the value by its own name."""
    requested = (None if weighted else _plain_name(value), value.cutoff is not None)
    for order, (name, has_cutoff, measure_name) in enumerate(_MEASURES):
        if requested == (name, has_cutoff):
            return _Measure(
                order, value.cutoff or 0, f"{measure_name}_{value.cutoff}" if has_cutoff else measure_name, value.name
            )
    return _Measure(len(_MEASURES), 0, value.name, value.name)


def _plain_name(value: Value) -> str | None:
    """Return the metric if its string changes nothing of it; a geometric mean is said to be one."""
    average = value.rules["average"]
    name = value.metric if average == "macro" else f"{value.metric}(average={average})"
    plain = value.metric + ("" if value.cutoff is None else f"@{value.cutoff}")
    return name if value.name in {plain, name} else None


def _format_number(measure: _Measure, number: float) -> str:
    return f"{number:.0f}" if measure.name in _COUNTS else f"{number:6.4f}"


def _measure_line(name: str, user: str, text: str) -> str:
    return f"{name:<22}\t{user}\t{text}\n"
