"""The public `Items`: the catalogue, and what is known of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, SupportsIndex, TypeAlias

from exactk._inputs.conversions import default_encoding
from exactk._inputs.item_parts import canonical_items, interactions_of
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.item_table import CanonicalItems
from exactk._inputs.registry import open_path
from exactk._runtime.errors import ExactkError
from exactk._runtime.faults import Option, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set as AbstractSet

    import numpy as np
    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.popularity_groups import By
    from exactk._inputs.protocols import DataFrame, KeysLike, MatrixLike, Series, SparseMatrix, VectorLike
    from exactk._inputs.types import ExclusionsLike, FilePath


CatalogueLike: TypeAlias = "Items | ExclusionsLike"
"""The items that could be recommended, or the training data that has them."""


class Items:
    """The items that could be recommended, and what is known of them: their popularity, groups and values.

    Metrics that read the recommended items, such as novelty, need this argument of `exactk.evaluate`. Build it once where
    several evaluations share it. Metrics of groups of items, such as exposure, need `item_groups`; those of distances between
    items, such as ild, need `features`.

    Parameters
    ----------
    catalogue : sequence, array, Series, Index or set of items, path, or int, optional
        The items that could be recommended, each once. A path is that of a file with an item column, or of a JSON list.
        A number n stands for the ids 0 to n - 1, or the columns of scores without item keys. By default, the items of
        `train` or of `popularity`.
    train : Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path, optional
        The interactions of the training data, as in `exactk.as_exclusions`: the popularity of an item is the number of
        its distinct users or of its rows, as the convention says. Each stored entry of a sparse matrix is one row. Users
        without an item are not users of the training data. Interactions with items outside the catalogue only count
        among the users of the training data: sums, ranks and the highest popularity are those of the catalogue's items.
        Metrics such as serendipity and calibration also read what each user has there: rows are matched with the users
        of the call as those of `exclude` are, by key or by position.
    popularity : mapping from item to int, Series, data frame, or array of int beside the catalogue, optional
        The number of distinct users of each item, in place of `train`; other items of the catalogue have none. A Series
        has the items in its index; one with the default index is beside the catalogue, and an error if its numbers may
        be items. A data frame has an item column, or items in its index, and one other column.
    train_users : int, optional
        The number of distinct users behind `popularity`, which some metrics need.
    features : two-dimensional array or sparse matrix beside the catalogue, data frame, or mapping, Series or list of vectors or tags, optional
        The features of each item: a vector, or tags. Tags are strings in a list, or strings or integers in a set; integers
        in a list are a vector. A data frame has an item column, or items in its index, and columns of numbers or one
        column of lists or sets. The entries of a list are in the order of the catalogue. Items may have none; an item
        without tags has none. Numbers are from -2^64 to 2^64, and for ``distance="cosine"`` a vector is of zeros or of a
        length of at least 2^-250. For ``distance="matrix"``, a symmetric matrix of the distances of the items, with rows
        and columns in the same order.
    item_groups : mapping from item to int or str, Series, data frame, or sequence beside the catalogue, optional
        The group of each item, such as its category, in the same containers as the popularity. Items may have none.
        ``recall@10(item_group=every)`` has a value for each; without them, for each of the tags of `features`, of which
        an item may have several. `popularity_groups` makes groups of the popularity.
    values : mapping from item to float, Series, data frame, or array of float beside the catalogue, optional
        The value of each item, such as its price, from 0 to 2^256, in the same containers: what it counts in
        ``recall@k(weight=values)``. Items may have none.

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
        If an argument is invalid, if both `train` and `popularity` are given, if popularity, features, groups or values
        have items outside the catalogue, or if the index of a Series or data frame may have items or labels of rows.

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

    __module__ = "exactk"

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
        rows = None if train is None else interactions_of(train, "train", {}, default_encoding())
        self._table = canonical_items(
            _open_catalogue(catalogue), rows, popularity, train_users, features, item_groups, values
        )

    @classmethod
    def from_argument(cls, value: Any, columns: ColumnNames, threads: int) -> Items:  # noqa: ANN401 - of any library
        """Return the argument ``items=`` of an evaluation: interactions are short for `Items` of them."""
        if isinstance(value, Items):
            return value
        rows = interactions_of(value, "items", columns, Encoding(threads))
        return cls.of_table(canonical_items(None, rows, None, None, None, None, None))

    @classmethod
    def of_table(cls, table: CanonicalItems) -> Self:
        """Return the items of a canonical form."""
        items = cls.__new__(cls)
        items._table = table  # noqa: SLF001 - its own
        return items

    @staticmethod
    def popularity_groups(
        train: ExclusionsLike | Items,
        cuts: Sequence[float] | float = (0.5, 0.8),
        *,
        by: By = "interactions",
        labels: Sequence[str] | None = None,
        cold: bool = False,
    ) -> dict[Any, str]:
        r"""Return the group of each item by its popularity, for `item_groups`: the head, the middle and the tail.

        Equally popular items are in one group, the more popular of two, so that a head may have more than its share: no
        order of items matters. Popularity :math:`p` is the number of distinct users.

        Parameters
        ----------
        train : Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, path, or Items
            The interactions of the training data; or `Items`, which also know of items that these lack.
        cuts : float or sequence of float
            Where groups end, ascending, from the most popular: shares, read as the decimals that are written, or
            popularities. With ``by="quantile"``, the number of groups.
        by : {"interactions", "items", "quantile", "popularity"}
            What is cut. An item is beyond a cut :math:`c` if the more popular items have at least a share :math:`c` of all
            interactions (by user), or are that share of the items; of q quantiles, it is in the group
            :math:`\lfloor q N / n \rfloor`, where N of n items are more popular; or if its popularity is below the cut.
        labels : sequence of str, optional
            The labels, from the most popular group. By default, ``head`` and ``tail``, with ``mid`` of three.
        cold : bool
            Whether items without interactions are a group ``cold``, and count in no share.

        Returns
        -------
        dict
            The label of each item.

        Raises
        ------
        InputError, InputTypeError
            If an argument is invalid.

        Examples
        --------
        >>> import exactk
        >>> train = {"ann": ["film", "song"], "bob": ["film", "book"], "cy": ["film"]}
        >>> exactk.Items.popularity_groups(train, cuts=0.5)
        {'book': 'tail', 'film': 'head', 'song': 'tail'}
        >>> items = exactk.Items(train=train, item_groups=exactk.Items.popularity_groups(train, cuts=0.5))
        >>> truth, lists = {"ann": ["book"], "bob": ["song", "film"]}, {"ann": ["book"], "bob": ["film"]}
        >>> report = exactk.evaluate(truth, lists, "recall@1(item_group=every)", items=items)
        >>> report.by_item_group["tail"]["recall@1"]
        0.5
        """
        from exactk._inputs.popularity_groups import groups_by_popularity

        of_train = train if isinstance(train, Items) else Items(train=train)
        return groups_by_popularity(of_train.table, cuts, by, labels, cold=cold)

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
        return cls.of_table(CanonicalItems.from_plain(table))


def _open_catalogue(catalogue: object) -> object:
    """Return the items of the file at a path; other values unchanged."""
    try:
        return open_path(catalogue, "catalogue", {})
    except ExactkError as error:
        if not any(isinstance(part, Option) for part in error.fault.hint):
            raise
        raise error.amended(hint=("rename the column of items to 'item'",)) from error.__cause__
