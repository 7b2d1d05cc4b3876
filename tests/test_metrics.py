"""The spelling of metrics."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import exactk
from exactk._plan.fields import number_of_text
from exactk._plan.metric_strings import canonical_name, plan
from exactk._runtime.texts import parse_number
from strategies import conventions, metric_strings

STANDARD = exactk.conventions["standard"]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("P@10", "precision@10"),
        ("p_10", "precision@10"),
        ("nDCG@10", "ndcg@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("map", "average_precision"),
        ("MAP_cut_100", "average_precision@100"),
        ("MRR", "reciprocal_rank"),
        ("recip_rank", "reciprocal_rank"),
        ("success_5", "hit_rate@5"),
        ("f1@3", "f1@3"),
        ("f_1", "f1"),
        ("f_beta@3( beta = 2 )", "fbeta@3(beta=2)"),
        ("fbeta@3(beta=1.0)", "fbeta@3"),
        ("fbeta@3(beta=inf)", "fbeta@3(beta=inf)"),
        ("fbeta@3(beta=0.1234567890123)", "fbeta@3(beta=0.1234567890123)"),
        ("rprec", "r_precision"),
        ("num_rel_ret", "num_hits"),
        ("precision@10(average=macro)", "precision@10"),
        ("precision@10(users=both,average=micro)", "precision@10(average=micro,users=both)"),
        ("ndcg(gain=table,gain_table=[0,1,3.5])", "ndcg(gain=table,gain_table=[0,1,3.5])"),
        ("rbp(p=0.5,gain=linear)", "rbp(p=0.5)"),
        ("recall(min_grade=3.5)", "recall(min_grade=3.5)"),
        ("recall(decimals=4,min_grade=3.5)", "recall(min_grade=3.5,decimals=4)"),
        ("recall(decimals=None)", "recall"),
        ("list_auc@10(num_items=1e3)", "list_auc@10(num_items=1000)"),
        ("err@10(max_grade=4)", "err@10"),
        ("set_map@10", "set_average_precision@10"),
        ("Hit-Rate@10", "hit_rate@10"),
        ("nDCG-Cut-10", "ndcg@10"),
        ("AveragePrecision@5", "average_precision@5"),
        ("F-1@3", "f1@3"),
        ("rbp(P=0.5)", "rbp(p=0.5)"),
        ("err(MaxGrade=3,Missing-List=Zero)", "err(max_grade=3,missing_list=zero)"),
        ("recall(Min_Grade=Any,decimals=none)", "recall(min_grade=any)"),
    ],
)
def test_canonical_names(spelling: str, name: str) -> None:
    assert canonical_name(spelling, STANDARD) == name
    assert canonical_name(name, STANDARD) == name


def test_several_cutoffs_and_repeats() -> None:
    values = plan(["ndcg@[10,5]", "P@5", "nDCG@5", "precision@5"], STANDARD)
    assert [value.name for value in values] == ["ndcg@10", "ndcg@5", "precision@5"]


def test_commas_separate_metrics_but_not_within_parentheses_and_brackets() -> None:
    text = "ndcg@[5,10], recall@10(average=micro,users=both),dcg(gain=table,gain_table=[0,1,3]) , mrr"
    expected = ["ndcg@[5,10]", "recall@10(average=micro,users=both)", "dcg(gain=table,gain_table=[0,1,3])", "mrr"]
    assert plan(text, STANDARD) == plan([text], STANDARD) == plan(expected, STANDARD)
    assert len(plan(text, STANDARD)) == 5
    assert [value.name for value in plan(["P@1,recall@1", "P@1"], STANDARD)] == ["precision@1", "recall@1"]


@pytest.mark.parametrize("text", ["ndcg@10,", ",ndcg@10", "ndcg@10,,mrr", "ndcg@10, ,mrr", ","])
def test_a_comma_without_a_metric_on_both_sides_is_an_error(text: str) -> None:
    with pytest.raises(exactk.InputError, match=f"a metric before and after each comma, found {text!r}$"):
        plan(text, STANDARD)


def test_cutoffs_without_brackets_are_answered_with_what_to_write() -> None:
    with pytest.raises(
        exactk.InputError, match=r"found 'recall@5,10'; brackets hold several cutoffs, as in ndcg@\[5,10\]"
    ):
        plan("recall@5,10", STANDARD)


def test_one_name_asks_for_one_value() -> None:
    report = exactk.evaluate([[1]], [[1]], "P@1,recall@1")
    with pytest.raises(KeyError, match="one metric at one cutoff"):
        report["P@1,recall@1"]


@given(metric_strings(), conventions())
def test_canonical_names_resolve_to_themselves(spelling: str, convention: exactk.Convention) -> None:
    (value,) = plan(spelling, convention)
    (again,) = plan(value.name, convention)
    assert again == value


@pytest.mark.parametrize(
    "spelling",
    ["", "@10", "ndgc@10", "ndcg@10)", "ndcg(10)", "ndcg@(10)", "ndcg_10@10", "fbeta(beta=x)", "fbeta(beta=-1)",
     "fbeta(beta=nan)", "precision(beta=2)", "rbp(p=1)", "rbp(p=1.5)", "ndcg(gain=cubic)", "ndcg(gain_table=3)",
     "ndcg(gain_table=[1,x])", "ndcg(gain=table)", "hit_rate(average=micro)", "precision(precision_over=hits)",
     "ndcg@10(ideal_over=cutoff)", "ndcg(ideal_over=cutoff,gain=binary)", "precision(average=micro,empty_truth=one)",
     "ndcg@10(gain=table,gain_table=[0,-1])", "recall(min_grade=nan)", "précision",
     "f_2", "fbeta_10", "P@1 0", "prec ision", "fbeta(beta=2,beta=3)", "fbeta(beta=1_0)", "fbeta(beta=1e400)",
     "list_auc@10", "list_auc", "list_auc(num_items=2.5)", "list_auc(num_items=0)", "list_auc(num_items=inf)",
     "err(max_grade=0.5)", "mean_precision@1048577",
     "recall(gain_table={0:1})", "recall(score_dtype=float64)", "recall(negative_infinity=last)", "recall(decimals=4.0)", "recall(decimals=-1)", "recall(decimals=16)", "recall(decimals=)"],
)  # fmt: skip
def test_spellings_that_are_none(spelling: str) -> None:
    with pytest.raises(exactk.ExactkError) as caught:
        exactk.evaluate([[1]], [[1]], spelling)
    assert caught.value.argument in {"metrics", "convention"}


@pytest.mark.parametrize(
    "text",
    ["1", "+1.5e3", "-.5", "1.", "1e-3", "inf", "-Infinity", "1_0", "1e400", "1e-400", "9007199254740993", "nan", "NaN",
     "0x10", "1,5", "--1", "", ".", "e5", "\N{ARABIC-INDIC DIGIT ONE}", "1\N{FULLWIDTH DIGIT ONE}", "\ud800"],
)  # fmt: skip
def test_f55_the_numbers_of_metric_strings_are_those_of_files(text: str) -> None:
    number = parse_number(text)
    if number is None or math.isnan(number):
        with pytest.raises(exactk.InputError, match="expected a number"):
            number_of_text(text, "metrics")
    else:
        assert number_of_text(text, "metrics") == number


def test_f55_one_module_parses_numbers() -> None:
    sources = Path(exactk.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if "_core.parse_number" in path.read_text(encoding="utf-8")] == ["texts.py"]


@given(st.text(max_size=30))
def test_any_text_is_a_metric_or_an_error(text: str) -> None:
    try:
        assert exactk.evaluate([[1]], [[1]], text).metrics
    except exactk.ExactkError as error:
        assert error.argument in {"metrics", "convention", "items", "base_predictions"}  # noqa: PT017 - either outcome is right


def test_a_misspelt_name_is_answered_with_a_suggestion() -> None:
    with pytest.raises(exactk.InputError, match=r"did you mean 'ndcg'"):
        exactk.evaluate([[1]], [[1]], "ndgc@10")


def test_a_set_of_metrics_has_no_order() -> None:
    with pytest.raises(exactk.InputTypeError, match="a list of them, found set"):
        exactk.evaluate([[1]], [[1]], {"recall", "ndcg"})


def test_an_empty_list_of_metrics_is_an_error() -> None:
    with pytest.raises(exactk.InputError, match="at least one metric"):
        exactk.evaluate([[1]], [[1]], [])


@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
def test_metrics_may_be_left_out(evaluate: Any) -> None:
    expected = ["precision@10", "recall@10", "ndcg@10", "map@10", "mrr@10"]
    with pytest.warns(exactk.EvaluationWarning, match="no list is longer than 3"):
        report = evaluate([[1, 4], [21]], [[4, 2, 1], [3, 21]])
    with pytest.warns(exactk.EvaluationWarning, match="no list is longer than 3"):
        assert report == evaluate([[1, 4], [21]], [[4, 2, 1], [3, 21]], expected)


def test_a_parameter_without_a_default_must_be_given() -> None:
    truth, lists = [[1, 4], [21]], [[4, 2, 1], [3, 21]]
    with pytest.raises(exactk.InputError, match=r"list_auc\(num_items=...\), which has no default"):
        exactk.evaluate(truth, lists, "list_auc@3")
    with pytest.raises(exactk.InputError, match=r"list_auc\(num_items=...\), which has no default"):
        exactk.metrics.list_auc(truth, lists, 3)
    with pytest.raises(exactk.InputError, match=r"^num_items: .*a whole number"):
        exactk.metrics.list_auc.with_(num_items=10.5)
