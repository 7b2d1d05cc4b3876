"""A notebook in a real kernel: what cells show, and the progress bar. `make notebook` runs this."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

PAGE = Path(__file__).parent.parent.parent / "build" / "notebook" / "notebook.html"
SETUP = """
import sys; sys.path.insert(0, {tests!r})
import exactk
from html_pages import compared, data
truth, systems = data()
comparison = compared(baseline="system 0", margin={{"mrr": "2%"}})
"""
SHOWN = {
    "report": 'comparison.reports["system 1"]',
    "comparison": "comparison",
    "differences": "comparison.differences",
    "groups": "comparison.differences.by_group",
    "ranks": 'compared().ranks("mrr")',
    "gate": 'comparison.check(no_worse="mrr", better={"ndcg@10": "1%"})',
    "topk": "exactk.topk([[0.1, 0.9, 0.3], [0.5, 0.2, 0.4]], 2)",
    "metrics": "exactk.metrics",
    "metric": 'exactk.metrics["ndcg"]',
    "conventions": "exactk.conventions",
    "convention": 'exactk.conventions["trec_eval"]',
    "wide": "exactk.compare(truth, data(systems=30)[1], [f'ndcg@{k}' for k in range(1, 40)])",
}


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[Any]]:
    """Run the notebook, write it as a page to look at, and return the outputs of its cells."""
    setup = SETUP.format(tests=str(Path(__file__).parent.parent))
    progress = 'exactk.evaluate(truth, systems["system 0"], "mrr", progress=True)["mrr"]'
    plot = 'display = comparison.plot("curves")'
    cells = {"setup": setup, **SHOWN, "progress": progress, "plot": plot}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells.values()])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
    return {name: cell.outputs for name, cell in zip(cells, notebook.cells, strict=True)}


@pytest.mark.parametrize("name", SHOWN)
def test_a_cell_shows_a_small_table_and_keeps_the_text(outputs: dict[str, list[Any]], name: str) -> None:
    (output,) = [one for one in outputs[name] if one.output_type == "execute_result"]
    assert output.data["text/plain"]
    table = output.data["text/html"]
    assert table.startswith('<div class="exactk-')
    assert len(table.encode()) <= 20_000
    assert "<script" not in table


def test_the_progress_bar_is_one_output(outputs: dict[str, list[Any]]) -> None:
    bars = [one for one in outputs["progress"] if one.output_type == "display_data"]
    assert [one.data["text/plain"] for one in bars] == ["120 of 120 users"]
    assert '<progress aria-label="users" value="120" max="120"' in bars[0].data["text/html"]


def test_a_plot_is_a_picture(outputs: dict[str, list[Any]]) -> None:
    assert any("image/png" in one.get("data", {}) for one in outputs["plot"])
