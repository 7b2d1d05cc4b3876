"""Which shards of an evaluation a state has, so that none is merged twice, and missing ones have names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from exactk._inputs.users_of_shard import Shard
from exactk._runtime.errors import StateMismatchError
from exactk._runtime.faults import listed
from exactk._runtime.shapes import Fields, Many, Maybe, Row, ShapeError, Text, Whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from exactk._runtime.shapes import Shape


MOST_SHARDS = 100_000
_MOST_TEXT = 10_000  # characters
MOST_SHOWN = 20
"""Names in a text."""


class ShardedRun(NamedTuple):
    """What all numbered shards of one evaluation have in common, beside the metrics and the convention of their states."""

    shards: int  # how many there are
    version: str  # of exactk
    inputs: tuple[tuple[str, str], ...]  # what each file is, and the SHA-256 of its content
    options: tuple[tuple[str, str], ...]  # those that say how the files are read

    def describe_difference(self, other: ShardedRun) -> str:
        """Return how the runs differ; empty if they are the same."""
        differences = []
        if self.shards != other.shards:
            differences.append(f"{self.shards} and {other.shards} shards")
        if self.version != other.version:
            differences.append(f"exactk {self.version} and {other.version}")
        differences += _differing("content of ", self.inputs, other.inputs, _beginning)
        differences += _differing("", self.options, other.options, lambda value: value or "none")
        return "; ".join(differences)


def _beginning(digest: str) -> str:
    return f"SHA-256 {digest[:8]}..." if digest else "not read"


def _differing(
    what: str, pairs: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]], show: Callable[[str], str]
) -> list[str]:
    one, other = dict(pairs), dict(others)
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return [f"{what}{name} ({show(one.get(name, ''))} and {show(other.get(name, ''))})" for name in names]


class Shards(NamedTuple):
    """The shards of a state: some of a numbered run, or shards that the caller named.

    A state of all shards of a numbered run has none: it is that of the whole evaluation.
    """

    names: tuple[str, ...]  # such as 3/8, in order
    run: ShardedRun | None = None  # None for shards that the caller named

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the other shards of a numbered run."""
        names = set(self.names)
        return () if self.run is None else tuple(name for name in _names(self.run.shards) if name not in names)

    @property
    def remarks(self) -> list[str]:
        """What a report says: which shards of a numbered run it is of."""
        return [] if self.run is None else [f"only shard{'s' * (len(self.names) > 1)} {listed(self.names, MOST_SHOWN)}"]

    @classmethod
    def of_plain(cls, names: tuple[str, ...], run: ShardedRun | None) -> Shards:
        """Return the shards; raise ValueError unless these are distinct names of some, in order."""
        distinct = set(names)
        expected = sorted(distinct) if run is None else [name for name in _names(run.shards) if name in distinct]
        if not names or list(names) != expected or (run is not None and len(names) == run.shards > 1):
            raise ShapeError("names", "distinct names of some shards, in order", names)
        return cls(names, run)


def _names(shards: int) -> list[str]:
    return [str(Shard(number, shards)) for number in range(1, shards + 1)]


_TEXT = Text(_MOST_TEXT)
_TEXTS_BY_NAME = Many(Row(lambda name, value: (name, value), (_TEXT, _TEXT)))
_RUN: dict[str, Shape] = {
    "shards": Whole(1, MOST_SHARDS),
    "version": _TEXT,
    "inputs": _TEXTS_BY_NAME,
    "options": _TEXTS_BY_NAME,
}
SHARDS = Fields(Shards.of_plain, {"names": Many(_TEXT), "run": Maybe(Fields(ShardedRun, _RUN))})
"""The shape of shards in a state."""


def united_shards(parts: Mapping[str, Shards | None], argument: str) -> Shards | None:
    """Return the shards of all parts together; None if these are all of a run, or if no part has any.

    The name of each part is for messages.

    Raises
    ------
    StateMismatchError
        If a shard is in several parts, or the parts are of several runs.
    """
    source_of_shard: dict[str, str] = {}
    first: tuple[str, ShardedRun | None] | None = None
    for source, shards in parts.items():
        run = None if shards is None else shards.run
        first = first or (source, run)
        _check_same_run(first, (source, run), argument)
        for name in () if shards is None else shards.names:
            if name in source_of_shard:
                found = f"shard {name} in {source_of_shard[name]} and in {source}"
                raise StateMismatchError(f"{argument}: expected each shard once, found {found}", argument)
            source_of_shard[name] = source
    run = None if first is None else first[1]
    if run is None:
        return Shards(tuple(sorted(source_of_shard))) if source_of_shard else None
    names = tuple(name for name in _names(run.shards) if name in source_of_shard)
    return None if len(names) == run.shards else Shards(names, run)


def _check_same_run(one: tuple[str, ShardedRun | None], other: tuple[str, ShardedRun | None], argument: str) -> None:
    if one[1] == other[1]:
        return
    if one[1] is None or other[1] is None:
        (of_run, _), (without, _) = (one, other) if other[1] is None else (other, one)
        found = f"{of_run} with shards, and {without} without; merge all shards first"
    else:
        found = f"{one[0]} and {other[0]}, which differ: {one[1].describe_difference(other[1])}"
    raise StateMismatchError(f"{argument}: expected shards of one run, found {found}", argument)
