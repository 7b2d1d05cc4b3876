"""How many lists have each item: the core against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import exactk
from exactk import _core
from exactk._engine.core import core_view
from exactk._engine.pipeline import evaluate_with_engine
from exactk._engine.problem import Outcome, Problem
from exactk._engine.systems import ONE_SYSTEM
from exactk._evaluate import DEFAULTS
from exactk._plan.fields import core_rules
from exactk._report.item_tally import ItemTally, item_tally
from exactk.reference.engine import reference_engine
from exactk.reference.item_counts import CountedLists, count_items
from exactk.reference.judged_users import JudgedUsers
from strategies import Evaluation, drawn_items, evaluations, examples, score_evaluations, sparse_scores

CUTOFFS = [(None,), (1, 3, None), (2, 5), (2**31 - 1,)]


class SolvedError(Exception):
    """There is a problem, and no more to be done."""


def problem_of(evaluation: Evaluation) -> Problem:
    """Return what the engines get; reject an evaluation that is refused."""
    problems: list[Problem] = []

    def solve(problem: Problem) -> Outcome:
        problems.append(problem)
        reference_engine.solve(problem)
        raise SolvedError

    options: Any = {**DEFAULTS, **evaluation.options, "items": evaluation.options["items"].items()}
    engine = reference_engine._replace(solve=solve)
    try:
        evaluate_with_engine(engine, ONE_SYSTEM, evaluation.truth, evaluation.predictions, ["arp"], **options)
    except SolvedError:
        return problems[0]
    except exactk.InputError:
        assume(False)
    raise AssertionError


def count_with_core(problem: Problem, cutoffs: tuple[int | None, ...], threads: int) -> CountedLists:
    """Return the core's counts, without any metric."""
    rules = core_rules(problem.values[0].rules)
    request = _core.ItemTallyRequest(rules, cutoffs, True)
    exclude = None if problem.exclude is None else problem.exclude.core
    assert problem.items is not None
    predictions = core_view(problem.predictions, problem.candidates)
    result = _core.evaluate(
        problem.truth.core, problem.truth.grades, predictions, exclude, None, None, 1, [], rules, False, threads, "",
        None, problem.items.core, [request], None, None, None, [], None,
    )  # fmt: skip
    return CountedLists(*result.item_tallies[0])


def tally_by_id(counted: CountedLists, problem: Problem, cutoffs: tuple[int | None, ...]) -> ItemTally:
    assert problem.items is not None
    keys = np.concatenate([problem.items.ids, counted.foreign_ids])
    return item_tally(cutoffs, keys, counted.counts, counted.list_lengths, counted.short_lists)


@pytest.mark.parametrize("kind", ["lists", "scores", "sparse scores"])
@settings(max_examples=examples(400))
@given(data=st.data())
def test_the_core_counts_as_the_reference(kind: str, data: st.DataObject) -> None:
    drawn: Any = {
        "lists": evaluations(),
        "scores": score_evaluations(),
        "sparse scores": score_evaluations(predictions=sparse_scores),
    }[kind]
    evaluation = data.draw(drawn)
    fields = {"foreign_items": data.draw(st.sampled_from(["count", "ignore"])), "unseen_items": "rare"}
    fields["list_users"] = data.draw(st.sampled_from(["lists", "users"]))
    if evaluation.options["convention"].duplicate_items == "raise":
        fields["duplicate_items"] = data.draw(st.sampled_from(["first", "count"]))
    convention = evaluation.options["convention"].replace(**fields)
    options = evaluation.options | {"items": data.draw(drawn_items()), "convention": convention}
    problem = problem_of(Evaluation(evaluation.truth, evaluation.predictions, ["arp"], options))
    cutoffs = data.draw(st.sampled_from(CUTOFFS))
    expected = count_items(JudgedUsers(problem), problem.values[0].rules, cutoffs, has_short_lists=True)
    for threads in (1, 3):
        actual = count_with_core(problem, cutoffs, threads)
        assert actual.foreign_ids.tolist() == expected.foreign_ids.tolist()
        assert actual.counts.tolist() == expected.counts.tolist()
        assert tally_by_id(actual, problem, cutoffs) == tally_by_id(expected, problem, cutoffs)


@pytest.mark.filterwarnings("ignore:.* as 0, the best value:exactk.EvaluationWarning")
def test_which_items_and_lists_are_counted() -> None:
    lists, truth = [[3, 8, 1], [8], [1, 3, 1], [], None, [9]], [[1], [], [2], [3], [1], None]
    items = {"items": exactk.Items([1, 3], train=[[1]]), "exclude": [[], [], [], [], [], [9]]}
    tallies: dict[tuple[str, str], Any] = {}
    for foreign in ("ignore", "count"):
        for list_users in ("lists", "users"):
            convention = {"foreign_items": foreign, "list_users": list_users, "duplicate_items": "first"}
            options = {**DEFAULTS, **items, "convention": convention}
            problems: list[Problem] = []

            def solve(problem: Problem, problems: list[Problem] = problems) -> Outcome:
                problems.append(problem)
                return reference_engine.solve(problem)

            evaluate_with_engine(
                reference_engine._replace(solve=solve), ONE_SYSTEM, truth, lists, ["arp@2", "list_fill"], **options
            )
            rules = problems[0].values[0].rules
            tallies[foreign, list_users] = count_items(JudgedUsers(problems[0]), rules, (1, 3), has_short_lists=True)
    plain = {key: (one.foreign_ids.tolist(), one.counts.tolist(), [table.tolist() for table in one.list_lengths])
             for key, one in tallies.items()}  # fmt: skip
    assert plain == {
        ("ignore", "lists"): ([], [[1, 2], [1, 2]], [[[0, 3], [1, 2]], [[0, 3], [2, 2]]]),
        ("ignore", "users"): ([], [[1, 2], [1, 2]], [[[0, 1], [1, 2]], [[0, 1], [2, 2]]]),
        ("count", "lists"): ([8], [[1, 2], [1, 2], [1, 2]], [[[0, 2], [1, 3]], [[0, 2], [1, 1], [2, 1], [3, 1]]]),
        ("count", "users"): ([8], [[1, 2], [1, 2], [0, 1]], [[[0, 1], [1, 2]], [[0, 1], [2, 1], [3, 1]]]),
    }
    assert tallies["count", "users"].short_lists[1].tolist() == [[0, 2, 1], [1, 2, 1]]
