"""The names of systems that are files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_PACKED = frozenset({".gz", ".bz2", ".xz", ".zst"})


def name_systems(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the files by the shortest name of each that no other has: its stem, or as much of its path as it takes."""
    candidate_names = {path: list(dict.fromkeys(_candidate_names(path))) for path in paths}
    if len(candidate_names) < len(paths):
        repeated = next(path for path, count in Counter(paths).items() if count > 1)
        raise input_error("predictions", "each file once", f"{str(repeated)!r} twice")
    name_counts = Counter(name for file_names in candidate_names.values() for name in file_names)
    return {
        next((name for name in file_names if name_counts[name] == 1), str(path)): path
        for path, file_names in candidate_names.items()
    }


def _candidate_names(path: Path) -> Iterator[str]:
    """Yield the names that a file may go by, the shortest first."""
    parts = path.absolute().parts
    for last in (_stem(path), path.name):
        for depth in range(len(parts) - 1):
            name = "/".join([*parts[len(parts) - 1 - depth : -1], last])
            yield name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _stem(path: Path) -> str:
    name = path.stem if path.suffix.lower() in _PACKED else path.name
    return name.rpartition(".")[0] or name
