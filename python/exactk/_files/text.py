"""Compression and lines, shared by all text formats."""

from __future__ import annotations

import io
import os
import shlex
import zlib
from functools import partial
from typing import IO, TYPE_CHECKING

from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from exactk._files.file_errors import File

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_LINE = 1 << 20  # bytes: as in exactk/trec.hpp, and the size of pyarrow's blocks
DECOMPRESSION_ERRORS = (EOFError, zlib.error)  # raised besides OSError
# Rows that differ do not compress so well; copies of a few do, up to 1032 times, and would fill the memory.
_MAX_RATIO = 200
_READ_SIZE = 1 << 16  # bytes
_BLOCK_SIZE = 1 << 20  # bytes
_GZIP = 16 + zlib.MAX_WBITS  # zlib's name for the format
_MOST_MEMORY = 1 << 28  # bytes; what xz -9 makes needs a quarter
_UTF_16 = {b"\xff\xfe", b"\xfe\xff"}
_CHECKED_SIZE = 1 << 24  # bytes of text; a smaller one does no harm, whatever its ratio


def open_bytes(file: File) -> IO[bytes]:
    """Return the bytes of the file, decompressed if its name indicates compression. Raise InputError for UTF-16."""
    stream = io.BufferedReader(_Decompressed(file)) if file.is_compressed else file.path.open("rb")
    if stream.seekable():  # where a descriptor is duplicated, and not opened again
        stream.seek(0)
    try:
        is_utf16 = stream.peek(2)[:2] in _UTF_16
    except BaseException:
        stream.close()
        raise
    if not is_utf16:
        return stream
    stream.close()
    text = file.path.with_suffix("") if file.is_compressed else file.path
    read = f"{file.program} -dc -- {shlex.quote(str(file.path))} | " if file.is_compressed else ""
    named = "" if file.is_compressed else f" -- {shlex.quote(str(file.path))}"
    new = shlex.quote(str(text.with_suffix(f".utf8{text.suffix}")))
    raise file.fault("UTF-8", "UTF-16", f"{read}iconv -f UTF-16 -t UTF-8{named} > {new}")


def recorded_size(file: File) -> int:
    """Return the bytes of text that a compressed file records, modulo 2^32; 0 if it has no record, as only gzip has."""
    if file.program != "gzip":
        return 0
    with file.path.open("rb") as stream:
        if stream.seek(0, os.SEEK_END) < _SIZE_FIELD:
            return 0
        stream.seek(-_SIZE_FIELD, os.SEEK_END)
        return int.from_bytes(stream.read(_SIZE_FIELD), "little")


_SIZE_FIELD = 4  # bytes at the end of a gzip file


class _Decompressed(io.RawIOBase):
    """The text of a compressed file, as a stream. Raises InputError if it expands too far."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._compressed = file.path.open("rb", buffering=0)
        self._input = b""
        self._compressed_size = self._size = 0  # read so far
        self._new_member, self._error = _decompressor(file)
        self._member: Any = self._new_member()  # None between members

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - of any kind of memory
        view = memoryview(buffer).cast("B")
        data = self._decompress(len(view))
        view[: len(data)] = data
        self._size += len(data)
        if self._size > max(_CHECKED_SIZE, _MAX_RATIO * self._compressed_size):
            found = f"{self._size} of {self._compressed_size}"
            hint = f"if that is intended, decompress it with {self._file.program} -d"
            raise self._file.fault(f"at most {_MAX_RATIO} bytes of text per compressed byte", found, hint)
        return len(data)

    def close(self) -> None:
        self._compressed.close()
        super().close()

    def _decompress(self, size: int) -> bytes:
        """Return at most this many bytes, and none at the end."""
        while True:
            is_end = False
            if not self._input and getattr(self._member, "needs_input", True):
                self._input = self._compressed.read(_READ_SIZE)
                self._compressed_size += len(self._input)
                is_end = not self._input
            if self._member is None:
                self._input = self._input.lstrip(b"\0")  # padding
                if is_end:
                    return b""
                if not self._input:
                    continue
                self._member = self._new_member()
            try:
                data: bytes = self._member.decompress(self._input, size)
            except self._error as error:
                raise zlib.error(self._file.program) from error
            if self._member.eof:
                self._input, self._member = self._member.unused_data, None
            else:
                self._input = getattr(self._member, "unconsumed_tail", b"")
            if data:
                return data
            if is_end and self._member is not None:
                raise EOFError("an incomplete file")


def _decompressor(file: File) -> tuple[Callable[[], Any], type[Exception]]:
    """Return what makes an object that decompresses, and its error. Raise InputError if nothing can."""
    if file.program == "gzip":
        return partial(zlib.decompressobj, _GZIP), zlib.error
    if file.program == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, OSError
    if file.program == "xz":
        import lzma

        return partial(lzma.LZMADecompressor, memlimit=_MOST_MEMORY), lzma.LZMAError
    zstd = optional.zstd()
    if zstd is None:
        hint = "pip install backports.zstd, or decompress it with zstd -d"
        raise file.fault("Python 3.14 or backports.zstd, which read Zstandard", "neither", hint)
    return zstd.ZstdDecompressor, zstd.ZstdError


def is_text(text: str) -> bool:
    """Return whether the string can be written as UTF-8, which half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def blocks_of_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield blocks of complete lines; the last line is completed, and only one that is too long ends a block."""
    while block := stream.read(_BLOCK_SIZE):
        if not block.endswith(b"\n"):
            rest = stream.readline(MAX_LINE + 1)
            block += rest if rest.endswith(b"\n") or len(rest) > MAX_LINE else rest + b"\n"
        yield block


class Rest:
    """The lines of a block, and then those of the stream that it is from."""

    def __init__(self, block: bytes, stream: IO[bytes]) -> None:
        self._block, self._stream = io.BytesIO(block), stream

    def readline(self, size: int) -> bytes:
        """Return the next line, or its first bytes."""
        return self._block.readline(size) or self._stream.readline(size)


def is_utf8(text: bytes) -> bool:
    """Return whether the bytes are UTF-8."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def numbered_lines(
    stream: IO[bytes] | Rest, file: File, limit: int = MAX_LINE, first: int = 1
) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its number, from that of the first. Raise InputError for a line that is too long or not UTF-8."""
    line_number = first - 1
    while line := stream.readline(limit + 1):
        line_number += 1
        if len(line) > limit:
            raise file.line_fault(f"at most {limit} bytes per line", "a longer line", line_number, line)
        if not is_utf8(line):
            raise file.line_fault("UTF-8", "invalid bytes", line_number, line)
        yield line_number, line.removeprefix(BYTE_ORDER_MARK) if line_number == 1 else line
