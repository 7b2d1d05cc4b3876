"""Compare what this tree and another commit do: ``make same BASE=<commit>``.

BASE is built in ``build/same/<commit>``, once. Then the cases of this tree run with the package of BASE and with that of
this tree, in two processes, whose only difference is the package. Each case leaves lines of text: values and sums in
hexadecimal, counts, warnings, errors, pages. What differs is printed by kind of case, and the exit status is 1 unless
``expected.toml`` says that it is meant, and why. Names that have changed stand there too, so that one program asks both.

``--package`` compares with the package in another folder, whose compiled core is there, and ``--kind`` runs some kinds of
cases alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from same.names import EXPECTED

ROOT = Path(__file__).resolve().parents[2]
BUILDS = ROOT / "build" / "same"
LONGEST_DIFF = 20_000  # lines that difflib compares; more are compared one by one
SHOWN_LINES = 12  # of a case
ONLY_BASE, ONLY_HERE = "only in the base", "only here"
Records = Mapping[str, Sequence[str]]


class Side(NamedTuple):
    """What runs the cases: an interpreter that finds the package, perhaps in a folder, and the tests of its tree."""

    name: str
    python: Path
    package: Path | None
    tests: Path

    def start(self, kinds: Sequence[str], base_tests: Path) -> subprocess.Popen[str]:
        """Start the cases in a process of their own."""
        folders = [ROOT / "tools", ROOT / "tests", ROOT]
        if self.package is not None:
            folders.insert(0, self.package)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("EXACTK_", "PYTHON"))}
        environment |= {
            "PYTHONPATH": os.pathsep.join(map(str, folders)),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "EXACTK_NUM_THREADS": "2",
            "COLUMNS": "80",
            "SAME_TESTS": str(self.tests),
            "SAME_BASE_TESTS": str(base_tests),
        }
        command = [str(self.python), "-m", "same.runner", str(self.records), *kinds]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own

    @property
    def records(self) -> Path:
        """Where the records are written."""
        return BUILDS / f"{self.name}.jsonl"

    def read(self) -> dict[str, list[str]]:
        """Return the lines of each case."""
        with self.records.open(encoding="utf-8") as stream:
            return {record["name"]: record["lines"] for record in map(json.loads, stream)}


def build(commit: str) -> Side:
    """Build a commit, unless it was built before; all but the package comes from the environment of this process."""
    folder = BUILDS / commit
    python, tree = folder / "venv" / "bin" / "python", folder / "tree"
    if not (folder / ".built").exists():
        shutil.rmtree(folder, ignore_errors=True)
        tree.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True)  # noqa: S603, S607
        subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)  # noqa: S603, S607
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)  # noqa: S603
        folders = [_site_packages(one) for one in (python, Path(sys.executable))]
        Path(folders[0], "tests.pth").write_text(f"{folders[1]}\n", encoding="utf-8")  # behind its own
        _install(python, tree, folder)
        (folder / ".built").touch()
    return Side("base", python, None, tree / "tests")


def _site_packages(python: Path) -> str:
    program = "import site; print(site.getsitepackages()[0])"
    return subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603


def _install(python: Path, tree: Path, folder: Path) -> None:
    options = [
        "--disable-pip-version-check",
        "--quiet",
        "install",
        "--no-build-isolation",
        "--ignore-installed",
        "--no-deps",
    ]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # with ninja
    command = [str(python), "-m", "pip", *options, str(tree), f"-Cbuild-dir={folder / 'wheel'}"]
    subprocess.run(command, check=True, env={**os.environ, "PATH": path})  # noqa: S603 - our own


@dataclass
class Expected:
    """Differences that are meant: patterns of a case's name and of its lines."""

    case: re.Pattern[str]
    line: re.Pattern[str]
    reason: str
    lines: int = 0  # that it has explained

    def explains(self, case: str, line: str) -> bool:
        """Return whether a line of a case may differ."""
        explains = bool(self.case.fullmatch(case) and self.line.fullmatch(line))
        self.lines += explains
        return explains


def read_expected() -> list[Expected]:
    """Return the expected differences; each needs a reason."""
    table = tomllib.loads(EXPECTED.read_text(encoding="utf-8")).get("difference", [])
    return [Expected(re.compile(one["case"]), re.compile(one["line"]), one["reason"]) for one in table]


