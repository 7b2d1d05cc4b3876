"""A digest of a function: of its code, and of the values that it has from elsewhere."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
