"""Print the figures of the code: its size by room, what a call costs in Python, what an import costs, the tests' time.

``python tools/house.py`` measures the tree in which it stands, ``--tree PATH`` another checkout, and ``--durations FILE``
adds the time by test file from what ``pytest --durations=0`` printed. The budget is the most that a figure may be.

Static figures are counted with ``ast``, ``tokenize`` and Pygments:

- A room is a folder of the package with those in it; the package itself is the room of its loose modules.
- A line of code has a token that is neither a comment, a docstring nor white space.
- Lines by metric are those of the package without replacements over the number of metrics, of evaluations and of
  agreement, and those of ``cpp/src/metrics`` over its headers, each of which holds a family of metrics or what such share.

The others need exactk installed from the tree in the Python that runs this; without it they are left out. Each is
measured in a process of its own:

- Calls are those of the package's functions in the second of two equal calls of ``evaluate`` with two metrics, as
  ``sys.setprofile`` reports them. Comprehensions and generator expressions count for the depth alone; each step of
  another generator is a call. Budgets are of CPython 3.11: later versions inline comprehensions.
- A bucket's calls are all of Python, the libraries' included: what one bucket more adds to a plan unpickled, rows
  joined, a state computed by the worker and then read and added by the driver.
- The time of an import is that over the time of ``import numpy`` just before, as the median of processes that take
  turns. pandas is imported before the clock starts.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import pickle
import pydoc
import re
import statistics
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pygments.lexers import CppLexer
from pygments.token import Comment
from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import FrameType, ModuleType

BUDGET = {
    "Python lines of the package": "51,000",
    "the same without replacements": "44,500",
    "lines of import statements": "3,000",
    "Python files of the package": "190",
    "module names in use twice": "0",
    "C++ lines": "27,000",
    "lines of tests": "50,000",
    "calls / modules / depth: a pandas frame": "260 / 32 / 12",
    "calls / modules / depth: 1,000 lists": "80 / 18 / 8",
    "calls / modules / depth: 5,000 lists": "150 / 26 / 10",
    "calls / modules / depth: a Parquet path": "450 / 42 / 14",
    "Python calls of an engine's bucket": "500",
    "public names of dir(exactk)": "52",
    "import exactk over import numpy; modules": "0.15; 15",
    "with an evaluate of lists": "0.50; 40",
    "with an evaluate of a frame": "0.60; 60",
}
METRICS = ["ndcg@10", "recall@10"]
TURNS = 9
COMMENTS = {Comment.Multiline, Comment.Single}  # others are directives
REPLACEMENTS = "python/exactk/compat"
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}
WITHOUT_CODE = {"COMMENT", "DEDENT", "ENDMARKER", "INDENT", "NEWLINE", "NL"}


class Size(NamedTuple):
    """The size of one file or several."""

    files: int = 0
    lines: int = 0
    code: int = 0
    imports: int = 0


def total(sizes: Iterable[Size]) -> Size:
    """Return the sum of sizes."""
    return Size(*(sum(column) for column in zip(Size(), *sizes, strict=True)))


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that docstrings take."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and type(first.value.value) is str:
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def size_of_python(path: Path) -> Size:
    """Return the size of a Python file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if tokenize.tok_name[token.type] not in WITHOUT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    imports = sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    )
    return Size(1, len(text.splitlines()), len(code - docstring_lines(tree)), imports)


def size_of_cpp(path: Path) -> Size:
    """Return the size of a C++ file."""
    text = path.read_text(encoding="utf-8")
    code: set[int] = set()
    line = 1
    for kind, token in CppLexer(stripnl=False).get_tokens(text):
        if token.strip() and kind not in COMMENTS:
            code.update(range(line, line + token.strip().count("\n") + 1))
        line += token.count("\n")
    return Size(1, len(text.splitlines()), len(code))


def files(folder: Path, *suffixes: str) -> list[Path]:
    """Return the files below a folder that have one of the suffixes."""
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes)


