"""Qrels and Run: documents with grades or scores by query, and their files.

Queries are in ascending order, and their documents in descending order of their numbers. Ties keep their order in rows
of up to 15 documents. In longer rows, they are in the order of the quicksort of Numba, which ranx sorts with: it is not
stable, but a function of the numbers alone.
"""

from __future__ import annotations

import gzip
import json
import locale
from collections import defaultdict
from itertools import accumulate, chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar

import numpy as np

from exactk import _core
from exactk._runtime.optional import lz4_and_cbor2, pandas, pandas_frame
from exactk._runtime.written_files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, KeysView, Mapping, Sequence, Sized

    import pandas as pd
    from numpy.typing import NDArray


Number = TypeVar("Number", int, float)


def offsets_of(rows: Iterable[Sized]) -> NDArray[np.int64]:
    """Return the offsets of rows one after another."""
    return np.array([0, *accumulate(map(len, rows))], np.int64)


def flat_values(rows: Iterable[Mapping[Any, float]], count: int) -> NDArray[np.float64]:
    """Return the numbers of all rows."""
    return np.fromiter(chain.from_iterable(row.values() for row in rows), np.float64, count)


def in_order(entries: Mapping[Any, dict[Any, Number]]) -> dict[Any, dict[Any, Number]]:
    """Return the queries in ascending order, and their documents in descending order of their numbers."""
    queries = sorted(entries)
    rows = [entries[query] for query in queries]
    indptr = offsets_of(rows)
    order = falling_order(flat_values(rows, indptr[-1]), np.diff(indptr)).tolist()
    return {
        query: _permuted(row, order[begin:end])
        for query, row, begin, end in zip(queries, rows, indptr, indptr[1:], strict=False)
    }


def _permuted(row: dict[Any, Number], order: list[int]) -> dict[Any, Number]:
    pairs = list(row.items())
    return dict(map(pairs.__getitem__, order))


