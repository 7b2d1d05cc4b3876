"""The commands that evaluate the predictions of one system, or of several."""

from __future__ import annotations

import argparse
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import exactk
from exactk._cli import trec
from exactk._cli.arguments import (
    add_column_options,
    add_command,
    add_format_option,
    add_set_option,
    add_state_option,
    changes_of,
    check_inputs,
    name_argument,
    output_path,
    parse_count,
    read_file,
    read_option,
    read_system,
    user_column,
)
from exactk._cli.bounds import (
    add_bound_options,
    bound_cases,
    check_bounded,
    check_systems,
    report_violations,
    values_of_bounds,
)
from exactk._cli.comparison_options import (
    NOT_GIVEN,
    add_comparison_options,
    check_margins,
    check_pairs,
    clusters_column,
    clusters_path,
    compared_systems,
    given_options,
    margins_of,
)
from exactk._cli.gates import (
    NO_GATES,
    add_gate_options,
    check_claims,
    check_gates,
    claim_option,
    claimed_values,
    report_gate,
)
from exactk._cli.items import add_item_columns, add_item_options, naming_item_options, read_base, read_items
from exactk._cli.output import print_text
from exactk._cli.output_files import check_outputs, write_file
from exactk._cli.provenance import Input, Provenance
from exactk._cli.result import DATA_FORMATS, check_user_table_path, format_result, user_table_file
from exactk._cli.shards import (
    NO_SHARDS,
    FilesOfRun,
    Task,
    add_shard_options,
    check_shard_options,
    evaluate_shards,
    sharded_run,
    shards_of_command,
)
from exactk._cli.stdin import input_path, path_text
from exactk._cli.systems import advising_on_shards, find_files, find_systems, name_systems
from exactk._evaluate import DEFAULTS
from exactk._files import has_columns
from exactk._inputs.users_of_shard import Shard, users_of_shard
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import DEFAULT_METRICS, plan
from exactk._report.gate import Gate, junit_cases
from exactk._report.junit import Case, junit_report
from exactk._runtime import optional
from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._cli.arguments import Commands
    from exactk._cli.gates import ClaimedValue
    from exactk._cli.result import Result
    from exactk._engine.pipeline import Options

_CONVENTION: str = DEFAULTS["convention"]


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
    _add_truth(parser)
    parser.add_argument(
        "predictions", metavar="PREDICTIONS", help="predictions with scores or ranks: a file, directory or pattern"
    )
    parser.add_argument("others", nargs="*", default=[], help=argparse.SUPPRESS)  # told what to write
    _add_options(parser, several=False)
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
    _add_truth(parser)
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="NAME=PATH",
        help="a system's name and its predictions, with scores or ranks: a file, directory or pattern",
    )
    _add_options(parser, several=True)
    add_comparison_options(parser)
    add_gate_options(parser)
    parser.set_defaults(on_error=write_junit_error, **NO_SHARDS)


_FILES = ("exclude", "candidates", "train", "catalogue", "base_predictions", "groups", "weights")
"""The options of both commands that name an input."""


def _add_truth(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "truth", type=input_path, metavar="TRUTH", help="file with the relevant items of each user, such as qrels"
    )


