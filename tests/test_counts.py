"""What is counted beside the sums: merged, and written as plain data."""

from __future__ import annotations

import re
from typing import Any

import pytest

from exactk._report.counts import CandidateCounts, Counts, TieCounts

METRICS = ("precision@1", "recall")
SCALARS = Counts(9, 1, 2, 3, 4, 5, 6, 7, 8, 10)
FEW = SCALARS._replace(
    candidates=CandidateCounts(2, 7, 3, 4), unknown_actual=2, ties=(TieCounts(1, 30), TieCounts(0, 0))
)
MANY = SCALARS._replace(
    longest_list=99, candidates=CandidateCounts(1, 9, 9, 9), rank_gaps=5, foreign_recommended=8, unseen_recommended=0,
    ties=(TieCounts(2, 40), TieCounts(9, 8)),
)  # fmt: skip
PLAIN: dict[str, int] = {
    "users": 9, "empty_truth": 1, "empty_predictions": 2, "missing_lists": 3, "missing_truth": 4,
    "duplicates": 5, "excluded_recommended": 6, "relevant_excluded": 7, "relevant_not_rankable": 8, "longest_list": 10,
    "unknown_actual": 2, "candidates.users": 2, "candidates.total": 7, "candidates.min": 3, "candidates.max": 4,
    "tie_dependent.precision@1": 1, "tie_spread.precision@1": 30, "tie_dependent.recall": 0, "tie_spread.recall": 0,
}  # fmt: skip


def test_counts_are_added_but_extremes_are_chosen() -> None:
    expected = Counts(
        *(18, 2, 4, 6, 8, 10, 12, 14, 16, 99), candidates=CandidateCounts(3, 16, 3, 9), unknown_actual=2, rank_gaps=5,
        foreign_recommended=8, unseen_recommended=0, ties=(TieCounts(3, 70), TieCounts(9, 8)),
    )  # fmt: skip
    assert FEW.merge(MANY) == MANY.merge(FEW) == expected


def test_users_without_candidates_leave_the_fewest() -> None:
    nobody = SCALARS._replace(candidates=CandidateCounts(0, 0, 0, 0))
    for one, other in ((nobody, FEW), (FEW, nobody), (FEW, SCALARS)):
        assert one.merge(other).candidates == FEW.candidates
    assert SCALARS.merge(SCALARS).candidates is None
    assert nobody.merge(nobody).candidates == nobody.candidates


@pytest.mark.parametrize("counts", [SCALARS, FEW, MANY, SCALARS._replace(unknown_actual=0)])
def test_plain_counts_are_read_again(counts: Counts) -> None:
    assert Counts.from_plain(counts.to_plain(METRICS), METRICS) == counts


def test_plain_counts_have_the_names_that_states_are_written_with() -> None:
    assert FEW.to_plain(METRICS) == PLAIN
    assert "rank_gaps" not in PLAIN
    assert MANY.to_plain(METRICS)["rank_gaps"] == 5
    assert PLAIN.keys().isdisjoint({"foreign_recommended", "unseen_recommended"})
    plain = MANY.to_plain(METRICS)
    assert (plain["foreign_recommended"], plain["unseen_recommended"]) == (8, 0)
    assert MANY.merge(MANY).to_plain(METRICS)["foreign_recommended"] == 16


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "unknown_actual"])
def test_counts_that_belong_together_are_read_together(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^counts: expected (a mapping with|all of) .*{re.escape(name)}"):
        Counts.from_plain({key: count for key, count in PLAIN.items() if key != name}, METRICS)


@pytest.mark.parametrize(
    "change",
    [
        {"further": 1}, {"tie_dependent.ndcg": 1}, {"candidates": 1}, {"empty_truth": 10}, {"candidates.users": 10},
        {"users": 6},  # fewer than without predictions or truth
        {"tie_dependent.recall": 10}, {"candidates.min": 5}, {"duplicates": True}, {7: 1},
    ],
)  # fmt: skip
def test_counts_that_no_users_can_have(change: dict[Any, Any]) -> None:
    with pytest.raises(ValueError, match=r"^counts[\w.@]*: expected "):
        Counts.from_plain({**PLAIN, **change}, METRICS)
