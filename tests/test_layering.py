"""The layers: each may know only those before it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CPP = ROOT / "cpp"
PACKAGE = ROOT / "python" / "exactk"

# Of the core, by stem; a header and its source are one. Public headers come before what implements them.
CPP_LAYERS = [
    ["exactk/types", "exactk/conventions", "exactk/error", "exactk/isa"],
    [
        "exactk/lists",
        "exactk/metrics",
        "exactk/evaluate",
        "exactk/capacity",
        "exactk/scores",
        "exactk/embeddings",
        "exactk/topk",
        "exactk/trec",
        "exactk/keys",
    ],
    ["exactk/grouping", "read_once"],
    ["kernels/table"],
    ["kernels/"],
    ["dispatch"],
    [
        "checkpoint",
        "double_double",
        "logarithm",
        "geometric",
        "exact_sum",
        "batch",
        "hit_row",
        "metrics/denominators",
        "rank/key_order",
        "rank/half",
    ],
    ["discounts", "parallel", "ladder", "rank/index", "rank/ranked", "rank/radix_sort", "rank/score_row"],
    ["keys", "grouping"],
    ["rank/bisection", "rank/marks", "rank/score_order", "rank/similarities"],
    ["rank/embedding_row", "rank/found", "rank/lengths"],
    ["rank/products"],
    ["rank/shortlists", "rank/standings"],
    ["rank/given", "rank/score_ranking", "rank/screening", "rank/placing"],
    ["judge"],
    ["metrics/metric", "policy"],
    ["accumulator", "metrics/"],
    ["metrics/all"],
    ["plan"],
    ["blocks", "validate"],
    ["worker"],
    ["evaluate"],
]
# Implementations of public headers stand where what they need allows.
IMPLEMENTATIONS = {
    "conventions.cpp": 1,
    "error.cpp": 1,
    "capacity.cpp": 1,
    "trec.cpp": 1,
    "metrics.cpp": 18,
    "topk.cpp": 20,
    "evaluate.cpp": 22,
}

PYTHON_LAYERS = [
    ["_core", "_errors", "_render", "_optional", "_progress", "_threads", "_isa", "_versions"],
    ["_presets"],
    ["_conventions"],
    ["_metrics"],
    ["_inputs.checks"],
    ["_inputs.columns"],
    ["_inputs.names", "_inputs.roles"],
    ["_inputs.canonical", "_inputs.scores", "_inputs.candidates"],
    ["_inputs.keyed"],
    ["_inputs.arrays", "_inputs.sequences", "_inputs.sparse", "_inputs.ratings", "_inputs.mappings", "_inputs.frames"],
    ["_inputs.containers", "_inputs.batches"],
    ["_inputs.embeddings"],
    ["_inputs.alignment", "_inputs.of_users"],
    ["_inputs"],
    ["_files"],
    ["_blas"],
    ["_state", "_topk"],
    ["_finish"],
    ["_report"],
    ["_choose"],
    ["_call", "_warnings"],
    ["_stream"],
    ["_run"],
    ["_evaluate", "reference"],
    ["_functions"],
    ["_demo"],
    ["_cli"],
]


def cpp_layer(include: str) -> int:
    stem = include.rsplit(".", 1)[0]
    exact = [i for i, names in enumerate(CPP_LAYERS) if stem in names]
    folder = [i for i, names in enumerate(CPP_LAYERS) if stem.rpartition("/")[0] + "/" in names]
    return (exact or folder)[0]


def cpp_files() -> list[Path]:
    return sorted(path for folder in ("include", "src") for path in (CPP / folder).rglob("*.?pp"))


@pytest.mark.parametrize("path", cpp_files(), ids=lambda path: path.name)
def test_cpp_layers(path: Path) -> None:
    folder = CPP / "include" if "include" in path.parts else CPP / "src"
    name = path.relative_to(folder).as_posix()
    own = IMPLEMENTATIONS.get(name) if name in IMPLEMENTATIONS else cpp_layer(name)
    assert own is not None
    for include in re.findall(r'^#include "(.+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
        assert cpp_layer(include) <= own, f"{name} includes {include}"


def test_the_core_knows_no_python() -> None:
    for path in cpp_files():
        assert not re.search(r"pybind|Python\.h|PyObject", path.read_text(encoding="utf-8")), path


def test_f05_no_silent_conversion_and_no_flag_that_changes_digits() -> None:
    files = [*CPP.rglob("*.?pp"), ROOT / "CMakeLists.txt", ROOT / "pyproject.toml"]
    for path in files:
        assert not re.search(r"forcecast|-march=native|-ffast-math|-Ofast", path.read_text(encoding="utf-8")), path


def test_no_metric_asks_for_a_convention() -> None:
    """A convention chooses divisors and gains from tables; no metric may test for one."""
    for path in (CPP / "src" / "metrics").glob("*.hpp"):
        if path.name != "denominators.hpp":
            assert not re.search(r"rules\.\w+ *[=!]=|switch *\(", path.read_text(encoding="utf-8")), path


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def python_layer(module: str) -> int | None:
    while module:
        for i, names in enumerate(PYTHON_LAYERS):
            if module in names:
                return i
        module = module.rpartition(".")[0]
    return None


def imported(path: Path) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "exactk":
            package = node.module.partition(".")[2]
            modules |= {package} if package else {alias.name for alias in node.names}
    return modules


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=module_name)
def test_python_layers(path: Path) -> None:
    name = module_name(path)
    own = python_layer(name)
    if name in {"", "__init__", "__main__"}:
        return
    assert own is not None, f"{name} has no layer"
    for module in imported(path):
        layer = python_layer(module)
        same_package = module.partition(".")[0] == name.partition(".")[0]
        allowed = layer is None or layer <= own or same_package
        assert allowed, f"{name} imports {module}"


def test_the_reference_does_not_know_the_core() -> None:
    for path in (PACKAGE / "reference").glob("*.py"):
        assert "_core" not in path.read_text(encoding="utf-8"), path
