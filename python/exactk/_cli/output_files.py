"""Output files: checked before anything is computed, and written without ever losing the old content.

A file is replaced as a whole, so that readers, even after a crash, see either the old or the new one. Files that cannot
be replaced without loss are refused: files with several hard links, read-only files, and files of another owner or of a
group that the user is not in. Devices, pipes and file descriptors, such as /dev/stdout, are written in place.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_DESCRIPTOR = re.compile(r"(?:/proc/(?:self|thread-self|\d+(?:/task/\d+)?)/fd|/dev/fd)/(\d+)")
_MAX_LINKS = 40
_STDOUT = 1

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
        _check_replaceable(option, path)
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


def _check_replaceable(option: str, path: Path) -> None:
    """Raise InputError if replacing the file would lose more than its content."""
    if _descriptor(path) is not None:
        return
    target = path.resolve()
    try:
        status = target.stat()
    except FileNotFoundError:
        status = None
    if status is not None and not os.access(target, os.W_OK):
        raise input_error(option, "a file that may be written", f"{str(path)!r}, which is read-only")
    if status is not None and not stat.S_ISREG(status.st_mode):
        return
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise input_error(option, "a file in a folder that may be written", repr(str(path)))
    if status is None:
        return
    if status.st_nlink > 1:
        found = f"{str(path)!r}, which has {status.st_nlink} hard links"
        raise input_error(option, "a file with one name, because it is replaced as a whole", found)
    if status.st_uid != os.geteuid() != 0:
        raise input_error(option, "a file of this user, because it is replaced as a whole", repr(str(path)))
    if os.geteuid() != 0 and status.st_gid not in {os.getegid(), *os.getgroups()}:
        raise input_error(
            option, "a file of one of this user's groups, because it is replaced as a whole", repr(str(path))
        )


def write_file(path: Path, data: bytes, prefix: str = ".exactk-") -> None:
    """Write the file whole or not at all; devices, pipes and descriptors of this process are written in place.

    Until it is whole, it has a hidden name with this prefix, which a kill may leave.
    """
    descriptor = _descriptor(path)
    if descriptor is not None:
        if sys.stdout is not None:
            sys.stdout.flush()
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            stream.write(data)
        return
    target = path.resolve()  # a link stays one
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    _replace_file(target, data, prefix)


def _descriptor(path: Path) -> int | None:
    """Return the descriptor that the path names, perhaps through links, as /dev/stdout does; None for other paths."""
    name = path.absolute()
    for _ in range(_MAX_LINKS):
        name = name.parent.resolve() / name.name
        if match := _DESCRIPTOR.fullmatch(str(name)):
            return int(match[1])
        if not name.is_symlink():
            break
        name = name.parent / name.readlink()
    return None


def _replace_file(target: Path, data: bytes, prefix: str) -> None:
    """Put a new file with the mode, owner and extended attributes of the old one in its place."""
    descriptor, temporary = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _copy_attributes(target, descriptor)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _copy_attributes(source: Path, descriptor: int) -> None:
    """Copy mode, owner and extended attributes of the old file, or set the mode of a new one."""
    try:
        status = source.stat()
    except FileNotFoundError:
        os.fchmod(descriptor, 0o666 & ~_umask())
        return
    if hasattr(os, "listxattr"):
        for name in _names_of_attributes(source):
            with suppress(OSError):  # some can only be set by the system
                os.setxattr(descriptor, name, os.getxattr(source, name))
    created = os.fstat(descriptor)
    if (created.st_uid, created.st_gid) != (status.st_uid, status.st_gid):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))  # after the owner, whose change clears some bits


def _names_of_attributes(source: Path) -> list[str]:
    try:
        return os.listxattr(source)
    except OSError:  # the file system has none
        return []


def _umask() -> int:
    """Return the umask. The only way to read it is to set it."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _sync_folder(folder: Path) -> None:
    """Make a file's new name survive a crash, where folders can be synchronized."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
