"""P-values of systems whose values per user are already there, by `exactk.compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from exactk._compare import compare as compare_systems
from exactk._inputs.model.lists import Rankings
from exactk._inputs.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_VALUE_OF_FIRST_ITEM = "dcg@1"
_CONVENTION = {"base": "ranx", "min_grade": "any"}
_FEWEST_PERMUTATIONS, _MOST_PERMUTATIONS = 99, 10_000_000  # of exactk.compare
_SEEDS = 1 << 64

PairTest = Literal["t", "permutation", "max_t"]


def p_values(
    values: Mapping[str, NDArray[np.float64]], test: PairTest, permutations: int, seed: int
) -> dict[frozenset[str], float]:
    """Return the p-value of each pair of systems; NaN for pairs with a value that is NaN.

    With ``"max_t"``, p-values are those of permutations, adjusted for all pairs.
    """
    pairs = {frozenset([one, other]): np.nan for one in values for other in values if one != other}
    defined = {name: one for name, one in values.items() if not np.isnan(one).any()}
    if len(defined) < 2 or not len(next(iter(defined.values()))):
        return pairs
    draws: dict[str, Any] = {} if test == "t" else {"permutations": _drawable(permutations), "seed": seed % _SEEDS}
    comparison = compare_systems(
        _graded_items(list(defined.values())),
        {name: _single_items(len(one), item) for item, (name, one) in enumerate(defined.items())},
        _VALUE_OF_FIRST_ITEM,
        convention=_CONVENTION,
        test="t" if test == "t" else "permutation",
        adjust="max_t" if test == "max_t" else "none",
        **draws,
    )
    for one in comparison.differences:
        pairs[frozenset([one.system, one.baseline])] = one.p_adjusted
    return pairs


def _drawable(permutations: int) -> int:
    return min(max(permutations, _FEWEST_PERMUTATIONS), _MOST_PERMUTATIONS)


def _graded_items(values: Sequence[NDArray[np.float64]]) -> Truth:
    """Return a truth with an item for each system, whose grade is the value: the DCG of a list of this item alone."""
    systems, users = len(values), len(values[0])
    items = np.tile(np.arange(systems), users)
    return Truth(np.arange(0, users * systems + 1, systems), items, np.stack(values, axis=1).ravel())


def _single_items(users: int, item: int) -> Rankings:
    return Rankings(np.arange(users + 1), np.full(users, item))
