"""The parts of an error message: each layer adds what it can name, and the text is built at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from exactk._runtime.records import Record
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames, plural_of


class Option(Record):
    """A keyword argument, with the value that a hint proposes."""

    name: str
    value: object
    call: str = "{}"  # the code with the argument, if it is not one of the function that was called
    shell: str = ""  # what the command line writes, if it is no option

    def __str__(self) -> str:
        return self.call.format(f"{self.name}={self.value!r}")


class Name(str):
    """A part of a text that is not prose, such as the names of columns: the words user and item stay."""

    __slots__ = ()


Text: TypeAlias = tuple[str | Option, ...]
"""A hint or a warning. Its options are written as keywords in Python, and in another way on the command line."""

WriteOption: TypeAlias = Callable[[Option], str]


def write(text: Text, write_option: WriteOption = str) -> str:
    """Return the text with each option as `write_option` writes it."""
    return "".join(write_option(part) if isinstance(part, Option) else part for part in text)


def in_units(text: Text, units: UnitNames) -> Text:
    """Return the text with these names of users and items."""
    if units == USERS_AND_ITEMS:
        return text
    return tuple(part if isinstance(part, (Option, Name)) else units.text(part) for part in text)


def as_text(text: str | Option | Text) -> Text:
    """Return the parts of a text; a string is one part."""
    if isinstance(text, tuple):
        return text
    return (text,) if text else ()


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names, the first ones of many and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def one_of(labels: Iterable[str | int]) -> str:
    """Return what is expected where a name or label is none of these, of which the first ones are named."""
    return f"one of {listed([*map(repr, labels)], 20)}"


def capitalized(text: str) -> str:
    """Return a text as a sentence begins; unlike that of `str.capitalize`, the rest stays as it is."""
    return text[:1].upper() + text[1:]


def plural(count: int, noun: str) -> str:
    """Return the count and its noun, such as ``1 user`` or ``2 users``."""
    return f"{count} {noun if count == 1 else plural_of(noun)}"


def quote(text: str) -> str:
    """Return the caller's text as messages show it, truncated if it is long."""
    most = 200
    return repr(text) if len(text) <= most else f"{text[:most]!r}..."


class Fault(Record, kw_only=True):
    """The parts of an error message.

    Attributes
    ----------
    argument, expected, found : str
        The invalid argument, what was expected, and what was found. If that is empty, the message is the argument and
        what is expected, which is the name of a fault then.
    such_as : str
        Names of columns that were expected.
    item : int or str or None
        The item found: its code, or its key as messages show it.
    row, position : int or None
        The first fault: the user's row and the position within it.
    location : str or None
        The location in a frame or file, if the rows come from one; empty if the fault is not in a single row.
    count : int
        The number of such faults.
    hint : Text
        What to write instead.
    user : str or None
        The key of the row's user, as messages show it.
    column : str or None
        The key of the item whose score stands at the position, as messages show it.
    source : str
        The file or batch of the argument.
    within : tuple of str
        What the argument is of, if a call has several, innermost first: a system, a block.
    line : tuple of int and str, or None
        The line of the file, counted from 1, and its text.
    text : str
        If not empty, replaces argument, expected and found.
    units : UnitNames
        What users and items are called.
    """

    argument: str = ""
    expected: str = ""
    such_as: str = ""
    found: str = ""
    item: int | str | None = None
    row: int | None = None
    position: int | None = None
    location: str | None = None
    count: int = 1
    hint: Text = ()
    user: str | None = None
    column: str | None = None
    source: str = ""
    within: tuple[str, ...] = ()
    line: tuple[int, str] | None = None
    text: str = ""
    units: UnitNames = USERS_AND_ITEMS

    def message(self, write_option: WriteOption = str) -> str:
        """Return the whole message."""

        def named(text: str) -> str:
            return write(in_units((text,), self.units))

        expected, found = named(self.expected), named(self.found)
        expected += f", such as {self.such_as}" if self.such_as else ""
        if self.item is not None:
            found = f"{self.units.item} {self.item} {found}"
        prefix = f"{self.argument}: " if self.argument else ""
        message = named(self.text) or prefix + (f"expected {expected}, found {found}" if found else expected)
        message += self._location()
        if self.count > 1:
            message += f" (the first of {self.count})"
        if self.within:
            message += f" in {', '.join(map(named, self.within))}"
        if self.hint:
            message += f"; {write(in_units(self.hint, self.units), write_option)}"
        named_keys = zip(self.units, (self.user, self.column), strict=True)
        keys = [f"{name} {key}" for name, key in named_keys if key is not None]
        return message + (f" ({', '.join(keys)})" if keys else "")

    def _location(self) -> str:
        if self.line is not None:
            number, text = self.line
            return f" at line {number} of {self.source}: {text}"
        return self._rows() + (f" in {self.source}" if self.source else "")

    def _rows(self) -> str:
        if self.text:
            return ""
        location = self.location
        if location is None:
            indices = (("row", self.row), ("position", self.position))
            location = ", ".join(f"{name} {index}" for name, index in indices if index is not None)
        return f" at {location}" if location else ""
