"""RecTools: frames of ranked items, of the interactions before, and a catalogue; a metric an object."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from golden.list_cases import FEATURES, ListCase, ListKnobs, Lists

if TYPE_CHECKING:
    from golden.list_record import ListOutput

KNOBS = ListKnobs()
CATALOGUE = "given"
FOREIGN = " where an item outside the catalogue is recommended"
LONGER = " where the second list is longer, or missing"
DIFFERS = {
    "coverage" + FOREIGN: "Items outside the catalogue are counted, so that the coverage may exceed 1.",
    "overlap"
    + LONGER: "Intersection divides by the first list alone, so it changes if the lists are exchanged; a missing list is an empty one.",
}
TOLERANCE = 1e-12

CALLS = {
    "novelty@k": "MeanInvUserFreq(k)",
    "arp@k": "AvgRecPopularity(k)",
    "arp@k(arp_over=interactions)": "AvgRecPopularity(k, normalize=True)",
    "num_items@k": "CatalogCoverage(k)",
    "coverage@k": "CatalogCoverage(k, normalize=True)",
    "list_fill@k": "SufficientReco(k, deep=True)",
    "user_coverage@k(least=k,users=predictions)": "SufficientReco(k)",
    "user_coverage@k": "CoveredUsers(k)",
    "ild@k(distance=hamming)": "IntraListDiversity(k, PairwiseHammingDistanceCalculator)",
    "serendipity@k(serendipity_of=popularity)": "Serendipity(k)",
    "overlap@k": "Intersection(k)",
}


def evaluate(case: ListCase) -> dict[str, ListOutput]:
    """Evaluate by calc_per_user and calc of each metric."""
    from pandas import DataFrame
    from rectools import Columns, metrics

    warnings.simplefilter("ignore")

    def frame(lists: Lists) -> Any:
        rows = [(user, item, rank) for user, row in lists.items() for rank, item in enumerate(row, 1)]
        return DataFrame(rows, columns=[Columns.User, Columns.Item, Columns.Rank])

    reco, other, truth = frame(case.lists), frame(case.other), frame(case.truth)
    train = DataFrame(case.train, columns=[Columns.User, Columns.Item])
    features = DataFrame.from_dict(case.features, orient="index", columns=[f"f{i}" for i in range(FEATURES)])
    hamming = metrics.PairwiseHammingDistanceCalculator(features)
    outputs: dict[str, ListOutput] = {}

    def ask(key: str, metric: Any, *data: Any) -> None:
        users = metric.calc_per_user(*data)
        outputs[key] = (float(metric.calc(*data)), {int(user): float(value) for user, value in users.items()})

    foreign = {item for row in case.lists.values() for item in row} - set(case.catalogue)
    for k in case.cutoffs:
        ask(f"novelty@{k}", metrics.MeanInvUserFreq(k=k), reco, train)
        ask(f"arp@{k}", metrics.AvgRecPopularity(k=k), reco, train)
        ask(f"arp@{k}(arp_over=interactions)", metrics.AvgRecPopularity(k=k, normalize=True), reco, train)
        ask(f"list_fill@{k}", metrics.SufficientReco(k=k, deep=True), reco)
        ask(f"user_coverage@{k}(least={k},users=predictions)", metrics.SufficientReco(k=k), reco)
        ask(f"user_coverage@{k}", metrics.CoveredUsers(k=k), reco, truth)
        ask(f"serendipity@{k}(serendipity_of=popularity)", metrics.Serendipity(k=k), reco, truth, train, case.catalogue)
        ask(
            f"ild@{k}(distance=hamming)",
            metrics.IntraListDiversity(k=k, distance_calculator=hamming),
            reco,
        )
        longer = any(
            len(case.other.get(user, [])[:k]) > len(row[:k]) or user not in case.other
            for user, row in case.lists.items()
        )
        ask(f"overlap@{k}" + LONGER * longer, metrics.Intersection(k=k), reco, other)
        for key, normalize in ((f"num_items@{k}", False), (f"coverage@{k}", True)):
            at_k = {item for row in case.lists.values() for item in row[:k]}
            where = FOREIGN if normalize and at_k & foreign else ""
            outputs[key + where] = (
                float(metrics.CatalogCoverage(k=k, normalize=normalize).calc(reco, case.catalogue)),
                None,
            )
    return outputs
