"""What is made of what a file holds: the containers that `exactk.evaluate` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from exactk import _optional
from exactk._errors import input_error
from exactk._inputs import Batches, Candidates, Exclude, Known, Rankings, Truth, as_exclude, as_predictions, as_truth
from exactk._inputs.batches import of_rows
from exactk._inputs.canonical import Rows
from exactk._inputs.checks import number_array, offset_array
from exactk._inputs.columns import NumberColumn, PackedColumn, of_array
from exactk._inputs.frames import EntryColumns
from exactk._inputs.keyed import item_ids, of_entries, of_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from exactk._files.columns import Asked

Read: TypeAlias = Truth | Rankings | Candidates | Exclude | Batches

_CONTAINERS: Mapping[str, Callable[..., Any]] = {
    "truth": as_truth,
    "predictions": as_predictions,
    "exclude": as_exclude,
}


def of_table(table: Any, role: str, asked: Asked) -> Read:  # noqa: ANN401 - pyarrow has no types
    """Return what a table of pyarrow holds."""
    read: Read = _CONTAINERS[role](table, **asked)
    return read


def of_trec(arrays: tuple[NDArray[Any], ...], role: str) -> Read:
    """Return what a file of TREC holds: offsets and bytes of queries and of documents, and numbers."""
    query_offsets, queries, document_offsets, documents, numbers = arrays
    values = NumberColumn(numbers)
    columns = EntryColumns(
        [PackedColumn(query_offsets, queries)],
        ["query"],
        PackedColumn(document_offsets, documents),
        grades=values if role == "truth" else None,
        scores=values if role == "predictions" else None,
    )
    return _of_rows(of_entries(columns, role, Known()), role)


def of_arrays(arrays: Mapping[str, NDArray[Any]], role: str) -> Read:
    """Return what an archive of arrays holds: rows under the names of our arguments, or a matrix of SciPy's."""
    if "indices" in arrays:
        data, indices, indptr, shape = (arrays[name] for name in ("data", "indices", "indptr", "shape"))
        try:
            matrix = _optional.csr_array(data, indices, indptr, shape.tolist())
        except ValueError as error:  # what SciPy raises of parts that do not fit
            raise input_error(role, "a matrix in CSR form", str(error)) from None
        return of_table(matrix, role, {})
    items, catalogue = item_ids(of_array(arrays["items"], f"{role}.items"), f"{role}.items", Known())
    values = arrays.get("scores") if role == "predictions" else None
    grades = arrays.get("grades") if role == "truth" else None
    rows = Rows(
        offset_array(arrays["indptr"], f"{role}.indptr"),
        items,
        None if grades is None else number_array(grades, f"{role}.grades"),
        scores=values,
        catalogue=catalogue,
    )
    if "users" in arrays:
        rows = of_lists([of_array(arrays["users"], f"{role}.users")], ["users"], rows, role, Known())
    return _of_rows(rows, role)


def _of_rows(rows: Rows, role: str) -> Read:
    if role == "truth":
        return Truth.from_rows(rows)
    if role == "exclude":
        return Exclude.from_rows(rows._replace(present=None))
    return of_rows(rows, role)
