"""What objects of other libraries have, for type checkers: these libraries need not be installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray


class SupportsDLPack(Protocol):
    """An array of any library, such as a tensor of PyTorch."""

    def __dlpack__(self) -> object: ...


class SparseMatrix(Protocol):
    """A sparse array or matrix of SciPy."""

    @property
    def shape(self) -> object: ...
    def tocsr(self) -> object: ...


class SupportsColumns(Protocol):
    """A data frame of pandas, Polars, pyarrow or DuckDB."""

    @property
    def columns(self) -> object: ...


class SupportsArrowStream(Protocol):
    """A table of any library that streams Arrow."""

    def __arrow_c_stream__(self) -> object: ...


DataFrame: TypeAlias = SupportsColumns | SupportsArrowStream
"""A data frame of any library."""


class Series(Protocol):
    """A single column: a Series of pandas or Polars, or an array of pyarrow."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def to_numpy(self) -> object: ...


VectorLike: TypeAlias = NDArray[Any] | SupportsDLPack | Series | Sequence[float]
"""One number per entry."""

KeysLike: TypeAlias = NDArray[Any] | SupportsDLPack | Series | Sequence[Any]
"""One key per user, item or entry."""

MatrixLike: TypeAlias = NDArray[Any] | SupportsDLPack | Sequence[Sequence[float]]
"""One number per row and column."""
