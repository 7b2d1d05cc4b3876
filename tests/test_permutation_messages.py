"""What permutation tests say of their random sign flips: errors of p-values, captions, warnings and hints."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exactk
from exactk._inference.significance import PValue, adjust, errors_of_adjusted
from exactk._report.comparison_options import ComparisonOptions

TRUTH: Any = [{0: 1.0, 1: 2.0, 2: 3.0}] * 60
RNG = np.random.default_rng(1)
SYSTEMS: dict[str, Any] = {name: [RNG.permutation(9)[:5].tolist() for _ in TRUTH] for name in "abc"}
FEW: dict[str, Any] = {**SYSTEMS, "d": [[3], *SYSTEMS["a"][1:7], *SYSTEMS["c"][7:9], *SYSTEMS["a"][9:]]}
"""System d differs from a for at most 3 users."""


def compared(*systems: str, metrics: Any = "recall@5", **options: Any) -> exactk.Comparison:
    named = {name: FEW[name] for name in systems or SYSTEMS}
    how: dict[str, Any] = {"test": "permutation", "permutations": 199, **options}
    return exactk.compare(TRUTH, named, metrics, **how)


def differences(*systems: str, **options: Any) -> exactk.results.Differences:
    """Return differences without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        return compared(*systems, **options).differences


def caption(found: exactk.results.Differences) -> str:
    return repr(found).splitlines()[1 + len(found)]


# The error of an adjusted p-value.


@pytest.mark.parametrize(
    ("method", "p_values", "errors", "expected"),
    [
        ("none", [0.01, 0.5], [0.001, 0.0], [0.001, 0.0]),
        ("bonferroni", [0.01, 0.02, 0.25], [0.001, 0.0, 0.02], [0.003, 0.0, 0.06]),
        ("holm", [0.02, 0.01, 0.5], [0.002, 0.001, 0.005], [0.004, 0.003, 0.005]),
        ("holm", [0.03, 0.02], [0.0, 0.002], [0.004, 0.004]),  # both are twice 0.02
        ("holm", [0.03, 0.02], [0.003, 0.0], [0.0, 0.0]),
        ("holm", [0.02, math.nan, 0.02], [0.0, 0.0, 0.002], [0.004, 0.0, 0.004]),
        ("benjamini_hochberg", [0.01, 0.5], [0.001, 0.005], [0.002, 0.005]),
        ("benjamini_hochberg", [0.03, 0.031], [0.003, 0.0], [0.0, 0.0]),  # both are 0.031
        ("benjamini_hochberg", [0.03, 0.031], [0.0, 0.003], [0.003, 0.003]),
        ("holm", [0.6, 0.9, 0.7], [0.006, 0.0, 0.007], [0.01, 0.0, 0.01]),  # all are 1
    ],
)
def test_the_error_is_multiplied_as_the_p_value_is(
    method: str, p_values: list[float], errors: list[float], expected: list[float]
) -> None:
    family = map(PValue, p_values, errors, adjust(p_values, method))
    assert_allclose(errors_of_adjusted(list(family), method, 999), expected, rtol=1e-12)


def test_max_t_has_the_error_of_random_flips() -> None:
    family = [PValue(0.01, 0.0, 0.1), PValue(0.3, 0.02, 0.5), PValue(math.nan, 0.0, math.nan), PValue(1.0, 0.0, 1.0)]
    assert errors_of_adjusted(family, "max_t", 900) == [pytest.approx(0.01), pytest.approx(0.5 / 30), 0.0, 0.0]
    assert errors_of_adjusted([PValue(0.01, 0.0, 0.01), family[2]], "max_t", 900) == [0.0, 0.0]
    assert errors_of_adjusted([PValue(0.01, 0.002, 0.01)], "max_t", 900) == [0.002]


