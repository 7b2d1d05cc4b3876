"""The wording of file errors, shared by all formats."""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from exactk._runtime.errors import ExactkError, InputError, MissingFileError, input_error
from exactk._runtime.texts import similar_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactk._runtime.faults import Text


_SHOWN_LENGTH = 80  # characters of a line


COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
"""The programs that compress, by the ending that they add."""


class File(NamedTuple):
    """A file, and the argument of `exactk.evaluate` that it is for."""

    path: Path
    role: str
    whole: Path | None = None  # the folder or the pattern that named it, perhaps with others

    @property
    def is_compressed(self) -> bool:
        """Whether the file name indicates compression."""
        return self.path.suffix.lower() in COMPRESSIONS

    @property
    def program(self) -> str:
        """The program that compressed the file."""
        return COMPRESSIONS[self.path.suffix.lower()]

    def fault(self, expected: str, found: str, hint: str | Text = "") -> InputError:
        """Return an error about the whole file."""
        return input_error(self.role, expected, found, hint=hint).amended(source=str(self.path))

    def check_kind(self, *, pipes: bool) -> None:
        """Raise InputError unless the path is a regular file or, if pipes are allowed, a pipe or the null device.

        Other devices may have no end.
        """
        status = self.status()
        mode = status.st_mode
        is_null = stat.S_ISCHR(mode) and status.st_rdev == Path(os.devnull).stat().st_rdev
        if stat.S_ISREG(mode) or (pipes and (stat.S_ISFIFO(mode) or is_null)):
            return
        if stat.S_ISFIFO(mode):
            raise self.fault("a regular file, because it is read more than once", "a pipe", "write it to a file")
        kind = "a directory" if stat.S_ISDIR(mode) else "a device or socket"
        raise self.fault("a regular file or a pipe" if pipes else "a regular file", kind)

    def status(self, hint: str | Text = "") -> os.stat_result:
        """Return the status of what is at the path; raise InputError if there is nothing, with a similar path or the hint."""
        with self.translate_errors("a file"):
            try:
                return self.path.stat()
            except FileNotFoundError as error:
                hint, found = _similar_path(self.path) or hint, f"no file at {str(self.path)!r}"
                raise MissingFileError.of_argument(self.role, "a readable file", found, hint=hint) from error

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
            raise self.fault("a readable file", _reason(error)) from error
        except errors as error:
            raise self.fault(expected, _reason(error)) from error


def _reason(error: Exception) -> str:
    """Return a library's message on one line, or what it means."""
    if isinstance(error, zlib.error):
        return f"bytes that are not those of {error}, or broken ones"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(reason.split()) or type(error).__name__


def _similar_path(path: Path) -> str:
    """Return a hint with the path in the same folder whose name is most similar; empty if none is."""
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    name = similar_name(path.name, names, least=0.75)
    return "" if name is None else f"did you mean {str(path.parent / name)!r}?"


def _shorten(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
    return repr(text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH] + "...")
