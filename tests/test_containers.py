"""One input in every container that has keys, or codes instead of keys, gives one report."""

from __future__ import annotations

import collections
import pickle
import types
import uuid
from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from functools import cache
from typing import Any

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from ir_measures import Qrel, ScoredDoc

import exactk
from exactk._inputs.alignment import Alignment
from exactk._inputs.conversions import predictions_input, truth_input
from exactk._inputs.long_format import Encoding
from exactk._inputs.registry import classify
from strategies import without_digest


@dataclass(frozen=True)
class LongFormat:
    """Rows of one user, one item and a value, by the users' order."""

    users: list[Any]
    items: list[Any]
    values: list[float]
    role: str  # what the values are: grade, score, rank, or nothing

    def with_keys(self, key_of: Callable[[int], Any]) -> LongFormat:
        return LongFormat(
            [key_of(user) for user in self.users], [key_of(item) for item in self.items], self.values, self.role
        )

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The columns, their rows shuffled so that users still appear in the same order."""
        first = [self.users.index(user) for user in dict.fromkeys(self.users)]
        order = first + [row for row in reversed(range(len(self.users))) if row not in first]
        columns = {"user": self.users, "item": self.items} | ({self.role: self.values} if self.role else {})
        return {name: [column[row] for row in order] for name, column in columns.items()}

    @property
    def rows(self) -> dict[Any, dict[Any, float]]:
        rows: dict[Any, dict[Any, float]] = {}
        for user, item, value in zip(self.users, self.items, self.values, strict=True):
            rows.setdefault(user, {})[item] = value
        return rows


def long_format(rows: dict[int, dict[int, float]], role: str) -> LongFormat:
    triples = [(user, item, value) for user, row in rows.items() for item, value in row.items()]
    users, items, values = map(list, zip(*triples, strict=True))
    return LongFormat(users, items, values, role)


GRADED = long_format({0: {1: 3.0, 4: 1.0}, 1: {2: 2.0, 5: 0.0}, 2: {4: 1.0}, 3: {7: 2.0, 1: 1.0}}, "grade")
SCORED = long_format(  # two of user 0 tie, and are ordered by key
    {0: {4: 0.5, 2: 0.5, 1: 0.75, 3: 0.25}, 1: {5: 0.5, 2: -1.0}, 2: {9: 1.0, 4: 0.5}, 3: {3: 0.5, 1: 0.25, 8: 0.125}},
    "score",
)
RANKED = long_format({0: {1: 1, 4: 2, 2: 3}, 1: {5: 0, 2: 1}, 2: {9: 1, 4: 2}, 3: {3: 1, 1: 2, 8: 3}}, "rank")
PREDICTIONS = {data.role: data for data in (SCORED, RANKED)}
EXCLUDED = long_format({0: {2: 1.0}, 2: {9: 1.0}, 3: {3: 1.0, 8: 1.0}}, "")
METRICS = ["precision@2", "recall@3", "ndcg@2", "average_precision", "num_hits@1", "num_recommended"]

KINDS: dict[str, Callable[[int], Any]] = {
    "int": lambda code: code,
    "str": lambda code: f"naïve {code:02}",  # in the order of the codes, and not ASCII
    "bytes": lambda code: b"\xff%02d" % code,
}
KINDS["uuid"] = lambda code: uuid.UUID(int=code)
KINDS["uuid as str"] = lambda code: str(uuid.UUID(int=code))


class ArrowStream:
    """What streams Arrow, and can do nothing else."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Dataset:
    """What Hugging Face has, as far as it is read: a view of some columns, which has a table once it is asked for Arrow."""

    def __init__(self, table: Any, kind: str | None = None) -> None:
        self.table = table
        self.format = {"type": kind, "columns": table.column_names}

    def with_format(self, kind: str, columns: list[str]) -> Dataset:
        return Dataset(self.table.select(columns), kind)

    def __getitem__(self, rows: slice) -> Any:
        assert (self.format["type"], rows) == ("arrow", slice(None))
        return self.table


Dataset.__module__ = "datasets.arrow_dataset"


class ForeignArray:
    """An array of another library."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.shape = array.shape

    def __dlpack__(self, **options: Any) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def arrow_table(columns: dict[str, list[Any]], key: Any = None, value: Any = None) -> pa.Table:
    """Return a table whose keys are of one type of Arrow, and whose values are of another."""
    types = {name: key if name in {"user", "item"} else value for name in columns}
    if value == pa.float16():  # which old versions make of NumPy's alone
        halves = {name: list(np.array(columns[name], np.float16)) for name in columns if types[name] == value}
        columns = columns | halves
    return pa.table({name: pa.array(column, types[name]) for name, column in columns.items()})


def encode_dictionaries(table: pa.Table, names: tuple[str, ...] = ("user", "item")) -> pa.Table:
    for name in names:
        table = table.set_column(table.column_names.index(name), name, table[name].dictionary_encode())
    return table


def polars_objects(columns: dict[str, list[Any]]) -> pl.DataFrame:
    """Return a frame whose keys are objects of Python, of which a stream of Arrow has the addresses."""
    return pl.DataFrame(
        [pl.Series(name, values, pl.Object if name in {"user", "item"} else None) for name, values in columns.items()]
    )


def split_into_chunks(table: pa.Table) -> pa.Table:
    """Return the table in pieces, some of them empty, none at the beginning of its buffers."""
    size = len(table)
    borders = ((0, 0), (0, 1), (1, 3), (4, 0), (4, size))
    return pa.concat_tables([table.slice(*border) for border in borders])


def slice_table(table: pa.Table) -> pa.Table:
    """Return the same rows cut from the midst of others."""
    longer = pa.concat_tables([table, table, table]).combine_chunks()
    return longer.slice(len(table), len(table))


def chunks_with_separate_dictionaries(table: pa.Table) -> pa.Table:
    return pa.concat_tables([encode_dictionaries(table.slice(0, 2)), encode_dictionaries(table.slice(2))])


def categories(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Return categories in another order than the rows', some of no row."""
    frame = pd.DataFrame(columns)
    for name in ("user", "item"):
        keys = sorted(set(columns[name]), reverse=True)
        extra = ["unused"] if isinstance(keys[0], str) else [b"unused"] if isinstance(keys[0], bytes) else [-77]
        frame[name] = pd.Categorical(columns[name], categories=keys + extra)
    return frame


def pandas_frame(columns: dict[str, list[Any]], key: Any, value: Any = None) -> pd.DataFrame:
    kinds = {name: key if name in {"user", "item"} else value for name in columns}
    return pd.DataFrame({name: pd.Series(column, dtype=kinds[name]) for name, column in columns.items()})


def polars_frame(columns: dict[str, list[Any]], key: Any) -> pl.DataFrame:
    return pl.DataFrame(columns).with_columns(pl.col("user", "item").cast(key))


def polars_enums(columns: dict[str, list[Any]]) -> pl.DataFrame:
    enum_types = {name: pl.Enum(sorted(set(columns[name]), reverse=True)) for name in ("user", "item")}
    return pl.DataFrame(columns).with_columns(*(pl.col(name).cast(kind) for name, kind in enum_types.items()))


def duckdb_relation(columns: dict[str, list[Any]]) -> Any:
    return duckdb.connect().from_arrow(arrow_table(columns))


def records(columns: dict[str, list[Any]], record: Callable[..., Any]) -> list[Any]:
    return [record(*row) for row in zip(*columns.values(), strict=True)]


