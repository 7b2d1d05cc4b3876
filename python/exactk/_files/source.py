"""A file with columns, whatever its format."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from exactk._files.column_choice import ColumnChoice
    from exactk._files.faults import File

_LARGE = 1 << 28  # bytes; perhaps four times as many once they are decompressed


class Source:
    """What every format offers of a file."""

    def __init__(self, file: File) -> None:
        self.file = file

    @property
    def is_large(self) -> bool:
        """Whether all of its rows had better not be in memory together, and each has one item."""
        size = self.file.path.stat().st_size
        return size > (_LARGE // 4 if self.file.is_compressed else _LARGE)

    @property
    def names(self) -> list[str]:
        """What its columns are called."""
        raise NotImplementedError

    def number_columns(self) -> list[str]:
        """Return those that hold numbers: by their types or, of text, as its first row says."""
        raise NotImplementedError

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        raise NotImplementedError

    def parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield them part by part, if it is large."""
        raise NotImplementedError


def read_ahead(parts: Iterator[Any]) -> Generator[Any]:
    """Yield the parts; each is read while the one before it is made use of."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, parts, None)
        while (part := coming.result()) is not None:
            coming = reader.submit(next, parts, None)
            yield part
