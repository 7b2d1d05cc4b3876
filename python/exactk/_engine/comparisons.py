"""The flow of every comparison: evaluations of systems, or their reports, to sums over pairs of systems."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._engine.fold import evaluate_with_engine
from exactk._engine.pairs import ClusterCodes, Pairing, check_missing
from exactk._engine.systems import SEVERAL_SYSTEMS
from exactk._report.comparison import Comparison
from exactk._report.comparison_options import ComparisonOptions
from exactk._report.metric_order import with_metrics_in_one_order
from exactk._report.resampling import Calls
from exactk._report.state import plan_of_state
from exactk._runtime.errors import input_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exactk._engine.paired_problem import PairedEngine
    from exactk._engine.pairs import Paired
    from exactk._engine.problem import Engine
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.report import Report
    from exactk._runtime.faults import Text


class Engines(NamedTuple):
    """The engine of evaluations, and that of sums over pairs of systems."""

    evaluation: Engine
    pairs: PairedEngine


_COMPARISON_OPTIONS = {field.name for field in fields(ComparisonOptions)}


def compare_systems(
    engines: Engines, truth: object, systems: object, metrics: MetricsLike, options: Mapping[str, Any]
) -> Comparison:
    """Evaluate and compare systems; the options are all those of `exactk.compare`."""
    of_evaluation = {name: option for name, option in options.items() if name not in {*_COMPARISON_OPTIONS, "clusters"}}
    how = ComparisonOptions(**{name: options[name] for name in _COMPARISON_OPTIONS})
    of_evaluation["per_user"] = of_evaluation["per_user"] or how.needs_users
    check_test(how, clusters=options["clusters"] is not None, weights=options["weights"] is not None)
    pairing = _pairing(engines.pairs, how, options["clusters"], {"user": options["user"]})
    part = evaluate_with_engine(
        engines.evaluation, SEVERAL_SYSTEMS, truth, systems, metrics, pairing=pairing, **of_evaluation
    )
    return _comparison(part.reports, how, part.paired, Calls(options["num_threads"], options["progress"]))


def compare_kept_reports(
    engine: PairedEngine,
    reports: Mapping[str, Report],
    how: ComparisonOptions,
    clusters: object,
    calls: Calls | None = None,
) -> Comparison:
    """Compare reports by what they keep of their users."""
    of_reports = Comparison(with_metrics_in_one_order(reports), how).reports  # raises where they do not compare
    weighted = any(report.state.weighted for report in of_reports.values())
    check_test(how, clusters=clusters is not None, weights=weighted)
    pairing = _pairing(engine, how, clusters, {})
    return _comparison(of_reports, how, pairing.of_reports(of_reports), calls)


def check_test(how: ComparisonOptions, *, clusters: bool, weights: bool) -> None:
    """Raise InputError if a test would ignore what the values and intervals beside it do not."""
    ignored = [name for name, is_given in (("clusters", clusters), ("weights", weights)) if is_given]
    if how.test in {"wilcoxon", "sign"} and ignored:
        hint: Text = (Option("test", "t"), " takes them into account")
        raise input_error("test", f"'t' with {' and '.join(ignored)}", repr(how.test), hint=hint)


def _pairing(engine: PairedEngine, how: ComparisonOptions, clusters: object, columns: ColumnNames) -> Pairing:
    return Pairing(engine, how, None if clusters is None else ClusterCodes(clusters, columns))


def _comparison(
    reports: Mapping[str, Report], how: ComparisonOptions, paired: Paired | None, calls: Calls | None
) -> Comparison:
    state, hashes = (None, None) if paired is None else (paired.state, paired.cluster_hashes)
    comparison = Comparison(reports, how, state, hashes, calls)
    check_missing(how, state, plan_of_state(next(iter(reports.values())).state))
    return comparison
