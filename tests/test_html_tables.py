"""What a notebook shows in place of the text of a result: small HTML tables that say the same."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pytest

import exactk
from exactk._metric_pages import text_page
from exactk._plan.fields import FIELDS
from exactk._plan.metrics import metrics as core_metrics
from exactk._runtime.table import Table, html_of_tables
from html_pages import HOSTILE, elements, read, text_of

MOST_BYTES, MOST_ROWS = 24_000, 60
ALLOWED = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "b"}
STYLES = {
    "overflow-x", "border-collapse", "border-spacing", "text-align", "font-variant-numeric", "caption-side", "font-weight", "white-space",
}  # fmt: skip


class Tables:
    """The tables of a notebook, whose HTML has nothing else."""

    def __init__(self, text: str) -> None:
        body = next(elements(read(f"<!DOCTYPE html>{text}"), "body"))
        for element in list(body.iter())[1:]:
            assert element.tag in ALLOWED
            assert set(element.attrib) <= {"class", "style", "scope"}
            for part in filter(None, element.get("style", "").split(";")):
                assert part.partition(":")[0] in STYLES
            for name in element.get("class", "").split():
                assert name.startswith("exactk-") or name in {"tex2jax_ignore", "mathjax_ignore"}
        for part, scope in (("thead", "col"), ("tbody", "row")):
            assert all(cell.get("scope") == scope for one in elements(body, part) for cell in elements(one, "th"))
        self.headers = [[shown(cell) for cell in row] for one in elements(body, "thead") for row in one]
        self.rows = [[shown(cell) for cell in row] for one in elements(body, "tbody") for row in one]
        self.captions, self.bold = ([shown(one) for one in elements(body, tag)] for tag in ("caption", "b"))
        self.notes = [shown(one) for one in elements(body, "div") if "exactk-note" in one.get("class", "")]


def shown(element: Element) -> str:
    """Return the text of an element; the asterisk of the best value is beside it without a break."""
    return text_of(element).replace("\u00a0", " ")


def comparison(names: list[str], metrics: list[str], users: int = 40, **options: Any) -> exactk.Comparison:
    random = np.random.default_rng(7)
    systems = {name: random.permuted(np.tile(np.arange(9), (users, 1)), axis=1) for name in names}
    return exactk.compare([[1, 2]] * users, systems, metrics, **options)


FEW = ["ndcg@3", "recall@3", "mrr"]
GROUPS = ["old", "new"] * 20

RESULTS: dict[str, Callable[[list[str]], Any]] = {
    "Report": lambda names: comparison(names[:1], FEW, groups=(names * 5)[:40]).reports[names[0]],
    "Comparison": lambda names: comparison(names, FEW, groups=GROUPS),
    "Differences": lambda names: comparison(names, FEW).differences,
    "Differences by group": lambda names: comparison(names, FEW, groups=GROUPS).differences.by_group,
    "Ranks": lambda names: comparison(names, FEW).ranks("mrr"),
    "Choice": lambda names: exactk.choose(comparison(names, FEW), "mrr", {"recall@3": 0.3}),
    "Gate": lambda names: comparison(names, FEW, baseline=names[0]).check(no_worse={"mrr": "1%"}),
    "ConventionMatches": lambda names: exactk.matching_conventions({names[0]: {1: 1.0}}, {names[0]: [2, 1]}, {"mrr": "0.50"}),
    "TopK": lambda names: exactk.topk({name: dict.fromkeys(names, 0.5) for name in names}, 3),
    "Registry of metrics": lambda _: exactk.metrics,
    "Registry of conventions": lambda _: exactk.conventions,
}  # fmt: skip


def tables_of(result: Any) -> Tables:
    text = result._repr_html_()
    assert len(text.encode()) <= MOST_BYTES
    tables = Tables(text)
    assert len(tables.rows) <= MOST_ROWS
    assert tables.captions
    assert all(tables.captions)
    return tables


@pytest.mark.parametrize("name", RESULTS)
def test_tables_have_the_text_of_the_repr(name: str) -> None:
    result = RESULTS[name]([f"s{index}" for index in range(10)])
    tables, text = tables_of(result), repr(result)
    assert tables.rows
    if name != "TopK":  # which prints as a tuple of arrays
        headers = [] if "Registry" in name or name == "Gate" else tables.headers
        cells = [cell.removeprefix("* ") for row in [*headers, *tables.rows] for cell in row]
        assert [cell for cell in cells if cell not in text] == []
        lines = text.splitlines()
        assert [note for note in tables.notes if note not in lines and not note.startswith("left out: ")] == []


@pytest.mark.parametrize("name", RESULTS)
def test_hostile_names_are_text(name: str) -> None:
    names = HOSTILE if name != "TopK" else [one for one in HOSTILE if one != "\ud800"]
    result = RESULTS[name](names)
    tables = tables_of(result)
    text = result._repr_html_()
    assert text.isprintable()
    assert "color" not in text.replace(html.escape("color:red'"), "")
    assert "background" not in text
    if "Registry" not in name and name not in {"ConventionMatches", "Differences by group"}:
        shown = "".join(cell for row in [*tables.headers, *tables.rows] for cell in row)
        assert names[0] in shown
        assert "\\u202e" in shown or "\\u202e" in "".join(tables.notes)


def test_values_of_a_report_in_their_cells() -> None:
    report = comparison(["a"], FEW).reports["a"]
    tables = tables_of(report)
    assert tables.headers == [["metric", "value", "std"]]
    assert [row[:2] for row in tables.rows] == [[name, f"{value:.4f}"] for name, value in report.items()]
    assert tables.notes == ["convention standard; 40 users"]
    assert tables.captions == ["Report"]


def test_best_values_are_bold_and_have_an_asterisk() -> None:
    compared = exactk.compare([[1]], {"a": [[1]], "b": [[2]], "c": [[1]]}, "P@1")
    tables = tables_of(compared)
    assert tables.rows == [["P@1", "* 1.0000", "0.0000", "* 1.0000"]]
    assert tables.bold == ["* 1.0000"] * 2
    assert tables.notes == ["convention standard; 1 user; * best"]


def test_numbers_are_aligned_to_the_right() -> None:
    text = comparison(["a"], FEW).reports["a"]._repr_html_()
    assert re.search(r'<table [^>]*style="[^"]*text-align:right;font-variant-numeric:tabular-nums', text)
    assert '<th scope="col" style="text-align:left">metric</th>' in text
    assert '<th scope="col" style="text-align:right">value</th>' in text
    assert '<th scope="row" style="text-align:left;font-weight:normal">ndcg@3</th><td>' in text


def test_cells_that_could_break_say_that_they_do_not() -> None:
    """Jupyter's style sheet has `white-space: normal` for cells, so that a rule of the table has no effect."""
    row = ["a b", "x" * 50 + " y", "0.5", "-0.1 to +0.2", "2.3e-06", "0.7"]
    *columns, last = Table.of_rows(list("abcdef"), [row], 2).columns
    text = html_of_tables([Table([*columns, last._replace(best={0})], "t")])
    cells = re.findall(r"<t[hd]([^>]*)>(?:<b>)?([^<]+)<", text.partition("<tbody>")[2])
    assert [cell for _, cell in cells] == [*row[:5], "*&nbsp;0.7"]
    assert [cell for style, cell in cells if "nowrap" in style] == ["a b", "-0.1 to +0.2", "2.3e-06"]
    assert ("", "0.5") in cells, "a number that cannot break needs no space for a style"


