"""The replacement of pytrec_eval, beyond what calls in JSON can hold."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from exactk.compat import pytrec_eval

QREL = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d2": 1}}
RUN = {"q2": {"d1": 1.5, "d2": 0.25}, "q1": {"d1": 1.0, "d2": 0.5}}
RESULTS = {"q2": {"map": 0.5}, "q1": {"map": 0.5}}


@pytest.mark.parametrize("to_inner", [dict, OrderedDict, lambda documents: defaultdict(float, documents)])
@pytest.mark.parametrize("to_outer", [dict, OrderedDict, lambda queries: defaultdict(dict, queries)])
def test_dicts_of_any_kind(to_inner: Any, to_outer: Any) -> None:
    qrel = to_outer({query: to_inner(documents) for query, documents in QREL.items()})
    run = to_outer({query: to_inner(documents) for query, documents in RUN.items()})
    results = pytrec_eval.RelevanceEvaluator(qrel, {"map"}).evaluate(run)
    assert results == RESULTS
    assert list(results) == list(RESULTS)


def test_judgements_may_be_any_mapping_of_queries_but_a_run_is_a_dict() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(MappingProxyType(QREL), {"map"})
    assert evaluator.evaluate(RUN) == RESULTS
    with pytest.raises(TypeError, match="should be of type dictionary"):
        evaluator.evaluate(MappingProxyType(RUN))


@pytest.mark.parametrize("number", [np.float32, np.float64, np.int64, int])
def test_scores_of_numpy(number: Any) -> None:
    run = {query: {document: number(4 * score) for document, score in row.items()} for query, row in RUN.items()}
    assert pytrec_eval.RelevanceEvaluator(QREL, {"map"}).evaluate(run) == RESULTS


def test_strings_that_are_no_plain_ones() -> None:
    qrel: Any = {np.str_(query): {np.str_(one): grade for one, grade in row.items()} for query, row in QREL.items()}
    run: Any = {query: {np.str_(one): score for one, score in row.items()} for query, row in RUN.items()}
    assert pytrec_eval.RelevanceEvaluator(qrel, {"map"}).evaluate(RUN) == RESULTS
    assert pytrec_eval.RelevanceEvaluator(QREL, {"map"}).evaluate(run) == RESULTS


@pytest.mark.parametrize("run", [
    {1: {"d1": 1.0}}, {"q1": {1: 1.0}}, {"q1": {"d1": 1.0, 1: 0.5}}, {"q1": {b"d1": 1.0}},
    {"q1": {"d1": 1.0}, "q9": {1: 1.0}}, {"q1": {"d1": 1.0}, "q9": {"d1": "1"}}, {"q1": {"d1": [1.0]}}, {"q1": {"d1": 1j}},
])  # fmt: skip
def test_other_keys_and_scores_are_refused(run: Any) -> None:
    with pytest.raises(TypeError):
        pytrec_eval.RelevanceEvaluator(QREL, {"map"}).evaluate(run)


@pytest.mark.parametrize("qrel", [{1: {"d1": 1}}, {"q1": {1: 1}}, {"q1": {b"d": 1}}, {"q1": {"d1": np.float64(1)}}])
def test_other_judgements_are_refused(qrel: Any) -> None:
    with pytest.raises(TypeError):
        pytrec_eval.RelevanceEvaluator(qrel, {"map"})


def test_a_score_of_nan_is_refused() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(QREL, {"map"})
    with pytest.raises(ValueError, match="NaN in query 'q1'"):
        evaluator.evaluate({"q2": {"d1": 1.0}, "q1": {"d1": 0.5, "d2": math.nan}})


@pytest.mark.parametrize("measure", ["recall.0", "P_5_10", "map.3", "P_2.5", "utility.1,2", "ndcg.1", "set_F.1,2"])
def test_parameters_that_a_measure_lacks_are_refused(measure: str) -> None:
    with pytest.raises(ValueError, match="unsupported measure"):
        pytrec_eval.RelevanceEvaluator(QREL, {measure})


def test_ties_are_those_of_float32_and_broken_by_name() -> None:
    near = np.nextafter(0.5, 1)  # equal to 0.5 as float32
    run = {"q": {"a": float(near), "b": 0.5, "c": -0.0, "d": 0.0}}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"})
    assert evaluator.evaluate(run) == {"q": {"recip_rank": 0.5}}


def test_rows_of_very_different_length_are_ranked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where row, score and position do not fit 64 bits together."""
    generator = np.random.default_rng(0)
    qrel = {f"q{query}": {f"d{one}": 1 for one in range(0, 40, 3)} for query in range(50)}
    run = {
        query: {f"d{one}": float(generator.integers(4)) for one in range(generator.integers(1, 40))} for query in qrel
    }
    expected = pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg"}).evaluate(run)
    monkeypatch.setattr("exactk.compat._trec_queries._KEY_BITS", 40)
    assert pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg"}).evaluate(run) == expected


def test_queries_are_independent() -> None:
    together = pytrec_eval.RelevanceEvaluator(QREL, {"all_trec"}).evaluate(RUN)
    for query, documents in RUN.items():
        alone = pytrec_eval.RelevanceEvaluator(QREL, {"all_trec"}).evaluate({query: documents})
        assert alone[query] == pytest.approx(together[query], rel=1e-15)


@pytest.mark.parametrize("cells", [1, 5])
def test_lists_are_judged_in_blocks(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    qrel = {f"q{query}": {f"d{one}": one % 3 - (one == 4) for one in range(query + 1)} for query in range(7)}
    run = {query: {f"d{one}": 1 / (one + 1) for one in range(0, 9, 2)} for query in qrel}
    expected = pytrec_eval.RelevanceEvaluator(qrel, {"all_trec"}).evaluate(run)
    monkeypatch.setattr("exactk.compat._user_values._CELLS", cells)
    assert pytrec_eval.RelevanceEvaluator(qrel, {"all_trec"}).evaluate(run) == expected


def test_names_in_results_are_plain_strings() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(QREL, [np.str_("map"), np.str_("P_5")])
    results = evaluator.evaluate(RUN)
    assert {type(name) for values in results.values() for name in values} == {str}


def test_a_level_may_be_an_integer_of_numpy() -> None:
    level: Any = np.int64(2)
    evaluator = pytrec_eval.RelevanceEvaluator(QREL, {"num_rel"}, level)
    assert evaluator.evaluate(RUN)["q1"] == {"num_rel": 1.0}
    flags: list[Any] = ["yes", None]
    for flag in flags:
        with pytest.raises(TypeError, match="measures set"):
            pytrec_eval.RelevanceEvaluator(QREL, {"map"}, 1, flag)


@pytest.mark.parametrize("measure", ["num", "gm", "numbers", "map"])
def test_names_without_the_line_of_a_sum_are_means(measure: str) -> None:
    assert pytrec_eval.compute_aggregated_measure(measure, [1.0, 2.0]) == 1.5
