"""Recommendations and interactions in the containers that RePlay takes, as arrays of codes grouped by user.

Lists are ordered as RePlay orders them: frames by the sort of their library, so that ties and missing ratings are where
they are in RePlay, and dicts by Python's.
"""

from __future__ import annotations

from operator import ge
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from exactk._inputs.containers.tables import open_table
from exactk._inputs.keys.columns import NumberColumn
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.truth import Truth
from exactk._plan.conventions import as_convention
from exactk._runtime import optional
from exactk._runtime.threads import resolve_threads
from exactk.compat._key_codes import KeyCodes, distinct_codes, positions_within
from exactk.compat._user_values import judged_blocks, user_values

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._engine.problem import JudgedCells
    from exactk.compat._key_codes import Floats, Integers

Container = Any
"""A data frame of pandas or of Polars, or a dict of lists."""

Result = TypeVar("Result")

_PURPOSE = "exactk.compat.replay"


class ColumnNames(NamedTuple):
    """The columns of frames."""

    query: str
    item: str
    rating: str
    category: str


class UserRows(NamedTuple):
    """Rows of users and items. Those of lists are user by user, each list from its first rank to its last."""

    users: Integers
    items: Integers
    listed: Integers  # the users that are there, even those whose list is empty

    @property
    def ranks(self) -> Integers:
        """The ranks of rows of lists."""
        return positions_within(self.users) + 1

    def down_to(self, rank: int) -> UserRows:
        """Return the rows of lists down to a rank."""
        is_above = self.ranks <= rank
        return self._replace(users=self.users[is_above], items=self.items[is_above])

    def grouped(self, user_count: int) -> Rows:
        """Return the rows by code of user."""
        indptr = np.concatenate([[0], np.cumsum(np.bincount(self.users, minlength=user_count))])
        items = self.items[np.argsort(self.users, kind="stable")] if (np.diff(self.users) < 0).any() else self.items
        return Rows(indptr, items, is_owned=True)

    @property
    def is_first(self) -> NDArray[np.bool_]:
        """Which rows do not repeat an earlier one."""
        pairs = NumberColumn(self.users * (int(self.items.max(initial=0)) + 1) + self.items)
        codes = Vocabulary.of_kinds(["int"]).encode([pairs], "pairs", resolve_threads(None)).astype(np.int64)
        is_new: NDArray[np.bool_] = np.diff(np.maximum.accumulate(codes), prepend=-1) > 0
        return is_new


class ReplayTables:
    """The containers of a call, each of which is read once; all have the same codes of users and of items."""

    def __init__(self, names: ColumnNames) -> None:
        self.names = names
        self._read: dict[tuple[str, int], tuple[Any, Any]] = {}

    def lists(self, data: Container) -> UserRows:
        """Return recommendations."""
        return self._once("lists", self._lists, data)

    def lists_by_rating(self, data: Container) -> UserRows:
        """Return recommendations with ties as RePlay's coverage orders them."""
        return self.lists(data)

    def interactions(self, data: Container) -> UserRows:
        """Return the truth or the train."""
        return self._once("interactions", self._interactions, data)

    def categories(self, data: Container) -> UserRows:
        """Return the categories of recommended items instead of the items."""
        raise NotImplementedError

    def users(self, data: Container) -> Integers:
        """Return the users of a table."""
        raise NotImplementedError

    def keys(self, users: Integers) -> list[Any]:
        """Return the keys of users."""
        raise NotImplementedError

    def check_joinable(self, recommendations: Container, other: Container, column: str) -> None:
        """Raise what RePlay's library of frames raises if the types of a column differ."""

    def check_distribution(self, user_count: int, ks: Sequence[int], *, per_user: bool) -> None:
        """Raise what RePlay's library of arrays raises if there are no users."""
        del ks
        if not user_count and not per_user:
            message = "need at least one array to stack"
            raise ValueError(message)

    def distribution(self, values: NDArray[Any], name: str) -> Any:  # noqa: ANN401 - an array or a frame
        """Return values of users as modes take them."""
        del name
        return values

    @property
    def user_count(self) -> int:
        """The number of users so far: of the codes in use."""
        raise NotImplementedError

    @property
    def item_count(self) -> int:
        """The number of items so far."""
        raise NotImplementedError

    def _lists(self, data: Container) -> UserRows:
        raise NotImplementedError

    def _interactions(self, data: Container) -> UserRows:
        raise NotImplementedError

    def _once(self, what: str, read: Callable[[Container], Result], data: Container) -> Result:
        key = (what, id(data))
        if key not in self._read:
            self._read[key] = data, read(data)  # the data too, so that no other object gets its id
        result: Result = self._read[key][1]
        return result

    def has_duplicates(self, data: Container) -> bool:
        """Return whether a list has an item twice."""
        return self._once("duplicates", lambda one: not self.lists(one).is_first.all(), data)

    def values(self, metrics: Sequence[str], recommendations: Container, relevant: UserRows) -> list[Floats]:
        """Return the values of all codes of users by each metric; 0 for those without relevant rows."""
        values = user_values(*self._canonical(recommendations, relevant), metrics, _CONVENTION) if metrics else {}
        return [np.nan_to_num(values[metric]) for metric in metrics]

    def judged(self, recommendations: Container, relevant: UserRows) -> Iterator[JudgedCells]:
        """Yield which recommendations are relevant, repeated ones each time, some codes of users at a time."""
        return judged_blocks(
            *self._canonical(recommendations, relevant),
            "num_hits(duplicate_items=count,duplicate_truth=count)",
            _CONVENTION,
        )

    def _canonical(self, recommendations: Container, relevant: UserRows) -> tuple[Truth, Rankings]:
        rows, user_count = self.lists(recommendations), self.user_count  # once both are read
        rankings = self._once("rankings", lambda _: Rankings.from_rows(rows.grouped(user_count)), recommendations)
        return self._once("truth", lambda one: Truth.from_valid_rows(one.grouped(user_count)), relevant), rankings


