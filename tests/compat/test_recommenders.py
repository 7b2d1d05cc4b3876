"""Frames whose keys are categories: pandas groups by all of them, and so does recommenders."""

from __future__ import annotations

import pandas as pd
import pytest

from exactk.compat import recommenders

TRUE = pd.DataFrame({"userID": [1, 1, 2, 3, 3], "itemID": [1, 2, 3, 4, 1], "rating": [5.0, 3, 4, 1, 2]})
PREDICTED = pd.DataFrame(
    {"userID": [1, 1, 2, 2, 3, 4], "itemID": [2, 3, 3, 1, 9, 1], "prediction": [0.9, 0.8, 0.7, 0.6, 0.4, 0.5]}
)
USERS, ITEMS = pd.CategoricalDtype([1, 2, 3, 4, 5]), pd.CategoricalDtype([1, 2, 3, 4, 9])


def with_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with categories of both frames."""
    return frame.astype({"userID": USERS, "itemID": ITEMS})


# What recommenders 1.2.1 returns with pandas 2.3.
@pytest.mark.parametrize(
    ("name", "value", "by_category"),
    [
        ("precision_at_k", 1 / 3, 1 / 3),
        ("recall_at_k", 0.5, 0.5),
        ("r_precision_at_k", 0.75, 0.5),
        ("ndcg_at_k", 0.5377157309218195, 0.5377157309218195),
        ("map", 0.5, 0.5),
        ("map_at_k", 0.5, 0.5),
    ],
)
def test_users_of_shared_categories_are_grouped_as_pandas_does(name: str, value: float, by_category: float) -> None:
    function = getattr(recommenders, name)
    assert function(TRUE, PREDICTED, k=2) == pytest.approx(value)
    assert function(with_categories(TRUE), with_categories(PREDICTED), k=2) == pytest.approx(by_category)
    of_one = PREDICTED.astype({"userID": "category", "itemID": "category"})
    assert function(with_categories(TRUE), of_one, k=2) == pytest.approx(value)  # other categories


def test_counts_have_all_shared_categories() -> None:
    hits, counts, user_count = recommenders.merge_ranking_true_pred(
        with_categories(TRUE), with_categories(PREDICTED), relevancy_method="top_k", k=2
    )
    assert hits.to_dict("list") == {"userID": [1, 2], "itemID": [2, 3], "rank": [1, 1]}
    assert (hits["userID"].dtype, counts["userID"].dtype) == (USERS, USERS)
    expected = {"userID": [1, 2, 3, 4, 5], "hit": [1, 1, 0, 0, 0], "actual": [2, 1, 2, 0, 0]}
    assert counts.to_dict("list") == expected
    assert user_count == 3


def test_the_first_items_are_in_the_order_of_categories() -> None:
    order = pd.CategoricalDtype([3, 1, 2])
    top = recommenders.get_top_k_items(TRUE.astype({"userID": order}), k=1)
    assert top.to_dict("list") == {"userID": [3, 1, 2], "itemID": [1, 1, 3], "rating": [2, 5, 4], "rank": [1, 1, 1]}


def test_the_best_items_of_no_rows_are_no_rows() -> None:
    assert recommenders.get_top_k_items(PREDICTED.iloc[:0], col_rating="prediction").empty
