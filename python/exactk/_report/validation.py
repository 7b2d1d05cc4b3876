"""Validation of states from untrusted plain data, against the plan that they name."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from exactk._plan.metric_strings import plan
from exactk._plan.values import as_plan, is_in_unit_range, range_of
from exactk._report.sums import Label, Sums
from exactk._runtime.errors import ExactkError, input_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._plan.conventions import Convention
    from exactk._plan.metrics import CustomInfo
    from exactk._plan.values import Value

_TOLERANCE = 1e-9  # of what is computed from sums
_MAX_COUNT = 2**62
_MAX_HEX_DIGITS = 2048  # of an exact sum; those of the reference have fewer
_HEX = r"-?0x[0-9a-f]+"

_UNIT_SCALES = (80, 160, 80)  # for unweighted values in [0, 1]
_WIDE_SCALES = (1074, 1074, 80)  # for other values
_WEIGHED_SCALES = (1074, 1074, 1074)
_REFERENCE_SCALES = (4096, 4096, 4096)

_MAX_WEIGHT = 2**256
_MAX_VALUE = 2**320  # gains are up to 2^256, and a list has fewer than 2^62 items
_LEAST_LOGARITHM, _MOST_LOGARITHM = -12, 222  # of 1e-5, and of the largest value


@contextmanager
def plain_data(argument: str, expected: str) -> Iterator[None]:
    """Raise InputError for any error in reading the data."""
    try:
        yield
    except ExactkError as error:
        raise input_error(argument, expected, f"invalid data: {_in_brief(str(error))}") from error
    except RecursionError as error:
        raise input_error(argument, expected, "data nested too deeply") from error
    except UnicodeError as error:
        raise input_error(argument, expected, "bytes that are not UTF-8") from error
    except ValueError as error:  # of JSON, and of numbers beyond Python's limit
        raise input_error(argument, expected, f"invalid data: {_in_brief(str(error))}") from error


def _in_brief(text: str, most: int = 500) -> str:
    return text if len(text) <= most else text[:most] + "..."


def read_json(text: str | bytes, argument: str, expected: str) -> Any:  # noqa: ANN401 - what JSON holds
    """Return the JSON value; raise InputError if the text is not JSON."""
    with plain_data(argument, expected):
        return json.loads(text)


def fail(expected: str, found: object) -> ValueError:
    """Return the error for what was expected and, abbreviated, found."""
    try:
        text = repr(found)
    except ValueError:  # an integer of too many digits
        text = type(found).__name__
    return ValueError(f"expected {expected}, found {_in_brief(text, 100)}")


def checked_fields(data: object, names: Sequence[str], what: str, optional: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return the mapping if it has exactly these fields, and any of the optional ones."""
    if not isinstance(data, Mapping):
        raise fail(f"{what} to be a mapping", data)
    if set(data) - set(optional) != set(names):
        raise fail(f"{what} with {', '.join(names)}", list(data))
    return data


def checked_list(data: object, what: str, size: int | None = None) -> list[Any] | tuple[Any, ...]:
    if not isinstance(data, (list, tuple)):
        raise fail(f"{what} to be a list", data)
    if size is not None and len(data) != size:
        raise fail(f"{size} {what}", len(data))
    return data


def checked_integer(value: object, what: str, least: int = 0, most: int = _MAX_COUNT) -> int:
    if type(value) is not int or not least <= value <= most:
        raise fail(f"{what} to be an integer from {least} to {most}", value)
    return value


_DIGEST = r"0x[0-9a-f]{32}"


def checked_digest(data: object, what: str = "truth_digest") -> int | None:
    """Return a digest of 128 bits; None if there is none."""
    if data is None:
        return None
    if not isinstance(data, str) or not re.fullmatch(_DIGEST, data):
        raise fail(f"{what} to be 0x and 32 hexadecimal digits, or null", data)
    return int(data, 16)


