"""What the sections of a page say, against plain Python from the values of users."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import exactk
from exactk._html.svg import scale_of
from html_pages import compared, data, elements, judged, number_of, parsed, read, results, section, tables, text_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def text(root: Element, anchor: str) -> str:
    return " ".join(text_of(section(root, anchor)).split())


def hits(counts: dict[str, list[int]], users: int) -> dict[str, list[list[int]]]:
    """Return lists of systems: a hit for the users of these numbers."""
    return {name: [[1] if user in some else [2] for user in range(users)] for name, some in counts.items()}


def test_the_verdict_is_a_sentence_per_pair() -> None:
    comparison = compared(baseline="system 0", groups=None)
    root = read(comparison.to_html())
    for system in ("system 1", "system 2"):
        row = comparison.differences[system, "ndcg@1"]
        sentence = f"{system} is better than system 0 in ndcg@1; the difference is {row.difference:+.4f} "
        assert sentence in text(root, "verdict")
        assert f"between {row.low:+.4f} and {row.high:+.4f} with 95 % confidence" in text(root, "verdict")
    verdicts = tables(section(root, "verdict"))["Verdicts in all metrics against system 0"]
    assert verdicts[0] == ["system", *comparison]
    for cells in verdicts[1:]:
        assert cells[1:] == [comparison.differences[cells[0], metric].verdict for metric in comparison]


@pytest.mark.parametrize(
    ("hits_of_b", "options", "expected"),
    [
        (range(10), {}, "b is worse than a in P@1"),
        (range(2, 31), {}, "Whether b or a is better in P@1 is undecided, which is no evidence"),
        (range(30), {"margin": 0.05}, "b and a are equivalent in P@1, as they differ by less"),
        (range(1, 34), {"margin": 0.1, "test": "sign"}, "is not worse than a in P@1 by more than"),
    ],
)
def test_the_verdict_says_what_is_not_shown(hits_of_b: range, options: dict[str, Any], expected: str) -> None:
    systems = hits({"a": [*range(30)], "b": [*hits_of_b]}, 60)
    comparison = exactk.compare([[1]] * 60, systems, "P@1", baseline="a", **options)
    assert expected in text(read(comparison.to_html()), "verdict")


def test_an_undefined_difference_has_its_reason() -> None:
    convention = {"undefined": "nan", "empty_truth": "compute"}
    comparison = exactk.compare([[1], []], {"a": [[1], [2]], "b": [[2], [1]]}, "recall@1", convention=convention)
    verdict = text(read(comparison.to_html()), "verdict")
    assert "b and a cannot be compared in recall@1: undefined for 1 user." in verdict


def test_groups_of_opposite_signs_are_named_where_the_verdict_is() -> None:
    lists = hits({"a": [*range(10), *range(60, 100)], "b": [*range(50), *range(60, 80)]}, 120)
    groups = ["young"] * 60 + ["old"] * 60
    root = read(exactk.compare([[1]] * 120, lists, "P@1", groups=groups, baseline="a").to_html())
    assert "The sign is opposite in old (significant in both directions): see the groups." in text(root, "verdict")
    assert "significantly better in some groups and worse in others (heterogeneity: p = " in text(root, "groups")
    heat = tables(section(root, "groups"))["Differences in P@1 by group"]
    cells = {row[0]: number_of(row[1]) for row in heat[1:]}
    assert (cells["young"], cells["old"]) == pytest.approx((40 / 60, -20 / 60), abs=1e-4)


def test_systems_that_are_not_worse_than_the_best_are_marked() -> None:
    for first, mark in ((1, "*"), (2, "~")):
        counts = {"a": [*range(30)], "b": [*range(first, 31)], "c": [*range(5)]}
        page = exactk.compare([[1]] * 60, hits(counts, 60), "P@1").to_html()
        (_, row) = tables(section(read(page), "values"))["Values"]
        assert [cell.split(" ")[-1] for cell in row[1:3]] == ["*", mark]
        assert row[3].split(" ")[-1] not in {"*", "~"}


def test_a_system_that_is_equivalent_may_be_significantly_worse() -> None:
    counts = {"a": [*range(300)], "b": [*range(290)]}
    comparison = exactk.compare([[1]] * 400, hits(counts, 400), "P@1", margin=0.2)
    (row,) = comparison.differences
    assert (row.verdict, row.p < 0.05) == ("equivalent", True)
    (_, cells) = tables(section(read(comparison.to_html()), "values"))["Values"]
    assert [cell.split(" ")[-1] == "~" for cell in cells[1:3]] == [False, False]
    one_sided = exactk.compare([[1]] * 400, hits(counts, 400), "P@1", alternative="greater")
    (_, cells) = tables(section(read(one_sided.to_html()), "values"))["Values"]
    assert not any(cell.endswith("~") for cell in cells)


def test_metrics_without_a_direction_are_higher_not_better() -> None:
    truth, systems = data()
    lists = {"short": [row[:2].tolist() for row in systems["system 0"]], "long": systems["system 0"].tolist()}
    comparison = exactk.compare(truth, lists, ["num_recommended@5", "mrr"], groups=["a", "b"] * 60, per_user=True)
    root = read(comparison.to_html())
    assert "long has a higher num_recommended@5 than short" in text(root, "verdict")
    assert "long is higher than short for 120 users, equal for 0 and lower for 0." in text(root, "wins")
    assert "Largest increases of long against short in num_recommended@5" in text(root, "examples")


def test_wins_ties_and_losses_are_users() -> None:
    comparison = compared(baseline="system 0")
    (_, *rows) = tables(section(read(comparison.to_html()), "wins"))["Wins, ties and losses"]
    for metric, system, *counts, net in rows:
        one, other = (comparison.reports[name].per_user[metric] for name in (system, "system 0"))
        expected = [int((one > other).sum()), int((one == other).sum()), int((one < other).sum())]
        assert [int(count.replace(",", "")) for count in counts] == expected
        share = (expected[0] - expected[2]) / len(one)
        assert number_of(net) == pytest.approx(100 * share, abs=0.51)


def test_ranks_are_those_of_the_comparison() -> None:
    comparison = compared()
    root = parsed("every_pair")
    shown = tables(section(root, "ranks"))["Possible ranks in each metric"]
    for index, metric in enumerate(shown[0][1:], start=1):
        ranks = comparison.ranks(metric)
        for row in shown[1:]:
            interval = ranks[row[0]]
            expected = f"{interval.best}" if interval.best == interval.worst else f"{interval.best} to {interval.worst}"
            assert row[index] == expected
    assert "baseline=None compares every pair" in text(parsed("with_lists"), "ranks")


@pytest.mark.parametrize("metric", ["ndcg@10", "arp@10"])
def test_examples_are_the_users_who_lose_and_gain_most(metric: str) -> None:
    truth, systems = data()
    items = exactk.Items(60, train=[list(row) for row in truth])
    comparison = exactk.compare(truth, systems, metric, items=items, baseline="system 0", per_user=True)
    names = {item: f"film {item}" for item in range(60)}
    root = read(comparison.to_html(lists=judged(), item_names=names, examples=4))
    shown = tables(section(root, "examples"))
    turn = -1 if metric.startswith("arp") else 1
    one, other = (comparison.reports[name].per_user[metric] for name in ("system 2", "system 0"))
    gains = (turn * (one - other)).tolist()
    for side, sign in (("losses", -1), ("gains", 1)):
        header, *rows = shown[f"Largest {side} of system 2 against system 0 in {metric}"]
        order = sorted(range(len(gains)), key=lambda user: -sign * gains[user])
        assert [int(row[0]) for row in rows] == order[:4]
        assert header[:3] == ["user", "list of system 2", "list of system 0"]
        assert header[3:] == ["system 2", "system 0", "difference", "relevant items"]
        for row in rows:
            user = int(row[0])
            assert [number_of(cell) for cell in row[3:5]] == pytest.approx([one[user], other[user]], abs=0.5e-4)
            assert row[6] == "3"
            for cell, name in zip(row[1:3], ("system 2", "system 0"), strict=True):
                assert cell == "".join(f"film {item}{' ✓' * (item in truth[user])}" for item in systems[name][user])


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_users_whom_one_system_lacks_are_no_examples() -> None:
    truth = {f"u{user}": [1] for user in range(30)}
    lists = {
        "a": {user: [1] if index % 2 else [2] for index, user in enumerate(truth)},
        "b": {user: [1] for user in list(truth)[10:]},
    }
    comparison = exactk.compare(truth, lists, "mrr", convention={"missing_list": "skip"}, per_user=True)
    root = read(comparison.to_html(lists={name: exactk.judge(truth, one, k=1) for name, one in lists.items()}))
    rows = tables(section(root, "examples"))["Largest gains of b against a in mrr"][1:]
    assert [row[0] for row in rows] == [user for index, user in enumerate(truth) if index >= 10 and index % 2 == 0]
    assert "Left out: 10 users of a that b lacks." in text(root, "data-health")
    assert "Users without predictions: 10 in b; missing_list decides what they count." in text(root, "data-health")


def test_bounds_that_are_infinite_are_left_out() -> None:
    lists = {"a": [[1], [2, 3, 4, 5]], "b": [[2, 1], [1]]}
    metric = "dcg(average=geometric)"
    comparison = exactk.compare([[1], [5]], lists, metric, confidence=0.999, convention={"undefined": "one"})
    assert math.isinf(comparison.reports["b"].interval(metric, 0.999).high)
    assert "inf" not in text(read(comparison.to_html()), "verdict")


@pytest.mark.parametrize(
    ("hits", "sentence", "cell"),
    [
        (0, "hit_rate@1 is 0.0000; with 95 % confidence at most 0.0596 (60 users).", "0.0000 [0.0000, 0.0596]"),
        (
            1,
            "hit_rate@1 is 0.0167, between 0.0004 and 0.0894 with 95 % confidence (60 users).",
            "0.0167 [0.0004, 0.0894]",
        ),
        (60, "hit_rate@1 is 1.0000; with 95 % confidence at least 0.9404 (60 users).", "1.0000 [0.9404, 1.0000]"),
        (30, "hit_rate@1 is 0.5000, between 0.3697 and 0.6303 with 95 % confidence (60 users).", "0.5000 ± 0.1303"),
    ],
)
def test_a_page_says_what_few_hits_or_misses_show(hits: int, sentence: str, cell: str) -> None:
    lists = [[1]] * hits + [[2, 1]] * (60 - hits)
    root = read(exactk.evaluate([[1]] * 60, lists, "hit_rate@1").to_html())
    assert sentence in text(root, "verdict")
    assert tables(section(root, "values"))["Values"][1][1] == cell
    (row,) = tables(section(root, "sample-size"))["How well this sample knows each value"][1:]
    assert (row[-1] == "-") is (hits in (0, 60))  # no deviation, from which to count users
    assert "NaN" not in text(root, "sample-size")


def test_users_for_a_share_are_counted_from_the_deviation() -> None:
    lists = [[1]] * 3 + [[2, 1]] * 57
    report = exactk.evaluate([[1]] * 60, lists, "hit_rate@1")
    (row,) = tables(section(read(report.to_html()), "sample-size"))["How well this sample knows each value"][1:]
    half = stats.t.ppf(0.975, 59) * report.standard_deviation["hit_rate@1"] / math.sqrt(59)
    assert row[-1] == f"{math.ceil(60 * (half / 0.0005) ** 2):,}"


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_one_finite_bound_is_shown_and_kept() -> None:
    page = exactk.evaluate([[1]] * 6, [[1]] * 6, ["dcg@1", "dcg@2"]).to_html()
    root = read(page)
    assert "dcg@1 is 1.0000; with 95 % confidence at least 0.5407 (6 users)." in text(root, "verdict")
    assert tables(section(root, "values"))["Values"][1][1] == "1.0000 [0.5407, -]"
    (row, _) = tables(section(root, "sample-size"))["How well this sample knows each value"][1:]
    assert row[2:] == ["-", "-", "-"]
    interval = results(page)["intervals"][""]["dcg@1"]
    assert interval == {"low": ((1 - 0.95) / 2) ** (1 / 6), "high": None, "confidence": 0.95, "method": "bound"}
    assert "inf" not in text(root, "values")


def test_ratios_of_sums_have_intervals_where_users_are_kept() -> None:
    rng = np.random.default_rng(2)
    truth = [list(range(1, size)) for size in rng.integers(2, 8, 600).tolist()]
    lists = [rng.permutation(8)[:4].tolist() for _ in truth]
    metrics, weights = ["recall@4", "recall@4(average=micro)"], rng.random(600)
    kept, lost = (
        exactk.evaluate(truth, lists, metrics, weights=weights, per_user=per_user) for per_user in (True, False)
    )
    page = kept.to_html()
    rows = tables(section(read(page), "sample-size"))["How well this sample knows each value"][1:]
    for metric, (_, _, half, _, needed) in zip(metrics, rows, strict=True):
        low, high = kept.interval(metric)
        assert results(page)["intervals"][""][metric]["low"] == low
        assert float(half) == pytest.approx((high - low) / 2, abs=5e-5)
        assert int(needed.replace(",", "")) == math.ceil(600 * ((high - low) / 2 / (0.01 * kept[metric])) ** 2)
    root = read(lost.to_html())
    assert "with weights or of micro averages per_user=True" in text(root, "values")
    assert "with weights or of micro averages per_user=True" in text(root, "sample-size")


def test_an_interval_of_one_user_is_said_to_tell_little() -> None:
    root = read(exactk.evaluate([[1]], [[1]], "hit_rate@1").to_html())
    assert tables(section(root, "values"))["Values"][1][1] == "1.0000 [0.0250, 1.0000]"
    assert "an interval of one user says little" in text(root, "values")


def test_ties_are_told_with_their_span() -> None:
    scores = np.zeros((50, 4))
    report = exactk.evaluate([[user % 4] for user in range(50)], scores, "recall@2")
    shown = tables(section(read(report.to_html()), "data-health"))
    (row,) = shown["Users whose value depends on the order of ties"][1:]
    assert row[2:] == ["50", "100 %", "1.0000"]


def test_relevance_is_that_of_the_truth() -> None:
    truth = [[1], [2, 3], [], [1, 2, 3, 4, 5, 6, 7]]
    lists = [[1, 2], [3], [5], [9, 8, 7]]
    page = exactk.evaluate(truth, lists, "mrr").to_html(lists=exactk.judge(truth, lists, k=10))
    shown = tables(section(read(page), "relevance"))
    per_user = {row[0]: row[1:] for row in shown["Per user"][1:]}
    assert per_user["relevant items of a user"] == ["0", "0", "1", "2", "7", "7", "2.50", "4"]
    assert per_user["length of a list, at most 10"] == ["1", "1", "1", "2", "3", "3", "1.75", "4"]
    shares = {row[0]: row[1] for row in shown["Users by their number of relevant items"][1:]}
    assert shares == {"0": "1", "1": "1", "2 to 5": "1", "6 to 10": "1", "11 to 100": "0", "101 or more": "0"}


def test_grades_that_are_recommended_are_counted() -> None:
    truth, lists = [{1: 2, 2: 1, 3: 0}, {1: 2}], [[1, 3, 9], [2, 1]]
    page = exactk.evaluate(truth, lists, "ndcg").to_html(lists=exactk.judge(truth, lists, k=5))
    shown = tables(section(read(page), "relevance"))["Recommended items by grade"]
    assert shown[1:] == [["2", "2"], ["0", "1"], ["not judged", "2"]]


def test_the_sample_size_that_one_value_needs() -> None:
    truth, systems = data()
    report = exactk.evaluate(truth, systems["system 1"], "mrr", per_user=True)
    (row,) = tables(section(read(report.to_html()), "sample-size"))["How well this sample knows each value"][1:]
    users = report.per_user["mrr"]
    half = stats.t.ppf(0.975, 119) * users.std(ddof=1) / math.sqrt(120)
    assert row[:2] == ["mrr", "120"]
    assert float(row[2]) == pytest.approx(half, abs=0.5e-4)
    assert int(row[4].replace(",", "")) == math.ceil(120 * (half / (0.01 * users.mean())) ** 2)


def test_the_sample_size_that_differences_need() -> None:
    comparison = compared(groups=None)
    rows = tables(section(read(comparison.to_html()), "sample-size"))["Differences that this sample can show"][1:]
    for metric, users, half, detectable, needed in rows:
        some = comparison.differences.of(metric)
        assert users == "120"
        assert float(half) == pytest.approx(max((row.high - row.low) / 2 for row in some), abs=0.5e-4)
        assert float(detectable) == pytest.approx(max(row.detectable for row in some), abs=0.5e-4)
        assert int(needed.replace(",", "")) == comparison.users_for(metric, "1%")


def test_weights_have_an_effective_number_of_users() -> None:
    weights = np.linspace(0.1, 3, 120)
    comparison = compared(weights=weights, groups=None)
    rows = tables(section(read(comparison.to_html()), "sample-size"))["Differences that this sample can show"]
    assert rows[0][1:3] == ["users", "effective number"]
    for row in rows[1:]:
        assert float(row[2]) == pytest.approx(weights.sum() ** 2 / (weights**2).sum(), abs=0.05)


def test_reports_of_other_users_are_a_page_without_users() -> None:
    sizes = {"a": 3, "b": 4}
    reports = {name: exactk.evaluate([[1]] * n, [[1]] * n, "mrr", per_user=True) for name, n in sizes.items()}
    root = read(exactk.Comparison(reports).to_html())
    assert "a: best in mrr" in text(root, "verdict") or "a and b: best in mrr" in text(root, "verdict")
    assert text(root, "differences").startswith("Differences Not available: ")
    assert text(root, "examples").startswith("Users who lose and gain most Not available: ")


def test_the_page_of_one_system_has_its_worst_and_best_users() -> None:
    truth = {"d": ["x"], "c": ["x"], "b": ["x"], "a": ["x"]}
    lists = {"d": ["x"], "c": ["y", "x"], "b": ["y"], "a": ["y"]}
    report = exactk.evaluate(truth, lists, ["num_relevant", "mrr"], per_user=True)
    judged = exactk.judge(truth, lists, k=2)
    page = read(report.to_html(lists=judged, item_names={"y": "Heat"}, examples=2))
    assert text(page, "examples").startswith("Worst and best users ")
    of_users = tables(section(page, "examples"))
    assert [row[0] for row in of_users["Worst users in mrr"]] == ["user", "a", "b"]
    assert [row[0] for row in of_users["Best users in mrr"]] == ["user", "d", "c"]
    assert of_users["Worst users in mrr"][0] == ["user", "list", "mrr", "relevant items"]
    assert "Heat" in of_users["Worst users in mrr"][1][1]
    assert tables(section(read(report.to_html()), "examples"))["Worst users in mrr"][0] == ["user", "mrr"]
    for result, examples, reason in (
        (report, 0, "examples=0"),
        (exactk.evaluate(truth, lists, "mrr"), 20, "no values of users were kept"),
        (exactk.evaluate(truth, lists, "num_relevant", per_user=True), 20, "no metric has better and worse users"),
    ):
        found = text(read(result.to_html(examples=examples)), "examples")
        assert found.startswith(f"Worst and best users Not available: {reason}")


def test_runs_have_degrees_of_freedom_that_count_no_users() -> None:
    runs = {"mean": ["system 1", "system 2"]}
    comparison = compared(weights=np.linspace(0.1, 3, 120), groups=None, runs=runs, baseline="system 0")
    (header, *_) = tables(section(read(comparison.to_html()), "sample-size"))["Differences that this sample can show"]
    assert header[:3] == ["metric", "users", "half of the interval"]


def test_clusters_are_told_where_intervals_ignore_them() -> None:
    comparison = compared(clusters=[user // 4 for user in range(120)], groups=None)
    assert "as if users were independent" in text(read(comparison.to_html()), "values")
    assert "as if users were independent" not in text(parsed("every_pair"), "values")


def test_a_mean_of_about_zero_needs_no_number_of_users() -> None:
    numbers = np.array([1.0, -1.0, 3e-160])
    metric = exactk.custom("v", lambda judged: numbers[judged.codes[:, 0]], k=1, of="lists")
    page = exactk.evaluate([[0]] * 3, [[0], [1], [2]], [metric]).to_html()
    (row,) = tables(section(read(page), "sample-size"))["How well this sample knows each value"][1:]
    assert row[-1] == "-"


def test_a_gate_of_other_systems_is_refused() -> None:
    gate = compared(baseline="system 0").check(better="mrr")
    other = exactk.compare([[1]] * 9, {"p": [[1]] * 9, "q": [[2]] * 9}, "mrr")
    message = "gate: expected claims about systems of the comparison, found claims about"
    with pytest.raises(exactk.InputError, match=message):
        other.to_html(gate=gate)


def test_texts_of_pictures_are_printable_and_short() -> None:
    systems = {"a\x00\u202eb": [[1]] * 30, "b" * 50_000: [[2]] * 30}
    page = exactk.compare([[1]] * 30, systems, ["P@1", "mrr"], per_user=True).to_html()
    assert not set(page) & {"\x00", "\u202e"}
    assert len(page.encode()) < 1_000_000


def test_what_was_computed_names_the_convention_and_its_departures() -> None:
    truth, systems = data()
    convention = {"base": "ranx", "gain": "exp2"}
    report = exactk.evaluate(truth, systems["system 1"], ["P@5", "ndcg@10"], convention=convention)
    root = read(report.to_html())
    assert "ranx with gain='exp2'" in text(root, "definitions")
    rows = tables(section(root, "definitions"))["Metrics"][1:]
    assert [row[0] for row in rows] == ["precision", "ndcg"]
    for row in rows:
        info = exactk.metrics[row[0]]
        assert row[2:4] == [*map(report.unit_names.text, (info.summary, info.formula))]
    other = {row[0]: row[1] for row in tables(section(root, "definitions"))["Convention fields with other values"][1:]}
    assert "gain='linear'" in other["ranx"]
    assert "ap_over" not in " ".join(other.values())  # which neither metric reads


def test_precision_of_a_group_of_items_is_told_from_precision() -> None:
    """It divides by what the list has of the group, and is no metric of what is recommended, such as coverage."""
    items = exactk.Items(4, item_groups=["head", "head", "tail", "tail"])
    truth, systems = [[0, 2]] * 30, {"a": [[0, 3]] * 30, "b": [[2, 1]] * 30}
    metrics = ["recall@2", "precision@2", "precision@2(item_group=tail)", "coverage@2"]
    root = read(exactk.compare(truth, systems, metrics, items=items).to_html())
    rows = {row[0]: row[1:] for row in tables(section(root, "definitions"))["Metrics"][1:]}
    assert rows["precision"][0:3:2] == ["precision@2", "h / k"]
    assert rows["precision(item_group)"][0] == "precision@2(item_group=tail)"
    assert rows["precision(item_group)"][2].startswith("h_g / n_g")
    assert "relevant items are those of the group alone" in text(root, "definitions")
    assert "recall@2 against coverage@2" in tables(section(root, "trade-offs"))
    shown = tables(section(root, "catalogue"))["Metrics of the recommended items"][1:]
    assert [row[0] for row in shown] == ["coverage@2"]


def test_how_to_reproduce_names_the_seed_where_random_numbers_are_used() -> None:
    truth, systems = data()
    with_seed = exactk.compare(truth, systems, "mrr", test="permutation", seed=7)
    assert "seed 7, 9,999 flips" in text(read(with_seed.to_html()), "reproduction")
    assert "seed" not in text(read(exactk.compare(truth, systems, "mrr").to_html()), "reproduction")
    digest = with_seed.reports["system 0"].state.truth_digest
    assert digest is not None
    assert f"{digest:#034x}" in text(read(with_seed.to_html()), "reproduction")


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"weights": np.linspace(0, 1, 120)},
        {"clusters": [user // 4 for user in range(120)]},
        {"runs": {"mean": ["system 1", "system 2"]}, "baseline": "system 0"},
        {"test": "permutation", "interval": "bca", "adjust": "max_t", "users": 30},
        {"test": "wilcoxon", "alternative": "greater"},
        {"metrics": ["f1@10(average=of_means)", "recall@10(average=micro)", "mrr(average=geometric)"]},
        {"metrics": ["num_hits@5", "ndcg@1"]},
        {"users": 1},
        {"users": 0},
        {"convention": {"ties": "expected"}},
    ],
)
def test_pages_of_odd_comparisons_have_sixteen_sections(options: dict[str, Any]) -> None:
    truth, systems = data()
    users = options.pop("users", 120)
    metrics = options.pop("metrics", ["ndcg@[1,5]", "mrr"])
    groups = ["a", "b", "c"] * 40
    lists = {name: one[:users] for name, one in systems.items()}
    comparison = exactk.compare(truth[:users], lists, metrics, groups=groups[:users], **{"per_user": True, **options})
    root = read(comparison.to_html())
    assert len(list(elements(root, "section"))) == 16
    again = exactk.Comparison.from_json(comparison.to_json())
    assert text(read(again.to_html()), "differences") == text(root, "differences")


@pytest.mark.parametrize("exponent", [-300, -12, -3, 0, 2, 9, 300])
def test_axes_have_a_few_different_numbers_at_even_steps(exponent: int) -> None:
    draw = np.random.default_rng(exponent + 400)
    for _ in range(50):
        low, size = draw.normal() * 10.0**exponent, draw.random() * 10.0**exponent
        scale = scale_of([low, low + size], 100, 500)
        ticks = scale.ticks
        assert 1 <= len(ticks) <= 8
        assert all(scale.low - 1e-9 * abs(scale.low) <= tick <= scale.high + 1e-9 * abs(scale.high) for tick in ticks)
        assert np.allclose(np.diff(ticks), np.diff(ticks)[:1], rtol=1e-6)
        texts = scale.texts()
        assert len(set(texts)) == len(texts)
        assert 100 <= scale(low) <= scale(low + size) <= 500


@pytest.mark.parametrize(
    "numbers", [[], [0.0], [math.nan], [5e-324, 0.0], [1e308, -1e308], [0.3, 0.3 + 1e-17], [math.inf]]
)
def test_axes_of_odd_numbers(numbers: list[float]) -> None:
    scale = scale_of(numbers, 0, 100)
    assert scale.ticks
    assert all(math.isfinite(scale(number)) for number in numbers if math.isfinite(number))


def test_what_changed_is_shown_where_it_is_given() -> None:
    one, other = [[1, 2]] * 3 + [[3, 4]], [[1, 2]] * 3 + [[4, 5]]
    comparison = exactk.compare([[1]] * 4, {"one": one, "other": other}, "P@1", unit_names=("query", "chunk"))
    drift = exactk.drift(one, other, 2)
    page = comparison.to_html(drift={"from one to other": drift, "back": exactk.drift(other, one, 2)})
    root = read(page)
    said = "From one to other: the first 2 chunks changed for 25 % of 4 queries, and 12 % of what is shown went to other chunks."
    assert said in text(root, "drift")
    assert tables(section(root, "drift"))["Changes of the lists"] == [
        ["", "from one to other", "back"],
        ["queries of both", "4", "4"],
        ["changed queries", "1 (25 %)", "1 (25 %)"],
        ["new chunks", "1 (12 %)", "1 (12 %)"],
        ["lost chunks", "1 (12 %)", "1 (12 %)"],
        ["exposure shift", "12 %", "12 %"],
        ["mean overlap", "0.8750", "0.8750"],
    ]
    assert results(page)["drift"]["from one to other"] == drift.to_dict()
    unnamed = read(comparison.reports["one"].to_html(drift=drift))
    assert "The first 2 chunks changed for" in text(unnamed, "drift")
    assert 'id="drift"' not in comparison.to_html()


def test_the_popularity_of_what_was_recommended_is_compared_with_train() -> None:
    draw = np.random.default_rng(8)
    train = [
        draw.choice(40, size, replace=False, p=np.arange(1, 41) / 820).tolist() for size in draw.integers(1, 9, 50)
    ]
    items = exactk.Items([f"i{item}" for item in range(38)], train=[[f"i{item}" for item in row] for row in train])
    lists = {name: [[f"i{item}" for item in draw.choice(44, 6, replace=False)] for _ in train] for name in "ab"}
    truth, convention = [row[:1] for row in lists["a"]], {"foreign_items": "count"}
    comparison = exactk.compare(truth, lists, ["ndcg@4", "personalization@4"], items=items, convention=convention)
    page = comparison.to_html(items=items)
    users = {f"i{item}": sum(item in row for row in train) for item in range(38)}
    total = sum(users.values())

    def part(item: str) -> str:
        if not users.get(item):
            return "not in train" if item in users else "outside the catalogue"
        more_popular = sum(count for count in users.values() if count > users[item])
        tenth = 10 * more_popular // total
        return f"{10 * tenth} to {10 * tenth + 10} %"

    rows = results(page)["popularity"]
    shown = {name: [item for row in some for item in row[:4]] for name, some in lists.items()}
    assert {row["part"] for row in rows} == {part(item) for item in (*users, *shown["a"], *shown["b"])}
    assert len(rows) > 8
    for row in rows:
        some = [item for item in users if part(item) == row["part"]]
        assert (row["items"], row["train"]) == (len(some), pytest.approx(sum(map(users.__getitem__, some)) / total))
        of = {name: sum(part(item) == row["part"] for item in one) / len(one) for name, one in shown.items()}
        assert row["shares"] == pytest.approx(of)
    (picture,) = elements(section(read(page), "catalogue"), "svg")
    strokes = [one for one in elements(picture, "line") if one.get("class") == "zero"]
    marks = [*elements(picture, "circle"), *elements(picture, "polygon"), *elements(picture, "path")]
    assert (len(strokes), len(marks)) == (len(rows), 2 * len(rows) + 2)  # with those of the legend
    text_of_section = text(read(page), "catalogue")
    assert (
        f"The {rows[0]['items']} most popular items are {100 * rows[0]['train']:.0f} % of train, and "
        in text_of_section
    )


def test_items_of_a_page_are_those_of_the_evaluation() -> None:
    items, train = exactk.Items(5, train=[[0, 1], [1]]), [[0, 1], [1, 2]]
    report = exactk.evaluate([[1], [2]], [[1], [3]], ["P@1", "coverage@1"], items=items)
    assert "The most popular item is 67 % of train, and 50 % of what the system recommends." in report.to_html(
        items=items
    )
    assert "is shown with items= of to_html" in text(read(report.to_html()), "catalogue")
    for given, message in (
        (exactk.Items(5, train=train), "the items of the evaluation, found others"),
        (exactk.Items(5), "items whose popularity is known, found a catalogue alone"),
    ):
        with pytest.raises(exactk.InputError, match=f"items: expected {message}"):
            report.to_html(items=given)
    wrong: Any = train
    with pytest.raises(exactk.InputTypeError, match=r"items: expected exactk\.Items, as of the evaluation, found list"):
        report.to_html(items=wrong)
    history = exactk.evaluate([[1], [2]], [[1], [3]], "novelty@1", items=items)
    assert "is shown with a metric of all lists, such as coverage@10" in text(
        read(history.to_html(items=items)), "catalogue"
    )
    assert "Not available" in text(read(exactk.evaluate([[1]], [[1]], "P@1").to_html(items=items)), "catalogue")
