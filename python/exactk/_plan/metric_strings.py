from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from numbers import Integral, Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from exactk import _core
from exactk._plan.conventions import Convention, base_of, changes_from, conventions, override_name
from exactk._plan.fields import FIELDS, field_name, number_of_text, within_spelling
from exactk._plan.metrics import (
    AGREEMENT_FIELDS,
    AGREEMENT_FIELDS_OF_VALUES,
    INFOS_OF_GROUPS,
    RULES_OF_GROUP_PRECISION,
    CustomInfo,
    CustomMetric,
    MetricEntry,
    agreement_metrics,
    ignored_fields,
    meant_by,
    metric_info,
    metrics,
    text_of,
)
from exactk._plan.values import MOST_COUNTED_RANKS, PARTS_OF_MEANS, Plan, Value, as_plan, counts_ranks
from exactk._runtime.errors import ExactkError, InputError, input_error, type_error, warn
from exactk._runtime.faults import Option, quote
from exactk._runtime.records import NamedTuple
from exactk._runtime.texts import did_you_mean, fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._plan.item_groups import ItemGroup
    from exactk._plan.metrics import MetricInfo


DEFAULT_METRICS = ("precision@10", "recall@10", "ndcg@10", "map@10", "mrr@10")
"""What is evaluated where no metrics are given."""

_ITEM_GROUP = fold("item_group")
_ANY_METRIC = "ndcg"  # whose override may have every field
_MAX_LENGTH = 2**16  # characters of a metric string, or of a canonical name
_MAX_GAINS = 2**24  # over all values of a plan, one table per value

_NAME = r"[A-Za-z][A-Za-z0-9_-]*|[fF]\d+\.\d+"
_SEPARATOR = r"""[,()\[\]{}]|"(?:[^"\\]|\\.)*"|'[^']*'"""  # or a label in quotation marks


MetricsLike: TypeAlias = str | CustomMetric | MetricEntry | Iterable[str | CustomMetric | MetricEntry]
"""The type of every argument `metrics=`: metric strings, metrics, and what `exactk.custom` returns, in order."""

Customs: TypeAlias = Mapping[str, CustomInfo]
"""The metrics of one's own that strings may name, by name."""

NO_CUSTOMS: Customs = MappingProxyType({})


def plan(
    requested: MetricsLike,
    convention: Convention,
    *,
    compares_lists: bool | None = False,
    customs: Customs = NO_CUSTOMS,
) -> Plan:
    """Resolve metric strings against a convention.

    A repeated value is reported once, where it came first and as it was spelled there. Only metrics that compare two
    lists are accepted, or only others; None: all.
    """
    values = _resolve(requested, convention, customs)
    if compares_lists is not None and (not compares_lists) in values.compares_lists:
        spelling = values[values.compares_lists.index(not compares_lists)].spelling
        expected, call = (
            f"metrics that compare two lists: {', '.join(agreement_metrics)}",
            "evaluate(truth, predictions",
        )
        found = quote(spelling)
        if not compares_lists:
            expected, call = "metrics of predictions and truth", "agreement(one, other"
            found += ", which compares two lists"
        raise input_error("metrics", expected, found, hint=f"exactk.{call}, {spelling!r}) computes it")
    return values


_ONLY_STRINGS: set[type] = {str}


def _resolve(requested: MetricsLike, convention: Convention, customs: Customs) -> Plan:
    if isinstance(requested, (str, CustomMetric, MetricEntry)):
        requested = [requested]
    if isinstance(requested, (list, tuple)) and not customs and set(map(type, requested)) == _ONLY_STRINGS:
        return _cached_plan(tuple(requested), convention)
    if isinstance(requested, Mapping):
        hint = "metrics=list(metrics)"  # a report has values
        if all(isinstance(k, Integral) for k in requested.values()):
            hint = 'metrics=[f"{name}@{k}" for name, k in metrics.items()] adds the cutoffs'
        elif all(isinstance(cutoffs, Iterable) and not isinstance(cutoffs, str) for cutoffs in requested.values()):
            hint = 'metrics=[f"{name}@{k}" for name, cutoffs in metrics.items() for k in cutoffs] adds the cutoffs'
        raise type_error("metrics", "a metric string or a list of them", type(requested).__name__, hint=hint)
    if not hasattr(requested, "__iter__") or isinstance(requested, (set, frozenset, bytes)):  # a set has no order
        found = type(requested).__name__
        raise type_error("metrics", "a metric string or a list of them", found, hint=_way_on(requested))
    spellings = tuple(str(one) if isinstance(one, MetricEntry) else one for one in requested)
    for spelling in spellings:
        if not isinstance(spelling, (str, CustomMetric)):
            raise type_error("metrics", "metric strings or exactk.custom", repr(spelling), hint=_way_on(spelling))
    texts = tuple(one if isinstance(one, str) else one.spelling for one in spellings)
    custom_metrics = [one for one in spellings if isinstance(one, CustomMetric)]
    if not custom_metrics and not customs:
        return _cached_plan(texts, convention)
    functions = {one.info.name: one.function for one in custom_metrics}
    values = _distinct_values(texts, convention, {**customs, **_infos_by_name(custom_metrics)})
    return Plan(value._replace(function=functions.get(value.metric)) for value in values)