@pytest.mark.parametrize("adjustment", ["max_t", "holm", "none"])
def test_other_seeds_differ_by_the_error(adjustment: Any) -> None:
    """Also where p is exact, but adjusted by random flips."""
    runs = [differences("a", "b", "d", adjust=adjustment, seed=seed) for seed in range(60)]
    for rows in zip(*runs, strict=True):
        p_values = [row.p_adjusted for row in rows]
        error = float(np.mean([row.p_adjusted_error for row in rows]))
        if max(p_values) < 1:
            assert_allclose(np.std(p_values), error, rtol=0.35)
    assert any(rows[0].exact and rows[0].p_adjusted_error for rows in zip(*runs, strict=True)) == (
        adjustment == "max_t"
    )


def test_tables_and_documents_have_the_error() -> None:
    comparison = compared(adjust="max_t")
    columns = list(exactk.results.Difference._fields)
    assert columns[columns.index("p_error") + 1] == "p_adjusted_error"
    frame = comparison.differences.to_pandas()
    assert frame["p_adjusted_error"].tolist() == [row.p_adjusted_error for row in comparison.differences]
    assert "p_adjusted_error" in comparison.differences.to_csv().splitlines()[0]
    again = exactk.Comparison.from_json(comparison.to_json())
    assert again.differences == comparison.differences


# Captions.


def test_the_caption_says_which_p_values_are_exact() -> None:
    assert caption(differences("a", "d")) == (
        "exact permutation test; no adjustment: one comparison per metric; 95 % intervals"
    )
    assert caption(differences("a", "b", alternative="less", baseline="a")) == (
        "permutation test against a, one-sided (less), 199 random sign flips; "
        "no adjustment: one comparison per metric; 95 % intervals"
    )
    some = differences("a", "b", "d", adjust="max_t")
    assert [row.exact for row in some] == [False, True, False]
    assert caption(some) == (
        "permutation test, 199 random sign flips (exact for 1 of 3 differences); "
        "max-T (Westfall-Young) of 199 random sign flips over 3 comparisons per metric; "
        "simultaneous 95 % intervals by random sign flips"
    )
    assert caption(some[1:2]).startswith(
        "exact permutation test; max-T (Westfall-Young) of 199 random sign flips over 3 "
    )
    assert caption(some[:1]).startswith("permutation test, 199 random sign flips; max-T (Westfall-Young) of 199 ")


def test_a_caption_without_p_values_names_the_test_alone() -> None:
    found = differences("a", "b", metrics="recall@5", clusters=[7] * 60)
    assert found[0].reason
    assert caption(found).startswith("permutation test; no adjustment")
    assert repr(found[:0]).splitlines()[1].startswith("permutation test; no adjustment")


def test_intervals_of_one_pair_are_not_simultaneous() -> None:
    one = differences("a", "b", adjust="max_t")
    assert caption(one).endswith("no adjustment: one comparison per metric; 95 % intervals by random sign flips")
    assert one[0].high - one[0].low != differences("a", "b")[0].high - differences("a", "b")[0].low
    both = differences("a", "b", metrics=["recall@5", "ndcg@5"], adjust="max_t", family="all")
    assert caption(both).endswith("over 2 comparisons; simultaneous 95 % intervals by random sign flips")
    assert caption(differences("a", "b", adjust="max_t", interval="bca")).endswith(
        "; 95 % BCa bootstrap intervals of 9,999 resamples"
    )


def test_other_tables_say_how_they_are_tested() -> None:
    comparison = compared(adjust="max_t", permutations=999)
    text = "permutation test, 999 random sign flips; max-T (Westfall-Young) of 999 random sign flips over 3 comparisons per metric; level 0.05"
    assert repr(comparison.ranks("recall@5")).splitlines()[-1] == text
    assert f"({text}; 60 users, matched by row)" in comparison.to_markdown()


