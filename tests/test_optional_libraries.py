"""Optional libraries: what works without each, and the one sentence of what does not."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.machinery import ModuleSpec
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import sparse

import exactk
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Iterator


ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "exactk"

# By library: what needs it, and code that does.
NEEDS: dict[str, list[tuple[str, str]]] = {
    "dask": [("exactk.dask", "__import__('exactk.dask').dask.evaluate(TRUTH, SCORES)")],
    "ir_measures": [
        ("exactk.compat.ir_measures", "__import__('exactk.compat.ir_measures').compat.ir_measures.first()"),
    ],
    "jinja2": [("to_html()", "report.to_html()")],
    "matplotlib": [("plot()", "report.plot()")],
    "pandas": [("to_pandas()", "report.to_pandas()"), ("to_pandas()", "best.to_pandas()")],
    "polars": [("to_polars()", "report.to_polars()"), ("to_polars()", "best.to_polars()")],
    "pyarrow": [
        ("to_arrow()", "report.to_arrow()"),
        ("Parquet", "exactk.read('a.parquet', 'truth')"),
        ("an Arrow IPC file", "exactk.read('a.arrow', 'truth')"),
    ],
    "pyspark": [("exactk.spark", "__import__('exactk.spark').spark.evaluate(TRUTH, SCORES)")],
    "ray": [("exactk.ray", "__import__('exactk.ray').ray.evaluate(TRUTH, SCORES)")],
    "rich": [("progress=True", "exactk.evaluate(TRUTH, SCORES, 'P@1', progress=True)")],
    "scipy": [("a sparse matrix", "exactk.read('matrix.npz', 'truth')")],
    "sklearn": [
        ("make_scorer()", "__import__('exactk.compat.sklearn').compat.sklearn.make_scorer(max)"),
        ("get_scorer()", "__import__('exactk.compat.sklearn').compat.sklearn.get_scorer('top_k_accuracy')"),
    ],
    "torch": [
        ("exactk.torch", "__import__('exactk.torch')"),
        ("exactk.compat.torchmetrics", "__import__('exactk.compat.torchmetrics').compat.torchmetrics.RetrievalMAP"),
    ],
    "torchmetrics": [("exactk.torch", "sys.modules.setdefault('torch', sys) and __import__('exactk.torch')")],
}

CODE = """
import sys
library, *needs = sys.argv[1:]
sys.modules[library] = None  # as if it were not installed
import numpy as np, exactk, warnings
warnings.simplefilter("error")
TRUTH, SCORES = [[1], [0]], np.array([[0.25, 0.5], [0.5, 0.75]])
report, best = exactk.evaluate(TRUTH, SCORES, "P@1"), exactk.topk(SCORES, 1)
assert report["P@1"] == 0.5, report
for need in needs:
    try:
        eval(need)
    except ImportError as error:
        print(error)
"""


@pytest.mark.parametrize("library", NEEDS)
def test_without_a_library_a_feature_says_what_to_install(library: str, tmp_path: Path) -> None:
    """Whatever needs none of it works."""
    sparse.save_npz(tmp_path / "matrix.npz", sparse.csr_array(np.eye(2)))
    for name in ("a.parquet", "a.arrow"):
        (tmp_path / name).write_text('{"user": 1, "items": [2]}\n', encoding="utf-8")
    needs = [code for _, code in NEEDS[library]]
    command = [sys.executable, "-c", CODE, library, *needs]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert (process.returncode, process.stderr) == (0, "")
    extra = {
        "ir_measures": "ir-measures",
        "jinja2": "report",
        "matplotlib": "plots",
        "pyarrow": "arrow",
        "pyspark": "spark",
        "rich": "progress",
        "scipy": "compare",
        "torchmetrics": "torch",
    }.get(library, library)
    assert process.stdout.splitlines() == [
        f"{purpose} needs {library}: pip install 'exactk[{extra}]'" for purpose, _ in NEEDS[library]
    ]


def test_all_libraries_are_tried() -> None:
    assert NEEDS.keys() == optional.EXTRAS.keys()


def test_a_broken_library_is_not_called_missing(tmp_path: Path) -> None:
    (tmp_path / "polars.py").write_text("import no_such_part\n", encoding="utf-8")
    code = "import exactk; exactk.evaluate([[1]], [[1]], 'P@1').to_polars()"
    process = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert process.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'no_such_part'"


def test_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    together = extras.pop("all")
    libraries = {
        {"scikit-learn": "sklearn"}.get(name := re.split(r"\[|>=", text)[0], name): extra
        for extra, texts in extras.items()
        for text in texts
        if not text.startswith("exactk[")
    }
    assert libraries == optional.EXTRAS
    small = [extra for extra in extras if extra not in {"spark", "dask", "ray", "torch", "ir-measures", "sklearn"}]
    assert together == [f"exactk[{','.join(small)}]"]


def imported_libraries(path: Path) -> Iterator[str]:
    """Yield what a file imports beside the standard library, NumPy and the package, but for type checkers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    skipped = set(chain.from_iterable(map(ast.walk, for_types)))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            root = name.partition(".")[0]
            if root not in sys.stdlib_module_names and root not in {"exactk", "numpy"}:
                yield root


def test_one_module_imports_optional_libraries() -> None:
    libraries = {path: set(imported_libraries(path)) for path in PACKAGE.rglob("*.py")}
    found = {path.relative_to(PACKAGE).as_posix(): names for path, names in libraries.items() if names}
    assert found == {"_runtime/optional.py": set(optional.EXTRAS)}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "scipy.sparse"])
def test_a_library_that_another_thread_imports_has_no_objects_yet(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in sys.modules, but without its classes."""
    spec = ModuleSpec(library, None)
    vars(spec)["_initializing"] = True  # as the import system marks it
    module = ModuleType(library)
    module.__spec__ = spec
    monkeypatch.setitem(sys.modules, library, module)
    report = exactk.evaluate({"ann": ["a"]}, {"ann": ["a", "b"]}, "recall@1", groups={"ann": "x"})
    assert report["recall@1"] == 1
