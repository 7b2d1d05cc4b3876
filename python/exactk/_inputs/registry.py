"""The list of containers, and the only place that inspects a value's type.

A new container is one adapter in `containers` and one entry here, from which docstrings and the docs list it. Paths of
files stand in place of containers: the reader of files is in a layer above, and is loaded with the first path.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from exactk._inputs import ways_on
from exactk._inputs.batches import Batches
from exactk._inputs.checks import id_array, import_dlpack
from exactk._inputs.containers import arrays, frames, sequences, tables
from exactk._inputs.containers.frames import has_values_by_user_and_item
from exactk._inputs.keys import pivoted
from exactk._inputs.keys.column_roles import ROLES, names_of_record, usual_role
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import CandidateItems, Lists
from exactk._inputs.model.rows import Rows, with_labels_as_keys
from exactk._inputs.model.scores import CanonicalEmbeddings, Scores, SparseScores
from exactk._inputs.model.top_k import TopK
from exactk._runtime import optional
from exactk._runtime.errors import InputTypeError, input_error, type_error
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.types import FilePath


def is_path(value: object) -> TypeGuard[FilePath]:
    """Return whether the value is a path."""
    return isinstance(value, (str, os.PathLike))


class ConversionOptions(NamedTuple):
    """The options of an adapter."""

    argument: str
    encoding: Encoding
    columns: ColumnNames


class Container(NamedTuple):
    """One kind of container."""

    name: str  # name in messages, with an article
    recognize: type | Callable[[object], bool]  # its class, or a predicate
    to_rows: Callable[[Any, ConversionOptions], Rows] | None = None  # None if it is canonical or has no rows
    as_truth: str = ""  # contents as a truth, for the docs
    as_predictions: str = ""
    examples: str = ""  # libraries, for the docs
    names_items: bool = True  # as scores; otherwise rows have a score for every item, or no scores
    arguments: frozenset[str] = frozenset()  # the only arguments for which it is recognized; empty: all

    @property
    def noun(self) -> str:
        """The container's name in documentation."""
        return self.name.removeprefix("a ").removeprefix("exactk.").removeprefix("results.").partition(" from ")[0]


