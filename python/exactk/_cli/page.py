"""The command that writes the HTML page of one system, or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import exactk
from exactk._cli.arguments import add_command, output_path, parse_count
from exactk._cli.compare_options import add_comparison_options, given_options
from exactk._cli.evaluate import write_junit_error
from exactk._cli.evaluation_options import FORMATS, GATE_CODES, add_options, add_truth
from exactk._cli.gates import add_gate_options
from exactk._cli.output import print_message
from exactk._cli.shards import NO_SHARDS
from exactk._cli.stdin import input_path
from exactk._cli.system_files import find_systems
from exactk._cli.values_of_systems import Evaluated, check_comparison, evaluate_systems, exit_code
from exactk._files.file_arguments import read_item_names
from exactk._options import JudgeOptions
from exactk._report.comparison import reports_of
from exactk._report.exports import html_page, page_request
from exactk._runtime import optional
from exactk._runtime.errors import without_warnings
from exactk._runtime.written_files import write_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from exactk._cli.arguments import Commands
from exactk._report.exports import PageRequest

_METRICS = ("ndcg@[5,10,20]", "recall@[5,10,20]", "precision@[5,10,20]", "mrr")
"""Metrics at several cutoffs, of which the page draws curves."""

_LIST_LENGTH = 10
_MOST_JUDGED = 2_000_000  # users, whose lists are kept in memory


def add_report(commands: Commands) -> None:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "report",
        run_report,
        "write an HTML page on one system, or on several and their differences",
        "exactk report qrels.txt bm25=bm25.run als='als/*.parquet' --baseline bm25 -o report.html",
        f"Needs jinja2 and SciPy. {FORMATS}{GATE_CODES}",
    )
    add_truth(parser)
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="[NAME=]PATH",
        help="predictions of one system; or of several, each perhaps with its name: a file, directory or pattern",
    )
    parser.add_argument(
        "-o", "--output", type=output_path, metavar="FILE", required=True, help="the page, such as report.html"
    )
    page = parser.add_argument_group("page")
    page.add_argument("--title", metavar="TEXT", help="the heading of the page")
    page.add_argument("--note", metavar="TEXT", default="", help="a paragraph below the heading")
    page.add_argument(
        "--examples",
        type=parse_count,
        metavar="N",
        default=20,
        help="users per side who lose and gain most, shown with their lists; 0 leaves no data of users on the page "
        "(default: 20)",
    )
    page.add_argument(
        "--item-names",
        type=input_path,
        metavar="FILE",
        help="names of items, shown in lists: a column of items and one of names, or JSON",
    )
    add_options(parser, several=True, prints=False, metrics=_METRICS)
    add_comparison_options(parser)
    add_gate_options(parser)
    parser.set_defaults(on_error=write_junit_error, format="table", users=False, complete=False, **NO_SHARDS)


def run_report(arguments: argparse.Namespace) -> int:
    for library in ("jinja2", "scipy"):
        optional.require(library, "exactk report", "report")
    systems = find_systems(arguments.systems)
    if len(systems) == 1:
        _check_one_system(arguments)
        systems = {"": next(iter(systems.values()))}
    else:
        check_comparison(arguments, systems)
    request = _page_request(arguments)
    evaluated = evaluate_systems(arguments, systems)
    provenance = evaluated.provenance
    request = request._replace(
        lists=_judged(evaluated) or {},
        gate=evaluated.gate if len(evaluated.gate) else None,
        command=provenance.command,
        inputs=[one.to_dict(provenance.stdin) for one in provenance.inputs],
    )
    write_file(arguments.output, html_page(evaluated.result, request).encode())
    return exit_code(evaluated)


def _check_one_system(arguments: argparse.Namespace) -> None:
    """End the program for options that need several systems."""
    options = [*(f"--{name}" for name in given_options(arguments)), *["a gate"] * bool(arguments.gates)]
    if options:
        arguments.parser.error(f"{options[0]} goes with several systems")


def _page_request(arguments: argparse.Namespace) -> PageRequest:
    """Return what the page is to show, as far as options say it."""
    names = None
    if arguments.item_names is not None:
        names = read_item_names(arguments.item_names, arguments.item, text_ids=arguments.text_ids)
    return page_request(title=arguments.title, note=arguments.note, examples=arguments.examples, item_names=names)


def _judged(evaluated: Evaluated) -> Mapping[str, exactk.results.JudgedLists] | None:
    """Return the first items of each system's lists; None where the convention has no order of ties, or for very many users."""
    data = evaluated.data
    if data is None:
        return None
    users = max(report.counts["users"] for report in reports_of(evaluated.result).values())
    if users > _MOST_JUDGED:
        print_message("note", f"lists are left out, as there are more than {_MOST_JUDGED:,} users")
        return None
    options: dict[str, Any] = {
        name: value
        for name, value in data.options.items()
        if name in JudgeOptions.__annotations__ and name != "progress"
    }
    lists = {}
    try:
        with without_warnings():  # which the evaluation has already shown
            for system, predictions in data.predictions.items():
                lists[system] = exactk.judge(data.truth, predictions, _LIST_LENGTH, **options)
    except exactk.InputError as error:
        print_message("note", f"lists are left out: {error}")
        return None
    return lists
