"""Files that are broken, hostile or ambiguous: each is an error that names the file and the line, never other numbers."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import resource
import threading
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from children import run_child
from exactk._cli import main
from exactk._files import source, text
from strategies import examples
from test_files import FRAME, ipc, npz, outcome_of, parquet, read_fully, set_size_limits, write_file

CSV_HEADER = b"user,item,score\n"
TSV_HEADER = b"user\titem\tscore\n"


def packed(name: str, data: bytes) -> bytes:
    """Return the bytes as a file of that name holds them."""
    return gzip.compress(data, mtime=0) if name.endswith(".gz") else data


def read_rows(path: Path) -> dict[str, list[tuple[Any, float]]]:
    """Return each user's items and scores, in order of first appearance."""
    read = exactk.as_predictions(read_fully(exactk.read(path, "predictions", text_ids=True)))
    if not len(read):
        return {}
    assert isinstance(read, exactk.SparseScores)
    assert read.user_vocabulary is not None
    assert read.item_vocabulary is not None
    users: list[str] = read.user_vocabulary.array.tolist()
    items = read.item_vocabulary.array.tolist()
    return {
        user: [(items[item], score) for item, score in zip(*read_row(read, row), strict=True)]
        for row, user in enumerate(users)
    }


def read_row(scores: exactk.SparseScores, row: int) -> tuple[list[int], list[float]]:
    begin, end = scores.indptr[row : row + 2]
    return scores.items[begin:end].tolist(), scores.scores[begin:end].tolist()


def refusal(path: Path, role: Any = "predictions") -> str:
    """Return what is said of the file, in which its name must be."""
    with pytest.raises((exactk.InputError, exactk.InputTypeError)) as caught:
        read_fully(exactk.read(path, role))
    assert str(path) in str(caught.value)
    return str(caught.value).replace(str(path), "FILE")


@pytest.fixture(params=[False, True])
def _large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files whole, and part by part."""
    set_size_limits(monkeypatch, request.param)


@pytest.mark.usefixtures("_large")
class TestQuotes:
    def test_f47_tsv_has_none(self, tmp_path: Path) -> None:
        rows = b'u1\t"12 inch\t1\nu2\ta\t0.5\n"u3"\tb"\t0.25\n'
        for name, data in (("a.tsv", TSV_HEADER + rows), ("a.tsv.gz", gzip.compress(TSV_HEADER + rows, mtime=0))):
            with pytest.warns(exactk.EvaluationWarning, match="the id '\"u3\"' at line 4 of .* keeps its quotes"):
                read = read_rows(write_file(tmp_path, name, data))
            assert read == {"u1": [('"12 inch', 1)], "u2": [("a", 0.5)], '"u3"': [('b"', 0.25)]}

    @pytest.mark.parametrize(
        ("rows", "line"),
        [
            (b'u1,"12 inch,1\nu2,a,1\nu3,b,1\n', 2),  # never closes
            (b'u0,z,1\nu1,a,1\nu2,b,"1', 4),
            (b'u1,"12 inch,1\nu2,"13 inch,1\nu3,b,1\n', 2),  # closes where no field ends
            (b'u1,"a"b,1\nu2,a,1\n', 2),
            (b'u1,a,1\nu2,"a" ,1\n', 3),
            (b'u1,"a""",1\nu2,"""a"b,1\n', 3),
        ],
    )
    def test_f47_in_csv_must_close_where_their_field_ends(self, tmp_path: Path, rows: bytes, line: int) -> None:
        message = refusal(write_file(tmp_path, "a.csv", CSV_HEADER + rows))
        assert "predictions: expected quotes that close where their field ends, found" in message
        assert f"at line {line} of FILE: " in message

    def test_f47_in_csv_make_a_row_of_other_columns_an_error(self, tmp_path: Path) -> None:
        message = refusal(write_file(tmp_path, "a.csv", CSV_HEADER + b'u1,a,1\nu2,"b\nu3,c",1,\n'))
        assert "expected 3 columns (user, item, score), found 4 at line 3 of FILE" in message

    def test_f47_in_csv_are_removed(self, tmp_path: Path) -> None:
        rows = b'"u1","a, ""b""",1\r\n"",u,2\r\n'
        message = refusal(write_file(tmp_path, "a.csv", CSV_HEADER + rows))
        assert "an id in the column user, found an empty field at line 3" in message
        rows = b'"u1","a, ""b""","1"\r\nu"2,6" x 9",2\r\n'
        read = read_rows(write_file(tmp_path, "a.csv", CSV_HEADER + rows))
        assert read == {"u1": [('a, "b"', 1)], 'u"2': [('6" x 9"', 2)]}

    def test_f47_rows_that_span_lines_are_counted(self, tmp_path: Path) -> None:
        data = b'user,item,title,score\nu1,a,"12 inch,1\nu2,b,13 inch",1\nu3,c,"x\ny",1\nu4,d,z,1\n'
        path = write_file(tmp_path, "a.csv", data)
        with pytest.warns(exactk.EvaluationWarning) as caught:
            assert list(read_rows(path)) == ["u1", "u3", "u4"]
        assert len(caught) == 1
        assert "2 of 3 rows have quoted line breaks, the first at line 2 of" in str(caught[0].message)


