"""Every function of the core, from eight threads at once.

The GIL lets one of them at a time into what converts arguments and results. On a build of Python without one, with
`PYTHON_GIL=0`, this file and test_concurrency.py are what has to pass before the module may say that it needs none.
"""

from __future__ import annotations

import re
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import exactk
from exactk import _core
from exactk.compat import ranx

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
THREADS = 8

USERS, ITEMS = 300, 200
RANDOM = np.random.default_rng(5)
TEXTS = {
    f"user {user}": [f"item {item}" for item in RANDOM.permutation(ITEMS)[: user % 9 + 1]] for user in range(USERS)
}
OTHER_TEXTS = {
    user: {item: float(len(item)) / (rank + 2) for rank, item in enumerate(row)} for user, row in TEXTS.items()
}
LISTS = [row[:5].tolist() for row in RANDOM.permuted(np.tile(np.arange(ITEMS), (USERS, 1)), axis=1)]
SCORES = RANDOM.integers(0, 40, (USERS, ITEMS)) / 8
USER_VECTORS, ITEM_VECTORS = (RANDOM.normal(size=(size, 8)).astype(np.float32) for size in (USERS, ITEMS))
METRICS = ["ndcg@5(gain=exp2)", "map", "recall@[5,10]", "precision@5(average=geometric)"]


def of_texts(_: Path) -> Any:
    report = exactk.evaluate(TEXTS, OTHER_TEXTS, METRICS, groups={user: user[-1] for user in TEXTS}, per_user=True)
    return report.state.to_bytes(), [*map(str, report.users)]


def of_mappings(_: Path) -> Any:
    return exactk.evaluate(TEXTS, OTHER_TEXTS, ["recall@5", "map"]).state.to_bytes()


def of_frames(_: Path) -> Any:
    rows = [(user, user[-1], item, rank + 1) for user, row in TEXTS.items() for rank, item in enumerate(row)]
    frame = pd.DataFrame(rows[::-1], columns=["user", "part", "item", "rank"])
    columns: dict[str, Any] = {"user": ["user", "part"], "item": "item", "rank": "rank"}
    whole = exactk.evaluate(frame[["user", "part", "item"]], frame, METRICS, **columns)
    halves = [frame.iloc[:700], frame.iloc[700:]]
    parts = exactk.Batches(lambda: iter(halves), user="user", item="item", rank="rank")
    batches = exactk.evaluate(frame[["user", "item"]], parts, METRICS)
    return whole.state.to_bytes(), batches.state.to_bytes()


def of_arrays(_: Path) -> Any:
    padded = np.full((USERS, 6), -1)
    padded[:, :5] = LISTS
    items = exactk.Items(ITEMS, train=LISTS, features=ITEM_VECTORS, item_groups=np.arange(ITEMS) % 5)
    report = exactk.evaluate(
        LISTS, padded, ["coverage@5", "ild@5", "rsp@5", "exposure@5", "novelty@5", "recall@5"], items=items
    )
    return report.state.to_bytes()


def of_scores(_: Path) -> Any:
    exclude = [[user % ITEMS] for user in range(USERS)]
    found = exactk.topk(SCORES, 7, exclude, num_threads=2).items.tobytes()
    fused = exactk.fuse({"one": SCORES, "two": SCORES[:, ::-1]}, "sum", depth=7, num_threads=2).scores.tobytes()
    return found, fused, exactk.evaluate(LISTS, SCORES, METRICS, exclude=exclude, num_threads=2).state.to_bytes()


def of_embeddings(_: Path) -> Any:
    embeddings = exactk.Embeddings(USER_VECTORS, ITEM_VECTORS)
    neighbors = exactk.topk(embeddings, 5).items.tobytes()
    return neighbors, exactk.evaluate(LISTS, embeddings, METRICS, num_threads=3).state.to_bytes()


def of_comparisons(_: Path) -> Any:
    systems = {"one": SCORES, "two": SCORES[:, ::-1].copy()}
    resampling: list[dict[str, Any]] = [
        {"test": "permutation", "permutations": 200},
        {"interval": "percentile", "resamples": 200},
    ]
    metrics = ["ndcg@5", "map(average=geometric)"]
    comparisons = [exactk.compare(LISTS, systems, metrics, baseline="one", **options) for options in resampling]
    compared = [comparison.differences.to_csv() for comparison in comparisons]
    return compared, exactk.agreement(SCORES, systems["two"], ["rbo"]).to_json()


