"""Show which tests notice a mistake in the code: 150 mutants, drawn by a seed, and which test kills each.

``make mutants`` runs this. All mutants are built into one copy of the package, each behind a switch, so that there is
one build; ``mutants.json`` names them by their text, so that they outlast changes of other lines. Asking a switch also
marks it as reached. One run of the tests shows which of them reach which mutants; then each mutant is switched on for
those alone, cheapest first, until one fails (see ``mutant_runs.py``).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mutant_candidates import Candidate, Key, candidates, orders, quotas, room, select
from mutant_runs import FIRST_MARK, UNLIMITED, Marks

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "mutants.json"
SEED = 48
EACH = 75  # mutants of each language
LANGUAGES = ("cpp/src", "python/exactk")
# compat has tests that compare it with the libraries themselves.
LEFT_OUT = ("python/exactk/compat/",)
TRACKED = ["cpp", "python", "CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"]

CPP_SWITCH = """#pragma once
extern unsigned char* exactk_marks;
[[maybe_unused]] static inline __attribute__((always_inline)) constexpr bool exactk_mutant(int id) {{
  if (__builtin_is_constant_evaluated()) return false;
  if (exactk_marks[{first} + id] == 0) exactk_marks[{first} + id] = 1;
  return *reinterpret_cast<volatile unsigned short*>(exactk_marks) == id;
}}
"""
CPP_MARKS = """
#include <fcntl.h>
#include <sys/mman.h>
static unsigned char exactk_no_marks[4096];
constinit unsigned char* exactk_marks = exactk_no_marks;
__attribute__((constructor(101))) static void exactk_open_marks() {{
  void* opened = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open("{marks}", O_RDWR | O_CLOEXEC), 0);
  if (opened != MAP_FAILED) exactk_marks = static_cast<unsigned char*>(opened);
}}
"""
PYTHON_SWITCH = """import mmap
try:
    with open({marks!r}, "r+b") as _file:
        _marks = mmap.mmap(_file.fileno(), 4096)
except OSError:
    _marks = bytearray(4096)
_active = memoryview(_marks)[:2].cast("H")
def mutant(id):
    _marks[{first} + id] = 1
    return _active[0] == id
"""


@dataclass
class Mutant:
    """A mutant of the list, and what is said of it there."""

    id: int
    key: Key
    mutated: str
    equivalent: str = ""  # the reason why no test can tell it from the code


@dataclass
class Build:
    """The copy of a tree with all switches, and the environment that it is installed in."""

    tree: Path
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        self.folder = self.tree / "build" / "mutants"
        self.source, self.cmake = self.folder / "source", self.folder / "wheel"
        self.python = self.folder / "venv" / "bin" / "python"
        self.marks = self.folder / "marks"

    def create_environment(self) -> None:
        """Create an environment with exactk alone: all else comes from that of this process, searched last."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.marks.write_bytes(bytes(4096))
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "venv"], check=True)
        where = "import site; print(site.getsitepackages()[0])"
        [site, tests] = (
            subprocess.run([python, "-c", where], check=True, capture_output=True, text=True).stdout.strip()
            for python in (self.python, sys.executable)
        )
        Path(site, "tests.pth").write_text(tests)
        switch = PYTHON_SWITCH.format(marks=str(self.marks), first=FIRST_MARK)
        Path(site, "exactk_switch.py").write_text(switch)

    def write_source(self, switches: dict[str, list[tuple[int, Candidate]]]) -> None:
        """Write the sources with their switches; files that stay the same are not compiled again."""
        tracked = subprocess.run(
            ["git", "ls-files", *TRACKED], cwd=self.tree, check=True, capture_output=True, text=True
        ).stdout.split("\n")
        written = {self.folder / "switch.hpp": CPP_SWITCH.format(first=FIRST_MARK).encode()}
        for name in filter(None, tracked):
            if (self.tree / name).exists():
                written[self.source / name] = with_switches((self.tree / name).read_bytes(), switches.get(name, []))
        written[self.source / "cpp/src/base/error.cpp"] += CPP_MARKS.format(marks=self.marks).encode()
        for path, content in written.items():
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        for path in [*self.source.glob("cpp/**/*.*"), *self.source.glob("python/**/*.py")]:
            if path not in written:
                path.unlink()

    def compile(self) -> str:
        """Build and install the copy; return what the compiler printed if it failed."""
        options = [
            "cmake.build-type=Debug",
            "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O1 -DNDEBUG",
            # As in the C++ tests, the standard library checks its arguments.
            f"cmake.define.CMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS -Wno-narrowing -include {self.folder}/switch.hpp",
            "cmake.define.CMAKE_UNITY_BUILD=ON",
            "cmake.define.EXACTK_BUILD_TESTS=ON",
            f"build-dir={self.cmake}",
            "build.tool-args=-k0",
            "build.verbose=true",
        ]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(self.python), "install"]
        install = [*pip, "--no-build-isolation", "--no-deps", "--ignore-installed", str(self.source)]
        commands = [
            [*install, *(f"-C{option}" for option in options)],
            ["cmake", "--build", str(self.cmake), "--target", "exactk_tests", "--", "-k0"],
        ]
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        runs = [
            subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
            for command in commands
        ]
        printed = "".join(run.stdout + run.stderr for run in runs)
        (self.folder / "build.log").write_text(printed)
        return printed if any(run.returncode for run in runs) else ""