def are_metrics(value: Any, convention: Convention) -> bool:  # noqa: ANN401 - of any type
    """Return whether another argument's value is a metric string, or a list of them."""
    try:
        return isinstance(value, (str, list)) and len(plan(value, convention)) > 0
    except ExactkError:
        return False


def _way_on(metric: Any) -> str:  # noqa: ANN401 - of any type
    """Return what to write for a number or a function in place of a metric."""
    if not callable(metric):
        return f"metrics='ndcg@{metric}' has the cutoff" if isinstance(metric, Integral) and int(metric) > 0 else ""
    name = getattr(metric, "__name__", "")
    if meant := meant_by(name):
        return f"metrics={meant._replace(cutoff=meant.cutoff or 10).string!r} is the metric of this name"
    name = name if name.isidentifier() else "metric"
    return f"metrics=exactk.custom({name!r}, {name}, k=10) if it takes exactk.results.JudgedLists"


def _infos_by_name(custom_metrics: Sequence[CustomMetric]) -> Customs:
    """Return the descriptions by name; raise InputError if two differ."""
    customs: dict[str, CustomInfo] = {}
    for metric in custom_metrics:
        if customs.setdefault(metric.info.name, metric.info) != metric.info:
            hint = "give each a name of its own"
            raise input_error("metrics", "one function per name", f"two named {metric.info.name}", hint=hint)
    return customs


@lru_cache(maxsize=64)  # the same metrics are evaluated over and over, and are slow to resolve
def _cached_plan(spellings: tuple[str, ...], convention: Convention) -> Plan:
    return _distinct_values(spellings, convention, NO_CUSTOMS)


def _distinct_values(spellings: tuple[str, ...], convention: Convention, customs: Customs) -> Plan:
    values: dict[str, Value] = {}
    gains = 0
    for spelling in spellings:
        for value in _parse_metrics(spelling, convention, customs):
            values.setdefault(value.name, value)
            gains += len(value.rules["gain_table"])
            if gains > _MAX_GAINS:
                raise input_error("metrics", f"gain tables of at most {_MAX_GAINS} gains in all", "more")
    if not values:
        raise input_error("metrics", "at least one metric", "none")
    return Plan(values.values())


def canonical_name(spelling: str, convention: Convention, customs: Customs = NO_CUSTOMS) -> str:
    """Return the canonical name of the value in a metric string."""
    names = [value.name for value in _parse_metrics(spelling, convention, customs)]
    if len(names) > 1:
        raise input_error("metric", "one metric at one cutoff", quote(spelling))
    return names[0]


def _parse_metrics(text: object, convention: Convention, customs: Customs) -> Iterator[Value]:
    """Yield the values of a string, which may have several metrics with commas between them."""
    text = str(text) if isinstance(text, MetricEntry) else text
    if not isinstance(text, str):
        raise type_error("metrics", "metric strings", repr(text))
    if len(text) > _MAX_LENGTH:
        raise input_error("metrics", f"at most {_MAX_LENGTH} characters per string", str(len(text)))
    spellings = [spelling.strip() for spelling in _split_at_commas(text)]
    for spelling in spellings:
        if len(spellings) > 1 and not spelling.strip("0123456789"):
            hint = "brackets hold several cutoffs, as in ndcg@[5,10]" if spelling else ""
            raise input_error("metrics", "a metric before and after each comma", quote(text), hint=hint)
        yield from _parse_metric(spelling, convention, customs)


