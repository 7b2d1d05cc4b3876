"""A drop-in replacement for the metrics of implicit.evaluation (implicit 0.7.3).

>>> import numpy as np
>>> from scipy.sparse import csr_matrix
>>> from exactk.compat.implicit import ranking_metrics_at_k
>>> class Popular:
...     def recommend(self, users, user_items, N):
...         return np.tile(np.arange(N), (len(users), 1)), np.zeros((len(users), N))
>>> test = csr_matrix(np.array([[1, 0, 0, 1], [0, 1, 1, 0]]))
>>> ranking_metrics_at_k(Popular(), csr_matrix((2, 4)), test, K=2, show_progress=False)
{'precision': 0.5, 'map': 0.375, 'ndcg': 0.5, 'auc': 0.5}

A model with vectors on the CPU (ALS, BPR, logistic factorization) is ranked by exactk, without the items in the training
matrix; any other model is asked for its recommendations, as implicit does.
`differences` says what is not equal; the rest is as the documentation of implicit says.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.embeddings import Embeddings
from exactk._inputs.model.lists import Exclusions, Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.truth import Truth
from exactk._plan.conventions import as_convention
from exactk._runtime.errors import input_error, without_warnings
from exactk._topk import topk
from exactk.compat._computed_functions import computed_from
from exactk.compat._user_values import judged_blocks, ndcg_of_hits, user_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from exactk._engine.problem import JudgedCells

__all__ = [
    "AUC_at_k",
    "differences",
    "mean_average_precision_at_k",
    "ndcg_at_k",
    "precision_at_k",
    "ranking_metrics_at_k",
]

_BATCH = 1000  # users whom a model is asked for at once, as by implicit
_FACTOR_MODELS = "implicit.cpu.matrix_factorization_base"  # whose recommendations are the best products of vectors


def differences() -> tuple[str, ...]:
    """Return what is not equal to implicit, in sentences."""
    return (
        "Sums over users may differ in the last digits.",
        "Models with vectors on the CPU are ranked by exact products: items whose float32 products nearly tie may swap.",
        "Where fewer than K items are not in the training matrix, such a model's list ends; implicit fills it with them.",
        "K must be an integer; implicit makes 1 of 1.5.",
        "Models on a GPU, and all others, are asked for recommendations, so that their time stays what it is.",
        "There is no progress bar, whatever show_progress is.",
        "num_threads=0 and 1 are all threads and one, as in implicit, of models with vectors on the CPU.",
        "train_test_split and leave_k_out_split stay with implicit.",
    )


def _ranking_metrics(
    model: Any,  # noqa: ANN401 - a model of implicit, or any with `recommend`
    train_user_items: Any,  # noqa: ANN401 - a sparse matrix
    test_user_items: Any,  # noqa: ANN401
    K: int = 10,  # noqa: N803 - as in implicit
    show_progress: bool = True,  # noqa: ARG001, FBT001, FBT002 - as in implicit
    num_threads: int = 1,
) -> tuple[dict[str, float]]:
    k = _checked_count(K)
    train, test = (one if _is_csr(one) else one.tocsr() for one in (train_user_items, test_user_items))
    users = np.flatnonzero(np.diff(test.indptr) > 0).astype(np.int32)
    sums = np.zeros(5)  # hits, their divisor, and the sums of map, ndcg and auc
    for batch, ids in _recommended(model, train, users, k, num_threads):
        sums += _sums_of_users(test[batch], ids, k)
    hit_count, divisor, *means = sums.tolist()
    average_precision, ndcg, auc = (one / len(users) for one in means)
    return ({"precision": hit_count / divisor, "map": average_precision, "ndcg": ndcg, "auc": auc},)


_of_metrics = computed_from(_ranking_metrics)


@_of_metrics
def ranking_metrics_at_k(metrics: dict[str, float]) -> dict[str, float]:
    """Return the metrics of a model over the users with test items.

    See Also
    --------
    exactk.evaluate : ``exactk.evaluate(test, exactk.Embeddings(users, items), ["map@10"], exclude=train, convention="implicit")``.
    """
    return metrics


@_of_metrics
def precision_at_k(metrics: dict[str, float]) -> float:
    """Return ``precision`` of `ranking_metrics_at_k`, with its arguments."""
    return metrics["precision"]


@_of_metrics
def mean_average_precision_at_k(metrics: dict[str, float]) -> float:
    """Return ``map`` of `ranking_metrics_at_k`, with its arguments."""
    return metrics["map"]


@_of_metrics
def ndcg_at_k(metrics: dict[str, float]) -> float:
    """Return ``ndcg`` of `ranking_metrics_at_k`, with its arguments."""
    return metrics["ndcg"]


@_of_metrics
def AUC_at_k(metrics: dict[str, float]) -> float:  # noqa: N802 - as in implicit
    """Return ``auc`` of `ranking_metrics_at_k`, with its arguments."""
    return metrics["auc"]


def _sums_of_users(test: Any, ids: NDArray[np.int64], k: int) -> NDArray[np.float64]:  # noqa: ANN401 - in CSR format
    """Return the sums over users: hits, their divisors, average precision, nDCG and AUC."""
    users, items = test.shape
    no_items = items + np.arange(ids.size).reshape(ids.shape)  # which count as recommended items
    rankings = Rankings(np.arange(users + 1) * k, np.where((ids >= 0) & (ids < items), ids, no_items).ravel())
    truth = Truth(test.indptr, test.indices)
    average_precision = user_values(truth, rankings, [f"average_precision@{k}"], _CONVENTION)[f"average_precision@{k}"]
    judged = [_sums_of_lists(lists, items, k) for lists in judged_blocks(truth, rankings, "num_hits", _CONVENTION)]
    hits, divisors, ndcg, auc = np.sum(judged, axis=0)
    return np.array([hits, divisors, average_precision.sum(), ndcg, auc])


def _sums_of_lists(lists: JudgedCells, items: int, k: int) -> tuple[float, ...]:
    """Return the sums of hits, their divisors, nDCG and AUC."""
    hits, others = np.count_nonzero(lists.hits, axis=1), items - lists.relevant
    if (others == 0).any():
        message = "float division"
        raise ZeroDivisionError(message)
    # Unlike those of `list_auc`, lists may be longer than the catalogue: positions without an item are misses too.
    above = np.where(lists.hits, 0, np.cumsum(lists.hits, axis=1)).sum(axis=1)  # pairs of a hit and a miss in the list
    pairs = above + (hits + lists.relevant) / 2 * (others - (k - hits))
    of_users = (hits, np.minimum(k, lists.relevant), ndcg_of_hits(lists, k), pairs / (lists.relevant * others))
    return tuple(float(one.sum()) for one in of_users)


_CONVENTION = as_convention({"base": "implicit", "duplicate_truth": "first"})


def _checked_count(count: object) -> int:
    """Return the number of items, from 1 on, as an int; raise TypeError for a float, of which implicit drops the fraction."""
    if isinstance(count, (int, np.integer)):
        if count < 1:
            raise input_error("K", "an integer from 1 on", repr(count))
        return int(count)
    message = f"K must be an integer, not {type(count).__name__}"
    raise TypeError(message)


def _is_csr(matrix: Any) -> bool:  # noqa: ANN401 - anything
    return getattr(matrix, "format", "") == "csr"


def _recommended(
    model: Any,  # noqa: ANN401 - as above
    train: Any,  # noqa: ANN401
    users: NDArray[np.int32],
    k: int,
    num_threads: int,
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Yield some users at a time, with a row of k items each; -1 where there are fewer."""
    if len(users) and _has_vectors(model):
        ids = _best_products(model, train, users, k, num_threads)
        for begin in range(0, len(users), _BATCH):
            yield users[begin : begin + _BATCH], ids[begin : begin + _BATCH]
        return
    for begin in range(0, len(users), _BATCH):
        batch = users[begin : begin + _BATCH]
        ids = np.asarray(model.recommend(batch, train[batch], N=k)[0])[:, :k].astype(np.int64)
        if ids.shape != (len(batch), k):
            raise input_error(
                "model", f"{k} recommended items of each of {len(batch)} users", f"an array of shape {ids.shape}"
            )
        yield batch, ids


