"""Alignment of truth, predictions and exclusions: one row per user in each, and the same item ids in all.

With names of users and items, and rows of data frames, for errors that have only row numbers and codes, or other names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.checks import elements_at
from exactk._inputs.model.lists import Exclusions, Lists, Rankings
from exactk._inputs.model.rows import Rows, count_users, encode_items_again, reindex, resize, with_frame_row
from exactk._inputs.model.scores import CanonicalEmbeddings, Scores, SparseScores, predictions_from_rows
from exactk._inputs.truth import Truth
from exactk._runtime.errors import Amending, type_error
from exactk._runtime.faults import Option
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes, Ids
    from exactk._inputs.keys.vocabulary import SharedVocabulary, Snapshot, Vocabulary
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.item_table import CanonicalItems
    from exactk._inputs.model.rows import FindRow
    from exactk._inputs.model.scores import MatrixScores, Predictions, Scored
    from exactk._inputs.registry import ClassifiedValue
    from exactk._runtime.errors import ExactkError
    from exactk._runtime.faults import Text


class AlignedInputs(NamedTuple):
    """The inputs of one evaluation. Users of the truth come first, in its order, then the other users."""

    truth: Truth
    predictions: Predictions
    exclude: Exclusions | None
    item_vocabulary: Snapshot | None = None  # of keyed items
    item_ids: Codes | None = None  # the id of each key, if ids ascend as the keys do and are not the codes
    row_users: tuple[Snapshot, Codes] | None = None  # where the rows are some users: all users, and those of the rows
    base: AlignedInputs | None = None  # with the base predictions, whose item ids may be others

    @property
    def is_complete(self) -> bool:
        """Whether the predictions have everything that may be ranked, not only the best items."""
        return not isinstance(self.predictions, SparseScores) or self.predictions.is_complete

    @property
    def item_keys(self) -> NDArray[Any] | None:
        """The key of each item id; None if ids are the caller's."""
        if self.item_vocabulary is None:
            return None
        return (
            self.item_vocabulary.array
            if self.item_ids is None
            else self.item_vocabulary.array[np.argsort(self.item_ids)]
        )

    def texts_of(self, items: Ids) -> list[str]:
        """Return the distinct text keys of some items."""
        assert self.item_vocabulary is not None  # noqa: S101 - for the type checker
        codes = np.unique(items) if self.item_ids is None else np.flatnonzero(np.isin(self.item_ids, items))
        return list(self.item_vocabulary.select(codes).array.tolist())

    def item_text(self, item: int) -> str:
        """Return an item as messages show it."""
        if self.item_vocabulary is None:
            return str(item)
        return self.item_vocabulary.repr_of(item if self.item_ids is None else int(np.argmax(self.item_ids == item)))

    def user_text(self, row: int) -> str:
        """Return the user of a row as messages show it; empty without keys."""
        from exactk._inputs.keys.vocabulary import Snapshot

        users, codes = self.row_users or (self.users, None)
        if users is None or row >= len(self.truth):
            return ""
        code = row if codes is None else int(codes[row])
        return users.repr_of(code) if isinstance(users, Snapshot) else repr(users[code].item())

    def with_user(self, error: ExactkError) -> ExactkError | None:
        """Return the error with the key of the user in whose row it is; None if it has no row, or the user no key."""
        from exactk._inputs.keys.vocabulary import Snapshot

        users, codes = self.row_users or (self.users, None)
        if error.row is None or users is None or error.row >= len(users if codes is None else codes):
            return None
        if isinstance(users, Snapshot):
            return users.with_user(error, codes)
        return error.amended(user=repr(users[error.row].item()))

    @property
    def user_array(self) -> NDArray[Any] | None:
        """User keys or labels as an array."""
        from exactk._inputs.keys.vocabulary import Snapshot

        return self.users.array if isinstance(self.users, Snapshot) else self.users

    @property
    def users(self) -> Snapshot | NDArray[Any] | None:
        """User keys or labels for the report."""
        return self.truth.labels if self.truth.user_vocabulary is None else self.truth.user_vocabulary


