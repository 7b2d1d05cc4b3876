"""The shards of users: each user is in one, whatever the container, and all shards together are the whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._files import source
from exactk._inputs.keys.vocabulary import Snapshot
from exactk._inputs.restrictions import Shard, shard_numbers, users_of_shard
from exactk.reference.truth_digest import hash_of_key
from strategies import examples
from test_sharded import CONVENTIONS, Tables, drawn_tables

METRICS = ["ndcg@[2,5]", "recall@3", "map", "f1@2(average=micro)", "coverage@3", "entropy@3"]
ITEMS = {
    int: exactk.Items([*range(20)]),
    str: exactk.Items([f"item_id {item}" for item in range(20)]),
}


def keys_of(values: Any) -> Snapshot:
    """Return the keys of users, distinct and in order."""
    keys = exactk.as_predictions(pa.table({"user": values, "item": [1] * len(values), "rank": [1] * len(values)}))
    assert isinstance(keys, exactk.Rankings)
    assert keys.user_vocabulary is not None
    return keys.user_vocabulary


def splitmix(word: int) -> int:
    """Return the next number of the generator splitmix64 from this state, by its definition."""
    word = (word + 0x9E3779B97F4A7C15) % 2**64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


@given(
    st.lists(st.integers(0, 2**63 - 1), min_size=1, unique=True) | st.lists(st.text(), min_size=1, unique=True),
    st.integers(1, 2**20),
)
@settings(max_examples=examples(200))
def test_f38_the_key_alone_decides(keys: list[Any], shards: int) -> None:
    expected = [splitmix(hash_of_key(key)) % shards + 1 for key in keys]
    assert shard_numbers(keys_of(keys).hashes, shards).tolist() == expected


def test_f38_the_shards_of_any_version() -> None:
    """A change would put users of machines with several versions into two shards, or none."""
    integers = pa.array([0, 1, 2, 3, 2**31, 2**53 + 1, 2**63 - 1])
    assert shard_numbers(keys_of(integers).hashes, 1000).tolist() == [536, 466, 111, 54, 869, 32, 40]
    texts = pa.array(["", "a", "ann", "7", "Zoë", "a longer key of a user"])
    assert shard_numbers(keys_of(texts).hashes, 1000).tolist() == [933, 485, 264, 833, 399, 513]


@pytest.mark.parametrize(
    "dtype", [pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.dictionary(pa.int8(), pa.int16())]
)
def test_f38_integers_of_any_width(dtype: Any) -> None:
    wide, narrow = (keys_of(pa.array(range(100), one)) for one in (pa.int64(), dtype))
    assert shard_numbers(narrow.hashes, 7).tolist() == shard_numbers(wide.hashes, 7).tolist()


def test_f38_shards_of_any_keys_are_of_about_one_size() -> None:
    for keys in (range(10_000), range(0, 80_000, 8), [f"user {number}" for number in range(10_000)]):
        counts = np.bincount(shard_numbers(keys_of(list(keys)).hashes, 8), minlength=9)[1:]
        assert 1100 < counts.min() <= counts.max() < 1400


def merged(truth: Any, predictions: Any, shards: int, metrics: Any = METRICS, **options: Any) -> exactk.Report:
    """Evaluate all shards, the last first, and merge them."""
    states = []
    for number in range(shards, 0, -1):
        chosen, others = users_of_shard(truth, predictions, Shard(number, shards))
        states.append(exactk.evaluate(chosen, others, metrics, **options).state)
    return exactk.merge(states)


def with_two_columns(table: Any) -> Any:
    """Return the table with the user's key in two columns."""
    if not isinstance(table, pa.Table):
        return table
    users = table["user_id"].to_pylist()
    if users and isinstance(users[0], str):
        users = [int(user.split()[-1]) for user in users]
    shops = pa.array([user // 4 for user in users], pa.int64())
    customers = pa.array([str(user % 4) for user in users], pa.string())
    others = {name: table[name] for name in table.column_names if name != "user_id"}
    return pa.table({"shop": shops, "customer": customers, **others})


@given(drawn_tables(), st.integers(1, 60), CONVENTIONS, st.booleans(), st.booleans())
@settings(max_examples=examples(300))
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_f38_all_shards_are_the_whole(
    tables: Tables, shards: int, convention: str, has_two_columns: bool, in_batches: bool
) -> None:
    options: dict[str, Any] = {name: one for name, one in tables.others.items() if not isinstance(one, str)}
    kind = int if pa.types.is_integer(tables.predictions["item_id"].type) else str
    options |= {"convention": convention, "items": ITEMS[kind]}
    columns = [name for name in tables.truth.column_names if name in {"user_id", "item_id", "grade"}]
    truth, rows = tables.truth.select(columns), tables.predictions
    if has_two_columns:
        options |= {name: with_two_columns(one) for name, one in options.items()} | {"user": ["shop", "customer"]}
        truth, rows = with_two_columns(truth), with_two_columns(rows)
    user = {name: one for name, one in options.items() if name == "user"}
    predictions: Any = exactk.as_predictions(rows, **user)
    if in_batches:
        predictions = exactk.Batches(lambda: (rows.slice(begin, 11) for begin in range(0, len(rows), 11)), **user)
    truth = exactk.as_truth(truth, **user)
    try:
        whole = exactk.evaluate(truth, predictions, METRICS, **options)
    except exactk.InputError as error:  # such as a user without a weight
        with pytest.raises(type(error)):
            merged(truth, predictions, shards, **options)
        return
    of_shards = merged(truth, predictions, shards, **options)
    assert of_shards.state == whole.state
    assert of_shards.state.to_bytes() == whole.state.to_bytes()


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "csv": pl.DataFrame.write_csv,
    "tsv": partial(pl.DataFrame.write_csv, separator="\t"),
    "parquet": partial(pl.DataFrame.write_parquet, row_group_size=300),
}


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")  # of rows that are apart
@pytest.mark.parametrize("ending", WRITERS)
def test_f38_large_files_are_filtered_while_they_are_read(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are `exactk.Batches`, here also of users whose rows are apart."""
    random = np.random.default_rng(1)
    users, items = random.integers(0, 300, 2000), random.permutation(2000)
    table = pl.DataFrame({"user": [f"u{user}" for user in users], "item": items, "score": random.random(2000)})
    truth = exactk.as_truth(table[:900, :2])
    for rows in (table, table.sort("user")):
        path = tmp_path / f"rows.{ending}"
        WRITERS[ending](rows, path)
        in_memory = exactk.read(path, "predictions")
        monkeypatch.setattr(source, "_LARGE", 1)
        batches = exactk.read(path, "predictions")
        monkeypatch.undo()
        assert isinstance(batches, exactk.Batches)
        whole = exactk.evaluate(truth, in_memory, "ndcg@5")
        assert merged(truth, batches, 5, "ndcg@5").state == whole.state


def test_errors_of_large_files_name_the_shard() -> None:
    """Rows are counted among those of the shard."""
    frame = pa.table({"user": [5, 5, 5], "item": [1, 2, 1], "rank": [1, 2, 3]})
    truth = exactk.as_truth({5: [1]})
    batches = exactk.Batches(lambda: [frame])
    number = int(shard_numbers(keys_of([5]).hashes, 3)[0])
    chosen, predictions = users_of_shard(truth, batches, Shard(number, 3))
    with pytest.raises(exactk.InputError, match=rf"row 2 of the data in batch 0 \(rows of shard {number}/3\)"):
        exactk.evaluate(chosen, predictions, "P@3")


@pytest.mark.parametrize("in_batches", [False, True])
def test_f18_keys_of_two_kinds_are_refused_where_no_shard_has_both(in_batches: bool) -> None:
    """Else 7 and '7' would be two users, of two shards."""
    frame = pa.table({"user": ["7"], "item": [1], "rank": [1]})
    predictions: Any = exactk.Batches(lambda: [frame]) if in_batches else exactk.as_predictions(frame)
    for number in range(1, 9):
        with pytest.raises(exactk.InputTypeError, match=r"predictions.*expected users of type int, as in the truth"):
            exactk.evaluate(*users_of_shard(exactk.as_truth({7: [1]}), predictions, Shard(number, 8)), "P@1")


def test_users_without_keys_have_no_shards() -> None:
    keyed, unkeyed = {1: [1]}, [[1]]
    for truth, predictions, argument in ((unkeyed, keyed, "truth"), (keyed, unkeyed, "predictions")):
        with pytest.raises(exactk.InputError, match=f"{argument}: expected users with keys"):
            users_of_shard(exactk.as_truth(truth), exactk.as_predictions(predictions), Shard(1, 2))  # type: ignore[arg-type]
