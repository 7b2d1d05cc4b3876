"""What a report keeps of its users: values, what they are made of, weights and groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from exactk._inputs.checks import read_only
from exactk._plan.values import is_in_unit_range
from exactk._report.user_keys import equal_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import Value
    from exactk._report.sums import Label


@dataclass(frozen=True, eq=False)
class UserTable:
    """The rows of a report's users: a column per user.

    After the values come two rows for each value that is not a mean of the users' values: the numerators and the
    denominators of a micro average, and precision and recall of an F of means. NaN where a user has none.
    """

    rows: NDArray[np.float64]
    value_count: int
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None  # the position of each user's label; -1 for none
    labels: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name in ("rows", "weights", "groups"):
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(array))

    @property
    def values(self) -> NDArray[np.float64]:
        """The values, one row each."""
        return self.rows[: self.value_count]

    def of_users(self, users: NDArray[np.intp]) -> Self:
        """Return the columns of some users; -1 is a user without values, weight or group."""
        absent = users < 0
        rows = self.rows[:, users]
        rows[:, absent] = np.nan
        return replace(
            self,
            rows=rows,
            weights=None if self.weights is None else np.where(absent, 0, self.weights[users]),
            groups=None if self.groups is None else np.where(absent, -1, self.groups[users]),
        )

    def with_labels(self, labels: tuple[Label, ...]) -> Self:
        """Return the same with the labels in another order."""
        if self.groups is None or self.labels == labels:
            return self
        position = {label: index for index, label in enumerate(labels)}
        positions = np.array([*(position[label] for label in self.labels), -1], np.int64)  # the last: no label
        return replace(self, groups=positions[self.groups], labels=labels)

    @classmethod
    def concatenate(cls, tables: Sequence[UserTable]) -> UserTable:
        """Return the columns of all tables; groups are matched by label."""
        first = tables[0]
        weights = [table.weights for table in tables if table.weights is not None]
        labels = tuple(dict.fromkeys(label for table in tables for label in table.labels))
        groups = [groups for table in tables if (groups := table.with_labels(labels).groups) is not None]
        return cls(
            np.concatenate([table.rows for table in tables], axis=1),
            first.value_count,
            np.concatenate(weights) if len(weights) == len(tables) else None,
            np.concatenate(groups) if len(groups) == len(tables) else None,
            labels if len(groups) == len(tables) else (),
        )

    def to_plain(self) -> tuple[Any, ...]:
        """Return the arguments of the constructor, for pickles."""
        return self.rows, self.value_count, self.weights, self.groups, self.labels

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UserTable):
            return NotImplemented
        return (self.value_count, self.labels) == (other.value_count, other.labels) and all(
            equal_arrays(getattr(self, name), getattr(other, name)) for name in ("rows", "weights", "groups")
        )

    __hash__ = None  # type: ignore[assignment]


def has_part_rows(value: Value) -> bool:
    """Return whether a value's statistics need more than the users' values."""
    return value.rules["average"] in {"micro", "of_means"}


def row_count(values: Sequence[Value]) -> int:
    """Return how many rows a table of these values has."""
    return len(values) + 2 * sum(map(has_part_rows, values))


def rows_of_values(values: Sequence[Value]) -> list[tuple[int, ...]]:
    """Return the rows of a table that each value is computed from: the users' values, or both parts."""
    rows: list[tuple[int, ...]] = []
    part_row = len(values)
    for row, value in enumerate(values):
        rows.append((part_row, part_row + 1) if has_part_rows(value) else (row,))
        part_row += 2 * has_part_rows(value)
    return rows


def is_unit(value: Value) -> bool:
    """Return whether each user's numbers are in [0, 1] by definition."""
    return value.rules["average"] != "micro" and all(map(is_in_unit_range, value.parts))
