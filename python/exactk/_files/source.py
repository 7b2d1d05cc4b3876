"""A file with columns, whatever its format."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from exactk._files.text import text_size

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from exactk._files.column_choice import ColumnChoice
    from exactk._files.faults import File

_LARGE = 1 << 28  # bytes
_USUAL_RATIO = 4  # of text to what it is compressed to


class Source:
    """What every format offers of a file."""

    has_types = True  # Whether columns say what they hold; else ids come as text if `text_ids` is set.

    def __init__(self, file: File) -> None:
        self.file = file

    @property
    def size(self) -> int:
        """How many bytes of text, or of rows, there are, at least."""
        size = text_size(self.file)
        return max(size, _USUAL_RATIO * self.file.path.stat().st_size) if self.file.is_compressed else size

    @property
    def has_one_item_per_row(self) -> bool:
        """Whether no row holds a list of items."""
        return True

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


def is_large(sources: Sequence[Source]) -> bool:
    """Return whether all rows of the files had better not be in memory together, and each has one item."""
    return all(source.has_one_item_per_row for source in sources) and sum(source.size for source in sources) > _LARGE


def memory_size() -> int:
    """Return how many bytes of memory the machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def read_ahead(parts: Iterator[Any]) -> Generator[Any]:
    """Yield the parts; each is read while the one before it is made use of."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, parts, None)
        while (part := coming.result()) is not None:
            coming = reader.submit(next, parts, None)
            yield part
