"""The index of a Series or frame of `exactk.Items` has items, unless it may be labels of rows: then it is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import exactk

FRAME = pd.DataFrame({"item": [2, 0, 1], "n": [9, 5, 7], "label": ["c", "a", "b"]})
SORTED = FRAME.sort_values("item")
PARTS: dict[str, Callable[[Any], Any]] = {
    "popularity": lambda one: one,
    "values": lambda one: one,
    "item_groups": lambda one: one.map(str),
    "features": lambda one: one.map(lambda number: [float(number)]),
}


def items(catalogue: Any, argument: str, part: Any) -> exactk.Items:
    options: Any = {argument: part}
    return exactk.Items(catalogue, **options)


def digest(made: exactk.Items) -> int:
    return made.table.digest


@pytest.mark.parametrize("argument", PARTS)
@pytest.mark.parametrize("catalogue", [[2, 0, 1], np.array([5, 7, 9]), FRAME["item"], [0, 1, 3]], ids=str)
def test_numbers_of_rows_beside_integers_are_refused(argument: str, catalogue: Any) -> None:
    part = PARTS[argument](pd.Series([5, 7, 9]))
    with pytest.raises(exactk.InputError) as caught:
        items(catalogue, argument, part)
    assert str(caught.value).startswith(f"{argument}: expected items in the index, or values beside the")
    hint = "{0}={0}.to_numpy() is beside the catalogue, {0}={0}.to_dict() has items as keys"
    assert hint.format(argument) in str(caught.value)


@pytest.mark.parametrize("argument", PARTS)
def test_what_the_error_says_has_the_values_of_each_reading(argument: str) -> None:
    part = PARTS[argument](pd.Series([5, 7, 9]))
    by_item, beside = part.tolist(), part[[1, 2, 0]].tolist()
    assert digest(items([2, 0, 1], argument, part.to_dict())) == digest(items(3, argument, by_item))
    assert digest(items([2, 0, 1], argument, part.to_numpy())) == digest(items(3, argument, beside))


@pytest.mark.parametrize("argument", PARTS)
@pytest.mark.parametrize("catalogue", [3, [0, 1, 2], ["c", "a", "b"], FRAME["label"]], ids=str)
def test_the_default_index_is_beside_the_catalogue_where_numbers_are_no_other_items(
    argument: str, catalogue: Any
) -> None:
    part = PARTS[argument](pd.Series([5, 7, 9]))
    assert digest(items(catalogue, argument, part)) == digest(items(catalogue, argument, part.tolist()))


@pytest.mark.parametrize("argument", PARTS)
@pytest.mark.parametrize(
    "select", [lambda one: one, lambda one: one.sort_index(), lambda one: one[:2]], ids=["same", "sorted", "some"]
)
@pytest.mark.parametrize("column", ["item", "label"])
def test_labels_of_the_rows_of_the_catalogue_are_refused(
    argument: str, select: Callable[[Any], Any], column: str
) -> None:
    part = PARTS[argument](select(SORTED.set_axis([7, 2, 1])["n"]))
    catalogue = SORTED.set_axis([7, 2, 1])[column]
    with pytest.raises(exactk.InputError) as caught:
        items(catalogue, argument, part)
    assert str(caught.value).startswith(f"{argument}: expected an index of items, or no index, found labels")
    hint = "{0}=dict(zip(catalogue[{0}.index], {0})) takes the items of these rows"
    assert hint.format(argument) in str(caught.value)
    given = dict(zip(catalogue[part.index], part, strict=True))
    of_items = dict(zip(SORTED[column], PARTS[argument](SORTED["n"]), strict=True))
    row_by_row = {item: of_items[item] for item in of_items if item in given}
    assert digest(items(catalogue, argument, given)) == digest(items(catalogue, argument, row_by_row))


def test_repeated_labels_are_refused() -> None:
    twice = FRAME.set_axis([0, 0, 1])
    with pytest.raises(exactk.InputError, match="values: expected an index of items, or no index"):
        exactk.Items(twice["item"], values=twice["n"])


def test_a_frame_with_labels_of_the_catalogue_is_refused() -> None:
    frame = SORTED[["n"]]
    message = r"features: expected an index of items, .*; features=features.assign\(item=catalogue\) takes the items of these rows"
    with pytest.raises(exactk.InputError, match=message):
        exactk.Items(SORTED["item"], features=frame)
    with pytest.raises(exactk.InputError, match="values: expected an index of items, or no index"):
        exactk.Items(SORTED["item"], values=frame)
    beside = exactk.Items(SORTED["item"], values=frame.assign(item=SORTED["item"]))
    by_item = exactk.Items(SORTED["item"], values=frame.rename_axis("item"))
    assert digest(beside) == digest(exactk.Items([0, 1, 2], values=[5, 7, 9]))
    assert digest(by_item) == digest(exactk.Items([0, 1, 2], values=[9, 5, 7]))


NAMED = SORTED.set_index("item")["n"]


@pytest.mark.parametrize("part", [NAMED, NAMED.rename_axis("item_id"), NAMED.sort_values()])
def test_named_items_in_the_index_are_read(part: Any) -> None:
    assert digest(exactk.Items(SORTED["item"], values=part)) == digest(exactk.Items([0, 1, 2], values=[5, 7, 9]))


def test_labels_that_are_the_items_are_read() -> None:
    labelled = FRAME.set_index("item", drop=False).rename_axis(None)
    made = exactk.Items(labelled["item"], values=labelled["n"])
    assert digest(made) == digest(exactk.Items([0, 1, 2], values=[5, 7, 9]))
    others = pd.Series([1.0, 2.0], index=[40, 50])
    catalogue = pd.Series([40, 50], index=[3, 4])
    assert digest(exactk.Items(catalogue, values=others)) == digest(exactk.Items([40, 50], values=[1, 2]))
