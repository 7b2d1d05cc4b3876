"""Files of states: found, read and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import exactk
from exactk._cli.stdin import STDIN
from exactk._files.file_errors import File
from exactk._report.state import STATE_PREFIX
from exactk._runtime.errors import ExactkError, input_error

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_MAX_STATE = 1 << 28  # bytes; a state has a few hundred bytes per value, for any number of users


def find_states(paths: Iterable[Path]) -> list[Path]:
    """Return the files, and those of directories: all but hidden ones, which a killed run may leave, sorted by name.

    Raises
    ------
    InputError
        If a folder has no files, or something else, such as a pipe that nobody may write.
    """
    return [file for path in paths for file in (files_of_folder(path) if _is_folder(path) else [path])]


def _is_folder(path: Path) -> bool:
    return path != STDIN and path.is_dir()


def files_of_folder(folder: Path) -> list[Path]:
    """Return the files of a folder but hidden ones, sorted by name; raise InputError if there are none."""
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if not paths:
        raise input_error("states", "a folder with states", f"{str(folder)!r}, which has no files")
    for path in paths:
        File(path, "states").check_kind(pipes=False)
    return paths


def is_state(path: Path) -> bool:
    """Return whether a file begins as a state, which may be damaged."""
    with path.open("rb") as stream:
        return stream.read(len(STATE_PREFIX)) == STATE_PREFIX


def read_state(path: Path) -> exactk.State:
    """Return the state of a file. Raise InputError, which names the file, if it is damaged or of another kind."""
    file = File(path, "states")
    file.check_kind(pipes=True)
    with path.open("rb") as stream:
        data = stream.read(_MAX_STATE + 1)
    if len(data) > _MAX_STATE:
        raise file.fault(f"a state of at most {_MAX_STATE} bytes", "more")
    try:
        return exactk.State.from_bytes(data)
    except ExactkError as error:
        if not data.startswith(STATE_PREFIX):
            found = f"a file that begins with {data[:16]!r}" if data else "an empty file"
            raise file.fault("a state file", found, "exactk evaluate --state FILE writes one") from None
        hint = error.fault.hint or ("evaluate these users again, or copy the file again",)
        raise error.amended(source=str(path), hint=hint) from None
