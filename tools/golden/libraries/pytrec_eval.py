"""pytrec_eval: dicts of dicts, measures by trec_eval's names, the mean of what was returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.cases import INTEGERS, NO_RANKS, Case, Knobs

if TYPE_CHECKING:
    from golden.record import Output

DISTRIBUTION = "pytrec-eval-terrier"
MODULE = "pytrec_eval"
REQUIREMENTS = ("pytrec-eval-terrier==0.5.11",)
SOURCE = ""
INPUT = "sparse scores"
MIN_SCORE = None
# A user whose dict of judgments is empty is no user.
KNOBS = Knobs(
    grades=(-1, 0, 1, 2, 3),
    all_negative=False,  # of such a user, trec_eval reads memory that it has not set
    empty_truth=False,
    missing_truth=True,
    missing_list=True,
    sorted=False,
    ties=True,
    close_scores=True,
    infinite_scores=True,
)
NOT_DRAWN = {"fractional grade": INTEGERS, "gap in ranks": NO_RANKS}
DIFFERS: dict[str, str] = {}
TOLERANCE = 1e-12

AT_CUTOFF = {
    "precision": "P",
    "recall": "recall",
    "average_precision": "map_cut",
    "ndcg": "ndcg_cut",
    "hit_rate": "success",
}
UNCUT = {
    "average_precision": "map",
    "ndcg": "ndcg",
    "reciprocal_rank": "recip_rank",
    "r_precision": "Rprec",
    "bpref": "bpref",
    "precision": "set_P",
    "recall": "set_recall",
    "set_average_precision": "set_map",
    "f1": "set_F",
}
COUNTS = {"num_recommended": "num_ret", "num_relevant": "num_rel", "num_hits": "num_rel_ret"}  # whose means are sums
MEANS = {"average_precision(average=geometric)": "gm_map"}  # whose values are logarithms
CALLS = {f"{metric}@k": f"{measure}_k" for metric, measure in AT_CUTOFF.items()} | UNCUT | COUNTS | MEANS


def name(item: int) -> str:
    """Return an id whose order as text is that of the numbers."""
    return f"d{item:03}"


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by RelevanceEvaluator."""
    import pytrec_eval

    truth = {f"u{u}": {name(i): int(grade) for i, grade in row} for u, row in enumerate(case.truth) if row is not None}
    run = {f"u{u}": {name(i): score for i, score in row} for u, row in enumerate(case.predictions) if row is not None}
    ks = ",".join(map(str, case.cutoffs))
    measures = {f"{measure}.{ks}" for measure in AT_CUTOFF.values()} | {
        *UNCUT.values(),
        *COUNTS.values(),
        *MEANS.values(),
    }
    found = pytrec_eval.RelevanceEvaluator(truth, measures).evaluate(run)

    def users(measure: str) -> list[float | None]:
        return [found.get(f"u{u}", {}).get(measure) for u in range(len(case.truth))]

    def mean(measure: str) -> float:
        return float(
            pytrec_eval.compute_aggregated_measure(measure, [value for value in users(measure) if value is not None])
        )

    asked = UNCUT | {f"{metric}@{k}": f"{measure}_{k}" for metric, measure in AT_CUTOFF.items() for k in case.cutoffs}
    outputs: dict[str, Output] = {metric: (mean(measure), users(measure)) for metric, measure in asked.items()}
    outputs |= {metric: (None, users(measure)) for metric, measure in COUNTS.items()}
    return outputs | {metric: (mean(measure), None) for metric, measure in MEANS.items()}
