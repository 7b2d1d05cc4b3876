"""The values of a call: metrics at a cutoff under resolved rules; what they need, their ranges, what is counted for them."""

from __future__ import annotations

import math
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from exactk import _core
from exactk._plan.fields import FIELDS, STANDARD_RULES, core_rules, fields_of
from exactk._plan.metrics import INFOS_OF_GROUPS, metrics
from exactk._runtime.records import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from exactk._plan.item_groups import ItemGroup
    from exactk._plan.metrics import CustomInfo, MetricInfo

PARTS_OF_MEANS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    dict.fromkeys(("fbeta", "f1"), ("precision", "recall"))
)
"""The metrics that can be computed from the means of other metrics, and those metrics."""


MOST_COUNTED_RANKS = 1000


def counts_ranks(info: MetricInfo | CustomInfo) -> bool:
    """Return whether a metric of all lists together needs to know how often items are at each rank."""
    return info.of_collection and info.discounted and not info.reads_groups


class Needs(NamedTuple):
    """What a value needs to know of items and users."""

    popularity: bool
    distances: bool  # of items, by their features
    tags: bool  # of items
    history: bool  # of users


def _needs(info: _core.MetricInfo | CustomInfo, rules: Mapping[str, Any]) -> Needs:
    has_distances = "distance" in info.own_fields
    has_tags = info.reads_features and not has_distances
    if "serendipity_of" not in info.own_fields:
        return Needs(info.reads_popularity, has_distances, has_tags, info.reads_history)
    is_of_popularity = rules["serendipity_of"] == "popularity"
    return Needs(is_of_popularity, not is_of_popularity, has_tags, not is_of_popularity)


