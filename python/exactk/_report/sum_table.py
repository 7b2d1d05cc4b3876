"""The exact sums of many groups as one array, so that tables are added in one step."""

from __future__ import annotations

from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from exactk._report.exact_digits import DigitColumn, DigitRange
from exactk._report.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

Scales: TypeAlias = tuple[int, int, int]
"""Of the totals, the squares and the weights of a part."""

DIGITS_TOGETHER = 4
"""The digits of sums are kept in blocks of so many, so that tables of like values have digits in the same ranges."""

_FIELDS = ("users", "undefined", "total", "squares", "weight")
_BLOCKS = (1, 1, *(DIGITS_TOGETHER,) * 3)


class PartColumns(NamedTuple):
    """The sums of one part of a value in each group, whose fields are those of `Sums`."""

    scales: Scales
    users: DigitColumn
    undefined: DigitColumn
    total: DigitColumn
    squares: DigitColumn
    weight: DigitColumn

    @classmethod
    def of_columns(cls, scales: Scales, columns: Iterable[DigitColumn]) -> PartColumns:
        """Return the sums with the digits trimmed. Equal sums have equal digits then."""
        return cls(scales, *(column.trimmed(block) for column, block in zip(columns, _BLOCKS, strict=True)))

    @classmethod
    def of_sums(cls, scales: Scales, sums: Sequence[Sums]) -> PartColumns:
        """Return the sums of each group, which have these scales."""
        return cls.of_columns(
            scales, [DigitColumn.of_integers([getattr(one, name) for one in sums]) for name in _FIELDS]
        )

    def means(self) -> NDArray[np.float64] | None:
        """Return the mean of each group's users with equal weights, rounded once; None if it takes Python's integers."""
        if self.users.lowest or self.users.digits.shape[1] > 1:  # 2^32 users
            return None
        users = self.users.digits.sum(axis=1)
        means = self.total.over(users, self.scales[0])
        if means is not None:
            means[(users == 0) | self.undefined.digits.any(axis=1)] = np.nan
        return means

    def sums(self) -> Iterator[Sums]:
        """Return the sums of each group."""
        _, users, undefined, *sums = self
        scaled = chain.from_iterable(zip([one.integers() for one in sums], map(repeat, self.scales), strict=True))
        return map(Sums, users.integers(), undefined.integers(), *scaled)


class SumTable(NamedTuple):
    """The sums of all parts, a row per group: the digits of their columns side by side."""

    scales: tuple[Scales, ...]  # of each part
    ranges: tuple[DigitRange, ...]  # of each column
    digits: NDArray[np.int64]

    @classmethod
    def of_parts(cls, parts: Sequence[PartColumns], rows: int) -> SumTable:
        """Return the table of some parts."""
        columns = [column for part in parts for column in part[1:]]
        ranges = tuple(DigitRange(one.lowest, one.digits.shape[1]) for one in columns)
        digits = np.concatenate([np.zeros((rows, 0), np.int64), *(one.digits for one in columns)], axis=1)
        return cls(tuple(part.scales for part in parts), ranges, digits)

    def parts(self) -> list[PartColumns]:
        """Return the columns of each part."""
        ends = accumulate(one.size for one in self.ranges)
        columns = (
            DigitColumn(one.lowest, self.digits[:, end - one.size : end])
            for one, end in zip(self.ranges, ends, strict=True)
        )
        return [
            PartColumns(scales, *of_part)
            for scales, *of_part in zip(self.scales, *[columns] * len(_FIELDS), strict=True)
        ]

    def sums(self) -> Iterator[tuple[Sums, ...]]:
        """Return the sums of each row."""
        parts = [part.sums() for part in self.parts()]
        return zip(*parts, strict=True) if parts else repeat((), len(self.digits))

    def of_rows(self, rows: slice | Sequence[int]) -> SumTable:
        """Return some of the rows, with digits as they are."""
        return self._replace(digits=self.digits[rows])

    def total(self) -> SumTable:
        """Return a row with the sums over all rows."""
        return self._replace(digits=self.digits.sum(axis=0, keepdims=True)).carried()

    def carried(self) -> SumTable:
        """Return the same sums with digits carried and trimmed."""
        parts = [PartColumns.of_columns(part.scales, [one.carried() for one in part[1:]]) for part in self.parts()]
        return SumTable.of_parts(parts, len(self.digits))

    def over(self, ranges: tuple[DigitRange, ...]) -> SumTable:
        """Return the table with digits in these ranges, which include its ranges."""
        if self.ranges == ranges:
            return self
        ends = accumulate(one.size for one in ranges)
        positions = [
            range(end - wider.end + one.lowest, end - wider.end + one.end) if one.size else ()
            for end, wider, one in zip(ends, ranges, self.ranges, strict=True)
        ]
        digits = np.zeros((len(self.digits), sum(one.size for one in ranges)), np.int64)
        digits[:, list(chain.from_iterable(positions))] = self.digits
        return SumTable(self.scales, ranges, digits)

    def is_equal(self, other: SumTable) -> bool:
        """Return whether two tables of trimmed digits have the same sums."""
        return self[:2] == other[:2] and np.array_equal(self.digits, other.digits)
