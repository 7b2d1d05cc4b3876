"""Columns of a truth that are not used, although its rows may mean different things by them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from exactk._inputs.keys.column_roles import may_be_grades, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MOST_EVENTS = 20
_EVENT = re.compile("(action|activity|behaviou?r|engagement|event|feedback|interaction|reaction|signal)s?")
_KIND = re.compile("kind|outcome|state|status|type")
_ACTION = re.compile(
    "(addtocart|bought|buy|cancel|cart|click|complete|deliver|dislike|download|favou?rite|impression|install|like|listen"
    "|order|paid|play|purchase|return|save|seen|share|skip|subscribe|transaction|view|watch)(l?e?d|s)?"
)
_FLAGS = frozenset({"0", "1", "f", "false", "n", "no", "t", "true", "y", "yes"})


class UnusedColumns(NamedTuple):
    """The columns of a truth that are not used."""

    numbers: tuple[str, ...] = ()  # could be grades
    events: tuple[tuple[str, ...], ...] = ()  # names, each with values seen: what happened, or whether


def may_say_more(names: Iterable[object]) -> list[str]:
    """Return the columns, which are not of numbers, whose names give reason to look at their values."""
    return [name for name in may_be_grades(name for name in names if isinstance(name, str)) if _may_be_event(name)]


def _may_be_event(name: str) -> bool:
    return any(pattern.fullmatch(word) for word in words_of(name) for pattern in (_EVENT, _KIND, _ACTION))


def names_outcome(name: str) -> bool:
    """Return whether a name says that something happened, such as `clicked`."""
    return any(word.endswith(("ed", "bought", "seen")) and _ACTION.fullmatch(word) for word in words_of(name))


def events_among(
    names: Iterable[str], values_of: Callable[[str], Sequence[str]] = lambda _: ()
) -> tuple[tuple[str, ...], ...]:
    """Return the columns that say what happened, each with its distinct values; by their names where these are unknown."""
    columns = [(name, *values_of(name)) for name in names]
    return tuple(column for column in columns if _are_events(*column))


def _are_events(name: str, *values: str) -> bool:
    if not values:
        return _names_event(name) or names_outcome(name)
    if not 1 < len(values) <= _MOST_EVENTS:
        return False
    return _names_event(name) or any(map(_is_action, values)) or {value.lower() for value in values} <= _FLAGS


def _names_event(name: str) -> bool:
    """Return whether a name says that the column holds what happened, not where or when."""
    *others, last = words_of(name) or [""]
    if others and (last == "name" or _KIND.fullmatch(last)):
        last = others[-1]
    return _EVENT.fullmatch(last) is not None


def _is_action(text: str) -> bool:
    return any(map(_ACTION.fullmatch, words_of(text)))
