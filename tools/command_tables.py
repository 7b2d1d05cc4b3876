"""The options of the command line as Markdown, from its parser: the text of ``--help`` differs between versions of Python."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from exactk._cli import command_parser
from exactk._runtime.table import markdown_of_cells

if TYPE_CHECKING:
    from collections.abc import Iterator


def command_sections() -> str:
    """Return a section per command: what it does, its arguments and options, an example."""
    commands = next(action for action in command_parser()._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 - argparse has no other way
    return "\n\n".join(f"## exactk {name}\n\n{_section(parser)}" for name, parser in commands.choices.items())


def _section(parser: argparse.ArgumentParser) -> str:
    rows = [row for action in parser._actions for row in _rows(action)]  # noqa: SLF001 - as above
    table = markdown_of_cells(["argument", "meaning"], rows, left=2)
    example = (parser.epilog or "").removeprefix("example: ")
    parts = [parser.description or "", table if rows else "", f"```sh\n{example}\n```" if example else ""]
    return "\n\n".join(part for part in parts if part)


def _rows(action: argparse.Action) -> Iterator[list[str]]:
    if isinstance(action, argparse._HelpAction) or action.help == argparse.SUPPRESS:  # noqa: SLF001 - as above
        return
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else "")
    value = " ".join(value) if isinstance(value, tuple) else value
    name = ", ".join(action.option_strings)
    text = f"{name} {value}" if name and value and action.nargs != 0 else name or value
    yield [
        f"`{text.strip()}`",
        " ".join((action.help or "").replace("%(default)s", str(action.default)).split()).replace("%%", "%"),
    ]
