"""Metrics as objects: strings by ``@``, settings by ``with_``, values when called, and what they say of themselves."""

from __future__ import annotations

import copy
import doctest
import html
import inspect
import pickle
import pydoc
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import exactk
from exactk._options import Options, ValueOptions
from exactk._plan.fields import FIELDS
from exactk._plan.metric_strings import plan, warn_of_unused_fields
from exactk._plan.metrics import AGREEMENT_FIELDS_OF_VALUES, metrics as core_metrics, text_of
from exactk._plan.values import counts_ranks
from strategies import parameter_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._plan.fields import Field

ALL: dict[str, Any] = {**exactk.metrics, **exactk.agreement_metrics}
FUNCTIONS = [
    "precision_at_k", "recall_at_k", "fbeta_at_k", "average_precision_at_k", "ndcg_at_k", "reciprocal_rank_at_k",
    "hit_rate_at_k", "auc",
]  # fmt: skip
TRUTH, LISTS = [[1, 4], [21]], [[4, 2, 1], [3, 21]]
OF_REPORTS = {"metrics", *Options.__annotations__} - ValueOptions.__annotations__.keys()


def given(metric: Any) -> Any:
    """Return a metric with the parameter that it needs."""
    needs = metric.parameter is not None and metric.parameter.standard is None
    return metric.with_(**{metric.parameter.name: parameter_of(metric.name)}) if needs else metric


def test_a_cutoff_makes_the_metric_string() -> None:
    metrics = exactk.metrics
    assert metrics.ndcg @ 10 == "ndcg@10"
    assert metrics.recall @ [5, 10] == metrics.recall @ np.array([5, 10]) == "recall@[5,10]"
    assert metrics.recall @ range(1, 3) == "recall@[1,2]"
    assert metrics.fbeta.with_(beta=2) @ 10 == "fbeta@10(beta=2)"
    assert metrics.fbeta.with_(beta=0.5, average="micro") @ np.int64(3) == "fbeta@3(beta=0.5,average=micro)"
    assert metrics.fbeta.with_(beta=2).with_(beta=3) @ 1 == "fbeta@1(beta=3)"
    assert metrics.ndcg.with_(gain_table=[0, 1, 3.5]) @ 1 == "ndcg@1(gain_table=[0,1,3.5])"
    assert type(metrics.ndcg @ 10) is str


@pytest.mark.parametrize(
    ("name", "settings", "line"),
    [
        ("fbeta", {"beta": 2}, "exactk.metrics.fbeta.with_(beta=2)"),
        ("ndcg", {"gain": "exp2", "k": 5}, "exactk.metrics.ndcg.with_(gain='exp2') @ 5"),
        ("average_precision", {"k": 5}, "exactk.metrics.average_precision @ 5"),
        ("rbo", {"p": 0.8}, "exactk.agreement_metrics.rbo.with_(p=0.8)"),
    ],
)
def test_a_call_with_settings_alone_says_how_to_write_them(name: str, settings: dict[str, Any], line: str) -> None:
    with pytest.raises(TypeError, match=f"which are missing; did you mean {re.escape(line)}\\?$"):
        ALL[name](**settings)
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: '(predictions|other)'"):
        ALL[name](LISTS, k=2)


def test_a_metric_is_in_its_registry() -> None:
    metrics: Any = exactk.metrics
    asked = metrics.fbeta.with_(beta=2)
    assert metrics.ndcg in metrics
    assert asked in metrics
    assert metrics[asked] is metrics.fbeta
    assert metrics.ndcg not in exactk.agreement_metrics
    assert metrics.get(exactk.agreement_metrics.rbo) is None


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ("exactk.metrics.ndcg.with_(2)", TypeError, "Metric.with_() takes 1 positional"),
        ("exactk.results.Metric('ndcg')", TypeError, "metrics are not made, but found by name: exactk.metrics.ndcg"),
        ("exactk.results.AgreementMetric()", TypeError, "metrics are not made, but found by name"),
        ("exactk.Report('x')", TypeError, "a Report is what exactk.evaluate returns"),
        ("exactk.conventions.recbole", AttributeError, "attribute 'recbole'; conventions['recbole'] is the convention"),
        ("exactk.conventions.RecBole", AttributeError, "attribute 'RecBole'; conventions['recbole'] is the convention"),
        ("exactk.conventions.none_of_them", AttributeError, "'Registry' object has no attribute 'none_of_them'"),
    ],
)
def test_what_newcomers_try_with_objects_is_answered_in_public_words(wrong: str, error: Any, text: str) -> None:
    with pytest.raises(error, match=f"^.*{re.escape(text)}") as caught:
        eval(wrong, {"exactk": exactk})  # noqa: S307 - our own
    assert "_AskedMetric" not in str(caught.value)


