"""What to write instead of values of other libraries: a line for each kind, for the hints of errors."""

from __future__ import annotations

import math
from collections.abc import Callable, ItemsView, Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

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
    (_from("datasets", "values"), "{0}={0}[next(iter({0}))].to_pandas() reads the first split"),
    (lambda value: hasattr(value, "to_pandas"), "{0}={0}.to_pandas()"),
    (lambda value: hasattr(value, "as_numpy_iterator"), "{0}=list({0}.as_numpy_iterator())"),
    (_from("torch", "__iter__"), "evaluate(None, iter({0}), metrics) takes (truth, predictions) batches"),
    (_from("torch", "__getitem__", "__len__"), "{0}=[{0}[row] for row in range(len({0}))]"),
    (_from("pandas", "groups", "agg"), "{0}={0}.agg(list).reset_index()"),
    (_from("polars", "agg"), "{0}={0}.all()"),
    (lambda value: isinstance(value, ItemsView), "{0}=dict({0})"),
    (lambda value: isinstance(value, (set, frozenset)), "{0}=[list({0})] gives all items to one user"),
    (lambda value: isinstance(value, Mapping) and "ids" in value and "distances" in value, "{0}={0}['ids']"),
    (
        lambda value: isinstance(value, Mapping) and isinstance(value.get("hits"), Mapping),
        "{0}=[{{hit['_id']: hit['_score'] for hit in {0}['hits']['hits']}}]",
    ),
    (_from("exactk"), "evaluate(predictions, truth, metrics) if they are the other way round: the truth comes first"),
    (callable, "{0}={{user: {0}(user) for user in users}} has what it returns for each user"),
    (lambda value: isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)), "{0}=list({0})"),
)
"""The kinds of whole arguments that are no container, and what to write for one; the first that fits."""


def of_container(value: object, argument: str) -> str:
    """Return what to write for an argument; empty if its value is of no kind in the table."""
    return next((line.format(argument) for is_one, line in _CONTAINERS if is_one(value)), "")


_IDS = ("id", "_id", "docid", "doc_id", "docno", "document_id", "item", "item_id", "corpus_id", "node_id", "pid", "key", "document")  # fmt: skip
_VALUES = {
    "truth": ("grade", "relevance", "rel", "label", "rating", "score"),
    "predictions": ("score", "_score", "similarity", "relevance_score", "probability", "rating", "distance"),
}
_RESULTS = ("hits", "results", "matches", "documents", "docs", "points", "value", "response")  # keys of a response


class _Hit(NamedTuple):
    """The expressions of a hit's item and of its value; the latter is empty if it has none."""

    item: str
    value: str

    def items(self, source: str = "") -> str:
        """Return the expression of a user's items."""
        return f"{{{self.item}: {self.value}{source}}}" if self.value else f"[{self.item}{source}]"


def _hit(value: Any, argument: str, name: str = "hit") -> _Hit | None:  # noqa: ANN401 - of any library
    """Return how to read a record or an object with an id, or a tuple or list with one id and a number."""

    def read(names: tuple[str, ...]) -> str:
        if isinstance(value, Mapping):
            return next((f"{name}[{one!r}]" for one in names if one in value), "")
        has = (one for one in names if not callable(getattr(value, one, callable)))
        return next((f"{name}.{one}" for one in has if getattr(value, one) is not None), "")

    if isinstance(value, (str, bytes, Real)):
        return None
    item, number = read(_IDS), read(_VALUES.get(argument, ()))
    if not item and (metadata := getattr(value, "metadata", None)):  # a document of LangChain
        item = f"{name}.metadata[{next((one for one in _IDS if one in metadata), next(iter(metadata)))!r}]"
    if not item and isinstance(value, (tuple, list)):
        numbers = [at for at, one in enumerate(value) if isinstance(one, Real)]
        hits = {at: _hit(one, argument, f"{name}[{at}]") for at, one in enumerate(value) if not _is_row(one)}
        items = [hit.item if hit else f"{name}[{at}]" for at, hit in hits.items() if hit or isinstance(value[at], str)]
        return _Hit(items[0], f"{name}[{numbers[0]}]") if len(items) == 1 and numbers else None
    return _Hit(item, f"-{number}" if number and "distance" in number else number) if item else None


def _is_row(value: object) -> bool:
    return isinstance(value, (list, tuple, Mapping))


def _is_read_as_pair(value: object) -> bool:
    return (
        isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], (str, int)) and isinstance(value[1], Real)
    )