def with_switches(source: bytes, switches: list[tuple[int, Candidate]]) -> bytes:
    """Return a source in which each candidate asks its switch; its lines stay where they are."""
    for number, one in sorted(switches, key=lambda switch: -switch[1].start):
        text = source[one.start : one.end].decode()
        if one.key.path.endswith(".py"):
            asked = f"(({one.mutated}) if _mutant({number}) else {text})"
        elif one.mutated == "void()":
            asked = f"(exactk_mutant({number}) ? void() : static_cast<void>({text}))"
        else:
            asked = f"(exactk_mutant({number}) ? ({one.mutated}) : ({text}))"
        source = source[: one.start] + asked.encode() + source[one.end :]
    if switches and switches[0][1].key.path.endswith(".py"):
        first = b"from __future__ import annotations"
        source = source.replace(first, first + b"; from exactk_switch import mutant as _mutant", 1)
    return source


def all_candidates(tree: Path, folder: str) -> list[Candidate]:
    """Return every candidate of one language."""
    paths = subprocess.run(["git", "ls-files", folder], cwd=tree, check=True, capture_output=True, text=True)
    return [
        one
        for path in paths.stdout.split()
        if path.endswith((".py", ".cpp", ".hpp")) and not path.startswith(LEFT_OUT) and (tree / path).exists()
        for one in candidates(tree, path)
    ]


def draw(build: Build) -> list[Mutant]:
    """Draw the mutants by the seed and build them; one that does not compile is left out, and the next is drawn."""
    drawn = [orders(all_candidates(build.tree, folder), SEED) for folder in LANGUAGES]
    numbers: dict[Key, int] = {}
    refused: set[Key] = set()
    while True:
        selected = [one for order in drawn for one in select(order, quotas(order, EACH), refused)]
        switches: defaultdict[str, list[tuple[int, Candidate]]] = defaultdict(list)
        for one in selected:
            switches[one.key.path].append((numbers.setdefault(one.key, len(numbers) + 1), one))
        build.write_source(switches)
        errors = build.compile()
        if not errors:
            return [Mutant(numbers[one.key], one.key, one.mutated) for one in selected]
        named = {(path, int(line)) for path, line in re.findall(r"/source/(\S+?):(\d+):", errors) if path in switches}
        found = {
            one.key for path, line in named for _, one in switches[path] if line in lines_of(build.tree / path, one)
        }
        if not found:
            sys.exit(f"the build failed, and no mutant is to blame: see {build.folder}/build.log")
        refused |= found
        print(f"{len(found)} do not compile", flush=True)


