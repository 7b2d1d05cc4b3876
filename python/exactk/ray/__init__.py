"""Evaluation of Ray datasets: exact, on the workers, without collecting rows.

Users are hashed into buckets, each bucket is evaluated in one call, and tasks add the exact sums. The values equal those
of one `exactk.evaluate` of all rows, bit for bit, whatever the blocks and the number of buckets. The workers need exactk.
Install it with ``pip install 'exactk[ray]'``.

Examples
--------
>>> import exactk.ray
>>> report = exactk.ray.evaluate(truth, predictions, ["ndcg@10", "recall@10"])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._plan.metric_strings import DEFAULT_METRICS
from exactk._sharded.engines import (
    compare_frames,
    evaluate_frames,
    merge_frame,
    planned_evaluation,
    takes_frame_options,
)
from exactk.ray import _datasets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from ray.data import Dataset

    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.comparison import Comparison
    from exactk._report.report import Report
    from exactk._sharded.engines import FrameComparisonOptions, FrameOptions

__all__ = ["compare", "evaluate", "merge", "per_user", "states"]


@takes_frame_options()
def evaluate(
    truth: Dataset,
    predictions: Dataset,
    metrics: MetricsLike = DEFAULT_METRICS,
    **options: Unpack[FrameOptions[Dataset]],
) -> Report:
    """Evaluate the predictions of one system against the truth.

    Parameters
    ----------
    truth : Dataset
        The relevant items: one row per user and item, with or without a column of grades, or one row per user with a
        list of items.
    predictions : Dataset
        The lists: one row per user and item, with a score (higher is better) or a rank, or one row per user with a list
        of items, best first, or of structs of item and score.
    convention
        Rows have no order, so that ``ties="input_order"`` needs lists of items.
    exclude : Dataset, optional
        Items to remove from each user's list, such as training items: one row per user and item.
    weights, groups : Dataset or str, optional
        The weight or the group of each user: a dataset with the user columns and one other column, or the name of a
        column of the truth that has the same value in all rows of a user.
    items
        They are sent to every worker.
    user, item, score, rank, grade : str, optional
        Column names in all datasets alike, as in `exactk.evaluate`; without them, usual names are detected. Users and
        items are integers of any width or strings. Users may have several columns.
    num_buckets : int, optional
        The number of buckets, by default ``ray.data.DataContext.default_hash_shuffle_parallelism``. A call holds the rows
        of one bucket in memory, about three times the size of their Arrow tables; 2 million rows per bucket take about
        200 MB.
    threads : int
        The number of threads per task. More than its CPUs compete with other tasks.

    Returns
    -------
    Report
        Its values, counts and state equal those of `exactk.evaluate`. It has no users: `per_user` returns their values.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid. What the types of the columns show is raised before the rows are moved; other messages
        name a user, and how many buckets have a fault.
    ImportError
        If the Python of the workers lacks exactk, or has another version of it.

    Warns
    -----
    EvaluationWarning
        As `exactk.evaluate` warns, once, on the driver.

    Examples
    --------
    >>> import exactk.ray
    >>> truth, predictions = ray.data.read_parquet("truth"), ray.data.read_parquet("predictions")  # doctest: +SKIP
    >>> exactk.ray.evaluate(truth, predictions, "ndcg@10")["ndcg@10"]  # doctest: +SKIP
    """
    return evaluate_frames(_datasets, truth, predictions, metrics, options)


@takes_frame_options(evaluate)
def compare(
    truth: Dataset,
    systems: Mapping[str, Dataset],
    metrics: MetricsLike = DEFAULT_METRICS,
    **options: Unpack[FrameComparisonOptions[Dataset]],
) -> Comparison:
    """Evaluate several systems on one truth, and test how they differ.

    The driver gets exact sums over each pair of systems, so that differences, intervals and p-values equal those of
    `exactk.compare`, bit for bit.

    Parameters
    ----------
    systems : mapping from str to Dataset
        The predictions of each system by its name, as in `evaluate`.
    test : {"t", "sign"}
        The test behind the p-values. Others need the values of all users in one place.
    confidence
        Intervals are those of ``interval="t"``.

    Returns
    -------
    Comparison
        Its values and differences equal those of `exactk.compare`.

    Examples
    --------
    >>> import exactk.ray
    >>> systems = {"popularity": popularity, "als": predictions}  # doctest: +SKIP
    >>> exactk.ray.compare(truth, systems, "ndcg@10").differences  # doctest: +SKIP
    """
    return compare_frames(_datasets, truth, systems, metrics, options)


@takes_frame_options(evaluate)
def states(
    truth: Dataset,
    predictions: Dataset,
    metrics: MetricsLike = DEFAULT_METRICS,
    **options: Unpack[FrameOptions[Dataset]],
) -> Dataset:
    """Return a lazy dataset with the state of each bucket, to keep and to `merge` later.

    States of different users, such as those of several days with different queries, can be united before they are merged.

    Returns
    -------
    Dataset
        The columns ``bucket``, ``state`` (bytes of `exactk.State.to_bytes`), ``facts`` (what warnings need, as JSON) and
        ``error``. Buckets without rows are left out.

    Examples
    --------
    >>> import exactk.ray
    >>> monday = exactk.ray.states(truth, predictions, "ndcg@10")  # doctest: +SKIP
    >>> monday.write_parquet("monday")  # doctest: +SKIP
    """
    return _datasets.state_frame(planned_evaluation(_datasets, truth, {"": predictions}, metrics, **options))


def merge(frame: Dataset) -> Report:
    """Return the report of the states of a dataset that `states` returned, or of a union of several.

    Parameters
    ----------
    frame : Dataset
        The states of different users, with the same metrics and convention. Tasks add them; the driver gets their sum.

    Returns
    -------
    Report
        The report of all users.

    Raises
    ------
    InputError
        If there is no state, or the evaluation of a bucket raised an error.
    StateMismatchError
        If the states were computed differently.

    Examples
    --------
    >>> import exactk.ray
    >>> monday = exactk.ray.states(truth, predictions, "ndcg@10")  # doctest: +SKIP
    >>> report = exactk.ray.merge(monday)  # doctest: +SKIP
    """
    return merge_frame(_datasets, frame)


@takes_frame_options(evaluate)
def per_user(
    truth: Dataset,
    predictions: Dataset,
    metrics: MetricsLike = DEFAULT_METRICS,
    **options: Unpack[FrameOptions[Dataset]],
) -> Dataset:
    """Return a lazy dataset with the values of each user.

    Returns
    -------
    Dataset
        The user columns of the truth, and a column of doubles per value, named as it is spelled. A user without a
        value has null, which Ray's means leave out: one who is not evaluated, or whose value is NaN by
        ``undefined="nan"``.

    Examples
    --------
    >>> import exactk.ray
    >>> values = exactk.ray.per_user(truth, predictions, "ndcg@10")  # doctest: +SKIP
    >>> values.mean("ndcg@10")  # doctest: +SKIP
    """
    return _datasets.user_frame(planned_evaluation(_datasets, truth, {"": predictions}, metrics, **options))
