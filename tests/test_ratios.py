"""What micro averages are made of: the users' numerators and denominators."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
from hypothesis import given, settings, strategies as st

import exactk
from exactk._engine import evaluation as evaluation_module
from exactk._engine.problem import solve
from exactk._plan.metrics import evaluation_metrics
from strategies import Evaluation, evaluations, examples, rankings, scores

if TYPE_CHECKING:
    from exactk._engine.problem import Engine, Outcome, Problem

MICRO = [name for name, info in evaluation_metrics.items() if info.micro]
REFUSED_WITH_MICRO = ("zero", "one")


def solved(evaluation: Evaluation, evaluate: Callable[..., Any]) -> tuple[Problem, Outcome] | None:
    """Return the evaluation's problem and its outcome; None if the evaluation is refused."""
    recorded: list[tuple[Problem, Outcome]] = []

    def record(engine: Engine, problem: Problem) -> Outcome:
        outcome = solve(engine, problem)
        recorded.append((problem, outcome))
        return outcome

    with mock.patch.object(evaluation_module, "solve", record), warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            evaluation.run(evaluate, per_user=True)
        except exactk.InputError:
            return None
    return recorded[0]


@st.composite
def micro_evaluations(draw: st.DrawFn) -> Evaluation:
    """Draw micro averages of lists and scores, beside other values, some of another ranking."""
    evaluation = draw(evaluations(min_users=1, predictions=draw(st.sampled_from([rankings, scores]))))
    convention = evaluation.options["convention"]
    changes = {
        field: draw(st.sampled_from(["compute", "skip"]))
        for field in ("empty_truth", "empty_list", "missing_list")
        if getattr(convention, field) in REFUSED_WITH_MICRO
    }
    fields = ["", ",undefined=skip", ",undefined=nan", ",nan=last,score_dtype=float32"]
    metrics = [
        f"{draw(st.sampled_from(MICRO))}@{cutoff}(average=micro{draw(st.sampled_from(fields))})"
        for cutoff in draw(st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True))
    ]
    metrics = draw(st.permutations([*metrics, *evaluation.metrics]))
    return Evaluation(
        evaluation.truth,
        evaluation.predictions,
        metrics,
        evaluation.options | {"convention": convention.replace(**changes)},
    )


@settings(max_examples=examples(400))
@given(micro_evaluations())
def test_the_core_keeps_the_ratios_of_the_reference(evaluation: Evaluation) -> None:
    core, reference = solved(evaluation, exactk.evaluate), solved(evaluation, exactk.reference.evaluate)
    assert (core is None) == (reference is None)
    if core is None or reference is None:
        return
    problem, outcome = core
    ratios, expected = outcome.ratios, reference[1].ratios
    assert ratios is not None
    assert expected is not None
    micro = [i for i, value in enumerate(problem.values) if value.rules["average"] == "micro"]
    assert ratios.shape == expected.shape == (len(micro), 2, len(problem.truth))
    np.testing.assert_allclose(ratios, expected, rtol=1e-15, atol=2**-78)
    for index, (numerators, denominators) in zip(micro, ratios, strict=True):
        sums = outcome.sums[index]
        weights = np.ones(len(problem.truth)) if problem.weights is None else problem.weights.values
        assert sums.users == np.count_nonzero(~np.isnan(numerators))
        for parts, field in ((numerators, "total"), (denominators, "weight")):
            total = sum(
                (
                    Fraction(weight) * Fraction(part)
                    for weight, part in zip(weights.tolist(), parts.tolist(), strict=True)
                    if not math.isnan(part)
                ),
                start=Fraction(0),
            )
            assert total == Fraction(getattr(sums, field), 1 << getattr(sums, f"{field}_scale"))


def test_ratios_are_kept_with_per_user_alone() -> None:
    metrics = ["P@2(average=micro)", "P@2", "R@2(average=micro)"]
    evaluation = Evaluation([[1], [], [2]], [[1, 2], [3], [4]], metrics, {"convention": {"empty_truth": "skip"}})
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        result = solved(evaluation, evaluate)
        assert result is not None
        problem, outcome = result
        nan = math.nan
        expected = [[[1, nan, 0], [2, nan, 2]], [[1, nan, 0], [1, nan, 1]]]
        np.testing.assert_array_equal(outcome.ratios, np.array(expected))
        with mock.patch.object(evaluation_module, "solve", mock.Mock(wraps=solve)) as solving:
            evaluation.run(evaluate)
        (engine, plain), _ = solving.call_args
        assert engine.solve(plain).ratios is None
        assert problem.per_user
