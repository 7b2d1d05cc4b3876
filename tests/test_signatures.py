"""An argument of one name is the same everywhere: its default, its type, and the columns that its frames may have."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest

import exactk
from exactk._compare import COMPARE_DEFAULTS
from exactk._engine.comparisons import CompareOptions
from exactk._engine.options import AgreementOptions, Options
from exactk._engine.topk import TopKOptions
from exactk._evaluate import DEFAULTS
from exactk._sharded.engines import FrameComparisonOptions, FrameOptions, compare_frames, planned_evaluation
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
    ("as_truth", "value"): COLUMNS["truth"],
    ("as_predictions", "value"): COLUMNS["predictions"],
    ("as_exclusions", "value"): COLUMNS["exclude"],
    ("Batches", "source"): COLUMNS["predictions"],
    ("read", "path"): {*COLUMNS["truth"], *COLUMNS["predictions"]},
}


# What the argument means elsewhere: keys of items, or their number.
OTHER_ITEMS = {"Embeddings", "from_ratings", "neighbors"}


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
    of_evaluate = parameters_of(exactk.evaluate)
    for name, function in FUNCTIONS.items():
        for parameter in parameters_of(function).values():
            if (name, parameter.name) == ("agreement", "metrics"):  # which are its own
                assert parameter.annotation == of_evaluate["metrics"].annotation
            elif parameter.name == "items" and name in OTHER_ITEMS:
                assert parameter.annotation != of_evaluate["items"].annotation, name
            elif (same := of_evaluate.get(parameter.name)) and same.default is not same.empty:
                assert (parameter.default, parameter.annotation) == (same.default, same.annotation), (name, parameter)


def test_a_function_that_takes_frames_takes_the_names_of_their_columns() -> None:
    for name, function in FUNCTIONS.items():
        parameters = parameters_of(function)
        options = set(Options.__annotations__) if "options" in parameters else set()
        for argument in parameters:
            columns = CONVERSIONS.get((name, argument), COLUMNS.get(argument, set()))
            assert columns <= set(parameters) | options, (name, argument)


def test_the_defaults_of_evaluate_stand_once() -> None:
    """The reference has none of its own."""
    for name, options in (("evaluate", Options), ("topk", TopKOptions), ("agreement", AgreementOptions)):
        core, reference = parameters_of(getattr(exactk, name)), parameters_of(getattr(exactk.reference, name))
        keywords = {option.name: option for option in core.values() if option.kind is option.KEYWORD_ONLY}
        assert reference.pop("options").kind is inspect.Parameter.VAR_KEYWORD
        assert reference == {name: one for name, one in core.items() if name not in keywords}
        assert set(options.__annotations__) == set(keywords)
        annotations = {name: hint.__forward_arg__ for name, hint in options.__annotations__.items()}
        assert annotations == {name: option.annotation for name, option in keywords.items()}
    of_evaluate, of_compare = parameters_of(exactk.evaluate), parameters_of(exactk.compare)
    assert {name: of_evaluate[name] for name in DEFAULTS} == {name: of_compare.pop(name) for name in DEFAULTS}
    of_reference = parameters_of(exactk.reference.compare)
    assert of_reference.pop("options").annotation == "Unpack[CompareOptions]"
    of_comparisons = {name: of_compare.pop(name) for name in COMPARE_DEFAULTS}
    assert list(of_compare) == ["truth", "systems", "metrics"]
    assert of_compare == of_reference
    annotations = {name: hint.__forward_arg__ for name, hint in CompareOptions.__annotations__.items()}
    assert {name: one.annotation for name, one in of_comparisons.items()}.items() <= annotations.items()
    of_reports = parameters_of(exactk.compare_reports)
    assert of_reports.pop("reports") is not None
    for name in ("num_threads", "progress"):
        assert of_reports.pop(name) == of_evaluate[name]
    assert of_reports == of_comparisons
    assert dict(DEFAULTS) == {name: of_evaluate[name].default for name in Options.__annotations__}


@pytest.mark.parametrize(("name", "frame"), [("spark", "DataFrame"), ("dask", "DataFrame"), ("ray", "Dataset")])
def test_the_options_of_engines_stand_once(name: str, frame: str) -> None:
    engine = import_module(f"exactk.{name}")
    of_frames = parameters_of(planned_evaluation)
    of_comparisons = {**parameters_of(compare_frames), **of_frames}
    for function in ("evaluate", "states", "per_user", "compare"):
        call = getattr(engine, function)
        declared = FrameComparisonOptions if function == "compare" else FrameOptions
        source = of_comparisons if function == "compare" else of_frames
        options = {one.name: one for one in parameters_of(call).values() if one.kind is one.KEYWORD_ONLY}
        assert set(options) == set(declared.__annotations__)
        for option, hint in declared.__annotations__.items():
            annotation = hint.__forward_arg__
            assert source[option] == options[option].replace(annotation=annotation), option
            assert options[option].annotation == annotation.replace("Frame", frame), option
        with pytest.raises(TypeError, match=rf"^{function}\(\) got an unexpected keyword argument 'num_threads'$"):
            call(None, None, num_threads=2)


def test_the_docstring_of_compare_names_all_options() -> None:
    options = re.search(r"^    (convention, .*) : optional$", exactk.compare.__doc__ or "", re.MULTILINE)
    assert options is not None
    assert options[1].split(", ") == list(DEFAULTS)


@pytest.mark.parametrize("engine", [exactk, exactk.reference], ids=["core", "reference"])
def test_options_that_there_are_not_are_refused(engine: Any) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'threads'"):
        engine.evaluate([[1]], [[1]], "P@1", threads=2)
    for name, hint in {"threads": r"; .* 'num_threads'\?", "xyzzy": ""}.items():
        with pytest.raises(TypeError, match=rf"^compare\(\) got an unexpected keyword argument '{name}'{hint}$"):
            engine.compare([[1]], {"a": [[1]]}, "P@1", **{name: 2})
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        engine.topk([[1]], 1, weights=[1.0])


@pytest.mark.parametrize("name", exactk.metrics)
def test_metrics_take_frames_by_the_names_of_their_columns(name: str) -> None:
    info = exactk.metrics[name]
    function: Any = info
    if info.parameter is not None:
        function = info.with_(**{info.parameter.name: parameter_of(name)})  # type: ignore[arg-type]
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
    assert exactk.recall_at_k(truth, {"ann": [], "bob": []}, 1) == 0.0
    with pytest.raises(exactk.InputTypeError, match=r"; exactk.compare\(truth, predictions, 'recall@1'\) takes"):
        exactk.recall_at_k([[1]], {"a": [[1]], "b": [[4]]}, 1)
