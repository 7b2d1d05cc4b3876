"""Fields of the convention that have no effect, on their metric or given another field: warnings, and one refusal."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from exactk._plan.conventions import base_of, changes_from, conventions, override_name
from exactk._plan.fields import FIELDS
from exactk._plan.metric_strings import as_plan, check_average, plan
from exactk._plan.metrics import ignored_fields
from exactk._runtime.errors import input_error, warn
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exactk._plan.conventions import Convention
    from exactk._plan.metric_strings import Plan
    from exactk._plan.metrics import MetricInfo
    from exactk._plan.values import Value


def warn_of_unused_fields(convention: Convention, values: Sequence[Value]) -> None:
    """Warn once of each field that was changed and has no effect on any value, or on the metric for which it was changed.

    Raise InputError if items are to count by their values in a metric that cannot count them so.
    """
    if not may_have_unused_fields(as_plan(values), convention):
        return
    warned, of_metrics = set[str](), set[tuple[str, str]]()
    for value in values:
        changed = _fields_of_metric(value, convention)
        if not changed and not value.unused_fields:
            continue
        ignored = ignored_fields(value.info, value.rules["list_users"])
        for name in changed:
            if name not in ignored or (name, value.metric) in of_metrics or not _is_of_metric(name, value, convention):
                continue
            of_metrics.add((name, value.metric))
            _tell_ignored(name, value.rules[name], value.metric, value.spelling)
        for name in value.unused_fields:
            if name not in warned | ignored and _is_unused(name, value, convention, values):
                warned.add(name)
                _warn_of_unused_field(name, value, convention)
    _warn_of_unweighted(values)


def may_have_unused_fields(values: Plan, convention: Convention) -> bool:
    """Return whether `warn_of_unused_fields` has fields to look at."""
    return values.has_customs or _may_have_unused_fields(values.spellings, convention)


@lru_cache(maxsize=64)  # like plans
def _may_have_unused_fields(spellings: tuple[str, ...], convention: Convention) -> bool:
    values = plan(spellings, convention, compares_lists=None)
    return any(
        _fields_of_metric(value, convention) or value.unused_fields or value.rules["weight"] == "values"
        for value in values
    )


def check_settings(info: MetricInfo, settings: Mapping[str, Any], given: Iterable[str], spelling: str) -> None:
    """Warn of the fields given to a metric that it does not read, and refuse those that it cannot have.

    What has no effect beside another field is for the evaluation to say: later settings or the convention may have that.
    """
    ignored = ignored_fields(info, settings.get("list_users", "users"))
    for name in given:
        if name == "average":
            check_average(info, settings[name], spelling)
        if name in ignored:
            _tell_ignored(name, settings[name], info.name, spelling)


def _tell_ignored(name: str, value: object, metric: str, spelling: str) -> None:
    """Warn that the metric does not read the field, or refuse items that count by their values."""
    if name == "weight" and value == "values":
        expected = f"{metric} without weight='values', which recall alone reads"
        hint = "recall@k(weight=values) counts items by their values, and exactk.custom makes other metrics that do"
        raise input_error("metrics", expected, spelling, hint=hint)
    warn(f"{name} has no effect on {metric}: leave it out")


def _warn_of_unweighted(values: Sequence[Value]) -> None:
    """Warn if items count by their values in recall, by the whole convention, and not in other metrics beside it."""
    unweighted = [
        value.spelling
        for value in values
        if value.rules["weight"] == "values" and "weight" in ignored_fields(value.info)
    ]
    if unweighted:
        warn(f"weight='values' has an effect on recall alone, and none on {', '.join(dict.fromkeys(unweighted))}")


def _fields_of_metric(value: Value, convention: Convention) -> list[str]:
    """Return the fields that the metric's string or an override changes."""
    override = override_name(value.metric, value.cutoff)
    rules = convention.rules(override)
    overrides = {*convention.overrides.get(override, ()), *convention.overrides.get(value.metric, ())}
    if not overrides and value.rules == rules:
        return []
    return [name for name in FIELDS if name in overrides or value.rules[name] != rules[name]]


def _is_unused(name: str, value: Value, convention: Convention, values: Sequence[Value]) -> bool:
    """Return whether the field was changed by the caller, not by a preset, and has no effect on other values either."""
    if _is_of_string(name, value, convention):
        return True
    base = base_of(convention) or conventions["standard"]
    if value.rules[name] == base.rules(override_name(value.metric, value.cutoff))[name]:
        return False
    rules = [convention.rules(override) for override in ("", *convention.overrides)] + [one.rules for one in values]
    return not any(one[name] == value.rules[name] and _has_effect(name, one) for one in rules)


def _is_of_metric(name: str, value: Value, convention: Convention) -> bool:
    """Return whether the metric's string or an override by the caller changes the field for this metric alone."""
    if _is_of_string(name, value, convention):
        return True
    override = override_name(value.metric, value.cutoff)
    base = base_of(convention) or conventions["standard"]
    has_override = any(name in convention.overrides.get(one, {}) for one in (override, value.metric))
    return has_override and value.rules[name] != base.rules(override)[name]


def _is_of_string(name: str, value: Value, convention: Convention) -> bool:
    """Return whether the metric's string has the field."""
    return bool(value.rules[name] != convention.rules(override_name(value.metric, value.cutoff))[name])


def _has_effect(name: str, rules: Mapping[str, Any]) -> bool:
    requirement = FIELDS[name].requires
    return requirement is None or rules[requirement.field] in requirement.choices


def _warn_of_unused_field(name: str, value: Value, convention: Convention) -> None:
    requirement = FIELDS[name].requires
    assert requirement is not None  # noqa: S101 - for the type checker
    field, choice = requirement.field, requirement.choices[0]
    text = f"{name} has no effect beside {field}={value.rules[field]!r}"
    if _is_of_string(name, value, convention):
        warn(f"{text} in {value.name}; ({field}={choice},{name}=...) uses it")
        return
    override = override_name(value.metric, value.cutoff)
    scopes = (f"{one}." for one in (override, value.metric) if name in convention.overrides.get(one, {}))
    change = {f"{next(scopes, '')}{field}": choice}
    warn(f"{text}; ", Option("convention", changes_from(convention, change)), " uses it")
