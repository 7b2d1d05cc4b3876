"""JSON: one object from user to items or one list of candidates, and lines with one object per row or user, which pyarrow reads if they are many."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._files.source import Source, by_pandas
from exactk._files.text import DECOMPRESSION_ERRORS, is_text, is_utf8, numbered_lines, open_bytes
from exactk._inputs.containers.tables import ColumnTable
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.columns import NumberColumn, packed_column
from exactk._runtime import optional
from exactk._runtime.errors import InputError
from exactk._runtime.faults import Name
from exactk._runtime.texts import parse_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from exactk._files.file_errors import File
    from exactk._files.source import ColumnChoice
    from exactk._inputs.checks import Offsets
    from exactk._inputs.keys.columns import Column

_EXPECTED = {"weights": "an object from user to weight", "groups": "an object from user to group"}
_MOST_COLUMNS = 64  # looked at for the names of columns


def read_object(file: File, *, text_ids: bool = False) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the mapping of the file; for candidates and the catalogue also a list of items."""
    return checked_object(parse(file), file, text_ids=text_ids)


def checked_object(value: Any, file: File, *, text_ids: bool) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what a file holds, if it is what is expected of it."""
    if isinstance(value, dict):
        if isinstance(value.get("took"), int) and not {"hits", "responses"}.isdisjoint(value):
            line = '{"query_id": ..., "hits": response["hits"]}'
            hint = f"write a line {line} per query to a file that ends in .jsonl, or an object from query to response"
            raise file.fault("hits by query", "a response, which does not name its query", hint)
        _check_keys_are_users(value, file)
        return {user: _as_text(content) for user, content in value.items()} if text_ids else value
    if file.role in {"candidates", "catalogue"} and isinstance(value, list):
        return _as_text(value) if text_ids else value
    raise file.fault(_EXPECTED.get(file.role, "an object from user to items"), _NAMES[type(value)])


_NAMES = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a bool", type(None): "null"}


def parse(file: File) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of the whole file. Raise InputError for what json.load would change or read in part."""
    with file.translate_errors("JSON", *DECOMPRESSION_ERRORS), open_bytes(file) as stream:
        text = stream.read()
    if not is_utf8(text):
        raise file.fault("UTF-8", "invalid bytes")
    escapes = (escape[0] for escape in _SURROGATES.finditer(text)) if b"\\u" in text else iter(())
    if half := next(filter(_is_half, escapes), b""):
        raise file.fault("text that UTF-8 has", f"half of a character: {half.decode()}")

    def parse_float(digits: str) -> float:
        if (number := parse_number(digits)) is None:
            raise file.fault("numbers that float64 holds", digits[:32])
        return number

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for index, key in enumerate(keys) if key in keys[:index])
            raise file.fault("each key once in an object", f"{twice!r} twice")
        return mapping

    try:
        return json.loads(text.decode("utf-8-sig"), parse_float=parse_float, object_pairs_hook=unique)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise _syntax_error(file, error) from None


_SURROGATES = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""An escaped backslash, behind which there is no escape; two escapes of one character; half of them."""


def _is_half(escape: bytes) -> bool:
    return len(escape) == len(r"\ud83d")


def _syntax_error(file: File, error: Exception) -> InputError:
    if isinstance(error, json.JSONDecodeError) and error.doc.strip():
        line = error.doc.splitlines()[error.lineno - 1 : error.lineno] or [""]
        return file.line_fault("JSON", _FOUND.get(error.msg, error.msg), error.lineno, line[0].encode())
    if isinstance(error, json.JSONDecodeError):
        return file.fault("JSON", "no text")
    is_deep = isinstance(error, RecursionError)
    return file.fault(
        "JSON", "too many lists or objects within each other" if is_deep else "an integer with too many digits"
    )


_FOUND = {
    "Expecting value": "no value",
    "Expecting property name enclosed in double quotes": "no key in double quotes",
    "Expecting ',' delimiter": "no comma",
    "Expecting ':' delimiter": "no colon",
    "Extra data": "more after its end",
}
"""What is found, by messages of the standard library."""


def _check_keys_are_users(value: dict[str, Any], file: File) -> None:
    """Raise InputError if the keys are names of columns, as pandas writes them."""
    names = list(islice(value, _MOST_COLUMNS))
    if column_roles.name_columns(names):
        read = by_pandas(file, f"pandas.read_json({str(file.path)!r}, dtype=False)")
        found = Name(f"columns {', '.join(names)}")
        raise file.fault(_EXPECTED.get(file.role, "an object from user to items"), found, (read, " reads them"))


def _as_text(content: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return a user's items with integers as strings; the keys of objects are strings."""
    if isinstance(content, list):
        return [_as_text(item) for item in content]
    return str(content) if isinstance(content, int) and not isinstance(content, bool) else content


