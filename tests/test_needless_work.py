"""Calls do not do what nobody asked for: counted, not timed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import exactk
from exactk._inputs.keys.vocabulary import Snapshot
from exactk._report.junit import Case, junit_report

if TYPE_CHECKING:
    import pytest

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
