"""The arguments of a call, whatever the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._runtime.errors import input_error, type_error
from exactk._sharded.shard_plan import Schemas

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._sharded.shard_plan import ShardPlan


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
        return Schemas(truth, systems, *map(of_argument, ("exclude", "weights", "groups")))

    def of_sides(self, shard_plan: ShardPlan) -> list[Any]:
        """Return the frame of each side of the plan."""
        return [
            self.systems[side.system] if side.argument == "predictions" else getattr(self, side.argument)
            for side in shard_plan.sides
        ]


def check_systems(systems: object) -> None:
    """Raise InputTypeError for anything but a mapping with a system, whose frames are checked later."""
    if not isinstance(systems, Mapping) or not systems:
        raise type_error("systems", "a mapping from each system's name to its data frame", repr(systems))


def check_num_buckets(num_buckets: object) -> int:
    """Return the number of buckets; raise InputError for anything but an integer from 1 on."""
    if type(num_buckets) is not int or num_buckets < 1:
        raise input_error("num_buckets", "an integer from 1 on", repr(num_buckets))
    return num_buckets
