"""The interface of the engines, the C++ core and the reference: a problem, its outcome, and one solution per ranking."""

from __future__ import annotations

from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.scores import SparseScores, check_input_order
from exactk._plan.fields import STRICT_TIES
from exactk._plan.values import as_plan
from exactk._report.counts import TieCounts
from exactk._report.sums import SumTable
from exactk._runtime.errors import input_error
from exactk._runtime.faults import Option, plural
from exactk._runtime.records import NamedTuple
from exactk._runtime.unit_names import unit_names_of_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.base_predictions import BaseLists
    from exactk._inputs.checks import Codes
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.model.item_table import CanonicalItems, UserHistories
    from exactk._inputs.model.lists import CandidateItems, Exclusions
    from exactk._inputs.model.scores import Predictions, Scored
    from exactk._inputs.truth import Truth
    from exactk._inputs.values_by_user import RowValues
    from exactk._plan.conventions import Convention
    from exactk._plan.values import TallyPlan, Value
    from exactk._report.counts import Counts
    from exactk._report.judged_lists import JudgedLists
    from exactk._report.sums import Sums

Given: TypeAlias = "Mapping[tuple[object, ...], NDArray[np.float64]]"
"""The numerators and denominators of custom values, 2 x users, by the identity of the value."""


class ListTally(NamedTuple):
    """The lists that a tally counts."""

    rules: Mapping[str, Any]
    last_cutoff: int | None


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
    report_progress: Callable[[int], object] | None  # called often, with the number of finished users
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
        return cls(
            truth, predictions, None, None, None, None, 1, as_plan(values), convention, per_user, num_threads, None
        )  # fmt: skip

    @property
    def has_candidates(self) -> bool:
        """Whether only some items may be ranked."""
        return self.candidates is not None or isinstance(self.predictions, SparseScores)

    @property
    def list_tallies(self) -> tuple[ListTally, ...]:
        """The rules and the last cutoff of each tally of lists."""
        return (
            *(ListTally(tally.rules, tally.last_rank) for tally in self.item_tallies),
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
    tied_lists: list[
        int
    ]  # per cutoff: lists whose items above it the order of ties decides; by rank: those first tied there
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
    item_counts: tuple[tuple[ItemCounts, ...], ...] = ()  # by plan of a tally: of all users, then of each group
    group_counts: tuple[tuple[GroupCounts, ...], ...] = ()  # likewise
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


class JudgedRows:
    """What the inputs say of all users."""

    def __init__(self, inputs: AlignedInputs) -> None:
        self._in_truth, self._has_list = presence_of(inputs.truth), presence_of(inputs.predictions)
        self._item_keys, self._users = inputs.item_keys, inputs.user_array
        if inputs.row_users is not None:
            keys, codes = inputs.row_users
            self._users = keys.array[codes]

    def lists(self, cells: JudgedCells, block: range) -> JudgedLists:
        """Return the lists of these users."""
        from exactk._report.judged_lists import JudgedLists

        some = slice(block.start, block.stop)
        return JudgedLists(
            *cells,
            in_truth=self._in_truth[some].copy(),  # a view would keep all users as long as the block
            has_list=self._has_list[some].copy(),
            users=None if self._users is None else self._users[some].copy(),
            item_keys=self._item_keys,
            first_user=block.start,
            unit_names=unit_names_of_call().pair,
        )


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


class TopKProblem(NamedTuple):
    """A ranking problem on canonical scores, for the core and for the reference."""

    scores: Scored
    k: int
    exclude: Exclusions | None
    candidates: CandidateItems | None  # of dense scores and embeddings; sparse scores hold only candidates
    ties: str
    nan: str
    num_threads: int
    report_progress: Callable[[int], object] | None = None  # to be called often, with the number of users done


BestIndices: TypeAlias = (
    "tuple[NDArray[np.int64], NDArray[np.float64] | None]"  # of columns or stored scores; of embeddings also the scores
)
Ranker: TypeAlias = "Callable[[TopKProblem], BestIndices]"


class FusionProblem(NamedTuple):
    """Lists of several systems to fuse, for the core and for the reference."""

    systems: Sequence[Rankings | SparseScores]  # with a row for each user
    weights: Sequence[float]
    lows: Sequence[float]  # the lowest possible scores
    method: str
    norm: str
    missing: str
    rank_constant: float
    persistence: float
    power: float
    depth: int
    k: int
    ties: str
    nan: str
    num_threads: int
    report_progress: Callable[[int], object] | None = None  # to be called often, with the number of users done


FusedRows: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int, Sequence[bool]]"
"""Row offsets, items, scores, how many last items tie with one that was cut off, and which systems share an item with another."""
Fuser: TypeAlias = "Callable[[FusionProblem], FusedRows]"


_T = TypeVar("_T")

Ranking: TypeAlias = tuple[Any, ...]
"""The values of the fields that determine how items are ranked."""


