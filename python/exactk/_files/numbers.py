"""How numbers are written in text: the one syntax, of files and of the command line.

An optional sign, digits with an optional fraction, and an optional exponent; or ``inf``, ``infinity`` or ``nan`` in
upper or lower case. Blanks may stand around it. A number that float64 cannot hold is none: `1e400` is not infinite,
`1e-400` is not 0, and an integer beyond 2^53 is not rounded to its neighbour. The core defines it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


def parse_number(text: str) -> float | None:
    """Return the number that the text is, or None."""
    return _core.parse_number(text) if text.isascii() else None


def parse_numbers(texts: Any) -> NDArray[np.float64] | None:  # noqa: ANN401 - pyarrow has no types
    """Return the numbers that an array of strings is, or None if one is no number."""
    if not len(texts):
        return np.zeros(0)
    _, offsets, data = texts.buffers()
    text_offsets = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return _core.parse_numbers(text_offsets, np.frombuffer(data or b"", np.uint8))
