"""Keys of users and items as codes, and codes in groups: what replacements that read data frames share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.columns import key_kind
from exactk._inputs.keys.vocabulary import SharedVocabulary
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.keys.columns import Column
    from exactk._inputs.keys.vocabulary import Snapshot

Frame = Any
"""A pandas data frame: pandas may not be installed."""

Integers = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


class KeyCodes:
    """The codes of keys: integers, strings or bytes, of one kind in all columns of a call."""

    def __init__(self) -> None:
        self._vocabulary = SharedVocabulary()

    def __len__(self) -> int:
        """Return the number of keys so far."""
        return 0 if self.keys is None else len(self.keys)

    @property
    def keys(self) -> Snapshot | None:
        """The keys so far; None without any."""
        return self._vocabulary.snapshot()

    def of_column(self, column: Column, argument: str) -> Integers:
        """Return the code of each row; raise TypeError for keys of another kind."""
        kind = key_kind(column, argument)
        self._vocabulary.check_kinds([kind], argument, "ids")
        codes = self._vocabulary.of_kinds([kind]).encode([column], argument, resolve_threads(None))
        return codes.astype(np.int64)


def distinct_codes(codes: Integers, count: int) -> Integers:
    """Return each code once, in order of first appearance; `count` codes are possible."""
    first = np.full(count, len(codes), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    distinct: Integers = codes[np.sort(first[first < len(codes)])]
    return distinct


class Matches(NamedTuple):
    """Rows that belong together."""

    first: Integers
    second: Integers


def ranges(begins: Integers, counts: Integers) -> Integers:
    """Return ``begin, begin + 1, ...`` for each begin, so many numbers as its count says."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins - ends + counts, counts)


def positions_within(groups: Integers) -> Integers:
    """Return how many entries before each one are of the same group."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    positions = np.empty(len(groups), np.int64)
    positions[order] = ranges(np.zeros(len(sizes), np.int64), sizes)
    return positions


def pairs_within(groups: Integers) -> Matches:
    """Return all pairs of entries of one group, each once, in their order."""
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))[groups[order]]
    begins = np.arange(1, len(order) + 1)
    return Matches(np.repeat(order, ends - begins), order[ranges(begins, ends - begins)])


def group_means(groups: Integers, values: NDArray[Any], count: int) -> Floats:
    """Return the mean of each group; NaN of an empty one."""
    sizes = np.bincount(groups, minlength=count)
    means: Floats = np.divide(np.bincount(groups, values, count), sizes, out=np.full(count, np.nan), where=sizes > 0)
    return means
