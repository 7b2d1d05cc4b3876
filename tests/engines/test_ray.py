"""Ray gives the state of one evaluation, bit for bit. `make engines` runs this."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import ray
import ray.data

import exactk
import exactk.ray
from engines.cases import ITEMS, METRICS, USERS, Case, long_rows, page_blocks


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield
        ray.shutdown()


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Ray
        yield


def dataset(table: Any, blocks: int = 3) -> Any:
    """Return the rows in random order, in blocks of odd sizes, some of them empty."""
    if not isinstance(table, pa.Table):
        return table
    random = np.random.default_rng(len(table))
    table = table.take(pa.array(random.permutation(len(table))))
    cuts = sorted(random.integers(0, len(table) + 1, blocks - 1).tolist())
    bounds = zip([0, *cuts], [*cuts, len(table)], strict=True)
    return ray.data.from_arrow([table.slice(start, end - start) for start, end in bounds])


def datasets(**options: Any) -> dict[str, Any]:
    return {name: dataset(one, 2 + index * 3) for index, (name, one) in enumerate(options.items())}


@pytest.mark.parametrize(
    ("kind", "truth_kind", "buckets"), [("int64", "int64", 1), ("string", "string", 37), ("int64", "int32", 8)]
)
def test_the_state_is_that_of_one_evaluation(kind: str, truth_kind: str, buckets: int) -> None:
    case = Case(kind, truth_kind)
    options = {"exclude": case.exclude, "weights": case.weights, "groups": case.groups}
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, **options)
    of_ray = datasets(truth=case.truth, predictions=case.predictions, **options)
    report = exactk.ray.evaluate(**of_ray, metrics=METRICS, num_buckets=buckets)
    assert report.state == whole.state
    assert dict(report) == dict(whole)


def test_many_small_blocks() -> None:
    """A user's rows are in many blocks."""
    case = Case("string")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, convention="replay")
    inputs = {"truth": dataset(case.truth, 40), "predictions": dataset(case.predictions, 60)}
    assert exactk.ray.evaluate(**inputs, metrics=METRICS, convention="replay", num_buckets=5).state == whole.state


def test_columns_of_the_truth_as_weights_and_groups() -> None:
    case = Case("string")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, weights=case.weights, groups=case.groups)
    truth = case.truth.join(case.weights, "user_id").join(case.groups, "user_id")
    options: dict[str, Any] = {"weights": "weight", "groups": "segment", "grade": "grade", "num_buckets": 4}
    report = exactk.ray.evaluate(dataset(truth), dataset(case.predictions), METRICS, **options)
    assert report.state == whole.state


@pytest.mark.parametrize("container", ["arrow", "pandas", "tensors"])
def test_lists_of_items(container: str) -> None:
    case = Case("int64")
    lists = case.lists()
    if container == "arrow":
        predictions = dataset(lists, 5)
    elif container == "pandas":
        predictions = ray.data.from_pandas([lists.slice(start, 150).to_pandas() for start in range(0, len(lists), 150)])
    else:
        lists = pa.table(
            {"user_id": lists["user_id"], "items": pa.array([[one, one + 1] for one in range(len(lists))])}
        )
        columns = {name: np.array(lists[name].to_pylist()) for name in lists.column_names}
        predictions = ray.data.from_numpy(columns["user_id"]).rename_columns({"data": "user_id"})
        predictions = predictions.zip(ray.data.from_numpy(columns["items"]).rename_columns({"data": "items"}))
    whole = exactk.evaluate(case.truth, lists, METRICS)
    assert exactk.ray.evaluate(dataset(case.truth), predictions, METRICS, num_buckets=4).state == whole.state


def test_lists_of_structs() -> None:
    case = Case("string")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    inputs = {"truth": dataset(case.truth), "predictions": dataset(case.structs(), 5)}
    assert exactk.ray.evaluate(**inputs, metrics=METRICS, num_buckets=4).state == whole.state


def test_blocks_of_pandas_and_users_of_several_columns() -> None:
    truth = pa.table({"shop": [1, 1, 2], "who": ["ann", "bob", "ann"], "item": [7, 8, 9]})
    lists = pa.table({"shop": [2, 1, 1], "who": ["ann", "ann", "dan"], "item": [9, 8, 7], "score": [1.0, 2.0, 3.0]})
    whole = exactk.evaluate(truth, lists, "ndcg@2", user=["shop", "who"], per_user=True)
    of_pandas = ray.data.from_pandas([lists.slice(0, 1).to_pandas(), lists.slice(1).to_pandas()])
    options: dict[str, Any] = {"metrics": "ndcg@2", "user": ["shop", "who"], "num_buckets": 3}
    assert exactk.ray.evaluate(dataset(truth), of_pandas, **options).state == whole.state
    values = exactk.ray.per_user(dataset(truth), of_pandas, **options).take_all()
    assert sorted((row["shop"], row["who"]) for row in values) == sorted(whole.users.tolist())


