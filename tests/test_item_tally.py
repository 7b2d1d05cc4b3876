"""Item tallies: the same for the same lists in any order and any parts, and as bytes."""

from __future__ import annotations

import random
import zlib
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._report import tallies
from exactk._report.tallies import ItemTally, Unpacked, item_tally, packed, tally_from_bytes, tally_to_bytes
from strategies import examples
from tallies import CUTOFFS, ITEM_KEYS, check_damaged_bytes, collections_of_lists, tally_of, with_size


def read(data: bytes, tally: ItemTally, *, lists_are_sets: bool = True) -> ItemTally:
    """Return what was written of a tally at these cutoffs."""
    has_short_lists = tally.short_lists is not None
    return tally_from_bytes(data, tally.cutoffs, has_short_lists=has_short_lists, lists_are_sets=lists_are_sets)


LISTS: Any = [[1, 2, 3], [3], [], [3, 1], [2**40, 1, 3]]
TALLY = tally_of(LISTS, (1, 2, 5))


def test_what_is_counted() -> None:
    assert TALLY.keys.tolist() == [1, 2, 3, 2**40]  # type: ignore[union-attr]
    assert TALLY.counts.tolist() == [[1, 3, 3], [0, 1, 1], [2, 2, 4], [1, 1, 1]]
    assert [table.tolist() for table in TALLY.list_lengths] == [
        [[0, 1], [1, 4]], [[0, 1], [1, 1], [2, 3]], [[0, 1], [1, 1], [2, 1], [3, 2]],
    ]  # fmt: skip
    assert TALLY.short_lists is not None
    assert [table.tolist() for table in TALLY.short_lists] == [
        [], [[2, 1, 1]], [[0, 2, 1], [0, 3, 2], [1, 3, 1], [2, 1, 1], [2, 2, 1], [2, 3, 2], [3, 3, 1]],
    ]  # fmt: skip
    assert (TALLY.lists, [TALLY.entries(i) for i in range(3)]) == (5, [4, 7, 9])


@settings(max_examples=examples(300))
@given(collections_of_lists(max_lists=12), CUTOFFS, st.booleans(), st.randoms(use_true_random=False))
def test_parts_in_any_order_make_the_whole(
    lists: list[list[Any]], cutoffs: tuple[int | None, ...], has_short_lists: bool, rng: random.Random
) -> None:
    whole = tally_of(lists, cutoffs, has_short_lists=has_short_lists)
    shuffled = rng.sample(lists, len(lists))
    parts = [tally_of(shuffled[i::3], cutoffs, has_short_lists=has_short_lists) for i in range(3)]
    rng.shuffle(parts)
    merged = reduce(ItemTally.plus, parts)
    assert merged == whole == parts[0].plus(parts[1].plus(parts[2]))
    assert merged.counts.dtype == np.int64
    assert tally_to_bytes(merged) == tally_to_bytes(whole)
    read_back = read(tally_to_bytes(merged), whole)
    assert read_back == whole
    assert type(read_back.keys) is type(whole.keys)


def test_items_in_no_list_are_left_out() -> None:
    counts = np.array([[0, 0], [0, 2], [1, 2]])
    lengths = [np.array([[1, 1], [0, 1]]), np.array([[2, 1], [0, 0], [2, 1]])]
    short = [np.empty((0, 3), np.int64), np.array([[2, 2, 2], [1, 2, 2]])]
    tally = item_tally((1, 4), ["c", "b", "a"], counts, lengths, short)
    of_listed = [short[0], np.array([[0, 2, 2], [1, 2, 2]])]
    assert tally == item_tally((1, 4), ["a", "b"], counts[[2, 1]], lengths, of_listed)
    assert tally != item_tally((1, 4), ["a", "b"], counts[[1, 2]], lengths, of_listed)
    assert (tally.keys, tally.list_lengths[1].tolist()) == (("a", "b"), [[2, 2]])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (tally_of(LISTS, (1, 2)), r"same cutoffs, found \(1, 2, 5\) and \(1, 2\)"),
        (tally_of(LISTS, (1, 2, 5), has_short_lists=False), "same cutoffs"),
        (tally_of([["1"]], (1, 2, 5)), "item keys of one type, found int and str"),
        (tally_of([[b"1"]], (1, 2, 5)), "item keys of one type, found bytes and int"),
    ],
)
def test_tallies_that_do_not_add(other: ItemTally, message: str) -> None:
    with pytest.raises(exactk.StateMismatchError, match=message):
        TALLY.plus(other)


