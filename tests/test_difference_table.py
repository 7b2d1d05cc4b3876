"""Differences as they are printed: columns, captions and notes in exact words, and metrics in any spelling."""

from __future__ import annotations

import csv
import math
import pickle
import re
from typing import TYPE_CHECKING, Any

import pytest

import exactk
from exactk._report.difference_table import format_p, percentage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

HITS = {
    "base": [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2] * 2,
    "new": [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1] * 2,
    "old": [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3] * 2,
}
NAMES = ["a_b", "c|d", "<script>", "=cmd", "5% & more", "e\\f"]


def compared(hits: Mapping[str, Sequence[int]], metrics: Any = "P@10", **options: Any) -> exactk.Comparison:
    """Compare systems with these numbers of hits in ten."""
    truth = [list(range(10)) for _ in next(iter(hits.values()))]
    systems = {name: [[*range(count), *range(100, 110 - count)] for count in counts] for name, counts in hits.items()}
    return exactk.compare(truth, systems, metrics, **options)


def two(*names: str) -> Mapping[str, Sequence[int]]:
    return {name: HITS[name] for name in names}


def test_one_row_says_in_its_caption_what_the_sample_finds() -> None:
    assert repr(compared(two("base", "new"), baseline="base").differences).splitlines() == [
        "metric  system   value  baseline value  difference            interval  relative       p    d_z  wins/ties/losses  verdict",
        "P@10    new     0.3450          0.2700     +0.0750  +0.0250 to +0.1250   +27.8 %  0.0043  0.479          20/10/10   better",
        "paired t test against base; no adjustment: one comparison per metric; 95 % intervals",
        "40 users; a true difference of 0.0711 or more would be significant in 4 of 5 samples of this size",
    ]


def test_several_rows_have_a_column_of_what_the_sample_finds() -> None:
    differences = compared(HITS).differences
    lines = repr(differences).splitlines()
    assert re.split("  +", lines[0])[:3] == ["metric", "system", "baseline"]
    assert re.split("  +", lines[0])[-2:] == ["detectable", "verdict"]
    for line, row in zip(lines[1:4], differences, strict=True):
        assert re.split("  +", line)[-2:] == [f"{row.detectable:.4f}", row.verdict]
    assert lines[4:] == [
        "paired t test; Holm over 3 comparisons per metric; 95 % intervals, not adjusted",
        "40 users; a true difference of the detectable size or more would be significant before adjustment in 4 of 5 samples of this size",
    ]
    with_baseline = repr(compared(HITS, baseline="base").differences).splitlines()
    assert re.split("  +", with_baseline[0])[:3] == ["metric", "system", "value"]
    assert max(map(len, with_baseline)) <= 150


def test_adjusted_p_values_are_shown_where_they_may_differ() -> None:
    def header(*names: str, metrics: Any = "P@10", **options: Any) -> str:
        return repr(compared(two(*names), metrics, **options).differences).splitlines()[0]

    assert " adjusted " in header("base", "new", "old")
    assert " adjusted " in header("base", "new", metrics=["P@10", "mrr"], family="all")
    assert " adjusted " not in header("base", "new", metrics=["P@10", "mrr"])
    assert " adjusted " not in header("base", "new", "old", adjust="none")


@pytest.mark.parametrize(
    ("test", "effect", "hypothesis"),
    [
        ("t", "d_z", None),
        ("sign", "d_z", "p is that of equally many wins and losses (sign test), not that of equal means"),
        ("wilcoxon", "rank-biserial", "p is that of differences symmetric about 0 (Wilcoxon), not that of equal means"),
    ],
)
def test_the_effect_and_the_hypothesis_are_those_of_the_test(test: Any, effect: str, hypothesis: str | None) -> None:
    lines = repr(compared(two("base", "new"), test=test, per_user=True).differences).splitlines()
    assert f" {effect} " in lines[0]
    assert (len(lines) > 4) == (hypothesis is not None)
    assert hypothesis is None or lines[4] == f"{hypothesis}; difference and interval are of the means"


