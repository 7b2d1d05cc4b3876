"""The state of a comparison: each system's sums, and those over pairs of systems; their form as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from exactk._inference.estimates import Moments
from exactk._plan.values import as_plan
from exactk._report.comparison_options import ComparisonOptions
from exactk._report.metric_mapping import ReadOnlyMapping
from exactk._report.paired_sums import PairedState, PairedSums
from exactk._report.state import State, check_same_plan, check_same_truth, plan_of_state
from exactk._report.state_shape import GroupLabel
from exactk._runtime.errors import StateMismatchError
from exactk._runtime.shapes import (
    FLAG,
    Anything,
    Exact,
    Fields,
    Many,
    Maybe,
    Named,
    Pairs,
    Row,
    ShapeError,
    Text,
    Through,
    Whole,
    elements,
    plain_data,
    read_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._plan.values import Value
    from exactk._report.paired_sums import Pair
    from exactk._report.sums import Label, Sums

_MAX_SCALE = 2 * 4096
_COLUMNS = {"micro": 5, "of_means": 5}  # of a mean, 3


def _paired_sums(*cells: Any) -> PairedSums:  # noqa: ANN401 - numbers and tuples of them
    users, only_system, only_baseline, greater, less, *moments = cells
    return PairedSums(users, only_system, only_baseline, greater, less, Moments(*moments))


_SUMS = Many(
    Row(
        _paired_sums,
        (*(Whole(),) * 6, Many(Exact()), Whole(most=_MAX_SCALE), Many(Exact()), Whole(most=_MAX_SCALE)),
        lambda sums: (*sums[:5], *sums.moments),
    )
)
_GROUPS = Maybe(Pairs(GroupLabel(), _SUMS))
_PAIR = Fields(dict, {"system": Text(), "baseline": Text(), "totals": _SUMS, "groups": _GROUPS})
_PAIRED = Fields(dict, {"weighted": FLAG, "clustered": FLAG, "pairs": Many(_PAIR)})


def paired_to_plain(paired: PairedState) -> dict[str, Any]:
    """Return the sums as plain data. Integers are hexadecimal text."""
    pairs = [
        {
            "system": system,
            "baseline": baseline,
            "totals": _SUMS.write(totals),
            "groups": _GROUPS.write(None if paired.groups is None else paired.groups[system, baseline]),
        }
        for (system, baseline), totals in paired.totals.items()
    ]
    return {"weighted": paired.weighted, "clustered": paired.clustered, "pairs": pairs}


def paired_from_plain(data: object, systems: Mapping[str, State], options: ComparisonOptions) -> PairedState | None:
    """Return the sums, if any; raise ValueError if the systems cannot have them."""
    options.check_systems(systems)
    first = next(iter(systems.values()))
    for state in systems.values():
        check_same_plan(first, state, "comparison")
    check_same_truth(systems, "systems")
    options.checked_margins(first.convention, plan_of_state(first))
    if data is None:
        return None
    plain = read_at("paired", _PAIRED, data)
    if plain["weighted"] is not first.weighted:
        raise ShapeError("paired.weighted", f"{first.weighted}, as in the systems", plain["weighted"])
    values, expected = plan_of_state(first), options.pairs(list(systems))
    totals: dict[Pair, tuple[PairedSums, ...]] = {}
    groups: dict[Pair, dict[Label, tuple[PairedSums, ...]]] = {}
    for index, (pair, row) in enumerate(
        zip(expected, elements(plain["pairs"], "paired.pairs", len(expected)), strict=True)
    ):
        at = f"paired.pairs[{index}]"
        if (row["system"], row["baseline"]) != pair:
            raise ShapeError(at, f"the pair {pair}", (row["system"], row["baseline"]))
        users = min(systems[run].counts.users for system in pair for run in options.runs_of(system))
        _check_paired_sums(row["totals"], values, users, f"{at}.totals")
        if (row["groups"] or {}).keys() != (first.groups or {}).keys() or (row["groups"] is None) != (
            first.groups is None
        ):
            raise ShapeError(f"{at}.groups", "the groups of the systems", row["groups"] and list(row["groups"]))
        for label, sums in (row["groups"] or {}).items():
            _check_paired_sums(sums, values, first.counts.users, f"{at}.groups[{label!r}]")
        totals[pair], groups[pair] = row["totals"], row["groups"] or {}
    paired = PairedState(first.weighted, plain["clustered"], totals, None if first.groups is None else groups)
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
            if not _has_sums(sums, side, value, of_parts):
                raise ShapeError("paired", f"the sums of {value.name} of {system!r} in its pairs too")
        groups = [by_value[index] for by_value in (paired.groups or {}).get(pair, {}).values()]
        if groups and not _are_equal(reduce(PairedSums.plus, groups), sums):
            raise ShapeError("paired", f"sums of {value.name} by group that add up to those of all users")


def _has_sums(sums: PairedSums, side: int, value: Value, parts: Sequence[Sums]) -> bool:
    """Return whether one side of a pair whose other system has the same users has a system's sums.

    Pairs may have fewer digits than the system: each user's number is rounded.
    """
    average, moments = value.rules["average"], sums.moments
    if any(part.undefined for part in parts):
        return True
    if average == "macro" and any(part.users != sums.users for part in parts):  # others leave out 0 / 0 in pairs alone
        return False
    expected = _numbers_of_state(value, parts)
    found = [moments.sum(side * len(expected) + column) for column in range(len(expected))]
    is_rounded = any(part.total_scale > moments.sums_scale for part in parts)
    most = Fraction(is_rounded * sums.users, 1 << moments.sums_scale)
    return all(abs(one - other) <= most for one, other in zip(found, expected, strict=True))


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


def _check_paired_sums(rows: Sequence[PairedSums], values: Sequence[Value], users: int, at: str) -> None:
    """Raise ValueError unless so many users can have these sums."""
    for index, (sums, value) in enumerate(zip(elements(rows, at, len(values)), values, strict=True)):
        row_at, both, moments = f"{at}[{index}]", sums.users, sums.moments
        columns = _COLUMNS.get(value.rules["average"], 3)
        for name, count, most in (
            ("users", both, users),
            ("users of the system alone", sums.only_system, users - both),
            ("users of the baseline alone", sums.only_baseline, users - both),
            ("users who are greater", sums.greater, both),
            ("users who are less", sums.less, both - sums.greater),
        ):
            read_at(f"{row_at}.{name}", Whole(most=most), count)
        read_at(f"{row_at}.units", Whole(min(both, 1), both), moments.units)
        elements(moments.sums, f"{row_at}.sums of columns", columns)
        elements(moments.products, f"{row_at}.sums of products", columns * (columns + 1) // 2)
        if not moments.are_possible():
            raise ShapeError(row_at, f"moments of {value.name} that some numbers have")


_EXPECTED = "the output of ComparisonState.to_dict"
_SHAPE = Fields(
    dict,
    {
        "systems": Named(Through(State.from_dict, State.to_dict)),
        "options": Through(ComparisonOptions.from_dict, ComparisonOptions.to_dict),
        "paired": Anything(),
    },
)


@dataclass(frozen=True)
class ComparisonState(Mapping[str, State]):
    """The exact, mergeable sums of a comparison: a mapping from system to `State`, and the sums over pairs of systems.

    `exactk.merge` adds states of different users; the differences of the result equal those of one comparison of all
    users, bit for bit. The size of a state does not depend on the number of users. It can be pickled, and survives
    `to_dict` and `from_dict` unchanged. States of single systems are not enough for differences, because they lack the
    sums of products of two systems' values.

    Attributes
    ----------
    systems : Mapping of str to State
        The sums of each system.
    options : ComparisonOptions
        How the systems are compared.
    paired : PairedState or None
        The sums over pairs of systems; None if there are none, as for a single system.

    Examples
    --------
    >>> import exactk
    >>> systems = {"a": [[1], [3]], "b": [[1], [2]]}
    >>> state = exactk.compare([[1], [2]], systems, "P@1").state
    >>> merged = exactk.merge([state, state])
    >>> merged["P@1"], merged.differences["b", "P@1"].users
    ({'a': 0.5, 'b': 1.0}, 4)
    """

    systems: Mapping[str, State]
    options: ComparisonOptions
    paired: PairedState | None

    def __post_init__(self) -> None:
        """Freeze the mapping."""
        object.__setattr__(self, "systems", ReadOnlyMapping(dict(self.systems)))

    def __getitem__(self, system: str) -> State:
        return self.systems[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self.systems)

    def __len__(self) -> int:
        return len(self.systems)

    def check_same_plan(self, other: ComparisonState) -> None:
        """Raise StateMismatchError unless the other state compares the same systems in the same way."""
        for what, one, another in (
            ("systems", list(self), list(other)),
            *(
                (field.name, getattr(self.options, field.name), getattr(other.options, field.name))
                for field in fields(ComparisonOptions)
            ),
        ):
            if one != another:
                message = f"parts: expected comparisons of the same {what} in all, found {one!r} and {another!r}"
                raise StateMismatchError(message, "parts")
        if (self.paired is None) != (other.paired is None):
            raise StateMismatchError(
                "parts: expected sums over pairs of systems in all or in none, found some", "parts"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**_SHAPE.write(self), "paired": None if self.paired is None else paired_to_plain(self.paired)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ComparisonState:
        """Return the state that `to_dict` described.

        Raises
        ------
        InputError
            If the sums are impossible under the metrics and convention of the systems.
        """
        with plain_data("state", _EXPECTED):
            plain = _SHAPE.read(data)
            return cls(**{**plain, "paired": paired_from_plain(plain["paired"], plain["systems"], plain["options"])})

    def __reduce__(self) -> tuple[Any, ...]:
        return (ComparisonState.from_dict, (self.to_dict(),))

    def __hash__(self) -> int:
        return hash(tuple(self.systems.items()))


ComparisonState.__module__ = "exactk.results"  # where a dataclass would look for names, if it stood in its body
