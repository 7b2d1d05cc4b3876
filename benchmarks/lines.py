"""A workload, measured: a line of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.results import Cell, times
from benchmarks.timing import Sample
from benchmarks.versus.field import Result, version
from benchmarks.versus.peers import OURS, PRODUCTS, READING, Peer
from benchmarks.workload import Workload

OUR_COLUMNS = ["workload", "exactk, ms", "lowest-highest, ms"]


@dataclass(frozen=True)
class Line:
    """What became of each contestant, and, where caches might hold the arrays, our time without them."""

    workload: Workload
    results: dict[str, Result]
    from_memory: Sample | None = None

    @property
    def ours(self) -> Sample:
        """The time of exactk."""
        return self._sample(OURS.calls[0])

    @property
    def reading(self) -> Sample:
        """The time in which the same bytes are read."""
        return self._sample(READING.calls[0])

    @property
    def products(self) -> Sample:
        """The time in which the same factors are multiplied."""
        return self._sample(PRODUCTS.calls[0])

    def _sample(self, call: str) -> Sample:
        result = self.results[call]
        assert result.sample, result.error
        return result.sample

    def ratio(self, call: str) -> float:
        """Return a peer's time to ours, NaN where it has none."""
        result = self.results.get(call)
        return result.sample.ratio_to(self.ours) if result and result.sample else float("nan")

    def peer(self, call: str) -> Cell:
        """Return a peer's cell."""
        result = self.results.get(call)
        if result is None:
            return None
        if result.sample is None:
            return "failed"
        return times(1e3 * result.sample.median, self.ratio(call))

    def our_cells(self) -> list[Cell]:
        """Return the workload's name, our milliseconds, and those of our fastest and slowest round."""
        return [self.workload.name, 1e3 * self.ours.median, [1e3 * self.ours.low, 1e3 * self.ours.high]]


def peer_notes(peers: Iterable[Peer], lines: list[Line]) -> list[str]:
    """Return what must be said of each peer that took part."""
    notes = []
    for peer in peers:
        facts = []
        if peer.convention:
            facts.append("compared under " + ", ".join(f"{key}={value}" for key, value in peer.convention.items()))
        results = [(line, line.results[call]) for line in lines for call in peer.calls if call in line.results]
        line, result = next((line, result) for line, result in results if result.call == peer.calls[-1])
        if not result.error:
            facts.append(f"built {line.workload.name} in {result.prepare_seconds:.1f} s beforehand")
            facts.append(f"computes {result.values} of its {len(line.workload.values)} values")
        facts += [
            f"{result.call} failed at {line.workload.name}: {result.error}" for line, result in results if result.error
        ]
        notes.append(f"{peer.distribution} {version(peer)}: " + "; ".join(facts))
    return notes
