"""Optional libraries, which are imported when they are needed, and versions for bug reports."""

from __future__ import annotations

import importlib
import io
import sys
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from exactk import _core
from exactk._runtime.errors import InputError
from exactk._runtime.threads import effective_limit, requested_isa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import jinja2
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import rich.progress


class _Library(NamedTuple):
    """An optional library, with the extra that installs it."""

    distribution: str
    extra: str
    purpose: str


_LIBRARIES = {
    "dask": _Library("dask", "dask", "data frames of Dask"),
    "ir_measures": _Library("ir_measures", "ir-measures", "measures by name, of any provider"),
    "jinja2": _Library("jinja2", "report", "reports as HTML"),
    "matplotlib": _Library("matplotlib", "plots", "plots"),
    "pandas": _Library("pandas", "pandas", "data frames"),
    "polars": _Library("polars", "polars", "data frames"),
    "pyarrow": _Library("pyarrow", "arrow", "tables, Parquet and Arrow files, and large JSON lines faster"),
    "pyspark": _Library("pyspark", "spark", "data frames of Spark"),
    "ray": _Library("ray", "ray", "datasets of Ray"),
    "rich": _Library("rich", "progress", "progress bars"),
    "sentence_transformers": _Library(
        "sentence-transformers", "sentence-transformers", "an evaluator of embedding models"
    ),
    "sklearn": _Library("scikit-learn", "sklearn", "scorers"),
    "scipy": _Library("scipy", "compare", "statistical tests, and files with a sparse matrix"),
    "torch": _Library("torch", "torch", "tensors"),
    "torchmetrics": _Library("torchmetrics", "torch", "metrics whose state processes add"),
}
"""The optional libraries, by the name that imports them."""

EXTRAS: Mapping[str, str] = MappingProxyType({name: one.extra for name, one in _LIBRARIES.items()})
"""The extra that installs each library."""

OPTIONAL_LIBRARIES: Mapping[str, str] = {one.distribution: one.purpose for one in _LIBRARIES.values()}
"""The distributions of the optional libraries, and their purposes."""


def has(library: str) -> bool:
    """Return whether a library is installed, without importing it."""
    return find_spec(library) is not None


def require(library: str, purpose: str, extra: str = "") -> None:
    """Raise if a library is missing, naming the feature that needs it and the extra that installs it, perhaps with others."""
    if not has(library):
        raise ImportError(describe_missing(library, purpose, extra))


def describe_missing(library: str, purpose: str, extra: str = "") -> str:
    """Return what needs a library that is missing, and how to install it: one sentence for all libraries."""
    return f"{purpose} needs {library}: pip install 'exactk[{extra or EXTRAS[library]}]'"


def _imported(library: str) -> Any:  # noqa: ANN401 - a module
    """Return a library if it is imported; None while it is being imported, and so has no objects yet."""
    module = sys.modules.get(library)
    is_complete = not getattr(getattr(module, "__spec__", None), "_initializing", False)
    return module if is_complete else None


@contextmanager
def _importing(library: str, purpose: str) -> Iterator[None]:
    """Raise the error of `require` where an import in this block finds the library missing, not where it is broken."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        raise ImportError(describe_missing(library, purpose)) from error


def scipy_special() -> Any:  # noqa: ANN401 - a module without types
    """Return SciPy's functions of distributions."""
    import scipy.special

    return scipy.special


def scipy_stats() -> Any:  # noqa: ANN401 - a module without types
    """Return SciPy's statistical tests."""
    import scipy.stats

    return scipy.stats


def is_sparse(value: object) -> bool:
    """Return whether the value is a SciPy sparse array or matrix; never if SciPy is not imported."""
    is_of_scipy = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return is_of_scipy is not None and bool(is_of_scipy(value))


def is_pandas(value: object) -> bool:
    """Return whether the value is a pandas data frame."""
    return isinstance(value, getattr(sys.modules.get("pandas"), "DataFrame", ()))


def is_polars(value: object) -> bool:
    """Return whether the value is a Polars data frame, not a lazy one."""
    return isinstance(value, getattr(sys.modules.get("polars"), "DataFrame", ()))


def is_series(value: object) -> bool:
    """Return whether the value is a pandas Series."""
    return isinstance(value, getattr(sys.modules.get("pandas"), "Series", ()))


def as_series(value: Any) -> Any:  # noqa: ANN401 - of any library
    """Return an array of pandas, such as that of ``series.unique()``, as a Series; other values as they are."""
    pandas = _imported("pandas")
    if pandas is None or not isinstance(value, pandas.api.extensions.ExtensionArray):
        return value
    return pandas.Series(value)


