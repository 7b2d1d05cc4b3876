"""A process of several, each of which updates torchmetrics' retrieval metrics and their replacements; each writes its values to a file."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

SETUPS: dict[str, tuple[str, dict[str, Any]]] = {
    "map": ("RetrievalMAP", {}),
    "map at 3, of queries with targets": ("RetrievalMAP", {"top_k": 3, "empty_target_action": "skip"}),
    "mrr, median": ("RetrievalMRR", {"aggregation": "median"}),
    "precision": ("RetrievalPrecision", {"top_k": 4, "adaptive_k": True}),
    "recall": ("RetrievalRecall", {"top_k": 4, "empty_target_action": "pos"}),
    "hit rate": ("RetrievalHitRate", {"top_k": 2}),
    "fall-out": ("RetrievalFallOut", {"top_k": 2}),
    "R-precision": ("RetrievalRPrecision", {}),
    "ndcg": ("RetrievalNormalizedDCG", {"top_k": 5}),
    "auroc": ("RetrievalAUROC", {}),
    "curve": ("RetrievalPrecisionRecallCurve", {"max_k": 5}),
    "recall at a precision": ("RetrievalRecallAtFixedPrecision", {"min_precision": 0.3, "max_k": 5}),
    "map without -1": ("RetrievalMAP", {"ignore_index": -1}),
}


def data(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return queries, distinct scores and targets of documents, and which process has each document."""
    rng = np.random.default_rng(0)
    indexes = rng.integers(0, 25, 400)
    targets = rng.choice([0, 0, 1, -1], 400) * (indexes > 2)  # some queries have no target
    scores = rng.permutation(400).astype(np.float32) / 512
    processes = rng.integers(0, size, 400) % (1 + indexes % size)  # some queries are in one process
    return indexes, scores, targets, processes


def values(module: Any, name: str, torch: Any, parts: list[np.ndarray], **options: Any) -> list[Any]:
    """Return what a metric computes after an update with each part of the documents."""
    kind, setup = SETUPS[name]
    metric = getattr(module, kind)(**setup, **options)
    indexes, scores, targets, _ = data(1)
    targets = targets if "ignore_index" in setup else np.maximum(targets, 0)
    for documents in parts:
        metric.update(*(torch.from_numpy(one[documents]) for one in (scores, targets, indexes)))
    with warnings.catch_warnings(action="ignore"):
        found = metric.compute()
        again = metric.compute()
    tensors = list(found) if isinstance(found, tuple) else [found]
    assert all(map(torch.equal, tensors, list(again) if isinstance(again, tuple) else [again]))
    return [one.tolist() for one in tensors]


def main(rank: int, size: int, folder: str) -> None:
    """Compute all metrics in this process and, without the others, of all documents."""
    import torch  # noqa: PLC0415 - only this process needs it
    from torchmetrics import retrieval  # noqa: PLC0415 - likewise

    from exactk.compat import torchmetrics  # noqa: PLC0415 - likewise

    torch.distributed.init_process_group("gloo", f"file://{folder}/rendezvous", rank=rank, world_size=size)
    documents = np.flatnonzero(data(size)[3] == rank)
    parts = np.array_split(documents, 2)  # as many updates in each process, which torchmetrics asks for
    found = {
        name: {
            "ours": values(torchmetrics, name, torch, parts),
            "theirs": values(retrieval, name, torch, parts),
            "alone": values(torchmetrics, name, torch, [documents], sync_on_compute=False),
            "all alone": values(torchmetrics, name, torch, [np.arange(400)], sync_on_compute=False),
        }
        for name in SETUPS
    }
    Path(folder, f"{rank}.json").write_text(json.dumps(found), encoding="utf-8")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
