"""The metrics of a collection of lists, by their definitions: over items, and over all pairs of items or lists.

Each takes the items that every list recommends and the size of the catalogue, and returns an exact number, or one of 60
digits; None stands for 0 / 0.
"""

from __future__ import annotations

from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from itertools import chain, combinations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exactk.reference.rules import Rules

Number = Fraction | Decimal | None

_CONTEXT = Context(prec=60)


def coverage(lists: Sequence[Sequence[object]], catalogue_size: int, _rules: Rules) -> Number:
    """Return the share of the catalogue that some list recommends."""
    return Fraction(len({*chain(*lists)}), catalogue_size) if catalogue_size else None


def num_items(lists: Sequence[Sequence[object]], _size: int, _rules: Rules) -> Number:
    """Return the number of items that some list recommends."""
    return Fraction(len({*chain(*lists)}))


def gini(lists: Sequence[Sequence[object]], catalogue_size: int, rules: Rules) -> Number:
    """Return half the mean difference of two items' counts, over their mean. Gini 1912.

    For counts that ascend with j, this is the sum of (2 j - n - 1) c_j over n T.
    """
    counts = list(Counter(chain(*lists)).values())
    if rules["gini_items"] == "catalogue":
        counts += [0] * (catalogue_size - len(counts))
    differences = sum(abs(one - other) for one, other in product(counts, repeat=2))
    items = len(counts) if rules["gini_over"] == "items" else len(counts) - 1
    divisor = 2 * items * sum(counts)
    return Fraction(differences, divisor) if divisor else None


def entropy(lists: Sequence[Sequence[object]], catalogue_size: int, rules: Rules) -> Number:
    """Return -sum of q log q, where q is an item's share of all recommendations. Shannon 1948."""
    counts = Counter(chain(*lists))
    total = sum(counts.values())
    if not total:
        return None
    shares = [Decimal(count) / Decimal(total) for count in counts.values()]
    bits = -sum((_CONTEXT.multiply(share, _ln(share)) for share in shares), Decimal(0))
    if rules["entropy_over"] == "log_items":
        return _CONTEXT.divide(bits, _ln(Decimal(catalogue_size))) if catalogue_size > 1 else None
    in_base = _CONTEXT.divide(bits, _ln(Decimal(2))) if rules["entropy_base"] == "2" else bits
    return _CONTEXT.divide(in_base, Decimal(len(counts) if rules["entropy_over"] == "distinct_items" else 1))


def personalization(lists: Sequence[Sequence[object]], _size: int, rules: Rules) -> Number:
    """Return 1 - the mean similarity of two lists that have items."""
    sets = [{*items} for items in lists if items]
    if len(sets) <= 1:
        return None
    if rules["list_similarity"] == "overlap":
        shared = sum(len(one & other) for one, other in combinations(sets, 2))
        both = sum(len(one) + len(other) for one, other in combinations(sets, 2))
        return 1 - Fraction(2 * shared, both)
    cosines = [_cosine(one, other) for one, other in combinations(sets, 2)]
    mean = _CONTEXT.divide(sum(cosines, Decimal(0)), Decimal(len(cosines)))
    return _CONTEXT.subtract(Decimal(1), mean)


def _cosine(one: set[object], other: set[object]) -> Decimal:
    """Return |A & B| / sqrt(|A| |B|)."""
    return _CONTEXT.divide(Decimal(len(one & other)), Decimal(len(one) * len(other)).sqrt(_CONTEXT))


def _ln(number: Decimal) -> Decimal:
    return number.ln(_CONTEXT)


COLLECTION_METRICS: dict[str, Callable[[Sequence[Sequence[object]], int, Rules], Number]] = {
    function.__name__: function for function in (coverage, num_items, gini, entropy, personalization)
}
