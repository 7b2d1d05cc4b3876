"""CSV, TSV and text with other separators.

Plain rows are split by the core, and all others by the standard library's strict reader. CSV has quotes, which must be
closed, as text with semicolons and bars has; elsewhere, quotes are ordinary characters.
"""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from exactk import _core
from exactk._files import ids
from exactk._files.source import ROLES_OF_ITEMS, Source, by_pandas, warn_of_lists
from exactk._files.text import (
    BYTE_ORDER_MARK,
    DECOMPRESSION_ERRORS,
    Rest,
    blocks_of_lines,
    is_utf8,
    numbered_lines,
    open_bytes,
)
from exactk._inputs.containers.tables import ColumnTable
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.keys.columns import NumberColumn, PackedColumn, packed_column
from exactk._runtime.errors import ExactkError, type_error, warn
from exactk._runtime.faults import Option
from exactk._runtime.texts import parse_number, parse_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from exactk._files.file_errors import File
    from exactk._files.source import ColumnChoice

_PART_ROWS = 1 << 16
_INTEGER = re.compile("0|-?[1-9][0-9]*(\\.0*|e.*)?", re.IGNORECASE)
_AROUND = '" '  # ids that pandas reads without
_DECIMAL, _WITH_COMMAS = re.compile("'[-+]?[0-9]*,[0-9]+'"), "decimal=','"


_UNIT = "\x1f"  # instead of what separates fields, if it is not one character


class Separator(NamedTuple):
    """What separates fields."""

    name: str
    pandas: str  # options besides `sep`
    pattern: re.Pattern[bytes] | None = None  # if it is not one character

    def joined(self, text: bytes) -> bytes:
        """Return lines whose fields are separated by one character."""
        if self.name == "blanks":
            text = _OUTER_BLANKS.sub(b"", text)
        return text if self.pattern is None else self.pattern.sub(_UNIT.encode(), text)


_OUTER_BLANKS = re.compile(rb"^[ \t]+|[ \t]+(?=\r?$)", re.MULTILINE)
SEPARATORS = {
    "::": Separator("colons", "engine='python'", re.compile(b"::")),
    "\t": Separator("tab", "quoting=3"),
    ";": Separator("semicolon", "skipinitialspace=True"),
    "|": Separator("bar", "skipinitialspace=True"),
    ",": Separator("comma", "skipinitialspace=True"),
    " ": Separator("blanks", "quoting=3", re.compile(rb"[ \t]+")),
}
"""Separators of fields, a comma after those beside which numbers may have commas; a blank is any number of blanks and tabs."""


class Check(NamedTuple):
    """What all numbers of a field are."""

    expected: str
    holds: Callable[[NDArray[np.float64]], NDArray[np.bool_]]


class Fields(NamedTuple):
    """The fields of rows without a line of column names, each with a name, and what some of them are."""

    names: tuple[str, ...]
    checks: Mapping[str, Check] = MappingProxyType({})


class _Row(NamedTuple):
    line_number: int  # number of the first line
    line: bytes
    line_count: int
    fields: list[str]