def is_foreign(item: object) -> bool:
    """Return whether an object is a hit, or has no text that tells it from others, and so cannot be an item."""
    if isinstance(item, Mapping) and not any(one in item for one in _VALUES["predictions"]):
        return False
    texts = {type(item).__str__, type(item).__repr__}
    if texts == {object.__str__, object.__repr__} or hasattr(item, "__dlpack__") or hasattr(item, "page_content"):
        return True
    hit = _hit(item, "predictions")
    return hit is not None and hit.value != ""


def of_hits(row: Any, argument: str = "predictions", name: str = "items") -> str:  # noqa: ANN401 - of any library
    """Return the expression of the items in hits, in one hit, or in a response that holds hits; empty if it has none."""
    is_list = isinstance(row, (list, tuple)) and len(row) > 0
    if is_list and not _is_read_as_pair(row[0]) and (hit := _hit(row[0], argument)):
        return hit.items(f" for hit in {name}")
    if hit := _hit(row, argument, name):
        return hit.items()
    keys = (
        [key for key in _RESULTS if key in row and f"[{key!r}][{key!r}]" not in name]
        if isinstance(row, Mapping)
        else ()
    )
    return next(filter(None, (of_hits(row[key], argument, f"{name}[{key!r}]") for key in keys)), "")


def of_rows(rows: Any, error: ExactkError, argument: str) -> str:  # noqa: ANN401 - a list, or a mapping from user
    """Return what to write for the rows of users that an error is about; empty if they are of no kind here."""
    hint, mapping = str(*error.fault.hint[:1]), isinstance(rows, Mapping)
    each = f"{argument}.map(lambda items: {{}})"  # of a Series
    if mapping:
        each = f"{{user: {{}} for user, items in {argument}.items()}}"
    elif isinstance(rows, list):
        each = f"[{{}} for items in {argument}]"
    if hint.startswith(f"{argument}={argument}.") and isinstance(rows, (list, Mapping)):  # as for a tensor
        return f"{argument}={each.replace('{}', hint.replace(f'{argument}={argument}', 'items'))}"
    if hint or error.row is None or error.row >= len(rows):
        return ""
    row = list(rows.values() if mapping else rows)[error.row]
    if not mapping and (hit := _hit(row, argument)):
        return f"{argument}=[{hit.items(f' for hit in {argument}')}] if these are the items of one user"
    expression = of_hits(row, argument) or _converted(row, error.position)
    if not expression and argument == "predictions" and _is_of_floats(error):
        scores = "list(predictions.values()), users=list(predictions)" if mapping else "predictions"
        return f"predictions=exactk.Scores({scores}) if these are scores of all items"
    return f"{argument}={each.replace('{}', expression)}" if expression else ""


def _is_of_floats(error: ExactkError) -> bool:
    return error.fault.expected == "integer ids" and error.fault.found.startswith("float")


def _converted(row: Any, position: int | None) -> str:  # noqa: ANN401 - of any library
    """Return the expression of a row after converting its items to ids, or its scores to numbers."""
    if position is None or not _is_row(row):
        return ""
    item = list(row)[position]
    if isinstance(row, Mapping) and isinstance(item, (str, int)):
        return "{item: float(score) for item, score in items.items()}" if _number(row[item]) is not None else ""
    if item is None or (isinstance(item, float) and math.isnan(item)):
        return "[item for item in items if item is not None and item == item]"
    number = None if isinstance(item, str) else _number(item)
    if _is_row(item) or any(isinstance(one, str) for one in row) or (number is not None and not number.is_integer()):
        return ""
    read = "str(item)" if number is None else "int(item)"
    return (
        f"{{{read}: score for item, score in items.items()}}"
        if isinstance(row, Mapping)
        else f"[{read} for item in items]"
    )


def of_column(values: list[Any]) -> str:
    """Return what to write for a column of objects that are neither keys nor numbers."""
    if hit := _hit(values[0], "predictions"):
        return f".map(lambda hits: [{hit.item} for hit in hits]) makes lists of ids"
    return f".astype({'str' if _number(values[0]) is None else 'float'}) converts them"


def _number(value: Any) -> float | None:  # noqa: ANN401 - of any library
    """Return the value as a finite number; None if it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def split(text: str) -> str:
    """Return the expression that makes a list of a text that may hold several items; empty if it does not seem to."""
    marks = {"[": "ast.literal_eval(items)", ",": "items.split(',')", ";": "items.split(';')", "|": "items.split('|')"}
    first = next((way for mark, way in marks.items() if mark in text), "")
    return first or ("items.split()" if len(text.split()) > 1 else "")
