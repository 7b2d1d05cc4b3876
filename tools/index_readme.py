"""The README as a page of an index, where relative links would lead nowhere: there they lead to the files of the release.

scikit-build-core asks this module at each build. The public home of the project is in pyproject.toml, under
`[[tool.dynamic-metadata]]`, and nowhere else; as long as it is empty, links stay relative and there are no URLs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
RELATIVE_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)")


def with_absolute_links(text: str, home: str, version: str) -> str:
    """Return Markdown whose links lead to the files of a version in the repository at `home`, and its pictures too."""

    def absolute(link: re.Match[str]) -> str:
        bang, label, target = link.groups()
        return f"{bang}{label}({home}/{'raw' if bang else 'blob'}/v{version}/{target})"

    parts = FENCED.split(text)  # every other one is code
    return "".join(part if index % 2 else RELATIVE_LINK.sub(absolute, part) for index, part in enumerate(parts))


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the metadata that depend on the home."""
    home, version = settings["home"].rstrip("/"), project["version"]
    text = Path("README.md").read_text(encoding="utf-8")
    if not home:
        return {"readme": {"content-type": "text/markdown", "text": text}, "urls": {}}
    urls = {
        "Source": home,
        "Documentation": f"{home}/blob/v{version}/docs/index.md",
        "Changelog": f"{home}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }
    readme = {"content-type": "text/markdown", "text": with_absolute_links(text, home, version)}
    return {"readme": readme, "urls": urls}
