"""The command that adds states of different users up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import exactk
from exactk._cli.arguments import add_command, add_format_option, add_state_option, check_inputs
from exactk._cli.bounds import add_bound_options, bound_cases, check_bounded, report_violations
from exactk._cli.output import print_text
from exactk._cli.output_files import check_outputs, file_identities
from exactk._cli.provenance import Input, Provenance
from exactk._cli.result import DATA_FORMATS, format_result
from exactk._cli.shards import check_shards, find_states, read_state
from exactk._cli.stdin import input_path, path_text
from exactk._report.state import check_same_plan
from exactk._runtime.errors import StateMismatchError, input_error
from exactk._runtime.written_files import write_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from exactk._cli.arguments import Commands
    from exactk._cli.output_files import Identity


def add_merge(commands: Commands) -> None:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "merge",
        run_merge,
        "merge states of different users into one report",
        "exactk merge monday.state tuesday.state --state week.state",
        "The result equals one evaluation of all users, bit for bit.",
    )
    parser.add_argument(
        "states",
        type=input_path,
        nargs="+",
        metavar="STATE",
        help="file written by --state, a folder of them, or - for stdin; files must not share users: a state has no keys, "
        "so this is checked only of those with --shard or --shard-name",
    )
    parser.add_argument(
        "--incomplete",
        action="store_true",
        help="merge some of the shards of --shard K/N, although others are missing: the report says which it has",
    )
    add_format_option(parser)
    add_bound_options(parser)
    add_state_option(parser)


def run_merge(arguments: argparse.Namespace) -> int:
    paths = find_states(arguments.states)
    inputs = [Input("states", path) for path in paths]
    check_outputs({"--state": arguments.state}, paths)
    check_inputs(arguments, inputs)
    states = _read_states(arguments, paths)
    _check_same_plan(states)
    check_shards(states, may_miss=arguments.incomplete)
    report = exactk.merge(list(states.values()))
    check_bounded(report, arguments.bounds)
    if arguments.state:
        write_file(arguments.state, report.state.to_bytes())
    provenance = Provenance(arguments.command_line, inputs, arguments.stdin)
    print_text(format_result(report, arguments.format, provenance), is_data=arguments.format in DATA_FORMATS)
    return int(report_violations(bound_cases(report, arguments.bounds)))


def _read_states(arguments: argparse.Namespace, paths: Sequence[Path]) -> dict[str, exactk.State]:
    """Return the states by file. Raise InputError if a file is named twice."""
    seen: set[Identity] = set()
    states = {}
    for path in paths:
        identities = set(file_identities(path))
        if identities & seen:
            raise input_error(
                "states", "each file once, because users in several files count several times", f"{str(path)!r} again"
            )
        seen |= identities
        with arguments.stdin.opened(path) as content:
            states[repr(path_text(path))] = read_state(content)
    return states


def _check_same_plan(states: Mapping[str, exactk.State]) -> None:
    """Raise StateMismatchError, which names two files, if they differ in what they evaluate."""
    (first, state), *others = states.items()
    for name, other in others:
        try:
            check_same_plan(state, other, "states")
        except StateMismatchError as error:
            message = f"{error} (in {first} and {name})"
            raise StateMismatchError(message, "states") from None
