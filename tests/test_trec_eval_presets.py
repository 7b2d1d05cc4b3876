"""trec_eval 10.0 and 9.0.8: what the programs printed for recorded files, to the last digits.

Neither program is in a registry, so their outputs were recorded: EXACTK_DATA names the folder that has them in
`trec_eval`, and its README says what each case holds. `tests/golden` proves 9 by pytrec-eval-terrier, which contains it.
"""

from __future__ import annotations

import math
import os
import re
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import exactk

RECORDINGS = Path(os.environ["EXACTK_DATA"], "trec_eval") if "EXACTK_DATA" in os.environ else None
CASES = [f"case{number:02}" for number in range(10)]
PRESETS = {"10.0": "trec_eval", "9.0.8": "trec_eval_9"}

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
AT_CUTOFF = {
    "P": "precision@{}",
    "recall": "recall@{}",
    "ndcg_cut": "ndcg@{}",
    "map_cut": "average_precision@{}",
    "relative_P": "precision@{}(precision_over=min_cutoff_relevant)",
}
METRICS = {
    "num_ret": "num_recommended",
    "num_rel": "num_relevant",
    "num_rel_ret": "num_hits",
    "map": "average_precision",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "recip_rank": "reciprocal_rank",
    "ndcg": "ndcg",
    "set_P": "precision",
    "set_relative_P": "precision(precision_over=min_list_relevant)",
    "set_recall": "recall",
    "set_map": "set_average_precision",
    "set_F": "f1",
    **{f"{name}_{k}": metric.format(k) for name, metric in AT_CUTOFF.items() for k in CUTOFFS},
    **{f"success_{k}": f"hit_rate@{k}" for k in (1, 5, 10)},
    **{f"iprec_at_recall_{tenths / 10:.2f}": f"interpolated_precision(recall={tenths / 10})" for tenths in range(11)},
    "11pt_avg": "eleven_point_precision",
    **{f"Rprec_mult_{fifths / 5:.2f}": f"r_precision(multiple={fifths / 5})" for fifths in range(1, 11)},
}
OF_GAINS = {  # which -l is not for
    "G": "normalized_gain(min_grade=None)",
    "ndcg_rel": "average_ndcg(min_grade=None)",
    "Rndcg": "r_ndcg(min_grade=None,least_gain={level})",
}
OF_10 = {
    "rbp": "rbp(p=0.9,min_grade=None)",
    "rbp_resid": "rbp_residual(p=0.9)",
    **{f"unj_{k}": f"unjudged@{k}" for k in (5, 10, 20)},
}
METRICS |= {"infAP": "inferred_average_precision", "binG": "normalized_gain(gain=binary)"}
DIFFERENCES = {  # of counts
    "utility": ({"num_hits": 2, "num_recommended": -1}, 1),
    "num_nonrel_judged_ret": ({"num_recommended(unjudged=remove)": 1, "num_hits": -1}, None),  # summed over queries
}
GEOMETRIC = {"gm_map": "average_precision(average=geometric)", "gm_bpref": "bpref(average=geometric)"}  # means alone
SUMS = frozenset({"num_ret", "num_rel", "num_rel_ret"})  # whose mean is printed as the sum


class Options(NamedTuple):
    """What trec_eval was called with."""

    suffix: str
    complete: bool = False
    level: int = 1
    depth: int | None = None


OPTIONS = (Options("q"), Options("qc", complete=True), Options("l2", level=2), Options("M5", depth=5))


def convention_of(version: str, options: Options) -> exactk.Convention:
    """Return the preset; by `-l`, from which grade on an item is relevant to all measures but nDCG."""
    preset = exactk.conventions[PRESETS[version] + "_complete" * options.complete]
    if options.level == 1:
        return preset
    graded = {"ndcg": {**preset.overrides.get("ndcg", {}), "min_grade": None}}
    return preset.replace(min_grade=options.level, overrides={**preset.overrides, **graded})


def recorded_values(path: Path) -> dict[tuple[str, str], float]:
    """Return the numbers, by measure and query."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    numbers = re.compile(r"-?[\d.]+(e-?\d+)?")
    return {(row[0].strip(), row[1]): float(row[2]) for row in rows if len(row) == 3 and numbers.fullmatch(row[2])}


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Return the grades."""
    truth: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        truth[query][document] = int(grade)
    return truth


def read_run(path: Path, depth: int | None, *, narrowed: bool) -> dict[str, dict[str, float]]:
    """Return the scores; of each query's first documents alone, if `-M` says so, which cuts before it evaluates."""
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        run[query][document] = float(score)
    if depth is None:
        return run
    return {query: dict(_ranked(scores, narrowed=narrowed)[:depth]) for query, scores in run.items()}


def _ranked(scores: dict[str, float], *, narrowed: bool) -> list[tuple[str, float]]:
    def key(pair: tuple[str, float]) -> tuple[float, str]:
        document, score = pair
        return (struct.unpack("f", struct.pack("f", score))[0] if narrowed else score), document

    return sorted(scores.items(), key=key, reverse=True)


def ulps(ours: float, theirs: float) -> float:
    """Return how many units in the last place of the recorded number lie between the two."""
    return abs(ours - theirs) / math.ulp(theirs) if ours != theirs else 0.0


