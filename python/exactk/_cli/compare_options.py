"""The options of `exactk compare` that say how systems are compared: those of the function, by the same names."""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._cli.stdin import input_path
from exactk._plan.fields import number_of_text
from exactk._plan.metric_strings import plan
from exactk._report.comparison_options import CHOICES, MOST_SYSTEMS, ComparisonOptions, check_size, parse_margin
from exactk._runtime.errors import InputError, input_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from exactk import Convention
    from exactk._plan.values import Value


def split_margin(text: str, option: str) -> tuple[str, str | None]:
    """Return the metric and the margin of ``METRIC=MARGIN``; None for the margin if there is only a metric.

    An equals sign within parentheses belongs to the metric, as in ``fbeta@10(beta=2)``.
    """
    metric, equals, margin = text.rpartition("=")
    if not equals or ")" in margin:
        return text, None
    _check_margin(margin, option)
    return metric, margin


def _check_margin(margin: str, option: str) -> None:
    try:
        parse_margin(margin, option)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error.amended(argument=""))) from None


def _metric_and_margin(text: str) -> tuple[str, str]:
    metric, margin = split_margin(text, "--margin")
    if margin is None:
        _check_margin(text, "--margin")
        return "", text
    if not metric:
        message = f"expected [METRIC=]MARGIN such as 0.002, 1% or ndcg@10=1%, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    return metric, margin


def _runs(text: str) -> tuple[str, list[str]]:
    system, _, names = text.partition("=")
    if not system or not names:
        message = f"expected NAME=RUN,RUN such as als=als-1,als-2, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    return system, names.split(",")


def _confidence(text: str) -> float:
    try:
        return number_of_text(text, "--confidence")
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error.amended(argument=""))) from None


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        message = f"expected an integer, found {text!r}"
        raise argparse.ArgumentTypeError(message) from None


class _ComparisonOption(NamedTuple):
    """An option, by its name in `exactk.compare`."""

    name: str
    help: str
    metavar: str | None = None  # None: one of the choices of `ComparisonOptions`
    parse: Callable[[str], Any] = str
    is_repeatable: bool = False


_OPTIONS = (
    _ComparisonOption(
        "baseline",
        "system to compare the others with (default: every pair is compared, the later system with the earlier one)",
        "NAME",
    ),
    _ComparisonOption("test", "test of the differences; t is the paired t test"),
    _ComparisonOption("alternative", "side of the test"),
    _ComparisonOption("confidence", "confidence of intervals, verdicts and gates", "LEVEL", _confidence),
    _ComparisonOption("interval", "method of the intervals: t, or a bootstrap of users"),
    _ComparisonOption(
        "adjust",
        "adjustment of p-values for the number of comparisons; max_t needs --test permutation",
    ),
    _ComparisonOption("family", "comparisons that are adjusted together: those on one metric, or all"),
    _ComparisonOption(
        "margin",
        "difference that does not matter, such as 0.002, or 1%% of the baseline's value; repeatable with METRIC=",
        "[METRIC=]MARGIN",
        _metric_and_margin,
        is_repeatable=True,
    ),
    _ComparisonOption(
        "clusters",
        "clusters of users who are not independent, such as the sessions of a person: a file with a column of users "
        "and one of clusters, or JSON; or the name of a user column, where users have several",
        "FILE|COLUMN",
    ),
    _ComparisonOption("missing", "users whom one system of a pair lacks are dropped from the pair, or an error"),
    _ComparisonOption(
        "runs",
        "systems that are training runs of one, which is compared in their place; repeatable",
        "NAME=RUN,RUN[,...]",
        _runs,
        is_repeatable=True,
    ),
    _ComparisonOption(
        "permutations",
        "random sign flips of --test permutation, at least 1 / (1 - confidence) - 1",
        "N",
        _integer,
    ),
    _ComparisonOption(
        "resamples",
        "resamples of bootstrap intervals, at least 2 / (1 - confidence) - 1",
        "N",
        _integer,
    ),
    _ComparisonOption("seed", "seed of random sign flips and resamples", "N", _integer),
)
"""In the order of `exactk.compare`."""


NOT_GIVEN: dict[str, Any] = {one.name: None for one in _OPTIONS}
"""The options, none of which has a default, so that those given are known."""


