"""Reports of several systems, brought to one order of metrics and of users."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.key_lists import encode_row_keys
from exactk._plan.values import as_plan
from exactk._report.report import Report
from exactk._report.state import plan_of_state, sums_of_groups
from exactk._report.user_table import equal_arrays, has_part_rows, kinds_of_keys
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import plural
from exactk._runtime.shapes import ShapeError, elements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import Value
    from exactk._report.paired_sums import PairedState
    from exactk._report.user_table import UserTable


def with_metrics_in_one_order(reports: Mapping[str, Report]) -> Mapping[str, Report]:
    """Return reports with the metrics in the order of the first; as they are if they are no reports."""
    given: object = reports  # other values are refused later
    of_systems: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}  # which no other thread changes
    if not of_systems or not all(isinstance(report, Report) for report in of_systems.values()):
        return reports
    first = next(iter(of_systems.values())).metrics
    return {name: _in_order(report, first) for name, report in of_systems.items()}


def _in_order(report: Report, metrics: tuple[str, ...]) -> Report:
    """Return the report with its metrics in this order; the same report if it has others, or has this order."""
    state = report.state
    if state.metrics == metrics or sorted(state.metrics) != sorted(metrics):
        return report
    order = [state.metrics.index(metric) for metric in metrics]
    values = plan_of_state(state)
    ordered = [values[index] for index in order]
    position = {part.identity: index for index, part in enumerate(as_plan(values).distinct_parts)}
    parts = [position[part.identity] for part in as_plan(ordered).distinct_parts]
    groups = sums_of_groups(state)
    state = state._replace(
        metrics=metrics,
        spellings=tuple(state.spellings[index] for index in order),
        totals=tuple(state.totals[part] for part in parts),
        groups=None if groups is None else groups.with_parts(parts),
    )
    table = report._user_table
    if table is not None:
        table = table._replace(rows=table.rows[[*order, *_part_rows(values, order)]])
    return Report(state, report.users if report._has_keys else None, table)


def _part_rows(values: Sequence[Value], order: Sequence[int]) -> list[int]:
    """Return the rows of a table, after those of the values, in the order of other values."""
    first_rows, row = {}, len(values)
    for index, value in enumerate(values):
        first_rows[index] = row
        row += 2 * has_part_rows(value)
    return [first_rows[i] + part for i in order if has_part_rows(values[i]) for part in (0, 1)]


class MatchedUsers(NamedTuple):
    """The users of any report, and what is kept of them by system."""

    users: NDArray[Any]
    tables: dict[str, UserTable]


def matched_users(reports: Mapping[str, Report]) -> MatchedUsers | None:
    """Return what is kept of the users of any report, in one order; None if a report keeps none.

    Users are matched by key, or by row if no report has keys. A user's weight and group are those of the first report
    that has the user, and must be the same in all.
    """
    kept = {system: table for system, report in reports.items() if (table := report._user_table) is not None}
    if len(kept) < len(reports):
        return None
    first = next(iter(reports.values()))
    if any(report._has_keys != first._has_keys for report in reports.values()):
        keyed = next(system for system, report in reports.items() if report._has_keys)
        raise type_error("reports", "user keys in all reports or in none", f"keys in {keyed!r} alone")
    if all(has_same_users(first, other) for other in reports.values()):
        return MatchedUsers(first.users, _with_common_groups(kept))
    users = {system: report.users for system, report in reports.items()}
    if not first._has_keys:
        sizes = ", ".join(f"{len(one)} in {system!r}" for system, one in users.items())
        raise input_error("reports", "as many users in all reports, as they have no keys", sizes)
    _check_kinds(users)
    positions = {system: {user: row for row, user in enumerate(one.tolist())} for system, one in users.items()}
    everyone = np.concatenate(list(users.values()))
    of_everyone = dict.fromkeys(everyone.tolist())
    tables = {
        system: table.of_users(np.array([positions[system].get(user, -1) for user in of_everyone], np.intp))
        for system, table in kept.items()
    }
    firsts = {user: row for row, user in reversed(list(enumerate(everyone.tolist())))}
    return MatchedUsers(everyone[[firsts[user] for user in of_everyone]], _with_common_groups(tables))


def hashes_of_users(users: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the hash of each user's key."""
    if users.dtype == np.int64:
        return users.view(np.uint64)  # integers are their own hashes

    def of_some(users: NDArray[Any]) -> NDArray[np.uint64]:
        keys, codes = encode_row_keys(users, "users", len(users), "user")
        return keys.hashes[codes]

    return np.concatenate([of_some(users[begin : begin + _PORTION]) for begin in range(0, len(users) or 1, _PORTION)])


