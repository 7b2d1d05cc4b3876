"""The results of buckets, and their sums, which an engine may add before the driver does."""

from __future__ import annotations

import json
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._report.comparison_state import ComparisonState
from exactk._report.merge import merge
from exactk._report.state import STATE_PREFIX, State, StateSums
from exactk._runtime import optional
from exactk._runtime.errors import without_warnings
from exactk._sharded.facts import Facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Bucket(NamedTuple):
    """The result of one bucket or of several: a state with facts, or an error."""

    state: bytes | None
    facts: str | None
    error: str | None

    @classmethod
    def schema(cls) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the Arrow schema of results."""
        pa = optional.arrow("a table")
        return pa.schema([("state", pa.binary()), ("facts", pa.string()), ("error", pa.string())])

    def to_batch(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the result as an Arrow batch of one row."""
        pa, schema = optional.arrow("a table"), Bucket.schema()
        columns = [pa.array([one], field.type) for one, field in zip(self, schema, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def state_to_bytes(state: State | ComparisonState) -> bytes:
    """Return the state as bytes; of a comparison, as JSON."""
    if isinstance(state, State):
        return state.to_bytes()
    return json.dumps(state.to_dict(), separators=(",", ":")).encode()


def sum_of_states(states: Iterable[bytes]) -> State | ComparisonState:
    """Return the sum of at least one state, all of one kind."""
    first, *others = states
    if first.startswith(STATE_PREFIX):
        sums = StateSums(State.from_bytes(first))
        for one in others:
            sums.add(State.from_bytes(one))
        return sums.state()
    comparisons = (ComparisonState.from_dict(json.loads(one)) for one in (first, *others))
    with without_warnings():  # which follow, of all users
        return reduce(lambda one, other: merge([one, other]).state, comparisons)


def add_results(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the sum of the results, and each error, as Arrow batches of one row."""
    buckets = [Bucket(**row) for batch in batches for row in batch.to_pylist()]
    for bucket in buckets:
        if bucket.error is not None:
            yield bucket.to_batch()
    states = [bucket.state for bucket in buckets if bucket.state is not None]
    if states:
        facts = reduce(Facts.plus, (Facts.from_json(bucket.facts) for bucket in buckets if bucket.facts is not None))
        yield Bucket(state_to_bytes(sum_of_states(states)), facts.to_json(), None).to_batch()