def in_shared_vocabularies(rows: Rows, argument: str, encoding: Encoding) -> Rows:
    """Return the rows of an already converted container, with the codes of this call."""
    if rows.user_vocabulary is not None:
        keys, codes = _encode_again(rows.user_vocabulary, argument, encoding.users)
        sources = np.full(len(keys), -1, np.int64)
        sources[codes] = np.arange(len(codes))
        rows = reindex(rows, sources)._replace(user_vocabulary=keys)
    if rows.item_vocabulary is not None:
        keys, codes = _encode_again(rows.item_vocabulary, f"items of {argument}", encoding.items)
        is_unchanged = np.array_equal(codes, np.arange(len(codes)))
        items = rows.items if is_unchanged else elements_at(codes.astype(rows.items.dtype), rows.items)
        rows = rows._replace(items=items, item_vocabulary=keys)
    return rows


def with_shared_users(scores: MatrixScores, argument: str, encoding: Encoding) -> MatrixScores:
    """Return scores of all items with a row for each user of this call, in the order of codes; -1 where it has none."""
    if scores.user_vocabulary is None:
        return scores
    keys, codes = _encode_again(scores.user_vocabulary, argument, encoding.users)
    rows = np.full(len(keys), -1, np.int64)
    rows[codes] = np.arange(len(codes))
    return scores.for_users(keys, rows)


def rows_of_users(rows: Rows, argument: str, encoding: Encoding) -> Rows:
    """Return already converted rows of the users so far, in time proportional to these users' rows."""
    keys = rows.user_vocabulary
    users = None if keys is None else encoding.users.snapshot()
    if keys is not None and users is not None and keys.kinds == users.kinds:
        rows = _with_few_items(reindex(rows, keys.find(users, argument)))._replace(user_vocabulary=None)
        return in_shared_vocabularies(rows, argument, encoding)._replace(user_vocabulary=users)
    return in_shared_vocabularies(rows, argument, encoding)


_FEW = 16  # encoding one key costs about as much as so many keys of a whole vocabulary


def _with_few_items(rows: Rows) -> Rows:
    """Return the rows with a vocabulary of only their own items, if these are few."""
    keys = rows.item_vocabulary
    if keys is None or _FEW * len(rows.items) > keys.size:
        return rows
    held, items = np.unique(rows.items, return_inverse=True)
    return rows._replace(items=items.astype(np.int64), item_vocabulary=keys.select(held))


def _encode_again(keys: Snapshot, argument: str, shared: SharedVocabulary) -> tuple[Snapshot, Codes]:
    vocabulary = shared.of_kinds(keys.kinds, keys.vocabulary.labels)
    codes = vocabulary.extend(keys, argument)
    return vocabulary.snapshot(), codes


KEYED_MATRICES = (
    "exactk.Truth.from_dense(matrix, users=users, items=items), or "
    "exactk.Truth(csr.indptr, items[csr.indices], csr.data, users=users), adds keys"
)


def with_user_keys(truth: Rows, users: SharedVocabulary) -> Rows:
    """Return the truth with user keys, which may be its labels."""
    if truth.user_vocabulary is not None:
        return truth
    keys = users.keys_of_labels()
    if keys is None:
        hint = "truth=dict(zip(users, truth)) adds user keys"
        if truth.has_columns:
            hint = KEYED_MATRICES
        raise type_error("truth", "user keys, as in the data to match", "rows without user keys", hint=hint)
    return truth._replace(user_vocabulary=keys, labels=None)


