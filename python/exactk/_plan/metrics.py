"""The registry of metrics: what each measures, its aliases, its parameter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exactk import _core
from exactk._runtime.errors import input_error
from exactk._runtime.faults import quote
from exactk._runtime.names import Registry

if TYPE_CHECKING:
    from exactk._plan.custom_metric import CustomInfo


def _describe(info: _core.MetricInfo) -> str:
    also = f" (also {', '.join(info.aliases)})" if info.aliases else ""
    return info.summary + also


metrics: Registry[_core.MetricInfo] = Registry(
    {info.name: info for info in _core.metric_table()},
    _describe,
    "metric",
    {alias: info.name for info in _core.metric_table() for alias in info.aliases},
)
"""Every metric by its name: what it measures, its formula, source, aliases and parameter."""


def _select(*, compares_lists: bool) -> Registry[_core.MetricInfo]:
    infos = {name: info for name, info in metrics.items() if info.compares_lists == compares_lists}
    return Registry(infos, _describe, "metric", {alias: name for name, info in infos.items() for alias in info.aliases})


evaluation_metrics = _select(compares_lists=False)
"""The metrics of `exactk.evaluate`, by name."""

agreement_metrics = _select(compares_lists=True)
"""The metrics of `exactk.agreement`, by name."""


_OWN_FIELDS = frozenset(field for info in metrics.values() for field in info.own_fields)
_GAIN_FIELDS = frozenset({"gain", "gain_table"})
_TRUTH_FIELDS = frozenset({"empty_truth", "min_grade"})
_USER_POLICIES = frozenset({"average", "missing_list", "empty_list"})
_LIST_POLICIES = frozenset({"missing_list", "empty_list", "undefined"})


def ignored_fields(info: _core.MetricInfo | CustomInfo) -> frozenset[str]:
    """Return the fields of a convention that the metric does not read, such as the gain for precision."""
    ignored = _OWN_FIELDS - set(info.own_fields)
    if not info.uses_gains or info.takes_max_grade:
        ignored |= _GAIN_FIELDS
    if not info.discounted:
        ignored |= {"discount"}
    if not info.reads_truth:
        ignored |= _TRUTH_FIELDS
    if info.of_collection:
        ignored |= _USER_POLICIES
    return ignored | _LIST_POLICIES if info.counts_missing_lists else ignored


def metric_info(spelling: str, metric_string: str | None = None) -> _core.MetricInfo:
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
