"""The inputs that metrics read: items, and the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._engine.list_checks import warn_of_items_outside
from exactk._inputs.items import Items
from exactk._plan.metrics import evaluation_metrics
from exactk._plan.values import reads_items
from exactk._runtime.errors import input_error, type_error, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._plan.values import Value


def items_of_metrics(
    items: object, values: Sequence[Value], columns: ColumnNames, threads: int
) -> CanonicalItems | None:
    """Return the items; None, with a warning, if no metric reads them."""
    table = Items.from_argument(items, columns, threads).table
    if any(map(reads_items, values)):
        warn_of_items_outside(table, values)
        return table
    warn("items has no effect on the requested metrics: leave it out")
    return None


def check_truth_is_not_read(values: Sequence[Value], other_use: str = "") -> None:
    """Raise InputTypeError if a value needs the truth, which is None; `other_use` is what None is for besides."""
    reader = next((value for value in values if _reads_truth(value)), None)
    if reader is None:
        return
    others = ", ".join(name for name, info in evaluation_metrics.items() if not info.reads_truth)
    hint = f"None is for {other_use}metrics of the lists alone: {others}"
    raise type_error("truth", f"the relevant items of each user, which {reader.spelling} needs", "None", hint=hint)


def check_base_is_not_read(values: Sequence[Value]) -> None:
    """Raise InputError if a value needs base predictions, which only a call of `exactk.evaluate` takes."""
    reader = next((value for value in values if value.info.reads_base), None)
    if reader is not None:
        hint = "exactk.evaluate(..., base_predictions=...) computes it"
        raise input_error("metrics", "metrics that need no base predictions", reader.spelling, hint=hint)


def _reads_truth(value: Value) -> bool:
    counts_users = value.info.of_collection and value.rules["list_users"] == "users"  # who have relevant items
    return value.info.reads_truth or counts_users
