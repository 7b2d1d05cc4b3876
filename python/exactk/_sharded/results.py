"""The results of buckets, what warnings need of each, and their sums, which an engine may add before the driver does."""

from __future__ import annotations

import json
import math
from dataclasses import astuple
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._engine.column_warnings import RatingScale
from exactk._engine.exclusion_use import ExclusionUse
from exactk._engine.sampled_candidates import NO_ROWS, CandidateRows, add_rows
from exactk._engine.shared_items import predicted_items
from exactk._engine.warnings import has_common_item, has_no_hit
from exactk._inputs.readings import NO_READINGS, Readings
from exactk._inputs.user_histories import ItemUse
from exactk._report.comparison_state import ComparisonState
from exactk._report.merge import merge
from exactk._report.state import State, StateSums
from exactk._report.validation import read_json
from exactk._runtime import errors, optional
from exactk._runtime.errors import ExactkError, StateMismatchError, input_error, without_warnings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from exactk._engine.pipeline import Call, SolvedSystem


class SystemFacts(NamedTuple):
    """What is known of one system's predictions."""

    has_common_item: bool = False
    has_truth_items: bool = False
    has_list_items: bool = False
    exclusions: ExclusionUse = ExclusionUse()
    readings: Readings = NO_READINGS
    candidate_rows: CandidateRows | None = NO_ROWS

    @classmethod
    def of_solved(cls, call: Call, solved: SolvedSystem) -> SystemFacts:
        """Return the facts of a system of a call."""
        inputs, report = solved.inputs, solved.report
        predicted = predicted_items(inputs.predictions)
        both = len(inputs.truth.items) > 0, not isinstance(predicted, int) and len(predicted) > 0
        return cls(
            all(both) and (not has_no_hit(report) or has_common_item(inputs)),
            *both,
            ExclusionUse().plus(solved.exclude, inputs, report.state.counts),
            NO_READINGS.with_inputs(inputs, call.evaluation.values.strictest_grade),
            call.evaluation.candidate_rows(inputs, report),
        )

    def plus(self, other: SystemFacts) -> SystemFacts:
        """Return the facts of both sets of users."""
        return SystemFacts(
            self.has_common_item or other.has_common_item,
            self.has_truth_items or other.has_truth_items,
            self.has_list_items or other.has_list_items,
            self.exclusions.merged(other.exclusions),
            self.readings.plus(other.readings),
            add_rows(self.candidate_rows, other.candidate_rows),
        )

    @property
    def has_shared_items(self) -> bool:
        """Whether truth and lists of a bucket share an item, or one side has none at all."""
        return self.has_common_item or not (self.has_truth_items and self.has_list_items)


class Facts(NamedTuple):
    """What is known of the users of a bucket, or of several."""

    systems: Mapping[str, SystemFacts]
    train: ItemUse | None  # None if no metric reads items
    ratings: RatingScale
    rows: int  # of the largest bucket
    buckets: int = 1  # with rows, and without an error

    def plus(self, other: Facts) -> Facts:
        """Return the facts of both sets of users."""
        train = self.train if other.train is None else other.train
        if self.train is not None and other.train is not None:
            train = self.train.plus(other.train)
        return Facts(
            {name: facts.plus(other.systems[name]) for name, facts in self.systems.items()},
            train,
            self.ratings.plus(other.ratings),
            max(self.rows, other.rows),
            self.buckets + other.buckets,
        )

    def to_json(self) -> str:
        """Return the facts as text."""
        plain: dict[str, Any] = self._asdict()
        plain["systems"] = {name: list(facts) for name, facts in self.systems.items()}
        plain["train"] = None if self.train is None else astuple(self.train)
        plain["ratings"] = list(self.ratings) if math.isfinite(self.ratings.lowest) else None
        return json.dumps(plain, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Facts:
        """Return the facts that `to_json` wrote; raise InputError for other text."""
        try:
            return cls._from_plain(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise input_error("facts", "what was kept beside a state", f"{text[:80]!r}") from error

    @classmethod
    def _from_plain(cls, plain: Mapping[str, Any]) -> Facts:
        systems = {
            name: SystemFacts(*flags)._replace(
                exclusions=ExclusionUse(*use[:4], *map(tuple, use[4:])),
                readings=Readings(*readings),
                candidate_rows=None if rows is None else CandidateRows(*rows),
            )
            for name, (*flags, use, readings, rows) in plain["systems"].items()
        }
        train = None if plain["train"] is None else ItemUse(*plain["train"][:-2], *map(tuple, plain["train"][-2:]))
        ratings = RatingScale() if plain["ratings"] is None else RatingScale(*plain["ratings"])
        return cls(systems, train, ratings, plain["rows"], plain["buckets"])


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
        return Bucket(state, reduce(Facts.plus, map(Facts.from_json, parts)).to_json(), None)
    except ExactkError as error:
        return Bucket(None, None, error_to_json(error))