def _split_at_commas(text: str) -> Iterator[str]:
    """Yield the parts between commas, except commas in parentheses, brackets or braces."""
    depth, begin = 0, 0
    for match in re.finditer(_SEPARATOR, text):
        if match[0][0] in "\"'":
            continue
        if match[0] != ",":
            depth = max(0, depth + (1 if match[0] in "([{" else -1))
        elif not depth:
            yield text[begin : match.start()]
            begin = match.end()
    yield text[begin:]


def _parse_metric(spelling: str, convention: Convention, customs: Customs) -> Iterator[Value]:
    split = _split_spelling(spelling)
    settings = _split_arguments(split.arguments, spelling)
    if split.name not in customs:
        split, settings = _in_words_of_exactk(split, settings, convention)
    info = customs.get(split.name) or metric_info(split.name, spelling)
    if split.suffix and (split.cutoffs or info.parameter):  # f_2 might mean beta = 2
        raise input_error("metrics", "a cutoff written as @k", quote(spelling), hint=_hint(spelling))
    parameter, item_group, changes = _parse_arguments(settings, info, spelling)
    # A convention checks its fields: the string's are those of a convention with one override.
    try:
        any_name = _ANY_METRIC if isinstance(info, CustomInfo) else info.name
        changes = dict(Convention(overrides={any_name: changes}).overrides[any_name])
    except ExactkError as error:
        raise error.amended(argument="metrics") from None
    yield from _resolve_values(info, split, parameter, item_group, changes, convention)


def _hint(spelling: str) -> str:
    meant = meant_by(spelling)
    return "" if meant is None else f"did you mean {meant.string!r}?"


class _Spelling(NamedTuple):
    """A metric string and its parts."""

    text: str
    label: str  # the text without cutoffs
    name: str
    suffix: str  # the cutoff after an underscore of the name
    cutoffs: str  # after @
    arguments: str  # in parentheses
    begin: int  # of the cutoffs in the text

    def at(self, cutoff: int | None) -> str:
        """Return the text of one value: a list of cutoffs becomes the value's own."""
        if not self.cutoffs or self.cutoffs.isdigit():
            return self.text
        return self.text[: self.begin] + self.text[self.begin :].replace(self.cutoffs, str(cutoff), 1)


def _split_spelling(spelling: str) -> _Spelling:
    text = spelling.strip()
    head, parenthesis, rest = text.partition("(")
    arguments, closing, tail = rest.rpartition(")")  # the cutoffs stand before the parentheses, or after them
    name, at, cutoffs = head.partition("@")
    before_at, at_of_tail, cutoffs_of_tail = tail.partition("@")
    begin = text.find("@") if at else len(text) - len(cutoffs_of_tail)
    name, cutoffs, arguments = name.strip(), (cutoffs or cutoffs_of_tail).strip(), arguments.strip()
    is_well_formed = (
        re.fullmatch(_NAME, name)
        and len(parenthesis) == len(closing)
        and not before_at.strip()
        and not (at and at_of_tail)
        and bool(cutoffs) == bool(at or at_of_tail)
        and not set("[])") & set(cutoffs[1:-1] if cutoffs[:1] + cutoffs[-1:] == "[]" else cutoffs)
    )
    if not is_well_formed:
        expected = "one name[@k | @[k1,k2]][(parameter=value, ...)] per string"
        raise input_error("metrics", expected, quote(spelling), hint=_hint(spelling))
    _, underscore, suffix = name.replace("-", "_").rpartition("_")
    if not (underscore and suffix.isdigit()) or name in metrics:  # f_1
        suffix = ""
    stem = name[: -len(suffix) - 1] if suffix else name
    label = f"{stem}({arguments})" if arguments else stem
    return _Spelling(text, label, stem, suffix, cutoffs, arguments, begin)


def _in_words_of_exactk(
    split: _Spelling, settings: list[tuple[str, str]], convention: Convention
) -> tuple[_Spelling, list[tuple[str, str]]]:
    """Return the parts of a spelling of ir_measures as exactk has them, and those of its own as they are."""
    info = metrics.get(split.name)
    if info is not None and not settings and (info.parameter is None or info.parameter.standard is not None):
        return split, settings  # most often, and without the table of names
    from exactk._plan.library_names import in_words_of_exactk

    base = base_of(convention)
    name, cutoffs, settings = in_words_of_exactk(
        split.name,
        split.cutoffs,
        settings,
        split.text,
        is_of_ir_measures=base is not None and base.name == "ir_measures",
    )
    label = split.text if cutoffs != split.cutoffs else split.label
    return split._replace(name=name, cutoffs=cutoffs, label=label), settings


