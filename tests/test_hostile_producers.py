"""Memory objects that lie: streams of Arrow, tensors of DLPack, arrays that differ each time they are asked for.

That buffers cannot shrink during a call is shown in `test_concurrency.py` (F21).

What no consumer can find out is left out: pointers to memory that is not there, buffers that are shorter than the
lengths beside them, a number of children or buffers beyond the arrays that hold them.
"""

from __future__ import annotations

import ctypes
import gc
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import exactk
from exactk import _core
from hostile_arrow import ArrowSchema, Column, Stream, struct_of

INT64 = struct.Struct("<3q").pack
INT32 = struct.Struct("<4i").pack


def users() -> Column:
    return Column("l", [None, INT64(1, 1, 2)], 3, name="user")


def items() -> Column:
    return Column("l", [None, INT64(5, 6, 7)], 3, name="item")


def texts(offsets: bytes = INT32(0, 1, 2, 3), data: bytes | None = b"abc", type_name: str = "u") -> Column:
    return Column(type_name, [None, offsets, data], 3, name="item")


def views(*, length: int = 13, buffer: int = 0, offset: int = 0, sizes: bytes | None = struct.pack("<q", 13)) -> Column:
    row = struct.pack("<i4sii", length, b"long", buffer, offset)
    return Column("vu", [None, row * 3, b"longer than 12", sizes], 3, name="item")


def categories(codes: bytes, type_name: str = "i", *, with_values: bool = True) -> Column:
    values = Column("u", [None, struct.pack("<3i", 0, 1, 2), b"xy"], 2) if with_values else None
    return Column(type_name, [None, codes], 3, name="item", dictionary=values)


def lists(offsets: bytes = INT32(0, 1, 2, 3), type_name: str = "+l") -> Column:
    return Column(type_name, [None, offsets], 3, name="item", children=[Column("l", [None, INT64(5, 6, 7)], 3)])


def frame(item: Column, change: Callable[[Column, Column], object] = lambda _root, _item: None) -> Stream:
    user = Column("l", [None, INT64(1, 2, 3)], 3, name="user") if item.schema.format.startswith(b"+") else users()
    root = struct_of(user, item, length=3)
    change(root, item)
    return Stream(root)


def put(struct_name: str, **fields: Any) -> Callable[[Column, Column], None]:
    """Return what writes into the schema or the array of the frame ("root_…") or of its column of items."""

    def change(root: Column, item: Column) -> None:
        owner, _, kind = struct_name.partition("_")
        for name, value in fields.items():
            setattr(getattr(root if owner == "root" else item, kind), name, value)

    return change


def drop_buffer(_root: Column, item: Column) -> None:
    item.buffers[1] = None


def misalign(_root: Column, item: Column) -> None:
    item.buffers[1] = (item.buffers[1] or 0) + 1


def drop_child(root: Column, _item: Column) -> None:
    root.array_children[0] = type(root.array_children[0])()


def drop_schema_child(root: Column, _item: Column) -> None:
    root.schema_children[1] = type(root.schema_children[1])()


def lead_back(root: Column, item: Column) -> None:
    """Make the type of the items a struct of itself."""
    item.schema_children[0] = ctypes.pointer(item.schema)
    item.schema.format, item.schema.n_children = b"+s", 1
    item.schema.children = ctypes.cast(item.schema_children, ctypes.POINTER(ctypes.POINTER(ArrowSchema)))
    assert root is not item


def both(*changes: Callable[[Column, Column], object]) -> Callable[[Column, Column], None]:
    def change(root: Column, item: Column) -> None:
        for each in changes:
            each(root, item)

    return change


