"""elliot: dicts of recommendations, a metric an object, the mean over who has a list and a relevant item."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from golden.cases import LISTS, NOT_RECORDED, RANKS, SCORES, Case, Knobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golden.record import Output

DISTRIBUTION = ""
MODULE = "elliot"
REQUIREMENTS = ("numpy==2.3.5",)
SOURCE = "https://github.com/sisinflab/elliot at c085d430258f4e18bca38133c5f979835032f4ec"
INPUT = "rankings"
MIN_SCORE = None
KNOBS = Knobs(grades=(0.5, 1, 2, 3), missing_truth=True, missing_list=True, unknown_truth=True)
NOT_DRAWN = dict.fromkeys((*SCORES, *RANKS), LISTS) | dict.fromkeys(("grade 0", "negative grade"), NOT_RECORDED)
DIFFERS: Mapping[str, str] = {}
TOLERANCE = 1e-12

# exactk's metric, its rules, the module, the class, relevance_threshold
ASKED = (
    ("precision", "", "precision.precision", "Precision", 1),
    ("precision", "(min_grade=2)", "precision.precision", "Precision", 2),
    ("recall", "", "recall.recall", "Recall", 1),
    ("f1", "", "f1.f1", "F1", 1),
    ("hit_rate", "", "hit_rate.hit_rate", "HR", 1),
    ("mean_precision", "", "map.map", "MAP", 1),
    ("reciprocal_rank", "", "mrr.mrr", "MRR", 1),
    ("ndcg", "", "ndcg.ndcg", "nDCG", 1),
    ("ndcg", "(min_grade=2)", "ndcg.ndcg", "nDCG", 2),
    ("ndcg", "(gain=binary)", "ndcg.ndcg_rendle2020", "nDCGRendle2020", 1),
)
CALLS = {
    f"{metric}@k{rules}": f"{name} with cutoff k, relevance_threshold {threshold}"
    for metric, rules, _, name, threshold in ASKED
}


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by the metrics that the Evaluator would make."""
    relevance = _module("relevance.relevance").Relevance
    test = {user: dict(row) for user, row in enumerate(case.truth) if row}
    recommendations = {user: row for user, row in enumerate(case.predictions) if row is not None and user in test}
    outputs: dict[str, Output] = {}
    for metric, rules, module, name, threshold in ASKED:
        for k in case.cutoffs:
            objects = SimpleNamespace(relevance=relevance(test, threshold), cutoff=k)
            made = getattr(_module(f"metrics.accuracy.{module}"), name)(recommendations, None, None, objects)
            users = made.eval_user_metric()
            outputs[f"{metric}@{k}{rules}"] = (
                float(made.eval()) if users else None,
                [users.get(user) for user in range(len(case.truth))],
            )
    return outputs


def _module(name: str) -> Any:
    """Import a module of elliot's evaluation without the packages around it, which import every framework."""
    path = Path(os.environ["EXACTK_SOURCE"])
    for part in ("elliot", "elliot.evaluation", "elliot.evaluation.metrics", "elliot.evaluation.relevance"):
        package = sys.modules.setdefault(part, ModuleType(part))
        package.__path__ = [str(path.joinpath(*part.split(".")))]
    return import_module(f"elliot.evaluation.{name}")
