"""A field of the convention changes values of the metrics that the table says read it, and never of others."""

from __future__ import annotations

import math
import random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._plan.fields import FIELDS
from exactk._plan.metrics import evaluation_metrics
from field_table import changes_of, does_read, refused_choices, spelled
from strategies import examples
from warned import result_and_warnings

ITEMS = range(8)
ACCEPTED = ["duplicate_items=first", "duplicate_truth=first", "nan=last", "negative_grades=zero_gain"]
ACCEPTED += ["foreign_items=ignore", "missing_features=skip"]
BESIDE = [
    ["users=union"],
    ["list_users=users"],
    ["list_users=users", "empty_truth=zero", "users=union"],
    ["list_users=users", "min_grade=any"],
    ["empty_truth=compute", "precision_over=list", "users=union"],
    ["serendipity_of=popularity"],
    ["min_grade=any"],
    ["arp_over=max"],
    ["gain=table", "gain_table=[0,1,2,3]"],
    ["negative_infinity=exclude"],
]
"""Fields that let others have an effect."""


class Drawn:
    """One call's inputs and convention, of all that fields decide about, for one field above all."""

    def __init__(self, seed: int, field: str) -> None:
        self.rng = rng = random.Random(f"{field} {seed}")  # noqa: S311 - drawn, and not secret
        accepted = [one for one in ACCEPTED if not one.startswith(field) and rng.random() < 0.9]
        beside = rng.choice([[], *BESIDE])
        if field in {"users", "empty_truth", "empty_list", "min_grade", "negative_grades"} and rng.random() < 0.5:
            beside = ["list_users=users", *beside]
        self.cutoff = rng.choice([None, 1, 2, 2, 3])
        self.convention: dict[str, Any] = {}
        for one in (*accepted, *beside):
            name, _, choice = one.partition("=")
            if name != field:
                self.convention[name] = [0, 1, 2, 3] if name == "gain_table" else choice
        self.repeats = field in {"duplicate_items", "duplicate_truth"} or rng.random() < 0.2
        users = range(rng.randint(2, 4))
        longest = rng.choice([0, 1, 5]) if field in {"empty_list", "undefined"} else 5
        kinds = {"rank_gaps": ["ranks"], "duplicate_items": ["lists"], "foreign_items": ["lists"]}
        scored = {"score_dtype", "negative_infinity", "nan", "ties", "chunk_score"}
        kind = rng.choice(kinds.get(field, ["scores"] if field in scored else ["lists", "scores", "ranks"]))
        is_graded = rng.random() < 0.8 and field != "duplicate_truth"
        share = 0.5 if field == "users" else 0.9
        truth = {user: self._relevant(is_graded=is_graded) for user in users if rng.random() < share}
        lists = {user: rng.sample(ITEMS, rng.randint(0, longest)) for user in users if rng.random() < share}
        self.options: dict[str, Any] = {
            "truth": truth or {0: [1]},
            "predictions": self._predictions(lists or {0: [1]}, kind),
            "base_predictions": {user: rng.sample(ITEMS, rng.randint(0, 4)) for user in users},
            "per_user": True,
        }
        if field == "chunk_score":
            self.options["parents"] = {item: item - item % 2 for item in ITEMS}
        self.features = {"vectors": self._items(users, tags=False), "tags": self._items(users, tags=True)}

    def _relevant(self, *, is_graded: bool) -> Any:
        items = self.rng.sample(ITEMS, self.rng.randint(0, 4))
        if is_graded:
            return {item: float(self.rng.choice([-1, 0, 1, 2, 3])) for item in items}
        return [*items, *items[:1]] if self.repeats else items

    def _predictions(self, lists: dict[int, list[int]], kind: str) -> Any:
        rng = self.rng
        if kind == "scores":
            some = [1.0, 1.0 + 2**-40, 0.5, 0.5, -1e300, -math.inf, math.nan]
            return {user: {item: rng.choice(some[: rng.randint(5, 7)]) for item in row} for user, row in lists.items()}
        if kind == "lists":
            extra = [99] if rng.random() < 0.5 else []
            return {user: [*extra, *row, *(row[:1] if self.repeats else [])] for user, row in lists.items()}
        rows = []
        for user, row in lists.items():
            rank = 0
            for item in row:
                rank += rng.choice([1, 2, 3])
                rows.append((user, item, rank))
        return pd.DataFrame(rows or [(0, 1, 2)], columns=["user", "item", "rank"])

    def _items(self, users: range, *, tags: bool) -> exactk.Items:
        rng = self.rng
        train = {user: rng.choices(ITEMS, k=rng.randint(0, 5)) for user in users} | {99: [0, 0, 1, *ITEMS[2:7]]}
        graph = [[0.0] * len(ITEMS) for _ in ITEMS]
        for i in ITEMS:
            for j in range(i):
                graph[i][j] = graph[j][i] = float(rng.choice([0, 1]))
        lacks = {rng.choice(ITEMS)} if rng.random() < 0.3 else set()
        features: dict[int, Any] = {i: rng.sample("abcd", rng.randint(1, 3)) if tags else graph[i] for i in ITEMS}
        return exactk.Items(
            ITEMS,
            train=train,
            features={item: one for item, one in features.items() if item not in lacks},
            item_groups={item: rng.choice("xyz") for item in ITEMS},
            values={item: rng.choice([0.0, 1.0, 2.5]) for item in ITEMS},
        )

    def outcome(self, metric: str, changes: list[str]) -> tuple[str, list[str]]:
        """Return the values of the metric at a cutoff, or that there is an error; and the warnings."""
        info = evaluation_metrics[metric]
        cutoff = None if info.pairwise else self.cutoff
        items = self.features["tags" if info.reads_features and "distance" not in info.own_fields else "vectors"]
        texts = [spelled(metric, cutoff, changes)]

        def values() -> str:
            try:
                report = exactk.evaluate(metrics=texts, items=items, convention=self.convention, **self.options)
            except exactk.InputError:
                return "an error"
            return repr([*report.values(), *(row.tolist() for row in report.per_user.values())])

        return result_and_warnings(values)


