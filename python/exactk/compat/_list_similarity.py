"""Recommended lists, and the similarity of their items to each other and to the items that their users had."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from exactk._runtime import optional
from exactk.compat._key_codes import Floats, group_means, pairs_within, ranges
from exactk.compat._pairs import codes_of_both, pairs_of_both

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from exactk.compat._key_codes import Frame, Integers

_FEATURES = "features"  # the library reads no other column, whatever col_item_features is
_SIMILARITY = "sim"
_COOCCURRENCE = "item_cooccurrence_count"
_SEEN = "reco_df should not contain any user_item pairs that are already shown in train_df"
_CELLS = 1 << 22  # of a block of counts, and of the pairs counted at once


class Similarity(Protocol):
    """The similarity of items, by their codes."""

    def of_pairs(self, one: Integers, other: Integers) -> Floats:
        """Return the similarity of each pair; 0 where there is none."""


class CooccurrenceSimilarity:
    """Rows of users who have both items, over the geometric mean of the rows of each."""

    def __init__(self, users: Integers, items: Integers, item_count: int) -> None:
        order = np.argsort(users, kind="stable")
        self._users, self._items = users[order], items[order]
        sizes = np.bincount(users)
        self._sizes, self._begins = sizes, np.cumsum(sizes) - sizes
        self._roots = np.sqrt(np.bincount(items, minlength=item_count))

    def of_pairs(self, one: Integers, other: Integers) -> Floats:
        """Return the similarity of each pair, by blocks of the items of the first column."""
        rows, row_codes = np.unique(one, return_inverse=True)
        columns, column_codes = np.unique(other, return_inverse=True)
        order = np.argsort(row_codes, kind="stable")
        block_rows = max(1, _CELLS // max(1, len(columns)))
        edges = np.searchsorted(row_codes[order], np.arange(0, len(rows) + block_rows, block_rows))
        counts = np.zeros(len(one))
        for begin, pairs in zip(range(0, len(rows), block_rows), pairwise(edges), strict=False):
            of_block = order[slice(*pairs)]
            table = self._count_block(rows[begin : begin + block_rows], columns)
            counts[of_block] = table[row_codes[of_block] - begin, column_codes[of_block]]
        roots = self._roots[one] * self._roots[other]
        similarities: Floats = np.divide(counts, roots, out=np.zeros(len(one)), where=roots > 0)
        return similarities

    def _count_block(self, rows: Integers, columns: Integers) -> Integers:
        """Return how often users have an item of the rows and one of the columns."""
        row_of, column_of = self._positions(rows), self._positions(columns)
        having = np.flatnonzero(row_of[self._items] >= 0)
        users = self._users[having]
        width = len(columns)
        table = np.zeros(len(rows) * width, np.int64)
        for chunk in chunks_of(self._sizes[users], _CELLS):
            sizes = self._sizes[users[chunk]]
            beside = column_of[self._items[ranges(self._begins[users[chunk]], sizes)]]
            cells = np.repeat(row_of[self._items[having[chunk]]], sizes) * width + beside
            table += np.bincount(cells[beside >= 0], minlength=len(table))
        return table.reshape(len(rows), width)

    def _positions(self, items: Integers) -> Integers:
        positions = np.full(len(self._roots), -1, np.int64)
        positions[items] = np.arange(len(items))
        return positions


class FeatureSimilarity:
    """The cosine of the vectors of two items."""

    def __init__(self, items: Integers, vectors: Sequence[NDArray[Any]], item_count: int) -> None:
        self._vectors = np.stack(vectors) if len(vectors) else np.zeros((0, 1))
        norms = np.sqrt(np.einsum("ij,ij->i", self._vectors, self._vectors, dtype=np.float64))
        if (norms == 0).any():
            message = "float division by zero"
            raise ZeroDivisionError(message)
        self._norms, self._row_of = norms, np.full(item_count, -1, np.int64)
        self._row_of[items] = np.arange(len(items))

    def of_pairs(self, one: Integers, other: Integers) -> Floats:
        """Return the cosine of each pair; 0 if an item has no vector, or one with NaN."""
        cosines = np.zeros(len(one))
        first, second = self._row_of[one], self._row_of[other]
        having = np.flatnonzero((first >= 0) & (second >= 0))
        step = max(1, _CELLS // self._vectors.shape[1])
        for begin in range(0, len(having), step):
            chunk = having[begin : begin + step]
            left, right = first[chunk], second[chunk]
            products = np.einsum("ij,ij->i", self._vectors[left], self._vectors[right], dtype=np.float64)
            cosines[chunk] = products / (self._norms[left] * self._norms[right])
        return np.nan_to_num(cosines, nan=0)


def chunks_of(sizes: Integers, most: int) -> Iterator[slice]:
    """Return slices of entries whose sizes sum to about so much."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    edges = np.unique([*np.searchsorted(ends, np.arange(0, total, most)), len(sizes)])
    return (slice(begin, end) for begin, end in pairwise(edges.tolist()))


def are_alike(one: Frame, other: Frame, *columns: str) -> bool:
    """Return whether columns of both frames hold keys of one type."""
    return all(one[name].dtype.type.__base__ == other[name].dtype.type.__base__ for name in columns)