def _parse_cutoffs(text: str, spelling: str) -> list[int | None]:
    if not text:
        return [None]
    cutoffs: list[int | None] = []
    for part in map(str.strip, text.removeprefix("[").removesuffix("]").split(",")):
        if not re.fullmatch(r"\d{1,10}", part, re.ASCII) or not 1 <= int(part) <= _core.MAX_CUTOFF:
            expected = f"cutoffs such as @10 or @[5,10], from 1 to {_core.MAX_CUTOFF}"
            raise input_error("metrics", expected, quote(spelling))
        cutoffs.append(int(part))
    return cutoffs


def _split_arguments(text: str, spelling: str) -> list[tuple[str, str]]:
    """Return the names and values in parentheses, as they are written."""
    settings: list[tuple[str, str]] = []
    for part in _split_at_commas(text) if text else ():
        name, equals, value = map(str.strip, part.partition("="))
        if not equals or fold(name) in (fold(other) for other, _ in settings):
            raise input_error("metrics", "each parameter=value once", quote(spelling))
        settings.append((name, value))
    return settings


def _parse_arguments(
    settings: list[tuple[str, str]], info: _core.MetricInfo | CustomInfo, spelling: str
) -> tuple[float, ItemGroup | None, dict[str, Any]]:
    """Return the metric's parameter, the group of items and convention fields."""
    item_group: ItemGroup | None = None
    parameter: float | None = info.parameter.standard if info.parameter else 0.0
    changes: dict[str, Any] = {}
    seen: set[str] = set()
    for written, value in settings:
        is_parameter = info.parameter is not None and fold(written) == fold(info.parameter.name)
        name = None if is_parameter else field_name(written)
        if fold(written) in seen:  # by two names of it
            raise input_error("metrics", "each parameter=value once", quote(spelling))
        seen.add(fold(written))
        if is_parameter:
            with within_spelling(spelling):
                number = number_of_text(value, "metrics")
            parameter = checked_parameter(info, number, "metrics")
        elif fold(written) == _ITEM_GROUP:
            from exactk._plan.item_groups import item_group_of_text

            item_group = item_group_of_text(value, spelling)
        elif name is not None:
            with within_spelling(spelling):
                changes[name] = FIELDS[name].parse(value, "metrics")
        else:
            names = [*([info.parameter.name] if info.parameter else []), *FIELDS, "item_group"]
            expected = "the name of a field" if info.parameter is None else "the name of a parameter or field"
            hint = did_you_mean(written, names) or f"they are {', '.join(names)}"
            raise input_error("metrics", expected, f"{quote(written)} in {quote(spelling)}", hint=hint)
    if parameter is None:
        assert info.parameter is not None  # noqa: S101 - for the type checker
        raise input_error("metrics", f"{info.name}({info.parameter.name}=...), which has no default", quote(spelling))
    return parameter, item_group, changes


def checked_setting(info: _core.MetricInfo, name: str, value: object) -> tuple[str, Any]:
    """Return a parameter or field, in any spelling, by its name, and its value in canonical form; raise if there is none."""
    if info.parameter is not None and fold(name) == fold(info.parameter.name):
        if isinstance(value, bool) or not isinstance(value, Real):
            raise type_error(name, "a number", repr(value))
        try:
            return info.parameter.name, checked_parameter(info, float(value), name)
        except OverflowError as error:
            raise input_error(name, "a number that float64 holds", "a larger number") from error
    if fold(name) == _ITEM_GROUP:
        from exactk._plan.item_groups import item_group_of_setting

        return "item_group", item_group_of_setting(value).text
    field = field_name(name)
    if field is None:
        names = [*([] if info.parameter is None else [info.parameter.name]), *FIELDS, "item_group"]
        hint = did_you_mean(name, names)
        raise TypeError(f"{info.name}.with_() got an unexpected keyword argument {name!r}{hint and f'; {hint}'}")
    return field, FIELDS[field].check(value, name)


def checked_cutoff(k: object, argument: str = "k") -> int:
    """Return the cutoff, or raise if it is invalid."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise type_error(argument, "an integer", repr(k))
    if not 1 <= int(k) <= _core.MAX_CUTOFF:
        raise input_error(argument, "a cutoff in [1, 2^31)", str(k) if abs(int(k)) < 2**64 else "a larger number")
    return int(k)


def checked_parameter(info: _core.MetricInfo | CustomInfo, number: float, argument: str) -> float:
    """Return the metric's parameter, or raise if it is out of range."""
    bounds = info.parameter
    if bounds is None:
        return number
    if not bounds.low <= number <= bounds.high or (bounds.whole and not number.is_integer()):
        whole_number = ", a whole number" if bounds.whole else ""
        expected = f"{bounds.name} of {info.name} in [{bounds.low:g}, {bounds.high!r}]{whole_number}"
        raise input_error(argument, expected, repr(number))
    return number


