"""The metrics of recmetrics 0.1.5 over lists of lists, without its plots.

Change the import, and nothing else::

    from recmetrics import mark, novelty  # before
    from exactk.compat.recmetrics import mark, novelty  # after

Examples
--------
>>> from exactk.compat import recmetrics
>>> actual, predicted = [["a", "b", "x"], ["a", "b", "y"]], [["x", "y", "z"], ["x", "y", "z"]]
>>> round(float(recmetrics.mark(actual, predicted, k=3)), 4)
0.25
>>> recmetrics.prediction_coverage(predicted, ["a", "b", "x", "y", "z"])
60.0

No function needs recmetrics, pandas, scikit-learn or matplotlib; `intra_list_similarity` reads a pandas frame.
`differences` says what is not equal; the rest is as the documentation of recmetrics says.
"""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk.compat._array_checks import check_lengths, check_parameters, checked_numbers
from exactk.compat._list_similarity import chunks_of
from exactk.compat._pairs import match_pairs

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Sized

    from numpy.typing import ArrayLike, NDArray

    from exactk.compat._key_codes import Floats, Frame, Integers

__all__ = [
    "catalog_coverage",
    "differences",
    "intra_list_similarity",
    "mark",
    "mse",
    "novelty",
    "personalization",
    "prediction_coverage",
    "recommender_precision",
    "recommender_recall",
    "rmse",
]

_PLOTS = {
    "class_separation_plot",
    "coverage_plot",
    "long_tail_plot",
    "make_confusion_matrix",
    "mapk_plot",
    "mark_plot",
    "metrics_plot",
    "precision_recall_plot",
    "roc_plot",
}
_CELLS = 1 << 22  # of the vectors that are summed at once
_LISTS = frozenset({list, tuple})
_COLLECTIONS = _LISTS | {set, frozenset, dict}  # `in` asks for their items; a Series' index, and substrings of a string


def __getattr__(name: str) -> Any:  # noqa: ANN401 - never returns
    message = f"module {__name__!r} has no attribute {name!r}"
    if name in _PLOTS:
        message += f", which draws a plot: import {name} from recmetrics"
    raise AttributeError(message)


def differences() -> tuple[str, ...]:
    """Return what is not equal to recmetrics, in sentences."""
    return (
        "Functions that draw stay with recmetrics: make_confusion_matrix, and those whose names end in _plot.",
        "Values may differ in the last digits, by 1e-12 at most, because sums are in another order.",
        "intra_list_similarity, mse and rmse compute in float64; recmetrics computes with arrays of float32 in float32.",
        "A list of booleans has items in intra_list_similarity; recmetrics takes it for a mask of the frame's rows.",
        "A tuple is one item in intra_list_similarity; recmetrics takes it for a row and a column of the frame.",
        "The warnings that NumPy, pandas and SciPy give about the code of recmetrics are not given.",
        "The counts of novelty must be numbers; recmetrics sums those that are arrays.",
        "The numbers are those with pandas 1.5, which recmetrics needs.",
    )


# The core has these values by the preset 'recmetrics', of items that are integers, strings or bytes. Here they are whatever `in`
# compares, of several types in a list; to make integers of them takes twice as long as to count hits in sets.


def mark(actual: Iterable[Sequence[Any]], predicted: Iterable[Sequence[Any]], k: int = 10) -> np.floating[Any]:
    """Return the mean average recall at k: precision at each hit, summed and divided by the number of actual items."""
    pairs = [(items, row[:k] if len(row) > k else row) for items, row in zip(actual, predicted, strict=False)]
    if _are_all(_LISTS, (row for _, row in pairs)) and _are_all(_COLLECTIONS, (items for items, _ in pairs)):
        with suppress(TypeError):  # unhashable items
            return np.mean([_recall_of_hashable(items, row) for items, row in pairs])
    return np.mean([_recall_of_any(items, row) for items, row in pairs])


def _are_all(types: frozenset[type], values: Iterable[object]) -> bool:
    return types.issuperset(map(type, values))


def _recall_of_hashable(items: Collection[Hashable], row: Sequence[Hashable]) -> float:
    if set(row).isdisjoint(items):  # most users, and faster than a set of the items
        return 0.0
    hits, left = [], set(items)
    for item in row:
        hits.append(item in left)
        left.discard(item)
    return _average_recall(items, hits)


def _recall_of_any(items: Any, row: Any) -> float:  # noqa: ANN401 - whatever `in` takes
    return _average_recall(items, [item in items and item not in row[:rank] for rank, item in enumerate(row)])


