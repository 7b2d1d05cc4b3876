"""Alignment: truth, predictions and exclusions with rows of the same users and ids of the same items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.keys.vocabulary import KIND_HINT, Vocabulary, vocabulary_of_labels, with_user_key
from exactk._inputs.model.lists import Exclusions, Lists, Rankings, Rows, Truth, reindex
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._runtime.errors import type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes
    from exactk._inputs.model.predictions import Predictions
    from exactk._runtime.errors import ExactkError


@dataclass(frozen=True, eq=False)
class AlignedInputs:
    """The inputs of one evaluation. Users of the truth come first, in its order; others follow."""

    truth: Truth
    predictions: Predictions
    exclude: Exclusions | None
    item_vocabulary: Vocabulary | None = None  # of keyed items
    item_ids: Codes | None = None  # the id of each key, if ids ascend as the keys do and are not the codes
    row_users: tuple[Vocabulary, Codes] | None = None  # where the rows are some users: all users, and those of the rows

    @property
    def is_complete(self) -> bool:
        """Whether the predictions have all that may be ranked, and not the best of it by user and item."""
        return not isinstance(self.predictions, SparseScores) or self.predictions.is_complete

    @property
    def item_keys(self) -> NDArray[Any] | None:
        """The key of each id; None if ids are the caller's."""
        if self.item_vocabulary is None:
            return None
        return (
            self.item_vocabulary.array
            if self.item_ids is None
            else self.item_vocabulary.array[np.argsort(self.item_ids)]
        )

    def item_text(self, item: int) -> str:
        """Return what a message calls an item."""
        if self.item_vocabulary is None:
            return str(item)
        return self.item_vocabulary.repr_of(item if self.item_ids is None else int(np.argmax(self.item_ids == item)))

    def with_user(self, error: ExactkError) -> ExactkError | None:
        """Return the error with the key of the user in whose row it is; None if it has no row, or the user no key."""
        users, codes = self.row_users or (self.users, None)
        if error.row is None or users is None or error.row >= len(users if codes is None else codes):
            return None
        if isinstance(users, Vocabulary):
            return users.with_user(error, codes)
        return with_user_key(error, repr(users[error.row].item()))

    @property
    def users(self) -> Vocabulary | NDArray[Any] | None:
        """What a report calls the users."""
        return self.truth.labels if self.truth.user_vocabulary is None else self.truth.user_vocabulary


def align(truth: Truth, predictions: Predictions, exclude: Exclusions | None) -> AlignedInputs:
    """Match keyed users by key and others by row, and keyed items by key."""
    keyed = predictions.user_vocabulary if isinstance(predictions, (Rankings, SparseScores)) else None
    if truth.user_vocabulary is not None and keyed is None:
        hint = "exactk.Truth(indptr, items, users=users) is matched by row, and so is a list"
        raise type_error("predictions", "keys of users, as the truth has them", "rows by number", hint=hint)
    if keyed is not None or (exclude is not None and exclude.user_vocabulary is not None):
        truth = with_user_keys(truth)
        assert truth.user_vocabulary is not None  # noqa: S101 - for the type checker
        users = truth.user_vocabulary
        if keyed is not None:
            users, codes = _union(users, keyed, "predictions")
            rows = reindex(_rows_of(predictions), _source_rows(codes, len(users)))
            predictions = _replace_rows(predictions, rows)
        truth = extend_truth(truth, users)
        if exclude is not None:
            rows = reindex(exclude.rows(), _rows_of_users(exclude, users, "exclude"))
            exclude = Exclusions.from_rows(rows._replace(user_vocabulary=None))
    elif truth.user_vocabulary is not None and exclude is not None:
        raise type_error("exclude", "keys of users, as the truth has them", "rows by number")
    return _align_items(AlignedInputs(truth, predictions, exclude))


def align_scores(scores: SparseScores, exclude: Exclusions | None) -> AlignedInputs:
    """Align scores and exclusions without a truth, as if there were one of the same users and no items."""
    indptr = np.zeros(len(scores) + 1, np.int64)
    empty = Truth.from_rows(Rows(indptr, np.zeros(0, np.int64), user_vocabulary=scores.user_vocabulary))
    return align(empty, scores, exclude)


def with_user_keys(truth: Truth) -> Truth:
    """Return the truth with a vocabulary of its users, which may be their labels."""
    if truth.user_vocabulary is not None:
        return truth
    if truth.labels is None:
        hint = "dict(zip(users, truth)) has some"
        raise type_error("truth", "keys of users, as what it is matched with", "rows by number", hint=hint)
    rows = truth.rows()._replace(user_vocabulary=vocabulary_of_labels(truth.labels, "truth.users"))
    return Truth.from_rows(rows, unknown_actual=truth.unknown_actual)


def in_item_vocabulary(exclude: Exclusions, items: Vocabulary | None) -> Exclusions:
    """Return the exclusions with item codes of a vocabulary that continues the given one, if both are keyed."""
    if items is None or exclude.item_vocabulary is None or exclude.item_vocabulary.continues(items):
        return exclude
    union, codes = _union(items, exclude.item_vocabulary, "items of exclude")
    rows = exclude.rows()
    return Exclusions.from_rows(rows._replace(items=codes[rows.items], item_vocabulary=union))


def match_users(users: Vocabulary, lists: Lists, argument: str) -> tuple[Vocabulary, NDArray[np.int64]]:
    """Return the users with those of the lists after them, and which row of the lists each has; -1 for none."""
    union, codes = _union(users, _user_keys(lists, argument), argument)
    return union, _source_rows(codes, len(union))


