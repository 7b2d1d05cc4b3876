"""Check that pyproject.toml, CITATION.cff and the package agree on the version and on optional libraries.

``make lint`` runs this.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from exactk._runtime.optional import EXTRAS
from exactk._runtime.versions import OPTIONAL_LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = {"scikit-learn": "sklearn"}  # of distributions with another name
LARGE = {"spark", "dask", "ray", "torch", "ir-measures", "sklearn"}  # extras that `all` leaves out


def wrong_extras() -> Iterator[str]:
    """Yield libraries whose extra is another in the package, or that `exactk.show_versions` does not name."""
    extras: dict[str, list[str]] = dict(PROJECT["optional-dependencies"])
    together = extras.pop("all")
    distributions = {
        re.split(r"\[|>=", text)[0]: extra
        for extra, texts in extras.items()
        for text in texts
        if not text.startswith("exactk[")
    }
    libraries = {MODULES.get(name, name): extra for name, extra in distributions.items()}
    for library, extra in sorted(set(libraries.items()) ^ set(EXTRAS.items())):
        yield f"pyproject.toml: {library} of the extra {extra} is here or in _runtime/optional.py, but not in both"
    for name in sorted(distributions.keys() - OPTIONAL_LIBRARIES.keys()):
        yield f"pyproject.toml: {name} is not among OPTIONAL_LIBRARIES of _runtime/versions.py"
    small = f"exactk[{','.join(extra for extra in extras if extra not in LARGE)}]"
    if together != [small]:
        yield f"pyproject.toml: the extra all is {together}, not {small}"


def wrong_messages() -> Iterator[str]:
    """Yield extras that the package asks for and the project lacks."""
    for path in sorted((ROOT / "python" / "exactk").rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for extra in re.findall(r"exactk\[([\w-]+)\]", line):
                if extra not in PROJECT["optional-dependencies"]:
                    yield f"{path.relative_to(ROOT)}:{number}: the project has no extra {extra}"


def violations() -> Iterator[str]:
    """Yield what is wrong, with its file."""
    if PROJECT["name"] != "exactk":
        yield f"pyproject.toml: the project is {PROJECT['name']}, which messages do not ask for"
    if f"version: {PROJECT['version']}" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines():
        yield f"CITATION.cff: the version is not {PROJECT['version']}"
    yield from wrong_extras()
    yield from wrong_messages()


if __name__ == "__main__":
    sys.exit("\n".join(violations()) or None)
