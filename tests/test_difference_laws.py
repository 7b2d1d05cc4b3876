"""What holds of differences whatever the data: the same bits for users in parts, in any order, and beside others.

What an oracle computes from the definitions, such as the sides of a test, is compared in test_difference_oracle.py and
test_permutation_oracle.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from numpy.testing import assert_allclose

import exactk
from permutation_oracle import signs_of
from strategies import examples
from test_permutation_oracle import compared

pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")

CUTOFF = 6
SYSTEMS = ("a", "b", "c")
METRICS = [
    "P@6", "recall@6", "dcg@6", "recall@6(average=micro)", "f1@6(average=of_means)", "fbeta@6(average=of_means,beta=2)",
    "dcg@6(average=geometric)", "recall@6(average=geometric)",
]  # fmt: skip
"""Metrics whose differences are sums over users."""


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

    @property
    def by_user(self) -> dict[str, dict[str, Any]]:
        """The weights, groups and clusters that are used."""
        return {
            name: {key: getattr(user, name.removesuffix("s")) for key, user in self.users.items()} for name in self.has
        }

    def compare(self, **more: Any) -> exactk.Comparison:
        options: dict[str, Any] = {**self.options, **self.by_user, **more}
        return exactk.compare(*self.inputs(), list(self.metrics), per_user=True, **options)

    def of(self, names: Iterable[str]) -> Sample:
        """Return the sample of some users."""
        return replace(self, users={name: self.users[name] for name in names})

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
    used = draw(st.sets(st.sampled_from(has)))
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


@st.composite
def samples_of_draws(draw: st.DrawFn, *, has: tuple[str, ...] = ("weights", "groups", "clusters")) -> Sample:
    """Draw permutation tests and bootstrap intervals of users of whom all differ, most or few; of many, flips are random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size, spread = draw(st.sampled_from([3, 12, 30, 60])), draw(st.sampled_from([0.1, 0.5, 1.0]))
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
    used = draw(st.sets(st.sampled_from(has)))
    units = len({user.cluster for user in users.values()}) if "clusters" in used else size
    interval = draw(st.sampled_from(["t", "percentile", "bca"])) if min(units, size) > 28 else "t"
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
    chosen = tuple(draw(st.permutations(METRICS))[: draw(st.integers(1, 3))])
    return Sample(users, options, frozenset(used), chosen)


law = settings(max_examples=examples(150))


def any_samples(**options: Any) -> st.SearchStrategy[Sample]:
    """Draw samples whose p-values and intervals have formulas, or are made of random numbers."""
    return st.one_of(samples(**options), samples_of_draws(**options))


def is_of_draws(sample: Sample) -> bool:
    return bool(sample.options["test"] == "permutation" or sample.options.get("interval", "t") != "t")


def rows_of(comparison: exactk.Comparison) -> dict[tuple[Any, ...], exactk.results.Difference]:
    differences = comparison.differences
    return {(row.group, row.metric, row.system, row.baseline): row for row in [*differences, *differences.by_group]}


def in_any_order(comparison: exactk.Comparison) -> str:
    """Return all rows as text, whatever their order."""
    return repr(sorted(rows_of(comparison).items(), key=repr))


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
@given(any_samples(), st.integers(-8, 8))
def test_the_unit_of_values_and_weights_does_not_matter(sample: Sample, power: int) -> None:
    of_dcg = replace(sample, metrics=("dcg@6",), options=sample.options | {"margin": None})
    scaled = of_dcg.map(
        lambda user: replace(user, grade=user.grade * 2.0**power, weight=user.weight * 2.0 ** (2 * power))
    )
    in_units = ["value", "baseline_value", "difference", "low", "high", "detectable"]
    if sample.options["test"] == "permutation":
        in_units.append("statistic")  # the difference
    one, other = of_dcg.compare(), scaled.compare()
    assert_same(one, other, but=tuple(in_units))
    for key, row in rows_of(one).items():
        of_scaled = rows_of(other)[key]
        assert [getattr(row, name) * 2.0**power for name in in_units] == pytest.approx(
            [getattr(of_scaled, name) for name in in_units], rel=1e-14, abs=0, nan_ok=True
        )


@law
@given(any_samples(), st.randoms(use_true_random=False))
def test_the_order_of_users_does_not_matter(sample: Sample, random: Any) -> None:
    names = random.sample(list(sample.users), len(sample.users))
    first = list(dict.fromkeys(user.group for user in sample.users.values()))  # groups are shown as they first occur
    shuffled = sample.of(sorted(names, key=lambda name: first.index(sample.users[name].group)))
    assert in_any_order(shuffled.compare()) == in_any_order(sample.compare())


