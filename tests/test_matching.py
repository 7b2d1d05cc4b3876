"""Under which conventions a published number is reached."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import exactk
from exactk._engine.evaluation import evaluate_system
from exactk._report.convention_matches import PublishedNumber

if TYPE_CHECKING:
    from commands import Run

TRUTH = [[1, 4], [11, 12, 13, 101, 102, 103, 104, 105], [21], [5, 6], []]
LISTS = [[1, 2, 3, 4, 5], [1, 11, 12, 2, 13], [2, 21, 3], [], [1, 2, 3, 4, 5]]
METRICS = ("map@5", "ndcg@5", "precision@5")


def values_by_preset(truth: Any, predictions: Any, **options: Any) -> dict[str, dict[str, float]]:
    """Return every preset's values, each from an evaluation of its own; none where the preset refuses the input."""
    values = {}
    for name in exactk.conventions:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                report = exactk.evaluate(truth, predictions, METRICS, convention=name, **options)
            except exactk.InputError:
                continue
        values[name] = {metric: report[metric] for metric in METRICS}
    return values


GRADED = [{1: 2.0, 4: 1.0}, {11: 1.0, 12: 3.0, 13: -1.0}, {21: 1.0}]
SCORES = np.array([[0.5, 0.25, 0.5, 0.125], [0.1, 0.7, 0.2, math.inf]])
INPUTS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "lists": (TRUTH, LISTS, {}),
    "keyed": (dict(zip("abcde", TRUTH, strict=True)), dict(zip("cdeab", LISTS, strict=True)), {"exclude": {"a": [2]}}),
    "negative grades": (GRADED, [[4, 1], [13, 12], [3]], {}),
    "scores": ([[0], [1, 2]], SCORES, {"candidates": [0, 1, 2], "weights": [1.0, 3.0]}),
    "grades beside scores": (SCORES > 0.4, SCORES, {}),
    "ranks with gaps": (
        pd.DataFrame({"user": [1, 1], "item": [7, 8]}),
        pd.DataFrame({"user": [1, 1], "item": [3, 8], "rank": [1, 4]}),
        {},
    ),
}


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("case", INPUTS)
@pytest.mark.parametrize("digits", [1, 3, 6])
def test_the_presets_that_match_are_those_whose_values_round_to_the_numbers(case: str, digits: int) -> None:
    truth, predictions, options = INPUTS[case]
    by_preset = values_by_preset(truth, predictions, **options)
    assert len({tuple(values.values()) for values in by_preset.values()}) > 1
    numbers = {
        tuple(f"{value:.{digits}f}" for value in values.values())
        for values in by_preset.values()
        if not any(map(math.isnan, values.values()))
    }
    for texts in numbers:
        published = dict(zip(METRICS, texts, strict=True))
        result = exactk.matching_conventions(truth, predictions, published, **options)
        rounded = {name: [f"{values[one]:.{digits}f}" for one in METRICS] for name, values in by_preset.items()}
        assert result.names == tuple(name for name, others in rounded.items() if others == list(texts))
        assert {row.convention: row.numbers for row in result.rows if not row.refusal} == by_preset
        assert {row.convention for row in result.rows} == set(exactk.conventions)


def test_the_digits_that_were_given_decide() -> None:
    def names(number: Any) -> tuple[str, ...]:
        return exactk.matching_conventions(TRUTH, LISTS, {"map@5": number}).names

    exact = exactk.evaluate(TRUTH, LISTS, "map@5", convention="ranx")["map@5"]  # 0.36770833...
    assert "ranx" in names(exact)
    of_one_number = (0.3677, "3.677e-1", Decimal("0.3677"), np.float32(0.3677))
    assert {*map(names, of_one_number)} == {names("0.3677")}
    assert set(names("0.3677")) < set(names("0.368")) < set(names("0.4"))  # recmetrics says 0.36777...
    assert names("0.3678") == ("recmetrics", "torchmetrics")
    assert names("0.3680") == ()


