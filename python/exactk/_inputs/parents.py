"""The argument `parents`: documents in place of their chunks, before anything else reads the truth and the lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk._inputs.checks import entries_of, first_and_count, offsets_of, row_at
from exactk._inputs.containers.tables import open_table
from exactk._inputs.conversions import exclusions_of, predictions_of, truth_of
from exactk._inputs.keys.columns import index_columns
from exactk._inputs.keys.key_lists import ItemEntries, encode_item_keys
from exactk._inputs.keys.vocabulary import KIND_HINT
from exactk._inputs.long_format import Encoding, encode_items
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import remove_padding, with_location
from exactk._inputs.model.scores import SparseScores
from exactk._inputs.protocols import DataFrame, Series
from exactk._inputs.registry import BLOCKS, FRAME, MAPPING, SERIES, as_candidate_items, classify, open_path
from exactk._inputs.truth import Truth
from exactk._runtime.errors import input_error, type_error, warn
from exactk._runtime.faults import Option, Text, plural
from exactk._runtime.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._inputs.checks import Ids
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.lists import CandidateItems, Exclusions
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.registry import ClassifiedValue
    from exactk._plan.values import Plan


class Parents(Record):
    """The rule by which ids of chunks contain those of their documents, for the argument `parents`.

    Parameters
    ----------
    split : str
        What separates the id of the document from the rest of the chunk's; its last occurrence counts. An id without it
        is that of a document.

    Examples
    --------
    >>> import exactk
    >>> chunks = {"query 1": {"a#1": 0.9, "a#2": 0.8, "b#1": 0.7}}
    >>> exactk.evaluate({"query 1": ["b"]}, chunks, "mrr", parents=exactk.Parents(split="#"))["mrr"]
    0.5
    """

    __module__ = "exactk"

    split: str

    def __init__(self, split: str) -> None:
        if not isinstance(split, str):
            raise type_error("split", "a string", type(split).__name__)
        if not split:
            raise input_error("split", "what separates a document's id from the rest", "an empty string")
        object.__setattr__(self, "split", split)


ParentsLike: TypeAlias = Mapping[Any, Any] | Series | DataFrame | str | PathLike[str] | Parents
"""The document of each chunk."""


class _Listed:
    """Documents of listed chunks."""

    def __init__(self, chunks: list[Any], documents: list[Any]) -> None:
        self._documents = dict(zip(chunks, documents, strict=True))
        self._all = set(documents)
        self._positions = {chunk: position for position, chunk in enumerate(self._documents)}
        self.example = chunks[0] if chunks else None
        self.such_as = f", as {self.example!r} would be" if chunks else ""
        for position, (chunk, document) in enumerate(zip(chunks, documents, strict=True)):
            if self._documents[chunk] != document:
                found = f"{chunk!r} with {document!r} and {self._documents[chunk]!r}"
                hint = "the first column has the chunks, the second their documents: are they the other way round?"
                raise input_error("parents", "one document for each chunk", found, position=position, hint=hint)
            if chunk in self._all and document != chunk:
                found = f"{chunk!r}, which has chunks and is a chunk of {document!r}"
                raise input_error("parents", "documents that are no chunks of others", found, position=position)

    def document_of(self, key: object) -> object:
        """Return the document of a chunk, or the document itself; None if it is neither."""
        return self._documents.get(key, key if key in self._all else None)

    def position_of(self, key: object) -> int:
        """Return where the chunk is listed; a document itself comes first."""
        return self._positions.get(key, -1)


class _Split:
    """Documents whose ids those of their chunks contain."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self.example, self.such_as = "", f", as an id with {separator!r} would be"

    def document_of(self, key: object) -> object:
        """Return the document of a chunk, or the document itself."""
        if not isinstance(key, str):
            raise type_error("parents", "ids that are strings, which Parents(split=...) can split", repr(key))
        return key.rpartition(self._separator)[0] or key

    def position_of(self, key: object) -> int:
        """Raise InputError, as no order of the chunks is known."""
        expected = "parents that lists the chunks in order, as chunk_score='first' needs"
        raise input_error("parents", expected, f"a rule for ids such as {key!r}")