class Alignment:
    """The truth and the exclusions of a call, with which each system's predictions are aligned.

    Users are matched by key, or by row if they have none, and keyed items by key. Rows share vocabularies, so a key has
    one code in all of them; the canonical containers are built once, at the end.
    """

    def __init__(
        self,
        truth: Truth | Rows,
        systems: Iterable[Rows | Predictions],
        exclude: Exclusions | Rows | None,
        encoding: Encoding,
        base: Rows | Predictions | None = None,
        *,
        in_key_order: bool = False,
    ) -> None:
        self._is_in_key_order = in_key_order  # whether item ids ascend as the keys do, even if no scores are ranked
        self._shared_users, self._shared_items = encoding.users, encoding.items
        self._truth, self._exclude, self._base = truth, exclude, base
        self._systems = [
            predictions for predictions in systems if isinstance(predictions, (Rows, Scores, CanonicalEmbeddings))
        ]
        self._containers: tuple[Truth, Exclusions | None] | None = None
        self._base_inputs: AlignedInputs | None = None
        self._users: Snapshot | None = None  # keys of the truth, then of the systems; None if matched by row
        self._item_keys: Snapshot | None = None  # item keys of all inputs
        self._item_ids: Codes | None = None  # where ids ascend as the keys do, by which scores break ties
        others: list[Rows | Exclusions | MatrixScores] = (
            [*self._systems] if exclude is None else [*self._systems, exclude]
        )
        if isinstance(base, (Rows, Scores, CanonicalEmbeddings)):
            others.append(base)
        lists = (truth, *others)
        self._has_keys = any(one.user_vocabulary is not None or one.item_vocabulary is not None for one in lists)
        self.user_count = count_users(truth)  # of the truth, and of any system
        if self._has_keys:
            self._align_users(others)
            self._align_items(others)

    def _align_users(self, others: list[Rows | Exclusions | MatrixScores]) -> None:
        rows = self._truth.rows() if isinstance(self._truth, Truth) else self._truth
        if any(other.user_vocabulary is not None for other in others):
            rows = with_user_keys(rows, self._shared_users)
        self._truth_rows, of_truth = rows, rows.user_vocabulary
        if of_truth is not None:
            latest = self._shared_users.latest([of_truth, *[rows.user_vocabulary for rows in self._systems]])
            self._users = latest or of_truth  # without users, kinds are those of the truth
            self.user_count = self._users.size
            rows = self._with_rows_of_all_users(rows)._replace(user_vocabulary=self._users)
        self._aligned_truth = rows
        self._aligned_exclude: Rows | None = None
        if self._exclude is not None:
            rows = self._exclude.rows() if isinstance(self._exclude, Exclusions) else self._exclude
            self._aligned_exclude = self._with_rows_of_all_users(rows)._replace(user_vocabulary=None)

    def _align_items(self, others: list[Rows | Exclusions | MatrixScores]) -> None:
        keys = self._shared_items.latest([one.item_vocabulary for one in (self._truth, *others)])
        # An empty column of text, as of nothing to exclude, does not make integers of others keys.
        self._item_keys = keys if keys is not None and keys.size else None
        ranked = [*self._systems, self._base]
        has_scores = any(isinstance(one, Rows) and one.scores is not None for one in ranked)
        if self._item_keys is not None and (has_scores or self._is_in_key_order):
            self._item_ids = self._item_keys.positions_in_key_order()

    def inputs(self, predictions: Rows | Predictions) -> AlignedInputs:
        """Return the truth, a system's predictions, the exclusions and the base predictions, aligned."""
        inputs = self._inputs_beside_truth(predictions)
        if self._base is None:
            return inputs
        if self._base_inputs is None:
            with naming_base():
                self._base_inputs = self._inputs_beside_truth(self._base)
        self._check_kinds_of_base(self._base, predictions)
        return inputs._replace(base=self._base_inputs)

    def _check_kinds_of_base(self, base: Rows | Predictions, predictions: Rows | Predictions) -> None:
        """Raise InputTypeError if the items of the base predictions cannot be those of the predictions."""
        from exactk._inputs.keys.vocabulary import kinds_error

        kind, expected = _kind_of_items(base), _kind_of_items(predictions)
        keyed = [
            one for one in (base, predictions) if isinstance(one, (Scores, CanonicalEmbeddings)) and one.item_vocabulary
        ]
        may_match = {kind, expected} == {"int", _NUMBERS} and not keyed
        if kind and expected and kind != expected and not may_match:
            raise kinds_error(ARGUMENT, "items", [expected], [kind], "predictions")

    def _inputs_beside_truth(self, predictions: Rows | Predictions) -> AlignedInputs:
        if isinstance(predictions, (Scores, CanonicalEmbeddings)):
            predictions = self._aligned_matrix(predictions) if self._has_keys else predictions
            if predictions.item_vocabulary is not None:
                return self._inputs_by_column(predictions, predictions.item_vocabulary)
        elif self._has_keys:
            predictions = self._aligned_predictions(predictions)
        elif isinstance(predictions, Rows):
            predictions = predictions_from_rows(predictions)
        if self._containers is None:
            self._containers = self._freeze_truth(), self._freeze_exclude()
        truth, exclude = self._containers
        return AlignedInputs(truth, predictions, exclude, self._item_keys, self._item_ids)

    def _aligned_matrix(self, scores: MatrixScores) -> MatrixScores:
        """Return scores of all items with a row for each user, and embeddings with items in the order of their keys."""
        self._check_users(scores)
        self._check_item_kinds(scores)
        if self._users is not None and scores.user_vocabulary is not None:
            positions = np.arange(self._users.size)
            scores = scores.for_users(self._users, np.where(positions < len(scores), positions, -1))
        return scores.with_items_in_key_order() if isinstance(scores, CanonicalEmbeddings) else scores

    def _inputs_by_column(self, scores: MatrixScores, columns: Snapshot) -> AlignedInputs:
        """Return the inputs beside scores with item keys, whose columns are the ids."""
        rows_by_argument = {"truth": self._aligned_truth, "exclude": self._aligned_exclude}
        for argument, rows in rows_by_argument.items():
            if rows is not None and rows.has_columns and len(rows.items):  # a number could be a key or a column
                hint = KEYED_MATRICES
                raise type_error(argument, "item keys, as in the scores", "column numbers of a matrix", hint=hint)
        items = _vocabulary_for(columns, [rows for rows in rows_by_argument.values() if rows is not None])
        truth = Truth.from_valid_rows(encode_items_again(self._aligned_truth, items, "truth"))
        exclude = None
        if self._aligned_exclude is not None:
            exclude = Exclusions.from_valid_rows(encode_items_again(self._aligned_exclude, items, "exclude"))
        return AlignedInputs(truth, scores, exclude, items.snapshot())

    def _aligned_predictions(self, predictions: Rows | Rankings | SparseScores) -> Predictions:
        rows = predictions if isinstance(predictions, Rows) else predictions.rows()
        self._check_users(rows)
        aligned = self._with_rows_of_all_users(rows)
        self._check_item_kinds(aligned)
        if aligned is rows and not isinstance(predictions, Rows):
            return predictions
        return predictions_from_rows(self._with_item_ids(aligned))

    def _check_users(self, predictions: Rows | MatrixScores) -> None:
        """Raise InputTypeError if the users of a system, or of the exclusions, cannot match those of the truth."""
        keys = predictions.user_vocabulary
        if keys is None and self._truth.user_vocabulary is not None:
            hint = "a list, or exactk.Truth(indptr, items, users=users), as the truth is matched by row"
            if not isinstance(predictions, Rows):
                hint = f"{_with_keys(predictions, 'users')} adds them"
            raise type_error("predictions", "user keys, as in the truth", "rows without user keys", hint=hint)
        if self._users is None:
            return
        if keys is not None:
            self._shared_users.check_kinds_of(keys, "predictions")
        if self._exclude is not None:
            if self._exclude.user_vocabulary is None:
                hint = "exclude=dict(zip(users, exclude)) adds them"
                raise type_error("exclude", "user keys, as in the truth", "rows without user keys", hint=hint)
            self._shared_users.check_kinds_of(self._exclude.user_vocabulary, "exclude")

    def _with_rows_of_all_users(self, rows: Rows) -> Rows:
        """Return the rows with one row for each user; rows without keys belong to the truth's users."""
        if self._users is None or (rows.user_vocabulary is None and rows.user_count != self._truth_rows.user_count):
            return rows
        return resize(rows, self._users.size)

    def _freeze_truth(self) -> Truth:
        if isinstance(self._truth, Truth) and self._users is None:  # used unchanged: its items have no keys
            return self._truth
        rows = self._truth if isinstance(self._truth, Rows) and not self._has_keys else self._aligned_truth
        return Truth.from_valid_rows(self._with_item_ids(rows))

    def _freeze_exclude(self) -> Exclusions | None:
        if self._exclude is None or (isinstance(self._exclude, Exclusions) and self._users is None):
            return self._exclude
        rows = self._exclude if isinstance(self._exclude, Rows) and not self._has_keys else self._aligned_exclude
        assert rows is not None  # noqa: S101 - for the type checker
        return Exclusions.from_valid_rows(self._with_item_ids(rows))

    def _with_item_ids(self, rows: Rows) -> Rows:
        if rows.item_vocabulary is None:
            return rows
        items = rows.items
        if self._item_ids is not None and self._shared_items.has(rows.item_vocabulary):
            items = elements_at(self._item_ids.astype(items.dtype), items)
        return rows._replace(items=items, item_vocabulary=None)

    def _check_item_kinds(self, predictions: Rows | MatrixScores) -> None:
        """Raise InputTypeError if some items are keyed and others are integers, which never match."""
        sources = {"truth": self._aligned_truth, "predictions": predictions, "exclude": self._aligned_exclude}
        if all(source is None or source.item_vocabulary is None for source in sources.values()):
            return
        kinds = {argument: kind for argument, source in sources.items() if (kind := _kind_of_items(source))}
        first = kinds.get("truth", next(iter(kinds.values()), ""))
        for argument, kind in kinds.items():
            if kind != first and {kind, first} != {"int", _NUMBERS}:
                from exactk._inputs.keys.vocabulary import KIND_HINT

                hint: Text = KIND_HINT
                if kind == _NUMBERS and not isinstance(predictions, Rows):
                    hint = (f"{_with_keys(predictions, 'items')} adds keys of items",)
                raise type_error(argument, f"items of type {first}, as in the truth", kind, hint=hint)


