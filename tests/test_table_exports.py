"""What goes into a paper: values, the best and significance alone; and what each result that is a table exports."""

from __future__ import annotations

import inspect
import pydoc
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import exactk
from exactk._runtime.table import Column, Table, format_latex, format_markdown, format_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RNG = np.random.default_rng(5)
HITS = RNG.integers(0, 5, 60)
SYSTEMS = {"weak": HITS, "strong": HITS + RNG.integers(1, 4, 60), "middle": HITS + RNG.integers(0, 3, 60)}
METRICS = ["P@10", "recall@5", "num_recommended@10"]
GROUPS = ["old"] * 30 + ["new"] * 30


@pytest.fixture(scope="module")
def comparison() -> exactk.Comparison:
    lists = {name: [[*range(count), *range(100, 110 - count)] for count in hits] for name, hits in SYSTEMS.items()}
    return exactk.compare([list(range(10))] * 60, lists, METRICS, groups=GROUPS, per_user=True)


def cells_of_markdown(text: str) -> list[list[str]]:
    return [
        line.removeprefix("| ").removesuffix(" |").split(" | ") for line in text.splitlines() if line.startswith("|")
    ]


def cells_of_latex(text: str) -> list[list[str]]:
    return [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if line.endswith(r" \\")]


@pytest.mark.parametrize("table", ["values", "by_group"])
def test_systems_as_rows_have_the_same_cells(comparison: exactk.Comparison, table: Any) -> None:
    plain = cells_of_markdown(comparison.to_markdown(table=table))
    turned = cells_of_markdown(comparison.to_markdown(table=table, systems_as_rows=True))
    keys = 1 if table == "values" else 2  # with the group
    of_plain = {
        (*row[: keys - 1], row[keys - 1], plain[0][at]): row[at] for row in plain[2:] for at in range(keys, len(row))
    }
    of_turned = {
        (*row[: keys - 1], turned[0][at], row[keys - 1]): row[at] for row in turned[2:] for at in range(keys, len(row))
    }
    assert of_turned == of_plain
    assert turned[0] == [*["group"] * (keys - 1), "system", *METRICS]
    assert len(of_plain) == len(METRICS) * len(SYSTEMS) * (2 if table == "by_group" else 1)
    latex = cells_of_latex(comparison.to_latex(table=table, systems_as_rows=True))
    assert len(latex) == len(turned) - 1
    assert [row[keys - 1].partition("}$")[2] for row in latex[1 : len(SYSTEMS) + 1]] == list(SYSTEMS)


def test_letters_of_rows_stand_before_names(comparison: exactk.Comparison) -> None:
    text = comparison.to_latex(systems_as_rows=True, metrics="P@10", digits=2)
    weak, strong, middle = (f"{value:.2f}" for value in comparison["P@10"].values())
    assert text.splitlines()[3:10] == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"system & P@10 \\",
        r"\midrule",
        rf"$^{{a}}$weak & {weak}\phantom{{$^{{ac}}$}} \\",
        rf"$^{{b}}$strong & \textbf{{{strong}}}$^{{ac}}$ \\",
        rf"$^{{c}}$middle & {middle}$^{{a}}$\phantom{{$^{{c}}$}} \\",
    ]


@pytest.mark.parametrize("form", ["to_markdown", "to_latex"])
@pytest.mark.parametrize("table", ["values", "by_group", "per_user"])
def test_some_metrics_in_any_spelling_and_order(comparison: exactk.Comparison, form: str, table: Any) -> None:
    for result in (comparison, comparison.reports["weak"]):
        text = getattr(result, form)(table=table, metrics=["num_recommended@10", "precision@10"])
        text = re.sub(r"\\caption.*", "", text)  # where letters are, and where not
        assert re.findall(r"num(?:_|\\_)recommended@10|P@10|recall@5", text)[:2] == (
            ["num_recommended@10" if form == "to_markdown" else r"num\_recommended@10", "P@10"]
        )
        assert "recall@5" not in text
        assert getattr(result, form)(table=table, metrics="P@10") != text
        with pytest.raises(exactk.InputError, match="metrics: expected one of P@10, recall@5, num_recommended@10"):
            getattr(result, form)(table=table, metrics=["P@10", "mrr"])
        with pytest.raises(exactk.InputError, match="metrics: expected at least one metric, found none"):
            getattr(result, form)(table=table, metrics=[])
        for wrong in (3, [3], ["P@10", None]):
            with pytest.raises(exactk.InputTypeError, match="metrics: expected "):
                getattr(result, form)(table=table, metrics=wrong)


