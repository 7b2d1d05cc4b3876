"""Statistics of the values of users: from exact sums to the values of a report."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import exactk
from strategies import OF_COLLECTION, spell

TRUTH = [[1, 4], [21], [7, 8, 9], []]
LISTS = [[4, 2, 1], [3, 21], [5], [6]]
STANDARD = exactk.conventions["standard"]


def core_and_reference(*arguments: Any, **options: Any) -> list[exactk.Report]:
    """Return what the core and the reference report."""
    return [evaluate(*arguments, **options) for evaluate in (exactk.evaluate, exactk.reference.evaluate)]


def test_geometric_mean() -> None:
    metrics = ["ap", "ap(average=geometric)", "rr@2(average=geometric)", "num_hits(average=geometric)"]
    for report in core_and_reference(TRUTH, LISTS, metrics, per_user=True):
        assert report["ap(average=geometric)"] == pytest.approx((5 / 6 * 1 / 2 * 1e-5) ** (1 / 3), rel=1e-14)
        assert report["rr@2(average=geometric)"] == pytest.approx((1 * 0.5 * 1e-5) ** (1 / 3), rel=1e-14)
        assert report["num_hits(average=geometric)"] == pytest.approx((2 * 1 * 1e-5) ** (1 / 3), rel=1e-14)
        assert np.array_equal(report.per_user["ap(average=geometric)"], report.per_user["ap"], equal_nan=True)
        assert math.isnan(report.standard_deviation["ap(average=geometric)"])
        assert report.counts["evaluated"]["ap(average=geometric)"] == 3


OF_MEANS = "fbeta@2(beta=2,average=of_means)"


def f_measure(precision: float, recall: float, beta: float) -> float:
    """Evidently's formula."""
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def test_f_of_mean_precision_and_mean_recall() -> None:
    metrics = [
        "f1@2(average=of_means)",
        OF_MEANS,
        "fbeta@2(beta=0,average=of_means)",
        "fbeta@2(beta=inf,average=of_means)",
    ]
    metrics += ["precision@2", "recall@2", "f1@2"]
    for report in core_and_reference(TRUTH, LISTS, metrics, per_user=True):
        f1, f2, f_0, f_inf, precision, recall, mean_f1 = report.values()
        assert (f_0, f_inf) == (precision, recall) == (1 / 3, 1 / 2)
        assert f1 == pytest.approx(f_measure(precision, recall, 1), rel=1e-15)
        assert f1 != pytest.approx(mean_f1, rel=1e-3)
        assert f2 == pytest.approx(f_measure(precision, recall, 2), rel=1e-15)
        assert report.counts["evaluated"]["f1@2(average=of_means)"] == 3
        assert math.isnan(report.standard_deviation[OF_MEANS])
        assert np.isnan(report.per_user[OF_MEANS]).all()
        assert report.per_user["precision@2"].tolist()[:3] == [0.5, 0.5, 0.0]
        assert report.per_user["recall@2"].tolist()[:3] == [0.5, 1.0, 0.0]
        assert len(report.state.totals) == 3  # precision, recall and the mean of f1


@pytest.mark.parametrize("beta", [0, 0.5, 1, math.inf])
@pytest.mark.parametrize(
    ("undefined", "expected"), [("zero", 0.0), ("one", 1.0), ("nan", math.nan), ("skip", math.nan)]
)
def test_f_of_means_that_are_both_0(beta: float, undefined: str, expected: float) -> None:
    metric = f"fbeta@1(beta={beta},average=of_means,undefined={undefined})"
    for report in core_and_reference([[1]], [[2]], metric):
        assert report[report.metrics[0]] == pytest.approx(expected, nan_ok=True)


def test_f_of_means_of_groups_weights_blocks_and_systems() -> None:
    options: dict[str, Any] = {"weights": [1.0, 3.0, 2.0, 1.0], "groups": ["a", "b", "a", "a"]}
    metrics = [OF_MEANS, "precision@2(average=micro)"]
    whole, reference = core_and_reference(TRUTH, LISTS, metrics, **options)
    assert list(whole.values()) == pytest.approx(list(reference.values()), rel=1e-15)
    assert whole[OF_MEANS] == pytest.approx(f_measure((0.5 + 1.5) / 6, (0.5 + 3) / 6, 2), rel=1e-15)
    assert whole.by_group["a"][OF_MEANS] == pytest.approx(f_measure(0.5 / 3, 0.5 / 3, 2), rel=1e-15)
    blocks = iter([(TRUTH[:1], LISTS[:1]), (TRUTH[1:], LISTS[1:])])
    assert exactk.evaluate(None, blocks, metrics, **options) == whole
    comparison = exactk.compare(TRUTH, {"one": LISTS}, metrics, **options)
    assert comparison.reports["one"] == whole
    assert f"{whole[OF_MEANS]:.4f}" in repr(comparison)
    assert exactk.Report.from_json(whole.to_json()) == whole
    assert exactk.State.from_bytes(whole.state.to_bytes()) == whole.state


def test_f_of_means_is_computed_of_what_its_own_rules_say() -> None:
    fields = {"average": "of_means", "recall_over": "min_cutoff_relevant"}
    convention = STANDARD.replace(overrides={"fbeta": fields, "f1": fields})
    for report in core_and_reference(
        [[1, 2, 3, 4]], [[1, 9]], ["f1@2", "recall@2", "fbeta@2(average=macro)"], convention=convention
    ):
        assert report["f1@2"] == report["fbeta@2(average=macro)"] == 0.5
        assert report["recall@2"] == 0.25