def named_tuples(columns: dict[str, list[Any]]) -> list[Any]:
    return records(columns, collections.namedtuple("Row", columns))  # noqa: PYI024 - with fields of any names


ALL, INT, STR, BYTES = ("int", "str", "bytes"), ("int",), ("str",), ("bytes",)
FRAMES: dict[str, tuple[tuple[str, ...], Callable[[dict[str, list[Any]]], Any]]] = {
    "pandas": ((*ALL, "uuid"), pd.DataFrame),
    "pandas, objects": ((*ALL, "uuid"), lambda columns: pd.DataFrame(columns).astype({"user": object, "item": object})),
    "pandas, int32": (INT, lambda columns: pandas_frame(columns, "int32")),
    "pandas, uint64 and float32": (INT, lambda columns: pandas_frame(columns, "uint64", "float32")),
    "pandas, big endian": (INT, lambda columns: pandas_frame(columns, ">i8", ">f8")),
    "pandas, nullable": (INT, lambda columns: pandas_frame(columns, "Int64", "Float64")),
    "pandas, nullable UInt32": (INT, lambda columns: pandas_frame(columns, "UInt32", "Float32")),
    "pandas, strings of Python": (STR, lambda columns: pandas_frame(columns, "string[python]")),
    "pandas, strings of Arrow": (STR, lambda columns: pandas_frame(columns, "string[pyarrow]")),
    "pandas, Arrow's integers": (INT, lambda columns: pandas_frame(columns, pd.ArrowDtype(pa.int64()), pd.ArrowDtype(pa.float64()))),
    "pandas, Arrow's strings": (STR, lambda columns: pandas_frame(columns, pd.ArrowDtype(pa.large_string()))),
    "pandas, Arrow's bytes": (BYTES, lambda columns: pandas_frame(columns, pd.ArrowDtype(pa.binary()))),
    "pandas, Arrow's dictionaries": (STR, lambda columns: pandas_frame(columns, pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))),
    "pandas, categories": (ALL, categories),
    "pandas, index": (ALL, lambda columns: pd.DataFrame(columns).set_index("user")),
    "pandas, MultiIndex": (ALL, lambda columns: pd.DataFrame(columns).set_index(["user", "item"])),
    "pandas, MultiIndex of categories": (ALL, lambda columns: categories(columns).set_index(["user", "item"])),
    "pandas, every other row": (ALL, lambda columns: pd.DataFrame(columns).loc[np.repeat(range(len(columns["user"])), 2)][::2]),
    "Polars": (ALL, pl.DataFrame),
    "Polars, lazy": (ALL, pl.LazyFrame),
    "Polars, objects": ((*ALL, "uuid"), polars_objects),
    "Polars, lazy objects": ((*ALL, "uuid"), lambda columns: polars_objects(columns).lazy()),
    "Polars, chunks": (ALL, lambda columns: pl.concat([pl.DataFrame(columns)[:2], pl.DataFrame(columns)[2:]], rechunk=False)),
    "Polars, UInt16": (INT, lambda columns: polars_frame(columns, pl.UInt16)),
    "Polars, Categorical": (STR, lambda columns: polars_frame(columns, pl.Categorical)),
    "Polars, Enum": (STR, polars_enums),
    "Arrow": (ALL, arrow_table),
    "Arrow, chunks": (ALL, lambda columns: split_into_chunks(arrow_table(columns))),
    "Arrow, sliced": (ALL, lambda columns: slice_table(arrow_table(columns))),
    "Arrow, chunks of slices": (ALL, lambda columns: split_into_chunks(slice_table(arrow_table(columns)))),
    "Arrow, dictionaries": (ALL, lambda columns: encode_dictionaries(arrow_table(columns))),
    "Arrow, a dictionary a chunk": (ALL, lambda columns: chunks_with_separate_dictionaries(arrow_table(columns))),
    "Arrow, int8": (INT, lambda columns: arrow_table(columns, pa.int8(), pa.float32())),
    "Arrow, uint64 and float16": (INT, lambda columns: arrow_table(columns, pa.uint64(), pa.float16())),
    "Arrow, large_string": (STR, lambda columns: arrow_table(columns, pa.large_string())),
    "Arrow, string_view": (STR, lambda columns: slice_table(arrow_table(columns, pa.string_view()))),
    "Arrow, large_binary": (BYTES, lambda columns: arrow_table(columns, pa.large_binary())),
    "Arrow, binary_view": (BYTES, lambda columns: arrow_table(columns, pa.binary_view())),
    "Arrow, fixed size": (BYTES, lambda columns: slice_table(arrow_table(columns, pa.binary(3)))),
    "Arrow, one batch": (ALL, lambda columns: arrow_table(columns).to_batches()[0]),
    "Arrow, reader": (ALL, lambda columns: split_into_chunks(arrow_table(columns)).to_reader()),
    "Arrow, a stream and no more": (ALL, lambda columns: ArrowStream(arrow_table(columns))),
    "narwhals": (ALL, lambda columns: narwhals.from_native(pl.DataFrame(columns))),
    "narwhals, lazy": (ALL, lambda columns: narwhals.from_native(pl.LazyFrame(columns))),
    "Hugging Face": (ALL, lambda columns: Dataset(arrow_table(columns))),
    "DuckDB": (ALL, duckdb_relation),
    "named tuples": ((*ALL, "uuid"), named_tuples),
    "data classes": ((*ALL, "uuid"), lambda columns: records(columns, make_dataclass("Row", columns))),
    "dictionaries": ((*ALL, "uuid"), lambda columns: records(columns, lambda *row: dict(zip(columns, row, strict=True)))),
    "a generator of named tuples": (ALL, lambda columns: iter(named_tuples(columns))),
}  # fmt: skip


MAPPINGS: dict[str, Callable[[LongFormat], Any]] = {
    "dicts": lambda data: data.rows,
    "defaultdict of OrderedDict": lambda data: collections.defaultdict(
        dict, {user: collections.OrderedDict(row) for user, row in data.rows.items()}
    ),
    "Counter": lambda data: {user: collections.Counter(row) for user, row in data.rows.items()},
    "UserDict of proxies": lambda data: collections.UserDict(
        {user: types.MappingProxyType(row) for user, row in data.rows.items()}
    ),
    "NumPy's numbers": lambda data: {
        user: {item: np.float64(value) for item, value in row.items()} for user, row in data.rows.items()
    },
}
SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "lists": list,
    "tuples": tuple,
    "deques": collections.deque,
    "arrays": np.array,
    "arrays of another library": lambda row: ForeignArray(np.array(row)),
    "keys": lambda row: list(dict.fromkeys(row)),
}


def evaluate_per_user(truth: Any, predictions: Any, exclude: Any, **options: Any) -> exactk.Report:
    report = exactk.evaluate(truth, predictions, METRICS, exclude=exclude, per_user=True, **options)
    assert isinstance(report, exactk.Report)
    return report


@cache
def expected_report(kind: str, predictions: str = "score") -> exactk.Report:
    key_of = KINDS["uuid as str" if kind == "uuid" else kind]
    lists: Any = PREDICTIONS[predictions].with_keys(key_of).rows
    if predictions == "rank":
        lists = {user: list(row) for user, row in lists.items()}
    exclude = {user: set(row) for user, row in EXCLUDED.with_keys(key_of).rows.items()}
    return evaluate_per_user(GRADED.with_keys(key_of).rows, lists, exclude)


