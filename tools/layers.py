"""Check the structure of the code: the layers that ARCHITECTURE.md lists, and what no file of a folder may contain.

``make lint`` runs this.
"""

from __future__ import annotations

import ast
import re
import sys
from fnmatch import fnmatchcase
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import exactk
from exactk._runtime import IMPORTED
from exactk._runtime.optional import EXTRAS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
OPTIONAL = "python/exactk/_runtime/optional.py"


class Rule(NamedTuple):
    """What no file of these may contain, but for some of them."""

    globs: tuple[str, ...]
    pattern: str
    message: str
    exceptions: tuple[str, ...] = ()


TEXT_OF_ERROR = r"str\(\w*(error|warning)\w*\)"
CORE = ("cpp/include/**/*.hpp", "cpp/src/**/*.?pp")
RULES = [
    Rule(CORE, r"pybind|Python\.h|PyObject", "the core has no Python"),
    Rule(("cpp/bindings/*.?pp",), r'import\("exactk', "the bindings import nothing of ours"),
    Rule(
        ("cpp/include/**/*.hpp",),
        r'^#include "(?!exactk/)|__builtin',
        "public headers hold requests and results: the standard library is enough",
    ),
    Rule(
        ("cpp/**/*.?pp", "CMakeLists.txt", "pyproject.toml"),
        r"forcecast|-march=native|-ffast-math|-Ofast",
        "no silent conversion, and no flag that changes digits",
    ),
    Rule(
        ("cpp/src/metrics/*.hpp",),
        r"rules\.\w+ *[=!]=|switch *\(",
        "a convention chooses divisors and gains from tables; no metric tests for one",
        ("cpp/src/metrics/denominators.hpp", "cpp/src/metrics/popularity.hpp"),
    ),
    Rule(
        (*CORE, "cpp/bindings/*.?pp", "python/exactk/**/*.py"),
        r"""metric\s*((==|!=)\s*["']|(not )?in\s*[{(]["'])|\binfo(\.|->)name\s*[!=]=|[!=]=\s*\w+::info\.name""",
        "what a metric needs is a capability in its entry of the registry; its name is a key of tables alone",
        ("python/exactk/_cli/*",),  # which has trec_eval's words for them
    ),
    Rule(
        ("python/exactk/**/*.py",),
        rf"\bin {TEXT_OF_ERROR}|{TEXT_OF_ERROR}\.\w|re\.\w+\([^()]*{TEXT_OF_ERROR}",
        "what an error is about is a part of its fault, not of its text",
        ("*/separated.py",),  # of the csv module, words are all there is
    ),
    Rule(("python/exactk/reference/*.py",), "_core", "the reference does not use the core"),
]

# The list of layers: folders, and files that others of their folder need.
LAYERS = [
    line.split()[0]
    for text in re.findall(
        r"^```layers\n(.*?)^```", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    for line in text.splitlines()
    if line.strip()
]


def sources() -> list[str]:
    """Return the files that have a layer."""
    globs = ("cpp/include/**/*.?pp", "cpp/src/**/*.?pp", "cpp/bindings/**/*.?pp", "python/exactk/**/*.py")
    return sorted(path.relative_to(ROOT).as_posix() for glob in globs for path in ROOT.glob(glob))


@cache
def text_of(path: str) -> str:
    """Return the text of a file."""
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def tree_of(path: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(text_of(path))


@cache
def nodes_of(path: str) -> list[ast.AST]:
    """Return all nodes of the syntax tree."""
    return list(ast.walk(tree_of(path)))


def layer(path: str) -> int:
    """Return the position of a file in the list: its own, or that of its folder; beyond the list if it has none."""
    entries = [name for name in (path, PurePosixPath(path).parent.as_posix()) if name in LAYERS]
    return LAYERS.index(entries[0]) if entries else len(LAYERS)


def includes(path: str) -> Iterator[tuple[int, str]]:
    """Yield the files that a C++ file includes: public headers, headers of the core, or ones beside it."""
    for number, line in enumerate(text_of(path).splitlines(), 1):
        if match := re.match(r'#include "(.+)"', line):
            folders = ("cpp/include", "cpp/src", PurePosixPath(path).parent.as_posix())
            yield number, next(name for folder in folders if (ROOT / (name := f"{folder}/{match[1]}")).exists())


def file_of(module: str) -> str:
    """Return the file of a module of ours; of one that is none, a name that no file has."""
    path = f"python/{module.replace('.', '/')}"
    return f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"


def imports(path: str) -> Iterator[tuple[int, str]]:
    """Yield the files of ours that a module imports, for the type checker alone too; the extension has none."""
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "exactk":
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                target = file_of(module if (ROOT / file_of(module)).is_file() else node.module)
                is_stub = not (ROOT / target).exists() and (ROOT / f"{target}i").exists()
                if "exactk._core" not in {module, node.module} and not is_stub:
                    yield node.lineno, target


@cache
def targets(path: str) -> list[tuple[int, str]]:
    """Return the files of ours that a file includes or imports, with the lines where it does."""
    return list(imports(path) if path.endswith(".py") else includes(path))


def wrong_layers(paths: list[str]) -> Iterator[str]:
    """Yield entries of the list that are wrong, and what includes a file of a later entry."""
    for entry in LAYERS:
        if not (ROOT / entry).exists() or LAYERS.count(entry) > 1:
            yield f"ARCHITECTURE.md: {entry} is listed, and there is no such file, or a second entry"
    folders = {PurePosixPath(path).parent.as_posix() for path in paths}
    for entry in sorted(folders ^ {entry for entry in LAYERS if not entry.endswith((".py", ".hpp"))}):
        yield f"ARCHITECTURE.md: {entry} is a folder of sources, or a layer, but not both"
    for path in paths:
        for number, target in targets(path):
            if layer(target) > layer(path):
                yield f"{path}:{number}: includes {target}, which is listed below it"


def circles(paths: list[str]) -> Iterator[str]:
    """Yield a circle of files; a header and its source are one, and a package's __init__ is loaded with any module."""
    graph: dict[str, set[str]] = {}
    for path in paths:
        unit = path.rpartition(".")[0]
        units = {target.rpartition(".")[0] for _, target in targets(path)}
        graph.setdefault(unit, set()).update(units - {unit, "python/exactk/__init__"})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"{error.args[1][0]}: in a circle: {' <- '.join(error.args[1])}"


def forbidden_texts() -> Iterator[str]:
    """Yield what `RULES` forbid."""
    for rule in RULES:
        for file in sorted(file for glob in rule.globs for file in ROOT.glob(glob)):
            path = file.relative_to(ROOT).as_posix()
            if not any(fnmatchcase(path, exception) for exception in rule.exceptions):
                text = text_of(path)
                for match in re.finditer(rule.pattern, text, re.MULTILINE):
                    yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}: {rule.message}"


def parts_of_names(path: str) -> Iterator[str]:
    """Yield where a module looks at the beginning or end of a metric's name."""
    for node in nodes_of(path):
        if not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"startswith", "endswith"}):
            continue
        method = node.func.attr  # type: ignore[attr-defined]
        for part in [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]:
            if isinstance(part, str) and len(part) > 2 and any(getattr(name, method)(part) for name in exactk.metrics):
                yield f"{path}:{node.lineno}: {part!r} is a part of a metric's name; ask its entry of the registry"


