"""Lists of keys: those of rows or columns, one distinct key each; those of items in ascending order, to match others with.

And what is said of two inputs that have no key in common, and whether this shows that their ids differ.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.checks import (
    Ids,
    arrow_table,
    asking,
    first_and_count,
    flat_positions,
    id_array,
    import_dlpack,
    key_array,
    positions_in,
    read_only,
)
from exactk._inputs.keys.columns import (
    NumberColumn,
    TextColumn,
    column_of_array,
    column_of_arrow,
    column_of_series,
    index_columns,
    key_columns,
    key_kind,
)
from exactk._inputs.keys.vocabulary import Snapshot, Vocabulary, kinds_error
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._inputs.checks import Codes
    from exactk._inputs.keys.columns import Column


def keys_of_rows(keys: object, argument: str, size: int, what: str) -> Snapshot | None:
    """Return the keys, whose codes are their positions; None for None.

    Raise unless there are `size` keys, one per user or item (`what` in messages), and all are distinct.
    """
    if keys is None:
        return None
    snapshot, codes = encode_row_keys(keys, argument, size, what)
    check_distinct_keys(snapshot, codes, argument)
    return snapshot


def check_distinct_keys(keys: Snapshot, codes: Codes, argument: str) -> None:
    """Raise InputError if the code of a key repeats."""
    if len(keys) == len(codes):
        return
    position = int(np.argmax(codes != np.arange(len(codes))))
    found, count = f"{keys.repr_of(int(codes[position]))} again", len(codes) - len(keys)
    raise input_error(argument, "distinct keys", found, position=position, count=count)


def encode_row_keys(keys: object, argument: str, size: int, what: str) -> tuple[Snapshot, Codes]:
    """Return the distinct keys, and the code of each; raise unless there are `size` keys, one per `what`."""
    parts, labels = _columns_of_keys(keys, argument)
    vocabulary = Vocabulary.of_kinds([key_kind(part, argument) for part in parts], labels)
    if len(parts[0]) != size:
        raise input_error(argument, f"one key per {what} ({size})", str(len(parts[0])))
    codes = vocabulary.encode(parts, argument)
    return vocabulary.snapshot(), codes


def keys_of_items(keys: object, argument: str, size: int, what: str = "column") -> Snapshot | None:
    """Return the keys of items, which have one part; None for None."""
    snapshot = keys_of_rows(keys, argument, size, what)
    if snapshot is not None and len(snapshot.kinds) > 1:
        raise type_error(argument, "integers, strings or bytes", f"tuples of {len(snapshot.kinds)}")
    if snapshot is not None and snapshot.kinds == ("int",) and (negative := snapshot.array < 0).any():
        position, count = first_and_count(negative)
        raise input_error(
            argument, "item ids in [0, 2^63)", str(snapshot.array[position]), position=position, count=count
        )
    return snapshot


def encode_item_keys(items: object, argument: str) -> tuple[Ids, Snapshot | None]:
    """Return the items of rows as integers, and their keys if these are not integers themselves."""
    if isinstance(items, np.ndarray) and items.dtype.kind not in "OUST":
        return id_array(items, argument), None
    if isinstance(items, (list, tuple, range)) and all(issubclass(kind, Integral) for kind in set(map(type, items))):
        return id_array(items, argument), None
    parts, _ = _columns_of_keys(items, argument)
    if len(parts) > 1:
        raise type_error(argument, "integers, strings or bytes", f"tuples of {len(parts)}")
    kind = key_kind(parts[0], argument)
    if kind == "int":
        return id_array(parts[0].values(argument), argument), None
    vocabulary = Vocabulary.of_kinds([kind])
    return vocabulary.encode(parts, argument).astype(np.int64), vocabulary.snapshot()


def encode_labels(values: object, argument: str, *, hint: str = "") -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct labels, all integers or all strings, in ascending order, and the number of each value's."""
    column: Column
    if isinstance(values, list) and set(map(type, values)) == {str}:
        column = TextColumn(values, "str")
    else:
        array = key_array(values, argument, hint=hint)
        column = NumberColumn(array) if array.dtype.kind in "iu" else TextColumn(array.tolist(), "str")
    vocabulary = Vocabulary.of_kinds([column.kind])
    codes = vocabulary.encode([column], argument)
    distinct = vocabulary.snapshot().array
    if column.kind == "str":
        distinct = key_array(distinct.tolist(), argument)
    labels, numbers = np.unique(distinct, return_inverse=True)
    return labels, numbers[codes]


_EXPECTED_KEYS = "a list, an array, a Series or an Index of keys"


def _list_hint(keys: object, argument: str) -> str:
    """Return how to list the keys in order, if they can be iterated over."""
    name = argument.rpartition(".")[2]
    if isinstance(keys, (set, frozenset)):
        return "a set has no order"
    if isinstance(keys, Mapping):
        return f"{name}=sorted({name}, key={name}.get) if it maps keys to numbers of rows or columns"
    return f"{name}=list({name})" if isinstance(keys, Iterable) and not isinstance(keys, (str, bytes)) else ""