@pytest.mark.parametrize(
    ("number", "low", "high"),
    [
        ("0.0345", 0.034450001, 0.034549999),
        (0.0345, 0.034450001, 0.034549999),
        ("0.0340", 0.033950001, 0.034049999),
        (0.0340, 0.033500001, 0.034499999),
        (1, 0.5, 1.5),
        (1.0, 0.950001, 1.049999),
        ("12", 11.5, 12.5),
        ("1.2e3", 1150.0, 1250.0),
        ("-0.5", -0.549999, -0.450001),
        (0.1 + 0.2, 0.30000000000000004, 0.30000000000000004),
    ],
    ids=repr,
)
def test_a_number_stands_for_all_that_round_to_it(number: Any, low: float, high: float) -> None:
    published = PublishedNumber.from_argument("map", number)
    unit = high - low or 9 * math.ulp(high)
    assert all(published.distance(value) <= 1 for value in (low, high))
    assert all(published.distance(value) > 1 for value in (low - unit / 9, high + unit / 9))
    assert published.distance(math.nan) == math.inf


@pytest.mark.parametrize(
    "number",
    ["", "x", "34.5%", "1_0", "nan", math.nan, "inf", "1e400", "0e-99999999", True, None, [1], Fraction(1, 3)],
    ids=repr,
)
def test_what_is_no_number_is_refused(number: Any) -> None:
    message = r"^published: expected map@5 beside a number such as 0.345, or its text, found "
    with pytest.raises(exactk.ExactkError, match=message):
        exactk.matching_conventions(TRUTH, LISTS, {"map@5": number})


def test_the_matches_are_printed() -> None:
    assert repr(exactk.matching_conventions(TRUTH, LISTS, {"map@5": "0.3678"})) == (
        "map@5     presets\n0.3678    published\n0.367778  recmetrics, torchmetrics\n2 of 28 presets match"
    )
    irspack = exactk.matching_conventions(TRUTH, LISTS, {"map@5": 0.368, "precision@5": 0.33})
    assert repr(irspack).splitlines()[1:] == [
        "0.368    0.33         published",
        "0.36771  0.3333       evidently, irspack, irspack_capped",
        "3 of 28 presets match",
    ]


def test_the_nearest_misses_are_printed_where_none_matches() -> None:
    result = exactk.matching_conventions(TRUTH, LISTS, {"map@5": "0.61", "precision@5": "0.44"})
    lines = repr(result).splitlines()
    assert lines[0].split() == ["map@5", "precision@5", "presets"]
    assert lines[1].split() == ["0.61", "0.44", "published"]
    assert lines[7:] == ["none of 28 presets matches: these are the nearest"]
    by_preset = values_by_preset(TRUTH, LISTS)
    distances = {
        name: max(abs(values["map@5"] - 0.61), abs(values["precision@5"] - 0.44)) / 0.005
        for name, values in by_preset.items()
    }
    shown = [distances[line.split()[2].rstrip(",")] for line in lines[2:7]]
    assert shown == sorted(shown)
    assert shown[-1] <= min(distances[row.convention] for row in result.rows if row.convention not in repr(result))
    expected = {name: math.inf if math.isnan(distance) else distance for name, distance in distances.items()}
    assert {row.convention: row.distance for row in result.rows} == pytest.approx(expected)
    assert not any(row.is_match for row in result.rows)


def test_presets_that_refuse_the_input_are_listed_with_the_reason() -> None:
    result = exactk.matching_conventions(GRADED, [[4, 1], [13, 12], [3]], {"ndcg": "0.5"})
    refusals = {row.convention: row.refusal for row in result.rows if row.refusal}
    assert "grade -1" in refusals["standard"]
    assert "a cutoff" in refusals["rectools"]
    assert "ranx" not in refusals
    assert f"\nrefused by rectools: {refusals['rectools']}" in repr(result)
    assert [row.distance for row in result.rows if row.refusal] == [math.inf] * len(refusals)


