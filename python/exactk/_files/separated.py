"""CSV and TSV, read by pyarrow; where rows may be misread, the standard library's reader decides.

CSV has quotes, which must be closed; in TSV, quotes are ordinary characters.
"""

from __future__ import annotations

import csv
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from exactk._files import ids
from exactk._files.source import Source
from exactk._files.text import DECOMPRESSION_ERRORS, MAX_LINE, numbered_lines, open_bytes
from exactk._files.watched_text import WatchedText
from exactk._runtime import optional
from exactk._runtime.errors import warn
from exactk._runtime.numbers import parse_number, parse_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactk._files.column_choice import ColumnChoice
    from exactk._files.faults import File


class _Row(NamedTuple):
    line_number: int  # number of the first line
    line: bytes
    line_count: int
    fields: list[str]


class Separated(Source):
    """A file of rows, with column names in the first."""

    has_types = False

    def __init__(self, file: File, delimiter: str) -> None:
        super().__init__(file)
        self.delimiter = delimiter
        self.has_quoting = delimiter == ","
        self._has_warned = False  # about rows that span lines

    @property
    def names(self) -> list[str]:
        """Return the column names."""
        with self._translate_errors(), open_bytes(self.file) as stream:
            header = next(self._rows(stream), None)
        if header is None:
            raise self.file.fault("a line of column names", "none")
        return header.fields

    def number_columns(self) -> list[str]:
        """Return the columns with a number in the first row."""
        with self._translate_errors(), open_bytes(self.file) as stream:
            rows = (row.fields for row in self._rows(stream))
            header, first = next(rows, []), next(rows, [])
        return [name for name, text in zip(header, first, strict=False) if parse_number(text) is not None]

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        parts = list(self._parts(columns))
        arrow = optional.arrow("CSV")
        table = arrow.Table.from_batches(parts, parts[0].schema) if parts else _empty_table(columns)
        return table if columns.text_ids else ids.convert_integers(table, columns.ids)

    def parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield the rows in parts, after checking all of them."""
        integers = [] if columns.text_ids else ids.integer_columns(self._parts(columns), columns.ids)
        for part in self._parts(columns):
            yield ids.cast_to_integers(part, integers)

    def _parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield the rows in parts, with ids as strings. Raise InputError at the first invalid line."""
        arrow = optional.arrow("CSV")
        row_count = 0
        try:
            with open_bytes(self.file) as stream:
                watched = WatchedText(stream, self.delimiter, has_quoting=self.has_quoting)
                for part in self._text_parts(watched, columns):
                    row_count += len(part)
                    yield self._with_numbers(part, columns)
                watched.finish()
        except (arrow.ArrowException, OSError, *DECOMPRESSION_ERRORS):
            if self._check_rows(columns) == 0:  # pyarrow rejects a header without a line feed
                return
            with self._translate_errors():
                raise
        if not watched.is_plain or (watched.has_quotes and watched.lines != row_count + 1):
            self._check_rows(columns, row_count)

    def _text_parts(self, stream: WatchedText, columns: ColumnChoice) -> Iterator[Any]:
        """Yield the rows in parts, with all columns as text."""
        compute, reader = optional.arrow_module("compute", "CSV"), optional.arrow_module("csv", "CSV")
        parse_options = reader.ParseOptions(
            delimiter=self.delimiter, quote_char='"' if self.has_quoting else False, newlines_in_values=self.has_quoting
        )
        # No spelling of an id means null, and exactk parses numbers itself.
        convert_options = reader.ConvertOptions(
            include_columns=columns.all, column_types=_text_schema(columns), null_values=[], strings_can_be_null=False
        )
        with reader.open_csv(stream, reader.ReadOptions(block_size=MAX_LINE), parse_options, convert_options) as parts:
            for part in parts:
                lengths = (compute.binary_length(part[name]) for name in columns.ids)
                has_empty_id = any(compute.min(column_lengths).as_py() == 0 for column_lengths in lengths)
                if has_empty_id or compute.any(compute.equal(part[columns.ids[0]], columns.ids[0])).as_py():
                    self._check_rows(columns)
                yield part

    def _with_numbers(self, part: Any, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the rows with scores, ranks and grades as numbers."""
        for name in columns.values:
            numbers = parse_numbers(part[name])
            if numbers is None:
                self._check_rows(columns)
                raise self.file.fault(f"numbers in the column {name}", "other text")
            arrow = optional.arrow("CSV")
            part = part.set_column(part.schema.get_field_index(name), name, arrow.array(numbers, arrow.float64()))
        return part

    def _translate_errors(self) -> Any:  # noqa: ANN401 - a context manager
        return self.file.translate_errors("CSV", optional.arrow("CSV").ArrowException, *DECOMPRESSION_ERRORS)

    def _rows(self, stream: IO[bytes]) -> Iterator[_Row]:
        """Yield the rows that the standard library reads. Raise InputError at the first syntax error."""
        lines: list[tuple[int, bytes]] = []  # first and last line of the row

        def texts() -> Iterator[str]:
            for line_number, line in numbered_lines(stream, self.file):
                lines[1:] = [(line_number, line)]
                yield line.decode("utf-8")

        reader = csv.reader(
            texts(),
            delimiter=self.delimiter,
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

    def _check_rows(self, columns: ColumnChoice, row_count: int | None = None) -> int:
        """Return the number of rows. Raise InputError at the first invalid row.

        If pyarrow has read all rows, `row_count` is their number, and a warning reports rows that span lines.
        """
        first_long_row, long_rows, rows_read = None, 0, 0
        with self._translate_errors(), open_bytes(self.file) as stream:
            rows = self._rows(stream)
            header = next(rows).fields
            for row in rows:
                rows_read += 1
                for expected, found in _row_faults(header, row.fields, columns):
                    raise self.file.line_fault(expected, found, row.line_number, row.line)
                if row.line_count > 1:
                    first_long_row, long_rows = first_long_row or row, long_rows + 1
        if row_count is not None and row_count != rows_read:
            raise self.file.fault(f"{rows_read} rows, given the quotes", str(row_count))
        if row_count is not None and first_long_row is not None and not self._has_warned:
            self._has_warned = True
            warn(
                f"{self.file.role}: {long_rows} of {row_count} rows have quoted line breaks, the first at line "
                f"{first_long_row.line_number} of {self.file.path}; a stray quote swallows rows"
            )
        return rows_read


def _text_schema(columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
    arrow = optional.arrow("CSV")
    return arrow.schema([(name, arrow.string()) for name in columns.all])


def _empty_table(columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
    arrow = optional.arrow("CSV")
    fields = [(name, arrow.string()) for name in columns.ids] + [(name, arrow.float64()) for name in columns.values]
    return arrow.schema(fields).empty_table()


def _syntax_fault(error: csv.Error) -> tuple[str, str]:
    """Return what is expected and found where the standard library reports a syntax error."""
    if str(error).startswith("new-line character"):  # the module has no error codes
        return "a line feed at the end of each line", "a carriage return within the line"
    return "quotes that close where their field ends", str(error)


def _row_faults(header: list[str], fields: list[str], columns: ColumnChoice) -> Iterator[tuple[str, str]]:
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
    for name in columns.values:
        if parse_number(row[name]) is None:
            yield f"a number in the column {name} that float64 holds", repr(row[name][:32])
