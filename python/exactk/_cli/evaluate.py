"""The commands that evaluate the predictions of one system, or of several."""

from __future__ import annotations

import argparse
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import exactk
from exactk._cli import trec
from exactk._cli.arguments import add_command, add_state_option, paths_of_options
from exactk._cli.compare_options import NOT_GIVEN, add_comparison_options
from exactk._cli.evaluation_options import EXIT_CODES, FORMATS, GATE_CODES, add_options, add_truth
from exactk._cli.gates import NO_GATES, add_gate_options
from exactk._cli.output import print_text
from exactk._cli.output_files import check_outputs
from exactk._cli.result import DATA_FORMATS, format_result
from exactk._cli.shards import NO_SHARDS, add_shard_options
from exactk._cli.stdin import path_text
from exactk._cli.system_files import find_files, find_systems, name_systems
from exactk._cli.values_of_systems import asked_differences, check_comparison, evaluate_systems, exit_code
from exactk._report.gate import Case, junit_report
from exactk._runtime.printable_text import printable
from exactk._runtime.written_files import write_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._cli.arguments import Commands


def add_evaluate(commands: Commands) -> None:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "evaluate",
        run_evaluate,
        "evaluate the predictions of one system",
        "exactk evaluate qrels.txt bm25.run -m ndcg@10 -m 'recall@[10,100]' --min ndcg@10=0.3",
        f"{FORMATS}exactk compare evaluates several systems. {EXIT_CODES}",
    )
    add_truth(parser)
    parser.add_argument(
        "predictions", metavar="PREDICTIONS", help="predictions with scores or ranks: a file, directory or pattern"
    )
    parser.add_argument("others", nargs="*", default=[], help=argparse.SUPPRESS)  # told what to write
    add_options(parser, several=False)
    parser.set_defaults(**NOT_GIVEN, **NO_GATES)
    add_state_option(parser)
    add_shard_options(parser)


def add_compare(commands: Commands) -> None:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "compare",
        run_compare,
        "evaluate the predictions of several systems side by side, and test their differences",
        "exactk compare qrels.txt bm25=bm25.run als='als/*.parquet' -m ndcg@10 --baseline bm25 --no-worse ndcg@10=1%",
        f"{FORMATS}Without NAME=, a system is called as its file. Differences need SciPy. {GATE_CODES}",
    )
    add_truth(parser)
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="NAME=PATH",
        help="a system's name and its predictions, with scores or ranks: a file, directory or pattern",
    )
    add_options(parser, several=True)
    add_comparison_options(parser)
    add_gate_options(parser)
    parser.set_defaults(on_error=write_junit_error, **NO_SHARDS)


def run_evaluate(arguments: argparse.Namespace) -> int:
    if arguments.others:
        command = shlex.join(
            ["exactk", "compare", path_text(arguments.truth), arguments.predictions, *arguments.others]
        )
        arguments.parser.error(f"expected the predictions of one system, found {1 + len(arguments.others)}; {command}")
    return _run_systems(arguments, {"": find_files(arguments.predictions)})


def run_compare(arguments: argparse.Namespace) -> int:
    systems = find_systems(arguments.systems)
    check_comparison(arguments, systems)
    return _run_systems(arguments, systems)


def write_junit_error(arguments: argparse.Namespace, text: str) -> None:
    """Say in the JUnit file that the command ended in an error, unless the file is an input: it would be that of an earlier run."""
    if arguments.junit is None:
        return
    inputs = [arguments.truth, *paths_of_options(arguments).values()]
    inputs += [Path(arguments.clusters)] if arguments.clusters else []
    for system in arguments.systems:
        with suppress(exactk.ExactkError, OSError):
            inputs += [path for paths in find_systems([system]).values() for path in paths]
    with suppress(exactk.ExactkError, OSError):
        check_outputs({"--junit": arguments.junit}, inputs)
        write_file(
            arguments.junit, junit_report([Case("exactk compare", "error", text)]).encode(errors="backslashreplace")
        )


def _run_systems(arguments: argparse.Namespace, systems: Mapping[str, Sequence[Path]]) -> int:
    """Evaluate the files of each system by its name, and print the result."""
    evaluated = evaluate_systems(arguments, systems)
    request, data, result = evaluated.request, evaluated.data, evaluated.result
    if request.trec and data:
        tag = _runid(arguments, systems[""]) if "" in systems else ""  # others have their names
        in_run = trec.users_of_runs(request.base, data.predictions)
        asked = request.trec
        output = trec.Output(arguments.users, asked.header, tag, in_run, asked.names, asked.only_header)
        print_text(format_result(result, arguments.format, evaluated.provenance, output), is_data=True)
    else:
        has_differences = bool(asked_differences(arguments))
        text = format_result(result, arguments.format, evaluated.provenance, has_differences=has_differences)
        print_text(text, is_data=arguments.format in DATA_FORMATS)
    return exit_code(evaluated)


def _runid(arguments: argparse.Namespace, paths: Sequence[Path]) -> str:
    """Return the tag of a single run, or its name if it has no tag."""
    (name,) = name_systems([Path(arguments.predictions)])
    with arguments.stdin.opened(paths[0]) as content:
        return trec.run_tag(content) or printable(name)
