"""From lists to what the formulas speak of: one user's ranking, judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Rules = Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    """A judged item at a rank."""

    relevant: bool
    grade: float


@dataclass(frozen=True)
class User:
    """One user: L, the ranking, and T, the relevant items, as the metrics see them."""

    ranking: tuple[Item | None, ...]  # by rank; None where the item is not judged
    relevant_grades: tuple[float, ...]  # of T
    nonrelevant: int  # judged items that are not relevant
    hits_repeat: bool = False  # an item of T counts at more than one rank

    @property
    def relevant(self) -> int:
        """|T|."""
        return len(self.relevant_grades)

    def top(self, k: int | None) -> tuple[Item | None, ...]:
        """Return the ranking down to the cutoff."""
        return self.ranking[:k]

    def judged(self, k: int | None) -> list[tuple[int, Item]]:
        """Return the judged items down to the cutoff with their ranks, from 1."""
        return [(rank, item) for rank, item in enumerate(self.top(k), start=1) if item is not None]

    def hit_ranks(self, k: int | None) -> list[int]:
        """Return the ranks of the relevant items down to the cutoff."""
        return [rank for rank, item in self.judged(k) if item.relevant]

    def hits(self, k: int | None) -> int:
        """h(k)."""
        return len(self.hit_ranks(k))


def gain(grade: float, rules: Rules) -> float:
    """Return the gain of a relevant item."""
    match rules["gain"]:
        case "binary":
            return 1.0
        case "linear":
            return grade
        case "exp2":
            return (math.ldexp(1.0, int(grade)) if grade == int(grade) else math.exp2(grade)) - 1
        case _:  # table
            return float(rules["gain_table"][int(grade)])


def is_relevant(grade: float, rules: Rules) -> bool:
    """Return whether the grade makes an item relevant."""
    return grade > 0 if rules["min_grade"] is None else grade >= rules["min_grade"]


def item_grades(truth: Sequence[tuple[int, float]], rules: Rules) -> dict[int, float]:
    """Return the grade of each item of the truth: of several, the first or the highest."""
    grades: dict[int, float] = {}
    for item, grade in truth:
        if item not in grades or rules["duplicate_truth"] == "max":
            grades[item] = max(grade, grades.get(item, grade))
    return grades


def judge(truth: Sequence[tuple[int, float]], ranking: Sequence[int], excluded: frozenset[int], rules: Rules) -> User:
    """Judge a user's list; `truth` has (item, grade) pairs, perhaps repeated."""
    grades = item_grades(truth, rules)
    items = {item: Item(is_relevant(grade, rules), grade) for item, grade in grades.items()}
    counted = [item for item, _ in truth] if rules["duplicate_truth"] == "count" else list(grades)
    ranked = _ranked(ranking, excluded, items, rules)
    hits = [item for item in ranking if item in items and item not in excluded and items[item].relevant]
    return User(
        ranking=tuple(ranked),
        relevant_grades=tuple(items[item].grade for item in counted if items[item].relevant),
        nonrelevant=sum(not items[item].relevant for item in counted),
        hits_repeat=rules["duplicate_items"] == "count" and len(hits) > len(set(hits)),
    )


def _ranked(
    ranking: Sequence[int], excluded: frozenset[int], items: Mapping[int, Item], rules: Rules
) -> list[Item | None]:
    """Return the list without the excluded items. A repeated item keeps its place."""
    ranked: list[Item | None] = []
    seen: set[int] = set()
    for item in ranking:
        if item in excluded:
            continue
        counts = item not in seen or rules["duplicate_items"] == "count"
        ranked.append(items.get(item) if counts else None)
        seen.add(item)
    return ranked