def solve(engine: Engine, problem: Problem) -> Outcome:
    """Solve the problem once for each ranking that a value needs, and join the outcomes.

    The counts are those of the convention's own ranking or, if no value uses it, of the first; those of unusual items in the
    lists that metrics read are added up, so that none of these is left out.
    """
    predictions = problem.predictions
    is_ranked_once = isinstance(predictions, Rankings) and predictions.ranks is None and problem.base is None
    is_ranked_once = is_ranked_once and as_plan(problem.values).moves_up_alike
    if is_ranked_once and not problem.reads_lists:  # which are counted by ranking, whether or not these lists have gaps
        return engine.solve(problem)
    if problem.base is None and not problem.list_tallies and as_plan(problem.values).ranks_alike:
        rules_of_all = problem.values[0].rules
        check_input_order(problem.predictions, [rules_of_all["ties"]], "predictions")
        return engine.solve(_with_ranked(problem, _ranking(problem, rules_of_all)))
    rules = [*(value.rules for value in problem.values), *(tally.rules for tally in problem.list_tallies)]
    check_input_order(problem.predictions, [one["ties"] for one in rules], "predictions")
    _check_base_order(problem)
    own_ranking = _ranking(problem, problem.convention.rules(""))
    rankings = [_ranking(problem, value.rules, reads_base=value.info.reads_base) for value in problem.values]
    rankings += [_ranking(problem, tally.rules) for tally in problem.list_tallies]
    distinct = sorted(dict.fromkeys(rankings), key=lambda ranking: ranking != own_ranking)  # the others in input order
    if len(distinct) == 1:
        return engine.solve(_with_ranked(problem, distinct[0]))
    outcomes, indices = [], []
    for number, ranking in enumerate(distinct):
        indices.append([index for index, one in enumerate(rankings) if one == ranking])
        outcomes.append(engine.solve(_part(problem, ranking, indices[-1], number, len(distinct))))
    of_values, of_tallies, of_groups = zip(*(_by_kind(problem, part) for part in indices), strict=True)
    joined = _join(problem, outcomes, of_values)
    return joined._replace(
        item_counts=_in_order(of_tallies, [outcome.item_counts for outcome in outcomes]),
        group_counts=_in_order(of_groups, [outcome.group_counts for outcome in outcomes]),
    )


def _check_base_order(problem: Problem) -> None:
    """Raise InputError if a value cannot rank the scores of the base predictions."""
    if problem.base is None or isinstance(problem.base.predictions, Rankings):
        return
    from exactk._inputs.alignment import ARGUMENT

    readers = [value for value in problem.values if value.info.reads_base]
    check_input_order(problem.base.predictions, [value.rules["ties"] for value in readers], ARGUMENT)
    for value in readers:
        if value.rules["ties"] not in (*STRICT_TIES, "raise"):
            expected = f"{value.spelling}: ties of 'lowest_id', 'highest_id', 'input_order' or 'raise'"
            found = f"{value.rules['ties']!r}, which orders no scores of {ARGUMENT}"
            raise input_error("metrics", expected, found, hint=Option("convention", {"ties": "lowest_id"}))


