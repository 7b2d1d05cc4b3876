"""The best items of each user, as `exactk.topk` returns them: rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactk import _core
from exactk._inputs import long_format
from exactk._inputs.checks import as_ndarray, id_array
from exactk._inputs.containers.neighbor_lists import NeighborLists, check_order, check_shape
from exactk._inputs.keys.columns import column_of_array, column_of_objects
from exactk._inputs.model.rows import matrix_rows
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.top_k import TopK


def rows_of_top_k(value: TopK, argument: str, encoding: Encoding) -> Rows:
    """Return the rows of items, best first, with the vocabularies of their keys."""
    scores = np.nan_to_num(as_ndarray(value.scores, argument), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    ids, vocabulary = as_ndarray(value.items, argument), None
    if ids.dtype == object:
        filled = value.filled
        items = column_of_objects(ids[filled].tolist(), f"{argument}.item")
        codes, keys = long_format.encode_items(items, f"{argument}.item", encoding)
        ids = np.full(ids.shape, -1, np.int64)
        ids[filled] = codes
        vocabulary = None if keys is None else keys.snapshot()
    ids = id_array(ids, argument, dimensions=2)
    check_shape(ids, scores, argument)
    lists = NeighborLists(ids, scores, _core.padded_lengths(ids, argument))
    check_order(lists, argument)
    rows = matrix_rows(ids, lists.lengths)._replace(item_vocabulary=vocabulary)
    if value.users is None:
        return rows
    users = as_ndarray(value.users, f"{argument}.users")
    if len(users) != len(ids):
        raise input_error(f"{argument}.users", f"one key for each of {len(ids)} rows", str(len(users)))
    names = users.dtype.names
    parts = [users] if names is None else [users[name] for name in names]
    columns = [column_of_array(part, f"{argument}.users") for part in parts]
    return long_format.rows_by_user(columns, list(names or ("user",)), rows, argument, encoding)
