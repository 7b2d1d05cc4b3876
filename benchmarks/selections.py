"""Who is selected: what a peer that computes no metric must find, and what a search for neighbors must."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import exactk
from benchmarks.answers import WrongAnswerError, check, evaluate, exclude, sample
from benchmarks.factors import Neighbors
from benchmarks.workload import Data, Ids, Workload

SCORES = 2**25  # that are computed anew, one by one
NEAR = 1e-5  # relative: in single precision either of two such scores may come first


def verify(workload: Workload, data: Data) -> None:
    """Raise unless our answer is right."""
    if isinstance(workload, Neighbors):
        _verify_neighbors(workload, data)
    elif data.factors is not None:
        _verify_factors(workload, data)
    else:
        check(workload, data, evaluate(workload, data))


def _verify_factors(workload: Workload, data: Data) -> None:
    """Compare some users' values with those of their scores, which the reference would take minutes for."""
    assert data.factors is not None
    count = max(1, SCORES // workload.length)
    users = np.unique(np.linspace(0, workload.users - 1, min(count, workload.users)).astype(np.intp))
    sampled = data.rows(users)
    scores = np.einsum("ud,id->ui", sampled.predictions, data.factors, dtype=np.float64)
    expected = evaluate(workload, replace(sampled, predictions=scores, factors=None), per_user=True).per_user
    per_user = evaluate(workload, data, per_user=True).per_user
    for name in workload.values:
        for user in users[per_user[name][users] != expected[name]][:1]:
            raise WrongAnswerError(f"{workload.name}: {name} of user {user} is not that of the user's scores")


def _verify_neighbors(workload: Workload, data: Data) -> None:
    """Compare some neighbors with those of a full sort."""
    users = sample(workload)
    sampled = replace(data, predictions=data.predictions[users])
    scores = _unit(sampled.predictions) @ _unit(data.predictions).T
    scores[np.arange(len(users)), users] = -np.inf
    expected = np.argsort(-scores, axis=1)[:, : max(workload.cutoffs)]
    compare_best("exactk", best(workload, data)[users], expected, workload, sampled)


def answer(workload: Workload, data: Data) -> Mapping[str, float] | Ids:
    """Return what a workload asks for: means, or who is near."""
    return best(workload, data) if isinstance(workload, Neighbors) else dict(evaluate(workload, data))


def best(workload: Workload, data: Data) -> NDArray[np.int64]:
    """Return the ids of each user's highest scores. Of embeddings nothing is excluded, as no peer that only selects does."""
    depth, threads = max(workload.cutoffs), workload.threads
    if isinstance(workload, Neighbors):
        return exactk.neighbors(data.predictions, depth, num_threads=threads).items
    if data.factors is not None:
        return exactk.topk(exactk.Embeddings(data.predictions, data.factors), depth, num_threads=threads).items
    return exactk.topk(data.predictions, depth, exclude(data), num_threads=threads).items


def compare_best(who: str, ids: Ids, expected: Ids, workload: Workload, data: Data) -> None:
    """Raise unless the ids are those expected, in their order, but for near scores of embeddings."""
    if ids.shape != expected.shape:
        raise WrongAnswerError(f"{who}: selects {ids.shape}, not {expected.shape}")
    different = np.argwhere(ids != expected)
    if data.factors is not None:
        users = different[:, 0]
        either, other = (_scores(workload, data, users, item_ids[tuple(different.T)]) for item_ids in (ids, expected))
        different = different[~np.isclose(either, other, rtol=NEAR, atol=0)]
    for user, position in different[:1]:
        message = f"{who}: at place {position} of user {user} is {ids[user, position]}, not {expected[user, position]}"
        raise WrongAnswerError(message)


def _scores(workload: Workload, data: Data, users: Ids, items: Ids) -> NDArray[np.float64]:
    """Return the score of each user for one item."""
    assert data.factors is not None
    as_scored = _unit if isinstance(workload, Neighbors) else np.float64
    products: NDArray[np.float64] = np.einsum(
        "ij,ij->i", as_scored(data.predictions[users]), as_scored(data.factors[items])
    )
    return products


def _unit(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return the vectors with a length of 1."""
    wide = vectors.astype(np.float64)
    lengths: NDArray[np.float64] = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / lengths
