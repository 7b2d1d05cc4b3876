"""The fields of a convention: what values each may have, how text says them, and what they decide."""

from __future__ import annotations

import math
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from exactk import _core
from exactk._runtime.errors import ExactkError, did_you_mean, input_error, type_error
from exactk._runtime.faults import quote
from exactk._runtime.numbers import parse_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Scope: TypeAlias = Literal["ranking", "judging", "scoring", "mean"]
"""What a field decides: how items are ranked, which of them are relevant and what they gain, what a judged list is
worth and how that is averaged, or how the finished mean is shown."""

ANY_GRADE = "any"
"""The ``min_grade`` that every grade reaches."""

STRICT_TIES = frozenset({"lowest_id", "highest_id", "input_order"})
"""Orders of tied items that say nothing about their worth."""


@dataclass(frozen=True)
class Field:
    """A choice that a convention makes.

    Attributes
    ----------
    name, summary : str
        What it is called, and what it decides.
    scope : Scope
        What it decides, for those who share what was computed: values that agree in the fields of ranking share a
        ranking, and in those of judging a judgement.
    check : callable
        From a value and the argument it came in to its canonical form. Raises InputError or InputTypeError.
    parse : callable
        From text and the argument it came in to a value that is not checked yet.
    choices : tuple of str
        The values, if they are a few names.
    """

    name: str
    summary: str
    scope: Scope
    check: Callable[[object, str], Any]
    parse: Callable[[str, str], object]
    choices: tuple[str, ...] = ()


def _choice_field(name: str, summary: str, scope: Scope, choices: tuple[str, ...]) -> Field:
    def check(value: object, argument: str) -> str:
        expected = f"{name} to be one of {', '.join(map(repr, choices))}"
        if not isinstance(value, str):
            raise type_error(argument, expected, repr(value))
        if value not in choices:
            raise input_error(argument, expected, repr(value), hint=did_you_mean(value, choices))
        return value

    return Field(name, summary, scope, check, lambda text, _: text, choices)


def _checked_number(value: object, argument: str, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise type_error(argument, expected.replace("finite ", ""), repr(value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise input_error(argument, expected, str(number))
    return number


def number_of_text(text: str, argument: str, alternatives: str = "") -> float:
    """Return the number that the text is, or raise InputError."""
    number = parse_number(text)
    if number is None or math.isnan(number):
        raise input_error(argument, f"a number{alternatives}", quote(text))
    return number


@contextmanager
def within_spelling(spelling: str) -> Iterator[None]:
    """Have errors about a part of a text show the text, too."""
    try:
        yield
    except ExactkError as error:
        if error.fault.found == quote(spelling):
            raise
        raise error.amended(found=f"{error.fault.found} in {quote(spelling)}") from None


_NAMED_GRADES: Mapping[str, str | None] = {"None": None, ANY_GRADE: ANY_GRADE}
_NAMED_BOUNDS: Mapping[str | None, float] = {None: math.ulp(0.0), ANY_GRADE: -sys.float_info.max}
"""The number that says the same as a name: "grade >= the smallest positive double" is "grade > 0"."""

_GRADE_NAMES = f", {ANY_GRADE!r} or None"


def _check_min_grade(value: object, argument: str) -> float | str | None:
    if value is None or (isinstance(value, str) and value == ANY_GRADE):
        return value
    number = _checked_number(value, argument, f"min_grade to be a finite number{_GRADE_NAMES}")
    return next((name for name, bound in _NAMED_BOUNDS.items() if bound == number), number)


def _parse_min_grade(text: str, argument: str) -> float | str | None:
    return _NAMED_GRADES[text] if text in _NAMED_GRADES else number_of_text(text, argument, _GRADE_NAMES)


def least_relevant_grade(min_grade: float | str | None) -> float:
    """Return the number that a grade must reach to be relevant."""
    return min_grade if isinstance(min_grade, float) else _NAMED_BOUNDS[min_grade]


def _check_gain_table(value: object, argument: str) -> tuple[float, ...]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise type_error(argument, "gain_table to be a list of the gains of the grades 0, 1, ...", repr(value))
    return tuple(_checked_number(gain, argument, "gain_table to be a finite number") for gain in value)


def _parse_gain_table(text: str, argument: str) -> list[float]:
    if not (text.startswith("[") and text.endswith("]")):
        raise input_error(argument, "gain_table=[gain, ...]", quote(text))
    return [number_of_text(gain.strip(), argument) for gain in text[1:-1].split(",")]


_MAX_DECIMALS = 15  # a double has no more that all count


def _check_decimals(value: object, argument: str) -> int | None:
    if value is None:
        return None
    expected = f"decimals to be an integer in [0, {_MAX_DECIMALS}], or None"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise type_error(argument, expected, repr(value))
    decimals = int(value)
    if not 0 <= decimals <= _MAX_DECIMALS:
        raise input_error(argument, expected, str(decimals) if abs(decimals) < 2**64 else "a larger number")
    return decimals


def _parse_decimals(text: str, argument: str) -> int | None:
    if text == "None":
        return None
    if not re.fullmatch(r"\d{1,10}", text, re.ASCII):
        raise input_error(argument, "an integer or None", quote(text))
    return int(text)


_JUDGING = frozenset({"gain", "duplicate_items", "duplicate_truth", "negative_grades", "ties", "nan"})

CHOICES: Mapping[str, _core.ConventionField] = MappingProxyType({f.name: f for f in _core.convention_fields()})
"""The fields of the core whose value is one of a few names."""

FIELDS: Mapping[str, Field] = MappingProxyType(
    {
        f.name: f
        for f in (
            *(
                _choice_field(f.name, f.summary, "judging" if f.name in _JUDGING else "scoring", f.choices)
                for f in CHOICES.values()
            ),
            Field(
                "min_grade",
                "an item is relevant from this grade on; None: from any grade above 0; 'any': whatever its grade",
                "judging",
                _check_min_grade,
                _parse_min_grade,
            ),
            Field(
                "gain_table",
                "the gains of the grades 0, 1, 2, ... for gain='table'",
                "judging",
                _check_gain_table,
                _parse_gain_table,
            ),
            Field(
                "decimals",
                "to how many decimals, 0 to 15, the mean is rounded, but no user's value; None: to none",
                "mean",
                _check_decimals,
                _parse_decimals,
            ),
            _choice_field(
                "score_dtype",
                "the type in which scores are compared: their own, or float32, in which more of them are equal",
                "ranking",
                ("native", "float32"),
            ),
            _choice_field(
                "negative_infinity",
                "an item whose score is -inf: ranked as any other, or left out, and with it one whose score is NaN",
                "ranking",
                ("rank", "exclude"),
            ),
            _choice_field(
                "rank_gaps",
                "ranks that are given and leave out some: closed, so that they give the order alone, or kept, so that each "
                "item stays at the rank it was given",
                "ranking",
                ("close", "keep"),
            ),
        )
    }
)
"""The fields, by name: those of the core, then those that Python reads."""


def fields_of(*scopes: Scope) -> tuple[str, ...]:
    """Return the names of the fields that decide one of these things."""
    return tuple(name for name, f in FIELDS.items() if f.scope in scopes)


def core_rules(rules: Mapping[str, Any]) -> _core.Rules:
    """Return the rules as the core takes them."""
    names = {name: rules[name] for name in CHOICES}
    return _core.Rules(names, least_relevant_grade(rules["min_grade"]), list(rules["gain_table"]))
