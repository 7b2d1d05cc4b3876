"""Measures of other libraries, by metrics and presets: what the libraries returned for inputs that have every edge.

They were recorded by hand, some with programs that are in no registry: EXACTK_DATA names the folder. A value is compared
to 1e-12, or to 2e-7 where the library computes in single precision. ``golden/measures.toml`` has, by library, how many
values of each measure are equal, and why the other measures are not compared: each is in one of both, or a test fails.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import exactk
from exactk._plan.trec_measures import MEASURES_BY_NAME, utility
from exactk.compat import recommenders, rectools, replay, surprise
from recorded_measures import needs_recording, recorded

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEASURES = tomllib.loads((Path(__file__).parent / "golden" / "measures.toml").read_text(encoding="utf-8"))
pytestmark = [
    needs_recording,
    pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning"),
]
DOUBLE, SINGLE = 1e-12, 2e-7


def count_equal(ours: Sequence[float], theirs: Sequence[float | str | None], tolerance: float = DOUBLE) -> int:
    """Check that the numbers are equal, NaN to None, and return how many there are."""
    for one, other in zip(ours, theirs, strict=True):
        is_equal = math.isnan(one) if other in {None, "NaN"} else abs(one - float(other or 0)) <= tolerance
        assert is_equal, (ours, theirs)
    return len(theirs)


class Library:
    """A library, and how many of its values were equal so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self.metrics: dict[str, set[str]] = {}

    def compare(
        self,
        measure: str,
        metric: str,
        ours: Sequence[float],
        theirs: Sequence[float | str | None],
        tolerance: float = DOUBLE,
    ) -> None:
        """Count values of a measure that a metric, or a function of a replacement, has too."""
        self.counts[measure] += count_equal(ours, theirs, tolerance)
        self.metrics.setdefault(measure, set()).add(name_of(metric))

    @property
    def by_evaluate(self) -> set[str]:
        """The measures that metrics have, and not replacements alone."""
        return {name for name, metrics in self.metrics.items() if not any("." in metric for metric in metrics)}

    def check(self, measures: Iterable[str]) -> None:
        """Check that these are all measures of the recording, and that the table has the counts."""
        table = MEASURES[self.name]
        assert self.counts == {measure: row["values"] for measure, row in table.get("equal", {}).items()}
        for measure, names in self.metrics.items():
            assert {name_of(name) for name in table["equal"][measure]["metric"].split(", ")} == names
        reasons = table.get("not_compared", {})
        found = {measure: [name for name in reasons if fnmatchcase(measure, name)] for measure in measures}
        assert {measure for measure, names in found.items() if not names} == {*self.counts}
        assert {name for names in found.values() for name in names} == {*reasons}


def name_of(metric: str) -> str:
    name = re.split("[@(]", metric)[0]
    return name if name.startswith("compat.") else exactk.metrics[name].name


# trec_eval, and what contains it

IPREC = {f"iprec_at_recall_{recall:.2f}": f"interpolated_precision(recall={recall})" for recall in np.arange(11) / 10}
RPREC = {f"Rprec_mult_{fifths / 5:.2f}": f"r_precision(multiple={fifths / 5})" for fifths in range(1, 11)}
UNJUDGED = {f"unj_{k}": f"unjudged@{k}" for k in (1, 3, 5, 10, 20)}


def table_of(*gains: float, over: float = 1) -> str:
    """Return the fields for gains of the first grades, of which the others have their grade; all divided by a number."""
    return f"gain=table,gain_table={[gain / over for gain in (*gains, *range(len(gains), 10))]}"


OF_TREC_EVAL = {
    "-q -m all_trec": {
        **IPREC,
        **RPREC,
        **UNJUDGED,
        "11pt_avg": "eleven_point_precision",
        "rbp_resid": "rbp_residual(p=0.9)",
        "rbp": "rbp(p=0.9,min_grade=None)",
        "infAP": "inferred_average_precision",
        "binG": "normalized_gain(gain=binary)",
        "G": "normalized_gain(min_grade=None)",
        "ndcg_rel": "average_ndcg(min_grade=None)",
        "Rndcg": "r_ndcg(min_grade=None)",
    },
    "-q -m iprec_at_recall.0.25,0.5,0.75": {
        f"iprec_at_recall_{text}": f"interpolated_precision(recall={text})" for text in ("0.25", "0.50", "0.75")
    },
    "-q -m Rprec_mult.0.35,5": {
        "Rprec_mult_0.35": "r_precision(multiple=0.35)",
        "Rprec_mult_5.00": "r_precision(multiple=5)",
    },
    "-q -m unj.1,3": UNJUDGED,
    "-q -m rbp.p=0.8": {"rbp_p=0.8": "rbp(p=0.8)"},
    "-q -m rbp.p=0.8,1=0.5,2=1": {"rbp_p=0.8,1=0.5,2=1": f"rbp(p=0.8,{table_of(0, 0.5, 1)})"},
    "-q -m rbp.1=3,2=9": {"rbp_1=3,2=9": f"rbp(p=0.9,{table_of(0, 3, 9, over=9)})"},
    "-q -m G.1=3,2=9": {"G_1=3,2=9": f"normalized_gain({table_of(0, 3, 9)})"},
    "-q -m ndcg_rel.1=3,2=9": {"ndcg_rel_1=3,2=9": f"average_ndcg({table_of(0, 3, 9)})"},
    "-q -m Rndcg.1=3,2=9": {"Rndcg_1=3,2=9": f"r_ndcg({table_of(0, 3, 9)})"},
    "-q -m rbp_resid.p=0.8": {"rbp_resid_p=0.8": "rbp_residual(p=0.8)"},
}


