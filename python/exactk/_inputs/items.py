"""The public `Items`: the catalogue, and what is known of its items."""

from __future__ import annotations

import re
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Self, SupportsIndex, TypeAlias

import numpy as np

from exactk import _core
from exactk._inputs.checks import key_array, number_array, read_only
from exactk._inputs.conversions import default_encoding, exclusions_of
from exactk._inputs.item_features import features_of
from exactk._inputs.keys.item_keys import ItemEntries, ItemKeys
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.item_table import CanonicalItems
from exactk._inputs.model.rows import remove_padding
from exactk._inputs.model.scores import Scores
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._inputs.paths import open_path
from exactk._inputs.values_by_item import item_entries, numbers_of, values_by_item
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.faults import Option, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.item_features import ItemFeatures
    from exactk._inputs.model.item_table import CatalogueSource
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.protocols import DataFrame, KeysLike, MatrixLike, Series, SparseMatrix, VectorLike
    from exactk._inputs.types import ExclusionsLike, FilePath


CatalogueLike: TypeAlias = "Items | ExclusionsLike"
"""The items that could be recommended, or the training data that has them."""


class Items:
    """The items that could be recommended, and what is known of them: their popularity, groups and values.

    Metrics that read the recommended items, such as novelty, need this argument of `exactk.evaluate`. Build it once where
    several evaluations share it. No metric reads features, groups or values yet.

    Parameters
    ----------
    catalogue : sequence, array, Series, Index or set of items, path, or int, optional
        The items that could be recommended, each once. A path is that of a file with an item column, or of a JSON list. A number n stands for the ids 0 to n - 1, or the columns of scores
        without item keys. By default, the items of `train` or of `popularity`.
    train : Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path, optional
        The interactions of the training data, as in `exactk.as_exclusions`: the popularity of an item is the number of
        its distinct users or of its rows, as the convention says. Each stored entry of a sparse matrix is one row. Users
        without an item are not users of the training data. Interactions with items outside the catalogue only count
        among the users of the training data.
    popularity : mapping from item to int, Series, data frame, or array of int beside the catalogue, optional
        The number of distinct users of each item, in place of `train`; other items of the catalogue have none. A Series
        has the items in its index. A data frame has an item column, or items in its index, and one other column.
    train_users : int, optional
        The number of distinct users behind `popularity`, which some metrics need.
    features : two-dimensional array or sparse matrix beside the catalogue, data frame, or mapping, Series or list of vectors or tags, optional
        The features of each item: a vector, or a list of tags, which are strings. A data frame has an item column, or items
        in its index, and columns of numbers or one column of lists. The entries of a list are in the order of the
        catalogue. Items may have none.
    item_groups : mapping from item to int or str, Series, data frame, or sequence beside the catalogue, optional
        The group of each item, such as its category, in the same containers as the popularity. Items may have none.
    values : mapping from item to float, Series, data frame, or array of float beside the catalogue, optional
        The value of each item, such as its price, at least 0, in the same containers. Items may have none.

    Attributes
    ----------
    keys : array
        The items of the catalogue: integers in ascending order, strings by code point.
    popularity, interactions : array of int or None
        The numbers of distinct users and of rows of each item, in the order of `keys`. None if unknown.
    train_users : int or None
        The number of distinct users of the training data. None if unknown.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, if both `train` and `popularity` are given, or if popularity, features, groups or values
        have items outside the catalogue.

    Examples
    --------
    >>> import exactk
    >>> train = {"ann": ["film", "song"], "bob": ["film"]}
    >>> items = exactk.Items(["song", "film", "book"], train=train)
    >>> items
    <Items: 3 items (str), 3 interactions of 2 users>
    >>> dict(zip(items.keys.tolist(), items.popularity.tolist()))
    {'book': 0, 'film': 2, 'song': 1}
    >>> exactk.Items(popularity={"film": 2, "song": 1}, train_users=2)
    <Items: the 2 items of popularity (str), popularity of 2 users>
    """

    def __init__(
        self,
        catalogue: KeysLike | AbstractSet[Any] | FilePath | SupportsIndex | None = None,
        *,
        train: ExclusionsLike | None = None,
        popularity: Mapping[Any, float] | Series | DataFrame | VectorLike | None = None,
        train_users: SupportsIndex | None = None,
        features: MatrixLike | SparseMatrix | Mapping[Any, Any] | Series | DataFrame | Sequence[Any] | None = None,
        item_groups: Mapping[Any, Any] | Series | DataFrame | KeysLike | None = None,
        values: Mapping[Any, float] | Series | DataFrame | VectorLike | None = None,
    ) -> None:
        rows = None if train is None else _interactions(train, "train", {}, default_encoding())
        self._table = _table(_open_catalogue(catalogue), rows, popularity, train_users, features, item_groups, values)

    @classmethod
    def from_argument(cls, value: Any, columns: ColumnNames, threads: int) -> Items:  # noqa: ANN401 - of any library
        """Return the argument ``items=`` of an evaluation: interactions are short for `Items` of them."""
        if isinstance(value, Items):
            return value
        rows = _interactions(value, "items", columns, Encoding(threads))
        return cls._of_table(_table(None, rows, None, None, None, None, None))

    @classmethod
    def _of_table(cls, table: CanonicalItems) -> Self:
        items = cls.__new__(cls)
        items._table = table  # noqa: SLF001 - its own
        return items

    @property
    def table(self) -> CanonicalItems:
        """The canonical form."""
        return self._table

    @property
    def keys(self) -> NDArray[Any]:
        """The items of the catalogue in ascending order."""
        return self._table.keys.array

    @property
    def popularity(self) -> NDArray[np.int64] | None:
        """The number of distinct users of each item."""
        return self._table.users

    @property
    def interactions(self) -> NDArray[np.int64] | None:
        """The number of rows of each item."""
        return self._table.interactions

    @property
    def train_users(self) -> int | None:
        """The number of distinct users of the training data."""
        return self._table.train_users

    def __len__(self) -> int:
        """Return the number of items of the catalogue."""
        return len(self._table)

    def __repr__(self) -> str:
        table = self._table
        catalogue = plural(len(table), "item")
        if not table.is_catalogue_given:
            catalogue = f"the {catalogue} of {table.source}"
        parts = [f"{catalogue} ({table.keys.kind})"]
        users = "" if table.train_users is None else f" of {plural(table.train_users, 'user')}"
        if table.interactions is not None:
            parts.append(f"{plural(int(table.interactions.sum()), 'interaction')}{users}")
        elif table.users is not None:
            parts.append(f"popularity{users}")
        if table.foreign_items:
            parts.append(f"{plural(table.foreign_items, 'item')} of train outside the catalogue")
        if table.features is not None:
            parts.append(str(table.features))
        if table.group_codes is not None:
            parts.append(plural(len(table.group_labels), "group"))
        if table.item_values is not None:
            parts.append("values")
        return f"<Items: {', '.join(parts)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Items._from_plain, (self._table.to_plain(),))

    @classmethod
    def _from_plain(cls, table: dict[str, Any]) -> Items:
        return cls._of_table(CanonicalItems.from_plain(table))


