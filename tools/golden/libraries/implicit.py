"""implicit: asks a model for its lists, so one stands here that has nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.cases import LISTS, RANKS, SCORES, Case, Knobs, Pairs

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "implicit"
MODULE = "implicit"
REQUIREMENTS = ("implicit==0.7.3",)
SOURCE = ""
INPUT = "rankings"
MIN_SCORE = None
# The truth is a sparse matrix, of which every stored entry is relevant, a zero as well.
KNOBS = Knobs(grades=(-1, 0, 0.5, 1, 2, 3), missing_truth=True, missing_list=True, repeated_list=True)
NOT_DRAWN = dict.fromkeys((*SCORES, *RANKS), LISTS)
SHORT = " where a list is shorter than k"
DIFFERS = {"list_auc" + SHORT: "The empty positions are counted as items that are no hits."}
TOLERANCE = 1e-12

NAMES = {"precision": "precision", "average_precision": "map", "ndcg": "ndcg", "list_auc": "auc"}
CALLS = {f"{metric}@k": f"ranking_metrics_at_k(K=k) {name}" for metric, name in NAMES.items()}


class Lists:
    """A model that recommends given lists, where they are short padded with -1."""

    def __init__(self, lists: list[Pairs | None]) -> None:
        """Keep the lists."""
        self._lists = lists

    def recommend(self, users: Any, _user_items: Any, N: int) -> tuple[Any, Any]:  # noqa: N803 - implicit's
        """Return the items of the users and their scores."""
        import numpy as np

        ids = np.full((len(users), N), -1, dtype=np.int32)
        for row, user in enumerate(users):
            items = [item for item, _ in self._lists[user] or []][:N]
            ids[row, : len(items)] = items
        return ids, np.zeros(ids.shape, dtype=np.float32)


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by ranking_metrics_at_k, and by one of each user."""
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    shape = (len(case.truth), case.items)
    entries = [(u, item, grade) for u, row in enumerate(case.truth) for item, grade in row or []]
    rows, columns, grades = np.array(entries, dtype=np.float64).T
    truth = csr_matrix((grades, (rows.astype(np.int32), columns.astype(np.int32))), shape=shape)

    def asked(users: slice, k: int) -> dict[str, float]:
        model = Lists(case.predictions[users])
        train = csr_matrix(shape)[users]
        found: dict[str, float] = ranking_metrics_at_k(
            model, train, truth[users], k, show_progress=False, num_threads=1
        )
        return found

    outputs: dict[str, Output] = {}
    for k in case.cutoffs:
        mean = asked(slice(None), k)
        users = [asked(slice(u, u + 1), k) if row else None for u, row in enumerate(case.truth)]
        for metric, name in NAMES.items():
            said = (mean[name], [None if values is None else values[name] for values in users])
            if metric == "list_auc":
                short = any(len(row or []) < k for row in case.predictions)
                outputs[f"{metric}@{k}(num_items={case.items})" + (SHORT if short else "")] = said
            else:
                outputs[f"{metric}@{k}"] = said
    return outputs
