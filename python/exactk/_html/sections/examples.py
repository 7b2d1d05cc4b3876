"""The users who lose and gain most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk._html.page_parts import Cell, Fold, Paragraph, Section, page_table
from exactk._html.shown_lists import ShownLists
from exactk._html.texts import key_text, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source
    from exactk._plan.values import Value
    from exactk._report.matched_users import MatchedUsers
    from exactk._report.paired_sums import Pair

_QUESTION = "What failures look like, before they are shipped."
_MOST_ITEMS = 10  # of a list
_KEEPING = "no values of users were kept; per_user=True keeps them"


def examples(source: Source) -> Section:
    """Return the section."""
    missing = _missing(source)
    matched = source.matched
    value = _value_of_users(source)
    if missing or matched is None or value is None:
        return Section("examples", "Users who lose and gain most", _QUESTION, missing=missing or _KEEPING)
    pairs = _pairs(source)
    limit = (
        source.limits.examples if source.request.lists else 2 * source.limits.examples
    )  # lists take most of the space
    most = min(source.request.examples, limit // (2 * len(pairs)))
    lists = ShownLists(source.request.lists, source.request.item_names)
    parts: list[Part] = _introduction(source, value, most, len(pairs))
    for index, pair in enumerate(pairs):
        parts.append(
            Fold(f"{pair[0]} against {pair[1]}", _tables(source, value, pair, matched, lists, most), is_open=not index)
        )
    return Section("examples", "Users who lose and gain most", _QUESTION, parts)


def _missing(source: Source) -> str:
    if source.comparison is None:
        return source.no_differences
    if not source.request.examples:
        return "examples=0 leaves no data of single users on the page"
    if not _pairs(source):
        return source.no_differences or "no pair of systems has one run each"
    if source.limits.examples < 2 * len(_pairs(source)):
        return "the page would be too large"
    return ""


def _pairs(source: Source) -> Sequence[Pair]:
    """Return the pairs of systems with one run each, as many as have an example each."""
    pairs = [pair for pair in source.pairs if all(system in source.reports for system in pair)]
    return pairs[: source.limits.pairs]


def _value_of_users(source: Source) -> Value | None:
    return next(
        (
            source.value_of[metric]
            for metric in source.rows_of
            if source.value_of[metric].rules["average"] != "of_means"
        ),
        None,
    )


def _introduction(source: Source, value: Value, most: int, pairs: int) -> list[Part]:
    left_out = len(source.pairs) - pairs
    texts = [f"By the difference in {value.spelling}, at most {most} users on each side"]
    if most < source.request.examples:
        texts.append(f"fewer than the {source.request.examples} asked for, so that the page stays small")
    if left_out:
        texts.append(f"{left_out} pairs of systems are left out")
    hint = "" if source.request.lists else " With lists=, from exactk.judge, the page also has what was recommended."
    return [Paragraph(f"{'; '.join(texts)}.{hint}")]


def _tables(
    source: Source, value: Value, pair: Pair, matched: MatchedUsers, lists: ShownLists, most: int
) -> list[Part]:
    row = [one.name for one in source.values].index(value.name)
    system, baseline = (matched.tables[name].values[row] for name in pair)
    gains = system - baseline
    if value.info.direction == "lower":
        gains = -gains
    sides = ("decreases", "increases") if value.info.direction == "none" else ("losses", "gains")
    captions = [f"Largest {side} of {pair[0]} against {pair[1]} in {value.spelling}" for side in sides]
    return [
        _table_of_examples(caption, pair, users, matched, (system, baseline), lists)
        for caption, users in zip(captions, _extremes(gains, most), strict=True)
    ]


def _extremes(gains: NDArray[np.float64], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the users with the largest losses, and those with the largest gains, each in order of size, then of row."""
    sides = []
    for sign in (-1, 1):
        sizes = np.where(np.isnan(gains), 0.0, sign * gains)
        candidates = np.flatnonzero(sizes > 0)
        if len(candidates) > most:
            least = np.partition(sizes[candidates], len(candidates) - most)[len(candidates) - most]
            candidates = candidates[sizes[candidates] >= least]
        sides.append(candidates[np.argsort(-sizes[candidates], kind="stable")][:most])
    return sides[0], sides[1]


def _table_of_examples(
    caption: str,
    pair: Pair,
    users: NDArray[np.intp],
    matched: MatchedUsers,
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
    lists: ShownLists,
) -> Part:
    if not len(users):
        return Paragraph(f"{caption}: there are none.")
    with_lists = [system for system in pair if lists.has(system)]
    header = [
        "user",
        *(f"list of {one}" for one in with_lists),
        *pair,
        "difference",
        *["relevant items"] * bool(with_lists),
    ]
    rows: list[list[Cell | str]] = []
    for user in users.tolist():
        key = matched.users[user]
        key = key.item() if isinstance(key, np.generic) else key
        value, baseline_value = (float(one[user]) for one in values)
        numbers = [number(value), number(baseline_value), f"{value - baseline_value:+.4f}"]
        if with_lists:
            relevant = lists.relevant(with_lists, key)
            numbers.append("-" if relevant is None else str(relevant))
        rows.append([key_text(key), *(_list_cell(lists, system, key) for system in with_lists), *numbers])
    note = f"Hits are bold and have a ✓; the first {_MOST_ITEMS} items of each list." if with_lists else ""
    return page_table(caption, header, rows, 1 + len(with_lists), note)


def _list_cell(lists: ShownLists, system: str, key: object) -> Cell:
    items = lists.items(system, key, _MOST_ITEMS)
    if items is None:
        return Cell("no list")
    return Cell("" if items else "empty list", items=items)
