"""The functions of `exactk.spark`, `exactk.dask` and `exactk.ray`, over what an engine does: five functions of a module."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, TypeVar, cast

from exactk._compare import compare
from exactk._evaluate import evaluate, takes_options, with_defaults
from exactk._plan.metric_strings import DEFAULT_METRICS
from exactk._report.comparison_options import ComparisonOptions
from exactk._runtime.errors import input_error, type_error
from exactk._sharded.buckets import Bucket
from exactk._sharded.reduction import comparison_of_buckets, report_of_buckets
from exactk._sharded.shard_plan import Inputs, plan_shards
from exactk._sharded.worker import result_of_no_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from exactk._inference.significance import Alternative
    from exactk._inputs.items import CatalogueLike
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._plan.conventions import ConventionLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.comparison import Comparison
    from exactk._report.comparison_options import Adjustment, Family, MarginLike, Missing, RunsLike
    from exactk._report.report import Report
    from exactk._sharded.shard_plan import ShardPlan

Frame = TypeVar("Frame")
Planner: TypeAlias = "Callable[[Inputs], ShardPlan]"
"""What makes the plan of the schemas of all inputs."""


class FrameOptions(TypedDict, Generic[Frame], total=False):
    """The keyword arguments of the functions of engines, for type checkers."""

    convention: ConventionLike
    exclude: Frame | None
    candidates: Frame | None
    base_predictions: Frame | None
    weights: Frame | str | None
    groups: Frame | str | None
    items: CatalogueLike | None
    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None
    grade: str | None
    unit_names: tuple[str, str] | None
    num_buckets: int | None
    threads: int


class FrameComparisonOptions(FrameOptions[Frame], total=False):
    """The keyword arguments of their function `compare`, for type checkers."""

    baseline: str | None
    test: Literal["t", "sign"]
    alternative: Alternative
    confidence: float
    adjust: Adjustment
    family: Family
    margin: MarginLike | None
    missing: Missing
    runs: RunsLike | None


class Engine(Protocol):
    """A module of an engine, which has its frames in buckets of users."""

    def planned_buckets(self, inputs: Inputs, plan: Planner, num_buckets: int | None) -> Buckets:
        """Return the rows of all inputs; raise what the types of the columns and the workers show."""

    def state_frame(self, buckets: Buckets) -> Any:  # noqa: ANN401 - the engine's
        """Return the state of each bucket with its number, as the fields of `Bucket`, lazily."""

    def user_frame(self, buckets: Buckets) -> Any:  # noqa: ANN401 - the engine's
        """Return the values of the users of each bucket, lazily."""

    def collect(self, states: Any, tasks: int | None) -> list[Bucket]:  # noqa: ANN401 - the engine's
        """Return the states as they are, for 0 tasks, or sums of them and each error.

        So many tasks add them before one adds all; None, of a frame from outside: as the engine divides it.
        """

    def column_names(self, frame: Any, argument: str) -> Sequence[str]:  # noqa: ANN401 - whatever a caller gives
        """Return the names of a frame's columns; raise InputTypeError for anything but a frame of the engine."""


class Buckets(NamedTuple):
    """The rows of all inputs, to be evaluated."""

    shard_plan: ShardPlan
    rows: Any  # the engine's
    num_buckets: int


def check_num_buckets(num_buckets: object) -> int:
    """Return the number of buckets; raise InputError for anything but an integer from 1 on."""
    if type(num_buckets) is not int or num_buckets < 1:
        raise input_error("num_buckets", "an integer from 1 on", repr(num_buckets))
    return num_buckets