@pytest.mark.usefixtures("_large")
class TestSwallowedRows:
    @pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (
                b"u1,a,1\ru2,b,1\n",
                "a line feed at the end of each line, found a carriage return within the line at line 2",
            ),
            (b"u1,a,1\nu1,b\0,1\n", "text, found a zero byte at line 3"),
            (b"u1,a,1\nuser,item,score\nu1,b,1\n", "a row of values, found the column names again at line 3"),
            (b"u1,a,1\n\xef\xbb\xbfu1,b,1\n", "text, found a byte order mark within the file at line 3"),
            (b"u1,a,1,\n", "3 columns (user, item, score), found 4 at line 2"),
            (b"u1,a,1\n \n", "3 columns (user, item, score), found 1 at line 3"),
        ],
    )
    def test_f47_are_told(self, tmp_path: Path, name: str, rows: bytes, message: str) -> None:
        data = CSV_HEADER + rows
        data = data.replace(b",", b"\t") if "tsv" in name else data
        path = write_file(tmp_path, name, packed(name, data))
        assert f"expected {message} of FILE" in refusal(path)

    def test_f47_of_carriage_returns_alone(self, tmp_path: Path) -> None:
        data = (CSV_HEADER + b"u1,a,1\nu2,b,1\n").replace(b"\n", b"\r")
        assert "found a carriage return within the line at line 1" in refusal(write_file(tmp_path, "a.csv", data))
        run = b"q Q0 a 1 0.5 t\rq Q0 b 1 0.25 t\r"
        assert "found a carriage return within the line at line 1" in refusal(write_file(tmp_path, "a.run", run))

    def test_f47_blank_lines_and_endings_of_lines_are_none(self, tmp_path: Path) -> None:
        data = b'\xef\xbb\xbfuser,item,score\r\n\r\n"u1",a,1\r\n\r\n\n"u2",b,1'
        assert read_rows(write_file(tmp_path, "a.csv", data)) == {"u1": [("a", 1)], "u2": [("b", 1)]}

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (b'{"user": 1, "item": 2} {"user": 1, "item": 3}\n', "a JSON object, found invalid JSON at line 1"),
            (b'{"user": 1, "item": 2}\r{"user": 1, "item": 3}\r', "a JSON object, found invalid JSON at line 1"),
            (b'{"user": 1, "item": 2}\n\0\n', "a JSON object, found invalid JSON at line 2"),
            (b'{"user": 1, "item": 2}\n\xef\xbb\xbf{"user": 1, "item": 3}\n', "a JSON object"),
            (b'{"user": 1, "item": 2,\n"score": 3}\n', "a JSON object, found invalid JSON at line 1"),
            (b'[{"user": 1, "item": 2},\n{"user": 1, "item": 3}]\n', "a JSON object"),
            (b"q 0 a 1\n#q 0 b 1\n", "found a row that begins with # at line 2"),
            (b"#q Q0 a 1 0.5 t\n", "found a row that begins with # at line 1"),
            (b"q Q0 a 1 0.5 tq Q0 b 2 0.25 t\n", "one row per line, found two rows at line 1"),
            (b"q 0 a 1\n\xef\xbb\xbfq 0 b 1\n", "a byte order mark within the file at line 2"),
        ],
    )
    def test_f47_of_json_and_trec_are_told(self, tmp_path: Path, lines: bytes, message: str) -> None:
        name = "a.jsonl" if lines[:1] in {b"{", b"["} else "a.run"
        assert message in refusal(write_file(tmp_path, name, lines), "exclude")


