"""Vocabularies: the keys of users and items, and the codes that stand for them. Everything after works on codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk import _core
from exactk._inputs.checks import Codes, id_array, read_only
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._inputs.keys.columns import Column
    from exactk._runtime.errors import ExactkError

Packed: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.uint8]]"

_SHIFT, _LOW = np.uint64(32), np.uint64(2**32 - 1)  # a pair of codes as one integer


KIND_HINT = (
    "integer, string and bytes ids never match: convert one side, as by ids.astype(str); "
    "ids in TREC files are strings, and text_ids=True of exactk.read (--text-ids) reads those of other files as strings"
)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Distinct keys, in order of first appearance. A key of several columns is encoded part by part.

    The codes of the first two parts make a pair, which has a code of its own; that and the code of the third part
    make another pair, and so on.
    """

    kinds: tuple[str, ...]  # of the parts: int, str or bytes
    labels: tuple[str, ...]  # what the parts are called, if there are several
    parts: tuple[_core.Vocabulary, ...]
    pairs: tuple[_core.Vocabulary, ...]  # one fewer than parts
    base: Vocabulary | None = None
    _positions: dict[int, Codes] = field(default_factory=dict, repr=False)

    @classmethod
    def of_kinds(cls, kinds: Sequence[str], labels: Sequence[str] = ()) -> Vocabulary:
        """Return an empty vocabulary whose keys have parts of these kinds."""
        parts = tuple(_core.Vocabulary(kind == "int") for kind in kinds)
        pairs = tuple(_core.Vocabulary(True) for _ in parts[1:])  # noqa: FBT003 - of integers
        return cls(tuple(kinds), tuple(labels), parts, pairs)

    def fork(self) -> Vocabulary:
        """Return a vocabulary that continues after these keys. This one must not be extended from then on."""
        parts = tuple(part.fork() for part in self.parts)
        return Vocabulary(self.kinds, self.labels, parts, tuple(pair.fork() for pair in self.pairs), self)

    def continues(self, other: Vocabulary | None) -> bool:
        """Return whether the first of these keys are those of the other vocabulary."""
        ancestor: Vocabulary | None = self
        while ancestor is not None and ancestor is not other:
            ancestor = ancestor.base
        return ancestor is not None

    def __len__(self) -> int:
        return len(self.pairs[-1] if self.pairs else self.parts[0])

    def encode(self, columns: Sequence[Column], argument: str, threads: int = 1) -> Codes:
        """Return the code of each row's key; new keys are added."""
        self.check_kinds([column.kind for column in columns], argument)
        codes = [column.encode(part, argument, threads) for column, part in zip(columns, self.parts, strict=True)]
        return self._encode_pairs(codes, argument)

    def extend(self, other: Vocabulary, argument: str) -> Codes:
        """Add the keys of another vocabulary; return the code of each of them."""
        self.check_kinds(other.kinds, argument)
        translations = [part.extend(new, argument) for part, new in zip(self.parts, other.parts, strict=True)]
        codes = [translation[code] for translation, code in zip(translations, other.by_part, strict=True)]
        return self._encode_pairs(codes, argument)

    def _encode_pairs(self, codes: list[Codes], argument: str) -> Codes:
        combined = codes[0]
        for vocabulary, part_codes in zip(self.pairs, codes[1:], strict=True):
            pairs = (combined.astype(np.uint64) << _SHIFT) | part_codes
            combined = vocabulary.encode_integers(pairs, 1, argument)
        return combined

    def check_kinds(self, kinds: Sequence[str], argument: str) -> None:
        """Raise InputTypeError unless keys of these kinds can be added."""
        if tuple(kinds) != self.kinds:
            expected, found = (" and ".join(part_kinds) for part_kinds in (self.kinds, kinds))
            raise type_error(argument, f"keys that are {expected}", found, hint=KIND_HINT)

    @property
    def by_part(self) -> list[Codes]:
        """For each part, the code of that part of each key."""
        split: list[Codes] = []
        combined = np.arange(len(self), dtype=np.uint32)
        for vocabulary in reversed(self.pairs):
            pairs = vocabulary.as_integers().view(np.uint64)[combined]
            split.insert(0, (pairs & _LOW).astype(np.uint32))
            combined = (pairs >> _SHIFT).astype(np.uint32)
        return [combined, *split]

    @cached_property
    def array(self) -> NDArray[Any]:
        """The keys: integers or strings, bytes as objects; those of several parts as a structured array."""
        parts = [_key_array(part, kind) for part, kind in zip(self.parts, self.kinds, strict=True)]
        if not self.pairs:
            return read_only(parts[0])
        columns = [part[codes] for part, codes in zip(parts, self.by_part, strict=True)]
        return read_only(structured_keys(self.labels, columns))

    def repr_of(self, code: int) -> str:
        """Return a key as a message shows it."""
        key = self.array[code]
        return repr(key.item() if isinstance(key, np.generic) else key)

    def with_user(self, error: ExactkError, codes: Codes | None = None) -> ExactkError:
        """Return the error with the key of the user in whose row it is; `codes` are the users of the rows."""
        if error.row is None:
            return error
        return with_user_key(error, self.repr_of(error.row if codes is None else int(codes[error.row])))

    def positions_in_key_order(self) -> Codes:
        """Return the position of each key among all of them in ascending order; keys have one part."""
        if len(self) not in self._positions:  # keys may have been added since
            self._positions.clear()
            self._positions[len(self)] = self.parts[0].positions_in_key_order()
        return self._positions[len(self)]

    def to_plain(self) -> tuple[Any, ...]:
        """Return what `from_plain` makes the same vocabulary of: tuples, strings and arrays alone."""
        parts = tuple(_plain_keys(part) for part in self.parts)
        return (self.kinds, self.labels, parts, tuple(pair.as_integers() for pair in self.pairs))

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Vocabulary:
        """Return the vocabulary that `to_plain` described."""
        kinds, labels, parts, pairs = plain
        vocabulary = cls.of_kinds(kinds, labels)
        for part, content in zip(vocabulary.parts, parts, strict=True):
            if part.of_integers:
                part.encode_integers(content, 1, "users")
            else:
                part.encode_packed(content[0], content[1], 1, "users")
        for pair, integers in zip(vocabulary.pairs, pairs, strict=True):
            pair.encode_integers(integers, 1, "users")
        return vocabulary


