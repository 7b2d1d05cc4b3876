"""The measures of trec_eval, in exactk's metrics."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class TrecMeasure(NamedTuple):
    """A measure of trec_eval."""

    name: str
    metric: str | None = None  # exactk's metric; None if there is none
    arguments: str = ""  # of exactk's metric
    cutoffs: tuple[int, ...] = ()  # by default
    only_mean: bool = False  # not printed per user
    since_10: bool = False

    def metric_string(self, cutoffs: str = "") -> str:
        """Return exactk's metric at the given cutoffs or the default ones."""
        cutoffs = cutoffs or ",".join(map(str, self.cutoffs))
        return f"{self.metric}@[{cutoffs}]{self.arguments}" if cutoffs else f"{self.metric}{self.arguments}"


_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
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
    TrecMeasure("iprec_at_recall"),
    TrecMeasure("P", "precision", cutoffs=_CUTOFFS),
    TrecMeasure("relstring"),
    TrecMeasure("recall", "recall", cutoffs=_CUTOFFS),
    TrecMeasure("infAP"),
    TrecMeasure("gm_bpref", "bpref", _GEOMETRIC, only_mean=True),
    TrecMeasure("Rprec_mult"),
    TrecMeasure("utility"),
    TrecMeasure("11pt_avg"),
    TrecMeasure("binG"),
    TrecMeasure("G"),
    TrecMeasure("ndcg", "ndcg", _ANY_RELEVANT),
    TrecMeasure("ndcg_rel"),
    TrecMeasure("Rndcg"),
    TrecMeasure("ndcg_cut", "ndcg", _ANY_RELEVANT, cutoffs=_CUTOFFS),
    TrecMeasure("map_cut", "average_precision", cutoffs=_CUTOFFS),
    TrecMeasure("relative_P", "recall", "(recall_over=min_cutoff_relevant)", cutoffs=_CUTOFFS),
    TrecMeasure("success", "hit_rate", cutoffs=(1, 5, 10)),
    TrecMeasure("set_P", "precision"),
    TrecMeasure("set_relative_P", "recall", "(recall_over=min_list_relevant)"),
    TrecMeasure("set_recall", "recall"),
    TrecMeasure("set_map", "set_average_precision"),
    TrecMeasure("set_F", "f1"),
    TrecMeasure("num_nonrel_judged_ret"),
    TrecMeasure("rbp", since_10=True),  # it divides gains by the highest grade of the query, unlike exactk's rbp
    TrecMeasure("rbp_resid", since_10=True),
    TrecMeasure("unj", since_10=True),
)
"""In the order in which trec_eval prints them."""

MEASURES_BY_NAME: Mapping[str, TrecMeasure] = MappingProxyType({measure.name: measure for measure in TREC_MEASURES})
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
    "all_trec": (*HEADER, *MEASURES_BY_NAME),
}
