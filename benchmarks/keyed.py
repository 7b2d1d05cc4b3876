"""Workloads of lists whose users and items have keys: frames of rows in any order, mappings, lists of lists.

The arrays are those of lists of the same description, so that what is expected is what these give. Each
contestant builds its own container from them, which is not timed; that it is read is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.lists import Lists
from benchmarks.workload import SEED, Data

COLUMNS = ("user_id", "item_id", "score")


class LongFormat(NamedTuple):
    """A row for each user and item, in any order. No two scores of a user are equal."""

    users: NDArray[Any]
    items: NDArray[Any]
    scores: NDArray[np.float64] | None = None  # of predictions alone

    def columns(self) -> dict[str, Any]:
        """Return the columns by name; strings as a list, which every library takes."""
        arrays = (column for column in self if column is not None)
        return {
            name: column.tolist() if column.dtype.kind == "U" else column
            for name, column in zip(COLUMNS, arrays, strict=False)
        }

    def group_by_user(self) -> LongFormat:
        """Return the rows user by user, those of a user still in any order."""
        order = np.argsort(self.users, kind="stable")
        scores = None if self.scores is None else self.scores[order]
        return LongFormat(self.users[order], self.items[order], scores)

    def mapping(self) -> dict[Any, dict[Any, Any]]:
        """Return what each user has: items with scores, or with 1, which is their grade.

        What a user has lies together in memory, as it does if it was made, or read, user by user.
        """
        users, items, scores = self.group_by_user()
        values = [1] * len(items) if scores is None else scores.tolist()
        by_user: dict[Any, dict[Any, Any]] = {}
        for user, item, value in zip(users.tolist(), items.tolist(), values, strict=True):
            by_user.setdefault(user, {})[item] = value
        return by_user


@dataclass(frozen=True)
class Keyed(Lists):
    """An evaluation of ranked lists that come in a container."""

    string_keys: bool = False  # users and items are strings, not integers

    def long_format(self, data: Data) -> tuple[LongFormat, LongFormat]:
        """Return the rows of the truth, and those of the predictions, shuffled."""
        generator = np.random.default_rng(SEED)
        user_ids = generator.permutation(self.users)
        truth = LongFormat(np.repeat(user_ids, self.relevant), data.items.astype(np.int64))
        lists = LongFormat(np.repeat(user_ids, self.length), data.predictions.reshape(-1).astype(np.int64))
        below = generator.random(data.predictions.shape) / 2  # two scores in a row differ by more
        scores = (np.arange(self.length, 0, -1) - below).reshape(-1)
        return self._shuffle(truth, generator), self._shuffle(lists._replace(scores=scores), generator)

    def _shuffle(self, rows: LongFormat, generator: np.random.Generator) -> LongFormat:
        order = generator.permutation(len(rows.users))
        users, items = rows.users[order], rows.items[order]
        scores = None if rows.scores is None else rows.scores[order]
        if not self.string_keys:
            return LongFormat(users, items, scores)
        return LongFormat(
            np.strings.add("user_", users.astype("U")), np.strings.add("item_", items.astype("U")), scores
        )
