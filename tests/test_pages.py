"""README and docs: their code runs and prints what is shown, and their links lead somewhere.

Examples with prompts are doctests; these here are blocks to copy: ```python, and what they print in the ```text after.
Warnings come before what is printed, as ``EvaluationWarning: message``, and an error of the call after it.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import exactk
from exactk._plan.fields import FIELDS

if TYPE_CHECKING:
    from types import CodeType

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\\)\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """Code to copy, and what it prints."""

    line: int
    code: str
    printed: str


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


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


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]+`", "", BLOCK.sub("", text))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as hosts of Markdown make them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


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
    variables: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        code = compile("\n" * (block.line - 1) + block.code, name_of(page), "exec", dont_inherit=True)
        assert output_of(code, variables) == block.printed, f"printed by {name_of(page)}, line {block.line}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"https?:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), f"{target} is no file"
        assert not anchor or anchor in anchors(path), f"{target}: no such heading"


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / target).resolve() for target in LINK.findall(index.read_text(encoding="utf-8"))}
    assert {page for page in PAGES if index.parent in page.parents and page != index} <= linked


def test_the_first_evaluation_is_the_same_in_polars() -> None:
    """The rows of its comparison and of its table by group, which both pages print in one format."""
    tutorials = ROOT / "docs" / "tutorials"
    of_pandas, of_polars = (
        {
            row
            for block in blocks(tutorials / page)
            for row in re.findall(r"^(?:\w+@\d+ |\| ).*", block.printed, re.MULTILINE)
        }
        for page in ("first_evaluation.md", "first_evaluation_polars.md")
    )
    assert len(of_polars) == 4 + 5
    assert of_polars <= of_pandas


def test_every_value_of_every_convention_field_is_defined() -> None:
    page = (ROOT / "docs" / "reference" / "conventions.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### ([\w, ]+)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    texts = {name: text for names, text in sections for name in names.split(", ")}
    assert set(texts) == set(FIELDS)
    missing = {
        (name, value)
        for name, field in FIELDS.items()
        for value in field.choices
        if f"| `{value}` |" not in texts[name]
    }
    assert not missing


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
