"""The table of `exactk.typing` in the documentation: each type with the first sentence about it, or its values."""

from __future__ import annotations

import ast
import inspect
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, get_args, get_origin

import exactk.typing
from exactk._inputs import items, parents, protocols, types
from exactk._plan import conventions, literals, metric_strings
from exactk._runtime import progress
from exactk._runtime.table import markdown_of_cells

if TYPE_CHECKING:
    from types import ModuleType

_MODULES = (items, parents, types, protocols, conventions, metric_strings, progress, literals)


def type_table() -> str:
    """Return the table in Markdown."""
    described = {name: text for module in _MODULES for name, text in _descriptions(module).items()}
    rows = [[f"`{name}`", _values(getattr(exactk.typing, name)) or described[name]] for name in exactk.typing.__all__]
    return markdown_of_cells(["type", "what it is"], rows, left=2)


def _values(annotation: object) -> str:
    """Return the values of a literal; empty for other types."""
    if get_origin(annotation) is not Literal:
        return ""
    return "one of " + ", ".join(f"`{value!r}`" for value in get_args(annotation))


def _descriptions(module: ModuleType) -> dict[str, str]:
    """Return the first line of the text about each type that the module defines."""
    found: dict[str, str] = {}
    body = ast.parse(inspect.getsource(module)).body
    for statement, following in zip_longest(body, body[1:]):
        if isinstance(statement, ast.ClassDef):
            found[statement.name] = (ast.get_docstring(statement) or "").partition("\n")[0]
        elif isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            text = str(following.value.value).partition("\n")[0]
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            found.update({target.id: text for target in targets if isinstance(target, ast.Name)})
    return found
