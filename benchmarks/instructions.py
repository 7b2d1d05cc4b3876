"""Count the instructions of small workloads of the core: of this tree, and of the commit that it is compared with.

``make instructions`` builds ``benchmarks/cpp/instructions`` against both cores, has valgrind's callgrind count
each workload, and fails if one needs more than 1.02 times the instructions. Counts do not depend on what else the
machine does. valgrind simulates a processor without AVX-512, so the kernels are those for AVX2; and instructions are
not time, for one that waits for memory counts as any other.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from benchmarks.results import Table

ROOT = Path(__file__).parents[1]
WORKLOADS = ROOT / "benchmarks" / "cpp" / "instructions"
BUILT = ROOT / "build" / "instructions"
CORE = ("CMakeLists.txt", "cpp/include", "cpp/src")
MAINS = ("main", "origin/main")
LIMIT = 1.02
FEW, MANY = 1, 2  # repeats, whose difference leaves out what a process does beside them

Counts: TypeAlias = Mapping[str, int]
"""The instructions of one repeat, by workload."""


class IncomparableError(Exception):
    """There are no counts to compare with."""


def main(arguments: Sequence[str]) -> int:
    """Count, compare with the revision that is given, or with that of `base_revision`, and print."""
    if not shutil.which("valgrind"):
        print("not counted: valgrind is not installed (Debian: valgrind)")
        return 0
    after = count_workloads(build(ROOT, BUILT / "after"))
    try:
        revision = arguments[0] if arguments else base_revision()
        before = count_revision(revision)
    except IncomparableError as error:
        print(counts_table(after), f"not compared: {error}", sep="\n")
        return 0
    print(comparison_table(before, after, revision))
    if more := slower_workloads(before, after):
        print(f"more than {LIMIT} x the instructions of {revision}: {', '.join(more)}")
    return 1 if more else 0


def base_revision() -> str:
    """Return the merge base with main; on main itself the last commit, or the one before if the core is as it was then."""
    head = git("rev-parse", "--short", "HEAD")
    if head is None:
        raise IncomparableError("there is no git history here")
    bases = [base for main in MAINS if (base := git("merge-base", "HEAD", main))]
    if not bases:
        raise IncomparableError("there is no merge base with main: a shallow clone has none")
    for base in bases:
        if not base.startswith(head):
            return base[: len(head)]
    if is_core_changed("HEAD"):
        return head
    parent = git("rev-parse", "--short", "--verify", "--quiet", "HEAD~1")
    if parent is None:
        raise IncomparableError("there is no commit before HEAD: a shallow clone has none")
    return parent


def is_core_changed(revision: str) -> bool:
    """Return whether the core is another one than at the revision."""
    return git("diff", "--quiet", revision, "--", *CORE) is None


def git(*arguments: str) -> str | None:
    """Return what git prints, None if it fails."""
    try:
        finished = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True, cwd=ROOT)  # noqa: S607 - as git is found
    except (OSError, subprocess.CalledProcessError):
        return None
    return finished.stdout.strip()


def count_revision(revision: str) -> Counts:
    """Count today's workloads with the core of a revision."""
    commit = git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if commit is None:
        raise IncomparableError(f"there is no revision {revision}")
    if not is_core_changed(commit):
        raise IncomparableError(f"the core is that of {revision}")
    folder = BUILT / f"before-{commit[:12]}"
    for other in set(BUILT.glob("before-*")) - {folder}:
        shutil.rmtree(other)
    # Files get the time of the commit, so that nothing is compiled again when they are written again.
    archive = subprocess.run(["git", "archive", commit, *CORE], check=True, capture_output=True, cwd=ROOT).stdout  # noqa: S607 - as git is found
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder / "sources", filter="data")
    try:
        return count_workloads(build(folder / "sources", folder / "build"))
    except subprocess.CalledProcessError as error:
        raise IncomparableError(f"today's workloads do not compile or run with the core of {revision}") from error


def build(sources: Path, folder: Path) -> Path:
    """Compile the workloads with the core of some sources, as releases are, and return the program."""
    configure = ["cmake", "-S", str(WORKLOADS), "-B", str(folder), f"-DEXACTK_SOURCE={sources}"]
    subprocess.run([*configure, "-DCMAKE_BUILD_TYPE=Release"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--parallel", str(_cores())], check=True, stdout=subprocess.DEVNULL)  # noqa: S607 - as cmake is found
    return folder / "exactk_instructions"


def count_workloads(program: Path) -> Counts:
    """Count the instructions of one repeat of each workload."""
    names = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()

    def count(name: str) -> int:
        return (count_process(program, name, MANY) - count_process(program, name, FEW)) // (MANY - FEW)

    with ThreadPoolExecutor(_cores()) as pool:
        return dict(zip(names, pool.map(count, names), strict=True))


def count_process(program: Path, name: str, repeats: int) -> int:
    """Count the instructions of a process that repeats a workload so often."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), name, str(repeats)]
    # The environment lies on the stack, whose addresses would change with it.
    environment = {"PATH": os.defpath}
    finished = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return parse_count(finished.stderr)


def parse_count(text: str) -> int:
    """Return the number of instructions in what callgrind prints."""
    match = re.search(r"Collected : (\d+)", text)
    assert match, text
    return int(match[1])


def counts_table(counts: Counts) -> Table:
    """Return the counts as a table."""
    return Table("Instructions", ["workload", "instructions"], [[name, f"{count:,}"] for name, count in counts.items()])


def comparison_table(before: Counts, after: Counts, revision: str) -> Table:
    """Return the counts of a revision and of this tree as a table."""
    rows = [[name, f"{before[name]:,}", f"{count:,}", f"{count / before[name]:.4f}"] for name, count in after.items()]
    return Table(f"Instructions, of {revision} and of this tree", ["workload", "before", "after", "ratio"], rows)


def slower_workloads(before: Counts, after: Counts) -> list[str]:
    """Return the workloads that need more instructions than allowed."""
    return [name for name, count in after.items() if count > LIMIT * before[name]]


def _cores() -> int:
    return len(os.sched_getaffinity(0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
