"""What containers may be read as although something else is meant, and what to write for each reading.

Pairs may be users with items, items with numbers, or items of two parts; numbers of items may be scores or ranks;
predictions may be those of the test items alone, or the truth itself. Each check looks at the first rows, which mostly
tell, and at the others only if those leave two readings.

Beside scores, a matrix of the same shape could hold ids or one value per item, and others lack or add columns. The dtype
decides, never the values: floats are grades, bools are flags, and integers, which are ids elsewhere, are ambiguous here,
unless each row ranks the columns.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Sized
from contextlib import suppress
from itertools import islice, pairwise
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk._inputs.checks import entries_of
from exactk._inputs.containers import frames
from exactk._inputs.containers.sequences import AS_ITEMS, WITH_NUMBERS
from exactk._inputs.containers.tables import is_frame, open_table
from exactk._inputs.keys.column_roles import Columns, item_column, lists_of, usual_role
from exactk._inputs.list_readings import (
    FEWEST_CHANGES,
    FEWEST_LISTS_OF_BOTH,
    MOST_USERS,
    Tuples,
    ascend,
    tuples_of_ids,
    tuples_of_rows,
)
from exactk._inputs.registry import (
    ARRAY,
    EMBEDDINGS,
    FRAME,
    LIST,
    LISTS,
    MAPPING,
    SCORES,
    SERIES,
    SPARSE_MATRIX,
    ClassifiedValue,
    Container,
    classify,
    file_reader,
    is_path,
)
from exactk._inputs.truth import Truth
from exactk._inputs.ways_on import each_row
from exactk._runtime.errors import InputError, input_error, warn
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

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
    if not {truth.container, predictions.container} <= {LIST, MAPPING, SERIES}:
        return ""
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


def check_not_truth(
    truth: object,
    others: Iterable[tuple[str, object]],
    columns: ColumnNames,
    items: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Raise InputError if another argument is the truth, or the file that the truth is or a copy of it, by the same columns.

    The columns are those of all arguments; items have their own where they are named for one.
    """
    for argument, value in others:
        if value is None or not _are_same(truth, value):
            continue
        if argument == "predictions" and _are_apart(truth, columns, items):
            continue
        hint: Text = ()
        if argument == "predictions":
            names: Text = (Option("grade", "NAME"), " and ", Option("score", "NAME"))
            if is_path(truth) and len((of_both := _columns_of(truth)).lists()) > 1:
                items = {one: next(iter(lists_of(one, of_both)), "NAME") for one in ("truth", "predictions")}
                codes = {one: f"exactk.read({str(truth)!r}, {one!r}, item={item!r})" for one, item in items.items()}
                first, second = (
                    Option(one, "", codes[one].replace("{", "{{").replace("}", "}}"), f"--{one}-columns item={item}")
                    for one, item in items.items()
                )
                names = (first, " and ", second)
            hint = ("pass what the system recommends, or name columns of both: ", *names)
        source = f"the same {'file' if is_path(truth) else 'object'}"
        raise input_error(argument, "another input than the truth", source, hint=hint)


def _are_apart(truth: object, columns: ColumnNames, items: Mapping[str, str]) -> bool:
    """Return whether items or grades of the truth are in other columns than the items or the order of the predictions."""
    of_both = _columns_of(truth)
    with suppress(InputError):
        sides = [item_column(of_both, items.get(one, columns.get("item")), one) for one in ("truth", "predictions")]
        if len(set(sides)) > 1:
            return True
    found = [name for name in of_both.names if usual_role(name) == "grade" and name not in columns.values()]
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


def _columns_of(value: object) -> Columns:
    """Return the columns of a frame or file; none of what has no columns."""
    if is_path(value):
        columns: Columns = file_reader().columns_at(value, "truth")
        return columns
    table = open_table(value, "truth") if is_frame(value) else None
    return Columns([]) if table is None else Columns(table.names, lists=lambda: table.list_names)


Shapes: TypeAlias = frozenset[tuple[int, ...]]

_IDS = "{0}=exactk.Truth.from_padded({0}) if they are ids"
_READINGS = {
    "truth": ("grades or ids", f"truth=exactk.Truth.from_dense(truth) if they are grades, {_IDS}"),
    "exclude": ("ids or flags", f"exclude=np.array(exclude, bool) if they are flags, {_IDS}"),
    "candidates": ("ids or flags", f"candidates=np.array(candidates, bool) if they are flags, {_IDS}"),
}
_WIDER = {
    ARRAY: ("{0}=np.pad({0}, ((0, 0), (0, {missing})))", "{0}=np.pad({0}, ((0, 0), ({missing}, 0)))"),
    SPARSE_MATRIX: (
        "{0}.resize({0}.shape[0], {columns})",
        "{0}=scipy.sparse.hstack([scipy.sparse.csr_matrix(({0}.shape[0], {missing}), dtype={0}.dtype), {0}])",
    ),
    LISTS: ("make it of np.pad(matrix, ((0, 0), (0, {missing})))", "of np.pad(matrix, ((0, 0), ({missing}, 0)))"),
}
"""How to write a matrix with further columns behind its own, and before them, by container."""