def _columns_of_keys(keys: Any, argument: str) -> tuple[list[Column], list[str]]:  # noqa: ANN401 - of any library
    """Return the keys' parts, and what a part is called if there are several."""
    keys = optional.as_series(optional.unwrapped(keys))
    if optional.is_index(keys) and keys.nlevels > 1:
        return index_columns(keys, argument)
    if optional.is_index(keys) or optional.is_series(keys):
        return [column_of_series(keys, argument)], []
    if hasattr(keys, "columns"):
        hint = f"{argument.rpartition('.')[2]}=frame[name] is a column of a data frame"
        raise type_error(argument, _EXPECTED_KEYS, type(keys).__name__, hint=hint)
    if hasattr(keys, "__arrow_c_stream__"):
        return [column_of_arrow(arrow_table(keys, argument).columns[0][1], argument)], []
    if hasattr(keys, "to_pylist"):  # an array of Arrow
        with asking(argument, _EXPECTED_KEYS):
            keys = keys.to_pylist()
    keys = import_dlpack(keys, argument)
    if isinstance(keys, np.ndarray):
        if keys.ndim != 1:
            raise type_error(argument, "a sequence of keys", f"an array of shape {keys.shape}")
        if keys.dtype.names is not None:  # of several parts, as `TopK.users` and `Report.users` are
            return [column_of_array(keys[name], argument) for name in keys.dtype.names], list(keys.dtype.names)
        return [column_of_array(keys, argument)], []
    if not isinstance(keys, (list, tuple, range)):
        raise type_error(argument, _EXPECTED_KEYS, type(keys).__name__, hint=_list_hint(keys, argument))
    parts = key_columns(list(keys), argument)
    return parts, [f"user_{part}" for part in range(len(parts))] if len(parts) > 1 else []


class ItemEntries(NamedTuple):
    """Items in any order, perhaps repeated: integer ids, or codes of keys."""

    values: Ids
    keys: Snapshot | None = None

    @property
    def kind(self) -> str:
        """The kind of the items: int, str or bytes."""
        return "int" if self.keys is None else self.keys.kinds[0]

    def text(self, position: int) -> str:
        """Return an item as messages show it."""
        item = int(self.values[position])
        return f"item {item if self.keys is None else self.keys.repr_of(item)}"


@dataclass(frozen=True, eq=False)
class ItemKeys:
    """Distinct keys in ascending order: integers by number, strings by code point, bytes by byte."""

    integers: NDArray[np.int64] | None  # None: the keys are strings or bytes
    keys: Snapshot | None = None
    positions: Codes | None = None  # of each key's code, in ascending order

    @classmethod
    def of_entries(cls, entries: ItemEntries, argument: str) -> tuple[ItemKeys, NDArray[np.int64]]:
        """Return the distinct items of the entries, and the position of each entry among them."""
        values, positions = np.unique(entries.values, return_inverse=True)
        if entries.keys is None:
            _check_range(entries.values, argument)
            return cls(read_only(values.astype(np.int64))), positions.astype(np.int64)
        keys = entries.keys if len(values) == len(entries.keys) else entries.keys.select(values)
        order = keys.positions_in_key_order()
        return cls(None, keys, order), order[positions].astype(np.int64)

    def __len__(self) -> int:
        return len(self.integers) if self.integers is not None else len(self.snapshot)

    def text(self, position: int) -> str:
        """Return a key as messages show it."""
        key = self.array[position]
        return repr(key.item() if isinstance(key, np.generic) else key)

    @property
    def snapshot(self) -> Snapshot:
        """The keys, which are strings or bytes, in the order of their codes."""
        assert self.keys is not None  # noqa: S101 - for the type checker
        return self.keys

    @property
    def kind(self) -> str:
        """The kind of the keys: int, str or bytes."""
        return "int" if self.keys is None else self.keys.kinds[0]

    @property
    def array(self) -> NDArray[Any]:
        """The keys in ascending order."""
        return self.integers if self.integers is not None else read_only(self.snapshot.array[self._order])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The code of each key, in ascending order."""
        assert self.positions is not None  # noqa: S101 - for the type checker
        order = np.empty(len(self), np.int64)
        order[self.positions] = np.arange(len(self))
        return order

    def find(self, entries: ItemEntries, argument: str) -> NDArray[np.int64]:
        """Return the position of each entry here, or -1; raise InputTypeError if none could ever be found."""
        if not len(entries.values):
            return np.zeros(0, np.int64)
        if entries.kind != self.kind:
            raise kinds_error(argument, "items", [self.kind], [entries.kind], "catalogue")
        if self.integers is not None:
            return positions_in(
                self.integers, entries.values.astype(np.int64)
            )  # NumPy compares int64 and uint64 as floats
        assert self.positions is not None and entries.keys is not None  # noqa: S101, PT018 - for the type checker
        codes = self.snapshot.find(entries.keys, argument)[entries.values]
        return np.where(codes < 0, -1, self.positions[codes].astype(np.int64))

    def ids_among(self, items: Snapshot | None, item_ids: Codes | None) -> NDArray[np.int64]:
        """Return the ids in a call: those of its keys, then those of keys that it does not have; `item_ids` are by code.

        Without keys in the call, integers are ids.
        """
        if items is None:
            return self.integers if self.integers is not None else np.arange(len(self))
        codes = items.find(self._as_snapshot(), "items")
        is_found = codes >= 0
        ids = np.where(is_found, codes if item_ids is None else item_ids.astype(np.int64)[codes], 0)
        ids[~is_found] = len(items) + np.arange(len(ids) - int(is_found.sum()))
        return ids if self.positions is None else ids[self._order]

    def _as_snapshot(self) -> Snapshot:
        """Return the keys, integers as such."""
        if self.integers is None:
            return self.snapshot
        vocabulary = Vocabulary.of_kinds(["int"])
        vocabulary.encode([NumberColumn(self.integers)], "items")
        return vocabulary.snapshot()

    def canonical_bytes(self) -> tuple[bytes, bytes, bytes]:
        """Return the kind, the lengths of the keys and the keys themselves, in ascending order: the same in any process."""
        if self.integers is not None:
            return b"int", b"", self.integers.astype("<i8").tobytes()
        offsets, data = self.snapshot.vocabulary.parts[0].as_packed(len(self))
        order = self._order
        sizes = np.diff(offsets)[order]
        _, sources = flat_positions(offsets[:-1][order], sizes)
        return self.kind.encode(), sizes.astype("<i8").tobytes(), data[sources].tobytes()

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`, for pickling."""
        return (self.integers, None if self.keys is None else self.keys.to_plain())

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> ItemKeys:
        """Return the keys that `to_plain` described."""
        integers, keys = plain
        if keys is None:
            return cls(read_only(integers))
        snapshot = Snapshot.from_plain(keys)
        return cls(None, snapshot, snapshot.positions_in_key_order())