LIST = Container(
    "a list of sequences",
    list,
    lambda value, options: sequences.rows_of_lists(value, options.argument, options.encoding),
    "per user, items, or items with grades (a mapping or (item, grade) tuples); `None` for a missing user",
    "per user, items, best first, or items with scores (a mapping or (item, score) tuples); `None` for a missing user",
    names_items=False,
)
SPARSE_MATRIX = Container(
    "a sparse matrix",
    optional.is_sparse,
    lambda value, options: arrays.rows_of_sparse_matrix(value, options.argument),
    "stored values are grades (a stored zero is judged and not relevant); in a bool matrix, True is relevant",
    "stored values are scores",
    "`scipy.sparse`",
)
REPORT = Container("a report", ways_on.is_report)  # which is a mapping too
MAPPING = Container(
    "a mapping",
    Mapping,
    lambda value, options: sequences.rows_of_mapping(value, options.argument, options.encoding),
    "from each user to the same entries as in a list",
    "from each user to the same entries as in a list",
)
ARRAY = Container(
    "a two-dimensional array",
    np.ndarray,
    lambda value, options: arrays.rows_of_array(value, options.argument),
    "ids padded with -1, or bool (multi-hot); with dense scores also floats, one grade per score",
    "ids padded with -1, or scores of all items as floats",
    "NumPy, or any library that exports DLPack",
    names_items=False,
)
PIVOTED_FRAME = Container(
    "a pivoted data frame",
    pivoted.is_pivoted,
    as_predictions="scores of all items as floats; users in the index, items in the columns",
    examples="pandas",
    arguments=frozenset({"truth", "predictions", "scores"}),
)
FRAME = Container(
    "a data frame",
    tables.is_frame,
    lambda value, options: frames.rows_of_frame(value, options.argument, options.encoding, options.columns),
    "one row per user and item, optionally with a grade; or one row per user with a list of items",
    "one row per user and item, with a score or a rank; or one row per user with a list of items, best first",
    "pandas, Polars (also lazy), pyarrow, DuckDB, narwhals, Ibis, Hugging Face, or any library that streams Arrow; records in a list, as of ir_datasets and ir_measures",
)
NEIGHBOR_LISTS = Container(
    "ids and distances from a nearest-neighbor index",
    arrays.is_neighbor_lists,
    lambda value, options: arrays.rows_of_neighbor_lists(value, options.argument),
    "ids",
    "ids, whose distances must show that they are best first",
    "faiss, hnswlib, usearch, scikit-learn",
    names_items=False,
)
TOP_K = Container(
    "exactk.results.TopK",
    TopK,
    lambda value, options: arrays.rows_of_top_k(value, options.argument, options.encoding),
    "items per user",
    "items per user, best first",
    "`exactk.topk`, `exactk.neighbors`",
    names_items=False,
)
LISTS = Container("exactk.Truth, Rankings or Exclusions", Lists)
SPARSE_SCORES = Container("exactk.SparseScores", SparseScores)
SCORES = Container("exactk.Scores", Scores)
EMBEDDINGS = Container("exactk.Embeddings", CanonicalEmbeddings)
BATCHES = Container("exactk.Batches", Batches)
SERIES = Container(
    "a Series",
    tables.is_series,
    lambda value, options: frames.rows_of_series(value, options.argument, options.encoding, options.columns),
    "users in the index: a list of items per user, or one item; users and items in the index: a grade",
    "users in the index: a list of items per user, best first; users and items in the index: a score or a rank",
    "pandas; Polars and pyarrow with one list per row",
)
FILE = Container(
    "a path",
    is_path,
    as_truth="a file, as `exactk.read` reads it",
    as_predictions="a file, as `exactk.read` reads it",
    examples="TREC, CSV, TSV, JSON, JSON lines, Parquet, Arrow, NumPy archives",
)
BLOCKS = Container("an iterator", Iterator)

CONTAINERS = (
    LIST, LISTS, SPARSE_SCORES, SCORES, EMBEDDINGS, BATCHES, SPARSE_MATRIX, REPORT, MAPPING, ARRAY, PIVOTED_FRAME, FRAME, SERIES,
    TOP_K, NEIGHBOR_LISTS, FILE, BLOCKS,
)  # fmt: skip
"""The first container that recognizes a value wins: some sparse matrices are also mappings, and Arrow readers iterators."""
ADAPTERS = (*(container for container in CONTAINERS if container.to_rows is not None), FILE)
"""What becomes rows; a file does once it is read."""
DOCUMENTED = tuple(container for container in CONTAINERS if container.as_predictions)
"""What the docs list."""


class ClassifiedValue(NamedTuple):
    """A caller's value, as a NumPy array if it exports DLPack, and its container; None if it is not a container."""

    value: Any
    container: Container | None

    @property
    def is_matrix_of_floats(self) -> bool:
        """Whether the value is dense scores, or grades of the same shape."""
        if self.container is PIVOTED_FRAME:
            return True
        return self.container is ARRAY and self.value.ndim == 2 and self.value.dtype.kind == "f"


def classify(value: object, argument: str) -> ClassifiedValue:
    """Return the container of an argument's value."""
    if value is None:
        return ClassifiedValue(None, None)
    value = tables.of_records(optional.unwrapped(value))
    if hasattr(value, "__dlpack__") and not tables.is_series(value):
        value = import_dlpack(value, argument)
    for container in CONTAINERS:
        recognize = container.recognize
        if container.arguments and argument not in container.arguments:
            continue
        if isinstance(value, recognize) if isinstance(recognize, type) else recognize(value):
            return ClassifiedValue(optional.as_series(value) if container is SERIES else value, container)
    return ClassifiedValue(value, None)


