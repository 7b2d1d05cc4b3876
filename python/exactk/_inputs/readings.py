"""What containers may be read as although something else is meant, and what to write for each reading.

Pairs may be users with items, items with numbers, or items of two parts; numbers of items may be scores or ranks;
predictions may be those of the test items alone, or the truth itself. Each check looks at the first rows, which mostly
tell, and at the others only if those leave two readings.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Sized
from contextlib import suppress
from itertools import islice, pairwise
from numbers import Integral
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.checks import entries_of
from exactk._inputs.containers import frames
from exactk._inputs.containers.sequences import AS_ITEMS, WITH_NUMBERS
from exactk._inputs.containers.tables import is_frame, open_table
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import Scores, SparseScores
from exactk._inputs.paths import column_names, is_path
from exactk._inputs.registry import ARRAY, FRAME, LIST, MAPPING, SERIES, ClassifiedValue, Container
from exactk._inputs.tuples import FEWEST_LISTS_OF_BOTH, Tuples, tuples_of_ids, tuples_of_rows
from exactk._inputs.ways_on import each_row
from exactk._runtime.errors import input_error, warn
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from numpy.typing import NDArray

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.truth import Truth
    from exactk._inputs.types import FilePath
    from exactk._runtime.faults import Text

_LIKE: dict[Container | None, object] = {LIST: [], MAPPING: {}}  # in place of values, which are released early
_FEWEST_LISTS = 10  # fewer lists of integers may be grouped by chance, as a user's items mostly are
_MOST_USERS = 100  # whose items are compared
_MOST_SCORES = 1_000_000  # of the first rows of a matrix
_FIRST_SCORES = 1000  # which tell whether all are looked at
_FEWEST_CHANGES = 10  # between neighbors in lists; fewer may be in order by chance
_FEWEST_USERS, _FEWEST_ITEMS = 10, 20  # of fewer, all items may be relevant


def users_with_items(classified: ClassifiedValue, fewest_lists: int = FEWEST_LISTS_OF_BOTH) -> Tuples | None:
    """Return what rows of two or three parts are that are likely users with items; None if they are likely lists."""
    rows, container = classified
    if container is SERIES and not frames.has_user_index(rows):
        rows, container = frames.elements(rows), LIST
    if container is ARRAY:
        return tuples_of_ids(rows, fewest_lists)
    return tuples_of_rows(rows, fewest_lists) if container is LIST else None


def warn_of_tuples(classified: ClassifiedValue, argument: str) -> None:
    """Warn if an argument is likely users with items."""
    if tuples := users_with_items(classified, _FEWEST_LISTS):
        warn(f"{argument}: {tuples.describe(argument)}")


def warn_of_zeros(exclude: ClassifiedValue, argument: str, rows: Rows) -> None:
    """Warn of exclusions or training items with a number of 0 or less, which may be no interactions."""
    (value, container), name, found = exclude, rows.columns.grade, "items whose number"
    lines = f"{argument}[{argument} > 0]", f"{argument}.index.to_frame(index=False)"
    if container is FRAME:
        found, lines = (
            f"rows whose {name!r}",
            (f"{argument}[{argument}[{name!r}] > 0]", f"{argument}[{[*rows.columns.used]}]"),
        )
    elif container in _LIKE:
        each = "[item for item, number in items.items() if number > 0]", "list(items)"
        lines = each_row(value, argument, each[0]), each_row(value, argument, each[1])
        with suppress(TypeError, ValueError):  # of values that are not numbers
            given = [*entries_of(value, argument).values()] if container is MAPPING else [*value]
            numbers = ((*row.values(),) for row in given if type(row) is dict)  # as of one moment
            name = next(("number" for row in numbers if row and min(row) <= 0), None)
    if name is not None:
        warn(
            f"{argument}: {found} is 0 or less count as the others do; {lines[0]} leaves them out, {lines[1]} keeps them"
        )


def describe_items_of_parts(truth: ClassifiedValue, predictions: ClassifiedValue) -> str:
    """Return a warning if pairs of an item and an integer may be items of two parts, such as a document and a page.

    They may if a user has the same pair on both sides. Scores would be in order, unless there are few.
    """
    judged, ranked = (dict(islice(_rows_of_tuples(side), _MOST_USERS)) for side in (truth, predictions))
    shared = [pair for user in ranked if user in judged for pair in ranked[user] if pair in set(judged[user])]
    if not shared:
        return ""
    changes = [one[1] - other[1] for row in ranked.values() for one, other in pairwise(row)]
    if len(changes) >= _FEWEST_CHANGES and min(changes) >= 0 < max(changes):
        return ""
    sides = {"truth": truth, "predictions": predictions}
    as_items, with_numbers = (
        ", ".join(each_row(_LIKE.get(side.container), argument, row) for argument, side in sides.items())
        for row in (AS_ITEMS, WITH_NUMBERS)
    )
    return (
        f"tuples such as {tuple(shared[0])!r} are on both sides and are read as items with grades and with scores; "
        f"{as_items} if they are items of two parts; {with_numbers} if they are items with numbers"
    )


def _rows_of_tuples(classified: ClassifiedValue) -> Iterator[tuple[Hashable, list[Any]]]:
    """Yield each user's (item, integer) tuples; nothing more from the first row with anything else."""
    value, container = classified
    rows: Iterable[tuple[Hashable, Any]] = enumerate(value) if container is LIST else ()
    if container is MAPPING:
        rows = zip(list(value), list(value.values()), strict=False)  # which no other thread changes
    elif container is SERIES and hasattr(value, "items"):
        rows = value.items()
    for user, row in rows:
        pairs = (
            list(row) if isinstance(row, (list, tuple, set, frozenset, np.ndarray)) else [] if row is None else [row]
        )
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            return
        if not all(isinstance(pair[1], Integral) and not isinstance(pair[1], bool) for pair in pairs):
            return
        yield user, pairs


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
        return bool(not self.no_ranks and self.rises and (is_in_order or self.rises + self.falls >= _FEWEST_CHANGES))

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
    if any(one < 0 or one % 1 != 0 for one in scores[:_FEWEST_CHANGES].tolist()):
        return _NO_RANKS
    head = indptr[: int(np.searchsorted(indptr, _FIRST_SCORES)) + 1]
    first = _ranks_of_lists(head, scores[: head[-1]])
    if first.no_ranks or (first.falls >= _FEWEST_CHANGES and not first.rises):  # scores, best first
        return _NO_RANKS
    return first if len(head) == len(indptr) else _ranks_of_lists(indptr, scores)


