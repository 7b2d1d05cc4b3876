"""README and docs: their code runs and prints what is shown. ``tools/pages.py`` looks at what else they say.

Examples with prompts are doctests; these here are blocks to copy: ```python, and what they print in the ```text after.
Warnings come before what is printed, as ``EvaluationWarning: message``, and an error of the call after it.
"""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import exactk
from pages import BLOCK, PAGES, name_of

if TYPE_CHECKING:
    from types import CodeType


RATINGS = "ml-latest-small"  # a folder of the real ratings, which a page may read


class Block(NamedTuple):
    """Code to copy, and what it prints."""

    line: int
    code: str
    printed: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    result: list[Block] = []
    fences = list(BLOCK.finditer(text))
    for fence, following in zip_longest(fences, fences[1:]):
        if fence[1] == "python" and ">>> " not in fence[2]:
            between = following and text[fence.end() : following.start()]
            printed = following[2] if following and following[1] == "text" and not (between or "").strip() else ""
            result.append(Block(text.count("\n", 0, fence.start()) + 2, fence[2], printed))
    return result


def output_of(code: CodeType, variables: dict[str, object]) -> str:
    """Return what a reader sees: exactk's warnings, what is printed, and the last lines of an error."""
    printed, error = io.StringIO(), ""
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("error")
        warnings.simplefilter("always", exactk.EvaluationWarning)
        try:
            exec(code, variables)  # noqa: S102 - the page is our own
        except (exactk.ExactkError, TypeError, KeyError) as fault:
            error = "".join(
                f"{line}\n" for line in (f"{type(fault).__name__}: {fault}", *getattr(fault, "__notes__", ()))
            )
    return "".join(f"EvaluationWarning: {one.message}\n" for one in caught) + printed.getvalue() + error


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_code_prints_what_is_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if RATINGS in page.read_text(encoding="utf-8"):
        if "EXACTK_DATA" not in os.environ:
            pytest.skip("set EXACTK_DATA to the folder of the real ratings")
        (tmp_path / RATINGS).symlink_to(Path(os.environ["EXACTK_DATA"], RATINGS).resolve())
    variables: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        code = compile("\n" * (block.line - 1) + block.code, name_of(page), "exec", dont_inherit=True)
        assert output_of(code, variables) == block.printed, f"printed by {name_of(page)}, line {block.line}"