class Separated(Source):
    """A file of rows, with column names in the first unless the fields have names."""

    has_types = False

    def __init__(self, file: File, separator: str, fields: Fields | None = None) -> None:
        super().__init__(file)
        self._separator, self._fields = separator, fields
        self._delimiter = separator if SEPARATORS[separator].pattern is None else _UNIT
        self.has_quoting = separator in {",", ";", "|"}
        self._has_warned = False  # about rows that span lines
        self._integers: list[str] | None = None  # columns of ids; None until all rows were read
        self._warns_of_ids = file.role in ROLES_OF_ITEMS

    @cached_property
    def _first_rows(self) -> tuple[list[str], list[str]]:
        """The column names, and the fields of the first row: none if it is missing, or cannot be read."""
        with self._translate_errors(), open_bytes(self.file) as stream:
            rows = self._rows(stream)
            header = next(rows, None)
            if header is None:
                raise self.file.fault("rows" if self._fields else "a line of column names", "none")
            first: list[str] = []
            with suppress(ExactkError, OSError, *DECOMPRESSION_ERRORS):  # which is raised again when all are read
                first = next((row.fields for row in rows), first)
            if self._fields is None:
                return header.fields, first
            if _are_names(header.fields, first, self._fields.names):
                hint = "rows below a line of column names are read by the names, without columns by position"
                raise self.file.line_fault("a row of values", "column names", header.line_number, header.line, hint)
            return [*self._fields.names], header.fields

    @property
    def names(self) -> list[str]:
        """Return the column names."""
        return self._first_rows[0]

    def number_columns(self) -> list[str]:
        """Return the columns with a number in the first row; of fields without names of their own, those with a role."""
        names, first = self._first_rows
        numbers = [name for name, text in zip(names, first, strict=False) if parse_number(text) is not None]
        return [name for name in numbers if self._fields is None or usual_role(name)]

    def read_all(self, columns: ColumnChoice) -> ColumnTable:
        """Return all rows of these columns as a table."""
        table = ColumnTable.concatenate([*self.plain_parts(columns)] or [_empty_table(columns)])
        table = table if columns.text_ids else ids.convert_integers(table, columns.ids)
        self._check_integers(table, columns)
        self._warn_of_ids(self._count_odd(table, columns), columns)
        warn_of_lists(self.file, table, columns, lambda then: self._by_pandas(columns, then=then))
        return table

    def parts(self, columns: ColumnChoice) -> Iterator[ColumnTable]:
        """Yield the rows in parts; ids are integers only if those of all parts are, for which all are read once more."""
        if self._integers is None:
            self._integers = [] if columns.text_ids else ids.integer_columns(self.plain_parts(columns), columns.ids)
        counts = np.zeros(len(ids.ODD), np.int64)
        for part in self.plain_parts(columns):
            table = ids.convert_integers(part, self._integers)
            self._check_integers(table, columns)
            counts += self._count_odd(table, columns)
            yield table
        self._warn_of_ids(counts, columns)

    def _count_odd(self, table: ColumnTable, columns: ColumnChoice) -> NDArray[np.int64]:
        counts = np.zeros(len(ids.ODD), np.int64)
        for name in columns.ids if self._warns_of_ids else ():
            counts += ids.count_odd(table.columns[name], self.has_quoting)
        return counts

    def plain_parts(self, columns: ColumnChoice) -> Iterator[ColumnTable]:
        """Yield the rows in parts, with ids as strings. Raise InputError at the first fault."""
        row_count = 0
        with self._translate_errors(), open_bytes(self.file) as stream:
            header, line_number = self._header(stream)
            for block in blocks_of_lines(stream):
                part = self._plain_part(block, header, columns)
                if part is None:
                    rows = self._rows(Rest(block, stream), line_number)
                    yield from self._other_parts(rows, header, columns, row_count)
                    return
                yield part
                row_count += len(part)
                line_number += block.count(b"\n")

    def _header(self, stream: IO[bytes]) -> tuple[list[str], int]:
        """Return the column names, and the number of the first line that may have values, which comes next."""
        if self._fields is not None:
            return [*self._fields.names], 1
        header = next(self._rows(stream))
        return header.fields, header.line_number + header.line_count

    @property
    def _checks(self) -> Mapping[str, Check]:
        return {} if self._fields is None else self._fields.checks

    def _plain_part(self, block: bytes, header: list[str], columns: ColumnChoice) -> ColumnTable | None:
        """Return the rows of a block; None if they are not plain, or any may have a fault."""
        if b"\0" in block or BYTE_ORDER_MARK in block or not is_utf8(block) or self._is_ambiguous(block):
            return None
        names = [*dict.fromkeys((*columns.all, *self._checks))]
        lines = SEPARATORS[self._separator].joined(block)
        fields = _core.split_rows(lines, self._delimiter, self.has_quoting, len(header), list(map(header.index, names)))
        if fields is None:
            return None
        texts = {name: PackedColumn(*field) for name, field in zip(names, fields, strict=True)}
        if any((np.diff(texts[name].offsets) == 0).any() for name in columns.ids):
            return None
        if ids.count_text(texts[columns.ids[0]], columns.ids[0]):  # the column names again?
            return None
        table = ColumnTable({name: texts[name] for name in columns.all})
        for name in dict.fromkeys((*columns.values, *self._checks)):
            parsed = parse_numbers(texts[name].offsets, texts[name].data)
            if parsed is None or (name in self._checks and not self._checks[name].holds(parsed).all()):
                return None
            if name in columns.values:
                table = table.with_columns({name: NumberColumn(parsed)})
        return table

    def _is_ambiguous(self, text: bytes) -> bool:
        return self._delimiter == _UNIT and _UNIT.encode() in text

    def _other_parts(
        self, rows: Iterator[_Row], header: list[str], columns: ColumnChoice, row_count: int
    ) -> Iterator[ColumnTable]:
        """Yield the rows in parts. Raise InputError at the first fault; warn of rows that span lines."""
        first_long_row, long_rows = None, 0
        while part := list(islice(rows, _PART_ROWS)):
            row_count += len(part)
            for row in part:
                for expected, found in _row_faults(header, row.fields, columns, self._checks):
                    hint = (self._by_pandas(columns, _WITH_COMMAS), " reads it") if _DECIMAL.fullmatch(found) else ()
                    raise self.file.line_fault(expected, found, row.line_number, row.line, hint)
                if row.line_count > 1:
                    first_long_row, long_rows = first_long_row or row, long_rows + 1
            yield _table_of_rows(part, header, columns)
        if first_long_row is not None and not self._has_warned:
            self._has_warned = True
            warn(
                f"{self.file.role}: {long_rows} of {row_count} rows have quoted line breaks, the first at line "
                f"{first_long_row.line_number} of {self.file.path}; a stray quote swallows rows"
            )

    def _check_integers(self, table: ColumnTable, columns: ColumnChoice) -> None:
        """Raise InputTypeError for columns of integers of which some are written as floats."""
        floats = [name for name in columns.ids if ids.are_floats(table.columns[name])]
        if not floats or columns.text_ids or self.file.role not in ROLES_OF_ITEMS:
            return
        row, text = self._first_id(ids.FLOAT, floats)
        if row is None:
            return
        integers = ", ".join(f"{name.strip(_AROUND)!r}: int" for name in floats)
        hint = (
            self._by_pandas(columns, then=f".astype({{{integers}}})"),
            " makes integers of them; ",
            Option("text_ids", True, "exactk.read(path, role, {})"),  # noqa: FBT003 - the value of the option
            " keeps them as strings",
        )
        expected, source = f"integer ids in the column {floats[0]}", str(self.file.path)
        raise type_error(self.file.role, expected, f"floats such as {text}", hint=hint).amended(source=source)

    def _warn_of_ids(self, counts: NDArray[np.int64], columns: ColumnChoice) -> None:
        """Warn of ids that may mean something else, with the first of each kind."""
        self._warns_of_ids = False
        for kind in np.flatnonzero(counts).tolist():
            row, text = self._first_id(ids.ODD[kind], columns.ids)
            if row is None:
                continue
            found = f"{self.file.role}: the id {text[:32]!r} at line {row.line_number} of {self.file.path} "
            if kind == ids.MISSING:
                warn(f"{found}is text, as {counts[kind]} such ids are; leave the rows out if it means missing")
                continue
            what, options = ("quotes", "") if kind == ids.QUOTED else ("blanks", "skipinitialspace=True")
            if text.endswith(" ") and b'"' not in row.line:
                pattern = {"\t": r"\t", "|": r"\|"}.get(self._separator, self._separator)
                options = f"sep={'' if pattern == self._separator else 'r'}' *{pattern} *', engine='python'"
            warn(f"{found}keeps its {what}; ", self._by_pandas(columns, options), " removes them")

    def _first_id(self, pattern: re.Pattern[str], names: Sequence[str]) -> tuple[_Row | None, str]:
        """Return the first row with an id of the pattern, and the id; blanks in quotes are meant."""
        with self._translate_errors(), open_bytes(self.file) as stream:
            header, line_number = self._header(stream)
            for row in self._rows(stream, line_number):
                for text in (row.fields[header.index(name)] for name in names):
                    if pattern.fullmatch(text) and (
                        pattern is not ids.ODD[ids.BLANK] or f'"{text}"'.encode() not in row.line
                    ):
                        return row, text
        return None, ""

    def _by_pandas(self, columns: ColumnChoice, options: str = "", then: str = "") -> Option:
        """Return how to read the file by pandas, or on the command line how to write what pandas reads as CSV."""
        header, first = ([text.strip(_AROUND) for text in row] for row in self._first_rows)
        texts = dict(zip(header, first, strict=True))
        names = [name.strip(_AROUND) for name in columns.ids]
        types = {name: "str" for name in names if columns.text_ids or not _INTEGER.fullmatch(texts[name])}
        others = [f"sep={pandas_separator(self._separator)}"] * ("sep=" not in options and self._separator != ",")
        others += [f"names={header}"] * (self._fields is not None)
        given = [
            *others,
            options,
            f"dtype={types}" if types else "",
        ]
        return by_pandas(
            self.file, f"pandas.read_csv({', '.join(filter(None, [repr(str(self.file.path)), *given]))}){then}"
        )

    def _translate_errors(self) -> AbstractContextManager[None]:
        return self.file.translate_errors("CSV", *DECOMPRESSION_ERRORS)

    def _rows(self, stream: IO[bytes] | Rest, first_line: int = 1) -> Iterator[_Row]:
        """Yield the rows that the standard library reads. Raise InputError at the first syntax error."""
        lines: list[tuple[int, bytes]] = []  # first and last line of the row

        def texts() -> Iterator[str]:
            for line_number, line in numbered_lines(stream, self.file, first=first_line):
                lines[1:] = [(line_number, line)]
                if self._is_ambiguous(line):
                    raise self.file.line_fault("text", "the control character U+001F", line_number, line)
                yield SEPARATORS[self._separator].joined(line).decode("utf-8")

        reader = csv.reader(
            texts(),
            delimiter=self._delimiter,
            quoting=csv.QUOTE_MINIMAL if self.has_quoting else csv.QUOTE_NONE,
            strict=True,
        )
        while True:
            lines.clear()
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self.file.line_fault(*_syntax_fault(error), *lines[0]) from error
            if fields:
                yield _Row(*lines[0], lines[-1][0] - lines[0][0] + 1, fields)


