"""Functions with a library's arguments, of which many are read alike."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, ParamSpec, TypeVar, TypeVarTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = ParamSpec("Arguments")
Parts = TypeVarTuple("Parts")
Value = TypeVar("Value")


def computed_from(
    read: Callable[Arguments, tuple[*Parts]],
) -> Callable[[Callable[[*Parts], Value]], Callable[Arguments, Value]]:
    """Return a decorator: a function of what is read becomes the library's function of the arguments."""

    def decorated(compute: Callable[[*Parts], Value]) -> Callable[Arguments, Value]:
        @wraps(compute)
        def function(*arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
            return compute(*read(*arguments, **options))

        function.__module__ = read.__module__
        returned = compute.__annotations__["return"]
        function.__annotations__ = {**read.__annotations__, "return": returned}
        function.__signature__ = signature(read).replace(return_annotation=returned)  # type: ignore[attr-defined]
        return function

    return decorated
