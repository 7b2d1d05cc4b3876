"""The public function `custom`: a metric of one's own among those of `evaluate` and `compare`."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Mapping
from contextlib import suppress
from numbers import Real
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from exactk._plan.metric_strings import checked_cutoff, spelling_of_custom
from exactk._plan.metrics import CustomInfo, CustomMetric, check_name, metrics
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.texts import as_double

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from exactk._plan.literals import Average
    from exactk._report.judged_lists import JudgedLists


CustomFunction: TypeAlias = "Callable[[JudgedLists], NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]]"


def custom(
    name: str,
    function: CustomFunction,
    *,
    k: int,
    of: Literal["judged", "lists"] = "judged",
    range: tuple[float, float] | None = None,  # noqa: A002 - what statistics calls it
    higher_is_better: bool | None = True,
    average: Average | None = None,
    version: str | None = None,
) -> CustomMetric:
    """Return a metric of your own, which stands among the metrics of `exactk.evaluate` and `exactk.compare`.

    What the function computes goes through the same conventions, weights, groups, exact sums, states and merges as any
    other metric. It is called with the judged lists of some users at a time, in the calling thread.

    Parameters
    ----------
    name : str
        The name in reports, before ``@k``: letters, digits, ``_`` and ``-``, from a letter to a letter. It may not be that
        of another metric.
    function : callable
        Takes `exactk.results.JudgedLists` of some users, and returns an array of one number per user; or a tuple of two arrays, the
        numerators and denominators, whose ratio is the user's value. Denominators are above 0, or 0 over 0, which is as
        ``undefined`` of the convention says. With ``average="micro"`` the sums of both are divided. Numbers of users whom
        the convention skips, such as those without relevant items, are not read and may be NaN. The number of a user must
        not depend on the other users of the call.
    k : int
        The number of ranks that the function sees. The metric is ``name@k``.
    of : {"judged", "lists"}
        ``"lists"``: the function does not read the truth, so that users without relevant items count as all others do, and
        no truth is needed.
    range : tuple of two floats, optional
        The least and the greatest value. A value outside is an error.
    higher_is_better : bool, optional
        Whether higher values are better, lower ones (False), or neither (None).
    average : {"macro", "micro", "geometric"}, optional
        The convention's field for this metric alone. Other fields may stand in a string beside the metric:
        ``[metric, "name@10(undefined=one)"]``.
    version : str, optional
        What tells this function from others of its name, in place of its code: change it when the function changes. By
        default that is a digest of the function's bytecode, which depends on the version of Python, and of the numbers,
        strings, arrays, tuples, lists, sets and mappings of these that it reads, as they are now.

    Returns
    -------
    CustomMetric
        For the metrics of `exactk.evaluate` and `exactk.compare`, alone or in a list with others.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, or the function reads something of which there is no digest. When it is evaluated: if the
        function returns anything but such arrays, or NaN, an infinite number or one outside `range`; the message names the
        first user. Errors that the function raises have a note with the users of the call.

    See Also
    --------
    judge : The judged lists themselves.

    Examples
    --------
    >>> import exactk
    >>> def late_hits(judged):
    ...     return judged.hits[:, 1:].sum(axis=1), judged.relevant
    >>> metric = exactk.custom("late_hits", late_hits, k=3, range=(0, 1))
    >>> exactk.evaluate([[1, 4], [2]], [[1, 4, 2], [2, 3, 5]], ["recall@3", metric])
    metric        value     std
    recall@3     1.0000  0.0000
    late_hits@3  0.2500  0.2500
    convention standard; 2 users
    """
    if (metric := metrics.name_of(check_name(name))) is not None:
        raise input_error("name", "a name that no other metric has", f"{name!r}, which is {metric}")
    if not callable(function):
        raise type_error("function", "a function of exactk.results.JudgedLists", type(function).__name__)
    if of not in ("judged", "lists"):
        raise input_error("of", "'judged' or 'lists'", repr(of))
    if higher_is_better is not None and not isinstance(higher_is_better, bool):
        raise type_error("higher_is_better", "True, False or None", repr(higher_is_better))
    if version is not None and not isinstance(version, str):
        raise type_error("version", "a string", repr(version))
    info = CustomInfo(
        name,
        of,
        None if range is None else _checked_range(range),
        "none" if higher_is_better is None else "higher" if higher_is_better else "lower",
        digest_of_function(function, name) if version is None else digest_of_text(version),
    )
    return CustomMetric(info, spelling_of_custom(name, checked_cutoff(k), average), function)


def _checked_range(bounds: object) -> tuple[float, float]:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2 or not all(isinstance(one, Real) for one in bounds):
        raise type_error("range", "the least and the greatest value", repr(bounds))
    low, high = (as_double(bound) for bound in bounds)
    if math.isnan(low + high) or not low <= high:
        raise input_error("range", "the least value, then the greatest", repr(bounds))
    return low, high


_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))


def digest_of_text(text: str) -> int:
    """Return 128 bits of a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")


