"""Metrics of all lists together in each group of users: golden values, and what a group is of."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactk
from exactk._report.statistics import numbers_of_item_groups
from exactk._report.tallies import MOST_GROUPS

LISTS = {"ann": ["film", "song"], "bob": ["film", "book"], "cy": ["film", "song"], "dee": ["play"]}
GROUPS = {"ann": "new", "bob": "new", "cy": "old", "dee": "old"}
KINDS = {"film": "s", "song": "a", "book": "p", "play": "s", "poem": "p"}
ITEMS = exactk.Items(list(KINDS), item_groups=KINDS)
METRICS = ["coverage@2", "num_items@2", "gini@2", "entropy@2", "personalization@2"]
GOLDEN = {"new": [3 / 5, 3, 0.5, 1.5, 0.5], "old": [3 / 5, 3, 0.4, math.log2(3), 1]}
"""Of the page on all lists, by hand."""
SHARES = {"new": 0.613147, "old": 0.760188}  # of the exposure, of the items of group s

Evaluate = Callable[..., exactk.Report]
BOTH = pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])


@BOTH
def test_values_by_hand(evaluate: Evaluate) -> None:
    report = evaluate(None, LISTS, [*METRICS, "exposure@2"], items=ITEMS, groups=GROUPS)
    whole = evaluate(None, LISTS, [*METRICS, "exposure@2"], items=ITEMS)
    assert dict(report) == dict(whole)
    assert report.state.tallies == whole.state.tallies
    for group, expected in GOLDEN.items():
        assert [report.by_group[group][name] for name in METRICS] == pytest.approx(expected, rel=1e-15)
        (tally,) = report.state.tallies_by_group[group].groups
        shares = dict(zip(tally.labels, numbers_of_item_groups(report.state._plan[-1], tally), strict=True))
        assert shares["s"] == pytest.approx(SHARES[group], abs=5e-7)
    rows = report.to_pandas("by_group")
    assert rows["evaluated"].tolist() == [2] * 12
    assert rows["standard_deviation"].isna().all()
    assert report.disparity("gini@2") == pytest.approx(0.1)


@BOTH
def test_a_group_without_lists_has_no_value(evaluate: Evaluate) -> None:
    truth, lists = {"ann": ["film"], "bob": ["film"]}, {"ann": ["film"]}
    report = evaluate(truth, lists, ["coverage@2", "recall@2"], items=ITEMS, groups={"ann": "new", "bob": "old"})
    assert repr(dict(report.by_group["old"])) == "{'coverage@2': nan, 'recall@2': 0.0}"
    assert report.by_group["new"]["coverage@2"] == 0.2
    assert report.to_pandas("by_group")["evaluated"].tolist() == [1, 1, 0, 1]


@BOTH
@pytest.mark.parametrize("list_users", ["lists", "users"])
def test_users_whose_lists_count_need_a_group(evaluate: Evaluate, list_users: str) -> None:
    truth = {"ann": ["film"], "cy": ["song"]}
    arguments: dict[str, Any] = {"items": ITEMS, "convention": {"list_users": list_users}}
    groups = {"ann": "new", "cy": "old"}
    if list_users == "lists":
        with pytest.raises(exactk.InputError, match="groups"):
            evaluate(truth, LISTS, "coverage@2", groups=groups, **arguments)
        groups |= {"bob": "new", "dee": "old"}
    report = evaluate(truth, LISTS, "coverage@2", groups=groups, **arguments)
    assert report.by_group["old"]["coverage@2"] == (0.4 if list_users == "users" else 0.6)


def random_call(users: int = 300, seed: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "truth": [rng.choice(60, 3, replace=False).tolist() for _ in range(users)],
        "predictions": [rng.choice(60, rng.integers(0, 9), replace=False).tolist() for _ in range(users)],
        "exclude": [rng.choice(60, 2).tolist() for _ in range(users)],
        "groups": rng.choice(["a", "b", "c", "d", "e"], users).tolist(),
    }


EVERY = [*METRICS, "exposure@5", "personalization@4", "rsp@3", "reo@3", "ndcg@3"]
TRAINED = exactk.Items(60, train=[[user % 60] for user in range(300)], item_groups=[item % 3 for item in range(60)])


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_groups_are_those_of_their_lists_alone(threads: int) -> None:
    call = random_call()
    names = [name for name in EVERY if name[:3] not in {"rsp", "reo"}]
    whole = exactk.evaluate(metrics=names, items=TRAINED, num_threads=threads, **call)
    for label in "abcde":
        rows = [row for row, group in enumerate(call["groups"]) if group == label]
        part: dict[str, Any] = {name: [one[row] for row in rows] for name, one in call.items() if name != "groups"}
        alone = exactk.evaluate(metrics=names, items=TRAINED, **part)
        assert dict(whole.by_group[label]) == dict(alone)
        assert whole.state.tallies_by_group[label] == alone.state.tallies
    assert exactk.reference.evaluate(metrics=EVERY, items=TRAINED, **call).state.tallies_by_group == (
        exactk.evaluate(metrics=EVERY, items=TRAINED, num_threads=threads, **call).state.tallies_by_group
    )


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_merged_in_any_way_groups_are_the_same_bits() -> None:
    call, items = random_call(), exactk.Items(60, item_groups=[item % 3 for item in range(60)])
    names = [name for name in EVERY if name[:3] not in {"rsp", "reo"}]
    whole = exactk.evaluate(metrics=names, items=items, **call)
    parts, evaluator = [], exactk.Evaluator(names, items=items)
    for begin in range(0, 300, 70):
        part = {name: one[begin : begin + 70] for name, one in call.items()}
        parts.append(exactk.evaluate(metrics=names, items=items, **part))
        evaluator.update(**part)
    blocks = ((call["truth"][i : i + 50], call["predictions"][i : i + 50]) for i in range(0, 300, 50))
    options = {"exclude": call["exclude"], "groups": call["groups"]}
    merged = [
        exactk.merge(parts),
        exactk.merge([exactk.State.from_bytes(part.state.to_bytes()) for part in reversed(parts)]),
        evaluator.compute(),
        exactk.evaluate(None, blocks, names, items=items, **options),
        exactk.Report.from_json(whole.to_json()),
        pickle.loads(pickle.dumps(whole)),  # noqa: S301 - just written
    ]
    for report in merged:
        assert report.state.to_bytes() == whole.state.to_bytes()
        assert report.state.tallies_by_group == whole.state.tallies_by_group
        assert repr(report.by_group) == repr(whole.by_group)


@pytest.mark.filterwarnings("ignore:no user was evaluated:exactk.EvaluationWarning")
def test_states_hold_tallies_of_groups_alone() -> None:
    """These add up to the whole. Of no users, there is the whole."""
    report = exactk.evaluate(None, LISTS, METRICS, items=ITEMS, groups=GROUPS)
    assert len(report.state.to_dict()["tallies"]) == 2
    assert "tallies_by_group" not in report.state.to_dict()
    nobody = exactk.evaluate({}, {}, METRICS, items=ITEMS, groups={})
    assert len(nobody.state.to_dict()["tallies"]) == 1
    assert nobody.state.tallies_by_group == {}
    assert exactk.merge([nobody, report]).state == report.state == exactk.merge([report, nobody]).state
    plain = report.state.to_dict()
    with pytest.raises(exactk.InputError, match="tallies: expected 2 elements, found 1"):
        exactk.State.from_dict(plain | {"tallies": plain["tallies"][:1]})
    with pytest.raises(exactk.InputError, match="tallies of at most 2 lists, found 4"):
        exactk.State.from_dict(plain | {"counts": plain["counts"] | {"users": 2}})


def test_there_are_at_most_so_many_groups() -> None:
    users = range(MOST_GROUPS + 1)
    expected = f"groups: expected at most {MOST_GROUPS} groups with metrics of all lists together"
    with pytest.raises(exactk.InputError, match=f"{expected}.*, found {MOST_GROUPS + 1}"):
        exactk.evaluate(None, [[1]] * len(users), "coverage@1", items=exactk.Items(2), groups=list(users))
    parts = [
        exactk.evaluate(None, [[1]] * len(some), "coverage@1", items=exactk.Items(2), groups=list(some))
        for some in (users[:MOST_GROUPS], users[1:])
    ]
    assert len(parts[0].by_group) == MOST_GROUPS
    with pytest.raises(exactk.InputError, match=f"{expected}.*, found {MOST_GROUPS + 1}"):
        exactk.merge(parts)
    assert len(exactk.evaluate([[1]] * 65, [[1]] * 65, "recall@1", groups=list(users)).by_group) == 65


def test_comparisons_show_them_by_group() -> None:
    truth = {user: ["film"] for user in LISTS}
    systems = {"als": LISTS, "top": {user: ["film", "song"] for user in LISTS}}
    comparison = exactk.compare(truth, systems, ["coverage@2", "recall@2"], items=ITEMS, groups=GROUPS)
    text = str(comparison)
    assert "new    coverage@2  0.6000*  0.4000" in text
    assert [row.metric for row in comparison.differences.by_group] == ["recall@2"] * 2
    page = comparison.to_html()
    assert "<td>coverage@2</td>" in page.partition("Values by group")[2]
    rows = comparison.to_pandas("by_group", wide=True)
    assert rows["coverage@2"].tolist() == [0.6, 0.6, 0.4, 0.4]
