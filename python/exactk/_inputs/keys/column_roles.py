"""Which column of a frame is what: by the name that the caller gives, or else by the field's usual names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from exactk._runtime.errors import input_error, type_error

USUAL_NAMES = {
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


def _normalize(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


_NORMALIZED_NAMES = {
    role: {variant for name in names for variant in (_normalize(name), _normalize(name) + "s")}
    for role, names in USUAL_NAMES.items()
}


def user_columns(existing: Sequence[str], requested: object, argument: str) -> list[str]:
    """Return the columns whose values together name a user."""
    if requested is None:
        return [_required_column(existing, "user", argument)]
    user_names = [requested] if isinstance(requested, str) else requested
    if not isinstance(user_names, Sequence) or not user_names or not all(isinstance(name, str) for name in user_names):
        raise type_error("user", "a column's name, or several", repr(requested))
    if len(set(user_names)) < len(user_names):
        raise input_error("user", "columns that differ", repr(requested))
    return [_existing_column(existing, name, "user", argument) for name in user_names]


def item_column(existing: Sequence[str], requested: object, argument: str) -> str:
    """Return the column that names the items."""
    return (
        _required_column(existing, "item", argument)
        if requested is None
        else _existing_column(existing, requested, "item", argument)
    )


def value_column(existing: Sequence[str], role: str, requested: object, argument: str) -> str | None:
    """Return the column of scores, ranks or grades, if there is one."""
    return (
        _usual_column(existing, role, argument)
        if requested is None
        else _existing_column(existing, requested, role, argument)
    )


def check_distinct(names: Sequence[str], argument: str) -> None:
    """Raise InputError if a column is to be two things."""
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if twice is not None:
        raise input_error(argument, "a column of its own for the user, the item and each value", f"{twice!r} for two")


def _existing_column(existing: Sequence[str], name: object, role: str, argument: str) -> str:
    if not isinstance(name, str):
        raise type_error(role, "a column's name", repr(name))
    if name not in existing:
        raise input_error(argument, f"a column {name!r}, as {role}= says", f"the columns {', '.join(existing)}")
    if list(existing).count(name) > 1:
        raise input_error(argument, f"one column {name!r}", f"{list(existing).count(name)}")
    return name


def _required_column(existing: Sequence[str], role: str, argument: str) -> str:
    name = _usual_column(existing, role, argument)
    if name is None:
        hint = naming_hint(existing, role)
        expected = f"a column for the {role}, such as {', '.join(USUAL_NAMES[role][:3])}"
        raise input_error(argument, expected, f"the columns {', '.join(existing) or 'of nothing'}", hint=hint)
    return name


def naming_hint(existing: Sequence[str], *roles: str) -> str:
    """Return how to name a column for one of the roles, with the first that has no role by its name."""
    named = {name for names in _NORMALIZED_NAMES.values() for name in names}
    free = [name for name in existing if _normalize(name) not in named]
    return "{} would name it".format(" or ".join(f"{role}={free[0]!r}" for role in roles)) if free else ""


def _usual_column(existing: Sequence[str], role: str, argument: str) -> str | None:
    matching = [name for name in existing if _normalize(name) in _NORMALIZED_NAMES[role]]
    if len(matching) > 1:
        raise input_error(
            argument, f"one column for the {role}", " and ".join(matching), hint=f"{role}={matching[0]!r} names it"
        )
    return matching[0] if matching else None
