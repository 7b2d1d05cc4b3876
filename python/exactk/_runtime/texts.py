"""Text that users write: names, numbers in the syntax of cpp/include/exactk/number_syntax.hpp, control characters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def fold(name: str) -> str:
    """Return what spellings of one name have in common."""
    return name.lower().replace("-", "").replace("_", "")


def did_you_mean(name: object, names: Iterable[str | int]) -> str:
    """Return a hint with the most similar name, which may be an integer label, or an empty string."""
    by_text = {str(one): one for one in names}
    similar = similar_name(str(name), by_text)
    return "" if similar is None else f"did you mean {by_text[similar]!r}?"


def similar_name(name: str, names: Iterable[str], least: float = 0.6) -> str | None:
    """Return the most similar name; None if all are less similar, from 0 to 1."""
    import difflib

    by_folded_name = {fold(one): one for one in names}
    folded = fold(name)
    swapped = [one for one in by_folded_name if sorted(one) == sorted(folded)]  # difflib thinks little of ngcd for ndcg
    close = swapped or difflib.get_close_matches(folded, by_folded_name, n=1, cutoff=least)
    return by_folded_name[close[0]] if close else None


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


def printable(text: str) -> str:
    r"""Return the text with control characters escaped as Python escapes them."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
