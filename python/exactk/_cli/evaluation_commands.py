"""The commands that evaluate: one system, several side by side, and the HTML page of either."""

from __future__ import annotations

import argparse
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import exactk
from exactk._cli import trec
from exactk._cli.difference_options import (
    NO_GATES,
    NOT_GIVEN,
    add_bound_options,
    add_comparison_options,
    add_gate_options,
    given_options,
)
from exactk._cli.evaluated_systems import (
    Evaluated,
    asked_differences,
    check_comparison,
    evaluate_systems,
    exit_code,
    find_files,
    find_systems,
    name_systems,
)
from exactk._cli.input_options import (
    Input,
    add_column_options,
    add_command,
    add_format_option,
    add_input_option,
    add_item_columns,
    add_set_option,
    add_state_option,
    changes_of,
    check_inputs,
    name_argument,
    naming_item_options,
    output_path,
    parse_count,
    paths_of_options,
    read_file,
    read_system,
    read_value_options,
    refusing_text,
)
from exactk._cli.result import DATA_FORMATS, format_result
from exactk._cli.shards import NO_SHARDS, add_shard_options
from exactk._cli.streams import check_outputs, input_path, path_text, print_message, print_text
from exactk._evaluate import DEFAULTS
from exactk._files.file_arguments import read_item_names
from exactk._options import JudgeOptions
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import DEFAULT_METRICS
from exactk._report.comparison import reports_of
from exactk._report.exports import PageRequest, html_page, page_request
from exactk._report.verdicts import Case, junit_report
from exactk._runtime import optional
from exactk._runtime.errors import as_unit_names, without_warnings
from exactk._runtime.faults import Option
from exactk._runtime.texts import printable
from exactk._runtime.written_files import write_file

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from exactk._cli.input_options import Commands
    from exactk._runtime.unit_names import UnitNames


FORMATS = (
    "The file extension selects the format: CSV, JSON, JSON lines, Parquet, Arrow or .npz, and TREC text for any other, "
    "or for -, which is stdin. "
    "A directory, or a quoted pattern such as 'runs/als-*.parquet', is one system: its files must have the same "
    "format and are read as one. "
)
EXIT_CODES = "Exit codes: 0 for success; 1 if a value is below --min or above --max; 2 if the input is invalid."
GATE_CODES = (
    "Exit codes: 0 for success; 1 if a value is below --min or above --max, or a gate fails; 2 if the input is invalid; "
    "3 if a gate is undecided."
)


def add_truth(parser: argparse.ArgumentParser) -> None:
    """Add the first argument of all commands that evaluate."""
    parser.add_argument(
        "truth", type=input_path, metavar="TRUTH", help="file with the relevant items of each user, such as qrels"
    )


