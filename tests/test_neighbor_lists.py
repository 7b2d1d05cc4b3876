"""What an index of neighbours returns is a ranking of its ids, if its distances say that they are best first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._inputs.containers import arrays
from rankings import rankings_of
from strategies import examples

IDS = np.array([[4, 2, 1], [3, -1, -1], [-1, -1, -1], [9, 0, 7]])
RISING = np.array([[0, 0.5, 0.5], [0.25, np.inf, np.inf], [np.inf] * 3, [-1e-7, 0, 2]], np.float32)
LISTS = [[4, 2, 1], [3], [], [9, 0, 7]]
PADDING_DISTANCE = np.finfo(np.float32).max  # what faiss writes beside its -1
COUNTS = np.array([3, 1, 0, 3])


def lists(rankings: exactk.Rankings) -> list[list[int]]:
    return [rankings.row(user).tolist() for user in range(len(rankings))]


def rankings_error(value: Any, kind: type[exactk.ExactkError] = exactk.InputError) -> exactk.ExactkError:
    with pytest.raises(kind) as caught:
        rankings_of(value)
    assert type(caught.value) is kind
    assert caught.value.argument == "predictions"
    return caught.value


def row_location(error: exactk.ExactkError) -> tuple[Any, ...]:
    return (error.row, error.position, error.count)


def usearch_form(ids: Any, distances: Any, counts: Any) -> SimpleNamespace:
    return SimpleNamespace(keys=ids, distances=distances, counts=counts)


TOP_INDPTR, TOP_ITEMS = [0, 3, 4, 4, 7], [1, 2, 4, 3, 7, 0, 9]
FORMS: dict[str, Any] = {
    "distances second": (IDS, RISING),
    "distances first": (np.where(IDS < 0, PADDING_DISTANCE, RISING), IDS),
    "similarities": (np.where(IDS < 0, -PADDING_DISTANCE, 1 - RISING), IDS),
    "NaN beside the padding": (IDS, np.where(IDS < 0, np.nan, RISING)),
    "what the padding rises to falls": (np.where(IDS < 0, -PADDING_DISTANCE, RISING), IDS),
    "int32, float64": (IDS.astype(np.int32), RISING.astype(np.float64)),
    "int16, float16": (IDS.astype(np.int16), RISING.astype(np.float16)),
    "strided": (np.repeat(IDS, 2, axis=1)[:, ::2], np.asfortranarray(RISING)),
    "counts": usearch_form(np.maximum(IDS, 0).astype(np.uint64), np.where(IDS < 0, np.nan, RISING), COUNTS),
    "TopK": exactk.topk(exactk.SparseScores(TOP_INDPTR, TOP_ITEMS, [1.0, 2, 3, 1, 1, 2, 3]), 3),
    "TopK of integers": exactk.topk(exactk.SparseScores(TOP_INDPTR, TOP_ITEMS, [1, 2, 3, 1, 1, 2, 3]), 3),
    "TopK of NaN": exactk.topk(
        exactk.SparseScores(TOP_INDPTR, TOP_ITEMS, [np.nan, -3, -2, np.nan, np.nan, -3, -2]), 3, nan="last"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    assert lists(rankings_of(FORMS[form])) == LISTS
    truth = [[2], [1, 3], [5], [7, 9]]
    metrics = ["precision@2", "recall", "ndcg@3"]
    assert exactk.evaluate(truth, FORMS[form], metrics) == exactk.evaluate(truth, LISTS, metrics)
    assert exactk.evaluate(FORMS[form], truth, metrics) == exactk.evaluate(LISTS, truth, metrics)
    best = exactk.topk(np.zeros((4, 10)), 3, candidates=FORMS[form])
    assert lists(rankings_of(best.items)) == list(map(sorted, LISTS))
    assert exactk.topk(np.zeros((4, 10)), 10, exclude=FORMS[form]).items[1].tolist() == [0, 1, 2, *range(4, 10), -1]


def test_ids_are_viewed() -> None:
    assert np.shares_memory(rankings_of((IDS, RISING)).items, IDS)


def test_nobody_and_nothing() -> None:
    for shape in [(0, 3), (2, 0), (2, 1)]:
        assert len(rankings_of((np.zeros(shape, np.int64), np.zeros(shape)))) == shape[0]
    assert len(rankings_of(usearch_form(np.zeros((0, 3), np.uint64), np.zeros((0, 3)), np.zeros(0, int)))) == 0


def test_hnswlib_has_unsigned_labels() -> None:
    """It is compiled where it is installed, which takes too long here: this is what it returned."""
    labels = np.array([[0, 16, 11], [1, 7, 3]], np.uint64)
    distances = np.array([[-2.3841858e-07, 0.13399231, 0.21595562], [1.1920929e-07, 0.12990707, 0.14711612]])
    assert lists(rankings_of((labels, distances.astype(np.float32)))) == labels.tolist()


def test_one_query_of_usearch_is_one_user() -> None:
    assert lists(rankings_of(SimpleNamespace(keys=IDS[0], distances=RISING[0]))) == LISTS[:1]


@pytest.mark.parametrize("pair", [([[1]], [[0.5]]), (IDS, RISING, RISING), (IDS,), (IDS.tolist(), RISING)])
def test_f07_other_tuples_are_refused_as_before(pair: Any) -> None:
    assert "ids and distances from a nearest-neighbor index" in str(rankings_error(pair, exactk.InputTypeError))


MALFORMED: dict[str, tuple[Any, type[exactk.ExactkError], str]] = {
    "shapes differ": ((IDS, RISING[:, :2]), exactk.InputError, "(4, 3), found (4, 2)"),
    "both integers": ((IDS, IDS), exactk.InputTypeError, "found int64 and int64; (ids, distances.astype(float))"),
    "both floats": ((RISING, RISING), exactk.InputTypeError, "found float32 and float32"),
    "flags": ((IDS > 0, RISING), exactk.InputTypeError, "found bool and float32"),
    "one dimension": ((IDS[0], RISING[0]), exactk.InputTypeError, "a two-dimensional array, found shape (3,)"),
    "masked": ((np.ma.array(IDS), RISING), exactk.InputTypeError, "MaskedArray"),
    "counts beyond k": (usearch_form(IDS, RISING, COUNTS + 1), exactk.InputError, "0 to 3, found 4"),
    "counts below 0": (usearch_form(IDS, RISING, COUNTS - 1), exactk.InputError, "found -1"),
    "too few counts": (usearch_form(IDS, RISING, COUNTS[1:]), exactk.InputError, "one count per user (4), found 3"),
    "counts that are floats": (usearch_form(IDS, RISING, COUNTS * 1.0), exactk.InputTypeError, "float64"),
    "keys and distances differ": (usearch_form(IDS, RISING[1:], COUNTS), exactk.InputError, "(3, 3)"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_f07_malformed(case: str) -> None:
    value, kind, message = MALFORMED[case]
    error = rankings_error(value, kind)
    assert message in str(error)
    located = {"counts beyond k": (0, None, 2), "counts below 0": (2, None, 1)}
    assert row_location(error) == located.get(case, (None, None, 1))


def test_f08_a_distance_is_no_nan() -> None:
    distances = RISING.copy()
    distances[0, 2] = distances[3, 0] = np.nan
    for value in [(distances, IDS), usearch_form(IDS, distances, COUNTS)]:
        error = rankings_error(value)
        assert row_location(error) == (0, 2, 2)
        assert "a distance for each id, found nan" in str(error)


def test_f03_padding_stands_at_the_end() -> None:
    for hole in [0.25, np.nan, PADDING_DISTANCE, -PADDING_DISTANCE]:
        for sign in [1, -1]:
            distances = sign * np.array([[0.0, 0.5, 0.5], [0.0, hole, 1.0]])
            with pytest.raises(exactk.InputError, match="-1 at row 1, position 1"):
                exactk.evaluate([[1], [2]], (np.array([[1, 2, 3], [4, -1, 5]]), distances), "recall@2")


def test_f03_minus_1_as_an_unsigned_id_is_refused() -> None:
    """No index returns it: hnswlib raises where it finds too few, usearch counts."""
    with pytest.raises(exactk.InputError, match="18446744073709551615 at row 1, position 1"):
        exactk.evaluate([[]] * 4, (IDS.astype(np.uint64), np.zeros(IDS.shape)), "P@1")


def test_rows_of_both_directions_are_refused() -> None:
    """The fault is what fewer steps do, be it a whole row; between as many, what the first one does not."""
    falling_row = np.array([[0.0, 0.5, 0.5], [1.0, 0.75, 0.5], [0.0, 0.0, 1.0], [2.0, 3.0, 4.0]])
    ids = np.arange(3) + np.zeros((4, 1), np.int64)
    error = rankings_error((ids, falling_row))
    assert row_location(error) == (1, 1, 2)
    assert "distances that rise in each row, found 0.75 after 1.0" in str(error)
    error = rankings_error((-falling_row, ids))
    assert row_location(error) == (1, 1, 2)
    assert "distances that fall in each row, found -0.75 after -1.0" in str(error)
    assert row_location(rankings_error((ids[:2], falling_row[1:3]))) == (1, 2, 1)
    assert row_location(rankings_error((ids[:2, :2], falling_row[:2, :2]))) == (1, 1, 1)


def test_one_item_out_of_order() -> None:
    distances = RISING.copy()
    distances[3] = [-1e-7, 2, 0]
    error = rankings_error((distances, IDS))
    assert row_location(error) == (3, 2, 1)
    assert "found 0.0 after 2.0" in str(error)


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_positions_are_those_of_a_loop(data: st.DataObject) -> None:
    """Few rows at a time, and the first fault is still reported in rows of the whole."""
    users, width = data.draw(st.integers(1, 6)), data.draw(st.integers(2, 4))
    values = st.sampled_from([0.0, 0.5, 1.0, np.nan, np.inf])
    row = st.lists(values, min_size=width, max_size=width)
    order_row: Any = data.draw(st.sampled_from([lambda row: row, sorted, lambda row: sorted(row, reverse=True)]))
    distances = np.array([order_row(data.draw(row)) for _ in range(users)])
    lengths = np.array([data.draw(st.integers(0, width)) for _ in range(users)])
    ids = np.where(np.arange(width) < lengths[:, None], np.arange(width), -1)
    cells = [(user, position) for user in range(users) for position in range(lengths[user])]
    nans = [cell for cell in cells if np.isnan(distances[cell])]
    pairs = [(cell, distances[cell], distances[cell[0], cell[1] - 1]) for cell in cells if cell[1] > 0]
    steps = [(cell, float(np.sign(number - before))) for cell, number, before in pairs if number != before]
    signs = [sign for _, sign in steps]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_CHUNK_SIZE", data.draw(st.sampled_from([1, 2 * width, 1 << 20])))
        if nans:
            assert row_location(rankings_error((ids, distances))) == (*nans[0], len(nans))
        elif len(set(signs)) == 2:
            wrong = -signs[0] if signs.count(signs[0]) >= signs.count(-signs[0]) else signs[0]
            faults = [cell for cell, sign in steps if sign == wrong]
            assert row_location(rankings_error((ids, distances))) == (*faults[0], len(faults))
        else:
            assert lists(rankings_of((ids, distances))) == [list(range(length)) for length in lengths]


def unit_vectors() -> np.ndarray[Any, np.dtype[np.float32]]:
    """Every fifth one is there twice, so that distances are equal, and those of a vector to itself not quite 0."""
    drawn = np.random.default_rng(3).normal(size=(400, 24)).astype(np.float32)
    drawn[::5] = drawn[1::5]
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def recall(exact: Any, approximate: Any, k: int = 20) -> float:
    return exactk.recall_at_k(exact, approximate, k=k, convention="brute_force_hnsw")


@pytest.mark.native
def test_faiss() -> None:
    faiss = pytest.importorskip("faiss")
    faiss.omp_set_num_threads(1)
    given = unit_vectors()
    size = given.shape[1]
    for metric in (faiss.METRIC_INNER_PRODUCT, faiss.METRIC_L2):
        exact = faiss.IndexFlat(size, metric)
        exact.add(given)
        graph = faiss.IndexHNSWFlat(size, 8, metric)
        graph.add(given)
        cells = faiss.index_factory(size, "IVF16,Flat", metric)
        cells.cp.min_points_per_centroid = 1
        cells.train(given)
        cells.add(given)
        truth = exact.search(given, 20)
        assert recall(truth, (*truth,)) == 1
        assert 0.5 < recall(truth, graph.search(given, 20)) <= 1
        few = cells.search(given, 100)  # one cell holds fewer
        lengths = np.diff(exactk.as_truth(few).indptr)
        assert lengths.min() < 100
        assert np.array_equal(lengths, (few[1] >= 0).sum(axis=1))
        assert 0.1 < recall(truth, few) < 1
        assert len(rankings_of(exact.search(given, 500))) == 400  # more than there are


@pytest.mark.native
def test_usearch() -> None:
    index_of = pytest.importorskip("usearch.index")
    given = unit_vectors()
    for metric in ("cos", "ip", "l2sq"):
        for dtype in ("f32", "f16", "bf16", "i8"):
            index = index_of.Index(ndim=given.shape[1], metric=metric, dtype=dtype)
            index.add(np.arange(len(given)), given, threads=1)
            exact = index.search(given, 20, exact=True, threads=1)
            assert 0.5 < recall(exact, index.search(given, 20, threads=1)) <= 1
            assert len(rankings_of(index.search(given[0], 20))) == 1
    index = index_of.Index(ndim=given.shape[1])
    index.add(np.arange(7), given[:7])
    few = index.search(given, 20)
    assert np.array_equal(np.diff(exactk.as_truth(few).indptr), np.full(400, 7))


@pytest.mark.native
def test_scikit_learn() -> None:
    neighbors = pytest.importorskip("sklearn.neighbors")
    for dtype in (np.float32, np.float64):
        given = unit_vectors().astype(dtype)
        for options in ({"metric": "cosine"}, {"algorithm": "brute"}, {"algorithm": "ball_tree"}):
            pair = neighbors.NearestNeighbors(**options).fit(given).kneighbors(given, 20)
            assert recall(pair, (*pair,)) == 1
