"""The best items of each user, as `exactk.topk` returns them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime.errors import input_error
from exactk._runtime.faults import plural
from exactk._runtime.records import NamedTuple
from exactk._runtime.table_exports import ExportsTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._runtime.table import Table


class _Best(NamedTuple):
    items: NDArray[Any]
    scores: NDArray[Any]


class TopK(_Best, ExportsTable):
    """The k highest-scoring items of each user and their scores, best first, with padding at the end of short rows.

    A named tuple of `items` and `scores`. `exactk.evaluate` takes it as predictions, namely as rankings.

    Attributes
    ----------
    items : array of int64 or of object, shape (n_users, k)
        Item ids (column indices of dense scores), padded with -1. For items with keys that are strings or bytes, an
        object array of keys, padded with None; integer keys stay integers, padded with -1.
    scores : array of the scores' type, shape (n_users, k)
        The scores (float64 for embeddings), padded with NaN, or with 0 for integer scores.
    users : array, shape (n_users,), or None
        The key of each row's user; None if users are row numbers. Keys of several parts are a structured array.

    Examples
    --------
    >>> import exactk
    >>> best = exactk.topk({"ann": {"film": 0.5, "song": 0.75}, "bob": {"film": 0.25}}, k=2)
    >>> best.users
    array(['ann', 'bob'], dtype='<U3')
    >>> best.to_pandas()
      user  item  rank  score
    0  ann  song     1   0.75
    1  ann  film     2   0.50
    2  bob  film     1   0.25
    >>> exactk.precision_at_k({"bob": ["film"], "ann": ["film"]}, best, k=1)
    0.5
    """

    __module__ = "exactk.results"

    users: NDArray[Any] | None = None

    def __new__(cls, items: NDArray[Any], scores: NDArray[Any], users: NDArray[Any] | None = None) -> TopK:  # noqa: PYI034 - a tuple has no Self in its __new__
        """Return the named tuple, with its users."""
        best = super().__new__(cls, items, scores)
        best.users = users
        return best

    def _replace(self, /, **changes: Any) -> TopK:  # noqa: ANN401 - the fields
        """Return the named tuple with other fields, and the same users."""
        return TopK(**{**self._asdict(), "users": self.users, **changes})

    _has_all = "to_pandas() has them"

    def _tables(self) -> Sequence[Table]:
        """Return the table of the first users."""
        from exactk._runtime.table import MOST_ROWS

        users, k = self.items.shape
        shown = max(1, MOST_ROWS // max(1, k))
        first = TopK(self.items[:shown], self.scores[:shown], None if self.users is None else self.users[:shown])
        notes = [f"the first {plural(shown, 'user')}; to_pandas() has all"] if users > shown else []
        return [first._table(None)._replace(caption=f"Best {k} items of {plural(users, 'user')}", notes=notes)]

    def _table(self, digits: int | None) -> Table:
        return ranked_table(self.columns(), digits)

    def columns(self) -> dict[str, Any]:
        """Return a row for each user and item, without padding: the user, the item, its rank from 1 and its score.

        Users without keys are row numbers.
        """
        filled = self.filled
        rows, positions = np.nonzero(filled)
        values = {"item": plain_keys(self.items[filled]), "rank": positions + 1, "score": self.scores[filled]}
        return ranked_columns(self.users, rows, values)

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Flags of the cells that are not padding, shape (n_users, k)."""
        if self.items.dtype != object:
            return np.asarray(self.items >= 0)
        return np.array([[item is not None for item in row] for row in self.items], np.bool_).reshape(self.items.shape)


def ranked_columns(
    users: NDArray[Any] | None, rows: NDArray[np.int64], values: dict[str, Any], user: str = "user"
) -> dict[str, Any]:
    """Return the columns of a table of ranked items, which begins with the users of its rows."""
    if users is None:
        keys = {user: rows}
    elif (names := users.dtype.names) is None:
        keys = {user: plain_keys(users[rows])}
    else:
        keys = {name: plain_keys(users[name][rows]) for name in names}
    if shared := [name for name in values if name in keys]:
        expected, found = "distinct column names", f"two columns {shared[0]!r}"
        raise input_error("users", expected, found, hint="rename the user columns")
    return {**keys, **values}


def ranked_table(columns: dict[str, Any], digits: int | None) -> Table:
    """Return a table of ranked items: of their users, then items, ranks and scores."""
    from exactk._runtime.table import Column, Table, plain_cells

    form = ".6g" if digits is None else f".{digits}f"
    shown = {
        name: [format(cell, form) if isinstance(cell, float) else str(cell) for cell in plain_cells(column)]
        for name, column in columns.items()
    }
    *keys, item, rank, score = shown
    return Table(
        [
            *(Column(key, shown[key], "key") for key in keys),
            Column(rank, shown[rank]),
            Column(item, shown[item], "text"),
            Column(score, shown[score]),
        ]
    )


def plain_keys(keys: NDArray[Any]) -> Any:  # noqa: ANN401 - an array of numbers, or a list
    """Return numbers as an array, and other keys as a list, from which each library makes a column of its own type."""
    return keys if keys.dtype.kind in "iu" else keys.tolist()


def with_item_keys(ids: NDArray[np.int64], item_keys: NDArray[Any] | None) -> NDArray[Any]:
    """Return item keys in place of codes, if items are keyed."""
    if item_keys is None:
        return ids
    is_integer = item_keys.dtype.kind in "iu"
    items = np.full(ids.shape, -1, np.int64) if is_integer else np.full(ids.shape, None, object)
    filled = ids >= 0
    items[filled] = item_keys[ids[filled]]
    return items
