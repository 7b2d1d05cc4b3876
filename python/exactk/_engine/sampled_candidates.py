"""Candidates that look like sampled negatives: few, as many for every user, and other items for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.candidate_lists import candidates_of_users, merge_restrictions, restricted_rows
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, reindex
from exactk._inputs.model.scores import Scores, SparseScores
from exactk._inputs.readings import relevant_items
from exactk._plan.metric_strings import as_plan
from exactk._report.system_warnings import warn_of_systems

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.scores import Predictions
    from exactk._plan.values import Value
    from exactk._report.report import Report

_ADVICE = ", and may order systems otherwise; score all items"

FEWEST_USERS = 20
MOST_IRRELEVANT = 1_000
_COMPARED_ROWS = 100  # enough to tell samples from sets that users share


class CandidateRows(NamedTuple):
    """What shows whether candidates are samples, of some users who have predictions and relevant items."""

    users: int = 0
    fewest: int = 0  # candidates of a user
    most: int = 0
    fewest_irrelevant: int = 0
    most_irrelevant: int = 0
    compared: int = 0  # users whose candidates are compared
    distinct: int = 0  # of these, different sets of candidates
    items: int = 0  # in these sets; of several blocks, the most in any
    column: int | None = None  # of dense scores, if it has the relevant item of every user

    def plus(self, other: CandidateRows) -> CandidateRows:
        """Return the same of both sets of users."""
        if not (self.users and other.users):
            return self if self.users else other
        return CandidateRows(
            self.users + other.users,
            min(self.fewest, other.fewest),
            max(self.most, other.most),
            min(self.fewest_irrelevant, other.fewest_irrelevant),
            max(self.most_irrelevant, other.most_irrelevant),
            self.compared + other.compared,
            self.distinct + other.distinct,
            max(self.items, other.items),
            self.column,
        )

    def describe(self) -> str:
        """Return a warning if the candidates look like samples."""
        has_equal_sizes = self.fewest == self.most
        if (
            self.users < FEWEST_USERS
            or not (has_equal_sizes or self.fewest_irrelevant == self.most_irrelevant)
            or self.most_irrelevant > MOST_IRRELEVANT
            or self.items < 2 * self.most
            or 2 * self.distinct <= self.compared
        ):
            return ""
        what = f"{self.most} candidates" if has_equal_sizes else f"{self.most_irrelevant} irrelevant candidates"
        if self.column is not None:
            what = f"{self.most} scores and the relevant item in column {self.column}"
        return f"every user has {what}, which look like sampled negatives: the values are not those of all items"


NO_ROWS = CandidateRows()


def add_rows(one: CandidateRows | None, other: CandidateRows | None) -> CandidateRows | None:
    """Return the rows of both sets of users; None, which is certainly no sample, if either is."""
    if one is None or other is None or (one.users and other.users and one.column != other.column):
        return None
    return one.plus(other)


def warn_of_sampled_candidates(values: Sequence[Value], systems: Mapping[str, CandidateRows | None]) -> None:
    """Warn of systems whose candidates look like samples, unless sampling does not change any value on average."""
    findings = {name: "" if rows is None else rows.describe() for name, rows in systems.items()}
    if any(findings.values()) and not all(value.info.pairwise for value in as_plan(values).readers_of_truth):
        warn_of_systems(findings, _ADVICE)


def candidate_rows(
    inputs: AlignedInputs,
    candidates: CandidateItems | None,
    report: Report,
    candidates_of: Callable[[int], Iterable[Hashable]] | None = None,
) -> CandidateRows | None:
    """Return what shows whether the candidates are samples; None if they certainly are not.

    Samples contain every relevant item, and items that nobody has judged. `candidates_of` returns the candidates of a
    user as other users have them, where the inputs number the items of each user for itself.
    """
    if report.state.counts.relevant_not_rankable:
        return None
    if candidates is None and isinstance(inputs.predictions, Scores):
        return _rows_of_columns(inputs, inputs.predictions, report.convention.min_grade)
    rows = _rows_of_candidates(inputs, candidates)
    if rows is None:
        return None
    relevant = relevant_items(inputs.truth, report.convention.min_grade)
    judged_counts, relevant_counts = np.diff(inputs.truth.indptr), np.diff(relevant.indptr)
    is_counted = _users_who_count(relevant, inputs.predictions)
    if not is_counted.any():
        return NO_ROWS
    sizes = np.diff(rows.indptr)[is_counted]
    irrelevant = sizes - relevant_counts[is_counted]
    if (
        (sizes.min() < sizes.max() and irrelevant.min() < irrelevant.max())
        or irrelevant.max() > MOST_IRRELEVANT
        or (sizes <= judged_counts[is_counted]).any()
        or not _has_all(relevant, is_counted, inputs, candidates)
    ):
        return None
    first = np.flatnonzero(is_counted)[:_COMPARED_ROWS].tolist()
    different, in_all = _count_sets(rows, first, candidates_of)
    return CandidateRows(
        len(sizes),
        int(sizes.min()),
        int(sizes.max()),
        int(irrelevant.min()),
        int(irrelevant.max()),
        len(first),
        different,
        in_all,
    )


def _rows_of_columns(inputs: AlignedInputs, scores: Scores, min_grade: float | str | None) -> CandidateRows | None:
    """Return the columns of dense scores as other items for each user, where one holds every relevant item.

    Scores of the relevant item and of samples are often stacked so, with the relevant item first or last.
    """
    items, columns = inputs.truth.items, scores.item_count
    if scores.item_vocabulary is not None or not len(items):
        return None
    if items[0] not in {0, columns - 1} or (items != items[0]).any():
        return None
    users = int(np.count_nonzero(_users_who_count(relevant_items(inputs.truth, min_grade), scores)))
    column = int(items[0])
    return CandidateRows(users, columns, columns, columns - 1, columns - 1, users, users, 2 * columns, column)


def _rows_of_candidates(inputs: AlignedInputs, candidates: CandidateItems | None) -> Rows | None:
    """Return a row of candidates per user; None if all users have the same, or any item may be ranked.

    Items of negatives that were drawn with replacement are repeated: rows have as many items as were drawn.
    """
    predictions = inputs.predictions
    if isinstance(predictions, SparseScores):
        return restricted_rows(inputs, candidates)
    if isinstance(predictions, Rankings):
        if candidates is None or candidates.for_all:
            return None
        return candidates_of_users(predictions, inputs, candidates)
    candidates, _ = merge_restrictions(predictions, candidates, None)
    return None if candidates is None or candidates.for_all else candidates.unsorted


def _users_who_count(relevant: Rows, predictions: Predictions) -> NDArray[np.bool_]:
    """Return flags of the users who have relevant items and predictions."""
    has_relevant: NDArray[np.bool_] = np.diff(relevant.indptr) > 0
    return has_relevant if predictions.present is None else has_relevant & predictions.present


def _has_all(
    relevant: Rows, is_counted: NDArray[np.bool_], inputs: AlignedInputs, candidates: CandidateItems | None
) -> bool:
    """Return whether the relevant items of users with predictions are candidates, which only lists do not show by counts."""
    if not isinstance(inputs.predictions, Rankings):
        return True
    users = np.where(is_counted, np.arange(len(is_counted)), -1)
    lists = Rankings.from_rows(reindex(relevant, users))
    kept = restricted_rows(inputs._replace(predictions=lists), candidates)
    return np.array_equal(np.diff(kept.indptr)[is_counted], np.diff(relevant.indptr)[is_counted])


def _count_sets(
    rows: Rows, users: Sequence[int], candidates_of: Callable[[int], Iterable[Hashable]] | None
) -> tuple[int, int]:
    """Return how many different sets of candidates users have, and how many items the sets have in all."""
    if candidates_of is not None:
        sets = [frozenset(candidates_of(user)) for user in users]
        return len(set(sets)), len(frozenset().union(*sets))
    compared = [_distinct(rows.items[rows.indptr[user] : rows.indptr[user + 1]]) for user in users]
    return len({row.tobytes() for row in compared}), len(_distinct(np.concatenate(compared)))


def _distinct(items: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Return the distinct items, ascending. `np.unique` hashes them, which takes many times as long as this sort."""
    ordered = np.sort(items)
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]
