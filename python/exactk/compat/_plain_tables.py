"""Tables of text as the library tabulate makes them by default: numbers are shown anew, and aligned by their points."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SEPARATOR = "  "
_MIN_PADDING = 2  # of headers
_NOT_FINITE = ("inf", "-inf", "nan")


def plain_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the header, a line of dashes, and the rows."""
    columns = [
        _aligned(header, cells) for header, cells in zip(headers, _cells_by_column(rows, len(headers)), strict=True)
    ]
    header, *lines = [_SEPARATOR.join(cells).rstrip() for cells in zip(*columns, strict=True)]
    dashes = _SEPARATOR.join("-" * len(column[0]) for column in columns)
    return "\n".join([header, dashes, *lines])


def _cells_by_column(rows: Sequence[Sequence[str]], count: int) -> list[tuple[str, ...]]:
    return list(zip_longest(*rows, fillvalue="")) if rows else [()] * count


def _aligned(header: str, cells: Sequence[str]) -> list[str]:
    """Return the header and the cells of a column, all of one width."""
    cells = [cell.strip() for cell in cells]
    least = len(header) + _MIN_PADDING
    if not cells or not all(map(_is_number, cells)):
        width = max([least, *map(len, cells)])
        return [cell.ljust(width) for cell in (header, *cells)]
    if not all(_converts(int, cell) for cell in cells):
        cells = [format(float(cell), "g") for cell in cells]
    decimals = list(map(_decimals, cells))
    cells = [cell + " " * (max(decimals) - count) for cell, count in zip(cells, decimals, strict=True)]
    width = max([least, *map(len, cells)])
    return [cell.rjust(width) for cell in (header, *cells)]


def _is_number(cell: str) -> bool:
    return _converts(float, cell) and (math.isfinite(float(cell)) or cell.lower() in _NOT_FINITE)


def _converts(convert: Callable[[str], float], cell: str) -> bool:
    try:
        convert(cell)
    except ValueError:
        return False
    return True


def _decimals(cell: str) -> int:
    """Return the characters after the point, or after the exponent's e; -1 without either."""
    if _converts(int, cell) or not _is_number(cell):
        return -1
    position = cell.rfind(".") if "." in cell else cell.lower().rfind("e")
    return len(cell) - position - 1 if position >= 0 else -1