Outcome = dict[str, list[tuple[str, float]]] | None


def rows_of_strict_reader(data: bytes, delimiter: str) -> Outcome:
    """Return what the standard library reads, with our rules of a row; None if there is something wrong."""
    lines = io.StringIO(data.decode(), newline="")
    quoting: Any = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
    users: dict[str, list[tuple[str, float]]] = {}
    try:
        header, *rows = [row for row in csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True) if row]
    except csv.Error:
        return None
    for row in rows:
        if len(row) != len(header) or row == header or "" in row[:2]:
            return None
        try:
            users.setdefault(row[0], []).append((row[1], float(row[2].strip(" \t"))))
        except ValueError:
            return None
    return users


@settings(max_examples=examples(400), deadline=None)
@given(
    st.lists(
        st.sampled_from(['"', ",", "\n", "u", "7", '"', ",1\n", "\nu,a,1\n", '"\n', "\r\n", '""', ',"']), max_size=14
    ),
    st.sampled_from([0, 1 << 28]),
    st.sampled_from([1, 5, 1 << 20]),
    st.booleans(),
)
def test_f47_rows_are_those_of_the_strict_reader(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], large: int, block_size: int, tabs: bool
) -> None:
    data = "".join(["user,item,score\n", *parts]).replace(",", "\t" if tabs else ",").encode()
    path = write_file(tmp_path_factory.getbasetemp(), "strict.tsv" if tabs else "strict.csv", data)
    expected = rows_of_strict_reader(data, "\t" if tabs else ",")
    outcome: Outcome = None
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(source, "_LARGE", large)
        patch.setattr(text, "_BLOCK_SIZE", block_size)
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            outcome = read_rows(path)
        except exactk.InputError:
            if expected is not None:  # each item once for a user, which is no business of the reader
                assert any(len(set(items)) < len(items) for items in expected.values())
                return
    assert outcome == expected


FIELDS = ["7", '"7"', "0.5", "-0.0", "1e-320", "1e-400", "1e400", "9007199254740993", "9223372036854775808", "null",
          "true", "NaN", "Infinity", "[7]", "[]", '["a", "b"]', "[7, 8]", "[0.5, 1]", "[null]", '"\\u00e9"', '"\\ud800"', '""',
          '{"a": 1}', '"a\\u0000"']  # fmt: skip


@settings(max_examples=examples(400), deadline=None)
@given(
    st.lists(
        st.tuples(*[st.sampled_from(FIELDS)] * 3, st.sampled_from(["", ', "by": {"x": [1]}', ', "user": 7', "x"])),
        min_size=1,
        max_size=3,
    )
)
def test_f47_json_lines_are_read_alike_by_both_readers(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, str]]
) -> None:
    lines = "".join(f'{{"user": {user}, "item": {item}, "score": {score}{end}}}\n' for user, item, score, end in rows)
    path = write_file(tmp_path_factory.getbasetemp(), "alike.jsonl", lines.encode())
    outcomes: list[Any] = []
    for large in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            set_size_limits(patch, large)
            try:
                outcomes.append(read_rows(path))
            except (exactk.InputError, exactk.InputTypeError) as error:
                outcomes.append(str(error))
    assert repr(outcomes[0]) == repr(outcomes[1])  # NaN is NaN


BAD_NUMBERS = [
    "1e400", "-1e309", "1e-400", "9007199254740993", "1_0", "0x10", "1,5", "1d5", "nan(1)", "+-1", "", "\u0661",
]  # fmt: skip
GOOD_NUMBERS = {
    "+1": 1.0, "+1.5": 1.5, "-.5": -0.5, "5.": 5.0, "1E+3": 1000.0, "0e-400": 0.0, "4.9e-324": 5e-324,
    "9007199254740994": 2.0**53 + 2, "inf": math.inf, "-Infinity": -math.inf, "0.1": 0.1,
}  # fmt: skip


