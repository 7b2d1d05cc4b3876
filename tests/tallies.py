"""Drawn lists and what counts in them, item tallies of lists counted one after another, and damaged bytes of tallies."""

from __future__ import annotations

import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from exactk._report.tallies import ItemTally, item_tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Lists = list[list[Any]]


def tally_of(
    lists: Sequence[Sequence[Any]], cutoffs: Sequence[int | None], *, has_short_lists: bool = True
) -> ItemTally:
    """Return the tally of lists without repeats, or with repeats that count."""
    keys = list({item: None for items in lists for item in items})
    counts = np.zeros((len(keys), len(cutoffs)), np.int64)
    lengths: list[Counter[int]] = [Counter() for _ in cutoffs]
    short: list[Counter[tuple[int, int]]] = [Counter() for _ in cutoffs]
    for items in lists:
        for column, cutoff in enumerate(cutoffs):
            top = items[:cutoff]
            lengths[column][len(top)] += 1
            for item in top:
                counts[keys.index(item), column] += 1
                if len(top) != cutoff:
                    short[column][keys.index(item), len(top)] += 1
    tables = [_table([(length, number) for length, number in of_cutoff.items()], 2) for of_cutoff in lengths]
    short_tables = [_table([(*cell, number) for cell, number in of_cutoff.items()], 3) for of_cutoff in short]
    given = keys if keys and not isinstance(keys[0], int) else np.array(keys, np.int64)
    return item_tally(cutoffs, given, counts, tables, short_tables if has_short_lists else None)


def _table(rows: list[tuple[int, ...]], columns: int) -> Any:
    return np.array(rows, np.int64).reshape(len(rows), columns)


ITEM_KEYS: list[list[Any]] = [
    [*range(8)],
    [-(2**63), -5, 0, 3, 2**31, 2**40, 2**63 - 2, 2**63 - 1],
    ["", "a", "aa", "ab", "b", "ü", "\ud800", "\U0001d54f"],
    [b"", b"\0", b"a", b"a\0", b"b", b"\xff", b"\xff\xff", b"c" * 200],
]
CUTOFFS = st.sampled_from([(None,), (3,), (1, 2, 3), (1, 4, None), (2, 10)])


@st.composite
def collections_of_lists(draw: st.DrawFn, *, max_lists: int = 7) -> Lists:
    """Draw lists of different items, of any length; many are equal."""
    keys = draw(st.sampled_from(ITEM_KEYS))
    one_list = st.lists(st.sampled_from(keys), unique=True, max_size=6)
    few = draw(st.lists(one_list, min_size=1, max_size=4))
    return draw(st.lists(st.one_of(one_list, st.sampled_from(few)), max_size=max_lists))


def with_size(body: bytes) -> bytes:
    """Return the bytes of a tally whose decompressed bytes are these."""
    return len(body).to_bytes(8, "little") + zlib.compress(body)


def check_damaged_bytes(
    written: bytes, read: Callable[[bytes], Any], write: Callable[[Any], bytes], data: st.DataObject
) -> None:
    """Damage the bytes of a tally: they are refused, or what is read writes the same tally."""

    def refused_or_sound(damaged: bytes) -> None:
        try:
            tally = read(damaged)
        except ValueError:
            return
        assert read(write(tally)) == tally

    body = bytearray(zlib.decompress(written[8:]))
    assert len(body) == int.from_bytes(written[:8], "little")
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(body) - 1))
        match data.draw(st.sampled_from(["change", "drop", "add"])):
            case "change":
                body[position] = data.draw(st.integers(0, 255))
            case "drop":
                del body[position]
            case _:
                body[position:position] = data.draw(st.binary(max_size=12))
    refused_or_sound(with_size(bytes(body)))
    cut = data.draw(st.integers(0, len(written)))
    with pytest.raises(ValueError, match="expected"):
        read(written[:cut] + b"x" * (cut == len(written)))
    refused_or_sound(data.draw(st.binary(max_size=40)))


class DrawnLists(NamedTuple):
    """Rows of users by position, and rules that say which lists and which of their items count."""

    truth: list[list[int] | None]
    lists: list[list[int] | None]
    exclude: list[list[int]]
    rules: dict[str, Any]

    def ranked(self, cutoff: int | None) -> list[list[tuple[int, int]] | None]:
        """Return the rank and item of each item that counts; None of a list that does not. All relevant items are."""
        return [self._ranked_items(*row, cutoff) for row in zip(self.truth, self.lists, self.exclude, strict=True)]

    def _ranked_items(
        self, truth: list[int] | None, listed: list[int] | None, excluded: list[int], cutoff: int | None
    ) -> list[tuple[int, int]] | None:
        is_of_users = truth is not None or self.rules["users"] in {"predictions", "union"}
        is_counted = is_of_users and (bool(truth) or self.rules["empty_truth"] != "skip")
        if listed is None or (self.rules["list_users"] == "users" and not is_counted):
            return None
        rest = [item for item in listed if item not in excluded]
        if not rest and self.rules["list_users"] == "users" and self.rules["empty_list"] == "skip":
            return None
        if self.rules["duplicate_items"] == "collapse":
            rest = list(dict.fromkeys(rest))
        rest = rest[:cutoff]
        counts_repeats = self.rules["duplicate_items"] == "count"
        return [(rank, item) for rank, item in enumerate(rest, 1) if counts_repeats or item not in rest[: rank - 1]]


@st.composite
def drawn_lists(draw: st.DrawFn, ids: st.SearchStrategy[int]) -> DrawnLists:
    size = draw(st.integers(1, 5))
    relevant = st.one_of(st.none(), st.lists(ids, unique=True, max_size=2))
    listed = st.one_of(st.none(), st.lists(ids, max_size=6))
    kinds: list[st.SearchStrategy[Any]] = [relevant, listed, st.lists(ids, max_size=2)]
    truth, lists, exclude = (draw(st.lists(kind, min_size=size, max_size=size)) for kind in kinds)
    rules = {
        "foreign_items": ["ignore", "count"], "duplicate_items": ["first", "count", "collapse"], "list_users": ["lists", "users"],
        "users": ["truth", "both", "predictions", "union"], "empty_truth": ["skip", "compute"], "empty_list": ["skip", "compute"], "undefined": ["nan"],
    }  # fmt: skip
    return DrawnLists(truth, lists, exclude, {name: draw(st.sampled_from(some)) for name, some in rules.items()})
