"""Explanations: the terms of a user's value add up to it, in every container, and what was missed has a reason."""

from __future__ import annotations

import copy
import math
import os
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import exactk
from commands import write_files
from exactk._cli import main
from exactk._plan.metric_strings import plan
from exactk._plan.metrics import evaluation_metrics
from exactk.reference.hit_metrics import TERMS
from oracle_cases import Case, draw_case
from strategies import spell

if TYPE_CHECKING:
    from pathlib import Path

    from exactk._plan.values import Value
    from exactk._report.explanation import ExplainedItem, ExplainedValue

CASES = int(os.environ.get("EXACTK_ORACLE_CASES", "10000")) // 10
CHUNKS = 4

TRUTH = {"q1": {"a": 3, "d": 2, "x": 2, "c": 1, "m": 1, "b": 0}}
SCORES = {"q1": {"u1": 9.0, "a": 8.0, "b": 7.0, "c": 6.5, "u2": 6.5, "d": 2.0, "u3": 1.0}}
EXPLAINED = """\
user q1; convention standard, ties lowest_id
rank  item  score  tie   grade    gain  discount    term     sum
   1  u1        9        ?      0.0000    1.0000  0.0000  0.0000
   2  a         8        3      3.0000    0.6309  1.8928  1.8928
   3  b         7        0 -    0.0000    0.5000  0.0000  1.8928
   4  c       6.5  =4-5  1      1.0000    0.4307  0.4307  2.3235
   5  u2      6.5  =4-5  ?      0.0000    0.3869  0.0000  2.3235
missed: d grade 2 at rank 6, x grade 2 not in the list, m grade 1 not in the list
ndcg@5 = 0.3822 = 2.3235 / 6.0794 (0.3750 to 0.3822 by the order of ties)
ideal of ndcg@5: 3 2 2 1 1 -> 3.0000 + 1.2619 + 1.0000 + 0.4307 + 0.3869"""


def explained(*arguments: Any, **options: Any) -> exactk.results.Explanation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        return exactk.explain(*arguments, **options)


def test_the_printed_form() -> None:
    assert repr(explained(TRUTH, SCORES, "q1", "ndcg@5")) == EXPLAINED


def test_other_metrics_of_the_same_list() -> None:
    metrics = ["ap@5", "rr", "recall@5", "bpref", "rbp@3", "err@2(max_grade=3)", "auc"]
    explanation = explained(TRUTH, SCORES, "q1", metrics)
    how = {metric: value.how for metric, value in explanation.items()}
    assert how == {
        "ap@5": "0.2000 = 1 / 5 (ap_over=min_cutoff_relevant) (0.1800 to 0.2000 by the order of ties)",
        "rr": "0.5000",
        "recall@5": "0.4000 = 2 / 5 (recall_over=relevant)",
        "bpref": "0.2000 = 1 / 5",
        "rbp@3": "0.4800 = (1 - 0.8) * 2.4000",
        "err@2(max_grade=3)": "0.4375",
        "auc": "0.2750 = 5.5000 / 20",
    }
    terms = {metric: [one.term for one in value.listed] for metric, value in explanation.items()}
    assert terms["ap@5"] == [0, 1 / 2, 0, 2 / 4, 0]
    assert terms["bpref"] == [0, 1, 0, 0, 0, 0, 0]  # one of one judged item that is not relevant is above the others
    assert terms["auc"] == [0, 3, 0, 1.5, 0, 1, 0]
    assert len(explanation._tables()) == 1  # all lists agree as far as they go
    assert [one.term for one in explanation["err@2(max_grade=3)"].listed] == [0, 7 / 8 / 2]


def added(rows: list[ExplainedItem]) -> float:
    total = 0.0
    for row in rows:
        total += row.term
        assert row.total == total
    return total


