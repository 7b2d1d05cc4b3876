from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from exactk import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class ExactkError(Exception):
    """Base of every error that exactk raises on purpose.

    Attributes
    ----------
    argument : str or None
        The argument that is at fault, such as ``"predictions"``.
    row, position : int or None
        Where the first fault stands: the user's row, and the position within it, both from 0. Of a data frame or
        file, its own row, and the position within the list that stands there; None where the fault is in no one row.
        Of `exactk.Batches` of frames, the row of the batch that the message names.
    count : int
        How many faults of this kind there are.
    """

    def __init__(
        self,
        message: str,
        argument: str | None = None,
        row: int | None = None,
        position: int | None = None,
        count: int = 1,
    ) -> None:
        super().__init__(message)
        self.argument = argument
        self.row = row
        self.position = position
        self.count = count

    @classmethod
    def of_argument(
        cls,
        argument: str,
        expected: str,
        found: str,
        *,
        row: int | None = None,
        position: int | None = None,
        count: int = 1,
        hint: str = "",
    ) -> Self:
        """Word a fault as the core does: which argument, what was expected, what came, where, how often."""
        location = [f"{name} {index}" for name, index in (("row", row), ("position", position)) if index is not None]
        text = f"{argument}: expected {expected}, found {found}"
        if location:
            text += " at " + ", ".join(location)
        if count > 1:
            text += f" (the first of {count})"
        if hint:
            text += f"; {hint}"
        return cls(text, argument, row, position, count)


class InputError(ExactkError, ValueError):
    """An argument has a value that it must not have."""


class InputTypeError(ExactkError, TypeError):
    """An argument has a type that it must not have."""


class CapacityError(ExactkError, MemoryError):
    """What is asked for needs more memory than there is."""


class StateMismatchError(ExactkError, ValueError):
    """States or reports that were not made by the same plan cannot be merged."""


_core.register_errors(InputError, InputTypeError, CapacityError)


class EvaluationWarning(UserWarning):
    """The input is legal, but the numbers may not mean what was meant."""


input_error = InputError.of_argument
type_error = InputTypeError.of_argument


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return the hint that names what is spelled most alike; an empty one if nothing is."""
    import difflib  # noqa: PLC0415 - few need it, and it is long to load

    close = difflib.get_close_matches(name.lower(), names, n=1)
    return f"did you mean {close[0]!r}?" if close else ""


@contextmanager
def name_source(source: str) -> Iterator[None]:
    """Say of an error where what it speaks of is from, if it does not yet."""
    try:
        yield
    except ExactkError as error:
        if source in str(error):
            raise
        raise type(error)(f"{error} in {source}", error.argument, error.row, error.position, error.count) from error


def caller_level() -> int:
    """Return the stack level of the caller's own line, for a warning raised by our caller."""
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001 - the standard library's own way before Python 3.12
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "exactk":
        level += 1
        frame = frame.f_back
    return level
