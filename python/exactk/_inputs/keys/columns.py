"""Columns of keys and numbers in any storage: NumPy, Arrow, lists of objects, or category codes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import chain
from numbers import Integral, Number
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk import _core
from exactk._inputs.checks import arrow_table, exact_float, flat_positions, id_array, offsets_of
from exactk._runtime import optional
from exactk._runtime.errors import InputError, input_error, type_error
from exactk._runtime.records import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes, Offsets

_NUMBER_KINDS = {"i": "int", "u": "int", "f": "float"}
KEY_KINDS = ("int", "str", "bytes")  # kinds that can be keys


Column: TypeAlias = "NumberColumn | TextColumn | PackedColumn | CodedColumn | ChunkedColumn"
"""A column with one entry per row: `kind` says what its values are, `values` returns numbers, and `encode` codes of keys.

The kinds int, str and bytes can be keys; others are float, or names for messages.
"""


class NumberColumn(Record):
    """Numbers in a NumPy array."""

    array: NDArray[Any]

    @property
    def kind(self) -> str:
        """Int or float; the dtype if it is neither."""
        dtype = self.array.dtype
        return _NUMBER_KINDS.get(dtype.kind) or str(dtype)

    def __len__(self) -> int:
        return len(self.array)

    def values(self, _argument: str) -> NDArray[Any]:
        """Return the array."""
        return self.array

    def encode(self, vocabulary: _core.Vocabulary, argument: str, threads: int) -> Codes:
        """Return the code of each integer."""
        return vocabulary.encode_integers(id_array(self.array, argument), threads, argument)


class _Texts:
    """Text in any storage, or objects of another type, which are neither keys nor numbers."""

    kind: str

    def values(self, argument: str) -> NDArray[Any]:
        """Raise: text, and objects such as decimals, are no numbers."""
        found = "strings" if self.kind == "str" else self.kind
        what = "numbers that are text" if self.kind in KEY_KINDS else "them"
        raise type_error(argument, "numbers", found, hint=f".astype(float) converts {what}")


class TextColumn(_Texts, Record):
    """Strings or bytes in an Arrow array or a list; a list may also hold objects of another type."""

    texts: list[Any] | _core.ArrowColumn
    kind: str

    def __len__(self) -> int:
        return len(self.texts)

    def encode(self, vocabulary: _core.Vocabulary, argument: str, threads: int) -> Codes:
        """Return the code of each string; those of a list in one thread, as they are Python objects."""
        if isinstance(self.texts, list):
            return _core.encode_texts(vocabulary, self.texts, as_bytes=self.kind == "bytes", argument=argument)
        return self.texts.encode(vocabulary, threads, argument)


class PackedColumn(_Texts, Record):
    """Concatenated UTF-8 strings; the i-th is ``data[offsets[i]:offsets[i + 1]]``."""

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    kind: str = "str"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def encode(self, vocabulary: _core.Vocabulary, argument: str, threads: int) -> Codes:
        """Return the code of each string."""
        return vocabulary.encode_packed(self.offsets, self.data, threads, argument)

    def take(self, positions: NDArray[Any]) -> PackedColumn:
        """Return the strings at these positions."""
        offsets, sources = flat_positions(self.offsets[:-1][positions], np.diff(self.offsets)[positions])
        return PackedColumn(offsets, self.data[sources], self.kind)


def packed_column(texts: Sequence[str]) -> PackedColumn:
    """Return the column of these strings."""
    encoded = [text.encode() for text in texts]
    return PackedColumn(offsets_of([*map(len, encoded)]), np.frombuffer(b"".join(encoded), np.uint8))


class CodedColumn(Record):
    """Dictionary codes of a few categories. Each category is encoded once."""

    codes: NDArray[Any]
    categories: Column

    @property
    def kind(self) -> str:
        """The kind of the categories."""
        return self.categories.kind

    def __len__(self) -> int:
        return len(self.codes)

    def values(self, argument: str) -> NDArray[Any]:
        """Return the category of each row."""
        values: NDArray[Any] = self.categories.values(argument)[self._checked_codes(argument)]
        return values

    def encode(self, vocabulary: _core.Vocabulary, argument: str, threads: int) -> Codes:
        """Return the code of each row's category. Unused categories, as filters leave them, get no code."""
        used = _core.Vocabulary(True)  # noqa: FBT003 - of integers
        used_codes = used.encode_integers(id_array(self._checked_codes(argument), argument), threads, argument)
        return self._take_categories(used.as_integers(len(used)), argument).encode(vocabulary, argument, threads)[
            used_codes
        ]

    def _take_categories(self, positions: NDArray[Any], argument: str) -> Column:
        """Return the categories at these positions."""
        if self.kind == "int":
            return NumberColumn(self.categories.values(argument)[positions])
        distinct = _core.Vocabulary(False)  # noqa: FBT003 - of strings
        try:
            codes = self.categories.encode(distinct, argument, 1)[positions]
        except InputError as error:  # about a category
            rows = np.flatnonzero(self.codes == error.position)
            raise error.amended(position=int(rows[0]) if len(rows) else None) from None
        return PackedColumn(*distinct.as_packed(len(distinct)), self.kind).take(codes)

    def _checked_codes(self, argument: str) -> NDArray[Any]:
        codes, count = self.codes, len(self.categories)
        if len(codes) and not 0 <= codes.min() <= codes.max() < count:
            outside = (codes < 0) | (codes >= count)
            found, position = str(codes[np.argmax(outside)]), int(np.argmax(outside))
            raise input_error(
                argument, f"codes of {count} categories", found, position=position, count=int(outside.sum())
            )
        return codes


