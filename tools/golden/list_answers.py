"""What exactk says where a library was asked about lists and the catalogue."""

from __future__ import annotations

import math
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import exactk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golden.list_cases import ListCase

ListAnswer = tuple[float, dict[int, float] | None]
"""The value over all lists, and those of the users, if there are any."""

_OF_LISTS = {"users": "predictions"}
_SKIPPED = {**_OF_LISTS, "undefined": "skip"}

CONVENTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "evidently": {
            "foreign_items": "ignore",
            "overrides": {
                "novelty": _SKIPPED,
                "arp": _SKIPPED,
                "gini": {"foreign_items": "count", "gini_over": "items_less_one", "gini_items": "recommended"},
                "personalization": {"foreign_items": "count"},
                "ild": _OF_LISTS,
                "serendipity": _SKIPPED,
            },
        },
        "irspack": {"list_users": "users", "entropy_base": "e"},
        "lenskit": {"foreign_items": "count"},
        "recbole": {
            "popularity": "interactions",
            "entropy_base": "e",
            "entropy_over": "distinct_items",
            "decimals": 4,
            "overrides": {"arp": _OF_LISTS, "aplt": {**_OF_LISTS, "tail": "lowest_share", "unseen_items": "zero"}},
        },
        "recmetrics": {
            "popularity": "interactions",
            "unseen_items": "raise",
            "list_mean_over": "cutoff",
            "overrides": {"novelty": _OF_LISTS, "ild": _OF_LISTS},
        },
        "recommenders": {
            "foreign_items": "count",
            "overrides": {
                "novelty": {
                    **_OF_LISTS,
                    "popularity": "interactions",
                    "novelty_over": "interactions",
                    "unseen_items": "zero",
                    "average": "micro",
                },
                "ild": _SKIPPED,
                "serendipity": _SKIPPED,
            },
        },
        "rectools": {
            "foreign_items": "count",
            "overrides": {
                "novelty": _OF_LISTS,
                "arp": {**_OF_LISTS, "popularity": "interactions"},
                "list_fill": _OF_LISTS,
                "ild": _OF_LISTS,
                "serendipity": _OF_LISTS,
            },
        },
        "replay": {
            "foreign_items": "count",
            "list_mean_over": "cutoff",
            "overrides": {
                "coverage": {"foreign_items": "ignore"},
                "novelty": _OF_LISTS,
                "surprisal": _OF_LISTS,
                "unexpectedness": _OF_LISTS,
            },
        },
    }
)
"""How each library departs from the standard definitions; `overrides` are for single metrics."""


def split_key(key: str) -> tuple[str, int, dict[str, str]]:
    """Return the metric's name, its cutoff and its rules."""
    parts = re.fullmatch(r"(\w+)@(\d+)(?:\((.*)\))?", key.partition(" where ")[0])
    assert parts
    rules = dict(part.split("=") for part in parts[3].split(",")) if parts[3] else {}
    return parts[1], int(parts[2]), rules


def row_name(key: str) -> str:
    """Return what `DIFFERS` calls the row: the metric's name, and where."""
    metric, where, condition = key.partition(" where ")
    return re.split(r"[@(]", metric)[0] + where + condition


def catalogue_items(case: ListCase, kind: str) -> list[int]:
    """Return the items that could be recommended, as the library understands it."""
    if kind == "train":
        return case.items_of_train()
    return [*case.catalogue, max(case.catalogue) + 1000] if kind == "padded" else case.catalogue


def is_in_exactk(metric: str) -> bool:
    """Return whether exactk has the metric."""
    return metric in exactk.metrics or metric in exactk.agreement_metrics


def exactk_answer(name: str, case: ListCase, _data: dict[str, Any], key: str) -> ListAnswer:
    """Return the value by exactk."""
    metric, _, _ = split_key(key)
    text = key.partition(" where ")[0]
    if metric in exactk.agreement_metrics:
        report = exactk.agreement(case.lists, case.other, [text], per_user=True)
    else:
        convention = {"base": name, "list_fill.users": "predictions"}
        report = exactk.evaluate(case.truth, case.lists, [text], convention=convention, per_user=True)
    mean = report[text]
    users = report.per_user.get(text) if report.per_user else None
    if users is None:
        return mean, None
    assert report.users is not None
    return mean, dict(zip(map(int, report.users), users.tolist(), strict=True))


def difference(ours: ListAnswer, recorded: list[Any], tolerance: float) -> tuple[str, float, float | str] | None:
    """Return where two outputs differ first, and both numbers. Users without a value are NaN, or not there."""
    mean, users = recorded
    pairs = [] if mean is None else [("the mean", ours[0], mean)]
    if users is not None:
        assert ours[1] is not None
        by_user = {int(user): value for user, value in users.items()}
        pairs += [
            (f"user {user}", ours[1].get(user, math.nan), by_user.get(user, "nan"))
            for user in sorted({*ours[1], *by_user})
        ]
    for where, value, other in pairs:
        if not (math.isnan(value) if other == "nan" else abs(value - other) <= tolerance):
            return where, value, other
    return None
