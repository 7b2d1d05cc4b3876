"""How anything here is timed: in turns, so that what disturbs the machine disturbs all contestants."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Turn = Callable[[], float]  # seconds a call

ROUNDS = 7
PAUSE = 0.02  # seconds between turns, in which the thread pools of the last contestant fall asleep


@dataclass(frozen=True)
class Sample:
    """The seconds a call took, one figure a round."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The typical round."""
        return statistics.median(self.rounds)

    @property
    def low(self) -> float:
        """The fastest round."""
        return min(self.rounds)

    @property
    def high(self) -> float:
        """The slowest round."""
        return max(self.rounds)

    def ratio_to(self, other: Sample) -> float:
        """Return the median, over rounds, of this one's time divided by the other's."""
        return statistics.median(mine / its for mine, its in zip(self.rounds, other.rounds, strict=True))


def seconds(call: Callable[[], object]) -> float:
    """Return how long one call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def turn(
    call: Callable[[], object], enough: float = 0.1, measure: Callable[[Callable[[], object]], float] = seconds
) -> float:
    """Call until `enough` seconds are over and return the median, the first call being a warm-up if it is not alone."""
    times = [measure(call)]
    while sum(times) < enough:
        times.append(measure(call))
    return statistics.median(times[1:] or times)


def compete(turns: Mapping[str, Turn], rounds: int = ROUNDS) -> dict[str, Sample]:
    """Give every contestant a turn a round; who begins changes from round to round."""
    times: dict[str, list[float]] = {name: [] for name in turns}
    names = list(turns)
    for round_index in range(rounds):
        first = round_index % len(names)
        for name in names[first:] + names[:first]:
            time.sleep(PAUSE)
            times[name].append(turns[name]())
    return {name: Sample(tuple(seconds_each)) for name, seconds_each in times.items()}
