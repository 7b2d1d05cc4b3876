"""Claims with a margin, and intervals of differences, where few users differ or none: p-values, bounds, and what a gate says.

The numbers that are given with many digits were computed apart from exactk, by 40-digit arithmetic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exactk

pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
QUARTERS, TENTHS = 4, 10
BASE = [1, 0, 0.5, 1, 0.25, 0]


def compared(new: Any, old: Any, metric: Any = "P@4", **options: Any) -> exactk.Comparison:
    """Compare systems whose users have these precisions; the cutoff divides them."""
    cutoff = TENTHS if str(metric) == "P@10" else QUARTERS
    systems = {
        name: [
            [*range(hits), *range(100, 100 + cutoff - hits)]
            for hits in np.rint(np.multiply(values, cutoff)).astype(int)
        ]
        for name, values in (("old", old), ("new", new))
    }
    return exactk.compare([range(cutoff)] * len(new), systems, metric, baseline="old", **options)


def row(*values: Any, **options: Any) -> exactk.results.Difference:
    return compared(*values, **options).differences[0]


def status(*values: Any, **claims: Any) -> str:
    return compared(*values).check(**claims).status


# Known numbers.


@pytest.mark.parametrize(
    ("users", "difference", "low", "high"),
    [
        (6, 0.0, -0.4592581264, 0.4592581264),
        (6, 0.1, -0.4051839391, 0.5133323138),
        (1000, 0.1, 0.09594970771, 0.1033138755),
    ],
)
@pytest.mark.parametrize("options", [{}, {"interval": "percentile"}, {"interval": "bca"}, {"test": "permutation"}])
def test_intervals_of_equal_differences(users: int, difference: float, low: float, high: float, options: Any) -> None:
    options = options if users >= 20 else {**options, "interval": "t"}  # others are refused
    found = row([0.3 + difference] * users, [0.3] * users, "P@10", **options)
    assert_allclose([found.low, found.high], [low, high], rtol=1e-9)
    share = 1 - 0.025 ** (1 / users)
    ends = [(0.3 + difference) * (1 - share), (0.3 + difference) * (1 - share) + share]
    relative = [ends[0] / (0.3 * (1 - share) + share) - 1, ends[1] / (0.3 * (1 - share)) - 1]
    assert_allclose([found.relative_low, found.relative_high], relative, rtol=1e-9)


TWO_HUNDRED = [1, 0, 0.5, 1, 0] * 40


@pytest.mark.parametrize(
    ("old", "changed", "margin", "p"),
    [
        (BASE, {}, "0.1%", 0.9972516621),
        (BASE, {}, "50%", 0.1365243857),
        (TWO_HUNDRED, {}, "5%", 0.005543676996),
        (TWO_HUNDRED, {0: 0.5}, "5%", 0.009196846839),
        (TWO_HUNDRED, dict.fromkeys(range(0, 200, 25), 0.75), "10%", 1.082695106e-04),
    ],
)
def test_p_values_of_not_worse(old: list[float], changed: dict[int, float], margin: str, p: float) -> None:
    found = row([changed.get(user, value) for user, value in enumerate(old)], old, margin=margin)
    assert_allclose(found.p_not_worse, p, rtol=1e-9)


def test_six_identical_queries_show_no_margin() -> None:
    assert row(BASE, BASE, margin="0.1%").verdict == "undecided"
    (check,) = compared(BASE, BASE).check(no_worse={"P@4": "0.1%"})
    assert (check.status, check.text) == (
        "observed",
        "P@4: 'new' is identical to 'old' for all 6 users; 6 users cannot show that it is not worse by more than 0.1% (95 %): up to 39 % of all users might differ; about 6,532 identical users would",
    )


# Laws.

RELATIVE = {"0.1%": 0.001, "1%": 0.01, "5%": 0.05, "10%": 0.1}


@pytest.mark.parametrize("values", [[0.1], [0.3], [0.5, 0.5, 0, 1], [0.8]])
@pytest.mark.parametrize("margin", ["1%", "5%", "10%", 0.01, 0.05, 0.1])
def test_a_gate_holds_from_the_number_of_identical_users_on_that_it_names(values: list[float], margin: Any) -> None:
    """They are as many as would have one user in a share of them that makes a difference of the margin, with 95 %."""
    mean = float(np.mean(values))
    share = (
        margin
        if isinstance(margin, float)
        else RELATIVE[margin] * mean / (1 - RELATIVE[margin] + RELATIVE[margin] * mean)
    )
    needed = math.ceil(math.log(0.05) / math.log1p(-share))
    few = (values * 3)[:12]
    if len(values) == 1:
        text = compared(few, few, "P@10").check(no_worse={"P@10": margin}).checks[0].text
        assert text.endswith(f"; about {needed:,} identical users would")
    users = np.resize(values, 4 * math.ceil(needed / 4)) if len(values) > 1 else np.resize(values, needed)
    assert status(users, users, "P@10", no_worse={"P@10": margin}) == "holds"
    assert_allclose(row(users, users, "P@10", margin=margin).p_not_worse, (1 - share) ** len(users), rtol=1e-9)
    if len(values) == 1:
        assert status(users[1:], users[1:], "P@10", no_worse={"P@10": margin}) == "observed"


@pytest.mark.parametrize(
    "metric", ["P@4", "P@4(average=geometric)", "recall@4(average=micro)", "f1@4(average=of_means)"]
)
@pytest.mark.parametrize(
    "by_user", [{}, {"weights": [1.0, 2.0, 0.5] * 20}, {"clusters": [user // 2 for user in range(60)]}]
)
def test_identical_systems_show_what_a_bound_excludes(metric: str, by_user: Any) -> None:
    """The bounds of the interval at twice the risk are where the p-values of margins reach the level."""
    values = BASE * 10
    bounds = row(values, values, metric, confidence=0.9, **by_user)
    assert bounds.low < 0 < bounds.high
    for factor, verdict in ((0.99, "undecided"), (1.01, "not worse")):
        margin = f"{-100 * factor * bounds.relative_low!r}%"
        found = row(values, values, metric, margin=margin, **by_user)
        assert found.verdict in {verdict, "equivalent"}
        assert (found.p_not_worse <= 0.05) == (factor > 1)


@pytest.mark.parametrize("users", [1, 2, 19, 60])
@pytest.mark.parametrize("metric", ["P@4", "P@4(average=geometric)", "dcg@4", "dcg@4(average=geometric)"])
@pytest.mark.parametrize("interval", ["t", "bca"])
def test_no_interval_is_without_width(users: int, metric: str, interval: Any) -> None:
    options = {"interval": interval} if users >= 20 else {}
    for new, old in ((0.5, 0.5), (0.75, 0.25), (0.0, 1.0)):
        found = row([new] * users, [old] * users, metric, **options)
        for low, high in ((found.low, found.high), (found.relative_low, found.relative_high)):
            assert math.isnan(low) == math.isnan(high)
            assert math.isnan(low) or low < high
        if metric.startswith("dcg"):
            assert math.isnan(found.low)
        elif users > 1:
            assert -1 <= found.low <= found.difference <= found.high <= 1


def test_notes_say_what_equal_differences_mean_for_intervals() -> None:
    assert "\nall 6 users differ by the same amount" in repr(compared([0.5] * 6, [0.25] * 6).differences)
    assert "\nno interval: all differences are equal" in repr(compared([0.5] * 6, [0.25] * 6, "dcg@4").differences)
    few = compared([0.75, *BASE[1:]] * 3, BASE * 3, margin="1%").differences
    assert "so p and interval are rough, and margins are tested by wider bounds" in repr(few)
    assert "margins are tested" not in repr(compared([0.75, *BASE[1:]] * 3, BASE * 3).differences)


# The interval and the p-values of one sample.


def misses(judged: exactk.results.JudgedLists) -> Any:
    """Return the share of the list that is not relevant: lower is better."""
    return 1 - judged.hits.mean(axis=1)


MISSES = exactk.custom("misses", misses, k=QUARTERS, range=(0, 1), higher_is_better=False)
AVERAGES = [
    "P@4",
    "dcg@4",
    "P@4(average=geometric)",
    "dcg@4(average=geometric)",
    "recall@4(average=micro)",
    "f1@4(average=of_means)",
]


def drawn(seed: int, users: int, differing: float) -> tuple[list[float], list[float], dict[str, Any]]:
    """Return values of which a share is drawn anew, some with weights or in clusters of two."""
    rng = np.random.default_rng(seed)
    old = rng.integers(0, QUARTERS + 1, users)
    new = np.where(rng.random(users) < differing, rng.integers(0, QUARTERS + 1, users), old)
    by_user: list[dict[str, Any]] = [
        {},
        {"weights": rng.choice([1.0, 2.0], users).tolist()},
        {"clusters": np.arange(users) // 2},
    ]
    return (new / QUARTERS).tolist(), (old / QUARTERS).tolist(), by_user[seed % 3]


@pytest.mark.parametrize("metric", AVERAGES)
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_where_many_users_differ_p_values_and_intervals_say_the_same(metric: str, confidence: float) -> None:
    level = 1 - confidence
    for seed in range(12):
        new, old, by_user = drawn(seed, 100, 0.8)
        found = row(new, old, metric, confidence=confidence, **by_user)
        assert (found.p <= level) == (found.low > 0 or found.high < 0)
        bounds = row(new, old, metric, confidence=2 * confidence - 1, **by_user)
        for low, unit in ((bounds.low, ""), (100 * bounds.relative_low, "%")):
            for factor in (1 - 1e-6, 1 + 1e-6):
                margin = -low * factor
                if margin > 0:
                    tested = row(new, old, metric, margin=f"{margin!r}{unit}", confidence=confidence, **by_user)
                    assert (tested.p_not_worse <= level) == (factor > 1)


@pytest.mark.parametrize("metric", [*AVERAGES, MISSES])
def test_a_larger_margin_has_a_smaller_p_value_and_none_is_below_that_of_t(metric: Any) -> None:
    """If a margin is shown, the bound of the t interval is within it; the contrary need not be where few users differ."""
    for seed in range(12):
        new, old, by_user = drawn(seed, 30, (0.05, 0.3)[seed % 2])
        for unit, margins in (("", (0.001, 0.01, 0.1, 0.5)), ("%", (0.1, 1, 10, 50))):
            rows = [row(new, old, metric, margin=f"{margin}{unit}", **by_user) for margin in margins]
            p_values = [one.p_not_worse for one in rows]
            assert p_values == sorted(p_values, reverse=True)
            assert all(one.p_equivalent >= one.p_not_worse for one in rows)
            for margin, p in zip(margins, p_values, strict=True):
                if not 1e-9 < p < 0.25 or rows[0].detectable == 0:
                    continue
                bounds = row(new, old, metric, confidence=1 - 2 * p, **by_user)
                low = {"": bounds.low, "%": 100 * bounds.relative_low}[unit]
                if metric is MISSES:
                    low = -{"": bounds.high, "%": 100 * bounds.relative_high}[unit]
                assert math.isnan(low) or low >= -margin - 1e-6 * margin


def test_lower_values_are_better_as_higher_ones_are() -> None:
    for seed in range(10):
        new, old, by_user = drawn(seed, 40, 0.1)
        one, other = (row(new, old, metric, margin=0.05, **by_user) for metric in ("P@4", MISSES))
        assert_allclose([other.p_not_worse, other.p_equivalent], [one.p_not_worse, one.p_equivalent], rtol=1e-9)
        gate, mirrored = (
            compared(new, old, metric, **by_user).check(no_worse={name: 0.05})
            for metric, name in (("P@4", "P@4"), (MISSES, "misses@4"))
        )
        assert gate.status == mirrored.status


@pytest.mark.parametrize(
    ("new", "old", "metric", "weights", "largest"),
    [
        ([0, 0, 0.25, 0], [0, 0, 0.5, 0], "dcg@4(average=geometric)", [1, 1, 0.25, 0.25], 1e-9),
        ([0, 0, 1, 0], [0, 0, 0.25, 0], "dcg@4(average=geometric)", [1, 1, 0.25, 0.25], 4e-6),
        ([0, 0, 1, 0], [0, 0, 0.25, 0], "P@4(average=geometric)", [1, 1, 0.25, 0.25], 4e-6),
        ([0.5, 0, 1], [0, 0, 0], "dcg@4(average=geometric)", [1, 1, 1], 1e-5),
        ([0.25, 1], [0.5, 0.5], "P@4(average=geometric)", [1, 1], 0.5),
    ],
)
def test_p_falls_beyond_the_largest_difference_of_logarithms_on_a_line(
    new: Any, old: Any, metric: str, weights: Any, largest: float
) -> None:
    """All logarithms of such systems are on a line, on which no difference is as large as the margin.

    Its contrast has no variance. A p-value of sign flips alone, 1/4 of four users, was above those of smaller margins.
    """
    margins = [min(largest * factor, 0.9) for factor in (0.01, 0.1, 0.5, 0.9, 1, 1.5, 10, 1000)] + [0.000134, 0.1]
    p_values = [row(new, old, metric, weights=weights, margin=margin).p_not_worse for margin in sorted(margins)]
    assert p_values == sorted(p_values, reverse=True)


def test_margins_that_no_difference_exceeds_are_shown_by_any_sample() -> None:
    """Two hits, or -2 correlations, are the most that users may differ by."""
    found = row([0.25] * 3, [0.5] * 3, "num_hits@4", margin=4)
    assert (found.verdict, found.p_not_worse) == ("equivalent", float(np.finfo(float).tiny))
    assert status([0.25] * 3, [0.5] * 3, "num_hits@4", better={"num_hits@4": 4.5}) == "fails"


# Gates.

CLAIMS: dict[str, Any] = {
    "holds": ([*BASE] * 1200, [*BASE] * 1200),
    "observed": (BASE, BASE),
    "undecided": ([0, 0, 0.5, 1, 0.25, 0], BASE),
    "fails": ([0] * 60, [1] * 60),
}
"""Values of which no more than 0.1 % is lost, or may be."""


def test_the_status_of_a_gate_is_that_of_the_worst_claim() -> None:
    margin = {"P@4": "0.1%"}
    gates = {status: compared(*values).check(no_worse=margin) for status, values in CLAIMS.items()}
    assert [gate.status for gate in gates.values()] == list(gates)
    assert [bool(gate) for gate in gates.values()] == [True, True, False, False]
    whole = exactk.results.Gate(check for gate in gates.values() for check in gate)
    assert (whole.status, bool(whole), len(whole.failures)) == ("fails", False, 2)
    lines = repr(whole).splitlines()
    assert lines[0] == "<Gate fails: 2 of 4 pass: 1 shown, 1 observed>"
    assert [line.partition(":")[0] for line in lines[1:-1]] == ["fails", "undecided", "observed", "holds"]
    first_two = exactk.results.Gate([*gates["holds"], *gates["observed"]])
    assert repr(first_two).startswith("<Gate observed: 2 of 2 pass: 1 shown, 1 observed>")
    report = whole.to_junit()
    assert 'tests="4" failures="2" errors="0"' in report
    assert report.count("<system-out>") == 2


@pytest.mark.parametrize(
    ("new", "old", "metric", "claims", "text"),
    [
        (BASE * 1200, BASE * 1200, "P@4", {"no_worse": "0.1%"}, "is identical to 'old' for all 7,200 users, so it is not worse by more than 0.1% (95 %)"),
        (BASE, BASE, "P@4", {"equivalent": 0.01}, "is identical to 'old' for all 6 users; 6 users cannot show that they do not differ by more than 0.01 (95 %): up to 39 % of all users might differ; about 299 identical users would"),
        (BASE, BASE, "dcg@4", {"no_worse": "1%"}, "is identical to 'old' for all 6 users; no number of identical users bounds a metric without an upper bound"),
        ([1], [1], "P@4", {"no_worse": "1%"}, "is identical to 'old' for 1 user; 1 user cannot show that it is not worse by more than 1% (95 %): up to 95 % of all users might differ; about 299 identical users would"),
        ([0.75, 0.25, *BASE[2:]] + BASE * 9, [0.5, 0, *BASE[2:]] + BASE * 9, "P@4", {"no_worse": "1%"}, "is better for 2 and worse for none of 60 users; 60 users cannot show that it is not worse by more than 1% (95 %); about 214 users would, if the difference stays as it is"),
        ([0.75, *BASE[1:]] + BASE * 9, BASE * 10, "P@4", {"no_worse": "2.5%"}, "differs from 'old' by -2.4 % to +0.64 % (one-sided bounds at 95 %, 60 users); 1 of 60 users differs, too few to show that it is not worse by more than 2.5%; about 375 users would, if the difference stays as it is"),
    ],
)  # fmt: skip
def test_what_gates_say_where_few_users_differ(new: Any, old: Any, metric: str, claims: Any, text: str) -> None:
    (check,) = compared(new, old, metric).check(
        groups=None, **{claim: {metric: margin} for claim, margin in claims.items()}
    )
    assert check.text == f"{metric}: 'new' {text}"


def test_clusters_are_the_units_that_cannot_show_it() -> None:
    (check,) = compared(BASE, BASE, clusters=[0, 0, 1, 1, 2, 2]).check(no_worse={"P@4": "1%"})
    assert "for all 6 users; 3 clusters cannot show" in check.text
    assert "up to 63 % of all clusters might differ; about 649 identical clusters would" in check.text


def test_a_user_who_gains_never_ends_a_pass() -> None:
    for margin in ("0.5%", "1%", 0.02, 0.1):
        for users in (5, 30, 60, 300, 400):
            old = (BASE * users)[:users]
            passed = status(old, old, no_worse={"P@4": margin})
            assert passed in {"holds", "observed"}
            for gain in (0.25, 1.0):
                for gains in (1, 2, 10):
                    more = status([*old, *[gain] * gains], [*old, *[0.0] * gains], no_worse={"P@4": margin})
                    assert more in {"holds", "observed"}


def test_an_f_of_means_is_identical_if_precision_and_recall_are() -> None:
    """Here they are exchanged, so that F is the same though no user is."""
    metric = "f1@4(average=of_means)"
    truth = [[0, 1, 2, 3]] * 6
    lists = {"old": [[0, 9, 8, 7]] * 6, "same": [[0, 9, 8, 7]] * 6, "new": [[1, 9, 8, 7]] * 5 + [[0, 1, 8, 7]]}
    gate = exactk.compare(truth, lists, metric, baseline="old").check(no_worse={metric: "1%"})
    assert [check.status for check in gate] == ["observed", "undecided"]