def test_the_report_by_hand() -> None:
    report = expected_report("int")
    assert report.users.tolist() == [0, 1, 2, 3]
    # The lists are 1 4 3, 5 2, 4 and 1, once what is excluded has been left out.
    assert report.per_user["precision@2"].tolist() == [1.0, 0.5, 0.5, 0.5]
    assert report.per_user["num_hits@1"].tolist() == [1, 0, 1, 1]
    assert report.per_user["num_recommended"].tolist() == [3, 2, 1, 1]
    report = expected_report("int", "rank")  # 1 4, 5 2, 4 and 1
    assert report.per_user["num_hits@1"].tolist() == [1, 0, 1, 1]
    assert report.per_user["num_recommended"].tolist() == [2, 2, 1, 1]
    assert report.counts["excluded_recommended"] == 4


@pytest.mark.parametrize("kind", ["str", "bytes", "uuid"])
def test_keys_of_another_kind_change_nothing_but_the_users(kind: str) -> None:
    of_integers, report = expected_report("int"), expected_report(kind)
    assert without_digest(report).state == without_digest(of_integers).state
    for metric in of_integers.metrics:
        np.testing.assert_array_equal(report.per_user[metric], of_integers.per_user[metric])
    key_of = KINDS["uuid as str" if kind == "uuid" else kind]
    assert report.users.tolist() == [key_of(user) for user in range(4)]


@pytest.mark.parametrize(("frame", "kind"), [(frame, kind) for frame, (kinds, _) in FRAMES.items() for kind in kinds])
def test_frames(frame: str, kind: str) -> None:
    build, key_of = FRAMES[frame][1], KINDS[kind]
    exclude = build(EXCLUDED.with_keys(key_of).columns)
    for predictions in (SCORED, RANKED):
        inputs = build(GRADED.with_keys(key_of).columns), build(predictions.with_keys(key_of).columns)
        assert evaluate_per_user(*inputs, exclude) == expected_report(kind, predictions.role)
        exclude = exactk.as_exclusions(build(EXCLUDED.with_keys(key_of).columns))  # a reader is empty by now


def list_columns(data: LongFormat) -> dict[str, list[Any]]:
    """Return columns with a row for each user, of lists of what the user has."""
    rows = data.rows
    columns = {"user": list(rows), "item": [list(row) for row in rows.values()]}
    if data.role in {"grade", "score"}:
        columns[data.role] = [list(row.values()) for row in rows.values()]
    return columns


LISTS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, arrays": lambda columns: pd.DataFrame(columns).apply(
        lambda column: column.map(lambda row: np.array(row) if isinstance(row, list) else row)
    ),
    "pandas, Arrow": lambda columns: arrow_table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": pl.DataFrame,
    "Polars, lazy": pl.LazyFrame,
    "narwhals, lazy": lambda columns: narwhals.from_native(pl.LazyFrame(columns)),
    "Hugging Face": lambda columns: Dataset(arrow_table(columns)),
    "Arrow": arrow_table,
    "Arrow, chunks": lambda columns: split_into_chunks(arrow_table(columns)),
    "Arrow, sliced": lambda columns: slice_table(arrow_table(columns)),
    "named tuples": named_tuples,
}


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda frame: narwhals.from_native(pl.from_pandas(frame).lazy()),
        lambda frame: Dataset(pa.Table.from_pandas(frame, preserve_index=False)),
    ],
    ids=["narwhals", "Hugging Face"],
)
def test_what_wraps_a_frame_is_read_wherever_frames_are(wrapped: Callable[[pd.DataFrame], Any]) -> None:
    truth = pd.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "z"]})
    scored = pd.DataFrame({"user": ["a", "a", "b"], "item": ["seen", "y", "x"], "score": [3.0, 2.0, 1.0]})
    seen = pd.DataFrame({"user": ["a"], "item": ["seen"]})
    of_users = {
        "groups": pd.DataFrame({"user": ["a", "b"], "group": ["x", "y"]}),
        "weights": pd.DataFrame({"user": ["b", "a"], "weight": [3.0, 1.0]}),
    }
    expected = exactk.evaluate(truth, scored, "recall@1", exclude=seen, **of_users)  # type: ignore[arg-type]
    assert repr(exactk.Truth.from_frame(wrapped(truth))) == "<Truth of 2 users, 3 items (str)>"
    batches = exactk.Batches(lambda: iter([wrapped(scored[:1]), wrapped(scored[1:])]))
    readers = {name: pa.Table.from_pandas(frame, preserve_index=False).to_reader() for name, frame in of_users.items()}
    assert exactk.evaluate(truth, scored, "recall@1", exclude=seen, **readers).to_dict() == expected.to_dict()
    assert exactk.Items(pl.Series([uuid.UUID(int=1), uuid.UUID(int=0)], dtype=pl.Object)).keys.tolist() == sorted(
        str(uuid.UUID(int=number)) for number in range(2)
    )
    for predictions in (wrapped(scored), batches):
        options = {name: wrapped(frame) for name, frame in of_users.items()}
        report = exactk.evaluate(wrapped(truth), predictions, "recall@1", exclude=wrapped(seen), **options)
        assert report.to_dict() == expected.to_dict()


@pytest.mark.parametrize("frame", LISTS)
@pytest.mark.parametrize("kind", ALL)
def test_frames_of_lists(frame: str, kind: str) -> None:
    build, key_of = LISTS[frame], KINDS[kind]
    truth, exclude = (build(list_columns(data.with_keys(key_of))) for data in (GRADED, EXCLUDED))
    for predictions in (SCORED, RANKED):
        lists = build(list_columns(predictions.with_keys(key_of)))
        assert evaluate_per_user(truth, lists, exclude) == expected_report(kind, predictions.role)


