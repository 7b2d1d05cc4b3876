"""Print the table of faults: what each row promises, and the tests that show it.

``make faults`` runs this. A row's tests are those that carry its number in their names, before what they promise:
``test_f24_...`` in Python, ``TEST_CASE("F24: ...")`` in C++. ``make lint`` runs it with ``--check``, which looks for rows
without a test, and for names of tests without a row or a promise.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Row:
    """A fault, what is promised of it, and which part of that is shown where it is not all."""

    promise: str
    part: str = ""
    later: str = ""  # what the row waits for


ROWS = {
    1: Row("broken row offsets are refused, before a thread starts"),
    2: Row(
        "offsets of every integer type; positions beyond 2^31 and 2^32",
        "the arrays are as long, but mostly holes: no test reads billions of ids",
    ),
    3: Row(
        "ids outside [0, 2^63) are refused; -1 pads a matrix, at the end of a row",
        "there is no catalogue to declare yet",
    ),
    4: Row("ids as floats are refused, and holes (NaN) named"),
    5: Row("every integer type is exact, every other type is refused; nothing is narrowed"),
    6: Row("strides, orders and alignments mean what their elements say"),
    7: Row("objects, masked arrays, matrices and subclasses are refused"),
    8: Row(
        "NaN among scores is refused, or ranked last if asked; infinities are scores like any other; "
        "vectors have finite numbers"
    ),
    9: Row("grades and weights are finite, and gains in range"),
    10: Row("a repeated item in a list is refused, or never counted twice unless asked"),
    11: Row("a repeated item in the truth is refused, or handled by the policy"),
    12: Row("the order within the truth means nothing"),
    13: Row("grade 0 is judged and not relevant"),
    14: Row("a user without relevant items: the policy decides, the report counts"),
    15: Row("a user without a list counts as a miss in every metric"),
    16: Row("a user without truth is left out, and counted"),
    17: Row("no users, no items, cutoffs that are none, too large or repeated"),
    18: Row(
        "keys and items of kinds that cannot match are refused; of items, none of which matches, a warning says so"
    ),
    19: Row(
        "no ids make it slow or large: crafted ones, near 2^63, alike in low or high bits",
        "2^16 of them take at most 20 times as long as any others; met in one slot, they would a thousand times",
    ),
    20: Row(
        "arrays that another thread writes to: a result or a refusal, never a crash",
        "60 calls of each kind, 600 at night, 30 under AddressSanitizer",
    ),
    21: Row("arrays that lose all other references, or are resized, stay whole for the call"),
    22: Row(
        "calls at the same time, and any number of threads, give the same bits",
        "that the module needs no GIL is declared, not run without one; ThreadSanitizer sees the core alone",
    ),
    23: Row("an exception in a worker ends the call, and comes to the caller once"),
    24: Row(
        "memory that runs out is MemoryError, and the process goes on",
        "each allocation in turn in the core alone; in a whole process, limits from too little to enough",
    ),
    25: Row(
        "Ctrl-C ends a call within 0.1 s, whatever its size",
        "by CPU time, which other work on the machine does not lengthen; in the first half second of a call",
    ),
    26: Row("other signal handlers run during a call, and end it if they raise"),
    27: Row(
        "forked, spawned and forkserver children work, before and after use",
        "multiprocessing, concurrent.futures and loky, not PyTorch's DataLoader",
    ),
    28: Row(
        "no more threads than asked for, by argument or environment",
        "there is no setter for the process, and no controller for threadpoolctl",
    ),
    29: Row(
        "default threads: affinity, quotas of all ancestor cgroups, environment; at most 1024",
        "cgroups that are files of the test, not a real quota",
    ),
    30: Row("threads that cannot be started are done without, to the same bits"),
    31: Row(
        "a CPU without the fastest instructions: the same bits by those that it has",
        "each set that this CPU has is forced; CPUs that lack them are emulated, for the C++ tests alone",
    ),
    32: Row(
        "files that are broken or crafted are refused, a text by its line; nothing in them is run",
        "columnar files are read by pyarrow, whose crashes would be ours; files of states are not read yet",
    ),
    34: Row("names are text in LaTeX, Markdown, CSV and on a terminal: no command, formula, or cell of their own"),
    35: Row(
        "a sharded run that is killed goes on, to the same bits; no shard is merged twice, and missing ones are named"
    ),
    36: Row(
        "a shard is a function of its users' rows, in a file that is whole or absent, with a checksum and what it is of"
    ),
    37: Row(
        "states and shards of different evaluations are not merged, nor reports of different truths compared; the message "
        "says what differs"
    ),
    38: Row(
        "a user cut by the border of two batches is put together; one who comes again later is found; a shard has whole users"
    ),
    41: Row("weights and groups are needed of the users whom a value counts, by its own users= too"),
    42: Row("objects of the core are safe under any interleaving of Python threads"),
    43: Row("every function of the core checks its number of threads"),
    44: Row("one input gives one report or one error, whatever the container"),
    45: Row("every allocation that fails is MemoryError, and the process goes on"),
    46: Row("the process ends as Python would, with a daemon thread inside a call"),
    47: Row("a quote in a text file swallows no row"),
    48: Row("arrays of a file are checked before they are read, as those of a call"),
    49: Row("no output destroys another output, an input, or what a file held"),
    50: Row("every empty or broken input of the command line is a message, and never a traceback"),
    51: Row("a state or report that is read back is checked against its own plan"),
    52: Row("merging is linear in states, groups and blocks, and parsing in the length of the text"),
    53: Row("ties='expected' is the mean over all orders, for repeated items too"),
    54: Row("files that grow without end or never end are refused with bounded memory"),
    55: Row("one syntax of numbers in all readers; a failed write is one line and exit code 2"),
    56: Row("a subinterpreter can import the package, or is told at once that it cannot"),
    57: Row("any number of systems with keyed users is compared, at a cost linear in them"),
    58: Row("stored grades of a sparse truth count, or a warning says that they do not"),
    59: Row("producers and files that lie about lengths, types and lifetimes are refused"),
    60: Row("public classes belong to exactk, and a pickle names them alone, so that it survives a renamed module"),
    61: Row("users whose values depend on the order of ties are counted, at every cutoff and without one"),
    62: Row("groups and weights are matched to users by key, never by row where users have keys"),
    63: Row("a dense matrix of grades beside dense scores is grades, or an error; its values decide nothing"),
    64: Row("columns of grades are read as grades, and unused ones are told"),
    65: Row("a comparison shows what each system's report says"),
    66: Row("what a message suggests can be pasted"),
    67: Row("lists of (item, score) pairs are scores; what could be two things is told"),
    68: Row("a cutoff that no list reaches is told"),
    69: Row("negative grades are refused, unjudged or without gain, as the convention says"),
    70: Row("scores are narrowed by metric, as a library's own providers do"),
    71: Row("trec_eval's measures, sums, syntax and exit codes"),
    72: Row("trec_eval is the current release, and trec_eval_9 the older one"),
    73: Row("presets follow their libraries for every grade, score and rank that those accept"),
    74: Row("gaps between ranks are kept where the convention says so, and counted otherwise"),
    75: Row("systems that are averaged over different users are told apart"),
    76: Row(
        "blocks with exclusions, generators, views and one item per user are accepted, or the message says what to write"
    ),
    77: Row("ids that missing values turned into floats: the message says so"),
    78: Row("faults of a data frame name its own row and the user's key"),
    79: Row("tensors of another device, without data, or sparse are refused in one sentence"),
    80: Row("the extras that messages ask for are those of this project, whose name the package index can give"),
    81: Row(
        "files of other forms with as many columns are not read as TREC text: both readings are named, with a line for each",
        "what the columns alone cannot show is read as TREC",
    ),
    82: Row("ranks that contradict scores are warned of; text of one format under another's ending is named"),
    83: Row("tuples and ranks that may be items with scores, or not, are named with the line for each reading"),
    84: Row(
        "integers in the shape of the truth, and matrices that lack columns of the scores, are asked for what they mean"
    ),
    85: Row("one input as truth and predictions is refused; predictions of the test pairs alone are warned of"),
    86: Row("columns that say what happened are named in every container; a named column has no other role"),
    87: Row(
        "exclusions, candidates, items and values of users that match nothing are warned of, with an example of each side"
    ),
    88: Row("users of one class, whom AUC leaves out, are counted", later="the work on what a number claims"),
    89: Row("intervals have a width and stay in the metric's range", later="the work on what a number claims"),
    90: Row("trec_eval's program is followed, not its message"),
    91: Row("a table says which metric reads which option", later="the work on what a number claims"),
    92: Row("a shard replaces its own state alone: no other file, no link, no input"),
    93: Row(
        "what is written by path replaces the old file when whole, which else stays: on a full disk, after any error",
        "a small disk where the test may mount one, else a limit of the size of files",
    ),
    94: Row("a child forked while another thread is in a call has what it needs, or an error at once: it never hangs"),
    95: Row(
        "containers that another thread changes are read or refused; text of Arrow that is not UTF-8, and objects that "
        "lie about what they are, are refused",
        "a change comes between two lines of Python, at some of them by day; a class whose own `__getattr__` raises is not caught",
    ),
    96: Row(
        "reports whose values, counts or users' numbers contradict their sums are refused",
        "of a geometric mean, users are counted and not added up; beyond nine digits, sums are not compared",
    ),
    97: Row("values of other libraries, and paths without a file, are refused with a line that works when pasted"),
}
WITHDRAWN = {33, 39, 40}  # rows that there were


@dataclass
class Tests:
    """The names of a row's tests; of a parametrised one, how many there are."""

    python: Counter[str] = field(default_factory=Counter)
    cpp: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return self.python.total() + len(self.cpp)

    def __str__(self) -> str:
        names = [name if count == 1 else f"{name} ({count})" for name, count in self.python.items()]
        return ", ".join([*names, *(f'"{name}"' for name in self.cpp)])


