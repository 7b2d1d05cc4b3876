"""Large files whose rows are in any order: copied to a temporary file, and evaluated some users at a time."""

from __future__ import annotations

import errno
import os
import tempfile
import threading
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import polars as pl
import pyarrow.parquet as pq
import pytest

import exactk
from exactk._files import source
from exactk._inputs import batches
from test_batches import BatchCase

pytestmark = pytest.mark.filterwarnings("ignore:predictions. all rows are copied to a temporary file")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have every file be large, and temporary files be in a folder, which is empty after each test."""
    monkeypatch.setattr(source, "_LARGE", 0)
    monkeypatch.setattr("exactk._files.columnar._PART_ROWS", 100)
    monkeypatch.setattr(batches, "PARTITIONS", 8)
    monkeypatch.setattr(batches, "BLOCK_ROWS", 400)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def write(folder: Path, frame: pl.DataFrame) -> Path:
    """Write row groups of which some are empty."""
    path, table = folder / "predictions.parquet", frame.to_arrow()
    with pq.ParquetWriter(path, table.schema) as writer:
        for begin in range(0, len(table), 130):
            writer.write_table(table.slice(begin, 130))
            writer.write_table(table.slice(0, 0))
    return path


def shuffled(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sample(fraction=1, shuffle=True, seed=3)


@pytest.mark.parametrize("string_keys", [False, True])
@pytest.mark.parametrize("ranked", [False, True])
def test_the_report_is_that_of_all_rows_at_once(tmp_path: Path, *, string_keys: bool, ranked: bool) -> None:
    case = BatchCase(string_keys=string_keys, ranked=ranked)
    frame = shuffled(case.frame)
    assert case.evaluate(write(tmp_path, frame)) == case.evaluate(frame)


def test_one_user_may_have_most_of_the_rows(tmp_path: Path) -> None:
    case = BatchCase(string_keys=False)
    user = case.frame["user"][0]
    huge = pl.DataFrame({"user": [user] * 5000, "item": range(1000, 6000), "score": [float(i) for i in range(5000)]})
    frame = shuffled(pl.concat([case.frame, huge]))
    assert case.evaluate(write(tmp_path, frame)) == case.evaluate(frame)


def test_without_a_truth_users_are_in_order_of_appearance(tmp_path: Path) -> None:
    frame = shuffled(BatchCase(string_keys=True).frame)
    options: Any = {"metrics": "coverage", "items": exactk.Items([f"item {i}" for i in range(60)]), "per_user": True}
    assert exactk.evaluate(None, write(tmp_path, frame), **options) == exactk.evaluate(None, frame, **options)


@pytest.mark.parametrize("column", ["item", "score", "rank"])
def test_a_fault_names_its_row(tmp_path: Path, column: str) -> None:
    frame = shuffled(BatchCase(string_keys=True, ranked=column == "rank").frame)
    user = frame["user"][-1]
    *_, before, last = frame.with_row_index("row").filter(pl.col("user") == user)["row"]
    values = frame[column].to_list()
    values[last] = float("nan") if column == "score" else values[before]
    path = write(tmp_path, frame.with_columns(pl.Series(column, values)))
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate({user: ["item 1"]}, path, "recall@5")
    assert f" of the data in {path}" in str(caught.value)
    assert f"(user {user!r})" in str(caught.value)
    assert caught.value.row in {before, last} if column != "score" else caught.value.row == last


def test_a_full_disk_is_said(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, full = write(tmp_path, shuffled(BatchCase(string_keys=False).frame)), Mock(closed=False)
    full.tell.return_value, full.write.side_effect = 0, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_options: full)
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate({1: [2]}, path, "recall@5")
    full.close.assert_called()
    assert str(caught.value) == (
        f"predictions: expected room in {folder} for a copy of rows that are not sorted by user, found No space left on "
        "device; the environment variable TMPDIR names another directory; files that are sorted by user need none"
    )


class _Fault(Exception):  # noqa: N818 - raised as a signal's handler may
    pass


@pytest.mark.parametrize(
    ("where", "is_sorted"),
    [
        ("exactk._core.evaluate", False), ("exactk._core.evaluate", True), ("exactk._core.group_by_user", False),
        ("exactk._files.columnar._validated", False), ("exactk._files.columnar._validated", True),
    ],
)  # fmt: skip
def test_nothing_is_left_of_a_call_that_ends_early(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *, where: str, is_sorted: bool
) -> None:
    """Neither a thread nor an open file, even while the exception is kept."""
    frame = BatchCase(string_keys=False).frame
    path = write(tmp_path, frame.sort("user") if is_sorted else shuffled(frame))
    truth = exactk.Truth([0, 1], [2], users=[1])
    calls = []

    def fail(*arguments: Any, **named: Any) -> Any:
        calls.append((arguments, named))
        if len(calls) > 3:
            raise _Fault
        return original(*arguments, **named)

    module, name = where.rsplit(".", 1)
    original = getattr(__import__(module, fromlist=[name]), name)
    threads, files = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    monkeypatch.setattr(where, fail)
    with pytest.raises(_Fault) as kept:  # and with it the frames of its traceback
        exactk.evaluate(truth, path, "recall@5")
    assert kept.value is not None
    assert threading.active_count() == threads
    assert len(list(Path("/proc/self/fd").iterdir())) == files
    assert not list(folder.iterdir())


def test_a_file_that_shrinks_meanwhile_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = shuffled(BatchCase(string_keys=False).frame)
    path = write(tmp_path, frame)
    warn = batches.Reader.warn_of_ungrouped_rows

    def shrink(reader: batches.Reader, user: int) -> None:
        warn(reader, user)
        write(tmp_path, frame[:10])

    monkeypatch.setattr(batches.Reader, "warn_of_ungrouped_rows", shrink)
    with pytest.raises(exactk.InputError, match="source: expected the same frames in each call, found 10 rows after"):
        exactk.evaluate({1: [2]}, path, "recall@5")


def test_a_file_of_users_who_are_together_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = BatchCase(string_keys=False)
    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    assert case.evaluate(write(tmp_path, case.frame)) == case.evaluate(case.frame)


@pytest.mark.parametrize("large", [2**31 - 1, 2**31, 2**62])
@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64])
def test_ids_of_some_parts_need_more_than_32_bits(tmp_path: Path, large: int, dtype: Any) -> None:
    case = BatchCase(string_keys=False)
    item = pl.col("item").cast(dtype)
    frame = shuffled(case.frame).with_columns(pl.when(pl.int_range(pl.len()) > 300).then(item + large).otherwise(item))
    assert case.evaluate(write(tmp_path, frame)) == case.evaluate(frame)