def test_caption_and_label(comparison: exactk.Comparison) -> None:
    report = comparison.reports["weak"]
    assert report.to_latex().startswith(r"\begin{tabular}")
    lines = report.to_latex(caption="50 % of {all}", label="tab:a_b").splitlines()
    assert lines[:4] == [r"\begin{table}", r"\centering", r"\caption{50 \% of \{all\}}", r"\label{tab:a_b}"]
    assert lines[-1] == r"\end{table}"
    assert report.to_latex(label="t").splitlines()[2] == r"\label{t}"
    legend = comparison.to_latex().splitlines()[2].removeprefix(r"\caption{")
    assert comparison.to_latex(caption="All systems.").splitlines()[2] == rf"\caption{{All systems. {legend}"
    assert (
        comparison.differences.to_latex(caption="x", label="y").splitlines()[2].startswith(r"\caption{x. Paired t test")
    )
    for wrong, error in (
        ("a}b", exactk.InputError),
        ("", exactk.InputError),
        ("a%", exactk.InputError),
        (3, exactk.InputTypeError),
    ):
        with pytest.raises(error, match="label: expected"):
            report.to_latex(label=wrong)  # type: ignore[arg-type]
    with pytest.raises(exactk.InputTypeError, match="caption: expected a string"):
        report.to_latex(caption=3)  # type: ignore[call-overload]


def test_rules_need_a_package_unless_asked_otherwise(comparison: exactk.Comparison) -> None:
    for result in (comparison, comparison.reports["weak"], comparison.differences, comparison.ranks("P@10")):
        with_package, without = result.to_latex(), result.to_latex(booktabs=False)
        assert "hline" not in with_package
        assert re.findall(r"\\(\w+)rule", with_package) == ["top", "mid", "bottom"]
        assert re.sub(r"\\(top|mid|bottom)rule", r"\\hline", with_package) == without


def test_the_report_of_one_system_has_no_row_of_its_own(comparison: exactk.Comparison) -> None:
    with pytest.raises(exactk.InputError, match="systems_as_rows: expected False for the report of one system"):
        comparison.reports["weak"].to_latex(systems_as_rows=True)


@pytest.mark.parametrize("systems_as_rows", [False, True])
def test_diagnostics_are_what_print_says_below(systems_as_rows: bool) -> None:
    systems: dict[str, Any] = {"one": {"ann": [1]}, "other": {"ann": [1], "bob": []}}
    with pytest.warns(exactk.EvaluationWarning, match="different users"):
        comparison = exactk.compare({"ann": [1], "bob": [2]}, systems, "P@1(empty_list=skip)")
    assert repr(comparison).splitlines()[2:5] == [
        "skipped users: 1 in other",
        "users with empty lists: 1 in other",
        "users without predictions: 1 in one",
    ]
    text = comparison.to_markdown(diagnostics=True, systems_as_rows=systems_as_rows)
    for count in ("users with empty lists", "users without predictions"):
        assert count in text
        assert count not in comparison.to_markdown(systems_as_rows=systems_as_rows)
    rows = cells_of_markdown(text)
    assert len({len(row) for row in rows}) == 1
    if systems_as_rows:
        assert [row[-2:] for row in rows] == [rows[0][-2:], ["---:", "---:"], ["0", "1"], ["1", "0"]]
    else:
        assert [row[-2:] for row in rows] == [
            ["evaluated", "skipped"],
            ["---:", "---:"],
            ["2/1", "0/1"],
            ["", ""],
            ["", ""],
        ]


def test_rows_that_begin_like_an_argument_of_latex() -> None:
    """The command that ends a row takes a star and a bracket."""
    names = ["*a", "[b]", "c--d", "`e", "f-g"]
    comparison = exactk.compare([[1]], {name: [[1]] for name in names}, "P@1", groups=["[g"])
    rows = [row[0] for row in cells_of_latex(comparison.to_latex(systems_as_rows=True))]
    assert rows == ["system", "{}*a", "{[}b]", "c-{}-d", r"\textasciigrave{}e", "f-g"]
    assert cells_of_latex(comparison.to_latex())[0][1:] == ["*a", *rows[2:]]
    assert cells_of_latex(comparison.to_latex(table="by_group"))[1][0] == "{[}g"


def test_a_legend_is_of_the_cells_that_are_shown(comparison: exactk.Comparison) -> None:
    users = "30 users per group, matched by row"
    for table, tests in (
        ("values", "Holm over 3 comparisons per metric; level 0.05; 60 users, matched by row"),
        ("by_group", f"Holm over 3 comparisons per metric in each group; level 0.05; {users}"),
    ):
        text = comparison.to_markdown(table=table)  # type: ignore[call-overload]
        assert tests in text
        assert text.endswith(
            "; no letters in num_recommended@10: users have no values to test, or neither direction is better"
        )
        assert comparison.to_markdown(table=table, metrics="P@10").endswith(f"(paired t test; {tests})")  # type: ignore[call-overload]
        assert "<sup>" not in comparison.to_markdown(table=table, metrics="num_recommended@10")  # type: ignore[call-overload]


