"""Pictures of pages for people to look at: light, dark, narrow and printed.

``python tests/browser/screens.py FOLDER PAGE.html ...`` writes ``FOLDER/PAGE-light.png`` and so on.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 320, "height": 640}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run the Chromium of the system, headless."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        yield browser
        browser.close()


def take_pictures(browser: Browser, path: Path, folder: Path) -> None:
    """Write the pictures of a page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, size, scheme in (("light", WIDE, "light"), ("dark", WIDE, "dark"), ("narrow", NARROW, "light")):
        page = browser.new_page(viewport=size, color_scheme=scheme)
        page.goto(path.resolve().as_uri())
        page.screenshot(path=folder / f"{path.stem}-{name}.png", full_page=True)
        if name == "light":
            page.pdf(path=folder / f"{path.stem}.pdf", format="A4")
        page.close()
    if renderer := shutil.which("pdftoppm"):
        pdf = folder / f"{path.stem}.pdf"
        subprocess.run([renderer, "-r", "60", "-png", pdf, folder / f"{path.stem}-print"], check=True)  # noqa: S603 - ours


def main(folder: str, *paths: str) -> None:
    """Write the pictures of pages into a folder."""
    with chromium() as browser:
        for path in paths:
            take_pictures(browser, Path(path), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
