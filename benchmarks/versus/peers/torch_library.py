"""PyTorch: https://pytorch.org. Its `topk` on the CPU, in parallel threads, without metrics and with them.

The tensors share the arrays' memory, and those of relevant and excluded items are built beforehand.
What is excluded is marked in a copy of the scores, as the scores may be needed again; the memory of
the copy is kept from call to call, for mapping its pages would cost more than the selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the tensors."""
    torch.set_num_threads(workload.threads)
    scores = torch.from_numpy(data.predictions)
    truth = torch.from_numpy(data.items.reshape(workload.users, 1, workload.relevant))
    candidates = None if data.candidates is None else torch.from_numpy(data.candidates)
    excluded = None if data.excluded is None else torch.from_numpy(data.excluded).long()
    copy = None if excluded is None else torch.empty_like(scores)

    def best() -> Any:  # noqa: ANN401 - a tensor, where there is torch
        allowed = scores if copy is None else copy.copy_(scores).scatter_(1, excluded, -torch.inf)
        return torch.topk(allowed, max(workload.cutoffs), dim=1, sorted=True).indices

    def best_and_means() -> Mapping[str, float]:
        ids = best() if candidates is None else candidates.gather(1, best())
        return means_of_hits((ids[:, :, None] == truth).any(dim=2).double(), workload)

    return {"torch.topk alone": best, "torch": best_and_means}


def means_of_hits(hits: Any, workload: Workload) -> Mapping[str, float]:  # noqa: ANN401 - a tensor, as above
    """Return all means from where the hits are: sums up to each rank, of which the cutoffs pick theirs."""
    cutoffs = torch.tensor(workload.cutoffs)
    ranks = torch.arange(1, hits.shape[1] + 1)
    discounts = 1 / torch.log2(ranks.double() + 1)
    hit_counts = hits.cumsum(dim=1)
    ceiling = cutoffs.clamp(max=workload.relevant)
    sums = {
        "precision": (hit_counts, cutoffs),
        "recall": (hit_counts, workload.relevant),
        "ndcg": ((hits * discounts).cumsum(dim=1), discounts.cumsum(dim=0)[ceiling - 1]),
        "average_precision": ((hits * hit_counts / ranks).cumsum(dim=1), ceiling),
    }
    values = [(sums[metric][0][:, cutoffs - 1] / sums[metric][1]).mean(dim=0) for metric in workload.metrics]
    return dict(zip(workload.values, torch.cat(values).tolist(), strict=True))
