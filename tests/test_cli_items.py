"""The options for what metrics of the recommended items read: training data, a catalogue, its columns, base predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import exactk
from commands import Run, assert_refused, write_files

SYSTEM = "user,item,score\nann,film,1\nann,song,0.5\nbob,play,1\n"
FILES = {
    "truth.csv": "user,item\nann,film\nbob,song\n",
    "system.csv": SYSTEM,
    "other.csv": SYSTEM,
    "train.csv": "user,item\neve,film\neve,film\nsam,song\n",
    "items.csv": "item,title,price,loud,long\nplay,A,2.5,0,1\nfilm,B,1,1,0\nsong,A,4,1,1\n",
    "items.json": '["song", "film", "play"]',
    "odd.csv": "sku\nfilm\n",
}
METRICS = ["-m", "ndcg@2", "-m", "novelty@2"]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(FILES)


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
    assert_refused(run("evaluate", "truth.csv", "system.csv", *METRICS, *options), message)


COLUMNS = ["--catalogue", "items.csv", "--item-group", "title", "--item-value", "price"]
FEATURES = ["--item-feature", "loud", "--item-feature", "long"]
ITEMS = exactk.Items(
    ["play", "film", "song"],
    train={"eve": ["film"], "sam": ["song"]},
    features=[[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]],
    item_groups=["A", "B", "A"],
    values=[2.5, 1, 4],
)


@pytest.mark.parametrize("metric", ["exposure@2", "recall@2(weight=values)", "ild@2", "ild(distance=jaccard)"])
def test_columns_of_the_catalogue_are_groups_values_and_features(run: Run, metric: str) -> None:
    options = ("--train", "train.csv", *COLUMNS, *FEATURES, "--format", "json")
    report = exactk.Report.from_json(run("evaluate", "truth.csv", "system.csv", "-m", metric, *options).out)
    expected = exactk.evaluate("truth.csv", "system.csv", metric, items=ITEMS)
    assert report[metric] == expected[metric]
    assert report.by_item_group == expected.by_item_group
    assert expected[metric] > 0 or len(expected.by_item_group) == 2


def test_values_by_group_of_relevant_items(run: Run) -> None:
    metrics, options = ["recall@2(item_group=every)", "recall@2(item_group=B)"], (*COLUMNS, "--format", "json")
    asked = [part for metric in metrics for part in ("-m", metric)]
    report = exactk.Report.from_json(run("evaluate", "truth.csv", "system.csv", *asked, *options).out)
    expected = exactk.evaluate("truth.csv", "system.csv", metrics, items=ITEMS)
    assert dict(report) == dict(expected)
    assert report.by_item_group["B"]["recall@2"] == 1.0
    shown = run("evaluate", "truth.csv", "system.csv", "-m", "recall@2(item_group=every)")
    assert_refused(shown, "--catalogue FILE --item-group NAME names a column of groups")


@pytest.mark.parametrize("rows", [{"tags": [["a", "b"], ["a"], ["c"]]}, {"tags": [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]}])
def test_a_column_of_lists_has_tags_or_vectors(run: Run, rows: dict[str, list[list[object]]]) -> None:
    parquet.write_table(pa.table({"item": ["play", "film", "song"], **rows}), "items.parquet")
    options = ("--catalogue", "items.parquet", "--item-feature", "tags", "--format", "json")
    metric = "ild@2(distance=jaccard)" if isinstance(rows["tags"][0][0], str) else "ild@2(distance=euclidean)"
    result = run("evaluate", "truth.csv", "system.csv", "-m", metric, *options)
    items = exactk.Items(["play", "film", "song"], features=rows["tags"])
    value = exactk.Report.from_json(result.out)[metric]
    assert value == exactk.evaluate("truth.csv", "system.csv", metric, items=items)[metric] > 0


def test_base_predictions(run: Run) -> None:
    Path("base.csv").write_text("user,item,score\nbob,film,1\nann,film,1\n")
    options = ("--base-predictions", "base.csv", "--format", "json")
    result = run("evaluate", "truth.csv", "system.csv", "-m", "unexpectedness@2", *options)
    report = exactk.Report.from_json(result.out)
    assert report["unexpectedness@2"] == 0.75  # song of two items, play of one
    assert [one["argument"] for one in json.loads(result.out)["inputs"]] == ["truth", "predictions", "base_predictions"]


@pytest.mark.parametrize(
    ("command", "metric", "option"),
    [
        ("evaluate", "unexpectedness@2", "--base-predictions"),
        ("evaluate", "mrr", "--candidates"),
        ("evaluate", "mrr", "--exclude"),
        ("evaluate", "novelty@2", "--train"),
        ("evaluate", "mrr", "--weights"),
        ("report", "mrr", "--item-names"),
    ],
)
def test_columns_may_be_named_beside_every_file(run: Run, command: str, metric: str, option: str) -> None:
    """As if they had usual names."""
    files = {
        "lists": "user,item,score\nann,film,2\nann,song,1\nbob,play,1\n",
        "weights": "user,weight\nann,1\nbob,2\n",
        "item-names": "item,name\nfilm,The Film\n",
        "relevant": "user,item\nann,film\nbob,song\n",
        "others": "user,item\nann,film\nbob,play\nbob,song\n",
    }
    for name, text in files.items():
        Path(f"{name}.csv").write_text(text)
        Path(f"{name}_named.csv").write_text(text.replace("user", "who").replace("item", "sku"))
    others = option.removeprefix("--") if option.removeprefix("--") in files else "others"
    if option == "--base-predictions":
        others = "lists"
    results = []
    for suffix, names in (("", []), ("_named", ["--user", "who", "--item", "sku"])):
        paths = [f"relevant{suffix}.csv", f"lists{suffix}.csv", option, f"{others}{suffix}.csv"]
        output = ["-o", f"page{suffix}.html"] if command == "report" else []
        results.append(run(command, *paths, "-m", metric, *names, *output))
    assert [result.code for result in results] == [0, 0], results
    assert results[0].out.replace("_named", "") == results[1].out.replace("_named", "")


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("exposure", [], "--catalogue FILE --item-group NAME names a column of groups"),
        ("recall@2(weight=values)", [], "--catalogue FILE --item-value NAME names a column of values"),
        ("ild@2", [], "--catalogue FILE --item-feature NAME names a column of features"),
        ("unexpectedness@2", [], "--base-predictions FILE names them"),
        ("ild@2", ["--item-group", "title"], "--item-group: expected --catalogue FILE, which has the column, found none"),
        ("ild@2", ["--catalogue", "items.json", "--item-value", "price"], "which has price, found JSON"),
        ("ild@2", ["--catalogue", "items.csv", "--item-value", "cost"], "expected the column cost, found the columns item"),
        ("ild@2", ["--catalogue", "items.csv", "--item-feature", "title"], "expected a number in the column title"),
        ("ild@2", ["--catalogue", "items.csv", "--item-group", "item"], "'item' for two of them"),
        ("unexpectedness@2", ["--base-predictions", "none.csv"], "base_predictions: expected a readable file"),
    ],
)  # fmt: skip
def test_faults_of_columns_name_the_option(run: Run, metric: str, options: list[str], message: str) -> None:
    assert_refused(run("evaluate", "truth.csv", "system.csv", "-m", metric, "--train", "train.csv", *options), message)


def test_lists_stand_beside_no_other_features(run: Run) -> None:
    table = pa.table({"item": ["film", "song"], "tags": [["a"], ["b"]], "size": [1.0, 2.0]})
    parquet.write_table(table, "items.parquet")
    options = ("--catalogue", "items.parquet", "--item-feature", "size", "--item-feature", "tags")
    result = run("evaluate", "truth.csv", "system.csv", "-m", "ild@2", *options)
    assert "--item-feature: expected columns of numbers, or one column of lists" in result.err