def unwrapped(value: Any) -> Any:  # noqa: ANN401 - of any library
    """Return what narwhals wraps; a dataset of Hugging Face and a reader of Arrow as a table; a Series of objects as a list.

    Others are returned as they are.

    A dataset that computes its rows as they are read stays what it is, as what it stores is something else.
    """
    library = type(value).__module__.partition(".")[0]
    if library == "narwhals" and hasattr(value, "to_native"):
        return unwrapped(value.to_native())
    if library == "polars" and str(getattr(value, "dtype", "")) == "Object":  # whose stream of Arrow has addresses
        return value.to_list()
    if library == "pyarrow" and hasattr(value, "read_all"):
        return value.read_all()
    form = getattr(value, "format", None) if library == "datasets" else None
    if isinstance(form, dict) and form["type"] != "custom":
        return value.with_format("arrow", columns=form["columns"])[:]
    return value


def objects_in(value: Any) -> list[str]:  # noqa: ANN401 - of any library
    """Return which columns of a Polars frame hold objects of Python, whose addresses its stream of Arrow has."""
    polars = _imported("polars")
    if polars is None or not isinstance(value, polars.DataFrame):
        return []
    return [name for name, dtype in value.schema.items() if dtype == polars.Object]


def is_index(value: object) -> bool:
    """Return whether the value is a pandas Index."""
    return isinstance(value, getattr(sys.modules.get("pandas"), "Index", ()))


def is_default_index(index: Any) -> bool:  # noqa: ANN401 - an Index of pandas
    """Return whether the index is pandas' default, which numbers the rows."""
    is_range = isinstance(index, sys.modules["pandas"].RangeIndex)
    return bool(is_range and index.start == 0 and index.step == 1 and index.name is None)


def is_lazy(value: object) -> bool:
    """Return whether the value is a lazy Polars frame."""
    return isinstance(value, getattr(sys.modules.get("polars"), "LazyFrame", ()))


