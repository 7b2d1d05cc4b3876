"""A process of several, each of which evaluates its users; the first adds them over gloo, and prints the state."""

from __future__ import annotations

import sys

import numpy as np

import exactk
from exactk._runtime.errors import without_warnings

METRICS = ["ndcg@10", "recall@5", "map"]


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.random((50, 30)).argsort(axis=1)[:, :3], rng.standard_normal((50, 30)).astype(np.float32)


def main(rank: int, size: int, file: str) -> None:
    import torch  # noqa: PLC0415 - only this process needs it

    torch.distributed.init_process_group("gloo", f"file://{file}", rank=rank, world_size=size)
    truth, scores = data()
    evaluator = exactk.Evaluator(METRICS)
    for users in np.array_split(np.arange(50)[rank::size], 3):
        evaluator.update(torch.from_numpy(truth[users]), torch.from_numpy(scores[users]))
    evaluators: list[exactk.Evaluator] = [exactk.Evaluator(METRICS)] * size
    torch.distributed.all_gather_object(evaluators, evaluator)
    first, *others = evaluators
    for other in others:
        first.merge(other)
    with without_warnings():
        sys.stdout.write(first.compute().state.to_bytes().hex())
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
