"""Lists of pairs that are likely users and items, but are read as lists of two items."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from exactk._inputs.registry import LIST
from exactk._runtime.errors import warn

if TYPE_CHECKING:
    from exactk._inputs.registry import ClassifiedValue


_FEWEST_PAIRS = 3  # fewer integers may be grouped by chance


def kind_of_pairs(classified: ClassifiedValue) -> str:
    """Return the kind of the tuples that are likely (user, item) pairs; empty if they are likely lists.

    Strings always are; integers if the first ones are in groups, as users are and the best items of users are not.
    """
    rows = classified.value
    if classified.container is not LIST or not rows or not all(type(row) is tuple and len(row) == 2 for row in rows):
        return ""
    if all(isinstance(part, str) for row in rows for part in row):
        return "strings"
    firsts = [row[0] for row in rows]
    if len(rows) < _FEWEST_PAIRS or not all(type(part) is int for row in rows for part in row):
        return ""
    are_grouped = all(one <= other for one, other in pairwise(firsts)) and 3 * len(set(firsts)) <= 2 * len(rows)
    return "integers" if are_grouped and len(set(rows)) == len(rows) else ""  # lists of a constant model repeat


def frame_of_pairs(argument: str) -> str:
    """Return how to write pairs as a data frame with a row for each."""
    return f"{argument}=pd.DataFrame({argument}, columns=['user', 'item'])"


def frame_of_lists(argument: str) -> str:
    """Return how to write pairs as a data frame with a list of items for each user."""
    return f"{frame_of_pairs(argument)}.groupby('user', as_index=False).agg(list)"


def describe_pairs(kind: str, as_frames: str) -> str:
    """Return the warning that pairs of a kind are read as lists; `as_frames` is how to write users and items."""
    return (
        f"each pair of {kind} is read as one user's list of two items; for pairs of users and items, write {as_frames}"
    )


def warn_of_pairs_in(classified: ClassifiedValue, argument: str, as_frame: str) -> None:
    """Warn if an argument is likely pairs of users and items."""
    if kind := kind_of_pairs(classified):
        warn(f"{argument}: {describe_pairs(kind, as_frame)}")
