"""Check README and docs: their links lead somewhere, and what must be described is.

``make lint`` runs this; ``tests/test_pages.py`` runs the code of the pages.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from exactk._plan.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / "benchmarks" / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\\)\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)")
LONGEST_README = 150


def name_of(page: Path) -> str:
    """Return the path of a page."""
    return page.relative_to(ROOT).as_posix()


def without_code(page: Path) -> str:
    """Return the text of a page without its code, line by line."""
    text = BLOCK.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))
    return re.sub(r"`[^`\n]+`", "", text)


def links(page: Path) -> Iterator[tuple[int, str]]:
    """Yield the links of a page, with their lines."""
    text = without_code(page)
    for link in LINK.finditer(text):
        yield text.count("\n", 0, link.start()) + 1, link[1]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as hosts of Markdown make them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page: Path) -> Iterator[str]:
    """Yield links to files or headings that there are not."""
    for number, target in links(page):
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if re.match(r"https?:", target):
            continue
        if not path.exists():
            yield f"{name_of(page)}:{number}: {target} is no file"
        elif anchor and anchor not in anchors(path):
            yield f"{name_of(page)}:{number}: {target}: no such heading"


def pages_out_of_the_index() -> Iterator[str]:
    """Yield pages that the index does not link."""
    index = DOCS / "index.md"
    linked = {(DOCS / target.partition("#")[0]).resolve() for _, target in links(index)}
    for page in PAGES:
        if DOCS in page.parents and page not in {index, *linked}:
            yield f"docs/index.md: {name_of(page)} is not linked"


def undefined_values() -> Iterator[str]:
    """Yield fields of conventions, and their values, that the page on conventions does not define."""
    page = DOCS / "reference" / "conventions.md"
    sections = re.findall(
        r"^### ([\w, ]+)\n(.*?)(?=^##|\Z)", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    texts = {name: text for names, text in sections for name in names.split(", ")}
    for name in sorted({*texts} ^ {*FIELDS}):
        yield f"{name_of(page)}: {name} is a field or has a section, but not both"
    for name, field in FIELDS.items():
        for value in field.choices:
            if f"| `{value}` |" not in texts.get(name, ""):
                yield f"{name_of(page)}: the value {value} of {name} is not defined"


def different_rows() -> Iterator[str]:
    """Yield rows that the first tutorial prints in Polars alone: both print comparison and groups in one format."""
    folder = DOCS / "tutorials"
    of_pandas, of_polars = (
        {
            row
            for kind, printed in BLOCK.findall((folder / page).read_text(encoding="utf-8"))
            for row in re.findall(r"^(?:\w+@\d+ |\| ).*", printed if kind == "text" else "", re.MULTILINE)
        }
        for page in ("first_evaluation.md", "first_evaluation_polars.md")
    )
    if len(of_polars) != 4 + 5:
        yield f"docs/tutorials/first_evaluation_polars.md: prints {len(of_polars)} rows of tables, not 4 + 5"
    for row in sorted(of_polars - of_pandas):
        yield f"docs/tutorials/first_evaluation_polars.md: {row!r} is not printed by first_evaluation.md"


def violations() -> Iterator[str]:
    """Yield what is wrong, with its file and, where it has one, its line."""
    for page in PAGES:
        yield from dead_links(page)
    yield from pages_out_of_the_index()
    yield from undefined_values()
    yield from different_rows()
    length = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    if length > LONGEST_README:
        yield f"README.md:{length}: longer than {LONGEST_README} lines"


if __name__ == "__main__":
    sys.exit("\n".join(violations()) or None)