@pytest.mark.parametrize("name", sorted({*exactk.metrics} - {"fbeta", "f1", "gauc", *OF_COLLECTION}))
def test_other_metrics_are_of_no_means(name: str) -> None:
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        with pytest.raises(
            exactk.InputError, match=f"{name}: another average.* 'of_means', which only fbeta and f1 support"
        ):
            evaluate(TRUTH, LISTS, spell(name), convention=STANDARD.replace(average="of_means"))


def test_warnings_of_f_of_means() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="no user was evaluated for f1"):
        assert math.isnan(exactk.evaluate([[]], [[1]], "f1@1(average=of_means)")["f1@1(average=of_means)"])
    with pytest.warns(exactk.EvaluationWarning, match="all weights are 0 for f1"):
        assert math.isnan(exactk.evaluate([[1]], [[1]], "f1(average=of_means)", weights=[0.0])["f1(average=of_means)"])
    scores = np.zeros((2, 3))
    with pytest.warns(
        exactk.EvaluationWarning,
        match=r"f1@1\(average=of_means\) for 2 of 2 users: 0\.5000 with ties='lowest_id', 0\.0000 to 1\.0000 with other orders",
    ):
        exactk.evaluate([[0], [2]], scores, "f1@1(average=of_means)")


def test_warnings_of_ratios_without_weight() -> None:
    """A ratio of sums whose divisor is 0 is what `undefined` says, not NaN."""
    metrics = ["recall@1(average=micro)", "recall@1"]
    expected = (
        r"all weights are 0 for recall@1: NaN; all weights or divisors are 0 for recall@1\(average=micro\) \(0\.0000\)"
    )
    with pytest.warns(exactk.EvaluationWarning, match=expected):
        report = exactk.evaluate([[1]], [[1]], metrics, weights=[0.0])
    assert math.isnan(report["recall@1"])
    assert report["recall@1(average=micro)"] == 0
    with pytest.warns(exactk.EvaluationWarning, match=r"^all weights or divisors are 0 for recall@1\(average=micro\)"):
        exactk.evaluate([[]], [[1]], metrics[0], weights=[1.0], convention={"empty_truth": "compute"})


def test_a_state_must_have_the_sums_of_its_plan() -> None:
    state = exactk.evaluate(TRUTH, LISTS, OF_MEANS, groups=["a", "b", "b", "a"]).state.to_dict()
    for damaged in (state | {"totals": state["totals"][:1]}, state | {"groups": [["a", state["totals"][:1]]]}):
        with pytest.raises(exactk.InputError, match=r"(totals|groups\['a'\]): expected 2 elements, found 1"):
            exactk.State.from_dict(damaged)


def test_decimals() -> None:
    metrics = [
        "ndcg@2",
        "ndcg@2(decimals=4)",
        "ndcg@2(average=geometric,decimals=2)",
        "f1@2(average=of_means,decimals=1)",
    ]
    groups = ["a", "b", "b", "a"]
    for report in core_and_reference(TRUTH, LISTS, metrics, per_user=True, groups=groups):
        exact, rounded, geometric_mean, f1 = report.values()
        assert (rounded, geometric_mean, f1) == (round(exact, 4), 0.02, 0.4)
        assert rounded != exact
        assert np.array_equal(report.per_user["ndcg@2(decimals=4)"], report.per_user["ndcg@2"], equal_nan=True)
        assert report.by_group["b"]["ndcg@2(decimals=4)"] == round(report.by_group["b"]["ndcg@2"], 4)
        assert report.standard_deviation["ndcg@2(decimals=4)"] == report.standard_deviation["ndcg@2"]
        assert len(report.state.totals) == 4  # nDCG as it is, its logarithms, precision and recall


def test_a_half_is_rounded_as_numpy_does() -> None:
    for hits in range(21):
        report = exactk.evaluate([[1]] * 20, [[1]] * hits + [[2]] * (20 - hits), "recall(decimals=1)")
        assert report["recall(decimals=1)"] == np.round(np.float64(hits / 20), 1)


def test_decimals_are_rounded_after_the_merge() -> None:
    convention = STANDARD.replace(decimals=1, overrides={"recall": {"decimals": None}})
    parts = [
        exactk.evaluate([[1]], [lists], ["rr", "recall"], convention=convention) for lists in ([2, 3, 1], [3, 2, 4, 1])
    ]
    assert [part["rr"] for part in parts] == [0.3, 0.2]
    assert exactk.merge(parts)["rr"] == exactk.merge([exactk.Report.from_json(part.to_json()) for part in parts])["rr"]
    assert exactk.merge(parts)["rr"] == round((1 / 3 + 1 / 4) / 2, 1) == 0.3
    assert exactk.merge(parts)["recall"] == 1
    plain = exactk.evaluate([[1]], [[2, 3, 1]], ["rr", "recall"])
    with pytest.raises(exactk.StateMismatchError, match="decimals"):
        exactk.merge([parts[0], plain])


def test_nothing_is_rounded_where_nothing_is_evaluated() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="no user"):
        assert math.isnan(exactk.evaluate([[]], [[1]], "recall(decimals=4)")["recall(decimals=4)"])
