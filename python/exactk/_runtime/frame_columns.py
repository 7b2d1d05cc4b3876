"""Columns of data frames whose type their values alone do not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class NullableIntegers(list[int | None]):
    """Integers, some of which may be missing."""


class OrderedCategories(list[Any]):
    """Labels with the order of all that there could be."""

    def __init__(self, labels: Iterable[Any], categories: Iterable[Any]) -> None:
        super().__init__(labels)
        self.categories = tuple(categories)