class ChunkedColumn(Record):
    """Concatenated columns of one kind, such as the chunks of an Arrow column."""

    chunks: Sequence[Column]

    @property
    def kind(self) -> str:
        """The kind of the first chunk."""
        return self.chunks[0].kind

    def __len__(self) -> int:
        return sum(map(len, self.chunks))

    def values(self, argument: str) -> NDArray[Any]:
        """Return the numbers of all chunks."""
        return np.concatenate([chunk.values(argument) for chunk in self.chunks])

    def encode(self, vocabulary: _core.Vocabulary, argument: str, threads: int) -> Codes:
        """Return the code of each row's key, chunk by chunk."""
        return np.concatenate([chunk.encode(vocabulary, argument, threads) for chunk in self.chunks])


def column_of_arrow(column: _core.ArrowColumn, argument: str) -> Column:
    """Return an Arrow column; raise if any row is null."""
    nulls, first = column.nulls()
    if nulls:
        raise type_error(argument, "a value in every row", f"{column.type} with {nulls} null", position=first)
    if column.is_dictionary:
        codes, dictionaries = column.values(argument), column.dictionaries()
        return _concatenate_chunks(
            [
                CodedColumn(chunk_codes, column_of_arrow(categories, argument))
                for chunk_codes, categories in zip(codes, dictionaries, strict=True)
            ],
            column,
        )
    if column.type == "null":  # no rows: of any type
        return NumberColumn(np.empty(0))
    if (kind := {"string": "str", "bytes": "bytes"}.get(column.type)) is not None:
        return TextColumn(column, kind)
    if column.type.rstrip("0123456789") in {"int", "uint", "float"}:
        return _concatenate_chunks([NumberColumn(chunk) for chunk in column.values(argument)], column)
    hint = {
        "bool": "cast flags to integers",
        "decimal": "cast decimals to floats",
        "struct": ".list.eval(pl.element().struct.field(name)) makes lists of ids",
    }.get(column.type, "")
    raise type_error(argument, "integers, floats, strings or bytes", column.type, hint=hint)


def _concatenate_chunks(chunks: Sequence[Column], column: _core.ArrowColumn) -> Column:
    filled = [chunk for chunk in chunks if len(chunk)]
    if len(filled) == 1:
        return filled[0]
    if chunks and not filled:
        return chunks[0]
    if not filled:
        return NumberColumn(np.empty(0, np.int64)) if column.type != "string" else TextColumn([], "str")
    return ChunkedColumn(filled)


