"""What lists look like: whether their scores are ranks, and whether all of their items are relevant."""

from __future__ import annotations

from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import offsets_of
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import Scores, SparseScores
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.truth import Truth

_ORDERED = frozenset({"predictions", "base_predictions", "one", "other"})
_FEWEST_PAIRS = 3  # fewer integers may be grouped by chance
FEWEST_LISTS_OF_BOTH = 4
"""Fewer lists of integers, in truth and predictions, may be grouped by chance."""


class Tuples(NamedTuple):
    """Rows that are likely users with items, of three also with a number, but are read as lists of items."""

    width: int
    kind: str  # "strings" or "integers"

    def describe(self, *arguments: str) -> str:
        """Return the warning about these arguments, with what to write for each."""
        row, users = {
            2: (f"pair of {self.kind}", "pairs of users and items"),
            3: (f"tuple of three {self.kind}", "users with items and numbers"),
        }[self.width]
        frames = ", ".join(map(self._frame, arguments))
        return f"each {row} is read as one user's list of {('two', 'three')[self.width - 2]} items; for {users}, write {frames}"

    def _frame(self, argument: str) -> str:
        """Return how to write them as a data frame; pairs of predictions, which have no scores, as lists in their order."""
        as_lists = ".groupby('user', as_index=False).agg(list)" if argument in _ORDERED and self.width == 2 else ""
        from exactk._inputs.ways_on import frame_of_tuples

        return f"{frame_of_tuples(argument, self.width)}{as_lists}"


def tuples_of_ids(ids: NDArray[Any], fewest_lists: int = FEWEST_LISTS_OF_BOTH) -> Tuples | None:
    """Return the same of the rows of an array as `tuples_of_rows` does, if no row is padded."""
    if ids.ndim != 2 or ids.shape[1] not in {2, 3} or ids.dtype.kind not in "iu" or not ids.size:
        return None
    is_grouped = bool((ids[1:, 0] >= ids[:-1, 0]).all() and ids.min() >= 0)
    return tuples_of_rows([*map(tuple, ids.tolist())], fewest_lists) if is_grouped else None


def tuples_of_rows(rows: list[Any], fewest_lists: int = FEWEST_LISTS_OF_BOTH) -> Tuples | None:
    """Return what rows of two or three parts are that are likely users with items; None if they are likely lists.

    Pairs of strings always are; integers if the first ones are in groups, as users are and the best items of users are
    not, and those in lists if these are many; lists of strings if, besides, no string is first in one and second in
    another.
    """
    first = next(iter(rows), None)
    if not isinstance(first, (tuple, list)) or len(first) not in {2, 3}:  # as most are
        return None
    width, are_tuples = len(first), isinstance(first, tuple)  # with names of fields, too
    rows = rows.copy()
    if set(map(type, rows)) != {type(first)} or set(map(len, rows := [*map(tuple, rows)])) != {width}:
        return None
    are_strings = width == 2 and all(isinstance(part, str) for row in rows for part in row)
    strings, integers = Tuples(width, "strings"), Tuples(width, "integers")
    if are_strings and are_tuples:
        return strings
    are_integers = all(type(part) is int for row in rows for part in row)
    firsts, fewest = [row[0] for row in rows], _FEWEST_PAIRS if are_tuples or are_strings else fewest_lists
    are_few = len(rows) < fewest or 3 * len(set(firsts)) > 2 * len(rows)
    if are_few or len(set(map(tuple, rows))) < len(rows):  # lists of a constant model repeat
        return None
    if are_integers:
        return integers if all(one <= other for one, other in pairwise(firsts)) else None
    are_grouped = are_strings and sum(one != other for one, other in pairwise(firsts)) < len(set(firsts))
    return strings if are_grouped and not {row[1] for row in rows} & set(firsts) else None


