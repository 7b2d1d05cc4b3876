"""The measures of trec_eval, in exactk's metrics."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class TrecMeasure(NamedTuple):
    """A measure of trec_eval."""

    name: str
    metric: str | None = None  # exactk's metric; None if there is none
    arguments: str = ""  # of exactk's metric
    cutoffs: tuple[int, ...] = ()  # by default
    terms: Mapping[str, float] = MappingProxyType({})  # weights of metrics, for a measure that is a sum of them
    levels: tuple[float, ...] = ()  # by default, of the metric's parameter, for which the arguments have braces
    only_mean: bool = False  # not printed per user
    is_total: bool = False  # of users, of a measure with terms
    since_10: bool = False
    in_sets: bool = True
    has_gains: bool = False  # as parameters
    of_grades: bool = False  # a text of the grades in a list, for each user alone

    def metric_string(self, cutoffs: str = "") -> str:
        """Return exactk's metric at the given cutoffs or levels, or the default ones."""
        if self.levels:
            levels = map(float, cutoffs.split(",")) if cutoffs else self.levels
            return ",".join(f"{self.metric}{self.arguments.format(level)}" for level in levels)
        cutoffs = cutoffs or ",".join(map(str, self.cutoffs))
        return f"{self.metric}@[{cutoffs}]{self.arguments}" if cutoffs else f"{self.metric}{self.arguments}"

    def metric_of_level(self, level: float) -> str:
        """Return exactk's metric with the default parameters, where documents of a grade (-l) and above are relevant."""
        if self.name == "Rndcg" and level > 1:
            return f"{self.metric}(least_gain={level},min_grade=None)"
        return self.metric_string()


_MEAN = "(average=macro)"


_OF_LISTS = "(average=macro,missing_list=zero)"


def utility(
    weights: Iterable[float] = (1, -1, 0, 0), documents: int = 0, *, is_complete: bool = False
) -> Mapping[str, float]:
    """Return the weights of the counts that trec_eval's utility is the sum of, for a collection of so many documents.

    Its own weights are those of relevant and other documents in the run, and of relevant and other ones outside of it.
    Queries without results count 0 where they are among the others.
    """
    hit, retrieved, missed, other = weights
    counts = {
        f"num_hits{_MEAN}": hit - retrieved - missed + other,
        f"num_recommended{_MEAN}": retrieved - other,
        f"num_relevant{_OF_LISTS if is_complete else _MEAN}": missed - other,
        f"user_coverage{_MEAN}": other * documents,  # 1 for each query with results
    }
    return {count: weight for count, weight in counts.items() if weight} or {f"num_hits{_MEAN}": 0}


def f_of_weight(weight: float) -> str:
    """Return the metric that set_F is with this weight of recall, which is the square of beta."""
    return f"fbeta(beta={math.sqrt(weight)!r})"


def mean_precision_at(recalls: Sequence[float]) -> Mapping[str, float]:
    """Return the weights of the interpolated precisions that trec_eval's 11pt_avg is the mean of."""
    weights: dict[str, float] = {}
    for recall in recalls:
        metric = f"interpolated_precision(recall={recall!r})"
        weights[metric] = weights.get(metric, 0) + 1 / len(recalls)
    return weights


_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALLS = tuple(tenths / 10 for tenths in range(11))
_MULTIPLES = tuple(fifths / 5 for fifths in range(1, 11))
_GEOMETRIC = "(average=geometric)"
_ANY_RELEVANT = "(min_grade=None)"  # trec_eval's -l is not for gains

