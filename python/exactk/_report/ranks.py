"""Which ranks the systems of a comparison may have, as far as their differences are significant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._runtime.table import Column, Table
from exactk._runtime.table_exports import ExportsTable
from exactk._runtime.texts import DIGITS, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._report.difference import Difference


class RankInterval(NamedTuple):
    """The ranks that a system may have in one metric, from 1: an entry of `Ranks`.

    Attributes
    ----------
    best : int
        1 + the number of systems that are significantly better.
    worst : int
        The number of systems minus the number of those that are significantly worse.

    Examples
    --------
    >>> import exactk
    >>> hits = {"a": 25, "b": 15}
    >>> systems = {name: [[1]] * count + [[2]] * (30 - count) for name, count in hits.items()}
    >>> exactk.compare([[1]] * 30, systems, "P@1").ranks("P@1")["a"]
    RankInterval(best=1, worst=1)
    """

    best: int
    worst: int


RankInterval.__module__ = "exactk.results"  # for its body has fields alone


class Ranks(ExportsTable, Mapping[str, RankInterval]):
    """The ranks that each system may have in one metric, a mapping from system to `RankInterval`.

    `exactk.Comparison.ranks` returns it. Systems are in the order of their values, the best first. It prints them with
    the test and its adjustment.

    Attributes
    ----------
    top : tuple of str
        The systems that no other is significantly better than: those tied for the top if there are several.

    Examples
    --------
    >>> import exactk
    >>> hits = {"a": 15, "b": 25, "c": 27}
    >>> systems = {name: [[1]] * count + [[2]] * (30 - count) for name, count in hits.items()}
    >>> ranks = exactk.compare([[1]] * 30, systems, "P@1").ranks("P@1")
    >>> ranks.top
    ('c', 'b')
    >>> {system: f"{interval.best} to {interval.worst}" for system, interval in ranks.items()}
    {'c': '1 to 2', 'b': '1 to 2', 'a': '3 to 3'}
    """

    __module__ = "exactk.results"

    def __init__(
        self, metric: str, values: Mapping[str, float], intervals: Mapping[str, RankInterval], note: str
    ) -> None:
        self._metric, self._values, self._intervals, self._note = metric, dict(values), dict(intervals), note

    @property
    def top(self) -> tuple[str, ...]:
        """The systems that are tied for the top."""
        return tuple(system for system, interval in self.items() if interval.best == 1)

    def value_of(self, system: str) -> float:
        """Return the value of a system, by which it is ranked."""
        return self._values[system]

    def __getitem__(self, system: str) -> RankInterval:
        """Return the interval of a system."""
        if system not in self._intervals:
            message = f"{system!r} is not among {', '.join(map(repr, self))}"
            raise KeyError("; ".join(filter(None, [message, did_you_mean(str(system), self)])))
        return self._intervals[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._intervals)

    def __len__(self) -> int:
        return len(self._intervals)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def columns(self) -> dict[str, Any]:
        """Return a row for each system: its value, and the best and the worst rank that it may have."""
        intervals = self._intervals.values()
        return {
            "system": list(self._intervals),
            self._metric: [self._values[system] for system in self._intervals],
            "best_rank": [interval.best for interval in intervals],
            "worst_rank": [interval.worst for interval in intervals],
        }

    def _table(self, digits: int | None) -> Table:
        values = [self._values[system] for system in self._intervals]
        columns = [
            Column("system", list(self._intervals), "key"),
            Column(self._metric, values, digits=DIGITS if digits is None else digits),
            Column("rank", [*map(ranks_text, self._intervals.values())]),
        ]
        top = f"{'tied for the ' * (len(self.top) > 1)}top: {', '.join(self.top)}"
        return Table(columns, f"Ranks by {self._metric}", [top, self._note])


def ranks_text(interval: RankInterval) -> str:
    """Return the ranks in words."""
    return str(interval.best) if interval.best == interval.worst else f"{interval.best} to {interval.worst}"


def rank_intervals(systems: Sequence[str], sides: Sequence[tuple[Difference, int]]) -> dict[str, RankInterval]:
    """Return the interval of each system from all pairs; 1 is a system significantly better than its baseline, -1 worse."""
    better, worse = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)  # how many others are
    for row, side in sides:
        winner, loser = (row.system, row.baseline) if side > 0 else (row.baseline, row.system)
        if side:
            worse[winner] += 1
            better[loser] += 1
    return {system: RankInterval(1 + better[system], len(systems) - worse[system]) for system in systems}
