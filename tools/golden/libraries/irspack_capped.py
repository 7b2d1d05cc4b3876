"""irspack's Evaluator with recall_with_cutoff: a perfect list has recall 1, however short it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.libraries.irspack import (
    DIFFERS,
    DISTRIBUTION,
    INPUT,
    KNOBS,
    MIN_SCORE,
    MODULE,
    NAMES,
    NOT_DRAWN,
    REQUIREMENTS,
    SOURCE,
    TOLERANCE,
    by_scores,
)

if TYPE_CHECKING:
    from golden.cases import Case
    from golden.record import Output

__all__ = [
    "DIFFERS",
    "DISTRIBUTION",
    "INPUT",
    "KNOBS",
    "MIN_SCORE",
    "MODULE",
    "NOT_DRAWN",
    "REQUIREMENTS",
    "SOURCE",
    "TOLERANCE",
]

CALLS = {f"{metric}@k": f"Evaluator(recall_with_cutoff=True) {name}@k" for metric, name in NAMES.items()}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by an Evaluator with recall_with_cutoff."""
    return by_scores(case, recall_with_cutoff=True)
