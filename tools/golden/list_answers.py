"""What exactk says where a library was asked about lists and the catalogue."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import exactk
from exactk._plan.fields import FIELDS
from exactk._plan.metrics import metrics

if TYPE_CHECKING:
    from golden.list_cases import ListCase

ListAnswer = tuple[float, dict[int, float] | None]
"""The value over all lists, and those of the users, if there are any."""


def rules_of(name: str, metric: str) -> dict[str, Any]:
    """Return the fields of a library's convention for a metric."""
    preset = exactk.conventions[name]
    of_all = {field: getattr(preset, field) for field in FIELDS}
    return {**of_all, **preset.overrides.get(metric, {})}


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


def _items(name: str, metric: str, case: ListCase, kind: str) -> exactk.Items:
    """Return the catalogue; for distances, all items that have features."""
    train = case.rows_of_train()
    if "distance" in metrics[metric].own_fields and rules_of(name, metric)["serendipity_of"] == "features":
        return exactk.Items(list(case.features), train=train, features=case.features)
    return exactk.Items(catalogue_items(case, kind), train=train)


def exactk_answer(name: str, case: ListCase, data: dict[str, Any], key: str) -> ListAnswer:
    """Return the value by exactk."""
    metric, _, _ = split_key(key)
    text = key.partition(" where ")[0]
    if metric in exactk.agreement_metrics:
        report = exactk.agreement(case.lists, case.other, [text], per_user=True)
    else:
        items = _items(name, metric, case, data["catalogue"])
        others = {"base_predictions": case.other} if metric == "unexpectedness" else {"items": items}
        report = exactk.evaluate(case.truth, case.lists, [text], convention=name, per_user=True, **others)
    mean = report[text]
    users = report.per_user.get(text) if report.per_user else None
    if users is None:
        return mean, None
    assert report.users is not None
    return mean, dict(zip(map(int, report.users), users.tolist(), strict=True))


def difference(ours: ListAnswer, recorded: list[Any], tolerance: float) -> tuple[str, float, float | str] | None:
    """Return where two outputs differ first, and both numbers. Users without a value are NaN, or not there."""
    mean, users = recorded
    pairs = [] if mean is None else [("the value" if users is None else "the mean", ours[0], mean)]
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