def test_the_records_of_ir_measures_are_read_in_lists_and_as_they_come() -> None:
    qrels = [Qrel("q1", "a", 1), Qrel("q1", "b", 0), Qrel("q2", "a", 2)]
    scored = [ScoredDoc("q1", "a", 0.5), ScoredDoc("q1", "b", 0.75), ScoredDoc("q2", "b", 0.25)]
    once: Callable[[list[Any]], Any] = iter
    scores = {"q1": {"a": 0.5, "b": 0.75}, "q2": {"b": 0.25}}
    report = exactk.evaluate({"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}, scores, METRICS)
    assert exactk.evaluate(qrels, scored, METRICS) == report
    assert exactk.evaluate(once(qrels), once(scored), METRICS) == report
    assert exactk.evaluate(None, once([(once(qrels), scored)]), METRICS) == report  # a block
    assert exactk.compare(once(qrels), {"a": once(scored), "b": scored}, METRICS).reports["a"] == report
    assert exactk.evaluate(qrels, exactk.as_predictions(once(scored)), METRICS) == report
    named = [{"query_id": one.query_id, "doc_id": one.doc_id, "sim": one.score, "bm25": -one.score} for one in scored]
    assert exactk.evaluate(qrels, once(named), METRICS, score="sim") == report
    assert exactk.topk(scored, 1).items.tolist() == [["b"], ["b"]]


def test_records_of_several_types_are_refused() -> None:
    rows: list[Any] = [{"user": 1, "item": 2}, {"user": 2, "item": 3}, Qrel("q", "d", 1)]
    with pytest.raises(exactk.InputTypeError, match=r"truth\.user: expected records of one type .* at position 2$"):
        exactk.as_truth(rows)
    with pytest.raises(exactk.InputTypeError, match=r"truth\.item: expected records of one type .* at position 1$"):
        exactk.as_truth([{"user": 1, "item": 2}, {"user": 1}])
    with pytest.raises(exactk.InputTypeError, match=r"truth: expected a list .* found generator; truth=list\(truth\)"):
        exactk.as_truth(row for row in [[1], [2]])  # type: ignore[arg-type]


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("kind", [*ALL, "uuid"])
def test_mappings(mapping: str, kind: str) -> None:
    truth, predictions, exclude = (
        MAPPINGS[mapping](data.with_keys(KINDS[kind])) for data in (GRADED, SCORED, EXCLUDED)
    )
    assert evaluate_per_user(truth, predictions, exclude) == expected_report(kind)


@pytest.mark.parametrize(
    ("sequence", "kind"),
    [(name, kind) for name in SEQUENCES for kind in [*ALL, "uuid"] if kind == "int" or "arrays" not in name],
)
def test_mappings_of_sequences(sequence: str, kind: str) -> None:
    make, key_of = SEQUENCES[sequence], KINDS[kind]
    predictions, exclude = (
        {user: make(list(row)) for user, row in data.with_keys(key_of).rows.items()} for data in (RANKED, EXCLUDED)
    )
    assert evaluate_per_user(GRADED.with_keys(key_of).rows, predictions, exclude) == expected_report(kind, "rank")
    truth = {user: make(list(row)) for user, row in GRADED.with_keys(key_of).rows.items()}
    binary = {user: dict.fromkeys(row, 1.0) for user, row in GRADED.with_keys(key_of).rows.items()}
    assert evaluate_per_user(truth, predictions, exclude) == evaluate_per_user(binary, predictions, exclude)


def csr_arrays(data: LongFormat) -> tuple[Any, Any, Any]:
    """Return where the rows begin, the items and the values; user 1 has no row of what is excluded."""
    sizes = np.bincount(data.users, minlength=4)
    return np.concatenate([[0], np.cumsum(sizes)]), np.array(data.items), np.array(data.values)


def csr_array(data: LongFormat) -> Any:
    indptr, items, values = csr_arrays(data)
    return scipy.sparse.csr_array((values, items, indptr), shape=(4, 12))


KEYLESS: dict[str, Callable[[LongFormat], Any]] = {  # whose users are positions of rows
    "lists": lambda data: [data.rows.get(user, {}) for user in range(4)],
    "read-only mappings": lambda data: [types.MappingProxyType(data.rows.get(user, {})) for user in range(4)],
    "CSR arrays": lambda data: exactk.SparseScores(*csr_arrays(data)),
    "CSR arrays of another library": lambda data: exactk.SparseScores(*map(ForeignArray, csr_arrays(data))),  # type: ignore[arg-type]
    "CSR arrays, int32 and float32": lambda data: exactk.SparseScores(
        *(array.astype(dtype) for array, dtype in zip(csr_arrays(data), ("u4", "i4", "f4"), strict=True))
    ),
    "csr_array": csr_array,
    "csr_matrix": lambda data: scipy.sparse.csr_matrix(csr_array(data)),
    "csc_array": lambda data: scipy.sparse.csc_array(csr_array(data)),
    "csc_matrix": lambda data: scipy.sparse.csc_matrix(csr_array(data)),
    "coo_array": lambda data: scipy.sparse.coo_array(csr_array(data)),
    "coo_matrix": lambda data: scipy.sparse.coo_matrix(csr_array(data)),
}


@pytest.mark.filterwarnings("ignore:.* (has|have) no column in the scores")  # rows without keys have no other items
@pytest.mark.parametrize("container", KEYLESS)
def test_rows_without_keys(container: str) -> None:
    truth = exactk.Truth(*csr_arrays(GRADED))
    exclude = exactk.as_exclusions([list(EXCLUDED.rows.get(user, {})) for user in range(4)])
    report = evaluate_per_user(truth, KEYLESS[container](SCORED), exclude)
    assert without_digest(report) == without_digest(expected_report("int"))  # whose keys are these codes
    if "arrays" not in container:
        ones = {user: dict.fromkeys(row, 1.0) for user, row in GRADED.rows.items()}
        truth = KEYLESS[container](long_format(ones, "grade"))
        rankings = [list(RANKED.rows[user]) for user in range(4)]
        binary = [list(row) for row in GRADED.rows.values()]
        assert evaluate_per_user(truth, rankings, None) == evaluate_per_user(binary, rankings, None)


def test_users_of_several_columns() -> None:
    session = {0: "s0", 1: "s0", 2: "s1", 3: "s1"}
    person = {0: 7, 1: 8, 2: 7, 3: 8}

    def columns_of(data: LongFormat) -> dict[str, list[Any]]:
        columns = data.columns
        users = columns.pop("user")
        return columns | {"person": [person[user] for user in users], "session": [session[user] for user in users]}

    def chunks(columns: dict[str, list[Any]]) -> pa.Table:
        return split_into_chunks(encode_dictionaries(arrow_table(columns), ("session",)))

    inputs = GRADED, SCORED, EXCLUDED
    by_tuple = evaluate_per_user(
        *({(person[user], session[user]): row for user, row in data.rows.items()} for data in inputs)
    )
    assert without_digest(by_tuple).state == without_digest(expected_report("int")).state
    assert by_tuple.users.tolist() == [(7, "s0"), (8, "s0"), (7, "s1"), (8, "s1")]
    for build in (pd.DataFrame, pl.DataFrame, arrow_table, chunks):
        report = evaluate_per_user(*(build(columns_of(data)) for data in inputs), user=["person", "session"])
        assert report.state == by_tuple.state
        assert report.users.tolist() == by_tuple.users.tolist()
        assert report.users.dtype.names == ("person", "session")


@pytest.mark.parametrize("kind", ALL)
def test_inputs_converted_before_are_aligned_too(kind: str) -> None:
    """Truth, predictions and exclude that have vocabularies of users and items, each with its own codes."""
    truth, predictions, exclude = (data.with_keys(KINDS[kind]) for data in (GRADED, SCORED, EXCLUDED))
    backwards = dict(reversed(predictions.rows.items()))
    converted = exactk.as_truth(truth.rows), exactk.as_predictions(backwards), exactk.as_exclusions(exclude.rows)
    assert evaluate_per_user(*converted) == expected_report(kind)
    assert evaluate_per_user(truth.rows, converted[1], pd.DataFrame(exclude.columns)) == expected_report(kind)
    indptr, items, grades = csr_arrays(GRADED)
    truth_with_keys = exactk.Truth(indptr, items, grades, users=[KINDS["str"](user) for user in range(4)])
    with_item_codes = ({KINDS["str"](user): row for user, row in data.rows.items()} for data in (SCORED, EXCLUDED))
    report = evaluate_per_user(truth_with_keys, *with_item_codes)
    assert without_digest(report).state == without_digest(expected_report("int")).state


def test_names_of_columns() -> None:
    for user, item in (("userId", "movieId"), ("query_id", "docno"), ("uid", "iid"), ("topic", "document_id")):
        truth = pd.DataFrame(GRADED.columns).rename(columns={"user": user, "item": item, "grade": "rel"})
        predictions = pl.DataFrame(SCORED.columns).rename({"user": user.upper(), "item": item, "score": "prediction"})
        assert evaluate_per_user(truth, predictions, EXCLUDED.rows) == expected_report("int")
    columns = {"user": "who", "item": "what", "grade": "how", "score": "how"}
    frames = [pl.DataFrame(data.columns).rename(columns, strict=False) for data in (GRADED, SCORED, EXCLUDED)]
    assert evaluate_per_user(*frames, **columns) == expected_report("int")


MATRIX_ITEMS = [4, 1, 9, 2, 5, 3, 8, 7]  # not in the order of the keys
MATRIX = {  # user 0 and user 2 have no scores, user 6 is not in the truth; some items tie
    3: [0.5, 0.25, 0.125, 0.5, 0.0, 0.5, 0.125, -1.0],
    6: [0.0, 0.25, 0.5, 0.75, 1.0, 0.5, 0.25, 0.0],
    1: [0.25, 0.25, 0.25, 0.25, 0.25, 0.5, -0.5, 0.25],
}
MATRIX_METRICS = [*METRICS, "recall@2(ties=highest_id)", "recall@3(ties=optimistic)"]
MATRIX_METRICS += ["ndcg@3(users=union)", "hit_rate@2(ties=expected)"]


@dataclass(frozen=True)
class KeyedMatrix:
    """Scores of all items, with keys."""

    users: list[Any]
    items: list[Any]
    array: np.ndarray[Any, Any]

    @classmethod
    def of_kind(cls, key_of: Callable[[int], Any]) -> KeyedMatrix:
        return cls(list(map(key_of, MATRIX)), list(map(key_of, MATRIX_ITEMS)), np.array([*MATRIX.values()]))

    @property
    def rows(self) -> dict[Any, dict[Any, float]]:
        rows = zip(self.users, self.array.tolist(), strict=True)
        return {user: dict(zip(self.items, row, strict=True)) for user, row in rows}

    def scores(self, keys_of: Callable[[list[Any]], Any]) -> exactk.Scores:
        return exactk.Scores(self.array, users=keys_of(self.users), items=keys_of(self.items))


def object_array(keys: list[Any]) -> Any:
    array = np.empty(len(keys), object)
    array[:] = keys
    return array


def embeddings(matrix: KeyedMatrix, dtype: Any = np.float64) -> exactk.Embeddings:
    vectors = matrix.array.astype(dtype), np.eye(len(matrix.items), dtype=dtype)
    return exactk.Embeddings(*vectors, users=matrix.users, items=matrix.items)


MATRICES: dict[str, tuple[tuple[str, ...], Callable[[KeyedMatrix], Any]]] = {
    "lists": ((*ALL, "uuid"), lambda matrix: matrix.scores(list)),
    "tuples": (ALL, lambda matrix: matrix.scores(tuple)),
    "arrays": (("int", "str"), lambda matrix: matrix.scores(np.array)),
    "arrays of another library": (INT, lambda matrix: matrix.scores(lambda keys: ForeignArray(np.array(keys)))),
    "arrays of objects": ((*ALL, "uuid"), lambda matrix: matrix.scores(object_array)),
    "Series": ((*ALL, "uuid"), lambda matrix: matrix.scores(lambda keys: pd.Series(keys, index=range(9, 9 + len(keys))))),
    "Series, categories": (("int", "str"), lambda matrix: matrix.scores(lambda keys: pd.Series(keys, dtype="category"))),
    "Index": ((*ALL, "uuid"), lambda matrix: matrix.scores(pd.Index)),
    "Polars": (ALL, lambda matrix: matrix.scores(pl.Series)),
    "Arrow": (ALL, lambda matrix: matrix.scores(pa.array)),
    "Arrow, chunks": (ALL, lambda matrix: matrix.scores(lambda keys: pa.chunked_array([keys[:1], keys[1:]]))),
    "keys of scores": (ALL, lambda m: exactk.Scores(exactk.Scores(m.array, users=m.users), items=m.items)),
    "pivoted": ((*ALL, "uuid"), lambda m: pd.DataFrame(m.array, pd.Index(m.users), pd.Index(m.items))),
    "pivoted, scores": (ALL, lambda m: exactk.Scores(pd.DataFrame(m.array, pd.Index(m.users), pd.Index(m.items)))),
    "pivot table": (
        ("int", "str"),
        lambda m: pd.DataFrame(
            [(user, item, score) for user, row in m.rows.items() for item, score in row.items()],
            columns=["user", "item", "score"],
        ).pivot_table(index="user", columns="item", values="score"),
    ),
    "embeddings": ((*ALL, "uuid"), embeddings),
    "embeddings, float32": (ALL, lambda matrix: embeddings(matrix, np.float32)),
}  # fmt: skip


@cache
def reports_of_rows_and_scores(kind: str) -> tuple[exactk.Report, exactk.Report]:
    """Return what other containers of the matrix are compared with."""
    matrix = KeyedMatrix.of_kind(KINDS[kind])
    return matrix_reports(kind, matrix.rows)[0], matrix_reports(kind, matrix.scores(list))[0]


def matrix_reports(kind: str, predictions: Any, **options: Any) -> list[exactk.Report]:
    """Return the reports of the core and of the reference."""
    key_of = KINDS[kind]
    truth = GRADED.with_keys(key_of).rows
    exclude = {user: set(row) for user, row in EXCLUDED.with_keys(key_of).rows.items()}
    weights = {key_of(user): weight for user, weight in enumerate([1.0, 0.5, 3.0, 2.0, 1.0, 1.0, 0.25])}
    groups = {key: str(key) for key in weights}
    options = {"exclude": exclude, "weights": weights, "groups": groups, "per_user": True} | options
    calls: tuple[Any, ...] = exactk.evaluate, exactk.reference.evaluate
    return [call(truth, predictions, MATRIX_METRICS, **options) for call in calls]


IGNORE_UNRANKABLE = pytest.mark.filterwarnings("ignore:.*relevant items?|the order of ties")


@IGNORE_UNRANKABLE
@pytest.mark.parametrize(("form", "kind"), [(form, kind) for form, (kinds, _) in MATRICES.items() for kind in kinds])
def test_matrices_with_keys(form: str, kind: str) -> None:
    of_rows, of_lists = reports_of_rows_and_scores(kind)
    reports = matrix_reports(kind, MATRICES[form][1](KeyedMatrix.of_kind(KINDS[kind])))
    for report in reports:
        np.testing.assert_array_equal(report.users, of_rows.users)
        for name in of_rows.metrics:
            np.testing.assert_allclose(report.per_user[name], of_rows.per_user[name], rtol=1e-15)
            assert report[name] == pytest.approx(of_rows[name], rel=1e-15)
            assert report.by_group == of_rows.by_group
        counts = of_rows.counts.keys() - {"candidates", "relevant_not_rankable"}
        assert {name: report.counts[name] for name in counts} == {name: of_rows.counts[name] for name in counts}
    if "pivot table" not in form:
        assert reports[0] == of_lists


@IGNORE_UNRANKABLE
@pytest.mark.parametrize("form", ["lists", "pivoted", "embeddings"])
@pytest.mark.parametrize("kind", ["int", "str"])
def test_candidates_by_key(form: str, kind: str) -> None:
    key_of = KINDS[kind]
    matrix = KeyedMatrix.of_kind(key_of)
    for_all = [key_of(item) for item in (1, 9, 3, 4)]
    restricted = {user: {item: row[item] for item in for_all} for user, row in matrix.rows.items()}
    of_rows = matrix_reports(kind, restricted)[0]
    by_user = {user: list(for_all) for user in [*reversed(matrix.users), key_of(99)]}
    containers = [
        for_all, tuple(for_all), set(for_all), np.array(for_all), pd.Series(for_all), pl.Series(for_all), by_user,
        pd.DataFrame({"user": list(by_user), "item": list(by_user.values())}), pd.Series(by_user),
    ]  # fmt: skip
    for candidates in containers:
        for report in matrix_reports(kind, MATRICES[form][1](matrix), candidates=candidates):
            for name in of_rows.metrics:
                np.testing.assert_array_equal(report.per_user[name], of_rows.per_user[name])
            assert report.counts["candidates"] == of_rows.counts["candidates"]
    if form == "embeddings":
        vectors = matrix.array, np.eye(8)
        for candidates in (for_all, by_user):
            model = exactk.Embeddings(*vectors, users=matrix.users, items=matrix.items, candidates=candidates)
            report = matrix_reports(kind, model)[0]
            for name in of_rows.metrics:
                np.testing.assert_array_equal(report.per_user[name], of_rows.per_user[name])


@IGNORE_UNRANKABLE
def test_ties_in_input_order_are_those_of_the_columns() -> None:
    matrix, truth = KeyedMatrix.of_kind(KINDS["str"]), GRADED.with_keys(KINDS["str"]).rows
    metric = "recall@2(ties=input_order)"
    for call in (exactk.evaluate, exactk.reference.evaluate):
        of_rows, of_scores = (
            call(truth, predictions, [metric, "recall@2"], per_user=True).per_user
            for predictions in (matrix.rows, matrix.scores(list))
        )
        for name, values in of_rows.items():
            np.testing.assert_array_equal(values, of_scores[name])
    with pytest.raises(exactk.InputError, match="ties='input_order'"):
        exactk.evaluate(truth, embeddings(matrix), metric)


@pytest.mark.parametrize("kind", [*ALL, "uuid"])
def test_topk_of_keys(kind: str) -> None:
    matrix = KeyedMatrix.of_kind(KINDS[kind])
    text = KINDS["uuid as str" if kind == "uuid" else kind]
    exclude = {text(1): [KINDS[kind](3), KINDS[kind](2)]}
    options: dict[str, Any]
    for options in ({}, {"ties": "highest_id"}, {"ties": "input_order"}, {"exclude": exclude}):
        best = exactk.topk(matrix.rows, 3, **options)
        for form in ("lists", "pivoted", "embeddings"):
            if form == "embeddings" and "ties" in options and options["ties"] == "input_order":
                continue
            for topk in (exactk.topk, exactk.reference.topk):
                same = topk(MATRICES[form][1](matrix), 3, **options)
                assert (same.items == best.items).all()
                assert (same.scores == best.scores).all()
                assert same.users is not None
                assert same.users.tolist() == [text(user) for user in MATRIX]


@pytest.mark.parametrize("kind", [*ALL, "uuid"])
def test_topk_is_evaluated_as_the_scores_are(kind: str) -> None:
    """Also as a truth, and as what is excluded."""
    matrix = KeyedMatrix.of_kind(KINDS[kind])
    truth = {user: [KINDS[kind](4), KINDS[kind](9)] for user in reversed(matrix.users)}
    metrics = ["recall@3", "ndcg@2"]
    best = exactk.topk(matrix.rows, 3, exclude={matrix.users[0]: matrix.items[1:]})  # of whom one item is left
    assert best.users is not None
    lists = {
        user: [item for item in row if item not in {None, -1}]
        for user, row in zip(best.users.tolist(), best.items.tolist(), strict=True)
    }
    pickled = pickle.loads(pickle.dumps(best))  # noqa: S301 - our own
    for form in (best, pickled, best.to_pandas().drop(columns="score")):
        assert exactk.evaluate(truth, form, metrics) == exactk.evaluate(truth, lists, metrics)
    assert exactk.evaluate(best, lists, metrics) == exactk.evaluate({**lists}, lists, metrics)
    frame = best.to_pandas()
    assert frame["rank"].tolist() == [1, 1, 2, 3, 1, 2, 3]
    assert best.to_polars().rows() == list(frame.itertuples(index=False, name=None))
    reranked = exactk.evaluate(truth, frame.drop(columns="rank"), metrics)
    assert reranked["recall@3"] == exactk.evaluate(truth, lists, metrics)["recall@3"]
    with pytest.warns(exactk.EvaluationWarning, match="no item|in exclude"):
        assert exactk.evaluate(lists, matrix.rows, "recall@3", exclude=best)["recall@3"] == 0


def test_topk_without_keys() -> None:
    best = exactk.topk(np.array([[0.5, 0.25], [0.25, 1.0]]), 3)
    assert best.users is None
    ids, _ = best
    assert ids.tolist() == [[0, 1, -1], [1, 0, -1]]
    assert best.to_pandas().to_dict("list") == {
        "user": [0, 0, 1, 1], "item": [0, 1, 1, 0], "rank": [1, 2, 1, 2], "score": [0.5, 0.25, 1.0, 0.25],
    }  # fmt: skip


def test_neighbors_of_keys() -> None:
    vectors, keys = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.0]]), ["d", "b", "c", "a"]
    plain, keyed = exactk.neighbors(vectors, 2), exactk.neighbors(vectors, 2, items=keys)
    assert plain.users is None
    assert keyed.users is not None
    assert keyed.users.tolist() == keys
    np.testing.assert_array_equal(keyed.scores, plain.scores)
    # "b" is as near to "d" as to "a", and to "c": ties go by key.
    assert keyed.items.tolist() == [["a", "b"], ["a", "c"], ["b", "a"], ["d", "b"]]
    itself = exactk.neighbors(vectors, 1, exclude_self=False, items=keys)
    assert itself.items.ravel().tolist() == ["a", "b", "c", "a"]


