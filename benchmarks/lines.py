"""A workload, measured: a line of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.timing import Sample
from benchmarks.versus.field import Entry, version
from benchmarks.versus.peers import OURS, PRODUCTS, READING, Peer
from benchmarks.workload import Workload


@dataclass(frozen=True)
class Line:
    """What became of each contestant, and, where caches might hold the arrays, our time without them."""

    workload: Workload
    entries: dict[str, Entry]
    from_memory: Sample | None = None

    @property
    def ours(self) -> Sample:
        """The time of exactk."""
        return self._sure(OURS.calls[0])

    @property
    def reading(self) -> Sample:
        """The time in which the same bytes are read."""
        return self._sure(READING.calls[0])

    @property
    def products(self) -> Sample:
        """The time in which the same factors are multiplied."""
        return self._sure(PRODUCTS.calls[0])

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


def peer_notes(peers: Iterable[Peer], lines: list[Line]) -> list[str]:
    """Return what must be said of each peer that took part."""
    notes = []
    for peer in peers:
        facts = [f"{peer.distribution} {version(peer)}"]
        if peer.convention:
            facts.append("compared under " + ", ".join(f"{key}={value}" for key, value in peer.convention.items()))
        entries = [(line, line.entries[call]) for line in lines for call in peer.calls if call in line.entries]
        line, entry = next((line, entry) for line, entry in entries if entry.call == peer.calls[-1])
        if not entry.error:
            facts.append(f"builds {line.workload.name} in {entry.prepared:.1f} s beforehand")
            facts.append(f"computes {entry.values} of its {len(line.workload.values)} values")
        facts += [
            f"{entry.call} failed at {line.workload.name}: {entry.error}" for line, entry in entries if entry.error
        ]
        notes.append("; ".join(facts))
    return notes
