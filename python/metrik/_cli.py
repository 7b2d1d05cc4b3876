from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from metrik import MetrikError, __version__
from metrik._versions import described

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, or 2 where the input is at fault."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 0
    try:
        output: str = arguments.run(arguments)
    except MetrikError as error:
        sys.stderr.write(f"{parser.prog}: error: {error}\n")
        return 2
    sys.stdout.write(output)
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets `run`, a function from the arguments to what is printed."""
    parser = argparse.ArgumentParser(prog="metrik", description="Metrics of rankings and recommendations.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")

    summary = "compare two recommenders on synthetic ratings, or on yours"
    demo = commands.add_parser("demo", help=summary, description=summary.capitalize() + ".")
    demo.add_argument(
        "ratings",
        nargs="?",
        metavar="ratings.csv",
        help="a file in MovieLens's format, with the columns userId, movieId, rating and timestamp",
    )
    demo.set_defaults(run=_demo)
    versions = commands.add_parser("versions", help="print what a report of a bug needs")
    versions.set_defaults(run=lambda _: described())
    return parser


def _demo(arguments: argparse.Namespace) -> str:
    from metrik import _demo as demo  # noqa: PLC0415 - no other command needs it

    return demo.run(arguments.ratings).describe()
