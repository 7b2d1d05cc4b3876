"""The engines for pairs of systems: their users' values, the memory for them, the exact sums, and the C++ engine."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk import _core
from exactk._inference.moments import Moments
from exactk._report.paired_sums import PairedSums
from exactk._report.user_table import row_count
from exactk._runtime.errors import CapacityError
from exactk._runtime.faults import Option
from exactk._runtime.threads import requested_isa

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import Value
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._runtime.faults import Text


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


# The memory that the users' values of several systems need, which is checked before the first system is evaluated.

_BYTES = 8  # of a number
_ROWS_OF_GROUPS, _ROWS_OF_CLUSTERS = 3, 4  # codes, those that are passed to the core, users in their order


def check_table_memory(
    values: Sequence[Value],
    options: ComparisonOptions,
    systems: Sequence[str],
    users: int,
    *,
    per_user: bool,
    has_groups: bool,
    has_clusters: bool,
) -> None:
    """Raise CapacityError if the tables of the users' values that are held at a time exceed the memory.

    The error names what would make them fit: ``per_user`` or ``baseline``, otherwise ``metrics``.
    """
    rows_of_table = row_count(values) + (len(values) if options.runs else 0)  # means have the values again, rounded
    rows_beside = 1 + _ROWS_OF_GROUPS * has_groups + _ROWS_OF_CLUSTERS * has_clusters  # 1 of weights

    def require(tables: int, argument: str) -> None:
        _core.require_memory(users, _BYTES * (tables * rows_of_table + rows_beside), argument)

    def fits(tables: int) -> bool:
        try:
            require(tables, "metrics")
        except CapacityError:
            return False
        return True

    compared = options.compared_systems(systems)
    of_runs = 2 if options.runs else 0  # the sums of those so far, and the next
    of_all_pairs = (len(compared) if options.pairs(systems) else 1) + of_runs
    with_baseline = min(2, len(compared)) + of_runs
    of_pairs = of_all_pairs if options.baseline is None else with_baseline
    needed = max(of_pairs, len(systems) + of_runs) if per_user else of_pairs
    if fits(needed):
        return
    changes: list[tuple[int, str, Text]] = [
        (of_pairs, "per_user", (Option("per_user", value=False), " keeps less")),
        (with_baseline, "baseline", (Option("baseline", compared[0]), " needs the values of two systems at a time")),
    ]
    argument, hint = next(
        ((argument, hint) for tables, argument, hint in changes if tables < needed and fits(tables)),
        ("metrics", ("fewer metrics, or blocks of users, need less",)),
    )
    try:
        require(needed, argument)
    except CapacityError as error:
        raise error.amended(hint=hint) from None