@pytest.mark.parametrize(
    ("metrics", "shown"),
    [("map", "map"), ("hit_rate", "hit_rate"), ("map@5", "ndcg"), (["map"], "ndcg")],
)
def test_a_cutoff_is_put_to_the_metric_that_was_given(metrics: Any, shown: str) -> None:
    systems: dict[str, Any] = {"a": LISTS}
    calls: list[Callable[..., Any]] = [
        lambda **k: exactk.evaluate(TRUTH, LISTS, metrics, **k),
        lambda **k: exactk.compare(TRUTH, systems, metrics, **k),
        lambda **k: exactk.reference.evaluate(TRUTH, LISTS, metrics, **k),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=f"; metrics='{shown}@10' has the cutoff$"):
            call(k=10)


def test_the_spelling_that_was_asked_for_stays() -> None:
    metrics = exactk.metrics
    assert (metrics.map @ 10, metrics.mrr @ 3, metrics["MAP-cut"] @ 1) == ("map@10", "mrr@3", "MAP-cut@1")
    assert metrics["nDCG"] is metrics.ndcg
    assert (metrics.map.name, metrics.map) == ("average_precision", metrics["average_precision"])
    assert metrics.map != metrics.map.with_(average="micro")
    assert len({metrics.map, metrics.average_precision, metrics.ndcg}) == 2
    assert dict(exactk.evaluate(TRUTH, LISTS, [metrics.map @ 2, metrics.map])) == dict(
        exactk.evaluate(TRUTH, LISTS, ["map@2", "map"])
    )


VALUES: dict[str, tuple[Any, ...]] = {"min_grade": (2.5, "any"), "decimals": (3,), "gain_table": ((0.0, 2.0),)}
VALUES |= {"gain_range": ((0.0, 3.0),)}
VALUES |= {
    "discount_base": (10.0,),
    "discount_power": (0.5,),
    "discount_persistence": (0.5,),
    "discount_table": ((1.0, 0.5),),
}


def fields_of(name: str) -> list[Field]:
    """Return the fields that the metric can be given."""
    names = AGREEMENT_FIELDS_OF_VALUES if core_metrics[name].compares_lists else FIELDS
    return [FIELDS[field] for field in names]


@pytest.mark.parametrize("name", exactk.agreement_metrics)
def test_settings_of_agreement_are_refused_if_it_does_not_take_them(name: str) -> None:
    metric: Any = exactk.agreement_metrics[name]
    for field in FIELDS.keys() - AGREEMENT_FIELDS_OF_VALUES:
        for value in FIELDS[field].choices or VALUES[field]:
            with pytest.raises(exactk.InputError, match=f"expected {name} with changes of .* alone, found {field}="):
                metric.with_(**{field: value})
    for field, value in (("rbo_over", "union"), ("undefined", "skip"), ("decimals", 2)):
        if not outcome(lambda: metric.with_(**{field: value})):  # noqa: B023
            exactk.agreement([[1, 2]], [[2, 1]], metric.with_(**{field: value}))


@pytest.mark.parametrize("name", ALL)
def test_settings_are_read_again_as_they_were_given(name: str) -> None:
    metric, info = given(ALL[name]), core_metrics[name]
    for field in fields_of(name):
        for value in field.choices or VALUES.get(field.name, ()):
            if field.name == "average" and (info.of_collection or value == "of_means"):
                continue  # which few have
            if field.name == "weight" and value != "one" and "weight" not in info.own_fields:
                continue
            asked = metric.with_(**{field.name: value})
            (planned,) = plan(
                asked if info.pairwise else asked @ 3, exactk.conventions["standard"], compares_lists=None
            )
            assert planned.rules[field.name] == value
            assert eval(repr(asked), {"exactk": exactk}) == asked  # noqa: S307 - our own


