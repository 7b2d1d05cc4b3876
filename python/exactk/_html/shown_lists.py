"""The lists of systems, which a page shows for some users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._html.page_parts import ListItem
from exactk._html.texts import key_text
from exactk._inputs.model.top_k import with_item_keys
from exactk._report.state import plan_of_state
from exactk._report.user_table import equal_arrays
from exactk._runtime.errors import input_error, type_error, warn
from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._html.page_source import Source
    from exactk._plan.values import Value
    from exactk._report.judged_lists import JudgedLists
    from exactk._report.report import Report


_SAME_OPTIONS = "give exactk.judge the exclude=, candidates= and convention= of the evaluation"
_MOST_CHARACTERS = 80  # of an item's name
_HIT_METRICS = ("hit_rate", "precision", "recall", "reciprocal_rank")  # above 0 for a user with a hit, and for no other


def check_lists(source: Source) -> None:
    """Raise InputError or InputTypeError unless the lists are those that were evaluated, as far as hits and users tell."""
    for system, lists in source.request.lists.items():
        if system not in source.reports:
            raise input_error("lists", f"systems of the comparison: {', '.join(source.reports)}", repr(system))
        of_system = f" of {system!r}" if system else ""
        report = source.reports[system]
        if report._has_keys != (lists.users is not None):
            expected = "the evaluated users" + (", who have keys" if report._has_keys else ", who are row numbers")
            raise type_error("lists", expected, f"{'row numbers' if report._has_keys else 'keys'}{of_system}")
        _check_hits(report, lists, _positions(report, lists, of_system), of_system)
    _check_names(source)
    _check_gate(source)


def _check_gate(source: Source) -> None:
    """Raise InputError if the gate is of other systems."""
    runs = {} if source.comparison is None else source.comparison.state.options.runs or {}
    systems = {*source.reports, *runs}
    for check in source.request.gate or ():
        if not {check.system, check.baseline} <= systems:
            found = f"claims about {check.system!r} and {check.baseline!r}"
            raise input_error("gate", "claims about systems of the comparison", found)


def _check_names(source: Source) -> None:
    """Warn if no item of the lists has a name, as if keys were of another type."""
    names, lists = source.request.item_names, source.request.lists
    if not names or not any(one.lengths.any() for one in lists.values()):
        return
    for one in lists.values():
        codes = np.unique(one.codes[one.codes >= 0])
        if not names.keys().isdisjoint(with_item_keys(codes, one.item_keys).tolist()):
            return
    warn("item_names: no recommended item has a name: check that keys are of one type, such as text or integers")


def _positions(report: Report, lists: JudgedLists, of_system: str) -> NDArray[np.intp]:
    """Return the row in the report of each user of the lists."""
    users = report.state.counts.users
    if lists.users is None:
        if len(lists) != users or lists.first_user:
            raise input_error("lists", f"those of all {users} users", f"{len(lists)}{of_system}", hint=_SAME_OPTIONS)
        return np.arange(users)
    if equal_arrays(lists.users, report.users):
        return np.arange(users)
    position = {user: row for row, user in enumerate(report.users.tolist())}
    rows = np.array([position.get(user, -1) for user in lists.users.tolist()], np.intp)
    if np.any(rows < 0):
        stranger = lists.users.tolist()[int(np.flatnonzero(rows < 0)[0])]
        raise input_error("lists", "the evaluated users", f"user {stranger!r}{of_system}", hint=_SAME_OPTIONS)
    return rows


def _check_hits(report: Report, lists: JudgedLists, rows: NDArray[np.intp], of_system: str) -> None:
    table = report.table
    if table is None or not len(rows):
        return
    listed = lists.in_truth & lists.has_list & (lists.relevant > 0) & (lists.lengths > 0)
    for index, value in enumerate(plan_of_state(report.state)):
        if not _tells_hits(value, report, lists.k):
            continue
        numbers = table[index, rows]
        has_hit = lists.hits[:, : value.cutoff].any(axis=1)
        different = np.flatnonzero(listed & ~np.isnan(numbers) & ((numbers > 0) != has_hit))
        if len(different):
            user = int(different[0]) if lists.users is None else lists.users.tolist()[different[0]]
            found = f"other hits of user {user!r}{of_system} ({len(different)} users in all)"
            raise input_error("lists", "the lists that were evaluated", found, hint=_SAME_OPTIONS)


def _tells_hits(value: Value, report: Report, k: int) -> bool:
    """Return whether the values of users are above 0 for those with a hit down to the cutoff."""
    rules = value.rules
    same_grade = rules["min_grade"] == report.convention.rules("num_hits")["min_grade"]
    is_plain = rules["average"] in {"macro", "micro"} and value.metric in _HIT_METRICS
    keeps_hits = rules["decimals"] is None and rules["weight"] == "one"  # else a value with a hit may be 0
    return is_plain and same_grade and keeps_hits and value.cutoff is not None and value.cutoff <= k


class ShownLists:
    """The lists of some users by system, with the names of their items."""

    def __init__(self, lists: Mapping[str, JudgedLists], item_names: Mapping[Any, str]) -> None:
        self._lists, self._names = lists, item_names
        self._rows: dict[str, dict[Any, int]] = {}  # by user, of the systems that were asked for

    def has(self, system: str) -> bool:
        """Return whether the lists of a system were given."""
        return system in self._lists

    def row_of(self, system: str, user: object) -> int | None:
        """Return the row of a user's list; None if there is no list."""
        if system not in self._lists:
            return None
        users = self._lists[system].users
        if users is None:
            return user if isinstance(user, int) else None
        if system not in self._rows:
            self._rows[system] = {key: row for row, key in enumerate(users.tolist())}
        return self._rows[system].get(user)

    def relevant(self, systems: Sequence[str], user: object) -> int | None:
        """Return how many relevant items a user has; None if no list tells."""
        for system in systems:
            row = self.row_of(system, user)
            if row is not None:
                return int(self._lists[system].relevant[row])
        return None

    def items(self, system: str, user: object, most: int) -> list[ListItem] | None:
        """Return the first items of a user's list; None if there is no list."""
        row = self.row_of(system, user)
        if row is None:
            return None
        lists = self._lists[system]
        ranks = np.flatnonzero(lists.codes[row] >= 0)[:most]  # which may have gaps
        keys = with_item_keys(lists.codes[row, ranks], lists.item_keys).tolist()
        hits = lists.hits[row, ranks].tolist()
        return [
            ListItem(rank + 1, self._name(key), hit) for rank, key, hit in zip(ranks.tolist(), keys, hits, strict=True)
        ]

    def _name(self, key: object) -> str:
        """Return the name of an item, short enough that a list remains a list."""
        text = printable(key_text(self._names.get(key, key)))
        return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
