"""Checks, by NumPy, that pyarrow splits text into the same rows as a strict reader.

Most files pass; for the others, the standard library's strict reader decides.
"""

from __future__ import annotations

from typing import IO

import numpy as np

from exactk._files.text import BYTE_ORDER_MARK

_QUOTE = ord('"')
_LINE_FEED = ord("\n")
_MARK_BEGIN = BYTE_ORDER_MARK[:1]


class WatchedText:
    """A stream that checks its bytes as they are read.

    Attributes
    ----------
    is_plain : bool
        Whether all quotes open at the start of a field and close at its end, lines end in line feeds, and there is
        no zero byte and no byte order mark after the first.
    has_quotes : bool
        Whether there are quotes at all.
    lines : int
        The number of lines.
    """

    def __init__(self, stream: IO[bytes], delimiter: str, *, has_quoting: bool) -> None:
        self._stream = stream
        self._has_quoting = has_quoting
        self._is_border = np.zeros(256, dtype=bool)  # may be next to an opening or closing quote
        self._is_border[[ord(delimiter), ord("\n"), ord("\r"), _QUOTE]] = True
        self._last_bytes = b"\n\n"  # the first one has been checked
        self._is_first = True
        self._is_open = False  # a quote
        self.closed = False
        self.is_plain = True
        self.has_quotes = False
        self.lines = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data = self._stream.read(size)
        self.lines += int(np.count_nonzero(np.frombuffer(data, np.uint8) == _LINE_FEED))
        if self.is_plain:
            self.is_plain = self._look_at(data.removeprefix(BYTE_ORDER_MARK) if self._is_first else data)
            self._is_first = False
        return data

    def finish(self) -> None:
        """Look at the last byte."""
        self.lines += self._last_bytes[-1:] != b"\n"
        self.is_plain = self.is_plain and self._look_at(b"\n") and not self._is_open

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the stream."""
        self.closed = True
        self._stream.close()

    def _look_at(self, data: bytes) -> bool:
        """Return whether all bytes are plain from the last one on that had no next one."""
        data = self._last_bytes + data
        self._last_bytes = data[-2:]
        if b"\0" in data or (_MARK_BEGIN in data and BYTE_ORDER_MARK in data):  # a byte is found faster
            return False
        if b"\r" in data and data.count(b"\r", 0, len(data) - 1) != data.count(b"\r\n"):
            return False
        return not self._has_quoting or b'"' not in data or self._look_at_quotes(np.frombuffer(data, np.uint8))

    def _look_at_quotes(self, data: np.typing.NDArray[np.uint8]) -> bool:
        """Return whether quotes open and close at the borders of fields. A quote within quotes closes and opens."""
        self.has_quotes = True
        quotes = np.flatnonzero(data[1:-1] == _QUOTE) + 1
        opening, closing = quotes[self._is_open :: 2], quotes[not self._is_open :: 2]
        self._is_open ^= len(quotes) % 2 == 1
        return bool(self._is_border[data[opening - 1]].all() and self._is_border[data[closing + 1]].all())
