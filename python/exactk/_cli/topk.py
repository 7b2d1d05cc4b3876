from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import exactk
from exactk._cli import trec
from exactk._cli.arguments import add_column_options, add_command, output_path, read_file
from exactk._cli.output import print_text, write_file
from exactk._cli.result import json_object
from exactk._report import display
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from exactk._cli.arguments import Commands


def add_topk(commands: Commands) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "topk",
        run_topk,
        "rank each user's items by their scores and keep the best",
        "exactk topk scores.csv -k 10 --exclude train.csv -o best.run",
    )
    parser.add_argument("scores", type=Path, metavar="SCORES", help="a user, an item and its score a row, in any order")
    parser.add_argument("-k", type=int, required=True, help="how many of each user")
    parser.add_argument(
        "--exclude", type=Path, metavar="FILE", help="items not to be ranked, such as those of training"
    )
    add_column_options(parser, truth=False)
    parser.add_argument(
        "--format",
        choices=tuple(_FORMATS),
        default="trec",
        help="trec: a run, ranks from 1; csv: a row an item, with ' before text that a spreadsheet would run as a "
        "formula; json: a line a user (default: trec)",
    )
    parser.add_argument(
        "-o", dest="output", type=output_path, metavar="FILE", help="where to write it (default: stdout)"
    )


def run_topk(arguments: argparse.Namespace) -> int:
    scores = exactk.as_predictions(read_file(arguments, arguments.scores, "predictions"))
    if not isinstance(scores, exactk.SparseScores):
        raise type_error("scores", "a score for each user and item", type(scores).__name__)
    exclude = arguments.exclude and read_file(arguments, arguments.exclude, "exclude")
    best = exactk.topk(scores, arguments.k, exclude)
    users = np.arange(len(scores)) if scores.user_vocabulary is None else scores.user_vocabulary.array
    text = "".join(_FORMATS[arguments.format](_ranked_lists(users, best)))
    if arguments.output:
        write_file(arguments.output, text.encode(errors="backslashreplace"))
    else:
        print_text(text)
    return 0


class _RankedList(NamedTuple):
    user: Any
    items: list[Any]
    scores: list[Any]


def _ranked_lists(users: NDArray[Any], best: exactk.TopK) -> Iterator[_RankedList]:
    """Yield each user's best items by their keys."""
    for user, ids, scores in zip(users.tolist(), *best, strict=True):
        items = [item for item in ids.tolist() if item not in (-1, None)]  # those are padding
        yield _RankedList(user, items, scores[: len(items)].tolist())


def _trec_lines(lists: Iterable[_RankedList]) -> Iterator[str]:
    for user, items, scores in lists:
        for rank, (item, score) in enumerate(zip(items, scores, strict=True), 1):
            yield f"{_trec_field(user)} Q0 {_trec_field(item)} {rank} {score!r} exactk\n"


def _trec_field(key: object) -> str:
    """Return a key as a field of TREC text, where blanks end fields."""
    text = trec.key_text(key)
    if not text or text.split() != [text]:
        raise input_error("--format trec", "names without blanks, or csv or json", repr(text))
    return text


def _csv_text(lists: Iterable[_RankedList]) -> Iterator[str]:
    rows = [
        (user, item, rank, score)
        for user, items, scores in lists
        for rank, (item, score) in enumerate(zip(items, scores, strict=True), 1)
    ]
    yield display.format_csv(dict(zip(("user", "item", "rank", "score"), zip(*rows, strict=True), strict=True)))


def _json_lines(lists: Iterable[_RankedList]) -> Iterator[str]:
    for ranked_list in lists:
        yield json_object(ranked_list._asdict()) + "\n"


_FORMATS = {"trec": _trec_lines, "csv": _csv_text, "json": _json_lines}
