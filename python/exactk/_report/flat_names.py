"""Names of values that experiment trackers accept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Iterable

_PREFIX = re.compile(r"[\w\-. :/]*", re.ASCII)  # the characters that MLflow accepts in names of metrics


def flat_name(name: str) -> str:
    """Return the name as a word of letters, digits and underscores: ``ndcg_at_10`` for ``ndcg@10``."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", name.replace("@", "_at_")).strip("_")
    if not word:
        raise input_error("names", "names with a letter from A to Z or a digit", repr(name))
    return f"_{word}" if word[:1].isdigit() else word


def flat_dict(values: Iterable[tuple[tuple[str, ...], float]], prefix: object) -> dict[str, float]:
    """Return the values under flat names, whose parts, such as system and metric, are joined by slashes."""
    if not isinstance(prefix, str):
        raise type_error("prefix", "a string", repr(prefix))
    if not _PREFIX.fullmatch(prefix):
        raise input_error("prefix", "letters, digits, spaces and any of _-.:/", repr(prefix))
    flat: dict[str, float] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for parts, value in values:
        name = prefix + "/".join(map(flat_name, parts))
        if name in flat:
            both = " and ".join(repr(" ".join(one)) for one in (sources[name], parts))
            raise input_error(
                "names", "names that differ in letters from A to Z or digits", f"{both}, which are both {name}"
            )
        flat[name], sources[name] = value, parts
    return flat
