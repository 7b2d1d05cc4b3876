"""Ours from lists of lists of int."""

from __future__ import annotations

from typing import TYPE_CHECKING

import exactk

if TYPE_CHECKING:
    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the lists."""
    truth = data.items.reshape(workload.users, workload.relevant).tolist()
    lists = data.predictions.tolist()
    return {"exactk": lambda: dict(exactk.evaluate(truth, lists, workload.values, **workload.options))}