_PORTION = 1 << 16  # of users, whose keys need memory while they are hashed


def clusters_from_plain(
    hashes: NDArray[np.uint64] | tuple[int, ...], paired: PairedState | None, users: int
) -> NDArray[np.uint64]:
    """Return the hash of each user's cluster; raise ValueError if the pairs have no clusters, or others."""
    if paired is None or not paired.clustered:
        raise ShapeError("clusters", "none", hashes)
    if isinstance(hashes, np.ndarray):
        return hashes
    clusters = len(set(elements(hashes, "clusters", users)))
    for sums in chain.from_iterable(paired.totals.values()):
        units = sums.moments.units
        if units > clusters or (sums.users == users and units != clusters):
            raise ShapeError("clusters", f"{units} clusters, as in the sums over pairs", clusters)
    return np.array(hashes, np.uint64)


def merged_clusters(
    of_parts: Sequence[tuple[Mapping[str, Report], NDArray[np.uint64] | None]], reports: Mapping[str, Report]
) -> NDArray[np.uint64] | None:
    """Return the hash of each user's cluster in merged reports, from those of the parts; None unless all have them."""
    merged = matched_users(reports)
    if merged is None or any(hashes is None for _, hashes in of_parts):
        return None
    if not next(iter(reports.values()))._has_keys:
        return np.concatenate([hashes for _, hashes in of_parts if hashes is not None])
    hash_of: dict[Any, int] = {}
    for of_part, hashes in of_parts:
        matched = matched_users(of_part)
        if matched is not None and hashes is not None:
            hash_of.update(zip(matched.users.tolist(), hashes.tolist(), strict=True))
    return np.array([hash_of[user] for user in merged.users.tolist()], np.uint64)


def has_same_users(one: Report, other: Report) -> bool:
    """Return whether reports have the same users in the same order; row numbers, if neither has keys."""
    if not one._has_keys and not other._has_keys:
        return one.state.counts.users == other.state.counts.users
    return equal_arrays(one.users, other.users)


def _check_kinds(users: Mapping[str, NDArray[Any]]) -> None:
    kinds = {system: kinds_of_keys(one) for system, one in users.items() if len(one)}
    first = next(iter(kinds.items()), None)
    for system, kind in kinds.items():
        if first is not None and kind != first[1]:
            names = [" and ".join(part for _, part in one) for one in (first[1], kind)]
            found = f"{names[0]} in {first[0]!r} and {names[1]} in {system!r}"
            raise type_error("reports", "user keys of one type", found)


def _with_common_groups(tables: dict[str, UserTable]) -> dict[str, UserTable]:
    """Return the tables with the weights and groups of all users."""
    labels = tuple(dict.fromkeys(label for table in tables.values() for label in table.labels))
    tables = {system: table.with_labels(labels) for system, table in tables.items()}
    first = next(iter(tables.values()))
    weights, groups = first.weights, first.groups
    for system, table in tables.items():
        for name, one, other, absent in (
            ("weights", weights, table.weights, 0),
            ("groups", groups, table.groups, -1),
        ):
            if (one is None) != (other is None):
                raise input_error(
                    "reports", f"{name} in all reports or in none", f"{name} in some ({system!r} differs)"
                )
            if one is not None and other is not None:
                differs = (one != other) & (one != absent) & (other != absent)
                if differs.any():
                    found = f"others in {system!r} for {plural(int(differs.sum()), 'user')}"
                    raise input_error("reports", f"the same {name} of each user in all reports", found)
        weights = None if weights is None or table.weights is None else np.where(weights == 0, table.weights, weights)
        groups = None if groups is None or table.groups is None else np.where(groups < 0, table.groups, groups)
    return {system: table._replace(weights=weights, groups=groups) for system, table in tables.items()}
