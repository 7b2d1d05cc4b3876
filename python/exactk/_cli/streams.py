"""Standard input, output and error, and the files that commands write."""

from __future__ import annotations

import hashlib
import io
import os
import shlex
import stat
import sys
import tempfile
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO, TypeAlias, get_args

from exactk import EvaluationWarning
from exactk._report.verdicts import Claim
from exactk._runtime.errors import ExactkError, input_error
from exactk._runtime.texts import printable
from exactk._runtime.written_files import check_replaceable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Self

    from exactk._runtime.faults import Option


STDIN = Path("/dev/stdin")
_CHUNK_SIZE = 1 << 20  # bytes


def input_path(text: str) -> Path:
    """Return the path of an input file, which ``-`` is for stdin."""
    return STDIN if text == "-" else Path(text)


def path_text(path: Path) -> str:
    """Return the path as it is written on the command line."""
    return "-" if path == STDIN else str(path)


class StandardInput:
    """Standard input, read at most once, into a file without a name. Use as a context manager."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._sha256 = hashlib.sha256()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def sha256(self) -> str:
        """The digest of what was read."""
        return self._sha256.hexdigest()

    @contextmanager
    def opened(self, path: Path) -> Iterator[Path]:
        """Return the path to read: that of the content for stdin, which errors then name; other paths as they are."""
        if path != STDIN:
            yield path
            return
        content = self._content()
        try:
            yield content
        except ExactkError as error:
            raise error.amended(source="stdin") from None

    def _content(self) -> Path:
        if self._file is None:
            self._file = self._read()
        self._file.seek(0)  # where a descriptor is duplicated, and not opened again
        return Path(f"/dev/fd/{self._file.fileno()}")

    def _read(self) -> IO[bytes]:
        if sys.stdin is None:
            raise input_error("stdin", "an open stream", "a closed one")
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        while chunk := sys.stdin.buffer.read(_CHUNK_SIZE):
            self._sha256.update(chunk)
            file.write(chunk)
        file.flush()
        return file


_CONVENTION_FIELDS = ("ties", "nan", "score_dtype")  # keywords of functions such as topk
_SAME_NAME = (
    "user", "item", "score", "rank", "grade", "baseline", "confidence", "test", "interval", "missing", "permutations", "resamples",
)  # fmt: skip


def as_command_option(option: Option) -> str:
    """Return the hint as a command-line option, such as ``--set nan=last``; the keyword itself if there is no such option."""
    name, value = option.name, option.value
    if name == "convention" and isinstance(value, dict):
        return " ".join(_change_option(field, change) for field, change in value.items())
    if name in _CONVENTION_FIELDS:
        return _change_option(name, value)
    if name == "text_ids":
        return "--text-ids"
    if name in get_args(Claim) and isinstance(value, dict):  # the margin of each metric
        return " ".join(f"--{name.replace('_', '-')} {shlex.quote(f'{metric}={one}')}" for metric, one in value.items())
    if name == "metrics":
        return f"-m {shlex.quote(str(value))}"
    return f"--{name} {shlex.quote(str(value))}" if name in _SAME_NAME else option.shell or str(option)


def _change_option(field: str, value: object) -> str:
    if field == "base":
        return f"--convention {shlex.quote(str(value))}"
    text = f"[{','.join(map(str, value))}]" if isinstance(value, (list, tuple)) else str(value)
    return f"--set {shlex.quote(f'{field}={text}')}"


def print_text(text: str, *, is_data: bool = False) -> None:
    """Write to stdout. Control characters in names are escaped, and a closed pipe is not an error.

    Data, which programs read, is UTF-8 whatever the terminal's encoding.
    """
    stream = sys.stdout
    if stream is None:  # closed from the beginning
        return
    is_terminal = stream.isatty()
    if is_terminal:
        text = "\n".join(map(printable, text.split("\n")))
    with _abandon_on_error(stream, "stdout"):
        if is_data and not is_terminal and isinstance(stream, io.TextIOWrapper):
            stream.flush()
            stream.buffer.write(text.encode("utf-8", "surrogateescape"))
        else:
            stream.write(text)
        stream.flush()


def print_message(kind: str, text: str) -> None:
    """Print one line to stderr."""
    print_to_stderr(f"exactk: {kind}: {printable(text)}\n")


def print_to_stderr(text: str) -> None:
    """Print to stderr, which may be closed."""
    if sys.stderr is not None:
        with _abandon_on_error(sys.stderr, "stderr"):
            sys.stderr.write(text)
            sys.stderr.flush()


def flush_streams() -> None:
    """Flush buffered text of other modules, such as argparse."""
    for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
        if stream is not None:
            with _abandon_on_error(stream, name):
                stream.flush()


@contextmanager
def _abandon_on_error(stream: TextIO, name: str) -> Iterator[None]:
    """Name the stream in an error, and write no more to it: Python would try again when the process ends."""
    try:
        yield
    except OSError as error:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OSError(error.errno, error.strerror, name) from error


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each warning of the package as one line, and the same line once, whatever the number of files."""
    printed: set[str] = set()

    def print_once(text: str) -> None:
        if text not in printed:
            printed.add(text)
            print_message("warning", text)

    with warnings.catch_warnings():
        warnings.simplefilter("always", EvaluationWarning)
        showwarning = warnings.showwarning

        def show_warning(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if isinstance(message, EvaluationWarning):
                print_once(message.message(as_command_option))
            elif issubclass(category, EvaluationWarning):
                print_once(str(message))
            else:
                showwarning(message, category, filename, lineno, file, line)

        warnings.showwarning = show_warning
        yield


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