class TestNumbers:
    @pytest.mark.usefixtures("_large")
    @pytest.mark.parametrize("number", BAD_NUMBERS)
    @pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.run", "a.csv.gz"])
    def test_f55_that_are_none_are_named_with_their_line(self, tmp_path: Path, name: str, number: str) -> None:
        if name == "a.run":
            rows, line = f"q Q0 a 1 0 t\nq Q0 b 2 {number or '-'} t\n", 2
        elif name == "a.tsv":
            rows, line = f"user\titem\tscore\nu\ta\t0\nu\tb\t{number}\n", 3
        else:
            rows, line = f'user,item,score\nu,a,0\nu,b,"{number}"\n', 3
        message = refusal(write_file(tmp_path, name, packed(name, rows.encode())))
        assert "that float64 holds" in message
        assert f"at line {line} of FILE" in message

    @pytest.mark.parametrize(("number", "value"), GOOD_NUMBERS.items())
    def test_f55_are_the_same_in_all_text(self, tmp_path: Path, number: str, value: float) -> None:
        for name, data in {
            "a.csv": f"user,item,score\nu,a, {number}\n",
            "a.tsv": f"user\titem\tscore\nu\ta\t{number}\n",
            "a.run": f"u Q0 a 1 {number} t\n",
        }.items():
            assert read_rows(write_file(tmp_path, name, data.encode())) == {"u": [("a", value)]}

    def test_f55_of_any_column_of_csv(self, tmp_path: Path) -> None:
        path = write_file(tmp_path, "a.csv", b"user,item,grade\nu,a,1\nu,b,1e400\n")
        assert "in the column grade that float64 holds, found '1e400' at line 3" in refusal(path, "truth")
        path = write_file(tmp_path, "a.csv", b"user,item,rank\nu,a,1\nu,b,2_0\n")
        assert "in the column rank that float64 holds, found '2_0' at line 3" in refusal(path)

    @pytest.mark.parametrize(
        "number",
        ["1e400", "-1e400", "1e-400", "-1E-00400", "9007199254740993", "-9007199254740993", "0." + "0" * 400 + "1"],
    )
    @pytest.mark.parametrize("is_list", [False, True])
    def test_f55_of_json_are_not_rounded(self, tmp_path: Path, number: str, is_list: bool) -> None:
        scores = '"items": [2, 3], "scores": [0.5, NUMBER]' if is_list else '"item": 2, "score": NUMBER'
        line = f'{{"user": 1, {scores}}}'
        rows = line.replace("NUMBER", "0"), line.replace("NUMBER", number).replace('"user": 1', '"user": 2')
        for name in ("a.jsonl", "a.jsonl.gz"):
            data = "\n".join(rows).encode()
            path = write_file(tmp_path, name, packed(name, data))
            message = refusal(path)
            assert "a number that float64 holds in the field score" in message
            assert "at line 2 of FILE" in message

    def test_f55_of_json_that_are_held(self, tmp_path: Path) -> None:
        numbers = [0, -0.0, 2**53, 2**53 + 2, -(2**60), 1e300, 5e-324, 1.5e-300]
        line = json.dumps({"user": "u", "items": list(range(len(numbers))), "scores": numbers})
        data = line.encode() + b'\n{"user": "e-999", "items": [], "scores": []}'
        read = read_rows(write_file(tmp_path, "a.jsonl", data))
        assert [score for _, score in read["u"]] == [float(number) for number in numbers]

    @pytest.mark.usefixtures("_large")
    @pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
    @pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
    def test_f55_a_header_alone_is_an_empty_table(self, tmp_path: Path, name: str, end: bytes) -> None:
        header = (TSV_HEADER if "tsv" in name else CSV_HEADER).rstrip() + end
        path = write_file(tmp_path, name, packed(name, header))
        assert len(exactk.read(path, "truth").items) == len(exactk.read(path, "exclude").items) == 0
        assert read_rows(path) == {}

    def test_f55_of_trec_may_have_a_sign_and_text_after_the_tag(self, tmp_path: Path) -> None:
        truth = exactk.read(write_file(tmp_path, "t", b"q 0 a +1\nq 0 b -1\n"), "truth")
        assert truth.grades is None or truth.grades.tolist() == [1, -1]
        run = write_file(tmp_path, "r", b"q Q0 a 1 +1.5 my best run\n")
        assert read_rows(run) == {"q": [("a", 1.5)]}