def items_of_inputs(items: CanonicalItems, inputs: AlignedInputs) -> CanonicalItems:
    """Return the items with the ids of a call's aligned inputs."""
    predictions = inputs.predictions
    are_columns = isinstance(predictions, (Scores, CanonicalEmbeddings))
    if isinstance(predictions, (Scores, CanonicalEmbeddings)):
        count = predictions.item_count
    else:
        count = len((predictions.lists if isinstance(predictions, SparseScores) else predictions).items)
    has_items = count > 0 or len(inputs.truth.items) > 0
    return items.of_call(inputs.item_vocabulary, inputs.item_ids, has_items=has_items, are_columns=are_columns)


class _Catalogue(NamedTuple):
    """The catalogue, and where each item that the caller listed is in it."""

    keys: ItemKeys
    source: CatalogueSource
    positions: NDArray[np.int64] | None = None  # None: the items have no order, so nothing can be beside the catalogue
    has_columns: bool = False


class _Popularity(NamedTuple):
    """The counts of each item."""

    items: ItemEntries | None  # None: in the order of the catalogue
    users: NDArray[np.int64]
    interactions: NDArray[np.int64] | None
    train_users: int | None
    has_columns: bool = False


def _table(
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
    counts = _popularity_of_rows(train) if train is not None else _given_popularity(popularity, train_users)
    if train is not None and train_users is not None:
        raise input_error("train_users", "None beside train, which has the users", repr(train_users))
    of_catalogue = _catalogue(catalogue, counts, "train" if train is not None else "popularity")
    return CanonicalItems(
        of_catalogue.keys,
        np.arange(len(of_catalogue.keys)) if of_catalogue.keys.integers is None else of_catalogue.keys.integers,
        of_catalogue.source,
        has_columns=of_catalogue.has_columns or (counts is not None and counts.has_columns),
        **_counts_by_item(of_catalogue, counts, is_train=train is not None),
        **_groups_by_item(of_catalogue, item_groups),
        item_values=_values_by_item(of_catalogue, values),
        features=_features_by_item(of_catalogue, features),
    )


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


def _open_catalogue(catalogue: object) -> object:
    """Return the items of the file at a path; other values unchanged."""
    try:
        return open_path(catalogue, "catalogue", {})
    except ExactkError as error:
        if not any(isinstance(part, Option) for part in error.fault.hint):
            raise
        raise error.amended(hint=("rename the column of items to 'item'",)) from error.__cause__


def _with_name(text: str, argument: str) -> str:
    return re.sub(r"\bexclude\b", argument, text)


def _hint_part(part: str | Option, argument: str, call: str) -> str | Option:
    if isinstance(part, str):
        if "excludes the same items" in part:  # of a flat list, which is no interactions
            return "exactk.Items(items) reads them as a catalogue" if argument == "items" else ""
        return _with_name(part, argument)
    return Option(part.name, part.value, call) if part.name in {"user", "item"} else part


def _interactions(value: Any, argument: str, columns: ColumnNames, encoding: Encoding) -> Rows:  # noqa: ANN401 - of any library
    """Return the rows of interactions."""
    with naming_interactions(argument, "train=exactk.as_exclusions(train, {})" if argument == "train" else "{}"):
        if isinstance(value, (Integral, float)):
            hint = "exactk.Items(n) has the ids 0 to n - 1" if argument == "items" else ""
            raise type_error(argument, "the interactions of each user", repr(value), hint=hint)
        exclusions = exclusions_of(open_path(value, "exclude", columns), columns, encoding)
        assert exclusions is not None  # noqa: S101 - only None is
        return remove_padding(exclusions.rows())


def _popularity_of_rows(rows: Rows) -> _Popularity:
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
    return _Popularity(
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


_MOST = 2**53  # of all counts together, which is exact as a double
_MOST_ITEMS = 2**31 - 3


def _given_popularity(popularity: object, train_users: object) -> _Popularity | None:
    """Return the counts of an argument."""
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
    return _Popularity(items, numbers.astype(np.int64), None, users)


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


def _catalogue(catalogue: Any, counts: _Popularity | None, source: CatalogueSource) -> _Catalogue:  # noqa: ANN401 - of any library
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


def _counts_by_item(catalogue: _Catalogue, counts: _Popularity | None, *, is_train: bool) -> dict[str, Any]:
    """Return the fields of the popularity, in the order of the catalogue."""
    if counts is None:
        return {}
    argument = "train" if is_train else "popularity"
    positions = _positions(catalogue, counts.items, len(counts.users), argument, may_be_foreign=is_train)
    is_held = positions >= 0
    if is_train and len(positions) and not is_held.any():
        raise input_error("train", "interactions with items of the catalogue", f"none of {len(positions)} items in it")

    def by_item(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        of_items = np.zeros(len(catalogue.keys), np.int64)
        of_items[positions[is_held]] = numbers[is_held]
        return read_only(of_items)

    return {
        "users": by_item(counts.users),
        "interactions": None if counts.interactions is None else by_item(counts.interactions),
        "train_users": counts.train_users,
        "foreign_items": int((~is_held).sum()),
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
        raise input_error(argument, "items of the catalogue", found, position=position, count=number)
    return positions


def _groups_by_item(catalogue: _Catalogue, item_groups: object) -> dict[str, Any]:
    """Return the fields of the groups, in the order of the catalogue."""
    if item_groups is None:
        return {}
    values, items = values_by_item(item_groups, "item_groups")
    labels, codes = np.unique(key_array(values, "item_groups"), return_inverse=True)
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
    _check_numbers(numbers, ~(numbers >= 0) | np.isinf(numbers), items, "values", "finite numbers of at least 0")
    of_items = np.full(len(catalogue.keys), np.nan)
    of_items[_positions(catalogue, items, len(numbers), "values")] = numbers + 0.0  # without -0.0
    return read_only(of_items)
