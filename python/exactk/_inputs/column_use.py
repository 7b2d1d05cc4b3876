"""Column names are refused if no argument has columns, because they would be ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._inputs.containers.mappings import is_mapping_of_systems
from exactk._inputs.containers.series import has_values_by_user_and_item
from exactk._inputs.registry import (
    BATCHES,
    BLOCKS,
    FRAME,
    LISTS,
    MAPPING,
    SERIES,
    SPARSE_SCORES,
    ClassifiedValue,
    classify,
)
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
"""The roles of the columns that each argument may have."""


def check_columns_are_read(columns: ColumnNames, **arguments: object) -> None:
    """Raise InputError if a column is named but no argument is a data frame."""
    named = [role for role, name in columns.items() if name is not None]
    if not named:
        return
    classified = {argument: classify(value, argument) for argument, value in arguments.items()}
    if any(one.container is BLOCKS for one in classified.values()):  # their content is unknown until they are read
        return
    read = {role for argument, one in classified.items() if _has_columns(one, argument) for role in _ROLES[argument]}
    for role in named:
        if role not in read:
            takers = [argument for argument in arguments if role in _ROLES[argument]]
            found = f"{role}={columns.get(role)!r} without one"
            function = "as_predictions" if role in {"score", "rank"} else "as_truth"
            was_converted = any(classified[taker].container in {LISTS, SPARSE_SCORES} for taker in takers)
            hint = f"pass {role}= to exactk.read or exactk.{function}, which read the columns"
            raise input_error(role, f"a data frame as {' or '.join(takers)}", found, hint=hint if was_converted else "")


def _has_columns(classified: ClassifiedValue, argument: str) -> bool:
    value, container = classified
    if argument == "predictions" and container is MAPPING and is_mapping_of_systems(value):
        return any(classify(system, argument).container in {FRAME, BATCHES} for system in value.values())
    return container is FRAME or container is BATCHES or (container is SERIES and has_values_by_user_and_item(value))
