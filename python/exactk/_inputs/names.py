"""The names of users and items as the caller has them, numbered; everything after works on the numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk import _core
from exactk._errors import input_error, type_error
from exactk._inputs.checks import id_array, read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._errors import ExactkError
    from exactk._inputs.columns import Column

Numbers: TypeAlias = "NDArray[np.uint32]"
Packed: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.uint8]]"

_SHIFT, _LOW = np.uint64(32), np.uint64(2**32 - 1)  # a pair of numbers as one integer


OF_ANOTHER_KIND = (
    "none of one kind is any of another: convert one side, as by .astype(str); "
    "ids in TREC files are str, and with text_ids (--text-ids) integers in other files are too"
)


@dataclass(frozen=True, eq=False)
class Names:
    """Distinct names, in the order in which they came. One of several columns is numbered part by part.

    Of these parts, the numbers of the first two make a pair, which has a number; that and the number of the third
    make another, and so on.
    """

    kinds: tuple[str, ...]  # of the parts: int, str or bytes
    labels: tuple[str, ...]  # what the parts are called, if there are several
    parts: tuple[_core.Keys, ...]
    pairs: tuple[_core.Keys, ...]  # one less than parts
    base: Names | None = None
    _places: dict[int, Numbers] = field(default_factory=dict, repr=False)

    @classmethod
    def of_kinds(cls, kinds: Sequence[str], labels: Sequence[str] = ()) -> Names:
        """Return names of so many parts, none of them yet."""
        parts = tuple(_core.Keys(kind == "int") for kind in kinds)
        pairs = tuple(_core.Keys(True) for _ in parts[1:])  # noqa: FBT003 - of integers
        return cls(tuple(kinds), tuple(labels), parts, pairs)

    def extended(self) -> Names:
        """Return names that go on after these, which stay as they are."""
        parts = tuple(part.extended() for part in self.parts)
        return Names(self.kinds, self.labels, parts, tuple(pair.extended() for pair in self.pairs), self)

    def goes_on_from(self, other: Names | None) -> bool:
        """Return whether the first of these names are the others."""
        own: Names | None = self
        while own is not None and own is not other:
            own = own.base
        return own is not None

    def __len__(self) -> int:
        return len(self.pairs[-1] if self.pairs else self.parts[0])

    def number(self, columns: Sequence[Column], argument: str, threads: int = 1) -> Numbers:
        """Return the number of each row's name; names that are not known get new ones."""
        self.check_kinds([column.kind for column in columns], argument)
        numbers = [column.number(part, argument, threads) for column, part in zip(columns, self.parts, strict=True)]
        return self._paired(numbers, argument)

    def adopt(self, others: Names, argument: str) -> Numbers:
        """Return the number of each of the other names; those that are not known get new ones."""
        self.check_kinds(others.kinds, argument)
        numbers = [part.adopt(other, argument) for part, other in zip(self.parts, others.parts, strict=True)]
        return self._paired([own[one] for own, one in zip(numbers, others.by_part, strict=True)], argument)

    def _paired(self, numbers: list[Numbers], argument: str) -> Numbers:
        whole = numbers[0]
        for keys, own in zip(self.pairs, numbers[1:], strict=True):
            whole = keys.number_integers((whole.astype(np.uint64) << _SHIFT) | own, 1, argument)
        return whole

    def check_kinds(self, kinds: Sequence[str], argument: str) -> None:
        """Raise InputTypeError unless names of these kinds could be among those here."""
        if tuple(kinds) != self.kinds:
            raise type_error(argument, f"keys that are {_listed(self.kinds)}", _listed(kinds), hint=OF_ANOTHER_KIND)

    @property
    def by_part(self) -> list[Numbers]:
        """For each part, which of its names each name has."""
        split: list[Numbers] = []
        whole = np.arange(len(self), dtype=np.uint32)
        for keys in reversed(self.pairs):
            both = keys.as_integers().view(np.uint64)[whole]
            split.insert(0, (both & _LOW).astype(np.uint32))
            whole = (both >> _SHIFT).astype(np.uint32)
        return [whole, *split]

    @cached_property
    def array(self) -> NDArray[Any]:
        """The names: integers or strings, bytes as objects; those of several parts as a structured array."""
        parts = [_array(part, kind) for part, kind in zip(self.parts, self.kinds, strict=True)]
        if not self.pairs:
            return read_only(parts[0])
        dtype = [(label, part.dtype) for label, part in zip(self.labels, parts, strict=True)]
        whole = np.empty(len(self), dtype)
        for label, part, numbers in zip(self.labels, parts, self.by_part, strict=True):
            whole[label] = part[numbers]
        return read_only(whole)

    def shown(self, number: int) -> str:
        """Return a name as a message has it."""
        name = self.array[number]
        return repr(name.item() if isinstance(name, np.generic) else name)

    def blamed(self, error: ExactkError, numbers: Numbers | None = None) -> ExactkError:
        """Return the error with the name of the user whose row is at fault; of some users, by the numbers of theirs."""
        if error.row is None:
            return error
        message = f"{error} (user {self.shown(error.row if numbers is None else int(numbers[error.row]))})"
        return type(error)(message, error.argument, error.row, error.position, error.count)

    def places_in_order(self) -> Numbers:
        """Return the place of each name among all of them in ascending order; there is one part."""
        if len(self) not in self._places:  # names may have come since
            self._places.clear()
            self._places[len(self)] = self.parts[0].places_in_order()
        return self._places[len(self)]

    def __reduce__(self) -> tuple[Any, ...]:
        parts = [_content(part) for part in self.parts]
        return (_loaded, (self.kinds, self.labels, parts, [pair.as_integers() for pair in self.pairs]))


