"""Which column of a frame is what: by the name that the caller gives, or else by the field's usual names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from exactk._runtime.errors import input_error, type_error

USUAL = {
    "user": ("user", "userid", "uid", "user_idx", "visitor_id", "query", "query_id", "qid", "topic", "topic_id"),
    "item": ("item", "item_id", "iid", "item_idx", "doc", "doc_id", "docno", "document", "document_id", "movie_id"),
    "score": ("score", "prediction", "predicted"),
    "rank": ("rank",),
    "grade": ("grade", "relevance", "rel"),
}
"""Case and underscores do not matter. ``items`` and ``scores`` are the same of columns of lists."""


class ColumnNames(TypedDict, total=False):
    """What the columns of a frame are called; those that are not said have one of the usual names."""

    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None
    grade: str | None


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


_USUAL = {
    role: {plain for name in names for plain in (_plain(name), _plain(name) + "s")} for role, names in USUAL.items()
}


def user_columns(present: Sequence[str], given: object, argument: str) -> list[str]:
    """Return the columns whose values together name a user."""
    if given is None:
        return [_required(present, "user", argument)]
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Sequence) or not several or not all(isinstance(name, str) for name in several):
        raise type_error("user", "a column's name, or several", repr(given))
    if len(set(several)) < len(several):
        raise input_error("user", "columns that differ", repr(given))
    return [_known(present, name, "user", argument) for name in several]


def item_column(present: Sequence[str], given: object, argument: str) -> str:
    """Return the column that names the items."""
    return _required(present, "item", argument) if given is None else _known(present, given, "item", argument)


def value_column(present: Sequence[str], role: str, given: object, argument: str) -> str | None:
    """Return the column of scores, ranks or grades, if there is one."""
    return _usual(present, role, argument) if given is None else _known(present, given, role, argument)


def check_differ(names: Sequence[str], argument: str) -> None:
    """Raise InputError if a column is to be two things."""
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise input_error(argument, "a column of its own for the user, the item and each value", f"{twice!r} for two")


def _known(present: Sequence[str], name: object, role: str, argument: str) -> str:
    if not isinstance(name, str):
        raise type_error(role, "a column's name", repr(name))
    if name not in present:
        raise input_error(argument, f"a column {name!r}, as {role}= says", f"the columns {', '.join(present)}")
    if list(present).count(name) > 1:
        raise input_error(argument, f"one column {name!r}", f"{list(present).count(name)}")
    return name


def _required(present: Sequence[str], role: str, argument: str) -> str:
    name = _usual(present, role, argument)
    if name is None:
        hint = f"{role}= names it"
        expected = f"a column for the {role}, such as {', '.join(USUAL[role][:3])}"
        raise input_error(argument, expected, f"the columns {', '.join(present) or 'of nothing'}", hint=hint)
    return name


def _usual(present: Sequence[str], role: str, argument: str) -> str | None:
    found = [name for name in present if _plain(name) in _USUAL[role]]
    if len(found) > 1:
        raise input_error(argument, f"one column for the {role}", " and ".join(found), hint=f"{role}= names it")
    return found[0] if found else None