def test_a_comparison_has_the_differences_of_one_call() -> None:
    case = Case("string")
    other = long_rows(np.random.default_rng(5), range(USERS), 20, "string")
    other = other.append_column("score", pa.array(np.random.default_rng(6).random(len(other))))
    systems = {"als": case.predictions, "ease": other}
    options: dict[str, Any] = {"baseline": "als", "margin": "1%", "alternative": "greater"}
    whole = exactk.compare(case.truth, systems, METRICS, groups=case.groups, **options)
    of_ray = datasets(truth=case.truth, groups=case.groups)
    comparison = exactk.ray.compare(systems=datasets(**systems), metrics=METRICS, num_buckets=4, **of_ray, **options)
    assert comparison.state == whole.state
    assert comparison.differences == whole.differences
    with pytest.raises(exactk.InputError, match="test: expected a test and an interval of the sums over users"):
        exactk.ray.compare(of_ray["truth"], datasets(**systems), METRICS, test="permutation")  # type: ignore[arg-type]
    with pytest.raises(exactk.InputTypeError, match="systems: expected a mapping"):
        exactk.ray.compare(of_ray["truth"], of_ray["truth"], METRICS)


@pytest.mark.parametrize("buckets", [1, 9])
def test_tasks_add_the_counts_of_items(buckets: int) -> None:
    case = Case("string")
    catalogue = [f"i{one}" for one in range(10, ITEMS + 5)]
    groups = {key: index % 3 for index, key in enumerate(catalogue)}
    train = case.exclude.filter(pc.is_in(case.exclude["item_id"], pa.array(catalogue)))
    items = exactk.Items(catalogue, item_groups=groups, train=train)
    metrics = ["coverage@10", "gini@10", "entropy@5", "personalization@10", "exposure@10", "ndcg@10", "novelty@10"]
    options: dict[str, Any] = {
        "items": items,
        "convention": {"foreign_items": "ignore", "unseen_items": "skip"},
    }
    whole = exactk.evaluate(case.truth, case.predictions, metrics, **options)
    of_ray = datasets(truth=case.truth, predictions=case.predictions)
    report = exactk.ray.evaluate(**of_ray, metrics=metrics, num_buckets=buckets, **options)
    assert report.state == whole.state
    assert dict(report) == dict(whole)


def test_states_are_kept_and_merged(tmp_path: Path) -> None:
    case = Case("int64")
    is_even = [
        pa.array([one % 2 == 0 for one in table["user_id"].to_pylist()]) for table in (case.truth, case.predictions)
    ]
    for name in ("even", "odd"):
        truth, predictions = (
            table.filter(mask if name == "even" else pc.invert(mask))
            for table, mask in zip((case.truth, case.predictions), is_even, strict=True)
        )
        states = exactk.ray.states(dataset(truth), dataset(predictions), METRICS, num_buckets=3)
        states.write_parquet(str(tmp_path / name))
    whole = exactk.evaluate(case.truth, case.predictions, METRICS)
    even, odd = (ray.data.read_parquet(str(tmp_path / name)) for name in ("even", "odd"))
    assert even.columns() == ["bucket", "state", "facts", "error"]
    both = even.union(odd)
    assert exactk.ray.merge(both).state == whole.state
    with pytest.raises(exactk.InputError, match=r"columns of exactk.ray.states, found no error"):
        exactk.ray.merge(both.drop_columns(["error"]))
    with pytest.raises(exactk.InputError, match="frame: expected at least one state, found none"):
        exactk.ray.merge(ray.data.from_arrow(pq.read_table(tmp_path / "even").slice(0, 0)))


def test_values_of_users_with_null_for_those_who_are_skipped() -> None:
    case = Case("string")
    whole = exactk.evaluate(case.truth, case.predictions, METRICS, per_user=True)
    values = exactk.ray.per_user(dataset(case.truth), dataset(case.predictions), METRICS, num_buckets=5)
    assert isinstance(values, ray.data.Dataset)
    values = values.materialize()
    assert values.columns() == ["user_id", *whole]
    rows = {row.pop("user_id"): tuple(row.values()) for row in values.take_all()}
    expected = pd.DataFrame({name: whole.per_user[name] for name in whole}, index=whole.users.tolist())
    expected = expected.astype(object).where(expected.notna(), None)
    assert rows == dict(zip(expected.index, expected.itertuples(index=False, name=None), strict=True))
    assert any(None in ones for ones in rows.values())
    assert values.mean("ndcg@10") == pytest.approx(whole["ndcg@10"], rel=1e-12)


