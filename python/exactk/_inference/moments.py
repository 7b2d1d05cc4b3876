"""Exact sums over the users of a pair of systems: of their columns, and of products of two columns."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Moments(NamedTuple):
    """The sums of some columns, and of their products, over units: users, or clusters of users.

    They are integers, each to be multiplied by 2 to the power of minus its scale, so that addition is exact and the
    sums of disjoint sets of units are those of their union.
    """

    units: int
    sums: tuple[int, ...]  # by column
    sums_scale: int
    products: tuple[int, ...]  # by pair of columns, as combinations_with_replacement orders them
    products_scale: int

    def plus(self, other: Moments) -> Moments:
        """Return the moments over both sets of units."""
        return Moments(
            self.units + other.units,
            *_add(self.sums, self.sums_scale, other.sums, other.sums_scale),
            *_add(self.products, self.products_scale, other.products, other.products_scale),
        )

    def sum(self, column: int) -> Fraction:
        """Return the sum of a column."""
        return Fraction(self.sums[column], 1 << self.sums_scale)

    def product_of_contrasts(self, one: Sequence[int], other: Sequence[int]) -> int:
        """Return the sum over units of the product of two linear combinations of the columns, scaled as products."""
        return sum(
            product * (one[i] * other[j] + (one[j] * other[i] if i != j else 0))
            for (i, j), product in zip(pairs_of_columns(len(self.sums)), self.products, strict=True)
        )

    def are_possible(self) -> bool:
        """Return whether some numbers have these moments: the matrix of products, with a column of ones, is semidefinite."""
        size = len(self.sums) + 1
        matrix = [[Fraction(0)] * size for _ in range(size)]
        matrix[0][0] = Fraction(self.units)
        for i in range(1, size):
            matrix[0][i] = matrix[i][0] = self.sum(i - 1)
        pairs = combinations_with_replacement(range(1, size), 2)
        for (i, j), product in zip(pairs, self.products, strict=True):
            matrix[i][j] = matrix[j][i] = Fraction(product, 1 << self.products_scale)
        return _is_semidefinite(matrix)


@cache
def pairs_of_columns(columns: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of columns in the order of the products."""
    return tuple(combinations_with_replacement(range(columns), 2))


def _is_semidefinite(matrix: list[list[Fraction]]) -> bool:
    """Return whether a symmetric matrix has no negative pivot, by exact elimination."""
    for k, pivot_row in enumerate(matrix):
        pivot = pivot_row[k]
        rest = range(k + 1, len(matrix))
        if pivot < 0 or (pivot == 0 and any(pivot_row[j] for j in rest)):
            return False
        if pivot == 0:
            continue
        for i in rest:
            factor = pivot_row[i] / pivot
            for j in rest:
                matrix[i][j] -= factor * pivot_row[j]
    return True


def _add(
    integers: tuple[int, ...], scale: int, others: tuple[int, ...], other_scale: int
) -> tuple[tuple[int, ...], int]:
    """Return the sums of scaled integers, and their scale."""
    finest = max(scale, other_scale)
    return tuple(
        (one << (finest - scale)) + (other << (finest - other_scale))
        for one, other in zip(integers, others, strict=True)
    ), finest
