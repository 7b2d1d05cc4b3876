"""The commands that list metrics and conventions, and find those under which a published number is reached."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import exactk
from exactk._cli.arguments import (
    add_column_options,
    add_command,
    add_set_option,
    changes_of,
    check_inputs,
    name_argument,
    read_file,
    read_system,
)
from exactk._cli.output import print_text
from exactk._cli.provenance import Input
from exactk._cli.stdin import input_path
from exactk._cli.system_files import find_systems
from exactk._inputs.keys.column_roles import ColumnNames
from exactk._metric_pages import text_page
from exactk._plan.conventions import as_convention, conventions, departures
from exactk._plan.fields import FIELDS
from exactk._plan.metrics import evaluation_metrics, metric_info
from exactk._runtime.errors import input_error
from exactk._runtime.table import Table, format_text

if TYPE_CHECKING:
    from exactk._cli.arguments import Commands


def add_listings(commands: Commands) -> None:
    """Add the parsers of both commands."""
    summary = "list all metrics, or describe some"
    listing = add_command(commands, "metrics", run_metrics, summary, "exactk metrics ndcg map")
    listing.add_argument("metrics", nargs="*", metavar="METRIC", help="metric name or alias")

    summary = "list the presets, print one, compare two, or find those that give a published number"
    example = "exactk conventions --matching map@10=0.0345 qrels.txt bm25.run"
    presets = add_command(commands, "conventions", run_conventions, summary, example)
    presets.add_argument(
        "arguments",
        nargs="*",
        metavar="NAME",
        help="preset whose fields to print; with --matching, the files TRUTH and PREDICTIONS",
    )
    choice = presets.add_mutually_exclusive_group()
    choice.add_argument("--diff", nargs=2, metavar=("A", "B"), help="two presets to compare")
    add_matching_options(presets, choice)


def run_metrics(arguments: argparse.Namespace) -> int:
    if arguments.metrics:
        with name_argument("METRIC"):
            texts = [text_page(metric_info(name)) for name in arguments.metrics]
        print_text("\n\n".join(texts) + "\n")
    else:
        rows = [[info.name, ", ".join(info.aliases), info.summary] for info in evaluation_metrics.values()]
        _print_table(["metric", "also", "summary"], rows)
    return 0


def run_conventions(arguments: argparse.Namespace) -> int:
    if arguments.matching:
        return run_matching(arguments)
    check_no_matching_options(arguments)
    most_names = 1 if arguments.diff is None else 0
    if extra := arguments.arguments[most_names:]:
        arguments.parser.error(f"unrecognized arguments: {' '.join(extra)}")
    if arguments.diff is not None:
        with name_argument("--diff"):
            one, other = map(as_convention, arguments.diff)
        rows = [[field, str(value), str(other_value)] for field, (value, other_value) in one.diff(other).items()]
        _print_table(["field", one.name, other.name], rows)
    elif arguments.arguments:
        with name_argument("NAME"):
            preset = as_convention(arguments.arguments[0])
        rows = [[name, str(getattr(preset, name)), f.summary] for name, f in FIELDS.items()]
        for metric, choices in preset.overrides.items():
            rows += [[f"{metric}.{name}", str(choice), f"the same, for {metric}"] for name, choice in choices.items()]
        _print_table(["field", preset.name, "summary"], rows)
    else:
        rows = [[name, departures(preset)] for name, preset in conventions.items()]
        _print_table(["preset", "differs from standard in"], rows)
    return 0


def _print_table(header: list[str], rows: list[list[str]]) -> None:
    print_text(format_text(Table.of_rows(header, rows, len(header))) + "\n")


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
