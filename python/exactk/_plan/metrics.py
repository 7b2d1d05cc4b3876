"""Registries, and that of metrics; what is meant by names that are none, the fields that each reads; metrics of one's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from exactk import _core
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import plural, quote
from exactk._runtime.records import NamedTuple, Record
from exactk._runtime.texts import did_you_mean, fold

_T = TypeVar("_T")


class Registry(Mapping[str, _T], Generic[_T]):
    """A read-only mapping by name that also finds aliases and other spellings; only the names are listed.

    It prints a line per entry, with its name and what `describe` returns. `kind` is the noun for an entry.
    """

    def __init__(
        self,
        entries: Mapping[str, _T],
        describe: Callable[[_T], str],
        kind: str,
        aliases: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._entries = entries
        self._describe, self._kind = describe, kind
        self._names = {**{name: name for name in entries}, **aliases}
        self._folded_names = {fold(spelling): name for spelling, name in self._names.items()}

    def name_of(self, spelling: object) -> str | None:
        """Return the name that is meant, if there is one."""
        return self._folded_names.get(fold(spelling)) if isinstance(spelling, str) else None

    def hint(self, spelling: str) -> str:
        """Return a hint with the most similar name or alias, or an empty string."""
        return did_you_mean(spelling, self._names)

    def __getitem__(self, spelling: str) -> _T:
        """Return the entry of a name, in any spelling."""
        entry = self._entries.get(spelling)  # most often it is spelled as the name is
        if entry is not None:
            return entry
        name = self.name_of(spelling)
        if name is None:
            raise KeyError("; ".join(part for part in (repr(spelling), self.hint(str(spelling))) if part))
        return self._entries[name]

    def __contains__(self, spelling: object) -> bool:
        return self.name_of(spelling) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    if not TYPE_CHECKING:  # which would take any attribute for one

        def __getattr__(self, name: str) -> object:
            """Raise AttributeError, with how to write an entry."""
            entry = None if name.startswith("_") else self.name_of(name)
            hint = "" if entry is None else f"; {self._kind}s[{entry!r}] is the {self._kind}"
            message = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
            raise AttributeError(message, name=name, obj=self)

    def __dir__(self) -> list[str]:
        """Return the names of a mapping's methods."""
        return ["get", "items", "keys", "values"]

    def __repr__(self) -> str:
        width = max(map(len, self._entries), default=0)
        return "\n".join(f"{name:{width}}  {self._describe(entry)}" for name, entry in self._entries.items())

    def _repr_html_(self) -> str:
        from exactk._runtime.table import Table, html_of_tables

        rows = [[name, self._describe(entry)] for name, entry in self._entries.items()]
        caption = plural(len(rows), self._kind)
        return html_of_tables([Table.of_rows(["name", "description"], rows, 2, caption=caption, longest=1500)])

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


MetricInfo: TypeAlias = _core.MetricInfo
"""What the core knows of a metric."""


class MetricEntry:
    """A metric as it is asked for: under one of its names, perhaps with settings. As text, it is its metric string."""

    __slots__ = ("_info", "_settings", "_spelling")

    def __init__(
        self, info: MetricInfo | None = None, spelling: str = "", settings: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        if not isinstance(info, _core.MetricInfo):
            raise TypeError("metrics are not made, but found by name: exactk.metrics.ndcg or exactk.metrics['ndcg']")
        self._info, self._spelling, self._settings = info, spelling or info.name, dict(settings)

    @property
    def name(self) -> str:
        """The name."""
        return self._info.name

    @property
    def aliases(self) -> list[str]:
        """The other names."""
        return self._info.aliases

    @property
    def summary(self) -> str:
        """What the metric measures."""
        return self._info.summary

    @property
    def formula(self) -> str:
        """The formula under the standard convention."""
        return self._info.formula

    @property
    def direction(self) -> str:
        """Which values are better: higher, lower or, where neither is, none."""
        return self._info.direction

    @property
    def parameter(self) -> _core.MetricParameter | None:
        """The name, bounds and standard value of the parameter, if there is one."""
        return self._info.parameter

    @property
    def source(self) -> str:
        """Where the metric is from."""
        return self._info.source

    def _at(self, cutoffs: str) -> str:
        """Return the metric string; the cutoffs begin with @."""
        settings = ",".join(f"{name}={text_of(value)}" for name, value in self._settings.items())
        return f"{self._spelling}{cutoffs}{f'({settings})' if settings else ''}"

    def __str__(self) -> str:
        return self._at("")

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetricEntry):
            return NotImplemented
        return (self.name, self._settings) == (other.name, other._settings)

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self._settings.items())))  # in any order

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]


