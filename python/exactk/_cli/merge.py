from __future__ import annotations

from typing import TYPE_CHECKING

import exactk
from exactk._cli.arguments import add_command, add_format_option, add_state_option, check_inputs
from exactk._cli.bounds import add_bound_options, bound_cases, check_bounded, report_violations
from exactk._cli.output import print_text
from exactk._cli.output_files import check_outputs, file_identities, write_file
from exactk._cli.provenance import Input, Provenance
from exactk._cli.result import DATA_FORMATS, format_result
from exactk._cli.stdin import input_path
from exactk._files.faults import File
from exactk._report.state import STATE_PREFIX
from exactk._runtime.errors import ExactkError, input_error

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from exactk._cli.arguments import Commands
    from exactk._cli.output_files import Identity

_MAX_STATE = 1 << 28  # bytes; a state has a few hundred bytes per value, for any number of users


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
        help="file written by --state, or - for stdin; files must not share users: a state has no keys, so this is not checked",
    )
    add_format_option(parser)
    add_bound_options(parser)
    add_state_option(parser)


def run_merge(arguments: argparse.Namespace) -> int:
    inputs = [Input("states", path) for path in arguments.states]
    check_outputs({"--state": arguments.state}, arguments.states)
    check_inputs(arguments, inputs)
    seen: set[Identity] = set()
    parts = []
    for path in arguments.states:
        identities = set(file_identities(path))
        if identities & seen:
            raise input_error(
                "states", "each file once, because users in several files count several times", f"{str(path)!r} again"
            )
        seen |= identities
        with arguments.stdin.opened(path) as content:
            parts.append(_read_state(content))
    report = exactk.merge(parts)
    check_bounded(report, arguments.bounds)
    if arguments.state:
        write_file(arguments.state, report.state.to_bytes())
    provenance = Provenance(arguments.command_line, inputs, arguments.stdin)
    print_text(format_result(report, arguments.format, provenance), is_data=arguments.format in DATA_FORMATS)
    return int(report_violations(bound_cases(report, arguments.bounds)))


def _read_state(path: Path) -> exactk.State:
    file = File(path, "states")
    file.check_kind(pipes=True)
    with path.open("rb") as stream:
        data = stream.read(_MAX_STATE + 1)
    if len(data) > _MAX_STATE:
        raise file.fault(f"a state of at most {_MAX_STATE} bytes", "more")
    try:
        return exactk.State.from_bytes(data)
    except ExactkError as error:
        if not data.startswith(STATE_PREFIX):
            found = f"a file that begins with {data[:16]!r}" if data else "an empty file"
            raise file.fault("a state file", found, "exactk evaluate --state FILE writes one") from None
        raise error.amended(source=str(path)) from None
