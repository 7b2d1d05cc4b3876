"""Columns of a truth: which hold grades by their names, and what is said of those that could."""

from __future__ import annotations

import pickle
import re
import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import exactk
from exactk._cli import main
from exactk._inputs.keys.column_roles import may_be_grades, names_ratings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COLUMNS: dict[str, list[Any]] = {"user": ["ann", "ann", "bob"], "item": [1, 2, 3]}
VALUES = [0.0, 1.0, 2.5]
GRADED = {"ann": {1: 0.0, 2: 1.0}, "bob": {3: 2.5}}
PREDICTIONS = {"ann": [1, 2], "bob": [3]}
METRICS = ["P@1", "ndcg"]
CONTAINERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, Arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, index": lambda columns: pd.DataFrame(columns).set_index("user"),
    "Polars": pl.DataFrame,
    "Polars, lazy": pl.LazyFrame,
    "Arrow": pa.table,
}
FILES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".arrow": lambda frame, path: frame.to_feather(path, compression="uncompressed"),
}


def evaluate(truth: Any, predictions: Any = None, **options: Any) -> exactk.Report:
    predictions = PREDICTIONS if predictions is None else predictions
    report = exactk.evaluate(truth, predictions, METRICS, **options)
    assert isinstance(report, exactk.Report)
    return report


def truths(column: str, values: list[Any], folder: Path) -> dict[str, Any]:
    """Return the same truth in every frame and file."""
    columns = COLUMNS | {column: values}
    inputs = {name: build(columns) for name, build in CONTAINERS.items()}
    for ending, write in FILES.items():
        path = folder / f"truth{ending}"
        write(pd.DataFrame(columns), path)
        inputs[ending] = exactk.read(path, "truth")
    return inputs


EXPECTED = evaluate(GRADED)


@pytest.mark.parametrize("column", ["grade", "Relevance", "rel", "label", "Labels", "target", "gain"])
def test_f64_usual_names_of_grades(column: str, tmp_path: Path) -> None:
    for name, truth in truths(column, VALUES, tmp_path).items():
        report = evaluate(truth)
        assert report == EXPECTED, name
        assert repr(report).splitlines()[-1] == f"convention standard; grades: {column}, relevant: > 0; 2 users"
    report = evaluate(pd.DataFrame(COLUMNS | {"clicks": VALUES}), grade="clicks")
    assert "; grades: clicks, relevant: > 0; " in repr(report)


@pytest.mark.parametrize("column", ["rating", "ratings", "Rating", "stars", "user_rating", "ratingValue"])
def test_f64_ratings_warn_once(column: str, tmp_path: Path) -> None:
    is_usual = column in {"rating", "ratings", "Rating", "stars"}
    message = re.escape(f"truth: every rating above 0 in the column {column!r} counts as relevant; ")
    if is_usual:
        inputs = truths(column, VALUES, tmp_path)
    else:
        inputs = {"named": exactk.as_truth(pd.DataFrame(COLUMNS | {column: VALUES}), grade=column)}
    for truth in inputs.values():
        with pytest.warns(exactk.EvaluationWarning, match=message) as caught:
            assert evaluate(truth) == EXPECTED
        assert len(caught) == 1
        assert evaluate(truth, convention={"min_grade": 2})["P@1"] == 1.0


SCALES: dict[str, tuple[list[float], Any]] = {
    "1 to 5": ([1, 5, 3], 4), "halves to 5": ([0.5, 5, 4.5], 4), "1 to 3": ([1, 2, 3], 3), "1 to 10": ([3, 10, 7], 8),
    "up to 100": ([20, 100, 55], 80), "0 to 1": ([0.25, 1, 0.5], 0.8), "-10 to 9.5": ([-10, 9.5, 2], 8),
    "halves to 4.5": ([0.5, 4.5, 1], 4), "up to 1.5": ([0.5, 1.5, 1], 1.2), "rated and liked": ([0, 1, 2], 2),
    "all 1": ([1, 1, 1], None), "all 5": ([5, 5, 5], None), "0 and 1": ([0, 1, 0], None),
    "none above 0": ([0, 0, 0], None),
}  # fmt: skip
"""Ratings, and the grade that the warning tells to write; None: no warning."""