def test_names() -> list[str]:
    """Return the names of the Python tests, one for each set of parameters."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "tests"]
    collected = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout  # noqa: S603 - our own
    return re.findall(r"::(test_\w+)", collected)


def tests_of_rows(names: Iterable[str]) -> dict[int, Tests]:
    """Return the tests of each row: those of these names, and the C++ tests."""
    tests = {row: Tests() for row in ROWS}
    for name in names:
        for number in re.findall(r"_f(\d\d)(?=_)", name):
            tests[int(number)].python[name] += 1
    for path in sorted((ROOT / "cpp" / "tests").glob("*.cpp")):
        for number, name in re.findall(r'TEST_CASE\(\s*"F(\d+): (.+?)"\)', path.read_text(encoding="utf-8")):
            tests[int(number)].cpp.append(name)
    return tests


PYTHON_TEST = re.compile(r"^ *def (test_\w+)", re.MULTILINE)
CPP_TEST = re.compile(r'^ *TEST_CASE\(\s*"(F\d.*?)"\)', re.MULTILINE)


def wrong_names(path: Path) -> Iterator[str]:
    """Yield names of tests with a number that no row has, or with no promise after the number."""
    text = path.read_text(encoding="utf-8")
    for match in (PYTHON_TEST if path.suffix == ".py" else CPP_TEST).finditer(text):
        line = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[1]}"
        numbers = re.findall(r"(?:_f|^F)(\d+)(?![^\W_])", match[1])
        if any(int(number) not in ROWS for number in numbers):
            yield f"{line} is of a row that there is not"
        elif numbers and not re.fullmatch(r"test(_f\d\d)+_[a-z]\w+|F\d+: .+", match[1]):
            yield f"{line} does not say a promise after the number of its row"


def violations() -> Iterator[str]:
    """Yield what is wrong with the names of tests and with the table."""
    python, cpp = sorted((ROOT / "tests").rglob("test_*.py")), sorted((ROOT / "cpp" / "tests").glob("*.cpp"))
    wrong = [name for path in (*python, *cpp) for name in wrong_names(path)]
    if wrong:
        yield from wrong
        return
    for number in sorted(ROWS.keys() ^ (set(range(1, max(ROWS) + 1)) - WITHDRAWN)):
        yield f"tools/faults.py: F{number} is a row and withdrawn, or neither"
    names = [name for path in python for name in PYTHON_TEST.findall(path.read_text(encoding="utf-8"))]
    for number, tests in tests_of_rows(names).items():
        if bool(tests) == bool(ROWS[number].later):
            yield f"tools/faults.py: F{number} has tests or says what it waits for, but not both"


def table() -> str:
    """Return the table, a few lines a row."""
    lines = []
    for number, tests in tests_of_rows(test_names()).items():
        row = ROWS[number]
        lines.append(f"F{number:<3} {row.promise}")
        if row.later:
            lines.append(f"     comes with {row.later}")
        if tests:
            lines += _wrap(f"{len(tests)} test{'s' if len(tests) > 1 else ''}: {tests}")
        if row.part:
            lines += _wrap(f"in part: {row.part}")
    return "\n".join(lines)


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 118, initial_indent=" " * 5, subsequent_indent=" " * 7, break_long_words=False)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit("\n".join(violations()) or None)
    sys.stdout.write(table() + "\n")
