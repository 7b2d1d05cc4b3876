from __future__ import annotations

import ast
import json
import math
import pickle
import re
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import exactk
from exactk import _core
from exactk._plan.fields import CORE_FIELDS, FIELDS
from exactk._plan.metric_strings import plan
from exactk._plan.metrics import ignored_fields, metrics as metric_registry
from exactk._plan.values import counts_ranks
from exactk._runtime.texts import fold
from refusals import refused
from strategies import Evaluation, spell

STANDARD = exactk.conventions["standard"]


def test_the_fields_are_those_of_the_core_with_its_defaults() -> None:
    defaults = {name: getattr(exactk.Convention, name) for name in exactk.Convention.__annotations__}
    assert set(FIELDS) == set(defaults) - {"overrides", "name"}
    assert {name: f.standard for name, f in CORE_FIELDS.items()} == {name: defaults[name] for name in CORE_FIELDS}
    assert [*FIELDS][: len(CORE_FIELDS)] == [f.name for f in _core.convention_fields()]


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
    assert STANDARD.replace(name="mine").name == "mine"


def test_the_name_of_a_changed_preset_says_what_was_changed() -> None:
    ranx = exactk.conventions["ranx"]
    mine = ranx.replace(ties="expected", overrides={"ndcg": {"gain": "exp2"}})
    assert mine.name == "ranx with ties='expected', ndcg.gain='exp2'"
    assert mine.replace(decimals=3).name == "ranx with ties='expected', decimals=3, ndcg.gain='exp2'"
    assert mine.replace(ties=ranx.ties, overrides={}).name == "ranx"
    assert exactk.Convention.from_dict(mine.to_dict()).name == mine.name
    assert STANDARD.replace(gain="table", gain_table=list(range(9))).name == (
        "standard with gain='table', gain_table=(0.0, 1.0, ... 8.0)"
    )
    assert exactk.Convention(gain="exp2").replace(nan="last").name == "custom"


CHANGED: dict[str, tuple[Any, str]] = {
    "preset": ("ranx", "convention ranx;"),
    "of the standard": ({"nan": "last"}, "convention standard with nan='last';"),
    "of a preset": ({"base": "RANX", "ties": "expected"}, "convention ranx with ties='expected';"),
    "of one metric": ({"base": "ranx", "map.users": "both"}, "convention ranx with average_precision.users='both';"),
    "of an override": ({"base": "sklearn", "ndcg.ties": "lowest_id"}, "convention sklearn with ndcg.ties='lowest_id';"),
    "constructed": (exactk.Convention(nan="last"), "convention custom: nan='last';"),
    "named": (STANDARD.replace(nan="last", name="mine"), "convention mine: nan='last';"),
    "misnamed": (STANDARD.replace(gain="exp2", name="capped"), "convention capped with recall_over='relevant', gain="),
    "equal": ({"base": "ranx", "ap_over": "relevant"}, "convention ranx;"),
}
"""A convention, and how the last line of a report begins."""


@pytest.mark.parametrize("case", CHANGED)
def test_a_report_prints_what_was_changed_of_its_convention(case: str) -> None:
    convention, footer = CHANGED[case]
    report = exactk.evaluate([[1]], [[1]], "ndcg@1", convention=convention)
    assert repr(report).splitlines()[-1].startswith(footer)
    assert exactk.Report.from_json(report.to_json())._rules_text == report._rules_text


def test_names_are_read_without_regard_to_case_hyphens_and_underscores() -> None:
    for spelling in ("TREC-Eval", "treceval", "Trec_Eval"):
        assert exactk.conventions[spelling] is exactk.conventions["trec_eval"]
        assert exactk.evaluate([[1]], [[1]], "mrr", convention=spelling).convention.name == "trec_eval"
    changes = {"Min-Grade": "Any", "emptytruth": "Compute", "score-dtype": "FLOAT32", "nDCG@K.Gain": "EXP2"}
    expected = STANDARD.replace(
        min_grade="any", empty_truth="compute", score_dtype="float32", overrides={"ndcg@k": {"gain": "exp2"}}
    )
    assert expected.diff(changes) == {}
    assert STANDARD.replace(overrides={"MRR": {"TIES": "Shared"}}).overrides == {"reciprocal_rank": {"ties": "shared"}}
    spelled: Any = {"ties": "Highest-ID", "nan": "LAST"}
    assert exactk.topk(np.eye(2), 1, **spelled).items.tolist() == [[0], [1]]


