"""Ranks of systems: those that no significant difference excludes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from strategies import examples

TRUTH: Any = [[1]] * 60


def compared(hits: dict[str, int], **options: Any) -> exactk.Comparison:
    """Compare systems of which the first users have a hit."""
    systems = {name: [[1]] * count + [[2]] * (60 - count) for name, count in hits.items()}
    return exactk.compare(TRUTH, systems, "P@1", **options)


@pytest.mark.parametrize(
    "how", [{}, {"test": "permutation"}, {"test": "permutation", "adjust": "max_t"}, {"test": "sign"}]
)
def test_ranks_are_counts_of_significant_differences(how: dict[str, Any]) -> None:
    comparison = compared({"low": 5, "top": 44, "next": 43, "middle": 25}, **how)
    ranks = comparison.ranks("P@1")
    assert list(ranks) == ["top", "next", "middle", "low"]
    assert dict(ranks) == {"top": (1, 2), "next": (1, 2), "middle": (3, 3), "low": (4, 4)}
    assert ranks.top == ("top", "next")
    assert [ranks["low"].best, ranks["low"].worst] == [4, 4]
    assert repr(ranks).splitlines()[0].split() == ["system", "P@1", "rank"]
    assert "tied for the top: top, next" in repr(ranks)
    assert "over 6 comparisons per metric" in repr(ranks)
    assert comparison.ranks("precision@1") == ranks


@settings(max_examples=examples(25))
@given(
    st.integers(0, 2**32),
    st.sampled_from(["holm", "none", "benjamini_hochberg", "max_t"]),
    st.sampled_from([0.6, 0.95]),
)
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_ranks_by_counting(seed: int, adjust: Any, confidence: float) -> None:
    rng = np.random.default_rng(seed)
    systems = {name: np.where(rng.random(60) < rng.random(), 1, 2)[:, None] for name in "abcd"[: rng.integers(2, 5)]}
    options: dict[str, Any] = {"test": "permutation", "permutations": 199} if adjust == "max_t" else {}
    comparison = exactk.compare(TRUTH, systems, "P@1", adjust=adjust, confidence=confidence, **options)
    better: dict[str, list[str]] = {name: [] for name in systems}  # than each system
    for row in comparison.differences:
        if row.p_adjusted <= 1 - confidence and row.difference:
            winner, loser = (row.system, row.baseline) if row.difference > 0 else (row.baseline, row.system)
            better[loser].append(winner)
    ranks = comparison.ranks("P@1")
    for name in systems:
        losers = sum(name in winners for winners in better.values())
        assert ranks[name] == (1 + len(better[name]), len(systems) - losers)
    values = [comparison["P@1"][name] for name in ranks]
    assert values == sorted(values, reverse=True)
    assert ranks.top == tuple(name for name in ranks if not better[name])
    assert next(iter(ranks)) in ranks.top


def test_ranks_are_copied_and_read() -> None:
    ranks = compared({"a": 20, "b": 38, "c": 44}).ranks("P@1")
    for again in (pickle.loads(pickle.dumps(ranks)), copy.deepcopy(ranks)):  # noqa: S301 - our own
        assert again == ranks
        assert repr(again) == repr(ranks)


NONE: Any = {"undefined": "nan", "empty_truth": "compute"}


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize(
    ("options", "metric", "message"),
    [
        ({"baseline": "a"}, "P@1", "baseline: expected None, so that every pair is compared, found 'a'"),
        ({"alternative": "less"}, "P@1", "alternative: expected 'two_sided', to rank systems, found 'less'"),
        ({}, "P@2", "metric: expected one of P@1, num_recommended, recall@1, found 'P@2'"),
        ({}, "nothing", "metric: expected the name of a metric, found 'nothing'"),
        ({}, "num_recommended", "metric: expected a metric whose values are better if they are higher, or lower, found 'num_recommended'"),
        ({"convention": NONE}, "recall@1", "metric: expected a p-value of every pair of systems in recall@1, found none of 'b' and 'a': undefined for 1 user"),
    ],
)  # fmt: skip
def test_what_cannot_be_ranked(options: dict[str, Any], metric: str, message: str) -> None:
    truth: Any = [[1], [], [1]]
    systems: Any = {"a": [[1], [2], [1]], "b": [[2], [2], [1]], "c": [[2], [1], [1]]}
    comparison = exactk.compare(truth, systems, ["P@1", "num_recommended", "recall@1"], **options)
    with pytest.raises(exactk.InputError) as caught:
        comparison.ranks(metric)
    assert str(caught.value).startswith(message)
