"""A process of several, each of which updates a metric and an evaluator; each writes what it has of all users to a file."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import exactk

METRICS = ["ndcg@10", "recall@[5,10]", "map", "precision@5(average=micro)", "mrr(average=geometric)"]

SETUPS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "equal": (METRICS, {}),
    "weighted": (METRICS, {}),
    "catalogue": (["recall@5", "coverage@[1,5]", "gini@5"], {"items": exactk.Items(30)}),
}


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    scores = np.round(rng.standard_normal((50, 30)), 1).astype(np.float32)  # many are tied
    weights = rng.random(50) * 10.0 ** rng.integers(-9, 9, 50)
    return rng.random((50, 30)).argsort(axis=1)[:, :3], scores, weights


def of_dealt_users(torch: Any, size: int, *, drops_last: bool) -> Any:
    """Return the state of the users that the sampler deals, some of them twice, and their number; or the error."""
    from exactk.torch import RetrievalMetrics  # noqa: PLC0415 - only this process needs it

    truth, scores, weights = data()
    sampler = torch.utils.data.DistributedSampler(range(50), seed=3, drop_last=drops_last)
    metric = RetrievalMetrics(METRICS, num_users=50)
    for index, users in enumerate(np.array_split(np.array([*sampler]), 3)):
        update = (metric.update, metric)[index % 2]
        update(truth[users].tolist(), torch.from_numpy(scores[users]), weights=weights[users], candidates=range(30))
    try:
        return metric.report().state.to_bytes().hex(), len(sampler)
    except exactk.InputError as error:
        assert drops_last or size == 1
        return str(error)


def main(rank: int, size: int, folder: str) -> None:
    import torch  # noqa: PLC0415 - only this process needs it

    from exactk.torch import RetrievalMetrics  # noqa: PLC0415 - likewise

    torch.distributed.init_process_group("gloo", f"file://{folder}/rendezvous", rank=rank, world_size=size)
    truth, scores, weights = data()
    found: dict[str, Any] = {}
    for name, (metrics, setup) in SETUPS.items():
        options: dict[str, Any] = {"weights": weights} if name == "weighted" else {}
        metric = RetrievalMetrics(metrics, **setup)
        users_of_process = np.arange(50)[rank::size] if rank else np.arange(50)[::size][::-1]
        for index, users in enumerate(np.array_split(users_of_process, 3 + rank)):
            one = {key: values[users] for key, values in options.items()}
            update = (metric.update, metric)[index % 2]  # each adds the users
            update(torch.from_numpy(truth[users]), torch.from_numpy(scores[users]), **one)
        with warnings.catch_warnings(action="always", record=True) as caught:
            found[name] = {key: float(value) for key, value in metric.compute().items()}
            found[f"{name} state"] = metric.report().state.to_bytes().hex()
        found[f"{name} warnings"] = [
            str(one.message) for one in caught if issubclass(one.category, exactk.EvaluationWarning)
        ]
        metric.sync_on_compute = False
        found[f"{name} users of one"] = metric.report().counts["users"]
    found["dealt"], found["dealt users"] = of_dealt_users(torch, size, drops_last=False)
    found["dropped"] = of_dealt_users(torch, size, drops_last=True)
    found["mismatch"], found["users after"] = mismatch(RetrievalMetrics("recall@5" if rank else "recall@3"))
    found["state of evaluators"] = gathered_state(torch, truth[rank::size], scores[rank::size])
    Path(folder, f"{rank}.json").write_text(json.dumps(found), encoding="utf-8")
    torch.distributed.destroy_process_group()


def gathered_state(torch: Any, truth: Any, scores: Any) -> str:
    """Return the state of the users of all processes, whose evaluators each process merges."""
    evaluator = exactk.Evaluator(METRICS)
    for users in np.array_split(np.arange(len(truth)), 3):
        evaluator.update(torch.from_numpy(truth[users]), torch.from_numpy(scores[users]))
    evaluators: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(evaluators, evaluator)
    first, *others = evaluators
    for other in others:
        first.merge(other)
    return str(first.state.to_bytes().hex())


def mismatch(metric: Any) -> tuple[str, list[int]]:
    """Return the error of processes with different metrics, and the users of the process after it."""
    metric.update([[1]], [[1, 2, 3]])
    users = []
    message = ""
    for values in (metric.compute, metric.report):
        try:
            values()
        except exactk.StateMismatchError as error:
            message = str(error)
        metric.sync_on_compute = False
        users.append(metric.report().counts["users"])
        metric.sync_on_compute = True
    return message, users


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
