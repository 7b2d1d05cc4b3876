"""Gates: claims about systems and their baseline, which decide the exit code of `exactk compare`."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from exactk._cli.arguments import name_argument, output_path
from exactk._cli.compare_options import split_margin
from exactk._cli.output import print_message
from exactk._plan.metric_strings import plan
from exactk._report.comparison_options import check_size, parse_margin
from exactk._report.gate import HOW_TESTED, Claim, Gate, check_direction, outcome_text
from exactk._runtime.errors import input_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import exactk
    from exactk._plan.values import Value

CLAIMS: tuple[Claim, ...] = get_args(Claim)

_HELP: dict[Claim, str] = {
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


NO_GATES: dict[str, Any] = {"gates": [], "junit": None}
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
            help=f"{_HELP[claim]}; repeatable",
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
    """Raise InputError for several systems without a baseline, and for a report of no gates."""
    gates: list[Requirement] = arguments.gates
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


def check_claims(comparison: exactk.Comparison, claims: Sequence[ClaimedValue]) -> Gate:
    """Check the claims about all systems."""
    return Gate(
        check
        for claim, value, margin in claims
        for check in comparison.check(**{claim: value.spelling if margin is None else {value.spelling: margin}})
    )


def report_gate(gate: Gate) -> int:
    """Print the claims that are not shown to hold, and how many pass; return the exit code."""
    for check in gate:
        if check.status != "holds":
            print_message(f"{claim_option(check.claim)} {_WORDS[check.status]}", check.text)
    if len(gate):
        print_message("gates", f"{outcome_text(gate)}; {HOW_TESTED}")
    return _CODES[gate.status]
