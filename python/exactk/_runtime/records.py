"""Records and named tuples whose classes cost little, as a first evaluation makes a hundred.

A frozen dataclass compiles its methods when its class is made, in half a millisecond; `typing.NamedTuple` each annotation.
Modules that a first evaluation does not load may use these.
"""

from __future__ import annotations

from collections import namedtuple
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from inspect import Signature
    from typing import (
        NamedTuple as NamedTuple,  # noqa: PLC0414 - for others
        Self,
    )
else:

    class _NamedTupleType(type):
        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = namespace.get("__annotations__", {})
            defaults = [namespace[field] for field in fields if field in namespace]
            made = namedtuple(name, fields, defaults=defaults, module=namespace["__module__"])  # noqa: PYI024
            for attribute, value in namespace.items():
                if attribute not in fields and attribute != "__module__":
                    setattr(made, attribute, value)
            return made

    class NamedTuple(metaclass=_NamedTupleType):
        """`typing.NamedTuple`, as type checkers know it, which leaves annotations alone."""


class _Signature:
    """The signature of a class of records, made when it is asked for."""

    def __get__(self, _: object, owner: type[Record]) -> Signature:
        from inspect import Parameter, Signature

        if owner.__init__ is not Record.__init__:
            raise AttributeError
        is_positional = owner._most_positional > 0  # noqa: SLF001 - their own, as below
        kind = Parameter.POSITIONAL_OR_KEYWORD if is_positional else Parameter.KEYWORD_ONLY
        annotations: dict[str, str] = {}
        for one in reversed(owner.__mro__):
            annotations |= getattr(one, "__annotations__", {})
        return Signature(
            [
                Parameter(name, kind, default=getattr(owner, name, Parameter.empty), annotation=annotations[name])
                for name in owner._field_names  # noqa: SLF001
            ]
        )


@dataclass_transform(frozen_default=True)
class Record:
    """An immutable object whose fields are what its class annotates, in this order; class attributes are their defaults.

    Records of one type are equal if their fields are, but for those that the class names in `_uncompared`; with ``eq=False``,
    a record equals itself alone. Classes with an ``__init__`` of their own set the fields by ``object.__setattr__``.
    """

    __signature__: ClassVar[Any] = _Signature()
    _uncompared: ClassVar[frozenset[str]] = frozenset()
    _field_names: ClassVar[tuple[str, ...]] = ()
    _all: ClassVar[frozenset[str]] = frozenset()
    _required: ClassVar[frozenset[str]] = frozenset()
    _is_by_name: ClassVar[bool] = False
    _most_positional: ClassVar[int] = 0
    _compared: ClassVar[Callable[[Any], object]]

    def __init_subclass__(cls, *, eq: bool = True, init: bool = True, kw_only: bool | None = None) -> None:
        del init  # for type checkers
        annotations = {name: str(annotation) for name, annotation in cls.__annotations__.items()}
        of_class = (name for name, annotation in annotations.items() if "ClassVar" not in annotation.partition("[")[0])
        cls._field_names = tuple(dict.fromkeys((*cls._field_names, *of_class)))
        cls._all = frozenset(cls._field_names)
        cls._required = frozenset(name for name in cls._field_names if not hasattr(cls, name))
        cls._is_by_name = cls._is_by_name if kw_only is None else kw_only
        cls._most_positional = 0 if cls._is_by_name else len(cls._field_names)
        cls._compared = attrgetter(*(name for name in cls._field_names if name not in cls._uncompared))
        if not eq and "__eq__" not in vars(cls):
            cls.__eq__, cls.__hash__ = object.__eq__, object.__hash__  # type: ignore[method-assign]

    def __init__(self, *values: Any, **named: Any) -> None:  # noqa: ANN401 - type checkers know those of each class
        if not named and len(values) == len(self._field_names) == self._most_positional:
            vars(self).update(zip(self._field_names, values, strict=True))
        else:
            fields = dict(zip(self._field_names, values, strict=False)) | named
            is_each_once = len(fields) == len(values) + len(named) and len(values) <= self._most_positional
            if not (is_each_once and self._required <= fields.keys() <= self._all):
                raise self._wrong_fields(values, named)
            vars(self).update(fields)
        self.__post_init__()

    def _wrong_fields(self, values: tuple[Any, ...], named: Mapping[str, Any]) -> TypeError:
        """Return the error for fields that are given twice, missing or unknown, as Python words it for functions."""
        call, positional = f"{type(self).__name__}()", self._field_names[: self._most_positional][: len(values)]
        missing = sorted(self._required.difference(positional, named))
        for name in named:
            if name not in self._all:
                return TypeError(f"{call} got an unexpected keyword argument {name!r}")
            if name in positional:
                return TypeError(f"{call} got multiple values for argument {name!r}")
        if len(values) > self._most_positional:
            return TypeError(f"{call} takes {self._most_positional} positional arguments but {len(values)} were given")
        return TypeError(f"{call} missing required arguments: {', '.join(map(repr, missing))}")

    def __post_init__(self) -> None:
        """Check the fields."""

    def _replace(self, **changes: Any) -> Self:  # noqa: ANN401 - likewise
        """Return a record with some fields changed."""
        return type(self)(**{name: getattr(self, name) for name in self._field_names} | changes)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: its {name!r} is what it was made with")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: it keeps its {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(type(self)._compared(self) == type(self)._compared(other))

    def __hash__(self) -> int:
        return hash(type(self)._compared(self))  # noqa: SLF001 - its own

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)!r}" for name in self._field_names)
        return f"{type(self).__qualname__}({', '.join(fields)})"
