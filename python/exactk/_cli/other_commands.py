"""The commands that evaluate nothing: metrics and conventions, best items, fused runs, the check of an installation."""

from __future__ import annotations

import argparse
import os
import re
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

import exactk
from exactk._cli import trec
from exactk._cli.evaluated_systems import find_files, find_systems
from exactk._cli.evaluation_commands import FORMATS, add_systems
from exactk._cli.input_options import (
    Input,
    Role,
    add_column_options,
    add_command,
    add_input_option,
    add_set_option,
    changes_of,
    check_inputs,
    name_argument,
    output_path,
    parse_count,
    read_contents,
    read_file,
    read_system,
    refusing_text,
)
from exactk._cli.result import json_object
from exactk._cli.streams import check_outputs, input_path, print_text
from exactk._files.file_errors import File
from exactk._files.formats import is_trec
from exactk._files.read_containers import result_of_batches
from exactk._files.source import choose_columns
from exactk._inputs.keys.column_roles import ColumnNames
from exactk._inputs.model.fused_scores import FusionMethod, FusionTies, MissingScore, ScoreNorm
from exactk._inputs.registry import FilesOfSystems
from exactk._metric_pages import text_page
from exactk._plan.conventions import as_convention, conventions, departures
from exactk._plan.fields import FIELDS, number_of_text
from exactk._plan.literals import Nan
from exactk._plan.metrics import evaluation_metrics, metric_info
from exactk._runtime.errors import ExactkError, InUnits, input_error, type_error, without_warnings
from exactk._runtime.faults import Option, plural
from exactk._runtime.optional import OPTIONAL_LIBRARIES, format_facts, installation_facts, version_of
from exactk._runtime.table import Table, format_csv, format_text
from exactk._runtime.threads import available_isas, default_threads, requested_isa
from exactk._runtime.unit_names import unit_names_of_call
from exactk._runtime.written_files import write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from exactk._cli.input_options import Commands


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
    add_input_option(parser, "exclude", "with --matching, items not to rank")
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


def add_read(commands: Commands) -> None:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "read",
        run_read,
        "print what a file is taken for: its form, the role of each column, its first rows and counts",
        "exactk read u.data --role truth",
    )
    parser.add_argument("path", metavar="FILE", help="a file; for predictions also a directory or pattern")
    parser.add_argument("--role", choices=get_args(Role), default="truth", help="what the file is for (default: truth)")
    add_column_options(parser, truth=True)


def run_read(arguments: argparse.Namespace) -> int:
    role: Role = arguments.role
    paths = find_files(arguments.path) if role == "predictions" else [input_path(arguments.path)]
    check_inputs(arguments, [Input(role, path) for path in paths])
    with arguments.stdin.opened(paths[0]) as content:
        contents = read_contents(arguments, [content, *paths[1:]], role)
    container = contents.container
    rows: Any = result_of_batches(container) if isinstance(container, exactk.Batches) else container
    print_text(f"{arguments.path}, as {role}: {contents.form}\n")
    if contents.source is not None:
        with without_warnings():
            choice = choose_columns(contents.source, contents.requested or {}, is_first=False)
        roles = {**dict.fromkeys(choice.ids[:-1], "user"), choice.ids[-1]: "item", **choice.values}
        _print_table(["column", "read as"], [[name, roles.get(name, "-")] for name in contents.source.names])
    print_text("\n")
    _print_table(*_first_rows(rows))
    items = len(np.unique(rows.items))
    print_text(f"{plural(len(rows), 'user')}, {plural(items, 'item')}, {plural(len(rows.items), 'row')}\n")
    return 0


_FIRST_ROWS = 3


def _first_rows(rows: Any) -> tuple[list[str], list[list[str]]]:  # noqa: ANN401 - of any role
    """Return the names and the first rows of what was read."""
    count = min(len(rows.items), _FIRST_ROWS)
    users = np.searchsorted(rows.indptr, np.arange(count), side="right") - 1
    columns = {"user": (users, rows.user_vocabulary), "item": (rows.items[:count], rows.item_vocabulary)}
    cells = [codes if keys is None else keys.array[codes] for codes, keys in columns.values()]
    values = {name: one for name in ("grades", "scores") if (one := getattr(rows, name, None)) is not None}
    cells += [one[:count] for one in values.values()]
    return [*columns, *values], [
        [str(cell) for cell in row] for row in zip(*(one.tolist() for one in cells), strict=True)
    ]


