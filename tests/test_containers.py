"""One input in every container that has names, or numbers instead of names, gives one report."""

from __future__ import annotations

import collections
import types
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import exactk
from exactk._inputs.alignment import align


@dataclass(frozen=True)
class Entries:
    """Rows of one user, one item and a value, by the users' order."""

    users: list[Any]
    items: list[Any]
    values: list[float]
    role: str  # what the values are: grade, score, rank, or nothing

    def named(self, name: Callable[[int], Any]) -> Entries:
        return Entries([name(user) for user in self.users], [name(item) for item in self.items], self.values, self.role)

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


def entries(rows: dict[int, dict[int, float]], role: str) -> Entries:
    users = [user for user, row in rows.items() for _ in row]
    return Entries(
        users, [item for row in rows.values() for item in row], [v for row in rows.values() for v in row.values()], role
    )


GRADED = entries({0: {1: 3.0, 4: 1.0}, 1: {2: 2.0, 5: 0.0}, 2: {4: 1.0}, 3: {7: 2.0, 1: 1.0}}, "grade")
SCORED = entries(  # two of user 0 tie, and are ordered by name
    {0: {4: 0.5, 2: 0.5, 1: 0.75, 3: 0.25}, 1: {5: 0.5, 2: -1.0}, 2: {9: 1.0, 4: 0.5}, 3: {3: 0.5, 1: 0.25, 8: 0.125}},
    "score",
)
RANKED = entries({0: {1: 1, 4: 2, 2: 5}, 1: {5: 0, 2: 1}, 2: {9: 3, 4: 4}, 3: {3: -1, 1: 2, 8: 7}}, "rank")
EXCLUDED = entries({0: {2: 1.0}, 2: {9: 1.0}, 3: {3: 1.0, 8: 1.0}}, "")
METRICS = ["precision@2", "recall@3", "ndcg@2", "average_precision", "num_hits@1", "num_recommended"]

KINDS: dict[str, Callable[[int], Any]] = {
    "int": lambda number: number,
    "str": lambda number: f"naïve {number:02}",  # in the order of the numbers, and not ASCII
    "bytes": lambda number: b"\xff%02d" % number,
}
KINDS["uuid"] = lambda number: uuid.UUID(int=number)
KINDS["uuid as str"] = lambda number: str(uuid.UUID(int=number))


class Stream:
    """What streams Arrow, and can do nothing else."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Elsewhere:
    """An array of another library."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.shape = array.shape

    def __dlpack__(self, **options: Any) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def typed(columns: dict[str, list[Any]], key: Any = None, value: Any = None) -> pa.Table:
    """Return a table whose keys are of one type of Arrow, and whose values are of another."""
    return pa.table(
        {name: pa.array(column, key if name in {"user", "item"} else value) for name, column in columns.items()}
    )


def encoded(table: pa.Table) -> pa.Table:
    for place, name in enumerate(("user", "item")):
        table = table.set_column(place, name, table[name].dictionary_encode())
    return table


def in_chunks(table: pa.Table) -> pa.Table:
    """Return the table in pieces, some of them empty, none at the beginning of its buffers."""
    size = len(table)
    return pa.concat_tables(
        [table.slice(0, 0), table.slice(0, 1), table.slice(1, 3), table.slice(4, 0), table.slice(4, size)]
    )


def sliced(table: pa.Table) -> pa.Table:
    """Return the same rows cut from the midst of others."""
    longer = pa.concat_tables([table, table, table]).combine_chunks()
    return longer.slice(len(table), len(table))


def chunks_with_own_dictionaries(table: pa.Table) -> pa.Table:
    return pa.concat_tables([encoded(table.slice(0, 2)), encoded(table.slice(2))])


