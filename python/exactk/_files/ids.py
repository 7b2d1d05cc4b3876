"""Ids in untyped files: strings, or integers if all are written as Python writes integers.

So 7 and 07 stay distinct, and a CSV file agrees with a Parquet file of the same integers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.containers.tables import ColumnTable
from exactk._inputs.keys.columns import MISSING_TEXTS, NumberColumn, PackedColumn, packed_column
from exactk._runtime import optional
from exactk._runtime.texts import parse_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.keys.columns import Column


def convert_integers(table: ColumnTable, names: Sequence[str]) -> ColumnTable:
    """Return the table with the string id columns that hold only integers converted to integers."""
    integers = {name: _as_integers(table.columns[name]) for name in names}
    return table.with_columns({name: NumberColumn(array) for name, array in integers.items() if array is not None})


def integer_columns(parts: Iterable[ColumnTable], names: Sequence[str]) -> list[str]:
    """Return the columns that hold only integers."""
    remaining = list(names)
    for part in parts:
        remaining = [name for name in remaining if _holds_integers(part.columns[name])]
        if not remaining:
            break
    return remaining


def are_floats(column: Column) -> bool:
    """Return whether strings are integers of which some are written as floats, such as 10.0."""
    if not isinstance(column, PackedColumn) or (column.data[:1] > _NINE).any():
        return False
    text = column.data.tobytes()
    if not any(mark in text for mark in (b".", b"e", b"E")):
        return False
    numbers = parse_numbers(column.offsets, column.data)
    return numbers is not None and bool((numbers % 1 == 0).all())


def count_text(column: PackedColumn, text: str) -> int:
    """Return how many rows of the column are the text."""
    expected = np.frombuffer(text.encode(), np.uint8)
    begins = column.offsets[:-1][np.diff(column.offsets) == len(expected)]
    for offset, byte in enumerate(expected):
        begins = begins[column.data[begins + offset] == byte]
    return len(begins)


_MISSING = tuple(filter(None, MISSING_TEXTS))  # empty ones are refused
QUOTED, BLANK, MISSING = range(3)
ODD = tuple(map(re.compile, ('"[^\t]+"', " .*|.* ", "|".join(map(re.escape, _MISSING)))))
"""Ids that may mean something else: in quotes, where a format has none; with blanks around; and that there is no id."""
FLOAT = re.compile(r".*[.eE].*")


def count_odd(column: Column, has_quoting: bool) -> NDArray[np.int64]:  # noqa: FBT001 - of the format
    """Return how many ids are odd, by kind; integers are not."""
    counts = np.zeros(len(ODD), np.int64)
    if not isinstance(column, PackedColumn) or not len(column):
        return counts
    text, begins, ends = column.data, column.offsets[:-1], column.offsets[1:]
    if text.min() <= _QUOTE:
        first, last = text[begins], text[ends - 1]
        counts[BLANK] = np.count_nonzero((first == _BLANK) | (last == _BLANK))
        counts[QUOTED] = 0 if has_quoting else np.count_nonzero((first == _QUOTE) & (last == _QUOTE))
    short = np.flatnonzero(ends - begins <= max(map(len, _MISSING)))
    short = short[text[ends[short] - 1] > _NINE]  # none of these texts ends with a digit
    if len(short):
        counts[MISSING] = sum(count_text(column.take(short), missing) for missing in _MISSING)
    return counts


_MAX_DIGITS = 19  # of an int64
_EXACT_DIGITS = 15  # of integers that float64 holds
_MINUS, _ZERO, _NINE, _BLANK, _QUOTE = b'-09 "'


class _Digits(NamedTuple):
    """Integers as Python writes them, with 1 to 19 digits."""

    ends: NDArray[np.int64]
    sizes: NDArray[np.int64]  # numbers of digits
    has_sign: NDArray[np.bool_]


def _as_integers(column: Column) -> NDArray[np.int64] | None:
    """Return the column as int64, or None if any value is written differently."""
    if isinstance(column, NumberColumn):
        return column.array
    assert isinstance(column, PackedColumn)  # noqa: S101 - of a text file
    if not len(column):
        return np.zeros(0, np.int64)
    digits = _digits_of(column)
    if digits is None:
        return None
    if digits.sizes.max() <= _EXACT_DIGITS and (numbers := parse_numbers(column.offsets, column.data)) is not None:
        return numbers.astype(np.int64)
    return _parse_integers(column.data, digits)


def _holds_integers(column: Column) -> bool:
    """Return whether `_as_integers` returns integers, without parsing them if they surely fit int64."""
    if isinstance(column, PackedColumn) and len(column):
        digits = _digits_of(column)
        return digits is not None and (digits.sizes.max() < _MAX_DIGITS or _as_integers(column) is not None)
    return _as_integers(column) is not None


def _digits_of(column: PackedColumn) -> _Digits | None:
    """Return the digits of a column that is not empty, or None if any value is written differently."""
    text, begins, ends = column.data, column.offsets[:-1], column.offsets[1:]
    has_sign = text[begins] == _MINUS  # no id is empty
    first = begins + has_sign
    sizes = ends - first
    is_digit = (text >= _ZERO) & (text < _ZERO + 10)
    if not 0 < sizes.min() <= sizes.max() <= _MAX_DIGITS or np.count_nonzero(is_digit) < sizes.sum():
        return None
    is_padded = (text[first] == _ZERO) & ((sizes > 1) | has_sign)
    return None if is_padded.any() else _Digits(ends, sizes, has_sign)


def _parse_integers(text: NDArray[np.uint8], digits: _Digits) -> NDArray[np.int64] | None:
    """Return the integers, or None if any is no int64."""
    ends, sizes, has_sign = digits
    values = np.zeros(len(ends), np.uint64)
    for power in range(int(sizes.max())):
        has_digit = sizes > power
        values[has_digit] += (text[ends[has_digit] - 1 - power] - _ZERO).astype(np.uint64) * np.uint64(10**power)
    if (values > np.uint64(2**63 - 1) + has_sign).any():
        return None
    integers = values.astype(np.int64)
    return np.where(has_sign, -integers, integers)


def cast_to_text(part: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the rows with integers in these columns, or in their lists, as strings."""
    if isinstance(part, ColumnTable):
        integers = {name: column for name in names if isinstance(column := part.columns[name], NumberColumn)}
        return part.with_columns(
            {name: packed_column(list(map(str, column.array.tolist()))) for name, column in integers.items()}
        )
    for name in names:
        if (text := _text_type(part.schema.field(name).type)) is not None:
            part = part.set_column(part.schema.get_field_index(name), name, part[name].cast(text))
    return part


def _text_type(kind: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the string type for integers, or lists of them; None for other types."""
    arrow = optional.arrow("ids as text")
    types = arrow.types
    if types.is_integer(kind) or (types.is_dictionary(kind) and types.is_integer(kind.value_type)):
        return arrow.large_string()  # allows more than 2^31 bytes
    if not types.is_nested(kind) or (text := _text_type(getattr(kind, "value_type", None))) is None:
        return None
    if types.is_fixed_size_list(kind):
        return arrow.list_(text, kind.list_size)
    return arrow.large_list(text) if types.is_large_list(kind) else arrow.list_(text)
