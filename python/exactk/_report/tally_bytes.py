"""Tallies as bytes: their integers and keys, compressed, and the checks of such bytes from anywhere."""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from exactk._report.item_tally import MAX_ENTRIES, kind_of_item_keys
from exactk._report.validation import checked_integer, fail
from exactk._report.varints import read_varints, write_varints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._report.item_tally import Integers, TallyKeys

EXPECTED = "the output of tally_to_bytes"
MOST = 2**62
_KINDS = ("int", "str", "bytes")
_CHECKED_SIZE = 1 << 28  # bytes, decompressed
_MAX_RATIO = 200  # of larger tallies; real ones compress less


def compressed(parts: Sequence[bytes]) -> bytes:
    """Return the size of the parts, and the parts, compressed."""
    body = b"".join(parts)
    return pack([len(body)]) + zlib.compress(body)


def pack(integers: Sequence[int]) -> bytes:
    """Return integers as bytes."""
    return write_varints(np.array(integers, np.uint64))


def key_parts(keys: TallyKeys) -> list[bytes]:
    """Return the kind of the keys, and integers by their distances or text by its lengths and bytes."""
    kind = pack([_KINDS.index(kind_of_item_keys(keys))])
    if isinstance(keys, np.ndarray):
        values = keys.view(np.uint64)
        steps = np.append(values[:1], values[1:] - values[:-1])  # modulo 2^64
        return [kind, write_varints(steps)]
    texts = [key if isinstance(key, bytes) else key.encode("utf-8", "surrogatepass") for key in keys]
    return [kind, write_varints(np.array([len(text) for text in texts], np.uint64)), b"".join(texts)]


def _decompress(data: bytes) -> NDArray[np.uint8]:
    (size, *_), begin = read_varints(np.frombuffer(data, np.uint8), 1)
    if size > max(_CHECKED_SIZE, _MAX_RATIO * len(data)):
        raise fail("as many bytes as items of lists need", int(size))
    stream = zlib.decompressobj()
    try:
        body = stream.decompress(data[begin:], int(size) + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(body) != size or not stream.eof or stream.unused_data:
        raise fail(f"{size} compressed bytes", len(body))
    return np.frombuffer(body, np.uint8)


class TallyReader:
    """The decompressed bytes of a tally, read in order."""

    def __init__(self, data: bytes) -> None:
        self._data = _decompress(data)
        self._position = 0

    def integers(self, count: int) -> NDArray[np.uint64]:
        values, size = read_varints(self._data[self._position :], count)
        self._position += size
        return values

    def integer(self, what: str, most: int = MOST) -> int:
        return checked_integer(int(self.integers(1)[0]), what, 0, most)

    def text(self, size: int) -> bytes:
        text = self._data[self._position : self._position + size].tobytes()
        if len(text) < size:
            raise fail(f"{size} bytes of keys", len(text))
        self._position += size
        return text

    def table(self, columns: int) -> Integers:
        """Return a table of ascending rows of counts above 0."""
        rows = self.integer("the number of rows")
        cells = self.integers(rows * columns).reshape(columns, rows)
        check_sum(cells)
        table = np.column_stack([np.cumsum(cells[0]), *cells[1:]]).astype(np.int64).reshape(rows, columns)
        ascends = np.zeros(max(rows - 1, 0), np.bool_)
        for column in table.T[-2::-1]:
            step = np.diff(column)
            ascends = (step > 0) | ((step == 0) & ascends)
        if not ascends.all() or (table[:, -1] <= 0).any():
            raise fail("ascending rows of counts above 0", table[:3].tolist())
        return table

    def finish(self) -> None:
        if self._position != len(self._data):
            raise fail("no bytes after the last table", len(self._data) - self._position)


def check_sum(cells: NDArray[np.uint64]) -> None:
    """Raise ValueError if sums of these integers may not fit."""
    if float(cells.sum(dtype=np.float64)) >= MAX_ENTRIES:
        raise fail("sums below 2^62", int(cells.max()))


def read_keys(reader: TallyReader, size: int) -> TallyKeys:
    """Return distinct keys, ascending."""
    kind = _KINDS[reader.integer("a kind of keys", len(_KINDS) - 1)]
    numbers = reader.integers(size)
    if kind == "int":
        integers = np.cumsum(numbers).view(np.int64)
        if (integers[1:] <= integers[:-1]).any():
            raise fail("distinct ascending keys of items", integers[:3].tolist())
        return integers
    check_sum(numbers)
    ends = np.cumsum(numbers).tolist()
    text = reader.text(ends[-1] if ends else 0)
    texts = [text[begin:end] for begin, end in pairwise([0, *ends])]
    if not texts or any(one >= other for one, other in pairwise(texts)):
        raise fail("distinct ascending keys of items", texts[:3])
    return tuple(texts) if kind == "bytes" else tuple([one.decode("utf-8", "surrogatepass") for one in texts])
