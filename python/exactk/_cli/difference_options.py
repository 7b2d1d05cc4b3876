"""How systems are compared, and what is required of their values and differences: options, bounds, gates."""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import exactk
from exactk._cli.input_options import name_argument, output_path, refusing_text
from exactk._cli.streams import input_path, print_message
from exactk._options import ComparingOptions
from exactk._plan.fields import number_of_text
from exactk._plan.metric_strings import plan
from exactk._report.comparison import reports_of
from exactk._report.comparison_options import (
    CHOICES,
    MOST_SYSTEMS,
    ComparisonOptions,
    asked_labels,
    check_size,
    parse_margin,
)
from exactk._report.verdicts import Case, Claim, Gate, check_direction, join_gates, method_text, outcome_text
from exactk._runtime.errors import input_error
from exactk._runtime.faults import Option
from exactk._runtime.texts import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from exactk import Convention
    from exactk._cli.result import Result
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
    with refusing_text():
        parse_margin(margin, option)


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
    with refusing_text():
        return number_of_text(text, "--confidence")


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        message = f"expected an integer, found {text!r}"
        raise argparse.ArgumentTypeError(message) from None


_HELP = {
    "baseline": "system to compare the others with (default: every pair is compared, the later system with the earlier one)",
    "test": "test of the differences; t is the paired t test",
    "alternative": "side of the test",
    "confidence": "confidence of intervals, verdicts and gates",
    "interval": "method of the intervals: t, or a bootstrap of users",
    "adjust": "adjustment of p-values for the number of comparisons; max_t needs --test permutation",
    "family": "comparisons that are adjusted together: those on one metric, or all",
    "margin": "difference that does not matter, such as 0.002, or 1%% of the baseline's value; repeatable with METRIC=",
    "clusters": "clusters of users who are not independent, such as the sessions of a person: a file with a column of users "
    "and one of clusters, or JSON; or the name of a user column, where users have several",
    "missing": "users whom one system of a pair lacks are dropped from the pair, or an error",
    "runs": "systems that are training runs of one, which is compared in their place; repeatable",
    "permutations": "random sign flips of --test permutation, at least 1 / (1 - confidence) - 1",
    "resamples": "resamples of bootstrap intervals, at least 2 / (1 - confidence) - 1",
    "seed": "seed of random sign flips and resamples",
}
_FORMS: Mapping[str, Mapping[str, Any]] = {
    "baseline": {"metavar": "NAME"},
    "margin": {"metavar": "[METRIC=]MARGIN", "type": _metric_and_margin, "action": "append"},
    "clusters": {"metavar": "FILE|COLUMN"},
    "runs": {"metavar": "NAME=RUN,RUN[,...]", "type": _runs, "action": "append"},
}
_FORMS_OF_NUMBERS: Mapping[type, Mapping[str, Any]] = {
    float: {"metavar": "LEVEL", "type": _confidence},
    int: {"metavar": "N", "type": _integer},
}

NOT_GIVEN: dict[str, Any] = dict.fromkeys(ComparingOptions.__annotations__)
"""The options of `exactk.compare`, none of which has a default, so that those given are known."""


def add_comparison_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group(
        "differences (any of these options, and any gate, prints them; as CSV, in place of the values; JSON has the sums "
        "from which Comparison.from_json(...).differences computes them)"
    )
    for name in NOT_GIVEN:
        default = getattr(ComparisonOptions, name, None)
        form = _FORMS.get(name) or _FORMS_OF_NUMBERS.get(type(default)) or {"choices": CHOICES[name]}
        text = _HELP[name] if default is None else f"{_HELP[name]} (default: {default})"
        group.add_argument(f"--{name}", help=text, **form)


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


class Bound(NamedTuple):
    """A bound that a value must keep, in one system or in all."""

    option: str
    system: str  # empty for all
    metric: str
    number: float

    def is_kept_by(self, value: float) -> bool:
        """Return whether the value keeps the bound, which NaN never does."""
        return value >= self.number if self.option == "--min" else value <= self.number

    def finding(self, name: str, system: str, value: float) -> str:
        """Return what the value is, and what it should be."""
        of_system = f" of {system}" if system else ""
        limit = "at least" if self.option == "--min" else "at most"
        return f"{name}{of_system} is {value!r}, expected {limit} {self.number!r}"


_HEADINGS = {"--min": "below --min", "--max": "above --max"}


