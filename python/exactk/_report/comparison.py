"""The reports of several systems, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from exactk._inference.margins import POWER, adjusted_heterogeneity, units_for
from exactk._plan.values import is_in_unit_range
from exactk._report.comparison_options import (
    MOST_SYSTEMS,
    ClaimsLike,
    ComparisonOptions,
    asked_labels,
    check_is_tested,
    check_power,
    check_size,
    claimed_margins,
    name_of_metric,
    parse_margin,
)
from exactk._report.comparison_state import ComparisonState, paired_from_plain
from exactk._report.comparison_table import NO_MARKS, ComparisonTable, best_systems, significance_marks
from exactk._report.difference import Compared, RunValues, UserValues, significant_side
from exactk._report.difference_table import ComparisonMethod, warn_of_few_flips
from exactk._report.differences import Differences, heterogeneity_of, tested_rows
from exactk._report.export_forms import Document, flat_dict, join_columns, stack_systems
from exactk._report.exports import Exports, html_page, page_request, plot
from exactk._report.matched_reports import MatchedUsers, clusters_from_plain, hashes_of_users, matched_users
from exactk._report.metric_mapping import ReadOnlyMapping
from exactk._report.report import Report
from exactk._report.resampling import Calls, KeptUsers, resample
from exactk._report.state import (
    check_label_types,
    check_same_plan,
    common_spellings,
    common_unit_names,
    ordered_labels,
    plan_of_state,
)
from exactk._report.user_table import equal_arrays
from exactk._report.verdicts import Gate, NeededUsers, Ranks, check_claim, rank_intervals
from exactk._report.worst_users import KEEPING_USERS, WorstUsers, lowest_rows, others_as_low, sign_of
from exactk._runtime import optional
from exactk._runtime.errors import (
    InputError,
    InUnits,
    StateMismatchError,
    check_among,
    in_own_units,
    input_error,
    type_error,
)
from exactk._runtime.faults import Option, one_of, plural
from exactk._runtime.shapes import Anything, Fields, Many, Maybe, Named, Through, Whole, plain_data, within
from exactk._runtime.table import Table
from exactk._runtime.table_exports import writes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from exactk._inference.margins import Margin
    from exactk._inputs.items import Items
    from exactk._plan.values import Plan, Value
    from exactk._report.comparison_table import Marks
    from exactk._report.difference import Difference
    from exactk._report.drift import Drift
    from exactk._report.export_forms import Columns, TableName
    from exactk._report.exports import DrawnDisplay
    from exactk._report.judged_lists import JudgedLists
    from exactk._report.paired_sums import Pair, PairedState, Resampled
    from exactk._report.sums import Label
    from exactk._report.user_table import UserTable
    from exactk._report.verdicts import Claim
    from exactk._runtime.unit_names import UnitNames

ComparisonPlot: TypeAlias = Literal["values", "differences", "curves", "groups", "distribution", "trade_off"]

_SHAPE = Fields(
    dict,
    {
        "reports": Named(Through(Report.from_dict, Report.to_dict)),
        "options": Anything(),
        "paired": Anything(),
        "clusters": Maybe(Many(Whole(most=2**64 - 1))),
    },
)


class Comparison(Exports, Mapping[str, Mapping[str, float]]):
    """The values of several systems, a mapping from metric to the value of each system, and how they differ.

    `exactk.compare` and `exactk.compare_reports` return comparisons. ``comparison["ndcg@10"]["als"]`` is a value;
    metrics may be spelled in any way, and are shown as requested. ``comparison.differences`` has the tests. A
    comparison prints as one table with a column per system, where ``*`` marks the best value of each metric and its
    equals. Lines below the values say what the reports count, such as skipped users, where a count is not 0.

    Attributes
    ----------
    reports : Mapping of str to Report
        The report of each system.
    metrics : tuple of str
        Canonical names of the metrics, in the order of the keys.
    state : ComparisonState
        The exact sums of each system, and of each pair, for `exactk.merge`.
    differences : Differences
        How the systems differ, with tests, intervals and verdicts.

    Examples
    --------
    >>> import exactk
    >>> systems = {"a": [[1], [3]], "b": [[3], [3]], "c": [[1], []]}
    >>> comparison = exactk.compare([[1], [2]], systems, "P@1")
    >>> comparison
    metric       a        b       c
    P@1     0.5000*  0.0000  0.5000*
    users with empty lists: 1 in c
    convention standard; 2 users; * best
    >>> comparison["P@1"]["b"], comparison.best("P@1")
    (0.0, ('a', 'c'))
    >>> comparison.reports["c"].counts["empty_predictions"]
    1

    With more users, differences have answers:

    >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
    >>> comparison = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a")
    >>> comparison.differences
    metric  system   value  baseline value  difference            interval  relative        p    d_z  wins/ties/losses  verdict
    P@1     b       0.5500          0.2500     +0.3000  +0.1516 to +0.4484  +120.0 %  0.00021  0.646           12/28/0   better
    paired t test against a; no adjustment: one comparison per metric; 95 % intervals
    40 users; a true difference of 0.2109 or more would be significant in 4 of 5 samples of this size
    few users: fewer than 20 differ, so p and interval are rough
    >>> row = comparison.differences["b", "P@1"]
    >>> f"{row.difference:+.2f} ({row.relative:+.0%}), between {row.low:+.2f} and {row.high:+.2f}"
    '+0.30 (+120%), between +0.15 and +0.45'
    """

    __module__ = "exactk"

    def __init__(
        self,
        reports: Mapping[str, Report],
        options: ComparisonOptions | None = None,
        paired: PairedState | None = None,
        clusters: NDArray[np.uint64] | None = None,
        calls: Calls | None = None,
    ) -> None:
        if not isinstance(reports, Mapping):
            raise type_error("reports", "a mapping from each system's name to its report", type(reports).__name__)
        if isinstance(reports, Comparison):
            hint = "its .reports have them"
            raise type_error("reports", "a Report of each system", "a Comparison", hint=hint)
        self._reports = dict(reports)
        if not self._reports:
            raise input_error("reports", "at least one system", "none")
        first = next(iter(self._reports.values()))
        for system, report in self._reports.items():
            check_system_name(system, "reports")
            if not isinstance(report, Report):
                raise _not_a_report(system, report)
            try:
                check_same_plan(first.state, report.state, "reports")
            except StateMismatchError as error:
                raise error.within(f"system {system!r}") from None
        check_label_types([report.state.groups for report in self._reports.values()], "reports")
        self._options = ComparisonOptions() if options is None else options
        self._options.check_systems(self._reports)
        self._margins = self._options.checked_margins(first.convention, plan_of_state(first.state))
        self._paired, self._clusters, self._calls = paired, clusters, calls or Calls()

    @property
    def reports(self) -> Mapping[str, Report]:
        """The report of each system."""
        return ReadOnlyMapping(self._reports)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Canonical names of the metrics, in the order of the keys."""
        return self._first.metrics

    @property
    def _cluster_hashes(self) -> NDArray[np.uint64] | None:
        """The hash of each user's cluster, where sign flips or resamples need it; for the package."""
        return self._clusters

    @cached_property
    def state(self) -> ComparisonState:
        """The exact sums of each system, and of each pair. `exactk.merge` adds them to those of other users."""
        states = {system: report.state for system, report in self._reports.items()}
        return ComparisonState(states, self._options, self._paired)

    @property
    def _first(self) -> Report:
        return next(iter(self._reports.values()))

    @property
    def _plan(self) -> Plan:
        return plan_of_state(self._first.state)

    def __getitem__(self, metric: str) -> Mapping[str, float]:
        """Return each system's value of a metric, in any accepted spelling."""
        try:
            return {system: report[metric] for system, report in self._reports.items()}
        except KeyError:
            if metric not in self._reports:
                raise
            message = f"expected a metric, found the system {metric!r}; comparison.reports[{metric!r}] is its report"
            raise KeyError(message) from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the metrics as requested; under their canonical names where the reports differ."""
        return iter(common_spellings([report.state.spellings for report in self._reports.values()], self.metrics))

    def __len__(self) -> int:
        return len(self.metrics)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        same_clusters = equal_arrays(self._clusters, other._clusters)
        fields = ("_reports", "_options", "_paired")
        return same_clusters and all(getattr(self, name) == getattr(other, name) for name in fields)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def differences(self) -> Differences:
        """How the systems differ, with tests: one row per metric and pair of systems.

        Metrics of all lists together, such as coverage, have no row: users have no values of them that a test could compare.

        The mean of training runs, ``runs=``, is one system, in place of the runs. Computed when first asked for, from
        sums over each pair of systems, which every comparison of `exactk.compare` has. Needs SciPy: ``pip install 'exactk[compare]'``.

        Raises
        ------
        InputError
            If there is one system, or more than 30 and no baseline; if reports that were evaluated one by one keep no
            users' values (``per_user=True``), or ``test="wilcoxon"`` lacks them; if a margin is a share of a baseline's
            value that is 0.
        ImportError
            If SciPy is not installed.
        """
        with InUnits(self.unit_names):
            differences = self._tested(self._paired_state(), self._margins)
            warn_of_few_flips(differences, self._method(self._paired_state()))
        return differences

    def _tested(self, paired: PairedState, margins: Mapping[str, Margin]) -> Differences:
        """Return the differences, tested against these margins too."""
        totals = list(self._compared(None))
        of_labels = {label: list(self._compared(label)) for label in self._labels()}
        of_groups: dict[tuple[str, str, str], list[Compared]] = {}
        for one in chain.from_iterable(of_labels.values()):
            of_groups.setdefault((one.value.spelling, *one.pair), []).append(one)
        whole = {(one.value.spelling, *one.pair): one for one in totals}
        tests = adjusted_heterogeneity({key: heterogeneity_of(some, whole[key]) for key, some in of_groups.items()})
        method, rows = self._method(paired), self._rows(None, totals, margins)
        rows_of_groups = [row for label, some in of_labels.items() for row in self._rows(label, some, margins)]
        by_group = Differences(rows_of_groups, method, heterogeneity=tests) if paired.groups else None
        return Differences(rows, method, by_group, tests)

    def _rows(
        self, label: Label | None, compared: Sequence[Compared], margins: Mapping[str, Margin]
    ) -> list[Difference]:
        """Return the rows of all users or of one group."""
        return tested_rows(compared, self._resampled(label, compared), self._options, margins)

    def _method(self, paired: PairedState) -> ComparisonMethod:
        """Return how the differences are computed."""
        return ComparisonMethod(
            self._options,
            len(paired.totals),
            self._first.convention,
            self._plan.spellings_by_name,
            frozenset(value.spelling for value in self._plan if value.rules["average"] == "of_means"),
            frozenset(value.spelling for value in self._plan if is_in_unit_range(value)),
            paired.weighted,
            all(report._user_table is not None and not report._has_keys for report in self._reports.values()),
            self.unit_names,
        )

    @property
    def unit_names(self) -> UnitNames:
        """What a user and an item are called; users and items, if the reports differ."""
        return common_unit_names(report.state.unit_names for report in self._reports.values())

    def _paired_state(self) -> PairedState:
        optional.require("scipy", "comparison.differences")
        if self._paired is not None:
            return self._paired
        systems = self._options.compared_systems(self._reports)
        if self._options.baseline is None and len(systems) > MOST_SYSTEMS:
            hint = Option("baseline", systems[0])
            raise input_error("baseline", f"a system, as there are more than {MOST_SYSTEMS}", "None", hint=hint)
        if len(systems) == 1:
            raise input_error("systems", "at least two systems", "one")
        without = next((system for system, report in self._reports.items() if report._user_table is None), None)
        if without is None:
            advice = "exactk.compare_reports(comparison.reports) has them"
            raise input_error("comparison", "sums over pairs of systems", "none", hint=advice)
        raise input_error("reports", "reports with the users' values", f"none in {without!r}", hint=KEEPING_USERS)

    def _compared(self, label: Label | None, name: str | None = None) -> Iterator[Compared]:
        """Yield each value, or one by its canonical name, of each pair, over all users or one group.

        None of a value that all lists together have.
        """
        paired = self._paired_state()
        sums_of_pairs = paired.totals
        if label is not None:
            sums_of_pairs = {pair: sums[label] for pair, sums in (paired.groups or {}).items() if label in sums}
        weighted = self._first.state.weighted
        for index, value in enumerate(self._plan):
            if value.info.of_collection or name not in {None, value.name}:
                continue
            for pair, sums in sums_of_pairs.items():
                reports = [self._reports[run] for system in pair for run in self._options.runs_of(system)]
                undefined = max(report._undefined_users(index, label) for report in reports)
                users = self._users_of(pair, index, label) if self._options.test == "wilcoxon" else None
                runs = self._run_values(pair[0], value, label), self._run_values(pair[1], value, label)
                yield Compared(value, pair, label, sums[index], undefined, weighted, users, runs, self.unit_names)

    def _resampled(self, label: Label | None, compared: Sequence[Compared]) -> Sequence[Resampled | None]:
        """Return what random numbers say of the rows of all users or of one group, drawn once; None of each if not asked."""
        if not self._options.has_random_numbers:
            return [None] * len(compared)
        if label not in self._drawn:
            self._drawn[label] = resample(compared, self._kept_users, self._options, self._calls)
        return self._drawn[label]

    @cached_property
    def _drawn(self) -> dict[Label | None, list[Resampled | None]]:
        return {}

    @cached_property
    def _kept_users(self) -> KeptUsers:
        """What is kept of users. Raise InputError if that is nothing, or no cluster of theirs."""
        if self._matched is None:
            name = "test" if self._options.test == "permutation" else "interval"
            found = f"{getattr(self._options, name)!r}, which needs them"
            raise input_error(name, "'t' without the users' values", found, hint=KEEPING_USERS)
        if self._paired is not None and self._paired.clustered and self._clusters is None:
            raise input_error("comparison", "the clusters of its users", "none")
        keys = self._clusters
        if keys is None:
            keys = hashes_of_users(self._matched.users)
        return KeptUsers(self._plan, self._matched.tables, keys, self._clusters is not None)

    def _run_values(self, system: str, value: Value, label: Label | None) -> RunValues:
        """Return the values of a system's runs, over all users or a group, as they are tested; none if it has one."""
        if system not in (self._options.runs or {}):
            return ()
        of_group = {} if label is None else self._values_of_groups
        values = [
            self._reports[run][value.name] if label is None else of_group[run].get((label, value.name), math.nan)
            for run in self._options.runs_of(system)
        ]
        return tuple(map(math.log, values) if value.rules["average"] == "geometric" else values)

    @cached_property
    def _values_of_groups(self) -> dict[str, dict[tuple[Label, str], float]]:
        """The values by system, then by group and canonical name."""
        by_system = {system: report._cells_of_groups() for system, report in self._reports.items()}
        return {system: {at: row.value for at, row in cells.items()} for system, cells in by_system.items()}

    def _users_of(self, pair: Pair, index: int, label: Label | None) -> UserValues:
        """Return the values of the users whom both systems have, of all users or of a group."""
        if self._tables_of_users is None:
            found = "'wilcoxon', which needs them"
            raise input_error("test", "'t' or 'sign' without the users' values", found, hint=KEEPING_USERS)
        system, baseline = (self._tables_of_users[name] for name in pair)
        values, baseline_values = system.values[index], baseline.values[index]
        both = ~(np.isnan(values) | np.isnan(baseline_values))
        if label is not None and system.groups is not None:
            both &= system.groups == system.labels.index(label)
        return UserValues(values[both], baseline_values[both])

    @cached_property
    def _matched(self) -> MatchedUsers | None:
        return matched_users(self._reports)

    @property
    def _tables_of_users(self) -> dict[str, UserTable] | None:
        return None if self._matched is None else self._matched.tables

    @in_own_units
    def users_for(
        self,
        metric: str,
        difference: float | str,
        *,
        system: str | None = None,
        power: float = POWER,
        group: Label | None = None,
    ) -> NeededUsers:
        r"""Return how many users find a difference of this size with a given power.

        Choose the size by what matters, not by the difference that was observed. The test is two-sided, at the
        comparison's confidence and without adjustment.

        Parameters
        ----------
        metric : str
            A metric of the comparison, in any spelling.
        difference : float or str
            The difference to find: a number above 0 such as 0.002, or a share of the baseline's value such as ``"1%"``.
        system : str, optional
            The system of the pair. By default, that of the pair that needs most users.
        power : float
            The probability of finding the difference if there is one, above 0 and below 1. The default is 0.8.
        group : int, str or "every", optional
            A group of ``groups=``, whose users alone are to find the difference, which as a share is of the baseline's
            value there; or every group. By default, all users find it together.

        Returns
        -------
        NeededUsers
            An int:
            :math:`((z_{1 - \alpha / 2} + z_{power}) \, s / d)^2`, rounded up, with the standard deviation s of the
            users' differences; the number of clusters instead of users with ``clusters=``. With ``runs=``, s is that of
            the means over the runs, whose variance is first taken from the squared error that finds the difference.

            Of a group, the number of its users; ``.total`` is the size of a sample in which the group has as many, if its
            share stays as it is. Of ``"every"`` group, the largest of these totals, whose group is ``.group``.

        Raises
        ------
        InputError, InputTypeError
            If the metric, the system, the group or the difference is none; if no pair has two users whose differences vary,
            in any group that is asked, or a relative difference is of a baseline's value of 0; if training runs vary so much that no number of users finds the difference.

        Examples
        --------
        >>> import exactk
        >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
        >>> comparison = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a")
        >>> comparison.users_for("P@1", 0.05), comparison.users_for("P@1", "50%", power=0.9)
        (677, 145)
        """
        check_power(power)
        margin = parse_margin(difference, "difference")
        name = self._tested_name(metric, "metric")
        if name not in self.metrics:
            raise input_error("metric", f"one of {', '.join(self)}", repr(metric))
        needed = []
        for label in [None] if group is None else asked_labels(group, self._labels(), "group"):
            compared = [one for one in self._compared(label, name) if system in {None, one.pair[0]}]
            if not compared:
                check_among("system", system, dict.fromkeys(pair[0] for pair in self._paired_state().totals))
            check_size(margin, compared[0].value, "difference")
            counts = {one: count for one in compared if not math.isnan(count := self._needed(one, margin, power))}
            if not counts:
                raise _without_variance(compared, difference)
            most = max(counts, key=counts.__getitem__)
            if math.isinf(counts[most]) and any(one.estimate is not None and one.estimate.has_runs for one in compared):
                expected = "a difference above what the variance of training runs hides from any number of users"
                raise input_error("difference", expected, repr(difference), hint="more runs reduce it")
            if math.isinf(counts[most]):
                raise input_error("difference", "a difference that some number of users finds", repr(difference))
            needed.append(self._needed_users(most, counts[most]))
        largest = max(needed, key=lambda one: one.total)
        return NeededUsers(largest.total, largest.total, largest.group) if group == "every" else largest

    def _needed(self, one: Compared, margin: Margin, power: float = POWER) -> float:
        """Return how many users of all or of a group find a difference; NaN if theirs do not vary, or it is a share of 0."""
        estimate = one.estimate
        if estimate is None or estimate.degrees_of_freedom <= 0 or not estimate.contrast().variance:
            return math.nan
        size = margin.difference(estimate.shown_baseline_value)
        return units_for(estimate, size, self._options.confidence, power) if size > 0 else math.nan

    def _needed_users(self, one: Compared, units: float) -> NeededUsers:
        """Return a number of users with that of the whole sample, of which those of a group are a share."""
        whole = self._paired_state().totals[one.pair][self.metrics.index(one.value.name)]
        return NeededUsers(int(units), -(-int(units) * whole.moments.units // one.sums.moments.units), one.group)

    @in_own_units
    def check(
        self,
        *,
        better: ClaimsLike = (),
        no_worse: ClaimsLike = (),
        equivalent: ClaimsLike = (),
        groups: Label | Sequence[Label] | None = None,
    ) -> Gate:
        """Check claims about each system against the baseline, for tests and pipelines.

        A claim holds, is observed, fails or is undecided, by one-sided t tests at the comparison's confidence, whatever its
        ``test`` and ``alternative``; with a margin, it needs more where fewer than 20 users differ. It is observed, and
        passes, if no user is worse (`no_worse`) or differs (`equivalent`), though too few users show it. All claims must
        pass, which needs no adjustment for their number [1]_.

        Parameters
        ----------
        better : str, sequence of str, or mapping of {str: float or str}
            The metrics in which every system must be better than the baseline; with a mapping, better by more than the
            margin, such as ``{"ndcg@10": "2%"}``.
        no_worse : str, sequence of str, or mapping of {str: float or str}
            The metrics in which no system may be worse than the baseline by more than the margin (non-inferiority).
        equivalent : str, sequence of str, or mapping of {str: float or str}
            The metrics in which no system may be better or worse by more than the margin (TOST).

            Metrics without a margin of their own have that of the comparison, ``margin=``. Margins are numbers above 0,
            such as 0.002, or shares of the baseline's value, such as ``"1%"``. Where values are from 0 to 1, a number of 1
            or more is an error.
        groups : int, str, sequence of int or str, or "every", optional
            Groups of ``groups=`` of `exactk.compare`: every claim must hold in each of these, or in every one, by its
            users alone and relative to the baseline's value there. That needs no adjustment either, but more users the
            more groups there are. By default, claims are about all users.

        Returns
        -------
        Gate
            True if all claims hold or are observed; it prints the finding about each.

        Raises
        ------
        InputError, InputTypeError
            If there are more than two systems and no baseline, no claim, a metric that was not computed, no margin, or no
            such group; if neither direction of a metric is better; if a margin is a share of a baseline's value that is 0.

        References
        ----------
        .. [1] Berger, "Multiparameter hypothesis testing and acceptance sampling", 1982.

        Examples
        --------
        >>> import exactk
        >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
        >>> comparison = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a")
        >>> gate = comparison.check(better="P@1", equivalent={"P@1": "10%"})
        >>> gate
        <Gate fails: 1 of 2 hold>
        fails: P@1: 'b' differs from 'a' by +56 % to +273 % (one-sided bounds at 95 %, 40 users), so they differ by more than 10%; few users: 12 differ, so the bounds are rough
        holds: P@1: 'b' differs from 'a' by +56 % to +273 % (one-sided bounds at 95 %, 40 users), so it is better; few users: 12 differ, so the bounds are rough
        one-sided t tests, not adjusted, and stricter where few users differ; verdicts in tables are by the test and adjustment that are named there
        >>> bool(gate), gate.status
        (False, 'fails')
        """
        systems = self._options.compared_systems(self._reports)
        if self._options.baseline is None and len(systems) != 2:
            hint = Option("baseline", systems[0])
            raise input_error("baseline", "a system to check others against", "None", hint=hint)
        labels = [None] if groups is None else asked_labels(groups, self._labels(), "groups")
        compared: dict[str, list[Compared]] = {}
        for label in labels:
            for one in self._compared(label):
                compared.setdefault(one.value.name, []).append(one)
        checks, needed = [], []
        claims: dict[Claim, ClaimsLike] = {"better": better, "no_worse": no_worse, "equivalent": equivalent}
        for claim, claimed in claims.items():
            margins = claimed_margins(claim, claimed, self._margins, self._first.convention, self._plan)
            for metric, margin in margins.items():
                name = self._tested_name(metric, claim)
                if name not in compared:
                    raise input_error(claim, f"metrics among {', '.join(self)}", repr(metric))
                for one in compared[name]:
                    checks.append(check_claim(claim, one, margin, self._options.confidence))
                    if checks[-1].status == "undecided" and one.group is not None and margin.size:
                        units = self._needed(one, margin)
                        needed += [self._needed_users(one, units)] if math.isfinite(units) else []
        if not checks:
            raise input_error("better", "at least one claim in better=, no_worse= or equivalent=", "none")
        return Gate(checks, self.unit_names, max(needed, key=lambda one: one.total, default=None))

    def ranks(self, metric: str) -> Ranks:
        """Return which ranks each system may have: those that no significant difference excludes.

        Parameters
        ----------
        metric : str
            A metric of the comparison, in any spelling.

        Returns
        -------
        Ranks
            For each of S systems the interval from 1 + the number of systems that are significantly better to S - the
            number of those that are significantly worse, by the comparison's test, adjustment and confidence. Systems
            whose interval contains 1 are tied for the top.

        Raises
        ------
        InputError
            If the comparison has a baseline, hence not every pair; if its test is one-sided; if the metric was not
            computed, has no direction, or a pair has no p-value.

        Examples
        --------
        >>> import exactk
        >>> truth = [[1]] * 60
        >>> systems = {
        ...     "a": [[1]] * 20 + [[2]] * 40,
        ...     "b": [[1]] * 38 + [[2]] * 22,
        ...     "c": [[2]] * 16 + [[1]] * 44,
        ... }
        >>> exactk.compare(truth, systems, "P@1").ranks("P@1")
        system     P@1    rank
        c       0.7333  1 to 2
        b       0.6333  1 to 2
        a       0.3333       3
        tied for the top: c, b
        paired t test; Holm over 3 comparisons per metric; level 0.05
        """
        name = self._tested_name(metric, "metric")
        if name not in self.metrics:
            raise input_error("metric", f"one of {', '.join(self)}", repr(metric))
        if self._options.baseline is not None:
            raise input_error("baseline", "None, so that every pair is compared", repr(self._options.baseline))
        if self._options.alternative != "two_sided":
            raise input_error("alternative", "'two_sided', to rank systems", repr(self._options.alternative))
        value = next(one for one in self._plan if one.name == name)
        direction = value.info.direction
        if direction == "none":
            raise input_error("metric", "a metric whose values are better if they are higher, or lower", repr(metric))
        systems = self._options.compared_systems(self._reports)
        rows = [row for row in self.differences if row.metric == value.spelling]
        without = next((row for row in rows if row.reason), None)
        if without is not None:
            expected = f"a p-value of every pair of systems in {value.spelling}"
            raise input_error(
                "metric", expected, f"none of {without.system!r} and {without.baseline!r}: {without.reason}"
            )
        intervals = rank_intervals(systems, [(row, significant_side(row, direction, self._options)) for row in rows])
        shown = {row.baseline: row.baseline_value for row in rows} | {row.system: row.value for row in rows}
        order = sorted(systems, key=lambda system: shown[system], reverse=direction == "higher")
        method = self._method(self._paired_state())
        note = "; ".join([method.test_text(rows), method.adjustment_text, method.level_text, *self._options.runs_texts])
        return Ranks(value.spelling, shown, {system: intervals[system] for system in order}, note)

    def best(self, metric: str) -> tuple[str, ...]:
        """Return the systems with the best value of a metric: all that are equal, in the order of the comparison.

        ``exactk.metrics`` says whether higher or lower values are better. Nobody is best where the metric has no
        direction (``"none"``) or every value is NaN. Training runs, ``runs=``, are systems of their own here, and the best
        single run is no evidence for its model: ``differences`` has the means over runs.
        """
        numbers = self[metric]
        name = self._name_of(metric, "metric")
        (direction,) = (value.info.direction for value in self._plan if value.name == name)
        return best_systems(numbers, direction)

    @in_own_units
    def worst(self, metric: str, system: str | None = None, *, baseline: str | None = None, n: int = 10) -> WorstUsers:
        """Return the users who lose most with one system against another, the largest loss first.

        Parameters
        ----------
        metric : str
            A metric of the comparison, in any spelling. Whether users lose by lower or higher values is its direction.
        system : str, optional
            The system whose losses are shown. By default, the only one beside the baseline.
        baseline : str, optional
            The system that it is compared with. By default, the baseline of the comparison; of two systems without one, the
            first, or the one that ``system`` is not.
        n : int
            How many users, at most. The default is 10.

        Returns
        -------
        WorstUsers
            It prints, and has ``users``, ``values``, `to_pandas` and the other exports. Equal losses are in the order of
            the users' keys; users who do not lose are left out.

        Raises
        ------
        InputError, InputTypeError
            If reports keep no values of users (``per_user=True`` does), a system is none or must be named, or the metric is
            not of the comparison, has no direction, or is one of all lists together.

        Examples
        --------
        >>> import exactk
        >>> truth = {"q1": ["a"], "q2": ["b"], "q3": ["c"]}
        >>> old, new = {"q1": ["a"], "q2": ["b"], "q3": ["c"]}, {"q1": ["a"], "q2": ["x"], "q3": ["y", "c"]}
        >>> comparison = exactk.compare(truth, {"old": old, "new": new}, "mrr", baseline="old", per_user=True)
        >>> comparison.worst("mrr")
        user     old     new  difference
        q2    1.0000  0.0000     -1.0000
        q3    1.0000  0.5000     -0.5000
        the largest losses of new against old in mrr: 2 of 3 users lose
        """
        name = self._name_of(metric, "metric")
        if name not in self.metrics:
            raise input_error("metric", f"one of {', '.join(self)}", repr(metric))
        index = self.metrics.index(name)
        value, sign = self._plan[index], sign_of(self._plan[index])
        baseline = self._options.baseline if baseline is None else baseline
        if baseline is None and len(self._reports) == 2:  # as the gates of the command line read it
            baseline = next(one for one in self._reports if one != system)
        baseline = self._system_of_pair("baseline", baseline)
        system = self._system_of_pair("system", system, baseline)
        if self._matched is None:
            raise input_error("comparison", "the users' values", "none", hint=KEEPING_USERS)
        users = self._matched.users
        values, others = (self._matched.tables[one].values[index] for one in (system, baseline))
        gains = sign * (values - others)
        rows = lowest_rows(np.where(gains < 0, gains, np.nan), users, n)
        lose, both = int((gains < 0).sum()), plural(int((~np.isnan(gains)).sum()), self.unit_names.user)
        note = f"the largest losses of {system} against {baseline} in {value.spelling}: {lose} of {both} lose"
        if as_much := others_as_low(gains, rows):
            note += f"; {plural(as_much, 'other')} {'loses' if as_much == 1 else 'lose'} as much as the last"
        return WorstUsers(
            users=users[rows],
            values=join_columns(
                {baseline: others[rows], system: values[rows]}, {"difference": (values - others)[rows]}
            ),
            note=note,
            _user=self.unit_names.user,
        )

    def _system_of_pair(self, argument: str, given: str | None, baseline: str | None = None) -> str:
        """Return a system of a pair, which must be named if there are several; the other one is the baseline."""
        choices = [system for system in self._reports if system != baseline]
        if not choices:
            raise input_error("comparison", "two systems or more", "one")
        if given is None and len(choices) == 1:
            return choices[0]
        if given not in choices:
            hint = Option(argument, choices[0]) if given is None else ""
            raise input_error(argument, one_of(choices), repr(given), hint=hint)
        return given

    def _tested_name(self, metric: str, argument: str) -> str:
        """Return the canonical name of a metric whose differences are tested."""
        name = self._name_of(metric, argument)
        check_is_tested(self._plan, name, argument)
        return name

    def _name_of(self, metric: str, argument: str) -> str:
        """Return the canonical name of a metric in any spelling; errors are of this argument."""
        return name_of_metric(metric, self._first.convention, argument, self._plan.spellings_by_name)

    @property
    def _table(self) -> ComparisonTable:
        return ComparisonTable(self._reports, tuple(self))

    def _names_of(self, metrics: object, table: TableName) -> list[str]:
        return self._first._names_of(metrics, table)

    def _export_table(
        self, table: TableName, digits: int, names: Sequence[str] | None, *, systems_as_rows: bool, diagnostics: bool
    ) -> Table:
        how: dict[str, Any] = {"systems_as_rows": systems_as_rows, "diagnostics": diagnostics}
        if table == "by_item_group":
            self.columns(table)  # raises where there are none
            return self._table.table(self._table.rows_of_item_groups(names), digits, **how)
        if table == "per_item":
            return Table.of_columns(self.columns(table), 3, digits)
        if table != "per_user":
            rows = self._table.rows(None if table == "values" else self._labels(), names)
            if not rows:
                raise input_error("table", "groups, which groups= names", "none")
            return self._table.table(rows, digits, self._marks(table, names), **how)
        columns = self.columns(table)
        spellings = dict(zip(self.metrics, self, strict=True))
        keys = [name for name in columns if name not in spellings.values()]
        if names is not None:
            columns = {name: columns[name] for name in [*keys, *map(spellings.__getitem__, names)]}
        return Table.of_columns(columns, len(keys), digits)

    def _marks(self, table: TableName, names: Sequence[str] | None) -> Marks:
        """Return which systems are significantly worse in these metrics; no marks where that cannot be tested."""
        if self._paired is None or not optional.has("scipy"):
            return NO_MARKS
        if self._options.needs_users and self._tables_of_users is None:
            return NO_MARKS
        differences = self._tested(self._paired, {}) if self._margins else self.differences  # margins decide no marks
        shown = differences.by_group if table == "by_group" else differences
        values = [value for value in self._plan if names is None or value.name in names]
        directions = {value.spelling: value.info.direction for value in values}
        return significance_marks(shown, self._method(self._paired), directions, list(self._reports))

    def _labels(self) -> list[Label]:
        """Return the groups of any system, in order."""
        states = self.state.values()
        orders = {state.group_order for state in states}
        labels = {label for state in states for label in state.groups or {}}
        return ordered_labels(labels, orders.pop() if len(orders) == 1 else None)

    def to_dict(self) -> dict[str, Any]:
        """Return the reports and how they are compared as plain data. ``Comparison.from_dict`` reads it back."""
        state = self.state.to_dict()
        return {
            "reports": {system: report.to_dict() for system, report in self._reports.items()},
            "options": state["options"],
            "paired": state["paired"],
            "clusters": None if self._clusters is None else self._clusters.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """Return the comparison that `to_dict` described."""
        with plain_data("comparison", cls._expected()):
            return cls._of_fields(**_SHAPE.read(data))

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.state.to_dict()
        return (Comparison._from_plain, (self._reports, state["options"], state["paired"], self._clusters))

    @classmethod
    def _from_plain(cls, *fields: Any) -> Comparison:  # noqa: ANN401 - those of the next function
        """Return what `__reduce__` described."""
        with plain_data("comparison", cls._expected()):
            return cls._of_fields(*fields)

    @classmethod
    def _of_fields(
        cls,
        reports: dict[str, Report],
        options: dict[str, Any],
        paired: dict[str, Any] | None,
        clusters: NDArray[np.uint64] | tuple[int, ...] | None = None,
    ) -> Comparison:
        states = {system: report.state for system, report in reports.items()}
        with within("options"):
            checked_options = ComparisonOptions.from_dict(options)
        checked_state = paired_from_plain(paired, states, checked_options)
        if clusters is None:
            return cls(reports, checked_options, checked_state)
        matched = matched_users(reports)
        users = 0 if matched is None else len(matched.users)
        return cls(reports, checked_options, checked_state, clusters_from_plain(clusters, checked_state, users))

    def _to_document(self) -> Document:
        plain = self.to_dict()
        return Document(plain.pop("reports"), plain)

    @classmethod
    def _from_document(cls, document: Document) -> Comparison:
        if None in document.reports:
            hint = "exactk.Report.from_json reads one report"
            raise input_error("comparison", "reports by system", "a report without a system", hint=hint)
        return cls.from_dict({"reports": document.reports, **(document.comparison or {})})

    @in_own_units
    def columns(self, table: TableName = "values", *, wide: bool | None = None) -> Columns:
        """Return the columns of all systems, stacked, after a column ``system`` with the system's name."""
        reports = {system: _respell(report, tuple(self)) for system, report in self._reports.items()}
        return stack_systems({system: report.columns(table, wide=wide) for system, report in reports.items()})

    @writes
    def to_html(
        self,
        *,
        title: str | None = None,
        note: str = "",
        examples: int = 20,
        item_names: Mapping[Any, str] | None = None,
        lists: Mapping[str, JudgedLists] | None = None,
        gate: Gate | None = None,
        headline: str | Sequence[str] | None = None,
        items: Items | None = None,
        drift: Drift | Mapping[str, Drift] | None = None,
    ) -> str:
        """Return the comparison as one HTML page, or write it to a file.

        The page is one file without scripts, which loads nothing. It says which system is better, by how much and for
        whom, how the numbers were computed, and contains them as JSON. Where data are missing, a line says what to write:
        ``per_user=True``, ``groups=``, several cutoffs. Needs jinja2 and SciPy: ``pip install 'exactk[report]'``.

        Parameters
        ----------
        title : str, optional
            The heading.
        note : str
            A paragraph below the heading.
        examples : int
            How many of the users who lose most, and of those who gain most, are shown for each pair of systems: their
            keys and values in the first metric and, with `lists`, what was recommended to them. 0 leaves no data of
            single users on the page. The default is 20. The page stays below 1 MB, if need be with fewer examples.
        item_names : mapping of item to str, optional
            Names of items, shown beside their keys in lists.
        lists : mapping of str to JudgedLists, optional
            The lists of each system, from `exactk.judge` of the same truth and predictions, with the same ``exclude=``.
        gate : Gate, optional
            Claims from `check`, whose outcome the page begins with.
        headline : str or sequence of str, optional
            The metric that leads the page, in any spelling: in sentences, pictures and examples, and as the first row of
            tables. Two metrics are the axes of the trade-off too. By default the first one.
        items : Items, optional
            The items of the evaluation, with train or popularity: the page then compares how popular what was recommended
            is with train. It needs a metric of all lists, such as ``coverage@10``.
        drift : Drift or mapping of str to Drift, optional
            What changed from another day or system, as `exactk.drift` returns it; several by their names on the page, such as
            ``{"from popular to als": exactk.drift(popular, als, k=10)}``.

        Raises
        ------
        InputError, InputTypeError
            If an argument is invalid, or the users or hits of `lists` are not those of the comparison.
        ImportError
            If jinja2 or SciPy is not installed.

        Examples
        --------
        >>> import exactk
        >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
        >>> comparison = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a")
        >>> lists = {"a": exactk.judge(truth, a, k=1), "b": exactk.judge(truth, b, k=1)}
        >>> page = comparison.to_html(lists=lists, item_names={1: "Heat", 2: "Alien"}, title="b or a?")
        >>> "<title>b or a?</title>" in page, "Alien" in page
        (True, True)
        """
        request = page_request(
            title=title,
            note=note,
            examples=examples,
            item_names=item_names,
            lists=lists,
            gate=gate,
            headline=headline,
            items=items,
            drift=drift,
        )
        return html_page(self, request)

    def plot(
        self,
        kind: ComparisonPlot = "values",
        metric: str | None = None,
        *,
        against: str | None = None,
        system: str | None = None,
        baseline: str | None = None,
        ax: Axes | None = None,
    ) -> DrawnDisplay:
        """Draw the comparison with matplotlib. Needs ``pip install 'exactk[plots]'``.

        Systems have the same colour, marker and dash in every picture of a comparison.

        Parameters
        ----------
        kind : {"values", "differences", "curves", "groups", "distribution", "trade_off"}
            What to draw:

            - ``"values"``: each system's value of a metric, with its interval;
            - ``"differences"``: each pair's difference in a metric with its interval, and the margin as a band;
            - ``"curves"``: a metric over its cutoffs;
            - ``"groups"``: the difference of a pair of systems by group of users;
            - ``"distribution"``: the users' values of a metric, or their differences between a system and a baseline;
            - ``"trade_off"``: two metrics, one against the other, with the Pareto front.
        metric : str, optional
            A metric, in any spelling; by default the first that can be drawn.
        against : str, optional
            The other metric of a trade-off; by default the first of another name.
        system, baseline : str, optional
            The pair of ``"groups"`` and ``"distribution"``.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        Display
            A display of ``exactk.displays`` with ``ax_``, ``figure_``, ``artists_``, and what it shows as ``data``.

        Raises
        ------
        InputError
            If the kind is not one of these, or the comparison lacks what it draws.
        ImportError
            If matplotlib, or SciPy for differences, is not installed.

        Examples
        --------
        >>> import exactk
        >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
        >>> comparison = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a")
        >>> display = comparison.plot("differences")
        >>> display.ax_.get_xlabel()
        'difference in P@1 against a'
        """
        return plot(self, kind, metric, ax, against=against, system=system, baseline=baseline)

    def to_flat_dict(self, prefix: str = "", *, sep: str = "/") -> dict[str, float]:
        """Return the values under names that experiment trackers accept, with the system before a slash; see `Report`.

        Parameters
        ----------
        prefix : str
            What every name begins with.
        sep : str
            What is between system and metric. MLflow groups charts by slashes; W&B sorts and filters only by names
            without them, such as those of ``sep="_"``.

        Examples
        --------
        >>> import exactk
        >>> exactk.compare([[1]], {"als": [[1]], "popular": [[2]]}, "P@1").to_flat_dict()
        {'als/P_at_1': 1.0, 'popular/P_at_1': 0.0}
        """
        by_system = ((system, metric) for system in self._reports for metric in self)
        return flat_dict((((system, metric), self[metric][system]) for system, metric in by_system), prefix, sep)

    def _tables(self) -> Sequence[Table]:
        return self._table.to_display(self._labels())


def _without_variance(compared: Sequence[Compared], difference: object) -> InputError:
    """Return the error for pairs of which none says how many users a difference needs."""
    reason = next((one.reason for one in compared if one.reason), "")
    if not reason and not any(one.estimate.contrast().variance for one in compared if one.estimate is not None):
        reason = "the same difference for every user"
    spelling, baseline, group = compared[0].value.spelling, compared[0].pair[1], compared[0].group
    of_group = "" if group is None else f" in group {group!r}"
    if reason:
        return input_error("metric", f"a metric whose differences have a variance{of_group}", f"{spelling!r}: {reason}")
    values = [one.estimate.shown_baseline_value for one in compared if one.estimate is not None]
    found = f"{difference!r} of the value of {baseline!r}, which is {float(values[0]):.4g}{of_group}"
    return input_error("difference", f"an absolute difference of {spelling}", found)


def check_system_name(name: object, argument: str) -> None:
    """Raise unless the key of a mapping from system is a name."""
    if not isinstance(name, str):
        raise type_error(argument, "system names as keys", repr(name))
    if not name:
        raise input_error(argument, "a name for each system", repr(name))


def _not_a_report(system: str, value: object) -> Exception:
    """Return the error for a system whose report is another value, such as the path of one."""
    is_path = isinstance(value, (str, PathLike))
    hint = f"exactk.Report.from_json(pathlib.Path({str(value)!r})) reads a report" if is_path else ""
    return type_error("reports", "a Report of each system", f"{type(value).__name__} for {system!r}", hint=hint)


def _respell(report: Report, spellings: tuple[str, ...]) -> Report:
    """Return the report with other spellings of its metrics."""
    if report.state.spellings == spellings:
        return report
    return Report(report.state._replace(spellings=spellings), report.users, report._user_table)


def reports_of(result: Report | Comparison) -> Mapping[str, Report]:
    """Return the reports by system; that of one system has no name."""
    return result.reports if isinstance(result, Comparison) else {"": result}


def confidence_of(result: Report | Comparison) -> float:
    """Return the confidence of intervals."""
    return result.state.options.confidence if isinstance(result, Comparison) else 0.95
