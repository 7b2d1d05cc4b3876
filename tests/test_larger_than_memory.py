"""The recipes for files larger than memory give the state of one evaluation, bit for bit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import exactk

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "larger_than_one_machine.md"


def recipe(section: str) -> str:
    """Return the last code of a section of the page, which its example and this test share."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return blocks[-1]


def drawn_rows(key: type, seed: int, columns: tuple[str, ...]) -> pa.Table:
    random = np.random.default_rng(seed)
    pairs = np.unique(random.integers(0, (300, 40), (3000, 2)), axis=0)
    pairs = pairs[random.permutation(len(pairs))]
    users, items = ([key(one) for one in column] for column in pairs.T.tolist())
    table = pa.table({"user_id": users, "item_id": items})
    for name in columns:
        table = table.append_column(name, pa.array(np.round(random.random(len(table)), 1)))
    return table


@pytest.mark.parametrize("key", [int, str])
@pytest.mark.parametrize("section", ["One machine: DuckDB", "One machine: Polars"])
def test_the_recipe_gives_the_state_of_one_evaluation(
    section: str, key: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    truth, predictions = drawn_rows(key, 1, ()), drawn_rows(key, 2, ("score",))
    pq.write_table(predictions, "predictions.parquet")
    duckdb.from_arrow(truth).create("truth")
    duckdb.from_arrow(predictions).create("predictions")
    variables: dict[str, Any] = {"duckdb": duckdb, "exactk": exactk, "pl": pl, "truth": truth}
    try:
        exec(recipe(section), variables)  # noqa: S102 - the page is our own
    finally:
        duckdb.sql("DROP TABLE truth")
        duckdb.sql("DROP TABLE predictions")
    assert variables["report"].state == exactk.evaluate(truth, predictions, "recall@2").state
