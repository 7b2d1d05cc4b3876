"""The measures of ir_measures by their own names, and F by its beta: one value, in whichever words it was asked for."""

from __future__ import annotations

import re
from typing import Any

import pytest

import exactk
from exactk._plan.library_names import MEASURES
from exactk._plan.metric_strings import plan

NAMES = {
    "f2@10": "fbeta@10(beta=2)",
    "F0.5": "fbeta(beta=0.5)",
    "f0.5@3(average=micro)": "fbeta@3(beta=0.5,average=micro)",
    "f1@3": "f1@3",
    "fbeta(beta=2)@10": "fbeta@10(beta=2)",
    "P(rel=2)@5": "precision@5(min_grade=2)",
    "Precision@5(rel=2, judged_only=True)": "precision@5(unjudged=remove,min_grade=2)",
    "R(rel=2)@100": "recall@100(min_grade=2)",
    "AP(rel=2)": "average_precision(min_grade=2)",
    "RR(judged_only=False)@3": "reciprocal_rank@3",
    "nDCG(dcg='exp-log2')@10": "ndcg@10(gain=exp2)",
    'nDCG(dcg="log2")': "ndcg",
    "Success(rel=3)@5": "hit_rate@5(min_grade=3)",
    "Rprec(rel=2)": "r_precision(min_grade=2)",
    "IPrec@0.1": "interpolated_precision(recall=0.1)",
    "IPrec(rel=2)@0.5": "interpolated_precision(recall=0.5,min_grade=2)",
    "IPrec@5(recall=0.5)": "interpolated_precision@5(recall=0.5)",
    "Bpref(rel=2)": "bpref(min_grade=2)",
    "RBP(p=0.85)@10": "rbp@10(p=0.85)",
    "RBP(rel=1,p=.9)": "rbp(p=0.9,gain=binary,min_grade=1)",
    "SetP": "precision",
    "SetP(relative=True)": "precision(precision_over=min_list_relevant)",
    "SetR(rel=2)": "recall(min_grade=2)",
    "SetF": "fbeta",
    "SetF(rel=2,beta=4.0)": "fbeta(beta=2,min_grade=2)",
    "SetAP": "set_average_precision",
    "NumRet": "num_recommended",
    "NumRet(rel=2)": "num_hits(min_grade=2)",
    "NumRel(rel=2)": "num_relevant(min_grade=2)",
    "Accuracy@3(num_items=9)": "accuracy@3(num_items=9)",
    "Judged@10": "judged@10",
    "ERR@20": "err@20",
    "Compat(p=0.8,normalize=False)": "compatibility(p=0.8,compatibility_over=weights)",
    "BPM(T=2.0,max_rel=3)@10": "bpm@10(t=2,gain=scaled,gain_range=[0,3])",
    "SDCG(min_rel=1,max_rel=3)@5": "sdcg@5(gain=scaled,gain_range=[1,3])",
    "INSQ(T=2,max_rel=3)": "insq(t=2,gain=scaled,gain_range=[0,3])",
    "NERR10(p=0.8,max_rel=3)": "nerr10(p=0.8,gain=scaled,gain_range=[0,3])",
}


@pytest.mark.parametrize("asked", NAMES)
def test_names_of_other_libraries(asked: str) -> None:
    (value,) = plan(asked, exactk.conventions["standard"])
    assert (value.spelling, value.name) == (asked, NAMES[asked])
    assert plan(value.name, exactk.conventions["standard"])[0].name == value.name


def test_what_was_asked_is_the_key_of_the_report() -> None:
    truth, predictions = {"a": {"x": 3, "y": 1}}, {"a": ["y", "z", "x"]}
    asked = ["P(rel=2)@[1,3]", "IPrec@0.5", "IPrec@1.0", "f2@[2,3]", "dcg(gain=table,gain_table=[1,2,3,4])@[1,2]"]
    report = exactk.evaluate(truth, predictions, asked, convention="ir_measures")
    assert list(report) == [
        *("P(rel=2)@1", "P(rel=2)@3", "IPrec@0.5", "IPrec@1.0", "f2@2", "f2@3"),
        *(f"dcg(gain=table,gain_table=[1,2,3,4])@{k}" for k in (1, 2)),
    ]
    assert report["precision@3(min_grade=2)"] == report["P(rel=2)@3"] == 1 / 3
    labels = [value.label for value in report._plan]
    assert labels[:6] == ["P(rel=2)", "P(rel=2)", "IPrec@0.5", "IPrec@1.0", "f2", "f2"]
    assert exactk.State.from_bytes(report.state.to_bytes()).spellings == tuple(report)


