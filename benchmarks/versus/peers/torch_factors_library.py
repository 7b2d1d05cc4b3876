"""PyTorch: https://pytorch.org. `matmul`, then `topk`, a block of users at a time, in parallel threads.

What is excluded is marked in the products. The memory of a block is kept from one to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from benchmarks.factors import Neighbors
from benchmarks.versus.peers.torch_library import means_of_hits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.versus.peers import Call
    from benchmarks.workload import Data, Workload

BLOCK = 512  # users: fewer and more were slower


def prepare(data: Data, workload: Workload) -> dict[str, Call]:
    """Build the tensors."""
    torch.set_num_threads(workload.threads)
    users, items = torch.from_numpy(data.predictions), torch.from_numpy(data.factors)
    if isinstance(workload, Neighbors):
        users = items = torch.nn.functional.normalize(users)
        excluded = torch.arange(workload.users)[:, None]  # itself
    else:
        excluded = torch.from_numpy(data.excluded).long()
    truth = torch.from_numpy(data.items.reshape(workload.users, 1, workload.relevant))
    memory = torch.empty(BLOCK, len(items))

    def best() -> Any:  # noqa: ANN401 - a tensor, where there is torch
        return torch.cat([block_best(begin) for begin in range(0, workload.users, BLOCK)])

    def block_best(begin: int) -> Any:  # noqa: ANN401 - as above
        block = users[begin : begin + BLOCK]
        products = torch.matmul(block, items.T, out=memory[: len(block)])
        products.scatter_(1, excluded[begin : begin + BLOCK], -torch.inf)
        return torch.topk(products, max(workload.cutoffs), dim=1, sorted=True).indices

    def best_and_means() -> Mapping[str, float]:
        return means_of_hits((best()[:, :, None] == truth).any(dim=2).double(), workload)

    return {"torch.matmul, topk": best_and_means if workload.metrics else best}
