"""Check the words of the repository: phrases that reviews replaced, and names that ARCHITECTURE.md forbids.

``make lint`` runs this. Add to `BANNED` when a review replaces a phrase that will tempt again.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Line = tuple[int, str]

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("benchmarks", "cpp", "docs", "examples", "python", "tests", "tools")
PACKAGE = ("cpp/bindings/", "cpp/src/", "python/")  # where string literals are messages, help texts and summaries

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


@lru_cache(maxsize=1)
def tokens(text: str) -> list[tokenize.TokenInfo]:
    """Return the tokens of a module, which its prose and its identifiers need."""
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def python_prose(text: str, *, has_messages: bool) -> Iterator[Line]:
    """Yield the docstrings and comments of a module, and its string literals if they are messages."""
    nodes = list(ast.walk(ast.parse(text)))
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from enumerate(node.value.value.splitlines(), node.lineno)
    for token in tokens(text):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")
    for node in nodes:
        if has_messages and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, f"| {node.value} |"


def cpp_prose(text: str, *, has_messages: bool) -> Iterator[Line]:
    """Yield the comments of a source, and its string literals, with those that follow each other as one."""
    for number, line in enumerate(text.splitlines(), 1):
        yield from ((number, comment) for comment in re.findall(r"//+ ?(.*)", line))
    for literals in re.finditer(r'(?:"[^"\n]*"\s*)+', text) if has_messages else ():
        literal = re.sub(r'"\s*"', "", literals[0]).strip().strip('"')
        yield text.count("\n", 0, literals.start()) + 1, f"| {literal} |"


def prose(path: str, text: str) -> Iterable[Line]:
    """Return the lines of a file that people read, with their numbers."""
    if path.endswith(".md"):
        return enumerate(text.splitlines(), 1)
    reader = python_prose if path.endswith(".py") else cpp_prose
    return reader(text, has_messages=path.startswith(PACKAGE))


def banned_phrases(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield each banned phrase, which may begin in one line and end in the next, with what to write."""
    words = [(number, word) for number, line in lines for word in line.split()]
    text = " ".join(word for _, word in words)
    for pattern, better in BANNED.items():
        for match in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
            number, _ = words[text.count(" ", 0, match.start())]
            yield number, f"{text[max(0, match.start() - 30) : match.end() + 20]!r}: write {better}"


def identifiers(path: str, text: str) -> Iterator[Line]:
    """Yield the identifiers of a file, with their lines."""
    if path.endswith(".py"):
        for token in tokens(text):
            if token.type == tokenize.NAME:
                yield token.start[0], token.string
    elif path.endswith("pp"):
        for number, line in enumerate(text.splitlines(), 1):
            code = re.sub(r'//.*|#include.*|"(?:\\.|[^"\\])*"', " ", line)
            yield from ((number, name) for name in re.findall(r"\w+", code))


def forbidden_names() -> re.Pattern[str]:
    """Return the pattern of the words behind "Never" in ARCHITECTURE.md, and of all that has "settle" in it."""
    architecture = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    _, _, after = architecture.partition("\nNever: ")
    words = re.findall(r"`(\w+)`", after.partition("\n\n")[0])
    assert words, "ARCHITECTURE.md lists no words after Never:"
    return re.compile(rf"_*(?:{'|'.join(words)})_*|\w*settle\w*")


def violations() -> Iterator[str]:
    """Yield what is wrong, with its file and line."""
    forbidden = forbidden_names()
    files = [*ROOT.glob("*.md")]
    files += [file for name in FOLDERS for kind in ("*.py", "*.md", "*.?pp") for file in (ROOT / name).rglob(kind)]
    for file in sorted(file for file in files if file != Path(__file__).resolve()):
        path, text = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        for number, phrase in banned_phrases(prose(path, text)):
            yield f"{path}:{number}: {phrase}"
        for number, name in identifiers(path, text):
            if forbidden.fullmatch(name):
                yield f"{path}:{number}: the name {name} is one that ARCHITECTURE.md forbids"


if __name__ == "__main__":
    sys.exit("\n".join(violations()) or None)
