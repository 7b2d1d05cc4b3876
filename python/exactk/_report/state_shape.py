"""What plain data of a state must look like: sums, groups, tallies, shards, the catalogue."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any

from exactk._inputs.restrictions import Shard
from exactk._plan.conventions import Convention
from exactk._plan.metric_strings import plan
from exactk._plan.metrics import CustomInfo, check_name
from exactk._plan.values import (
    as_plan,
    is_in_unit_range,
    is_share_of_values,
    plan_group_tallies,
    plan_item_tallies,
    range_of,
    reads_item_values,
    relevant_index,
    tally_index,
)
from exactk._report.sums import Label, Sums
from exactk._report.tallies import Tallies, check_group_count, check_hits, group_tally_from_bytes, tally_from_bytes
from exactk._runtime.errors import StateMismatchError, as_unit_names
from exactk._runtime.faults import listed, plural
from exactk._runtime.records import NamedTuple
from exactk._runtime.shapes import (
    FLAG,
    MOST,
    Anything,
    Binary,
    Digest,
    Exact,
    Fields,
    Many,
    Maybe,
    OneOf,
    Pairs,
    Row,
    ShapeError,
    Text,
    Through,
    Whole,
    elements,
    within,
)
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from exactk._plan.values import TallyPlan, Value
    from exactk._runtime.shapes import Shape


_GIVEN = "catalogue"


class Catalogue(NamedTuple):
    """The items that could be recommended."""

    digest: int  # 128 bits that tell these items, their popularity, groups and values from others
    size: int  # number of items
    source: str  # the argument of `exactk.Items` that has them: catalogue, train or popularity

    def __str__(self) -> str:
        items = plural(self.size, "item")
        return items if self.source == _GIVEN else f"the {items} of {self.source}"

    def merged(self, other: Catalogue) -> Catalogue:
        """Return the catalogue of both, which have the same digest."""
        return self if self.source == other.source else self._replace(source=_GIVEN)


def describe_difference(one: Catalogue | None, other: Catalogue | None) -> str:
    """Return how the items of two states differ; empty if they are the same."""
    if (one and one.digest) == (other and other.digest):
        return ""
    if one is None or other is None:
        return "items in only one of them"
    text = f"values of other items: {one} and {other}"
    return (
        text if one.size != other.size else f"{text}, whose keys, train, popularity, features, groups or values differ"
    )


MOST_SHARDS = 100_000
_MOST_TEXT = 10_000  # characters
MOST_SHOWN = 20
"""Names in a text."""


class ShardedRun(NamedTuple):
    """What all numbered shards of one evaluation have in common, beside the metrics and the convention of their states."""

    shards: int  # how many there are
    version: str  # of exactk
    inputs: tuple[tuple[str, str], ...]  # what each file is, and the SHA-256 of its content
    options: tuple[tuple[str, str], ...]  # those that say how the files are read

    def describe_difference(self, other: ShardedRun) -> str:
        """Return how the runs differ; empty if they are the same."""
        differences = []
        if self.shards != other.shards:
            differences.append(f"{self.shards} and {other.shards} shards")
        if self.version != other.version:
            differences.append(f"exactk {self.version} and {other.version}")
        differences += _differing("content of ", self.inputs, other.inputs, _beginning)
        differences += _differing("", self.options, other.options, lambda value: value or "none")
        return "; ".join(differences)


def _beginning(digest: str) -> str:
    return f"SHA-256 {digest[:8]}..." if digest else "not read"


def _differing(
    what: str, pairs: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]], show: Callable[[str], str]
) -> list[str]:
    one, other = dict(pairs), dict(others)
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return [f"{what}{name} ({show(one.get(name, ''))} and {show(other.get(name, ''))})" for name in names]


class Shards(NamedTuple):
    """The shards of a state: some of a numbered run, or shards that the caller named.

    A state of all shards of a numbered run has none: it is that of the whole evaluation.
    """

    names: tuple[str, ...]  # such as 3/8, in order
    run: ShardedRun | None = None  # None for shards that the caller named

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the other shards of a numbered run."""
        names = set(self.names)
        return () if self.run is None else tuple(name for name in _names(self.run.shards) if name not in names)

    @property
    def remarks(self) -> list[str]:
        """What a report says: which shards of a numbered run it is of."""
        return [] if self.run is None else [f"only shard{'s' * (len(self.names) > 1)} {listed(self.names, MOST_SHOWN)}"]

    @classmethod
    def of_plain(cls, names: tuple[str, ...], run: ShardedRun | None) -> Shards:
        """Return the shards; raise ValueError unless these are distinct names of some, in order."""
        distinct = set(names)
        expected = sorted(distinct) if run is None else [name for name in _names(run.shards) if name in distinct]
        if not names or list(names) != expected or (run is not None and len(names) == run.shards > 1):
            raise ShapeError("names", "distinct names of some shards, in order", names)
        return cls(names, run)


def _names(shards: int) -> list[str]:
    return [str(Shard(number, shards)) for number in range(1, shards + 1)]


_TEXT = Text(_MOST_TEXT)
_TEXTS_BY_NAME = Many(Row(lambda name, value: (name, value), (_TEXT, _TEXT)))
_RUN: dict[str, Shape] = {
    "shards": Whole(1, MOST_SHARDS),
    "version": _TEXT,
    "inputs": _TEXTS_BY_NAME,
    "options": _TEXTS_BY_NAME,
}
SHARDS = Fields(Shards.of_plain, {"names": Many(_TEXT), "run": Maybe(Fields(ShardedRun, _RUN))})
"""The shape of shards in a state."""


def united_shards(parts: Mapping[str, Shards | None], argument: str) -> Shards | None:
    """Return the shards of all parts together; None if these are all of a run, or if no part has any.

    The name of each part is for messages.

    Raises
    ------
    StateMismatchError
        If a shard is in several parts, or the parts are of several runs.
    """
    source_of_shard: dict[str, str] = {}
    first: tuple[str, ShardedRun | None] | None = None
    for source, shards in parts.items():
        run = None if shards is None else shards.run
        first = first or (source, run)
        _check_same_run(first, (source, run), argument)
        for name in () if shards is None else shards.names:
            if name in source_of_shard:
                found = f"shard {name} in {source_of_shard[name]} and in {source}"
                raise StateMismatchError(f"{argument}: expected each shard once, found {found}", argument)
            source_of_shard[name] = source
    run = None if first is None else first[1]
    if run is None:
        return Shards(tuple(sorted(source_of_shard))) if source_of_shard else None
    names = tuple(name for name in _names(run.shards) if name in source_of_shard)
    return None if len(names) == run.shards else Shards(names, run)


def _check_same_run(one: tuple[str, ShardedRun | None], other: tuple[str, ShardedRun | None], argument: str) -> None:
    if one[1] == other[1]:
        return
    if one[1] is None or other[1] is None:
        (of_run, _), (without, _) = (one, other) if other[1] is None else (other, one)
        found = f"{of_run} with shards, and {without} without; merge all shards first"
    else:
        found = f"{one[0]} and {other[0]}, which differ: {one[1].describe_difference(other[1])}"
    raise StateMismatchError(f"{argument}: expected shards of one run, found {found}", argument)


_TOLERANCE = 1e-9  # of what is computed from sums

_UNIT_SCALES = (80, 160, 80)  # for unweighted values in [0, 1]
_WIDE_SCALES = (1074, 1074, 80)  # for other values
_WEIGHED_SCALES = (1074, 1074, 1074)
_REFERENCE_SCALES = (4096, 4096, 4096)

MAX_WEIGHT = 2**256
_MAX_VALUE = 2**320  # gains are up to 2^256, and a list has fewer than 2^62 items
_LEAST_LOGARITHM, _MOST_LOGARITHM = -12, 222  # of 1e-5, and of the largest value


def checked_metrics(
    names: tuple[str, ...], spellings: tuple[str, ...], convention: Convention, customs: Sequence[CustomInfo] = ()
) -> tuple[Value, ...]:
    """Return the plan of distinct values, from their canonical names and spellings."""
    by_name = {one.name: one for one in customs}
    if len(by_name) < len(customs):
        raise ShapeError("custom_metrics", "custom metrics of distinct names", [one.name for one in customs])
    if tuple(value.name for value in plan(names, convention, compares_lists=None, customs=by_name)) != names:
        raise ShapeError("metrics", "distinct canonical metric names", names)
    values = plan(spellings, convention, compares_lists=None, customs=by_name)
    if (tuple(value.name for value in values), tuple(value.spelling for value in values)) != (names, spellings):
        raise ShapeError("spellings", f"spellings of {', '.join(names)}", spellings)
    return values


SUMS = Row(Sums, (Whole(), Whole(), *(Exact(), Whole(most=_REFERENCE_SCALES[0])) * 3))
"""The shape of the sums of a part."""