def add_systems(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name systems."""
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="NAME=PATH",
        help="a system's name and its predictions, with scores or ranks: a file, directory or pattern",
    )


_INPUTS = {
    "exclude": "items not to rank, such as training items",
    "candidates": "the only items that may be ranked: of each user, or one column of items for all users",
    "train": "training data, for metrics that read the recommended items: their popularity and, without --catalogue, the "
    "items that could be recommended",
    "catalogue": "the items that could be recommended: a column of items, or a JSON list",
    "parents": "the document of each chunk, so that lists of chunks are judged as lists of documents: a column of chunks and "
    "one of documents, or JSON",
    "base-predictions": "other predictions of the same users, that unexpectedness compares the lists with",
    "groups": "the group of each user: a column of users and one of groups, or JSON; adds the values of each group",
    "weights": "the weight of each user in the mean: a column of users and one of weights, or JSON",
}
"""The options that name a file, and their help."""


def _add_value_options(
    parser: argparse.ArgumentParser,
    metrics: Sequence[str],
    inputs: Collection[str],
    *,
    of_trec: tuple[str, str] = ("", ""),
    of_user: str = "--user",
) -> None:
    """Add the options that say what is computed, and of what; of the metrics and the convention, more may be said."""
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        dest="metrics",
        metavar="METRIC",
        help=f"metric, see exactk metrics; repeatable (default: {', '.join(metrics)}){of_trec[0]}",
    )
    parser.add_argument(
        "--convention",
        metavar="NAME",
        help=f"preset, see exactk conventions (default: {DEFAULTS['convention']}{of_trec[1]})",
    )
    add_set_option(
        parser, "change a convention field, such as nan=last, or for one metric, such as ndcg.gain=exp2; repeatable"
    )
    for name in inputs:
        add_input_option(parser, name, _INPUTS[name])
    parser.add_argument(
        "--parents-split",
        metavar="SEP",
        help="what separates the id of a document from the rest of its chunk's, such as '#'",
    )
    add_item_columns(add_column_options(parser, truth=True, of_user=of_user, candidates=True))
    parser.add_argument(
        "--unit-names",
        type=_parse_unit_names,
        metavar="USER,ITEM",
        help="what a user and an item are called, such as question,chunk (default: query,document where columns, TREC "
        "files or the preset say so, else user,item)",
    )
    parser.set_defaults(default_metrics=metrics)


def _add_threads_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads",
        type=parse_count,
        metavar="N",
        help="number of threads (default: every CPU that the process may use)",
    )


def add_options(
    parser: argparse.ArgumentParser, *, several: bool, prints: bool = True, metrics: Sequence[str] = DEFAULT_METRICS
) -> None:
    """Add the options of all commands that evaluate all users; `prints` is whether the command prints the values."""
    trec_metrics = (
        "; with --format trec, a measure of trec_eval, or a set such as all_trec (default: official)" * prints
    )
    of_trec = f"; with --format trec, {trec.CONVENTION}" * prints
    _add_value_options(parser, metrics, _INPUTS, of_trec=(trec_metrics, of_trec))
    if prints:
        add_format_option(parser)
    add_bound_options(parser, several=several)
    parser.add_argument(
        "--per-user",
        type=output_path,
        metavar="FILE",
        help="write per-user values to FILE: .parquet, .csv, .json or .jsonl",
    )
    if prints:
        parser.add_argument(
            "-q", dest="users", action="store_true", help="with --format trec, also print per-user values"
        )
        parser.add_argument(
            "-c",
            dest="complete",
            action="store_true",
            help="with --format trec, count queries of the qrels without results as 0, by the convention "
            "trec_eval_complete or trec_eval_9_complete",
        )
        parser.add_argument(
            "-N",
            dest="documents",
            type=parse_count,
            metavar="NUM",
            default=0,
            help="with --format trec, the number of documents of the collection, which utility reads",
        )
    _add_threads_option(parser)
    parser.add_argument("--no-progress", action="store_true", help="do not draw a progress bar")


def _parse_unit_names(text: str) -> UnitNames | None:
    with refusing_text():
        return as_unit_names(tuple(text.split(",")))


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
    add_systems(parser)
    add_options(parser, several=True)
    add_comparison_options(parser)
    add_gate_options(parser)
    parser.set_defaults(on_error=write_junit_error, **NO_SHARDS)


def add_explain(commands: Commands) -> None:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "explain",
        run_explain,
        "print one user's list beside the truth, what was missed, and how the values add up",
        "exactk explain qrels.txt bm25.run --user q17 -m ndcg@10",
        FORMATS.strip(),
    )
    add_truth(parser)
    parser.add_argument(
        "predictions", metavar="PREDICTIONS", help="predictions with scores or ranks: a file, directory or pattern"
    )
    key = parser.add_mutually_exclusive_group(required=True)
    key.add_argument(
        "--user",
        action="append",
        dest="user_key",
        metavar="KEY",
        help="the user; repeat it for a key of several columns",
    )
    key.add_argument("--query", action="append", metavar="KEY", help="the same, where users are queries")
    inputs = [name for name in _INPUTS if name not in {"groups", "weights"}]
    _add_value_options(parser, DEFAULT_METRICS, inputs, of_user="--user-column")
    _add_threads_option(parser)


def run_explain(arguments: argparse.Namespace) -> int:
    paths = find_files(arguments.predictions)
    inputs = [Input("truth", arguments.truth), *(Input("predictions", path) for path in paths)]
    inputs += [Input(name, path) for name, path in paths_of_options(arguments).items() if name != "truth"]
    check_inputs(arguments, inputs)
    with name_argument("--convention"):
        base = as_convention(arguments.convention or DEFAULTS["convention"]).name
    try:
        truth = read_file(arguments, arguments.truth, "truth")
        options: Any = {"convention": {"base": base, **changes_of(arguments)}, **read_value_options(arguments)}
        user = _key_of(arguments.user_key or arguments.query, truth)
        metrics = arguments.metrics or list(arguments.default_metrics)
        with naming_item_options():
            explanation = exactk.explain(truth, read_system(arguments, paths), user, metrics, **options)
    except exactk.ExactkError as error:
        named = {"argument": "--query" if arguments.query else "--user"} if error.argument == "user_key" else {}
        raise error.amended(hint=tuple(map(_naming_user_column, error.fault.hint)), **named) from error.__cause__
    print_text(f"{explanation!r}\n")
    return 0


def _key_of(words: Sequence[str], truth: exactk.Truth) -> Any:  # noqa: ANN401 - of any kind
    """Return the key that is written so; the words themselves if the truth has none."""
    keys = range(len(truth)) if truth.users is None else truth.users.tolist()
    spelled = ((key, [*map(str, key)] if isinstance(key, tuple) else [str(key)]) for key in keys)
    return next((key for key, written in spelled if written == words), words[0] if len(words) == 1 else tuple(words))


def _naming_user_column(part: str | Option) -> str | Option:
    """Return a part of a hint, in which --user names no column."""
    if isinstance(part, Option) and part.name == "user":
        return f"--user-column {shlex.quote(str(part.value))}"
    return part


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
        judged = trec.judged_lists(request.trec, data.truth, data.predictions, data.options) if arguments.users else {}
        output = trec.Output(request.trec, arguments.users, tag, in_run, judged)
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
        "--headline",
        action="append",
        metavar="METRIC",
        help="the metric that leads the page; given twice, the axes of the trade-off too",
    )
    page.add_argument(
        "--examples",
        type=parse_count,
        metavar="N",
        default=20,
        help="users per side who lose and gain most, shown with their lists; 0 leaves no data of users on the page "
        "(default: 20)",
    )
    add_input_option(page, "item-names", "names of items, shown in lists: a column of items and one of names, or JSON")
    add_options(parser, several=True, prints=False, metrics=_METRICS)
    add_comparison_options(parser)
    add_gate_options(parser)
    parser.set_defaults(
        on_error=write_junit_error, format="table", users=False, complete=False, documents=0, **NO_SHARDS
    )


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
        items=_items_with_popularity(evaluated),
        gate=evaluated.gate if len(evaluated.gate) else None,
        command=provenance.command,
        inputs=[one.to_dict(provenance.stdin) for one in provenance.inputs],
    )
    write_file(arguments.output, html_page(evaluated.result, request).encode())
    return exit_code(evaluated)


def _items_with_popularity(evaluated: Evaluated) -> exactk.Items | None:
    items = None if evaluated.data is None else evaluated.data.options["items"]
    return items if isinstance(items, exactk.Items) and items.popularity is not None else None


def _check_one_system(arguments: argparse.Namespace) -> None:
    """End the program for options that need several systems."""
    options = [
        *(f"--{name}" for name in given_options(arguments)),
        *["a gate"] * bool(arguments.gates or arguments.gate_group),
    ]
    if options:
        arguments.parser.error(f"{options[0]} goes with several systems")


def _page_request(arguments: argparse.Namespace) -> PageRequest:
    """Return what the page is to show, as far as options say it."""
    names = None
    if arguments.item_names is not None:
        names = read_item_names(arguments.item_names, arguments.item, text_ids=arguments.text_ids)
    return page_request(
        title=arguments.title,
        note=arguments.note,
        examples=arguments.examples,
        item_names=names,
        headline=arguments.headline,
    )


def _judged(evaluated: Evaluated) -> Mapping[str, exactk.results.JudgedLists] | None:
    """Return the first items of each system's lists; None where the convention has no order of ties, or for very many users."""
    data = evaluated.data
    if data is None:
        return None
    users = max(report.counts["users"] for report in reports_of(evaluated.result).values())
    if users > _MOST_JUDGED:
        note = f"lists are left out, as there are more than {_MOST_JUDGED:,} users"
        print_message("note", evaluated.result.unit_names.text(note))
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
