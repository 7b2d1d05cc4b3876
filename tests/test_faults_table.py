"""Every row of the table of faults has its tests, or says what it waits for."""

from __future__ import annotations

import re
from pathlib import Path

import faults


def test_every_row_has_a_test_or_comes_later() -> None:
    assert list(faults.ROWS) == [*range(1, 33), *range(34, 39), *range(41, 82)]
    sources = (path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py"))
    names = (name for source in sources for name in re.findall(r"^def (test_\w+)", source, re.MULTILINE))
    for number, tests in faults.tests_of_rows(names).items():
        assert bool(tests) != bool(faults.ROWS[number].later), f"F{number}"
