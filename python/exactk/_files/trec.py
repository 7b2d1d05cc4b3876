"""Files of TREC: qrels and runs. The core parses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._files.text import DECOMPRESSION_ERRORS, open_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._files.faults import File

_FORMATS = {"truth": "qrels", "predictions": "run", "exclude": None}  # None: either
_CHUNK_SIZE = 1 << 20  # bytes


def read_columns(file: File) -> tuple[Any, ...]:
    """Return queries and documents, each as offsets and bytes, and their grades or scores."""
    with file.translate_errors("a whole file", *DECOMPRESSION_ERRORS), open_bytes(file) as stream:
        parsed = _core.read_trec(_FORMATS[file.role], lambda: stream.read(_CHUNK_SIZE))
    if isinstance(parsed, _core.LineFault):
        raise file.line_fault(parsed.expected, parsed.found, parsed.line, parsed.text)
    return parsed


def concatenate(files: Sequence[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """Return the columns of all files as `read_columns` returns those of one."""
    query_offsets, queries, document_offsets, documents, numbers = zip(*files, strict=True)
    return (
        _concatenate_offsets(query_offsets),
        np.concatenate(queries),
        _concatenate_offsets(document_offsets),
        np.concatenate(documents),
        np.concatenate(numbers),
    )


def _concatenate_offsets(parts: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    sizes = np.concatenate([np.diff(offsets) for offsets in parts])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
