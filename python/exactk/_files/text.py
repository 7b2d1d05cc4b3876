"""What all formats of text share: they may be compressed, and have lines."""

from __future__ import annotations

import gzip
import os
import zlib
from typing import IO, TYPE_CHECKING, Any

from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactk._files.faults import File

MAX_LINE = 1 << 20  # bytes: as exactk/trec.hpp has it, and as large as pyarrow's blocks
DECOMPRESSION_ERRORS = (EOFError, zlib.error)  # what gzip raises beside OSError


def open_bytes(file: File) -> IO[bytes]:
    """Return the bytes of the file, decompressed if its name says so."""
    if not file.is_compressed:
        return file.path.open("rb")
    if file.path.stat().st_size == 0:  # which gzip takes
        raise EOFError("an empty file")
    return gzip.open(file.path)  # type: ignore[return-value]


def open_with_arrow(file: File) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the same for pyarrow, which decompresses without Python."""
    arrow = optional.arrow("a file of text")
    stream = arrow.OSFile(os.fsencode(file.path))  # names need not be text
    return arrow.input_stream(stream, compression="gzip" if file.is_compressed else None)


def numbered_lines(stream: IO[bytes], file: File, limit: int = MAX_LINE) -> Iterator[tuple[int, bytes]]:
    """Yield the lines and their numbers from 1. Raise InputError at one that is too long or not UTF-8."""
    line_number = 0
    while line := stream.readline(limit + 1):
        line_number += 1
        if len(line) > limit:
            raise file.line_fault(f"at most {limit} bytes a line", "more", line_number, line)
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            raise file.line_fault("UTF-8", "other bytes", line_number, line) from None
        yield line_number, line.removeprefix(b"\xef\xbb\xbf") if line_number == 1 else line