def _by_kind(problem: Problem, indices: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Return which values, tallies of items and tallies of groups are at these indices of all of them, one after another."""
    items = len(problem.values)
    groups = items + len(problem.item_tallies)
    return (
        [index for index in indices if index < items],
        [index - items for index in indices if items <= index < groups],
        [index - groups for index in indices if index >= groups],
    )


def _in_order(indices: Sequence[Sequence[int]], parts: Sequence[Sequence[_T]]) -> tuple[_T, ...]:
    """Return the elements of all parts by the index of each."""
    by_index = dict(zip(chain(*indices), chain(*parts), strict=True))
    return tuple(by_index[index] for index in range(len(by_index)))


def with_ranking(problem: Problem) -> Problem:
    """Return the problem of one value with its predictions as they are ranked for it."""
    (value,) = problem.values
    check_input_order(problem.predictions, [value.rules["ties"]], "predictions")
    return _with_ranked(problem, _ranking(problem, value.rules))


def ranked_problems(problem: Problem) -> Iterator[Problem]:
    """Yield for each value the problem with its predictions as they are ranked for it, the same one where values rank alike."""
    ranked: dict[Ranking, Problem] = {}
    for value in problem.values:
        ranking = _ranking(problem, value.rules, reads_base=value.info.reads_base)
        ranked[ranking] = ranked.get(ranking) or _with_ranked(problem, ranking)
        yield ranked[ranking]


def _ranking(problem: Problem, rules: Mapping[str, Any], *, reads_base: bool = False) -> Ranking:
    """Return the key of a ranking: of the predictions and, for what reads them, of the base predictions."""
    if problem.base is None:
        return (_ranking_of(problem.predictions, rules),)
    of_base = rules if reads_base else problem.convention.rules("")
    ranking = _ranking_of(problem.base.predictions, of_base)
    if not isinstance(problem.base.predictions, Rankings):
        ranking += of_base["ties"], of_base["nan"]
    return _ranking_of(problem.predictions, rules), ranking


def _with_ranked(problem: Problem, ranking: Ranking) -> Problem:
    """Return the problem with its predictions as they are ranked."""
    predictions = _ranked(problem.predictions, ranking[0])
    if problem.base is not None:
        from exactk._inputs.alignment import naming_base

        with naming_base():
            base = problem.base._replace(predictions=_ranked(problem.base.predictions, ranking[1]))
        return problem._replace(predictions=predictions, base=base)
    return problem if predictions is problem.predictions else problem._replace(predictions=predictions)


def _ranking_of(predictions: Predictions, rules: Mapping[str, Any]) -> Ranking:
    """Return how the ranks of lists, or scores, are treated, and whether repeated items take no rank."""
    collapses = rules["duplicate_items"] == "collapse"
    if isinstance(predictions, Rankings):
        return rules["rank_gaps"], collapses, rules["rank_gaps"] == "keep" and rules["unjudged"] == "remove"
    return rules["score_dtype"], rules["negative_infinity"], collapses


def _ranked(predictions: Predictions, ranking: Ranking) -> Predictions:
    """Return the predictions with their ranks or scores as they count."""
    if isinstance(predictions, Rankings):
        rank_gaps, collapses, condenses = ranking
        if rank_gaps != "keep":
            return predictions.without_ranks()
        if not (collapses or condenses):
            return predictions.with_core_ranks()
        if users := predictions.users_with_rank_gaps:
            field = "duplicate_items='collapse'" if collapses else "unjudged='remove'"
            expected = f"ranks without gaps, as {field} makes new ones"
            hint = Option("convention", {"rank_gaps": "close"})
            raise input_error("predictions", expected, f"{plural(users, 'user')} with gaps to keep", hint=hint)
        return predictions.without_ranks()
    score_dtype, negative_infinity, *_ = ranking
    if score_dtype == "float32":
        predictions = predictions.with_float32_scores()
    if negative_infinity == "exclude":
        predictions = predictions.without_negative_infinity()
    return predictions


def _part(problem: Problem, ranking: Ranking, indices: list[int], number: int, count: int) -> Problem:
    """Return the problem for the values and tallies of one ranking, as one of several parts of the progress."""
    users, report = len(problem.truth), problem.report_progress
    values, item_tallies, group_tallies = _by_kind(problem, indices)
    return _with_ranked(problem, ranking)._replace(
        values=tuple(problem.values[index] for index in values),
        item_tallies=tuple(problem.item_tallies[index] for index in item_tallies),
        group_tallies=tuple(problem.group_tallies[index] for index in group_tallies),
        report_progress=None if report is None else lambda done: report((number * users + done) // count),
    )


def _join(problem: Problem, outcomes: list[Outcome], indices: Sequence[list[int]]) -> Outcome:
    """Return the outcome of all values from those of the values at the given indices."""
    size = len(problem.values)
    micro = [index for index, value in enumerate(problem.values) if value.rules["average"] == "micro"]
    counts = [outcome.counts for outcome in outcomes]
    joined_counts = counts[0]._replace(
        longest_list=max(one.longest_list for one in counts),  # each to its own cutoffs
        candidates=next((one.candidates for one in counts if one.candidates is not None), None),
        foreign_recommended=_sum_of_present([one.foreign_recommended for one in counts]),
        unseen_recommended=_sum_of_present([one.unseen_recommended for one in counts]),
        ties=_join_ties(counts, indices, size),
        undefined=_join_undefined(counts, indices, size),
    )
    per_user = ratios = None
    if problem.per_user:
        per_user, ratios = np.empty((size, len(problem.truth))), np.empty((len(micro), 2, len(problem.truth)))
        for outcome, part in zip(outcomes, indices, strict=True):
            per_user[part] = outcome.per_user
            ratios[[micro.index(index) for index in part if index in micro]] = outcome.ratios
    sums = _in_order(indices, [one.sums for one in outcomes])
    tables = [one.group_sums for one in outcomes if one.group_sums is not None]
    parts = _in_order(indices, [table.parts() for table in tables]) if tables else ()
    group_sums = SumTable.of_parts(parts, problem.group_count) if tables else None
    return Outcome([*sums], joined_counts, per_user, ratios, group_sums=group_sums)


def _sum_of_present(counts: list[int | None]) -> int | None:
    present = [count for count in counts if count is not None]
    return sum(present) if present else None


def _join_undefined(counts: list[Counts], indices: Sequence[list[int]], size: int) -> tuple[int, ...] | None:
    """Return how many users have 0 / 0, of all values."""
    joined = [0] * size
    for one, part in zip(counts, indices, strict=True):
        for index, users in zip(part, one.undefined or (), strict=False):
            joined[index] = users
    return tuple(joined) if any(joined) else None


def _join_ties(counts: list[Counts], indices: Sequence[list[int]], size: int) -> tuple[TieCounts, ...] | None:
    """Return the ties of all values."""
    if all(one.ties is None for one in counts):
        return None
    ties = dict.fromkeys(range(size), TieCounts(0, 0))
    for one, part in zip(counts, indices, strict=True):
        if one.ties is not None:
            ties.update(zip(part, one.ties, strict=True))
    return tuple(ties.values())
