"""The tables, texts, files and JSON that reports and comparisons are exported to."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import posixpath
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import exactk
from exactk._plan.metrics import metrics as metric_registry
from exactk._plan.values import counts_ranks

METRICS = ["P@[1,3]", "mrr", "f1@2(average=of_means)"]
NAMES = ["P@1", "P@3", "mrr", "f1@2(average=of_means)"]
TRUTH = [[1], [2], [3], []]
LISTS = [[1, 2], [1, 2], [2, 1, 3], [3]]
SYSTEMS = {"one": LISTS, "other": [[2], [2], [1], [1]]}
AGES = ["30-39", "5-9", "30-39", "5-9"]
TABLES = ["values", "per_user", "by_group"]
CONVERSIONS = ["to_pandas", "to_polars", "to_arrow"]


@pytest.fixture
def report() -> exactk.Report:
    return exactk.evaluate(TRUTH, LISTS, METRICS, groups=AGES, per_user=True)


@pytest.fixture
def comparison() -> exactk.Comparison:
    return exactk.compare(TRUTH, SYSTEMS, METRICS, groups=AGES, per_user=True)


def cells_of(frame: Any) -> dict[str, list[Any]]:
    """Return the columns of a frame of any library, None for what is missing."""
    if isinstance(frame, pd.DataFrame):
        return {str(name): [None if cell is pd.NA else cell for cell in frame[name].tolist()] for name in frame}
    columns: dict[str, list[Any]] = (frame.to_arrow() if isinstance(frame, pl.DataFrame) else frame).to_pydict()
    return columns


@pytest.mark.parametrize("convert", CONVERSIONS)
def test_long_tables(report: exactk.Report, convert: str) -> None:
    values = cells_of(getattr(report, convert)())
    assert list(values) == ["metric", "k", "value", "standard_deviation", "evaluated", "skipped"]
    assert values["metric"] == ["P", "P", "mrr", "f1(average=of_means)"]
    assert values["k"] == [1, 3, None, 2]
    assert values["value"] == list(report.values())
    np.testing.assert_equal(values["standard_deviation"], list(report.standard_deviation.values()))
    assert values["evaluated"] == [3] * 4
    assert values["skipped"] == [1] * 4
    users = cells_of(getattr(report, convert)("per_user", wide=False))
    assert users["user"] == [user for user in range(4) for _ in NAMES]
    assert users["metric"] == values["metric"] * 4
    assert users["k"] == values["k"] * 4
    np.testing.assert_array_equal(np.reshape(users["value"], (4, 4)).T, list(report.per_user.values()))


@pytest.mark.parametrize("convert", CONVERSIONS)
def test_wide_tables(report: exactk.Report, comparison: exactk.Comparison, convert: str) -> None:
    assert cells_of(getattr(report, convert)(wide=True)) == {name: [value] for name, value in report.items()}
    users = cells_of(getattr(report, convert)("per_user"))
    assert list(users) == ["user", *NAMES] == list(cells_of(getattr(report, convert)("per_user", wide=True)))
    for found, column, rows in (
        (getattr(report, convert)("by_group", wide=True), "group", report.by_group),
        (getattr(comparison, convert)(wide=True), "system", comparison.reports),
    ):
        assert cells_of(found) == {column: [*rows]} | {name: [row[name] for row in rows.values()] for name in NAMES}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("convert", CONVERSIONS)
def test_systems_stand_one_below_the_other(comparison: exactk.Comparison, convert: str, table: Any) -> None:
    reports = list(comparison.reports.values())
    one, other = ({name: list(column) for name, column in report.columns(table).items()} for report in reports)
    size = len(one["metric" if "metric" in one else "user"])
    expected = {"system": ["one"] * size + ["other"] * size} | {name: [*one[name], *other[name]] for name in one}
    cells = cells_of(getattr(comparison, convert)(table))
    assert list(cells) == list(expected)
    np.testing.assert_equal(cells, expected)
    np.testing.assert_equal(cells_of(getattr(reports[0], convert)(table)), one)


@pytest.mark.parametrize("table", TABLES)
def test_csv_has_numbers_in_full(report: exactk.Report, comparison: exactk.Comparison, table: Any) -> None:
    for result in (report, comparison):
        header, *rows = csv.reader(io.StringIO(result.to_csv(table=table)))
        columns = {name: np.array(column).tolist() for name, column in result.columns(table).items()}
        assert header == list(columns)
        for name, *cells in zip(header, *rows, strict=True):
            if name == "k":
                assert cells == ["" if cutoff is None else str(cutoff) for cutoff in columns[name]]
                continue
            values = [type(value)(text) for value, text in zip(columns[name], cells, strict=True)]
            np.testing.assert_array_equal(values, columns[name])


def test_cutoffs_are_integers_whether_all_values_have_one_or_none() -> None:
    for metric in ("P@1", "mrr", ["P@1", "mrr"]):
        report = exactk.evaluate(TRUTH, LISTS, metric)
        assert str(report.to_pandas().dtypes["k"]) == "Int64"
        assert report.to_polars().schema["k"] == pl.Int64
        assert report.to_arrow().schema.field("k").type == pa.int64()


def test_groups_have_the_statistics_of_their_users(report: exactk.Report) -> None:
    """Each row is what the group's users alone give."""
    frame = report.to_pandas("by_group")
    assert list(frame) == ["group", "metric", "k", "value", "standard_deviation", "evaluated"]
    for label in ("30-39", "5-9"):
        rows = [row for row, age in enumerate(AGES) if age == label]
        alone = exactk.evaluate([TRUTH[row] for row in rows], [LISTS[row] for row in rows], METRICS).to_pandas()
        of_group = frame[frame["group"] == label].drop(columns="group").reset_index(drop=True)
        pd.testing.assert_frame_equal(of_group, alone.drop(columns="skipped"), rtol=0, atol=0)


