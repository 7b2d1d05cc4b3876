"""The engines for pairs of systems: their users' values, the exact sums over each pair, and the C++ engine."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk import _core
from exactk._inference.moments import Moments
from exactk._report.paired_sums import PairedSums
from exactk._runtime.threads import requested_isa

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class PairedValue(NamedTuple):
    """How a value is made of the rows of the tables."""

    rows: tuple[int, ...]  # one; of a ratio, numerator and denominator; of F of means, precision and recall
    shown: int  # the row by which a user counts as a win or a loss; -1 for none
    is_geometric: bool  # the logarithm of a row is summed
    is_unit: bool  # all its numbers are in [0, 1], by definition
    is_ratio: bool  # the rows are numerator and denominator, so that a user with 0/0 in both systems says nothing


@dataclass(frozen=True)
class PairedProblem:
    """The users' values of several systems, and the pairs to sum over."""

    tables: tuple[NDArray[np.float64], ...]  # rows x users of each system; NaN where there is no value
    values: tuple[PairedValue, ...]
    pairs: tuple[tuple[int, int], ...]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None
    group_count: int
    clusters: NDArray[np.int64] | None  # of users, who are summed first
    cluster_count: int
    num_threads: int


class PairedEngine(NamedTuple):
    """The sums over pairs of systems, and the logarithms that geometric means add."""

    sums: Callable[[PairedProblem], list[list[list[PairedSums]]]]  # by group, pair and value
    logarithms: Callable[[NDArray[np.float64]], NDArray[np.float64]]


def _core_paired_sums(problem: PairedProblem) -> list[list[list[PairedSums]]]:
    """Sum over pairs of systems with the C++ core."""
    sums = _core.paired_sums(
        tables=list(problem.tables),
        values=[_core.PairedValue(*value) for value in problem.values],
        pairs=problem.pairs,
        weights=problem.weights,
        groups=problem.groups,
        group_count=problem.group_count,
        clusters=problem.clusters,
        cluster_count=problem.cluster_count,
        threads=problem.num_threads,
        isa=requested_isa(),
    )
    counts = zip(
        *(
            one.ravel().tolist()
            for one in (sums.users, sums.only_system, sums.only_baseline, sums.wins, sums.losses, sums.units)
        ),
        strict=True,
    )
    scales = cycle(zip(sums.sums_scale, sums.products_scale, strict=True))
    rows = iter(
        [
            PairedSums(
                users,
                only_system,
                only_baseline,
                wins,
                losses,
                Moments(units, columns, sums_scale, products, products_scale),
            )
            for (users, only_system, only_baseline, wins, losses, units), columns, products, (
                sums_scale,
                products_scale,
            ) in zip(counts, sums.sums, sums.products, scales, strict=False)
        ]
    )
    return [[list(islice(rows, len(problem.values))) for _ in problem.pairs] for _ in range(problem.group_count)]


def _core_logarithms(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return _core.geometric_terms(np.ascontiguousarray(numbers))


core_paired_engine = PairedEngine(_core_paired_sums, _core_logarithms)