_SMALL = 1 << 20  # bytes that the standard library reads before pyarrow is imported
_MAX_LINE = 1 << 24  # bytes: all of a user's list
_SAMPLED_LINES = 1000  # lines, until each column has been seen with something in it
_TYPE_NAMES = {int: "an integer", str: "a string", float: "a number that float64 holds"}
_MAX_EXACT = 2**53  # float64 represents all integers up to here
# Below 1e-323 there are a hundred zeros, or three digits in the exponent.
_TINY_NUMBERS = tuple(
    (begin, re.compile(pattern))
    for begin, pattern in (
        (b"e-", rb"e-0*[1-9][0-9]{2}"),
        (b"E-", rb"E-0*[1-9][0-9]{2}"),
        (b"0" * 100, rb"0{100}"),
    )
)
_KEY_END = re.compile(rb'" +:')
_LONGEST_KEY = 64  # bytes
_OVERLAP = 128  # bytes, more than a number that is tiny, and than a key
_CHUNK_SIZE = 1 << 20  # bytes


class FieldKind(NamedTuple):
    """The type of a field's values."""

    value_type: type  # int, str or float
    is_list: bool

    @property
    def arrow_type(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """The pyarrow type."""
        arrow = optional.arrow("JSON")
        value_type = {int: arrow.int64(), str: arrow.string(), float: arrow.float64()}[self.value_type]
        return arrow.list_(value_type) if self.is_list else value_type

    def column_of(self, values: list[Any]) -> Column:
        """Return the column of valid values."""
        return packed_column(values) if self.value_type is str else NumberColumn(np.array(values, self.value_type))

    def fault(self, value: object) -> tuple[str, str] | None:
        """Return the expected type and the value found, if they differ."""
        if isinstance(value, list) != self.is_list:
            return "a list" if self.is_list else "a single value", type(value).__name__
        for element in value if isinstance(value, list) else [value]:
            if not self._is_valid(element):
                is_other = self.value_type is int and isinstance(element, (dict, list))
                return "an integer or a string" if is_other else _TYPE_NAMES[self.value_type], repr(element)[:32]
        return None

    def _is_valid(self, value: object) -> bool:
        if isinstance(value, bool):
            return False
        if self.value_type is int:
            return isinstance(value, int) and -(2**63) <= value < 2**63
        if self.value_type is float:
            return isinstance(value, float) or (isinstance(value, int) and parse_number(str(value)) is not None)
        return isinstance(value, str) and (value.isascii() or is_text(value))


class _Rounded(NamedTuple):
    """A number that float64 cannot represent."""

    text: str

    def __repr__(self) -> str:
        return self.text


def _parse_decimal(text: str) -> float | _Rounded:
    number = parse_number(text)
    return _Rounded(text) if number is None else number


class _RepeatedKeyError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for index, key in enumerate(keys) if key in keys[:index]))
    return row


