"""Check that CITATION.cff, the changelog and the package agree with pyproject.toml on the version and on optional libraries.

Also check what is at the top level of the repository, which ARCHITECTURE.md lists, and what the sdist holds.

``make lint`` runs this.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from packaging.version import Version
from scikit_build_core.build import build_sdist

import exactk
from exactk._runtime.optional import EXTRAS, OPTIONAL_LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Of distributions with another name; extras that `all` leaves out.
MODULES = {"scikit-learn": "sklearn", "sentence-transformers": "sentence_transformers"}
LARGE = {"spark", "dask", "ray", "torch", "sentence-transformers", "ir-measures", "sklearn"}


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
        yield f"pyproject.toml: {name} is not among OPTIONAL_LIBRARIES of _runtime/optional.py"
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


def files_of_repository() -> list[PurePosixPath]:
    """Return the files that git knows or would add."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - no input of others
    return [PurePosixPath(name) for name in names.split("\0") if (ROOT / name).is_file()]


def stray_files(files: list[PurePosixPath]) -> Iterator[str]:
    """Yield what is at the top level though the table of ARCHITECTURE.md has no row of it, and the other way round."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("Beside the package")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = {name.split("/")[0] for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    for name in sorted({file.parts[0] for file in files} ^ listed):
        yield f"ARCHITECTURE.md: {name} is at the top level or in the table, but not in both"


SOURCES = {"CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "tools/index_readme.py"}
SOURCE_FOLDERS = ("cpp/bindings", "cpp/include", "cpp/src", "python/exactk")


def wrong_sources(files: list[PurePosixPath]) -> Iterator[str]:
    """Yield files that the sdist lacks though a build needs them, and others that it holds."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(io.StringIO()),
        tarfile.open(Path(folder) / build_sdist(folder)) as sdist,
    ):
        held = {name.partition("/")[2] for name in sdist.getnames()}
    needed = SOURCES | {str(file) for file in files if str(file).startswith(SOURCE_FOLDERS)}
    for name in sorted(needed - held):
        yield f"pyproject.toml: the sdist lacks {name}"
    for name in sorted(held - needed - {"PKG-INFO"}):
        yield f"pyproject.toml: the sdist holds {name}, which no build needs"


def wrong_versions() -> Iterator[str]:
    """Yield where the version is another than in pyproject.toml."""
    version = PROJECT["version"]
    if f"version: {version}" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines():
        yield f"CITATION.cff: the version is not {version}"
    if exactk.__version__ != version:
        yield f"exactk.__version__: {exactk.__version__} is installed, not {version}: run make again"
    released = re.findall(r"^## \[(\d\S*)\] - ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if released and Version(released[0]) > Version(version):
        yield f"CHANGELOG.md: {released[0]} was released, and the version is {version}"


def violations() -> Iterator[str]:
    """Yield what is wrong, with its file."""
    if PROJECT["name"] != "exactk":
        yield f"pyproject.toml: the project is {PROJECT['name']}, which messages do not ask for"
    yield from wrong_versions()
    yield from wrong_extras()
    yield from wrong_messages()
    files = files_of_repository()
    yield from stray_files(files)
    yield from wrong_sources(files)


if __name__ == "__main__":
    sys.exit("\n".join(violations()) or None)
