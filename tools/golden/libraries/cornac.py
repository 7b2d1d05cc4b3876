"""cornac: data sets, a model that scores every item, ranking_eval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.cases import NO_RANKS, Case, Knobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golden.record import Output

DISTRIBUTION = "cornac"
MODULE = "cornac"
REQUIREMENTS = ("cornac==3.0.1",)
SOURCE = ""
INPUT = "scores"
MIN_SCORE = None
# Every user has a score for every item, and only items of the training set are evaluated.
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3),
    empty_list=False,
    missing_truth=True,
    short_list=False,
    full_list=True,
    sorted=False,
    ties=True,
    close_scores=True,
    infinite_scores=True,
    negative_scores=True,
)
NOT_DRAWN = {"gap in ranks": NO_RANKS, "user without list": "the model scores every user"}
DIFFERS: Mapping[str, str] = {}
TOLERANCE = 1e-12

AT_CUTOFF = {"precision": "Precision", "recall": "Recall", "f1": "FMeasure", "ndcg": "NDCG", "hit_rate": "HitRatio"}
OF_RANKS = {"reciprocal_rank": "MRR", "ndcg": "NDCG", "recall": "Recall"}
OF_SCORES = {"average_precision": "MAP", "auc": "AUC"}
CALLS = {f"{metric}@k": f"{name}(k)" for metric, name in AT_CUTOFF.items()} | {
    metric: f"{name}()" for metric, name in (OF_RANKS | OF_SCORES).items()
}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by ranking_eval, metrics of one cutoff at a time: together they change each other's rankings."""
    from cornac import metrics as library

    asked = {metric: getattr(library, name)() for metric, name in OF_SCORES.items()}
    outputs = _evaluated(case, asked)
    # The order of ties is that of NumPy's sort on the CPU at hand.
    if all(len({score for _, score in row or []}) == case.items for row in case.predictions):
        outputs |= _evaluated(case, {metric: getattr(library, name)() for metric, name in OF_RANKS.items()})
        for k in case.cutoffs:
            asked = {f"{metric}@{k}": getattr(library, name)(k=k) for metric, name in AT_CUTOFF.items()}
            outputs |= _evaluated(case, asked)
    return outputs


def _evaluated(case: Case, asked: dict[str, Any]) -> dict[str, Output]:
    """Return the means and the users' values."""
    import numpy as np
    from cornac.data import Dataset
    from cornac.eval_methods.base_method import ranking_eval
    from cornac.models import Recommender

    class Given(Recommender):  # type: ignore[misc] # cornac is not installed where types are checked
        """A model that knows its scores."""

        def score(self, user_idx: int, item_idx: int | None = None) -> Any:  # noqa: ARG002 - cornac's signature
            scores = dict(case.predictions[user_idx] or [])
            return np.array([scores[item] for item in range(case.items)])

    users = {f"u{user}": user for user in range(len(case.truth))}
    items = {f"i{item}": item for item in range(case.items)}

    def data(rows: list[tuple[int, int, float]]) -> Dataset:
        columns = list(zip(*rows, strict=True))
        types = (np.int64, np.int64, np.float64)
        return Dataset(
            len(users),
            len(items),
            users,
            items,
            tuple(np.array(column, kind) for column, kind in zip(columns, types, strict=True)),
        )

    train = data([(0, item, 0.0) for item in range(case.items)])
    test = data([(user, item, grade) for user, row in enumerate(case.truth) for item, grade in row or []])
    model = Given("given").fit(train)
    try:
        means, values = ranking_eval(model, list(asked.values()), train, test)
    except ZeroDivisionError as error:  # nobody has a relevant item
        return dict.fromkeys(asked, repr(error))
    return {
        metric: (float(mean), [user_values.get(user) for user in range(len(users))])
        for metric, mean, user_values in zip(asked, means, values, strict=True)
    }
