"""Whether truth and lists share an item, if they come in blocks that are freed, and whether items are texts of several or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._inputs.keys.columns import MISSING_TEXTS, NumberColumn
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import SparseScores
from exactk._inputs.registry import LIST, MAPPING, SERIES
from exactk._inputs.ways_on import each_row, split
from exactk._runtime.copies import changed_copy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set as AbstractSet

    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.checks import Ids
    from exactk._inputs.model.lists import Lists
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.registry import ClassifiedValue
    from exactk._inputs.truth import Truth

FEWEST_UNKEYED_ITEMS = 32
"""With fewer items without keys on either side, disjoint items may be chance."""


class SharedItems:
    """The distinct items of truth and lists, collected until one is in both."""

    def __init__(self) -> None:
        self._has_match = False
        self._fewest = 1
        self._counts = np.zeros(2, np.int64)  # numbers of items in the truth, and in the lists
        self._truth_items = _GrowingSet()
        self._list_items = _GrowingSet()

    def add(self, truth: Truth | Rows, predictions: Predictions | Rows) -> None:
        """Add a block, before its items are aligned."""
        if self._has_match:
            return
        lists = predictions.lists if isinstance(predictions, SparseScores) else predictions
        if not isinstance(lists, (Rankings, Rows)):  # scores of all items
            self._has_match = True
            return
        counts = (len(truth.items), len(lists.items))
        are_unkeyed = truth.user_vocabulary is None and truth.item_vocabulary is None and lists.item_vocabulary is None
        if are_unkeyed and any(counts):  # a block without items does not tell
            self._fewest = FEWEST_UNKEYED_ITEMS
        self._counts += counts
        truth_items, list_items = _distinct_keys(truth), _distinct_keys(lists)
        self._truth_items = self._truth_items.plus(truth_items)
        self._list_items = self._list_items.plus(list_items)
        self._has_match = self._list_items.has_any(truth_items) or self._truth_items.has_any(list_items)

    def merge(self, other: SharedItems) -> None:
        """Add the items of other users."""
        self._has_match |= other._has_match
        self._fewest = max(self._fewest, other._fewest)
        self._counts = self._counts + other._counts
        for items in other._truth_items.parts:
            self._truth_items = self._truth_items.plus(items)
        for items in other._list_items.parts:
            self._list_items = self._list_items.plus(items)
        self._has_match = self._has_match or any(map(self._list_items.has_any, self._truth_items.parts))

    def copy(self) -> SharedItems:
        """Return items to which others are added independently."""
        return changed_copy(self, _counts=self._counts.copy())

    def to_plain(self) -> tuple[Any, ...]:
        """Return plain data for `from_plain`."""
        truth_items, list_items = self._truth_items.parts, self._list_items.parts
        return self._has_match, self._fewest, self._counts.tolist(), truth_items, list_items

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> SharedItems:
        """Return the items that `to_plain` described."""
        items = cls()
        items._has_match, items._fewest, counts, truth_items, list_items = plain
        items._counts = np.array(counts, np.int64)
        items._truth_items, items._list_items = _GrowingSet(tuple(truth_items)), _GrowingSet(tuple(list_items))
        return items

    def __bool__(self) -> bool:
        """Return whether an item of the truth is in any list, or one side has too few items to tell."""
        return self._has_match or bool(self._counts.min() < self._fewest)


class _GrowingSet(NamedTuple):
    """A set that never changes, in parts which sets made from it share, so that to extend it copies little."""

    parts: tuple[frozenset[Any], ...] = ()  # each more than twice as large as the next

    def plus(self, items: Iterable[Any]) -> _GrowingSet:
        """Return this set and further items."""
        further = frozenset(items)
        for part in self.parts:  # one by one, as Python would go through all of each but the first
            further -= part
        parts = list(self.parts)
        while further and parts and len(parts[-1]) <= 2 * len(further):
            further |= parts.pop()
        return _GrowingSet((*parts, further)) if further else self

    def has_any(self, items: AbstractSet[Any]) -> bool:
        """Return whether one of the items is here."""
        return not all(part.isdisjoint(items) for part in self.parts)


def share_item(ones: Ids, others: Ids) -> bool:
    """Return whether two arrays of ids have one in common; some of each mostly tell."""
    if not set(ones[:_FEW].tolist()).isdisjoint(others[:_FEW].tolist()):
        return True
    if max(len(ones), len(others)) <= _FEW:
        return False
    first, second = Vocabulary.of_kinds(["int"]), Vocabulary.of_kinds(["int"])  # Ctrl-C cannot interrupt np.isin
    for distinct, ids in ((first, ones), (second, others)):
        distinct.encode([NumberColumn(ids)], "items")
    size = len(first) + len(second)
    first.extend(second.snapshot(), "items")
    return len(first) < size


_FEW = 1000


def predicted_items(predictions: Predictions) -> Ids | int:
    """Return the items of lists and of sparse scores, or the number of columns of scores of all items."""
    lists = predictions.lists if isinstance(predictions, SparseScores) else predictions
    return lists.items if isinstance(lists, Rankings) else lists.item_count


def is_any_predicted(items: Ids, predictions: Predictions) -> bool:
    """Return whether any of the items, of which there are some, is in the lists or has a column in the scores."""
    predicted = predicted_items(predictions)
    if not isinstance(predicted, int):
        return share_item(items, predicted)
    return bool(items.min() < predicted)


def first_predicted(inputs: AlignedInputs) -> str:
    """Return the first item of the lists, or of the columns, as messages show it; empty if there is none."""
    predicted = predicted_items(inputs.predictions)
    if isinstance(predicted, int):
        return inputs.item_text(0) if predicted else ""
    first = predicted[np.argmax(predicted >= 0)] if len(predicted) else -1  # without padding
    return inputs.item_text(int(first)) if first >= 0 else ""


def describe_odd_items(inputs: AlignedInputs, given: Mapping[str, ClassifiedValue]) -> str:
    """Return a warning if items of the truth or the exclusions as given are texts of several items, or of none."""
    keys = inputs.item_vocabulary
    if keys is None or keys.kinds != ("str",):
        return ""
    offsets, texts_of_all = keys.vocabulary.parts[0].as_packed(keys.size)
    if np.diff(offsets).all() and not any(map(texts_of_all.tobytes().__contains__, _ODD)):
        return ""
    for argument, lists in (("truth", inputs.truth), ("exclude", inputs.exclude)):
        texts = {text: _parts(text) for text in (inputs.texts_of(lists.items[:_FEW]) if lists is not None else ())}
        joined = {text: parts for text, parts in texts.items() if len(parts) > 1}
        if not joined and MISSING_TEXTS.isdisjoint(texts):
            continue
        predicted = predicted_items(inputs.predictions)
        ranked = {*inputs.texts_of((np.arange(predicted) if isinstance(predicted, int) else predicted)[: 10 * _FEW])}
        # Few words of titles are items, and some tag of several words is in the lists.
        text = next((text for text, parts in joined.items() if ranked.issuperset(parts)), "")
        if text and ranked.isdisjoint(joined):
            value, container = given[argument]
            line = each_row(value, argument if container in {MAPPING, LIST, SERIES} else "column", split(text))
            return f"{argument}: {text[:32]!r} is one item, and its parts are items too; {line} has its parts"
        if missing := sorted(MISSING_TEXTS.intersection(texts, ranked)):
            advice = f"leave it out of {argument} if it means that there is none"
            return f"{missing[0]!r} is an item of {argument} and of the predictions; {advice}"
    return ""


_ODD = tuple(text.encode() for text in (" ", ",", ";", "|", *sorted(filter(None, MISSING_TEXTS))))


def _parts(text: str) -> list[str]:
    if text.startswith("["):
        return re.findall(r"[^\[\], '\"]+", text)
    return [part.strip() for part in text.split(next((mark for mark in ",;|" if mark in text), None))]


def _distinct_keys(lists: Lists | Rows) -> set[Any]:
    items = np.unique(lists.items)
    return set((items if lists.item_vocabulary is None else lists.item_vocabulary.array[items]).tolist())
