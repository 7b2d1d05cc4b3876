"""The sums over pairs of systems as plain data, and their validation against the states of the systems."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from exactk._inference.moments import Moments
from exactk._plan.values import as_plan
from exactk._report.paired_sums import PairedState, PairedSums
from exactk._report.state import State, check_same_plan, plan_of_state
from exactk._report.validation import checked_fields, checked_integer, checked_list, fail, read_hex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._plan.values import Value
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._report.paired_sums import Pair
    from exactk._report.sums import Label, Sums

_MAX_SCALE = 2 * 4096
_COLUMNS = {"micro": 5, "of_means": 5}  # of a mean, 3


def paired_to_plain(paired: PairedState) -> dict[str, Any]:
    """Return the sums as plain data. Integers are hexadecimal text."""
    pairs = []
    for (system, baseline), totals in paired.totals.items():
        groups = None if paired.groups is None else paired.groups[system, baseline]
        pairs.append(
            {
                "system": system,
                "baseline": baseline,
                "totals": list(map(_paired_sums_to_plain, totals)),
                "groups": None
                if groups is None
                else [[label, list(map(_paired_sums_to_plain, sums))] for label, sums in groups.items()],
            }
        )
    return {"weighted": paired.weighted, "clustered": paired.clustered, "pairs": pairs}


def _paired_sums_to_plain(sums: PairedSums) -> list[Any]:
    *counts, moments = sums
    return [
        *counts,
        moments.units,
        [hex(one) for one in moments.sums],
        moments.sums_scale,
        [hex(one) for one in moments.products],
        moments.products_scale,
    ]


def paired_from_plain(data: object, systems: Mapping[str, State], options: ComparisonOptions) -> PairedState | None:
    """Return the sums, if any; raise ValueError if the systems cannot have them."""
    options.check_systems(systems)
    first = next(iter(systems.values()))
    for state in systems.values():
        check_same_plan(first, state, "comparison")
    if data is None:
        return None
    checked = checked_fields(data, ("weighted", "clustered", "pairs"), "paired")
    if type(checked["clustered"]) is not bool:
        raise fail("clustered to be true or false", checked["clustered"])
    if checked["weighted"] is not first.weighted:
        raise fail(f"weighted to be {first.weighted}, as in the systems", checked["weighted"])
    values, expected = plan_of_state(first), options.pairs(list(systems))
    rows = checked_list(checked["pairs"], "pairs", len(expected))
    totals: dict[Pair, tuple[PairedSums, ...]] = {}
    groups: dict[Pair, dict[Label, tuple[PairedSums, ...]]] = {}
    for pair, row in zip(expected, rows, strict=True):
        checked_fields(row, ("system", "baseline", "totals", "groups"), "a pair")
        if (row["system"], row["baseline"]) != pair:
            raise fail(f"the pair {pair}", (row["system"], row["baseline"]))
        users = min(systems[run].counts.users for system in pair for run in options.runs_of(system))
        totals[pair] = _checked_sums(row["totals"], values, users)
        groups[pair] = _checked_groups(row["groups"], values, first)
    paired = PairedState(first.weighted, checked["clustered"], totals, None if first.groups is None else groups)
    for pair in expected:
        _check_pair(paired, pair, values, systems)
    return paired


def _check_pair(paired: PairedState, pair: Pair, values: Sequence[Value], systems: Mapping[str, State]) -> None:
    """Raise ValueError if sums over a pair contradict those of its systems, or its groups.

    Sums with weights, and over clusters, are of rounded numbers, and only approximately the same.
    """
    if paired.weighted or paired.clustered:
        return
    parts = as_plan(values).part_indices
    for index, (value, sums) in enumerate(zip(values, paired.totals[pair], strict=True)):
        for side, (system, only) in enumerate(zip(pair, (sums.only_system, sums.only_baseline), strict=True)):
            if only or system not in systems:  # users whom the other system lacks, or a mean of training runs
                continue
            of_parts = [systems[system].totals[part] for part in parts[index]]
            expected = _numbers_of_state(value, of_parts)
            found = [sums.moments.sum(side * len(expected) + column) for column in range(len(expected))]
            if found != expected and not any(part.undefined for part in of_parts):
                raise fail(f"the sums of {value.name} of {system!r} in its pairs too", "others")
        groups = [by_value[index] for by_value in (paired.groups or {}).get(pair, {}).values()]
        if groups and not _are_equal(reduce(PairedSums.plus, groups), sums):
            raise fail(f"sums of {value.name} by group that add up to those of all users", "others")


def _numbers_of_state(value: Value, parts: Sequence[Sums]) -> list[Fraction]:
    """Return the sums of a system's columns."""
    totals = [Fraction(part.total, 1 << part.total_scale) for part in parts]
    is_micro = value.rules["average"] == "micro"
    return totals + [Fraction(part.weight, 1 << part.weight_scale) for part in parts if is_micro]


def _are_equal(one: PairedSums, other: PairedSums) -> bool:
    def numbers(moments: Moments) -> list[Fraction]:
        sums = [Fraction(total, 1 << moments.sums_scale) for total in moments.sums]
        return sums + [Fraction(product, 1 << moments.products_scale) for product in moments.products]

    return (one[:5], one.moments.units) == (other[:5], other.moments.units) and numbers(one.moments) == numbers(
        other.moments
    )


def _checked_groups(data: object, values: Sequence[Value], first: State) -> dict[Label, tuple[PairedSums, ...]]:
    if first.groups is None:
        if data is not None:
            raise fail("no groups", data)
        return {}
    groups = {}
    for row in checked_list(data, "groups", len(first.groups)):
        label, sums = checked_list(row, "members of a group", 2)
        if not isinstance(label, (int, str)) or label not in first.groups or label in groups:
            raise fail("the groups of the systems, each once", label)
        groups[label] = _checked_sums(sums, values, first.counts.users)
    return groups


def _checked_sums(data: object, values: Sequence[Value], users: int) -> tuple[PairedSums, ...]:
    rows = checked_list(data, "sums of a pair", len(values))
    return tuple(_read(row, value, users) for row, value in zip(rows, values, strict=True))


def _read(row: object, value: Value, users: int) -> PairedSums:
    cells = checked_list(row, "numbers of a pair", 10)
    both = checked_integer(cells[0], "users of a pair", 0, users)
    only_system, only_baseline = (checked_integer(cell, "users of one system", 0, users - both) for cell in cells[1:3])
    greater = checked_integer(cells[3], "users who are greater", 0, both)
    less = checked_integer(cells[4], "users who are less", 0, both - greater)
    units = checked_integer(cells[5], "units", min(both, 1), both)
    columns = _COLUMNS.get(value.rules["average"], 3)
    sums = tuple(map(read_hex, checked_list(cells[6], "sums of columns", columns)))
    products = tuple(map(read_hex, checked_list(cells[8], "sums of products", columns * (columns + 1) // 2)))
    scales = [checked_integer(cell, "the scale of a sum", 0, _MAX_SCALE) for cell in (cells[7], cells[9])]
    moments = Moments(units, sums, scales[0], products, scales[1])
    if not moments.are_possible():
        raise fail(f"moments of {value.name} that some numbers have", "others")
    return PairedSums(both, only_system, only_baseline, greater, less, moments)
