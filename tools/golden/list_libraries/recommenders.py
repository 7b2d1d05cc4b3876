"""Microsoft's recommenders: frames of train and of lists, which are given cut, and of features."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from golden.list_cases import ListCase, ListKnobs
from golden.list_record import asked

if TYPE_CHECKING:
    from golden.list_record import ListOutput

# It refuses lists with items that the user had.
KNOBS = ListKnobs(seen_item=False)
CATALOGUE = "train"
UNSEEN = " where an item outside train is recommended"
DIFFERS = {
    "coverage" + UNSEEN: "It counts the items outside train, but divides by those of train: it may exceed 1.",
}
TOLERANCE = 1e-12

CALLS = {
    "novelty@k": "novelty(train, lists cut at k)",
    "coverage@k": "catalog_coverage(train, lists cut at k)",
    "entropy@k": "distributional_coverage(train, lists cut at k)",
    "ild@k(distance=cosine)": "user_diversity and diversity(train, lists cut at k, item_feature_df=features)",
    "serendipity@k": "user_serendipity and serendipity(train, lists with relevance, item_feature_df=features)",
}


def evaluate(case: ListCase) -> dict[str, ListOutput]:
    """Evaluate by the functions; a frame a cutoff."""
    import numpy as np
    from pandas import DataFrame
    from recommenders.evaluation import python_evaluation as library

    warnings.simplefilter("ignore")
    train = DataFrame(case.train, columns=["userID", "itemID"])
    once = train.drop_duplicates()  # where a history is averaged, a row that is there twice would count twice
    vectors = [(item, np.array(row, float)) for item, row in case.features.items()]
    features = DataFrame(vectors, columns=["itemID", "features"])
    by_features = {"item_feature_df": features, "item_sim_measure": "item_feature_vector"}
    of_train = set(case.items_of_train())

    def both(name: str, *data: Any, **options: Any) -> ListOutput:
        users = getattr(library, f"user_{name}")(*data, **options)
        by_user = dict(zip(users["userID"].tolist(), users[f"user_{name}"].tolist(), strict=True))
        return float(getattr(library, name)(*data, **options)), by_user

    def alone(name: str, reco: Any) -> ListOutput:
        return float(getattr(library, name)(train, reco)), None

    outputs: dict[str, ListOutput] = {}
    for k in case.cutoffs:
        rows = [
            (user, item, float(item in case.truth.get(user, [])))
            for user, row in case.lists.items()
            for item in row[:k]
        ]
        reco = DataFrame(rows, columns=["userID", "itemID", "relevance"])
        unseen = any(item not in of_train for _, item, _ in rows)
        for metric, name in (
            ("novelty", "novelty"),
            ("coverage", "catalog_coverage"),
            ("entropy", "distributional_coverage"),
        ):
            where = UNSEEN if unseen and metric == "coverage" else ""
            outputs[f"{metric}@{k}{where}"] = asked(partial(alone, name, reco))
        outputs[f"ild@{k}(distance=cosine)"] = asked(partial(both, "diversity", once, reco, **by_features))
        outputs[f"serendipity@{k}"] = asked(
            partial(both, "serendipity", once, reco, col_relevance="relevance", **by_features)
        )
    return outputs