def categories(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Return categories in another order than the rows', some of no row."""
    frame = pd.DataFrame(columns)
    for name in ("user", "item"):
        own = sorted(set(columns[name]), reverse=True)
        extra = ["unused"] if isinstance(own[0], str) else [b"unused"] if isinstance(own[0], bytes) else [-77]
        frame[name] = pd.Categorical(columns[name], categories=own + extra)
    return frame


def of_types(columns: dict[str, list[Any]], key: Any, value: Any = None) -> pd.DataFrame:
    kinds = {name: key if name in {"user", "item"} else value for name in columns}
    return pd.DataFrame({name: pd.Series(column, dtype=kinds[name]) for name, column in columns.items()})


def polars_of(columns: dict[str, list[Any]], key: Any) -> pl.DataFrame:
    return pl.DataFrame(columns).with_columns(pl.col("user", "item").cast(key))


def enums(columns: dict[str, list[Any]]) -> pl.DataFrame:
    own = {name: pl.Enum(sorted(set(columns[name]), reverse=True)) for name in ("user", "item")}
    return pl.DataFrame(columns).with_columns(*(pl.col(name).cast(kind) for name, kind in own.items()))


def relation(columns: dict[str, list[Any]]) -> Any:
    return duckdb.connect().from_arrow(typed(columns))


ALL, INT, STR, BYTES = ("int", "str", "bytes"), ("int",), ("str",), ("bytes",)
FRAMES: dict[str, tuple[tuple[str, ...], Callable[[dict[str, list[Any]]], Any]]] = {
    "pandas": ((*ALL, "uuid"), pd.DataFrame),
    "pandas, objects": ((*ALL, "uuid"), lambda columns: pd.DataFrame(columns, dtype=object).astype(values_of(columns))),
    "pandas, int32": (INT, lambda columns: of_types(columns, "int32")),
    "pandas, uint64 and float32": (INT, lambda columns: of_types(columns, "uint64", "float32")),
    "pandas, big endian": (INT, lambda columns: of_types(columns, ">i8", ">f8")),
    "pandas, nullable": (INT, lambda columns: of_types(columns, "Int64", "Float64")),
    "pandas, nullable UInt32": (INT, lambda columns: of_types(columns, "UInt32", "Float32")),
    "pandas, strings of Python": (STR, lambda columns: of_types(columns, "string[python]")),
    "pandas, strings of Arrow": (STR, lambda columns: of_types(columns, "string[pyarrow]")),
    "pandas, Arrow's integers": (
        INT,
        lambda columns: of_types(columns, pd.ArrowDtype(pa.int64()), pd.ArrowDtype(pa.float64())),
    ),
    "pandas, Arrow's strings": (STR, lambda columns: of_types(columns, pd.ArrowDtype(pa.large_string()))),
    "pandas, Arrow's bytes": (BYTES, lambda columns: of_types(columns, pd.ArrowDtype(pa.binary()))),
    "pandas, Arrow's dictionaries": (
        STR,
        lambda columns: of_types(columns, pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    ),
    "pandas, categories": (ALL, categories),
    "pandas, index": (ALL, lambda columns: pd.DataFrame(columns).set_index("user")),
    "pandas, MultiIndex": (ALL, lambda columns: pd.DataFrame(columns).set_index(["user", "item"])),
    "pandas, MultiIndex of categories": (ALL, lambda columns: categories(columns).set_index(["user", "item"])),
    "pandas, every other row": (
        ALL,
        lambda columns: pd.DataFrame(columns).loc[np.repeat(range(len(columns["user"])), 2)][::2],
    ),
    "Polars": (ALL, pl.DataFrame),
    "Polars, lazy": (ALL, pl.LazyFrame),
    "Polars, chunks": (
        ALL,
        lambda columns: pl.concat([pl.DataFrame(columns)[:2], pl.DataFrame(columns)[2:]], rechunk=False),
    ),
    "Polars, UInt16": (INT, lambda columns: polars_of(columns, pl.UInt16)),
    "Polars, Categorical": (STR, lambda columns: polars_of(columns, pl.Categorical)),
    "Polars, Enum": (STR, enums),
    "Arrow": (ALL, typed),
    "Arrow, chunks": (ALL, lambda columns: in_chunks(typed(columns))),
    "Arrow, sliced": (ALL, lambda columns: sliced(typed(columns))),
    "Arrow, chunks of slices": (ALL, lambda columns: in_chunks(sliced(typed(columns)))),
    "Arrow, dictionaries": (ALL, lambda columns: encoded(typed(columns))),
    "Arrow, a dictionary a chunk": (ALL, lambda columns: chunks_with_own_dictionaries(typed(columns))),
    "Arrow, int8": (INT, lambda columns: typed(columns, pa.int8(), pa.float32())),
    "Arrow, uint64": (INT, lambda columns: typed(columns, pa.uint64(), pa.float16() if "score" in columns else None)),
    "Arrow, large_string": (STR, lambda columns: typed(columns, pa.large_string())),
    "Arrow, string_view": (STR, lambda columns: sliced(typed(columns, pa.string_view()))),
    "Arrow, large_binary": (BYTES, lambda columns: typed(columns, pa.large_binary())),
    "Arrow, binary_view": (BYTES, lambda columns: typed(columns, pa.binary_view())),
    "Arrow, fixed size": (BYTES, lambda columns: sliced(typed(columns, pa.binary(3)))),
    "Arrow, one batch": (ALL, lambda columns: typed(columns).to_batches()[0]),
    "Arrow, reader": (ALL, lambda columns: in_chunks(typed(columns)).to_reader()),
    "Arrow, a stream and no more": (ALL, lambda columns: Stream(typed(columns))),
    "DuckDB": (ALL, relation),
}


def values_of(columns: dict[str, list[Any]]) -> dict[str, str]:
    """Return the types of the columns that are no names."""
    return dict.fromkeys(columns.keys() - {"user", "item"}, "float64")


def counters(given: Entries) -> dict[Any, Any]:
    return {user: collections.Counter(row) for user, row in given.rows.items()}


def by_default(given: Entries) -> dict[Any, Any]:
    rows: dict[Any, Any] = collections.defaultdict(dict)
    rows.update({user: collections.OrderedDict(row) for user, row in given.rows.items()})
    return rows


MAPPINGS: dict[str, Callable[[Entries], Any]] = {
    "dicts": lambda given: given.rows,
    "defaultdict of OrderedDict": by_default,
    "Counter": counters,
    "UserDict of proxies": lambda given: collections.UserDict(
        {user: types.MappingProxyType(row) for user, row in given.rows.items()}
    ),
    "NumPy's numbers": lambda given: {
        user: {item: np.float64(value) for item, value in row.items()} for user, row in given.rows.items()
    },
}
SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "lists": list,
    "tuples": tuple,
    "deques": collections.deque,
    "arrays": np.array,
    "arrays of another library": lambda row: Elsewhere(np.array(row)),
    "keys": lambda row: list(dict.fromkeys(row)),
}


def evaluated(truth: Any, predictions: Any, exclude: Any, **options: Any) -> exactk.Report:
    report = exactk.evaluate(truth, predictions, METRICS, exclude=exclude, per_user=True, **options)
    assert isinstance(report, exactk.Report)
    return report


def expected(kind: str, predictions: Entries = SCORED) -> exactk.Report:
    name = KINDS["uuid as str" if kind == "uuid" else kind]
    lists: Any = predictions.named(name).rows
    if predictions is RANKED:
        lists = {user: list(row) for user, row in lists.items()}
    exclude = {user: set(row) for user, row in EXCLUDED.named(name).rows.items()}
    return evaluated(GRADED.named(name).rows, lists, exclude)


def test_the_report_by_hand() -> None:
    report = expected("int")
    assert report.users.tolist() == [0, 1, 2, 3]
    # The lists are 1 4 3, 5 2, 4 and 1, once what is excluded has been left out.
    assert report.per_user["precision@2"].tolist() == [1.0, 0.5, 0.5, 0.5]
    assert report.per_user["num_hits@1"].tolist() == [1, 0, 1, 1]
    assert report.per_user["num_recommended"].tolist() == [3, 2, 1, 1]
    report = expected("int", RANKED)  # 1 4, 5 2, 4 and 1
    assert report.per_user["num_hits@1"].tolist() == [1, 0, 1, 1]
    assert report.per_user["num_recommended"].tolist() == [2, 2, 1, 1]
    assert report.counts["excluded_recommended"] == 4


@pytest.mark.parametrize("kind", ["str", "bytes", "uuid"])
def test_names_of_another_kind_change_nothing_but_the_users(kind: str) -> None:
    numbers, report = expected("int"), expected(kind)
    assert report.state == numbers.state
    for name in numbers.metrics:
        np.testing.assert_array_equal(report.per_user[name], numbers.per_user[name])
    name_of = KINDS["uuid as str" if kind == "uuid" else kind]
    assert report.users.tolist() == [name_of(user) for user in range(4)]


@pytest.mark.parametrize(("frame", "kind"), [(frame, kind) for frame, (kinds, _) in FRAMES.items() for kind in kinds])
def test_frames(frame: str, kind: str) -> None:
    build, name = FRAMES[frame][1], KINDS[kind]
    exclude = build(EXCLUDED.named(name).columns)
    for predictions in (SCORED, RANKED):
        given = build(GRADED.named(name).columns), build(predictions.named(name).columns)
        assert evaluated(*given, exclude) == expected(kind, predictions)
        exclude = exactk.as_exclusions(build(EXCLUDED.named(name).columns))  # a reader is empty by now


def rows_by_user(given: Entries) -> dict[str, list[Any]]:
    """Return columns with a row for each user, of lists of what the user has."""
    rows = given.rows
    columns = {"user": list(rows), "item": [list(row) for row in rows.values()]}
    return columns | (
        {given.role: [list(row.values()) for row in rows.values()]} if given.role in {"grade", "score"} else {}
    )


LISTS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, arrays": lambda columns: pd.DataFrame(columns).map(
        lambda row: np.array(row) if isinstance(row, list) else row
    ),
    "pandas, Arrow": lambda columns: typed(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": pl.DataFrame,
    "Polars, lazy": pl.LazyFrame,
    "Arrow": typed,
    "Arrow, chunks": lambda columns: pa.concat_tables([typed(columns).slice(0, 1), typed(columns).slice(1)]),
    "Arrow, sliced": lambda columns: sliced(typed(columns)),
}


