"""The public functions that compare systems: `compare` evaluates them, `compare_reports` takes their reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._engine.core import core_engine
from exactk._engine.differing_users import warn_of_reports_of_different_users
from exactk._engine.fold import evaluate_with_engine
from exactk._engine.pairs import ClusterCodes, Pairing, check_missing, core_paired_engine
from exactk._engine.systems import SEVERAL_SYSTEMS
from exactk._evaluate import takes_options, with_defaults
from exactk._inputs.registry import FilesOfSystems
from exactk._options import CompareReportsOptions, Options
from exactk._plan.metric_strings import DEFAULT_METRICS
from exactk._report.comparison import Comparison
from exactk._report.comparison_options import DEFAULT_PERMUTATIONS, DEFAULT_RESAMPLES, ComparisonOptions
from exactk._report.matched_reports import with_metrics_in_one_order
from exactk._report.report import Report
from exactk._report.resampling import Calls
from exactk._report.state import common_unit_names, plan_of_state
from exactk._runtime.errors import InUnits, input_error
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from typing import Unpack

    from exactk._engine.pairs import Paired, PairedEngine
    from exactk._engine.problem import Engine
    from exactk._inference.significance import Alternative
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.types import Blocks, ClustersLike, PredictionsLike, TruthLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.comparison_options import (
        Adjustment,
        Family,
        IntervalMethod,
        MarginLike,
        Missing,
        RunsLike,
        Test,
    )
    from exactk._runtime.faults import Text
    from exactk._runtime.unit_names import UnitNames


class Engines(NamedTuple):
    """The engine of evaluations, and that of sums over pairs of systems."""

    evaluation: Engine
    pairs: PairedEngine


@takes_options(Options)
def compare(
    truth: TruthLike | None,
    systems: Mapping[str, PredictionsLike] | Blocks,
    metrics: MetricsLike = DEFAULT_METRICS,
    *,
    baseline: str | None = None,
    test: Test = "t",
    alternative: Alternative = "two_sided",
    confidence: float = 0.95,
    interval: IntervalMethod = "t",
    adjust: Adjustment = "holm",
    family: Family = "metric",
    margin: MarginLike | None = None,
    clusters: ClustersLike | None = None,
    missing: Missing = "drop",
    runs: RunsLike | None = None,
    permutations: int = DEFAULT_PERMUTATIONS,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    **options: Unpack[Options],
) -> Comparison:
    """Evaluate several systems on one truth, and test how they differ.

    The values of each system are there at once. Tests, intervals and verdicts are computed when
    `exactk.Comparison.differences` is first asked for, which needs SciPy: ``pip install 'exactk[compare]'``.

    Parameters
    ----------
    truth : data frame, mapping, list of sequences, or any other that `exactk.evaluate` takes
        The relevant items of each user, optionally with grades; None if `systems` is an iterator, or if no metric
        reads the truth.
    systems : mapping from str to predictions, or iterator
        The predictions of each system by its name, in any containers that `exactk.evaluate` takes, also of different
        kinds. `exactk.Batches` beside other systems are read into memory. An iterator yields blocks of users,
        (truth, {system: predictions}) or (truth, {system: predictions}, exclude); all blocks have the same systems.
        An iterator as the predictions of a single system is an error, since it can be read only once.
    baseline : str, optional
        The system that every other one is compared with. By default every pair is compared, the later system with the
        earlier one, of up to 30 systems.
    test : {"t", "permutation", "wilcoxon", "sign"}
        The test behind the p-values. The default ``"t"`` is the paired t test, of the mean that is shown.
        ``"permutation"`` tests the same difference without assuming a distribution, by exchanging the results that the
        two systems have for a user [1]_. It is exact if at most 20 users differ, or all by the same amount, and uses
        `permutations` random sign flips otherwise. ``"wilcoxon"`` (the signed-rank test) and ``"sign"`` (exact binomial)
        test whether differences are symmetric about 0, and whether wins and losses are equally frequent. With many
        users they reject equal means if a system loses a little for many users and gains much for few. They know
        neither clusters nor weights, with which they are refused.
    alternative : {"two_sided", "greater", "less"}
        What the p-values are for: that the value differs from that of the baseline (default), is greater, or is less,
        whichever is better. Intervals remain two-sided.
    confidence : float
        The confidence of intervals, verdicts and gates, at least 0.5 and below 1. A p-value is significant if it is at
        most 1 - confidence. The default is 0.95.
    interval : {"t", "percentile", "bca"}
        The method of the intervals: difference -+ t * standard error (default), or the bootstrap of users, which needs
        at least 20 users or clusters: quantiles of resampled differences (``"percentile"``), or quantiles corrected for
        bias and skewness (``"bca"``) [2]_. Groups of fewer than 20 have no bootstrap interval.
    adjust : {"holm", "max_t", "benjamini_hochberg", "bonferroni", "none"}
        How p-values are adjusted for the other comparisons of their family. ``"holm"`` (default), ``"max_t"`` and
        ``"bonferroni"`` limit the chance of any false claim in a family, ``"benjamini_hochberg"`` the expected share of
        false claims. ``"max_t"`` needs ``test="permutation"``: it compares each difference with the largest ones of the
        same random sign flips (step-down) [3]_, and makes intervals of ``interval="t"`` simultaneous.
    family : {"metric", "all"}
        Which comparisons are a family: those on one metric (default), or on all metrics. Each group of users is a
        family of its own.
    margin : float, str, or mapping of {str: float or str}, optional
        The largest difference that does not matter: a number above 0 such as 0.002, a share of the baseline's value
        such as ``"1%"``, above 0 % and below 100 %, or either by metric. With it, differences have p-values for "not
        worse" and "equivalent", and the verdict may be either.
    clusters : mapping from user to int or str, pandas Series, data frame, path, sequence of int or str, or str, optional
        The cluster of each user, in the containers of `groups`, if users are not independent: the member whose
        sessions are evaluated as users. If users have several key columns, a string names one of them, such as
        ``"member"`` with ``user=["member", "session"]``. By default all users are independent.
    missing : {"drop", "error"}
        What to do with users who have a value in only one system of a pair: leave them out of the pair and count them
        (default), or raise InputError.
    runs : mapping from str to sequence of str, optional
        The systems that are several training runs of one: from the name of that one, which is not among `systems`, to
        the names of its runs among them, at least two, such as ``{"als": ["als-1", "als-2", "als-3"]}``. Differences
        are of the mean over the runs of each user's values, in place of the runs, and their standard errors include the
        variance of the runs' values; values and reports remain those of each run. Only with ``test="t"`` and
        ``interval="t"``.
    permutations : int
        How many random sign flips ``test="permutation"`` draws where it is not exact, and ``adjust="max_t"`` always,
        from 99 to 10,000,000. The default is 9,999. A p-value that is not exact is at least
        1 / (`permutations` + 1), which may not be above 1 - `confidence`.
    resamples : int
        How many samples bootstrap intervals draw, from 99 to 1,000,000. The default is 9,999. Of fewer than
        2 / (1 - `confidence`) - 1, the bounds would be the smallest and the largest difference.
    seed : int
        The seed of sign flips and samples, from 0 (the default) to 2**64 - 1. A user's random numbers depend on
        the seed and on the user's key, or on the cluster; without keys, on the number of the row. They do not depend on
        the order of keyed users, the containers, other systems or metrics, threads or the instruction set.

    Returns
    -------
    Comparison
        A mapping from metric to {system: value}, with the differences as its ``differences`` and the reports of the
        systems as its ``reports``. All reports have the same users: those of the truth, then those of any system.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, the message names the system; if `baseline` is none of the systems; if users
        of one cluster are in several blocks; under ``missing="error"``, if a user has a value in only one system of a
        pair; if `permutations`, `resamples` or `seed` is given where no random numbers are used, or if `permutations`
        or `resamples` is too small for the confidence.
    CapacityError
        If the users' values of the systems need more memory than there is; before the first system is evaluated. With a
        `baseline`, those of two systems are kept at a time, otherwise those of all.

    Warns
    -----
    EvaluationWarning
        In the cases of `exactk.evaluate`, each given once and naming the systems concerned; and if systems cover
        different users, or their means are over different users.

    See Also
    --------
    evaluate : The predictions of one system.
    compare_reports : Reports that exist already.
    Comparison.check : Claims such as "not worse by more than 1 %", for tests and pipelines.
    Comparison.ranks : Which ranks each system may have, as far as differences are significant.

    References
    ----------
    .. [1] Phipson, Smyth, "Permutation p-values should never be zero", 2010.
    .. [2] Efron, "Better bootstrap confidence intervals", 1987.
    .. [3] Westfall, Young, "Resampling-based multiple testing", 1993, algorithm 4.1.
    .. [4] Sakai, "Laboratory experiments in information retrieval", 2018.

    Examples
    --------
    >>> import exactk
    >>> truth = {"ann": ["film", "song"], "bob": ["film"], "eve": ["book"]}
    >>> popularity = {user: ["film", "book"] for user in truth}
    >>> als = {"ann": ["song", "film"], "bob": ["film"], "eve": ["song", "book"]}
    >>> comparison = exactk.compare(truth, {"popularity": popularity, "als": als}, ["recall@2", "ndcg@2"])
    >>> comparison
    metric    popularity     als
    recall@2      0.8333  1.0000*
    ndcg@2        0.7480  0.8770*
    convention standard; 3 users; * best
    >>> comparison["recall@2"]
    {'popularity': 0.8333333333333334, 'als': 1.0}

    How do they differ? With three users nobody can tell; with fifty, of whom 40 have a hit in one system and 20 in the
    other:

    >>> truth, als, popularity = [[1]] * 50, [[1]] * 40 + [[2]] * 10, [[2]] * 30 + [[1]] * 20
    >>> comparison = exactk.compare(truth, {"popularity": popularity, "als": als}, "P@1", baseline="popularity")
    >>> comparison.differences
    metric  system   value  baseline value  difference            interval  relative      p    d_z  wins/ties/losses  verdict
    P@1     als     0.8000          0.4000     +0.4000  +0.1703 to +0.6297  +100.0 %  0.001  0.495          30/10/10   better
    paired t test against popularity; no adjustment: one comparison per metric; 95 % intervals
    50 users; a true difference of 0.3267 or more would be significant in 4 of 5 samples of this size

    Two training runs of a model are one system, whose p-value speaks of new training runs too:

    >>> lists = {"popularity": popularity, "als-1": als, "als-2": [[1]] * 34 + [[2]] * 16}
    >>> runs = {"als": ["als-1", "als-2"]}
    >>> exactk.compare(truth, lists, "P@1", baseline="popularity", runs=runs).differences
    metric  system   value  baseline value  difference            interval  relative      p    d_z  wins/ties/losses  verdict
    P@1     als     0.7400          0.4000     +0.3400  +0.0579 to +0.6221   +85.0 %  0.021  0.398           30/4/16   better
    paired t test against popularity; no adjustment: one comparison per metric; 95 % intervals; als: mean of 2 runs
    50 users; a true difference of 0.3982 or more would be significant in 4 of 5 samples of this size

    The p-value of a permutation test is exact if few users differ: a share of all patterns. Here are three systems on
    twenty topics, with the precisions of Sakai's textbook example [4]_:

    >>> from fractions import Fraction
    >>> hits = {
    ...     "C": [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
    ...     "B": [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
    ...     "A": [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
    ... }
    >>> lists = {name: [range(10 - count, 20 - count) for count in counts] for name, counts in hits.items()}
    >>> for row in exactk.compare([range(10)] * 20, lists, "P@10", test="permutation").differences:
    ...     patterns = 2 ** (row.wins + row.losses)
    ...     print(f"{row.system}-{row.baseline}: p = {Fraction(row.p) * patterns}/{patterns}, {row.exact}")
    B-C: p = 40864/65536, True
    A-C: p = 18954/131072, True
    A-B: p = 2160/32768, True

    An iterator of blocks has the same values as one call:

    >>> exactk.compare(None, iter([([[1]], {"a": [[1]], "b": [[2]]}), ([[3]], {"a": [[3]], "b": [[3]]})]), "P@1")["P@1"]
    {'a': 1.0, 'b': 0.5}
    """
    how = {
        "baseline": baseline,
        "test": test,
        "alternative": alternative,
        "confidence": confidence,
        "interval": interval,
        "adjust": adjust,
        "family": family,
        "margin": margin,
        "clusters": clusters,
        "missing": missing,
        "runs": runs,
        "permutations": permutations,
        "resamples": resamples,
        "seed": seed,
    }
    with FilesOfSystems():
        return compare_systems(
            CORE, truth, systems, metrics, {**how, **with_defaults(options, compare, metrics=metrics)}
        )


CORE = Engines(core_engine, core_paired_engine)


@takes_options(CompareReportsOptions, compare)
def compare_reports(reports: Mapping[str, Report], **options: Unpack[CompareReportsOptions]) -> Comparison:
    """Compare reports that exist, such as those of earlier calls or of `exactk.Report.from_json`.

    Users are matched by key, or by row if no report has keys. The differences need what ``per_user=True`` keeps; reports
    without it have values side by side alone.

    Parameters
    ----------
    reports : Mapping of str to Report
        The report of each system, with the same metrics and convention, and with the same weight and group of each
        user.
    num_threads
        They compute sign flips and samples.
    progress : bool or callable
        As in `exactk.evaluate`; a callable gets the numbers of finished and of all draws.

    Returns
    -------
    Comparison
        Its ``differences`` equal those of one call of `exactk.compare`.

    Raises
    ------
    InputError, InputTypeError
        If there is no report, or a name or a report has another type; if an option is invalid; if systems were evaluated
        on different truths; if keys of users are of several types, or in some reports alone; if a user's weight or group
        differs between reports.
    StateMismatchError
        If the reports were computed differently. The message says what differs.

    Warns
    -----
    EvaluationWarning
        If systems cover different users, or their means are over different users, as far as the reports tell it.

    Examples
    --------
    >>> import exactk
    >>> truth = [[1, 4], [21]]
    >>> monday = exactk.evaluate(truth, [[1, 2], [3, 21]], "recall@2")
    >>> tuesday = exactk.evaluate(truth, [[1, 4], [21, 3]], "recall@2")
    >>> exactk.compare_reports({"monday": monday, "tuesday": tuesday})["recall@2"]
    {'monday': 0.75, 'tuesday': 1.0}

    With each user's values, the differences are tested too:

    >>> truth, first, second = [[1]] * 30, [[1]] * 10 + [[2]] * 20, [[1]] * 18 + [[2]] * 12
    >>> reports = {
    ...     name: exactk.evaluate(truth, lists, "P@1", per_user=True)
    ...     for name, lists in {"monday": first, "tuesday": second}.items()
    ... }
    >>> row = exactk.compare_reports(reports, baseline="monday").differences["tuesday", "P@1"]
    >>> f"{row.difference:+.3f}, p = {row.p:.4f}: {row.verdict}"
    '+0.267, p = 0.0029: better'
    """
    how = with_defaults(options, compare_reports, CompareReportsOptions)
    clusters, calls = how.pop("clusters"), Calls(how.pop("num_threads"), how.pop("progress"))
    with InUnits(_units_of_reports(reports)):
        comparison = compare_kept_reports(CORE.pairs, reports, ComparisonOptions(**how), clusters, calls)
        warn_of_reports_of_different_users(comparison.reports)
    return comparison


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


def _units_of_reports(reports: object) -> UnitNames:
    given = reports.values() if isinstance(reports, Mapping) else ()
    return common_unit_names(one.unit_names for one in given if isinstance(one, Report))


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
