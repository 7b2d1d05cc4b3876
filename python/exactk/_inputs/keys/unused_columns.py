"""Columns of a truth that are not used, although its rows may mean different things by them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from exactk._inputs.keys.column_roles import may_be_grades, usual_role, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MOST_EVENTS = 20
_EVENT = re.compile("(action|activity|behaviou?r|engagement|event|feedback|(inter|re)action|label|sentiment|signal)s?")
_KIND = re.compile("kind|outcome|state|status|type")
_JUDGMENT = re.compile("judge?ments?|negatives?|positives?|relevant")
_PARTITION = re.compile("partition|set|split|subset")
_ACTION = re.compile(
    "(addtocart|bought|buy|cancel|cart|click|complete|deliver|dislike|download|favou?rite|impression|install|like|listen"
    "|order|paid|play|purchase|return|save|seen|share|skip|subscribe|transaction|view|watch)(l?e?d|s)?"
)
_MAY_BE_EVENT = re.compile("|".join(one.pattern for one in (_EVENT, _KIND, _ACTION, _JUDGMENT, _PARTITION)))
_FLAGS = frozenset({"0", "1", "f", "false", "n", "no", "t", "true", "y", "yes"})
POSITIVE = frozenset({"1", "exact", "positive", "relevant", "t", "test", "true", "y", "yes"})
_PARTS = frozenset({"dev", "eval", "holdout", "test", "testing", "train", "training", "val", "valid", "validation"})


class UnusedColumns(NamedTuple):
    """The columns of a truth that are not used."""

    numbers: tuple[str, ...] = ()  # could be grades
    events: tuple[tuple[str, ...], ...] = ()  # names, each with values seen: what happened, or whether


def names_outcome(name: str) -> bool:
    """Return whether a name says whether something happened, such as `clicked`, or counts, such as `label`."""
    words = words_of(name) or [""]
    has_happened = any(word.endswith(("ed", "bought", "seen")) and _ACTION.fullmatch(word) for word in words)
    return has_happened or usual_role(name) == "grade" or _JUDGMENT.fullmatch(words[-1]) is not None


def events_among(
    names: Iterable[object], values_of: Callable[[str], Sequence[str]] = lambda _: ()
) -> tuple[tuple[str, ...], ...]:
    """Return the columns that say what happened, each with its distinct values; by their names where these are unknown."""
    all_names = [name for name in names if isinstance(name, str)]
    texts = [*may_be_grades(all_names), *(name for name in all_names if words_of(name)[-1:] == ["split"])]
    columns = [(name, *values_of(name)) for name in texts if any(map(_MAY_BE_EVENT.fullmatch, words_of(name)))]
    return tuple(column for column in columns if _are_events(*column))


def _are_events(name: str, *values: str) -> bool:
    if not values:
        return _names_event(name) or names_outcome(name)
    if not 1 < len(values) <= _MOST_EVENTS:
        return False
    last, lowered = words_of(name)[-1], {value.lower() for value in values}
    if _PARTITION.fullmatch(last):
        return lowered <= _PARTS
    have_action = any(_ACTION.fullmatch(word) for value in values for word in words_of(value))
    return have_action or _names_event(name) or _JUDGMENT.fullmatch(last) is not None or lowered <= _FLAGS


def _names_event(name: str) -> bool:
    """Return whether a name says that the column holds what happened, not where or when."""
    *others, last = words_of(name) or [""]
    if others and (last == "name" or _KIND.fullmatch(last)):
        last = others[-1]
    return _EVENT.fullmatch(last) is not None