def _ranks_of_matrix(scores: NDArray[Any]) -> Readings:
    """Return the numbers of the first rows, unless these are long."""
    users, columns = scores[:_FEWEST_CHANGES].shape
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
    size = min(len(truth.indptr) - 1, _MOST_USERS)
    if any(not _relevant_of(truth, user, min_grade).issuperset(lists.row(user).tolist()) for user in range(size)):
        return _IRRELEVANT
    lengths = np.diff(lists.indptr[: size + 1]) if lists.lengths is None else lists.lengths[:size]
    users, items = int(np.count_nonzero(lengths)), int(lengths.sum())
    return Readings(users=users, items=items, uncut=int(has_scores or items < users * lengths.max()))


def _relevance_of_columns(truth: Truth, columns: int, min_grade: float | str | None) -> Readings:
    """Return the same numbers beside scores of all items."""
    users = min(len(truth.indptr) - 1, _MOST_USERS)
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
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_relevant, dtype=np.int64)])
    return Rows(offsets[truth.indptr], truth.items[is_relevant], truth.grades[is_relevant])


def ascend(indptr: NDArray[np.integer[Any]], scores: NDArray[Any] | None) -> bool:
    """Return whether scores rise in each of too many lists for chance, and are no ranks."""
    if scores is None or np.count_nonzero(np.diff(indptr) > 1) < _FEWEST_USERS:
        return False
    changes, starts = np.diff(scores), indptr[1:-1]
    changes[starts[(starts > 0) & (starts < len(scores))] - 1] = 0
    return bool((changes >= 0).all() and np.count_nonzero(changes) >= _FEWEST_ITEMS and _ranks(indptr, scores).no_ranks)