def holds_arrow(dtype: object) -> bool:
    """Return whether a pandas column of this type holds a pyarrow array."""
    pandas = sys.modules["pandas"]
    return isinstance(dtype, pandas.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow"


def ordered_categories(column: Any) -> list[Any]:  # noqa: ANN401 - of any library
    """Return the categories of an ordered categorical, of pandas, Polars (Enum) or Arrow, in order; none of others."""
    pandas, polars, arrow = (_imported(library) for library in ("pandas", "polars", "pyarrow"))
    dtype, arrow_type = getattr(column, "dtype", None), getattr(column, "type", None)
    categories: list[Any] = []
    if pandas is not None and isinstance(dtype, pandas.CategoricalDtype) and dtype.ordered:
        categories = dtype.categories.tolist()
    elif polars is not None and isinstance(dtype, polars.Enum):
        categories = dtype.categories.to_list()
    elif arrow is not None and isinstance(arrow_type, arrow.DictionaryType) and arrow_type.ordered:
        array = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
        categories = array.dictionary.to_pylist()
    return categories


def pandas_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return the columns as a pandas data frame."""
    with _importing("pandas", "to_pandas()"):
        import pandas as pd

    def typed(column: Any) -> Any:  # noqa: ANN401 - of any type
        if isinstance(column, NullableIntegers):
            return pd.array(column, dtype="Int64")
        if isinstance(column, OrderedCategories):
            return pd.Categorical(column, categories=list(column.categories), ordered=True)
        return column

    return pd.DataFrame({name: typed(column) for name, column in columns.items()})


def polars_frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return the columns as a Polars data frame."""
    with _importing("polars", "to_polars()"):
        import polars as pl

    def typed(column: Any) -> Any:  # noqa: ANN401 - of any type
        if isinstance(column, NullableIntegers):
            return pl.Series(column, dtype=pl.Int64)
        if isinstance(column, OrderedCategories) and all(isinstance(label, str) for label in column.categories):
            return pl.Series(column, dtype=pl.Enum(column.categories))
        return column

    return pl.DataFrame({name: typed(column) for name, column in columns.items()})


def arrow_table(columns: Mapping[str, Any]) -> pa.Table:
    """Return the columns as an Arrow table."""
    pa = arrow("to_arrow()")

    def typed(column: Any) -> Any:  # noqa: ANN401 - of any type
        if isinstance(column, NullableIntegers):
            return pa.array(column, pa.int64())
        if isinstance(column, OrderedCategories):
            codes = {label: code for code, label in enumerate(column.categories)}
            indices = pa.array([codes[label] for label in column], pa.int32())
            return pa.DictionaryArray.from_arrays(indices, pa.array(column.categories), ordered=True)
        return column

    return pa.table({name: typed(column) for name, column in columns.items()})


def csr_array(data: Any, indices: Any, indptr: Any, shape: Any) -> Any:  # noqa: ANN401 - SciPy has no types
    """Return a SciPy CSR array of these parts, unchanged."""
    with _importing("scipy", "a sparse matrix"):
        from scipy.sparse import csr_array as scipy_csr_array
    return scipy_csr_array((data, indices, indptr), tuple(shape))


def zstd() -> Any:  # noqa: ANN401 - neither may be there
    """Return the module for Zstandard: Python's own, or the one that older versions can install; None without."""
    for name in ("compression", "backports"):
        with suppress(ImportError):
            return importlib.import_module(f"{name}.zstd")
    return None


def arrow(purpose: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return pyarrow, which `purpose` needs: a table asks for it many times, and a block of `_importing` is six calls."""
    if (imported := _imported("pyarrow")) is not None:
        return imported
    with _importing("pyarrow", purpose):
        import pyarrow as pa
    return pa


def arrow_module(name: str, purpose: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a module of pyarrow, which `purpose` needs."""
    if (imported := _imported(f"pyarrow.{name}")) is not None:
        return imported
    with _importing("pyarrow", purpose):
        return importlib.import_module(f"pyarrow.{name}")


def spark_functions() -> Any:  # noqa: ANN401 - pyspark may not be installed
    """Return Spark's functions of columns."""
    with _importing("pyspark", "exactk.spark"):
        from pyspark.sql import functions
    return functions


def sklearn_metrics(purpose: str) -> Any:  # noqa: ANN401 - scikit-learn has no types
    """Return the metrics of scikit-learn, which `purpose` needs."""
    with _importing("sklearn", purpose):
        import sklearn.metrics
    return sklearn.metrics


def torch_and_torchmetrics(purpose: str) -> tuple[Any, Any]:
    """Return the two libraries, which `purpose` needs."""
    with _importing("torch", purpose):
        import torch
    with _importing("torchmetrics", purpose):
        import torchmetrics
    return torch, torchmetrics


def torch_and_sentence_transformers(purpose: str) -> tuple[Any, Any]:
    """Return the two libraries, which `purpose` needs; the second brings the first."""
    with _importing("sentence_transformers", purpose):
        import sentence_transformers.sentence_transformer.evaluation
        import torch
    return torch, sentence_transformers


def dask_dataframe() -> Any:  # noqa: ANN401 - dask may not be installed
    """Return Dask's module of data frames."""
    with _importing("dask", "exactk.dask"):
        import dask.dataframe
    return dask.dataframe


def dask_delayed() -> Any:  # noqa: ANN401 - likewise
    """Return Dask's function that makes a call a task."""
    with _importing("dask", "exactk.dask"):
        from dask import delayed
    return delayed


def pandas(purpose: str) -> Any:  # noqa: ANN401 - its frames go in and out
    """Return pandas, which `purpose` needs."""
    with _importing("pandas", purpose):
        import pandas as pd
    return pd


def polars(purpose: str) -> Any:  # noqa: ANN401 - its frames go in and out
    """Return Polars, which `purpose` needs."""
    with _importing("polars", purpose):
        import polars as pl
    return pl


def ray() -> Any:  # noqa: ANN401 - ray may not be installed
    """Return Ray, with its datasets."""
    with _importing("ray", "exactk.ray"):
        import ray
        import ray.data
    return ray


def ir_measures() -> Any:  # noqa: ANN401 - a module without types
    """Return ir_measures, which a provider plugs into."""
    with _importing("ir_measures", "exactk.compat.ir_measures"):
        import ir_measures
    return ir_measures


def lz4_and_cbor2() -> tuple[Any, Any]:
    """Return the compressor and the format of ranx's files of kind lz4."""
    try:
        lz4, cbor2 = map(importlib.import_module, ("lz4.frame", "cbor2"))
    except ModuleNotFoundError as error:
        message = f"files of kind 'lz4' need {error.name}: pip install lz4 cbor2"
        raise ImportError(message) from error
    return lz4, cbor2


def parquet(table: pa.Table) -> bytes:
    """Return the table as a Parquet file."""
    buffer = io.BytesIO()
    arrow_module("parquet", "a Parquet file").write_table(table, buffer)
    return buffer.getvalue()


class DisplayHandle(Protocol):
    """An output of a notebook that can change."""

    def update(self, shown: object, /) -> None:
        """Show another object in its place."""
        ...


def notebook_display() -> Callable[[object], DisplayHandle] | None:
    """Return what displays an object, if this process is the kernel of a notebook; None elsewhere."""
    ipython = _imported("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if not hasattr(shell, "kernel"):  # as the IPython of a terminal
        return None
    return partial(importlib.import_module("IPython.display").display, display_id=True)


def progress_bar() -> rich.progress.Progress:
    """Return a progress bar on stderr that does not disturb other output."""
    with _importing("rich", "progress=True"):
        from rich import console, progress

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console.Console(stderr=True),
        redirect_stdout=False,  # it would replace stdout and stderr for the whole process
        redirect_stderr=False,
    )


def html_templates(package: str) -> jinja2.Environment:
    """Return the templates of a package of ours, which escape all text. Raise if jinja2 is missing."""
    with _importing("jinja2", "to_html()"):
        import jinja2
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def pyplot() -> Any:  # noqa: ANN401 - matplotlib may not be installed
    """Return matplotlib's functions that make figures."""
    with _importing("matplotlib", "plot()"):
        from matplotlib import pyplot as plt
    return plt


class NullableIntegers(list[int | None]):
    """Integers, some of which may be missing."""


class OrderedCategories(list[Any]):
    """Labels with the order of all that there could be."""

    def __init__(self, labels: Iterable[Any], categories: Iterable[Any]) -> None:
        super().__init__(labels)
        self.categories = tuple(categories)


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
    import platform

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
