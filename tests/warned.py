"""What a call warns of."""

from __future__ import annotations

import re
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


def without_examples(text: str) -> str:
    """Return a warning without examples of users and items, which only what is kept can give."""
    return re.sub(r" \(such as [^)]*\)", "", text)


def warnings_of(call: Callable[[], object]) -> list[str]:
    return result_and_warnings(call)[1]
