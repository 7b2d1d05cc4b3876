"""`arp@k` reads the same popularity, whatever holds the lists, the training data and the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import exactk
from strategies import examples

ITEMS = 7
METRIC = "arp@2(foreign_items=count)"
NAMES = ["Z", "a", "", "é", "10", "9", "b"]
"""Keys whose order is not that of their numbers."""
Scores = list[list[int]]
"""Distinct scores of all items, per user."""


def keyed_rows(scores: Scores) -> list[tuple[str, str, float]]:
    """Return the rows of a frame, users mixed."""
    rows = [(f"u{user}", NAMES[item], float(row[item])) for user, row in enumerate(scores) for item in range(ITEMS)]
    return rows[::3] + rows[1::3] + rows[2::3]


def frame(scores: Scores) -> pl.DataFrame:
    return pl.DataFrame(keyed_rows(scores), ["user", "item", "score"], orient="row")


def ranked(scores: Scores) -> list[list[int]]:
    return [sorted(range(ITEMS), key=lambda item: -row[item]) for row in scores]


def users(scores: Scores) -> list[str]:
    return [f"u{user}" for user in range(len(scores))]


KEYED: dict[str, Callable[[Scores], Any]] = {
    "mapping": lambda scores: {f"u{u}": [NAMES[i] for i in row] for u, row in enumerate(ranked(scores))},
    "scored mapping": lambda scores: {f"u{u}": dict(zip(NAMES, map(float, row), strict=True)) for u, row in enumerate(scores)},
    "frame": frame,
    "pandas": lambda scores: frame(scores).to_pandas(),
    "batches": lambda scores: exactk.Batches(lambda: (frame(scores)[i : i + 5] for i in range(0, ITEMS * len(scores), 5))),
    "scores": lambda scores: exactk.Scores(np.array(scores, float), users=users(scores), items=NAMES),
    "pivoted": lambda scores: pd.DataFrame(np.array(scores, float), index=users(scores), columns=NAMES),
    "embeddings": lambda scores: exactk.Embeddings(np.array(scores, float), np.eye(ITEMS), users=users(scores), items=NAMES),
    "topk": lambda scores: exactk.topk(exactk.Scores(np.array(scores, float), users=users(scores), items=NAMES), 3),
}  # fmt: skip
UNKEYED: dict[str, Callable[[Scores], Any]] = {
    "lists": ranked,
    "array": lambda scores: np.array(ranked(scores), np.uint32),
    "dense": lambda scores: np.array(scores, float),
    "vectors": lambda scores: exactk.Embeddings(np.array(scores, np.float32), np.eye(ITEMS, dtype=np.float32)),
    "sparse": lambda scores: scipy.sparse.csr_array(np.array(scores, float)),
}

SCORES = st.lists(st.permutations(range(1, ITEMS + 1)).map(list), min_size=1, max_size=5)
TRAIN = st.lists(st.tuples(st.integers(0, 4), st.integers(0, ITEMS - 1)), min_size=1, max_size=20)
CATALOGUE = st.one_of(st.none(), st.sets(st.integers(0, ITEMS - 1), min_size=1))


def expected(scores: Scores, train: list[tuple[int, int]], catalogue: set[int] | None) -> float:
    """Return the mean over users of the mean popularity of their two best items."""
    held = set(range(ITEMS)) if catalogue is None else catalogue
    counts = [len({user for user, item in train if item == one}) if one in held else 0 for one in range(ITEMS)]
    return float(sum(Fraction(sum(counts[item] for item in row[:2]), 2) for row in ranked(scores)) / len(scores))


def evaluate(predictions: Any, items: exactk.Items, ties: str = "lowest_id") -> float:
    return exactk.evaluate(None, predictions, METRIC, items=items, convention={"ties": ties})[METRIC]


@settings(max_examples=examples(50))
@given(SCORES, TRAIN, CATALOGUE)
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")  # batches whose rows are not grouped
def test_every_container_reads_the_popularity_of_its_items(
    scores: Scores, train: list[tuple[int, int]], catalogue: set[int] | None
) -> None:
    if catalogue is not None and not catalogue & {item for _, item in train}:
        return
    value = expected(scores, train, catalogue)
    named = pd.DataFrame([(user, NAMES[item]) for user, item in train], columns=["user", "item"])
    keys = None if catalogue is None else [NAMES[item] for item in catalogue]
    of_keys, of_ids = (
        exactk.Items(keys, train=named),
        exactk.Items(
            None if catalogue is None else catalogue,
            train=exactk.as_exclusions(pd.DataFrame(train, columns=["user", "item"])),
        ),
    )
    values = {name: evaluate(make(scores), of_keys) for name, make in KEYED.items()}
    values |= {name: evaluate(make(scores), of_ids) for name, make in UNKEYED.items()}
    assert values == dict.fromkeys(values, pytest.approx(value, rel=1e-15, abs=0))
