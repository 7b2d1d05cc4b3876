"""trec_eval, by its C code in pytrec-eval-terrier: the program itself is in no registry.

Its files are lines of a user and an item: who has no item is in no file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from golden.libraries.pytrec_eval import KNOBS as PYTREC_EVAL_KNOBS, name

if TYPE_CHECKING:
    from golden.cases import Case
    from golden.record import Output

BASE = "pytrec_eval"
KNOBS = replace(PYTREC_EVAL_KNOBS, negative_scores=True)

MEASURES = {
    "precision@k": "P.k",
    "precision@k(precision_over=min_cutoff_relevant)": "relative_P.k",
    "recall@k": "recall.k",
    "average_precision@k": "map_cut.k",
    "ndcg@k": "ndcg_cut.k",
    "average_precision": "map",
    "ndcg": "ndcg",
    "reciprocal_rank": "recip_rank",
    "r_precision": "Rprec",
    "bpref": "bpref",
    "precision(precision_over=min_list_relevant)": "set_relative_P",
    "set_average_precision": "set_map",
    f"fbeta(beta={2**0.5!r})": "set_F.2.0",  # what it names beta is its square
}
FROM_GRADE_2 = {  # -l 2, which ndcg does not heed
    "precision@k(min_grade=2)": "P.k",
    "average_precision(min_grade=2)": "map",
    "ndcg(min_grade=1)": "ndcg",
    "bpref(min_grade=2)": "bpref",
}
MEANS = {"average_precision(average=geometric)": "gm_map", "bpref(average=geometric)": "gm_bpref"}
CALLS = MEASURES | {metric: f"-l 2 {measure}" for metric, measure in FROM_GRADE_2.items()} | MEANS

Values = list[float | None]


def values(case: Case, measures: dict[str, str], level: int = 1) -> dict[str, Values]:
    """Return the values of the users who are in both files."""
    import pytrec_eval

    rows = [(f"u{u}", *pair) for u, pair in enumerate(zip(case.truth, case.predictions, strict=True))]
    truth = {user: {name(i): int(grade) for i, grade in row} for user, row, _ in rows if row}
    run = {user: {name(i): score for i, score in row} for user, _, row in rows if row}
    asked = {
        metric.replace("@k", f"@{k}"): measure.replace(".k", f".{k}")
        for metric, measure in measures.items()
        for k in (case.cutoffs if "@k" in metric else case.cutoffs[:1])
    }
    found = pytrec_eval.RelevanceEvaluator(truth, set(asked.values()), relevance_level=level).evaluate(run)
    answered = {metric: measure.replace("set_F.2.0", "set_F").replace(".", "_") for metric, measure in asked.items()}
    return {metric: [found.get(user, {}).get(measure) for user, *_ in rows] for metric, measure in answered.items()}


def user_values(case: Case) -> dict[str, Values]:
    """Return the values of all measures."""
    return values(case, MEASURES) | values(case, FROM_GRADE_2, level=2)


def mean(measure: str, those: Values) -> float:
    """Return the mean that trec_eval prints: of logarithms, what they are of."""
    import pytrec_eval

    return float(pytrec_eval.compute_aggregated_measure(measure, [value for value in those if value is not None]))


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate who is in both files."""
    outputs: dict[str, Output] = {metric: (mean("map", those), those) for metric, those in user_values(case).items()}
    return outputs | {metric: (mean(MEANS[metric], those), None) for metric, those in values(case, MEANS).items()}
