"""JUnit reports, which CI systems show."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from exactk._runtime.printable_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

PASSED = frozenset({"holds", "observed"})
"""The statuses of claims that pass."""

_ELEMENTS = {"error": "error"}  # any other status is a failure


class Case(NamedTuple):
    """A test case: its status is one that passes, "error" or the type of its failure."""

    name: str
    status: str
    text: str


def junit_report(cases: Iterable[Case]) -> str:
    """Return the report: a case that passes has its text as output, any other as the message of a failure or error."""
    cases = list(cases)
    errors = sum(case.status == "error" for case in cases)
    failures = sum(case.status not in {*PASSED, "error"} for case in cases)
    head = f'<testsuite name="exactk" tests="{len(cases)}" failures="{failures}" errors="{errors}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *map(_element, cases), "</testsuite>", ""])


def _element(case: Case) -> str:
    if case.status in PASSED:
        found = f"<system-out>{_escaped(case.text)}</system-out>"
    else:
        found = f'<{_ELEMENTS.get(case.status, "failure")} type="{case.status}" message="{_escaped(case.text)}"/>'
    return f'<testcase classname="exactk" name="{_escaped(case.name)}">{found}</testcase>'


def _escaped(text: str) -> str:
    """Return the text as XML has it, in an element or between double quotes. `xml.sax` would load urllib and ssl."""
    return escape(printable(text), quote=False).replace('"', "&quot;")