def sizes_of_rooms(tree: Path) -> tuple[dict[str, Size], dict[str, Size]]:
    """Return the size of each room of the package, and of each folder beside it that has a budget."""
    folder = tree / "python" / "exactk"
    rooms: defaultdict[str, list[Size]] = defaultdict(list)
    for path in files(folder, ".py", ".pyi"):
        folders = path.relative_to(folder).parts[:-1]
        rooms["/".join(("python/exactk", *folders[:1]))].append(size_of_python(path))
    beside = {
        name: total(map(size_of_cpp, files(tree / name, ".cpp", ".hpp")))
        for name in ("cpp/src", "cpp/include", "cpp/bindings", "cpp/tests")
    }
    beside["tests"] = total(map(size_of_python, files(tree / "tests", ".py")))
    return {room: total(sizes) for room, sizes in rooms.items()}, beside


def static_figures(tree: Path, rooms: Mapping[str, Size], beside: Mapping[str, Size]) -> dict[str, str]:
    """Return what the files show."""
    whole, replacements = total(rooms.values()), rooms.get(REPLACEMENTS, Size())
    modules = files(tree / "python" / "exactk", ".py")
    names = Counter(path.stem for path in modules if path.stem not in {"__init__", "__main__"})
    cpp = total(beside[name] for name in ("cpp/src", "cpp/include", "cpp/bindings"))
    families = total(map(size_of_cpp, files(tree / "cpp" / "src" / "metrics", ".hpp", ".cpp"))).lines
    return {
        "Python lines of the package": f"{whole.lines:,}",
        "the same without replacements": f"{whole.lines - replacements.lines:,}",
        "lines of code of the package": f"{whole.code:,}",
        "lines of import statements": f"{whole.imports:,}",
        "Python files of the package": f"{len(modules)}",
        "module names in use twice": f"{sum(count > 1 for count in names.values())}",
        "C++ lines": f"{cpp.lines:,}",
        "C++ lines of a family of metrics": f"{families / len(files(tree / 'cpp' / 'src' / 'metrics', '.hpp')):.0f}",
        "lines of tests": f"{beside['tests'].lines + beside['cpp/tests'].lines:,}",
    }


def package() -> ModuleType:
    """Return exactk, which those who only count lines may lack."""
    return import_module("exactk")


class Profile:
    """What `sys.setprofile` reports of calls."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.calls_of_all = self.calls = self.depth = self.deepest = 0
        self.modules: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call; follow its depth until it returns."""
        if event not in {"call", "return"}:
            return
        self.calls_of_all += event == "call"
        code = frame.f_code
        if not code.co_filename.startswith(self.package):
            return
        if event == "return":
            self.depth -= 1
            return
        self.calls += code.co_name not in COMPREHENSIONS
        self.modules.add(code.co_filename)
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)


def profile(function: Callable[[], object]) -> Profile:
    """Return the profile of the second of two calls."""
    function()
    seen = Profile(str(Path(package().__file__ or "").parent))
    sys.setprofile(seen)
    function()
    sys.setprofile(None)
    return seen


def draw_lists(users: int) -> tuple[Any, Any]:
    """Return the relevant items of each user and a list of recommended ones."""
    import numpy as np

    random = np.random.default_rng(0)
    drawn = [random.permutation(1000)[:12].tolist() for _ in range(users)]
    return [one[:5] for one in drawn], [one[2:] for one in drawn]


def draw_frames(users: int) -> tuple[Any, Any]:
    """Return `draw_lists` as frames of pandas."""
    import pandas as pd

    truth, predictions = (
        pd.DataFrame([(user, item) for user, items in enumerate(lists) for item in items], columns=["user", "item"])
        for lists in draw_lists(users)
    )
    return truth, predictions.assign(score=[float(-rank) for rank in range(len(predictions))])


def calls_of_evaluate(truth: Any, predictions: Any) -> str:
    """Return the calls, modules and depth of an evaluation."""
    evaluate = package().evaluate
    seen = profile(lambda: evaluate(truth, predictions, METRICS))
    return f"{seen.calls} / {len(seen.modules)} / {seen.deepest}"