def test_groups_are_a_table_of_their_own() -> None:
    tables = tables_of(comparison(["a", "b"], ["mrr"], groups=GROUPS))
    assert tables.captions == ["Comparison of 2 systems", "By group"]
    assert [header[:2] for header in tables.headers] == [["metric", "a"], ["group", "metric"]]
    assert [row[0] for row in tables.rows] == ["mrr", "new", "old"]
    assert tables.notes == ["convention standard; 40 users; * best"]


def test_rows_and_columns_left_out_are_counted() -> None:
    metrics = [f"ndcg@{cutoff}" for cutoff in range(1, 71)]
    tables = tables_of(comparison([f"s{index}" for index in range(25)], metrics, baseline="s0"))
    assert len(tables.headers[0]) == 20
    match = re.fullmatch(r"left out: (\d+) rows, 6 columns; print\(\) shows them", tables.notes[-1])
    assert match is not None
    assert int(match[1]) + len(tables.rows) == 70
    tables = tables_of(comparison(["a", "b"], metrics))
    assert len(tables.rows) == 60
    assert tables.notes[-1] == "left out: 10 rows; print() shows them"


def test_long_texts_are_cut_and_that_is_said() -> None:
    table = Table.of_rows(["name"], [["y" * 81], ["z" * 80]], caption="t" * 300, notes=["n" * 601])
    tables = Tables(html_of_tables([table]))
    assert tables.rows == [["y" * 79 + "…"], ["z" * 80]]
    assert tables.captions == ["t" * 79 + "…"]
    assert tables.notes == ["n" * 599 + "…", "left out: the ends of long texts (…); print() shows them"]
    assert not Tables(html_of_tables([Table.of_rows(["name"], [["z" * 80]], caption="t")])).notes


