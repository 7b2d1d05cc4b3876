"""Calls of implicit.evaluation, of models that recommend given lists, and of vectors."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "implicit"
MODULE = "implicit.evaluation"
REQUIREMENTS = ("implicit==0.7.3", "threadpoolctl")
TOLERANCE = 1e-12
IMPORTS = (
    "from implicit.evaluation import ranking_metrics_at_k",
    "from exactk.compat.implicit import ranking_metrics_at_k",
)
FUNCTIONS = ("ranking_metrics_at_k", "precision_at_k", "mean_average_precision_at_k", "ndcg_at_k", "AUC_at_k")


class Lists:
    """A model that recommends given lists, padded with -1."""

    def __init__(self, lists: list[list[int]]) -> None:
        """Keep the lists."""
        self._lists = lists

    def recommend(self, users: Any, user_items: Any, N: int = 10) -> tuple[Any, Any]:  # noqa: N803 - implicit's
        """Return the items of the users and their scores."""
        assert user_items.shape[0] == len(users)
        ids = np.full((len(users), N), -1, dtype=np.int32)
        for row, user in enumerate(users):
            items = self._lists[user][:N]
            ids[row, : len(items)] = items
        return ids, np.zeros(ids.shape, dtype=np.float32)


def draw() -> list[dict[str, Any]]:
    """Return drawn calls, and faulty ones."""
    draw_from = random.Random(1)  # noqa: S311 - no secrets
    calls = [_call(draw_from) for _ in range(320)]
    plain = {"items": 4, "test": [[0, 2], [1]], "train": [[], [0]], "lists": [[2, 1, 0], [1, 2]], "K": 2}
    faulty: list[dict[str, Any]] = [
        {"test": [[], []]},
        {"test": [[0, 1, 2, 3], [1]]},
        {"as": "list"},
        {"as": "model"},
        {"K": "2"},
        {"K": None},
        {"as": "coo"},
        {"as": "array"},
        {"K": True},
        {"test": [[0, 0, 2], [1, 1]]},
        {"lists": [[2, 2, 0], [1, 1]]},
        {"lists": [[9, 1], [7]]},
        {"num_threads": 0},
        {"num_threads": 2},
    ]
    return calls + [{**plain, **one} for one in faulty]


def _call(draw_from: random.Random) -> dict[str, Any]:
    users, items = draw_from.choice([1, 2, 5, 12]), draw_from.choice([4, 9, 30])
    rows: dict[str, list[list[int]]] = {
        name: [draw_from.sample(range(items), draw_from.randrange(min(items, 9))) for _ in range(users)]
        for name in ("test", "train", "lists")
    }
    if not any(rows["test"]):
        rows["test"][0] = [0]
    call: dict[str, Any] = {"items": items, **rows, "K": draw_from.choice([1, 2, 3, 5, 10])}
    if draw_from.random() < 0.4:
        call["function"] = draw_from.choice(FUNCTIONS)
    return call


def _matrix(rows: list[list[int]], items: int) -> Any:
    """Return a matrix with an entry for each item, repeated ones too."""
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([item for row in rows for item in row], np.int32)
    return csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(rows), items))


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call."""
    train, test = (_matrix(call[name], call["items"]) for name in ("train", "test"))
    model: Any = Lists(call["lists"])
    kind = call.get("as", "csr")
    if kind == "list":
        test = call["test"]
    elif kind == "model":
        model = object()
    elif kind == "coo":
        train, test = train.tocoo(), test.tocoo()
    elif kind == "array":
        test = test.toarray()
    options = {"num_threads": call["num_threads"]} if "num_threads" in call else {}
    function = getattr(module, call.get("function", "ranking_metrics_at_k"))
    return function(model, train, test, call["K"], show_progress=False, **options)


def _factors(users: int, items: int) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        from implicit.cpu.als import AlternatingLeastSquares

        generator = np.random.default_rng(0)
        model = AlternatingLeastSquares(factors=64, num_threads=0)
        model.user_factors = generator.standard_normal((users, 64), np.float32)
        model.item_factors = generator.standard_normal((items, 64), np.float32)
        train, test = (
            csr_matrix(
                (np.ones(users * 10), (np.repeat(np.arange(users), 10), generator.integers(items, size=users * 10))),
                shape=(users, items),
            )
            for _ in range(2)
        )
        return lambda: module.ranking_metrics_at_k(model, train, test, 10, show_progress=False, num_threads=0)

    return prepare


TYPICAL = {
    "ALS, 10,000 users, 20,000 items, 64 factors": _factors(10_000, 20_000),
    "ALS, 1 user, 20,000 items, 64 factors": _factors(1, 20_000),
    "ALS, 2,000 users, 100,000 items, 64 factors": _factors(2_000, 100_000),
}