def test_a_system_that_has_no_rank_is_named() -> None:
    ranks = compared(adjust="max_t", permutations=999).ranks("recall@5")
    with pytest.raises(KeyError) as caught:
        _ = ranks["A"]
    assert caught.value.args == ("'A' is not among 'a', 'b', 'c'; did you mean 'a'?",)
    number: Any = 3
    with pytest.raises(KeyError) as caught:
        _ = ranks[number]
    assert caught.value.args == ("3 is not among 'a', 'b', 'c'",)
    assert ranks.get("z") is None
    assert "z" not in ranks


# Warnings.


def near_the_level(*systems: str, row: int = 0, **options: Any) -> exactk.Comparison:
    """Return a comparison at a confidence of 1 - p of one of its rows."""
    p = differences(*systems, **options)[row].p_adjusted
    assert p <= 0.5
    return compared(*systems, **options, confidence=1 - p)


def message_of(comparison: exactk.Comparison) -> str:
    """Return the warning of flips."""
    with pytest.warns(exactk.EvaluationWarning) as caught:
        _ = comparison.differences
    (message,) = (str(one.message) for one in caught)
    return message


def test_more_flips_are_advised_where_they_may_decide() -> None:
    comparison = near_the_level("a", "c", permutations=999)
    message = message_of(comparison)
    (row,) = comparison.differences
    p = f"p = {row.p:.4f}, standard error {row.p_error:.4f}"
    assert message == (
        f"recall@5 of c against a: {p}, may be on either side of {row.p:g}; permutations=9999 has a smaller error"
    )
    assert f"more flips may decide: recall@5 of c against a, {p}" in repr(comparison.differences)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ = comparison.differences  # once
        repr(compared("a", "d").differences)  # an exact p-value has no error


def test_an_adjusted_p_value_is_named_so() -> None:
    comparison = near_the_level("a", "b", "c", row=1, adjust="max_t", permutations=999)
    message = message_of(comparison)
    p = comparison.differences[1].p_adjusted
    error = math.sqrt(p * (1 - p) / 999)
    assert message.startswith(f"recall@5 of c against a: adjusted p = {p:.3f}, standard error {error:.3f}, may be on ")


@pytest.mark.parametrize(
    ("permutations", "more"),
    [
        (99, 999),
        (200, 1_999),
        (123, 1_999),
        (999, 9_999),
        (9_999, 99_999),
        (999_999, 9_999_999),
        (1_000_000, 9_999_999),
        (9_999_998, 9_999_999),
        (9_999_999, None),
        (10_000_000, None),
    ],
)
def test_the_number_of_flips_that_is_advised_is_round_and_valid(permutations: int, more: int | None) -> None:
    options = ComparisonOptions(test="permutation", permutations=permutations)
    assert options.more_permutations == more
    if more is not None:
        assert ComparisonOptions(test="permutation", permutations=more).permutations > permutations


def test_nothing_is_advised_beyond_the_most_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ComparisonOptions, "more_permutations", None)
    assert re.search(r"may be on either side of 0\.\d+$", message_of(near_the_level("a", "c")))


def test_the_smallest_p_that_flips_can_give_is_named() -> None:
    worse = [[8, 7, 6, 5, 0]] * 60
    systems: dict[str, Any] = {"a": SYSTEMS["a"], "worse": worse}
    for adjustment in ("holm", "max_t"):
        how: dict[str, Any] = {"test": "permutation", "permutations": 99, "confidence": 0.985, "adjust": adjustment}
        message = message_of(exactk.compare(TRUTH, {**systems, "b": SYSTEMS["b"]}, "ndcg@5", **how))
        assert "; the smallest p that 99 flips can give is 0.01; permutations=999 has a smaller error" in message
    assert "smallest" not in message_of(near_the_level("a", "c"))


class User:
    """A caller with a cached property of its own."""

    def __init__(self, comparison: exactk.Comparison) -> None:
        self.comparison = comparison

    @cached_property
    def differences(self) -> exactk.results.Differences:
        return self.comparison.differences