def check_value(value: Value, one: ExplainedValue, per_user: float) -> bool:
    """Check a value bit for bit; return whether it has terms."""
    assert one.value == per_user or (math.isnan(one.value) and math.isnan(per_user))
    if one.ratio is None:
        return False
    numerator, denominator = one.ratio
    total = added([*one.listed])
    if value.metric == "rbp":
        total *= 1 - value.parameter  # and at most the highest gain
    if value.rules["weight"] == "values":  # which the definition adds exactly
        assert total == pytest.approx(numerator, rel=1e-15 * (1 + len(one.listed)))
    elif numerator != total:  # only rounding lifts a value above its ideal
        assert value.metric in {"rbp", "ndcg", "dcg"}
        assert numerator == pytest.approx(total, rel=1e-15 * (1 + len(one.listed)))
    if denominator:
        assert numerator / denominator == per_user
    return True


def check_case(case: Case) -> int:
    """Explain the values of the first users of a case; return how many values have terms."""
    calls: list[tuple[Any, Any, Any, dict[str, Any]]] = []

    def evaluate(truth: Any, predictions: Any, metrics: Any, **options: Any) -> exactk.Report:
        calls.append((truth, predictions, metrics, options))
        return exactk.evaluate(truth, predictions, metrics, **options)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            report = case.evaluate(case.users, evaluate)
        except exactk.ExactkError:
            return 0
        ((truth, predictions, metrics, options),) = calls
        options = {name: one for name, one in options.items() if name not in {"per_user", "groups"}}
        checked = 0
        for row, user in enumerate(report.users.tolist()[:2]):
            explanation = exactk.explain(truth, predictions, user, metrics, **options)
            for value in plan(metrics, case.convention):
                one = explanation[value.spelling]
                checked += check_value(value, one, float(report.per_user[value.name][row]))
            frame = explanation.to_pandas()
            assert len(frame) == sum(len(one.listed) + len(one.missed) for one in explanation.values())
            assert repr(explanation)
    return checked


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_terms_add_up_in_every_container(chunk: int) -> None:
    checked = 0
    for number in range(chunk, CASES, CHUNKS):
        case = draw_case(number)
        pairs = zip(case.metrics, case.asked, strict=True)
        of_users = [(name, one) for name, one in pairs if not evaluation_metrics[one.metric].of_collection]
        of_users = [(name, one) for name, one in of_users if one.group is None]
        if case.form.in_blocks or not of_users:
            continue
        case = replace(case, metrics=[name for name, _ in of_users], asked=[one for _, one in of_users])
        try:
            checked += check_case(case)
        except Exception as error:
            error.add_note(f"case {number}:\n{case}")
            raise
    assert checked


@pytest.mark.parametrize("ties", ["lowest_id", "expected", "shared", "optimistic", "pessimistic"])
@pytest.mark.parametrize("metric", sorted(TERMS))
def test_every_metric_of_terms_adds_up_under_every_order_of_ties(metric: str, ties: Any) -> None:
    rng = np.random.default_rng(7)
    truth = {user: dict(zip(range(12), rng.integers(0, 4, 12).tolist(), strict=True)) for user in "abcdef"}
    scores = {user: dict(zip(range(3, 20), rng.integers(0, 5, 17).tolist(), strict=True)) for user in truth}
    cutoff = None if exactk.metrics[metric]._info.pairwise else 6
    name = f"{metric}@6(max_grade=4)" if metric == "err" else spell(metric, cutoff)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = exactk.evaluate(truth, scores, name, convention={"ties": ties}, per_user=True)
    except exactk.InputError:
        assert ties == "expected"
        return
    (value,) = plan(name, report.convention)
    for row, user in enumerate(truth):
        one = explained(truth, scores, user, name, convention={"ties": ties})[name]
        assert check_value(value, one, float(report.per_user[name][row]))


