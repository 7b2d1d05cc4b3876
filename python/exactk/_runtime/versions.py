"""Versions, machine and configuration for bug reports."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING

import numpy as np

from exactk import _core
from exactk._runtime.errors import InputError
from exactk._runtime.threads import effective_limit, requested_isa

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OPTIONAL_LIBRARIES: Mapping[str, str] = {
    "dask": "data frames of Dask",
    "ir_measures": "measures by name, of any provider",
    "jinja2": "reports as HTML",
    "matplotlib": "plots",
    "pandas": "data frames",
    "polars": "data frames",
    "pyarrow": "tables, Parquet and Arrow files, and large JSON lines faster",
    "pyspark": "data frames of Spark",
    "ray": "datasets of Ray",
    "rich": "progress bars",
    "scikit-learn": "scorers",
    "scipy": "statistical tests, and files with a sparse matrix",
    "torch": "tensors",
    "torchmetrics": "metrics whose state processes add",
}
"""The optional libraries and their purposes."""


def show_versions() -> None:
    """Print the versions, the compiler, and the instruction set and threads in use, with reasons.

    For a bug report, run ``exactk doctor``, which prints the same and checks the installation. Optional libraries are
    not imported. Invalid environment variables, which an evaluation would refuse, are marked.

    Examples
    --------
    >>> import exactk
    >>> exactk.show_versions()
    exactk       ...
    Python       ...
    NumPy        ...
    platform     ...
    compiler     ...
    instructions ...
    threads      ...
    dask         ...
    pandas       ...
    polars       ...
    pyarrow      ...
    rich         ...
    scipy        ...
    torch        ...
    """
    sys.stdout.write(version_report())


def version_report() -> str:
    """Return the text that `show_versions` prints, one fact per line."""
    return format_facts(installation_facts() | {name: version_of(name) for name in OPTIONAL_LIBRARIES})


def format_facts(facts: Mapping[str, str]) -> str:
    """Return the facts as lines, each after its name."""
    width = max(map(len, facts))
    return "".join(f"{name:<{width}}  {fact}\n" for name, fact in facts.items())


def installation_facts() -> dict[str, str]:
    """Return the facts about this machine and installation, without optional libraries."""
    return {
        "exactk": version_of("exactk"),
        "Python": f"{platform.python_version()}, {platform.python_implementation()}",
        "NumPy": np.__version__,
        "platform": platform.platform(),
        "compiler": _core.built_with(),
        "instructions": _text_or_error(_describe_isa),
        "threads": _text_or_error(_describe_threads),
    }


def _describe_isa() -> str:
    available = ", ".join(_core.isas())
    if requested := requested_isa():
        return f"{requested}, from EXACTK_ISA, of {available}"
    return f"{_core.isas()[-1]}, the widest of {available}"


def _describe_threads() -> str:
    limit = effective_limit()
    return f"{limit.threads}, from {limit.source}"


def _text_or_error(describe: Callable[[], str]) -> str:
    try:
        return describe()
    except InputError as error:
        return str(error)


def version_of(distribution: str) -> str:
    """Return the installed version of a library, without importing it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
