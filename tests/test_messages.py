"""What the core says of each fault that the reference names: one golden file has the messages.

``pytest tests/test_messages.py --rewrite-messages`` writes it anew.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import exactk
from exactk import Embeddings, Items, Rankings, SparseScores, Truth
from refusals import GOLDEN, assert_refused_alike, fault_of, is_of_reference

IDS = [4, 2, 1, 3, 21]
TRUTH = Truth([0, 2, 3], [1, 4, 21])
GRADED = Truth([0, 2, 3], [1, 4, 21], [1.0, 2.5, -3.0])
GRADED_HIGH = Truth([0, 2, 3], [1, 4, 21], [1.0, 256.0, 1.0])
LISTS = Rankings([0, 3, 5], IDS)
WITH_GAPS = Rankings([0, 3, 5], IDS, ranks=[1, 2, 4, 1, 2])
KEYED = {"a": [1], "b": [1]}
IN_ROWS = {"user": ["a", "a"], "item": [1, 2]}
GAPS = "recall@3(rank_gaps=keep)"
TIED = np.array([[0.5, 0.5, 0.1, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4, 0.4]])
NAN = np.array([[0.5, math.nan], [math.nan, 0.1]])
UNJUDGED = "min_grade=-1,negative_grades=unjudged"
UNJUDGED_HITS = {"min_grade": -1, "negative_grades": "unjudged"}
ITEMS = [0, 1, 2, 3, 4, 21]
TRAIN = [[1, 2], [3]]
SEEN = Items(ITEMS, train=TRAIN, values=dict.fromkeys(ITEMS, 1.0))
GROUPED = Items(ITEMS, item_groups=list("aabbab"))
COUNTED: dict[str, Any] = {"popularity": dict.fromkeys(ITEMS, 1)}
VECTORS = np.array([[float(item), 1.0] for item in ITEMS])
DISTANCES = np.ones((6, 6)) - np.eye(6)

Call = Callable[[Any], object]


def evaluation(metrics: Any = "recall@3", *, truth: Any = TRUTH, predictions: Any = LISTS, **options: Any) -> Call:
    return lambda engine: engine.evaluate(truth, predictions, metrics, **options)


def best(scores: Any, **options: Any) -> Call:
    return lambda engine: engine.topk(scores, 2, **options)


def fusion(systems: Any, method: Any = "rrf", **options: Any) -> Call:
    return lambda engine: engine.fuse(systems, method, **options)


def with_features(features: Any, distance: str = "cosine", metric: str = "ild@3") -> Call:
    return evaluation(metric, items=Items(ITEMS, train=TRAIN, features=features), convention={"distance": distance})


def with_base(base: Any, rules: str = "", **options: Any) -> Call:
    return evaluation(f"unexpectedness@3{rules}", base_predictions=base, **options)


ONE = {"a": [{1: 0.5, 2: -1.0}]}
CASES: dict[str, Call] = {
    # fusion
    "rank constant below 0": fusion(ONE, rank_constant=-1),
    "persistence of all": fusion(ONE, "rbc", persistence=1),
    "power without bounds": fusion(ONE, "mnz", power=65),
    "weight to fuse below 0": fusion(ONE, weights={"a": -1}),
    "weights of 0": fusion(ONE, weights={"a": 0}),
    "low without bounds": fusion(ONE, "sum", norm="theoretical_min_max", low=-1e200),
    "score without bounds": fusion({"a": [{1: 1e200}]}, "sum"),
    "score below its low": fusion(ONE, "sum", norm="theoretical_min_max", low=0),
    "no score above 0": fusion({"a": [{1: -1.0}]}, "max", norm="max"),
    "score below 0": fusion(ONE, "sum", norm="none"),
    "fused score without bounds": fusion(
        {f"s{number}": [{1: 2.0**500}] for number in range(20)},
        "mnz",
        norm="none",
        power=64,
        weights={f"s{number}": 2.0**256 for number in range(20)},
    ),
    "NaN to fuse": fusion({"a": [{1: math.nan}]}),
    "item to fuse twice": fusion({"a": [[1, 2, 1]]}),
    # the plan
    "micro average of hit rates": evaluation("hit_rate@3(average=micro)"),
    "micro average with users who count 1": evaluation("recall@3(average=micro,empty_truth=one)"),
    "AUC at a cutoff": evaluation("auc@3"),
    "expectation of ERR": evaluation("err(ties=expected)", predictions=TIED),
    "expectation of novelty": evaluation("novelty@3(ties=expected)", predictions=TIED, items=SEEN),
    "expectation over hits": evaluation("average_precision(ties=expected,ap_over=hits)", predictions=TIED),
    "head of a share": evaluation("aplt(head=2)", items=SEEN),
    "users of interactions": evaluation("novelty(popularity=interactions,novelty_over=users)", items=SEEN),
    "values over hits": evaluation("map@3(weight=values,ap_over=hits)"),
    "values under a full ideal": evaluation("ndcg@3(weight=values,ideal_over=cutoff,gain=binary)"),
    "values times gains": evaluation(
        "dcg@3(weight=values,gain=exp2)", truth=GRADED_HIGH, items=Items(ITEMS, values=dict.fromkeys(ITEMS, 2.0))
    ),
    "share of a mean over hits": evaluation("map@3(item_group=a,item_group_value=share,ap_over=hits)", items=GROUPED),
    "share of hits in no order": evaluation(
        "recall@3(ties=shared,item_group=a,item_group_value=share)", predictions=TIED, items=GROUPED
    ),
    "relevant and unjudged, in a metric": evaluation(f"recall({UNJUDGED})", truth=GRADED),
    "relevant and unjudged, in counts": evaluation("recall(min_grade=0)", convention=UNJUDGED_HITS),
    "relevant and unjudged, in a tally": evaluation(f"coverage({UNJUDGED})", items=SEEN),
    "relevant and unjudged, in groups": evaluation(f"exposure({UNJUDGED})", items=GROUPED),
    "discount that rises": evaluation("ndcg@3(discount=table,discount_table=[0.5,1])"),
    "discount of 0": evaluation("dcg@3(discount=table,discount_table=[0,0])"),
    "no discounts": evaluation("ndcg@3(discount=table)"),
    "no discounts of groups": evaluation("exposure(discount=table)", items=GROUPED),
    "gain below 0": evaluation("ndcg@3(gain=table,gain_table=[-1,2])"),
    "gain too large": evaluation("ndcg@3", convention={"gain": "table", "gain_table": (0.0, 1e80)}),
    "no gain table": evaluation("ndcg@3(gain=table)"),
    "no gain range": evaluation("ndcg@3(gain=scaled)"),
    "gain shifted by no grade": evaluation("ndcg@3(gain=exp2_shifted)"),
    "every rank to a cutoff": evaluation("mean_precision@1048577"),
    "ideal without a cutoff": evaluation("ndcg(ideal_over=cutoff,gain=binary)"),
    "ideal at a large cutoff": evaluation("ndcg@1048577(ideal_over=cutoff,gain=binary)"),
    "ideal of gains": evaluation("ndcg@3(ideal_over=cutoff)"),
    # arrays
    "offsets not from 0": evaluation(predictions=Rankings([1, 3, 5], IDS)),
    "offsets that decrease": evaluation(predictions=Rankings([0, 5, 3], IDS)),
    "offsets too short": evaluation(predictions=Rankings([0, 3, 4], IDS)),
    "ids below 0": evaluation(predictions=Rankings([0, 3, 5], [4, -2, 1, -3, 21])),
    "items of nobody": evaluation(predictions=Rankings([0, 3, 5], IDS, present=[True, False])),
    "ranks below 1": evaluation(GAPS, truth={"a": [1]}, predictions=pd.DataFrame({**IN_ROWS, "rank": [0, 1]})),
    "lists of another number of users": evaluation(predictions=Rankings([0, 5], IDS)),
    "exclusions of another number of users": evaluation(exclude=[[1]]),
    "weight below 0": evaluation(weights=[-1.0, 1.0]),
    "weight too large": evaluation(weights=[1.0, 1e80]),
    "pairs of ranks with gaps": evaluation("auc(rank_gaps=keep)", predictions=WITH_GAPS),
    "no weight": evaluation(truth=KEYED, predictions={**KEYED}, weights={"a": 1.0}),
    "no group": evaluation(truth=KEYED, predictions={**KEYED}, groups={"a": 1}),
    # items
    "no values of items": evaluation("recall@3(weight=values)", items=Items(ITEMS)),
    "no catalogue for novelty": evaluation("novelty@3"),
    "no catalogue for coverage": evaluation("coverage@3"),
    "no order of a list": evaluation("novelty@3(ties=optimistic)", predictions=TIED, items=SEEN),
    "no order of lists": evaluation("coverage@3(ties=optimistic)", predictions=TIED, items=SEEN),
    "no features": evaluation("ild@3", items=Items(ITEMS)),
    "no tags": with_features(VECTORS, metric="calibration@3"),
    "no histories": evaluation("serendipity@3", items=Items(ITEMS, **COUNTED, train_users=2, features=VECTORS)),
    "no popularity": evaluation("novelty@3", items=Items(ITEMS)),
    "no interactions": evaluation("arp@3(arp_over=interactions)", items=Items(ITEMS, **COUNTED, train_users=2)),
    "no number of users in train": evaluation("novelty@3", items=Items(ITEMS, **COUNTED)),
    "features too large": with_features(VECTORS * 2.0**65),
    "tags that are numbers": with_features(VECTORS, "jaccard"),
    "sparse distances": with_features(scipy.sparse.csr_array(DISTANCES), "matrix"),
    "distances of others": with_features(VECTORS, "matrix"),
    "distances that are not symmetric": with_features(np.triu(DISTANCES), "matrix"),
    "a vector too short": with_features(VECTORS * 2.0**-300),
    # base predictions
    "base of another number of users": with_base([[1]]),
    "base of another number of users, without a truth": with_base([[1]], truth=None),
    "base ids below 0": with_base(Rankings([0, 1, 2], [-1, 1])),
    "base offsets": with_base(Rankings([0, 1, 3], [-1, 1])),
    "base repeats": with_base([[1, 1], [2]]),
    "base scores repeat": with_base(SparseScores([0, 2, 2], [1, 1], [0.5, 0.25])),
    "base scores that are NaN": with_base(NAN, predictions=TIED[:, :2]),
    "base scores that tie": with_base(TIED, "(ties=raise)", predictions=TIED + np.arange(5)),
    # grades, scores, vectors
    "no grades": evaluation("recall@3(min_grade=1.5)"),
    "grade below 0": evaluation("ndcg@3(gain=linear)", truth=GRADED),
    "scaled grade below 0": evaluation("ndcg@3(gain=scaled,gain_range=[0,3])", truth=GRADED),
    "grades that a table lacks": evaluation("ndcg@3(gain=table,gain_table=[0])"),
    "grade that a table lacks": evaluation("ndcg@3(gain=table,gain_table=[0],negative_grades=unjudged)", truth=GRADED),
    "grade above the most": evaluation("err@3(max_grade=1,negative_grades=unjudged)", truth=GRADED),
    "gain above 1": evaluation("nerr9@3(negative_grades=unjudged)", truth=GRADED),
    "grade of too large a gain": evaluation("dcg@3(gain=exp2)", truth=Truth([0, 1, 2], [1, 4], [300.0, 1.0])),
    "shifted grade of too large a gain": evaluation(
        "dcg@3(gain=exp2_shifted,min_grade=1)", truth=Truth([0, 1, 2], [1, 4], [300.0, 1.0])
    ),
    "scores that are NaN": evaluation("mrr", truth=[[0], [1]], predictions=NAN),
    "best of scores that are NaN": best(NAN),
    "user vector not finite": best(Embeddings([[math.nan]], np.ones((3, 1)))),
    "item vector too long": best(Embeddings([[1.0]], np.full((3, 1), 1e90))),
    "item vector without a direction": best(Embeddings([[1.0]], np.zeros((3, 1)), "cosine")),
    "bias not finite": best(Embeddings([[1.0]], np.ones((3, 1)), item_bias=[0.0, 1.0, math.nan])),
    # users
    "repeated in the truth": evaluation(truth=Truth([0, 2, 4], [1, 1, 2, 2])),
    "repeated in a list": evaluation(predictions=Rankings([0, 2, 4], [1, 1, 2, 2])),
    "repeated in scores": best(SparseScores([0, 2], [1, 1], [0.5, 0.25])),
    "repeated in a tie": evaluation(
        "mrr(ties=expected,duplicate_items=first)",
        truth=[[1]],
        predictions=SparseScores([0, 2], [1, 1], [0.5, 0.5]),
    ),
    "tie with the truth": evaluation("mrr(ties=raise)", truth=[[0], [4]], predictions=TIED),
    "tie in a list": evaluation("novelty@3(ties=raise)", predictions=TIED, items=SEEN),
    "tie among the best": best(TIED, ties="raise"),
    "no order of the best": best(TIED, ties="optimistic"),
    "no order of judged lists": lambda engine: engine.judge([[0], [1]], TIED, 2, convention={"ties": "optimistic"}),
    "item outside the catalogue": evaluation("novelty@3", items=Items([1, 2, 3], train=TRAIN)),
    "item outside train": evaluation("novelty@3", items=Items(train=TRAIN)),
    "item not in train": evaluation("novelty@3(unseen_items=raise)", items=SEEN),
    "item without features": evaluation("ild@3", items=Items(ITEMS, features={1: [1.0], 2: [2.0]})),
    "item of a history without features": evaluation(
        "serendipity@3",
        truth={"a": [1]},
        predictions={"a": [1, 2]},
        items=Items([1, 2, 3], train={"a": [3]}, features={1: [1.0], 2: [2.0]}),
    ),
    "item without a value": evaluation("recall@3(weight=values)", items=Items(ITEMS, values={1: 1.0})),
    "empty truth": evaluation("recall@3(empty_truth=error)", truth=[[], [1]]),
    "empty list": evaluation("recall@3(empty_list=error)", predictions=[[], [1]]),
    "missing list": evaluation("recall@3(missing_list=error)", predictions=[None, [1]]),
    "too few items": evaluation("list_auc@3(num_items=2)"),
    "expected ties up to a rate": evaluation("auc(max_fpr=0.5,ties=expected)"),
    "expected ties of grades as gains": evaluation("normalized_gain(ties=expected)"),
}
"""Calls of a module, the core's or the reference's, one fault each."""


def error_of(call: Call, module: Any) -> exactk.InputError:
    with pytest.raises(exactk.InputError) as caught:
        call(module)
    return caught.value


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_each_message_is_the_golden_one(request: pytest.FixtureRequest) -> None:
    messages: dict[str, dict[str, str]] = {}
    errors = {case: [error_of(call, engine) for engine in (exactk, exactk.reference)] for case, call in CASES.items()}
    for case, (core, reference) in errors.items():
        assert is_of_reference(reference), f"{case} is refused before the reference is asked: {reference}"
        messages.setdefault(fault_of(reference), {})[case] = str(core)
    if request.config.getoption("rewrite_messages"):
        GOLDEN.write_text(json.dumps(messages, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    assert json.loads(GOLDEN.read_text()) == messages, "if these are meant, --rewrite-messages writes them"
    for core, reference in errors.values():
        assert_refused_alike(core, reference)


def faults_in(module: Path) -> Iterator[str]:
    """Yield the names of faults in a module of the reference: of calls and of the table of a value's faults."""
    for node in ast.walk(ast.parse(module.read_text())):
        names: list[ast.expr | None] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("refuse"):
            names = [*node.args[1:2]]
        if isinstance(node, ast.FunctionDef) and node.name == "_faults_of_value":
            names = [key for one in ast.walk(node) if isinstance(one, ast.Dict) for key in one.keys]
        yield from [str(one.value) for one in names if isinstance(one, ast.Constant)]


def test_each_fault_of_the_reference_has_a_case() -> None:
    named = {fault.partition(": ")[2] for fault in json.loads(GOLDEN.read_text())}
    modules = list(Path(exactk.reference.__file__).parent.glob("*.py"))
    faults = {fault for module in modules for fault in faults_in(module)}
    assert len(faults) > 40
    assert faults <= named
