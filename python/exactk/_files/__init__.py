"""Readers of files of judgments, rankings and training items, one module per format."""

from __future__ import annotations

import os
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict, get_args, overload

import numpy as np

from exactk._files import archive, column_files, forms, json_files, read_containers, trec_files
from exactk._files.file_errors import File
from exactk._files.folders import parts_of
from exactk._files.formats import ARCHIVE, COLUMN_SOURCES, JSON, TEXT, TREC, format_of
from exactk._files.source import choose_columns, is_large, table_of_user_values
from exactk._inputs.batches import Batches
from exactk._inputs.keys.column_roles import ROLES, ColumnNames
from exactk._inputs.model.rows import locate_in_parts
from exactk._runtime.errors import ExactkError, input_error, name_source, type_error
from exactk._runtime.threads import read_ahead

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Unpack

    from exactk._files.source import RequestedColumns, Source
    from exactk._inputs.model.lists import Exclusions, Rankings
    from exactk._inputs.model.scores import SparseScores
    from exactk._inputs.truth import Truth
    from exactk._inputs.types import FilePath

Role: TypeAlias = Literal["truth", "predictions", "exclude"]


class TextOptions(TypedDict, total=False):
    """What is said of the text of a file: the name of its form, or the roles of its fields, and what separates them."""

    form: str | None
    columns: Sequence[str] | None
    separator: str | None


class ReadOptions(ColumnNames, TextOptions, total=False):
    """The options of `read`."""

    text_ids: bool


