"""Questions by group of users: how many are needed, what holds in each group, which system to choose, whether groups differ."""

from __future__ import annotations

import json
import math
import pickle
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.multitest import multipletests

import exactk
from exactk._inference.estimates import Contrast
from exactk._inference.margins import Heterogeneity, adjusted_heterogeneity, heterogeneity
from html_pages import read, results, section, tables, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

# Hits of three systems among the first ten, by group: of unequal sizes, and of values that differ.
SIZES = {"new": 30, "old": 70, "mid": 45}
LABELS = [label for label, size in SIZES.items() for _ in range(size)]
METRICS = ["P@10", "mrr"]


def drawn() -> dict[str, list[int]]:
    rng = np.random.default_rng(59)
    base = np.concatenate(
        [rng.integers(low, low + 4, size) for low, size in zip((1, 3, 2), SIZES.values(), strict=True)]
    )
    gains = {"better": (1, 0, 1), "mixed": (1, -1, 0)}
    shifted = {
        name: base + np.repeat(shifts, list(SIZES.values())) + rng.integers(-3, 4, len(base))
        for name, shifts in gains.items()
    }
    return {name: hits.clip(0, 10).tolist() for name, hits in {"base": base, **shifted}.items()}


HITS = drawn()
ANYBODY = [*range(len(LABELS))]


def compared(users: Sequence[int] = ANYBODY, names: Sequence[str] = ("base", "better", "mixed"), **options: Any) -> Any:
    """Compare systems on some of the users."""
    systems = {
        name: [[*range(100, 110 - HITS[name][user]), *range(HITS[name][user])] for user in users] for name in names
    }
    how = {"baseline": "base", "groups": [LABELS[user] for user in users], **options}
    return exactk.compare([[*range(10)]] * len(users), systems, METRICS, **how)


def users_of(label: object) -> list[int]:
    return [user for user in ANYBODY if LABELS[user] == label]


def gains_of(system: str, label: object) -> Any:
    users = users_of(label)
    return (np.array(HITS[system])[users] - np.array(HITS["base"])[users]) / 10


WHOLE = compared()


# Whether groups differ.


def contrast(delta: str, square_of_error: str, degrees: int) -> Contrast:
    error = Fraction(square_of_error)
    return Contrast(Fraction(delta), error, error, Fraction(degrees))


@pytest.mark.parametrize(
    ("groups", "statistic", "degrees", "p", "i_squared"),
    [
        ([("0.3", "0.01", 9), ("0.1", "0.01", 9)], 2, (1, 18), 0.174363, 0.5),
        ([("0.3", "0.01", 9), ("0.1", "0.01", 9), ("0.1", "0.0025", 39)], 1.603655, (2, 16.966767), 0.230195, 0.4),
        ([("0.3", "0.01", 9), ("0.3", "0.01", 9)], 0, (1, 18), 1, 0),
        ([("0.3", "0.01", 9), ("0.2", "0.01", 9)], 0.5, (1, 18), 0.488554, 0),  # Q is below its expectation
    ],
)
def test_welch_and_i_squared_of_known_groups(
    groups: Any, statistic: float, degrees: tuple[float, float], p: float, i_squared: float
) -> None:
    found = heterogeneity([contrast(*group) for group in groups])
    assert_allclose([found.p, found.i_squared], [p, i_squared], rtol=5e-6)
    assert_allclose(found.p, stats.f.sf(statistic, *degrees), rtol=5e-6)


def test_holm_over_known_tests() -> None:
    p_values = [0.004, math.nan, 0.03, 0.02, 0.5]
    tests = {index: Heterogeneity(p, 0.0, 0, 0) for index, p in enumerate(p_values)}
    found = adjusted_heterogeneity(tests)
    assert_allclose([one.p_adjusted for one in found.values()], [0.016, math.nan, 0.06, 0.06, 0.5], rtol=1e-12)
    assert {one.family for one in found.values()} == {4}