def pandas_separator(separator: str) -> str:
    """Return the separator as pandas takes it."""
    return r"r'\s+'" if separator == " " else repr(separator)


def _are_names(fields: list[str], others: list[str], names: tuple[str, ...]) -> bool:
    """Return whether the first row is a line of column names: usual ones of keys, or texts where the next has numbers."""
    if not len(fields) == len(names) == len(others or names):
        return False
    keys = [
        usual_role(field) == role
        for field, role in zip(fields, map(usual_role, names), strict=True)
        if role in {"user", "item"}
    ]
    pairs = [(text, parse_number(other)) for text, other in zip(fields, others, strict=False)]
    below = [parse_number(text) is None for text, number in pairs if number is not None]
    have_usual = any(usual_role(text) for text, number in pairs if number is not None and parse_number(text) is None)
    return all(keys) or have_usual or (len(below) > 1 and all(below))


def _table_of_rows(rows: list[_Row], header: list[str], columns: ColumnChoice) -> ColumnTable:
    texts = {name: [row.fields[header.index(name)] for row in rows] for name in columns.all}
    return ColumnTable(
        {name: packed_column(texts[name]) for name in columns.ids}
        | {name: NumberColumn(np.array([parse_number(text) for text in texts[name]])) for name in columns.values}
    )


