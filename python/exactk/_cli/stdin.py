"""Standard input as one of the files that a command reads, written ``-``."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from exactk._runtime.errors import ExactkError, input_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

STDIN = Path("/dev/stdin")
_CHUNK_SIZE = 1 << 20  # bytes


def input_path(text: str) -> Path:
    """Return the path of an input file, which ``-`` is for stdin."""
    return STDIN if text == "-" else Path(text)


def path_text(path: Path) -> str:
    """Return the path as it is written on the command line."""
    return "-" if path == STDIN else str(path)


class StandardInput:
    """Standard input, read at most once, into a file without a name. Use as a context manager."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._sha256 = hashlib.sha256()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def sha256(self) -> str:
        """The digest of what was read."""
        return self._sha256.hexdigest()

    @contextmanager
    def opened(self, path: Path) -> Iterator[Path]:
        """Return the path to read: that of the content for stdin, which errors then name; other paths as they are."""
        if path != STDIN:
            yield path
            return
        content = self._content()
        try:
            yield content
        except ExactkError as error:
            raise error.amended(source="stdin") from None

    def _content(self) -> Path:
        if self._file is None:
            self._file = self._read()
        self._file.seek(0)  # where a descriptor is duplicated, and not opened again
        return Path(f"/dev/fd/{self._file.fileno()}")

    def _read(self) -> IO[bytes]:
        if sys.stdin is None:
            raise input_error("stdin", "an open stream", "a closed one")
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        while chunk := sys.stdin.buffer.read(_CHUNK_SIZE):
            self._sha256.update(chunk)
            file.write(chunk)
        file.flush()
        return file
