"""One call over and over again, each time with another allocation of C++ that fails: the first, the second, …

A test runs this in a process of its own, with `failing_allocations.cpp` loaded before anything else.
"""

from __future__ import annotations

import ctypes
import io
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse

import exactk
from core_rules import core_rules
from exactk import _core

TRUTH = [[1, 2], [3], [5, 0]]
KEYED = {"a": ["x", "a key that is longer than any string within a string object"], "b": ["y"]}
VALUES = np.array([[0.5, 2.0, 1.0, 0.0, 3.0, 4.0], [1.0, 0.5, 0.0, 2.0, 5.0, 6.0], [3.0, 3.0, 1.0, 0.0, 2.0, 1.0]])
METRICS = ["ndcg@3", "recall@[1,3]", "mrr", "num_hits"]
RUN = b"".join(b"q%d Q0 d%d 1 %d t\n" % (query, rank, 9 - rank) for query in range(3) for rank in range(9))
# Not of pyarrow, whose own allocations would fail, and which ends the process then.
FRAME = pl.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "x"], "score": [3.0, 2.0, 1.0]})
CATEGORIES = FRAME.with_columns(pl.col("item").cast(pl.Categorical))
CODES = np.arange(200, dtype=np.uint32)[::-1].copy()
LISTS = pl.DataFrame({"user": [1, 2], "item": [["x", "y"], ["a string of more than twelve bytes"]]})


def evaluate(predictions: Any, truth: Any = TRUTH, **options: Any) -> object:
    return exactk.evaluate(truth, predictions, METRICS, num_threads=2, **options)


def top_ids(scores: Any, exclude: Any = None) -> object:
    return exactk.topk(scores, 2, exclude).items.tolist()


def plain(arrays: Iterable[Any]) -> list[Any]:
    return [array if array is None else array.tolist() for array in arrays]


def grow_vocabulary() -> list[Any]:
    vocabulary = _core.Vocabulary(False)
    vocabulary.encode_packed(np.arange(201), np.full(200, 97, np.uint8), 2, "keys")
    copy = vocabulary.copy()
    _core.encode_texts(copy, [f"key {number}" for number in range(100)], as_bytes=False, argument="keys")
    other = _core.Vocabulary(False)
    other.extend(copy, len(copy), "keys")
    return [*other.as_packed(len(other)), other.positions_in_key_order(len(other))]


def refuse() -> object:
    """Fail for another reason, which is to be told."""
    try:
        return exactk.evaluate(TRUTH, [[-1], [2], [3]], "ndcg@3")
    except exactk.InputError as error:
        return error.argument, error.row, str(error)


def read_run(text: bytes) -> list[object]:
    columns = _core.read_trec("run", io.BytesIO(text).read)
    assert isinstance(columns, _core.TrecColumns)
    offsets = (columns.query_offsets, columns.document_offsets)
    return plain([*offsets, columns.queries, columns.documents, columns.numbers])


def refuse_type() -> object:
    refusals: list[Callable[[], object]] = [
        lambda: _core.topk(scores="no scores", k=3),  # type: ignore[arg-type]
        _core.MetricParameter,
        lambda: _core.Lists.__new__(_core.Lists).validate("x", None),
    ]
    texts = []
    for call in refusals:
        try:
            call()
        except TypeError as error:
            texts.append(str(error).partition("Invoked with")[0])
    return texts


def sum_pairs() -> list[object]:
    values = [_core.PairedValue([0], 0, False, True, False), _core.PairedValue([0, 1], 1, False, False, True)]
    tables = [np.eye(2, 3), np.ones((2, 3))]
    codes = np.array([0, 1, 0])
    groups: dict[str, Any] = {"groups": codes, "group_count": 2, "clusters": codes[::-1].copy(), "cluster_count": 2}
    sums = _core.paired_sums(tables=tables, values=values, pairs=[(1, 0)], weights=np.ones(3), **groups)
    return [sums.users.tolist(), sums.sums, sums.products, sums.sums_scale]


def resample(sum_resamples: Callable[..., tuple[Any, Any]]) -> list[object]:
    units = {"keys": np.arange(6, dtype=np.uint64), "units": np.arange(6)}
    draws = {"seed": 7, "first": 1024, "count": 1100}
    return plain(sum_resamples(columns=[VALUES[0], VALUES[1]], scales=[40, 3], **units, **draws, threads=2))


