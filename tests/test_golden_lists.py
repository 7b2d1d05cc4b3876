"""Metrics of lists against what libraries returned: ``tests/golden/lists_*.json`` holds the answers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import pytest

import exactk
import list_oracle as oracle
from golden.list_cases import ListCase, list_cases
from golden.list_record import (
    list_adapter_names,
    list_differences,
    load_list_adapter,
    read_list_recording,
    record_lists,
)

LIBRARIES = list_adapter_names()

# What the library's own definition departs in; `overrides` are of single metrics.
CONVENTIONS: Mapping[str, Mapping[str, Any]] = {
    "evidently": {
        "foreign_items": "ignore",
        "overrides": {
            "gini": {"foreign_items": "count", "gini_over": "items_less_one", "gini_items": "recommended"},
            "personalization": {"foreign_items": "count", "similarity": "overlap"},
        },
    },
    "irspack": {"list_users": "users", "entropy_base": "e"},
    "lenskit": {"foreign_items": "count", "undefined": "zero"},
    "recbole": {
        "popularity": "interactions",
        "tail": "lowest_share",
        "entropy_base": "e",
        "entropy_over": "distinct_items",
        "overrides": {"aplt": {"unseen_items": "zero"}},
    },
    "recmetrics": {"popularity": "interactions", "unseen_items": "raise", "list_mean_over": "cutoff"},
    "recommenders": {
        "foreign_items": "count",
        "overrides": {
            "novelty": {
                "popularity": "interactions",
                "novelty_over": "interactions",
                "unseen_items": "zero",
                "average": "micro",
            }
        },
    },
    "rectools": {"foreign_items": "count", "overrides": {"arp": {"popularity": "interactions"}}},
    "replay": {
        "foreign_items": "count",
        "list_mean_over": "cutoff",
        "overrides": {"coverage": {"foreign_items": "ignore"}},
    },
}


def split(key: str) -> tuple[str, int, dict[str, str]]:
    """Return the metric's name, its cutoff and its rules."""
    found = re.fullmatch(r"(\w+)@(\d+)(?:\((.*)\))?", key.partition(" where ")[0])
    assert found
    rules = dict(part.split("=") for part in found[3].split(",")) if found[3] else {}
    return found[1], int(found[2]), rules


def group(key: str) -> str:
    """Return what `DIFFERS` calls the row: the metric's name, and where."""
    metric, where, condition = key.partition(" where ")
    return re.split(r"[@(]", metric)[0] + where + condition


def catalogue_items(case: ListCase, kind: str) -> list[int]:
    """Return the items that could be recommended, as the library understands it."""
    if kind == "train":
        return case.items_of_train()
    padding = [max(case.catalogue) + 1000] if kind == "padded" else []
    return case.catalogue + padding


def from_oracle(name: str, case: ListCase, data: dict[str, Any], key: str) -> tuple[float, dict[int, float] | None]:
    """Return the value by the formulas."""
    metric, k, rules = split(key)
    items = frozenset(catalogue_items(case, data["catalogue"]))
    return oracle.values(
        metric,
        k,
        oracle.fields(CONVENTIONS[name], metric) | rules,
        lists=case.lists,
        truth=case.truth,
        other=case.other,
        catalogue=oracle.Catalogue(items, case.train, case.features),
    )


def from_agreement(case: ListCase, key: str) -> tuple[float, dict[int, float]]:
    """Return the value by `exactk.agreement`."""
    report = exactk.agreement(case.lists, case.other, [key.partition(" where ")[0]], per_user=True)
    (mean,), (users,) = report.values(), report.per_user.values()
    assert report.users is not None
    return mean, dict(zip(map(int, report.users), users.tolist(), strict=True))


def difference(ours: tuple[float, dict[int, float] | None], recorded: list[Any], tolerance: float) -> str:
    """Return where two outputs differ; empty: nowhere. Users without a value are NaN, or not there."""
    mean, users = recorded
    pairs = [] if mean is None else [("the mean", ours[0], mean)]
    if users is not None:
        assert ours[1] is not None
        recorded_users = {int(user): value for user, value in users.items()}
        pairs += [
            (f"user {user}", ours[1].get(user, math.nan), recorded_users.get(user, "nan"))
            for user in sorted({*ours[1], *recorded_users})
        ]
    for where, value, other in pairs:
        if not (math.isnan(value) if other == "nan" else abs(value - other) <= tolerance):
            return f"{where}: {value}, recorded {other}"
    return ""


def rows(data: dict[str, Any]) -> list[tuple[ListCase, str, list[Any]]]:
    """Return every output that is a number."""
    return [
        (ListCase.from_dict(case), key, output)
        for case in data["cases"]
        for key, output in case["outputs"].items()
        if not isinstance(output, str)
    ]


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_the_convention_says_what_the_library_says(name: str, record_property: Any) -> None:
    data = read_list_recording(name)
    found: dict[str, str] = {}
    for case, key, output in rows(data):
        metric, _, _ = split(key)
        tolerance = data["tolerances"].get(metric, data["tolerance"])
        try:
            ours = (
                from_agreement(case, key) if metric in exactk.agreement_metrics else from_oracle(name, case, data, key)
            )
            differs = difference(ours, output, tolerance)
        except oracle.RefusedItemError:
            differs = "refused"
        if differs:
            found.setdefault(group(key), f"{case.name}, {key}, {differs}")
    expected = set(data["differs"])
    record_property("golden", f"{name}: {data['library']} {data['version']}, {len(rows(data))} outputs")
    assert {key: found[key] for key in found if key not in expected} == {}
    assert expected <= set(found), "what is said to differ does not"


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_recorded_cases_are_those_that_are_drawn(name: str) -> None:
    recorded_cases = [ListCase.from_dict(case) for case in read_list_recording(name)["cases"]]
    assert recorded_cases == list_cases(load_list_adapter(name).KNOBS)


@pytest.mark.native  # another library's code is not ours to watch
def test_libraries_that_are_installed_still_say_it() -> None:
    for name in LIBRARIES:
        if find_spec(load_list_adapter(name).MODULE):
            assert list_differences(name, record_lists(name)) == []