@pytest.mark.parametrize("table", ["values", "by_item_group", "per_user"])
def test_metrics_that_a_table_lacks(table: Any) -> None:
    items = exactk.Items(["tea", "milk", "bread"], item_groups=["drink", "drink", "food"])
    metrics = ["P@1", "coverage@1", "exposure@1"]
    comparison = exactk.compare(
        [["tea"], ["milk"]],
        {"one": [["tea"], ["bread"]], "other": [["milk"], ["milk"]]},
        metrics,
        items=items,
        per_user=True,
    )
    lacking = {"by_item_group": metrics[:2], "per_user": metrics[1:]}.get(table, [])
    for result in (comparison, comparison.reports["one"]):
        for metric in metrics:
            if metric in lacking:
                with pytest.raises(
                    exactk.InputError, match=f"metrics: expected metrics of .* in this table, found '{metric}'"
                ):
                    result.to_markdown(table=table, metrics=metric)
            else:
                assert metric in result.to_markdown(table=table, metrics=metric)


def test_diagnostics_of_groups_and_of_one_report(comparison: exactk.Comparison) -> None:
    for result, system in ((comparison, ["system"]), (comparison.reports["weak"], [])):
        rows = cells_of_markdown(result.to_markdown(table="by_group", diagnostics=True))
        assert [row[-1] for row in rows] == ["evaluated", "---:", *["30"] * 6]
        if system:
            rows = cells_of_markdown(result.to_markdown(table="by_group", diagnostics=True, systems_as_rows=True))
            assert [row[-1] for row in rows] == ["evaluated", "---:", *["30"] * 6]
    report = exactk.evaluate({"ann": [1], "bob": [2]}, {"ann": [1], "eve": []}, "P@1(empty_list=skip)")
    assert cells_of_markdown(report.to_markdown(diagnostics=True))[2:] == [
        ["P@1(empty_list=skip)", "0.5000", "0.5000", "2", "1"],
        ["users with empty lists", "1", "", "", ""],
        ["users without predictions", "1", "", "", ""],
        ["users not in the truth", "1", "", "", ""],
    ]


def test_digits_and_rules_are_checked(comparison: exactk.Comparison) -> None:
    assert comparison.to_markdown(digits=np.int64(2)) == comparison.to_markdown(digits=2)  # type: ignore[call-overload]
    assert cells_of_markdown(comparison.to_markdown(digits=0))[-1] == ["num_recommended@10", "10", "10", "10"]
    with pytest.raises(exactk.InputTypeError, match="booktabs: expected True or False, found 1"):
        comparison.to_latex(booktabs=1)  # type: ignore[call-overload]
    with pytest.raises(exactk.InputTypeError, match="digits: expected an integer, found True"):
        comparison.to_markdown(digits=True)
    for caption, begin in (("What?", "What? Best"), ("A", "A. Best"), ("", "Best"), (" a \n b: ", "a b: Best")):
        assert rf"\caption{{{begin} values" in comparison.to_latex(caption=caption)


def test_what_else_is_a_table(comparison: exactk.Comparison) -> None:
    ranks = comparison.ranks("P@10")
    frame = ranks.to_pandas()
    assert frame.columns.tolist() == ["system", "P@10", "best_rank", "worst_rank"]
    assert {row.system: (row.best_rank, row.worst_rank) for row in frame.itertuples()} == {
        system: tuple(interval) for system, interval in ranks.items()
    }
    assert ranks.to_markdown(digits=1).splitlines()[2] == f"| strong | {comparison['P@10']['strong']:.1f} | 1 |"
    assert "Holm" in ranks.to_latex()
    choice = exactk.choose(comparison, "P@10", {"recall@5": 0.2})
    assert choice.to_pandas()["P@10"].tolist() == list(comparison["P@10"].values())
    assert "fails recall@5 >= 0.2" in choice.to_markdown() or "satisfies all" in choice.to_markdown()
    matches = exactk.matching_conventions([[1]], [[2, 1]], {"mrr": 0.5})
    assert matches.to_pandas().columns.tolist() == ["convention", "mrr", "distance", "refusal"]
    assert len(matches.to_polars()) == len(matches.rows)


