"""What warnings need adds up in any order and grouping, has one plain form, and every warning stands on the page."""

from __future__ import annotations

import json
import random
import re
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._engine import warnings as warnings_module
from exactk._engine.findings import (
    ADDING,
    NO_LEAST,
    CandidateRows,
    Coverage,
    Findings,
    ItemUse,
    Ratings,
    SystemFindings,
    from_plain,
    has_counts_to_warn_of,
    plus,
    to_plain,
)
from exactk._engine.inspection import ItemsApart
from exactk._engine.update_digits import _added_numbers, _largest_numbers, _record_of
from exactk._engine.warnings import OF_COUNTS, WARNINGS
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, TruthColumns
from oracle_cases import draw_case
from strategies import examples
from warned import warnings_of as texts_of

NUMBERS = st.integers(0, 3)
LEAST = NUMBERS | st.just(NO_LEAST)
TEXTS = st.sampled_from(["", "'a'", "'b'", "7"])


def values_like(default: Any) -> st.SearchStrategy[Any]:
    """Return values of a field with this default."""
    if isinstance(default, (bool, str)):
        return st.booleans() if isinstance(default, bool) else TEXTS
    if isinstance(default, int):
        return LEAST if default == NO_LEAST else NUMBERS
    if type(default) in ADDING:
        return records(type(default))
    return st.tuples(TEXTS, TEXTS)


def records(kind: type) -> st.SearchStrategy[Any]:
    return st.builds(kind, *map(values_like, kind()))


IN_ALL = st.dictionaries(st.sampled_from(["ndcg@2", "mrr"]), NUMBERS)
FLOATS = st.floats(0, 5, allow_nan=False)
COLUMNS = st.builds(
    TruthColumns, st.just(("user", "item")), st.none() | TEXTS, st.tuples(TEXTS), st.just((("event", "view"),))
)
FINDINGS = st.builds(
    Findings,
    st.dictionaries(st.sampled_from("abc"), records(SystemFindings)),
    st.builds(Coverage, NUMBERS, NUMBERS, IN_ALL, IN_ALL),
    records(ItemUse),
    st.builds(Ratings, TEXTS, FLOATS, FLOATS) | st.just(Ratings()),
    COLUMNS | st.just(TruthColumns()),
    st.tuples(TEXTS, TEXTS),
    NUMBERS,
    NUMBERS,
)