def npy(header: str, data: bytes = b"", version: int = 1) -> bytes:
    """Return an array of NumPy with any header."""
    size = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + header.encode() + data


def archive(compression: int = zipfile.ZIP_STORED, **members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)
    return stream.getvalue()


def array_bytes(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array))
    return stream.getvalue()


INDPTR = array_bytes([0, 1])
MATRIX: dict[str, Any] = {
    "format": np.bytes_("csr"),
    "indptr": np.array([0, 1]),
    "indices": np.array([2]),
    "data": np.array([0.5]),
    "shape": np.array([1, 3]),
}


class TestArchives:
    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            ({"indptr": np.array([0.0, 1.9])}, "predictions.indptr: expected integers, found float64"),
            ({"indices": np.array([2.5])}, "predictions.indices: expected integers, found float64"),
            ({"shape": np.array([1.0, 3.0])}, "predictions.shape: expected integers, found float64"),
            ({"shape": np.array([1, 3, 1])}, "of two dimensions, found 3"),
            ({"shape": np.array([7, 3])}, "a matrix in CSR form"),
            ({"shape": np.array([-1, 3])}, "a matrix in CSR form"),
            ({"data": np.array([0.5, 1.0])}, "a matrix in CSR form"),
            ({"indptr": np.array([0, 99])}, "indptr to end at the number of indices, 1, found 99 at position 1"),
            ({"indices": np.array([-1])}, "item ids in [0, 2^63), found -1 at row 0, position 0"),
            ({"indptr": np.array([True, True])}, "predictions.indptr: expected integers, found bool"),
            ({"data": np.array([0.5], dtype=object)}, "objects in data.npy"),
            ({"format": np.bytes_("csc")}, "a matrix in CSR form, found another format"),
        ],
    )
    def test_f48_of_a_matrix(self, tmp_path: Path, parts: dict[str, Any], message: str) -> None:
        assert message in refusal(write_file(tmp_path, "a.npz", npz(**(MATRIX | parts))))

    @pytest.mark.parametrize("role", ["truth", "predictions", "exclude"])
    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({"indptr": [0, 99], "items": [1]}, "indptr to end at the number of items, 1, found 99 at position 1"),
            ({"indptr": [0, 1], "items": [1, 2]}, "indptr to end at the number of items, 2, found 1 at position 1"),
            ({"indptr": [0, 2, 1, 3], "items": [1, 2, 3]}, "offsets that do not decrease, found 1 at position 2"),
            ({"indptr": [1, 2], "items": [1, 2]}, "0 as the first offset, found 1 at position 0"),
            ({"indptr": [0, 1, 2], "items": [1, -1]}, "item ids in [0, 2^63), found -1 at row 1, position 0"),
            ({"indptr": np.zeros(0, np.int64), "items": [1]}, "an offset in indptr, found none"),
            ({"indptr": [0, 1.5], "items": [1]}, "indptr: expected integers, found float64"),
            ({"indptr": [0, 1], "items": [1.5]}, "integer ids"),
            ({"indptr": [0, 1], "items": np.array([object()])}, "objects in items.npy"),
            ({"indptr": [0, 1], "items": [[1]]}, "one dimension of items, found 2"),
            ({"items": [1]}, "an array indptr, found arrays items"),
            ({}, "an array indptr, found none"),
            ({"indptr": [0, 1], "items": [1], "users": ["a", "b"]}, "equal length, found 2 and 1"),
            ({"indptr": [0, 1, 2], "items": [1, 2], "users": ["a", "a"]}, "each user once, found 'a' again"),
        ],
    )
    def test_f48_of_rows(self, tmp_path: Path, arrays: dict[str, Any], message: str, role: str) -> None:
        assert message in refusal(write_file(tmp_path, "a.npz", npz(**arrays)), role)

    @pytest.mark.parametrize(
        "header",
        [
            *(
                f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': (100000000000,)}}"
                for dtype in ("<U0", "|S0", "|V0", "<i8")
            ),
            "{'descr': '<i8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 1)}",
            "{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<i8', 'fortran_order': False, 'shape': (-1, -1)}",
            "{'descr': '<i8', 'fortran_order': False, 'shape': (1.0,)}",
            "{'descr': '<i8', 'fortran_order': False, 'shape': (True,)}",
            "{'descr': '<i8', 'fortran_order': 1, 'shape': (1,)}",
            "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': ('<i8', (1,)), 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<i8', 'shape': (1,)}",
            "{'descr': 'what', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<i8', 'fortran_order': False, 'shape': (1,)",
            "{",
            "[" * 5000,
            "x" * 60000,
            "\0" * 64,
            "",
        ],
    )
    @pytest.mark.parametrize("version", [1, 2, 3])
    def test_f48_headers_are_checked_before_there_is_memory(self, tmp_path: Path, header: str, version: int) -> None:
        data = archive(indptr=INDPTR, items=npy(header, bytes(8), version))
        message = refusal(write_file(tmp_path, "a.npz", data))
        assert message.startswith("predictions: expected an archive of NumPy arrays, found")

    def test_f48_the_name_of_a_format_may_be_text(self, tmp_path: Path) -> None:
        for name in (np.bytes_("csr"), np.str_("csr")):
            path = write_file(tmp_path, "a.npz", npz(**(MATRIX | {"format": name})))
            assert isinstance(exactk.read(path, "predictions"), exactk.SparseScores)
        for array in (np.array(["csr"]), np.str_("csr" * 99)):
            assert "a matrix in CSR form" in refusal(write_file(tmp_path, "a.npz", npz(**(MATRIX | {"format": array}))))

    def test_f54_bombs_are_not_decompressed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        arrays: dict[str, Any] = {"indptr": np.zeros(1_000_000, np.int64), "items": np.zeros(0, np.int64)}
        path = write_file(tmp_path, "a.npz", npz(np.savez_compressed, **arrays))
        assert len(exactk.read(path, "truth")) == 999_999  # users without items, of whom there may be many
        monkeypatch.setattr("exactk._files.archive._CHECKED_SIZE", 1 << 20)
        assert "numpy.savez writes them uncompressed" in refusal(path, "truth")
        assert len(exactk.read(write_file(tmp_path, "a.npz", npz(**arrays)), "truth")) == 999_999

    def test_f54_sizes_that_no_compression_has(self, tmp_path: Path) -> None:
        for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            data = archive(compression, indptr=INDPTR, items=array_bytes([1]))
            assert "an unusual compression" in refusal(write_file(tmp_path, "a.npz", data))
        twice = archive(indptr=INDPTR, items=array_bytes([1]), itemz=array_bytes([2])).replace(b"itemz", b"items")
        assert "two arrays of one name" in refusal(write_file(tmp_path, "a.npz", twice))


