"""Iterators that work on the next element while the current one is in use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

T = TypeVar("T")


def read_ahead(parts: Iterator[T]) -> Generator[T]:
    """Yield the parts, none of which is None, reading each while the previous one is in use. Closing it waits for that one."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, parts, None)
        while (part := coming.result()) is not None:
            coming = reader.submit(next, parts, None)
            yield part
