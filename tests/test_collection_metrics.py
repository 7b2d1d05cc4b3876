"""Coverage, Gini index, entropy and personalization of tallies, by hand; test_collection_laws.py has their definitions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from exactk._report.statistics import collection_value
from exactk.reference.all_lists import COLLECTION_METRICS
from tallies import Lists, tally_of

FIELDS: dict[str, list[str]] = {
    "gini_over": ["items", "items_less_one"],
    "gini_items": ["catalogue", "recommended"],
    "entropy_base": ["2", "e"],
    "entropy_over": ["one", "log_items", "distinct_items"],
    "list_similarity": ["cosine", "overlap"],
}
RULES = {name: choices[0] for name, choices in FIELDS.items()}
# The lists of five users, of whom one has a short list; items 1 to 3 of 5 occur in train.
LISTS: Lists = [[3, 4], [2, 4], [2, 3, 5], [1], [1, 2]]


def value(metric: str, lists: Lists, cutoff: int | None, size: int, **rules: str) -> float | None:
    return collection_value(metric, tally_of(lists, (cutoff,)), 0, size, {**RULES, **rules})


def is_nan(number: float | None) -> bool:
    return number is not None and math.isnan(number)


@pytest.mark.parametrize(
    ("metric", "rules", "expected"),
    [
        ("coverage", {}, 4 / 5),
        ("num_items", {}, 4),
        ("gini", {}, float(Fraction(-4 * 0 - 2 * 2 + 0 * 2 + 2 * 2 + 4 * 3, 5 * 9))),
        ("gini", {"gini_over": "items_less_one"}, 12 / 36),
        ("gini", {"gini_items": "recommended", "gini_over": "items_less_one"}, 3 / 27),  # Evidently
        ("entropy", {}, 1.9749),  # recommenders
        ("entropy", {"entropy_base": "e", "entropy_over": "distinct_items"}, 1.9749 * math.log(2) / 4),  # RecBole
        ("entropy", {"entropy_over": "log_items"}, 1.9749 / math.log2(5)),
    ],
)  # fmt: skip
def test_values_by_hand(metric: str, rules: dict[str, str], expected: float) -> None:
    assert value(metric, LISTS, 2, 5, **rules) == pytest.approx(expected, abs=5e-5)


def test_cosines_by_hand() -> None:
    """At cutoff 2: the lists 34, 24, 23, 1, 12 share 1, 1, 0, 0 | 1, 0, 1 | 0, 1 | 1 items."""
    expected = 1 - (1 / 2 + 1 / 2 + 1 / 2 + 1 / 2 + 1 / 2 + 1 / math.sqrt(2)) / 10
    assert value("personalization", LISTS, 2, 5) == pytest.approx(expected, rel=1e-15, abs=0)
    shared, lengths = 6, sum(len(one[:2]) + len(other[:2]) for one, other in combinations(LISTS, 2))
    assert value("personalization", LISTS, 2, 5, list_similarity="overlap") == float(1 - Fraction(2 * shared, lengths))


@pytest.mark.parametrize("similarity", FIELDS["list_similarity"])
@given(st.integers(1, 6), st.integers(2, 6), st.integers(0, 3), st.sampled_from([None, 1, 3, 6]))
def test_equal_and_disjoint_lists(similarity: str, length: int, lists: int, empty: int, cutoff: int | None) -> None:
    """Exactly 0 and 1, whatever the length; empty lists are in no pair."""
    items = [*range(length)]
    equal = [items] * lists + [[]] * empty
    disjoint = [[10 * user + item for item in items[: user % length + 1]] for user in range(lists)] + [[]] * empty
    assert value("personalization", equal, cutoff, 100, list_similarity=similarity) == 0
    assert value("personalization", disjoint, cutoff, 100, list_similarity=similarity) == 1


def test_extremes_of_gini_and_entropy() -> None:
    equal, single = [[1, 2, 3, 4]] * 3, [[4]] * 7
    assert [value("gini", lists, None, 4) for lists in (equal, single)] == [0, 3 / 4]
    assert [value("gini", lists, None, 4, gini_over="items_less_one") for lists in (equal, single)] == [0, 1]
    assert [value("entropy", lists, None, 4) for lists in (equal, single)] == [2, 0]
    assert [value("entropy", lists, None, 4, entropy_over="log_items") for lists in (equal, single)] == [1, 0]


def test_nothing_to_divide_by() -> None:
    """No list at all has no value; what is 0 / 0 of lists is the convention's to say."""
    assert all(is_nan(value(metric, [], 3, 5)) for metric in COLLECTION_METRICS)
    assert value("coverage", [[]], 3, 0) is None
    assert value("coverage", [[]], 3, 5) == value("num_items", [[]], 3, 5) == 0
    assert value("gini", [[]], 3, 5) is value("entropy", [[]], 3, 5) is None
    assert value("gini", [[1], [1]], 3, 1, gini_over="items_less_one") is None
    assert value("entropy", [[1], [1]], 3, 1, entropy_over="log_items") is None
    assert value("personalization", [[1], []], 3, 5) is None


def test_many_items_and_lists() -> None:
    """Counts whose squares exceed 64 bits, and entropy that is far below the rounding of its terms."""
    many = 2**40
    tally = tally_of([[1, 2], [1]], (2,))
    for _ in range(40):
        tally = tally.plus(tally)
    assert tally.lists == 2 * many
    pairs = many * (2 * many - 1)
    cosines = Fraction(many * (many - 1)) + Fraction(many**2) * Fraction(1 / math.sqrt(2))
    actual = collection_value("personalization", tally, 0, 5, RULES)
    assert actual == pytest.approx(float(1 - cosines / pairs), rel=1e-15, abs=0)
    rare = tally_of([[1]], (1,))
    for _ in range(50):
        rare = rare.plus(rare)
    rare = rare.plus(tally_of([[2]], (1,)))
    entropy = collection_value("entropy", rare, 0, 2, RULES)
    assert entropy == pytest.approx((50 + 1 / math.log(2)) / 2**50, rel=1e-14, abs=0)
