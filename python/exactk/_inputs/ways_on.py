"""What to write instead of values of other libraries: a line for each kind, for the hints of errors."""

from __future__ import annotations

import math
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from exactk._runtime.errors import ExactkError


def _from(package: str, *attributes: str) -> Callable[[Any], bool]:
    """Return what tells whether a value is of a package, or a package within it, and has these attributes."""
    return lambda value: (
        f"{type(value).__module__}.".startswith(f"{package}.") and all(hasattr(value, one) for one in attributes)
    )


is_report = _from("exactk", "to_html")

_CONTAINERS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (is_report, "exactk.compare_reports({{'a': a, 'b': b}}) compares reports"),
    (_from("pyspark"), "exactk.spark.evaluate(truth, predictions, metrics) takes frames of Spark"),
    (_from("dask"), "exactk.dask.evaluate(truth, predictions, metrics) takes frames of Dask"),
    (_from("ray"), "exactk.ray.evaluate(truth, predictions, metrics) takes datasets of Ray"),
    (_from("datasets", "values"), "{0}={0}[next(iter({0}))] reads the first split"),
    (_from("datasets", "format"), "{0}=pd.DataFrame(list({0})) has the rows that it computes"),
    (lambda value: hasattr(value, "to_pandas"), "{0}={0}.to_pandas()"),
    (_from("torch", "__iter__"), "evaluate(None, iter({0}), metrics) takes (truth, predictions) batches"),
    (_from("pandas", "groups", "agg"), "{0}={0}.agg(list).reset_index()"),
    (_from("polars", "agg"), "{0}={0}.all()"),
    (lambda value: isinstance(value, ItemsView), "{0}=dict({0})"),
    (lambda value: isinstance(value, (set, frozenset)), "{0}=[list({0})] gives all items to one user"),
    (lambda value: isinstance(value, Mapping) and "ids" in value and "distances" in value, "{0}={0}['ids']"),
    (_from("exactk"), "evaluate(predictions, truth, metrics) if they are the other way round: the truth comes first"),
    (callable, "{0}={{user: {0}(user) for user in users}} has what it returns for each user"),
    (lambda value: isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)), "{0}=list({0})"),
)
"""The kinds of whole arguments that are no container, and what to write for one; the first that fits."""


def of_container(value: object, argument: str) -> str:
    """Return what to write for an argument; empty if its value is of no kind in the table."""
    return next((line.format(argument) for is_one, line in _CONTAINERS if is_one(value)), "")


_IDS = ("id", "_id", "doc", "docid", "doc_id", "docno", "document_id", "item", "item_id", "corpus_id", "node_id", "pid", "key", "document")  # fmt: skip
_LOWEST = ("distance", "dist", "rank")
_VALUES = {
    "truth": ("grade", "relevance", "rel", "label", "rating", "score"),
    "predictions": ("score", "_score", "similarity", "relevance_score", "probability", "rating", *_LOWEST),
}
"""Fields with the value of a hit; in predictions, the lowest is best in some."""


class _Hit(NamedTuple):
    """The expressions of a hit's item and of its value; the latter is empty if it has none."""

    item: str
    value: str

    def items(self, source: str) -> str:
        """Return the expression of the items of a user's hits."""
        items = f"{self.item}: {self.value} for hit in {source}"
        return f"{{{items}}}" if self.value else f"[{self.item} for hit in {source}]"


def _hit(value: Any, argument: str) -> _Hit | None:  # noqa: ANN401 - of any library
    """Return how to read a record or an object with an id, or a tuple of one with a number."""
    if type(value) is tuple and len(value) == 2 and isinstance(value[1], Real):
        hit = None if isinstance(value[0], (str, bytes, Real)) else _hit(value[0], argument)
        return hit and _Hit(hit.item.replace("hit", "hit[0]", 1), "hit[1]")

    def read(names: tuple[str, ...]) -> str:
        if isinstance(value, Mapping):
            return next((f"hit[{name!r}]" for name in names if name in value), "")
        has = (name for name in names if not callable(getattr(value, name, callable)))
        return next((f"hit.{name}" for name in has if getattr(value, name) is not None), "")

    item, number = read(_IDS), read(_VALUES.get(argument, ()))
    fields = [f"hit.{name}" for name in getattr(value, "_fields", ())]
    if not item and fields[1:] == [number]:
        item = fields[0]
    return _Hit(item, f"-{number}" if any(name in number for name in _LOWEST) else number) if item else None


def is_foreign(item: object) -> bool:
    """Return whether an object is a hit, or has no text that tells it from others, and so cannot be an item."""
    texts = {type(item).__str__, type(item).__repr__}
    if texts == {object.__str__, object.__repr__} or hasattr(item, "__dlpack__") or hasattr(item, "page_content"):
        return True
    hit = _hit(item, "predictions")
    return hit is not None and hit.value != ""


