from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from metrik import MetrikError, __version__, _render
from metrik._conventions import as_convention, conventions, departures
from metrik._metrics import metric_info, metrics
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
    summary = "list the metrics, or say what some are"
    listed = commands.add_parser("metrics", help=summary, description=summary.capitalize() + ".")
    listed.add_argument("metrics", nargs="*", metavar="metric", help="a metric, by any of its names")
    listed.set_defaults(run=_metrics)
    summary = "list the presets of conventions, or in what two of them differ"
    presets = commands.add_parser("conventions", help=summary, description=summary.capitalize() + ".")
    presets.add_argument("--diff", nargs=2, metavar=("A", "B"), help="two presets to compare")
    presets.set_defaults(run=_conventions)
    versions = commands.add_parser("versions", help="print what a report of a bug needs")
    versions.set_defaults(run=lambda _: described())
    return parser


def _demo(arguments: argparse.Namespace) -> str:
    from metrik import _demo as demo  # noqa: PLC0415 - no other command needs it

    return demo.run(arguments.ratings).describe()


def _metrics(arguments: argparse.Namespace) -> str:
    if not arguments.metrics:
        rows = [[info.name, ", ".join(info.aliases), info.summary] for info in metrics.values()]
        return _render.text(["metric", "also", "what it is"], rows, numbers=False) + "\n"
    return "\n".join(_metric_text(name) for name in arguments.metrics)


def _metric_text(name: str) -> str:
    info = metric_info(name)
    rows = {"also": ", ".join(info.aliases), "is": info.summary, "formula": info.formula, "source": info.source}
    if info.parameter:
        bounds = info.parameter
        default = "which must be given" if bounds.standard is None else f"by default {bounds.standard:g}"
        rows["parameter"] = f"{bounds.name}, {bounds.low:g} to {bounds.high:g}, {default}"
    return _render.text([info.name, ""], list(rows.items()), numbers=False) + "\n"


def _conventions(arguments: argparse.Namespace) -> str:
    if arguments.diff is None:
        rows = [[name, departures(preset)] for name, preset in conventions.items()]
        return _render.text(["preset", "differs from standard in"], rows, numbers=False) + "\n"
    one, other = map(as_convention, arguments.diff)
    rows = [[field, str(own), str(others)] for field, (own, others) in one.diff(other).items()]
    return _render.text(["field", one.name, other.name], rows, numbers=False) + "\n"
