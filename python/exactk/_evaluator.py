"""The public `Evaluator`, for users who come some at a time, such as the batches of a training loop."""

from __future__ import annotations

import os
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any

from exactk._engine.core import core_engine
from exactk._engine.updates import Update, UpdateSums, request_of_updates, sums_of_updates
from exactk._evaluate import check_names, takes_options, with_defaults
from exactk._inputs.items import Items
from exactk._inputs.metric_inputs import items_of_metrics
from exactk._options import EvaluatorOptions, UpdateOptions
from exactk._plan.conventions import as_convention, description
from exactk._plan.metric_strings import plan, warn_of_unused_fields
from exactk._plan.metrics import CustomMetric, MetricEntry
from exactk._runtime.errors import InUnits, as_unit_names, input_error, type_error
from exactk._runtime.faults import plural
from exactk._runtime.threads import resolve_threads
from exactk._runtime.unit_names import Signs

if TYPE_CHECKING:
    from typing import Unpack

    from exactk._inputs.types import PredictionsLike, TruthLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.report import Report
    from exactk._report.state import State


class Evaluator:
    """The evaluation of users who come some at a time, such as the batches of a training or validation loop.

    Each call of `update` evaluates some users and adds them to exact sums; `compute` returns the report of all users so
    far. It is that of `exactk.evaluate` for all of them at once, bit for bit, whatever the batches. Only sums are kept,
    and the keys of keyed users: neither scores nor lists.

    Parameters
    ----------
    metrics : str, CustomMetric or sequence of them
        As in `exactk.evaluate`, but for ``unexpectedness``, which needs other predictions too.
    items
        Rows of ``train`` without user keys belong to the users in the order of the updates.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, as in `exactk.evaluate`.

    Warns
    -----
    EvaluationWarning
        If an option has no effect on the metrics.

    See Also
    --------
    evaluate : All users at once, or an iterator of blocks.
    merge : Add reports or states.

    Notes
    -----
    An evaluator can be pickled, with its sums. Several threads may call its methods; updates are added one after another.
    A child process that is forked meanwhile has the users of the updates that had ended.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> truth = [[1], [0, 3], [2]]
    >>> scores = np.array([[0.1, 0.9, 0.4, 0.2], [0.8, 0.1, 0.7, 0.3], [0.6, 0.3, 0.5, 0.1]], np.float32)
    >>> evaluator = exactk.Evaluator(["ndcg@2", "recall@2"])
    >>> evaluator.update(truth[:2], scores[:2])
    >>> evaluator.update(truth[2:], scores[2:])
    >>> evaluator
    <Evaluator of 3 users: ndcg@2, recall@2; convention standard>
    >>> report = evaluator.compute()
    >>> report["recall@2"]
    0.8333333333333334
    >>> report == exactk.evaluate(truth, scores, ["ndcg@2", "recall@2"])
    True

    Add the users of another evaluator, and begin anew:

    >>> other = exactk.Evaluator(["ndcg@2", "recall@2"])
    >>> other.update([[3]], [[1, 2]])
    >>> evaluator.merge(other)
    >>> evaluator.compute()["recall@2"]
    0.625
    >>> evaluator.reset()
    >>> evaluator
    <Evaluator of 0 users: ndcg@2, recall@2; convention standard>
    """

    __module__ = "exactk"

    def __init__(self, metrics: MetricsLike, **options: Unpack[EvaluatorOptions]) -> None:
        given = with_defaults(options, Evaluator, EvaluatorOptions)
        convention, items, num_threads = as_convention(given["convention"]), given["items"], given["num_threads"]
        if isinstance(metrics, Iterator):
            metrics = list(metrics)
        values = plan(metrics, convention)
        warn_of_unused_fields(convention, values)
        table = None if items is None else items_of_metrics(items, values, {}, resolve_threads(num_threads))
        self._metrics = [metrics] if isinstance(metrics, (str, CustomMetric, MetricEntry)) else list(metrics)
        self._num_threads, self._unit_names = num_threads, as_unit_names(given["unit_names"])
        self._request = request_of_updates(core_engine, values, convention, table, num_threads)
        self._sums = UpdateSums()
        self._locks: dict[int, Lock] = {}

    @takes_options(UpdateOptions)
    def update(self, truth: TruthLike | None, predictions: PredictionsLike, **options: Unpack[UpdateOptions]) -> None:
        """Evaluate some users, and add them to those so far. If an error is raised, nothing has been added.

        Users without keys are new ones in every call. Keyed users are known again: a user is in one update alone, with
        all of the user's items. If one update has weights or groups, all have. Arrays may be tensors in the CPU's memory.
        Data frames have the usual names of columns; `exactk.as_truth` and the like take others.

        Parameters
        ----------
        truth : Truth, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, path, or None
            As in `exactk.evaluate`; None if no metric reads the truth.
        predictions : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
            As in `exactk.evaluate`, but for an iterator of blocks: each block is an update.

        Raises
        ------
        InputError, InputTypeError
            As `exactk.evaluate` does; and if a user was in an earlier update, or users have keys in some updates only.

        Warns
        -----
        EvaluationWarning
            If rows or columns of one input look misread. All other warnings come with `compute`.
        """
        check_names(options, Evaluator.update)
        update = Update(truth, predictions, **options)
        with self._updating(), InUnits(self._unit_names, self._request.convention.name):
            self._sums = self._sums.plus(self._request, update)

    def compute(self) -> Report:
        """Return the report of all users so far. More updates may follow.

        Before any update it is the report of no users: values are NaN, and a warning says so.

        Warns
        -----
        EvaluationWarning
            As `exactk.evaluate` does.
        """
        with InUnits(self._unit_names, self._request.convention.name):
            sums = sums_of_updates(self._request, self._sums)
        with InUnits(sums.state.unit_names):
            return sums.report(self._request)

    def reset(self) -> None:
        """Forget all users, as at the start of an epoch."""
        with self._updating():
            self._sums = UpdateSums()

    def merge(self, other: Evaluator) -> None:
        """Add the users of another evaluator, such as another process's; the other one does not change.

        Parameters
        ----------
        other : Evaluator
            An evaluator with the same metrics, convention and items, of other users.

        Raises
        ------
        StateMismatchError
            If the evaluators were made differently, or a keyed user is in both.
        """
        if not isinstance(other, Evaluator):
            raise type_error("other", "an Evaluator", type(other).__name__, hint="exactk.merge adds reports and states")
        if other is self:
            raise input_error("other", "another evaluator", "this one, whose users would count twice")
        sums, request = other._sums, other._request
        with self._updating():
            self._sums = self._sums.merged(self._request, sums, request)

    def _updating(self) -> Lock:
        """Return the lock of this process: a thread that had locked another stays in the parent, for good."""
        return self._locks.setdefault(os.getpid(), Lock())

    @property
    def state(self) -> State:
        """The exact sums of all users so far, for `exactk.merge`."""
        with InUnits(self._unit_names, self._request.convention.name):
            return sums_of_updates(self._request, self._sums).state

    def __repr__(self) -> str:
        request = self._request
        spellings = ", ".join(value.spelling for value in request.values)
        names = Signs(self._unit_names, request.convention.name).names
        names = names if self._sums.optional is None else self._sums.state.unit_names
        users = plural(self._sums.users.size, names.user)
        return f"<Evaluator of {users}: {spellings}; convention {description(request.convention)}>"

    def __getstate__(self) -> tuple[Any, ...]:
        """Return plain data and public objects, as pickles name no private classes."""
        table = self._request.items
        items = None if table is None else Items.of_table(table)
        names = None if self._unit_names is None else self._unit_names.pair
        return self._metrics, self._request.convention, items, self._num_threads, self._sums.to_plain(), names

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Set what `__getstate__` returned."""
        metrics, convention, items, num_threads, sums, names = state
        self._unit_names = as_unit_names(names)
        table = None if items is None else items.table
        self._metrics, self._num_threads, self._locks = metrics, num_threads, {}
        self._request = request_of_updates(core_engine, plan(metrics, convention), convention, table, num_threads)
        self._sums = UpdateSums.from_plain(sums)


takes_options(EvaluatorOptions)(Evaluator)