def shapes_of_scores(predictions: ClassifiedValue) -> Shapes:
    """Return the shape of a system's dense scores; none for other predictions."""
    value, container = predictions
    if container is EMBEDDINGS:
        return frozenset({(len(value), value.item_count)})
    if container is SCORES:
        return frozenset({value.values.shape})
    if container is SPARSE_MATRIX:
        shape = tuple(value.shape)
        return frozenset({shape} if len(shape) == 2 else ())
    return frozenset({value.shape}) if predictions.is_matrix_of_floats else frozenset()


def shapes_of_systems(systems: Iterable[ClassifiedValue]) -> Shapes:
    """Return the shapes of all systems' scores. Warn if some have more columns than others, and none has keys."""
    shapes = frozenset[tuple[int, ...]]()
    counts = set()
    for system in systems:
        found = shapes_of_scores(system)
        shapes |= found
        if getattr(system.value, "item_vocabulary", None) is None:
            counts |= {columns for _, columns in found}
    if len(counts) > 1:
        fewest, most = min(counts), max(counts)
        warn(
            f"predictions: scores of {fewest} and of {most} columns, each of them for item 0 on; np.pad(scores, "
            f"((0, 0), (0, {most - fewest})), constant_values=-np.inf) says that the fewer lack the last items, "
            f"scores[:, {most - fewest}:] of the others that these begin with columns of padding"
        )
    return shapes


def grades_beside_scores(truth: ClassifiedValue, shapes: Shapes) -> ClassifiedValue:
    """Return a float matrix as a truth with grades if predictions are scores; return other values unchanged."""
    if not shapes:
        return truth
    check_matrix(truth, "truth", shapes)
    if not truth.is_matrix_of_floats:
        return truth
    if truth.value.shape not in shapes:
        expected = " or ".join(f"{shape}" for shape in sorted(shapes))
        raise input_error("truth", f"one grade per score, of shape {expected}", f"shape {truth.value.shape}")
    return classify(Truth.from_dense(truth.value), "truth")


def check_matrix(classified: ClassifiedValue, argument: str, shapes: Shapes) -> None:
    """Raise InputError if the value is an integer matrix of the scores' shape, or has fewer columns than they.

    Warn if it has more, and nothing in the last of them.
    """
    if not shapes:
        return
    matrix = classified.value
    if classified.container is ARRAY:
        is_ambiguous = matrix.ndim == 2 and matrix.dtype.kind in "iu" and matrix.size > 0 and matrix.shape in shapes
    else:  # exclusions may list all items, but a truth would not
        is_ambiguous = any(
            _is_matrix(matrix, shape) and (argument == "truth" or _are_flags(matrix)) for shape in shapes
        )
    if is_ambiguous:
        expected, hint = _READINGS[argument]
        found = "a matrix of the scores' shape, which could be either"
        raise input_error(argument, expected, found, hint=hint.format(argument))
    columns = max(columns for _, columns in shapes)
    _check_columns(classified, argument, columns, shapes)
    _warn_of_columns(classified, argument, columns)


def _warn_of_columns(classified: ClassifiedValue, argument: str, columns: int) -> None:
    """Warn of a matrix with more columns than the scores, the last or first of which are empty and may be left out."""
    (value, container), found = classified, _column_count(classified)
    if found is None or found <= columns:
        return
    items = value.items if container is LISTS else value.nonzero()[1]
    last, first = (items >= columns).any(), (items < found - columns).any()
    if last and (first or argument == "truth"):
        return  # which a warning about relevant items without a column tells
    sliced = "matrix" if container is LISTS else argument + ".tocsr()" * (container is SPARSE_MATRIX)
    warn(
        f"{argument}: {found} columns beside {columns} of the scores, and nothing in the {'first' if last else 'last'} "
        f"of them; {argument}={sliced}[:, :{columns}] leaves out the last, {argument}={sliced}[:, {found - columns}:] "
        "leaves out the first if these are padding"
    )


