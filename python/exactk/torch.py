"""A metric of torchmetrics, whose values have the same bits on any number of processes.

Install it with ``pip install 'exactk[torch]'``.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from exactk._engine.update_digits import UpdateLayout, check_fixed_size, check_groups
from exactk._engine.updates import Update
from exactk._evaluator import Evaluator
from exactk._plan.conventions import description
from exactk._report.state_digits import Vectors, carried
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error, without_warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torchmetrics import Metric

    from exactk._engine.request import Request
    from exactk._inputs.items import CatalogueLike
    from exactk._inputs.types import CandidatesLike, ExclusionsLike, PredictionsLike, TruthLike, WeightsLike
    from exactk._plan.conventions import ConventionLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.report import Report

__all__ = ["RetrievalMetrics"]

_torch, _torchmetrics = optional.torch_and_torchmetrics("exactk.torch")
if not TYPE_CHECKING:
    Metric = _torchmetrics.Metric


class RetrievalMetrics(Metric):  # type: ignore[misc] # torchmetrics may not be installed
    """Metrics of users who come in batches, as a metric of torchmetrics, for one process or several.

    Its state are exact sums, as integers of a fixed size. Processes add them by an all-reduce, and the values equal those
    of `exactk.evaluate` for all users at once, bit for bit, whatever the batches, the number of processes and the order in
    which they are added. Scores are never gathered.

    Parameters
    ----------
    metrics : str, CustomMetric or sequence of them
        As in `exactk.evaluate`. Metrics of all lists together, such as ``coverage``, add a number per item of the catalogue
        and cutoff to the state. Metrics whose sums have no fixed size are refused: those of groups of items, those that
        count items outside the catalogue, and those that need train data of each user.
    convention : Convention, str or mapping
        As in `exactk.evaluate`.
    items : Items, optional
        As in `exactk.evaluate`.
    num_threads : int, optional
        As in `exactk.evaluate`, for each process. The result does not depend on it.
    num_users : int, optional
        The number of users in the data set, at least 1, if PyTorch's ``DistributedSampler`` deals them to the processes. It repeats users
        so that all processes have as many; they count once then, and it is an error if there are not so many users.
    **kwargs
        Those of `torchmetrics.Metric`, such as ``process_group``, ``sync_on_compute`` and ``dist_sync_on_step``.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, as in `exactk.evaluate`, or the sums of a metric have no fixed size.

    See Also
    --------
    exactk.Evaluator : The same for other metrics too, groups, and users with keys; processes gather evaluators.

    Notes
    -----
    Each user is evaluated on the CPU, whole, within one update; tensors on another device are copied. The states are on the
    metric's device. No change of type, such as ``half()``, changes them.

    Users have no keys here, so a sampler that repeats users has them counted twice, but for ``DistributedSampler`` with
    ``num_users``: its process r of R has the users at the places r, r + R, ... of an order of all, and what it repeats has
    places from ``num_users`` on.

    Examples
    --------
    >>> import torch
    >>> import exactk.torch
    >>> metric = exactk.torch.RetrievalMetrics(["ndcg@2", "recall@2"])
    >>> scores = torch.tensor([[0.1, 0.9, 0.4, 0.2], [0.8, 0.1, 0.7, 0.3], [0.6, 0.3, 0.5, 0.1]])
    >>> metric.update([[1], [0, 3]], scores[:2])
    >>> metric([[2]], scores[2:])["recall@2"]
    tensor(1., dtype=torch.float64)
    >>> metric.compute()["recall@2"]
    tensor(0.8333, dtype=torch.float64)
    >>> metric.report() == exactk.evaluate([[1], [0, 3], [2]], scores, ["ndcg@2", "recall@2"])
    True
    """

    is_differentiable = False
    full_state_update = False  # the values of a batch need no sums of others

    exact_digits: Any
    exact_counts: Any
    exact_largest: Any
    _computed: Any
    _forward_cache: Any

    def __init__(
        self,
        metrics: MetricsLike,
        *,
        convention: ConventionLike = "standard",
        items: CatalogueLike | None = None,
        num_threads: int | None = None,
        num_users: int | None = None,
        **kwargs: Any,  # noqa: ANN401 - of torchmetrics
    ) -> None:
        super().__init__(**kwargs)
        if num_users is not None and (isinstance(num_users, bool) or not isinstance(num_users, int)):
            raise type_error("num_users", "an integer or None", repr(num_users))
        if num_users is not None and num_users < 1:
            raise input_error("num_users", "at least 1", str(num_users))
        self._num_users = num_users
        self._given_users = 0  # to this process, with those that repeat
        self._evaluator = Evaluator(metrics, convention=convention, items=items, num_threads=num_threads)
        check_fixed_size(self._request.values)
        self._layout = UpdateLayout(self._request)
        self._is_in_forward = False
        digits, counts, largest = map(_torch.tensor, self._layout.empty)
        # The state with the plan comes first: old versions of torchmetrics compare one alone, and let metrics in a
        # collection share states that are equal.
        self.add_state("exact_largest", largest, dist_reduce_fx="max")
        self.add_state("exact_counts", counts, dist_reduce_fx="sum")
        self.add_state("exact_digits", digits, dist_reduce_fx="sum")

    def update(
        self,
        truth: TruthLike | None,
        predictions: PredictionsLike,
        *,
        exclude: ExclusionsLike | None = None,
        candidates: CandidatesLike | None = None,
        weights: WeightsLike | None = None,
        groups: None = None,
    ) -> None:
        """Evaluate some users, and add them to those so far. If an error is raised, nothing has been added.

        Parameters
        ----------
        truth, predictions, exclude, candidates, weights
            As in `exactk.Evaluator.update`, of users without keys. Tensors may be on any device.
        groups
            None: `exactk.Evaluator` evaluates groups.

        Raises
        ------
        InputError, InputTypeError
            As `exactk.Evaluator.update` does; and if users have keys or groups.
        """
        check_groups(groups)
        arguments = tuple(map(_on_cpu, (truth, predictions, exclude, candidates, weights)))
        users = 0
        if self._num_users is not None:
            users = _length(*arguments[:2])
            arguments = self._without_repeats(arguments, users)
        block = self._layout.update(self._vectors(), Update(*arguments))
        self._given_users += users
        device = self.exact_digits.device
        digits, counts, largest = (_torch.from_numpy(numbers).to(device) for numbers in block)
        digits, counts = carried(self.exact_digits + digits), self.exact_counts + counts
        largest = _torch.maximum(self.exact_largest, largest)
        self.exact_digits, self.exact_counts, self.exact_largest = digits, counts, largest

    def compute(self) -> dict[str, Any]:
        """Return the values of all users of all processes so far, by metric as requested: scalar tensors of type float64.

        All processes must call it together. They are on the metric's device, but on the CPU if that has no float64.

        Raises
        ------
        StateMismatchError
            If the processes have other metrics, conventions or items, or only some have weights.

        Warns
        -----
        EvaluationWarning
            As `exactk.evaluate` does, in the first process alone; never of the values of a batch that `forward` returns.
        """
        try:
            report = self._report()
        except BaseException:
            if self._is_synced and self._should_unsync:  # torchmetrics does so only where nothing is raised
                self.unsync()
            raise
        device = "cpu" if self.device.type == "mps" else self.device
        return {name: _torch.tensor(value, dtype=_torch.float64, device=device) for name, value in report.items()}

    def report(self) -> Report:
        """Return the report of all users of all processes so far. All processes must call it together.

        Raises
        ------
        StateMismatchError
            As `compute` does.

        Warns
        -----
        EvaluationWarning
            As `compute` does.
        """
        was_synced = self._is_synced
        self.sync(dist_sync_fn=self.dist_sync_fn, should_sync=self.sync_on_compute and not was_synced)
        try:
            return self._report()
        finally:
            self.unsync(should_unsync=self._is_synced and not was_synced)

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401 - those of update
        """Add some users, and return their values alone. If an error is raised, nothing has been added.

        The arguments are those of `update`.
        """
        before = dict(self.__dict__)
        self._is_in_forward = True
        try:
            values: dict[str, Any] = super().forward(*args, **kwargs)
            self.exact_digits = carried(self.exact_digits)
        except BaseException:
            self.__dict__.update(before)
            raise
        self._is_in_forward = False
        return values

    def reset(self) -> None:
        """Forget all users."""
        super().reset()
        if not self._is_in_forward:  # which forgets them for a batch
            self._given_users = 0

    def extra_repr(self) -> str:
        """Return the metrics and the convention, for ``repr``."""
        request = self._request
        spellings = ", ".join(value.spelling for value in request.values)
        return f"{spellings}; convention {description(request.convention)}"

    def set_dtype(self, dst_type: object) -> RetrievalMetrics:  # noqa: ARG002 - that of torchmetrics
        """Return the metric: its states are integers, and its values of type float64."""
        return self

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher values are better; None if some metrics have no direction, or several."""
        directions = {value.info.direction for value in self._request.values}
        return None if directions not in ({"higher"}, {"lower"}) else directions == {"higher"}

    def _report(self) -> Report:
        is_quiet = self._is_in_forward or (self._is_synced and _rank_and_size(self.process_group)[0] > 0)
        with without_warnings() if is_quiet else nullcontext():
            report = self._layout.report(self._vectors())
        users = report.counts["users"]
        is_of_all = self._is_synced or _rank_and_size(self.process_group)[1] == 1
        if self._num_users in {None, users} or self._is_in_forward or not is_of_all:
            return report
        hint = "a sampler that drops the last users leaves them out, and others than DistributedSampler do not deal in turn"
        raise input_error("num_users", f"{self._num_users} users of all processes", str(users), hint=hint)

    def _without_repeats(self, arguments: tuple[Any, ...], users: int) -> tuple[Any, ...]:
        """Return an update of so many users without those that the sampler repeats, which are its last ones."""
        rank, processes = _rank_and_size(self.process_group)
        left = max(0, -(-((self._num_users or 0) - rank) // processes) - self._given_users)
        if left >= users:
            return arguments
        truth, predictions, exclude, candidates, weights = arguments
        rows = (_first_users(one, left) for one in (truth, predictions, exclude))
        kept = _first_users(candidates, left) if _has_rows(candidates) else candidates
        return (*rows, kept, _first_users(weights, left))

    def _vectors(self) -> Vectors:
        """Return the states as arrays."""
        states = (self.exact_digits, self.exact_counts, self.exact_largest)
        return Vectors(*(state.cpu().numpy() for state in states))

    @property
    def _request(self) -> Request:
        return self._evaluator._request  # noqa: SLF001 - this class is another front of the same

    def _apply(self, fn: Callable[..., Any], exclude_state: Sequence[str] = "") -> RetrievalMetrics:
        """Apply a function of `torch.nn.Module.to` and the like to the states; values keep their type."""
        kept = self._computed, self._forward_cache
        self._computed = self._forward_cache = None
        super()._apply(fn, exclude_state)
        self._computed, self._forward_cache = (
            None if values is None else {name: value.to(self.device) for name, value in values.items()}
            for values in kept
        )
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what can be pickled."""
        return {name: value for name, value in super().__getstate__().items() if name != "_layout"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set what `__getstate__` returned."""
        super().__setstate__(state)
        self._layout = UpdateLayout(self._request)


def _rank_and_size(process_group: object) -> tuple[int, int]:
    """Return the rank of this process and the number of processes: one where torchmetrics was told of other ways to synchronize."""
    distributed = _torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return 0, 1
    return distributed.get_rank(process_group), distributed.get_world_size(process_group)


def _length(truth: Any, predictions: Any) -> int:  # noqa: ANN401 - rows of any type
    """Return the number of users of an update."""
    rows = predictions if truth is None else truth
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _first_users(argument: Any, users: int) -> Any:  # noqa: ANN401 - rows of any type
    """Return the rows of the first users."""
    if argument is None:
        return None
    try:
        return argument[:users]
    except (TypeError, KeyError) as error:
        raise type_error(
            "num_users", "rows that can be cut, such as tensors and lists", type(argument).__name__
        ) from error


def _has_rows(candidates: Any) -> bool:  # noqa: ANN401 - items of all users, or a row for each
    if hasattr(candidates, "ndim"):
        return bool(candidates.ndim > 1)
    return isinstance(candidates, list | tuple) and any(not isinstance(one, int | str) for one in candidates[:1])


def _on_cpu(argument: Any) -> Any:  # noqa: ANN401 - a tensor, or another argument
    return argument.detach().cpu() if isinstance(argument, _torch.Tensor) else argument