def _listed(parents: object) -> _Listed:
    """Return the documents of a mapping, a Series, a frame or a file."""
    classified = classify(open_path(parents, "parents", {}), "parents")
    container, kind = classified
    if kind is MAPPING:
        entries = entries_of(container, "parents")
        for document, chunks in entries.items():
            if isinstance(chunks, (list, set, frozenset, np.ndarray)):
                found = f"{type(chunks).__name__} for {document!r}"
                raise type_error("parents", "the document of each chunk", found, hint=_INVERTED)
        return _Listed(_keys(list(entries), "parents.chunk"), _keys(list(entries.values()), "parents.document"))
    if kind is SERIES and hasattr(container, "index"):
        (chunks, *others), _ = index_columns(container.index, "parents.chunk")
        if others:
            raise type_error("parents", "an index of chunks", "an index of several levels")
        of_index = ItemEntries(*encode_items(chunks, "parents.chunk", Encoding()))
        return _Listed(_keys_of_entries(of_index), _keys(container, "parents.document"))
    if kind is FRAME:
        table = open_table(container, "parents")
        if len(table.names) != 2:
            found, hint = ", ".join(map(str, table.names)), "parents=parents[[chunk, document]] selects them"
            raise input_error("parents", "two columns: of chunks, and of their documents", found, hint=hint)
        selected = table.select(list(table.names), "parents")
        if selected.list_offsets:
            raise type_error("parents", "a chunk and its document in each row", "lists")
        of_columns = [
            _keys_of_entries(ItemEntries(*encode_items(selected.columns[name], f"parents.{name}", Encoding())))
            for name in table.names
        ]
        return _Listed(*of_columns)
    expected = (
        "a mapping from chunk to document, a Series, a data frame of two columns, the path of a file, or exactk.Parents"
    )
    raise type_error("parents", expected, type(parents).__name__)


_INVERTED: Text = (
    Option(
        "parents",
        "",
        "parents={{chunk: document for document, chunks in parents.items() for chunk in chunks}}",
        "a JSON object from each chunk to its document",
    ),
    " if these are the chunks of each document",
)


def _own_parent(key: object) -> Text:
    """Return how to list a document without chunks."""
    entry = f"{{..., {key!r}: {key!r}}}".replace("{", "{{").replace("}", "}}")
    line = f"a line {key},{key}"
    option = Option("parents", "", f"parents={entry}, or in a file {line},", f"{line} of --parents FILE")
    return (option, " lists it if it is a document without chunks")


def _keys(keys: object, argument: str) -> list[Any]:
    return _keys_of_entries(ItemEntries(*encode_item_keys(keys, argument)))


def _keys_of_entries(entries: ItemEntries) -> list[Any]:
    keys: list[Any] = (entries.values if entries.keys is None else entries.keys.array[entries.values]).tolist()
    return keys


