"""Embeddings: scores are float64 to the last bit, whatever finds which of them matter."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import exactk
from exactk.reference.distances import similarities
from refusals import assert_refused_alike, refused
from strategies import examples

EVERY_TIE = ("lowest_id", "highest_id", "input_order", "optimistic", "pessimistic", "expected")
METRICS = [
    "precision@2", "recall@[1,5]", "ndcg@5", "average_precision@3", "reciprocal_rank", "auc", "r_precision", "ndcg",
]  # fmt: skip


@pytest.fixture(params=["scalar", ""], ids=["scalar", "widest"])
def isa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Screen by products that are rounded in different ways."""
    monkeypatch.setenv("EXACTK_ISA", request.param)


@st.composite
def vector_matrices(draw: st.DrawFn, rows: int, width: int, dtype: str) -> NDArray[Any]:
    """Draw rows that are hard to tell apart: repeated, of few values, of very different lengths."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    drawn = rng.normal(size=(rows, width))
    kind = draw(st.sampled_from(["normal", "whole", "signs", "repeated", "near", "uneven", "tiny", "huge"]))
    match kind:
        case "whole":
            drawn = rng.integers(-2, 3, size=(rows, width)).astype(float)
        case "signs":
            drawn = np.sign(drawn)
        case "repeated":
            drawn = drawn[rng.integers(0, max(1, rows // 4), rows)]
        case "near":  # products in single precision cannot tell these apart
            drawn = drawn[0] + drawn * 1e-7
        case "uneven" if dtype != "float16":
            drawn *= np.exp(8 * rng.normal(size=(rows, 1)))
        case "tiny" if dtype != "float16":
            drawn *= 1e-30 if dtype == "float32" else 1e-70
        case "huge" if dtype != "float16":
            drawn *= 1e30 if dtype == "float32" else 1e70
    array = drawn.astype(dtype)
    layout = draw(st.sampled_from(["plain", "reversed", "strided", "columns"]))
    if layout == "reversed":
        return array[::-1]
    if layout == "strided":
        return np.repeat(array, 2, axis=0)[::2]
    return np.asfortranarray(array) if layout == "columns" else array


@st.composite
def embeddings(draw: st.DrawFn) -> exactk.Embeddings:
    width = draw(st.sampled_from([1, 2, 7, 8, 9, 17, 32]))
    # More than a tile, so that bounds of one are used in the next.
    rows = draw(st.sampled_from([1, 3, 40, 300, 700]))
    similarity: Any = draw(st.sampled_from(["dot", "cosine", "euclidean"]))
    is_self = rows < 50 and draw(st.booleans())
    types = st.sampled_from(["float16", "float32", "float64"])
    items = draw(vector_matrices(rows, width, draw(types)))
    users = items if is_self else draw(vector_matrices(draw(st.integers(1, 4)), width, draw(types)))
    if similarity == "cosine":
        users, items = (np.where(one.any(axis=1, keepdims=True), one, one.dtype.type(1)) for one in (users, items))
    bias = None
    if similarity == "dot" and draw(st.booleans()):
        bias = np.random.default_rng(draw(st.integers(0, 99))).normal(size=rows).astype(draw(types))
    candidates: Any = None
    ids = st.integers(0, rows - 1)
    if draw(st.integers(0, 3)) == 0:
        candidates = draw(st.one_of(
            st.lists(ids, min_size=1, max_size=rows, unique=True),
            st.lists(st.lists(ids, max_size=20, unique=True), min_size=len(users), max_size=len(users)),
        ))  # fmt: skip
    min_score = draw(st.one_of(st.none(), st.floats(-3, 3)))
    model = exactk.Embeddings(users, items, similarity, None, candidates, bias, is_self)
    if min_score is not None and draw(st.booleans()):  # one that an item has
        min_score = float(exactk.reference.topk(model, rows).scores[0, draw(st.integers(0, rows - 1))])
        min_score = None if math.isnan(min_score) else min_score
    return exactk.Embeddings(users, items, similarity, min_score, candidates, bias, is_self)


def best_or_error(topk: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return topk(*arguments, **options)
    except exactk.ExactkError as error:
        return error


def rows_of_ids(model: exactk.Embeddings, size: int) -> st.SearchStrategy[list[list[int]]]:
    rows = st.lists(st.integers(0, len(model.item_vectors) + 1), max_size=size, unique=True)
    return st.lists(rows, min_size=len(model), max_size=len(model))


@pytest.mark.filterwarnings("ignore:.*no item of exclude:exactk.EvaluationWarning")
@settings(max_examples=examples(150))
@given(data=st.data(), k=st.sampled_from([1, 2, 5, 10, 40]), threads=st.integers(1, 3))
def test_the_best_items_are_those_of_the_reference(data: st.DataObject, k: int, threads: int) -> None:
    model = data.draw(embeddings())
    exclude = data.draw(st.one_of(st.none(), rows_of_ids(model, 20)))
    ties: Any = data.draw(st.sampled_from(["lowest_id", "highest_id", "input_order", "raise"]))
    expected = best_or_error(exactk.reference.topk, model, k, exclude, ties=ties)
    for isa in ("scalar", ""):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EXACTK_ISA", isa)
            result = best_or_error(exactk.topk, model, k, exclude, ties=ties, num_threads=threads)
        if isinstance(expected, exactk.results.TopK):
            assert result.items.tolist() == expected.items.tolist()
            assert np.array_equal(result.scores, expected.scores, equal_nan=True)
        else:
            assert_refused_alike(result, expected)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@settings(max_examples=examples(100))
@given(data=st.data(), threads=st.integers(1, 3))
def test_an_evaluation_is_that_of_the_reference(data: st.DataObject, threads: int) -> None:
    model = data.draw(embeddings())
    truth = exactk.as_truth(data.draw(rows_of_ids(model, 6)))  # lists of all items could be grades, too
    exclude = data.draw(st.one_of(st.none(), rows_of_ids(model, 9)))
    convention = exactk.conventions["standard"].replace(
        ties=data.draw(st.sampled_from(EVERY_TIE)), score_dtype=data.draw(st.sampled_from(["native", "float32"]))
    )
    few = data.draw(st.lists(st.sampled_from(METRICS), min_size=1, max_size=3, unique=True))
    if data.draw(st.booleans()):  # several ways to break ties, in one pass
        few = [f"{metric}(ties={data.draw(st.sampled_from(EVERY_TIE))})" for metric in few]
    options: dict[str, Any] = {"exclude": exclude, "convention": convention, "per_user": True}
    expected = exactk.reference.evaluate(truth, model, few, **options)
    for isa in ("scalar", ""):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EXACTK_ISA", isa)
            report = exactk.evaluate(truth, model, few, num_threads=threads, **options)
        assert report.counts == expected.counts
        for metric in expected.metrics:
            np.testing.assert_allclose(report.per_user[metric], expected.per_user[metric], rtol=4e-16)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("kind", ["normal", "whole", "near", "tiny", "huge"])
@pytest.mark.usefixtures("isa")
def test_the_ranks_of_the_truth_are_those_of_the_scores(kind: str) -> None:
    rng = np.random.default_rng(6)
    items = rng.normal(size=(700, 5))
    if kind == "whole":  # many score the same
        items = np.round(items)
    elif kind == "near":  # no product tells which is better
        items = items[0] + items * 1e-8
    users = np.round(rng.normal(size=(6, 5)))
    scale = {"tiny": 1e-22, "huge": 1e19}.get(kind, 1.0)  # of which many a score is 0 or infinite as float32
    users, items = users * scale, items * scale
    convention = exactk.conventions["standard"].replace(score_dtype="native" if scale == 1 else "float32")
    # Beyond 64 items, all scores are made.
    truth = [rng.permutation(700)[:size].tolist() for size in (0, 1, 2, 64, 65, 300)]
    exclude = [rng.permutation(700)[:size].tolist() for size in (5, 0, 90, 9, 9, 9)]
    least = float(items[7] @ users[2])
    metrics = [f"{name}(ties={ties})" for name in ("auc", "recall@30", "r_precision") for ties in EVERY_TIE]
    for min_score in (None, least):
        model = exactk.Embeddings(users, items, min_score=min_score)
        options: dict[str, Any] = {"exclude": exclude, "convention": convention, "per_user": True}
        report = exactk.evaluate(truth, model, metrics, **options)
        expected = exactk.reference.evaluate(truth, model, metrics, **options)
        assert report.counts == expected.counts
        for metric in expected.metrics:
            np.testing.assert_allclose(report.per_user[metric], expected.per_user[metric], rtol=4e-16)


def test_more_may_be_excluded_than_is_screened() -> None:
    rng = np.random.default_rng(7)
    model = exactk.Embeddings(rng.normal(size=(2, 3)), rng.normal(size=(40_000, 3)))
    exclude = [rng.permutation(40_000)[:39_000].tolist(), [1]]
    assert np.array_equal(exactk.topk(model, 5, exclude).items, exactk.reference.topk(model, 5, exclude).items)
    remaining = [sorted(set(range(40_000)) - set(row))[:3] for row in exclude]
    report = exactk.evaluate(remaining, model, ["auc", "recall@50"], exclude=exclude)
    expected = exactk.reference.evaluate(remaining, model, ["auc", "recall@50"], exclude=exclude)
    assert (report["auc"], report["recall@50"]) == (expected["auc"], expected["recall@50"])


@pytest.mark.usefixtures("isa")
def test_whole_numbers_score_as_numpy_has_it() -> None:
    rng = np.random.default_rng(5)
    users, items = rng.integers(-9, 10, size=(30, 12)), rng.integers(-9, 10, size=(900, 12))
    for dtype in (np.float16, np.float32, np.float64):
        best = exactk.topk(exactk.Embeddings(users.astype(dtype), items.astype(dtype)), 50)
        scores = (users @ items.T).astype(np.float64)
        expected = np.argsort(-scores, axis=1, kind="stable")[:, :50]
        assert np.array_equal(best.items, expected)
        assert np.array_equal(best.scores, np.take_along_axis(scores, expected, axis=1))
        far = exactk.topk(exactk.Embeddings(users.astype(dtype), items.astype(dtype), "euclidean"), 50)
        distances = np.sqrt(((users[:, None] - items) ** 2).sum(axis=2))
        assert np.array_equal(far.scores, -np.sort(distances, axis=1)[:, :50])


def test_the_same_bits_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(8)
    items = rng.normal(size=(3000, 24)).astype(np.float32)
    model = exactk.Embeddings(rng.normal(size=(700, 24)).astype(np.float32), items, "cosine")
    truth = rng.integers(0, 3000, size=(700, 1))
    values = [exactk.evaluate(truth, model, ["ndcg@10"], num_threads=n).state.to_bytes() for n in (1, 2, 3, 7)]
    assert len(set(values)) == 1


@pytest.mark.filterwarnings("ignore:.* relevant items? (is|are) in exclude")
@pytest.mark.usefixtures("isa")
def test_an_evaluation_is_that_of_the_lists_of_topk() -> None:
    rng = np.random.default_rng(2)
    users, items = rng.normal(size=(50, 20)), rng.normal(size=(2000, 20))
    truth, seen = rng.permuted(np.tile(np.arange(2000), (50, 1)), axis=1)[:, :4], rng.integers(0, 2000, size=(50, 1))
    groups = rng.integers(0, 3, size=50)
    model = exactk.Embeddings(users, items)
    lists = exactk.topk(model, 20, seen).items
    report = exactk.evaluate(truth, model, ["ndcg@20", "recall@5"], exclude=seen, groups=groups)
    expected = exactk.evaluate(truth, lists, ["ndcg@20", "recall@5"], groups=groups)
    assert report["ndcg@20"] == expected["ndcg@20"]
    assert report.by_group[1]["recall@5"] == expected.by_group[1]["recall@5"]


NARROW: dict[str, tuple[str, float, float]] = {  # similarity, length of users, of items
    "the user far from all": ("euclidean", 1000.0, 1.0),
    "too long": ("dot", 1e25, 1e25),
    "too far": ("euclidean", 1e39, 1e39),
    "the items too far": ("euclidean", 1.0, 1e39),
    "too short": ("dot", 1e-25, 1e-20),
    "of no length": ("dot", 1e-30, 1e-30),
    "near each other": ("cosine", 1.0, 1.0),
}
"""Scores that round to infinity, to zero, or to one number, though products of the vectors differ."""


@pytest.mark.parametrize("name", NARROW)
def test_f08_scores_that_are_one_when_narrowed_are_tied(name: str) -> None:
    similarity: Any
    similarity, long, short = NARROW[name]
    rng = np.random.default_rng(5)
    users, items = long * rng.normal(size=(3, 4)), short * (1 + 1e-3 * rng.normal(size=(2000, 4)))
    convention = exactk.conventions["standard"].replace(score_dtype="float32")
    model = exactk.Embeddings(users, items, similarity)
    with np.errstate(over="ignore"):
        scores = [similarities(model, user).astype(np.float32) for user in range(3)]
    best = [np.argsort(-row, kind="stable")[:9] for row in scores]
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        assert evaluate(best, model, "precision@9", convention=convention)["precision@9"] == 1


@pytest.mark.usefixtures("isa")
def test_blocks_are_evaluated_as_the_whole() -> None:
    rng = np.random.default_rng(4)
    users, items = rng.normal(size=(60, 9)), rng.normal(size=(500, 9))
    truth = rng.integers(0, 500, size=(60, 3)).tolist()

    def blocks() -> Iterator[tuple[object, object]]:
        for begin in range(0, 60, 20):
            yield truth[begin : begin + 20], exactk.Embeddings(users[begin : begin + 20], items)

    convention = exactk.conventions["standard"].replace(duplicate_truth="first")
    whole = exactk.evaluate(truth, exactk.Embeddings(users, items), ["recall@30"], convention=convention)
    assert exactk.evaluate(None, blocks(), ["recall@30"], convention=convention).state == whole.state


def test_a_vector_is_exactly_as_similar_to_itself_as_can_be() -> None:
    drawn = np.random.default_rng(1).normal(size=(200, 33)).astype(np.float32)
    assert (exactk.neighbors(drawn, 1, exclude_self=False).scores == 1).all()
    assert (exactk.neighbors(drawn, 1, "euclidean", exclude_self=False).scores == 0).all()
    assert not np.signbit(exactk.neighbors(drawn, 1, "euclidean", exclude_self=False).scores).any()


def test_neighbors_leave_out_the_vector_itself_and_what_is_too_far() -> None:
    drawn = np.random.default_rng(1).normal(size=(300, 6))
    exact = exactk.neighbors(drawn, 299)
    assert all(sorted(row) == sorted(set(range(300)) - {user}) for user, row in enumerate(exact.items.tolist()))
    near = exactk.neighbors(drawn, 299, min_score=0.5)
    assert ((near.items >= 0) == (exact.scores >= 0.5)).all()
    assert np.array_equal(near.items[near.items >= 0], exact.items[exact.scores >= 0.5])
    assert exactk.recall_at_k(near.items, exact.items, k=299) == 1


def test_exclude_self_adds_to_what_is_excluded() -> None:
    drawn = np.random.default_rng(1).normal(size=(4, 3))
    model = exactk.Embeddings(drawn, drawn, exclude_self=True)
    best = exactk.topk(model, 4, exclude=[[1], [], [3, 2], []])
    assert [sorted(row) for row in best.items.tolist()] == [
        [-1, -1, 2, 3],
        [-1, 0, 2, 3],
        [-1, -1, 0, 1],
        [-1, 0, 1, 2],
    ]
    with pytest.raises(exactk.InputError, match="exclude"):
        exactk.topk(model, 4, exclude=[[1]])


def test_min_score_and_candidates_and_bias() -> None:
    users = np.array([[1.0, 0.0]])
    items = np.array([[3.0, 0], [2, 5], [1, 1], [0, 0]])
    bias = np.array([0.0, 2, 0, 9])
    assert exactk.topk(exactk.Embeddings(users, items, item_bias=bias), 4).items.tolist() == [[3, 1, 0, 2]]
    model = exactk.Embeddings(users, items, min_score=2, candidates=[1, 2, 3], item_bias=bias)
    assert exactk.topk(model, 4).scores.tolist()[0][:2] == [9, 4]
    assert exactk.topk(model, 4).items.tolist() == [[3, 1, -1, -1]]
    report = exactk.evaluate([[1]], model, ["precision@2"])
    assert report.counts["candidates"] == {"min": 3, "mean": 3.0, "max": 3}


def test_embeddings_survive_pickling() -> None:
    drawn = np.random.default_rng(3).normal(size=(20, 4))
    model = exactk.Embeddings(drawn, drawn, "cosine", 0.25, [1, 5, 7], exclude_self=True)
    loaded = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert np.array_equal(exactk.topk(loaded, 3).items, exactk.topk(model, 3).items)


LAYOUTS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "other byte order": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "columns side by side": np.asfortranarray,
    "every second row": lambda array: np.repeat(array, 2, axis=0)[::2],
    "every second number": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "backwards": lambda array: np.flip(np.flip(array).copy()),
    "unaligned": lambda array: np.frombuffer(b"x" + array.tobytes(), array.dtype, array.size, 1).reshape(array.shape),
    "part of a wider one": lambda array: np.pad(array, ((0, 0), (1, 2)))[:, 1:-2] if array.ndim == 2 else array,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_f06_vectors_are_what_their_elements_say(layout: str, dtype: type[np.floating[Any]]) -> None:
    rng = np.random.default_rng(6)
    users, items, bias = (rng.normal(size=shape).astype(dtype) for shape in ((9, 7), (300, 7), 300))
    expected = exactk.topk(exactk.Embeddings(users, items, item_bias=bias), 5)
    arrays = [LAYOUTS[layout](array) for array in (users, items, bias)]
    for array in arrays:
        array.flags.writeable = False
    best = exactk.topk(exactk.Embeddings(arrays[0], arrays[1], item_bias=arrays[2]), 5)
    assert np.array_equal(best.items, expected.items)
    assert np.array_equal(best.scores, expected.scores)


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.usefixtures("isa")
def test_f08_a_number_that_is_none_is_refused(similarity: Any, bad: float) -> None:
    good, wrong = np.ones((400, 5), np.float32), np.ones((400, 5), np.float32)
    wrong[[271, 300], [3, 1]] = bad
    for users, items, argument in ((wrong, good, "embeddings.user_vectors"), (good, wrong, "embeddings.item_vectors")):
        model = exactk.Embeddings(users, items, similarity)
        for call in (exactk.topk, exactk.reference.topk):
            with pytest.raises(exactk.InputError, match=rf"{argument}.*finite") as caught:
                call(model, 2)
            assert (caught.value.argument, caught.value.count) == (argument, 2)
            assert (caught.value.row, caught.value.position) == (271, 3)
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        with pytest.raises(exactk.InputError, match=r"embeddings\.item_vectors"):
            evaluate([[1]] * 3, exactk.Embeddings(good[:3], wrong, similarity), "recall@1")


@pytest.mark.parametrize("evaluate", [exactk.topk, exactk.reference.topk], ids=["core", "reference"])
def test_a_vector_without_a_direction_has_no_cosine(evaluate: Any) -> None:
    items = np.ones((5, 2))
    items[3] = 0
    with refused("embeddings.item_vectors: vector too long or too short", "length 0") as caught:
        evaluate(exactk.Embeddings(items[:1], items, "cosine"), 2)
    assert caught.value.row == 3
    with pytest.raises(exactk.InputError, match=r"vectors.*length 0"):
        exactk.neighbors(items, 2)
    assert evaluate(exactk.Embeddings(items[:1], items), 5).items.tolist() == [[0, 1, 2, 4, 3]]
    with refused("embeddings.user_vectors: vector too long or too short", r"2\^250"):
        evaluate(exactk.Embeddings(np.full((1, 2), 1e90), items), 2)
    bias = np.array([0, 1, math.nan, 0, 0])
    with refused("embeddings.item_bias: number out of range", r"2\^250"):
        evaluate(exactk.Embeddings(items, items, item_bias=bias), 2)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"user_vectors": np.ones((2, 3))}, exactk.InputError, "embeddings.item_vectors.*users"),
        ({"user_vectors": np.ones(2)}, exactk.InputTypeError, "embeddings.user_vectors.*dimension"),
        ({"user_vectors": np.ones((2, 2), int)}, exactk.InputTypeError, "embeddings.user_vectors.*float"),
        ({"item_vectors": np.ones((2, 2), np.complex128)}, exactk.InputTypeError, "embeddings.item_vectors.*float"),
        ({"item_vectors": np.ones((2, 2), np.longdouble)}, exactk.InputTypeError, "embeddings.item_vectors.*float"),
        ({"user_vectors": np.ones((2, 0)), "item_vectors": np.ones((2, 0))}, exactk.InputError, "1 to 65536"),
        ({"user_vectors": np.ones((1, 65537)), "item_vectors": np.ones((1, 65537))}, exactk.InputError, "1 to 65536"),
        ({"similarity": "manhattan"}, exactk.InputError, "similarity"),
        ({"similarity": 3}, exactk.InputError, "similarity"),
        ({"min_score": math.nan}, exactk.InputError, "min_score"),
        ({"min_score": "0.5"}, exactk.InputTypeError, "min_score"),
        ({"candidates": [0, 9]}, exactk.InputError, "candidates"),
        ({"item_bias": np.ones(3)}, exactk.InputError, "embeddings.item_bias"),
        ({"item_bias": np.ones((2, 1))}, exactk.InputTypeError, "embeddings.item_bias"),
        ({"item_bias": np.ones(2), "similarity": "cosine"}, exactk.InputError, "item_bias.*dot"),
        ({"exclude_self": 1}, exactk.InputTypeError, "exclude_self"),
        ({"user_vectors": np.ones((3, 2)), "exclude_self": True}, exactk.InputError, "exclude_self"),
    ],
)
def test_f05_embeddings_are_what_they_must_be(arguments: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        exactk.Embeddings(**({"user_vectors": np.ones((2, 2)), "item_vectors": np.ones((2, 2))} | arguments))


def test_other_users_or_candidates_twice_are_refused() -> None:
    drawn = np.ones((3, 2))
    with pytest.raises(exactk.InputError, match="predictions"):
        exactk.evaluate([[0]], exactk.Embeddings(drawn, drawn), "recall@1")
    model = exactk.Embeddings(drawn, drawn, candidates=[0, 1])
    with pytest.raises(exactk.InputError, match="candidates"):
        exactk.topk(model, 1, candidates=[0])
    with pytest.raises(exactk.InputError, match="candidates"):
        exactk.topk(exactk.Embeddings(drawn, drawn), 1, candidates=[3])


def test_nobody_and_nothing() -> None:
    none, some = np.empty((0, 3)), np.ones((2, 3))
    assert exactk.topk(exactk.Embeddings(none, some), 2).items.shape == (0, 2)
    assert exactk.topk(exactk.Embeddings(some, none), 2).items.tolist() == [[-1, -1]] * 2
    with pytest.warns(exactk.EvaluationWarning, match="no column"):
        assert exactk.evaluate([[0], [1]], exactk.Embeddings(some, none), "recall@2")["recall@2"] == 0