@pytest.mark.parametrize("case", SCALES)
def test_f64_the_warning_suggests_a_rating_of_the_scale(case: str) -> None:
    ratings, high = SCALES[case]
    users = ["ann", "bob", "cy"]
    frame = pd.DataFrame({"user": users, "item": [1, 2, 3], "rating": [float(rating) for rating in ratings]})
    convention = {"negative_grades": "zero_gain"}
    blocks = [(frame[row : row + 1], {user: [1]}) for row, user in enumerate(users)]
    for truth, predictions in ((frame, {user: [1] for user in users}), (None, iter(blocks))):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", exactk.EvaluationWarning)
            exactk.evaluate(truth, predictions, "num_relevant", convention=convention)
        lines = [str(one.message).partition("; convention=")[2] for one in caught if "rating" in str(one.message)]
        changes = convention | {"min_grade": high}
        assert lines == ([] if high is None else [f"{changes} counts ratings of {high} or more"])


def test_f64_the_line_of_the_warning_can_be_pasted() -> None:
    frame = pd.DataFrame(COLUMNS | {"rating": [5.0, 1.0, 4.0]})
    custom = exactk.Convention(min_grade=None, ties="highest_id")
    for convention in ("standard", "ranx", {"base": "trec_eval", "gain": "exp2"}, custom):
        with pytest.warns(exactk.EvaluationWarning, match="min_grade") as caught:
            evaluate(frame, convention=convention)
        line = str(caught[0].message).partition("; convention=")[2].partition(" counts ratings")[0]
        report = evaluate(frame, convention=eval(line))  # noqa: S307 - the hint
        before = evaluate(GRADED, convention=convention).convention
        assert report.convention.diff(before) == {"min_grade": (4.0, None)}
        assert "; grades: rating, relevant: >= 4; " in repr(report)


def test_f64_the_footer_of_values_of_several_bounds() -> None:
    frame = pd.DataFrame(COLUMNS | {"label": VALUES})
    report = exactk.evaluate(frame, PREDICTIONS, ["P@1", "P@1(min_grade=2)"])
    assert "; grades: label, relevant: > 0 or >= 2; counts without the metrics' own min_grade; " in repr(report)
    both = exactk.compare(frame, {"a": PREDICTIONS, "b": PREDICTIONS}, "P@1")
    assert repr(both).splitlines()[-1] == "convention standard; grades: label, relevant: > 0; 2 users; * best"


def test_f64_the_column_outlives_files_pickles_and_merges() -> None:
    frame = pd.DataFrame(COLUMNS | {"label": VALUES})
    report = evaluate(pickle.loads(pickle.dumps(exactk.as_truth(frame))))  # noqa: S301 - just written
    copies = [
        exactk.Report.from_json(report.to_json()),
        pickle.loads(pickle.dumps(report)),  # noqa: S301 - just written
        exactk.merge([exactk.State.from_bytes(report.state.to_bytes())]),
        evaluate(None, iter([(frame, PREDICTIONS)])),
        evaluate(None, iter([(frame[:2], {"ann": [1, 2]}), (frame[2:], {"bob": [3]})])),
        evaluate(frame, exactk.Batches(lambda: [pd.DataFrame(COLUMNS | {"rank": [1, 2, 1]})])),
    ]
    for copy in copies:
        assert "; grades: label, relevant: > 0; " in repr(copy)
    assert "grades" not in repr(exactk.merge([report.state, evaluate(GRADED).state]))
    damaged = report.to_dict()
    damaged["state"]["grade_column"] = 7
    with pytest.raises(exactk.InputError, match="report: expected the output of Report"):
        exactk.Report.from_dict(damaged)


@pytest.mark.parametrize("values", [[0, 1, 2], VALUES, [True, False, True]])
@pytest.mark.parametrize("column", ["clicks", "Score", "purchases_30d"])
def test_f64_numbers_that_are_not_used(column: str, values: list[Any], tmp_path: Path) -> None:
    message = f"truth: every item counts as relevant, because no grade column was found, and {column!r} is not "
    everything = evaluate({"ann": [1, 2], "bob": [3]})
    for name, truth in truths(column, values, tmp_path).items():
        if values[0] is True and name in {".csv", ".tsv"}:
            continue
        with pytest.warns(exactk.EvaluationWarning, match=message) as caught:
            assert evaluate(truth) == everything, name
        assert len(caught) == 1
        if name in {"pandas", "Polars"}:
            hint = str(caught[0].message).partition("as grades, ")[2].partition(" leaves it out")[0]
            assert evaluate(eval(hint, {"truth": truth})) == everything  # noqa: S307
    assert evaluate(pd.DataFrame(COLUMNS | {column: values}), grade=column).state.grade_column == column


