"""A short way for small calls: some users without keys, lists, and no options.

A call of a few users spends its time on what it does not have: weights, columns, candidates, other systems. This way
has the steps of `evaluate_with_engine` that such a call needs. Wherever an error may be raised or a warning be given, it
returns nothing and leaves the call to that function, so that all messages are made in one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._engine.core import core_engine
from exactk._engine.evaluation import state_of_outcome
from exactk._engine.problem import KeyedTruth, Problem
from exactk._engine.warnings import describe_disjoint_keys, has_counts_to_warn_of
from exactk._inputs.alignment import AlignedInputs
from exactk._inputs.containers.sequences import rows_of_integers
from exactk._inputs.model.lists import Lists, Rankings
from exactk._inputs.model.rows import Rows, padded_rows, remove_padding
from exactk._inputs.pair_lists import kind_of_pairs
from exactk._inputs.registry import LIST, ClassifiedValue
from exactk._inputs.truth import Truth
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import plan
from exactk._plan.unused_fields import may_have_unused_fields
from exactk._report.report import Report
from exactk._report.unreached_cutoffs import warn_of_unreached_cutoffs
from exactk._runtime.errors import ExactkError
from exactk._runtime.progress import ignore_progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from exactk._plan.conventions import ConventionLike
    from exactk._plan.metric_strings import MetricsLike

_ROW_TYPES = frozenset({list, tuple})
_READ_TWICE = frozenset({str, *_ROW_TYPES})  # of other types are iterators, which are read once
_MOST_USERS = 1000  # of more, the steps that are left out take no share of the time that matters
_MOST_CELLS = 100_000  # of a matrix


def evaluate_small(
    truth: object, predictions: object, metrics: MetricsLike, convention: ConventionLike, num_threads: object
) -> Report | None:
    """Return the report; None unless the call is small and plain, and there is nothing to warn of but cutoffs."""
    if type(metrics) not in _READ_TWICE:
        return None
    try:
        judged, ranked = _truth_of(truth), _rankings_of(predictions)
        if judged is None or ranked is None:
            return None
        convention = as_convention(convention)
        values = plan(metrics, convention)
        if not values.reads_hits_alone or may_have_unused_fields(values, convention):
            return None
        threads = resolve_threads(num_threads)
        problem = Problem(
            judged, ranked, None, None, None, None, 1, values.distinct_parts, convention,
            per_user=False, num_threads=threads, report_progress=ignore_progress,
        )  # fmt: skip
        outcome = core_engine.solve(problem)
        digest = core_engine.truth_digest(KeyedTruth(judged, None, None), threads)
    except ExactkError:
        return None
    state = state_of_outcome(problem, outcome, values, None, None, digest, None)
    report = Report(state)
    if has_counts_to_warn_of(report) or describe_disjoint_keys(report, AlignedInputs(judged, ranked, None)):
        return None
    warn_of_unreached_cutoffs({"": state})
    return report


def _truth_of(value: object) -> Truth | None:
    """Return the truth if it is small and has no keys. The core validates it with the rest."""
    if isinstance(value, Truth):
        return value if value.labels is None and _is_plain(value) else None
    rows = _rows_of(value, "truth")
    return None if rows is None else Truth.from_valid_rows(remove_padding(rows))


def _rankings_of(value: object) -> Rankings | None:
    """Return the lists if they are small and have neither keys nor ranks."""
    if isinstance(value, Rankings):
        return value if value.ranks is None and _is_plain(value) else None
    rows = _rows_of(value, "predictions")
    return None if rows is None else Rankings.from_rows(rows)


def _is_plain(lists: Lists) -> bool:
    is_small = len(lists) <= _MOST_USERS and len(lists.items) <= _MOST_CELLS
    return is_small and lists.user_vocabulary is None and lists.item_vocabulary is None


def _rows_of(value: object, argument: str) -> Rows | None:
    """Return the rows of an id matrix or of a list of rows of integers, as copies."""
    if type(value) is np.ndarray:
        has_ids = value.dtype.kind in "iu" and np.can_cast(value.dtype, np.int64)  # uint64 has others
        is_plain = value.ndim == 2 and has_ids and value.size <= _MOST_CELLS
        return padded_rows(value.astype(np.int64), argument)._replace(is_owned=True) if is_plain else None
    if type(value) is not list or len(value) > _MOST_USERS or not _are_rows_of_integers(value):
        return None
    return None if kind_of_pairs(ClassifiedValue(value, LIST)) else rows_of_integers(value, argument)


def _are_rows_of_integers(rows: list[Any]) -> bool:
    """Return whether these are lists or tuples, and the first item of all is an integer."""
    first = next(filter(None, rows), (None,)) if set(map(type, rows)) <= _ROW_TYPES else (None,)
    return type(first[0]) is int
