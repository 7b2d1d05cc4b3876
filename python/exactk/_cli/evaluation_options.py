"""The arguments and options that the commands share which evaluate predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._cli import trec
from exactk._cli.arguments import add_column_options, add_format_option, add_set_option, output_path, parse_count
from exactk._cli.bounds import add_bound_options
from exactk._cli.item_options import add_item_columns, add_item_options
from exactk._cli.stdin import input_path
from exactk._evaluate import DEFAULTS
from exactk._plan.metric_strings import DEFAULT_METRICS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


CONVENTION: str = DEFAULTS["convention"]


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


def add_options(
    parser: argparse.ArgumentParser, *, several: bool, prints: bool = True, metrics: Sequence[str] = DEFAULT_METRICS
) -> None:
    """Add the options that all commands have; `prints` is whether the command prints the values."""
    trec_metrics = (
        "; with --format trec, a measure of trec_eval, or a set such as all_trec (default: official)" * prints
    )
    of_trec = f"; with --format trec, {trec.CONVENTION}" * prints
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        dest="metrics",
        metavar="METRIC",
        help=f"metric, see exactk metrics; repeatable (default: {', '.join(metrics)}){trec_metrics}",
    )
    parser.add_argument(
        "--convention",
        metavar="NAME",
        help=f"preset, see exactk conventions (default: {CONVENTION}{of_trec})",
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
        "--threads",
        type=parse_count,
        metavar="N",
        help="number of threads (default: every CPU that the process may use)",
    )
    parser.add_argument("--no-progress", action="store_true", help="do not draw a progress bar")
    parser.set_defaults(default_metrics=metrics)
