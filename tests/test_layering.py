"""Folders are the layers: each may include only those above it in the list of ARCHITECTURE.md."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

import exactk

ROOT = Path(__file__).parent.parent
CPP = ROOT / "cpp"
PACKAGE = ROOT / "python" / "exactk"
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def layers() -> list[str]:
    """Return the list: folders, and files that others of their folder need."""
    lists = re.findall(r"^```layers\n(.*?)^```", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    return [line.split()[0] for text in lists for line in text.splitlines() if line.strip()]


LAYERS = layers()


def layer(path: str) -> int:
    """Return the position of a file in the list: its own, or that of its folder."""
    return LAYERS.index(path) if path in LAYERS else LAYERS.index(PurePosixPath(path).parent.as_posix())


def sources() -> list[str]:
    files = [*(path for folder in ("include", "src", "bindings") for path in (CPP / folder).rglob("*.?pp"))]
    files += PACKAGE.rglob("*.py")
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


def cpp_target(source: str, include: str) -> str:
    """Return the file that an include names: a public header, a header of the core, or one beside the source."""
    beside = PurePosixPath(source).parent / include
    candidates = [f"cpp/include/{include}", f"cpp/src/{include}", beside.as_posix()]
    return next(path for path in candidates if (ROOT / path).exists())


def python_target(module: str) -> str | None:
    """Return the file of a module of ours; None for the extension."""
    path = f"python/{module.replace('.', '/')}"
    if module == "exactk._core":
        return None
    return f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"


def imported_modules(text: str) -> set[str]:
    """Return the modules of ours that a file imports, for the type checker alone too."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        assert not isinstance(node, ast.Import) or not any(name.name.startswith("exactk.") for name in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "exactk":
            for name in node.names:
                module = f"{node.module}.{name.name}"
                is_module = module == "exactk._core" or (ROOT / (python_target(module) or "")).is_file()
                modules.add(module if is_module else node.module)
    return modules


def targets(source: str) -> set[str]:
    """Return the files of ours that a file includes or imports."""
    text = (ROOT / source).read_text(encoding="utf-8")
    if source.startswith("cpp/"):
        return {cpp_target(source, include) for include in re.findall(r'^#include "(.+)"', text, re.MULTILINE)}
    return {target for module in imported_modules(text) if (target := python_target(module)) is not None}


@pytest.mark.parametrize("source", sources())
def test_a_file_includes_only_what_stands_above_it(source: str) -> None:
    for target in targets(source):
        assert layer(target) <= layer(source), f"{source} includes {target}"


@pytest.mark.parametrize("suffixes", [(".cpp", ".hpp"), (".py",)])
def test_no_files_include_each_other_in_a_circle(suffixes: tuple[str, ...]) -> None:
    """A header and its source are one. Importing a package's name loads its __init__, which is no circle."""
    graph: dict[str, set[str]] = {}
    for source in sources():
        if source.endswith(suffixes):
            unit = source.rpartition(".")[0]
            units = {target.rpartition(".")[0] for target in targets(source)}
            graph.setdefault(unit, set()).update(units - {unit, "python/exactk/__init__"})
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_every_folder_and_nothing_else_is_listed() -> None:
    folders = {PurePosixPath(source).parent.as_posix() for source in sources()}
    assert folders == {entry for entry in LAYERS if not entry.endswith((".py", ".hpp"))}
    assert all((ROOT / entry).exists() for entry in LAYERS)
    assert len(LAYERS) == len(set(LAYERS))


def test_the_core_knows_no_python_and_the_bindings_none_of_ours() -> None:
    for path in (*CPP.joinpath("include").rglob("*.hpp"), *CPP.joinpath("src").rglob("*.?pp")):
        assert not re.search(r"pybind|Python\.h|PyObject", path.read_text(encoding="utf-8")), path
    for path in CPP.joinpath("bindings").glob("*.?pp"):
        assert not re.search(r'import\("exactk', path.read_text(encoding="utf-8")), path


def test_public_headers_need_the_standard_library_alone() -> None:
    """They hold requests and results: no table, no prefetch."""
    for path in CPP.joinpath("include").rglob("*.hpp"):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r'^#include "([^/"]+)', text, re.MULTILINE)) <= {"exactk"}, path
        assert "__builtin" not in text, path