def text_of(value: object) -> str:
    """Return a setting's value as metric strings have it."""
    if isinstance(value, (tuple, list, np.ndarray)):
        return "[" + ",".join(map(text_of, value)) + "]"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def bounds_text(parameter: _core.MetricParameter) -> str:
    """Return what a parameter may be, and what it is by default."""
    highest = "below 1" if 0.5 < parameter.high < 1 else f"{parameter.high:g}"  # the last number below 1
    default = "required" if parameter.standard is None else f"default {parameter.standard:g}"
    return f"{parameter.low:g} to {highest}, {default}"


def path_of(info: MetricInfo, spelling: str = "") -> str:
    """Return the expression that is the metric."""
    registry, name = f"exactk.{'agreement_metrics' if info.compares_lists else 'metrics'}", spelling or info.name
    return f"{registry}.{name}" if name.isidentifier() else f"{registry}[{name!r}]"


def lists_of(info: MetricInfo) -> str:
    """Return the arguments of which the metric computes a value."""
    return "one, other" if info.compares_lists else "truth, predictions"


def describe(metric: MetricInfo | MetricEntry) -> str:
    """Return what a metric measures, and its other names."""
    also = f" (also {', '.join(metric.aliases)})" if metric.aliases else ""
    return metric.summary + also


metrics: Registry[MetricInfo] = Registry(
    {info.name: info for info in _core.metric_table()},
    describe,
    "metric",
    {alias: info.name for info in _core.metric_table() for alias in info.aliases},
)
"""Every metric by its name: what it measures, its formula, source, aliases and parameter."""


class _PrecisionOfGroup:
    """The description of precision of a group of items, which divides by the items of the group in the list."""

    _differing: Mapping[str, Any] = MappingProxyType(
        {
            "name": "precision(item_group)",
            "summary": "share of the recommended items of a group that are relevant",
            "formula": "h_g / n_g, with h_g hits among the n_g items of the group g of the first k",
            "undefined_case": "no item of the list is in the group",
            "own_fields": (),
            **dict.fromkeys(("walks_list", "reads_list"), True),
            "may_condense": False,
        }
    )

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as of the core's descriptions
        return self._differing[name] if name in self._differing else getattr(metrics["precision"], name)

    def __reduce__(self) -> str:
        return "PRECISION_OF_GROUP"


PRECISION_OF_GROUP: Any = _PrecisionOfGroup()
INFOS_OF_GROUPS: Mapping[str, Any] = MappingProxyType({"precision": PRECISION_OF_GROUP})
"""What stands for a metric of a group of items, with the truth restricted to it, where that is not the metric itself."""

RULES_OF_GROUP_PRECISION: Mapping[str, str] = MappingProxyType({"undefined": "skip", "foreign_items": "ignore"})
"""What replaces the fields of a convention: users whose list has no item of the group have no value."""

evaluation_metrics = {name: info for name, info in metrics.items() if not info.compares_lists}
agreement_metrics = {name: info for name, info in metrics.items() if info.compares_lists}
"""The metrics of `exactk.evaluate`, and those of `exactk.agreement`, by name."""

AGREEMENT_FIELDS = ("rbo_over", "undefined", "ties", "nan", "score_dtype", "negative_infinity", "decimals")
"""The fields that `exactk.agreement` reads: others would tell the two lists apart, or take an item twice."""

AGREEMENT_FIELDS_OF_VALUES = ("rbo_over", "undefined", "decimals")
"""Those that may differ between values: both lists are ranked once."""

