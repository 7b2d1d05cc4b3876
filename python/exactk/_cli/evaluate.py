from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import exactk
from exactk._cli import trec
from exactk._cli.arguments import (
    add_column_options,
    add_command,
    add_result_options,
    add_set_option,
    changes_of,
    output_path,
    parse_count,
    read_file,
)
from exactk._cli.output import print_text
from exactk._cli.output_files import check_outputs, write_file
from exactk._cli.result import check_user_table_path, format_result, report_low_values, user_table_file
from exactk._cli.systems import name_systems
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import plan
from exactk._runtime import optional
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    import argparse

    from exactk._cli.arguments import Commands
    from exactk._cli.result import Result

DEFAULT_METRICS = ("ndcg@10", "recall@10", "precision@10", "average_precision@10", "reciprocal_rank@10", "hit_rate@10")


def add_evaluate(commands: Commands) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "evaluate",
        run_evaluate,
        "evaluate predictions against the truth, one file or several side by side",
        "exactk evaluate qrels.txt bm25.run dense.run -m ndcg@10 -m 'recall@[10,100]' --min ndcg@10=0.3",
        "Files are TREC text, CSV, JSON lines, Parquet, Arrow or .npz, by their ending. "
        "Exit code: 0; 1 if a value is below --min; 2 if the input is at fault.",
    )
    parser.add_argument("truth", type=Path, metavar="TRUTH", help="what the users found relevant, such as qrels")
    parser.add_argument(
        "predictions",
        type=Path,
        nargs="+",
        metavar="PREDICTIONS",
        help="what a system recommends, with scores or ranks",
    )
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        dest="metrics",
        metavar="METRIC",
        help=f"repeatable; exactk metrics lists them (default: {', '.join(DEFAULT_METRICS)}; of --format trec: trec_eval's own)",
    )
    parser.add_argument(
        "--convention",
        metavar="NAME",
        help="exactk conventions lists them (default: standard; of --format trec: trec_eval)",
    )
    add_set_option(
        parser, "change a field of the convention, as in nan=last, or for one metric, as in ndcg.gain=exp2; repeatable"
    )
    parser.add_argument(
        "--exclude", type=Path, metavar="FILE", help="items not to be ranked, such as those of training"
    )
    add_column_options(parser, truth=True)
    add_result_options(parser)
    parser.add_argument(
        "--by-user",
        type=output_path,
        metavar="FILE",
        help="write each user's values: .parquet, .csv, .json or .jsonl",
    )
    parser.add_argument("-q", dest="users", action="store_true", help="in --format trec, print each user's values too")
    parser.add_argument("--threads", type=parse_count, metavar="N", help="default: as many as this process may use")
    parser.add_argument("--no-progress", action="store_true", help="draw no bar on a terminal")


def run_evaluate(arguments: argparse.Namespace) -> int:
    as_trec = arguments.format == "trec"
    if arguments.users and not as_trec:
        arguments.parser.error("-q goes with --format trec; --by-user writes each user's values to a file")
    systems = name_systems(arguments.predictions)
    if arguments.state and len(systems) > 1:
        raise input_error("--state", "one file of predictions", str(len(systems)))
    if arguments.by_user:
        check_user_table_path(arguments.by_user)
    check_outputs(
        {"--by-user": arguments.by_user, "--state": arguments.state},
        [path for path in (arguments.truth, arguments.exclude, *arguments.predictions) if path],
    )
    base = arguments.convention or (trec.CONVENTION if as_trec else "standard")
    convention = as_convention({"base": base, **changes_of(arguments)})
    requested = arguments.metrics or list(trec.OFFICIAL if as_trec else DEFAULT_METRICS)
    num_q = as_trec and trec.NUM_Q in requested
    metrics = _metrics_to_compute(requested, arguments.min, convention, as_trec=as_trec)

    truth = read_file(arguments, arguments.truth, "truth")
    exclude = arguments.exclude and read_file(arguments, arguments.exclude, "exclude")
    predictions = {system: read_file(arguments, path, "predictions") for system, path in systems.items()}
    result: Result = exactk.evaluate(
        truth,
        predictions if len(systems) > 1 else next(iter(predictions.values())),
        metrics,
        convention=convention,
        exclude=exclude,
        per_user=bool(arguments.users or arguments.by_user),
        num_threads=arguments.threads,
        progress=_has_progress_bar(arguments),
    )
    if as_trec:
        trec.check_evaluated(result)
    if arguments.by_user:
        write_file(arguments.by_user, user_table_file(result, arguments.by_user))
    if arguments.state and isinstance(result, exactk.Report):
        write_file(arguments.state, result.state.to_bytes())
    print_text(format_result(result, arguments.format, users=arguments.users, num_q=num_q))
    return int(report_low_values(result, arguments.min))


def _metrics_to_compute(
    requested: list[str], minimums: list[tuple[str, float]], convention: exactk.Convention, *, as_trec: bool
) -> list[str]:
    """Return the metrics to compute: those requested and those that must reach something, each once.

    A name that is wrong is an error here, before the files are read.
    """
    if as_trec:  # every metric counts the users evaluated
        requested = [trec.metric_of_measure(measure) for measure in requested if measure != trec.NUM_Q] or ["num_ret"]
    return [value.name for value in plan([*requested, *(metric for metric, _ in minimums)], convention)]


def _has_progress_bar(arguments: argparse.Namespace) -> bool:
    return not arguments.no_progress and sys.stderr.isatty() and optional.has("rich")
