"""Producers of the Arrow C stream interface that lie, made by hand: https://arrow.apache.org/docs/format/CDataInterface.html."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, cast, pointer, py_object
from typing import Any

Struct = Any


class ArrowSchema(Structure):
    """The type of a column."""


class ArrowArray(Structure):
    """The rows of a column."""


class ArrowArrayStream(Structure):
    """What makes batches of rows."""


SCHEMA_RELEASE = CFUNCTYPE(None, POINTER(ArrowSchema))
ARRAY_RELEASE = CFUNCTYPE(None, POINTER(ArrowArray))
STREAM_RELEASE = CFUNCTYPE(None, POINTER(ArrowArrayStream))
GET_SCHEMA = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))
GET_NEXT = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))
GET_LAST_ERROR = CFUNCTYPE(c_void_p, POINTER(ArrowArrayStream))

ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))), ("dictionary", POINTER(ArrowSchema)), ("release", SCHEMA_RELEASE),
    ("private_data", c_void_p),
]  # fmt: skip
ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
    ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)), ("release", ARRAY_RELEASE), ("private_data", c_void_p),
]  # fmt: skip
ArrowArrayStream._fields_ = [
    ("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", GET_LAST_ERROR), ("release", STREAM_RELEASE),
    ("private_data", c_void_p),
]  # fmt: skip


class Column:
    """A column as its two structs, which a test may change."""

    def __init__(
        self,
        format: str,  # noqa: A002 - Arrow's word
        buffers: Sequence[bytes | int | None],
        length: int,
        *,
        name: str = "",
        children: Sequence[Column] = (),
        dictionary: Column | None = None,
    ) -> None:
        self.children, self.dictionary = list(children), dictionary
        self.kept = [ctypes.create_string_buffer(data, len(data) + 16) for data in buffers if isinstance(data, bytes)]
        kept = iter(self.kept)
        addresses = [ctypes.addressof(next(kept)) if isinstance(data, bytes) else data for data in buffers]
        self.buffers = (c_void_p * max(1, len(buffers)))(*addresses)
        self.schema_children = (POINTER(ArrowSchema) * max(1, len(children)))(*(pointer(c.schema) for c in children))
        self.array_children = (POINTER(ArrowArray) * max(1, len(children)))(*(pointer(c.array) for c in children))
        schemas = cast(self.schema_children, POINTER(POINTER(ArrowSchema)))
        arrays = cast(self.array_children, POINTER(POINTER(ArrowArray)))
        sizes = {"length": length, "n_buffers": len(buffers), "n_children": len(children)}
        self.schema: Struct = ArrowSchema(format.encode(), name.encode(), n_children=len(children), children=schemas)
        self.array: Struct = ArrowArray(**sizes, buffers=cast(self.buffers, POINTER(c_void_p)), children=arrays)
        if dictionary is not None:
            self.schema.dictionary, self.array.dictionary = pointer(dictionary.schema), pointer(dictionary.array)


class Stream:
    """A data frame of one batch, or of several equal ones, that counts what is released."""

    def __init__(self, column: Column, batches: int = 1) -> None:
        self.column, self.batches = column, batches
        self.released: list[str] = []
        self.status = 0
        self.message: c_char_p | None = None
        self.stream: Struct = ArrowArrayStream(
            GET_SCHEMA(self._get_schema),
            GET_NEXT(self._get_next),
            GET_LAST_ERROR(self._get_last_error),
            STREAM_RELEASE(self._releaser("stream", STREAM_RELEASE)),
        )
        column.schema.release = SCHEMA_RELEASE(self._releaser("schema", SCHEMA_RELEASE))
        column.array.release = ARRAY_RELEASE(self._releaser("array", ARRAY_RELEASE))

    def _releaser(self, what: str, null: Any) -> Callable[[Any], None]:
        def release(struct: Any) -> None:
            self.released.append(what)
            struct.contents.release = null()

        return release

    def _get_last_error(self, _: object) -> int | None:
        return None if self.message is None else cast(self.message, c_void_p).value

    def _get_schema(self, _: object, schema: Any) -> int:
        if self.status == 0:
            ctypes.memmove(schema, pointer(self.column.schema), ctypes.sizeof(ArrowSchema))
        return self.status

    def _get_next(self, _: object, array: Any) -> int:
        if self.batches:
            self.batches -= 1
            ctypes.memmove(array, pointer(self.column.array), ctypes.sizeof(ArrowArray))
        else:
            array.contents.release = ARRAY_RELEASE()
        return self.status

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
        return new(ctypes.addressof(self.stream), b"arrow_array_stream", None)


def struct_of(*columns: Column, length: int) -> Column:
    """Return the rows of a frame of these columns."""
    return Column("+s", [None], length, children=columns)
