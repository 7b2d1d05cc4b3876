"""The interface of the engines, the C++ core and the reference: a problem and its outcome."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from exactk._plan.metric_strings import as_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes, Ids
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.histories import UserHistories
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._inputs.model.lists import Exclusions
    from exactk._inputs.model.predictions import Predictions
    from exactk._inputs.truth import Truth
    from exactk._inputs.user_values import RowValues
    from exactk._plan.conventions import Convention
    from exactk._plan.item_tallies import TallyPlan
    from exactk._plan.values import Value
    from exactk._report.counts import Counts
    from exactk._report.sum_table import SumTable
    from exactk._report.sums import Sums


Given: TypeAlias = "Mapping[tuple[object, ...], NDArray[np.float64]]"
"""The numerators and denominators of custom values, 2 x users, by the identity of the value."""


class ListTally(NamedTuple):
    """The lists that a tally counts."""

    rules: Mapping[str, Any]
    last_cutoff: int | None


class BaseLists(NamedTuple):
    """Other predictions of the same users, for metrics that compare the lists with them."""

    predictions: Predictions
    candidates: CandidateItems | None  # of dense scores and embeddings
    exclude: Exclusions | None  # likewise of those that are ranked, in their ids; lists have those of the problem
    to_ids: Callable[[Ids], NDArray[np.int64]]  # from the item ids of scores to those of the problem, which lists have


class Problem(NamedTuple):
    """An evaluation of canonical inputs, for the core and for the reference."""

    truth: Truth
    predictions: Predictions
    candidates: CandidateItems | None  # of dense scores and embeddings; lists hold only candidates
    exclude: Exclusions | None
    weights: RowValues | None
    groups: RowValues | None  # codes below group_count
    group_count: int
    values: tuple[Value, ...]
    convention: Convention
    per_user: bool
    num_threads: int
    report_progress: Callable[[int], object]  # called often, with the number of finished users
    items: CanonicalItems | None = None  # for metrics that read them
    item_tallies: tuple[TallyPlan, ...] = ()
    group_tallies: tuple[Value, ...] = ()  # each at its last cutoff
    given: Given = MappingProxyType({})
    histories: UserHistories | None = None  # for metrics that read them
    base: BaseLists | None = None  # for metrics that read it

    @classmethod
    def without_options(
        cls,
        truth: Truth,
        predictions: Predictions,
        values: Iterable[Value],
        convention: Convention,
        num_threads: int,
        *,
        per_user: bool = False,
    ) -> Problem:
        """Return an evaluation of nothing but the truth and predictions."""
        from exactk._runtime.progress import ignore_progress

        return cls(
            truth, predictions, None, None, None, None, 1, as_plan(values), convention, per_user, num_threads, ignore_progress
        )  # fmt: skip

    @property
    def has_candidates(self) -> bool:
        """Whether only some items may be ranked."""
        from exactk._inputs.model.sparse_scores import SparseScores

        return self.candidates is not None or isinstance(self.predictions, SparseScores)

    @property
    def list_tallies(self) -> tuple[ListTally, ...]:
        """The rules and the last cutoff of each tally of lists."""
        return (
            *(ListTally(tally.rules, tally.cutoffs[-1]) for tally in self.item_tallies),
            *(ListTally(value.rules, value.cutoff) for value in self.group_tallies),
        )

    @property
    def reads_lists(self) -> bool:
        """Whether a metric reads the items of the lists."""
        return bool(self.item_tallies or self.group_tallies) or as_plan(self.values).walks_lists

    @property
    def knows_train(self) -> bool:
        """Whether it is known which items are in train."""
        return self.items is not None and not (self.items.users is None and self.items.interactions is None)


class ItemCounts(NamedTuple):
    """How many lists have each item, for one plan of a tally."""

    counts: NDArray[np.int64]  # items x cutoffs: first those of the catalogue, then the foreign ones
    foreign_ids: NDArray[np.int64]
    tied_lists: list[int]  # per cutoff: lists whose items above it the order of ties decides
    list_lengths: list[NDArray[np.int64]]  # per cutoff: rows of (items of a list, such lists)
    short_lists: list[NDArray[np.int64]]  # per cutoff: rows of (row of an item, length, lists); none unless planned


class GroupCounts(NamedTuple):
    """How often lists have items of each group, rank by rank."""

    lists: int
    counts: NDArray[np.int64]  # ranks x groups, one after another, down to the last rank of an item of a group
    possible: NDArray[np.int64]  # by group: items that lists could have counted; empty if no history is read
    tied_lists: NDArray[np.int64]  # by rank: lists that tie there with the next; if ranks matter, for the first time

    def tied(self, value: Value) -> int:
        """Return the number of lists of which the order of ties decides what the value reads."""
        if value.info.discounted:
            return int(self.tied_lists[: value.cutoff].sum())
        is_within = value.cutoff is not None and value.cutoff <= len(self.tied_lists)
        return int(self.tied_lists[(value.cutoff or 0) - 1]) if is_within else 0


class Outcome(NamedTuple):
    """The results of an engine."""

    sums: list[Sums]  # of each value, over all users
    counts: Counts  # without unknown_actual and rank_gaps, which only the inputs determine
    per_user: NDArray[np.float64] | None  # values x users
    ratios: NDArray[np.float64] | None  # micro values x 2 x users: numerators and denominators, NaN if not in the sums
    item_counts: tuple[ItemCounts, ...] = ()  # by plan of a tally
    group_counts: tuple[GroupCounts, ...] = ()  # likewise
    group_sums: SumTable | None = None  # of each value, a row per group of users; None if they have no groups


class JudgedCells(NamedTuple):
    """The lists of some users beside the truth: arrays of users x k, and numbers per user."""

    items: NDArray[np.int64]  # -1: none
    grades: NDArray[np.float64]  # NaN: not judged
    hits: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    relevant: NDArray[np.int64]


def presence_of(rows: Truth | Predictions) -> NDArray[np.bool_]:
    """Return which users there are: not those without a truth, or without predictions."""
    return np.ones(len(rows), np.bool_) if rows.present is None else rows.present


class KeyedTruth(NamedTuple):
    """The truth as given, with the keys of its users and items."""

    truth: Truth
    users: Snapshot | NDArray[Any] | None  # the key or label of each row's user; None: users have none
    items: Snapshot | None  # None: items are integers, and their ids
    item_ids: Codes | None = None  # the id of each key, if ids are not codes


class Engine(NamedTuple):
    """One of the two implementations of all that is computed from the truth and one system's predictions."""

    solve: Callable[[Problem], Outcome]
    truth_digest: Callable[[KeyedTruth, int], int]  # of a truth in valid rows, by a number of threads
    judge_lists: Callable[
        [Problem, range], JudgedCells
    ]  # of these users, by the rules and the cutoff of the only value
