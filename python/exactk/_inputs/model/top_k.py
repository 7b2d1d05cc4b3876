"""The best items of each user, as `exactk.topk` returns them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime import optional
from exactk._runtime.errors import input_error
from exactk._runtime.faults import plural
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray


class _Best(NamedTuple):
    items: NDArray[Any]
    scores: NDArray[Any]


class TopK(_Best):
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

    def _repr_html_(self) -> str:
        from exactk._runtime.html_table import MOST_ROWS, HtmlTable, html_of_tables

        users, k = self.items.shape
        shown = max(1, MOST_ROWS // max(1, k))
        first = TopK(self.items[:shown], self.scores[:shown], None if self.users is None else self.users[:shown])
        rows, positions = np.nonzero(first.filled)
        names = first._user_columns(rows)
        cells = [*names.values(), positions + 1, first.items[first.filled], first.scores[first.filled]]
        plain = [column if isinstance(column, list) else column.tolist() for column in cells]
        text = [[f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in column] for column in plain]
        table = HtmlTable(
            f"Best {k} items of {plural(users, 'user')}",
            [*names, "rank", "item", "score"],
            list(zip(*text, strict=True)),
            left=len(names),
            notes=[f"the first {plural(shown, 'user')}; to_pandas() has all"] if users > shown else [],
        )
        return html_of_tables([table], "to_pandas() has them")

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for each user and item, without padding: user, item, rank and score.

        Ranks count from 1. Users without keys are row numbers.
        """
        return optional.pandas_frame(self._columns())

    def to_polars(self) -> pl.DataFrame:
        """Return the same rows as `to_pandas`, as a Polars data frame."""
        return optional.polars_frame(self._columns())

    def _columns(self) -> dict[str, Any]:
        filled = self.filled
        rows, positions = np.nonzero(filled)
        users = self._user_columns(rows)
        columns = {"item": _plain(self.items[filled]), "rank": positions + 1, "score": self.scores[filled]}
        if shared := [name for name in columns if name in users]:
            expected, found = "distinct column names", f"two columns {shared[0]!r}"
            raise input_error("users", expected, found, hint="rename the user columns")
        return {**users, **columns}

    def _user_columns(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        if self.users is None:
            return {"user": rows}
        users, names = self.users, self.users.dtype.names
        if names is None:
            return {"user": _plain(users[rows])}
        return {name: _plain(users[name][rows]) for name in names}

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Flags of the cells that are not padding, shape (n_users, k)."""
        if self.items.dtype != object:
            return np.asarray(self.items >= 0)
        return np.array([[item is not None for item in row] for row in self.items], np.bool_).reshape(self.items.shape)


def _plain(keys: NDArray[Any]) -> Any:  # noqa: ANN401 - an array of numbers, or a list
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
