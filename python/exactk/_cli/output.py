"""What leaves the program: text on its two streams, and files."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from exactk import EvaluationWarning
from exactk._report.display import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def print_text(text: str) -> None:
    """Write to stdout. Names in the text cannot command a terminal, and a reader who has gone is no error."""
    if sys.stdout is None:  # closed from the beginning
        return
    if sys.stdout.isatty():
        text = "\n".join(map(printable, text.split("\n")))
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What could not be written would be tried again when the process ends.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def print_message(kind: str, text: str) -> None:
    """Write one line to stderr."""
    if sys.stderr is not None:
        sys.stderr.write(f"exactk: {kind}: {printable(text)}\n")


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show each of the package's warnings as a line."""
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
            if issubclass(category, EvaluationWarning):
                print_message("warning", str(message))
            else:
                showwarning(message, category, filename, lineno, file, line)

        warnings.showwarning = show_warning
        yield


def write_file(path: Path, data: bytes) -> None:
    """Write the file whole or not at all: whoever reads it meanwhile, or after a crash, sees the old one or the new."""
    if path.exists() and not path.is_file():  # such as a pipe, which a file must not replace
        path.write_bytes(data)
        return
    path = path.resolve()  # a link stays one
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Have the new name of a file outlive a crash, where folders can be synchronized."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
