"""irspack: an Evaluator of a matrix of scores and the matrix of the truth, whose columns are the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.list_cases import ListCase, ListKnobs

if TYPE_CHECKING:
    from golden.list_record import ListOutput

KNOBS = ListKnobs(empty_list=True, foreign_item=False)
CATALOGUE = "given"
DIFFERS: dict[str, str] = {}
TOLERANCE = 1e-12

NAMES = {"num_items": "appeared_item", "coverage": "catalog_coverage", "gini": "gini_index", "entropy": "entropy"}
CALLS = {f"{metric}@k": f"Evaluator.get_scores_from_score_matrix {name}@k" for metric, name in NAMES.items()}


def evaluate(case: ListCase) -> dict[str, ListOutput]:
    """Evaluate by an Evaluator; an item of score -inf is not recommended."""
    import numpy as np
    from irspack.evaluation import Evaluator
    from scipy.sparse import csr_matrix

    users = sorted({*case.truth, *case.lists})
    column = {item: position for position, item in enumerate(case.catalogue)}
    pairs = [(users.index(user), column[item]) for user, row in case.truth.items() for item in row]
    rows, columns = np.array(pairs).T
    truth = csr_matrix((np.ones(len(pairs)), (rows, columns)), shape=(len(users), len(case.catalogue)))
    scores = np.full(truth.shape, -np.inf)
    for user, row in case.lists.items():
        for rank, item in enumerate(row):
            scores[users.index(user), column[item]] = -rank
    found = Evaluator(truth, n_threads=1).get_scores_from_score_matrix(scores, case.cutoffs)
    return {f"{metric}@{k}": (found[f"{name}@{k}"], None) for metric, name in NAMES.items() for k in case.cutoffs}