def test_a_table_of_groups_needs_groups() -> None:
    for wide in (True, False, None):
        with pytest.raises(exactk.InputError, match="table: expected groups, which groups= names, found none"):
            exactk.evaluate(TRUTH, LISTS, METRICS).to_pandas("by_group", wide=wide)


def test_a_table_of_no_group_is_empty() -> None:
    nobody: list[list[int]] = []
    with pytest.warns(exactk.EvaluationWarning, match="no user"):
        report = exactk.evaluate(nobody, nobody, "P@1", groups=[])
    assert report.to_pandas("by_group").columns.tolist() == report.to_polars("by_group").columns
    assert len(report.to_arrow("by_group")) == 0
    assert "group" not in repr(report)


# Ordered categories.

ORDER = ["5-9", "10-29", "30-39"]
CATEGORICAL = pd.Categorical(AGES, ORDER, ordered=True)
ORDERED: dict[str, Any] = {
    "pandas": pd.Series(CATEGORICAL),
    "Polars": pl.Series(AGES, dtype=pl.Enum(ORDER)),
    "Arrow": pa.DictionaryArray.from_arrays(pa.array([2, 0, 2, 0]), pa.array(ORDER), ordered=True),
    "Arrow, chunks": pa.chunked_array(
        [pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(ORDER), ordered=True) for codes in ([2, 0], [2, 0])]
    ),
}
KEYED: dict[str, Any] = {
    "pandas by index": pd.Series(CATEGORICAL, index=range(4)).rename_axis("user"),
    "pandas": pd.DataFrame({"user": range(4), "age": CATEGORICAL}),
    "Polars": pl.DataFrame({"user": range(4), "age": ORDERED["Polars"]}),
    "Polars, lazy": pl.DataFrame({"user": range(4), "age": ORDERED["Polars"]}).lazy(),
    "Arrow": pa.table({"user": range(4), "age": ORDERED["Arrow"]}),
}