def add_comparison_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group(
        "differences (any of these options, and any gate, prints them; as CSV, in place of the values; JSON has the sums "
        "from which Comparison.from_json(...).differences computes them)"
    )
    for one in _OPTIONS:
        choices = CHOICES[one.name] if one.metavar is None else None
        action = "append" if one.is_repeatable else "store"
        default = getattr(ComparisonOptions, one.name, None)
        text = one.help if default is None else f"{one.help} (default: {default})"
        group.add_argument(
            f"--{one.name}", metavar=one.metavar, choices=choices, type=one.parse, action=action, help=text
        )


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were given, by their names in `exactk.compare`."""
    given = {name: option for name in NOT_GIVEN if (option := getattr(arguments, name)) is not None}
    return given if arguments.runs is None else {**given, "runs": _runs_by_system(arguments.runs)}


def _runs_by_system(runs: Sequence[tuple[str, list[str]]]) -> dict[str, list[str]]:
    repeated = [system for system, count in Counter(system for system, _ in runs).items() if count > 1]
    if repeated:
        raise input_error("runs", "the runs of each system once", f"{repeated[0]!r} twice")
    return dict(runs)


def compared_systems(arguments: argparse.Namespace, systems: Sequence[str]) -> list[str]:
    """Return the systems to compare. Raise InputError if an option is invalid."""
    given = given_options(arguments)
    options = ComparisonOptions(**{name: given[name] for name in given if name not in {"margin", "clusters"}})
    options.check_systems(systems)
    return options.compared_systems(systems)


def check_pairs(arguments: argparse.Namespace, systems: Sequence[str]) -> None:
    """Raise InputError if there is no pair of these systems to compare."""
    if len(systems) == 1:
        raise input_error("predictions", "two systems or more to compare", f"{systems[0]!r} alone")
    if arguments.baseline is None and len(systems) > MOST_SYSTEMS:
        hint = Option("baseline", systems[0])
        raise input_error("baseline", f"a system, as there are more than {MOST_SYSTEMS}", "none", hint=hint)


def margins_of(arguments: argparse.Namespace, convention: Convention) -> dict[str, str]:
    """Return the margin of each metric, by canonical name; that of all metrics is under the empty name."""
    margins: dict[str, str] = {}
    for metric, margin in arguments.margin or []:
        for name in [value.name for value in plan([metric], convention)] if metric else [""]:
            if margins.setdefault(name, margin) != margin:
                raise input_error("margin", f"one margin of {name or 'all metrics'}", f"{margins[name]} and {margin}")
    if "" in margins and len(margins) > 1:
        others = ", ".join(filter(None, margins))
        raise input_error("margin", "a margin of all metrics, or one of each", f"{margins['']} and those of {others}")
    return margins


def check_margins(margins: Mapping[str, str], evaluated: Sequence[Value]) -> None:
    """Raise InputError for the margin of a metric that is not evaluated, or that its values cannot exceed."""
    names = [value.name for value in evaluated]
    for metric in filter(None, margins):
        if metric not in names:
            raise input_error("margin", f"one of {', '.join(value.spelling for value in evaluated)}", metric)
    for value in evaluated:
        if text := margins.get(value.name, margins.get("")):
            check_size(parse_margin(text), value, "margin")


def clusters_column(arguments: argparse.Namespace) -> str | None:
    """Return the user column that holds the clusters; None if they are in a file, or there are none."""
    columns, text = arguments.user or [], arguments.clusters
    if text and len(columns) < 2 and re.fullmatch(r"\w+", text) and not os.path.lexists(text):
        hint = f"--user {text} --user session" if not columns else f"--user {columns[0]} --user session"
        raise input_error("--clusters", "a file, or one of several user columns", repr(text), hint=hint)
    if len(columns) < 2 or text not in columns:  # a single column has a user per cluster
        return None
    if os.path.lexists(text):
        found = f"{text!r}, which is both"
        raise input_error("--clusters", "a file or a user column", found, hint=f"--clusters ./{text} is the file")
    return str(text)


def clusters_path(arguments: argparse.Namespace) -> Path | None:
    """Return the file that holds the clusters; None if a column holds them, or there are none."""
    return None if arguments.clusters is None or clusters_column(arguments) else input_path(arguments.clusters)
