"""The registry of metrics: what each measures, its aliases, its parameter."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from exactk import _core
from exactk._plan.fields import FIELDS
from exactk._runtime.errors import input_error
from exactk._runtime.faults import quote
from exactk._runtime.html_table import HtmlTable, html_of_tables
from exactk._runtime.names import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exactk._plan.custom_metric import CustomInfo


class MetricEntry(_core.MetricInfo):
    """A metric of the registry, as it is asked for: under one of its names, perhaps with settings.

    It prints as a page with what it measures, formula, aliases, parameter and source.
    """

    def __init__(
        self, info: _core.MetricInfo, spelling: str = "", settings: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        super().__init__(info)
        self._spelling, self._settings = spelling or info.name, MappingProxyType(dict(settings))

    @property
    def spelling(self) -> str:
        """The name or alias that was asked for."""
        return self._spelling

    @property
    def settings(self) -> Mapping[str, str]:
        """The parameter and the fields of the convention that differ, as metric strings have them."""
        return self._settings

    def string(self, cutoffs: str = "") -> str:
        """Return the metric string; the cutoffs begin with @."""
        settings = ",".join(f"{name}={text}" for name, text in self.settings.items())
        return f"{self.spelling}{cutoffs}{f'({settings})' if settings else ''}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetricEntry):
            return NotImplemented
        return (self.name, self.settings) == (other.name, other.settings)

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.settings.items())))  # in any order

    def __str__(self) -> str:
        rows = [(self.name, self.summary), *self.facts.items()]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:{width}}  {text}" for name, text in rows)

    def _repr_html_(self) -> str:
        facts = list(self.facts.items())
        return html_of_tables([HtmlTable("Metric", [self.name, self.summary], facts, left=2, longest=1000)])

    @property
    def facts(self) -> dict[str, str]:
        """What is known of the metric, under the standard convention where that matters."""
        ignored = ignored_fields(self)
        own_first = dict.fromkeys([*self.own_fields, *FIELDS])
        facts = {
            "formula": self.formula,
            "range": "0 to 1" if self.unit_range else "",
            "better": self.direction,
            "also": ", ".join(self.aliases),
            "parameter": "" if self.parameter is None else _parameter_text(self.parameter),
            "convention fields": ", ".join(name for name in own_first if name not in ignored),
            "source": self.source,
        }
        return {name: text for name, text in facts.items() if text}


def _parameter_text(parameter: _core.MetricParameter) -> str:
    default = "required" if parameter.standard is None else f"default {parameter.standard:g}"
    return f"{parameter.name}, {parameter.low:g} to {parameter.high:g}, {default}"


def describe(metric: _core.MetricInfo) -> str:
    """Return what a metric measures, and its other names."""
    also = f" (also {', '.join(metric.aliases)})" if metric.aliases else ""
    return metric.summary + also


metrics: Registry[MetricEntry] = Registry(
    {info.name: MetricEntry(info) for info in _core.metric_table()},
    describe,
    "metric",
    {alias: info.name for info in _core.metric_table() for alias in info.aliases},
)
"""Every metric by its name: what it measures, its formula, source, aliases and parameter."""


evaluation_metrics = {name: info for name, info in metrics.items() if not info.compares_lists}
agreement_metrics = {name: info for name, info in metrics.items() if info.compares_lists}
"""The metrics of `exactk.evaluate`, and those of `exactk.agreement`, by name."""

_OWN_FIELDS = frozenset(field for info in metrics.values() for field in info.own_fields)
_GAIN_FIELDS = frozenset({"gain", "gain_table"})
_TRUTH_FIELDS = frozenset({"empty_truth", "min_grade", "negative_grades"})
_USERS_FIELDS = frozenset({"users", "empty_list", *_TRUTH_FIELDS})  # what `list_users` reads
_LIST_POLICIES = frozenset({"missing_list", "empty_list", "undefined"})
_ALWAYS_DIVIDED = (
    "hit_rate",
    "reciprocal_rank",
    "dcg",
    "rbp",
    "err",
    "num_hits",
    "num_recommended",
    "num_items",
    "coverage",
)
_IGNORED_BY_NAME: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        **dict.fromkeys(_ALWAYS_DIVIDED, frozenset({"undefined"})),  # by a number above 0
        "num_relevant": frozenset({"undefined", "score_dtype", "negative_infinity", "rank_gaps"}),  # of no list
    }
)


def ignored_fields(info: _core.MetricInfo | CustomInfo, list_users: str = "users") -> frozenset[str]:
    """Return the fields of a convention that the metric does not read, such as the gain for precision.

    Metrics of all lists together read which users are in a mean only where `list_users` says so.
    """
    ignored = _OWN_FIELDS - set(info.own_fields)
    if not info.uses_gains or info.takes_max_grade:
        ignored |= _GAIN_FIELDS
    if not info.discounted:
        ignored |= {"discount"}
    if info.of_collection:
        ignored |= {"average", "missing_list"} | (_USERS_FIELDS if list_users == "lists" else frozenset())
    elif not info.reads_truth:
        ignored |= _TRUTH_FIELDS
    ignored |= _IGNORED_BY_NAME.get(info.name, frozenset())
    return ignored | _LIST_POLICIES if info.counts_missing_lists else ignored


def metric_info(spelling: str, metric_string: str | None = None) -> MetricEntry:
    """Return the metric's description, by its name or an alias in any spelling."""
    name = metrics.name_of(spelling)
    if name is None:
        hint = _cutoff_hint(metric_string or spelling) or metrics.hint(spelling) or _all_names()
        raise input_error("metrics", "the name of a metric", quote(metric_string or spelling), hint=hint)
    return metrics[name]


def _all_names() -> str:
    of_lists, others = ", ".join(agreement_metrics), ", ".join(evaluation_metrics)
    return f"the metrics of two lists are {of_lists}; the other metrics are {others}"


_CUTOFF = re.compile(r"(?P<name>.+?)[-_]?(at[-_]?)?(?P<cutoff>[1-9][0-9]{0,8}|(?<=[-_])k)", re.ASCII | re.IGNORECASE)
"""A cutoff without @, as in ndcg10, ndcg_at_10 and ndcg_at_k."""


def _cutoff_hint(spelling: str) -> str:
    """Return how to write a name that ends in a cutoff."""
    parts = _CUTOFF.fullmatch(spelling)
    if parts is None or parts["name"] not in metrics:
        return ""
    return f"did you mean '{parts['name']}@{parts['cutoff'] if parts['cutoff'].isdigit() else 10}'?"
