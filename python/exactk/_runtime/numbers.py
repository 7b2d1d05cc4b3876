"""Numbers in text, in the syntax of cpp/include/exactk/number_syntax.hpp: files, metric strings, the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


def parse_number(text: str) -> float | None:
    """Return the number in the text, or None."""
    return _core.parse_number(text) if text.isascii() else None


def parse_numbers(texts: Any) -> NDArray[np.float64] | None:  # noqa: ANN401 - pyarrow has no types
    """Return the numbers in an array of strings, or None if any string is not a number."""
    if not len(texts):
        return np.zeros(0)
    _, offsets, data = texts.buffers()
    text_offsets = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return _core.parse_numbers(text_offsets, np.frombuffer(data or b"", np.uint8))