MOST_USERS = 100  # whose items are compared
_MOST_SCORES = 1_000_000  # of the first rows of a matrix
_FIRST_SCORES = 1000  # which tell whether all are looked at
FEWEST_CHANGES = 10  # between neighbors in lists; fewer may be in order by chance
_FEWEST_USERS, _FEWEST_ITEMS = 10, 20  # of fewer, all items may be relevant


class Readings(NamedTuple):
    """What shows whether scores are ranks, and whether all ranked items are relevant: numbers that add up over users."""

    no_ranks: int = 0  # inputs whose scores are certainly not ranks
    long: int = 0  # lists of three or more
    rises: int = 0  # pairs of neighbors in a list of which the second is larger
    falls: int = 0
    irrelevant: int = 0  # inputs with a ranked item that is not relevant
    users: int = 0  # users of the others with ranked items
    items: int = 0  # their items
    uncut: int = 0  # inputs whose lists have scores or several lengths: they are not the best k of a perfect search

    @property
    def may_be_ranks(self) -> bool:
        """Whether all scores are what ranks would be, and too many for chance."""
        is_in_order = self.long and not self.falls
        return bool(not self.no_ranks and self.rises and (is_in_order or self.rises + self.falls >= FEWEST_CHANGES))

    def describe_ranks(self) -> str:
        """Return a warning if scores may be ranks."""
        if not self.may_be_ranks:
            return ""
        order = "" if self.falls else " in ascending order"
        return f"the scores of each list are the integers from 0 or 1 on{order}, as ranks would be, and the highest counts as the best"

    def describe_relevance(self) -> str:
        """Return a warning if all items of all lists are relevant, and too many for chance."""
        are_few = self.users < _FEWEST_USERS or self.items < _FEWEST_ITEMS
        if self.irrelevant or are_few or not self.uncut:
            return ""
        return f"all {self.items} items in the first {self.users} lists are relevant, as if the test items alone were scored"


NO_READINGS, _IRRELEVANT, _NO_RANKS = Readings(), Readings(irrelevant=1), Readings(no_ranks=1)


def find_readings(inputs: AlignedInputs, min_grade: float | str | None, earlier: Readings = NO_READINGS) -> Readings:
    """Return the numbers of these users; what `earlier` ones of the call rule out is not looked at."""
    predictions, of_relevance, of_ranks = inputs.predictions, NO_READINGS, NO_READINGS
    if isinstance(predictions, Scores):
        if not earlier.irrelevant:
            of_relevance = _relevance_of_columns(inputs.truth, predictions.item_count, min_grade)
        if not earlier.no_ranks:
            of_ranks = _ranks_of_matrix(predictions.values)
        return Readings(*map(add, of_relevance, of_ranks))
    lists = predictions.lists if isinstance(predictions, SparseScores) else predictions
    if not isinstance(lists, Rankings) or not len(lists.items):
        return NO_READINGS
    if not earlier.irrelevant:
        of_relevance = _relevance(inputs.truth, lists, min_grade, has_scores=lists is not predictions)
    if not isinstance(predictions, SparseScores) or earlier.no_ranks:
        return of_relevance
    return Readings(*map(add, of_relevance, _ranks(predictions.indptr, predictions.scores)))


def _ranks(indptr: NDArray[np.integer[Any]], scores: NDArray[Any]) -> Readings:
    """Return the numbers of lists by what ranks their scores may be. The first lists mostly tell that they are not."""
    if any(one < 0 or one % 1 != 0 for one in scores[:FEWEST_CHANGES].tolist()):
        return _NO_RANKS
    head = indptr[: int(np.searchsorted(indptr, _FIRST_SCORES)) + 1]
    first = _ranks_of_lists(head, scores[: head[-1]])
    if first.no_ranks or (first.falls >= FEWEST_CHANGES and not first.rises):  # scores, best first
        return _NO_RANKS
    return first if len(head) == len(indptr) else _ranks_of_lists(indptr, scores)