def _average_recall(items: Collection[Any], hits: Sequence[bool]) -> float:
    """Return the sum of the precision down to each hit over the number of items."""
    count, total = 0, 0.0
    for rank, is_hit in enumerate(hits, 1):
        if is_hit:
            count += 1
            total += count / rank
    return total / len(items) if items else 0.0


def recommender_precision(predicted: Iterable[Iterable[Any]], actual: Iterable[Sequence[Any]]) -> np.floating[Any]:
    """Return the mean of the users' precision, each rounded to four decimals."""
    pairs = list(zip(predicted, actual, strict=False))
    return _mean_share(pairs, [row for row, _ in pairs])


def recommender_recall(predicted: Iterable[Iterable[Any]], actual: Iterable[Sequence[Any]]) -> np.floating[Any]:
    """Return the mean of the users' recall, each rounded to four decimals."""
    pairs = list(zip(predicted, actual, strict=False))
    return _mean_share(pairs, [items for _, items in pairs])


def _mean_share(pairs: Sequence[tuple[Any, Any]], divisors: Sequence[Any]) -> np.floating[Any]:
    """Return the mean of hits over the lengths of the divisors."""
    hits = np.array(_hit_counts(pairs), np.float64)
    lengths = np.array(list(map(len, divisors)), np.float64)
    if not lengths.all():
        message = "float division by zero"
        raise ZeroDivisionError(message)
    return np.mean(np.round(hits / lengths, 4))


def _hit_counts(pairs: Sequence[tuple[Any, Any]]) -> list[int]:
    """Return how many of the predicted items of each user are among the actual ones, repeated ones each time."""
    if _are_all(_COLLECTIONS, chain.from_iterable(pairs)):
        with suppress(TypeError):  # unhashable items
            return [0 if set(row).isdisjoint(items) else sum(map(set(items).__contains__, row)) for row, items in pairs]
    return [sum(1 for item in row if item in items) for row, items in pairs]


def novelty(
    predicted: Iterable[Iterable[Any]], pop: Mapping[Any, float], u: float, n: float
) -> tuple[np.floating[Any], list[np.floating[Any]]]:
    """Return the mean self-information of the recommended items, of all users and of each."""
    rows = [list(row) for row in predicted]
    lengths = np.array([len(row) for row in rows], np.int64)
    shares = np.array([pop[item] / u for item in chain.from_iterable(rows)])
    if shares.ndim != 1:
        message = "pop: expected numbers, found arrays"
        raise TypeError(message)
    information = -np.log2(shares) if len(shares) else shares
    sums = np.bincount(np.repeat(np.arange(len(rows)), lengths), information, len(rows))
    if not n and not lengths.all():
        message = "division by zero"
        raise ZeroDivisionError(message)
    values = list(sums / n)
    return sum(values) / len(values), values


def prediction_coverage(predicted: Iterable[Iterable[Any]], catalog: Sized) -> float:
    """Return how many distinct items are recommended, in percent of the catalogue, rounded to two decimals."""
    return round(len(set().union(*predicted)) / (len(catalog) * 1.0) * 100, 2)


def catalog_coverage(predicted: Sequence[Iterable[Any]], catalog: Sized, k: int) -> float:
    """Return the coverage of k lists drawn with replacement: those that recmetrics draws after the same ``random.seed``."""
    return prediction_coverage(random.choices(predicted, k=k), catalog)  # noqa: S311 - no secrets


def personalization(predicted: ArrayLike) -> np.floating[Any]:
    """Return 1 less the mean cosine of all pairs of users' lists."""
    table = np.array(predicted)
    if table.ndim not in {1, 2} or not table.size:
        message = f"predicted: expected lists of items of equal lengths, found an array of shape {table.shape}"
        raise ValueError(message)
    users = len(table)
    codes, is_item = _item_codes(table.reshape(users, -1))
    if (np.diff(np.sort(codes, axis=1), axis=1) == 0).any():
        message = "predicted: expected each item at most once in a list, found one twice"
        raise ValueError(message)
    counts = np.count_nonzero(is_item, axis=1)
    weights = np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts)
    squares = np.square(np.bincount(codes[is_item], weights))
    # The squared norm of the sum of all unit vectors is the sum of the cosines of all pairs. A single user's differs from 1
    # by the rounding of terms that are added one after another, and decides what the division by 0 returns.
    total = np.cumsum(squares)[-1] if users == 1 and len(squares) else np.sum(squares)
    mean: np.floating[Any] = (total - users) / (users * (users - 1))
    return 1 - mean


