"""A workload, measured: a line of a table."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.timing import Sample
from benchmarks.versus.field import Entry
from benchmarks.versus.peers import OURS, READING
from benchmarks.workload import Workload


@dataclass(frozen=True)
class Line:
    """What became of each contestant, and, where caches might hold the arrays, our time without them."""

    workload: Workload
    entries: dict[str, Entry]
    from_memory: Sample | None = None

    @property
    def ours(self) -> Sample:
        """The time of metrik."""
        return self._sure(OURS.calls[0])

    @property
    def reading(self) -> Sample:
        """The time in which the same bytes are read."""
        return self._sure(READING.calls[0])

    def _sure(self, call: str) -> Sample:
        entry = self.entries[call]
        assert entry.sample, entry.error
        return entry.sample

    def ratio(self, call: str) -> float:
        """Return a peer's time to ours, NaN where it has none."""
        entry = self.entries.get(call)
        return entry.sample.over(self.ours) if entry and entry.sample else float("nan")

    def peer(self, call: str) -> str:
        """Return a peer's cell."""
        entry = self.entries.get(call)
        if entry is None:
            return ""
        if entry.sample is None:
            return "failed"
        return f"{milliseconds(entry.sample.median)} ({self.ratio(call):.3g} x)"

    def span(self) -> str:
        """Return our fastest and slowest round."""
        return f"{milliseconds(self.ours.low)}-{milliseconds(self.ours.high)}"


def milliseconds(seconds: float) -> str:
    """Return the time with three digits, or all before the point."""
    number = 1e3 * seconds
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"
