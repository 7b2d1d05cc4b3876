"""The containers in which users of drawn cases are given."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

import exactk
from oracle import User
from oracle_items import Item

FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
BLOCK_FORMS = {"list", "dense", "pairs"}
KEYED_MATRICES = {"keyed dense", "pivoted", "keyed embeddings"}
DENSE_FORMS = {"dense", "dense float32", "min score", "embeddings"} | KEYED_MATRICES
TRUTH_FORMS = {True: ["dict", "pandas", "polars", "arrow"], False: ["list", "csr", "padded", "multi-hot"]}
"""By whether users have keys."""
PREDICTION_FORMS = {
    (True, False): ["dict", "pandas", "polars", "arrow", "batches"],
    (True, True): ["dict pairs", "pandas", "polars", "arrow", "batches", *sorted(KEYED_MATRICES)],
    (False, False): ["list", "padded", "csr"],
    (False, True): ["dense", "dense float32", "min score", "embeddings", "pairs", "sparse scores", "scipy"],
}
"""By whether users have keys, and items scores."""
ITEMS = 8
Users = Mapping[Any, User]


@dataclass(frozen=True)
class Form:
    """What holds the users of a case."""

    number: int  # of the case
    truth: str
    predictions: str
    is_keyed: bool
    candidates: Mapping[Any, set[Item]] | None
    in_blocks: bool
    has_weights: bool
    has_groups: bool
    has_exclude: bool
    columns: tuple[Item, ...]  # the items of a matrix

    @property
    def has_ranks(self) -> bool:
        return self.predictions in {*FRAMES, "batches"}

    def build(self, users: Users) -> tuple[Any, Any, dict[str, Any]]:
        """Return truth, predictions and options."""
        rng = random.Random(self.number)  # noqa: S311 - drawn, and not secret
        truth = TRUTHS[self.truth](users, rng)
        if self.predictions in KEYED_MATRICES:
            predictions = self._keyed_matrix(users, rng)
        else:
            predictions = PREDICTIONS[self.predictions](users, rng)
        options: dict[str, Any] = {}
        if self.has_exclude:
            options["exclude"] = self._by_user({key: sorted(user.excluded, key=str) for key, user in users.items()})
        if self.has_weights:
            options["weights"] = self._user_values({key: user.weight for key, user in users.items()}, self.number % 3)
        if self.has_groups:
            options["groups"] = self._user_values(
                {key: user.group for key, user in users.items()}, self.number // 3 % 3
            )
        if self.candidates is not None:
            options["candidates"] = self._by_user({key: sorted(self.candidates[key], key=str) for key in users})
        if self.in_blocks:
            size = max(1, len(users) // 2)
            blocks = [slice(begin, begin + size) for begin in range(0, len(users), size)]
            return None, iter([(truth[block], predictions[block]) for block in blocks]), options
        return truth, predictions, options

    def base_predictions(self, users: Users) -> Any:
        """Return the base predictions, in any order of users who have keys."""
        rows = {
            key: user.base_ranking if user.base_scores is None else dict(user.base_scores)
            for key, user in [*users.items()][::-1]
        }
        if self.is_keyed:
            return {key: row for key, row in rows.items() if row is not None}
        return [rows[key] for key in users]

    def _keyed_matrix(self, users: Users, rng: random.Random) -> Any:
        """Return a matrix, with keys, of the users who have scores, in any order."""
        keys = [key for key, user in users.items() if user.scores is not None]
        rng.shuffle(keys)
        scores = [dict(users[key].scores or ()) for key in keys]
        values = np.array([[row.get(item, 0.5) for item in self.columns] for row in scores], np.float64)
        values = values.reshape(len(keys), ITEMS)
        if self.predictions == "pivoted":
            return pd.DataFrame(values, index=keys, columns=list(self.columns))
        if self.predictions == "keyed dense":
            return exactk.Scores(values, users=keys, items=self.columns)
        return exactk.Embeddings(values, np.eye(ITEMS), users=keys, items=self.columns)

    def _user_values(self, values: dict[Any, Any], container: int) -> Any:
        if not self.is_keyed or not values or container == 0:
            return self._by_user(values)
        if container == 1:
            return pd.Series(values)
        return pl.DataFrame({"user": list(values), "value": list(values.values())})

    def _by_user(self, values: dict[Any, Any]) -> Any:
        return values if self.is_keyed else list(values.values())

    def held(self, user: User, key: Any) -> User:
        """Return the user as these containers can hold one: a frame has no empty list, a matrix no missing user."""
        ranking, scores = user.ranking, user.scores
        if self.has_ranks:
            ranking, scores = ranking or None, scores or None
        if self.predictions == "padded":
            ranking = ranking or []
        if self.predictions in {"dict pairs", "pairs"} and scores is not None:
            scores = list(dict(scores).items())
        if self.predictions == "scipy":
            scores = scores or []
        if self.predictions in DENSE_FORMS and not (self.predictions in KEYED_MATRICES and scores is None):
            columns = self.columns if self.candidates is None else self.candidates[key]
            scores = self._dense_scores(dict(scores or ()), columns)
        min_score = 0.5 if self.predictions == "min score" else None
        return replace(user, truth=self._held_truth(user.truth), ranking=ranking, scores=scores, min_score=min_score)

    def _held_truth(self, truth: Sequence[tuple[Item, float]] | None) -> Sequence[tuple[Item, float]] | None:
        if self.truth in FRAMES and not truth:
            return None
        if self.truth in {"dict", "list"} and truth is not None:
            return list(dict(truth).items())
        if self.truth == "padded":
            return [(item, 1.0) for item, _ in truth or ()]
        if self.truth == "multi-hot":
            return [(item, 1.0) for item in dict(truth or ())]
        return truth

    def _dense_scores(self, scores: dict[Item, float], columns: Collection[Item]) -> list[tuple[Item, float]]:
        if self.predictions in {"embeddings", "keyed embeddings"}:
            scores = {item: score for item, score in scores.items() if math.isfinite(score)}
        if self.predictions == "dense float32":
            scores = {item: float(np.float32(score)) for item, score in scores.items()}
        return [(item, scores.get(item, 0.5)) for item in self.columns if item in columns]


def _truth_frame(form: str) -> Callable[[Users, random.Random], Any]:
    def make(users: Users, rng: random.Random) -> Any:
        rows = [(key, item, grade) for key, user in users.items() for item, grade in user.truth or ()]
        return FRAMES[form](_columns(_mixed(rows, rng), ["user", "item", "grade"], users))

    return make


def _mixed(rows: list[tuple[Any, Item, Any]], rng: random.Random) -> list[tuple[Any, Item, Any]]:
    """Return the rows with users mixed, each user's in the order they were."""
    keys = [row[0] for row in rows]
    rng.shuffle(keys)
    queues = {key: iter([row for row in rows if row[0] == key]) for key in keys}
    return [next(queues[key]) for key in keys]


