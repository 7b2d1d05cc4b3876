"""Ids that are categories: RecTools takes those of no row for users and items."""

from __future__ import annotations

import pandas as pd
import pytest

from exactk.compat import rectools

RECO = pd.DataFrame({"user_id": [1, 1, 2], "item_id": [7, 8, 8], "rank": [1, 2, 1]})
INTERACTIONS = pd.DataFrame({"user_id": [1, 2], "item_id": [8, 8]})
METRICS = {"precision@2": rectools.Precision(k=2), "ndcg@2": rectools.NDCG(k=2)}


@pytest.mark.parametrize("column", ["user_id", "item_id"])
def test_categories_of_no_row_are_refused(column: str) -> None:
    categories = pd.CategoricalDtype([1, 2, 3, 7, 8])
    reco, interactions = (frame.astype({column: categories}) for frame in (RECO, INTERACTIONS))
    with pytest.raises(TypeError, match=rf"{column}: expected categories .*remove_unused_categories"):
        rectools.HitRate(k=2).calc(reco, interactions)
    with pytest.raises(TypeError, match="of no row"):
        rectools.calc_metrics(METRICS, reco, interactions)
    with pytest.raises(TypeError, match="of no row"):
        rectools.MRR(k=2).calc(reco, interactions[:0])
    reco, interactions = (
        frame.assign(**{column: frame[column].cat.remove_unused_categories()}) for frame in (reco, interactions)
    )
    assert rectools.calc_metrics(METRICS, reco, interactions) == rectools.calc_metrics(METRICS, RECO, INTERACTIONS)
