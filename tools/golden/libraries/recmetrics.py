"""recmetrics: aligned lists of lists, the mean alone; precision and recall are those of the whole list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.cases import BINARY, BOTH_SIDES, GRADES, LISTS, ONE_SIDE, RANKS, SCORES, Case, Knobs
from golden.libraries._source import functions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golden.record import Output

# The release, 0.1.5, has no mapk.
DISTRIBUTION = ""
MODULE = "recmetrics"
REQUIREMENTS = ("numpy==2.3.5",)
SOURCE = "https://github.com/statisticianinstilettos/recmetrics at 6875bc85d61cd9c7b5aa0692bee2ad6e6626ff35"
INPUT = "rankings"
MIN_SCORE = None
KNOBS = Knobs(repeated_truth=True, unknown_truth=True)
NOT_DRAWN = (
    dict.fromkeys(GRADES, BINARY) | dict.fromkeys((*SCORES, *RANKS), LISTS) | dict.fromkeys(ONE_SIDE, BOTH_SIDES)
)
DIFFERS: Mapping[str, str] = {}
TOLERANCE = 5.1e-5  # precision and recall are rounded to four decimals, user by user

UNCUT = {"precision": "recommender_precision", "recall": "recommender_recall"}
AT_CUTOFF = {"average_precision@{}": "mapk", "average_precision@{}(ap_over=relevant)": "mark"}
CALLS = UNCUT | {metric.format("k"): f"{name}(k)" for metric, name in AT_CUTOFF.items()}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by the functions, and each user by a separate call."""
    import numpy as np

    library = functions("recmetrics/metrics.py", np=np)
    truth = [[item for item, _ in row or []] for row in case.truth]
    lists = [[item for item, _ in row or []] for row in case.predictions]
    outputs: dict[str, Output] = {metric: _asked(library[name], lists, truth) for metric, name in UNCUT.items()}
    for metric, name in AT_CUTOFF.items():
        for k in case.cutoffs:
            outputs[metric.format(k)] = _asked(library[name], truth, lists, k)
    return outputs


def _asked(function: Any, first: list[list[int]], second: list[list[int]], *k: int) -> Output:
    """Return the mean and the users' values, or the error of a list or a truth that is empty."""
    try:
        users = [float(function([one], [other], *k)) for one, other in zip(first, second, strict=True)]
        return float(function(first, second, *k)), [*users]
    except ZeroDivisionError as error:
        return repr(error)
