"""Dask, Ray and Spark give the state of one evaluation, bit for bit. `make engines` runs this; Spark needs Java."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import exactk
from engines.cases import ITEMS, METRICS, USERS, Case, frames, long_rows

pytestmark = [pytest.mark.filterwarnings("ignore")]  # of the libraries


@pytest.fixture(scope="module", params=["dask", "ray", "spark"])
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return the module that makes and reads an engine's frames."""
    module: Any = import_module(f"engines.on_{request.param}")
    with module.running():
        yield module


@pytest.mark.parametrize(
    ("kind", "truth_kind", "buckets"),
    [("int64", "int64", None), ("string", "string", 1), ("int64", "int32", 8), ("string", "string", 37)],
)
def test_the_state_is_that_of_one_evaluation(engine: Any, kind: str, truth_kind: str, buckets: int | None) -> None:
    case = Case(kind, truth_kind)
    options = {"exclude": case.exclude, "weights": case.weights, "groups": case.groups}
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, **options)
    inputs = frames(engine, truth=case.truth, predictions=case.predictions, **options)
    report = engine.MODULE.evaluate(**inputs, metrics=METRICS, num_buckets=buckets)
    assert report.state == whole.state
    assert dict(report) == dict(whole)


def test_columns_of_the_truth_as_weights_and_groups(engine: Any) -> None:
    case = Case("string")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, weights=case.weights, groups=case.groups)
    truth = case.truth.join(case.weights, "user_id").join(case.groups, "user_id")
    inputs = frames(engine, truth=truth, predictions=case.predictions)
    options: dict[str, Any] = {"weights": "weight", "groups": "segment", "grade": "grade", "num_buckets": 4}
    assert engine.MODULE.evaluate(**inputs, metrics=METRICS, **options).state == whole.state


@pytest.mark.parametrize("form", ["lists", "structs"])
def test_lists_of_items_and_of_structs(engine: Any, form: str) -> None:
    case = Case("int64")
    predictions = getattr(case, form)()
    whole = exactk.evaluate(case.truth, predictions if form == "lists" else case.predictions, METRICS)
    inputs = frames(engine, truth=case.truth, predictions=predictions)
    assert engine.MODULE.evaluate(**inputs, metrics=METRICS, num_buckets=4).state == whole.state


def test_users_of_several_columns(engine: Any) -> None:
    truth = pa.table({"shop": [1, 1, 2], "who": ["ann", "bob", "ann"], "item": [7, 8, 9]})
    lists = pa.table({"shop": [2, 1, 1], "who": ["ann", "ann", "dan"], "item": [9, 8, 7], "score": [1.0, 2.0, 3.0]})
    options: dict[str, Any] = {"metrics": "ndcg@2", "user": ["shop", "who"]}
    whole = exactk.evaluate(truth, lists, **options, per_user=True)
    inputs = frames(engine, truth=truth, predictions=lists)
    assert engine.MODULE.evaluate(**inputs, **options, num_buckets=3).state == whole.state
    rows = engine.table_of(engine.MODULE.per_user(**inputs, **options, num_buckets=3)).to_pylist()
    assert sorted((row["shop"], row["who"]) for row in rows) == sorted(whole.users.tolist())


def test_a_comparison_has_the_differences_of_one_call(engine: Any) -> None:
    case = Case("string")
    other = long_rows(np.random.default_rng(5), range(USERS), 20, "string")
    other = other.append_column("score", pa.array(np.random.default_rng(6).random(len(other))))
    tables = {"als": case.predictions, "ease": other}
    options: dict[str, Any] = {"baseline": "als", "margin": "1%", "alternative": "greater"}
    whole = exactk.compare(case.truth, tables, METRICS, groups=case.groups, **options)
    inputs, systems = frames(engine, truth=case.truth, groups=case.groups), frames(engine, **tables)
    comparison = engine.MODULE.compare(systems=systems, metrics=METRICS, num_buckets=4, **inputs, **options)
    assert comparison.state == whole.state
    assert comparison.differences == whole.differences
    with pytest.raises(exactk.InputError, match="test: expected a test and an interval of the sums over users"):
        engine.MODULE.compare(inputs["truth"], systems, METRICS, test="permutation")
    with pytest.raises(exactk.InputTypeError, match="systems: expected a mapping"):
        engine.MODULE.compare(inputs["truth"], inputs["truth"], METRICS)