def falling_order(numbers: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order of each row's numbers, as positions in the row."""
    opposite: NDArray[np.float64] = -numbers
    return _core.quicksort_order(opposite, lengths)


def reversed_rising_order(numbers: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the reverse of the ascending order of each row's numbers, as positions in all rows: that of plain dicts."""
    lengths = np.diff(indptr)
    starts = np.repeat(indptr[:-1], lengths)
    reverse = starts + np.repeat(indptr[1:], lengths) - 1 - np.arange(len(numbers))
    reversed_order: NDArray[np.int64] = _core.quicksort_order(numbers, lengths)[reverse] + starts
    return reversed_order


_KINDS = {"txt": "trec", "parq": "parquet"}
_COMPRESSION_LEVEL = 16


class RanxEntries(Generic[Number]):
    """Documents with numbers by query, in ranx's order: what `Qrels` and `Run` share."""

    _kinds: ClassVar[tuple[str, ...]]
    _number: ClassVar[type]
    _dtypes: ClassVar[tuple[type, str]]

    def __init__(self, entries: Mapping[str, Mapping[str, Number]] | None, name: str | None) -> None:
        self._entries: dict[str, dict[str, Number]] = {} if entries is None else in_order(self._checked(entries))
        self.sorted = entries is not None
        self.name = name

    def keys(self) -> KeysView[str]:
        """Return the query ids."""
        return self._entries.keys()

    def add_score(self, q_id: str, doc_id: str, score: Number) -> None:
        """Add a document to a query, or change its number."""
        _check_strings((q_id, doc_id))
        self._entries.setdefault(q_id, {})[doc_id] = self._number(score)
        self.sorted = False

    def add(self, q_id: str, doc_ids: Sequence[str], scores: Sequence[Number]) -> None:
        """Add a query, or replace it."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(
        self, q_ids: Sequence[str], doc_ids: Sequence[Sequence[str]], scores: Sequence[Sequence[Number]]
    ) -> None:
        """Add queries, or replace them."""
        _check_strings(q_ids)
        if len(q_ids) > min(len(doc_ids), len(scores)):
            message = "expected documents and scores for each query"
            raise IndexError(message)
        for q_id, documents, numbers in zip(q_ids, doc_ids, scores, strict=False):
            _check_strings(documents)
            if len(documents) > len(numbers):
                message = f"expected a score for each document of query {q_id!r}"
                raise IndexError(message)
            self._entries[q_id] = dict(zip(documents, map(self._number, numbers), strict=False))
        self.sort()

    def get_query_ids(self) -> list[str]:
        """Return the query ids."""
        return list(self._entries)

    def get_doc_ids_and_scores(self) -> list[dict[str, Number]]:
        """Return the documents of each query, with their numbers."""
        return list(self._entries.values())

    def sort(self) -> None:
        """Sort queries by id, and documents by their numbers, the highest first."""
        self._entries = in_order(self._entries)
        self.sorted = True

    def to_dict(self) -> dict[str, dict[str, Number]]:
        """Return a dict of dicts."""
        return defaultdict(dict, {query: dict(documents) for query, documents in self._entries.items()})

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas data frame with the columns ``q_id``, ``doc_id`` and ``score``."""
        columns: dict[str, list[Any]] = {
            "q_id": [query for query, documents in self._entries.items() for _ in documents],
            "doc_id": [document for documents in self._entries.values() for document in documents],
            "score": [number for documents in self._entries.values() for number in documents.values()],
        }
        return pandas_frame(columns)

    def save(self, path: str, kind: str | None = None) -> None:
        """Write a file."""
        kind = self._kind_of(path, kind)
        if kind == "json":
            content = json.dumps(self._entries, indent=2, ensure_ascii=False).encode()
        elif kind == "lz4":
            content = _as_lz4(self._entries)
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        elif kind == "parquet":
            content = self.to_dataframe().to_parquet(index=False) or b""  # bytes without a path
        else:
            text = "".join(self._trec_lines())[: None if self._ends_empty() else -1]
            content = text.encode(locale.getencoding())
        write_file(path, content)

    def _ends_empty(self) -> bool:
        """Return whether the last query has no document: then, ranx ends the last line."""
        return not self._entries or not next(reversed(self._entries.values()))

    def _trec_lines(self) -> Iterable[str]:
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The number of queries."""
        return len(self._entries)

    def __getitem__(self, q_id: str) -> dict[str, Number]:
        return dict(self._entries[q_id])

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return repr(self._entries)

    @classmethod
    def _checked(cls, entries: Mapping[str, Mapping[str, Number]]) -> dict[str, dict[str, Number]]:
        """Return the entries with numbers of the type that is stored, as NumPy converts them."""
        queries, rows = list(entries.keys()), list(entries.values())
        _check_strings(queries)
        if not any(len(row.keys()) for row in rows):
            message = "expected at least one document"
            raise ValueError(message)
        for row in rows:
            _check_strings(row.keys())
        return {query: cls._converted(row) for query, row in zip(queries, rows, strict=True)}

    @classmethod
    def _converted(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        numbers = list(row.values())
        if set(map(type, numbers)) <= {cls._number}:
            return row if type(row) is dict else dict(zip(row.keys(), numbers, strict=True))
        return dict(zip(row.keys(), np.array(numbers, dtype=cls._number).tolist(), strict=True))

    @classmethod
    def _kind_of(cls, path: str, kind: str | None) -> str:
        if kind is None:
            extension = Path(path).suffix[1:]
            kind = _KINDS.get(extension, extension)
        if kind not in cls._kinds:
            message = f"expected a kind of {', '.join(map(repr, cls._kinds))}, found {kind!r}"
            raise AssertionError(message)
        return kind

    @classmethod
    def _entries_of_frame(
        cls, df: pd.DataFrame, q_id_col: str, doc_id_col: str, score_col: str
    ) -> dict[str, dict[str, Any]]:
        """Return the rows of a data frame by query; raise AssertionError if a column has another type."""
        for column, what in ((q_id_col, "query"), (doc_id_col, "document")):
            if df[column].dtype != "O" and df[column].dtype.name not in {"str", "string"}:
                message = f"expected strings as {what} ids in {column!r}, found {df[column].dtype}"
                raise AssertionError(message)
        dtype, described = cls._dtypes
        if df[score_col].dtype != dtype:
            message = f"expected {described} in {score_col!r}, found {df[score_col].dtype}"
            raise AssertionError(message)
        entries: dict[str, dict[str, Any]] = {}
        columns = (df[column].tolist() for column in (q_id_col, doc_id_col, score_col))
        for query, document, score in zip(*columns, strict=True):
            if query is not None and query == query:  # noqa: PLR0124 - NaN is not equal to itself
                entries.setdefault(query, {})[document] = score
        return entries


class Qrels(RanxEntries[int]):
    """Relevance judgements.

    Queries are kept in ascending order, and their documents in descending order of grades.
    """

    _kinds = ("json", "trec", "gz", "parquet")
    _number = int
    _dtypes = (np.int64, "integers")

    def __init__(self, qrels: Mapping[str, Mapping[str, int]] | None = None, name: str | None = None) -> None:
        super().__init__(qrels, name)

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The judgements: ``{query: {document: grade}}``."""
        return self._entries

    @qrels.setter
    def qrels(self, entries: dict[str, dict[str, int]]) -> None:
        self._entries = entries

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Subtract from all grades what makes documents of this grade those of grade 1."""
        for documents in self._entries.values():
            for document, grade in documents.items():
                documents[document] = grade - (rel_lvl - 1)

    def save(self, path: str = "qrels.json", kind: str | None = None) -> None:
        """Write a file."""
        super().save(path, kind)

    def _trec_lines(self) -> Iterable[str]:
        for query, documents in self._entries.items():
            for document, grade in documents.items():
                yield f"{query} 0 {document} {grade}\n"

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, int]]) -> Qrels:
        """Return the judgements of a dict of dicts, as `Qrels` does."""
        return Qrels(d)

    @staticmethod
    def from_file(path: str, kind: str | None = None) -> Qrels:
        """Read a file."""
        kind = Qrels._kind_of(path, kind)
        if kind == "json":
            return Qrels(_read_json(path))
        entries: dict[str, dict[str, int]] = defaultdict(dict)
        with _opened(path, kind) as lines:
            for line in lines:
                query, _, document, grade = line.split()
                entries[query][document] = int(grade)
        return Qrels(entries)

    @staticmethod
    def from_df(
        df: pd.DataFrame, q_id_col: str = "q_id", doc_id_col: str = "doc_id", score_col: str = "score"
    ) -> Qrels:
        """Return the judgements of a pandas data frame with one row per query and document."""
        return Qrels(Qrels._entries_of_frame(df, q_id_col, doc_id_col, score_col))

    @staticmethod
    def from_parquet(
        path: str,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: dict[str, Any] | None = None,
    ) -> Qrels:
        """Read a Parquet file with pandas."""
        return Qrels.from_df(_read_parquet(path, pd_kwargs), q_id_col, doc_id_col, score_col)


class Run(RanxEntries[float]):
    """The scores that a system gave to documents.

    Queries are kept in ascending order, and their documents in descending order of scores.
    """

    _kinds = ("json", "trec", "lz4", "gz", "parquet")
    _number = float
    _dtypes = (np.float64, "floats")

    def __init__(self, run: Mapping[str, Mapping[str, float]] | None = None, name: str | None = None) -> None:
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: dict[str, dict[str, float]] = defaultdict(dict)
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """The scores: ``{query: {document: score}}``."""
        return self._entries

    @run.setter
    def run(self, entries: dict[str, dict[str, float]]) -> None:
        self._entries = entries

    def make_comparable(self, qrels: Qrels) -> Run:
        """Add the queries that only the judgements have, without documents, and remove those that they lack."""
        judged = qrels.keys()
        kept = {query: documents for query, documents in self._entries.items() if query in judged}
        self._entries = kept | {query: {} for query in judged if query not in kept}
        self.sort()
        return self

    def save(self, path: str = "run.json", kind: str | None = None) -> None:
        """Write a file."""
        self._kind_of(path, kind)
        if not self.sorted:
            self.sort()
        super().save(path, kind)

    def _trec_lines(self) -> Iterable[str]:
        for query, documents in self._entries.items():
            for rank, (document, score) in enumerate(documents.items(), 1):
                yield f"{query} Q0 {document} {rank} {score} {self.name}\n"

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, float]], name: str | None = None) -> Run:
        """Return the run of a dict of dicts, as `Run` does."""
        return Run(d, name)

    @staticmethod
    def from_file(path: str, kind: str | None = None, name: str | None = None) -> Run:
        """Read a file."""
        kind = Run._kind_of(path, kind)
        if kind == "json":
            return Run(_read_json(path), name)
        if kind == "lz4":
            return Run(_read_lz4(path), name)
        entries: dict[str, dict[str, float]] = defaultdict(dict)
        with _opened(path, kind) as lines:
            for line in lines:
                query, _, document, _, score, tag = line.split()
                entries[query][document] = float(score)
                name = tag if name is None else name
        return Run(entries, name)

    @staticmethod
    def from_df(
        df: pd.DataFrame,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Run:
        """Return the run of a pandas data frame with one row per query and document."""
        return Run(Run._entries_of_frame(df, q_id_col, doc_id_col, score_col), name)

    @staticmethod
    def from_parquet(
        path: str,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Run:
        """Read a Parquet file with pandas."""
        return Run.from_df(_read_parquet(path, pd_kwargs), q_id_col, doc_id_col, score_col, name)


def _check_strings(values: Iterable[object]) -> None:
    """Raise TypeError unless all are strings."""
    if not all(issubclass(kind, str) for kind in set(map(type, values))):
        message = "expected strings as queries and documents"
        raise TypeError(message)


def _opened(path: str, kind: str) -> IO[str]:
    return gzip.open(path, "rt") if kind == "gz" else open(path)  # noqa: PTH123 - closed by the caller


def _read_json(path: str) -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = json.loads(Path(path).read_bytes(), parse_constant=_no_constant)
    return entries


def _no_constant(constant: str) -> NoReturn:
    message = f"{constant} is not JSON"
    raise json.JSONDecodeError(message, constant, 0)


def _read_parquet(path: str, options: dict[str, Any] | None) -> pd.DataFrame:
    frame: pd.DataFrame = pandas("from_parquet()").read_parquet(path, **options or {})
    return frame


def _read_lz4(path: str) -> dict[str, dict[str, Any]]:
    """Return the content of a file of ranx: CBOR, which was compressed twice."""
    lz4, cbor2 = lz4_and_cbor2()
    entries: dict[str, dict[str, Any]] = cbor2.loads(lz4.decompress(lz4.decompress(Path(path).read_bytes())))
    return entries


def _as_lz4(entries: dict[str, dict[str, Any]]) -> bytes:
    lz4, cbor2 = lz4_and_cbor2()
    content: bytes = lz4.compress(lz4.compress(cbor2.dumps(entries), compression_level=_COMPRESSION_LEVEL))
    return content
