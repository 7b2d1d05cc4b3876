"""tensorflow: the metrics of version 1, which gather a batch of users: label lists and dense scores."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from golden.cases import BINARY, BOTH_SIDES, GRADES, ITEMS, NO_RANKS, ONE_SIDE, Case, Knobs

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "tensorflow"
MODULE = "tensorflow"
REQUIREMENTS = ("tensorflow==2.21.0",)
SOURCE = ""
INPUT = "scores"
MIN_SCORE = None
KNOBS = Knobs(
    empty_list=False,
    short_list=False,
    full_list=True,
    sorted=False,
    ties=True,
    close_scores=True,
    infinite_scores=True,
    negative_scores=True,
    repeated_truth=True,
    unknown_truth=True,
)
CALLS = {
    "recall@k": "recall_at_k, labels as a SparseTensor",
    "precision@k": "precision_at_k, labels as a SparseTensor",
    "average_precision@k": "average_precision_at_k, labels as a dense tensor, padded with -1",
    "average_precision@k(duplicate_truth=first)": "average_precision_at_k, labels as a SparseTensor",
}
NOT_DRAWN = dict.fromkeys(GRADES, BINARY) | {"gap in ranks": NO_RANKS} | dict.fromkeys(ONE_SIDE, BOTH_SIDES)
DIFFERS: dict[str, str] = {}
TOLERANCE = 1e-12


@cache
def graph() -> tuple[Any, Any, tuple[Any, Any, Any], dict[str, Any]]:
    """Return a session, what starts a batch, what is fed, and the updates of all metrics at all cutoffs, by exactk's names."""
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    sparse = tf.compat.v1.sparse_placeholder(tf.int64, [None, None])
    dense = tf.compat.v1.placeholder(tf.int64, [None, None])
    scores = tf.compat.v1.placeholder(tf.float64, [None, None])
    metrics = tf.compat.v1.metrics
    updates = {}
    for k in range(1, ITEMS // 2 + 1):
        updates[f"recall@{k}"] = metrics.recall_at_k(sparse, scores, k)[1]
        updates[f"precision@{k}"] = metrics.precision_at_k(sparse, scores, k)[1]
        updates[f"average_precision@{k}"] = metrics.average_precision_at_k(dense, scores, k)[1]
        again = metrics.average_precision_at_k(sparse, scores, k)[1]
        updates[f"average_precision@{k}(duplicate_truth=first)"] = again
    return tf.compat.v1.Session(), tf.compat.v1.local_variables_initializer(), (sparse, dense, scores), updates


def batch(labels: list[list[int]], rows: list[list[float]]) -> dict[str, float]:
    """Return what all metrics say of a batch of users: another choice of them would be another graph to compile."""
    import numpy as np
    import tensorflow as tf

    session, start, (sparse, dense, scores), updates = graph()
    width = max(1, *map(len, labels))
    indices_of_labels = [(user, position) for user, row in enumerate(labels) for position in range(len(row))]
    values = [label for row in labels for label in row]
    indices = np.array(indices_of_labels, np.int64).reshape(-1, 2)
    fed = {
        sparse: tf.compat.v1.SparseTensorValue(indices, values, (len(labels), width)),
        dense: [row + [-1] * (width - len(row)) for row in labels],
        scores: rows,
    }
    session.run(start)
    found: dict[str, float] = session.run(updates, fed)
    return found


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate all users as one batch, and each as a batch by itself."""
    labels = [[item for item, _ in row or []] for row in case.truth]
    rows = [[score for _, score in sorted(row or [])] for row in case.predictions]
    in_range = all(label < case.items for row in labels for label in row)
    # A dense label out of range is dropped from the number of labels.
    metrics = [
        call.replace("@k", f"@{k}") for call in CALLS for k in case.cutoffs if in_range or call != "average_precision@k"
    ]
    together = batch(labels, rows)
    each = [batch([row], [user_rows]) for row, user_rows in zip(labels, rows, strict=True)]
    return {metric: (together[metric], [found[metric] for found in each]) for metric in metrics}
