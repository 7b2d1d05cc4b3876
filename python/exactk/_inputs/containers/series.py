"""Series: lists or one item by user, or a value by user and item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs import long_format
from exactk._inputs.checks import asking
from exactk._inputs.containers import frames, sequences
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.keys.columns import is_missing
from exactk._inputs.keys.series import column_of_series, index_columns
from exactk._inputs.model.rows import Rows
from exactk._runtime import optional
from exactk._runtime.errors import InputError, input_error, type_error
from exactk._runtime.faults import Option, as_text

if TYPE_CHECKING:
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.long_format import Encoding
    from exactk._runtime.faults import Text

_VALUE_ROLES = {"truth": "grade", "predictions": "score", "scores": "score"}
_LISTS_OF_USERS = "{0}.groupby({0}.index).agg(list)"


def rows_of_series(series: Any, argument: str, encoding: Encoding, requested: ColumnNames) -> Rows:  # noqa: ANN401 - of any library
    """Return the rows: users are those of the index, or row numbers without an index or with pandas' default."""
    holds_items = has_one_item_each(series)
    if not has_user_index(series):
        if holds_items:
            raise _item_error(series, argument, f"[[item] for item in {argument}]")
        return sequences.rows_of_lists(elements(series), argument, encoding)
    if holds_items and series.index.nlevels > 1:
        return _rows_of_values(series, argument, encoding, requested)
    users, labels = index_columns(series.index, argument)
    if not holds_items:
        rows = sequences.rows_of_lists(elements(series), argument, encoding)
    elif argument in {"truth", "exclude"}:
        ids, items = long_format.encode_items(
            column_of_series(series, f"{argument}.item"), f"{argument}.item", encoding
        )
        rows = Rows(np.arange(len(ids) + 1), ids, item_vocabulary=None if items is None else items.snapshot())
    else:
        raise _item_error(series, argument, _LISTS_OF_USERS.format(argument))
    try:
        return long_format.rows_by_user(users, labels, rows, argument, encoding)
    except InputError as error:
        if not holds_items or error.fault.hint:
            raise
        hint = f"{argument}={_LISTS_OF_USERS.format(argument)} has a list for each user"
        raise error.amended(hint=as_text(hint)) from None


def has_user_index(series: object) -> bool:
    """Return whether a Series has an index that is not pandas' default."""
    return optional.is_series(series) and not optional.is_default_index(series.index)  # type: ignore[attr-defined]


def has_values_by_user_and_item(series: object) -> bool:
    """Return whether a Series has an index of several levels, whose names are column names."""
    return has_user_index(series) and series.index.nlevels > 1  # type: ignore[attr-defined]


def has_one_item_each(series: Any) -> bool:  # noqa: ANN401 - of any library
    """Return whether the elements are items rather than lists of items, by the first that is not missing."""
    with asking("series", "elements"):
        plain = (element.as_py() if hasattr(element, "as_py") else element for element in series)
        first = next((element for element in plain if not is_missing(element)), None)
    return first is not None and not sequences.is_row(first)


def elements(series: Any) -> list[Any]:  # noqa: ANN401 - of any library
    """Return the elements as a list, with None for those that are missing."""
    if optional.is_series(series):
        return [
            None if is_absent else one for one, is_absent in zip(series.tolist(), series.isna().tolist(), strict=True)
        ]
    with asking("series", "elements"):
        values: list[Any] = series.to_list() if hasattr(series, "to_list") else series.to_pylist()
    return values


def _item_error(series: Any, argument: str, rows: str) -> Exception:  # noqa: ANN401 - of any library
    hint = f"{argument}={rows} has a list for each user"
    found = getattr(series, "dtype", None) or series.type  # pyarrow's name for it
    return type_error(argument, "a Series of lists", f"one of {found}", hint=hint)


def _rows_of_values(series: Any, argument: str, encoding: Encoding, requested: ColumnNames) -> Rows:  # noqa: ANN401 - of pandas
    """Return the rows of values by user and item, which are the levels of the index."""
    names, role = list(series.index.names), _VALUE_ROLES.get(argument, "")
    if names == [None, None]:
        names = ["user", "item"]
    if any(not isinstance(name, str) for name in names):
        hint = f"{argument}={argument}.rename_axis(['user', 'item']) if these are users and items"
        raise input_error(argument, "an index with levels for the user and the item", f"the levels {names}", hint=hint)
    _check_item_level(names, argument, requested)
    name = series.name if role and isinstance(series.name, str) and series.name not in names else role or "grade"
    is_named = usual_role(name) == "rank" or any(requested.get(one) is not None for one in (role, "rank"))
    if role in requested and not is_named:
        requested = {**requested, role: name}  # type: ignore[misc]
    return frames.rows_of_frame(series.rename_axis(names).to_frame(name), argument, encoding, requested)


def _check_item_level(names: list[str], argument: str, requested: ColumnNames) -> None:
    """Raise InputError if all levels may be parts of a user, and the values the items, as in leave-one-out evaluation."""
    user = requested.get("user")
    of_users = [user] if isinstance(user, str) else user or [name for name in names if usual_role(name) == "user"]
    others = [name for name in names if name not in of_users]
    if requested.get("item") is not None or not of_users or any(usual_role(name) == "item" for name in others):
        return
    frame = f"{argument}={argument}.reset_index() is a data frame, if the values are the items"
    hint: Text = (Option("item", others[-1]), " names it, or ", frame) if others else (frame,)
    raise input_error(argument, "a level of the index for the item", f"the levels {names}", hint=hint)
