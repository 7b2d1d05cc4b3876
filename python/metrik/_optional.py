"""The only module that imports optional libraries, and each only where it is asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import polars as pl
    import pyarrow as pa


def is_sparse(value: object) -> bool:
    """Return whether the value is a sparse array or matrix of SciPy. Without SciPy imported, none can be."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(value))


def pandas_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return the columns as a pandas data frame."""
    import pandas as pd  # noqa: PLC0415 - an optional library

    return pd.DataFrame(dict(columns))


def polars_frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return the columns as a Polars data frame."""
    import polars as pl  # noqa: PLC0415 - an optional library

    return pl.DataFrame(dict(columns))


def arrow_table(columns: Mapping[str, Any]) -> pa.Table:
    """Return the columns as an Arrow table."""
    import pyarrow as pa  # noqa: PLC0415 - an optional library

    return pa.table(dict(columns))