_NUMBERS = "column or row numbers"


def _kind_of_items(source: Rows | Predictions | None) -> str:
    """Return the kind of the items; empty if there are none."""
    if source is None:
        return ""
    are_columns = isinstance(source, (Scores, CanonicalEmbeddings))
    if not (source.item_count if isinstance(source, (Scores, CanonicalEmbeddings)) else len(source.items)):
        return ""
    if source.item_vocabulary is not None:
        return source.item_vocabulary.kinds[0]
    return _NUMBERS if are_columns else "int"


def _with_keys(scores: Rows | Scored, keys: str, argument: str = "predictions") -> str:
    """Return how to write scores with keys, for hints."""
    if isinstance(scores, Rows):
        return f"{argument}=dict(zip(users, {argument}))"
    values = {Scores: argument, SparseScores: "indptr, items, scores"}.get(type(scores), "user_vectors, item_vectors")
    return f"{argument}=exactk.{type(scores).__name__}({values}, {keys}={keys})"


def _vocabulary_for(columns: Snapshot, others: list[Rows]) -> Vocabulary:
    """Return a vocabulary that begins with the keys of the columns, and takes the items of others."""
    from exactk._inputs.keys.vocabulary import Vocabulary

    if columns.size:
        return columns.copy()
    kinds = [_kind_of_items(rows) for rows in others]  # without columns, keys are of no kind
    return Vocabulary.of_kinds([next(filter(None, kinds), "int")])


