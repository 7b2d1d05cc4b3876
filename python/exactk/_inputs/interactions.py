"""Interactions: the rows of training data, and the items in them."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.containers.arrays import rows_of_sparse_matrix
from exactk._inputs.conversions import exclusions_of
from exactk._inputs.keys.item_keys import ItemEntries
from exactk._inputs.model.item_table import Histories
from exactk._inputs.model.rows import remove_padding, validated_copy
from exactk._inputs.paths import opened
from exactk._inputs.registry import classify
from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.rows import Rows
    from exactk._runtime.faults import Text


class Interactions(NamedTuple):
    """The rows of train by item."""

    rows: Rows
    items: ItemEntries  # each once
    counts: NDArray[np.int64]  # rows of each of the items
    codes: NDArray[Any]  # of each row's item
    held: NDArray[np.int64]  # the code of each of the items

    @property
    def user_count(self) -> int:
        """The number of users with an item."""
        return int((np.diff(self.rows.indptr) > 0).sum())

    def histories(self, positions: NDArray[np.int64], catalogue: int) -> Histories:
        """Return what each user has of a catalogue of so many items, where the items have these positions."""
        by_code = np.full(int(self.held[-1]) + 1, -1, np.int64)
        by_code[self.held] = positions
        return Histories.of_interactions(self.rows.indptr, by_code[self.codes], self.rows.user_vocabulary, catalogue)


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
        hint: Text = tuple(_interactions_hint(part, argument, call) for part in error.fault.hint)
        if argument == "items" and error.fault.expected.startswith("a column for the user"):
            hint = ("exactk.Items(path) or exactk.Items(frame[name]) has a catalogue, if these are only items",)
        raise error.amended(argument=_with_name(error.argument, argument), hint=hint) from error.__cause__


def _with_name(text: str, argument: str) -> str:
    return re.sub(r"\bexclude\b", argument, text)


def _interactions_hint(part: str | Option, argument: str, call: str) -> str | Option:
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
        _check_no_flags(value, argument)
        _check_no_counts(value, argument)
        if optional.is_sparse(value):
            rows = validated_copy(rows_of_sparse_matrix(value, argument), argument)
        else:
            exclusions = exclusions_of(
                opened(classify(value, "exclude"), "exclude", columns), columns, encoding, argument
            )
            assert exclusions is not None  # noqa: S101 - only None is
            rows = remove_padding(exclusions.rows())
        if not len(rows.items):
            raise input_error(argument, "at least one interaction", "none")
        return rows


def _check_no_flags(value: object, argument: str) -> None:
    """Raise InputError for a matrix of 0 and 1: most likely flags of columns, not the ids of two items."""
    if not isinstance(value, np.ndarray) or value.ndim != 2 or value.dtype.kind not in "iu" or value.shape[1] < 3:
        return
    if not len(value) or not ((value == 0) | (value == 1)).all():
        return
    expected = "rows of item ids, or a boolean matrix of users and items"
    hint = f"{argument}.astype(bool) has a column per item"
    raise input_error(argument, expected, "a matrix of integers that are all 0 or 1", hint=hint)


def _check_no_counts(value: Any, argument: str) -> None:  # noqa: ANN401 - of any library
    """Raise InputTypeError for a number of each item, as `value_counts` returns it: not one item of each user."""
    is_series = optional.is_series(value) and value.name == "count" and value.index.nlevels == 1
    if is_series or isinstance(value, Counter):
        hint = f"exactk.Items(popularity={argument}) reads them, with train_users= if the number of users matters"
        raise type_error(argument, "the items of each user", "the number of users of each item", hint=hint)


def items_of_interactions(rows: Rows) -> Interactions:
    """Return the items of the rows, and where each is."""
    is_dense = rows.item_vocabulary is not None or not len(rows.items) or rows.items.max() < 8 * len(rows.items)
    if is_dense:
        items, codes = None, rows.items
    else:
        items, codes = np.unique(rows.items, return_inverse=True)
    counts = np.bincount(codes)
    held = np.flatnonzero(counts)
    entries = ItemEntries(held if items is None else items[held], rows.item_vocabulary)
    return Interactions(rows, entries, counts[held], codes, held)
