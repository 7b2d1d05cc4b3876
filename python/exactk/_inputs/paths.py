"""Paths of files in place of containers. The reader of files is in a layer above, and is loaded with the first path."""

from __future__ import annotations

import os
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from exactk._inputs.registry import FILE, ClassifiedValue, classify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.types import FilePath


class FileReader(Protocol):
    """What reads files."""

    def has_columns(self, path: FilePath, role: str) -> bool:
        """Return whether the format that the path's ending selects has named columns."""
        ...

    def column_names(self, path: FilePath, role: str) -> list[str]:
        """Return the names of the file's columns; none for a format without."""
        ...

    def read_argument(self, path: FilePath, argument: str, columns: ColumnNames) -> Any:  # noqa: ANN401 - a container
        """Return the container of a file that is passed as an argument of `exactk.evaluate` or `exactk.topk`."""
        ...

    def warn_of_ranks(self, files: Sequence[Any]) -> None:
        """Warn once of what is pending of several files."""
        ...


def _reader() -> FileReader:
    reader: Any = import_module("exactk._files.file_arguments")
    return reader  # type: ignore[no-any-return]  # which mypy does not know to be one


class FilesOfSystems:
    """A context in which what the files of several systems show is warned of once, at its end."""

    pending: ContextVar[list[Any] | None] = ContextVar("pending", default=None)

    def __enter__(self) -> None:
        """Enter the context."""
        self._token = self.pending.set([])

    def __exit__(self, kind: object, *_: object) -> None:
        """Warn, unless an error ends the context."""
        pending = self.pending.get()
        self.pending.reset(self._token)
        if pending and kind is None:
            _reader().warn_of_ranks(pending)


def is_path(value: object) -> TypeGuard[FilePath]:
    """Return whether the value is a path."""
    return isinstance(value, (str, os.PathLike))


def names_file(text: str) -> bool:
    """Return whether a string that could be a column's name is a path: of a file, or with an ending or a folder."""
    try:
        Path(text).stat()
    except (OSError, ValueError):  # ValueError: a zero byte
        return bool(Path(text).suffix) or os.sep in text
    return True


def has_columns(path: FilePath, argument: str) -> bool:
    """Return whether the file has named columns."""
    return _reader().has_columns(path, argument)


def column_names(path: FilePath, argument: str) -> list[str]:
    """Return the names of the file's columns; none for a format without."""
    return _reader().column_names(path, argument)


def open_path(value: object, argument: str, columns: ColumnNames) -> object:
    """Return the container of the file at a path; other values unchanged."""
    return _reader().read_argument(value, argument, columns) if is_path(value) else value


def opened(classified: ClassifiedValue, argument: str, columns: ColumnNames) -> ClassifiedValue:
    """Return the container of the file if the value is a path; other values unchanged."""
    if classified.container is not FILE:
        return classified
    return classify(open_path(classified.value, argument, columns), argument)
