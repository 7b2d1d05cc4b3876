"""The judged lists of some users, from an engine's cells and the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._engine.problem import presence_of
from exactk._report.judged_lists import JudgedLists

if TYPE_CHECKING:
    from exactk._engine.problem import JudgedCells
    from exactk._inputs.alignment import AlignedInputs


class JudgedRows:
    """What the inputs say of all users."""

    def __init__(self, inputs: AlignedInputs) -> None:
        self._in_truth, self._has_list = presence_of(inputs.truth), presence_of(inputs.predictions)
        self._item_keys, self._users = inputs.item_keys, inputs.user_array
        if inputs.row_users is not None:
            keys, codes = inputs.row_users
            self._users = keys.array[codes]

    def lists(self, cells: JudgedCells, block: range) -> JudgedLists:
        """Return the lists of these users."""
        some = slice(block.start, block.stop)
        return JudgedLists(
            *cells,
            in_truth=self._in_truth[some].copy(),  # a view would keep all users as long as the block
            has_list=self._has_list[some].copy(),
            users=None if self._users is None else self._users[some].copy(),
            item_keys=self._item_keys,
            first_user=block.start,
        )
