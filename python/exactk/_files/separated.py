"""CSV and its like. pyarrow reads them; where it finds a fault, a slow reader finds the line."""

from __future__ import annotations

import csv
from typing import IO, TYPE_CHECKING, Any

from exactk._files import ids
from exactk._files.source import Source
from exactk._files.text import DECOMPRESSION_ERRORS, MAX_LINE, numbered_lines, open_bytes, open_with_arrow
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactk._files.column_choice import ColumnChoice
    from exactk._files.faults import File


class Separated(Source):
    """A file of rows, the first of which names the columns."""

    def __init__(self, file: File, delimiter: str) -> None:
        super().__init__(file)
        self.delimiter = delimiter

    @property
    def names(self) -> list[str]:
        """Return what its columns are called."""
        with self._translate_errors(), open_bytes(self.file) as stream:
            header = next((fields for _, _, fields in self._rows(stream)), None)
        if header is None:
            raise self.file.fault("a line that names the columns", "none")
        return header

    def number_columns(self) -> list[str]:
        """Return those that hold a number in the first row."""
        with self._translate_errors(), open_bytes(self.file) as stream:
            rows = (fields for _, _, fields in self._rows(stream))
            header, first = next(rows, []), next(rows, [])
        return [name for name, text in zip(header, first, strict=False) if _is_number(text)]

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        table = optional.arrow("CSV").Table.from_batches(self._parts(columns), _schema(columns))
        return table if columns.text_ids else ids.convert_integers(table, columns.ids)

    def parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield its rows, part by part; before the first, all of them are looked at."""
        integers = [] if columns.text_ids else ids.integer_columns(self._parts(columns), columns.ids)
        for part in self._parts(columns):
            yield ids.cast_to_integers(part, integers)

    def _parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield its rows, part by part, whose ids are strings. Raise InputError at the first line that is not right."""
        arrow, compute = optional.arrow("CSV"), optional.arrow_module("compute", "CSV")
        try:
            with open_with_arrow(self.file) as stream, self._reader(stream, columns) as reader:
                for part in reader:
                    lengths = (compute.binary_length(part[name]) for name in columns.ids)
                    if any(compute.min(column_lengths).as_py() == 0 for column_lengths in lengths):
                        self._raise_line_fault(columns)
                        raise self.file.fault("an id in every row", "an empty one")
                    yield part
        except (arrow.ArrowException, OSError):
            self._raise_line_fault(columns)
            with self._translate_errors():
                raise

    def _reader(self, stream: Any, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        reader = optional.arrow_module("csv", "CSV")
        return reader.open_csv(
            stream,
            reader.ReadOptions(block_size=MAX_LINE),
            reader.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            # No spelling of an id means that there is none, and none of a number but nan.
            reader.ConvertOptions(
                include_columns=columns.all, column_types=_schema(columns), null_values=[], strings_can_be_null=False
            ),
        )

    def _translate_errors(self) -> Any:  # noqa: ANN401 - a context manager
        return self.file.translate_errors("CSV", optional.arrow("CSV").ArrowException, csv.Error, *DECOMPRESSION_ERRORS)

    def _rows(self, stream: IO[bytes]) -> Iterator[tuple[int, bytes, list[str]]]:
        """Yield for each row the number and the text of its first line, and its fields."""
        first: list[tuple[int, bytes]] = []

        def lines() -> Iterator[str]:
            for line_number, line in numbered_lines(stream, self.file):
                if not first:
                    first.append((line_number, line))
                yield line.decode("utf-8")

        for fields in csv.reader(lines(), delimiter=self.delimiter):
            if fields:
                yield *first[0], fields
            first.clear()

    def _raise_line_fault(self, columns: ColumnChoice) -> None:
        """Raise InputError at the first line that is not as it should be, if there is one."""
        with self._translate_errors(), open_bytes(self.file) as stream:
            rows = self._rows(stream)
            _, _, header = next(rows)
            for line_number, line, fields in rows:
                for expected, found in _row_faults(header, fields, columns):
                    raise self.file.line_fault(expected, found, line_number, line)


def _schema(columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
    arrow = optional.arrow("CSV")
    return arrow.schema(
        [(name, arrow.string()) for name in columns.ids] + [(name, arrow.float64()) for name in columns.values]
    )


def _row_faults(header: list[str], fields: list[str], columns: ColumnChoice) -> Iterator[tuple[str, str]]:
    """Yield what is expected and found where a row is not right."""
    if len(fields) != len(header):
        yield f"{len(header)} columns ({', '.join(header)})", str(len(fields))
        return
    row = dict(zip(header, fields, strict=True))
    for name in columns.ids:
        if not row[name]:
            yield f"an id in the column {name}", "nothing"
    for name in columns.values:
        if not _is_number(row[name]):
            yield f"a number in the column {name}", repr(row[name][:32])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text
