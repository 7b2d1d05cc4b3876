"""Vocabularies: keys of users and items, and their codes. All later steps work on codes."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk import _core
from exactk._inputs.checks import Codes, id_array, read_only
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import Option, Text
from exactk._runtime.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from exactk._inputs.keys.columns import Column
    from exactk._runtime.errors import ExactkError

Packed: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.uint8]]"

_SHIFT, _LOW = np.uint64(32), np.uint64(2**32 - 1)  # packs a pair of codes into one integer


KIND_HINT: Text = (
    "integer, string and bytes ids never match: convert one side, for example with str(id) or column.astype(str); ",
    Option("text_ids", True, "exactk.read(path, role, {})"),  # noqa: FBT003 - the value of the option
    " reads ids in files as strings (TREC ids always are)",
)


def kinds_error(
    argument: str, noun: str, expected: Sequence[str], found: Sequence[str], source: str, example: str = ""
) -> Exception:
    """Return the error for users or items with keys of other kinds than those in the source have."""
    such_as = f" (such as {example})" if example else ""
    kinds = f"{noun} of type {' and '.join(expected)}, as in the {source}"
    return type_error(argument, kinds, " and ".join(found) + such_as, hint=KIND_HINT)


class Vocabulary(Record, eq=False):
    """Distinct keys, in order of first appearance; keys are only ever added. A key of several columns is encoded part by part.

    The codes of the first two parts form a pair, which gets a code; that code and the code of the third part form
    another pair, and so on.
    """

    kinds: tuple[str, ...]  # kinds of the parts: int, str or bytes
    labels: tuple[str, ...]  # names of the parts, if there are several
    parts: tuple[_core.Vocabulary, ...]
    pairs: tuple[_core.Vocabulary, ...]  # one fewer than parts

    @classmethod
    def of_kinds(cls, kinds: Sequence[str], labels: Sequence[str] = ()) -> Vocabulary:
        """Return an empty vocabulary whose keys have parts of these kinds."""
        parts = tuple([_core.Vocabulary(kind == "int") for kind in kinds])
        pairs = tuple([_core.Vocabulary(True) for _ in parts[1:]])  # noqa: FBT003 - of integers
        return cls(tuple(kinds), tuple(labels), parts, pairs)

    def __len__(self) -> int:
        return len(self.pairs[-1] if self.pairs else self.parts[0])

    def snapshot(self) -> Snapshot:
        """Return the current keys."""
        part_sizes, pair_sizes = tuple(map(len, self.parts)), tuple(map(len, self.pairs))
        return Snapshot(self, part_sizes, pair_sizes, (pair_sizes or part_sizes)[-1])

    def encode(self, columns: Sequence[Column], argument: str, threads: int = 1) -> Codes:
        """Return the code of each row's key, adding new keys."""
        self.check_kinds([column.kind for column in columns], argument)
        codes = [column.encode(part, argument, threads) for column, part in zip(columns, self.parts, strict=True)]
        return self._encode_pairs(codes, argument) if self.pairs else codes[0]

    def extend(self, other: Snapshot, argument: str) -> Codes:
        """Add the keys of another vocabulary; return their codes."""
        self.check_kinds(other.vocabulary.kinds, argument)
        parts = zip(self.parts, other.vocabulary.parts, other.part_sizes, strict=True)
        translations = [part.extend(new, size, argument) for part, new, size in parts]
        if not self.pairs:
            return translations[0]
        codes = [translation[code] for translation, code in zip(translations, other.by_part, strict=True)]
        return self._encode_pairs(codes, argument)

    def _encode_pairs(self, codes: list[Codes], argument: str) -> Codes:
        combined = codes[0]
        for vocabulary, part_codes in zip(self.pairs, codes[1:], strict=True):
            pairs = (combined.astype(np.uint64) << _SHIFT) | part_codes
            combined = vocabulary.encode_integers(pairs, 1, argument)
        return combined

    def check_kinds(self, kinds: Sequence[str], argument: str, noun: str = "users", example: str = "") -> None:
        """Raise InputTypeError unless keys of these kinds can be added; `noun` and `example` are for the message."""
        if tuple(kinds) != self.kinds:
            raise kinds_error(argument, noun, self.kinds, kinds, "truth", example)

    @cached_property
    def _positions(self) -> dict[tuple[int, ...], Codes]:  # in key order, by sizes
        return {}

    def positions_in_key_order(self, sizes: tuple[int, ...]) -> Codes:
        """Return the position of each of the first keys among them in ascending order; keys have one part."""
        if sizes not in self._positions:
            self._positions.clear()
            self._positions[sizes] = self.parts[0].positions_in_key_order(*sizes)
        return self._positions[sizes]


