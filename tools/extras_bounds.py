"""Resolve every extra at its lower bounds, install what was found beside a wheel of exactk, and use it.

``make wheel`` has built that wheel for the Python that runs this, the oldest that is supported. What is too large is resolved alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).parent / "uv"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
RESOLVED_ALONE = {"spark", "torch", "sentence-transformers"}  # 300 MB without wheels, and 2 GB of CUDA

BEGIN = """
import exactk
truth, lists = {"a": ["x"], "b": ["y"], "c": ["z"]}, {"a": ["x", "y"], "b": ["x"], "c": ["y", "z"]}
report = exactk.evaluate(truth, lists, ["ndcg@2", "P@1"], per_user=True)
"""
COMPARISON = 'comparison = exactk.compare(truth, {"one": lists, "other": {"a": ["x"], "b": ["x", "y"], "c": ["z"]}}, "ndcg@2", per_user=True)\n'
USES = {
    "pandas": """
import pandas as pd
frame = pd.DataFrame({"user": ["a", "b", "c"], "item": ["x", "y", "z"]})
assert exactk.evaluate(frame, lists, "P@1")["P@1"] == report["P@1"]
assert len(report.to_pandas("per_user")) == 3
""",
    "polars": """
import polars as pl
frame = pl.DataFrame({"user": ["a", "b", "c"], "item": ["x", "y", "z"]})
assert exactk.evaluate(frame, lists, "P@1")["P@1"] == report["P@1"]
assert report.to_polars("per_user").height == 3
""",
    "arrow": """
import pyarrow as pa, pyarrow.parquet as pq
pq.write_table(pa.table({"user": ["a", "b", "c"], "item": ["x", "y", "z"]}), "truth.parquet")
assert exactk.evaluate("truth.parquet", lists, "P@1")["P@1"] == report["P@1"]
assert report.to_arrow("per_user").num_rows == 3
""",
    "compare": COMPARISON + 'print(comparison.differences, report.interval("P@1"))\n',
    "progress": 'exactk.evaluate(truth, lists, "P@1", progress=True)\n',
    "report": COMPARISON + "assert len(comparison.to_html()) > 10_000\n",
    "plots": 'import matplotlib; matplotlib.use("agg")\n' + COMPARISON + "comparison.plot(); report.plot()\n",
    "dask": """
import dask.dataframe as dd, pandas as pd, exactk.dask
frame = dd.from_pandas(pd.DataFrame({"user": ["a", "b", "c"], "item": ["x", "y", "z"], "score": [1.0, 2.0, 3.0]}), npartitions=2)
print(exactk.dask.evaluate(frame[["user", "item"]], frame, "P@1"))
""",
    "ray": "import ray, ray.data, exactk.ray\n",
    "sklearn": """
from sklearn.dummy import DummyClassifier
from exactk.compat.sklearn import get_scorer, ndcg_score
print(ndcg_score([[1, 0]], [[0.5, 0.25]]), get_scorer("top_k_accuracy")(DummyClassifier().fit([[0], [1]], [0, 1]), [[0], [1]], [0, 1]))
""",
    "ir-measures": """
import ir_measures
from exactk.compat import ir_measures as provider
provider.register()
""",
    "all": COMPARISON + "comparison.to_html(); comparison.to_pandas(); comparison.to_polars(); comparison.to_arrow()\n",
}


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Run a command and return what it prints; end with that if it fails."""
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}exit code {done.returncode} of {' '.join(map(str, command))[:200]}")
    return done.stdout


def resolved(extra: str) -> list[str]:
    """Return the oldest versions that an extra allows, and what they need."""
    oldest = ("--resolution", "lowest-direct", "--only-binary", ":all:", "--no-binary", "pyspark")
    shown = ("--quiet", "--no-header", "--no-annotate")
    return run(
        UV, "pip", "compile", *shown, *oldest, "--python", sys.executable, "--extra", extra, "pyproject.toml"
    ).split()


def use(wheel: Path, extra: str, requirements: list[str]) -> None:
    """Use what an extra is for, in an environment of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(UV, "venv", "--quiet", "--python", sys.executable, folder / "venv")
        python = folder / "venv" / "bin" / "python"
        install = (UV, "pip", "install", "--quiet", "--no-deps", "--python", python)
        run(*install, *requirements, wheel)
        run(python, "-W", "ignore", "-c", BEGIN + USES[extra], folder=folder)


if __name__ == "__main__":
    (wheel,) = (ROOT / "build" / "wheel" / "dist").glob(
        f"*/repaired/*-cp{sys.version_info[0]}{sys.version_info[1]}-*.whl"
    )
    for extra in EXTRAS:
        requirements = resolved(extra)
        if extra not in RESOLVED_ALONE:
            use(wheel, extra, requirements)
        print(f"{extra}: {'resolved' if extra in RESOLVED_ALONE else 'used'}:", *requirements, flush=True)
