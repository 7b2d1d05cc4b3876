"""recmetrics, the release: lists of lists, counts of the items in train, and their number of users."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from golden.list_cases import ListCase, ListKnobs, Lists
from golden.list_record import asked

if TYPE_CHECKING:
    from golden.list_record import ListOutput

DISTRIBUTION = "recmetrics"
# seaborn before 0.12 and pandas before 2 need them.
REQUIREMENTS = ("recmetrics==0.1.5", "numpy==1.26.4", "matplotlib==3.8.4")
SOURCE = ""
KNOBS = ListKnobs(empty_list=True)
CATALOGUE = "train"
FOREIGN = " where an item outside train is recommended"
DIFFERS = {
    "coverage" + FOREIGN: "Items outside the catalogue are counted, so that the coverage may exceed 1.",
}
TOLERANCE = 1e-12
TOLERANCES = {"coverage": 5.1e-5}  # it is rounded to two decimals of a percent

CALLS = {
    "novelty@k": "novelty(lists, counts, users, k)",
    "coverage@k": "prediction_coverage(lists, items of train)/ 100",
    "personalization@k": "personalization(lists)",
    "ild@k(distance=cosine)": "1 - intra_list_similarity(lists, features)",
}


def evaluate(case: ListCase) -> dict[str, ListOutput]:
    """Evaluate by the functions, which know no cutoff."""
    from pandas import DataFrame
    from recmetrics import metrics

    counts = dict(Counter(item for _, item in set(case.train)))  # a user counts once, as in the number of users
    num_users = len({user for user, _ in case.train})
    features = DataFrame.from_dict(case.features, orient="index").astype(float)

    def novelty(lists: Lists, k: int) -> ListOutput:
        mean, users = metrics.novelty(list(lists.values()), counts, num_users, k)
        return float(mean), dict(zip(lists, map(float, users), strict=True))

    def ild(lists: Lists) -> ListOutput:
        users = {user: 1 - float(metrics.intra_list_similarity([row], features)) for user, row in lists.items()}
        return 1 - float(metrics.intra_list_similarity(list(lists.values()), features)), users

    def personalization(rows: list[list[int]]) -> ListOutput:
        return float(metrics.personalization(rows)), None

    outputs: dict[str, ListOutput] = {}
    for k in case.cutoffs:
        lists = {user: row[:k] for user, row in case.lists.items()}
        rows = list(lists.values())
        foreign = any(item not in counts for row in rows for item in row)
        outputs[f"novelty@{k}"] = asked(partial(novelty, lists, k))
        outputs[f"coverage@{k}" + FOREIGN * foreign] = (metrics.prediction_coverage(rows, list(counts)) / 100, None)
        outputs[f"personalization@{k}"] = asked(partial(personalization, rows))
        outputs[f"ild@{k}(distance=cosine)"] = asked(partial(ild, lists))
    return outputs
