"""The table of options in the documentation: which function takes which option of `exactk.evaluate`, from the declarations."""

from __future__ import annotations

import argparse
import inspect
from typing import TYPE_CHECKING, Any

import exactk
from exactk._cli import command_parser
from exactk._evaluate import DEFAULTS
from exactk._runtime.table import markdown_of_cells
from exactk._sharded.engines import FrameOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "`evaluate`": exactk.evaluate,
    "`compare`": exactk.compare,
    "`agreement`": exactk.agreement,
    "`drift`": exactk.drift,
    "`judge`": exactk.judge,
    "`topk`": exactk.topk,
    "one metric, `matching_conventions`": exactk.ndcg_at_k,
    "`Evaluator`": exactk.Evaluator,
    "`Evaluator.update`": exactk.Evaluator.update,
}
_COMMAND_LINE = {"items": "catalogue", "num_threads": "threads", "progress": "no_progress"}
"""The names of options there, where they are others."""


def option_table() -> str:
    """Return the table in Markdown."""
    columns: dict[str, Collection[str]] = {
        title: inspect.signature(function).parameters for title, function in _FUNCTIONS.items()
    }
    columns["Spark, Dask, Ray"] = FrameOptions.__annotations__
    flags = _flags()
    rows = [
        [
            f"`{name}={default!r}`".replace("'", '"'),
            *("yes" if name in names else "" for names in columns.values()),
            f"`{flag}`" if (flag := flags.get(_COMMAND_LINE.get(name, name))) else "",
        ]
        for name, default in DEFAULTS.items()
    ]
    return markdown_of_cells(["option", *columns, "`exactk evaluate`"], rows, left=len(columns) + 2)


def _flags() -> dict[str, str]:
    """Return the options of ``exactk evaluate`` by their destination."""
    commands = next(action for action in command_parser()._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 - argparse has no other way
    actions = commands.choices["evaluate"]._actions  # noqa: SLF001 - as above
    return {action.dest: action.option_strings[-1] for action in actions if action.option_strings}