def with_records_read(classified: ClassifiedValue) -> ClassifiedValue:
    """Return the records of users and items in an iterator as a table, which reads it; others unchanged."""
    value, container = classified
    if container is not BLOCKS:
        return classified
    first = next(value, None)
    return classify([first, *value], "truth") if names_of_record(first) else classified


def rows_of_container(classified: ClassifiedValue, options: ConversionOptions) -> Rows:
    """Return the rows from the container's adapter."""
    value, container = with_records_read(classified)
    if container is not None and container.to_rows is not None:
        try:
            return container.to_rows(value, options)
        except InputTypeError as error:
            hint = ways_on.of_container(value, options.argument) if container is MAPPING else ""
            if not hint and container in {LIST, MAPPING, SERIES}:
                hint = ways_on.of_tuples(value, error, options.argument)
                hint = hint or ways_on.of_rows(value, error, options.argument)
            if not hint:
                raise
            raise error.amended(hint=(hint,)) from error.__cause__
    expected = ", ".join(adapter.name for adapter in ADAPTERS)
    alternatives = {
        "truth": " or exactk.Truth",
        "predictions": ", exactk.Rankings, Scores, SparseScores or Embeddings",
        "exclude": " or exactk.Exclusions",
        "scores": ", exactk.Scores, SparseScores or Embeddings",
        "candidates": " or one sequence of ids for all users",
    }
    hint = ways_on.of_container(value, options.argument)
    if options.argument == "truth" and isinstance(value, Generator):
        hint += ", if it has one row per user; evaluate(None, truth, metrics) takes (truth, predictions) blocks"
    if container is PIVOTED_FRAME and options.argument == "truth":
        hint = "truth=exactk.Truth.from_dense(truth) if it holds a grade for each item"
    raise type_error(options.argument, f"{expected}{alternatives[options.argument]}", type(value).__name__, hint=hint)


def as_candidate_items(classified: ClassifiedValue, columns: ColumnNames) -> CandidateItems | None:
    """Return the items to which scores are restricted: a flat sequence or 1-D array applies to all users.

    Items are column numbers, or keys if the scores are keyed; `columns` names those of data frames.
    """
    value, container = classified
    if value is None or isinstance(value, CandidateItems):
        return value
    if container is LISTS:
        return CandidateItems.from_rows(with_labels_as_keys(value.rows(), "candidates"), for_all=False)
    if container is SPARSE_MATRIX:
        return CandidateItems.from_rows(arrays.stored_elements(value, "candidates").rows, for_all=False)
    if container is SERIES and frames.has_one_item_each(value) and not frames.has_values_by_user_and_item(value):
        _refuse_users(value)
        value, container = frames.elements(value), LIST
    if container is ARRAY and value.ndim == 1 and value.dtype.kind in "OUST":
        value, container = value.tolist(), LIST
    if container is ARRAY and value.ndim == 1:
        _refuse_flags(value)
        items = id_array(value, "candidates")
        return CandidateItems.from_rows(Rows(np.array([0, len(items)]), items), for_all=True)
    if container not in {NEIGHBOR_LISTS, TOP_K} and sequences.is_flat(value):  # both are tuples too
        _refuse_flags(value)
        rows = sequences.rows_of_lists([value], "candidates", Encoding())
        return CandidateItems.from_rows(rows, for_all=True)
    rows = rows_of_container(classified, ConversionOptions("candidates", Encoding(), columns))
    return CandidateItems.from_rows(rows, for_all=False)


def _refuse_flags(items: Any) -> None:  # noqa: ANN401 - a sequence
    """Raise InputError for a 0 or 1 per column, of which one repeats."""
    if len(items) > 2 and all(one in (0, 1) for one in items):
        hint = "candidates=np.flatnonzero(candidates) has the columns of 1"
        raise input_error("candidates", "distinct column numbers or keys", "zeros and ones that repeat", hint=hint)