@pytest.mark.parametrize("library", [*ORDERED, *(f"keyed {name}" for name in KEYED)])
def test_groups_stand_in_the_order_of_their_categories(library: str) -> None:
    groups = ORDERED.get(library)
    truth: Any = TRUTH
    lists: Any = LISTS
    if groups is None:
        groups = KEYED[library.removeprefix("keyed ")]
        truth, lists = ({user: rows[user] for user in range(4)} for rows in (TRUTH, LISTS))
    report = exactk.evaluate(truth, lists, "P@1", groups=groups)
    plain = exactk.evaluate(TRUTH, LISTS, "P@1", groups=AGES)
    assert list(report.by_group) == ["5-9", "30-39"]
    assert list(plain.by_group) == ["30-39", "5-9"]
    assert {label: dict(values) for label, values in report.by_group.items()} == plain.by_group
    assert [line.split()[0] for line in repr(report).splitlines()[3:5]] == ["5-9", "30-39"]
    frame = report.to_pandas("by_group")["group"]
    assert frame.tolist() == ["5-9", "30-39"]
    assert frame.cat.ordered
    assert frame.cat.categories.tolist() == ORDER
    assert report.to_polars("by_group").schema["group"] == pl.Enum(ORDER)
    arrow = report.to_arrow("by_group").schema.field("group").type
    assert arrow.ordered
    assert exactk.Report.from_json(report.to_json()) == report


def test_integer_categories_have_an_order_too() -> None:
    groups = pd.Series(pd.Categorical([1, 3, 1, 3], [3, 2, 1], ordered=True))
    report = exactk.evaluate(TRUTH, LISTS, "P@1", groups=groups)
    assert list(report.by_group) == [3, 1]
    assert cells_of(report.to_polars("by_group"))["group"] == cells_of(report.to_arrow("by_group"))["group"] == [3, 1]


def test_unordered_categories_are_sorted_as_labels_are() -> None:
    for groups in (pd.Series(pd.Categorical(AGES, ORDER)), pl.Series(AGES, dtype=pl.Categorical)):
        report = exactk.evaluate(TRUTH, LISTS, "P@1", groups=groups)
        assert list(report.by_group) == ["30-39", "5-9"]
        assert report.state.group_order is None


def test_the_hint_for_intervals_keeps_their_order() -> None:
    groups = pd.cut(pd.Series([35, 7, 39, 8]), [0, 9, 29, 39])
    with pytest.raises(exactk.InputTypeError, match="integers or strings") as caught:
        exactk.evaluate(TRUTH, LISTS, "P@1", groups=groups)
    assert str(caught.value).endswith("; groups=groups.cat.rename_categories(str) converts them to strings")
    report = exactk.evaluate(TRUTH, LISTS, "P@1", groups=groups.cat.rename_categories(str))
    assert list(report.by_group) == ["(0, 9]", "(29, 39]"]


def test_merged_groups_keep_a_common_order() -> None:
    def part(label: str, order: list[str] | None) -> exactk.Report:
        groups = [label] if order is None else pd.Series(pd.Categorical([label], order, ordered=True))
        return exactk.evaluate([[1]], [[1]], "P@1", groups=groups)

    common = [part(label, ORDER) for label in ("30-39", "5-9", "10-29")]
    others = [part("5-9", None), part("5-9", ORDER[::-1])]
    assert list(exactk.merge(common).by_group) == list(exactk.merge(common[::-1]).by_group) == ORDER
    for other in others:
        for parts in ([*common, other], [other, *common], [common[0], other, *common[1:]]):
            assert list(exactk.merge(parts).by_group) == ["10-29", "30-39", "5-9"]


@pytest.mark.parametrize(
    "order", [["5-9"], [], ["5-9", "5-9", "30-39"], ["5-9", "30-39", 3], "5-9", [None], {"5-9": 1}]
)
def test_orders_without_some_groups_are_refused(order: Any) -> None:
    data = exactk.evaluate(TRUTH, LISTS, "P@1", groups=ORDERED["pandas"]).state.to_dict()
    assert exactk.State.from_dict(data).group_order == tuple(ORDER)
    with pytest.raises(exactk.InputError, match=r"the output of State\.to_dict"):
        exactk.State.from_dict(data | {"group_order": order})
    with pytest.raises(exactk.InputError, match=r"the output of State\.to_dict"):
        exactk.State.from_dict(data | {"groups": None})


# Text.


def test_the_printed_report_counts_the_groups_that_it_leaves_out() -> None:
    report = exactk.evaluate([[1]] * 12, [[1]] * 12, "P@[1,2,3,4,5,6,7,8]", groups=list(range(12)))
    lines = repr(report).splitlines()
    assert lines[9].split() == ["group", "evaluated", *(f"P@{k}" for k in range(1, 7))]
    assert [line.split()[0] for line in lines[10:20]] == [str(group) for group in range(10)]
    assert lines[20] == "2 more groups and 2 more values in by_group"
    one_more = exactk.evaluate([[1]] * 11, [[1]] * 11, "P@1", groups=list(range(11)))
    assert repr(one_more).splitlines()[-2] == "1 more group in by_group"


