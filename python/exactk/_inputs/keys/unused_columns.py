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
_MAY_BE_EVENT = re.compile("|".join(pattern.pattern for pattern in (_EVENT, _KIND, _ACTION)))
_FLAGS = frozenset({"0", "1", "f", "false", "n", "no", "t", "true", "y", "yes"})


class UnusedColumns(NamedTuple):
    """The columns of a truth that are not used."""

    numbers: tuple[str, ...] = ()  # could be grades
    events: tuple[tuple[str, ...], ...] = ()  # names, each with values seen: what happened, or whether


def names_outcome(name: str) -> bool:
    """Return whether a name says that something happened, such as `clicked`."""
    return any(word.endswith(("ed", "bought", "seen")) and _ACTION.fullmatch(word) for word in words_of(name))


def events_among(
    names: Iterable[object], values_of: Callable[[str], Sequence[str]] = lambda _: ()
) -> tuple[tuple[str, ...], ...]:
    """Return the columns that say what happened, each with its distinct values; by their names where these are unknown."""
    texts = may_be_grades(name for name in names if isinstance(name, str))
    columns = [(name, *values_of(name)) for name in texts if any(map(_MAY_BE_EVENT.fullmatch, words_of(name)))]
    return tuple(column for column in columns if _are_events(*column))


def _are_events(name: str, *values: str) -> bool:
    if not values:
        return _names_event(name) or names_outcome(name)
    if not 1 < len(values) <= _MOST_EVENTS:
        return False
    have_action = any(_ACTION.fullmatch(word) for value in values for word in words_of(value))
    return have_action or _names_event(name) or {value.lower() for value in values} <= _FLAGS


def _names_event(name: str) -> bool:
    """Return whether a name says that the column holds what happened, not where or when."""
    *others, last = words_of(name) or [""]
    if others and (last == "name" or _KIND.fullmatch(last)):
        last = others[-1]
    return _EVENT.fullmatch(last) is not None
