"""From the users' values of several systems to the exact sums over pairs of systems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk import _core
from exactk._inference.estimates import Moments
from exactk._inputs.keys.key_lists import encode_row_keys
from exactk._inputs.registry import names_file
from exactk._inputs.values_by_user import Clusters
from exactk._report.matched_reports import matched_users
from exactk._report.paired_sums import PairedState, PairedSums
from exactk._report.state import check_same_truth, plan_of_state
from exactk._report.user_table import is_unit, row_count, rows_of_values
from exactk._runtime.errors import CapacityError, input_error, type_error
from exactk._runtime.faults import Name, Option, plural
from exactk._runtime.threads import requested_isa

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Value
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._report.matched_reports import MatchedUsers
    from exactk._report.paired_sums import Pair
    from exactk._report.report import Report
    from exactk._report.sums import Label
    from exactk._report.user_table import UserTable
    from exactk._runtime.faults import Text


class Paired(NamedTuple):
    """The sums over pairs of systems, of some users, and the hash of each user's cluster, where it is needed."""

    state: PairedState
    hashes: tuple[NDArray[np.uint64], ...] = ()  # by chunk

    def __add__(self, other: Paired) -> Paired:  # type: ignore[override] # tuples add otherwise
        """Return the sums over both sets of users."""
        return Paired(self.state.plus(other.state), self.hashes + other.hashes)

    @property
    def cluster_hashes(self) -> NDArray[np.uint64] | None:
        """The hash of each user's cluster; None if there are no clusters, or they are no longer needed."""
        return np.concatenate(self.hashes) if self.hashes else None


class Pairing(NamedTuple):
    """How the systems of a call are compared: the sums over pairs of them that its chunks need."""

    engine: PairedEngine
    options: ComparisonOptions
    cluster_codes: ClusterCodes | None = None

    def check_margins(self, convention: Convention, values: Sequence[Value]) -> None:
        """Raise InputError for a margin that no value here can have."""
        self.options.checked_margins(convention, values)

    @property
    def clusters(self) -> dict[str, object]:
        """The argument of the clusters by its name, if there are any."""
        return {} if self.cluster_codes is None else {"clusters": self.cluster_codes.container}

    def of_reports(self, reports: Mapping[str, Report]) -> Paired | None:
        """Return the sums over pairs of reports of any users of one truth. Those that keep no users have no pairs."""
        pairs = ChunkPairs(self, list(reports))
        matched = matched_users(reports) if pairs.needs_users else None
        check_same_truth({system: report.state for system, report in reports.items()}, "reports")
        return None if matched is None else pairs.of_matched(matched, plan_of_state(next(iter(reports.values())).state))


