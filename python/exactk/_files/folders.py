"""The files of one system's predictions, which a folder or a pattern names."""

from __future__ import annotations

import os
import shlex
from glob import escape, glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exactk._files.file_errors import File


def parts_of(file: File) -> list[File]:
    """Return the files of predictions at a path, which may be of a folder or a pattern; the file for another argument."""
    paths = files_of_text(str(file.path)) if file.role == "predictions" else [file.path]
    return [file] if paths == [file.path] else [file._replace(path=path, whole=file.path) for path in paths]


def files_of_text(text: str) -> list[Path]:
    """Return the files that a path or a pattern names; a missing path is refused when it is read."""
    path, matches = Path(text), files_of_pattern(text)
    if os.path.lexists(text):
        if [match for match in matches if match != path]:
            hint = f"{shlex.quote(escape(text))} selects only the path"
            found = f"{text!r}, which is a path and a pattern"
            raise input_error("predictions", "either a path or a pattern", found, hint=hint)
        return _files_of_directory(path) if path.is_dir() else [path]
    if not has_magic(text):
        return [path]
    if not matches:
        raise input_error("predictions", "a pattern that matches files", f"{text!r}, which matches none")
    _check_no_directory(matches)
    return matches


def files_of_pattern(pattern: str) -> list[Path]:
    """Return the parts that match the pattern, sorted by name; none for a plain path. Wildcards skip hidden files."""
    if not has_magic(pattern):
        return []
    return [path for path in sorted(map(Path, glob(pattern, recursive=True))) if _is_part(path)]  # noqa: PTH207 - hides files


def _files_of_directory(directory: Path) -> list[Path]:
    paths = [path for path in sorted(directory.iterdir()) if not path.name.startswith(".") and _is_part(path)]
    if not paths:
        raise input_error("predictions", "a directory with files that have rows", f"{str(directory)!r}, which has none")
    _check_no_directory(paths)
    return paths


def _is_part(path: Path) -> bool:
    """Return whether a file may have rows: Spark leaves checksums, ``_SUCCESS``, and empty parts of CSV."""
    is_empty = path.is_file() and path.stat().st_size == 0
    return not is_empty and path.suffix != ".crc"


def _check_no_directory(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir():
            hint = f"a quoted pattern such as {shlex.quote(escape(str(path)) + '/*')} selects its files"
            raise input_error("predictions", "files", f"the directory {str(path)!r}", hint=hint)
