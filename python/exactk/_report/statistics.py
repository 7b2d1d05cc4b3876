"""The values that exact sums and tallies have: means and deviations, numbers of the catalogue and of groups of items."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from numbers import Real
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from exactk._plan.conventions import base_of, confirms_undefined, override_name
from exactk._plan.fields import discounts
from exactk._plan.values import LEAST_OF_GEOMETRIC, range_of, reads_item_values
from exactk._report.state import plan_of_state
from exactk._runtime.errors import input_error, type_error, warn
from exactk._runtime.faults import Option, plural
from exactk._runtime.texts import as_double

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from exactk._inference.intervals import MeanInterval
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Value
    from exactk._report.paired_sums import PairedSums
    from exactk._report.state import State
    from exactk._report.sums import Label, PartColumns, Sums
    from exactk._report.tallies import GroupTally, Integers, ItemTally


_DECIMAL_DIGITS = Context(prec=60)
_MOST_BINS = 1 << 20  # to count without sorting
_SCALE = 384  # bits of the inverse root of a length; sums of squares are below 2^124


def collection_value(
    metric: str,
    tally: ItemTally,
    column: int,
    catalogue_size: int,
    rules: Mapping[str, Any],
    relevant: ItemTally | None = None,
) -> float | None:
    """Return the value of a metric at one of the tally's cutoffs; None if it is 0 / 0.

    Over no lists at all, a value is NaN.
    """
    if not tally.lists:
        return math.nan
    if relevant is not None:
        return _mean_recall(tally.counts_of(relevant.keys, column), relevant.counts[:, 0])
    return _VALUES[metric](tally, column, catalogue_size, rules)


def _quotient(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None  # Python rounds the quotient of integers once


def _distinct_counts(counts: Integers) -> list[tuple[int, int]]:
    """Return each count above 0, ascending, and how many items have it."""
    if counts.size and counts.max() <= _MOST_BINS:
        items = np.bincount(counts)
        distinct = np.flatnonzero(items[1:]) + 1
        return list(zip(distinct.tolist(), items[distinct].tolist(), strict=True))
    distinct, items = np.unique(counts[counts > 0], return_counts=True)
    return list(zip(distinct.tolist(), items.tolist(), strict=True))


def _sum_of_squares(counts: Integers) -> int:
    return sum(items * count**2 for count, items in _distinct_counts(counts))


def _num_items(tally: ItemTally, column: int) -> int:
    return int(np.count_nonzero(tally.counts[:, column]))


def _coverage(tally: ItemTally, column: int, catalogue_size: int, _rules: Mapping[str, Any]) -> float | None:
    """Return the share of the items that are recommended."""
    return _quotient(_num_items(tally, column), catalogue_size)


def _mean_recall(hits: Integers, relevant: Integers) -> float | None:
    """Return the mean of hits / relevant: the items that are relevant to equally many users are summed exactly."""
    numbers, which = np.unique(relevant, return_inverse=True)
    sums = np.zeros(len(numbers), np.int64)
    np.add.at(sums, which.ravel(), hits)
    total = Decimal(0)
    for number, of_equal in zip(numbers.tolist(), sums.tolist(), strict=True):
        total = _DECIMAL_DIGITS.add(total, _DECIMAL_DIGITS.divide(Decimal(of_equal), Decimal(number)))
    return float(_DECIMAL_DIGITS.divide(total, Decimal(len(relevant)))) if len(relevant) else None


def _item_count(tally: ItemTally, column: int, _size: int, _rules: Mapping[str, Any]) -> float | None:
    """Return the number of items that are recommended."""
    return float(_num_items(tally, column))


def _gini(tally: ItemTally, column: int, catalogue_size: int, rules: Mapping[str, Any]) -> float | None:
    """Return the sum of (2 j - n - 1) c_j over n T, for counts that ascend with j.

    Counts of 0 add nothing. Equal counts c at j = a + 1, ..., a + m add m (2 a + m - n) c.
    """
    return _gini_of(_distinct_counts(tally.counts[:, column]), catalogue_size, rules)


def _exposure_gini(tally: ItemTally, column: int, catalogue_size: int, rules: Mapping[str, Any]) -> float | None:
    """Return the Gini index of the items' sums of discounts: the columns up to this one are the ranks from 1."""
    of_ranks = np.diff(tally.counts[:, : column + 1], axis=1, prepend=0)
    exposures = Counter(_sums_of_discounts(of_ranks, rules))
    return _gini_of(sorted((one, items) for one, items in exposures.items() if one), catalogue_size, rules)


