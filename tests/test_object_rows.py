"""Rows of Python objects: plain objects are read in blocks, and any other object at any position gives the same rows or the same error."""

from __future__ import annotations

import decimal
import fractions
import itertools
import numbers
from typing import Any

import numpy as np
import pytest

import exactk
from exactk import _core
from exactk._inputs.checks import exact_float

POSITIONS = (0, 1, 62, 63, 64, 65, 127, 128, 129)  # around the borders of blocks of 64
SIZES = (0, 1, 63, 64, 65, 128, 130)


class Integer(int):
    """An integer of another type than int."""


@numbers.Integral.register
class Clearing:
    """An integer that clears the rows when it is read."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def __index__(self) -> int:
        for row in self.rows:
            row.clear()
        return 7


class Text(str):
    """A string of another type than str."""

    __slots__ = ()


def with_object(at: int, replacement: Any, plain: list[Any]) -> list[Any]:
    """Return the objects, of which one is replaced."""
    return [*plain[:at], replacement, *plain[at + 1 :]]


def integer_rows(*rows: Any, has_values: bool = False) -> _core.IntegerRows:
    return _core.integer_rows(list(rows), exact_float if has_values else None, "truth", "grades")


def texts_of(*rows: Any, has_values: bool = False) -> tuple[_core.TextRows, list[str]]:
    """Return the rows, and the string of each item."""
    vocabulary = _core.Vocabulary(False)
    read = _core.text_rows(vocabulary, list(rows), False, exact_float if has_values else None, "truth", "grades")
    offsets, data = vocabulary.as_packed(len(vocabulary))
    keys = [data[begin:end].tobytes().decode("utf-8", "surrogatepass") for begin, end in itertools.pairwise(offsets)]
    return read, [keys[code] for code in read.items]


@pytest.mark.parametrize("container", [list, tuple, set])
def test_integers_of_any_length(container: type) -> None:
    rows = [container(range(3, 3 + size)) for size in SIZES]
    read = integer_rows(*rows, None)
    assert read.items.tolist() == [item for row in rows for item in row]
    assert read.indptr.tolist() == np.cumsum([0, *SIZES, 0]).tolist()
    assert read.present is not None
    assert read.present.tolist() == [True] * len(SIZES) + [False]


@pytest.mark.parametrize("at", POSITIONS)
@pytest.mark.parametrize("integer", [Integer(5), np.int64(5), np.uint8(5), 2**63 - 1, 2**30, 2**60])
def test_an_integer_of_another_type_or_size(integer: Any, at: int) -> None:
    row = with_object(at, integer, list(range(1000, 1130)))
    assert integer_rows(row, tuple(row)).items.tolist() == [int(item) for item in row] * 2
    graded = integer_rows(dict.fromkeys(row, 2), {}, dict.fromkeys(row, 0.5), has_values=True)
    assert graded.items.tolist() == [int(item) for item in row] * 2
    assert graded.values is not None
    assert graded.values.tolist() == [2.0] * 130 + [0.5] * 130


@pytest.mark.parametrize("at", POSITIONS)
@pytest.mark.parametrize("replacement", [True, None, 1.0, float("nan"), "five", b"5", np.bool_(True), [5]])
def test_an_object_that_is_no_integer_is_located(replacement: Any, at: int) -> None:
    row = with_object(at, replacement, list(range(130)))
    for rows in ([[1, 2], row], [(7,), tuple(row)]):
        with pytest.raises(exactk.InputTypeError, match="integer ids") as caught:
            integer_rows(*rows)
        assert (caught.value.row, caught.value.position) == (1, at)


@pytest.mark.parametrize("at", POSITIONS)
@pytest.mark.parametrize("integer", [2**63, 2**64, -(2**63) - 1, 10**30])
def test_an_integer_beyond_64_bits_is_located(integer: int, at: int) -> None:
    row = [*with_object(at, integer, list(range(130))), -1]
    with pytest.raises(exactk.InputError, match=r"item ids in \[0, 2\^63\)") as caught:
        integer_rows([1], row)
    assert (caught.value.row, caught.value.position, caught.value.fault.count) == (1, at, 2)
    assert str(integer) in str(caught.value)


@pytest.mark.parametrize("at", POSITIONS)
def test_negative_integers_are_left_to_validation(at: int) -> None:
    row = with_object(at, -3, list(range(130)))
    assert integer_rows(row).items.tolist() == row
    with pytest.raises(exactk.InputError, match=r"item ids in \[0, 2\^63\)") as caught:
        exactk.as_truth([[1], row])
    assert (caught.value.row, caught.value.position) == (1, at)


@pytest.mark.parametrize("at", POSITIONS)
@pytest.mark.parametrize(
    "value", [np.float64(0.25), np.float32(0.25), np.int64(3), Integer(3), fractions.Fraction(1, 4)]
)
def test_a_number_of_another_type(value: Any, at: int) -> None:
    values = with_object(at, value, [0.5] * 130)
    integers = integer_rows({1: 4}, dict(enumerate(values)), has_values=True)
    texts, keys = texts_of({"a": 4}, {f"k{i}": one for i, one in enumerate(values)}, has_values=True)
    assert integers.values is not None
    assert texts.values is not None
    assert integers.values.tolist() == texts.values.tolist() == [4.0, *map(float, values)]
    assert integers.items.tolist() == [1, *range(130)]
    assert keys == ["a", *(f"k{i}" for i in range(130))]


@pytest.mark.parametrize("at", POSITIONS)
@pytest.mark.parametrize(
    ("value", "error", "expected"),
    [
        (True, exactk.InputTypeError, "numbers as grades"),
        (None, exactk.InputTypeError, "numbers as grades"),
        (decimal.Decimal(3), exactk.InputTypeError, "numbers as grades"),
        ("1", exactk.InputTypeError, "numbers as grades"),
        (2**53 + 1, exactk.InputError, "grades that float64 holds exactly"),
        (10**400, exactk.InputError, "grades that float64 holds exactly"),
    ],
)
def test_a_value_that_is_no_exact_number_is_located(value: Any, error: Any, expected: str, at: int) -> None:
    values = with_object(at, value, [1] * 130)
    for read in (
        lambda: integer_rows({1: 4}, dict(enumerate(values)), has_values=True),
        lambda: texts_of({"a": 4}, {f"k{i}": one for i, one in enumerate(values)}, has_values=True),
    ):
        with pytest.raises(error, match=expected) as caught:
            read()
        assert (caught.value.row, caught.value.position) == (1, at)


def test_an_item_is_refused_before_its_value_and_a_value_before_the_next_item() -> None:
    with pytest.raises(exactk.InputTypeError, match="integer ids"):
        integer_rows({1: 1, "two": None, 3: None}, has_values=True)
    with pytest.raises(exactk.InputTypeError, match="numbers as grades"):
        integer_rows({1: 1, 2: None, "three": 1}, has_values=True)


@pytest.mark.parametrize("at", POSITIONS)
@pytest.mark.parametrize("text", ["", "naïve", "漢字", "\udc80", Text("text"), np.str_("array"), "nul\0", "long " * 20])
def test_a_string_of_another_kind(text: str, at: int) -> None:
    row = with_object(at, text, [f"item {i % 100}" for i in range(130)])
    _, keys = texts_of(row, tuple(row), ["item 3"])
    assert keys == [*row, *row, "item 3"]
    column = _core.encode_texts(_core.Vocabulary(False), row, as_bytes=False, argument="keys")
    assert column.tolist() == [list(dict.fromkeys(row)).index(key) for key in row]


@pytest.mark.parametrize("at", POSITIONS)
@pytest.mark.parametrize("replacement", [1, None, b"bytes", 2.5])
def test_an_object_that_is_no_string_is_located(replacement: Any, at: int) -> None:
    row = with_object(at, replacement, [f"item {i}" for i in range(130)])
    with pytest.raises(exactk.InputTypeError, match="strings as ids") as caught:
        texts_of(["a"], row)
    assert (caught.value.row, caught.value.position) == (1, at)


def test_bytes() -> None:
    row = [b"item %d" % (i % 90) for i in range(3000)]
    vocabulary = _core.Vocabulary(False)
    read = _core.text_rows(vocabulary, [row], True, None, "truth", "grades")
    assert read.items.tolist() == [i % 90 for i in range(3000)]
    with pytest.raises(exactk.InputTypeError, match="bytes as ids"):
        _core.text_rows(vocabulary, [[b"a", "b"]], True, None, "truth", "grades")


@pytest.mark.parametrize("at", [0, 63, 64, 100])
@pytest.mark.parametrize("container", [list, dict])
def test_f20_a_row_that_changes_behind_plain_objects(container: Any, at: int) -> None:
    """The objects before are read once, and none is read after it was freed."""
    plain = [2**40 + i for i in range(200)]
    rows: list[Any] = []
    objects = with_object(at, Clearing(rows), plain)
    rows.append(objects if container is list else dict.fromkeys(objects, 1))
    read = integer_rows(*rows, has_values=container is dict)
    assert read.items.tolist() == [*plain[:at], 7]
    assert read.values is None or len(read.values) == at + 1
