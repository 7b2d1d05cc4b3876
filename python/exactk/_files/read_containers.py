"""From file contents to the containers that `exactk.evaluate` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from exactk._inputs.batches import Batches, Reader
from exactk._inputs.checks import number_array, offset_array
from exactk._inputs.containers.frames import columns_of_choice
from exactk._inputs.conversions import default_encoding, exclusions_of, predictions_of, scored_input, truth_of
from exactk._inputs.keys.column_roles import ROLES, ChosenColumns
from exactk._inputs.keys.columns import NumberColumn, PackedColumn, column_of_array
from exactk._inputs.long_format import Encoding, LongColumns, encode_items, rows_by_user, rows_from_long_format
from exactk._inputs.model.lists import Exclusions, Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import SparseScores, predictions_from_rows
from exactk._inputs.registry import FRAME, ClassifiedValue, ConversionOptions, classify, rows_of_container
from exactk._inputs.truth import Truth
from exactk._runtime import optional
from exactk._runtime.errors import Amending, input_error
from exactk._runtime.faults import write
from exactk._runtime.unit_names import note_column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from exactk import _core
    from exactk._files.source import ColumnChoice, RequestedColumns
    from exactk._files.trec_files import TrecColumns
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.rows import Locate
    from exactk._runtime.errors import ExactkError


ReadResult: TypeAlias = Truth | Rankings | SparseScores | Exclusions | Batches


def _scores_of(table: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> SparseScores:
    rows = scored_input(table, columns, encoding)
    assert isinstance(rows, Rows)  # noqa: S101 - those of a table
    return SparseScores.from_rows(rows, "scores")


def _candidates_of(table: ClassifiedValue, columns: ColumnNames, encoding: Encoding) -> Exclusions:
    options = ConversionOptions("candidates", encoding, columns)
    return Exclusions.from_rows(rows_of_container(table, options)._replace(present=None))


_CONVERSIONS: Mapping[str, Callable[..., Any]] = {
    "truth": truth_of,
    "predictions": predictions_of,
    "exclude": exclusions_of,
    "scores": _scores_of,
    "candidates": _candidates_of,
}
_WITH_SCORES = {"predictions", "scores"}
_SOURCE = "the data"  # rows are not lines: lines may be empty, comments, or parts of rows


def result_of_table(
    table: Any,  # noqa: ANN401 - pyarrow has no types
    role: str,
    requested: RequestedColumns,
    choice: ColumnChoice | None = None,
    source: str = _SOURCE,
) -> ReadResult:
    """Return the container for a table of the columns that were chosen, or for other contents of a file."""
    encoding = default_encoding()._replace(source=source)
    columns: Any = {**dict.fromkeys(ROLES[role]), **requested}
    with Amending(_without_code, role):
        if choice is None:
            classified = classify(table, role)
        else:
            (*users, item), values = choice.ids, {value: name for name, value in choice.values.items()}
            chosen = ChosenColumns.of(users, item, values)
            classified = ClassifiedValue(columns_of_choice(table, chosen, choice.unused, role, columns, source), FRAME)
        result: ReadResult = _CONVERSIONS[role](classified, columns, encoding)
        return result


def _without_code(error: ExactkError, role: str) -> ExactkError:
    """Return the error without code for a mapping, which the caller does not have."""
    if f"{role}.items()" not in write(error.fault.hint):
        return error
    hint = 'write items with values as an object, {"user": {"item": 0.5}}, and items of several parts as strings'
    return error.amended(hint=(hint,))


def result_of_batches(batches: Batches) -> ReadResult:
    """Return the container for the rows of all batches."""
    return predictions_from_rows(Reader(batches, batches.columns, default_encoding()).read_all())


def result_of_trec(trec: _core.TrecColumns | TrecColumns, role: str, locate: Locate | None = None) -> ReadResult:
    """Return the container for TREC text."""
    note_column("query", None)  # whatever its columns are
    values = NumberColumn(trec.numbers)
    columns = LongColumns(
        [PackedColumn(trec.query_offsets, trec.queries)],
        ["query"],
        PackedColumn(trec.document_offsets, trec.documents),
        grades=values if role == "truth" else None,
        scores=values if role in _WITH_SCORES else None,
    )
    return _result_of_rows(rows_from_long_format(columns, role, Encoding(source=_SOURCE), locate), role)


def result_of_arrays(arrays: Mapping[str, NDArray[Any]], role: str) -> ReadResult:
    """Return the container for an archive: rows under exactk's argument names, or a SciPy matrix."""
    if "indices" in arrays:
        data, indices, indptr, shape = (arrays[name] for name in ("data", "indices", "indptr", "shape"))
        try:
            matrix = optional.csr_array(data, indices, indptr, shape.tolist())
        except ValueError as error:  # raised by SciPy for inconsistent parts
            raise input_error(role, "a matrix in CSR form", str(error)) from None
        return result_of_table(matrix, role, {})
    items, keys = encode_items(column_of_array(arrays["items"], f"{role}.items"), f"{role}.items", Encoding())
    scores = arrays.get("scores") if role in _WITH_SCORES else None
    grades = arrays.get("grades") if role == "truth" else None
    rows = Rows(
        offset_array(arrays["indptr"], f"{role}.indptr"),
        items,
        None if grades is None else number_array(grades, f"{role}.grades"),
        scores=scores,
        item_vocabulary=keys,
    )
    if "users" in arrays:
        rows = rows_by_user([column_of_array(arrays["users"], f"{role}.users")], ["users"], rows, role, Encoding())
    return _result_of_rows(rows, role)


def _result_of_rows(rows: Rows, role: str) -> ReadResult:
    if role == "truth":
        return Truth.from_rows(rows)
    if role in {"exclude", "candidates"}:
        return Exclusions.from_rows(rows._replace(present=None))
    return predictions_from_rows(rows, role)
