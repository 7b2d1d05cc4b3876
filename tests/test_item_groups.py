"""Metrics of groups of items: values by hand and by their definitions, tables of groups, and what is refused."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._plan.fields import STANDARD_RULES
from exactk.reference.all_lists import GROUP_METRICS, ListedUser, relative_deviation
from refusals import refused
from strategies import examples
from tallies import DrawnLists, drawn_lists

CATALOGUE = range(6)
ENGINES = pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
GROUPS = {0: "new", 1: "new", 2: "old", 3: "old", 4: "odd"}  # item 5 has none
ITEMS = exactk.Items(CATALOGUE, item_groups=GROUPS)
LISTS = [[0, 2, 5], [1, 4, 3], []]
DISCOUNTS: dict[str, list[float]] = {"log2": [1, 0.6309297535714574, 0.5], "log2_floored": [1, 1, 0.6309297535714574]}


def cv(numbers: list[Fraction]) -> float:
    """Return the population standard deviation over the mean."""
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return math.sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers)) / float(mean)


@pytest.mark.parametrize("discount", DISCOUNTS)
@ENGINES
def test_exposure_by_hand(evaluate: Any, discount: str) -> None:
    """At rank 1 two items of a group, at rank 2 one of each other; item 5, at rank 3, has no group."""
    one, two, three = map(Fraction, DISCOUNTS[discount])
    zero = Fraction(0)
    for k, sums in ((1, [2 * one, zero, zero]), (2, [2 * one, two, two]), (None, [2 * one, two, two + three])):
        name = f"exposure{'' if k is None else f'@{k}'}"
        report = evaluate(None, LISTS, name, items=ITEMS, convention={"discount": discount})
        shares = {"new": sums[0], "odd": sums[1], "old": sums[2]}
        total = sum(sums)
        assert {group: row[name] for group, row in report.by_item_group.items()} == {
            group: float(share / total) for group, share in shares.items()
        }
        assert report[name] == pytest.approx(cv(sums), rel=1e-15)
        assert report.counts["evaluated"][name] == 3


def test_shares_that_differ_in_the_last_bits() -> None:
    """A value that is far below the rounding of its terms."""
    items = exactk.Items(range(2), item_groups=[0, 1])
    whole = exactk.evaluate(None, [[0], [1]], "exposure@1", items=items).state
    for _ in range(50):
        whole = whole.plus(whole)
    report = exactk.merge([whole, exactk.evaluate(None, [[0]], "exposure@1", items=items).state])
    assert report["exposure@1"] == pytest.approx(2.0**-51, rel=1e-14)


@pytest.mark.filterwarnings("ignore:.* as 0, the best value:exactk.EvaluationWarning")
@pytest.mark.parametrize("undefined", ["zero", "one", "nan", "skip"])
def test_nothing_to_divide_by(undefined: str) -> None:
    """Lists without an item of a group; and no list at all, which has no value."""
    convention: Any = {"undefined": undefined, "foreign_items": "ignore"}
    cases: list[list[list[int]]] = [[[5], []], [[9]], [[]]]
    for lists in cases:
        report = exactk.evaluate(None, lists, "exposure@2", items=ITEMS, convention=convention)
        assert repr(report["exposure@2"]) == {"zero": "0.0", "one": "1.0"}.get(undefined, "nan")
        assert all(math.isnan(row["exposure@2"]) for row in report.by_item_group.values())
    with pytest.warns(exactk.EvaluationWarning, match="no user was evaluated"):
        nobody = exactk.evaluate([[1]], [None], "exposure@2", items=ITEMS, convention=convention)
    assert math.isnan(nobody["exposure@2"])


IDS = st.integers(0, 7)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@settings(max_examples=examples(500))
@given(drawn_lists(IDS), st.sampled_from(["log2", "log2_floored"]), st.data())
def test_values_are_those_of_the_definitions(drawn: DrawnLists, discount: str, data: st.DataObject) -> None:
    """The lists as drawn: no code of the package reads them."""
    rules, users = {**STANDARD_RULES, **drawn.rules, "discount": discount}, len(drawn.lists)
    catalogue = data.draw(st.sets(IDS, min_size=2).map(sorted))
    groups: dict[object, object] = {catalogue[0]: "a", catalogue[1]: "b"}
    groups |= data.draw(st.dictionaries(st.sampled_from(catalogue[2:] or catalogue[:1]), st.sampled_from("abc")))
    if len({*groups.values()}) < 2:
        groups[catalogue[0]] = "c"
    cutoff = data.draw(st.one_of(st.none(), st.integers(1, 6)))
    train = data.draw(st.lists(st.lists(IDS, max_size=3), min_size=users, max_size=users))
    train[0] = [catalogue[0], *train[0]]
    counted = [
        ListedUser(row, had, relevant or [])
        for row, had, relevant in zip(drawn.ranked(cutoff), train, drawn.truth, strict=True)
        if row is not None
    ]
    items = exactk.Items(catalogue, train=train, item_groups=groups)
    for name, define in GROUP_METRICS.items():
        if not counted or (name != "exposure" and rules["duplicate_items"] == "count"):
            continue
        text = name if cutoff is None else f"{name}@{cutoff}"
        report = exactk.evaluate(drawn.truth, drawn.lists, text, items=items, exclude=drawn.exclude, convention=rules)
        numbers = define(counted, groups, rules)
        for group, row in report.by_item_group.items():
            number = numbers[group]
            assert repr(row[text]) == ("nan" if number is None else repr(float(number)))
        expected = relative_deviation(numbers)
        if expected is None:
            assert math.isnan(report[text])
        else:
            assert report[text] == float(expected) or abs(Decimal(report[text]) - expected) < Decimal("1e-30")


def test_counts_are_by_rank_and_shared_by_cutoffs() -> None:
    names = ["exposure@2", "exposure@[1,3]", "exposure@2(discount=log2_floored)", "exposure@2(list_users=users)"]
    state = exactk.evaluate([[1], [], [2]], LISTS, names, items=ITEMS).state
    assert len(state.group_tallies) == 2
    tally = next(one for one in state.group_tallies if one.lists == 3)
    assert (tally.labels, tally.sizes.tolist()) == (("new", "odd", "old"), [2, 1, 2])
    assert tally.counts.tolist() == [[2, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert exactk.evaluate(None, LISTS, "exposure", items=ITEMS).state.group_tallies == (tally,)


def test_labels_of_groups() -> None:
    for labels in ([3, -1, 3, 2**40], ["b", "ü", "", "b"], np.array([2, 1, 1, 0], np.uint8)):
        report = exactk.evaluate(None, [[0, 1], [2, 3]], "exposure@2", items=exactk.Items(4, item_groups=labels))
        assert list(report.by_item_group) == sorted({*np.asarray(labels).tolist()})
        assert exactk.State.from_bytes(report.state.to_bytes()) == report.state
        assert exactk.Report.from_json(report.to_json()) == report
        assert pickle.loads(pickle.dumps(report)) == report  # noqa: S301 - just written
    with pytest.raises(exactk.InputError, match=r"labels up to 9223372036854775807, found 18446744073709551615"):
        exactk.Items(2, item_groups=np.array([0, 2**64 - 1], np.uint64))


def test_tables_of_groups() -> None:
    names = ["exposure@[1,2]", "num_items@2"]
    report = exactk.evaluate(None, LISTS, names, items=ITEMS)
    frame = report.to_pandas("by_item_group")
    assert frame.columns.tolist() == ["group", "metric", "k", "value", "items"]
    assert frame[["group", "metric", "k", "items"]].to_numpy().tolist() == [
        [group, "exposure", k, size] for group, size in (("new", 2), ("odd", 1), ("old", 2)) for k in (1, 2)
    ]
    wide = report.to_pandas("by_item_group", wide=True)
    assert wide.set_index("group").T.to_dict() == {group: dict(row) for group, row in report.by_item_group.items()}
    assert report.to_polars("by_item_group").shape == report.to_arrow("by_item_group").shape == frame.shape
    assert pd.DataFrame(report.to_dict()["by_item_group"])["value"].tolist() == frame["value"].tolist()
    assert report.to_markdown(table="by_item_group").splitlines()[2] == "| new | exposure@1 | 1.0000 |"
    assert (
        report.to_markdown(table="by_item_group", diagnostics=True).splitlines()[2]
        == "| new | exposure@1 | 1.0000 | 2 |"
    )
    assert report.to_csv(table="by_item_group").splitlines()[1] == "new,exposure,1,1.0,2"
    assert repr(report).splitlines()[4:8] == [
        "item group  exposure@1  exposure@2",
        "new             1.0000      0.6131",
        "odd             0.0000      0.1934",
        "old             0.0000      0.1934",
    ]
    assert report.by_item_group["old"]["EXPOSURE@2"] == report.by_item_group["old"]["exposure@2"]
    with pytest.raises(KeyError, match=r"'num_items@2' is not among 'exposure@1', 'exposure@2'"):
        report.by_item_group["old"]["num_items@2"]
    plain = exactk.evaluate([[1]], [[1]], "P@1")
    assert dict(plain.by_item_group) == {}
    assert plain.to_dict()["by_item_group"] == []
    with pytest.raises(exactk.InputError, match="a metric of groups of items, such as exposure, found none"):
        plain.to_pandas("by_item_group")


def test_many_groups_in_brief() -> None:
    items = exactk.Items(40, item_groups=list(range(40)))
    lines = repr(exactk.evaluate(None, [[1, 2]], [f"exposure@[{','.join('12345678')}]"], items=items)).splitlines()
    assert lines[-2] == "30 more groups and 2 more values in by_item_group"


def test_systems_are_compared() -> None:
    comparison = exactk.compare([[1]] * 3, {"a": LISTS, "b": [[2], [2], [0]]}, "exposure@1", items=ITEMS)
    assert comparison["exposure@1"]["a"] == comparison.reports["a"]["exposure@1"]
    assert comparison.to_pandas("by_item_group")["system"].tolist() == ["a"] * 3 + ["b"] * 3
    assert comparison.to_markdown(table="by_item_group").startswith("| group | metric | a | b |")


@ENGINES
def test_refusals(evaluate: Any) -> None:
    message = (
        r"two groups of items, which exposure@2 compares, found {}; items=exactk.Items\(..., item_groups=...\) gives"
    )
    without_groups = [(items, "none") for items in (None, [[1]], exactk.Items(3), exactk.Items(3, item_groups={}))]
    for items, found in [*without_groups, (exactk.Items(3, item_groups=["a"] * 3), "only 'a'")]:
        with pytest.raises(exactk.InputError, match=message.format(found)):
            evaluate([[1]], [[1]], "exposure@2", items=items)
    with pytest.raises(exactk.InputError, match=r"weights: expected None with exposure@2, .* found weights"):
        evaluate([[1]], [[1]], "exposure@2", items=ITEMS, weights=[1])
    with refused("predictions: item outside the catalogue", "items of the catalogue"):
        evaluate([[1]], [[1, 9]], "exposure@2", items=ITEMS)
    with refused("metrics: no order of ties", "ties"):
        evaluate([[1]], np.ones((1, 6)), "exposure@2(ties=expected)", items=ITEMS)


def test_states_of_other_groups_do_not_merge() -> None:
    all_items = (exactk.Items(3, item_groups=groups) for groups in (["a", "b", "b"], ["a", "b", "c"]))
    one, other = (exactk.evaluate(None, [[0]], "exposure@1", items=items).state for items in all_items)
    with pytest.raises(exactk.StateMismatchError, match="groups or values differ"):
        one.plus(other)
    with pytest.raises(exactk.StateMismatchError, match="the same groups of items"):
        one.group_tallies[0].plus(other.group_tallies[0])


TRAIN = {"ann": [0, 2], "bob": [], "cy": [0, 1, 3], "eve": [4]}
USERS: dict[str, list[int]] = {"ann": [1, 2, 3], "bob": [0, 4, 5], "cy": [2, 1]}
RELEVANT = {"ann": [1, 3, 2], "bob": [1, 3], "cy": [3, 0], "dee": [4]}
TRAINED = exactk.Items(CATALOGUE, train=TRAIN, item_groups=GROUPS)


@ENGINES
def test_parity_by_hand(evaluate: Any) -> None:
    """Items of the history count neither among the recommended items nor among the possible ones."""
    possible = {"new": 1 + 2 + 0, "old": 1 + 2 + 1, "odd": 1 + 1 + 1}
    listed = {"rsp@1": (2, 1, 0), "rsp@2": (2, 1, 1), "rsp": (2, 2, 1)}
    report = evaluate(RELEVANT, USERS, list(listed), items=TRAINED)
    for name, counts in listed.items():
        shares = {group: Fraction(c, possible[group]) for group, c in zip(possible, counts, strict=True)}
        assert {group: row[name] for group, row in report.by_item_group.items()} == {
            group: float(share) for group, share in shares.items()
        }
        assert report[name] == pytest.approx(cv(list(shares.values())), rel=1e-15)


@ENGINES
def test_opportunity_by_hand(evaluate: Any) -> None:
    """Relevant and outside train: of ann 1 and 3, of bob 1 and 3; a group without such items is left out."""
    warning = r"1 of 3 groups of items has no relevant item outside train for reo@2 and is left out, such as 'odd'"
    with pytest.warns(exactk.EvaluationWarning, match=warning):
        report = evaluate(RELEVANT, USERS, ["reo@2", "reo"], items=TRAINED)
    rows = {group: list(row.values()) for group, row in report.by_item_group.items()}
    assert repr(rows) == repr({"new": [0.5, 0.5], "odd": [math.nan, math.nan], "old": [0.0, 0.5]})
    assert dict(report) == {"reo@2": 1.0, "reo": 0.0}


@pytest.mark.parametrize("name", ["rsp@2", "reo@2"])
def test_what_parity_and_opportunity_refuse(name: str) -> None:
    with pytest.raises(exactk.InputError, match=f"what each user has in train, which {name} needs, found none"):
        exactk.evaluate([[1]], [[1]], name, items=ITEMS)
    items = exactk.Items(6, train=[[1]], item_groups=GROUPS)
    with pytest.raises(exactk.InputError, match="by which a list is no set of items"):
        exactk.evaluate([[1]], [[1]], name, items=items, convention={"duplicate_items": "count"})
    with pytest.raises(exactk.InputError, match=f"weights: expected None with {name}"):
        exactk.evaluate(RELEVANT, USERS, name, items=TRAINED, weights=dict.fromkeys(RELEVANT, 1))


@pytest.mark.filterwarnings("ignore:.*no item of the truth:exactk.EvaluationWarning")
@pytest.mark.parametrize(
    ("metric", "lacking"),
    [
        ("exposure@1", "no item of a group is recommended"),
        ("rsp@1", "no item of a group is recommended"),
        ("reo@1", "no relevant item of a group is recommended"),
    ],
)
def test_no_recommended_item_of_a_group_is_a_warning(metric: str, lacking: str) -> None:
    message = f"{metric} is 0 / 0 and counts as 0, the best value: {lacking}"
    items = exactk.Items(["a", "b", "c"], item_groups={"a": "g", "b": "h"}, train={"u": ["c"]})
    truth = {"u": ["a", "b"]}
    empty: dict[str, list[str]] = {"u": []}
    for lists in ({"u": ["c"]}, empty):
        with pytest.warns(exactk.EvaluationWarning, match=message):
            assert exactk.evaluate(truth, lists, metric, items=items)[metric] == 0
    with pytest.warns(exactk.EvaluationWarning, match=f"system 'none': {message}"):
        exactk.compare(truth, {"none": {"u": ["c"]}, "one": {"u": ["a"]}}, metric, items=items)
    report = exactk.evaluate(truth, {"u": ["c"]}, metric, items=items, convention={"undefined": "nan"})
    assert math.isnan(report[metric])