ROUTES: dict[str, Callable[[exactk.Comparison], object]] = {
    "differences": lambda one: one.differences,
    "ranks": lambda one: one.ranks("recall@5"),
    "Markdown": lambda one: one.to_markdown(),
    "LaTeX": lambda one: one.to_latex(),
}


@pytest.mark.parametrize("route", ROUTES)
def test_the_warning_points_to_the_line_of_the_caller(route: str) -> None:
    comparison = near_the_level("a", "c")
    with pytest.warns(exactk.EvaluationWarning) as caught:
        ROUTES[route](comparison)
    (warning,) = caught
    assert (warning.filename, warning.lineno) == (__file__, ROUTES[route].__code__.co_firstlineno)


def test_the_warning_points_into_the_cached_property_of_a_caller() -> None:
    with pytest.warns(exactk.EvaluationWarning) as caught:
        _ = User(near_the_level("a", "c")).differences
    (warning,) = caught
    code = User.__dict__["differences"].func.__code__
    assert (warning.filename, warning.lineno) == (__file__, code.co_firstlineno + 2)  # after its decorator


def test_what_says_no_p_value_warns_of_none() -> None:
    comparison = near_the_level("a", "c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        repr(comparison)
        comparison.to_json()
        comparison.best("recall@5")


# Choices.


@pytest.mark.parametrize(
    ("option", "name", "choice"),
    [
        *(("test", name, "permutation") for name in ("randomization", "Randomisation", "sign_flip", "sign-flips", "fisher")),
        *(("test", name, "t") for name in ("ttest", "t-test", "t_test", "student", "paired_t")),
        ("test", "signed-rank", "wilcoxon"),
        ("test", "permutations", "permutation"),
        ("test", "bh", ""),
        ("interval", "bootstrap", "bca"),
        ("interval", "normal", "t"),
        ("interval", "BCa", "bca"),
        ("interval", "fisher", ""),
        ("alternative", "larger", "greater"),
        ("alternative", "two-sided", "two_sided"),
        *(("adjust", name, "max_t") for name in ("maxt", "max-T", "westfall_young", "Westfall-Young")),
        ("adjust", "bonf", "bonferroni"),
        ("adjust", "fdr", "benjamini_hochberg"),
        ("adjust", "student", ""),
    ],
)  # fmt: skip
def test_a_choice_by_another_name_is_one_of_its_option(option: str, name: str, choice: str) -> None:
    options: dict[str, Any] = {option: name}
    with pytest.raises(exactk.InputError) as caught:
        ComparisonOptions(**options)
    hint = f"found {name!r}; did you mean {choice!r}?" if choice else f"found {name!r}"
    assert str(caught.value).endswith(hint)


@pytest.mark.parametrize(("option", "hint"), [("adjust", "; adjust='none'"), ("test", ""), ("interval", "")])
def test_none_is_a_choice_by_its_name(option: str, hint: str) -> None:
    options: dict[str, Any] = {option: None}
    with pytest.raises(exactk.InputTypeError) as caught:
        ComparisonOptions(**options)
    assert str(caught.value).endswith(f", found None{hint}")


# Differences that come from rounding.


@pytest.mark.parametrize("systems", [("x", "y"), ("y", "x")])
def test_a_difference_that_comes_from_rounding_is_printed_as_0(systems: tuple[str, str]) -> None:
    """0.2 * 0.9 * 0.5 is 0.3 * 0.6 * 0.5, but the sums of their logarithms differ."""
    hits = {"x": [2, 9, 5] * 10, "y": [3, 6, 5] * 10}
    lists = {name: [[*range(count), *range(100, 110 - count)] for count in hits[name]] for name in systems}
    found = exactk.compare([list(range(10))] * 30, lists, "P@10(average=geometric)").differences
    assert 0 < abs(found[0].relative) < 1e-15
    cells = re.split("  +", repr(found).splitlines()[1])
    assert (cells[5], cells[7], cells[9]) == ("+0.0000", "+0.0 %", "0.000")