def checked_metrics(
    names: object, spellings: object, convention: Convention, customs: Sequence[CustomInfo] = ()
) -> tuple[Value, ...]:
    """Return the plan of distinct values, from their canonical names and spellings."""
    names, spellings = tuple(checked_list(names, "metrics")), tuple(checked_list(spellings, "spellings"))
    by_name = {one.name: one for one in customs}
    if tuple(value.name for value in plan(names, convention, compares_lists=None, customs=by_name)) != names:
        raise fail("distinct canonical metric names", names)
    values = plan(spellings, convention, compares_lists=None, customs=by_name)
    if (tuple(value.name for value in values), tuple(value.spelling for value in values)) != (names, spellings):
        raise fail(f"spellings of {', '.join(names)}", spellings)
    return values


def checked_sums(data: object, values: Sequence[Value], users: int, *, weighted: bool) -> tuple[Sums, ...]:
    """Return the sums of all parts, after checking that this many users can have them."""
    parts = as_plan(values).distinct_parts
    rows = checked_list(data, "sums", len(parts))
    sums = tuple(_read_sums(row, users) for row in rows)
    is_of_reference = all(one.scales == _REFERENCE_SCALES for one in sums)
    for part, one in zip(parts, sums, strict=True):
        if not is_of_reference and one.scales != _scales_of_part(part, weighted=weighted):
            raise fail(f"scales {_scales_of_part(part, weighted=weighted)} of {part.name}", one.scales)
        _check_ranges(part, one, weighted=weighted)
    return sums