def _check_range(values: Ids, argument: str) -> None:
    """Raise InputError if an integer is no id."""
    beyond = (values < 0) | (values.astype(np.uint64) > np.iinfo(np.int64).max)
    if beyond.any():
        position, count = first_and_count(beyond)
        raise input_error(argument, "item ids in [0, 2^63)", str(values[position]), position=position, count=count)


_NO_EXAMPLES = ("", "")


def describe_disjoint(
    what: str, of: str, others: str, examples: tuple[str, str] = _NO_EXAMPLES, *, among: str = ""
) -> str:
    """Return the warning; the examples are one of each input, as messages show keys, and `among` limits the others."""
    if examples[0] == examples[1]:  # of another user, or beyond the cutoff
        examples = _NO_EXAMPLES
    of_one, of_others = (f" (such as {example})" if example else "" for example in examples)
    sides = "all" if " or " in others else "both"
    advice = f"check that {sides} use the same {what} ids"
    if any(example[1:2] == "[" for example in examples):
        advice = "text that holds a list is one item; .map(ast.literal_eval) makes lists of a column"
    return f"no {what} of {of}{of_one} is in {others}{among}{of_others}: {advice}"


def examples_of_differing_ids(ones: Sequence[Any], others: Sequence[Any], users: int) -> tuple[str, str]:
    """Return a key of each of two disjoint sets if their ids most likely differ; none if they may be disjoint by chance.

    What `users` users have is little of all. Ids differ if some would be equal but for their form, most likely also if so
    many are disjoint.
    """
    first, second = _by_plain_form(ones), _by_plain_form(others)
    if common := first.keys() & second.keys():
        return repr(first[min(common)]), repr(second[min(common)])
    are_many = users >= _MANY_USERS and len(ones) * len(others) >= _MANY_PAIRS
    return (min(map(repr, ones)), min(map(repr, others))) if are_many else _NO_EXAMPLES


_MOST = 100_000  # keys whose forms are looked at
_MANY_USERS, _MANY_PAIRS = 32, 100_000  # of items: with fewer, users may well have others
_NOISE = r"(?<!\d)0+(?=\d)|\.0+$|[\W_]+"


def _by_plain_form(keys: Sequence[Any]) -> dict[str, Any]:
    """Return text keys by what is left without case, signs, leading zeros and decimals of 0, and without a prefix of all."""
    by_text = {
        re.sub(_NOISE, "", unicodedata.normalize("NFKC", key).casefold()): key
        for key in keys[:_MOST]
        if isinstance(key, str)
    }
    prefixes = {text.rstrip("0123456789") for text in by_text}
    prefix = min(prefixes, default="")
    if len(prefixes) == 1 and prefix not in by_text:
        by_text |= {text.removeprefix(prefix): key for text, key in by_text.items()}
    return by_text
