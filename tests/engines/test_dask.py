"""Dask gives the state of one evaluation, bit for bit. `make engines` runs this."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from dask.distributed import Client

import exactk
import exactk.dask
from engines.cases import ITEMS, METRICS, USERS, Case, long_rows, page_blocks


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # of other libraries
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        yield


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        yield client


def frame(table: Any, partitions: int = 3, types: Any = pd.ArrowDtype) -> Any:
    """Return the rows in random order, in partitions of odd sizes, some of them empty."""
    if not isinstance(table, pa.Table):
        return table
    random = np.random.default_rng(len(table))
    table = table.take(pa.array(random.permutation(len(table))))
    cuts = sorted(random.integers(0, len(table) + 1, partitions - 1).tolist())
    whole = table.to_pandas(types_mapper=types)
    bounds = zip([0, *cuts], [*cuts, len(table)], strict=True)
    with dask.config.set({"dataframe.convert-string": False}):  # lists are columns of objects
        return dd.from_map(lambda ends: whole.iloc[ends[0] : ends[1]], list(bounds), meta=whole.iloc[:0])


def frames(**options: Any) -> dict[str, Any]:
    return {name: frame(one, 2 + index * 3) for index, (name, one) in enumerate(options.items())}


@pytest.mark.parametrize("buckets", [None, 1, 8, 37])
@pytest.mark.parametrize(("kind", "truth_kind"), [("int64", "int64"), ("string", "string"), ("int64", "int32")])
def test_the_state_is_that_of_one_evaluation(kind: str, truth_kind: str, buckets: int | None) -> None:
    case = Case(kind, truth_kind)
    options = {"exclude": case.exclude, "weights": case.weights, "groups": case.groups}
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, **options)
    of_dask = frames(truth=case.truth, predictions=case.predictions, **options)
    report = exactk.dask.evaluate(**of_dask, metrics=METRICS, num_buckets=buckets)
    assert report.state == whole.state
    assert dict(report) == dict(whole)


@pytest.mark.parametrize("kind", ["int64", "string"])
def test_a_cluster_gives_the_same(client: Client, kind: str) -> None:
    case = Case(kind)
    options = {"exclude": case.exclude, "groups": case.groups}
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, **options, per_user=True)
    of_dask = frames(truth=case.truth, predictions=case.predictions, **options)
    with client.as_current():
        report = exactk.dask.evaluate(**of_dask, metrics=METRICS, num_buckets=8)
        values = exactk.dask.per_user(**of_dask, metrics=METRICS, num_buckets=8).compute()
        repeated = dd.concat([of_dask["predictions"]] * 2)
        with pytest.raises(exactk.InputError, match=r"again .* \(in 8 of 8 buckets\)$"):
            exactk.dask.evaluate(of_dask["truth"], repeated, METRICS, num_buckets=8)
    assert report.state == whole.state
    assert len(values) == len(whole.users)


@pytest.mark.parametrize("method", ["disk", "tasks"])
def test_any_way_to_shuffle(method: str) -> None:
    case = Case("string")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    with dask.config.set({"dataframe.shuffle.method": method}):
        report = exactk.dask.evaluate(frame(case.truth), frame(case.predictions, 5), METRICS, num_buckets=7)
    assert report.state == whole.state


@pytest.mark.parametrize("convention", ["replay", "trec_eval", {"ties": "expected"}])
def test_conventions(convention: Any) -> None:
    case = Case("int64")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, convention=convention)
    report = exactk.dask.evaluate(frame(case.truth), frame(case.predictions), METRICS, convention=convention)
    assert report.state == whole.state


def test_columns_of_the_truth_as_weights_and_groups() -> None:
    case = Case("string")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, weights=case.weights, groups=case.groups)
    truth = case.truth.join(case.weights, "user_id").join(case.groups, "user_id")
    options: dict[str, Any] = {"weights": "weight", "groups": "segment", "grade": "grade"}
    report = exactk.dask.evaluate(frame(truth), frame(case.predictions), METRICS, **options)
    assert report.state == whole.state


def as_objects(dtype: pa.DataType) -> None:
    """Leave each column to pandas: numbers, and Python objects."""


@pytest.mark.parametrize("types", [pd.ArrowDtype, as_objects])
def test_lists_of_items_and_of_structs(types: Any) -> None:
    case = Case("int64")
    truth = frame(case.truth)
    whole = exactk.evaluate(case.truth, case.lists(), METRICS)
    assert exactk.dask.evaluate(truth, frame(case.lists(), 5, types), METRICS).state == whole.state
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    assert exactk.dask.evaluate(truth, frame(case.structs(), 5, types), METRICS).state == whole.state


def pandas_columns(table: pa.Table, kind: str) -> Any:
    """Return a frame of Dask whose keys have another type of pandas."""
    rows = table.to_pandas()
    keys = ["user_id", "item_id"]
    if kind == "object":
        with dask.config.set({"dataframe.convert-string": False}):
            return dd.from_pandas(rows.astype(dict.fromkeys(keys, object)), npartitions=4)
    if kind == "known category":
        return dd.from_pandas(rows.astype(dict.fromkeys(keys, "category")), npartitions=4)
    return dd.from_pandas(rows, npartitions=4).astype(dict.fromkeys(keys, kind))


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("int64", "int64"),
        ("int64", "Int64"),
        ("int64", "uint32"),
        ("int64", "object"),
        ("int64", "category"),
        ("int64", "known category"),
        ("string", "string"),
        ("string", "object"),
        ("string", "string[pyarrow]"),
        ("string", "category"),
        ("string", "known category"),
    ],
)
def test_types_of_pandas(key: str, kind: str) -> None:
    case = Case(key)
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    report = exactk.dask.evaluate(frame(case.truth), pandas_columns(case.predictions, kind), METRICS)
    assert report.state == whole.state


def test_users_of_several_columns() -> None:
    truth = pa.table({"shop": [1, 1, 2], "who": ["ann", "bob", "ann"], "item": [7, 8, 9]})
    lists = pa.table({"shop": [2, 1, 1], "who": ["ann", "ann", "dan"], "item": [9, 8, 7], "score": [1.0, 2.0, 3.0]})
    whole = exactk.evaluate(truth, lists, "ndcg@2", user=["shop", "who"], per_user=True)
    report = exactk.dask.evaluate(frame(truth), frame(lists), "ndcg@2", user=["shop", "who"], num_buckets=5)
    assert report.state == whole.state
    values = exactk.dask.per_user(frame(truth), frame(lists), "ndcg@2", user=["shop", "who"]).compute()
    assert sorted(zip(values["shop"], values["who"], strict=True)) == sorted(whole.users.tolist())


def test_a_comparison_has_the_differences_of_one_call() -> None:
    case = Case("string")
    other = long_rows(np.random.default_rng(5), range(USERS), 20, "string")
    other = other.append_column("score", pa.array(np.random.default_rng(6).random(len(other))))
    systems = {"als": case.predictions, "ease": other}
    options: dict[str, Any] = {"baseline": "als", "margin": "1%", "alternative": "greater"}
    whole = exactk.compare(case.truth, systems, METRICS, groups=case.groups, **options)
    of_dask = frames(truth=case.truth, groups=case.groups)
    comparison = exactk.dask.compare(systems=frames(**systems), metrics=METRICS, **of_dask, **options)
    assert comparison.state == whole.state
    assert comparison.differences == whole.differences
    with pytest.raises(exactk.InputError, match="test: expected a test and an interval of the sums over users"):
        exactk.dask.compare(of_dask["truth"], frames(**systems), METRICS, test="permutation")  # type: ignore[arg-type]
    with pytest.raises(exactk.InputTypeError, match="systems: expected a mapping"):
        exactk.dask.compare(of_dask["truth"], of_dask["truth"], METRICS)


def test_items_reach_the_workers() -> None:
    case = Case("int64")
    metrics = ["novelty@10", "arp@5", "serendipity@5(serendipity_of=popularity)"]
    options: dict[str, Any] = {
        "items": exactk.Items(train=case.exclude),
        "convention": {"foreign_items": "ignore", "unseen_items": "skip"},
    }
    whole = exactk.evaluate(case.truth, case.predictions, metrics, **options)
    assert exactk.dask.evaluate(frame(case.truth), frame(case.predictions), metrics, **options).state == whole.state


@pytest.mark.parametrize("buckets", [1, 8, 37])
def test_tasks_add_the_counts_of_items(buckets: int) -> None:
    case = Case("string")
    catalogue = [f"i{one}" for one in range(10, ITEMS + 5)]
    items = exactk.Items(catalogue, item_groups={key: index % 3 for index, key in enumerate(catalogue)})
    metrics = ["coverage@10", "gini@10", "entropy@5", "personalization@10", "exposure@10", "ndcg@10"]
    options: dict[str, Any] = {"items": items, "convention": {"foreign_items": "ignore"}}
    whole = exactk.evaluate(case.truth, case.predictions, metrics, **options)
    of_dask = frames(truth=case.truth, predictions=case.predictions)
    report = exactk.dask.evaluate(**of_dask, metrics=metrics, num_buckets=buckets, **options)
    assert report.state == whole.state
    assert dict(report) == dict(whole)


def test_states_are_kept_and_merged(tmp_path: Path) -> None:
    case = Case("int64")
    for name, remainder in (("even", 0), ("odd", 1)):
        truth, predictions = (
            frame(one.filter(pc.equal(pc.bit_wise_and(one["user_id"], 1), remainder)))
            for one in (case.truth, case.predictions)
        )
        states = exactk.dask.states(truth, predictions, METRICS, num_buckets=3)
        assert list(states.columns) == ["bucket", "state", "facts", "error"]
        states.to_parquet(tmp_path / name)
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    both = dd.concat([dd.read_parquet(tmp_path / "even"), dd.read_parquet(tmp_path / "odd")])
    assert exactk.dask.merge(both).state == whole.state
    with pytest.raises(exactk.InputError, match=r"columns of exactk.dask.states, found no error"):
        exactk.dask.merge(both.drop(columns="error"))
    with pytest.raises(exactk.InputError, match="frame: expected at least one state, found none"):
        exactk.dask.merge(both[both["bucket"] < 0])


@pytest.mark.parametrize("kind", ["int64", "string"])
def test_values_of_users_with_nan_for_those_who_are_skipped(kind: str) -> None:
    case = Case(kind)
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, per_user=True)
    lazy = exactk.dask.per_user(frame(case.truth), frame(case.predictions), METRICS, num_buckets=5)
    assert isinstance(lazy, dd.DataFrame)
    values = lazy.compute()
    assert list(values.columns) == ["user_id", *whole]
    assert (values.dtypes == lazy.dtypes).all()
    expected = pd.DataFrame({name: whole.per_user[name] for name in whole}, index=whole.users.tolist())
    found = values.set_index("user_id").loc[expected.index]
    assert len(values) == len(expected)
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())
    assert expected.isna().any().any()
    assert lazy["ndcg@10"].mean().compute() == pytest.approx(whole["ndcg@10"], rel=1e-12)


def test_no_rows() -> None:
    case = Case("int64")
    truth, predictions = case.truth.slice(0, 0), case.predictions.slice(0, 0)
    for left, right in ((truth, predictions), (truth, case.predictions), (case.truth, predictions)):
        whole = exactk.evaluate(left, right, "ndcg@5")
        assert exactk.dask.evaluate(frame(left), frame(right), "ndcg@5").state == whole.state


def test_warnings_come_once_on_the_driver() -> None:
    case = Case("int64")
    inputs = {"truth": case.truth, "predictions": case.lists()}
    found = []
    for module, options in ((exactk, inputs), (exactk.dask, frames(**inputs))):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.evaluate(**options, metrics="ndcg@[5,500]")
        found.append([str(one.message) for one in caught if issubclass(one.category, exactk.EvaluationWarning)])
    assert found[0] == found[1]
    assert found[0]


def test_faults_name_the_user_and_what_the_types_show_needs_no_task() -> None:
    case = Case("string")
    truth, predictions = frame(case.truth), frame(case.predictions)
    of_u30 = predictions[predictions["user_id"] == "u30"]
    repeated = dd.concat([predictions, of_u30])
    with pytest.raises(exactk.InputError, match=r"again.* \(user 'u30'\) \(in 1 of 8 buckets\)$"):
        exactk.dask.evaluate(truth, repeated, METRICS, num_buckets=8)
    with pytest.raises(exactk.InputError, match=r"again.* \(user 'u30'\)"):
        exactk.dask.per_user(truth, repeated, METRICS).compute()
    with dask.config.set(scheduler=lambda *_, **__: pytest.fail("a task was run")):
        for changed, message in (
            (predictions.assign(user_id=1), "user: expected ids of one kind"),
            (
                predictions.assign(user_id=1.5),
                "predictions.user_id: expected keys of integers or strings, found double",
            ),
            (predictions.assign(item_id=True), "predictions.item_id: expected .* found bool"),
            (predictions.drop(columns="score"), "predictions: expected a score or rank column"),
            (case.predictions.to_pandas(), r"predictions: expected a data frame of Dask, found pandas\..*DataFrame"),
        ):
            with pytest.raises(exactk.ExactkError, match=message):
                exactk.dask.evaluate(truth, changed, METRICS)
        with pytest.raises(exactk.InputError, match="num_buckets: expected an integer from 1 on, found 0"):
            exactk.dask.evaluate(truth, predictions, METRICS, num_buckets=0)
    nulls = predictions.assign(user_id=predictions["user_id"].where(predictions["user_id"] != "u31"))
    with pytest.raises(exactk.InputTypeError, match=r"predictions.user_id: expected a value in every row.*\(in 1 of 8"):
        exactk.dask.evaluate(truth, nulls, METRICS, num_buckets=8)


def objects(*partitions: list[Any]) -> Any:
    """Return predictions whose users are Python objects, in these partitions."""
    parts = [
        pd.DataFrame({"user": pd.Series(users, dtype=object), "item": np.ones(len(users), int), "score": 0.5})
        for users in partitions
    ]
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([[], ["a"]], "user: expected ids of one kind, found int in truth.user and str in predictions.user"),
        ([[1, "a"], [2]], "predictions.user: expected values of one type, found "),
        ([[], [1, 2], ["a"]], "predictions.user: expected int64 in every partition, found "),
        ([[1], [2.5]], "predictions.user: expected int64 in every partition, found double"),
        ([[1], [2.0]], "predictions.user: expected int64 in every partition, found double"),
        ([[1.5, 2]], "predictions.user: expected keys of integers or strings, found double"),
        ([[2**64]], "predictions.user: expected keys of integers or strings, found values that"),
        ([[1], [2**64]], "predictions.user: expected values of one type, found "),
        ([[None], []], "predictions.user: expected keys of integers or strings, found values that are all missing"),
    ],
)
def test_python_objects_of_several_kinds_are_refused(partitions: list[Any], message: str) -> None:
    truth = dd.from_pandas(pd.DataFrame({"user": [1, 2], "item": [1, 1]}), npartitions=1)
    with pytest.raises(exactk.InputTypeError, match=message):
        exactk.dask.evaluate(truth, objects(*partitions), "ndcg@2")


def test_the_first_partition_may_have_empty_lists_alone() -> None:
    truth = pd.DataFrame({"user": [1, 2], "item": [1, 2]})
    lists = pd.DataFrame({"user": [1, 2], "items": [[], [1, 2]]})
    parts = [lists.iloc[:1], lists.iloc[1:]]
    with dask.config.set({"dataframe.convert-string": False}):
        of_dask = dd.from_map(lambda part: part, parts, meta=lists.iloc[:0])
        report = exactk.dask.evaluate(dd.from_pandas(truth, npartitions=1), of_dask, "mrr")
    assert report.state == exactk.evaluate(truth, lists, "mrr").state


def test_scores_of_several_widths_are_not_made_equal() -> None:
    truth = dd.from_pandas(pd.DataFrame({"user": [1, 2], "item": [1, 2]}), npartitions=1)
    narrow = pd.DataFrame({"user": [1], "item": [1], "score": np.array([0.5], np.float32)})
    wide = pd.DataFrame({"user": [2, 2], "item": [1, 2], "score": [1.0, 1.0 + 1e-12]})
    predictions = dd.from_map(lambda part: part, [narrow, wide], meta=narrow.iloc[:0])
    with pytest.raises(exactk.InputTypeError, match=r"predictions.score: expected float in every .* found double"):
        exactk.dask.evaluate(truth, predictions, "mrr")


def test_columns_of_the_same_name_are_refused() -> None:
    rows = pd.DataFrame({"user": [1], "item": [1], "score": [0.5]})
    twice = dd.from_pandas(pd.concat([rows, rows[["score"]]], axis=1), npartitions=1)
    with pytest.raises(exactk.InputError, match=r"predictions: expected columns of different names, found .* score"):
        exactk.dask.evaluate(dd.from_pandas(rows[["user", "item"]], npartitions=1), twice, "mrr")


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code for Dask, on the files that it speaks of."""
    case = Case("int64")
    monkeypatch.chdir(tmp_path)
    for name in ("truth", "predictions", "train"):
        Path(name).mkdir()
        table = case.exclude if name == "train" else getattr(case, name)
        pq.write_table(table, f"{name}/part.parquet")
    variables: dict[str, Any] = {}
    blocks = page_blocks("Dask")
    for block in blocks:
        exec(block, variables)  # noqa: S102 - the page is our own
    whole = exactk.evaluate(case.truth, case.predictions, "ndcg@10", exclude=case.exclude)
    assert variables["report"].state == whole.state
    assert blocks