def our_values(case: str, version: str, options: Options, metrics: dict[str, str]) -> dict[tuple[str, str], float]:
    """Return the preset's numbers, by measure and query."""
    assert RECORDINGS is not None
    convention = convention_of(version, options)
    run = read_run(RECORDINGS / f"{case}.run", options.depth, narrowed=convention.score_dtype == "float32")
    truth = read_qrels(RECORDINGS / f"{case}.qrels")
    metrics = {name: metric.format(level=options.level) for name, metric in metrics.items()}
    terms = [metric for weights, _ in DIFFERENCES.values() for metric in weights]
    report: Any = exactk.evaluate(truth, run, [*metrics.values(), *terms], convention=convention, per_user=True)
    ours: dict[tuple[str, str], float] = {}
    keys, evaluated = report.users.tolist(), report.counts["evaluated"]["num_hits"]
    for measure, (weights, divisor) in DIFFERENCES.items():
        numbers = sum(weight * report.per_user[metric] for metric, weight in weights.items())
        ours |= {(measure, query): value for query, value in zip(keys, numbers.tolist(), strict=True)}
        total = round(sum(weight * report[metric] * evaluated for metric, weight in weights.items()))
        ours[measure, "all"] = total / (evaluated if divisor else 1)
    ours["num_q", "all"] = evaluated
    for measure, metric in metrics.items():
        ours[measure, "all"] = report[metric] * (report.counts["evaluated"][metric] if measure in SUMS else 1)
        ours |= {
            (measure, query): value
            for query, value in zip(report.users.tolist(), report.per_user[metric].tolist(), strict=True)
        }
    return ours


# No numbers: the tag of the run, and the grades of its lists, which `exactk.judge` has.
TEXTS = {"runid", "relstring"}
# How far apart the numbers are, in units in the last place: trec_eval adds up the users' values one after another, where
# exactk rounds the exact sum once, and divides each gain by a logarithm, where exactk multiplies.
ULPS_OF_USERS = {
    "ndcg": 3,
    "ndcg_cut": 3,
    "set_F": 1,
    "11pt_avg": 3,
    "infAP": 4,
    "binG": 4,
    "G": 4,
    "ndcg_rel": 4,
    "Rndcg": 4,
    "rbp": 8,
    "rbp_resid": 40,
}
ULPS_OF_MEANS = 3
ULPS_OF_RESIDUALS = 8  # 1 minus a sum, where trec_eval adds up the rest
ULPS_OF_GEOMETRIC_MEANS = 9

pytestmark = [
    pytest.mark.skipif(RECORDINGS is None, reason="set EXACTK_DATA to the folder with recorded outputs of trec_eval"),
    pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning"),
]


def most_ulps(measure: str, query: str) -> int:
    """Return how far apart two numbers may be."""
    if query != "all":
        return ULPS_OF_USERS.get(re.sub(r"_\d+$", "", measure), 0)
    if measure == "rbp_resid":
        return ULPS_OF_RESIDUALS
    return ULPS_OF_GEOMETRIC_MEANS if measure in GEOMETRIC else ULPS_OF_MEANS


# Long lists were not recorded with -c.
RECORDED = [(case, options) for case in CASES for options in OPTIONS if (case, options.complete) != ("case07", True)]


@pytest.mark.parametrize(("case", "options"), RECORDED, ids=lambda value: getattr(value, "suffix", value))
@pytest.mark.parametrize("version", PRESETS)
def test_f72_the_preset_says_what_trec_eval_printed(case: str, version: str, options: Options) -> None:
    assert RECORDINGS is not None
    recording = RECORDINGS / f"{case}.{version}.{options.suffix}.full"
    if case == "case05" and version == "10.0" and not options.complete:
        # trec_eval 10 without -c refuses qrels with a query without results; its message says the reverse.
        assert "not found in qrels" in recording.read_text(encoding="utf-8")
        return
    theirs = recorded_values(recording)
    metrics = METRICS | GEOMETRIC | OF_GAINS | (OF_10 if version == "10.0" else {})
    theirs = {key: number for key, number in theirs.items() if key[0] not in TEXTS}
    assert {measure for measure, _ in theirs} == {*metrics, *DIFFERENCES, "num_q"}
    ours = our_values(case, version, options, metrics)
    wrong = {
        key: (ours[key], number) for key, number in theirs.items() if not ulps(ours[key], number) <= most_ulps(*key)
    }
    assert wrong == {}
    queries = {query for measure, query in ours if query != "all" and not math.isnan(ours[measure, query])}
    assert options.suffix != "q" or queries == {query for _, query in theirs} - {"all"}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("version", PRESETS)
def test_f72_the_grades_of_lists(case: str, version: str) -> None:
    """Negative grades are shown here, though they are no judgements."""
    assert RECORDINGS is not None
    lines = (RECORDINGS / f"{case}.{version}.q.out").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line.startswith("relstring ")]
    convention = convention_of(version, OPTIONS[0]).replace(negative_grades="zero_gain")
    run = read_run(RECORDINGS / f"{case}.run", None, narrowed=False)
    judged = exactk.judge(read_qrels(RECORDINGS / f"{case}.qrels"), run, 10, convention=convention)

    def mark(grade: float) -> str:
        return "-" if math.isnan(grade) else "." if grade < 0 else str(int(grade))

    ours = {
        query: "".join(map(mark, judged[query].grades[0, : judged[query].lengths[0]].tolist())) for _, query, _ in rows
    }
    assert ours == {query: text.strip("'") for _, query, text in rows}
    assert rows or case == "case05"


def test_f72_the_releases_differ_on_float32_ties_and_the_ranks_of_recalls() -> None:
    """A preset that narrowed, or did not, would fail on the recorded case that has such ties."""
    difference = exactk.conventions["trec_eval"].diff("trec_eval_9")
    assert difference == {
        "score_dtype": ("native", "float32"),
        "recall_rank": ("round", "plus_0.9"),
        "rbp_over": ("highest_gain", "one"),  # measures of 10 alone
        "residual_tail": ("if_unjudged", "always"),
    }
    assert exactk.conventions["trec_eval_complete"].diff("trec_eval_9_complete") == difference
    new, old = (our_values("case04", version, OPTIONS[0], METRICS) for version in PRESETS)
    assert new != old
