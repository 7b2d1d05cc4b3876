"""The metrics of a collection of lists, from how many lists recommend each item.

Each value is a quotient of integers that is rounded once, or is computed in 60 digits and rounded once. It depends on the
tally alone, so that it is the same in whatever order tallies are merged.

Those of groups of items are exact until they are rounded once, too; a standard deviation is computed in 100 digits.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from exactk._plan.values import Value
    from exactk._report.tallies import GroupTally, Integers, ItemTally

_DIGITS = Context(prec=60)
_MOST_BINS = 1 << 20  # to count without sorting
_SCALE = 384  # bits of the inverse root of a length; sums of squares are below 2^124


def collection_value(
    metric: str, tally: ItemTally, column: int, catalogue_size: int, rules: Mapping[str, Any]
) -> float | None:
    """Return the value of a metric at one of the tally's cutoffs; None if it is 0 / 0.

    Over no lists at all, a value is NaN.
    """
    if not tally.lists:
        return math.nan
    return _VALUES[metric](tally, column, catalogue_size, rules)


def _quotient(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None  # Python rounds the quotient of integers once


def _distinct_counts(counts: Integers) -> list[tuple[int, int]]:
    """Return each count above 0, ascending, and how many items have it."""
    if counts.size and counts.max() <= _MOST_BINS:
        items = np.bincount(counts)
        distinct = np.flatnonzero(items[1:]) + 1
        return list(zip(distinct.tolist(), items[distinct].tolist(), strict=True))
    distinct, items = np.unique(counts[counts > 0], return_counts=True)
    return list(zip(distinct.tolist(), items.tolist(), strict=True))


def _sum_of_squares(counts: Integers) -> int:
    return sum(items * count**2 for count, items in _distinct_counts(counts))


def _num_items(tally: ItemTally, column: int) -> int:
    return int(np.count_nonzero(tally.counts[:, column]))


def _coverage(tally: ItemTally, column: int, catalogue_size: int, _rules: Mapping[str, Any]) -> float | None:
    """Return the share of the items that are recommended."""
    return _quotient(_num_items(tally, column), catalogue_size)


def _item_count(tally: ItemTally, column: int, _size: int, _rules: Mapping[str, Any]) -> float | None:
    """Return the number of items that are recommended."""
    return float(_num_items(tally, column))


def _gini(tally: ItemTally, column: int, catalogue_size: int, rules: Mapping[str, Any]) -> float | None:
    """Return the sum of (2 j - n - 1) c_j over n T, for counts that ascend with j.

    Counts of 0 add nothing. Equal counts c at j = a + 1, ..., a + m add m (2 a + m - n) c.
    """
    recommended = _num_items(tally, column)
    items = recommended if rules["gini_items"] == "recommended" else catalogue_size
    numerator, below = 0, items - recommended
    for count, equal in _distinct_counts(tally.counts[:, column]):
        numerator += count * equal * (2 * below + equal - items)
        below += equal
    divisor = items if rules["gini_over"] == "items" else items - 1
    return _quotient(numerator, divisor * tally.entries(column))


def _entropy(tally: ItemTally, column: int, catalogue_size: int, rules: Mapping[str, Any]) -> float | None:
    """Return log T - (sum of c log c) / T, over what the convention says."""
    total = tally.entries(column)
    if total == 0:
        return None
    sums = _DIGITS.multiply(Decimal(total), _ln(total))
    for count, items in _distinct_counts(tally.counts[:, column]):
        sums = _DIGITS.subtract(sums, _DIGITS.multiply(Decimal(count * items), _ln(count)))
    over, base = rules["entropy_over"], _ln(2) if rules["entropy_base"] == "2" else Decimal(1)
    divisor = {
        "one": base,
        "log_items": _ln(max(catalogue_size, 1)),  # the base cancels
        "distinct_items": _DIGITS.multiply(base, Decimal(_num_items(tally, column))),
    }[over]
    divisor = _DIGITS.multiply(divisor, Decimal(total))
    return float(_DIGITS.divide(sums, divisor)) if divisor else None


def _ln(number: int) -> Decimal:
    return Decimal(number).ln(_DIGITS)


def _personalization(tally: ItemTally, column: int, _size: int, rules: Mapping[str, Any]) -> float | None:
    """Return 1 - the mean similarity of two lists that have items."""
    lists = sum(number for length, number in tally.list_lengths[column].tolist() if length)
    if lists <= 1:
        return None
    if rules["list_similarity"] == "overlap":
        # An item of c lists is in c (c - 1) / 2 pairs of them; (n_u + n_v) / 2 sums to (lists - 1) T / 2.
        total = tally.entries(column)
        return _quotient(lists * total - _sum_of_squares(tally.counts[:, column]), (lists - 1) * total)
    return float((lists**2 - _squared_norm(tally, column)) / (lists * (lists - 1)))


def _squared_norm(tally: ItemTally, column: int) -> Fraction:
    """Return the squared length of the sum of all lists as unit vectors: the sum over items of (sum of c_l / sqrt(l))^2.

    The squares c_l^2 / l are exact, so that lists without items in common, and equal lists, have exactly their value.
    """
    assert tally.short_lists is not None  # noqa: S101 - for the type checker
    rows, full_length = tally.short_lists[column], tally.cutoffs[column]
    full = tally.counts[:, column].copy()
    np.subtract.at(full, rows[:, 0], rows[:, 2])
    squares = dict.fromkeys(set(rows[:, 1].tolist()), 0)
    squares.update({} if full_length is None else {full_length: _sum_of_squares(full)})
    products = 0  # of different lengths of an item, times 2 to the power of 2 _SCALE
    for item, of_item in groupby(rows.tolist(), key=itemgetter(0)):
        total = of_one_length = 0
        if full_length is not None:
            total = int(full[item]) * _inverse_root(full_length)
            of_one_length = total**2
        for _, length, number in of_item:
            squares[length] += number**2
            part = number * _inverse_root(length)
            total += part
            of_one_length += part**2
        products += total**2 - of_one_length
    return sum((Fraction(square, length) for length, square in squares.items()), Fraction(products, 1 << 2 * _SCALE))


@lru_cache(maxsize=1 << 12)
def _inverse_root(length: int) -> int:
    """Return 2^_SCALE / sqrt(length), rounded down."""
    return math.isqrt((1 << 2 * _SCALE) // length)


_VALUES: dict[str, Callable[[ItemTally, int, int, Mapping[str, Any]], float | None]] = {
    "coverage": _coverage,
    "num_items": _item_count,
    "gini": _gini,
    "entropy": _entropy,
    "personalization": _personalization,
}


_GROUP_DIGITS = Context(prec=100)
_DISCOUNT_DIGITS = Context(prec=32)
_DISCOUNT_SCALE = 57  # bits after the point of a discount: the lowest, of rank 2^31, is above 2^-5


def numbers_of_groups(value: Value, tally: GroupTally) -> list[Fraction | None]:
    """Return the exact number of each group; None if it is 0 / 0."""
    if tally.possible is not None:
        counts = zip(tally.counts[:, : value.cutoff].sum(axis=1).tolist(), tally.possible.tolist(), strict=True)
        return [Fraction(count, possible) if possible else None for count, possible in counts]
    exposures = _exposures(tally, value.cutoff, value.rules["discount"])
    total = sum(exposures)
    return [Fraction(one, total) if total else None for one in exposures]


def value_of_groups(value: Value, tally: GroupTally) -> float | None:
    """Return the standard deviation of the groups' numbers over their mean; None if it is 0 / 0.

    Over no lists at all, it is NaN.
    """
    if not tally.lists:
        return math.nan
    defined = [number for number in numbers_of_groups(value, tally) if number is not None]
    return None if len(defined) < 2 or not any(defined) else _relative_deviation(defined)


def _exposures(tally: GroupTally, cutoff: int | None, discount: str) -> list[int]:
    """Return each group's sum of the discounts of its ranks, times 2^57."""
    counts = tally.counts[:, :cutoff]
    weights = [_scaled_discount(discount, rank) for rank in range(1, counts.shape[1] + 1)]
    return [sum(count * weight for count, weight in zip(row, weights, strict=True) if count) for row in counts.tolist()]


