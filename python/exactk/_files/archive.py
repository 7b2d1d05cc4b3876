"""NumPy's .npz archives: rows in CSR form, in arrays named as the arguments of `exactk.Truth` and its like.

No code in an archive is run: object arrays are refused. Headers, types, shapes and sizes are checked before memory is
allocated, and the arrays against each other before rows are built.
"""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._core import memory_limit
from exactk._inputs.keys.column_roles import usual_role
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import Name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from exactk._files.file_errors import File

# Whether each array is required.
_EXACTK_ARRAYS = {"indptr": True, "items": True, "grades": False, "scores": False, "users": False}
_VALUES = {"truth": "grades", "predictions": "scores", "scores": "scores"}
_SCIPY_ARRAYS = dict.fromkeys(("indptr", "indices", "data", "shape"), True)  # arrays of a CSR matrix
_INTEGER_ARRAYS = ("indptr", "indices", "shape")
_READ_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, OverflowError)
_HEADER_ERRORS = (TypeError, KeyError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError)
_COMPRESSIONS = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: 1032}  # maximum bytes per compressed byte
_MAX_RATIO = 200  # of archives larger than the next constant; real data compresses less
_CHECKED_SIZE = 1 << 30  # bytes, decompressed
_FORMAT_SIZE = 64  # bytes, more than any format name


class _Header(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def read_arrays(file: File) -> dict[str, NDArray[Any]]:
    """Return the arrays under exactk's names, or those of scipy.sparse.save_npz."""
    with file.translate_errors("an archive of NumPy arrays", *_READ_ERRORS), zipfile.ZipFile(file.path) as archive:
        members = _members(archive)
        is_matrix = "format" in members
        if is_matrix and _read_format(archive, members["format"]) not in {b"csr", "csr"}:
            raise file.fault("a matrix in CSR form", "another format")
        names = _SCIPY_ARRAYS if is_matrix else _EXACTK_ARRAYS
        missing = [name for name, needed in names.items() if needed and name not in members]
        if missing:
            found = Name(f"arrays {', '.join(members)}" if members else "none")
            raise file.fault(Name(f"an array {missing[0]}"), found)
        if not is_matrix and (odd := next((name for name in members if name not in names and usual_role(name)), "")):
            raise file.fault(Name(f"arrays {', '.join(names)}"), Name(f"an array {odd}"))
        values = _VALUES.get(file.role)
        if values and not is_matrix and values not in members and (others := set(_VALUES.values()) & {*members}):
            raise file.fault(f"{values}, or items alone", f"{others.pop()}, as of another argument")
        selected = {name: members[name] for name in names if name in members}
        _check_sizes(selected)
        headers = {name: _read_header(archive, member) for name, member in selected.items()}
        _check_headers(headers, file)
        arrays = {name: _read_array(archive, member) for name, member in selected.items()}
    _check_rows(arrays, file.role)
    return arrays


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the archive members by array name."""
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) != len(archive.infolist()):
        raise ValueError("two arrays of one name")
    for name, member in members.items():
        if member.file_size > _COMPRESSIONS.get(member.compress_type, 0) * member.compress_size:
            raise ValueError(f"an impossible size or an unusual compression of {name}")
    return members


def _check_sizes(members: Mapping[str, zipfile.ZipInfo]) -> None:
    size = sum(member.file_size for member in members.values())
    compressed = sum(member.compress_size for member in members.values())
    if size > memory_limit():
        raise ValueError(f"{size} bytes once decompressed, more than the memory of {memory_limit():.0f}")
    if size > max(_CHECKED_SIZE, _MAX_RATIO * compressed):
        raise ValueError(f"{size} bytes in {compressed}; if that is intended, numpy.savez writes them uncompressed")


def _read_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> _Header:
    """Return the shape and type of an array, after checking its whole header."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        try:
            shape, _, dtype = read(stream)
        except _HEADER_ERRORS as error:
            raise ValueError(f"an unreadable header of {member.filename}") from error
        header_size = stream.tell()
    if dtype.hasobject:
        raise ValueError(f"objects in {member.filename}")
    if dtype.itemsize == 0 or dtype.fields is not None or dtype.subdtype is not None:
        raise ValueError(f"the type {dtype} of {member.filename}")
    if any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"the shape {shape} of {member.filename}")
    if header_size + math.prod(shape) * dtype.itemsize != member.file_size:
        raise ValueError(f"a size that differs from the header of {member.filename}")
    return _Header(shape, dtype)


def _check_headers(headers: Mapping[str, _Header], file: File) -> None:
    for name, (shape, dtype) in headers.items():
        if len(shape) != 1:
            raise file.fault(Name(f"one dimension of {name}"), str(len(shape)))
        if name in _INTEGER_ARRAYS and dtype.kind not in "iu":
            raise type_error(f"{file.role}.{name}", "integers", str(dtype))
    lengths = {name: header.shape[0] for name, header in headers.items()}
    if "shape" in lengths and lengths["shape"] != 2:
        raise file.fault("a matrix in CSR form, of two dimensions", str(lengths["shape"]))
    if lengths["indptr"] == 0:
        raise file.fault("an offset in indptr", "none")


def _read_format(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> object:
    header = _read_header(archive, member)
    if header.shape != () or header.dtype.itemsize > _FORMAT_SIZE:
        return None
    return _read_array(archive, member).tolist()


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return array


def _check_rows(arrays: Mapping[str, NDArray[Any]], role: str) -> None:
    """Raise InputError unless offsets and ids are valid, because predictions are evaluated later."""
    indptr = arrays["indptr"]
    name = "indices" if "indices" in arrays else "items"
    items = arrays[name]
    if indptr[0] != 0:
        raise input_error(f"{role}.indptr", "0 as the first offset", str(indptr[0]), position=0)
    falls = np.flatnonzero(indptr[1:] < indptr[:-1]) + 1
    if len(falls):
        position = int(falls[0])
        raise input_error(
            f"{role}.indptr", "offsets that do not decrease", str(indptr[position]), position=position, count=len(falls)
        )
    end = int(indptr[-1])
    if end > len(items) or (end < len(items) and name == "items"):  # a matrix may have room for more
        expected = Name(f"indptr to end at the number of {name}, {len(items)}")
        raise input_error(role, expected, str(end), position=len(indptr) - 1)
    negative = np.flatnonzero(items[:end] < 0) if items.dtype.kind == "i" else np.zeros(0, np.int64)
    if len(negative):
        offset = int(negative[0])
        row = int(np.searchsorted(indptr, offset, side="right")) - 1
        position = offset - int(indptr[row])
        found = str(items[offset])
        raise input_error(
            f"{role}.{name}", "item ids in [0, 2^63)", found, row=row, position=position, count=len(negative)
        )
