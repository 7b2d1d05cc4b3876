"""Which instruction set the kernels use: the widest of the CPU, unless EXACTK_ISA says otherwise."""

from __future__ import annotations

import os

from exactk import _core
from exactk._runtime.errors import input_error


def available_isas() -> list[str]:
    """Return the instruction sets that this CPU has, the widest last."""
    return _core.isas()


def requested_isa() -> str:
    """Return what EXACTK_ISA names; nothing if it is not set."""
    name = os.environ.get("EXACTK_ISA", "")
    if name and name not in available_isas():
        raise input_error(
            "EXACTK_ISA", f"an instruction set that this CPU has: {', '.join(available_isas())}", repr(name)
        )
    return name
