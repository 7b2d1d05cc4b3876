"""Text whose lines are no rows of columns: a user and any number of items, and a document with its features."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk._files import ids
from exactk._files.source import Source
from exactk._files.text import DECOMPRESSION_ERRORS, numbered_lines, open_bytes
from exactk._inputs.containers.tables import ColumnTable
from exactk._inputs.keys.columns import NumberColumn, packed_column
from exactk._runtime.texts import parse_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._files.source import ColumnChoice

_MAX_LINE = 1 << 24  # bytes: all of a user's list
INTEGER_ID = re.compile("-?(?:0|[1-9][0-9]{0,17})")  # as exactk reads columns of ids
ITERATIONS = frozenset({"0", "q0", "Q0"})  # that TREC files usually have: all of them if files are joined
_INTEGERS = re.compile(rf"\s*{INTEGER_ID.pattern}(?:\s+{INTEGER_ID.pattern})*\s*")
_LEAST_WIDTHS = 3
_LEAST_FIELDS = 3  # of a line that is no row of a user and an item
_RATED = re.compile(r"\s*(\S+)\s+qid:(\S+)((?:\s+[0-9]+:\S+)*)\s*(?:#(.*))?")
_DOCUMENT = re.compile(r"\s*(?:docid\s*=\s*)?([^\s=]+)((?:\s+\w+\s*=\s*\S+)*)\s*")


class _Lines(Source):
    """A file whose lines are read one by one."""

    has_types = False
    columns: tuple[str, ...]
    comment = re.compile("(?!)")  # lines that are not read

    @property
    def names(self) -> list[str]:
        """The names of columns."""
        return list(self.columns)

    def number_columns(self) -> list[str]:
        """Return none: all columns are read."""
        return []

    def _lines(self) -> Iterator[tuple[int, bytes, str]]:
        """Yield number, bytes and text of each non-empty line. Raise InputError if there is none."""
        number = 0
        with self.file.translate_errors("text", *DECOMPRESSION_ERRORS), open_bytes(self.file) as stream:
            for number, line in numbered_lines(stream, self.file, _MAX_LINE):
                if (text := line.decode().strip()) and not self.comment.match(text):
                    yield number, line, text
        if not number:
            raise self.file.fault("lines", "none")


class UsersWithItems(_Lines):
    """A file with one line per user: the user, and any number of items, all of them integers."""

    columns = ("user", "items")
    has_one_item_per_row = False

    def read_all(self, columns: ColumnChoice) -> ColumnTable:  # noqa: ARG002 - there are no others
        """Return all lists as a table."""
        lists: dict[int, list[int]] = {}
        for number, line, text in self._lines():
            if not _INTEGERS.fullmatch(text):
                raise self.file.line_fault("a user and items, all of them integers", "other text", number, line)
            user, *items = map(int, text.split())
            if user in lists:
                raise self.file.line_fault("each user once", f"{user} twice", number, line)
            lists[user] = items
        users, elements = (NumberColumn(np.array([*keys], np.int64)) for keys in (lists, chain(*lists.values())))
        offsets = np.cumsum([0, *map(len, lists.values())], dtype=np.int64)
        return ColumnTable({"user": users, "items": elements}, {"items": offsets})


class RatedDocuments(_Lines):
    """A file in the form of SVMlight: ``2 qid:10 1:0.5 2:0.1 # GX01``, whose documents are its comments or numbers of rows."""

    columns = ("query", "document", "label")
    comment = re.compile(r"\s*#(?!\S*\s+qid:)")  # not a row

    def read_all(self, columns: ColumnChoice) -> ColumnTable:
        """Return all rows as a table."""
        queries: list[str] = []
        documents: list[str] = []
        labels: list[float] = []
        has_comments = False
        for number, line, text in self._lines():
            parts = _RATED.fullmatch(text)
            label = None if parts is None else parse_number(parts[1])
            if parts is None or label is None:
                raise self.file.line_fault("a row of SVMlight (grade qid:query 1:value ...)", "another", number, line)
            has_comments = has_comments if labels else parts[4] is not None
            document = _DOCUMENT.fullmatch(parts[4] or "")
            if (parts[4] is not None) != has_comments or (has_comments and document is None):
                expected = (
                    "a comment with the id of the document" if has_comments else "no comment, as in the first row"
                )
                raise self.file.line_fault(expected, "another" if parts[4] else "none", number, line)
            queries.append(parts[2])
            documents.append(str(len(labels)) if document is None else document[1])
            labels.append(label)
        texts = {"query": packed_column(queries), "document": packed_column(documents)}
        table = ColumnTable(texts | {"label": NumberColumn(np.array(labels))})
        return table if columns.text_ids else ids.convert_integers(table, columns.ids)


class LineForm(NamedTuple):
    """A form of such lines."""

    roles: frozenset[str]  # of arguments
    source: type[_Lines]
    text_ids: bool = False

    def fits(self, lines: Sequence[str]) -> bool:
        """Return whether these lines are of the form, and of no other."""
        lines = [line for line in lines if not self.source.comment.match(line)]
        if self.source is RatedDocuments:
            return bool(lines) and all(map(_RATED.fullmatch, lines))
        widths = Counter(len(line.split()) for line in lines)
        is_shown = len(widths) >= _LEAST_WIDTHS and 2 * max(widths.values()) <= len(lines)  # by more than cut lines
        return is_shown and may_be_lists(lines)


def may_be_lists(lines: Sequence[str]) -> bool:
    """Return whether lines may be of a user and items each, rather than of TREC or of a user and one item."""
    rows = [line.split() for line in lines] or [[]]
    are_lists = max(map(len, rows)) >= _LEAST_FIELDS and all(map(_INTEGERS.fullmatch, lines))
    has_iterations = {field for row in rows for field in row[1:2]} <= ITERATIONS
    return are_lists and not has_iterations and len({row[0] for row in rows}) == len(rows)
