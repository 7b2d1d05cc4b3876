"""The README leads to the right files on an index too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from index_readme import dynamic_metadata, with_absolute_links

ROOT = Path(__file__).parent.parent
HOME = "https://host.example/owner/exactk"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_links_and_pictures_are_those_of_the_release() -> None:
    text = "[a](docs/a.md#b) ![c](docs/c.svg) [d](#e) [f](https://g.example)\n\n```python\nx[0](y)\n```\n"
    assert with_absolute_links(text, HOME, "1.2.3") == (
        f"[a]({HOME}/blob/v1.2.3/docs/a.md#b) ![c]({HOME}/raw/v1.2.3/docs/c.svg) [d](#e) [f](https://g.example)"
        "\n\n```python\nx[0](y)\n```\n"
    )


def test_every_link_of_the_readme_leads_to_a_file_of_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    fields = dynamic_metadata({"home": HOME}, {"version": "1.2.3"})
    targets = [target for target in LINK.findall(fields["readme"]["text"]) if not target.startswith("#")]
    assert len(targets) > 20
    for target in targets:
        path = target.removeprefix(f"{HOME}/").split("/", 2)[2].partition("#")[0]
        assert target.startswith(HOME)
        assert (ROOT / path).is_file()
    assert all(url.startswith(HOME) for url in fields["urls"].values())


def test_without_a_home_nothing_is_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    fields = dynamic_metadata({"home": ""}, {"version": "1.2.3"})
    assert fields["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8")
    assert fields["urls"] == {}
