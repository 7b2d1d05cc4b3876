"""Conversions of arrays to the few forms that the core takes: lossless, or an error."""

from __future__ import annotations

import math
from contextlib import contextmanager
from itertools import repeat
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk import _core
from exactk._runtime.errors import ExactkError, input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, DTypeLike, NDArray

Ids: TypeAlias = "NDArray[np.integer[Any]]"
Offsets: TypeAlias = "NDArray[np.int64]"
Codes: TypeAlias = "NDArray[np.uint32]"

_PART = 1 << 19  # elements
_MOST_BYTES = 20  # of text in a message
_MOST_TYPES = 3  # in a message
_DTYPE_NOUNS = {"O": "objects", "S": "bytes", "T": "strings", "U": "strings"}
_ID_DTYPES = {np.dtype(name): np.dtype(name) for name in ("int32", "int64", "uint32", "uint64")} | {
    np.dtype(name): np.dtype(np.int32) for name in ("int8", "int16", "uint8", "uint16")
}


@contextmanager
def asking(argument: str, expected: str) -> Iterator[None]:
    """Turn what another library's object raises instead of an answer into InputTypeError, or InputError for its text."""
    try:
        yield
    except (ExactkError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise input_error(argument, "UTF-8", f"invalid bytes ({error.object[:_MOST_BYTES]!r})") from error
    except Exception as error:
        found = f"an object that raises {type(error).__name__}: {error}"
        raise type_error(argument, expected, found) from error


def arrow_table(value: Any, argument: str) -> _core.ArrowTable:  # noqa: ANN401 - of any library
    """Return the columns of an object with a stream of Arrow."""
    with asking(argument, "a stream of Arrow"):
        stream = value.__arrow_c_stream__()
        if type(stream).__name__ != "PyCapsule":
            raise type_error(argument, "a stream of Arrow in a capsule", type(stream).__name__)
        return _core.ArrowTable(stream, argument)


def import_dlpack(value: object, argument: str) -> object:
    """Return another library's array as a NumPy array, zero-copy by DLPack; return other values unchanged.

    NumPy lacks bfloat16, which float32 holds exactly.
    """
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return value
    try:
        if str(getattr(value, "dtype", "")) in {"bfloat16", "torch.bfloat16"}:
            value = value.float() if hasattr(value, "float") else value.astype("float32")  # type: ignore[attr-defined]
        return np.from_dlpack(value)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the other library raises
        found, hint = _describe_tensor(value, argument, error)
        raise type_error(argument, "an array in CPU memory, of a type that NumPy supports", found, hint=hint) from None


def _describe_tensor(tensor: object, argument: str, error: Exception) -> tuple[str, str]:
    """Return why a tensor cannot be read, and how to convert it."""
    name, layout, device = type(tensor).__name__, str(getattr(tensor, "layout", "")), str(getattr(tensor, "device", ""))
    if "sparse" in layout:
        return f"{name} of layout {layout}", f"{argument}={argument}.to_dense()"
    if device == "meta":
        return f"{name} on device meta, which holds no values", ""
    if device and not device.lower().startswith("cpu") and hasattr(tensor, "cpu"):
        return f"{name} on device {device}", f"{argument}={argument}.cpu()"
    if getattr(tensor, "requires_grad", False):
        return f"{name} that requires gradients", f"{argument}={argument}.detach()"
    dtype = str(getattr(tensor, "dtype", "")).removeprefix("torch.")
    if "float" in dtype:  # a type that NumPy lacks
        way = "float()" if hasattr(tensor, "float") else "astype('float32')"
        return f"{name} ({dtype})", f"{argument}={argument}.{way}"
    return f"{name} ({error})", ""


def as_ndarray(value: object, argument: str) -> NDArray[Any]:
    """Return a base-class array of the value. Lists are accepted; masked arrays and matrices are not."""
    if not isinstance(value, np.ndarray):
        value = import_dlpack(value, argument)
    if isinstance(value, np.ndarray):
        # A memory map is an array like any other; the other subclasses mean something by their type.
        if type(value) not in {np.ndarray, np.memmap}:
            raise type_error(argument, "a plain NumPy array", f"numpy.{type(value).__name__}")
        return value.view(np.ndarray)
    if not isinstance(value, (list, tuple, range)):
        method = next((name for name in ("to_numpy", "toarray") if hasattr(value, name)), None)
        hint = "" if method is None else f".{method}() makes one"
        raise type_error(argument, "a NumPy array", type(value).__name__, hint=hint)
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise input_error(argument, "a rectangular array of numbers", f"values that NumPy rejects ({error})") from None
    return array if array.size else array.astype(np.int64)


def entries_of(mapping: Mapping[Any, Any], argument: str) -> dict[Any, Any]:
    """Return the entries of a moment: other threads may change the mapping afterwards. Raise InputError if one does so now."""
    try:
        return dict(mapping)
    except (RuntimeError, KeyError, IndexError) as error:
        raise input_error(argument, "a mapping that nothing changes while it is read", repr(error)) from error


def describe_dtype(array: NDArray[Any]) -> str:
    """Return the dtype, a noun for text, or the types of objects; NaN is the likely cause of floats among integers."""
    if array.dtype.kind == "O" and array.size:
        names = sorted({type(value).__name__ for value in array.flat})
        kinds = " and ".join(names if len(names) <= _MOST_TYPES else [*names[:_MOST_TYPES], "others"])
        return f"objects of type {kinds}"
    if array.dtype.kind == "f" and (holes := int(np.isnan(array).sum())):
        return f"{array.dtype} with {holes} NaN"
    return _DTYPE_NOUNS.get(array.dtype.kind) or str(array.dtype)


def parts(array: NDArray[Any], axis: int = 0) -> Iterator[slice]:
    """Yield slices along an axis, each of which NumPy copies in some milliseconds.

    Python runs the handlers of signals between two steps of a loop, but not inside of NumPy.
    """
    step = max(1, _PART * array.shape[axis] // max(1, array.size))
    for begin in range(0, array.shape[axis], step):
        yield slice(begin, begin + step)


def parts_of_rows(indptr: NDArray[np.integer[Any]]) -> Iterator[slice]:
    """Yield slices of rows with as many items, of rows with these offsets."""
    rows = len(indptr) - 1
    step = max(1, _PART * rows // max(1, int(indptr[-1])))
    for begin in range(0, rows, step):
        yield slice(begin, min(begin + step, rows))


def converted(array: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Return a contiguous copy in a type, which Ctrl-C can interrupt."""
    if array.size <= _PART:
        return array.astype(dtype, order="C")
    copy: NDArray[Any] = np.empty(array.shape, dtype)
    axis = 0 if array.size <= _PART * len(array) else int(np.argmax(array.shape))
    for part in parts(array, axis):
        where = (slice(None),) * axis + (part,)
        copy[where] = array[where]
    return copy


def elements_at(array: NDArray[Any], positions: NDArray[Any]) -> NDArray[Any]:
    """Return the elements at the positions, which Ctrl-C can interrupt."""
    elements: NDArray[Any] = np.empty(len(positions), array.dtype)
    for part in parts(positions):
        elements[part] = array[positions[part]]
    return elements


def offsets_of(sizes: ArrayLike) -> Offsets:
    """Return the offsets of rows with these sizes."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def flat_positions(starts: NDArray[Any], sizes: NDArray[Any]) -> tuple[Offsets, NDArray[np.int64]]:
    """Return the offsets of rows with these sizes, and the position of each of their elements where rows begin at `starts`."""
    offsets = offsets_of(sizes)
    return offsets, np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)


def row_at(indptr: NDArray[np.integer[Any]], offset: int) -> tuple[int, int]:
    """Return the row that has the element at an offset, and its position in the row."""
    row = int(np.searchsorted(indptr, offset, side="right")) - 1
    return row, offset - int(indptr[row])


def first_and_count(flags: NDArray[np.bool_]) -> tuple[int, int]:
    """Return where the first True is, and how many there are."""
    return int(np.argmax(flags)), int(flags.sum())


def positions_in(ascending: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of each value among ascending ones; -1 for none."""
    if not len(ascending):
        return np.full(len(values), -1, np.int64)
    slots = np.searchsorted(ascending, values)
    return np.where(ascending.take(slots, mode="clip") == values, slots, -1)


def first_repeat(values: NDArray[Any]) -> tuple[int, int] | None:
    """Return the position of the first value that repeats an earlier one, and how many do; None if all are distinct."""
    firsts = np.unique(values, return_index=True)[1]
    if len(firsts) == len(values):
        return None
    repeats = np.ones(len(values), np.bool_)
    repeats[firsts] = False
    return first_and_count(repeats)


def _as_contiguous(
    array: NDArray[Any], dtype: np.dtype[Any], argument: str, dimensions: int, row: int | None = None
) -> NDArray[Any]:
    """Return the array itself if the core can read it in place, or an exact copy; raise if it has other dimensions."""
    if array.ndim != dimensions:
        raise _dimensions_error(array, argument, dimensions, row)
    flags = array.flags
    return array if array.dtype == dtype and flags.c_contiguous and flags.aligned else converted(array, dtype)


def _as_native(array: NDArray[Any], argument: str, dimensions: int) -> NDArray[Any]:
    """Return the array itself, with any strides, if it is aligned and in native byte order, or a copy."""
    if array.ndim != dimensions:
        raise _dimensions_error(array, argument, dimensions)
    return array if array.dtype.isnative and array.flags.aligned else converted(array, array.dtype.newbyteorder("="))


def id_array(value: object, argument: str, *, dimensions: int = 1, row: int | None = None) -> Ids:
    """Return item ids as int32, int64, uint32 or uint64, contiguous, in native byte order."""
    array = as_ndarray(value, argument)
    if array.dtype.kind not in "iu":
        raise type_error(argument, "integer ids", describe_dtype(array), row=row)
    return _as_contiguous(array, _ID_DTYPES[array.dtype.newbyteorder("=")], argument, dimensions, row)


def offset_array(value: object, argument: str) -> Offsets:
    """Return offsets as int64."""
    array = as_ndarray(value, argument)
    if array.dtype.kind not in "iu":
        raise type_error(argument, "integer offsets", describe_dtype(array))
    offsets = _as_contiguous(array, np.dtype(np.int64), argument, 1)
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        position = int(np.argmax(array > np.iinfo(np.int64).max))
        raise input_error(argument, "offsets below 2^63", str(array[position]), position=position)
    return offsets


def number_array(value: object, argument: str, *, dimensions: int = 1) -> NDArray[np.float64]:
    """Return numbers as float64; raise if any would be rounded."""
    array = as_ndarray(value, argument)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise type_error(argument, "integers or floats of at most 64 bits", describe_dtype(array))
    numbers = _as_contiguous(array, np.dtype(np.float64), argument, dimensions)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        _check_exact_integers(array, argument)
    return numbers


def score_array(value: object, argument: str, *, dimensions: int = 2) -> NDArray[Any]:
    """Return scores in their own type: the array itself, with any strides, if the core can read it."""
    array = as_ndarray(value, argument)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise type_error(argument, "integer or float scores of at most 64 bits", describe_dtype(array))
    return _as_native(array, argument, dimensions)


def vector_array(value: object, argument: str) -> NDArray[Any]:
    """Return vectors in their own type with contiguous rows: the array itself, if the core can read it."""
    return _float_array(value, argument, 2)


def bias_array(value: object, argument: str) -> NDArray[Any]:
    """Return one number per item in its own type, with any strides."""
    return _float_array(value, argument, 1)


def _float_array(value: object, argument: str, dimensions: int) -> NDArray[Any]:
    array = as_ndarray(value, argument)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise type_error(argument, "float16, float32 or float64", describe_dtype(array))
    array = _as_native(array, argument, dimensions)
    is_contiguous = dimensions == 1 or array.shape[1] <= 1 or array.strides[1] == array.itemsize
    return array if is_contiguous else converted(array, array.dtype)


def exact_float(number: Any) -> float | None:  # noqa: ANN401 - any real number
    """Return the number as a float; None if that rounds it."""
    try:
        exact = float(number)
    except OverflowError:
        return None
    return exact if exact == number or math.isnan(exact) else None


def _check_exact_integers(array: NDArray[Any], argument: str) -> None:
    inexact = (array > 2**53) | (array < -(2**53) if array.dtype.kind == "i" else np.False_)
    if inexact.any():
        *rows, position = map(int, np.unravel_index(np.argmax(inexact), array.shape))
        found, count = str(array[(*rows, position)]), int(inexact.sum())
        row = rows[0] if rows else None
        raise input_error(argument, "integers from -2^53 to 2^53", found, row=row, position=position, count=count)


def flag_array(value: object, argument: str, *, dimensions: int = 1) -> NDArray[np.bool_]:
    """Return flags as bool."""
    array = as_ndarray(value, argument)
    if array.dtype.kind != "b" and array.size:
        raise type_error(argument, "bool", describe_dtype(array))
    return _as_contiguous(array, np.dtype(np.bool_), argument, dimensions)


def key_array(value: object, argument: str, size: int | None = None, *, hint: str = "") -> NDArray[Any]:
    """Return a copy of the keys of users or groups: all integers or all strings."""
    if isinstance(value, (list, tuple)):  # NumPy would convert 1 to "1" in a list with strings
        kinds = {str if issubclass(kind, str) else kind for kind in set(map(type, value))}
        if not (kinds <= {str} or (bool not in kinds and all(issubclass(kind, Integral) for kind in kinds))):
            found = " and ".join(sorted(kind.__name__ for kind in kinds))
            raise type_error(argument, "integers or strings", found, hint=hint)
        if kinds == {str} and any(map(str.endswith, value, repeat("\0"))):
            raise input_error(argument, "strings without NUL at the end, which NumPy drops", "NUL")
    array = as_ndarray(value, argument)
    if array.dtype.kind not in "iuU" and array.size:
        raise type_error(argument, "integers or strings", describe_dtype(array), hint=hint)
    if array.ndim != 1:
        raise _dimensions_error(array, argument, 1)
    if size is not None and len(array) != size:
        raise input_error(argument, f"one key per user ({size})", str(len(array)))
    return converted(array, array.dtype)


def _dimensions_error(array: NDArray[Any], argument: str, dimensions: int, row: int | None = None) -> Exception:
    expected = "a one-dimensional array" if dimensions == 1 else "a two-dimensional array"
    return type_error(argument, expected, f"shape {array.shape}", row=row)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view