def _ranks_of_matrix(scores: NDArray[Any]) -> Readings:
    """Return the numbers of the first rows, unless these are long."""
    users, columns = scores[:FEWEST_CHANGES].shape
    if not 0 < users * columns <= _MOST_SCORES:
        return _NO_RANKS if users else NO_READINGS
    return _ranks(np.arange(0, users * columns + 1, columns), scores[:users].ravel())


def _ranks_of_lists(indptr: NDArray[np.integer[Any]], scores: NDArray[Any]) -> Readings:
    sizes = np.diff(indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    is_inner = rows[1:] == rows[:-1]
    rises, falls = (
        int(np.count_nonzero(one & is_inner)) for one in (scores[1:] > scores[:-1], scores[1:] < scores[:-1])
    )
    positions = np.arange(len(scores)) - np.repeat(indptr[:-1], sizes)
    from_first = scores[np.lexsort((scores, rows))] - positions
    if not np.isin(from_first, (0, 1)).all() or ((from_first[1:] != from_first[:-1]) & is_inner).any():
        return _NO_RANKS
    return Readings(long=int(np.count_nonzero(sizes > 2)), rises=rises, falls=falls)


def _relevance(truth: Truth, lists: Rankings, min_grade: float | str | None, *, has_scores: bool) -> Readings:
    """Return the numbers of the first users if all their items are relevant; mostly, the first list tells that they are not."""
    size = min(len(truth.indptr) - 1, MOST_USERS)
    if any(not _relevant_of(truth, user, min_grade).issuperset(lists.row(user).tolist()) for user in range(size)):
        return _IRRELEVANT
    lengths = np.diff(lists.indptr[: size + 1]) if lists.lengths is None else lists.lengths[:size]
    users, items = int(np.count_nonzero(lengths)), int(lengths.sum())
    return Readings(users=users, items=items, uncut=int(has_scores or items < users * lengths.max()))


def _relevance_of_columns(truth: Truth, columns: int, min_grade: float | str | None) -> Readings:
    """Return the same numbers beside scores of all items."""
    users = min(len(truth.indptr) - 1, MOST_USERS)
    if any(len(_relevant_of(truth, user, min_grade)) < columns for user in range(users)):
        return _IRRELEVANT
    return Readings(users=users, items=users * columns, uncut=1)


def _relevant_of(truth: Truth, user: int, min_grade: float | str | None) -> set[int]:
    begin, end = truth.indptr[user : user + 2].tolist()
    items = truth.items[begin:end]
    if truth.grades is not None and min_grade != "any":
        items = items[_are_relevant(truth.grades[begin:end], min_grade)]
    return set(items.tolist())


def _are_relevant(grades: NDArray[np.float64], min_grade: float | str | None) -> NDArray[np.bool_]:
    return grades > 0 if min_grade is None else grades >= float(min_grade)


def relevant_items(truth: Truth | Rows, min_grade: float | str | None) -> Rows:
    """Return each user's relevant items."""
    if truth.grades is None or min_grade == "any":
        return Rows(truth.indptr, truth.items, truth.grades)
    is_relevant = _are_relevant(truth.grades, min_grade)
    return Rows(offsets_of(is_relevant)[truth.indptr], truth.items[is_relevant], truth.grades[is_relevant])


def ascend(indptr: NDArray[np.integer[Any]], scores: NDArray[Any] | None) -> bool:
    """Return whether scores rise in each of too many lists for chance, and are no ranks."""
    if scores is None or np.count_nonzero(np.diff(indptr) > 1) < _FEWEST_USERS:
        return False
    with np.errstate(invalid="ignore"):  # of infinite scores
        changes, starts = np.diff(scores), indptr[1:-1]
    changes[starts[(starts > 0) & (starts < len(scores))] - 1] = 0
    return bool((changes >= 0).all() and np.count_nonzero(changes) >= _FEWEST_ITEMS and _ranks(indptr, scores).no_ranks)