def test_a_fault_that_every_preset_refuses_is_raised() -> None:
    with pytest.raises(exactk.InputError, match=r"predictions: .*NaN"):
        exactk.matching_conventions([[0]], np.array([[0.5, math.nan]]), {"mrr": 1})
    with pytest.raises(exactk.InputError, match="did you mean"):
        exactk.matching_conventions(TRUTH, LISTS, {"ndgc@5": 0.5})


@pytest.mark.parametrize("metric", ["ndcg@[5,10]", "ndcg@5,mrr"])
def test_each_number_is_of_one_value(metric: str) -> None:
    with pytest.raises(exactk.InputError, match="one metric at one cutoff"):
        exactk.matching_conventions(TRUTH, LISTS, {metric: 0.5})


@pytest.mark.parametrize("published", [{}, ["map@5"], "map@5=0.3", None, {5: 0.3}])
def test_numbers_come_by_metric(published: Any) -> None:
    with pytest.raises(exactk.ExactkError, match=r"^published: "):
        exactk.matching_conventions(TRUTH, LISTS, published)


def test_inputs_are_prepared_once_and_evaluated_once_for_each_preset(monkeypatch: pytest.MonkeyPatch) -> None:
    reads, evaluated = [], []

    def counted(request: Any, inputs: Any) -> Any:
        evaluated.append((request.convention.name, id(inputs)))
        return evaluate_system(request, inputs)

    def frames() -> list[pd.DataFrame]:
        reads.append(1)
        return [pd.DataFrame({"user": [1, 1], "item": [4, 7], "score": [0.5, 0.25]})]

    monkeypatch.setattr("exactk._matching.evaluate_system", counted)
    result = exactk.matching_conventions({1: [7]}, exactk.Batches(frames), {"mrr": 0.5})
    assert reads == [1]
    assert [name for name, _ in evaluated] == list(exactk.conventions)
    assert len({inputs for _, inputs in evaluated}) == 1
    assert result.names == tuple(exactk.conventions)


def test_fields_can_be_changed_in_every_preset() -> None:
    truth, scores = [{0: 5.0, 1: 3.0}, {2: 4.0}], np.array([[0.5, math.nan, 0.25], [0.5, 0.25, 1.0]])
    with pytest.raises(exactk.InputError, match="NaN") as caught:
        exactk.matching_conventions(truth, scores, {"recall@1": 1}, convention={"min_grade": 4})
    assert "convention={'min_grade': 4.0, 'nan': 'last'} ranks them last" in str(caught.value)
    changes = {"min_grade": 4, "nan": "last"}
    result = exactk.matching_conventions(truth, scores, {"recall@1": 1}, convention=changes)
    for row in result.rows:
        report = exactk.evaluate(truth, scores, "recall@1", convention={"base": row.convention, **changes})
        assert row.numbers == {"recall@1": report["recall@1"]}
    assert repr(result).endswith("28 presets match; all with nan='last', min_grade=4.0")
    unchanged = exactk.matching_conventions(TRUTH, LISTS, {"mrr": 1}, convention={})
    assert unchanged.names == exactk.matching_conventions(TRUTH, LISTS, {"mrr": 1}).names


@pytest.mark.parametrize("convention", ["ranx", {"base": "ranx"}, exactk.conventions["ranx"], {"name": "mine"}, None])
def test_every_preset_is_tried(convention: Any) -> None:
    message = "convention: expected a mapping of fields to change in every preset"
    with pytest.raises(exactk.InputTypeError, match=message):
        exactk.matching_conventions(TRUTH, LISTS, {"mrr": 1}, convention=convention)


def test_an_iterator_is_refused() -> None:
    blocks: Any = iter([([[1]], [[1]])])
    truth: Any = None
    with pytest.raises(exactk.InputTypeError, match="an iterator, which can be read only once"):
        exactk.matching_conventions(truth, blocks, {"mrr": 1})


