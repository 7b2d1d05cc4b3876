"""Numbers in text, in the syntax of cpp/include/exactk/number_syntax.hpp: files, metric strings, the command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS = 4
"""The digits after the point of numbers in tables."""


def as_double(number: Any) -> float:  # noqa: ANN401 - any of numbers.Real
    """Return the number as a double; infinite if it is an integer beyond the range of doubles."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def parse_number(text: str) -> float | None:
    """Return the number in the text, or None."""
    return _core.parse_number(text) if text.isascii() else None


def parse_numbers(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """Return the numbers in fewer than 2^31 bytes of concatenated strings, or None if any string is not a number."""
    return _core.parse_numbers(offsets.astype(np.int32), data)
