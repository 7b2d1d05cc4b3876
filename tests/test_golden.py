"""Every preset against what its library returned: ``tests/golden`` holds the answers and how they were recorded."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import exactk
from golden.cases import KINDS, Case, cases, kinds_of, random_case
from golden.record import (
    adapter_names,
    differences,
    library_version,
    load_adapter,
    plain_outputs,
    read_recording,
    record,
)
from rankings import rankings_of

FEW = 8  # cases at least, of 201, that hold each kind of input
LIBRARIES = adapter_names()
IMPORTABLE = [name for name in LIBRARIES if load_adapter(name).DISTRIBUTION and find_spec(load_adapter(name).MODULE)]


@cache
def recorded_cases(name: str) -> list[Case]:
    return [Case.from_dict(case) for case in read_recording(name)["cases"]]


def predictions_of(case: Case, kind: str, min_score: float | None) -> Any:
    """Return the predictions as exactk takes them."""
    items = [None if row is None else [item for item, _ in row] for row in case.predictions]
    if kind == "rankings":
        return items
    if kind == "scores":
        scores = np.full((len(items), case.items), math.nan)
        for user, row in enumerate(case.predictions):
            assert row is not None
            for item, score in row:
                scores[user, item] = score
        return exactk.Scores(scores, min_score=min_score)
    lists = rankings_of(items)
    if kind == "ranks":
        ranks = np.array([rank for row in case.predictions for _, rank in row or []], np.int64)
        return exactk.Rankings(lists.indptr, lists.items, present=lists.present, ranks=ranks)
    values = np.array([score for row in case.predictions for _, score in row or []], np.float64)
    return exactk.SparseScores(lists.indptr, lists.items, values, present=lists.present, min_score=min_score)


def truth_of(case: Case) -> exactk.Truth:
    """Return the truth, an item's repetitions included."""
    lists = rankings_of([None if row is None else [item for item, _ in row] for row in case.truth])
    grades = [grade for row in case.truth for _, grade in row or []]
    return exactk.Truth(lists.indptr, lists.items, grades, present=lists.present)


def compare_outputs(case: Case, outputs: dict[str, Any], data: dict[str, Any]) -> tuple[int, dict[str, str]]:
    """Return how many values ought to be equal, and by metric the first that is not."""
    metric_of_key = {key: key.partition(" where ")[0] for key, output in outputs.items() if not isinstance(output, str)}
    if not metric_of_key:
        return 0, {}
    predictions = predictions_of(case, data["input"], data["min_score"])
    metrics = list(metric_of_key.values())
    report = exactk.evaluate(truth_of(case), predictions, metrics, convention=data["preset"], per_user=True)
    values = 0
    wrong: dict[str, str] = {}
    for key, metric in metric_of_key.items():
        mean, users = outputs[key]
        pairs = [] if mean is None else [("mean", report[metric], mean)]
        pairs += [
            (f"user {i}", ours, value)
            for i, (ours, value) in enumerate(zip(report.per_user[metric], users or [], strict=users is not None))
        ]
        values += len(pairs) if key == metric else 0
        for where, ours, value in pairs:
            if not is_equal(float(ours), value, data["tolerance"]):
                wrong.setdefault(key, f"{case.name}, {metric}, {where}: exactk {ours}, {data['library']} {value}")
    return values, wrong