NAMED = (
    *("num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "utility", "gm_map", "gm_bpref", "ndcg"),
    *("set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
)
OTHERS_OF_TREC_EVAL: dict[str, dict[str, str]] = {
    "-q -m all_trec": {
        **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
        **{f"relative_P_{k}": f"recall@{k}(recall_over=min_cutoff_relevant)" for k in (5, 10, 15, 20)},
        **{f"success_{k}": f"hit_rate@{k}" for k in (1, 5, 10)},
        **{name: MEASURES_BY_NAME[name].metric_string() for name in NAMED},
    },
    "-q -m utility.2,-1,-0.5,0": {"utility_2,-1,-0.5,0": ""},
    "-q -N 1000 -m utility.1,-1,0,0.01": {"utility_1,-1,0,0.01": ""},
    "-q -m 11pt_avg.0.2,0.5,0.8": {"11pt_avg_0.2,0.5,0.8": ""},
    "-q -m relative_P.1,3": {f"relative_P_{k}": f"recall@{k}(recall_over=min_cutoff_relevant)" for k in (1, 3)},
    "-q -m success.1,2,3": {f"success_{k}": f"hit_rate@{k}" for k in (1, 2, 3)},
    "-q -m set_F.0.5": {"set_F_0.5": f"fbeta(beta={math.sqrt(0.5)})"},
    "-q -m ndcg.1=3,2=9": {"ndcg_1=3,2=9": "ndcg(gain=table,gain_table=[0,3,9,3,4,5])"},
    "-q -m ndcg.0=1": {"ndcg_0=1": "ndcg(min_grade=0,gain=table,gain_table=[1,1,2,3,4,5])"},
    "-q -m ndcg_cut.5.5,3": {f"ndcg_cut_{k}": f"ndcg@{k}" for k in (3, 5)},
    "-q -m dcg": {"dcg": "dcg"},
}


def run_and_qrels(queries: Sequence[str]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    inputs = recorded("inputs")
    run = {query: dict(inputs[query]["run"]) for query in queries if inputs[query]["run"]}
    return {query: inputs[query]["qrels"] for query in queries if inputs[query]["qrels"]}, run


def values_of(
    queries: Sequence[str], metrics: Sequence[str], **options: Any
) -> tuple[dict[str, list[float]], exactk.Report]:
    """Return the values of each query, NaN where it has none, and the report."""
    qrels, run = run_and_qrels(queries)
    report = exactk.evaluate(qrels, run, [*metrics], per_user=True, **options)
    rows = {query: row for row, query in enumerate(report.users)}
    by_query = {
        metric: [float(report.per_user[metric][rows[query]]) if query in rows else math.nan for query in queries]
        for metric in metrics
    }
    return by_query, report


CHANGES: dict[str, dict[str, Any]] = {
    "-q -l2 (some)": {"min_grade": 2},
    "-q -J (some)": {"unjudged": "remove"},
    "-q -c (some): all, and q14": {},
}


WITHOUT_UNJUDGED = ("unj_5", "rbp_resid")  # 0 with -J: here they count the unjudged items of the list as it was


def of_trec_eval(name: str) -> str:
    """Return the measure of a line."""
    return re.sub(r"_(p=)?-?[0-9.]+([,=].*)?$", "", name)


@pytest.mark.parametrize(("version", "preset"), [("9.0.8", "trec_eval_9"), ("10.0", "trec_eval")])
def test_trec_eval(version: str, preset: str) -> None:
    answers, library = recorded("trec_eval")[version], Library(f"trec_eval {version}")
    names = {
        options: {**OF_TREC_EVAL.get(options, {}), **OTHERS_OF_TREC_EVAL.get(options, {})}
        for options in {**OF_TREC_EVAL, **OTHERS_OF_TREC_EVAL}
    }
    every = {**names["-q -m all_trec"], **OTHERS_OF_TREC_EVAL["-q -m relative_P.1,3"]}
    names |= {
        options: {name: metric for name, metric in every.items() if name in answers[options]} for options in CHANGES
    }
    names["-q -l2 (some)"]["Rndcg"] = "r_ndcg(min_grade=None,least_gain=2)"
    for name in WITHOUT_UNJUDGED:
        names["-q -J (some)"].pop(name, None)
    compared = set()
    for options, metrics in names.items():
        is_complete = "-c" in options
        convention = {"base": f"{preset}_complete" if is_complete else preset, **CHANGES.get(options, {})}
        for name, metric in metrics.items():
            if name in answers.get(options, {}):
                queries = [*recorded("trec_eval")["queries"], *(["q14"] if is_complete else [])]
                compare_line(library, name, metric, queries, answers[options][name], convention)
                compared.add((options, name))
    formats = recorded("trec_eval_other_formats")[version]
    compare_judgment_groups(library, formats["-q -m qrels_jg -R qrels_jg"], preset)
    others = {
        f"{name}{', -J' if '-J' in options else ''}"
        for options, lines in answers.items()
        for name in lines
        if of_trec_eval(name) in library.by_evaluate and (options, name) not in compared
    }
    library.check({of_trec_eval(name) for lines in (*answers.values(), *formats.values()) for name in lines} | others)


def compare_line(
    library: Library, name: str, metric: str, queries: Sequence[str], answer: Any, convention: Mapping[str, Any]
) -> None:
    """Compare the values of queries, and that of all; of numbers of documents, the sum."""
    measure = of_trec_eval(name)
    terms: Mapping[str, float] = MEASURES_BY_NAME[measure].terms if measure in MEASURES_BY_NAME else {}
    weights = [float(weight) for weight in name.partition("_")[2].split(",")] if name.startswith("utility_") else []
    if name.startswith("11pt_avg_"):
        recalls = name.removeprefix("11pt_avg_").split(",")
        terms = {f"interpolated_precision(recall={recall})": 1 / len(recalls) for recall in recalls}
    terms = (utility(weights) if weights else terms) or {metric: 1}
    by_query, report = values_of(queries, [*terms], convention=convention)
    ours = [
        sum(weight * by_query[one][row] for one, weight in terms.items()) + (1000 * weights[3] if weights else 0)
        for row in range(len(queries))
    ]
    is_number = measure.startswith("num_")
    mean = math.fsum(ours) / (1 if is_number else len(ours)) if len(terms) > 1 or is_number else report[metric]
    theirs = (
        answer if isinstance(answer, dict) else {"all": answer[0], **({} if answer[1] is None else {"q14": answer[1]})}
    )
    for one in terms:
        if "q" in theirs:
            library.compare(measure, one, [], [])
    row = [*theirs.get("q", []), *([theirs["q14"]] if "q14" in theirs else []), theirs["all"]]
    values = [*(ours if "q" in theirs else []), *(ours[-1:] if "q14" in theirs else []), mean]
    library.compare(measure, next(iter(terms)), values, row)


def compare_judgment_groups(library: Library, answers: Mapping[str, Mapping[str, float]], preset: str) -> None:
    """A group of judgments is a user, whose weight is its share of the groups of its query."""
    files = recorded("trec_eval_other_formats")["files"]
    truth: dict[str, dict[str, int]] = {}
    for query, group, item, grade in (line.split() for line in files["qrels_jg"].splitlines()):
        truth.setdefault(f"{query} {group}", {})[item] = int(grade)
    lists: dict[str, dict[str, float]] = {user: {} for user in truth}
    for query, _, item, _, score, _ in (line.split() for line in files["run_jg"].splitlines()):
        for user in truth:
            if user.startswith(query):
                lists[user][item] = float(score)
    queries = {user: user.split()[0] for user in truth}
    sizes = Counter(queries.values())
    weights = {user: 1 / sizes[query] for user, query in queries.items()}
    for name, answer in answers.items():
        measure = of_trec_eval(name)
        metric = MEASURES_BY_NAME[measure.removesuffix("_avgjg")].metric_string(name.removeprefix(measure).strip("_"))
        asked = metric.replace("@[", "@").replace("]", "")
        report = exactk.evaluate(truth, lists, asked, convention=preset, weights=weights, groups=queries)
        ours = [*(report.by_group[query][asked] for query in sizes), report[asked]]
        library.compare(measure, asked, ours, [*(answer[query] for query in sizes), answer["all"]])


# cwl_eval adds 1, 2/3 and 1/3 to 1.9999999999999998, so that its reader, who expects 2, goes on from rank 4 to 7.
ROUNDED = {("BPM(T=2.0,max_rel=3)@10", "q01"): (3 / 7, 1 / 2)}
NOT_OF_IR_MEASURES = {"NumQ"}


def test_ir_measures() -> None:
    """By the text of each measure, as ir_measures prints it."""
    answers, library = recorded("ir_measures"), Library("ir_measures 0.4.3")
    for name, answer in answers["measures"].items():
        if name in NOT_OF_IR_MEASURES:
            continue
        # It ends with an error at lists of relevant items alone, which were left out of these calls.
        is_left_out = name.startswith("Accuracy") and "rel" not in name
        queries = [query for query in answers["queries"] if not (is_left_out and query in {"q09", "q11"})]
        expected = dict(zip(answers["queries"], answer["q"], strict=True))
        theirs, mean = [expected[query] for query in queries], answer["all"]
        for (measure, query), (wrong, right) in ROUNDED.items():
            if measure == name:
                assert expected[query] == pytest.approx(wrong)
                theirs[queries.index(query)], mean = right, mean + (right - wrong) / 16
        ours, report = values_of(queries, [name], convention="ir_measures")
        total = math.fsum(value for value in ours[name] if not math.isnan(value))
        ours_of_all = total if name.startswith("Num") else report[name]
        (value,) = report._plan
        library.compare(re.split("[@(]", name)[0], value.metric, [*ours[name], ours_of_all], [*theirs, mean])
    subtopics = recorded("subtopics")["ir_measures"]
    library.check({re.split("[@(]", name)[0] for name in [*answers["measures"], *subtopics] if " " not in name})


GAINS = {"1:2:3": ("linear", [0, 1 / 3, 2 / 3, 1]), "1:3:7": ("exp2", [0, 1 / 7, 3 / 7, 1])}
OF_NTCIREVAL = {
    "AP": "average_precision(ap_over=relevant)",
    "AP@5": "average_precision@5",
    "RBP p=.95": "rbp(p=0.95,gain=table,gain_table={table})",
    "ERR": "err(max_grade=3)",
    "nDCG@5 logb=2": "ndcg@5(discount=log2_floored,gain={gain},empty_truth=skip)",
    "nDCG@5 logb=e": f"ndcg@5(discount=log_floored,discount_base={math.e},gain={{gain}},empty_truth=skip)",
    "MSnDCG@5": "ndcg@5(gain={gain},empty_truth=skip)",
    "Q-measure beta=1": "q_measure(gain={gain})",
    "Q-measure beta=10": "q_measure(gain={gain},beta=10)",
    "Q-measure beta=1 @5": "q_measure@5(gain={gain})",
}


def test_ntcireval() -> None:
    """Without a relevant item nDCG is a division by zero there, and has no value here."""
    answers, library = recorded("ntcireval"), Library("pyNTCIREVAL 0.0.3")
    for gains, (gain, table) in GAINS.items():
        for name, template in OF_NTCIREVAL.items():
            if name == "ERR" and gain == "linear":  # of which err has no probabilities
                continue
            metric = template.format(gain=gain, table=table)
            convention = {"ties": "highest_id", "empty_truth": "compute"}
            ours, _ = values_of(answers["queries"], [metric], convention=convention)
            library.compare(of_ntcireval(name), metric, ours[metric], answers["values"][f"{name}, gains {gains}"])
    library.check({*(of_ntcireval(name) for name in answers["values"]), "ERR, gains 1:2:3"})


def of_ntcireval(name: str) -> str:
    return re.split("[@, ]", name)[0]


# scikit-learn and torchmetrics: rows of labels and of scores


def rows_of(labels: Sequence[Sequence[int]]) -> list[list[int]]:
    return [[item for item, label in enumerate(row) if label] for row in labels]


def test_label_rankings_of_sklearn() -> None:
    data, library = recorded("sklearn_torchmetrics_surprise")["sklearn_torchmetrics"], Library("scikit-learn 1.9.1")
    truth, scores = rows_of(data["y"]), np.array(data["score"])
    label_metrics = {name: name for name in ("coverage_error", "label_ranking_loss")}
    label_metrics["label_ranking_average_precision_score"] = "average_precision(empty_truth=one)"
    metrics = [*label_metrics.values()]
    report = exactk.evaluate(truth, scores, metrics, convention="sklearn", per_user=True)
    weighted = exactk.evaluate(truth, scores, metrics, convention="sklearn", weights=np.arange(1.0, 7))
    for name, metric in label_metrics.items():
        ours = [*report.per_user[metric].tolist(), report[metric], weighted[metric]]
        library.compare(name, metric, ours, [*data[name]["rows"], data[name]["all"], data[name]["weights 1..6"]])
    graded = [dict(enumerate(row)) for row in data["grades"]]
    for name in ("dcg_score", "ndcg_score"):
        for arguments, theirs in data[name].items():
            metric = of_gains(name, dict(one.split("=") for one in arguments.split(",")))
            found = exactk.evaluate(graded, scores, metric, convention="sklearn", per_user=True)
            rows = 3 if "ignore_ties=True" in arguments else 6  # without ties, whose order is that of an unstable sort
            library.compare(name, metric, found.per_user[metric].tolist()[:rows], theirs[:rows])
    compare_top_k(library, data["top_k_accuracy"])
    compare_rating_errors(library, recorded("sklearn_torchmetrics_surprise")["ratings"])
    for row, call, value in calls_of_roc():
        if call.startswith("sklearn"):
            library.compare("roc_auc_score", "auc", [of_row(row, call.rpartition("=")[2], "sklearn")], [value])
    of_labels = {name for name in data if name.endswith(("_score", "_error", "_loss"))}
    of_ratings = {"r2_score", "explained_variance_score", "rmse", "log_loss"}
    others = {"roc_auc_score", "top_k_accuracy_score", "top_k_accuracy_score, binary", "ignore_ties=True"}
    library.check(of_labels | of_ratings | others)


def compare_rating_errors(library: Library, data: Mapping[str, Any]) -> None:
    pandas = pytest.importorskip("pandas")

    def compare(measure: str, name: str, true: Sequence[float], predicted: Sequence[float], answer: float) -> None:
        keys = {"userID": range(len(true)), "itemID": 1}
        frames = pandas.DataFrame({**keys, "rating": true}), pandas.DataFrame({**keys, "prediction": predicted})
        library.compare(measure, f"compat.recommenders.{name}", [getattr(recommenders, name)(*frames)], [answer])

    _, _, true, predicted = zip(*data["rows"], strict=True)
    names = {"r2_score": "rsquared", "explained_variance_score": "exp_var", "rmse": "rmse"}
    for measure, name in names.items():
        compare(measure, name, true, predicted, data[f"sklearn {measure}"])
    for key, answer in data.items():
        if key.startswith(("sklearn log_loss", "r2 of")):
            true, predicted = (json.loads(re.sub(r"(?<![0-9])\.", "0.", row)) for row in re.findall(r"\[[^]]*\]", key))
            measure = "r2_score" if key.startswith("r2") else "log_loss"
            compare(measure, names.get(measure, "logloss"), true, predicted, answer)


def of_gains(name: str, arguments: Mapping[str, str]) -> str:
    metric = name.removesuffix("_score") + ("" if arguments["k"] == "None" else f"@{arguments['k']}")
    settings = []
    if arguments.get("log_base", "2") != "2":
        base = math.e if arguments["log_base"].startswith("2.718") else float(arguments["log_base"])
        settings = ["discount=log", f"discount_base={base}"]
    return f"{metric}({','.join(settings)})" if settings else metric


def compare_top_k(library: Library, data: Mapping[str, Any]) -> None:
    truth, scores = [[label] for label in data["y"]], np.array(data["score"])
    for k in (1, 2, 3):
        metric, name = f"hit_rate@{k}", "top_k_accuracy_score"
        report = exactk.evaluate(truth, scores, metric, convention="sklearn")
        library.compare(name, metric, [report[metric]], [data[f"k={k}"]])
        if k == 2:
            weighted = exactk.evaluate(truth, scores, metric, convention="sklearn", weights=np.arange(1.0, 7))
            ours = [report[metric] * len(truth), weighted[metric]]
            library.compare(name, metric, ours, [data["k=2,normalize=False"], data["k=2,weights 1..6"]])


def of_row(row: Mapping[str, Any], share: str, preset: str, top_k: int | None = None) -> float:
    """Return the AUC of a row, or of its first items as if there were no others."""
    scores: NDArray[Any] = np.array(row["score"], np.float64 if preset == "sklearn" else np.float32)
    kept = np.argsort(-scores, kind="stable")[:top_k]
    truth = exactk.Truth.from_dense(np.array(row["y"])[np.newaxis, kept])
    metric = "auc" if share == "None" else f"auc(max_fpr={share})"
    return exactk.evaluate(truth, scores[np.newaxis, kept], metric, convention=preset)[metric]


def calls_of_roc() -> Iterator[tuple[Mapping[str, Any], str, float | str]]:
    for row in recorded("sklearn_torchmetrics_surprise")["sklearn_torchmetrics"]["roc_auc"].values():
        yield from ((row, call, value) for call, value in row.items() if call not in {"y", "score"})


def test_partial_areas_of_torchmetrics() -> None:
    library = Library("torchmetrics 1.9.0")
    names = {call.split()[1] for _, call, _ in calls_of_roc() if call.startswith("torchmetrics")}
    for row, call, value in calls_of_roc():
        name = call.split()[1]
        if call.startswith("torchmetrics"):
            top_k = 4 if "top_k" in call else None
            ours = of_row(row, call.rpartition("=")[2], "torchmetrics", top_k)
            library.compare(name, "auc", [ours], [value], SINGLE)
    library.check(names)


# RecTools and RePlay


def by_user(metric: str, truth: Any, lists: Any, **options: Any) -> tuple[dict[str, float], exactk.Report]:
    """Return the values by the text of users, and the report."""
    report = exactk.evaluate(truth, lists, metric, per_user=True, **options)
    return dict(zip(map(str, report.users), report.per_user[metric].tolist(), strict=True)), report


OF_RECTOOLS = {
    "PAP@{k} ignore": "pap(misses={k})",
    "PartialAUC@{k} ignore": "partial_auc(misses={k})",
    "Accuracy@{k}": "accuracy@{k}(num_items=11)",
    "MCC@{k}": "mcc@{k}(num_items=11)",
}


def test_rectools() -> None:
    data, library = recorded("rectools"), Library(f"RecTools {recorded('rectools')['version']}")
    truth: dict[int, list[str]] = {}
    lists: dict[int, list[str]] = {}
    for user, item in data["interactions"]:
        truth.setdefault(user, []).append(item)
    for user, item, _ in data["reco"]:
        lists.setdefault(user, []).append(item)
    for name, template in OF_RECTOOLS.items():
        for k in (1, 2, 3, 5):
            metric, answer = template.format(k=k), data["values"][name.format(k=k)]
            ours, report = by_user(metric, truth, lists, convention="rectools")
            values = [*(ours[user] for user in answer["users"]), report[metric]]
            library.compare(name.split("@")[0], metric, values, [*answer["users"].values(), answer["mean"]])
    compare_replacement_of_rectools(library, data)
    compare_debiased_values(library, data["debias"])
    library.check(
        {*(name.split("@")[0] for name in data["values"]), "PAP, exclude", "PartialAUC, exclude", *data}
        - {"version", "reco", "interactions", "catalog", "values"}
    )


def reco_frame(rows: Any) -> Any:
    columns = ["user_id", "item_id", "rank"][: len(rows[0])]
    return pytest.importorskip("pandas").DataFrame(rows, columns=columns)


def compare_replacement_of_rectools(library: Library, data: Mapping[str, Any]) -> None:
    def compare(measure: str, metric: Any, arguments: Sequence[Any], answer: Mapping[str, Any]) -> None:
        series = metric.calc_per_user(*arguments)
        ours = dict(zip(map(str, series.index), series.tolist(), strict=True))
        values = [*(ours[user] for user in answer["users"]), metric.calc(*arguments)]
        path = f"compat.rectools.{type(metric).__name__}"
        library.compare(measure, path, values, [*answer["users"].values(), answer["mean"]])

    reco, interactions = reco_frame(data["reco"]), reco_frame(data["interactions"])
    for k in (1, 2, 3, 5):
        for name in ("PAP", "PartialAUC"):
            metric = getattr(rectools, name)(k=k, insufficient_handling="exclude")
            compare(f"{name}, exclude", metric, (reco, interactions), data["values"][f"{name}@{k} exclude"])
    repeated, ref_reco = reco_frame(data["UnrepeatedReco"]["reco"]), reco_frame(data["Intersection"]["ref_reco"])
    for k, deep in ((k, deep) for k in (1, 2, 4) for deep in (False, True)):
        unrepeated = rectools.UnrepeatedReco(k=k, deep=deep)
        compare("UnrepeatedReco", unrepeated, (repeated,), data["UnrepeatedReco"][f"@{k} deep={deep}"])
    for k, ref_k in ((2, None), (2, 1), (2, 3), (4, 2), (1, 3)):
        intersection = rectools.Intersection(k=k, ref_k=ref_k)
        compare("Intersection", intersection, (reco, ref_reco), data["Intersection"][f"k={k},ref_k={ref_k}"])


def compare_debiased_values(library: Library, data: Mapping[str, Any]) -> None:
    rows = [[user, item, rank] for user in range(1, 11) for rank, item in enumerate(("pop", "a", "b"), 1)]
    reco, interactions = reco_frame(rows), reco_frame(data["interactions"])
    for coefficient in (1.5, 0.5, 0.0):
        answer = data[f"iqr_coef={coefficient}, random_state=32"]
        config = rectools.DebiasConfig(iqr_coef=coefficient, random_state=32)
        kept = rectools.debias_interactions(interactions, config)
        assert sorted(kept[kept["item_id"] == "pop"]["user_id"]) == answer["pop kept for users"]
        ours = [
            len(kept),
            rectools.Recall(k=2, debias_config=config).calc(reco, interactions),
            rectools.MAP(k=3, debias_config=config).calc(reco, interactions),
            rectools.Precision(k=2, debias_config=config).calc(reco, interactions),
        ]
        theirs = [answer[name] for name in ("rows left", "Recall@2", "MAP@3", "Precision@2")]
        library.compare("debias", "compat.rectools.debias_interactions", ours, theirs)


def test_replay() -> None:
    data, library = recorded("replay"), Library(f"RePlay {recorded('replay')['version']}")
    lists = {user: dict(row) for user, row in data["recommendations"].items()}
    for name, metric_name in {"RocAuc": "pairwise_accuracy", "Precision": "precision"}.items():
        for k in (1, 2, 3, 5):
            metric = f"{metric_name}@{k}"
            ours, report = by_user(metric, data["ground_truth"], lists, convention="replay")
            answer = data["values"][f"{name} | per user"][f"{name}-PerUser@{k}"]
            error = report.standard_deviation[metric] / math.sqrt(len(answer) - 1)
            of_modes = {
                "mean | ": report[metric],
                "median | -Median": report.quantile(metric),
                "ci .95 | -ConfidenceInterval": statistics.NormalDist().inv_cdf(0.975) * error,
                "ci .5 | -ConfidenceInterval": statistics.NormalDist().inv_cdf(0.75) * error,
            }
            theirs = [
                data["values"][f"{name} | {mode.split(' | ')[0]}"][f"{name}{mode.split(' | ')[1]}@{k}"]
                for mode in of_modes
            ]
            values = [*(ours[user] for user in answer), *of_modes.values()]
            library.compare(name, metric, values, [*answer.values(), *theirs])
    compare_replacement_of_replay(library, data)
    library.check({name.split()[0] for name in data["values"]})


def compare_replacement_of_replay(library: Library, data: Mapping[str, Any]) -> None:
    pytest.importorskip("scipy")
    lists, base, categories = (
        {user: [(item, score) for item, score in row] for user, row in data[name].items()}
        for name in ("recommendations", "base", "categories")
    )
    modes = {"mean": replay.Mean(), "median": replay.Median(), "per user": replay.PerUser()}
    modes |= {"ci .95": replay.ConfidenceInterval(0.95), "ci .5": replay.ConfidenceInterval(0.5)}
    calls: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "Unexpectedness": (replay.Unexpectedness, (lists, base)),
        "CategoricalDiversity dict": (replay.CategoricalDiversity, (categories,)),
    }
    for name, (metric, arguments) in calls.items():
        for mode, descriptor in modes.items():
            ours = metric([1, 2, 3, 5], mode=descriptor)(*arguments)
            for key, answer in data["values"][f"{name} | {mode}"].items():
                values, theirs = ([ours[key]], [answer])
                if mode == "per user":
                    values, theirs = [ours[key][user] for user in answer], [*answer.values()]
                library.compare(name.split()[0], f"compat.replay.{name.split()[0]}", values, theirs)


# LensKit, cornac, recommenders, Surprise


def of_rbp(call: str) -> str | None:
    """Return the metric of a call of LensKit's RBP; None where its weights are divided by those of the whole list."""
    ((n, rest),) = re.findall(r"^RBP n=(\w+) (.*)$", call)
    at = "" if n == "None" else f"@{n}"
    patience = float(rest.rpartition("=")[2]) if "patience=" in rest else 0.85
    if rest == "LogRankWeight, normalize":
        return f"ndcg{at}(ideal_over=min_list_relevant)"
    if rest.startswith("normalize"):
        return f"ndcg{at}(ideal_over=min_list_relevant,discount=geometric,discount_persistence={patience})"
    return None if "LogRankWeight" in rest else f"rbp{at}(p={patience})"


def of_gini(call: str) -> str:
    """Return the metric of a call of ListGini, or of ExposureGini, which computes in single precision."""
    at = "" if "n=None" in call else "@2"
    if call.startswith("ListGini"):
        return f"gini{at}"
    patience = re.findall(r"GeometricRankWeight\(([0-9.]+)\)", call)
    discount = f"geometric,discount_persistence={patience[0]}" if patience else "log2_floored"
    return f"exposure_gini{at or '@10'}(discount={discount},foreign_items=ignore)"


def test_lenskit() -> None:
    data, library = recorded("lenskit"), Library(f"LensKit {recorded('lenskit')['version']}")
    for call, answer in data["values"].items():
        metric = of_rbp(call) if call.startswith("RBP") else None
        if metric is not None:
            ours, _ = by_user(metric, data["truth"], data["lists"], convention="lenskit")
            measure = "RBP, normalize" if metric.startswith("ndcg") else "RBP"
            library.compare(measure, metric, [ours[user] for user in answer], [*answer.values()])
        elif "Gini" in call:
            metric = of_gini(call)
            names = {item for row in data["lists"].values() for item in row}
            items = exactk.Items([*names, *(f"other {number}" for number in range(20 - len(names)))])
            ours_of_all = exactk.evaluate(data["truth"], data["lists"], metric, convention="lenskit", items=items)[
                metric
            ]
            library.compare(call.split()[0], metric, [ours_of_all], [answer], 3e-7 if "Exposure" in call else DOUBLE)
    others = {
        "RBP, log" if "LogRankWeight" in call and "normalize" not in call else call.split()[0]
        for call in data["values"]
    }
    library.check({*others, "RBP, normalize", "intra_list_similarity"})


def test_cornac() -> None:
    data, library = recorded("cornac"), Library(f"cornac {recorded('cornac')['version']}")
    for k, answer in data["NCRR"].items():
        metric = f"ndcg{'' if k == '-1' else f'@{k}'}(discount=inverse,ideal_over=min_list_relevant)"
        ours, _ = by_user(metric, data["truth"], data["lists"], convention={"gain": "binary", "foreign_items": "count"})
        library.compare("NCRR", metric, [ours[user] for user in answer], [*answer.values()])
    library.check(["NCRR"])


def test_recommenders() -> None:
    pandas = pytest.importorskip("pandas")
    data, library = recorded("recommenders"), Library(f"recommenders {recorded('recommenders')['version']}")
    train = pandas.DataFrame(data["train"], columns=["userID", "itemID"])
    reco = pandas.DataFrame(data["reco"], columns=["userID", "itemID", "relevance"])
    features = pandas.DataFrame(
        {"itemID": [*data["features"]], "features": [np.array(one) for one in data["features"].values()]}
    )

    def compare(name: str, ours: Any, theirs: Any) -> None:
        rows = ours.to_numpy().tolist() if isinstance(theirs, list) else [[ours]]
        expected = theirs if isinstance(theirs, list) else [[theirs]]
        assert [row[:-1] for row in rows] == [row[:-1] for row in expected]
        path = f"compat.recommenders.{name}"
        library.compare(name, path, [row[-1] for row in rows], [row[-1] for row in expected])

    compare("novelty", recommenders.novelty(train, reco), data["novelty"])
    compare(
        "historical_item_novelty", recommenders.historical_item_novelty(train, reco), data["historical_item_novelty"]
    )
    by_features: Any = {"item_feature_df": features, "item_sim_measure": "item_feature_vector"}
    serendipity = recommenders.user_item_serendipity
    for call, options in {
        "cooccurrence": {"col_relevance": "relevance"},
        "cooccurrence, no relevance": {},
        "features": {"col_relevance": "relevance", **by_features},
    }.items():
        compare("user_item_serendipity", serendipity(train, reco, **options), data[f"user_item_serendipity {call}"])
    for name in ("user_serendipity", "serendipity"):
        found = getattr(recommenders, name)(train, reco, col_relevance="relevance", **by_features)
        compare(name, found, data[f"{name} features"])
    ratings = data["ratings"]
    true = pandas.DataFrame(ratings["true"], columns=["userID", "itemID", "rating"])
    pred = pandas.DataFrame(ratings["pred"], columns=["userID", "itemID", "prediction"])
    for name in ("rmse", "mae", "rsquared", "exp_var"):
        compare(name, getattr(recommenders, name)(true, pred), ratings[name])
    of_clicks = [
        frame.assign(**{frame.columns[2]: ratings["logloss"][side]}) for frame, side in ((true, "true"), (pred, "pred"))
    ]
    compare("logloss", recommenders.logloss(*of_clicks), ratings["logloss"]["value"])
    measures = {name.split()[0] for name in data} - {"version", "train", "reco", "features", "ratings"}
    library.check(measures | ratings.keys() - {"true", "pred"})


def test_surprise() -> None:
    data = recorded("sklearn_torchmetrics_surprise")
    library = Library(f"scikit-surprise {data['versions']['scikit-surprise']}")
    rows: list[Any] = [(user, item, true, estimate, {}) for user, item, true, estimate in data["ratings"]["rows"]]
    for name in ("rmse", "mse", "mae", "fcp"):
        ours = getattr(surprise, name)(rows, verbose=False)
        library.compare(name, f"compat.surprise.{name}", [ours], [data["ratings"][name]])
    with pytest.raises(ValueError, match="at least two"):
        surprise.fcp(rows[6:7])
    library.check(name.split()[0] for name in data["ratings"] if not name.startswith(("rows", "sklearn", "r2")))


def test_subtopics() -> None:
    data = recorded("subtopics")
    Library(f"pyndeval {data['versions']['pyndeval']}").check(data["pyndeval"]["default"])


def test_every_library_of_the_recording_is_in_the_table() -> None:
    libraries = {path.rpartition(" ")[0] for path in MEASURES}
    assert len(libraries) == len(MEASURES) - 1  # trec_eval has two versions
