"""An argument of one name is the same everywhere: its default, its type, and the columns that its frames may have."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest

import exactk
from exactk._evaluate import DEFAULTS
from exactk._options import (
    AgreementOptions,
    AgreementValueOptions,
    CompareOptions,
    CompareReportsOptions,
    EvaluatorOptions,
    FusionOptions,
    JudgeOptions,
    ListOptions,
    Options,
    TopKOptions,
    UpdateOptions,
    ValueOptions,
)
from exactk._plan.metrics import metrics as metric_registry
from exactk._plan.values import counts_ranks
from exactk._report.comparison_options import ComparisonOptions
from exactk._sharded.engines import FrameComparisonOptions, FrameOptions
from rankings import rankings_of
from strategies import parameter_of

# The columns that a frame may have in each argument.
COLUMNS = {
    "truth": {"user", "item", "grade"},
    "predictions": {"user", "item", "score", "rank"},
    "scores": {"user", "item", "score"},
    "exclude": {"user", "item"},
}
# Functions whose argument has the name of none of these.
CONVERSIONS = {
    ("agreement", "one"): COLUMNS["predictions"],
    ("agreement", "other"): COLUMNS["predictions"],
    ("drift", "one"): COLUMNS["predictions"],
    ("drift", "other"): COLUMNS["predictions"],
    ("fuse", "systems"): COLUMNS["predictions"],
    ("as_truth", "value"): COLUMNS["truth"],
    ("as_predictions", "value"): COLUMNS["predictions"],
    ("as_exclusions", "value"): COLUMNS["exclude"],
    ("Batches", "source"): COLUMNS["predictions"],
    ("read", "path"): {*COLUMNS["truth"], *COLUMNS["predictions"]},
}


# What the argument means elsewhere: keys of items, or their number; weights of systems, items that
# these lack, a cutoff that may be none, and more ways to treat ties.
OTHERS = {(name, "items") for name in ("Embeddings", "from_ratings", "neighbors")} | {
    ("fuse", name) for name in ("weights", "missing", "k", "ties")
}


def parameters_of(call: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(call).parameters)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: call
    for name in exactk.__all__
    if inspect.isfunction(call := getattr(exactk, name)) or name in {"Batches", "Embeddings"}
}

TRUTH = pd.DataFrame({"who": ["ann", "ann", "bob"], "what": [1, 4, 2], "worth": [3.0, 1.0, 2.0]})
SCORED = pd.DataFrame({"who": ["bob", "ann", "bob", "ann"], "what": [2, 4, 5, 2], "worth": [0.5, 0.25, 0.75, 0.5]})
TRAIN = pd.DataFrame({"who": ["eve", "eve", "sam", "sam", "ann"], "what": [1, 2, 4, 2, 5]})
SEEN = pd.DataFrame({"who": ["bob"], "what": [5]})
NAMES = {"user": "who", "item": "what"}
USUAL = {"who": "user", "what": "item"}


def test_an_argument_of_one_name_is_the_same_everywhere() -> None:
    """Only what both take counts: `read` has no convention."""
    of_evaluate = {**parameters_of(exactk.topk), **parameters_of(exactk.compare), **parameters_of(exactk.evaluate)}
    for name, function in FUNCTIONS.items():
        for parameter in parameters_of(function).values():
            if (name, parameter.name) == ("agreement", "metrics"):  # which are its own
                assert parameter.annotation == of_evaluate["metrics"].annotation
            elif (name, parameter.name) in OTHERS:
                assert parameter.annotation != of_evaluate[parameter.name].annotation, name
            elif (same := of_evaluate.get(parameter.name)) and same.default is not same.empty:
                assert (parameter.default, parameter.annotation) == (same.default, same.annotation), (name, parameter)


def test_a_function_that_takes_frames_takes_the_names_of_their_columns() -> None:
    for name, function in FUNCTIONS.items():
        parameters = parameters_of(function)
        options = set(Options.__annotations__) if "options" in parameters else set()
        for argument in parameters:
            columns = CONVERSIONS.get((name, argument), COLUMNS.get(argument, set()))
            assert columns <= set(parameters) | options, (name, argument)


VALUE_FUNCTIONS = [name for name in exactk.__all__ if name == "auc" or name.endswith("_at_k")]
TAKING_OPTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "evaluate": (exactk.evaluate, Options),
    "compare": (exactk.compare, CompareOptions),
    "compare_reports": (exactk.compare_reports, CompareReportsOptions),
    "agreement": (exactk.agreement, AgreementOptions),
    "drift": (exactk.drift, ListOptions),
    "judge": (exactk.judge, JudgeOptions),
    "topk": (exactk.topk, TopKOptions),
    "fuse": (exactk.fuse, FusionOptions),
    "matching_conventions": (exactk.matching_conventions, ValueOptions),
    **{name: (getattr(exactk, name), ValueOptions) for name in VALUE_FUNCTIONS},
    "Metric": (exactk.results.Metric.__call__, ValueOptions),
    "AgreementMetric": (exactk.results.AgreementMetric.__call__, AgreementValueOptions),
    "Evaluator": (exactk.Evaluator, EvaluatorOptions),
    "Evaluator.update": (exactk.Evaluator.update, UpdateOptions),
}
ENGINES = {"spark": "DataFrame", "dask": "DataFrame", "ray": "Dataset"}
FRAMES = {
    f"{engine}.{name}": (engine, name, FrameComparisonOptions if name == "compare" else FrameOptions)
    for engine in ENGINES
    for name in ("evaluate", "states", "per_user", "compare")
}


def taking_options(name: str) -> tuple[Callable[..., Any], Any]:
    if name not in FRAMES:
        return TAKING_OPTIONS[name]
    engine, function, kind = FRAMES[name]
    return getattr(import_module(f"exactk.{engine}"), function), kind


@pytest.mark.parametrize("name", [*TAKING_OPTIONS, *FRAMES])
def test_signatures_show_the_declared_options(name: str) -> None:
    """Each with the type that is declared, and the default of the function that declares it."""
    function, kind = taking_options(name)
    frame = ENGINES.get(name.partition(".")[0], "")
    options = {one.name: one for one in parameters_of(function).values() if one.name in kind.__annotations__}
    declared = {option: hint.__forward_arg__ for option, hint in kind.__annotations__.items()}
    shown = {option: re.sub(r"\bFrame\b", frame, annotation) for option, annotation in declared.items()}
    assert {option: one.annotation for option, one in options.items()} == shown
    for option, one in options.items():
        sources = [parameters_of(source) for source in (exactk.evaluate, exactk.compare, exactk.topk)]
        declarations = [source[option] for source in sources if option in source]
        if declarations and (name, option) not in OTHERS:  # but for those of engines
            assert one.default == declarations[0].default, option
        assert one.kind is one.KEYWORD_ONLY


@pytest.mark.parametrize("name", [*TAKING_OPTIONS, *FRAMES])
def test_docstrings_describe_each_parameter_once_in_order(name: str) -> None:
    function, _ = taking_options(name)
    parameters = [one for one in parameters_of(function) if one != "self"]
    text = inspect.getdoc(function) or ""
    section = re.split(r"\n\n(?=\S.*\n---)", text.partition("\nParameters\n----------\n")[2])[0]
    headers = re.findall(r"^(\w.*) : (.+)$", section, re.MULTILINE)
    described = [one for names, _ in headers for one in names.split(", ")]
    assert sorted(described) == sorted(parameters)
    firsts = [names.split(", ")[0] for names, _ in headers]
    assert firsts == sorted(firsts, key=parameters.index)
    assert len(re.findall(r"^\S", section, re.MULTILINE)) == len(headers)  # none is without a type
    footnotes = set(re.findall(r"\[(\d)\]_", text))
    assert footnotes == set(re.findall(r"^\.\. \[(\d)\]", text, re.MULTILINE))
    titles = re.findall(r"\n\n(\S.*)\n---", text)
    order = ["Parameters", "Attributes", "Returns", "Raises", "Warns", "See Also", "Notes", "References", "Examples"]
    assert titles == sorted(titles, key=order.index)


def test_what_an_option_is_stands_in_the_docstring_of_evaluate_alone() -> None:
    whole = inspect.getdoc(exactk.evaluate) or ""
    for option, start in {
        "exclude": "Items to remove",
        "progress": "True draws",
        "weights": "The weight of each",
    }.items():
        text = re.search(rf"^{option} : .*\n(    {start}(?:.*\n    )*.*)$", whole, re.MULTILINE)
        assert text is not None
        for function in (exactk.compare, exactk.recall_at_k, exactk.results.Metric.__call__):
            assert text[1] in (inspect.getdoc(function) or "")
    lists = inspect.getdoc(exactk.judge) or ""
    assert "Items to remove" in lists
    assert 'The key ``"ndcg.gain"`` changes a field for one metric.\n    It decides what is relevant' in lists


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("topk", "rank; grade"),
        ("agreement", "grade"),
        ("judge", "As `exactk.evaluate` does.\n"),
        ("ndcg_at_k", "if no metric reads the truth"),
    ],
)
def test_a_docstring_says_nothing_that_the_function_lacks(name: str, text: str) -> None:
    assert text not in (inspect.getdoc(getattr(exactk, name)) or "")


def test_an_update_is_not_said_to_take_an_iterator() -> None:
    text = inspect.getdoc(exactk.Evaluator.update) or ""
    assert "but for an iterator of blocks" in text
    assert text.count("iterator") == 1


def test_functions_work_without_docstrings() -> None:
    code = "import exactk, exactk.compat; print(exactk.recall_at_k.__doc__, exactk.recall_at_k([[1]], [[1, 2]], k=1))"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout == "None 1.0\n"


def test_the_reference_has_the_options_of_the_core() -> None:
    """And no defaults of its own."""
    for name in ("evaluate", "compare", "agreement", "drift", "judge", "topk", "fuse"):
        _, kind = TAKING_OPTIONS[name]
        core, reference = parameters_of(getattr(exactk, name)), parameters_of(getattr(exactk.reference, name))
        options = reference.pop("options")
        assert (options.kind, options.annotation) == (inspect.Parameter.VAR_KEYWORD, f"Unpack[{kind.__name__}]")
        core.pop("block_users", None)  # which is of blocks
        assert reference == {name: one for name, one in core.items() if name not in kind.__annotations__}
    assert dict(DEFAULTS) == {name: parameters_of(exactk.evaluate)[name].default for name in Options.__annotations__}
    of_compare = parameters_of(exactk.compare)
    for name, default in asdict(ComparisonOptions()).items():
        assert default == of_compare[name].default


# A name of another library, and what is said of it where the option is there.
FOREIGN: list[tuple[str, Any, str, str]] = [
    ("k", 10, "metrics", "metrics='ndcg@10' has the cutoff"),
    ("cutoff", 10, "k", "did you mean 'k'?"),
    (
        "train",
        1,
        "items",
        "did you mean exclude=train, whose items leave the lists, or items=exactk.Items(train=train)?",
    ),
    ("seen", 1, "exclude", "did you mean 'exclude'?"),
    ("by", 1, "groups", "did you mean 'groups'?"),
    ("catalog", 1, "items", "items=exactk.Items(catalogue) has it"),
    ("correction", 1, "adjust", "did you mean 'adjust'?"),
    ("reference", 1, "baseline", "did you mean 'baseline'?"),
    ("alpha", 0.05, "confidence", "confidence=1 - 0.05"),
    ("n_jobs", 2, "num_threads", "did you mean 'num_threads'?"),
    ("n_jobs", 2, "threads", "did you mean 'threads'?"),
    ("relevance_threshold", 4, "convention", "convention={'min_grade': 4}"),
    ("min_grade", 4, "convention", "convention={'min_grade': 4}"),
    ("random_state", 4, "seed", "did you mean 'seed'?"),
    ("scores", 4, "score", "did you mean 'score'?"),
]
CALLS: dict[str, Callable[..., Any]] = {
    **{name: partial(function, [[1]], [[1]]) for name, (function, _) in TAKING_OPTIONS.items()},
    "compare": partial(exactk.compare, [[1]], {"a": [[1]]}),
    "compare_reports": partial(exactk.compare_reports, {}),
    "judge": partial(exactk.judge, [[1]], [[1]], 1),
    "topk": partial(exactk.topk, [[1.0]], 1),
    "fuse": partial(exactk.fuse, {"a": [[1]]}),
    "matching_conventions": partial(exactk.matching_conventions, [[1]], [[1]], {"mrr": 1}),
    "Metric": partial(exactk.metrics.ndcg, [[1]], [[1]]),
    "AgreementMetric": partial(exactk.agreement_metrics.overlap, [[1]], [[1]]),
    "Evaluator": partial(exactk.Evaluator, "mrr"),
    "Evaluator.update": partial(exactk.Evaluator("mrr").update, [[1]], [[1]]),
    **{
        f"reference.{name}": partial(getattr(exactk.reference, name), [[1]], [[1]])
        for name in ("evaluate", "agreement")
    },
    "reference.compare": partial(exactk.reference.compare, [[1]], {"a": [[1]]}),
    "reference.judge": partial(exactk.reference.judge, [[1]], [[1]], 1),
    "reference.topk": partial(exactk.reference.topk, [[1.0]], 1),
    "reference.fuse": partial(exactk.reference.fuse, {"a": [[1]]}),
}


@pytest.mark.parametrize("name", [*CALLS, *FRAMES])
def test_unknown_names_are_answered_alike_by_all_functions(name: str) -> None:
    """With the option that the function has for it, if it has one."""
    function, _ = taking_options(name.removeprefix("reference."))
    call = CALLS.get(name) or partial(function, None, None)
    parameters = parameters_of(function)
    for foreign, value, option, hint in FOREIGN:
        if foreign in parameters or option not in parameters:
            continue
        shown = hint.replace("ndcg", "overlap") if "one" in parameters else hint
        with pytest.raises(
            TypeError, match=rf"\(\) got an unexpected keyword argument '{foreign}'; {re.escape(shown)}$"
        ):
            call(**{foreign: value})
    with pytest.raises(TypeError, match=r"\(\) got an unexpected keyword argument 'xyzzy'$"):
        call(xyzzy=1)


@pytest.mark.parametrize(
    ("name", "option", "other"),
    [
        ("evaluate", "seed", "exactk.compare(truth, systems, metrics, ...)"),
        ("evaluate", "clusters", "exactk.compare(truth, systems, metrics, ...)"),
        ("judge", "weights", "exactk.evaluate(truth, predictions, metrics, ...)"),
        ("Evaluator", "exclude", "Evaluator.update(truth, predictions, ...)"),
        ("Evaluator.update", "items", "Evaluator(metrics, ...)"),
        ("recall_at_k", "groups", "exactk.evaluate(truth, predictions, 'recall@10', ...)"),
    ],
)
def test_an_option_of_another_function_is_answered_with_the_function(name: str, option: str, other: str) -> None:
    with pytest.raises(TypeError, match=f"{option}.*; {re.escape(other)} takes it$"):
        CALLS[name](**{option: 1})


@pytest.mark.parametrize("name", exactk.metrics)
def test_metrics_take_frames_by_the_names_of_their_columns(name: str) -> None:
    info = metric_registry[name]
    function: Any = exactk.metrics[name]
    if info.parameter is not None:
        function = function.with_(**{info.parameter.name: parameter_of(name)})
    items: dict[str, Any]
    usual_items: dict[str, Any]
    items, usual_items = ({"items": train} if info.walks_list else {} for train in (TRAIN, TRAIN.rename(columns=USUAL)))
    if info.reads_groups:
        groups = {item: item % 2 for item in TRAIN[NAMES["item"]].tolist()}
        items = usual_items = {"items": exactk.Items(train=TRAIN.rename(columns=USUAL), item_groups=groups)}
    if info.reads_features:
        ids = TRAIN["what"].unique()
        vectors = np.arange(len(ids))[:, None] * [1.0, 0.5]
        tags = [["a"], ["b", "a"]] * (len(ids) // 2) + [["b"]] * (len(ids) % 2)
        features: Any = vectors if "distance" in info.own_fields else tags
        train = exactk.as_exclusions(TRAIN.rename(columns=USUAL)) if info.reads_history else None
        items = usual_items = {"items": exactk.Items(ids, train=train, features=features)}
    more: dict[str, Any] = {"convention": {"undefined": "skip"}} if info.reads_history else {}
    if counts_ranks(info):
        more["k"] = 3
    if info.gains_to_one:
        function = function.with_(gain="scaled", gain_range=[0, 3])
    usual = [TRUTH.rename(columns=USUAL | {"worth": "grade"}), SCORED.rename(columns=USUAL | {"worth": "score"})]
    ranked = SCORED.assign(order=SCORED.groupby("who")["worth"].rank(ascending=False).astype(int))
    base, ranked_base, usual_base = (
        {"base_predictions": one[:-1]} if info.reads_base else {} for one in (SCORED, ranked, usual[1])
    )
    usual_items |= usual_base
    expected = function(*usual, exclude=SEEN.rename(columns=USUAL), **usual_items, **more)
    named = function(TRUTH, SCORED, exclude=SEEN, grade="worth", score="worth", **NAMES, **items, **base, **more)
    by_rank = function(
        TRUTH, ranked, exclude=SEEN, grade="worth", rank="order", **NAMES, **items, **ranked_base, **more
    )
    assert named == by_rank == expected


@pytest.mark.parametrize("topk", [exactk.topk, exactk.reference.topk], ids=["core", "reference"])
def test_topk_takes_frames_by_the_names_of_their_columns(topk: Any) -> None:
    best = topk(SCORED, 2, exclude=SEEN, score="worth", **NAMES)
    assert best.items.tolist() == [[2, -1], [2, 4]]
    message = r"expected a score column, .*; name it, for example with score='worth'"
    with pytest.raises(exactk.InputError, match=message):
        topk(SCORED.assign(rank=1), 2, **NAMES)


def test_rankings_are_frames_with_ranks() -> None:
    plain = pd.DataFrame({"user": ["ann", "ann"], "item": [4, 2], "rank": [2, 1]})
    assert rankings_of(plain).row(0).tolist() == [2, 4]
    named = plain.rename(columns={"user": "who", "item": "what", "rank": "order"})
    assert rankings_of(named, rank="order", **NAMES).row(0).tolist() == [2, 4]
    assert rankings_of(exactk.Batches(lambda: [plain[:1], plain[1:]])).row(0).tolist() == [2, 4]


def test_a_metric_function_takes_users_with_keys_and_refuses_systems() -> None:
    truth = {"ann": [1, 4], "bob": [2]}
    assert exactk.recall_at_k(truth, {"ann": [4], "bob": [2]}, 1) == 0.75
    assert exactk.recall_at_k(truth, {"ann": {4: 0.5, 1: 0.25}, "bob": {3: 0.5}}, 1) == 0.25
    with pytest.warns(exactk.EvaluationWarning, match="^no list has an item$"):
        assert exactk.recall_at_k(truth, {"ann": [], "bob": []}, 1) == 0.0
    with pytest.raises(exactk.InputTypeError, match=r"; exactk.compare\(truth, predictions, 'recall@1'\) takes"):
        exactk.recall_at_k([[1]], {"a": [[1]], "b": [[4]]}, 1)
