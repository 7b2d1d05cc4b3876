"""MTEB and BEIR give the same with the replacement of pytrec_eval in its place."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

import beir.retrieval.evaluation
import mteb._evaluators.retrieval_metrics
import pytest

from exactk.compat import pytrec_eval

if TYPE_CHECKING:
    from collections.abc import Mapping

CUTOFFS = [1, 3, 5, 10, 20, 100]


def retrieval(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgements and results, some of which tie."""
    draw = random.Random(seed)  # noqa: S311 - no secrets
    documents = [f"doc{number}" for number in range(500)]
    grades = draw.choice([[0, 1], [1], [0, 1, 2]])
    qrels = {
        f"q{query}": {document: draw.choice(grades) for document in draw.sample(documents, draw.randrange(1, 20))}
        for query in range(40)
    }
    levels = draw.choice([20, 1_000_000])  # of scores
    results = {
        query: {document: draw.randrange(levels) / levels for document in draw.sample(documents, 120)}
        for query in qrels
    }
    return qrels, results


def by_beir(qrels: Any, results: Any) -> Any:
    return beir.retrieval.evaluation.EvaluateRetrieval.evaluate(qrels, results, CUTOFFS)


def by_mteb(qrels: Any, results: Any) -> Any:
    return tuple(mteb._evaluators.retrieval_metrics.calculate_retrieval_scores(results, qrels, CUTOFFS))


PROGRAMS = {"BEIR": (beir.retrieval.evaluation, by_beir), "MTEB": (mteb._evaluators.retrieval_metrics, by_mteb)}


class Counted(pytrec_eval.RelevanceEvaluator):
    """Tells that the replacement is what is called."""

    calls: ClassVar[list[int]] = []

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        self.calls.append(len(scores))
        return super().evaluate(scores)


def approximately(value: Any) -> Any:
    """Return values of each query to the last digits; means are rounded by the programs."""
    if isinstance(value, dict):
        return {key: approximately(one) for key, one in value.items()}
    return pytest.approx(value, abs=1e-12, nan_ok=True) if isinstance(value, (float, list)) else value


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("seed", range(10))
def test_outputs_are_equal(program: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module, evaluate = PROGRAMS[program]
    expected = evaluate(*deepcopy(retrieval(seed)))
    Counted.calls.clear()
    monkeypatch.setattr(pytrec_eval, "RelevanceEvaluator", Counted)
    monkeypatch.setattr(module, "pytrec_eval", pytrec_eval)
    found = evaluate(*deepcopy(retrieval(seed)))
    assert Counted.calls == [40]
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == approximately(theirs)
