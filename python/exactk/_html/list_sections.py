"""The lists of users: whether they are those that were evaluated, and the sections that show them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._html.page_parts import Bullets, Cell, Fold, ListItem, Paragraph, key_text, number, page_table, share_text
from exactk._inputs.model.top_k import with_item_keys
from exactk._report.state import plan_of_state
from exactk._report.user_table import equal_arrays
from exactk._report.worst_users import lowest_rows
from exactk._runtime.errors import input_error, type_error, warn
from exactk._runtime.faults import capitalized, plural
from exactk._runtime.texts import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._html.page_parts import Content, Part
    from exactk._html.page_source import Source
    from exactk._plan.values import Value
    from exactk._report.judged_lists import JudgedLists
    from exactk._report.matched_reports import MatchedUsers
    from exactk._report.paired_sums import Pair
    from exactk._report.report import Report
    from exactk._runtime.table import Table


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
    systems = {*source.reports, *source.runs}
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
    is_plain = rules["average"] in {"macro", "micro"} and value.metric in _HIT_METRICS and value.item_group is None
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


_MOST_ITEMS = 10  # of a list
_KEEPING = "no values of users were kept; per_user=True keeps them"


def examples(source: Source) -> Content:
    if source.comparison is None:
        return _worst_and_best(source)
    missing = _no_examples(source)
    matched = source.matched
    value = next((source.value_of[metric] for metric in source.rows_of_users), None)
    if missing or matched is None or value is None:
        return missing or _KEEPING
    pairs = _pairs_of_examples(source)
    limit = (
        source.limits.examples if source.request.lists else 2 * source.limits.examples
    )  # lists take most of the space
    most = min(source.request.examples, limit // (2 * len(pairs)))
    lists = ShownLists(source.request.lists, source.request.item_names)
    parts: list[Part] = _introduction(source, value, most, len(pairs))
    for index, pair in enumerate(pairs):
        parts.append(
            Fold(
                f"{pair[0]} against {pair[1]}",
                _tables_of_examples(source, value, pair, matched, lists, most),
                is_open=not index,
            )
        )
    return parts


_NO_USERS = "examples=0 leaves no data of single users on the page"
_HINT_OF_LISTS = " With lists=, from exactk.judge, the page also has what was recommended."


def _worst_and_best(source: Source) -> Content:
    """Return the users with the worst and the best values of the first metric that has both."""
    report, most = source.first, min(source.request.examples, source.limits.examples // 2)
    has_order = (one for one in source.values if one.info.direction != "none" and not one.info.of_collection)
    value = next(has_order, None)
    if not source.request.examples:
        return _NO_USERS
    if report.table is None or value is None:
        return "no metric has better and worse users" if value is None else _KEEPING
    if not most:
        return "the page would be too large"
    numbers = report.per_user[value.name]
    signs = {"Worst": 1, "Best": -1} if value.info.direction == "higher" else {"Worst": -1, "Best": 1}
    hint = "" if source.request.lists else _HINT_OF_LISTS
    parts: list[Part] = [Paragraph(f"By {value.spelling}, at most {most} {source.named('users')} on each side.{hint}")]
    lists = ShownLists(source.request.lists, source.request.item_names)
    for name, sign in signs.items():
        rows = lowest_rows(sign * numbers, report.users, most)
        users, columns = report.users[rows].tolist(), {value.spelling: [number(one) for one in numbers[rows].tolist()]}
        caption = f"{name} {source.named('users')} in {value.spelling}"
        parts.append(_table_of_users(source, caption, users, columns, {"": "list"}, lists))
    return parts


def _table_of_users(
    source: Source,
    caption: str,
    users: Sequence[object],
    columns: Mapping[str, Sequence[str]],
    systems: Mapping[str, str],
    lists: ShownLists,
) -> Part:
    """Return a table of users with columns of numbers, and the lists of systems that were given."""
    if not users:
        return Paragraph(f"{caption}: there are none.")
    with_lists = [system for system in systems if lists.has(system)]
    header = [
        source.named("user"),
        *map(systems.__getitem__, with_lists),
        *columns,
        *[source.named("relevant items")] * bool(with_lists),
    ]
    rows: list[list[Cell | str]] = []
    for index, key in enumerate(users):
        row: list[Cell | str] = [key_text(key), *(_list_cell(lists, system, key) for system in with_lists)]
        row += [cells[index] for cells in columns.values()]
        if with_lists:
            relevant = lists.relevant(with_lists, key)
            row.append("-" if relevant is None else str(relevant))
        rows.append(row)
    hits = "Hits, of any group of items," if any(value.item_group is not None for value in source.values) else "Hits"
    note = f"{hits} are bold and have a ✓; the first {_MOST_ITEMS} items of each list." if with_lists else ""
    return page_table(caption, header, rows, 1 + len(with_lists), source.named(note))


def _no_examples(source: Source) -> str:
    if not source.request.examples:
        return _NO_USERS
    if not _pairs_of_examples(source):
        return source.no_differences or "no pair of systems has one run each"
    if source.limits.examples < 2 * len(_pairs_of_examples(source)):
        return "the page would be too large"
    return ""


def _pairs_of_examples(source: Source) -> Sequence[Pair]:
    """Return the pairs of systems with one run each, as many as have an example each."""
    pairs = [pair for pair in source.pairs if all(system in source.reports for system in pair)]
    return pairs[: source.limits.pairs]


def _introduction(source: Source, value: Value, most: int, pairs: int) -> list[Part]:
    left_out = len(source.pairs) - pairs
    texts = [f"By the difference in {value.spelling}, at most {most} {source.named('users')} on each side"]
    if most < source.request.examples:
        texts.append(f"fewer than the {source.request.examples} asked for, so that the page stays small")
    if left_out:
        texts.append(f"{left_out} pairs of systems are left out")
    hint = "" if source.request.lists else _HINT_OF_LISTS
    return [Paragraph(f"{'; '.join(texts)}.{hint}")]


def _tables_of_examples(
    source: Source, value: Value, pair: Pair, matched: MatchedUsers, lists: ShownLists, most: int
) -> list[Part]:
    row = [one.name for one in source.plan].index(value.name)
    system, baseline = (matched.tables[name].values[row] for name in pair)
    gains = system - baseline
    if value.info.direction == "lower":
        gains = -gains
    sides = ("decreases", "increases") if value.info.direction == "none" else ("losses", "gains")
    captions = [f"Largest {side} of {pair[0]} against {pair[1]} in {value.spelling}" for side in sides]
    tables: list[Part] = []
    for caption, losses in zip(captions, (gains, -gains), strict=True):
        rows = lowest_rows(np.where(losses < 0, losses, np.nan), matched.users, most)
        columns = {
            pair[0]: [number(one) for one in system[rows].tolist()],
            pair[1]: [number(one) for one in baseline[rows].tolist()],
            "difference": [f"{one:+.4f}" for one in (system - baseline)[rows].tolist()],
        }
        of_lists = {one: f"list of {one}" for one in pair}
        tables.append(_table_of_users(source, caption, matched.users[rows].tolist(), columns, of_lists, lists))
    return tables


def _list_cell(lists: ShownLists, system: str, key: object) -> Cell:
    items = lists.items(system, key, _MOST_ITEMS)
    if items is None:
        return Cell("no list")
    return Cell("" if items else "empty list", items=items)


_NO_LISTS = "it needs the lists; lists= of to_html takes them from exactk.judge"
_QUANTILES = {"least": 0.0, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "90 %": 0.9, "most": 1.0}
_BINS = ((0, 0), (1, 1), (2, 5), (6, 10), (11, 100), (101, None))
_MOST_GRADES = 12


def relevance(source: Source) -> Content:
    lists = {system: one for system, one in source.request.lists.items() if one.in_truth.any()}
    if not lists:
        return _NO_LISTS
    first = next(iter(lists.values()))
    relevant = first.relevant[first.in_truth]
    rows = [[source.named("relevant items of a user"), *_statistics(relevant)]]
    for system, one in lists.items():
        if one.has_list.any():
            of_system = f" of {system}" if system else ""
            rows.append([f"length of a list{of_system}, at most {one.k}", *_statistics(one.lengths[one.has_list])])
    header = ["", *_QUANTILES, "mean", source.named("users")]
    parts: list[Part] = [page_table(source.named("Per user"), header, rows), _histogram(source, relevant)]
    grades = _table_of_grades(source, lists)
    return [*parts, *([grades] if grades.rows else [])]


def drift(source: Source) -> Content:
    """Return what changed from one day or system to another; nothing if that was not given."""
    drifts = source.request.drift
    if not drifts:
        return []
    findings = [
        f"{f'{name}: ' if name else ''}the first {plural(one.k, 'item')} changed for {_share(one.changed)} of "
        f"{one.users:,} users, and {_share(one.exposure_shift)} of what is shown went to other items."
        for name, one in drifts.items()
    ]
    rows: list[list[Cell | str]] = [
        ["users of both", *(f"{one.users:,}" for one in drifts.values())],
        ["changed users", *(_count_and_share(one.changed_users, one.changed) for one in drifts.values())],
        ["new items", *(_count_and_share(one.new_items, one.new_share) for one in drifts.values())],
        ["lost items", *(_count_and_share(one.lost_items, one.lost_share) for one in drifts.values())],
        ["exposure shift", *(Cell(_share(one.exposure_shift), share=one.exposure_shift) for one in drifts.values())],
        ["mean overlap", *(number(one.overlap) for one in drifts.values())],
    ]
    note = (
        "New and lost items are shown to some of these users after, or before, and to none on the other side; their shares "
        "are of all that is shown there. The exposure shift is half the sum of the differences between the items' shares of "
        "what is shown. Lists also change where other users see the same items."
    )
    header = ["", *(name or "value" for name in drifts)]
    named = [[source.named(str(first)), *cells] for first, *cells in rows]
    return [
        Bullets([capitalized(source.named(one)) for one in findings]),
        page_table("Changes of the lists", header, named, note=source.named(note)),
    ]


def _share(share: float) -> str:
    return "-" if math.isnan(share) else share_text(share)


def _count_and_share(count: int, share: float) -> Cell:
    return Cell(f"{count:,} ({_share(share)})", share=share)


def _statistics(counts: NDArray[np.int64]) -> list[str]:
    quantiles = np.quantile(counts, list(_QUANTILES.values()), method="inverted_cdf").tolist()
    return [*(f"{quantile:,}" for quantile in quantiles), f"{counts.mean():,.2f}", f"{len(counts):,}"]


def _histogram(source: Source, relevant: NDArray[np.int64]) -> Table:
    rows: list[list[Cell | str]] = []
    for low, high in _BINS:
        count = int(((relevant >= low) & (relevant <= (relevant.max() if high is None else high))).sum())
        share = count / len(relevant)
        name = str(low) if low == high else f"{low} or more" if high is None else f"{low} to {high}"
        rows.append([name, f"{count:,}", Cell(share_text(share), share=share)])
    caption, *header = map(
        source.named, ("Users by their number of relevant items", "relevant items", "users", "share")
    )
    return page_table(caption, header, rows)


def _table_of_grades(source: Source, lists: dict[str, JudgedLists]) -> Table:
    """Return how often each grade is recommended; empty if the truth has one grade alone."""
    counts = {}
    for system, one in lists.items():
        grades, numbers = np.unique(one.grades[~np.isnan(one.grades)], return_counts=True)
        counts[system] = dict(zip(grades.tolist(), numbers.tolist(), strict=True))
    found = sorted({grade for one in counts.values() for grade in one}, reverse=True)
    shown = found[:_MOST_GRADES] if len(found) > 1 else []
    rows = [[f"{grade:g}", *(f"{one.get(grade, 0):,}" for one in counts.values())] for grade in shown]
    unjudged = [f"{int(one.lengths.sum()) - sum(counts[system].values()):,}" for system, one in lists.items()]
    if rows:
        rows.append(["not judged", *unjudged])
    left_out = f"{len(found) - _MOST_GRADES} lower grades are left out." if len(found) > _MOST_GRADES else ""
    header = ["grade", *(system or source.named("items") for system in lists)]
    return page_table(source.named("Recommended items by grade"), header, rows, note=left_out)
