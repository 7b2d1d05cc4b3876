"""Features of `exactk.Items`: vectors and tags in every container are in the order of the catalogue."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, strategies as st

import exactk

CATALOGUE = ["song", "film", "book"]
VECTORS = [[1.0, 0.0], [0.5, -2.0], [0.0, 3.0]]
TAGS = [["rock", "live"], ["drama"], []]
ORDER = [2, 1, 0]  # of the catalogue by key


def features_of(items: exactk.Items) -> Any:
    return items.table.features


def dense(features: Any) -> list[list[float]]:
    """Return the vectors as lists, of sparse ones too."""
    if features.vectors is not None:
        return [*features.vectors.tolist()]
    size = len(features.indptr) - 1
    weights = np.ones(len(features.columns)) if features.weights is None else features.weights
    matrix = scipy.sparse.csr_array((weights, features.columns, features.indptr), shape=(size, features.width))
    return [list(map(float, row)) for row in matrix.toarray()]


def tags(features: Any) -> list[set[int | str]]:
    rows = np.split(features.columns, features.indptr[1:-1])
    assert all(row.tolist() == sorted(set(row.tolist())) for row in rows)
    return [{features.tags[column] for column in row} for row in rows]


def by_item(values: list[Any]) -> dict[str, Any]:
    return dict(zip(CATALOGUE, values, strict=True))


COLUMNS = {"item": CATALOGUE, "x": [row[0] for row in VECTORS], "y": [row[1] for row in VECTORS]}
DENSE: dict[str, Any] = {
    "array": np.array(VECTORS),
    "fortran": np.asfortranarray(VECTORS),
    "list": VECTORS,
    "list of arrays": list(map(np.array, VECTORS)),
    "mapping": by_item(VECTORS),
    "mapping of arrays": by_item(list(map(np.array, VECTORS))),
    "pandas": pd.DataFrame(COLUMNS).sample(frac=1, random_state=2),
    "index": pd.DataFrame(COLUMNS).set_index("item"),
    "polars": pl.DataFrame(COLUMNS)[::-1],
    "lazy": pl.LazyFrame(COLUMNS),
    "arrow": pa.table(COLUMNS),
    "lists in a frame": pl.DataFrame({"item": CATALOGUE, "vector": VECTORS}),
    "Series": pd.Series(by_item(VECTORS)),
    "Polars Series": pl.Series(VECTORS),
    "float32": np.array(VECTORS, np.float32),
}
SPARSE: dict[str, Any] = {
    "csr": scipy.sparse.csr_array(np.array(VECTORS)),
    "csc": scipy.sparse.csc_matrix(np.array(VECTORS)),
    "coo": scipy.sparse.coo_array(([0.0, 3.0, -2.0, 0.5, 1.0], ([0, 2, 1, 1, 0], [1, 1, 1, 0, 0])), shape=(3, 2)),
}
TAGGED: dict[str, Any] = {
    "list": TAGS,
    "mapping": by_item(TAGS),
    "sets": by_item(list(map(set, TAGS))),
    "tuples": list(map(tuple, TAGS)),
    "pandas": pd.DataFrame({"item": CATALOGUE, "tags": TAGS}),
    "polars": pl.DataFrame({"item": CATALOGUE, "tags": TAGS})[::-1],
    "Series": pd.Series(TAGS, index=CATALOGUE),
    "default Series": pd.Series(TAGS),
    "Polars Series": pl.Series(TAGS),
    "Arrow": pa.array(TAGS),
}


@pytest.mark.parametrize("form", DENSE)
def test_dense_vectors(form: str) -> None:
    items = exactk.Items(CATALOGUE, features=DENSE[form])
    features = features_of(items)
    assert dense(features) == [VECTORS[i] for i in ORDER]
    assert not features.is_missing.any()
    assert features.vectors.dtype == (np.float32 if form == "float32" else np.float64)
    assert items.table.digest == exactk.Items(CATALOGUE, features=VECTORS).table.digest
    assert repr(items) == "<Items: 3 items (str), features of 2 dimensions>"


@pytest.mark.parametrize("form", SPARSE)
def test_sparse_vectors_have_no_zeros(form: str) -> None:
    items = exactk.Items(CATALOGUE, features=SPARSE[form])
    features = features_of(items)
    assert dense(features) == [VECTORS[i] for i in ORDER]
    assert (features.weights != 0).all()
    assert items.table.digest == exactk.Items(CATALOGUE, features=SPARSE["csr"]).table.digest


@pytest.mark.parametrize("form", TAGGED)
def test_tags(form: str) -> None:
    items = exactk.Items(CATALOGUE, features=TAGGED[form])
    features = features_of(items)
    assert features.tags == ("drama", "live", "rock")
    assert tags(features) == [set(TAGS[i]) for i in ORDER]
    assert features.weights is None
    assert not features.is_missing.any()  # no tags are not missing tags
    assert items.table.digest == exactk.Items(CATALOGUE, features=TAGS).table.digest
    assert repr(items) == "<Items: 3 items (str), 3 tags>"


GENRES = [{8, 1}, {1, 9}, set()]


@pytest.mark.parametrize("features", [
    GENRES, by_item(GENRES), by_item(list(map(frozenset, GENRES))), pd.Series(GENRES, index=CATALOGUE),
    pd.DataFrame({"item": CATALOGUE, "genres": GENRES}), pd.DataFrame({"genres": GENRES}, index=CATALOGUE),
], ids=["list", "mapping", "frozensets", "Series", "frame", "index"])  # fmt: skip
def test_sets_of_integers_are_tags(features: Any) -> None:
    items = exactk.Items(CATALOGUE, features=features)
    table = features_of(items)
    assert table.tags == (1, 8, 9)
    assert tags(table) == [set(), {1, 9}, {1, 8}]
    report = exactk.evaluate(None, [["song", "film"]], "ild(distance=jaccard)", items=items)
    assert report["ild(distance=jaccard)"] == pytest.approx(2 / 3, rel=1e-15)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"item": ["film", "song", "song"], "tag": ["drama", "rock", "live"]}).groupby("item")["tag"].agg(list),
        pd.DataFrame({"tag": ["drama", "rock", "live"]}, index=["film", "song", "song"]).groupby(level=0)["tag"].agg(list),
        pl.DataFrame({"item": ["film", "song", "song"], "tag": ["drama", "rock", "live"]}).group_by("item").agg("tag"),
    ],
    ids=["pandas", "index", "polars"],
)  # fmt: skip
def test_rows_of_one_tag_become_lists(frame: Any) -> None:
    assert tags(features_of(exactk.Items(CATALOGUE, features=frame))) == [set(), {"drama"}, {"rock", "live"}]


@pytest.mark.parametrize(("features", "kind"), [({"film": [1, 2]}, "vectors"), ({"film": ["drama"]}, "tags")])
def test_items_may_have_none(features: dict[str, Any], kind: str) -> None:
    table = features_of(exactk.Items(CATALOGUE, features=features))
    assert table.is_missing.tolist() == [True, False, True]
    if kind == "vectors":
        assert dense(table) == [[0, 0], [1, 2], [0, 0]]
    else:
        assert tags(table) == [set(), {"drama"}, set()]


DRAWN_TAGS = st.lists(st.sampled_from(["a", "b", "Z", "é", "10", "9"]), max_size=4, unique=True)


@given(st.lists(DRAWN_TAGS, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_drawn_tags_are_those_of_each_item(rows: list[list[str]], random: Any) -> None:
    keys = list(range(len(rows)))
    random.shuffle(keys)
    features = dict(zip(keys, rows, strict=True))
    table = features_of(exactk.Items(keys, features=features))
    assert tags(table) == [set(features[key]) for key in range(len(rows))]
    assert list(table.tags or ()) == sorted({tag for row in rows for tag in row})


def test_digests_tell_features_apart() -> None:
    different: list[Any] = [
        None, VECTORS, SPARSE["csr"], TAGS, [*TAGS[:2], ["drama"]], [["Rock", "live"], *TAGS[1:]],
        VECTORS[::-1], {"film": VECTORS[1]}, [[*row, 0.0] for row in VECTORS], by_item(VECTORS) | {"book": [0.0, 2.0]},
        {"film": ["drama"]}, {"film": ["drama"], "song": []},
    ]  # fmt: skip
    assert len({exactk.Items(CATALOGUE, features=one).table.digest for one in different}) == len(different)


@pytest.mark.parametrize("features", [VECTORS, TAGS, SPARSE["csr"], {"film": [1.0]}])
def test_features_survive_pickling(features: Any) -> None:
    items = exactk.Items(CATALOGUE, features=features)
    copy = pickle.loads(pickle.dumps(items))  # noqa: S301 - our own
    assert copy.table.digest == items.table.digest
    assert repr(copy) == repr(items)


def test_the_caller_may_change_what_was_given() -> None:
    array, matrix = np.array(VECTORS), scipy.sparse.csr_array(np.array(VECTORS))
    tables = [features_of(exactk.Items(CATALOGUE, features=one)) for one in (array, matrix)]
    array[:] = 7
    matrix.data[:] = 7
    matrix.indices[:] = 0
    assert all(dense(table) == [VECTORS[i] for i in ORDER] for table in tables)


MISSING: Any = {"item": CATALOGUE, "tags": [["a"], None, []]}
JOINED = {"item": ["film", "song", "book"], "genre": ["drama|short", "rock", "live; acoustic"]}
WORDS: Any = {"item": CATALOGUE, "genre": ["a", "b", "c"]}
FAULTS: dict[str, Any] = {
    "features: expected one entry per item of the catalogue (3), found 2": VECTORS[:2],
    "features: expected items of the catalogue, found item 'play', which is not in it": {"play": [1.0]},
    "features: expected vectors of one length (2), found 1 at row 1": [[1.0, 2.0], [1.0], [2.0, 1.0]],
    "features: expected finite numbers, found NaN or infinity of item 'film' at row 1": by_item([[1.0], [np.nan], [np.inf]]),
    "features: expected finite numbers, found NaN or infinity at row 2": np.array([[0.0], [1.0], [np.inf]]),
    "features: expected finite numbers, found NaN or infinity at row 0": scipy.sparse.csr_array([[np.nan]] * 3),
    "features: expected at least one feature, found none": np.zeros((3, 0)),
    "features: expected each tag of an item once, found one again at row 0": [["a", "b", "a"], [], []],
    "features: expected each column of an item once, found one again at row 0": scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(3, 2)),
    "found str at row 0; a list of strings, or a set, has the tags of an item": ["rock|live", "drama", ""],
    "a vector or a list of tags of each item, found None at row 1; leave out the item": [["a"], None, ["b"]],
    "a vector or a list of tags of each item, found nan of item 'film' at row 1; leave out": by_item([["a"], np.nan, ["b"]]),
    "expected a value in every entry, found None of item 'film' at row 1, position 1; leave out": by_item([["a"], ["b", None], []]),
    "expected a value in every entry, found nan of item 'song' at row 0, position 1; leave out": pd.Series(by_item([["a", np.nan], [], []])),
    "features.tags: expected a list in every row, found NoneType at row 1 of the frame; leave out": pd.DataFrame(MISSING),
    "features.tags: expected a list in every row, found 1 null at row 1 of the frame; leave out": pl.DataFrame(MISSING),
    "vectors of one length (2), found 1 of item 'film' at row 1; tags are strings, or integers in sets": by_item([[8, 1], [1], [2, 3]]),
    "vectors of one length (2), found 3 of item 'book' at row 2; tags are": pl.DataFrame({"item": CATALOGUE, "tags": [[8, 1], [1, 2], [2, 3, 4]]}),
    "found item and item_id; drop or rename item_id": pd.DataFrame({"item": CATALOGUE, "item_id": CATALOGUE, "x": [1, 2, 3]}),
    "features: expected each item once, found item 'film' again": pd.DataFrame({"item": ["film", "film"], "x": [1, 2]}),
    "found str; features=features.groupby('item')['genre'].agg(list) has the tags of each item": pd.DataFrame(WORDS | {"year": [1, 2, 3]}),
    "found str; features=features.groupby(level=0)['genre'].agg(list) has the tags of each item": pd.DataFrame(WORDS).set_index("item").rename_axis(None),
    "found str; features=features.group_by('item').agg('genre') has the tags of each item": pl.DataFrame(WORDS),
    "found str; features=features.assign(**{'genre': features['genre'].str.split('|')}) has the tags of each item": pd.DataFrame(JOINED),
    "found str; features=features.with_columns(pl.col('genre').str.split('|')) has the tags of each item": pl.DataFrame(JOINED),
    "features.tags: expected numbers, or lists in the only column, found lists": pl.DataFrame({"item": CATALOGUE, "x": [1, 2, 3], "tags": TAGS}),
    "features: expected columns of features, named by strings, found none": pd.DataFrame({"item": CATALOGUE}),
    "rename the column of items to 'item'": pd.DataFrame({"sku": CATALOGUE, "x": [1, 2, 3]}),
    "features: expected a two-dimensional array or sparse matrix beside the catalogue": np.ones(3),
    "features.tag: expected strings or integers, found bytes": [[b"a"], [], []],
    "keys of one kind": [["a", 1], [], []],
}  # fmt: skip


@pytest.mark.parametrize("message", FAULTS)
def test_faults(message: str) -> None:
    with pytest.raises(exactk.ExactkError) as caught:
        exactk.Items(CATALOGUE, features=FAULTS[message])
    assert message in str(caught.value)


def test_vectors_beside_a_set_have_no_order() -> None:
    with pytest.raises(exactk.InputError, match="features: expected items beside it: a mapping, or a catalogue in the"):
        exactk.Items(set(CATALOGUE), features=VECTORS)