def digest_of_function(function: Callable[..., object], name: str) -> int:
    """Return 128 bits of a function's code and of the values that it reads; raise InputError if one has no digest."""
    state = hashlib.sha256()
    for part in _Parts(name).of(function):
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return int.from_bytes(state.digest()[:16], "little")


class _Parts:
    """The bytes that tell values apart, in order. A function that is reached again is its number."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: dict[FunctionType, int] = {}

    def of(self, value: object) -> Iterator[bytes]:
        yield type(value).__qualname__.encode()
        if isinstance(value, _PLAIN):
            yield repr(value).encode()
        elif isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
            yield f"{value.dtype.str}{value.shape}".encode()
            yield np.ascontiguousarray(value).tobytes()
        elif isinstance(value, (ModuleType, type, BuiltinFunctionType, np.ufunc)):
            yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}".encode()
        elif isinstance(value, FunctionType) and value in self._seen:
            yield str(self._seen[value]).encode()
        else:
            if isinstance(value, FunctionType):
                self._seen[value] = len(self._seen)
            for part in self._members(value):
                yield from self.of(part)

    def _members(self, value: Any) -> list[Any]:  # noqa: ANN401, PLR0911 - of any type, one line each
        """Return what a value is made of."""
        if isinstance(value, (set, frozenset)):
            return sorted(b"".join(self.of(one)) for one in value)
        if isinstance(value, (tuple, list)):
            return list(value)
        if isinstance(value, slice):  # of constants, which is one itself since Python 3.14
            return [value.start, value.stop, value.step]
        if isinstance(value, Mapping):
            return [part for pair in value.items() for part in pair]
        if isinstance(value, np.ndarray):  # of objects
            return [value.shape, *value.ravel().tolist()]
        if isinstance(value, CodeType):
            return [value.co_code, value.co_names, value.co_varnames, value.co_argcount, *value.co_consts]
        if isinstance(value, functools.partial):
            return [value.func, value.args, value.keywords]
        if isinstance(value, MethodType):
            return [value.__func__, value.__self__]
        if isinstance(value, FunctionType):
            return [value.__code__, value.__defaults__, value.__kwdefaults__, _read_by(value)]
        kind = type(value).__name__
        found = f"one that reads an object of type {kind}, of which there is no digest"
        hint = "version= stands for the function's code and for all that it reads, as in version='1'"
        raise input_error("function", f"a function for {self._name} that can be told from others", found, hint=hint)


def _read_by(function: FunctionType) -> dict[str, Any]:
    """Return the variables of the module and of enclosing functions that a function reads, by name."""
    names, waiting = set[str](), [function.__code__]
    while waiting:
        code = waiting.pop()
        names.update(code.co_names)
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not yet assigned
            found[name] = cell.cell_contents
    return dict(sorted(found.items()))
