from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import exactk
from exactk import _core
from exactk._plan.conventions import CHOICES, FIELDS

STANDARD = exactk.conventions["standard"]


def test_the_fields_are_those_of_the_core_with_its_defaults() -> None:
    defaults = {f.name: f.default for f in dataclasses.fields(exactk.Convention)}
    assert set(FIELDS) == set(defaults) - {"overrides", "name"}
    assert {f.name: f.standard for f in _core.convention_fields()} == {name: defaults[name] for name in CHOICES}


def test_the_defaults_are_the_standard() -> None:
    assert exactk.Convention() == STANDARD


def test_presets_differ_by_what_they_say() -> None:
    assert exactk.conventions["capped"].diff("standard") == {"recall_over": ("min_cutoff_relevant", "relevant")}
    assert STANDARD.diff("standard") == {}


def test_replace_and_diff() -> None:
    mine = STANDARD.replace(gain="exp2", overrides={"precision": {"users": "both"}})
    assert mine.diff(STANDARD) == {
        "gain": ("exp2", "linear"),
        "precision.users": ("both", "truth"),
    }
    assert STANDARD.gain == "linear"
    assert mine.name == "custom"
    assert STANDARD.replace(name="mine").name == "mine"


def test_an_override_holds_for_its_metric_and_the_string_goes_before_it() -> None:
    convention = STANDARD.replace(overrides={"recall": {"recall_over": "min_cutoff_relevant"}})
    truth, lists = [[1, 2, 3, 4]], [[1, 9]]
    metrics = ["recall@2", "f1@2", "recall@2(recall_over=relevant)"]
    report = exactk.evaluate(truth, lists, metrics, convention=convention)
    assert list(report.values.values()) == [1 / 2, 2 / 6, 1 / 4]


@pytest.mark.parametrize(
    "changes",
    [
        {"gain": "cubic"},
        {"gain": 3},
        {"no_such_field": 1},
        {"min_grade": "3"},
        {"min_grade": float("nan")},
        {"min_grade": True},
        {"gain_table": 3},
        {"gain_table": ["a"]},
        {"gain_table": {0: 1, 1: 3}},
        {"gain_table": {0, 1, 3}},
        {"min_grade": 10**400},
        {"score_dtype": "float64"},
        {"score_dtype": np.float32},
        {"overrides": {"ndcg": {"score_dtype": "float32"}}},
        {"decimals": 4.0},
        {"decimals": True},
        {"decimals": "4"},
        {"decimals": -1},
        {"decimals": 16},
        {"decimals": 10**5000},
        {"overrides": {"ndcg": "gain"}},
        {"overrides": None},
        {"overrides": {"no_such_metric": {}}},
        {"overrides": {"ndcg": {"no_such_field": 1}}},
        {"overrides": {"ndcg": {"gain": "cubic"}}},
    ],
)
def test_wrong_values_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(exactk.ExactkError) as caught:
        STANDARD.replace(**changes)
    assert caught.value.argument == "convention"


def test_the_least_grade_above_0_is_any_grade_above_0() -> None:
    assert STANDARD.replace(min_grade=5e-324) == STANDARD


def test_immutable_hashable_and_through_plain_data_and_pickle() -> None:
    mine = STANDARD.replace(min_grade=3.5, gain_table=[0, 1, 3], decimals=4, score_dtype="float32")
    with pytest.raises(dataclasses.FrozenInstanceError):
        mine.gain = "exp2"  # type: ignore[misc]
    with pytest.raises(TypeError):
        mine.overrides["ndcg"] = {}  # type: ignore[index]
    again = exactk.Convention.from_dict(mine.to_dict())
    assert again == mine == pickle.loads(pickle.dumps(mine))  # noqa: S301 - just written
    assert hash(again) == hash(mine)
    assert "min_grade=3.5" in repr(mine)


def test_what_an_override_takes_back_is_said() -> None:
    mine = STANDARD.replace(users="both", overrides={"ndcg": {"users": "truth"}})
    assert repr(mine) == "<Convention custom: users='both', ndcg.users='truth'>"


@pytest.mark.parametrize(
    ("metric", "truth", "value"),
    [
        ("ndcg@2(gain=linear)", {1: 3.0, 2: 1.0, 3: 2.0}, (1 + 3 * 0.6309297535714575) / (3 + 2 * 0.6309297535714575)),
        ("ndcg@2(gain=binary)", {1: 3.0, 2: 1.0, 3: 2.0}, 1.0),
        ("ndcg@2(gain=exp2)", {1: 3.0, 2: 1.0, 3: 2.0}, (1 + 7 * 0.6309297535714575) / (7 + 3 * 0.6309297535714575)),
        ("dcg@2(gain=table,gain_table=[0,10,5,1])", {1: 3.0, 2: 1.0, 3: 2.0}, 10 + 0.6309297535714575),
        ("ndcg@2(gain=table,gain_table=[0,10,5,1])", {1: 3.0, 2: 1.0, 3: 2.0}, (10 + 0.6309297535714575) / (10 + 5 * 0.6309297535714575)),
        ("dcg@2(gain=exp2_shifted,min_grade=1)", {1: 3.0, 2: 1.0, 3: 2.0}, 1 + 7 * 0.6309297535714575),
        ("dcg@2(gain=exp2_shifted,min_grade=-2)", {1: 3.0, 2: -2.0, 3: 2.0}, 1 + 63 * 0.6309297535714575),
        ("dcg@2(gain=exp2_shifted,min_grade=2)", {1: 3.0, 2: -1e300, 3: 2.0}, 3 * 0.6309297535714575),
        ("ndcg@1(ideal_over=all_judged)", {1: 1.0, 2: 1.0}, 1 / 1.6309297535714575),
    ],
)  # fmt: skip
def test_gains(metric: str, truth: dict[int, float], value: float) -> None:
    """The list is 2, 1, 9: grades 1 and 3, or 1 and 1."""
    assert exactk.evaluate([truth], [[2, 1, 9]], metric)[metric] == pytest.approx(value, rel=1e-15)
