"""Mappings from user to a sequence or set of items, or to items with grades or scores."""

from __future__ import annotations

from itertools import islice
from numbers import Integral, Number
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs import long_format
from exactk._inputs.checks import entries_of
from exactk._inputs.containers import sequences
from exactk._inputs.keys import column_roles, columns
from exactk._inputs.ways_on import split
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.rows import Rows


_PAIR = 2  # parts of a key that may be a user and an item


def rows_of_mapping(value: Mapping[Any, Any], argument: str, encoding: Encoding) -> Rows:
    """Return the rows, with the vocabulary of their users."""
    value = entries_of(value, argument)
    if _has_one_item_each(value) and argument in {"truth", "exclude"}:
        value = {user: None if item is None else [item] for user, item in value.items()}
    elif sequences.is_item(next((content for content in value.values() if content is not None), None)):
        hint = f"{argument}={{user: [item] for user, item in {argument}.items()}}"
        if all(isinstance(user, tuple) and len(user) == _PAIR for user in value):
            hint = f"pandas.Series({argument}) has a value for each user and item, if these are the keys"
        elif all(isinstance(items, str) and split(items) for items in value.values()):
            way = split(next(iter(value.values())))
            hint = f"{argument}={{user: {way} for user, items in {argument}.items()}} if each string holds several"
        raise type_error(argument, "the items of each user", "a single item instead of a list", hint=hint)
    if column_roles.name_columns(islice(value, sequences.MOST_COLUMNS)):
        hint = f"pandas.DataFrame({argument}) makes a data frame of them"
        raise type_error(argument, "the items of each user", "columns of users and items", hint=hint)
    users = columns.key_columns(list(value), f"{argument}.user")
    labels = ["user"] if len(users) == 1 else [f"user_{part}" for part in range(len(users))]
    rows = sequences.rows_of_lists(list(value.values()), argument, encoding, is_keyed=True)
    return long_format.rows_by_user(users, labels, rows, argument, encoding)


def _has_one_item_each(value: Mapping[Any, Any]) -> bool:
    """Return whether each user has one item, as in leave-one-out evaluation, and not a number that cannot be one."""
    if sequences.is_row(next(iter(value.values()), None)):
        return False
    items = [item for item in value.values() if item is not None]
    types = set(map(type, items))
    are_numbers = any(issubclass(one, (Number, np.generic)) and not _is_integer_type(one) for one in types)
    return bool(items) and not are_numbers and not any(map(sequences.is_row, items))


def _is_integer_type(one: type) -> bool:
    return issubclass(one, Integral) and not issubclass(one, bool)