def _add_options(parser: argparse.ArgumentParser, *, several: bool) -> None:
    """Add the options that both commands have."""
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        dest="metrics",
        metavar="METRIC",
        help=f"metric, see exactk metrics; repeatable (default: {', '.join(DEFAULT_METRICS)}); with --format trec, "
        "a measure of trec_eval, or a set such as all_trec (default: official)",
    )
    parser.add_argument(
        "--convention",
        metavar="NAME",
        help=f"preset, see exactk conventions (default: {_CONVENTION}; with --format trec, {trec.CONVENTION})",
    )
    add_set_option(
        parser, "change a convention field, such as nan=last, or for one metric, such as ndcg.gain=exp2; repeatable"
    )
    parser.add_argument("--exclude", type=input_path, metavar="FILE", help="items not to rank, such as training items")
    parser.add_argument(
        "--candidates",
        type=input_path,
        metavar="FILE",
        help="the only items that may be ranked: of each user, or one column of items for all users",
    )
    add_item_options(parser)
    parser.add_argument(
        "--groups",
        type=input_path,
        metavar="FILE",
        help="the group of each user: a column of users and one of groups, or JSON; adds the values of each group",
    )
    parser.add_argument(
        "--weights",
        type=input_path,
        metavar="FILE",
        help="the weight of each user in the mean: a column of users and one of weights, or JSON",
    )
    add_item_columns(add_column_options(parser, truth=True))
    add_format_option(parser)
    add_bound_options(parser, several=several)
    parser.add_argument(
        "--by-user",
        type=output_path,
        metavar="FILE",
        help="write per-user values to FILE: .parquet, .csv, .json or .jsonl",
    )
    parser.add_argument("-q", dest="users", action="store_true", help="with --format trec, also print per-user values")
    parser.add_argument(
        "--threads",
        type=parse_count,
        metavar="N",
        help="number of threads (default: every CPU that the process may use)",
    )
    parser.add_argument("--no-progress", action="store_true", help="do not draw a progress bar")


def run_evaluate(arguments: argparse.Namespace) -> int:
    if arguments.others:
        command = shlex.join(
            ["exactk", "compare", path_text(arguments.truth), arguments.predictions, *arguments.others]
        )
        arguments.parser.error(f"expected the predictions of one system, found {1 + len(arguments.others)}; {command}")
    return _run_systems(arguments, {"": find_files(arguments.predictions)})


def run_compare(arguments: argparse.Namespace) -> int:
    systems = find_systems(arguments.systems)
    check_systems(arguments.bounds, systems)
    compared = compared_systems(arguments, list(systems))
    check_gates(arguments, compared)
    if option := _asked_differences(arguments):
        check_pairs(arguments, compared)
        optional.require("scipy", option, "compare")
    with advising_on_shards(systems):
        return _run_systems(arguments, systems)


def write_junit_error(arguments: argparse.Namespace, text: str) -> None:
    """Say in the JUnit file that the command ended in an error, unless the file is an input: it would be that of an earlier run."""
    if arguments.junit is None:
        return
    inputs = [arguments.truth, *(getattr(arguments, name) for name in _FILES)]
    inputs += [Path(arguments.clusters)] if arguments.clusters else []
    for system in arguments.systems:
        with suppress(exactk.ExactkError, OSError):
            inputs += [path for paths in find_systems([system]).values() for path in paths]
    with suppress(exactk.ExactkError, OSError):
        check_outputs({"--junit": arguments.junit}, [path for path in inputs if path])
        write_file(
            arguments.junit, junit_report([Case("exactk compare", "error", text)]).encode(errors="backslashreplace")
        )


class _Request(NamedTuple):
    """What a command computes, known before any file is read."""

    base: str  # the preset
    convention: exactk.Convention
    metrics: Sequence[str]
    trec: trec.Request | None  # for the output of trec_eval
    margins: Mapping[str, str]
    claims: Sequence[ClaimedValue]


class _Data(NamedTuple):
    """What the files of a command hold."""

    truth: Any
    predictions: Mapping[str, Any]  # by system
    options: Options