def column_of_array(array: NDArray[Any], argument: str) -> Column:
    """Return the column for an array of numbers, strings or objects."""
    if array.dtype.kind in "iuf":
        return NumberColumn(array)
    if array.dtype.kind in "USTO":
        return column_of_objects(array.tolist(), argument)
    return NumberColumn(array)  # invalid keys or numbers raise when they are read


def index_columns(index: Any, argument: str) -> tuple[list[Column], list[str]]:  # noqa: ANN401 - an Index of pandas
    """Return the columns of an index and their names."""
    labels = [
        "user" if index.nlevels == 1 else f"user_{level}" if name is None else str(name)
        for level, name in enumerate(index.names)
    ]
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    return [column_of_series(level, f"{argument}.{name}") for level, name in zip(levels, labels, strict=True)], labels


def column_of_series(series: Any, argument: str) -> Column:  # noqa: ANN401 - a Series or an Index
    """Return the values of a Series or Index, which must not have missing values."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return column_of_array(series.to_numpy(), argument)
    if (holes := series.isna()).any():
        found, first = f"{dtype} with {int(holes.sum())} missing", int(np.argmax(holes))
        raise type_error(argument, "a value in every row", found, position=first)
    if hasattr(series, "cat") or hasattr(series, "codes"):
        return _column_of_categorical(series, argument)
    if (stored := arrow_or_series(series, argument)) is not series:
        return column_of_arrow(stored, argument)
    if dtype.kind in "iuf" and hasattr(dtype, "numpy_dtype"):  # masked dtypes without missing values
        return NumberColumn(series.to_numpy(dtype=dtype.numpy_dtype, copy=False))
    return column_of_objects(series.tolist(), argument)


def arrow_or_series(series: Any, argument: str) -> Any:  # noqa: ANN401 - as above
    """Return the underlying Arrow array; a Series or Index without one as it is."""
    if not optional.holds_arrow(series.dtype):
        return series
    return arrow_table(series.array.__arrow_array__(), argument).columns[0][1]


def _column_of_categorical(series: Any, argument: str) -> Column:  # noqa: ANN401 - as above
    categorical = series.cat if hasattr(series, "cat") else series
    codes = np.asarray(categorical.codes)
    return CodedColumn(codes, column_of_series(categorical.categories, argument))


def holds_lists(series: Any) -> bool:  # noqa: ANN401 - as above
    """Return whether the first object is a list; tuples can be keys."""
    return len(series) > 0 and _is_list(series.array[0])


def _is_list(value: object) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes, tuple))


def flatten_lists(lists: list[Any], argument: str) -> tuple[Offsets, list[Any]]:
    """Return the offsets and the elements of all lists."""
    for row, items in enumerate(lists):
        if not _is_list(items):
            raise type_error(argument, "a list in every row", type(items).__name__, position=row)
    return offsets_of([*map(len, lists)]), list(chain.from_iterable(lists))


def column_of_objects(values: list[Any], argument: str) -> Column:
    """Return the column for objects of one kind: integers, strings, bytes, floats (never keys), or others by ``str``."""
    types = set(map(type, values))
    for kind, base in (("str", str), ("bytes", bytes)):
        if all(issubclass(type_, base) for type_ in types):
            return TextColumn(values, kind)
    if all(issubclass(type_, Integral) and not issubclass(type_, bool) for type_ in types):
        return NumberColumn(_integer_array(values, argument))
    if all(map(_is_real_type, types)) and (floats := _floats_of_objects(values, types)) is not None:
        return NumberColumn(floats)
    if len(types) == 1 and issubclass(next(iter(types)), Number) and bool not in types:  # Decimal or Fraction
        return TextColumn(values, next(iter(types)).__name__)
    from exactk._inputs.ways_on import is_foreign

    plain = [value for value in values if _is_number(value) or is_missing(value) or isinstance(value, (str, bytes))]
    containers = [value for value in values if isinstance(value, (list, dict, set, frozenset, np.ndarray))]
    if plain or containers or (values and is_foreign(values[0])):
        raise _mixed_kinds_error(values, types, argument)
    return TextColumn([str(value) for value in values], "str")


def _floats_of_objects(values: list[Any], types: set[type]) -> NDArray[np.float64] | None:
    """Return real numbers as floats; None if that rounds any."""
    if all(issubclass(type_, float) for type_ in types):
        return np.array(values, np.float64)
    floats = [exact_float(value) for value in values]
    return None if None in floats else np.array(floats, np.float64)


def key_columns(keys: list[Any], argument: str) -> list[Column]:
    """Return the keys as one column, or as one column per part for tuples of one length."""
    if keys and set(map(type, keys)) == {tuple} and len(set(map(len, keys))) == 1 and keys[0]:
        # zip() would take ten times as long for many keys.
        return [column_of_objects([*map(itemgetter(part), keys)], argument) for part in range(len(keys[0]))]
    return [column_of_objects(keys, argument)]


SEPARATORS = (" ", ",", ";", "|")  # of items that a text may join
MISSING_TEXTS = frozenset({  # which may say that there is no item
    "", "NA", "N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "n/a", r"\N", "<PAD>", "<pad>", "[PAD]",
})  # fmt: skip
_MISSING_TYPES = frozenset({"NAType", "NaTType"})  # of pandas


def parts_of_text(text: str) -> list[str]:
    """Return the items that a text may join."""
    if text.startswith("["):
        return re.findall(r"[^\[\], '\"]+", text)
    return [part.strip() for part in text.split(next((mark for mark in ",;|" if mark in text), None))]


def is_missing(value: object) -> bool:
    """Return whether the object stands for a missing value: None, NaN, or pandas' NA or NaT."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in _MISSING_TYPES


