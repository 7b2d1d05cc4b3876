"""`compare` evaluates several systems as `evaluate` does each; a mapping given to `evaluate` is always from user."""

from __future__ import annotations

import math
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import exactk
from exactk.reference.hit_metrics import DIRECTIONS
from rankings import rankings_of
from strategies import OF_COLLECTION

TRUTH: dict[str, list[str]] = {"ann": ["film", "song"], "bob": ["film"], "eve": ["book"]}
POPULAR = {user: ["film", "book"] for user in TRUTH}
ALS = {"ann": ["song", "film"], "bob": ["film"], "eve": ["song", "book"]}
SYSTEMS: dict[str, Any] = {"popular": POPULAR, "als": ALS}
METRICS = ["recall@2", "ndcg@2"]
ENGINES = pytest.mark.parametrize("engine", [exactk, exactk.reference], ids=["core", "reference"])


def frame_of(lists: dict[str, list[str]]) -> pd.DataFrame:
    rows = [(user, item, -rank) for user, items in lists.items() for rank, item in enumerate(items)]
    return pd.DataFrame(rows, columns=["user", "item", "score"])


def warnings_of(call: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught]


@ENGINES
def test_a_comparison_is_a_mapping_from_metric_to_values_by_system(engine: Any) -> None:
    comparison = engine.compare(TRUTH, SYSTEMS, METRICS)
    assert list(comparison) == list(comparison.metrics) == METRICS
    assert len(comparison) == 2
    assert comparison["recall@2"] == comparison["R@2"] == {"popular": 2.5 / 3, "als": 1.0}
    assert dict(comparison.items()) == {metric: comparison[metric] for metric in METRICS}
    for name, predictions in SYSTEMS.items():
        report = engine.evaluate(TRUTH, predictions, METRICS)
        assert comparison.reports[name] == report
        assert comparison.state[name] == report.state
    assert "nDCG@2" in comparison
    assert "ndcg@3" not in comparison
    assert "als" not in comparison


def test_a_system_is_not_a_metric() -> None:
    comparison = exactk.compare(TRUTH, SYSTEMS, METRICS)
    with pytest.raises(KeyError, match=r"found the system 'als'; comparison\.reports\['als'\] is its report"):
        comparison["als"]
    with pytest.raises(KeyError, match="'recall@3' is not among 'recall@2', 'ndcg@2'"):
        comparison["recall@3"]
    with pytest.raises(TypeError):
        comparison.reports["als"] = comparison.reports["popular"]  # type: ignore[index]


def test_comparisons_are_equal_if_their_reports_are() -> None:
    comparison = exactk.compare(TRUTH, SYSTEMS, METRICS, per_user=True)
    assert comparison == exactk.compare_reports(comparison.reports)
    assert comparison == pickle.loads(pickle.dumps(comparison))  # noqa: S301 - just written
    assert comparison == exactk.Comparison.from_json(comparison.to_json())
    assert comparison != exactk.compare(TRUTH, {"popular": ALS, "als": POPULAR}, METRICS, per_user=True)
    assert comparison != dict(comparison)


@ENGINES
def test_systems_may_be_of_different_containers(engine: Any) -> None:
    frame = frame_of(ALS)
    systems = {
        "mapping": ALS,
        "pandas": frame,
        "Polars": pl.from_pandas(frame),
        "batches": exactk.Batches(lambda: [frame[:2], frame[2:]]),
        "predictions": exactk.as_predictions(frame),
    }
    assert set(engine.compare(TRUTH, systems, "recall@2")["recall@2"].values()) == {1.0}
    dense = np.array([[0.1, 0.9], [0.8, 0.2]])
    rows = {"scores": dense, "embeddings": exactk.Embeddings(dense, np.eye(2)), "sparse": scipy.sparse.csr_array(dense)}
    comparison = engine.compare([[1], [0]], rows | {"lists": [[1], [0]]}, "P@1")
    assert set(comparison["P@1"].values()) == {1.0}


# --- what a mapping means


USERS_WITH_PAIRS: dict[str, list[tuple[int, int]]] = {"ann": [(1, 2), (4, 5)], "bob": [(3, 1)]}