def _gini_of(distinct: Sequence[tuple[int, int]], catalogue_size: int, rules: Mapping[str, Any]) -> float | None:
    """Return the Gini index of whole numbers above 0, ascending, and how many items have each; the others have 0."""
    with_number = sum(equal for _, equal in distinct)
    items = with_number if rules["gini_items"] == "recommended" else catalogue_size
    numerator, below = 0, items - with_number
    for number, equal in distinct:
        numerator += number * equal * (2 * below + equal - items)
        below += equal
    divisor = items if rules["gini_over"] == "items" else items - 1
    return _quotient(numerator, divisor * sum(number * equal for number, equal in distinct))


def _entropy(tally: ItemTally, column: int, catalogue_size: int, rules: Mapping[str, Any]) -> float | None:
    """Return log T - (sum of c log c) / T, over what the convention says."""
    total = tally.entries(column)
    if total == 0:
        return None
    sums = _DECIMAL_DIGITS.multiply(Decimal(total), _ln(total))
    for count, items in _distinct_counts(tally.counts[:, column]):
        sums = _DECIMAL_DIGITS.subtract(sums, _DECIMAL_DIGITS.multiply(Decimal(count * items), _ln(count)))
    over, base = rules["entropy_over"], _ln(2) if rules["entropy_base"] == "2" else Decimal(1)
    divisor = {
        "one": base,
        "log_items": _ln(max(catalogue_size, 1)),  # the base cancels
        "distinct_items": _DECIMAL_DIGITS.multiply(base, Decimal(_num_items(tally, column))),
    }[over]
    divisor = _DECIMAL_DIGITS.multiply(divisor, Decimal(total))
    return float(_DECIMAL_DIGITS.divide(sums, divisor)) if divisor else None


def _ln(number: int) -> Decimal:
    return Decimal(number).ln(_DECIMAL_DIGITS)


def _personalization(tally: ItemTally, column: int, _size: int, rules: Mapping[str, Any]) -> float | None:
    """Return 1 - the mean similarity of two lists that have items."""
    lists = sum(number for length, number in tally.list_lengths[column].tolist() if length)
    if lists <= 1:
        return None
    if rules["list_similarity"] == "overlap":
        # An item of c lists is in c (c - 1) / 2 pairs of them; (n_u + n_v) / 2 sums to (lists - 1) T / 2.
        total = tally.entries(column)
        return _quotient(lists * total - _sum_of_squares(tally.counts[:, column]), (lists - 1) * total)
    return float((lists**2 - _squared_norm(tally, column)) / (lists * (lists - 1)))


def _squared_norm(tally: ItemTally, column: int) -> Fraction:
    """Return the squared length of the sum of all lists as unit vectors: the sum over items of (sum of c_l / sqrt(l))^2.

    The squares c_l^2 / l are exact, so that lists without items in common, and equal lists, have exactly their value.
    """
    assert tally.short_lists is not None  # noqa: S101 - for the type checker
    rows, full_length = tally.short_lists[column], tally.cutoffs[column]
    full = tally.counts[:, column].copy()
    np.subtract.at(full, rows[:, 0], rows[:, 2])
    squares = dict.fromkeys(set(rows[:, 1].tolist()), 0)
    squares.update({} if full_length is None else {full_length: _sum_of_squares(full)})
    products = 0  # of different lengths of an item, times 2 to the power of 2 _SCALE
    for item, of_item in groupby(rows.tolist(), key=itemgetter(0)):
        total = of_one_length = 0
        if full_length is not None:
            total = int(full[item]) * _inverse_root(full_length)
            of_one_length = total**2
        for _, length, number in of_item:
            squares[length] += number**2
            part = number * _inverse_root(length)
            total += part
            of_one_length += part**2
        products += total**2 - of_one_length
    return sum((Fraction(square, length) for length, square in squares.items()), Fraction(products, 1 << 2 * _SCALE))


