"""What `exactk.spark`, `exactk.dask` and `exactk.ray` share: the options of their functions, and what these do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, TypeVar

from exactk._compare import compare
from exactk._evaluate import evaluate, takes_options, with_defaults
from exactk._report.comparison_options import ComparisonOptions
from exactk._runtime.errors import input_error, type_error
from exactk._sharded.reduction import comparison_of_buckets, report_of_buckets
from exactk._sharded.results import Bucket
from exactk._sharded.shard_plan import Schemas, plan_shards
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
Function = TypeVar("Function", bound="Callable[..., Any]")
Planner: TypeAlias = "Callable[[Schemas], ShardPlan]"
"""What makes the plan of the schemas of all inputs."""


class FrameOptions(TypedDict, Generic[Frame], total=False):
    """The keyword arguments of the functions of engines, for type checkers."""

    convention: ConventionLike
    exclude: Frame | None
    weights: Frame | str | None
    groups: Frame | str | None
    items: CatalogueLike | None
    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None
    grade: str | None
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

    __name__: str

    def planned_buckets(self, inputs: Inputs, plan: Planner, num_buckets: int | None) -> Any:  # noqa: ANN401 - the engine's
        """Return the rows of all inputs; raise what the types of the columns and the workers show."""

    def collect_states(self, buckets: Any) -> list[Bucket]:  # noqa: ANN401 - the engine's
        """Return the states of the buckets, or sums of them."""

    def check_frame(self, frame: Any, argument: str) -> None:  # noqa: ANN401 - whatever a caller gives
        """Raise InputTypeError for anything but a frame of the engine."""

    def column_names(self, frame: Any) -> Sequence[str]:  # noqa: ANN401 - the engine's
        """Return the names of a frame's columns."""

    def collect_added(self, states: Any) -> list[Bucket]:  # noqa: ANN401 - the engine's
        """Return the sum of the states of a frame, which tasks add, and each error."""


class Inputs(NamedTuple):
    """The frames of an engine. Weights and groups may be the name of a column of the truth instead."""

    truth: Any
    systems: Mapping[str, Any]
    exclude: Any = None
    weights: Any = None
    groups: Any = None

    def schemas(self, schema_of: Callable[[Any, str], Any]) -> Schemas:
        """Return the Arrow schema of each frame, from a function of the frame and its argument."""

        def of_argument(argument: str) -> Any:  # noqa: ANN401 - pyarrow has no types
            value = getattr(self, argument)
            is_column = isinstance(value, str) and argument in {"weights", "groups"}
            return value if value is None or is_column else schema_of(value, argument)

        truth = schema_of(self.truth, "truth")
        systems = {name: schema_of(frame, "predictions") for name, frame in self.systems.items()}
        return Schemas(truth, systems, *map(of_argument, self._fields[2:]))

    def of_sides(self, shard_plan: ShardPlan) -> list[Any]:
        """Return the frame of each side of the plan."""
        return [
            self.systems[side.system] if side.argument == "predictions" else getattr(self, side.argument)
            for side in shard_plan.sides
        ]


def check_num_buckets(num_buckets: object) -> int:
    """Return the number of buckets; raise InputError for anything but an integer from 1 on."""
    if type(num_buckets) is not int or num_buckets < 1:
        raise input_error("num_buckets", "an integer from 1 on", repr(num_buckets))
    return num_buckets


def planned_evaluation(
    engine: Engine,
    truth: object,
    systems: Mapping[str, object],
    metrics: MetricsLike,
    comparison: ComparisonOptions | None = None,
    *,
    convention: ConventionLike,
    exclude: Frame | None,
    weights: Frame | str | None,
    groups: Frame | str | None,
    items: CatalogueLike | None,
    num_buckets: int | None = None,
    threads: int = 1,
    **columns: Unpack[ColumnNames],
) -> Any:  # noqa: ANN401 - the engine's
    """Return the rows of all inputs, to be evaluated."""
    inputs = Inputs(truth, systems, exclude, weights, groups)

    def plan(schemas: Schemas) -> ShardPlan:
        return plan_shards(schemas, metrics, convention, columns, items, threads, comparison)

    return engine.planned_buckets(inputs, plan, num_buckets)


def evaluate_frames(
    engine: Engine, truth: object, predictions: object, metrics: MetricsLike, options: Mapping[str, Any]
) -> Report:
    """Return the report of one system."""
    buckets = planned_evaluation(engine, truth, {"": predictions}, metrics, **options)
    return report_of_buckets(engine.collect_states(buckets) or [result_of_no_rows(buckets.shard_plan)])


def compare_frames(
    engine: Engine, truth: object, systems: object, metrics: MetricsLike, options: Mapping[str, Any]
) -> Comparison:
    """Return the comparison of several systems."""
    if not isinstance(systems, Mapping) or not systems:  # their frames are checked later
        raise type_error("systems", "a mapping from each system's name to its data frame", repr(systems))
    of_frames = {name: option for name, option in options.items() if name in FrameOptions.__annotations__}
    how = ComparisonOptions(**{name: option for name, option in options.items() if name not in of_frames})
    buckets = planned_evaluation(engine, truth, systems, metrics, how, **of_frames)
    return comparison_of_buckets(engine.collect_states(buckets) or [result_of_no_rows(buckets.shard_plan)])


def merge_frame(engine: Engine, frame: object) -> Report:
    """Return the report of a frame of states."""
    engine.check_frame(frame, "frame")
    missing = {*Bucket._fields} - {*engine.column_names(frame)}
    if missing:
        expected = f"the columns of {engine.__name__.rpartition('.')[0]}.states"
        raise input_error("frame", expected, f"no {', '.join(sorted(missing))}")
    results = engine.collect_added(frame)
    if not results:
        raise input_error("frame", "at least one state", "none")
    return report_of_buckets(results)


def takes_frame_options(*sources: Callable[..., Any]) -> Callable[[Function], Function]:
    """Return a decorator as `takes_options` does, of an engine's function, which gets all options and no others."""

    def decorate(function: Function) -> Function:
        is_comparison = function.__name__ == "compare"
        kind = FrameComparisonOptions if is_comparison else FrameOptions

        @wraps(function)
        def checked(*arguments: object, **options: object) -> object:
            return function(*arguments, **with_defaults(options, checked, kind))

        shown = signature(
            takes_options(kind, *sources, *[compare] * is_comparison, evaluate, planned_evaluation)(checked)
        )
        first, *others = shown.parameters.values()
        others = [one.replace(annotation=re.sub(r"\bFrame\b", first.annotation, one.annotation)) for one in others]
        checked.__signature__ = shown.replace(parameters=[first, *others])  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate
