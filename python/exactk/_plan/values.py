"""The values of a call: metrics at a cutoff under resolved rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk import _core
from exactk._plan.fields import FIELDS, STANDARD_RULES, core_rules, fields_of
from exactk._plan.metrics import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from exactk._plan.custom_metric import CustomInfo

PARTS_OF_MEANS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    dict.fromkeys(("fbeta", "f1"), ("precision", "recall"))
)
"""The metrics that can be computed from the means of other metrics, and those metrics."""


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


@dataclass(frozen=True)
class Value:
    """One value to report: a metric at a cutoff under resolved rules.

    ``name`` is the canonical name; ``spelling`` is the request, with only this cutoff, and ``label`` the same without
    the cutoff. ``rules`` holds every field of the convention as it applies to this value.
    """

    name: str
    metric: str
    cutoff: int | None
    parameter: float
    rules: Mapping[str, Any]
    spelling: str = field(compare=False)
    label: str = field(compare=False)
    custom: CustomInfo | None = None
    function: Callable[[Any], object] | None = field(default=None, compare=False)  # of a custom metric

    @cached_property
    def info(self) -> _core.MetricInfo | CustomInfo:
        """The description of the metric."""
        return self.custom or metrics[self.metric]

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
        return tuple(replace(self, metric=metric, parameter=0.0, rules=rules) for metric in PARTS_OF_MEANS[self.metric])

    @cached_property
    def is_plain_mean(self) -> bool:
        """Whether the value is the arithmetic mean of the users' values, which is not rounded."""
        return not self.info.of_collection and self.rules["average"] == "macro" and self.rules["decimals"] is None

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
        return self.metric, self.cutoff, self.parameter, *(self.rules[name] for name in computed)


def reads_item_values(value: Value) -> bool:
    """Return whether relevant items count by their values."""
    return "weight" in value.info.own_fields and bool(value.rules["weight"] == "values")


def reads_items(value: Value) -> bool:
    """Return whether the value needs `items=`: to find recommended items in the catalogue, or the values of relevant ones."""
    return value.info.walks_list or reads_item_values(value)


_RANGES = {"kendall_tau": (-1.0, 1.0)}
_UP_TO_CUTOFF = frozenset({"num_hits", "num_recommended"})
_SET_VALUES = {"zero": 0.0, "one": 1.0}  # what a convention gives to users without a value


def range_of(value: Value) -> tuple[float, float]:
    """Return the least and the greatest value that a user may have, whatever the lists are; infinite where there is none."""
    rules = value.rules
    if value.custom is None:
        return range_of_metric(metrics[value.metric], rules, value.cutoff)
    fields = "empty_truth", "empty_list", "missing_list", "undefined"
    low, high = value.custom.range or (-math.inf, math.inf)
    set_values = [_SET_VALUES[rules[name]] for name in fields if rules[name] in _SET_VALUES]
    return min([low, *set_values]), max([high, *set_values])


def range_of_metric(
    info: _core.MetricInfo, rules: Mapping[str, Any] = STANDARD_RULES, cutoff: int | None = None
) -> tuple[float, float]:
    """Return the least and the greatest value of a metric under these rules.

    A metric is in [0, 1] if its description says so (`unit_range`), and otherwise above 0, unless it stands here.
    """
    if info.name in _RANGES:
        return _RANGES[info.name]
    if _needs(info, rules).distances and rules["distance"] == "dot":
        return -math.inf, math.inf
    if rules["duplicate_items"] == "count":  # so that a list may have more hits than there are relevant items
        return 0.0, math.inf
    if info.unit_range:
        return 0.0, 1.0
    return 0.0, float(cutoff or math.inf) if info.name in _UP_TO_CUTOFF else math.inf


def range_text(info: _core.MetricInfo) -> str:
    """Return the range of a metric under the standard convention, in words."""
    low, high = range_of_metric(info)
    largest = "infinity" if math.isinf(high) else f"{high:g}"
    return f"{low:g} to {'k' if range_of_metric(info, cutoff=1) != range_of_metric(info, cutoff=2) else largest}"


def is_in_unit_range(value: Value) -> bool:
    """Return whether each user's value is in [0, 1] for any list."""
    low, high = range_of(value)
    return low >= 0 and high <= 1
