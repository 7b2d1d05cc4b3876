"""The numbers of a page: those of the result, rounded as they are shown, and in full precision as JSON."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import pytest

from html_pages import compared, elements, page, parsed, results, section, tables, text_of


def numbers_of(cell: str) -> list[str]:
    """Return the numbers of a cell as Python writes them."""
    return re.findall(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", cell.replace("\N{MINUS SIGN}", "-").replace(",", ""))


def is_rounded(shown: str, number: float, scale: int = 1) -> bool:
    """Return whether the text is the number, rounded to the digits that the text has."""
    exponent = Decimal(shown).as_tuple().exponent
    assert isinstance(exponent, int)
    unit = Decimal(10) ** exponent
    return abs(Decimal(shown) - Decimal(number) * scale) <= unit * Decimal("0.5000000001")


def row_by_names(columns: list[str], cells: list[Any]) -> dict[str, Any]:
    return dict(zip(columns, cells, strict=True))


def check_difference(shown: dict[str, str], plain: dict[str, Any]) -> None:
    """Compare a row of a table with the same row of the page's JSON."""
    for name, column in {
        "value": "value",
        "baseline value": "baseline_value",
        "difference": "difference",
        "p": "p",
        "adjusted": "p_adjusted",
        "d_z": "effect",
        "detectable": "detectable",
    }.items():
        (number,) = numbers_of(shown[name])
        assert is_rounded(number, plain[column]), (name, shown[name], plain[column])
    for number, column in zip(numbers_of(shown["interval"]), ("low", "high"), strict=True):
        assert is_rounded(number, plain[column])
    (relative,) = numbers_of(shown["relative"])
    assert is_rounded(relative, plain["relative"], scale=100)
    assert shown["wins/ties/losses"] == "{wins}/{ties}/{losses}".format(**plain)
    assert shown["verdict"] == plain["verdict"]
    assert shown["difference"].startswith(("+", "\N{MINUS SIGN}"))


def test_all_values_of_the_table_are_those_of_json() -> None:
    plain = results(page("with_lists"))
    ((header, *rows),) = (table for caption, table in tables(parsed("with_lists")).items() if caption == "Values")
    systems = list(plain["values"])
    assert header == ["metric", *systems, "better", "users"]
    assert [row[0] for row in rows] == [one["metric"] for one in plain["metrics"]]
    for (spelling, *cells), metric in zip(rows, plain["metrics"], strict=True):
        for system, cell in zip(systems, cells, strict=False):
            value, *bounds = numbers_of(cell)
            assert is_rounded(value, plain["values"][system][spelling])
            assert len(value.partition(".")[2]) == 4
            interval = plain["intervals"][system][spelling]
            low, high = interval["low"], interval["high"]
            shown = [(high - low) / 2] if "±" in cell else [low, high]
            assert list(map(is_rounded, bounds, shown)) == [True] * len(shown)
            assert interval["confidence"] == plain["confidence"]
            assert plain["counts"][system]["evaluated"][spelling] == int(cells[-1])
        assert cells[-2] == metric["better"]
        best = max if metric["better"] == "higher" else min
        values = {system: plain["values"][system][spelling] for system in systems}
        marked = {system for system, cell in zip(systems, cells, strict=False) if cell.endswith("*")}
        assert marked == {system for system in systems if values[system] == best(values.values())}


def test_pictures_are_labelled_with_the_numbers_of_the_tables() -> None:
    root = parsed("with_lists")
    header, *rows = tables(root)["Differences"]
    pictures = list(elements(section(root, "differences"), "svg"))
    metrics = list(dict.fromkeys(row[0] for row in rows))
    assert len(pictures) == len(metrics)
    for metric, picture in zip(metrics, pictures, strict=True):
        labels = [text_of(one) for one in elements(picture, "text")]
        for row in rows:
            if row[0] == metric:
                assert labels.count(row[header.index("difference")]) == 1
    (values,) = elements(section(root, "values"), "svg")
    labels = [text_of(one) for one in elements(values, "text")]
    assert [cell.split(" ")[0] in labels for cell in tables(root)["Values"][1][1:4]] == [True] * 3


@pytest.mark.parametrize(
    ("caption", "name"), [("Differences", "differences"), ("Differences by group", "differences_by_group")]
)
def test_all_numbers_of_differences_are_those_of_json(caption: str, name: str) -> None:
    header, *rows = tables(parsed("with_lists"))[caption]
    plain = results(page("with_lists"))[name]
    assert len(rows) == len(plain["rows"]) == {"differences": 12, "differences_by_group": 24}[name]
    for cells, full in zip(rows, plain["rows"], strict=True):
        shown, row = row_by_names(header, cells), row_by_names(plain["columns"], full)
        assert (shown["metric"], shown["system"], shown.get("group")) == (row["metric"], row["system"], row["group"])
        check_difference(shown, row)


def test_the_json_of_a_page_has_its_numbers_in_full_precision() -> None:
    comparison = compared(baseline="system 0", margin={"ndcg@10": "5%"})
    plain = results(page("with_lists"))
    full = comparison.to_dict()
    for system, report in full["reports"].items():
        assert plain["values"][system] == report["values"]
        assert plain["standard_deviation"][system] == report["standard_deviation"]
        assert plain["counts"][system] == report["counts"]
    columns = plain["differences"]["columns"]
    for row, cells in zip(comparison.differences, plain["differences"]["rows"], strict=True):
        for name, cell in zip(columns, cells, strict=True):
            number = getattr(row, name)
            assert cell == (None if isinstance(number, float) and not math.isfinite(number) else number)
    interval = comparison.reports["system 1"].interval("mrr")
    low, high = interval
    expected = {"low": low, "high": high, "confidence": 0.95, "method": interval.method}
    assert plain["intervals"]["system 1"]["mrr"] == expected
    assert plain["left_out"] == []
    for system, report in comparison.reports.items():
        rows = [[row.label, row.metric, row.value, row.evaluated] for row in report._rows_of_groups()]
        assert plain["by_group"][system] == rows
