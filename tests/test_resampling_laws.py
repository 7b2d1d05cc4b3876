"""What holds of permutation tests and bootstrap intervals whatever the data: all averages, weights, groups and clusters."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import exactk
from permutation_oracle import signs_of
from strategies import examples
from test_difference_laws import CUTOFF, METRICS, Sample, User, assert_same, rows_of
from test_permutation_oracle import compared

pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")

SUMS = ["P@6", "recall@6", "recall@6(average=geometric)"]
"""Metrics whose differences are sums over users."""

law = settings(max_examples=examples(20))


@st.composite
def samples(
    draw: st.DrawFn,
    *,
    sizes: tuple[int, ...] = (3, 12, 30, 60),
    has: tuple[str, ...] = ("weights", "groups", "clusters"),
    intervals: tuple[str, ...] = ("t", "percentile", "bca"),
    metrics: tuple[str, ...] = tuple(METRICS),
) -> Sample:
    """Draw users of whom all differ, most or few; of many users, flips are random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size, spread = draw(st.sampled_from(sizes)), draw(st.sampled_from([0.1, 0.5, 1.0]))
    users = {}
    for number in range(size):
        relevant = int(rng.integers(1, 9))
        hits = np.minimum(rng.integers(0, CUTOFF + 1, 3), relevant)
        hits = np.where(rng.random(3) < spread, hits, hits[0])
        users[f"u{number}"] = User(
            relevant,
            (int(hits[0]), int(hits[1]), int(hits[2])),
            float(rng.integers(1, 4)),
            float(rng.choice([1.0, 0.25, 3.0, 0.1, 0.0])),
            str(rng.choice(list("xxyz"))),
            int(rng.integers(0, 2 * size // 3 + 1)),
        )
    used = draw(st.sets(st.sampled_from(has))) if has else set()
    units = len({user.cluster for user in users.values()}) if "clusters" in used else size
    interval = draw(st.sampled_from(intervals)) if min(units, size) > 28 else "t"
    options: dict[str, Any] = {
        "test": draw(st.sampled_from(["permutation", "permutation", "t"])) if interval != "t" else "permutation",
        "interval": interval,
        "alternative": draw(st.sampled_from(["two_sided", "two_sided", "greater", "less"])),
        "family": draw(st.sampled_from(["metric", "all"])),
        "seed": draw(st.sampled_from([0, 7, 2**64 - 1])),
    }
    options["adjust"] = draw(st.sampled_from(["max_t", "max_t", "holm", "none"])) if options["test"] != "t" else "holm"
    if options["test"] == "permutation":
        options["permutations"] = draw(st.sampled_from([99, 199, 1500]))
    if interval != "t":
        options["resamples"] = 199
    if interval != "t" and ({"weights", "clusters"} & used):  # of weight 0, of one cluster: units may be few
        users = {name: replace(user, weight=user.weight or 1.0) for name, user in users.items()}
    chosen = tuple(draw(st.permutations(metrics))[: draw(st.integers(1, 3))])
    return Sample(users, options, frozenset(used), chosen)


MIRRORED = {"greater": "less", "less": "greater", "two_sided": "two_sided"}


@law
@given(samples())
def test_exchanging_two_systems_mirrors_their_row(sample: Sample) -> None:
    rows = rows_of(replace(sample, systems=("a", "b")).compare())
    back = MIRRORED[sample.options["alternative"]]
    others = rows_of(replace(sample, systems=("b", "a")).compare(alternative=back))
    for (group, metric, system, baseline), row in rows.items():
        other = others[group, metric, baseline, system]
        assert repr((row.p, row.p_adjusted, row.p_error, row.exact)) == repr(
            (other.p, other.p_adjusted, other.p_error, other.exact)
        )
        assert_allclose([row.low, row.high], [-other.high, -other.low], rtol=1e-7, atol=1e-12)
        if "geometric" in metric and 0 < 1 + other.relative_high < 1e9:
            assert_allclose(1 + row.relative_low, 1 / (1 + other.relative_high), rtol=1e-7)


@law
@given(samples(has=("clusters",), intervals=("t",), metrics=tuple(SUMS)), st.integers(0, CUTOFF))
def test_a_user_with_equal_values_changes_no_p_value(sample: Sample, hits: int) -> None:
    added = replace(sample, users=sample.users | {"new": User(CUTOFF, (hits, hits, hits), cluster=1000)})
    rows, others = rows_of(sample.compare(adjust="none")), rows_of(added.compare(adjust="none"))
    for key, row in rows.items():
        if not row.reason:
            other = others[key]
            assert (row.p, row.p_error, row.exact) == (other.p, other.p_error, other.exact)


@law
@given(samples(), st.integers(-8, 8))
def test_the_unit_of_values_and_weights_does_not_matter(sample: Sample, power: int) -> None:
    of_dcg = replace(sample, metrics=("dcg@6",))
    scaled = of_dcg.map(
        lambda user: replace(user, grade=user.grade * 2.0**power, weight=user.weight * 2.0 ** (2 * power))
    )
    in_units = ("value", "baseline_value", "difference", "low", "high", "detectable", "statistic")
    one, other = of_dcg.compare(), scaled.compare()
    assert_same(one, other, but=in_units)
    for key, row in rows_of(one).items():
        of_scaled = rows_of(other)[key]
        assert_allclose(
            [row.low * 2.0**power, row.high * 2.0**power], [of_scaled.low, of_scaled.high], rtol=1e-14, atol=0
        )


@law
@given(samples(has=("weights", "groups")), st.integers(2, 4))
def test_copies_of_users_in_clusters_are_one_user(sample: Sample, copies: int) -> None:
    """A cluster has the random numbers of a user with that key."""
    copied = replace(
        sample,
        users={f"{name}/{copy}": user for name, user in sample.users.items() for copy in range(copies)},
    )
    clusters = {name: name.rpartition("/")[0] for name in copied.users}
    rows, others = rows_of(sample.compare()), rows_of(copied.compare(clusters=clusters))
    assert list(rows) == list(others)
    for key, row in rows.items():
        other = others[key]
        assert (row.exact, row.units, row.verdict) == (other.exact, other.units, other.verdict)
        for name in ("p", "p_adjusted", "p_error", "p_adjusted_error", "low", "high", "relative_low", "relative_high"):
            assert_allclose(getattr(other, name), getattr(row, name), rtol=1e-9, atol=1e-12, err_msg=name)


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
@given(samples(), st.sampled_from(METRICS))
def test_other_systems_and_metrics_change_only_what_is_adjusted(sample: Sample, metric: str) -> None:
    more = replace(sample, metrics=tuple(dict.fromkeys([metric, *sample.metrics])))
    rows, others = rows_of(replace(sample, systems=("a", "b")).compare()), rows_of(more.compare())
    adjusted: dict[str, Any] = {"p_adjusted": 0.0, "p_adjusted_error": 0.0, "verdict": "undecided"}
    if sample.options["adjust"] == "max_t":  # whose intervals are simultaneous
        adjusted |= dict.fromkeys(("low", "high", "relative_low", "relative_high"), 0.0)
    for key, row in rows.items():
        one, other = (each._replace(**adjusted) for each in (row, others[key]))
        assert repr(one) == repr(other)
        assert not others[key].p_adjusted < row.p_adjusted - 1e-15


def t_size(row: exactk.Difference, alternative: str) -> float:
    """Return by what max-T orders rows of the same users: the effect size, on the side that is tested."""
    return {"two_sided": abs(row.effect), "greater": row.effect, "less": -row.effect}[alternative]


@settings(max_examples=examples(100))
@given(samples(has=("groups",), metrics=("P@6", "recall@6", "dcg@6")))
def test_adjusted_p_values_are_in_the_order_of_the_statistic(sample: Sample) -> None:
    differences = sample.compare(test="permutation", adjust="max_t").differences
    families: dict[Any, list[exactk.Difference]] = {}
    for row in [*differences, *differences.by_group]:
        if not row.reason:
            key = row.group, row.metric if sample.options["family"] == "metric" else None
            families.setdefault(key, []).append(row)
    for family in families.values():
        assert all(0 < row.p <= row.p_adjusted <= 1 for row in family)
        family.sort(key=lambda row: -t_size(row, sample.options["alternative"]))
        adjusted = [row.p_adjusted for row in family]
        ties = [
            math.isclose(*(t_size(row, sample.options["alternative"]) for row in both), rel_tol=1e-6)
            for both in pairwise(family)
        ]
        assert all(one <= other or tie for one, other, tie in zip(adjusted, adjusted[1:], ties, strict=False))


@settings(max_examples=examples(60))
@given(
    samples(sizes=(60,), has=("groups",), intervals=("t",), metrics=tuple(METRICS[:6])),
    st.sampled_from([0.5, 0.8, 0.9, 0.95]),
)
def test_simultaneous_intervals_hold_0_where_no_row_of_a_family_is_significant(
    sample: Sample, confidence: float
) -> None:
    """Of the most extreme row, step-down is single-step, to which the intervals belong; of others it may reject more."""
    differences = sample.compare(adjust="max_t", alternative="two_sided", confidence=confidence).differences
    families: dict[str, list[exactk.Difference]] = {}
    for row in differences:
        families.setdefault("" if sample.options["family"] == "all" else row.metric, []).append(row)
    for family in families.values():
        if any(row.exact for row in family):  # whose p-values are not those of the flips
            continue
        most = max(family, key=lambda row: abs(row.difference) / (row.high - row.low))
        level = float(1 - Decimal(str(confidence)))
        assert (most.low > 0 or most.high < 0) == (most.p_adjusted <= level)
        assert all(row.p_adjusted <= level for row in family if row.low > 0 or row.high < 0)


def test_simultaneous_intervals_hold_0_exactly_where_single_step_max_t_does_not_reject() -> None:
    """Also where the observed size is that of many flips, by whole numbers: sizes are compared as squares."""
    found = {True: 0, False: 0}  # ties with the quantile, by whether they are rejected
    for seed in range(150):
        rng = np.random.default_rng(seed)
        systems, users = int(rng.integers(2, 4)), int(rng.integers(2, 26))
        whole = rng.integers(0, 3, (systems, users))
        whole[:, rng.random(users) < rng.choice([0.0, 0.5])] = 1
        flips, confidence = int(rng.choice([99, 199])), float(rng.choice([0.5, 0.75, 0.875, 0.9]))
        values = dict(zip("abc", whole * rng.choice([1, 0.5, 1 / 3, 0.1, 0.7, 1e-5]), strict=False))
        if not whole.any():
            continue
        options: dict[str, Any] = {"adjust": "max_t", "permutations": flips, "confidence": confidence}
        rows = compared(values, **options).differences
        signs = np.array([signs_of(user, 0, flips) for user in range(users)])
        differences = [whole[later] - whole[earlier] for earlier, later in combinations(range(systems), 2)]

        def sizes(difference: Any, patterns: Any) -> list[Fraction]:
            """Return the squares of sums of signed numbers, divided by that of their standard deviation."""
            return [Fraction(int(one) ** 2, int((difference**2).sum()) or 1) for one in difference @ patterns]

        largest = [max(one) for one in zip(*(sizes(difference, signs) for difference in differences), strict=True)]
        for row, difference in zip(rows, differences, strict=True):
            (observed,) = sizes(difference, np.ones((users, 1), np.int64))
            p = Fraction(sum(one >= observed for one in largest) + 1, flips + 1)
            is_rejected = p <= 1 - Fraction(str(confidence))
            assert (row.low > 0 or row.high < 0) == is_rejected
            found[is_rejected] += observed in largest
    assert all(found.values())


def parts_of(sample: Sample, parts: int) -> list[Sample]:
    """Return the users in parts, a cluster in one."""

    def part_of(name: str) -> int:
        return (sample.users[name].cluster if "clusters" in sample.has else int(name[1:])) % parts

    return [
        replace(sample, users={name: user for name, user in sample.users.items() if part_of(name) == number})
        for number in range(parts)
    ]


@law
@given(samples(), st.integers(1, 4))
def test_parts_of_the_users_merge_to_the_whole(sample: Sample, parts: int) -> None:
    merged = exactk.merge([part.compare() for part in parts_of(sample, parts)])
    again = exactk.Comparison.from_json(merged.to_json())
    whole = sorted(rows_of(sample.compare()).items(), key=repr)
    assert repr(sorted(rows_of(merged).items(), key=repr)) == repr(whole)
    assert repr(sorted(rows_of(again).items(), key=repr)) == repr(whole)


@law
@given(samples(), st.integers(1, 4))
def test_blocks_of_the_users_are_the_whole(sample: Sample, parts: int) -> None:
    blocks = iter([part.inputs() for part in parts_of(sample, parts)])
    by_user: dict[str, Any] = {
        name: {key: getattr(user, name.removesuffix("s")) for key, user in sample.users.items()} for name in sample.has
    }
    in_blocks = exactk.compare(None, blocks, list(sample.metrics), **sample.options, **by_user)
    whole = sorted(rows_of(sample.compare()).items(), key=repr)
    assert repr(sorted(rows_of(in_blocks).items(), key=repr)) == repr(whole)


@law
@given(samples(), st.integers(1, 3))
def test_users_without_keys_are_their_rows(sample: Sample, parts: int) -> None:
    """The whole, the parts that are merged, and the reports; keys that are the rows' numbers are the same."""
    users = list(sample.users.values())
    truth, systems = sample.inputs()
    rows = list(truth.values())
    lists = {name: list(of_users.values()) for name, of_users in systems.items()}
    by_row: dict[str, Any] = {name: [getattr(user, name.removesuffix("s")) for user in users] for name in sample.has}
    if "clusters" in by_row:  # a cluster is in one part
        by_row["clusters"] = [number // 2 for number in range(len(users))]
    cuts = [0, *sorted(2 * (len(users) // 2 * cut // parts) for cut in range(1, parts)), len(users)]

    def compared(first: int, last: int) -> exactk.Comparison:
        return exactk.compare(
            rows[first:last],
            {name: of_users[first:last] for name, of_users in lists.items()},
            list(sample.metrics),
            **{**sample.options, **{name: of_users[first:last] for name, of_users in by_row.items()}},
            per_user=True,
        )

    whole = compared(0, len(users))
    merged = exactk.merge([compared(*cut) for cut in pairwise(cuts)])
    assert repr(sorted(rows_of(merged).items(), key=repr)) == repr(sorted(rows_of(whole).items(), key=repr))
    keyed = exactk.compare(
        dict(enumerate(rows)),
        {name: dict(enumerate(of_users)) for name, of_users in lists.items()},
        list(sample.metrics),
        **{**sample.options, **{name: dict(enumerate(of_users)) for name, of_users in by_row.items()}},
    )
    assert_same(keyed, whole)
    clusters: dict[str, Any] = {"clusters": by_row["clusters"]} if "clusters" in by_row else {}
    assert_same(exactk.compare_reports(whole.reports, **sample.options, **clusters), whole)


@law
@given(samples())
def test_the_sides_of_a_permutation_test_add_up(sample: Sample) -> None:
    """Every pattern is on some side; those of the observed size or with equal sums are on both."""
    sample = replace(sample, options=sample.options | {"test": "permutation", "adjust": "none", "permutations": 199})
    two, greater, less = (rows_of(sample.compare(alternative=one)) for one in ("two_sided", "greater", "less"))
    for key, row in two.items():
        if row.reason:
            continue
        sides = greater[key].p, less[key].p
        observed = 1 / 200 if not row.exact else 0.0  # which counts on both sides
        assert sum(sides) >= 1 - 1e-12
        assert row.p >= min(sides) - observed - 1e-12
        assert row.exact == greater[key].exact == less[key].exact
        if row.exact and "micro" not in key[1] and "of_means" not in key[1]:  # patterns come in pairs
            assert_allclose(row.p, min(1.0, 2 * min(sides)), rtol=1e-12)


@law
@given(samples(has=("weights", "clusters")))
def test_a_group_of_all_users_is_the_whole(sample: Sample) -> None:
    differences = sample.compare(groups=dict.fromkeys(sample.users, "all")).differences
    assert [repr(row._replace(group=None)) for row in differences.by_group] == list(map(repr, differences))


@law
@given(samples(has=("weights",)))
def test_users_of_one_group_leave_the_rows_of_others(sample: Sample) -> None:
    sample = replace(sample, has=sample.has | {"groups"})
    changed = sample.map(lambda user: replace(user, hits=user.hits[::-1]) if user.group == "x" else user)
    rows, others = rows_of(sample.compare()), rows_of(changed.compare())
    of_others = [(key, row) for key, row in rows.items() if key[0] in {"y", "z"}]
    assert all(repr(others[key]) == repr(row) for key, row in of_others)


def test_seeds_make_other_flips_and_other_samples() -> None:
    users = {f"u{number}": User(8, (2, number % 7, (3 * number) % 5)) for number in range(60)}
    found = {
        seed: Sample(
            users,
            {"test": "permutation", "interval": "percentile", "seed": seed, "permutations": 999, "resamples": 999},
            metrics=("recall@6",),
        ).compare()
        for seed in (0, 1, 2**32, 2**63)
    }
    rows = [comparison.differences["c", "b", "recall@6"] for comparison in found.values()]
    assert len({row.p for row in rows}) == len({row.low for row in rows}) == len(rows)
    assert not any(row.exact for row in rows)
