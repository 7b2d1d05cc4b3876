"""Metrics of lists and of items: the same bits by either engine, any thread, instruction set, piece and container."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import exactk
from exactk import _core
from strategies import latin

USERS, ITEMS = [f"user {number}" for number in range(300)], 60
PARTS = [USERS[:90], USERS[90:150], USERS[150:]]
NAMES: dict[str, Callable[[int], Any]] = {"numbers": int, "texts": "item {}".format}
RNG = np.random.default_rng(7)
VECTORS, OTHER_VECTORS = RNG.standard_normal((2, ITEMS, 37))
GRAPH = np.triu(RNG.integers(0, 2, (ITEMS, ITEMS)), 1).astype(np.float64)
TAGS = [RNG.choice(list("abcdefgh"), RNG.integers(1, 5), replace=False).tolist() for _ in range(ITEMS)]
LABELS = [f"group {number % 7}" for number in range(ITEMS)]
VALUES = RNG.choice([0.1, 0.7, 3.3, 1e9, 1e-9], ITEMS)


def rows(most: int, *, repeats: bool = False, least: int = 0) -> list[list[int]]:
    """Draw items of each user."""
    sizes = RNG.integers(least, most, len(USERS)).tolist()
    return [(RNG.integers(0, ITEMS, n) if repeats else RNG.permutation(ITEMS)[:n]).tolist() for n in sizes]


TRUTH, LISTS, TRAIN, BASE = rows(9, least=1), rows(20), rows(30, repeats=True)[::2], rows(20)[:-9]


class Family(NamedTuple):
    """Metrics, the features of items that they read, and features by which reports do not merge with these."""

    metrics: list[str]
    features: dict[str, Any] | None = None
    others: dict[str, Any] | None = None
    has_train: bool = True


def distances(names: str, rules: str = "") -> list[str]:
    return [f"ild@{k}(distance={name}{rules})" for name in names.split() for k in (1, 2, 5, 20)]


OF_VECTORS = [*distances("cosine dot euclidean hamming"), "serendipity@1", "serendipity@5(serendipity_of=popularity)"]
OF_VECTORS += ["serendipity@5(distance=euclidean,history_distance=mean)"]
OF_TAGS = [
    "tag_diversity@3",
    "tag_entropy@4",
    "tag_entropy(discount=none,entropy_base=e)",
    "calibration@2(undefined=skip)",
    "calibration(alpha=0.3,undefined=skip)",
    "serendipity@4(distance=jaccard)",
]
OF_LISTS = ["coverage", "num_items", "gini", "entropy", "personalization"]
FAMILIES = {
    "popularity": Family([f"{name}@5" for name in ("arp", "novelty", "surprisal", "popularity_rank", "aplt", "epc", "efd")]),
    "values": Family(
        ["recall@2(weight=values)", "recall(weight=values)", "recall@9(weight=values,average=micro)"],
        {"values": VALUES}, {"values": 2 * VALUES}, has_train=False,
    ),
    "vectors": Family(OF_VECTORS, {"features": VECTORS}, {"features": OTHER_VECTORS}),
    "narrow vectors": Family(OF_VECTORS, {"features": VECTORS.astype(np.float32)}, {"features": VECTORS}),
    "tags": Family(OF_TAGS, {"features": TAGS}, {"features": TAGS[::-1]}),
    "graph": Family(
        distances("cosine dot euclidean hamming jaccard matrix", ",missing_features=skip"),
        {"features": GRAPH + GRAPH.T}, {"features": GRAPH[::-1, ::-1] + GRAPH.T[::-1, ::-1]},
    ),
    "all lists": Family([*(f"{name}@[1,5]" for name in OF_LISTS), *OF_LISTS, "personalization@5(list_similarity=overlap)"]),
    "groups": Family(
        ["rsp@[1,5]", "rsp", "reo@5", "exposure@5", "reo(list_users=users)"],
        {"item_groups": LABELS}, {"item_groups": LABELS[::-1]},
    ),
    "base": Family(["unexpectedness@2", "unexpectedness", "unexpectedness@9(list_mean_over=cutoff)", "recall@2"]),
}  # fmt: skip


def frame_of(lists: dict[str, list[Any]]) -> pl.DataFrame:
    ranked = [(user, item, rank) for user, items in lists.items() for rank, item in enumerate(items, 1)]
    return pl.DataFrame(ranked, schema=["user", "item", "rank"], orient="row")


def values_of_users(report: exactk.Report) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in report.per_user.items()}


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize(("name", "of"), latin(list(NAMES), list(FAMILIES), 0))
def test_the_same_bits_in_every_way(of: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    family = FAMILIES[of]
    truth, lists, base, train = (
        {user: [NAMES[name](item) for item in row] for user, row in zip(users, of_users, strict=True)}
        for users, of_users in ((USERS, TRUTH), (USERS, LISTS), (USERS[:-9], BASE), (USERS[::2], TRAIN))
    )
    make = partial(exactk.Items, list(map(NAMES[name], range(ITEMS))), train=train if family.has_train else None)
    items = make(**(family.features or {}))
    inputs: dict[str, Any] = {"items": items}
    if of == "base":
        inputs = {"base_predictions": base, "exclude": {user: row[:1] for user, row in lists.items()}}
    of_users = of not in {"all lists", "groups"}

    def evaluate(truth: Any, lists: Any, *, by: Any = exactk.evaluate, **options: Any) -> exactk.Report:
        report: exactk.Report = by(truth, lists, family.metrics, **inputs, **options)
        return report

    def some(users: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        return {user: truth[user] for user in users}, {user: lists[user] for user in users}

    core, reference = (
        evaluate(*some(USERS[::20]), by=by, per_user=of_users) for by in (exactk.evaluate, exactk.reference.evaluate)
    )
    assert values_of_users(core) == values_of_users(reference)
    assert core.counts == reference.counts
    assert core.state.item_tallies == reference.state.item_tallies
    assert core.state.group_tallies == reference.state.group_tallies
    whole = evaluate(truth, lists)
    for isa in _core.isas():
        monkeypatch.setenv("EXACTK_ISA", isa)
        for threads in (1, 3):
            assert evaluate(truth, lists, num_threads=threads).state == whole.state
    reverse = dict(reversed(lists.items()))
    assert evaluate(truth, reverse).state == whole.state
    shards = [evaluate(*some(part)) for part in PARTS]
    random.Random(name).shuffle(shards)  # noqa: S311 - drawn, and not secret
    merged = exactk.merge(shards)
    assert (dict(merged), merged.state.to_bytes()) == (dict(whole), whole.state.to_bytes())
    assert dict(evaluate(None, map(some, PARTS))) == dict(whole)
    frame = frame_of(lists)
    batches = exactk.Batches(lambda: frame.iter_slices(997))
    assert evaluate(truth, batches) == evaluate(truth, frame)
    inputs["items"] = pickle.loads(pickle.dumps(items))  # noqa: S301 - our own
    assert evaluate(truth, lists).state == whole.state
    if family.others:
        inputs["items"] = make(**family.others)
        with pytest.raises(exactk.StateMismatchError):
            exactk.merge([whole, evaluate(truth, lists)])
