"""Output to stdout and stderr, with hints of the library rewritten as command-line options."""

from __future__ import annotations

import io
import os
import shlex
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO, get_args

from exactk import EvaluationWarning
from exactk._report.gate import Claim
from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactk._runtime.faults import Option


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