def calls_of_paths() -> str:
    """Return the calls, modules and depth of an evaluation of two Parquet files."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/truth.parquet", f"{folder}/predictions.parquet"]
        for frame, path in zip(draw_frames(1000), paths, strict=True):
            frame.to_parquet(path)
        return calls_of_evaluate(*paths)


def calls_of_bucket() -> str:
    """Return the calls of Python that one bucket more adds to an evaluation by an engine."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from exactk._sharded.buckets import Bucket
    from exactk._sharded.parts import parts_of_table, tables_of_parts
    from exactk._sharded.reduction import report_of_buckets
    from exactk._sharded.shard_plan import Inputs, plan_shards
    from exactk._sharded.worker import result_of_tables

    tables = [pa.Table.from_pandas(frame, preserve_index=False) for frame in draw_frames(1000)]
    columns: Any = dict.fromkeys(("user", "item", "score", "rank", "grade"))
    schemas = Inputs(tables[0].schema, {"": tables[1].schema})
    plan = plan_shards(schemas, METRICS, "standard", columns, None, 1)
    pickled = pickle.dumps(plan)

    def evaluate(buckets: int) -> object:
        parts = pa.concat_tables([parts_of_table(plan, side, table, buckets) for side, table in enumerate(tables)])
        results = []
        for bucket in range(buckets):
            worker_plan = pickle.loads(pickled)  # noqa: S301 - our own
            rows = tables_of_parts(worker_plan, parts.filter(pc.equal(parts["bucket"], bucket)))
            result = result_of_tables(worker_plan, *rows)
            assert result is not None
            results.append(result.to_batch())
        return report_of_buckets([Bucket(**row) for batch in results for row in batch.to_pylist()])

    few, many = (profile(partial(evaluate, buckets)).calls_of_all for buckets in (4, 12))
    return f"{(many - few) / 8:,.0f}"


PROBES: dict[str, Callable[[], str]] = {
    "calls / modules / depth: a pandas frame": lambda: calls_of_evaluate(*draw_frames(1000)),
    "calls / modules / depth: 1,000 lists": lambda: calls_of_evaluate(*draw_lists(1000)),
    "calls / modules / depth: 5,000 lists": lambda: calls_of_evaluate(*draw_lists(5000)),
    "calls / modules / depth: a Parquet path": calls_of_paths,
    "Python calls of an engine's bucket": calls_of_bucket,
    "lines of help(exactk)": lambda: f"{pydoc.render_doc(package()).count(chr(10)) + 1:,}",
    "metrics": lambda: f"{len({*package().metrics, *package().agreement_metrics})}",
    "public names of dir(exactk)": lambda: f"{sum(not name.startswith('_') for name in dir(package()))}",
}

# An editable installation looks whether the core must be built when it is looked for: before the clock starts.
IMPORT = """
import sys, time
start = time.perf_counter()
import numpy
numpy_seconds = time.perf_counter() - start
{inputs}
for finder in sys.meta_path:
    finder.find_spec("exactk._core", None)
start = time.perf_counter()
import exactk
{call}
seconds = time.perf_counter() - start
print(seconds / numpy_seconds, sum(name.split(".")[0] == "exactk" for name in sys.modules))
"""
EVALUATE = f"exactk.evaluate(truth, predictions, {METRICS})"
LISTS = "truth, predictions = [[1, 2]] * 1000, [[2, 3, 4]] * 1000"
FRAMES = """
import pandas
truth = pandas.DataFrame({"user": range(1000), "item": 1})
predictions = truth.assign(score=1.0)
"""
IMPORTS = {
    "import exactk over import numpy; modules": IMPORT.format(inputs="", call=""),
    "with an evaluate of lists": IMPORT.format(inputs=LISTS, call=EVALUATE),
    "with an evaluate of a frame": IMPORT.format(inputs=FRAMES, call=EVALUATE),
}