@ENGINES
def test_a_mapping_given_to_evaluate_is_from_user(engine: Any) -> None:
    """Whatever it holds: pairs of integers, nothing, or one item each."""
    truth = {"ann": [4], "bob": [7]}
    report = engine.evaluate(truth, USERS_WITH_PAIRS, "P@1")
    assert report["P@1"] == engine.evaluate(truth, {"ann": {1: 2.0, 4: 5.0}, "bob": {3: 1.0}}, "P@1")["P@1"] == 0.5
    empties: list[Any] = [{"m": {}}, {"m": []}]
    for empty in empties:
        with pytest.warns(exactk.EvaluationWarning, match="no user of the truth.* is in the predictions"):
            report = engine.evaluate(truth, empty, "P@1")
        assert report.counts["missing_lists"] == 2
        assert report.users.tolist() == ["ann", "bob", "m"]
    with pytest.warns(exactk.EvaluationWarning, match="the predictions have no users"):
        assert isinstance(engine.evaluate(truth, {}, "P@1"), exactk.Report)


WHOLE_SYSTEMS: dict[str, Callable[[], Any]] = {
    "lists": lambda: [["film", "song"], ["film"], ["book"]],
    "mapping": lambda: ALS,
    "scores by user": lambda: {"ann": {"film": 0.5}},
    "pairs by user": lambda: {"ann": [("film", 0.5)]},
    "pandas": lambda: frame_of(ALS),
    "Polars": lambda: pl.from_pandas(frame_of(ALS)),
    "Arrow": lambda: pl.from_pandas(frame_of(ALS)).to_arrow(),
    "floats": lambda: np.eye(3),
    "ids": lambda: np.array([[1], [2], [3]]),
    "SciPy": lambda: scipy.sparse.csr_array(np.eye(3)),
    "Scores": lambda: exactk.Scores(np.eye(3)),
    "SparseScores": lambda: exactk.as_predictions(scipy.sparse.csr_array(np.eye(3))),
    "Rankings": lambda: rankings_of([[1], [2], [3]]),
    "Embeddings": lambda: exactk.Embeddings(np.eye(3), np.eye(3)),
    "Batches": lambda: exactk.Batches(lambda: [frame_of(ALS)]),
}


@ENGINES
@pytest.mark.parametrize("container", WHOLE_SYSTEMS)
def test_whole_systems_given_to_evaluate_are_for_compare(container: str, engine: Any) -> None:
    system = WHOLE_SYSTEMS[container]()
    for predictions in ({"als": system}, {"als": system, "other": system}, {"als": system, "empty": []}):
        for truth in (TRUTH, [["film"], ["film"], ["book"]]):
            with pytest.raises(exactk.ExactkError, match=r"; exactk\.compare\(.*\) takes a mapping from system$"):
                engine.evaluate(truth, predictions, METRICS)


def test_the_hint_can_be_pasted() -> None:
    def pasted(call: Any, predictions: Callable[[], Any], truth: Any = TRUTH, metrics: Any = METRICS) -> Any:
        with pytest.raises(exactk.InputTypeError) as caught:
            call(truth, predictions(), metrics)
        hint = re.sub(r" takes a mapping from (system|user)$", "", str(caught.value).rpartition("; ")[2])
        given = dict.fromkeys(("predictions", "systems"), predictions())
        return eval(hint, {"exactk": exactk, "truth": truth, "metrics": metrics, **given})  # noqa: S307

    expected = exactk.compare(TRUTH, SYSTEMS, METRICS)
    assert pasted(exactk.evaluate, lambda: SYSTEMS) == expected
    assert pasted(exactk.evaluate, lambda: iter([(TRUTH, SYSTEMS)]), truth=None) == expected
    assert pasted(exactk.evaluate, lambda: SYSTEMS, metrics="P@1") == exactk.compare(TRUTH, SYSTEMS, "P@1")
    assert pasted(exactk.compare, lambda: ALS) == exactk.evaluate(TRUTH, ALS, METRICS)


def test_an_error_in_one_users_items_has_no_such_hint() -> None:
    pairs = [("film", 0.5), ("film", 0.25)]
    lists: list[Any] = [["film", "film"], [None, "film"], pairs]
    for predictions in [*({"ann": items} for items in lists), {"ann": ["film"], "bob": [["film"]]}]:
        with pytest.raises(exactk.ExactkError) as caught:
            exactk.evaluate(TRUTH, predictions, METRICS)
        assert "exactk.compare" not in str(caught.value)


def test_an_error_in_another_argument_keeps_its_hint() -> None:
    with pytest.raises(exactk.InputTypeError, match=r"^weights: .*; weights=dict") as caught:
        exactk.evaluate(TRUTH, SYSTEMS, METRICS, weights=[1.0, 2.0, 3.0])
    assert "exactk.compare" not in str(caught.value)