def test_a_name_with_two_meanings_is_refused_unless_the_convention_has_one() -> None:
    """ir_measures' Accuracy is of pairs, RecTools' of all items, whose number must be given."""
    truth, predictions = [[1, 2]], [[1, 9, 2]]
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate(truth, predictions, "Accuracy@3")
    assert str(caught.value) == (
        "metrics: expected accuracy(num_items=...), or pairwise_accuracy, which is Accuracy@3 of ir_measures, "
        "found 'Accuracy@3'; convention='ir_measures' has its names"
    )
    for convention in ("ir_measures", {"base": "ir_measures", "undefined": "zero"}):
        report = exactk.evaluate(truth, predictions, "Accuracy@3,accuracy@3(num_items=9)", convention=convention)
        assert dict(report) == {"Accuracy@3": 0.5, "accuracy@3(num_items=9)": 8 / 9}
        assert report.state.metrics[0].startswith("pairwise_accuracy@3")
    namesakes = {name: exactk.metrics[name] for name, measure in MEASURES.items() if name in exactk.metrics}
    different = {name: info for name, info in namesakes.items() if info.name != MEASURES[name].metric}
    assert [*different] == ["Accuracy"]
    required = different["Accuracy"].parameter
    assert required is not None
    assert required.standard is None  # else exactk's metric could not be told from the other


WRONG = {
    "AP(judged_only=maybe)": "judged_only to be True or False, found 'maybe' in 'AP(judged_only=maybe)'",
    "SetF(beta=x)": "a number, found 'x' in 'SetF(beta=x)'",
    "SetF(beta=-1)": "beta of fbeta in [0, inf], found -1.0",
    "BPM(min_rel=1)@5": "min_rel and max_rel together, found 'BPM(min_rel=1)@5'",
    "P(rel=1,min_grade=2)@5": "each parameter=value once, found 'P(rel=1,min_grade=2)@5'",
    "P(rel=1,rel=2)@5": "each parameter=value once, found 'P(rel=1,rel=2)@5'",
    "f2(beta=3)": "each parameter=value once, found 'f2(beta=3)'",
    "P(rel=2)@": "one name[@k | @[k1,k2]][(parameter=value, ...)] per string, found 'P(rel=2)@'",
    "P@3(rel=2)@4": "one name[@k | @[k1,k2]][(parameter=value, ...)] per string, found 'P@3(rel=2)@4'",
    "IPrec@2": "recall of interpolated_precision in [0, 1.0], found 2.0",
    "bpref(judged_only=True)": "the name of a field, found 'judged_only' in 'bpref(judged_only=True)'; did you mean 'unjudged'?",
    "nDCG(gains={1: 5, 2: 9})@10": "the name of a field, found 'gains' in 'nDCG(gains={1: 5, 2: 9})@10'; did you mean 'gain'?",
}


@pytest.mark.parametrize("asked", WRONG)
def test_arguments_that_a_measure_has_not(asked: str) -> None:
    with pytest.raises(exactk.InputError) as caught:
        exactk.evaluate([[1]], [[1]], asked)
    assert str(caught.value) == f"metrics: expected {WRONG[asked]}"


ARGUMENTS: dict[str, Any] = {"cutoff": 5, "recall": 0.5, "rel": 2, "max_rel": 3, "judged_only": True, "relative": True}
ARGUMENTS |= {"p": 0.7, "T": 2.0, "beta": 2.0, "min_rel": 1, "normalize": False, "dcg": "exp-log2"}
REFUSED = re.compile("NumQ|infAP|.*_IA|.*NRBP|StRecall|.*_n?DCG")
"""The report counts users; the others are not metrics of exactk yet."""


def test_the_text_of_every_measure_of_the_library() -> None:
    """With no argument, and with each one."""
    library = pytest.importorskip("ir_measures")
    names = 0
    for measure in library.measures.registry.values():
        if REFUSED.fullmatch(measure.NAME):
            continue
        choices = {name: parameter.choices for name, parameter in measure.SUPPORTED_PARAMS.items()}
        arguments = {name: ARGUMENTS[name] for name in choices if name in ARGUMENTS}
        if "dcg" in arguments:
            arguments["dcg"] = choices["dcg"][-1]
        required = {"IPrec": {"recall": 0.5}}.get(measure.NAME, {})
        for settings in (required, arguments, *({**required, name: value} for name, value in arguments.items())):
            if settings.keys() == {"min_rel"}:
                continue
            asked = str(measure(**settings))
            (value,) = plan(asked, exactk.conventions["ir_measures"])
            assert value.spelling == asked
            assert value.cutoff == settings.get("cutoff")
            names += 1
    assert names > 100


def test_1_after_at_may_be_a_cutoff_or_a_recall() -> None:
    expected = re.escape("expected interpolated_precision(recall=1), or interpolated_precision@1(recall=...), found @1")
    with pytest.raises(exactk.InputError, match=expected):
        exactk.evaluate([[1, 2]], [[9, 1, 2]], "iprec@1")
    given = exactk.evaluate([[1, 2]], [[9, 1, 2]], ["iprec@1.0", "iprec@2(recall=0.5)"])
    assert [*given.values()] == [2 / 3, 1 / 2]
    assert [*exactk.evaluate([[1, 2]], [[9, 1, 2]], "IPrec@1", convention="ir_measures").values()] == [2 / 3]
