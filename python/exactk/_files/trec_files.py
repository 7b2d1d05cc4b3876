"""TREC files, qrels and runs, parsed by the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._files import forms
from exactk._files.formats import TREC, ending_hint
from exactk._files.text import DECOMPRESSION_ERRORS, open_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._files.file_errors import File


_FORMATS = {
    "truth": "qrels",
    "predictions": "run",
    "exclude": None,
    "scores": "run",
    "candidates": None,
}  # None: either
_CHUNK_SIZE = 1 << 20  # bytes


class TrecColumns(NamedTuple):
    """Queries and documents, each as offsets and bytes, and their grades or scores."""

    query_offsets: NDArray[np.int64]
    queries: NDArray[np.uint8]
    document_offsets: NDArray[np.int64]
    documents: NDArray[np.uint8]
    numbers: NDArray[np.float64]


def read_columns(file: File, form: str | None = None) -> _core.TrecColumns:
    """Return the columns of a file, of the form in which it was said to be."""
    with file.translate_errors("a whole file", *DECOMPRESSION_ERRORS), open_bytes(file) as stream:
        parsed = _core.read_trec(form or _FORMATS[file.role], lambda: stream.read(_CHUNK_SIZE))
    if isinstance(parsed, _core.LineFault):
        hints = forms.blanks_hint(file, parsed.text), ending_hint(file) if parsed.line == 1 else ""
        hint = forms.advice(file, TREC) or "; ".join(filter(None, hints))
        raise file.line_fault(parsed.expected, parsed.found, parsed.line, parsed.text, hint)
    forms.check_trec(file, parsed, is_named=form is not None)
    return parsed


def concatenate(files: Sequence[_core.TrecColumns]) -> TrecColumns:
    """Return the columns of all files."""
    return TrecColumns(
        _concatenate_offsets([file.query_offsets for file in files]),
        np.concatenate([file.queries for file in files]),
        _concatenate_offsets([file.document_offsets for file in files]),
        np.concatenate([file.documents for file in files]),
        np.concatenate([file.numbers for file in files]),
    )


def _concatenate_offsets(parts: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    sizes = np.concatenate([np.diff(offsets) for offsets in parts])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