_OWN_FIELDS = frozenset(field for info in metrics.values() for field in info.own_fields)
_GAIN_FIELDS = frozenset({"gain", "gain_table", "gain_range"})
_DISCOUNT_FIELDS = frozenset({"discount", "discount_base", "discount_power", "discount_persistence", "discount_table"})
_TRUTH_FIELDS = frozenset({"empty_truth", "min_grade", "negative_grades"})
_USERS_FIELDS = frozenset({"users", "empty_list", *_TRUTH_FIELDS})  # what `list_users` reads
_LIST_POLICIES = frozenset({"missing_list", "empty_list", "undefined"})
_RANKING_FIELDS = frozenset({"score_dtype", "negative_infinity", "rank_gaps", "chunk_score"})


METRICS_OF_SHARES = ("precision", "recall", "average_precision", "dcg", "ndcg", "rbp", "num_hits")
METRICS_OF_GROUPS = (*METRICS_OF_SHARES, "hit_rate", "reciprocal_rank")
"""The metrics whose numerator is a sum over hits, and all that have values of groups of items."""


def ignored_fields(info: MetricInfo | CustomInfo, list_users: str = "users") -> frozenset[str]:
    """Return the fields of a convention that the metric does not read, such as the gain for precision.

    Metrics of all lists together read which users are in a mean only where `list_users` says so.
    """
    ignored = _OWN_FIELDS - set(info.own_fields)
    if not info.uses_gains or info.takes_max_grade:
        ignored |= _GAIN_FIELDS
    if not info.discounted:
        ignored |= _DISCOUNT_FIELDS
    if info.of_collection:
        ignored |= {"average", "missing_list"} | (_USERS_FIELDS if list_users == "lists" else frozenset())
    elif not info.reads_truth:
        ignored |= _TRUTH_FIELDS
    if info.always_divided:
        ignored |= {"undefined"}
    if not info.may_condense:
        ignored |= {"unjudged"}
    if not info.reads_predictions:
        ignored |= _RANKING_FIELDS
    if info.name not in METRICS_OF_GROUPS and info is not PRECISION_OF_GROUP:
        ignored |= {"item_group_value"}
    return ignored | _LIST_POLICIES if info.counts_missing_lists else ignored


def metric_info(spelling: str, metric_string: str | None = None) -> MetricInfo:
    """Return the metric's description, by its name or an alias in any spelling."""
    name = metrics.name_of(spelling)
    if name is None:
        if meant := meant_by(metric_string or spelling):
            hint = f"did you mean {(meant.string if metric_string else meant.spelling)!r}?"
        else:
            of_lists, others = ", ".join(agreement_metrics), ", ".join(evaluation_metrics)
            all_names = f"the metrics of two lists are {of_lists}; the other metrics are {others}"
            hint = metrics.hint(spelling) or all_names
        raise input_error("metrics", "the name of a metric", quote(metric_string or spelling), hint=hint)
    return metrics[name]


_F_OF_NUMBER = r"(?ai)f(?:[-_]?beta)?[-_]?(?P<beta>0[._]?[0-9]{1,9}|[0-9]{1,9})(?:[-_]?score)?(?:(?:[-_]?at[-_]?|@)(?P<cutoff>[1-9][0-9]{0,8}|k))?"
"""F with its beta, as in f2, F0.5@10 and f05_score."""
_NAME_AT = r"(?ai)(?P<name>.+?)(?:[-_]?score)?(?:[-_ ]?(?:@|at[-_ ]?)?(?P<cutoff>[1-9][0-9]{0,8}|k))?"
"""A cutoff without @, or in the name of a function, as in ndcg10, ndcg_at_10, apk and ndcg_score."""


class Meant(NamedTuple):
    """What may be meant by a name that is none, such as ``f2`` or ``ndcg_at_10``."""

    info: MetricInfo
    spelling: str
    cutoff: int | None
    settings: str  # as in metric strings

    @property
    def string(self) -> str:
        """The metric string."""
        at = "" if self.cutoff is None or self.info.pairwise else f"@{self.cutoff}"
        return f"{self.spelling}{at}{f'({self.settings})' if self.settings else ''}"

    @property
    def path(self) -> str:
        """The object."""
        settings = self.settings if re.fullmatch(r"(\w+=[0-9.]+)?", self.settings) else "..."
        return path_of(self.info, self.spelling) + (f".with_({settings})" if settings else "")

    @property
    def call(self) -> str:
        """The value."""
        return f"{self.path}({lists_of(self.info)}{'' if self.info.pairwise else f', k={self.cutoff or 10}'})"