@pytest.mark.parametrize("options", [{}, {"family": "all"}, {"adjust": "none"}, {"adjust": "bonferroni"}])
def test_heterogeneity_is_adjusted_over_metrics_and_pairs_whatever_the_family_of_rows(options: Any) -> None:
    differences = compared(**options).differences
    p_values = [*differences.heterogeneity.values()]
    assert len(p_values) == 4
    expected = multipletests(p_values, method="holm")[1]
    assert_allclose([*differences.heterogeneity_adjusted.values()], expected, rtol=1e-12)
    assert list(differences.heterogeneity_adjusted) == list(differences.i_squared) == list(differences.heterogeneity)
    part = differences.of("mrr", "mixed")  # keeps the family of the call
    assert part.heterogeneity_adjusted == {
        key: p for key, p in differences.heterogeneity_adjusted.items() if key == ("mrr", "mixed", "base")
    }
    assert "Holm over 4 tests" in part.by_group.caption


def test_i_squared_is_the_share_of_q_beyond_its_expectation() -> None:
    gains = [gains_of("mixed", label) for label in SIZES]
    weights = [1 / stats.sem(gain) ** 2 for gain in gains]
    means = [gain.mean() for gain in gains]
    mean = np.average(means, weights=weights)
    q = sum(weight * (one - mean) ** 2 for weight, one in zip(weights, means, strict=True))
    assert q > 2
    assert_allclose(WHOLE.differences.i_squared["P@10", "mixed", "base"], (q - 2) / q, rtol=1e-9)


def test_the_verdict_is_by_the_adjusted_p_value_and_told_once() -> None:
    differences = WHOLE.differences
    lines = [line for line in repr(differences.by_group).splitlines() if line.startswith("heterogeneity")]
    of_tests, (how,) = lines[:-1], lines[-1:]
    assert len(of_tests) == 4
    for line, p in zip(of_tests, differences.heterogeneity_adjusted.values(), strict=True):
        assert ("differs between groups" in line) == (p <= 0.05)
    assert how == (
        "heterogeneity by Welch's test; Holm over 4 tests; different verdicts of groups do not show that the groups differ"
    )


def test_a_test_that_is_significant_alone_is_no_verdict() -> None:
    key = ("P@10", "better", "base")
    comparison = compared(confidence=0.9)
    differences = comparison.differences
    assert differences.heterogeneity[key] < 0.1 < differences.heterogeneity_adjusted[key]
    (line,) = (line for line in repr(differences.by_group).splitlines() if "groups, P@10 of better: " in line)
    assert "differs" not in line
    html = comparison.to_html()
    page = read(html)
    findings = text_of(section(page, "groups"))
    assert "P@10, better: " not in findings
    assert "P@10, mixed: the sign differs between groups, and so does the difference" in findings
    table = {row[0]: row[1:] for row in tables(section(page, "groups"))["Differences in P@10 by group"]}
    numbers = (differences.heterogeneity, differences.heterogeneity_adjusted)
    assert [table[name][0] for name in ("p of heterogeneity", "adjusted")] == [f"{one[key]:.2g}" for one in numbers]
    assert table["I²"][0] == f"{100 * differences.i_squared[key]:.0f} %"
    found = {(row["metric"], row["system"], row["baseline"]): row for row in results(html)["heterogeneity"]}
    assert list(found) == list(differences.heterogeneity)
    of_key = (differences.heterogeneity[key], differences.heterogeneity_adjusted[key], differences.i_squared[key])
    assert tuple(found[key].values())[3:] == of_key


