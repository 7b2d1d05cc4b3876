"""The parts of `exactk.Items`, matched by key: the catalogue, popularity, features, groups and values."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._inputs.checks import number_array, read_only
from exactk._inputs.interactions import items_of_interactions
from exactk._inputs.item_features import features_of
from exactk._inputs.keys.disjoint_keys import describe_disjoint
from exactk._inputs.keys.item_keys import ItemEntries, ItemKeys
from exactk._inputs.keys.key_lists import encode_labels
from exactk._inputs.model.item_table import CanonicalItems
from exactk._inputs.values_by_item import check_labels_are_items, item_entries, numbers_of, values_by_item
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.interactions import Interactions
    from exactk._inputs.model.item_table import CatalogueSource, ItemFeatures
    from exactk._inputs.model.rows import Rows


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
            check_labels_are_items(part, argument, catalogue, of_catalogue.keys, of_catalogue.positions)
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
    values, items = values_by_item(popularity, "popularity")
    numbers = number_array(numbers_of(values, "popularity"), "popularity")
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
    position, count = int(np.argmax(is_wrong)), int(is_wrong.sum())
    of_item = "" if items is None else f" of {items.text(position)}"
    found = f"{numbers[position]:g}{of_item}"
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
            _raise_repeated(entries, positions)
        of_catalogue = _Catalogue(keys, "catalogue", positions if is_ordered else None)
    if not len(of_catalogue.keys):
        raise input_error(of_catalogue.source, "at least one item", "none")
    return of_catalogue


def _raise_repeated(entries: ItemEntries, positions: NDArray[np.int64]) -> None:
    is_repeated = np.ones(len(positions), np.bool_)
    is_repeated[np.unique(positions, return_index=True)[1]] = False
    position, count = int(np.argmax(is_repeated)), int(is_repeated.sum())
    raise input_error("catalogue", "distinct items", f"{entries.text(position)} again", position=position, count=count)


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
        position, number = int(np.argmax(is_foreign)), int(is_foreign.sum())
        found = f"{items.text(position)}, which is not in it"
        examples = ("", catalogue.keys.text(0))
        hint = describe_disjoint("item", argument, "the catalogue", examples) if is_foreign.all() else ""
        raise input_error(argument, "items of the catalogue", found, position=position, count=number, hint=hint)
    return positions


def _groups_by_item(catalogue: _Catalogue, item_groups: object) -> dict[str, Any]:
    """Return the fields of the groups, in the order of the catalogue."""
    if item_groups is None:
        return {}
    values, items = values_by_item(item_groups, "item_groups")
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
    given = features_of(features)
    positions = _positions(catalogue, given.items, len(given.features.is_missing), "features")
    return given.features.ordered(positions, len(catalogue.keys))


def _values_by_item(catalogue: _Catalogue, values: object) -> NDArray[np.float64] | None:
    """Return the values in the order of the catalogue."""
    if values is None:
        return None
    given, items = values_by_item(values, "values")
    numbers = number_array(numbers_of(given, "values"), "values")
    is_wrong = ~((numbers >= 0) & (numbers <= _MAX_VALUE))
    _check_numbers(numbers, is_wrong, items, "values", "numbers from 0 to 2^256")
    of_items = np.full(len(catalogue.keys), np.nan)
    of_items[_positions(catalogue, items, len(numbers), "values")] = numbers + 0.0  # without -0.0
    return read_only(of_items)
