"""Rows of pandas frames by user and item: codes of their keys, and which rows of two frames have the same pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Frame = Any
"""A pandas data frame: pandas may not be installed."""

Integers = np.ndarray[Any, np.dtype[np.int64]]


class Matches(NamedTuple):
    """Rows of two frames that have the same pair, in the order of the first frame, then of the second."""

    first: Integers
    second: Integers


def codes_of_both(one: NDArray[Any], other: NDArray[Any], *, sort: bool = False) -> tuple[Integers, Integers, int]:
    """Return integers for the keys of two columns, equal for equal keys, and how many keys there are."""
    pandas = optional.pandas("exactk.compat")
    codes, keys = pandas.factorize(np.concatenate([one, other]), sort=sort, use_na_sentinel=False)
    codes = codes.astype(np.int64, copy=False)
    return codes[: len(one)], codes[len(one) :], len(keys)


def shared_categories(one: Any, other: Any) -> Any:  # noqa: ANN401 - pandas Series, and an Index
    """Return the categories of two columns; None unless both have the same, as pandas then groups by all of them."""
    has_same = hasattr(one.dtype, "categories") and one.dtype == other.dtype
    return one.dtype.categories if has_same else None


def sorted_codes(one: Any, other: Any) -> tuple[Integers, Integers, int]:  # noqa: ANN401 - pandas Series
    """Return codes as `codes_of_both` does, in the order of keys: that of categories, if both columns have the same."""
    categories = shared_categories(one, other)
    if categories is None:
        return codes_of_both(one.to_numpy(), other.to_numpy(), sort=True)
    codes = (column.cat.set_categories(categories).cat.codes.to_numpy(np.int64) for column in (one, other))
    first, second = (np.where(code < 0, len(categories), code) for code in codes)  # missing keys are last
    return first, second, len(categories) + 1


def pairs_of_both(one: Frame, other: Frame, columns: Sequence[str]) -> tuple[Integers, Integers]:
    """Return an integer for each row's pair of keys in two columns of both frames."""
    user, item = columns
    one_users, other_users, _ = codes_of_both(one[user].to_numpy(), other[user].to_numpy())
    one_items, other_items, count = codes_of_both(one[item].to_numpy(), other[item].to_numpy())
    return one_users * count + one_items, other_users * count + other_items


def match_pairs(one: Integers, other: Integers) -> Matches:
    """Return which entries are equal, as an inner join does."""
    order = np.argsort(other, kind="stable")
    ascending = other[order]
    begins = np.searchsorted(ascending, one, side="left")
    counts = np.searchsorted(ascending, one, side="right") - begins
    return Matches(np.repeat(np.arange(len(one)), counts), order[ranges(begins, counts)])


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


def head_of_groups(positions: Integers, sizes: Integers, count: float | None) -> NDArray[np.bool_]:
    """Return which entries are among the first so many of their group; below 0, all but the last so many; None: all."""
    if count is None:
        return np.ones(len(positions), np.bool_)
    kept: NDArray[np.bool_] = positions < count if count >= 0 else sizes - positions > -count
    return kept
