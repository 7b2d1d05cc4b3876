"""Inputs of metrics of lists that are likely meant otherwise: refused, or warned of, with what to write."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import exactk

TRAIN = {"ann": ["a", "b", "c"], "bob": ["a", "c"], "eve": ["c"]}
LISTS = {"ann": ["a", "b"]}
SOME = exactk.Items(["a", "b"], train=TRAIN)
OUTSIDE = r"items: 1 item of train outside the catalogue: the sums, the ranks and the highest popularity in "


@pytest.mark.parametrize("metric", [
    "arp@2(arp_over=max)", "arp@2(arp_over=interactions)", "popularity_rank@2", "aplt@2",
    "novelty@2(popularity=interactions,novelty_over=interactions)",
])  # fmt: skip
def test_a_catalogue_smaller_than_train_is_warned_of(metric: str) -> None:
    with pytest.warns(exactk.EvaluationWarning, match=OUTSIDE):
        exactk.evaluate(None, LISTS, metric, items=SOME)


@pytest.mark.parametrize(
    "metric", ["novelty@2", "arp@2", "arp@2(arp_over=users)", "coverage@2", "aplt@2(head=1,tail=at_most)"]
)
def test_it_is_not_where_each_item_counts_by_itself(metric: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exactk.evaluate(None, LISTS, metric, items=SOME)
        exactk.evaluate(None, LISTS, "arp@2(arp_over=max)", items=TRAIN)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
def test_a_matrix_of_zeros_and_ones_is_no_list_of_ids(dtype: Any) -> None:
    flags = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    with pytest.raises(exactk.InputError, match=r"train: .*; train\.astype\(bool\) has a column per item"):
        exactk.Items(train=flags)
    with pytest.raises(exactk.InputError, match=r"items: .*; items\.astype\(bool\) has a column per item"):
        exactk.evaluate(None, [[0, 1]], "novelty@1", items=flags)
    popularity = exactk.Items(train=flags.astype(bool)).popularity
    assert popularity is not None
    assert popularity.tolist() == [1, 1, 2]
    assert len(exactk.Items(train=np.array([[0, 1], [1, 0]]))) == 2
    assert len(exactk.Items(train=np.array([[0, 1, 2], [1, 0, 3]]))) == 4


COUNTS: list[Any] = [Counter({1: 3, 2: 1}), pd.Series([1, 2, 1]).value_counts()]


@pytest.mark.parametrize("counts", COUNTS, ids=["Counter", "Series"])
def test_counts_of_items_are_no_items_of_users(counts: Any) -> None:
    with pytest.raises(exactk.InputTypeError, match=r"items: .*; exactk\.Items\(popularity=items\) reads them"):
        exactk.evaluate(None, [[1, 2]], "novelty@2", items=counts)
    with pytest.raises(exactk.InputTypeError, match=r"train: .*; exactk\.Items\(popularity=train\) reads them"):
        exactk.Items(train=counts)
    items = exactk.Items(popularity=counts, train_users=4)
    assert items.keys.tolist() == [1, 2]
    rows = pd.DataFrame({"user": ["a", "a", "b"], "item": [1, 1, 2]}).value_counts()
    assert exactk.Items(train=rows).train_users == 2


@pytest.mark.parametrize("dtype", [float, bool])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_zeros_in_a_matrix_of_train_are_warned_of(dtype: Any, form: str) -> None:
    train = scipy.sparse.csr_array((np.array([1, 0, 0], dtype), ([0, 0, 1], [0, 1, 1])), (2, 2)).asformat(form)
    with pytest.warns(exactk.EvaluationWarning, match=r"train: stored zeros .*; train\.eliminate_zeros\(\) ") as caught:
        items = exactk.Items(train=train)
    assert len(caught) == 1
    assert items.popularity is not None
    assert items.popularity.tolist() == [1, 2]
    with pytest.warns(exactk.EvaluationWarning, match="items: stored zeros"):
        exactk.evaluate(None, [[0, 1]], "novelty@2", items=train)
    for line in ("train.data[:] = 1", "train.eliminate_zeros()"):
        other = train.copy()
        exec(line, {"train": other})  # noqa: S102 - of the warning
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert exactk.Items(train=other).train_users == 2 - ("zeros" in line)


def test_an_average_of_all_lists_together_is_refused() -> None:
    with pytest.raises(exactk.InputError, match="coverage without average=, as all lists together have one value"):
        exactk.evaluate(None, LISTS, "coverage@1(average=micro)", items=TRAIN)
    report = exactk.evaluate(None, LISTS, "coverage@1", items=TRAIN, convention={"average": "micro"})
    assert report["coverage@1"] == 1 / 3
