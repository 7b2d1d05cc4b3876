"""LensKit: a dataset of train with all items, a run of lists, a metric an object; and functions of two lists."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from golden.list_cases import ListCase, ListKnobs

if TYPE_CHECKING:
    from golden.list_record import ListOutput

KNOBS = ListKnobs(empty_list=True)
CATALOGUE = "given"
FOREIGN = " where an item outside the catalogue is recommended"
DIFFERS = {
    "gini" + FOREIGN: "Items outside the catalogue are counted in the positions of others that are not recommended; it "
    "raises ValueError if these are too few.",
    "lip": "Ranks are counted from 0, k from 1: an item that comes from rank k + 1 counts as 0; and a list that shares "
    "no item with the first is 0 instead of 0 / 0.",
}
TOLERANCE = 1e-12

OF_RBO = "(p=0.85,rbo_over=truncated,undefined=zero)"
CALLS = {
    "gini@k": "ListGini(k, items=dataset)",
    "popularity_rank@k": "MeanPopRank(dataset, n=k)",
    "popularity_rank@k(popularity=interactions)": "MeanPopRank(dataset, n=k, count='interactions')",
    f"rbo@k{OF_RBO}": "rank_biased_overlap(first, second, n=k)",
    "lip@k": "least_item_promoted(first, second, n=k)",
}


def evaluate(case: ListCase) -> dict[str, ListOutput]:
    """Evaluate by RunAnalysis, and pair by pair."""
    import numpy as np
    from lenskit.data import DatasetBuilder, ItemList, ItemListCollection
    from lenskit.metrics import RunAnalysis
    from lenskit.metrics.ranking import ListGini, MeanPopRank
    from lenskit.metrics.reranking import least_item_promoted, rank_biased_overlap
    from pandas import DataFrame

    warnings.simplefilter("ignore")
    builder = DatasetBuilder()
    builder.add_entities("item", case.catalogue)
    train = DataFrame(case.train, columns=["user_id", "item_id"])
    builder.add_interactions("click", train, entities=["user", "item"], missing="insert", allow_repeats=True)
    dataset = builder.build()

    def ranked(row: list[int]) -> Any:
        return ItemList(item_ids=np.array(row, np.int64), ordered=True)

    lists, filled, test = (ItemListCollection(["user"]) for _ in range(3))
    for user, row in case.lists.items():
        lists.add(ranked(row), user=user)
        test.add(ranked(case.truth.get(user, [])), user=user)
        if row:  # ListGini raises ArrowTypeError for an empty list
            filled.add(ranked(row), user=user)
    both = [user for user in case.lists if user in case.other]
    outputs: dict[str, ListOutput] = {}
    for k in case.cutoffs:
        of_lists = RunAnalysis(ListGini(k, items=dataset)).measure(filled, test).global_metrics()
        foreign = any(item not in case.catalogue for row in case.lists.values() for item in row[:k])
        outputs[f"gini@{k}" + FOREIGN * foreign] = (float(of_lists.iloc[0]), None)
        analysis = RunAnalysis()
        analysis.add_metric(MeanPopRank(dataset, n=k), label="users")
        analysis.add_metric(MeanPopRank(dataset, n=k, count="interactions"), label="interactions")
        found = analysis.measure(lists, test)
        for rules, label in (("", "users"), ("(popularity=interactions)", "interactions")):
            users = found.list_metrics()[label]
            outputs[f"popularity_rank@{k}{rules}"] = (
                float(found.list_summary()["mean"][label]),
                {int(user): float(value) for user, value in users.items()},
            )
        for key, function in ((f"rbo@{k}{OF_RBO}", rank_biased_overlap), (f"lip@{k}", least_item_promoted)):
            values = {user: float(function(ranked(case.lists[user]), ranked(case.other[user]), n=k)) for user in both}
            outputs[key] = (None, values)
    return outputs
