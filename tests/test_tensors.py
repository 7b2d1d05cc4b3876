"""Tensors that cannot be read as they are: one sentence each."""

from __future__ import annotations

import re
from typing import Any, Self

import numpy as np
import pytest

import exactk


class Tensor:
    """A tensor as torch has them: exported to DLPack only where it is dense, in the CPU's memory, and a constant."""

    def __init__(
        self, array: Any, device: str = "cpu", layout: str = "torch.strided", *, requires_grad: bool = False
    ) -> None:
        self.array, self.device, self.layout, self.requires_grad = np.array(array), device, layout, requires_grad

    def __dlpack_device__(self) -> tuple[int, int]:
        if self.device == "meta":
            raise ValueError("Unknown device type meta for Dlpack")
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> object:
        if self.device != "cpu" or self.layout != "torch.strided":
            raise BufferError("torch's text for programmers")
        if self.requires_grad:
            raise RuntimeError("Can't export tensors that require gradient, use tensor.detach()")
        return self.array.__dlpack__(**options)

    def cpu(self) -> Self:
        return type(self)(self.array)

    to_dense = detach = cpu


IDS = [[0, 2], [1, 0]]
TENSORS = {
    "cuda": ({"device": "cuda:0"}, "found Tensor on device cuda:0; {0}={0}.cpu()"),
    "mps": ({"device": "mps:0"}, "found Tensor on device mps:0; {0}={0}.cpu()"),
    "sparse": ({"layout": "torch.sparse_coo"}, "found Tensor of layout torch.sparse_coo; {0}={0}.to_dense()"),
    "sparse, cuda": (
        {"layout": "torch.sparse_csr", "device": "cuda:1"}, "found Tensor of layout torch.sparse_csr; {0}={0}.to_dense()"
    ),
    "meta": ({"device": "meta"}, "found Tensor on device meta, which holds no values"),
    "gradients": ({"requires_grad": True}, "found Tensor that requires gradients; {0}={0}.detach()"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("case", TENSORS)
@pytest.mark.parametrize("argument", ["truth", "predictions", "exclude"])
def test_f79_tensors_that_cannot_be_read(case: str, argument: str) -> None:
    options, message = TENSORS[case]
    tensor = Tensor(IDS, **options)  # type: ignore[arg-type]
    expected = f"{argument}: expected an array in CPU memory, of a type that NumPy supports, {message.format(argument)}"
    arguments: dict[str, Any] = {"truth": [[0], [1]], "predictions": [[0, 2], [1, 0]], argument: tensor}
    with pytest.raises(exactk.InputTypeError, match=f"^{re.escape(expected)}$") as caught:
        exactk.evaluate(metrics="recall@2", **arguments)
    hint = str(caught.value).partition(f"; {argument}=")[2]
    if hint:
        arguments[argument] = eval(hint, {argument: tensor})  # noqa: S307
        assert exactk.evaluate(metrics="num_recommended", **arguments).counts["users"] == 2


def test_f79_other_faults_keep_their_text() -> None:
    class Unreadable(Tensor):
        def __dlpack__(self, **_: Any) -> object:
            raise BufferError("of no reason")

    with pytest.raises(exactk.InputTypeError, match=r"found Unreadable \(of no reason\)$"):
        exactk.as_truth(Unreadable(IDS))
