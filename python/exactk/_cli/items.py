"""The options for what metrics of the recommended items read: training data, a catalogue, base predictions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import exactk
from exactk._cli.arguments import read_file, read_option
from exactk._cli.stdin import input_path
from exactk._inputs.base_messages import naming_base
from exactk._inputs.interactions import naming_interactions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from exactk._inputs.types import PredictionsLike


def add_item_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--train",
        type=input_path,
        metavar="FILE",
        help="training data, for metrics that read the recommended items: their popularity and, without --catalogue, "
        "the items that could be recommended",
    )
    parser.add_argument(
        "--catalogue",
        type=input_path,
        metavar="FILE",
        help="the items that could be recommended: a column of items, or a JSON list",
    )
    parser.add_argument(
        "--base-predictions",
        type=input_path,
        metavar="FILE",
        help="other predictions of the same users, that unexpectedness compares the lists with",
    )


def read_items(arguments: argparse.Namespace) -> exactk.Items | None:
    """Return the items that could be recommended, and their popularity; None if no option names them."""
    if arguments.train is None and arguments.catalogue is None:
        return None
    catalogue = read_option(arguments, "catalogue", arguments.catalogue)
    if arguments.train is None:
        return exactk.Items(catalogue)
    with naming_interactions("train"):
        train = read_file(arguments, arguments.train, "exclude")
    return exactk.Items(catalogue, train=train)


def read_base(arguments: argparse.Namespace) -> PredictionsLike | None:
    """Return the base predictions; None if no option names them."""
    if arguments.base_predictions is None:
        return None
    with naming_base():
        base: PredictionsLike = read_file(arguments, arguments.base_predictions, "predictions")
    return base


@contextmanager
def naming_train() -> Iterator[None]:
    """Name the option in errors about items that a metric needs."""
    try:
        yield
    except exactk.ExactkError as error:
        if error.argument != "items" or not any("exactk.Items(" in str(part) for part in error.fault.hint):
            raise
        raise error.amended(hint=("--train FILE names the training data",)) from error
