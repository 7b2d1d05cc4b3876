"""Missing items, None and NaN, in lists of `exactk.compat.recmetrics`."""

from __future__ import annotations

from typing import Any

import pytest

from exactk.compat import recmetrics

NAN = float("nan")


@pytest.mark.parametrize("missing", [(None, NAN), (NAN, None), (None, None), (NAN, float("nan"))])
def test_two_missing_items_of_a_list_are_one_item_twice(missing: tuple[Any, Any]) -> None:
    lists: list[list[Any]] = [["x", *missing], ["x", "y", None]]
    with pytest.raises(ValueError, match="expected each item at most once"):
        recmetrics.personalization(lists)


def test_missing_items_of_different_lists_are_no_items() -> None:
    lists: list[list[Any]] = [["x", None], ["x", NAN], [float("nan"), "x"]]
    assert recmetrics.personalization(lists) == pytest.approx(0.0)