def test_what_was_missed_has_a_reason() -> None:
    truth = {"u": {"below": 5, "rereordered": 4, "other": 3, "nowhere": 2, "top": 1}}
    lists = {"u": ["rereordered", "top", "other", "miss", "below"]}
    explanation = explained(
        truth,
        lists,
        "u",
        "recall@2",
        exclude={"u": ["rereordered"]},
        candidates=["top", "miss", "below", "rereordered"],
    )
    value = explanation["recall@2"]
    assert [(one.rank, one.item, one.hit) for one in value.listed] == [(1, "top", True), (2, "miss", False)]
    assert [(one.item, one.rank, one.status, one.if_first) for one in value.missed] == [
        ("below", 3, "below the cutoff", 0.4),
        ("rereordered", None, "excluded", 0.4),
        ("other", None, "no candidate", 0.4),
        ("nowhere", None, "not in the list", 0.4),
    ]
    columns = explanation.to_pandas()
    assert columns["status"].tolist()[:2] == ["listed", "listed"]
    assert columns["unjudged"].tolist() == [False, True, False, False, False, False]


def test_candidates_of_dense_scores_and_embeddings() -> None:
    truth = [[0, 1, 2, 7]]
    for predictions in (np.array([[0.5, 0.9, 0.1]]), exactk.Embeddings(np.eye(1), np.array([[0.5], [0.9], [0.1]]))):
        value = explained(truth, predictions, 0, "recall@1", candidates=[0, 1])["recall@1"]
        assert [(one.item, one.score) for one in value.listed] == [(1, 0.9)]
        missed = {one.item: (one.rank, one.status) for one in value.missed}
        assert missed == {
            0: (2, "below the cutoff"),
            2: (None, "no candidate"),
            7: (None, "not in the list"),
        }


def test_scores_that_are_too_low() -> None:
    scores = exactk.Scores(np.array([[3.0, 2.0, -math.inf]]), min_score=2.5)
    assert [one.status for one in explained([[1, 2]], scores, 0, "P@1")["P@1"].missed] == [
        "below min_score",
        "score is -inf",
    ]
    convention: Any = {"negative_infinity": "exclude"}
    value = explained([[1]], np.array([[1.0, -math.inf]]), 0, "P@1", convention=convention)["P@1"]
    assert [(one.status, one.rank) for one in value.missed] == [("score is -inf", None)]


def test_ties_are_those_of_the_list_that_counts() -> None:
    truth, scores = {"q": {"a": 1, "b": 0, "c": 0}}, {"q": {"u": 9.0, "v": 8.0, "a": 1.0, "b": 1.0, "c": 0.0}}
    condensed = repr(explained(truth, scores, "q", "ndcg@3", convention={"unjudged": "remove"}))
    assert [line.split()[3] for line in condensed.splitlines()[2:5]] == ["=1-2", "=1-2", "0"]
    shared = repr(explained(truth, scores, "q", "recall@5", convention={"ties": "shared"}))
    assert [line.split()[3] for line in shared.splitlines()[4:6]] == ["=3-4", "=3-4"]


@pytest.mark.parametrize("ties", ["lowest_id", "shared", "optimistic", "expected"])
def test_a_repeated_item_counts_once(ties: str) -> None:
    convention: Any = {"duplicate_items": "first", "ties": ties}
    explanation = explained({"u": ["a", "b"]}, {"u": ["a", "a", "b"]}, "u", "precision@3", convention=convention)
    value = explanation["precision@3"]
    rows = [(one.item, one.status, one.term) for one in value.listed]
    assert rows == [("a", "listed", 1), ("a", "repeated", 0), ("b", "listed", 1)]
    assert value.value == 2 / 3
    assert "repeat" in repr(explanation)


@pytest.mark.parametrize("ties", ["lowest_id", "shared", "optimistic", "pessimistic", "expected"])
@pytest.mark.parametrize("repeats", ["first", "count"])
def test_each_row_of_a_repeated_item_has_its_score_and_key(repeats: str, ties: str, tmp_path: Path) -> None:
    convention: Any = {"duplicate_items": repeats, "ties": ties}
    frame = pd.DataFrame({"user": "q", "item": list("DABAD"), "score": [0.05, 0.1, 0.5, 0.9, 0.02]})
    frame.to_csv(tmp_path / "run.csv", index=False)
    truth = {"q": ["A", "D", "Z"]}
    for predictions in (frame, tmp_path / "run.csv"):
        value = explained(truth, predictions, "q", "recall@4", convention=convention)["recall@4"]
        assert [(one.item, one.score) for one in value.listed] == [("A", 0.9), ("B", 0.5), ("A", 0.1), ("D", 0.05)]
        assert [(one.item, one.score, one.if_first) for one in value.missed] == [
            ("Z", None, 1.0 if repeats == "count" else 2 / 3)
        ]
        low = explained(truth, predictions, "q", "recall@1", convention=convention)["recall@1"].missed
        assert [(one.item, one.rank, one.score) for one in low] == [("D", 4, 0.05), ("Z", None, None)]


