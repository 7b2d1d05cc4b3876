"""The exact sums of one value and of its groups, as integers and as arrays of their digits.

NumPy adds columns of digits without making Python's integers. A digit counts a power of 2^32, and has room for what it
exceeds its base by: it is carried when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, reduce
from itertools import accumulate, chain, repeat
from operator import or_
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

_BITS = 32
_MASK = (1 << _BITS) - 1

MOST_ADDITIONS = 2**29
"""Of trimmed digits, which are below 2^33 in magnitude, that int64 has room for, with a bit to spare."""


_MOST_DIVISOR = 2**31 - 1  # of which a remainder, with one more digit, fits 63 bits
_MOST_SCALE = 900  # with which no quotient is below the normal doubles


class DigitRange(NamedTuple):
    """Which digits a column has."""

    lowest: int  # the exponent of the first one's power
    size: int

    @property
    def end(self) -> int:
        """The exponent after the last one's."""
        return self.lowest + self.size

    def union(self, other: DigitRange) -> DigitRange:
        """Return a range of the digits of both."""
        if not (self.size and other.size):
            return self if self.size else other
        lowest = min(self.lowest, other.lowest)
        return DigitRange(lowest, max(self.end, other.end) - lowest)


class DigitColumn(NamedTuple):
    """One integer per row."""

    lowest: int  # the exponent of the first digit's power
    digits: NDArray[np.int64]  # rows x digits, least significant first

    @classmethod
    def of_integers(cls, integers: Sequence[int]) -> DigitColumn:
        """Return the column of some integers."""
        bits = reduce(or_, integers, 0)
        lowest = max(0, (bits & -bits).bit_length() - 1) // _BITS
        size = max(map(int.bit_length, integers), default=0) // _BITS + 1 - lowest
        data = b"".join([(one >> _BITS * lowest).to_bytes(4 * size, "little", signed=True) for one in integers])
        digits = np.frombuffer(data, np.dtype("<u4")).reshape(-1, size).astype(np.int64)
        digits[:, -1] = digits[:, -1].astype(np.uint32).view(np.int32)
        return cls(lowest, digits)

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> DigitColumn:
        """Return the column of some counts below 2^63."""
        return cls(0, np.stack([counts & _MASK, counts >> _BITS], axis=1))

    def trimmed(self, block: int) -> DigitColumn:
        """Return the column without zeros and signs at both ends, in blocks of so many digits, of any carried digits.

        Equal integers have equal digits then: below 2^32, except for the last digit, which also has the sign.
        """
        rows, width = self.digits.shape
        bits = _bits_by_column(self.digits)
        if not bits.any():
            return DigitColumn(0, np.zeros((rows, 0), np.int64))
        signs = self.digits[:, -1:] >> 63 if bits[-1] < 0 else np.zeros((1, 1), np.int64)
        differences = _bits_by_column(self.digits ^ (signs & _MASK)) if signs.any() else bits.copy()
        differences[-1] = np.any(self.digits[:, -1:] != signs)
        used, significant = np.flatnonzero(bits), np.flatnonzero(differences)
        begin = (self.lowest + int(used[0])) // block * block - self.lowest
        end = self.lowest + (int(significant[-1]) + 1 if len(significant) else 1)
        end = max(-(-end // block) * block - self.lowest, begin + 1)
        digits = np.empty((rows, end - begin), np.int64)
        digits[:] = signs & _MASK
        digits[:, : max(0, -begin)] = 0
        copied = slice(max(0, begin), min(end, width))
        digits[:, copied.start - begin : copied.stop - begin] = self.digits[:, copied] & _MASK
        digits[:, -1:] += signs << _BITS
        return DigitColumn(self.lowest + begin, digits)

    def carried(self) -> DigitColumn:
        """Return the same integers with digits below 2^32, and the sign as the last digit."""
        rows, width = self.digits.shape
        digits = np.zeros((rows, width + 2), np.int64)
        digits[:, :width] = self.digits
        for column in range(width + 1):
            digits[:, column + 1] += digits[:, column] >> _BITS
            digits[:, column] &= _MASK
        return DigitColumn(self.lowest, digits)

    def over(self, divisors: NDArray[np.int64], scale: int) -> NDArray[np.float64] | None:
        """Return each integer over its divisor and over 2^scale, rounded once; a divisor of 0 counts as 1.

        Digits are trimmed. None if an integer is negative, or a number could be too small for that way to round it.
        """
        rows, width = self.digits.shape
        if not rows or not width:
            return np.zeros(rows)
        if self.digits.min() < 0 or divisors.max() > _MOST_DIVISOR or scale - _BITS * self.lowest > _MOST_SCALE:
            return None
        # Long division. Three digits more, as the first digit of a quotient may be the first after the point.
        quotients, remainders = np.zeros((rows, width + 4), np.uint64), np.zeros(rows, np.uint64)
        divisors = np.where(divisors > 0, divisors, 1).astype(np.uint64)
        for position in range(width + 3):
            remainders <<= np.uint64(_BITS)
            if position < width:
                remainders |= self.digits[:, width - 1 - position].astype(np.uint64)
            quotients[:, position] = remainders // divisors
            remainders -= quotients[:, position] * divisors
        quotients[:, -1] = remainders > 0
        is_positive = quotients.any(axis=1)
        first = np.argmax(quotients > 0, axis=1)
        high, middle, low = (quotients[np.arange(rows), np.minimum(first + i, width + 3)] for i in range(3))
        bits = np.frexp(high.astype(np.float64))[1]
        has_rest = (np.arange(width + 4) > first[:, None] + 2) & (quotients > 0)
        numbers = _rounded((high, middle, low), bits, has_rest.any(axis=1))
        exponents = bits - 63 + _BITS * (width - 1 - first + self.lowest) - scale
        return np.where(is_positive, np.ldexp(numbers, exponents), 0.0)

    def integers(self) -> list[int]:
        """Return the integers, of trimmed digits."""
        rows, width = self.digits.shape
        if width <= 1 and not self.lowest:
            return self.digits[:, 0].tolist() if width else [0] * rows
        words = np.empty((rows, width + 1), np.dtype("<u4"))
        words[:, :width] = self.digits & _MASK
        words[:, width] = (self.digits[:, -1] >> _BITS) & _MASK
        data, size, shift = words.tobytes(), 4 * (width + 1), _BITS * self.lowest
        read = int.from_bytes
        integers = [read(data[begin : begin + size], "little", signed=True) for begin in range(0, len(data), size)]
        return [one << shift for one in integers] if shift else integers


def _bits_by_column(digits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bits that are set in any row, for each column of digits."""
    combined: NDArray[np.int64]
    if len(digits) < _MANY_ROWS:
        combined = np.bitwise_or.reduce(digits, axis=0)
    else:  # NumPy is slow with many short rows
        combined = np.array([np.bitwise_or.reduce(column) for column in digits.T], np.int64)
    return combined


_MANY_ROWS = 1000


def _rounded(
    digits: Sequence[NDArray[np.uint64]], bits: NDArray[np.int32], has_rest: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the 63 bits from the first one of three digits on, as doubles that are rounded once.

    `bits` is how many the first digit has, `has_rest` whether anything but zeros follows the last one. The lowest of the
    63 bits, which a double has no room for, stands for all bits that are left out.
    """
    high, middle, low = digits
    shift = (_BITS - bits).astype(np.uint64)
    words = ((high << np.uint64(_BITS) | middle) << shift) | (low >> (np.uint64(_BITS) - shift))
    left_out = (words & np.uint64(1)) | (((low << shift) & np.uint64(_MASK)) > 0) | has_rest
    return ((words >> np.uint64(1)) | left_out.astype(np.uint64)).astype(np.int64).astype(np.float64)


Label = str | int


class Sums(NamedTuple):
    """The sums behind one value over some users: integers, so that addition is exact.

    Each of the last three is to be multiplied by 2 to the power of minus its scale.
    """

    users: int  # users with a value
    undefined: int  # of these, how many are NaN
    total: int  # of weight x value (macro), weight x numerator (micro) or weight x logarithm (geometric)
    total_scale: int
    squares: int  # of weight x value^2, or its logarithm (not for micro)
    squares_scale: int
    weight: int  # of the weights, if there are any, or of weight x denominator (micro); 0 otherwise
    weight_scale: int

    @property
    def scales(self) -> tuple[int, int, int]:
        """The resolution of the sums."""
        return self.total_scale, self.squares_scale, self.weight_scale

    @classmethod
    def over_nobody(cls, scales: tuple[int, int, int]) -> Sums:
        """Return the sums over no users."""
        total_scale, squares_scale, weight_scale = scales
        return cls(0, 0, 0, total_scale, 0, squares_scale, 0, weight_scale)

    @classmethod
    def over_groups(cls, groups: Iterable[Sums]) -> Sums:
        """Return the sums over the users of all groups; there must be at least one."""
        users, undefined, totals, total_scales, squares, squares_scales, weights, weight_scales = zip(
            *groups, strict=True
        )
        return cls(
            sum(users),
            sum(undefined),
            sum(totals),
            total_scales[0],
            sum(squares),
            squares_scales[0],
            sum(weights),
            weight_scales[0],
        )

    def plus(self, other: Sums) -> Sums:
        """Return the sums over both sets of users."""
        return Sums(
            self.users + other.users,
            self.undefined + other.undefined,
            self.total + other.total,
            self.total_scale,
            self.squares + other.squares,
            self.squares_scale,
            self.weight + other.weight,
            self.weight_scale,
        )


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


class GroupSums(Mapping["Label", "tuple[Sums, ...]"]):
    """An immutable mapping from group to the sums of each part, which are kept in one table and made when they are read."""

    def __init__(self, labels: Iterable[Label], table: SumTable) -> None:
        """Create the mapping of a table of trimmed digits, whose rows are the groups."""
        self.labels = tuple(labels)
        self.table = table
        table.digits.flags.writeable = False

    @cached_property
    def parts(self) -> list[PartColumns]:
        """The columns of each part."""
        return self.table.parts()

    @cached_property
    def _rows(self) -> dict[Label, int]:
        return {label: row for row, label in enumerate(self.labels)}

    @cached_property
    def _sums(self) -> dict[Label, tuple[Sums, ...]]:
        return dict(zip(self.labels, self.table.sums(), strict=True))

    def __getitem__(self, label: Label) -> tuple[Sums, ...]:
        return self._sums[label]

    def __contains__(self, label: object) -> bool:
        return label in self._rows

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, GroupSums) and self.labels == other.labels:
            return self.table.is_equal(other.table)
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment] # as mappings have none

    def __repr__(self) -> str:
        return repr(self._sums)

    def totals(self) -> tuple[Sums, ...]:
        """Return the sums of each part over all groups."""
        (sums,) = self.table.total().sums()
        return sums

    def in_order(self, labels: Sequence[Label]) -> GroupSums:
        """Return the groups with these labels, in this order."""
        if self.labels == tuple(labels):
            return self
        return GroupSums(labels, self.table.of_rows([self._rows[label] for label in labels]))

    def with_parts(self, parts: Sequence[int]) -> GroupSums:
        """Return the sums of some parts, in this order."""
        return GroupSums(self.labels, SumTable.of_parts([self.parts[part] for part in parts], len(self)))


def group_sums_of(groups: Mapping[Label, Sequence[Sums]], totals: Sequence[Sums]) -> GroupSums:
    """Return the sums of some groups, whose scales are those of the totals."""
    rows = [*groups.values()]
    parts = [PartColumns.of_sums(total.scales, [row[part] for row in rows]) for part, total in enumerate(totals)]
    return GroupSums(groups, SumTable.of_parts(parts, len(rows)))


class RunningGroupSums:
    """Sums by group that others are added to in place, whether they have the same groups or more."""

    def __init__(self, first: GroupSums) -> None:
        """Begin with the sums of some groups."""
        self._rows = {label: row for row, label in enumerate(first.labels)}
        self._last: tuple[tuple[Label, ...], slice | list[int]] = first.labels, slice(len(first))  # and their rows
        self._table = first.table._replace(digits=first.table.digits.copy())  # whose last rows may be unused
        self._additions = 1

    @property
    def labels(self) -> Collection[Label]:
        """The groups so far."""
        return self._rows.keys()

    def add(self, other: GroupSums) -> None:
        """Add the sums of each group."""
        if self._additions == MOST_ADDITIONS:
            self._table, self._additions = self._table.carried(), 1
        self._additions += 1
        if other.table.ranges != self._table.ranges:
            pairs = zip(self._table.ranges, other.table.ranges, strict=True)
            self._table = self._table.over(tuple(one.union(another) for one, another in pairs))
        if other.labels != self._last[0]:
            rows = [self._rows.setdefault(label, len(self._rows)) for label in other.labels]
            self._last = other.labels, slice(len(rows)) if rows == list(range(len(rows))) else rows
            self._make_room()
        self._table.digits[self._last[1]] += other.table.over(self._table.ranges).digits

    def _make_room(self) -> None:
        """Have at least a row per group; twice as many as before, so that groups are copied a few times at most."""
        digits = self._table.digits
        if len(digits) < len(self._rows):
            larger = np.zeros((max(len(self._rows), 2 * len(digits)), digits.shape[1]), np.int64)
            larger[: len(digits)] = digits
            self._table = self._table._replace(digits=larger)

    def sums(self) -> GroupSums:
        """Return the sums so far."""
        return GroupSums(self._rows, self._table.of_rows(slice(len(self._rows))).carried())
