"""`exactk.compat.torchmetrics` in several processes: each has the values of all documents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import distributed_retrieval

pytest.importorskip("torch", reason="install torch, as `make engines` does")
pytest.importorskip("torchmetrics", reason="exactk.compat.torchmetrics needs torchmetrics")


def of_processes(size: int, folder: Path) -> list[dict[str, Any]]:
    """Run the processes together; return what each computed."""
    command = [sys.executable, distributed_retrieval.__file__]
    running = [
        subprocess.Popen([*command, str(rank), str(size), str(folder)], stderr=subprocess.PIPE, text=True)  # noqa: S603
        for rank in range(size)
    ]
    for process in running:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    return [json.loads((folder / f"{rank}.json").read_text(encoding="utf-8")) for rank in range(size)]


@pytest.mark.parametrize("size", [2, 3])
def test_each_process_has_the_values_of_all(size: int, tmp_path: Path) -> None:
    first, *others = of_processes(size, tmp_path)
    for name, found in first.items():
        assert found["ours"] == found["all alone"], name
        assert found["theirs"] == [pytest.approx(one, abs=1e-6) for one in found["ours"]], name
        for other in others:
            assert [other[name][side] for side in ("ours", "theirs")] == [found["ours"], found["theirs"]], name
    assert any(found["ours"] != found["alone"] for found in first.values())  # a process has a part of the documents
