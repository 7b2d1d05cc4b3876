"""irspack's Evaluator with recall_with_cutoff: a perfect list has recall 1, however short it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.libraries.irspack import NAMES, by_scores

if TYPE_CHECKING:
    from golden.cases import Case
    from golden.record import Output

BASE = "irspack"
CALLS = {f"{metric}@k": f"Evaluator(recall_with_cutoff=True) {name}@k" for metric, name in NAMES.items()}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by an Evaluator with recall_with_cutoff."""
    return by_scores(case, recall_with_cutoff=True)