class Snapshot(Record, eq=False):
    """The keys of a vocabulary at one time: those with codes below its size then."""

    vocabulary: Vocabulary
    part_sizes: tuple[int, ...]
    pair_sizes: tuple[int, ...]
    size: int  # number of keys

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the parts: int, str or bytes."""
        return self.vocabulary.kinds

    def __len__(self) -> int:
        return self.size

    def copy(self) -> Vocabulary:
        """Return a separate vocabulary with these keys and codes."""
        vocabulary = self.vocabulary
        if len(self) < len(vocabulary):
            prefix = Vocabulary.of_kinds(vocabulary.kinds, vocabulary.labels)
            prefix.extend(self, "keys")
            return prefix
        parts, pairs = (tuple([part.copy() for part in kept]) for kept in (vocabulary.parts, vocabulary.pairs))
        return Vocabulary(vocabulary.kinds, vocabulary.labels, parts, pairs)

    def find(self, keys: Snapshot, argument: str) -> NDArray[np.int64]:
        """Return the code here of each of the other keys, or -1."""
        vocabulary, others = self.vocabulary, keys.vocabulary.parts
        parts = zip(vocabulary.parts, others, keys.part_sizes, keys.by_part, strict=True)
        codes = [part.find(other, size, argument)[of_part] for part, other, size, of_part in parts]
        combined = codes[0]
        for pairs, part_codes in zip(vocabulary.pairs, codes[1:], strict=True):
            distinct = _core.Vocabulary(True)  # noqa: FBT003 - of integers
            pair_codes = distinct.encode_integers((combined.astype(np.uint64) << _SHIFT) | part_codes, 1, argument)
            combined = pairs.find(distinct, len(distinct), argument)[pair_codes]
        return np.where(combined < len(self), combined.astype(np.int64), -1)

    @property
    def by_part(self) -> list[Codes]:
        """For each part, the code of that part of each key."""
        split: list[Codes] = []
        combined = np.arange(len(self), dtype=np.uint32)
        for pairs, size in zip(reversed(self.vocabulary.pairs), reversed(self.pair_sizes), strict=True):
            both = pairs.as_integers(size).view(np.uint64)[combined]
            split.insert(0, (both & _LOW).astype(np.uint32))
            combined = (both >> _SHIFT).astype(np.uint32)
        return [combined, *split]

    @cached_property
    def array(self) -> NDArray[Any]:
        """The keys: integers or strings, bytes as objects; those of several parts as a structured array."""
        vocabularies = zip(self.vocabulary.parts, self.part_sizes, self.kinds, strict=True)
        parts = [_key_array(part, size, kind) for part, size, kind in vocabularies]
        if len(parts) == 1:
            return read_only(parts[0])
        columns = [part[codes] for part, codes in zip(parts, self.by_part, strict=True)]
        return read_only(structured_keys(self.vocabulary.labels, columns))

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """64 bits of each key's value, the same in every process: the reference's `hash_of_key`."""
        vocabularies = zip(self.vocabulary.parts, self.part_sizes, self.kinds, strict=True)
        first, *others = (_core.hash_keys(part, size, kind == "bytes") for part, size, kind in vocabularies)
        if not others:
            return first
        first_codes, *other_codes = self.by_part
        joined = first[first_codes]
        for hashes, codes in zip(others, other_codes, strict=True):
            joined = _core.join_hashes(joined, hashes[codes])
        return joined

    def repr_of(self, code: int) -> str:
        """Return a key as a message shows it."""
        key = self.array[code]
        return repr(key.item() if isinstance(key, np.generic) else key)

    def with_user(self, error: ExactkError, codes: Codes | None = None) -> ExactkError:
        """Return the error with the key of the user in whose row it is; `codes` are the users of the rows."""
        if error.row is None:
            return error
        return error.amended(user=self.repr_of(error.row if codes is None else int(codes[error.row])))

    def select(self, codes: NDArray[np.integer[Any]]) -> Snapshot:
        """Return only the keys of these codes, which differ, in their order."""
        selected = Vocabulary.of_kinds(self.kinds, self.vocabulary.labels)
        parts = zip(self.vocabulary.parts, self.part_sizes, self.kinds, self.by_part, strict=True)
        selected.encode([_key_column(part, size, kind, of_part[codes]) for part, size, kind, of_part in parts], "keys")
        return selected.snapshot()

    @cached_property
    def _positions(self) -> dict[tuple[int, ...], Codes]:  # in key order, by sizes
        return {}

    def positions_in_key_order(self) -> Codes:
        """Return the position of each key among all of them in ascending order; keys have one part."""
        return self.vocabulary.positions_in_key_order(self.part_sizes)

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`: only tuples, strings and arrays."""
        vocabulary = self.vocabulary
        parts = tuple(map(_plain_keys, vocabulary.parts, self.part_sizes))
        pairs = tuple([pair.as_integers(size) for pair, size in zip(vocabulary.pairs, self.pair_sizes, strict=True)])
        return (vocabulary.kinds, vocabulary.labels, parts, pairs)

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Snapshot:
        """Return the keys that `to_plain` described."""
        kinds, labels, parts, pairs = plain
        vocabulary = Vocabulary.of_kinds(kinds, labels)
        for part, content in zip(vocabulary.parts, parts, strict=True):
            if part.of_integers:
                part.encode_integers(content, 1, "users")
            else:
                part.encode_packed(content[0], content[1], 1, "users")
        for pair, integers in zip(vocabulary.pairs, pairs, strict=True):
            pair.encode_integers(integers, 1, "users")
        return vocabulary.snapshot()


