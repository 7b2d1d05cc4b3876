"""NeuRec's backend in C++: scores of all items in float32, the metrics at every cutoff up to the deepest.

Its backend in Python divides average precision by the sum of min(i, |T|) over the ranks i <= k, which is another metric.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from golden.cases import NO_RANKS, Case, Knobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golden.record import Output

DISTRIBUTION = ""
MODULE = "neurec"
REQUIREMENTS = ("numpy==2.3.5",)
SOURCE = "https://github.com/wubinzzu/NeuRec at f8d3ab7911326a799b74155e4fa716048795f490"
INPUT = "scores"
MIN_SCORE = None
# Every user of the test set has a test item, and a score for every item; ties are in any order.
KNOBS = Knobs(
    grades=(-1, 0, 0.5, 1, 2, 3),
    empty_truth=False,
    empty_list=False,
    missing_truth=True,
    short_list=False,
    full_list=True,
    sorted=False,
    infinite_scores=True,
    negative_scores=True,
)
NOT_DRAWN = {
    "float32 tie": "items whose scores are equal as float32 are in any order",
    "gap in ranks": NO_RANKS,
    "user without list": "every user of the test set is scored",
}
DIFFERS: Mapping[str, str] = {}
TOLERANCE = 1e-6  # values and their mean are float32

METRICS = ("precision", "recall", "average_precision", "ndcg", "reciprocal_rank")  # as metric.h numbers them from 1
CALLS = {
    f"{metric}@k": f"eval_one_user with metric {number}, the mean by numpy"
    for number, metric in enumerate(METRICS, start=1)
}

BRIDGE = """
#include "evaluate.h"
extern "C" void bridge(float *ratings, int items, const int *truth, int judged, int k, float *results) {
  eval_one_user(ratings, items, unordered_set<int>(truth, truth + judged), {1, 2, 3, 4, 5}, k, results);
}
"""


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by eval_one_user, which UniEvaluator calls for each user of the test set."""
    import numpy as np

    deepest = max(case.cutoffs)
    values = np.full((len(case.truth), len(METRICS), deepest), np.nan, np.float32)
    users = [user for user, row in enumerate(case.truth) if row is not None]
    for user in users:
        scores = dict(case.predictions[user] or [])
        ratings = np.array([scores[item] for item in range(case.items)], np.float32)
        truth = np.array([item for item, _ in case.truth[user] or []], np.int32)
        found = np.empty((len(METRICS), deepest), np.float32)
        _bridge().bridge(
            ratings.ctypes.data_as(ctypes.c_void_p),
            len(ratings),
            truth.ctypes.data_as(ctypes.c_void_p),
            len(truth),
            deepest,
            found.ctypes.data_as(ctypes.c_void_p),
        )
        values[user] = found
    means = np.mean(values[users], axis=0)
    return {
        f"{metric}@{k}": (
            float(means[number, k - 1]),
            [None if row is None else float(values[user, number, k - 1]) for user, row in enumerate(case.truth)],
        )
        for number, metric in enumerate(METRICS)
        for k in case.cutoffs
    }


@cache
def _bridge() -> ctypes.CDLL:
    """Compile the headers."""
    source = Path(os.environ["EXACTK_SOURCE"])
    includes = [source / "evaluator" / "backend" / "cpp" / "include", source / "util" / "cython" / "include"]
    with TemporaryDirectory() as folder:
        built = Path(folder, "bridge.so")
        command = ["c++", "-std=c++14", "-O2", "-shared", "-fPIC", "-pthread", "-x", "c++", "-", "-o", str(built)]
        command += [f"-I{include}" for include in includes]
        subprocess.run(command, input=BRIDGE, text=True, check=True)  # noqa: S603 - our own arguments
        return ctypes.CDLL(str(built))
