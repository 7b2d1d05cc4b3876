"""Names of columns must name columns: a name that no argument reads would be ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._inputs.containers.mappings import is_mapping_of_systems
from exactk._inputs.registry import BATCHES, BLOCKS, FRAME, LISTS, MAPPING, SPARSE_SCORES, ClassifiedValue, classify
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from exactk._inputs.keys.column_roles import ColumnNames

_ROLES = {
    "truth": ("user", "item", "grade"),
    "predictions": ("user", "item", "score", "rank"),
    "scores": ("user", "item", "score"),
    "exclude": ("user", "item"),
    "weights": ("user",),
    "groups": ("user",),
}
"""Of which roles the columns of an argument are."""


def check_columns_are_read(columns: ColumnNames, **arguments: object) -> None:
    """Raise InputError if a column is named, and no argument is a data frame that could have it."""
    named = [role for role, name in columns.items() if name is not None]
    if not named:
        return
    classified = {argument: classify(value, argument) for argument, value in arguments.items()}
    if any(one.container is BLOCKS for one in classified.values()):  # what they hold shows when they come
        return
    read = {role for argument, one in classified.items() if _has_columns(one, argument) for role in _ROLES[argument]}
    for role in named:
        if role not in read:
            takers = [argument for argument in arguments if role in _ROLES[argument]]
            found = f"{role}={columns.get(role)!r} beside none"
            function = "as_predictions" if role in {"score", "rank"} else "as_truth"
            was_converted = any(classified[taker].container in {LISTS, SPARSE_SCORES} for taker in takers)
            hint = f"exactk.read and exactk.{function} take {role}= for the columns that they read"
            raise input_error(role, f"a data frame as {' or '.join(takers)}", found, hint=hint if was_converted else "")


def _has_columns(classified: ClassifiedValue, argument: str) -> bool:
    value, container = classified
    if argument == "predictions" and container is MAPPING and is_mapping_of_systems(value):
        return any(classify(system, argument).container in {FRAME, BATCHES} for system in value.values())
    return container is FRAME or container is BATCHES
