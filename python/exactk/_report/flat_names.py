"""Names of values that experiment trackers accept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

_ACCEPTED = re.compile(r"[\w\-. :/]*", re.ASCII)  # the characters that MLflow accepts in names of metrics
_MOST_CHARACTERS = 250  # that MLflow accepts


def flat_name(name: str) -> str:
    """Return the name as a word of letters, digits and underscores: ``ndcg_at_10`` for ``ndcg@10``."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", name.replace("@", "_at_")).strip("_")
    if not word:
        raise input_error("names", "names with a letter from A to Z or a digit", repr(name))
    return f"_{word}" if word[:1].isdigit() else word


def flat_dict(values: Iterable[tuple[tuple[str, ...], float]], prefix: object, sep: object = "/") -> dict[str, float]:
    """Return the values under flat names, whose parts, such as system and metric, are joined by `sep`."""
    begin, between = _checked("prefix", prefix), _checked("sep", sep)
    flat: dict[str, float] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for parts, value in values:
        name = begin + between.join(map(flat_name, parts))
        if len(name) > _MOST_CHARACTERS:
            expected = f"names that have at most {_MOST_CHARACTERS} characters with the prefix"
            raise input_error("names", expected, f"{len(name)} in {quote(name)}")
        if name in flat:
            both = " and ".join(repr(" ".join(one)) for one in (sources[name], parts))
            raise input_error(
                "names", "names that differ in letters from A to Z or digits", f"{both}, which are both {name}"
            )
        flat[name], sources[name] = value, parts
    return flat


def _checked(argument: str, text: object) -> str:
    """Return what stands before or between names; raise InputError or InputTypeError if no tracker accepts it."""
    if not isinstance(text, str):
        raise type_error(argument, "a string", repr(text))
    if not _ACCEPTED.fullmatch(text):
        raise input_error(argument, "letters, digits, spaces and any of _-.:/", repr(text))
    return text