def _resolve_values(
    info: _core.MetricInfo | CustomInfo,
    spelling: _Spelling,
    parameter: float,
    item_group: ItemGroup | None,
    changes: dict[str, Any],
    convention: Convention,
) -> Iterator[Value]:
    """Yield the value at each cutoff."""
    cutoffs = _parse_cutoffs(spelling.suffix or spelling.cutoffs, spelling.text)
    custom = info if isinstance(info, CustomInfo) else None
    if custom is not None and cutoffs == [None]:
        raise input_error("metrics", f"{info.name}@k, as for every custom metric", quote(spelling.text))
    if counts_ranks(info) and any(k is None or k > MOST_COUNTED_RANKS for k in cutoffs):
        expected = f"{info.name}@k with k of at most {MOST_COUNTED_RANKS}, as items are counted at each rank"
        raise input_error("metrics", expected, quote(spelling.text))
    convention_rules = _rules_of_metric(info, convention, cutoffs[0])  # all are cutoffs, or there is none
    rules = convention_rules | changes
    # There is nothing to average in a value of all lists together.
    rules["average"] = changes.get("average", "macro") if info.of_collection else rules["average"]
    check_average(info, rules["average"], spelling.text)
    if item_group is not None:
        from exactk._plan.item_groups import check_has_groups

        check_has_groups(info.name, rules, spelling.text)
        if info.name in INFOS_OF_GROUPS and rules["item_group_value"] == "restricted":
            rules |= _rules_of_group_precision(changes, spelling.text)
    changed = {name: value for name, value in changes.items() if value != convention_rules[name]}
    arguments = (
        [f"{info.parameter.name}={text_of(parameter)}"]
        if info.parameter and parameter != info.parameter.standard
        else []
    )
    arguments += [] if item_group is None else [f"item_group={item_group.text}"]
    arguments += [f"{name}={text_of(changed[name])}" for name in FIELDS if name in changed]
    rules_of_all = MappingProxyType(rules)
    in_parentheses = f"({','.join(arguments)})" if arguments else ""
    for cutoff in cutoffs:
        name = info.name + (f"@{cutoff}" if cutoff is not None else "") + in_parentheses
        if len(name) > _MAX_LENGTH:  # it could not be read again
            raise input_error("metrics", f"names of at most {_MAX_LENGTH} characters", str(len(name)))
        yield Value(
            name, info.name, cutoff, parameter, rules_of_all, spelling.at(cutoff), spelling.label, custom, item_group
        )


def _rules_of_group_precision(changes: Mapping[str, Any], spelling: str) -> Mapping[str, Any]:
    """Return the fields of precision of a group that no convention changes; raise InputError if the metric string does."""
    for name in (*RULES_OF_GROUP_PRECISION, "precision_over"):
        if name in changes:
            expected = f"precision of a group without {name}=, as it is of the items of the group in the list"
            raise input_error("metrics", expected, quote(spelling))
    return RULES_OF_GROUP_PRECISION


def _rules_of_metric(info: _core.MetricInfo | CustomInfo, convention: Convention, cutoff: int | None) -> dict[str, Any]:
    """Return the convention's rules for the metric: users who are weighted have a mean of their own, unless an override has."""
    override = override_name(info.name, cutoff)
    rules = convention.rules(override)
    if not info.weighs_users:
        return rules
    return {**rules, "average": "micro", "undefined": "skip", **convention.overrides.get(override, {})}


def check_average(info: _core.MetricInfo | CustomInfo, average: str, spelling: str) -> None:
    """Raise InputError if the metric has no such average."""
    if info.of_collection and average != "macro":
        expected = f"{info.name} without average=, as all lists together have one value"
        raise input_error("metrics", expected, quote(spelling))
    if average == "of_means" and info.name not in PARTS_OF_MEANS:
        expected = f"{info.name}: another average (overrides can set it for one metric)"
        raise input_error("metrics", expected, f"'of_means', which only {' and '.join(PARTS_OF_MEANS)} support")


