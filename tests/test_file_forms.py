"""What a file is taken for: TREC text only if its columns show it, and files of other forms never in silence."""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import lzma
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

import exactk
from commands import assert_refused
from exactk._cli.input_options import add_column_options, read_file
from exactk._cli.streams import StandardInput, as_command_option
from exactk._files import forms, source
from exactk._files.file_errors import File
from exactk._files.separated import SEPARATORS
from exactk._runtime import optional
from exactk._runtime.errors import EvaluationWarning
from exactk._runtime.faults import Option, Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Run

TIME = 881250949


class Form(NamedTuple):
    """A file, what is said of it, and how often lines to write are in that."""

    name: str
    rows: tuple[str, ...]
    said: str
    role: str = "truth"
    lines: int = 2


REFUSED = [
    Form("u.test", (f"a\t20\t4\t{TIME}", f"a\t31\t3\t{TIME + 5}"), "grades beyond -1000 to 1000000"),
    Form("hundreds.txt", (f"1 31 25 {TIME}", f"1 1029 30 {TIME}"), "grades beyond -1000 to 1000000"),
    Form("implicit.txt", (f"1 1 50 {TIME}", f"2 1 51 {TIME}"), "grades beyond -1000 to 1000000"),
    Form("large.txt", ("1 0 d1 1000000", "1 0 d2 3"), "grades beyond -1000 to 1000000", lines=1),
    Form("counts.txt", ("1 31 5 3", "1 60 4 1", "2 9 3 1"), "'31' and '60' as second field"),
    Form("time_third.txt", (f"1 20 {TIME} 5", f"1 31 {TIME + 5} 3"), "'20' and '31' as second field"),
    Form("words.txt", ("ann matrix 5 3", "ann heat 4 1"), "'matrix' and 'heat' as second field"),
    Form("empty.txt", ("a,, b 5 3", "c,, d 5 3"), "'b' and 'd' as second field", lines=1),
    Form("single.txt", ("0 17 23 99",), "'17' as second field", lines=3),
    Form("second.txt", ("q1 d1 0 2", "q1 d2 0 1"), "'d1' and 'd2' as second field"),
    Form("grade_third.txt", ("q1 d1 2 0", "q1 d2 1 0"), "'d1' and 'd2' as second field"),
    Form("score_first.run", ("q1 Q0 d1 0.9 1 t", "q1 Q0 d2 0.4 2 t"), "scores before ranks", "predictions"),
    Form("score_first2.run", ("q1 Q0 d1 9 1 t", "q1 Q0 d2 5 2 t"), "scores before ranks", "predictions"),
    Form("second.run", ("q1 d1 Q0 1 9 t", "q1 d2 Q0 2 8 t"), "'d1' and 'd2' as second field", "predictions", 1),
    Form("blanks.run", ("q1 Q0 d1 1 9 t", "q1 Q0 my doc 2 8 t"), "more fields", "predictions", 0),
    Form("numbered.run", ("q1 Q0 d1 1 9 t", "q1 Q0 part 7 2 8 t"), "more fields", "predictions", 0),
    Form("no_tag.run", ("q1 Q0 part 7 2 8.5", "q1 Q0 part 8 3 7.5"), "other fields", "predictions", 1),
    Form("log.txt", ("u1 GET i1 200 15 f", "u2 PUT i2 201 17 f"), "'GET' and 'PUT' as second field", "predictions", 1),
    Form("one_word.txt", ("u1 GET i1 200 15 f", "u2 GET i2 201 17 f"), "'GET' as second field", "predictions", 1),
    Form("times.txt", (f"u1 0 i1 {TIME} 5 x", f"u2 0 i2 {TIME + 9} 4 x"), "other fields", "predictions", 1),
    Form("scored_times.txt", (f"u1 0 i1 5 {TIME} x", f"u1 0 i2 4 {TIME - 9} x"), "other fields", "predictions", 1),
    Form("numbers.txt", ("u1 0 i1 5 3 7", "u1 0 i2 4 2 8"), "other fields", "predictions", 1),
    Form("rank.run", ("q Q0 d first 3 t",), "other fields", "predictions", 1),
    Form("logged.txt", (f"a 20 4 {TIME}",), "grades beyond -1000 to 1000000", "exclude"),
]
WARNED = [
    Form("aspects.qrels", ("1 1 d1 1", "1 2 d3 0", "1 2 d2 1"), "second field of"),
    Form("ranks.run", ("q1 Q0 a 1 2 t", "q1 Q0 b 2 9 t", "q2 Q0 a 1 1 t"), "1 of 1 queries have ranks", "predictions"),
    Form("copied.run", ("q1 Q0 a 1 1 t", "q1 Q0 b 2 2 t"), "as scores are ranks copied", "predictions"),
]
QUIET = [
    Form("zero.qrels", ("301 0 FBIS3-10082 1", "301 0 LA010189-0018 -1", "302 0 1 2"), ""),
    Form("q0.qrels", ("1 Q0 1 0", "1 Q0 2 3", "2 Q0 7 1"), ""),
    Form("one.qrels", ("1 1 1 1",), ""),
    Form("joined.qrels", ("1 0 1 0", "1 Q0 2 3"), ""),
    Form("word.qrels", ("1 ITER d1 0", "1 ITER d2 3"), ""),
    Form("covid.qrels", ("1 4.5 005b2j4b 2", "1 4 00fmeepz 1", "1 0.5 010vptx3 2"), ""),
    Form("a.run", ("q1 Q0 a 1 9.5 t", "q1 Q0 b 2 9.5 t", "q2 0 a 1 3 t"), "", "predictions"),
    Form("from_zero.run", ("q1 Q0 a 0 9.5 t", "q1 Q0 b 1 -2 t"), "", "predictions"),
    Form("equal.run", ("q1 Q0 a 1 2 t", "q1 Q0 b 1 9 t"), "", "predictions"),
    Form("anyhow.run", ("q1 Q0 b 2 1 t", "q2 Q0 a 1 9 t", "q1 Q0 a 1 2 t"), "", "predictions"),
    Form("tag.run", ("q1 Q0 a 1 2 the tag 1 x", "q1 Q0 b 2 1 another"), "", "predictions"),
    Form("numbered.run", ("q1 Q0 a 1 2 1", "q1 Q0 b 2 1 1"), "", "predictions"),
    Form("times.run", (f"q1 Q0 a 1 {TIME} newest", f"q1 Q0 b 2 {TIME - 9} newest"), "", "predictions"),
    Form("excluded.run", ("q1 Q0 a 1 2 t", "q1 Q0 b 2 9 t"), "", "exclude"),
]


def write(folder: Path, name: str, rows: tuple[str, ...]) -> Path:
    data = "".join(f"{row}\n" for row in rows).encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def read(path: Path, role: str) -> Any:
    result: Any = exactk.read(path, role)  # type: ignore[call-overload]
    return result


def run_in_shell(line: str) -> None:
    line = line.replace("python3 -c", f"{shlex.quote(sys.executable)} -c", 1)
    subprocess.run(["/bin/sh", "-c", line], check=True)  # noqa: S603 - the text of our own message


def lines_of(text: Text) -> list[str | Option]:
    """Return the lines to write in Python and on the command line, or in the latter alone, that a text has whole."""
    return [part for part in text if (isinstance(part, Option) or "awk " in part) and "..." not in str(part)]


def read_by_code(line: Option, role: str) -> Any:
    """Return what the argument is that a line gives, by pandas or `exactk.read`."""
    import pandas  # noqa: ICN001, PLC0415 - the name that the line has

    code = str(line)
    assert code.startswith(f"{role}=")
    value = eval(code.removeprefix(f"{role}="), {"pandas": pandas, "exactk": exactk})  # noqa: S307 - the text of our own message
    convert: Any = {"truth": exactk.as_truth, "predictions": exactk.as_predictions, "exclude": exactk.as_exclusions}
    return convert[role](value)