TREC_MEASURES = (
    TrecMeasure("num_ret", "num_recommended"),
    TrecMeasure("num_rel", "num_relevant"),
    TrecMeasure("num_rel_ret", "num_hits"),
    TrecMeasure("map", "average_precision"),
    TrecMeasure("gm_map", "average_precision", _GEOMETRIC, only_mean=True),
    TrecMeasure("Rprec", "r_precision"),
    TrecMeasure("bpref", "bpref"),
    TrecMeasure("recip_rank", "reciprocal_rank"),
    TrecMeasure("iprec_at_recall", "interpolated_precision", "(recall={})", levels=_RECALLS),
    TrecMeasure("P", "precision", cutoffs=_CUTOFFS),
    TrecMeasure("relstring", of_grades=True),
    TrecMeasure("recall", "recall", cutoffs=_CUTOFFS),
    TrecMeasure("infAP", "inferred_average_precision"),
    TrecMeasure("gm_bpref", "bpref", _GEOMETRIC, only_mean=True),
    TrecMeasure("Rprec_mult", "r_precision", "(multiple={})", levels=_MULTIPLES),
    TrecMeasure("utility", terms=utility()),
    TrecMeasure("11pt_avg", "eleven_point_precision"),
    TrecMeasure("binG", "normalized_gain", "(gain=binary)"),
    TrecMeasure("G", "normalized_gain", _ANY_RELEVANT, has_gains=True),
    TrecMeasure("dcg", "dcg", _ANY_RELEVANT, since_10=True, in_sets=False, has_gains=True),
    TrecMeasure("ndcg", "ndcg", _ANY_RELEVANT, has_gains=True),
    TrecMeasure("ndcg_rel", "average_ndcg", _ANY_RELEVANT, has_gains=True),
    TrecMeasure("Rndcg", "r_ndcg", _ANY_RELEVANT, has_gains=True),
    TrecMeasure("ndcg_cut", "ndcg", _ANY_RELEVANT, cutoffs=_CUTOFFS),
    TrecMeasure("map_cut", "average_precision", cutoffs=_CUTOFFS),
    TrecMeasure("relative_P", "recall", "(recall_over=min_cutoff_relevant)", cutoffs=_CUTOFFS),
    TrecMeasure("success", "hit_rate", cutoffs=(1, 5, 10)),
    TrecMeasure("set_P", "precision"),
    TrecMeasure("set_relative_P", "recall", "(recall_over=min_list_relevant)"),
    TrecMeasure("set_recall", "recall"),
    TrecMeasure("set_map", "set_average_precision"),
    TrecMeasure("set_F", "f1"),
    TrecMeasure(
        "num_nonrel_judged_ret",
        terms={"num_recommended(average=macro,unjudged=remove)": 1, f"num_hits{_MEAN}": -1},
        is_total=True,
    ),
    TrecMeasure("rbp", "rbp", "(p=0.9,rbp_over=highest_gain,min_grade=None)", since_10=True),
    TrecMeasure("rbp_resid", "rbp_residual", "(p=0.9)", since_10=True),
    TrecMeasure("unj", "unjudged", cutoffs=(5, 10, 20), since_10=True),
)
"""In the order in which trec_eval prints them."""

MEASURES_BY_NAME: Mapping[str, TrecMeasure] = MappingProxyType({measure.name: measure for measure in TREC_MEASURES})
OUTSIDE_OF_SETS: Mapping[str, str] = {
    **dict.fromkeys(
        ("prefs", "all_prefs", "qrels_jg", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
        "it needs preferences or groups of judgments (-R), which exactk does not read",
    ),
    "ideal_dcg": "of a query it is dcg / ndcg",
    "yaap": "of a query with R relevant documents it is ln((1 + s) / (1 + R - s)) with s = R map",
}
"""What exactk has in place of other measures, and of sets of them; names that begin with ``prefs_`` are like ``prefs``."""
HEADER = ("runid", "num_q")  # printed before the measures
MEASURE_SETS: Mapping[str, tuple[str, ...]] = {
    "official": (
        *HEADER,
        *("num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
        *("iprec_at_recall", "P"),
    ),
    "set": (
        *HEADER,
        *("num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    ),
    "all_trec": (*HEADER, *(measure.name for measure in TREC_MEASURES if measure.in_sets)),
}
