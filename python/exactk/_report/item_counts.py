"""How often each item is recommended, relevant and hit: a table of what a report's tallies have of items."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._report.tallies import union_of_keys
from exactk._runtime.errors import input_error
from exactk._runtime.optional import NullableIntegers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import TallyPlan
    from exactk._report.tallies import ItemTally, TallyKeys


def columns_of_items(plans: Sequence[TallyPlan], tallies: Sequence[ItemTally]) -> tuple[TallyKeys, dict[str, Any]]:
    """Return the items that are counted, ascending, and columns with a row for each of them and each cutoff."""
    found = {name: _only(name, plans, tallies) for name in ("lists", "relevant", "hits")}
    counted = {name: tally for name, tally in found.items() if tally is not None}
    if not counted:
        hint = "item_recall@k counts how often items are relevant and hit, coverage@k how often they are recommended"
        raise input_error("table", "a metric that counts items", "none", hint=hint)
    keys: TallyKeys = np.empty(0, np.int64)
    for tally in counted.values():
        keys = union_of_keys(keys, tally.keys)
    of_ranks = [tally.cutoffs for name, tally in counted.items() if name != "relevant"]
    cutoffs = sorted({k for some in of_ranks for k in some}, key=lambda k: k or math.inf)

    def column(name: str) -> NDArray[Any]:
        of_cutoffs = [_counts_at(None if name == "relevant" else k, counted[name], keys) for k in cutoffs]
        return np.column_stack(of_cutoffs).ravel()

    columns: dict[str, Any] = {"k": NullableIntegers(cutoffs * len(keys))}
    if "lists" in counted:
        columns["recommended"] = column("lists")
    if "hits" in counted:
        columns |= {"relevant": column("relevant"), "hits": column("hits")}
        columns["recall"] = _ratios(columns["hits"], columns["relevant"])
    if "recommended" in columns and "hits" in columns:
        columns["precision"] = _ratios(columns["hits"], columns["recommended"])
    return keys, columns


def _only(name: str, plans: Sequence[TallyPlan], tallies: Sequence[ItemTally]) -> ItemTally | None:
    """Return the tally of what has this name, None if there is none; raise InputError if there are several."""
    found = [tally for plan, tally in zip(plans, tallies, strict=True) if plan.counted == name]
    if len(found) > 1:
        hint = "a report whose metrics of items have the same fields has the table"
        raise input_error("table", "items that all metrics count in one way", f"{len(found)} ways", hint=hint)
    return found[0] if found else None


def _counts_at(k: int | None, tally: ItemTally, keys: TallyKeys) -> NDArray[Any]:
    """Return the counts of these items at a cutoff, NaN if they were not counted there."""
    if k not in tally.cutoffs:
        return np.full(len(keys), math.nan)
    return tally.counts_of(keys, tally.cutoffs.index(k))


def _ratios(hits: NDArray[Any], of: NDArray[Any]) -> NDArray[np.float64]:
    """Return the quotients, NaN for 0 / 0."""
    ratios: NDArray[np.float64] = np.full(len(hits), math.nan)
    np.divide(hits, of, out=ratios, where=of > 0)
    return ratios
