"""ir_measures: measures as objects, each computed by the first of the installed providers that has it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from golden.cases import INTEGERS, NO_RANKS, Case, Knobs

if TYPE_CHECKING:
    from golden.cases import Pairs
    from golden.record import Output

DISTRIBUTION = "ir-measures"
MODULE = "ir_measures"
REQUIREMENTS = ("ir-measures==0.4.3", "pytrec-eval-terrier==0.5.11", "cwl-eval==1.0.12")
SOURCE = ""
INPUT = "sparse scores"
MIN_SCORE = None
KNOBS = Knobs(
    grades=(-1, 0, 1, 2, 3),
    all_negative=False,  # of such a user, trec_eval reads memory that it has not set
    missing_truth=True,
    missing_list=True,
    sorted=False,
    ties=True,
    close_scores=True,
    infinite_scores=True,
    negative_scores=True,
)
NOT_DRAWN = {"fractional grade": INTEGERS, "gap in ranks": NO_RANKS}
UNJUDGED = " where a user has no judged item"
DIFFERS = {"num_recommended" + UNJUDGED: "It says that nothing was recommended to such a user."}
TOLERANCE = 1e-12

GAINS = "gains={0: 0, 1: 1, 2: 3, 3: 7}"
BETA = 2**0.5  # ir_measures hands its beta to trec_eval, which takes it for the square

# By trec_eval: the scores as float32, of equal ones the highest id first.
TREC_EVAL = {
    "precision@k": "P@k",
    "recall@k": "R@k",
    "average_precision@k": "AP@k",
    "ndcg@k": "nDCG@k",
    "ndcg@k(gain=exp2)": f"nDCG({GAINS})@k",
    "hit_rate@k": "Success@k",
    "average_precision": "AP",
    "average_precision(min_grade=2)": "AP(rel=2)",
    "ndcg": "nDCG",
    "reciprocal_rank": "RR",
    "r_precision": "Rprec",
    "bpref": "Bpref",
    f"fbeta(beta={BETA!r})": "SetF(beta=2.0)",
    "set_average_precision": "SetAP",
}
COUNTS = {"num_recommended": "NumRet", "num_relevant": "NumRel"}  # whose means are sums
# By providers in Python: the scores as they are, of equal ones the lowest id first.
BY_LOWEST_ID = {
    "reciprocal_rank@k(ties=lowest_id)": "RR@k",
    "judged@k(precision_over=list,ties=lowest_id)": "Judged@k",
}
# By cwl_eval: of equal scores the first given first.
AS_GIVEN = {"rbp(p=0.8,gain=binary,ties=input_order)": "RBP(rel=1)"}
CALLS = TREC_EVAL | COUNTS | BY_LOWEST_ID | AS_GIVEN


def is_close(row: Pairs | None) -> bool:
    """Return whether scores that differ are equal as float32."""
    scores = {score for _, score in row or []}
    return len({struct.pack("f", score) for score in scores}) < len(scores)


def evaluate(case: Case) -> dict[str, Output]:
    """Evaluate by ir_measures.calc."""
    import ir_measures

    users = [f"u{user}" for user in range(len(case.truth))]
    truth = zip(users, case.truth, strict=True)
    lists = zip(users, case.predictions, strict=True)
    qrels = {user: {f"d{i:03}": int(grade) for i, grade in row} for user, row in truth if row is not None}
    run = {user: {f"d{i:03}": score for i, score in row} for user, row in lists if row is not None}

    def answer(metric: str, name: str) -> Output:
        # As parse_measure does it by ast.Num, which Python 3.14 does not have.
        measure = eval(name, vars(ir_measures))  # noqa: S307 - our own
        try:
            found: Any = ir_measures.calc([measure], qrels, run)
        except ZeroDivisionError as error:  # Judged of an empty list
            return repr(error)
        values = {value.query_id: value.value for value in found.per_query}
        # The mean of a count is a sum.
        mean = None if metric in COUNTS else found.aggregated[measure]
        return mean, [values.get(user) for user in users]

    # A user without a judged item is one for trec_eval's measures alone.
    alike = [] not in case.truth and not any(is_close(row) for row in case.predictions)
    asked = TREC_EVAL | COUNTS | (BY_LOWEST_ID | AS_GIVEN if alike else {})
    outputs = {
        metric.replace("@k", f"@{k}"): answer(metric, name.replace("@k", f"@{k}"))
        for metric, name in asked.items()
        for k in (case.cutoffs if "@k" in metric else case.cutoffs[:1])
    }
    if [] in case.truth:
        outputs["num_recommended" + UNJUDGED] = outputs.pop("num_recommended")
    return outputs