def test_users_of_several_parts_in_a_matrix() -> None:
    users = [(7, "s0"), (8, "s0"), (7, "s1")]
    truth = {users[2]: [1], users[0]: [2]}
    values = np.array([[0.5, 0.25, 1.0], [1.0, 0.5, 0.25], [0.0, 1.0, 0.5]])
    index = pd.MultiIndex.from_tuples(users, names=["person", "session"])
    for keys in (users, index):
        scores = exactk.Scores(values, users=keys)
        report = exactk.evaluate(truth, scores, "recall@1", per_user=True)
        assert report.per_user["recall@1"].tolist()[:2] == [1.0, 1.0]
        assert report.users.tolist() == [users[2], users[0], users[1]]
    assert exactk.topk(exactk.Scores(values, users=index), 1).to_pandas().columns.tolist() == [
        "person", "session", "item", "rank", "score",
    ]  # fmt: skip


def test_integer_keys_of_columns_alone() -> None:
    """Users by row, and items by key: a padded array and lists have ids, which are keys."""
    scores = exactk.Scores(np.array([[0.5, 0.25, 1.0], [1.0, 0.5, 0.25]]), items=[30, 10, 20])
    for truth in ([[20], [10]], np.array([[20], [10]]), exactk.Truth.from_dense([[1, 0], [0, 1]], items=[20, 10])):
        assert exactk.evaluate(truth, scores, "mrr")["mrr"] == 0.75
    assert exactk.topk(scores, 2, exclude=[[20], []]).items.tolist() == [[30, 10], [30, 10]]


