"""Output files, checked before anything is computed."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from exactk._runtime.errors import input_error
from exactk._runtime.written_files import check_replaceable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

Identity: TypeAlias = tuple[int, int, str]
"""Device and inode of a file; for a file that does not exist, those of its folder, and its name."""


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[Path], *, prints: bool = True) -> None:
    """Raise InputError if an output cannot be written, or is also another output, an input or stdout.

    ``outputs`` maps options to paths. ``prints`` is whether the command also writes to stdout.
    """
    occupied = {identity: f"{str(path)!r} is read" for path in inputs for identity in file_identities(path)}
    if prints and (printed := _identity_of_stdout()) is not None:
        if printed in occupied:
            raise input_error("stdout", "a file other than the inputs", occupied[printed])
        occupied[printed] = "stdout is written to it"
    for option, path in outputs.items():
        if path is None:
            continue
        check_replaceable(option, path)
        for identity in file_identities(path):
            if identity in occupied:
                raise input_error(option, "a file without another use", f"{str(path)!r}: {occupied[identity]}")
            occupied[identity] = f"{option} writes it"


def file_identities(path: Path) -> Iterator[Identity]:
    """Yield the identity of the path's file, with links resolved; nothing for devices and inaccessible files."""
    with suppress(OSError, RuntimeError):  # RuntimeError: circular links
        try:
            status = path.stat()
        except FileNotFoundError:
            target = path.resolve()
            folder = target.parent.stat()
            yield folder.st_dev, folder.st_ino, target.name
        else:
            if not stat.S_ISCHR(status.st_mode):
                yield status.st_dev, status.st_ino, ""


def _identity_of_stdout() -> Identity | None:
    if sys.stdout is None:
        return None
    try:
        status = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError):  # not a file, for example if captured
        return None
    return None if stat.S_ISCHR(status.st_mode) else (status.st_dev, status.st_ino, "")
