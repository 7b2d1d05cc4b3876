"""Choosing the best system or cutoff by one metric under constraints on others."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._compare import compare_kept_reports
from exactk._engine.pairs import core_paired_engine
from exactk._plan.metric_strings import plan
from exactk._report.comparison import Comparison, reports_of
from exactk._report.comparison_options import ComparisonOptions, asked_labels
from exactk._report.difference import significant_side
from exactk._report.paired_sums import PairedState
from exactk._report.report import Report
from exactk._report.state import by_name, common_unit_names
from exactk._runtime import optional
from exactk._runtime.errors import ExactkError, input_error, type_error
from exactk._runtime.table import Table
from exactk._runtime.table_exports import ExportsTable
from exactk._runtime.texts import DIGITS

if TYPE_CHECKING:
    from exactk._plan.values import Value
    from exactk._report.comparison_state import ComparisonState
    from exactk._report.sums import Label


_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
)


def _of_group(group: Label | None) -> str:
    return "" if group is None else f" of group {group}"


class Constraint(NamedTuple):
    """A bound on the value of a metric, of all users or of a group."""

    metric: str
    comparison: str  # one of >=, >, <= and <
    bound: float
    group: Label | None = None

    def allows(self, value: float) -> bool:
        """Return whether the value satisfies the constraint; NaN never does."""
        return _COMPARISONS[self.comparison](value, self.bound)

    def __str__(self) -> str:
        return f"{self.metric}{_of_group(self.group)} {self.comparison} {self.bound:g}"


class Option(NamedTuple):
    """A system, at one cutoff if the metric has several."""

    system: str
    cutoff: int | None
    value: float  # of the optimized metric
    failed: Mapping[Constraint, float]  # failed constraints, with the option's values

    def __reduce__(self) -> tuple[Any, ...]:
        return Choice._option_of, (*self[:-1], {tuple(one): value for one, value in self.failed.items()})  # noqa: SLF001 - of this module

    def __str__(self) -> str:
        parts = [self.system] * bool(self.system) + [f"@{self.cutoff}"] * (self.cutoff is not None)
        return " ".join(parts or ["the report"])


@dataclass(frozen=True, repr=False)
class Choice(ExportsTable):
    """The result of `exactk.choose`: the best option, and the constraints that the others fail.

    Attributes
    ----------
    best : Option or None
        The option with the highest value of the optimized metric among those that satisfy every constraint (the first
        one in case of a tie); None if no option satisfies every constraint.
    options : tuple of Option
        All options, in input order. ``option.failed`` maps each constraint that the option fails to the option's value.
    optimized : str
        The optimized metric, with its group if it is of one.
    tied : tuple of Option
        The other systems that satisfy every constraint, at the cutoff of the best option, of which it is not shown that
        the best option is better: by the paired t test of the users' values, with p-values adjusted by Holm's method.
    untested : str
        Why this was not tested, such as that SciPy is missing; empty if it was, or no other system is left.
    """

    best: Option | None
    options: tuple[Option, ...]
    optimized: str
    tied: tuple[Option, ...] = ()
    untested: str = ""

    @classmethod
    def _option_of(
        cls, system: str, cutoff: int | None, value: float, failed: Mapping[tuple[Any, ...], float]
    ) -> Option:
        return Option(
            system, cutoff, value, MappingProxyType({Constraint(*one): number for one, number in failed.items()})
        )

    def columns(self) -> dict[str, Any]:
        """Return a row for each option: its value of the optimized metric, and the constraints that it fails."""
        failed = [
            "; ".join(f"{constraint}: {value!r}" for constraint, value in option.failed.items())
            for option in self.options
        ]
        values = [option.value for option in self.options]
        return {"option": [*map(str, self.options)], self.optimized: values, "fails": failed}

    def _table(self, digits: int | None) -> Table:
        lines = ["no option satisfies all" if self.best is None else f"best: {self.best}"]
        if self.tied:
            lines.append(f"tied with: {', '.join(map(str, self.tied))} (not significantly worse)")
        if self.untested:
            lines.append(f"whether it is significantly better was not tested: {self.untested}")
        form = f".{DIGITS if digits is None else digits}f"
        rows = []
        for option in self.options:
            failed = [f"fails {constraint}: {value:{form}}" for constraint, value in option.failed.items()]
            rows.append([str(option), f"{option.value:{form}}", "; ".join(failed) or "satisfies all"])
        header, caption = ["option", self.optimized, "constraints"], f"Choice by {self.optimized}"
        return Table.of_rows(header, rows, 3, caption=caption, notes=lines)


Choice.__module__ = "exactk.results"  # where a dataclass would look for names, if it stood in its body


def choose(
    reports: Report | Comparison | Mapping[str, Report],
    optimize: str | tuple[str, Label],
    satisfy: Mapping[str | tuple[str, Label], float | tuple[str, float]] | None = None,
) -> Choice:
    """Choose the system, or the cutoff, with the best value of one metric under constraints on others.

    Parameters
    ----------
    reports : Report, Comparison, or Mapping of str to Report
        The report of one system, or those of several, such as the `Comparison` that `exactk.compare` returns.
    optimize : str, or (str, group)
        The metric to maximize; metrics cannot be minimized. With several cutoffs, as in ``"precision@[5,10]"``, each cutoff is an option of its own.
        ``("ndcg@10", "new")`` is its value in a group of ``groups=``, ``("ndcg@10", "worst")`` the lowest value of any group.
    satisfy : mapping of {str or (str, group): float or (str, float)}, optional
        Constraints on metrics: a number is a lower bound, and a pair such as ``("<=", 0.5)`` uses one of ``">="``,
        ``">"``, ``"<="`` and ``"<"``. A metric with several cutoffs, which must be those of `optimize`, is compared at
        each option's cutoff. ``("recall@10", "new")`` is bounded in a group, ``("recall@10", "every")`` in each.

    Returns
    -------
    Choice
        The best option, the first one of equal ones, and for each option the constraints that it fails. ``best`` is None
        if no option satisfies every constraint. ``tied`` has the other systems that satisfy every constraint and are not
        significantly worse, by the paired t test at the confidence of the comparison (0.95 for reports). That needs SciPy
        and a comparison with pairs of these systems, or reports with ``per_user=True``; ``untested`` says what is
        missing. Cutoffs are not tested against each other: they are different metrics. A metric of a group is tested on the
        users of that group, and the lowest value of any group is not tested.

    Raises
    ------
    InputError
        If a report lacks a metric or a group, or a cutoff or comparison is invalid.

    Notes
    -----
    For one optimizing metric under satisficing ones, see Ng, Machine Learning Yearning, chapter 9.

    Examples
    --------
    >>> import exactk
    >>> systems = {"a": [[1, 2], [9, 4]], "b": [[1, 7], [3, 8]]}
    >>> comparison = exactk.compare([[1, 2, 5], [3]], systems, ["precision@2", "recall@2"])
    >>> exactk.choose(comparison, optimize="precision@2", satisfy={"recall@2": 0.4})
    option  precision@2  constraints
    a       0.5000       fails recall@2 >= 0.4: 0.3333
    b       0.5000       satisfies all
    best: b
    >>> choice = exactk.choose(comparison, optimize="recall@2")
    >>> choice
    option  recall@2  constraints
    a       0.3333    satisfies all
    b       0.6667    satisfies all
    best: b
    tied with: a (not significantly worse)
    >>> [option.system for option in choice.tied]
    ['a']
    """
    systems = _reports_by_system(reports)
    in_group = optimize if isinstance(optimize, tuple) and len(optimize) == 2 else None
    metric, group = (optimize, None) if in_group is None else in_group
    if not isinstance(metric, str):
        raise type_error("optimize", "a metric string, or one and a group", repr(optimize))
    groups: Sequence[Label | None] = [None] if in_group is None else _labels(systems, group, "optimize", "worst")
    optimized = metric
    if group is not None:
        optimized += " of the worst group" if group == "worst" else _of_group(group)
    if satisfy is not None and not isinstance(satisfy, Mapping):
        raise type_error("satisfy", "a mapping from metrics to bounds", type(satisfy).__name__)
    constraints = [one for key, bound in (satisfy or {}).items() for one in _checked_constraints(key, bound, systems)]
    options = [
        option
        for system, report in systems.items()
        for option in _options_of_system(system, report, metric, groups, constraints)
    ]
    if not options:
        raise input_error("reports", "at least one system", "none")
    suitable = [option for option in options if not option.failed and not math.isnan(option.value)]
    best = max(suitable, key=lambda option: option.value, default=None)
    rivals = [
        option
        for option in suitable
        if best is not None and option.system != best.system and option.cutoff == best.cutoff
    ]
    if best is None or not rivals or isinstance(reports, Report):
        return Choice(best, tuple(options), optimized)
    value = _plan_at_cutoff(metric, best, systems[best.system])
    if value.info.of_collection:
        users = systems[best.system].state.unit_names.users
        untested = f"{users} have no values of {value.spelling}, which all lists together have"
        return Choice(best, tuple(options), optimized, untested=untested)
    if group == "worst":
        return Choice(best, tuple(options), optimized, untested="the lowest of several means has no t test")
    tied = tied_systems(reports, best.system, [option.system for option in rivals], value.spelling, groups[0])
    tied_options = tuple(option for option in rivals if option.system in tied.systems)
    return Choice(best, tuple(options), optimized, tied_options, tied.untested)


def _plan_at_cutoff(metric: str, option: Option, report: Report) -> Value:
    """Return the value of the metric that the option has."""
    values = _plan_of_one_metric(metric, report, "optimize")
    return next(value for value in values if option.cutoff in {None, value.cutoff})


def _reports_by_system(reports: object) -> Mapping[Any, Any]:
    if isinstance(reports, (Report, Comparison)):
        return reports_of(reports)
    if not isinstance(reports, Mapping):
        expected = "a Report, a Comparison or a mapping from names to Reports"
        raise type_error("reports", expected, type(reports).__name__)
    return reports


def _labels(systems: Mapping[Any, Any], group: object, argument: str, word: str) -> list[Label]:
    """Return the groups of a pair of a metric and a group, which every report has."""
    of_systems = {
        system: list(report.state.groups or ()) for system, report in systems.items() if isinstance(report, Report)
    }
    everyone = list(dict.fromkeys(label for labels in of_systems.values() for label in labels))
    labels = asked_labels(group, everyone, argument, word)
    for system, of_system in of_systems.items():
        for label in labels:
            if label not in of_system:
                found = f"{label!r}, which {repr(system) if system else 'the report'} lacks"
                raise input_error(argument, "a group of every report", found)
    return labels


def _checked_constraints(key: object, bound: object, systems: Mapping[Any, Any]) -> list[Constraint]:
    """Return the constraint, or one in each group that is asked for."""
    in_group = key if isinstance(key, tuple) and len(key) == 2 else None
    metric, group = (key, None) if in_group is None else in_group
    if not isinstance(metric, str):
        raise type_error("satisfy", "metric strings, or pairs of one and a group, as keys", repr(key))
    comparison, number = bound if isinstance(bound, tuple) and len(bound) == 2 else (">=", bound)
    if not isinstance(comparison, str) or comparison not in _COMPARISONS:
        raise input_error("satisfy", f"one of {', '.join(_COMPARISONS)} for {metric}", repr(comparison))
    if isinstance(number, bool) or not isinstance(number, Real):
        raise type_error("satisfy", f"a number, or a comparison and a number, for {metric}", repr(bound))
    try:
        limit = float(number)
    except OverflowError as error:
        raise input_error("satisfy", f"a number that float64 holds for {metric}", "a larger number") from error
    if math.isnan(limit):
        raise input_error("satisfy", f"a number for {metric}", "NaN")
    labels: Sequence[Label | None] = [None] if in_group is None else _labels(systems, group, "satisfy", "every")
    return [Constraint(metric, comparison, limit, label) for label in labels]


def _options_of_system(
    system: str, report: Report, optimize: str, groups: Sequence[Label | None], constraints: list[Constraint]
) -> list[Option]:
    if not isinstance(system, str):
        raise type_error("reports", "system names as keys", repr(system))
    if not isinstance(report, Report):
        raise type_error("reports", "a Report for each system", type(report).__name__)
    optimized = _plan_of_one_metric(optimize, report, "optimize")
    if optimized[0].info.direction == "lower":
        hint = "comparison.best takes the system with the lowest value"
        raise input_error("optimize", "a metric of which higher values are better", repr(optimize), hint=hint)
    has_cutoffs = len(optimized) > 1
    options = []
    for value in optimized:
        failed = {}
        for constraint in constraints:
            constraint_at_cutoff = _constraint_at_cutoff(constraint, value.cutoff if has_cutoffs else None, report)
            if not constraint_at_cutoff.allows(
                report_value := _value_in_report(report, constraint_at_cutoff.metric, constraint.group, "satisfy")
            ):
                failed[constraint_at_cutoff] = report_value
        of_groups = [_value_in_report(report, value.spelling, label, "optimize") for label in groups]
        for label, number in zip(groups, of_groups, strict=True):
            if label is not None and math.isnan(number):
                expected = f"a value of {value.spelling} in each group"
                raise input_error(
                    "optimize", expected, f"none in group {label!r} of {repr(system) if system else 'the report'}"
                )
        lowest = min(of_groups)
        options.append(Option(system, value.cutoff if has_cutoffs else None, lowest, MappingProxyType(failed)))
    return options


def _constraint_at_cutoff(constraint: Constraint, cutoff: int | None, report: Report) -> Constraint:
    """Return the constraint at the option's cutoff, if the constraint has several."""
    values = _plan_of_one_metric(constraint.metric, report, "satisfy")
    if len(values) > 1:
        values = tuple(value for value in values if value.cutoff == cutoff)
    if not values:
        expected = f"{constraint.metric} at the cutoffs of optimize"
        raise input_error("satisfy", expected, "other cutoffs" if cutoff is None else f"no cutoff {cutoff}")
    return constraint._replace(metric=values[0].spelling)


