"""Pages in a browser: accessible, without requests, readable at any width, in any mode and on paper.

`make browser` runs this. It writes pictures to look at, and what axe advises beyond WCAG, to ``build/browser/screens``.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from contrast import CONTRAST, LEAST
from PIL import Image
from screens import NARROW, WIDE, chromium, take_pictures

import compare_recommenders as demo
from html_pages import PAGES, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

SCREENS = Path(__file__).parent.parent.parent / "build" / "browser" / "screens"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
NAMES = [*PAGES, "demo"]
MODES = ["light", "dark"]
ZOOMED = {"width": 640, "height": 450}  # what is left of 1280 pixels at 200 %

UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
UNREACHABLE = """[...document.querySelectorAll('*')].filter(one => one.scrollWidth > one.clientWidth + 1
  && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX) && one.tabIndex < 0).length"""
FOCUSED = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  one.wasFocused = true;
  return [one.outerHTML.slice(0, 100), style.outlineStyle, parseFloat(style.outlineWidth)];
}"""
LEFT_OUT = """[...document.querySelectorAll('a[href], summary, [tabindex="0"]')]
  .filter(one => one.checkVisibility() && !one.wasFocused).map(one => one.outerHTML.slice(0, 100))"""
TEXT = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), texts = [];
  while (walker.nextNode())
    if (!walker.currentNode.parentElement.closest('script, title, desc, nav, .skip')) texts.push(walker.currentNode.data);
  return texts.join(' ');
}"""
EMPTY_THIRD = """[...document.querySelectorAll('main table, main svg')].filter(one => one.checkVisibility()
  && one.getBoundingClientRect().right < innerWidth * 2 / 3).map(one => one.outerHTML.slice(0, 100))"""
WIDE_TABLE = "[...document.querySelectorAll('.wide')].find(one => one.scrollWidth > one.clientWidth + 50)"
UNSHADED = (
    "document.querySelector('style').textContent += '.wide { background: none !important; }'"  # axe skips gradients
)
HEADERS_ONCE = "document.querySelector('style').textContent += '@media print { thead { display: table-row-group; } }'"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not shutil.which("chromium"):
        pytest.skip("Debian's chromium shows the pages")
    with chromium() as one:
        yield one


@pytest.fixture(scope="session")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the pages. The demo's is of MovieLens where EXACTK_DATA names the folder of the real ratings."""
    folder = tmp_path_factory.mktemp("pages")
    files = {name: folder / f"{name}.html" for name in NAMES}
    for name in PAGES:
        files[name].write_text(page(name), encoding="utf-8")
    data = os.environ.get("EXACTK_DATA")
    ratings = Path(data) / "ml-latest-small" / "ratings.csv" if data else None
    demo.write_report(demo.run(ratings), files["demo"], demo.read_titles(ratings) if ratings else {})
    return files


def open_page(browser: Browser, path: Path, size: Any = WIDE, **options: Any) -> tuple[Page, list[str]]:
    """Return a page, and what it requests, runs or complains of."""
    one = browser.new_page(viewport=size, **options)
    found: list[str] = []
    address = path.as_uri()
    one.on("request", lambda request: found.append(request.url) if request.url != address else None)
    one.on("console", lambda message: found.append(message.text))
    one.on("pageerror", lambda error: found.append(str(error)))

    def dismiss(dialog: Any) -> None:
        found.append(dialog.message)
        dialog.dismiss()

    one.on("dialog", dismiss)
    one.goto(address)
    one.wait_for_load_state("networkidle")
    return one, found


@pytest.fixture
def opened(browser: Browser, paths: dict[str, Path]) -> Iterator[Any]:
    """Return a function that opens a page by its name, and refuses requests, scripts and errors of it."""
    pages: list[tuple[Page, list[str]]] = []

    def open_by_name(name: str, size: Any = WIDE, **options: Any) -> Page:
        pages.append(open_page(browser, paths[name], size, **options))
        return pages[-1][0]

    yield open_by_name
    for one, found in pages:
        one.close()
        assert not found


@pytest.mark.parametrize(
    "harm",
    [
        "<script>alert(1)</script>",
        "<img src='https://example.org/a.png'>",
        "<p onclick='1'>a</p>",
        "<link rel='stylesheet' href='other.css'>",
    ],
)
def test_what_a_page_must_not_have_is_noticed(
    browser: Browser, paths: dict[str, Path], tmp_path: Path, harm: str
) -> None:
    path = tmp_path / "harmful.html"
    text = paths["one_metric"].read_text(encoding="utf-8")
    path.write_text(text.replace("</main>", f"{harm}</main>"), encoding="utf-8")
    one, found = open_page(browser, path)
    one.close()
    assert any("Content Security Policy" in text for text in found)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_violation(opened: Any, name: str, mode: str) -> None:
    one = opened(name, color_scheme=mode)
    one.evaluate(UNFOLD)
    one.evaluate(UNSHADED)
    found = Axe().run(one, options={"runOnly": {"type": "tag", "values": RULES}}).response
    assert [(one["id"], len(one["nodes"]), one["nodes"][0]["html"][:200]) for one in found["violations"]] == []
    assert len(found["passes"]) > 10


