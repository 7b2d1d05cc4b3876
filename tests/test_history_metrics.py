"""Serendipity and calibration: what users have in train, compared with what they are recommended."""

from __future__ import annotations

import math
import random
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse

import exactk
import history_oracle as oracle
from oracle_items import Catalogue
from refusals import refused

FEATURES = {1: [1.0, 0.0], 2: [0.6, 0.8], 3: [0.0, 1.0], 4: [1.0, 0.0]}
TAGS = {1: ["drama"], 2: ["drama", "war"], 3: ["war"], 4: ["drama"]}
TRUTH, LISTS, TRAIN = {7: [1, 2]}, {7: [1, 2, 4]}, {7: [3, 3]}


def items(features: Any = None, train: Any = TRAIN, **options: Any) -> exactk.Items:
    features = FEATURES if features is None else features
    return exactk.Items([1, 2, 3, 4], train=train, features=features, **options)


def value(metric: str, given: Any, truth: Any = TRUTH, lists: Any = LISTS, **options: Any) -> float:
    (result,) = exactk.evaluate(truth, lists, metric, items=given, **options).values()
    return result


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("serendipity@1", 1.0),
        ("serendipity@2", (1 + (1 - 0.8)) / 2),
        ("serendipity", (1 + (1 - 0.8)) / 3),  # item 4 is no hit
        ("serendipity@10(list_mean_over=cutoff)", (1 + (1 - 0.8)) / 10),
        ("serendipity@1(distance=euclidean)", math.sqrt(2)),
        ("serendipity@2(distance=hamming)", 2.0),
    ],
)
def test_distance_of_hits_from_the_history(metric: str, expected: float) -> None:
    assert value(metric, items()) == pytest.approx(expected, rel=1e-14)


def test_the_same_shares_are_calibrated() -> None:
    given = items(TAGS, train={7: [1, 3]})
    assert value("calibration", given, lists={7: [2]}) == 0
    expected = 0.5 * math.log(0.5 / (0.99 + 0.01 * 0.5)) + 0.5 * math.log(1 / 0.01)
    assert value("calibration", given, lists={7: [1]}) == pytest.approx(expected, rel=1e-14)
    assert value("calibration(alpha=1)", given, lists={7: [1]}) == 0
    assert exactk.metrics["calibration"].direction == "lower"


@pytest.mark.parametrize("metric", ["serendipity", "serendipity(history_distance=mean)", "calibration"])
@pytest.mark.parametrize(
    ("train", "lists"),
    [({8: [1]}, LISTS), ({7: [], 8: [1]}, LISTS), ({7: [99], 8: [1]}, LISTS), (TRAIN, {7: []})],
    ids=["no history", "empty history", "history outside the catalogue", "empty list"],
)
def test_without_a_history_or_a_list_there_is_no_value(metric: str, train: Any, lists: Any) -> None:
    given = items(TAGS if metric == "calibration" else FEATURES, train=train)
    name, _, rest = metric.partition("(")
    undefined = f"{name}({rest.removesuffix(')')}{',' if rest else ''}undefined=nan)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        assert math.isnan(value(undefined, given, lists=lists))


def test_train_of_other_users_is_a_warning() -> None:
    message = (
        r"no user of train with items of the catalogue \(such as 8\) is in the truth or the predictions \(such as 7\)"
    )
    blocks = iter([(TRUTH, LISTS)])
    batches = exactk.Batches(lambda: iter([pl.DataFrame({"user": [7], "item": [1], "rank": [1]})]))
    for truth, lists in ((TRUTH, LISTS), (None, blocks), (TRUTH, batches)):
        with pytest.warns(exactk.EvaluationWarning, match=message):
            value("serendipity", items(train={8: [1]}), truth=truth, lists=lists)


Lists = dict[int, list[int]]


def drawn_case(rng: random.Random) -> tuple[list[int], Lists, Lists, Lists]:
    """Return a catalogue, and for some users a truth, a list, and a history with repeats."""
    catalogue = list(range(1, rng.randint(3, 12)))
    users = range(rng.randint(1, 6))
    truth = {user: rng.sample(catalogue, rng.randint(1, len(catalogue))) for user in users}
    lists = {user: rng.sample(catalogue, rng.randint(0, len(catalogue))) for user in users}
    train = {user: [rng.choice(catalogue) for _ in range(rng.randint(0, 6))] for user in users}
    train[99] = rng.sample(catalogue, 2)
    return catalogue, truth, lists, train