def _rows_of_users(lists: Lists, users: Vocabulary, argument: str) -> NDArray[np.int64]:
    """Return which row of the lists each user has; -1 for none. The cost is that of the users, however many the lists."""
    keys = _user_keys(lists, argument)
    if len(users) and len(keys):
        users.check_kinds(keys.kinds, argument)
    _, codes = _union(keys, users, argument)
    return np.where(codes < len(keys), codes.astype(np.int64), -1)


def _user_keys(lists: Lists, argument: str) -> Vocabulary:
    if lists.user_vocabulary is None:
        raise type_error(argument, "keys of users, as the truth has them", "rows by number")
    return lists.user_vocabulary


def extend_truth(truth: Truth, users: Vocabulary) -> Truth:
    """Return the truth of these users, the first of whom are its own; the others are missing from it."""
    if len(users) == len(truth):
        return truth
    sources = np.concatenate([np.arange(len(truth)), np.full(len(users) - len(truth), -1)])
    rows = reindex(truth.rows(), sources)._replace(user_vocabulary=users)
    return Truth.from_rows(rows, unknown_actual=truth.unknown_actual)


def extend_truth_to_systems(truth: Truth, systems: dict[str, Predictions]) -> Truth:
    """Return the truth with a row for each user of any system, so that all are evaluated on the same users."""
    users = truth.user_vocabulary
    for predictions in systems.values():
        keyed = predictions.user_vocabulary if isinstance(predictions, (Rankings, SparseScores)) else None
        if users is not None and keyed is not None:
            users, _ = _union(users, keyed, "predictions")
    return truth if users is None else extend_truth(truth, users)


def _union(first: Vocabulary, second: Vocabulary, argument: str) -> tuple[Vocabulary, Codes]:
    """Return the keys of both, those of the first first, and the code there of each key of the second."""
    for base, continued in ((first, second), (second, first)):
        if continued.continues(base):
            return continued, np.arange(len(second), dtype=np.uint32)
    if not len(second):
        return first, np.zeros(0, np.uint32)
    union = Vocabulary.of_kinds(second.kinds, second.labels) if not len(first) else first.fork()
    return union, union.extend(second, argument)


def _source_rows(codes: Codes, size: int) -> NDArray[np.int64]:
    """Return which row each user has, of rows whose users have these codes; -1 for none."""
    sources = np.full(size, -1, np.int64)
    sources[codes] = np.arange(len(codes))
    return sources


def _rows_of(predictions: Predictions) -> Rows:
    assert isinstance(predictions, (Rankings, SparseScores))  # noqa: S101 - the others have no keys
    return predictions.rows()


def _replace_rows(predictions: Predictions, rows: Rows) -> Predictions:
    lists = Rankings.from_rows(rows)
    if not isinstance(predictions, SparseScores):
        return lists
    return SparseScores.from_lists(
        lists, rows.scores, "predictions", predictions.min_score, is_complete=rows.is_complete
    )


def _align_items(inputs: AlignedInputs) -> AlignedInputs:
    """Return the same with one id per item everywhere; beside scores, ids ascend as the keys do."""
    truth, predictions, exclude = inputs.truth, inputs.predictions, inputs.exclude
    lists: dict[str, Lists | SparseScores] = {"truth": truth}
    if isinstance(predictions, (Rankings, SparseScores)):
        lists["predictions"] = predictions
    if exclude is not None:
        lists["exclude"] = exclude
    keyed = [one.item_vocabulary for one in lists.values() if one.item_vocabulary is not None]
    if not keyed:
        return inputs
    _check_item_kinds(lists)
    union: Vocabulary = keyed[0]
    codes: dict[str, Codes] = {}
    for argument, one in lists.items():
        if one.item_vocabulary is not None:
            union, codes[argument] = _union(union, one.item_vocabulary, f"items of {argument}")
    item_ids = None
    if isinstance(predictions, SparseScores):  # whose ties are broken by the order of ids
        item_ids = union.positions_in_key_order()
        codes = {argument: item_ids[code] for argument, code in codes.items()}

    def relabel(argument: str) -> Rows:
        rows, code = lists[argument].rows(), codes.get(argument)
        unchanged = code is None or np.array_equal(code, np.arange(len(code)))
        items = rows.items if code is None or unchanged else code[rows.items]
        return rows._replace(items=items, item_vocabulary=None)

    return AlignedInputs(
        Truth.from_rows(relabel("truth"), truth.labels, truth.unknown_actual),
        _replace_rows(predictions, relabel("predictions")),
        None if exclude is None else Exclusions.from_rows(relabel("exclude")),
        union,
        item_ids,
    )


def _check_item_kinds(lists: dict[str, Lists | SparseScores]) -> None:
    """Raise InputTypeError if some items are keyed and others are integers: none would be the same."""
    kinds = {
        argument: "int" if one.item_vocabulary is None else one.item_vocabulary.kinds[0]
        for argument, one in lists.items()
        if len(one.items)
    }
    if "predictions" not in lists:
        kinds["predictions"] = "numbers of columns or rows"
    first = kinds.get("truth", next(iter(kinds.values()), ""))
    for argument, kind in kinds.items():
        if kind != first:
            raise type_error(argument, f"items that are {first}, as in the truth", kind, hint=KIND_HINT)
