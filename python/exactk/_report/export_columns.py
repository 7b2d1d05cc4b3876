"""What data frames, CSV and experiment trackers are given: columns by name, and flat names of values."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exactk._plan.values import Value

TableName = Literal["values", "per_user", "by_group", "by_item_group"]

Columns = dict[str, Any]
"""The columns of a table by name: arrays or lists."""

_ACCEPTED = r"(?a)[\w\-. :/]*"  # the characters that MLflow accepts in names of metrics
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
    if not re.fullmatch(_ACCEPTED, text):
        raise input_error(argument, "letters, digits, spaces and any of _-.:/", repr(text))
    return text


def metric_columns(values: Sequence[Value], times: int = 1) -> Columns:
    """Return the columns of metrics, as requested, and of cutoffs, repeated `times`."""
    from exactk._runtime.optional import NullableIntegers

    return {
        "metric": [value.label for value in values] * times,
        "k": NullableIntegers([value.cutoff for value in values] * times),
    }


def stack_systems(tables: Mapping[str, Columns]) -> Columns:
    """Return the rows of all systems, after a column ``system`` with their names."""
    from exactk._report.user_table import join_columns

    first = next(iter(tables.values()))
    sizes = [len(next(iter(table.values()))) for table in tables.values()]
    systems = [system for system, size in zip(tables, sizes, strict=True) for _ in range(size)]
    columns = {name: _concatenate([table[name] for table in tables.values()]) for name in first}
    return join_columns({"system": systems}, columns)


def _concatenate(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - columns of any type
    from exactk._runtime.optional import NullableIntegers, OrderedCategories

    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    cells = chain.from_iterable(parts)
    if isinstance(parts[0], NullableIntegers):
        return NullableIntegers(cells)
    orders = {part.categories if isinstance(part, OrderedCategories) else None for part in parts}
    order = orders.pop() if len(orders) == 1 else None
    return list(cells) if order is None else OrderedCategories(cells, order)
