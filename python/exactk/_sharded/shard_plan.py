"""The plan of an evaluation in buckets: checked once, from the types of the columns, and sent to every worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._compare import check_test
from exactk._engine.chunks import Part
from exactk._engine.core import core_engine
from exactk._engine.pairs import Pairing, core_paired_engine
from exactk._engine.request import align_systems, request_of_arguments
from exactk._engine.systems import ONE_SYSTEM, SEVERAL_SYSTEMS, in_system
from exactk._engine.warnings import Evaluated, warn_of
from exactk._inputs.alignment import ARGUMENT as BASE, naming_base
from exactk._inputs.containers.tables import split_structs
from exactk._inputs.items import Items
from exactk._inputs.keys.column_roles import Columns, user_columns
from exactk._inputs.metric_inputs import with_item_groups
from exactk._inputs.registry import classify
from exactk._plan.conventions import as_convention, with_complete_hint
from exactk._plan.metric_strings import plan, warn_of_unused_fields
from exactk._plan.values import plan_item_tallies
from exactk._runtime.errors import ExactkError, InUnits, input_error, type_error
from exactk._runtime.faults import Option
from exactk._runtime.threads import resolve_threads
from exactk._runtime.unit_names import UnitNames, unit_names_of_call
from exactk._sharded.sides import Side, check_kinds, named_tables, side_of_schema, values_of_truth, without_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from exactk._engine.request import Request
    from exactk._inputs.items import CatalogueLike
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._plan.conventions import Convention, ConventionLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._plan.values import Plan, Value
    from exactk._report.comparison_options import ComparisonOptions


_LISTS = ("exclude", "candidates", BASE)
"""The arguments that have items of users, beside the predictions."""


class Inputs(NamedTuple):
    """The frames of a call, or the Arrow schema of each. Weights and groups may be the name of a column of the truth."""

    truth: Any
    systems: Mapping[str, Any]
    exclude: Any = None
    candidates: Any = None
    base_predictions: Any = None
    weights: Any = None
    groups: Any = None

    def schemas(self, schema_of: Callable[[Any, str], Any]) -> Inputs:
        """Return the Arrow schema of each frame, from a function of the frame and its argument."""

        def of_argument(argument: str) -> Any:  # noqa: ANN401 - pyarrow has no types
            value = getattr(self, argument)
            is_column = isinstance(value, str) and argument in {"weights", "groups"}
            return value if value is None or is_column else schema_of(value, argument)

        truth = schema_of(self.truth, "truth")
        systems = {name: schema_of(frame, "predictions") for name, frame in self.systems.items()}
        return Inputs(truth, systems, *map(of_argument, self._fields[2:]))

    def of_sides(self, sides: Sequence[Side]) -> list[Any]:
        """Return the frame of each side of a plan."""
        return [
            self.systems[side.system] if side.argument == "predictions" else getattr(self, side.argument)
            for side in sides
        ]


@dataclass(frozen=True)
class ShardPlan:
    """What a worker needs besides rows. It can be pickled."""

    metrics: MetricsLike
    convention: Convention
    columns: ColumnNames
    sides: tuple[Side, ...]
    of_truth: Mapping[str, str]  # weights and groups that are columns of the truth
    items: Items | None
    num_threads: int
    comparison: ComparisonOptions | None = None  # of several systems
    unit_names: UnitNames | None = None

    @property
    def values(self) -> Plan:
        """The requested values."""
        return with_item_groups(plan(self.metrics, self.convention), None if self.items is None else self.items.table)

    @property
    def has_item_tallies(self) -> bool:
        """Whether states have a count per item, which an engine should add before the driver does."""
        return bool(plan_item_tallies(self.values))

    def request(self, tables: Sequence[Any], *, per_user: bool = False) -> Request:
        """Return the request to evaluate the tables, one per side."""
        split = [split_structs(table, side.role) for side, table in zip(self.sides, tables, strict=True)]
        named = dict(named_tables(self.sides, split))
        for argument, column in self.of_truth.items():
            users = user_columns(Columns(named["truth"].column_names), self.columns.get("user"), "truth")
            named[argument] = values_of_truth(named["truth"], users, column, argument)
        named["truth"] = without_values(named["truth"], self.of_truth.values(), self.columns)
        options = {name: named.get(name) for name in (*_LISTS, "weights", "groups")}
        values = self.values
        form, predictions, pairing = ONE_SYSTEM, named["systems"].get(""), None
        if self.comparison is not None:
            form, predictions = SEVERAL_SYSTEMS, named["systems"]
            pairing = Pairing(core_paired_engine, self.comparison)
        classified = classify(predictions, form.argument)
        try:
            return request_of_arguments(
                core_engine,
                form,
                named["truth"],
                classified,
                values,
                self.convention,
                per_user=per_user,
                num_threads=self.num_threads,
                items=self.items,
                pairing=pairing,
                **options,
                **self.columns,
            )
        except ExactkError as error:
            raise with_complete_hint(error, self.convention, values) from error.__cause__


def plan_shards(
    schemas: Inputs,
    metrics: MetricsLike,
    convention: ConventionLike,
    columns: ColumnNames,
    items: CatalogueLike | None,
    num_threads: int,
    comparison: ComparisonOptions | None = None,
    unit_names: object = None,
) -> ShardPlan:
    """Return the plan; raise or warn about anything that the types of the columns show.

    Raises
    ------
    InputError, InputTypeError
        If the arguments are invalid for rows of any values, or the result would depend on the order of rows.
    """
    convention = as_convention(convention)
    with InUnits(unit_names, convention.name):
        shard_plan = _plan_shards(schemas, metrics, convention, columns, items, num_threads, comparison)
        return replace(shard_plan, unit_names=unit_names_of_call())


def _plan_shards(
    schemas: Inputs,
    metrics: MetricsLike,
    convention: Convention,
    columns: ColumnNames,
    items: CatalogueLike | None,
    num_threads: int,
    comparison: ComparisonOptions | None,
) -> ShardPlan:
    if isinstance(metrics, Iterator):
        metrics = list(metrics)
    values = plan(metrics, convention)
    if comparison is not None:
        _check_comparison(comparison, convention, values, schemas)
    warn_of_unused_fields(convention, values)
    threads = resolve_threads(num_threads)
    table = None if items is None else Items.from_argument(items, columns, threads)
    of_truth = {
        argument: column
        for argument, column in (("weights", schemas.weights), ("groups", schemas.groups))
        if isinstance(column, str)
    }
    for argument, column in of_truth.items():
        if column not in schemas.truth.names:
            raise input_error(argument, "the name of a column of the truth", repr(column))
        if column in user_columns(Columns(schemas.truth.names), columns.get("user"), "truth"):
            raise input_error(argument, "a column of the truth other than those of users", repr(column))
    inputs = [
        ("truth", "", schemas.truth),
        *(("predictions", system, schema) for system, schema in schemas.systems.items()),
        *((name, "", getattr(schemas, name)) for name in _LISTS),
        *((name, "", getattr(schemas, name)) for name in ("weights", "groups") if name not in of_truth),
    ]
    given = [(argument, system, schema) for argument, system, schema in inputs if schema is not None]
    sides = tuple(
        _side_of_schema(
            number,
            argument,
            schema,
            columns,
            system=system,
            beside=of_truth.values() if argument == "truth" else (),
        )
        for number, (argument, system, schema) in enumerate(given)
    )
    _check_order(convention, values, sides, columns)
    shard_plan = ShardPlan(metrics, convention, columns, sides, of_truth, table, threads, comparison)
    empty = [side.schema.empty_table() for side in sides]
    request = shard_plan.request(empty)
    chunk = align_systems(request)  # raises as for frames of these columns
    warn_of(Evaluated(Part({}, chunk.of_truth), convention))
    split = [split_structs(one, side.role) for side, one in zip(sides, empty, strict=True)]
    check_kinds(sides, split, columns)
    return shard_plan


def _side_of_schema(number: int, argument: str, schema: Any, columns: ColumnNames, **parts: Any) -> Side:  # noqa: ANN401 - those of `side_of_schema`
    if argument != BASE:
        with in_system(parts["system"]):
            return side_of_schema(number, argument, schema, columns, **parts)
    with naming_base():
        return side_of_schema(number, "predictions", schema, columns, **parts)._replace(argument=BASE)


def _check_comparison(
    comparison: ComparisonOptions, convention: Convention, values: Sequence[Value], schemas: Inputs
) -> None:
    """Raise InputError for an option that cannot be, or that needs more than the sums over pairs of systems."""
    comparison.check_systems(list(schemas.systems))
    comparison.checked_margins(convention, values)
    check_test(comparison, clusters=False, weights=schemas.weights is not None)
    if comparison.needs_users:
        hint = "exactk.compare_reports of reports with per_user=True computes it on one machine"
        name, found = ("test", comparison.test) if comparison.interval == "t" else ("interval", comparison.interval)
        raise input_error(name, "a test and an interval of the sums over users", repr(found), hint=hint)


def _check_order(convention: Convention, values: Sequence[Value], sides: Sequence[Side], columns: ColumnNames) -> None:
    """Raise InputError if ties are broken by the order of rows, which data frames of engines do not have."""
    has_rows = any(side.role == "predictions" and side.has_item_column for side in sides)
    by_order = next((value for value in values if value.rules["ties"] == "input_order"), None)
    if by_order is not None and has_rows and columns.get("rank") is None:
        expected = "an order of ties that does not depend on the order of rows"
        found = f"ties='input_order' of {by_order.spelling}"
        hint = ("give one row per user, with an array of items, or ", Option("convention", {"ties": "lowest_id"}))
        raise with_complete_hint(type_error("convention", expected, found, hint=hint), convention, values)