class Value(Record):
    """One value to report: a metric at a cutoff under resolved rules.

    ``name`` is the canonical name; ``spelling`` is the request, with only this cutoff, and ``label`` the same without
    the cutoff. ``rules`` holds every field of the convention as it applies to this value.
    """

    name: str
    metric: str
    cutoff: int | None
    parameter: float
    rules: Mapping[str, Any]
    spelling: str
    label: str
    custom: CustomInfo | None = None
    item_group: ItemGroup | None = None  # whose relevant items the value is of; None: all
    function: Callable[[Any], object] | None = None  # of a custom metric

    _uncompared = frozenset({"spelling", "label", "function"})

    @cached_property
    def info(self) -> _core.MetricInfo | CustomInfo:
        """The description of the metric."""
        return INFOS_OF_GROUPS[self.metric] if self.is_precision_of_group else self.custom or metrics[self.metric]

    @property
    def is_precision_of_group(self) -> bool:
        """Whether the value divides by the items of a group in the list."""
        return (
            self.item_group is not None
            and self.metric in INFOS_OF_GROUPS
            and bool(self.rules["item_group_value"] == "restricted")
        )

    @property
    def of_all_items(self) -> Value:
        """The value under its name without the group of items."""
        from exactk._plan.item_groups import without_item_group

        texts = map(without_item_group, (self.name, self.spelling, self.label))
        return self._replace(**dict(zip(("name", "spelling", "label"), texts, strict=True)), item_group=None)

    def of_each_group(self, labels: Sequence[int | str | None]) -> Iterator[Value]:
        """Yield the value or, if it is of every group of items, that of each; raise InputError for a group there is not."""
        from exactk._plan.item_groups import ItemGroup, check_is_group, with_item_group

        if self.item_group is None or not self.item_group.is_every:
            if self.item_group is not None:
                check_is_group(self.item_group, labels, self.spelling)
            yield self
            return
        for group in map(ItemGroup, labels):
            texts = (with_item_group(text, group) for text in (self.name, self.spelling, self.label))
            yield self._replace(**dict(zip(("name", "spelling", "label"), texts, strict=True)), item_group=group)

    @property
    def is_share(self) -> bool:
        """Whether the value is the share that a group of items has in another value."""
        return self.item_group is not None and bool(self.rules["item_group_value"] == "share")

    @property
    def counts_hits(self) -> bool:
        """Whether all lists together have the value, by how often each item is a hit."""
        return self.info.of_collection and self.info.reads_truth and not self.info.reads_groups

    @property
    def counted_cutoffs(self) -> Iterable[int | None]:
        """The cutoffs at which its items are counted: every rank where ranks have weights."""
        return range(1, self.cutoff + 1) if self.cutoff is not None and counts_ranks(self.info) else (self.cutoff,)

    @cached_property
    def needs(self) -> Needs:
        """What must be known beside the lists."""
        return _needs(self.info, self.rules)

    @cached_property
    def core(self) -> _core.PlannedValue:
        """The value in the core's form."""
        return _core.PlannedValue(self.metric, self.cutoff, self.parameter, core_rules(self.rules))

    @cached_property
    def parts(self) -> tuple[Value, ...]:
        """The parts to sum over users: the value itself, or those whose means it combines; none of a value of all lists."""
        if self.info.of_collection:
            return ()
        if self.rules["average"] != "of_means":
            return (self,)
        rules = MappingProxyType({**self.rules, "average": "macro", "weight": "one"})
        return tuple(self._replace(metric=metric, parameter=0.0, rules=rules) for metric in PARTS_OF_MEANS[self.metric])

    @cached_property
    def is_plain_mean(self) -> bool:
        """Whether the value is the arithmetic mean of the users' values, which is not rounded."""
        return not self.info.of_collection and self.rules["average"] == "macro" and self.rules["decimals"] is None

    @cached_property
    def shows_hits(self) -> bool:
        """Whether the value is above 0 only if there is a hit, and not where a convention counts a user without one as 1."""
        return not (
            self.is_of_curve or self.info.positive_without_hits or "one" in map(self.rules.get, _FIELDS_WITH_SET_VALUES)
        )

    @cached_property
    def is_of_curve(self) -> bool:
        """Whether the value is of a part of the ROC curve, scaled so that a random order has 0.5."""
        return self.info.pairwise and self.info.parameter is not None and self.parameter < 1

    @cached_property
    def unused_fields(self) -> tuple[str, ...]:
        """The fields that are not standard and have no effect, given the others."""
        return tuple(
            name
            for name, f in FIELDS.items()
            if f.requires is not None
            and self.rules[name] != f.standard
            and self.rules[f.requires.field] not in f.requires.choices
        )

    @cached_property
    def identity(self) -> tuple[object, ...]:
        """A key that is equal for values computed alike, before rounding."""
        computed = fields_of("ranking", "judging", "scoring")
        return self.metric, self.cutoff, self.parameter, self.item_group, *(self.rules[name] for name in computed)


def reads_item_values(value: Value) -> bool:
    """Return whether relevant items count by their values."""
    return "weight" in value.info.own_fields and bool(value.rules["weight"] != "one")


def reads_items(value: Value) -> bool:
    """Return whether the value needs `items=`: to find recommended items, or the values or groups of relevant ones."""
    return value.info.walks_list or value.item_group is not None or reads_item_values(value)


_SET_VALUES = {"zero": 0.0, "one": 1.0}  # what a convention gives to users without a value
_FIELDS_WITH_SET_VALUES = ("empty_truth", "empty_list", "missing_list", "undefined")


def range_of(value: Value) -> tuple[float, float]:
    """Return the least and the greatest value that a user may have, whatever the lists are; infinite where there is none."""
    rules = value.rules
    if value.custom is None:
        return range_of_metric(value.info, rules, value.cutoff)  # type: ignore[arg-type]
    low, high = value.custom.range or (-math.inf, math.inf)
    set_values = [_SET_VALUES[rules[name]] for name in _FIELDS_WITH_SET_VALUES if rules[name] in _SET_VALUES]
    return min([low, *set_values]), max([high, *set_values])