def warn_of_ascending(container: Container | None, rows: Rows) -> None:
    """Warn of scores in the caller's order that rise in each list."""
    if container in {LIST, MAPPING} and ascend(rows.indptr, rows.scores):
        found = "the scores of each list ascend, as ranks and distances do, and the highest counts as the best"
        warn(f"predictions: {found}", *lines_of_ranks(ClassifiedValue(None, container), {}))


def lines_of_ranks(predictions: ClassifiedValue, columns: ColumnNames) -> Text:
    """Return how to write scores that may be ranks: as ranks, and as scores that cannot be ranks."""
    value, container = predictions
    ranks: Text = ("the negative of each",)
    scores = "half of each"
    if container in {MAPPING, LIST}:
        order = "sorted(dict(items), key=dict(items).get{})"
        ranks = (each_row(_LIKE[container], "predictions", order.format("")),)
        scores = each_row(_LIKE[container], "predictions", order.format(", reverse=True"))
    elif container is ARRAY:
        ranks, scores = ("predictions=-predictions",), "predictions=predictions / 2"
    elif container is FRAME and "rank" in columns and columns.get("score") is None:
        names: Any = getattr(value, "column_names", None) or getattr(value, "columns", ())
        ranks = next(((Option("rank", name),) for name in names if usual_role(str(name)) == "score"), ranks)
    return ("; ", *ranks, f" if they are ranks, {scores} if they are scores")


def check_not_truth(truth: object, others: Iterable[tuple[str, object]], columns: ColumnNames) -> None:
    """Raise InputError if another argument is the truth, or the file that the truth is or a copy of it, by the same columns."""
    for argument, value in others:
        if not _are_same(truth, value) or (argument == "predictions" and _has_own_grades(truth, columns)):
            continue
        hint: Text = ()
        if argument == "predictions":
            names = Option("grade", "NAME"), " and ", Option("score", "NAME")
            hint = ("pass what the system recommends, or name columns of both: ", *names)
        source = f"the same {'file' if is_path(truth) else 'object'}"
        raise input_error(argument, "another input than the truth", source, hint=hint)


def _has_own_grades(truth: object, columns: ColumnNames) -> bool:
    """Return whether grades of the truth are in another column than the order of the predictions."""
    found = [name for name in _names_of_columns(truth) if usual_role(name) == "grade" and name not in columns.values()]
    grade = columns.get("grade") or next(iter(found), None)
    return grade is not None and grade not in {columns.get("score"), columns.get("rank")}


def _are_same(one: object, other: object) -> bool:
    if is_path(one) and is_path(other):
        return _are_same_files(one, other)
    if one is not other or one is None:
        return False
    shape = getattr(one, "shape", None)
    return 0 not in shape if isinstance(shape, tuple) else not isinstance(one, Sized) or len(one) > 0


def _are_same_files(one: FilePath, other: FilePath) -> bool:
    """Return whether two paths are of one regular file, or of files with equal contents."""
    try:
        if not (os.path.isfile(one) and os.path.isfile(other) and os.path.getsize(one)):  # noqa: PTH113, PTH202 - may be bytes
            return False
        return os.path.samefile(one, other) or filecmp.cmp(one, other, shallow=False)  # noqa: PTH121
    except (OSError, ValueError):
        return False


def _names_of_columns(value: object) -> list[str]:
    """Return the names of the columns of a frame or file; none of what has no columns."""
    if is_path(value):
        return column_names(value, "truth")
    return open_table(value, "truth").names if is_frame(value) else []