def _empty_table(columns: ColumnChoice) -> ColumnTable:
    texts = {name: packed_column([]) for name in columns.ids}
    return ColumnTable(texts | {name: NumberColumn(np.zeros(0)) for name in columns.values})


def _syntax_fault(error: csv.Error) -> tuple[str, str]:
    """Return what is expected and found where the standard library reports a syntax error."""
    if str(error).startswith("new-line character"):  # the module has no error codes
        return "a line feed at the end of each line", "a carriage return within the line"
    return "quotes that close where their field ends", str(error)


def _row_faults(
    header: list[str], fields: list[str], columns: ColumnChoice, checks: Mapping[str, Check]
) -> Iterator[tuple[str, str]]:
    """Yield what is expected and found for each fault of a row."""
    if len(fields) != len(header):
        yield f"{len(header)} columns ({', '.join(header)})", str(len(fields))
        return
    if any("\0" in field for field in fields):
        yield "text", "a zero byte"
    if fields[0].startswith("\N{BYTE ORDER MARK}"):
        yield "text", "a byte order mark within the file"
    if fields == header:
        yield "a row of values", "the column names again"
    row = dict(zip(header, fields, strict=True))
    for name in columns.ids:
        if not row[name]:
            yield f"an id in the column {name}", "an empty field"
    for name in dict.fromkeys((*columns.values, *checks)):
        number = parse_number(row[name])
        if number is None:
            yield f"a number in the column {name} that float64 holds", repr(row[name][:32])
        elif name in checks and not checks[name].holds(np.array(number)):
            yield f"{checks[name].expected} as {name}", repr(row[name][:32])
