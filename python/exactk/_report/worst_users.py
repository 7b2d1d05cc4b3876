"""The users with the worst values of a report, or with the largest losses of a system: where to look first."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._report.export_forms import join_columns
from exactk._report.user_table import user_columns
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import Option
from exactk._runtime.records import Record
from exactk._runtime.table_exports import ExportsTable
from exactk._runtime.unit_names import USERS_AND_ITEMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from exactk._plan.values import Value
    from exactk._runtime.table import Table

KEEPING_USERS = (Option("per_user", True), " keeps them")  # noqa: FBT003 - the value of the option


class WorstUsers(ExportsTable, Record, eq=False):
    """The users with the worst values, the worst first: what `Report.worst` and `Comparison.worst` return.

    Attributes
    ----------
    users : ndarray
        The users' keys, or row numbers.
    values : mapping of {str: ndarray of float64}
        By metric, each user's value; or the values of two systems by name, and their ``difference``.

    Examples
    --------
    >>> import exactk
    >>> worst = exactk.evaluate([[1], [2], [3]], [[1], [9, 2], [9]], "mrr", per_user=True).worst("mrr", n=2)
    >>> worst
    user     mrr
    2     0.0000
    1     0.5000
    the worst 2 of 3 users
    >>> worst.users.tolist()
    [2, 1]
    """

    __module__ = "exactk.results"

    users: NDArray[Any]
    values: Mapping[str, NDArray[np.float64]]
    note: str
    _user: str = USERS_AND_ITEMS.user  # what one is called

    def __post_init__(self) -> None:
        """Raise InputError where two columns have one name, such as that of a system."""
        self.columns()

    def __len__(self) -> int:
        return len(self.users)

    def columns(self) -> dict[str, Any]:
        """Return the users and their values."""
        return join_columns(user_columns(self.users, self._user), self.values)

    def _table(self, digits: int | None) -> Table:
        from exactk._runtime.table import Table
        from exactk._runtime.texts import DIGITS

        table = Table.of_columns(
            self.columns(), len(user_columns(self.users, "")), DIGITS if digits is None else digits
        )
        return table._replace(notes=[self.note])


def sign_of(value: Value) -> int:
    """Return 1 if higher values are better, -1 if lower; raise InputError where neither are, or users have no values."""
    if value.info.of_collection:
        raise input_error("metric", "a metric of users", f"{value.spelling!r}, which all lists together have")
    if value.info.direction == "none":
        expected = "a metric whose values are better if they are higher, or lower"
        raise input_error("metric", expected, repr(value.spelling))
    return -1 if value.info.direction == "lower" else 1


def others_as_low(numbers: NDArray[np.float64], rows: NDArray[np.intp]) -> int:
    """Return how many others are equal to the last of the lowest."""
    return int(np.isin(numbers, numbers[rows[-1:]]).sum() - np.isin(numbers[rows], numbers[rows[-1:]]).sum())


def lowest_rows(numbers: NDArray[np.float64], users: NDArray[Any], n: object) -> NDArray[np.intp]:
    """Return the rows of the n lowest numbers, equal ones in the order of the users' keys; NaN is left out."""
    if isinstance(n, bool) or not isinstance(n, Integral):
        raise type_error("n", "an integer", repr(n))
    if n < 1:
        raise input_error("n", "a number of users", repr(n))
    rows = np.flatnonzero(~np.isnan(numbers))
    if len(rows) > n:
        rows = rows[numbers[rows] <= np.partition(numbers[rows], int(n) - 1)[int(n) - 1]]
    keyed = zip(numbers[rows].tolist(), users[rows].tolist(), rows.tolist(), strict=True)
    return np.array([row for _, _, row in sorted(keyed)][: int(n)], np.intp)