@overload
def read(path: FilePath, role: Literal["truth"], **options: Unpack[ReadOptions]) -> Truth: ...
@overload
def read(
    path: FilePath, role: Literal["predictions"], **options: Unpack[ReadOptions]
) -> Rankings | SparseScores | Batches: ...
@overload
def read(path: FilePath, role: Literal["exclude"], **options: Unpack[ReadOptions]) -> Exclusions: ...
@overload
def read(path: FilePath, role: Role, **options: Unpack[ReadOptions]) -> read_containers.ReadResult: ...
def read(
    path: FilePath,
    role: Role,
    *,
    text_ids: bool = False,
    form: str | None = None,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    user: str | Sequence[str] | None = None,
    item: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    grade: str | None = None,
) -> read_containers.ReadResult:
    r"""Read a file of judgments, rankings or training items, in the format that its extension names.

    Parameters
    ----------
    path : str or path
        The file, in one of these formats:

        - ``.csv``, ``.tsv``, ``.inter`` (of RecBole), ``.json``, ``.jsonl`` or ``.ndjson``, optionally compressed
          (``.gz``, ``.bz2``, ``.xz``, or ``.zst`` with Python 3.14 or the package backports.zstd);
        - ``.parquet``;
        - ``.arrow``, ``.feather`` or ``.ipc``;
        - ``.npz``;
        - any other extension but those of known formats: TREC text, optionally compressed: qrels with the
          fields query, iteration, document and grade, or a run with the fields query, Q0, document, rank, score and
          tag. Ranks, and text after the tag, are ignored.

        Files of TREC text and JSON may be pipes; all others must be regular files. For predictions, a folder, or a
        pattern such as ``"parts/*.csv"``, names several files of one form, whose rows are read as if they were in one.

        Parquet and Arrow need pyarrow (``pip install 'exactk[arrow]'``), which also reads large JSON lines faster.
    role : {"truth", "predictions", "exclude"}
        The argument of `exactk.evaluate` that the file is for. Qrels are a truth, runs are predictions, and either
        can be exclusions.
    text_ids : bool
        Whether to read integer ids, and digits in CSV, as strings, so that they match the ids of TREC files.
    form : str, optional
        What the file is, whatever its ending and its rows show, for one that could be several: ``"qrels"`` or ``"run"``
        of TREC, ``"msmarco-qrels"``, ``"msmarco-run"``, ``"ml-100k"`` (user, item, rating and time), ``"double-colon"``
        (the same between ``::``), ``"adjacency"`` (a user and its items per line), ``"svmlight"``, ``"json"`` or
        ``"jsonl"``. Every row is checked all the same.
    columns : sequence of str, optional
        For text whose rows have no line of column names, the role of each field: ``"user"``, ``"item"``, ``"grade"``,
        ``"score"``, ``"rank"`` or another usual name of these, or ``"-"`` for a field that is not read. Several users
        together identify a user.
    separator : {"\t", ",", ";", "|", "::", " "}, optional
        What separates the fields of text in columns, whatever the extension; ``" "`` is any number of blanks. By default
        it is the one by which all rows have as many fields as ``columns``; without ``columns``, the extension's.
    user : str or sequence of str, optional
        The user column, or several columns that together identify a user. By default, columns are detected by their
        common names, as in data frames: see `exactk.as_truth` and `exactk.as_predictions`.
    item, score, rank, grade : str, optional
        The item column, the score or rank column of predictions, and the grade column of a truth.

    Returns
    -------
    Truth, Rankings, SparseScores, Batches or Exclusions
        Predictions in columns from a file of more than 256 MB (64 MB if compressed) are `exactk.Batches`, which are
        read during the evaluation: a few batches at a time if each user's rows are contiguous, and otherwise again from
        a temporary file, some users at a time.

    Raises
    ------
    InputError
        If the file cannot be read or has invalid content. For text, the message gives the line.

    Notes
    -----
    Ids in TREC files are strings, even if they consist of digits. An id column in CSV holds integers if every id is
    written as Python writes integers (7, not 07), and strings otherwise. In JSON, Parquet and Arrow, the file gives the
    type. JSON lines may hold one row each, such as ``{"user": 1, "item": 2, "score": 0.5}``, or one user each, such as
    ``{"user": 1, "items": [2, 3], "scores": [0.5, 0.25]}``, also with lists of hits: ``{"query_id": "q1", "results":
    [{"corpus_id": "d7", "score": 0.5}]}``, whose fields are columns, as those of structs in Parquet and Arrow are:
    ``score="results[].score"``, or ``score="score"`` alone. A ``.json`` file is a list of such rows, or one object from
    user to items, as pytrec_eval, BEIR and ranx write it: ``{"u1": {"i2": 0.5, "i3": 0.25}}``, or ``{"u1": ["i2", "i3"]}``.

    Text whose rows have no line of column names is read by ``columns``, or by itself if all rows have a form that no
    other has: qrels and runs of MS MARCO, ratings with times as in MovieLens, lists of integers as those of LightGCN, and
    SVMlight with queries, as LETOR has it.

    Numbers in text have an optional sign, digits with an optional fraction, and an optional exponent, or are ``inf``
    or ``nan``. A number that float64 cannot represent (``1e400``, ``1e-400``, ``9007199254740993``) is an error. CSV
    fields may be in double quotes, with quotes doubled inside; TSV has no quotes. Lines end in a line feed, or a
    carriage return and a line feed. Empty lines, and comments in TREC files (``#``), are skipped; a comment that would
    also be a valid row (``#1 0 d1 1``) is an error.

    Compressed text is streamed. Files that expand to more than 200 bytes of text per compressed byte are refused, as
    only repeated rows compress so well.

    An ``.npz`` archive has the arrays ``indptr`` and ``items``, and optionally ``grades``, ``scores`` and ``users``,
    as in `exactk.Truth` and `exactk.SparseScores`; or it is a CSR matrix written by ``scipy.sparse.save_npz``.

    Examples
    --------
    >>> import exactk, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "test.qrels").write_text("q1 0 d1 1\nq1 0 d7 2\nq2 0 d1 1\n")
    >>> _ = (folder / "test.csv").write_text("query,document,score\nq1,d7,0.5\nq1,d2,0.25\nq2,d1,1\n")
    >>> truth = exactk.read(folder / "test.qrels", "truth")
    >>> predictions = exactk.read(folder / "test.csv", "predictions")
    >>> exactk.evaluate(truth, predictions, "ndcg@10")["ndcg@10"]
    0.8800937667159343
    >>> _ = (folder / "test.txt").write_text("q1;web;d1;1\nq1;web;d7;2\nq2;news;d1;1\n")
    >>> truth = exactk.read(folder / "test.txt", "truth", columns=["user", "-", "item", "grade"])
    >>> exactk.evaluate(truth, predictions, "ndcg@10")["ndcg@10"]
    0.8800937667159343
    """
    file = file_at(path, role)
    if role not in get_args(Role):
        raise input_error("role", f"one of {', '.join(get_args(Role))}", repr(role))
    columns_of_roles = {"user": user, "item": item, "score": score, "rank": rank, "grade": grade}
    requested = {name: column for name, column in columns_of_roles.items() if column is not None}
    for name, column in requested.items():
        if name not in ROLES[role]:
            raise input_error(name, f"None for the role {role}", repr(column))
    if not isinstance(text_ids, (bool, np.bool_)):
        raise type_error("text_ids", "True or False", repr(text_ids))
    options: TextOptions = {"form": form, "columns": columns, "separator": separator}
    with name_source(str(file.path)):
        return read_files(parts_of(file), requested, text_ids=bool(text_ids), **options).container


