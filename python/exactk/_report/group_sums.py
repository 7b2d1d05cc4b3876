"""The exact sums of groups of users, by label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from exactk._report.exact_digits import MOST_ADDITIONS
from exactk._report.sum_table import PartColumns, SumTable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from exactk._report.sums import Label, Sums


class GroupSums(Mapping["Label", "tuple[Sums, ...]"]):
    """An immutable mapping from group to the sums of each part, which are kept in one table and made when they are read."""

    def __init__(self, labels: Iterable[Label], table: SumTable) -> None:
        """Create the mapping of a table of trimmed digits, whose rows are the groups."""
        self.labels = tuple(labels)
        self.table = table
        table.digits.flags.writeable = False

    @cached_property
    def parts(self) -> list[PartColumns]:
        """The columns of each part."""
        return self.table.parts()

    @cached_property
    def _rows(self) -> dict[Label, int]:
        return {label: row for row, label in enumerate(self.labels)}

    @cached_property
    def _sums(self) -> dict[Label, tuple[Sums, ...]]:
        return dict(zip(self.labels, self.table.sums(), strict=True))

    def __getitem__(self, label: Label) -> tuple[Sums, ...]:
        return self._sums[label]

    def __contains__(self, label: object) -> bool:
        return label in self._rows

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, GroupSums) and self.labels == other.labels:
            return self.table.is_equal(other.table)
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment] # as mappings have none

    def __repr__(self) -> str:
        return repr(self._sums)

    def totals(self) -> tuple[Sums, ...]:
        """Return the sums of each part over all groups."""
        (sums,) = self.table.total().sums()
        return sums

    def in_order(self, labels: Sequence[Label]) -> GroupSums:
        """Return the groups with these labels, in this order."""
        if self.labels == tuple(labels):
            return self
        return GroupSums(labels, self.table.of_rows([self._rows[label] for label in labels]))

    def with_parts(self, parts: Sequence[int]) -> GroupSums:
        """Return the sums of some parts, in this order."""
        return GroupSums(self.labels, SumTable.of_parts([self.parts[part] for part in parts], len(self)))


def group_sums_of(groups: Mapping[Label, Sequence[Sums]], totals: Sequence[Sums]) -> GroupSums:
    """Return the sums of some groups, whose scales are those of the totals."""
    rows = [*groups.values()]
    parts = [PartColumns.of_sums(total.scales, [row[part] for row in rows]) for part, total in enumerate(totals)]
    return GroupSums(groups, SumTable.of_parts(parts, len(rows)))


class RunningGroupSums:
    """Sums by group that others are added to in place, whether they have the same groups or more."""

    def __init__(self, first: GroupSums) -> None:
        """Begin with the sums of some groups."""
        self._rows = {label: row for row, label in enumerate(first.labels)}
        self._last: tuple[tuple[Label, ...], slice | list[int]] = first.labels, slice(len(first))  # and their rows
        self._table = first.table._replace(digits=first.table.digits.copy())  # whose last rows may be unused
        self._additions = 1

    @property
    def labels(self) -> Collection[Label]:
        """The groups so far."""
        return self._rows.keys()

    def add(self, other: GroupSums) -> None:
        """Add the sums of each group."""
        if self._additions == MOST_ADDITIONS:
            self._table, self._additions = self._table.carried(), 1
        self._additions += 1
        if other.table.ranges != self._table.ranges:
            pairs = zip(self._table.ranges, other.table.ranges, strict=True)
            self._table = self._table.over(tuple(one.union(another) for one, another in pairs))
        if other.labels != self._last[0]:
            rows = [self._rows.setdefault(label, len(self._rows)) for label in other.labels]
            self._last = other.labels, slice(len(rows)) if rows == list(range(len(rows))) else rows
            self._make_room()
        self._table.digits[self._last[1]] += other.table.over(self._table.ranges).digits

    def _make_room(self) -> None:
        """Have at least a row per group; twice as many as before, so that groups are copied a few times at most."""
        digits = self._table.digits
        if len(digits) < len(self._rows):
            larger = np.zeros((max(len(self._rows), 2 * len(digits)), digits.shape[1]), np.int64)
            larger[: len(digits)] = digits
            self._table = self._table._replace(digits=larger)

    def sums(self) -> GroupSums:
        """Return the sums so far."""
        return GroupSums(self._rows, self._table.of_rows(slice(len(self._rows))).carried())
