"""Functions of a library that is read from a checkout."""

from __future__ import annotations
import __future__

import ast
import os
from pathlib import Path
from typing import Any


def functions(file: str, **names: Any) -> dict[str, Any]:
    """Return the functions that a file defines, without what it imports and runs beside them.

    Parameters
    ----------
    file
        In the checkout, which EXACTK_SOURCE names.
    **names
        What the functions use.
    """
    text = Path(os.environ["EXACTK_SOURCE"], file).read_text(encoding="utf-8")
    defined: list[ast.stmt] = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    unread = __future__.annotations.compiler_flag  # annotations name what is not imported
    exec(compile(ast.Module(defined, []), file, "exec", flags=unread), names)  # noqa: S102 - the library itself
    return names