def file_at(path: object, role: str, argument: str = "path") -> File:
    """Return the file at a path that is an argument, in the role of one."""
    if not isinstance(path, (str, os.PathLike)):
        raise type_error(argument, "a path", type(path).__name__)
    if "\0" in str(path):
        raise input_error(argument, "a path", repr(str(path)))
    return File(Path(path), role)


class Contents(NamedTuple):
    """What files hold, what they were taken for, and, if they have columns, the first of them with what was requested of it."""

    container: read_containers.ReadResult
    form: str  # or format
    source: Source | None = None
    requested: RequestedColumns | None = None


def read_files(
    files: Sequence[File], requested: RequestedColumns, *, text_ids: bool, **options: Unpack[TextOptions]
) -> Contents:
    """Return the contents of one file, or of several with predictions as if their rows were in one, in the container of the role."""
    form, columns, separator = options.get("form"), options.get("columns"), options.get("separator")
    if form is not None:
        if columns is not None or separator is not None:
            raise input_error("form", "None beside columns or separator", repr(form))
        return _read_form(files, form, requested, text_ids=text_ids)
    if columns is not None or separator is not None:
        sources, requested = _by_position(files, columns, separator, requested)
        return _read_columns(sources, requested, "text with separators", text_ids=text_ids)
    format_name = format_of(files[0])
    for file in files:
        if format_of(file) != format_name:
            found = f"{format_name} in {files[0].path} and {format_of(file)} in {file.path}"
            raise input_error("predictions", "files of one format", found, hint="a quoted pattern selects files")
    with forms.advising(files[0], format_name):
        try:
            return _read(files, format_name, requested, text_ids=text_ids)
        except ExactkError:
            is_unnamed = format_name in forms.UNNAMED and not requested
            if not is_unnamed or (name := forms.recognized(files)) is None:
                raise
        return _read_form(files, name, {}, text_ids=text_ids)


def _read_form(files: Sequence[File], name: str, requested: RequestedColumns, *, text_ids: bool) -> Contents:
    form = forms.form_of(name, files[0])
    if isinstance(form, forms.NamedFormat):
        return _read(files, form.format_name, requested, text_ids=text_ids, form=name)
    _refuse_columns(requested)
    _check_kinds(files, pipes=False)
    sources: list[Source] = [form.source(file) for file in files]
    return _read_columns(sources, {}, name, text_ids=text_ids or form.text_ids)


def _by_position(
    files: Sequence[File], columns: object, separator: object, requested: RequestedColumns
) -> tuple[list[Source], RequestedColumns]:
    """Return files whose fields have roles by position, or a separator, and the columns to request."""
    if columns is not None and requested:
        name, column = next(iter(requested.items()))
        raise input_error(name, "None beside columns, which has the role of each field", repr(column))
    for file in files:
        if (format_name := format_of(file)) not in TEXT:
            name = "separator" if columns is None else "columns"
            raise input_error(name, "None for a file that is not text with separators", format_name)
    _check_kinds(files, pipes=False)
    sources = [forms.by_position(file, columns, separator) for file in files]
    return [source for source, _ in sources], {**requested, **sources[0][1]}


def _check_kinds(files: Sequence[File], *, pipes: bool) -> None:
    for file in files:
        file.check_kind(pipes=pipes)


