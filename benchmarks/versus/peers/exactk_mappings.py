"""Ours from mappings of mappings, whose keys are encoded in each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import exactk
from benchmarks.keyed import Keyed

if TYPE_CHECKING:
    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the mappings."""
    assert isinstance(workload, Keyed)
    truth, predictions = (rows.mapping() for rows in workload.long_format(data))
    return {"exactk": lambda: dict(exactk.evaluate(truth, predictions, workload.values, **workload.options))}