class SharedVocabulary:
    """The vocabulary of users or of items that all inputs of a call share; the first keyed input creates it."""

    def __init__(self) -> None:
        self._vocabulary: Vocabulary | None = None
        self._labels: NDArray[Any] | None = None
        self._label_keys: Snapshot | None = None

    def begin_with(self, keys: Snapshot) -> Snapshot:
        """Return the keys as the first of the shared vocabulary; the input itself does not change."""
        self._vocabulary = keys.copy()
        return self._vocabulary.snapshot()

    def begin_with_labels(self, labels: NDArray[Any]) -> None:
        """Use the labels of the truth's rows as the first keys if another input is keyed."""
        self._labels = labels

    def of_kinds(self, kinds: Sequence[str], labels: Sequence[str] = ()) -> Vocabulary:
        """Return the vocabulary for keys of these kinds: a separate one if the shared keys are of other kinds."""
        if self._labels is not None:
            self.keys_of_labels()
        shared = self._vocabulary
        if shared is not None and shared.kinds == tuple(kinds):
            return shared
        vocabulary = Vocabulary.of_kinds(kinds, labels)
        if shared is None or not len(shared):
            self._vocabulary = vocabulary
        return vocabulary

    def keys_of_labels(self) -> Snapshot | None:
        """Return the labels of the truth's rows as keys; None without labels."""
        if self._label_keys is None and self._labels is not None:
            self._label_keys = vocabulary_of_labels(self._labels, "truth.users").snapshot()
            self._vocabulary = self._label_keys.vocabulary
        return self._label_keys

    def snapshot(self) -> Snapshot | None:
        """Return the keys so far; None if no input has keys."""
        self.keys_of_labels()
        return None if self._vocabulary is None else self._vocabulary.snapshot()

    def has(self, keys: Snapshot) -> bool:
        """Return whether the codes of these keys are those of the shared vocabulary."""
        return keys.vocabulary is self._vocabulary

    def latest(self, snapshots: Iterable[Snapshot | None]) -> Snapshot | None:
        """Return the snapshot that includes all others, among those of the shared vocabulary."""
        latest: Snapshot | None = None
        for keys in snapshots:
            if keys is not None and keys.vocabulary is self._vocabulary and (latest is None or keys.size > latest.size):
                latest = keys
        return latest

    def check_kinds(self, kinds: Sequence[str], argument: str, noun: str = "users", example: str = "") -> None:
        """Raise InputTypeError if the shared keys are of other kinds."""
        if self._vocabulary is not None and len(self._vocabulary):
            self._vocabulary.check_kinds(kinds, argument, noun, example)

    def check_kinds_of(self, keys: Snapshot, argument: str) -> None:
        """Raise InputTypeError if there are keys and their kinds differ from those of the shared keys."""
        if keys.vocabulary is not self._vocabulary and keys.size:
            self.check_kinds(keys.vocabulary.kinds, argument, example=keys.repr_of(0))