def _read_columns(sources: Sequence[Source], requested: RequestedColumns, form: str, *, text_ids: bool) -> Contents:
    source, *others = sources
    container: read_containers.ReadResult
    if others:
        container = column_files.predictions_of_sources(sources, requested, text_ids=text_ids)
        return Contents(container, form, source, requested)
    columns, path = choose_columns(source, requested)._replace(text_ids=text_ids), str(source.file.path)
    if source.file.role == "predictions" and is_large([source]):
        container = Batches.of_files(
            lambda: read_ahead((path, columns.convert_ids(part)) for part in source.parts(columns)), requested
        )
    else:
        table = columns.convert_ids(source.read_all(columns))
        container = read_containers.result_of_table(table, source.file.role, requested, columns)
    return Contents(container, form, source, requested)


def _read(
    files: Sequence[File], format_name: str, requested: RequestedColumns, *, text_ids: bool, form: str | None = None
) -> Contents:
    file, *others = files
    _check_kinds(files, pipes=format_name in ({TREC} if others else {TREC, JSON}))
    if format_name in COLUMN_SOURCES:
        sources = [COLUMN_SOURCES[format_name](file) for file in files]
        return _read_columns(sources, requested, format_name, text_ids=text_ids)
    value = json_files.parse(file) if format_name == JSON and not others else None
    if (rows := json_files.rows_of(file, value)) is not None:
        return _read_columns([rows], requested, format_name, text_ids=text_ids)
    _refuse_columns(requested)
    if others and format_name in {ARCHIVE, JSON}:
        content = "archive of arrays" if format_name == ARCHIVE else "JSON file"
        raise input_error("predictions", f"one {content} per system", f"{file.path} and {others[0].path}")
    if format_name == ARCHIVE and text_ids:
        raise input_error("text_ids", "False for an archive of arrays", "True")
    if format_name == JSON:
        table = json_files.checked_object(value, file, text_ids=text_ids)
        container = read_containers.result_of_table(table, file.role, {})
    elif format_name == ARCHIVE:
        container = read_containers.result_of_arrays(archive.read_arrays(file), file.role)
    else:
        container = _read_trec(files, form)
    return Contents(container, format_name)


def _read_trec(files: Sequence[File], form: str | None) -> read_containers.ReadResult:
    parts = [trec_files.read_columns(file, form) for file in files]
    if form is None:
        forms.warn_of_trec(list(zip(files, parts, strict=True)))
    if len(files) == 1:
        return read_containers.result_of_trec(parts[0], files[0].role)
    first_rows = list(accumulate((len(part.numbers) for part in parts), initial=0))
    locate = locate_in_parts([f"the data in {file.path}" for file in files], first_rows[:-1])
    return read_containers.result_of_trec(trec_files.concatenate(parts), files[0].role, locate)


def has_columns(path: FilePath, role: str) -> bool:
    """Return whether a file in this role is read by columns, which have names."""
    return source_at(path, role) is not None


def source_at(path: FilePath, role: str) -> Source | None:
    """Return the file in this role, or the first of several, if it is read by columns, which have names."""
    file = parts_of(file_at(path, role, role))[0]
    format_name = format_of(file)
    if format_name == JSON:
        return json_files.rows_at(file)
    return COLUMN_SOURCES[format_name](file) if format_name in COLUMN_SOURCES else None


def read_user_values(path: FilePath, argument: str, *, text_ids: bool, user: str | Sequence[str] | None = None) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a file of groups or weights as a table: the user columns and one other."""
    file = file_at(path, argument, argument)
    with name_source(str(file.path)):
        format_name = format_of(file)
        file.check_kind(pipes=format_name in {TREC, JSON})
        if format_name == JSON:
            return json_files.read_object(file)
        if format_name not in COLUMN_SOURCES:
            raise input_error(argument, f"a file of columns: {', '.join(COLUMN_SOURCES)}, or JSON", format_name)
        return table_of_user_values(COLUMN_SOURCES[format_name](file), user, text_ids=text_ids)


def _refuse_columns(requested: RequestedColumns) -> None:
    if requested:
        raise input_error(next(iter(requested)), "None for a file without column names", "a column name")
