"""Columns of a truth that are not used, although its rows may mean different things by them."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.column_roles import may_be_grades, words_of
from exactk._inputs.keys.columns import is_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SAMPLE_SIZE = 1000
"""Values of a column that are looked at."""

_MOST_EVENTS, _LONGEST_EVENT = 20, 40
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
    events: tuple[tuple[Any, ...], ...] = ()  # names, each with values seen: what happened, or whether


def may_say_more(names: Iterable[object]) -> list[str]:
    """Return the columns, which are not of numbers, whose names give reason to look at their values."""
    return [name for name in may_be_grades(name for name in names if isinstance(name, str)) if _may_be_event(name)]


def _may_be_event(name: str) -> bool:
    return any(pattern.fullmatch(word) for word in words_of(name) for pattern in (_EVENT, _KIND, _ACTION))


def names_outcome(name: str) -> bool:
    """Return whether a name says that something happened, such as `clicked`."""
    return any(word.endswith(("ed", "bought", "seen")) and _ACTION.fullmatch(word) for word in words_of(name))


def judge_columns(numbers: Iterable[str], samples: Mapping[str, Sequence[object]]) -> UnusedColumns:
    """Return what unused columns may hold: those of numbers, and those whose sampled values say what happened."""
    seen = {name: _distinct_texts(chain.from_iterable(map(_elements, values))) for name, values in samples.items()}
    events = [name for name, values in samples.items() if _are_events(name, seen[name], is_schema=not len(values))]
    return UnusedColumns(tuple(numbers), tuple((name, *seen[name].values()) for name in events))


def _are_events(name: str, seen: Mapping[str, object], *, is_schema: bool) -> bool:
    """Return whether a column says what happened, by its name or by its distinct values."""
    if is_schema:  # without values
        return _names_event(name)
    return len(seen) > 1 and (_names_event(name) or any(map(_is_action, seen)) or seen.keys() <= _FLAGS)


def _names_event(name: str) -> bool:
    """Return whether a name says that the column holds what happened, not where or when."""
    *others, last = words_of(name) or [""]
    if others and (last == "name" or _KIND.fullmatch(last)):
        last = others[-1]
    return _EVENT.fullmatch(last) is not None


def _is_action(text: str) -> bool:
    return any(map(_ACTION.fullmatch, words_of(text)))


def _distinct_texts(values: Iterable[object]) -> dict[str, object]:
    """Return the distinct texts and flags by their lowercase; none if there are many, long ones, or other values."""
    seen: dict[str, object] = {}
    for value in values:
        if is_missing(value) or (isinstance(value, str) and not value):
            continue
        text = str(value).strip().lower()
        if not isinstance(value, (str, bool, np.bool_)) or len(text) > _LONGEST_EVENT or len(seen) > _MOST_EVENTS:
            return {}
        seen.setdefault(text, value)
    return seen


def _elements(value: object) -> Iterable[object]:
    return value if isinstance(value, (list, np.ndarray)) else (value,)