def add_bound_options(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the options; `several` is whether the command has systems with names."""
    metavar = "[SYSTEM:]METRIC=VALUE" if several else "METRIC=VALUE"
    scope = "any system's value, or this system's," if several else "the value"
    for option, relation in (("--min", "lower"), ("--max", "higher")):
        parser.add_argument(
            option,
            type=partial(_parse_bound, option, several),
            action="append",
            default=[],
            dest="bounds",
            metavar=metavar,
            help=f"exit with code 1 if {scope} is undefined or {relation}; repeatable",
        )


def _parse_bound(option: str, several: bool, text: str) -> Bound:  # noqa: FBT001 - argparse passes the text alone
    name, _, number = text.rpartition("=")
    system, colon, metric = name.rpartition(":")  # no metric has a colon, but systems may
    try:
        if metric and (system or not colon) and (several or not system):
            return Bound(option, system, metric, number_of_text(number, option))
    except exactk.InputError:
        pass
    expected = "METRIC=VALUE such as ndcg@10=0.3" + (", perhaps after SYSTEM:" if several else "")
    message = f"expected {expected}, found {text!r}"
    if system and not several:
        message += "; exactk compare has systems with names"
    raise argparse.ArgumentTypeError(message)


def check_systems(bounds: Sequence[Bound], systems: Collection[str]) -> None:
    """Raise InputError for a bound of a system that there is not."""
    for bound in bounds:
        if bound.system and bound.system not in systems:
            hint = did_you_mean(bound.system, systems)
            raise input_error(bound.option, f"one of the systems {', '.join(systems)}", repr(bound.system), hint=hint)


def values_of_bounds(bounds: Sequence[Bound], convention: exactk.Convention) -> Iterator[Value]:
    """Yield the values that have bounds."""
    for bound in bounds:
        with name_argument(bound.option):
            yield from plan([bound.metric], convention)


def check_bounded(result: Result, bounds: Sequence[Bound]) -> None:
    """Raise InputError if a system with a bound has no users in the truth or the predictions: that is no bad model."""
    for system, report in reports_of(result).items():
        if not any(bound.system in {"", system} for bound in bounds):
            continue
        for argument, missing in (("truth", "missing_truth"), ("predictions", "missing_lists")):
            if report.counts[missing] == report.counts["users"]:
                found = f"no users in {system!r}" if system else "no users"
                raise input_error(argument, "users, as --min and --max bound their values", found)


def bound_cases(result: Result, bounds: Sequence[Bound]) -> Iterator[Case]:
    """Yield a test case for each bounded value; its status is "holds", or how the bound is not kept."""
    for system, report in reports_of(result).items():
        for bound in bounds:
            if bound.system and bound.system != system:
                continue
            for value in plan([bound.metric], report.convention):
                if value.name not in report:
                    raise input_error(bound.option, f"one of {', '.join(report)}", value.spelling)
                number = report[value.name]
                status = "holds" if bound.is_kept_by(number) else _HEADINGS[bound.option]
                name = f"{bound.option.removeprefix('--')} {value.spelling} {bound.number!r}"
                text = bound.finding(value.spelling, system, number)
                yield Case(f"{name}: {system}" if system else name, status, text)


def report_violations(cases: Iterable[Case]) -> bool:
    """Print the values that do not keep a bound; return whether there are any."""
    violations = [case for case in cases if case.status != "holds"]
    for case in violations:
        print_message(case.status, case.text)
    return bool(violations)


CLAIMS: tuple[Claim, ...] = get_args(Claim)

_HELP_OF_CLAIMS: dict[Claim, str] = {
    "better": "require every system to be better than the baseline, with MARGIN by more than it",
    "no_worse": "require every system not to be worse than the baseline by more than MARGIN (default: that of --margin)",
    "equivalent": "require every system not to differ from the baseline by more than MARGIN (default: that of --margin)",
}

_CODES = {"holds": 0, "observed": 0, "fails": 1, "undecided": 3}
_WORDS = {"fails": "fails", "undecided": "is undecided", "observed": "is observed, not shown"}


def claim_option(claim: Claim) -> str:
    """Return the option of a claim."""
    return f"--{claim.replace('_', '-')}"


class Requirement(NamedTuple):
    """A claim about some metrics, as it was written."""

    claim: Claim
    metric: str
    margin: str | None


class ClaimedValue(NamedTuple):
    """A claim about one value."""

    claim: Claim
    value: Value
    margin: str | None  # None: to be better by more than 0


NO_GATES: dict[str, Any] = {"gates": [], "gate_group": [], "junit": None}
"""The options, if none is given."""


def add_gate_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("gates (exit code 1 if one fails, 3 if users are too few to decide)")
    for claim in CLAIMS:
        group.add_argument(
            claim_option(claim),
            type=partial(_parse_requirement, claim),
            action="append",
            default=[],
            dest="gates",
            metavar="METRIC[=MARGIN]",
            help=f"{_HELP_OF_CLAIMS[claim]}; repeatable",
        )
    group.add_argument(
        "--gate-group",
        action="append",
        default=[],
        metavar="GROUP",
        help="group of --groups in which every gate must hold, by its users alone; repeatable, or 'every'",
    )
    group.add_argument(
        "--junit",
        type=output_path,
        metavar="FILE",
        help="write the gates, and the bounds of --min and --max, to FILE as a JUnit report, a test case each",
    )


def _parse_requirement(claim: Claim, text: str) -> Requirement:
    metric, margin = split_margin(text, claim_option(claim))
    if not metric:
        message = f"expected METRIC[=MARGIN] such as ndcg@10=1%, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    return Requirement(claim, metric, margin)


def check_gates(arguments: argparse.Namespace, systems: Sequence[str]) -> None:
    """Raise InputError for several systems without a baseline, for groups or a report of no gates, and for no groups."""
    gates: list[Requirement] = arguments.gates
    for option, found in (("--groups", arguments.groups), (claim_option("better"), gates)):
        if arguments.gate_group and not found:
            raise input_error("--gate-group", f"{option} beside it", "none")
    if gates and arguments.baseline is None and len(systems) > 2:
        option = claim_option(gates[0].claim)
        hint = Option("baseline", systems[0])
        raise input_error("baseline", f"the system that {option} compares others with", "none", hint=hint)
    if arguments.junit and not gates and not arguments.bounds:
        options = " or ".join(map(claim_option, CLAIMS))
        raise input_error("--junit", f"a gate: {options}, or a bound: --min or --max", "none")


def claimed_values(
    gates: Sequence[Requirement], convention: exactk.Convention, margins: Mapping[str, str]
) -> list[ClaimedValue]:
    """Return the claims about each value, in their order; `margins` are those of the comparison."""
    claimed: dict[tuple[Claim, str], ClaimedValue] = {}
    for gate in gates:
        with name_argument(claim_option(gate.claim)):
            for value in plan([gate.metric], convention):
                check_direction(gate.claim, value)
                if gate.margin:
                    check_size(parse_margin(gate.margin), value, "")
                one = ClaimedValue(gate.claim, value, gate.margin or _default_margin(gate.claim, value, margins))
                earlier = claimed.setdefault((gate.claim, value.name), one)
                if earlier.margin != one.margin:
                    found = " and ".join(text or "none" for text in (earlier.margin, one.margin))
                    raise input_error("", f"one margin of {value.spelling}", found)
    return list(claimed.values())


def _default_margin(claim: Claim, value: Value, margins: Mapping[str, str]) -> str | None:
    margin = margins.get(value.name, margins.get(""))
    if claim == "better":
        return None
    if margin is None:
        hint = Option(claim, {value.spelling: "1%"})
        raise input_error("", f"the margin of {value.spelling}", "none", hint=hint)
    return margin


def check_claims(comparison: exactk.Comparison, claims: Sequence[ClaimedValue], groups: Sequence[str]) -> Gate:
    """Check the claims about all systems, in all users or in these groups."""
    labels = {str(label): label for report in comparison.reports.values() for label in report.state.groups or ()}
    of_groups = None
    if groups and claims:
        asked = "every" if "every" in groups else groups
        of_groups = [labels[str(name)] for name in asked_labels(asked, list(labels), "--gate-group")]
    gates = (
        comparison.check(groups=of_groups, **{claim: value.spelling if margin is None else {value.spelling: margin}})
        for claim, value, margin in claims
    )
    return join_gates(gates, comparison.unit_names)


def report_gate(gate: Gate) -> int:
    """Print the claims that are not shown to hold, and how many pass; return the exit code."""
    for check in gate:
        if check.status != "holds":
            print_message(f"{claim_option(check.claim)} {_WORDS[check.status]}", check.text)
    if len(gate):
        print_message("gates", f"{outcome_text(gate)}; {method_text(gate)}")
    return _CODES[gate.status]