class ChunkParents:
    """The documents of chunks, and how these are joined."""

    def __init__(self, parents: object, values: Plan, threads: int) -> None:
        self._threads = threads
        self._parents = _Split(parents.split) if isinstance(parents, Parents) else _listed(parents)
        rules = [value.rules for value in values]
        scores = {one["chunk_score"] for one in rules}
        if len(scores) > 1:
            raise input_error("metrics", "one chunk_score for all values", " and ".join(sorted(map(repr, scores))))
        self._score = scores.pop() if scores else "max"
        self._refuses_nan = any(one["nan"] == "raise" for one in rules)
        self._keeps_gaps = any(one["rank_gaps"] == "keep" for one in rules)
        self._collapses = all(one["duplicate_items"] == "collapse" for one in rules)
        self._has_chunks = False

    def check_has_chunks(self) -> None:
        """Raise InputError if neither the truth nor any predictions had a chunk."""
        if not self._has_chunks:
            none = f"none of the ids of the truth and the predictions is a chunk{self._parents.such_as}"
            raise input_error("parents", none, "")

    def of_truth(self, classified: ClassifiedValue, columns: ColumnNames) -> ClassifiedValue:
        """Return the truth with the highest grade of each document."""
        if classified.value is None:
            return classified
        rows = remove_padding(truth_of(classified, columns, Encoding(self._threads)).rows())
        documents = self._with_documents(rows, "truth")
        groups = _Groups(documents, documents.items)
        grades = None if rows.grades is None else groups.reduce(np.maximum, rows.grades)
        return classify(Truth.from_valid_rows(groups.rows(groups.firsts, grades=grades)), "truth")

    def of_predictions(self, classified: ClassifiedValue, columns: ColumnNames) -> ClassifiedValue:
        """Return the lists of documents."""
        if classified.value is None:
            return classified
        if classified.container is BLOCKS:
            way = "put documents in place of the chunks of each block"
            raise type_error("parents", "predictions in a container", "an iterator of blocks", hint=way)
        predictions = predictions_of(classified, columns, Encoding(self._threads))
        if not isinstance(predictions, (Rankings, SparseScores)):
            expected = "lists of chunks, or chunks with scores, beside parents"
            way = "predictions=exactk.topk(predictions, k) ranks the best chunks: k must be many more than the cutoff"
            raise type_error("predictions", expected, type(classified.value).__name__, hint=way)
        lists = predictions if isinstance(predictions, Rankings) else predictions.lists
        lists.core.validate("predictions", None)
        rows = self._checked(remove_padding(predictions.rows()))
        if rows.scores is None and self._score != "max":
            hint = (Option("convention", {"chunk_score": "max"}), " ranks a document by its first chunk")
            expected = f"scores of chunks, as chunk_score={self._score!r} needs"
            raise input_error("predictions", expected, "lists without scores", hint=hint)
        documents = self._with_documents(rows, "predictions")
        return classify(_container(self._joined(documents, rows)), "predictions")

    def _checked(self, rows: Rows) -> Rows:
        """Return the rows without what is not ranked; raise InputError for what the convention refuses."""

        def refuse(flags: NDArray[np.bool_], expected: str, found: str, hint: Any) -> None:  # noqa: ANN401 - a text
            offset, count = first_and_count(flags)
            row, position = row_at(rows.indptr, offset)
            error = input_error("predictions", expected, found, row=row, position=position, count=count, hint=hint)
            raise with_location(error, rows.user_vocabulary, rows.find_row)

        if self._keeps_gaps and (users := Rankings.from_rows(rows._replace(scores=None)).users_with_rank_gaps):
            expected, closing = "ranks without gaps beside parents, by which ranks are new", {"rank_gaps": "close"}
            raise input_error(
                "predictions", expected, f"{plural(users, 'user')} with gaps", hint=Option("convention", closing)
            )
        groups = _Groups(rows, rows.items)
        if len(groups.firsts) < len(rows.items) and not self._collapses:
            repeats = np.ones(len(rows.items), np.bool_)
            repeats[groups.firsts] = False
            hint = (Option("convention", {"duplicate_items": "collapse"}), " drops repeats")
            refuse(repeats, "each chunk once in a list", f"{_text(rows, rows.items[np.argmax(repeats)])} again", hint)
        scores = rows.scores
        if scores is None:
            return groups.rows(groups.firsts, ranks=None)
        missing = np.isnan(scores) if scores.dtype.kind == "f" else np.zeros(len(scores), np.bool_)
        if self._refuses_nan and missing.any():
            refuse(missing, "scores without NaN", "NaN", (Option("convention", {"nan": "last"}), " ranks them last"))
        rows = groups.rows(*groups.best(scores))
        if rows.min_score is None:
            return rows
        is_ranked = np.asarray(rows.scores) >= rows.min_score
        counts = np.bincount(_users(rows)[is_ranked], minlength=rows.user_count)
        return rows.with_entries(is_ranked, indptr=offsets_of(counts), min_score=None)

    def _with_documents(self, rows: Rows, argument: str) -> Rows:
        """Return rows of documents, several times in a row if it has several of its chunks."""
        held, codes = np.unique(rows.items, return_inverse=True)
        keys = (held if rows.item_vocabulary is None else rows.item_vocabulary.array[held]).tolist()
        documents = [self._parents.document_of(key) for key in keys]
        self._has_chunks = self._has_chunks or not keys or documents != keys
        unknown = np.array([document is None for document in documents], np.bool_)
        if unknown.any():
            offset, count = first_and_count(unknown[codes])
            row, position = row_at(rows.indptr, offset)
            key, is_other = keys[int(codes[offset])], not isinstance(self._parents.example, type(keys[0]))
            expected = "ids that parents has, of chunks or of documents"
            hint = KIND_HINT if is_other else _own_parent(key)
            error = input_error(argument, expected, repr(key), row=row, position=position, count=count, hint=hint)
            raise with_location(error, rows.user_vocabulary, rows.find_row)
        if not keys:
            return rows
        ids, vocabulary = encode_item_keys(documents, "parents")
        return rows._replace(items=ids.astype(np.int64)[codes], item_vocabulary=vocabulary, column_count=None)

    def _joined(self, documents: Rows, chunks: Rows) -> Rows:
        """Return each document once per row, by the scores of its chunks."""
        scores = chunks.scores
        if scores is None:
            groups = _Groups(documents, documents.items)
            return groups.rows(groups.firsts)
        if self._score == "first":
            held, codes = np.unique(chunks.items, return_inverse=True)
            keys = (held if chunks.item_vocabulary is None else chunks.item_vocabulary.array[held]).tolist()
            listed = np.array([self._parents.position_of(key) for key in keys], np.int64)[codes]
            groups = _Groups(documents, documents.items, listed)
            return groups.rows(groups.firsts, scores=scores[groups.firsts])
        groups = _Groups(documents, documents.items)
        if self._score == "max":
            return groups.rows(*groups.best(scores))
        if (scores < 0).any():
            warn(
                f"predictions: chunk_score={self._score!r} adds negative scores, by which documents of more chunks rank lower"
            )
        return groups.rows(groups.firsts, scores=groups.sums(scores, are_means=self._score == "mean"))

    def of_restriction(self, argument: str, classified: ClassifiedValue, columns: ColumnNames) -> ClassifiedValue:
        """Return exclusions or candidates; raise InputError for a chunk, as they are of documents."""
        if classified.value is None:
            return classified
        lists: Exclusions | CandidateItems | None = (
            exclusions_of(classified, columns, Encoding(self._threads))
            if argument == "exclude"
            else as_candidate_items(classified, columns)
        )
        assert lists is not None  # noqa: S101 - for the type checker
        held = np.unique(lists.items)
        for key in (held if lists.item_vocabulary is None else lists.item_vocabulary.array[held]).tolist():
            document = self._parents.document_of(key)
            if document is not None and document != key:
                found = f"{key!r}, a chunk of {document!r}"
                raise input_error(
                    argument, "documents beside parents", found, hint="leave chunks out of the predictions"
                )
        return classify(lists, argument)


