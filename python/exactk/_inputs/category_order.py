"""The order of the categories of an ordered categorical, such as age groups."""

from __future__ import annotations

from typing import Any

from exactk._inputs.containers.tables import is_frame
from exactk._runtime import optional


def category_order(container: Any, column: str | None) -> tuple[str, ...] | tuple[int, ...] | None:  # noqa: ANN401 - of any library
    """Return the categories of a Series, or of the column of a frame, in order; None if they have no order."""
    if column is not None and is_frame(container):
        container = container.head(0).collect() if optional.is_lazy(container) else container
        container = container[column]
    categories = optional.ordered_categories(container)
    if {type(category) for category in categories} not in ({str}, {int}):
        return None
    return tuple(categories)
