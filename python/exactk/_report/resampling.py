"""From what is kept of users to sign flips and resamples of the pairs of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from exactk._inference.bootstrap import (
    FEWEST_UNITS,
    BootstrapIntervals,
    BootstrapOptions,
    bootstrap_intervals,
    resample_count,
)
from exactk._inference.sign_flips import FlipOptions, FlipTest, flip_tests
from exactk._inference.significance import HalfWidth
from exactk._inference.unit_numbers import Execution
from exactk._report.kept_numbers import KeptNumbers
from exactk._report.paired_sums import Resampled, square_of_size
from exactk._runtime.errors import input_error
from exactk._runtime.faults import Option, plural
from exactk._runtime.progress import Progress
from exactk._runtime.threads import requested_isa, resolve_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inference.unit_numbers import PairNumbers, Units
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._report.difference import Compared
    from exactk._report.kept_numbers import KeptUsers
    from exactk._runtime.progress import ProgressCallback


class Calls(NamedTuple):
    """How to draw, when differences are asked for."""

    num_threads: int | None = None
    progress: bool | ProgressCallback = False


def resample(
    compared: Sequence[Compared], kept: KeptUsers, options: ComparisonOptions, calls: Calls
) -> list[Resampled | None]:
    """Return what random numbers say of rows of all users, or of one group; None of rows that have no p-value."""
    tested = [i for i, one in enumerate(compared) if one.estimate is not None and not one.reason]
    results: list[Resampled | None] = [None] * len(compared)
    if not tested:
        return results
    numbers = KeptNumbers(kept)
    units = numbers.units(compared[0].group)
    squares = [
        square_of_size(compared[i].value, compared[i].sums.moments) if options.adjust == "max_t" else None
        for i in tested
    ]
    pairs, exponents = zip(
        *(numbers.of_pair(compared[i], square, units) for i, square in zip(tested, squares, strict=True)), strict=True
    )
    execution = Execution(resolve_threads(calls.num_threads), requested_isa())
    tests: list[FlipTest | None] = [None] * len(pairs)
    intervals: list[BootstrapIntervals | None] = [None] * len(pairs)
    if options.test == "permutation":
        tests = _flip_tests(pairs, _families(compared, tested, options), units, options, calls, execution)
    if options.interval != "t":
        intervals = _intervals([compared[i] for i in tested], pairs, units, options, calls, execution)
    for i, square, exponent, test, interval in zip(tested, squares, exponents, tests, intervals, strict=True):
        half_width = None if test is None or square is None else HalfWidth(test.bound, square)
        results[i] = Resampled(test, None if interval is None else interval.times_power_of_2(exponent), half_width)
    return results


def _families(compared: Sequence[Compared], tested: Sequence[int], options: ComparisonOptions) -> list[list[int]]:
    """Return the families as positions among the tested rows."""
    families: dict[str, list[int]] = {}
    for position, i in enumerate(tested):
        families.setdefault(compared[i].value.name if options.family == "metric" else "", []).append(position)
    return list(families.values())


def _flip_tests(
    pairs: Sequence[PairNumbers],
    families: Sequence[Sequence[int]],
    units: Units,
    options: ComparisonOptions,
    calls: Calls,
    execution: Execution,
) -> list[FlipTest | None]:
    progress = Progress(calls.progress, "flips")
    how = FlipOptions(options.permutations, options.seed, options.alternative, options.level, options.adjust == "max_t")
    execution = execution._replace(report_finished=progress.report_finished, add_finished=progress.add_finished)
    with progress.track(options.permutations):
        return [*flip_tests(pairs, families, units, how, execution)]


def _intervals(
    compared: Sequence[Compared],
    pairs: Sequence[PairNumbers],
    units: Units,
    options: ComparisonOptions,
    calls: Calls,
    execution: Execution,
) -> list[BootstrapIntervals | None]:
    """Return the bootstrap intervals; None in groups of few users or clusters."""
    enough = [one.sums.moments.units >= FEWEST_UNITS for one in compared]
    for one, has_enough in zip(compared, enough, strict=True):
        if not has_enough and one.group is None:
            noun = "user" if one.sums.users == one.sums.moments.units else "cluster"
            expected = f"at least {FEWEST_UNITS} {noun}s for {options.interval!r}"
            found = plural(one.sums.moments.units, noun)
            raise input_error("interval", expected, found, hint=Option("interval", "t"))
    progress = Progress(calls.progress, "resamples")
    how = BootstrapOptions(
        "bca" if options.interval == "bca" else "percentile", options.resamples, options.seed, options.level
    )
    execution = execution._replace(report_finished=progress.report_finished, add_finished=progress.add_finished)
    some = [pair for pair, has_enough in zip(pairs, enough, strict=True) if has_enough]
    with progress.track(resample_count(some, options.resamples)):
        intervals = iter(bootstrap_intervals(some, units, how, execution))
    return [next(intervals) if has_enough else None for has_enough in enough]
