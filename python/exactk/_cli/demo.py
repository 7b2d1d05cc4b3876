from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._cli.arguments import add_command
from exactk._cli.output import say

if TYPE_CHECKING:
    import argparse

    from exactk._cli.arguments import Commands


def add(commands: Commands) -> None:
    """Describe the command."""
    summary = "compare two recommenders on synthetic ratings, or on yours"
    parser = add_command(commands, "demo", _run, summary, "exactk demo ml-latest-small/ratings.csv")
    parser.add_argument(
        "ratings",
        nargs="?",
        metavar="ratings.csv",
        help="a file in MovieLens's format, with the columns userId, movieId, rating and timestamp",
    )


def _run(arguments: argparse.Namespace) -> int:
    from exactk import _demo as demo  # noqa: PLC0415 - no other command needs it

    say(demo.run(arguments.ratings).describe())
    return 0
