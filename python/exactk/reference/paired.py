"""The definition of the sums over pairs of systems, in fractions."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.pairs import PairedEngine
from exactk._inference.estimates import Moments
from exactk._report.paired_sums import PairedSums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._engine.pairs import PairedProblem, PairedValue

_SCALE = 2200  # a product of two doubles is a multiple of 2^-2148
_DIGITS = Context(prec=50)
_LEAST_VALUE = 1e-5  # floor in a geometric mean


def _reference_paired_sums(problem: PairedProblem) -> list[list[list[PairedSums]]]:
    return [
        [[_paired_sums(problem, value, pair, group) for value in problem.values] for pair in problem.pairs]
        for group in range(problem.group_count)
    ]


def _paired_sums(problem: PairedProblem, value: PairedValue, pair: tuple[int, int], group: int) -> PairedSums:
    system, baseline = (problem.tables[index] for index in pair)
    users = only_system = only_baseline = greater = less = 0
    units: dict[int, list[Fraction]] = {}
    for user in range(system.shape[1]):
        if problem.groups is not None and problem.groups[user] != group:
            continue
        weight = 1.0 if problem.weights is None else float(problem.weights[user])
        if weight == 0:
            continue
        numbers, others = ([float(table[row, user]) for row in value.rows] for table in (system, baseline))
        has_system, has_baseline = (not any(map(math.isnan, one)) for one in (numbers, others))
        only_system += has_system and not has_baseline
        only_baseline += has_baseline and not has_system
        if not (has_system and has_baseline) or (value.is_ratio and not any((*numbers, *others))):
            continue
        users += 1
        if value.shown >= 0:
            greater += bool(system[value.shown, user] > baseline[value.shown, user])
            less += bool(system[value.shown, user] < baseline[value.shown, user])
        if value.is_geometric:
            numbers, others = ([_logarithm(number) for number in one] for one in (numbers, others))
        columns = [Fraction(weight * number) for number in (*numbers, *others, 1.0)]
        unit = user if problem.clusters is None else int(problem.clusters[user])
        units[unit] = [a + b for a, b in zip(units.get(unit, [Fraction(0)] * len(columns)), columns, strict=True)]
    rows = [[Fraction(float(cell)) for cell in row] for row in units.values()]  # rounded once
    return PairedSums(users, only_system, only_baseline, greater, less, _moments(rows, 2 * len(value.rows) + 1))


def _logarithm(number: float) -> float:
    return float(Decimal(max(number, _LEAST_VALUE)).ln(_DIGITS))


def _logarithms(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([math.nan if math.isnan(number) else _logarithm(number) for number in numbers.tolist()])


reference_paired_engine = PairedEngine(_reference_paired_sums, _logarithms)
"""Sums and logarithms by their definitions."""


def _moments(units: Sequence[Sequence[Fraction]], columns: int) -> Moments:
    def scaled(number: Fraction) -> int:
        return number.numerator * (1 << _SCALE) // number.denominator

    pairs = list(combinations_with_replacement(range(columns), 2))
    return Moments(
        len(units),
        tuple(scaled(sum((unit[i] for unit in units), start=Fraction(0))) for i in range(columns)),
        _SCALE,
        tuple(scaled(sum((unit[i] * unit[j] for unit in units), start=Fraction(0))) for i, j in pairs),
        _SCALE,
    )