@IGNORE_UNRANKABLE
def test_rows_with_keys() -> None:
    """Offsets and items as CSR has them, with the keys of users and items beside them."""
    users, keys = [f"user {user}" for user in range(4)], np.array([f"item {item:02}" for item in range(12)])
    indptr, items, grades = csr_arrays(GRADED)
    exclude_indptr, exclude_items, _ = csr_arrays(EXCLUDED)
    order = np.array([2, 0, 3, 1])  # the users of the scores come in another order
    shuffled = csr_array(SCORED)[order]
    truth, predictions, exclude = (
        {users[user]: {str(keys[item]): value for item, value in row.items()} for user, row in data.rows.items()}
        for data in (GRADED, SCORED, EXCLUDED)
    )
    expected = evaluate_per_user(truth, predictions, exclude)
    in_order = [users[user] for user in order]
    report = evaluate_per_user(
        exactk.Truth(indptr, keys[items], grades, users=users),
        exactk.SparseScores(shuffled.indptr, keys[shuffled.indices], shuffled.data, users=in_order),
        exactk.Exclusions(exclude_indptr, keys[exclude_items], users=users),
    )
    assert report == expected
    ranked = exactk.Rankings([0, 1, 3], pd.Series(["b", "a", "b"]), users=pl.Series(["y", "x"]))
    assert exactk.evaluate({"x": ["b"], "y": ["b"]}, ranked, "mrr")["mrr"] == 0.75