def test_users_have_columns_where_rows_have_different_ones() -> None:
    groups = ["few"] * 4 + ["many"] * 36
    differences = compared(two("base", "new"), groups=groups).differences
    assert repr(differences.by_group).splitlines()[-4:] == [
        "a true difference of the detectable size or more would be significant in 4 of 5 samples of this size",
        "few users: fewer than 20 differ, so p and interval are rough (P@10 of new against base, group few)",
        f"heterogeneity between groups, P@10 of new against base: p = {differences.heterogeneity['P@10', 'new', 'base']:.2g}, I² {100 * differences.i_squared['P@10', 'new', 'base']:.0f} %, differs between groups (rough: 1 group of fewer than 10 users or clusters)",
        "heterogeneity by Welch's test; no adjustment: one test; different verdicts of groups do not show that the groups differ",
    ]
    lines = repr(differences.by_group).splitlines()
    position = lines[0].index(" users ")
    assert [line[position : position + 6].strip() for line in lines[1:3]] == ["4", "36"]
    clusters = compared(two("base", "new"), clusters=[user // 2 for user in range(40)]).differences
    assert "\n40 users in 20 clusters; a true difference of " in repr(clusters)
    of_groups = compared(two("base", "new"), groups=groups, clusters=[user // 2 for user in range(40)]).differences
    assert "  users  clusters  " in repr(of_groups.by_group)


def test_groups_print_whether_they_differ() -> None:
    groups = ["a", "b"] * 20
    differences = compared(HITS, baseline="base", groups=groups).differences
    numbers = (differences.heterogeneity, differences.heterogeneity_adjusted, differences.i_squared)
    expected = [
        "heterogeneity between groups, P@10 of {}: p = {:.2g}, adjusted {:.2g}, I² {:.0%}".format(
            system, *(one["P@10", system, "base"] for one in numbers)
        ).replace("%", " %")
        for system in ("new", "old")
    ]
    how = "heterogeneity by Welch's test; Holm over 2 tests; different verdicts of groups do not show that the groups differ"
    assert repr(differences.by_group).splitlines()[-3:] == [*expected, how]
    assert "heterogeneity" not in repr(differences)
    assert repr(differences.by_group.of(system="old")).splitlines()[-2:] == [expected[1], how]
    assert differences.of(system="old").by_group == differences.by_group.of(system="old")
    assert len(differences.of(system="old").heterogeneity) == 1
    one_group = compared(HITS, baseline="base", groups=["a"] * 40).differences
    assert repr(one_group.by_group).endswith("P@10 of old: p = -, I² -")


def test_few_users_are_told() -> None:
    few = compared({"one": [5, 1, 0, 2], "other": [7, 3, 2, 6]}).differences
    assert repr(few).splitlines()[-1] == "few users: fewer than 20 differ, so p and interval are rough"
    equal = compared({"one": [5, 1, 0, 2], "other": [5, 1, 0, 2]}).differences
    assert "few users" not in repr(equal)
    many = compared({f"s{i}": [i, *range(1, 9)] for i in range(6)}, baseline="s0").differences
    assert "few users: fewer than 20 differ, so p and interval are rough\n" in f"{many!r}\n"
    mixed = compared(
        {"base": [5] * 40, "a": [6] * 10 + [5] * 30, "b": [2, *[5] * 39], "c": [3, *[5] * 39], "d": [4, *[5] * 39], "all": [4, 3] * 20},
        baseline="base",
    )  # fmt: skip
    assert "rough (P@10 of a; P@10 of b; P@10 of c; 1 more)\n" in f"{mixed.differences!r}\n"


def test_few_clusters_are_told() -> None:
    clusters = [user // 4 for user in range(40)]
    differences = compared(two("base", "new"), clusters=clusters).differences
    assert repr(differences).endswith("few clusters: 10, so p and interval are rough")
    groups = ["a"] * 12 + ["b"] * 28
    of_groups = compared(two("base", "new"), clusters=clusters, groups=groups).differences.by_group
    assert "few clusters: 3 to 7, so p and interval are rough\n" in repr(of_groups)
    assert "few users" not in repr(of_groups)
    many = compared(
        {"base": [5] * 40, "new": [6] * 8 + [5] * 32}, clusters=[user // 2 for user in range(40)]
    ).differences
    assert repr(many).endswith("few users: fewer than 20 differ, so p and interval are rough")


def test_the_effect_of_clusters_is_named_as_theirs() -> None:
    of_users = compared(two("base", "new")).differences
    of_clusters = compared(two("base", "new"), clusters=[user // 2 for user in range(40)]).differences
    assert "  d_z  " in repr(of_users)
    assert "  d_z of clusters  " in repr(of_clusters)
    assert of_users[0].effect != of_clusters[0].effect


def test_the_caption_names_the_margin() -> None:
    def caption(margin: Any) -> str:
        metrics = ["P@10", "nDCG@10"]
        return repr(compared(two("base", "new"), metrics, margin=margin).differences).splitlines()[3]

    assert caption("2.5%").endswith("95 % intervals; margin 2.5%")
    assert caption(0.01).endswith("95 % intervals; margin 0.01")
    assert caption({"precision@10": "5%", "ndcg@10": 0.02}).endswith("; margin P@10 5%, nDCG@10 0.02")
    assert caption({"ndcg@10": 0.02}).endswith("; margin nDCG@10 0.02")
    assert caption(None).endswith("95 % intervals")
    of_one = compared(two("base", "new"), ["P@10", "mrr"], margin={"P@10": "5%"}).differences
    assert "margin" not in repr(of_one.of("mrr"))
    assert "; margin 2.5%;" in compared(two("base", "new"), margin="2.5%").differences.to_markdown()


def test_intervals_are_said_not_to_be_adjusted_where_p_values_are() -> None:
    assert "95 % intervals, not adjusted\n" in repr(compared(HITS).differences)
    assert "95 % intervals\n" in repr(compared(HITS, adjust="none").differences)
    every = repr(compared(two("base", "new"), ["P@10", "mrr"], family="all").differences)
    assert "Holm over 2 comparisons; 95 % intervals, not adjusted\n" in every
    one = repr(compared(two("base", "new"), family="all").differences)
    assert "no adjustment: one comparison; 95 % intervals\n" in one


def test_what_the_sample_finds_is_not_told_where_it_is_not_known() -> None:
    for options in ({"test": "sign"}, {"test": "wilcoxon"}, {"alternative": "greater"}, {"alternative": "less"}):
        text = repr(compared(HITS, per_user=True, **options).differences)
        assert "detectable" not in text
        assert "would be significant" not in text
    equal = compared({"base": HITS["base"], "same": HITS["base"], "new": HITS["new"]}, baseline="base").differences
    assert [re.split("  +", line)[-2] for line in repr(equal).splitlines()[1:3]] == ["-", f"{equal[1].detectable:.4f}"]
    assert "would be significant" not in repr(equal[:1])
    wide = compared({"one": [0, 10], "other": [10, 1]}).differences
    assert wide[0].detectable > 1
    assert "would be significant" not in repr(wide)
    counts = compared({"one": [0, 10], "other": [10, 1]}, "num_hits@10").differences
    assert "a true difference of " in repr(counts)  # a count may differ by more than 1
    assert "significant before adjustment in" in repr(compared(HITS).differences[:1])


@pytest.mark.parametrize(
    ("alternative", "note"),
    [
        ("greater", "one-sided: tests only whether values are greater; no p-value shows that they are smaller"),
        ("less", "one-sided: tests only whether values are smaller; no p-value shows that they are greater"),
    ],
)
def test_one_sided_tests_say_what_they_leave_open(alternative: Any, note: str) -> None:
    one_sided, two_sided = compared(HITS, alternative=alternative), compared(HITS)
    assert repr(one_sided.differences).endswith(f"\n{note}")
    assert f"; {note}" in one_sided.to_markdown()
    assert f"; {note}" in one_sided.to_latex()
    assert "one-sided" not in repr(two_sided.differences) + two_sided.to_markdown()


@pytest.mark.filterwarnings("ignore:means over different users")
def test_users_left_out_are_told_below_every_table() -> None:
    truth = {user: [1] for user in range(40)}
    half = {user: [1 + user % 2] for user in range(25)}
    systems: Any = {"all": {user: [1 + user % 3] for user in range(40)}, "half": half}
    comparison = exactk.compare(truth, systems, ["P@1", "mrr"], baseline="all", convention={"users": "both"})
    note = "left out: 15 users of all that half lacks"
    for one in (comparison, exactk.Comparison.from_json(comparison.to_json())):
        assert note in repr(one.differences).splitlines()
        for text in (one.differences.to_markdown(), one.differences.to_latex(), one.to_markdown(), one.to_latex()):
            assert note in text
    groups: Any = {user: "new" if user < 30 else "old" for user in range(40)}
    of_groups = exactk.compare(
        truth, systems, "mrr", baseline="all", convention={"users": "both"}, groups=groups
    ).differences.by_group
    expected = "left out: 5 users of all that half lacks, group new, 10 users of all that half lacks, group old"
    assert expected in repr(of_groups)
    assert "left out" not in repr(compared(HITS).differences)


@pytest.mark.filterwarnings("ignore:means over different users")
def test_users_left_out_of_one_metric_are_told_with_it() -> None:
    truth: Any = {0: [1], 1: [1], 2: [], 3: [1]}
    systems: Any = {"a": {user: [1] for user in range(4)}, "b": {0: [1], 1: [2], 3: [2]}}
    convention: Any = {"users": "predictions", "empty_truth": "compute", "undefined": "skip"}
    rows = exactk.compare(truth, systems, ["P@1", "recall@1"], convention=convention).differences
    left_out = [row.only_baseline for row in rows]
    assert left_out == [1, 0]
    assert "left out: 1 user of a that b lacks (P@1)" in repr(rows)


def test_weights_and_users_matched_by_row_are_told() -> None:
    weighted = compared(two("base", "new"), weights=[1.0, 2.0] * 20)
    assert "\n40 users, weighted; a true" in repr(weighted.differences)
    assert "; 40 users, weighted)" in weighted.to_markdown()
    reports = {
        name: exactk.evaluate([[1]] * 40, [[1 + (user + row) % 3] for row in range(40)], "P@1", per_user=True)
        for user, name in enumerate("ab")
    }
    by_row = exactk.compare_reports(reports)
    assert "40 users, matched by row; " in repr(by_row.differences)
    assert "40 users, matched by row)" in by_row.to_latex()
    keyed = {
        name: exactk.evaluate({row: [1] for row in range(40)}, {row: [1] for row in range(40)}, "P@1", per_user=True)
        for name in "ab"
    }
    assert "by row" not in repr(exactk.compare_reports(keyed).differences)
    assert pickle.loads(pickle.dumps(by_row.differences)).to_markdown() == by_row.differences.to_markdown()  # noqa: S301


def test_metrics_without_values_of_users_have_no_wins() -> None:
    comparison = compared(two("base", "new"), ["f1@10(average=of_means)", "P@10"])
    of_means, of_users = repr(comparison.differences).splitlines()[1:3]
    assert "  -  " in of_means
    assert "20/10/10" in of_users
    row = compared(two("base", "new"), "f1@10(average=of_means)", test="sign").differences[0]
    assert (row.verdict, row.reason) == ("undefined", "test='sign' needs values of users, which an F of means has not")
    assert math.isnan(row.p)


def test_what_is_undefined_is_a_dash_with_its_reason() -> None:
    truth: Any = {0: [1], 1: [], 2: [3]}
    systems: Any = {"a": {0: [1], 1: [2], 2: [4]}, "b": {0: [1], 1: [2], 2: [3]}}
    convention: Any = {"undefined": "nan", "empty_truth": "compute"}
    differences = exactk.compare(truth, systems, ["recall@1", "P@1"], convention=convention).differences
    text = repr(differences)
    assert "nan" not in text
    assert re.split("  +", text.splitlines()[1])[3:10] == ["-", "-", "-", "-", "-", "-", "-"]
    assert text.splitlines()[-1] == "no p-value: undefined for 1 user (recall@1 of b against a)"
    for export in (differences.to_markdown(), differences.to_latex()):
        assert "no p-value: undefined for 1 user" in export
        assert "nan" not in export
    alone = compared({"one": [5], "other": [6]}).differences
    assert repr(alone).endswith("1 user\nno p-value: fewer than two users or clusters")


def test_small_differences_keep_two_digits() -> None:
    more = [1] * 6 + [0] * 5_994
    line = repr(compared({"one": [1] * 6_000, "other": [1 + count for count in more]}).differences).splitlines()[1]
    row = "+0.000100  +0.000020 to +0.000180    +0.1 %"
    assert f" {row} " in line


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.591, "+59.1 %"), (-0.004, "-0.4 %"), (0.0, "+0.0 %"), (0.0004, "+0.04 %"), (12.345, "+1,234 %"), (9.99, "+999.0 %")],
)  # fmt: skip
def test_percentages(share: float, text: str) -> None:
    assert percentage(share) == text


def test_p_is_never_printed_as_0() -> None:
    assert (format_p(2.3e-301), format_p(0.04999), format_p(1.0)) == ("<1e-300", "0.05", "1")


def test_any_spelling_of_a_metric_finds_its_rows() -> None:
    differences = compared(two("base", "new"), ["P@10", "nDCG@10"], groups=["a", "b"] * 20).differences
    assert (
        differences["new", "precision@10"] == differences["new", "P@10"] == differences["new", "base", "Precision@10"]
    )
    assert differences.of("ndcg@10") == differences.of("nDCG@10")
    assert {row.metric for row in differences.by_group.of("NDCG@10")} == {"nDCG@10"}
    for key in (("new", "P@3"), ("new", "nothing"), ("new", "P@"), ("base", "base", "P@10")):
        with pytest.raises(KeyError, match="names 0 differences; the metrics are 'P@10', 'nDCG@10'"):
            _ = differences[key]
    assert pickle.loads(pickle.dumps(differences)) == differences  # noqa: S301


def of_runs() -> exactk.results.Differences:
    return compared(HITS, runs={"mean": ["new", "old"]}, baseline="base").differences


def of_groups() -> exactk.results.Differences:
    return compared(HITS, ["P@10", "mrr"], baseline="base", groups=["a", "b"] * 20).differences


@pytest.mark.parametrize(
    ("of", "key", "advice", "code"),
    [
        (of_groups, "precision@10", "has the rows of a metric", "differences.of('precision@10')"),
        (of_groups, "new", "has the rows of a system", "differences.of(system='new')"),
        (of_groups, "a", "of a group", "differences.by_group.of(group='a')"),
        (of_groups, "P@10", "of a metric", "differences.by_group.of('P@10')"),
        (of_groups, ("new", "P@10"), "in 2 groups", "differences.by_group.of('P@10', 'new')"),
        (of_groups, ("P@10", "new"), "the metric comes last", "differences['new', 'P@10']"),
        (of_groups, ("P@10", "new", "base"), "the metric comes last", "differences['new', 'base', 'P@10']"),
        (of_groups, ("base", "P@10"), "'base' is the baseline", "differences['new', 'P@10']"),
        (of_groups, ("base", "new", "P@10"), "the other way round", "differences['new', 'base', 'P@10']"),
        (lambda: compared(HITS).differences, ("old", "P@10"), "different baselines", "differences['old', 'base', 'P@10']"),
        (of_runs, ("old", "P@10"), "'old' is a run of 'mean'", "differences['mean', 'P@10']"),
        (of_runs, ("new", "base", "P@10"), "'new' is a run of 'mean'", "differences['mean', 'base', 'P@10']"),
    ],
)  # fmt: skip
def test_an_index_that_names_no_row_is_told_what_to_write(of: Any, key: Any, advice: str, code: str) -> None:
    differences = of()
    rows = differences.by_group if "by_group" in code else differences
    with pytest.raises(TypeError if isinstance(key, str) else KeyError) as caught:
        _ = rows[key]
    (message,) = caught.value.args
    assert repr(key) in message
    assert advice in message
    assert code in message
    assert eval(code, {"differences": differences})  # noqa: S307 - what the message says to write


@pytest.mark.parametrize("key", [(), ("P@10",), ("new", "base", "base", "P@10")])
def test_an_index_of_another_length_is_refused(key: Any) -> None:
    with pytest.raises(KeyError, match="expected a system and a metric, or a system, its baseline and a metric"):
        _ = compared(two("base", "new")).differences[key]


def test_a_name_that_nothing_has_is_told_what_there_is() -> None:
    with pytest.raises(TypeError, match=r"found 'x'; the metrics are 'P@10', the pairs are \('new', 'base'\)"):
        _ = compared(two("base", "new")).differences["x"]  # type: ignore[call-overload]


def test_exports_take_a_path_and_digits(tmp_path: Path) -> None:
    differences = compared(HITS, ["P@10", "mrr"], baseline="base", groups=["a", "b"] * 20).differences
    for rows in (differences, differences.by_group):
        for name in ("to_csv", "to_markdown", "to_latex"):
            export = getattr(rows, name)
            for options in ({}, {"digits": 2}):
                path = tmp_path / "file"
                assert export(path, **options) is None
                text = path.read_text(encoding="utf-8")
                assert text == export(**options) + ("" if name == "to_csv" else "\n")
            for digits, error in ((-1, exactk.InputError), (2.0, exactk.InputTypeError), (18, exactk.InputError)):
                with pytest.raises(error, match="digits: expected an integer"):
                    export(digits=digits)
    row = differences[0]
    assert (
        f"| {row.value:.2f} | {row.baseline_value:.2f} | {row.difference:+.2f} | {row.low:+.2f} to {row.high:+.2f} |"
        in (differences.to_markdown(digits=2))
    )
    assert f"{row.value:.1f} & {row.baseline_value:.1f} & {row.difference:+.1f} & " in differences.to_latex(digits=1)
    cells = next(csv.DictReader(differences.to_csv(digits=3).splitlines()))
    assert float(cells["difference"]) == round(row.difference, 3)
    assert cells["users"] == "40"
    assert float(next(csv.DictReader(differences.to_csv().splitlines()))["difference"]) == row.difference


def test_latex_has_minus_signs_and_powers_of_ten() -> None:
    latex = compared(
        {"base": [1] * 40, "new": [2, 2, 2, 3] * 10, "old": [0, 1, 1, 1] * 10}, baseline="base"
    ).differences.to_latex()
    assert latex.splitlines()[2].startswith(r"\caption{Paired t test against base; ")
    row = compared({"base": [1] * 40, "new": [2, 2, 2, 3] * 10}).differences[0]
    mantissa, exponent = f"{row.p:.2g}".split("e-")
    assert rf"${mantissa} \cdot 10^{{-{int(exponent)}}}$ & " in latex
    assert "$-$0.0250" in latex
    assert not re.search(r"e-\d|[ {]-\d", latex.replace("{-", "{"))


@pytest.mark.parametrize("export", ["to_pandas", "to_csv", "to_latex", "to_markdown"])
def test_the_table_of_differences_has_exports_of_its_own(export: str) -> None:
    comparison = compared(two("base", "new"))
    with pytest.raises(exactk.InputError) as caught:
        getattr(comparison, export)(table="differences")
    assert "'differences'; comparison.differences has its own exports" in str(caught.value)


def test_a_margin_of_a_metric_that_is_not_computed_is_told_before_work() -> None:
    metrics = (metric for metric in ["P@10"])
    with pytest.raises(exactk.InputError, match="margin: expected metrics among precision@10, found 'P@5'"):
        exactk.compare([[1]], {"a": object(), "b": object()}, metrics, margin={"P@5": 0.1})  # type: ignore[dict-item]


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_a_test_that_contradicts_the_mean_decides_nothing(test: Any) -> None:
    """Many small losses and some large wins: both tests are of losses, and the mean is higher."""
    base = [1] * 40
    new = [0] * 33 + [10] * 7
    row = compared({"base": base, "new": new}, test=test, per_user=True).differences[0]
    assert row.difference > 0
    assert row.wins < row.losses
    assert row.p <= 0.05
    assert row.verdict == "undecided"


def test_names_in_exports_of_differences_are_text() -> None:
    systems = dict.fromkeys([*NAMES, "g\nh"], HITS["base"]) | {"last": HITS["new"]}
    differences = compared(systems, baseline="<script>").differences
    markdown, latex = differences.to_markdown(), differences.to_latex()
    assert "<script>" not in markdown
    assert "against &#60;script>" in markdown.splitlines()[-1]
    table = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {len(re.findall(r"\|", table[1]))}
    assert r"against \textless{}script\textgreater{}" in latex
    for shown in (r"a\_b", r"c\textbar{}d", r"5\% \& more", r"e\textbackslash{}f"):
        assert shown in latex
    assert latex.splitlines()[:2] == [r"\begin{table}", r"\centering"]
    assert latex.splitlines()[-2:] == [r"\end{tabular}", r"\end{table}"]
    assert all("g\\nh" in text for text in (repr(differences), markdown.replace("\\\\", "\\")))
    assert "'=cmd" in differences.to_csv()