def test_groups_of_values_over_other_users_print_a_range() -> None:
    metrics = ["P@1", "P@1(empty_truth=zero)"]
    report = exactk.evaluate(TRUTH, LISTS, metrics, groups=AGES)
    assert [line.split()[:2] for line in repr(report).splitlines()[4:6]] == [["30-39", "2"], ["5-9", "1-2"]]


@pytest.mark.parametrize("form", ["to_markdown", "to_latex"])
def test_digits_and_tables_of_text(report: exactk.Report, comparison: exactk.Comparison, form: str) -> None:
    for result in (report, comparison):

        def text(**options: Any) -> str:
            return str(getattr(result, form)(**options)).replace("level 0.05", "")  # noqa: B023 - called at once

        numbers = re.findall(r"\d\.\d+", text(digits=7))
        assert numbers
        assert all(len(number) == 9 for number in numbers)
        assert f"{report['P@3']:.7f}" in numbers
        assert text() == text(digits=4)
        assert text() != text(digits=3)
        assert "30-39" in text(table="by_group")
        assert "nan" in text(table="per_user")
        assert not re.search(r"\d\.\d", text(digits=0).replace("P@", ""))


def test_rounded_csv(report: exactk.Report) -> None:
    rows = list(csv.DictReader(io.StringIO(report.to_csv(digits=3))))
    assert [float(row["value"]) for row in rows] == [round(value, 3) for value in report.values()]
    (wide,) = csv.DictReader(io.StringIO(report.to_csv(wide=True)))
    assert {name: float(cell) for name, cell in wide.items()} == dict(report)


@pytest.mark.parametrize("digits", [-1, 18, 10**30, True, 2.0, "2", None])
def test_digits_are_a_number_of_decimals(report: exactk.Report, digits: Any) -> None:
    for form in (report.to_markdown, report.to_latex, report.to_csv):
        if form == report.to_csv and digits is None:
            continue
        with pytest.raises((exactk.InputError, exactk.InputTypeError), match="digits: expected an integer"):
            form(digits=digits)


def test_the_best_values_are_bold() -> None:
    systems = {"a": [[1, 2]], "b": [[1, 2]], "c": [[2, 1]]}
    comparison = exactk.compare([[1]], systems, ["P@1", "num_recommended@2", "mrr"], groups=["x|y"])
    assert comparison.to_markdown(digits=2).splitlines()[2:5] == [
        "| P@1 | **1.00** | **1.00** | 0.00 |",
        "| num_recommended@2 | 2.00 | 2.00 | 2.00 |",
        "| mrr | **1.00** | **1.00** | 0.50 |",
    ]
    assert comparison.to_latex(digits=1).splitlines()[4] == r"P@1 & \textbf{1.0} & \textbf{1.0} & 0.0 \\"
    assert comparison.to_markdown(table="by_group", digits=1, diagnostics=True).splitlines() == [
        "| group | metric | a | b | c | evaluated |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
        r"| x\|y | P@1 | **1.0** | **1.0** | 0.0 | 1 |",
        r"| x\|y | num_recommended@2 | 2.0 | 2.0 | 2.0 | 1 |",
        r"| x\|y | mrr | **1.0** | **1.0** | 0.5 | 1 |",
    ]
    alone = exactk.compare([[1]], {"a": [[1]]}, "P@1")
    assert "**" not in alone.to_markdown()
    assert "**" not in exactk.evaluate([[1]], [[1]], "P@1").to_markdown()


