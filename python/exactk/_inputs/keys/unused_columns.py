"""Columns of a truth that are not used, although its rows may mean different things by them."""

from __future__ import annotations

from itertools import chain
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.column_roles import KEY_WORDS, may_be_grades, words_of
from exactk._inputs.keys.columns import is_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SAMPLE_SIZE = 1000
"""Values of a column that are looked at."""

_MOST_EVENTS, _LONGEST_EVENT = 20, 40
_EVENT_WORDS = frozenset(
    words_of(
        "action actions activity behavior behaviour behaviors engagement event events feedback interaction interactions "
        "reaction signal"
    )
)
_BESIDE_EVENTS = frozenset(words_of("class code customer category kind label log name status type user value"))
_KINDS = frozenset({"kind", "outcome", "state", "status", "type"})
_ACTIONS = frozenset(
    words_of(
        "abandoned add addtocart bookmark bookmarked bought buy cancel canceled cancelled cart checkout click clicked clicks "
        "clickout completed complete consumed conversion converted delivered detail dislike disliked download downloaded fav "
        "favorite favorited favourite finish finished follow followed forward hate hide hidden impression impressions install "
        "installed like liked likes listen listened open opened order ordered paid pay play played plays purchase purchased "
        "purchases pv read refund refunded removed rent rented reorder reordered reply returned save saved seen share shared "
        "shipped shown skip skipped started subscribe subscribed transaction trial tweet view viewed viewing views vote voted "
        "watch watched wish wishlist"
    )
)
_BESIDE_ACTIONS = frozenset(words_of("a begin from in item list of page product remove start the to"))
_EXTENTS = frozenset(words_of("completion dwell percent progress ratio watch watched"))
_FLAGS = frozenset({"0", "1", "f", "false", "n", "no", "t", "true", "y", "yes"})


class UnusedColumns(NamedTuple):
    """The columns of a truth that are not used."""

    numbers: tuple[str, ...] = ()  # could be grades
    events: tuple[tuple[Any, ...], ...] = ()  # names, each with values seen: what happened, or whether


def may_say_more(names: Iterable[object]) -> list[str]:
    """Return the columns, which are not of numbers, whose values may say what happened."""
    return list(may_be_grades(name for name in names if isinstance(name, str)))


def names_event(name: str) -> bool:
    """Return whether a name says that the column holds what happened."""
    words = {*words_of(name)}
    return bool(words & _EVENT_WORDS and words <= _EVENT_WORDS | _BESIDE_EVENTS) or words <= _KINDS


def may_name_event(name: str) -> bool:
    """Return whether a name gives reason to look at the values."""
    return not {*words_of(name)}.isdisjoint(_EVENT_WORDS | _KINDS | _ACTIONS)


def names_outcome(name: str) -> bool:
    """Return whether a name says that the column holds whether, or how far, something happened."""
    first, *others = words_of(name) or [""]
    is_flag = first in {"did", "has", "is", "was"} and not _ACTIONS.isdisjoint(others)
    return is_flag or (first in _ACTIONS and first.endswith("ed")) or not _EXTENTS.isdisjoint([first, *others])


def judge_columns(
    numbers: Iterable[str], samples: Mapping[str, Sequence[object]], *, with_lists: bool = True
) -> UnusedColumns:
    """Return what unused columns may hold, by their types or by some of their values, or of those in their lists."""
    found, events = list(numbers), []
    for name, values in samples.items():
        seen = _distinct_texts(chain.from_iterable(map(_elements, values)) if with_lists else values)
        if seen is None:
            found.append(name)
        elif _are_events(name, seen) if len(values) else names_event(name) or names_outcome(name):
            events.append((name, *seen.values()))
    return UnusedColumns(tuple(found), tuple(events))


def _are_events(name: str, seen: Mapping[str, object]) -> bool:
    """Return whether a column says what happened, by its name, or by most of its distinct values."""
    words, actions = {*words_of(name)}, sum(map(_is_action, seen))
    holds_kinds_of_items = words <= _KINDS and any(KEY_WORDS["item"] & {*words_of(text)} for text in seen)
    is_named = (names_event(name) and not holds_kinds_of_items) or (actions and words & _KINDS)
    return len(seen) > 1 and bool(is_named or seen.keys() <= _FLAGS or 2 * actions > len(seen))


def _is_action(text: str) -> bool:
    words = {*words_of(text)}
    return words <= _ACTIONS | _BESIDE_ACTIONS and not words.isdisjoint(_ACTIONS)


def _distinct_texts(values: Iterable[object]) -> dict[str, object] | None:
    """Return the distinct values by their lowercase; none if these are many or long, and None if they are numbers."""
    seen: dict[str, object] = {}
    for value in values:
        if is_missing(value) or (isinstance(value, (str, bytes)) and not value):
            continue
        is_flag = type(value) in {bool, np.bool_}
        if isinstance(value, Number) and not is_flag:
            return None
        text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
        if not (is_flag or isinstance(value, (str, bytes))) or len(text) > _LONGEST_EVENT or len(seen) > _MOST_EVENTS:
            return {}
        seen.setdefault(text.strip().lower(), value)
    return seen


def _elements(value: object) -> Iterable[object]:
    return value if isinstance(value, (list, np.ndarray)) else (value,)
