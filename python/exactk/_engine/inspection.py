"""What inputs look like beside their report: what warnings need, which is found while the inputs are at hand."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk._engine.findings import (
    NO_EXAMPLES,
    NO_SAMPLES,
    BaseUse,
    CandidateRows,
    CandidateUse,
    Coverage,
    ExclusionUse,
    Ratings,
    SystemFindings,
    has_no_hit,
)
from exactk._inputs.keys.column_roles import names_ratings
from exactk._inputs.keys.columns import MISSING_TEXTS, SEPARATORS, NumberColumn, parts_of_text
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.list_readings import find_readings, relevant_items
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, reindex
from exactk._inputs.model.scores import Scores, SparseScores
from exactk._inputs.readings import describe_items_of_parts, users_with_items
from exactk._inputs.registry import LIST, MAPPING, SERIES
from exactk._inputs.restrictions import candidates_of_users, merge_restrictions, restrict_lists, restricted_rows
from exactk._inputs.ways_on import each_row, split
from exactk._plan.values import as_plan
from exactk._report.state import plan_of_state
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence, Set as AbstractSet

    from numpy.typing import NDArray

    from exactk._engine.findings import Examples
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.checks import Ids
    from exactk._inputs.matched_mappings import DisjointItems
    from exactk._inputs.model.lists import CandidateItems, Exclusions, Lists
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.registry import ClassifiedValue
    from exactk._inputs.restrictions import CandidateLists
    from exactk._inputs.truth import Truth
    from exactk._plan.values import Value
    from exactk._report.counts import Counts
    from exactk._report.report import Report

FEWEST_UNKEYED_ITEMS = 32
"""With fewer items without keys on either side, disjoint items may be chance."""

NOTHING_FOUND = SystemFindings()


def find_in_system(
    inputs: AlignedInputs,
    report: Report,
    exclude: Rows | Lists | None = None,
    candidates: CandidateItems | None = None,
    earlier: SystemFindings = NOTHING_FOUND,
    *,
    keys: SystemFindings | None = None,
    candidates_of: Callable[[int], Iterable[Hashable]] | None = None,
) -> SystemFindings:
    """Return what warnings about these users need to know, except the coverage of several systems.

    `exclude` are exclusions of any users, and `keys` what `find_in_keys` found, if it was asked. What `earlier` chunks of
    the call show need not be looked for again. Where the inputs number the items of each user for itself, `candidates_of`
    returns the candidates of a user.
    """
    keys = keys or find_in_keys(inputs, has_hit=earlier.shares_item or not has_no_hit(report))
    rows, base = earlier.candidate_rows, inputs.base
    return keys._replace(
        is_partial=not inputs.is_complete,
        readings=find_readings(inputs, plan_of_state(report.state).strictest_grade, earlier.readings),
        candidate_rows=NOTHING_FOUND.candidate_rows
        if rows.are_no_samples
        else find_candidate_rows(inputs, candidates, report, rows.compared, candidates_of),
        candidates=_use_of_candidates(inputs, candidates, report, earlier.candidates),
        exclusions=find_exclusion_use(exclude, inputs, report.state.counts, earlier.exclusions),
        base=NOTHING_FOUND.base if base is None else _use_of_base(inputs, base, report),
        item_without_column=_item_without_column(inputs, report),
    )


def find_in_keys(
    inputs: AlignedInputs, *, has_hit: bool, find_disjoint_items: Callable[[], DisjointItems] | None = None
) -> SystemFindings:
    """Return whether truth and predictions share users and items, with examples of those that share none.

    `find_disjoint_items` tells that of the items, where the inputs number those of each user for itself.
    """
    predicted = predicted_items(inputs.predictions)
    sizes = len(inputs.truth.items), predicted if isinstance(predicted, int) else len(predicted)
    has_user_keys = inputs.truth.user_vocabulary is not None or inputs.row_users is not None
    lacks_keys = not has_user_keys and inputs.item_vocabulary is None and max(sizes) > 0
    shares_user = not has_user_keys or _share_user(inputs)
    users = NO_EXAMPLES if shares_user else _first_users(inputs)
    shares_item, items = has_hit, NO_EXAMPLES
    if not shares_item and find_disjoint_items is not None:
        items = find_disjoint_items() or NO_EXAMPLES
        shares_item = not any(items)
    elif not shares_item:
        shares_item = min(sizes) > 0 and _has_common_item(inputs)
        first = inputs.item_text(int(inputs.truth.items[0])) if sizes[0] else ""
        items = NO_EXAMPLES if shares_item else (first, first_predicted(inputs))
    return SystemFindings(shares_user, lacks_keys, shares_item, *sizes, first_users=users, first_items=items)


def _has_common_item(inputs: AlignedInputs) -> bool:
    """Return whether an item of the truth, which has some, is in any list, or has a column."""
    if not isinstance(inputs.predictions, (Rankings, SparseScores)) and inputs.predictions.item_vocabulary is None:
        return True  # columns are numbers, and counts tell which items have none
    return is_any_predicted(inputs.truth.items, inputs.predictions)


def _share_user(inputs: AlignedInputs) -> bool:
    sides = inputs.truth.present, inputs.predictions.present
    one, other = (True if present is None else present for present in sides)
    return len(inputs.truth) > 0 and bool(np.any(np.logical_and(one, other)))


def _first_users(inputs: AlignedInputs) -> Examples:
    """Return the first user of the truth and the first of the predictions."""
    first, second = (_first_user(inputs, one.present) for one in (inputs.truth, inputs.predictions))
    return first, second


def _first_user(inputs: AlignedInputs, present: NDArray[np.bool_] | None) -> str:
    rows = np.zeros(1, np.int64) if present is None else np.flatnonzero(present)
    return inputs.user_text(int(rows[0])) if len(rows) else ""


# Items of both sides.


def share_item(ones: Ids, others: Ids) -> bool:
    """Return whether two arrays of ids have one in common; some of each mostly tell."""
    if not set(ones[:_FEW].tolist()).isdisjoint(others[:_FEW].tolist()):
        return True
    if max(len(ones), len(others)) <= _FEW:
        return False
    first, second = Vocabulary.of_kinds(["int"]), Vocabulary.of_kinds(["int"])  # Ctrl-C cannot interrupt np.isin
    for distinct, ids in ((first, ones), (second, others)):
        distinct.encode([NumberColumn(ids)], "items")
    size = len(first) + len(second)
    first.extend(second.snapshot(), "items")
    return len(first) < size


_FEW = 1000


def predicted_items(predictions: Predictions) -> Ids | int:
    """Return the items of lists and of sparse scores, or the number of columns of scores of all items."""
    lists = predictions.lists if isinstance(predictions, SparseScores) else predictions
    return lists.items if isinstance(lists, Rankings) else lists.item_count


def is_any_predicted(items: Ids, predictions: Predictions) -> bool:
    """Return whether any of the items, of which there are some, is in the lists or has a column in the scores."""
    predicted = predicted_items(predictions)
    if not isinstance(predicted, int):
        return share_item(items, predicted)
    return bool(items.min() < predicted)


def first_predicted(inputs: AlignedInputs) -> str:
    """Return the first item of the lists, or of the columns, as messages show it; empty if there is none."""
    predicted = predicted_items(inputs.predictions)
    if isinstance(predicted, int):
        return inputs.item_text(0) if predicted else ""
    first = predicted[np.argmax(predicted >= 0)] if len(predicted) else -1  # without padding
    return inputs.item_text(int(first)) if first >= 0 else ""


class GrowingSet(NamedTuple):
    """A set that never changes, in parts which sets made from it share, so that to extend it copies little."""

    parts: tuple[frozenset[Any], ...] = ()  # each more than twice as large as the next

    def plus(self, items: Iterable[Any]) -> GrowingSet:
        """Return this set and further items."""
        further = frozenset(items)
        for part in self.parts:  # one by one, as Python would go through all of each but the first
            further -= part
        parts = list(self.parts)
        while further and parts and len(parts[-1]) <= 2 * len(further):
            further |= parts.pop()
        return GrowingSet((*parts, further)) if further else self

    def joined(self, other: GrowingSet) -> GrowingSet:
        """Return the items of both sets."""
        return reduce(GrowingSet.plus, other.parts, self)

    def has_any(self, items: AbstractSet[Any]) -> bool:
        """Return whether one of the items is here."""
        return not all(part.isdisjoint(items) for part in self.parts)


class ItemsApart(NamedTuple):
    """The distinct items of the truth and of the lists of chunks that are freed, none of which is on both sides.

    A chunk's own items are compared as numbers. They wait, as they are, until there is another chunk.
    """

    of_truth: GrowingSet = GrowingSet()
    of_lists: GrowingSet = GrowingSet()
    waiting: tuple[Truth | Rows, Predictions | Rows] | None = None

    @classmethod
    def of_chunk(cls, truth: Truth | Rows, predictions: Predictions | Rows) -> ItemsApart | None:
        """Return the items of a chunk, before they are aligned; None for scores of all items."""
        if not isinstance(predictions, (Rankings, Rows, SparseScores)):
            return None
        return cls(waiting=(truth, predictions))

    def plus(self, other: ItemsApart) -> ItemsApart | None:
        """Return the items of both; None if an item is on both sides."""
        one, more = self._counted(), other._counted()
        if one is None or more is None:
            return None
        if any(map(one.of_lists.has_any, more.of_truth.parts)) or any(map(one.of_truth.has_any, more.of_lists.parts)):
            return None
        return ItemsApart(one.of_truth.joined(more.of_truth), one.of_lists.joined(more.of_lists))

    def _counted(self) -> ItemsApart | None:
        """Return the items as sets; None if an item is on both sides."""
        if self.waiting is None:
            return self
        of_truth, of_lists = map(_distinct_keys, self.waiting)
        return ItemsApart(GrowingSet((of_truth,)), GrowingSet((of_lists,))) if of_truth.isdisjoint(of_lists) else None

    def to_plain(self) -> tuple[Any, ...] | None:
        """Return plain data for `from_plain`; None if an item is on both sides."""
        items = self._counted()
        return None if items is None else (items.of_truth.parts, items.of_lists.parts)

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...] | None) -> ItemsApart | None:
        """Return the items that `to_plain` described."""
        return None if plain is None else cls(GrowingSet(plain[0]), GrowingSet(plain[1]))


def _distinct_keys(lists: Truth | Predictions | Rows) -> frozenset[Any]:
    rows: Any = lists.lists if isinstance(lists, SparseScores) else lists
    items = np.unique(rows.items)
    return frozenset((items if rows.item_vocabulary is None else rows.item_vocabulary.array[items]).tolist())


def describe_odd_items(inputs: AlignedInputs, given: Mapping[str, ClassifiedValue]) -> str:
    """Return a warning if items of the truth or the exclusions as given are texts of several items, or of none."""
    keys = inputs.item_vocabulary
    if keys is None or keys.kinds != ("str",):
        return ""
    offsets, texts_of_all = keys.vocabulary.parts[0].as_packed(keys.size)
    if np.diff(offsets).all() and not any(map(texts_of_all.tobytes().__contains__, _ODD)):
        return ""
    for argument, lists in (("truth", inputs.truth), ("exclude", inputs.exclude)):
        texts = {
            text: parts_of_text(text) for text in (inputs.texts_of(lists.items[:_FEW]) if lists is not None else ())
        }
        joined = {text: parts for text, parts in texts.items() if len(parts) > 1}
        if not joined and MISSING_TEXTS.isdisjoint(texts):
            continue
        predicted = predicted_items(inputs.predictions)
        ranked = {*inputs.texts_of((np.arange(predicted) if isinstance(predicted, int) else predicted)[: 10 * _FEW])}
        # Few words of titles are items, and some tag of several words is in the lists.
        text = next((text for text, parts in joined.items() if ranked.issuperset(parts)), "")
        if text and ranked.isdisjoint(joined):
            value, container = given[argument]
            line = each_row(value, argument if container in {MAPPING, LIST, SERIES} else "column", split(text))
            return f"{argument}: {text[:32]!r} is one item, and its parts are items too; {line} has its parts"
        if missing := sorted(MISSING_TEXTS.intersection(texts, ranked)):
            advice = f"leave it out of {argument} if it means that there is none"
            return f"{missing[0]!r} is an item of {argument} and of the predictions; {advice}"
    return ""


_ODD = tuple(text.encode() for text in (*SEPARATORS, *sorted(filter(None, MISSING_TEXTS))))


def _item_without_column(inputs: AlignedInputs, report: Report) -> str:
    """Return a relevant item that has no column in dense scores, as an example; empty if there is none."""
    truth, scores = inputs.truth, inputs.predictions
    if not report.state.counts.relevant_not_rankable or isinstance(scores, (Rankings, SparseScores)):
        return ""
    columns = scores.item_count
    for position in np.flatnonzero(truth.items >= columns):
        user = int(np.searchsorted(truth.indptr, position, side="right")) - 1
        is_scored = scores.present is None or scores.present[user]
        if is_scored and (truth.grades is None or _is_relevant(truth.grades[position], report.convention.min_grade)):
            item = inputs.item_text(int(truth.items[position]))
            beyond = f", beyond columns 0 to {columns - 1}" if columns and inputs.item_vocabulary is None else ""
            return f" (such as item {item}{beyond})"
    return ""


def _is_relevant(grade: float, min_grade: float | str | None) -> bool:
    return grade > 0 if min_grade is None else min_grade == "any" or grade >= float(min_grade)


# Exclusions, candidates and base predictions that fit no user or list.


def find_exclusion_use(
    given: Rows | Lists | None,
    inputs: AlignedInputs,
    counts: Counts | None = None,
    earlier: ExclusionUse = NOTHING_FOUND.exclusions,
) -> ExclusionUse:
    """Return whether exclusions of any users have users and items of the inputs, whose counts these are."""
    if given is None or earlier.has_match or not len(given.items):
        return NOTHING_FOUND.exclusions
    if inputs.exclude is None or not len(inputs.exclude.items):
        is_shown = earlier.has_users or any(earlier.user_examples)
        return ExclusionUse(has_any=True, user_examples=NO_EXAMPLES if is_shown else _users_apart(given, inputs))
    excluded = inputs.exclude.items
    is_counted = counts is not None and bool(counts.excluded_recommended or counts.relevant_excluded)
    if is_counted or is_any_predicted(excluded, inputs.predictions) or share_item(excluded, inputs.truth.items):
        return ExclusionUse(has_any=True, has_users=True, has_match=True)
    items = _excluded_items_apart(inputs.exclude, inputs)
    return ExclusionUse(has_any=True, has_users=True, differs=any(items), item_examples=items)


def _users_apart(given: Rows | Lists, inputs: AlignedInputs) -> Examples:
    """Return a user with exclusions and a user of the call, as messages show them; empty without keys."""
    if given.user_vocabulary is None:
        return NO_EXAMPLES
    return given.user_vocabulary.repr_of(int(np.argmax(np.diff(given.indptr) > 0))), inputs.user_text(0)


def _excluded_items_apart(exclude: Exclusions, inputs: AlignedInputs) -> Examples:
    """Return an excluded item and another, if ids most likely differ: if they have no column, say."""
    from exactk._inputs.keys.key_lists import examples_of_differing_ids

    keys, predicted = _keys(exclude.items, inputs), predicted_items(inputs.predictions)
    if isinstance(predicted, int):
        return (min(map(repr, keys)), first_predicted(inputs)) if predicted else NO_EXAMPLES
    others = dict.fromkeys(_keys(inputs.truth.items, inputs) + _keys(predicted, inputs))
    return examples_of_differing_ids(keys, [*others], int(np.count_nonzero(np.diff(exclude.indptr))))


def _keys(items: Ids, inputs: AlignedInputs) -> list[Any]:
    """Return the distinct keys of items, which may be padded."""
    distinct, keys = np.unique(items[items >= 0].astype(np.int64, copy=False)), inputs.item_keys
    return list((distinct if keys is None else keys[distinct]).tolist())


def _use_of_candidates(
    inputs: AlignedInputs, candidates: CandidateItems | None, report: Report, earlier: CandidateUse
) -> CandidateUse:
    if candidates is None or earlier.has_candidates or not len(inputs.truth):
        return NOTHING_FOUND.candidates
    if not has_no_hit(report):
        return CandidateUse(has_candidates=True)
    return find_candidate_use(restrict_lists(inputs, candidates), inputs, candidates)


def find_candidate_use(
    restricted: CandidateLists, inputs: AlignedInputs, candidates: CandidateItems | None
) -> CandidateUse:
    """Return whether lists, which are those of the inputs, have items once they are restricted to the candidates."""
    if candidates is None or not restricted.is_emptied:
        return CandidateUse(has_candidates=bool(restricted.has_items))
    keys, first = candidates.item_vocabulary, candidates.items[:1].tolist()
    candidate = "".join(str(item) if keys is None else keys.repr_of(item) for item in first)
    return CandidateUse(is_emptied=True, examples=(candidate, first_predicted(inputs)))


def _use_of_base(inputs: AlignedInputs, base_inputs: AlignedInputs, report: Report) -> BaseUse:
    base, size = base_inputs.predictions, len(inputs.truth)
    sides = (inputs.predictions.present, base.present)
    in_predictions, in_base = (np.ones(size, np.bool_) if one is None else one for one in sides)
    is_shorter = len(in_predictions) != size or len(in_base) != size  # which the engine refuses
    users, lacking = int(in_predictions.sum()), 0 if is_shorter else int((in_predictions & ~in_base).sum())
    user_examples = item_examples = NO_EXAMPLES
    if users == lacking > 0:
        keys = base.user_vocabulary  # those of users whom no other input has come last
        example = "" if keys is None or len(keys) <= size else keys.repr_of(size)
        user_examples = example, inputs.user_text(int(np.argmax(in_predictions)))
    elif users > lacking and is_all_unexpected(report):
        item_examples = first_predicted(base_inputs), first_predicted(inputs)
    return BaseUse(
        users,
        lacking,
        len(base.items) if isinstance(base, (Rankings, SparseScores)) else base.item_count,
        base_inputs.item_vocabulary is not None,
        user_examples,
        item_examples,
    )


def is_all_unexpected(report: Report) -> bool:
    """Return whether no item of any list is in the base predictions."""
    return all(report[value.name] == 1 for value in plan_of_state(report.state).readers_of_base)


# Candidates that look like sampled negatives: few, as many for every user, and other items for each.

MOST_IRRELEVANT = 1_000
_COMPARED_ROWS = 100  # enough to tell samples from sets that users share


def find_candidate_rows(
    inputs: AlignedInputs,
    candidates: CandidateItems | None,
    report: Report,
    compared: int = 0,
    candidates_of: Callable[[int], Iterable[Hashable]] | None = None,
) -> CandidateRows:
    """Return what shows whether the candidates are samples, as those of so many users were compared before.

    Samples contain every relevant item, and items that nobody has judged. `candidates_of` returns the candidates of a
    user as other users have them, where the inputs number the items of each user for itself.
    """
    if report.state.counts.relevant_not_rankable:
        return NO_SAMPLES
    if candidates is None and isinstance(inputs.predictions, Scores):
        return _rows_of_columns(inputs, inputs.predictions, report.convention.min_grade)
    rows = _rows_of_candidates(inputs, candidates)
    if rows is None:
        return NO_SAMPLES
    relevant = relevant_items(inputs.truth, report.convention.min_grade)
    judged_counts, relevant_counts = np.diff(inputs.truth.indptr), np.diff(relevant.indptr)
    is_counted = _users_who_count(relevant, inputs.predictions)
    if not is_counted.any():
        return CandidateRows()
    sizes = np.diff(rows.indptr)[is_counted]
    irrelevant = sizes - relevant_counts[is_counted]
    if (
        (sizes.min() < sizes.max() and irrelevant.min() < irrelevant.max())
        or irrelevant.max() > MOST_IRRELEVANT
        or (sizes <= judged_counts[is_counted]).any()
        or not _has_all(relevant, is_counted, inputs, candidates)
    ):
        return NO_SAMPLES
    first = np.flatnonzero(is_counted)[: max(0, _COMPARED_ROWS - compared)].tolist()
    different, in_all = _count_sets(rows, first, candidates_of) if first else (0, 0)
    return CandidateRows(
        users=len(sizes),
        fewest=int(sizes.min()),
        most=int(sizes.max()),
        fewest_irrelevant=int(irrelevant.min()),
        most_irrelevant=int(irrelevant.max()),
        compared=len(first),
        distinct=different,
        items=in_all,
        column=-1,
    )


def _rows_of_columns(inputs: AlignedInputs, scores: Scores, min_grade: float | str | None) -> CandidateRows:
    """Return the columns of dense scores as other items for each user, where one holds every relevant item.

    Scores of the relevant item and of samples are often stacked so, with the relevant item first or last.
    """
    items, columns = inputs.truth.items, scores.item_count
    if scores.item_vocabulary is not None or not len(items):
        return NO_SAMPLES
    if items[0] not in {0, columns - 1} or (items != items[0]).any():
        return NO_SAMPLES
    users = int(np.count_nonzero(_users_who_count(relevant_items(inputs.truth, min_grade), scores)))
    if not users:
        return CandidateRows()
    column = int(items[0])
    sizes = (columns, columns, columns - 1, columns - 1)
    return CandidateRows(False, users, *sizes, users, users, 2 * columns, column, column)  # noqa: FBT003 - are_no_samples


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
    begins, ends = rows.indptr[users], rows.indptr[np.add(users, 1)]
    row_of = np.repeat(np.arange(len(users)), ends - begins)
    items = np.concatenate([rows.items[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)])
    ordered = items[np.lexsort((items, row_of))]  # np.unique hashes, which takes many times as long
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]) | (row_of[1:] != row_of[:-1])
    distinct, bounds = ordered[is_first], np.searchsorted(row_of[is_first], np.arange(len(users) + 1)).tolist()
    as_bytes = {distinct[begin:end].tobytes() for begin, end in pairwise(bounds)}
    in_all = np.sort(distinct)
    return len(as_bytes), int(len(in_all) > 0) + int(np.count_nonzero(in_all[1:] != in_all[:-1]))


# The truth: what its first users look like, and its ratings.


def find_in_pairs(
    truth: ClassifiedValue, systems: Iterable[ClassifiedValue], arguments: tuple[str, str] = ("truth", "predictions")
) -> tuple[str, str]:
    """Return warnings about tuples that may be items of two parts, or users with items, but are read otherwise."""
    systems = list(systems)
    of_parts = next(filter(None, (describe_items_of_parts(truth, predictions) for predictions in systems)), "")
    tuples = users_with_items(truth)
    is_warned_of = tuples is not None and any(users_with_items(predictions) == tuples for predictions in systems)
    return of_parts, tuples.describe(*arguments) if tuples is not None and is_warned_of else ""


def find_ratings(truth: Truth | Rows, values: Iterable[Value]) -> Ratings:
    """Return the ratings above 0 if a value counts all of them as relevant, and the name of the grade column tells."""
    column, grades = truth.columns.grade, truth.grades
    if column is None or not names_ratings(column) or not as_plan(values).counts_all_grades:
        return Ratings()
    if grades is not None and len(grades) and grades.min() <= 0:
        grades = grades[grades > 0]
    if grades is None or not len(grades):
        return Ratings(column)
    return Ratings(column, float(grades.min()), float(grades.max()))


# Which users several systems cover.

Flags: TypeAlias = "dict[str, NDArray[np.bool_]]"  # by system, or by value


class UserFlags(NamedTuple):
    """The users of a chunk whom a system covers."""

    covered: NDArray[np.bool_]  # by predictions, of those whom the convention may count
    evaluated: Flags  # those whom each value has a number for, if values may skip users

    @classmethod
    def of(cls, inputs: AlignedInputs, report: Report) -> UserFlags:
        """Return the flags of a system, whose report has the values of users if some may be skipped."""
        predictions, truth = inputs.predictions, inputs.truth
        covered = np.ones(len(truth), np.bool_)
        if predictions.present is not None:
            covered &= predictions.present
        if report.convention.users in {"truth", "both"} and truth.present is not None:
            covered &= truth.present
        return cls(covered, evaluated_users(report) if may_skip_users(plan_of_state(report.state)) else {})


def may_skip_users(values: Iterable[Value]) -> bool:
    """Return whether a value can skip users of one system and not of another."""
    return any(
        value.rules["users"] in {"both", "predictions", "union"}
        or "skip" in {value.rules[field] for field in ("missing_list", "empty_list", "undefined")}
        for value in values
    )


def evaluated_users(report: Report, values: Container[int] | None = None) -> Flags:
    """Return the users that each value, or each of these, evaluates; none for values that are computed from means."""
    table, plan = report._user_table, plan_of_state(report.state)
    if table is None:
        return {}
    from exactk._report.user_table import rows_of_values

    # A micro average also evaluates users of whom it is 0/0, who have no value.
    rows = [
        both[0] if value.rules["average"] == "micro" else row
        for row, (value, both) in enumerate(zip(plan, rows_of_values(plan), strict=True))
    ]
    return {name: ~np.isnan(table.rows[rows[i]]) for i, name in enumerate(report) if values is None or i in values}


def coverage_of(systems: Mapping[str, UserFlags]) -> Coverage:
    """Return how many users the systems cover, of a chunk with all of them; nothing of one system, which has no flags."""
    if not systems:
        return Coverage()
    covered, evaluated = zip(*systems.values(), strict=True)
    times = np.sum(covered, axis=0, dtype=np.int64)
    by_system = {name: int(one.covered.sum()) for name, one in systems.items()}
    of_any, several = (int(np.count_nonzero(times >= fewest)) for fewest in (1, 2))
    return Coverage(of_any, several, by_system, users_in_all(evaluated))


def users_in_all(systems: Sequence[Flags]) -> dict[str, int]:
    """Return how many users a value evaluates in all systems, for the values that have users of their own."""
    first, *others = systems
    by_name = {name: [flags, *(one[name] for one in others if name in one)] for name, flags in first.items()}
    return {
        name: int(reduce(np.logical_and, flags).sum())
        for name, flags in by_name.items()
        if len(flags) == len(systems) and any(one.any() for one in flags)
    }
