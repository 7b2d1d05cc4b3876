"""The instruction set of the kernels: the CPU's widest, or that of EXACTK_ISA."""

from __future__ import annotations

from exactk import _core
from exactk._runtime.errors import input_error


def available_isas() -> list[str]:
    """Return the CPU's instruction sets, the widest last."""
    return _core.isas()


def requested_isa() -> str:
    """Return the value of EXACTK_ISA, or an empty string if it is not set."""
    name = _core.environment_variable("EXACTK_ISA")
    if name and name not in available_isas():
        raise input_error(
            "EXACTK_ISA", f"an instruction set that this CPU supports: {', '.join(available_isas())}", repr(name)
        )
    return name
