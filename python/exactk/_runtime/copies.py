"""Copies of objects."""

from __future__ import annotations

from typing import Any, TypeVar

_T = TypeVar("_T")


def changed_copy(instance: _T, **changes: Any) -> _T:  # noqa: ANN401 - the attributes
    """Return an object with the same attributes but these: `copy.copy` takes ten times as long, by way of pickling."""
    duplicate = object.__new__(type(instance))
    vars(duplicate).update(vars(instance), **changes)
    return duplicate