def check_lists(train: Frame, reco: Frame, user: str, item: str) -> None:
    """Raise unless both frames have their columns, and keys of the same types."""
    if not {user, item}.issubset(train.columns):
        message = "Missing columns in train_df DataFrame"
        raise ValueError(message)
    if not {user, item}.issubset(reco.columns):
        message = "Missing columns in reco_df DataFrame"
        raise ValueError(message)
    if not are_alike(train, reco, user, item):
        message = "Columns in provided DataFrames are not the same datatype"
        raise ValueError(message)


def check_unseen(train: Frame, reco: Frame, user: str, item: str) -> None:
    """Raise if a row of the lists is in train."""
    seen, listed = pairs_of_both(train, reco, (user, item))
    if optional.pandas("exactk.compat.recommenders").Index(listed).isin(seen).any():
        raise Exception(_SEEN)  # noqa: TRY002 - as the library does


class RecommendedLists:
    """Recommended lists beside the interactions of train, in integers."""

    def __init__(
        self,
        train: Frame,
        reco: Frame,
        features: Frame | None,
        measure: str,
        columns: tuple[str, str, str, str],
        relevance: str | None = None,
    ) -> None:
        user, item, col_features, self._similarity_name = columns
        check_lists(train, reco, user, item)
        self.keys = reco[[user, item]]
        self._relevance = np.ones(len(reco)) if relevance is None else reco[relevance].astype(np.float16).to_numpy()
        if measure == "item_feature_vector":
            _check_features(features, item, col_features)
        check_unseen(train, reco, user, item)
        self.train_users, self.users, self.user_count = codes_of_both(
            train[user].to_numpy(), reco[user].to_numpy(), sort=True
        )
        of_features = features[item].to_numpy()[:] if measure == "item_feature_vector" and features is not None else []
        items = np.concatenate([reco[item].to_numpy(), of_features]) if len(of_features) else reco[item].to_numpy()
        self.train_items, codes, self.item_count = codes_of_both(train[item].to_numpy(), items, sort=True)
        self.items, self._feature_items = codes[: len(reco)], codes[len(reco) :]
        self._features, self._measure = features, measure

    def similarity(self) -> Similarity:
        """Return the similarity of items."""
        if self._measure == _COOCCURRENCE:
            return CooccurrenceSimilarity(self.train_users, self.train_items, self.item_count)
        if self._measure != "item_feature_vector" or self._features is None:
            message = "item_sim_measure not recognized! It is 'item_cooccurrence_count' or 'item_feature_vector'."
            raise Exception(message)  # noqa: TRY002 - as the library does
        if self._similarity_name != _SIMILARITY:  # the library's column of cosines has always this name
            raise KeyError(self._similarity_name)
        if len(np.unique(self._feature_items)) < len(self._feature_items):
            message = "item_feature_df: expected each item once"
            raise ValueError(message)
        return FeatureSimilarity(self._feature_items, self._features[_FEATURES].tolist(), self.item_count)

    def intralist(self) -> Floats:
        """Return the mean similarity of the items of each user's list; NaN where there are no two."""
        first, second = pairs_within(self.users)
        is_different = self.items[first] != self.items[second]
        first, second = first[is_different], second[is_different]
        values = self.similarity().of_pairs(self.items[first], self.items[second])
        return group_means(self.users[first], values, self.user_count)

    def to_history(self) -> Floats:
        """Return the mean similarity of each listed item to those that the user had; NaN of a user who had none."""
        sizes = np.bincount(self.train_users, minlength=self.user_count)
        by_user = np.argsort(self.train_users, kind="stable")
        counts = sizes[self.users]
        had = self.train_items[by_user[ranges((np.cumsum(sizes) - sizes)[self.users], counts)]]
        rows = np.repeat(np.arange(len(self.users)), counts)
        return group_means(rows, self.similarity().of_pairs(self.items[rows], had), len(self.users))

    def serendipities(self) -> Floats:
        """Return what each listed item differs from those that the user had, times its relevance."""
        return (1 - self.to_history()) * self._relevance

    def user_serendipities(self) -> Floats:
        """Return their means by user."""
        return group_means(self.users, self.serendipities(), self.user_count)

    def by_user(self, values: Floats, name: str) -> Frame:
        """Return the frame of values by user, ascending, without NaN."""
        codes, first = np.unique(self.users, return_index=True)
        has_value = ~np.isnan(values[codes])
        users = self.keys.iloc[:, 0].iloc[first[has_value]].reset_index(drop=True)
        return optional.pandas("exactk.compat.recommenders").DataFrame(
            {users.name: users, name: values[codes][has_value]}
        )


def _check_features(features: Frame | None, item: str, col_features: str) -> None:
    if features is None:
        message = f"item_feature_df not specified! It must have the columns {item!r} and {col_features!r}."
        raise Exception(message)  # noqa: TRY002 - as the library does
    if not {item, col_features}.issubset(features.columns):
        message = "Missing columns in item_feature_df DataFrame"
        raise ValueError(message)
