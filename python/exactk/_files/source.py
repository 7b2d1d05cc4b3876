"""The interface of files with columns, and the choice of those that are read."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from glob import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from exactk._files.ids import cast_to_text
from exactk._files.text import recorded_size
from exactk._inputs.containers.tables import ColumnTable
from exactk._inputs.keys import column_roles
from exactk._inputs.keys.column_roles import VALUE_ROLES, Columns, UnusedColumns, events_among, names_outcome
from exactk._inputs.keys.columns import PackedColumn
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._runtime.errors import ExactkError, input_error, warn
from exactk._runtime.faults import Name, Option
from exactk._runtime.texts import parse_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from exactk._files.file_errors import File
    from exactk._inputs.keys.column_roles import ColumnNames

_LARGE = 1 << 28  # bytes
ROLES_OF_ITEMS = frozenset({"truth", "predictions", "scores", "exclude", "candidates"})
_FIRST_ROWS = 1000
_USUAL_RATIO = 4  # ratio of text to compressed bytes

RequestedColumns: TypeAlias = "dict[str, Any]"
"""The names of columns that the caller gives, by role."""


class ColumnChoice(NamedTuple):
    """The names of the columns to read."""

    ids: tuple[str, ...]  # of users, and of items
    values: Mapping[str, str]  # of scores, ranks or grades, each with its role
    unused: UnusedColumns = UnusedColumns()
    text_ids: bool = False  # ids are text even where they are digits

    @property
    def all(self) -> list[str]:
        """Return all column names, in order."""
        return [*self.ids, *self.values]

    def convert_ids(self, part: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the rows with ids converted as requested."""
        return cast_to_text(part, self.ids) if self.text_ids else part


class Source:
    """A file with columns, in any format."""

    has_types = True  # whether columns are typed; ids of untyped files are read as text if `text_ids` is set

    def __init__(self, file: File) -> None:
        self.file = file

    @property
    def size(self) -> int:
        """A lower bound on the bytes of text, or of rows."""
        size = self.file.path.stat().st_size
        return max(recorded_size(self.file), _USUAL_RATIO * size) if self.file.is_compressed else size

    @property
    def has_one_item_per_row(self) -> bool:
        """Whether no row holds a list of items."""
        return True

    @property
    def names(self) -> list[str]:
        """Column names."""
        raise NotImplementedError

    @property
    def list_names(self) -> list[str]:
        """The columns of lists."""
        return []

    def number_columns(self) -> list[str]:
        """Return the numeric columns, by type or, for text, by the first row."""
        raise NotImplementedError

    def texts_of(self, name: str) -> Sequence[str]:
        """Return the distinct values of a column as text, if these are few; none if they are many or cannot be read."""
        texts: dict[str, None] = {}
        with suppress(ExactkError):
            for part in self.plain_parts(ColumnChoice((name,), {})):
                keys, is_text = Vocabulary.of_kinds(["str"]), isinstance(part, ColumnTable)
                if is_text:
                    keys.encode([part[name]], name)
                distinct = keys.snapshot().array if is_text else part.column(name).unique()
                texts |= dict.fromkeys(map(str, distinct.tolist()))
                if len(texts) > _FIRST_ROWS:
                    return ()
            return list(texts)
        return ()

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        raise NotImplementedError

    def parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield all rows in parts, for large files."""
        raise NotImplementedError

    def plain_parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield the same without a warning about them; nothing if rows are not read in parts."""
        return self.parts(columns) if self.has_one_item_per_row else iter(())


def is_stdin(file: File) -> bool:
    """Return whether the path is of a descriptor, which other programs cannot read."""
    return str(file.path).startswith(("/dev/", "/proc/"))


def by_pandas(file: File, read: str, write: str = "") -> Option:
    """Return how to pass a data frame, or on the command line how to write it, as CSV unless `write` says how."""
    modules = "pandas"
    if file.whole is not None:
        modules, pattern = (
            "glob, pandas",
            f"{escape(str(file.whole))}/[!_]*" if file.whole.is_dir() else str(file.whole),
        )
        each = read.replace(repr(str(file.path)), "path")
        read = f"pandas.concat([{each} for path in glob.glob({pattern!r})])"
    write = write or f"to_csv({f'{file.path}.csv'!r}, index=False)"
    program = f"import {modules}; {read}.{write}"
    program = shlex.quote(program if '"' in program else program.replace("'", '"'))  # which needs no escapes
    shell = f"python3 -c {program}"
    shell = f"write it to FILE, then {shell.replace(str(file.path), 'FILE')}" if is_stdin(file) else shell
    return Option(file.role, "", f"{file.role}={read}".replace("{", "{{").replace("}", "}}"), shell)


