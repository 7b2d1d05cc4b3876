"""What each picture shows, against plain Python from the values of users."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import exactk
from exactk._figures import (
    DARK,
    LEVELS,
    LIGHT,
    curves_figure,
    differences_figure,
    distribution_figure,
    groups_figure,
    metrics_figure,
    opposite_signs,
    pair_figure,
    system_styles,
    trade_off_figure,
    values_figure,
)
from html_pages import compared, data

if TYPE_CHECKING:
    from collections.abc import Sequence


def quantile(numbers: Sequence[float], level: float) -> float:
    """Return the least number that at least this share of the numbers are not above."""
    ordered = sorted(numbers)
    needed = Fraction(round(level * 100), 100) * len(ordered)
    return ordered[max(0, math.ceil(needed) - 1)]


def share_of_most(gains: Sequence[float], share: Fraction) -> float:
    """Return what the users who gain most have of all gains."""
    positive = sorted((gain for gain in gains if gain > 0), reverse=True)
    return math.fsum(positive[: math.ceil(share * len(gains))]) / math.fsum(positive)


def test_values_have_the_t_interval_of_the_users_mean() -> None:
    comparison = compared()
    figure = values_figure(comparison.reports, "MRR", 0.9)
    assert (figure.metric, figure.confidence) == ("mrr", 0.9)
    assert figure.best == comparison.best("mrr")
    for system, report in comparison.reports.items():
        users = report.per_user["mrr"]
        low, high = stats.ttest_1samp(users, 0).confidence_interval(0.9)
        assert figure.values[system] == pytest.approx(users.mean(), rel=1e-14)
        assert figure.intervals[system] == pytest.approx((low, high), rel=1e-9)


def test_values_without_an_interval_have_none() -> None:
    reports = {name: one._without_users() for name, one in compared(weights=np.linspace(0, 1, 120)).reports.items()}
    assert all(math.isnan(bound) for one in values_figure(reports).intervals.values() for bound in one)


def test_all_metrics_of_a_report() -> None:
    report = compared().reports["system 1"]
    figure = metrics_figure(report)
    assert dict(figure.values) == dict(report)
    assert figure.intervals["mrr"] == report.interval("mrr")
    assert (figure.metric, figure.best) == ("", ())


def test_curves_are_in_the_order_of_the_cutoffs() -> None:
    truth, systems = data()
    comparison = exactk.compare(truth, systems, ["ndcg@10", "mrr", "ndcg@1", "ndcg@5", "recall@5"])
    for metric in (None, "ndcg", "ndcg@5"):
        figure = curves_figure(comparison.reports, metric)
        assert (figure.metric, figure.cutoffs) == ("ndcg", (1, 5, 10))
        for system in systems:
            assert figure.values[system] == [comparison[f"ndcg@{k}"][system] for k in (1, 5, 10)]
            assert figure.intervals[system][2] == comparison.reports[system].interval("ndcg@10")
    message = "metric: expected one that was computed at two cutoffs or more: ndcg, found 'recall@5'"
    with pytest.raises(exactk.InputError, match=message):
        curves_figure(comparison.reports, "recall@5")
    with pytest.raises(exactk.InputError, match=r"such as ndcg@\[5,10,20\], found none"):
        curves_figure(exactk.compare(truth, systems, "mrr").reports)


def test_quantiles_of_users_are_values_of_users() -> None:
    comparison = compared()
    figure = distribution_figure(comparison.reports, "ndcg@10")
    for system, report in comparison.reports.items():
        users = report.per_user["ndcg@10"].tolist()
        assert figure.users[system] == len(users)
        assert figure.quantiles[system].tolist() == [quantile(users, level) for level in LEVELS.tolist()]


def test_users_without_a_value_are_in_no_distribution() -> None:
    report = exactk.evaluate([[1], [], [2]], [[1], [2], [3]], "mrr", per_user=True)
    figure = distribution_figure({"a": report})
    assert figure.users == {"a": 2}
    assert set(figure.quantiles["a"].tolist()) == {0.0, 1.0}
    with pytest.warns(exactk.EvaluationWarning, match="no user was evaluated"):
        nobody = distribution_figure({"a": exactk.evaluate([[]], [[1]], "mrr", per_user=True)})
    assert nobody.users == {"a": 0}
    assert np.isnan(nobody.quantiles["a"]).all()


@pytest.mark.parametrize(("metric", "turn"), [("ndcg@10", 1), ("arp@10", -1)])
def test_shares_of_gains_go_by_the_direction_of_the_metric(metric: str, turn: int) -> None:
    truth, systems = data()
    items = exactk.Items(60, train=[list(row) for row in truth])
    comparison = exactk.compare(truth, systems, metric, items=items, per_user=True)
    figure = pair_figure(comparison.reports, "system 2", "system 0")
    of_users = [comparison.reports[system].per_user[metric] for system in ("system 2", "system 0")]
    differences = (of_users[0] - of_users[1]).tolist()
    assert figure.quantiles.tolist() == [quantile(differences, level) for level in LEVELS.tolist()]
    for sign, shares in ((turn, figure.gains), (-turn, figure.losses)):
        gains = [sign * difference for difference in differences]
        expected = [(share, share_of_most(gains, Fraction(str(share)))) for share in (0.01, 0.1)]
        assert [share for share, _ in shares] == [0.01, 0.1]
        assert [number for _, number in shares] == pytest.approx([number for _, number in expected], rel=1e-12)


def test_equal_systems_gain_and_lose_nothing() -> None:
    truth, systems = data()
    reports = {name: exactk.evaluate(truth, systems["system 0"], "mrr", per_user=True) for name in "ab"}
    figure = pair_figure(reports, "a", "b")
    assert (figure.gains, figure.losses) == ((), ())
    assert set(figure.quantiles.tolist()) == {0.0}


def test_differences_are_rows_and_margins_differences() -> None:
    comparison = compared(baseline="system 0", margin={"ndcg@10": "5%", "mrr": 0.02})
    figure = differences_figure(comparison)
    assert list(figure.rows) == list(comparison.differences)
    for row, margin in zip(figure.rows, figure.margins, strict=True):
        expected = {"ndcg@10": 0.05 * row.baseline_value, "mrr": 0.02}.get(row.metric, math.nan)
        assert margin == pytest.approx(expected, rel=1e-14, nan_ok=True)
    assert {row.metric for row in differences_figure(comparison, "nDCG@10").rows} == {"ndcg@10"}


def compared_by_group(hits: Any, size: int, **options: Any) -> exactk.Comparison:
    """Compare a and b, which have so many hits among the users of each of two groups of a size."""
    systems = {
        name: [[1] if user < count else [2] for count in counts for user in range(size)]
        for name, counts in zip("ab", zip(*hits, strict=True), strict=True)
    }
    groups = ["x"] * size + ["y"] * size
    return exactk.compare([[1]] * 2 * size, systems, "P@1", groups=groups, **options)


@pytest.mark.parametrize(
    ("hits", "opposite"),
    [
        (((5, 30), (5, 30)), ""),
        (((5, 30), (30, 5)), "significant"),
        (((5, 30), (18, 17)), "sign"),
        (((5, 30), (9, 9)), ""),
    ],
)
def test_groups_of_opposite_signs(hits: Any, opposite: str) -> None:
    size = 40
    comparison = compared_by_group(hits, size)
    figure = groups_figure(comparison)
    assert figure.opposite == opposite
    assert [row.group for row in figure.rows] == ["x", "y"]
    assert [row.difference for row in figure.rows] == pytest.approx([(b - a) / size for a, b in hits])
    expected = comparison.differences.heterogeneity["P@1", "b", "a"]
    assert figure.heterogeneity == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


def test_groups_without_a_difference_hide_no_opposite_signs() -> None:
    systems = {"a": [[1]] * 2 + [[2]] * 4 + [[1]] * 6, "b": [[1]] * 5 + [[2]] * 7}
    comparison = exactk.compare([[1]] * 12, systems, "P@1", groups=["x"] * 6 + ["y"] * 6)
    rows = [*groups_figure(comparison).rows]
    undefined = rows[0]._replace(group="z", difference=math.nan, verdict="undefined")
    assert opposite_signs([rows[0], undefined], 0.05) == ""
    assert opposite_signs([*rows, undefined], 0.05) in {"sign", "significant"}
    assert opposite_signs([row._replace(verdict="undecided") for row in (*rows, undefined)], 0.05) == "sign"


def test_groups_that_are_equivalent_may_differ_significantly_in_sign() -> None:
    figure = groups_figure(compared_by_group(((200, 220), (220, 200)), 400, margin=0.2))
    assert {row.verdict for row in figure.rows} == {"equivalent"}
    assert figure.opposite == "significant"


def test_groups_of_a_pair_that_is_not_compared() -> None:
    with pytest.raises(exactk.InputError, match="metric: expected a metric and a pair of systems that are compared"):
        groups_figure(compared(), "mrr", "system 0", "system 1")
    with pytest.raises(exactk.InputError, match="groups: expected groups of users"):
        groups_figure(compared(groups=None))


def test_the_pareto_front_against_every_pair() -> None:
    truth, systems = data(systems=8)
    items = exactk.Items(60, train=[list(row) for row in truth])
    comparison = exactk.compare(truth, systems, ["ndcg@10", "arp@10", "recall@5"], items=items)
    for x, y, signs in (("ndcg@10", "arp@10", (1, -1)), ("recall@5", "ndcg@10", (1, 1))):
        points = {one: (signs[0] * comparison[x][one], signs[1] * comparison[y][one]) for one in systems}
        expected = {
            one
            for one, (a, b) in points.items()
            if not any(c >= a and d >= b and (c, d) != (a, b) for c, d in points.values())
        }
        figure = trade_off_figure(comparison.reports, x, y)
        assert set(figure.front) == expected
        assert (figure.x.metric, figure.y.metric) == (x, y)
    assert trade_off_figure(comparison.reports).y.metric == "arp@10"
    with pytest.raises(exactk.InputError, match="metrics: expected two metrics, one against the other, found mrr"):
        trade_off_figure(exactk.compare(truth, systems, "mrr").reports)


def test_systems_without_a_value_are_not_on_the_front() -> None:
    truth = [[1], []]
    systems = {"a": [[1], [2]], "b": [[2, 1], [1]], "c": [[2, 3], [1]]}
    reports = {
        name: exactk.evaluate(truth, lists, ["recall@1", "mrr"], convention={"empty_truth": "compute", **more})
        for (name, lists), more in zip(systems.items(), ({}, {}, {"undefined": "nan"}), strict=True)
    }
    figure = trade_off_figure(reports)
    assert math.isnan(figure.x.values["c"])
    assert figure.front == ("a",)


def test_metrics_without_a_direction_are_in_no_trade_off() -> None:
    truth, systems = data()
    reports = exactk.compare(truth, systems, ["num_relevant", "mrr", "mrr@5", "recall@5"]).reports
    figure = trade_off_figure(reports)
    assert (figure.x.metric, figure.y.metric) == ("mrr", "recall@5")
    assert trade_off_figure(reports, y="mrr").x.metric == "recall@5"
    assert values_figure(reports, "num_relevant").best == ()
    for words, argument in ((("num_relevant", "mrr"), "metric"), (("mrr", "num_relevant"), "against")):
        with pytest.raises(exactk.InputError, match=f"{argument}: expected a metric whose values are better"):
            trade_off_figure(reports, *words)


def test_users_count_once_whatever_their_weights() -> None:
    weighted = distribution_figure(compared(weights=np.linspace(0.1, 1, 120)).reports, "mrr")
    plain = distribution_figure(compared().reports, "mrr")
    for system, quantiles in plain.quantiles.items():
        assert weighted.quantiles[system].tolist() == quantiles.tolist()


def test_pairs_of_unknown_systems_are_errors_that_name_the_argument() -> None:
    comparison = compared()
    for names, argument in ((("system 9", "system 0"), "system"), (("system 0", "system 9"), "baseline")):
        message = f"{argument}: expected one of 'system 0', 'system 1', 'system 2', found 'system 9'; did you mean"
        with pytest.raises(exactk.InputError, match=message):
            pair_figure(comparison.reports, *names)
        with pytest.raises(exactk.InputError, match=message):
            groups_figure(comparison, None, *names)


def luminance(color: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    channels = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_colours_have_the_contrast_that_wcag_asks_for(palette: Any) -> None:
    assert min(contrast(color, palette.page) for color in (palette.text, palette.muted)) >= 4.5
    assert min(contrast(color, palette.page) for color in (*palette.systems, palette.better, palette.worse)) >= 3


def test_systems_differ_in_colour_or_in_marker_and_dash() -> None:
    styles = system_styles(map(str, range(20)))
    assert len({style.color for style in list(styles.values())[:6]}) == 6
    assert len(set(styles.values())) == 20
