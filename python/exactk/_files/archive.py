"""NumPy's .npz: rows in CSR form under the names of the arguments of `exactk.Truth` and its like.

Nothing in it is run: arrays of objects are refused, and sizes are compared before there is memory for them.
"""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._files.faults import File

# Whether each array must be there.
_EXACTK_ARRAYS = {"indptr": True, "items": True, "grades": False, "scores": False, "users": False}
_SCIPY_ARRAYS = dict.fromkeys(("indptr", "indices", "data", "shape"), True)  # of a matrix in CSR form
_READ_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, OverflowError)


def read_arrays(file: File) -> dict[str, NDArray[Any]]:
    """Return the arrays of the names that are ours, or those of scipy.sparse.save_npz."""
    with file.translate_errors("an archive of NumPy arrays", *_READ_ERRORS), zipfile.ZipFile(file.path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if "format" in members and _read_array(archive, members["format"]).tolist() != b"csr":
            raise file.fault("a matrix in CSR form", "another")
        names = _SCIPY_ARRAYS if "format" in members else _EXACTK_ARRAYS
        missing = [name for name, needed in names.items() if needed and name not in members]
        if missing:
            raise file.fault(f"an array {missing[0]}", f"those named {', '.join(members) or 'nothing'}")
        selected = {name: members[name] for name in names if name in members}
        _check_memory(sum(member.file_size for member in selected.values()))
        arrays = {name: _read_array(archive, member) for name, member in selected.items()}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise file.fault(f"one dimension of {name}", str(array.ndim))
    return arrays


def _check_memory(size: int) -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > memory:
        raise ValueError(f"{size} bytes once decompressed, more than the memory of {memory}")


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(stream)
        if dtype.hasobject:
            raise ValueError(f"objects under the name {member.filename}")
        if stream.tell() + math.prod(shape) * dtype.itemsize != member.file_size:
            raise ValueError(f"another size than it says under the name {member.filename}")
    with archive.open(member) as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return array
