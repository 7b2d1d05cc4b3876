"""The command line: one module per command, whose `add_...` function adds its parser and the function that runs it."""

from __future__ import annotations

import argparse
import io
import sys
import traceback
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from exactk import ExactkError, __version__
from exactk._cli.doctor import add_doctor
from exactk._cli.evaluate import add_compare, add_evaluate
from exactk._cli.hints import as_command_option
from exactk._cli.listings import add_listings
from exactk._cli.merge import add_merge
from exactk._cli.output import flush_streams, print_message, print_text, print_to_stderr, warnings_as_lines
from exactk._cli.stdin import StandardInput
from exactk._cli.topk import add_topk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import SupportsWrite

    from exactk._cli.arguments import Commands

COMMANDS = (add_evaluate, add_compare, add_merge, add_topk, add_listings, add_doctor)

_OPTIONS = {"convention": "--set", "num_threads": "--threads", "k": "-k"}
"""The options that set an argument, for messages."""

_BUG = 70  # EX_SOFTWARE of sysexits.h


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 for success; 1 if a value is below ``--min`` or above ``--max``; 2 if the input is invalid or an output cannot be
    written; 70 after an internal error; 130 after Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # escape names that the encoding lacks
    code = _exit_code(lambda: _run(argv))
    return _exit_code(flush_streams) or code


def _run(argv: Sequence[str] | None) -> int:
    parser = command_parser()
    words = sys.argv[1:] if argv is None else argv
    arguments = parser.parse_args(words)
    arguments.command_line = [parser.prog, *words]
    if arguments.command is None:
        print_text(parser.format_help())
        return 0
    with warnings_as_lines(), StandardInput() as arguments.stdin:
        code: int = arguments.run(arguments)
    return code


def _exit_code(action: Callable[[], int | None]) -> int:
    """Return the exit code of an action, or of the error that it raised, which is printed."""
    try:
        return action() or 0
    except SystemExit as ended:  # argparse has already printed
        return int(ended.code or 0)
    except KeyboardInterrupt:
        return 130
    except (ExactkError, OSError, ImportError, MemoryError) as error:
        with suppress(OSError):  # stderr is full
            print_message("error", _error_text(error))
        return 2
    except Exception:  # noqa: BLE001 - whatever it is, its exit code is not that of --min
        with suppress(OSError):
            traceback.print_exc()
            print_message("error", "this is a bug in exactk: please report it with the output of exactk doctor")
        return _BUG


class _Parser(argparse.ArgumentParser):
    """A parser that prints as the commands do: argparse itself ignores errors when writing."""

    def error(self, message: str) -> NoReturn:
        print_message("error", f"{message}; see {self.prog} --help")
        raise SystemExit(2)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if file is sys.stdout:
            print_text(message)
        else:
            print_to_stderr(message)


def command_parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets `run`, a function from the arguments to the exit code."""
    parser = _Parser(prog="exactk", description="Ranking and recommendation metrics.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands: Commands = parser.add_subparsers(dest="command", metavar="command", parser_class=_Parser)
    for add in COMMANDS:
        add(commands)
    return parser


def _error_text(error: BaseException) -> str:
    """Return the text of an error, with its notes on where it came from."""
    text = str(error)
    if isinstance(error, ExactkError):
        argument = error.fault.argument
        text = replace(error.fault, argument=_OPTIONS.get(argument, argument)).message(as_command_option)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    return "; ".join([text or "there is not enough memory", *getattr(error, "__notes__", ())])
