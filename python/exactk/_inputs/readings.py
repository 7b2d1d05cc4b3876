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
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import entries_of
from exactk._inputs.containers import frames
from exactk._inputs.containers.sequences import AS_ITEMS, WITH_NUMBERS
from exactk._inputs.containers.tables import is_frame, open_table
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.list_readings import (
    FEWEST_CHANGES,
    FEWEST_LISTS_OF_BOTH,
    MOST_USERS,
    Tuples,
    ascend,
    tuples_of_ids,
    tuples_of_rows,
)
from exactk._inputs.paths import column_names, is_path
from exactk._inputs.registry import ARRAY, FRAME, LIST, MAPPING, SERIES, ClassifiedValue, Container
from exactk._inputs.ways_on import each_row
from exactk._runtime.errors import input_error, warn
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.types import FilePath
    from exactk._runtime.faults import Text

_LIKE: dict[Container | None, object] = {LIST: [], MAPPING: {}}  # in place of values, which are released early
_FEWEST_LISTS = 10  # fewer lists of integers may be grouped by chance, as a user's items mostly are


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
    judged, ranked = (dict(islice(_rows_of_tuples(side), MOST_USERS)) for side in (truth, predictions))
    shared = [pair for user in ranked if user in judged for pair in ranked[user] if pair in set(judged[user])]
    if not shared:
        return ""
    changes = [one[1] - other[1] for row in ranked.values() for one, other in pairwise(row)]
    if len(changes) >= FEWEST_CHANGES and min(changes) >= 0 < max(changes):
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


def warn_of_ascending(container: Container | None, rows: Rows) -> None:
    """Warn of scores in the caller's order that rise in each list."""
    if container in {LIST, MAPPING} and ascend(rows.indptr, rows.scores):
        found = "the scores of each list ascend, as ranks and distances do, and the highest counts as the best"
        warn(f"predictions: {found}", *lines_of_ranks(ClassifiedValue(None, container), {}))


def lines_of_ranks(predictions: ClassifiedValue, columns: ColumnNames) -> Text:
    """Return how to write scores that may be ranks: as ranks, and as scores that cannot be ranks."""
    value, container = predictions
    ranks: Text = ("the negative of each",)
    scores = "scores / 2"
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
        if (
            value is None
            or not _are_same(truth, value)
            or (argument == "predictions" and _has_own_grades(truth, columns))
        ):
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
    if one is not other:
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
