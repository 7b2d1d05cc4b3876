"""The digest of the truth: 128 bits that tell one truth from another, whatever its container or its order."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from exactk._inputs.keys.vocabulary import Snapshot
from exactk.reference.ranking import numbers_of_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._engine.problem import KeyedTruth

_SEEDS = 0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x452821E638D01377  # of the first bits of pi
_GRADE_SEED, _GRADE_FACTOR = 0x082EFA98EC4E6C89, 0x9E3779B97F4A7C15
_ITEM_FACTORS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD = 2**64
_TEXT, _BYTES, _WIDE_INTEGER, _NO_KEY = 1, 2, 3, 4


def reference_truth_digest(keyed: KeyedTruth, _num_threads: int) -> int:
    """Return the sum of the users' digests modulo 2^128; users without items have the digest 0.

    So the digests of different users add up to that of all, in any order. Keys count by value, whatever their codes.
    """
    truth = keyed.truth
    users = [None] * len(truth) if keyed.users is None else _listed(keyed.users)
    key_of_id = _keys_by_id(keyed)
    digest = 0
    for row, user in enumerate(users):
        ids = truth.row(row).tolist()
        items = ids if key_of_id is None else [key_of_id[one] for one in ids]
        grades = [1.0] * len(items) if truth.grades is None else numbers_of_row(truth, truth.grades, row)
        digest += _digest_of_user(user, items, grades) if items else 0
    return digest % 2**128


def _digest_of_user(user: object, items: Sequence[object], grades: Sequence[float]) -> int:
    """Return the digest of a user's key and of the sum over the items, whose order does not count."""
    words = (_mixed_item(hash_of_key(item), grade) for item, grade in zip(items, grades, strict=True))
    return _mixed(hash_of_key(user), sum(words) % _WORD)


def _mixed_item(key: int, grade: float) -> int:
    """Return the mixed bits of an item and its grade, by the multiplications of splitmix64."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", grade + 0.0))  # -0 counts as 0
    word = key ^ (bits ^ _GRADE_SEED) * _GRADE_FACTOR % _WORD
    for factor in _ITEM_FACTORS:
        word = word * factor % _WORD
        word ^= word >> 32
    return int(word)


def hash_of_key(key: object) -> int:
    """Return 64 bits of a key: an integer, a string, bytes, a tuple of such parts, or None for a user without a key."""
    if key is None:
        return _mixed_word(_NO_KEY, 0)
    if isinstance(key, int):
        return key % _WORD if key < 2**63 else _mixed_word(_WIDE_INTEGER, key)
    if isinstance(key, tuple):
        first, *others = map(hash_of_key, key)
        for other in others:
            first = _mixed_word(first, other)
        return first
    text = key.encode("utf-8", "surrogatepass") if isinstance(key, str) else bytes(key)  # type: ignore[call-overload]
    word = _mixed_word(_TEXT if isinstance(key, str) else _BYTES, len(text))
    for begin in range(0, len(text), 8):
        word = _mixed_word(word, int.from_bytes(text[begin : begin + 8], "little"))
    return word


def _mixed_word(first: int, second: int) -> int:
    mixed = _mixed(first, second)
    return mixed % _WORD ^ mixed // _WORD


def _mixed(first: int, second: int) -> int:
    """Return 128 bits of two words: two multiplications, as in wyhash."""
    product = (first ^ _SEEDS[0]) * (second ^ _SEEDS[1])
    return (product % _WORD ^ _SEEDS[2]) * (product // _WORD ^ _SEEDS[3])


def _listed(keys: Snapshot | NDArray[Any]) -> list[Any]:
    listed: list[Any] = (keys.array if isinstance(keys, Snapshot) else keys).tolist()
    return listed


def _keys_by_id(keyed: KeyedTruth) -> dict[int, Any] | None:
    """Return the key of each item id; None if ids are the items themselves."""
    if keyed.items is None:
        return None
    keys = _listed(keyed.items)
    ids = range(len(keys)) if keyed.item_ids is None else keyed.item_ids.tolist()
    return dict(zip(ids, keys, strict=True))
