"""The clusters of the users of a comparison, numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.key_lists import encode_row_keys
from exactk._inputs.paths import names_file
from exactk._inputs.user_values import Clusters
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.keys.column_roles import ColumnNames


class BlockClusters(NamedTuple):
    """The cluster of each user of a block: its number, and the hash of its label."""

    codes: NDArray[np.int64]
    hashes: NDArray[np.uint64]


class ClusterCodes:
    """Numbers the clusters of blocks of users."""

    def __init__(self, clusters: object, columns: ColumnNames) -> None:
        self.container, self._columns = clusters, columns
        self._values: Clusters | None = None
        self._row = 0  # the first of the next block
        self._seen: set[Any] = set()

    def of_users(self, users: NDArray[Any]) -> BlockClusters:
        """Return the cluster of each user. Raise InputError if a cluster was in an earlier block."""
        labels, codes = np.unique(self._labels(users), return_inverse=True)
        for label in labels.tolist():
            if label in self._seen:
                raise input_error("clusters", "the users of a cluster in one block", f"{label!r} in several")
        self._seen.update(labels.tolist())
        self._row += len(users)
        keys, key_codes = encode_row_keys(labels, "clusters", len(labels), "cluster")
        return BlockClusters(codes.astype(np.int64), keys.hashes[key_codes][codes])

    def _labels(self, users: NDArray[Any]) -> NDArray[Any]:
        names = users.dtype.names
        if isinstance(self.container, str) and names is not None:
            if self.container not in names:
                raise input_error("clusters", f"one of the user columns {', '.join(names)}", repr(self.container))
            column: NDArray[Any] = users[self.container]
            return column
        if isinstance(self.container, str) and self._values is None and not names_file(self.container):
            expected = (
                "a cluster of each user: a mapping, a Series, a data frame, or a column of users of several columns"
            )
            hint = f"such as user=[{self.container!r}, 'session'], so that the users are the sessions"
            raise type_error("clusters", expected, repr(self.container), hint=hint)
        if self._values is None:
            self._values = Clusters.from_argument(self.container, self._columns)
        return self._values.of_users(users, self._row)
