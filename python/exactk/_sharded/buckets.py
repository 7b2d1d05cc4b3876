"""The results of buckets, what warnings need of each, and their sums, which an engine may add before the driver does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._engine.chunks import Part, PartSums
from exactk._engine.findings import Findings
from exactk._engine.pairs import Paired
from exactk._report.comparison_state import ComparisonState
from exactk._report.report import Report
from exactk._report.state import State
from exactk._runtime import errors, optional
from exactk._runtime.errors import ExactkError, StateMismatchError, input_error
from exactk._runtime.shapes import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from exactk._report.comparison_options import ComparisonOptions


def findings_from_json(text: str) -> Findings:
    """Return the findings that a bucket has as text; raise InputError for other text."""
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
    def of_part(cls, part: Part, comparison: ComparisonOptions | None) -> Bucket:
        """Return the result of some users; of a comparison, its state as JSON."""
        if comparison is None:
            state = part.report.state.to_bytes()
        else:
            states = {name: report.state for name, report in part.reports.items()}
            of_pairs = None if part.paired is None else part.paired.state
            plain = ComparisonState(states, comparison, of_pairs).to_dict()
            state = json.dumps(plain, separators=(",", ":")).encode()
        return cls(state, json.dumps(part.findings.to_plain(), separators=(",", ":")), None)

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


def sum_of_buckets(buckets: Sequence[Bucket]) -> tuple[Part, ComparisonOptions | None]:
    """Return the sum of at least one result, all of one kind and none an error, and how its systems are compared."""
    rows = [(bucket.state, bucket.facts) for bucket in buckets if bucket.state is not None and bucket.facts is not None]
    if len(rows) < len(buckets):
        raise input_error("frame", "a state with facts, or an error, in every row", "a row without")
    sums, first = PartSums(states="parts"), None
    has_comparisons = rows[0][0].startswith(b"{")
    for state, facts in rows:
        findings = findings_from_json(facts)
        if not has_comparisons:
            report = Report(State.from_bytes(state))
            sums.add(Part(dict.fromkeys(findings.systems, report), findings))
            continue
        comparison = ComparisonState.from_dict(read_json(state, "state", "the state of a bucket"))
        first = first or comparison
        first.check_same_plan(comparison)
        reports = {name: Report(one) for name, one in comparison.items()}
        paired = None if comparison.paired is None else Paired(comparison.paired)
        sums.add(Part(reports, findings, paired=paired))
    return sums.part(), None if first is None else first.options


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
        return Bucket.of_part(*sum_of_buckets(buckets))
    except ExactkError as error:
        return Bucket(None, None, error_to_json(error))