def truth_without_items(systems: Iterable[Rows | Predictions], users: SharedVocabulary) -> Rows:
    """Return a truth of all users of the systems, none of whom has an item; `users` are those of the call."""
    first, *others = systems
    is_keyed = any(one.user_vocabulary is not None for one in (first, *others))
    keys = users.snapshot() if is_keyed else None
    size = count_users(first) if keys is None else len(keys)
    return Rows(np.zeros(size + 1, np.int64), np.zeros(0, np.int64), user_vocabulary=keys)


def without_truth(argument: str = "scores") -> Amending:
    """Name another argument in errors of this block that name the truth, as there is none."""
    return Amending(_naming_instead, argument)


def _naming_instead(error: ExactkError, argument: str) -> ExactkError:
    expected = error.fault.expected
    for phrase in ("as in the", "per user of the"):
        expected = expected.replace(f"{phrase} truth", f"{phrase} {argument}")
    return error.amended(expected=expected)


def check_keys_beside_scores(exclude: Exclusions | Rows | None, scores: Rows | Scored) -> None:
    """Raise InputTypeError if only one of both has keys: rows and columns are then of unknown users and items."""
    if exclude is None:
        return
    if scores.user_vocabulary is None and exclude.user_vocabulary is not None:
        expected, hint = (
            "rows without user keys, as in the scores",
            f"{_with_keys(scores, 'users', 'scores')} adds keys",
        )
        raise type_error("exclude", expected, "user keys", hint=hint)
    if scores.user_vocabulary is not None and exclude.user_vocabulary is None:
        hint = "exclude=dict(zip(users, exclude)) adds them"
        raise type_error("exclude", "user keys, as in the scores", "rows without user keys", hint=hint)
    has_columns = isinstance(scores, (Scores, CanonicalEmbeddings)) and scores.item_vocabulary is None
    if has_columns and exclude.item_vocabulary is not None and len(exclude.items):
        expected, hint = "column or row numbers, as in the scores", f"{_with_keys(scores, 'items', 'scores')} adds keys"
        raise type_error("exclude", expected, f"items of type {exclude.item_vocabulary.kinds[0]}", hint=hint)