@pytest.mark.parametrize("kind", ["int", "str"])
def test_dense_grades_with_keys(kind: str) -> None:
    key_of = KINDS[kind]
    grades = np.full((4, 12), np.nan)
    for user, item, grade in zip(GRADED.users, GRADED.items, GRADED.values, strict=True):
        grades[user, item] = grade
    users, items = [key_of(user) for user in range(4)], [key_of(item) for item in range(12)]
    frame = pd.DataFrame(grades, users, items)
    inputs = SCORED.with_keys(key_of).rows, EXCLUDED.with_keys(key_of).rows
    for truth in (
        exactk.Truth.from_dense(grades, users=users, items=items),
        exactk.Truth.from_dense(frame),
        exactk.Truth.from_dense(frame.iloc[:, ::-1]),
    ):
        assert evaluate_per_user(truth, *inputs) == expected_report(kind)
    scores = exactk.Scores(np.zeros((4, 12)), users=users[::-1], items=items)
    with pytest.warns(exactk.EvaluationWarning, match="the order of ties"):
        report = evaluate_per_user(frame, scores, None)  # beside scores of all items, floats are grades
    with pytest.warns(exactk.EvaluationWarning, match="the order of ties"):
        assert report == evaluate_per_user(exactk.Truth.from_dense(frame), scores, None)
    padded = exactk.Truth.from_padded([[1, 4], [2, -1]], users=["ann", "bob"])
    assert evaluate_per_user(padded, {"bob": [2], "ann": [3, 4]}, None).users.tolist() == ["ann", "bob"]


def by_user(values: dict[Any, Any]) -> pd.Series[Any]:
    """Return a Series whose index has a name, as pandas would number users 0, 1, 2, ... itself."""
    return pd.Series(values).rename_axis("user")


SERIES: dict[str, Callable[[LongFormat], Any]] = {
    "lists": lambda data: by_user({user: list(row) for user, row in data.rows.items()}),
    "arrays": lambda data: by_user({user: np.array(list(row)) for user, row in data.rows.items()}),
    "grouped": lambda data: pd.DataFrame(data.columns).groupby("user", sort=False)["item"].agg(list),
    "sets": lambda data: by_user({user: set(row) for user, row in data.rows.items()}),
    "Arrow": lambda data: pd.Series(
        [list(row) for row in data.rows.values()], list(data.rows), pd.ArrowDtype(pa.list_(pa.array(data.items).type))
    ),
}
VALUE_SERIES: dict[str, Callable[[LongFormat], Any]] = {
    "dicts": lambda data: by_user(data.rows),
    "levels": lambda data: pd.DataFrame(data.columns).set_index(["user", "item"])[data.role],
    "levels, other names": lambda data: pd.DataFrame(data.columns)
    .rename(columns={"user": "userId", "item": "docno", data.role: "value"})
    .set_index(["docno", "userId"])["value"],
    "levels without names": lambda data: pd.DataFrame(data.columns).set_index(["user", "item"])[data.role].rename_axis([None, None]).rename(None),
    "grouped": lambda data: pd.DataFrame(data.columns).groupby(["user", "item"], sort=False)[data.role].mean(),
}  # fmt: skip


@pytest.mark.parametrize("form", SERIES)
@pytest.mark.parametrize("kind", ALL)
def test_series_of_lists(form: str, kind: str) -> None:
    key_of = KINDS[kind]
    truth, ranked, exclude = (data.with_keys(key_of) for data in (GRADED, RANKED, EXCLUDED))
    predictions: Any = {user: list(row) for user, row in ranked.rows.items()}
    if form not in {"sets", "grouped"}:  # whose rows are not best first
        predictions = SERIES[form](ranked)
    report = evaluate_per_user(SERIES[form](truth), predictions, SERIES[form](exclude))
    binary = {user: list(row) for user, row in truth.rows.items()}
    assert report == evaluate_per_user(binary, {user: list(row) for user, row in ranked.rows.items()}, exclude.rows)


@pytest.mark.parametrize("form", VALUE_SERIES)
@pytest.mark.parametrize("kind", ALL)
def test_series_of_values(form: str, kind: str) -> None:
    build, key_of = VALUE_SERIES[form], KINDS[kind]
    truth, scored, ranked = (build(data.with_keys(key_of)) for data in (GRADED, SCORED, RANKED))
    exclude = pd.DataFrame(EXCLUDED.with_keys(key_of).columns).assign(times=1).set_index(["user", "item"])["times"]
    assert evaluate_per_user(truth, scored, exclude) == expected_report(kind)
    if form in {"levels", "grouped"}:  # whose name says that they are ranks
        assert evaluate_per_user(truth, ranked, exclude) == expected_report(kind, "rank")
    assert (exactk.topk(scored, 2).items == exactk.topk(SCORED.with_keys(key_of).rows, 2).items).all()


@pytest.mark.parametrize("kind", [*ALL, "uuid"])
def test_one_item_for_each_user(kind: str) -> None:
    """Leave-one-out: a mapping or a Series from user to item."""
    key_of = KINDS[kind]
    left_out, train = {key_of(0): key_of(4), key_of(3): key_of(1)}, {key_of(1): key_of(5), key_of(0): key_of(1)}
    predictions = RANKED.with_keys(key_of).rows
    lists = {user: list(row) for user, row in predictions.items()}
    truth, exclude = ({user: [item] for user, item in items.items()} for items in (left_out, train))
    expected = evaluate_per_user(truth, lists, exclude)
    assert evaluate_per_user(left_out, lists, train) == expected
    assert evaluate_per_user(pd.Series(left_out), lists, pd.Series(train)) == expected


@pytest.mark.parametrize("series", [
    pd.Series([[1, 4], [2, 5], [4], [7, 1]]), pl.Series([[1, 4], [2, 5], [4], [7, 1]]), pa.array([[1, 4], [2, 5], [4], [7, 1]]),
], ids=["pandas", "Polars", "Arrow"])  # fmt: skip
def test_series_without_users_are_rows(series: Any) -> None:
    lists, rankings = [[1, 4], [2, 5], [4], [7, 1]], [[1], [5, 2], [9], [1]]
    assert exactk.evaluate(series, rankings, METRICS) == exactk.evaluate(lists, rankings, METRICS)
    assert exactk.evaluate(rankings, series, METRICS) == exactk.evaluate(rankings, lists, METRICS)


