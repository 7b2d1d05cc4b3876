"""What parts of `lists_100` cost, each by itself and on one thread: shares of a run on one thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import metrik
from benchmarks.answers import evaluate
from benchmarks.timing import Sample, compete, turn
from benchmarks.workloads import LISTS_100
from metrik import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.workloads import Data

WHOLE, TRUTH, VALIDATION, NO_REFUSAL = "whole", "building Truth", "validation", "repeats not refused"


def stages(data: Data) -> dict[str, Sample]:
    """Time a whole run, and what can be told apart of it from Python."""
    truth = metrik.Truth(data.indptr, data.items)
    one = {"num_threads": 1}
    lenient = metrik.conventions["standard"].replace(duplicate_items="first")
    calls: dict[str, Callable[[], object]] = {
        WHOLE: lambda: evaluate(LISTS_100, data, **one),
        NO_REFUSAL: lambda: evaluate(LISTS_100, data, **one, convention=lenient),
        TRUTH: lambda: metrik.Truth(data.indptr, data.items),
        VALIDATION: lambda: validate(truth, data),
    }
    return compete({name: partial(turn, call) for name, call in calls.items()})


def repeats(timed: dict[str, Sample]) -> float:
    """Return the share of a run that is spent on finding repeated ids, as far as Python can tell: a lower bound.

    It is what a run is longer than one that accepts repeated items (without counting them as hits, so
    that the same sums are taken). Where such a run looks for them all the same, as it must to report how
    many there are, this is about 0. What would tell: a function of the core that does the check alone,
    with the code of the pass, such as ``_core.Lists.count_repeats()`` on one thread, timed like
    `validate`.
    """
    return 1 - timed[NO_REFUSAL].over(timed[WHOLE])


def validate(truth: metrik.Truth, data: Data) -> None:
    """Do all that is checked of the arrays but repeated items, as often as an evaluation does it.

    The truth is checked when it is built, and again by the core, which trusts nobody.
    """
    users, length = data.predictions.shape
    indptr = np.arange(users + 1, dtype=np.int64) * length
    given = _core.Lists(data.items, data.indptr, None, None, "truth")
    given.validate("truth", None)
    truth.core.validate("truth", None)
    _core.padded_lengths(data.predictions, "predictions")
    _core.Lists(data.predictions.reshape(-1), indptr, None, None, "predictions").validate("predictions", None)
