from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import exactk
from exactk._cli import trec
from exactk._cli.arguments import (
    add_column_options,
    add_command,
    add_set_option,
    changes_of,
    check_inputs,
    output_path,
    parse_count,
    read_file,
)
from exactk._cli.output import print_text
from exactk._cli.output_files import check_outputs
from exactk._cli.provenance import Input
from exactk._cli.result import json_object
from exactk._cli.stdin import input_path
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.table_formats import format_csv
from exactk._runtime.written_files import write_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from exactk._cli.arguments import Commands


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
    parser.add_argument("--exclude", type=input_path, metavar="FILE", help="items not to rank, such as training items")
    add_set_option(
        parser, "how scores are ranked, such as ties=highest_id, nan=last or score_dtype=float32; repeatable"
    )
    add_column_options(parser, truth=False)
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
    if arguments.output:
        write_file(arguments.output, text.encode("utf-8", "surrogateescape"))
    else:
        print_text(text, is_data=True)
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