class FrameFunctions(Generic[Frame]):
    """The functions of an engine. Each becomes a function of its module, with its options, names and types of frames."""

    def __init__(self, engine: Engine, module: str, frame: str) -> None:
        """Take the engine, and the names of its module and of the type of its frames."""
        self._engine, self._module = engine, module
        sources: list[Callable[..., Any]] = []
        for name in ("evaluate", "compare", "states", "per_user", "merge"):
            function = _function(getattr(self, name), module, frame, sources)
            sources = sources or [function]  # evaluate, whose docstring the others take theirs from
            setattr(self, name, function)

    def evaluate(
        self,
        truth: Frame,
        predictions: Frame,
        metrics: MetricsLike = DEFAULT_METRICS,
        **options: Unpack[FrameOptions[Frame]],
    ) -> Report:
        """Evaluate the predictions of one system against the truth.

        Parameters
        ----------
        truth : Frame
            The relevant items: one row per user and item, with or without a column of grades, or one row per user with a
            list of items.
        predictions : Frame
            The lists, in one of these forms:

            - one row per user and item, with a score (higher is better) or a rank;
            - one row per user with a list of items, best first;
            - one row per user with a list of structs of item and score, such as Spark's ``recommendForAllUsers`` returns.
        metrics
            States of metrics of all lists together, such as ``coverage``, have a count per item; tasks
            add them before the driver does.
        convention
            Rows have no order, so that ``ties="input_order"`` needs lists of items.
        exclude : Frame, optional
            Items to remove from each user's list, such as training items: one row per user and item.
        candidates : Frame, optional
            The items that may be ranked for each user: one row per user and item.
        base_predictions : Frame, optional
            The predictions of another system, as `predictions`, that ``unexpectedness`` compares the lists with.
        weights, groups : Frame or str, optional
            The weight or the group of each user: a frame with the user columns and one other column, or the name of a
            column of the truth that has the same value in all rows of a user.
        items
            They are sent to every worker.
        user, item, score, rank, grade : str, optional
            Column names in all frames alike, as in `exactk.evaluate`; without them, usual names are detected. Users and
            items are integers of any width or strings. Users may have several columns.
        num_buckets : int, optional
            The number of buckets of users. By default it is Spark's ``spark.sql.shuffle.partitions``, the number of
            partitions of all frames of Dask, or ``ray.data.DataContext.default_hash_shuffle_parallelism``. A task holds
            the rows of one bucket in memory, about three times the size of their Arrow tables; 2 million rows per bucket
            take about 200 MB.
        threads : int
            The number of threads per task. More than the engine gives a task, such as Spark's ``spark.task.cpus``,
            compete with other tasks.

        Returns
        -------
        Report
            Its values, counts and state equal those of `exactk.evaluate`. It has no users: `per_user` returns their values.

        Raises
        ------
        InputError, InputTypeError
            If an argument is invalid. What the types of the columns show is raised before the rows are moved; other
            messages name a user, and how many buckets have a fault.
        ImportError
            If the Python of the workers lacks exactk, or has another version of it.

        Warns
        -----
        EvaluationWarning
            As `exactk.evaluate` warns, once, on the driver.

        Examples
        --------
        >>> import exactk.spark
        >>> exactk.spark.evaluate(truth, predictions, "ndcg@10")["ndcg@10"]  # doctest: +SKIP
        """
        buckets = self._buckets(truth, {"": predictions}, metrics, **options)
        return report_of_buckets(self._collected(buckets))

    def compare(
        self,
        truth: Frame,
        systems: Mapping[str, Frame],
        metrics: MetricsLike = DEFAULT_METRICS,
        **options: Unpack[FrameComparisonOptions[Frame]],
    ) -> Comparison:
        """Evaluate several systems on one truth, and test how they differ.

        The driver gets exact sums over each pair of systems, so that differences, intervals and p-values equal those of
        `exactk.compare`, bit for bit.

        Parameters
        ----------
        systems : mapping from str to Frame
            The predictions of each system by its name, as in `evaluate`.
        test : {"t", "sign"}
            The test behind the p-values. Others need the values of all users in one place.
        confidence
            Intervals are those of ``interval="t"``.
        adjust : {"holm", "benjamini_hochberg", "bonferroni", "none"}
            How p-values are adjusted for the other comparisons of their family, as in `exactk.compare`. Its ``"max_t"``
            needs the values of all users in one place.

        Returns
        -------
        Comparison
            Its values and differences equal those of `exactk.compare`.

        Examples
        --------
        >>> import exactk.spark
        >>> systems = {"popularity": popularity, "als": predictions}  # doctest: +SKIP
        >>> exactk.spark.compare(truth, systems, "ndcg@10").differences  # doctest: +SKIP
        """
        of_systems, given = cast("object", systems), cast("Mapping[str, Any]", options)
        if not isinstance(of_systems, Mapping) or not of_systems:  # their frames are checked later
            raise type_error("systems", "a mapping from each system's name to its data frame", repr(systems))
        of_frames = {name: option for name, option in given.items() if name in FrameOptions.__annotations__}
        how = ComparisonOptions(**{name: option for name, option in given.items() if name not in of_frames})
        buckets = self._buckets(truth, systems, metrics, how, **of_frames)
        return comparison_of_buckets(self._collected(buckets))

    def states(
        self,
        truth: Frame,
        predictions: Frame,
        metrics: MetricsLike = DEFAULT_METRICS,
        **options: Unpack[FrameOptions[Frame]],
    ) -> Frame:
        """Return a lazy frame with the state of each bucket, to keep and to `merge` later.

        States of different users, such as those of several days with different queries, can be united before they are merged.

        Returns
        -------
        Frame
            The columns ``bucket``, ``state`` (bytes of `exactk.State.to_bytes`), ``facts`` (what warnings need, as JSON) and
            ``error``. Buckets without rows are left out.

        Examples
        --------
        >>> import exactk.spark
        >>> monday = exactk.spark.states(truth, predictions, "ndcg@10")  # doctest: +SKIP
        """
        states: Frame = self._engine.state_frame(self._buckets(truth, {"": predictions}, metrics, **options))
        return states

    def per_user(
        self,
        truth: Frame,
        predictions: Frame,
        metrics: MetricsLike = DEFAULT_METRICS,
        **options: Unpack[FrameOptions[Frame]],
    ) -> Frame:
        """Return a lazy frame with the values of each user.

        Returns
        -------
        Frame
            The user columns of the truth, and a column of doubles per value, named as it is spelled. A user without a value
            has null (of Dask: NaN), which means of columns leave out: one who is not evaluated, or whose value is NaN by
            ``undefined="nan"``.

        Examples
        --------
        >>> import exactk.spark
        >>> values = exactk.spark.per_user(truth, predictions, "ndcg@10")  # doctest: +SKIP
        """
        values: Frame = self._engine.user_frame(self._buckets(truth, {"": predictions}, metrics, **options))
        return values

    def merge(self, frame: Frame) -> Report:
        """Return the report of the states of a frame that `states` returned, or of a union of several.

        Parameters
        ----------
        frame : Frame
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
        >>> import exactk.spark
        >>> monday = exactk.spark.states(truth, predictions, "ndcg@10")  # doctest: +SKIP
        >>> report = exactk.spark.merge(monday)  # doctest: +SKIP
        """
        missing = {*Bucket._fields} - {*self._engine.column_names(frame, "frame")}
        if missing:
            raise input_error("frame", f"the columns of {self._module}.states", f"no {', '.join(sorted(missing))}")
        results = self._engine.collect(frame, None)
        if not results:
            raise input_error("frame", "at least one state", "none")
        return report_of_buckets(results)

    def _buckets(
        self,
        truth: object,
        systems: Mapping[str, object],
        metrics: MetricsLike,
        comparison: ComparisonOptions | None = None,
        *,
        convention: ConventionLike,
        exclude: object,
        candidates: object,
        base_predictions: object,
        weights: object,
        groups: object,
        items: CatalogueLike | None,
        unit_names: tuple[str, str] | None,
        num_buckets: int | None = None,
        threads: int = 1,
        **columns: Unpack[ColumnNames],
    ) -> Buckets:
        """Return the rows of all inputs, to be evaluated. What `exactk.evaluate` has no default of has one here."""
        inputs = Inputs(truth, systems, exclude, candidates, base_predictions, weights, groups)

        def plan(schemas: Inputs) -> ShardPlan:
            return plan_shards(schemas, metrics, convention, columns, items, threads, comparison, unit_names)

        return self._engine.planned_buckets(inputs, plan, num_buckets)

    def _collected(self, buckets: Buckets) -> list[Bucket]:
        """Return the states of all buckets, or sums of them; those with a count per item after tasks have added them."""
        adds = buckets.shard_plan.has_item_tallies or buckets.num_buckets > _MOST_STATES
        tasks = math.isqrt(buckets.num_buckets) if adds else 0
        states = self._engine.collect(self._engine.state_frame(buckets), tasks)
        return states or [result_of_no_rows(buckets.shard_plan)]