@law
@given(any_samples(), st.sampled_from(METRICS))
def test_other_systems_and_metrics_change_only_what_is_adjusted(sample: Sample, metric: str) -> None:
    more = replace(sample, metrics=tuple(dict.fromkeys([metric, *sample.metrics])))
    rows, others = rows_of(replace(sample, systems=("a", "b")).compare()), rows_of(more.compare())
    assert len(rows) * 3 * len(more.metrics) == len(others) * len(sample.metrics)
    adjusted: dict[str, Any] = {"p_adjusted": 0.0, "p_adjusted_error": 0.0, "verdict": "undecided"}
    if sample.options["adjust"] == "max_t":  # whose intervals are simultaneous
        adjusted |= dict.fromkeys(("low", "high", "relative_low", "relative_high"), 0.0)
    for key, row in rows.items():
        one, other = (each._replace(**adjusted) for each in (row, others[key]))
        assert repr(one) == repr(other)
        is_less = others[key].p_adjusted < row.p_adjusted - 1e-15
        assert not is_less or sample.options["adjust"] == "benjamini_hochberg"


# The logarithms of two distinct users lie on a line, and the quantile of few weighted users is 4e8.
ON_A_LINE = Sample(
    {"u0": User(1, (0, 0, 0), 1.0, 0.1), "u1": User(3, (0, 0, 3), 2.0, 3.0), "u2": User(3, (0, 0, 3), 2.0, 0.1)},
    {"test": "t", "alternative": "two_sided", "adjust": "holm", "family": "metric", "margin": None},
    frozenset({"weights"}),
)

# All users of one system have the same value, whose logarithm is rounded.
ONE_CONSTANT = replace(
    ON_A_LINE,
    users={
        "u0": User(1, (0, 0, 0), 1.0, 3.0),
        "u1": User(1, (0, 0, 0), 1.0, 0.1),
        "u2": User(2, (0, 0, 2), 1.0, 0.1),
    },
)

# The gap is certain then, and the baseline too.
ALL_CONSTANT = replace(
    ON_A_LINE,
    users={
        "u0": User(3, (0, 3, 0), 1.0, 0.25, "x", 0),
        "u1": User(3, (0, 3, 0), 1.0, 3.0, "x", 1),
        "u2": User(3, (0, 3, 0), 1.0, 3.0, "x", 1),
    },
    has=frozenset({"weights", "clusters"}),
)


@law
@given(samples(tests=("t",), least=2), st.integers(-8, 8))
@example(ON_A_LINE, 1)
@example(ONE_CONSTANT, 2)
@example(ALL_CONSTANT, 1)
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


def parts_of(sample: Sample, parts: int) -> list[Sample]:
    """Return the users in parts, a cluster in one."""

    def part_of(name: str) -> int:
        return (sample.users[name].cluster if "clusters" in sample.has else int(name[1:])) % parts

    return [sample.of(name for name in sample.users if part_of(name) == number) for number in range(parts)]


@law
@given(any_samples(), st.integers(1, 4))
def test_parts_and_blocks_of_the_users_are_the_whole(sample: Sample, parts: int) -> None:
    expected = in_any_order(sample.compare())
    of_parts = [part.compare() for part in parts_of(sample, parts)]
    merged = exactk.merge(of_parts)
    assert in_any_order(merged) == expected
    assert in_any_order(exactk.Comparison.from_json(merged.to_json())) == expected
    if sample.options["test"] != "wilcoxon" and not is_of_draws(sample):  # which need users' values; states have none
        assert in_any_order(exactk.merge([one.state for one in of_parts])) == expected
    blocks = iter([part.inputs() for part in parts_of(sample, parts)])
    options: dict[str, Any] = {**sample.options, **sample.by_user}
    assert in_any_order(exactk.compare(None, blocks, list(sample.metrics), per_user=True, **options)) == expected


@law
@given(samples_of_draws(), st.integers(1, 3))
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
    assert in_any_order(merged) == in_any_order(whole)
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
@given(samples(tests=("t",), has=("groups",)))
def test_weights_of_1_and_clusters_of_one_are_none(sample: Sample) -> None:
    plain = sample.compare()
    clusters = {name: number for number, name in enumerate(sample.users)}
    assert_same(plain, sample.compare(weights=dict.fromkeys(sample.users, 1.0)))
    assert_same(plain, sample.compare(clusters=clusters))
    assert_same(plain, sample.compare(weights=dict.fromkeys(sample.users, 4.0), clusters=clusters))


@law
@given(any_samples(has=("weights", "clusters")))
def test_a_group_of_all_users_is_the_whole(sample: Sample) -> None:
    differences = sample.compare(groups=dict.fromkeys(sample.users, "all")).differences
    assert [repr(row._replace(group=None)) for row in differences.by_group] == list(map(repr, differences))
    assert all(map(math.isnan, differences.heterogeneity.values()))


@law
@given(any_samples(has=("weights", "groups")), st.tuples(*[st.integers(0, CUTOFF)] * 3))
def test_users_of_one_group_leave_the_rows_of_others(sample: Sample, hits: tuple[int, int, int]) -> None:
    sample = replace(sample, has=sample.has | {"groups"})

    def change(user: User) -> User:
        if user.group != "x":
            return user
        return replace(user, hits=(min(hits[0], user.relevant), user.hits[2], user.hits[1]))

    rows, others = rows_of(sample.compare()), rows_of(sample.map(change).compare())
    of_others = [(key, row) for key, row in rows.items() if key[0] in {"y", "z"}]
    assert all(repr(others[key]) == repr(row) for key, row in of_others)


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