LARGE_TEXT = {
    "a.csv.gz": (CSV_HEADER, b"1,1,1\n"),
    "a.tsv.gz": (TSV_HEADER, b"1\t1\t1\n"),
    "a.jsonl.gz": (b'{"user": 1, "item": 1, "score": 1}\n', b'{"user":1,"item":1,"score":1}\n'),
    "a.run.gz": (b"", b"1 Q0 1 1 1 t\n"),
    "blank.run.gz": (b"", b"\n"),
    "blank.csv.gz": (CSV_HEADER, b"\n"),
}


def kibibytes_of_refusal(small: str, path: str) -> int:
    """Return by how much the peak of memory is above that of a small file, which is read."""
    exactk.read(small, "truth")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(exactk.InputError, match="bytes of text per compressed byte"):
        exactk.read(path, "truth")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


class TestDecompression:
    @pytest.mark.parametrize("name", LARGE_TEXT)
    def test_f54_bombs_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.setattr(text, "_CHECKED_SIZE", 1 << 18)
        header, row = LARGE_TEXT[name]
        path = write_file(tmp_path, name, gzip.compress(header + row * (1 << 20), mtime=0))
        message = refusal(path)
        assert "expected at most 200 bytes of text per compressed byte" in message
        assert "decompress it with gzip -d" in message

    def test_f54_memory_is_bounded(self, tmp_path: Path) -> None:
        """175 KB of rows of six bytes were 958 MB."""
        rows = gzip.compress(b"1,1,1\n" * 1_000_000, mtime=0)
        path = write_file(tmp_path, "a.csv.gz", gzip.compress(CSV_HEADER, mtime=0) + rows * 30)
        small = write_file(tmp_path, "b.csv", CSV_HEADER + b"1,1,1")
        assert run_child(kibibytes_of_refusal, str(small), str(path)) < 300 << 10

    def test_f54_rows_that_differ_are_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(text, "_CHECKED_SIZE", 0)
        line = json.dumps({"user": "u", "items": list(range(2000)), "scores": [1.0] * 2000})
        rows = "\n".join(line.replace('"u"', f'"u{user}"') for user in range(200))
        path = write_file(tmp_path, "a.jsonl.gz", gzip.compress(rows.encode(), 9, mtime=0))
        assert len(exactk.as_predictions(exactk.read(path, "predictions"))) == 200  # the same list for everybody

    @pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz", "a.run.gz"])
    def test_f54_what_follows_the_text_is_no_text(self, tmp_path: Path, name: str) -> None:
        header, row = LARGE_TEXT[name]
        data = gzip.compress(header + row, mtime=0)
        exactk.read(write_file(tmp_path, name, data + bytes(8)), "exclude")  # padding
        assert "FILE" in refusal(write_file(tmp_path, name, data + b"more"), "exclude")
        assert "FILE" in refusal(write_file(tmp_path, name, b""), "exclude")


