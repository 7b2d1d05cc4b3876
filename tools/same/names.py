"""The names of the package: old and new ones, so that one program can ask both sides."""

from __future__ import annotations

import os
import sys
import tomllib
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

EXPECTED = Path(__file__).with_name("expected.toml")


def find(name: str) -> Any:
    """Return what a dotted name stands for: a module, or an attribute of one or of a class."""
    owner, _, last = name.rpartition(".")
    if not owner:
        return import_module(name)
    found = find(owner)
    try:
        return getattr(found, last)
    except AttributeError as error:
        try:
            return import_module(name)
        except ModuleNotFoundError:
            raise LookupError(f"no name {name}") from error


def of_own_tests(name: str) -> Any:
    """Return a module of the tests beside the package that runs, for it reaches private names."""
    return _of_tests("SAME_TESTS", name)


def of_base_tests(name: str) -> Any:
    """Return a module of the tests of the base, for it draws nothing that this tree alone knows."""
    return _of_tests("SAME_BASE_TESTS", name)


@cache
def _of_tests(folder: str, name: str) -> Any:
    spec = spec_from_file_location(f"{folder.lower()}_{name}", Path(os.environ[folder], f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def install_renames() -> None:
    """Give what the package calls by one of two names the other one too."""
    renames = tomllib.loads(EXPECTED.read_text(encoding="utf-8"))["renames"]
    for old, new in renames.items():
        for absent, present in ((old, new), (new, old)):
            owner, _, last = absent.rpartition(".")
            if _is_found(present) and _is_found(owner) and not _is_found(absent):
                setattr(find(owner), last, find(present))
                if isinstance(find(present), ModuleType):
                    sys.modules[absent] = find(present)


def _is_found(name: str) -> bool:
    try:
        find(name)
    except (LookupError, ModuleNotFoundError):
        return False
    return True