def lines_of(path: Path, one: Candidate) -> range:
    """Return the numbers of the lines of a candidate."""
    source = path.read_bytes()
    return range(source.count(b"\n", 0, one.start) + 1, source.count(b"\n", 0, one.end) + 2)


def run_cases(build: Build, mutants: list[Mutant], results: dict[int, dict[str, Any]]) -> None:
    """Run the C++ test cases: once each to see what they reach, then the cheapest for each mutant."""
    program = build.cmake / "exactk_tests"
    listed = subprocess.run([program, "--list-test-cases", "--no-colors"], check=True, capture_output=True, text=True)
    names = [line for line in listed.stdout.splitlines() if not line.startswith(("[doctest]", "==="))]
    marks = Marks(build.marks)

    def run(name: str, active: int, limit: float) -> tuple[str, float]:
        marks.activate(active)
        begin = time.monotonic()
        command = [str(program), "--test-case=" + re.sub(r'[,"\\]', "?", name)]
        try:
            done = subprocess.run(command, check=False, capture_output=True, timeout=limit)
            outcome = "passed" if done.returncode == 0 else "failed"
        except subprocess.TimeoutExpired:
            outcome = "timeout"
        return outcome, time.monotonic() - begin

    reach: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)
    for name in names:
        marks.clear()
        outcome, seconds = run(name, 0, 300)
        if outcome == "passed":
            for number in marks.reached():
                reach[number].append((seconds, name))
        else:
            print(f"without a mutant {outcome}: {name}", flush=True)
    for mutant in mutants:
        result = results.setdefault(mutant.id, {"killers": [], "reached": 0, "tried": 0, "seconds": 0.0})
        for seconds, name in [] if mutant.equivalent else sorted(reach[mutant.id]):
            outcome, cost = run(name, mutant.id, 10 + 10 * seconds)
            result["tried"] += 1
            result["seconds"] += cost
            if outcome != "passed":
                result["killers"].append([f"C++: {name}", round(seconds, 3), outcome])
                break
        result["reached"] += len(reach[mutant.id])
    marks.activate(0)


def run_python_tests(build: Build, mutants: list[Mutant], options: argparse.Namespace) -> None:
    """Run the Python tests for the mutants that no C++ test kills; a line is written for each."""
    files = sorted(str(path.relative_to(build.tree)) for pattern in options.tests for path in build.tree.glob(pattern))
    settings = {
        "marks": str(build.marks),
        "mutants": [mutant.id for mutant in mutants],
        "files": files,
        "reach": str(build.folder / "reach.json"),
        "results": str(build.folder / "python_tests.jsonl"),
        "temporary": str(build.folder / "temporary"),
        "killers": options.earlier,
        "budget": options.budget,
        "share": options.share,
        "recorded": options.recorded,
    }
    (build.folder / "run.json").write_text(json.dumps(settings))
    environment = os.environ | {
        "PATH": f"{build.python.parent}:{os.environ['PATH']}",
        "CI": "true",  # the same examples each time
    }
    script = str(Path(__file__).with_name("mutant_runs.py"))
    command = [str(build.python), script, str(build.folder / "run.json")]
    subprocess.run(command, cwd=build.tree, check=True, env=environment)


