"""The signed-rank test of Wilcoxon, on rounded differences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from exactk._inference.significance import LEAST_P, Significance
from exactk._runtime import optional

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inference.significance import Alternative

_FRACTION_BITS = 40


def rounded_differences(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the differences as whole multiples of a unit: 2^-40 of the power of 2 above all values, or of 1.

    Values of metrics are few and discrete: 0.7 - 0.5 and 0.3 - 0.1 are one difference, but two doubles.
    """
    largest = max(1.0, *(float(np.abs(one).max(initial=0.0)) for one in (values, others)))
    rounded: NDArray[np.float64] = np.rint(np.ldexp(values - others, _FRACTION_BITS - math.ceil(math.log2(largest))))
    return rounded


def wilcoxon_test(
    values: NDArray[np.float64], others: NDArray[np.float64], alternative: Alternative
) -> tuple[Significance, float]:
    """Return the test and the rank-biserial correlation r = (W+ - W-) / (W+ + W-).

    Differences of 0 are left out. The p-value is that of the normal approximation with its correction for ties.
    """
    differences = rounded_differences(values, others)
    differences = differences[differences != 0]
    if not len(differences):
        return Significance(0.0, 1.0, is_exact=True), 0.0
    stats = optional.scipy_stats()
    result = stats.wilcoxon(differences, alternative=alternative.replace("_", "-"), method="approx")
    ranks = stats.rankdata(np.abs(differences))
    positive, every = float(ranks[differences > 0].sum()), float(ranks.sum())
    p = min(1.0, max(float(result.pvalue), LEAST_P))
    return Significance(float(result.statistic), p, is_exact=False), (2 * positive - every) / every
