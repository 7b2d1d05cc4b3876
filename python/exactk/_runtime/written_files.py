"""Files that are written by path: whole or not at all, without ever losing the old content.

A file is replaced as a whole, so that readers, even after a crash, see either the old or the new one. Files that cannot
be replaced without loss are refused: files with several hard links, read-only files, and files of another owner or of a
group that the user is not in. A symbolic link stays one, and the file that it names is replaced. Devices, pipes and file
descriptors, such as /dev/stdout, are written in place.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Iterator

_DESCRIPTOR = re.compile(r"(?:/proc/(self|thread-self|\d+)(?:/task/\d+)?/fd|/dev/fd)/(\d+)")
_MAX_LINKS = 40


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file whole or not at all; devices, pipes and descriptors of this process are written in place.

    Raises
    ------
    InputError
        If replacing the file would lose more than its content.
    OSError
        If the file cannot be written, for example on a full disk. It names the file.
    """
    path = Path(path)
    with _naming(path):
        descriptor = _descriptor(path)
        target = path.resolve()  # a link stays one
        if descriptor is not None:
            if sys.stdout is not None:
                sys.stdout.flush()
            with os.fdopen(descriptor, "wb", closefd=False) as stream:
                stream.write(data)
        elif target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            check_replaceable("path", path)
            replace_file(target, data)


def check_replaceable(argument: str, path: Path) -> None:
    """Raise InputError if replacing the file would lose more than its content; OSError if it has no folder."""
    if _descriptor(path) is not None:
        return
    target = path.resolve()
    try:
        status = target.stat()
    except FileNotFoundError:
        status = None
    if status is not None and not os.access(target, os.W_OK):
        raise input_error(argument, "a file that may be written", f"{str(path)!r}, which is read-only")
    if status is not None and not stat.S_ISREG(status.st_mode):
        return
    target.parent.stat()
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise input_error(argument, "a file in a folder that may be written", repr(str(path)))
    if status is None:
        return
    if status.st_nlink > 1:
        found = f"{str(path)!r}, which has {status.st_nlink} hard links"
        raise input_error(argument, "a file with one name, because it is replaced as a whole", found)
    if status.st_uid != os.geteuid() != 0:
        raise input_error(argument, "a file of this user, because it is replaced as a whole", repr(str(path)))
    if os.geteuid() != 0 and status.st_gid not in {os.getegid(), *os.getgroups()}:
        raise input_error(
            argument, "a file of one of this user's groups, because it is replaced as a whole", repr(str(path))
        )


def replace_file(target: Path, data: bytes, prefix: str = ".exactk-") -> None:
    """Put a new file with the mode, owner and extended attributes of the old one in its place, even in that of a link.

    Until it is whole, it has a hidden name with this prefix, which a kill may leave.
    """
    temporary = target.with_name(f"{prefix}{os.urandom(8).hex()}.tmp")
    mode = 0o600 if target.exists() else 0o666  # nobody else may open it before it has the mode of the old file
    with _naming(target):
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                _copy_attributes(target, file.fileno())
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in an error of the system, rather than a temporary one or none."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # of exactk
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _descriptor(path: Path) -> int | None:
    """Return the descriptor of this process that the path names, perhaps through links, as /dev/stdout does."""
    name = path.absolute()
    for _ in range(_MAX_LINKS):
        name = name.parent.resolve() / name.name
        if match := _DESCRIPTOR.fullmatch(str(name)):
            return int(match[2]) if (match[1] or "self") in {"self", "thread-self", str(os.getpid())} else None
        if not name.is_symlink():
            break
        name = name.parent / name.readlink()
    return None


def _copy_attributes(source: Path, descriptor: int) -> None:
    """Copy mode, owner and extended attributes of the old file, if there is one."""
    try:
        status = source.stat()
    except FileNotFoundError:
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


def _sync_folder(folder: Path) -> None:
    """Make a file's new name survive a crash, where folders can be synchronized."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