def test_repeats_in_a_tie_have_their_own_key() -> None:
    frame = pd.DataFrame({"user": "q", "item": list("AABC"), "score": [0.5, 0.5, 0.5, 0.1]})
    for ties, items in (("optimistic", "AABC"), ("pessimistic", "ABAC")):
        convention: Any = {"duplicate_items": "first", "ties": ties}
        value = explained({"q": ["A", "C"]}, frame, "q", "recall@4", convention=convention)["recall@4"]
        assert "".join(one.item for one in value.listed) == items
        assert not value.missed


def test_what_there_is_in_place_of_a_list() -> None:
    truth, lists = {"a": ["x"], "e": ["x"], "l": ["x"]}, {"a": ["x"], "e": []}
    scores = {"a": {"x": 1.0}, "e": {}}
    for predictions in (lists, scores):
        for user, text in (("l", "no predictions"), ("e", "an empty list")):
            explanation = explained(truth, predictions, user, ["P@1", "mrr"])
            assert repr(explanation).splitlines()[1:3] == [text, "missed: x grade 1 not in the list"]
            assert text in explanation.to_html()
    excluded = explained(truth, lists, "a", "P@1", exclude={"a": ["x"]})
    assert repr(excluded).splitlines()[1] == "no item of the list counts"


def test_warnings_are_those_about_the_inputs() -> None:
    truth, scores = {f"q{n}": ["b", "c"] for n in range(9)}, {f"q{n}": {"a": 1.0, "b": 1.0} for n in range(9)}
    with pytest.warns(exactk.EvaluationWarning, match="the order of ties changes"):
        exactk.evaluate(truth, scores, "mrr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exactk.explain(truth, scores, "q1", "mrr")
    with pytest.warns(exactk.EvaluationWarning, match="no user of exclude"):
        exactk.explain(truth, scores, "q1", "mrr", exclude={"z": ["a"]})


def test_repeats_that_take_no_rank() -> None:
    convention: Any = {"duplicate_items": "collapse"}
    frame = pd.DataFrame({"user": "q", "item": list("AABCBD"), "score": [0.8, 0.9, 0.6, 0.65, 0.7, 0.1]})
    for predictions, scores in (({"q": list("AABCBD")}, [None] * 3), (frame, [0.9, 0.7, 0.65])):
        value = explained({"q": ["B", "D"]}, predictions, "q", "ndcg@3", convention=convention)["ndcg@3"]
        assert [(one.rank, one.item) for one in value.listed] == [(1, "A"), (2, "B"), (3, "C")]
        assert [one.score for one in value.listed] == scores
        assert [(one.rank, one.item) for one in value.missed] == [(4, "D")]
        assert value.value == pytest.approx(0.3868528072, abs=1e-10)


def test_if_first_is_the_value_of_that_list() -> None:
    rng = np.random.default_rng(3)
    items = rng.permutation(20).tolist()
    truth = {"u": {item: float(rng.integers(0, 4)) for item in range(0, 30, 2)}}
    metrics = ["ndcg@5", "ap@5", "rr", "recall@5", "rbp@5", "bpref"]
    explanation = explained(truth, {"u": items}, "u", metrics)
    checked = 0
    for metric, value in explanation.items():
        for one in value.missed:
            reordered = [one.item, *(item for item in items if item != one.item)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert one.if_first == exactk.evaluate(truth, {"u": reordered}, metric)[metric]
            checked += 1
    assert checked > 20


def test_users_who_are_not_computed() -> None:
    truth = {"a": ["x"], "nothing": [], "lost": ["x"]}
    lists = {"a": ["x"], "nothing": ["x"]}
    assert explained(truth, lists, "nothing", "P@1")["P@1"].how == "nan, by empty_truth=skip"
    value = explained(truth, lists, "lost", "P@1", convention={"missing_list": "zero"})["P@1"]
    value_of_none = explained(truth, {**lists, "b": ["x"]}, "b", "P@1")["P@1"]
    assert value_of_none.how == "nan, by users=truth"
    assert (value.value, value.how, value.ratio) == (0.0, "0.0000, by missing_list=zero", None)
    assert [one.status for one in value.missed] == ["not in the list"]


def test_lists_that_differ_are_shown_apart() -> None:
    explanation = explained(TRUTH, SCORES, "q1", ["recall@5", "recall@5(min_grade=2)"])
    assert repr(explanation).count("rank  item") == 2
    metrics = ["precision@2", "recall@5(ties=highest_id)", "recall@4(ties=lowest_id)"]  # which agree on two ranks
    scores = {"q": {"x": 5.0, "y": 4.0, "a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0}}
    tables = explained({"q": {"a": 1, "c": 1, "d": 1}}, scores, "q", metrics)._tables()
    assert [table.columns[1].cells for table in tables] == [["x", "y", "c", "b", "a"], ["x", "y", "a", "b"]]


def test_a_metric_is_found_by_any_spelling() -> None:
    explanation = copy.deepcopy(explained(TRUTH, SCORES, "q1", ["ndcg@5", "rr"]))
    assert explanation["NDCG@5"] is explanation["ndcg@5"]
    assert "mrr" in explanation
    with pytest.raises(KeyError, match="'P@5' is not among 'ndcg@5', 'rr'"):
        explanation["P@5"]


def test_keys_of_any_kind() -> None:
    frame = pd.DataFrame({"shop": ["s", "s", "t"], "day": [1, 2, 1], "item": [5, 6, 7], "rank": [1, 1, 1]})
    of_pairs = explained(frame[["shop", "day", "item"]], frame, ("s", 2), "P@1", user=["shop", "day"])
    assert of_pairs.user == ("s", 2)
    assert of_pairs.to_pandas()[["shop", "day", "item", "hit"]].to_numpy().tolist() == [["s", 2, 6, True]]
    assert explained([[1], [2]], [[3], [2]], 1, "P@1")["P@1"].value == 1


def test_values_without_terms_are_shown_alone() -> None:
    custom = exactk.custom("firsts", lambda judged: judged.hits[:, 0].astype(float), k=2, version="1")
    explanation = explained(
        {"u": ["a"]}, {"u": ["a", "b"]}, "u", ["f1@2(average=of_means)", "set_average_precision@2", custom, "f1@2"]
    )
    hows = [value.how for value in explanation.values()]
    assert hows == ["computed from means over users, not for a user", "0.5000", "1.0000", "0.6667 = 1 / 1.5000"]
    assert all(len(value.listed) == 2 for value in [*explanation.values()][1:])


def test_exports(tmp_path: Path) -> None:
    explanation = explained(TRUTH, SCORES, "q1", "ndcg@5")
    explanation.to_html(tmp_path / "page.html")
    assert "user q1; convention standard" in (tmp_path / "page.html").read_text()
    assert explanation.to_csv().count("\n") == 9
    assert len(explanation.to_polars()) == explanation.to_arrow().num_rows == len(explanation.to_pandas()) == 8
    assert "| q1 |" in explanation.to_markdown()
    frame = explanation.to_pandas()
    assert frame["rank"].tolist()[:6] == [1, 2, 3, 4, 5, 6]
    assert frame["rank"].isna().sum() == 2
    assert frame["tied"].tolist() == [False, False, False, True, False, False, False, False]


def test_a_long_list_is_cut_when_it_is_printed() -> None:
    text = repr(explained({"u": [999]}, {"u": [*range(1000)]}, "u", "rr"))
    assert "940 more ranks; to_pandas() has all" in text
    assert len(text.splitlines()) < 70


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((TRUTH, SCORES, "q9", "P@1"), {}, "user_key: expected a user of the truth or the predictions, found 'q9'"),
        (({"q12": [1], "x": [1]}, {}, "Q21", "P@1"), {}, "found 'Q21'; did you mean 'q12'"),
        (({"q12": [1], "x": [1]}, {}, "other", "P@1"), {}, "found 'other'; for example 'q12'"),
        (({1: [1]}, {1: [1]}, "1", "P@1"), {}, "user_key: .* found '1'; its key is 1"),
        (([[1]], [[1]], 1, "P@1"), {}, "user_key: .* found 1; for example 0"),
        (([[1], [2]], [[1], [2]], True, "P@1"), {}, "user_key: .* found True"),
        ((TRUTH, SCORES, np.array(["q1", "q2"]), "P@1"), {}, "user_key: expected the key of one user, found ndarray"),
        ((TRUTH, SCORES, "q1", "coverage@5"), {}, "metrics: expected metrics of users, found 'coverage@5'"),
        ((TRUTH, SCORES, "q1", "coverage@5"), {"unit_names": ("query", "chunk")}, "expected metrics of queries, found"),
        ((None, SCORES, "q1", "P@1"), {}, "truth: expected the relevant items of each user, found None"),
        ((None, iter([([[1]], [[1]])]), 0, "P@1"), {}, "truth: expected"),
        ((TRUTH, iter([([[1]], [[1]])]), 0, "P@1"), {}, "predictions: expected the predictions of all users"),
        ((TRUTH, SCORES, "q1", "P@1"), {"convention": "none"}, "convention: expected"),
        (({"u": [1]}, {"u": [1, 1]}, "u", "P@2"), {}, "predictions: expected each item once in a list"),
    ],
)
def test_faults(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises((exactk.InputError, exactk.InputTypeError), match=message):
        explained(*arguments, **options)


def test_options_are_those_of_evaluate() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'per_user'"):
        exactk.explain(TRUTH, SCORES, "q1", "P@1", per_user=True)  # type: ignore[call-arg]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    qrels = "".join(f"q1 0 {item} {grade}\n" for item, grade in TRUTH["q1"].items())
    run = "".join(f"q1 Q0 {item} {rank} {score} t\n" for rank, (item, score) in enumerate(SCORES["q1"].items(), 1))
    write_files({"q.qrels": qrels, "r.run": run, "who.csv": "who,item\n17,a\n", "runs.csv": "who,item,rank\n17,a,1\n"})
    for option in ("--user", "--query"):
        assert main(["explain", "q.qrels", "r.run", option, "q1", "-m", "ndcg@5", "--unit-names", "user,item"]) == 0
        assert capsys.readouterr().out == EXPLAINED + "\n"
    assert main(["explain", "q.qrels", "r.run", "--query", "q1", "-m", "ndcg@5"]) == 0
    assert re.match(r"query q1; .*\nrank +document ", capsys.readouterr().out)
    assert main(["explain", "q.qrels", "r.run", "--user", "q9"]) == 2
    unknown = "expected a query of the truth or the predictions, found 'q9'; for example 'q1'"
    assert f"--user: {unknown}" in capsys.readouterr().err
    assert main(["explain", "q.qrels", "r.run", "--query", "q9"]) == 2
    assert f"--query: {unknown}" in capsys.readouterr().err
    assert main(["explain", "q.qrels", "r.run", "--user", "q1", "--query", "q2"]) == 2
    assert "--query: not allowed with argument --user" in capsys.readouterr().err
    of_columns = ["explain", "who.csv", "runs.csv", "--user", "17", "-m", "mrr"]
    assert main(of_columns) == 2
    assert "--user-column who" in capsys.readouterr().err
    assert main([*of_columns, "--user-column", "who"]) == 0
    assert "mrr = 1.0000" in capsys.readouterr().out
    assert main(["explain", "q.qrels", "r.run", "--user", "q1", "--exclude", "r.run", "--set", "nan=last"]) == 0
    assert "excluded" in capsys.readouterr().out
