"""Whether the index of a pandas part of `exactk.Items` has its items, or labels of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.values_by_item import has_items_in_index
from exactk._runtime import optional
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.keys.item_keys import ItemKeys


def check_labels_are_items(
    part: Any,  # noqa: ANN401 - of any library
    argument: str,
    catalogue: object,
    keys: ItemKeys,
    positions: NDArray[np.int64],
) -> None:
    """Raise InputError if the index of a part may have items, and may as well have the labels of the catalogue's rows.

    `keys` are the items of the `catalogue` in ascending order, and `positions` are those of its entries among them.
    """
    if optional.is_series(part) and optional.is_default_index(part.index):
        _check_numbered_rows(argument, keys, positions)
    elif optional.is_series(catalogue) and _may_have_items_in_index(part) and _has_labels_of(part.index, catalogue):
        _raise_shared_labels(part, argument)


def _check_numbered_rows(argument: str, keys: ItemKeys, positions: NDArray[np.int64]) -> None:
    """Raise InputError if numbers of rows may be items, and are not those of the same rows of the catalogue."""
    numbers = np.arange(len(keys))
    are_numbers = keys.integers is not None and np.array_equal(keys.integers, numbers)
    if keys.integers is None or (are_numbers and np.array_equal(positions, numbers)):
        return
    expected = "items in the index, or values beside the catalogue without an index"
    found = "the default index of pandas, whose numbers could be items"
    hint = (
        f"{argument}={argument}.to_numpy() is beside the catalogue, {argument}={argument}.to_dict() has items as keys"
    )
    raise input_error(argument, expected, found, hint=hint)


def _may_have_items_in_index(part: Any) -> bool:  # noqa: ANN401 - of any library
    if optional.is_series(part):
        return bool(part.index.nlevels == 1)
    return optional.is_pandas(part) and part.index.nlevels == 1 and has_items_in_index(part)


def _has_labels_of(index: Any, catalogue: Any) -> bool:  # noqa: ANN401 - of pandas
    """Return whether all labels are those of rows of the catalogue with other items."""
    names_items = isinstance(index.name, str) and (index.name == catalogue.name or usual_role(index.name) == "item")
    if names_items or catalogue.index.nlevels > 1 or not index.isin(catalogue.index).all():
        return False
    if not catalogue.index.is_unique:
        return True
    return bool(catalogue.reindex(index).tolist() != index.tolist())


def _raise_shared_labels(part: Any, argument: str) -> None:  # noqa: ANN401 - of pandas
    if optional.is_series(part):
        beside = f"{argument}=dict(zip(catalogue[{argument}.index], {argument}))"
        by_item = f"{argument}={argument}.to_dict()"
    else:
        beside = f"{argument}={argument}.assign(item=catalogue)"
        by_item = f"{argument}={argument}.rename_axis('item')"
    expected = "an index of items, or no index"
    found = "labels of the catalogue's rows"
    hint = f"{beside} takes the items of these rows, {by_item} reads the labels as items"
    raise input_error(argument, expected, found, hint=hint)