def test_f05_no_silent_conversion_and_no_flag_that_changes_digits() -> None:
    files = [*CPP.rglob("*.?pp"), ROOT / "CMakeLists.txt", ROOT / "pyproject.toml"]
    for path in files:
        assert not re.search(r"forcecast|-march=native|-ffast-math|-Ofast", path.read_text(encoding="utf-8")), path


def test_no_metric_asks_for_a_convention() -> None:
    """A convention chooses divisors and gains from tables; no metric may test for one."""
    for path in (CPP / "src" / "metrics").glob("*.hpp"):
        if path.name not in {"denominators.hpp", "popularity.hpp"}:
            assert not re.search(r"rules\.\w+ *[=!]=|switch *\(", path.read_text(encoding="utf-8")), path


def test_nothing_asks_for_a_metric_by_name() -> None:
    """What a metric needs is a capability in its entry of the registry; its names are keys of tables alone."""
    pattern = re.compile(
        r"""metric\s*((==|!=)\s*["']|(not )?in\s*[{(]["'])|\binfo(\.|->)name\s*[!=]=|[!=]=\s*\w+::info\.name"""
    )
    for path in sources():
        if not path.startswith("python/exactk/_cli/"):  # which has trec_eval's words for them
            assert not pattern.search((ROOT / path).read_text(encoding="utf-8")), path


def test_nothing_reads_or_edits_the_text_of_an_error() -> None:
    """What an error is about is a part of its fault."""
    text = r"str\(\w*(error|warning)\w*\)"
    pattern = re.compile(rf"\bin {text}|{text}\.\w|re\.\w+\([^()]*{text}")
    for path in PACKAGE.rglob("*.py"):
        if path.name != "separated.py":  # of the csv module, words are all there is
            assert not pattern.search(path.read_text(encoding="utf-8")), path


def test_nothing_asks_for_a_metric_by_the_beginning_of_its_name() -> None:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"startswith", "endswith"}):
                continue
            method = node.func.attr  # type: ignore[attr-defined]
            texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            for text in [text for text in texts if isinstance(text, str) and len(text) > 2]:
                assert not any(getattr(name, method)(text) for name in exactk.metrics), f"{path}: {text!r}"


def test_the_reference_does_not_know_the_core() -> None:
    for path in (PACKAGE / "reference").glob("*.py"):
        assert "_core" not in path.read_text(encoding="utf-8"), path


def test_no_two_functions_or_classes_of_one_folder_share_a_name() -> None:
    """Public modules of `exactk.compat` have the names of their libraries, and each has `differences`."""
    defined: dict[tuple[Path, str], str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if (
                path.parent.name == "compat"
                and not path.name.startswith("_")
                and not getattr(node, "name", "_").startswith("_")
            ):
                continue
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("__"):
                if path.parent.name == "compat" and not node.name.startswith("_"):
                    continue  # it has the name that a library gave it
                first = defined.setdefault((path.parent, node.name), path.name)
                assert first == path.name, f"{path.parent.name}: {first} and {path.name} define {node.name}"


CODE_OF_PYTHON = re.compile(r"#[^\n]*|(\"\"\"|''').*?\1|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
CODE_OF_CPP = re.compile(r"//[^\n]*|#include[^\n]*|\"(?:\\.|[^\"\\\n])*\"")


def test_no_name_is_a_word_that_the_glossary_forbids() -> None:
    """The words behind "never" in ARCHITECTURE.md: no identifier is one, in the tests and tools neither."""
    words = re.findall(r"`(\w+)`", re.search(r"^Never: (.*?)\n\n", ARCHITECTURE, re.MULTILINE | re.DOTALL)[1])  # type: ignore[index]
    forbidden = re.compile(rf"\b_*(?:{'|'.join(words)})_*\b|\b\w*_?settled?_?\w*\b")
    folders = ("cpp", "python", "tests", "tools", "examples", "benchmarks")
    for path in (
        path for folder in folders for suffix in ("py", "hpp", "cpp") for path in (ROOT / folder).rglob(f"*.{suffix}")
    ):
        pattern = CODE_OF_PYTHON if path.suffix == ".py" else CODE_OF_CPP
        code = pattern.sub(" ", path.read_text(encoding="utf-8"))
        assert not (match := forbidden.search(code)), f"{path.relative_to(ROOT)}: {match[0]}"
