"""The sums of groups as arrays of digits, against Python's integers and fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import exactk
from exactk._report.state import StateSums
from exactk._report.statistics import evaluated_users, standard_deviation, value_of_sums
from exactk._report.sums import DigitColumn, GroupSums, RunningGroupSums, Sums, group_sums_of

if TYPE_CHECKING:
    from collections.abc import Mapping

EDGES = [sign * 2**bits + step for sign in (-1, 1) for bits in (0, 31, 32, 33, 64, 128, 200) for step in (-1, 0, 1)]
INTEGERS = st.one_of(st.sampled_from(EDGES), st.integers(-(2**200), 2**200))
COLUMNS = st.lists(st.builds(lambda one, shift: one << shift, INTEGERS, st.sampled_from([0, 0, 5, 32, 100, 1000])))


def sums_of(users: int, total: int, squares: int, weight: int) -> Sums:
    return Sums(users, users // 3, total, 1074, squares, 1074, weight, 80)


COUNTS = st.one_of(st.integers(0, 5), st.sampled_from([2**32 - 1, 2**32, 2**62]))
SUMS = st.builds(sums_of, COUNTS, INTEGERS, INTEGERS.map(abs), st.sampled_from([0, 2**80]))
GROUPS = st.dictionaries(st.sampled_from("abcde"), st.tuples(SUMS, SUMS))
NOBODY = (sums_of(0, 0, 0, 0),) * 2


def table_of(groups: Mapping[str, tuple[Sums, ...]]) -> GroupSums:
    return group_sums_of(dict(sorted(groups.items())), NOBODY)


@given(COLUMNS, st.sampled_from([1, 4]), st.integers(1, 2**20))
def test_digits_are_those_of_the_integers(integers: list[int], block: int, factor: int) -> None:
    """Trimmed, and the same digits whatever they were computed from."""
    column = DigitColumn.of_integers(integers).trimmed(block)
    assert column.integers() == integers
    multiple = DigitColumn(column.lowest, factor * column.digits).carried().trimmed(block)
    expected = DigitColumn.of_integers([factor * one for one in integers]).trimmed(block)
    assert multiple.lowest == expected.lowest
    assert np.array_equal(multiple.digits, expected.digits)
    assert column.lowest % block == column.digits.shape[1] % block == 0
    if not any(integers):
        assert not column.digits.size


DIVISORS = st.one_of(st.integers(1, 2**31 - 1), st.sampled_from([1, 2, 3, 5, 2**31 - 1]))


def near_half(bits: int, later_bit: int, divisor: int, rest: int) -> tuple[int, int]:
    """Return a quotient that is half-way between two doubles, or a little more: by a later bit, or by a remainder."""
    more = 2 ** (bits - later_bit) if 53 < later_bit <= bits else 0
    return (2**bits + 2 ** (bits - 53) + more) * divisor + rest % divisor, divisor


LATER_BITS = st.sampled_from([0, 62, 63, 64, 65, 66, 94, 95, 96, 97, 130])
HALVES = st.builds(near_half, st.integers(53, 200), LATER_BITS, DIVISORS, st.sampled_from([0, 1]))
QUOTIENTS = st.one_of(st.tuples(INTEGERS.map(abs), DIVISORS), HALVES)


@given(st.lists(QUOTIENTS), st.sampled_from([0, 1, 52, 80, 500, 900]), st.sampled_from([0, 0, 32, 77]))
def test_quotients_are_rounded_once(rows: list[tuple[int, int]], scale: int, shift: int) -> None:
    integers = [integer << shift for integer, _ in rows]
    divisors = np.array([divisor for _, divisor in rows], np.int64)
    quotients = DigitColumn.of_integers(integers).trimmed(1).over(divisors, scale)
    assert quotients is not None
    expected = [integer / (divisor << scale) for integer, (_, divisor) in zip(integers, rows, strict=True)]
    assert quotients.tolist() == expected


def test_quotients_below_one_are_rounded_once() -> None:
    """Of so many, some are a little more than half-way between two doubles."""
    generator = np.random.default_rng(0)
    integers = generator.integers(1, 2**31, 300_000) >> generator.integers(0, 31, 300_000)
    divisors = generator.integers(1, 2**31, 300_000)
    quotients = DigitColumn.of_counts(integers).trimmed(1).over(divisors, 0)
    assert quotients is not None
    assert np.array_equal(quotients, integers / divisors)  # which are below 2^53


@pytest.mark.parametrize(("integer", "divisor", "scale"), [(-1, 1, 0), (1, 2**31, 0), (1, 1, 901)])
def test_other_quotients_take_integers(integer: int, divisor: int, scale: int) -> None:
    assert DigitColumn.of_integers([integer]).trimmed(1).over(np.array([divisor]), scale) is None


@given(st.lists(GROUPS, min_size=1, max_size=4), st.randoms())
def test_merged_groups_have_the_sums_of_integers_in_any_order(parts: list[dict[str, Any]], random: Any) -> None:
    expected: dict[str, tuple[Sums, ...]] = {}
    for label, sums in itertools.chain.from_iterable(part.items() for part in parts):
        expected[label] = tuple(map(Sums.plus, expected.get(label, NOBODY), sums))
    merged = []
    for _ in range(2):
        random.shuffle(parts)
        running = RunningGroupSums(table_of(parts[0]))
        for part in parts[1:]:
            running.add(table_of(part))
        merged.append(running.sums().in_order(sorted(expected)))
    assert dict(merged[0]) == dict(merged[0].items()) == expected
    assert merged[0] == merged[1] == table_of(expected)
    assert merged[0].totals() == tuple(map(Sums.over_groups, zip(NOBODY, *expected.values(), strict=True)))


def test_groups_are_equal_only_with_equal_sums() -> None:
    one, other = ({"a": (sums_of(1, total, 1, 0),) * 2, "b": NOBODY} for total in (2**40, 2**40 + 1))
    assert table_of(one) == table_of(dict(one)) == one
    assert table_of(one) != table_of(other)
    assert table_of(one) != table_of({"a": one["a"], "c": NOBODY})
    assert table_of(one).with_parts([1, 0]) == table_of(one)


def test_digits_are_carried_before_they_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exactk._report.sums.MOST_ADDITIONS", 4)
    part = table_of({"a": (sums_of(3, 2**500 - 1, 1, 0),) * 2})
    running = RunningGroupSums(part)
    for _ in range(40):
        running.add(part)
        assert int(np.abs(running._table.digits).max()) <= 4 * 2**33
    assert running.sums()["a"][0].total == 41 * (2**500 - 1)


def test_states_of_more_users_than_an_integer_of_64_bits_counts_are_merged() -> None:
    """Only states from elsewhere have so many."""
    state = exactk.evaluate([[1]], [[1]], "num_hits@1", groups=["a"]).state
    plain, users = state.to_dict(), 2**62
    sums = [users, 0, hex(users << 1074), 1074, hex(users << 1074), 1074, "0x0", 80]
    plain |= {"totals": [sums], "groups": [["a", [sums]]], "counts": plain["counts"] | {"users": users}}
    merged = StateSums(exactk.State.from_dict(plain))
    for _ in range(3):
        merged.add(exactk.State.from_dict(plain))
    assert merged.state().groups == {"a": (Sums(2**64, 0, 2**64 << 1074, 1074, 2**64 << 1074, 1074, 0, 80),)}
    assert exactk.Report(merged.state()).by_group["a"]["num_hits@1"] == 1.0


AVERAGES = [
    *("P@2", "dcg@2", "num_hits@1", "P@2(average=micro)", "recall@2(average=micro,undefined=nan)"),
    *("recall@1(average=micro,undefined=one)", "ap(average=geometric)", "f1@2(average=of_means)", "mrr(decimals=2)"),
]
UNUSUAL = [{}, {"weights": [0.5, 0, 3, 0, 1e-60]}, {"convention": {"empty_truth": "compute", "undefined": "nan"}}]
UNUSUAL += [{"convention": {"empty_truth": "skip"}, "weights": [2, 2, 2, 2, 2]}]


@pytest.mark.parametrize("options", UNUSUAL)
def test_statistics_of_all_groups_are_those_of_each(options: Any) -> None:
    truth, lists, groups = [[1, 2], [], [5], [3], [9]], [[2, 1], [4], [6, 5], [7], [9]], ["a", "b", "a", "c", "a"]
    report = exactk.evaluate(truth, lists, AVERAGES, groups=groups, **options)
    weighted = report.state.weighted
    rows = iter(report._rows_of_groups())
    for label, sums in (report.state.groups or {}).items():
        for value, parts in zip(report._plan, report._part_sums(sums), strict=True):
            number = value_of_sums(value, parts, weighted=weighted)
            deviation = standard_deviation(value, parts, weighted=weighted)
            row = next(rows)
            assert row[:3] == (label, value.name, value.spelling)
            np.testing.assert_array_equal(row[3:], (number, deviation, evaluated_users(parts)))
            np.testing.assert_array_equal(report.by_group[label][value.spelling], number)
            np.testing.assert_array_equal(deviation, deviation_in_fractions(parts[0], weighted=weighted, value=value))
    assert next(rows, None) is None


def deviation_in_fractions(sums: Sums, *, weighted: bool, value: Any) -> float:
    weight = Fraction(sums.weight, 2**sums.weight_scale) if weighted else Fraction(sums.users)
    if value.rules["average"] != "macro" or not weight or sums.undefined:
        return math.nan
    mean = Fraction(sums.total, 2**sums.total_scale) / weight
    variance = Fraction(sums.squares, 2**sums.squares_scale) / weight - mean**2
    return math.sqrt(max(variance, Fraction(0)))


def test_groups_are_immutable_mappings() -> None:
    report = exactk.evaluate([[1], [2]], [[1], [3]], "P@1", groups=["b", "a"])
    assert report.state.groups is not None
    for groups in (report.state.groups, report.by_group):
        assert list(groups) == ["a", "b"]
        assert "a" in groups
        assert "c" not in groups
        assert groups.get("c") is None
        assert groups == dict(groups) == {"b": groups["b"], "a": groups["a"]}
        assert repr(groups) == repr(dict(groups))
        with pytest.raises(TypeError, match="does not support item assignment"):
            groups["a"] = ()  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        report.state.groups.table.digits[0] = 1  # type: ignore[attr-defined]