def _plan_of_one_metric(text: str, report: Report, argument: str) -> tuple[Value, ...]:
    """Return the values of a metric at its cutoffs; raise InputError if the text has several metrics."""
    values = plan(text, report.convention, compares_lists=None, customs=by_name(report.state.custom_metrics))
    if len({value._replace(name="", cutoff=None).identity for value in values}) > 1:
        raise input_error(argument, "one metric, perhaps at several cutoffs", repr(text))
    return values


def _value_in_report(report: Report, metric: str, group: Label | None, argument: str) -> float:
    if metric not in report:
        raise input_error(argument, f"one of the report's metrics, {', '.join(report)}", repr(metric))
    return report[metric] if group is None else report.by_group[group][metric]


class TiedSystems(NamedTuple):
    """The systems that are not significantly worse, or why that was not tested."""

    systems: frozenset[str]
    untested: str = ""


def tied_systems(
    reports: Comparison | Mapping[str, Report],
    best: str,
    others: Sequence[str],
    metric: str,
    group: Label | None = None,
) -> TiedSystems:
    """Test the best system against the others by the paired t test, with p-values adjusted by Holm's method over them.

    All users, or those of a group, are the sample.
    """
    of_systems: Mapping[str, Report] = reports.reports if isinstance(reports, Comparison) else reports
    part = {system: of_systems[system] for system in (best, *others)}
    state = reports.state if isinstance(reports, Comparison) else None
    paired = None if state is None else _pairs_with(best, others, state.paired, group)
    untested = _missing_for_test(state, part, best) if paired is None or not optional.has("scipy") else ""
    if untested:
        return TiedSystems(frozenset(), untested)
    options = ComparisonOptions(baseline=best, confidence=0.95 if state is None else state.options.confidence)
    try:
        comparison = (
            compare_kept_reports(core_paired_engine, part, options, None)
            if paired is None
            else Comparison(part, options, paired)
        )
    except ExactkError as error:  # reports of other users, conventions or metrics
        return TiedSystems(frozenset(), str(error))
    worse = {
        row.baseline if row.system == best else row.system
        for row in comparison.differences.of(metric, group=group)
        if significant_side(row, "higher", options) == (1 if row.system == best else -1)
    }
    return TiedSystems(frozenset(others) - worse)


