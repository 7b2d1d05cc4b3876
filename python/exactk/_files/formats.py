"""The formats of files, by ending."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from exactk._files.columnar import Ipc, Parquet
from exactk._files.json_lines import JsonLines
from exactk._files.separated import Separated

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._files.faults import File
    from exactk._files.source import Source

TREC, ARCHIVE = "TREC text", ".npz"
_FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".parquet": "Parquet",
    ".arrow": "Arrow IPC",
    ".feather": "Arrow IPC",
    ".ipc": "Arrow IPC",
    ".npz": ARCHIVE,
}
_BINARY_FORMATS = {"Parquet", "Arrow IPC", ARCHIVE}

COLUMN_SOURCES: dict[str, Callable[[File], Source]] = {
    "CSV": lambda file: Separated(file, ","),
    "TSV": lambda file: Separated(file, "\t"),
    "JSON lines": JsonLines,
    "Parquet": Parquet,
    "Arrow IPC": Ipc,
}
"""What reads the formats with named columns."""


def format_of(file: File) -> str:
    """Return the name of the format that the file's ending selects."""
    suffix = (Path(file.path.stem) if file.is_compressed else file.path).suffix.lower()
    name = _FORMATS.get(suffix, TREC)
    return TREC if file.is_compressed and name in _BINARY_FORMATS else name


def is_trec(file: File) -> bool:
    """Return whether a file is read as TREC text, the format of every unknown ending."""
    return format_of(file) == TREC