def _run_systems(arguments: argparse.Namespace, systems: Mapping[str, Sequence[Path]]) -> int:
    """Evaluate the files of each system by its name; the only system of `exactk evaluate` has none."""
    inputs = _inputs(arguments, systems)
    _check_options(arguments, inputs)
    request = _request(arguments)
    files = FilesOfRun(inputs)
    shards = shards_of_command(arguments, inputs)
    result: Result
    if arguments.shards:
        data, result = None, _evaluate_shards(arguments, systems, inputs, request, files)
    else:
        data = _read(arguments, systems, request)
        if arguments.shard:
            data = _of_shard(data, arguments.shard)
        result = _evaluate(arguments, request, data)
    if shards and isinstance(result, exactk.Report):
        files.check()
        result = result.of_shards(shards)
    if request.trec and data:
        trec.check_judged(request.base, data.truth, data.predictions, result)
        trec.check_evaluated(result)
        trec.tell_missing_measures(request.trec.without_metric)
    check_bounded(result, arguments.bounds)
    gate = check_claims(result, request.claims) if isinstance(result, exactk.Comparison) else Gate(())
    bounded = list(bound_cases(result, arguments.bounds))
    _write_files(arguments, result, [*junit_cases(gate), *bounded])
    provenance = Provenance(arguments.command_line, inputs, arguments.stdin)
    if request.trec and data:
        tag = _runid(arguments, systems[""]) if "" in systems else ""  # others have their names
        in_run = trec.users_of_run(request.base, data.predictions)
        output = trec.Output(arguments.users, request.trec.header, tag, in_run)
        print_text(format_result(result, arguments.format, provenance, output), is_data=True)
    else:
        has_differences = bool(_asked_differences(arguments))
        text = format_result(result, arguments.format, provenance, has_differences=has_differences)
        print_text(text, is_data=arguments.format in DATA_FORMATS)
    has_violation = report_violations(bounded)
    code = report_gate(gate)
    return 1 if has_violation else code


def _read(arguments: argparse.Namespace, systems: Mapping[str, Sequence[Path]], request: _Request) -> _Data:
    truth = read_file(arguments, arguments.truth, "truth")
    options: Options = {
        "convention": request.convention,
        "exclude": arguments.exclude and read_file(arguments, arguments.exclude, "exclude"),
        "candidates": read_option(arguments, "candidates", arguments.candidates),
        "items": read_items(arguments),
        "base_predictions": read_base(arguments),
        **_user_values(arguments),
        "per_user": bool(arguments.users or arguments.by_user),
        "num_threads": arguments.threads,
        "progress": _has_progress_bar(arguments),
    }
    return _Data(truth, {system: read_system(arguments, paths) for system, paths in systems.items()}, options)


def _of_shard(data: _Data, shard: Shard) -> _Data:
    """Return the data of the users of a shard; the other inputs may have more users."""
    truth, predictions = users_of_shard(data.truth, data.predictions[""], shard)
    return data._replace(truth=truth, predictions={"": predictions})


def _evaluate(arguments: argparse.Namespace, request: _Request, data: _Data) -> Result:
    with naming_item_options():
        if "" in data.predictions:
            return exactk.evaluate(data.truth, data.predictions[""], request.metrics, **data.options)
        how = _comparison_options(arguments, request)
        return exactk.compare(data.truth, data.predictions, request.metrics, **data.options, **how)


def _evaluate_shards(
    arguments: argparse.Namespace,
    systems: Mapping[str, Sequence[Path]],
    inputs: Sequence[Input],
    request: _Request,
    files: FilesOfRun,
) -> exactk.Report:
    """Evaluate the shards that the folder lacks; the files are read once, and not at all if it has all."""
    read: list[_Data] = []

    def evaluate(shard: Shard) -> exactk.Report:
        if not read:
            read.append(_read(arguments, systems, request))
        report = _evaluate(arguments, request, _of_shard(read[0], shard))
        assert isinstance(report, exactk.Report)  # noqa: S101 - of `exactk evaluate`
        return report

    run = sharded_run(arguments, inputs, arguments.shards)
    task = Task(run, plan(request.metrics, request.convention), request.convention, evaluate, files)
    return evaluate_shards(task, arguments.shard_folder)


def _check_options(arguments: argparse.Namespace, inputs: Sequence[Input]) -> None:
    """Raise InputError, or end the program, for options that do not go together, and for files that are not as asked."""
    as_trec = arguments.format == "trec"
    if arguments.users and not as_trec:
        arguments.parser.error("-q goes with --format trec; --by-user writes each user's values to a file")
    if arguments.groups and as_trec:
        arguments.parser.error("--groups goes with any format but trec, which has no values of groups")
    option = _asked_differences(arguments)
    if option and as_trec and not arguments.gates:
        arguments.parser.error(f"{option} goes with any format but trec, which has no differences, or with a gate")
    check_shard_options(arguments)
    if arguments.by_user:
        check_user_table_path(arguments.by_user)
    outputs = {"--by-user": arguments.by_user, "--state": _state_path(arguments), "--junit": arguments.junit}
    check_outputs(outputs, [one.path for one in inputs])
    check_inputs(arguments, inputs)


