"""Bounds of values: --min and --max, which make a command fail."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import exactk
from exactk._cli.arguments import name_argument
from exactk._cli.output import print_message
from exactk._plan.fields import number_of_text
from exactk._plan.metric_strings import plan
from exactk._report.comparison import reports_of
from exactk._report.gate import Case
from exactk._runtime.errors import input_error
from exactk._runtime.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from exactk._cli.result import Result
    from exactk._plan.values import Value


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