def vocabulary_of_labels(labels: NDArray[Any], argument: str) -> Vocabulary:
    """Return row labels as a vocabulary: distinct integers or strings."""
    vocabulary = Vocabulary.of_kinds(["int" if labels.dtype.kind in "iu" else "str"])
    keys = vocabulary.parts[0]
    if labels.dtype.kind in "iu":
        codes = keys.encode_integers(id_array(labels, argument), 1, argument)
    else:
        codes = _core.encode_texts(keys, labels.tolist(), as_bytes=False, argument=argument)
    if len(vocabulary) < len(labels):
        twice = int(np.argmax(codes != np.arange(len(labels))))
        raise input_error(argument, "distinct keys", f"{labels[twice].item()!r} twice", position=twice)
    return vocabulary


def _key_array(part: _core.Vocabulary, size: int, kind: str) -> NDArray[Any]:
    if kind == "int":
        return part.as_integers(size)
    offsets, data = part.as_packed(size)
    packed = data.tobytes()
    keys = [packed[begin:end] for begin, end in pairwise(offsets.tolist())]
    if kind == "bytes":
        return object_array(keys)
    return text_array([key.decode("utf-8", "surrogatepass") for key in keys])


def _key_column(part: _core.Vocabulary, size: int, kind: str, codes: Codes) -> Column:
    """Return a column of the keys of these codes."""
    from exactk._inputs.keys.columns import NumberColumn, PackedColumn

    if kind == "int":
        return NumberColumn(part.as_integers(size)[codes])
    return PackedColumn(*part.as_packed(size), kind).take(codes)


_FEW_BYTES = 1 << 20


def text_array(texts: list[str]) -> NDArray[Any]:
    """Return strings as a string array, or as objects if that would lose characters or waste memory."""
    longest = max(map(len, texts), default=0)
    wasteful = 4 * longest * len(texts) > _FEW_BYTES + 16 * sum(map(len, texts))
    if wasteful or any(text.endswith("\0") for text in texts):
        return object_array(texts)
    return np.array(texts, np.str_)


def structured_keys(labels: Sequence[str], columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return keys of several parts as a structured array, one column per part."""
    keys = np.empty(len(columns[0]), [(label, column.dtype) for label, column in zip(labels, columns, strict=True)])
    for label, column in zip(labels, columns, strict=True):
        keys[label] = column
    return keys


def object_array(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _plain_keys(part: _core.Vocabulary, size: int) -> NDArray[Any] | Packed:
    return part.as_integers(size) if part.of_integers else part.as_packed(size)
