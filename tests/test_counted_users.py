"""Weights and groups beside users whom values count differently: by the definition, in fractions, in every container."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

import exactk
from refusals import refused
from strategies import examples

USERS = "abcdef"  # who may be in the truth, in the predictions, or in both
RULES = ["truth", "both", "predictions", "union"]
VALUES: dict[str, Callable[[list[int], list[int]], int]] = {
    "num_recommended": lambda _truth, ranking: len(ranking),
    "precision@1": lambda truth, ranking: int(ranking[0] in truth) if ranking else 0,
}


class Case(NamedTuple):
    truth: dict[str, list[int]]
    rankings: dict[str, list[int]]
    weights: dict[str, float]
    groups: dict[str, str]

    def counted_users(self, rule: str) -> set[str]:
        truth, rankings = set(self.truth), set(self.rankings)
        return {"truth": truth, "both": truth & rankings, "predictions": rankings, "union": truth | rankings}[rule]

    def mean(self, metric: str, users: set[str]) -> Fraction | None:
        """Return the sum of w v over the sum of w."""
        total = weight = Fraction(0)
        for user in users:
            value = VALUES[metric](self.truth.get(user, []), self.rankings.get(user, []))
            total += Fraction(self.weights[user]) * value
            weight += Fraction(self.weights[user])
        return total / weight if weight else None


@st.composite
def cases(draw: st.DrawFn) -> tuple[Case, dict[str, tuple[str, str]]]:
    """Draw users, what they have, and values by their spelling; often, somebody has no weight or no group."""
    rows = st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True)
    by_user = st.dictionaries(st.sampled_from(USERS), rows, max_size=5)
    truth, rankings = draw(by_user), draw(by_user.filter(bool))
    named = draw(st.one_of(st.just(set(USERS)), st.sets(st.sampled_from(USERS), min_size=4)))
    weights = {user: draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for user in sorted(named)}
    groups = {user: draw(st.sampled_from("xyz")) for user in sorted(named, reverse=True)}
    pairs = st.tuples(st.sampled_from(sorted(VALUES)), st.sampled_from(RULES))
    asked = draw(st.lists(pairs, min_size=1, max_size=3, unique=True))
    spelled = {f"{metric}(users={rule},empty_truth=compute)": (metric, rule) for metric, rule in asked}
    return Case(truth, rankings, weights, groups), spelled


def frame_of(rankings: dict[str, list[int]]) -> pl.DataFrame:
    rows = [(user, item, rank) for user, row in rankings.items() for rank, item in enumerate(row)]
    return pl.DataFrame(rows, {"user": pl.String, "item": pl.Int64, "rank": pl.Int64}, orient="row")


def batches_of(rankings: dict[str, list[int]], size: int) -> exactk.Batches:
    frame = frame_of(rankings)
    return exactk.Batches(lambda: (frame[begin : begin + size] for begin in range(0, len(frame), size)))


def blocks_of(case: Case) -> Iterator[tuple[Any, Any]]:
    """Yield a block of a few users after another."""
    for users in ("ab", "cde", "f"):
        block = [{user: rows[user] for user in users if user in rows} for rows in (case.truth, case.rankings)]
        if any(block):
            yield block[0], block[1]


CONTAINERS: dict[str, Callable[[Case], tuple[Any, Any]]] = {
    "dicts": lambda case: (case.truth, case.rankings),
    "frame": lambda case: (case.truth, frame_of(case.rankings)),
    "batches of a row": lambda case: (case.truth, batches_of(case.rankings, 1)),
    "batches": lambda case: (case.truth, batches_of(case.rankings, 4)),
    "batches in any order": lambda case: (
        case.truth,
        exactk.Batches(lambda: [frame_of(case.rankings).sort("item"), frame_of({USERS[0]: [5], USERS[1]: [6]})[:0]]),
    ),
    "blocks": lambda case: (None, blocks_of(case)),
    "a system of two": lambda case: (case.truth, {"one": case.rankings, "same": frame_of(case.rankings)}),
}


@pytest.mark.parametrize("engine", [exactk, exactk.reference], ids=["core", "reference"])
@pytest.mark.parametrize("container", CONTAINERS)
@settings(max_examples=examples(100))
@given(drawn=cases())
def test_f41_values_are_weighted_means_over_the_users_they_count(
    container: str, engine: Any, drawn: tuple[Case, dict[str, tuple[str, str]]]
) -> None:
    case, spelled = drawn
    truth, predictions = CONTAINERS[container](case)
    call = engine.compare if container == "a system of two" else engine.evaluate

    def run() -> exactk.Report:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exactk.EvaluationWarning)
            report = call(truth, predictions, list(spelled), weights=case.weights, groups=case.groups)
        return report.reports["one"] if isinstance(report, exactk.Comparison) else report

    seen = set(case.truth) | set(case.rankings)
    assume(not seen or all(seen & set(one) for one in (case.weights, case.groups)))  # which test_unmatched has
    needed = set().union(*(case.counted_users(rule) for _, rule in spelled.values()))
    if not needed <= set(case.weights):
        with refused("weights: user without one", "a weight for every user in the mean of ") as error:
            run()
        assert any(f"(user {user!r})" in str(error.value) for user in needed - set(case.weights))
        return
    report = run()
    groups = {group: {user for user in seen if case.groups.get(user) == group} for group in "xyz"}
    assert list(report.by_group) == [group for group, users in groups.items() if users]
    for spelling, (metric, rule) in spelled.items():
        counted = case.counted_users(rule)
        for values, users in [
            (report, seen),
            *((report.by_group[group], groups[str(group)]) for group in report.by_group),
        ]:
            mean = case.mean(metric, counted & users)
            expected = float("nan") if mean is None else float(mean)
            assert values[spelling] == pytest.approx(expected, rel=1e-15, nan_ok=True)


def test_f41_the_reproducer() -> None:
    rankings = {"a": [1], "z": [2, 3]}
    for predictions in (rankings, frame_of(rankings), batches_of(rankings, 1), batches_of(rankings, 9)):
        for evaluate in (exactk.evaluate, exactk.reference.evaluate):
            metric = "num_recommended(users=union,empty_truth=compute)"
            report = evaluate({"a": [1]}, predictions, metric, weights={"a": 1, "z": 3}, groups={"a": 1, "z": 2})
            assert report[metric] == (1 * 1 + 3 * 2) / (1 + 3)
            assert {group: values[metric] for group, values in report.by_group.items()} == {1: 1.0, 2: 2.0}
            for argument in ("weights", "groups"):
                options: Any = {argument: {"a": 1}}
                with pytest.raises(exactk.InputError, match=rf"^{argument}: .*\(user 'z'\)") as error:
                    evaluate({"a": [1]}, predictions, ["mrr", metric], **options)
                assert (error.value.argument, error.value.count) == (argument, 1)
                assert evaluate({"a": [1]}, predictions, "mrr", **options)["mrr"] == 1


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_f41_an_override_counts_too() -> None:
    convention = exactk.Convention(overrides={"reciprocal_rank": {"users": "predictions", "empty_truth": "zero"}})
    options: dict[str, Any] = {"convention": convention, "weights": {"z": 3.0}}
    assert exactk.evaluate({"a": [1]}, {"z": [2]}, "mrr", **options)["mrr"] == 0
    with pytest.raises(exactk.InputError, match=r"P@1 \(users='truth'\).*\(user 'a'\)"):
        exactk.evaluate({"a": [1]}, {"z": [2]}, ["mrr", "P@1"], **options)
