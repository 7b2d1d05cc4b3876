"""Means over the training runs of a system, of the numbers of each user."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import Value
    from exactk._report.user_table import UserTable

_COMPARED_BITS = 40


class RunMeans:
    """The sums over runs so far: of the rows of their tables, with logarithms in place of geometric values.

    A user who lacks a number in one run has none. Below the rows, a table of means has the means of the values again,
    rounded so that those that are equal but for rounding compare as equal: users win and lose by these.
    """

    def __init__(
        self,
        values: Sequence[Value],
        logarithms: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        run: UserTable,
    ) -> None:
        self._geometric_rows = [row for row, value in enumerate(values) if value.rules["average"] == "geometric"]
        self._logarithms = logarithms
        self._first = run
        size, users = run.rows.shape
        self._rows = np.empty((size + run.value_count, users))  # the sums, and room for the rounded means
        self._sums, self._rounded = self._rows[:size], self._rows[size:]
        self._sums[:] = self._terms(run)
        self.runs = 1

    def add(self, run: UserTable) -> None:
        """Add the table of another run, which has the same users in the same order."""
        self._sums += self._terms(run)
        self.runs += 1

    def table(self) -> UserTable:
        """Return the means, with the weights and groups of the first run. No run can be added after that."""
        self._sums /= self.runs
        fractions, exponents = np.frexp(self._sums[: self._first.value_count])
        self._rounded[:] = np.ldexp(np.rint(np.ldexp(fractions, _COMPARED_BITS)), exponents - _COMPARED_BITS)
        return replace(self._first, rows=self._rows)

    def _terms(self, run: UserTable) -> NDArray[np.float64]:
        if not self._geometric_rows:
            return run.rows
        terms = np.array(run.rows)
        for row in self._geometric_rows:
            terms[row] = self._logarithms(terms[row])
        return terms