def is_equal(ours: float, recorded_value: float | str | None, tolerance: float) -> bool:
    """Return whether exactk says what the library said; a user left out is NaN in exactk."""
    if recorded_value is None or recorded_value == "nan":
        return math.isnan(ours)
    return abs(ours - float(recorded_value)) <= tolerance


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_the_preset_says_what_the_library_says(name: str, record_property: Any) -> None:
    data = read_recording(name)
    values = 0
    wrong: dict[str, str] = {}
    for case, recorded in zip(recorded_cases(name), data["cases"], strict=True):
        num_values, differences = compare_outputs(case, recorded["outputs"], data)
        values += num_values
        for key, difference in differences.items():
            metric, where, condition = key.partition(" where ")
            wrong.setdefault(re.split(r"[@(]", metric)[0] + where + condition, difference)
    expected = set(data["differs"])
    record_property("golden", f"{name}: {library_version(data)}, {len(data['cases'])} cases, {values} values")
    assert {metric: wrong[metric] for metric in wrong if metric not in expected} == {}
    assert expected <= set(wrong), "what is said to differ does not"


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_recorded_cases_are_those_that_are_drawn(name: str) -> None:
    """A draw that was changed since says nothing of the library before it is recorded again."""
    assert recorded_cases(name) == cases(load_adapter(name).KNOBS)


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_cases_turn_every_knob(name: str) -> None:
    """A case that the generator never draws proves nothing. Of other knobs, the next test counts the kinds of input."""
    knobs, data = load_adapter(name).KNOBS, read_recording(name)
    every_case = recorded_cases(name)
    rows = [(case, *pair) for case in every_case for pair in zip(case.truth, case.predictions, strict=True)]
    least = -math.inf if data["min_score"] is None else data["min_score"]
    recommended = [[score for _, score in row or [] if score >= least] for _, _, row in rows]
    turned = {
        "empty_truth": any(truth == [] for _, truth, _ in rows),
        "empty_list": any(row == [] for _, _, row in rows),
        "short_list": any(0 < len(row or []) < max(case.cutoffs) for case, _, row in rows),
        "ties": any(len(set(scores)) < len(scores) for scores in recommended),
        "negative_scores": any(score < 0 for _, _, row in rows for _, score in row or []),
        "repeated_truth": any(len({item for item, _ in truth or []}) < len(truth or []) for _, truth, _ in rows),
        "repeated_list": any(len({item for item, _ in row or []}) < len(row or []) for _, _, row in rows),
        "unknown_truth": any(item >= case.items for case, truth, _ in rows for item, _ in truth or []),
    }
    assert len(every_case) > 200
    assert {knob for knob, is_drawn in turned.items() if is_drawn} >= {knob for knob in turned if getattr(knobs, knob)}
    assert {grade for _, truth, _ in rows for _, grade in truth or []} == set(knobs.grades) | {1.0}


@pytest.mark.parametrize("name", LIBRARIES)
def test_f73_each_kind_of_input_is_drawn_or_refused_for_a_reason(name: str) -> None:
    """A kind that the cases lack proves nothing about the field of the convention that is for it."""
    data = read_recording(name)
    held = Counter(kind for case in recorded_cases(name) for kind in kinds_of(case, data["input"]))
    assert set(held) == set(KINDS) - set(data["not_drawn"])
    assert min(held.values(), default=FEW) >= FEW
    assert data["not_drawn"] == dict(load_adapter(name).NOT_DRAWN)


@pytest.mark.native  # another library's code is not ours to watch
@pytest.mark.parametrize("name", IMPORTABLE)
def test_the_library_still_says_it(name: str) -> None:
    assert differences(name, record(name)) == []


@pytest.mark.native
@pytest.mark.parametrize("name", ["pytrec_eval", "trec_eval_9", "trec_eval_9_complete"])
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_f72_f69_trec_eval_9_over_further_draws(name: str) -> None:
    """Beside pytrec-eval-terrier itself: negative grades, and scores that are equal as float32 alone."""
    pytest.importorskip("pytrec_eval")
    library = load_adapter(name)
    settings = {
        "preset": name,
        "library": name,
        "input": library.INPUT,
        "min_score": None,
        "tolerance": library.TOLERANCE,
    }
    drawn = [random_case(library.KNOBS, seed) for seed in range(1000, 1100)]
    held = Counter(kind for case in drawn for kind in kinds_of(case, library.INPUT))
    assert held["negative grade"] > 30
    assert held["float32 tie"] > 10
    for case in drawn:
        values, wrong = compare_outputs(case, plain_outputs(library.evaluate(case)), settings)
        assert values > 0
        assert wrong == {}
