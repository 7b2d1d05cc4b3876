"""The extras as Markdown, from pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

from exactk._runtime.table import markdown_of_cells

PROJECT = Path(__file__).parent.parent / "pyproject.toml"

_GIVES = {
    "pandas": "`to_pandas()` of reports, comparisons and `exactk.results.TopK`",
    "polars": "`to_polars()` of the same",
    "arrow": "Parquet and Arrow files, and JSON lines of more than 1 MB faster; `to_arrow()`; `--per-user` with a `.parquet` file",
    "compare": "tests and intervals of differences between systems; `report.interval`; `ConfidenceInterval` of `exactk.compat.replay`; `.npz` files with a sparse matrix of SciPy",
    "progress": "the bar of `progress=True` and of the command line",
    "report": "`to_html()` of reports and comparisons; `exactk report`",
    "plots": "`plot()` of reports and comparisons; `exactk.displays`",
    "spark": "`exactk.spark`; clusters of Spark mostly have it already",
    "dask": "`exactk.dask`",
    "ray": "`exactk.ray`",
    "sklearn": "the scorers of `exactk.compat.sklearn`",
    "torch": "`exactk.torch`, a metric of torchmetrics; `exactk.compat.torchmetrics`",
    "sentence-transformers": "`exactk.sentence_transformers`, the evaluator of retrieval of sentence-transformers",
    "ir-measures": "`exactk.compat.ir_measures`, a provider of ir_measures",
    "all": "all of these except `spark`, `dask`, `ray`, `sklearn`, `torch`, `sentence-transformers` and `ir-measures`",
}


def extras_table() -> str:
    """Return a row per extra: what it gives, and the libraries that it installs."""
    extras: dict[str, list[str]] = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    if extras.keys() != _GIVES.keys():
        raise ValueError(f"pyproject.toml has the extras {', '.join(extras)}")
    rows = [
        [f"`{extra}`", _GIVES[extra], ", ".join(f"`{library}`" for library in libraries if extra != "all")]
        for extra, libraries in extras.items()
    ]
    return markdown_of_cells(["extra", "what it gives", "libraries"], rows, left=3)
