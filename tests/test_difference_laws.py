"""What holds of differences whatever the data: for all tests, averages, weights, groups and clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import exactk
from strategies import examples

pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")

CUTOFF = 6
SYSTEMS = ("a", "b", "c")
METRICS = [
    "P@6", "recall@6", "dcg@6", "recall@6(average=micro)", "f1@6(average=of_means)", "fbeta@6(average=of_means,beta=2)",
    "dcg@6(average=geometric)", "recall@6(average=geometric)",
]  # fmt: skip
MEANS = METRICS[:3]


@dataclass(frozen=True)
class User:
    """What there is of a user: relevant items of one grade, and the hits of each system."""

    relevant: int
    hits: tuple[int, int, int]
    grade: float = 1.0
    weight: float = 1.0
    group: str = "x"
    cluster: int = 0


@dataclass(frozen=True)
class Sample:
    """Users by name, and which of their numbers are used."""

    users: dict[str, User]
    options: dict[str, Any] = field(default_factory=dict)
    has: frozenset[str] = frozenset()  # of weights, groups, clusters
    metrics: tuple[str, ...] = tuple(METRICS)
    systems: tuple[str, ...] = SYSTEMS

    def inputs(self) -> tuple[dict[str, dict[int, float]], dict[str, dict[str, list[int]]]]:
        """Return the truth and the lists: hits come first."""
        truth = {name: dict.fromkeys(range(user.relevant), user.grade) for name, user in self.users.items()}
        lists = {
            system: {
                name: [*range(user.hits[SYSTEMS.index(system)]), *range(100, 100 + CUTOFF)][:CUTOFF]
                for name, user in self.users.items()
            }
            for system in self.systems
        }
        return truth, lists

    def compare(self, **more: Any) -> exactk.Comparison:
        by_user: dict[str, dict[str, Any]] = {
            "weights": {name: user.weight for name, user in self.users.items()},
            "groups": {name: user.group for name, user in self.users.items()},
            "clusters": {name: user.cluster for name, user in self.users.items()},
        }
        used: Mapping[str, Any] = {name: values for name, values in by_user.items() if name in self.has}
        options: dict[str, Any] = {**self.options, **used, **more}
        return exactk.compare(*self.inputs(), list(self.metrics), per_user=True, **options)

    def map(self, change: Callable[[User], User]) -> Sample:
        return replace(self, users={name: change(user) for name, user in self.users.items()})


@st.composite
def samples(
    draw: st.DrawFn,
    *,
    tests: tuple[str, ...] = ("t", "t", "sign", "wilcoxon"),
    has: tuple[str, ...] = ("weights", "groups", "clusters"),
    least: int = 1,
) -> Sample:
    relevant = st.integers(1, 8)
    user = relevant.flatmap(
        lambda count: st.builds(
            User,
            st.just(count),
            st.tuples(*[st.integers(0, min(count, CUTOFF))] * 3),
            st.sampled_from([1.0, 1.0, 2.0, 3.0]),
            st.sampled_from([1.0, 0.25, 3.0, 0.1, 0.0]),
            st.sampled_from("xxyz"),
            st.integers(0, 5),
        )
    )
    users = draw(st.lists(user, min_size=least, max_size=16))
    test = draw(st.sampled_from(tests))
    used = draw(st.sets(st.sampled_from(has))) if has else set()
    options = {
        "test": test,
        "alternative": draw(st.sampled_from(["two_sided", "two_sided", "greater", "less"])),
        "adjust": draw(st.sampled_from(["holm", "benjamini_hochberg", "bonferroni", "none"])),
        "family": draw(st.sampled_from(["metric", "all"])),
        "margin": draw(st.sampled_from([None, 0.0137, 0.307])),
    }
    return Sample(
        {f"u{i}": user for i, user in enumerate(users)},
        options,
        frozenset(used if test == "t" else used & {"groups"}),
        tuple(draw(st.permutations(METRICS))[: draw(st.integers(1, 2))]),
    )


law = settings(max_examples=examples(25))


def rows_of(comparison: exactk.Comparison) -> dict[tuple[Any, ...], exactk.Difference]:
    differences = comparison.differences
    return {(row.group, row.metric, row.system, row.baseline): row for row in [*differences, *differences.by_group]}


def assert_same(one: exactk.Comparison, other: exactk.Comparison, *, but: tuple[str, ...] = ()) -> None:
    """Compare all rows, bit by bit."""
    rows, others = rows_of(one), rows_of(other)
    assert list(rows) == list(others)
    for key, row in rows.items():
        for name in row._fields:
            if name not in but:
                assert repr(getattr(row, name)) == repr(getattr(others[key], name)), (key, name)
    if "p" not in but:
        assert repr(dict(one.differences.heterogeneity)) == repr(dict(other.differences.heterogeneity))


@law
@given(samples())
def test_exchanging_two_systems_mirrors_their_row(sample: Sample) -> None:
    back = {"greater": "less", "less": "greater"}.get(sample.options["alternative"], "two_sided")
    rows = rows_of(replace(sample, systems=("a", "b")).compare())
    others = rows_of(replace(sample, systems=("b", "a")).compare(alternative=back))
    for (group, metric, system, baseline), row in rows.items():
        other = others[group, metric, baseline, system]
        assert (row.value, row.wins, row.ties, row.losses) == (
            other.baseline_value,
            other.losses,
            other.ties,
            other.wins,
        )
        names = ["p", "p_adjusted", "p_equivalent", "users", "units"]
        numbers = [row.difference, row.low, row.high]
        mirrored = [-other.difference, -other.high, -other.low]
        if "geometric" not in metric:
            names += ["detectable"]
        else:
            assert numbers == mirrored or math.isnan(row.low)
            # The lower bounds alone: a high one is that of a factor near 0, of which doubles keep few digits.
            numbers += [row.relative_low, other.relative_low]
            with np.errstate(divide="ignore"):
                factors = 1 / (1 + np.array([other.relative_high, row.relative_high]))
            mirrored += [*(factors - 1)]
        if sample.options["test"] == "t":
            numbers += [row.statistic, row.effect]
            mirrored += [-other.statistic, -other.effect]
        assert_allclose(numbers, mirrored, rtol=1e-9, atol=1e-14)
        assert_allclose([getattr(row, one) for one in names], [getattr(other, one) for one in names], rtol=1e-12)


@law
@given(samples(has=(), least=2), st.integers(0, CUTOFF))
def test_a_user_with_equal_values_adds_no_evidence(sample: Sample, hits: int) -> None:
    added = replace(sample, users=sample.users | {"new": User(CUTOFF, (hits, hits, hits))})
    rows, others = rows_of(sample.compare()), rows_of(added.compare())
    for key, row in rows.items():
        other = others[key]
        assert (row.wins, row.losses, row.users + 1) == (other.wins, other.losses, other.users)
        if key[1] in MEANS and sample.options["test"] == "t":  # the sums of d and of its squares are the same
            assert_allclose(other.difference * other.users, row.difference * row.users, rtol=1e-12, atol=1e-15)
            if row.effect and not math.isinf(row.effect):
                squares, of_added = (
                    one.difference**2 * one.users * (1 + (one.users - 1) / one.users / one.effect**2)
                    for one in (row, other)
                )
                assert_allclose(of_added, squares, rtol=1e-9)
        elif sample.options["test"] != "t":
            assert repr((row.statistic, row.p, row.p_adjusted)) == repr((other.statistic, other.p, other.p_adjusted))


@law
@given(samples(), st.integers(-8, 8))
def test_the_unit_of_values_and_weights_does_not_matter(sample: Sample, power: int) -> None:
    of_dcg = replace(sample, metrics=("dcg@6",), options=sample.options | {"margin": None})
    scaled = of_dcg.map(
        lambda user: replace(user, grade=user.grade * 2.0**power, weight=user.weight * 2.0 ** (2 * power))
    )
    in_units = ("value", "baseline_value", "difference", "low", "high", "detectable")
    one, other = of_dcg.compare(), scaled.compare()
    assert_same(one, other, but=in_units)
    for row, of_scaled in zip(one.differences, other.differences, strict=True):
        assert [getattr(row, name) * 2.0**power for name in in_units] == pytest.approx(
            [getattr(of_scaled, name) for name in in_units], rel=1e-15, nan_ok=True
        )


@law
@given(samples(tests=("t",), has=("weights", "groups")), st.integers(2, 4))
def test_copies_of_users_in_clusters_change_only_counts(sample: Sample, copies: int) -> None:
    copied = replace(
        sample,
        users={
            f"{name}/{copy}": replace(user, cluster=cluster)
            for cluster, (name, user) in enumerate(sample.users.items())
            for copy in range(copies)
        },
        has=sample.has | {"clusters"},
    )
    rows, others = rows_of(sample.compare()), rows_of(copied.compare())
    assert list(rows) == list(others)
    for key, row in rows.items():
        other = others[key]
        for name in row._fields:
            one, of_copies = getattr(row, name), getattr(other, name)
            if name in {"users", "wins", "ties", "losses"}:
                assert one * copies == of_copies
            elif isinstance(one, float):
                assert_allclose(of_copies, one, rtol=1e-12, atol=1e-15)
            else:
                assert of_copies == one


@law
@given(samples(), st.randoms(use_true_random=False))
def test_the_order_of_users_does_not_matter(sample: Sample, random: Any) -> None:
    names = random.sample(list(sample.users), len(sample.users))
    first = {user.group: None for user in sample.users.values()}  # groups are shown as they first occur
    shuffled = sorted(names, key=lambda name: list(first).index(sample.users[name].group))
    rows = rows_of(sample.compare())
    others = rows_of(replace(sample, users={name: sample.users[name] for name in shuffled}).compare())
    assert repr(sorted(rows.items(), key=repr)) == repr(sorted(others.items(), key=repr))


@law
@given(samples())
def test_another_system_changes_only_what_is_adjusted(sample: Sample) -> None:
    rows, others = rows_of(replace(sample, systems=("a", "b")).compare()), rows_of(sample.compare())
    assert len(rows) * 3 == len(others)
    for key, row in rows.items():
        one, other = (each._replace(p_adjusted=0.0, verdict="undecided") for each in (row, others[key]))
        assert repr(one) == repr(other)
        assert not others[key].p_adjusted < row.p_adjusted or sample.options["adjust"] == "benjamini_hochberg"


@settings(max_examples=examples(200))
@given(samples(least=4))
def test_adjusted_p_values_are_in_the_order_of_p(sample: Sample) -> None:
    differences = sample.compare().differences
    families: dict[Any, list[tuple[float, float]]] = {}
    for row in [*differences, *differences.by_group]:
        family = row.group, row.metric if sample.options["family"] == "metric" else None
        if not row.reason:
            families.setdefault(family, []).append((row.p, row.p_adjusted))
        else:
            assert math.isnan(row.p)
            assert math.isnan(row.p_adjusted)
    for p_values in families.values():
        assert all(0 < p <= adjusted <= min(1.0, p * len(p_values) * (1 + 1e-15)) for p, adjusted in p_values)
        in_order = [one for _, one in sorted(p_values)]
        assert in_order == sorted(in_order)


@law
@given(samples(tests=("t",), least=4))
def test_the_interval_holds_0_if_the_test_does_not_reject(sample: Sample) -> None:
    """At confidences just around 1 - p, where a bound is next to 0."""
    rows = rows_of(sample.compare(alternative="two_sided"))
    key, p = next(
        ((key, row.p) for key, row in rows.items() if 1e-6 < row.p < 0.49 and math.isfinite(row.statistic)), ((), 0.0)
    )
    if not key:
        return
    for factor in (1 - 1e-6, 1 + 1e-6):
        row = rows_of(sample.compare(alternative="two_sided", confidence=1 - p * factor))[key]
        holds = row.p > p * factor
        assert (row.low <= 0 <= row.high) == holds
        if not math.isnan(row.relative_low) and row.baseline_value > 0:
            assert (row.relative_low <= 0 <= row.relative_high) == holds


@law
@given(samples(tests=("t",), least=4), st.sampled_from([0.8, 0.9, 0.95]))
def test_systems_are_equivalent_if_the_interval_is_within_the_margin(sample: Sample, confidence: float) -> None:
    """With the interval of two one-sided tests, at margins just around its bounds."""
    rows = rows_of(sample.compare(confidence=2 * confidence - 1))
    key = next((key for key, row in rows.items() if math.isfinite(row.low) and row.low < row.high), None)
    if key is None:
        return
    bounds = rows[key].low, rows[key].high
    for size in sorted({1e-9 < abs(bound) < 0.999 and abs(bound) for bound in bounds} - {False}):
        for factor in (1 - 1e-6, 1 + 1e-6):
            margin = size * factor
            row = rows_of(sample.compare(confidence=confidence, margin=margin))[key]
            level = 1 - confidence
            assert (row.p_equivalent <= level) == (-margin <= bounds[0] and bounds[1] <= margin)
            assert (row.p_not_worse <= level) == (-margin <= bounds[0])


@law
@given(samples(tests=("t",), least=2), st.integers(-8, 8))
def test_the_interval_of_a_geometric_mean_is_in_its_unit(sample: Sample, power: int) -> None:
    """Of values above 0, which are not taken as the least one."""
    of_dcg = replace(
        sample.map(lambda user: replace(user, hits=(max(1, user.hits[0]), *user.hits[1:]))),
        metrics=("dcg@6(average=geometric)",),
        options=sample.options | {"margin": None},
    ).map(lambda user: replace(user, hits=(user.hits[0], max(1, user.hits[1]), max(1, user.hits[2]))))
    rows, others = (
        rows_of(one.compare())
        for one in (of_dcg, of_dcg.map(lambda user: replace(user, grade=user.grade * 2.0**power)))
    )
    for key, row in rows.items():
        other = others[key]
        numbers = [one * 2.0**power for one in (row.difference, row.low, row.high)]
        assert_allclose([other.difference, other.low, other.high], numbers, rtol=1e-9, atol=1e-13 * 2.0**power)


@law
@given(samples(), st.integers(1, 4))
def test_parts_of_the_users_merge_to_the_whole(sample: Sample, parts: int) -> None:
    def part_of(name: str) -> int:
        return (sample.users[name].cluster if "clusters" in sample.has else int(name[1:])) % parts

    of_parts = [
        replace(sample, users={name: user for name, user in sample.users.items() if part_of(name) == number}).compare()
        for number in range(parts)
    ]
    whole, merged = sample.compare(), exactk.merge(of_parts)
    assert repr(sorted(rows_of(merged).items(), key=repr)) == repr(sorted(rows_of(whole).items(), key=repr))
    if sample.options["test"] != "wilcoxon":  # which needs the users' values, and states have none
        of_states = exactk.merge([one.state for one in of_parts])
        assert repr(sorted(rows_of(of_states).items(), key=repr)) == repr(sorted(rows_of(whole).items(), key=repr))


@law
@given(samples())
def test_the_sides_of_a_test_add_up(sample: Sample) -> None:
    two, greater, less = (rows_of(sample.compare(alternative=one)) for one in ("two_sided", "greater", "less"))
    for key, row in two.items():
        sides = greater[key].p, less[key].p
        if row.reason:
            assert all(map(math.isnan, sides))
            continue
        assert_allclose(row.p, min(1.0, 2 * min(sides)), rtol=1e-12)
        if sample.options["test"] == "t" and math.isfinite(row.statistic) and row.statistic:
            assert_allclose(sum(sides), 1, rtol=1e-12)
        else:
            assert sum(sides) >= 1


@law
@given(samples(tests=("t",)), st.tuples(st.floats(1e-3, 0.9), st.floats(1e-3, 0.9)).map(sorted))
def test_wider_margins_are_easier(sample: Sample, sizes: list[float]) -> None:
    """Shares of the baseline's value are not: where that may be 0, a larger share of it may be a smaller margin."""
    narrow, wide = (rows_of(sample.compare(margin=margin)) for margin in sizes)
    for key, row in narrow.items():
        for name in ("p_not_worse", "p_equivalent"):
            one, other = getattr(row, name), getattr(wide[key], name)
            assert math.isnan(one) == math.isnan(other)
            assert not other > one * (1 + 1e-9)
        assert not row.p_equivalent < row.p_not_worse * (1 - 1e-12)