def of_lists(_: Path) -> Any:
    judged = exactk.judge(LISTS, SCORES, 5)
    return judged.items.tobytes(), judged.grades.tobytes()


def of_updates(_: Path) -> Any:
    evaluator = exactk.Evaluator(METRICS)
    for begin in range(0, USERS, 100):
        evaluator.update(LISTS[begin : begin + 100], SCORES[begin : begin + 100])
    return evaluator.compute().state.to_bytes()


def of_files(folder: Path) -> Any:
    name = folder / str(threading.get_ident())
    qrels, run, table = name.with_suffix(".qrels"), name.with_suffix(".run"), name.with_suffix(".csv")
    rows = [(user, item, rank) for user, row in TEXTS.items() for rank, item in enumerate(row)]
    rows = [(user.replace(" ", "_"), item.replace(" ", "_"), rank) for user, item, rank in rows]
    qrels.write_text("".join(f"{user} 0 {item} {rank % 3}\n" for user, item, rank in rows))
    run.write_text("".join(f"{user} Q0 {item} {rank} {9 - rank} tag\n" for user, item, rank in rows))
    table.write_text("user,item,score\n" + "".join(f"{user},{item},{rank / 4}\n" for user, item, rank in rows))
    archive = name.with_suffix(".npz")
    np.savez_compressed(archive, indptr=np.arange(0, 5 * USERS + 1, 5), items=np.concatenate(LISTS))
    reports = [exactk.evaluate(qrels, each, METRICS) for each in (run, table)]
    reports.append(exactk.evaluate(LISTS, archive, METRICS))
    return [report.state.to_bytes() for report in reports]


def of_ranx(_: Path) -> Any:
    qrels = ranx.Qrels({user: dict.fromkeys(row, 1) for user, row in TEXTS.items()})
    return ranx.evaluate(qrels, ranx.Run(OTHER_TEXTS), ["ndcg@5", "map"])


WAYS: list[Callable[[Path], Any]] = [of_texts, of_mappings, of_frames, of_arrays, of_scores, of_embeddings, of_comparisons, of_lists, of_updates, of_files, of_ranx]  # fmt: skip


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_f22_every_function_of_the_core_from_eight_threads(tmp_path: Path) -> None:
    expected = [way(tmp_path) for way in WAYS]
    barrier = threading.Barrier(THREADS)

    def call(first: int) -> list[Any]:
        barrier.wait()
        order = [*range(first, len(WAYS)), *range(first)]
        results = {way: WAYS[way](tmp_path) for _ in range(3) for way in order}
        return [results[way] for way in range(len(WAYS))]

    with warnings.catch_warnings(), ThreadPoolExecutor(THREADS) as pool:
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        for results in pool.map(call, range(THREADS)):
            assert results == expected


# What a first call needs alone, and what needs objects that nothing here is.
APART = {"register_errors", "built_with", "isas", "convention_fields", "metric_table"}


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_these_calls_reach_every_function_of_the_core(tmp_path: Path) -> None:
    reached: set[str] = set()

    def note(_frame: object, event: str, function: Any) -> None:
        if event == "c_call":
            reached.add(function.__name__)

    sys.setprofile(note)
    try:
        for way in WAYS:
            way(tmp_path)
    finally:
        sys.setprofile(None)
    functions = {name for name in dir(_core) if type(getattr(_core, name)).__name__ == "builtin_function_or_method"}
    assert functions - reached - APART == set()


def test_f22_the_module_does_not_say_that_it_needs_no_gil() -> None:
    """Until a build without one has run these tests. Nothing is static that they would write to."""
    assert "mod_gil_not_used" not in (ROOT / "cpp" / "bindings" / "module.cpp").read_text(encoding="utf-8")
    for path in [*(ROOT / "cpp" / "src").rglob("*.?pp"), *(ROOT / "cpp" / "bindings").rglob("*.?pp")]:
        assert not re.search(r"^static (?!const|_assert)", path.read_text(encoding="utf-8"), re.MULTILINE), path