def test_values_of_users_in_a_frame_by_index() -> None:
    truth, predictions = {"ann": [1], "bob": [2]}, {"ann": [1], "bob": [3]}
    frame = pd.DataFrame({"weight": [3.0, 1.0]}, index=["bob", "ann"])
    assert exactk.evaluate(truth, predictions, "P@1", weights=frame)["P@1"] == 0.25
    report = evaluate_per_user(truth, predictions, None, groups=frame.assign(weight=["old", "new"]))
    assert {group: values["num_hits@1"] for group, values in report.by_group.items()} == {"new": 1.0, "old": 0.0}
    message = r"weights: expected one column beside the index, found weight and age; weights=weights\['weight'\]"
    with pytest.raises(exactk.InputError, match=message):
        exactk.evaluate(truth, predictions, "P@1", weights=frame.assign(age=1))


def sparse_scores_of(data: Any) -> exactk.SparseScores:
    predictions = exactk.as_predictions(data)
    assert isinstance(predictions, exactk.SparseScores)
    return predictions


def address(array: Any) -> int:
    return int(np.asarray(array).__array_interface__["data"][0])


COLUMNS = {"user": np.repeat(np.arange(3), 2), "item": np.arange(6), "score": np.linspace(0.0, 1.0, 6)}


def arrow_arrays(table: Any, array_of: Callable[[Any], Any] = lambda column: column.chunk(0)) -> tuple[Any, ...]:
    """Return the table, and the items and scores where they lie."""
    return table, *(array_of(table[name]).to_numpy() for name in ("item", "score"))


def in_place() -> dict[str, tuple[Any, ...]]:
    """Return containers of rows that stand user by user, each with the arrays of its items and scores."""
    frame = pd.DataFrame(COLUMNS)
    nullable = frame.astype({"item": "Int64", "score": "Float64"})
    arrow = pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype)
    values = pa.array(COLUMNS["item"]), pa.array(COLUMNS["score"])
    lists = [pa.ListArray.from_arrays(pa.array([0, 2, 6], pa.int32()), column) for column in values]
    sparse = scipy.sparse.csr_array((COLUMNS["score"], COLUMNS["item"].astype(np.int32), [0, 2, 4, 6]), shape=(3, 6))
    foreign = exactk.SparseScores([0, 2, 4, 6], ForeignArray(COLUMNS["item"]), ForeignArray(COLUMNS["score"]))
    return {
        "pandas": arrow_arrays(frame, lambda column: column),
        "pandas with masks": (nullable, nullable["item"].array._data, nullable["score"].array._data),
        "pandas with Arrow": arrow_arrays(arrow, lambda column: column.array.__arrow_array__().chunk(0)),
        "Polars": arrow_arrays(pl.DataFrame(COLUMNS), lambda column: column),
        "Arrow": arrow_arrays(pa.table(COLUMNS)),
        "Arrow, sliced": arrow_arrays(pa.table(COLUMNS).slice(2)),
        "lists": (pa.table([pa.array([5, 4]), *lists], list(COLUMNS)), *(column.to_numpy() for column in values)),
        "CSR": (sparse, sparse.indices, sparse.data),
        "CSR arrays of another library": (foreign, COLUMNS["item"], COLUMNS["score"]),
    }


IN_PLACE = in_place()


@pytest.mark.parametrize("container", IN_PLACE)
def test_rows_that_stand_user_by_user_are_read_in_place(container: str) -> None:
    data, items, scores = IN_PLACE[container]
    predictions = sparse_scores_of(data)
    assert address(predictions.items) == address(items)
    assert address(predictions.scores) == address(scores)


def as_the_core_reads(truth: Any, predictions: Any) -> Any:
    encoding = Encoding()
    of_truth = truth_input(classify(truth, "truth"), {"score": None}, encoding)
    of_predictions = predictions_input(classify(predictions, "predictions"), {"score": None}, encoding)
    return Alignment(of_truth, [of_predictions], None, encoding).inputs(of_predictions).predictions


def test_alignment_leaves_rows_in_place() -> None:
    """Users in the order of the truth, as a recommender returns them: nothing is copied on the way to the core."""
    frame = pd.DataFrame(COLUMNS)
    predictions = as_the_core_reads({0: [1], 1: [2], 2: [3]}, frame)
    assert isinstance(predictions, exactk.SparseScores)
    assert address(predictions.items) == address(frame["item"].to_numpy())
    assert address(predictions.scores) == address(frame["score"].to_numpy())


@pytest.mark.parametrize("users", [[3, 6, 1], [1, 3, 7, 6]])
def test_a_matrix_is_read_in_place_in_any_order(users: list[int]) -> None:
    matrix = KeyedMatrix.of_kind(KINDS["int"])
    scores = as_the_core_reads({user: [4] for user in users}, matrix.scores(list))
    assert address(scores.values) == address(matrix.array)
    rows = [matrix.users.index(user) if user in matrix.users else -1 for user in users]
    assert [scores.row_of(user) for user in range(len(users))] == rows


def test_what_is_not_in_order_is_copied() -> None:
    frame = pd.DataFrame({name: column[::-1].copy() for name, column in COLUMNS.items()})
    assert address(sparse_scores_of(frame).items) == address(frame["item"].to_numpy())  # the users' own order is any
    frame = frame.iloc[[0, 2, 1, 3, 4, 5]]
    assert address(sparse_scores_of(frame).items) != address(frame["item"].to_numpy())
    assert sparse_scores_of(frame).items.tolist() == [5, 4, 3, 2, 1, 0]


GAINS: dict[str, list[Any]] = {"who": ["ann", "bob", "ann"], "what": [7, 8, 9], "gains": [4.0, 0.0, 1.0]}


@pytest.mark.parametrize("make", [
    pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, lambda columns: pd.DataFrame(columns).set_index(["who", "what"]),
], ids=["pandas", "Polars", "lazy", "Arrow", "index"])  # fmt: skip
def test_a_truth_from_a_frame(make: Callable[[dict[str, list[Any]]], Any]) -> None:
    columns: dict[str, Any] = {"user": "who", "item": "what", "grade": "gains"}
    frame = make(GAINS)
    truth = exactk.Truth.from_frame(frame, **columns)
    assert type(truth) is exactk.Truth
    expected = exactk.as_truth(frame, **columns)
    predictions = {"ann": [7, 8], "bob": [8]}
    metrics = ["ndcg@2", "judged@2", "num_relevant"]
    assert exactk.evaluate(truth, predictions, metrics) == exactk.evaluate(expected, predictions, metrics)
    assert truth.columns == expected.columns
    assert pickle.loads(pickle.dumps(truth)).rows().grades.tolist() == [4.0, 1.0, 0.0]  # noqa: S301 - our own
    for value in (GAINS, [[1]], truth, "truth.csv"):
        message = r"truth: expected a data frame, found .*; exactk.as_truth takes"
        with pytest.raises(exactk.InputTypeError, match=message):
            exactk.Truth.from_frame(value)  # type: ignore[arg-type]
    with pytest.raises(exactk.InputError, match=r"truth: expected the item column 'other'"):
        exactk.Truth.from_frame(frame, user="who", item="other")
