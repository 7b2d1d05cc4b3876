"""The formats of files, by ending."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from exactk._files.columnar import Ipc, Parquet
from exactk._files.file_errors import COMPRESSIONS
from exactk._files.json_files import JsonLines
from exactk._files.separated import Separated

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._files.file_errors import File
    from exactk._files.source import Source

TREC, ARCHIVE, JSON, JSON_LINES = "TREC text", ".npz", "JSON", "JSON lines"
_FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".json": JSON,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".inter": "TSV",
    ".parquet": "Parquet",
    ".arrow": "Arrow IPC",
    ".feather": "Arrow IPC",
    ".ipc": "Arrow IPC",
    ".npz": ARCHIVE,
}
TEXT = frozenset({TREC, "CSV", "TSV"})
"""Formats whose files may be text with separators, whatever their ending says."""
_BINARY_FORMATS = {"Parquet", "Arrow IPC", ARCHIVE}

COLUMN_SOURCES: dict[str, Callable[[File], Source]] = {
    "CSV": lambda file: Separated(file, ","),
    "TSV": lambda file: Separated(file, "\t"),
    JSON_LINES: JsonLines,
    "Parquet": Parquet,
    "Arrow IPC": Ipc,
}
"""What reads the formats with named columns."""


# Endings of files that are surely no text of TREC.
_OTHER_ENDINGS = frozenset({
    ".7z", ".avro", ".db", ".doc", ".docx", ".duckdb", ".h5", ".hdf5", ".html", ".joblib", ".lz4", ".mat",
    ".npy", ".ods", ".orc", ".pdf", ".pickle", ".pkl", ".pt", ".pth", ".rar", ".rda", ".rdata", ".rds",
    ".safetensors", ".sqlite", ".sqlite3", ".tar", ".tgz", ".xls", ".xlsx", ".xml", ".yaml", ".yml", ".zip",
})  # fmt: skip
_TREC_ENDINGS = frozenset({"", ".qrel", ".qrels", ".run", ".trec"})


def format_of(file: File) -> str:
    """Return the name of the format that the file's ending selects. Raise InputError for endings of other formats."""
    ending = _ending(file)
    name = _FORMATS.get(ending, TREC)
    if ending in _OTHER_ENDINGS or (file.is_compressed and name in _BINARY_FORMATS):
        found = f"the ending {ending}{file.path.suffix.lower()}" if file.is_compressed else f"the ending {ending}"
        raise file.fault(f"a file of a format that exactk reads ({_endings()})", found)
    return name


def ending_hint(file: File) -> str:
    """Return that a file without an ending of TREC files is read as one, for a fault in its first line."""
    ending = _ending(file)
    return "" if ending in _TREC_ENDINGS else f"the ending selects the format: {_endings()}"


def _ending(file: File) -> str:
    return (Path(file.path.stem) if file.is_compressed else file.path).suffix.lower()


def _endings() -> str:
    text = [ending for ending, name in _FORMATS.items() if name not in _BINARY_FORMATS]
    binary = [ending for ending, name in _FORMATS.items() if name in _BINARY_FORMATS]
    return f"{', '.join(text)}, each also with {' or '.join(COMPRESSIONS)}; {', '.join(binary)}; any other ending for TREC text"


def is_trec(file: File) -> bool:
    """Return whether a file is read as TREC text, the format of every unknown ending."""
    return format_of(file) == TREC
