"""Files of every format: what is in them comes out, and what is wrong with them is said, whatever bytes they are."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

import exactk
from exactk._files import Role, json_files, source
from exactk._runtime.threads import read_ahead
from strategies import SHARE, examples

QRELS = b"q1 0 d1 1\nq1 0 d7 2\nq2 0 d1 0\n"
RUN = b"q1 Q0 d7 1 0.5 t\nq1 Q0 d2 2 0.25 t\nq2 Q0 d1 1 -1e3 t\n"
CSV = b'user,item,score\nu1,7,0.5\n\n"u,2",8,1\nu1,9,-2.5\n'
JSON_ROWS = b'{"user": 1, "item": "a", "score": 0.5, "by": "x"}\n\n{"user": 2, "item": "b", "score": 1, "by": 3}\n'
JSON_USERS = b'{"user": 1, "items": ["a", "b"], "scores": [0.5, 1]}\n{"user": 2, "items": [], "scores": []}\n'
TABLE = pa.table({"user_id": ["u1", "u1", "u2", "u3"], "item_id": [1, 2, 3, 4], "score": [0.5, 0.25, 1.0, 2.0]})


def parquet(table: pa.Table, **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def ipc(table: pa.Table, new: Callable[..., Any], compression: str | None = None) -> bytes:
    stream = io.BytesIO()
    with new(stream, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=2)
    return stream.getvalue()


def npz(save: Callable[..., None] = np.savez, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    save(stream, **arrays)
    return stream.getvalue()


def npz_of_matrix(matrix: Any) -> bytes:
    stream = io.BytesIO()
    scipy.sparse.save_npz(stream, matrix)
    return stream.getvalue()


CSR: dict[str, Any] = {"indptr": [0, 2, 3], "items": [1, 2, 3], "scores": [0.5, 0.25, 1.0], "users": ["u1", "u2"]}
PREDICTIONS = {
    "a.run": RUN,
    "a": RUN,
    "a.run.gz": gzip.compress(RUN, mtime=0),
    "a.csv": CSV,
    "a.tsv": CSV.replace(b",", b"\t").replace(b'"u\t2"', b"u,2"),
    "a.CSV.gz": gzip.compress(CSV, mtime=0),
    "rows.jsonl": JSON_ROWS,
    "users.ndjson": JSON_USERS,
    "users.jsonl.gz": gzip.compress(JSON_USERS, mtime=0),
    "a.parquet": parquet(TABLE),
    "a.arrow": ipc(TABLE, pa.ipc.new_file),
    "a.feather": ipc(TABLE, pa.ipc.new_file, "zstd"),
    "a.ipc": ipc(TABLE, pa.ipc.new_stream),
    "a.npz": npz(**CSR),
    "small.npz": npz(np.savez_compressed, **CSR),
    "matrix.npz": npz_of_matrix(scipy.sparse.csr_array([[0.0, 0.5], [0.25, 0.0]])),
}


def set_size_limits(monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    """Have every file be large: it is read in parts, and JSON lines by pyarrow. Otherwise small."""
    monkeypatch.setattr(source, "_LARGE", 0 if large else 1 << 28)
    monkeypatch.setattr(json_files, "_SMALL", 0 if large else 1 << 20)


def write_file(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.unlink(missing_ok=True)  # a file that is written anew waits for the disk
    path.write_bytes(data)
    return path


def users_of(truth: exactk.Truth) -> list[Any]:
    assert truth.users is not None
    users: list[Any] = truth.users.tolist()
    return users


def text(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


class TestTrec:
    def test_qrels_and_runs_are_what_dicts_of_the_same_are(self, tmp_path: Path) -> None:
        truth = exactk.read(write_file(tmp_path, "t.qrels", QRELS), "truth")
        predictions = exactk.read(write_file(tmp_path, "p.run", RUN), "predictions")
        exclude = exactk.read(write_file(tmp_path, "x", b"q1 Q0 d7 1 0.5 t\n"), "exclude")
        judged = {"q1": {"d1": 1.0, "d7": 2.0}, "q2": {"d1": 0.0}}
        ranked = {"q1": {"d7": 0.5, "d2": 0.25}, "q2": {"d1": -1000.0}}
        metrics = ["ndcg@10", "num_relevant", "num_recommended", "judged@2"]
        assert exactk.evaluate(truth, predictions, metrics) == exactk.evaluate(judged, ranked, metrics)
        with pytest.warns(exactk.EvaluationWarning, match="in exclude"):
            without = exactk.evaluate(truth, predictions, metrics, exclude=exclude)
        with pytest.warns(exactk.EvaluationWarning, match="in exclude"):
            assert without == exactk.evaluate(judged, ranked, metrics, exclude={"q1": ["d7"]})
        assert users_of(truth) == ["q1", "q2"]

    def test_the_score_ranks_and_not_the_rank(self, tmp_path: Path) -> None:
        path = write_file(tmp_path, "a.run", text("q Q0 a 1 0.1 t", "q Q0 b 2 0.9 t"))
        with pytest.warns(exactk.EvaluationWarning, match="ranks that contradict their scores"):
            predictions = exactk.read(path, "predictions")
        assert exactk.hit_rate_at_k({"q": ["b"]}, predictions, 1) == 1

    def test_the_role_says_which_of_the_two_it_must_be(self, tmp_path: Path) -> None:
        with pytest.raises(exactk.InputError, match=r"truth: expected 4 fields \(query iteration"):
            exactk.read(write_file(tmp_path, "a", RUN), "truth")
        with pytest.raises(exactk.InputError, match=r"predictions: expected 6 fields \(query Q0"):
            exactk.read(write_file(tmp_path, "a", QRELS), "predictions")


ROWS = [("b", 3, 0.5), ("a", 1, 2.0), ("b", 1, 1.0), ("c", 2, 0.75), ("a", 12345678901, 0.25)]
FRAME = pa.table(
    {name: list(column) for name, column in zip(("user", "item", "score"), zip(*ROWS, strict=True), strict=True)}
)


def _delimited_text(delimiter: str) -> bytes:
    return text(delimiter.join(FRAME.column_names), *(delimiter.join(map(str, row)) for row in ROWS))


def rows_of_users() -> dict[str, dict[int, float]]:
    users: dict[str, dict[int, float]] = {}
    for user, item, score in ROWS:
        users.setdefault(user, {})[item] = score
    return users


def _json_users() -> bytes:
    lists = ({"user": user, "items": list(row), "scores": list(row.values())} for user, row in rows_of_users().items())
    return text(*map(json.dumps, lists))


def _arrays() -> bytes:
    rows = rows_of_users()
    return npz(
        users=list(rows),
        indptr=np.cumsum([0, *map(len, rows.values())]),
        items=[item for row in rows.values() for item in row],
        scores=[score for row in rows.values() for score in row.values()],
        grades=[score for row in rows.values() for score in row.values()],
    )


FORMATS = {
    "a.csv": _delimited_text(","),
    "a.csv.gz": gzip.compress(_delimited_text(","), mtime=0),
    "a.tsv": _delimited_text("\t"),
    "rows.jsonl": text(*map(json.dumps, FRAME.to_pylist())),
    "users.ndjson": _json_users(),
    "a.parquet": parquet(FRAME),
    "dictionary.parquet": parquet(FRAME.set_column(0, "user", FRAME["user"].dictionary_encode())),
    "a.arrow": ipc(FRAME, pa.ipc.new_file),
    "a.feather": ipc(FRAME, pa.ipc.new_file, "lz4"),
    "stream.arrow": ipc(FRAME, pa.ipc.new_stream),
    "a.npz": _arrays(),
}
METRICS = ["ndcg@2", "recall@2", "num_relevant", "num_recommended"]


@pytest.mark.filterwarnings("ignore:predictions. all rows are copied to a temporary file")
@pytest.mark.parametrize(
    ("name", "id_type"), [*((name, int) for name in FORMATS), *((name, str) for name in FORMATS if "npz" not in name)]
)
@pytest.mark.parametrize("large", [False, True])
def test_every_format_is_what_a_dict_of_the_same_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, id_type: type, large: bool
) -> None:
    """Ids are text if that is asked."""
    set_size_limits(monkeypatch, large)
    path, text_ids = write_file(tmp_path, name, FORMATS[name]), id_type is str
    rows = {user: {id_type(item): score for item, score in row.items()} for user, row in rows_of_users().items()}
    one, three, seven = map(id_type, (1, 3, 7))
    grade: dict[str, Any] = {} if "npz" in name else {"grade": "scores" if "users" in name else "score"}
    predictions = exactk.read(path, "predictions", text_ids=text_ids)
    given = {"b": [one], "a": [one, seven], "z": [one]}
    assert exactk.evaluate(given, predictions, METRICS) == exactk.evaluate(given, rows, METRICS)
    truth = exactk.read(path, "truth", text_ids=text_ids, **grade)
    ranked = {"a": [seven, one], "b": [one, three], "z": [seven]}
    assert exactk.evaluate(truth, ranked, METRICS) == exactk.evaluate(rows, ranked, METRICS)
    exclude = exactk.read(path, "exclude", text_ids=text_ids)
    with pytest.warns(exactk.EvaluationWarning, match="in exclude"):
        without = exactk.evaluate(given, ranked, METRICS, exclude=exclude)
    with pytest.warns(exactk.EvaluationWarning, match="in exclude"):
        assert without == exactk.evaluate(given, ranked, METRICS, exclude={user: [*rows[user]] for user in rows})


class TestIds:
    @pytest.mark.parametrize(
        ("ids", "expected_ids"),
        [
            (["7", "12", "0", "-3", "9223372036854775807"], [7, 12, 0, -3, 2**63 - 1]),
            (["9007199254740993", "-9223372036854775808"], [2**53 + 1, -(2**63)]),
            (["7", "-9223372036854775809"], ["7", "-9223372036854775809"]),
            (["7", "07"], ["7", "07"]),
            (["7", "+7"], ["7", "+7"]),
            (["0", "-0"], ["0", "-0"]),
            (["7", '" 7"'], ["7", " 7"]),
            (["7", "7.5"], ["7", "7.5"]),
            (["7", "0x7"], ["7", "0x7"]),
            (["7", "9223372036854775808"], ["7", "9223372036854775808"]),
            (["true", "2020-01-01", "1e5 NA"], ["true", "2020-01-01", "1e5 NA"]),
            (["\N{LATIN SMALL LETTER E WITH ACUTE}", "e\N{COMBINING ACUTE ACCENT}"], ["\xe9", "e\u0301"]),
        ],
    )
    @pytest.mark.parametrize("large", [False, True])
    def test_are_integers_only_if_all_are_written_so(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ids: list[str], expected_ids: list[Any], large: bool
    ) -> None:
        set_size_limits(monkeypatch, large)
        path = write_file(tmp_path, "a.csv", text("user,item,score", *(f"{user_id},1,0.5" for user_id in ids)))
        truth = exactk.read(path, "truth")
        assert users_of(truth) == expected_ids
        predictions = exactk.read(path, "predictions")
        assert exactk.evaluate({user: [1] for user in expected_ids}, predictions, "hit_rate")["hit_rate"] == 1

    @pytest.mark.parametrize(
        ("name", "rows", "message", "users"),
        [
            ("a.tsv", [r'"5"" disc",1', "b,2"], r"""the id '"5"" disc"' at line 2 of .*a.tsv keeps its quotes""", ['5" disc', "b"]),
            ("a.tsv", ["a,1", " b,2"], "the id ' b' at line 3 of .*a.tsv keeps its blanks", ["a", "b"]),
            ("a.tsv", ["01,1", " 07 ,2"], "the id ' 07 ' at line 3 of .*a.tsv keeps its blanks", ["01", "07"]),
            ("a.csv", ["1,1", " 7,2"], "the id ' 7' at line 3 of .* keeps its blanks", [1, 7]),
            ("a.csv", ["01,1", " 07 ,2"], "the id ' 07 ' at line 3 of .* keeps its blanks", ["01", "07"]),
            ("a.csv", ["a,1", "NA,2", "None,3"], "the id 'NA' at line 3 of .* is text, as 2 such ids are; leave the rows out", []),
            ("a.csv", ["7,1", "8.0,2"], "expected integer ids in the column user, found floats such as 8.0", [7, 8]),
            ("a.csv", ["1e+05,x", "3,y"], "expected integer ids in the column user, found floats such as 1e.05", [100000, 3]),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("large", [False, True])
    def test_that_may_mean_something_else_have_a_line_to_write(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        rows: list[str],
        message: str,
        users: list[Any],
        large: bool,
    ) -> None:
        set_size_limits(monkeypatch, large)
        lines = text("user,item,score", *(f"{row},0.5" for row in rows))
        path = write_file(tmp_path, name, lines.replace(b",", b"\t") if "tsv" in name else lines)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                read_fully(exactk.read(path, "predictions"))
                (found,) = [str(warning.message) for warning in caught]
            except exactk.InputTypeError as error:
                found = str(error)
        assert re.match(f"predictions: {message}", found)
        if users:
            (line,) = re.findall(r"predictions=(pandas.*?\)) (?:removes|makes)", found)
            frame = eval(line, {"pandas": pd})  # noqa: S307 - the line that the message says to write
            assert frame["user"].tolist() == users
            exactk.as_predictions(frame)

    @pytest.mark.parametrize(
        ("column", "items", "expected"),
        [
            ("items", ["a b c", "a"], [["a", "b", "c"], ["a"]]),
            ("items", ["a|b c", "a"], [["a", "b c"], ["a"]]),
            ("item", ["['a', 'b']", "['c']"], [["a", "b"], ["c"]]),
            ("item", ["[1 2]", "[3]"], [[1, 2], [3]]),
            ("items", ["a", "b"], None),
            ("item", ["a b c", "[Rec]"], None),
        ],
    )
    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_that_are_lists_in_a_cell_have_a_line_to_write(
        self, tmp_path: Path, ending: str, column: str, items: list[str], expected: list[list[Any]] | None
    ) -> None:
        table = pa.table({"user": ["u", "v"], column: items})
        path = write_file(
            tmp_path,
            f"a.{ending}",
            parquet(table) if ending == "parquet" else table.to_pandas().to_csv(index=False).encode(),
        )
        if expected is None:
            exactk.read(path, "truth")
            return
        with pytest.warns(
            exactk.EvaluationWarning,
            match=rf"truth: .*{re.escape(items[0])}.* in the column {column} of .* is one item",
        ) as caught:
            exactk.read(path, "truth")
        (line,) = re.findall(r"truth=(pandas.*\)) makes", str(caught[0].message))
        frame = eval(line, {"pandas": pd})  # noqa: S307 - the line that the message says to write
        assert frame.groupby("user")[column].agg(list).tolist() == expected
        exactk.as_truth(frame)
        write_file(tmp_path, "repeated.csv", b"user,items\nu,The Matrix\nu,Alien 3\n")
        exactk.read(tmp_path / "repeated.csv", "truth")

    def test_of_json_are_what_json_says(self, tmp_path: Path) -> None:
        lines = text('{"user": "7", "item": "2020-01-01"}', '{"user": "07", "item": "1"}')
        path = write_file(tmp_path, "a.jsonl", lines)
        assert users_of(exactk.read(path, "truth")) == ["7", "07"]
        path = write_file(tmp_path, "a.jsonl", text('{"user": 7, "item": 1}'))
        assert users_of(exactk.read(path, "truth")) == [7]

    def test_are_text_as_they_are_written(self, tmp_path: Path) -> None:
        table = pa.table({"user": pa.array([7, 8]).dictionary_encode(), "item": pa.array([1, 2], pa.uint8())})
        pairs = pa.list_(pa.int64(), 2)
        for name, data, users in (
            ("a.csv", text("user,item", "7,1", "8,2"), ["7", "8"]),
            ("b.csv", text("user,item", "07,1", "8,2"), ["07", "8"]),
            ("a.parquet", parquet(table), ["7", "8"]),
            ("lists.parquet", parquet(pa.table({"user": [7, 8], "item": pa.array([[1, 2]] * 2, pairs)})), ["7", "8"]),
            ("a.jsonl", text('{"user": 7, "item": 1}', '{"user": 8, "item": 2}'), ["7", "8"]),
            ("a", text("7 0 1 1", "8 0 2 1"), ["7", "8"]),
        ):
            truth = exactk.read(write_file(tmp_path, name, data), "truth", text_ids=True)
            assert users_of(truth) == users
            assert exactk.evaluate(truth, {user: ["1", "2"] for user in users}, "recall@2")["recall@2"] == 1

    def test_of_archives_are_numbers(self, tmp_path: Path) -> None:
        with pytest.raises(exactk.InputError, match="text_ids: expected False for an archive of arrays"):
            exactk.read(write_file(tmp_path, "a.npz", npz(**CSR)), "truth", text_ids=True)
        with pytest.raises(exactk.InputTypeError, match="text_ids: expected True or False, found 'yes'"):
            exactk.read(write_file(tmp_path, "a.csv", CSV), "truth", text_ids="yes")  # type: ignore[call-overload]


class TestColumns:
    def test_are_named_by_the_caller(self, tmp_path: Path) -> None:
        path = write_file(tmp_path, "a.csv", text("day,who,what,note,how", "1,x,a,z,2", "2,x,b,z,1"))
        truth = exactk.read(path, "truth", user=["who", "day"], item="what", grade="how")
        assert [tuple(user) for user in users_of(truth)] == [("x", 1), ("x", 2)]
        assert truth.row(0).tolist() == [0]
        assert exactk.evaluate(truth, {("x", 1): ["a"]}, "dcg")["dcg"] == 1
        ranked = exactk.read(path, "predictions", user="who", item="what", rank="how")
        assert exactk.hit_rate_at_k({"x": ["b"]}, ranked, 1) == 1
        scored = exactk.read(path, "predictions", user="who", item="what", score="how")
        assert exactk.hit_rate_at_k({"x": ["a"]}, scored, 1) == 1

    def test_that_are_not_there_are_named(self, tmp_path: Path) -> None:
        table = pa.table({"someone": ["x"], "item": [1]})
        files = {
            "a.csv": b"someone,item\nx,1\n",
            "a.jsonl": b'{"someone": "x", "item": 1}\n',
            "a.parquet": parquet(table),
            "a.ipc": ipc(table, pa.ipc.new_stream),
        }
        for name, data in files.items():
            path = write_file(tmp_path, name, data)
            found = f"the columns someone, item in .*{name}; name it, for example with user='someone'"
            with pytest.raises(exactk.InputError, match=found):
                exactk.read(path, "truth")
            with pytest.raises(exactk.InputError, match=f"truth: expected the item column 'other'.*{name}"):
                exactk.read(path, "truth", user="someone", item="other")

    @pytest.mark.parametrize("name", ["a", "z", "a.run", "a.npz", "a.json"])
    def test_cannot_be_named_where_they_have_no_names(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        """The file is named, also where its name is a letter of the message."""
        write_file(tmp_path, name, b'{"q": {"d": 1}}' if name == "a.json" else PREDICTIONS.get(name, RUN))
        monkeypatch.chdir(tmp_path)
        message = f"item: expected None for a file without column names, found a column name in {name}"
        with pytest.raises(exactk.InputError, match=message):
            exactk.read(name, "predictions", item="item")

    def test_of_another_role_are_refused(self, tmp_path: Path) -> None:
        path = write_file(tmp_path, "a.csv", CSV)
        with pytest.raises(exactk.InputError, match="grade: expected None for the role predictions"):
            exactk.read(path, "predictions", grade="score")


FAULTS = {
    # name, bytes, line, what is said of it
    "short.run": (text("q Q0 d 1 0.5 t", "q Q0 d 1 0.5"), 2, r"6 fields \(query Q0.*found 5"),
    "grade": (text("q 0 d 1", "", "# more", "q 0 e high"), 4, "an integer .* as grade, field 4, found 'high'"),
    "zero.run": (b"q Q0 d\0 1 0.5 t\n", 1, "text, found a zero byte"),
    "latin.run": (b"q Q0 d 1 0.5 t\nq Q0 \xe9 1 0.5 t\n", 2, "UTF-8"),
    "long.run": (b"q Q0 d 1 0.5 t\n" + b"x" * (1 << 21), 2, "at most 1048576 bytes per line"),
    "long.csv": (b"user,item,score\n1,2,1\n" + b"x" * (1 << 21), 3, "at most 1048576 bytes per line"),
    "long.jsonl": (b'{"user": 1, "item": 2}\n"' + b"x" * (1 << 25), 2, "at most 16777216 bytes per line"),
    "fields.csv": (text("user,item,score", "1,2,0.5", "", "1,3"), 4, r"3 columns \(user, item, score\), found 2"),
    "number.csv": (text("user,item,score", '"1', '",2,0.5', "1,3,high"), 4, "a number in the column score that float64 holds, found 'high'"),
    "no number.tsv": (text("user\titem\tscore", "1\t2\t"), 2, "a number in the column score that float64 holds, found ''"),
    "NA.csv": (text("user,item,score", "1,2,NA"), 2, "a number in the column score that float64 holds, found 'NA'"),
    "no id.csv.gz": (text("user,item,score", "1,2,0.5", ",3,1"), 3, "an id in the column user, found an empty field"),
    "latin.csv": (b"user,item,score\n1,2,1\n\xe9,3,1\n", 3, "UTF-8"),
    "quote.csv": (text("user,item,score", "1,2,1", '"3,4,1', "5,6,1"), 3, "quotes that close where their field ends"),
    "cut.jsonl": (text('{"user": 1, "item": 2}', "", '{"user": 1, "it'), 3, "a JSON object, found invalid JSON"),
    "list.jsonl": (text('{"user": 1, "item": 2}', "[1, 2]"), 2, "a JSON object, found list"),
    "id.jsonl": (text('{"user": 1, "item": 2}', '{"user": "1", "item": 3}'), 2, "an integer in the field user, found '1'"),
    "half.jsonl": (text('{"user": 1, "item": 2}', '{"user": 1.5, "item": 3}'), 2, "an integer in the field user, found 1.5"),
    "bool.jsonl": (text('{"user": 1, "item": 2}', '{"user": true, "item": 3}'), 2, "an integer in the field user, found True"),
    "wide.jsonl": (text('{"user": 1, "item": 2}', '{"user": 1, "item": 9223372036854775808}'), 2, "an integer"),
    "none.jsonl.gz": (text('{"user": 1, "item": 2}', '{"user": 1}'), 2, "a field item, found none"),
    "null.jsonl": (text('{"user": 1, "item": 2}', '{"user": 1, "item": null}'), 2, "an integer in the field item, found None"),
    "inner.jsonl": (text('{"user": 1, "items": [2]}', '{"user": 2, "items": [null]}'), 2, "in the field items, found None"),
    "latin.jsonl": (b'{"user": "a", "item": 2}\n{"user": "\xe9", "item": 2}\n', 2, "UTF-8"),
    "deep.jsonl": (b'{"user": 1, "item": 2}\n' + b'{"a": ' * 200_000, 2, "a JSON object"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("large", [False, True])
def test_f32_a_fault_in_a_text_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, large: bool
) -> None:
    set_size_limits(monkeypatch, large)
    data, line, fault_text = FAULTS[name]
    path = write_file(tmp_path, name, gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    role: Role = "truth" if name == "grade" else "predictions"
    with pytest.raises(exactk.InputError) as caught:
        read_fully(exactk.read(path, role))
    message = str(caught.value)
    expected = re.escape(f" at line {line} of {path}: ")
    assert re.fullmatch(rf"{role}: expected .*{fault_text}.*{expected}'.*'", message), message
    shown = data.split(b"\n")[line - 1].decode("utf-8", "backslashreplace")
    assert message.endswith(repr(shown if len(shown) <= 80 else shown[:80] + "..."))
    assert caught.value.argument == role


def read_fully(read: Any) -> Any:
    """Return what was read; of what comes part by part, have all parts come."""
    if isinstance(read, exactk.Batches):
        exactk.as_predictions(read)
    return read


def outcome_of(path: Path) -> str:
    """Return whether it is read, or refused with its name."""
    try:
        read_fully(exactk.read(path, "predictions"))
    except (exactk.InputError, exactk.InputTypeError) as error:
        return "refused" if str(path) in str(error) else "refused without its name"
    return "read"


@pytest.mark.parametrize("name", PREDICTIONS)
def test_f32_cut_anywhere_it_is_whole_lines_or_refused(tmp_path: Path, name: str) -> None:
    data = PREDICTIONS[name]
    assert outcome_of(write_file(tmp_path, name, data)) == "read"
    last = max(0, len(data) - 20)
    sizes = [*range(0, last, 1 if SHARE >= 1 else 7), *range(last, len(data))]
    outcomes = [outcome_of(write_file(tmp_path, name, data[:size])) for size in sizes]
    read = [size for size, outcome in zip(sizes, outcomes, strict=True) if outcome == "read"]
    parts = read if name == "a.ipc" else []  # a stream may end after any part
    lines = name in {"a.run", "a", "a.csv", "a.tsv", "rows.jsonl", "users.ndjson"}
    assert lines or read == parts
    assert len(parts) <= 4
    assert "refused without its name" not in outcomes


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")  # of columns whose names were changed
@pytest.mark.parametrize("name", PREDICTIONS)
def test_f32_any_bytes_are_read_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    generator = random.Random(name)  # noqa: S311 - no secret
    outcomes = []
    for _ in range(examples(150)):
        data = bytearray(PREDICTIONS[name])
        for _ in range(generator.choice([1, 1, 2, 8])):
            data[generator.randrange(len(data))] = generator.randrange(256)
        monkeypatch.setattr(source, "_LARGE", generator.choice([0, 1 << 28]))
        outcomes.append(outcome_of(write_file(tmp_path, name, bytes(data))))
    assert set(outcomes) <= {"read", "refused"}
    assert "refused" in outcomes


class TestArchives:
    def test_f32_what_does_not_fit_the_memory_is_not_decompressed(self, tmp_path: Path) -> None:
        data = bytearray(npz(np.savez_compressed, indptr=[0, 1], items=[1]))
        for signature, offset in ((b"PK\1\2", 24), (b"PK\3\4", 22)):  # what its headers say of their sizes
            begin = data.find(signature)
            data[begin + offset : begin + offset + 4] = (0xFFFF_FFFE).to_bytes(4, "little")
        path = write_file(tmp_path, "a.npz", bytes(data))
        with pytest.raises(exactk.InputError, match="an archive of NumPy arrays"):
            exactk.read(path, "predictions")

    def test_a_matrix_has_rows_for_users(self, tmp_path: Path) -> None:
        matrix = scipy.sparse.csr_array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
        path = write_file(tmp_path, "a.npz", npz_of_matrix(matrix))
        for read in (exactk.read(path, "truth"), exactk.read(path, "exclude")):
            assert read.items.tolist() == [1, 2, 0]
            assert read.indptr.tolist() == [0, 2, 3]
        ranked = write_file(tmp_path, "b.npz", npz_of_matrix((matrix * [0.25, 0.5, 2.0]).tocsr()))
        assert exactk.hit_rate_at_k([[2], [0]], exactk.read(ranked, "predictions"), 1) == 1


@pytest.mark.parametrize("name", ["score", "ranks", "relevance", "user"])
def test_an_array_that_would_be_left_out_is_refused(tmp_path: Path, name: str) -> None:
    arrays = {"indptr": [0, 2], "items": [5, 6], "meta": [1]}
    np.savez(tmp_path / "whole.npz", **arrays)  # type: ignore[arg-type]
    np.savez(tmp_path / "other.npz", **arrays, **{name: [0.5, 1.0]})  # type: ignore[arg-type]
    assert exactk.read(tmp_path / "whole.npz", "predictions")
    with pytest.raises(
        exactk.InputError, match=f"arrays indptr, items, grades, scores, users, found an array {name} in"
    ):
        exactk.read(tmp_path / "other.npz", "predictions")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl.gz", "a.parquet", "a.arrow", "a.npz", "a.run", "a"])
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder" / name).mkdir(parents=True)
    for path, message in ((tmp_path / name, "no file"), (tmp_path / "folder" / name, "directory|regular file")):
        with pytest.raises(exactk.InputError, match=message) as caught:
            exactk.read(str(path), "truth")
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.json.gz", "a.jsonl.gz", "a.run.gz"])
def test_f32_text_with_the_ending_of_gzip_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(exactk.InputError, match="found bytes that are not those of gzip, or broken ones in"):
        exactk.read(write_file(tmp_path, name, b"user,item,score\nu,a,1\n"), "predictions")


@pytest.mark.parametrize("index", ["", "Unnamed: 0", "__index_level_0__"])
def test_weights_and_groups_may_have_the_index_of_their_frame(tmp_path: Path, index: str) -> None:
    path = write_file(tmp_path, "a.csv", f"{index},user,value\n0,u,3\n1,v,1\n".encode())
    ranked = {"u": ["a"], "v": ["b"]}
    assert exactk.evaluate({"u": ["a"], "v": ["a"]}, ranked, "recall@1", weights=path)["recall@1"] == 0.75
    assert exactk.evaluate({"u": ["a"], "v": ["a"]}, ranked, "recall@1", groups=path)["recall@1"] == 0.5


def test_the_arguments_themselves(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.run", RUN)
    with pytest.raises(exactk.InputError, match="role: expected one of truth, predictions, exclude, found 'run'"):
        exactk.read(path, "run")  # type: ignore[call-overload]
    with pytest.raises(exactk.InputTypeError, match="path: expected a path, found BytesIO"):
        exactk.read(io.BytesIO(RUN), "predictions")  # type: ignore[call-overload]
    with pytest.raises(exactk.InputError, match="path: expected a path, found"):
        exactk.read("a\0b.csv", "predictions")


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in ("a.parquet", "a.ipc"):
        with pytest.raises(ImportError, match=r"needs pyarrow: pip install 'exactk\[arrow\]'"):
            exactk.read(write_file(tmp_path, name, PREDICTIONS[name]), "predictions")
    for name in ("a.run", "a.npz", "a.csv", "a.tsv", "a.CSV.gz", "rows.jsonl", "users.ndjson", "users.jsonl.gz"):
        exactk.read(write_file(tmp_path, name, PREDICTIONS[name]), "predictions")


@pytest.mark.parametrize("large", [False, True])
def test_plain_rows_and_others_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    """A row that spans lines makes the strict reader read what follows it."""
    set_size_limits(monkeypatch, large)
    monkeypatch.setattr("exactk._files.text._BLOCK_SIZE", 1 << 10)
    monkeypatch.setattr("exactk._files.separated._PART_ROWS", 37)
    generator = np.random.default_rng(7)
    rows = [
        f'{user},"item ""{item}""",{score},title {item}'
        for user, item, score in zip(range(500), generator.permutation(500), generator.random(500), strict=True)
    ]
    plain = write_file(tmp_path, "plain.csv", text("user,item,score,title", *rows))
    rows[250] = rows[250].replace("title ", '"title\n') + '"'
    other = write_file(tmp_path, "other.csv", text("user,item,score,title", *rows))
    truth = {user: {f'item "{item}"': 1.0 for item in range(500)} for user in range(0, 500, 7)}
    expected = exactk.evaluate(truth, plain, METRICS, per_user=True)
    message = "1 of 500 rows have quoted line breaks, the first at line 252 of"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        report = exactk.evaluate(truth, other, METRICS, per_user=True)
    assert report == expected
    assert report["num_relevant"] > 0
    rows[400] = "fault"
    faulty = write_file(tmp_path, "faulty.csv", text("user,item,score,title", *rows))
    with pytest.raises(exactk.InputError, match=r"expected 4 columns .*, found 1 at line 403 of .*: 'fault'$"):
        exactk.evaluate(truth, faulty, METRICS)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.arrow"])