def _check_columns(classified: ClassifiedValue, argument: str, columns: int, shapes: Shapes) -> None:
    """Raise InputError if a matrix has fewer columns than the scores: it is unknown on which side they are missing."""
    found = _column_count(classified)
    if classified.container is None or found is None or found >= columns:
        return
    lines = _WIDER[classified.container]
    last, first = (line.format(argument, columns=columns, missing=columns - found) for line in lines)
    hint = f"{last} if the last items are in no row, {first} if the scores begin with columns of padding"
    if getattr(classified.value, "shape", ())[::-1] in shapes:
        hint = f"{argument}={argument}.T has a row for each user"
    raise input_error(argument, f"{columns} columns, as in the scores", str(found), hint=hint)


def _column_count(classified: ClassifiedValue) -> int | None:
    """Return the number of columns of a matrix with a flag or grade for each item; None for other values."""
    value, container = classified
    if container is LISTS:
        count: int | None = value.column_count
        return count
    is_matrix = container is SPARSE_MATRIX or (container is ARRAY and value.dtype.kind == "b")
    return int(value.shape[1]) if is_matrix and len(value.shape) == 2 else None


def check_ids(predictions: ClassifiedValue, truth: ClassifiedValue) -> None:
    """Raise InputError if predictions are integers in the shape of a truth with columns, but do not rank these."""
    value, container = predictions
    columns = _column_count(truth)
    if not columns:
        return
    shape = (len(truth.value) if truth.container is LISTS else truth.value.shape[0], columns)
    are_integers = container is ARRAY and value.dtype.kind in "iu" and value.ndim == 2
    has_shape = value.shape == shape if are_integers else _is_matrix(value, shape)
    if has_shape and not _rank_columns(value, columns):
        found = "integers in the shape of the truth, which could be either"
        hint = "exactk.Scores(predictions) if they are scores, exactk.as_predictions(predictions) if they are ids"
        raise input_error("predictions", "scores or ids", found, hint=hint)
    ids = _ids_of(predictions)
    if truth.container is None or not ids.size or (last := int(ids.max())) < columns:
        return
    if truth.container is not ARRAY and (ids.min() < 1 or last > columns):
        return  # a sparse matrix may lack the last columns, but hardly if ids begin at 1
    wider = _WIDER[truth.container][0].format("truth", columns=last + 1, missing=last + 1 - columns)
    from_0 = "predictions=predictions - 1" if are_integers else "1 less in each"
    scores = ", predictions=exactk.Scores(predictions) if they are scores" if are_integers else ""
    warn(
        f"predictions: item {last} has no column in the truth, of which columns 0 to {columns - 1} are the items; "
        f"{wider} if the last items are relevant to nobody, {from_0} if ids begin at 1{scores}"
    )


def _ids_of(predictions: ClassifiedValue) -> NDArray[Any]:
    """Return the integers of lists or arrays, without padding; none of others."""
    value, container = predictions
    if container is LIST:
        with suppress(ValueError):  # of parts that differ in length
            value = np.array([item for row in value if isinstance(row, (list, tuple, np.ndarray)) for item in row])
    arrays = [part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, np.ndarray)]
    ids = next((part for part in arrays if part.dtype.kind in "iu" and part.ndim > 0), np.zeros(0, np.int64))
    return ids[ids >= 0]


def _rank_columns(ids: object, columns: int) -> bool:
    """Return whether each row has distinct column numbers, padded with -1."""
    if isinstance(ids, list) and not all(isinstance(item, (int, np.integer)) for row in ids for item in row):
        return True  # keys, or items with scores
    matrix = np.asarray(ids)
    ascending = np.sort(matrix, axis=1)
    repeats = (ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] != -1)
    return bool(-1 <= ascending.min() <= ascending.max() < columns) and not repeats.any()


def check_of_all_users(shapes: Shapes, restrictions: Mapping[str, ClassifiedValue]) -> None:
    """Raise InputError if restrictions of all users are such a matrix beside the scores of a block of them."""
    for argument, one in restrictions.items():
        if one.container is ARRAY and one.value.ndim:
            check_matrix(one, argument, frozenset((len(one.value), columns) for _, columns in shapes))


def _is_matrix(value: object, shape: tuple[int, ...]) -> bool:
    """Return whether the value is a list of equally long rows, of this shape."""
    users, items = shape
    return (
        isinstance(value, list)
        and len(value) == users > 0
        and items > 0
        and all(isinstance(row, (list, tuple, np.ndarray)) and np.ndim(row) > 0 and len(row) == items for row in value)
    )


def _are_flags(rows: list[Any]) -> bool:
    """Return whether all numbers in rows are 0 or 1, some of them repeatedly, and so no ids."""
    numbers = (isinstance(item, (int, np.integer)) and 0 <= item <= 1 for row in rows for item in row)
    return all(numbers) and any(len({*row}) < len(row) for row in rows)
