"""Interactions: the rows of training data, and how many users and rows each item has there."""

from __future__ import annotations

import re
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.conversions import exclusions_of
from exactk._inputs.keys.item_keys import ItemEntries
from exactk._inputs.model.rows import remove_padding
from exactk._inputs.paths import open_path
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.rows import Rows


class ItemCounts(NamedTuple):
    """The counts of each item."""

    items: ItemEntries | None  # None: in the order of the catalogue
    users: NDArray[np.int64]
    interactions: NDArray[np.int64] | None
    train_users: int | None
    has_columns: bool = False


@contextmanager
def naming_interactions(argument: str, call: str = "{}") -> Iterator[None]:
    """Name the argument in errors of this block, which reads interactions as exclusions are read.

    `call` is the code with the columns that a hint names.
    """
    try:
        yield
    except ExactkError as error:
        if error.argument is None:
            raise
        hint = tuple(_hint_part(part, argument, call) for part in error.fault.hint)
        raise error.amended(argument=_with_name(error.argument, argument), hint=hint) from error.__cause__


def _with_name(text: str, argument: str) -> str:
    return re.sub(r"\bexclude\b", argument, text)


def _hint_part(part: str | Option, argument: str, call: str) -> str | Option:
    if isinstance(part, str):
        if "excludes the same items" in part:  # of a flat list, which is no interactions
            return "exactk.Items(items) reads them as a catalogue" if argument == "items" else ""
        return _with_name(part, argument)
    return Option(part.name, part.value, call) if part.name in {"user", "item"} else part


def interactions_of(value: Any, argument: str, columns: ColumnNames, encoding: Encoding) -> Rows:  # noqa: ANN401 - of any library
    """Return the rows of interactions."""
    with naming_interactions(argument, "train=exactk.as_exclusions(train, {})" if argument == "train" else "{}"):
        if isinstance(value, (Integral, float)):
            hint = "exactk.Items(n) has the ids 0 to n - 1" if argument == "items" else ""
            raise type_error(argument, "the interactions of each user", repr(value), hint=hint)
        exclusions = exclusions_of(open_path(value, "exclude", columns), columns, encoding)
        assert exclusions is not None  # noqa: S101 - only None is
        rows = remove_padding(exclusions.rows())
        if not len(rows.items):
            raise input_error(argument, "at least one interaction", "none")
        return rows


def counts_of_interactions(rows: Rows) -> ItemCounts:
    """Return how many users and rows each item has; a row may repeat a user's item."""
    sizes = np.diff(rows.indptr)
    is_dense = rows.item_vocabulary is not None or not len(rows.items) or rows.items.max() < 8 * len(rows.items)
    if is_dense:
        items, codes = None, rows.items
    else:
        items, codes = np.unique(rows.items, return_inverse=True)
    interactions = np.bincount(codes)
    users = _distinct_users(codes, sizes, len(interactions))
    held = np.flatnonzero(interactions)
    return ItemCounts(
        ItemEntries(held if items is None else items[held], rows.item_vocabulary),
        users[held],
        interactions[held],
        int((sizes > 0).sum()),
        rows.has_columns,
    )


def _distinct_users(codes: NDArray[Any], sizes: NDArray[np.int64], item_count: int) -> NDArray[np.int64]:
    """Return the number of distinct rows with each item."""
    pairs = np.repeat(np.arange(len(sizes)), sizes) * item_count + codes
    if len(pairs) and (pairs[1:] <= pairs[:-1]).any():
        pairs.sort()
        codes = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] % item_count
    return np.bincount(codes, minlength=item_count)