@lru_cache(maxsize=1 << 16)
def _scaled_discount(kind: str, rank: int) -> int:
    """Return the discount of a rank, rounded to a double as in DCG, times 2^57."""
    number = rank + 1 if kind == "log2" else max(2, rank)
    logarithm = Decimal(number).ln(_DISCOUNT_DIGITS)
    return int(float(_DISCOUNT_DIGITS.divide(Decimal(2).ln(_DISCOUNT_DIGITS), logarithm)) * 2.0**_DISCOUNT_SCALE)


def _relative_deviation(numbers: Sequence[Fraction]) -> float:
    """Return the population standard deviation over the mean. Equal numbers have exactly 0."""
    if min(numbers) == max(numbers):
        return 0.0
    rounded = [_GROUP_DIGITS.divide(Decimal(one.numerator), Decimal(one.denominator)) for one in numbers]
    mean = _GROUP_DIGITS.divide(_sum(rounded), Decimal(len(rounded)))
    deviations = [_GROUP_DIGITS.subtract(one, mean) for one in rounded]
    squares = _sum([_GROUP_DIGITS.multiply(one, one) for one in deviations])
    variance = _GROUP_DIGITS.divide(squares, Decimal(len(rounded)))
    return float(_GROUP_DIGITS.divide(_GROUP_DIGITS.sqrt(variance), mean))


def _sum(numbers: Sequence[Decimal]) -> Decimal:
    total = Decimal(0)
    for number in numbers:
        total = _GROUP_DIGITS.add(total, number)
    return total
