"""What is timed must be right: every answer is compared before its time counts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

import exactk
from benchmarks.workload import Data, Ids, Workload
from exactk.typing import PredictionsLike

WALKED = 20_000  # how many ids and relevant items the reference, which is slow, is given
ULPS = 4 * np.finfo(np.float64).eps
PEERS_AGREE = 1e-9
FACTORS_AGREE = 1e-3  # products in single precision put some near items in another order: a hit more or less


class WrongAnswerError(AssertionError):
    """What was to be timed computes something else."""


def evaluate(workload: Workload, data: Data, **options: object) -> exactk.Report:
    """Return the report of a workload: the call that is timed, building the truth included."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*look like sampled negatives", exactk.EvaluationWarning)  # as they are
        return exactk.evaluate(
            *arguments(data), workload.values, **{"exclude": exclude(data), **workload.options, **options}
        )


def arguments(data: Data) -> tuple[exactk.Truth, PredictionsLike]:
    """Return truth and predictions as `exactk.evaluate` takes them."""
    truth = exactk.Truth(data.indptr, data.items)
    if data.factors is not None:
        return truth, exactk.Embeddings(data.predictions, data.factors)
    if data.candidates is None:
        return truth, data.predictions
    offsets = row_offsets(data.candidates)
    return truth, exactk.SparseScores(offsets, data.candidates.reshape(-1), data.predictions.reshape(-1))


def exclude(data: Data) -> exactk.Exclusions | None:
    """Return what must not be recommended."""
    return None if data.excluded is None else exactk.Exclusions(row_offsets(data.excluded), data.excluded.reshape(-1))


def row_offsets(rows: Ids) -> NDArray[np.int64]:
    """Return where each row begins in the flattened array, and where the last one ends."""
    offsets: NDArray[np.int64] = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
    return offsets


def check(workload: Workload, data: Data, report: exactk.Report) -> None:
    """Raise unless a report is that of the reference.

    The reference evaluates some users, spread over all: their values must be the table's. That the
    report is the mean over the table holds for every user, and is computed anew.
    """
    table = report.per_user or evaluate(workload, data, per_user=True).per_user
    users = sample(workload)
    sampled = data.rows(users)
    expected = exactk.reference.evaluate(
        *arguments(sampled), workload.values, exclude=exclude(sampled), per_user=True
    ).per_user
    for name in workload.values:
        close = np.isclose(table[name][users], expected[name], rtol=ULPS, atol=0, equal_nan=True)
        if not close.all():
            user = int(users[np.argmin(close)])
            message = f"{workload.name}: {name} of user {user} is {table[name][user]}, not that of the reference"
            raise WrongAnswerError(message)
        compare(workload.name, {name: report[name]}, {name: mean(table[name])}, ULPS)


def sample(workload: Workload) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the users whom the reference evaluates: all of a small workload."""
    count = max(4, WALKED // (workload.length + workload.relevant))
    return np.unique(np.linspace(0, workload.users - 1, min(count, workload.users)).astype(np.intp))


def mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return the mean over the users who have a value."""
    present = values[~np.isnan(values)]
    return math.fsum(present) / len(present)


def compare(who: str, values: Mapping[str, float], expected: Mapping[str, float], tolerance: float) -> None:
    """Raise unless each value is the expected one, relative to its size."""
    for name, value in values.items():
        if not math.isclose(value, expected[name], rel_tol=tolerance, abs_tol=0):
            message = f"{who}: {name} is {value}, not {expected[name]}"
            raise WrongAnswerError(message)
