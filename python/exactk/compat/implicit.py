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
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from exactk._inputs.embeddings import Embeddings
from exactk._inputs.model.lists import Exclusions
from exactk._inputs.model.rows import Rows
from exactk._runtime.errors import without_warnings
from exactk._topk import topk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = [
    "AUC_at_k",
    "differences",
    "mean_average_precision_at_k",
    "ndcg_at_k",
    "precision_at_k",
    "ranking_metrics_at_k",
]

Arguments = ParamSpec("Arguments")

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


def ranking_metrics_at_k(
    model: Any,  # noqa: ANN401 - a model of implicit, or any with `recommend`
    train_user_items: Any,  # noqa: ANN401 - a sparse matrix
    test_user_items: Any,  # noqa: ANN401
    K: int = 10,  # noqa: N803 - as in implicit
    show_progress: bool = True,  # noqa: ARG001, FBT001, FBT002 - as in implicit
    num_threads: int = 1,
) -> dict[str, float]:
    """Return the metrics of a model over the users with test items.

    See Also
    --------
    exactk.evaluate : ``exactk.evaluate(test, exactk.Embeddings(users, items), ["map@10"], exclude=train, convention="implicit")``.
    """
    k = _checked_count(K)
    train, test = (one if _is_csr(one) else one.tocsr() for one in (train_user_items, test_user_items))
    users = np.flatnonzero(np.diff(test.indptr) > 0).astype(np.int32)
    items = int(test.shape[1])
    entries = _distinct_entries(test)
    relevant = np.bincount(entries // max(items, 1), minlength=int(test.shape[0]))
    sums = np.zeros(5)  # hits, their divisor, and the sums of map, ndcg and auc
    for batch, ids in _recommended(model, train, users, k, num_threads):
        is_item = (ids >= 0) & (ids < items)
        hits = is_item & _is_in(entries, np.where(is_item, ids, 0) + items * batch[:, np.newaxis].astype(np.int64))
        sums += _sums_of_users(hits, relevant[batch], items, k)
    hit_count, divisor, *means = sums.tolist()
    average_precision, ndcg, auc = (one / len(users) for one in means)
    return {"precision": hit_count / divisor, "map": average_precision, "ndcg": ndcg, "auc": auc}


def _one_of(ranking_metrics: Callable[Arguments, dict[str, float]], key: str, name: str) -> Callable[Arguments, float]:
    """Return the library's function of one of the metrics."""

    @wraps(ranking_metrics)
    def metric(*arguments: Arguments.args, **options: Arguments.kwargs) -> float:
        return ranking_metrics(*arguments, **options)[key]

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = f"Return ``{key}`` of `ranking_metrics_at_k`, with its arguments."
    metric.__annotations__ = {**ranking_metrics.__annotations__, "return": "float"}
    metric.__signature__ = signature(ranking_metrics).replace(return_annotation="float")  # type: ignore[attr-defined]
    return metric


precision_at_k = _one_of(ranking_metrics_at_k, "precision", "precision_at_k")
mean_average_precision_at_k = _one_of(ranking_metrics_at_k, "map", "mean_average_precision_at_k")
ndcg_at_k = _one_of(ranking_metrics_at_k, "ndcg", "ndcg_at_k")
AUC_at_k = _one_of(ranking_metrics_at_k, "auc", "AUC_at_k")


def _checked_count(count: object) -> int:
    """Return the number of items as an int; raise TypeError for a float, of which implicit drops the fraction."""
    if isinstance(count, (int, np.integer)):
        return int(count)
    message = f"K must be an integer, not {type(count).__name__}"
    raise TypeError(message)


def _is_csr(matrix: Any) -> bool:  # noqa: ANN401 - anything
    return getattr(matrix, "format", "") == "csr"


def _distinct_entries(matrix: Any) -> NDArray[np.int64]:  # noqa: ANN401 - in CSR format
    """Return the numbers of the stored entries, row after row, each once and in order."""
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    entries: NDArray[np.int64] = np.unique(rows * matrix.shape[1] + matrix.indices)
    return entries


def _is_in(entries: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which numbers are among the entries, which are in order and not none."""
    found = np.minimum(np.searchsorted(entries, numbers), len(entries) - 1)
    is_found: NDArray[np.bool_] = entries[found] == numbers
    return is_found


def _recommended(
    model: Any,  # noqa: ANN401 - as above
    train: Any,  # noqa: ANN401
    users: NDArray[np.int32],
    k: int,
    num_threads: int,
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Yield some users at a time, with a row of k items each; -1 where there are fewer."""
    if len(users) and _has_vectors(model) and k > 0:
        ids = _best_products(model, train, users, k, num_threads)
        for begin in range(0, len(users), _BATCH):
            yield users[begin : begin + _BATCH], ids[begin : begin + _BATCH]
        return
    for begin in range(0, len(users), _BATCH):
        batch = users[begin : begin + _BATCH]
        ids, _ = model.recommend(batch, train[batch], N=k)
        yield batch, np.asarray(ids)[:, :k].astype(np.int64)


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


def _sums_of_users(hits: NDArray[np.bool_], relevant: NDArray[np.int64], items: int, k: int) -> NDArray[np.float64]:
    """Return the sums over users: hits, their divisors, average precision, nDCG and AUC."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    most = np.minimum(k, relevant)
    hits_so_far = np.cumsum(hits, axis=1)
    precisions = np.where(hits, hits_so_far / np.arange(1, k + 1), 0).sum(axis=1)
    gains = (hits * discounts).sum(axis=1) / np.cumsum(discounts)[most - 1]
    count = hits_so_far[:, -1]
    above = np.where(hits, 0, hits_so_far).sum(axis=1)  # pairs of a hit and a miss in the list
    others = items - relevant
    pairs = above + (count + relevant) / 2 * (others - (k - count))
    if (others == 0).any():
        message = "float division"
        raise ZeroDivisionError(message)
    auc = pairs / (relevant * others)
    return np.array([count.sum(), most.sum(), (precisions / most).sum(), gains.sum(), auc.sum()])
