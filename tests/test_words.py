"""Documentation, comments and messages in plain technical English: phrases that reviews replaced do not come back.

Grow `BANNED` when a review replaces a phrase that will tempt again.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("benchmarks", "cpp", "docs", "examples", "python", "tests", "tools")

_PER = "(user|item|row|value|pair|call|batch|column|query|metric|fact|system|line|list|string)"
BANNED = {
    r"items of one score|of one score": "ties",
    r"what to exclude": "exclusions",
    r"read where (it|they) lies?": "used in place",
    r"brought together": "grouped",
    r"whoever": "a noun, such as callers or producers",
    r"be (it|they) empty": "even an empty one",
    rf"(bytes|ids|floats|numbers|one (bias|score|rank|grade|list|entry|weight)) an? {_PER}": "per",
    rf"(once|candidates|characters|metric|object) an? {_PER}": "per",
    rf"a (row|line|column|list|score|vector|entry|grade|thread) an? {_PER}": "one ... per",
    r"a (user|item) and value": "per user and value",
    r"for ever": "a limit, or drop it",
    r"made of means": "computed from means",
    r"stands? together": "contiguous",
    r"what (it|they) must be": "valid",
    r"is told": "a verb with its subject",
    r"nobody's": "drop it",
    r"number of its (row|column)": "row number, column index",
    r"(scores|ids|keys|values|flags|weights|bytes) that (is|are) no": "without, or are not",
    r"(ranks|keys|items|columns|names of columns) that differ": "distinct",
    r"beside (none|gain|ties|average|min_grade|ideal_over|negative_grades)": "with, without",
    r"found (others|another)": "a noun, such as other columns",
    r"for no (column|item|user)": "because no",
    r"as (it|they) (was|were) given": "in input order",
    r"names? the (users|items) alike": "use the same ids",
    r"but for (what|the)": "except",
}
"""A pattern, and the words to write in its place."""

PACKAGE = ("cpp/bindings/", "cpp/src/", "python/")
"""Where string literals are messages, help texts and summaries."""


def prose(path: Path) -> str:
    """Return a file's documentation, docstrings and comments and, in the package, its messages, on one line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return " ".join(text.split())
    literals = []
    if path.suffix == ".py":
        nodes = list(ast.walk(ast.parse(text)))
        documentation = [node.value for node in nodes if isinstance(node, ast.Expr)]
        parts = [node.value for node in documentation if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        parts += [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
        literals = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    else:
        parts = re.findall(r"//+ ?(.*)", text)
        literals = re.findall(r'"([^"\n]*)"', re.sub(r'"\s+"', "", text))
    is_of_package = path.relative_to(ROOT).as_posix().startswith(PACKAGE)
    return " ".join(" ".join([*parts, *(f"| {literal} |" for literal in literals if is_of_package)]).split())


def sources() -> list[str]:
    files = [*ROOT.glob("*.md")]
    files += [file for name in FOLDERS for kind in ("*.py", "*.md", "*.?pp") for file in (ROOT / name).rglob(kind)]
    return sorted(file.relative_to(ROOT).as_posix() for file in files if file != Path(__file__))


def banned_phrases(text: str) -> list[str]:
    """Return what to write in place of each banned phrase of the text, after the phrase and what surrounds it."""
    return [
        f"{text[max(0, match.start() - 30) : match.end() + 20]!r}: write {better}"
        for pattern, better in BANNED.items()
        for match in re.finditer(rf"\b({pattern})\b", text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("source", sources())
def test_prose_has_no_banned_phrase(source: str) -> None:
    assert banned_phrases(prose(ROOT / source)) == []


@pytest.mark.parametrize(
    "text",
    [
        "the order of items of one score",
        "takes 8 bytes a user and value",
        "Whoever has keys",
        "a line a fact",
        "expected scores that are no NaN",
        "each item once a user",
        "a gain_table beside gain='table'",
        "the checksum that its bytes have, found another",
    ],
)
def test_banned_phrases_are_found(text: str) -> None:
    assert banned_phrases(text)
