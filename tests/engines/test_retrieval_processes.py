"""`exactk.compat.torchmetrics` in several processes: each has the values of all documents."""

from __future__ import annotations

from pathlib import Path

import pytest

import distributed_retrieval
from engines.cases import of_processes

pytest.importorskip("torch", reason="install torch, as `make engines` does")
pytest.importorskip("torchmetrics", reason="exactk.compat.torchmetrics needs torchmetrics")


@pytest.mark.parametrize("size", [2, 3])
def test_each_process_has_the_values_of_all(size: int, tmp_path: Path) -> None:
    first, *others = of_processes(distributed_retrieval, size, tmp_path)
    for name, found in first.items():
        assert found["ours"] == found["all alone"], name
        assert found["theirs"] == [pytest.approx(one, abs=1e-6) for one in found["ours"]], name
        for other in others:
            assert [other[name][side] for side in ("ours", "theirs")] == [found["ours"], found["theirs"]], name
    assert any(found["ours"] != found["alone"] for found in first.values())  # a process has a part of the documents