def add_topk(commands: Commands) -> None:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "topk",
        run_topk,
        "print the k highest-scoring items of each user",
        "exactk topk scores.csv -k 10 --exclude train.csv -o best.run",
    )
    parser.add_argument(
        "scores", type=input_path, metavar="SCORES", help="scores: one row per user and item, in any order"
    )
    parser.add_argument("-k", type=parse_count, required=True, help="number of items per user")
    add_input_option(parser, "exclude", "items not to rank, such as training items")
    add_set_option(
        parser, "how scores are ranked, such as ties=highest_id, nan=last or score_dtype=float32; repeatable"
    )
    add_column_options(parser, truth=False, ranks=False)
    parser.add_argument(
        "--format",
        choices=tuple(_FORMATS),
        default="trec",
        help="trec: a run, with ranks from 1; csv: one row per item, with ' before text that a spreadsheet would run as "
        "a formula; json: one line per user (default: trec)",
    )
    parser.add_argument("-o", dest="output", type=output_path, metavar="FILE", help="output file (default: stdout)")


def run_topk(arguments: argparse.Namespace) -> int:
    inputs = [Input("predictions", arguments.scores)]
    inputs += [Input("exclude", arguments.exclude)] if arguments.exclude else []
    check_outputs({"-o": arguments.output}, [one.path for one in inputs], prints=not arguments.output)
    check_inputs(arguments, inputs)
    rules = _ranking_rules(arguments)
    scores = exactk.as_predictions(read_file(arguments, arguments.scores, "predictions"))
    if not isinstance(scores, exactk.SparseScores):
        raise type_error("scores", "a score for each user and item", type(scores).__name__)
    exclude = arguments.exclude and read_file(arguments, arguments.exclude, "exclude")
    best = exactk.topk(scores, arguments.k, exclude, **rules)
    users = np.arange(len(scores)) if scores.user_vocabulary is None else scores.user_vocabulary.array
    text = "".join(_FORMATS[arguments.format](_ranked_lists(users, best)))
    _write(text, arguments.output)
    return 0


