"""Which systems are not shown to be worse than the one with the best value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from exactk._engine.comparisons import compare_kept_reports
from exactk._engine.core import core_paired_engine
from exactk._report.comparison import Comparison
from exactk._report.comparison_options import ComparisonOptions
from exactk._report.difference import significant_side
from exactk._report.paired_sums import PairedState
from exactk._runtime import optional
from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._report.comparison_state import ComparisonState
    from exactk._report.report import Report


class TiedSystems(NamedTuple):
    """The systems that are not significantly worse, or why that was not tested."""

    systems: frozenset[str]
    untested: str = ""


def tied_systems(
    reports: Comparison | Mapping[str, Report], best: str, others: Sequence[str], metric: str
) -> TiedSystems:
    """Test the best system against the others by the paired t test, with p-values adjusted by Holm's method over them."""
    of_systems: Mapping[str, Report] = reports.reports if isinstance(reports, Comparison) else reports
    part = {system: of_systems[system] for system in (best, *others)}
    state = reports.state if isinstance(reports, Comparison) else None
    paired = None if state is None else _pairs_with(best, others, state.paired)
    untested = _missing_for_test(state, part, best) if paired is None or not optional.has("scipy") else ""
    if untested:
        return TiedSystems(frozenset(), untested)
    options = ComparisonOptions(baseline=best, confidence=0.95 if state is None else state.options.confidence)
    try:
        comparison = (
            compare_kept_reports(core_paired_engine, part, options, None)
            if paired is None
            else Comparison(part, options, paired)
        )
    except ExactkError as error:  # reports of other users, conventions or metrics
        return TiedSystems(frozenset(), str(error))
    worse = {
        row.baseline if row.system == best else row.system
        for row in comparison.differences.of(metric)
        if significant_side(row, "higher", options) == (1 if row.system == best else -1)
    }
    return TiedSystems(frozenset(others) - worse)


def _missing_for_test(state: ComparisonState | None, part: Mapping[str, Report], best: str) -> str:
    """Return what a test of systems without sums over their pairs lacks; empty if nothing."""
    if not optional.has("scipy"):
        return optional.describe_missing("scipy", "the test")
    lacks_users = any(report.user_table is None for report in part.values())
    if state is not None and state.paired is not None and (lacks_users or state.paired.clustered):
        advice = (
            "with runs= it has those of the means over runs" if state.options.runs else f"baseline={best!r} adds them"
        )
        return f"the comparison lacks pairs with {best!r}; {advice}"
    return "the reports lack the users' values; per_user=True keeps them" if lacks_users else ""


def _pairs_with(best: str, others: Sequence[str], paired: PairedState | None) -> PairedState | None:
    """Return the sums over the best system's pairs with the others; None unless there are all of them."""
    totals = {} if paired is None else paired.totals
    pairs = [pair for other in others for pair in ((other, best), (best, other)) if pair in totals]
    if paired is None or len(pairs) < len(others):
        return None
    return PairedState(paired.weighted, paired.clustered, {pair: totals[pair] for pair in pairs})