class TestKindsOfFiles:
    @pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.jsonl", "a.parquet", "a.arrow", "a.npz"])
    def test_f54_a_pipe_is_refused_where_more_than_one_read_is_needed(self, tmp_path: Path, name: str) -> None:
        os.mkfifo(tmp_path / name)
        assert "expected a regular file, because it is read more than once, found a pipe" in refusal(tmp_path / name)

    @pytest.mark.parametrize("name", ["run", "run.gz"])
    def test_f54_a_pipe_of_trec_is_read(self, tmp_path: Path, name: str) -> None:
        os.mkfifo(tmp_path / name)
        run = b"q Q0 a 1 0.5 t\nq Q0 b 2 0.25 t\n"
        writer = threading.Thread(target=(tmp_path / name).write_bytes, args=[packed(name, run)])
        writer.start()
        assert read_rows(tmp_path / name) == {"q": [("a", 0.5), ("b", 0.25)]}
        writer.join()

    @pytest.mark.parametrize("name", ["a.csv", "a.jsonl.gz", "a.npz", "a.parquet", "a.run", "a.run.gz"])
    def test_f54_a_device_is_refused(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).symlink_to("/dev/zero")
        assert "expected a regular file" in refusal(tmp_path / name)
        assert "found a device or socket" in refusal(tmp_path / name)

    def test_f54_states_have_a_maximal_size(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = write_file(tmp_path, "a.state", exactk.evaluate([[1]], [[1]], "recall").state.to_bytes())
        assert main(["merge", str(path)]) == 0
        monkeypatch.setattr("exactk._cli.shards._MAX_STATE", 100)
        assert main(["merge", str(path)]) == 2
        assert f"states: expected a state of at most 100 bytes, found more in {path}" in capsys.readouterr().err
        assert main(["merge", "/dev/zero"]) == 2
        assert "found a device or socket in /dev/zero" in capsys.readouterr().err


SPARSE_SIZE = 2**31 + 5


class TestSparseFiles:
    @pytest.mark.parametrize(
        ("name", "begin"),
        [
            ("a.csv", CSV_HEADER + b"u,a,1\n"),
            ("a.csv", b""),
            ("a.tsv", TSV_HEADER + b"u\ta\t1\n"),
            ("a.jsonl", b'{"user": 1, "item": 2, "score": 3}\n'),
            ("a.run", b"q Q0 a 1 0.5 t\n"),
            ("a.npy", array_bytes([1])),
            ("a.npz", npz(indptr=[0, 1], items=[1])),
            ("a.parquet", parquet(FRAME)),
            ("a.arrow", ipc(FRAME, pa.ipc.new_file)),
            ("stream.arrow", ipc(FRAME, pa.ipc.new_stream)[:-8]),
            ("a.csv.gz", gzip.compress(CSV_HEADER + b"u,a,1\n", mtime=0)[:-4]),
        ],
    )
    def test_f59_beyond_2_31_are_refused(self, tmp_path: Path, name: str, begin: bytes) -> None:
        path = write_file(tmp_path, name, begin)
        os.truncate(path, SPARSE_SIZE)
        refusal(path)

    def test_f59_an_array_beyond_2_31_is_compared_with_its_header(self, tmp_path: Path) -> None:
        header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({2**61},)}}".ljust(117) + "\n"
        data = archive(indptr=INDPTR, items=npy(header, bytes(8)))
        assert "a size that differs from the header" in refusal(write_file(tmp_path, "a.npz", data))


