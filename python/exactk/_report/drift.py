"""How the lists of two systems differ over all users: which items came and went, and whose lists changed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from exactk._report.export_forms import json_number
from exactk._runtime.faults import plural
from exactk._runtime.records import NamedTuple, Record
from exactk._runtime.table import Column, Table
from exactk._runtime.table_exports import ExportsTable
from exactk._runtime.texts import DIGITS
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames

if TYPE_CHECKING:
    from typing import Self


class ListChanges(NamedTuple):
    """The counts that a drift follows from, over the users of both; an entry is an item in a list."""

    users: int
    changed_users: int  # whose lists are not equal
    entries: tuple[int, int]  # of one and of the other
    new_items: int  # that only the other shows
    lost_items: int  # that only one shows
    new_entries: int  # of the other, with new items
    lost_entries: int
    shift: int  # the sum over items of |c' C - c C'|, with their entries c and c' of all C and C'


class Drift(ExportsTable, Record):
    """How the lists of two systems, or of two days, differ over all users of both: what `exactk.drift` returns.

    Attributes
    ----------
    k : int
        How many items of each list count.
    users : int
        The users of both.
    changed_users : int
        Those whose first k items are others, or in another order.
    changed : float
        Their share of the users.
    new_items, lost_items : int
        The items that only the other shows to any of these users, and those that only the one shows.
    new_share, lost_share : float
        The share of the other's entries that are new items, and of the one's entries that are lost ones.
    exposure_shift : float
        Half the sum over items of the absolute difference between their shares of the entries: how much of what is shown
        would have to be other items, from 0 to 1. NaN, as every share, without entries.
    overlap : float
        The mean of ``overlap@k``, by which users see other items than before, whether or not others see these.

    Examples
    --------
    >>> import exactk
    >>> drift = exactk.drift([["tea", "milk"], ["tea", "rice"]], [["milk", "tea"], ["tea", "fish"]], k=2)
    >>> drift.changed, drift.new_items, drift.lost_share, drift.exposure_shift
    (1.0, 1, 0.25, 0.25)
    """

    __module__ = "exactk.results"

    k: int
    users: int
    changed_users: int
    new_items: int
    lost_items: int
    new_share: float
    lost_share: float
    exposure_shift: float
    overlap: float
    unit_names: tuple[str, str] = USERS_AND_ITEMS.pair

    @classmethod
    def of_counts(cls, k: int, counts: ListChanges, overlap: float, units: UnitNames) -> Self:
        """Return the drift that follows from the counts."""
        one, other = counts.entries
        return cls(
            k=k,
            users=counts.users,
            changed_users=counts.changed_users,
            new_items=counts.new_items,
            lost_items=counts.lost_items,
            new_share=_share(counts.new_entries, other),
            lost_share=_share(counts.lost_entries, one),
            exposure_shift=_share(counts.shift, 2 * one * other),
            overlap=overlap,
            unit_names=units.pair,
        )

    @property
    def changed(self) -> float:
        """The share of the users whose lists changed."""
        return _share(self.changed_users, self.users)

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain data, with None for NaN."""
        names = [name for name in self._field_names if name != "unit_names"]
        names.insert(names.index("changed_users") + 1, "changed")
        fields = {name: getattr(self, name) for name in names}
        return {name: json_number(value) for name, value in fields.items()}

    def columns(self) -> dict[str, Any]:
        """Return a row for the users, the items and the exposure that changed: how many, and which share."""
        units = UnitNames(*self.unit_names)
        return {
            "change": [f"changed {units.users}", f"new {units.items}", f"lost {units.items}", "exposure shift"],
            "count": [self.changed_users, self.new_items, self.lost_items, None],
            "share": [self.changed, self.new_share, self.lost_share, self.exposure_shift],
        }

    def _table(self, digits: int | None) -> Table:
        columns, units = self.columns(), UnitNames(*self.unit_names)
        counts = ["" if count is None else str(count) for count in columns["count"]]
        note = f"first {plural(self.k, units.item)} of {plural(self.users, units.user)} of both; mean overlap {self.overlap:.{DIGITS}f}"
        return Table(
            [
                Column("change", columns["change"], "key"),
                Column("count", counts),
                Column("share", columns["share"], digits=DIGITS if digits is None else digits),
            ],
            "Drift",
            [note],
        )


def _share(part: int, whole: int) -> float:
    return float(Fraction(part, whole)) if whole else math.nan
