"""What the tests of all engines share: drawn tables, and the code of the page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

METRICS = ["ndcg@[5,10]", "recall@10", "map", "mrr", "f1@5(average=micro)"]
USERS, ITEMS = 400, 90


def long_rows(random: np.random.Generator, users: range, most: int, kind: str) -> pa.Table:
    who = np.repeat(users, random.integers(0, most, len(users)))
    table = pa.table({"user_id": who, "item_id": random.integers(0, ITEMS, len(who))})
    table = table.group_by(["user_id", "item_id"], use_threads=False).aggregate([])
    if kind == "string":
        return pa.table({name: [f"{name[0]}{one}" for one in table[name].to_pylist()] for name in table.column_names})
    return table if kind == "int64" else table.cast(pa.schema([("user_id", pa.int32()), ("item_id", pa.int32())]))


class Case:
    """Users on one side only, ties at the cutoffs, exclusions, weights and groups."""

    def __init__(self, kind: str, truth_kind: str | None = None) -> None:
        random = np.random.default_rng(24)
        self.truth = long_rows(random, range(USERS), 9, truth_kind or kind)
        self.truth = self.truth.append_column("grade", pa.array(random.integers(0, 4, len(self.truth))))
        self.predictions = long_rows(random, range(20, USERS + 20), 30, kind)
        scores = pa.array(np.round(random.random(len(self.predictions)), 1))
        self.predictions = self.predictions.append_column("score", scores)
        self.exclude = long_rows(random, range(0, USERS + 40, 2), 9, kind)
        users = self.truth.group_by("user_id", use_threads=False).aggregate([])["user_id"]
        self.weights = pa.table({"user_id": users, "weight": random.integers(1, 9, len(users)) / 8})
        self.groups = pa.table({"user_id": users, "segment": random.choice(["new", "old"], len(users))})

    def lists(self) -> pa.Table:
        """Return the predictions as one list of items per user, best first."""
        order = [("user_id", "ascending"), ("score", "descending"), ("item_id", "ascending")]
        rows = self.predictions.sort_by(order)
        lists = rows.group_by("user_id", use_threads=False).aggregate([("item_id", "list")])
        return lists.rename_columns({"item_id_list": "items"})

    def structs(self) -> pa.Table:
        """Return the predictions as one list of structs per user."""
        fields = [self.predictions[name].combine_chunks() for name in ("item_id", "score")]
        structs = pa.StructArray.from_arrays(fields, ["item_id", "score"])
        rows = pa.table({"user_id": self.predictions["user_id"], "one": structs})
        lists: dict[str | int, list[object]] = {}
        for row in rows.to_pylist():
            lists.setdefault(row["user_id"], []).append(row["one"])
        dtype = pa.list_(structs.type)
        return pa.table({"user_id": list(lists), "recommendations": pa.array(list(lists.values()), dtype)})


def page_blocks(section: str) -> list[str]:
    """Return the code of a section of the page that no test of the suite runs."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "larger_than_one_machine.md").read_text(encoding="utf-8")
    text = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def page_variables(section: str, case: Case) -> dict[str, Any]:
    """Run the code of a section on the files that the page speaks of, in this folder; return its variables."""
    for name, table in (("truth", case.truth), ("predictions", case.predictions), ("train", case.exclude)):
        Path(name).mkdir()
        pq.write_table(table, f"{name}/part.parquet")
    variables: dict[str, Any] = {}
    blocks = page_blocks(section)
    assert blocks
    for block in blocks:
        exec(block, variables)  # noqa: S102 - the page is our own
    return variables


def frames(engine: Any, **tables: pa.Table) -> dict[str, Any]:
    """Return the tables as an engine's frames, each of another number of partitions."""
    return {name: engine.frame(table, 2 + index * 3) for index, (name, table) in enumerate(tables.items())}


def of_processes(program: ModuleType, size: int, folder: Path) -> list[dict[str, Any]]:
    """Run a program in several processes together; return what each wrote."""
    commands = [[sys.executable, str(program.__file__), str(rank), str(size), str(folder)] for rank in range(size)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]  # noqa: S603 - our own
    for process in running:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    return [json.loads((folder / f"{rank}.json").read_text(encoding="utf-8")) for rank in range(size)]
