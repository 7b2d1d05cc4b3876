"""Docstrings of functions that take the options of another: they say what differs, and the rest comes from there."""

from __future__ import annotations

import re
from functools import cache
from inspect import cleandoc
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class _Entry(NamedTuple):
    """What a docstring says of parameters."""

    names: list[str]
    kind: str  # their type; empty if the text is to follow that of another docstring
    text: str


_ORDER = (
    "Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes", "References", "Examples",
)  # fmt: skip
"""Of sections, after numpydoc."""


def with_parameters(
    text: str | None, names: Collection[str], sources: Sequence[str], sources_of_values: Sequence[str]
) -> str | None:
    """Return a docstring with an entry for each parameter, in the order of the names, and with what is returned.

    What it lacks comes from the first source that has it. Its own entry without a type follows the text from there.
    """
    if text is None:  # under python -OO
        return None
    summary, sections = _sections(text)
    here = _entries(sections.get("Parameters", ""))
    elsewhere: dict[str, _Entry] = {}
    for source in sources:
        elsewhere = {**_described(source), **elsewhere}
    for source in sources_of_values:
        of_source = _sections(source)[1]
        sections = {title: of_source[title] for title in ("Returns", "References") if title in of_source} | sections
    entries: dict[str, str] = {}
    for name in names:
        entry, described = here.get(name), elsewhere.get(name)
        if entry and entry.kind:
            entries[entry.names[0]] = f"{', '.join(entry.names)} : {entry.kind}\n{entry.text}"
        elif described:
            alike = [one for one in described.names if one in names and here.get(one) is entry]
            more = f"\n{entry.text}" if entry else ""
            entries[alike[0]] = f"{', '.join(alike)} : {described.kind}\n{described.text}{more}"
    sections = {**sections, "Parameters": "\n".join(["Parameters\n----------", *entries.values()])}
    return "\n\n".join([summary, *(sections[title] for title in sorted(sections, key=_ORDER.index))])


@cache
def _described(text: str) -> dict[str, _Entry]:
    """Return the entry of each parameter of a docstring."""
    return _entries(_sections(text)[1].get("Parameters", ""))


@cache
def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Return what comes before all sections, and each section by its title."""
    summary, *sections = re.split(r"\n\n(?=\S.*\n---)", cleandoc(text))
    return summary, {section.partition("\n")[0]: section for section in sections}


def _entries(section: str) -> dict[str, _Entry]:
    """Return the entry of each parameter."""
    entries: dict[str, _Entry] = {}
    for part in re.split(r"\n(?=\S)", section)[2:]:
        header, _, text = part.partition("\n")
        names, _, kind = header.partition(" : ")
        entry = _Entry(names.split(", "), kind, text)
        entries.update(dict.fromkeys(entry.names, entry))
    return entries