def _container(rows: Rows) -> Rankings | SparseScores:
    return Rankings.from_rows(rows) if rows.scores is None else SparseScores.from_rows(rows)


def _text(rows: Rows, item: int) -> str:
    return f"item {item}" if rows.item_vocabulary is None else f"item {rows.item_vocabulary.repr_of(int(item))}"


def _users(rows: Rows) -> NDArray[np.int64]:
    return np.repeat(np.arange(rows.user_count), np.diff(rows.indptr))


class _Groups:
    """The entries of each user and item of rows, together."""

    def __init__(self, rows: Rows, items: Ids, order: NDArray[np.int64] | None = None) -> None:
        """Entries of a group are in the order of the row, or in the given one."""
        self._rows, self._users = rows, _users(rows)
        keys = (items, self._users) if order is None else (order, items, self._users)
        self._order = np.lexsort(keys)
        items, users = items[self._order], self._users[self._order]
        differs = (items[1:] != items[:-1]) | (users[1:] != users[:-1])
        self._starts = np.flatnonzero(np.concatenate([np.ones(1, np.bool_), differs])[: len(items)])

    @property
    def firsts(self) -> NDArray[np.int64]:
        """The first entry of each group."""
        return self._order[self._starts]

    def reduce(self, function: np.ufunc, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return one number for each group."""
        return function.reduceat(numbers[self._order], self._starts) if len(self._starts) else numbers[:0]

    def best(self, scores: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the entry of each group with the highest score, the first of several, and that score; NaN is the lowest."""
        highest = self.reduce(np.fmax, scores)
        of_entries = np.repeat(highest, np.diff(np.append(self._starts, len(scores))))
        sorted_scores = scores[self._order]
        is_best = (sorted_scores == of_entries) | (of_entries != of_entries)  # noqa: PLR0124 - NaN
        candidates = np.empty(len(scores), np.int64)
        candidates[self._order] = np.where(is_best, self._order, len(scores))
        return self.reduce(np.minimum, candidates), highest

    def sums(self, scores: NDArray[Any], *, are_means: bool) -> NDArray[np.float64]:
        """Return the sum of each group, rounded once, or its quotient by the size of the group."""
        ends = np.append(self._starts[1:], len(scores))
        ordered = scores[self._order]
        sums = ordered[self._starts].astype(np.float64)
        for group in np.flatnonzero(ends - self._starts > 1).tolist():
            sums[group] = _sum(ordered[self._starts[group] : ends[group]].tolist())
        return sums / (ends - self._starts) if are_means else sums

    def rows(self, entries: NDArray[np.int64], scores: NDArray[Any] | None = None, **changes: Any) -> Rows:  # noqa: ANN401 - other fields
        """Return rows of these entries, one of each group, with numbers of the groups."""
        order = np.argsort(entries)
        entries = entries[order]
        indptr = offsets_of(np.bincount(self._users[entries], minlength=self._rows.user_count))
        changes = {name: value if value is None else value[order] for name, value in changes.items()}
        scores = None if scores is None else scores[order]
        return self._rows._replace(
            indptr=indptr, items=self._rows.items[entries], scores=scores, find_row=None, is_owned=True, **changes
        )


def _sum(numbers: Sequence[float]) -> float:
    """Return the sum, rounded once; infinite beyond the largest number, NaN of infinities of both signs."""
    if not all(map(math.isfinite, numbers)):
        return sum(numbers)
    try:
        return math.fsum(numbers)
    except OverflowError:  # of what has been added so far
        total = sum(map(Fraction, numbers))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf
