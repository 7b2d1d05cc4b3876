"""Rows of two or three parts, which may be users with items, although they are read as the items of users."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ORDERED = frozenset({"predictions", "base_predictions", "one", "other"})
_FEWEST_PAIRS = 3  # fewer integers may be grouped by chance
FEWEST_LISTS_OF_BOTH = 4
"""Fewer lists of integers, in truth and predictions, may be grouped by chance."""


class Tuples(NamedTuple):
    """Rows that are likely users with items, of three also with a number, but are read as lists of items."""

    width: int
    kind: str  # "strings" or "integers"

    def describe(self, *arguments: str) -> str:
        """Return the warning about these arguments, with what to write for each."""
        row, users = {
            2: (f"pair of {self.kind}", "pairs of users and items"),
            3: (f"tuple of three {self.kind}", "users with items and numbers"),
        }[self.width]
        frames = ", ".join(map(self._frame, arguments))
        return f"each {row} is read as one user's list of {('two', 'three')[self.width - 2]} items; for {users}, write {frames}"

    def _frame(self, argument: str) -> str:
        """Return how to write them as a data frame; pairs of predictions, which have no scores, as lists in their order."""
        as_lists = ".groupby('user', as_index=False).agg(list)" if argument in _ORDERED and self.width == 2 else ""
        from exactk._inputs.ways_on import frame_of_tuples

        return f"{frame_of_tuples(argument, self.width)}{as_lists}"


def tuples_of_ids(ids: NDArray[Any], fewest_lists: int = FEWEST_LISTS_OF_BOTH) -> Tuples | None:
    """Return the same of the rows of an array as `tuples_of_rows` does, if no row is padded."""
    if ids.ndim != 2 or ids.shape[1] not in {2, 3} or ids.dtype.kind not in "iu" or not ids.size:
        return None
    is_grouped = bool((ids[1:, 0] >= ids[:-1, 0]).all() and ids.min() >= 0)
    return tuples_of_rows([*map(tuple, ids.tolist())], fewest_lists) if is_grouped else None


def tuples_of_rows(rows: list[Any], fewest_lists: int = FEWEST_LISTS_OF_BOTH) -> Tuples | None:
    """Return what rows of two or three parts are that are likely users with items; None if they are likely lists.

    Pairs of strings always are; integers if the first ones are in groups, as users are and the best items of users are
    not, and those in lists if these are many; lists of strings if, besides, no string is first in one and second in
    another.
    """
    rows = rows.copy()
    if not rows or not isinstance(rows[0], (tuple, list)) or set(map(type, rows)) != {type(rows[0])}:
        return None
    width, are_tuples = len(rows[0]), isinstance(rows[0], tuple)  # with names of fields, too
    if width not in {2, 3} or set(map(len, rows := [*map(tuple, rows)])) != {width}:
        return None
    are_strings = width == 2 and all(isinstance(part, str) for row in rows for part in row)
    strings, integers = Tuples(width, "strings"), Tuples(width, "integers")
    if are_strings and are_tuples:
        return strings
    are_integers = all(type(part) is int for row in rows for part in row)
    firsts, fewest = [row[0] for row in rows], _FEWEST_PAIRS if are_tuples or are_strings else fewest_lists
    are_few = len(rows) < fewest or 3 * len(set(firsts)) > 2 * len(rows)
    if are_few or len(set(map(tuple, rows))) < len(rows):  # lists of a constant model repeat
        return None
    if are_integers:
        return integers if all(one <= other for one, other in pairwise(firsts)) else None
    are_grouped = are_strings and sum(one != other for one, other in pairwise(firsts)) < len(set(firsts))
    return strings if are_grouped and not {row[1] for row in rows} & set(firsts) else None
