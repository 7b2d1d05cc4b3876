"""JSON lines: an object a row, or one a user with lists of items. pyarrow reads them."""

from __future__ import annotations

import json
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from exactk._files.source import Source
from exactk._files.text import BROKEN, numbered_lines, opened, opened_by_arrow
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exactk._files.column_choice import Chosen

_MAX_LINE = 1 << 24  # bytes: all of a user's list
_LOOKED_AT = 1000  # lines, until each column has been seen with something in it
_CALLED = {int: "an integer", str: "a string", float: "a number"}


class Kind(NamedTuple):
    """What a field holds."""

    of: type  # int, str or float
    in_lists: bool

    @property
    def arrow_type(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """What pyarrow calls it."""
        arrow = optional.arrow("JSON")
        one = {int: arrow.int64(), str: arrow.string(), float: arrow.float64()}[self.of]
        return arrow.list_(one) if self.in_lists else one

    def fault(self, value: object) -> tuple[str, str] | None:
        """Return what is expected and found if the value is something else."""
        if isinstance(value, list) != self.in_lists:
            return "a list" if self.in_lists else "no list", type(value).__name__
        for one in value if isinstance(value, list) else [value]:
            if not self._fits(one):
                return _CALLED[self.of], repr(one)[:32]
        return None

    def _fits(self, value: object) -> bool:
        if isinstance(value, bool):
            return False
        if self.of is int:
            return isinstance(value, int) and -(2**63) <= value < 2**63
        return isinstance(value, (int, float) if self.of is float else str)


class JsonLines(Source):
    """A file of objects, one a line."""

    @property
    def names(self) -> list[str]:
        """The fields of the first object."""
        with self._refusing(), opened(self.file) as stream:
            first = next((row for _, _, row in self._rows(stream)), None)
        if first is None:
            raise self.file.fault("an object a line", "no line")
        return list(first)

    @property
    def is_large(self) -> bool:
        """Never: its lines may hold lists."""
        return False

    def whole(self, columns: Chosen) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        arrow = optional.arrow("JSON")
        kinds = self._kinds(columns)
        try:
            table = self._read(kinds)
        except (arrow.ArrowException, OSError):
            self._refuse_line(kinds)
            with self._refusing():
                raise
        if any(_has_null(table[name]) for name in columns.all):
            self._refuse_line(kinds)
        return table

    def _read(self, kinds: Mapping[str, Kind]) -> Any:  # noqa: ANN401 - pyarrow has no types
        arrow, reader = optional.arrow("JSON"), optional.arrow_module("json", "JSON")
        schema = arrow.schema([(name, kind.arrow_type) for name, kind in kinds.items()])
        options = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        with opened_by_arrow(self.file) as stream:
            table = reader.read_json(stream, reader.ReadOptions(block_size=_MAX_LINE), options)
        table.validate(full=True)  # it takes bytes that are not UTF-8
        return table

    def _kinds(self, columns: Chosen) -> dict[str, Kind]:
        """Return what each column holds, as the first lines say."""
        kinds: dict[str, Kind] = {}
        listed = False
        with self._refusing(), opened(self.file) as stream:
            for _, _, row in islice(self._rows(stream), _LOOKED_AT):
                for name in columns.all:
                    value = row.get(name)
                    listed = listed or isinstance(value, list)
                    if name not in kinds and (some := value[:1] if isinstance(value, list) else [value]):
                        of_text = str if isinstance(some[0], str) else int
                        kinds[name] = Kind(float if name in columns.numbers else of_text, isinstance(value, list))
                if len(kinds) == len(columns.all):
                    break
        return {name: kinds.get(name, Kind(int, listed)) for name in columns.all}

    def _rows(self, stream: IO[bytes]) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
        """Yield the number, the text and the object of each line that is not empty."""
        for number, line in numbered_lines(stream, self.file, _MAX_LINE):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise self.file.line_fault("an object of JSON", "something else", number, line) from None
            if not isinstance(row, dict):
                raise self.file.line_fault("an object of JSON", type(row).__name__, number, line)
            yield number, line, row

    def _refuse_line(self, kinds: Mapping[str, Kind]) -> None:
        """Raise InputError at the first line that is not as it should be, if there is one."""
        with self._refusing(), opened(self.file) as stream:
            for number, line, row in self._rows(stream):
                for name, kind in kinds.items():
                    if name not in row:
                        raise self.file.line_fault(f"a field {name}", "none", number, line)
                    if fault := kind.fault(row[name]):
                        raise self.file.line_fault(f"{fault[0]} in the field {name}", fault[1], number, line)

    def _refusing(self) -> Any:  # noqa: ANN401 - a context manager
        return self.file.refusing("JSON lines", optional.arrow("JSON").ArrowException, *BROKEN)


def _has_null(column: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    arrow = optional.arrow("JSON")
    inner = column.combine_chunks().flatten() if arrow.types.is_list(column.type) else column
    return bool(column.null_count or inner.null_count)
