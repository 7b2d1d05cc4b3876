"""The sums that an evaluation comes down to: exact, so that they merge in any order to the same bits."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._plan.conventions import Convention
from exactk._plan.metric_strings import Value, distinct_parts, plan
from exactk._runtime.errors import StateMismatchError, input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAGIC = b"exactk-state\n"
_VERSION = 1

Label = str | int


class Sums(NamedTuple):
    """What one value is made of over some users. Integers, so that addition is exact.

    Each of the last three is to be multiplied by 2 to the power of minus its scale.
    """

    users: int  # that the value was computed for
    undefined: int  # of these, how many are NaN
    total: int  # of weight x value (macro), weight x numerator (micro) or weight x logarithm (geometric)
    total_scale: int
    squares: int  # of weight x value^2, or its logarithm (but for micro)
    squares_scale: int
    weight: int  # of the weights, if there are any, or of weight x denominator (micro); 0 otherwise
    weight_scale: int

    @property
    def scales(self) -> tuple[int, int, int]:
        """How finely the sums are resolved."""
        return self.total_scale, self.squares_scale, self.weight_scale

    def plus(self, other: Sums) -> Sums:
        """Return the sums over both sets of users."""
        return Sums(
            self.users + other.users,
            self.undefined + other.undefined,
            self.total + other.total,
            self.total_scale,
            self.squares + other.squares,
            self.squares_scale,
            self.weight + other.weight,
            self.weight_scale,
        )


@dataclass(frozen=True)
class State:
    """An evaluation as exact, mergeable sums.

    ``exactk.merge`` adds states (or reports) of different users; the result equals the evaluation of
    all of them at once, bit for bit. ``to_bytes`` and ``from_bytes`` carry a state between processes.

    Attributes
    ----------
    metrics : tuple of str
        The values, by canonical name.
    convention : Convention
        Under which they were computed.
    weighted : bool
        Whether users had weights.
    counts : Mapping of str to int
        Users seen, and what was odd about them. What `Report.counts` nests is flat here, its names
        joined by dots; ``candidates.total`` over ``candidates.users`` is their mean.
    totals : tuple of Sums
        The sums of each value over all users; of a value that is made of means, those of its parts. What
        several values are made of stands once, where the first of them has it.
    groups : Mapping of label to tuple of Sums, or None
        The same for each group.
    grade_column : str or None
        What the column of grades was called, where the truth was a data frame or file that had one.

    Examples
    --------
    >>> import exactk
    >>> state = exactk.evaluate([[1]], [[1, 2]], "P@2").state
    >>> exactk.State.from_bytes(state.to_bytes()) == state
    True
    >>> exactk.merge([state, state])["P@2"]
    0.5
    """

    metrics: tuple[str, ...]
    convention: Convention
    weighted: bool
    counts: Mapping[str, int]
    totals: tuple[Sums, ...]
    groups: Mapping[Label, tuple[Sums, ...]] | None = None
    grade_column: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Freeze the mappings; groups are held in the order of their labels."""
        object.__setattr__(self, "counts", MappingProxyType(dict(self.counts)))
        if self.groups is not None:
            ordered = sorted(self.groups.items(), key=lambda item: (type(item[0]).__name__, item[0]))
            object.__setattr__(self, "groups", MappingProxyType(dict(ordered)))

    def plus(self, other: State) -> State:
        """Return the state of both sets of users, which must have no user in common.

        Raises
        ------
        StateMismatchError
            If the two were not made by the same plan; it says what differs.
        """
        sums = StateSums(self)
        sums.add(other)
        return sums.state()

    def to_bytes(self) -> bytes:
        """Return the state as bytes that `from_bytes` reads: a header with a checksum, then JSON."""
        body = json.dumps(self.to_dict(), separators=(",", ":")).encode()
        return _MAGIC + _VERSION.to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little") + body

    @classmethod
    def from_bytes(cls, data: bytes) -> State:
        """Return the state that `to_bytes` wrote.

        Raises
        ------
        InputError
            If the bytes are not a whole and unchanged state.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise type_error("state", "bytes", type(data).__name__)
        data = bytes(data)
        header, body = data[: len(_MAGIC) + 8], data[len(_MAGIC) + 8 :]
        if len(header) < len(_MAGIC) + 8 or not header.startswith(_MAGIC):
            raise input_error(
                "state", "bytes that State.to_bytes wrote", f"{data[:16]!r}, which is not an exactk state"
            )
        version = int.from_bytes(header[-8:-4], "little")
        if version != _VERSION:
            raise input_error("state", f"version {_VERSION}", f"version {version}")
        if int.from_bytes(header[-4:], "little") != zlib.crc32(body):
            raise input_error("state", "the checksum that its bytes have", "another: the state is cut or damaged")
        return cls.from_dict(json.loads(body))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. The integers exceed its numbers, and stand as hexadecimal text."""
        groups = self.groups
        return {
            "metrics": list(self.metrics),
            "convention": self.convention.to_dict(),
            "weighted": self.weighted,
            "counts": dict(self.counts),
            "totals": [_sums_to_plain(sums) for sums in self.totals],
            "groups": None
            if groups is None
            else [[label, [_sums_to_plain(one) for one in sums]] for label, sums in groups.items()],
            "grade_column": self.grade_column,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> State:
        """Return the state that `to_dict` described."""
        try:
            groups = data["groups"]
            return _checked_state(
                cls(
                    tuple(data["metrics"]),
                    Convention.from_dict(data["convention"]),
                    data["weighted"],
                    _checked_counts(dict(data["counts"])),
                    tuple(map(_sums_from_plain, data["totals"])),
                    None if groups is None else {label: tuple(map(_sums_from_plain, sums)) for label, sums in groups},
                    _checked_column(data.get("grade_column")),
                )
            )
        except (KeyError, TypeError, ValueError) as error:
            raise input_error("state", "what State.to_dict returned", repr(error)) from error

    def __reduce__(self) -> tuple[Any, ...]:
        return (State.from_dict, (self.to_dict(),))

    def __hash__(self) -> int:
        return hash((self.metrics, self.convention, self.weighted, self.totals))


def _checked_column(name: object) -> str | None:
    if not isinstance(name, str | None):
        raise TypeError(f"a column {name!r}")
    return name


def _checked_state(state: State) -> State:
    """Return the state; raise ValueError if it has not the sums that its plan needs."""
    needed = len(distinct_parts(plan_of_state(state)))
    for sums in (state.totals, *(state.groups or {}).values()):
        if len(sums) != needed:
            raise ValueError(f"{len(sums)} sums of {needed}")
    return state


_CANDIDATE_COUNTS = {"candidates.users", "candidates.total", "candidates.min", "candidates.max"}


def _checked_counts(counts: dict[str, int]) -> dict[str, int]:
    """Return the counts; raise KeyError or ValueError if a report could not be made of them."""
    for name, count in counts.items():
        if type(count) is not int or count < 0:
            raise ValueError(f"{name} {count!r}")
        group, _, cutoff = name.partition(".")
        if group == "tied_at_cutoff":
            int(cutoff)
    needed = {"users", "longest_list"} | (_CANDIDATE_COUNTS if counts.keys() & _CANDIDATE_COUNTS else set())
    if missing := needed - counts.keys():
        raise KeyError(*sorted(missing))
    return counts


class StateSums:
    """The sums of states of different users, which are added in place: many cost no more than what they hold."""

    def __init__(self, first: State) -> None:
        self._first = first
        self._counts = dict(first.counts)
        self._totals = list(first.totals)
        self._grade_columns = {first.grade_column}
        self._groups = None if first.groups is None else {label: list(sums) for label, sums in first.groups.items()}

    def add(self, state: State) -> None:
        """Add a state; raise StateMismatchError if it was not made by the same plan."""
        _check_same_plan(self._first, state)
        _add_counts(self._counts, state.counts)
        _add_totals(self._totals, state.totals)
        self._grade_columns.add(state.grade_column)
        if self._groups is None or state.groups is None:
            return
        for label, sums in state.groups.items():
            if label in self._groups:
                _add_totals(self._groups[label], sums)
            else:
                self._groups[label] = list(sums)

    def state(self) -> State:
        """Return the state of all users so far."""
        groups = None if self._groups is None else {label: tuple(sums) for label, sums in self._groups.items()}
        first = self._first
        totals, grade_column = tuple(self._totals), first.grade_column if len(self._grade_columns) == 1 else None
        return State(first.metrics, first.convention, first.weighted, self._counts, totals, groups, grade_column)


def _add_totals(totals: list[Sums], others: tuple[Sums, ...]) -> None:
    totals[:] = [sums.plus(other) for sums, other in zip(totals, others, strict=True)]


def _add_counts(counts: dict[str, int], others: Mapping[str, int]) -> None:
    """Add the counts of other users. Least and greatest counts are chosen from, not added."""
    counted = [side for side in (counts, others) if side.get("candidates.users")]
    chosen = {
        name: choose(side[name] for side in counted)
        for name, choose in (("candidates.min", min), ("candidates.max", max))
        if counted
    }
    chosen["longest_list"] = max(counts["longest_list"], others["longest_list"])
    for name, count in others.items():
        counts[name] = counts.get(name, 0) + count
    counts |= chosen


def _check_same_plan(one: State, other: State) -> None:
    differences = []
    if one.metrics != other.metrics:
        differences.append(f"metrics {one.metrics} and {other.metrics}")
    if one.convention is not other.convention:
        differences += [
            f"{name} {value!r} and {other_value!r}"
            for name, (value, other_value) in one.convention.diff(other.convention).items()
        ]
    if one.weighted != other.weighted:
        differences.append(f"weighted {one.weighted} and {other.weighted}")
    if (one.groups is None) != (other.groups is None):
        differences.append("groups in one of them only")
    scales = [[sums.scales for sums in state.totals] for state in (one, other)]
    if not differences and scales[0] != scales[1]:
        differences.append("sums of another precision: one is of exactk.reference")
    if differences:
        message = "states: expected the same plan in all, found " + "; ".join(differences)
        raise StateMismatchError(message, "states")


def _sums_to_plain(sums: Sums) -> list[int | str]:
    integers = ((sums.total, sums.total_scale), (sums.squares, sums.squares_scale), (sums.weight, sums.weight_scale))
    return [sums.users, sums.undefined, *(part for integer, scale in integers for part in (hex(integer), scale))]


def _sums_from_plain(parts: list[Any]) -> Sums:
    return Sums(*(int(part, 16) if isinstance(part, str) else part for part in parts))


def plan_of_state(state: State) -> tuple[Value, ...]:
    """Return the plan that the state was made by: its canonical names resolve to themselves."""
    return plan(state.metrics, state.convention)
