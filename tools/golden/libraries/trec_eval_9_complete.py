"""trec_eval -c: the mean is over who is in the truth, and who has no list counts 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from golden.libraries.trec_eval_9 import MEANS, user_values, values

if TYPE_CHECKING:
    from golden.cases import Case
    from golden.record import Output

BASE = "trec_eval_9"
LEAST = 1e-5  # trec_eval's MIN_GEO_MEAN, for a value of 0


def evaluate(case: Case) -> dict[str, Output]:
    """Divide by the number of judged users, as -c does; of who has no list trec_eval prints no line."""
    judged = sum(bool(row) for row in case.truth)
    outputs: dict[str, Output] = {
        metric: (sum(value or 0 for value in those) / judged, None) for metric, those in user_values(case).items()
    }
    for metric, those in values(case, MEANS).items():
        logarithms = [
            math.log(LEAST) if value is None else value for value, row in zip(those, case.truth, strict=True) if row
        ]
        outputs[metric] = (math.exp(sum(logarithms) / judged), None)
    return outputs
