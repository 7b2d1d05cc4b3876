"""Drawn users, and every container that can hold them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

from same.names import find

ITEMS = 12
Rows = dict[Any, dict[Any, float]]
Lists = dict[Any, list[Any]]
Role = str  # grade, score or rank: what the values are
Form = Callable[[Rows, Role], Any]


@dataclass(frozen=True)
class Data:
    """Users with all that can be said of them; some lack a list, some the truth."""

    truth: Rows  # items with grades
    scores: Rows  # items with scores, of which some tie
    other: Rows  # of another system
    exclude: Lists
    candidates: Lists
    train: Lists
    weights: dict[Any, float]
    groups: dict[Any, str]
    items: list[Any]

    @property
    def lists(self) -> Lists:
        """The items of each user, best first."""
        return {user: sorted(row, key=lambda item: (-row[item], str(item))) for user, row in self.scores.items()}

    @property
    def systems(self) -> dict[str, Rows]:
        """Three systems: the third has the lists of the first, worst first."""
        reverse = {user: {item: -score for item, score in row.items()} for user, row in self.scores.items()}
        return {"one": self.scores, "other": self.other, "reverse": reverse}

    @property
    def catalogue(self) -> Any:
        """Everything that is known of the items."""
        features = {item: [1.0, (5 * number % 7) / 4, -(number % 3) / 2] for number, item in enumerate(self.items)}
        item_groups = {item: "abc"[number % 3] for number, item in enumerate(self.items)}
        values = {item: number / 8 for number, item in enumerate(self.items)}
        return find("exactk.Items")(
            self.items, train=self.train, features=features, item_groups=item_groups, values=values
        )


KEYS: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
    "row": (int, int),  # what containers without keys have
    "int": (lambda number: 7 * number + 3, lambda number: 10 * number + 1),
    "str": ("user {}".format, "item {:02}".format),
    "bytes": (lambda number: b"u%02d\xff" % number, lambda number: b"i%02d" % number),
    "text": (lambda number: f"ü{number}", int),
}


def draw(seed: int, kind: str = "str", users: int = 9, *, ties: bool = True) -> Data:
    """Return users with keys of a kind; all of them have a list and a truth where they are rows."""
    rng = random.Random(f"{seed} {users} {ties}")  # noqa: S311 - the same for everybody
    user_of, item_of = KEYS[kind]
    keys, items = [user_of(number) for number in range(users)], [item_of(number) for number in range(ITEMS)]

    def row(least: int, most: int, values: list[float]) -> dict[Any, float]:
        return {item: rng.choice(values) for item in rng.sample(items, rng.randint(least, most))}

    def rows(most: int, values: list[float]) -> Rows:
        return {key: row(1, most, values) for key in keys if kind == "row" or rng.random() < 0.9}

    scores = [0.25, 0.5, 0.5, 0.75, -1.0] if ties else [rng.random() for _ in range(200)]
    return Data(
        rows(5, [1.0, 2.0, 0.0, 0.5, 3.0]),
        rows(8, scores),
        rows(8, scores),
        {key: list(row(0, 2, scores)) for key in keys},
        {key: list(row(6, 9, scores)) for key in keys},
        {user_of(number): list(row(1, 6, scores)) for number in range(users + 3)},
        {key: rng.choice([0.0, 0.5, 1.0, 2.25]) for key in keys},
        {key: rng.choice(["young", "old", "ü"]) for key in keys},
        items,
    )


def ones(lists: Lists) -> Rows:
    """Return lists as rows whose values say nothing."""
    return {user: dict.fromkeys(row, 1.0) for user, row in lists.items()}


def columns(rows: Rows, role: Role) -> dict[str, list[Any]]:
    """Return the rows as columns, with users mixed."""
    cells = [(user, item, value) for user, row in rows.items() for item, value in _valued(row, role).items()]
    cells = cells[::2] + cells[1::2]
    return {name: [cell[index] for cell in cells] for index, name in enumerate(("user", "item", role))}


def _valued(row: Mapping[Any, float], role: Role) -> dict[Any, Any]:
    return {item: rank for rank, item in enumerate(row, start=1)} if role == "rank" else dict(row)


def _list_columns(rows: Rows, role: Role) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"user": list(rows), "item": [list(row) for row in rows.values()]}
    return found if role == "rank" else {**found, role: [list(row.values()) for row in rows.values()]}


def entries(rows: Rows, role: Role) -> dict[Any, Any]:
    """Return the rows as a mapping."""
    return {user: list(row) if role == "rank" else dict(row) for user, row in rows.items()}


def _dictionaries(rows: Rows, role: Role) -> pa.Table:
    table = pa.table(columns(rows, role))
    for index, name in enumerate(("user", "item")):
        table = table.set_column(index, name, table[name].dictionary_encode())
    return pa.concat_tables([table.slice(0, 3), table.slice(3)])


def _series(rows: Rows, role: Role) -> Any:
    if role == "rank":
        return pd.Series({user: list(row) for user, row in rows.items()})
    return pd.DataFrame(columns(rows, role)).set_index(["user", "item"])[role]


def _batches(rows: Rows, role: Role) -> Any:
    frame = pl.DataFrame(columns(rows, role)).sort("user", maintain_order=True)
    return find("exactk.Batches")(lambda: (frame[begin : begin + 5] for begin in range(0, len(frame), 5)))


def _mixed_batches(rows: Rows, role: Role) -> Any:
    frame = pd.DataFrame(columns(rows, role))
    return find("exactk.Batches")(lambda: [frame[:7], frame[7:]])


def _pivoted(rows: Rows, _role: Role) -> pd.DataFrame:
    items = sorted({item for row in rows.values() for item in row}, key=str)
    return pd.DataFrame([[row.get(item, 0.25) for item in items] for row in rows.values()], list(rows), items)


def _keyed_embeddings(rows: Rows, role: Role) -> Any:
    frame = _pivoted(rows, role)
    vectors, items = frame.to_numpy(), list(frame.columns)
    return find("exactk.Embeddings")(vectors, np.eye(len(items)), users=list(rows), items=items)


KEYED: dict[str, Form] = {
    "mapping": entries,
    "mapping of pairs": lambda rows, role: {user: list(_valued(row, role).items()) for user, row in rows.items()},
    "mapping of Counters": lambda rows, _role: {user: Counter(row) for user, row in rows.items()},
    "pandas": lambda rows, role: pd.DataFrame(columns(rows, role)),
    "pandas objects": lambda rows, role: pd.DataFrame(columns(rows, role), dtype=object).astype({role: float}),
    "pandas categories": lambda rows, role: pd.DataFrame(columns(rows, role)).astype(
        {"user": "category", "item": "category"}
    ),
    "pandas index": lambda rows, role: pd.DataFrame(columns(rows, role)).set_index(["user", "item"]),
    "pandas lists": lambda rows, role: pd.DataFrame(_list_columns(rows, role)),
    "polars": lambda rows, role: pl.DataFrame(columns(rows, role)),
    "polars lazy": lambda rows, role: pl.LazyFrame(columns(rows, role)),
    "polars lists": lambda rows, role: pl.DataFrame(_list_columns(rows, role)),
    "arrow": lambda rows, role: pa.table(columns(rows, role)),
    "arrow dictionaries": _dictionaries,
    "arrow reader": lambda rows, role: pa.table(columns(rows, role)).to_reader(),
    "series": _series,
}
"""Containers with keys."""
KEYED_PREDICTIONS: dict[str, Form] = {
    **KEYED,
    "batches": _batches,
    "mixed batches": _mixed_batches,
    "pivoted": _pivoted,
    "keyed scores": lambda rows, role: find("exactk.Scores")(_pivoted(rows, role)),
    "keyed embeddings": _keyed_embeddings,
    "top k of a frame": lambda rows, _role: find("exactk.topk")(pd.DataFrame(columns(rows, "score")), 4),
}


def _canonical(rows: Rows, role: Role) -> Any:
    name = {"rank": "Rankings", "grade": "Truth", "score": "SparseScores"}[role]
    indptr, items, values = _compressed(rows)
    return find(f"exactk.{name}")(indptr, items, *[values] * (role != "rank"))


def _compressed(rows: Rows) -> tuple[Any, Any, Any]:
    pairs = [pair for row in rows.values() for pair in row.items()]
    indptr = [0, *np.cumsum([len(row) for row in rows.values()]).tolist()]
    return indptr, np.array([item for item, _ in pairs], np.int64), np.array([value for _, value in pairs])


def _sparse(rows: Rows, _role: Role) -> Any:
    return scipy.sparse.csr_array(_compressed(rows)[::-1], shape=(len(rows), ITEMS))


def dense(rows: Rows, fill: float = 0.25) -> Any:
    """Return a matrix with the values of all items."""
    return np.array([[row.get(item, fill) for item in range(ITEMS)] for row in rows.values()])


def _padded(rows: Rows, _role: Role) -> Any:
    return np.array([[*row, *[-1] * (ITEMS - len(row))] for row in rows.values()])


def _neighbor_lists(rows: Rows, _role: Role) -> Any:
    ids = np.array([[*row, *(set(range(ITEMS)) - set(row))][:4] for row in rows.values()])
    return ids, np.tile(np.array([0.25, 0.5, 0.5, 1.0], np.float32), (len(rows), 1))


def _embeddings(similarity: str) -> Form:
    return lambda rows, _role: find("exactk.Embeddings")(dense(rows), np.eye(ITEMS) + 0.5, similarity)


UNKEYED: dict[str, Form] = {
    "list": lambda rows, role: list(entries(rows, role).values()),
    "list of pairs": lambda rows, role: [list(_valued(row, role).items()) for row in rows.values()],
    "canonical": _canonical,
    "csr": _sparse,
    "csc matrix": lambda rows, role: scipy.sparse.csc_matrix(_sparse(rows, role)),
    "padded": _padded,
    "multi-hot": lambda rows, _role: dense(rows, -5.0) > 0,
    "dense grades": lambda rows, _role: dense(rows, 0.0),
    "neighbors": _neighbor_lists,
    "top k": lambda rows, _role: find("exactk.topk")(dense(rows), 4),
}
"""Containers without keys."""
UNKEYED_PREDICTIONS: dict[str, Form] = {
    **{name: form for name, form in UNKEYED.items() if name not in {"multi-hot", "dense grades"}},
    "dense": lambda rows, _role: dense(rows),
    "dense float32": lambda rows, _role: np.asfortranarray(dense(rows).astype(np.float32)),
    "scores from": lambda rows, _role: find("exactk.Scores")(dense(rows), min_score=0.5),
    **{similarity: _embeddings(similarity) for similarity in ("dot", "cosine", "euclidean")},
}


def write(rows: Rows, role: Role, path: str) -> str:
    """Write the rows to a file of the format that the path's extension names, and return the path."""
    cells, extension = columns(rows, role), Path(path).suffix
    lines = list(zip(*cells.values(), strict=True))
    match extension:
        case ".csv":
            write_lines([",".join(cells), *(f"{user},{item},{value}" for user, item, value in lines)], path)
        case ".parquet":
            pl.DataFrame(cells).write_parquet(path)
        case ".arrow":
            pl.DataFrame(cells).write_ipc(path)
        case ".json":
            Path(path).write_text(json.dumps(entries(rows, role)), encoding="utf-8")
        case ".jsonl":
            write_lines((json.dumps(dict(zip(cells, line, strict=True))) for line in lines), path)
        case ".trec":
            shape = "{} 0 {} {:.0f}" if role == "grade" else "{} Q0 {} 0 {} tag"
            write_lines(
                (
                    shape.format(str(user).replace(" ", "_"), str(item).replace(" ", "_"), value)
                    for user, item, value in lines
                ),
                path,
            )
    return path


def write_lines(lines: Iterable[str], path: str) -> str:
    """Write lines to a file, and return its path."""
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


FILES = (".csv", ".json", ".jsonl", ".parquet", ".arrow", ".trec")