def print_table(mutants: list[Mutant], gone: list[Key], results: dict[int, dict[str, Any]]) -> None:
    """Print the mutants by room, and those that no test kills."""
    killed = Counter(room(one.key.path) for one in mutants if results[one.id]["killers"])
    print(f"{'room':32}{'mutants':>8}{'killed':>8}{'equivalent':>12}{'not killed':>12}")
    rooms = Counter(room(one.key.path) for one in mutants)
    equivalent = Counter(room(one.key.path) for one in mutants if one.equivalent and not results[one.id]["killers"])
    for name, count in [*sorted(rooms.items()), ("all", len(mutants))]:
        dead, same = (sum(c.values()) if name == "all" else c[name] for c in (killed, equivalent))
        print(f"{name:32}{count:8}{dead:8}{same:12}{count - dead - same:12}")
    for one in mutants:
        result = results[one.id]
        if result["killers"]:
            fate = "; ".join(f"{name} ({seconds:.2f} s, {how})" for name, seconds, how in result["killers"])
        else:
            fate = f"not killed: {result['tried']} of the {result['reached']} tests that reach it were run"
            fate = f"equivalent: {one.equivalent}" if one.equivalent else fate
        print(f"{one.id:4} {one.key.path} {one.key.function}: {one.key.text[:60]!r} -> {one.mutated[:60]!r}: {fate}")
    for key in gone:
        print(f"gone: {key.path} {key.function}: {key.text!r}")


def read_list(tree: Path) -> tuple[list[Mutant], dict[str, list[tuple[int, Candidate]]], list[Key]]:
    """Return the mutants of the list that the tree has, their switches by file, and those that it has no more."""
    found = {one.key: one for folder in LANGUAGES for one in all_candidates(tree, folder)}
    mutants, gone = [], []
    switches: defaultdict[str, list[tuple[int, Candidate]]] = defaultdict(list)
    for row in json.loads(LIST.read_text())["mutants"]:
        names = {name: row.pop(name) for name in ("path", "function", "operator", "text", "occurrence")}
        key = Key(**names)
        if key in found:
            mutants.append(Mutant(key=key, **row))
            switches[key.path].append((row["id"], found[key]))
        else:
            gone.append(key)
    return mutants, switches, gone


def write_list(mutants: Iterable[Mutant]) -> None:
    """Write the list, one mutant a line."""
    rows = [{"id": one.id, **asdict(one.key), "mutated": one.mutated} for one in mutants]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    LIST.write_text(f'{{"seed": {SEED}, "mutants": [\n{lines}\n]}}\n')


def main() -> None:
    """Build the mutants, run the tests and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="draw the list again, by the seed")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run of the Python tests showed")
    parser.add_argument("--tree", type=Path, default=ROOT, help="another checkout")
    patterns = ["tests/test_*.py", "tests/compat/test_*.py", "docs/**/*.md"]
    parser.add_argument("--tests", nargs="*", default=patterns, help="patterns of the files that pytest runs")
    parser.add_argument("--killers", type=Path, help="results of an earlier run, whose killers are tried first")
    parser.add_argument("--recorded", action="store_true", help="run no Python tests but these killers")
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests for a mutant that survives")
    parser.add_argument("--share", type=float, default=UNLIMITED, help="seconds of each file, whose tests are drawn")
    options = parser.parse_args()
    build = Build(options.tree.resolve())
    build.create_environment()
    if options.draw:
        write_list(draw(build))
    mutants, switches, gone = read_list(build.tree)
    build.write_source(switches)
    if build.compile():
        sys.exit(f"the build failed: see {build.folder}/build.log")
    earlier = json.loads(options.killers.read_text()) if options.killers else []
    options.earlier = {row["id"]: [name for name, *_ in row["killers"]] for row in earlier}
    if not options.resume:
        for name in ("reach.json", "python_tests.jsonl"):
            (build.folder / name).unlink(missing_ok=True)
    results: dict[int, dict[str, Any]] = {}
    run_cases(build, mutants, results)
    left = [mutant for mutant in mutants if not results[mutant.id]["killers"] and not mutant.equivalent]
    run_python_tests(build, left, options)
    for line in (build.folder / "python_tests.jsonl").read_text().splitlines():
        row = json.loads(line)
        before = results[row["id"]]
        before["killers"] += row["killers"]
        for count in ("reached", "tried", "seconds"):
            before[count] += row[count]
    rows = [{"id": one.id, "room": room(one.key.path), "path": one.key.path, **results[one.id]} for one in mutants]
    (build.folder / "results.json").write_text(json.dumps(rows, indent=1))
    print_table(mutants, gone, results)


if __name__ == "__main__":
    main()