def range_of_metric(
    info: _core.MetricInfo, rules: Mapping[str, Any] = STANDARD_RULES, cutoff: int | None = None
) -> tuple[float, float]:
    """Return the least and the greatest value of a metric under these rules.

    A metric is in [0, 1] or another range if its description says so, and otherwise above 0.
    """
    if math.isfinite(info.greatest):
        return info.least, info.greatest
    if rules["distance"] == "dot" and _needs(info, rules).distances:
        return -math.inf, math.inf
    if rules["duplicate_items"] == "count":  # so that a list may have more hits than there are relevant items
        return 0.0, math.inf
    if "weight" in info.own_fields and rules["weight"] != "one":
        return 0.0, 1.0 if is_share_of_values(info, rules) else math.inf
    if info.unit_range:
        return 0.0, 1.0
    return 0.0, float(cutoff or math.inf) if info.at_most_cutoff else math.inf


def is_share_of_values(info: _core.MetricInfo | CustomInfo, rules: Mapping[str, Any]) -> bool:
    """Return whether the values of hits are divided by those of relevant items, not by ranks or 1."""
    divisors = [rules[name] for name in info.own_fields if name.endswith("_over")]
    return any(rules["weight"] == "self_normalized" or over not in {"cutoff", "list"} for over in divisors)


def range_text(info: _core.MetricInfo) -> str:
    """Return the range of a metric under the standard convention, in words."""
    low, high = range_of_metric(info)
    largest = "infinity" if math.isinf(high) else f"{high:g}"
    return f"{low:g} to {'k' if range_of_metric(info, cutoff=1) != range_of_metric(info, cutoff=2) else largest}"


LEAST_OF_GEOMETRIC = 1e-5
"""What a value of 0 counts as in a geometric mean."""


def is_in_unit_range(value: Value) -> bool:
    """Return whether each user's value is in [0, 1] for any list."""
    low, high = range_of(value)
    return low >= 0 and high <= 1