def test_sums_that_do_not_fit() -> None:
    counts, lengths = np.array([[2**61]]), [np.array([[1, 2**61]])]
    half = item_tally((1,), np.array([7]), counts, lengths)
    with pytest.raises(exactk.StateMismatchError, match="fewer than 2\\^62"):
        half.plus(half)


def test_a_tally_of_nothing_has_any_type_of_keys() -> None:
    nothing = tally_of([[], []], (1, 3))
    for keys in ITEM_KEYS:
        one = tally_of([keys[:3]], (1, 3))
        assert nothing.plus(one) == one.plus(nothing) == tally_of([[], keys[:3], []], (1, 3))
    assert read(tally_to_bytes(nothing), nothing) == nothing


def test_repeats_count_where_lists_are_no_sets() -> None:
    tally = tally_of([[1, 1, 2]], (3,), has_short_lists=False)
    data = tally_to_bytes(tally)
    assert read(data, tally, lists_are_sets=False).counts.tolist() == [[2], [1]]
    with pytest.raises(ValueError, match="items in at most 1 lists"):
        read(data, tally)


def test_many_items_in_few_bytes() -> None:
    size = 10**5
    counts = np.cumsum(np.random.default_rng(1).integers(0, 3, (size, 3)), axis=1) + 1
    lengths = [np.array([[1, total]]) for total in counts.sum(axis=0).tolist()]
    lengths = [np.append(table, [[0, int(counts.sum()) - table[0, 1]]], axis=0) for table in lengths]
    tally = item_tally((1, 5, 10), np.arange(size) * 7, counts, lengths)
    data = tally_to_bytes(tally)
    assert read(data, tally) == tally
    assert len(data) < size


def test_what_is_written_can_be_read_however_well_it_compresses(monkeypatch: pytest.MonkeyPatch) -> None:
    size = 10**5
    once = item_tally(
        (10,), np.append(np.arange(size), 2**50), np.ones((size + 1, 1), np.int64), [np.array([[1, size + 1]])]
    )
    assert len(tally_to_bytes(once)) < size / 100
    monkeypatch.setattr(tallies, "_CHECKED_SIZE", 1000)
    data = tally_to_bytes(once)
    assert size / 4 < len(data) < size / 3
    assert read(data, once) == once


def test_impossible_tallies_are_refused() -> None:
    """Each differs from a possible one in a single respect."""
    short = TALLY.short_lists
    assert short is not None
    few = [*short[:2], short[2][:-1]]
    other_length = [*short[:2], np.array([[0, 2, 1], [0, 4, 2], *short[2][2:].tolist()])]
    beyond = [*short[:2], np.append(short[2][:-1], [[4, 3, 1]], axis=0)]
    lengths, changed = TALLY.list_lengths, partial(replace, TALLY)
    impossible = {
        "items that are in a list": changed(counts=np.append(TALLY.counts[:3], [[0, 0, 0]], axis=0)),
        "lists of 9 items in all": changed(list_lengths=(*lengths[:2], np.array([[0, 2], [1, 1], [2, 2], [3, 1]]))),
        "5 lists at each cutoff": changed(list_lengths=(*lengths[:2], np.array([[0, 2], [1, 1], [2, 1], [3, 2]]))),
        "lists of at most 2 items": changed(list_lengths=(lengths[0], np.array([[0, 1], [1, 3], [4, 1]]), lengths[2])),
        "as many items as the lists of each length have": changed(short_lists=few),
        "an item in at most 0 lists of 4 items": changed(short_lists=other_length),
        "positions of 4 items": changed(short_lists=beyond),
        "distinct ascending keys": changed(keys=np.array([1, 3, 2, 2**40])),
        "ascending rows": changed(list_lengths=(*lengths[:2], np.append(lengths[2][:3], [[3, 1], [3, 1]], axis=0))),
        "ascending rows of counts above 0": changed(short_lists=[*short[:2], np.append(short[2], [[3, 3, 0]], axis=0)]),
    }  # fmt: skip
    long, once = [[1, 2], [3, 4], [5, 6]], np.array([[2], [1]])
    of_one, of_three = tally_of([[1, 2], [1]], (2,)), tally_of([*long, [7], [7]], (2,))
    of_one_length = {
        "items in as many lists of the cutoff's length": replace(of_one, short_lists=(np.array([[1, 1, 1]]),)),
        "cutoff's length as there are": replace(of_three, short_lists=(np.array([[0, 1, 2]]),)),
        "item in at most 1 lists of 2 items": item_tally(
            (3,), np.array([1, 3]), once, [np.array([[1, 1], [2, 1]])], [np.array([[0, 2, 2], [1, 1, 1]])]
        ),
        "ascending rows of counts": replace(tally_of([[1]], (3,)), list_lengths=(np.array([[1, 1], [2, 0]]),)),
    }
    for message, tally in (impossible | of_one_length).items():
        with pytest.raises(ValueError, match=message):
            read(tally_to_bytes(tally), tally)


@settings(max_examples=examples(500))
@given(collections_of_lists(), CUTOFFS, st.data())
def test_changed_bytes_are_refused_or_another_tally(
    lists: list[list[Any]], cutoffs: tuple[int | None, ...], data: st.DataObject
) -> None:
    tally = tally_of(lists, cutoffs)
    check_damaged_bytes(tally_to_bytes(tally), partial(read, tally=tally), tally_to_bytes, data)


def test_bytes_that_grow() -> None:
    """The stated size is checked before anything is decompressed, and no more is."""
    for size in (2**63, 2**31, 10):
        bomb = size.to_bytes(8, "little") + zlib.compress(bytes(10**6))
        with pytest.raises(ValueError, match="expected"):
            read(bomb, TALLY)


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_few_bytes_need_little_memory(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What compresses by a thousand is refused, or has at most 16 MiB, and so have keys that are all empty."""
    keys = packed([np.array([kind]), np.zeros(10**6, np.int64), b""])
    with pytest.raises(ValueError, match="distinct ascending keys"):
        read(keys, TALLY)
    monkeypatch.setattr(tallies, "_CHECKED_SIZE", 1000)
    body = zlib.decompress(keys[8:])
    with pytest.raises(ValueError, match=f"as many bytes as items of lists need, found {len(body)}"):
        read(with_size(body), TALLY)


INTEGERS = st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 1), st.sampled_from([127, 128, 2**63, 2**64 - 1]))


@given(st.lists(st.lists(INTEGERS), max_size=4), st.binary(max_size=20))
def test_arrays_come_back_from_few_bytes(lists: list[list[int]], between: bytes) -> None:
    data = packed([between, *(np.array(integers, np.uint64) for integers in lists)])
    parts = Unpacked(data)
    assert parts.raw("bytes", len(between)) == between
    assert [parts.take("array").tolist() for _ in lists] == lists
    parts.finish()
    with pytest.raises(ValueError, match="array: expected 8 bytes, found 0"):
        parts.take("array")
    sizes = [8 + sum(max(1, -(-number.bit_length() // 7)) for number in integers) for integers in lists]
    assert len(zlib.decompress(data[8:])) == len(between) + sum(sizes)


ONE = (1).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "8 bytes, found 0"),
        ((2).to_bytes(8, "little") + b"\1", "2 bytes, found 1"),
        (b"\xff" * 8, "bytes, found 0"),
        (ONE + b"\x81", "1 bytes, found 0"),
        (ONE + b"\x81\0", "integers of 64 bits, without bytes that are 0"),
        (ONE + b"\xff" * 9 + b"\2", "integers of 64 bits"),
        (ONE + b"\xff" * 10 + b"\1", "integers of 64 bits"),
    ],
)
def test_bytes_that_are_no_array(body: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Unpacked(with_size(body)).take("array")
    with pytest.raises(ValueError, match="expected 2 integers, found 1"):
        Unpacked(with_size(ONE + b"\1")).take("array", 2)
    assert Unpacked(with_size(ONE + b"\xff" * 9 + b"\1")).take("array").tolist() == [2**64 - 1]


def test_bytes_of_another_size_than_said_are_refused() -> None:
    data = (5).to_bytes(8, "little") + zlib.compress(b"abc")
    with pytest.raises(ValueError, match="compressed bytes that end after 5, found 3"):
        read(data, TALLY)
    with pytest.raises(ValueError, match="expected compressed bytes, found"):
        read(data[:8] + b"abc", TALLY)