def differing_lines(base: Sequence[str], here: Sequence[str]) -> list[str]:
    """Return the lines that differ, after a sign of their side."""
    if len(base) + len(here) <= LONGEST_DIFF:
        return [line for line in list(unified_diff(base, here, n=0, lineterm=""))[2:] if not line.startswith("@@")]
    pairs = ((one, other) for one, other in zip_longest(base, here) if one != other)
    return [sign + line for pair in pairs for sign, line in zip("-+", pair, strict=True) if line is not None]


def differences(base: Records, here: Records) -> Iterator[tuple[str, list[str]]]:
    """Yield the cases that differ, with their lines that do."""
    for name in dict.fromkeys([*base, *here]):
        if name not in here:
            yield name, [f"-{ONLY_BASE}"]
        elif name not in base:
            yield name, [f"+{ONLY_HERE}"]
        elif base[name] != here[name]:
            yield name, differing_lines(base[name], here[name])


def report(base: Records, here: Records, expected: Sequence[Expected], shown: int) -> tuple[list[str], bool]:
    """Return what is printed, and whether all differences are expected."""
    cases = Counter(name.partition("/")[0] for name in {**base, **here})
    meant: Counter[str] = Counter()
    unexpected: dict[str, dict[str, list[str]]] = {kind: {} for kind in cases}
    for name, lines in differences(base, here):
        left = [line for line in lines if not any([one.explains(name, line[1:]) for one in expected])]  # noqa: C419 - all are asked
        kind = name.partition("/")[0]
        if left:
            unexpected[kind][name] = left
        else:
            meant[kind] += 1
    printed = [f"{'kind':14}{'cases':>7}{'expected':>10}{'different':>11}"]
    printed += [f"{kind:14}{cases[kind]:7}{meant[kind]:10}{len(unexpected[kind]):11}" for kind in cases]
    printed.append(f"{'':14}{cases.total():7}{meant.total():10}{sum(map(len, unexpected.values())):11}")
    for kind, found in unexpected.items():
        chosen = dict(islice(_of_new_shapes(found), shown))
        for name, lines in chosen.items():
            printed += ["", f"{name}:", *lines[:SHOWN_LINES]]
            printed += [f"... and {len(lines) - SHOWN_LINES} more lines"] * (len(lines) > SHOWN_LINES)
        if others := [name for name in found if name not in chosen]:
            printed += ["", f"... and {len(others)} more of {kind}, such as {', '.join(others[:3])}"]
    return printed, not any(unexpected.values())


def _of_new_shapes(found: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the cases with a line that is, but for its numbers, unlike those of the cases before."""
    seen: set[str] = set()
    for name, lines in found.items():
        shapes = {re.sub(r"[0-9a-f]*[0-9][0-9a-f]*", "0", line) for line in lines}
        if not shapes <= seen:
            yield name, lines
        seen |= shapes


def main() -> int:
    """Run both sides, and print what differs."""
    parser = argparse.ArgumentParser(
        prog="make same", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--package", type=Path, help="folder with the package to compare, in place of this tree's")
    parser.add_argument("--kind", action="append", default=[], help="kind of cases; repeatable (default: all)")
    parser.add_argument(
        "--shown", type=int, default=4, help="cases of each kind whose differences are shown (default: 4)"
    )
    arguments = parser.parse_args()
    revision = ["git", "rev-parse", "--verify", f"{arguments.base}^{{commit}}"]
    commit = subprocess.run(revision, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603
    base = build(commit)
    here = Side("here", Path(sys.executable), None, ROOT / "tests")
    if arguments.package is not None:
        here = Side("here", base.python, arguments.package.resolve(), arguments.package.resolve().parent / "tests")
    running = [side.start(arguments.kind, base.tests) for side in (base, here)]
    summaries = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        raise SystemExit("the cases did not run to their end")
    expected = read_expected()
    printed, is_same = report(base.read(), here.read(), expected, arguments.shown)
    stale = [one for one in expected if not one.lines and not arguments.kind]
    printed += ["", *(f"expected, and not found: {one.case.pattern}: {one.line.pattern}" for one in stale)]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = " and ".join(f"{json.loads(one)['cpu']:.0f} s" for one in summaries)
    printed.append(f"CPU time: {used.ru_utime + used.ru_stime:.0f} s, of which {seconds} for the cases")
    print("\n".join(printed))  # noqa: T201 - the result
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