def assert_near(report: exactk.Report, metric: str, expected: list[float | None]) -> None:
    values = report.per_user[metric].tolist()
    assert len(values) == len(expected)
    for found, one in zip(values, expected, strict=True):
        assert math.isnan(found) if one is None else found == pytest.approx(one, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_the_oracle_says_the_same(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    catalogue, truth, lists, train = drawn_case(rng)
    vectors: Any = {item: [rng.choice([0.0, 1.0, rng.random()]) for _ in range(3)] for item in catalogue}
    tags = {item: rng.sample("abcdef", rng.randint(1, 3)) for item in catalogue}
    k, distance = rng.choice([1, 3, 20]), rng.choice(["cosine", "dot", "euclidean", "hamming"])
    nearest, alpha = rng.choice(["nearest", "mean"]), rng.choice(["0.01", "0.5", "1e-6"])
    by_distance = f"serendipity@{k}(distance={distance},history_distance={nearest},undefined=nan)"
    by_popularity = f"serendipity@{k}(serendipity_of=popularity,popularity=interactions,undefined=nan)"
    by_tags = f"calibration@{k}(alpha={alpha},undefined=nan)"
    of_vectors = exactk.Items(catalogue, train=train, features=vectors)
    report = exactk.evaluate(truth, lists, [by_distance, by_popularity], items=of_vectors, per_user=True)
    described = Catalogue(None, [], features=vectors)
    rows = {user: row[:k] for user, row in lists.items()}
    of_distance = [
        oracle.serendipity(rows[user], set(truth[user]), set(train[user]), described, distance, nearest)
        for user in truth
    ]
    assert_near(report, by_distance, of_distance)
    interactions = [item for row in train.values() for item in row]
    of_popularity = [
        oracle.serendipity_of_popularity(rows[user], set(truth[user]), catalogue, interactions) for user in truth
    ]
    assert_near(report, by_popularity, of_popularity)
    of_tags = exactk.Items(catalogue, train=train, features=tags)
    report = exactk.evaluate(truth, lists, by_tags, items=of_tags, per_user=True)
    shares = [oracle.calibration(rows[user], set(train[user]), tags, Fraction(alpha)) for user in truth]
    assert_near(report, by_tags, shares)


def test_users_without_a_history_who_count_as_the_best_are_a_warning() -> None:
    truth, lists = {7: [1], 8: [2]}, {7: [2], 8: [2]}
    message = "1 user has no item in train and counts as 0, the best value, in calibration@1; undefined=skip leaves"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        assert value("calibration@1", items(TAGS), truth, lists) > 0
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.compare(truth, {"a": lists, "b": lists}, "calibration@1", items=items(TAGS))
    assert value("calibration@1(undefined=skip)", items(TAGS), truth, lists) > 0
    assert value("serendipity@1", items(), truth, lists) == 0  # no hit, and no history


def test_users_whose_history_has_no_features_are_a_warning_too() -> None:
    given = exactk.Items(["a", "b"], train={"v": ["b"], "w": ["a", "b"]}, features={"a": ["x"]})
    lists = {"v": ["a"], "w": ["a"]}
    message = "1 user has no item with features in train and counts as 0, the best value, in calibration"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.evaluate(None, lists, "calibration(missing_features=skip)", items=given)
    skipped = exactk.evaluate(None, lists, "calibration(missing_features=skip,undefined=skip)", items=given)
    assert skipped.counts["evaluated"] == {"calibration(missing_features=skip,undefined=skip)": 1}


def test_compare_reads_the_histories_of_all_systems() -> None:
    catalogue, truth, lists, train = drawn_case(random.Random(1))  # noqa: S311 - drawn, and not secret
    given = exactk.Items(catalogue, train=train, features={item: [item % 5, 1.0] for item in catalogue})
    metrics = ["serendipity@1", "serendipity@5(serendipity_of=popularity)"]
    systems = {"a": lists, "b": {user: row[::-1] for user, row in lists.items()}}
    comparison = exactk.compare(truth, systems, metrics, items=given)
    for name, report in comparison.reports.items():
        assert dict(report) == dict(exactk.evaluate(truth, systems[name], metrics, items=given))


REFUSED: dict[str, tuple[str, Any, str]] = {
    "popularity without train": (
        "serendipity",
        exactk.Items([1, 2, 3, 4], popularity=[1, 2, 3, 4], train_users=4, features=FEATURES),
        r"items: .* what each user has in train, found none; items=exactk\.Items\(train=\.\.\.\) has it",
    ),
    "no train": ("calibration", exactk.Items([1, 2, 3, 4], features=TAGS), "what each user has in train, found none"),
    "no features": ("serendipity", exactk.Items(train=TRAIN), "serendipity to have the features of items, found none"),
    "no tags": ("calibration", exactk.Items(train=TRAIN), "calibration to have the features of items, found none"),
    "vectors": ("calibration", items(), r"the tags of items, found vectors; features=\{item: \[tag, \.\.\.\]\}"),
    "sparse vectors": ("calibration", items(scipy.sparse.csr_array(np.eye(4))), "the tags of items, found vectors"),
    "no popularity": (
        "serendipity(serendipity_of=popularity)", exactk.Items([1, 2, 3, 4]), "to have the popularity of items, found none"
    ),
    "features of the list": (
        "serendipity@2",
        items({1: [0.5], 3: [1.0]}),
        r"predictions: expected items with features.*found item 2 without features at row 0; .*'skip'.* leaves it out \(user 7\)",
    ),
    "features of the history": ("serendipity@2", items({1: [0.5], 2: [1.0]}), r"train: .* with features .* 'skip'"),
    "tags of the history": ("calibration@2", items({1: ["a"], 2: ["b"]}), r"train: expected items with features"),
    "micro": ("calibration(average=micro)", items(TAGS), "calibration: expected average='macro'|average='macro'"),
    "alpha": ("calibration(alpha=0)", items(TAGS), r"alpha in \[1e-06, 1\]|alpha"),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str, engine: str) -> None:
    metric, given, message = REFUSED[case]
    evaluate = exactk.evaluate if engine == "core" else exactk.reference.evaluate
    with pytest.raises(exactk.InputError, match=message if engine == "core" else None):
        evaluate(TRUTH, LISTS, metric, items=given)


def test_items_without_features_are_left_out_if_asked() -> None:
    given = items({1: [1.0, 0.0], 3: [0.0, 1.0]}, train={7: [3, 4]})
    assert value("serendipity@3(missing_features=skip)", given) == 1.0  # one item of the list has features
    of_tags = items({1: ["drama"], 4: ["drama"]}, train={7: [2, 4]})
    assert value("calibration(missing_features=skip)", of_tags) == 0


def test_one_field_says_which_kind_of_serendipity() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="history_distance has no effect beside serendipity_of"):
        value("serendipity(serendipity_of=popularity,history_distance=mean)", items())


@pytest.mark.parametrize(
    ("metric", "features", "size"), [("calibration", ["x"], 1), ("calibration", ["x"], 0), ("serendipity", [1.0], 1)]
)
@pytest.mark.parametrize(("described", "lacking"), [("a", "c"), (10, 30)], ids=["strings", "integers"])
def test_an_item_of_train_alone_that_lacks_features_is_named(
    metric: str, features: list[Any], size: int, described: Any, lacking: Any
) -> None:
    items = exactk.Items([described, lacking, described * 2], train={"u": [lacking]}, features={described: features})
    lists: Any = {"u": [described] * size}
    message = rf"^train: expected items with features .*, found item {lacking!r} without features .*\(user 'u'\)$"
    with pytest.raises(exactk.InputError, match=message):
        exactk.evaluate({**lists}, lists, metric, items=items)


@pytest.mark.parametrize("call", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
@pytest.mark.parametrize(
    ("features", "fault", "message"),
    [
        ({"a": [1.0], "b": [2.0**65]}, "number out of range", r"from -2\^64 to 2\^64, found 3.68935e\+19 at position 0 \(item 'b'\)$"),
        ({"b": [2.0**-300]}, "vector too short", r"length 2\^-250 or more \(distance='cosine'\), found .* of length 4.90909e-91 \(item 'b'\)$"),
    ],
)  # fmt: skip
def test_an_item_with_a_wrong_vector_is_named(call: Any, features: Any, fault: str, message: str) -> None:
    catalogue = exactk.Items(["b", "a"], features=features)
    lists = {"u": ["a"], "v": ["a"]}
    with refused(f"items.features: {fault}", message) as caught:
        call({**lists}, lists, "ild(missing_features=skip)", items=catalogue)
    assert str(caught.value).endswith("(item 'b')")
