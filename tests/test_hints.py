"""What a hint tells to write can be pasted as it is, and then the call succeeds."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import exactk
from commands import Run, assert_refused, write_files
from exactk import reference
from exactk._plan.conventions import changes_from
from exactk._plan.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable

NAN = np.array([[0.5, np.nan, 0.25]])
TIED = np.array([[0.5, 0.5, 0.25]])
ENGINES: dict[str, Callable[..., exactk.Report]] = {"core": exactk.evaluate, "reference": reference.evaluate}

FAULTS: dict[str, tuple[Any, Any, str]] = {
    "nan": ([[0]], NAN, "raise"),
    "ties": ([[0]], TIED, "raise"),
    "duplicate_truth": ([[1, 1]], [[1]], "raise"),
    "duplicate_items": ([[1]], [[1, 1]], "raise"),
    "negative_grades": ([{1: -1.0, 2: 1.0}], [[1]], "raise"),
}
"""A truth and predictions that a field refuses, and by which of its choices."""


def pasted(message: str) -> dict[str, Any]:
    """Return the keyword that the hint of a message tells to write."""
    keywords = "convention|metrics|ties|nan|score_dtype|similarity|user|item|score|rank"
    match = re.search(rf"({keywords})=(\{{.*?\}}|'.*?')(?= |,|$)", message.rpartition("; ")[2])
    assert match, message
    return {match[1]: ast.literal_eval(match[2])}


def error_of(call: Callable[..., object], *arguments: object, **keywords: object) -> str:
    with pytest.raises(exactk.ExactkError) as caught:
        call(*arguments, **keywords)
    return str(caught.value)


CHANGED = exactk.conventions["standard"].replace(gain="exp2", overrides={"recall": {"min_grade": 1}})


@pytest.mark.parametrize("convention", ["standard", "recmetrics", CHANGED])
@pytest.mark.parametrize("field", FAULTS)
def test_f66_a_hint_of_the_convention_keeps_the_rest_of_it(field: str, convention: Any) -> None:
    truth, predictions, refusing = FAULTS[field]
    base = convention if isinstance(convention, exactk.Convention) else exactk.conventions[convention]
    change: Any = {field: refusing}
    given = base.replace(name=base.name, **change)
    message = error_of(exactk.evaluate, truth, predictions, "ndcg@1", convention=given)
    keywords = pasted(message)
    report = exactk.evaluate(truth, predictions, "ndcg@1", **keywords)
    assert set(report.convention.diff(given)) == {field}


@pytest.mark.parametrize("field", FAULTS)
def test_f66_a_hint_changes_what_an_override_or_a_string_says(field: str) -> None:
    truth, predictions, refusing = FAULTS[field]
    convention = {f"ndcg.{field}": refusing, f"dcg.{field}": refusing}
    message = error_of(exactk.evaluate, truth, predictions, "ndcg@1", convention=convention)
    exactk.evaluate(truth, predictions, "ndcg@1", **pasted(message))
    accepting = pasted(error_of(exactk.evaluate, truth, predictions, "ndcg@1", convention={field: refusing}))
    spelling = f"ndcg@1({field}={refusing})"
    keywords = pasted(error_of(exactk.evaluate, truth, predictions, spelling, **accepting))
    exactk.evaluate(truth, predictions, **keywords)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("field", FAULTS)
def test_f66_a_field_in_a_metric_string_has_its_effect(field: str, engine: str) -> None:
    evaluate = ENGINES[engine]
    truth, predictions, refusing = FAULTS[field]
    for choice in FIELDS[field].choices:
        if choice == refusing:
            continue
        expected = evaluate(truth, predictions, "ndcg@2", convention={field: choice})["ndcg@2"]
        given = evaluate(truth, predictions, f"ndcg@2({field}={choice})", convention={field: refusing})
        assert given[given.metrics[0]] == expected
        with pytest.raises(exactk.InputError):
            evaluate(truth, predictions, [f"ndcg@2({field}={choice})", "ndcg@2"], convention={field: refusing})


def frame(**columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def run_expression(message: str, **names: object) -> Any:
    """Return the value of the first expression in a hint: a call, or a pair."""
    match = re.search(r"[\w.]*\((?:[^()]|\([^()]*\))*\)", message.rpartition("; ")[2])
    assert match, message
    return eval(match[0], {"exactk": exactk, **names})  # noqa: S307 - the hint is our own


def recall(truth: Any, predictions: Any, **keywords: Any) -> object:
    return exactk.evaluate(truth, predictions, "recall@1(ties=optimistic)", **keywords)


KEYWORDS: dict[str, Callable[..., object]] = {
    "nan of topk": partial(exactk.topk, NAN, 1),
    "ties of topk": partial(exactk.topk, TIED, 1, ties="raise"),
    "user": partial(recall, {1: [2]}, frame(client=[1], item=[2], score=[0.5])),
    "users": partial(recall, {1: [2]}, frame(user=[1], user_id=[1], item=[2], score=[0.5])),
    "score": partial(recall, {1: [2]}, frame(user=[1], item=[2], clicks=[3])),
    "score or rank": partial(recall, {1: [2]}, frame(user=[1, 1], item=[2, 3], score=[0.5, 0.75], rank=[1, 2])),
    "similarity": partial(exactk.neighbors, np.zeros((1, 2)), 1),
}
"""Calls that are refused with a keyword in the hint."""


@pytest.mark.parametrize("case", KEYWORDS)
def test_f66_a_keyword_of_a_hint_can_be_pasted(case: str) -> None:
    call = KEYWORDS[case]
    call(**pasted(error_of(call)))


BLOCKS = scipy.sparse.csr_array(np.array([[0.5, 0.25]])).tobsr()
DISTANCES = np.array([[1, 2]])
SCORES = exactk.Scores(TIED, users=["ann"])
EXPRESSIONS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "sparse": ({"truth": [[0]], "predictions": BLOCKS}, "predictions", {}),
    "distances": ({"truth": [[0]], "predictions": (DISTANCES, DISTANCES)}, "predictions", {"ids": DISTANCES, "distances": DISTANCES}),
    "rows by number": ({"truth": {"ann": [0]}, "predictions": TIED}, "predictions", {"users": ["ann"]}),
    "rankings by number": ({"truth": {"ann": [0]}, "predictions": [[0]]}, "truth", {"indptr": [0, 1], "items": [0], "users": ["ann"]}),
    "columns by number": ({"truth": {"ann": ["film"]}, "predictions": SCORES}, "predictions", {"items": ["film", "song", "book"]}),
    "keys of users": ({"truth": [["film"]], "predictions": {"ann": {"film": 1.0}}}, "truth", {"users": ["ann"]}),
}  # fmt: skip
"""Arguments that are refused with an expression in the hint, the one that it replaces, and its other names."""


@pytest.mark.parametrize("case", EXPRESSIONS)
def test_f66_an_expression_of_a_hint_can_be_pasted(case: str) -> None:
    arguments, replaced, names = EXPRESSIONS[case]
    message = error_of(recall, **arguments)
    recall(**arguments | {replaced: run_expression(message, **arguments | names)})


FILES = {
    "q.csv": "user,item\na,x\nb,y\n",
    "nan.csv": "user,item,score\na,x,nan\na,y,1\nb,y,2\n",
    "tied.csv": "user,item,score\na,x,1\na,y,1\nb,y,2\n",
    "digits.csv": "user,item,score\na,1,1\n",
    "digits.qrels": "a 0 1 1\n",
}
EVALUATE_NAN = ("evaluate", "q.csv", "nan.csv")
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "nan": (EVALUATE_NAN, (), "--set nan=last"),
    "nan of a preset": ((*EVALUATE_NAN, "--convention", "ranx"), (), "--convention ranx --set nan=last"),
    "nan of changes": (
        (*EVALUATE_NAN, "--set", "min_grade=1", "--set", "ndcg.gain_table=[0,1]", "--set", "ndcg.gain=table"),
        (),
        "--set min_grade=1.0 --set ndcg.gain=table --set 'ndcg.gain_table=[0.0,1.0]' --set nan=last",
    ),
    "nan of topk": (("topk", "nan.csv", "-k", "1"), (), "--set nan=last"),
    "ties": (("evaluate", "q.csv", "tied.csv", "-m", "P@1"), ("--set", "ties=raise"), "--set ties=lowest_id"),
    "ties of topk": (("topk", "tied.csv", "-k", "1"), ("--set", "ties=raise"), "--set ties=lowest_id"),
    "metric": ((*EVALUATE_NAN, "--set", "nan=last"), ("-m", "mrr(nan=raise)"), "-m 'reciprocal_rank(nan=last)'"),
    "ids": (("evaluate", "digits.qrels", "digits.csv"), (), "--text-ids"),
}
"""Commands: what is kept of them, what is refused, and the options in the hint."""


@pytest.mark.parametrize("case", COMMANDS)
def test_f66_a_hint_on_the_command_line_can_be_pasted(
    case: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(FILES)
    kept, refused, options = COMMANDS[case]
    result = run(*kept, *refused)
    assert_refused(result, options)
    assert options in result.err.rpartition("; ")[2]
    assert run(*kept, *shlex.split(options)).code == 0


def test_f66_fields_are_set_on_the_command_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files({"t.csv": "user,item,grade\na,x,1\na,y,3\n", "p.csv": "user,item,score\na,x,2\na,y,1\n"})
    evaluate = ("evaluate", "t.csv", "p.csv", "--format", "json", "-m", "ndcg", "-m", "dcg", "-m", "P@1")
    truth, predictions = exactk.read("t.csv", "truth"), exactk.read("p.csv", "predictions")
    for options, changes in (
        (("--set", "gain=exp2"), {"gain": "exp2"}),
        (("--set", "ndcg.gain=exp2", "--set", "min_grade=2"), {"ndcg.gain": "exp2", "min_grade": 2}),
        (("--convention", "sklearn", "--set", "decimals=2"), {"base": "sklearn", "decimals": 2}),
        (("--set", "gain=table", "--set", "gain_table=[0,1,2,9]"), {"gain": "table", "gain_table": [0, 1, 2, 9]}),
        (("--set", "min_grade=None"), {}),
        (("--set", "score_dtype=float32"), {"score_dtype": "float32"}),
    ):
        expected = exactk.evaluate(truth, predictions, ["ndcg", "dcg", "P@1"], convention=changes)
        report = exactk.Report.from_json(run(*evaluate, *options).out)
        assert {name: report[name] for name in report.metrics} == {name: expected[name] for name in expected.metrics}
    wrong = "gain =exp2 gain= gain=cubic gian=exp2 ndgc.gain=exp2 min_grade=high gain_table=1 base=ranx name=ranx overrides={}"
    for change in wrong.split():
        result = run(*evaluate, "--set", change)
        assert_refused(result, "--set: expected ")
        assert "--set: --set" not in result.err


def test_f66_the_warning_of_ties_tells_what_to_write() -> None:
    """Predictions that are gone when the warning is made leave nothing to compute the range from."""
    blocks = iter([([[0]] * 4, np.ones((4, 3)))])
    with pytest.warns(exactk.EvaluationWarning) as caught:
        exactk.evaluate(None, blocks, "ndcg@1", convention="trec_eval")
    choices = re.findall(r"convention=(\{.*?\})", str(caught[0].message))
    assert [ast.literal_eval(choice)["ties"] for choice in choices] == ["pessimistic", "optimistic"]


SKLEARN = exactk.conventions["sklearn"]
CHANGES: dict[str, tuple[Any, exactk.Convention]] = {
    "none": ({}, exactk.conventions["standard"]),
    "a preset": ({"base": "ranx"}, exactk.conventions["ranx"]),
    "of the standard": ({"nan": "last"}, exactk.conventions["standard"].replace(nan="last")),
    "of a preset": ({"base": "ranx", "nan": "last"}, exactk.conventions["ranx"].replace(nan="last")),
    "of a convention": (
        {"base": exactk.conventions["ranx"], "nan": "last"},
        exactk.conventions["ranx"].replace(nan="last"),
    ),
    "of one metric": (
        {"base": "sklearn", "ndcg.gain": "exp2"},
        SKLEARN.replace(overrides={**SKLEARN.overrides, "ndcg": {"ties": "expected", "gain": "exp2"}}),
    ),
    "all overrides": (
        {"base": "sklearn", "overrides": {"dcg": {"gain": "exp2"}}},
        exactk.conventions["sklearn"].replace(overrides={"dcg": {"gain": "exp2"}}),
    ),
    "of to_dict": (exactk.conventions["cornac"].to_dict(), exactk.conventions["cornac"]),
}


@pytest.mark.parametrize("case", CHANGES)
def test_f66_a_mapping_of_changes_is_a_convention(case: str) -> None:
    given, expected = CHANGES[case]
    assert exactk.evaluate([[1]], [[1]], "ndcg@1", convention=given).convention == expected
    assert reference.evaluate([[1]], [[1]], "ndcg@1", convention=given).convention == expected
    assert exactk.ndcg_at_k([[1]], [[1]], k=1, convention=given) == 1
    assert expected.diff(given) == {}


@pytest.mark.parametrize(
    "given",
    [{"nam": "last"}, {"nan": "first"}, {1: "last"}, {"base": "rank"}, {"base": 3}, {"base": {"nan": "last"}},
     {"no_metric.gain": "exp2"}, {"ndcg.score_dtype": "float64"}, {"ndcg.": 1}, {".gain": "exp2"}, 3, ["standard"]],
    ids=repr,
)  # fmt: skip
def test_f66_changes_that_are_none(given: Any) -> None:
    assert error_of(exactk.evaluate, [[1]], [[1]], "ndcg@1", convention=given).startswith("convention: expected ")


NEAR_MISSES: dict[str, tuple[str, Any, str]] = {
    "preset": ("P@1", "rec_tool", "rectools"),
    "preset, by its case": ("P@1", "RecTool", "rectools"),
    "base": ("P@1", {"base": "pytrec-evil"}, "pytrec_eval"),
    "field": ("P@1", {"min_grades": 1}, "min_grade"),
    "choice": ("P@1", {"ties": "lowest"}, "lowest_id"),
    "metric of an override": ("P@1", {"average_precison.ties": "shared"}, "average_precision"),
    "field of an override": ("P@1", {"map.tie": "shared"}, "ties"),
    "choice of an override": ("P@1", {"map.ties": "share"}, "shared"),
    "choice of a string": ("P@1(ties=share)", "standard", "shared"),
    "metric": ("precison@1", "standard", "precision"),
    "letters of a metric": ("ngcd@1", "standard", "ndcg"),
    "letters of a preset": ("P@1", "raxn", "ranx"),
    "field of a string": ("P@1(tie=raise)", "standard", "ties"),
    "parameter of a string": ("fbeta@1(betas=1)", "standard", "beta"),
    "cutoff after a word": ("nDCG_at_5", "standard", "nDCG@5"),
    "cutoff after a name": ("recall20", "standard", "recall@20"),
    "name of a function": ("precision_at_k", "standard", "precision@10"),
    "name of another library's function": ("ndcg_score", "standard", "ndcg"),
    "cutoff without a number": ("apk", "standard", "ap@10"),
    "cutoff in words": ("recall at 10", "standard", "recall@10"),
    "cutoff of a metric that has none": ("auc_at_k", "standard", "auc"),
    "parameter without a default": ("list_auc_at_5", "standard", "list_auc@5(num_items=...)"),
    "beta of a function": ("f2_score@10(average=micro)", "standard", "fbeta@10(beta=2,average=micro)"),
    "beta after an underscore": ("f_2@10", "standard", "fbeta@10(beta=2)"),
    "fraction": ("F05", "standard", "fbeta(beta=0.5)"),
}
"""Metric, convention, and what was meant."""


@pytest.mark.parametrize("case", NEAR_MISSES)
def test_f66_a_misspelt_name_of_a_convention_is_answered_with_a_suggestion(case: str) -> None:
    metric, convention, meant = NEAR_MISSES[case]
    message = error_of(exactk.evaluate, [[1]], [[1]], metric, convention=convention)
    assert message.endswith(f"; did you mean {meant!r}?")


def test_f66_a_metric_is_no_field() -> None:
    message = error_of(exactk.evaluate, [[1]], [[1]], "P@1", convention={"nDCG": {"gain": "exp2"}})
    expected = "expected the name of a field, found 'nDCG'; 'ndcg.FIELD' changes a field of one metric"
    assert message == f"convention: {expected}"
    exactk.evaluate([[1]], [[1]], "P@1", convention={"ndcg.gain": "exp2"})


NEWCOMERS = {
    "exactk.ndcg": "exactk.metrics.ndcg(truth, predictions, k=10)",
    "exactk.auc_score": "exactk.metrics.auc(truth, predictions)",
    "exactk.map_at_k": "exactk.metrics.map(truth, predictions, k=10)",
    "exactk.recall_at_20": "exactk.metrics.recall(truth, predictions, k=20)",
    "exactk.f1_score": "exactk.metrics.f1_score(truth, predictions, k=10)",
    "exactk.f2_score": "exactk.metrics.fbeta.with_(beta=2)(truth, predictions, k=10)",
    "exactk.rbo": "exactk.agreement_metrics.rbo(one, other, k=10)",
    "metrics.f2": "exactk.metrics.fbeta.with_(beta=2)",
    "metrics.f05": "exactk.metrics.fbeta.with_(beta=0.5)",
    "metrics.ndcg_score": "exactk.metrics.ndcg",
    "metrics.rbo": "exactk.agreement_metrics.rbo",
    "lists.ndcg": "exactk.metrics.ndcg",
    "metrics.recall_at_k": "exactk.metrics.recall @ 10, or exactk.metrics.recall(truth, predictions, k=10) for its value",
    "metrics.auc_at_k": "exactk.metrics.auc, or exactk.metrics.auc(truth, predictions) for its value",
    "metrics.f1_at_5": "exactk.metrics.f1 @ 5, or exactk.metrics.f1(truth, predictions, k=5) for its value",
    "metrics['nDCG@10']": "exactk.metrics.nDCG @ 10, or exactk.metrics.nDCG(truth, predictions, k=10) for its value",
}


@pytest.mark.parametrize("typed", NEWCOMERS)
def test_names_of_metrics_that_are_none_are_answered_with_what_to_write(typed: str) -> None:
    names = {"exactk": exactk, "metrics": exactk.metrics, "lists": exactk.agreement_metrics}
    with pytest.raises((AttributeError, KeyError)) as caught:
        eval(typed, names)  # noqa: S307 - our own
    hint = caught.value.args[0].rpartition("; write ")[2]
    assert hint == NEWCOMERS[typed]
    lists = {"truth": [[1]], "predictions": [[1]], "one": [[1]], "other": [[1]]}
    for code in hint.removesuffix(" for its value").split(", or "):
        eval(code, names | lists)  # noqa: S307 - our own


def test_a_parameter_without_a_default_is_part_of_what_to_write() -> None:
    with pytest.raises(AttributeError, match=r"write exactk\.metrics\.list_auc\.with_\(num_items=\.\.\.\)\(truth, "):
        exactk.list_auc  # type: ignore[attr-defined]  # noqa: B018


def test_submodules_that_are_not_loaded_are_answered_with_their_import() -> None:
    for name in ("compat", "dask", "ltr", "ray", "sentence_transformers", "spark", "torch"):
        with pytest.raises(
            AttributeError, match=rf"^module 'exactk' has no attribute '{name}'; write import exactk\.{name}$"
        ):
            exactk.__getattr__(name)  # as before an import statement


def test_names_that_exactk_lacks_are_answered_with_a_suggestion() -> None:
    for name, meant in {"Evaluate": "evaluate", "recal_at_k": "recall_at_k"}.items():
        with pytest.raises(AttributeError, match=rf"^module 'exactk' has no attribute '{name}'; .* '{meant}'\?$"):
            getattr(exactk, name)
    for name in ("xyzzy", "_evaluates"):
        with pytest.raises(AttributeError, match=rf"^module 'exactk' has no attribute '{name}'$"):
            getattr(exactk, name)


@pytest.mark.parametrize("spelling", ["ndcg@0", "ndcg@k", "ndcg@[5 10]", "ndcg@5:10", "ndcg@2147483648"])
def test_what_cutoffs_look_like_is_told(spelling: str) -> None:
    message = error_of(exactk.evaluate, [[1]], [[1]], spelling)
    assert message == f"metrics: expected cutoffs such as @10 or @[5,10], from 1 to 2147483647, found '{spelling}'"
    assert set(exactk.evaluate([[1]], [[1, 4]], "ndcg@[1,2]")) == {"ndcg@1", "ndcg@2"}


@pytest.mark.parametrize(
    ("metric", "convention", "names"),
    [
        ("P@1", "xyzzy", f"presets are {', '.join(exactk.conventions)}"),
        ("P@1", {"xyzzy": 1}, f"fields are {', '.join(FIELDS)}"),
        ("xyzzy", "standard", f"metrics are {', '.join(exactk.metrics)}"),
        ("P@1(xyzzy=1)", "standard", ", ".join([*FIELDS, "item_group"])),
        ("fbeta@1(xyzzy=1)", "standard", f"they are beta, {', '.join(FIELDS)}, item_group"),
    ],
)
def test_f66_nothing_like_it_is_answered_with_all_names(metric: str, convention: Any, names: str) -> None:
    assert error_of(exactk.evaluate, [[1]], [[1]], metric, convention=convention).endswith(names)


@pytest.mark.parametrize("given", [("P@1(min_grade=all)", {}), ("P@1", {"min_grade": "all"})])
def test_f66_what_a_field_takes_beside_numbers_is_told(given: tuple[str, dict[str, str]]) -> None:
    metric, convention = given
    message = error_of(exactk.evaluate, [[1]], [[1]], metric, convention=convention)
    assert " a finite number, 'any' or None, found 'all'" in message
    assert "an integer or None, found 'x'" in error_of(exactk.evaluate, [[1]], [[1]], "P@1(decimals=x)")


GRADED = [{1: 3.0, 2: 1.0}, {2: 1.0}]
REFUSED_PLANS: dict[str, tuple[str, Any]] = {
    "gain of a preset": ("ndcg@2", {"base": "rectools", "gain": "exp2"}),
    "gain of a string": ("ndcg@2(gain=linear)", "rectools"),
    "ideal of a string": ("ndcg@2(ideal_over=cutoff)", "standard"),
    "ideal of an override": ("ndcg@2", {"ndcg.ideal_over": "cutoff"}),
    "no cutoff": ("ndcg", "rectools"),
    "negative grades": ("recall@2(min_grade=any)", "trec_eval"),
    "negative grades of a string": ("recall@2(negative_grades=unjudged,min_grade=any)", "standard"),
}


@pytest.mark.parametrize("case", REFUSED_PLANS)
def test_f66_the_hint_of_a_refused_plan_can_be_pasted(case: str) -> None:
    metric, convention = REFUSED_PLANS[case]
    hint = pasted(error_of(exactk.evaluate, GRADED, [[1, 2], [2, 1]], metric, convention=convention))
    exactk.evaluate(GRADED, [[1, 2], [2, 1]], **({"metrics": metric, "convention": convention} | hint))


FLAT: dict[str, tuple[str, Any]] = {
    "list": ("truth", [1, 2]),
    "list of strings": ("truth", ["x", "y"]),
    "array": ("truth", np.array([1, 2])),
    "Series": ("truth", pd.Series([1, 2])),
    "keyed Series": ("predictions", pd.Series([1, 2], index=["ann", "bob"])),
    "Polars": ("truth", pl.Series([1, 2])),
    "predictions": ("predictions", [1, 2]),
    "array of predictions": ("predictions", np.array([1, 2])),
    "list of scores": ("predictions", [0.5, 0.25]),
    "array of scores": ("predictions", np.array([0.5, 0.25])),
    "exclude": ("exclude", [1, 2]),
    "array of exclude": ("exclude", np.array([1, 2])),
}
"""One sequence where there is one for each user."""
CONVERSIONS: dict[str, Callable[..., object]] = {
    "truth": exactk.as_truth, "predictions": exactk.as_predictions, "exclude": exactk.as_exclusions
}  # fmt: skip


@pytest.mark.parametrize("case", FLAT)
def test_f76_one_sequence_for_all_users_is_answered_with_what_to_write(case: str) -> None:
    argument, value = FLAT[case]
    convert = CONVERSIONS[argument]
    hint = error_of(convert, value).rpartition("; ")[2]
    expressions = [first_expression(text) for text in hint.split(f"{argument}=")[1:]]
    assert expressions
    for expression in expressions:
        convert(eval(expression, {argument: value, "np": np, "truth": value}))  # noqa: S307 - the hint


def first_expression(text: str) -> str:
    """Return the longest beginning that is an expression."""
    words = text.split(" ")
    for size in range(len(words), 0, -1):
        try:
            ast.parse(" ".join(words[:size]), mode="eval")
        except SyntaxError:
            continue
        return " ".join(words[:size])
    raise AssertionError(text)


SOURCES = Path(__file__).parents[1]
PUBLIC_CALLS = (
    *(exactk.custom, exactk.Items, exactk.evaluate, exactk.compare, exactk.topk, exactk.neighbors, exactk.read),
    *(exactk.Parents, exactk.as_predictions, exactk.Truth, exactk.Report.to_csv, exactk.Report.disparity),
    exactk.Report.quantile,
    *(exactk.Comparison.check, exactk.Comparison.to_html, exactk.Comparison.plot, exactk.fuse),
    exactk.Items.popularity_groups,
)


def hints_of_sources() -> list[str]:
    """Return the hints that the sources hold, with what is put in left out, and the options that they name."""
    hints = []
    for path in (*SOURCES.glob("cpp/src/**/*.[ch]pp"), *SOURCES.glob("cpp/bindings/*.cpp")):
        text = re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8"))
        hints += re.findall(r'hint\s*=\s*"((?:[^"\\]|\\.)*)"', text)
        for field, choice, is_keyword in re.findall(r'Change\{"(\w+)", "(\w+)"(, true)?\}', text):
            hints.append(f"{field}='{choice}'" if is_keyword else f"convention={{'{field}': '{choice}'}}")
    for path in SOURCES.glob("python/exactk/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (isinstance(node, ast.keyword) and node.arg == "hint") or (
                isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "hint"
            ):
                hints += literals_of(node.value)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Option":
                hints += [f"{name}=" for name in literals_of(node.args[0])]
    return hints


def literals_of(expression: ast.expr) -> list[str]:
    constants = (node.value for node in ast.walk(expression) if isinstance(node, ast.Constant))
    return [value for value in constants if isinstance(value, str)]


def test_f66_hints_name_no_keyword_that_there_is_not() -> None:
    """A field of the convention is one within ``convention={...}`` alone."""
    hints = hints_of_sources()
    assert any("'duplicate_items': 'collapse'" in hint for hint in hints)
    assert any("distances.astype(float)" in hint for hint in hints)
    parameters = {name for call in PUBLIC_CALLS for name in inspect.signature(call).parameters} | {"item_group"}
    for hint in hints:
        for keyword in re.findall(r"(\w+)=(?!=)", re.sub(r"\w+@k\([^)]*\)", "", hint)):
            assert keyword in parameters, hint
        for change in re.findall(r"convention=(\{'[^}]*'\})", hint):
            exactk.conventions["standard"].diff(ast.literal_eval(change))


@pytest.mark.parametrize("preset", exactk.conventions)
def test_f66_a_hint_spells_out_every_convention(preset: str) -> None:
    convention = exactk.conventions[preset].replace(decimals=3)
    changes = changes_from(convention, {"nan": "last"})
    assert ast.literal_eval(repr(changes)) == changes
    assert convention.replace(nan="last").diff(changes) == {}


def test_f66_a_completed_hint_keeps_the_context_of_its_error() -> None:
    fine = np.array([[0.5, 0.25, 0.125]])
    blocks = iter([([[0]], fine), ([[0]], NAN)])
    calls: dict[str, Callable[..., object]] = {
        "system 'b'": partial(exactk.compare, [[0]], {"a": fine, "b": NAN}),
        "block 1 of the iterator, whose first user is number 1": partial(exactk.evaluate, None, blocks),
    }
    for context, call in calls.items():
        with pytest.raises(exactk.InputError, match="'gain': 'exp2', 'nan': 'last'") as caught:
            call("ndcg@1", convention={"gain": "exp2"})
        assert f" in {context}; convention=" in str(caught.value)


def refusal_of_recall(truth: Any, predictions: Any) -> str:
    return error_of(exactk.evaluate, truth, predictions, "recall@1")


@pytest.mark.parametrize("items", ["1 2 3", "1,2,3", "['1', '2', '3']"])
@pytest.mark.parametrize("keyed", [True, False])
def test_no_hint_makes_one_item_of_a_string_that_may_be_a_list(items: str, keyed: bool) -> None:
    truth: Any = {"ann": ["3"]} if keyed else [["3"]]
    predictions: Any = {"ann": items} if keyed else [items]
    line, _, condition = refusal_of_recall(truth, predictions).rpartition("; predictions=")[2].partition(" if each ")
    assert condition == "string holds several"
    assert exactk.evaluate(truth, eval(line), "num_recommended")["num_recommended"] == 3  # noqa: S307
    hint = "{user: [item] for user, item in predictions.items()}"
    assert refusal_of_recall({"ann": ["x"]}, {"ann": "x"}).endswith(hint)


def test_hints_for_factors_and_generators() -> None:
    factors = np.ones((1, 2)), np.array([[1.0, 0.0], [2.0, 2.0]])
    hint = "exactk.Embeddings(*predictions) has vectors of users and items, if these are the arrays"
    assert refusal_of_recall([[1]], factors).endswith(hint)
    assert exactk.evaluate([[1]], exactk.Embeddings(*factors), "recall@1")["recall@1"] == 1.0
    blocks = (([[1]], [[1]]) for _ in range(2))
    hint = "; evaluate(None, truth, metrics) takes (truth, predictions) blocks"
    assert refusal_of_recall(blocks, [[1]]).endswith(hint)
    assert exactk.evaluate(None, blocks, "recall@1")["recall@1"] == 1.0
    frames = iter([pd.DataFrame({"user": ["ann"], "item": [1], "score": [0.5]})])
    assert "exactk.Batches reads data frames" in refusal_of_recall(None, frames)


def test_hints_name_no_column_that_would_reverse_the_order() -> None:
    frame = pd.DataFrame({"user": ["ann", "ann"], "item": [1, 2]})
    for column in ("distance", "position", "sortOrder"):
        ordered = frame.assign(**{column: [1, 2]})
        message = refusal_of_recall({"ann": [1]}, ordered)
        assert message.endswith(f"; name it, for example with rank={column!r}")
        assert exactk.recall_at_k({"ann": [1]}, ordered, 1, rank=column) == 1.0
    assert "score='other' or rank='other'" in refusal_of_recall({"ann": [1]}, frame.assign(other=[1, 2]))
    swapped = refusal_of_recall({"ann": [1]}, frame.assign(rating=[4, 5]))
    assert swapped.endswith("; if these are the grades of the truth, the truth comes first")


@pytest.mark.parametrize(
    "columns", [("customer_id", "product_id", "probability"), ("uid", "iid", "est")], ids=["customer", "surprise"]
)
def test_more_common_names(columns: tuple[str, ...]) -> None:
    frame = pd.DataFrame(dict(zip(columns, (["ann", "ann"], [1, 2], [0.25, 0.75]), strict=True)))
    assert exactk.evaluate({"ann": [2]}, frame, "recall@1")["recall@1"] == 1.0