class Plan(tuple[Value, ...]):  # noqa: SLOT001 - cached properties need a dictionary
    """The values of a call, with what is worked out of them once, as plans are evaluated over and over."""

    def __reduce__(self) -> tuple[type[Plan], tuple[tuple[Value, ...]]]:
        return Plan, (tuple(self),)  # without what is worked out

    @cached_property
    def distinct_parts(self) -> Plan:
        """The distinct parts of the values."""
        return Plan({part.identity: part for value in self for part in value.parts}.values())

    @cached_property
    def part_indices(self) -> list[tuple[int, ...]]:
        """The indices of each value's parts among the distinct parts of all values."""
        indices = {part.identity: index for index, part in enumerate(self.distinct_parts)}
        return [tuple(indices[part.identity] for part in value.parts) for value in self]

    @cached_property
    def only_parts(self) -> list[int] | None:
        """The index of the only part of each value; None if one has several, or is counted over all lists together."""
        if any(len(value.parts) != 1 or value.info.of_collection or value.info.reads_groups for value in self):
            return None
        return [index for (index,) in self.part_indices]

    @cached_property
    def ranks_alike(self) -> bool:
        """Whether all values rank the items in one way."""
        fields = ("ties", "rank_gaps", "score_dtype", "negative_infinity")
        return self.moves_up_alike and len({tuple(value.rules[field] for field in fields) for value in self}) == 1

    @cached_property
    def moves_up_alike(self) -> bool:
        """Whether repeated items, and those that are not judged, take no rank under all values, or under none."""
        return len({(value.rules["duplicate_items"] == "collapse", value.rules["unjudged"]) for value in self}) == 1

    @cached_property
    def core(self) -> list[_core.PlannedValue]:
        """The values in the core's form."""
        return [value.core for value in self]

    @cached_property
    def walks_lists(self) -> bool:
        """Whether a value reads the items of the lists."""
        return any(value.info.walks_list for value in self)

    @cached_property
    def of_collections(self) -> bool:
        """Whether a value is of all lists together, and has no sums over users."""
        return any(value.info.of_collection for value in self)

    @cached_property
    def item_tallies(self) -> tuple[TallyPlan, ...]:
        """What to count for the values of all lists together."""
        return plan_item_tallies(self)

    @cached_property
    def group_tallies(self) -> tuple[Value, ...]:
        """What to count for the values of groups of items."""
        return plan_group_tallies(self)

    @cached_property
    def readers_of_base(self) -> tuple[Value, ...]:
        """The values that read base predictions."""
        return tuple(value for value in self if value.info.reads_base)

    @cached_property
    def readers_of_truth(self) -> tuple[Value, ...]:
        """The values that read the truth."""
        return tuple(value for value in self if value.info.reads_truth)

    @cached_property
    def last_cutoff_of_truth(self) -> int:
        """The last cutoff of the values that read the truth; 0 if none has one."""
        return max((value.cutoff or 0 for value in self.readers_of_truth), default=0)

    @cached_property
    def compares_lists(self) -> tuple[bool, ...]:
        """Whether each value compares two lists."""
        return tuple(value.info.compares_lists for value in self)

    @cached_property
    def parts_that_show_hits(self) -> list[int]:
        """The index of the first part of each value whose sum over users is above 0 only if there is a hit."""
        return [
            indices[0]
            for value, indices in zip(self, self.part_indices, strict=True)
            if value.rules["average"] == "macro" and indices and value.shows_hits
        ]

    @cached_property
    def counts_all_grades(self) -> bool:
        """Whether a value counts all grades above 0 as relevant."""
        return any(value.rules["min_grade"] is None for value in self)

    @cached_property
    def strictest_grade(self) -> float | str | None:
        """The `min_grade` of the value that reads the truth and counts the fewest items as relevant."""
        grades = [value.rules["min_grade"] for value in self.readers_of_truth]
        numbers = [grade for grade in grades if grade is not None and grade != "any"]
        return max(numbers, default=None if None in grades else "any")

    @cached_property
    def closes_rank_gaps(self) -> bool:
        """Whether a value closes gaps of ranks."""
        return any(value.rules["rank_gaps"] != "keep" for value in self)

    @cached_property
    def reads_hits_alone(self) -> bool:
        """Whether the values are of users, and read nothing but which items of the lists are relevant."""
        return not (
            self.item_groups
            or self.walks_lists
            or self.of_collections
            or self.reads_history
            or self.readers_of_base
            or self.has_customs
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The canonical names."""
        return tuple(value.name for value in self)

    @cached_property
    def spellings_by_name(self) -> Mapping[str, str]:
        """The values as requested, by canonical name."""
        return MappingProxyType(dict(zip(self.names, self.spellings, strict=True)))

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The values as requested."""
        return tuple(value.spelling for value in self)

    @cached_property
    def reads_history(self) -> bool:
        """Whether a value reads what users have in train."""
        return any(value.needs.history for value in self)

    @cached_property
    def _of_labels(self) -> dict[tuple[int | str | None, ...], Plan]:
        return {}

    def of_each_group(self, labels: tuple[int | str | None, ...]) -> Plan:
        """Return the plan with a value of each of these groups of items in place of those of every group."""
        if labels not in self._of_labels:
            self._of_labels.clear()  # the groups of one catalogue are enough
            distinct: dict[str, Value] = {}
            for value in self:
                for one in value.of_each_group(labels):
                    distinct.setdefault(one.name, one)
            self._of_labels[labels] = Plan(distinct.values())
        return self._of_labels[labels]

    @cached_property
    def names_of_all_items(self) -> list[str]:
        """The canonical names of the values that are not of a group of items."""
        return [value.name for value in self if value.item_group is None]

    @cached_property
    def item_groups(self) -> tuple[ItemGroup, ...]:
        """The groups of items that values are of."""
        return tuple(dict.fromkeys(value.item_group for value in self if value.item_group is not None))

    @cached_property
    def has_customs(self) -> bool:
        """Whether a value is of a metric of one's own."""
        return any(value.custom is not None for value in self)


def as_plan(values: Iterable[Value]) -> Plan:
    """Return the values as a plan."""
    return values if isinstance(values, Plan) else Plan(values)


_COUNTING_FIELDS = ("foreign_items", "list_users", "users", "empty_truth", "empty_list")
"""The fields that decide which lists and items are counted, beside those that decide how lists are read."""


Counted: TypeAlias = Literal["lists", "ranks", "hits", "relevant"]
"""What is counted of the users whose lists count: items of the list, rank by rank or not, those relevant, or all that are."""


class TallyPlan(NamedTuple):
    """Lists whose items are counted, for all values of these lists."""

    rules: Mapping[str, Any]  # of any of these values
    cutoffs: tuple[int | None, ...]  # ascending; None, the last: whole lists
    has_short_lists: bool  # whether items are counted by the length of short lists too
    counted: Counted = "lists"

    @property
    def last_rank(self) -> int | None:
        """The last rank of the lists that is read; None: all."""
        return 1 if self.counted == "relevant" else self.cutoffs[-1]

    @property
    def lists_are_sets(self) -> bool:
        """Whether an item counts once per list."""
        return bool(self.rules["duplicate_items"] != "count")


def plan_item_tallies(values: Sequence[Value]) -> tuple[TallyPlan, ...]:
    """Return what to count for the values, whatever their order."""
    by_key: dict[tuple[Any, ...], list[Value]] = {}
    for value in values:
        if value.info.of_collection and not value.info.reads_groups:
            for counted in _counted_for(value):
                by_key.setdefault((*counting_key(value.rules), counted), []).append(value)
    return tuple(_plan_of_values(by_key[key], key[-1]) for key in sorted(by_key, key=repr))


def _counted_for(value: Value) -> tuple[Counted, ...]:
    if value.counts_hits:
        return ("hits", "relevant")
    return ("ranks",) if counts_ranks(value.info) else ("lists",)


def tally_index(value: Value, tallies: Sequence[TallyPlan]) -> tuple[int, int]:
    """Return which of the tallies has the value's lists, or its hits, and the column of its cutoff."""
    index = _index_of(value, _counted_for(value)[0], tallies)
    return index, tallies[index].cutoffs.index(value.cutoff)


def relevant_index(value: Value, tallies: Sequence[TallyPlan]) -> int:
    """Return which of the tallies has the relevant items of which the value counts the hits."""
    return _index_of(value, "relevant", tallies)


def _index_of(value: Value, counted: Counted, tallies: Sequence[TallyPlan]) -> int:
    keys = [(counting_key(tally.rules), tally.counted) for tally in tallies]
    return keys.index((counting_key(value.rules), counted))


def _plan_of_values(values: Sequence[Value], counted: Counted) -> TallyPlan:
    if counted == "relevant":
        return TallyPlan(values[0].rules, (None,), has_short_lists=False, counted=counted)
    cutoffs = sorted({k for value in values for k in value.counted_cutoffs}, key=lambda cutoff: cutoff or math.inf)
    needs_lengths = any(
        "list_similarity" in value.info.own_fields and value.rules["list_similarity"] == "cosine" for value in values
    )
    return TallyPlan(values[0].rules, tuple(cutoffs), needs_lengths, counted)


def counting_key(rules: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what decides which lists are counted, and which items of them."""
    return tuple(rules[name] for name in (*fields_of("ranking", "judging"), *_COUNTING_FIELDS))


def plan_group_tallies(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return what to count, whatever the order of the values: each metric and its lists, down to the last cutoff.

    Counts are by rank, so that all cutoffs share them.
    """
    by_key: dict[tuple[Any, ...], list[Value]] = {}
    for value in values:
        if value.info.reads_groups:
            by_key.setdefault(_key(value), []).append(value)
    return tuple(max(by_key[key], key=lambda value: value.cutoff or math.inf) for key in sorted(by_key, key=repr))


def group_tally_index(value: Value, tallies: Sequence[Value]) -> int:
    """Return which of the tallies has the value's counts."""
    return list(map(_key, tallies)).index(_key(value))


def _key(value: Value) -> tuple[Any, ...]:
    return (value.metric, *counting_key(value.rules))
