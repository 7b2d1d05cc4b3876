"""States whose bytes are the same on every platform: `make generate` writes them, and tests compare them."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import exactk

if TYPE_CHECKING:
    from numpy.typing import NDArray

_USERS, _ITEMS, _WIDTH = 60, 90, 12


def golden_states() -> str:
    """Return the document: the bytes of each state in hexadecimal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        states = {name: exactk.evaluate(**call).state.to_bytes().hex() for name, call in _calls().items()}
    return json.dumps(states, indent=0) + "\n"


def _calls() -> dict[str, dict[str, Any]]:
    """Return arguments that reach each function of numbers: powers, logarithms, roots, products, ties, tallies."""
    graded = ["ndcg@5(gain=exp2)", "dcg@10(gain=exp2)", "err@5", "rbp(p=0.8)", "map", "mrr", "auc"]
    geometric = [
        "map(average=geometric)",
        "ndcg@5(average=geometric)",
        "precision@5(average=micro)",
        "fbeta@5(beta=0.5)",
    ]
    of_lists = ["coverage@5", "gini@5", "entropy@5", "personalization@5", "novelty@5", "ild@5"]
    truth = {f"user {user}": _graded_items(user) for user in range(_USERS)}
    ranked = {f"user {user}": [f"item {item}" for item in _items_of(user, 7, 12)] for user in range(_USERS)}
    items = [f"item {item}" for item in range(_ITEMS)]
    train = {user: row[:3] for user, row in ranked.items()}
    features = exactk.Items(items, train=train, features=_numbers(_ITEMS, _WIDTH, 3, 4))
    ids = [[int(item.split()[1]) for item in row] for row in truth.values()]
    scores = _numbers(_USERS, _ITEMS, 1, 30).astype(np.float32)
    vectors = exactk.Embeddings(_numbers(_USERS, _WIDTH, 5, 1000).astype(np.float32), _numbers(_ITEMS, _WIDTH, 6, 1000))
    weights = {user: 1 + row % 7 / 7 for row, user in enumerate(truth)}
    groups = {user: "few" if len(row) < 4 else "many" for user, row in truth.items()}
    return {
        "lists": {"truth": truth, "predictions": ranked, "metrics": [*graded, *geometric], "weights": weights},
        "groups": {"truth": truth, "predictions": ranked, "metrics": graded, "groups": groups, "per_user": True},
        "catalogue": {"truth": truth, "predictions": ranked, "metrics": of_lists, "items": features},
        "scores": {"truth": ids, "predictions": scores, "metrics": ["ndcg@5", "map", "auc"]},
        "shared ties": {"truth": ids, "predictions": scores, "metrics": ["ndcg@5"], "convention": {"ties": "shared"}},
        "expected ties": {"truth": ids, "predictions": scores, "metrics": ["map"], "convention": {"ties": "expected"}},
        "embeddings": {"truth": ids, "predictions": vectors, "metrics": ["ndcg@5", "recall@20", "map"]},
    }


def _items_of(user: int, step: int, most: int) -> list[int]:
    """Return distinct items, fewer of some users."""
    return [(user * 31 + position * position * step) % _ITEMS for position in range(user % most)][: _ITEMS // step]


def _graded_items(user: int) -> dict[str, float]:
    return {f"item {item}": (item % 25 + 1) / 7 for item in _items_of(user, 11, 8)}


def _numbers(rows: int, columns: int, seed: int, values: int) -> NDArray[np.float64]:
    """Return numbers of which many are equal if there are few values, by integers alone."""
    numbers = np.arange(1, rows * columns + 1, dtype=np.uint64) * np.uint64(2654435761 + 2 * seed)
    return ((numbers >> np.uint64(13)) % np.uint64(values)).reshape(rows, columns) / 7
