"""That a call is wrong: which argument breaks which rule, where first and how often; the core has the wording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._runtime.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def refuse(
    argument: str, fault: str, *, row: int | None = None, position: int | None = None, count: int = 1
) -> NoReturn:
    """Raise InputError for a fault of an argument."""
    raise InputError.of_argument(argument, fault, "", row=row, position=position, count=count)


def refuse_any(argument: str, fault: str, cells: Sequence[tuple[int | None, int | None]]) -> None:
    """Raise InputError if a fault is at any of these rows and positions, which are ascending."""
    if cells:
        row, position = cells[0]
        refuse(argument, fault, row=row, position=position, count=len(cells))


def refuse_users(argument: str, fault: str, users: Sequence[int]) -> None:
    """Raise InputError if a fault is at any of these users, who are ascending."""
    refuse_any(argument, fault, [(user, None) for user in users])