@pytest.mark.parametrize("tables", [1, 2, 3])
@pytest.mark.parametrize("character", ["x", "&", '"', "🚀", "\x00", "\ud800"])
def test_the_largest_tables_are_below_20_kb(character: str, tables: int) -> None:
    cell = character * 1000
    table = Table.of_rows([cell] * 100, [[cell] * 100] * 100, 50, caption=cell, notes=[cell] * 100, longest=900)
    table = table._replace(columns=[table.columns[0]._replace(best={0}), *table.columns[1:]])
    text = html_of_tables([table] * tables)
    assert len(text.encode()) <= MOST_BYTES
    parsed = Tables(text)
    assert len(parsed.rows) <= MOST_ROWS
    assert len(parsed.captions) == tables
    assert sum(note.startswith("left out: ") for note in parsed.notes) == tables


def test_best_items_of_the_first_users() -> None:
    best = exactk.topk({f"u{index}": {"a": 0.25, "b": 1 / 3} for index in range(40)}, 2)
    tables = tables_of(best)
    assert tables.captions == ["Best 2 items of 40 users"]
    assert tables.headers == [["user", "rank", "item", "score"]]
    assert tables.rows[:3] == [["u0", "1", "b", "0.333333"], ["u0", "2", "a", "0.25"], ["u1", "1", "b", "0.333333"]]
    assert len(tables.rows) == 60
    assert tables.notes == ["the first 30 users; to_pandas() has all"]
    integers = tables_of(exactk.topk([[3, 4]], 2))
    assert integers.rows == [["0", "1", "1", "4"], ["0", "2", "0", "3"]]
    assert not integers.notes
    singles = tables_of(exactk.topk(np.array([[0.1, 0.7]], np.float32), 1))
    assert singles.rows == [["0", "1", "1", "0.7"]]
    deep = tables_of(exactk.topk(np.arange(100.0)[None], 100))
    assert len(deep.rows) == 60
    assert deep.notes == ["left out: 40 rows; to_pandas() has them"]
    assert not tables_of(exactk.topk({"a": {}}, 3)).rows


def test_a_metric_is_a_page() -> None:
    for metric in [*exactk.metrics.values(), *exactk.agreement_metrics.values()]:
        tables = tables_of(metric)
        signature, *_ = str(metric.__doc__).partition("\n")
        _, _, example = str(metric.__doc__).rstrip().rpartition("--------\n")
        assert (tables.captions, tables.headers) == ([signature], [[metric.name, metric.summary]])
        lines = [line.split("  ", 1) for line in text_page(core_metrics[metric.name]).splitlines()[1:]]
        assert tables.rows == [[name, text.strip()] for name, text in lines]
        assert tables.notes == example.splitlines()


def test_a_convention_is_a_page_of_its_fields() -> None:
    for name, convention in exactk.conventions.items():
        tables = tables_of(convention)
        assert tables.captions == [f"Convention {name}"]
        differing = convention.diff("standard")
        if name == "standard":
            assert [row[0] for row in tables.rows] == [field for field in convention.to_dict() if field in {*FIELDS}]
            assert all(row[1] == row[2] for row in tables.rows)
            assert not tables.notes
        else:
            assert {*differing} <= {row[0] for row in tables.rows}
            assert tables.notes == ["all other fields have the values of standard"]
    ties = next(row for row in tables_of(exactk.conventions["ranx"]).rows if row[0] == "ties")
    assert ties[1:3] == ["'input_order'", "'lowest_id'"]
    hostile = exactk.conventions["ranx"].replace(name="<script>\u202e", overrides={"ndcg": {"ties": "expected"}})
    tables = tables_of(hostile)
    assert tables.captions == ["Convention <script>\\u202e"]
    assert ["ndcg.ties", "'expected'", "'lowest_id'"] in [row[:3] for row in tables.rows]
    assert "<script" not in hostile._repr_html_()
