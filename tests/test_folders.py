"""Folders and patterns in Python: the parts of one system's predictions, as the command line reads them."""

from __future__ import annotations

import glob
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import exactk
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Run

TRUTH = {"ann": ["tea"], "bob": ["milk"], "cyd": ["rice"]}
ROWS = [("ann", "tea", 9.0), ("ann", "milk", 8.0), ("bob", "tea", 7.0), ("bob", "milk", 6.0), ("cyd", "tea", 3.0)]
FORMATS: dict[str, Callable[[tuple[str, str, float]], str]] = {
    "csv": lambda row: f"{row[0]},{row[1]},{row[2]}",
    "jsonl": lambda row: json.dumps(dict(zip(("user", "item", "score"), row, strict=True))),
    "run": lambda row: f"{row[0]} Q0 {row[1]} {10 - row[2]:.0f} {row[2]} t",
}


def write_parts(folder: Path, ending: str) -> None:
    """Write the rows in two files, of which both have rows of one user, beside what Spark leaves."""
    folder.mkdir()
    for at, rows in enumerate((ROWS[:3], ROWS[3:])):
        header = ["user,item,score"] * (ending == "csv")
        (folder / f"part-{at}.{ending}").write_text("\n".join([*header, *map(FORMATS[ending], rows), ""]))
        (folder / f".part-{at}.{ending}.crc").write_bytes(b"\0")
        (folder / f"part-{at}.{ending}.crc").write_bytes(b"\0")
    (folder / "_SUCCESS").touch()
    (folder / "part-00000-of-nothing.csv").touch()


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("large", [False, True])
def test_parts_are_read_as_one_file_wherever_predictions_are_paths(
    ending: str, large: bool, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exactk._files.source._LARGE", 0 if large else 1 << 28)
    write_parts(folder := tmp_path / "als", ending)
    (whole := tmp_path / f"whole.{ending}").write_text(
        "\n".join(["user,item,score"] * (ending == "csv") + [FORMATS[ending](row) for row in ROWS])
    )
    (tmp_path / "truth.json").write_text(json.dumps(TRUTH))
    expected = exactk.evaluate(TRUTH, whole, ["mrr", "recall@1"])
    for text in (folder, f"{folder}/*", f"{folder}/part-?.{ending}", f"{tmp_path}/**/part-*.{ending}"):
        predictions: Any = text
        assert exactk.evaluate(TRUTH, predictions, ["mrr", "recall@1"]) == expected
        assert exactk.evaluate(TRUTH, exactk.read(predictions, "predictions"), ["mrr", "recall@1"]) == expected
        by_name = exactk.compare(TRUTH, {"als": predictions, "whole": whole}, "mrr")
        assert by_name["mrr"]["als"] == expected["mrr"]
        result = run("evaluate", tmp_path / "truth.json", predictions, "-m", "mrr", "--format", "json")
        assert json.loads(result.out)["reports"][0]["values"]["mrr"] == expected["mrr"]


def test_parts_have_the_columns_that_are_named(tmp_path: Path) -> None:
    for at, row in enumerate(("ann,tea,1,9", "ann,milk,2,1")):
        (tmp_path / f"{at}.csv").write_text(f"who,what,price,likes\n{row}\n")
        (tmp_path / f"{at}.txt").write_text(f"{row}\n")
    truth = {"ann": ["milk"]}
    names: dict[str, Any] = {"user": "who", "item": "what", "score": "price"}
    assert exactk.evaluate(truth, f"{tmp_path}/*.csv", "mrr", **names)["mrr"] == 1.0
    assert exactk.evaluate(truth, exactk.read(f"{tmp_path}/*.csv", "predictions", **names), "mrr")["mrr"] == 1.0
    by_position = exactk.read(f"{tmp_path}/*.txt", "predictions", columns=["user", "item", "-", "score"])
    assert exactk.evaluate(truth, by_position, "mrr")["mrr"] == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("none/*.csv", "expected a pattern that matches files, found 'none/.*', which matches none"),
        ("empty", "expected a directory with files that have rows, found 'empty', which has none"),
        ("nested", "expected files, found the directory 'nested/a'.*; a quoted pattern such as 'nested/a/"),
        ("mixed", "expected files of one format, found CSV in mixed/1.csv and JSON lines in mixed/2.jsonl"),
        ("other", "expected files with the same columns, found user, item, score in"),
        ("a[b].csv", "expected either a path or a pattern"),
    ],
)
def test_what_names_no_parts_of_one_form_is_refused(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "nested/a", "mixed", "other"):
        Path(folder).mkdir(parents=True)
    for name in ("nested/a/1.csv", "mixed/1.csv", "other/1.csv", "a[b].csv", "ab.csv"):
        Path(name).write_text("user,item,score\nann,tea,1\n")
    Path("mixed/2.jsonl").write_text('{"user": "ann", "item": "milk", "score": 1}\n')
    Path("other/2.csv").write_text("user,item,rank\nann,milk,1\n")
    for read in (
        lambda: exactk.read(text, "predictions"),
        lambda: exactk.evaluate(TRUTH, text, "mrr"),
        lambda: exactk.compare(TRUTH, {"als": text, "other": [["tea"]]}, "mrr"),
    ):
        with pytest.raises(exactk.InputError, match=f"predictions.*: {message}"):
            read()


@pytest.mark.parametrize("role", ["truth", "exclude"])
def test_only_predictions_have_parts(role: Any, tmp_path: Path) -> None:
    with pytest.raises(exactk.InputError, match="found a directory"):
        exactk.read(tmp_path, role)


@pytest.mark.parametrize(
    ("ending", "header", "row", "options"),
    [
        ("json", "", '{{"user": "{}", "item": "{}", "score": {}}}', {}),
        ("txt", "", "{},{},{}", {}),
        ("txt", "", "{};{};{}", {}),
        ("csv", "user;item;score\n", "{};{};{}", {}),
        ("csv", "user;item;score\n", "{};{};{},5", {"separator": ";"}),
        ("csv", "user;item;score\n", "{};{};{},5", {}),
    ],
)
@pytest.mark.parametrize("pattern", ["", "/part*"])
def test_the_line_to_write_reads_all_parts(
    ending: str, header: str, row: str, options: Any, pattern: str, tmp_path: Path
) -> None:
    pandas = pytest.importorskip("pandas")
    (folder := tmp_path / "[als]").mkdir()
    for at, rows in enumerate((ROWS[:3], ROWS[3:])):
        text = "".join(f"{row.format(user, item, int(score))}\n" for user, item, score in rows)
        (folder / f"part-{at}.{ending}").write_text(header + text)
    (folder / "_SUCCESS").touch()
    path = f"{glob.escape(str(folder))}{pattern}" if pattern else str(folder)
    with pytest.raises(exactk.InputError) as caught:
        exactk.read(path, "predictions", **options)
    line = next(part for part in caught.value.fault.hint if isinstance(part, Option))
    assert str(line).startswith("predictions=")
    predictions = eval(str(line).removeprefix("predictions="), {"exactk": exactk, "pandas": pandas, "glob": glob})  # noqa: S307 - our own message
    expected = exactk.evaluate(
        TRUTH, {user: {item: score for name, item, score in ROWS if name == user} for user in TRUTH}, "mrr"
    )
    assert exactk.evaluate(TRUTH, predictions, "mrr") == expected