class JsonLines(Source):
    """A file with one object per line, of which the first has all fields that are read."""

    @property
    def names(self) -> list[str]:
        """The fields of the first object; those of hits by the names of both."""
        return list(self._first_row)

    @property
    def list_names(self) -> list[str]:
        """The fields of lists."""
        return [name for name, value in self._first_row.items() if isinstance(value, list)]

    def number_columns(self) -> list[str]:
        """Return the columns whose first value is a number or bool, or a list of them."""
        samples = {name: value[:1] if isinstance(value, list) else [value] for name, value in self._first_row.items()}
        return [name for name, sample in samples.items() if sample and isinstance(sample[0], (int, float))]

    @cached_property
    def _first_row(self) -> dict[str, Any]:
        with self._translate_errors():
            first = column_roles.sample_of_rows(row for _, _, row in self._rows())
        if not first:
            raise self.file.fault("one JSON object per line", "no line")
        return first

    @property
    def has_one_item_per_row(self) -> bool:
        """Always false: any line may hold lists."""
        return False

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        kinds = self._kinds(columns)
        has_hits = any(column_roles.HIT in name for name in kinds)
        if self.size <= _SMALL or has_hits or not optional.has("pyarrow"):
            return self._read_rows(kinds)
        arrow = optional.arrow("JSON")
        try:
            table = self._read(kinds)
        except (arrow.ArrowException, OSError, *DECOMPRESSION_ERRORS):
            self._raise_line_fault(kinds)
            with self.file.translate_errors("JSON lines", arrow.ArrowException, *DECOMPRESSION_ERRORS):
                raise
        return table

    def _read_rows(self, kinds: Mapping[str, FieldKind]) -> ColumnTable:
        """Return the table as the standard library reads it: slower than pyarrow, but sooner than pyarrow is imported."""
        rows = list(self._valid_rows(kinds))
        columns: dict[str, Column] = {}
        offsets: dict[str, Offsets] = {}
        for name, kind in kinds.items():
            values = [row[name] for row in rows]
            if kind.is_list:
                offsets[name] = np.concatenate([[0], np.cumsum([len(value) for value in values], dtype=np.int64)])
                values = list(chain.from_iterable(values))
            columns[name] = kind.column_of(values)
        return ColumnTable(columns, offsets)

    def _read(self, kinds: Mapping[str, FieldKind]) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return pyarrow's table. Raise InputError if it differs from the text."""
        arrow, reader = optional.arrow("JSON"), optional.arrow_module("json", "JSON")
        schema = arrow.schema([(name, kind.arrow_type) for name, kind in kinds.items()])
        options = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        with open_bytes(self.file) as stream:
            table = reader.read_json(stream, reader.ReadOptions(block_size=_MAX_LINE), options)
        table.validate(full=True)  # it takes bytes that are not UTF-8
        columns = {name: _flat(table[name]) for name in kinds}
        numbers = [columns[name] for name, kind in kinds.items() if kind.value_type is float]
        has_null = any(table[name].null_count or columns[name].null_count for name in kinds)
        if (
            has_null
            or any(map(_has_large_number, numbers))
            or (any(map(_has_zero, numbers)) and any(map(_has_tiny_number, self._texts())))
            or (self._later_roles(kinds) and any(map(partial(self._has_later_field, kinds), self._texts())))
        ):
            self._raise_line_fault(kinds)
        return table

    def _later_roles(self, kinds: Mapping[str, FieldKind]) -> tuple[str, ...]:
        """Return the roles that no field has that is read, of values, and of items in hits: no later line may have one then."""
        has_values = any(kind.value_type is float for kind in kinds.values())
        of_hits = [name for name, kind in kinds.items() if column_roles.HIT in name and kind.value_type is not float]
        has_item = not of_hits or any(column_roles.usual_role(name) == "item" for name in of_hits)
        values = () if has_values else column_roles.ROLES.get(self.file.role, ())[2:]
        return values if has_item else ("item", *values)

    def _has_later_field(self, kinds: Mapping[str, FieldKind], text: bytes) -> bool:
        """Return whether a part of the file may have a field that the first line lacks, and that would be read."""
        parts = (_KEY_END.sub(b'":', text) if b'" :' in text else text).split(b'":')
        keys = {part[-_LONGEST_KEY:].rpartition(b'"')[2] for part in parts}
        names = {key.decode(errors="replace") for key in keys}.difference(self._first_row)
        return any(column_roles.usual_role(name) in self._later_roles(kinds) for name in names)

    def _texts(self) -> Iterator[bytes]:
        """Yield parts of the file that overlap: what is shorter than the overlap is whole in one of them."""
        last_bytes = b""
        with open_bytes(self.file) as stream:
            while data := stream.read(_CHUNK_SIZE):
                yield (text := last_bytes + data)
                last_bytes = text[-_OVERLAP:]

    def _kinds(self, columns: ColumnChoice) -> dict[str, FieldKind]:
        """Return the type of each column, from the first lines."""
        kinds: dict[str, FieldKind] = {}
        has_lists = False
        with self._translate_errors():
            for _, _, row in islice(self._rows(), _SAMPLED_LINES):
                for name in columns.all:
                    value = None
                    with suppress(KeyError, TypeError):
                        value = column_roles.value_of(row, name)
                    has_lists = has_lists or isinstance(value, list)
                    if name not in kinds and (sample := value[:1] if isinstance(value, list) else [value]):
                        id_type = str if isinstance(sample[0], str) else int
                        kinds[name] = FieldKind(float if name in columns.values else id_type, isinstance(value, list))
                if len(kinds) == len(columns.all):
                    break
        return {name: kinds.get(name, FieldKind(int, has_lists)) for name in columns.all}

    def _rows(self) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
        """Yield number, text and object of each non-empty line."""
        with open_bytes(self.file) as stream:
            for line_number, line in numbered_lines(stream, self.file, _MAX_LINE):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line.decode(), parse_float=_parse_decimal, object_pairs_hook=_object_of)
                except _RepeatedKeyError as error:
                    raise self.file.line_fault("each field once", f"{error.key!r} twice", line_number, line) from None
                except (ValueError, RecursionError):
                    raise self.file.line_fault("a JSON object", "invalid JSON", line_number, line) from None
                if not isinstance(row, dict):
                    raise self.file.line_fault("a JSON object", type(row).__name__, line_number, line)
                yield line_number, line, _plain_row(row)

    def _fault(self, expected: str, found: str, line_number: int, line: bytes) -> InputError:
        return self.file.line_fault(Name(expected), found, line_number, line)

    def _raise_line_fault(self, kinds: Mapping[str, FieldKind]) -> None:
        """Raise InputError for the first invalid line, if any."""
        for _ in self._valid_rows(kinds):
            pass

    def _valid_rows(self, kinds: Mapping[str, FieldKind]) -> Iterator[dict[str, Any]]:
        """Yield the values of each line. Raise InputError at the first invalid line."""
        later_roles = self._later_roles(kinds)
        with self._translate_errors():
            for line_number, line, row in self._rows():
                for name in column_roles.all_columns(row).difference(self._first_row) if later_roles else ():
                    if column_roles.usual_role(name) in later_roles:
                        raise self._fault(f"no field {name}, as in the first line", "one", line_number, line)
                values = {}
                for name, kind in kinds.items():
                    try:
                        values[name] = column_roles.value_of(row, name)
                    except (KeyError, TypeError):  # of hits that are none
                        raise self._fault(f"a field {name}", "none", line_number, line) from None
                    if fault := kind.fault(values[name]):
                        raise self._fault(f"{fault[0]} in the field {name}", fault[1], line_number, line)
                yield values

    def _translate_errors(self) -> AbstractContextManager[None]:
        return self.file.translate_errors("JSON lines", *DECOMPRESSION_ERRORS)