def test_clusters_in_several_groups_are_told() -> None:
    note = "groups are taken as independent, though clusters have users in several"
    for clusters, is_told in ([user % 29 for user in ANYBODY], True), ([(user + 1) // 2 for user in ANYBODY], True), (
        [f"{label} {user % 9}" for user, label in enumerate(LABELS)], False
    ):  # fmt: skip
        assert (note in compared(clusters=clusters).differences.by_group.caption) == is_told
    assert note not in WHOLE.differences.by_group.caption


def test_rows_of_a_group_and_their_frame() -> None:
    differences = WHOLE.differences
    assert [row.group for row in differences.of(group="old")] == ["old"] * 4
    assert differences.of("mrr", "mixed", "old") == differences.by_group.of("mrr", "mixed", "old")
    assert [tuple(row)[:4] for row in differences.of("mrr", "mixed", "mid")] == [("mrr", "mixed", "base", "mid")]
    with pytest.raises(KeyError, match=r"no difference of 'mrr' and 'nwe'; .*the groups are 'mid', 'new', 'old'"):
        differences.of("mrr", group="nwe")
    with pytest.raises(KeyError, match="no difference of 'new'"):
        compared(groups=None).differences.of(group="new")
    frame = differences.by_group.to_pandas()
    (row,) = frame[(frame.metric == "mrr") & (frame.system == "mixed") & (frame.group == "old")].itertuples()
    key = ("mrr", "mixed", "base")
    assert (row.heterogeneity, row.heterogeneity_adjusted, row.i_squared) == (
        differences.heterogeneity[key],
        differences.heterogeneity_adjusted[key],
        differences.i_squared[key],
    )
    assert "heterogeneity" not in differences.to_pandas()


# How many users.


def expected_users(system: str, label: object, size: float, power: float = 0.8, confidence: float = 0.95) -> int:
    quantiles = stats.norm.ppf((1 + confidence) / 2) + stats.norm.ppf(power)
    return math.ceil(float(quantiles * gains_of(system, label).std(ddof=1) / size) ** 2)


@pytest.mark.parametrize("label", SIZES)
@pytest.mark.parametrize("system", ["better", "mixed"])
def test_users_of_a_group_and_the_whole_sample_that_has_them(label: Any, system: str) -> None:
    found = WHOLE.users_for("P@10", 0.01, system=system, group=label, power=0.9)
    assert (found, found.group) == (expected_users(system, label, 0.01, 0.9), label)
    assert found.total == math.ceil(Fraction(int(found) * len(LABELS), SIZES[label]))
    of_baseline = np.array(HITS["base"])[users_of(label)].mean() / 10
    assert WHOLE.users_for("P@10", "5%", system=system, group=label) == expected_users(
        system, label, 0.05 * of_baseline
    )
    assert compared(users_of(label), groups=None).users_for("P@10", 0.01, system=system, power=0.9) == found


def test_every_group_needs_the_largest_sample_of_any() -> None:
    by_group = [WHOLE.users_for("P@10", 0.01, group=label) for label in SIZES]
    found = WHOLE.users_for("P@10", 0.01, group="every")
    largest = max(by_group, key=lambda one: one.total)
    assert (found, found.total, found.group) == (largest.total, largest.total, largest.group)
    whole = WHOLE.users_for("P@10", 0.01)
    assert (whole.total, whole.group) == (whole, None)
    assert (type(whole + 1), json.dumps(found), repr(found)) == (int, str(int(found)), str(int(found)))
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
    assert (again, again.total, again.group) == (found, found.total, found.group)


def test_users_of_a_group_are_clusters_where_there_are_some() -> None:
    clusters = [user // 5 for user in ANYBODY]
    comparison = compared(names=["base", "better"], clusters=clusters)
    found = comparison.users_for("P@10", 0.01, group="old")
    alone = compared(users_of("old"), ["base", "better"], groups=None, clusters=[user // 5 for user in users_of("old")])
    assert found == alone.users_for("P@10", 0.01)
    assert found.total == math.ceil(Fraction(int(found) * 29, 14))


@pytest.mark.parametrize(
    ("options", "group", "message"),
    [
        ({}, "nwe", "group: expected 'every', or one of 'mid', 'new', 'old', found 'nwe'; did you mean 'new'?"),
        ({}, 3.5, "group: expected 'every', or one of 'mid', 'new', 'old', found 3.5"),
        ({"groups": None}, "new", "group: expected groups of users, which groups= of the call names, found none"),
        (
            {"groups": ["every", "x"] * 72 + ["x"]},
            "every",
            "group: expected no group whose name is that of all groups, 'every', found one; rename it",
        ),
        (
            {"groups": ["alone"] + ["x"] * 144},
            "every",
            "metric: expected a metric whose differences have a variance in group 'alone', found 'P@10': fewer than two users or clusters",
        ),
    ],
)
def test_groups_that_cannot_be_asked(options: Any, group: Any, message: str) -> None:
    with pytest.raises(exactk.InputError, match=f"^{re.escape(message)}$"):
        compared(**options).users_for("P@10", 0.01, group=group)


def test_a_group_without_variance_or_value_is_named() -> None:
    systems = {"a": [[1]] * 3 + [[2]] * 6, "b": [[1]] * 3 + [[2]] * 3 + [[1]] * 2 + [[2]]}
    comparison = exactk.compare([[1]] * 9, systems, "P@1", groups=["x"] * 3 + ["y"] * 3 + ["z"] * 3, baseline="a")
    message = "variance in group 'x', found 'P@1': the same difference for every user"
    with pytest.raises(exactk.InputError, match=message):
        comparison.users_for("P@1", 0.1, group="every")
    with pytest.raises(exactk.InputError, match="found '5%' of the value of 'a', which is 0 in group 'z'"):
        comparison.users_for("P@1", "5%", group="z")


# Gates.

CLAIMS: dict[str, Any] = {"better": ["P@10"], "no_worse": {"mrr": "5%", "P@10": 0.02}, "equivalent": {"P@10": "20%"}}


@pytest.mark.parametrize("groups", ["every", "old", ["old", "mid"], np.array(["mid", "old", "mid"])])
def test_a_claim_of_a_group_is_that_of_its_users_alone(groups: Any) -> None:
    gate = WHOLE.check(**CLAIMS, groups=groups)
    labels = {"every": [*SIZES], "old": ["old"]}[groups] if isinstance(groups, str) else list(dict.fromkeys(groups))
    assert {check.group for check in gate} == set(labels)
    assert len(gate) == 8 * len(labels)
    for label in labels:
        alone = compared(users_of(label), groups=None).check(**CLAIMS)
        of_group = [check for check in gate if check.group == label]
        assert [check[:3] + check[5:7] for check in of_group] == [check[:3] + check[5:7] for check in alone]
        texts = [check.text.replace(f", group {label}: ", ": ", 1) for check in of_group]
        assert texts == [check.text for check in alone]
    statuses = {check.status for check in gate}
    assert gate.status == next(one for one in ("fails", "undecided", "observed", "holds") if one in statuses)


def test_a_gate_of_groups_says_what_every_group_costs() -> None:
    gate = WHOLE.check(no_worse={"P@10": "1%"}, groups="every")
    undecided = [check for check in gate if check.status == "undecided"]
    assert undecided
    needed = [WHOLE.users_for("P@10", "1%", system=one.system, group=one.group) for one in undecided]
    most = max(needed, key=lambda one: one.total)
    expected = (
        "; each group is tested by its own users, so that more groups need more users; "
        f"finding the margin in group {most.group!r} with 80 % power takes {most:,} of its users, {most.total:,} of all"
    )
    assert repr(gate).endswith(expected)
    assert repr(pickle.loads(pickle.dumps(gate))) == repr(gate)  # noqa: S301 - our own
    assert repr(WHOLE.check(no_worse={"P@10": "90%"}, groups="every")).endswith("more groups need more users")
    assert "each group" not in repr(WHOLE.check(no_worse={"P@10": "1%"}))
    assert f'"no_worse P@10 1%: mixed against base, group {undecided[-1].group}"' in gate.to_junit()
    named = compared(names=["base", "better"], unit_names=("query", "document")).check(better="P@10", groups="old")
    assert "each group is tested by its own queries" in repr(named)


def test_a_group_that_cannot_decide_is_undecided_and_never_left_out() -> None:
    systems = {"a": [[1]] * 30 + [[2]] * 10 + [[1]], "b": [[1]] * 30 + [[1]] * 5 + [[2]] * 5 + [[1]]}
    groups = ["same"] * 30 + ["none"] * 10 + ["one"]
    comparison = exactk.compare([[1]] * 41, systems, "P@1", groups=groups, baseline="a")
    gate = comparison.check(no_worse={"P@1": "1%"}, better="P@1", groups="every")
    found = {(check.claim, check.group): check.status for check in gate}
    assert found == {
        ("better", "same"): "undecided", ("better", "none"): "holds", ("better", "one"): "undecided",
        ("no_worse", "same"): "observed", ("no_worse", "none"): "undecided", ("no_worse", "one"): "observed",
    }  # fmt: skip
    assert (gate.status, bool(gate)) == ("undecided", False)
    (of_nothing,) = (check for check in gate if (check.claim, check.group) == ("no_worse", "none"))
    assert of_nothing.text == (
        "P@1, group none: 'b' cannot be compared with 'a': 1% is a share of the value of 'a', which is 0"
    )
    with pytest.raises(exactk.InputError, match="groups: expected 'every', or one of 'none', 'one', 'same', found 'x'"):
        comparison.check(better="P@1", groups=["same", "x"])
    with pytest.raises(exactk.InputError, match="groups: expected at least one group, found none"):
        comparison.check(better="P@1", groups=[])


# The choice.


def test_bounds_in_a_group_and_in_every_group() -> None:
    value_of = {label: WHOLE.reports["mixed"].by_group[label]["P@10"] for label in SIZES}
    choice = exactk.choose(WHOLE, "mrr", {("P@10", "old"): value_of["old"] + 1e-9, ("P@10", "every"): ("<=", 0.3)})
    failed = {str(option): {str(one): value for one, value in option.failed.items()} for option in choice.options}
    assert list(failed["mixed"]) == [
        f"P@10 of group old >= {value_of['old'] + 1e-9:g}",
        *(f"P@10 of group {label} <= 0.3" for label in ("mid", "new", "old") if value_of[label] > 0.3),
    ]
    assert failed["mixed"][f"P@10 of group old >= {value_of['old'] + 1e-9:g}"] == value_of["old"]
    assert "fails P@10 of group old >= " in repr(choice)
    for again in (pickle.loads(pickle.dumps(choice)), choice):  # noqa: S301 - our own
        assert again.options[0].failed == choice.options[0].failed
    cutoffs = exactk.evaluate([[1, 2]] * 4, [[1, 3], [2, 1], [3, 1], [1, 2]], "P@[1,2]", groups=["x", "x", "y", "y"])
    options = exactk.choose(cutoffs, ("P@[1,2]", "y"), {("P@[1,2]", "every"): 0.5}).options
    assert [(option.cutoff, option.value, list(map(str, option.failed))) for option in options] == [
        (1, 0.5, []),
        (2, 0.75, []),
    ]


def test_the_worst_group_decides_and_is_not_tested() -> None:
    choice = exactk.choose(WHOLE, ("P@10", "worst"))
    expected = {
        name: min(numbers["P@10"] for numbers in report.by_group.values()) for name, report in WHOLE.reports.items()
    }
    assert {option.system: option.value for option in choice.options} == expected
    assert choice.optimized == "P@10 of the worst group"
    assert (str(choice.best), choice.tied) == (max(expected, key=expected.__getitem__), ())
    assert repr(choice).endswith("was not tested: the lowest of several means has no t test")
    (column,) = (name for name in choice.columns() if "worst" in name)
    assert column == choice.optimized


@pytest.mark.parametrize("label", SIZES)
@pytest.mark.parametrize("options", [{"baseline": None}, {"baseline": None, "per_user": True}])
def test_a_choice_in_a_group_is_tested_on_its_users(label: Any, options: Any) -> None:
    comparison = compared(**options)
    choice = exactk.choose(comparison, ("P@10", label))
    alone = exactk.choose(compared(users_of(label), **{**options, "groups": None}), "P@10")
    assert (str(choice.best), choice.untested) == (str(alone.best), "")
    assert [option.system for option in choice.tied] == [option.system for option in alone.tied]
    assert choice.optimized == f"P@10 of group {label}"
    if options.get("per_user"):
        assert exactk.choose(comparison.reports, ("P@10", label)) == choice


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((("P@10", "every"),), "optimize: expected 'worst', or one of 'mid', 'new', 'old', found 'every'"),
        (("P@10", {("P@10", "worst"): 0.1}), "satisfy: expected 'every', or one of 'mid', 'new', 'old', found 'worst'"),
        (
            (("P@10", "nwe"),),
            "optimize: expected 'worst', or one of 'mid', 'new', 'old', found 'nwe'; did you mean 'new'?",
        ),
        (((3, "new"),), "optimize: expected a metric string, or one and a group, found (3, 'new')"),
        (
            ("P@10", {("P@10", "new", "old"): 0.1}),
            "satisfy: expected metric strings, or pairs of one and a group, as keys",
        ),
    ],
)
def test_what_cannot_be_chosen_by(arguments: Any, message: str) -> None:
    with pytest.raises(exactk.ExactkError, match=re.escape(message)):
        exactk.choose(WHOLE, *arguments)


def test_a_group_that_a_report_lacks_is_an_error_and_one_without_a_value_too() -> None:
    def report(labels: list[str], **options: Any) -> exactk.Report:
        return exactk.evaluate([[1], [2]], [[1], [3]], "P@1", groups=labels, **options)

    reports = {"a": report(["x", "y"]), "b": report(["x", "x"])}
    for arguments in ((("P@1", "worst"),), ("P@1", {("P@1", "every"): 0.5})):
        with pytest.raises(exactk.InputError, match="expected a group of every report, found 'y', which 'b' lacks"):
            exactk.choose(reports, *arguments)
    with pytest.raises(exactk.InputError, match=r"optimize: expected groups of users, .*, found none"):
        exactk.choose(exactk.evaluate([[1]], [[1]], "P@1"), ("P@1", "worst"))
    empty = exactk.evaluate([[1], []], [[1], [3]], "P@1", groups=["x", "y"])
    with pytest.raises(
        exactk.InputError, match="optimize: expected a value of P@1 in each group, found none in group 'y'"
    ):
        exactk.choose(empty, ("P@1", "worst"))
    assert [str(one) for one in exactk.choose(empty, "P@1", {("P@1", "every"): 0.1}).options[0].failed] == [
        "P@1 of group y >= 0.1"
    ]


# Parts of the users.


def test_merged_parts_answer_as_the_whole() -> None:
    halves = [[user for user in ANYBODY if user % 2 == half] for half in (0, 1)]
    merged = exactk.merge([compared(half) for half in halves])
    assert merged.check(**CLAIMS, groups="every") == WHOLE.check(**CLAIMS, groups="every")
    for name in ("heterogeneity", "heterogeneity_adjusted", "i_squared"):
        assert getattr(merged.differences, name) == getattr(WHOLE.differences, name)
    for group in ("every", "new"):
        assert merged.users_for("P@10", "1%", group=group).total == WHOLE.users_for("P@10", "1%", group=group).total


def test_groups_may_be_integers() -> None:
    labels = [SIZES[label] for label in LABELS]
    comparison = compared(groups=labels)
    given: Any
    for given in (70, np.int64(70)):
        assert comparison.users_for("P@10", 0.01, group=given).group == 70
        assert [check.group for check in comparison.check(better="P@10", groups=given)] == [70, 70]
        assert exactk.choose(comparison, ("P@10", given)).optimized == "P@10 of group 70"
    with pytest.raises(exactk.InputError, match="one of 30, 45, 70, found '70'"):
        comparison.users_for("P@10", 0.01, group="70")


def test_none_is_no_group_and_other_labels_are_proposed_as_they_are_written() -> None:
    with pytest.raises(exactk.InputError, match="satisfy: expected 'every', or one of 'mid', 'new', 'old', found None"):
        exactk.choose(WHOLE, "mrr", {("P@10", None): 0.5})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
    numbered = exactk.compare([[1]] * 3, {"a": [[1]] * 3, "b": [[1]] * 3}, "P@1", groups=[0, 1, 2])
    with pytest.raises(exactk.InputError, match=r"one of 0, 1, 2, found '0'; did you mean 0\?$"):
        numbered.check(better="P@1", groups="0")


def test_the_first_of_many_groups_are_named() -> None:
    labels = [f"g{user}" for user in range(1000)]
    comparison = exactk.compare([[1]] * 1000, {"a": [[1]] * 1000, "b": [[1]] * 1000}, "P@1", groups=labels)
    with pytest.raises(exactk.InputError, match=r"or one of 'g0', .* and 980 more, found 'zzz'$") as caught:
        comparison.check(better="P@1", groups="zzz")
    assert len(str(caught.value)) < 250