@pytest.mark.parametrize(("truth", "metric"), [(TRUTH[:3], "mrr"), (GRADED, "ndcg")], ids=["all", "some refuse"])
def test_progress_counts_every_preset(truth: Any, metric: str) -> None:
    calls: list[tuple[int, int | None]] = []
    progress = lambda done, total: calls.append((done, total))  # noqa: E731
    exactk.matching_conventions(truth, [[4, 1], [13, 12], [3]], {metric: 1}, progress=progress)
    assert calls[-1] == (3 * 28, 3 * 28)


def test_a_warning_about_the_input_comes_once() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="no user of the truth") as caught:
        exactk.matching_conventions({"ann": [1]}, {"bob": [1]}, {"mrr": 0})
    assert len(caught) == 1


def test_the_command(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("user,item\na,x\na,y\nb,x\n", encoding="utf-8")
    Path("x.csv").write_text("user,item\na,x\na,y\nb,z\n", encoding="utf-8")
    Path("p.csv").write_text("user,item,score\na,x,2\na,z,1\nb,y,1\n", encoding="utf-8")
    truth, predictions = exactk.read("t.csv", "truth"), exactk.read("p.csv", "predictions")
    for published in ({"map@10": "0.250"}, {"map@10": "0.3", "mrr": "0.5"}, {"mrr@5(ties=expected)": "0.7"}):
        options = [text for metric, number in published.items() for text in ("--matching", f"{metric}={number}")]
        expected = exactk.matching_conventions(truth, predictions, published)
        result = run("conventions", *options, "t.csv", "p.csv")
        assert (result.code, result.out) == (0, f"{expected!r}\n")
    excluded = run("conventions", "--matching", "mrr=0", "t.csv", "p.csv", "--exclude", "x.csv")
    assert (
        repr(exactk.matching_conventions(truth, predictions, {"mrr": "0"}, exclude=exactk.read("x.csv", "exclude")))
        in excluded.out
    )
    expected = exactk.matching_conventions(truth, predictions, {"mrr": "0.50"}, convention={"ties": "expected"})
    changed = run("conventions", "--matching", "mrr=0.50", "t.csv", "p.csv", "--set", "ties=expected")
    assert changed.out == f"{expected!r}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--matching", "mrr=0.5", "t.csv"], "--matching goes with two arguments, TRUTH and PREDICTIONS"),
        (["--matching", "mrr", "t.csv", "p.csv"], "expected METRIC=VALUE such as map@10=0.0345, found 'mrr'"),
        (["--matching", "mrr=1", "--matching", "mrr=2", "t.csv", "p.csv"], "--matching: expected each metric once"),
        (["ranx", "surprise"], "unrecognized arguments: surprise"),
        (["--diff", "ranx", "surprise", "capped"], "unrecognized arguments: capped"),
        (["ranx", "--user", "u"], "--user goes with --matching"),
        (["ranx", "--set", "nan=last"], "--set goes with --matching"),
        (["--text-ids"], "--text-ids goes with --matching"),
        (["--diff", "ranx", "surprise", "--matching", "mrr=1"], "not allowed with argument"),
    ],
)
def test_wrong_uses_of_the_command(run: Run, arguments: list[str], message: str) -> None:
    result = run("conventions", *arguments)
    assert result.code == 2
    assert message in result.err


def test_base_predictions_are_read_as_in_an_evaluation() -> None:
    options: Any = {"base_predictions": [[2], [21, 22]]}
    report = exactk.evaluate(None, [[1, 2], [21, 22]], "unexpectedness@2", **options)
    result = exactk.matching_conventions([[1], [2]], [[1, 2], [21, 22]], {"unexpectedness@2": 0.25}, **options)
    (row,) = (row for row in result.rows if row.convention == "standard")
    assert row.numbers == dict(report) == {"unexpectedness@2": 0.25}