def _ranking_rules(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `exactk.topk` that --set gives."""
    rules = changes_of(arguments)
    if unknown := [field for field in rules if field not in {"ties", "nan", "score_dtype"}]:
        raise input_error("--set", "ties, nan or score_dtype", unknown[0])
    return rules


class _RankedList(NamedTuple):
    user: Any
    items: list[Any]
    scores: list[Any]


def _ranked_lists(users: NDArray[Any], best: exactk.results.TopK) -> Iterator[_RankedList]:
    """Yield each user's best items by their keys."""
    for user, ids, scores in zip(users.tolist(), *best, strict=True):
        items = [item for item in ids.tolist() if item not in (-1, None)]  # -1 and None are padding
        yield _RankedList(user, items, scores[: len(items)].tolist())


def _trec_lines(lists: Iterable[_RankedList]) -> Iterator[str]:
    for user, items, scores in lists:
        for rank, (item, score) in enumerate(zip(items, scores, strict=True), 1):
            yield f"{_trec_field(user)} Q0 {_trec_field(item)} {rank} {score!r} exactk\n"


_BLANK = re.compile(r"[ \t\n\v\f\r]")  # field separators; U+00A0 is not one


def _trec_field(key: object) -> str:
    """Return a key as a field of TREC text, where blanks end fields."""
    text = trec.key_text(key)
    if not text or _BLANK.search(text):
        raise input_error("--format trec", "ids without blanks, or --format csv or json", repr(text))
    return text


def _csv_text(lists: Iterable[_RankedList]) -> Iterator[str]:
    rows = [
        (user, item, rank, score)
        for user, items, scores in lists
        for rank, (item, score) in enumerate(zip(items, scores, strict=True), 1)
    ]
    columns = zip(*rows, strict=True) if rows else [()] * 4
    yield format_csv(dict(zip(("user", "item", "rank", "score"), columns, strict=True)))


def _json_lines(lists: Iterable[_RankedList]) -> Iterator[str]:
    for ranked_list in lists:
        yield json_object(ranked_list._asdict()) + "\n"


_FORMATS = {"trec": _trec_lines, "csv": _csv_text, "json": _json_lines}


def _number(text: str) -> float:
    with refusing_text():
        return number_of_text(text, "")


def _numbers_by_system(text: str) -> dict[str, float]:
    pairs = [part.strip().rpartition("=") for part in text.split(",")]
    numbers = {name: _number(number) for name, _, number in pairs}
    if "" in numbers or len(numbers) < len(pairs):
        message = f"expected each system once, as in bm25=0.7,dense=0.3, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    return numbers


def _number_or_by_system(text: str) -> float | dict[str, float]:
    return _numbers_by_system(text) if "=" in text else _number(text)


_FUSION: Mapping[str, tuple[Any, str, str]] = {
    "--method": (FusionMethod, "", "how the ranks or scores of an item make its fused score"),
    "--norm": (ScoreNorm, "", "how the scores of a list are normalised (default: min_max, if the method reads scores)"),
    "--weights": (_numbers_by_system, "NAME=WEIGHT[,...]", "the weight of each system (default: 1 each)"),
    "--missing": (
        MissingScore,
        "",
        "what an item that a system lacks counts there, for sum and mnz (default: zero, or with --norm z lowest)",
    ),
    "--depth": (parse_count, "N", "how many items of each list are read, the best (default: all)"),
    "-k": (parse_count, "N", "the most items of a fused list (default: all)"),
    "--rank-constant": (_number, "K", "what rrf adds to each rank"),
    "--persistence": (_number, "P", "the weight of a rank over that of the rank before, for rbc"),
    "--power": (_number, "P", "the power of the number of systems that have an item, for mnz"),
    "--low": (_number_or_by_system, "LOW|NAME=LOW[,...]", "the lowest possible score, for --norm theoretical_min_max"),
    "--ties": (FusionTies, "", "the ranks of equal scores in a list"),
    "--nan": (Nan, "", "whether a NaN score is an error or comes last"),
}
"""The type, the metavar and the help of each option of `exactk.fuse`, whose signature has the defaults."""
_NAN_LAST = Option("nan", "last")
_FUSION_NAMES = {option.lstrip("-").replace("-", "_"): option for option in _FUSION}


def add_fuse(commands: Commands) -> None:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "fuse",
        run_fuse,
        "fuse the lists of several systems to one list for each user",
        "exactk fuse bm25.run dense.run --method sum --weights bm25=0.7,dense=0.3 --depth 1000 -k 100 -o fused.run",
        f"What is written is a TREC run. {FORMATS}Without NAME=, a system is called as its file.",
    )
    add_systems(parser)
    for name, option in _FUSION_NAMES.items():
        kind, metavar, text = _FUSION[option]
        default = signature(exactk.fuse).parameters[name].default
        form = {"choices": choices} if (choices := get_args(kind)) else {"type": kind, "metavar": metavar}
        parser.add_argument(option, help=text + (f" (default: {default})" if default is not None else ""), **form)
    add_column_options(parser, truth=False, exclude=False)
    parser.add_argument("--tag", metavar="NAME", help="the name of the run in its last column (default: the method)")
    parser.add_argument("-o", dest="output", type=output_path, metavar="FILE", help="output file (default: stdout)")


def run_fuse(arguments: argparse.Namespace) -> int:
    systems = find_systems(arguments.systems)
    inputs = [Input("predictions", path, name) for name, paths in systems.items() for path in paths]
    check_outputs({"-o": arguments.output}, [one.path for one in inputs], prints=not arguments.output)
    check_inputs(arguments, inputs)
    written = File(arguments.output or Path("-"), "predictions")
    if not is_trec(written) or written.is_compressed:
        raise input_error("-o", "an ending of TREC runs, such as .run", str(arguments.output))
    options = {name: given for name in _FUSION_NAMES if (given := getattr(arguments, name)) is not None}
    no_lists = exactk.SparseScores([0], [], np.zeros(0))
    with InUnits(None), FilesOfSystems():
        try:
            with without_warnings():  # that there are no items
                exactk.fuse(dict.fromkeys(systems, no_lists), **options)  # refuses options before files are read
            lists = {name: read_system(arguments, paths, name) for name, paths in systems.items()}
            fused = exactk.fuse(lists, unit_names=unit_names_of_call().pair, **options)
        except ExactkError as error:
            hint = tuple("--nan last" if part == _NAN_LAST else part for part in error.fault.hint)
            argument = _FUSION_NAMES.get(error.argument or "", error.argument)
            raise error.amended(argument=argument, hint=hint) from None
    _write(fused.to_trec(tag=fused.method if arguments.tag is None else arguments.tag), arguments.output)
    return 0