@ENGINES
@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ([["film"]], "systems: expected a mapping from each system's name to its predictions, found list"),
        (np.eye(3), "systems: expected a mapping from each system's name to its predictions, found ndarray"),
        (None, "systems: expected a mapping from each system's name to its predictions, found NoneType"),
        ({}, "systems: expected at least one system, found an empty mapping"),
        ({3: ALS}, "systems: expected system names as keys, found 3"),
        ({"": ALS}, "systems: expected a name for each system, found ''"),
        ({"als": iter([ALS])}, "found an iterator, which can be read only once, for 'als'; exactk.compare(None, "),
        ({"als": ([user] for user in "ab")}, "found an iterator, which can be read only once, for 'als'"),
        ({"als": 3}, "exactk.evaluate(truth, systems, metrics) takes a mapping from user"),
        ({"ann": {"film": 0.5}, "bob": {}}, "exactk.evaluate(truth, systems, metrics) takes a mapping from user"),
        ({"ann": np.array([1, 2])}, "exactk.evaluate(truth, systems, metrics) takes a mapping from user"),
        (
            {"als": exactk.evaluate(TRUTH, ALS, "mrr")},
            "systems: expected the predictions of each system, found a Report for 'als'; exactk.compare_reports(systems)",
        ),
    ],
)
def test_what_is_no_mapping_from_system(systems: Any, message: str, engine: Any) -> None:
    with pytest.raises(exactk.ExactkError, match=re.escape(message)):
        engine.compare(TRUTH, systems, METRICS)


def test_errors_of_a_system_name_it() -> None:
    bad: Any = [["film"], 3, ["book"]]
    with pytest.raises(exactk.InputTypeError) as caught:
        exactk.compare(TRUTH, {"als": ALS, "bad": bad}, METRICS)
    assert " in system 'bad'" in str(caught.value)


# --- blocks


def blocks_of(systems: dict[str, Any], *, exclude: bool = False) -> Iterator[Any]:
    for user, items in TRUTH.items():
        block = ({user: items}, {name: {user: lists[user]} for name, lists in systems.items()})
        yield (*block, {user: ["film"]}) if exclude else block


@ENGINES
@pytest.mark.filterwarnings("ignore:.*relevant items are in exclude")
@pytest.mark.parametrize("exclude", [False, True])
def test_blocks_equal_the_whole(engine: Any, exclude: bool) -> None:
    options: dict[str, Any] = {
        "per_user": True,
        "weights": {"ann": 1.0, "bob": 2.0, "eve": 0.5},
        "groups": {"ann": "x", "bob": "y", "eve": "x"},
    }
    excluded = {user: ["film"] for user in TRUTH} if exclude else None
    whole = engine.compare(TRUTH, SYSTEMS, METRICS, exclude=excluded, **options)
    assert engine.compare(None, blocks_of(SYSTEMS, exclude=exclude), METRICS, **options) == whole


def test_options_by_row_are_those_of_all_blocks() -> None:
    truth, one, other = [[1], [2], [3]], [[1], [2], [4]], [[1], [3], [3]]
    options: dict[str, Any] = {"weights": [1.0, 2.0, 0.5], "exclude": [[9], [], [4]]}
    whole = exactk.compare(truth, {"one": one, "other": other}, "P@1", **options)
    parts = (slice(0, 2), slice(2, 3))
    blocks = ((truth[part], {"one": one[part], "other": other[part]}) for part in parts)
    assert exactk.compare(None, blocks, "P@1", **options) == whole


@ENGINES
@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "systems: expected at least one block (truth, {system: predictions}), found an empty iterator"),
        (
            [3],
            "systems: expected an iterator of (truth, {system: predictions}) or (truth, {system: predictions}, exclude)",
        ),
        ([(TRUTH, ALS)], "exactk.evaluate(None, systems, metrics) takes a mapping from user"),
        ([(TRUTH, [["film"]])], "systems: expected a mapping from each system's name to its predictions, found list"),
        (
            [(TRUTH, SYSTEMS), ({"joe": ["film"]}, {"als": {"joe": ["film"]}})],
            "systems: expected the systems of the first block, 'popular', 'als', found 'als'",
        ),
        ([([[1]], {"a": [[1]], "b": [[1], [2]]})], "predictions: expected one entry per user (1), found 2"),
    ],
)
def test_blocks_of_other_forms(blocks: list[Any], message: str, engine: Any) -> None:
    with pytest.raises(exactk.ExactkError, match=re.escape(message)):
        engine.compare(None, iter(blocks), METRICS)


def test_a_truth_beside_blocks_is_refused() -> None:
    message = r"truth: expected None with an iterator of \(truth, {system: predictions}\) blocks, found dict$"
    with pytest.raises(exactk.InputError, match=message):
        exactk.compare(TRUTH, blocks_of(SYSTEMS), METRICS)