@pytest.mark.parametrize("kind", ["int64", "string"])
def test_candidates_and_base_predictions(engine: Any, kind: str) -> None:
    case, random = Case(kind), np.random.default_rng(7)
    rows, base = long_rows(random, range(430), 20, kind), long_rows(random, range(USERS), 20, kind)
    rows = pa.concat_tables([rows, base, case.predictions.select(["user_id", "item_id"])])
    candidates = rows.group_by(["user_id", "item_id"], use_threads=False).aggregate([])
    base = base.append_column("score", pa.array(random.random(len(base))))
    options = {"candidates": candidates, "base_predictions": base}
    metrics = [*METRICS, "unexpectedness@5"]
    whole = exactk.evaluate(case.truth, case.predictions, metrics, **options)
    of_engine = frames(engine, truth=case.truth, predictions=case.predictions, **options)
    assert engine.MODULE.evaluate(**of_engine, metrics=metrics, num_buckets=5).state == whole.state
    systems = {"one": of_engine.pop("predictions")}
    systems["other"] = systems["one"]
    both = dict.fromkeys(systems, case.predictions)
    compared = engine.MODULE.compare(systems=systems, metrics=metrics, num_buckets=5, **of_engine)
    assert compared.state == exactk.compare(case.truth, both, metrics, **options).state


@pytest.mark.parametrize("buckets", [1, 8, 37])
def test_tasks_have_the_items_and_add_their_counts(engine: Any, buckets: int) -> None:
    case = Case("string")
    catalogue = [f"i{one}" for one in range(10, ITEMS + 5)]
    groups = {key: index % 3 for index, key in enumerate(catalogue)}
    train = case.exclude.filter(pc.is_in(case.exclude["item_id"], pa.array(catalogue)))
    of_lists = ["coverage@10", "gini@10", "entropy@5", "personalization@10", "item_recall@10", "exposure@10", "ndcg@10"]
    of_lists += ["recall@10(item_group=every)", "precision@5(item_group=2,item_group_value=share)"]
    options: dict[str, Any] = {
        "metrics": [*of_lists, "novelty@10", "arp@5", "serendipity@5(serendipity_of=popularity)"],
        "items": exactk.Items(catalogue, item_groups=groups, train=train),
        "convention": {"foreign_items": "ignore", "unseen_items": "skip"},
    }
    whole = exactk.evaluate(case.truth, case.predictions, **options)
    inputs = frames(engine, truth=case.truth, predictions=case.predictions)
    report = engine.MODULE.evaluate(**inputs, num_buckets=buckets, **options)
    assert report.state == whole.state
    assert dict(report) == dict(whole)
    options["convention"] |= {"list_users": "users"}
    by_group = exactk.evaluate(case.truth, case.predictions, groups=case.groups, **options)
    inputs |= frames(engine, groups=case.groups)
    assert engine.MODULE.evaluate(**inputs, num_buckets=buckets, **options).state == by_group.state


def test_states_are_kept_and_merged(engine: Any, tmp_path: Path) -> None:
    case = Case("int64")

    def written(table: pa.Table, name: str) -> Any:
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table.replace_schema_metadata(), path)  # where Spark keeps a schema of its own
        return engine.read(path)

    kept = []
    for remainder, name in enumerate(("even", "odd")):
        inputs = {
            argument: table.filter(pc.equal(pc.bit_wise_and(table["user_id"], 1), remainder))
            for argument, table in (("truth", case.truth), ("predictions", case.predictions))
        }
        states = engine.MODULE.states(**frames(engine, **inputs), metrics=METRICS, num_buckets=3)
        assert engine.table_of(states).column_names == ["bucket", "state", "facts", "error"]
        engine.write(states, tmp_path / name)
        kept.append(pq.read_table(tmp_path / name))
    both = pa.concat_tables(kept, promote_options="permissive")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    assert engine.MODULE.merge(written(both, "both")).state == whole.state
    with pytest.raises(exactk.InputError, match=rf"columns of {engine.MODULE.__name__}.states, found no error"):
        engine.MODULE.merge(written(both.drop_columns("error"), "no error"))
    with pytest.raises(exactk.InputError, match="frame: expected at least one state, found none"):
        engine.MODULE.merge(written(both.slice(0, 0), "none"))