@pytest.mark.parametrize(
    "changes",
    [
        {"nan": "last", "NaN": "raise"},
        {"ndcg.gain": "exp2", "nDCG.gain": "linear"},
        {"ndcg.gain": "exp2", "ndcg.Gain": "linear"},
        {"overrides": {"map": {"ties": "shared"}, "average_precision": {"ties": "raise"}}},
    ],
)
def test_two_spellings_of_one_name_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(exactk.InputError, match=r"convention: expected .* once"):
        STANDARD.diff(changes)


def spellings_collide(*groups: list[str]) -> list[str]:
    """Return the spellings, of those in one group of one thing, that another thing has too."""
    things = [{fold(name) for name in group} for group in groups]
    return [name for index, thing in enumerate(things) for name in thing for other in things[:index] if name in other]


def test_no_two_things_share_a_spelling() -> None:
    infos = exactk.metrics.values()
    assert not spellings_collide(*([info.name, *info.aliases] for info in infos))
    assert not spellings_collide(*([name] for name in exactk.conventions))
    assert not spellings_collide(*([name] for name in FIELDS), *([name] for name in ("base", "name", "overrides")))
    parameters = {info.parameter.name for info in infos if info.parameter is not None}
    assert not spellings_collide(*([name] for name in FIELDS), *([name] for name in parameters))
    for f in FIELDS.values():
        assert not spellings_collide(*([choice] for choice in f.choices)), f.name
    assert spellings_collide(["ndcg_cut"], ["nDCG-cut"])


def test_no_spelling_of_a_metric_is_another_at_a_cutoff() -> None:
    """f_1 is f1, the one name that ends in a number."""
    spellings = [name for info in exactk.metrics.values() for name in (info.name, *info.aliases)]
    for spelling in spellings:
        stem = fold(spelling).rstrip("0123456789")
        if stem != fold(spelling) and stem in exactk.metrics:
            assert exactk.metrics[spelling].name == "f1"


UNUSED: dict[str, tuple[str, Any, str | None]] = {
    "table": ("ndcg", {"gain_table": [0, 1]}, "gain_table has no effect beside gain='linear'; convention="),
    "table of a preset": ("ndcg", {"base": "ranx", "gain_table": [0, 1]}, "gain_table has no effect beside gain='lin"),
    "table of a metric": ("ndcg", {"ndcg.gain_table": [0, 1]}, "gain_table has no effect beside gain='linear'"),
    "table of a string": ("ndcg(gain_table=[0])", "standard", "gain_table has no effect beside gain='linear' in ndcg("),
    "table of a Convention": ("ndcg", exactk.Convention(gain_table=(0.0, 1.0)), "gain_table has no effect beside"),
    "list": ("recall", {"users": "both", "missing_list": "zero"}, "missing_list has no effect beside users='both'"),
    "of lenskit": ("recall", {"base": "lenskit", "missing_list": "one"}, "missing_list has no effect beside users='pr"),
    "gain of a metric without": ("P@1(gain=exp2),P(gain=exp2)", "standard", "gain has no effect on precision: leave"),
    "gain of an override": ("recall@1,mrr", {"recall.gain": "exp2"}, "gain has no effect on recall: leave it out"),
    "gain of an override at cutoffs": ("recall@1,P", {"recall@k.gain": "exp2"}, "gain has no effect on recall: leave"),
    "gain that is fixed": ("err(gain=binary)", "standard", "gain has no effect on err: leave it out"),
    "table of a metric without": ("mrr(gain_table=[0,1])", "standard", "gain_table has no effect on reciprocal_rank"),
    "discount of a metric without": ("recall@1(discount=log2_floored)", "standard", "discount has no effect on recall"),
    "divisor of another metric": ("recall@1(ap_over=hits)", "standard", "ap_over has no effect on recall: leave"),
    "gain of all": ("P@1,ndcg@1", {"gain": "exp2", "ap_over": "hits"}, None),
    "divisors of a metric": ("fbeta(precision_over=list,recall_over=min_list_relevant)", "standard", None),
    "used": ("ndcg", {"gain": "table", "gain_table": [0, 1]}, None),
    "used by a metric that was not asked for": ("recall", {"ndcg.gain": "table", "gain_table": [0, 1]}, None),
    "used by a string": ("ndcg(gain=table)", {"gain_table": [0, 1]}, None),
    "used elsewhere": ("ndcg(gain=exp2),ndcg", {"gain": "table", "gain_table": [0, 1]}, None),
    "used by the union": ("recall", {"users": "union", "missing_list": "zero"}, None),
    "a preset's": ("num_relevant", {"base": "ir_measures", "users": "both"}, None),
}  # fmt: skip
"""Metrics, a convention, and the warning, if there is one."""


