from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeAlias

from exactk import _core
from exactk._plan.field_values import FieldValues
from exactk._plan.fields import FIELDS
from exactk._plan.presets import PRESETS
from exactk._runtime.errors import InputError, did_you_mean, input_error, type_error

_field_values = attrgetter(*FIELDS)

_AT_CUTOFF = "@k"  # suffix of an override for the metric with a cutoff


def _check_field(name: str, value: object) -> Any:  # noqa: ANN401 - a string, a number or a tuple, by field
    """Return the value in its canonical form, or raise InputError."""
    if name not in FIELDS:
        raise _unknown_field_error(name)
    return FIELDS[name].check(value, "convention")


def _unknown_field_error(name: str) -> InputError:
    return input_error(
        "convention", f"one of the fields {', '.join(FIELDS)}", repr(name), hint=did_you_mean(name, list(FIELDS))
    )


def _checked_overrides(choices: Mapping[str, object]) -> Mapping[str, Any]:
    return MappingProxyType({name: _check_field(name, value) for name, value in choices.items()})


def _plain(choices: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in choices.items()}


def override_name(metric: str, cutoff: int | None) -> str:
    """Return the name of the narrowest override that applies to a value."""
    return metric if cutoff is None else metric + _AT_CUTOFF


@dataclass(frozen=True, kw_only=True)
class Convention(FieldValues):
    """The choices that fix the value behind a metric's name.

    Every field has a default; together the defaults are the convention ``standard``. ``exactk.conventions`` maps preset
    names to conventions. The documentation has a table of the fields; ``exactk conventions standard`` prints them.

    Parameters
    ----------
    overrides : mapping from metric to mapping of fields, optional
        Fields for single metrics, such as ``{"ndcg": {"gain": "exp2"}}``. The key ``"ndcg@k"`` applies only where the
        metric has a cutoff, and takes precedence.
    name : str
        The convention's name. It does not affect equality.
    **fields
        The other fields, by name.

    Examples
    --------
    >>> import exactk
    >>> mine = exactk.conventions["standard"].replace(recall_over="min_cutoff_relevant")
    >>> mine.diff("standard")
    {'recall_over': ('min_cutoff_relevant', 'relevant')}
    """

    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    name: str = field(default="custom", compare=False)

    def __post_init__(self) -> None:
        """Check and freeze every field."""
        for name in FIELDS:
            object.__setattr__(self, name, _check_field(name, getattr(self, name)))
        if not isinstance(self.name, str):
            raise type_error("convention", "name to be a string", repr(self.name)[:200])
        metric_names = {info.name for info in _core.metric_table()}
        metric_names |= {f"{info.name}{_AT_CUTOFF}" for info in _core.metric_table() if not info.pairwise}
        frozen: dict[str, Mapping[str, Any]] = {}
        if not isinstance(self.overrides, Mapping):
            raise type_error("convention", "overrides to be a mapping", repr(self.overrides))
        for metric, choices in self.overrides.items():
            if metric not in metric_names:
                names = [info.name for info in _core.metric_table() if metric in info.aliases]
                hint = f"its name is {names[0]!r}" if names else ""
                raise input_error("convention", "overrides with metric names as keys", repr(metric), hint=hint)
            if not isinstance(choices, Mapping):
                raise type_error("convention", f"overrides of {metric} to be a mapping", repr(choices))
            frozen[metric] = _checked_overrides(choices)
        object.__setattr__(self, "overrides", MappingProxyType(frozen))

    def rules(self, metric: str) -> dict[str, Any]:
        """Return every field's value for a metric, or for ``metric@k`` with a cutoff, after overrides."""
        rules = {name: getattr(self, name) for name in FIELDS}
        for name in dict.fromkeys((metric.removesuffix(_AT_CUTOFF), metric)):
            rules |= self.overrides.get(name, {})
        return rules

    def replace(self, **changes: Any) -> Convention:  # noqa: ANN401 - the fields differ in type
        """Return a convention with some fields changed.

        Parameters
        ----------
        **changes
            Fields and their new values. ``overrides`` replaces all overrides.

        Returns
        -------
        Convention
            Its name is ``"custom"`` unless ``name=`` is given.
        """
        unknown = [name for name in changes if name not in {f.name for f in fields(self)}]
        if unknown:
            raise _unknown_field_error(unknown[0])
        return replace(self, **({"name": "custom"} | changes))

    def diff(self, other: Convention | str | Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return the fields that differ, each with both values: ``{field: (own, other)}``.

        Differences in overrides are under ``metric.field``.

        Parameters
        ----------
        other : Convention, str or mapping
            Anything that ``convention=`` accepts.
        """
        other = as_convention(other)
        differing = {
            name: (getattr(self, name), getattr(other, name))
            for name in FIELDS
            if getattr(self, name) != getattr(other, name)
        }
        for metric in sorted({*self.overrides, *other.overrides}):
            rules, other_rules = self.rules(metric), other.rules(metric)
            for name in sorted({*self.overrides.get(metric, {}), *other.overrides.get(metric, {})}):
                if rules[name] != other_rules[name]:
                    differing[f"{metric}.{name}"] = (rules[name], other_rules[name])
        return differing

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data; ``Convention.from_dict`` reads them back."""
        data: dict[str, Any] = _plain({name: getattr(self, name) for name in FIELDS})
        data["overrides"] = {metric: _plain(choices) for metric, choices in self.overrides.items()}
        return data | {"name": self.name}

    @classmethod
    def from_dict(cls, data: Mapping[Any, Any]) -> Convention:
        """Return the convention that `to_dict` described."""
        if not isinstance(data, Mapping) or {*map(type, data)} - {str}:  # type: ignore[redundant-expr]
            raise type_error("convention", "a mapping of fields", repr(data)[:200])
        return cls().replace(**data)

    def __repr__(self) -> str:
        return f"<Convention {self.name}: {departures(self)}>"

    def __hash__(self) -> int:
        overrides = tuple((metric, tuple(sorted(choices.items()))) for metric, choices in self.overrides.items())
        return hash((_field_values(self), frozenset(overrides)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Convention.from_dict, (self.to_dict(),))


_STANDARD = Convention(name="standard")

conventions: Mapping[str, Convention] = MappingProxyType(
    {"standard": _STANDARD} | {name: _STANDARD.replace(name=name, **changes) for name, changes in PRESETS.items()}
)
"""The presets, by name."""


AnyConvention: TypeAlias = Convention | str | Mapping[str, Any]
"""The type of every argument `convention=`: a convention, the name of a preset, or changes to a preset."""


def departures(convention: Convention) -> str:
    """Return the differences from the standard convention as text."""
    return ", ".join(f"{name}={value!r}" for name, value in _changes(convention).items()) or "the defaults"


def _changes(convention: Convention) -> dict[str, Any]:
    """Return the fields that differ from the standard convention, ``metric.field`` for overrides."""
    changes = {name: value for name, (value, _) in convention.diff(_STANDARD).items()}
    for metric, choices in convention.overrides.items():  # including overrides that restore the standard for one metric
        plain = metric.removesuffix(_AT_CUTOFF)
        wider = vars(convention) if plain == metric else convention.rules(plain)
        changes |= {f"{metric}.{name}": value for name, value in choices.items() if value != wider[name]}
    return changes


def as_convention(convention: AnyConvention) -> Convention:
    """Return the convention itself, the preset of that name, or a preset with changes."""
    if isinstance(convention, Convention):
        return convention
    if isinstance(convention, Mapping):
        return _changed_preset(convention)
    if not isinstance(convention, str):
        raise type_error("convention", "a name, a Convention, or a mapping of changes", type(convention).__name__)
    if convention not in conventions:
        hint = did_you_mean(convention, conventions)
        raise input_error("convention", f"one of {', '.join(map(repr, conventions))}", repr(convention), hint=hint)
    return conventions[convention]


def _changed_preset(changes: Mapping[Any, Any]) -> Convention:
    """Return the preset that ``base`` names, by default the standard, with fields and overrides changed."""
    fields_changed: dict[str, Any] = {}
    metric_changes: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        if not isinstance(name, str):
            raise type_error("convention", "field names as keys", repr(name))
        metric, dot, field_name = name.rpartition(".")
        if dot:
            metric_changes.setdefault(metric, {})[field_name] = value
        elif name != "base":
            fields_changed[name] = value
    base = changes.get("base", "standard")
    if not isinstance(base, (str, Convention)):
        raise type_error("convention", "base to be the name of a preset", repr(base))
    convention = as_convention(base).replace(**fields_changed) if fields_changed else as_convention(base)
    if metric_changes:
        overrides = {
            metric: {**convention.overrides.get(metric, {}), **metric_changes.get(metric, {})}
            for metric in {**convention.overrides, **metric_changes}
        }
        convention = convention.replace(overrides=overrides)
    return convention


def changes_from(convention: Convention, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mapping that, as ``convention=``, is this convention with some fields changed."""
    if conventions.get(convention.name) == convention:
        base = {} if convention == _STANDARD else {"base": convention.name}
    else:
        base = _changes(convention)
    return base | dict(changes)
