"""What the functions of exactk return, besides `exactk.Report`, `exactk.Comparison` and `exactk.State`: for annotations and pickles.

Examples
--------
>>> import exactk
>>> from exactk.results import Gate
>>> def passes(gate: Gate) -> bool:
...     return gate.status == "holds"
>>> same = exactk.compare([[1]] * 60, {"a": [[1]] * 60, "b": [[1]] * 60}, "P@1", baseline="a")
>>> passes(same.check(no_worse={"P@1": "50%"}))
True
"""

from __future__ import annotations

from exactk._choose import Choice
from exactk._inference.intervals import MeanInterval
from exactk._inputs.model.fused_scores import FusedScores
from exactk._inputs.model.top_k import TopK
from exactk._metrics import AgreementMetric, Metric
from exactk._plan.metrics import CustomMetric
from exactk._report.comparison_state import ComparisonState
from exactk._report.convention_matches import ConventionMatches
from exactk._report.difference import Difference
from exactk._report.differences import Differences
from exactk._report.drift import Drift
from exactk._report.explanation import ExplainedItem, ExplainedValue, Explanation
from exactk._report.judged_lists import JudgedLists
from exactk._report.verdicts import Check, Gate, NeededUsers, RankInterval, Ranks
from exactk._report.worst_users import WorstUsers

__all__ = [
    "AgreementMetric",
    "Check",
    "Choice",
    "ComparisonState",
    "ConventionMatches",
    "CustomMetric",
    "Difference",
    "Differences",
    "Drift",
    "ExplainedItem",
    "ExplainedValue",
    "Explanation",
    "FusedScores",
    "Gate",
    "JudgedLists",
    "MeanInterval",
    "Metric",
    "NeededUsers",
    "RankInterval",
    "Ranks",
    "TopK",
    "WorstUsers",
]
