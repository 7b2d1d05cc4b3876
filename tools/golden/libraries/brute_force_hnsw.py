"""The procedure of a text: an exact search's neighbours are the relevant, an approximate one's the recommended."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from golden.cases import BINARY, BOTH_SIDES, GRADES, LISTS, ONE_SIDE, RANKS, SCORES, Case, Knobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golden.record import Output

DISTRIBUTION = ""
MODULE = "fractions"
REQUIREMENTS = ()
SOURCE = "the procedure's text"
INPUT = "rankings"
MIN_SCORE = None
KNOBS = Knobs(unknown_truth=True)
NOT_DRAWN = (
    dict.fromkeys(GRADES, BINARY) | dict.fromkeys((*SCORES, *RANKS), LISTS) | dict.fromkeys(ONE_SIDE, BOTH_SIDES)
)
DIFFERS: Mapping[str, str] = {}
TOLERANCE = 1e-12
CALLS = {
    "precision@k": "common / recommended, 1 if nothing is recommended",
    "recall@k": "common / relevant, 1 if nothing is relevant",
}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by sets and fractions: at the cutoffs, and all that was recommended."""
    relevant = [{item for item, _ in row or []} for row in case.truth]
    outputs: dict[str, Output] = {}
    for k in (*case.cutoffs, None):
        at = "" if k is None else f"@{k}"
        recommended = [{item for item, _ in (row or [])[:k]} for row in case.predictions]
        outputs[f"precision{at}"] = _averaged(recommended, relevant, recommended)
        outputs[f"recall{at}"] = _averaged(recommended, relevant, relevant)
    return outputs


def _averaged(recommended: list[set[int]], relevant: list[set[int]], over: list[set[int]]) -> Output:
    """Return the mean share of what is common in one of the two, and the users' shares."""
    shares = [
        Fraction(len(found & wanted), len(whole)) if whole else Fraction(1)
        for found, wanted, whole in zip(recommended, relevant, over, strict=True)
    ]
    return float(sum(shares) / len(shares)), [float(share) for share in shares]
