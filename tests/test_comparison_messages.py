"""What comparisons say where they cannot answer: the argument at fault, the reason, and what to write."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import exactk

TRUTH = [[1]] * 20
SYSTEMS = {"base": [[1], [2]] * 10, "new": [[1], [1]] * 10, "zero": [[2], [2]] * 10}
AVERAGES = ["recall@1", "f1@1(average=of_means)", "map@1(average=geometric)", "ndcg@1"]


def compared(**options: Any) -> exactk.Comparison:
    return exactk.compare(TRUTH, {name: SYSTEMS[name] for name in ("base", "new")}, "P@1", **options)


def message_of(call: Any) -> str:
    with pytest.raises(exactk.ExactkError) as caught:
        call()
    return str(caught.value)


def undefined(**options: Any) -> exactk.Comparison:
    """Compare systems of which one user's values are undefined."""
    truth: Any = {0: [1], 1: [], 2: [3], 3: [4]}
    systems: Any = {"a": {0: [1], 1: [2], 2: [4], 3: [4]}, "b": {0: [1], 1: [2], 2: [3], 3: [5]}}
    convention: Any = {"undefined": "nan", "empty_truth": "compute"}
    return exactk.compare(truth, systems, AVERAGES, convention=convention, **options)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"weights": {0: 1.0, 1: 0.0, 2: 2.0, 3: 1.0}},
    {"groups": {0: "x", 1: "x", 2: "y", 3: "y"}},
    {"clusters": {0: 1, 1: 1, 2: 2, 3: 2}},
    {"margin": "1%"},
    {"test": "wilcoxon", "per_user": True},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("claim", ["better", "no_worse", "equivalent"])
def test_an_undefined_value_decides_no_gate(options: dict[str, Any], claim: str) -> None:
    comparison = undefined(**options)
    for metric in AVERAGES:
        assert math.isnan(comparison[metric]["a"])
        for margin in ("1%", 0.9):
            gate = comparison.check(groups=None, **{claim: {metric: margin}})
            assert (gate.status, bool(gate)) == ("undecided", False)
            assert gate.failures == (f"{metric}: 'b' cannot be compared with 'a': undefined for 1 user",)
        assert message_of(lambda name=metric: comparison.users_for(name, 0.1)) == (
            f"metric: expected a metric whose differences have a variance, found {metric!r}: undefined for 1 user"
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing", 0.1), "metric: expected the name of a metric, found 'nothing'"),
        (("P@[1,2]", 0.1), "metric: expected one metric at one cutoff, found 'P@[1,2]'"),
        (("P@5", 0.1), "metric: expected one of P@1, found 'P@5'"),
        ((3, 0.1), "metric: expected metric strings, found 3"),
        (("P@1", 0), "difference: expected a number above 0 such as 0.002"),
        (("P@1", "x%"), "difference: expected a number above 0 such as 0.002"),
        (
            ("P@1", 5),
            "difference: expected a difference of P@1 below 1, as its values are from 0 to 1, found 5; '5%' is 5 %",
        ),
    ],
)
def test_users_for_names_the_argument_at_fault(arguments: tuple[Any, Any], message: str) -> None:
    assert message_of(lambda: compared().users_for(*arguments)).startswith(message)


def test_users_for_asks_for_a_system_and_a_difference_that_there_are() -> None:
    comparison = compared()
    assert message_of(lambda: comparison.users_for("P@1", 0.1, system="nwe")) == (
        "system: expected one of 'new', found 'nwe'; did you mean 'new'?"
    )
    assert message_of(lambda: comparison.users_for("P@1", 0.1, system="base")) == (
        "system: expected one of 'new', found 'base'"
    )
    of_zero = exactk.compare(TRUTH, {"zero": SYSTEMS["zero"], "new": SYSTEMS["base"]}, "P@1")
    assert message_of(lambda: of_zero.users_for("P@1", "5%")) == (
        "difference: expected an absolute difference of P@1, found '5%' of the value of 'zero', which is 0"
    )
    assert of_zero.users_for("P@1", 0.05) > 2


