"""Every cell of `Differences` against an oracle that has nothing of exactk, over odd combinations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.multitest import multipletests

import difference_oracle as oracle
import exactk
from difference_oracle import METRICS, Case
from exactk._inference.significance import adjust
from strategies import at_night, examples

POLICIES = {
    "users": ["truth", "truth", "both", "union", "predictions"],
    "empty_truth": ["skip", "skip", "compute"],
    "missing_list": ["compute", "skip"],
    "empty_list": ["compute", "skip"],
}
MAY_CANCEL = {"difference", "low", "high", "relative", "relative_low", "relative_high", "statistic", "effect"}
LABELS = ("new", "old", "rest")


def drawn(seed: int, sizes: tuple[int, ...] = (1, 2, 3, 8, 30, 60)) -> tuple[Case, int]:
    """Return a case, and the number of blocks in which its users are evaluated."""
    rng = np.random.default_rng(seed)
    users = [f"u{i}" for i in range(int(rng.choice(sizes)))]
    blocks = int(rng.integers(1, 4))
    metrics = [METRICS[i] for i in rng.permutation(len(METRICS))[: rng.integers(1, 5)]]
    policies = {name: str(rng.choice(choices)) for name, choices in POLICIES.items() if rng.random() < 0.4}
    if not any(metric.average == "micro" for metric in metrics) and rng.random() < 0.3:
        policies["empty_list"] = str(rng.choice(["zero", "one"]))
        policies["missing_list"] = str(rng.choice(["zero", "one"]))
    if policies.get("users") in {"both", "predictions"}:
        policies.pop("missing_list", None)  # it has no effect, of which a warning tells
    truth = {
        user: {int(item): float(rng.integers(1, 4)) for item in rng.permutation(12)[: rng.integers(0, 6)]}
        for user in users
        if rng.random() < 0.95
    }
    lists: dict[str, dict[str, list[int]]] = {}
    for name in ["a", "b", "c", "d"][: rng.integers(2, 5)]:
        lists[name] = {
            user: rng.permutation(12)[: rng.choice([0, 3, 6, 6, 6])].tolist() for user in users if rng.random() < 0.93
        }
    if rng.random() < 0.2:
        lists["copy"] = lists["a"]
    options: dict[str, Any] = {
        "test": str(rng.choice(["t", "t", "t", "sign", "wilcoxon"])),
        "alternative": str(rng.choice(["two_sided", "two_sided", "greater", "less"])),
        "confidence": float(rng.choice([0.95, 0.9, 0.8, 0.99])),
        "adjust": str(rng.choice(["holm", "benjamini_hochberg", "bonferroni", "none"])),
        "family": str(rng.choice(["metric", "all"])),
    }
    if rng.random() < 0.6:
        options["margin"] = [0.05, 0.5, "5%", "40%"][rng.integers(4)]
    block_of = {user: int(rng.integers(blocks)) for user in users}
    is_t = options["test"] == "t"
    return (
        Case(
            truth,
            lists,
            metrics,
            str(rng.choice(list(lists))) if rng.random() < 0.5 else None,
            policies,
            {user: float(rng.choice([0.0, 0.5, 1.0, 2.7])) for user in users} if is_t and rng.random() < 0.4 else None,
            {user: str(rng.choice(LABELS)) for user in users} if rng.random() < 0.5 else None,
            {user: 100 * block_of[user] + int(rng.integers(12)) for user in users}
            if is_t and rng.random() < 0.4
            else None,
            options,
        ),
        blocks,
    )


def parts_of(case: Case, blocks: int) -> list[tuple[Any, Any]]:
    """Return the truth and the systems of each block of users; a cluster is in one block."""
    order = {user: i for i, user in enumerate(case.users)}

    def block(user: str) -> int:
        return (order[user] if case.clusters is None else case.clusters[user] // 100) % blocks

    return [
        (
            {user: row for user, row in case.truth.items() if block(user) == number},
            {
                name: {user: row for user, row in lists.items() if block(user) == number}
                for name, lists in case.systems.items()
            },
        )
        for number in range(blocks)
    ]


def evaluation_options(case: Case) -> dict[str, Any]:
    return {"convention": case.policies, "weights": case.weights, "groups": case.groups, "per_user": True}


def whole(case: Case, _blocks: int, **how: Any) -> exactk.Comparison:
    return exactk.compare(case.truth, case.systems, spellings(case), **how, **evaluation_options(case))


def in_blocks(case: Case, blocks: int, **how: Any) -> exactk.Comparison:
    parts = iter(parts_of(case, blocks))
    return exactk.compare(None, parts, spellings(case), **how, **evaluation_options(case))


def of_shards(case: Case, blocks: int, **how: Any) -> exactk.Comparison:
    return exactk.merge(
        [
            exactk.compare(truth, systems, spellings(case), **how, **evaluation_options(case))
            for truth, systems in parts_of(case, blocks)
        ]
    )


def of_reports(case: Case, _blocks: int, **how: Any) -> exactk.Comparison:
    reports = {
        name: exactk.evaluate(case.truth, lists, spellings(case), **evaluation_options(case))
        for name, lists in case.systems.items()
    }
    return exactk.compare_reports(reports, **how)


def of_merged_reports(case: Case, blocks: int, **how: Any) -> exactk.Comparison:
    reports = {
        name: exactk.merge(
            [
                exactk.evaluate(truth, lists[name], spellings(case), **evaluation_options(case))
                for truth, lists in parts_of(case, blocks)
            ]
        )
        for name in case.systems
    }
    return exactk.compare_reports(reports, **how)


def spellings(case: Case) -> list[str]:
    return [metric.spelling for metric in case.metrics]


WAYS: list[Callable[..., exactk.Comparison]] = [whole, in_blocks, of_shards, of_reports, of_merged_reports]


def assert_rows(
    found: exactk.results.Differences, expected: list[dict[str, Any]], *, rounded: tuple[str, ...] = ()
) -> None:
    """Compare all cells; those that are rounded have seven digits in common."""
    assert len(found) == len(expected)
    for row, cells in zip(found, expected, strict=True):
        shown = {name: cell for name, cell in cells.items() if name[0] != "_"}
        for name in exactk.results.Difference._fields:
            one, other = getattr(row, name), cells[name]
            if other is None and "relative" in name:
                assert isinstance(one, float)  # it is left open
            elif isinstance(other, float):
                # The oracle adds doubles, so that what cancels may be 1e-16 to it.
                relative, absolute = (1e-7, 1e-8) if name in rounded else (1e-9, 1e-14 * (name in MAY_CANCEL))
                is_close = math.isclose(one, other, rel_tol=relative, abs_tol=absolute)
                assert is_close or (math.isnan(one) and math.isnan(other)), f"{name} is {one}; {shown}"
            else:
                assert one == other, f"{name} is {one}; {shown}"


def assert_all(comparison: exactk.Comparison, case: Case) -> None:
    """Compare all rows, those of groups, and the heterogeneity."""
    totals = oracle.rows(case, None)
    is_share = isinstance(case.options.get("margin"), str)
    if is_share and any(one["baseline_value"] == 0 for one in totals):
        with pytest.raises(exactk.InputError, match=r"margin: expected an absolute margin of .*, which is 0"):
            _ = comparison.differences
        return
    differences = comparison.differences
    assert_rows(differences, totals)
    labels = [row.group for row in differences.by_group]
    assert set(labels) <= set((case.groups or {}).values())
    of_groups = [row for label in dict.fromkeys(labels) for row in oracle.rows(case, str(label))]
    assert_rows(differences.by_group, of_groups)
    expected = []
    for metric, *pair in differences.heterogeneity:
        of_pair = [one for one in of_groups if [one["metric"], one["system"], one["baseline"]] == [metric, *pair]]
        expected.append((*oracle.heterogeneity(of_pair),))
    p_values = [p for p, _ in expected]
    assert_allclose([*differences.heterogeneity.values()], p_values, rtol=1e-9)
    assert_allclose([*differences.heterogeneity_adjusted.values()], oracle.holm(p_values), rtol=1e-9)
    assert_allclose([*differences.i_squared.values()], [share for _, share in expected], rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_cell_is_that_of_the_oracle(way: Callable[..., exactk.Comparison]) -> None:
    for seed in range(examples(60)):
        case, blocks = drawn(seed + 1000 * WAYS.index(way))
        assert_all(way(case, blocks, baseline=case.baseline, clusters=case.clusters, **case.options), case)


def compared_with_scipy(values: Any) -> tuple[exactk.results.Difference, Any]:
    """Return the row of users with these values of a baseline and a system, and what SciPy has."""
    users = values.shape[1]
    truth = exactk.Truth(np.arange(users + 1) * 2, np.tile([0, 1], users), np.ascontiguousarray(values.T).ravel())
    first = np.zeros((users, 1), np.int64)
    (row,) = exactk.compare(truth, {"base": first, "new": first + 1}, "dcg@1", baseline="base").differences
    expected = stats.ttest_rel(values[1], values[0])
    assert_allclose([row.statistic, row.p], [expected.statistic, max(expected.pvalue, oracle.LEAST_P)], rtol=1e-10)
    return row, expected


@pytest.mark.parametrize("users", [2, 3, 5, 20, 1_000, 100_000, pytest.param(1_000_000, marks=at_night)])
@pytest.mark.parametrize("shift", [0.0, 0.002, 0.3])
def test_t_and_its_interval_are_those_of_scipy(users: int, shift: float) -> None:
    rng = np.random.default_rng(users)
    values = rng.random((2, users))
    values[1] = 0.5 * values[0] + values[1] + shift
    row, expected = compared_with_scipy(values)
    assert_allclose([row.low, row.high], expected.confidence_interval(), rtol=1e-10)


@pytest.mark.parametrize("exponent", [-5, -50, -150, -250, -299])
@pytest.mark.parametrize("users", [60, 10_000])
def test_p_values_are_exact_in_the_far_tail(users: int, exponent: int) -> None:
    """The differences are scaled to the t statistic that has this p-value."""
    differences = np.random.default_rng(1).standard_normal(users)
    differences = (differences - differences.mean()) / differences.std(ddof=1)
    t = -float(stats.t.ppf(10.0**exponent / 2, users - 1))
    differences = differences * 2.0**-20 + t / math.sqrt(users) * 2.0**-20
    row, _ = compared_with_scipy(np.stack([np.full(users, 0.5), 0.5 + differences]))
    assert_allclose(math.log10(row.p), exponent, rtol=1e-6)


@pytest.mark.parametrize(
    ("method", "name"), [("holm", "holm"), ("benjamini_hochberg", "fdr_bh"), ("bonferroni", "bonferroni")]
)
def test_adjustments_of_many_p_values_are_those_of_statsmodels(method: str, name: str) -> None:
    """Also where many are equal, and where some are undefined."""
    rng = np.random.default_rng(3)
    few = np.minimum(np.round(rng.random(435), 1) + 0.01, 1)
    for p in (rng.random(1), few[:2], few, 10 ** -rng.uniform(0, 300, 435)):
        expected = multipletests(p, method=name)[1]
        assert_allclose(adjust(p.tolist(), method), expected, rtol=1e-15)
        first, *others = p.tolist()
        first_adjusted, undefined, *others_adjusted = adjust([first, math.nan, *others], method)
        assert_allclose([first_adjusted, *others_adjusted], expected, rtol=1e-15)
        assert math.isnan(undefined)


def test_adjusted_p_values_are_no_less_by_rounding() -> None:
    """3 p / 3 may be less than p."""
    for p in np.random.default_rng(4).random((500, 3)):
        adjusted = adjust(p.tolist(), "benjamini_hochberg")
        assert all(one >= other for one, other in zip(adjusted, p, strict=True))
        assert max(adjusted) == p.max()
