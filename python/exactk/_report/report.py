"""The report of one evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from exactk._inputs.checks import read_only
from exactk._plan.conventions import description
from exactk._plan.metric_strings import canonical_name
from exactk._plan.values import group_tally_index, relevant_index, tally_index
from exactk._report.counts import count_text
from exactk._report.exports import Exports
from exactk._report.state import State, plan_of_state, sums_of_groups
from exactk._runtime.errors import in_own_units, input_error
from exactk._runtime.faults import Option, listed, one_of, plural
from exactk._runtime.records import NamedTuple
from exactk._runtime.table_exports import writes
from exactk._runtime.texts import DIGITS

if TYPE_CHECKING:
    from collections.abc import ItemsView, KeysView, ValuesView

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from exactk._inference.intervals import MeanInterval
    from exactk._inputs.items import Items
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Plan, Value
    from exactk._report.counts import CandidateCounts
    from exactk._report.drift import Drift
    from exactk._report.export_forms import Columns, Document, TableName
    from exactk._report.exports import DrawnDisplay
    from exactk._report.judged_lists import JudgedLists
    from exactk._report.metric_mapping import MetricMapping
    from exactk._report.state_shape import Shards
    from exactk._report.statistics import DisparityMeasure
    from exactk._report.sums import GroupSums, Label, PartColumns, Sums
    from exactk._report.tallies import GroupTally, ItemTally, Tallies
    from exactk._report.user_table import UserTable
    from exactk._report.worst_users import WorstUsers
    from exactk._runtime.table import Column, Kind, Table
    from exactk._runtime.unit_names import UnitNames

_T = TypeVar("_T")
ReportPlot: TypeAlias = Literal["values", "curves", "distribution"]

_COUNTING_FIELDS = ("min_grade", "negative_infinity", "rank_gaps")  # of those that a value may change for itself
_NOT_REQUESTED = "was not requested"  # why a metric has no value
_MOST_GROUPS, _MOST_VALUES = 10, 6  # of groups in a printed report
_SHORT = {"standard_deviation": "std"}  # names of columns in tables to look at
_KINDS: dict[str, Kind] = {"group": "key", "metric": "key"}
_OF_PAPERS = ("group", "metric", "value", "std")


class GroupRow(NamedTuple):
    """One value of one group."""

    label: Label
    name: str  # the metric's canonical name
    metric: str  # as requested
    value: float
    standard_deviation: float
    evaluated: int


class ItemGroupRow(NamedTuple):
    """What one value has of one group of items."""

    label: Label | None  # None: items without a group
    of: Value  # without the group
    value: float
    evaluated: int | None  # None: all lists have the value together
    items: int | None  # of the catalogue; None: not counted


class Report(Exports, Mapping[str, float]):
    """The result of evaluating one system: a mapping from metric to value, with counts and exact sums.

    `exactk.evaluate` and `exactk.merge` return reports. Each value is a mean over users (macro, geometric), a ratio of
    sums (micro) or an F of means (of_means); NaN if no user was evaluated.

    The keys are the metrics as requested: ``"map@10"`` stays ``"map@10"``, and ``"ndcg@[5,10]"`` becomes
    ``"ndcg@5"`` and ``"ndcg@10"``. Every other spelling finds the value too, such as the canonical name
    ``"average_precision@10"``. A value that is requested twice is one entry, under its first spelling.

    Reports are immutable and hashable, can be pickled, and survive a JSON round trip unchanged. Two reports are equal if their
    spellings, sums, counts, convention, users and per-user values are.

    Attributes
    ----------
    metrics : tuple of str
        Canonical names of the values, in the order of the keys.
    standard_deviation : mapping of {str: float}
        The population standard deviation of the users' values; NaN except for macro averages.
    per_user : mapping of {str: ndarray of float64, shape (n_users,)}
        Each user's values: NaN where the value skips the user, and for all users where a value is computed from means
        (``average="of_means"``). Empty unless ``per_user=True``, and without metrics of all lists together.
    users : ndarray, shape (n_users,)
        User keys, aligned with ``per_user``; row numbers if the truth has no keys.
    by_group : mapping of {int or str: mapping of {str: float}}
        The values of each group of users. Empty without ``groups=``.
    by_item_group : mapping of {int, str or None: mapping of {str: float}}
        What each metric of groups of items has of each group, such as its share of the exposure, and the values of
        ``item_group=``, under the name of the metric: ``recall@20(item_group=tail)`` is
        ``report.by_item_group["tail"]["recall@20"]``. NaN for a group that the metric leaves out. Empty without such a
        metric.
    per_item : mapping of {str: ndarray}
        How often each item is recommended, relevant and hit, as columns with a row per item and cutoff: the item, ``k``,
        ``recommended``, ``relevant`` and ``hits`` as numbers of lists, ``recall`` (hits / relevant) and ``precision``
        (hits / recommended), NaN for 0 / 0. ``item_recall@k`` has items counted as relevant and hit, any other metric
        of items such as ``coverage@k`` as recommended; empty without one.
    counts : Mapping
        Counts under the convention's own rules:

        - ``users``: all users;
        - ``evaluated``: a mapping from metric to the number of users in its mean;
        - ``empty_truth``, ``empty_predictions``, ``missing_truth``, ``missing_lists``: users;
        - ``duplicates``: repeated items in lists;
        - ``excluded_recommended``: items removed from lists as excluded;
        - ``relevant_excluded``: relevant items that are excluded. They stay in the truth as misses;
        - ``relevant_not_rankable``: relevant items that have no column, stored entry or row in the scores, are not
          candidates, or are dropped for a score of -inf. They count as misses;
        - ``longest_list``: the length of the longest list (its last rank if ranks keep their gaps), or the most items
          that scores rank for a user. Excluded items and items below the deepest cutoff do not count;
        - ``rank_gaps``: users whose rank gaps were closed; absent if there are none;
        - ``foreign_recommended`` and ``unseen_recommended``, where a metric reads the items of the list, as ``novelty`` does:
          recommended items outside the catalogue, and items of the catalogue that are not in train, each once per user,
          at the ranks that these metrics read;
        - ``tie_dependent``, for scores: a mapping from metric to the number of users whose value depends on the order
          of ties; of metrics that read the items of the list, the users whose items at the ranks down to the cutoff do;
        - ``undefined``, if there are any: a mapping from metric to the number of users whose value is 0 / 0, whatever the
          convention makes of it, although they have a list and, where the metric reads the truth, relevant items;
        - ``candidates``, with ``candidates=``, sparse scores, or scored rows of a mapping, data frame or file: the
          ``min``, ``mean`` and ``max`` number per user of items that have a score, less exclusions;
        - ``unknown_actual``, from `exactk.from_ratings`: rows dropped for an unknown rating.
    convention : Convention
        The convention of the evaluation.
    unit_names : tuple of str
        What a user and an item are called, such as ``("query", "document")``; see `State.unit_names`.
    state : State
        The exact sums. `exactk.merge` adds them to those of other users.

    Examples
    --------
    >>> import exactk
    >>> report = exactk.evaluate([[1], [2], []], [[1, 3], [3, 2], [4]], ["mrr", "P@1"], per_user=True)
    >>> dict(report)
    {'mrr': 0.75, 'P@1': 0.5}
    >>> report["precision@1"], report.metrics
    (0.5, ('reciprocal_rank', 'precision@1'))
    >>> report.per_user["mrr"]
    array([1. , 0.5, nan])
    >>> report.counts["evaluated"]["mrr"], report.counts["empty_truth"]
    (2, 1)
    >>> exactk.Report.from_json(report.to_json()) == report
    True
    """

    __module__ = "exactk"

    def __init__(
        self, state: State, users: Snapshot | NDArray[Any] | None = None, user_table: UserTable | None = None
    ) -> None:
        if not isinstance(state, State):
            raise TypeError("a Report is what exactk.evaluate returns, and Report.from_dict reads")
        if user_table is not None:
            user_table = user_table.with_labels(tuple(state.groups or ()))
        for name, value in {"state": state, "_users": users, "_user_table": user_table}.items():
            object.__setattr__(self, name, read_only(value) if isinstance(value, np.ndarray) else value)

    state: State
    _users: Snapshot | NDArray[Any] | None
    _user_table: UserTable | None

    def __setattr__(self, name: str, value: object) -> None:
        """Raise AttributeError: a report is immutable."""
        message = f"a Report is immutable: {name} cannot be set"
        raise AttributeError(message)

    @cached_property
    def _plan(self) -> Plan:
        return plan_of_state(self.state)

    def _part_sums(self, sums: Sequence[_T]) -> list[list[_T]]:
        """Return the sums of each value's parts, over all users or by group."""
        return [[sums[i] for i in indices] for indices in self._plan.part_indices]

    def _by_metric(self, values: Sequence[_T], absent: str = _NOT_REQUESTED) -> MetricMapping[_T]:
        from exactk._report.metric_mapping import MetricMapping

        return MetricMapping(self._plan.spellings_by_name, values, self.state.convention, absent)

    def _statistic_by_metric(self, sums: Sequence[Sums], statistic: Callable[..., float]) -> MetricMapping[float]:
        weighted = self.state.weighted
        parts_of_values = zip(self._plan, self._part_sums(sums), strict=True)
        return self._by_metric(
            [statistic(value, parts, weighted=weighted) if parts else math.nan for value, parts in parts_of_values]
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """Canonical names of the values, in the order of the keys."""
        return self.state.metrics

    @property
    def convention(self) -> Convention:
        """The convention of the evaluation."""
        return self.state.convention

    @cached_property
    def _values(self) -> MetricMapping[float]:
        from exactk._report.statistics import value_of_sums

        of_users = self._statistic_by_metric(self.state.totals, value_of_sums)
        if not self._plan.of_collections:
            return of_users
        values = [
            self._value_of_lists(value, self.state.tallies) if value.info.of_collection else number
            for value, number in zip(self._plan, of_users.values(), strict=True)
        ]
        return self._by_metric(values)

    def _tally_of(self, value: Value, tallies: Tallies) -> tuple[ItemTally, int]:
        """Return the tally that a value of some lists depends on, and the column of its cutoff."""
        index, column = tally_index(value, self._plan.item_tallies)
        return tallies.items[index], column

    def _group_tally_of(self, value: Value, tallies: Tallies) -> GroupTally:
        return tallies.groups[group_tally_index(value, self._plan.group_tallies)]

    def _value_of_lists(self, value: Value, tallies: Tallies) -> float:
        """Return what all lists together have, or those of a group of users."""
        from exactk._report.statistics import value_of_group_tally, value_of_tally

        if value.info.reads_groups:
            return value_of_group_tally(value, self._group_tally_of(value, tallies))
        catalogue = self.state.catalogue
        relevant = tallies.items[relevant_index(value, self._plan.item_tallies)] if value.counts_hits else None
        size = 0 if catalogue is None else catalogue.size
        return value_of_tally(value, *self._tally_of(value, tallies), size, relevant)

    @cached_property
    def _evaluated(self) -> list[int]:
        """How many users, or lists, each value was computed for."""
        from exactk._report.statistics import evaluated_users

        return [
            evaluated_users(sums) if sums else self._lists_of(value, self.state.tallies)
            for value, sums in zip(self._plan, self._part_sums(self.state.totals), strict=True)
        ]

    def _lists_of(self, value: Value, tallies: Tallies) -> int:
        reads_groups = value.info.reads_groups
        return (self._group_tally_of(value, tallies) if reads_groups else self._tally_of(value, tallies)[0]).lists

    @cached_property
    def standard_deviation(self) -> MetricMapping[float]:
        """The standard deviation of the users' values."""
        from exactk._report.statistics import standard_deviation

        return self._statistic_by_metric(self.state.totals, standard_deviation)

    @in_own_units
    def interval(self, metric: str, confidence: float = 0.95, *, group: Label | None = None) -> MeanInterval:
        r"""Return a confidence interval of a value: the users are taken as a sample of many.

        It works on merged reports. Means of values with equal weights have it from the sums alone; with weights, and of
        micro averages, it needs ``per_user=True``. Needs SciPy: ``pip install 'exactk[compare]'``. To know whether two
        systems differ, do not look whether their intervals overlap: `exactk.compare` tests the differences of the users'
        values, which usually vary less.

        Parameters
        ----------
        metric : str
            A metric that was requested, in any spelling, other than those of all lists together and F of means.
        confidence : float
            The probability that the interval of a sample contains the mean over all users, at least 0.5 and below 1.
            The default is 0.95.
        group : int or str, optional
            A group of ``groups=``; by default, all users.

        Returns
        -------
        MeanInterval
            ``(low, high)``, within the metric's range and never without width. Its ``method`` is ``"t"``, for
            :math:`\bar x \mp t_{n - 1} \, s / \sqrt n`, where the users' values vary enough; ``"beta"`` where few users have
            values that are not at an end of the range, or values are close together; ``"beta and t"`` in between. Of
            0/1 values, such as hit rates, ``"beta"`` is the interval of Clopper and Pearson. For metrics such as dcg,
            with no largest value, it is that of t; if all users have one value, ``"bound"``, whose ``high`` is `inf`.
            Of the logarithms for geometric means. Of a ratio of sums r, such as a micro average, the squared standard
            error is :math:`\frac{n}{n - 1} \sum w_u^2 (N_u - r D_u)^2 / (\sum w_u D_u)^2` (delta method), and the number of
            users counts as :math:`(\sum w_u D_u)^2 / \sum w_u^2 D_u^2` in place of n elsewhere (Kish); of a mean with
            weights, D is 1. NaN if no user was evaluated, and of a metric with no range if users do not vary.

        Raises
        ------
        InputError, InputTypeError
            If the metric or the group is not of the report, the metric has no interval, the users' numbers that it needs
            were not kept, or the confidence is out of range.
        ImportError
            If SciPy is not installed.

        See Also
        --------
        compare : Differences between systems.

        Examples
        --------
        >>> import exactk
        >>> report = exactk.evaluate([[1], [2], [3], [4]], [[1], [2], [9], [4, 3]], "P@1")
        >>> low, high = report.interval("P@1")
        >>> round(low, 4), round(high, 4)
        (0.1941, 0.9937)
        >>> nothing = exactk.evaluate([[1]] * 60, [[2, 1]] * 60, "hit_rate@1").interval("hit_rate@1")
        >>> round(nothing.low, 4), round(nothing.high, 4), nothing.method
        (0.0, 0.0596, 'beta')
        >>> micro = "recall@2(average=micro)"  # 3 of 5
        >>> report = exactk.evaluate([[1, 2, 3], [4], [5]], [[1, 2], [4], [6]], micro, per_user=True)
        >>> low, high = report.interval(micro)
        >>> round(low, 4), round(high, 4)
        (0.1184, 0.9283)
        """
        from exactk._report.comparison_options import check_confidence
        from exactk._report.statistics import interval_of_sums
        from exactk._runtime.optional import require

        require("scipy", "report.interval")
        check_confidence(confidence)
        index = self._index_of(metric)
        groups = self.state.groups or {}
        if group is not None and group not in groups:
            raise input_error("group", one_of(groups) if groups else "no groups", repr(group))
        sums = self._part_sums(self.state.totals if group is None else groups[group])[index]
        table, of_users = self._user_table, None
        if table is not None:
            pairs = import_module("exactk._engine.pairs")
            of_users = partial(pairs.sums_of_users, self._plan, index, table, group)
        return interval_of_sums(self._plan[index], sums, confidence, of_users, weighted=self.state.weighted)

    def disparity(self, metric: str, how: DisparityMeasure = "range") -> float:
        r"""Return how unequal a value is between the groups of users: 0 if all are equal, or 1 for the ratio.

        It compares the groups' values of `by_group`. Each group counts once, whatever its size, and no group is the
        reference. Merged reports give the same bits as one evaluation of all users.

        Parameters
        ----------
        metric : str
            A metric that was requested, in any spelling.
        how : {'range', 'ratio', 'mad', 'cv'}
            With :math:`v_1, \dots, v_n` the groups' values and :math:`\bar v` their mean:

            - ``"range"``, the default: :math:`\max v - \min v`, from 0;
            - ``"ratio"``: :math:`\min v / \max v`, from 0 to 1. It is 1 if all values are 0;
            - ``"mad"``: the mean absolute difference, :math:`\frac{2}{n (n - 1)} \sum_{i < j} |v_i - v_j|`, from 0 up
              to the range;
            - ``"cv"``: the coefficient of variation with the population standard deviation,
              :math:`\sqrt{\frac{1}{n} \sum_i (v_i - \bar v)^2} \, / \, \bar v`, from 0 to :math:`\sqrt{n - 1}`. It is 0
              if all values are 0.

            Range and mean absolute difference have the unit of the metric. The other two do not change if all values
            are multiplied by one factor.

        Returns
        -------
        float
            The disparity. NaN, with a warning, if fewer than two groups have a value.

        Raises
        ------
        InputError, InputTypeError
            If the report has no groups, the metric is not of the report, `how` is not one of these, or a value is
            negative where it divides (``"ratio"``, ``"cv"``).

        Warns
        -----
        EvaluationWarning
            If a group has no value (NaN), as if none of its users were evaluated. It is left out.

        See Also
        --------
        Comparison.differences : Whether a difference between systems is the same in all groups.

        Notes
        -----
        Values of small groups vary by chance, so that the disparity of many small groups is above 0 even if the system
        treats all alike. The disparity is no test.

        References
        ----------
        Range and ratio are ``difference`` and ``ratio`` of fairlearn's ``MetricFrame``. The mean absolute difference
        between groups is from Deldjoo et al., "A flexible framework for evaluating user and item fairness in
        recommender systems" (2021).

        Examples
        --------
        >>> import exactk
        >>> groups = ["new", "new", "old", "old"]
        >>> report = exactk.evaluate([[1], [2], [3], [4]], [[1], [2], [9], [4]], "P@1", groups=groups)
        >>> report.by_group["new"]["P@1"], report.by_group["old"]["P@1"]
        (1.0, 0.5)
        >>> report.disparity("P@1"), report.disparity("P@1", "ratio")
        (0.5, 0.5)
        """
        from exactk._report.statistics import disparity_of_groups

        index = self._index_of(metric)
        groups = sums_of_groups(self.state)
        if groups is None:
            raise input_error("report", "groups, which groups= names", "none")
        values = self._values_of_groups(groups, index)
        return disparity_of_groups(dict(zip(groups, values, strict=True)), how, self.state.spellings[index])

    @in_own_units
    def worst(self, metric: str, n: int = 10) -> WorstUsers:
        """Return the users with the worst values of a metric, the worst first. `exactk.explain` shows why.

        Parameters
        ----------
        metric : str
            A metric that was requested, in any spelling. Whether low or high values are worse is its direction.
        n : int
            How many users, at most. The default is 10.

        Returns
        -------
        WorstUsers
            It prints, and has ``users``, ``values``, `to_pandas` and the other exports. Equal values are in the order of
            the users' keys; users without a value (NaN) are left out.

        Raises
        ------
        InputError, InputTypeError
            If the report keeps no values of users (``per_user=True`` does), the metric is not of the report, has no
            direction, or is one of all lists together.

        See Also
        --------
        Comparison.worst : The largest losses of a system against another one.

        Examples
        --------
        >>> import exactk
        >>> truth, lists = {"q1": ["a"], "q2": ["b"], "q3": ["c"]}, {"q1": ["a"], "q2": ["x"], "q3": ["y", "c"]}
        >>> exactk.evaluate(truth, lists, "mrr", per_user=True).worst("mrr", n=2)
        user     mrr
        q2    0.0000
        q3    0.5000
        the worst 2 of 3 users
        """
        from exactk._report.worst_users import KEEPING_USERS, WorstUsers, lowest_rows, others_as_low, sign_of

        index = self._index_of(metric)
        value, sign = self._plan[index], sign_of(self._plan[index])
        if self.table is None:
            raise input_error("report", "the users' values", "none", hint=KEEPING_USERS)
        numbers, users = self.table[index], self.users
        rows = lowest_rows(sign * numbers, users, n)
        user = self.state.unit_names.user
        note = f"the worst {len(rows)} of {plural(int((~np.isnan(numbers)).sum()), user)}"
        if others := others_as_low(numbers, rows):
            note += f"; {plural(others, 'other')} {'has' if others == 1 else 'have'} the value of the last"
        return WorstUsers(users=users[rows], values={value.spelling: numbers[rows]}, note=note, _user=user)

    def quantile(self, metric: str, q: float = 0.5, *, group: Label | None = None) -> float:
        """Return a quantile of the users' values, such as their median. It needs ``per_user=True``.

        Parameters
        ----------
        metric : str
            A metric that was requested, in any spelling, other than those of all lists together and F of means.
        q : float
            The share of the users, from 0 to 1. The default is 0.5, the median.
        group : int or str, optional
            A group of ``groups=``; by default, all users.

        Returns
        -------
        float
            The value at position q (n - 1) of the n values in ascending order, where positions count from 0; in between,
            on the line from one value to the next, as NumPy's ``method="linear"`` and definition 7 of Hyndman and Fan
            (1996). It is correctly rounded. Users without a value (NaN) are left out; NaN if no user has one.

        Raises
        ------
        InputError, InputTypeError
            If the metric or the group is not of the report, users have no values of the metric, their values were not
            kept, q is out of range, or users have weights: definitions of weighted quantiles differ.

        See Also
        --------
        interval : A confidence interval of the mean.

        Examples
        --------
        >>> import exactk
        >>> report = exactk.evaluate([[1], [2], [3], [4]], [[1], [9, 2], [9, 8, 7, 3], [9]], "mrr", per_user=True)
        >>> report.per_user["mrr"].tolist()
        [1.0, 0.5, 0.25, 0.0]
        >>> report.quantile("mrr"), report.quantile("mrr", 0.9)
        (0.375, 0.85)
        """
        from exactk._report.statistics import quantile_of
        from exactk._report.worst_users import KEEPING_USERS

        index, table = self._index_of(metric), self._user_table
        value, groups = self._plan[index], self.state.groups or {}
        if value.info.of_collection or value.rules["average"] == "of_means":
            raise input_error("metric", "a metric of which users have values", repr(value.spelling))
        if group is not None and group not in groups:
            raise input_error("group", one_of(groups) if groups else "no groups", repr(group))
        if self.state.weighted:
            hint = "report.per_user has the values: definitions of weighted quantiles differ"
            raise input_error("report", "users with equal weights", "weights", hint=hint)
        if table is None:
            raise input_error("report", "the users' values", "none", hint=KEEPING_USERS)
        numbers = table.values[index]
        if group is not None and table.groups is not None:
            numbers = numbers[table.groups == table.labels.index(group)]
        return quantile_of(numbers, q)

    def _index_of(self, metric: str, argument: str = "metric") -> int:
        """Return the index of a value, by any spelling of its metric; raise InputError if it was not requested."""
        from exactk._report.state import by_name

        if metric in self.state.spellings:
            return self.state.spellings.index(metric)
        canonical = canonical_name(metric, self.convention, by_name(self.state.custom_metrics))
        if canonical not in self.state.metrics:
            raise input_error(argument, f"one of {', '.join(self)}", repr(metric))
        return self.state.metrics.index(canonical)

    def _names_of(self, metrics: object, table: TableName) -> list[str]:
        """Return the canonical names of some metrics; raise InputError or InputTypeError if the table lacks one."""
        from exactk._plan.metric_strings import plan
        from exactk._report.state import by_name

        if table == "per_item":
            raise input_error("metrics", "None in this table, which is of items", repr(metrics))
        asked: Any = metrics  # which plan() checks
        values = plan(asked, self.convention, compares_lists=None, customs=by_name(self.state.custom_metrics))
        of_groups = {name for rows in self._item_groups.values() for name in rows}
        available = of_groups if table == "by_item_group" else self.metrics
        lacking = [value for value in values if value.name not in available]
        if lacking and table == "by_item_group" and lacking[0].name in self.metrics:
            raise input_error("metrics", "metrics of groups of items in this table", repr(lacking[0].spelling))
        if lacking:
            raise input_error("metrics", f"one of {', '.join(self)}", repr(lacking[0].spelling))
        for value in values:
            if table == "per_user" and value.info.of_collection:
                raise input_error("metrics", "metrics of users in this table", repr(value.spelling))
        return list(dict.fromkeys(value.name for value in values))

    @property
    def per_user(self) -> MetricMapping[NDArray[np.float64]]:
        """Each user's values."""
        from exactk._report.metric_mapping import MetricMapping

        values, table = self._values_of_users, self.table
        if table is None:
            return self._by_metric([], "not kept; use per_user=True")
        spellings = {value.name: self._plan.spellings_by_name[value.name] for value in values.values()}
        absent = "all lists together have it, not users"
        return MetricMapping(spellings, [table[row] for row in values], self.convention, absent)

    @property
    def _values_of_users(self) -> dict[int, Value]:
        """The values that users have, by their position: not those that all lists together have."""
        return {row: value for row, value in enumerate(self._plan) if not value.info.of_collection}

    @property
    def users(self) -> NDArray[Any]:
        """The users' keys."""
        from exactk._inputs.keys.vocabulary import Snapshot

        if self._users is None:
            return np.arange(self.state.counts.users)
        return self._users.array if isinstance(self._users, Snapshot) else self._users

    @cached_property
    def by_group(self) -> Mapping[Label, MetricMapping[float]]:
        """The values of each group."""
        from exactk._report.metric_mapping import GroupMapping, MetricMapping

        groups = sums_of_groups(self.state)
        columns = [] if groups is None else self._by_value(self._values_of_groups, groups)
        of_group = partial(
            MetricMapping, self._plan.spellings_by_name, convention=self.convention, absent=_NOT_REQUESTED
        )
        return GroupMapping(groups or (), columns, of_group)

    def _by_value(self, of_groups: Callable[[GroupSums, int], list[_T]], groups: GroupSums) -> list[list[_T]]:
        """Return what each value has in the groups, by one of the next functions."""
        return [of_groups(groups, index) for index in range(len(self))]

    def _values_of_groups(self, groups: GroupSums, index: int) -> list[float]:
        from exactk._report.statistics import values_of_groups

        value, by_group = self._plan[index], self.state.tallies_by_group
        if value.info.of_collection:
            return [self._value_of_lists(value, by_group[label]) for label in groups]
        return values_of_groups(value, self._columns_of(groups, index), weighted=self.state.weighted)

    def _deviations_of_groups(self, groups: GroupSums, index: int) -> list[float]:
        from exactk._report.statistics import deviations_of_groups

        columns = self._columns_of(groups, index)
        if not columns:  # of all lists together
            return [math.nan] * len(groups)
        return deviations_of_groups(self._plan[index], columns, weighted=self.state.weighted)

    def _evaluated_in_groups(self, groups: GroupSums, index: int) -> list[int]:
        from exactk._report.statistics import evaluated_by_group

        value, by_group = self._plan[index], self.state.tallies_by_group
        if value.info.of_collection:
            return [self._lists_of(value, by_group[label]) for label in groups]
        return evaluated_by_group(self._columns_of(groups, index))

    def _columns_of(self, groups: GroupSums, index: int) -> list[PartColumns]:
        """Return the sums of a value's parts by group."""
        return [groups.parts[part] for part in self._plan.part_indices[index]]

    @cached_property
    def by_item_group(self) -> Mapping[Label | None, MetricMapping[float]]:
        """What each metric of groups of items has of each group."""
        from exactk._report.metric_mapping import MetricMapping, ReadOnlyMapping

        absent = "is no metric of groups of items"
        return ReadOnlyMapping(
            {
                label: MetricMapping(
                    {name: row.of.spelling for name, row in rows.items()},
                    [row.value for row in rows.values()],
                    self.convention,
                    absent,
                )
                for label, rows in self._item_groups.items()
            }
        )

    @cached_property
    def _item_groups(self) -> dict[Label | None, dict[str, ItemGroupRow]]:
        """What each value has of each group of items, by canonical name."""
        from exactk._report.statistics import numbers_of_item_groups

        groups: dict[Label | None, dict[str, ItemGroupRow]] = {}
        tallies = self.state.group_tallies[:1]
        sizes: dict[Label | None, int] = {}
        sizes |= {label: size for one in tallies for label, size in zip(one.labels, one.sizes.tolist(), strict=True)}

        def add(label: Label | None, value: Value, number: float, evaluated: int | None) -> None:
            row = ItemGroupRow(label, value, number, evaluated, sizes.get(label))
            groups.setdefault(label, {})[value.name] = row

        for value, evaluated in zip(self._plan, self._evaluated, strict=True):
            if value.item_group is not None:
                add(value.item_group.label, value.of_all_items, self[value.name], evaluated)
            elif value.info.reads_groups:
                tally = self._group_tally_of(value, self.state.tallies)
                for label, number in zip(tally.labels, numbers_of_item_groups(value, tally), strict=True):
                    add(label, value, number, None)
        return groups

    @property
    def per_item(self) -> Mapping[str, NDArray[Any]]:
        """How often each item is recommended, relevant and hit."""
        from exactk._report.metric_mapping import ReadOnlyMapping

        columns = self.columns("per_item") if any(self.state.item_tallies) else {}
        return ReadOnlyMapping({name: read_only(np.asarray(column)) for name, column in columns.items()})

    @property
    def unit_names(self) -> UnitNames:
        """What a user and an item are called."""
        return self.state.unit_names

    @cached_property
    def counts(self) -> Mapping[str, Any]:
        """Counts under the convention's own rules."""
        from exactk._report.metric_mapping import ReadOnlyMapping

        evaluated = self._by_metric(self._evaluated)
        counts = self.state.counts
        by_metric: dict[str, Any] = {"evaluated": evaluated}
        if counts.ties is not None:
            by_metric["tie_dependent"] = self._by_metric([ties.dependent for ties in counts.ties])
        if counts.undefined is not None:
            by_metric["undefined"] = self._by_metric(counts.undefined)
        candidates = {} if counts.candidates is None else {"candidates": _summarize_candidates(counts.candidates)}
        return ReadOnlyMapping({"users": counts.users, **by_metric, **counts.scalars(), **candidates})

    def __getitem__(self, metric: str) -> float:
        """Return the value of a metric, in any spelling."""
        return self._values[metric]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the metrics as requested."""
        return iter(self.state.spellings)

    def __len__(self) -> int:
        return len(self.state.spellings)

    # The views of the mapping itself would print the whole table.

    def keys(self) -> KeysView[str]:
        """Return the metrics as requested."""
        return self._values.keys()

    def values(self) -> ValuesView[float]:
        """Return the values, in the order of the metrics."""
        return self._values.values()

    def items(self) -> ItemsView[str, float]:
        """Return the metrics with their values."""
        return self._values.items()

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    @property
    def table(self) -> NDArray[np.float64] | None:
        """Each user's values as one array of shape (values, users); None if they were not kept."""
        return None if self._user_table is None else self._user_table.values

    def _without_users(self) -> Report:
        """Return the report without what is kept of each user but the keys."""
        return self if self._user_table is None else Report(self.state, self._users)

    def _of_shards(self, shards: Shards | None) -> Report:
        """Return the report as that of some shards of an evaluation."""
        return Report(self.state._replace(shards=shards), self._users, self._user_table)

    def _undefined_users(self, index: int, label: Label | None = None) -> int:
        """Return how many users have NaN as a value, of all users or of a group."""
        sums = self.state.totals if label is None else (self.state.groups or {}).get(label, ())
        return max((sums[part].undefined for part in self._plan.part_indices[index] if sums), default=0)

    @property
    def _has_keys(self) -> bool:
        """Whether users have keys, not row numbers."""
        return self._users is not None

    def __eq__(self, other: object) -> bool:
        from exactk._report.user_table import equal_arrays

        if not isinstance(other, Report):
            return NotImplemented
        if self.state != other.state or self._user_table != other._user_table:
            return False
        return (self._users is None and other._users is None) or equal_arrays(self.users, other.users)

    def __hash__(self) -> int:
        return hash(self.state)

    def __reduce__(self) -> tuple[Any, ...]:
        from exactk._inputs.keys.vocabulary import Snapshot

        users = self._users.to_plain() if isinstance(self._users, Snapshot) else self._users
        return (
            Report._from_plain,
            (self.state, users, None if self._user_table is None else self._user_table.to_plain()),
        )

    @classmethod
    def _from_plain(
        cls, state: State, users: tuple[Any, ...] | NDArray[Any] | None, user_table: tuple[Any, ...] | None
    ) -> Report:
        from exactk._inputs.keys.vocabulary import Snapshot
        from exactk._report.user_table import UserTable

        keys = Snapshot.from_plain(users) if isinstance(users, tuple) else users
        return cls(state, keys, None if user_table is None else UserTable(*user_table))

    def _to_document(self) -> Document:
        from exactk._report.export_forms import Document

        return Document({None: self.to_dict()})

    @classmethod
    def _from_document(cls, document: Document) -> Report:
        reports = document.reports
        if list(reports) != [None]:
            hint = "exactk.Comparison.from_json reads the reports of systems"
            raise input_error("report", "one report", f"those of {len(reports)} systems", hint=hint)
        return cls.from_dict(reports[None])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, with None for NaN. ``Report.from_dict`` reads it back."""
        from exactk._report.export_forms import json_number
        from exactk._report.user_table import kept_to_plain, users_to_plain

        return {
            **self._computed(),
            "users": None if self._users is None else users_to_plain(self.users),
            "per_user": {name: [json_number(value) for value in row.tolist()] for name, row in self.per_user.items()},
            "kept": None if self._user_table is None else kept_to_plain(self._user_table, self._plan),
            "state": self.state.to_dict(),
        }

    def _computed(self) -> dict[str, Any]:
        """Return what follows from the state, as plain data."""
        from exactk._report.export_forms import json_counts, json_number

        return {
            "values": {name: json_number(value) for name, value in self.items()},
            "standard_deviation": {name: json_number(value) for name, value in self.standard_deviation.items()},
            "counts": json_counts(self.counts),
            "by_group": [
                {
                    "group": row.label,
                    "metric": row.metric,
                    "value": json_number(row.value),
                    "standard_deviation": json_number(row.standard_deviation),
                    "evaluated": row.evaluated,
                }
                for row in self._rows_of_groups()
            ],
            "by_item_group": [
                {
                    "group": row.label,
                    "metric": row.of.spelling,
                    "value": json_number(row.value),
                    "evaluated": row.evaluated,
                    "items": row.items,
                }
                for row in self._rows_of_item_groups()
            ],
            "convention": self.convention.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Report:
        """Return the report that `to_dict` described. Values and counts that its state contradicts are an error."""
        from exactk._report.state_shape import check_computed
        from exactk._report.user_table import kept_from_plain, users_from_plain
        from exactk._runtime.shapes import Anything, Fields, plain_data, within

        computed = ("values", "standard_deviation", "counts", "by_group", "by_item_group", "convention")
        names = (*computed, "users", "per_user", "kept", "state")
        with plain_data("report", cls._expected()):
            plain = Fields(dict, dict.fromkeys(names, Anything())).read(data)
            with within("state"):
                state = State.from_dict(plain["state"])
            users = users_from_plain(plain["users"], state.counts.users)
            report = cls(state, users, kept_from_plain(plain["per_user"], plain["kept"], state))
            for name, expected in report._computed().items():
                check_computed(plain[name], expected, name)
            return report

    @writes
    def to_html(
        self,
        *,
        title: str | None = None,
        note: str = "",
        examples: int = 20,
        item_names: Mapping[Any, str] | None = None,
        lists: JudgedLists | None = None,
        headline: str | None = None,
        items: Items | None = None,
        drift: Drift | Mapping[str, Drift] | None = None,
    ) -> str:
        """Return the report as one HTML page, or write it to a file.

        The page is one file without scripts, which loads nothing. It has the values with intervals, curves over cutoffs,
        groups, counts, the worst and the best users if their values were kept (``per_user=True``), how the numbers were
        computed, and the numbers as JSON. Where data are missing, a line says what to write. Needs jinja2 and SciPy: ``pip install 'exactk[report]'``.

        Parameters
        ----------
        title : str, optional
            The heading.
        note : str
            A paragraph below the heading.
        examples : int
            How many of the users with the worst values, and of those with the best, are shown: their keys and values in
            the first metric and, with `lists`, what was recommended to them. 0 leaves no data of single users on the page.
            The default is 20.
        item_names : mapping of item to str, optional
            Names of items, shown beside their keys in lists.
        lists : JudgedLists, optional
            The lists, from `exactk.judge` of the same truth and predictions, with the same ``exclude=``: the page then shows
            how many relevant items the users have, and how long their lists are.
        headline : str, optional
            The metric that leads the page, in any spelling: in sentences, pictures and examples, and as the first row of
            tables. By default the first one.
        items : Items, optional
            The items of the evaluation, with train or popularity: the page then compares how popular what was recommended
            is with train. It needs a metric of all lists, such as ``coverage@10``.
        drift : Drift or mapping of str to Drift, optional
            What changed from another day or system, as `exactk.drift` returns it; several by their names on the page, such as
            ``{"from popular to als": exactk.drift(popular, als, k=10)}``.

        Raises
        ------
        InputError, InputTypeError
            If an argument is invalid, or the users or hits of `lists` are not those of the report.
        ImportError
            If jinja2 or SciPy is not installed.

        See Also
        --------
        Comparison.to_html : Several systems on a page, with their differences.

        Examples
        --------
        >>> import exactk
        >>> page = exactk.evaluate([[1], [2]], [[1], [3]], "P@1").to_html(title="A first page")
        >>> "<title>A first page</title>" in page
        True
        """
        from exactk._report.exports import html_page, page_request

        of_system = None if lists is None else {"": lists}
        request = page_request(
            title=title,
            note=note,
            examples=examples,
            item_names=item_names,
            lists=of_system,
            headline=headline,
            items=items,
            drift=drift,
        )
        return html_page(self, request)

    def plot(self, kind: ReportPlot = "values", metric: str | None = None, *, ax: Axes | None = None) -> DrawnDisplay:
        """Draw the report with matplotlib. Needs ``pip install 'exactk[plots]'``.

        Parameters
        ----------
        kind : {"values", "curves", "distribution"}
            The values of all metrics, or of one, with intervals; a metric over its cutoffs; the distribution of a metric
            over users, which needs ``per_user=True``.
        metric : str, optional
            A metric, in any spelling; by default the first that can be drawn, and all for ``"values"``.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        Display
            A display of ``exactk.displays`` with ``ax_``, ``figure_``, ``artists_``, and what it shows as ``data``.

        Raises
        ------
        InputError
            If the kind is not one of these, or the report lacks what it draws.
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import exactk
        >>> report = exactk.evaluate([[1], [2]], [[1, 3], [3, 2]], "recall@[1,2]")
        >>> display = report.plot("curves")
        >>> display.ax_.get_ylabel()
        'recall'
        >>> display.figure_.savefig("curves.svg")  # doctest: +SKIP
        """
        from exactk._report.exports import plot

        return plot(self, kind, metric, ax)

    def to_flat_dict(self, prefix: str = "") -> dict[str, float]:
        """Return the values under names that experiment trackers such as MLflow and W&B accept.

        Each name is the metric as requested, with ``_at_`` for ``@``, and ``_`` for other characters than letters
        and digits. NaN is kept.

        Parameters
        ----------
        prefix : str
            What every name begins with, such as ``"valid/"``.

        Raises
        ------
        InputError
            If two metrics would have one name.

        Examples
        --------
        >>> import exactk
        >>> exactk.evaluate([[1]], [[2, 1]], ["map@10", "fbeta@5(beta=2)"]).to_flat_dict("valid/")
        {'valid/map_at_10': 0.5, 'valid/fbeta_at_5_beta_2': 0.5555555555555556}
        """
        from exactk._report.export_forms import flat_dict

        return flat_dict((((name,), value) for name, value in self.items()), prefix)

    def _export_table(
        self, table: TableName, digits: int, names: Sequence[str] | None, *, systems_as_rows: bool, diagnostics: bool
    ) -> Table:
        from exactk._report.user_table import user_columns
        from exactk._runtime.table import Table

        if systems_as_rows:
            hint = "exactk.compare_reports({'name': report}) has a row for it"
            raise input_error("systems_as_rows", "False for the report of one system", "True", hint=hint)
        columns = self.columns(table)
        if table == "per_item":
            return Table.of_columns(columns, 2, digits)
        if table == "per_user":
            keys, spellings = len(user_columns(self.users, "")), self._plan.spellings_by_name
            if names is not None:
                columns = {name: columns[name] for name in [*[*columns][:keys], *map(spellings.__getitem__, names)]}
            return Table.of_columns(columns, keys, digits)
        long = (
            self._of_item_groups(digits, names) if table == "by_item_group" else self._of_rows(columns, digits, names)
        )
        if not diagnostics:
            return Table([column for column in long if column.name in _OF_PAPERS])
        return Table(self._with_counts(long) if table == "values" else long)

    def _of_item_groups(self, digits: int, names: Sequence[str] | None) -> list[Column]:
        """Return the columns of a row per group of items and value."""
        from exactk._runtime.table import Column

        rows = list(self._rows_of_item_groups(names))
        keys = {"group": [row.label for row in rows], "metric": [row.of.spelling for row in rows]}
        shown = keys | _numbers_of_item_groups(rows, self.state.unit_names.items)
        return [Column(name, cells, _KINDS.get(name, "value"), digits) for name, cells in shown.items()]

    def _of_rows(self, columns: Columns, digits: int, names: Sequence[str] | None) -> list[Column]:
        """Return the columns of a row per value, or per group and value, with the metrics as they were requested."""
        from exactk._runtime.table import Column

        values = self._plan
        position = {value.name: index for index, value in enumerate(values)}
        groups = range(0, len(columns["value"]), len(values))
        rows = [begin + position[name] for begin in groups for name in (position if names is None else names)]
        shown = {name: cells for name, cells in columns.items() if name != "k"}
        shown["metric"] = [value.spelling for value in values] * len(groups)
        return [
            Column(_SHORT.get(name, name), [cells[row] for row in rows], _KINDS.get(name, "value"), digits)
            for name, cells in shown.items()
        ]

    def _with_counts(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns with a row for each count that is not 0."""
        from exactk._report.counts import counts_of_systems

        compares_lists = self._plan[0].info.compares_lists
        units = self.state.unit_names
        counts = counts_of_systems([self.state.counts], list(self), units, compares_lists=compares_lists)
        cells = [[*counts], [text for (text,) in counts.values()], *[[""] * len(counts)] * len(columns[2:])]
        return [one._replace(cells=[*one.cells, *more]) for one, more in zip(columns, cells, strict=True)]

    def _rows_of_groups(self, labels: Iterable[Label] | None = None) -> Iterator[GroupRow]:
        """Yield each value of each group, or of the groups with these labels."""
        groups = sums_of_groups(self.state)
        if groups is None:
            return
        if labels is not None:
            groups = groups.in_order([label for label in labels if label in groups])
        columns = [zip(*one, strict=True) for one in self._columns_by_group(groups)]
        for label, *of_group in zip(groups, *columns, strict=True):
            for value, *cells in zip(self._plan, *of_group, strict=True):
                yield GroupRow(label, value.name, value.spelling, *cells)

    def _cells_of_groups(self, labels: Iterable[Label] | None = None) -> dict[tuple[Label, str], GroupRow]:
        """Return the values of groups, or of those with these labels, by group and canonical name."""
        return {(row.label, row.name): row for row in self._rows_of_groups(labels)}

    def _columns_by_group(self, groups: GroupSums) -> tuple[list[list[float]], list[list[float]], list[list[int]]]:
        """Return the values, their standard deviations and the number of evaluated users, value by value."""
        return (
            self._by_value(self._values_of_groups, groups),
            self._by_value(self._deviations_of_groups, groups),
            self._by_value(self._evaluated_in_groups, groups),
        )

    def _rows_of_item_groups(self, names: Sequence[str] | None = None) -> Iterator[ItemGroupRow]:
        """Yield what each value of groups of items, or each of these, has of each group."""
        for rows in self._item_groups.values():
            yield from (rows[name] for name in (rows if names is None else names) if name in rows)

    def _item_groups_in_brief(self) -> list[Table]:
        """Return the first groups of items and their numbers, if a metric has some."""
        from exactk._runtime.table import Table, left_out

        groups = self._item_groups
        if not groups:
            return []
        names = list(dict.fromkeys(row.of.spelling for rows in groups.values() for row in rows.values()))
        shown = names[:_MOST_VALUES]
        rows = []
        for label, numbers in islice(self.by_item_group.items(), _MOST_GROUPS):
            of_shown = [row.evaluated for row in groups[label].values() if row.of.spelling in shown]
            evaluated = [count for count in of_shown if count is not None]
            values = [numbers[name] if name in list(numbers) else "" for name in shown]
            rows.append([str(label), *([_range_text(evaluated)] if self._plan.item_groups else []), *values])
        notes = left_out("by_item_group", group=len(groups) - len(rows), value=len(names) - len(shown))
        units = self.state.unit_names
        header = [f"{units.item} group", *(["evaluated"] if self._plan.item_groups else []), *shown]
        return [Table.of_rows(header, rows, caption=f"By group of {units.items}", notes=notes)]

    def _groups_in_brief(self) -> list[Table]:
        """Return the first groups and values, if there are groups."""
        from exactk._runtime.table import Table, left_out

        if not self.state.groups:
            return []
        names, rows = list(self)[:_MOST_VALUES], []
        labels = list(islice(self.state.groups, _MOST_GROUPS))
        cells = self._rows_of_groups(labels)
        for label in labels:
            of_group = list(islice(cells, len(self)))
            rows.append(
                [
                    str(label),
                    _range_text(row.evaluated for row in of_group),
                    *(row.value for row in of_group[:_MOST_VALUES]),
                ]
            )
        notes = left_out("by_group", group=len(self.state.groups) - len(rows), value=len(self) - len(names))
        return [Table.of_rows(["group", "evaluated", *names], rows, caption="By group", notes=notes)]

    def _tables(self) -> Sequence[Table]:
        names = self._plan.names_of_all_items
        values = self._export_table("values", DIGITS, names, systems_as_rows=False, diagnostics=False)
        of_all = [values._replace(caption="Report")] if names else []
        tables = [*of_all, *self._groups_in_brief(), *self._item_groups_in_brief()]
        tables[-1] = tables[-1]._replace(notes=[*tables[-1].notes, self._remarks()])
        return tables

    def _remarks(self) -> str:
        from exactk._report.statistics import undefined_case, undefined_values

        counts, units = self.state.counts.scalars(), self.state.unit_names
        compares_lists = self._plan[0].info.compares_lists
        skipped = self._skipped_text()
        remarks = [
            count_text(name, count, units, compares_lists=compares_lists)
            for name, count in counts.items()
            if count and name != "longest_list"
        ]
        remarks += [skipped] if skipped else []
        dependent = self.counts.get("tie_dependent", {})
        remarks += [
            f"{plural(count, units.user)} whose {name} depends on ties" for name, count in dependent.items() if count
        ][:1]
        remarks += [
            f"{plural(users, units.user)} whose {value.spelling} is 0 / 0{units.text(undefined_case(value))}"
            for value, users in undefined_values(self.state)
            if value.rules["undefined"] != "skip"
        ][:1]
        candidates = self.state.counts.candidates
        if candidates is not None and candidates.users:
            fewest, mean, most = _summarize_candidates(candidates).values()
            text = f"{fewest} to {most} candidates per {units.user} (mean {mean:.5g})"
            remarks.append(text if fewest < most else f"{plural(candidates.fewest, 'candidate')} per {units.user}")
        shards = [] if self.state.shards is None else self.state.shards.remarks
        return "; ".join([self._rules_text, ", ".join(remarks) or f"0 {units.users}", *shards])

    def _skipped_text(self) -> str:
        """Return how many users the values skip, by metric where these differ; empty for none."""
        by_count: dict[int, list[str]] = {}
        user = self.state.unit_names.user
        evaluated_by_name = self.counts["evaluated"]
        for canonical in self._plan.names_of_all_items:
            name, evaluated = self._plan.spellings_by_name[canonical], evaluated_by_name[canonical]
            by_count.setdefault(self.state.counts.users - evaluated, []).append(name)
        if len(by_count) == 1:
            (count,) = by_count
            return f"{plural(count, user)} skipped" if count else ""
        skipped = [(count, listed(names)) for count, names in by_count.items() if count]
        return ", ".join(f"{plural(count, user)} skipped in {metrics}" for count, metrics in skipped)

    @property
    def _rules_text(self) -> str:
        """What the values depend on: the convention, with what was changed of it, the weights and the relevant grades."""
        parts = [f"convention {description(self.convention)}"]
        if self.state.weighted:
            parts.append("weighted")
        if self.state.catalogue is not None:
            parts.append(f"catalogue: {self.state.unit_names.text(str(self.state.catalogue))}")
        if self.state.grade_column is not None:
            bounds = dict.fromkeys(value.rules["min_grade"] for value in self._plan)
            relevant = " or ".join(_bound_text(bound) for bound in bounds)
            parts.append(f"grades: {self.state.grade_column}, relevant: {relevant}")
        if fields := self._fields_not_counted():
            parts.append(f"counts without the metrics' own {' and '.join(fields)}")
        return "; ".join(parts)

    def _fields_not_counted(self) -> list[str]:
        """Return the fields that decide what is counted and that a value changes for itself."""
        rules = self.convention.rules("")
        return [name for name in _COUNTING_FIELDS if any(value.rules[name] != rules[name] for value in self._plan)]

    @in_own_units
    def columns(self, table: TableName = "values", *, wide: bool | None = None) -> Columns:
        """Return the columns of the data frames by name; see `to_pandas`."""
        from exactk._report.exports import unknown_table

        if table == "values":
            return self._columns_of_values(wide=bool(wide))
        if table == "per_user":
            return self._columns_of_users(wide=wide is None or wide)
        if table == "by_group":
            return self._columns_of_groups(wide=bool(wide))
        if table == "by_item_group":
            return self._columns_of_item_groups(wide=bool(wide))
        if table == "per_item":
            return self._columns_of_items()
        raise unknown_table(table)

    def _columns_of_values(self, *, wide: bool) -> Columns:
        from exactk._report.export_forms import metric_columns

        if wide:
            return {name: [value] for name, value in self.items()}
        evaluated = list(self.counts["evaluated"].values())
        return metric_columns(self._plan) | {
            "value": list(self.values()),
            "standard_deviation": list(self.standard_deviation.values()),
            "evaluated": evaluated,
            "skipped": [self.state.counts.users - count for count in evaluated],
        }

    def _columns_of_users(self, *, wide: bool) -> Columns:
        from exactk._report.export_forms import join_columns, metric_columns
        from exactk._report.user_table import user_columns

        if self.table is None:
            hint = (Option("per_user", True), " keeps them")  # noqa: FBT003 - the value of the option
            raise input_error("table", "per-user values", "none", hint=hint)
        users = user_columns(self.users, self.state.unit_names.user)
        if wide:
            return join_columns(users, self.per_user)
        of_users = self._values_of_users
        repeated = {name: np.repeat(column, len(of_users)) for name, column in users.items()}
        values = metric_columns([*of_users.values()], len(self.users)) | {"value": self.table[[*of_users]].T.ravel()}
        return join_columns(repeated, values)

    def _columns_of_groups(self, *, wide: bool) -> Columns:
        from exactk._report.export_forms import metric_columns

        groups = sums_of_groups(self.state)
        if groups is None:
            raise input_error("table", "groups, which groups= names", "none")
        if wide:
            columns = self._by_value(self._values_of_groups, groups)
            return {"group": self._labels(groups), **dict(zip(self, columns, strict=True))}
        value, deviation, evaluated = (
            list(chain.from_iterable(zip(*columns, strict=True))) for columns in self._columns_by_group(groups)
        )
        return {
            "group": self._labels(label for label in groups for _ in self._plan),
            **metric_columns(self._plan, len(groups)),
            "value": value,
            "standard_deviation": deviation,
            "evaluated": evaluated,
        }

    def _columns_of_item_groups(self, *, wide: bool) -> Columns:
        from exactk._report.export_forms import metric_columns

        groups = self._item_groups
        if not groups:
            raise input_error("table", "a metric of groups of items, such as exposure", "none")
        rows = list(self._rows_of_item_groups())
        if wide:
            spellings = {row.of.name: row.of.spelling for row in rows}
            columns = {
                spelling: [of[name].value if name in of else math.nan for of in groups.values()]
                for name, spelling in spellings.items()
            }
            return {"group": _labels_or_none(groups), **columns}
        return {
            "group": _labels_or_none(row.label for row in rows),
            **metric_columns([row.of for row in rows]),
            **_numbers_of_item_groups(rows, self.state.unit_names.items),
        }

    def _columns_of_items(self) -> Columns:
        from exactk._report.export_forms import join_columns
        from exactk._report.item_counts import columns_of_items

        keys, columns = columns_of_items(self._plan.item_tallies, self.state.item_tallies)
        array = keys if isinstance(keys, np.ndarray) else np.array([*keys, None], object)[:-1]
        rows = len(columns["k"]) // max(1, len(array))
        return join_columns({self.state.unit_names.item: np.repeat(array, rows)}, columns)

    def _labels(self, labels: Iterable[Label]) -> list[Label]:
        """Return the labels as a column, with the order of all groups if there is one."""
        from exactk._runtime.optional import OrderedCategories

        order = self.state.group_order
        return list(labels) if order is None else OrderedCategories(labels, order)


def _labels_or_none(labels: Iterable[Label | None]) -> list[Any]:
    """Return the labels of groups of items as a column, of integers also where items without a group have None."""
    from exactk._runtime.optional import NullableIntegers

    column: list[Any] = list(labels)
    is_nullable = None in column and not any(isinstance(label, str) for label in column)
    return NullableIntegers(column) if is_nullable else column


def _numbers_of_item_groups(rows: Sequence[ItemGroupRow], items: str) -> dict[str, list[Any]]:
    """Return the columns of numbers of groups of items: users, where values are of users, and items of this name."""
    columns: dict[str, list[Any]] = {
        "value": [row.value for row in rows],
        "evaluated": [row.evaluated for row in rows],
        items: [row.items for row in rows],
    }
    return {name: cells for name, cells in columns.items() if any(cell is not None for cell in cells)}


def _range_text(counts: Iterable[int]) -> str:
    """Return a count, or the lowest and the highest of several."""
    ordered = sorted(counts) or [0]
    return "-".join(map(str, dict.fromkeys((ordered[0], ordered[-1]))))


def _bound_text(min_grade: float | str | None) -> str:
    if min_grade is None:
        return "> 0"
    return min_grade if isinstance(min_grade, str) else f">= {min_grade:g}"


def _summarize_candidates(candidates: CandidateCounts) -> Mapping[str, float]:
    """Return the minimum, mean and maximum number of candidates per user; NaN without users."""
    from exactk._report.metric_mapping import ReadOnlyMapping

    users, total, fewest, most = candidates
    statistics = (fewest, total / users, most) if users else (math.nan,) * 3
    return ReadOnlyMapping(dict(zip(("min", "mean", "max"), statistics, strict=True)))
