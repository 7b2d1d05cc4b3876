"""Matrices of the same shape as the scores, which could hold ids or one value per item.

The dtype decides, never the values: floats are grades, bools are flags, and integers, which are ids elsewhere, are
ambiguous here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from exactk._inputs.registry import ARRAY, EMBEDDINGS, SCORES, SPARSE_MATRIX, ClassifiedValue, classify
from exactk._inputs.truth import Truth
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Mapping

Shapes: TypeAlias = frozenset[tuple[int, ...]]

_IDS = "{0}=exactk.Truth.from_padded({0}) if they are ids"
_READINGS = {
    "truth": ("grades or ids", f"truth=exactk.Truth.from_dense(truth) if they are grades, {_IDS}"),
    "exclude": ("ids or flags", f"exclude=np.array(exclude, bool) if they are flags, {_IDS}"),
    "candidates": ("ids or flags", f"candidates=np.array(candidates, bool) if they are flags, {_IDS}"),
}


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


def grades_beside_scores(truth: ClassifiedValue, shapes: Shapes) -> ClassifiedValue:
    """Return a float matrix as a truth with grades if predictions are scores; return other values unchanged."""
    check_meaning(truth, "truth", shapes)
    if not shapes or not truth.is_matrix_of_floats:
        return truth
    if truth.value.shape not in shapes:
        expected = " or ".join(f"{shape}" for shape in sorted(shapes))
        raise input_error("truth", f"one grade per score, of shape {expected}", f"shape {truth.value.shape}")
    return classify(Truth.from_dense(truth.value), "truth")


def check_meaning(classified: ClassifiedValue, argument: str, shapes: Shapes) -> None:
    """Raise InputError if the value is an integer matrix of the scores' shape."""
    if not shapes:
        return
    matrix = classified.value
    if classified.container is ARRAY:
        is_ambiguous = matrix.ndim == 2 and matrix.dtype.kind in "iu" and matrix.size > 0 and matrix.shape in shapes
    else:  # exclusions may list all items, but a truth would not
        is_ambiguous = argument == "truth" and any(_is_matrix(matrix, shape) for shape in shapes)
    if is_ambiguous:
        expected, hint = _READINGS[argument]
        found = "a matrix of the scores' shape, which could be either"
        raise input_error(argument, expected, found, hint=hint.format(argument))


def check_block(shapes: Shapes, exclude: ClassifiedValue, restrictions: Mapping[str, ClassifiedValue]) -> None:
    """Raise InputError if a block's exclusions, or the restrictions of all users, are such a matrix."""
    check_meaning(exclude, "exclude", shapes)
    for argument, one in restrictions.items():
        if one.container is ARRAY and one.value.ndim:
            check_meaning(one, argument, frozenset((len(one.value), columns) for _, columns in shapes))


def _is_matrix(value: object, shape: tuple[int, ...]) -> bool:
    """Return whether the value is a list of equally long rows, of this shape."""
    users, items = shape
    return (
        isinstance(value, list)
        and len(value) == users > 0
        and items > 0
        and all(isinstance(row, (list, tuple)) and len(row) == items for row in value)
    )
