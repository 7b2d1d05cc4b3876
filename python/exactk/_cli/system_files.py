"""Systems on the command line: names and files."""

from __future__ import annotations

import os
import shlex
import warnings
from collections import Counter
from contextlib import contextmanager
from glob import escape, glob, has_magic
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._cli.stdin import STDIN, path_text
from exactk._engine.differing_users import CONCATENATE
from exactk._runtime.errors import EvaluationWarning, input_error

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence


_PACKED = frozenset({".gz", ".bz2", ".xz", ".zst"})


class _Argument(NamedTuple):
    """A system argument."""

    name: str  # empty if not given
    text: str  # a path or a pattern


def find_systems(arguments: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each system by its name, from arguments such as ``runs/als-*.parquet`` or ``als=runs``."""
    parsed = [_parse(argument) for argument in arguments]
    files = [find_files(text) for _, text in parsed]
    if repeated := _first_repeated(path.absolute() for path in chain.from_iterable(files)):
        path = next(path for path in chain.from_iterable(files) if path.absolute() == repeated)
        raise input_error("predictions", "each file once", f"{path_text(path)!r} twice")
    given = [name for name, _ in parsed if name]
    if repeated := _first_repeated(given):
        raise input_error("predictions", "a distinct name for each system", f"{repeated!r} twice")
    derived = name_systems([Path(text) for name, text in parsed if not name], given)
    names = {path: name for name, path in derived.items()}
    return {name or names[Path(text)]: paths for (name, text), paths in zip(parsed, files, strict=True)}


def _parse(argument: str) -> _Argument:
    """Return the name, if any, and the path or pattern, choosing the reading that names existing files."""
    name, _, text = argument.partition("=")
    if not name or not text or "/" in name:
        return _Argument("", argument)
    if not _names_files(argument):
        return _Argument(_printable_name(name), text)
    if _names_files(text):
        hint = f"{shlex.quote(f'./{argument}')} selects the path, {shlex.quote(f'{name}=./{text}')} names the system"
        found = f"{argument!r} and {text!r}"
        raise input_error("predictions", "either a path or NAME=PATH, and both exist", found, hint=hint)
    return _Argument("", argument)


def _names_files(text: str) -> bool:
    return os.path.lexists(text) or bool(_matches(text))


def _matches(pattern: str) -> list[Path]:
    """Return the files that match the pattern, sorted by name; none for a plain path. Wildcards skip hidden files."""
    return sorted(map(Path, glob(pattern, recursive=True))) if has_magic(pattern) else []  # noqa: PTH207 - hides files


def find_files(text: str) -> list[Path]:
    """Return the files that a path or a pattern names; a missing path is refused when it is read."""
    if text == "-":
        return [STDIN]
    path, matches = Path(text), _matches(text)
    if os.path.lexists(text):
        if [match for match in matches if match != path]:
            hint = f"{shlex.quote(escape(text))} selects only the path"
            found = f"{text!r}, which is a path and a pattern"
            raise input_error("predictions", "either a path or a pattern", found, hint=hint)
        return _files_of_directory(path) if path.is_dir() else [path]
    if not has_magic(text):
        return [path]
    if not matches:
        raise input_error("predictions", "a pattern that matches files", f"{text!r}, which matches none")
    _check_no_directory(matches)
    return matches


def _files_of_directory(directory: Path) -> list[Path]:
    """Return the files by name, without hidden ones and the empty markers that Spark leaves, such as ``_SUCCESS``."""
    paths = [path for path in sorted(directory.iterdir()) if not path.name.startswith(".") and not _is_marker(path)]
    if not paths:
        raise input_error("predictions", "a directory with files", f"{str(directory)!r}, which has none")
    _check_no_directory(paths)
    return paths


def _is_marker(path: Path) -> bool:
    return path.name.startswith("_") and path.is_file() and path.stat().st_size == 0


def _check_no_directory(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir():
            hint = f"a quoted pattern such as {shlex.quote(escape(str(path)) + '/*')} selects its files"
            raise input_error("predictions", "files", f"the directory {str(path)!r}", hint=hint)


def _first_repeated(values: Iterable[Any]) -> Any:  # noqa: ANN401 - one of the values
    return next((value for value, count in Counter(values).items() if count > 1), None)


def name_systems(paths: Sequence[Path], reserved: Collection[str] = ()) -> dict[str, Path]:
    """Return the paths by their shortest unique names: the stem, or as much of the path as needed."""
    candidate_names = {path: list(dict.fromkeys(_candidate_names(path))) for path in paths}
    name_counts = Counter([*reserved, *(name for names in candidate_names.values() for name in names)])
    return {
        next((name for name in names if name_counts[name] == 1), str(path)): path
        for path, names in candidate_names.items()
    }


def _candidate_names(path: Path) -> Iterator[str]:
    """Yield the possible names of a file's system, the shortest first."""
    parts = Path(os.path.abspath(path)).parts  # noqa: PTH100 - resolves "." and ".."
    for last in (_stem(parts[-1]), parts[-1]):
        for depth in range(len(parts) - 1):
            name = "/".join([*parts[len(parts) - 1 - depth : -1], last])
            yield _printable_name(name)


def _printable_name(name: str) -> str:
    """Return a file name as text, with invalid bytes escaped."""
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _stem(name: str) -> str:
    path = Path(name)
    name = path.stem if path.suffix.lower() in _PACKED else name
    return name.rpartition(".")[0] or name


@contextmanager
def advising_on_shards(systems: Mapping[str, Sequence[Path]]) -> Iterator[None]:
    """Add a hint to the warning about systems that look like shards of one."""
    pattern = _common_pattern(list(chain.from_iterable(systems.values())))
    advice = f"write {shlex.quote(pattern)}" if pattern else "write a quoted pattern, or NAME=PATTERN"
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_with_advice(message: Warning | str, category: type[Warning], *where: Any, **lines: Any) -> None:  # noqa: ANN401
            if isinstance(message, EvaluationWarning):
                parts = message.args
                message = EvaluationWarning(
                    *(part.replace(CONCATENATE, advice) if isinstance(part, str) else part for part in parts)
                )
            show(message, category, *where, **lines)

        warnings.showwarning = show_with_advice
        yield


def _common_pattern(paths: Sequence[Path]) -> str | None:
    """Return a pattern that matches exactly these files, if there is one."""
    components = list(zip(*(path.parts for path in paths), strict=False))
    pattern = str(Path(*(_pattern_of_names(names) for names in components)))
    return pattern if len(paths) > 1 and _matches(pattern) == sorted(paths) else None


def _pattern_of_names(names: Sequence[str]) -> str:
    if len(set(names)) == 1:
        return escape(names[0])
    prefix = _common_begin(names)
    suffix = _common_begin([name[len(prefix) :][::-1] for name in names])[::-1]
    return f"{escape(prefix)}*{escape(suffix)}"


def _common_begin(names: Sequence[str]) -> str:
    characters = zip(*names, strict=False)
    return "".join(same[0] for same in takewhile(lambda same: len(set(same)) == 1, characters))