@pytest.mark.parametrize("case", UNUSED)
@pytest.mark.parametrize("engine", [exactk, exactk.reference], ids=["core", "reference"])
def test_a_field_without_effect_is_warned_of_once(case: str, engine: Any) -> None:
    metrics, convention, warning = UNUSED[case]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        engine.evaluate([{1: 1.0}], [[1]], metrics, convention=convention)
    messages = [str(one.message) for one in caught]
    assert [message.startswith(warning or "none") for message in messages] == [True] * (warning is not None), messages
    changes = re.search(r"convention=(\{.*\}) uses it", " ".join(messages))
    assert (changes is None) == (warning is None or "leave it out" in messages[0] or "string" in case)
    if changes:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            engine.evaluate([{1: 1.0}], [[1]], metrics, convention=ast.literal_eval(changes[1]))
        assert not caught


_OTHER_NUMBERS = {
    "gain_table": "[0,0.5,2,3]",
    "gain_range": "[0,3]",
    "discount_table": "[1,0.25]",
    "discount_base": "10",
    "discount_power": "0.5",
    "discount_persistence": "0.5",
    "min_grade": "3",
}


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("metric", exactk.metrics)
def test_a_field_that_a_metric_ignores_changes_no_value(metric: str) -> None:
    truth = [{1: 2.0, 2: 1.0, 3: 0.0, 7: 3.0}, {1: 1.0, 4: 2.0}, {5: 3.0, 6: 1.0}]
    lists = [[3, 1, 9, 2], [4, 8, 1], [8, 5, 3, 9]]
    info = metric_registry[metric]
    ignored = ignored_fields(info)
    base, _, arguments = spell(metric).replace("@3", "").partition("(")
    refused = (
        {"weight", "average"} if info.of_collection else {"weight"}
    )  # see test_item_values.py, test_misread_items.py
    cutoffs = ("@1", "@3") if counts_ranks(info) else ("", "@1", "@3")[: 1 if info.pairwise else 3]

    def values_with(*changes: str) -> list[Any]:
        given = ",".join([*filter(None, [arguments.removesuffix(")")]), *changes])
        texts = [f"{base}{cutoff}({given})" if given else f"{base}{cutoff}" for cutoff in cutoffs]
        report = Evaluation(truth, lists, texts, {"per_user": True}).run()
        return [*report.values(), *(row.tolist() for row in report.per_user.values())]

    expected = values_with()
    for field in sorted(ignored - refused):
        for choice in FIELDS[field].choices or (_OTHER_NUMBERS[field],):
            changes = [f"{field}={choice}"]
            changes += [f"{field}_table={_OTHER_NUMBERS[f'{field}_table']}"] if choice == "table" else []
            changes += [f"{field}_range={_OTHER_NUMBERS[f'{field}_range']}"] if choice == "scaled" else []
            needed = FIELDS[field].requires
            changes += [f"{needed.field}={needed.choices[0]}"] if needed and needed.field in ignored - refused else []
            assert values_with(*changes) == expected, (field, choice)


@pytest.mark.parametrize("preset", exactk.conventions)
def test_every_field_of_a_preset_has_an_effect(preset: str) -> None:
    for value in plan([spell(name) for name in exactk.metrics if name != "ndcg"], exactk.conventions[preset]):
        assert not value.unused_fields


def test_an_override_holds_for_its_metric_and_the_string_goes_before_it() -> None:
    convention = STANDARD.replace(overrides={"recall": {"recall_over": "min_cutoff_relevant"}})
    truth, lists = [[1, 2, 3, 4]], [[1, 9]]
    metrics = ["recall@2", "f1@2", "recall@2(recall_over=relevant)"]
    report = exactk.evaluate(truth, lists, metrics, convention=convention)
    assert list(report.values()) == [1 / 2, 2 / 6, 1 / 4]


