"""The same data warns of the same, whatever container holds it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import exactk

SCORED_ITEMS: dict[str, dict[str, float]] = {"ann": {"film": 0.5, "book": 0.4}, "bob": {"song": 0.25}}
RELEVANT: dict[str, list[str]] = {"ann": ["film", "tape"], "bob": ["song"]}
SCORED_FRAME = pd.DataFrame(
    [(user, item, score) for user, scores in SCORED_ITEMS.items() for item, score in scores.items()],
    columns=["user", "item", "score"],
)
BY_USER_AND_ITEM: dict[str, tuple[Any, Callable[[], Any]]] = {
    "frame": (RELEVANT, lambda: SCORED_FRAME),
    "batches": (RELEVANT, lambda: exactk.Batches(lambda: [SCORED_FRAME])),
    "mapping": (RELEVANT, lambda: SCORED_ITEMS),
    "lists": (list(RELEVANT.values()), lambda: list(SCORED_ITEMS.values())),
    "lists of pairs": (list(RELEVANT.values()), lambda: [list(scores.items()) for scores in SCORED_ITEMS.values()]),
    "blocks of frames": (None, lambda: iter([(RELEVANT, SCORED_FRAME)])),
    "blocks of lists": (None, lambda: iter([([RELEVANT[user]], [SCORED_ITEMS[user]]) for user in RELEVANT])),
    "system": (RELEVANT, lambda: {"a": SCORED_FRAME}),
}
"""What a system scored best, which leaves out a relevant item."""


@pytest.mark.parametrize("container", BY_USER_AND_ITEM)
def test_f44_items_that_were_not_scored_are_no_cause_for_alarm(container: str) -> None:
    truth, build = BY_USER_AND_ITEM[container]
    result: Any = exactk.evaluate(truth, build(), "recall")  # warnings are errors
    report = result["a"] if container == "system" else result
    assert (report["recall"], report.counts["relevant_not_rankable"]) == (0.75, 1)


MATRIX = np.array([[0.5, 0.4], [0.25, 0.1]])
ALL_ITEMS: dict[str, Callable[[], Any]] = {
    "matrix": lambda: MATRIX,
    "SciPy": lambda: scipy.sparse.csr_array(MATRIX),
    "CSR": lambda: exactk.SparseScores([0, 2, 4], [0, 1, 0, 1], MATRIX.ravel()),
    "pickled": lambda: pickle.loads(pickle.dumps(exactk.as_predictions(scipy.sparse.csr_array(MATRIX)))),  # noqa: S301
    "rounded": lambda: exactk.SparseScores([0, 2, 4], [0, 1, 0, 1], MATRIX.ravel(), min_score=0.0),
}


@pytest.mark.parametrize("container", ALL_ITEMS)
def test_f44_items_without_a_column_are(container: str) -> None:
    message = "1 relevant items have no column in the scores"
    truth, predictions = [[0, 7], [1]], ALL_ITEMS[container]()
    choices: tuple[dict[str, Any], ...] = (
        {},
        {"convention": {"score_dtype": "float32", "negative_infinity": "exclude"}},
    )
    for options in choices:
        with pytest.warns(exactk.EvaluationWarning, match=f"^{message}"):
            exactk.evaluate(truth, predictions, "recall", **options)
        with pytest.warns(exactk.EvaluationWarning, match=f"^{message}"):
            exactk.evaluate(None, iter([(truth, predictions)]), "recall", **options)
        keyed = exactk.Truth([0, 2, 3], [0, 7, 1], users=["ann", "bob"])
        run = {"ann": {0: 0.5}, "bob": {1: 0.5}}
        for systems in ({"matrix": predictions, "run": run}, {"run": run, "matrix": predictions}):
            with pytest.warns(exactk.EvaluationWarning, match=f"^system 'matrix': {message}"):
                exactk.evaluate(keyed, systems, "recall", **options)
