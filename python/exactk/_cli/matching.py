"""The option of `exactk conventions` that finds the presets under which a published number is reached."""

from __future__ import annotations

import argparse

import exactk
from exactk._cli.arguments import add_column_options, add_set_option, changes_of, check_inputs, read_file, read_system
from exactk._cli.output import print_text
from exactk._cli.provenance import Input
from exactk._cli.stdin import input_path
from exactk._cli.system_files import find_systems
from exactk._inputs.keys.column_roles import ColumnNames
from exactk._runtime.errors import input_error

_OPTIONS = {
    "--set": "changes",
    "--text-ids": "text_ids",
    **{f"--{name}": name for name in ("exclude", *ColumnNames.__annotations__)},
}
"""The options that only --matching reads, and their values' names."""


def add_matching_options(
    parser: argparse.ArgumentParser,
    choice: argparse._MutuallyExclusiveGroup,
) -> None:
    """Add the option, and those of the files that it reads."""
    choice.add_argument(
        "--matching",
        type=_parse_published,
        action="append",
        metavar="METRIC=VALUE",
        help="list the presets under which the metric rounds to the value; repeatable, for presets that reach all values",
    )
    add_set_option(parser, "with --matching, change a convention field in every preset, such as nan=last; repeatable")
    parser.add_argument("--exclude", type=input_path, metavar="FILE", help="with --matching, items not to rank")
    add_column_options(parser, truth=True)


def _parse_published(text: str) -> tuple[str, str]:
    metric, _, number = text.rpartition("=")
    if metric and number:
        return metric, number
    message = f"expected METRIC=VALUE such as map@10=0.0345, found {text!r}"
    raise argparse.ArgumentTypeError(message)


def check_no_matching_options(arguments: argparse.Namespace) -> None:
    """End the program if an option was given that only --matching reads."""
    for option, name in _OPTIONS.items():
        if getattr(arguments, name):
            arguments.parser.error(f"{option} goes with --matching")


def run_matching(arguments: argparse.Namespace) -> int:
    """Print the presets under which the numbers are reached."""
    if len(arguments.arguments) != 2:
        arguments.parser.error("--matching goes with two arguments, TRUTH and PREDICTIONS")
    published = dict(arguments.matching)
    if len(published) < len(arguments.matching):
        raise input_error("--matching", "each metric once", "one twice")
    truth, predictions = arguments.arguments
    (paths,) = find_systems([predictions]).values()
    inputs = [Input("truth", input_path(truth)), *(Input("predictions", path) for path in paths)]
    inputs += [Input("exclude", arguments.exclude)] if arguments.exclude else []
    check_inputs(arguments, inputs)
    result = exactk.matching_conventions(
        read_file(arguments, input_path(truth), "truth"),
        read_system(arguments, paths),
        published,
        convention=changes_of(arguments),
        exclude=arguments.exclude and read_file(arguments, arguments.exclude, "exclude"),
    )
    print_text(f"{result!r}\n")
    return 0
