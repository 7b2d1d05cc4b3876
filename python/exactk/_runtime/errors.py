from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from exactk import _core
from exactk._runtime.faults import Fault, Option, Text, WriteOption, as_text, in_units, one_of, write
from exactk._runtime.texts import did_you_mean
from exactk._runtime.unit_names import SIGNS, USERS_AND_ITEMS, Signs, UnitNames, is_word, unit_names_of_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


_Method = TypeVar("_Method", bound="Callable[..., Any]")
_RANGES = frozenset({"item ids in [0, 2^63)", "integers that all fit int64 or all fit uint64"})
_RANGE_HINT: Text = (
    "convert the ids of all inputs with str(id) or column.astype(str); ",
    Option("text_ids", True, "exactk.read(path, role, {})"),  # noqa: FBT003 - the value of the option
    " reads ids in files as strings",
)


_PARENTS = Option("parents", "", "parents=", "--parents")


class ExactkError(Exception):
    """Base class of all errors that exactk raises deliberately.

    Attributes
    ----------
    argument : str or None
        The invalid argument, such as ``"predictions"``.
    row, position : int or None
        The location of the first fault: the user's row and the position within it, both from 0. For a data frame or
        file, the row of the frame or file, and the position within the list in that row; for `exactk.Batches` of
        frames, the row within the batch that the message names. None if the fault is not in a single row.
    count : int
        The number of faults of this kind.
    exit_code : int
        With what the command line ends.
    """

    __module__ = "exactk"
    exit_code: ClassVar[int] = 2

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
        self._fault: Fault | None = None

    @classmethod
    def of_fault(cls, fault: Fault) -> Self:
        """Return the error whose message describes the fault."""
        is_out_of_range = fault.expected in _RANGES and fault.found != "-1"  # which is padding
        hint = _RANGE_HINT if is_out_of_range and _RANGE_HINT[-1] not in fault.hint else ()
        fault = fault._replace(hint=(*fault.hint, *("; " for _ in fault.hint[:1]), *hint)) if hint else fault
        error = cls(fault.message(), fault.argument or None, fault.row, fault.position, fault.count)
        error._fault = fault
        return error

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
        hint: str | Option | Text = "",
    ) -> Self:
        """Return the error for an argument: what was expected, what was found, where and how often, and a hint."""
        hint = as_text(hint)
        return cls.of_fault(
            Fault(argument=argument, expected=expected, found=found, row=row, position=position, count=count, hint=hint)
        )

    @property
    def fault(self) -> Fault:
        """The parts of the message."""
        if self._fault is not None:
            return self._fault
        text, argument = str(self), self.argument or ""
        return Fault(text=text, argument=argument, row=self.row, position=self.position, count=self.count)

    def amended(self, **parts: object) -> Self:
        """Return the error after replacing parts of its fault."""
        return self.of_fault(self.fault._replace(**parts))

    def within(self, context: str) -> Self:
        """Return the error after adding what the argument is of, such as ``system 'als'``."""
        return self.amended(within=(*self.fault.within, context))


class InputError(ExactkError, ValueError):
    """An argument has an invalid value."""

    __module__ = "exactk"


class MissingFileError(InputError, FileNotFoundError):
    """There is no file at the path."""

    def __str__(self) -> str:
        return str(self.args[0])


class InputTypeError(ExactkError, TypeError):
    """An argument has an invalid type."""

    __module__ = "exactk"


class CapacityError(ExactkError, MemoryError):
    """The call needs more memory than there is."""

    __module__ = "exactk"


class StateMismatchError(ExactkError, ValueError):
    """The states or reports were computed differently and cannot be merged."""

    __module__ = "exactk"


def _of_core(
    error_type: type[ExactkError], change: tuple[str, str, bool] | None, hint: str, **parts: object
) -> ExactkError:
    """Return the error for a fault of the core, with its hint as a change of a field or of a keyword."""
    text: Text = (hint,) if hint else ()
    before, keyword, after = hint.partition(_PARENTS.call)
    if keyword:
        text = (before, _PARENTS, after)
    if change is not None:
        field, choice, is_keyword = change
        text = (Option(field, choice) if is_keyword else Option("convention", {field: choice}), " ", *text)
    return error_type.of_fault(Fault(hint=text)._replace(**parts))


_core.register_errors(
    partial(_of_core, InputError), partial(_of_core, InputTypeError), partial(_of_core, CapacityError)
)


class EvaluationWarning(UserWarning):
    """The input is valid, but the values may not mean what you expect."""

    __module__ = "exactk"

    def __init__(self, *text: str | Option) -> None:
        super().__init__(*text)

    def __str__(self) -> str:
        return self.message()

    def message(self, write_option: WriteOption = str) -> str:
        """Return the message, with options written by `write_option`."""
        return write(self.args, write_option)


_IS_SILENT = ContextVar("_IS_SILENT", default=False)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress the warnings of `warn` in this block of this thread alone, unlike `warnings.catch_warnings`."""
    token = _IS_SILENT.set(True)
    try:
        yield
    finally:
        _IS_SILENT.reset(token)


_TEXTS: ContextVar[set[str] | None] = ContextVar("_TEXTS", default=None)


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Give each text once in this block, which reads the inputs of several systems or blocks."""
    outer = _TEXTS.get()
    token = _TEXTS.set(set() if outer is None else outer)
    try:
        yield
    finally:
        _TEXTS.reset(token)


