"""The worker of engines: whatever the buckets of users, the state is that of one evaluation, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._report.comparison_options import ComparisonOptions
from exactk._sharded.buckets import Bucket, add_results
from exactk._sharded.reduction import comparison_of_buckets, report_of_buckets
from exactk._sharded.worker import user_value_schema
from exactk._sharded.worker_python import WorkerPython, check_worker, describe_worker
from sharded_rows import plan_of_tables, results_of
from strategies import examples
from warned import warnings_of, without_examples

METRICS = ["ndcg@[2,5]", "recall@3", "map", "auc", "f1@2(average=micro)"]
quiet = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")


@dataclass(frozen=True)
class Tables:
    """The inputs of a drawn evaluation."""

    truth: pa.Table
    predictions: pa.Table
    others: dict[str, Any]

    def plan(self, metrics: Any = METRICS, **options: Any) -> Any:
        return plan_of_tables(self.truth, self.predictions, metrics, **self.others, **options)

    def results(self, metrics: Any = METRICS, *, split: dict[str, int] | None = None, **options: Any) -> Any:
        tables = [self.truth, self.predictions, *(one for one in self.others.values() if not isinstance(one, str))]
        return results_of(self.plan(metrics, **options), tables, **(split or {}))

    def report(self, metrics: Any = METRICS, **options: Any) -> exactk.Report:
        return report_of_buckets(self.results(metrics, **options))

    def whole(self, metrics: Any = METRICS, **options: Any) -> exactk.Report:
        """Evaluate all rows in one call; a column of the truth as a mapping from user."""
        others = dict(self.others)
        for argument, column in self.others.items():
            if isinstance(column, str):
                user = self.truth.column_names[0]
                others[argument] = dict(zip(self.truth[user].to_pylist(), self.truth[column].to_pylist(), strict=True))
        return exactk.evaluate(self.truth, self.predictions, metrics, **others, **options)


def draw_rows(random: np.random.Generator, users: int, first: int, items: int, most: int) -> pa.Table:
    """Return rows of distinct items for some of the users from the first on."""
    who, what = [], []
    for user in range(first, users):
        count = int(random.integers(0, most))
        who += [user] * count
        what += random.choice(items, count, replace=False).tolist()
    return pa.table({"user_id": pa.array(who, pa.int64()), "item_id": pa.array(what, pa.int64())})


def as_strings(table: Any) -> Any:
    if not isinstance(table, pa.Table):
        return table
    for index, name in enumerate(table.column_names):
        if name in {"user_id", "item_id"} and not pa.types.is_string(table[name].type):
            texts = pa.array([f"{name} {one}" for one in table[name].to_pylist()], pa.string())
            table = table.set_column(index, name, texts)
    return table


@st.composite
def drawn_tables(draw: st.DrawFn) -> Tables:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    users, items = draw(st.integers(1, 30)), draw(st.integers(6, 20))
    truth = draw_rows(random, users + draw(st.integers(0, 3)), 0, items, 5)
    predictions = draw_rows(random, users, draw(st.integers(0, 2)), items, 7)
    if draw(st.booleans()):
        scores = random.integers(0, 4, len(predictions)) / 2  # many ties
        predictions = predictions.append_column("score", pa.array(scores))
    else:
        predictions = predictions.append_column("rank", pa.array(np.arange(len(predictions))))
    if draw(st.booleans()):
        truth = truth.append_column("grade", pa.array(random.integers(0, 4, len(truth))))
    others: dict[str, Any] = {}
    if draw(st.booleans()):
        others["exclude"] = draw_rows(random, users + 2, 1, items, 4)
    if draw(st.booleans()):
        more = [predictions.select(["user_id", "item_id"]), draw_rows(random, users + 3, 0, items, 4)]
        others["candidates"] = pa.concat_tables(more).group_by(["user_id", "item_id"], use_threads=False).aggregate([])
    if draw(st.booleans()):
        base = draw_rows(random, users, 0, items, 7)
        others["base_predictions"] = base.append_column("score", pa.array(random.random(len(base))))
    of_users = {"weights": random.integers(0, 5, users + 3) / 4, "groups": random.integers(0, 3, users + 3)}
    for argument, values in of_users.items():
        kind = draw(st.sampled_from(["none", "frame", "column"]))
        if kind == "frame":
            others[argument] = pa.table({"user_id": np.arange(users + 3), argument: values})
        elif kind == "column":
            truth = truth.append_column(argument, pa.array(values[truth["user_id"].to_numpy()]))
            others[argument] = argument
    tables = Tables(truth, predictions, others)
    if draw(st.booleans()):
        return tables
    return Tables(as_strings(truth), as_strings(predictions), {name: as_strings(one) for name, one in others.items()})


CONVENTIONS = st.sampled_from(["standard", "replay", "trec_eval"])


@given(drawn_tables(), st.integers(1, 9), st.integers(0, 99), st.integers(0, 99), CONVENTIONS)
@settings(max_examples=examples(300))
@quiet
def test_f43_any_buckets_in_any_order(tables: Tables, buckets: int, salt: int, seed: int, convention: str) -> None:
    metrics = [*METRICS, *["unexpectedness@3"] * ("base_predictions" in tables.others)]
    try:
        whole = tables.whole(metrics, convention=convention)
    except exactk.InputError as error:  # such as a user without a weight
        with pytest.raises(type(error)):
            tables.report(metrics, convention=convention)
        return
    split = {"buckets": buckets, "salt": salt, "seed": seed, "batch": 1 + seed}
    results = tables.results(metrics, convention=convention, split=split)
    if results:
        report = report_of_buckets(results)
        assert report.state == whole.state
        assert dict(report) == pytest.approx(dict(whole), rel=0, abs=0, nan_ok=True)
    else:
        assert whole.counts["users"] == 0


TRUTH = pa.table({"user": ["ann", "ann", "bob", "eve"], "item": ["a", "b", "a", "c"]})
LISTS = pa.table({"user": ["bob", "ann", "ann", "dan"], "item": ["a", "b", "x", "b"], "score": [0.5, 0.25, 0.75, 0.5]})


def report_of(truth: pa.Table, predictions: pa.Table, metrics: Any = "ndcg@2", **options: Any) -> exactk.Report:
    others: dict[str, Any] = {name: options.pop(name) for name in ("exclude", "weights", "groups") if name in options}
    return Tables(truth, predictions, others).report(metrics, **options)


def test_integers_of_any_width_are_the_same_keys() -> None:
    truth = pa.table({"user": pa.array([1, 1, 2], pa.int32()), "item": pa.array([3, 4, 3], pa.int32())})
    lists = pa.table({"user": [2, 1], "item": [3, 4], "rank": [1, 1]})
    assert report_of(truth, lists).state == exactk.evaluate(truth, lists, "ndcg@2").state


def test_arrays_of_items_and_of_structs_as_als_writes_them() -> None:
    lists = pa.table({"user": ["ann", "bob", "dan"], "items": [["x", "b"], ["a"], []]})
    assert report_of(TRUTH, lists).state == exactk.evaluate(TRUTH, lists, "ndcg@2").state
    structs = pa.array(
        [[{"movieId": "x", "rating": 0.75}, {"movieId": "b", "rating": 0.75}], [{"movieId": "a", "rating": 0.5}], []],
        pa.list_(pa.struct([("movieId", pa.string()), ("rating", pa.float32())])),
    )
    recommendations = pa.table({"user": ["ann", "bob", "dan"], "recommendations": structs})
    rows = pa.table({"user": ["ann", "ann", "bob"], "item": ["x", "b", "a"], "score": [0.75, 0.75, 0.5]})
    report = report_of(TRUTH, recommendations)
    assert dict(report) == dict(exactk.evaluate(TRUTH, rows, "ndcg@2"))
    assert report.counts["tie_dependent"] == {"ndcg@2": 1}
    fields = [structs.flatten().field(i) for i in range(2)]
    unnamed = pa.ListArray.from_arrays(structs.offsets, pa.StructArray.from_arrays(fields, ["sku", "rating"]))
    assert report_of(TRUTH, recommendations.set_column(1, "recommendations", unnamed)).state == report.state
    sliced = pa.concat_tables([recommendations.slice(1), recommendations.slice(0, 1)])
    assert report_of(TRUTH, sliced).state == report.state


def test_users_of_several_columns() -> None:
    truth = pa.table({"shop": [1, 1, 2], "who": ["ann", "bob", "ann"], "item": [7, 8, 9]})
    lists = pa.table({"shop": [2, 1, 1], "who": ["ann", "ann", "dan"], "item": [9, 8, 7], "score": [1.0, 2.0, 3.0]})
    columns = {"user": ["shop", "who"]}
    whole = exactk.evaluate(truth, lists, "ndcg@2", user=["shop", "who"])
    assert report_of(truth, lists, columns=columns).state == whole.state


@quiet
def test_items_and_custom_metrics_reach_the_workers() -> None:
    items = exactk.Items(train={"ann": ["x", "a"], "cat": ["a", "b"]})
    shortest = exactk.custom("shortest", attrgetter("lengths"), k=1, version="1")
    metrics: list[Any] = ["novelty@2", "serendipity@2(serendipity_of=popularity)", shortest]
    options: dict[str, Any] = {"items": items, "convention": {"foreign_items": "ignore"}}
    whole = exactk.evaluate(TRUTH, LISTS, metrics, **options)
    assert report_of(TRUTH, LISTS, metrics, **options).state == whole.state


def test_warnings_come_once_from_the_counts_of_all_buckets() -> None:
    exclude = pa.table({"user": ["ann", "bob"], "item": ["b", "a"]})
    unknown = pa.table({"user": ["zed"], "item": ["b"]})
    other_items = pa.table({"user": ["ann", "bob"], "item": ["B", "A"]})
    disjoint = pa.table({"user": ["ann", "bob"], "item": ["y", "z"], "score": [1.0, 2.0]})
    ratings = TRUTH.append_column("rating", pa.array([1.0, 5.0, 4.0, 3.0]))
    train, features = {"ann": ["a"], "bob": ["b"], "dan": ["c", "x"]}, {"a": ["red", "blue"], "x": ["red"]}
    few_features = exactk.Items(train=train, features=features)
    unused = TRUTH.append_column("stars_given", pa.array([1.0, 5.0, 4.0, 3.0]))
    for truth, lists, options in (
        (TRUTH, LISTS, {"exclude": exclude}),
        (TRUTH, LISTS, {"exclude": unknown}),
        (TRUTH, LISTS, {"exclude": other_items}),
        (ratings, LISTS, {}),
        (unused, LISTS, {}),
        (TRUTH, LISTS, {"metrics": "ndcg@50"}),
        (TRUTH, LISTS, {"metrics": "calibration@2(missing_features=skip)", "items": few_features}),
    ):
        of_buckets = warnings_of(partial(report_of, truth, lists, **options))
        whole = {"metrics": "ndcg@2", **options}
        of_whole = warnings_of(partial(exactk.evaluate, truth.to_pandas(), lists, **whole))
        assert list(map(without_examples, of_buckets)) == list(map(without_examples, of_whole)) != []
    messages = warnings_of(partial(report_of, TRUTH, disjoint))
    expected = "no item of the truth is in the predictions of the same bucket: "
    assert any(without_examples(message).startswith(expected) and "(such as '" in message for message in messages)
    users = disjoint.set_column(0, "user", pa.array(["dan", "zed"]))
    messages = warnings_of(partial(report_of, TRUTH, users))
    assert any(message.startswith("no user of the truth") for message in messages)


def test_f86_events_are_told_by_name_and_named_columns_are_no_grades() -> None:
    (message,) = warnings_of(partial(report_of, TRUTH.append_column("event", pa.array(list("vvpp"))), LISTS))
    assert "'event' is not used; pass the rows of one value if these alone count, truth[[" in message
    weighted = TRUTH.append_column("rating", pa.array([2, 2, 1, 1]))
    for options in ({"weights": "rating"}, {"groups": "rating"}):
        assert warnings_of(partial(report_of, weighted, LISTS, **options)) == []
        assert report_of(weighted, LISTS, **options).state.grade_column is None
    with pytest.warns(exactk.EvaluationWarning, match="every rating above 0"):
        report = report_of(weighted, LISTS, weights="rating", columns={"grade": "rating"})
    assert report.state.grade_column == "rating"


def test_an_error_names_the_user_and_the_number_of_buckets() -> None:
    repeated = pa.concat_tables([LISTS, LISTS.slice(0, 1)])
    with pytest.raises(exactk.InputError, match=r"item 'a' again; .*\(user 'bob'\) \(in 1 of \d buckets\)$") as caught:
        report_of(TRUTH, repeated)
    assert (caught.value.argument, caught.value.row) == ("predictions", None)
    nulls = pa.table({"user": [None, "ann"], "item": ["a", "b"], "score": [0.5, 0.25]})
    with pytest.raises(exactk.InputTypeError, match=r"^predictions.user: .*null \(in 1 of \d buckets\)$"):
        report_of(TRUTH, nulls)


@pytest.mark.parametrize(
    ("truth", "predictions", "options", "message"),
    [
        (TRUTH, LISTS.set_column(0, "user", pa.array([1, 2, 2, 3])), {}, "user: expected ids of one kind, found str in truth.user and int in predictions.user"),
        (TRUTH, LISTS.set_column(1, "item", pa.array([1, 2, 2, 3])), {}, "item: expected ids of one kind"),
        (TRUTH, LISTS.drop_columns("score"), {}, "predictions: expected a score or rank column"),
        (TRUTH.set_column(0, "user", pa.array([1.0, 1.0, 2.0, 3.0])), LISTS, {}, "truth.user: expected keys of integers or strings, found double"),
        (TRUTH.set_column(0, "user", pa.array([b"1"] * 4)), LISTS, {}, "truth.user: expected keys of integers or strings, found binary"),
        (TRUTH, LISTS, {"convention": "ranx"}, "convention: expected an order of ties that does not depend on the order of rows"),
        (TRUTH.set_column(0, "user", pa.array([1, 1, 2, 3], pa.decimal128(5))), LISTS, {}, "truth.user: expected keys of integers or strings, found decimal128(5, 0); cast the column to integers or strings"),
        (TRUTH.set_column(1, "item", pa.array([1, 1, 2, 3], pa.timestamp("us"))), LISTS, {}, "truth.item: expected keys of integers or strings, found timestamp[us]"),
        (TRUTH, LISTS, {"metrics": "unexpectedness@2"}, "base_predictions: expected other predictions of the same users, which unexpectedness@2 needs, found None"),
        (TRUTH, LISTS, {"base_predictions": LISTS.drop_columns("score"), "metrics": "unexpectedness@2"}, "base_predictions: expected a score or rank column"),
        (TRUTH, LISTS, {"base_predictions": LISTS.set_column(0, "user", pa.array([1, 2, 2, 3]))}, "user: expected ids of one kind, found str in truth.user and int in base_predictions.user"),
        (TRUTH, LISTS, {"candidates": LISTS.drop_columns("item")}, "candidates: expected"),
        (TRUTH, LISTS, {"groups": "user"}, "groups: expected a column of the truth other than those of users, found 'user'"),
        (TRUTH, LISTS, {"weights": "age"}, "weights: expected the name of a column of the truth, found 'age'"),
        (TRUTH, LISTS, {"columns": {"score": "rating"}}, "predictions: expected the score column 'rating'"),
    ],
)  # fmt: skip
def test_types_of_columns_are_checked_before_any_row_is_read(
    truth: pa.Table, predictions: pa.Table, options: dict[str, Any], message: str
) -> None:
    options = {"metrics": "ndcg@2", **options}
    with pytest.raises(exactk.ExactkError) as caught:
        plan_of_tables(truth, predictions, **options)
    assert message in str(caught.value)


def test_metrics_may_be_an_iterator() -> None:
    metrics = ["ndcg@2", "mrr"]
    assert report_of(TRUTH, LISTS, iter(metrics)).state == exactk.evaluate(TRUTH, LISTS, metrics).state


def test_what_depends_on_the_order_of_rows_is_refused() -> None:
    repeated = pa.table({"user": ["ann", "ann"], "item": ["a", "a"], "grade": [1.0, 2.0]})
    options: dict[str, Any] = {"convention": {"duplicate_truth": "first"}}
    with pytest.raises(exactk.InputError, match="one grade for each user and item"):
        report_of(repeated, LISTS, **options)
    equal = repeated.set_column(2, "grade", pa.array([2.0, 2.0]))
    assert report_of(equal, LISTS, **options).state == exactk.evaluate(equal, LISTS, "ndcg@2", **options).state
    for other, found in ((2.0, "(1.0 and 2.0|2.0 and 1.0)"), (None, "None"), (float("nan"), "nan")):
        weights = TRUTH.append_column("age", pa.array([1.0, other, 1.0, 1.0]))
        with pytest.raises(
            exactk.InputError, match=rf"one value in all rows of a user.*{found}.* 'age' \(user 'ann'\)"
        ):
            report_of(weights, LISTS, weights="age")


@pytest.mark.parametrize(
    ("metrics", "convention", "remedy"),
    [
        ("ndcg@2", "recommenders", "convention={'base': 'recommenders', 'ties': 'lowest_id'}"),
        ("ndcg@2(ties=input_order)", "standard", "metrics='ndcg@2(ties=lowest_id)'"),
    ],
)
def test_refused_orders_of_ties_say_what_to_write(metrics: str, convention: str, remedy: str) -> None:
    with pytest.raises(exactk.InputTypeError) as caught:
        plan_of_tables(TRUTH, LISTS, metrics=metrics, convention=convention)
    assert str(caught.value).endswith(remedy)


def test_a_bucket_gives_the_same_bytes_again_in_any_order_of_rows() -> None:
    tables = Tables(TRUTH, LISTS, {})
    once, again = (tables.results(split={"buckets": 1, "salt": 0, "seed": seed, "batch": 1 + seed}) for seed in (1, 2))
    assert once == again


COMPARISONS: list[dict[str, Any]] = [
    {},
    {"baseline": "als", "margin": 0.01, "confidence": 0.9},
    {"test": "sign", "adjust": "none", "family": "all"},
    {"runs": {"both": ["als", "ease"]}, "baseline": "popular"},
]


THREE_TABLES = st.lists(drawn_tables(), min_size=3, max_size=3)


@given(THREE_TABLES, st.sampled_from(COMPARISONS), st.integers(1, 6), st.integers(0, 99))
@settings(max_examples=examples(60))
@quiet
def test_f43_comparisons_have_the_differences_of_one_call(
    drawn: list[Tables], how: dict[str, Any], buckets: int, seed: int
) -> None:
    if any(pa.types.is_string(one.truth["user_id"].type) for one in drawn):
        drawn = [Tables(as_strings(one.truth), as_strings(one.predictions), {}) for one in drawn]
    truth = drawn[0].truth
    systems = dict(zip(("als", "ease", "popular"), (one.predictions for one in drawn), strict=True))
    users = truth["user_id"].unique()
    groups = None if len(truth) % 2 else pa.table({"user_id": users, "group": np.arange(len(users)) % 3})
    others = {} if groups is None else {"groups": groups}
    whole = exactk.compare(truth, systems, METRICS, **others, **how)
    plan = plan_of_tables(truth, systems, METRICS, comparison=ComparisonOptions(**how), **others)
    results = results_of(plan, [truth, *systems.values(), *others.values()], buckets=buckets, seed=seed)
    if results:
        comparison = comparison_of_buckets(results)
        assert comparison.state == whole.state
        assert comparison.differences == whole.differences


@quiet
def test_comparisons_refuse_what_needs_all_users_and_warn_of_differing_ones() -> None:
    systems = {"als": LISTS, "ease": LISTS.slice(1)}
    refused: list[tuple[dict[str, Any], str]] = [
        ({"test": "permutation"}, "test: expected a test and an interval of the sums over users, found 'permutation'"),
        ({"interval": "bca"}, "interval: expected a test and an interval of the sums over users, found 'bca'"),
        ({"baseline": "bpr"}, "baseline: expected"),
    ]
    for how, message in refused:
        with pytest.raises(exactk.InputError, match=message):
            plan_of_tables(TRUTH, systems, "ndcg@2", comparison=ComparisonOptions(**how))
    unranked = systems | {"ease": LISTS.drop_columns("score")}
    with pytest.raises(exactk.InputError, match="in system 'ease'"):
        plan_of_tables(TRUTH, unranked, "ndcg@2", comparison=ComparisonOptions())
    plan = plan_of_tables(TRUTH, systems, "ndcg@2", comparison=ComparisonOptions())
    messages = warnings_of(lambda: comparison_of_buckets(results_of(plan, [TRUTH, *systems.values()])))
    assert messages == [
        "systems cover different users: of 2 users with predictions in some system, 'ease' has none for 1"
    ]
    strict = plan_of_tables(TRUTH, systems, "ndcg@2(missing_list=skip)", comparison=ComparisonOptions(missing="error"))
    results = results_of(strict, [TRUTH, *systems.values()])
    with pytest.raises(exactk.InputError, match="1 user in 'als' alone"):
        comparison_of_buckets(results)


@quiet
@pytest.mark.parametrize("rules", ["", "missing_list=skip", "users=union", "users=both,undefined=skip"])
def test_systems_of_other_users_are_told_of_as_in_one_evaluation(rules: str) -> None:
    whole, first, last = LISTS, LISTS.slice(0, 1), LISTS.slice(3)
    metrics = [f"recall@2({rules})", f"precision@2({rules})"] if rules else ["recall@2"]
    for systems in ({"a": whole, "b": first}, {"a": first, "b": last}, {"a": whole, "b": first, "c": last}):
        plan = plan_of_tables(TRUTH, systems, metrics, comparison=ComparisonOptions())
        of_buckets = warnings_of(partial(comparison_of_buckets, results_of(plan, [TRUTH, *systems.values()])))
        frames = {name: table.to_pandas() for name, table in systems.items()}
        of_whole = warnings_of(partial(exactk.compare, TRUTH.to_pandas(), frames, metrics))
        assert [text for text in of_buckets if "users" in text] == [text for text in of_whole if "users" in text] != []


OF_ALL_LISTS = [
    "coverage@3",
    "gini@3",
    "entropy@2",
    "personalization@3",
    "exposure@2",
    "num_items@2",
    "exposure_gini@3",
]


def added(results: list[Bucket]) -> list[Bucket]:
    """Return the results after an engine has added them in two parts, and these parts."""
    for is_last in (False, True):
        parts = [results] if is_last else [results[:2], results[2:]]
        batches = [batch for part in parts for batch in add_results(one.to_batch() for one in part)]
        results = [Bucket(**row) for batch in batches for row in batch.to_pylist()]
    return results


@given(drawn_tables(), st.integers(1, 6), st.integers(0, 99))
@settings(max_examples=examples(60))
@quiet
def test_f43_metrics_of_all_lists_are_added_by_the_engine(tables: Tables, buckets: int, seed: int) -> None:
    # A column of the truth has no groups of users who only have a list.
    others = {name: one for name, one in tables.others.items() if name in {"exclude", "groups"} and one != "groups"}
    tables = replace(tables, others=others)
    keys: list[Any] = list(range(0, 20, 2))  # half of the items
    if pa.types.is_string(tables.truth["item_id"].type):
        keys = [f"item_id {key}" for key in keys]
    items = exactk.Items(keys, item_groups={key: index % 2 for index, key in enumerate(keys)})
    options: dict[str, Any] = {"items": items, "convention": {"foreign_items": "ignore"}}
    whole = tables.whole([*METRICS, *OF_ALL_LISTS], **options)
    results = tables.results([*METRICS, *OF_ALL_LISTS], split={"buckets": buckets, "seed": seed}, **options)
    if results:
        (one,) = added(results)
        report = report_of_buckets([one])
        assert report.state == whole.state == report_of_buckets(results).state
        assert dict(report) == pytest.approx(dict(whole), rel=0, abs=0, nan_ok=True)
        assert repr(report.by_group) == repr(whole.by_group)


def test_errors_and_comparisons_are_added_too() -> None:
    repeated = pa.concat_tables([LISTS, LISTS.slice(0, 1)])
    results = Tables(TRUTH, repeated, {}).results(split={"buckets": 9})
    with pytest.raises(exactk.InputError, match=rf"\(in 1 of {len(results)} buckets\)$"):
        report_of_buckets(added(results))
    systems = {"als": LISTS, "ease": LISTS}
    plan = plan_of_tables(TRUTH, systems, "ndcg@2", comparison=ComparisonOptions())
    results = results_of(plan, [TRUTH, *systems.values()], buckets=9)
    assert comparison_of_buckets(added(results)).state == comparison_of_buckets(results).state


def test_what_does_not_add_is_told() -> None:
    one, other = (Tables(TRUTH, LISTS, {}).results(metric) for metric in ("ndcg@2", "mrr"))
    with pytest.raises(exactk.StateMismatchError, match=r"and \('reciprocal_rank',\)$"):
        report_of_buckets(added([*one, *other]))
    first = one[0]
    for broken, message in (
        (first._replace(facts=None), "^frame: expected a state with facts, or an error, in every row, found a row w"),
        (first._replace(facts="[1]"), r"^facts: expected what was kept beside a state, found '\[1\]'"),
        (first._replace(facts="{}"), "^facts: expected what was kept beside a state, found '{}'"),
        (first._replace(state=b"x"), "^state: expected the output of State.to_bytes, found b'x'"),
        (first._replace(state=b"{"), "^state: expected the state of a bucket, found invalid data"),
        (Bucket(None, None, None), "^frame: expected a state with facts"),
    ):
        with pytest.raises(exactk.InputError, match=message):
            report_of_buckets(added([*one[1:], broken]))


def test_workers_without_this_version_are_refused() -> None:
    python = WorkerPython(*describe_worker()())
    check_worker(python, "")
    for found, message in (("", "has no exactk"), ("0.0.0", "has exactk 0.0.0")):
        with pytest.raises(ImportError, match=rf"the workers' Python {message}, .* on {python.host}; install it"):
            check_worker(python._replace(found=found), "install it")


@pytest.mark.parametrize("per_user", [False, True])
def test_values_by_group_of_relevant_items(per_user: bool) -> None:
    truth = pa.table({"user_id": [1, 1, 2, 3], "item_id": [10, 11, 12, 10]})
    predictions = pa.table({"user_id": [1, 1, 2, 3], "item_id": [10, 12, 12, 11], "rank": [1, 2, 1, 1]})
    items = exactk.Items([10, 11, 12], item_groups={10: "head", 11: "head", 12: "tail"})
    tables, metrics = Tables(truth, predictions, {}), ["recall@2", "recall@2(item_group=every)"]
    report = tables.report(metrics, items=items)
    assert report.state == tables.whole(metrics, items=items).state
    assert report.by_item_group["tail"]["recall@2"] == 1.0
    if per_user:
        plan = tables.plan(metrics, items=items)
        assert user_value_schema(plan).names[1:] == list(report)