_CONVENTION = as_convention("replay")


def _encode_objects(values: Iterable[Hashable], codes: dict[Any, int]) -> Integers:
    return np.array([codes.setdefault(value, len(codes)) for value in values], np.int64)


class _FrameTables(ReplayTables):
    """Data frames."""

    def __init__(self, names: ColumnNames) -> None:
        super().__init__(names)
        self._users, self._items = KeyCodes(), KeyCodes()

    @property
    def user_count(self) -> int:
        return len(self._users)

    @property
    def item_count(self) -> int:
        return len(self._items)

    def users(self, data: Container) -> Integers:
        return distinct_codes(self._user_codes(data), self.user_count)

    def keys(self, users: Integers) -> list[Any]:
        keys = self._users.keys
        return [] if keys is None else keys.array[users].tolist()

    def categories(self, data: Container) -> UserRows:
        frame = self._by_rating_alone(data)
        items = _encode_objects(frame[self.names.category].to_list(), {})
        return self._grouped(frame, self._codes(frame, self.names.query, self._users), items)

    def _by_rating_alone(self, data: Container) -> Container:
        raise NotImplementedError

    def _order(self, data: Container) -> Integers:
        """Return the order of rows by falling rating and item."""
        raise NotImplementedError

    def _lists(self, data: Container) -> UserRows:
        order = self._order(data)
        return self._grouped(data, self._user_codes(data)[order], self._item_codes(data)[order])

    def _interactions(self, data: Container) -> UserRows:
        users = self._user_codes(data)
        return UserRows(users, self._item_codes(data), self._listed(data, users))

    def _user_codes(self, data: Container) -> Integers:
        return self._once("users", lambda frame: self._codes(frame, self.names.query, self._users), data)

    def _item_codes(self, data: Container) -> Integers:
        return self._once("items", lambda frame: self._codes(frame, self.names.item, self._items), data)

    def _grouped(self, frame: Container, users: Integers, items: Integers) -> UserRows:
        order = np.argsort(users, kind="stable")
        return UserRows(users[order], items[order], self._listed(frame, users))

    def _listed(self, frame: Container, users: Integers) -> Integers:
        """Return the users of the frame's groups, in the order of results."""
        del frame
        return distinct_codes(users, self.user_count)

    def _codes(self, frame: Container, name: str, codes: KeyCodes) -> Integers:
        # A pandas frame is not selected from but for its exception: that takes longer than to read a short column.
        selected = frame if optional.is_pandas(frame) and name in frame.columns else frame[[name]]
        if not len(selected):
            return np.zeros(0, np.int64)
        return codes.of_column(open_table(selected, "frame").select([name], "frame").columns[name], name)


class _PandasTables(_FrameTables):
    def _order(self, data: Container) -> Integers:
        query, item, rating, _ = self.names
        if {query, item, rating}.issubset(data.columns) and getattr(data[rating], "dtype", None) == np.float64:
            ratings = data[rating].to_numpy()
            falling: Integers = np.argsort(ratings)[::-1]
            if (ratings[falling[1:]] < ratings[falling[:-1]]).all():  # no ties, and no NaN: pandas takes longer
                return falling
        rows = data[[query, item, rating]].reset_index(drop=True)
        order: Integers = rows.sort_values(by=[rating, item], ascending=False, kind="stable").index.to_numpy()
        return order

    def _by_rating_alone(self, data: Container) -> Container:
        query, _, rating, category = self.names
        return data[[query, category, rating]].sort_values(by=rating, ascending=False)  # not stable, as in RePlay

    def categories(self, data: Container) -> UserRows:
        return _without_empty_lists(super().categories(data))

    def _listed(self, frame: Container, users: Integers) -> Integers:
        """Return the users in ascending order; all categories in their order, as pandas groups even by unused ones."""
        query = self.names.query
        if hasattr(frame[query].dtype, "categories"):
            return self._codes(frame[query].dtype.categories.to_frame(name=query), query, self._users)
        listed = super()._listed(frame, users)
        keys = self._users.keys
        return listed if keys is None else listed[np.argsort(keys.positions_in_key_order()[listed])]


