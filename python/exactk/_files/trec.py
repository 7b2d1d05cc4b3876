"""Files of TREC: qrels and runs. The core parses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk import _core
from exactk._files.text import DECOMPRESSION_ERRORS, open_bytes

if TYPE_CHECKING:
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
