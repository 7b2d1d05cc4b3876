"""The options for what metrics of the recommended items read: training data, a catalogue and its columns, base predictions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

import exactk
from exactk._cli.arguments import read_file, read_option
from exactk._cli.stdin import input_path
from exactk._files.file_arguments import read_catalogue_columns
from exactk._inputs.alignment import naming_base
from exactk._inputs.item_parts import naming_interactions
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from exactk._inputs.keys.column_roles import ColumnNames
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


def add_item_columns(columns: argparse._ArgumentGroup) -> None:
    """Add the options that name columns of the catalogue; no name of theirs is common."""
    columns.add_argument(
        "--item-group",
        metavar="NAME",
        help="column of --catalogue with the group of each item, for rsp, reo and exposure",
    )
    columns.add_argument(
        "--item-value",
        metavar="NAME",
        help="column of --catalogue with the value of each item, for recall(weight=values)",
    )
    columns.add_argument(
        "--item-feature",
        action="append",
        metavar="NAME",
        help="column of --catalogue with a number, or a list of numbers or tags, of each item, for ild, serendipity and "
        "calibration; repeat it for several numbers",
    )


def read_items(arguments: argparse.Namespace) -> exactk.Items | None:
    """Return the items that could be recommended, and what is known of them; None if no option names them."""
    of_columns = _read_columns(arguments)
    if arguments.train is None and arguments.catalogue is None:
        return None
    catalogue = read_option(arguments, "catalogue", arguments.catalogue)
    train = None
    if arguments.train is not None:
        with naming_interactions("train"):
            train = read_file(arguments, arguments.train, "exclude")
    return exactk.Items(catalogue, train=train, **of_columns)


def _read_columns(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the columns of the catalogue say of its items."""
    group, value, features = (getattr(arguments, name) for name in _COLUMN_OPTIONS)
    if arguments.catalogue is None:
        for name in _COLUMN_OPTIONS:
            if getattr(arguments, name):
                option = f"--{name.replace('_', '-')}"
                raise input_error(option, "--catalogue FILE, which has the column", "none")
        return {}
    columns: ColumnNames = {"item": arguments.item}
    read: dict[str, Any] = {}
    if group:
        (read["item_groups"],) = read_catalogue_columns(arguments.catalogue, [group], columns, are_numbers=False)
    if value:
        (read["values"],) = read_catalogue_columns(arguments.catalogue, [value], columns, are_numbers=True)
    if features:
        parts = read_catalogue_columns(arguments.catalogue, features, columns, are_numbers=True)
        has_lists = any(isinstance(part, list) for part in parts)
        if has_lists and len(parts) > 1:
            raise input_error("--item-feature", "columns of numbers, or one column of lists", "several with lists")
        read["features"] = parts[0] if has_lists else np.column_stack(parts)
    return read


_COLUMN_OPTIONS = ("item_group", "item_value", "item_feature")


def read_base(arguments: argparse.Namespace) -> PredictionsLike | None:
    """Return the base predictions; None if no option names them."""
    if arguments.base_predictions is None:
        return None
    with naming_base():
        base: PredictionsLike = read_file(arguments, arguments.base_predictions, "predictions")
    return base


@contextmanager
def naming_item_options() -> Iterator[None]:
    """Name the option in errors about what a metric needs to know of the items."""
    try:
        yield
    except exactk.ExactkError as error:
        hint = next((_HINTS[part] for part in _HINTS if any(part in str(one) for one in error.fault.hint)), None)
        if hint is None or error.argument not in {"items", "base_predictions"}:
            raise
        raise error.amended(hint=(hint,)) from error


_HINTS = {
    "item_groups=": "--catalogue FILE --item-group NAME names a column of groups",
    "values=": "--catalogue FILE --item-value NAME names a column of values",
    "features=": "--catalogue FILE --item-feature NAME names a column of features",
    "base_predictions=": "--base-predictions FILE names them",
    "exactk.Items(": "--train FILE names the training data",
}
"""What a hint says in Python, and on the command line."""