def _request(arguments: argparse.Namespace) -> _Request:
    """Return what to compute. Raise InputError for invalid names of metrics and of the convention, and for claims."""
    as_trec = arguments.format == "trec"
    with name_argument("--convention"):
        base = as_convention(arguments.convention or (trec.CONVENTION if as_trec else _CONVENTION)).name
    convention = as_convention({"base": base, **changes_of(arguments)})
    of_trec = trec.parse_measures(arguments.metrics or trec.DEFAULT_MEASURES, base) if as_trec else None
    requested = of_trec.metrics if of_trec else arguments.metrics or list(DEFAULT_METRICS)
    margins = margins_of(arguments, convention)
    claims = claimed_values(arguments.gates, convention, margins)
    of_bounds = values_of_bounds(arguments.bounds, convention)
    values = [*plan(requested, convention), *of_bounds, *(one.value for one in claims)]
    check_margins(margins, values)
    return _Request(base, convention, [value.spelling for value in values], of_trec, margins, claims)


def _comparison_options(arguments: argparse.Namespace, request: _Request) -> dict[str, Any]:
    """Return the options of `exactk.compare` that were given."""
    return {
        **given_options(arguments),
        "margin": request.margins.get("", request.margins or None),
        "clusters": clusters_column(arguments) or read_option(arguments, "clusters", clusters_path(arguments)),
    }


def _write_files(arguments: argparse.Namespace, result: Result, cases: Sequence[Case]) -> None:
    if arguments.by_user:
        write_file(arguments.by_user, user_table_file(result, arguments.by_user))
    state_path = _state_path(arguments)
    if state_path and isinstance(result, exactk.Report):
        write_file(state_path, result.state.to_bytes())
    if arguments.junit:
        write_file(arguments.junit, junit_report(cases).encode(errors="backslashreplace"))


def _state_path(arguments: argparse.Namespace) -> Path | None:
    return getattr(arguments, "state", None)  # of `exactk evaluate`


def _asked_differences(arguments: argparse.Namespace) -> str:
    """Return the first option that asks for differences; empty if there is none."""
    options = [
        *(f"--{name}" for name in given_options(arguments)),
        *(claim_option(gate.claim) for gate in arguments.gates),
    ]
    return next(iter(options), "")


def _inputs(arguments: argparse.Namespace, systems: Mapping[str, Sequence[Path]]) -> list[Input]:
    """Return the files that the command reads."""
    predictions = [Input("predictions", path, system or None) for system, paths in systems.items() for path in paths]
    others = {name: getattr(arguments, name) for name in _FILES}
    others["clusters"] = clusters_path(arguments)
    return [
        Input("truth", arguments.truth),
        *predictions,
        *(Input(name, path) for name, path in others.items() if path),
    ]


def _user_values(arguments: argparse.Namespace) -> Options:
    """Return the groups and weights, and, if their files or that of clusters have columns, the name of the user column."""
    values: Options = {
        "groups": read_option(arguments, "groups", arguments.groups),
        "weights": read_option(arguments, "weights", arguments.weights),
    }
    paths = {"groups": arguments.groups, "weights": arguments.weights, "clusters": clusters_path(arguments)}
    if any(path and has_columns(path, name) for name, path in paths.items()):
        values["user"] = user_column(arguments)
    return values


def _runid(arguments: argparse.Namespace, paths: Sequence[Path]) -> str:
    """Return the tag of a single run, or its name if it has no tag."""
    (name,) = name_systems([Path(arguments.predictions)])
    with arguments.stdin.opened(paths[0]) as content:
        return trec.run_tag(content) or printable(name)


def _has_progress_bar(arguments: argparse.Namespace) -> bool:
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return not arguments.no_progress and is_terminal and optional.has("rich")
