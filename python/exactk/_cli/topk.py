from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import exactk
from exactk._cli import trec
from exactk._cli.arguments import add_columns, add_command, read, written_file
from exactk._cli.output import say, write
from exactk._cli.result import as_json
from exactk._report import display
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from exactk._cli.arguments import Commands


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "topk",
        _run,
        "rank each user's items by their scores and keep the best",
        "exactk topk scores.csv -k 10 --exclude train.csv -o best.run",
    )
    parser.add_argument("scores", type=Path, metavar="SCORES", help="a user, an item and its score a row, in any order")
    parser.add_argument("-k", type=int, required=True, help="how many of each user")
    parser.add_argument(
        "--exclude", type=Path, metavar="FILE", help="items not to be ranked, such as those of training"
    )
    add_columns(parser, truth=False)
    parser.add_argument(
        "--format",
        choices=tuple(_FORMATS),
        default="trec",
        help="trec: a run, ranks from 1; csv: a row an item, with ' before text that a spreadsheet would run as a "
        "formula; json: a line a user (default: trec)",
    )
    parser.add_argument(
        "-o", dest="output", type=written_file, metavar="FILE", help="where to write it (default: stdout)"
    )


def _run(arguments: argparse.Namespace) -> int:
    scores = exactk.as_predictions(read(arguments, arguments.scores, "predictions"))
    if not isinstance(scores, exactk.SparseScores):
        raise type_error("scores", "a score for each user and item", type(scores).__name__)
    exclude = arguments.exclude and read(arguments, arguments.exclude, "exclude")
    best = exactk.topk(scores, arguments.k, exclude)
    users = np.arange(len(scores)) if scores.user_vocabulary is None else scores.user_vocabulary.array
    text = "".join(_FORMATS[arguments.format](_lists(users, best)))
    if arguments.output:
        write(arguments.output, text.encode(errors="backslashreplace"))
    else:
        say(text)
    return 0


class _List(NamedTuple):
    user: Any
    items: list[Any]
    scores: list[Any]


def _lists(users: NDArray[Any], best: exactk.TopK) -> Iterator[_List]:
    """Yield each user's best items by name."""
    for user, ids, scores in zip(users.tolist(), *best, strict=True):
        items = [item for item in ids.tolist() if item not in (-1, None)]  # those are padding
        yield _List(user, items, scores[: len(items)].tolist())


def _trec(lists: Iterable[_List]) -> Iterator[str]:
    for user, items, scores in lists:
        for rank, (item, score) in enumerate(zip(items, scores, strict=True), 1):
            yield f"{_field(user)} Q0 {_field(item)} {rank} {score!r} exactk\n"


def _field(name: object) -> str:
    """Return a name as a field of TREC text, where blanks end fields."""
    text = trec.word(name)
    if not text or text.split() != [text]:
        raise input_error("--format trec", "names without blanks, or csv or json", repr(text))
    return text


def _csv(lists: Iterable[_List]) -> Iterator[str]:
    rows = [
        (user, item, rank, score)
        for user, items, scores in lists
        for rank, (item, score) in enumerate(zip(items, scores, strict=True), 1)
    ]
    yield display.csv(dict(zip(("user", "item", "rank", "score"), zip(*rows, strict=True), strict=True)))


def _json(lists: Iterable[_List]) -> Iterator[str]:
    for one in lists:
        yield as_json(one._asdict()) + "\n"


_FORMATS = {"trec": _trec, "csv": _csv, "json": _json}
