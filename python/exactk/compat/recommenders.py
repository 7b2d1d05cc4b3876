"""The evaluation functions of recommenders (Microsoft's): `recommenders.evaluation.python_evaluation`, computed by exactk.

Change the import, and nothing else::

    from recommenders.evaluation.python_evaluation import map_at_k, ndcg_at_k  # before
    from exactk.compat.recommenders import map_at_k, ndcg_at_k  # after

Examples
--------
>>> import pandas as pd
>>> from exactk.compat import recommenders
>>> test = pd.DataFrame({"userID": [1, 1, 2], "itemID": [10, 11, 12], "rating": [5, 3, 4]})
>>> top = pd.DataFrame({"userID": [1, 1, 2, 2], "itemID": [10, 13, 14, 12], "prediction": [0.9, 0.8, 0.7, 0.6]})
>>> float(recommenders.precision_at_k(test, top, k=2)), float(recommenders.recall_at_k(test, top, k=2))
(0.5, 0.75)

The functions read pandas frames, as the library's do. Names of columns are arguments: `col_user`, `col_item` and so on.
`differences` says what is not equal; the rest is as the documentation of recommenders says.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime import optional
from exactk.compat import _rating_errors
from exactk.compat._computed_functions import computed_from
from exactk.compat._key_codes import positions_within
from exactk.compat._list_similarity import RecommendedLists, are_alike, check_lists, check_unseen
from exactk.compat._pairs import (
    codes_of_both,
    first_rows,
    head_of_groups,
    match_pairs,
    numbers_of,
    pairs_of_both,
    ranked_hits,
    shared_categories,
    sorted_codes,
    sums_of_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk.compat._key_codes import Floats, Frame, Integers
    from exactk.compat._pairs import RankedHits

__all__ = [
    "ColumnMismatchError",
    "ColumnTypeMismatchError",
    "auc",
    "catalog_coverage",
    "differences",
    "distributional_coverage",
    "diversity",
    "exp_var",
    "get_top_k_items",
    "historical_item_novelty",
    "logloss",
    "mae",
    "map",
    "map_at_k",
    "merge_ranking_true_pred",
    "merge_rating_true_pred",
    "metrics",
    "ndcg_at_k",
    "novelty",
    "precision_at_k",
    "r_precision_at_k",
    "recall_at_k",
    "rmse",
    "rsquared",
    "serendipity",
    "user_diversity",
    "user_item_serendipity",
    "user_serendipity",
]

_PURPOSE = "exactk.compat.recommenders"


class ColumnMismatchError(Exception):
    """A frame lacks a column."""


class ColumnTypeMismatchError(Exception):
    """The users or the items of two frames are of different types."""


def differences() -> tuple[str, ...]:
    """Return what is not equal to recommenders, in sentences."""
    return (
        "Values may differ in the last digits, by 1e-12 at most, because sums are in another order.",
        "Nothing is kept between calls; recommenders returns the same frame again to a second call with equal frames.",
        "The warnings that pandas gives about the code of recommenders are not given.",
        "Predictions must be numbers; recommenders ranks strings too.",
        "Arguments after the columns of merge_rating_true_pred and merge_ranking_true_pred are named, as they have to be there.",
        "An item that item_feature_df has twice is a ValueError; recommenders counts it twice.",
        "map_at_k of no data frames is an AttributeError; in recommenders it is a TypeError.",
        "UndefinedMetricWarning is a class of this module; that of recommenders is scikit-learn's.",
        "Errors of float32 ratings or predictions are added in float64: in recommenders their last digits are those of float32.",
        "Columns of float16 are computed with in float64; sums of recommenders have the three digits of float16.",
        "ndcg_at_k with score_type='raw' refuses ratings of dtype object.",
        "Values are floats of Python; many of recommenders' are NumPy's.",
        "Users that are NaN count as a user; recommenders leaves them out of rankings.",
        "historical_item_novelty has no row of an item that is a category without rows; recommenders has infinity.",
        "The numbers are those with pandas 2, which recommenders needs.",
    )


def _check_rated(true: Frame, predicted: Frame, user: str, item: str, *others: str, prediction: str) -> None:
    """Raise unless both frames have their columns, and keys of the same types."""
    if not {user, item, *others}.issubset(true.columns):
        message = "Missing columns in true rating DataFrame"
        raise ColumnMismatchError(message)
    if not {user, item, prediction}.issubset(predicted.columns):
        message = "Missing columns in predicted rating DataFrame"
        raise ColumnMismatchError(message)
    if not are_alike(true, predicted, user, item):
        message = "Columns in provided DataFrames are not the same datatype"
        raise ColumnTypeMismatchError(message)


def merge_rating_true_pred(
    rating_true: Frame,
    rating_pred: Frame,
    col_user: str = "userID",
    col_item: str = "itemID",
    col_prediction: str = "prediction",
    *,
    col_rating: str = "rating",
) -> tuple[Any, Any]:
    """Return the actual and the predicted ratings of the pairs of user and item that are in both frames."""
    _check_rated(rating_true, rating_pred, col_user, col_item, col_rating, prediction=col_prediction)
    matches = match_pairs(*pairs_of_both(rating_true, rating_pred, (col_user, col_item)))
    actual = rating_true[col_rating].iloc[matches.first].reset_index(drop=True)
    predicted = rating_pred[col_prediction].iloc[matches.second].reset_index(drop=True)
    actual.name = f"{col_rating}_true" if col_rating in rating_pred.columns else col_rating
    predicted.name = f"{col_prediction}_pred" if col_prediction in rating_true.columns else col_prediction
    return actual, predicted


def _ratings(
    rating_true: Frame,
    rating_pred: Frame,
    col_user: str = "userID",
    col_item: str = "itemID",
    col_rating: str = "rating",
    col_prediction: str = "prediction",
) -> tuple[object, object]:
    frames, keys = (rating_true, rating_pred), (col_user, col_item)
    return merge_rating_true_pred(*frames, *keys, col_prediction, col_rating=col_rating)


_of_ratings = computed_from(_ratings)
rmse = _of_ratings(_rating_errors.rmse)
mae = _of_ratings(_rating_errors.mae)
rsquared = _of_ratings(_rating_errors.rsquared)
exp_var = _of_ratings(_rating_errors.exp_var)
auc = _of_ratings(_rating_errors.auc)
logloss = _of_ratings(_rating_errors.logloss)


def merge_ranking_true_pred(
    rating_true: Frame,
    rating_pred: Frame,
    col_user: str = "userID",
    col_item: str = "itemID",
    col_prediction: str = "prediction",
    *,
    relevancy_method: str | None,
    k: float | None = 10,
    threshold: float | None = 10,
    **_: object,
) -> tuple[Frame, Frame, int]:
    """Return the hits with their ranks, the numbers of hits and of relevant items by user, and the number of users."""
    columns = (col_user, col_item, col_prediction)
    hits, _k = _hits(rating_true, rating_pred, *columns, relevancy_method, k, threshold)
    table = rating_pred[[col_user, col_item]].iloc[hits.rows].reset_index(drop=True)
    for column in (col_user, col_item):
        if hasattr(table[column].dtype, "categories") and table[column].dtype != rating_true[column].dtype:
            table[column] = table[column].to_numpy()  # as pandas merges different categories
    table["rank"] = hits.ranks
    return table, _counts_by_user(hits, rating_true[col_user], rating_pred[col_user]), hits.user_count


def _counts_by_user(hits: RankedHits, true_users: Any, predicted_users: Any) -> Frame:  # noqa: ANN401 - pandas Series
    """Return the frame of hits and relevant items: of users with a hit, or of all categories if users are such."""
    categories, pandas = shared_categories(true_users, predicted_users), optional.pandas(_PURPOSE)
    if categories is None:
        codes, first = np.unique(hits.users, return_index=True)
        users = predicted_users.iloc[hits.rows[first]].to_numpy()
    else:
        codes = np.arange(len(categories))
        users = pandas.Categorical.from_codes(codes, dtype=true_users.dtype)
    return pandas.DataFrame({true_users.name: users, "hit": hits.counts[codes], "actual": hits.actual[codes]})


def _hits(
    rating_true: Frame,
    rating_pred: Frame,
    col_user: str = "userID",
    col_item: str = "itemID",
    col_prediction: str = "prediction",
    relevancy_method: str | None = "top_k",
    k: Any = 10,  # noqa: ANN401 - a number, or None
    threshold: Any = 10,  # noqa: ANN401 - a number, or None
    **_: object,
) -> tuple[RankedHits, Any]:
    """Return the hits, and k."""
    _check_rated(rating_true, rating_pred, col_user, col_item, prediction=col_prediction)
    depths = {"top_k": k, "by_threshold": threshold, None: None}
    if relevancy_method not in depths:
        message = "Invalid relevancy_method"
        raise NotImplementedError(message)
    if "rank" in rating_true.columns:  # the name of the library's column of ranks
        message = "rank"
        raise KeyError(message)
    return ranked_hits(rating_true, rating_pred, col_user, col_item, col_prediction, depths[relevancy_method]), k


def _or_zero(compute: Callable[[RankedHits, Any], float]) -> Callable[[RankedHits, Any], float]:
    """Return the function of hits and k; 0 if there are no hits."""

    @wraps(compute)
    def of_hits(hits: RankedHits, k: Any) -> float:  # noqa: ANN401 - a number, or None
        return compute(hits, k) if len(hits.rows) else 0.0

    return of_hits


_of_hits = computed_from(_hits)


# The core has these values by the preset 'recommenders', of pairs that are once in a frame, and of cutoffs from 1. recommenders
# counts each row of a repeated pair, groups by categories without rows, and takes k as pandas' `head` does: below 0, a fraction.


@_of_hits
@_or_zero
def precision_at_k(hits: RankedHits, k: Any) -> float:  # noqa: ANN401 - a number
    """Return the precision at k: the mean over users in both frames of their hits / k."""
    with np.errstate(divide="ignore"):
        return float((hits.counts[hits.counts > 0] / k).sum() / hits.user_count)


@_of_hits
@_or_zero
def recall_at_k(hits: RankedHits, _: object) -> float:
    """Return the recall at k: the mean over users in both frames of their hits / their relevant items."""
    return float((hits.counts / np.maximum(hits.actual, 1)).sum() / hits.user_count)


@_of_hits
@_or_zero
def r_precision_at_k(hits: RankedHits, _: object) -> float:
    """Return the mean R-precision of the users who have a hit among their first R rows; R is at most k.

    If users are the same categories in both frames, the mean is that of all users in both, as of pandas' groups.
    """
    early = hits.sums(hits.ranks <= hits.actual[hits.users])
    # pandas groups by all categories, so that users without such a hit count as well, with 0.
    having = hits.actual > 0 if hits.has_categories else early > 0
    return float((early[having] / hits.actual[having]).mean()) if having.any() else float("nan")


@_of_hits
@_or_zero
def map(hits: RankedHits, _: object) -> float:  # noqa: A001 - the library's name
    """Return the mean average precision, divided by the number of relevant items."""
    return float((_precision_sums(hits) / np.maximum(hits.actual, 1)).sum() / hits.user_count)


@_of_hits
@_or_zero
def map_at_k(hits: RankedHits, k: Any) -> float:  # noqa: ANN401 - a number
    """Return the mean average precision, divided by the number of relevant items or by k, whichever is less."""
    sums, divisors = _precision_sums(hits), np.minimum(hits.actual, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((sums[sums > 0] / divisors[sums > 0]).sum() / hits.user_count)


def _precision_sums(hits: RankedHits) -> Floats:
    """Return, by user, the sum of the precision at each hit."""
    return hits.sums((positions_within(hits.users) + 1) / hits.ranks)


def ndcg_at_k(
    rating_true: Frame,
    rating_pred: Frame,
    col_user: str = "userID",
    col_item: str = "itemID",
    col_rating: str = "rating",
    col_prediction: str = "prediction",
    relevancy_method: str | None = "top_k",
    k: Any = 10,  # noqa: ANN401 - a number, or None
    threshold: Any = 10,  # noqa: ANN401 - a number, or None
    score_type: str = "binary",
    discfun_type: str = "loge",
    **_: object,
) -> float:
    """Return the mean nDCG at k of the users in `rating_true`."""
    columns = (col_user, col_item, col_prediction)
    hits, _k = _hits(rating_true, rating_pred, *columns, relevancy_method, k, threshold)
    if not len(hits.rows):
        return 0.0
    if "rank" in rating_pred.columns:  # the name of the library's column of ranks
        message = "rank"
        raise KeyError(message)
    gains = _gains(rating_true[col_rating].to_numpy(), score_type)
    if discfun_type not in _LOGARITHMS:
        message = "discfun_type must be one of 'loge', 'log2'"
        raise ValueError(message)
    logarithm = _LOGARITHMS[discfun_type]
    truth_pairs, pairs = pairs_of_both(rating_true, rating_pred, (col_user, col_item))
    of_hits = pairs[hits.rows]
    repeats = sums_of_pairs(pairs, None, of_hits)
    dcg = hits.sums(sums_of_pairs(truth_pairs, np.nan_to_num(gains), of_hits) * repeats / logarithm(1.0 + hits.ranks))
    copies = np.maximum(1, sums_of_pairs(of_hits, repeats, truth_pairs)).astype(np.int64)
    ideal, is_evaluated = _ideal_sums(hits, numbers_of(rating_true[col_rating]), gains, copies, k, logarithm)
    with np.errstate(divide="ignore", invalid="ignore"):
        ndcg = (dcg / ideal)[is_evaluated]
    ndcg = ndcg[~np.isnan(ndcg)]
    return float(ndcg.mean()) if len(ndcg) else float("nan")


_LOGARITHMS: dict[str, Callable[[Any], Any]] = {"loge": np.log, "log2": np.log2}


def _gains(ratings: Any, score_type: str) -> Any:  # noqa: ANN401 - an array of numbers
    if score_type == "binary":
        return np.ones(len(ratings))
    if score_type == "raw":
        return ratings
    if score_type == "exp":
        return 2**ratings - 1
    message = "score_type must be one of 'binary', 'raw', 'exp'"
    raise ValueError(message)


def _ideal_sums(
    hits: RankedHits,
    ratings: Floats,
    gains: Floats,
    copies: Integers,
    k: float | None,
    logarithm: Callable[[Any], Any],
) -> tuple[Floats, Any]:
    """Return, by user, the DCG of the relevant items by falling rating, and who has one; a repeated item counts again."""
    users = np.repeat(hits.truth_users, copies)
    ratings, gains = np.repeat(ratings.astype(np.float64), copies), np.repeat(gains, copies)
    order = np.lexsort((-ratings, users))  # NaN is last, and has no rank
    users, ratings, gains = users[order], ratings[order], gains[order]
    above = positions_within(users)
    sizes = np.bincount(users, minlength=len(hits.actual))
    kept = head_of_groups(above, sizes[users], k)
    discounted = np.where(np.isnan(ratings), 0, np.nan_to_num(gains) / logarithm(2.0 + above))[kept]
    is_evaluated = np.bincount(users[kept], minlength=len(sizes)) > 0
    sums: Floats = np.bincount(users[kept], discounted, len(sizes)).astype(np.float64, copy=False)
    return sums, is_evaluated


def get_top_k_items(
    dataframe: Frame, col_user: str = "userID", col_rating: str = "rating", k: float | None = 10
) -> Frame:
    """Return the first k rows of each user by falling rating, with their ranks."""
    users, _, count = sorted_codes(dataframe[col_user], dataframe[col_user][:0])
    if k is None:
        dataframe["rank"] = positions_within(users) + 1
        return dataframe
    rows, ranks = first_rows(users, count, numbers_of(dataframe[col_rating]), k)
    top = dataframe.iloc[rows].reset_index(drop=True)
    top["rank"] = ranks
    return top


metrics: dict[str, Callable[..., float]] = {
    function.__name__: function
    for function in (
        rmse, mae, rsquared, exp_var, precision_at_k, recall_at_k, r_precision_at_k, ndcg_at_k, map_at_k, map,
    )
}  # fmt: skip
"""The functions by name."""


def _lists(
    train_df: Frame,
    reco_df: Frame,
    item_feature_df: Frame | None = None,
    item_sim_measure: str = "item_cooccurrence_count",
    col_item_features: str = "features",
    col_user: str = "userID",
    col_item: str = "itemID",
    col_sim: str = "sim",
    col_relevance: str | None = None,
) -> tuple[RecommendedLists]:
    columns = (col_user, col_item, col_item_features, col_sim)
    return (RecommendedLists(train_df, reco_df, item_feature_df, item_sim_measure, columns, col_relevance),)


_of_lists = computed_from(_lists)


@_of_lists
def user_diversity(lists: RecommendedLists) -> Frame:
    """Return 1 minus the mean similarity of the items of each user's list.

    The frame has the columns `col_user` and ``"user_diversity"``, of users with two items or more.
    """
    return lists.by_user(1 - lists.intralist(), "user_diversity")


@_of_lists
def diversity(lists: RecommendedLists) -> float:
    """Return the mean of `user_diversity`."""
    return float(lists.by_user(1 - lists.intralist(), "diversity")["diversity"].mean())


@_of_lists
def user_item_serendipity(lists: RecommendedLists) -> Frame:
    """Return 1 minus the mean similarity to what the user had, times relevance, of each recommended item.

    The frame has the columns `col_user`, `col_item` and ``"user_item_serendipity"``, of users in `train_df`.
    """
    order = np.lexsort((lists.items, lists.users))
    order = order[np.isin(lists.users, lists.train_users)[order]]
    table = lists.keys.iloc[order].reset_index(drop=True)
    table["user_item_serendipity"] = lists.serendipities()[order]
    return table


@_of_lists
def user_serendipity(lists: RecommendedLists) -> Frame:
    """Return the mean of `user_item_serendipity` by user.

    The frame has the columns `col_user` and ``"user_serendipity"``, of users in `train_df`.
    """
    return lists.by_user(lists.user_serendipities(), "user_serendipity")


@_of_lists
def serendipity(lists: RecommendedLists) -> float:
    """Return the mean of `user_serendipity`."""
    return float(lists.by_user(lists.user_serendipities(), "serendipity")["serendipity"].mean())


def historical_item_novelty(
    train_df: Frame, reco_df: Frame, col_user: str = "userID", col_item: str = "itemID"
) -> Frame:
    """Return the novelty of each item of `train_df`: minus log2 of its share of the rows."""
    codes, _, count = _checked_items(train_df, reco_df, col_user, col_item)
    held, first = np.unique(codes, return_index=True)
    novelties = _novelties(codes, count)[held]
    items = train_df[col_item].iloc[first].reset_index(drop=True)
    return optional.pandas(_PURPOSE).DataFrame({col_item: items, "item_novelty": novelties})


def _checked_items(train: Frame, reco: Frame, user: str, item: str) -> tuple[Integers, Integers, int]:
    """Return the codes of the items of both frames, ascending as they do, and their number."""
    check_lists(train, reco, user, item)
    check_unseen(train, reco, user, item)
    return codes_of_both(train[item].to_numpy(), reco[item].to_numpy(), sort=True)


def _novelties(codes: Integers, count: int) -> Floats:
    """Return minus log2 of the share of each item; infinity of one without rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        novelties: Floats = -np.log2(np.bincount(codes, minlength=count) / len(codes))
    return novelties


def novelty(train_df: Frame, reco_df: Frame, col_user: str = "userID", col_item: str = "itemID") -> float:
    """Return the mean novelty of the recommended items; those that are not in `train_df` count as 0."""
    codes, listed, count = _checked_items(train_df, reco_df, col_user, col_item)
    if not len(listed):
        return float("nan")
    novelties = _novelties(codes, count)[listed]
    return float(novelties[np.isfinite(novelties)].sum() / len(listed))


def catalog_coverage(train_df: Frame, reco_df: Frame, col_user: str = "userID", col_item: str = "itemID") -> float:
    """Return the number of recommended items over that of the items of `train_df`."""
    codes, listed, _ = _checked_items(train_df, reco_df, col_user, col_item)
    return len(np.unique(listed)) / len(np.unique(codes))


def distributional_coverage(
    train_df: Frame, reco_df: Frame, col_user: str = "userID", col_item: str = "itemID"
) -> float:
    """Return the entropy of the recommended items, in bits."""
    _, listed, _ = _checked_items(train_df, reco_df, col_user, col_item)
    _, counts = np.unique(listed, return_counts=True)
    shares = counts / len(listed)
    return float(-(shares * np.log2(shares)).sum())