def output_of(*arguments: str) -> str:
    """Return what a fresh Python prints; nothing where it fails, whose last line of errors is shown."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-W", "ignore", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603 - our own
    if done.returncode:
        sys.stderr.write(done.stderr.strip().rpartition("\n")[2] + "\n")
        return ""
    return done.stdout.strip()


def measured_figures(tree: Path, lines: int) -> dict[str, str]:
    """Return what calls and imports show; nothing where exactk is not installed from the tree."""
    origin = output_of("-c", "import importlib.util; print(importlib.util.find_spec('exactk').origin)")
    if not Path(origin).resolve().is_relative_to(tree / "python"):
        return {}
    figures = {name: output_of(__file__, "--probe", name) for name in PROBES}
    turns = [[output_of("-c", code).split() for code in IMPORTS.values()] for _ in range(TURNS)]
    for name, results in zip(IMPORTS, zip(*turns, strict=True), strict=True):
        if all(results):
            figures[name] = f"{statistics.median(float(ratio) for ratio, _ in results):.2f}; {results[0][1]}"
    if figures["metrics"]:
        figures["package lines of a metric"] = f"{lines / int(figures['metrics']):,.0f}"
    return {name: figure or "left out" for name, figure in figures.items()}


def print_table(console: Console, *columns: str, rows: Iterable[tuple[object, ...]]) -> None:
    """Print a table in Markdown, with numbers to the right."""
    table = Table(box=box.MARKDOWN)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row))
    console.print(table)


def times_of_files(tree: Path, durations: str) -> Iterable[tuple[object, ...]]:
    """Yield the rows of the table of the test files that take 1 % of the time or more, and of the others together."""
    seconds: defaultdict[str, float] = defaultdict(float)
    tests: defaultdict[str, set[str]] = defaultdict(set)
    for time, test in re.findall(r"^([\d.]+)s (?:call|setup|teardown) +(.+)$", durations, re.MULTILINE):
        file = test.partition("::")[0]
        seconds[file] += float(time)
        tests[file].add(test)
    whole = sum(seconds.values())
    others = {file for file in seconds if seconds[file] < whole / 100}
    for file in sorted(seconds.keys() - others, key=lambda file: -seconds[file]):
        path = tree / file  # which may be gone since
        lines = len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else ""
        yield file, lines, len(tests[file]), f"{seconds[file]:.1f}", f"{seconds[file] / whole:.1%}"
    rest = sum(seconds[file] for file in others)
    yield f"{len(others)} others", "", sum(len(tests[file]) for file in others), f"{rest:.1f}", f"{rest / whole:.1%}"


def main() -> None:
    """Print the tables, or what one probe measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parent.parent, help="the checkout to measure")
    parser.add_argument("--durations", type=Path, help="what `pytest --durations=0` printed")
    parser.add_argument("--probe", choices=PROBES, help="measure one figure in this process")
    arguments = parser.parse_args()
    if arguments.probe:
        sys.stdout.write(PROBES[arguments.probe]())
        return
    tree = arguments.tree.resolve()
    console = Console(width=120)
    rooms, beside = sizes_of_rooms(tree)
    rest = total(size for room, size in rooms.items() if room != REPLACEMENTS)
    sums = {"the package": total(rooms.values()), "the same without replacements": rest}
    figures = static_figures(tree, rooms, beside) | measured_figures(tree, rest.lines)
    rows = [(name, figure, BUDGET.get(name, "")) for name, figure in figures.items()]
    print_table(console, "figure", "now", "budget", rows=rows)
    if not figures.keys() >= BUDGET.keys():
        console.print("Calls and imports are left out: this Python has no exactk installed from that tree.")
    sizes = [(name, *size) for name, size in (rooms | sums | beside).items()]
    print_table(console, "room", "files", "lines", "code", "imports", rows=sizes)
    if arguments.durations:
        print_table(
            console,
            "tests",
            "lines",
            "timed",
            "seconds",
            "share",
            rows=times_of_files(tree, arguments.durations.read_text(encoding="utf-8")),
        )


if __name__ == "__main__":
    main()