def test_a_large_file_that_is_not_sorted_says_that_it_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    set_size_limits(monkeypatch, large=True)
    path, given = write_file(tmp_path, name, FORMATS[name]), {"b": [1], "a": [1, 7], "z": [1]}
    with pytest.warns(exactk.EvaluationWarning) as caught:
        report = exactk.evaluate(given, path, METRICS)
    rows = 4 if name == "a.arrow" else 5  # those of its first two parts
    (warning,) = caught
    assert str(warning.message) == (
        f"predictions: all rows are copied to a temporary file, because those of user 'b' are apart within the first {rows} rows, "
        f"up to those in {path}; files that are sorted by user are read in parts"
    )
    assert report == exactk.evaluate(given, rows_of_users(), METRICS)
    ordered = FRAME.sort_by("user")
    exactk.evaluate(given, write_file(tmp_path, "sorted.parquet", parquet(ordered)), METRICS)  # warns of nothing
    frames = [FRAME.slice(0, 2), FRAME.slice(2)]
    exactk.evaluate(given, exactk.Batches(lambda: frames), METRICS)  # the caller's frames are in memory as it is


@pytest.mark.parametrize("group_rows", [1, 3, 7, 8, 100])
def test_parquet_is_evaluated_alike_whatever_its_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group_rows: int
) -> None:
    """Small row groups are read together, larger ones in parts; a dictionary has a chunk for each."""
    monkeypatch.setattr(source, "_LARGE", 0)
    monkeypatch.setattr("exactk._files.columnar._PART_ROWS", 7)
    rows = 60
    items = pa.array([f"item {row * 7 % 11}" for row in range(rows)]).dictionary_encode()
    columns = {"user": [f"user {row // 4}" for row in range(rows)], "item": items, "score": np.arange(rows, 0, -1.0)}
    table = pa.table(columns)
    truth = {f"user {user}": [f"item {user % 11}", "another"] for user in range(15)}
    path = write_file(tmp_path, "a.parquet", parquet(table, row_group_size=group_rows))
    batches = exactk.read(path, "predictions")
    assert isinstance(batches, exactk.Batches)
    sizes = [len(frame) for _, frame in batches.named_frames()]
    assert sum(sizes) == rows
    assert max(sizes) == (6 if group_rows == 3 else 7)
    assert exactk.evaluate(truth, batches, METRICS) == exactk.evaluate(truth, table, METRICS)


