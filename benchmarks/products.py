"""How fast this machine multiplies factors: the floor under every exact evaluation of embeddings.

What would fool it: a product whose result goes to memory, which is slower than the multiplication; two
threads that share one product, and wait for each other; a tile that fits one cache and not another. So
each thread has its own tile, which stays in a cache, BLAS has one thread, and the fastest of some shapes
of a tile counts (``cpp/products.cpp``).
"""

from __future__ import annotations

import ctypes
from functools import cache, partial
from itertools import product
from pathlib import Path

from scipy.linalg import cython_blas
from threadpoolctl import ThreadpoolController

from benchmarks.factors import Vectors
from benchmarks.timing import seconds

LIBRARY = Path("build/release/libexactk_products.so")
SHAPES = tuple(product((128, 256, 512), (256, 512, 1024)))  # users x items of a tile
TRIED = 4_096, 32_768  # users and items with whom the shapes are tried

Shape = tuple[int, int]


def multiply(users: Vectors, items: Vectors, shape: Shape, threads: int) -> float:
    """Multiply the factors of all users and items in tiles; return the sum of the last products of the tiles."""
    assert users.flags.c_contiguous
    assert items.flags.c_contiguous
    assert users.dtype == items.dtype == "float32"
    assert users.shape[1] == items.shape[1]
    with _pools().limit(limits=1, user_api="blas"):
        total: float = _products_library(LIBRARY).exactk_products(
            _sgemm(), users.ctypes.data, len(users), items.ctypes.data, len(items), users.shape[1], *shape, threads
        )
    return total


def fastest_shape(users: Vectors, items: Vectors, threads: int) -> Shape:
    """Return the shape of tile with which the fewest seconds are spent, each tried twice."""
    some_users, some_items = users[: TRIED[0]], items[: TRIED[1]]

    def fewest_seconds(shape: Shape) -> float:
        return min(seconds(partial(multiply, some_users, some_items, shape, threads)) for _ in range(2))

    return min(SHAPES, key=fewest_seconds)


@cache
def _pools() -> ThreadpoolController:
    """Return the control of the threads of all BLAS that are loaded, which are looked for once."""
    return ThreadpoolController()


@cache
def _sgemm() -> int:
    """Return the address of SciPy's own BLAS."""
    capsule = cython_blas.__pyx_capi__["sgemm"]
    name, address = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.argtypes, name.restype = [ctypes.py_object], ctypes.c_char_p
    address.argtypes, address.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    pointer: int = address(capsule, name(capsule))
    return pointer


@cache
def _products_library(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path.absolute()))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    library.exactk_products.argtypes = [pointer, pointer, size, pointer, *[size] * 5]
    library.exactk_products.restype = ctypes.c_double
    return library
