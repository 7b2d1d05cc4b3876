"""Calls do not do what nobody asked for: counted, not timed."""

from __future__ import annotations

import itertools
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

import exactk
from exactk._engine import inspection
from exactk._inputs.keys.vocabulary import Snapshot
from exactk._report.gate import Case, junit_report
from rankings import rankings_of

if TYPE_CHECKING:
    from collections.abc import Callable

USERS = [f"user {number}" for number in range(60)]
TRUTH = {user: [f"item {number % 7}"] for number, user in enumerate(USERS)}
LISTS = {user: [f"item {(number + row) % 7}" for row in range(3)] for number, user in enumerate(USERS)}


def test_a_comparison_makes_no_array_of_users_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    keys_of = vars(Snapshot)["array"].func

    def counted(keys: Snapshot) -> Any:
        made.append(len(keys))
        return keys_of(keys)

    monkeypatch.setattr(Snapshot, "array", property(counted))
    systems = {"one": LISTS, "other": {user: items[1:] for user, items in LISTS.items()}}
    comparison = exactk.compare(TRUTH, systems, "mrr", baseline="one", per_user=True)
    assert comparison.differences["other", "mrr"].users == len(USERS)
    assert len(USERS) not in made
    clusters = {user: number // 2 for number, user in enumerate(USERS)}
    exactk.compare(TRUTH, systems, "mrr", baseline="one", clusters=clusters)
    assert len(USERS) in made


def test_the_import_loads_no_library_of_networks() -> None:
    code = "import sys, exactk; print(*{'ssl', 'socket', 'http.client', 'urllib.request'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == ""  # noqa: S603 - the code above


def test_text_of_users_in_a_junit_report_is_read_as_it_was() -> None:
    texts = ["""<a> & "b" & 'c' & &amp; ]]>""", "é\x1b\n", "'", '"', ""]
    cases = [Case(text, status, text) for text in texts for status in ("holds", "worse", "error")]
    suite = ET.fromstring(junit_report(cases))  # noqa: S314 - written here
    for case, element in zip(cases, suite, strict=True):
        shown = case.text.replace("\x1b\n", r"\x1b\n")
        assert element.get("name") == shown
        (found,) = element
        assert (found.text or "" if case.status == "holds" else found.get("message")) == shown


def calls_of(call: Callable[[], object]) -> int:
    """Return how many functions of Python and of C the call calls from Python."""
    made = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal made
        made += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return made


def assert_no_call_for_each(make: Callable[[int], Callable[[], object]]) -> None:
    """Assert that a call on more users or items calls about as many functions as a call on few."""
    make(10)()
    few, many = (calls_of(make(count)) for count in (100, 2000))
    assert many < few + 1000  # with a call per user or item, 1,900 more; some are of the garbage collector


VALUES: dict[str, Callable[[int], Any]] = {
    "strings": lambda number: f"label {number % 7}",
    "integers": lambda number: number % 7,
    "floats": lambda number: 1 + number % 7 / 2,
}
KEYS: dict[str, Callable[[int], Any]] = {
    "strings": lambda number: f"key {number}",
    "integers": lambda number: number + 5,  # not the numbers of rows
    "tuples": lambda number: (f"key {number}", number % 3),
}


OF_USERS = [("groups", "strings"), ("groups", "integers"), ("weights", "floats")]
OF_ITEMS = [("item_groups", "strings"), ("item_groups", "integers"), ("values", "floats"), ("values", "integers")]


@pytest.mark.parametrize("to_container", [dict, pd.Series])
@pytest.mark.parametrize(
    ("of", "keys"), [*itertools.product(OF_USERS, KEYS), *itertools.product(OF_ITEMS, ["strings", "integers"])]
)
def test_values_are_encoded_without_a_call_for_each(of: tuple[str, str], keys: str, to_container: Any) -> None:
    def call_on(count: int) -> Callable[[], object]:
        given = {KEYS[keys](number): VALUES[of[1]](number) for number in range(count)}
        options: Any = {of[0]: to_container(given)}
        if of in OF_ITEMS:
            return lambda: exactk.Items(list(given), **options)
        rows = {user: [1] for user in given}
        truth, lists = exactk.as_truth(rows), rankings_of(rows)
        return lambda: exactk.evaluate(truth, lists, "mrr", **options)

    assert_no_call_for_each(call_on)


@pytest.mark.parametrize("value", [[0.5, 1.5], ["a", "b"], {"a", "b"}])
def test_features_of_items_are_encoded_without_a_call_per_item(value: Any) -> None:
    def made(count: int) -> Callable[[], object]:
        given = dict.fromkeys(range(count), value)
        return lambda: exactk.Items(list(given), features=given)

    assert_no_call_for_each(made)


def test_items_are_gathered_only_where_two_blocks_have_no_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which takes many times as long as to evaluate them."""
    gathered: list[int] = []
    distinct_keys = inspection._distinct_keys

    def counted(lists: Any) -> Any:
        gathered.append(len(lists))
        return distinct_keys(lists)

    monkeypatch.setattr(inspection, "_distinct_keys", counted)
    apart, shared = ([[1]] * 40, [[2, 3]] * 40), ([[1]] * 40, [[1, 3]] * 40)
    for blocks, count in (([apart], 0), ([shared, apart], 0), ([apart, shared], 0), ([apart, apart], 4)):
        gathered.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exactk.evaluate(None, iter(blocks), "recall@2")
        assert len(gathered) == count
