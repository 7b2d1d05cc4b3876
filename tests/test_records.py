"""Records are what frozen dataclasses are, and named tuples what those of `typing` are."""

from __future__ import annotations

import inspect
import pickle
import typing
from typing import Any, ClassVar

import pytest

from exactk._runtime import records
from exactk._runtime.records import Record


class Point(Record):
    """A point with a label that does not tell points apart."""

    kinds: ClassVar[int] = 3
    x: int
    y: int = 2
    label: str = ""

    _uncompared = frozenset({"label"})


class Labelled(Point, kw_only=True):
    """A point that is given by names."""

    size: int = 1


class Coloured(Labelled):
    """A subclass takes fields by names too, with annotations of any kind."""

    colour: str = "red"
    __annotations__["kind"] = str
    kind = "x"


class Node(Record, eq=False):
    """One of several alike."""

    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError(self.value)


class Rounded(Record, eq=False):
    """One with an equality of its own."""

    value: float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rounded) and round(self.value) == round(other.value)

    __hash__ = None  # type: ignore[assignment]


class OfTyping(typing.NamedTuple):
    """A named tuple of the standard library."""

    first: int
    second: Any


class Pair(records.NamedTuple):
    """A named tuple."""

    first: int
    second: Unknown = None  # type: ignore[name-defined]  # noqa: F821 - never looked at

    def swapped(self) -> Pair:
        return Pair(self.second, self.first)


def test_fields_are_given_by_position_or_name_and_have_defaults() -> None:
    assert Point(1) == Point(x=1) == Point(1, y=2) == Point(1, 2, "a")
    assert repr(Labelled(x=1, size=3)) == "Labelled(x=1, y=2, label='', size=3)"
    assert Point(1)._replace(y=5) == Point(1, 5)
    assert str(inspect.signature(Point)) == "(x: 'int', y: 'int' = 2, label: 'str' = '')"
    assert str(inspect.signature(Labelled)).startswith("(*, x: 'int', y")
    assert str(inspect.signature(Coloured)).startswith("(*, x: 'int', y")
    assert Coloured(x=1, kind="y").kind == "y"  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (Point, "missing required arguments: 'x'"),
        (lambda: Point(1, 2, "", 4), "takes 3 positional arguments but 4 were given"),  # type: ignore[call-arg]
        (lambda: Point(1, z=4), "unexpected keyword argument 'z'"),  # type: ignore[call-arg]
        (lambda: Point(1, x=4), "multiple values for argument 'x'"),  # type: ignore[misc]
        (lambda: Labelled(1), "takes 0 positional arguments but 1 were given"),
        (lambda: Labelled(1, 2, "", 3), "takes 0 positional arguments but 4 were given"),  # type: ignore[call-arg]
        (Labelled, "missing required arguments: 'x'"),
    ],
)
def test_wrong_fields_are_told(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_records_of_equal_fields_and_one_type_are_equal() -> None:
    assert len({Point(1, 2, "a"), Point(1, 2, "b"), Point(2)}) == 2
    assert Point(1) != Labelled(x=1)
    node = Node(1)
    assert (node == node._replace(), node == node) == (False, True)  # noqa: PLR0124 - itself
    assert hash(node) != hash(node._replace())
    assert Rounded(1.1) == Rounded(0.9)


def test_records_cannot_be_changed() -> None:
    point: Any = Point(1)
    with pytest.raises(AttributeError, match="'x'"):
        point.x = 2
    with pytest.raises(AttributeError, match="'x'"):
        del point.x
    assert point == Point(1)


def test_records_are_checked_and_pickled() -> None:
    with pytest.raises(ValueError, match="-1"):
        Node(-1)
    assert pickle.loads(pickle.dumps(Labelled(x=1, size=2))) == Labelled(x=1, size=2)  # noqa: S301 - our own


def test_named_tuples_are_those_of_typing() -> None:
    assert {*dir(OfTyping)} - {*dir(Pair)} - {"__annotate_func__"} == {"__orig_bases__"}  # the first since Python 3.14
    assert [*Pair(1).swapped()] == [None, 1]
    assert Pair(1)._replace(second=3) == (1, 3)
    assert pickle.loads(pickle.dumps(Pair(1))) == Pair(1)  # noqa: S301 - our own
    assert (Pair.__doc__, Pair.__module__, Pair.__qualname__) == ("A named tuple.", __name__, "Pair")