HUGE = 2**62
BROKEN: dict[str, Callable[[], Stream]] = {
    "negative length of rows": lambda: frame(items(), put("root_array", length=-1)),
    "more rows than a column has": lambda: frame(items(), put("root_array", length=4)),
    "an offset beyond a column": lambda: frame(items(), put("root_array", offset=1)),
    "negative offset of rows": lambda: frame(items(), put("root_array", offset=-1)),
    "an offset at the end of numbers": lambda: frame(items(), put("root_array", offset=2**63 - 1)),
    "negative length of a column": lambda: frame(items(), put("item_array", length=-1)),
    "negative offset of a column": lambda: frame(items(), put("item_array", offset=-(2**63))),
    "length and offset that overflow": lambda: frame(items(), put("item_array", length=HUGE, offset=HUGE)),
    "a size that overflows": lambda: frame(items(), put("item_array", length=2**61)),
    "negative number of buffers": lambda: frame(items(), put("item_array", n_buffers=-1)),
    "one buffer of two": lambda: frame(items(), put("item_array", n_buffers=1)),
    "no array of buffers": lambda: frame(items(), put("item_array", buffers=None)),
    "no buffer of numbers": lambda: frame(items(), drop_buffer),
    "no buffer of offsets": lambda: frame(texts(), drop_buffer),
    "no buffer of views": lambda: frame(views(), drop_buffer),
    "no buffer of offsets of lists": lambda: frame(lists(), drop_buffer),
    "offsets at odd addresses": lambda: frame(texts(), misalign),
    "views at odd addresses": lambda: frame(views(), misalign),
    "fewer children than the schema": lambda: frame(items(), put("root_array", n_children=1)),
    "more children than the schema": lambda: frame(items(), put("root_array", n_children=3)),
    "a column without buffers": lambda: frame(items(), put("item_array", n_buffers=0)),
    "a column's offset at the end of numbers": lambda: frame(items(), put("item_array", offset=2**63 - 1)),
    "negative number of children": lambda: frame(items(), put("root_array", n_children=-1)),
    "negative number of fields": lambda: frame(items(), put("root_schema", n_children=-1)),
    "no array of children": lambda: frame(items(), put("root_array", children=None)),
    "no array of fields": lambda: frame(items(), put("root_schema", children=None)),
    "a null child": lambda: frame(items(), drop_child),
    "a null field": lambda: frame(items(), drop_schema_child),
    "a type that leads back to itself": lambda: frame(items(), lead_back),
    "more nulls than rows": lambda: frame(items(), put("item_array", null_count=4)),
    "less than an unknown number of nulls": lambda: frame(items(), put("item_array", null_count=-2)),
    "nulls without a bitmap": lambda: frame(items(), put("item_array", null_count=1)),
    "nulls of the frame without a bitmap": lambda: frame(items(), put("root_array", null_count=1)),
    "a dictionary of the schema alone": lambda: frame(categories(INT32(0, 1, 0, 0)), put("item_array", dictionary=None)),
    "a dictionary of the array alone": lambda: frame(categories(INT32(0, 1, 0, 0)), put("item_schema", dictionary=None)),
    "codes beyond the dictionary": lambda: frame(categories(INT32(0, 2, 0, 0))),
    "negative codes": lambda: frame(categories(INT32(0, -1, 0, 0))),
    "codes that are floats": lambda: frame(categories(struct.pack("<3d", 0, 1, 0), "g")),
    "codes that are strings": lambda: frame(categories(INT32(0, 1, 2, 3), "u")),
    "offsets that decrease": lambda: frame(texts(INT32(0, 2, 1, 3))),
    "negative offsets": lambda: frame(texts(INT32(-1, 1, 2, 3))),
    "a negative last offset": lambda: frame(texts(INT32(0, 1, 2, -3))),
    "strings without bytes": lambda: frame(texts(data=None)),
    "long offsets that decrease": lambda: frame(texts(struct.pack("<4q", 0, HUGE, 2, 3), b"abc", "U")),
    "a view of another buffer": lambda: frame(views(buffer=1)),
    "a view of a negative buffer": lambda: frame(views(buffer=-1)),
    "a view beyond its buffer": lambda: frame(views(offset=1)),
    "a view before its buffer": lambda: frame(views(offset=-1)),
    "a view of negative length": lambda: frame(views(length=-13)),
    "a view that is too long": lambda: frame(views(length=2**31 - 1)),
    "views without sizes": lambda: frame(views(sizes=None)),
    "views of negative sizes": lambda: frame(views(sizes=struct.pack("<q", -1))),
    "offsets of lists that decrease": lambda: frame(lists(INT32(0, 2, 1, 3))),
    "offsets of lists beyond the items": lambda: frame(lists(INT32(0, 1, 2, 4))),
    "negative offsets of lists": lambda: frame(lists(INT32(-1, 1, 2, 3))),
    "lists of a width beyond the items": lambda: frame(lists(type_name="+w:2")),
    "lists of a width that overflows": lambda: frame(lists(type_name="+w:4611686018427387904")),
    "lists of no width": lambda: frame(lists(type_name="+w:")),
    "lists of a negative width": lambda: frame(lists(type_name="+w:-1")),
    "strings of no width": lambda: frame(Column("w:", [None, b"abc"], 3, name="item")),
    "strings of a width that is no number": lambda: frame(Column("w:x", [None, b"abc"], 3, name="item")),
    "strings of a negative width": lambda: frame(Column("w:-1", [None, b"abc"], 3, name="item")),
    "strings of a width that overflows": lambda: frame(Column("w:9223372036854775807", [None, b"abc"], 3, name="item")),
    "no format": lambda: frame(items(), put("item_schema", format=None)),
    "an unknown format": lambda: frame(items(), put("item_schema", format=b"?")),
    "an empty format": lambda: frame(items(), put("item_schema", format=b"")),
    "lists without items": lambda: frame(items(), put("item_schema", format=b"+l")),
    "a column of nulls without end": lambda: frame(
        Column("n", [], 2**55, name="item"), both(put("item_array", null_count=2**55), put("root_array", length=3))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_f59_a_broken_stream_of_arrow_is_refused(name: str) -> None:
    """An error of ours; and what was taken over is released, once each."""
    stream = BROKEN[name]()
    with pytest.raises(exactk.ExactkError, match="expected") as caught:
        exactk.as_truth(stream)
    assert caught.value.argument is not None
    del caught
    gc.collect()
    assert sorted(stream.released) in (["array", "schema", "stream"], ["schema", "stream"])


SOUND: dict[str, tuple[Callable[[], Stream], list[list[int]]]] = {
    "numbers": (lambda: frame(items()), [[5, 6], [7]]),
    "strings": (lambda: frame(texts()), [[0, 1], [2]]),
    "views": (lambda: frame(views()), [[0, 0], [0]]),
    "categories": (lambda: frame(categories(INT32(1, 0, 1, 0))), [[0, 1], [0]]),
    "lists": (lambda: frame(lists()), [[5], [6], [7]]),
    "an unknown number of nulls": (lambda: frame(items(), put("item_array", null_count=-1)), [[5, 6], [7]]),
    "rows of a longer column": (lambda: frame(items(), put("root_array", length=2)), [[5, 6]]),
    "rows from the second on": (lambda: frame(items(), put("root_array", length=2, offset=1)), [[6], [7]]),
}


@pytest.mark.parametrize("name", SOUND)
def test_f59_the_same_producer_without_a_lie_is_read(name: str) -> None:
    """So that the lie, and nothing else, is what was refused above."""
    make, expected = SOUND[name]
    stream = make()
    truth = exactk.as_truth(stream)
    assert [row.tolist() for row in np.split(truth.items, truth.indptr[1:-1])] == expected
    del truth
    gc.collect()
    assert sorted(stream.released) == ["array", "schema", "stream"]


def test_f59_no_null_count_hides_the_nulls_of_the_bitmap() -> None:
    """Nor one of 0, nor one that the producer does not know."""
    for null_count in (0, -1):
        item = Column("l", [b"\x05", INT64(5, 6, 7)], 3, name="item")
        with pytest.raises(exactk.InputTypeError, match="1 null at row 1 of the frame"):
            exactk.as_truth(frame(item, put("item_array", null_count=null_count)))
    bitmap = Column("l", [b"\x07", INT64(5, 6, 7)], 3, name="item")
    assert exactk.as_truth(frame(bitmap, put("item_array", null_count=2))).items.tolist() == [5, 6, 7]


def test_f59_a_stream_is_read_once() -> None:
    """Taking it again is an error, not an empty table."""
    stream = frame(items())
    capsule = stream.__arrow_c_stream__()
    assert len(_core.ArrowTable(capsule, "truth").columns) == 2
    with pytest.raises(exactk.InputTypeError, match="a stream that was read before"):
        _core.ArrowTable(capsule, "truth")
    gc.collect()
    assert sorted(stream.released) == ["array", "schema", "stream"]


@pytest.mark.parametrize("message", [None, b"it broke", b"\xff\xfe"])
@pytest.mark.parametrize("has_last_error", [True, False])
def test_f59_a_stream_that_fails(message: bytes | None, has_last_error: bool) -> None:
    stream = frame(items())
    stream.status = 5
    stream.message = None if message is None else ctypes.c_char_p(message)
    if not has_last_error:
        stream.stream.get_last_error = type(stream.stream.get_last_error)()
    with pytest.raises((exactk.InputError, UnicodeDecodeError)) as caught:
        exactk.as_truth(stream)
    if message == b"it broke" and has_last_error:
        assert str(caught.value).startswith("truth: expected an Arrow stream that can be read, found it broke")
    assert "stream" in stream.released


@pytest.mark.parametrize("callback", ["get_schema", "get_next", "release"])
def test_f59_a_stream_without_a_callback(callback: str) -> None:
    stream = frame(items())
    setattr(stream.stream, callback, type(getattr(stream.stream, callback))())
    with pytest.raises(exactk.InputTypeError, match=r"truth: expected an (unread )?Arrow stream"):
        exactk.as_truth(stream)


def test_f59_a_stream_without_a_schema() -> None:
    stream = frame(items())
    stream.column.schema.release = type(stream.column.schema.release)()
    with pytest.raises(exactk.InputTypeError, match="a released schema"):
        exactk.as_truth(stream)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_f59_a_release_that_raises() -> None:
    """Nobody is there to be told; the rows are as they were."""
    stream = frame(items())

    def fail(_: object) -> None:
        raise RuntimeError

    stream.column.array.release = type(stream.column.array.release)(fail)
    assert exactk.as_truth(stream).items.tolist() == [5, 6, 7]


@pytest.mark.parametrize("value", [None, 1, "x", object(), np.zeros(1), pa.schema([]).__arrow_c_schema__()])
def test_f59_what_is_no_capsule(value: object) -> None:
    class Frame:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return value

    with pytest.raises((exactk.InputTypeError, TypeError)):
        exactk.as_truth(Frame())


def test_f59_lengths_beyond_two_to_the_31() -> None:
    """Of memory that is mostly holes: numbers, and the items of one list."""
    length = 2**31 + 7
    memory = np.zeros(length, np.int8)
    memory[-1] = 9
    address = memory.ctypes.data
    numbers = Column("c", [None, address], length, name="number")
    stream = Stream(struct_of(numbers, length=length))
    ((_, column),) = _core.ArrowTable(stream.__arrow_c_stream__(), "x").columns
    (array,) = column.values("x")
    assert (len(column), len(array), array[-1], column.nulls()) == (length, length, 9, (0, -1))
    offsets = struct.pack("<2q", 0, length)
    rows = Column("+L", [None, offsets], 1, name="items", children=[Column("c", [None, address], length)])
    other = Stream(struct_of(rows, length=1))
    ((_, column),) = _core.ArrowTable(other.__arrow_c_stream__(), "x").columns
    indptr, flat = column.lists("x")
    assert (indptr.tolist(), len(flat), flat.values("x")[0][-1]) == ([0, length], length, 9)


class DLTensor(ctypes.Structure):
    """An array as DLPack has it."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    )  # fmt: skip


class Tensor:
    """Six integers in two rows, unless a field says otherwise."""

    def __init__(self, name: bytes = b"dltensor", strides: tuple[int, ...] | None = None, **fields: Any) -> None:
        self.data = np.array([5, 6, 7, 8, 9, 4])
        self.shape = (ctypes.c_int64 * 2)(2, 3)
        self.strides = None if strides is None else (ctypes.c_int64 * 2)(*strides)
        sound: dict[str, Any] = {"data": self.data.ctypes.data, "device_type": 1, "ndim": 2, "code": 0, "bits": 64}
        self.tensor: Any = DLTensor(**(sound | {"lanes": 1, "shape": self.shape, "strides": self.strides} | fields))
        self.name = name
        self.capsule = self._capsule()

    def _capsule(self) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), self.name, None)

    def __dlpack__(self, **_: object) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.device_type, 0


@pytest.mark.parametrize("fields", [
    {"device_type": 2}, {"device_type": 10}, {"lanes": 4}, {"lanes": 0}, {"bits": 7}, {"bits": 128}, {"bits": 0},
    {"code": 99}, {"code": 4, "bits": 16}, {"code": 2}, {"ndim": 0}, {"ndim": 1}, {"name": b"used_dltensor"}, {"name": b"a capsule"},
])  # fmt: skip
def test_f59_a_tensor_of_dlpack_that_is_none_of_ids(fields: dict[str, Any]) -> None:
    with pytest.raises(exactk.ExactkError, match="truth"):
        exactk.as_truth(Tensor(**fields))


def test_f59_a_tensor_of_dlpack_is_read_as_its_strides_say() -> None:
    """Negative ones, too; and a capsule is used once."""
    tensor = Tensor()
    assert exactk.as_truth(tensor).items.tolist() == [5, 6, 7, 8, 9, 4]
    with pytest.raises(exactk.InputTypeError, match="truth"):
        exactk.as_truth(tensor)
    backwards = Tensor(strides=(-3, -1), byte_offset=40)
    assert exactk.as_truth(backwards).items.tolist() == [4, 9, 8, 7, 6, 5]
    assert exactk.as_truth(Tensor(strides=(0, 1))).items.tolist() == [5, 6, 7, 5, 6, 7]


class Changing:
    """An array of other elements, and another length, each time that somebody asks."""

    def __init__(self) -> None:
        self.calls = 0

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray[Any, Any]:
        self.calls += 1
        return np.arange(self.calls * 3)

    def __len__(self) -> int:
        self.calls += 1
        return self.calls

    def __iter__(self) -> Any:
        self.calls += 1
        return iter(range(self.calls))


class Absurd:
    """Describes memory that nobody has."""

    def __init__(self, **fields: Any) -> None:
        self.__array_interface__ = {"shape": (2**40,), "typestr": "<i8", "version": 3, "data": (0, True)} | fields


def test_f59_an_object_that_is_an_array_to_numpy_alone_is_refused() -> None:
    """Only arrays are taken for arrays, so nobody is asked twice."""
    for value in (Changing(), Absurd(), Absurd(shape=(-1,)), Absurd(typestr="?"), Absurd(data=None)):
        containers: list[Any] = [value, [value], {"u": value}]
        for container in containers:
            with pytest.raises(exactk.ExactkError):
                exactk.as_truth(container)


def test_f59_a_sequence_that_changes_while_it_is_read() -> None:
    """What was read is what counts: rows and items agree, whatever the length said."""

    class Shrinking(list[int]):
        def __iter__(self) -> Any:
            while self:
                yield self.pop()

    class Row(list[int]):
        def __len__(self) -> int:
            return 10**9

    rows = _core.integer_rows([Shrinking([1, 2, 3]), Row([4, 5])], None, "truth", "grades")
    assert (rows.indptr.tolist(), rows.items.tolist()) == ([0, 3, 5], [3, 2, 1, 4, 5])
    growing: list[Any] = [1]

    class Item(int):
        def __index__(self) -> int:
            growing.append(2)
            return 7

    growing.append(Item(7))
    rows = _core.integer_rows([growing], None, "truth", "grades")
    assert rows.indptr.tolist() == [0, len(rows.items)]


def raising(*_: object, **__: object) -> None:
    message = "no"
    raise LookupError(message)


def liar(**members: Any) -> Any:
    return type("Liar", (), members)()


LIARS: dict[str, Callable[[], Any]] = {
    "a stream that raises": lambda: liar(__arrow_c_stream__=raising),
    "a stream without an attribute": lambda: liar(__arrow_c_stream__=lambda self, _=None: self.nothing),
    "an integer as a stream": lambda: liar(__arrow_c_stream__=lambda _, __=None: 5),
    "no stream": lambda: liar(__arrow_c_stream__=lambda _, __=None: None),
    "a schema as a stream": lambda: liar(__arrow_c_stream__=lambda _, __=None: pa.int64().__arrow_c_schema__()),
    "a stream that cannot be called": lambda: liar(__arrow_c_stream__=5),
    "a frame that raises": lambda: liar(__arrow_c_stream__=raising, columns=["user", "item"], to_numpy=raising),
    "a series that raises": lambda: liar(__arrow_c_stream__=raising, to_numpy=raising),
    "a series that is none": lambda: liar(to_numpy=raising),
    "a tensor that raises": lambda: liar(__dlpack__=raising, __dlpack_device__=lambda _: (1, 0)),
    "a tensor without a device": lambda: liar(__dlpack__=raising),
    "an integer as a tensor": lambda: liar(__dlpack__=lambda _, **__: 5, __dlpack_device__=lambda _: (1, 0)),
    "a stream as a tensor": lambda: liar(
        __dlpack__=lambda _, **__: pa.table({"x": [1]}).__arrow_c_stream__(), __dlpack_device__=lambda _: (1, 0)
    ),
    "an array that raises": lambda: liar(__array__=raising),
    "a list as an array": lambda: liar(__array__=lambda *_, **__: [1, 2]),
    "an interface that is none": lambda: liar(__array_interface__=5),
    "an interface beyond its buffer": lambda: liar(
        __array_interface__={"version": 3, "shape": (10**6,), "typestr": "<i8", "data": b"123"}
    ),
    "a data frame that raises": lambda: liar(__dataframe__=raising),
}
DOORS: dict[str, Callable[[Any], object]] = {
    "truth": lambda lie: exactk.evaluate(lie, [[1], [2]], "mrr"),
    "predictions": lambda lie: exactk.evaluate([[1], [2]], lie, "mrr"),
    "rows": lambda lie: exactk.evaluate([[1], [2]], [lie, lie], "mrr"),
    "rows by user": lambda lie: exactk.evaluate({"a": [1]}, {"a": lie}, "mrr"),
    "exclude": lambda lie: exactk.evaluate([[1], [2]], [[1], [2]], "mrr", exclude=lie),
    "weights": lambda lie: exactk.evaluate([[1], [2]], [[1], [2]], "mrr", weights=lie),
    "groups": lambda lie: exactk.evaluate([[1], [2]], [[1], [2]], "mrr", groups=lie),
    "candidates": lambda lie: exactk.evaluate([[1], [2]], np.ones((2, 3)), "mrr", candidates=lie),
    "catalogue": exactk.Items,
    "values": lambda lie: exactk.Items([1, 2], values=lie),
    "users": lambda lie: exactk.Scores(np.ones((2, 2)), users=lie),
    "scores": exactk.Scores,
    "vectors": lambda lie: exactk.Embeddings(lie, np.ones((2, 2))),
    "topk": lambda lie: exactk.topk(lie, 1),
    "update": lambda lie: exactk.Evaluator("mrr").update([[1], [2]], lie),
}


@pytest.mark.parametrize("lie", LIARS)
def test_f95_an_object_that_lies_about_what_it_is_is_refused(lie: str) -> None:
    for name, door in DOORS.items():
        if (lie, name) == ("a series that raises", "candidates"):
            continue
        with pytest.raises(exactk.InputTypeError) as caught:
            door(LIARS[lie]())
        assert "\n" not in str(caught.value), name


def text_array(kind: str) -> Any:
    """Return the strings "a", b"\\xff\\xfe" and "c" of Arrow, which says that they are text."""
    if kind == "string_view":
        row = struct.Struct("<i12s").pack
        return pa.Array.from_buffers(
            pa.string_view(), 3, [None, pa.py_buffer(row(1, b"a") + row(2, b"\xff\xfe") + row(1, b"c"))]
        )
    is_large = kind == "large_string"
    offsets = pa.py_buffer(np.array([0, 1, 3, 4], np.int64 if is_large else np.int32).tobytes())
    array = pa.Array.from_buffers(
        pa.large_string() if is_large else pa.string(), 3, [None, offsets, pa.py_buffer(b"a\xff\xfec")]
    )
    return array if kind != "dictionary" else pa.DictionaryArray.from_arrays(pa.array([0, 2, 1], pa.int32()), array)


TEXT = pa.array(["a", "b", "c"])
NUMBERS = pa.array([0.5, 0.25, 0.125])
OF_TEXT = pa.table({"user": TEXT, "item": TEXT})
SCORED = pa.table({"user": TEXT, "item": TEXT, "score": NUMBERS})
WITH_TEXT: dict[str, Callable[[Any], object]] = {
    "predictions": lambda text: exactk.evaluate(OF_TEXT, pa.table({"user": TEXT, "item": text, "score": NUMBERS}), "mrr"),
    "users": lambda text: exactk.evaluate(OF_TEXT, pa.table({"user": text, "item": TEXT, "score": NUMBERS}), "mrr"),
    "truth": lambda text: exactk.evaluate(pa.table({"user": TEXT, "item": text}), SCORED, "mrr"),
    "exclude": lambda text: exactk.evaluate(OF_TEXT, SCORED, "mrr", exclude=pa.table({"user": TEXT, "item": text})),
    "groups": lambda text: exactk.evaluate(OF_TEXT, SCORED, "mrr", groups=pa.table({"user": TEXT, "group": text})),
    "weights": lambda text: exactk.evaluate(OF_TEXT, SCORED, "mrr", weights=pa.table({"user": text, "weight": NUMBERS})),
    "lists": lambda text: exactk.as_predictions(pa.table({"user": TEXT[:1], "item": pa.ListArray.from_arrays([0, 3], text)})),
    "values": lambda text: exactk.Items(TEXT, values=pa.table({"item": text, "value": NUMBERS})),
    "train": lambda text: exactk.Items(train=pa.table({"user": TEXT, "item": text})),
    "pandas": lambda text: exactk.as_truth(pd.DataFrame({"user": [1, 2, 3], "item": pd.arrays.ArrowExtensionArray(text)})),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_f95_text_of_arrow_that_is_not_utf_8_is_refused_where_it_is(kind: str) -> None:
    at = 2 if kind == "dictionary" else 1
    for name, call in WITH_TEXT.items():
        if (kind, name) == ("string_view", "pandas"):
            continue  # which has no such type
        where = f"row 0 of the frame, position {at}" if name == "lists" else f"(position|row) {at}"
        with pytest.raises(exactk.InputError, match=rf"\w+: expected UTF-8, found invalid bytes at {where}"):
            call(text_array(kind))
    for call in (exactk.Items, lambda text: exactk.Scores(np.eye(3), users=text)):
        with pytest.raises(exactk.InputError, match=r"expected UTF-8, found invalid bytes \(b'\\xff\\xfe'\)"):
            call(text_array(kind))
    table = pa.table({"user": TEXT, "item": pa.array([b"a", b"\xff\xfe", b"c"])})
    assert len(exactk.as_truth(table)) == 3  # bytes are bytes