class _PolarsTables(_FrameTables):
    def _order(self, data: Container) -> Integers:
        _, item, rating, _ = self.names
        order = optional.polars(_PURPOSE).arg_sort_by([rating, item], descending=True)
        positions: Integers = data.select(order).to_series().to_numpy().astype(np.int64)
        return positions

    def _by_rating_alone(self, data: Container) -> Container:
        query, _, rating, category = self.names
        polars = optional.polars(_PURPOSE)
        return data.select(polars.col(query, category).sort_by(rating, descending=True).over(query))

    def lists_by_rating(self, data: Container) -> UserRows:
        return self._once("lists by rating", self._lists_by_rating, data)

    def _lists_by_rating(self, data: Container) -> UserRows:
        query, _, rating, _ = self.names
        rank = optional.polars(_PURPOSE).col(rating).rank("ordinal", descending=True).over(query)
        users, items = self._user_codes(data), self._item_codes(data)
        ranks = data.select(rank).to_series().to_numpy()
        order = np.lexsort((ranks, users))
        order = order[~np.isnan(ranks[order])]  # a missing rating has no rank
        return UserRows(users[order], items[order], self.users(data))

    def check_joinable(self, recommendations: Container, other: Container, column: str) -> None:
        empty = [one[[self.names.query, self.names.item]].head(0) for one in (other, recommendations)]
        empty[0].join(empty[1], on=column, how="left")

    def check_distribution(self, user_count: int, ks: Sequence[int], *, per_user: bool) -> None:
        del per_user
        exceptions = optional.polars(_PURPOSE).exceptions
        if not user_count:
            message = "there are no users"
            raise exceptions.ComputeError(message)
        if len(set(ks)) < len(ks):
            message = f"topk has a value twice: {list(ks)}"
            raise exceptions.DuplicateError(message)

    def distribution(self, values: NDArray[Any], name: str) -> Any:  # noqa: ANN401 - a frame
        return optional.polars_frame({name: values})


class _DictTables(ReplayTables):
    """Dicts: from users to pairs of an item and a score, or to items. Keys are whatever Python can hash."""

    def __init__(self, names: ColumnNames) -> None:
        super().__init__(names)
        self._user_codes: dict[Any, int] = {}
        self._item_codes: dict[Any, int] = {}

    @property
    def user_count(self) -> int:
        return len(self._user_codes)

    @property
    def item_count(self) -> int:
        return len(self._item_codes)

    def users(self, data: Container) -> Integers:
        return _encode_objects(data, self._user_codes)

    def keys(self, users: Integers) -> list[Any]:
        keys = list(self._user_codes)
        return [keys[user] for user in users.tolist()]

    def categories(self, data: Container) -> UserRows:
        return _without_empty_lists(self.lists(data))

    def _lists(self, data: Container) -> UserRows:
        lists = {user: _items_in_order(pairs) for user, pairs in data.items()}
        return self._rows(lists)

    def _interactions(self, data: Container) -> UserRows:
        return self._rows({user: items or () for user, items in data.items()})

    def _rows(self, lists: Mapping[Any, Any]) -> UserRows:
        users = self.users(lists)
        items = _encode_objects((item for row in lists.values() for item in row), self._item_codes)
        return UserRows(np.repeat(users, [len(row) for row in lists.values()]).astype(np.int64), items, users)


def _without_empty_lists(rows: UserRows) -> UserRows:
    """Return lists of categories; raise IndexError if one is empty, as RePlay does."""
    if len(np.setdiff1d(rows.listed, rows.users)):
        message = "list index out of range: a list of categories is empty"
        raise IndexError(message)
    return rows


def _items_in_order(pairs: Sequence[Any]) -> list[Any]:
    """Return the items by falling score; Python's sort keeps the order of ties, and has NaN where RePlay has it."""
    scores = [pair[1] for pair in pairs] if len(pairs) > 1 else []
    if not all(map(ge, scores, scores[1:])):
        pairs = sorted(pairs, key=lambda pair: pair[1], reverse=True)
    return [item for item, _ in pairs]


def tables_of(names: ColumnNames, recommendations: Container, *others: Container) -> ReplayTables:
    """Return what reads containers of this type."""
    if any(type(one).__module__.partition(".")[0] == "pyspark" for one in (recommendations, *others)):
        message = "frames of Spark are evaluated by exactk.spark.evaluate with convention='replay'; here they must be of pandas or Polars, or dicts"
        raise TypeError(message)
    if optional.is_polars(recommendations):
        return _PolarsTables(names)
    return _PandasTables(names) if optional.is_pandas(recommendations) else _DictTables(names)