_PROCESS_FILTERS = warnings.filters
"""The filters outside of `warnings.catch_warnings`, which has a copy, and inside of which Python alone decides."""
_SHOWN: dict[tuple[str, int, str], list[Any]] = {}
"""Files, lines and texts of warnings that were shown, and the filters by which that is once.

Python forgets them whenever any package enters `catch_warnings`, as pandas does for every frame, and would repeat them
in a loop over systems.
"""


def check_among(argument: str, name: object, names: Iterable[str]) -> None:
    """Raise InputError unless a name is one of these; the hint is the most similar one."""
    some = list(names)
    if name not in some:
        raise input_error(argument, one_of(some), repr(name), hint=did_you_mean(name, some))


def warn(*text: str | Option) -> None:
    """Warn at the line that called the package."""
    if _IS_SILENT.get():
        return
    warning, texts, level = EvaluationWarning(*in_units(text, unit_names_of_call())), _TEXTS.get(), caller_level()
    message, frame = str(warning), sys._getframe(level - 1)  # noqa: SLF001 - as in `caller_level`
    key = (frame.f_code.co_filename, frame.f_lineno, message)
    is_outermost = warnings.filters is _PROCESS_FILTERS
    if (texts is not None and message in texts) or (is_outermost and _SHOWN.get(key) == _PROCESS_FILTERS):
        return
    if texts is not None:
        texts.add(message)
    warnings.warn(warning, stacklevel=level)
    if is_outermost and (message, EvaluationWarning, frame.f_lineno) in frame.f_globals.get("__warningregistry__", ()):
        _SHOWN[key] = list(_PROCESS_FILTERS)


class Amending:
    """A context in which an error is replaced by what a function makes of it; by itself, if that is the same error.

    Small calls enter several, and a generator's context takes three times as long.
    """

    __slots__ = ("_amend", "_arguments")

    def __init__(self, amend: Callable[..., ExactkError], *arguments: object) -> None:
        self._amend, self._arguments = amend, arguments

    def __enter__(self) -> None:
        """Enter the context."""

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Raise what replaces the error, with its cause."""
        if isinstance(error, ExactkError) and (amended := self._amend(error, *self._arguments)) is not error:
            raise amended from error.__cause__


input_error = InputError.of_argument
type_error = InputTypeError.of_argument


class InUnits:
    """A call in whose warnings and errors users and items have the names that its inputs show, or that are given."""

    __slots__ = ("_signs", "_token")

    def __init__(self, unit_names: object = None, preset: str = "") -> None:
        self._signs = Signs(as_unit_names(unit_names), preset)

    def __enter__(self) -> None:
        """Enter the call."""
        self._token = SIGNS.set(self._signs)

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Leave the call, and change the message of an error."""
        SIGNS.reset(self._token)
        units = self._signs.names
        if isinstance(error, ExactkError) and error.fault.units == USERS_AND_ITEMS != units:
            error._fault = error.fault._replace(units=units)  # noqa: SLF001 - of this module
            error.args = (error.fault.message(),)


def in_own_units(method: _Method) -> _Method:
    """Name users and items in errors and warnings of a method as its object does."""

    @wraps(method)
    def named(self: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - those of the method
        with InUnits(self.unit_names):
            return method(self, *arguments, **options)

    return cast("_Method", named)


_RESERVED = frozenset(
    {
        *("difference", "discount", "evaluated", "gain", "grade", "group", "hit", "k", "metric", "rank", "score"),
        *("status", "std", "sum", "system", "term", "tied", "unjudged", "value", "weight"),
    }
)
"""Columns of tables beside those of users."""


def as_unit_names(value: object) -> UnitNames | None:
    """Return the names of units that a call has, if any; raise InputError or InputTypeError if they are none."""
    if value is None or isinstance(value, UnitNames):
        return value
    expected = "two singular nouns, of a row and of a column, such as ('question', 'chunk')"
    if isinstance(value, str) or not isinstance(value, (tuple, list)):
        raise type_error("unit_names", expected, repr(value))
    if len(value) != len(UnitNames._fields) or not all(map(is_word, value)) or value[0] == value[1]:
        raise input_error("unit_names", expected, repr(value))
    if clash := _RESERVED.intersection(map(str.lower, value)):
        raise input_error("unit_names", expected, f"{min(clash)!r}, which names another column of tables")
    return UnitNames(*value)


@contextmanager
def name_source(source: str) -> Iterator[None]:
    """Name the source, such as a file, in errors raised in this block that name none."""
    try:
        yield
    except ExactkError as error:
        if error.fault.source or isinstance(error, MissingFileError):  # which has the path
            raise
        raise error.amended(source=source) from error


_SKIPPED = frozenset({"contextlib", "exactk", "functools", "torch", "torchmetrics"})
"""Packages between the caller and a warning: decorators, `functools.cached_property` and metrics of torchmetrics call ours."""


def caller_level() -> int:
    """Return the stack level of the line that called the package, for warnings."""
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001 - the standard library's own way before Python 3.12
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _SKIPPED:
        level += 1
        frame = frame.f_back
    return level
