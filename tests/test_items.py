"""`exactk.Items`: whatever holds the interactions, the canonical table is that of their definition."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import exactk
from refusals import refused
from strategies import examples

Row = tuple[int, int]
"""A user and an item."""


def table_of(items: exactk.Items) -> dict[str, Any]:
    """Return what a test compares."""
    counts = {"users": items.popularity, "interactions": items.interactions}
    return {
        "keys": items.keys.tolist(),
        **{name: None if count is None else count.tolist() for name, count in counts.items()},
        "train_users": items.train_users,
        "digest": items.table.digest,
    }


def oracle(rows: list[tuple[Any, Any]], catalogue: list[Any] | None = None) -> dict[str, Any]:
    """Return the table by its definition, without a digest."""
    keys = sorted({item for _, item in rows} if catalogue is None else catalogue)
    return {
        "keys": keys,
        "users": [len({user for user, item in rows if item == key}) for key in keys],
        "interactions": [sum(item == key for _, item in rows) for key in keys],
        "train_users": len({user for user, _ in rows}) or None,
    }


def by_user(rows: list[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    lists: dict[Any, list[Any]] = {}
    for user, item in rows:
        lists.setdefault(user, []).append(item)
    return lists


def frame(rows: list[tuple[Any, Any]]) -> dict[str, list[Any]]:
    return {"user_id": [user for user, _ in rows], "item_id": [item for _, item in rows]}


def offsets_and_items(rows: list[tuple[Any, Any]]) -> tuple[Any, list[Any]]:
    lists = by_user(rows).values()
    return np.cumsum([0, *map(len, lists)]), [item for one in lists for item in one]


KEYED: dict[str, Callable[[list[tuple[Any, Any]]], Any]] = {
    "mapping": by_user,
    "list": lambda rows: [None, *by_user(rows).values(), []],
    "pandas": lambda rows: pd.DataFrame(frame(rows)),
    "polars": lambda rows: pl.DataFrame(frame(rows)),
    "lazy": lambda rows: pl.LazyFrame(frame(rows)),
    "arrow": lambda rows: pa.table(frame(rows)),
    "lists in a frame": lambda rows: pl.DataFrame({"user": list(by_user(rows)), "items": list(by_user(rows).values())}),
    "Series": lambda rows: pd.Series(by_user(rows)),
    "categorical": lambda rows: pd.DataFrame(frame(rows)).astype({"item_id": "category"}),
    "Exclusions": lambda rows: exactk.Exclusions(*offsets_and_items(rows)),
    "Rankings": lambda rows: exactk.Rankings(*offsets_and_items(rows)),
    "slice": lambda rows: exactk.as_exclusions([[rows[0][1]], *by_user(rows).values()])[1:],  # type: ignore[index]
}
UNKEYED: dict[str, Callable[[list[Row]], Any]] = {
    "sparse": lambda rows: scipy.sparse.coo_array(
        (np.ones(len(rows)), ([user for user, _ in rows], [item for _, item in rows])), shape=(100, 100)
    ),
    "padded": lambda rows: np.array(
        [[*items, *[-1] * (len(rows) - len(items))] for items in by_user(rows).values()], np.int64
    ).reshape(-1, len(rows)),
}

ROWS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30)
TEXTS = ["", "a", "ab", "Z", "é", "\U0001f600", "\uffff", "10", "9", "b"]


@settings(max_examples=examples(300))
@given(ROWS.filter(lambda rows: any(item > 1 for _, item in rows)))  # a matrix of 0 and 1 may be refused
def test_every_container_of_integers_has_the_table_of_the_definition(rows: list[Row]) -> None:
    tables = {name: table_of(exactk.Items(train=make(rows))) for name, make in (KEYED | UNKEYED).items()}
    expected = oracle(rows)
    assert tables == {name: {**expected, "digest": tables["mapping"]["digest"]} for name in tables}


@settings(max_examples=examples(300))
@given(ROWS)
def test_every_container_of_strings_has_the_table_of_the_definition(rows: list[Row]) -> None:
    texts = [(user, TEXTS[item]) for user, item in rows]
    tables = {name: table_of(exactk.Items(train=make(texts))) for name, make in KEYED.items()}
    expected = oracle(texts)  # Python sorts strings by code point
    assert tables == {name: {**expected, "digest": tables["mapping"]["digest"]} for name in tables}


@settings(max_examples=examples(300))
@given(ROWS, st.permutations(range(10)), st.integers(0, 10))
def test_a_catalogue_selects_and_orders_the_items(rows: list[Row], order: list[int], size: int) -> None:
    for name in (TEXTS.__getitem__, int, lambda item: 10**15 + item):
        catalogue, named = [name(item) for item in order[:size]], [(user, name(item)) for user, item in rows]
        if not {item for _, item in named} & set(catalogue):
            continue
        items = exactk.Items(catalogue, train=by_user(named))
        foreign = {item for _, item in named} - set(catalogue)
        assert {**table_of(items), "digest": 0} == {**oracle(named, catalogue), "digest": 0}
        assert ("outside the catalogue" in repr(items)) == bool(foreign)
        for same in (set(catalogue), pd.Series(catalogue), pd.Index(catalogue), pl.Series(catalogue), tuple(catalogue)):
            assert table_of(exactk.Items(same, train=by_user(named))) == table_of(items)


@given(ROWS)
def test_counts_of_train_are_those_given_as_popularity(rows: list[Row]) -> None:
    texts = [(user, TEXTS[item]) for user, item in rows]
    of_train = exactk.Items(train=by_user(texts))
    keys, counts = of_train.keys.tolist(), of_train.popularity.tolist()  # type: ignore[union-attr]
    popularity = dict(zip(keys, counts, strict=True))
    columns = {"item": keys[::-1], "n": counts[::-1]}
    by_item = pd.DataFrame(columns).set_index("item")
    containers: list[Any] = [
        popularity, {key: float(count) for key, count in popularity.items()}, pd.Series(popularity),
        pd.Series(popularity, dtype="Int64"), pd.DataFrame(columns), by_item, by_item.rename_axis(None),
        pl.DataFrame(columns), pa.table(columns),
    ]  # fmt: skip
    users = of_train.train_users
    tables = [table_of(exactk.Items(popularity=one, train_users=users)) for one in containers]
    beside = [counts, np.array(counts), np.array(counts, np.float32), pd.Series(counts), pl.Series(counts)]
    tables += [table_of(exactk.Items(keys, popularity=one, train_users=users)) for one in beside]
    assert tables == [{**table_of(of_train), "interactions": None, "digest": tables[0]["digest"]}] * len(tables)
    assert tables[0]["digest"] != of_train.table.digest  # without rows


def test_values_and_groups_in_every_container_are_in_the_order_of_the_catalogue() -> None:
    catalogue, prices, genres = ["song", "film", "book"], [2.0, 10.0, 0.5], ["b", "a", "b"]
    containers: list[Callable[[list[Any]], Any]] = [
        *(list, np.array, pd.Series, pl.Series),
        lambda given: dict(zip(catalogue, given, strict=True)),
        lambda given: pd.Series(given, index=catalogue),
        lambda given: pl.DataFrame({"item": catalogue, "value": given}),
        lambda given: pd.DataFrame({"item": catalogue, "value": given}).sample(frac=1, random_state=1),
    ]
    tables = [exactk.Items(catalogue, item_groups=of(genres), values=of(prices)).table for of in containers]
    for table in tables:
        assert np.array_equal(np.asarray(table.group_codes), [1, 0, 1])
        assert table.group_labels == ("a", "b")
        assert np.array_equal(np.asarray(table.item_values), [0.5, 10.0, 2.0])
    assert len({table.digest for table in tables}) == 1


def test_items_without_a_group_or_a_value_have_none() -> None:
    table = exactk.Items(["b", "a"], item_groups={"a": 7}, values={"b": 1}).table
    assert np.array_equal(np.asarray(table.group_codes), [0, -1])
    assert np.array_equal(np.asarray(table.item_values), [np.nan, 1.0], equal_nan=True)


def test_a_number_stands_for_ids_and_for_no_keys() -> None:
    assert exactk.Items(np.int32(4)).keys.tolist() == [0, 1, 2, 3]
    assert table_of(exactk.Items(4, popularity=[1, 0, 2, 0])) == table_of(exactk.Items(4, popularity={2: 2, 0: 1}))


def test_paths_are_read(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("user,item\nann,film\nann,song\nann,film\nbob,film\n")
    train = {"ann": ["film", "song", "film"], "bob": ["film"]}
    assert table_of(exactk.Items(train=tmp_path / "train.csv")) == table_of(exactk.Items(train=train))
    files = {
        "items.csv": "item,title\nb,second\na,first\n",
        "items.jsonl": '{"item": "b"}\n{"item": "a"}\n',
        "items.json": '["b", "a"]',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        assert table_of(exactk.Items(tmp_path / name)) == table_of(exactk.Items(["a", "b"]))
    (tmp_path / "odd.csv").write_text("sku,title\nb,second\n")
    with pytest.raises(exactk.InputError, match=r"found the columns sku, title.*; rename the column of items to 'i"):
        exactk.Items(tmp_path / "odd.csv")
    (tmp_path / "items.txt").write_text("q1 0 d1 1\n")
    with pytest.raises(exactk.InputError, match="catalogue: expected a file of columns"):
        exactk.Items(tmp_path / "items.txt")
    (tmp_path / "object.json").write_text('{"a": 1}')
    with pytest.raises(exactk.InputTypeError, match=r"catalogue: expected a list, an array, .* found dict"):
        exactk.Items(tmp_path / "object.json")


def test_digests_tell_items_apart() -> None:
    train, popularity = {"ann": ["film", "song"], "bob": ["film"]}, {"film": 2, "song": 1}
    rows: list[Any] = [train, {**train, "eve": ["song"]}, {**train, "bob": ["film", "film"]}]
    catalogues: list[Any] = [["film", "song"], ["fil", "msong"], [b"film", b"song"], [1, 2]]
    different = [
        *(exactk.Items(train=one) for one in rows),
        *(exactk.Items(one) for one in catalogues),
        exactk.Items(["film", "song", "book"], train=train),
        exactk.Items(popularity=popularity),
        exactk.Items(popularity=popularity, train_users=2),
        *(exactk.Items(train=train, item_groups=one) for one in ({"film": "a"}, {"film": "b"}, {"song": "a"})),
        *(exactk.Items(train=train, values={"film": one}) for one in (1, 2)),
    ]
    assert len({items.table.digest for items in different}) == len(different)
    same = [exactk.Items(["song", "film"], train=train), exactk.Items(train={"bob": ["film"], "ann": ["song", "film"]})]
    assert {items.table.digest for items in same} == {different[0].table.digest}
    # The same in every process and version: states of different processes merge.
    assert different[0].table.digest == 100307190484374269620135712349894702910


def test_items_survive_pickling() -> None:
    for keys in (["b", "a"], [7, 3], [b"x", b"w"]):
        items = exactk.Items(train={"u": keys}, item_groups={keys[0]: 1}, values={keys[1]: 2})
        copy = pickle.loads(pickle.dumps(items))  # noqa: S301 - our own
        assert table_of(copy) == table_of(items)
        assert repr(copy) == repr(items)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (exactk.Items, "catalogue: expected a catalogue, train or popularity, found none"),
        (lambda: exactk.Items([]), "catalogue: expected at least one item, found none"),
        (lambda: exactk.Items(train=[[], None]), "train: expected at least one interaction, found none"),
        (lambda: exactk.Items(["a", "b", "a", "a"]), "distinct items, found item 'a' again at position 2 (the first of 2)"),
        (lambda: exactk.Items([1, True]), "catalogue: expected integers, strings or bytes, found bool"),
        (lambda: exactk.Items(np.array([True])), "catalogue: expected integer ids, found bool"),
        (lambda: exactk.Items(["a", 1]), "keys of one kind: integers, strings, bytes, or objects"),
        (lambda: exactk.Items([0, -1]), "catalogue: expected item ids in [0, 2^63), found -1 at position 1"),
        (lambda: exactk.Items(np.array([2**63], np.uint64)), "item ids in [0, 2^63), found 9223372036854775808"),
        (lambda: exactk.Items([1.0]), "integer ids, strings or bytes, found float64"),
        (lambda: exactk.Items([1.0, np.nan]), "found NaN in float64"),
        (lambda: exactk.Items(True), "catalogue: expected an integer, found True"),
        (lambda: exactk.Items(0), "catalogue: expected a number from 1 to 2147483645, found 0"),
        (lambda: exactk.Items(10**15), "catalogue: expected a number from 1 to 2147483645"),
        (lambda: exactk.Items("film"), "catalogue: expected a readable file, found no file at 'film'"),
        (lambda: exactk.Items(pd.DataFrame({"item": [1]})), "catalogue=frame[name] is a column of a data frame"),
        (lambda: exactk.Items([("a", 1)]), "catalogue: expected integers, strings or bytes, found tuples of 2"),
        (lambda: exactk.Items(["a"], train={1: ["b"]}), "train: expected interactions with items of the catalogue"),
        (lambda: exactk.Items(2, train={1: ["b"]}), "train: expected items of type int, as in the catalogue, found str"),
        (lambda: exactk.Items(["a"], train=[[1]]), "train: expected items of type str, as in the catalogue, found int"),
        (lambda: exactk.Items(train=[[1]], popularity={1: 1}), "expected either train or popularity, found both"),
        (lambda: exactk.Items(train=[[1]], train_users=1), "train_users: expected None beside train"),
        (lambda: exactk.Items([1], train_users=1), "train_users: expected popularity beside it, found none"),
        (lambda: exactk.Items(train=5), "train: expected the interactions of each user, found 5"),  # type: ignore[arg-type]
        (lambda: exactk.Items(train=pd.DataFrame({"who": [1], "what": [2]})), "train=exactk.as_exclusions(train, user='who')"),
        (lambda: exactk.Items(train=["a"]), "train: expected a sequence of ids, found str at row 0"),
        (lambda: exactk.Items(train=[["a", 1]]), "train: expected strings as ids, found int 1 at row 0, position 1"),
        (lambda: exactk.Items(popularity={"a": -1}), "whole numbers of at least 0, found -1 of item 'a'"),
        (lambda: exactk.Items(popularity={"a": 0, "b": 1.5}), "found 1.5 of item 'b' at position 1"),
        (lambda: exactk.Items(popularity={"a": -2, "b": -1}), "found -2 of item 'a' at position 0 (the first of 2)"),
        (lambda: exactk.Items(popularity={"a": np.inf}), "whole numbers of at least 0, found inf"),
        (lambda: exactk.Items(popularity={"a": 2**60}), "integers from -2^53 to 2^53"),
        (lambda: exactk.Items(popularity={"a": None}), "popularity: expected a value in every entry, found None of item 'a' at position 0; leave out the item"),  # type: ignore[dict-item]
        (lambda: exactk.Items(popularity={"a": True}), "popularity: expected numbers, found bool"),
        (lambda: exactk.Items([1], popularity=np.array([True])), "found bool"),
        (lambda: exactk.Items(popularity={"a": "1"}), "popularity: expected numbers, found strings"),  # type: ignore[dict-item]
        (lambda: exactk.Items(popularity={"a": 1, 2: 1}), "popularity.item: expected keys of one kind"),
        (lambda: exactk.Items(popularity={True: 1}), "popularity.item: expected integers, strings or bytes, found bool"),
        (lambda: exactk.Items(popularity={"a": 3, "b": 4}, train_users=2), "at most train_users (2) users of an item, found 3 of item 'a'"),
        (lambda: exactk.Items(popularity={"a": 3}, train_users=0), "train_users: expected a number from 1 to 9007199254740992, found 0"),
        (lambda: exactk.Items(popularity={"a": 3}, train_users=True), "train_users: expected an integer, found True"),
        (lambda: exactk.Items(popularity=[1, 2]), "catalogue: expected items beside an array of popularity, found none"),
        (lambda: exactk.Items(["a"], popularity=[1, 2]), "popularity: expected one entry per item of the catalogue (1), found 2"),
        (lambda: exactk.Items({"a", "b"}, popularity=[1, 2]), "popularity: expected items beside it"),
        (lambda: exactk.Items(["a"], popularity=np.ones((1, 1))), "popularity: expected a one-dimensional array"),
        (lambda: exactk.Items(["a"], popularity={"b": 1, "a": 1, "c": 2}), "found item 'b', which is not in it at position 0 (the first of 2)"),
        (lambda: exactk.Items(popularity=pd.Series([1, 2], index=["a", "a"])), "popularity: expected each item once, found item 'a' again"),
        (lambda: exactk.Items(popularity=pd.DataFrame({"sku": ["a"], "n": [1]})), "rename the column of items to 'item'"),
        (lambda: exactk.Items(popularity=pd.DataFrame({"item": ["a"], "n": [1], "m": [2]})), "popularity=popularity[['item', 'n']]"),
        (lambda: exactk.Items(popularity=iter([1])), "popularity=list(popularity)"),  # type: ignore[arg-type]
        (lambda: exactk.Items([1], popularity=5), "popularity: expected a mapping from item to value"),  # type: ignore[arg-type]
        (lambda: exactk.Items(["a"], item_groups={"b": 1}), "item_groups: expected items of the catalogue, found item 'b'"),
        (lambda: exactk.Items(["a"], item_groups={"a": None}), "item_groups: expected a value in every entry, found None of item 'a' at position 0; leave out the item"),
        (lambda: exactk.Items(["a", "b"], item_groups={"a": "x", "b": np.nan}), "found nan of item 'b' at position 1; leave out the item"),
        (lambda: exactk.Items(["a", "b"], item_groups=["x", None]), "found None at position 1; item_groups as a mapping may leave out"),
        (lambda: exactk.Items([1], item_groups=pd.DataFrame({"item": [1], "g": [np.nan]})), "found nan of item 1 at position 0; leave out"),
        (lambda: exactk.Items(["a"], item_groups=pl.DataFrame({"item": ["a"], "g": [None]})), "item_groups.g: expected a value in every row, found null with 1 null at row 0 of the frame; leave out the item"),
        (lambda: exactk.Items([1], values=pd.DataFrame({"item": [1], "item_id": [1], "v": [1]})), "found item and item_id; drop or rename item_id"),
        (lambda: exactk.Items(["a", "b"], item_groups=["x"]), "item_groups: expected one entry per item of the catalogue (2)"),
        (lambda: exactk.Items(["a"], values={"a": -0.5}), "values: expected numbers from 0 to 2^256, found -0.5 of item 'a'"),
        (lambda: exactk.Items(["a"], values={"a": np.inf}), "values: expected numbers from 0 to 2^256, found inf"),
        (lambda: exactk.Items(["a"], values={"b": 1}), "values: expected items of the catalogue, found item 'b'"),
    ],
)  # fmt: skip
def test_faults_name_the_argument_and_the_item(arguments: Callable[[], exactk.Items], message: str) -> None:
    with pytest.raises(exactk.ExactkError) as caught:
        arguments()
    assert message in str(caught.value)


def test_what_the_items_do_not_say_is_no_zero() -> None:
    """Popularity alone says nothing of the rows of train, and train without rows nothing of popularity."""
    items = exactk.Items(popularity={1: 4, 2: 2}, train_users=5)
    message = r"items: expected (arp|novelty|aplt) to have the interactions with items, found popularity=, which has the users"
    calls: list[tuple[str, Any]] = [("arp(arp_over=interactions)", {}), ("novelty(novelty_over=interactions)", {})]
    calls += [("arp@2", "recbole"), ("aplt@2", "recbole"), ("aplt@2", {"popularity": "interactions"})]
    for text, convention in calls:
        for evaluate in (exactk.evaluate, exactk.reference.evaluate):
            with refused("items: no interactions", message):
                evaluate(None, {"u": [1]}, text, items=items, convention=convention)
    with pytest.raises(exactk.InputError, match="train: expected at least one interaction, found none"):
        exactk.Items([1, 2], train={"a": [], "b": []})


def test_lists_of_users_with_relevant_items_need_a_truth() -> None:
    with pytest.raises(exactk.InputTypeError, match="relevant items of each user, which coverage needs"):
        exactk.evaluate(None, {"u": [1]}, "coverage", items=exactk.Items([1]), convention={"list_users": "users"})


def test_choose_takes_the_highest_value_alone() -> None:
    report = exactk.evaluate(None, {"u": [1]}, ["arp", "novelty"], items=[[1], [2]])
    with pytest.raises(exactk.InputError, match="optimize: expected a metric of which higher values are better"):
        exactk.choose({"one": report, "other": report}, "arp")


@pytest.mark.parametrize("predictions", [{"u": [1], "v": []}, {"u": [1]}])
def test_empty_lists_are_not_the_best_without_a_word(predictions: dict[str, list[int]]) -> None:
    truth, items = {"u": [1], "v": [2]}, [[1], [1, 2]]
    with pytest.warns(
        exactk.EvaluationWarning, match="^1 user has no item in the list and counts as 0, the best value"
    ):
        assert exactk.evaluate(truth, predictions, "arp@2", items=items)["arp@2"] == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert exactk.evaluate(truth, predictions, "arp@2(undefined=skip)", items=items)["arp@2(undefined=skip)"] == 2.0
        exactk.evaluate(truth, predictions, "novelty@2", items=items)


def test_popularity_is_said_of_items() -> None:
    keys, popularity = ["b", "a"], [3, 1]
    assert repr(exactk.Items(keys, popularity=popularity)) == "<Items: 2 items (str), popularity>"
    text = repr(exactk.Items(keys, popularity=popularity, train_users=4))
    assert text == "<Items: 2 items (str), popularity of 4 users>"
