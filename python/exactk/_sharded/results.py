"""The results of buckets, what warnings need of each, and their sums, which an engine may add before the driver does."""

from __future__ import annotations

import json
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._engine.findings import Findings, plus
from exactk._report.comparison_state import ComparisonState
from exactk._report.merge import merge
from exactk._report.state import State, StateSums
from exactk._report.validation import read_json
from exactk._runtime import errors, optional
from exactk._runtime.errors import ExactkError, StateMismatchError, input_error, without_warnings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def findings_to_json(findings: Findings) -> str:
    """Return findings as text."""
    return json.dumps(findings.to_plain(), separators=(",", ":"))


def findings_from_json(text: str) -> Findings:
    """Return the findings that `findings_to_json` wrote; raise InputError for other text."""
    try:
        return Findings.from_plain(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise input_error("facts", "what was kept beside a state", f"{text[:80]!r}") from error


class Bucket(NamedTuple):
    """The result of one bucket or of several: a state with facts, or an error, as JSON."""

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


def error_to_json(error: ExactkError) -> str:
    """Return an error as JSON."""
    return json.dumps(
        {"type": type(error).__name__, "message": str(error), "argument": error.argument, "count": error.count}
    )


def error_from_json(text: str, where: str) -> ExactkError:
    """Return the error that `error_to_json` wrote, with where it was, unless states of all buckets differ."""
    plain = json.loads(text)
    error_type = getattr(errors, plain["type"], ExactkError)
    assert issubclass(error_type, ExactkError)  # noqa: S101 - the worker's own
    message = plain["message"] if error_type is StateMismatchError else f"{plain['message']} {where}"
    error: ExactkError = error_type(message, plain["argument"], count=plain["count"])
    return error


def state_to_bytes(state: State | ComparisonState) -> bytes:
    """Return the state as bytes; of a comparison, as JSON."""
    if isinstance(state, State):
        return state.to_bytes()
    return json.dumps(state.to_dict(), separators=(",", ":")).encode()


_EXPECTED = "the state of a bucket"


def sum_of_states(states: Iterable[bytes]) -> State | ComparisonState:
    """Return the sum of at least one state, all of one kind."""
    first, *others = states
    if not first.startswith(b"{"):
        sums = StateSums(State.from_bytes(first))
        for one in others:
            sums.add(State.from_bytes(one))
        return sums.state()
    comparisons = (ComparisonState.from_dict(read_json(one, "state", _EXPECTED)) for one in (first, *others))
    with without_warnings():  # which follow, of all users
        return reduce(lambda one, other: merge([one, other]).state, comparisons)


def add_results(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the sum of the results, and each error, as Arrow batches of one row."""
    buckets = [Bucket(**row) for batch in batches for row in batch.to_pylist()]
    for bucket in buckets:
        if bucket.error is not None:
            yield bucket.to_batch()
    summands = [bucket for bucket in buckets if bucket.error is None]
    if summands:
        yield _sum_of_results(summands).to_batch()


def _sum_of_results(buckets: Sequence[Bucket]) -> Bucket:
    """Return the sum of at least one state and its facts, or the error that prevents it."""
    try:
        states = [bucket.state for bucket in buckets if bucket.state is not None]
        parts = [bucket.facts for bucket in buckets if bucket.facts is not None]
        if not len(states) == len(parts) == len(buckets):
            raise input_error("frame", "a state with facts, or an error, in every row", "a row without")
        state = state_to_bytes(sum_of_states(states))
        return Bucket(state, findings_to_json(reduce(plus, map(findings_from_json, parts))), None)
    except ExactkError as error:
        return Bucket(None, None, error_to_json(error))
