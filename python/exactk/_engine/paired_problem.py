"""The interface of the engines for pairs of systems: their users' values, and the exact sums over each pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from exactk._report.paired_sums import PairedSums


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
