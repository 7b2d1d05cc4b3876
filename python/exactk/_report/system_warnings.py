"""Warnings about one report or several systems: each given once, naming its systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._runtime.errors import warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
