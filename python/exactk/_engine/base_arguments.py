"""The argument `base_predictions` of an evaluation, and warnings about predictions that do not fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exactk._engine.shared_items import FEWEST_UNKEYED_ITEMS, first_predicted
from exactk._inputs.alignment import in_shared_vocabularies, rows_of_users
from exactk._inputs.base_messages import ARGUMENT, naming_base
from exactk._inputs.conversions import predictions_of
from exactk._inputs.keys.disjoint_keys import NO_EXAMPLES, describe_disjoint
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, reindex
from exactk._inputs.model.scores import SparseScores, predictions_from_rows
from exactk._inputs.readings import warn_of_tuples
from exactk._inputs.registry import BLOCKS, ClassifiedValue, classify
from exactk._plan.metric_strings import as_plan
from exactk._report.state import plan_of_state
from exactk._runtime.errors import type_error, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.scores import Predictions
    from exactk._plan.values import Value
    from exactk._report.report import Report


def classified_base(base: object, values: Sequence[Value]) -> ClassifiedValue:
    """Return the argument; none, with a warning, if no metric reads it. Raise InputTypeError if one lacks it."""
    readers = as_plan(values).readers_of_base
    if not readers:
        if base is not None:
            warn(f"{ARGUMENT} has no effect on the requested metrics: leave it out")
        return ClassifiedValue(None, None)
    if base is None:
        hint = f"{ARGUMENT}= takes them in any container of predictions, such as the most popular items of each user"
        raise type_error(
            ARGUMENT, f"other predictions of the same users, which {readers[0].spelling} needs", "None", hint=hint
        )
    with naming_base():
        classified = classify(base, "predictions")
    if classified.container is BLOCKS:
        raise type_error(ARGUMENT, "predictions in a container", "an iterator, which can be read only once")
    warn_of_tuples(classified, ARGUMENT)
    return classified


def base_for_pieces(base: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Predictions | None:
    """Return the base predictions beside predictions that come piece by piece: lists, or items with scores."""
    if base.value is None:
        return None
    with naming_base():
        predictions = predictions_of(base.value, columns, encoding)
    if not isinstance(predictions, (Rankings, SparseScores)):
        expected = "lists, or items with scores, beside predictions that are read piece by piece"
        hint = f"{ARGUMENT}=exactk.topk({ARGUMENT}, k, exclude) ranks them"
        raise type_error(ARGUMENT, expected, type(base.value).__name__, hint=hint)
    return predictions


def base_of_block(base: Predictions | None, users: range, encoding: Encoding) -> Rows | Predictions | None:
    """Return the base predictions of a block of users: those so far, by key, or by row."""
    if base is None:
        return None
    assert isinstance(base, (Rankings, SparseScores))  # noqa: S101 - `base_for_pieces`
    rows = base.rows()
    if rows.user_vocabulary is not None:
        return rows_of_users(rows, ARGUMENT, encoding)
    rows = reindex(rows, np.array(users, np.int64))
    return (
        predictions_from_rows(rows)
        if rows.item_vocabulary is None
        else in_shared_vocabularies(rows, ARGUMENT, encoding)
    )


def base_in_shared_vocabularies(base: Predictions | None, encoding: Encoding) -> Rows | None:
    """Return the base predictions beside batches as rows, encoded as the truth is."""
    if base is None:
        return None
    assert isinstance(base, (Rankings, SparseScores))  # noqa: S101 - `base_for_pieces`
    return in_shared_vocabularies(base.rows(), ARGUMENT, encoding)


class BaseUse(NamedTuple):
    """How many users and items the base predictions have."""

    users: int = 0  # users with predictions
    users_without_base: int = 0  # among them
    items: int = 0  # of all base lists
    is_keyed: bool = False  # whether items have keys
    users_shown: tuple[str, str] = NO_EXAMPLES  # of both, once none is in both
    items_shown: tuple[str, str] = NO_EXAMPLES  # likewise

    def plus(self, inputs: AlignedInputs, report: Report) -> BaseUse:
        """Return the numbers of these users and of others; the report is theirs."""
        if inputs.base is None:
            return self
        base, size = inputs.base.predictions, len(inputs.truth)
        sides = (inputs.predictions.present, base.present)
        in_predictions, in_base = (np.ones(size, np.bool_) if one is None else one for one in sides)
        is_shorter = len(in_predictions) != size or len(in_base) != size  # which the engine refuses
        users, lacking = int(in_predictions.sum()), 0 if is_shorter else int((in_predictions & ~in_base).sum())
        users_shown, items_shown = self.users_shown, self.items_shown
        if users == lacking > 0 and not any(users_shown):
            keys = base.user_vocabulary  # those of users whom no other input has come last
            example = "" if keys is None or len(keys) <= size else keys.repr_of(size)
            users_shown = example, inputs.user_text(int(np.argmax(in_predictions)))
        elif users > lacking and not any(items_shown) and _is_all_unexpected(report):
            items_shown = first_predicted(inputs.base), first_predicted(inputs)
        return BaseUse(
            self.users + users,
            self.users_without_base + lacking,
            self.items + (len(base.items) if isinstance(base, (Rankings, SparseScores)) else base.item_count),
            self.is_keyed or inputs.base.item_vocabulary is not None,
            users_shown,
            items_shown,
        )


def _is_all_unexpected(report: Report) -> bool:
    return all(report[value.name] == 1 for value in plan_of_state(report.state).readers_of_base)


def describe_base_use(report: Report, use: BaseUse) -> str:
    """Return a warning if users have no base predictions, or these recommend no item of any list."""
    values = plan_of_state(report.state).readers_of_base
    if not values or not use.users:
        return ""
    if use.users_without_base == use.users:
        return describe_disjoint("user", ARGUMENT, "the predictions", use.users_shown)
    if _is_all_unexpected(report) and use.items >= (1 if use.is_keyed else FEWEST_UNKEYED_ITEMS):
        among = f" down to the cutoff of {values[-1].spelling}"
        return describe_disjoint("item", ARGUMENT, "the predictions", use.items_shown, among=among)
    if use.users_without_base:
        count = use.users_without_base
        have, its = ("user has", "its list") if count == 1 else ("users have", "their lists")
        return f"{count} {have} predictions and no base predictions: every item of {its} is unexpected"
    return ""