def check_sums(rows: Sequence[Sums], values: Sequence[Value], users: int, at: str, *, weighted: bool) -> None:
    """Raise ValueError unless these are sums of all parts that this many users can have."""
    parts = as_plan(values).distinct_parts
    elements(rows, at, len(parts))
    is_of_reference = all(one.scales == _REFERENCE_SCALES for one in rows)
    for index, (part, one) in enumerate(zip(parts, rows, strict=True)):
        if one.users > users:
            raise ShapeError(f"{at}[{index}].users", f"an integer from 0 to {users}", one.users)
        if one.undefined > one.users:
            raise ShapeError(f"{at}[{index}].undefined", f"an integer from 0 to {one.users}", one.undefined)
        expected = _scales_of_part(part, weighted=weighted)
        if not is_of_reference and one.scales != expected:
            raise ShapeError(f"{at}[{index}]", f"scales {expected} of {part.name}", one.scales)
        try:  # groups are many: a context costs more than the check
            _check_ranges(part, one, weighted=weighted)
        except ShapeError as error:
            raise error.within(f"{at}[{index}]") from None


def check_computed(given: object, computed: Any, what: str) -> None:  # noqa: ANN401 - plain data
    """Raise ValueError if given data differ from those that were computed, in more than the last digits of numbers."""
    if isinstance(computed, dict) and isinstance(given, dict):
        if given.keys() != computed.keys():
            raise ShapeError(what, f"a mapping with {', '.join(map(str, computed))}", list(given))
        for name, one in computed.items():
            check_computed(given[name], one, f"{what}.{name}")
    elif isinstance(computed, list) and isinstance(given, list) and len(given) == len(computed):
        for position, (one, other) in enumerate(zip(given, computed, strict=True)):
            check_computed(one, other, f"{what}[{position}]")
    elif given != computed and not (
        type(given) is type(computed) is float and math.isclose(given, computed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    ):
        raise ShapeError(what, f"{computed!r}, as its sums say", given)


def _scales_of_part(part: Value, *, weighted: bool) -> tuple[int, int, int]:
    """Return the scales of the core's sums."""
    if weighted or part.rules["average"] == "micro":
        return _WEIGHED_SCALES
    is_share = is_share_of_values(part.info, part.rules) if reads_item_values(part) else part.info.unit_range
    has_unit_range = is_share and part.rules["duplicate_items"] != "count"
    return _UNIT_SCALES if has_unit_range and part.rules["average"] == "macro" else _WIDE_SCALES


def _check_ranges(part: Value, sums: Sums, *, weighted: bool) -> None:
    """Raise if values in the metric's range cannot have these sums."""
    average = part.rules["average"]
    defined = sums.users - sums.undefined
    has_weights = weighted or average == "micro" or sums.scales == _REFERENCE_SCALES
    weight = sums.weight
    if not has_weights and weight:
        raise ShapeError("", "no sum of weights without weights", weight)
    most_weight = defined * (MAX_WEIGHT if weighted else 1)
    if average != "micro" and has_weights:
        is_exact = not weighted and weight != most_weight << sums.weight_scale
        if is_exact or not 0 <= weight <= most_weight << sums.weight_scale:
            raise ShapeError("", f"the weights of {defined} users of {part.name}", weight)
    if average == "micro":
        _check_micro(part, sums)
        return
    mass, scale = (weight, sums.weight_scale) if has_weights else (defined, 0)  # the weight of the values

    def check(name: str, number: int, number_scale: int, least: int, most: int) -> None:
        if not mass * least << number_scale <= number << scale <= mass * most << number_scale:
            raise ShapeError(
                "", f"the sum of {name} of {part.name} over {defined} users from {least} to {most} each", number
            )

    if average == "geometric":
        check(
            "logarithms",
            sums.total,
            sums.total_scale,
            _LEAST_LOGARITHM,
            0 if is_in_unit_range(part) else _MOST_LOGARITHM,
        )
        check("squares", sums.squares, sums.squares_scale, 0, _MOST_LOGARITHM**2)
        _check_squares(part, sums, mass, scale)
        return
    least, most = _whole_range(part)
    check("values", sums.total, sums.total_scale, least, most)
    check("squares", sums.squares, sums.squares_scale, 0, max(-least, most) ** 2)
    slack = 4 * sums.users if sums.scales == _WEIGHED_SCALES else 0  # products that underflow are rounded
    if is_in_unit_range(part) and sums.squares << sums.total_scale > (sums.total + slack) << sums.squares_scale:
        raise ShapeError("", f"squares of {part.name} no larger than its values", sums.squares)
    _check_squares(part, sums, mass, scale)


def _check_squares(part: Value, sums: Sums, mass: int, scale: int) -> None:
    """Raise ValueError if the square of the mean is more than the mean of squares; those that are not exact are rounded."""
    square, bound = sums.total**2 << sums.squares_scale + scale, mass * sums.squares << 2 * sums.total_scale
    if sums.scales != _UNIT_SCALES:
        square -= (square >> 20) + (mass**2 << max(2 * sums.total_scale + sums.squares_scale - scale - 600, 0))
    if square > bound:
        raise ShapeError("", f"squares of {part.name} that match its mean", sums.squares)


def _whole_range(part: Value) -> tuple[int, int]:
    """Return whole numbers between which all users' values are."""
    low, high = range_of(part)
    return math.floor(max(low, -_MAX_VALUE)), math.ceil(min(high, _MAX_VALUE))


def _check_micro(part: Value, sums: Sums) -> None:
    bound = sums.users * MAX_WEIGHT * _MAX_VALUE
    if sums.squares or sums.undefined:
        raise ShapeError(
            "", f"no squares and no undefined values of {part.name}, which is a ratio of sums", sums.squares
        )
    least_value, most = _whole_range(part)
    least = -bound if least_value < 0 else 0
    for low, number, scale in ((least, sums.total, sums.total_scale), (0, sums.weight, sums.weight_scale)):
        if not low << scale <= number <= bound << scale:
            raise ShapeError("", f"non-negative sums of {part.name} that {sums.users} users can have", number)
    slack = 4 * sums.users * (1 + most)  # products that underflow are rounded
    if (sums.total - slack) << sums.weight_scale > sums.weight * most << sums.total_scale:
        raise ShapeError("", f"{part.name} up to {most}")


class GroupLabel(NamedTuple):
    """The shape of the label of a group."""

    def read(self, data: Any) -> Label:  # noqa: ANN401 - what JSON holds
        if isinstance(data, str):
            return str(data)
        if type(data) is int and -(2**63) <= data < 2**64:
            return data
        raise ShapeError("", "group labels to be strings or 64-bit integers", data)

    def write(self, value: Label) -> Label:
        return value


def check_groups(
    groups: Mapping[Label, Sequence[Sums]], values: Sequence[Value], totals: Sequence[Sums], *, weighted: bool
) -> None:
    """Raise ValueError unless the sums of each group are possible, and add up to the totals."""
    _check_labels(groups, "groups")
    for label, sums in groups.items():
        check_sums(sums, values, MOST, f"groups[{label!r}]", weighted=weighted)
        for total, one in zip(totals, sums, strict=True):
            if one.scales != total.scales:
                raise ShapeError(f"groups[{label!r}]", "the same scales in all groups", one.scales)
    nobody = [Sums.over_nobody(total.scales) for total in totals]
    if list(map(Sums.over_groups, zip(nobody, *groups.values(), strict=True))) != list(totals):
        raise ShapeError("groups", "groups that add up to the totals")


def check_group_order(order: Sequence[Label] | None, groups: Mapping[Label, object] | None) -> None:
    """Raise ValueError unless the order of the groups, if there is one, has all of them."""
    if order is None:
        return
    _check_labels(order, "group_order")
    if groups is None or not groups.keys() <= set(order):
        raise ShapeError("group_order", "an order of all groups", order)


def _check_labels(labels: Collection[Label], at: str) -> None:
    if len(set(labels)) < len(labels) or len(set(map(type, labels))) > 1:
        raise ShapeError(at, "distinct group labels of one type", list(labels))


_MOST_ITEMS = 2**31 - 3


def _custom(name: str, range: tuple[float, float] | None, **fields: Any) -> CustomInfo:  # noqa: A002, ANN401 - as a state has them
    return CustomInfo(check_name(name), range=range, **fields)


def _bounds(low: object, high: object) -> tuple[float, float]:
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    if type(low) is not float or type(high) is not float or math.isnan(low + high) or not low <= high:
        raise ShapeError("", "the range of a custom metric to be two numbers in order", [low, high])
    return low, high


def _unit_names(data: object) -> UnitNames | None:
    if data is None:
        raise ShapeError("", "two nouns", data)
    return as_unit_names(data)


_BOUND = Through(lambda data: data, lambda bound: None if math.isinf(bound) else bound)
_CATALOGUE: dict[str, Shape] = {
    "digest": Digest(),
    "size": Whole(1, _MOST_ITEMS),
    "source": OneOf(("catalogue", "train", "popularity")),
}
_CUSTOM: dict[str, Shape] = {
    "name": Text(),
    "of": OneOf(("judged", "lists")),
    "range": Maybe(Row(_bounds, (_BOUND, _BOUND))),
    "direction": OneOf(("higher", "lower", "none")),
    "digest": Digest(),
}
_HEAD: dict[str, Shape] = {
    "metrics": Many(Text()),
    "spellings": Many(Text()),
    "convention": Through(Convention.from_dict, Convention.to_dict),
    "weighted": FLAG,
    "counts": Anything(),
    "totals": Many(SUMS),
    "groups": Maybe(Pairs(GroupLabel(), Many(SUMS))),
    "group_order": Maybe(Many(GroupLabel())),
    "grade_column": Maybe(Text()),
    "truth_digest": Maybe(Digest()),
    "catalogue": Maybe(Fields(Catalogue, _CATALOGUE)),
    "custom_metrics": Many(Fields(_custom, _CUSTOM)),
    "shards": SHARDS,
    "unit_names": Through(_unit_names, lambda units: None if units == USERS_AND_ITEMS else list(units)),
}
_OPTIONAL = ("shards", "unit_names")
HEAD = Fields(dict, _HEAD, optional=_OPTIONAL)
"""All of a state but its tallies."""

VERSION = 4
STATE = Fields(dict, {"version": OneOf((VERSION,)), **_HEAD, "tallies": Many(Binary())}, optional=_OPTIONAL)
"""A state as plain data, with the tallies of items, then those of groups."""


def checked_tallies(
    tallies: Sequence[bytes],
    values: Sequence[Value],
    users: int,
    catalogue: Catalogue | None,
    labels: Sequence[Label],
) -> tuple[Tallies, dict[Label, Tallies]]:
    """Return the tallies that the values need, and those of each group, after checking that so many users can have them."""
    of_items, of_groups = plan_item_tallies(values), plan_group_tallies(values)
    count = len(of_items) + len(of_groups)
    if not count:
        elements(tallies, "tallies", 0)
        return Tallies(), {}
    if catalogue is None:
        raise ShapeError("catalogue", "the items that metrics of all lists together need", None)
    check_group_count(labels)
    elements(tallies, "tallies", count * max(1, len(labels)))
    sets = [
        _tallies_of_bytes(tallies[begin : begin + count], begin, of_items, of_groups, catalogue.size)
        for begin in range(0, len(tallies), count)
    ]
    whole = reduce(Tallies.plus, sets)
    most = max([*(tally.lists for tally in whole.items), *(tally.lists for tally in whole.groups)])
    if most > users:
        raise ShapeError("tallies", f"tallies of at most {users} lists", most)
    for value in values:
        if value.counts_hits:
            hits, relevant = tally_index(value, of_items)[0], relevant_index(value, of_items)
            for one in sets:
                check_hits(one.items[hits], one.items[relevant])
    for counted, tally in zip(of_items, whole.items, strict=True):
        has_foreign = counted.counted == "relevant" and counted.rules["foreign_items"] == "raise"
        if not has_foreign and counted.rules["foreign_items"] != "count" and len(tally.keys) > catalogue.size:
            raise ShapeError("tallies", f"tallies of at most {catalogue.size} items", len(tally.keys))
    return whole, dict(zip(labels, sets, strict=False))  # without labels, those of nobody


def _tallies_of_bytes(
    tallies: Sequence[bytes], first: int, of_items: Sequence[TallyPlan], of_groups: Sequence[Value], size: int
) -> Tallies:
    """Return the tallies of some lists, the first of which has this number among all."""
    items, groups = [], []
    for index, data in enumerate(tallies):
        with within(f"tallies[{first + index}]"):
            if index < len(of_items):
                one = of_items[index]
                is_set = one.lists_are_sets
                tally = tally_from_bytes(data, one.cutoffs, has_short_lists=one.has_short_lists, lists_are_sets=is_set)
                items.append(tally)
            else:
                groups.append(group_tally_from_bytes(data, of_groups[index - len(of_items)], size))
    return Tallies(tuple(items), tuple(groups))
