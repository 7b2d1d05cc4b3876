"""Hints of the library, as options of the command line."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exactk._runtime.faults import Option

_CONVENTION_FIELDS = ("ties", "nan")  # which functions such as topk take as keywords
_COLUMNS = ("user", "item", "score", "rank", "grade")


def as_command_option(option: Option) -> str:
    """Return what to write on the command line, such as ``--set nan=last``; the keyword, where there is no such option."""
    name, value = option.name, option.value
    if name == "convention" and isinstance(value, dict):
        return " ".join(_change_option(field, change) for field, change in value.items())
    if name in _CONVENTION_FIELDS:
        return _change_option(name, value)
    if name == "metrics":
        return f"-m {shlex.quote(str(value))}"
    return f"--{name} {shlex.quote(str(value))}" if name in _COLUMNS else str(option)


def _change_option(field: str, value: object) -> str:
    if field == "base":
        return f"--convention {shlex.quote(str(value))}"
    text = f"[{','.join(map(str, value))}]" if isinstance(value, (list, tuple)) else str(value)
    return f"--set {shlex.quote(f'{field}={text}')}"
