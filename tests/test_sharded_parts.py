"""The rows of partitions as parts of buckets: all rows of a user, as they were, whatever the partitions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._inputs.restrictions import shard_numbers
from exactk._sharded.parts import bucket_numbers, parts_of_table, tables_of_parts
from exactk._sharded.reduction import report_of_buckets
from exactk._sharded.worker import result_of_tables
from exactk.reference.truth_digest import hash_of_key
from sharded_rows import plan_of_tables
from strategies import examples

METRICS = ["ndcg@[2,5]", "recall@3", "map"]


def results_of_parts(plan: Any, tables: list[list[pa.Table]], buckets: int) -> list[Any]:
    """Return the results of the buckets, with a list of partitions per side."""
    split = [
        parts_of_table(plan, number, partition, buckets)
        for number, partitions in enumerate(tables)
        for partition in partitions
    ]
    parts = pa.concat_tables(split[::-1])
    numbers = parts["bucket"].unique().to_pylist()
    of_buckets = [parts.filter(pc.equal(parts["bucket"], number)) for number in numbers]
    return [result_of_tables(plan, *tables_of_parts(plan, one)) for one in of_buckets]


def rows(random: np.random.Generator, users: int, *, text: bool, columns: int) -> pa.Table:
    size = int(random.integers(0, 60))
    pairs = np.unique(random.integers(0, (users, 12), (size, 2)), axis=0)
    pairs = pairs[random.permutation(len(pairs))]
    shop = {"shop": pairs[:, 0] % 3} if columns == 2 else {}
    table = pa.table({"user": pairs[:, 0], **shop, "item": pairs[:, 1]})
    return pa.table([one.cast(pa.string()) for one in table.columns], names=table.column_names) if text else table


def partitions_of(table: pa.Table, cuts: list[int]) -> list[pa.Table]:
    bounds = sorted(min(cut, len(table)) for cut in (0, *cuts, len(table)))
    return [table.slice(start, end - start) for start, end in pairwise(bounds)]


CUTS = st.lists(st.integers(0, 60), max_size=4)


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([1, 2]), CUTS, st.integers(1, 9))
@settings(max_examples=examples(200))
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_f43_any_partitions(seed: int, text: bool, columns: int, cuts: list[int], buckets: int) -> None:
    random = np.random.default_rng(seed)
    truth, predictions = (rows(random, 9, text=text, columns=columns) for _ in range(2))
    predictions = predictions.append_column("score", pa.array(random.integers(0, 4, len(predictions)) / 2))
    names: Any = {"user": ["user", "shop"][:columns]}
    plan = plan_of_tables(truth, predictions, METRICS, columns=names)
    results = results_of_parts(plan, [partitions_of(truth, cuts), partitions_of(predictions, cuts[::2])], buckets)
    whole = exactk.evaluate(truth, predictions, METRICS, **names)
    if results:
        assert report_of_buckets(results).state == whole.state
    else:
        assert whole.counts["users"] == 0


@pytest.mark.parametrize("column", [range(0, 40_000, 40), [f"user {one}" for one in range(1000)]])
def test_buckets_hold_about_as_many_users(column: Any) -> None:
    counts = np.bincount(bucket_numbers([pa.chunked_array([pa.array(list(column))])], 8), minlength=8)
    assert counts.min() > 90
    assert counts.max() < 160


def test_a_bucket_depends_on_the_values_of_a_user_alone() -> None:
    values = [3, None, -7, 3, 2**62]
    together = bucket_numbers([pa.chunked_array([pa.array(values)])], 1000)
    apart = [bucket_numbers([pa.chunked_array([pa.array([one], pa.int64())])], 1000)[0] for one in values]
    assert together.tolist() == apart
    text = pa.chunked_array([pa.array(["b", None]), pa.array(["a", "b"])])
    assert bucket_numbers([text], 1000)[[0, 3]].tolist() == [bucket_numbers([pa.chunked_array([["b"]])], 1000)[0]] * 2
    left, right = pa.chunked_array([[1, 2]]), pa.chunked_array([[2, 1]])
    assert len(set(bucket_numbers([left, right], 10**9).tolist())) == 2


@pytest.mark.parametrize("key", [7, -7, "eve", "Zoë", (3, "eve"), ("eve", "adam", 3)])
def test_a_bucket_is_the_shard_of_the_command_line(key: Any) -> None:
    columns = [pa.chunked_array([[part]]) for part in (key if isinstance(key, tuple) else (key,))]
    numbers = shard_numbers(np.array([hash_of_key(key)], np.uint64), 1000)
    assert bucket_numbers(columns, 1000).tolist() == (numbers - 1).tolist()


TRUTH = pa.table({"user": [1, 2], "item": ["a", "b"], "grade": [1.0, 2.0]})
LISTS = pa.table({"user": [1, 2], "items": [["a", "c"], ["b"]]})
SCORES = pa.table({"user": [1, 2], "item": ["a", "b"], "score": pa.array([0.5, 0.6], pa.float32())})


@pytest.mark.parametrize(
    ("side", "column", "values"),
    [
        (0, "user", pa.array([1, 2], pa.int16())),
        (0, "user", pa.array([1, 2]).dictionary_encode()),
        (0, "item", pa.array(["a", "b"]).dictionary_encode()),
        (0, "item", pa.array(["a", "b"], pa.large_string())),
        (0, "grade", pa.array([1, 2])),
        (0, "grade", pa.array([1, 2], pa.float32())),
        (1, "items", pa.array([["a", "c"], ["b"]], pa.large_list(pa.large_string()))),
    ],
)
def test_partitions_may_have_other_types_of_the_same_kind(side: int, column: str, values: Any) -> None:
    plan = plan_of_tables(TRUTH, LISTS, "ndcg@2")
    tables = [TRUTH, LISTS]
    tables[side] = tables[side].set_column(tables[side].schema.get_field_index(column), column, values)
    report = report_of_buckets(results_of_parts(plan, [[one] for one in tables], 2))
    assert report.state == exactk.evaluate(TRUTH, LISTS, "ndcg@2").state


@pytest.mark.parametrize(
    ("side", "column", "values", "found"),
    [
        (0, "user", pa.array(["1", "2"]), "int64 in every partition, found string"),
        (0, "user", pa.array([1.0, 2.0]), "int64 in every partition, found double"),
        (0, "user", pa.array([1, 2**63], pa.uint64()), "int64 in every partition, found uint64"),
        (0, "user", pa.array([True, False]), "int64 in every partition, found bool"),
        (0, "item", pa.array([1, 2]), "string in every partition, found int64"),
        (0, "item", pa.array([b"a", b"b"]), "string in every partition, found binary"),
        (0, "grade", pa.array(["1", "2"]), "double in every partition, found string"),
        (0, "grade", pa.array([2**53 + 1, 2]), "double in every partition, found int64"),
        (2, "score", pa.array([0.5, 0.6]), "float in every partition, found double"),
        (1, "items", pa.array([[1], [2]]), "found list<item: int64>"),
        (1, "items", pa.array(["a", "b"]), "found string"),
    ],
)
def test_partitions_of_another_kind_are_refused(side: int, column: str, values: Any, found: str) -> None:
    table = (TRUTH, LISTS, SCORES)[side]
    plan = plan_of_tables(TRUTH, LISTS if side == 0 else table, "ndcg@2")
    table = table.set_column(table.schema.get_field_index(column), column, values)
    argument = ("truth", "predictions")[side > 0]
    with pytest.raises(exactk.InputTypeError, match=rf"^{argument}.{column}: expected .*{found}; cast the column"):
        parts_of_table(plan, int(side > 0), table, 2)


def test_keys_that_no_int64_holds_are_refused() -> None:
    keys = pa.table({"user": pa.array([1, 2**63], pa.uint64()), "item": ["a", "b"]})
    plan = plan_of_tables(keys, LISTS, "ndcg@2")
    with pytest.raises(exactk.InputTypeError, match=r"^truth.user: expected values that fit int64, found .*223372036"):
        parts_of_table(plan, 0, keys, 2)