@pytest.mark.parametrize("options", [{}, {"convention": {"users": "both"}}, {"convention": {"missing_list": "skip"}}])
def test_blocks_are_warned_of_as_the_whole(options: dict[str, Any]) -> None:
    systems: dict[str, Any] = {"all": ALS, "half": {**ALS, "bob": None}}
    expected = warnings_of(lambda: exactk.compare(TRUTH, systems, ["P@1", "mrr"], **options))
    assert any("different users" in message for message in expected)
    assert warnings_of(lambda: exactk.compare(None, blocks_of(systems), ["P@1", "mrr"], **options)) == expected


# --- reports that exist


def reports_of(**systems: Any) -> dict[str, exactk.Report]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        return {
            name: exactk.evaluate(TRUTH, predictions, METRICS, per_user=True) for name, predictions in systems.items()
        }


def test_comparisons_of_shards_merge() -> None:
    whole = exactk.compare(TRUTH, SYSTEMS, METRICS)
    parts = [exactk.compare(truth, systems, METRICS) for truth, systems in blocks_of(SYSTEMS)]
    for pieces in (parts, [part.state for part in parts]):
        merged = exactk.merge(pieces)
        assert merged.state == whole.state
        assert merged.differences == whole.differences
    with pytest.raises(
        exactk.StateMismatchError,
        match=r"parts: expected comparisons of the same baseline in all, found None and 'als'$",
    ):
        exactk.merge([parts[0], exactk.compare(TRUTH, SYSTEMS, METRICS, baseline="als")])
    with pytest.raises(
        exactk.InputTypeError,
        match="parts: expected comparisons alone, or reports and states, found Comparison beside Report",
    ):
        exactk.merge([parts[0], parts[0].reports["als"]])  # type: ignore[list-item]
    with pytest.raises(exactk.InputTypeError, match="expected a sequence of reports or states, found Comparison"):
        exactk.merge(whole)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("reports", "error", "message"),
    [
        ({}, exactk.InputError, "reports: expected at least one system, found none"),
        ([1], exactk.InputTypeError, "reports: expected a mapping from each system's name to its report, found list"),
        ({3: "a"}, exactk.InputTypeError, "reports: expected system names as keys, found 3"),
        ({"a": 3}, exactk.InputTypeError, "reports: expected a Report of each system, found int for 'a'"),
    ],
)
def test_what_are_no_reports(reports: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        exactk.compare_reports(reports)


def test_reports_of_other_metrics_or_conventions_are_refused() -> None:
    report = exactk.evaluate(TRUTH, ALS, METRICS)
    others = {
        "metrics": exactk.evaluate(TRUTH, ALS, "P@1"),
        "recall_over": exactk.evaluate(TRUTH, ALS, METRICS, convention="capped"),
        "weighted": exactk.evaluate(TRUTH, ALS, METRICS, weights=dict.fromkeys(TRUTH, 1.0)),
    }
    for difference, other in others.items():
        with pytest.raises(
            exactk.StateMismatchError, match=f"reports: expected the same metrics and convention .*{difference}"
        ) as caught:
            exactk.compare_reports({"als": report, "other": other})
        assert str(caught.value).endswith(" in system 'other'")


def test_reports_of_groups_of_other_types_are_refused() -> None:
    """Printed, 1 and "1" are one group."""
    reports = {
        str(kind): exactk.evaluate(TRUTH, ALS, METRICS, groups=dict.fromkeys(TRUTH, kind(1))) for kind in (int, str)
    }
    with pytest.raises(
        exactk.StateMismatchError, match="reports: expected group labels of one type, found int and str"
    ):
        exactk.compare_reports(reports)


def test_a_comparison_is_no_mapping_of_reports() -> None:
    comparison: Any = exactk.compare(TRUTH, SYSTEMS, METRICS)
    with pytest.raises(exactk.InputTypeError, match=r"found a Comparison; its \.reports have them"):
        exactk.compare_reports(comparison)


def without_digest(report: exactk.Report) -> exactk.Report:
    """Return the report as if no digest of its truth were known."""
    data = report.to_dict()
    data["state"]["truth_digest"] = None
    return exactk.Report.from_dict(data)


def test_reports_of_different_users_are_warned_of() -> None:
    some = {"ann": ALS["ann"]}
    assert not warnings_of(lambda: exactk.compare_reports(reports_of(**SYSTEMS)))
    more = ALS | {"joe": ["film"]}
    assert not warnings_of(lambda: exactk.compare_reports(reports_of(als=ALS, more=more)))
    (message,) = warnings_of(lambda: exactk.compare_reports(reports_of(als=ALS, some=some)))
    assert message == "systems cover different users: predictions are for 3 users in 'als', 1 user in 'some'"
    others = {
        "als": exactk.evaluate(TRUTH, ALS, "P@1"),
        "other": without_digest(exactk.evaluate({"joe": ["film"]}, {"joe": ["film"]}, "P@1")),
    }
    (message,) = warnings_of(lambda: exactk.compare_reports(others))
    assert message == "systems are evaluated on different truths, with 3 users in 'als', 1 user in 'other'"
    truth = {user + "!": items for user, items in TRUTH.items()}
    others["other"] = without_digest(exactk.evaluate(truth, {user + "!": items for user, items in ALS.items()}, "P@1"))
    (message,) = warnings_of(lambda: exactk.compare_reports(others))
    assert message == "systems are evaluated on different truths, with 6 users in total"
    shuffled = dict(reversed(TRUTH.items()))
    others["other"] = exactk.evaluate(shuffled, ALS, "P@1")
    assert not warnings_of(lambda: exactk.compare_reports(others))


# --- the table, and the best


def test_the_table_says_what_the_reports_say() -> None:
    scores = {"ann": {"book": 0.5, "song": 0.5}, "bob": {"song": 0.5}, "joe": {"film": 1.0}}
    systems: dict[str, Any] = {"lists": {"ann": ["song"], "bob": []}, "scores": scores, "als": ALS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        comparison = exactk.compare(TRUTH, systems, ["P@1", "mrr(empty_list=skip)"])
    assert repr(comparison).splitlines() == [
        "metric                 lists  scores     als",
        "P@1                   0.3333  0.0000  0.6667*",
        "mrr(empty_list=skip)  0.5000  0.1667  0.8333*",
        "skipped users in P@1: 1",
        "skipped users in mrr(empty_list=skip): 2 in lists, 1 in scores, 1 in als",
        "users with empty lists: 1 in lists",
        "users without predictions: 1 in lists, 1 in scores",
        "users not in the truth: 1 in scores",
        "relevant items not rankable: 2 in scores",
        "tie dependent P@1: 1 in scores",
        "candidates per user: 1 to 2 in scores",
        "convention standard; 4 users; * best",
    ]


def test_the_number_of_users_is_told_where_it_differs() -> None:
    reports = reports_of(als=ALS, more=ALS | {"joe": ["film"]})
    lines = repr(exactk.compare_reports(reports)).splitlines()
    assert lines[4] == "users: 3 in als, 4 in more"
    assert lines[-1] == "convention standard; * best"


def test_the_best_and_its_equals_are_marked_by_direction() -> None:
    systems = {"a": [[1], [3]], "b": [[3], [3]], "c": [[1], []]}
    comparison = exactk.compare([[1], [2]], systems, ["P@1", "num_recommended@1", "judged@1"])
    assert comparison.best("p@1") == ("a", "c")
    assert comparison.best("num_recommended@1") == comparison.best("judged@1") == ()
    assert [line.count("*") for line in repr(comparison).splitlines()] == [0, 2, 0, 0, 0, 1]
    with pytest.raises(KeyError, match="'recall@1' is not among"):
        comparison.best("recall@1")


def test_nobody_is_marked_alone_and_nan_is_not_the_best() -> None:
    assert "*" not in repr(exactk.compare([[1]], {"a": [[1]]}, "P@1"))
    options: dict[str, Any] = {"convention": {"users": "both"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        comparison = exactk.compare({"ann": [1]}, {"a": {}, "b": {"ann": [2]}}, "P@1", **options)
        nobody = exactk.compare({"ann": []}, {"a": {}, "b": {"ann": [2]}}, "P@1")
    assert math.isnan(comparison["P@1"]["a"])
    assert comparison.best("P@1") == ("b",)
    assert nobody.best("P@1") == ()
    assert "*" not in repr(nobody)


def test_directions_are_those_of_the_definitions() -> None:
    infos = {**exactk.metrics, **exactk.agreement_metrics}
    directions = (
        DIRECTIONS
        | dict.fromkeys(OF_COLLECTION, "higher")
        | {"gini": "lower", "exposure_gini": "lower", "exposure": "lower", "rsp": "lower", "reo": "lower"}
    )
    assert {name: info.direction for name, info in infos.items()} == directions
    assert set(DIRECTIONS.values()) <= {"higher", "lower", "none"}
    assert {name for name, direction in DIRECTIONS.items() if direction == "none"} == {
        *("judged", "unjudged", "rbp_residual", "num_relevant", "num_recommended"),
        *exactk.agreement_metrics,
    }