def _write(text: str, path: Path | None) -> None:
    """Write the text of data to the file, or print it."""
    if path:
        write_file(path, text.encode("utf-8", "surrogateescape"))
    else:
        print_text(text, is_data=True)


_METRICS = ("ndcg@[5,20]", "recall@20", "average_precision", "reciprocal_rank", "auc", "num_hits@5")
_USERS, _ITEMS = 100, 300
_MOST_THREADS = 3


def add_doctor(commands: Commands) -> None:
    """Add the command's parser."""
    add_command(
        commands,
        "doctor",
        run_doctor,
        "print what a bug report needs, and check the installation",
        "exactk doctor > report.txt",
        "Exit code: 0 if all checks pass, 2 if one fails.",
    )


def run_doctor(_: argparse.Namespace) -> int:
    libraries = {name: f"{version_of(name)}; for {purpose}" for name, purpose in OPTIONAL_LIBRARIES.items()}
    print_text(format_facts(installation_facts() | libraries) + "\n")
    passed = [_run_check(name, check) for name, check in _CHECKS.items()]
    return 0 if all(passed) else 2


def _run_check(name: str, check: Callable[[], str]) -> bool:
    """Run a check, which returns what it covered or raises, and print the outcome."""
    try:
        line, passed = f"passed  {name}: {check()}", True
    except Exception as error:  # noqa: BLE001 - any error is a result of the check
        line, passed = f"failed  {name}: {str(error) or type(error).__name__}", False
    print_text(line + "\n")
    return passed


def _check_environment() -> str:
    return f"EXACTK_ISA {requested_isa() or 'not set'}, {default_threads()} threads"  # both are validated when they are read


def _check_isas() -> str:
    _require_equal({name: _example_report(name, 1) for name in available_isas()})
    return ", ".join(available_isas())


def _check_thread_counts() -> str:
    _require_equal({f"{threads} threads": _example_report("", threads) for threads in range(1, _MOST_THREADS + 1)})
    return f"1 to {_MOST_THREADS}"


def _check_reference() -> str:
    expected, report = exactk.reference.evaluate(*_example_inputs(), _METRICS, num_threads=1), _example_report("", 1)
    for name, value in expected.items():
        if not np.isclose(report[name], value, rtol=1e-12, atol=0):
            raise ArithmeticError(f"{name} is {report[name]!r}, and {value!r} in the reference")
    return f"{len(expected)} values"


_CHECKS: Mapping[str, Callable[[], str]] = {
    "environment variables are valid": _check_environment,
    "every instruction set gives the same bits": _check_isas,
    "every number of threads gives the same bits": _check_thread_counts,
    "the core and the reference in NumPy agree": _check_reference,
}


def _example_inputs() -> tuple[list[list[int]], NDArray[np.float32]]:
    random = np.random.default_rng(0)
    truth = [random.choice(_ITEMS, size, replace=False).tolist() for size in random.integers(1, 9, _USERS)]
    return truth, random.random((_USERS, _ITEMS), np.float32)


def _example_report(instructions: str, threads: int) -> exactk.Report:
    truth, scores = _example_inputs()
    with _forced_isa(instructions):
        return exactk.evaluate(truth, scores, _METRICS, per_user=True, num_threads=threads)


@contextmanager
def _forced_isa(instructions: str) -> Iterator[None]:
    """Set EXACTK_ISA temporarily; an empty name selects the default."""
    previous = os.environ.get("EXACTK_ISA")
    os.environ["EXACTK_ISA"] = instructions
    try:
        yield
    finally:
        del os.environ["EXACTK_ISA"]
        if previous is not None:
            os.environ["EXACTK_ISA"] = previous


def _require_equal(reports: Mapping[str, exactk.Report]) -> None:
    first, *others = reports
    for other in others:
        if reports[other] != reports[first]:
            raise ArithmeticError(f"{other} and {first} differ")


OTHER_COMMANDS = (add_topk, add_fuse, add_read, add_listings, add_doctor)
