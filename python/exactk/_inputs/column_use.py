"""Column names are refused if no argument has columns, because they would be ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._inputs.containers.frames import has_values_by_user_and_item
from exactk._inputs.keys.column_roles import ROLES
from exactk._inputs.paths import has_columns
from exactk._inputs.registry import (
    BATCHES,
    BLOCKS,
    FILE,
    FRAME,
    LISTS,
    SERIES,
    SPARSE_SCORES,
    ClassifiedValue,
    classify,
)
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.registry import Container


def check_columns_are_read(
    columns: ColumnNames, classified: Iterable[tuple[str, ClassifiedValue]], **others: object
) -> None:
    """Raise InputError if a column is named but no argument is a data frame, or a file with columns.

    The arguments, each with its name: those that the call has classified, and others.
    """
    named = [role for role, name in columns.items() if name is not None]
    if not named:
        return
    given = [*classified, *((argument, classify(value, argument)) for argument, value in others.items())]
    containers: dict[str, set[Container | None]] = {}
    for argument, one in given:
        containers.setdefault(argument, set()).add(one.container)
    if any(BLOCKS in kinds for kinds in containers.values()):  # their content is unknown until they are read
        return
    read = {role for argument, one in given if _has_columns(one, argument) for role in ROLES[argument]}
    for role in named:
        if role not in read:
            takers = [argument for argument in ROLES if argument in containers and role in ROLES[argument]]
            found = f"{role}={columns.get(role)!r} without one"
            function = "as_predictions" if role in {"score", "rank"} else "as_truth"
            was_converted = any(containers[taker] & {LISTS, SPARSE_SCORES} for taker in takers)
            hint = f"pass {role}= to exactk.read or exactk.{function}, which read the columns"
            raise input_error(
                role,
                f"a data frame or file with columns as {' or '.join(takers)}",
                found,
                hint=hint if was_converted else "",
            )


def _has_columns(classified: ClassifiedValue, argument: str) -> bool:
    value, container = classified
    if container is FILE:
        return has_columns(value, argument)
    return container is FRAME or container is BATCHES or (container is SERIES and has_values_by_user_and_item(value))