def _columns(rows: Sequence[tuple[Any, Item, Any]], names: list[str], users: Users) -> dict[str, Any]:
    if rows:
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}
    user_type = np.dtype("U1" if any(isinstance(key, str) for key in users) else np.int64)
    types = (user_type, np.dtype(np.int64), np.dtype(np.float64))
    return {name: np.array([], dtype) for name, dtype in zip(names, types, strict=True)}


def _prediction_frame(form: str) -> Callable[[Users, random.Random], Any]:
    def make(users: Users, rng: random.Random) -> Any:
        return FRAMES[form](_prediction_columns(users, rng, is_mixed=True))

    return make


def _prediction_columns(users: Users, rng: random.Random, *, is_mixed: bool) -> dict[str, Any]:
    scored = [(key, item, score) for key, user in users.items() for item, score in user.scores or ()]
    ranked = [
        (key, item, rank)
        for key, user in users.items()
        for rank, item in zip(user.given_ranks or (), user.ranking or (), strict=True)
    ]
    rows, name = (scored, "score") if scored else (ranked, "rank")
    return _columns(_mixed(rows, rng) if is_mixed else rows, ["user", "item", name], users)


def _batches(users: Users, rng: random.Random) -> exactk.Batches:
    columns = _prediction_columns(users, rng, is_mixed=rng.random() < 0.2)
    frame = pl.DataFrame(columns)
    size = rng.choice([1, 2, 5])
    return exactk.Batches(lambda: (frame[i : i + size] for i in range(0, max(1, len(frame)), size)))


