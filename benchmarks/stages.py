"""What parts of `lists_100` cost, each by itself and on one thread: shares of a run on one thread."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

import exactk
from benchmarks.answers import evaluate
from benchmarks.timing import Sample, compete, turn
from benchmarks.workloads import LISTS_100
from exactk import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.workload import Data

STAGES = Path("build/release/exactk_stages")
WHOLE, TRUTH, VALIDATION = "whole", "building Truth", "validation"


def stages(data: Data) -> dict[str, Sample]:
    """Time a whole run, and parts of it."""
    truth = exactk.Truth(data.indptr, data.items)
    options = {"num_threads": 1}
    calls: dict[str, Callable[[], object]] = {
        WHOLE: lambda: evaluate(LISTS_100, data, **options),
        TRUTH: lambda: exactk.Truth(data.indptr, data.items),
        VALIDATION: lambda: validate(truth, data),
    }
    return compete({name: partial(turn, call) for name, call in calls.items()})


def repeats_share(data: Data, samples: dict[str, Sample]) -> float:
    """Return the share of a run that is spent on finding repeated ids: on marking what is listed.

    By the core's own pass over the lists beside one that only looks at the marks (``cpp/stages.cpp``).
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "predictions"
        data.predictions.tofile(file)
        command = [str(STAGES), str(file), str(LISTS_100.length)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True)
    marking, looking = map(float, printed.stdout.split())
    return (marking - looking) / samples[WHOLE].median


def validate(truth: exactk.Truth, data: Data) -> None:
    """Do all that is checked of the arrays but repeated items, as often as an evaluation does it.

    The truth is checked when it is built, and again by the core, which trusts nobody.
    """
    users, length = data.predictions.shape
    indptr = np.arange(users + 1, dtype=np.int64) * length
    truth_lists = _core.Lists(data.items, data.indptr, None, None, "truth")
    truth_lists.validate("truth", None)
    truth.core.validate("truth", None)
    _core.padded_lengths(data.predictions, "predictions")
    _core.Lists(data.predictions.reshape(-1), indptr, None, None, "predictions").validate("predictions", None)
