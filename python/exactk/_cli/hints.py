"""Hints of the library, rewritten as command-line options."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, get_args

from exactk._report.gate import Claim

if TYPE_CHECKING:
    from exactk._runtime.faults import Option

_CONVENTION_FIELDS = ("ties", "nan", "score_dtype")  # keywords of functions such as topk
_SAME_NAME = (
    "user", "item", "score", "rank", "grade", "baseline", "confidence", "test", "interval", "missing", "permutations", "resamples",
)  # fmt: skip


def as_command_option(option: Option) -> str:
    """Return the hint as a command-line option, such as ``--set nan=last``; the keyword itself if there is no such option."""
    name, value = option.name, option.value
    if name == "convention" and isinstance(value, dict):
        return " ".join(_change_option(field, change) for field, change in value.items())
    if name in _CONVENTION_FIELDS:
        return _change_option(name, value)
    if name == "text_ids":
        return "--text-ids"
    if name in get_args(Claim) and isinstance(value, dict):  # the margin of each metric
        return " ".join(f"--{name.replace('_', '-')} {shlex.quote(f'{metric}={one}')}" for metric, one in value.items())
    if name == "metrics":
        return f"-m {shlex.quote(str(value))}"
    return f"--{name} {shlex.quote(str(value))}" if name in _SAME_NAME else option.shell or str(option)


def _change_option(field: str, value: object) -> str:
    if field == "base":
        return f"--convention {shlex.quote(str(value))}"
    text = f"[{','.join(map(str, value))}]" if isinstance(value, (list, tuple)) else str(value)
    return f"--set {shlex.quote(f'{field}={text}')}"