CALLS: dict[str, Callable[[], Any]] = {
    "rankings": lambda: evaluate([*TRUTH], weights=[1.0, 2.0, 3.0], groups=["g", "h", "g"], exclude=[[9], [8], None]),
    "per_user": lambda: evaluate([*TRUTH], per_user=True),
    "float64_scores": lambda: evaluate(VALUES),
    "float32_scores": lambda: evaluate(VALUES.astype(np.float32), candidates=[0, 2, 5]),
    "float16_scores": lambda: evaluate(VALUES.astype(np.float16)),
    "integer_scores": lambda: evaluate(exactk.Scores(VALUES.astype(np.int32), min_score=1)),
    "sparse_scores": lambda: evaluate(scipy.sparse.csr_array(VALUES)),
    "embeddings": lambda: evaluate(exactk.Embeddings(VALUES, np.eye(6), item_bias=np.ones(6))),
    "paired_sums": sum_pairs,
    "sign_flip_sums": lambda: resample(_core.sign_flip_sums),
    "resample_sums": lambda: resample(_core.resample_sums),
    "fuse": lambda: plain([exactk.fuse({"a": VALUES, "b": [[4], [1], []]}, depth=2).items]),
    "topk": lambda: top_ids(VALUES, [[4], [5], []]),
    "topk_of_embeddings": lambda: top_ids(exactk.Embeddings(VALUES, np.eye(6), "cosine")),
    "neighbors": lambda: plain(exactk.neighbors(VALUES, 2)),
    "mapping": lambda: evaluate({**KEYED}, KEYED),
    "long_format": lambda: evaluate(FRAME, FRAME.select(["user", "item"])),
    "categories": lambda: evaluate(CATEGORIES, CATEGORIES.select(["user", "item"])),
    "lists_of_Arrow": lambda: evaluate(LISTS.clone(), LISTS),
    "group_by_user": lambda: plain(
        _core.group_by_user(CODES, 200, [np.arange(200), np.ones(200)], 2, "users")[1] or ()
    ),
    "order_by_user": lambda: plain(
        _core.order_by_user(np.array([2, 1, 0, 2], np.uint32), 3, np.array([2.0, 1.0, 1.0, 1.0]), "users")
    ),
    "vocabulary": lambda: plain(grow_vocabulary()),
    "TREC": lambda: read_run(RUN),
    "a_fault_of_TREC": lambda: _core.read_trec("run", io.BytesIO(b"q d 1\n").read).expected,  # type: ignore[union-attr]
    "padded": lambda: _core.padded_lengths(np.array([[1, -1], [2, 3]]), "x").tolist(),  # type: ignore[union-attr]
    "rules": lambda: [type(core_rules(gain="exp2", ties="raise", gain_table=[1.0, 2.0])) for _ in range(3)],
    "planned_value": lambda: type(_core.PlannedValue("ndcg", 3, 0.5, core_rules(gain_table=[1.0]))),
    "metric_table": lambda: [
        (info.name, info.aliases, info.formula, info.parameter and info.parameter.name) for info in _core.metric_table()
    ],
    "convention_fields": lambda: [
        (one.name, one.choices, one.names, one.standard) for one in _core.convention_fields()
    ],
    "isas": lambda: (_core.isas(), _core.built_with()),
    "an_input_error": refuse,
    "a_type_error": refuse_type,
}


def fail_each_allocation(name: str) -> tuple[int, int]:
    """Make a call until no allocation is left that could fail; return how many failed, and how many could be spared."""
    library = ctypes.CDLL(None)
    call = CALLS[name]
    call()  # what is loaded once is loaded now
    expected = call()
    failures = spared = 0
    while True:
        outcome = expected
        library.fail_allocation(failures)
        try:
            outcome = call()
        except MemoryError:
            outcome = MemoryError
        failed = library.allocation_has_failed()
        library.fail_allocation(-1)
        assert outcome is MemoryError or outcome == expected, outcome
        if not failed:
            break
        failures += 1
        spared += outcome is not MemoryError
    assert call() == expected
    return failures, spared


def fail_allocations() -> dict[str, tuple[int, int]]:
    """Do so with every call; what ends the process comes after the last name that is printed."""
    counts = {}
    for name in CALLS:
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
        counts[name] = fail_each_allocation(name)
    return counts