def warn_of_lists(file: File, table: Any, columns: ColumnChoice, read: Callable[[str], Option]) -> None:  # noqa: ANN401 - pyarrow has no types
    """Warn of items that are text of lists; `read` returns how pandas reads the file and goes on."""
    name = columns.ids[-1]
    items = [value for value in _first_values(table, name) if isinstance(value, str)]
    if file.role not in ROLES_OF_ITEMS or not items:
        return
    text = next(filter(_LIST.fullmatch, items), "")
    if _SEPARATOR.search(text) or (text and all(map(_LIST.fullmatch, items))):
        split = r"findall(r'[^\[\], \'\"]+')"
        parts = re.findall(r"[^\[\], '\"]+", text)
    elif name.lower().endswith(("s", "_seq")) and (text := next(filter(_SEPARATOR.search, items), "")):
        users = list(zip(*(_first_values(table, user) for user in columns.ids[:-1]), strict=True))
        if len(set(users)) < len(users):
            return  # one item per row
        separator = min(_SEPARATOR.findall(text), key=_SEPARATORS.index)
        split, parts = f"split({separator!r})", text.split(separator)
    else:
        return
    then = f".assign(**{{{name!r}: lambda rows: rows[{name!r}].str.{split}}}).explode({name!r})"
    if all(map(str.isdecimal, parts)):
        then += f".astype({{{name!r}: int}})"
    warn(
        f"{file.role}: {text[:32]!r} in the column {name} of {file.path} is one item; ",
        read(then),
        " makes items of its parts",
    )


_LIST = re.compile(r"\[.*\]", re.DOTALL)
_SEPARATORS = "|;, "
_SEPARATOR = re.compile(f"[{_SEPARATORS}]")


def _first_values(table: Any, name: str) -> list[Any]:  # noqa: ANN401 - pyarrow has no types
    if not isinstance(table, ColumnTable):
        return list(table.column(name).slice(0, _FIRST_ROWS).to_pylist())
    column = table.columns[name]
    if not isinstance(column, PackedColumn):
        return list(column.values(name)[:_FIRST_ROWS])
    offsets = column.offsets[: _FIRST_ROWS + 1].tolist()
    return [column.data[begin:end].tobytes().decode() for begin, end in pairwise(offsets)]


def is_large(sources: Sequence[Source]) -> bool:
    """Return whether the files are too large to hold all rows in memory, and have one item per row."""
    return all(source.has_one_item_per_row for source in sources) and sum(source.size for source in sources) > _LARGE


def choose_columns(source: Source, requested: RequestedColumns, *, is_first: bool = True) -> ColumnChoice:
    """Return the columns that the caller names, or that have common names; warn of others in the first of several files."""
    role, existing = source.file.role, source.names
    if any("\0" in name for name in existing):
        raise source.file.fault("column names without zero bytes", "a zero byte")
    names = cast("ColumnNames", requested)
    columns = Columns.of(existing, names, role, lists=lambda: source.list_names)
    chosen = column_roles.choose_columns(columns, names, role, VALUE_ROLES[role])
    if role in {"predictions", "scores"} and not chosen.values and source.has_one_item_per_row:
        raise column_roles.order_error(columns, chosen.names, VALUE_ROLES[role], role)
    used = {*chosen.names}
    of_numbers = column_roles.beside(chosen.item, source.number_columns()) if is_first else ()
    others = tuple(name for name in of_numbers if name not in used)
    unused = UnusedColumns()
    if role == "truth" and requested.get("grade") is None:
        events = events_among((name for name in existing if name not in {*used, *others}), source.texts_of)
        others = tuple(name for name in column_roles.may_be_grades(others) if len(source.texts_of(name)) != 1)
        unused = UnusedColumns(others, tuple((name,) for name, *_ in events))  # whose values no line selects
    for name in filter(names_outcome, others if role == "exclude" else ()):
        numbers = (parse_number(text.replace("False", "0")) for text in source.texts_of(name))
        if any(number is not None and number <= 0 for number in numbers):
            found = f"rows of {source.file.path} whose {name!r} is 0 or less count as the others do"
            warn(f"exclude: {found}; leave out these rows if they are no interactions, or the column if they are")
    if role in {"predictions", "scores"} and not {"score", "rank"} & requested.keys():
        column_roles.warn_of_other_scores(others, chosen.values, role)
    values = {name: value for value, name in chosen.values.items()}
    return ColumnChoice((*chosen.users, chosen.item), values, unused)


_INDEX = re.compile(r"|Unnamed: \d+|__index_level_\d+__")  # as pandas writes the index of a frame


def table_of_user_values(source: Source, user: object, *, text_ids: bool) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the rows of a file: weights are numbers; groups and clusters are read as ids are."""
    argument = source.file.role
    users = column_roles.user_columns(Columns(source.names), user, argument)
    others = [name for name in source.names if name not in users]
    if len(others) > 1:
        others = [name for name in others if not _INDEX.fullmatch(name)]
    if len(others) != 1:
        found = Name(" and ".join(others) or "none")
        raise input_error(argument, Name(f"one column besides {' and '.join(users)}"), found)
    is_number = argument == "weights"
    columns = ColumnChoice((*users, *([] if is_number else others)), dict.fromkeys(others, "") if is_number else {})
    table = source.read_all(columns)
    return cast_to_text(table, users) if text_ids else table
