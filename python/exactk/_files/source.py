"""The interface of files with columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from exactk._files.text import text_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._files.column_choice import ColumnChoice
    from exactk._files.faults import File

_LARGE = 1 << 28  # bytes
_USUAL_RATIO = 4  # ratio of text to compressed bytes


class Source:
    """A file with columns, in any format."""

    has_types = True  # whether columns are typed; ids of untyped files are read as text if `text_ids` is set

    def __init__(self, file: File) -> None:
        self.file = file

    @property
    def size(self) -> int:
        """A lower bound on the bytes of text, or of rows."""
        size = text_size(self.file)
        return max(size, _USUAL_RATIO * self.file.path.stat().st_size) if self.file.is_compressed else size

    @property
    def has_one_item_per_row(self) -> bool:
        """Whether no row holds a list of items."""
        return True

    @property
    def names(self) -> list[str]:
        """Column names."""
        raise NotImplementedError

    def number_columns(self) -> list[str]:
        """Return the numeric columns, by type or, for text, by the first row."""
        raise NotImplementedError

    def read_all(self, columns: ColumnChoice) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return all rows of these columns as a table."""
        raise NotImplementedError

    def parts(self, columns: ColumnChoice) -> Iterator[Any]:
        """Yield all rows in parts, for large files."""
        raise NotImplementedError


def is_large(sources: Sequence[Source]) -> bool:
    """Return whether the files are too large to hold all rows in memory, and have one item per row."""
    return all(source.has_one_item_per_row for source in sources) and sum(source.size for source in sources) > _LARGE


def memory_size() -> int:
    """Return the bytes of memory of the machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
