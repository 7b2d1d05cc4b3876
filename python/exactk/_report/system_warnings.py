"""Warnings about one report or several systems: each given once, naming its systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._report.state import plan_of_state
from exactk._runtime.errors import warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._plan.values import Value
    from exactk._report.state import State
    from exactk._runtime.faults import Option, Text


def warn_of_systems(findings: Mapping[str, str], *advice: str | Option) -> None:
    """Warn once of the systems' non-empty messages; a single report has an empty name."""
    if text := text_of_systems(findings, *advice):
        warn(*text)


def text_of_systems(findings: Mapping[str, str], *advice: str | Option) -> Text:
    """Return the warning about the systems' non-empty messages; empty if all are.

    The advice, which is the same for all systems, ends the warning.
    """
    if not any(findings.values()):
        return ()
    systems: dict[str, list[str]] = {}
    for system, finding in findings.items():
        if finding:
            systems.setdefault(finding, []).append(system)
    texts = [_name_systems(names, len(findings)) + finding for finding, names in systems.items()]
    return ("; ".join(texts), *advice)


def _name_systems(systems: Sequence[str], count: int) -> str:
    """Return the beginning of a warning, which names the systems if there are several."""
    if list(systems) == [""]:
        return ""
    if len(systems) == 1:
        return f"system {systems[0]!r}: "
    names = list(map(repr, systems))
    return "all systems: " if len(systems) == count else f"systems {', '.join(names[:-1])} and {names[-1]}: "


def warn_of_unreached_cutoffs(states: Mapping[str, State]) -> None:
    """Warn if a system's longest list ends above a cutoff."""
    warn_of_systems({system: describe_unreached_cutoffs(state) for system, state in states.items()})


def describe_unreached_cutoffs(state: State) -> str:
    """Return a warning if the longest list ends above a cutoff; or empty."""
    longest, plan = state.counts.longest_list, plan_of_state(state)
    # How long lists are is what metrics of the lists alone measure; other counts report that all lists are empty.
    if not longest or plan.last_cutoff_of_truth <= longest:
        return ""
    values = [value for value in plan.readers_of_truth if value.cutoff is not None and value.cutoff > longest]
    cutoffs = _list_in_brief(sorted({value.cutoff for value in values if value.cutoff is not None}))
    message = f"no list is longer than {longest}, so the hits at {cutoffs} are those at {longest}"
    divided = next((value for value in values if _divides_by_cutoff(value)), None)
    return message if divided is None else f"{message}; {divided.spelling} still divides by {divided.cutoff}"


def _divides_by_cutoff(value: Value) -> bool:
    info = value.info
    return info.every_rank or any(value.rules[field] == "cutoff" for field in info.own_fields)


def _list_in_brief(numbers: Sequence[int]) -> str:
    most = 3
    others = [f"{len(numbers) - most} more"] if len(numbers) > most else []
    return " and ".join([", ".join(map(str, numbers[:most])), *others])
