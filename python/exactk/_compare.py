"""The public functions that compare systems: `compare` evaluates them, `compare_reports` takes their reports."""

from __future__ import annotations

from inspect import Signature, signature
from typing import TYPE_CHECKING

from exactk._engine.core import core_engine
from exactk._engine.differing_users import warn_of_reports_of_different_users
from exactk._engine.pipeline import evaluate_with_engine
from exactk._engine.systems import SEVERAL_SYSTEMS
from exactk._evaluate import evaluate, with_defaults
from exactk._plan.metric_strings import DEFAULT_METRICS
from exactk._report.comparison import Comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from exactk._engine.pipeline import Options
    from exactk._inputs.types import Blocks, PredictionsLike, TruthLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.report import Report


def compare(
    truth: TruthLike | None,
    systems: Mapping[str, PredictionsLike] | Blocks,
    metrics: MetricsLike = DEFAULT_METRICS,
    **options: Unpack[Options],
) -> Comparison:
    """Evaluate several systems on one truth, which is converted once.

    Parameters
    ----------
    truth : data frame, mapping, list of sequences, or any other that `exactk.evaluate` takes
        The relevant items of each user, optionally with grades; None if `systems` is an iterator.
    systems : mapping from str to predictions, or iterator
        The predictions of each system by its name, in any containers that `exactk.evaluate` takes, also of different
        kinds. `exactk.Batches` beside other systems are read into memory. An iterator yields blocks of users,
        (truth, {system: predictions}) or (truth, {system: predictions}, exclude); all blocks have the same systems.
        An iterator as the predictions of a single system is an error, since it can be read only once.
    metrics : str or iterable of str
        As in `exactk.evaluate`.
    convention, exclude, candidates, weights, groups, per_user, num_threads, progress, user, item, score, rank, grade : optional
        The options of `exactk.evaluate`, which apply to all systems alike:

        - ``convention``: the choices that fix what a metric's name means, a preset or changes of one;
        - ``exclude``: the items to remove from each user's list, such as training items;
        - ``candidates``: the only items that may be ranked;
        - ``weights``, ``groups``: the weight and the group of each user;
        - ``per_user``: whether to keep each user's values;
        - ``num_threads``, ``progress``: how to compute;
        - ``user``, ``item``, ``score``, ``rank``, ``grade``: the names of columns in data frames.

    Returns
    -------
    Comparison
        A mapping from metric to {system: value}, with the reports of the systems as its ``reports``. All reports have
        the same users: those of the truth, then those of any system.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid. The message names the system.
    CapacityError
        As in `exactk.evaluate`.

    Warns
    -----
    EvaluationWarning
        In the cases of `exactk.evaluate`, each given once and naming the systems concerned; and if systems cover
        different users, or their means are over different users.

    See Also
    --------
    evaluate : The predictions of one system.
    compare_reports : Reports that exist already.

    Examples
    --------
    >>> import exactk
    >>> truth = {"ann": ["film", "song"], "bob": ["film"], "eve": ["book"]}
    >>> popularity = {user: ["film", "book"] for user in truth}
    >>> als = {"ann": ["song", "film"], "bob": ["film"], "eve": ["song", "book"]}
    >>> comparison = exactk.compare(truth, {"popularity": popularity, "als": als}, ["recall@2", "ndcg@2"])
    >>> comparison
    metric    popularity     als   evaluated  skipped
    recall@2      0.8333  1.0000*          3        0
    ndcg@2        0.7480  0.8770*          3        0
    convention standard; 3 users; * best
    >>> comparison["recall@2"]
    {'popularity': 0.8333333333333334, 'als': 1.0}
    >>> exactk.compare(None, iter([([[1]], {"a": [[1]], "b": [[2]]}), ([[3]], {"a": [[3]], "b": [[3]]})]), "P@1")["P@1"]
    {'a': 1.0, 'b': 0.5}
    """
    arguments = with_defaults(options, "compare")
    return Comparison(evaluate_with_engine(core_engine, SEVERAL_SYSTEMS, truth, systems, metrics, **arguments))


def _signature_with_options(function: Callable[..., object]) -> Signature:
    """Return the function's signature with the options of `evaluate` in place of ``**options``."""
    plain, of_evaluate = signature(function), signature(evaluate).parameters.values()
    parameters = [one for one in plain.parameters.values() if one.kind is not one.VAR_KEYWORD]
    return plain.replace(parameters=parameters + [one for one in of_evaluate if one.kind is one.KEYWORD_ONLY])


# What `help` and notebooks show; type checkers know the options already.
compare.__signature__ = _signature_with_options(compare)  # type: ignore[attr-defined]


def compare_reports(reports: Mapping[str, Report]) -> Comparison:
    """Compare reports that exist, such as those of earlier calls or of `exactk.Report.from_json`.

    Parameters
    ----------
    reports : Mapping of str to Report
        The report of each system, with the same metrics and convention.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError, InputTypeError
        If there is no report, or a name or a report has another type.
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
    """
    comparison = Comparison(reports)
    warn_of_reports_of_different_users(comparison.reports)
    return comparison
