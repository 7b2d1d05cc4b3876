"""Every row of the table of faults has its tests, or says what it waits for."""

from __future__ import annotations

import faults


def test_every_row_has_a_test_or_comes_later() -> None:
    assert list(faults.ROWS) == [*range(1, 33), *range(34, 39), *range(41, 82)]
    for number, tests in faults.collect().items():
        assert bool(tests) != bool(faults.ROWS[number].later), f"F{number}"