@lru_cache(maxsize=1 << 12)
def _inverse_root(length: int) -> int:
    """Return 2^_SCALE / sqrt(length), rounded down."""
    return math.isqrt((1 << 2 * _SCALE) // length)


_VALUES: dict[str, Callable[[ItemTally, int, int, Mapping[str, Any]], float | None]] = {
    "coverage": _coverage,
    "num_items": _item_count,
    "gini": _gini,
    "exposure_gini": _exposure_gini,
    "entropy": _entropy,
    "personalization": _personalization,
}


_GROUP_DIGITS = Context(prec=100)


def _numbers_of_groups(value: Value, tally: GroupTally) -> list[Fraction | None]:
    """Return the exact number of each group; None if it is 0 / 0."""
    if tally.possible is not None:
        counts = zip(tally.counts[:, : value.cutoff].sum(axis=1).tolist(), tally.possible.tolist(), strict=True)
        return [Fraction(count, possible) if possible else None for count, possible in counts]
    exposures = _sums_of_discounts(tally.counts[:, : value.cutoff], value.rules)
    total = sum(exposures)
    return [Fraction(one, total) if total else None for one in exposures]


def _sums_of_discounts(counts: Integers, rules: Mapping[str, Any]) -> list[int]:
    """Return the sum of the discounts of each row's ranks, rounded as in DCG, times a power of two that makes it whole."""
    ratios = [one.as_integer_ratio() for one in discounts(rules, counts.shape[1])]
    scale = max((divisor for _, divisor in ratios), default=1)
    weights = [number * (scale // divisor) for number, divisor in ratios]
    return [sum(count * weight for count, weight in zip(row, weights, strict=True) if count) for row in counts.tolist()]


def _relative_deviation(numbers: Sequence[Fraction]) -> float:
    """Return the population standard deviation over the mean. Equal numbers have exactly 0."""
    if min(numbers) == max(numbers):
        return 0.0
    rounded = [_GROUP_DIGITS.divide(Decimal(one.numerator), Decimal(one.denominator)) for one in numbers]
    mean = _GROUP_DIGITS.divide(_sum(rounded), Decimal(len(rounded)))
    deviations = [_GROUP_DIGITS.subtract(one, mean) for one in rounded]
    squares = _sum([_GROUP_DIGITS.multiply(one, one) for one in deviations])
    variance = _GROUP_DIGITS.divide(squares, Decimal(len(rounded)))
    return float(_GROUP_DIGITS.divide(_GROUP_DIGITS.sqrt(variance), mean))


def _sum(numbers: Sequence[Decimal]) -> Decimal:
    total = Decimal(0)
    for number in numbers:
        total = _GROUP_DIGITS.add(total, number)
    return total


Ratio = tuple[int, int]

_DIGITS = Context(prec=40)  # libm's exponential differs by an ulp between platforms


def value_of_sums(value: Value, sums: Sequence[Sums], *, weighted: bool) -> float:
    """Return the value for the sums of its parts, rounded by its rules."""
    if value.is_plain_mean and not weighted:  # as most are, without the steps for others
        (one,) = sums
        return one.total / (one.users << one.total_scale) if one.users and not one.undefined else math.nan
    number, decimals = _unrounded_value(value, sums, weighted=weighted), value.rules["decimals"]
    return number if decimals is None else _round_to_decimals(number, decimals)


def value_of_tally(
    value: Value, tally: ItemTally, column: int, catalogue_size: int, relevant: ItemTally | None = None
) -> float:
    """Return a value of all lists together, at the cutoff in a column of their tally, rounded by its rules.

    A value of hits needs the tally of the relevant items too.
    """
    return _rounded_value(value, collection_value(value.metric, tally, column, catalogue_size, value.rules, relevant))


def value_of_group_tally(value: Value, tally: GroupTally) -> float:
    """Return the standard deviation of the groups' numbers over their mean, rounded by the rules of the value.

    Over no lists at all, it is NaN.
    """
    if not tally.lists:
        return math.nan
    defined = [number for number in _numbers_of_groups(value, tally) if number is not None]
    is_defined = len(defined) > 1 and any(defined)
    return _rounded_value(value, _relative_deviation(defined) if is_defined else None)


def numbers_of_item_groups(value: Value, tally: GroupTally) -> list[float]:
    """Return what a value has of each group, rounded by its rules; NaN for a group without a number."""
    numbers = _numbers_of_groups(value, tally)
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


def interval_of_sums(
    value: Value, sums: Sequence[Sums], confidence: float, of_users: Callable[[], PairedSums] | None, *, weighted: bool
) -> MeanInterval:
    """Return the confidence interval of a value over all users.

    Ratios of sums, of which means with weights are some, need the sums of products, of the users' numbers: raise
    InputError if there are none.
    """
    from exactk._inference.intervals import MeanInterval, mean_interval
    from exactk._inference.significance import exp

    average = value.rules["average"]
    if not sums:
        expected = "a mean of the users' values"
        raise input_error("metric", expected, f"{value.spelling}, which all lists together have")
    found = f"{value.spelling} with weights" if weighted else f"{value.spelling}, whose average is {average}"
    if average == "of_means":
        expected = "a mean of the users' values, or a ratio of sums"
        raise input_error("metric", expected, found, hint="the differences of exactk.compare have intervals of it")
    is_ratio = weighted or average == "micro"
    if is_ratio and of_users is None:
        hint = (Option("per_user", True), " keeps the users' numbers, which its interval needs")  # noqa: FBT003 - the value of the option
        raise input_error("metric", "a mean of the users' values with equal weights", found, hint=hint)
    part, limits = sums[0], range_of(value)
    sample = None
    if part.users and not part.undefined:
        sample = _sample_of_users(value, of_users(), weighted=weighted) if is_ratio and of_users else _sample(part)
    if sample is None:
        return MeanInterval(limits=limits)
    mean, variance, units, size = sample
    if average != "geometric":
        return mean_interval(mean, variance, units, confidence, limits, size)
    low, high = (max(LEAST_OF_GEOMETRIC, limit) for limit in limits)
    interval = mean_interval(mean, variance, units, confidence, (math.log(low), math.log(high)), size)
    number = _unrounded_value(value, sums, weighted=weighted)  # exponentials of libm may be on its other side by an ulp
    bounds = min(number, max(low, exp(interval.low))), max(number, min(high, exp(interval.high)))
    return MeanInterval(*bounds, method=interval.method, limits=(low, high))


_Sample: TypeAlias = tuple[Fraction, Fraction, int, float]  # a mean, the variance of values, units, and their size


def _sample(part: Sums) -> _Sample:
    """Return what the sums say of users with equal weights."""
    mean, square = (
        Fraction(total, part.users << scale)
        for total, scale in ((part.total, part.total_scale), (part.squares, part.squares_scale))
    )
    return mean, square - mean**2, part.users, part.users


def _sample_of_users(value: Value, sums: PairedSums, *, weighted: bool) -> _Sample | None:
    """Return what the sums of a pair of a system with itself say of its ratio of sums; None if that is 0/0."""
    from exactk._report.paired_sums import estimate_of

    found = estimate_of(value, sums, weighted=weighted)
    if found is None:
        return None
    square = Fraction(found.covariances.variance, found.covariances.divisor)  # of the standard error
    return found.value, square * Fraction(found.size) * Fraction(found.units - 1, found.units), found.units, found.size


def quantile_of(numbers: NDArray[np.float64], q: object) -> float:
    """Return the quantile by linear interpolation of the numbers that are not NaN, correctly rounded."""
    if isinstance(q, bool) or not isinstance(q, Real):
        raise type_error("q", "a number such as 0.5", repr(q))
    share = as_double(q)
    if not 0 <= share <= 1:
        hint = (Option("q", share / 100), f" is {share:g} %") if 1 < share <= 100 else ""
        raise input_error("q", "a share of the users, from 0 to 1", repr(q), hint=hint)
    given = numbers[~np.isnan(numbers)]
    if not len(given):
        return math.nan
    position = Fraction(share) * (len(given) - 1)
    rank = math.floor(position)
    above = min(rank + 1, len(given) - 1)
    low, high = (Fraction(float(one)) for one in np.partition(given, (rank, above))[[rank, above]])
    return float(low + (position - rank) * (high - low))


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
    from fractions import Fraction

    beta = 1.0 if value.info.parameter is None else value.parameter
    a = 1 / (1 + Fraction(beta) ** 2) if math.isfinite(beta) else Fraction(0)
    hits = precision[0] * recall[0]
    divisor = (a.denominator - a.numerator) * precision[0] * recall[1] + a.numerator * recall[0] * precision[1]
    return a.denominator * hits, divisor


def undefined_case(value: Value) -> str:
    """Return when the value of a user is 0 / 0, in parentheses after a blank; empty if the metric does not say."""
    case = "no relevant item has a value above 0" if reads_item_values(value) else value.info.undefined_case
    return f" ({case})" if case else ""


def undefined_values(state: State) -> Iterator[tuple[Value, int]]:
    """Yield the values that are 0 / 0 for users who have a list, each with the number of these users."""
    for value, users in zip(plan_of_state(state), state.counts.undefined or (), strict=False):
        if users and value.rules["average"] != "micro":
            yield value, users


def describe_undefined(state: State) -> str:
    """Return a warning if 0 / 0 counts as 0 and nobody chose that; empty if it does not."""
    values = [
        (value, users) for value, users in undefined_values(state) if _is_zero_by_default(value, state.convention)
    ]
    if not values:
        return ""
    value, users = values[0]
    of_users = f"{users} of {plural(state.counts.users, 'user')}"
    message = f"{value.spelling} is 0 / 0 for {of_users}{undefined_case(value)} and counts as 0"
    message += f"; {_with_skip(value)!r} leaves them out"
    return message if len(values) == 1 else f"{message} (the first of {len(values)} such values)"


def _with_skip(value: Value) -> str:
    """Return the metric string that leaves the users out."""
    spelling = value.spelling.removesuffix("()")
    return f"{spelling[:-1]},undefined=skip)" if spelling.endswith(")") else f"{spelling}(undefined=skip)"


def _is_zero_by_default(value: Value, convention: Convention) -> bool:
    """Return whether 0 / 0 is 0 by no choice of the caller, nor of a library whose preset is in use.

    Users without an item in train whom that makes the best are another warning's.
    """
    preset = base_of(convention)
    is_of_library = preset is not None and preset.name not in {"standard", "capped"}
    is_best = value.info.direction == "lower" and value.needs.history
    return value.rules["undefined"] == "zero" and not (is_of_library or is_best or is_undefined_set(value, convention))


def is_undefined_set(value: Value, convention: Convention) -> bool:
    """Return whether the caller says what 0 / 0 is: in the metric's string, for the metric, or in the convention."""
    names = {value.metric, override_name(value.metric, value.cutoff)}
    return (
        "undefined" in value.spelling.casefold()
        or any("undefined" in convention.overrides.get(name, {}) for name in names)
        or confirms_undefined(convention)
    )


DisparityMeasure: TypeAlias = Literal["range", "ratio", "mad", "cv"]


def disparity_of_groups(values: Mapping[Label, float], how: str, metric: str) -> float:
    """Return the disparity of the groups that have a value, each of which counts once; NaN for fewer than two.

    Warn of groups that have none. The values are used exactly, so that their order does not matter.
    """
    from fractions import Fraction

    from exactk._report.comparison_options import check_choice

    check_choice("how", how, get_args(DisparityMeasure))
    numbers = {label: Fraction(value) for label, value in values.items() if not math.isnan(value)}
    _warn_of_missing_values([label for label in values if label not in numbers], len(numbers), metric)
    if len(numbers) < 2:
        return math.nan
    smallest = min(numbers, key=numbers.__getitem__)
    if how in _OF_RATIO_SCALES and numbers[smallest] < 0:
        found, hint = f"{float(numbers[smallest])!r} in group {smallest!r}", Option("how", "range")
        raise input_error("metric", f"no negative value in any group for how={how!r}", found, hint=hint)
    return _MEASURES[how](sorted(numbers.values()))


def _warn_of_missing_values(lacking: Sequence[Label], present: int, metric: str) -> None:
    texts = []
    if lacking:
        has, is_ = ("has", "is") if len(lacking) == 1 else ("have", "are")
        groups = plural(len(lacking) + present, "group")
        texts.append(
            f"{len(lacking)} of {groups} {has} no value of {metric} and {is_} left out, such as {lacking[0]!r}"
        )
    if present < 2:
        texts.append(f"{'only one' if present else 'no'} group has a value of {metric}: the disparity is NaN")
    if texts:
        warn("; ".join(texts))


def _difference_of_extremes(ascending: Sequence[Fraction]) -> float:
    return float(ascending[-1] - ascending[0])


def _ratio_of_extremes(ascending: Sequence[Fraction]) -> float:
    return float(ascending[0] / ascending[-1]) if ascending[-1] else 1.0


def _mean_absolute_difference(ascending: Sequence[Fraction]) -> float:
    """Return the mean over all pairs: value i is added i times, and subtracted once for each value after it."""
    count = len(ascending)
    total = sum((2 * i + 1 - count) * value for i, value in enumerate(ascending))
    return float(total / (count * (count - 1) // 2))


def _coefficient_of_variation(ascending: Sequence[Fraction]) -> float:
    """Return the population standard deviation, divided by the mean; the values are not negative."""
    if not ascending[-1]:
        return 0.0
    mean = sum(ascending) / len(ascending)
    variance = sum(value**2 for value in ascending) / len(ascending) - mean**2
    return math.sqrt(variance / mean**2)


_MEASURES: dict[str, Callable[[Sequence[Fraction]], float]] = {
    "range": _difference_of_extremes,
    "ratio": _ratio_of_extremes,
    "mad": _mean_absolute_difference,
    "cv": _coefficient_of_variation,
}

_OF_RATIO_SCALES = ("ratio", "cv")  # which divide by values