def names_of(array: NDArray[Any], argument: str) -> Names:
    """Return the labels of rows as names: integers or strings, none of them twice."""
    names = Names.of_kinds(["int" if array.dtype.kind in "iu" else "str"])
    key = names.parts[0]
    if array.dtype.kind in "iu":
        numbers = key.number_integers(id_array(array, argument), 1, argument)
    else:
        numbers = _core.number_texts(key, array.tolist(), as_bytes=False, argument=argument)
    if len(names) < len(array):
        twice = int(np.argmax(numbers != np.arange(len(array))))
        raise input_error(argument, "keys that differ", f"{array[twice].item()!r} twice", position=twice)
    return names


def _listed(kinds: Sequence[str]) -> str:
    return " and ".join(kinds)


def _array(keys: _core.Keys, kind: str) -> NDArray[Any]:
    if kind == "int":
        return keys.as_integers()
    offsets, data = keys.as_packed()
    whole, ends = data.tobytes(), offsets.tolist()
    cut = [whole[begin:end] for begin, end in pairwise(ends)]
    if kind == "bytes":
        return _objects(cut)
    return _texts([one.decode("utf-8", "surrogatepass") for one in cut])


_FEW_BYTES = 1 << 20


def _texts(names: list[str]) -> NDArray[Any]:
    """Return strings as an array of strings, or of objects where that would lose or waste something."""
    longest = max(map(len, names), default=0)
    wasteful = 4 * longest * len(names) > _FEW_BYTES + 16 * sum(map(len, names))
    if wasteful or any(name.endswith("\0") for name in names):
        return _objects(names)
    return np.array(names, np.str_)


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _content(keys: _core.Keys) -> NDArray[Any] | Packed:
    return keys.as_integers() if keys.integers else keys.as_packed()


def _loaded(
    kinds: tuple[str, ...], labels: tuple[str, ...], parts: list[Any], pairs: list[NDArray[np.uint64]]
) -> Names:
    """Return names that were pickled."""
    names = Names.of_kinds(kinds, labels)
    for keys, content in zip(names.parts, parts, strict=True):
        if keys.integers:
            keys.number_integers(content, 1, "users")
        else:
            keys.number_packed(content[0], content[1], 1, "users")
    for keys, integers in zip(names.pairs, pairs, strict=True):
        keys.number_integers(integers, 1, "users")
    return names
