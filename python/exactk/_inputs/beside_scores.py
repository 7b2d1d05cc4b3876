"""Matrices beside scores of the same shape, which could mean ids or one value for each item.

What decides is the type of their numbers, never the numbers: floats are grades, bools are flags, and integers, which
are ids beside anything else, could be any of the three here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from exactk._inputs.checks import import_dlpack
from exactk._inputs.containers.mappings import is_mapping_of_systems
from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.lists import Truth
from exactk._inputs.model.scores import Scores
from exactk._runtime import optional
from exactk._runtime.errors import input_error

Shapes: TypeAlias = frozenset[tuple[int, ...]]

_IDS = "{0}=exactk.Truth.from_padded({0}) if they are ids"
_READINGS = {
    "truth": ("grades or ids", f"truth=exactk.Truth.from_dense(truth) if they are grades, {_IDS}"),
    "exclude": ("ids or flags", f"exclude=np.array(exclude, bool) if they are flags, {_IDS}"),
    "candidates": ("ids or flags", f"candidates=np.array(candidates, bool) if they are flags, {_IDS}"),
}


def shapes_of_scores(predictions: object) -> Shapes:
    """Return the shape of a matrix of scores, users by items, or those of several systems; of anything else none."""
    if isinstance(predictions, Mapping) and not optional.is_sparse(predictions):
        systems = predictions.values() if is_mapping_of_systems(predictions) else ()
        return frozenset(shape for one in systems for shape in shapes_of_scores(one))
    if isinstance(predictions, CanonicalEmbeddings):
        return frozenset({(len(predictions), len(predictions.items))})
    if isinstance(predictions, Scores):
        return frozenset({predictions.values.shape})
    if optional.is_sparse(predictions):
        shape = tuple(predictions.shape)  # type: ignore[attr-defined]
        return frozenset({shape} if len(shape) == 2 else ())
    matrix = import_dlpack(predictions, "predictions")
    is_matrix = isinstance(matrix, np.ndarray) and matrix.ndim == 2 and matrix.dtype.kind == "f"
    return frozenset({matrix.shape}) if is_matrix else frozenset()  # type: ignore[attr-defined]


def grades_beside_scores(truth: object, shapes: Shapes) -> object:
    """Return the truth if it is a matrix of floats beside scores, which are grades then; anything else as it is."""
    check_meaning(truth, "truth", shapes)
    matrix = import_dlpack(truth, "truth") if shapes else truth
    if not (shapes and isinstance(matrix, np.ndarray) and matrix.ndim == 2 and matrix.dtype.kind == "f"):
        return truth
    if matrix.shape not in shapes:
        expected = " or ".join(f"{shape}" for shape in sorted(shapes))
        raise input_error("truth", f"a grade for each score, of shape {expected}", f"shape {matrix.shape}")
    return Truth.from_dense(matrix)


def check_meaning(value: object, argument: str, shapes: Shapes) -> None:
    """Raise InputError if the value is a matrix of integers of the scores' shape."""
    if not shapes:
        return
    matrix = import_dlpack(value, argument)
    if isinstance(matrix, np.ndarray):
        is_ambiguous = matrix.ndim == 2 and matrix.dtype.kind in "iu" and matrix.size > 0 and matrix.shape in shapes
    else:  # lists of what is excluded may well hold all items, but a truth that does is none
        is_ambiguous = argument == "truth" and any(_is_matrix(matrix, shape) for shape in shapes)
    if is_ambiguous:
        expected, hint = _READINGS[argument]
        found = "a matrix of the scores' shape, whose numbers could be either"
        raise input_error(argument, expected, found, hint=hint.format(argument))


def is_iterator(predictions: object) -> TypeGuard[Iterator[Any]]:
    """Return whether predictions come in blocks. A reader of Arrow is an iterator too, of one frame's rows."""
    return isinstance(predictions, Iterator) and not hasattr(predictions, "__arrow_c_stream__")


def check_blocks(blocks: Iterable[Any], **restrictions: object) -> Iterator[Any]:
    """Yield the blocks of an iterator; raise InputError where all of their users' restrictions are such a matrix."""
    matrices = {argument: import_dlpack(value, argument) for argument, value in restrictions.items()}
    users = {name: len(matrix) for name, matrix in matrices.items() if isinstance(matrix, np.ndarray) and matrix.ndim}
    for block in blocks:
        if isinstance(block, tuple) and len(block) in {2, 3}:
            shapes = shapes_of_scores(block[1])
            check_meaning(block[2] if block[2:] else None, "exclude", shapes)
            items = [shape[1] for shape in shapes]
            for argument, count in users.items():
                check_meaning(matrices[argument], argument, frozenset((count, columns) for columns in items))
        yield block


def _is_matrix(value: object, shape: tuple[int, ...]) -> bool:
    """Return whether the value is a list of rows of one length, and of this shape."""
    users, items = shape
    return (
        isinstance(value, list)
        and len(value) == users > 0
        and items > 0
        and all(isinstance(row, (list, tuple)) and len(row) == items for row in value)
    )
