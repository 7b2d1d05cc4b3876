"""The oracle of the metrics that read what users have in train: from the formulas, in fractions and 40 digits.

It imports nothing of the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction

from oracle_items import Catalogue, distance_of

_DIGITS = Context(prec=40)


def _number(value: Fraction) -> Decimal:
    return _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def serendipity(
    row: Sequence[int],
    relevant: set[int],
    history: set[int],
    catalogue: Catalogue,
    distance: str,
    history_distance: str,
) -> float | None:
    """Return the mean over the list of the distance of each hit from the history; None if that is empty."""
    had = [item for item in history if item in catalogue.features]
    counted = [item for item in row if item in catalogue.features]
    if not had or not counted:
        return None
    total = Fraction(0)
    for item in counted:
        if item in relevant:
            from_items = [distance_of(item, one, catalogue, distance) for one in had]
            total += min(from_items) if history_distance == "nearest" else sum(from_items, Fraction(0)) / len(had)
    return float(total / len(counted))


def serendipity_of_popularity(
    row: Sequence[int], relevant: set[int], catalogue: Sequence[int], train: Sequence[int]
) -> float | None:
    """Return the mean of max(0, share of the rank - share of the rank by popularity) of the hits; `train` has its rows."""
    counts = Counter(item for item in train if item in catalogue)
    falling = sorted(set(counts.values()), reverse=True)
    n = len(catalogue)
    total = Fraction(0)
    for rank, item in enumerate(row, 1):
        expected = Fraction(n - falling.index(counts[item]), n) if counts[item] else Fraction(0)
        if item in relevant:
            total += max(Fraction(0), Fraction(n + 1 - rank, n) - expected)
    return float(total / len(row)) if row else None


def calibration(
    row: Sequence[int], history: set[int], tags: Mapping[int, Sequence[str]], alpha: Fraction
) -> float | None:
    """Return the divergence of the list's tags, by the weights 1 / log2(rank + 1), from those of the history."""

    def shares(weights: Mapping[int, Decimal]) -> dict[str, Decimal]:
        of_tags: dict[str, Decimal] = {}
        for item, weight in weights.items():
            for tag in tags[item]:
                of_tags[tag] = of_tags.get(tag, Decimal(0)) + weight / len(tags[item])
        return {tag: share / sum(weights.values()) for tag, share in of_tags.items()}

    of_history = shares({item: Decimal(1) for item in history if tags.get(item)})
    discounts = {item: Decimal(2).ln(_DIGITS) / Decimal(rank + 1).ln(_DIGITS) for rank, item in enumerate(row, 1)}
    of_list = shares({item: weight for item, weight in discounts.items() if tags.get(item)})
    if not of_history or not of_list:
        return None
    mixed = {tag: (1 - _number(alpha)) * of_list.get(tag, 0) + _number(alpha) * p for tag, p in of_history.items()}
    return float(sum(p * (p / mixed[tag]).ln(_DIGITS) for tag, p in of_history.items()))
