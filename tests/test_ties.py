"""Ties: every value of the field ``ties``, against all orders of the tied items."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator
from itertools import chain, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import exactk
from exactk import _core
from exactk._plan.metrics import metrics as metric_registry
from exactk.reference.ties import EXPECTATIONS
from refusals import refused
from strategies import OF_COLLECTION, WITHOUT_ITEMS, Evaluation, examples, in_pairs, spell, spellings
from test_reference import assert_same

EXPECTED = [
    f"{text}(gain=binary)" if metric_registry[name].expects_unit_gains else text
    for name in EXPECTATIONS
    for text in spellings(name, [1, 2, 3, 5, 8])
]


def with_ties(ties: Any, **changes: Any) -> exactk.Convention:
    return exactk.conventions["standard"].replace(ties=ties, **changes)


def evaluate_quietly(truth: Any, predictions: Any, metrics: Any, **options: Any) -> exactk.Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        report = exactk.evaluate(truth, predictions, metrics, **options)
    assert isinstance(report, exactk.Report)
    return report


def orders(scores: list[int]) -> Iterator[list[int]]:
    """Yield every ranking that the scores allow, each as often as every other."""
    ties = [[item for item, score in enumerate(scores) if score == best] for best in sorted(set(scores), reverse=True)]
    for order in product(*map(permutations, ties)):
        yield list(chain.from_iterable(order))


@st.composite
def tied_users(draw: st.DrawFn) -> tuple[dict[int, float], list[int]]:
    """Draw a truth, and scores in few enough ties that all orders can be looked at."""
    scores = draw(st.lists(st.integers(0, 3), min_size=1, max_size=6))
    graded = st.dictionaries(st.integers(0, len(scores)), st.sampled_from([0.0, 1.0, 2.0, 3.0]), max_size=6)
    return draw(graded), scores


RULES: list[dict[str, Any]] = [
    {},
    {"gain": "exp2", "discount": "log2_floored"},
    {"recall_over": "min_cutoff_relevant", "precision_over": "list", "ap_over": "relevant"},
    {"gain": "table", "gain_table": (0.0, 3.0, 1.0, 2.0)},  # a higher grade may gain less
]


@pytest.mark.parametrize("rules", RULES, ids=str)
@settings(max_examples=examples(60))
@given(tied_users())
def test_expectations_are_means_over_all_orders(
    rules: dict[str, Any], user: tuple[dict[int, float], list[int]]
) -> None:
    truth, scores = user
    rankings = list(orders(scores))
    every = evaluate_quietly(
        [truth] * len(rankings), rankings, EXPECTED, convention=with_ties("lowest_id", **rules), per_user=True
    )
    values = {
        ties: evaluate_quietly([truth], np.array([scores], np.float32), EXPECTED, convention=with_ties(ties, **rules))
        for ties in ("expected", "optimistic", "pessimistic")
    }
    for name in every.metrics:
        of_orders = every.per_user[name].tolist()
        mean = math.fsum(of_orders) / len(of_orders)
        assert values["expected"][name] == pytest.approx(mean, rel=1e-12, abs=1e-15, nan_ok=True), name
        best, worst = (min, max) if name == "label_ranking_loss" else (max, min)
        assert values["optimistic"][name] == pytest.approx(best(of_orders), rel=1e-12, nan_ok=True), name
        assert values["pessimistic"][name] == pytest.approx(worst(of_orders), rel=1e-12, nan_ok=True), name


def test_what_has_no_expectation_is_refused() -> None:
    for name in set(exactk.metrics) - set(EXPECTATIONS):
        message = "ties of 'lowest_id'" if name in OF_COLLECTION else "no formula"
        items: Any = {"items": exactk.Items(3, train=[[0]], item_groups=[0, 1, 1])} if name in OF_COLLECTION else {}
        if metric_registry[name].reads_base:
            items = {"base_predictions": [[0]]}
        with pytest.raises(exactk.InputError, match=message):
            evaluate_quietly([[0]], np.zeros((1, 3)), spellings(name, 3)[-1], convention=with_ties("expected"), **items)
    with pytest.raises(exactk.InputError, match="ap_over"):
        evaluate_quietly([[0]], np.zeros((1, 3)), "average_precision(ties=expected,ap_over=hits)")


def test_auc_of_lists_and_by_other_orders() -> None:
    assert exactk.auc([[1, 2]], [[1, 5, 2, 6]]) == 0.75  # 1 above both others, 2 above one
    assert exactk.auc([[1, 7]], [[1, 5, 6]]) == 0.5  # 7 is not ranked
    constant = np.zeros((1, 5))
    metrics = [f"auc(ties={ties})" for ties in ("lowest_id", "optimistic", "pessimistic", "shared", "highest_id")]
    assert list(evaluate_quietly([[0, 3]], constant, metrics).values()) == [0.5, 1.0, 0.0, 0.0, 0.5]
    with pytest.raises(exactk.InputError, match="no cutoff"):
        exactk.evaluate([[1]], [[1]], "auc@5")


def test_given_rankings_have_no_ties() -> None:
    truth, lists = [{1: 2.0, 4: 1.0}, {21: 3.0}], [[1, 2, 4, 5], [3, 21]]
    strict = evaluate_quietly(truth, lists, EXPECTED, per_user=True)
    for ties in ("optimistic", "pessimistic", "shared", "expected", "raise"):
        other = evaluate_quietly(truth, lists, EXPECTED, per_user=True, convention=with_ties(ties))
        assert other.state.totals == strict.state.totals
        assert "tie_dependent" not in other.counts


# Ties of every size among 1,000 items and at chunk and piece borders, with many and few relevant ones.
@pytest.mark.parametrize(
    ("values", "relevant", "ties"),
    in_pairs([1, 2, 30, 5000], [1, 40, 200], ["expected", "optimistic", "pessimistic", "shared"]),
)
def test_long_rows_equal_the_reference(values: int, relevant: int, ties: str) -> None:
    rng = np.random.default_rng(values + relevant)
    scores = rng.integers(0, values, (3, 1000)).astype(np.float32)
    scores[1, ::97] = math.nan
    scores[2, ::7] = -math.inf
    truth = [rng.permutation(1000)[:relevant] for _ in scores]
    exclude = [rng.permutation(1000)[:100] for _ in scores]
    options: dict[str, Any] = {"convention": with_ties(ties, nan="last"), "exclude": exclude}
    assert_same(Evaluation(truth, scores, [*EXPECTED, "auc"], options))


def test_f31_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 40, (200, 700)).astype(np.float32)
    truth = [rng.permutation(700)[:size] for size in rng.integers(0, 90, 200)]
    metrics = [*EXPECTED, "auc", *(f"ndcg@10(ties={ties})" for ties in ("optimistic", "pessimistic", "shared"))]
    reports = []
    for isa in _core.isas():
        monkeypatch.setenv("EXACTK_ISA", isa)
        for threads in (1, 3):
            options = {"convention": with_ties("expected"), "per_user": True, "num_threads": threads}
            reports.append(evaluate_quietly(truth, scores, metrics, **options))
    assert all(report == reports[0] for report in reports)


# --- where the order of ties decides


# The order of ties in metrics of all items of the list is not counted.
UNCUT = [spell(name) for name in WITHOUT_ITEMS if name != "judged"] + ["average_precision(ap_over=hits)", "judged"]
CUT = [
    spell(name, cutoff)
    for name in WITHOUT_ITEMS
    if name
    not in {"auc", "gauc", "label_ranking_loss", "pairwise_accuracy"}  # of the last, more hits may not be better
    for cutoff in (1, 2, 4)
]


@pytest.mark.parametrize("rules", [*RULES, {"ap_over": "hits"}, {"undefined": "skip", "min_grade": 2.0}], ids=str)
@settings(max_examples=examples(60))
@given(tied_users(), st.sets(st.integers(0, 6), max_size=2))
def test_f61_a_user_counts_if_any_order_of_ties_changes_the_value(
    rules: dict[str, Any], user: tuple[dict[int, float], list[int]], excluded: set[int]
) -> None:
    """By enumeration: every order of the tied items, evaluated as a ranking of its own."""
    truth, scores = user
    metrics = UNCUT + CUT + [f"ap@{k}(ap_over=hits)" for k in (2, 3, 4)]
    rankings = [[item for item in order if item not in excluded] for order in orders(scores)]
    convention = with_ties("lowest_id", empty_truth="compute", **rules)
    every = evaluate_quietly([truth] * len(rankings), rankings, metrics, convention=convention, per_user=True)
    expected = {name: int(len(np.unique(values)) > 1) for name, values in every.per_user.items()}
    expected |= {"auc": 0, "gauc": 0, "label_ranking_loss": 0}  # ties are halves
    sparse = exactk.SparseScores([0, len(scores)], range(len(scores)), scores)
    for predictions in (np.array([scores], np.float32), sparse):
        for ties in ("lowest_id", "highest_id", "input_order"):
            options = {"convention": convention.replace(ties=ties), "exclude": [excluded]}
            report = evaluate_quietly([truth], predictions, metrics, **options)
            assert dict(report.counts["tie_dependent"]) == expected


def test_f61_only_orders_that_mean_nothing_are_counted() -> None:
    scores = np.zeros((3, 4))
    for ties in ("optimistic", "pessimistic", "shared", "expected"):
        report = evaluate_quietly([[0]] * 3, scores, ["mrr", "recall@2"], convention=with_ties(ties))
        assert dict(report.counts["tie_dependent"]) == {"mrr": 0, "recall@2": 0}
        assert warnings_of([[0]] * 3, scores, f"ndcg(ties={ties})") == []
    report = evaluate_quietly([[0]] * 3, scores, ["mrr", "mrr(ties=shared)", "num_recommended@2", "num_relevant"])
    assert list(report.counts["tie_dependent"].values()) == [3, 0, 0, 0]
    with_policies = evaluate_quietly([[0], [], None], scores, "recall@2(empty_truth=zero,users=union)")
    assert list(with_policies.counts["tie_dependent"].values()) == [1]
    mixed = evaluate_quietly([[0]] * 3, scores, ["mrr", "num_relevant", "recall@2(score_dtype=float32)"])
    assert list(mixed.counts["tie_dependent"].values()) == [3, 0, 3]
    both = evaluate_quietly([[0]] * 3, scores, ["f1@2(average=of_means)", "precision@2", "recall@2(average=micro)"])
    assert list(both.counts["tie_dependent"].values()) == [3, 3, 3]


def test_f61_counts_merge_and_are_written() -> None:
    scores = np.array([[3, 2, 2, 1, 1], [1, 1, 1, 1, 1], [5, 4, 3, 2, 1], [9, 9, 0, 0, 0]], np.float32)
    metrics = ["recall@[1,2,3,5,9]", "reciprocal_rank"]
    truth = [[1], [0], [0], [1]]
    report = evaluate_quietly(truth, scores, metrics, exclude=[[], [], [], [0]])
    assert list(report.counts["tie_dependent"].values()) == [1, 2, 1, 0, 0, 2]
    parts = [
        evaluate_quietly(truth[i : i + 2], scores[i : i + 2], metrics, exclude=[[], [0] if i else []]) for i in (0, 2)
    ]
    assert exactk.merge(parts).counts == report.counts
    assert exactk.Report.from_json(report.to_json()) == report
    assert "1 user whose recall@1 depends on ties" in repr(report)


def test_f61_ties_far_down_are_looked_at_too() -> None:
    """Where the ranks of the truth are counted, the list is not sorted."""
    scores = np.arange(70_000, dtype=np.float32)[None, ::-1].repeat(2, axis=0)
    scores[0, 39_999:40_001] = 0.5 * (scores[0, 39_999] + scores[0, 40_000])
    for truth in ([[39_999], [60_000]], [[40_000], [60_000]]):
        report = evaluate_quietly(truth, scores, ["recall@[10,39999,40000,40001]", "ndcg"])
        assert list(report.counts["tie_dependent"].values()) == [0, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("values", "relevant", "kind", "is_restricted"),
    in_pairs([1, 2, 30, 5000], [1, 5, 40, 200], ["scores", "sparse", "embeddings", "best"], [False, True]),
)
def test_f61_counts_of_long_rows_equal_the_reference(
    values: int, relevant: int, kind: str, is_restricted: bool
) -> None:
    rng = np.random.default_rng(values * relevant)
    scores = rng.integers(0, values, (3, 700)).astype(np.float32)
    truth = [rng.permutation(800)[:relevant].tolist() for _ in scores]
    exclude = [rng.permutation(700)[:100].tolist() for _ in scores]
    metrics = ["mrr", "ap", "ndcg", "recall@[1,10,300]", "ap@10(ap_over=hits)", "bpref", "err(ties=highest_id)"]
    permutations_of_items = np.concatenate([rng.permutation(700) for _ in scores])
    predictions: Any = {
        "scores": scores,
        "sparse": exactk.SparseScores(np.arange(4) * 700, permutations_of_items, scores.reshape(-1)),
        "embeddings": exactk.Embeddings(np.ones((3, 1)), rng.integers(0, values, (700, 1)).astype(np.float32)),
        "best": exactk.SparseScores(np.arange(4) * 20, np.tile(np.arange(20), 3), scores[:, :20].reshape(-1)),
    }[kind]
    options = {"exclude": exclude, "convention": {"min_grade": 1.0}} if is_restricted else {}
    assert_same(Evaluation(truth, predictions, metrics, options))


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@settings(max_examples=examples(60))
@example([(0, 1), (0, 1), (1, 1)], {0})
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6), st.sets(st.integers(0, 2)))
def test_f53_expectations_where_items_are_repeated(scored: list[tuple[int, int]], truth: set[int]) -> None:
    """Each repeat a hit: the mean over all orders. Only the first one: an error where a tie holds several."""
    items, scores = zip(*scored, strict=True)
    predictions = exactk.SparseScores([0, len(items)], items, np.array(scores, np.float32))
    rankings = [[items[i] for i in order] for order in orders(list(scores))]
    repeats_in_ties = [i for i, pair in enumerate(scored) if pair in scored[:i] and pair[0] in truth]
    for duplicates in ("count", "first"):
        convention = with_ties("expected", duplicate_items=duplicates, empty_truth="compute")
        for evaluate in (exactk.evaluate, exactk.reference.evaluate):
            if duplicates == "first" and repeats_in_ties:
                with refused("predictions: repeated item within a tie", "each item once within a tie") as error:
                    evaluate([truth], predictions, ["mrr", "ndcg"], convention=convention)
                found = (error.value.argument, error.value.row, error.value.position, error.value.count)
                assert found == ("predictions", 0, repeats_in_ties[0], len(repeats_in_ties))
                continue
            report = evaluate([truth], predictions, EXPECTED, convention=convention)
            every = evaluate_quietly([truth] * len(rankings), rankings, EXPECTED, convention=convention, per_user=True)
            for name in every.metrics:
                of_orders = every.per_user[name].tolist()
                mean = math.fsum(of_orders) / len(of_orders)
                assert report[name] == pytest.approx(mean, rel=1e-12, abs=1e-15, nan_ok=True), name


def test_f53_what_makes_no_repeat_within_a_tie() -> None:
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        cases: list[tuple[exactk.SparseScores, dict[str, Any]]] = [
            (exactk.SparseScores([0, 3], [1, 1, 2], [3.0, 2.0, 2.0]), {}),  # in two ties
            (exactk.SparseScores([0, 3], [3, 3, 1], [3.0, 3.0, 2.0]), {}),  # of no item of the truth
            (exactk.SparseScores([0, 3], [1, 1, 2], [1.0, 1.0, 2.0]), {"exclude": [[1]]}),
            (exactk.SparseScores([0, 3], [1, 1, 2], [1.0, 1.0, 2.0], min_score=1.5), {}),
        ]
        for predictions, options in cases:
            convention = with_ties("expected", duplicate_items="first")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", exactk.EvaluationWarning)
                evaluate([[1]], predictions, ["mrr", "auc"], convention=convention, **options)
    repeated = exactk.SparseScores([0, 2], [1, 1], [0.0, 0.0])
    hint = (
        "found item 1 again at row 0, position 1; convention={'duplicate_items': 'count'} counts every repeat as a hit"
    )
    with pytest.raises(exactk.InputError, match=re.escape(hint)):
        exactk.evaluate([[1]], repeated, "mrr(ties=expected,duplicate_items=first)")
    for beside, gravest in (("mrr(duplicate_items=raise)", "in a list"), ("mrr(ties=raise)", "within a tie")):
        with pytest.raises(exactk.InputError, match=f"each item once {gravest}"):
            exactk.evaluate([[1]], repeated, ["mrr(ties=expected)", beside], convention={"duplicate_items": "first"})
    report = exactk.evaluate([[1]], repeated, "mrr", convention=with_ties("expected", duplicate_items="count"))
    assert report["mrr"] == 1


def warnings_of(*arguments: Any, call: Callable[..., object] = exactk.evaluate, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments, **options)
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


def test_f61_a_constant_model_does_not_look_good() -> None:
    truth, constant = [[0, 1]] * 5, np.zeros((5, 4))
    (message,) = warnings_of([[0], [0]], np.zeros((2, 50)), ["mrr", "map", "ndcg"])
    assert message.startswith("the order of ties changes mrr for 2 of 2 users")
    assert "1.0000 with ties='lowest_id', 0.0200 to 1.0000 with other orders" in message
    assert "(the first of 3 such values)" in message
    (message,) = warnings_of(truth, constant, ["recall@4", "recall@2", "recall@3"], groups=list("ababa"))
    assert (
        "changes recall@2 for 5 of 5 users: 1.0000 with ties='lowest_id', 0.0000 to 1.0000 with other orders" in message
    )
    message = warnings_of(truth, constant, ["recall@4", "ndcg@50"])[0]
    assert (
        "changes ndcg@50 for 5 of 5 users: 1.0000 with ties='lowest_id', 0.5706 to 1.0000 with other orders" in message
    )
    assert warnings_of(truth, constant, "recall@2(ties=expected)") == []
    assert warnings_of(truth, constant, ["recall@4", "precision"]) == []
    assert warnings_of([{0, 1, 2, 3}] * 5, constant, ["mrr", "ap", "ndcg@2"]) == []  # all are relevant
    assert warnings_of([[7]] * 5, constant, ["mrr", "ap", "ndcg@2"])[0].startswith("5 relevant items")  # and none
    systems = {"a": constant, "b": constant}
    (message,) = warnings_of(truth, systems, "recall@2", call=exactk.compare, weights=np.ones(5))
    assert message.startswith("all systems: the order of ties")
    constant_but_two = np.vstack([[[3, 2, 1, 0]] * 2, constant[2:]])
    (message,) = warnings_of(truth, systems | {"c": constant_but_two}, "recall@2", call=exactk.compare)
    assert re.fullmatch("systems 'a' and 'b': .* for 5 of 5 users: .*; system 'c': .* for 3 of 5 users: .*", message)
    (message,) = warnings_of(truth, constant, ["num_relevant@2", "num_recommended@2", "recall@2"])
    assert "changes recall@2" in message  # the others are the same in any order
    assert warnings_of(truth, constant, ["num_relevant@2", "num_recommended@2"]) == []
    (message,) = warnings_of([[]] * 5, constant, "recall@2")
    assert "no user was evaluated" in message
    (message,) = warnings_of(None, iter([(truth, constant)] * 3), "recall@2")
    assert "15 of 15 users" in message
    assert "convention={'ties': 'pessimistic'}" in message


def test_f61_few_ties_or_small_differences_are_no_warning() -> None:
    scores = np.random.default_rng(0).permuted(np.tile(np.arange(5.0), (200, 1)), axis=1)
    scores[:2] = 0
    assert warnings_of([[1]] * 200, scores, "recall@2") == []
    scores[:3] = 0
    assert len(warnings_of([[1]] * 200, scores, "recall@2")) == 1
    deep = np.tile(np.arange(1000.0)[::-1], (5, 1))
    deep[:, 999] = deep[:, 998]
    assert evaluate_quietly([[999]] * 5, deep, "mrr").counts["tie_dependent"]["mrr"] == 5
    assert warnings_of([[999]] * 5, deep, "mrr") == []


# --- ties that are refused


def test_ties_of_the_truth_are_refused() -> None:
    scores = np.array([[4, 3, 2, 1, 1], [9, 8, 8, 7, 8], [1, 1, 2, 3, 4]], np.float64)
    convention = with_ties("raise")
    assert evaluate_quietly([[0, 2], [0, 3], [2]], scores, "recall", convention=convention)["recall"] == 1
    with pytest.raises(exactk.InputError, match="a tie of 3 items at rank 2") as error:
        evaluate_quietly([[0], [2], [0]], scores, ["recall", "mrr"], convention=convention)
    assert (error.value.argument, error.value.row, error.value.count) == ("predictions", 1, 2)
    assert evaluate_quietly([[0], [2], [0]], scores, ["recall@1", "ndcg(ties=lowest_id)"], convention=convention)
    with pytest.raises(exactk.InputError, match="rank 2"):
        evaluate_quietly([[0], [2], [0]], scores, ["recall@2", "ndcg(ties=lowest_id)"], convention=convention)
    assert evaluate_quietly([[0], [2], [0]], scores, "recall", convention=convention, exclude=[[], [1, 4], [1]])
    with pytest.raises(exactk.InputError, match="rank 2") as error:  # seen after others have judged the user
        evaluate_quietly(
            [None, [2], [0]], scores, ["ndcg(ties=lowest_id)", "recall(ties=optimistic)", "mrr(ties=raise)"]
        )
    assert (error.value.row, error.value.count) == (1, 2)


def test_topk_refuses_ties_among_the_best() -> None:
    scores = np.array([[4, 3, 2, 1, 1], [9, 8, 7, 7, 7], [5, 5, 4, 3, 2]], np.int32)
    assert exactk.topk(scores[:2], 2, ties="raise").items.tolist() == [[0, 1], [0, 1]]
    for topk in (exactk.topk, exactk.reference.topk):
        with pytest.raises(exactk.InputError, match="tie") as error:
            topk(scores, 3, ties="raise")  # the third of row 1 is tied with the fourth
        assert (error.value.argument, error.value.row, error.value.count) == ("scores", 1, 2)
        ties: Any
        for ties in ("optimistic", "pessimistic", "shared", "expected"):
            with pytest.raises(exactk.InputError, match=r"^ties: "):
                topk(scores, 3, ties=ties)


def test_f08_nan_comes_before_ties() -> None:
    scores = np.array([[1, 1, 0], [2, math.nan, 1]])
    for call in (
        lambda: exactk.topk(scores, 1, ties="raise"),
        lambda: exactk.evaluate([[0], [0]], scores, "mrr(ties=raise)"),
    ):
        with pytest.raises(exactk.InputError, match="NaN") as error:
            call()
        assert error.value.row == 1
    last = exactk.topk(np.array([[1, math.nan, math.nan]]), 1, ties="raise", nan="last")
    assert last.items.tolist() == [[0]]
    with pytest.raises(exactk.InputError, match="a tie at rank 2"):
        exactk.topk(np.array([[1, math.nan, math.nan]]), 2, ties="raise", nan="last")


@pytest.mark.parametrize("relevant", [[4, 9], [0, 1]])
@pytest.mark.parametrize(
    ("ties", "value"), [("expected", 2 / 10), ("optimistic", 2 / 3), ("pessimistic", 0), ("shared", 0)]
)
def test_a_tie_that_the_cutoff_splits_counts_whole(ties: str, value: float, relevant: list[int]) -> None:
    """Scores are selected down to the cutoff, where ten items tie with each other."""
    report = exactk.evaluate([relevant], exactk.Scores(np.zeros((1, 10))), "precision@3", convention={"ties": ties})
    assert report["precision@3"] == pytest.approx(value)
    scores = np.concatenate([[2.0, 1.0], np.zeros(10)])[None]  # two items above the tie
    shifted = [item + 2 for item in relevant]
    report = exactk.evaluate([shifted], exactk.Scores(scores), "precision@3", convention={"ties": ties})
    assert report["precision@3"] == pytest.approx({"expected": 2 / 10 / 3, "optimistic": 1 / 3}.get(ties, 0))
