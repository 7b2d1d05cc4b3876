"""Calls of surprise.accuracy; its example precision_recall_at_k is in no package, and compared in tests/golden/surprise.json."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "scikit-surprise"
MODULE = "surprise.accuracy"
REQUIREMENTS = ("scikit-surprise==1.1.5",)
TOLERANCE = 1e-12
IMPORTS = ("from surprise.accuracy import fcp, mae, rmse", "from exactk.compat.surprise import fcp, mae, rmse")

_FUNCTIONS = ("rmse", "mse", "mae", "fcp")
_FAULTY: tuple[Any, ...] = (
    [],
    [["ann", 1, 4.0, 3.0]],
    [["ann", 1, None, 3.0, None]],
    [["ann", 1, "4", 3.0, None], ["ann", 2, 3.0, 2.0, None]],
    [["ann", 1, 4.0, 3.0, None]],
    [["ann", 1, 4.0, 3.0, None], ["ann", 2, 4.0, 2.0, None]],
    [["ann", 1, 4.0, 3.0, None], ["bob", 1, 3.0, 2.0, None]],
)


def draw() -> list[dict[str, Any]]:
    """Return drawn calls, and faulty ones."""
    draw_from = random.Random(1)  # noqa: S311 - no secrets
    calls = [_call(draw_from) for _ in range(300)]
    return calls + [{"function": name, "predictions": rows} for rows in _FAULTY for name in _FUNCTIONS]


def _call(draw_from: random.Random) -> dict[str, Any]:
    users = draw_from.choice([1, 2, 5])
    ratings: list[float] = draw_from.choice([[1, 2, 3, 4, 5], [0.5, 4.0], [3.0]])
    predictions = [
        [
            draw_from.choice([f"user {draw_from.randrange(users)}", draw_from.randrange(users)]),
            draw_from.randrange(20),
            draw_from.choice(ratings),
            draw_from.choice([round(draw_from.uniform(1, 5), 2), float(draw_from.randrange(1, 4))]),
            None,
        ]
        for _ in range(draw_from.randrange(1, 25))
    ]
    return {"function": draw_from.choice(_FUNCTIONS), "predictions": predictions}


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call."""
    rows = [tuple(row) for row in call["predictions"]]
    return float(getattr(module, call["function"])(rows, verbose=False))


def _of_movielens(
    function: str, users: int = 943, *, digits: int = 17, is_ordered: bool = True
) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        draw_from = random.Random(1)  # noqa: S311 - no secrets
        rows = [
            (str(user), str(item), float(draw_from.randrange(1, 6)), round(draw_from.uniform(1, 5), digits), None)
            for user in range(users)
            for item in range(21)
        ]
        if not is_ordered:
            draw_from.shuffle(rows)
        return lambda: getattr(module, function)(rows, verbose=False)

    return prepare


TYPICAL = {
    **{f"{function} of 943 users x 21 ratings": _of_movielens(function) for function in ("rmse", "mae", "fcp")},
    "fcp of 943 users x 21 ratings in no order": _of_movielens("fcp", is_ordered=False),
    "fcp of 943 users x 21 ratings, estimates of no decimals": _of_movielens("fcp", digits=0),
    **{f"{function} of 1 user x 21 ratings": _of_movielens(function, 1) for function in ("rmse", "fcp")},
}