def with_user_key(error: ExactkError, key: str) -> ExactkError:
    """Return the error with the key of a user, as a message shows it."""
    return error.amended(user=key)


def vocabulary_of_labels(labels: NDArray[Any], argument: str) -> Vocabulary:
    """Return the labels of rows as a vocabulary: integers or strings, none of them twice."""
    vocabulary = Vocabulary.of_kinds(["int" if labels.dtype.kind in "iu" else "str"])
    keys = vocabulary.parts[0]
    if labels.dtype.kind in "iu":
        codes = keys.encode_integers(id_array(labels, argument), 1, argument)
    else:
        codes = _core.encode_texts(keys, labels.tolist(), as_bytes=False, argument=argument)
    if len(vocabulary) < len(labels):
        twice = int(np.argmax(codes != np.arange(len(labels))))
        raise input_error(argument, "keys that differ", f"{labels[twice].item()!r} twice", position=twice)
    return vocabulary


def _key_array(part: _core.Vocabulary, kind: str) -> NDArray[Any]:
    if kind == "int":
        return part.as_integers()
    offsets, data = part.as_packed()
    packed = data.tobytes()
    keys = [packed[begin:end] for begin, end in pairwise(offsets.tolist())]
    if kind == "bytes":
        return object_array(keys)
    return text_array([key.decode("utf-8", "surrogatepass") for key in keys])


_FEW_BYTES = 1 << 20


def text_array(texts: list[str]) -> NDArray[Any]:
    """Return strings as an array of strings, or of objects where that would lose or waste something."""
    longest = max(map(len, texts), default=0)
    wasteful = 4 * longest * len(texts) > _FEW_BYTES + 16 * sum(map(len, texts))
    if wasteful or any(text.endswith("\0") for text in texts):
        return object_array(texts)
    return np.array(texts, np.str_)


def structured_keys(labels: Sequence[str], columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return keys of several parts, each of which is a column."""
    keys = np.empty(len(columns[0]), [(label, column.dtype) for label, column in zip(labels, columns, strict=True)])
    for label, column in zip(labels, columns, strict=True):
        keys[label] = column
    return keys


def object_array(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _plain_keys(part: _core.Vocabulary) -> NDArray[Any] | Packed:
    return part.as_integers() if part.of_integers else part.as_packed()
