"""Optional libraries: what works without each, and the one sentence of what does not."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse

import exactk
from exactk._runtime import optional

# By library: what needs it, and code that does.
NEEDS: dict[str, list[tuple[str, str]]] = {
    "dask": [("exactk.dask", "__import__('exactk.dask').dask.evaluate(TRUTH, SCORES)")],
    "ir_measures": [
        ("exactk.compat.ir_measures", "__import__('exactk.compat.ir_measures').compat.ir_measures.first()")
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
    "scipy": [("a sparse matrix", "exactk.read('matrix.npz', 'truth')"), ("to_html()", "report.to_html()")],
    "sentence_transformers": [("exactk.sentence_transformers", "__import__('exactk.sentence_transformers')")],
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
import json, os, sys, warnings
needs = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(needs))  # as if none were installed
import numpy as np, exactk
warnings.simplefilter("error")
TRUTH, SCORES = [[1], [0]], np.array([[0.25, 0.5], [0.5, 0.75]])
report, best = exactk.evaluate(TRUTH, SCORES, "P@1"), exactk.topk(SCORES, 1)
assert report["P@1"] == 0.5, report
for library, codes in needs.items():
    if os.fork():
        assert os.wait()[1] == 0, library
        continue
    for other in needs.keys() - {library}:
        del sys.modules[other]
    for code in codes:
        try:
            eval(code)
        except ImportError as error:
            print(error, flush=True)
    os._exit(0)
"""


def test_f80_without_a_library_a_feature_says_which_extra_to_install(tmp_path: Path) -> None:
    """What needs no library works without any; each library alone is missing in a process of its own."""
    sparse.save_npz(tmp_path / "matrix.npz", sparse.csr_array(np.eye(2)))
    for name in ("a.parquet", "a.arrow"):
        (tmp_path / name).write_text('{"user": 1, "items": [2]}\n', encoding="utf-8")
    needs = json.dumps({library: [code for _, code in purposes] for library, purposes in NEEDS.items()})
    command = [sys.executable, "-c", CODE, needs]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.splitlines() == [
        f"{purpose} needs {library}: pip install 'exactk[{'report' if purpose == 'to_html()' else optional.EXTRAS[library]}]'"
        for library, purposes in NEEDS.items()
        for purpose, _ in purposes
    ]


def test_all_libraries_are_tried() -> None:
    assert NEEDS.keys() == optional.EXTRAS.keys()


def test_a_broken_library_is_not_called_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "polars.py").write_text("import no_such_part\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'no_such_part'$"):
        exactk.evaluate([[1]], [[1]], "P@1").to_polars()


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