def align_scores(scores: Rows | Scored, exclude: Exclusions | Rows | None, encoding: Encoding) -> AlignedInputs:
    """Align scores and exclusions without a truth."""
    indptr = np.zeros(count_users(scores) + 1, np.int64)
    empty = Rows(indptr, np.zeros(0, np.int64), user_vocabulary=scores.user_vocabulary)
    return Alignment(empty, [scores], exclude, encoding).inputs(scores)


ARGUMENT = "base_predictions"

_NAMES = r"\b(?<!base_)(predictions|scores)(?=$|[.=])"


def naming_base() -> Amending:
    """Call the predictions or scores `base_predictions` in errors of this block."""
    return Amending(_with_base_named)


def _with_base_named(error: ExactkError) -> ExactkError:
    argument = re.sub(_NAMES, ARGUMENT, error.argument or "")
    hint: Text = tuple(map(_hint_part, error.fault.hint))
    if error.fault.expected.startswith("user keys, as in"):
        hint = (f"{ARGUMENT}=dict(zip(users, {ARGUMENT})) adds them",)
    return error.amended(argument=argument, hint=hint)


def _hint_part(part: str | Option) -> str | Option:
    if isinstance(part, str):
        return re.sub(_NAMES, ARGUMENT, part)
    if part.name == "nan":  # an argument of `exactk.topk`, and of no function that takes base predictions
        return Option("convention", {"nan": part.value})
    return part


def name_rows_and_keys(inputs: AlignedInputs, items: CanonicalItems | None = None) -> Amending:
    """Add to an error of this block the keys of the user and the item, and the row of the data frame.

    `items` are those of the catalogue, which the inputs may lack.
    """
    return Amending(_with_rows_and_keys, inputs, items)


