"""How unequal a value is between groups."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from exactk._report.comparison_options import check_choice
from exactk._runtime.errors import input_error, warn
from exactk._runtime.faults import Option, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from exactk._report.sums import Label

DisparityMeasure: TypeAlias = Literal["range", "ratio", "mad", "cv"]


def disparity_of_groups(values: Mapping[Label, float], how: str, metric: str) -> float:
    """Return the disparity of the groups that have a value, each of which counts once; NaN for fewer than two.

    Warn of groups that have none. The values are used exactly, so that their order does not matter.
    """
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
    return float(Fraction(total) / (count * (count - 1) // 2))


def _coefficient_of_variation(ascending: Sequence[Fraction]) -> float:
    """Return the population standard deviation, divided by the mean; the values are not negative."""
    if not ascending[-1]:
        return 0.0
    mean = sum(ascending, Fraction(0)) / len(ascending)
    variance = sum((value**2 for value in ascending), Fraction(0)) / len(ascending) - mean**2
    return math.sqrt(variance / mean**2)


_MEASURES: dict[str, Callable[[Sequence[Fraction]], float]] = {
    "range": _difference_of_extremes,
    "ratio": _ratio_of_extremes,
    "mad": _mean_absolute_difference,
    "cv": _coefficient_of_variation,
}

_OF_RATIO_SCALES = ("ratio", "cv")  # which divide by values