COLUMNAR = {
    "a.parquet": parquet(FRAME, compression="zstd"),
    "plain.parquet": parquet(FRAME, compression="none", use_dictionary=False),
    "lists.parquet": parquet(pa.table({"user": [1, 2], "items": [[1, 2], [3]], "scores": [[0.5, 0.25], [1.0]]})),
    "a.arrow": ipc(FRAME, pa.ipc.new_file, "lz4"),
    "a.feather": ipc(FRAME, pa.ipc.new_file, "zstd"),
    "stream.arrow": ipc(FRAME, pa.ipc.new_stream),
}
HUGE = [b"\xff\xff\xff\x7f", b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\x00\x00\x00\x80", b"\xfe\xff\xff\xff\x0f"]


def outcomes_of_huge_sizes(folder: str) -> dict[str, list[str]]:
    """Put huge numbers in the place of some bytes of each file, with 16 GB of memory."""
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    outcomes: dict[str, set[str]] = {name: set() for name in COLUMNAR}
    for name, data in COLUMNAR.items():
        for offset in np.random.default_rng(7).permutation(len(data))[: examples(200)]:
            for size in HUGE:
                changed = data[:offset] + size + data[offset + len(size) :]
                outcomes[name].add(outcome_of(write_file(Path(folder), name, changed)))
    return {name: sorted(seen) for name, seen in outcomes.items()}


@pytest.mark.native
def test_f59_sizes_in_columnar_files_may_be_anything(tmp_path: Path) -> None:
    """Each of these bytes may be a length, an offset or a count: nothing but our errors comes of it, in bounded memory."""
    assert run_child(outcomes_of_huge_sizes, str(tmp_path)) == {name: ["read", "refused"] for name in COLUMNAR}


@pytest.mark.parametrize("name", COLUMNAR)
def test_f59_columnar_files_of_another_kind(tmp_path: Path, name: str) -> None:
    data = COLUMNAR[name]
    for wrong in (b"", data[:4], data[5:], data[::-1], data + data[:7], b"PAR1PAR1", b"ARROW1\0\0ARROW1", b"PAR1" * 9):
        refusal(write_file(tmp_path, name, wrong))


def test_f59_rows_that_no_memory_holds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Parquet file of a few kilobytes may hold a row as often as it says."""
    count = 1 << 22
    ids = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array(["u"]))
    path = write_file(tmp_path, "a.parquet", parquet(pa.table({"user": ids, "item": ids, "score": np.ones(count)})))
    assert path.stat().st_size < 200_000
    monkeypatch.setattr(source, "_LARGE", 1 << 24)
    assert isinstance(exactk.read(path, "predictions"), exactk.Batches)
    monkeypatch.setattr("exactk._files.columnar.memory_limit", lambda: float(1 << 24))
    assert "rows that fit in the memory of 16777216 bytes" in refusal(path, "truth")