def test_no_rows() -> None:
    case = Case("int64")
    truth, predictions = case.truth.slice(0, 0), case.predictions.slice(0, 0)
    for left, right in ((truth, predictions), (truth, case.predictions), (case.truth, predictions)):
        whole = exactk.evaluate(left, right, "ndcg@5")
        assert exactk.ray.evaluate(dataset(left), dataset(right), "ndcg@5", num_buckets=2).state == whole.state
    with pytest.raises(exactk.InputTypeError, match="predictions: expected a dataset with columns, found none"):
        exactk.ray.evaluate(dataset(case.truth), ray.data.from_items([]), "ndcg@5")


def test_warnings_come_once_on_the_driver() -> None:
    case = Case("int64")
    inputs = {"truth": case.truth, "predictions": case.lists()}
    found = []
    for module, options in ((exactk, inputs), (exactk.ray, {**datasets(**inputs), "num_buckets": 3})):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.evaluate(**options, metrics="ndcg@[5,500]")
        found.append([str(one.message) for one in caught if issubclass(one.category, exactk.EvaluationWarning)])
    assert found[0] == found[1]
    assert found[0]


def test_faults_name_the_user_and_what_the_types_show_needs_no_task() -> None:
    case = Case("string")
    truth, rows = dataset(case.truth), case.predictions
    of_u30 = rows.filter(pc.equal(rows["user_id"], "u30")).slice(0, 1)
    repeated = dataset(pa.concat_tables([rows, of_u30]))
    with pytest.raises(exactk.InputError, match=r"again.* \(user 'u30'\) \(in 1 of 8 buckets\)$"):
        exactk.ray.evaluate(truth, repeated, METRICS, num_buckets=8)
    with pytest.raises(ray.exceptions.RayTaskError, match=r"again.* \(user 'u30'\)"):
        exactk.ray.per_user(truth, repeated, METRICS, num_buckets=8).take_all()
    for column, name, message in (
        (np.ones(len(rows), int), "user_id", "user: expected ids of one kind"),
        (np.ones(len(rows)), "user_id", "predictions.user_id: expected keys of integers or strings, found double"),
        (np.ones(len(rows), bool), "item_id", "predictions.item_id: expected .* found bool"),
    ):
        changed = rows.set_column(rows.schema.get_field_index(name), name, pa.array(column))
        with pytest.raises(exactk.InputTypeError, match=message):
            exactk.ray.evaluate(truth, dataset(changed), METRICS)
    with pytest.raises(exactk.InputError, match="predictions: expected a score or rank column"):
        exactk.ray.evaluate(truth, dataset(rows.drop_columns("score")), METRICS)
    with pytest.raises(exactk.InputTypeError, match=r"predictions: expected a dataset of Ray, found pyarrow\..*Table"):
        exactk.ray.evaluate(truth, rows, METRICS)
    with pytest.raises(exactk.InputError, match="num_buckets: expected an integer from 1 on, found 0"):
        exactk.ray.evaluate(truth, dataset(rows), METRICS, num_buckets=0)


def test_blocks_of_several_kinds_are_refused() -> None:
    truth = ray.data.from_items([{"user": 1, "item": 1}, {"user": 2, "item": 1}])

    def of_users(*blocks: list[Any]) -> Any:
        return ray.data.from_pandas(
            [pd.DataFrame({"user": pd.Series(users, dtype=object), "item": 1, "score": 0.5}) for users in blocks]
        )

    for blocks, message in (
        (([1, 2], ["a"]), "predictions.user: expected int64 in every partition, found"),
        (([1, "a"],), "predictions.user: expected keys of integers or strings, found values that"),
        ((["a"], ["b"]), "user: expected ids of one kind, found int in truth.user and str in predictions.user"),
    ):
        with pytest.raises(exactk.InputTypeError, match=message):
            exactk.ray.evaluate(truth, of_users(*blocks), "ndcg@2", num_buckets=2)


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code for Ray, on the files that it speaks of."""
    case = Case("int64")
    monkeypatch.chdir(tmp_path)
    for name in ("truth", "predictions", "train"):
        Path(name).mkdir()
        table = case.exclude if name == "train" else getattr(case, name)
        pq.write_table(table, f"{name}/part.parquet")
    monkeypatch.setattr(ray.data.DataContext.get_current(), "default_hash_shuffle_parallelism", 4)
    read = ray.data.read_parquet
    monkeypatch.setattr(ray.data, "read_parquet", lambda path: read(str(tmp_path / path)))
    variables: dict[str, Any] = {}
    blocks = page_blocks("Ray")
    for block in blocks:
        exec(block, variables)  # noqa: S102 - the page is our own
    whole = exactk.evaluate(case.truth, case.predictions, "ndcg@10", exclude=case.exclude)
    assert variables["report"].state == whole.state
    assert blocks