_MOST_STATES = 1000  # that the driver adds


def _function(
    method: Callable[..., Any], module: str, frame: str, sources: Sequence[Callable[..., Any]]
) -> Callable[..., Any]:
    """Return a method as a function of a module, with all its options, and with the type of the module's frames."""
    of_comparison = [compare] if method.__name__ == "compare" else []
    kind = FrameComparisonOptions if of_comparison else FrameOptions
    takes_none = method.__name__ == "merge"

    @wraps(method)
    def function(*arguments: object, **options: object) -> object:
        return method(*arguments, **(options if takes_none else with_defaults(options, function, kind)))

    def adapted(text: Any) -> Any:  # noqa: ANN401 - text, or nothing
        return re.sub(r"\bFrame\b", frame, text.replace("exactk.spark", module)) if isinstance(text, str) else text

    made: Any = function
    made.__signature__ = signature(method)
    if not takes_none:
        takes_options(kind, *sources, *of_comparison, evaluate, FrameFunctions._buckets)(made)  # noqa: SLF001 - of this module
    shown = signature(made)
    parameters = [one.replace(annotation=adapted(one.annotation)) for one in shown.parameters.values()]
    made.__signature__ = shown.replace(parameters=parameters, return_annotation=adapted(shown.return_annotation))
    made.__module__, made.__qualname__, made.__doc__ = module, method.__name__, adapted(made.__doc__)
    return function