def read_by_shell(line: str, path: Path, role: str) -> Any:
    """Return the file, read with the options that a line gives, or what a program writes of it."""
    before = set(path.parent.iterdir())
    options = argparse.ArgumentParser()
    add_column_options(options, truth=True)
    if not line.startswith("--"):
        run_in_shell(line)
    arguments = options.parse_args(shlex.split(line) if line.startswith("--") else [])
    arguments.stdin = StandardInput()
    new = [*({*path.parent.iterdir()} - before), path][0]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*are not used")
        result = read_file(arguments, new, role)  # type: ignore[arg-type]
    if new != path:
        new.unlink()
    return result


def read_by_line(line: str | Option, path: Path, role: str) -> None:
    """Read the file as a line says, in Python and on the command line."""
    read_by_shell(line if isinstance(line, str) else as_command_option(line), path, role)
    if isinstance(line, Option):
        read_by_code(line, role)


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("form", REFUSED, ids=lambda form: form.name)
def test_f81_other_forms_are_refused_with_a_line_for_each_reading(form: Form, ending: str, tmp_path: Path) -> None:
    path = write(tmp_path, form.name + ending, form.rows)
    with pytest.raises(exactk.InputError, match=f"{form.role}: expected .* of TREC .*{form.said}") as caught:
        read(path, form.role)
    lines = lines_of(caught.value.fault.hint)
    assert len(lines) == form.lines
    for line in lines:
        read_by_line(line, path, form.role)


@pytest.mark.parametrize("form", WARNED, ids=lambda form: form.name)
def test_f82_doubtful_columns_are_warned_of_once_with_lines_that_are_quiet(form: Form, tmp_path: Path) -> None:
    path = write(tmp_path, form.name, form.rows)
    with pytest.warns(EvaluationWarning, match=form.said) as caught:
        read(path, form.role)
    (warning,) = caught
    assert isinstance(warning.message, EvaluationWarning)
    lines = lines_of(warning.message.args)
    assert len(lines) == form.lines
    for line in lines:
        read_by_line(line, path, form.role)


