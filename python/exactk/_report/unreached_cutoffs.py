"""The warning about cutoffs that no list reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._report.state import plan_of_state
from exactk._report.system_warnings import warn_of_systems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._plan.values import Value
    from exactk._report.state import State


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