@pytest.mark.parametrize("frame", LISTS)
@pytest.mark.parametrize("kind", ALL)
def test_frames_of_lists(frame: str, kind: str) -> None:
    build, name = LISTS[frame], KINDS[kind]
    truth, exclude = (build(rows_by_user(given.named(name))) for given in (GRADED, EXCLUDED))
    for predictions in (SCORED, RANKED):
        assert evaluated(truth, build(rows_by_user(predictions.named(name))), exclude) == expected(kind, predictions)


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("kind", [*ALL, "uuid"])
def test_mappings(mapping: str, kind: str) -> None:
    truth, predictions, exclude = (MAPPINGS[mapping](given.named(KINDS[kind])) for given in (GRADED, SCORED, EXCLUDED))
    assert evaluated(truth, predictions, exclude) == expected(kind)


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("kind", [*ALL, "uuid"])
def test_mappings_of_sequences(sequence: str, kind: str) -> None:
    if kind != "int" and "arrays" in sequence:
        pytest.skip("arrays hold integers")
    make, name = SEQUENCES[sequence], KINDS[kind]
    predictions, exclude = (
        {user: make(list(row)) for user, row in given.named(name).rows.items()} for given in (RANKED, EXCLUDED)
    )
    assert evaluated(GRADED.named(name).rows, predictions, exclude) == expected(kind, RANKED)
    truth = {user: make(list(row)) for user, row in GRADED.named(name).rows.items()}
    binary = {user: dict.fromkeys(row, 1.0) for user, row in GRADED.named(name).rows.items()}
    assert evaluated(truth, predictions, exclude) == evaluated(binary, predictions, exclude)


