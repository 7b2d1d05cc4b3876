"""Pages in a browser: accessible, without requests, readable at any width, in any mode and on paper. `make browser` runs this."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from screens import NARROW, WIDE, chromium, take_pictures

from html_pages import PAGES, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

SCREENS = Path(__file__).parent.parent.parent / "build" / "browser" / "screens"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
NAMES = list(PAGES)
MODES = ["light", "dark"]

CONTRAST = """() => {
  const channel = value => { value /= 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const luminance = color => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const ground = luminance(getComputedStyle(document.body).backgroundColor);
  const contrast = color => {
    const one = luminance(color);
    return (Math.max(one, ground) + 0.05) / (Math.min(one, ground) + 0.05);
  };
  const found = [];
  for (const one of document.querySelectorAll("svg text")) {
    if (!/on-/.test(one.getAttribute("class") || "")) found.push(["text", contrast(getComputedStyle(one).fill)]);
  }
  const marks = "svg circle, svg .marker, svg .interval, svg polyline, svg .cross, svg .bar.better, svg .bar.worse, svg .zero";
  for (const one of document.querySelectorAll(marks)) {
    const style = getComputedStyle(one);
    const isLine = style.fill === "none" || one.matches(".interval, polyline, .cross, .zero");
    const filled = isLine ? 0 : contrast(style.fill);
    found.push(["mark", isLine || one.matches(".bar") ? Math.max(filled, contrast(style.stroke)) : filled]);
  }
  return found;
}"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="session")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name in NAMES:
        folder.joinpath(f"{name}.html").write_text(page(name), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in NAMES}


@pytest.fixture
def opened(browser: Browser, paths: dict[str, Path]) -> Iterator[Any]:
    """Return a function that opens a page, and refuses requests and errors of it."""
    pages: list[Page] = []

    def open_page(name: str, size: Any = WIDE, **options: Any) -> Page:
        one = browser.new_page(viewport=size, **options)
        pages.append(one)
        address = paths[name].as_uri()
        found: list[str] = []
        one.on("request", lambda request: found.append(request.url) if request.url != address else None)
        one.on("console", lambda message: found.append(message.text))
        one.on("pageerror", lambda error: found.append(str(error)))
        one.goto(address)
        one.wait_for_load_state("networkidle")
        assert not found
        return one

    yield open_page
    for one in pages:
        one.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_violation(opened: Any, name: str, mode: str) -> None:
    one = opened(name, color_scheme=mode)
    one.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(one, options={"runOnly": {"type": "tag", "values": RULES}}).response
    assert [(one["id"], len(one["nodes"]), one["nodes"][0]["html"][:200]) for one in found["violations"]] == []
    assert len(found["passes"]) > 10


@pytest.mark.parametrize("name", NAMES)
def test_the_body_fits_any_width(opened: Any, name: str) -> None:
    for size in (NARROW, {"width": 640, "height": 450}):  # the second is that of 200 % zoom
        one = opened(name, size)
        one.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert one.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["with_lists", "large", "with_catalogue"])
def test_pictures_have_contrast(opened: Any, name: str, mode: str) -> None:
    found = opened(name, color_scheme=mode).evaluate(CONTRAST)
    assert len(found) > 50
    for kind, contrast in found:
        assert contrast >= {"text": 4.5, "mark": 3.0}[kind]


def test_the_keyboard_reaches_everything(opened: Any) -> None:
    one = opened("with_lists")
    one.keyboard.press("Tab")
    assert one.evaluate("document.activeElement.className") == "skip"
    assert one.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    one.keyboard.press("Enter")
    assert one.url.endswith("#main")
    summary = one.locator("summary").first
    summary.focus()
    assert summary.evaluate("one => getComputedStyle(one).outlineStyle") != "none"
    is_open = summary.evaluate("one => one.parentElement.open")
    one.keyboard.press("Enter")
    assert summary.evaluate("one => one.parentElement.open") != is_open
    scrollable = "[...document.querySelectorAll('*')].filter(one => one.scrollWidth > one.clientWidth + 1 && "
    scrollable += "getComputedStyle(one).overflowX === 'auto' && one.tabIndex < 0).length"
    assert one.evaluate(scrollable) == 0


def test_forced_colours_keep_texts_and_marks(opened: Any) -> None:
    one = opened("with_lists", forced_colors="active")
    for kind, contrast in one.evaluate(CONTRAST):
        assert contrast >= {"text": 4.5, "mark": 3.0}[kind]


def test_paper_has_all_sections_and_what_is_folded(opened: Any, tmp_path: Path) -> None:
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext, of Debian's poppler-utils, reads what was printed")
    one = opened("with_lists")
    one.pdf(path=tmp_path / "page.pdf", format="A4")
    command = ["pdftotext", "-layout", str(tmp_path / "page.pdf"), "-"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ours
    for heading in one.locator("h2").all_text_contents():
        assert heading in done.stdout
    assert "Differences by group" in done.stdout
    assert "Heat (1995)" in done.stdout  # within details


@pytest.mark.parametrize("name", NAMES)
def test_pictures_to_look_at(browser: Browser, paths: dict[str, Path], name: str) -> None:
    take_pictures(browser, paths[name], SCREENS)
    assert (SCREENS / f"{name}-dark.png").stat().st_size > 10_000