def _missing_for_test(state: ComparisonState | None, part: Mapping[str, Report], best: str) -> str:
    """Return what a test of systems without sums over their pairs lacks; empty if nothing."""
    if not optional.has("scipy"):
        return optional.describe_missing("scipy", "the test")
    lacks_users = any(report._user_table is None for report in part.values())
    if state is not None and state.paired is not None and (lacks_users or state.paired.clustered):
        advice = (
            "with runs= it has those of the means over runs" if state.options.runs else f"baseline={best!r} adds them"
        )
        return f"the comparison lacks pairs with {best!r}; {advice}"
    users = common_unit_names(report.state.unit_names for report in part.values()).users
    return f"the reports lack the {users}' values; per_user=True keeps them" if lacks_users else ""


def _pairs_with(
    best: str, others: Sequence[str], paired: PairedState | None, group: Label | None
) -> PairedState | None:
    """Return the sums over the best system's pairs with the others; None unless there are all of them."""
    totals = {} if paired is None else paired.totals
    pairs = [pair for other in others for pair in ((other, best), (best, other)) if pair in totals]
    if paired is None or len(pairs) < len(others):
        return None
    sums = {pair: totals[pair] for pair in pairs}
    of_group = None if group is None else {pair: {group: (paired.groups or {})[pair][group]} for pair in pairs}
    return PairedState(paired.weighted, paired.clustered, sums, of_group)