class ChunkPairs:
    """The sums over pairs of the systems of a chunk, which are added one after another."""

    def __init__(self, pairing: Pairing, systems: Sequence[str]) -> None:
        self._engine, self._options, self._clusters = pairing
        self._options.check_systems(systems)
        self._pairs = self._options.pairs(systems)
        self._tables: dict[str, UserTable] = {}  # as long as they are needed
        self._means: RunMeans | None = None  # of the runs so far of the system that is added
        self._single_means: dict[str, UserTable] = {}  # of systems of one run, to compare with means
        self._states: list[PairedState] = []
        self._of_clusters: BlockClusters | None = None
        compared = self._options.compared_systems(systems)
        compared.sort(key=lambda system: system != self._options.baseline)
        self.order = [run for system in compared for run in self._options.runs_of(system)]
        """The systems in the order in which to add them: the baseline first, runs together."""

    @property
    def needs_users(self) -> bool:
        """Whether there are pairs."""
        return bool(self._pairs)

    def add(self, system: str, report: Report, num_threads: int) -> None:
        """Add a system or a run, whose report has the users of all others of the chunk in the same order.

        With a baseline, its table and that of one more system are held at a time.
        """
        if report._user_table is None or not self._pairs:
            return
        if self._of_clusters is None:
            self._read_clusters(report)
        values = plan_of_state(report.state)
        if not self._add_table(system, report._user_table, values):
            return
        (system,) = self._options.compared_systems([system])
        if self._options.baseline is None:
            ready = self._pairs if len(self._tables) == len({name for pair in self._pairs for name in pair}) else []
        else:
            ready = [pair for pair in self._pairs if pair[0] == system]
        if not ready:
            return
        self._add_states(values, ready, num_threads)
        if self._options.baseline is not None:
            del self._tables[system]

    def of_matched(self, matched: MatchedUsers, values: Sequence[Value]) -> Paired | None:
        """Return the sums over tables of all systems."""
        self._read_clusters(matched)
        for system in self.order:
            self._add_table(system, matched.tables[system], values)
        self._add_states(values, self._pairs)
        return self.paired()

    def _read_clusters(self, users_of: Report | MatchedUsers) -> None:
        """Read the clusters of the users, whose keys only clusters need as an array, if there are any."""
        if self._clusters is not None:
            self._of_clusters = self._clusters.of_users(users_of.users)

    def _add_table(self, name: str, table: UserTable, values: Sequence[Value]) -> bool:
        """Add the table of a system or a run; return whether the table of the system is complete."""
        (system,) = self._options.compared_systems([name])
        if system == name:
            self._tables[system] = table
            return True
        if self._means is None:
            self._means = RunMeans(values, self._engine.logarithms, table)
        else:
            self._means.add(table)
        if self._means.runs < len(self._options.runs_of(system)):
            return False
        self._tables[system], self._means = self._means.table(), None
        return True

    def _add_states(self, values: Sequence[Value], pairs: Sequence[Pair], num_threads: int = 1) -> None:
        """Add the sums over pairs whose tables are there."""
        runs = self._options.runs or {}
        for has_runs in (False, True):
            chosen = [pair for pair in pairs if has_runs == (not runs.keys().isdisjoint(pair))]
            if not chosen:
                continue
            systems = [system for system in self._tables if any(system in pair for pair in chosen)]
            tables = {
                system: self._as_means(system, values) if has_runs and system not in runs else self._tables[system]
                for system in systems
            }
            self._states.append(
                paired_state(self._engine, values, tables, chosen, self._codes, num_threads, are_means=has_runs)
            )

    @property
    def _codes(self) -> NDArray[np.int64] | None:
        return None if self._of_clusters is None else self._of_clusters.codes

    def _as_means(self, system: str, values: Sequence[Value]) -> UserTable:
        """Return the table of a system of one run as that of means."""
        if system not in self._single_means:
            table = RunMeans(values, self._engine.logarithms, self._tables[system]).table()
            if system != self._options.baseline:
                return table
            self._single_means[system] = table
        return self._single_means[system]

    def paired(self) -> Paired | None:
        """Return the sums, once all systems are added; None if there are none."""
        self._tables, self._single_means = {}, {}
        if not self._states:
            return None
        totals = {pair: sums for state in self._states for pair, sums in state.totals.items()}
        groups = {pair: sums for state in self._states for pair, sums in (state.groups or {}).items()}
        state = PairedState(
            self._states[0].weighted,
            self._clusters is not None,
            {pair: totals[pair] for pair in self._pairs},
            {pair: groups[pair] for pair in self._pairs} if groups else None,
        )
        if self._of_clusters is None or not self._options.has_random_numbers:
            return Paired(state)
        return Paired(state, (self._of_clusters.hashes,))


def check_missing(options: ComparisonOptions, state: PairedState | None, values: Sequence[Value]) -> None:
    """Raise InputError if users whom one system of a pair lacks are not to be left out."""
    if state is None or options.missing == "drop":
        return
    for (system, baseline), sums_of_values in state.totals.items():
        for value, sums in zip(values, sums_of_values, strict=True):
            for only, name in ((sums.only_system, system), (sums.only_baseline, baseline)):
                if only:
                    expected = f"values of {value.spelling} for the same users in {system!r} and {baseline!r}"
                    hint: Text = (Option("missing", "drop"), f" compares the {sums.users} users of both")
                    raise input_error("systems", expected, f"{plural(only, 'user')} in {name!r} alone", hint=hint)