def outcome(call: Callable[[], object]) -> list[str]:
    """Return the warnings of fields that have no effect on a metric, or the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except exactk.InputError as error:
            return [str(error)]
    return [text for one in caught if " has no effect on " in (text := str(one.message))]


@pytest.mark.parametrize("name", ALL)
def test_settings_that_a_metric_does_not_read_are_told_at_once_as_of_strings(name: str) -> None:
    """Under a convention whose metrics of all lists read all fields that such metrics may read."""
    metric = given(ALL[name])
    convention = exactk.conventions["standard"].replace(list_users="users")
    found = 0
    for field in fields_of(name):
        choices = {*(field.choices or VALUES[field.name])} - {getattr(convention, field.name), "micro"}
        for value in choices - ({"lists"} if field.name == "list_users" else set()):
            settings = {**metric._settings, field.name: value}
            at = "@2" if counts_ranks(core_metrics[name]) else ""
            text = f"{name}{at}({','.join(f'{key}={text_of(one)}' for key, one in settings.items())})"
            values = lambda: warn_of_unused_fields(convention, plan(text, convention, compares_lists=None))  # noqa: E731, B023
            at_once = outcome(lambda: metric.with_(**{field.name: value}))  # noqa: B023
            assert at_once == [one.replace(at or "@", "") for one in outcome(values)]
            found += bool(at_once)
    assert found or core_metrics[name].compares_lists


def test_settings_are_told_of_once_and_not_before_it_is_certain() -> None:
    metrics = exactk.metrics
    with pytest.warns(exactk.EvaluationWarning, match="^gain has no effect on precision: leave it out$"):
        asked = metrics.precision.with_(gain="exp2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked.with_(users="both")
        metrics.ndcg.with_(gain_table=[0, 1]).with_(gain="table")
        metrics.coverage.with_(min_grade=2)  # list_users="users" of the convention would read it
        pickle.loads(pickle.dumps(asked))  # noqa: S301 - our own
    with pytest.warns(exactk.EvaluationWarning, match="^min_grade has no effect on coverage"):
        metrics.coverage.with_(list_users="lists", min_grade=2)


def test_text_is_the_metric_string_and_code_makes_the_metric() -> None:
    metrics = exactk.metrics
    assert (f"{metrics.ndcg}@10", str(metrics["MAP-cut"]), f"{metrics.map:>5}") == ("ndcg@10", "MAP-cut", "  map")
    asked = metrics.fbeta.with_(beta=np.inf, users="both")
    assert str(asked) == "fbeta(beta=inf,users=both)"
    assert repr(asked) == "exactk.metrics.fbeta.with_(beta=float('inf'), users='both')"
    assert (
        repr([metrics.map, metrics.fbeta.with_(beta=2)]) == "[exactk.metrics.map, exactk.metrics.fbeta.with_(beta=2)]"
    )
    for metric in (*ALL.values(), asked, metrics["MAP-cut"], metrics.ndcg.with_(gain_table=[0, 1.5], min_grade="any")):
        assert eval(repr(metric), {"exactk": exactk}) == metric  # noqa: S307 - our own


@pytest.mark.parametrize("name", ALL)
def test_a_call_is_the_value(name: str) -> None:
    """As of the example of each metric, which the reference has."""
    example = doctest.DocTestParser().get_doctest(ALL[name].__doc__, {}, name, None, 0)
    outcome = doctest.DocTestRunner(verbose=False).run(example)
    assert (outcome.failed, outcome.attempted > 3) == (0, True)


@pytest.mark.parametrize("name", ALL)
def test_help_says_what_the_metric_string_is(name: str) -> None:
    code = re.findall(r"``(.+?)`` (?:is the metric string|sets the parameter)", " ".join(ALL[name].__doc__.split()))
    parameter = ALL[name].parameter
    assert len(code) == 1 + (parameter is not None and parameter.standard is not None)
    string = eval(code[0], {"exactk": exactk})  # noqa: S307 - our own
    core_metric = core_metrics[name]
    assert (
        plan(string, exactk.conventions["standard"], compares_lists=None)[0].cutoff == (10, None)[core_metric.pairwise]
    )


@pytest.mark.parametrize("options", [{}, {"weights": [1.0, 3.0]}, {"convention": "trec_eval"}, {"exclude": [[2], []]}])
def test_calls_take_the_options(options: Any) -> None:
    for k, text in ((2, "rbp@2(p=0.3)"), (None, "rbp(p=0.3)")):
        expected = exactk.evaluate(TRUTH, LISTS, text, **options)[text]
        assert exactk.metrics.rbp.with_(p=0.3)(TRUTH, LISTS, k, **options) == expected
    with pytest.raises(TypeError, match=r"^one value has no groups; exactk.evaluate"):
        exactk.metrics.ndcg(TRUTH, LISTS, 2, groups=[0, 1])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"did you mean 'num_threads'"):
        exactk.metrics.ndcg(TRUTH, LISTS, 2, threads=1)  # type: ignore[call-arg]
    with pytest.raises(exactk.InputError, match=r"^k: "):
        exactk.metrics.ndcg(TRUTH, LISTS, 0)
    with pytest.raises(exactk.InputTypeError, match=r"exactk.compare\(truth, predictions, 'rbp@3'\) takes"):
        exactk.metrics.rbp(TRUTH, {"a": LISTS}, 3)


def test_registries_survive_pickles_and_copies() -> None:
    for registry in (exactk.metrics, exactk.agreement_metrics):
        from_pickle = pickle.loads(pickle.dumps(registry))  # noqa: S301 - our own
        assert from_pickle is copy.copy(registry) is copy.deepcopy(registry) is registry


def test_settings_have_one_name_and_cutoffs_are_cutoffs() -> None:
    metrics = exactk.metrics
    assert metrics.ndcg.with_(gain="linear").with_(Gain="exp2") == metrics.ndcg.with_(gain="exp2")  # type: ignore[call-arg]
    one, other = ({"gain": "exp2", "users": "both"}, {"users": "both", "gain": "exp2"})
    assert len({metrics.ndcg.with_(**one), metrics.ndcg.with_(**other)}) == 1  # type: ignore[arg-type]
    assert metrics.fbeta.with_(Beta=2) @ 1 == "fbeta@1(beta=2)"  # type: ignore[call-arg]
    for call in (metrics.ndcg, exactk.ndcg_at_k, exactk.agreement_metrics.overlap):
        with pytest.raises(exactk.InputTypeError, match=r"^k: expected an integer, found"):
            call(LISTS, LISTS[::-1], [1, 2])  # type: ignore[arg-type]
    with pytest.raises(exactk.InputError, match=r"^k: expected at least one cutoff"):
        metrics.ndcg @ []
    with pytest.raises(TypeError, match=r"exactk.metrics.fbeta.with_\(beta=2\) has it"):
        metrics.fbeta(TRUTH, LISTS, 2, beta=2)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        metrics.ndcg.name = "recall"  # type: ignore[misc]


def test_reports_and_gates_take_metrics_where_they_take_strings() -> None:
    metrics = exactk.metrics
    report = exactk.evaluate(TRUTH, LISTS, metrics.mrr)
    assert metrics.mrr in report
    assert report[metrics.mrr] == report.get(metrics.reciprocal_rank) == report["mrr"]  # type: ignore[index, call-overload]
    both = exactk.compare(TRUTH, {"a": LISTS, "b": LISTS}, metrics.mrr, baseline="a")
    assert both.check(no_worse={metrics.mrr: "50%"}) == both.check(no_worse={"mrr": "50%"})  # type: ignore[dict-item]


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"^no metric is named 'ndgc'; did you mean 'ndcg'"):
        exactk.metrics.ndgc  # type: ignore[attr-defined]  # noqa: B018 - the error
    with pytest.raises(AttributeError, match=r"^no metric is named '_x'$"):
        exactk.metrics._x  # type: ignore[attr-defined]  # noqa: B018 - the error
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'bta'; did you mean 'beta'"):
        exactk.metrics.fbeta.with_(bta=2)  # type: ignore[call-arg]
    with pytest.raises(exactk.InputError, match=r"^gain: expected .*'cubic'"):
        exactk.metrics.ndcg.with_(gain="cubic")  # type: ignore[arg-type]
    with pytest.raises(exactk.InputError, match=r"^p: "):
        exactk.metrics.rbp.with_(p=1.0)
    assert not hasattr(exactk.metrics, "rbo")
    assert not hasattr(exactk.agreement_metrics, "ndcg")


@pytest.mark.parametrize("name", ALL)
def test_metrics_survive_pickles_and_copies(name: str) -> None:
    metric = given(ALL[name])
    from_pickle = pickle.loads(pickle.dumps(metric))  # noqa: S301 - our own
    for other in (from_pickle, copy.copy(metric), copy.deepcopy(metric)):
        assert (other, repr(other), type(other), hash(other)) == (metric, repr(metric), type(metric), hash(metric))


@pytest.mark.parametrize("name", ALL)
def test_what_help_shows(name: str) -> None:
    metric = ALL[name]
    text = pydoc.plain(pydoc.render_doc(metric))
    lines = (inspect.getdoc(metric) or "").splitlines()
    assert lines[0].startswith(f"{name}(")
    words = " ".join(text.split())
    assert all(" ".join(part.split()) in words for part in (metric.formula, metric.source, *metric.aliases))
    assert metric.summary[1:] in words
    low, high = metric.range
    assert {f"Range: {low:g} to {upper}." for upper in (f"{high:g}", "infinity", "k")} & {*lines}
    page = re.sub(r"<[^>]*>", "\n", metric._repr_html_()).split("\n")
    assert {lines[0], metric.formula, metric.source, *lines[lines.index("--------") + 1 :]} <= {
        *map(html.unescape, page)
    }


def test_names_are_completed() -> None:
    assert {*exactk.metrics, "map", "mrr", "get", "values"} <= {*dir(exactk.metrics)}
    assert {*exactk.agreement_metrics} <= {*dir(exactk.agreement_metrics)}
    assert "ndcg" not in dir(exactk.agreement_metrics)


def test_public_documented_names_alone_are_listed() -> None:
    public = ["aliases", "direction", "formula", "name", "parameter", "range", "source", "summary", "with_"]
    for metric in (exactk.metrics.fbeta, exactk.agreement_metrics.rbo):
        assert dir(metric) == public
        assert all(getattr(type(metric), name).__doc__ for name in public)
    of_mapping = ["get", "items", "keys", "values"]
    assert dir(exactk.conventions) == of_mapping
    for registry in (exactk.metrics, exactk.agreement_metrics):
        assert all(name in of_mapping or name in registry for name in dir(registry))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_the_metrics_at_ten(name: str) -> None:
    function, metric = getattr(exactk, name), exactk.metrics[name.removesuffix("_at_k")]
    parameters = dict(inspect.signature(function).parameters)
    if not core_metrics[metric.name].pairwise:
        assert parameters.pop("k").default == 10
        assert function(TRUTH, LISTS, 2) == metric(TRUTH, LISTS, 2)
        assert function(TRUTH, LISTS, k=None) == metric(TRUTH, LISTS)
        with pytest.warns(exactk.EvaluationWarning, match="no list is longer"):
            assert function(TRUTH, LISTS) == metric(TRUTH, LISTS, 10)
    else:
        assert function(TRUTH, LISTS) == metric(TRUTH, LISTS)
    if metric.parameter is not None:
        setting: dict[str, Any] = {metric.parameter.name: 0.5}
        cutoffs = [] if core_metrics[metric.name].pairwise else [2]
        assert parameters.pop(metric.parameter.name).default == metric.parameter.standard
        assert function(TRUTH, LISTS, *cutoffs, **setting) == metric.with_(**setting)(TRUTH, LISTS, *cutoffs)
    options = dict(inspect.signature(exactk.evaluate).parameters)
    assert parameters == {key: one for key, one in options.items() if key not in OF_REPORTS}
    assert (function.__name__, function.__module__) == (name, "exactk")
