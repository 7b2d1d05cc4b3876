"""What recorded calls of RePlay cannot have: what is refused here, modes of one's own, and the order of users."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest

from exactk import InputTypeError
from exactk.compat import replay
from exactk.compat.replay import CategoricalDiversity, OfflineMetrics, PerUser, Recall, Unexpectedness

RECOMMENDATIONS = {"query_id": [2, 2, 1], "item_id": [7, 8, 8], "rating": [0.5, 0.25, 1.0]}
TRUTH = {"query_id": [2, 1, 1], "item_id": [8, 8, 9]}


class Largest(replay.CalculationDescriptor):
    def cpu(self, distribution: Any) -> Any:
        return distribution.to_series(0).max() if isinstance(distribution, pl.DataFrame) else distribution.max()


class SparkFrame:
    __module__ = "pyspark.sql.dataframe"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_modes_may_be_written_by_users(frame: Any) -> None:
    assert Recall(2, mode=Largest())(frame(RECOMMENDATIONS), frame(TRUTH)) == {"Recall-Largest@2": 1.0}


@pytest.mark.parametrize(("frame", "users"), [(pd.DataFrame, [1, 2]), (pl.DataFrame, [2, 1])], ids=["pandas", "polars"])
def test_users_ascend_with_pandas_and_are_in_the_order_of_rows_with_polars(frame: Any, users: list[int]) -> None:
    found = Recall(1, mode=PerUser())(frame(RECOMMENDATIONS), frame(TRUTH))["Recall-PerUser@1"]
    assert list(found) == users
    assert found == {1: 0.5, 2: 0.0}


@pytest.mark.parametrize("ids", [[2.0, 1.0, 1.0], ["2", "1", "1"], [None, 1, 1]])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_ids_of_other_kinds_and_missing_ones_are_refused(frame: Any, ids: list[Any]) -> None:
    with pytest.raises(InputTypeError):
        Recall(2)(frame(RECOMMENDATIONS), frame({**TRUTH, "item_id": ids}))


@pytest.mark.parametrize("topk", [0, -1, [1, 0]])
def test_values_of_topk_below_1_are_refused(topk: Any) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        replay.Coverage(topk)


def test_frames_of_spark_are_refused() -> None:
    frame = SparkFrame()
    calls: list[tuple[Any, int]] = [(Recall(1), 2), (CategoricalDiversity(1), 1), (OfflineMetrics([Recall(1)]), 2)]
    for metric, count in calls:
        with pytest.raises(TypeError, match=r"exactk\.spark\.evaluate"):
            metric(*[frame] * count)


def test_each_table_of_lists_with_a_repeated_item_gives_a_warning() -> None:
    repeated = {1: [(7, 0.5), (7, 0.25)]}
    with pytest.warns(replay.MetricDuplicatesWarning) as caught:
        found = Unexpectedness(2)(repeated, repeated)
    assert found == {"Unexpectedness@2": 0.5}
    assert [one.filename for one in caught] == [__file__] * 2


def test_unexpectedness_has_the_names_of_models() -> None:
    lists = {1: [(7, 0.5)]}
    found = OfflineMetrics([Unexpectedness(1)])(lists, {1: [7]}, None, {"one": lists, "other": {1: [(8, 0.5)]}})
    assert found == {"Unexpectedness_one@1": 0.0, "Unexpectedness_other@1": 1.0}


def test_users_of_unused_categories_have_empty_lists_and_no_truth() -> None:
    items = {"item_id": [7, 8, 8], "rating": [0.5, 0.25, 0.75]}
    lists = pd.DataFrame({"query_id": pd.Categorical([1, 1, 2], categories=[2, 9, 1]), **items})
    truth = pd.DataFrame({"query_id": pd.Categorical([1, 2], categories=[2, 1, 4]), "item_id": [7, 8]})
    assert replay.MAP(1)(lists, truth) == {"MAP@1": pytest.approx(2 / 3)}
    found = replay.MAP(1, mode=PerUser())(lists, truth)["MAP-PerUser@1"]
    assert list(found.items()) == [(2, 1.0), (1, 1.0), (4, 0.0)]
    assert replay.Surprisal(1, mode=PerUser())(lists, truth) == {"Surprisal-PerUser@1": {2: 1.0, 9: 0.0, 1: 1.0}}
    with pytest.raises(IndexError, match="a list of categories is empty"):
        CategoricalDiversity(1)(lists.rename(columns={"item_id": "category_id"}))