def _with_rows_and_keys(error: ExactkError, inputs: AlignedInputs, items: CanonicalItems | None) -> ExactkError:
    if items is not None and error.argument == _FEATURES and error.row is not None:
        return error.amended(row=None, column=items.keys.text(error.row))
    if (of_matrix := _fault_of_matrix(inputs, error)) is not None:
        return of_matrix
    with_user, item = inputs.with_user(error), error.fault.item
    named = error if with_user is None else with_frame_row(with_user, _row_finder(inputs, error))
    return named.amended(item=_item_text(inputs, items, item)) if isinstance(item, int) else named


_FEATURES = "items.features"


def _item_text(inputs: AlignedInputs, items: CanonicalItems | None, item: int) -> int | str:
    """Return an item of the inputs or of the catalogue as messages show it."""
    positions = [] if items is None else np.flatnonzero(items.ids == item).tolist()
    if items is not None and positions:
        integers = items.keys.integers
        return items.keys.text(positions[0]) if integers is None else int(integers[positions[0]])
    return item if inputs.item_vocabulary is None else inputs.item_text(item)


def _fault_of_matrix(inputs: AlignedInputs, error: ExactkError) -> ExactkError | None:
    """Return a fault of scores or vectors with keys, with these keys and the row of the caller's array."""
    scores = inputs.predictions
    if not isinstance(scores, (Scores, CanonicalEmbeddings)) or not scores.is_keyed or error.row is None:
        return None
    named = inputs.with_user(error) or error
    if isinstance(scores, Scores):
        if error.argument not in {"predictions", "scores"}:
            return None
        has_column = error.position is not None and scores.item_vocabulary is not None
        column = inputs.item_text(error.position or 0) if has_column else None
        return named.amended(row=scores.row_of(error.row), column=column)
    if error.argument == scores.arguments[0]:  # of users who may have been put in another order
        return named.amended(row=None) if scores.user_vocabulary is not None else None
    if error.argument != scores.arguments[1]:
        return None
    row = error.row if scores.item_rows is None else int(scores.item_rows[error.row])
    return error.amended(row=row, column=None if scores.item_vocabulary is None else inputs.item_text(error.row))


def explain_repeats(truth: ClassifiedValue, predictions: ClassifiedValue) -> Amending:
    """Add to an error of this block about a repeated item of a matrix what else the matrix may be."""
    return Amending(_with_repeats_explained, truth, predictions)


def _with_repeats_explained(error: ExactkError, truth: ClassifiedValue, predictions: ClassifiedValue) -> ExactkError:
    from exactk._inputs.containers.arrays import repeat_hint

    matrix = {"truth": truth, "predictions": predictions}.get(error.argument or "")
    item = error.fault.item
    hint = "" if matrix is None or item is None else repeat_hint(matrix.value, error.argument or "", item)
    return error.amended(hint=(f"{hint}; ", *error.fault.hint)) if hint else error


def _lists_at_fault(inputs: AlignedInputs, error: ExactkError) -> Lists | None:
    """Return the lists to which the error's row and position refer."""
    arguments = {
        "truth": inputs.truth,
        "predictions": inputs.predictions,
        "scores": inputs.predictions,
        "exclude": inputs.exclude,
        "base_predictions": None if inputs.base is None else inputs.base.predictions,
    }
    lists = arguments.get(error.argument or "")
    lists = lists.lists if isinstance(lists, SparseScores) else lists
    return lists if isinstance(lists, Lists) else None


def _row_finder(inputs: AlignedInputs, error: ExactkError) -> FindRow | None:
    """Return the locator of frame rows. Faults of a user, such as an invalid weight, have no row in a frame."""
    lists = _lists_at_fault(inputs, error)
    if lists is not None:
        return lists.find_row
    predictions = inputs.predictions
    is_of_frame = inputs.truth.find_row is not None or getattr(predictions, "find_row", None) is not None
    return (lambda _user, _position: None) if is_of_frame else None