def test_parquet_with_narrow_codes_of_many_keys_is_read(tmp_path: Path) -> None:
    """Each row group of categoricals has a dictionary of its own, and one byte cannot number the keys of all."""
    path, groups = tmp_path / "a.parquet", 3
    users = [[f"user {group * 100 + i}" for i in range(100)] for group in range(groups)]
    codes = pa.array(range(100), pa.int8())
    tables = [
        pa.table({"user": pa.DictionaryArray.from_arrays(codes, keys), "item": ["film"] * 100, "score": [1.0] * 100})
        for keys in users
    ]
    with pq.ParquetWriter(path, tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    truth = {user: ["film"] for of_group in users for user in of_group} | {"user 0": ["song"]}
    assert exactk.evaluate(truth, path, "recall@1")["recall@1"] == 299 / 300


def test_a_part_is_read_while_another_is_made_use_of() -> None:
    started: list[int] = []

    def parts() -> Iterator[int]:
        for part in (1, 2, 3):
            started.append(part)
            yield part

    ahead = read_ahead(parts())
    assert next(ahead) == 1
    ahead.close()  # waits for the one that is read
    assert started == [1, 2]
    assert list(read_ahead(parts())) == [1, 2, 3]


def test_what_is_raised_while_a_part_is_read_comes_to_who_asks_for_it() -> None:
    def parts() -> Iterator[int]:
        yield 1
        raise exactk.InputError("broken")

    ahead = read_ahead(parts())
    assert next(ahead) == 1
    with pytest.raises(exactk.InputError, match="broken"):
        next(ahead)
