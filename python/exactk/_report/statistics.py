"""From exact sums to reported numbers."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from exactk._inference.intervals import MeanInterval, mean_interval
from exactk._inference.significance import exp
from exactk._plan.values import range_of
from exactk._report.collection import collection_value
from exactk._report.group_values import numbers_of_groups, value_of_groups
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._plan.values import Value
    from exactk._report.group_tally import GroupTally
    from exactk._report.item_tally import ItemTally
    from exactk._report.sum_table import PartColumns
    from exactk._report.sums import Sums

Ratio = tuple[int, int]

_LEAST_FACTOR = 1e-5  # of a geometric mean
_DIGITS = Context(prec=40)  # libm's exponential differs by an ulp between platforms


def value_of_sums(value: Value, sums: Sequence[Sums], *, weighted: bool) -> float:
    """Return the value for the sums of its parts, rounded by its rules."""
    if value.is_plain_mean and not weighted:  # as most are, without the steps for others
        (one,) = sums
        return one.total / (one.users << one.total_scale) if one.users and not one.undefined else math.nan
    number, decimals = _unrounded_value(value, sums, weighted=weighted), value.rules["decimals"]
    return number if decimals is None else _round_to_decimals(number, decimals)


def value_of_tally(value: Value, tally: ItemTally, column: int, catalogue_size: int) -> float:
    """Return a value of all lists together, at the cutoff in a column of their tally, rounded by its rules."""
    return _rounded_value(value, collection_value(value.metric, tally, column, catalogue_size, value.rules))


def value_of_group_tally(value: Value, tally: GroupTally) -> float:
    """Return a value of groups of items, rounded by its rules."""
    return _rounded_value(value, value_of_groups(value, tally))


def numbers_of_item_groups(value: Value, tally: GroupTally) -> list[float]:
    """Return what a value has of each group, rounded by its rules; NaN for a group without a number."""
    numbers = numbers_of_groups(value, tally)
    return [math.nan if number is None else _rounded_value(value, float(number)) for number in numbers]


def _rounded_value(value: Value, number: float | None) -> float:
    """Return the number of a value, None for 0 / 0, rounded by its rules."""
    if number is None:
        return _zero_by_zero(value)
    decimals = value.rules["decimals"]
    return number if decimals is None else _round_to_decimals(number, decimals)


def _zero_by_zero(value: Value) -> float:
    """Return what 0 / 0 is for a value."""
    return {"zero": 0.0, "one": 1.0}.get(value.rules["undefined"], math.nan)


def _round_to_decimals(number: float, decimals: int) -> float:
    """Return the number rounded as NumPy, and so RecBole, rounds it: 0.05 becomes 0.0, where Python's round gives 0.1."""
    scale = float(10**decimals)
    scaled = number * scale
    return round(scaled) / scale if abs(scaled) < 2**53 else number  # beyond are whole numbers, infinity and NaN


def _unrounded_value(value: Value, sums: Sequence[Sums], *, weighted: bool) -> float:
    """Return the value, correctly rounded to a double."""
    averages = [_mean(part, one, weighted=weighted) for part, one in zip(value.parts, sums, strict=True)]
    defined = [average for average in averages if average is not None]
    if len(defined) < len(averages):
        return math.nan
    numerator, denominator = _f_of_means(value, *defined) if value.rules["average"] == "of_means" else defined[0]
    if denominator == 0:
        return _zero_by_zero(value)
    if value.rules["average"] == "geometric":
        return float(_DIGITS.divide(Decimal(numerator), Decimal(denominator)).exp(_DIGITS))
    return numerator / denominator  # Python rounds the quotient of integers once


def values_of_groups(value: Value, columns: Sequence[PartColumns], *, weighted: bool) -> list[float]:
    """Return the value of each group, as `value_of_sums` returns it for one."""
    average = value.rules["average"]
    if len(columns) > 1 or average == "geometric" or value.rules["decimals"] is not None:
        groups = zip(*(part.sums() for part in columns), strict=True)
        return [value_of_sums(value, sums, weighted=weighted) for sums in groups]
    (part,) = columns
    if average == "macro" and not weighted and (means := part.means()) is not None:
        numbers: list[float] = means.tolist()
        return numbers
    divisors, scale = _divisors(value, part, weighted=weighted)
    scale_of_total = part.scales[0]
    up, down = max(0, scale - scale_of_total), max(0, scale_of_total - scale)
    zero_by_zero = _zero_by_zero(value) if average == "micro" else math.nan
    rows = zip(part.users.integers(), part.undefined.integers(), part.total.integers(), divisors, strict=True)
    return [
        math.nan if undefined or not users else (total << up) / (divisor << down) if divisor else zero_by_zero
        for users, undefined, total, divisor in rows
    ]


def standard_deviation(value: Value, sums: Sequence[Sums], *, weighted: bool) -> float:
    """Return the population standard deviation of the users' values; NaN unless they are averaged arithmetically."""
    if not sums:  # of all lists together
        return math.nan
    part = sums[0]
    divisor, scale = _divisor(value, part, weighted=weighted)
    if value.rules["average"] != "macro" or divisor == 0 or part.undefined:
        return math.nan
    return _root_of_variance(part.total, part.squares, divisor, (part.total_scale, part.squares_scale, scale))


