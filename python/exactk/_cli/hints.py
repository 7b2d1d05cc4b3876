"""Hints of the library, as options of the command line."""

from __future__ import annotations

import ast
import re
import shlex

_KEYWORD = re.compile(
    r"\b(?P<name>convention|metrics|user|item|score|rank|grade|ties|nan)=(?P<value>\{[^}]*\}|'[^']*')"
)


def as_options(message: str) -> str:
    """Return the message with the keywords of its hint as options, such as ``--set nan=last``."""
    fault, separator, hint = message.rpartition("; ")
    return fault + separator + _KEYWORD.sub(_as_option, hint) if separator else message


def _as_option(match: re.Match[str]) -> str:
    try:
        value = ast.literal_eval(match["value"])
    except (SyntaxError, ValueError):
        return match[0]
    name = match["name"]
    if isinstance(value, dict):
        return " ".join(_change_option(field, change) for field, change in value.items())
    if name in {"ties", "nan"}:
        return _change_option(name, value)
    return f"{'-m' if name == 'metrics' else f'--{name}'} {shlex.quote(value)}"


def _change_option(field: str, value: object) -> str:
    if field == "base":
        return f"--convention {shlex.quote(str(value))}"
    text = f"[{','.join(map(str, value))}]" if isinstance(value, (list, tuple)) else str(value)
    return f"--set {shlex.quote(f'{field}={text}')}"
