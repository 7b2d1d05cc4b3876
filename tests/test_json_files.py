"""JSON files: one object from user to items, as pytrec_eval, BEIR and ranx write it; and endings of other formats."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

import exactk

QRELS: dict[str, Any] = {"q1": {"d1": 1, "d7": 2}, "q2": {"d1": 1}}
RUN: dict[str, Any] = {"q1": {"d7": 9.5, "d2": 8.5}, "q2": {"d2": 7, "d1": -1e3}}
LISTS: dict[str, Any] = {"q1": ["d7", "d2"], "q2": ["d1"], "q3": None}
METRICS = ["ndcg@2", "recall@2", "num_relevant", "num_recommended"]
EXPECTED = "an object from user to items"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return name


@pytest.mark.parametrize("ending", [".json", ".JSON", ".json.gz"])
@pytest.mark.parametrize("predictions", [RUN, LISTS])
def test_a_file_is_what_the_mapping_is(ending: str, predictions: dict[str, Any]) -> None:
    qrels = write(f"qrels{ending}", json.dumps(QRELS))
    run = write(f"run{ending}", "\N{BYTE ORDER MARK}" + json.dumps(predictions, indent=2))
    expected = exactk.evaluate(QRELS, predictions, METRICS)
    assert exactk.evaluate(qrels, run, METRICS) == expected
    read = exactk.read(qrels, "truth"), exactk.read(run, "predictions")
    assert exactk.evaluate(*read, METRICS) == expected
    exclude = {"q1": ["d2"], "q2": []}
    excluding = exactk.evaluate(qrels, run, METRICS, exclude=write(f"train{ending}", json.dumps(exclude)))
    assert excluding == exactk.evaluate(QRELS, predictions, METRICS, exclude=exclude)
    assert excluding != expected


def test_ids_are_what_json_says() -> None:
    """Keys of objects are strings, and items in lists are of their own type."""
    lists = write("lists.json", '{"1": [7, 8], "2": [9]}')
    assert exactk.recall_at_k({"1": [7], "2": [7]}, lists, 2) == 0.5
    message = r"expected items of type str, as in the truth, found int.*text_ids="
    with pytest.raises(exactk.InputTypeError, match=message):
        exactk.recall_at_k(write("qrels.json", '{"1": {"7": 1}}'), lists, 2)
    as_text = exactk.read(lists, "predictions", text_ids=True)
    assert exactk.recall_at_k("qrels.json", as_text, 2) == 1
    message = r"a mapping from item to score in every row, found list at row 1 in"
    with pytest.raises(exactk.InputTypeError, match=message):
        exactk.as_predictions(write("mixed.json", '{"1": {"7": 0.5}, "2": [7]}'))


def test_nan_and_infinity_are_numbers_as_in_csv() -> None:
    path = write("run.json", json.dumps({"q1": {"d1": math.nan, "d2": math.inf, "d3": -math.inf}}))
    with pytest.raises(exactk.InputError, match="NaN"):
        exactk.evaluate({"q1": ["d1"]}, path, "recall@1")
    assert exactk.topk(path, 3, nan="last").items.tolist() == [["d2", "d3", "d1"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"q1": {"d1": 1, "d1": 1}}', "expected each key once in an object, found 'd1' twice in a.json"),
        ('{"q1": ["d1"], "q2": [], "q1": ["d2"]}', "expected each key once in an object, found 'q1' twice in a.json"),
        ('[["q1", "d1"]]', f"expected {EXPECTED}, found a list in a.json"),
        ("[]", f"expected {EXPECTED}, found a list in a.json"),
        ('[{"user": "q1", "item": "d1", "score": 1}, 7]', f"expected {EXPECTED}, found a list in a.json"),
        (
            '[{"user": "q1", "item": "d1", "score": 1}, {"user": 7}]',
            "a string in the field user, found 7 in object 2 in a.json",
        ),
        ('[{"user": "q1", "item": "d1"}]', "expected a score or rank column, because the order of rows has no meaning"),
        ('{"user": {"0": "q1"}, "item": {"0": "d1"}}', f"expected {EXPECTED}, found columns user, item in a.json; "),
        ('"q1"', f"expected {EXPECTED}, found a string in a.json"),
        ("null", f"expected {EXPECTED}, found null in a.json"),
        ("", "expected JSON, found no text in a.json"),
        ("{'q1': 1}", "expected JSON, found no key in double quotes at line 1 of a.json"),
        ('{"q1": {"d1": ' + "1" * 5000 + "}}", "expected JSON, found an integer with too many digits in a.json"),
        ('{"q1": [["d1", 0.5]]}', 'in a.json; write items with values as an object, {"user": {"item": 0.5}}, and '),
        ('{"q1":\n {"d1": 1,}}', "quotes at line 2 of a.json: ' {\"d1\": 1,}}'"),
        ('{"q1": {"d1": 1}}\n{"q2": {"d1": 1}}', "expected JSON, found more after its end at line 2 of a.json: "),
        ("[" * 200_000, "expected JSON, found too many lists or objects within each other in a.json"),
        ('{"q1": {"d1": 1e400}}', "expected numbers that float64 holds, found 1e400 in a.json"),
        ('{"q1": {"d1": 0.1e-400}}', "expected numbers that float64 holds, found 0.1e-400 in a.json"),
        ('{"q1": {"d1": 9007199254740993}}', "that float64 holds exactly, found int 9007199254740993 at row 0"),
        (b'{"\xe9": {"d1": 1}}', "expected UTF-8, found invalid bytes in a.json"),
        ('{"q1": {"d1": "high"}}', "expected numbers as scores, found str 'high' at row 0, position 0 in a.json"),
        ('{"q1": {"d1": true}}', "expected numbers as scores, found bool True at row 0, position 0 in a.json"),
        ('{"q1": [["d1", 0.5]]}', "found list ['d1', 0.5] at row 0, position 0 in a.json"),
        ('{"q1": [1.5]}', "at row 0, position 0 in a.json"),
        (r'{"q\ud83d": {"d1": 1}}', r"expected text that UTF-8 has, found half of a character: \ud83d in a.json"),
        (r'{"q1": ["\\\ude00"]}', r"found half of a character: \ude00 in a.json"),
        ('{"user": ["007", "7"], "item": ["a", "b"]}', "pandas.read_json('a.json', dtype=False) reads them"),
        ('{"user": 1, "item": 2}', "found columns user, item in a.json; "),
    ],
)
def test_f47_what_is_refused(content: str | bytes, message: str) -> None:
    with pytest.raises((exactk.InputError, exactk.InputTypeError)) as caught:
        exactk.read(write("a.json", content), "predictions")
    assert str(caught.value).startswith("predictions: expected ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "name", ["a.xlsx", "a.PKL", "a.7z", "a.run.lz4", "a.sqlite", "a.npy", "a.parquet.gz", "a.npz.gz"]
)
def test_endings_of_other_formats_are_refused(name: str) -> None:
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate(QRELS, write(name, "q1 Q0 d1 1 0.5 t\n"), "mrr")
    ending = ".".join(["", *name.lower().split(".")[2 if "run" in name else 1 :]])
    assert f"found the ending {ending} in {name}" in str(caught.value)
    assert ".csv, .tsv, .json, .jsonl, .ndjson, .inter, each also with .gz or .bz2 or .xz or .zst; .parquet," in str(
        caught.value
    )


@pytest.mark.parametrize("name", ["a.txt", "a.dat", "a.txt.gz"])
def test_other_endings_are_trec_text_and_say_so(name: str) -> None:
    path = write(name, "q1 Q0 d1 1 0.5 t\n")
    assert exactk.evaluate(QRELS, path, "mrr")["mrr"] == 0.5
    hint = "; the ending selects the format: .csv, .tsv, .json,"
    with pytest.raises(exactk.InputError, match=f"line 1 of {name}: 'nothing of this'{hint}"):
        exactk.evaluate(QRELS, write(name, "nothing of this\nis rows\n"), "mrr")
    for other, content in ((name, "q1 Q0 d1 1 0.5 t\nq1 Q0\n"), ("a.run", "nothing of this\nis rows\n")):
        with pytest.raises(exactk.InputError) as caught:
            exactk.evaluate(QRELS, write(other, content), "mrr")
        assert hint not in str(caught.value)


def test_escapes_of_whole_characters_are_text() -> None:
    path = write("run.json", r'{"\ud83d\ude00": {"a\\ud83d": 1}}')
    assert exactk.evaluate({"\U0001f600": [r"a\ud83d"]}, path, "P@1")["P@1"] == 1
    assert exactk.topk(path, 1).items.tolist() == [[r"a\ud83d"]]


@pytest.mark.parametrize("count", [1, 40_000])  # as the standard library reads them, and as pyarrow does
@pytest.mark.parametrize(("role", "name"), [("predictions", "scores"), ("predictions", "Rank"), ("truth", "rating")])
def test_values_that_the_first_line_lacks_are_refused_in_a_later_one(count: int, role: Any, name: str) -> None:
    """Else they would be left out, and lists would be in another order."""
    rows: list[dict[str, Any]] = [{"user": user, "items": [1, 2], "note": "x" * 16} for user in range(count)]
    last = {"user": -1, "items": [1, 2], name: [0.5, 1.0]}
    path = write("rows.jsonl", "".join(f"{json.dumps(row)}\n" for row in [*rows, last]))
    message = f"expected no field {name}, as in the first line, found one at line {count + 1} of rows.jsonl"
    with pytest.raises(exactk.InputError, match=message):
        exactk.read(path, role)
    fields = [{"user": 0, "items": [1], "meta": {name: 1}}, *rows[1:], {"user": -1, "items": [1, 2], "other": 1}]
    assert exactk.read(write("rows.jsonl", "".join(f"{json.dumps(row)}\n" for row in fields)), role)