def _is_real_type(type_: type) -> bool:
    return issubclass(type_, (Integral, float, np.floating)) and not issubclass(type_, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (Number, np.generic))


def _mixed_kinds_error(values: list[Any], types: set[type], argument: str) -> Exception:
    from exactk._inputs.ways_on import of_column

    expected = "keys of one kind: integers, strings, bytes, or objects that str() tells apart"
    holes = [i for i, value in enumerate(values) if is_missing(value)]
    if holes:
        return type_error(argument, "a value in every row", f"{len(holes)} None or NaN", position=holes[0])
    return type_error(
        argument, expected, " and ".join(sorted(type_.__name__ for type_ in types)), hint=of_column(values)
    )


def _integer_array(values: list[Any], argument: str) -> NDArray[Any]:
    try:
        return np.fromiter(values, np.int64, len(values))
    except OverflowError:
        pass
    for position, value in enumerate(values):  # not left to NumPy, which before 2.0 made 2^64 - 1 of -1
        if not 0 <= value < 2**64:
            expected = "integers that all fit int64 or all fit uint64"
            raise input_error(argument, expected, str(value), position=position)
    return np.fromiter(values, np.uint64, len(values))


def key_kind(column: Column, argument: str) -> str:
    """Return the kind of a column of keys; raise InputTypeError if it cannot be keys, such as floats."""
    kind = column.kind
    if kind in KEY_KINDS:
        return kind
    expected = "integer ids, strings or bytes"
    if kind != "float":
        hint = f".astype(str) makes strings of {'dates' if kind.startswith('datetime') else 'them'}"
        raise type_error(argument, expected, kind, hint=hint)
    values = column.values(argument)
    if not len(values):
        raise type_error(argument, expected, f"an empty {values.dtype} column", hint=".astype('int64') gives it a type")
    is_missing = np.isnan(values)
    if not is_missing.any():
        raise type_error(argument, expected, str(values.dtype), hint=".astype(int) converts whole numbers to ids")
    found, count = f"NaN in {values.dtype}", int(is_missing.sum())
    hint = "a join leaves NaN where nothing matches: .dropna() drops these rows; .astype('Int64') converts the others to ids"
    raise type_error(argument, expected, found, position=int(np.argmax(is_missing)), count=count, hint=hint)