def _indptr(rows: Sequence[Sequence[Any] | None]) -> list[int]:
    return [0, *np.cumsum([len(row or ()) for row in rows]).tolist()]


def _truth_csr(users: Users, _rng: random.Random) -> exactk.Truth:
    rows = [user.truth for user in users.values()]
    pairs = [pair for row in rows for pair in row or ()]
    present = np.array([row is not None for row in rows], np.bool_)
    items, grades = np.array([item for item, _ in pairs], np.int64), np.array([grade for _, grade in pairs], np.float64)
    return exactk.Truth(_indptr(rows), items, grades, present=present)


def _padded(rows: Sequence[Sequence[Any]]) -> np.ndarray[Any, Any]:
    width = max((len(row) for row in rows), default=0) + 1
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows], np.int64).reshape(len(rows), width)


def _multi_hot(users: Users, _rng: random.Random) -> np.ndarray[Any, Any]:
    matrix = np.zeros((len(users), ITEMS), np.bool_)
    for row, user in zip(matrix, users.values(), strict=True):
        row[[int(item) for item, _ in user.truth or ()]] = True
    return matrix


TRUTHS: dict[str, Callable[[Users, random.Random], Any]] = {
    "dict": lambda users, _rng: {k: dict(u.truth) for k, u in users.items() if u.truth is not None},
    "list": lambda users, _rng: [None if u.truth is None else dict(u.truth) for u in users.values()],
    "csr": _truth_csr,
    "padded": lambda users, _rng: _padded([[item for item, _ in u.truth or ()] for u in users.values()]),
    "multi-hot": _multi_hot,
} | {form: _truth_frame(form) for form in FRAMES}


def _rankings_csr(users: Users, _rng: random.Random) -> exactk.Rankings:
    rows = [user.ranking for user in users.values()]
    items = np.array([item for row in rows for item in row or ()], np.int64)
    return exactk.Rankings(_indptr(rows), items, np.array([row is not None for row in rows], np.bool_))


def _sparse_scores(users: Users, _rng: random.Random) -> exactk.SparseScores:
    rows = [user.scores for user in users.values()]
    pairs = [pair for row in rows for pair in row or ()]
    items, scores = np.array([item for item, _ in pairs], np.int64), np.array([score for _, score in pairs], np.float64)
    return exactk.SparseScores(_indptr(rows), items, scores, present=np.array([r is not None for r in rows], np.bool_))


def _scipy(users: Users, _rng: random.Random) -> Any:
    rows = [user.scores or () for user in users.values()]
    pairs = [pair for row in rows for pair in row]
    data, columns = np.array([score for _, score in pairs], np.float64), np.array([item for item, _ in pairs], np.int64)
    return scipy.sparse.csr_array((data, columns, _indptr(rows)), shape=(len(rows), ITEMS))


def _dense(dtype: Any) -> Callable[[Users, random.Random], Any]:
    def make(users: Users, _rng: random.Random) -> Any:
        matrix = np.full((len(users), ITEMS), 0.5, dtype)
        for row, user in zip(matrix, users.values(), strict=True):
            for item, score in user.scores or ():
                row[item] = score
        return matrix

    return make


def _embeddings(users: Users, rng: random.Random) -> exactk.Embeddings:
    return exactk.Embeddings(_dense(np.float64)(users, rng), np.eye(ITEMS))


PREDICTIONS: dict[str, Callable[[Users, random.Random], Any]] = {
    "dict": lambda users, _rng: {k: list(u.ranking) for k, u in users.items() if u.ranking is not None},
    "dict pairs": lambda users, _rng: {k: dict(u.scores) for k, u in users.items() if u.scores is not None},
    "list": lambda users, _rng: [None if u.ranking is None else list(u.ranking) for u in users.values()],
    "pairs": lambda users, _rng: [None if u.scores is None else dict(u.scores) for u in users.values()],
    "padded": lambda users, _rng: _padded([u.ranking or () for u in users.values()]),
    "csr": _rankings_csr,
    "sparse scores": _sparse_scores,
    "scipy": _scipy,
    "dense": _dense(np.float64),
    "dense float32": _dense(np.float32),
    "min score": lambda users, rng: exactk.Scores(_dense(np.float64)(users, rng), min_score=0.5),
    "embeddings": _embeddings,
    "batches": _batches,
} | {form: _prediction_frame(form) for form in FRAMES}
