"""Each run of `make bench` adds its main figures to the history of the machine, which a chart shows."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from benchmarks import history, results
from benchmarks.machine import run_description
from benchmarks.results import Table, share, times

MACHINE = {"processor": "A <b>", "cores": 2}
FILE_NAME = "a-2-cores.json"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(history, "FOLDER", tmp_path / "history")
    return tmp_path / "history"


def lists_table(milliseconds: float) -> Table:
    columns = ["workload", "exactk, ms", "ns per id", "times the floor", "ranx"]
    return Table("Lists", columns, [["lists", milliseconds, 2.94123, 25.3, times(773, 123)]])


def record(commit: str, *tables: Table) -> list[dict[str, Any]]:
    """Record a run; return what the file holds then."""
    history.record(FILE_NAME, MACHINE, {"commit": commit, "committed": f"date of {commit}"}, tables)
    runs: list[dict[str, Any]] = json.loads((history.FOLDER / FILE_NAME).read_text(encoding="utf-8"))["runs"]
    return runs


def test_figures_are_those_of_workloads() -> None:
    scores = Table(
        "Scores", ["workload", "exactk, ms", "share of reading"], [["dense", 12.34567, share(0.77)], ["cut", 3, None]]
    )
    others = Table("Parts", ["figure", "measured"], [["import numpy", 71.9]])
    cuts = Table("Cuts", ["dense", "exactk, ms"], [["cut at 1", 12]])
    assert history.main_figures([lists_table(5.87), scores, others, cuts]) == {
        "lists": {"exactk, ms": 5.87, "ns per id": 2.941, "times the floor": 25.3},
        "dense": {"exactk, ms": 12.35, "share of reading": 0.77},
        "cut": {"exactk, ms": 3},
    }


def test_parts_of_one_commit_are_one_run() -> None:
    scores = Table("Scores", ["workload", "exactk, ms"], [["dense", 12]])
    record("one", lists_table(5))
    record("two", lists_table(6))
    runs = record("two", scores)
    assert [(run["commit"], run["date"]) for run in runs] == [("one", "date of one"), ("two", "date of two")]
    assert [list(run["figures"]) for run in runs] == [["lists"], ["lists", "dense"]]
    runs = record("two", lists_table(7))
    assert [run["figures"]["lists"]["exactk, ms"] for run in runs] == [5, 7]


def test_the_last_hundred_runs_are_kept(folder: Path) -> None:
    for number in range(103):
        runs = record(str(number), lists_table(5))
    assert [run["commit"] for run in runs] == [str(number) for number in range(3, 103)]
    assert len((folder / FILE_NAME).read_text(encoding="utf-8").splitlines()) == 100 + 5


def test_publishing_records(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    run = run_description(0.1)
    results.publish("lists", MACHINE, run, [], [lists_table(5)])
    data = json.loads((folder / "a-b-2-cores.json").read_text(encoding="utf-8"))
    assert data["machine"] == MACHINE
    assert [(one["commit"], one["date"]) for one in data["runs"]] == [(run["commit"], run["committed"])]


def test_the_chart_has_a_line_per_workload() -> None:
    """A run at equal distances, powers of ten at others; a workload that a run lacks has no dot there."""
    columns = ["workload", "exactk, ms"]
    record("one", Table("Lists", columns, [["fast", 1], ["slow", 100]]))
    record("two", Table("Lists", columns, [["slow", 101]]))
    record("three", Table("Lists", columns, [["fast", 10], ["slow", 102], ["other", 5]]))
    root = ET.fromstring(history.history_chart(["fast", "slow"]))  # noqa: S314 - our own
    lines = {line.get("stroke"): line.get("points") for line in root.iter(f"{SVG}polyline")}
    axes = history.Axes(3, 0, 3)
    assert lines == {
        "#1f6feb": f"60.0,300.0 560.0,{axes.y(10):.1f}",
        "#d1242f": " ".join(f"{x:.1f},{axes.y(y):.1f}" for x, y in ((60, 100), (310, 101), (560, 102))),
    }
    assert [axes.y(1), axes.y(1000)] == [300, 20]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"1 ms", "1000 ms", "one", "date of three", "fast 10 ms", "slow 102 ms"} <= set(texts)
    assert root.findtext(f"{SVG}title") == "Milliseconds per evaluation by commit, logarithmic: A <b>"


def publish(processor: str, date: str, milliseconds: float) -> None:
    """Publish a run of all that the README shows."""
    run = run_description(0.1) | {"date": date, "committed": date, "commit": processor}
    for part in {one.part: one for one in results.HIGHLIGHTS}:
        tables = [
            Table(
                one.workload,
                ["workload", "exactk, ms", one.nearest, one.library],
                [[one.workload, milliseconds, times(7, 2), times(9, 3)]],
            )
            for one in results.HIGHLIGHTS
            if one.part == part
        ]
        results.publish(part, MACHINE | {"processor": processor}, run, [], tables)


def test_the_machine_that_was_measured_last_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the README and in its charts, whatever the names of the files."""
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    publish("A", "2026-01-02", 10)
    publish("B", "2026-01-03", 20)
    publish("C", "2026-01-01", 30)
    rows = results.five_rows().splitlines()[2:]
    assert [row.split(" | ")[1] for row in rows] == ["20"] * len(results.HIGHLIGHTS)
    assert ">exactk 20<" in results.chart()
    assert ": B</title>" in results.chart_of_runs()