def _has_vectors(model: Any) -> bool:  # noqa: ANN401 - as above
    """Return whether the model recommends the best products of vectors in the CPU's memory.

    It does if it has the methods of implicit's base class: an override, of a class or an object, may recommend anything.
    """
    base = getattr(sys.modules.get(_FACTOR_MODELS), "MatrixFactorizationBase", None)
    if base is None or not isinstance(model, base) or not _has_methods_of(model, base, "recommend", "_user_factor"):
        return False
    return all(isinstance(vectors, np.ndarray) for vectors in (model.user_factors, model.item_factors))


def _has_methods_of(model: Any, base: type, *names: str) -> bool:  # noqa: ANN401 - as above
    return all(getattr(getattr(model, name), "__func__", None) is getattr(base, name) for name in names)


def _best_products(
    model: Any,  # noqa: ANN401 - as above
    train: Any,  # noqa: ANN401
    users: NDArray[np.int32],
    k: int,
    num_threads: int,
) -> NDArray[np.int64]:
    vectors = model.item_factors
    fitted = train[users]
    if fitted.indices.max(initial=-1) >= len(vectors):
        message = f"index {fitted.indices.max()} is out of bounds for a model of {len(vectors)} items"
        raise IndexError(message)
    exclude = Exclusions.from_rows(Rows(fitted.indptr.astype(np.int64), fitted.indices.astype(np.int64)))
    embeddings = Embeddings(model.user_factors[users], vectors)
    with without_warnings():
        best = topk(embeddings, min(k, len(vectors)), exclude=exclude, num_threads=num_threads or None)
    ids = np.full((len(users), k), -1, np.int64)
    ids[:, : best.items.shape[1]] = best.items
    return ids
