"""The fields of a convention: valid values, parsing from text, and meaning."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from numbers import Integral, Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from exactk import _core
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.faults import quote
from exactk._runtime.records import NamedTuple, Record
from exactk._runtime.texts import did_you_mean, fold, parse_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Scope: TypeAlias = Literal["ranking", "judging", "scoring", "mean"]
"""What a field affects: how items are ranked, which items are relevant and their gains, how a judged list is scored and
averaged, or how the finished mean is shown."""

STRICT_TIES = frozenset({"lowest_id", "highest_id", "input_order"})
"""Orders of ties that do not depend on relevance."""


class Requirement(NamedTuple):
    """Values of another field, without which a field has no effect."""

    field: str
    choices: tuple[str, ...]


class Field(Record):
    """A field of a convention.

    Attributes
    ----------
    name, summary : str
        The field's name, and what it decides.
    scope : Scope
        What the field affects, so that results can be shared: values that agree in all ranking fields share a ranking,
        and values that agree in all judging fields share judgements.
    expected : str
        A description of valid values, for messages.
    annotation : str
        The type of its canonical values.
    standard : object
        Its value in the convention ``standard``.
    check : callable
        From a value and its argument to the canonical form. Raises InputError or InputTypeError.
    parse : callable
        From text and its argument to an unchecked value.
    choices : tuple of str
        The values, if they are a few names.
    requires : Requirement or None
        What another field must be for this one to have an effect.
    """

    name: str
    summary: str
    scope: Scope
    expected: str
    annotation: str
    standard: Any
    check: Callable[[object, str], Any]
    parse: Callable[[str, str], object]
    choices: tuple[str, ...] = ()
    requires: Requirement | None = None


_REQUIREMENTS = {
    "history_distance": Requirement("serendipity_of", ("features",)),
    "gain_table": Requirement("gain", ("table",)),
    "gain_range": Requirement("gain", ("scaled",)),
    "discount_base": Requirement("discount", ("log", "log_floored")),
    "discount_power": Requirement("discount", ("power",)),
    "discount_persistence": Requirement("discount", ("geometric",)),
    "discount_table": Requirement("discount", ("table",)),
    "gauc_over": Requirement("average", ("micro",)),
    "missing_list": Requirement("users", ("truth", "union")),  # others leave out the users without a list
}


def _choice_field(
    name: str, summary: str, scope: Scope, choices: tuple[str, ...], standard: str, requires: Requirement | None = None
) -> Field:
    one_of_them = f"one of {', '.join(map(repr, choices))}"
    expected = f"{name} to be {one_of_them}"
    by_name = {choice: choice for choice in choices}  # as conventions that were checked once have them
    by_folded_name = {fold(choice): choice for choice in choices}

    def check(value: object, argument: str) -> str:
        if not isinstance(value, str):
            raise type_error(argument, expected, repr(value))
        choice = by_name.get(value) or by_folded_name.get(fold(value))
        if choice is None:
            raise input_error(argument, expected, repr(value), hint=did_you_mean(value, choices))
        return choice

    annotation = f"Literal[{', '.join(map(repr, choices))}]"
    return Field(
        name, summary, scope, one_of_them, annotation, standard, check, lambda text, _: text, choices, requires
    )


def _number(value: object, argument: str, expected: str, bounds: tuple[float, float]) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise type_error(argument, expected, repr(value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    low, high = bounds
    if not low <= number <= high:
        raise input_error(argument, expected, str(number))
    return number


def number_of_text(text: str, argument: str, expected: str = "a number") -> float:
    """Return the number in the text, or raise InputError."""
    number = parse_number(text)
    if number is None or math.isnan(number):
        raise input_error(argument, expected, quote(text))
    return number


@contextmanager
def within_spelling(spelling: str) -> Iterator[None]:
    """Add the whole text to errors about a part of it."""
    try:
        yield
    except ExactkError as error:
        raise error.amended(found=f"{error.fault.found} in {quote(spelling)}") from None


def _number_field(
    core: _core.ConventionField, scope: Scope, bounds: tuple[float, float], requires: Requirement | None
) -> Field:
    expected = f"{core.name} to be {core.expected}"
    names = {number: name for name, number in core.names.items()}
    by_lower_name = {str(name).lower(): name for name in core.names}

    def check(value: object, argument: str) -> float | str | None:
        if value is None and value in core.names:
            return None
        if isinstance(value, str) and (name := by_lower_name.get(value.lower())) is not None:
            return name
        number = _number(value, argument, expected, bounds)
        return names.get(number, number)

    def parse(text: str, argument: str) -> float | str | None:
        if text.lower() in by_lower_name:
            return by_lower_name[text.lower()]
        return number_of_text(text, argument, core.expected)

    literals = sorted((f"Literal[{name!r}]" if name else "None" for name in core.names), key="None".__eq__)
    annotation = " | ".join(["float", *literals])
    return Field(core.name, core.summary, scope, core.expected, annotation, core.standard, check, parse, (), requires)


def _numbers_field(
    core: _core.ConventionField, scope: Scope, bounds: tuple[float, float], requires: Requirement | None
) -> Field:
    expected = f"{core.name} to be {core.expected}"

    def check(value: object, argument: str) -> tuple[float, ...]:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if not isinstance(value, (list, tuple)):
            raise type_error(argument, expected, repr(value))
        return tuple(_number(number, argument, expected, bounds) for number in value)

    def parse(text: str, argument: str) -> list[float]:
        if not (text.startswith("[") and text.endswith("]")):
            raise input_error(argument, f"{core.name}=[number, ...]", quote(text))
        return [number_of_text(number.strip(), argument) for number in text[1:-1].split(",")]

    standard = check(core.standard, core.name)
    return Field(
        core.name, core.summary, scope, core.expected, "tuple[float, ...]", standard, check, parse, (), requires
    )


def _core_field(core: _core.ConventionField) -> Field:
    scope: Scope = "judging" if core.is_judging else "scoring"
    requires = _REQUIREMENTS.get(core.name)
    if core.bounds is None:
        return _choice_field(core.name, core.summary, scope, core.choices, str(core.standard), requires)
    return (_number_field if core.kind == "number" else _numbers_field)(core, scope, core.bounds, requires)


_MAX_DECIMALS = 15  # float64 has at most 15 exact decimals
_DECIMALS = f"an integer in [0, {_MAX_DECIMALS}], or None"


def _check_decimals(value: object, argument: str) -> int | None:
    if value is None:
        return None
    expected = f"decimals to be {_DECIMALS}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise type_error(argument, expected, repr(value))
    decimals = int(value)
    if not 0 <= decimals <= _MAX_DECIMALS:
        raise input_error(argument, expected, str(decimals) if abs(decimals) < 2**64 else "a larger number")
    return decimals


def _parse_decimals(text: str, argument: str) -> int | None:
    if text.lower() == "none":
        return None
    if not re.fullmatch(r"\d{1,10}", text, re.ASCII):
        raise input_error(argument, "an integer or None", quote(text))
    return int(text)


CORE_FIELDS: Mapping[str, Field] = MappingProxyType({f.name: _core_field(f) for f in _core.convention_fields()})
"""The fields that the core reads, by name."""

_PYTHON_FIELDS = (
    Field(
        "decimals",
        "the number of decimals, 0 to 15, to which the mean (not a user's value) is rounded; None: not rounded",
        "mean",
        _DECIMALS,
        "int | None",
        None,
        _check_decimals,
        _parse_decimals,
    ),
    _choice_field(
        "score_dtype",
        "the type in which scores are compared: their own, or float32, which makes more ties",
        "ranking",
        ("native", "float32"),
        "native",
    ),
    _choice_field(
        "negative_infinity",
        "an item with score -inf: ranked like any other, or dropped, as is an item with score NaN",
        "ranking",
        ("rank", "exclude"),
        "rank",
    ),
    _choice_field(
        "rank_gaps",
        "given ranks with gaps: closed, so that only their order counts, or kept, so that each item stays at its rank",
        "ranking",
        ("close", "keep"),
        "close",
    ),
    _choice_field(
        "chunk_score",
        "with parents=, the score of a document: the highest of its chunks in the list, their sum, their mean, or that "
        "of the chunk that parents lists first; lists without scores have its first chunk alone",
        "ranking",
        ("max", "sum", "mean", "first"),
        "max",
    ),
    _choice_field(
        "item_group_value",
        "a value of a group of items (item_group=): with the truth restricted to the group, or the share that hits in the "
        "group have in the value of all items",
        "scoring",
        ("restricted", "share"),
        "restricted",
    ),
)

FIELDS: Mapping[str, Field] = MappingProxyType({**CORE_FIELDS, **{f.name: f for f in _PYTHON_FIELDS}})
"""The fields, by name: those of the core, then those that Python reads."""

STANDARD_RULES: Mapping[str, Any] = MappingProxyType({name: f.standard for name, f in FIELDS.items()})
"""The values of the fields in the convention ``standard``."""

_BY_FOLDED_NAME = {fold(name): name for name in FIELDS}


def field_name(spelling: str) -> str | None:
    """Return the name of the field that is meant, if there is one: case, hyphens and underscores do not matter."""
    return spelling if spelling in FIELDS else _BY_FOLDED_NAME.get(fold(spelling))


def fields_of(*scopes: Scope) -> tuple[str, ...]:
    """Return the names of the fields of one scope."""
    return tuple(name for name, f in FIELDS.items() if f.scope in scopes)


def discounts(rules: Mapping[str, Any], count: int) -> list[float]:
    """Return the discounts of so many ranks, as DCG has them."""
    return cast("list[float]", _core.discounts(core_rules(rules), count).tolist())


def core_rules(rules: Mapping[str, Any]) -> _core.Rules:
    """Return the rules in the core's form."""
    return _core.Rules({name: rules[name] for name in CORE_FIELDS})