def reads_as_pair(value: tuple[Any, ...], argument: str) -> bool:
    """Return whether a tuple of two is an item and its number, by the names that it may have."""
    hit = _hit(value, argument)
    return hit is None or not hit.value or hit == tuple(f"hit.{name}" for name in getattr(value, "_fields", ()))


def of_hits(row: Any, argument: str = "predictions") -> str:  # noqa: ANN401 - of any library
    """Return the expression of the items in a list of hits; empty if it is none."""
    hit = _hit(row[0], argument) if isinstance(row, (list, tuple)) and row else None
    return hit.items("items") if hit else ""


def each_row(rows: object, argument: str, row: str) -> str:
    """Return what makes a row, such as ``list(items)``, of each user's items in a mapping, a list or a Series."""
    if isinstance(rows, Mapping):
        return f"{argument}={{user: {row} for user, items in {argument}.items()}}"
    return (
        f"{argument}=[{row} for items in {argument}]"
        if isinstance(rows, list)
        else f"{argument}={argument}.map(lambda items: {row})"
    )


def frame_of_tuples(argument: str, width: int) -> str:
    """Return what makes a data frame of tuples of a user, an item and, in those of three, its number."""
    columns = ["user", "item", "grade" if argument == "truth" else "score"][:width]
    return f"{argument}=pd.DataFrame(list({argument}), columns={columns})"


def of_tuples(rows: object, error: ExactkError, argument: str) -> str:
    """Return what to write for users, items and numbers, of which the number is no id; empty for other rows."""
    are_tuples = isinstance(rows, list) and all(type(row) in {list, tuple} and len(row) == 3 for row in rows)
    if not are_tuples or error.position != 2:
        return ""
    return f"{frame_of_tuples(argument, 3)} if each is a user, an item and a number"


def of_rows(rows: Any, error: ExactkError, argument: str) -> str:  # noqa: ANN401 - a list, or a mapping from user
    """Return what to write for the rows of users that an error is about; empty if they are of no kind here."""
    hint, mapping = str(*error.fault.hint[:1]), isinstance(rows, Mapping)
    if hint.startswith(f"{argument}={argument}.") and isinstance(rows, (list, Mapping)):  # as for a tensor
        return each_row(rows, argument, hint.replace(f"{argument}={argument}", "items"))
    if hint or error.row is None or error.row >= len(rows):
        return ""
    row = list(rows.values() if mapping else rows)[error.row]
    if not mapping and not hasattr(row, "columns") and (hit := _hit(row, argument)):
        return f"{argument}=[{hit.items(argument)}] if these are the items of one user"
    if error.fault.expected.startswith("numbers as ") and all(map(_is_number, row.values())):
        expression = "{item: float(score) for item, score in items.items()}"
    elif (
        error.fault.expected == "integer ids"
        and isinstance(row, Iterable)
        and not isinstance(row, Mapping)
        and all(map(_is_number, row))
    ):
        if any(isinstance(item, (bool, np.bool_)) for item in row):
            is_matrix = isinstance(rows, list) and argument != "predictions" and len(set(map(len, rows))) == 1
            return f"{argument}=np.array({argument}, bool)" if is_matrix else ""
        if any(float(item) % 1 for item in row):
            scores = "list(predictions.values()), users=list(predictions)" if mapping else "predictions"
            return f"predictions=exactk.Scores({scores}) if these are scores of all items" * (argument == "predictions")
        expression = "[int(item) for item in items]" if all(abs(float(item)) < 2**53 for item in row) else ""
    else:
        expression = of_hits(row, argument) or _first_of_arrays(row) or "list(items)" * isinstance(row, Iterator)
    return each_row(rows, argument, expression) if expression else ""


def _first_of_arrays(row: Any) -> str:  # noqa: ANN401 - a row of any kind
    """Return the expression of the ids in a tuple of ids and scores."""
    kinds = [part.dtype.kind for part in row if isinstance(part, np.ndarray)] if isinstance(row, tuple) else []
    return "items[0]" if kinds == ["i", "f"] else ""


def of_column(values: list[Any]) -> str:
    """Return what to write for a column of objects that are neither keys nor numbers; empty for containers and hits."""
    if any(isinstance(one, (Mapping, set, frozenset, list, np.ndarray)) or is_foreign(one) for one in values):
        return ""
    numbers = ", .astype(float) numbers" if all(map(_is_number, values)) else ""
    return f".astype(str) makes keys of a column{numbers}"


def _is_number(value: Any) -> bool:  # noqa: ANN401 - of any library
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def split(text: str) -> str:
    """Return the expression that makes a list of a text that may hold several items; empty if it does not seem to."""
    marks = {"[": "ast.literal_eval(items)", ",": "items.split(',')", ";": "items.split(';')", "|": "items.split('|')"}
    first = next((way for mark, way in marks.items() if mark in text), "")
    return first or ("items.split()" if len(text.split()) > 1 else "")
