"""The options --train and --catalogue: the items that could be recommended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import exactk
from commands import Run

SYSTEM = "user,item,score\nann,film,1\nann,song,0.5\nbob,play,1\n"
FILES = {
    "truth.csv": "user,item\nann,film\nbob,song\n",
    "system.csv": SYSTEM,
    "other.csv": SYSTEM,
    "train.csv": "user,item\neve,film\neve,film\nsam,song\n",
    "items.csv": "item,title\nplay,A\nfilm,B\nsong,C\n",
    "items.json": '["song", "film", "play"]',
    "odd.csv": "sku\nfilm\n",
}
METRICS = ["-m", "ndcg@2", "-m", "novelty@2"]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


def expected_report() -> exactk.Report:
    items = exactk.Items(["film", "song", "play"], train="train.csv")
    return exactk.evaluate("truth.csv", "system.csv", ["ndcg@2", "novelty@2"], items=items)


@pytest.mark.parametrize("catalogue", ["items.csv", "items.json"])
def test_a_catalogue_and_training_data(run: Run, catalogue: str) -> None:
    result = run("evaluate", "truth.csv", "system.csv", *METRICS, "--train", "train.csv", "--catalogue", catalogue)
    assert (result.code, result.err) == (0, "")
    assert result.out == f"{expected_report()!r}\n"
    assert "catalogue: 3 items" in result.out


def test_the_catalogue_is_that_of_train_by_default(run: Run) -> None:
    options = ("--train", "train.csv", "--set", "foreign_items=count", "--format", "json")
    result = run("evaluate", "truth.csv", "system.csv", *METRICS, *options)
    report = exactk.Report.from_json(result.out)
    assert report.state.catalogue is not None
    assert (report.state.catalogue.size, report.state.catalogue.source) == (2, "train")
    assert [one["argument"] for one in json.loads(result.out)["inputs"]] == ["truth", "predictions", "train"]


def test_systems_are_compared_with_the_same_items(run: Run) -> None:
    options = ("--train", "train.csv", "--catalogue", "items.csv")
    result = run("compare", "truth.csv", "a=system.csv", "b=other.csv", *METRICS, *options, "--format", "json")
    assert result.code == 0
    comparison = exactk.Comparison.from_json(result.out)
    assert comparison["novelty@2"] == dict.fromkeys("ab", expected_report()["novelty@2"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "items: expected novelty to have a catalogue, found none; --train FILE names the training data"),
        (["--catalogue", "items.csv"], "the popularity of items, found none; --train FILE names the training data"),
        (["--train", "train.csv"], "found item 'play' outside it"),
        (["--train", "items.csv"], "train: expected a column for the user"),
        (["--train", "odd.csv"], "train: expected a column for the user, such as user, userid, uid, found the columns sku"),
        (["--train", "none.csv"], "train: expected a readable file"),
        (["--train", "train.csv", "--catalogue", "odd.csv"], "name it, for example with --item sku"),
        (["--train", "train.csv", "--catalogue", "train.csv"], "catalogue: expected distinct items, found item 'film' again"),
        (["--train", "train.csv", "--catalogue", "-"], "catalogue: expected a file of columns"),
    ],
)  # fmt: skip
def test_faults_name_the_option(run: Run, options: list[str], message: str) -> None:
    result = run("evaluate", "truth.csv", "system.csv", *METRICS, *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
