"""The words for what is wrong with a file: the same for every format."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from exactk._runtime.errors import ExactkError, InputError, input_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SHOWN_LENGTH = 80  # characters of a line


class File(NamedTuple):
    """A file, and the argument of `exactk.evaluate` that it stands for."""

    path: Path
    role: str

    @property
    def is_compressed(self) -> bool:
        """Whether its name says so."""
        return self.path.suffix.lower() == ".gz"

    def fault(self, expected: str, found: str) -> InputError:
        """Return the error about the file as a whole."""
        return input_error(self.role, expected, f"{found} in {self.path}")

    def line_fault(self, expected: str, found: str, line: int, text: bytes) -> InputError:
        """Return the error about one of its lines, counted from 1."""
        return input_error(self.role, expected, f"{found} at line {line} of {self.path}: {_shorten(text)}")

    @contextmanager
    def translate_errors(self, expected: str, *errors: type[Exception]) -> Iterator[None]:
        """Turn what a library raises of the file into an error that names it."""
        try:
            yield
        except ExactkError:
            raise
        except OSError as error:
            raise self.fault("a file that can be read", _reason(error)) from error
        except errors as error:
            raise self.fault(expected, _reason(error)) from error


def _reason(error: Exception) -> str:
    """Return what a library says, on one line."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(reason.split()) or type(error).__name__


def _shorten(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
    return repr(text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH] + "...")
