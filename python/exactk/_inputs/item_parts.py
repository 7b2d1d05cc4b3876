"""The parts of `exactk.Items`, matched by key: train, the catalogue, popularity, features, groups and values."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._inputs.checks import first_and_count, number_array, read_only
from exactk._inputs.containers.arrays import rows_of_sparse_matrix
from exactk._inputs.conversions import exclusions_of
from exactk._inputs.item_features import features_of
from exactk._inputs.keyed_values import (
    check_distinct_entries,
    has_items_in_index,
    item_entries,
    of_item,
    values_by_item,
)
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.keys.columns import column_of_objects
from exactk._inputs.keys.key_lists import ItemEntries, ItemKeys, describe_disjoint, encode_labels
from exactk._inputs.model.item_table import CanonicalItems, Histories
from exactk._inputs.model.rows import remove_padding, validated_copy
from exactk._inputs.registry import classify, opened
from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.item_table import CatalogueSource, ItemFeatures
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


class _Popularity(NamedTuple):
    """The number of distinct users of each item, as given."""

    items: ItemEntries | None  # None: in the order of the catalogue
    users: NDArray[np.int64]
    train_users: int | None


class _Catalogue(NamedTuple):
    """The catalogue, and where each item that the caller listed is in it."""

    keys: ItemKeys
    source: CatalogueSource
    positions: NDArray[np.int64] | None = None  # None: the items have no order, so nothing can be beside the catalogue
    has_columns: bool = False


def canonical_items(
    catalogue: object,
    train: Rows | None,
    popularity: object,
    train_users: object,
    features: object,
    item_groups: object,
    values: object,
) -> CanonicalItems:
    """Return the canonical form of the arguments."""
    if train is not None and popularity is not None:
        raise input_error("popularity", "either train or popularity", "both")
    interactions = None if train is None else items_of_interactions(train)
    counts = interactions or _given_popularity(popularity, train_users)
    if train is not None and train_users is not None:
        raise input_error("train_users", "None beside train, which has the users", repr(train_users))
    of_catalogue = _catalogue(catalogue, counts, "train" if train is not None else "popularity")
    if of_catalogue.has_columns and train is not None:
        _check_columns_of_train(train, len(of_catalogue.keys))
    if of_catalogue.positions is not None:
        parts = {"popularity": popularity, "features": features, "item_groups": item_groups, "values": values}
        for argument, part in parts.items():
            _check_labels_are_items(part, argument, catalogue, of_catalogue.keys, of_catalogue.positions)
    return CanonicalItems(
        of_catalogue.keys,
        np.arange(len(of_catalogue.keys)) if of_catalogue.keys.integers is None else of_catalogue.keys.integers,
        of_catalogue.source,
        has_columns=of_catalogue.has_columns or (train is not None and train.has_columns),
        **_counts_by_item(of_catalogue, counts),
        **_groups_by_item(of_catalogue, item_groups),
        item_values=_values_by_item(of_catalogue, values),
        features=_features_by_item(of_catalogue, features),
    )


def _check_columns_of_train(train: Rows, count: int) -> None:
    """Raise InputError if a matrix has fewer columns than the catalogue: it is unknown on which side they are missing."""
    if train.column_count is not None and train.column_count < count:
        hint = "it needs further columns: behind its own if the last items are in no row, else before them"
        raise input_error("train", f"{count} columns, as in the catalogue", str(train.column_count), hint=hint)


_MOST = 2**53  # of all counts together, which is exact as a double
_MOST_ITEMS = 2**31 - 3
_MAX_VALUE = 2.0**256  # like gains and weights
_MOST_LABEL = 2**63 - 1


def _given_popularity(popularity: object, train_users: object) -> _Popularity | None:
    """Return the popularity of an argument."""
    if train_users is not None:
        _check_count(train_users, "train_users")
    if popularity is None:
        if train_users is not None:
            raise input_error("train_users", "popularity beside it", "none")
        return None
    values, items, *_ = values_by_item(popularity, "popularity")
    numbers = number_array(_numbers_of(values, "popularity"), "popularity")
    is_wrong = ~(numbers >= 0) | (numbers != np.floor(numbers)) | np.isinf(numbers)
    _check_numbers(numbers, is_wrong, items, "popularity", "whole numbers of at least 0")
    if train_users is not None:
        expected = f"at most train_users ({train_users}) users of an item"
        _check_numbers(numbers, numbers > int(train_users), items, "popularity", expected)  # type: ignore[call-overload]
    if numbers.sum() > _MOST:
        raise input_error("popularity", "counts with a sum of at most 2^53", f"{numbers.sum():g}")
    users = None if train_users is None else int(train_users)  # type: ignore[call-overload]
    return _Popularity(items, numbers.astype(np.int64), users)


def _check_numbers(
    numbers: NDArray[np.float64], is_wrong: NDArray[np.bool_], items: ItemEntries | None, argument: str, expected: str
) -> None:
    """Raise InputError for the first wrong number, naming its item."""
    if not is_wrong.any():
        return
    position, count = first_and_count(is_wrong)
    found = f"{numbers[position]:g}{of_item(items, position)}"
    raise input_error(argument, expected, found, position=position, count=count)


def _check_count(value: object, argument: str, most: int = 2**53) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise type_error(argument, "an integer", repr(value))
    if not 1 <= int(value) <= most:
        raise input_error(argument, f"a number from 1 to {most}", str(value))
    return int(value)


def _catalogue(catalogue: Any, counts: Interactions | _Popularity | None, source: CatalogueSource) -> _Catalogue:  # noqa: ANN401 - of any library
    """Return the items of the catalogue."""
    if catalogue is None:
        if counts is None:
            raise input_error("catalogue", "a catalogue, train or popularity", "none")
        if counts.items is None:
            expected = "items beside an array of popularity"
            hint = "catalogue=items lists them; a mapping from item to count needs no catalogue"
            raise input_error("catalogue", expected, "none", hint=hint)
        of_catalogue = _Catalogue(ItemKeys.of_entries(counts.items, source)[0], source)
    elif isinstance(catalogue, (Integral, np.bool_)):
        count = _check_count(catalogue, "catalogue", _MOST_ITEMS)
        _core.require_memory(count, 8, "catalogue")
        ids = np.arange(count)
        of_catalogue = _Catalogue(ItemKeys(read_only(ids)), "catalogue", ids, has_columns=True)
    else:
        is_ordered = not isinstance(catalogue, (set, frozenset))
        entries = item_entries(catalogue if is_ordered else list(catalogue), "catalogue")
        keys, positions = ItemKeys.of_entries(entries, "catalogue")
        if len(keys) < len(positions):
            check_distinct_entries(entries, "catalogue", "distinct items")
        of_catalogue = _Catalogue(keys, "catalogue", positions if is_ordered else None)
    if not len(of_catalogue.keys):
        raise input_error(of_catalogue.source, "at least one item", "none")
    return of_catalogue


def _counts_by_item(catalogue: _Catalogue, counts: Interactions | _Popularity | None) -> dict[str, Any]:
    """Return the fields of the popularity and the histories, in the order of the catalogue."""
    if counts is None:
        return {}
    size = len(catalogue.keys)
    if isinstance(counts, _Popularity):
        users = np.zeros(size, np.int64)
        users[_positions(catalogue, counts.items, len(counts.users), "popularity")] = counts.users
        return {"users": read_only(users), "train_users": counts.train_users}
    positions = _positions(catalogue, counts.items, len(counts.counts), "train", may_be_foreign=True)
    is_held = positions >= 0
    if len(positions) and not is_held.any():
        hint = describe_disjoint("item", "train", "the catalogue", ("", catalogue.keys.text(0)))
        found = f"none of {len(positions)} items in it"
        raise input_error("train", "interactions with items of the catalogue", found, hint=hint)
    interactions = np.zeros(size, np.int64)
    interactions[positions[is_held]] = counts.counts[is_held]
    histories = counts.histories(positions, size)
    return {
        "users": read_only(np.bincount(histories.items, minlength=size)),
        "interactions": read_only(interactions),
        "train_users": counts.user_count,
        "foreign_items": int((~is_held).sum()),
        "histories": histories,
    }


def _positions(
    catalogue: _Catalogue, items: ItemEntries | None, count: int, argument: str, *, may_be_foreign: bool = False
) -> NDArray[np.int64]:
    """Return the position in the catalogue of each of the items; -1 for one outside it."""
    if items is None:
        if catalogue.positions is None:
            expected = "items beside it: a mapping, or a catalogue in the same order"
            raise input_error(argument, expected, "values without items")
        if count != len(catalogue.positions):
            raise input_error(argument, f"one entry per item of the catalogue ({len(catalogue.positions)})", str(count))
        return catalogue.positions
    positions = catalogue.keys.find(items, argument)
    is_foreign = positions < 0
    if is_foreign.any() and not may_be_foreign:
        position, number = first_and_count(is_foreign)
        found = f"{items.text(position)}, which is not in it"
        examples = ("", catalogue.keys.text(0))
        hint = describe_disjoint("item", argument, "the catalogue", examples) if is_foreign.all() else ""
        raise input_error(argument, "items of the catalogue", found, position=position, count=number, hint=hint)
    return positions


def _groups_by_item(catalogue: _Catalogue, item_groups: object) -> dict[str, Any]:
    """Return the fields of the groups, in the order of the catalogue."""
    if item_groups is None:
        return {}
    values, items, *_ = values_by_item(item_groups, "item_groups")
    labels, codes = encode_labels(values, "item_groups")
    if labels.dtype.kind == "u" and labels.max(initial=0) > _MOST_LABEL:
        raise input_error("item_groups", f"labels up to {_MOST_LABEL}", str(labels.max()))
    of_items = np.full(len(catalogue.keys), -1, np.int64)
    of_items[_positions(catalogue, items, len(codes), "item_groups")] = codes
    return {"group_codes": read_only(of_items), "group_labels": tuple(labels.tolist())}


def _features_by_item(catalogue: _Catalogue, features: object) -> ItemFeatures | None:
    """Return the features in the order of the catalogue."""
    if features is None:
        return None
    given, items = features_of(features)
    return given.ordered(_positions(catalogue, items, len(given.is_missing), "features"), len(catalogue.keys))


def _values_by_item(catalogue: _Catalogue, values: object) -> NDArray[np.float64] | None:
    """Return the values in the order of the catalogue."""
    if values is None:
        return None
    given, items, *_ = values_by_item(values, "values")
    numbers = number_array(_numbers_of(given, "values"), "values")
    is_wrong = ~((numbers >= 0) & (numbers <= _MAX_VALUE))
    _check_numbers(numbers, is_wrong, items, "values", "numbers from 0 to 2^256")
    of_items = np.full(len(catalogue.keys), np.nan)
    of_items[_positions(catalogue, items, len(numbers), "values")] = numbers + 0.0  # without -0.0
    return read_only(of_items)


def _check_labels_are_items(
    part: Any,  # noqa: ANN401 - of any library
    argument: str,
    catalogue: object,
    keys: ItemKeys,
    positions: NDArray[np.int64],
) -> None:
    """Raise InputError if the index of a part may have items, and may as well have the labels of the catalogue's rows.

    `keys` are the items of the `catalogue` in ascending order, and `positions` are those of its entries among them.
    """
    if optional.is_series(part) and optional.is_default_index(part.index):
        _check_numbered_rows(argument, keys, positions)
    elif optional.is_series(catalogue) and _may_have_items_in_index(part) and _has_labels_of(part.index, catalogue):
        _raise_shared_labels(part, argument)


def _check_numbered_rows(argument: str, keys: ItemKeys, positions: NDArray[np.int64]) -> None:
    """Raise InputError if numbers of rows may be items, and are not those of the same rows of the catalogue."""
    numbers = np.arange(len(keys))
    are_numbers = keys.integers is not None and np.array_equal(keys.integers, numbers)
    if keys.integers is None or (are_numbers and np.array_equal(positions, numbers)):
        return
    expected = "items in the index, or values beside the catalogue without an index"
    found = "the default index of pandas, whose numbers could be items"
    hint = (
        f"{argument}={argument}.to_numpy() is beside the catalogue, {argument}={argument}.to_dict() has items as keys"
    )
    raise input_error(argument, expected, found, hint=hint)


def _may_have_items_in_index(part: Any) -> bool:  # noqa: ANN401 - of any library
    if optional.is_series(part):
        return bool(part.index.nlevels == 1)
    return optional.is_pandas(part) and part.index.nlevels == 1 and has_items_in_index(part)


def _has_labels_of(index: Any, catalogue: Any) -> bool:  # noqa: ANN401 - of pandas
    """Return whether all labels are those of rows of the catalogue with other items."""
    names_items = isinstance(index.name, str) and (index.name == catalogue.name or usual_role(index.name) == "item")
    if names_items or catalogue.index.nlevels > 1 or not index.isin(catalogue.index).all():
        return False
    if not catalogue.index.is_unique:
        return True
    return bool(catalogue.reindex(index).tolist() != index.tolist())


def _raise_shared_labels(part: Any, argument: str) -> None:  # noqa: ANN401 - of pandas
    if optional.is_series(part):
        beside = f"{argument}=dict(zip(catalogue[{argument}.index], {argument}))"
        by_item = f"{argument}={argument}.to_dict()"
    else:
        beside = f"{argument}={argument}.assign(item=catalogue)"
        by_item = f"{argument}={argument}.rename_axis('item')"
    expected = "an index of items, or no index"
    found = "labels of the catalogue's rows"
    hint = f"{beside} takes the items of these rows, {by_item} reads the labels as items"
    raise input_error(argument, expected, found, hint=hint)


def _numbers_of(values: object, argument: str) -> Any:  # noqa: ANN401 - an array or a list, for `number_array`
    """Return values that may be numbers of mixed types as an array; raise InputTypeError for flags, which are no numbers."""
    if isinstance(values, (list, tuple)):
        if not values:
            return np.zeros(0)
        if any(issubclass(one, (bool, np.bool_)) for one in set(map(type, values))):
            raise type_error(argument, "numbers", "bool")
        return column_of_objects(list(values), argument).values(argument)
    return values