def test_f64_one_warning_for_several_columns_systems_and_blocks() -> None:
    frame = pd.DataFrame(COLUMNS | {"clicks": [1, 2, 1], "buys": [2.0, 1.0, 2.0], "note": "x"})
    calls: list[Callable[[], object]] = [
        lambda: exactk.evaluate(frame, PREDICTIONS, "P@1"),
        lambda: exactk.compare(frame, {"a": PREDICTIONS, "b": PREDICTIONS}, "P@1"),
        lambda: exactk.evaluate(None, iter([(frame[:2], {"ann": [1]}), (frame[2:], {"bob": [3]})]), "P@1"),
    ]
    for call in calls:
        with pytest.warns(exactk.EvaluationWarning, match="'clicks' and 'buys' are not used; grade='cl") as caught:
            call()
        assert len(caught) == 1


def test_f64_columns_that_are_no_grades() -> None:
    silent = ["timestamp", "time", "date", "datetime", "event_time", "createdAt", "t_date", "ts", "year", "session_id"]
    silent += ["orderId", "index", "Unnamed: 0", "", "level_0", "unixReviewTime", "lastUpdate"]
    assert may_be_grades(silent) == ()
    suspicious = ["clicks", "sentiment", "candidate_count", "idle", "rate", "weight", "label_2", "dwell"]
    assert may_be_grades(suspicious) == tuple(suspicious)
    assert not any(map(names_ratings, ["grade", "label", "start", "operating"]))
    for name in ("timestamp", "session_id", "index"):
        assert evaluate(pd.DataFrame(COLUMNS | {name: [1, 2, 3]}))["P@1"] == 1
    assert evaluate(pd.DataFrame(COLUMNS | {"clicks": [1, 2, 3]}).set_index("clicks"))["P@1"] == 1
    assert evaluate(pd.DataFrame(COLUMNS | {"title": list("xyz")}))["P@1"] == 1
    frame = pd.DataFrame(COLUMNS | {"age": [30, 30, 50], "spent": [1.0, 1.0, 3.0]})
    users = frame.drop_duplicates("user")
    report = evaluate(frame, weights=users[["user", "spent"]], groups=users.set_index("user")["age"])
    assert (report["P@1"], list(report.by_group)) == (1.0, [30, 50])


def test_f64_flags_and_text_under_a_usual_name() -> None:
    flags = [False, True, True]
    expected = evaluate({"ann": {1: 0.0, 2: 1.0}, "bob": {3: 1.0}})
    assert evaluate(pd.DataFrame(COLUMNS | {"label": flags})) == expected
    with pytest.raises(exactk.InputTypeError, match=r"truth\.label: .*, found bool; cast flags to integers"):
        evaluate(pl.DataFrame(COLUMNS | {"label": flags}))
    with pytest.raises(exactk.InputTypeError, match=r"truth\.grade: expected numbers, found str"):
        evaluate(pd.DataFrame(COLUMNS | {"label": ["a", "b", "c"]}))
    with pytest.raises(exactk.InputError, match="truth: expected one column for the grade, found rating and label"):
        evaluate(pd.DataFrame(COLUMNS | {"rating": VALUES, "label": VALUES}))


def test_f64_columns_of_lists() -> None:
    lists = {"user": ["ann", "bob"], "item": [[1, 2], [3]]}
    for build in (pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table):
        assert evaluate(build(lists | {"labels": [[0.0, 1.0], [2.5]]})) == EXPECTED
        with pytest.warns(exactk.EvaluationWarning, match="'clicks' is not used"):
            evaluate(build(lists | {"clicks": [[0.0, 1.0], [2.5]]}))


def test_a_truth_with_scores_may_be_the_predictions() -> None:
    for name in ("score", "rank", "clicks"):
        message = f"'{name}' is not used; if these are the predictions, the truth comes first; grade='{name}' uses it"
        with pytest.warns(exactk.EvaluationWarning) as caught:
            evaluate(pd.DataFrame(COLUMNS | {name: [3, 1, 2]}))
        assert (message in str(caught[0].message)) is (name != "clicks")


SCORED: dict[str, list[Any]] = {"user": ["ann", "ann", "bob"], "item": [1, 2, 3], "score": [2.0, 1.0, 1.0]}