@settings(max_examples=examples(300))
@given(st.lists(FINDINGS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_findings_are_the_same_for_any_grouping(parts: list[Findings], rng: random.Random) -> None:
    whole = reduce(plus, parts)
    groups = list(parts)
    while len(groups) > 1:
        at = rng.randrange(len(groups) - 1)
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
    assert groups == [whole] == [Findings() + whole] == [whole + Findings()]
    assert list(groups[0].systems) == list(whole.systems)


@settings(max_examples=examples(300))
@given(st.lists(FINDINGS, min_size=2, max_size=4), st.data())
def test_findings_are_the_same_in_any_order_but_for_the_first_users(parts: list[Findings], data: st.DataObject) -> None:
    whole, other = (reduce(plus, order) for order in (parts, data.draw(st.permutations(parts))))
    first = (TruthColumns(), ("", ""))
    assert whole._replace(columns=first[0], pairs=first[1]) == other._replace(columns=first[0], pairs=first[1])


@settings(max_examples=examples(300))
@given(FINDINGS)
def test_the_plain_form_is_json(findings: Findings) -> None:
    assert Findings.from_plain(json.loads(json.dumps(findings.to_plain()))) == findings
    for found in findings.systems.values():
        numbers = _record_of(SystemFindings(), _added_numbers(found), _largest_numbers(found))
        assert without_texts(numbers) == without_texts(found)


def without_texts(record: Any) -> Any:
    """Return a record without its texts and examples, which vectors do not hold."""
    if isinstance(record, tuple) and type(record) in ADDING:
        return [without_texts(one) for one in record]
    return None if isinstance(record, (str, tuple)) else record


@pytest.mark.parametrize(
    "plain", [{}, 3, None, [[]], [{"a": 3.5}], [{"a": ["x"]}], [{}, [1, "2"]], [[]] * 9, [{3: []}]]
)
def test_other_plain_forms_are_refused(plain: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        Findings.from_plain(plain)


def test_what_is_found_of_a_system_is_small() -> None:
    """As buckets send it, and as an evaluator keeps it."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"user": np.repeat(np.arange(5000), 20), "item": rng.integers(0, 9000, 100_000), "score": rng.random(100_000)}
    ).drop_duplicates(["user", "item"])
    evaluator = exactk.Evaluator(["ndcg@10", "recall@10", "hit_rate@10"])
    exclude = {user: [10_000 + user] for user in range(5000)}
    for users in np.array_split(np.arange(5000), 7):
        rows = frame[frame["user"].isin(users)]
        truth = rows[rng.random(len(rows)) < 0.1][["user", "item"]]
        evaluator.update(truth, rows, exclude={user: exclude[user] for user in users.tolist()})
    found = evaluator._sums.sums.findings.systems[""]
    assert len(json.dumps(to_plain(found), separators=(",", ":"))) <= 200
    assert from_plain(SystemFindings(), to_plain(found)) == found
    assert to_plain(SystemFindings()) == to_plain(CandidateRows()) == []


@settings(max_examples=examples(200))
@given(
    st.lists(st.tuples(st.sets(st.integers(0, 30), max_size=4), st.sets(st.integers(20, 50), max_size=4)), max_size=8),
    st.data(),
)
def test_items_on_both_sides_are_noticed_in_any_chunks(
    sides: list[tuple[set[int], set[int]]], data: st.DataObject
) -> None:
    """Whatever chunks come together first, and whether they were pickled in between."""

    def rows(items: set[int]) -> Rankings:
        return Rankings.from_rows(Rows(np.array([0, len(items)]), np.array(sorted(items), np.int64)))

    apart: list[ItemsApart | None] = [ItemsApart(), ItemsApart()]
    for truth, lists in sides:
        at = data.draw(st.integers(0, 1))
        one = apart[at]
        of_chunk = ItemsApart.of_chunk(rows(truth), rows(lists))  # type: ignore[arg-type]
        apart[at] = None if one is None or of_chunk is None else one.plus(of_chunk)
        if data.draw(st.booleans()):
            apart = [None if one is None else ItemsApart.from_plain(one.to_plain()) for one in apart]
    first, second = apart
    both = None if first is None or second is None else first.plus(second)
    of_truth, of_lists = (set[int]().union(*side) for side in zip(*sides, strict=True)) if sides else (set(), set())
    has_match = bool(of_truth & of_lists)
    assert (both is None or both.to_plain() is None) == has_match


PAGE = Path(__file__).parent.parent / "docs" / "reference" / "counts_and_warnings.md"


def test_every_warning_names_fields_of_findings() -> None:
    assert {kind.field for kind in WARNINGS} <= {"", *Findings._fields, *SystemFindings._fields}


def test_every_warning_stands_on_the_page() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    names = [kind.name for kind in WARNINGS]
    assert len(set(names)) == len(names)
    for kind in WARNINGS:
        for condition in kind.conditions:
            assert sum(row.startswith(condition) for row in rows) == 1, (kind.name, condition)


@pytest.mark.filterwarnings("ignore")
def test_counts_that_nobody_asks_for_have_nothing_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings_of, asked = warnings_module.warnings_of, []

    def checked(evaluated: warnings_module.Evaluated) -> Any:
        has_counts = any(map(has_counts_to_warn_of, evaluated.part.reports.values()))
        asked.append(has_counts)
        texts = [kind.name for kind in OF_COUNTS if evaluated.part.reports and kind.text(evaluated)]
        assert has_counts or not texts
        return warnings_of(evaluated)

    monkeypatch.setattr(warnings_module, "warnings_of", checked)
    for number in range(max(200, examples(1000))):  # of fewer, each may have counts
        case = draw_case(number)
        with suppress(exactk.ExactkError):
            case.evaluate(case.users)
    assert 0 < sum(asked) < len(asked)


def test_warnings_come_after_success_in_the_order_of_the_table() -> None:
    frame = pd.DataFrame({"user": [1, 2, 3], "item": [1, 2, 3], "rating": [1.0, 5.0, 4.0]})
    lists: dict[int, list[int]] = {1: [1], 2: [9], 3: [8]}
    starts = [
        "truth: every rating above 0",
        "no user of exclude (such as 7) is in the truth or the predictions",
        "no list is longer than 1",
    ]
    texts = texts_of(lambda: exactk.evaluate(frame, lists, "ndcg@3", exclude={7: [1]}))
    assert [text[: len(start)] for text, start in zip(texts, starts, strict=True)] == starts
    with pytest.raises(exactk.InputError, match=r"^predictions: "):  # no warning before, which would be raised
        exactk.evaluate(frame, lists | {3: [8, 8]}, "ndcg@3", convention={"duplicate_items": "raise"})


def of_updates(truth: Any, lists: Any, metrics: str) -> exactk.Report:
    evaluator = exactk.Evaluator(metrics)
    for row in zip(truth, lists, strict=True):
        evaluator.update(*([one] for one in row))
    return evaluator.compute()


WAYS: dict[str, Any] = {
    "at once": exactk.evaluate,
    "keyed": lambda truth, lists, metrics: exactk.evaluate(
        dict(enumerate(truth)), {user: row or [] for user, row in enumerate(lists)}, metrics
    ),
    "blocks": lambda truth, lists, metrics: exactk.evaluate(
        None, zip([[row] for row in truth], [[row] for row in lists], strict=True), metrics
    ),
    "updates": of_updates,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("empty", [[], None])
def test_lists_without_any_item_are_told_of(way: str, empty: Any) -> None:
    evaluate = WAYS[way]
    assert texts_of(lambda: evaluate([[1], [2]], [empty, []], "ndcg,list_fill@1")) == ["no list has an item"]
    for quiet in (([[1], [2]], [empty, [2]], "ndcg"), ([[1], [2]], [empty, []], "list_fill@1,num_relevant")):
        assert texts_of(lambda: evaluate(*quiet)) == []  # noqa: B023
    (text,) = texts_of(lambda: evaluate([[], []], [empty, []], "ndcg"))
    assert text.startswith("no user was evaluated")


def test_predictions_without_users_are_not_said_to_be_empty_lists() -> None:
    truth = {"ann": [1], "bob": [2]}
    assert texts_of(lambda: exactk.evaluate(truth, {}, "ndcg")) == ["the predictions have no users"]
    assert texts_of(lambda: exactk.evaluate(truth, dict.fromkeys(truth), "ndcg")) == ["the predictions have no users"]
    systems: dict[str, Any] = {"a": {"ann": [], "bob": []}, "b": truth | {"bob": [3, 2]}}
    assert texts_of(lambda: exactk.compare(truth, systems, "ndcg")) == ["system 'a': no list has an item"]
