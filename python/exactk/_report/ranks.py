"""Which ranks the systems of a comparison may have, as far as their differences are significant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from exactk._report.display import format_text, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._report.difference import Difference


class RankInterval(NamedTuple):
    """The ranks that a system may have: 1 is that of the best.

    Attributes
    ----------
    best : int
        1 + the number of systems that are significantly better.
    worst : int
        The number of systems minus that of those which are significantly worse.
    """

    best: int
    worst: int


class Ranks(Mapping[str, RankInterval]):
    """The ranks that each system may have in one metric, a mapping from system to `RankInterval`.

    `exactk.Comparison.ranks` returns it. Systems are in the order of their values, the best first.

    Attributes
    ----------
    top : tuple of str
        The systems that are tied for the top: those that no other is significantly better than.
    """

    def __init__(
        self, metric: str, values: Mapping[str, float], intervals: Mapping[str, RankInterval], note: str
    ) -> None:
        self._metric, self._values, self._intervals, self._note = metric, dict(values), dict(intervals), note

    @property
    def top(self) -> tuple[str, ...]:
        """The systems that are tied for the top."""
        return tuple(system for system, interval in self.items() if interval.best == 1)

    def __getitem__(self, system: str) -> RankInterval:
        return self._intervals[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._intervals)

    def __len__(self) -> int:
        return len(self._intervals)

    def __repr__(self) -> str:
        rows = [
            [system, f"{self._values[system]:.4f}", _ranks_text(interval)]
            for system, interval in self._intervals.items()
        ]
        top = ", ".join(self.top)
        line = f"tied for the top: {top}" if len(self.top) > 1 else f"top: {top}"
        return "\n".join(
            [format_text(["system", self._metric, "rank"], rows, 1), printable(line), printable(self._note)]
        )


def _ranks_text(interval: RankInterval) -> str:
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