UNREAD = [(name, field) for name in evaluation_metrics for field in FIELDS if not does_read(name, field)]
UNREAD = [(name, field) for name, field in UNREAD if field not in {"weight", "average"}]  # which are refused


@settings(max_examples=examples(400))
@given(st.sampled_from(UNREAD), st.integers(0, 10**6))
def test_a_field_that_is_not_read_changes_nothing_and_is_told_of(pair: tuple[str, str], seed: int) -> None:
    metric, field = pair
    drawn = Drawn(seed, field)
    is_graded = all(isinstance(one, dict) for one in drawn.options["truth"].values())
    for changes in changes_of(field):
        if changes == ["negative_grades=unjudged"] and drawn.convention.get("min_grade") == "any":
            continue  # which contradict each other
        expected, _ = drawn.outcome(metric, changes[1:])
        if field == "min_grade" and not is_graded:  # a bound of grades where there are none is refused of any metric
            continue
        found, texts = drawn.outcome(metric, changes)
        assert found == expected, changes
        is_standard = changes[0] == f"{field}={getattr(exactk.conventions['standard'], field)}"
        if not is_standard and found != "an error":
            assert any(f"{field} has no effect on {metric}" in text for text in texts), changes


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_is_read_changes_values(field: str) -> None:
    left = {name for name in evaluation_metrics if does_read(name, field)}
    left -= {"num_items"} if field == "decimals" else set()  # an integer, whatever it is rounded to
    left -= {"gauc"} if field == "users" else set()  # who lack a list, or a truth, have no weight
    for seed in range(400):
        if not left:
            return
        drawn = Drawn(seed, field)
        for metric in sorted(left):
            unchanged = ["item_group=x"] if field == "item_group_value" else []
            outcomes = {drawn.outcome(metric, changes)[0] for changes in (unchanged, *changes_of(field))}
            if len(outcomes) > 1:
                left.remove(metric)
    assert not left


@settings(max_examples=examples(100))
@given(st.sampled_from(sorted(refused_choices())), st.integers(0, 10**6))
def test_a_refused_choice_is_refused_of_any_input(field: str, seed: int) -> None:
    drawn = Drawn(seed, field)
    for changes in changes_of(field):
        for metric in refused_choices()[field].get(changes[0].partition("=")[2], ()):
            if field != "ties" or isinstance(next(iter(drawn.options["predictions"].values()), None), dict):
                assert drawn.outcome(metric, changes)[0] == "an error", (metric, changes)
