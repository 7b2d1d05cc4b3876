"""The command line. A command is one module: its `add_...` describes it to argparse, with the function that runs it."""

from __future__ import annotations

import argparse
import io
import sys
from typing import TYPE_CHECKING

from exactk import ExactkError, __version__
from exactk._cli.doctor import add_doctor
from exactk._cli.evaluate import add_evaluate
from exactk._cli.listings import add_listings
from exactk._cli.merge import add_merge
from exactk._cli.output import print_message, print_text, warnings_as_lines
from exactk._cli.topk import add_topk

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (add_evaluate, add_merge, add_topk, add_listings, add_doctor)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    It is 0, or 1 where a value is below what ``--min`` asks for, or 2 where the input is at fault, or 130 after Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that its encoding lacks is no reason to stop
    parser = command_parser()
    try:
        arguments = parser.parse_args(argv)
        if arguments.command is None:
            print_text(parser.format_help())
            return 0
        with warnings_as_lines():
            code: int = arguments.run(arguments)
    except KeyboardInterrupt:
        return 130
    except (ExactkError, OSError, ImportError, MemoryError) as error:
        print_message("error", _error_text(error))
        return 2
    finally:
        print_text("")  # what argparse printed may have met a closed pipe
    return code


def command_parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets `run`, a function from the arguments to the exit code."""
    parser = argparse.ArgumentParser(
        prog="exactk", description="Metrics of rankings and recommendations.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    for add in COMMANDS:
        add(commands)
    return parser


def _error_text(error: BaseException) -> str:
    """Return what an error says, and the notes of where it came from."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    return "; ".join([text or "there is not enough memory", *getattr(error, "__notes__", ())])