def paired_state(
    engine: PairedEngine,
    values: Sequence[Value],
    tables: Mapping[str, UserTable],
    pairs: Sequence[Pair],
    clusters: NDArray[np.int64] | None = None,
    num_threads: int = 1,
    *,
    are_means: bool = False,
) -> PairedState:
    """Return the sums over each pair; the tables have the same users in the same order.

    Weights and groups are those of the first table. `clusters` is the cluster of each user. Means are those of
    `RunMeans`.
    """
    first = next(iter(tables.values()))
    index = {system: position for position, system in enumerate(tables)}
    problem = PairedProblem(
        tuple(np.ascontiguousarray(table.rows) for table in tables.values()),
        paired_values(values, are_means=are_means),
        tuple((index[system], index[baseline]) for system, baseline in pairs),
        first.weights,
        None if first.groups is None else np.maximum(first.groups, 0),  # users without a group have no value
        max(1, len(first.labels)),
        clusters,
        0 if clusters is None else int(clusters.max(initial=0)) + 1,
        num_threads,
    )
    by_group = engine.sums(problem)
    if first.groups is None:
        totals, groups = by_group[0], None
    else:
        groups = {
            pair: {label: tuple(sums[i]) for label, sums in zip(first.labels, by_group, strict=False)}
            for i, pair in enumerate(pairs)
        }
        if clusters is None:
            totals = [
                [reduce(PairedSums.plus, sums) for sums in zip(*of_pair, strict=True)]
                for of_pair in zip(*by_group, strict=True)
            ]
        else:  # a cluster may have users in several groups
            (totals,) = engine.sums(replace(problem, groups=None, group_count=1))
    return PairedState(
        first.weights is not None, clusters is not None, dict(zip(pairs, map(tuple, totals), strict=True)), groups
    )


def sums_of_users(values: Sequence[Value], index: int, table: UserTable, label: Label | None) -> PairedSums:
    """Return the sums of one value over the users of one system, or those of a group, as of a pair with itself."""
    rows = dict.fromkeys((index, *rows_of_values(values)[index]))  # each once
    of_value = table._replace(rows=table.rows[list(rows)], value_count=1)
    if label is not None:
        of_value = of_value.of_users(np.flatnonzero(table.groups == table.labels.index(label)))
    of_value = of_value._replace(groups=None, labels=())
    return paired_state(core_paired_engine, [values[index]], {"": of_value}, [("", "")]).totals["", ""][0]


def paired_values(values: Sequence[Value], *, are_means: bool = False) -> tuple[PairedValue, ...]:
    """Return how each value is made of the rows of a table, or of those of `RunMeans`."""
    paired = []
    first_shown = row_count(values) if are_means else 0
    for row, (value, rows) in enumerate(zip(values, rows_of_values(values), strict=True)):
        average = value.rules["average"]
        shown = -1 if average == "of_means" else first_shown + row
        is_geometric = average == "geometric"
        has_logarithms = is_geometric and are_means
        has_unit = is_unit(value) and not has_logarithms
        paired.append(PairedValue(rows, shown, is_geometric and not are_means, has_unit, average == "micro"))
    return tuple(paired)


_COMPARED_BITS = 40