def shared_names(paths: Iterable[str]) -> Iterator[str]:
    """Yield functions and classes of one folder with one name; in `compat` public names are those of the libraries."""
    defined: dict[tuple[str, str], str] = {}
    for path in paths:
        folder = PurePosixPath(path).parent.as_posix()
        for node in tree_of(path).body:
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("__"):
                continue
            if folder == "python/exactk/compat" and not node.name.startswith("_"):
                continue
            first = defined.setdefault((folder, node.name), path)
            if first != path:
                yield f"{path}:{node.lineno}: {node.name} is defined in {first} too"


def shared_module_names(paths: Iterable[str]) -> Iterator[str]:
    """Yield modules with the name of another one, wherever that is."""
    first: dict[str, str] = {}
    for path in paths:
        name = PurePosixPath(path).stem
        if not name.startswith("__") and first.setdefault(name, path) != path:
            yield f"{path}: {first[name]} has this name too"


def libraries(path: str) -> Iterator[tuple[int, str]]:
    """Yield what a module imports beside the standard library, NumPy and the package, but for type checkers."""
    nodes: list[ast.AST] = [tree_of(path)]
    while nodes:
        node = nodes.pop()
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            nodes += ast.iter_child_nodes(node)
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"numpy"}:
            yield node.lineno, name  # type: ignore[attr-defined]


def wrong_imports(paths: Iterable[str]) -> Iterator[str]:
    """Yield imports of libraries, which one module has, and of modules of ours in a form that is not read above."""
    imported = set()
    for path in paths:
        for number, library in libraries(path):
            if path == OPTIONAL:
                imported.add(library)
            elif library != "exactk":
                yield f"{path}:{number}: {library} is imported in {OPTIONAL} alone"
        for node in nodes_of(path):
            is_plain = isinstance(node, ast.Import) and any(alias.name.startswith("exactk.") for alias in node.names)
            is_relative = isinstance(node, ast.ImportFrom) and node.level > 0
            if isinstance(node, ast.stmt) and (is_plain or is_relative):
                yield f"{path}:{node.lineno}: modules of ours are imported as from exactk.... import ..."
    for library in sorted((IMPORTED - {"exactk", "numpy"}) ^ set(EXTRAS)):
        yield f"python/exactk/_runtime/__init__.py:1: {library} is in IMPORTED, or has an extra, but not both"
    for library in sorted((imported - {"exactk"}) ^ set(EXTRAS)):
        yield f"{OPTIONAL}:1: {library} is imported, or has an extra, but not both"


def violations() -> Iterator[str]:
    """Yield what is wrong, with its file and line."""
    paths = sources()
    modules = [path for path in paths if path.endswith(".py")]
    yield from wrong_layers(paths)
    yield from circles([path for path in paths if not path.endswith(".py")])
    yield from circles(modules)
    yield from forbidden_texts()
    for path in modules:
        yield from parts_of_names(path)
    yield from shared_names(modules)
    yield from shared_module_names(modules)
    yield from wrong_imports(modules)


if __name__ == "__main__":
    sys.exit("\n".join(violations()) or None)