@pytest.mark.parametrize("metric", ["nothing", "P@", "P@1,P@2"])
def test_claims_and_margins_name_the_argument_of_a_metric_that_is_none(metric: str) -> None:
    comparison = compared(margin="1%")
    for claim in ("better", "no_worse", "equivalent"):
        for claimed in (metric, [metric], {metric: "1%"}):
            found = message_of(lambda: comparison.check(groups=None, **{claim: claimed}))  # noqa: B023 - called at once
            assert found.startswith(f"{claim}: expected ")
    assert message_of(lambda: compared(margin={metric: "1%"})).startswith("margin: expected ")


def test_what_needs_the_users_values_says_what_keeps_them() -> None:
    reports = {name: exactk.evaluate(TRUTH, lists, "P@1") for name, lists in SYSTEMS.items() if name != "zero"}
    calls: list[Any] = [
        lambda: exactk.compare_reports(reports).differences,
        lambda: exactk.compare_reports(reports).users_for("P@1", 0.1),
        lambda: exactk.compare_reports(reports).check(better="P@1"),
        lambda: exactk.merge([compared(test="wilcoxon").state]).differences,
        lambda: exactk.merge([compared(test="permutation").state]).differences,
        lambda: reports["base"].to_pandas("per_user"),
    ]
    for call in calls:
        message = message_of(call)
        assert message.endswith("; per_user=True keeps them"), message
    assert "'t' or 'sign' without the users' values" in message_of(calls[3])
    kept = {
        name: exactk.evaluate(TRUTH, lists, "P@1", per_user=True) for name, lists in SYSTEMS.items() if name != "zero"
    }
    assert len(exactk.compare_reports(kept).differences) == 1
    assert re.match("reports: ", message_of(calls[0]))


@pytest.mark.parametrize("margin", [1, "1.0", 5])
def test_a_margin_that_no_difference_exceeds_is_refused(margin: Any) -> None:
    """Meant as percent, it would call a system that loses everything equivalent."""
    message = f"expected a margin of P@1 below 1, as its values are from 0 to 1, found {float(margin):g}; '{float(margin):g}%' is"
    for options in ({"margin": margin}, {"margin": {"P@1": margin}}):
        assert message_of(lambda: compared(**options)).startswith(f"margin: {message}")  # noqa: B023 - called at once
    for claim in ("better", "no_worse", "equivalent"):
        found = message_of(lambda: compared().check(groups=None, **{claim: {"P@1": margin}}))  # noqa: B023 - called at once
        assert found.startswith(f"{claim}: {message}")


def test_counts_and_gains_may_have_margins_of_1_and_more() -> None:
    for metric in ("num_hits@3", "dcg@1", "P@1(duplicate_items=count)"):
        comparison = exactk.compare(TRUTH, {"a": SYSTEMS["base"], "b": SYSTEMS["new"]}, metric, margin=2)
        assert comparison.differences[0].verdict == "equivalent"
        assert comparison.check(no_worse={metric: 1})
    with pytest.raises(
        exactk.InputError, match="expected a margin of num_hits@1 below 1, as its values are from 0 to 1"
    ):
        exactk.compare(TRUTH, {"a": SYSTEMS["base"], "b": SYSTEMS["new"]}, "num_hits@1", margin=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compared().check(no_worse="1%"), "no_worse: expected metrics, or a mapping from metric to margin, found '1%'; no_worse={'P@1': '1%'}"),
        (lambda: compared().check(equivalent="P@1=1%"), "equivalent: expected metrics, or a mapping from metric to margin, found 'P@1=1%'; equivalent={'P@1': '1%'}"),
        (lambda: compared(margin="100%"), "margin: expected a number above 0 such as 0.002, or a share of the baseline's value below 100 % such as '1%', found '100%'"),
        (lambda: compared(confidence=0.05), "confidence: expected at least 0.5 and below 1, found 0.05; confidence=0.95"),
        (lambda: compared(adjust="fdr_bh"), "adjust: expected one of 'holm', 'max_t', 'benjamini_hochberg', 'bonferroni', 'none', found 'fdr_bh'; did you mean 'benjamini_hochberg'?"),
        (lambda: compared(adjust="BH"), "adjust: expected one of 'holm', 'max_t', 'benjamini_hochberg', 'bonferroni', 'none', found 'BH'; did you mean 'benjamini_hochberg'?"),
        (lambda: compared(interval="bootstrap"), "interval: expected one of 't', 'percentile', 'bca', found 'bootstrap'; did you mean 'bca'?"),
    ],
)  # fmt: skip
def test_what_other_tools_write_is_told_in_our_words(call: Any, message: str) -> None:
    assert message_of(call) == message


