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

    from exactk._report.report import Report


class TiedSystems(NamedTuple):
    """The systems that are not significantly worse, or why that was not tested."""

    systems: frozenset[str]
    untested: str = ""


def tied_systems(
    reports: Comparison | Mapping[str, Report], best: str, others: Sequence[str], metric: str
) -> TiedSystems:
    """Test the best system against the others by the paired t test, with p-values adjusted by Holm's method over them."""
    if not optional.has("scipy"):
        return _untested(optional.describe_missing("scipy", "the test", "compare"))
    confidence = reports.state.options.confidence if isinstance(reports, Comparison) else 0.95
    options = ComparisonOptions(baseline=best, confidence=confidence)
    of_systems = reports.reports if isinstance(reports, Comparison) else reports
    part = {system: of_systems[system] for system in (best, *others)}
    state = _pairs_with(best, others, reports.state.paired) if isinstance(reports, Comparison) else None
    if state is not None:
        comparison = Comparison(part, options, state)
    elif isinstance(reports, Comparison) and _has_clusters(reports.state.paired):
        return _untested(f"the comparison has clusters and no pairs with {best!r}; {_how_to_add_pairs(reports, best)}")
    elif any(report.user_table is None for report in part.values()):
        if isinstance(reports, Comparison) and reports.state.paired is not None:
            return _untested(f"the comparison lacks pairs with {best!r}; {_how_to_add_pairs(reports, best)}")
        return _untested("the reports lack the users' values; per_user=True keeps them")
    else:
        try:
            comparison = compare_kept_reports(core_paired_engine, part, options, None)
        except ExactkError as error:
            return _untested(str(error))
    worse = {
        row.baseline if row.system == best else row.system
        for row in comparison.differences.of(metric)
        if significant_side(row, "higher", options) == (1 if row.system == best else -1)
    }
    return TiedSystems(frozenset(others) - worse)


def _untested(reason: str) -> TiedSystems:
    return TiedSystems(frozenset(), reason)


def _how_to_add_pairs(comparison: Comparison, best: str) -> str:
    return "without runs= it has them" if comparison.state.options.runs else f"baseline={best!r} adds them"


def _pairs_with(best: str, others: Sequence[str], paired: PairedState | None) -> PairedState | None:
    """Return the sums over the best system's pairs with the others; None unless there are all of them."""
    totals = {} if paired is None else paired.totals
    pairs = [pair for other in others for pair in ((other, best), (best, other)) if pair in totals]
    if paired is None or len(pairs) < len(others):
        return None
    return PairedState(paired.weighted, {pair: totals[pair] for pair in pairs})


def _has_clusters(paired: PairedState | None) -> bool:
    """Return whether the units of any pair are not its users."""
    totals = {} if paired is None else paired.totals
    return any(one.moments.units != one.users for sums in totals.values() for one in sums)
