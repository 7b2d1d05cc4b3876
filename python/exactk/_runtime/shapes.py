"""Plain data, such as JSON holds, by declared shapes: they read and check it, naming what is wrong and where, and write it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from exactk._runtime.errors import ExactkError, input_error
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

MOST = 2**62
_MOST_HEX_DIGITS = 2048  # of an exact sum; those of the reference have fewer
_HEX = re.compile(r"-?0x[0-9a-f]+")
_DIGEST = r"0x[0-9a-f]{32}"


class ShapeError(ValueError):
    """Where, as the names that data are within, what was expected and, abbreviated, perhaps what there is instead."""

    def __init__(self, at: str, expected: str, *found: object) -> None:
        super().__init__(at, expected, *found)
        self._at, self._expected, self._found = at, expected, found

    def within(self, name: str) -> ShapeError:
        """Return the error of data that have this name, or are so within others."""
        dot = "" if not self._at or self._at.startswith("[") else "."
        return ShapeError(f"{name}{dot}{self._at}", self._expected, *self._found)

    def __str__(self) -> str:
        found = "".join(f", found {_in_brief(_repr(one), 100)}" for one in self._found)
        return f"{self._at}: expected {self._expected}{found}".removeprefix(": ")


def _repr(data: object) -> str:
    try:
        return " ".join(repr(data).split())
    except (ValueError, RecursionError):  # an integer of too many digits, lists in lists in lists
        return type(data).__name__


class Shape(Protocol):
    """What plain data looks like, and what it stands for."""

    def read(self, data: Any) -> Any:  # noqa: ANN401 - what JSON holds, and any value
        """Return the value; raise ShapeError if data have another shape."""
        ...

    def write(self, value: Any) -> Any:  # noqa: ANN401 - likewise
        """Return the plain data of a value."""
        ...


class Whole(NamedTuple):
    """An integer."""

    least: int = 0
    most: int = MOST

    def read(self, data: Any) -> int:  # noqa: ANN401
        if type(data) is not int or not self.least <= data <= self.most:
            raise ShapeError("", f"an integer from {self.least} to {self.most}", data)
        return data

    def write(self, value: int) -> int:
        return value


class Exact(NamedTuple):
    """An integer beyond the numbers of JSON, as hexadecimal text."""

    def read(self, data: Any) -> int:  # noqa: ANN401
        if not isinstance(data, str) or len(data) > _MOST_HEX_DIGITS or not _HEX.fullmatch(data):
            raise ShapeError("", f"a hexadecimal integer of at most {_MOST_HEX_DIGITS} characters", data)
        return int(data, 16)

    def write(self, value: int) -> str:
        return hex(value)


class Digest(NamedTuple):
    """128 bits, as hexadecimal text."""

    def read(self, data: Any) -> int:  # noqa: ANN401
        if not isinstance(data, str) or not re.fullmatch(_DIGEST, data):
            raise ShapeError("", "0x and 32 hexadecimal digits", data)
        return int(data, 16)

    def write(self, value: int) -> str:
        return f"{value:#034x}"


class Binary(NamedTuple):
    """Bytes, as text in base64."""

    def read(self, data: Any) -> bytes:  # noqa: ANN401
        from base64 import b64decode

        if not isinstance(data, str):
            raise ShapeError("", "text in base64", data)
        try:
            return b64decode(data, validate=True)
        except ValueError as error:
            raise ShapeError("", f"text in base64 ({error})", data) from error

    def write(self, value: bytes) -> str:
        from base64 import b64encode

        return b64encode(value).decode()


class Text(NamedTuple):
    """A string."""

    most: int = MOST  # characters

    def read(self, data: Any) -> str:  # noqa: ANN401
        if not isinstance(data, str) or len(data) > self.most:
            raise ShapeError("", f"a string{f' of at most {self.most} characters' * (self.most < MOST)}", data)
        return data

    def write(self, value: str) -> str:
        return value


class OneOf(NamedTuple):
    """One of some values, such as true and false."""

    values: Collection[object]

    def read(self, data: Any) -> Any:  # noqa: ANN401
        for one in self.values:
            if isinstance(data, type(one)) and data == one:
                return one
        raise ShapeError("", f"one of {', '.join(map(repr, self.values))}", data)

    def write(self, value: Any) -> Any:  # noqa: ANN401
        return value


FLAG = OneOf((True, False))


class Maybe(NamedTuple):
    """A value, or null for None."""

    shape: Shape

    def read(self, data: Any) -> Any:  # noqa: ANN401
        return None if data is None else self.shape.read(data)

    def write(self, value: Any) -> Any:  # noqa: ANN401
        return None if value is None else self.shape.write(value)


class Many(NamedTuple):
    """A list of values of one shape."""

    shape: Shape
    size: int | None = None

    def read(self, data: Any) -> tuple[Any, ...]:  # noqa: ANN401
        values: list[Any] = []
        rows, read = elements(data, "", self.size), self.shape.read
        try:
            for one in rows:
                values.append(read(one))  # noqa: PERF401 - how many were read is where an error is
        except ShapeError as error:
            raise error.within(f"[{len(values)}]") from None
        return tuple(values)

    def write(self, value: Any) -> list[Any]:  # noqa: ANN401
        return [*map(self.shape.write, value)]


class Row(NamedTuple):
    """A list of values of their own shapes, which make one value."""

    make: Callable[..., Any]
    shapes: tuple[Shape, ...]
    values: Callable[[Any], Iterable[Any]] = iter  # of what was made

    def read(self, data: Any) -> Any:  # noqa: ANN401
        values: list[Any] = []
        cells = elements(data, "", len(self.shapes))
        try:
            for shape, cell in zip(self.shapes, cells, strict=True):
                values.append(shape.read(cell))
        except ShapeError as error:
            names = getattr(self.make, "_fields", None)
            raise error.within(names[len(values)] if names else f"[{len(values)}]") from None
        return self.make(*values)

    def write(self, value: Any) -> list[Any]:  # noqa: ANN401
        return [shape.write(cell) for shape, cell in zip(self.shapes, self.values(value), strict=True)]


class Fields(NamedTuple):
    """A mapping with these names, and perhaps with optional ones, which make one value."""

    make: Callable[..., Any]
    shapes: Mapping[str, Shape]
    optional: Collection[str] = ()
    has_others: bool = False  # which are as they are

    def read(self, data: Any) -> Any:  # noqa: ANN401
        if not isinstance(data, Mapping):
            raise ShapeError("", "a mapping", data)
        if missing := [name for name in self.shapes if name not in data and name not in self.optional]:
            raise ShapeError("", f"a mapping with {', '.join(missing)}", list(data))
        others = {name: one for name, one in data.items() if name not in self.shapes}
        if others and not self.has_others:
            raise ShapeError("", f"a mapping of only {', '.join(self.shapes)}", list(others))
        fields, name = {}, ""
        try:  # once for all, as a state has many fields
            for name, shape in self.shapes.items():
                if name in data:
                    fields[name] = shape.read(data[name])
        except (ShapeError, ExactkError) as error:
            _raise_within(error, name)
        return self.make(**{**others, **fields})

    def write(self, value: Any) -> dict[str, Any]:  # noqa: ANN401
        fields = {name: (shape, getattr(value, name)) for name, shape in self.shapes.items()}
        written = {
            name: shape.write(one)
            for name, (shape, one) in fields.items()
            if not (one is None and name in self.optional)
        }
        return {name: one for name, one in written.items() if not (one is None and name in self.optional)}


class Named(NamedTuple):
    """A mapping from names to values of one shape, at least one."""

    shape: Shape

    def read(self, data: Any) -> dict[str, Any]:  # noqa: ANN401
        if not isinstance(data, Mapping) or not data or not all(isinstance(name, str) for name in data):
            raise ShapeError("", "a mapping from names", data)
        return {name: read_at(name, self.shape, one) for name, one in data.items()}

    def write(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.shape.write(one) for name, one in value.items()}


class Pairs(NamedTuple):
    """A list of keys, each once, with their values: a mapping whose keys need not be strings."""

    key: Shape
    shape: Shape

    def read(self, data: Any) -> dict[Any, Any]:  # noqa: ANN401
        pairs: dict[Any, Any] = {}
        both = Row(lambda key, value: (key, value), (self.key, self.shape))
        for key, value in Many(both).read(data):
            if key in pairs:
                raise ShapeError("", "distinct keys", key)
            pairs[key] = value
        return pairs

    def write(self, value: Mapping[Any, Any]) -> list[Any]:
        return [[self.key.write(key), self.shape.write(one)] for key, one in value.items()]


class Anything(NamedTuple):
    """Data that are read when more is known."""

    def read(self, data: Any) -> Any:  # noqa: ANN401
        return data

    def write(self, value: Any) -> Any:  # noqa: ANN401
        return value


class Through(NamedTuple):
    """Data that others read and write."""

    reading: Callable[[Any], Any]
    writing: Callable[[Any], Any]

    def read(self, data: Any) -> Any:  # noqa: ANN401
        return self.reading(data)

    def write(self, value: Any) -> Any:  # noqa: ANN401
        return self.writing(value)


def elements(data: object, at: str = "", size: int | None = None) -> list[Any] | tuple[Any, ...]:
    """Return the elements of a list; raise ShapeError if data are none, or of another size."""
    if not isinstance(data, (list, tuple)):
        raise ShapeError(at, "a list", data)
    if size is not None and len(data) != size:
        raise ShapeError(at, f"{size} elements", len(data))
    return data


def read_at(at: str, shape: Shape, data: object) -> Any:  # noqa: ANN401 - any value
    """Return the value of data with this name, or so within others."""
    try:  # not `within`, which costs more than most shapes
        return shape.read(data)
    except (ShapeError, ExactkError) as error:
        _raise_within(error, at)


@contextmanager
def within(at: str) -> Iterator[None]:
    """Have errors in reading say that the data have this name, or are so within others."""
    try:
        yield
    except (ShapeError, ExactkError) as error:
        _raise_within(error, at)


def _raise_within(error: Exception, at: str) -> NoReturn:
    cause = error if isinstance(error, ShapeError) else error.__cause__  # of what is also read by itself
    if isinstance(cause, ShapeError):
        raise cause.within(at) from None
    raise error


@contextmanager
def plain_data(argument: str, expected: str) -> Iterator[None]:
    """Raise InputError for any error in reading the data."""
    try:
        yield
    except RecursionError as error:
        raise input_error(argument, expected, "data nested too deeply") from error
    except UnicodeError as error:
        raise input_error(argument, expected, "bytes that are not UTF-8") from error
    except (ExactkError, ValueError) as error:  # also of JSON, and of numbers beyond Python's limit
        raise input_error(argument, expected, f"invalid data: {_in_brief(str(error))}") from error


def _in_brief(text: str, most: int = 500) -> str:
    return text if len(text) <= most else text[:most] + "..."


def read_json(text: str | bytes, argument: str, expected: str) -> Any:  # noqa: ANN401 - what JSON holds
    """Return the JSON value; raise InputError if the text is not JSON."""
    import json

    with plain_data(argument, expected):
        return json.loads(text)