def check_computed(given: object, computed: Any, what: str) -> None:  # noqa: ANN401 - plain data
    """Raise ValueError if given data differ from those that were computed, in more than the last digits of numbers."""
    if isinstance(computed, dict) and isinstance(given, dict):
        for name in given.keys() & computed.keys():  # older reports lack some
            check_computed(given[name], computed[name], f"{what} of {name}")
    elif isinstance(computed, list) and isinstance(given, list) and len(given) == len(computed):
        for position, (one, other) in enumerate(zip(given, computed, strict=True)):
            check_computed(one, other, f"{what} at {position}")
    elif given != computed and not (
        type(given) is type(computed) is float and math.isclose(given, computed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    ):
        raise fail(f"{what} to be {computed!r}, as its sums say", given)


def _read_sums(row: object, users: int) -> Sums:
    cells = checked_list(row, "numbers of a sum", 8)
    evaluated = checked_integer(cells[0], "users of a sum", 0, users)
    undefined = checked_integer(cells[1], "undefined users of a sum", 0, evaluated)
    total, squares, weight = (read_hex(cell) for cell in cells[2::2])
    scales = [checked_integer(cell, "the scale of a sum", 0, _REFERENCE_SCALES[0]) for cell in cells[3::2]]
    return Sums(evaluated, undefined, total, scales[0], squares, scales[1], weight, scales[2])


def read_hex(text: object) -> int:
    if not isinstance(text, str) or len(text) > _MAX_HEX_DIGITS or not re.fullmatch(_HEX, text):
        raise fail(f"a hexadecimal integer of at most {_MAX_HEX_DIGITS} characters", text)
    return int(text, 16)


def _scales_of_part(part: Value, *, weighted: bool) -> tuple[int, int, int]:
    """Return the scales of the core's sums."""
    if weighted or part.rules["average"] == "micro":
        return _WEIGHED_SCALES
    has_unit_range = part.info.unit_range and part.rules["duplicate_items"] != "count"
    return _UNIT_SCALES if has_unit_range and part.rules["average"] == "macro" else _WIDE_SCALES


def _check_ranges(part: Value, sums: Sums, *, weighted: bool) -> None:
    """Raise if values in the metric's range cannot have these sums."""
    average = part.rules["average"]
    defined = sums.users - sums.undefined
    has_weights = weighted or average == "micro" or sums.scales == _REFERENCE_SCALES
    weight = sums.weight
    if not has_weights and weight:
        raise fail("no sum of weights without weights", weight)
    most_weight = defined * (_MAX_WEIGHT if weighted else 1)
    if average != "micro" and has_weights:
        is_exact = not weighted and weight != most_weight << sums.weight_scale
        if is_exact or not 0 <= weight <= most_weight << sums.weight_scale:
            raise fail(f"the weights of {defined} users of {part.name}", weight)
    if average == "micro":
        _check_micro(part, sums)
        return
    mass, scale = (weight, sums.weight_scale) if has_weights else (defined, 0)  # the weight of the values

    def check(name: str, number: int, number_scale: int, least: int, most: int) -> None:
        low, high = (mass * bound << number_scale for bound in (least, most))
        if not low <= number << scale <= high:
            raise fail(f"the sum of {name} of {part.name} over {defined} users from {least} to {most} each", number)

    if average == "geometric":
        check(
            "logarithms",
            sums.total,
            sums.total_scale,
            _LEAST_LOGARITHM,
            0 if is_in_unit_range(part) else _MOST_LOGARITHM,
        )
        check("squares", sums.squares, sums.squares_scale, 0, _MOST_LOGARITHM**2)
        return
    least, most = _whole_range(part)
    check("values", sums.total, sums.total_scale, least, most)
    check("squares", sums.squares, sums.squares_scale, 0, max(-least, most) ** 2)
    slack = 4 * sums.users if sums.scales == _WEIGHED_SCALES else 0  # products that underflow are rounded
    if is_in_unit_range(part) and sums.squares << sums.total_scale > (sums.total + slack) << sums.squares_scale:
        raise fail(f"squares of {part.name} no larger than its values", sums.squares)
    if sums.scales == _UNIT_SCALES and sums.total**2 > defined * sums.squares:
        raise fail(f"squares of {part.name} that match its mean", sums.squares)


def _whole_range(part: Value) -> tuple[int, int]:
    """Return whole numbers between which all users' values are."""
    low, high = range_of(part)
    return math.floor(max(low, -_MAX_VALUE)), math.ceil(min(high, _MAX_VALUE))


def _check_micro(part: Value, sums: Sums) -> None:
    bound = sums.users * _MAX_WEIGHT * _MAX_VALUE
    if sums.squares or sums.undefined:
        raise fail(f"no squares and no undefined values of {part.name}, which is a ratio of sums", sums.squares)
    least_value, most = _whole_range(part)
    least = -bound if least_value < 0 else 0
    for low, number, scale in ((least, sums.total, sums.total_scale), (0, sums.weight, sums.weight_scale)):
        if not low << scale <= number <= bound << scale:
            raise fail(f"non-negative sums of {part.name} that {sums.users} users can have", number)
    if sums.total << sums.weight_scale > sums.weight * most << sums.total_scale:
        raise fail(f"{part.name} up to {most}", "more")


def checked_groups(
    data: object, values: Sequence[Value], totals: Sequence[Sums], *, weighted: bool
) -> dict[Label, tuple[Sums, ...]] | None:
    """Return the sums of each group, which must add up to the totals."""
    if data is None:
        return None
    groups: dict[Label, tuple[Sums, ...]] = {}
    for pair in checked_list(data, "groups"):
        label, rows = checked_list(pair, "members of a group", 2)
        _check_label(label, groups)
        groups[label] = checked_sums(rows, values, _MAX_COUNT, weighted=weighted)
        for total, one in zip(totals, groups[label], strict=True):
            if one.scales != total.scales:
                raise fail("the same scales in all groups", one.scales)
    nobody = [Sums.over_nobody(total.scales) for total in totals]
    if list(map(Sums.over_groups, zip(nobody, *groups.values(), strict=True))) != list(totals):
        raise fail("groups that add up to the totals", "other sums")
    return groups


def checked_group_order(data: object, groups: Mapping[Label, object] | None) -> tuple[Label, ...] | None:
    """Return the order of the groups, which must have all of them."""
    if data is None:
        return None
    order: dict[Label, None] = {}
    for label in checked_list(data, "group_order"):
        _check_label(label, order)
        order[label] = None
    if groups is None or not groups.keys() <= order.keys():
        raise fail("an order of all groups", data)
    return tuple(order)


def _check_label(label: object, others: Mapping[Label, object]) -> None:
    """Raise ValueError if the label is invalid, or does not go with the others."""
    if type(label) not in (str, int) or (isinstance(label, int) and not -(2**63) <= label < 2**64):
        raise fail("group labels to be strings or 64-bit integers", label)
    if label in others or type(label) is not type(next(iter(others), label)):
        raise fail("distinct group labels of one type", label)
