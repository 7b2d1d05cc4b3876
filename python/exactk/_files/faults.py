"""The wording of file errors, shared by all formats."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from exactk._runtime.errors import ExactkError, FileError, InputError, MissingFileError, input_error
from exactk._runtime.names import similar_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactk._runtime.faults import Text

_SHOWN_LENGTH = 80  # characters of a line
_MOST_NAMES = 10_000  # of a folder, among which similar ones are looked for


class File(NamedTuple):
    """A file, and the argument of `exactk.evaluate` that it is for."""

    path: Path
    role: str

    @property
    def is_compressed(self) -> bool:
        """Whether the file name indicates compression."""
        return self.path.suffix.lower() == ".gz"

    def fault(self, expected: str, found: str, hint: str | Text = "") -> InputError:
        """Return an error about the whole file."""
        return input_error(self.role, expected, found, hint=hint).amended(source=str(self.path))

    def check_kind(self, *, pipes: bool) -> None:
        """Raise InputError unless the path is a regular file or, if pipes are allowed, a pipe or the null device.

        Other devices may have no end.
        """
        status = self.status()
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            raise self.path_fault(IsADirectoryError())
        is_null = stat.S_ISCHR(mode) and status.st_rdev == Path(os.devnull).stat().st_rdev
        if stat.S_ISREG(mode) or (pipes and (stat.S_ISFIFO(mode) or is_null)):
            return
        if stat.S_ISFIFO(mode):
            raise self.fault("a regular file, because it is read more than once", "a pipe", "write it to a file")
        raise self.fault("a regular file or a pipe" if pipes else "a regular file", "a device or socket")

    def status(self, hint: str = "") -> os.stat_result:
        """Return the status of what is at the path; raise FileError if there is nothing."""
        try:
            return self.path.stat()
        except OSError as error:
            raise self.path_fault(error, hint) from error

    def path_fault(self, cause: OSError, hint: str = "") -> FileError:
        """Return the error about the path, with the path of a file of a similar name, or else the hint."""
        kind = FileError.type_for(cause)
        found, path = kind.found or _reason(cause), self.path
        if kind is MissingFileError:
            if not path.parent.is_dir():
                found, path = "no folder", path.parent
            hint = _similar_path(path) or hint
        return kind.of_argument(self.role, "a readable file", f"{found} at {str(path)!r}", hint=hint)

    def line_fault(self, expected: str, found: str, line: int, text: bytes, hint: str | Text = "") -> InputError:
        """Return an error about a line, counted from 1."""
        return input_error(self.role, expected, found, hint=hint).amended(
            source=str(self.path), line=(line, _shorten(text))
        )

    @contextmanager
    def translate_errors(self, expected: str, *errors: type[Exception]) -> Iterator[None]:
        """Turn a library's error about the file into one that names the file."""
        try:
            yield
        except ExactkError:
            raise
        except OSError as error:
            if error.errno is None:  # of the content, as gzip's
                raise self.fault("a readable file", _reason(error)) from error
            raise self.path_fault(error) from error
        except errors as error:
            raise self.fault(expected, _reason(error)) from error


def _reason(error: Exception) -> str:
    """Return a library's message on one line."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(reason.split()) or type(error).__name__


def _similar_path(path: Path) -> str:
    """Return a hint with the path in the same folder whose name is most similar; empty if none is."""
    try:
        names = [entry.name for entry in islice(path.parent.iterdir(), _MOST_NAMES)]
    except OSError:
        return ""
    name = similar_name(path.name, names, least=0.75)
    return "" if name is None else f"did you mean {str(path.parent / name)!r}?"


def _shorten(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
    return repr(text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH] + "...")