def test_judged_lists_are_a_table() -> None:
    truth, lists = {"ann": {"tea": 2.0, "rice": 1.0}, "bob": {"bread": 1.0}}, {"ann": ["tea", "milk"], "bob": []}
    judged = exactk.judge(truth, lists, k=3)
    frame = judged.to_pandas()
    expected = {
        "user": ["ann", "ann"],
        "rank": [1, 2],
        "item": ["tea", "milk"],
        "grade": [2.0, np.nan],
        "hit": [True, False],
    }
    pd.testing.assert_frame_equal(frame, pd.DataFrame(expected), check_dtype=False)
    assert judged.to_csv().splitlines() == ["user,rank,item,grade,hit", "ann,1,tea,2.0,True", "ann,2,milk,nan,False"]
    assert judged.to_markdown().splitlines()[2:] == ["| ann | 1 | tea | 2 | yes |", "| ann | 2 | milk |  |  |"]
    unkeyed = exactk.judge([[1], [2]], [[1], [3]], k=1).to_arrow().to_pydict()
    assert unkeyed["user"] == [0, 1]
    assert unkeyed["item"] == [1, 3]
    (block, *_) = list(exactk.judge([[1]] * 3, [[1]] * 3, k=1, block_users=1))[1:]
    assert block.to_pandas()["user"].tolist() == [1]
    many = exactk.judge([[1]] * 100, [[1]] * 100, k=1)._repr_html_()
    assert "the first 60 users; to_pandas() has all" in many
    assert many.count("<tr>") == 61


def test_best_items_are_a_table() -> None:
    best = exactk.topk({"ann": {"film": 0.5, "song": 0.75}, "bob": {"film": 0.25}}, k=2)
    assert best.to_csv().splitlines()[:2] == ["user,item,rank,score", "ann,song,1,0.75"]
    assert best.to_markdown(digits=1).splitlines()[2] == "| ann | 1 | song | 0.8 |"
    assert best.to_arrow().to_pydict() == {name: list(cells) for name, cells in best.columns().items()}


@pytest.mark.parametrize("name", ["to_json", "to_markdown", "to_latex", "to_csv", "to_html"])
@pytest.mark.parametrize("kind", [exactk.Report, exactk.Comparison])
def test_methods_that_write_show_their_path(kind: Any, name: str) -> None:
    method: Callable[..., object] = getattr(kind, name)
    assert list(inspect.signature(method).parameters)[:2] == ["self", "path"]
    text = pydoc.plain(pydoc.render_doc(method))
    assert text.count("path : str or path-like, optional") == 1
    assert "The file to write. Without it, the text is returned." in text


def test_files_have_what_is_returned(comparison: exactk.Comparison, tmp_path: Path) -> None:
    for name in ("to_json", "to_markdown", "to_latex", "to_csv"):
        write = getattr(comparison, name)
        assert write(tmp_path / "file") is None
        assert (tmp_path / "file").read_text(encoding="utf-8").rstrip("\n") == write().rstrip("\n")
        with pytest.raises(exactk.InputTypeError, match="path: expected a path"):
            write(3)


def test_a_table_shows_the_same_cells_in_all_forms() -> None:
    """Cells below those with letters have none, and take no space for any."""
    table = Table(
        [
            Column("name", ["a|b", "x_y"], "key"),
            Column("value", [0.5, 123456.7], digits=2, best={0}, letter="a", letters=[("b", "c")]),
            Column("note", ["-1 to 2", "3e-07"], "text"),
        ],
        legend="c: d",
    )
    assert format_text(table) == "name      value   note\na|b        0.50*  -1 to 2\nx_y   123456.70   3e-07"
    assert format_markdown(table).splitlines() == [
        "| name | <sup>a</sup> value | note |",
        "| --- | ---: | --- |",
        "| a\\|b | **0.50**<sup>bc</sup> | -1 to 2 |",
        "| x_y | 123456.70 | 3e-07 |",
        "",
        "C: d",
    ]
    assert cells_of_latex(format_latex(table)) == [
        ["name", "$^{a}$value", "note"],
        [r"a\textbar{}b", r"\textbf{0.50}$^{bc}$", "-1 to 2"],
        [r"x\_y", "123456.70", "3e-07"],
    ]


def test_a_comparison_prints_groups_of_items() -> None:
    items = exactk.Items(["tea", "milk", "bread"], item_groups=["drink", "drink", "food"])
    systems: Any = {"one": [["tea"], ["bread"]], "other": [["milk"], ["milk"]]}
    lines = repr(exactk.compare([["tea"], ["milk"]], systems, ["P@1", "exposure@1"], items=items)).splitlines()
    assert lines[3:6] == [
        "item group  metric         one   other  items",
        "drink       exposure@1  0.5000  1.0000      2",
        "food        exposure@1  0.5000  0.0000      1",
    ]
    many = exactk.Items(range(60), item_groups=[f"g{item}" for item in range(60)])
    lists: Any = {"one": [[1]], "other": [[2]]}
    text = repr(exactk.compare([[1]], lists, ["exposure@1", "exposure@2"], items=many))
    assert "\n54 more groups in to_pandas('by_item_group')\n" in text
    assert text.count("exposure@1") == 7