def test_f82_rows_with_more_fields_than_names_are_not_shifted(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = write(tmp_path, "a.run", ("q1 Q0 a 1 2 the tag", "q1 Q0 b 2 9 the tag"))
    with pytest.warns(EvaluationWarning, match="have ranks") as caught:
        read(path, "predictions")
    line = str(lines_of(caught[0].message.args)[0]).removeprefix("predictions=")  # type: ignore[union-attr]
    with pytest.warns(pandas.errors.ParserWarning):
        frame = eval(line, {"pandas": pandas})  # noqa: S307 - the text of our own message
    assert frame["document"].tolist() == ["a", "b"]


@pytest.mark.parametrize("form", QUIET, ids=lambda form: form.name)
def test_f81_ordinary_trec_files_are_read_in_silence(form: Form, tmp_path: Path) -> None:
    read(write(tmp_path, form.name, form.rows), form.role)


ids = st.integers(1, 10**6).map(str) | st.text("abcxyz", min_size=1, max_size=6)


@given(
    rows=st.lists(
        st.tuples(ids, ids, st.sampled_from(["1", "3.5", "5", "10"]), st.integers(10**8, 10**12)), min_size=1
    ),
    blank=st.sampled_from([" ", "\t", "  "]),
)
def test_f81_ratings_with_times_are_never_qrels(rows: list[tuple[str, str, str, int]], blank: str) -> None:
    texts = tuple(blank.join(map(str, row)) for row in rows)
    with TemporaryDirectory() as folder:
        path = write(Path(folder), "u.data", texts)
        if all(user.isdigit() and item.isdigit() for user, item, *_ in rows):
            expected: dict[Any, list[Any]] = {}
            for user, item, *_ in rows:
                expected.setdefault(int(user), []).append(int(item))
            if all(len(set(items)) == len(items) for items in expected.values()):
                check_lists(exactk.read(path, "truth"), "truth", expected)
            return
        with pytest.raises(exactk.InputError, match="grades beyond -1000 to 1000000"):
            exactk.read(path, "truth")


words = st.text("abcxyz", min_size=2, max_size=6) | st.integers(100, 10**6).map(str)


@given(st.lists(st.tuples(ids, words, st.integers(1, 5), st.integers(0, 99)), min_size=2, unique_by=lambda row: row[1]))
def test_f81_ratings_without_times_are_never_qrels(rows: list[tuple[str, str, int, int]]) -> None:
    with TemporaryDirectory() as folder, pytest.raises(exactk.InputError, match="as second field"):
        exactk.read(write(Path(folder), "u.data", tuple(" ".join(map(str, row)) for row in rows)), "truth")


@given(data=st.data(), iteration=st.sampled_from(["0", "Q0", "1", "iter"]))
def test_f81_drawn_qrels_and_runs_are_quiet(data: st.DataObject, iteration: str) -> None:
    pairs = data.draw(st.lists(st.tuples(ids, ids), min_size=1, unique=True))
    grades = data.draw(st.lists(st.integers(-2, 4), min_size=len(pairs), max_size=len(pairs)))
    qrels = [f"{query} {iteration} {item} {grade}" for (query, item), grade in zip(pairs, grades, strict=True)]
    run, ranks = [], dict.fromkeys((query for query, _ in pairs), 0)
    for query, item in pairs:
        ranks[query] += 1
        run.append(f"{query} {iteration} {item} {ranks[query]} {9 - ranks[query] / 7} tag")
    with TemporaryDirectory() as folder:
        exactk.read(write(Path(folder), "a.qrels", tuple(qrels)), "truth")
        exactk.read(write(Path(folder), "a.run", tuple(data.draw(st.permutations(run)))), "predictions")


TREC_ENDINGS = [
    *("dev.tsv", "tsv", "csv", "json", "jsonl", "ndjson", "parquet", "arrow", "feather", "npz"),
    *("tsv.gz", "csv.gz", "json.gz", "jsonl.gz"),
]


@pytest.mark.parametrize("blank", [" ", "\t"])
@pytest.mark.parametrize("ending", TREC_ENDINGS)
def test_f82_trec_text_under_other_endings_is_refused_with_that_advice(ending: str, blank: str, tmp_path: Path) -> None:
    for name, role, rows in (
        ("qrels", "truth", ("11 0 12 1", "12 0 15 1")),
        ("run", "predictions", ("11 Q0 12 1 9 t", "12 Q0 15 1 8 t")),
    ):
        if name == "qrels" and blank == "\t" and "tsv" in ending:
            continue  # those of MS MARCO
        path = write(tmp_path, f"{name}.{ending}", tuple(row.replace(" ", blank) for row in rows))
        with pytest.raises(exactk.InputError, match=r"it is TREC text: .*form=") as caught:
            read(path, role)
        read_by_line(caught.value.fault.hint[-1], path, role)


OTHERS = {  # rows of another format, and what is said of them under an ending of TREC
    "csv": (("user,item,rating", "1,2,5", "1,3,4"), "its separator is ','"),
    "tsv": (("user\titem\trating", "1\t2\t5"), r"its separator is '\\t'"),
    "semicolons": (("user;item;rating", "1;2;5"), "its separator is ';'"),
    "bars": (("user|item|rating", "1|2|5"), r"its separator is '\|'"),
    "no names": (("1,2,5", "1,3,4"), "if no line has column names"),
    "commas": (("u1, i2, 5, 3", "u2, i3, 4, 4"), "if the fields are user, item, c3, c4: .*, sep=','"),
    "colons": ((f"a::2::5::{TIME}", f"a::3::4::{TIME}"), "if no line has column names"),
    "json": (('{"u": {"i": 1}}',), "it is JSON"),
    "lines": (('{"user": 1, "item": 2}', '{"user": 1, "item": 3}'), "it is JSON lines"),
    "header": (("user item rating time", f"1 2 3 {TIME}"), "its separator is ' '"),
    "trec header": (("query iteration document grade", "1 0 3 4"), "its separator is ' '"),
    "three": (("1 2 5", "1 3 4"), "if no line has column names"),
    "decimals": (("q 0 d 0.5", "q 0 e 1"), "if no line has column names"),
    "shifted": (("q1 0 my d1 1", "q1 0 d 2"), "ids of TREC hold no blanks"),
}


@pytest.mark.parametrize("ending", [".txt", ".qrels", ".txt.gz"])
@pytest.mark.parametrize("kind", OTHERS)
def test_f82_other_formats_under_endings_of_trec_are_named(kind: str, ending: str, tmp_path: Path) -> None:
    rows, said = OTHERS[kind]
    path = write(tmp_path, f"a{ending}", rows)
    with pytest.raises(exactk.InputError, match=said) as caught:
        exactk.read(path, "truth")
    for line in lines_of(caught.value.fault.hint):
        read_by_line(line, path, "truth")


def test_f82_rows_of_runs_without_names_have_lines_for_ranks_and_scores(tmp_path: Path) -> None:
    for name, rows, said, count in (
        ("ranks.tsv", ("1\t10\t1", "1\t11\t3"), "columns=.*'score'.*; or, by rank: .*'rank'", 2),
        ("scores.txt", ("1\t10\t0.5", "1\t11\t0.25"), "columns=.*'score'", 1),
        ("no_tag.run", ("1 Q0 d1 1 0.5", "1 Q0 d2 2 0.25"), "columns=.*'query', '-', 'document', '-', 'score'", 1),
    ):
        path = write(tmp_path, name, rows)
        with pytest.raises(exactk.InputError, match=said) as caught:
            exactk.read(path, "predictions")
        lines = lines_of(caught.value.fault.hint)
        assert len(lines) == count
        for line in lines:
            read_by_line(line, path, "predictions")


@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        ("a.csv", ("user;item;rating", "1;2;5"), "its separator is ';'"),
        ("a.tsv", ("user,item", "1,2"), "its separator is ','"),
        ("a.csv", ("user\titem", "1\t2"), r"its separator is '\\t'"),
        ("a.csv", ("ann,matrix", "bob,heat"), "if no line has column names"),
        ("a.csv", ("1,2,5", "1,3,5"), "if no line has column names"),
        ("a.csv", ("user,item,rating", "1,2,5,7"), "expected 3 columns .*found 4 at line 2"),
        ("a.csv", ("user,item,rating", "0,1,2,5", "1,1,3,4"), "expected 3 columns .*found 4 at line 2"),
        ("a.json", ('{"user": 1, "item": 2}', '{"user": 1, "item": 3}'), "it is JSON lines"),
    ],
)
def test_f82_other_rows_under_endings_of_columns_are_named(
    name: str, rows: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    with pytest.raises(exactk.InputError, match=said):
        exactk.read(write(tmp_path, name, rows), "truth")


LISTS = {0: [5, 7, 9, 4], 1: [6], 2: []}
LINES_OF_LISTS = ("0 5 7 9 4", "1 6", "2")
NEGATIVES = ("(0,25)\t1064\t174\t27", "(1,33)\t1072\t315\t33")
LISTED = [  # rows, and the items that the line to write reads, in Python and on the command line
    ("a.txt", "truth", ("user;item", '"a;b";007', "c;1"), {"a;b": ["007"], "c": ["1"]}),
    ("a.csv", "truth", ('"a,b",i1,5', '"c",i2,4'), {"a,b": ["i1"], "c": ["i2"]}),
    (
        "a.csv",
        "truth",
        ("u1,0321732944,5.0,1341100800", "u2,0439886341,1.0,1367193600"),
        {"u1": ["0321732944"], "u2": ["0439886341"]},
    ),
    ("-r.txt", "truth", ("1;12;5", "2;13;5"), {1: [12], 2: [13]}),
    ("a.txt", "truth", ("ann; tea; 5", "bob; milk; 5"), {"ann": ["tea"], "bob": ["milk"]}),
    ("a.csv", "truth", ("ann;tea;4,5", "bob;milk;3,5"), {"ann": ["tea"], "bob": ["milk"]}),
    ("a.txt", "truth", ('1\tx"\t5', '2\t"y\t5'), {1: ['x"'], 2: ['"y']}),
    ("a.tsv", "predictions", ("1\t12\t1\t7.5", "1\t13\t2\t9.5"), {1: [13, 12]}),
    ("a.txt", "truth", ("0 5 7 9 4", "1 6"), {0: [5, 7, 9, 4], 1: [6]}),
    ("a.csv", "truth", LINES_OF_LISTS, LISTS),
    ("a.txt", "predictions", ("0 5 7 9", "1 6 8 4"), {0: [5, 7, 9], 1: [6, 8, 4]}),
    ("a.txt.gz", "truth", ("0 5 7 9 4 8 3", "1 6 7 2 4 9 1"), {0: [5, 7, 9, 4, 8, 3], 1: [6, 7, 2, 4, 9, 1]}),
    ("a.run", "predictions", ("0 5 7 9 4 8 3", "1 6 7 2 4 9"), {0: [5, 7, 9, 4, 8, 3], 1: [6, 7, 2, 4, 9]}),
]


def check_lists(value: Any, role: str, expected: dict[Any, list[Any]]) -> None:
    """Check that all items are read, and those of predictions in their order."""
    held = {user: items for user, items in expected.items() if items}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        pair: Any = (value, held) if role == "truth" else (held, value)
        assert exactk.evaluate(pair[0], pair[1], "recall@9", convention={"min_grade": 1})["recall@9"] == 1.0
        if role == "predictions":
            assert exactk.evaluate({user: items[:1] for user, items in held.items()}, value, "mrr")["mrr"] == 1.0


@pytest.mark.parametrize(("name", "role", "rows", "expected"), LISTED)
def test_f82_lines_to_write_read_every_id(
    name: str, role: str, rows: tuple[str, ...], expected: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    write(tmp_path, name, rows)
    with pytest.raises(exactk.InputError) as caught:
        read(Path(name), role)
    first, *_, line = [part for part in caught.value.fault.hint if isinstance(part, Option)] * 2
    line = line if "form=" in str(line) else first
    check_lists(read_by_code(line, role), role, expected)
    check_lists(read_by_shell(line.shell, tmp_path / name, role), role, expected)


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_line_of_unusual_names_is_no_row(separator: str, tmp_path: Path) -> None:
    rows = ("Nutzer,Artikel,Note", "ann,07,4", "bob,08,5")
    path = write(tmp_path, "a.csv", tuple(row.replace(",", separator) for row in rows))
    with pytest.raises(exactk.InputError) as caught:
        exactk.read(path, "truth")
    assert "columns=" not in str(caught.value)
    truth = exactk.read(path, "truth", separator=separator, user="Nutzer", item="Artikel", grade="Note")
    check_lists(truth, "truth", {"ann": ["07"], "bob": ["08"]})


def test_numbers_with_decimal_commas_have_a_line(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    path = write(tmp_path, "a.csv", ("user;item;score", "01;07;0,5", "01;08;0,75"))
    for separator in (None, ";"):
        with pytest.raises(exactk.InputError) as caught:
            exactk.read(path, "predictions", separator=separator)
        (line,) = [part for part in caught.value.fault.hint if isinstance(part, Option)]
        check_lists(read_by_code(line, "predictions"), "predictions", {"01": ["08", "07"]})


@pytest.mark.parametrize(
    "rows", [('[{"user": "ann", "items": ["tea"]}]',), ("[", '{"user": "ann", "items": ["tea"]}', "]")]
)
def test_a_list_of_rows_is_no_json_lines(rows: tuple[str, ...], tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", rows)
    with pytest.raises(exactk.InputError, match=r"; it is JSON: .*form='json'"):
        exactk.read(path, "truth")
    check_lists(exactk.read(path, "truth", form="json"), "truth", {"ann": ["tea"]})


@pytest.mark.parametrize(
    ("name", "role", "rows"),
    [
        ("u.data", "predictions", (f"1\t20\t4\t{TIME}", f"2\t31\t3\t{TIME}")),
        ("a.txt", "predictions", ("q d1 1 9.5 t", "q d2 2 8.5 t")),
        ("a.txt", "predictions", ("2 qid:1 1:0.1 2:0.4", "0 qid:1 1:0.3 2:0.5")),
        ("a.txt", "truth", ("2 qid:1 1:0.1 2:0.4", "0 qid: 1:0.3 2:0.5")),
        ("a.txt", "truth", ("q 0 a 1 x", "q 0 b 2 x")),
        ("a.txt", "truth", ("my query Q0 d 1 9 t", "my query Q0 e 2 8 t")),
        ("a.csv", "truth", ("1,2014-04-07T10:51:09.277Z,2145,0", "1,2014-04-07T10:54:09.868Z,2146")),
        ("a.csv", "predictions", ("1,2014-04-07T10:51:09.277Z,2145,0", "1,2014-04-07T10:54:09.868Z,2146,0")),
        ("a.txt", "truth", ("0 2010-10-19T23:55:27Z 30.23 -97.79 228", "0 2010-10-18T22:17:43Z 30.26 -97.76 420")),
        ("a.txt", "truth", ("ann 2010-10-19 tea 5", "ann 2010-10-20 milk 4")),
    ],
)
def test_f82_nothing_is_named_that_is_not_recognized(
    name: str, role: str, rows: tuple[str, ...], tmp_path: Path
) -> None:
    with pytest.raises(exactk.InputError) as caught:
        read(write(tmp_path, name, rows), role)
    assert "=pandas" not in str(caught.value)


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ("u1,i1,2520377,pv,1511544070", "'user', 'item', '-', '-', '-'"),
        ("u1,i1,4.5,2014-04-07T10:51:09", "'user', 'item', 'rating', '-'"),
        ("u1,i1,30.23,-97.79", "'user', 'item', '-', '-'"),
        ("u1,i1,4.5", "'item', 'user', 'rating'"),
        ("7,2014-04-07T10:51:09.277Z,2145,0", "'user', '-', 'item', '-'"),
        ("7\t2010-10-19T23:55:27Z\t30.2\t-97.7\t228", "'user', '-', '-', '-', 'item'"),
        ("u1,i1,5,0", "'user', 'item', '-', '-'"),
    ],
)
def test_f82_fields_are_named_by_their_values(row: str, names: str, tmp_path: Path) -> None:
    with pytest.raises(exactk.InputError, match=rf"columns=\[{names}\]"):
        exactk.read(write(tmp_path, "a.csv", (row,)), "truth")


def test_a_named_form_is_read_whatever_the_ending_is(tmp_path: Path) -> None:
    expected = {"11": ["20", "31"]}
    for name, role, form, rows in (
        ("-r.csv", "truth", "qrels", ("11 a 20 4", "11 b 31 3")),
        ("a.json", "exclude", "run", ("11 Q0 20 1 9 t", "11 Q0 31 2 10 t")),
        ("a.npz", "predictions", "run", ("11 Q0 20 2 9 t", "11 Q0 31 1 8 t")),
        ("a.csv", "truth", "msmarco-qrels", ("11\t0\t20\t1", "11\t0\t31\t2")),
        ("a.csv", "predictions", "msmarco-run", ("11\t20\t1", "11\t31\t7")),
        ("a.txt", "truth", "json", ('{"11": ["20", "31"]}',)),
        ("a.json", "predictions", "jsonl", ('{"user": "11", "items": ["20", "31"]}',)),
    ):
        of_reading(exactk.read(write(tmp_path, name, rows), role, form=form), role, expected)  # type: ignore[call-overload]
    for form, separator in (("ml-100k", "\t"), ("ml-100k", " "), ("double-colon", "::")):
        path = write(tmp_path, "a.csv", (separator.join(("1", "0", "4", str(TIME))),))
        of_reading(exactk.read(path, "truth", form=form), "truth", {1: [0]})


def test_items_among_others_become_candidates(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    for name, role in (("a.test.negative", "truth"), ("a.csv", "predictions"), ("b.negative", "candidates")):
        path = write(tmp_path, name, NEGATIVES)
        with pytest.raises(exactk.InputError, match="each line is a user, an item, and others") as caught:
            exactk.evaluate(**{"truth": {0: [25]}, "predictions": {0: [25, 7]}, "metrics": "mrr", role: path})  # type: ignore[arg-type]
        (line,) = lines_of(caught.value.fault.hint)
        assert isinstance(line, Option)
        truth, predictions = {0: [25], 1: [33]}, {0: [7, 27, 25], 1: [33, 1072]}
        run_in_shell(line.shell)
        import pandas  # noqa: ICN001, PLC0415 - the name that the line has

        in_code = eval(str(line).removeprefix("candidates="), {"pandas": pandas})  # noqa: S307 - the text of our own message
        for candidates in (in_code, f"{path}.jsonl"):
            assert exactk.evaluate(truth, predictions, "mrr", candidates=candidates)["mrr"] == 0.75


def test_several_files_are_of_one_form(tmp_path: Path, run: Run) -> None:
    truth = write(tmp_path, "t.tsv", ("1\t0\t80\t1", "2\t0\t70\t1"))
    parts = [write(tmp_path, "a1.tsv", ("1\t90\t1", "1\t80\t2")), write(tmp_path, "a2.tsv", ("2\t70\t1", "2\t60\t2"))]
    (tmp_path / "named").mkdir()
    named = [
        write(tmp_path / "named", f"{at}.csv", tuple(path.read_text().splitlines())) for at, path in enumerate(parts)
    ]
    options = ("-m", "mrr", "--format", "json")
    for arguments in ((tmp_path / "a*.tsv",), (named[0].parent, "--predictions-form", "msmarco-run")):
        result = run("evaluate", truth, *arguments, *options)
        assert json.loads(result.out)["reports"][0]["values"] == {"mrr": 0.75}, result
    write(tmp_path, "a2.tsv", (f"1\t20\t4\t{TIME}",))
    assert_refused(run("evaluate", truth, tmp_path / "a*.tsv", *options), "predictions: expected")


def test_f81_arrays_of_another_role_are_refused(tmp_path: Path) -> None:
    rows: dict[str, Any] = {"indptr": [0, 2], "items": [1, 2]}
    values: Any = [2.0, 1.0]
    for role, other, expected in (("truth", "scores", "grades"), ("predictions", "grades", "scores")):
        np.savez(tmp_path / "a.npz", **rows, **{other: values})
        with pytest.raises(exactk.InputError, match=f"expected {expected}, or items alone, found {other}"):
            read(tmp_path / "a.npz", role)
        np.savez(tmp_path / "a.npz", **rows, **{other: values, expected: values})
        read(tmp_path / "a.npz", role)


def test_f81_the_line_gives_the_right_value(tmp_path: Path) -> None:
    rows = tuple(f"u{user}\t{100 + user}\t{user % 5 + 1}\t{TIME + user}" for user in range(500))
    path = write(tmp_path, "u.test", rows)
    predictions = {f"u{user}": [100 + user, 7] for user in range(500)}
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate(path, predictions, "hit_rate@10")
    line, _ = lines_of(caught.value.fault.hint)
    assert isinstance(line, Option)
    truth = read_by_shell(line.shell, path, "truth")
    assert exactk.evaluate(truth, predictions, "hit_rate@10", convention={"min_grade": 1})["hit_rate@10"] == 1.0


class Readable(NamedTuple):
    """A file whose rows have no line of column names, or one of another format, and the items that are read."""

    name: str
    rows: tuple[str, ...]
    expected: dict[Any, list[Any]]
    role: str = "truth"
    columns: tuple[str, ...] | None = None
    separator: str | None = None

    @property
    def has_names(self) -> bool:
        return not self.columns and not self.rows[0].strip()[0].isdigit()


RATED = {10: ["a", "b"], 11: ["c"]}
AS_QRELS = ("user", "-", "item", "grade")
BY_STARS = {1: [20, 31], 2: [20]}
SCORED = {"ann": ["tea", "rice"], "bob": ["milk"]}
READABLE = [
    Readable("qrels.dev.tsv", ("11\t0\t1000012\t1", "12\t0\t1000015\t1"), {"11": ["1000012"], "12": ["1000015"]}),
    Readable("dev.tsv.gz", ("11\t0\t1000012\t1",), {"11": ["1000012"]}),
    Readable("q.tsv", ("11\t0\t1000012\t1", "12\t0\t1000015\t2"), {"11": ["1000012"], "12": ["1000015"]}, "exclude"),
    Readable("a.tsv", ("2\t70\t1", "1\t80\t2", "1\t90\t1"), {"1": ["90", "80"], "2": ["70"]}, "predictions"),
    Readable("a.run", ("1\t80\t2", "1\t90\t1"), {"1": ["90", "80"]}, "predictions"),
    Readable("u.data", (f"1\t20\t4\t{TIME}", f"1\t31\t3\t{TIME + 5}", f"2\t20\t5\t{TIME}"), BY_STARS),
    Readable("u.base", (f"1\t20\t4\t{TIME}", f"1\t31\t3\t{TIME + 5}", f"2\t20\t5\t{TIME}"), BY_STARS, "exclude"),
    Readable("halves.txt", (f"1 31 2.5 {TIME}", f"1 1029 3.0 {TIME}000"), {1: [31, 1029]}),
    Readable("ratings.dat", (f"1::20::5::{TIME}", f"1::31::3::{TIME}", f"2::20::4::{TIME}"), BY_STARS),
    Readable("train.txt", LINES_OF_LISTS, LISTS),
    Readable("test.tsv", LINES_OF_LISTS, LISTS, "predictions"),
    Readable("train.txt.gz", ("7 1", " 3 5 6 ", "4 9 8 1"), {7: [1], 3: [5, 6], 4: [9, 8, 1]}, "exclude"),
    Readable("a.letor", ("2 qid:10 1:.5 # a", "1 qid:10 1:1 3:x #b", "0.5 qid:11 # docid = c inc = 1 p = .1"), RATED),
    Readable("a.txt", ("2 qid:10 1:.5 2:3", "1 qid:10", "0 qid:11 1:1"), {10: [0, 1], 11: [2]}),
    Readable("ml.inter", ("user_id:token\titem_id:token\tat:float\trating:float", f"1\t20\t{TIME}\t5"), {1: [20]}),
    Readable("seq.inter", ("user_id:token\titem_id:token", "a\tx", "a\ty"), {"a": ["x", "y"]}),
    Readable("a.txt", ("1 0 20 4", "1 0 31 3", "2 0 20 5"), BY_STARS, columns=AS_QRELS),
    Readable("a.csv", ("1,0,20,4", "1,0,31,3", "2,0,20,5"), BY_STARS, columns=AS_QRELS),
    Readable("a.data", ("1|0|20|4", "1|0|31|3", "2|0|20|5"), BY_STARS, columns=AS_QRELS),
    Readable("a.tsv", ("1;0;20;4", "1;0;31;3", "2;0;20;5"), BY_STARS, columns=AS_QRELS),
    Readable("a", ("1::0::20::4", "1::0::31::3", "2::0::20::5"), BY_STARS, columns=AS_QRELS),
    Readable("a.txt", ("  1 0\t20   4", "1  0 31 3 ", "2 0 20 5"), BY_STARS, columns=AS_QRELS, separator=" "),
    Readable("a.txt", ("ann;tea;2.5", "ann;rice;0.5", "bob;milk;1"), SCORED, "predictions", ("user", "item", "score")),
    Readable("a.txt", ("1,ann,rice", "0,ann,tea", "7,bob,milk"), SCORED, "predictions", ("rank", "user", "item")),
    Readable(
        "a.txt",
        ("ann,green tea,x", "ann,rice,x"),
        {"ann": ["green tea", "rice"]},
        columns=("user", "item", "-"),
        separator=",",
    ),
    Readable("a.csv", ('"a, b";"x;y";1', "c;z;2"), {"a, b": ["x;y"], "c": ["z"]}, columns=("user", "item", "grade")),
    Readable("a.csv", ("user;item;grade", "1;20;4", "1;31;3", "2;20;5"), BY_STARS, separator=";"),
    Readable("a.txt", ("user item score", "1 31 3", "1 20 4", "2 20 5"), BY_STARS, "predictions", separator=" "),
    Readable("a.csv", ("user,item", "1,20"), {1: [20]}, separator=","),
]


def of_reading(value: Any, role: str, expected: dict[Any, list[Any]]) -> None:
    """Check that these items are read and no others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        if role == "exclude":
            counts = exactk.evaluate(expected, {**expected}, "recall@9", exclude=value).counts
            assert counts["excluded_recommended"] == sum(map(len, expected.values()))
            return
        if role == "truth":
            backwards = {user: items[::-1] for user, items in expected.items()}
            report = exactk.evaluate(value, backwards, "r_precision", convention={"min_grade": 0})
            assert report["r_precision"] == 1.0
    check_lists(value, role, expected)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("at", range(len(READABLE)))
def test_text_without_column_names_is_read(
    at: int, large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = READABLE[at]
    path = write(tmp_path, one.name, one.rows)
    monkeypatch.setattr(source, "_LARGE", 0 if large else 1 << 28)
    if (
        large and one.role == "predictions" and not (one.columns or one.separator or one.rows == LINES_OF_LISTS)
    ):  # ranks need all rows
        with pytest.raises(exactk.InputError, match="'rank'"):
            read_anew(path, one)
        return
    of_reading(read_anew(path, one), one.role, one.expected)


@pytest.mark.parametrize("at", range(len(READABLE)))
def test_text_without_column_names_is_read_by_the_command_line(at: int, tmp_path: Path, run: Run) -> None:
    one = READABLE[at]
    options = [f"--{one.role}-columns", ",".join(one.columns)] if one.columns else []
    options += [f"--{one.role}-separator", SEPARATORS[one.separator].name] if one.separator else []
    path, held = write(tmp_path, one.name, one.rows), {user: items for user, items in one.expected.items() if items}
    other = tmp_path / "other.jsonl"
    other.write_text("".join(f"{json.dumps({'user': user, 'items': items})}\n" for user, items in held.items()))
    files = [other, path] if one.role == "predictions" else [path, other]
    if one.role == "exclude":
        backwards = write(tmp_path, "backwards.jsonl", tuple(other.read_text().splitlines()[::-1]))
        files, options = [other, backwards], ["--exclude", str(path), *options]
    result = run("evaluate", *files, *options, "-m", "recall@9", "--set", "min_grade=0", "--format", "json")
    assert result.code == 0, result
    (report,) = json.loads(result.out)["reports"]
    if one.role == "exclude":
        assert report["counts"]["excluded_recommended"] == sum(map(len, held.values()))
    else:
        assert report["values"] == {"recall@9": 1.0}


@pytest.mark.parametrize("at", range(len(READABLE)))
def test_forms_are_told_from_each_other(at: int, tmp_path: Path) -> None:
    one = READABLE[at]
    lines = tuple(row.strip() for row in one.rows)
    for role in ("truth", "predictions", "exclude"):
        file = File(write(tmp_path, one.name, lines), role)
        of_role = (form for form in forms.FORMS.values() if role in form.roles)
        fits = [form for form in of_role if not isinstance(form, forms.NamedFormat) and form.fits([*lines])]
        assert len(fits) <= 1
        assert (forms.recognized([file]) is None) <= (not fits or role == "predictions")


LATE = tuple(f"1\t{item}\t4\t{TIME}" for item in range(200))
WRONG: list[tuple[str, tuple[str, ...], str, dict[str, Any], str]] = [  # and what is said
    (
        "u.data",
        (*LATE, "1\t999\t4\t3"),
        "truth",
        {},
        "a time in seconds or milliseconds as time, found '3' at line 201",
    ),
    ("u.data", (*LATE, f"1\t999\t11\t{TIME}"), "truth", {}, "a rating from 0 to 10 as rating, found '11' at line 201"),
    ("a.tsv", (*LATE, "1\t999\t4"), "truth", {}, "expected 4 columns .*found 3 at line 201"),
    (
        "a.tsv",
        (*["7\t0\t8\t1"] * 200, "7\t1\t9\t1"),
        "truth",
        {},
        "0 as iteration, found '1' at line 201",
    ),
    ("a.tsv", ("1\t20\t1", "1\t21\t1"), "predictions", {}, "; or, by rank: .*'rank'"),
    ("a.tsv", ("1\t20\t1", "2\t21\t1"), "predictions", {}, "; or, by rank: .*'rank'"),
    ("u.data", (f"1\t0\t4\t{TIME}",), "truth", {}, "grades beyond"),
    (
        "a.txt",
        ("user,item", "1,2"),
        "truth",
        {"columns": ["user", "item"]},
        "a row of values, found column names at line 1",
    ),
    (
        "a.txt",
        ("reviewer,asin,stars", "1,2,3"),
        "truth",
        {"columns": ["user", "item", "-"]},
        "found column names at line 1",
    ),
    (
        "a.txt",
        ("reviewer,asin,stars", "a,b,3"),
        "truth",
        {"columns": ["user", "item", "grade"]},
        "found column names at line 1",
    ),
    (
        "a.txt",
        ("a, b", "c, d"),
        "truth",
        {"columns": ["user", "item"]},
        "comma and blanks.*; write separator=',' or separator=' '",
    ),
    ("a.txt", ("a,b",), "truth", {"columns": ["user", "item", "grade"]}, "rows of 3 fields, found no separator"),
    ("a.txt", (), "truth", {"columns": ["user", "item"]}, "rows of 2 fields, found none"),
    ("a.txt", (), "truth", {"columns": ["user", "item"], "separator": ","}, "rows, found none"),
    ("a.txt", ("a::b\x1fc::5",), "truth", {"columns": ["user", "item", "grade"]}, "the control character"),
    (
        "a.txt",
        ("a,b",),
        "predictions",
        {"columns": ["user", "item"]},
        "user, item, and score or rank, found user, item",
    ),
    ("a.txt", ("a,b,1,2",), "predictions", {"columns": ["user", "item", "score", "rank"]}, "and score or rank"),
    ("a.txt", ("a,b",), "truth", {"columns": ["user", "-"]}, "columns: expected user and item, found user, -"),
    ("a.txt", ("a,b,c",), "truth", {"columns": ["user", "item", "item"]}, "one field as item, found 2"),
    ("a.txt", ("a,b",), "truth", {"columns": ["user", "movie"]}, "or - for a field that is not read, found 'movie'"),
    ("a.txt", ("a,b,1",), "exclude", {"columns": ["user", "item", "grade"]}, "user, item, or - .*found 'grade'"),
    ("a.txt", ("a,b",), "truth", {"columns": "user,item"}, "the role of each field"),
    ("a.txt", ("a,b",), "truth", {"separator": "/"}, "separator: expected one of '::', "),
    ("a.txt", ("a,b",), "truth", {"columns": ["user", "item"], "grade": "x"}, "grade: expected None beside columns"),
    (
        "a.json",
        ("{}",),
        "truth",
        {"columns": ["user", "item"]},
        "None for a file that is not text with separators, found JSON",
    ),
    ("l.inter", ("user_id:token\titem_id_list:token_seq", "a\tx y"), "truth", {}, "item='item_id_list:token_seq'"),
    ("a.txt", ("1 0 2 1",), "truth", {"form": "trec"}, "form: expected a form of truth: qrels, .*, found 'trec'"),
    ("a.txt", ("1 0 2 1",), "predictions", {"form": "qrels"}, "a form of predictions: run, .*, found 'qrels'"),
    ("a.txt", ("1 0 2 1",), "truth", {"form": "qrels", "separator": " "}, "form: expected None beside columns"),
    ("a.txt", ("1 0 2 1",), "truth", {"form": "qrels", "item": "x"}, "item: expected None for a file without"),
    ("u.data", (f"1\t2\t3\t{TIME}",), "truth", {"form": "ml-100k", "item": "x"}, "item: expected None for a file"),
    ("a.txt", ("1 0 2 1", "1 0 3 x"), "truth", {"form": "qrels"}, "found 'x' at line 2"),
    ("a.txt", ("1 0 my 2 1",), "truth", {"form": "qrels"}, "expected 4 fields"),
    ("a.txt", ("1 Q0 my doc 2 8 t",), "predictions", {"form": "run"}, "found more fields"),
    ("u.data", (f"1\t2\t3\t{TIME}", "1\t3\t3\t0"), "truth", {"form": "ml-100k"}, "a time .* found '0' at line 2"),
    ("u.data", (f"1\t2\t3\t{TIME}", "1\t3\t3"), "truth", {"form": "ml-100k"}, "4 columns .* found 3 at line 2"),
    ("a.tsv", ("1\t2\t1", "1\t3\t0"), "predictions", {"form": "msmarco-run"}, "a rank as rank, found '0' at line 2"),
    ("a.tsv", ("1,2,1",), "predictions", {"form": "msmarco-run"}, "3 columns .* found 1 at line 1"),
    (
        "a.txt",
        ("1 2 3", "2 x"),
        "truth",
        {"form": "adjacency"},
        "items, all of them integers, found other text at line 2",
    ),
    ("a.txt", ("1 2 3", "1 4"), "truth", {"form": "adjacency"}, "each user once, found 1 twice at line 2"),
    (
        "a.txt",
        ("1 2", "2 3 4", "3", *(f"{at} 1 2"[: 7 - at % 2 * 2] for at in range(100, 297)), "109 8"),
        "truth",
        {},
        "109 twice at line 201",
    ),
    ("a.txt", (), "truth", {"form": "adjacency"}, "expected lines, found none"),
    ("a.txt", ("1 2",), "truth", {"form": "adjacency", "user": "x"}, "user: expected None for a file without"),
    ("a.txt", ("2 qid:1 1:1", "2 qid:1 1"), "truth", {"form": "svmlight"}, "a row of SVMlight .* another at line 2"),
    ("a.txt", ("2 qid:1 1:1", "x qid:1 1:1"), "truth", {}, "a row of SVMlight .* another at line 2"),
    ("a.txt", ("2 qid:1 1:1 # a", "2 qid:1 1:1"), "truth", {}, "a comment with the id of the document, found none"),
    (
        "a.txt",
        ("2 qid:1 1:1 # a", "2 qid:1 1:1 # of b"),
        "truth",
        {},
        "the id of the document, found another at line 2",
    ),
    (
        "a.txt",
        ("2 qid:1 1:1", "2 qid:1 1:1 # a"),
        "truth",
        {},
        "no comment, as in the first row, found another at line",
    ),
    ("a.txt", (), "truth", {"form": "svmlight"}, "expected lines, found none"),
    ("a.txt", ("2 qid:1 1:1",), "exclude", {"form": "svmlight"}, "a form of exclude: qrels, .*, found 'svmlight'"),
    ("a.txt", ("1 20 4", "2 31 3"), "predictions", {}, "by rank: .*; if each line is a user and items: .*'adjacency'"),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_what_is_no_row_of_a_form_is_told(at: int, tmp_path: Path) -> None:
    name, rows, role, options, said = WRONG[at]
    with pytest.raises((exactk.InputError, exactk.InputTypeError), match=said):
        exactk.read(write(tmp_path, name, rows), role, **options)  # type: ignore[call-overload]


def test_comments_of_svmlight_are_no_rows(tmp_path: Path) -> None:
    rows = ("# Generated by x", "2 qid:10 1:.5", "# 1 of 2", "1 qid:11 1:1")
    check_lists(exactk.read(write(tmp_path, "a.txt", rows), "truth"), "truth", {10: [0], 11: [1]})
    with pytest.raises(exactk.InputError, match=r"a row of SVMlight .* another at line 5"):
        exactk.read(write(tmp_path, "b.txt", (*rows, "#2 qid:11 1:1")), "truth", form="svmlight")


def test_several_fields_identify_a_user(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", ("ann;monday;tea", "bob;monday;milk", "ann;friday;milk"))
    truth = exactk.read(path, "truth", columns=["user", "user", "item"])
    expected = {("ann", "monday"): ["tea"], ("bob", "monday"): ["milk"], ("ann", "friday"): ["milk"]}
    of_reading(truth, "truth", expected)


def test_several_fields_of_an_item_are_joined_by_the_line(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = write(tmp_path, "a.txt", ("7;ann;01;tea;5", "8;ann;2;tea;4"))
    with pytest.raises(exactk.InputError, match=r"one field as item, found 2 in .*; .* joins them") as caught:
        exactk.read(path, "truth", columns=["-", "user", "item", "doc", "grade"])
    line = caught.value.fault.hint[0]
    assert isinstance(line, Option)
    for truth in (read_by_code(line, "truth"), read_by_shell(line.shell, path, "truth")):
        of_reading(truth, "truth", {"ann": ["01/tea", "2/tea"]})
    frame = pandas.DataFrame({"user": ["ann"], "doc": ["tea"], "page": [3]})
    with pytest.raises(exactk.InputTypeError, match=r"item: expected a column name, found .* join them") as of_frame:
        exactk.as_truth(frame, item=["doc", "page"])  # type: ignore[arg-type]
    code, _, option, _ = of_frame.value.fault.hint
    assert str(option) == "item='joined'"
    joined = eval(str(code), {"frame": frame})  # noqa: S307 - the text of our own message
    of_reading(exactk.as_truth(joined, item="joined"), "truth", {"ann": ["tea/3"]})


def test_sequences_of_items_are_warned_of(tmp_path: Path) -> None:
    path = write(tmp_path, "l.inter", ("user_id:token\titem_id_list:token_seq", "a\tx y", "b\tx z"))
    with pytest.warns(EvaluationWarning, match="'x y' in the column item_id_list:token_seq .* is one item"):
        exactk.read(path, "truth", item="item_id_list:token_seq")


def test_ratings_without_names_warn_as_others_do(tmp_path: Path) -> None:
    rows = tuple(f"1\t{item}\t{item % 5 + 1}\t{TIME}" for item in range(9))
    path, named = write(tmp_path, "u.data", rows), ("user,item,rating", *(",".join(row.split()[:3]) for row in rows))
    by_position = exactk.read(path, "truth", columns=["user", "item", "rating", "-"])
    texts = []
    for truth in (path, write(tmp_path, "a.csv", named), by_position):
        with pytest.warns(EvaluationWarning, match="rating") as caught:
            exactk.evaluate(truth, {1: [2, 3]}, "recall@2")
        texts.append([str(one.message) for one in caught])
    assert texts[0] == texts[1] == texts[2]


def test_options_of_fields_without_use_are_refused(tmp_path: Path, run: Run) -> None:
    truth = write(tmp_path, "a.txt", ("ann;tea;2", "bob;milk;1"))
    lists = write(tmp_path, "b.jsonl", ('{"user": "ann", "items": ["tea"]}',))
    by_position = ("evaluate", truth, lists, "--truth-columns", "user,item,grade", "-m", "recall@1")
    assert run(*by_position).code == 0
    assert_refused(run(*by_position, "--exclude-columns", "user,item"), "--exclude-columns: expected a file")
    assert_refused(run(*by_position, "--grade", "rating"), "--grade: expected a file with names of columns")
    assert_refused(run(*by_position, "--predictions-columns", "user,item,rank"), "columns: expected None for a file")
    unclear = write(tmp_path, "c.txt", ("ann, tea", "bob, milk"))
    assert_refused(
        run("evaluate", unclear, lists, "--truth-columns", "user,item"),
        "; write --truth-separator comma or --truth-separator blanks",
    )


def read_anew(path: Path, one: Readable) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*not contiguous|.*copied to")
        result: Any = exactk.read(path, one.role, columns=one.columns, separator=one.separator)  # type: ignore[call-overload]
    return result


class Rows(NamedTuple):
    """A file, and one of its rows below any column names."""

    one: Readable
    separator: str
    at: int

    def changed(self, change: Callable[[list[str]], list[str]]) -> list[str]:
        """Return the rows after changing the fields of the one."""
        fields = self.one.rows[self.at].split(self.separator.strip() or None)
        return [*self.one.rows[: self.at], (self.separator).join(change(fields)), *self.one.rows[self.at + 1 :]]

    def with_row(self, row: str) -> list[str]:
        """Return the rows with another before the one."""
        return [*self.one.rows[: self.at], row, *self.one.rows[self.at :]]


def swapped(first: int, second: int) -> Callable[[list[str]], list[str]]:
    return lambda fields: [fields[{first: second, second: first}.get(at, at)] for at in range(len(fields))]


SWAPS = {
    "qrels.dev.tsv": (2, 3),
    "q.tsv": (0, 1),
    "a.run": (0, 2),
    "u.data": (2, 3),
    "u.base": (1, 3),
    "ratings.dat": (0, 3),
}
BROKEN: dict[str, Callable[[Rows], list[str] | None]] = {
    "a field less": lambda rows: rows.changed(lambda fields: fields[1:]),
    "a field more": lambda rows: rows.changed(lambda fields: [*fields, "5"]),
    "an empty field": lambda rows: (
        rows.changed(lambda fields: [*fields[:-1], "", fields[-1]]) if rows.separator != " " else None
    ),
    "text for a number": lambda rows: (
        rows.changed(lambda fields: [*fields[:-1], "ann"])
        if (rows.one.columns or ("grade",))[-1] in {"grade", "score", "rank"}
        and "," not in rows.one.rows[0]
        and rows.one.rows[-1].strip()[-1].isdigit()
        else None
    ),
    "fields swapped": lambda rows: rows.changed(swapped(*SWAPS[rows.one.name])) if rows.one.name in SWAPS else None,
    "column names": lambda rows: (
        rows.with_row(rows.separator.join(rows.one.columns))
        if rows.one.columns and (rows.at == 0 or "-" not in rows.one.columns)
        else None
    ),
    "column names again": lambda rows: rows.with_row(rows.one.rows[0]) if rows.one.has_names else None,
}


@given(data=st.data())
def test_a_broken_row_of_any_form_is_an_error(data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(READABLE))
    marks = [mark for mark in ("::", ";", "\t", "|", ",", " ") if mark in one.rows[0]]
    rows = Rows(one, one.separator or marks[0], data.draw(st.integers(one.has_names, len(one.rows) - 1)))
    kind = data.draw(st.sampled_from([*BROKEN]))
    if one.name.startswith("t") and kind.startswith("a field"):
        return  # a list of another length
    broken = BROKEN[kind](rows)
    if broken in (None, [*one.rows]) or " " in marks[:-1]:
        return
    with TemporaryDirectory() as folder:
        path = write(Path(folder), one.name, tuple(broken))
        with pytest.raises(exactk.InputError):
            read_anew(path, one)


@given(data=st.data())
def test_lines_may_be_empty_or_end_in_two_characters_but_not_be_cut(data: st.DataObject) -> None:
    one = data.draw(st.sampled_from([form for form in READABLE if not form.name.endswith(".gz")]))
    rows = [*one.rows]
    rows.insert(data.draw(st.integers(0, len(rows))), "")
    with TemporaryDirectory() as folder:
        path, packed = Path(folder) / one.name, Path(folder) / f"{one.name}.gz"
        path.write_bytes("".join(f"{row}\r\n" for row in rows).encode())
        of_reading(read_anew(path, one), one.role, one.expected)
        text = gzip.compress(path.read_bytes())
        packed.write_bytes(text[: data.draw(st.integers(1, len(text) - 1))])
        with pytest.raises(exactk.InputError):
            of_reading(read_anew(packed, one), one.role, one.expected)


def compressed(ending: str, data: bytes) -> bytes:
    if ending == ".zst" and optional.zstd() is None:
        pytest.skip("nothing compresses")
    return {".gz": gzip, ".bz2": bz2, ".xz": lzma, ".zst": optional.zstd()}[ending].compress(data)  # type: ignore[no-any-return]


ENDINGS = [".gz", ".bz2", ".xz", ".zst", ".BZ2"]
TEXTS = {"a.qrels": b"1 0 20 4\n1 0 31 3\n", "a.csv": b"user,item\n1,20\n1,31\n", "a.json": b'{"1": ["20", "31"]}'}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_compressed_text_is_read_whole_or_refused(ending: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}{ending}"
    kind = int if name == "a.csv" else str
    half = len(TEXTS[name]) // 2
    data = compressed(ending.lower(), TEXTS[name])
    parts = [compressed(ending.lower(), part) for part in (TEXTS[name][:half], TEXTS[name][half:])]
    for whole in (data, b"".join(parts)):
        path.write_bytes(whole)
        of_reading(exactk.read(path, "truth"), "truth", {kind(1): [kind(20), kind(31)]})
    for size in range(1, len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(exactk.InputError):
            exactk.read(path, "truth")
    path.write_bytes(TEXTS[name])
    with pytest.raises(exactk.InputError, match="bytes that are not those of "):
        exactk.read(path, "truth")
    path.write_bytes(data + b"more")
    with pytest.raises(exactk.InputError):
        exactk.read(path, "truth")


@pytest.mark.parametrize("ending", [".bz2", ".xz", ".zst"])
def test_text_that_expands_too_far_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.qrels{ending}"
    path.write_bytes(compressed(ending, b"1 0 20 4\n" * (1 << 21)))
    with pytest.raises(exactk.InputError, match=r"at most 200 bytes of text per compressed byte.* -d"):
        exactk.read(path, "truth")


def test_zstandard_that_nothing_reads_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optional, "zstd", lambda: None)
    (tmp_path / "a.csv.zst").write_bytes(b"x")
    with pytest.raises(exactk.InputError, match=r"found neither in .*; pip install backports\.zstd"):
        exactk.read(tmp_path / "a.csv.zst", "truth")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.csv", "a.qrels", "a b.json", "a.csv.gz"])
def test_utf_16_is_told_with_the_line_that_converts_it(name: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / name
    data = "\ufeff".encode(encoding) * (encoding != "utf-16") + TEXTS["a.csv"].decode().encode(encoding)
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with pytest.raises(exactk.InputError, match=r"expected UTF-8, found UTF-16 in .*iconv") as caught:
        exactk.read(path, "truth")
    run_in_shell(str(caught.value.fault.hint[-1]))
    (new,) = {*tmp_path.iterdir()} - {path}
    assert new.read_text(encoding="utf-8").removeprefix("\ufeff") == TEXTS["a.csv"].decode()
    assert new.suffix == Path(name.removesuffix(".gz")).suffix


QRELS_ROWS = ("q1 0 a 1", "q2 0 a 1")
CONTRADICTED = ("q1 Q0 b 1 1 t", "q1 Q0 a 2 2 t", "q2 Q0 a 1 2 t", "q2 Q0 b 2 1 t")


def test_f81_every_way_that_reads_files_refuses(tmp_path: Path, run: Run) -> None:
    ratings = write(tmp_path, "u.test", (f"a 20 4 {TIME}",))
    qrels, good = write(tmp_path, "t.qrels", QRELS_ROWS), write(tmp_path, "a.run", ("q1 Q0 a 1 1 t",))
    log = write(tmp_path, "log.txt", ("u1 GET i1 200 15 f",))
    refused = pytest.raises(exactk.InputError, match="of TREC")
    with refused:
        exactk.evaluate(ratings, good, "mrr")
    with refused:
        exactk.evaluate(qrels, log, "mrr")
    with refused:
        exactk.compare(qrels, {"a": good, "b": log}, "mrr")
    for argument in ("exclude", "candidates"):
        with refused:
            exactk.evaluate(qrels, good, "mrr", **{argument: ratings})  # type: ignore[arg-type]
    assert_refused(
        run("evaluate", ratings, good),
        "if the fields are user, item, rating, time: --truth-columns user,item,rating,-; if it is TREC: --truth-form qrels",
    )
    assert_refused(run("compare", qrels, good, log), "'GET' as second field")
    (tmp_path / "shards").mkdir()
    for name in ("1.run", "2.run"):
        write(tmp_path / "shards", name, ("u1 GET i1 200 15 f",))
    assert_refused(run("evaluate", qrels, tmp_path / "shards"), "'GET' as second field")


def test_f82_ranks_are_warned_of_beside_unchanged_output(tmp_path: Path, run: Run) -> None:
    qrels, path = write(tmp_path, "t.qrels", QRELS_ROWS), write(tmp_path, "a.run", CONTRADICTED)
    quiet = write(tmp_path, "b.run", tuple(" ".join([*row.split()[:3], "0", *row.split()[4:]]) for row in CONTRADICTED))
    with pytest.warns(EvaluationWarning, match="1 of 2 queries have ranks"):
        report = exactk.evaluate(qrels, path, "mrr")
    assert report["mrr"] == exactk.evaluate(qrels, quiet, "mrr")["mrr"] == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("default", EvaluationWarning)
        loud = run("evaluate", qrels, path, "--format", "trec")
    assert loud.out == run("evaluate", qrels, quiet, "--format", "trec").out
    assert loud.err.count("1 of 2 queries have ranks") == 1


def test_f82_systems_and_shards_are_warned_of_once(tmp_path: Path, run: Run) -> None:
    qrels = write(tmp_path, "t.qrels", QRELS_ROWS)
    systems = {name: write(tmp_path, f"{name}.run", CONTRADICTED) for name in "ab"}
    with pytest.warns(EvaluationWarning) as caught:
        exactk.compare(qrels, systems, "mrr")
    (text,) = [str(one.message) for one in caught if "ranks" in str(one.message)]
    assert text.startswith(
        f"predictions: 2 of 4 queries have ranks that contradict their scores in {systems['a']} and 1 other"
    )
    assert {one.filename for one in caught} == {__file__}
    (tmp_path / "shards").mkdir()
    for name in ("1.run", "2.run"):
        write(tmp_path / "shards", name, tuple(row.replace("q", name[0] + "q") for row in CONTRADICTED))
    with warnings.catch_warnings():
        warnings.simplefilter("default", EvaluationWarning)
        for command in (
            ["compare", qrels, *systems.values()],
            ["evaluate", qrels, tmp_path / "shards", "--convention", "trec_eval_9"],
        ):
            assert run(*command).err.count("2 of 4 queries have ranks") == 1
