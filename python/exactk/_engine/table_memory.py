"""The memory that the users' values of several systems need, checked before the first system is evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk import _core
from exactk._report.user_table import row_count
from exactk._runtime.errors import CapacityError
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._plan.values import Value
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._runtime.faults import Text

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