def test_users_without_a_cluster_are_not_one_cluster() -> None:
    missing = "clusters: expected a cluster for every user, found NaN or None (the first of {})"
    assert message_of(lambda: compared(clusters=[1.0, math.nan] * 10)) == missing.format(10)
    truth: Any = {f"u{user}": [1] for user in range(3)}
    for clusters, message in (
        (dict.fromkeys(truth, None), missing.format(3)),
        (dict.fromkeys(truth, pd.NA), missing.format(3)),
        (dict.fromkeys(truth, Decimal("nan")), missing.format(3)),
        ({"u0": 1, "u2": 1}, "clusters: expected a cluster for every user, found none of user 'u1'"),
    ):
        systems = {"a": {**truth}, "b": {**truth}}
        assert message_of(partial(exactk.compare, truth, systems, "P@1", clusters=clusters)) == message


def test_a_column_of_clusters_is_one_of_the_users() -> None:
    message = message_of(lambda: compared(clusters="member"))
    assert message.endswith("found 'member'; such as user=['member', 'session'], so that the users are the sessions")


@pytest.mark.parametrize(
    ("runs", "found"),
    [
        (["base", "new"], "list; runs={'mean': ['base', 'new']}"),
        ("base", "str; such as runs={'als': ['als-1', 'als-2']}"),
        ({"als": [{1: [2]}, {1: [2]}]}, "dict"),
    ],
)
def test_runs_are_named(runs: Any, found: str) -> None:
    assert message_of(lambda: compared(runs=runs)).endswith(f", found {found}")


@pytest.mark.parametrize("runs", [list, lambda runs: {str(number): run for number, run in enumerate(runs)}])
@pytest.mark.parametrize("kind", [list, np.array])
def test_runs_in_place_of_a_system_are_systems(runs: Any, kind: Any) -> None:
    lists = kind(SYSTEMS["base"]), kind(SYSTEMS["new"])
    message = message_of(lambda: exactk.compare(TRUTH, {"als": runs(lists), "b": SYSTEMS["new"]}, "P@1"))
    assert message.endswith("; for training runs, pass each as a system, and write runs={'als': ['als-0', 'als-1']}")


def test_a_container_in_place_of_options_is_not_printed() -> None:
    systems: Any = {"a": {1: [2]}}
    assert message_of(lambda: compared(baseline=systems)).endswith("or None, found dict")


def test_systems_as_two_arguments_are_named_before_metrics() -> None:
    truth: Any = {0: [1], 1: [2]}
    hint = "; exactk.compare(truth, {'a': a, 'b': b}, metrics) compares two systems"
    names: Any = {"u0": [1], "u1": [2]}
    assert message_of(lambda: exactk.compare(names, names, names)) == (
        f"systems: expected a mapping from each system's name to its predictions, found a mapping from user{hint}"
    )
    array: Any = np.ones((2, 1), int)
    assert message_of(lambda: exactk.compare(truth, array, array)).startswith("systems: expected a mapping")
    assert message_of(lambda: exactk.compare(names, {"a": names}, ["nothing"])).startswith("metrics: ")


@pytest.mark.parametrize("path", ["monday.json", Path("monday.json")])
def test_reports_are_read_from_files(path: Any) -> None:
    hint = "; exactk.Report.from_json(pathlib.Path('monday.json')) reads a report"
    assert message_of(lambda: exactk.compare_reports({"monday": path})).endswith(f" for 'monday'{hint}")


def test_reports_compare_with_their_metrics_in_any_order() -> None:
    metrics = ["f1@1", "P@1(average=micro)", "map", "f1@1(average=of_means)", "P@1", "recall@1(average=micro)"]
    groups = ["x", "y"] * 10
    one, other, backwards = (
        exactk.evaluate(TRUTH, SYSTEMS[name], order, per_user=True, groups=groups)
        for name, order in (("base", metrics), ("new", metrics), ("new", metrics[::-1]))
    )
    expected = exactk.compare_reports({"base": one, "new": other})
    found = exactk.compare_reports({"base": one, "new": backwards})
    assert found == expected
    assert found.differences == expected.differences
    assert list(found) == metrics
