"""Users whose value is 0 / 0 are counted, and told of unless somebody chose what 0 / 0 is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import exactk
from exactk._sharded.reduction import report_of_buckets
from sharded_rows import plan_of_tables, results_of
from warned import warnings_of

RANKED = [("u1", "1010", (0.9, 0.8, 0.3, 0.3)), ("u2", "010", (0.5, 0.6, 0.6)), ("u3", "11", (0.7, 0.2))]
RANKED += [("u4", "00", (0.4, 0.1)), ("u5", "10000", (0.1, 0.2, 0.3, 0.4, 0.05))]
ROWS = pd.DataFrame(
    [
        (user, f"i{position}", float(label), score)
        for user, labels, scores in RANKED
        for position, (label, score) in enumerate(zip(labels, scores, strict=True))
    ],
    columns=["user", "item", "label", "score"],
)
"""Five users' labels and scores: all ranked items of u3 are relevant, none of u4's."""
TRUTH, SCORES = ROWS[["user", "item", "label"]], ROWS[["user", "item", "score"]]
TEXT = (
    "auc is 0 / 0 for 1 of 5 users (all ranked items are relevant, or none is) and counts as 0; "
    "'auc(undefined=skip)' leaves them out"
)


def updated(*bounds: int, metrics: str = "auc") -> exactk.Report:
    """Return the report of updates of the users between the bounds."""
    evaluator = exactk.Evaluator(metrics)
    for first, end in pairwise(bounds):
        users = [f"u{number}" for number in range(first, end)]
        evaluator.update(TRUTH[TRUTH.user.isin(users)], SCORES[SCORES.user.isin(users)])
    return evaluator.compute()


def in_buckets(metrics: str = "auc") -> exactk.Report:
    truth, scores = (pa.Table.from_pandas(one, preserve_index=False) for one in (TRUTH, SCORES))
    return report_of_buckets(results_of(plan_of_tables(truth, scores, metrics), [truth, scores]))


def blocks() -> Any:
    for _, users in TRUTH.groupby("user"):
        yield users, SCORES[SCORES.user.isin(users.user)]


WAYS: dict[str, Callable[[], exactk.Report]] = {
    "frames": lambda: exactk.evaluate(TRUTH, SCORES, "auc"),
    "reference": lambda: exactk.reference.evaluate(TRUTH, SCORES, "auc"),
    "batches": lambda: exactk.evaluate(TRUTH, exactk.Batches(lambda: [SCORES[:5], SCORES[5:]]), "auc"),
    "blocks": lambda: exactk.evaluate(None, blocks(), "auc"),
    "updates": lambda: updated(1, 3, 6),
    "buckets": in_buckets,
    "mappings": lambda: exactk.evaluate(
        {user: rows.item[rows.label > 0].tolist() for user, rows in ROWS.groupby("user")},
        {user: dict(zip(rows.item, rows.score, strict=True)) for user, rows in ROWS.groupby("user")},
        "auc",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_user_without_an_irrelevant_item_is_told_of_once(way: str) -> None:
    results: list[exactk.Report] = []
    texts = warnings_of(lambda: results.append(WAYS[way]()))
    assert [text for text in texts if "0 / 0" in text] == [TEXT]
    assert (results[0]["auc"], dict(results[0].counts["undefined"])) == (0.40625, {"auc": 1})


def test_states_add_the_users() -> None:
    whole = exactk.evaluate(TRUTH, SCORES, "auc")
    merged = exactk.merge([updated(1, 3), updated(3, 6)])
    assert merged.counts == whole.counts
    for copied in (exactk.State.from_bytes(whole.state.to_bytes()), exactk.State.from_dict(merged.state.to_dict())):
        assert copied.counts == whole.state.counts
    assert "undefined" not in updated(1, 3).counts
    assert "1 user whose auc is 0 / 0 (all ranked" in str(merged)


def test_a_comparison_names_its_systems() -> None:
    compare = partial(exactk.compare, TRUTH, {"a": SCORES, "b": SCORES}, "auc")
    assert warnings_of(compare) == [f"all systems: {TEXT}"]


@pytest.mark.parametrize(
    ("metric", "convention"),
    [
        ("auc(undefined=zero)", {}),
        ("auc(Undefined=skip)", {}),
        ("auc(average=micro)", {}),
        ("auc", {"undefined": "zero"}),
        ("auc", {"undefined": "zero", "recall.gain": "binary"}),
        ("auc", {"auc.undefined": "zero"}),
        ("auc", {"undefined": "one"}),
        ("auc", "ranx"),  # what the library says of 0 / 0
        ("recall", {}),
    ],
)
def test_a_choice_is_quiet(metric: str, convention: Any) -> None:
    assert warnings_of(partial(exactk.evaluate, TRUTH, SCORES, metric, convention=convention)) == []


@pytest.mark.parametrize(
    "convention", [{"min_grade": 0.5}, {"gain": "binary", "auc.ties": "shared"}, "capped", {"base": "capped"}]
)
def test_other_choices_are_told(convention: Any) -> None:
    assert warnings_of(partial(exactk.evaluate, TRUTH, SCORES, "auc", convention=convention)) == [TEXT]


def test_nan_names_its_cause() -> None:
    lists = exactk.compare(TRUTH, {"a": SCORES, "b": SCORES}, "auc(undefined=nan)")
    cause = "(all ranked items are relevant, or none is)"
    assert [row.reason for row in lists.differences] == [f"undefined for 1 user {cause}"]
    assert f"1 user whose auc(undefined=nan) is 0 / 0 {cause}" in str(lists.reports["a"])


E: tuple[dict[str, list[str]], dict[str, list[str]]] = (
    {"ann": ["a", "b", "x"], "bob": ["a"], "cy": ["x", "y", "z"], "dee": ["b", "q"]},
    {"ann": ["a", "x", "p"], "bob": ["p", "a", "b"], "cy": ["a", "y", "b"], "dee": ["p", "a", "x"]},
)
CATALOGUE = list("abpqxyz")


def of_group(group: str) -> exactk.Items:
    return exactk.Items(CATALOGUE, values=[float(item in group) for item in CATALOGUE])


@pytest.mark.parametrize(
    ("truth", "predictions", "metric", "items", "expected", "text"),
    [
        (*E, "recall@3(weight=values)", of_group("abp"), (3 / 8, 1 / 2), "for 1 of 4 users (no relevant item has a value above 0)"),
        (*E, "recall@3(weight=values)", of_group("xyz"), (1 / 3, 2 / 3), "for 2 of 4 users (no relevant item has a value above 0)"),
        ([[1, 2, 3], [1]], [[1, 2], [2, 1]], "list_auc(num_items=3)", None, (1 / 4, 1 / 2), "for 1 of 2 users (all items are relevant, or none is)"),
        (None, [[0, 1], [2]], "ild@2", exactk.Items(3, features=[[1.0, 0], [0, 1], [1, 1]]), (1 / 2, 1), "for 1 of 2 users (fewer than two items of the list count)"),
    ],
    ids=["head", "tail", "list_auc", "ild"],
)  # fmt: skip
def test_siblings(
    truth: Any, predictions: Any, metric: str, items: Any, expected: tuple[float, float], text: str
) -> None:
    zero, skip = (
        f"{metric[:-1]},undefined={choice})" if metric.endswith(")") else f"{metric}(undefined={choice})"
        for choice in ("zero", "skip")
    )
    expected_text = f"{metric} is 0 / 0 {text} and counts as 0; {skip!r} leaves them out"
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        assert warnings_of(partial(evaluate, truth, predictions, metric, items=items)) == [expected_text]
    results: list[exactk.Report] = []
    both = partial(exactk.evaluate, truth, predictions, [zero, skip], items=items)
    assert warnings_of(lambda: results.append(both())) == []
    assert tuple(results[0].values()) == pytest.approx(expected)


def test_many_users_with_the_same_hits_are_counted() -> None:
    truth = [[1, 2, 3] if user % 3 else [1] for user in range(3000)]
    report = exactk.evaluate(truth, [[1, 2]] * 3000, ["list_auc(num_items=3,undefined=zero)", "recall@2"])
    assert list(report.counts["undefined"].values()) == [2000, 0]


def test_an_empty_list_or_truth_is_not_counted() -> None:
    items = exactk.Items(3, train=[[0], [0, 1]])
    report = exactk.evaluate(
        [[0], [], [1]], [[], [0, 1], None], ["recall@2", "precision@2(precision_over=list)", "novelty@2"], items=items
    )
    assert "undefined" not in report.counts


# As scikit-learn's AUC of each user, RecBole's GAUC (which weighs by relevant items), and a mean weighted by hand give them.
WEIGHTED_MEANS = {
    "gauc": 6 / 12,
    "gauc(gauc_over=positives)": 2.25 / 4,
    "gauc(average=macro)": (5 / 8 + 3 / 4 + 1 / 4) / 3,
    "gauc(average=macro,undefined=zero)": (5 / 8 + 3 / 4 + 1 / 4) / 4,
}


@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
def test_gauc_weighs_users_and_leaves_out_those_of_one_class(evaluate: Callable[..., exactk.Report]) -> None:
    report = evaluate(TRUTH, SCORES, [*WEIGHTED_MEANS], per_user=True)
    assert dict(report.items()) == pytest.approx(WEIGHTED_MEANS, rel=1e-15)
    assert [*report.counts["evaluated"].values()] == [3, 3, 3, 4]
    assert [*report.counts["undefined"].values()] == [1, 1, 1, 1]
    assert "2 users skipped in gauc, gauc(gauc_over=positives), gauc(average=macro)" in str(report)
    assert report.per_user["gauc"].tolist()[:2] == [5 / 8, 3 / 4]


def test_gauc_is_the_same_under_every_average_of_the_convention() -> None:
    for convention in ({"average": "micro"}, {"undefined": "one"}, "evidently", "standard"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert exactk.evaluate(TRUTH, SCORES, "gauc", convention=convention)["gauc"] == 0.5
    of_recbole = exactk.evaluate(TRUTH[TRUTH.label > 0], SCORES, "gauc", convention="recbole")  # every row is relevant
    assert of_recbole["gauc"] == 0.5625
    override = exactk.conventions["standard"].replace(overrides={"gauc": {"average": "macro"}})
    assert exactk.evaluate(TRUTH, SCORES, "gauc", convention=override)["gauc"] == pytest.approx(13 / 24)


def test_gauc_is_weighted_merged_and_compared() -> None:
    weights = {"u1": 2.0, "u2": 1.0, "u3": 5.0, "u4": 1.0, "u5": 0.5}
    weighted = exactk.evaluate(TRUTH, SCORES, "gauc", weights=weights)
    assert weighted["gauc"] == pytest.approx((2 * 4 * 5 / 8 + 3 * 3 / 4 + 0.5 * 5 / 4) / (8 + 3 + 2.5))
    assert updated(1, 3, 6, metrics="gauc").state == exactk.evaluate(TRUTH, SCORES, "gauc").state
    reverse = SCORES.assign(score=-SCORES.score)
    comparison = exactk.compare(TRUTH, {"one": SCORES, "other": reverse}, "gauc")
    (difference,) = comparison.differences
    assert difference.users == 3
    assert difference.value == pytest.approx(0.5)


def test_what_weighs_users_has_no_effect_where_all_weigh_the_same() -> None:
    message = r"^gauc_over has no effect beside average='macro' in gauc\(.*\); \(average=micro,gauc_over=...\) uses it$"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.evaluate([[0], [1]], [{0: 0.5, 1: 0.25}, {0: 0.5, 1: 0.25}], "gauc(average=macro,gauc_over=positives)")
