"""Exposure by rank, and the tags of a list: by hand, and as LensKit and RePlay have them."""

from __future__ import annotations

import math
from typing import Any

import pytest

import exactk
from recorded_measures import needs_recording, recorded

TAGS = {"a": ["drama"], "b": ["drama", "crime"], "c": ["comedy"], "d": ["drama"]}
ITEMS = exactk.Items([*TAGS], features=TAGS)


def test_tags_by_hand() -> None:
    """Of a, b: drama at both ranks, crime at the second."""
    metrics = ["tag_diversity@2", "tag_entropy@2(discount=none)", "tag_entropy@2(discount=geometric)"]
    report = exactk.evaluate(None, [["a", "b", "c"], ["d"]], metrics, items=ITEMS, per_user=True)
    entropies = [
        -sum(share * math.log2(share) for share in shares) for shares in ([2 / 3, 1 / 3], [1.85 / 2.7, 0.85 / 2.7])
    ]
    assert report.per_user["tag_diversity@2"].tolist() == [1, 1]
    for metric, entropy in zip(metrics[1:], entropies, strict=True):
        assert report.per_user[metric].tolist() == pytest.approx([entropy, 0], rel=1e-15, abs=0)
    natural = exactk.evaluate(None, [["a", "b"]], "tag_entropy(discount=none,entropy_base=e)", items=ITEMS)
    assert [*natural.values()] == pytest.approx([entropies[0] * math.log(2)], rel=1e-15, abs=0)


def test_items_without_tags_do_not_count() -> None:
    items = exactk.Items(["a", "b", "x"], features={"a": ["drama"], "b": ["crime"]})
    options: dict[str, Any] = {
        "items": items,
        "convention": {"missing_features": "skip", "undefined": "nan"},
        "per_user": True,
    }
    report = exactk.evaluate(None, [["x", "a", "b"], ["x"]], ["tag_diversity@2", "tag_entropy@3"], **options)
    assert report.per_user["tag_diversity@2"].tolist() == pytest.approx([1, math.nan], nan_ok=True)
    share = math.log(3) / math.log(4)  # the discounts of ranks 2 and 3 are ln 2 / ln 3 and ln 2 / ln 4
    shares = [1 / (1 + share), share / (1 + share)]
    entropy = -sum(one * math.log2(one) for one in shares)
    assert report.per_user["tag_entropy@3"].tolist() == pytest.approx([entropy, math.nan], rel=1e-15, nan_ok=True)


def test_exposure_by_hand() -> None:
    """With weights 1 and 1/2: the first item of two lists has 2, another 1/2, two have nothing."""
    report = exactk.evaluate(
        None, [["a", "b"], ["a", "c"]], "exposure_gini@2(discount=inverse)", items=exactk.Items(["a", "b", "c", "d"])
    )
    assert [*report.values()] == [(-3 * 0 - 1 / 2 + 1 / 2 + 3 * 2) / (4 * 3)]


@pytest.mark.parametrize("metric", ["exposure_gini", "exposure_gini@1001"])
def test_exposure_is_counted_by_rank(metric: str) -> None:
    with pytest.raises(exactk.InputError, match="exposure_gini@k with k of at most 1000"):
        exactk.evaluate(None, [["a"]], metric, items=exactk.Items(["a"]))


def test_ties_within_the_list_are_told() -> None:
    scores = [{"a": 2.0, "b": 2.0, "c": 1.0}, {"a": 3.0, "b": 2.0, "c": 1.0}]
    with pytest.warns(exactk.EvaluationWarning, match="may change exposure_gini@3 for 1 of 2 users"):
        report = exactk.evaluate(None, scores, ["exposure_gini@3", "gini@3"], items=exactk.Items(["a", "b", "c"]))
    assert report.counts["tie_dependent"] == {"exposure_gini@3": 1, "gini@3": 0}


@needs_recording
def test_entropies_of_lenskit() -> None:
    """It adds 1e-6 to the weight of each of three categories."""
    data, compared = recorded("lenskit"), 0
    features = {
        item: [str(tag) for tag, flag in enumerate(row) if flag] for item, row in enumerate(data["categories of u1"])
    }
    items = exactk.Items(range(5), features={item: tags for item, tags in features.items() if tags})
    for name, value in data["values"].items():
        if "entropy u1" not in name:
            continue
        kind = "none" if name.startswith("entropy") else "log2_floored" if "Log" in name else "geometric"
        cutoff = "" if "n=None" in name else f"@{name.rpartition('n=')[2].split()[0]}"
        metric = f"tag_entropy{cutoff}(discount={kind},missing_features=skip)"
        report = exactk.evaluate(None, [[0, 1, 2, 3, 4]], metric, items=items)
        assert report[metric] == pytest.approx(value, abs=5e-5)
        compared += 1
    assert compared == 12


@needs_recording
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_categorical_diversity_of_replay(k: int) -> None:
    """Its lists are of categories: those of users are items here, each with its own."""
    data = recorded("replay")
    of_users = {user: [category for category, _ in rows] for user, rows in data["categories"].items()}
    lists = {user: [f"{user} {rank}" for rank, _ in enumerate(row)] for user, row in of_users.items()}
    tags = {f"{user} {rank}": [category] for user, row in of_users.items() for rank, category in enumerate(row)}
    metric = f"tag_diversity@{k}"
    report = exactk.evaluate(
        None, lists, metric, items=exactk.Items([*tags], features=tags), convention="replay", per_user=True
    )
    values = data["values"]["CategoricalDiversity polars | per user"][f"CategoricalDiversity-PerUser@{k}"]
    assert dict(zip(report.users, report.per_user[metric].tolist(), strict=True)) == pytest.approx(values, abs=1e-12)
    mean = data["values"]["CategoricalDiversity polars | mean"][f"CategoricalDiversity@{k}"]
    assert report[metric] == pytest.approx(mean, abs=1e-12)
