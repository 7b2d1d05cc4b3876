"""Matrices beside scores: those of the same shape could hold ids or one value per item, others lack or add columns.

The dtype decides, never the values: floats are grades, bools are flags, and integers, which are ids elsewhere, are
ambiguous here, unless each row ranks the columns.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk._inputs.registry import ARRAY, EMBEDDINGS, LIST, LISTS, SCORES, SPARSE_MATRIX, ClassifiedValue, classify
from exactk._inputs.truth import Truth
from exactk._runtime.errors import input_error, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

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