class RunMeans:
    """The sums over runs so far: of the rows of their tables, with logarithms in place of geometric values.

    A user who lacks a number in one run has none. Below the rows, a table of means has the means of the values again,
    rounded so that those that are equal but for rounding compare as equal: users win and lose by these.
    """

    def __init__(
        self,
        values: Sequence[Value],
        logarithms: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        run: UserTable,
    ) -> None:
        self._geometric_rows = [row for row, value in enumerate(values) if value.rules["average"] == "geometric"]
        self._logarithms = logarithms
        self._first = run
        size, users = run.rows.shape
        self._rows = np.empty((size + run.value_count, users))  # the sums, and room for the rounded means
        self._sums, self._rounded = self._rows[:size], self._rows[size:]
        self._sums[:] = self._terms(run)
        self.runs = 1

    def add(self, run: UserTable) -> None:
        """Add the table of another run, which has the same users in the same order."""
        self._sums += self._terms(run)
        self.runs += 1

    def table(self) -> UserTable:
        """Return the means, with the weights and groups of the first run. No run can be added after that."""
        self._sums /= self.runs
        fractions, exponents = np.frexp(self._sums[: self._first.value_count])
        self._rounded[:] = np.ldexp(np.rint(np.ldexp(fractions, _COMPARED_BITS)), exponents - _COMPARED_BITS)
        return self._first._replace(rows=self._rows)

    def _terms(self, run: UserTable) -> NDArray[np.float64]:
        if not self._geometric_rows:
            return run.rows
        terms = np.array(run.rows)
        for row in self._geometric_rows:
            terms[row] = self._logarithms(terms[row])
        return terms


class BlockClusters(NamedTuple):
    """The cluster of each user of a block: its number, and the hash of its label."""

    codes: NDArray[np.int64]
    hashes: NDArray[np.uint64]


class ClusterCodes:
    """Numbers the clusters of blocks of users."""

    def __init__(self, clusters: object, columns: ColumnNames) -> None:
        self.container, self._columns = clusters, columns
        self._values: Clusters | None = None
        self._row = 0  # the first of the next block
        self._seen: set[Any] = set()

    def of_users(self, users: NDArray[Any]) -> BlockClusters:
        """Return the cluster of each user. Raise InputError if a cluster was in an earlier block."""
        labels, codes = np.unique(self._labels(users), return_inverse=True)
        for label in labels.tolist():
            if label in self._seen:
                raise input_error("clusters", "the users of a cluster in one block", f"{label!r} in several")
        self._seen.update(labels.tolist())
        self._row += len(users)
        keys, key_codes = encode_row_keys(labels, "clusters", len(labels), "cluster")
        return BlockClusters(codes.astype(np.int64), keys.hashes[key_codes][codes])

    def _labels(self, users: NDArray[Any]) -> NDArray[Any]:
        names = users.dtype.names
        if isinstance(self.container, str) and names is not None:
            if self.container not in names:
                raise input_error("clusters", Name(f"one of the user columns {', '.join(names)}"), repr(self.container))
            column: NDArray[Any] = users[self.container]
            return column
        if isinstance(self.container, str) and self._values is None and not names_file(self.container):
            expected = (
                "a cluster of each user: a mapping, a Series, a data frame, or a column of users of several columns"
            )
            hint = f"such as user=[{self.container!r}, 'session'], so that the users are the sessions"
            raise type_error("clusters", expected, repr(self.container), hint=hint)
        if self._values is None:
            self._values = Clusters.from_argument(self.container, self._columns)
        return self._values.of_users(users, self._row)


class PairedValue(NamedTuple):
    """How a value is made of the rows of the tables."""

    rows: tuple[int, ...]  # one; of a ratio, numerator and denominator; of F of means, precision and recall
    shown: int  # the row by which a user counts as a win or a loss; -1 for none
    is_geometric: bool  # the logarithm of a row is summed
    is_unit: bool  # all its numbers are in [0, 1], by definition
    is_ratio: bool  # the rows are numerator and denominator, so that a user with 0/0 in both systems says nothing


@dataclass(frozen=True)
class PairedProblem:
    """The users' values of several systems, and the pairs to sum over."""

    tables: tuple[NDArray[np.float64], ...]  # rows x users of each system; NaN where there is no value
    values: tuple[PairedValue, ...]
    pairs: tuple[tuple[int, int], ...]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None
    group_count: int
    clusters: NDArray[np.int64] | None  # of users, who are summed first
    cluster_count: int
    num_threads: int