def spelling_of_custom(name: str, k: int, average: str | None) -> str:
    """Return the metric string of a custom metric, with an average of its own if there is one."""
    if average is None:
        return f"{name}@{k}"
    return f"{name}@{k}(average={FIELDS['average'].check(average, 'average')})"


def warn_of_unused_fields(convention: Convention, values: Sequence[Value], *, has_parents: bool = False) -> None:
    """Warn once of each field that was changed and has no effect on any value, or on the metric for which it was changed.

    Raise InputError if items are to count by their values in a metric that cannot count them so.
    """
    if not may_have_unused_fields(as_plan(values), convention):
        return
    if not has_parents and any(map(_joins_chunks, values)):
        warn("chunk_score has no effect without parents: leave it out")
    warned, of_metrics = set[str](), set[tuple[str, str]]()
    for value in values:
        changed = _fields_of_metric(value, convention)
        if not changed and not value.unused_fields:
            continue
        ignored = ignored_fields(value.info, value.rules["list_users"])
        if value.rules["weight"] == "self_normalized":  # which may divide by 0
            ignored -= {"undefined"}
        ignored |= frozenset() if value.item_group is not None else {"item_group_value"}
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
        _fields_of_metric(value, convention)
        or value.unused_fields
        or value.rules["weight"] != "one"
        or _joins_chunks(value)
        for value in values
    )


def _joins_chunks(value: Value) -> bool:
    return bool(value.rules["chunk_score"] != FIELDS["chunk_score"].standard)


def check_settings(info: MetricInfo, settings: Mapping[str, Any], given: Iterable[str], spelling: str) -> None:
    """Warn of the fields given to a metric that it does not read, and refuse those that it cannot have.

    What has no effect beside another field is for the evaluation to say: later settings or the convention may have that.
    """
    ignored = ignored_fields(info, settings.get("list_users", "users"))
    ignored |= frozenset() if "item_group" in settings else {"item_group_value"}
    for name in given:
        if info.compares_lists and name in FIELDS and name not in AGREEMENT_FIELDS_OF_VALUES:
            raise error_of_all_values(info.name, name, settings[name])
        if name == "average":
            check_average(info, settings[name], spelling)
        if name in ignored:
            _tell_ignored(name, settings[name], info.name, spelling)


def error_of_all_values(metric: str, name: str, value: object) -> InputError:
    """Return the error of a field that `exactk.agreement` reads for all values alike, or not at all."""
    hint = Option("convention", {name: value}) if name in AGREEMENT_FIELDS else ""
    expected = f"{metric} with changes of {', '.join(AGREEMENT_FIELDS_OF_VALUES)} alone"
    return input_error("metrics", expected, f"{name}={value}", hint=hint)


def _tell_ignored(name: str, value: object, metric: str, spelling: str) -> None:
    """Warn that the metric does not read the field, or refuse items that count by their values."""
    if name == "weight" and value != "one":
        expected = (
            f"{metric} without weight={value!r}, as it is no sum over relevant items, which alone can be weighted"
        )
        hint = f"{_weighted_metrics()} count items by their values, and exactk.custom makes other metrics that do"
        raise input_error("metrics", expected, spelling, hint=hint)
    warn(f"{name} has no effect on {metric}: leave it out")


def _warn_of_unweighted(values: Sequence[Value]) -> None:
    """Warn if items count by their values, by the whole convention, and not in all metrics."""
    unweighted = [
        value.spelling for value in values if value.rules["weight"] != "one" and "weight" in ignored_fields(value.info)
    ]
    if unweighted:
        names = ", ".join(dict.fromkeys(unweighted))
        warn(f"weight has an effect on {_weighted_metrics()} alone, and none on {names}")


def _weighted_metrics() -> str:
    return ", ".join(info.name for info in metrics.values() if "weight" in info.own_fields)


def _fields_of_metric(value: Value, convention: Convention) -> list[str]:
    """Return the fields that the metric's string or an override changes."""
    override = override_name(value.metric, value.cutoff)
    rules = _rules_of_metric(value.info, convention, value.cutoff)
    overrides = {*convention.overrides.get(override, ()), *convention.overrides.get(value.metric, ())}
    if not overrides and value.rules == rules:
        return []
    fixed = RULES_OF_GROUP_PRECISION if value.is_precision_of_group else {}
    names = [name for name in FIELDS if name not in fixed]
    return [name for name in names if name in overrides or value.rules[name] != rules[name]]


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