@law
@given(samples(tests=("t",), has=("groups",)))
def test_weights_of_1_and_clusters_of_one_are_none(sample: Sample) -> None:
    plain = sample.compare()
    clusters = {name: number for number, name in enumerate(sample.users)}
    assert_same(plain, sample.compare(weights=dict.fromkeys(sample.users, 1.0)))
    assert_same(plain, sample.compare(clusters=clusters))
    assert_same(plain, sample.compare(weights=dict.fromkeys(sample.users, 4.0), clusters=clusters))


@law
@given(samples(has=("weights", "clusters")))
def test_a_group_of_all_users_is_the_whole(sample: Sample) -> None:
    differences = sample.compare(groups=dict.fromkeys(sample.users, "all")).differences
    assert [repr(row._replace(group=None)) for row in differences.by_group] == list(map(repr, differences))
    assert all(map(math.isnan, differences.heterogeneity.values()))


@law
@given(samples(), st.tuples(*[st.integers(0, CUTOFF)] * 3))
def test_users_of_one_group_leave_the_rows_of_others(sample: Sample, hits: tuple[int, int, int]) -> None:
    sample = replace(sample, has=(sample.has | {"groups"}) - {"clusters"})

    def change(user: User) -> User:
        if user.group != "x":
            return user
        return replace(user, hits=(min(hits[0], user.relevant), user.hits[2], user.hits[1]))

    rows, others = rows_of(sample.compare()), rows_of(sample.map(change).compare())
    of_others = [(key, row) for key, row in rows.items() if key[0] in {"y", "z"}]
    assert all(repr(others[key]) == repr(row) for key, row in of_others)


def test_samples_have_what_the_laws_need() -> None:
    """Two systems that differ significantly, in a group and by weights, so that no law above is about NaN alone."""
    rng = np.random.default_rng(0)
    users = {
        f"u{i}": User(8, (2, int(rng.integers(2, 6)), 6), 1.0, 0.5 + float(rng.random()), "xy"[i % 2], i // 2)
        for i in range(25)
    }
    rows = rows_of(Sample(users, has=frozenset({"weights", "groups", "clusters"})).compare())
    assert len(rows) == 3 * 3 * len(METRICS)
    assert sum(row.p < 0.05 for row in rows.values()) > len(rows) / 2