def _item_codes(table: NDArray[Any]) -> tuple[Integers, NDArray[np.bool_]]:
    """Return an integer for each cell, equal for equal items, and which cells have one."""
    if table.dtype.kind == "O":
        items: list[Any] = table.ravel().tolist()
        is_item = np.array([item is not None and item == item for item in items])  # noqa: PLR0124 - NaN
        alike = [
            item if is_one else None for item, is_one in zip(items, is_item, strict=True)
        ]  # as in a pivot of pandas
        numbers = {item: number for number, item in enumerate(dict.fromkeys(alike))}
        return np.array([numbers[item] for item in alike]).reshape(table.shape), is_item.reshape(table.shape)
    codes = np.unique(table, return_inverse=True)[1]
    return codes.reshape(table.shape), ~np.isnan(table) if table.dtype.kind == "f" else np.ones(table.shape, np.bool_)


def intra_list_similarity(predicted: Sequence[list[Any]], feature_df: Frame) -> np.floating[Any]:
    """Return the mean over users of the mean cosine of all pairs of recommended items."""
    features = feature_df.fillna(0).infer_objects()
    lists = [predicted[user] for user in range(len(predicted))]
    empty = next((user for user, items in enumerate(lists) if not items), None)
    values = _similarities([_labels(items) for items in lists[:empty]], features)
    if empty is not None:
        message = f"Predicted list is empty, index: {empty}"
        raise Exception(message)  # noqa: TRY002 - as in recmetrics
    return np.mean(values)


def _labels(items: Any) -> list[Any]:  # noqa: ANN401 - a list, or a label
    return list(items) if isinstance(items, (list, np.ndarray)) else [items]


def _similarities(lists: Sequence[list[Any]], features: Frame) -> Floats:
    """Return the mean cosine of each list."""
    if not lists:
        return np.empty(0)
    users, rows = _rows_of_items(lists, features.index)
    sizes = np.bincount(users)
    if (sizes == 1).any():
        message = "float division by zero"
        raise ZeroDivisionError(message)
    values = features.to_numpy()
    if values.dtype.kind not in "biuf":
        message = "feature_df: expected numbers, or booleans alone"
        raise ValueError(message)
    used, codes = np.unique(rows, return_inverse=True)
    return _mean_cosines(_unit_vectors(values[used]), codes, sizes)


def _rows_of_items(lists: Sequence[list[Any]], index: Any) -> tuple[Integers, Integers]:  # noqa: ANN401 - of pandas
    """Return the users and the rows of their items, all those of a label that is there more than once."""
    labels, distinct = index.factorize(use_na_sentinel=False)
    codes = distinct.get_indexer_for(list(chain.from_iterable(lists)))
    if (codes < 0).any():
        message = "predicted: expected labels of the index of feature_df, found other labels"
        raise KeyError(message)
    matches = match_pairs(codes, labels)
    users = np.repeat(np.arange(len(lists)), list(map(len, lists)))
    return users[matches.first], matches.second


def _unit_vectors(features: NDArray[Any]) -> Floats:
    vectors = checked_numbers(features, two_dimensional=True).astype(np.float64)
    with np.errstate(over="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    norms[norms == 0] = 1
    units: Floats = vectors / norms[:, np.newaxis]
    return units


def _mean_cosines(units: Floats, rows: Integers, sizes: Integers) -> Floats:
    """Return each user's mean cosine of pairs: the squared norm of the sum of vectors, less their own squared norms."""
    ends = np.cumsum(sizes)
    squares = np.empty(len(sizes))
    for chunk in chunks_of(sizes * units.shape[1], _CELLS):
        begin = ends[chunk][0] - sizes[chunk][0]
        sums = np.add.reduceat(units[rows[begin : ends[chunk][-1]]], ends[chunk] - sizes[chunk] - begin)
        squares[chunk] = np.einsum("ij,ij->i", sums, sums)
    alone = np.add.reduceat(np.einsum("ij,ij->i", units, units)[rows], ends - sizes)
    cosines: Floats = (squares - alone) / (sizes * (sizes - 1))
    return cosines


def mse(y: ArrayLike, yhat: ArrayLike) -> float:
    """Return the mean squared error."""
    check_parameters("mean_squared_error", y_true=(y, "array"), y_pred=(yhat, "array"))
    actual, predicted = (_as_table(one) for one in (y, yhat))
    check_lengths(actual, predicted)
    if actual.shape != predicted.shape:
        message = f"y_true and y_pred have different number of output ({actual.shape[1]}!={predicted.shape[1]})"
        raise ValueError(message)
    return float(np.mean(np.mean((actual - predicted) ** 2, axis=0)))


def rmse(y: ArrayLike, yhat: ArrayLike) -> float:
    """Return the root of `mse`, with its arguments."""
    return float(np.sqrt(mse(y, yhat)))


def _as_table(numbers: ArrayLike) -> NDArray[Any]:
    array = checked_numbers(np.asarray(numbers, np.float64))
    return array.reshape(len(array), -1)