def csr(given: Entries) -> tuple[Any, Any, Any]:
    """Return where the rows begin, the items and the values; user 1 has no row of what is excluded."""
    sizes = np.bincount(given.users, minlength=4)
    return np.concatenate([[0], np.cumsum(sizes)]), np.array(given.items), np.array(given.values)


def of_another_library(arrays: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    return Elsewhere(arrays[0]), Elsewhere(arrays[1]), Elsewhere(arrays[2])


def narrow(indptr: Any, items: Any, scores: Any) -> tuple[Any, Any, Any]:
    return indptr.astype("u4"), items.astype("i4"), scores.astype("f4")


def matrix(given: Entries, kind: Any) -> Any:
    indptr, items, values = csr(given)
    whole = scipy.sparse.csr_array((values, items, indptr), shape=(4, 12))
    return kind(whole)


NUMBERED: dict[str, Callable[[Entries], Any]] = {  # whose users are numbers of rows
    "lists": lambda given: [given.rows.get(user, {}) for user in range(4)],
    "read-only mappings": lambda given: [types.MappingProxyType(given.rows.get(user, {})) for user in range(4)],
    "CSR arrays": lambda given: exactk.SparseScores(*csr(given)),
    "CSR arrays of another library": lambda given: exactk.SparseScores(*of_another_library(csr(given))),
    "CSR arrays, int32 and float32": lambda given: exactk.SparseScores(*narrow(*csr(given))),
} | {
    kind.__name__: lambda given, kind=kind: matrix(given, kind)
    for kind in (
        scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array,
        scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix,
    )
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.* have no column in the scores")  # of rows by number nothing is known of others
@pytest.mark.parametrize("container", NUMBERED)
def test_rows_by_number(container: str) -> None:
    truth = exactk.Truth(*csr(GRADED))
    exclude = [row.keys() for row in (EXCLUDED.rows.get(user, {}) for user in range(4))]
    report = evaluated(truth, NUMBERED[container](SCORED), exactk.as_exclusions([list(row) for row in exclude]))
    assert report == expected("int")  # whose users are called by these numbers
    if "arrays" not in container:
        truth = NUMBERED[container](
            entries({user: dict.fromkeys(row, 1.0) for user, row in GRADED.rows.items()}, "grade")
        )
        rankings = [list(RANKED.rows[user]) for user in range(4)]
        binary = [list(row) for row in GRADED.rows.values()]
        assert evaluated(truth, rankings, None) == evaluated(binary, rankings, None)


def test_users_of_several_columns() -> None:
    session = {0: "s0", 1: "s0", 2: "s1", 3: "s1"}
    person = {0: 7, 1: 8, 2: 7, 3: 8}

    def of(given: Entries, build: Callable[[dict[str, list[Any]]], Any]) -> Any:
        columns = given.columns
        users = columns.pop("user")
        return build(
            columns | {"person": [person[user] for user in users], "session": [session[user] for user in users]}
        )

    by_tuple = [
        {(person[user], session[user]): row for user, row in given.rows.items()} for given in (GRADED, SCORED, EXCLUDED)
    ]
    by_name = evaluated(*by_tuple)
    assert by_name.state == expected("int").state
    assert by_name.users.tolist() == [(7, "s0"), (8, "s0"), (7, "s1"), (8, "s1")]
    for build in (pd.DataFrame, pl.DataFrame, typed, lambda columns: in_chunks(encoded_sessions(columns))):
        frames = [of(given, build) for given in (GRADED, SCORED, EXCLUDED)]
        report = evaluated(*frames, user=["person", "session"])
        assert report.state == by_name.state
        assert report.users.tolist() == by_name.users.tolist()
        assert report.users.dtype.names == ("person", "session")


def encoded_sessions(columns: dict[str, list[Any]]) -> pa.Table:
    table = typed(columns)
    place = table.column_names.index("session")
    return table.set_column(place, "session", table["session"].dictionary_encode())


@pytest.mark.parametrize("kind", ALL)
def test_what_was_made_before_is_aligned_too(kind: str) -> None:
    """Truth, predictions and exclude that know their users and items, each with numbers of its own."""
    truth, predictions, exclude = (given.named(KINDS[kind]) for given in (GRADED, SCORED, EXCLUDED))
    backwards = dict(reversed(predictions.rows.items()))
    made = exactk.as_truth(truth.rows), exactk.as_predictions(backwards), exactk.as_exclusions(exclude.rows)
    assert evaluated(*made) == expected(kind)
    assert evaluated(truth.rows, made[1], pd.DataFrame(exclude.columns)) == expected(kind)
    indptr, items, grades = csr(GRADED)
    named = exactk.Truth(indptr, items, grades, users=[KINDS["str"](user) for user in range(4)])
    assert evaluated(named, *(_with_numbers(given) for given in (SCORED, EXCLUDED))).state == expected("int").state


def _with_numbers(given: Entries) -> dict[str, dict[int, float]]:
    return {KINDS["str"](user): row for user, row in given.rows.items()}


def test_names_of_columns() -> None:
    usual = [("userId", "movieId"), ("query_id", "docno"), ("uid", "iid"), ("topic", "document_id")]
    for user, item in usual:
        truth = pd.DataFrame(GRADED.columns).rename(columns={"user": user, "item": item, "grade": "rel"})
        predictions = pl.DataFrame(SCORED.columns).rename({"user": user.upper(), "item": item, "score": "prediction"})
        assert evaluated(truth, predictions, {user: list(row) for user, row in EXCLUDED.rows.items()}) == expected(
            "int"
        )
    own = {"user": "who", "item": "what", "grade": "how", "score": "how"}
    frames = [pl.DataFrame(given.columns).rename(own, strict=False) for given in (GRADED, SCORED, EXCLUDED)]
    assert evaluated(*frames, **own) == expected("int")


def candidates_of(given: Any) -> exactk.SparseScores:
    predictions = exactk.as_predictions(given)
    assert isinstance(predictions, exactk.SparseScores)
    return predictions


def address(array: Any) -> int:
    return int(np.asarray(array).__array_interface__["data"][0])


COLUMNS = {"user": np.repeat(np.arange(3), 2), "item": np.arange(6), "score": np.linspace(0.0, 1.0, 6)}
IN_PLACE: dict[str, Callable[[], tuple[Any, Any, Any]]] = {}


def in_place(build: Callable[[], tuple[Any, Any, Any]]) -> Callable[[], tuple[Any, Any, Any]]:
    IN_PLACE[build.__name__.strip("_").replace("_", " ")] = build
    return build


@in_place
def _pandas() -> tuple[Any, Any, Any]:
    frame = pd.DataFrame(COLUMNS)
    return frame, frame["item"].to_numpy(), frame["score"].to_numpy()


@in_place
def _pandas_with_masks() -> tuple[Any, Any, Any]:
    frame = pd.DataFrame(COLUMNS).astype({"item": "Int64", "score": "Float64"})
    return frame, frame["item"].array._data, frame["score"].array._data


@in_place
def _pandas_with_Arrow() -> tuple[Any, Any, Any]:  # noqa: N802 - it is called so
    frame = pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype)
    return frame, *(frame[name].array.__arrow_array__().chunk(0).to_numpy() for name in ("item", "score"))


@in_place
def _Polars() -> tuple[Any, Any, Any]:  # noqa: N802
    frame = pl.DataFrame(COLUMNS)
    return frame, frame["item"].to_numpy(), frame["score"].to_numpy()


@in_place
def _Arrow() -> tuple[Any, Any, Any]:  # noqa: N802
    table = pa.table(COLUMNS)
    return table, *(table[name].chunk(0).to_numpy() for name in ("item", "score"))


@in_place
def _Arrow_sliced() -> tuple[Any, Any, Any]:  # noqa: N802
    table = pa.table(COLUMNS).slice(2)
    return table, *(table[name].chunk(0).to_numpy() for name in ("item", "score"))


@in_place
def _a_frame_of_lists() -> tuple[Any, Any, Any]:
    items, scores = pa.array(COLUMNS["item"]), pa.array(COLUMNS["score"])
    lists = [pa.ListArray.from_arrays(pa.array([0, 2, 6], pa.int32()), values) for values in (items, scores)]
    return pa.table([pa.array([5, 4]), *lists], ["user", "item", "score"]), items.to_numpy(), scores.to_numpy()


@in_place
def _csr() -> tuple[Any, Any, Any]:
    sparse = scipy.sparse.csr_array((COLUMNS["score"], COLUMNS["item"].astype(np.int32), [0, 2, 4, 6]), shape=(3, 6))
    return sparse, sparse.indices, sparse.data


@in_place
def _CSR_arrays_of_another_library() -> tuple[Any, Any, Any]:  # noqa: N802
    given = exactk.SparseScores([0, 2, 4, 6], Elsewhere(COLUMNS["item"]), Elsewhere(COLUMNS["score"]))
    return given, COLUMNS["item"], COLUMNS["score"]


@pytest.mark.parametrize("container", IN_PLACE)
def test_rows_that_stand_user_by_user_are_read_in_place(container: str) -> None:
    given, items, scores = IN_PLACE[container]()
    predictions = candidates_of(given)
    assert address(predictions.items) == address(items)
    assert address(predictions.scores) == address(scores)


def test_what_is_not_in_order_is_copied() -> None:
    frame = pd.DataFrame({name: column[::-1].copy() for name, column in COLUMNS.items()})
    assert address(candidates_of(frame).items) == address(frame["item"].to_numpy())  # the users' own order is any
    frame = frame.iloc[[0, 2, 1, 3, 4, 5]]
    assert address(candidates_of(frame).items) != address(frame["item"].to_numpy())
    assert candidates_of(frame).items.tolist() == [5, 4, 3, 2, 1, 0]


def test_alignment_leaves_rows_in_place() -> None:
    """Users in the order of the truth, as a recommender returns them: nothing is copied on the way to the core."""
    frame = pd.DataFrame(COLUMNS)
    case = align(exactk.as_truth({0: [1], 1: [2], 2: [3]}), candidates_of(frame), None)
    assert isinstance(case.predictions, exactk.SparseScores)
    assert address(case.predictions.items) == address(frame["item"].to_numpy())
    assert address(case.predictions.scores) == address(frame["score"].to_numpy())