def test_an_override_may_hold_where_there_is_a_cutoff() -> None:
    overrides = {
        "recall": {"recall_over": "min_cutoff_relevant", "users": "both"},
        "recall@k": {"recall_over": "relevant"},
    }
    convention = STANDARD.replace(overrides=overrides)
    truth, lists = [[1, 2, 3, 4], [1]], [[1, 9], None]
    report = exactk.evaluate(truth, lists, ["recall@2", "recall", "recall@2(users=truth)"], convention=convention)
    assert dict(report) == {"recall@2": 1 / 4, "recall": 1 / 4, "recall@2(users=truth)": 1 / 8}
    assert exactk.Report.from_json(report.to_json()).convention == convention
    assert "recall@k.recall_over='relevant'" in repr(convention)  # it takes back what holds for the metric


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
        {"overrides": {"ndcg": {"score_dtype": "float64"}}},
        {"negative_infinity": "last"},
        {"overrides": {"auc@k": {"users": "both"}}},
        {"overrides": {"ndcg@3": {"users": "both"}}},
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


@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
def test_f73_any_grade_is_relevant(evaluate: Any) -> None:
    """As in the libraries to which every row of the truth is relevant, whatever its rating."""
    truth = {"u": {"a": -1e308, "b": 0.0, "c": 2.0}}
    any_grade = STANDARD.replace(min_grade="any", gain="binary")
    asked = ["precision@3", "recall@3(min_grade=0)", "hit_rate@1"]
    report = evaluate(truth, {"u": ["a", "x", "b"]}, asked, convention=any_grade)
    assert dict(report) == dict(zip(asked, (2 / 3, 1 / 2, 1.0), strict=True))
    assert exactk.Convention.from_dict(json.loads(json.dumps(any_grade.to_dict()))) == any_grade
    assert STANDARD.replace(min_grade=-sys.float_info.max).min_grade == "any"
    with refused("metrics: no min_grade to shift by", "a number as min_grade"):
        evaluate(truth, {"u": ["a"]}, "dcg(gain=exp2_shifted,min_grade=any)")


def test_immutable_hashable_and_through_plain_data_and_pickle() -> None:
    mine = STANDARD.replace(min_grade=3.5, gain_table=[0, 1, 3], decimals=4, score_dtype="float32")
    with pytest.raises(AttributeError):
        mine.gain = "exp2"  # type: ignore[misc]
    with pytest.raises(TypeError):
        mine.overrides["ndcg"] = {}  # type: ignore[index]
    again = exactk.Convention.from_dict(mine.to_dict())
    assert again == mine == pickle.loads(pickle.dumps(mine))  # noqa: S301 - just written
    assert hash(again) == hash(mine)
    assert "min_grade=3.5" in repr(mine)


def test_what_an_override_takes_back_is_said() -> None:
    mine = STANDARD.replace(users="both", overrides={"ndcg": {"users": "truth"}})
    assert repr(mine) == "<Convention standard with users='both', ndcg.users='truth'>"
    of_ranx = exactk.conventions["ranx"].replace(users="both")
    assert repr(of_ranx).startswith("<Convention ranx with users='both': ap_over='relevant', users='both', empty_truth")


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


NEGATIVE = {"u": {"a": 2.0, "b": -1.0, "c": 0.0, "d": -2.0, "e": 1.0}}
RANKED = {"u": ["b", "a", "c", "e", "x"]}
DISCOUNTS = [1 / math.log2(rank + 1) for rank in range(1, 6)]


@pytest.mark.parametrize(
    ("choice", "metric", "expected"),
    [
        ("raise", "bpref", (1 - 1 / 2 + 1 - 2 / 2) / 2),  # b and c are above e, b above a
        ("zero_gain", "bpref", (1 - 1 / 2 + 1 - 2 / 2) / 2),
        ("unjudged", "bpref", (1 + 1 - 1 / 1) / 2),  # c alone is judged and not relevant
        ("zero_gain", "judged@5", 4 / 5),
        ("unjudged", "judged@5", 3 / 5),
        *(
            (choice, metric, expected)
            for choice in ("unjudged", "zero_gain")
            for metric, expected in (
                ("dcg@5", 2 * DISCOUNTS[1] + DISCOUNTS[3]),
                ("dcg@5(gain=exp2)", 3 * DISCOUNTS[1] + DISCOUNTS[3]),
                ("dcg@5(gain=table,gain_table=[0,5,7])", 7 * DISCOUNTS[1] + 5 * DISCOUNTS[3]),
                ("ndcg@5", (2 * DISCOUNTS[1] + DISCOUNTS[3]) / (2 + DISCOUNTS[1])),
                ("rbp(p=0.5)", 0.5 * (2 * 0.5 + 0.125)),
                ("err@5(max_grade=2)", 3 / 4 / 2 + 1 / 4 * (1 / 4) / 4),
            )
        ),
        ("zero_gain", "dcg@5(min_grade=-1)", 2 * DISCOUNTS[1] + DISCOUNTS[3]),  # b is relevant, and gains nothing
        ("zero_gain", "dcg@5(gain=exp2_shifted,min_grade=-1)", 15 * DISCOUNTS[1] + 3 * DISCOUNTS[2] + 7 * DISCOUNTS[3]),
        ("raise", "dcg@5(gain=exp2_shifted,min_grade=-1)", 1 + 15 * DISCOUNTS[1] + 3 * DISCOUNTS[2] + 7 * DISCOUNTS[3]),
        ("zero_gain", "dcg@5(gain=binary,min_grade=-1)", sum(DISCOUNTS[:4])),
    ],
)
def test_f69_negative_grades_are_what_the_convention_says(choice: Any, metric: str, expected: float) -> None:
    convention = STANDARD.replace(negative_grades=choice, ap_over="relevant")
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        report: Any = evaluate(NEGATIVE, RANKED, metric, convention=convention)
        assert list(report.values()) == [pytest.approx(expected, rel=1e-12)]