class PairedEngine(NamedTuple):
    """The sums over pairs of systems, and the logarithms that geometric means add."""

    sums: Callable[[PairedProblem], list[list[list[PairedSums]]]]  # by group, pair and value
    logarithms: Callable[[NDArray[np.float64]], NDArray[np.float64]]


def _core_paired_sums(problem: PairedProblem) -> list[list[list[PairedSums]]]:
    """Sum over pairs of systems with the C++ core."""
    sums = _core.paired_sums(
        tables=list(problem.tables),
        values=[_core.PairedValue(*value) for value in problem.values],
        pairs=problem.pairs,
        weights=problem.weights,
        groups=problem.groups,
        group_count=problem.group_count,
        clusters=problem.clusters,
        cluster_count=problem.cluster_count,
        threads=problem.num_threads,
        isa=requested_isa(),
    )
    counts = zip(
        *(
            one.ravel().tolist()
            for one in (sums.users, sums.only_system, sums.only_baseline, sums.wins, sums.losses, sums.units)
        ),
        strict=True,
    )
    scales = cycle(zip(sums.sums_scale, sums.products_scale, strict=True))
    rows = iter(
        [
            PairedSums(
                users,
                only_system,
                only_baseline,
                wins,
                losses,
                Moments(units, columns, sums_scale, products, products_scale),
            )
            for (users, only_system, only_baseline, wins, losses, units), columns, products, (
                sums_scale,
                products_scale,
            ) in zip(counts, sums.sums, sums.products, scales, strict=False)
        ]
    )
    return [[list(islice(rows, len(problem.values))) for _ in problem.pairs] for _ in range(problem.group_count)]


def _core_logarithms(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return _core.geometric_terms(np.ascontiguousarray(numbers))


core_paired_engine = PairedEngine(_core_paired_sums, _core_logarithms)


# The memory that the users' values of several systems need, which is checked before the first system is evaluated.

_BYTES = 8  # of a number
_ROWS_OF_GROUPS, _ROWS_OF_CLUSTERS = 3, 4  # codes, those that are passed to the core, users in their order


def check_table_memory(
    values: Sequence[Value],
    options: ComparisonOptions,
    systems: Sequence[str],
    users: int,
    *,
    per_user: bool,
    has_groups: bool,
    has_clusters: bool,
) -> None:
    """Raise CapacityError if the tables of the users' values that are held at a time exceed the memory.

    The error names what would make them fit: ``per_user`` or ``baseline``, otherwise ``metrics``.
    """
    rows_of_table = row_count(values) + (len(values) if options.runs else 0)  # means have the values again, rounded
    rows_beside = 1 + _ROWS_OF_GROUPS * has_groups + _ROWS_OF_CLUSTERS * has_clusters  # 1 of weights

    def require(tables: int, argument: str) -> None:
        _core.require_memory(users, _BYTES * (tables * rows_of_table + rows_beside), argument)

    def fits(tables: int) -> bool:
        try:
            require(tables, "metrics")
        except CapacityError:
            return False
        return True

    compared = options.compared_systems(systems)
    of_runs = 2 if options.runs else 0  # the sums of those so far, and the next
    of_all_pairs = (len(compared) if options.pairs(systems) else 1) + of_runs
    with_baseline = min(2, len(compared)) + of_runs
    of_pairs = of_all_pairs if options.baseline is None else with_baseline
    needed = max(of_pairs, len(systems) + of_runs) if per_user else of_pairs
    if fits(needed):
        return
    changes: list[tuple[int, str, Text]] = [
        (of_pairs, "per_user", (Option("per_user", value=False), " keeps less")),
        (with_baseline, "baseline", (Option("baseline", compared[0]), " needs the values of two systems at a time")),
    ]
    argument, hint = next(
        ((argument, hint) for tables, argument, hint in changes if tables < needed and fits(tables)),
        ("metrics", ("fewer metrics, or blocks of users, need less",)),
    )
    try:
        require(needed, argument)
    except CapacityError as error:
        raise error.amended(hint=hint) from None