def _plain_hits(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the list of hits in a response of Elasticsearch, or in the hits of one; other values unchanged."""
    while isinstance(value, dict) and isinstance(value.get("hits"), (dict, list)):
        value = value["hits"]
    return value


def _plain_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with hits of Elasticsearch as a list, and with ratings that OpenSearch writes as text as numbers."""
    if "hits" in row:
        row["hits"] = _plain_hits(row["hits"])
    ratings = row.get("ratings")
    for rating in ratings if isinstance(ratings, list) else ():
        if isinstance(rating, dict) and isinstance(text := rating.get("rating"), str):
            number = parse_number(text)
            rating["rating"] = text if number is None else number
    return row


class JsonRows(JsonLines):
    """A list of objects in a file of JSON, one per row."""

    def __init__(self, file: File, objects: list[dict[str, Any]]) -> None:
        super().__init__(file)
        self._objects = objects

    def read_all(self, columns: ColumnChoice) -> ColumnTable:
        """Return all rows of these columns as a table."""
        return self._read_rows(self._kinds(columns))

    def _rows(self) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
        """Yield number and object of each row."""
        for number, row in enumerate(self._objects, 1):
            yield number, b"", _plain_row(row)

    def _fault(self, expected: str, found: str, line_number: int, line: bytes) -> InputError:  # noqa: ARG002 - of lines
        return self.file.fault(Name(expected.replace("line", "object")), f"{found} in object {line_number}")


_JUDGMENTS = ("requests", "judgmentRatings")
"""The lists of Elasticsearch's `rank_eval` and of OpenSearch, each of queries with ratings."""
_LIST_OF_OBJECTS = re.compile(rb"\[\s*\{")


def rows_at(file: File) -> JsonRows | None:
    """Return the rows of a file whose JSON has a list of objects; None for another, and for a pipe."""
    with suppress(OSError, *DECOMPRESSION_ERRORS):
        if file.path.is_file():
            with open_bytes(file) as stream:
                text = stream.read()
            if _LIST_OF_OBJECTS.search(text):
                return rows_of(file, parse(file))
    return None


def rows_of(file: File, value: Any) -> JsonRows | None:  # noqa: ANN401 - whatever JSON holds
    """Return the rows of parsed JSON that is a list of objects, has a list of judgments, or hits of each user; None for another."""
    judgments = [value[name] for name in _JUDGMENTS if name in value] if isinstance(value, dict) else []
    if judgments and _are_objects(judgments[0]) and all(isinstance(row.get("ratings"), list) for row in judgments[0]):
        if file.role not in {"truth", "exclude"}:
            raise file.fault("what a system recommends", "judgments of queries")
        indexes = {str(one.get("_index")) for row in judgments[0] for one in row["ratings"] if isinstance(one, dict)}
        if len(indexes) > 1:
            raise file.fault("ratings of documents in one index", Name(" and ".join(sorted(indexes))))
        return JsonRows(file, judgments[0])
    if isinstance(value, dict):
        by_user = {user: _plain_hits(content) for user, content in value.items() if content is not None}
        if any(isinstance(hits, list) and _are_objects(hits[:1]) for hits in by_user.values()):
            rows = JsonRows(file, [{"user": user, "hits": hits} for user, hits in by_user.items()])
            roles = {*map(column_roles.usual_role, rows.names)}
            if not roles.isdisjoint({"score", "rank", "grade"}) and not any(map(column_roles.names_user, rows.names)):
                return rows
    return JsonRows(file, value) if _are_objects(value) else None


def _are_objects(value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    return isinstance(value, list) and len(value) > 0 and all(isinstance(row, dict) for row in value)


def _flat(column: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    arrow = optional.arrow("JSON")
    return column.combine_chunks().flatten() if arrow.types.is_list(column.type) else column


def _has_large_number(column: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Return whether a number may be an integer that float64 rounded."""
    smallest, largest = optional.arrow_module("compute", "JSON").min_max(column).values()
    return any(abs(bound.as_py() or 0) >= _MAX_EXACT for bound in (smallest, largest))


def _has_tiny_number(text: bytes) -> bool:
    """Return whether there may be a number too small for float64, which pyarrow reads as 0."""
    return any(begin in text and pattern.search(text) for begin, pattern in _TINY_NUMBERS)


def _has_zero(column: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    compute = optional.arrow_module("compute", "JSON")
    return bool(compute.any(compute.equal(column, 0.0)).as_py())
