"""JSON lines: an object a row, or one a user with lists of items. pyarrow reads them."""

from __future__ import annotations

import json
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from exactk._files.source import Source
from exactk._files.text import DECOMPRESSION_ERRORS, numbered_lines, open_bytes, open_with_arrow
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exactk._files.column_choice import ColumnChoice

_MAX_LINE = 1 << 24  # bytes: all of a user's list
_SAMPLED_LINES = 1000  # lines, until each column has been seen with something in it
_TYPE_NAMES = {int: "an integer", str: "a string", float: "a number"}


class FieldKind(NamedTuple):
    """What a field holds."""

    value_type: type  # int, str or float
    is_list: bool

    @property
    def arrow_type(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """What pyarrow calls it."""
        arrow = optional.arrow("JSON")
        value_type = {int: arrow.int64(), str: arrow.string(), float: arrow.float64()}[self.value_type]
        return arrow.list_(value_type) if self.is_list else value_type

    def fault(self, value: object) -> tuple[str, str] | None:
        """Return what is expected and found if the value is something else."""
        if isinstance(value, list) != self.is_list:
            return "a list" if self.is_list else "no list", type(value).__name__
        for element in value if isinstance(value, list) else [value]:
            if not self._is_valid(element):
                return _TYPE_NAMES[self.value_type], repr(element)[:32]
        return None

    def _is_valid(self, value: object) -> bool:
        if isinstance(value, bool):
            return False
        if self.value_type is int:
            return isinstance(value, int) and -(2**63) <= value < 2**63
        return isinstance(value, (int, float) if self.value_type is float else str)


class JsonLines(Source):
    """A file of objects, one a line."""

    @property
    def names(self) -> list[str]:
        """The fields of the first object."""
        return list(self._first_row())

    def number_columns(self) -> list[str]:
        """Return those that hold a number or flag in the first object, or a list of them."""
        samples = {name: value[:1] if isinstance(value, list) else [value] for name, value in self._first_row().items()}
        return [name for name, sample in samples.items() if sample and isinstance(sample[0], (int, float))]

    def _first_row(self) -> dict[str, Any]:
        with self._translate_errors(), open_bytes(self.file) as stream:
            first = next((row for _, _, row in self._rows(stream)), None)
        if first is None:
            raise self.file.fault("an object a line", "no line")
        return first

    @property
    def is_large(self) -> bool:
        """Never: its lines may hold lists."""
        return False

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        arrow = optional.arrow("JSON")
        kinds = self._kinds(columns)
        try:
            table = self._read(kinds)
        except (arrow.ArrowException, OSError):
            self._raise_line_fault(kinds)
            with self._translate_errors():
                raise
        if any(_has_null(table[name]) for name in columns.all):
            self._raise_line_fault(kinds)
        return table

    def _read(self, kinds: Mapping[str, FieldKind]) -> Any:  # noqa: ANN401 - pyarrow has no types
        arrow, reader = optional.arrow("JSON"), optional.arrow_module("json", "JSON")
        schema = arrow.schema([(name, kind.arrow_type) for name, kind in kinds.items()])
        options = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        with open_with_arrow(self.file) as stream:
            table = reader.read_json(stream, reader.ReadOptions(block_size=_MAX_LINE), options)
        table.validate(full=True)  # it takes bytes that are not UTF-8
        return table

    def _kinds(self, columns: ColumnChoice) -> dict[str, FieldKind]:
        """Return what each column holds, as the first lines say."""
        kinds: dict[str, FieldKind] = {}
        has_lists = False
        with self._translate_errors(), open_bytes(self.file) as stream:
            for _, _, row in islice(self._rows(stream), _SAMPLED_LINES):
                for name in columns.all:
                    value = row.get(name)
                    has_lists = has_lists or isinstance(value, list)
                    if name not in kinds and (sample := value[:1] if isinstance(value, list) else [value]):
                        id_type = str if isinstance(sample[0], str) else int
                        kinds[name] = FieldKind(float if name in columns.values else id_type, isinstance(value, list))
                if len(kinds) == len(columns.all):
                    break
        return {name: kinds.get(name, FieldKind(int, has_lists)) for name in columns.all}

    def _rows(self, stream: IO[bytes]) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
        """Yield the number, the text and the object of each line that is not empty."""
        for line_number, line in numbered_lines(stream, self.file, _MAX_LINE):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise self.file.line_fault("an object of JSON", "something else", line_number, line) from None
            if not isinstance(row, dict):
                raise self.file.line_fault("an object of JSON", type(row).__name__, line_number, line)
            yield line_number, line, row

    def _raise_line_fault(self, kinds: Mapping[str, FieldKind]) -> None:
        """Raise InputError at the first line that is not as it should be, if there is one."""
        with self._translate_errors(), open_bytes(self.file) as stream:
            for line_number, line, row in self._rows(stream):
                for name, kind in kinds.items():
                    if name not in row:
                        raise self.file.line_fault(f"a field {name}", "none", line_number, line)
                    if fault := kind.fault(row[name]):
                        raise self.file.line_fault(f"{fault[0]} in the field {name}", fault[1], line_number, line)

    def _translate_errors(self) -> Any:  # noqa: ANN401 - a context manager
        return self.file.translate_errors("JSON lines", optional.arrow("JSON").ArrowException, *DECOMPRESSION_ERRORS)


def _has_null(column: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    arrow = optional.arrow("JSON")
    inner = column.combine_chunks().flatten() if arrow.types.is_list(column.type) else column
    return bool(column.null_count or inner.null_count)