def _refuse_users(items: Any) -> None:  # noqa: ANN401 - a Series
    """Raise InputError for a Series with users in its index, unless that may be left of a selection."""
    index = items.index if frames.has_user_index(items) else None
    are_numbers = index is None or (index.dtype.kind in "iu" and index.is_unique)
    if index is not None and (not are_numbers or usual_role(str(index.name)) == "user"):
        hint = "candidates=candidates.tolist() has the same for all users, candidates.groupby(candidates.index).agg(list) each user's"
        raise input_error("candidates", "items of all users, or lists by user", "an item by user", hint=hint)


def file_reader() -> Any:  # noqa: ANN401 - a module of a layer above
    """Return what reads files, which is loaded with the first path: `exactk._files.file_arguments`."""
    return import_module("exactk._files.file_arguments")


class FilesOfSystems:
    """A context in which what the files of several systems show is warned of once, at its end."""

    pending: ContextVar[list[Any] | None] = ContextVar("pending", default=None)

    def __enter__(self) -> None:
        """Enter the context."""
        self._token = self.pending.set([])

    def __exit__(self, kind: object, *_: object) -> None:
        """Warn, unless an error ends the context."""
        pending = self.pending.get()
        self.pending.reset(self._token)
        if pending and kind is None:
            file_reader().warn_of_ranks(pending)


def names_file(text: str) -> bool:
    """Return whether a string that could be a column's name is a path: of a file, or with an ending or a folder."""
    try:
        Path(text).stat()
    except (OSError, ValueError):  # ValueError: a zero byte
        return bool(Path(text).suffix) or os.sep in text
    return True


def open_path(value: object, argument: str, columns: ColumnNames) -> object:
    """Return the container of the file at a path; other values unchanged."""
    return file_reader().read_argument(value, argument, columns) if is_path(value) else value


def opened(classified: ClassifiedValue, argument: str, columns: ColumnNames) -> ClassifiedValue:
    """Return the container of the file if the value is a path; other values unchanged."""
    if classified.container is not FILE:
        return classified
    return classify(open_path(classified.value, argument, columns), argument)


def check_columns_are_read(
    columns: ColumnNames, classified: Iterable[tuple[str, ClassifiedValue]], **others: object
) -> None:
    """Raise InputError if a column is named but no argument is a data frame, or a file with columns.

    The arguments, each with its name: those that the call has classified, and others.
    """
    named = [role for role, name in columns.items() if name is not None]
    if not named:
        return
    given = [*classified, *((argument, classify(value, argument)) for argument, value in others.items())]
    containers: dict[str, set[Container | None]] = {}
    for argument, one in given:
        containers.setdefault(argument, set()).add(one.container)
    if any(BLOCKS in kinds for kinds in containers.values()):  # their content is unknown until they are read
        return
    read = {role for argument, one in given if _has_columns(one, argument) for role in ROLES[argument]}
    for role in named:
        if role not in read:
            takers = [argument for argument in ROLES if argument in containers and role in ROLES[argument]]
            found = f"{role}={columns.get(role)!r} without one"
            function = "as_predictions" if role in {"score", "rank"} else "as_truth"
            was_converted = any(containers[taker] & {LISTS, SPARSE_SCORES} for taker in takers)
            hint = f"pass {role}= to exactk.read or exactk.{function}, which read the columns"
            raise input_error(
                role,
                f"a data frame or file with columns as {' or '.join(takers)}",
                found,
                hint=hint if was_converted else "",
            )


def _has_columns(classified: ClassifiedValue, argument: str) -> bool:
    value, container = classified
    if container is FILE:
        return bool(file_reader().has_columns(value, argument))
    return container is FRAME or container is BATCHES or (container is SERIES and has_values_by_user_and_item(value))
