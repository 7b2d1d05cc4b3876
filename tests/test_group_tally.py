"""Tallies of groups of items: addition, bytes, and tallies that no lists have."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._plan.metric_strings import plan
from exactk._plan.values import Value
from exactk._report.tallies import GroupTally, group_tally_from_bytes, group_tally_to_bytes
from strategies import examples
from tallies import check_damaged_bytes, with_size

LABELS: list[tuple[Any, ...]] = [(0, 1), (-(2**63), 3, 2**63 - 1), ("", "a", "b"), ("a", "ü", "\ud800", "\U0001d54f")]


def value_of(text: str) -> Value:
    return plan([text], exactk.conventions["standard"])[0]


EXPOSURE = value_of("exposure@4")
TALLY = GroupTally(("a", "b"), np.array([2, 3]), 3, np.array([[2, 0, 1], [1, 3, 0]]))


@st.composite
def tallies(draw: st.DrawFn, labels: tuple[Any, ...] | None = None) -> GroupTally:
    """Draw tallies of lists: each has an item of at most one group at a rank."""
    labels = labels or draw(st.sampled_from(LABELS))
    sizes = np.arange(4, 4 + len(labels))
    lists = draw(st.lists(st.lists(st.integers(-1, len(labels) - 1), max_size=4), max_size=5))
    counts = np.zeros((len(labels), 4), np.int64)
    for groups in lists:
        for rank, group in enumerate(groups):
            counts[group, rank] += group >= 0
    ranks = 1 + np.flatnonzero(counts.any(axis=0)).max(initial=-1)
    return GroupTally(labels, sizes, len(lists), np.ascontiguousarray(counts[:, :ranks]))


def read(data: bytes, value: Value = EXPOSURE, items: int = 30) -> GroupTally:
    return group_tally_from_bytes(data, value, items)


@settings(max_examples=examples(300))
@given(tallies(), tallies(LABELS[2]), tallies(LABELS[2]), tallies(LABELS[2]))
def test_addition_and_bytes(any_tally: GroupTally, one: GroupTally, two: GroupTally, three: GroupTally) -> None:
    assert read(group_tally_to_bytes(any_tally)) == any_tally
    whole = one.plus(two).plus(three)
    assert whole == three.plus(two.plus(one)) == two.plus(three).plus(one)
    assert group_tally_to_bytes(whole) == group_tally_to_bytes(three.plus(one).plus(two))
    assert whole.lists == one.lists + two.lists + three.lists
    assert whole.counts.sum() == sum(tally.counts.sum() for tally in (one, two, three))


def test_equality_and_hashes() -> None:
    assert replace(TALLY) == TALLY
    assert hash(replace(TALLY)) == hash(TALLY)
    changes: list[dict[str, Any]] = [
        {"labels": ("a", "c")}, {"sizes": np.array([2, 4])}, {"lists": 4}, {"counts": TALLY.counts[:, :2]},
    ]  # fmt: skip
    for change in changes:
        assert replace(TALLY, **change) != TALLY
    assert TALLY != "a tally"
    assert repr(TALLY) == "<GroupTally of 2 groups in 3 lists>"


def test_what_is_not_added() -> None:
    for change in ({"labels": ("a", "c")}, {"sizes": np.array([2, 4])}):
        with pytest.raises(exactk.StateMismatchError, match="the same groups of items"):
            TALLY.plus(replace(TALLY, **change))
    with pytest.raises(exactk.StateMismatchError, match=r"fewer than 2\^61"):
        TALLY.plus(replace(TALLY, lists=2**61))


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("two groups or more of 5 items", {"labels": ("a",), "sizes": np.array([5]), "counts": TALLY.counts[:1]}),
        ("two groups or more of 5 items", {"sizes": np.array([0, 5])}),
        ("two groups or more of 5 items", {"sizes": np.array([3, 3])}),
        ("an item at the last rank", {"counts": np.array([[2, 0, 1, 0], [1, 3, 0, 0]])}),
        ("at most 4 ranks, found 5", {"counts": np.array([[2, 0, 1, 0, 1], [1, 3, 0, 0, 0]])}),
        ("at most 3 items at a rank, found 4", {"counts": np.array([[2, 0, 1], [2, 3, 0]])}),
        ("2 items in at most 3 lists, found 7", {"counts": np.array([[3, 3, 1], [0, 0, 0]])}),
        ("sums below", {"counts": np.array([[2**62, 0, 1], [0, 0, 0]])}),
        ("ascending keys", {"labels": ("b", "a")}),
        ("ascending keys", {"labels": (1, 1)}),
    ],
)
def test_tallies_that_no_lists_have(message: str, change: dict[str, Any]) -> None:
    """Each differs from a possible one in a single respect."""
    assert read(group_tally_to_bytes(TALLY), items=5) == TALLY
    with pytest.raises(ValueError, match=message):
        read(group_tally_to_bytes(replace(TALLY, **change)), items=5)


PARITY = replace(TALLY, possible=np.array([5, 4]))


def test_items_that_could_be_counted() -> None:
    value = value_of("rsp@4")
    assert read(group_tally_to_bytes(PARITY), value, 5) == PARITY != TALLY
    assert PARITY.plus(PARITY).possible.tolist() == [10, 8]  # type: ignore[union-attr]
    with pytest.raises(exactk.StateMismatchError, match="the same groups of items"):
        TALLY.plus(PARITY)
    for tally, of, message in (
        (TALLY, value, "possible items: expected 8 bytes"), (PARITY, EXPOSURE, "no bytes after the last array"),
        (replace(PARITY, possible=np.array([5, 3])), value, "at most 3 items of a group, found 4"),
        (replace(PARITY, possible=np.array([7, 4])), value, "2 items in at most 3 lists, found 7"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            read(group_tally_to_bytes(tally), of, 5)


def test_repeats_count_where_lists_are_no_sets() -> None:
    data = group_tally_to_bytes(replace(TALLY, counts=np.array([[3, 3, 1], [0, 0, 0]])))
    assert read(data, value_of("exposure@4(duplicate_items=count)")).counts.sum() == 7


def test_labels_are_no_bytes() -> None:
    data = group_tally_to_bytes(TALLY)
    body = bytearray(zlib.decompress(data[8:]))
    kind = 8 + 1 + 8  # behind the size of the first array, its number, and the size of the next
    assert body[kind] == 1  # strings
    body[kind] = 2
    with pytest.raises(ValueError, match="labels of groups to be strings or integers"):
        read(with_size(bytes(body)))


@settings(max_examples=examples(500))
@given(tallies(), st.data())
def test_changed_bytes_are_refused_or_another_tally(tally: GroupTally, data: st.DataObject) -> None:
    check_damaged_bytes(group_tally_to_bytes(tally), read, group_tally_to_bytes, data)
