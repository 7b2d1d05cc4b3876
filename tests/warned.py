"""What a call warns of."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def result_and_warnings(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return the result of a call, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [str(one.message) for one in caught]


def warnings_of(call: Callable[[], object]) -> list[str]:
    return result_and_warnings(call)[1]