@pytest.mark.parametrize("kind", ["int64", "string"])
def test_values_of_users_with_null_for_those_who_are_skipped(engine: Any, kind: str) -> None:
    case = Case(kind)
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, per_user=True)
    inputs = frames(engine, truth=case.truth, predictions=case.predictions)
    values = engine.table_of(engine.MODULE.per_user(**inputs, metrics=METRICS, num_buckets=5))
    assert values.column_names == ["user_id", *whole]
    columns = {name: pa.array(whole.per_user[name], from_pandas=True) for name in whole}
    expected = pa.table({"user_id": whole.users.tolist(), **columns}).sort_by("user_id")
    assert values.sort_by("user_id").to_pylist() == expected.to_pylist()
    assert any(column.null_count for column in expected.columns)


def test_no_rows(engine: Any) -> None:
    case = Case("int64")
    truth, predictions = case.truth.slice(0, 0), case.predictions.slice(0, 0)
    for left, right in ((truth, predictions), (truth, case.predictions), (case.truth, predictions)):
        whole = exactk.evaluate(left, right, "ndcg@5")
        inputs = frames(engine, truth=left, predictions=right)
        assert engine.MODULE.evaluate(**inputs, metrics="ndcg@5", num_buckets=2).state == whole.state


def test_warnings_come_once_on_the_driver(engine: Any) -> None:
    case = Case("int64")
    tables = {"truth": case.truth, "predictions": case.lists()}
    found = []
    for module, inputs in ((exactk, tables), (engine.MODULE, {**frames(engine, **tables), "num_buckets": 3})):
        with warnings.catch_warnings(action="always", record=True) as caught:
            module.evaluate(**inputs, metrics="ndcg@[5,500]")
        found.append([str(one.message) for one in caught if issubclass(one.category, exactk.EvaluationWarning)])
    assert found[0] == found[1] != []


def test_faults_name_the_user(engine: Any) -> None:
    case = Case("string")
    truth, rows = engine.frame(case.truth), case.predictions
    of_u30 = rows.filter(pc.equal(rows["user_id"], "u30")).slice(0, 1)
    repeated = engine.frame(pa.concat_tables([rows, of_u30]))
    with pytest.raises(exactk.InputError, match=r"again.* \(user 'u30'\) \(in 1 of 8 buckets\)$"):
        engine.MODULE.evaluate(truth, repeated, METRICS, num_buckets=8)
    with pytest.raises(engine.TASK_ERROR, match=r"again.* \(user 'u30'\)"):
        engine.table_of(engine.MODULE.per_user(truth, repeated, METRICS, num_buckets=8))
    users = [None if user == "u31" else user for user in rows["user_id"].to_pylist()]
    nulls = engine.frame(rows.set_column(0, "user_id", pa.array(users)))
    with pytest.raises(exactk.InputTypeError, match=r"predictions.user_id: expected a value in every row.*\(in 1 of 8"):
        engine.MODULE.evaluate(truth, nulls, METRICS, num_buckets=8)


def test_what_the_types_show_needs_no_task(engine: Any) -> None:
    case = Case("string")
    rows, size = case.predictions, len(case.predictions)
    truth, predictions = engine.frame(case.truth), engine.frame(rows)
    keys = "expected keys of integers or strings, found"
    faulty = [
        (rows.set_column(0, "user_id", pa.array(np.ones(size, int))), "user: expected ids of one kind"),
        (rows.set_column(0, "user_id", pa.array(np.ones(size))), f"predictions.user_id: {keys} double"),
        (rows.set_column(1, "item_id", pa.array(np.ones(size, bool))), f"predictions.item_id: {keys} bool"),
        (rows.drop_columns("score"), "predictions: expected a score or rank column"),
    ]
    of_engine = [(engine.frame(table), message) for table, message in faulty]
    not_of_engine = [(rows, rf"predictions: expected {engine.CONTAINER}, found pyarrow\..*Table")]
    with engine.no_task():
        for changed, message in of_engine + not_of_engine:
            with pytest.raises(exactk.ExactkError, match=message):
                engine.MODULE.evaluate(truth, changed, METRICS)
        with pytest.raises(exactk.InputError, match="num_buckets: expected an integer from 1 on, found 0"):
            engine.MODULE.evaluate(truth, predictions, METRICS, num_buckets=0)