def test_f64_scores_that_are_not_used(tmp_path: Path) -> None:
    columns = SCORED | {"score_2": [1.0, 2.0, 1.0]}
    truth = {"ann": [2], "bob": [3]}
    message = "predictions: the items are ordered by 'score', and 'score_2' is not used; score='score_2' orders by it"
    frames = [build(columns) for build in CONTAINERS.values()]
    parts = [pd.DataFrame(columns)[:2], pd.DataFrame(columns)[2:]]
    ungrouped = [pd.DataFrame(columns)[:1], pd.DataFrame(columns)[2:], pd.DataFrame(columns)[1:2]]
    for predictions in (*frames, exactk.Batches(lambda: parts), exactk.Batches(lambda: ungrouped)):
        with pytest.warns(exactk.EvaluationWarning, match=message) as caught:
            assert evaluate(truth, predictions)["P@1"] == 0.5
        assert len(caught) == 1
    for score, value in (("score", 0.5), ("score_2", 1.0)):
        assert evaluate(truth, pd.DataFrame(columns), score=score)["P@1"] == value
    for ending, write in FILES.items():
        write(pd.DataFrame(columns), tmp_path / f"run{ending}")
        with pytest.warns(exactk.EvaluationWarning, match=message) as caught:
            exactk.read(tmp_path / f"run{ending}", "predictions")
        assert len(caught) == 1
        exactk.read(tmp_path / f"run{ending}", "predictions", score="score")
    assert evaluate(truth, pd.DataFrame(SCORED | {"rating": 1.0, "clicks": 2}))["P@1"] == 0.5
    ranked = {"user": ["ann", "ann", "bob"], "item": [1, 2, 3], "rank": [2, 1, 1], "similarity": [2.0, 1.0, 1.0]}
    confirmation = "score='similarity' orders by it, rank='rank' keeps that order"
    with pytest.warns(exactk.EvaluationWarning, match=confirmation):
        assert evaluate(truth, pd.DataFrame(ranked))["P@1"] == 1.0
    assert evaluate(truth, pd.DataFrame(ranked), rank="rank")["P@1"] == 1.0
    write_csv = next(iter(FILES))
    FILES[write_csv](pd.DataFrame(ranked), tmp_path / f"ranked{write_csv}")
    with pytest.warns(exactk.EvaluationWarning, match=confirmation):
        exactk.read(tmp_path / f"ranked{write_csv}", "predictions")
    with pytest.raises(exactk.InputError, match="predictions: expected one column for the score, found score and pred"):
        evaluate(truth, pd.DataFrame(SCORED | {"prediction": 1.0}))
    with pytest.raises(exactk.InputError, match="; name it, for example with score='rating' or rank='rating'"):
        evaluate(truth, pd.DataFrame(COLUMNS | {"rating": VALUES}))
    best_first = pd.DataFrame({"user": ["ann", "bob"], "item": [[1, 2], [3]], "similarity": [[1.0, 2.0], [1.0]]})
    with pytest.warns(exactk.EvaluationWarning, match="items are best first, and 'similarity' is not used"):
        assert evaluate(truth, best_first)["P@1"] == 0.5


def test_f64_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth, run = tmp_path / "ratings.csv", tmp_path / "run.csv"
    pd.DataFrame(COLUMNS | {"rating": VALUES, "clicks": 1, "timestamp": 5}).to_csv(truth)
    pd.DataFrame(SCORED).to_csv(run)
    assert main(["evaluate", str(truth), str(run), "-m", "P@1"]) == 0
    output = capsys.readouterr()
    assert "grades: rating, relevant: > 0" in output.out
    assert "every rating above 0 in the column 'rating' counts as relevant; --set min_grade=2 counts " in output.err
    assert "clicks" not in output.err
    pd.DataFrame(COLUMNS | {"clicks": [0, 1, 2]}).to_csv(truth)
    assert main(["evaluate", str(truth), str(run), "-m", "P@1"]) == 0
    assert "'clicks' is not used; --grade clicks uses it" in capsys.readouterr().err
    assert main(["evaluate", str(truth), str(run), "-m", "P@1", "--grade", "clicks"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("preset", list(exactk.conventions))
def test_f73_reports_of_all_presets_say_which_grades_are_relevant(preset: str) -> None:
    truth = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 3], "rating": [1.0, 5.0, 3.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        report = exactk.evaluate(truth, {1: [1, 2], 2: [2, 3]}, "recall@2", convention=preset)
    assert "grades: rating, relevant: " in repr(report)


def test_f66_no_hint_orders_items_by_time() -> None:
    frame = pd.DataFrame({"user": ["u", "u"], "item": [5, 1], "rating": [1.0, 4.0], "timestamp": [20, 10]})
    with pytest.raises(exactk.InputError, match="score='rating'"):
        exactk.as_predictions(frame)
    with pytest.raises(exactk.InputError, match="score='NAME'"):
        exactk.as_predictions(frame[["user", "item", "timestamp"]])