def test_names_are_shown_as_they_are() -> None:
    """Nothing in a name is markup: HTML would vanish, and ``|<`` are other characters in LaTeX's default encoding."""
    names = ["<b>x", "a*b*", "`c`", "_d_e", "5 < 6 & 7", "&lt;", "[f](g)", "~~h~~"]
    comparison = exactk.compare([[1]], {name: [[1]] for name in names}, "P@1", groups=["<i>|"])
    header, _, values = comparison.to_markdown(digits=0).splitlines()
    shown = [html.unescape(cell) for cell in header.strip("| ").split(" | ")]
    assert shown == ["metric", *names]
    for markup in ("<b", "*b*", "`", "_d", "&lt;", "](", "~~"):
        assert markup not in header
    assert "_e" in header
    assert "5 < 6 & 7" in header
    assert values.count("**1**") == len(names)
    assert r"&#60;i>\|" in comparison.to_markdown(table="by_group")
    text = comparison.to_latex(table="by_group")
    assert r"\textless{}b\textgreater{}x" in text
    assert r"\textless{}i\textgreater{}\textbar{} & P@1" in text


def test_the_best_of_each_group_are_marked(comparison: exactk.Comparison) -> None:
    lines = repr(comparison).splitlines()
    begin = next(row for row, line in enumerate(lines) if line.startswith("group"))
    assert lines[begin].split() == ["group", "metric", "one", "other", "evaluated"]
    rows = [(label, name) for label in ("30-39", "5-9") for name in NAMES]
    for line, (label, name) in zip(lines[begin + 1 :], rows, strict=False):
        one, other = (report.by_group[label][name] for report in comparison.reports.values())
        cells = line.split()
        assert cells[:2] == [label, name]
        assert [cell.endswith("*") for cell in cells[2:4]] == [one >= other, other >= one]
        assert [float(cell.rstrip("*")) for cell in cells[2:4]] == pytest.approx([one, other], abs=5e-5)


def test_the_printed_comparison_has_all_groups_before_it_cuts_metrics() -> None:
    comparison = exactk.compare([[1]] * 8, {"a": [[1]] * 8, "b": [[2]] * 8}, ["P@1", "mrr"], groups=list(range(8)))
    lines = repr(comparison).splitlines()[-10:-1]
    assert lines[0].split("  ")[0] == "group"
    assert lines[0].split() == ["group", "evaluated", "P@1", "a", "P@1", "b", "mrr", "a", "mrr", "b"]
    assert [line.split() for line in lines[1:]] == [
        [str(label), "1", "1.0000*", "0.0000", "1.0000*", "0.0000"] for label in range(8)
    ]
    names = [f"P@{k}" for k in range(1, 20)]
    many = exactk.compare([[1]] * 2, {"a": [[1]] * 2}, names, groups=["x", "y"])
    header, *rows, left_out, _ = repr(many).splitlines()[20:]
    assert [row.split()[0] for row in rows] == ["x", "y"]
    shown = header.split()[2::2]
    assert shown == names[: len(shown)]
    assert left_out == f"{19 - len(shown)} more metrics in to_pandas('by_group')"
    crowd = exactk.compare([[1]] * 60, {"a": [[1]] * 60}, "P@1", groups=list(range(60)))
    assert repr(crowd).splitlines()[-2] == "10 more groups in to_pandas('by_group')"


def test_groups_of_some_systems_stand_in_order() -> None:
    ages = dict(zip("abcd", AGES, strict=True))
    parts: dict[str, Any] = {"x": {"a": [1]}, "y": {"a": [1], "b": [1]}}
    for groups, order in ((ages, ["30-39", "5-9"]), (pd.Series(ages).astype(CATEGORICAL.dtype), ["5-9", "30-39"])):
        reports = {name: exactk.evaluate(part, {**part}, "P@1", groups=groups) for name, part in parts.items()}
        comparison = exactk.Comparison(reports)
        lines = comparison.to_markdown(table="by_group").splitlines()[2:]
        assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == order
        assert [line.count("nan") for line in lines] == [int(label == "5-9") for label in order]


def test_systems_that_are_spelled_differently_have_canonical_names() -> None:
    reports = {metric: exactk.evaluate(TRUTH, LISTS, [f"{metric}@2", "P@1"], groups=AGES) for metric in ("map", "AP")}
    comparison = exactk.compare_reports(reports)
    assert list(comparison) == ["average_precision@2", "P@1"]
    assert comparison["MAP@2"] == {"map": reports["map"]["map@2"], "AP": reports["AP"]["AP@2"]}
    assert repr(comparison).splitlines()[1].startswith("average_precision@2  ")
    assert comparison.to_markdown(table="by_group").splitlines()[2].startswith("| 30-39 | average_precision@2 | **")
    for columns in (comparison.columns(wide=True), comparison.columns("by_group", wide=True)):
        assert {"average_precision@2", "P@1"} <= set(columns)
    assert comparison.columns()["metric"] == ["average_precision", "P"] * 2
    flat = [f"{name}/{metric}" for name in ("map", "AP") for metric in ("average_precision_at_2", "P_at_1")]
    assert list(comparison.to_flat_dict()) == flat
    assert exactk.Comparison.from_json(comparison.to_json()) == comparison