def meant_by(text: str) -> Meant | None:
    """Return which metric a name may mean that has a cutoff or beta in it, or is a function's; None for others."""
    before, _, rest = text.partition("(")
    settings, _, after = rest.rpartition(")")
    name = f"{before.strip()}{after.strip()}"
    of_f, of_name = re.fullmatch(_F_OF_NUMBER, name), re.fullmatch(_NAME_AT, name)
    if name in metrics:
        spelling, k = name, None
    elif of_f:
        beta, k = re.sub(r"^0[._]?(?=[0-9])", "0.", of_f["beta"]), of_f["cutoff"]
        spelling = "f1" if beta == "1" else "fbeta"
        settings = settings if beta == "1" else ",".join(filter(None, (f"beta={beta}", settings)))
    elif of_name and of_name["name"] in metrics:
        spelling, k = of_name["name"], of_name["cutoff"]
    else:
        return None
    info = metrics[spelling]
    if not settings and info.parameter is not None and info.parameter.standard is None:
        settings = f"{info.parameter.name}=..."
    return Meant(info, spelling, None if k is None else int(k) if k.isdigit() else 10, settings)


_CUSTOM_NAME = r"[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z])?"


def check_name(name: object) -> str:
    """Return the name of a custom metric, or raise if strings could not name it."""
    if not isinstance(name, str):
        raise type_error("name", "a string", repr(name))
    if not re.fullmatch(_CUSTOM_NAME, name) or len(name) > 100:
        expected = "letters, digits, _ and -, from a letter to a letter"
        raise input_error("name", expected, repr(name[:200]), hint="k= is the cutoff")
    return name


_OF_CUSTOM: Mapping[str, Any] = MappingProxyType(
    {
        "summary": "a metric of one's own, from exactk.custom",
        **dict.fromkeys(("formula", "source", "undefined_case"), ""),
        **dict.fromkeys(("aliases", "own_fields"), ()),
        "parameter": None,
        **dict.fromkeys(("micro", "reads_predictions"), True),
        "positive_without_hits": True,  # for all that is known
    }
)
"""What the core's descriptions say of metrics of one's own; all else is false."""


class CustomInfo(Record):
    """The description of a metric of one's own, with the attributes of the other metrics' descriptions."""

    name: str
    of: Literal["judged", "lists"]
    range: tuple[float, float] | None
    direction: Literal["higher", "lower", "none"]
    digest: int  # 128 bits that tell its function from others of its name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as of the core's descriptions
        if name.startswith("_") or not hasattr(MetricInfo, name):
            raise AttributeError(name)
        return _OF_CUSTOM.get(name, False)

    @property
    def reads_truth(self) -> bool:
        """Whether users without relevant items are as the convention says."""
        return self.of == "judged"

    @property
    def may_condense(self) -> bool:
        """Whether its lists have no unjudged items where the convention removes these."""
        return self.of == "judged"


class CustomMetric(Record):
    """A metric of one's own at a cutoff, for the metrics of `exactk.evaluate` and `exactk.compare`.

    `exactk.custom` makes it.

    Attributes
    ----------
    spelling : str
        The name, the cutoff and the fields, as reports show it: ``"price_recall@10"``.
    function : callable
        What computes it.
    """

    info: CustomInfo
    spelling: str
    function: Callable[[Any], object]

    _uncompared = frozenset({"function"})

    def __reduce__(self) -> tuple[Any, ...]:
        info = self.info
        return CustomMetric._of_parts, (
            (info.name, info.of, info.range, info.direction, info.digest), self.spelling, self.function,
        )  # fmt: skip

    @classmethod
    def _of_parts(cls, parts: tuple[Any, ...], spelling: str, function: Callable[[Any], object]) -> CustomMetric:
        return cls(CustomInfo(*parts), spelling, function)

    def __repr__(self) -> str:
        return f"<custom metric {self.spelling}>"


CustomMetric.__module__ = "exactk.results"  # where a dataclass would look for names, if it stood in its body
