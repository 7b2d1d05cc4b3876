"""Groups of items by popularity: which items are the head, and which the tail."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exactk._inputs.model.item_table import CanonicalItems

By: TypeAlias = Literal["interactions", "items", "quantile", "popularity"]

_USUAL_LABELS = {2: ("head", "tail"), 3: ("head", "mid", "tail")}
_COLD = "cold"


def groups_by_popularity(
    items: CanonicalItems, cuts: object, by: object, labels: Sequence[str] | None, *, cold: bool
) -> dict[Any, str]:
    """Return the label of each item; equally popular items have the same."""
    if by not in ("interactions", "items", "quantile", "popularity"):
        raise input_error("by", "'interactions', 'items', 'quantile' or 'popularity'", repr(by))
    if items.users is None:
        hint = "exactk.Items(train=...) counts it"
        raise input_error("train", "interactions, or Items that know the popularity", "a catalogue alone", hint=hint)
    numbers = _numbers_of_cuts(cuts, by)
    names = _labels_of_groups(labels, (numbers[0] if by == "quantile" else len(numbers) + 1), cold=cold)
    popularity, counts = np.unique(items.users, return_counts=True)
    levels = list(zip(popularity.tolist()[::-1], counts.tolist()[::-1], strict=True))  # the most popular first
    label_of: dict[int, str] = {}
    if cold and levels[-1][0] == 0:
        label_of[0] = _COLD
        levels.pop()
    group_of = _rule(by, numbers, levels)
    items_above = interactions_above = 0
    for level, count in levels:
        label_of[level] = names[group_of(level, items_above, interactions_above)]
        items_above, interactions_above = items_above + count, interactions_above + level * count
    return dict(zip(items.keys.array.tolist(), map(label_of.__getitem__, items.users.tolist()), strict=True))


def _rule(by: object, cuts: Sequence[Any], levels: Sequence[tuple[int, int]]) -> Callable[[int, int, int], int]:
    """Return the group of items of a popularity, by how many items and interactions are of more popular ones."""
    size, total = sum(count for _, count in levels), sum(level * count for level, count in levels)
    if by == "interactions":
        return lambda _level, _items, interactions: sum(interactions >= cut * total for cut in cuts)
    if by == "items":
        return lambda _level, items, _interactions: sum(items >= cut * size for cut in cuts)
    if by == "quantile":
        return lambda _level, items, _interactions: cuts[0] * items // size
    return lambda level, _items, _interactions: sum(level < cut for cut in cuts)


def _numbers_of_cuts(cuts: Any, by: object) -> list[Any]:  # noqa: ANN401 - checked here
    """Return the cuts as exact numbers: those that were written, not the nearest doubles."""
    if by == "quantile":
        if isinstance(cuts, bool) or not isinstance(cuts, Integral) or not 2 <= int(cuts) <= 64:
            raise input_error("cuts", "the number of quantiles, from 2 to 64, with by='quantile'", repr(cuts))
        return [int(cuts)]
    given: list[Any] = [cuts] if isinstance(cuts, Real) or not isinstance(cuts, Iterable) else list(cuts)
    if not given or not all(isinstance(cut, Real) and not isinstance(cut, (bool, np.bool_)) for cut in given):
        raise type_error("cuts", "numbers", repr(cuts))
    if not all(np.isfinite(float(cut)) for cut in given):
        raise input_error("cuts", "finite numbers", repr(cuts))
    numbers = [Fraction(repr(float(cut))) if isinstance(cut, (float, np.floating)) else Fraction(cut) for cut in given]
    is_ascending = all(one < other for one, other in pairwise(numbers))
    is_within = by == "popularity" or all(0 < number < 1 for number in numbers)
    if not is_ascending or not is_within:
        of = "popularities" if by == "popularity" else "shares between 0 and 1"
        raise input_error("cuts", f"ascending {of} with by={by!r}", repr(cuts))
    return numbers


def _labels_of_groups(labels: Any, count: int, *, cold: bool) -> Sequence[str]:  # noqa: ANN401 - checked here
    """Return the labels of the groups, from the most popular."""
    if labels is None:
        if count not in _USUAL_LABELS:
            hint = "labels=[...] names them, the most popular first"
            raise input_error("labels", f"labels of {count} groups", "none", hint=hint)
        return _USUAL_LABELS[count]
    names: list[Any] = [None] if isinstance(labels, str) or not isinstance(labels, Iterable) else list(labels)
    if not all(isinstance(name, str) for name in names):
        raise type_error("labels", "strings", repr(labels))
    if len(names) != count or len({*names, *([_COLD] if cold else [])}) != count + cold:
        different = f"{count} different labels" + (f", none of them {_COLD!r}" if cold else "")
        raise input_error("labels", different, repr(labels))
    return names