# Files.


@pytest.mark.parametrize("form", ["to_json", "to_csv", "to_markdown", "to_latex"])
@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_writes_the_file(
    report: exactk.Report, comparison: exactk.Comparison, form: str, kind: type, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    for result in (report, comparison):
        text: str = getattr(result, form)()
        assert getattr(result, form)(kind(path)) is None
        assert path.read_bytes() == (text.rstrip("\n") + "\n").encode()


def test_names_that_are_no_text_are_escaped_in_files(tmp_path: Path) -> None:
    report = exactk.evaluate({"a\udcff": [1]}, {"a\udcff": [1]}, "P@1", per_user=True)
    report.to_csv(tmp_path / "users.csv", table="per_user")
    assert (tmp_path / "users.csv").read_bytes() == b"user,P@1\na\\udcff,1.0\n"
    report.to_json(tmp_path / "report.json")
    assert exactk.Report.from_json(tmp_path / "report.json") == report


def test_the_name_of_a_table_is_no_path(report: exactk.Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for table in TABLES:
        with pytest.raises(exactk.InputError, match=f"path: expected .*, the name of a table; table='{table}'"):
            report.to_csv(table)
    for path in (3, io.StringIO(), b"x", True):
        with pytest.raises(exactk.InputTypeError, match="path: expected a path"):
            report.to_json(path)  # type: ignore[call-overload]
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError):
        report.to_json(tmp_path / "no" / "folder")


# JSON.


def test_one_shape_for_one_report_and_several(report: exactk.Report, comparison: exactk.Comparison) -> None:
    one, several = (json.loads(result.to_json(), parse_constant=pytest.fail) for result in (report, comparison))
    head = {"format": "exactk-report", "version": 1, "exactk": exactk.__version__, "command": None, "inputs": None}
    assert {name: part for name, part in one.items() if name != "reports"} == {**head, "comparison": None}
    assert {name: part for name, part in several.items() if name not in {"reports", "comparison"}} == head
    assert several["comparison"]["options"] == comparison.to_dict()["options"]
    assert one["reports"] == [{"system": None, **json.loads(json.dumps(report.to_dict()))}]
    assert several["reports"] == [
        {"system": system, **json.loads(json.dumps(part.to_dict()))} for system, part in comparison.reports.items()
    ]
    assert one["reports"][0]["by_group"][0] == {
        "group": "30-39", "metric": "P@1", "value": 0.5, "standard_deviation": 0.5, "evaluated": 2
    }  # fmt: skip


def test_each_class_reads_its_own(report: exactk.Report, comparison: exactk.Comparison) -> None:
    assert exactk.Report.from_json(report.to_json().encode()) == report
    assert exactk.Comparison.from_json(comparison.to_json()) == comparison
    with pytest.raises(exactk.InputError, match=r"found those of 2 systems; exactk\.Comparison\.from_json"):
        exactk.Report.from_json(comparison.to_json())
    with pytest.raises(exactk.InputError, match=r"exactk\.Report\.from_json reads one report"):
        exactk.Comparison.from_json(report.to_json())
    with pytest.raises(exactk.InputTypeError, match="or a path, found int"):
        exactk.Report.from_json(3)  # type: ignore[arg-type]


def test_a_string_is_never_a_path(report: exactk.Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report.to_json("report.json")
    with pytest.raises(exactk.InputError) as caught:
        exactk.Report.from_json("report.json")
    hint = str(caught.value).partition("; ")[2]
    assert hint == "pathlib.Path('report.json') is the file"
    assert exactk.Report.from_json(Path("report.json")) == report


CHANGES: list[dict[str, Any]] = [
    {"format": "other"}, {"version": 2}, {"version": None}, {"reports": {}}, {"reports": [3]}, {"reports": [{}]}, {"further": 1},
    {"reports": []}, {"reports": [{"system": 3}]}, {"reports": [{"system": None}] * 2}, {"reports": [{"system": "a"}] * 2},
    {"reports": [{"system": None}]},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_other_documents_are_refused(report: exactk.Report, comparison: exactk.Comparison, change: Any) -> None:
    for result in (report, comparison):
        document = json.loads(result.to_json()) | change
        with pytest.raises(exactk.InputError, match=f"^({type(result).__name__.lower()}|reports): expected"):
            type(result).from_json(json.dumps(document))


# Experiment trackers.

MLFLOW = re.compile(r"^[/\w.\- ]*$")  # what MLflow accepted before it allowed colons
WANDB = re.compile(r"^[_a-zA-Z][_a-zA-Z0-9]*$")  # what W&B can sort and filter by
MOST_CHARACTERS = 250  # of MLflow


@pytest.mark.filterwarnings("ignore:.* groups of items :exactk.EvaluationWarning")
@pytest.mark.filterwarnings("ignore:.* as 0, the best value:exactk.EvaluationWarning")
def test_flat_names_are_accepted_by_trackers() -> None:
    metrics = [name for name, info in exactk.metrics.items() if info.parameter is None or info.parameter.standard]
    spelled = ["map@10", "recall @ 5", "nDCG@[1,3](gain=exp2)", "P_7", "fbeta@10(beta=0.5)", "dcg(gain_table=[0,1.5])"]
    whole = [name for name in metrics if not counts_ranks(metric_registry[name])]
    asked = [*spelled, *whole, *(f"{name}@20" for name in metrics if not metric_registry[name].pairwise)]
    items = exactk.Items(train=[[0, 1]], item_groups={0: 0, 1: 1}, features={0: ["a"], 1: ["b"]})
    report = exactk.evaluate([[1]], np.array([[0.5, 0.25]]), asked, items=items, base_predictions=[[1]])
    flat = report.to_flat_dict()
    assert list(flat.values()) == pytest.approx(list(report.values()), abs=0, nan_ok=True)
    for name in flat:
        assert WANDB.match(name)
    expected = ["map_at_10", "recall_at_5", "nDCG_at_1_gain_exp2", "nDCG_at_3_gain_exp2", "P_7", "fbeta_at_10_beta_0_5", "dcg_gain_table_0_1_5"]  # fmt: skip
    assert list(flat)[: len(expected)] == expected
    for name in report.to_flat_dict("fold 1/valid."):
        assert name.startswith("fold 1/valid.")
        assert MLFLOW.match(name)
        assert len(name) <= MOST_CHARACTERS


def test_flat_names_of_systems() -> None:
    comparison = exactk.compare([[1]], {"als (64)": [[1]], "2-gram": [[2]]}, ["P@1"])
    flat = comparison.to_flat_dict()
    assert flat == {"als_64/P_at_1": 1.0, "_2_gram/P_at_1": 0.0}
    assert all(MLFLOW.match(name) for name in flat)


def test_flat_names_keep_nan() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="no user"):
        report = exactk.evaluate([[]], [[1]], "P@1")
    assert math.isnan(report.to_flat_dict()["P_at_1"])


def test_flat_names_that_are_the_same_are_refused() -> None:
    report = exactk.evaluate([[1]], [[1]], ["P@1(min_grade=1)", "P@1(min_grade=-1)"])
    message = "found 'P@1(min_grade=1)' and 'P@1(min_grade=-1)', which are both P_at_1_min_grade_1"
    with pytest.raises(exactk.InputError, match=re.escape(message)):
        report.to_flat_dict()


def test_flat_names_that_are_too_long_are_refused() -> None:
    systems = {"s" * 243: [[1]], "b": [[1]]}
    assert len(next(iter(exactk.compare([[1]], systems, "P@1").to_flat_dict()))) == MOST_CHARACTERS
    message = "names: expected names that have at most 250 characters .*found 251 in"
    with pytest.raises(exactk.InputError, match=message):
        exactk.compare([[1]], systems, "P@1").to_flat_dict("x")


def test_flat_names_of_differences() -> None:
    truth, a, b, c = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18, [[1]] * 40
    systems, groups = {"a": a, "b (2)": b, "c": c}, ["x", "y"] * 20
    compared = exactk.compare(truth, systems, ["P@1", "mrr"], baseline="a", groups=groups)
    flat = compared.differences.to_flat_dict("test/")
    fields = ("difference", "low", "high", "p", "p_adjusted")
    assert list(flat)[:6] == [*(f"test/b_2/P_at_1_{field}" for field in fields), "test/c/P_at_1_difference"]
    assert len(flat) == 2 * 2 * len(fields)
    row = compared.differences["c", "mrr"]
    for field in fields:
        assert flat[f"test/c/mrr_{field}"] == getattr(row, field)
    assert row.p != row.p_adjusted
    of_groups = compared.differences.by_group.to_flat_dict(sep="_")
    (of_y,) = (one for one in compared.differences.by_group.of("mrr", system="c") if one.group == "y")
    assert of_groups["c_y_mrr_p"] == of_y.p
    assert all(WANDB.match(name) for name in of_groups)
    pairs = exactk.compare(truth, systems, "P@1").differences.to_flat_dict()
    assert [name for name in pairs if name.endswith("_p")] == ["b_2/a/P_at_1_p", "c/a/P_at_1_p", "c/b_2/P_at_1_p"]
    equal = exactk.compare([[1]], {"a": [[1]], "b": [[1]]}, "P@1", baseline="a").differences.to_flat_dict()
    assert math.isnan(equal["b/P_at_1_p"])
    with pytest.raises(exactk.InputError, match="'a-b P@1 difference' and 'a_b P@1 difference'"):
        exactk.compare([[1]], {"c": [[1]], "a-b": [[1]], "a_b": [[1]]}, "P@1", baseline="c").differences.to_flat_dict()


NAMES_OF_SYSTEMS = st.text(st.sampled_from("abZ09 _-.:/@%()é\n\0<模"), min_size=1, max_size=12)
COMPARED = exactk.compare([[1]], {"a": [[1]], "b": [[1]]}, ["P@1", "ndcg@[1,3](gain=exp2)", "fbeta@5(beta=0.5)", "mrr"])


@given(st.lists(NAMES_OF_SYSTEMS, min_size=2, max_size=4, unique=True), st.sampled_from(["", "valid/", "fold 1."]))
def test_flat_names_of_any_systems(systems: list[str], prefix: str) -> None:
    """Names are accepted, or an error names the systems that have no name of their own."""
    words = [re.sub("[^a-zA-Z0-9]+", "_", name.replace("@", "_at_")).strip("_") for name in systems]
    compared = exactk.compare_reports(dict.fromkeys(systems, COMPARED.reports["a"]))
    for sep, accepted, begin in (("/", MLFLOW, prefix), ("_", WANDB, "")):
        if "" in words or len({*words}) < len(words):
            with pytest.raises(exactk.InputError, match="names: expected") as raised:
                compared.to_flat_dict(begin, sep=sep)
            found = str(raised.value).partition("found")[2]
            assert any(repr(name)[1:-1] in found for name in systems)
            continue
        flat = compared.to_flat_dict(begin, sep=sep)
        assert len(flat) == len(systems) * len(COMPARED)
        assert all(accepted.match(name) and posixpath.normpath(name) == name for name in flat)


@pytest.mark.parametrize("wrong", [*({"sep": sep} for sep in ("@", "é", 3)), *({"prefix": prefix} for prefix in ("@", "é", "a,b", "a\n", 3, None))])  # fmt: skip
def test_words_that_no_tracker_accepts(comparison: exactk.Comparison, wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises((exactk.InputError, exactk.InputTypeError), match=f"{name}: expected"):
        comparison.to_flat_dict(**wrong)


def test_groups_of_several_systems_keep_the_order_of_their_categories() -> None:
    comparison = exactk.compare(TRUTH, {"a": LISTS, "b": LISTS[::-1]}, "P@1", groups=ORDERED["pandas"])
    frame = comparison.to_pandas("by_group")["group"]
    assert frame.tolist() == ["5-9", "30-39"] * 2
    assert frame.cat.categories.tolist() == ORDER
