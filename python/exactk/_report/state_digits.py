"""States as vectors of int64 of a fixed size, which processes add or compare element by element.

An exact sum of 2,000 bits is a row of digits in base 2^32. Rows are added digit by digit, in any order, without an overflow
below 2^30 additions: what the digits exceed their base by is carried when they are read.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from exactk._report.counts import Counts
from exactk._report.state import State
from exactk._report.state_shape import SUMS
from exactk._report.tallies import item_tally, tally_to_bytes
from exactk._runtime.errors import CapacityError, StateMismatchError
from exactk._runtime.shapes import Binary, Digest, ShapeError, plain_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import TallyPlan, Value
    from exactk._report.tallies import Integers, ItemTally, TallyKeys


def has_fixed_size(value: Value) -> bool:
    """Return whether the tally of a value, if it needs one, has a fixed size for a catalogue."""
    rules = value.rules
    if not value.info.of_collection:
        return True
    if (
        value.info.reads_groups
        or value.counts_hits
        or ("list_similarity" in value.info.own_fields and rules["list_similarity"] == "cosine")
    ):
        return False
    return bool(rules["foreign_items"] != "count" and rules["duplicate_items"] != "count")


class TallyLayout:
    """Which number stands where in the vectors of a tally: the counts of each item, then lists by length, per cutoff."""

    def __init__(self, plan: TallyPlan, keys: TallyKeys) -> None:
        """Take the keys of the catalogue, ascending."""
        self._cutoffs, self._keys = plan.cutoffs, keys
        self._positions = None if isinstance(keys, np.ndarray) else {key: row for row, key in enumerate(keys)}
        items = len(keys)
        self._sizes = [items * len(plan.cutoffs)]
        self._sizes += [1 + (items if cutoff is None else min(cutoff, items)) for cutoff in plan.cutoffs]
        self.size = sum(self._sizes)

    def vector(self, tally: ItemTally) -> Integers:
        """Return the vector of a tally."""
        counts = np.zeros((len(self._keys), len(self._cutoffs)), np.int64)
        counts[self._rows_of(tally.keys)] = tally.counts
        tables = [np.zeros(size, np.int64) for size in self._sizes[1:]]
        for table, lengths in zip(tables, tally.list_lengths, strict=True):
            table[lengths[:, 0]] = lengths[:, 1]
        return np.concatenate([counts.ravel(), *tables])

    def tally(self, vector: Integers) -> ItemTally:
        """Return the tally of all lists whose vectors were added; raise ValueError if there are no such lists."""
        counts, *tables = np.split(vector, np.cumsum(self._sizes[:-1]))
        counts = counts.reshape(len(self._keys), len(self._cutoffs))
        if vector.min(initial=0) < 0 or (np.diff(counts, axis=1) < 0).any():
            raise ShapeError("", "counts of items that grow with the cutoff")
        lengths = [np.column_stack([np.flatnonzero(table), table[table > 0]]) for table in tables]
        return item_tally(self._cutoffs, self._keys, counts, lengths)

    def _rows_of(self, keys: TallyKeys) -> Integers:
        if self._positions is None:
            return np.searchsorted(np.asarray(self._keys), np.asarray(keys, np.int64)).astype(np.int64)
        return np.fromiter((self._positions[key] for key in keys), np.int64, len(keys))


_Array = TypeVar("_Array")

NUM_DIGITS = 68
"""Of 2^62 doubles each below 2^1024, the sum of multiples of 2^-1074 has 2160 bits, and a sign."""
_BITS = 32
_BYTES = NUM_DIGITS * _BITS // 8

NOTHING = -(2**62)
"""Among the largest numbers: of no user. Every other number is larger."""


def digits_of(integers: Iterable[int]) -> NDArray[np.int64]:
    """Return a row of digits per integer, least significant first: in [0, 2^32), except the last, which has the sign."""
    try:
        data = b"".join(integer.to_bytes(_BYTES, "little", signed=True) for integer in integers)
    except OverflowError as error:
        raise CapacityError(f"expected sums of at most {8 * _BYTES} bits, found larger ones") from error
    digits = np.frombuffer(data, np.dtype("<u4")).reshape(-1, NUM_DIGITS).astype(np.int64)
    digits[:, -1] = digits[:, -1].astype(np.uint32).view(np.int32)
    return digits


def carried(digits: _Array) -> _Array:
    """Return digits of the same integers after one step of carrying, of an array or a tensor.

    What was below 2^62 is below 2^32 + 2^30 then, so that another addition per step never overflows.
    """
    rows: Any = digits
    carries = rows[:, :-1] >> _BITS
    rest = rows.clone() if hasattr(rows, "clone") else rows.copy()
    rest[:, :-1] -= carries << _BITS
    rest[:, 1:] += carries
    carried_rows: _Array = rest
    return carried_rows


def integers_of(digits: NDArray[np.int64]) -> list[int]:
    """Return the integers of rows of digits, each of which may have any value; raise ValueError if one has too many bits."""
    rows = digits.copy()
    for column in range(NUM_DIGITS - 1):
        carries = rows[:, column] >> _BITS
        rows[:, column] -= carries << _BITS
        rows[:, column + 1] += carries
    last = rows[:, -1]
    if (last != last.astype(np.int32)).any():
        raise ShapeError("", f"sums of at most {8 * _BYTES} bits")
    data = rows.astype(np.uint32).astype(np.dtype("<u4")).tobytes()
    return [
        int.from_bytes(data[begin : begin + _BYTES], "little", signed=True) for begin in range(0, len(data), _BYTES)
    ]


class Vectors(NamedTuple):
    """Numbers of some users. Of other users there are as many numbers."""

    digits: NDArray[np.int64]  # of exact sums, which are added
    counts: NDArray[np.int64]  # which are added
    largest: NDArray[np.int64]  # of which the larger is kept

    def plus(self, other: Vectors) -> Vectors:
        """Return the numbers of both sets of users."""
        digits = carried(self.digits + other.digits)
        return Vectors(digits, self.counts + other.counts, np.maximum(self.largest, other.largest))


_LARGEST = ("longest_list", "candidates.max")
_SMALLEST = ("candidates.min",)


class StateLayout:
    """Which number stands where in the vectors of the states of a plan, which have no groups."""

    def __init__(
        self, of_nobody: State, of_nobody_with_weights: State | None, tallies: Sequence[TallyLayout] = ()
    ) -> None:
        """Take the states of no users, without and with weights, and the layouts of the item tallies."""
        self._templates = (of_nobody, of_nobody_with_weights)
        self._names = Counts.plain_names(of_nobody.metrics)
        self._tallies = tallies
        self._tallies_begin = 3 + 2 * len(self._names) + 2 * len(of_nobody.totals)

    def vectors(self, state: State) -> Vectors:
        """Return the vectors of a state."""
        integers = [part for sums in state.totals for part in (sums.total, sums.squares, sums.weight)]
        of_users = [part for sums in state.totals for part in (sums.users, sums.undefined)]
        counts = state.counts.to_plain(state.metrics)
        is_given = [int(name in counts) for name in self._names]
        added = [0 if name in _LARGEST + _SMALLEST else counts.get(name, 0) for name in self._names]
        has_candidates = counts.get("candidates.users", 0) > 0
        largest = [counts["longest_list"], *([NOTHING] * 2 if not has_candidates else _candidates(counts))]
        flags = (1, int(state.weighted), int(state.truth_digest is None))
        tallies = [layout.vector(tally) for layout, tally in zip(self._tallies, state.item_tallies, strict=True)]
        return Vectors(
            digits_of([*integers, state.truth_digest or 0]),
            np.concatenate([np.array([*flags, *is_given, *added, *of_users], np.int64), *tallies]),
            np.array(largest, np.int64),
        )

    def state(self, vectors: Vectors) -> State:
        """Return the state of all users whose vectors were added; raise an error if there is no such state."""
        parts, weighted, without_digest = vectors.counts[:3].tolist()
        if 0 < weighted < parts:
            found = f"weights in {weighted} of {parts}"
            raise StateMismatchError(f"weights: expected weights in all updates or in none, found {found}", "weights")
        with plain_data("state", "the sums of updates"):
            template = self._templates[int(weighted > 0)]
            if template is None:
                raise ShapeError("", "no weights, which metrics of all lists together do not have", weighted)
            *integers, digest = integers_of(vectors.digits)
            plain = template.to_dict() | {
                "counts": self._counts(vectors),
                "totals": self._totals(template, integers, vectors.counts),
                "tallies": self._tallies_as_text(vectors.counts),
                "truth_digest": None if without_digest else Digest().write(digest % 2**128),
            }
            return State.from_dict(plain)

    def _counts(self, vectors: Vectors) -> dict[str, int]:
        """Return the counts by name that any part of the users has."""
        size = len(self._names)
        is_given, added = vectors.counts[3 : 3 + size].tolist(), vectors.counts[3 + size : 3 + 2 * size].tolist()
        counts = {name: count for name, given, count in zip(self._names, is_given, added, strict=True) if given}
        longest, most, least = (0 if number == NOTHING else number for number in vectors.largest.tolist())
        extremes = {"longest_list": longest, "candidates.max": most, "candidates.min": -least}
        return counts | {name: extreme for name, extreme in extremes.items() if name in counts}

    def _tallies_as_text(self, counts: NDArray[np.int64]) -> list[str]:
        """Return the item tallies as plain data."""
        texts = []
        begin = self._tallies_begin
        for layout in self._tallies:
            tally = layout.tally(counts[begin : begin + layout.size])
            texts.append(Binary().write(tally_to_bytes(tally)))
            begin += layout.size
        return texts

    def _totals(self, template: State, integers: Sequence[int], counts: NDArray[np.int64]) -> list[Any]:
        """Return the sums of each part as plain data."""
        of_users = counts[3 + 2 * len(self._names) : self._tallies_begin].tolist()
        totals = []
        for index, sums in enumerate(template.totals):
            exact = zip(integers[3 * index : 3 * index + 3], sums.scales, strict=True)
            totals.append(SUMS.write((*of_users[2 * index : 2 * index + 2], *chain.from_iterable(exact))))
        return totals


def _candidates(counts: dict[str, int]) -> list[int]:
    """Return the most candidates of a user, and the fewest, negated."""
    return [counts["candidates.max"], -counts["candidates.min"]]