@pytest.mark.parametrize("name", NAMES)
def test_what_axe_advises_is_written_down(opened: Any, name: str) -> None:
    """Best practices are advice: what does not follow them is for people to judge."""
    found = Axe().run(opened(name), options={"runOnly": {"type": "tag", "values": ["best-practice"]}}).response
    assert found["passes"]
    lines = [f"{one['id']} ({len(one['nodes'])}): {one['nodes'][0]['html'][:200]}\n" for one in found["violations"]]
    SCREENS.mkdir(parents=True, exist_ok=True)
    (SCREENS / f"{name}-advice.txt").write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [NARROW, ZOOMED], ids=["narrow", "zoomed"])
@pytest.mark.parametrize("name", NAMES)
def test_the_body_fits_any_width(opened: Any, name: str, size: dict[str, int], mode: str) -> None:
    one = opened(name, size, color_scheme=mode)
    one.evaluate(UNFOLD)
    assert one.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert one.evaluate(UNREACHABLE) == 0, "what scrolls is reached with the keyboard"


@pytest.mark.parametrize("name", NAMES)
def test_tables_and_pictures_reach_the_right_third(opened: Any, name: str) -> None:
    one = opened(name, {"width": 1200, "height": 900})
    one.evaluate(UNFOLD)
    assert one.evaluate(EMPTY_THIRD) == []


@pytest.mark.parametrize("mode", MODES)
def test_what_scrolls_is_shaded_at_the_side_where_there_is_more(opened: Any, mode: str) -> None:
    one = opened("with_lists", NARROW, color_scheme=mode)
    wide = one.evaluate_handle(WIDE_TABLE).as_element()
    wide.scroll_into_view_if_needed()

    def shades() -> list[bool]:
        picture = np.asarray(Image.open(io.BytesIO(wide.screenshot())).convert("L"), np.int64)
        row = picture[-4]  # between the text of the last row and its line
        left, middle, right = row[[1, len(row) // 2, -2]].tolist()
        return [abs(side - middle) > 20 for side in (left, right)]

    shown = []
    for share in (0, 0.5, 1):
        wide.evaluate("(one, share) => one.scrollLeft = share * (one.scrollWidth - one.clientWidth)", share)
        shown.append(shades())
    assert shown == [[False, True], [True, True], [True, False]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "forced"),
    [*((name, "none") for name in NAMES), *((name, "active") for name in ("with_lists", "large", "demo"))],
)
def test_pictures_have_contrast_in_forced_colours_too(opened: Any, name: str, forced: str, mode: str) -> None:
    one = opened(name, forced_colors=forced, color_scheme=mode)
    assert one.evaluate("matchMedia('(forced-colors: active)').matches") == (forced == "active")
    found = one.evaluate(CONTRAST)
    assert len(found) > 50 or name in {"one_metric", "one_system"}
    assert [one for one in found if one[2] < LEAST[one[0]]] == []


@pytest.mark.parametrize("preference", ["reduce", "no-preference"])
def test_nothing_moves(opened: Any, preference: str) -> None:
    one = opened("with_lists", reduced_motion=preference)
    one.locator("summary").first.click()
    assert one.evaluate("document.getAnimations().length") == 0
    assert one.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["with_lists", "one_system"])
def test_the_keyboard_reaches_everything(opened: Any, name: str, mode: str) -> None:
    one = opened(name, color_scheme=mode)
    one.keyboard.press("Tab")
    assert one.evaluate("document.activeElement.className") == "skip"
    while (focused := one.evaluate(FOCUSED))[0].startswith("<body") is False:
        assert focused[1] != "none", focused
        assert focused[2] >= 2, focused
        one.keyboard.press("Tab")
    assert one.evaluate(LEFT_OUT) == []


def test_the_keyboard_skips_the_contents_and_unfolds(opened: Any) -> None:
    one = opened("with_lists")
    one.keyboard.press("Tab")
    one.keyboard.press("Enter")
    assert one.url.endswith("#main")
    one.keyboard.press("Tab")
    assert one.evaluate("document.activeElement.closest('main') !== null")
    summary = one.locator("summary").first
    is_open = summary.evaluate("one => one.parentElement.open")
    summary.focus()
    one.keyboard.press("Enter")
    assert summary.evaluate("one => one.parentElement.open") != is_open


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hostile"])  # its widest tables fit no paper
def test_paper_has_all_that_a_page_has(opened: Any, tmp_path: Path, name: str) -> None:
    """What is folded is printed too, and no column is cut off: not a letter is missing."""
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext, of Debian's poppler-utils, reads what was printed")
    one = opened(name)
    assert one.locator("details:not([open])").count() > 0
    expected = one.evaluate(TEXT)
    one.evaluate(HEADERS_ONCE)  # else they are on each page
    one.pdf(path=tmp_path / "page.pdf", format="A4")
    command = ["pdftotext", "-raw", str(tmp_path / "page.pdf"), "-"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ours
    for heading in one.locator("h2").all_text_contents():
        assert heading in done.stdout
    shown, printed = (Counter(re.findall("[A-Za-z]", text)) for text in (expected, done.stdout))
    assert shown - printed == {}


@pytest.mark.parametrize("name", NAMES)
def test_pictures_to_look_at(browser: Browser, paths: dict[str, Path], name: str) -> None:
    take_pictures(browser, paths[name], SCREENS)
    assert (SCREENS / f"{name}-dark.png").stat().st_size > 10_000
