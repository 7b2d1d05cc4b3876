"""What a case leaves: lines that name every bit of a value, every warning and every error.

Numbers are written in hexadecimal, tables by column with their types, and objects of the package by what their public
attributes and methods give. What differs from run to run is left out: the case's folder, addresses, lines of programs.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

Lines = Iterator[str]

PER_LINE = 8  # numbers
LONGEST_BYTES = 48  # that are written out
PUBLIC = {
    "Report": "metrics standard_deviation counts by_group by_item_group per_user users state",
    "Comparison": "metrics reports differences differences.by_group differences.heterogeneity state",
    "Differences": "",
    "State": "to_bytes truth_digest to_dict.totals",
    "ComparisonState": "to_dict.paired",
    "Evaluator": "state compute",
    "Choice": "best options tied untested",
    "Gate": "status checks failures to_junit",
    "Ranks": "",
    "ConventionMatches": "names matches",
    "JudgedLists": "k items codes grades hits lengths relevant in_truth has_list users item_keys first_user",
    "Truth": "indptr items grades present users",
    "Rankings": "indptr items present ranks users",
    "Exclusions": "indptr items present users",
    "SparseScores": "indptr items scores present min_score users",
    "Scores": "values min_score",
    "Embeddings": "user_vectors item_vectors similarity min_score item_bias",
    "Items": "keys popularity train_users",
    "Convention": "to_dict",
}
"""What is recorded of objects of the package, beside their text and what they hold as mappings and sequences."""


class Noted(list[str]):
    """Lines of a record."""


def outcome(function: Callable[[], object], folder: Path) -> list[str]:
    """Return the lines of what a function warns of, and returns or raises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = list(lines_of(function()))
        except Exception as error:  # noqa: BLE001 - recorded
            result = list(error_lines(error))
    found = [line for warning in caught for line in warning_lines(warning)]
    return [_plain_text(line, str(folder)) for line in [*found, *result]]


def warning_lines(warning: warnings.WarningMessage) -> Lines:
    """Yield the category of a warning, whether it points to a line of the package, and what it says."""
    where = " inside the package" if "/exactk/" in warning.filename else ""
    yield f"warning {warning.category.__name__}{where}"
    yield from _indented(_text_lines(str(warning.message)))


def error_lines(error: BaseException) -> Lines:
    """Yield the type of an error, what it says, and what it says beside."""
    yield f"error {type(error).__module__.partition('.')[0]}.{type(error).__name__}"
    yield from _indented(_text_lines(str(error)))
    for name in ("__notes__", "argument", "count", "row", "position"):
        if hasattr(error, name):
            yield f"  {name} {getattr(error, name)!r}"


def _plain_text(text: str, folder: str) -> str:
    text = re.sub(r"/[^\s'\"]*/exactk/(?=\w)", "<package>/", text.replace(folder, "<folder>"))
    text = re.sub(r"0x[0-9a-f]{8,}\b(?!p|\.)(?=>)", "<address>", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "<time>", text)
    return re.sub(r'(?<=\.py", line )\d+', "<line>", text)


def lines_of(value: Any) -> Lines:  # noqa: C901 - one branch a kind
    """Yield the lines of any value."""
    name, module = type(value).__name__, type(value).__module__.partition(".")[0]
    if isinstance(value, AbstractSet) and not isinstance(value, Mapping):
        value = sorted(value, key=repr)
    if isinstance(value, Noted):
        yield from value
    elif isinstance(value, str):
        yield from _text_lines(value)
    elif _is_scalar(value):
        yield _scalar(value)
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype} {value.shape}"
        yield from _indented(_rows(value.ravel().tolist()))
    elif hasattr(value, "column_names") or hasattr(value, "dtypes"):
        yield from _table_lines(value)
    elif name in PUBLIC and module == "exactk":
        yield from _object_lines(value, PUBLIC[name].split())
    elif isinstance(value, Mapping):
        yield f"{name if isinstance(value, dict) else 'mapping'} of {len(value)}"  # read-only ones have private classes
        yield from _named_lines(value.items())
    elif hasattr(value, "_fields"):
        yield name
        yield from _named_lines(zip(value._fields, value, strict=True))
    elif is_dataclass(value) or hasattr(value, "_field_names"):
        yield name
        names = [one.name for one in fields(value)] if is_dataclass(value) else value._field_names  # noqa: SLF001 - of a record
        yield from _named_lines((one, getattr(value, one)) for one in names)
    elif isinstance(value, (list, tuple)):
        yield f"{name} of {len(value)}"
        yield from _indented(_rows(value) if all(map(_is_short, value)) else _part_lines(value))
    else:
        yield f"{name} {value!r}"


def _object_lines(value: Any, names: Sequence[str]) -> Lines:
    yield type(value).__name__
    yield from _indented(_text_lines(repr(value)))
    if isinstance(value, Mapping):
        yield from _named_lines(value.items())
    elif isinstance(value, Sequence):
        yield from _indented(_part_lines(value))
    yield from _named_lines((name, _attribute(value, name)) for name in names)


def _attribute(value: Any, path: str) -> Any:
    """Return an attribute, an entry, or what a method returns, along a dotted path; or the error on the way."""
    for part in path.split("."):
        if part not in (value if isinstance(value, dict) else dir(value)):
            return "absent"
        try:
            value = value[part] if isinstance(value, dict) else getattr(value, part)
            value = value() if callable(value) else value
        except Exception as error:  # noqa: BLE001 - recorded
            return f"{type(error).__name__}: {error}"
    return value


def _named_lines(pairs: Iterable[tuple[Any, Any]]) -> Lines:
    for name, value in pairs:
        label = name if isinstance(name, str) else repr(name)
        if _is_short(value):
            yield f"  {label}: {_scalar(value)}"
        else:
            yield f"  {label}:"
            yield from _indented(_indented(lines_of(value)))


def _part_lines(parts: Iterable[Any]) -> Lines:
    for number, part in enumerate(parts):
        first, *others = lines_of(part)
        yield f"{number}: {first}"
        yield from _indented(others)


def _table_lines(table: Any) -> Lines:
    """Yield the columns of a data frame of any library, with their types."""
    table = table.collect() if hasattr(table, "collect") else table
    if hasattr(table, "column_names"):  # pyarrow
        columns = [(one.name, one.type, table[one.name].to_pylist()) for one in table.schema]
    else:
        columns = [
            (one, kind, table[one].to_list()) for one, kind in zip(table.columns, list(table.dtypes), strict=True)
        ]
    yield f"{type(table).__name__} of {len(columns)} columns, {len(table)} rows"
    for label, kind, cells in columns:
        yield f"  {label}: {kind}"
        yield from _indented(_indented(_rows(cells)))


def _rows(cells: Sequence[Any]) -> Lines:
    texts = [_scalar(cell) for cell in cells]
    for begin in range(0, len(texts), PER_LINE):
        yield " ".join(texts[begin : begin + PER_LINE])


def _text_lines(text: str) -> Lines:
    yield from (f"| {line}" for line in text.split("\n")) if "\n" in text else [repr(text)]


def _indented(lines: Iterable[str]) -> Lines:
    return (f"  {line}" for line in lines)


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, bytes, np.generic))


def _is_short(value: Any) -> bool:
    return _is_scalar(value) and not (isinstance(value, str) and "\n" in value)


def _scalar(value: Any) -> str:
    if isinstance(value, np.generic):
        return f"{value.dtype}:{_scalar(value.item())}"
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, bytes) and len(value) > LONGEST_BYTES:
        return f"{len(value)} bytes {hashlib.sha256(value).hexdigest()}"
    return repr(value)