def deviations_of_groups(value: Value, columns: Sequence[PartColumns], *, weighted: bool) -> list[float]:
    """Return the standard deviation of each group, as `standard_deviation` returns it for one."""
    part = columns[0]
    divisors, scale = _divisors(value, part, weighted=weighted)
    if value.rules["average"] != "macro":
        return [math.nan] * len(divisors)
    scales = (*part.scales[:2], scale)
    rows = zip(part.undefined.integers(), part.total.integers(), part.squares.integers(), divisors, strict=True)
    return [
        _root_of_variance(total, squares, divisor, scales) if divisor and not undefined else math.nan
        for undefined, total, squares, divisor in rows
    ]


def _root_of_variance(total: int, squares: int, weight: int, scales: tuple[int, int, int]) -> float:
    """Return the root of squares / weight - (total / weight)^2, each of which is to be divided by 2^scale."""
    a, b, c = scales
    shifts = (2 * a + c, b + 2 * c, b + 2 * a)  # to the fractions' common denominator
    of_squares, of_total, of_weight = (shift - min(shifts) for shift in shifts)
    variance = (squares * weight << of_squares) - (total**2 << of_total)
    return math.sqrt(max(variance, 0) / (weight**2 << of_weight))  # exact, except for products that underflow


def interval_of_sums(value: Value, sums: Sequence[Sums], confidence: float, *, weighted: bool) -> MeanInterval:
    """Return the confidence interval of a value over all users; raise InputError unless sums of squares determine it."""
    average = value.rules["average"]
    if not sums:
        expected = "a mean of the users' values"
        raise input_error("metric", expected, f"{value.spelling}, which all lists together have")
    if weighted or average not in {"macro", "geometric"}:
        expected = "a mean of the users' values with equal weights"
        found = f"{value.spelling} with weights" if weighted else f"{value.spelling}, whose average is {average}"
        raise input_error("metric", expected, found, hint="the differences of exactk.compare have intervals of it")
    part, limits = sums[0], range_of(value)
    if not part.users or part.undefined:
        return MeanInterval(limits=limits)
    mean, square = (
        Fraction(total, part.users << scale)
        for total, scale in ((part.total, part.total_scale), (part.squares, part.squares_scale))
    )
    if average == "macro":
        return mean_interval(mean, square - mean**2, part.users, confidence, limits)
    low, high = (max(_LEAST_FACTOR, limit) for limit in limits)
    interval = mean_interval(mean, square - mean**2, part.users, confidence, (math.log(low), math.log(high)))
    number = _unrounded_value(value, sums, weighted=False)  # exponentials of libm may be on its other side by an ulp
    bounds = min(number, max(low, exp(interval.low))), max(number, min(high, exp(interval.high)))
    return MeanInterval(*bounds, method=interval.method, limits=(low, high))


def evaluated_users(sums: Sequence[Sums]) -> int:
    """Return the number of users evaluated for a value; for parts that skip different users, the minimum."""
    return min(one.users for one in sums)


def evaluated_by_group(columns: Sequence[PartColumns]) -> list[int]:
    """Return the number of users evaluated for a value in each group, as `evaluated_users` returns it for one."""
    return [min(users) for users in zip(*(part.users.integers() for part in columns), strict=True)]


def _mean(value: Value, sums: Sums, *, weighted: bool) -> Ratio | None:
    """Return the mean of the summed values (macro, geometric) or the ratio of the sums (micro), exactly; None if it is NaN."""
    divisor, scale = _divisor(value, sums, weighted=weighted)
    weightless = divisor == 0 and value.rules["average"] != "micro"  # no user, or every weight is 0
    if sums.users == 0 or sums.undefined or weightless:
        return None
    return sums.total << scale, divisor << sums.total_scale


def _divisor(value: Value, sums: Sums, *, weighted: bool) -> tuple[int, int]:
    """Return the divisor of the total, as an integer and its scale."""
    if weighted or value.rules["average"] == "micro":
        return sums.weight, sums.weight_scale
    return sums.users, 0


def _divisors(value: Value, part: PartColumns, *, weighted: bool) -> tuple[list[int], int]:
    """Return the divisors of the totals of groups, as integers, and their scale."""
    if weighted or value.rules["average"] == "micro":
        return part.weight.integers(), part.scales[2]
    return part.users.integers(), 0


def _f_of_means(value: Value, precision: Ratio, recall: Ratio) -> Ratio:
    """Return P R / ((1 - a) P + a R) with a = 1 / (1 + beta^2), which is P for beta = 0 and R for beta = inf."""
    beta = 1.0 if value.info.parameter is None else value.parameter
    a = 1 / (1 + Fraction(beta) ** 2) if math.isfinite(beta) else Fraction(0)
    hits = precision[0] * recall[0]
    divisor = (a.denominator - a.numerator) * precision[0] * recall[1] + a.numerator * recall[0] * precision[1]
    return a.denominator * hits, divisor