@pytest.mark.parametrize(
    "metric", ["ndcg", "dcg@3", "err", "rbp", "ndcg(gain=exp2)", "dcg(gain=table,gain_table=[0,5,7])"]
)
def test_f69_gains_of_negative_grades_are_refused_by_default(metric: str) -> None:
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        with refused("truth: grade without a gain", "found grade -1") as caught:
            evaluate(NEGATIVE, RANKED, metric)
        error = caught.value
        assert (error.argument, error.row, error.position, error.count) == ("truth", 0, 1, 2)
    with pytest.raises(exactk.InputError, match=r"convention=\{'negative_grades': 'zero_gain'\} gives it gain 0"):
        exactk.evaluate(NEGATIVE, RANKED, metric)


def test_f69_what_is_not_judged_cannot_be_relevant() -> None:
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        with refused("metrics: relevant grades below 0 that are unjudged", "min_grade of 0 or more .*, found -1"):
            evaluate(NEGATIVE, RANKED, "recall(min_grade=-1,negative_grades=unjudged)")
        with refused("convention: relevant grades below 0 that are unjudged", "min_grade of 0 or more"):
            evaluate(
                NEGATIVE,
                RANKED,
                "recall(min_grade=0)",
                convention=STANDARD.replace(min_grade=-1, negative_grades="unjudged"),
            )


def test_f69_of_several_grades_the_one_that_counts_says_whether_an_item_is_judged() -> None:
    truth = exactk.Truth([0, 3], [7, 8, 8], [0.0, -1.0, 2.0])
    duplicates: Any
    for duplicates, expected in (("first", 1 / 2), ("max", 1.0), ("count", 1 / 2)):
        convention = STANDARD.replace(negative_grades="unjudged", duplicate_truth=duplicates, empty_truth="compute")
        for evaluate in (exactk.evaluate, exactk.reference.evaluate):
            report = evaluate(truth, [[8, 7]], ["judged@2", "num_relevant"], convention=convention)
            assert list(report.values()) == [expected, float(duplicates == "max")], duplicates


@pytest.mark.parametrize("preset", ["trec_eval", "trec_eval_complete", "pytrec_eval", "ir_measures"])
def test_f69_bpref_is_that_of_trec_eval(preset: str) -> None:
    """An unjudged item above the only relevant one: trec_eval says 1."""
    truth, lists = {"u": {"a": 1, "b": -1, "c": 0}}, {"u": {"b": 2.0, "a": 1.0}}
    assert exactk.evaluate(truth, lists, "bpref", convention=preset)["bpref"] == 1.0
    assert exactk.evaluate(truth, lists, "ndcg", convention=preset)["ndcg"] == pytest.approx(DISCOUNTS[1])


def test_a_name_that_is_no_preset_stands_before_all_that_is_not_standard() -> None:
    assert repr(exactk.Convention(name="ours", gain="exp2")) == "<Convention ours: gain='exp2'>"
    assert repr(exactk.Convention(name="ours")) == "<Convention ours: the defaults>"


def test_a_number_that_may_be_a_word_is_asked_for_with_all_of_them() -> None:
    expected = "expected min_grade to be a finite number, 'any' or None, found 'all'"
    with pytest.raises(exactk.InputTypeError, match=expected):
        exactk.Convention(min_grade="all")  # type: ignore[arg-type]
