"""`exactk.drift`: its counts in fractions, item by item and user by user; its laws, inputs and messages."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import exactk
from rankings import rankings_of

Lists = dict[str, list[str]]


def draw_lists(seed: int, users: int = 60, sizes: tuple[int, ...] = (0, 2, 6, 10)) -> tuple[Lists, Lists]:
    """Draw lists of each user, many of which are equal, with items that the other side lacks."""
    rng = random.Random(seed)  # noqa: S311 - drawn, and not secret

    def draw(begin: int, noise: float) -> list[str]:
        numbers = sorted(range(begin, begin + 14), key=lambda number: number + rng.uniform(0, noise))
        return [f"item {number}" for number in numbers[: rng.choice(sizes)]]

    one = {f"user {user}": draw(0, rng.choice([2, 6, 20])) for user in range(users)}
    other = {user: items if rng.random() < 0.4 else draw(3, rng.choice([2, 20])) for user, items in one.items()}
    return one, other


def counts_of(lists: list[list[str]]) -> dict[str, int]:
    flat = [item for items in lists for item in items]
    return {item: flat.count(item) for item in flat}


def expected(one: Lists, other: Lists, k: int) -> dict[str, Any]:
    """Return the fields from their definitions, for the users of both."""
    users = [user for user in one if user in other]
    before, after = [one[user][:k] for user in users], [other[user][:k] for user in users]
    shown, shown_after = counts_of(before), counts_of(after)
    entries, entries_after = sum(shown.values()), sum(shown_after.values())
    shift = sum(
        (
            abs(Fraction(shown_after.get(item, 0), entries_after) - Fraction(shown.get(item, 0), entries))
            for item in {*shown, *shown_after}
        ),
        Fraction(0),
    )
    return {
        "k": k,
        "users": len(users),
        "changed_users": sum(one[user][:k] != other[user][:k] for user in users),
        "changed": sum(one[user][:k] != other[user][:k] for user in users) / len(users),
        "new_items": len(shown_after.keys() - shown.keys()),
        "lost_items": len(shown.keys() - shown_after.keys()),
        "new_share": sum(n for item, n in shown_after.items() if item not in shown) / entries_after,
        "lost_share": sum(n for item, n in shown.items() if item not in shown_after) / entries,
        "exposure_shift": float(shift / 2),
    }


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_all_fields_are_those_of_their_definitions_and_of_the_reference(seed: int, k: int) -> None:
    one, other = draw_lists(seed)
    drift = exactk.drift(one, other, k)
    assert {name: getattr(drift, name) for name in expected(one, other, k)} == expected(one, other, k)
    assert drift.overlap == exactk.agreement(one, other, f"overlap@{k}")[f"overlap@{k}"]
    assert exactk.reference.drift(one, other, k) == drift
    for threads in (1, 3):
        assert exactk.drift(one, other, k, num_threads=threads) == drift


@pytest.mark.parametrize("seed", range(8))
def test_lists_of_one_length_shift_no_more_than_users_see_change(seed: int) -> None:
    one, other = draw_lists(seed, sizes=(10,))
    drift, back = exactk.drift(one, other, 5), exactk.drift(other, one, 5)
    assert 0 < drift.exposure_shift <= 1 - drift.overlap
    assert max(drift.new_share, drift.lost_share) <= drift.exposure_shift
    assert (drift.new_items, drift.new_share) == (back.lost_items, back.lost_share)
    assert (drift.changed, drift.exposure_shift, drift.overlap) == (back.changed, back.exposure_shift, back.overlap)


def test_known_days() -> None:
    monday = {"ann": ["tea", "milk", "rice"], "bob": ["bread", "tea", "rice"], "cy": ["milk", "tea", "fish"]}
    tuesday = {"ann": ["milk", "tea", "fish"], "bob": ["bread", "tea", "rice"], "cy": ["rice", "bread", "tea"]}
    drift = exactk.drift(monday, tuesday, 3)
    assert (drift.overlap, drift.exposure_shift) == (2 / 3, 1 / 9)
    assert (drift.new_items, drift.lost_items, drift.changed_users, drift.changed) == (0, 0, 2, 2 / 3)


def test_what_did_not_change_and_what_changed_alone_in_order() -> None:
    one, _ = draw_lists(3)
    same = exactk.drift(one, {**one}, 5)
    assert (same.changed, same.new_items, same.lost_items, same.exposure_shift) == (0, 0, 0, 0)
    turned = exactk.drift([[1, 2], [3, 4]], [[2, 1], [3, 4]], 2)
    assert (turned.changed, turned.new_items, turned.exposure_shift, turned.overlap) == (0.5, 0, 0, 1)
    swapped = exactk.drift([[1, 2], [3, 4]], [[3, 4], [1, 2]], 2)  # others see the same items
    assert (swapped.changed, swapped.exposure_shift, swapped.overlap) == (1, 0, 0)


def test_the_ways_to_pass_lists() -> None:
    one, other = [[5, 2**62], [1, 7], [3]], [[2**62, 9], [1, 7], []]
    expected_drift = exactk.drift(one, other, 2)
    assert exactk.drift([[2**62]], [[2**62 + 1]], 1).new_items == 1
    assert (expected_drift.new_items, expected_drift.lost_items, expected_drift.changed_users) == (1, 2, 2)
    for dtype in (np.int64, np.uint64):
        forms = [exactk.Rankings([0, 2, 4, 5], np.array([5, 2**62, 1, 7, 3], dtype)), rankings_of(one)]
        for form in forms:
            assert exactk.drift(form, other, 2) == expected_drift
    scores = np.array([[0.1, 0.9, 0.5], [0.3, 0.2, 0.9]])
    assert exactk.drift(scores, [[1, 2], [2, 1]], 2).changed_users == 1
    frame = pd.DataFrame({"who": ["ann", "ann", "bob"], "what": ["tea", "milk", "tea"], "rank": [1, 2, 1]})
    found = exactk.drift(frame, {"ann": ["tea", "rice"], "bob": ["tea"]}, 2, user="who", item="what")
    assert (found.changed_users, found.new_items, found.lost_items, found.new_share) == (1, 1, 1, 1 / 3)


def test_users_of_one_side_are_left_out_and_counted() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="^1 user only in one and 2 users only in other: left out$"):
        drift = exactk.drift({"a": ["x"], "b": ["y"]}, {"b": ["y"], "c": ["z"], "d": ["z"]}, 1)
    assert (drift.users, drift.changed, drift.new_items, drift.lost_items) == (1, 0, 0, 0)
    with pytest.warns(exactk.EvaluationWarning):
        nobody = exactk.drift({"a": ["x"]}, {"b": ["x"]}, 1)
    assert all(map(math.isnan, (nobody.changed, nobody.new_share, nobody.lost_share, nobody.exposure_shift)))
    empty = exactk.drift({"a": ["x"], "b": []}, {"a": ["x"], "b": []}, 1)
    assert (empty.users, empty.changed, empty.overlap) == (2, 0, 1)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1]], [[1]], 0), {}, r"k: expected a cutoff in \[1, 2\^31\), found 0"),
        (([[1]], [[1]], "10"), {}, "k: expected an integer, found '10'"),
        (([[1, 1]], [[1]], 2), {}, "one: .*item"),
        (([[1]], [[2, 2]], 2), {}, "other: .*item"),
        (([[1]], [[1], [2]], 2), {}, "other: expected 1 row, one per user of one, found 2"),
        (
            ([[1]], [[1]], 1),
            {"convention": {"min_grade": 2}},
            "convention: expected a field that drift reads: undefined, ties",
        ),
        (([[1]], [[1]], 1), {"convention": {"rbo_over": "truncated"}}, "convention: .* found 'rbo_over'"),
    ],
)
def test_what_is_at_fault_is_named(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(exactk.ExactkError, match=message):
        exactk.drift(*arguments, **options)
    with pytest.raises(exactk.ExactkError):
        exactk.reference.drift(*arguments, **options)
    with pytest.raises(TypeError, match="weights"):
        exactk.drift([[1]], [[1]], weights=[1.0])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def test_warnings_name_what_was_called() -> None:
    with pytest.warns(exactk.EvaluationWarning) as caught:
        exactk.drift([[1]], [[1, 2]], 2)
    (warning,) = caught
    assert str(warning.message) == "one: no list is longer than 1, so drift at k=2 has only these items"


def test_plain_data() -> None:
    drift = exactk.drift([[1, 2], [3]], [[2, 1], [3]], 1)
    assert drift.to_dict() == {
        "k": 1,
        "users": 2,
        "changed_users": 1,
        "changed": 0.5,
        "new_items": 1,
        "lost_items": 1,
        "new_share": 0.5,
        "lost_share": 0.5,
        "exposure_shift": 0.5,
        "overlap": 0.5,
    }
    with pytest.warns(exactk.EvaluationWarning, match="^no user was evaluated for overlap@1: NaN$"):
        nothing = exactk.drift([[]], [[]], 1).to_dict()
    assert (nothing["changed"], nothing["exposure_shift"], nothing["overlap"]) == (0, None, None)


def test_how_it_prints_and_is_written() -> None:
    drift = exactk.drift(
        {"q1": [1, 2], "q2": [3, 4]}, {"q1": [1, 2], "q2": [5, 3]}, 2, unit_names=("query", "document")
    )
    assert str(drift).splitlines() == [
        "change           count   share",
        "changed queries      1  0.5000",
        "new documents        1  0.2500",
        "lost documents       1  0.2500",
        "exposure shift          0.2500",
        "first 2 documents of 2 queries of both; mean overlap 0.7500",
    ]
    assert drift.to_csv().splitlines()[1:] == [
        "changed queries,1,0.5",
        "new documents,1,0.25",
        "lost documents,1,0.25",
        "exposure shift,,0.25",
    ]
    assert "0.25 &" not in drift.to_latex(digits=1)
