"""Fusion in plain Python: the lists of several systems to one list, each sum rounded once."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from decimal import Decimal
from itertools import accumulate, chain, repeat
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._inputs.model.lists import Rankings
from exactk.reference.ranking import scored_row
from exactk.reference.refusals import refuse
from exactk.reference.rules import DIGITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._engine.problem import FusedRows, FusionProblem
    from exactk._inputs.model.scores import SparseScores

_MAX_SCORE = 2.0**500
_RANK_METHODS = {"rrf", "rbc", "borda"}


def reference_fuser(problem: FusionProblem) -> FusedRows:
    """Return the fused lists, how many of these cut a tie, and which systems share an item with another."""
    _check_options(problem)
    rows: list[list[tuple[int, float]]] = []
    split_ties = 0
    for user in range(len(problem.systems[0])):
        fused = _fused(problem, user)
        best = sorted(fused.items(), key=lambda one: (-one[1], one[0]))
        rows.append(best[: problem.k])
        if len(best) > problem.k and best[problem.k - 1][1] == best[problem.k][1]:
            split_ties += 1
        if problem.report_progress is not None:
            problem.report_progress(user + 1)
    entries = list(chain.from_iterable(rows))
    indptr = np.cumsum([0, *map(len, rows)])
    items = np.array([item for item, _ in entries], np.int64)
    return indptr, items, np.array([score for _, score in entries], np.float64), split_ties, _have_shared_items(problem)


def _have_shared_items(problem: FusionProblem) -> list[bool]:
    """Return for each system whether a user's list, down to the depth, has an item that another system has too."""
    with_weight = [s for s, weight in enumerate(problem.weights) if weight]
    items = [
        {(user, item) for user in range(len(system)) for item in _read(problem, s, user)}
        for s, system in enumerate(problem.systems)
        if problem.weights[s]
    ]
    counts = Counter(one for some in items for one in some)
    shares = {s: any(counts[one] > 1 for one in some) for s, some in zip(with_weight, items, strict=True)}
    return [shares.get(s, False) for s in range(len(problem.systems))]


def _check_options(problem: FusionProblem) -> None:
    if not (problem.rank_constant >= 0 and math.isfinite(problem.rank_constant)):
        refuse("rank_constant", "negative or not finite")
    if not 0 < problem.persistence < 1:
        refuse("persistence", "not between 0 and 1")
    if not abs(problem.power) <= 64:
        refuse("power", "not from -64 to 64")
    if not all(0 <= weight <= 2.0**256 for weight in problem.weights):
        refuse("weights", "negative or not finite")
    if not any(problem.weights):
        refuse("weights", "all 0")
    if not all(abs(low) <= _MAX_SCORE for low in problem.lows):
        refuse("low", "too large")


def _fused(problem: FusionProblem, user: int) -> dict[int, float]:
    """Return the fused score of each item that a system with a weight has."""
    lists = {s: _read(problem, s, user) for s, weight in enumerate(problem.weights) if weight}
    counts = Counter(item for values in lists.values() for item in values)
    if not counts:
        return {}
    if _reads_union(problem):
        lists = {
            s: {item: _points(problem, rank, len(counts)) for item, rank in values.items()}
            for s, values in lists.items()
        }
    weighted = {s: {item: problem.weights[s] * value for item, value in values.items()} for s, values in lists.items()}
    missing = {s: _missing(problem, values, problem.weights[s], len(counts)) for s, values in weighted.items()}
    counts_zero = problem.missing == "zero" and problem.norm != "borda"
    for s, values in weighted.items():
        is_below = min(values.values(), default=0) < 0
        if is_below and (problem.method == "mnz" or (problem.method == "sum" and counts_zero)):
            refuse(f"systems[{s}]", "negative normalised score", row=user)
    fused = {}
    for item, count in counts.items():
        terms = [values[item] for values in weighted.values() if item in values]
        others = [one for s, one in missing.items() if item not in weighted[s] and one is not None]
        fused[item] = _score(problem, terms, others, count, user)
    return fused


def _reads_union(problem: FusionProblem) -> bool:
    return "borda" in {problem.method, problem.norm}


def _read(problem: FusionProblem, s: int, user: int) -> dict[int, float]:
    """Return the value of each item of a system's list; its rank, if that depends on the items of all lists."""
    system, argument = problem.systems[s], f"systems[{s}]"
    if isinstance(system, Rankings):
        groups: list[list[tuple[int, float]]] = [
            [(item, math.nan)] for item in system.row(user).tolist()[: problem.depth]
        ]
    else:
        groups = _ranked(problem, system, argument, user)
    entries = list(chain.from_iterable(groups))
    if problem.method in _RANK_METHODS or problem.norm in {"rank", "borda"}:
        values = [value for value, group in zip(_of_ranks(problem, groups), groups, strict=True) for _ in group]
    else:
        scores = [float(score) for _, score in entries]
        if not all(abs(score) <= _MAX_SCORE for score in scores):
            refuse(argument, "scores that are too large", row=user)
        values = _normalised(scores, problem.norm, problem.lows[s], argument, user)
    if len({item for item, _ in entries}) < len(entries):
        refuse(argument, "repeated item", row=user)
    return dict(zip((item for item, _ in entries), values, strict=True))


def _ranked(problem: FusionProblem, system: SparseScores, argument: str, user: int) -> list[list[tuple[int, float]]]:
    """Return the best items with their scores, down to the depth; those that tie share a group."""
    row = scored_row(system, None, user)
    if any(score != score for score in row.scores) and problem.nan == "raise":  # noqa: PLR0124 - NaN alone differs
        refuse(argument, "NaN", row=user)
    ties = problem.ties if problem.ties in {"highest_id", "input_order"} else "lowest_id"
    order = chain.from_iterable(row.ranking((), system.min_score, ties=ties, nan="last"))
    groups: list[list[tuple[int, Any]]] = []
    for i in list(order)[: problem.depth]:
        score = row.scores[i]
        last = groups[-1][0][1] if groups else None
        if last is not None and (score == last or (score != score and last != last)):  # noqa: PLR0124
            groups[-1].append((row.ids[i], score))
        else:
            groups.append([(row.ids[i], score)])
    has_means = problem.ties == "expected" or problem.norm == "rank"
    return groups if has_means or problem.ties == "shared" else [[one] for group in groups for one in group]


def _of_ranks(problem: FusionProblem, groups: Sequence[Sequence[object]]) -> list[float]:
    """Return the value of each group of tied items."""
    ends = list(accumulate(map(len, groups)))
    length = ends[-1] if ends else 0
    has_means = problem.ties == "expected" or problem.norm == "rank"
    ranks = [
        range(end - len(group) + 1 if has_means else end, end + 1) for end, group in zip(ends, groups, strict=True)
    ]
    if problem.norm == "rank":
        return [1 - (statistics.fmean(some) - 1) / length for some in ranks]
    if _reads_union(problem):
        return [statistics.fmean(some) for some in ranks]
    if problem.method == "rrf":
        weights = [1 / (problem.rank_constant + rank) for rank in range(1, length + 1)]
    else:
        weights = (
            list(accumulate(repeat(problem.persistence, length - 1), mul, initial=1 - problem.persistence))
            if length
            else []
        )
    return [math.fsum(weights[rank - 1] for rank in some) / len(some) for some in ranks]


def _normalised(scores: list[float], norm: str, low: float, argument: str, user: int) -> list[float]:
    """Return the normalised scores of a list."""
    if not scores or norm == "none":
        return scores
    least, greatest, size = min(scores), max(scores), len(scores)
    if norm == "max" and greatest < 1 / _MAX_SCORE:
        refuse(argument, "no score above 0", row=user)
    if norm == "theoretical_min_max" and least < low:
        refuse(argument, "a score below its low", row=user)
    if norm == "sum":
        scores = [score - least for score in scores]
    if norm in {"z", "distribution"}:
        return _standardised(scores, is_share=norm == "distribution")
    origin, length, without = {
        "min_max": (least, greatest - least, 1),
        "max": (0, greatest, 0),
        "theoretical_min_max": (low, greatest - low, 1),
        "sum": (0, math.fsum(scores), 1 / size),
    }[norm]
    return [(score - origin) / length if length > 0 else without for score in scores]


def _standardised(scores: list[float], *, is_share: bool) -> list[float]:
    """Return z-scores, or what of six standard deviations is below each; of scores between 0 and 1, which lose nothing."""
    least, length = min(scores), max(scores) - min(scores)
    shares = [(score - least) / length if length else 0.0 for score in scores]
    mean = math.fsum(shares) / len(shares)
    deviation = math.sqrt(math.fsum((share - mean) * (share - mean) for share in shares) / len(shares))
    z = [(share - mean) / deviation if deviation else 0.0 for share in shares]
    return [(one + 3) / 6 for one in z] if is_share else z


def _points(problem: FusionProblem, rank: float, items: int) -> float:
    """Return the points of a rank: as many as there are items from it on."""
    return (items - rank + 1) / (1 if problem.method == "borda" else items)


def _missing(problem: FusionProblem, values: dict[int, float], weight: float, items: int) -> float | None:
    """Return what an item counts that the system lacks; None if it counts nothing."""
    if problem.method not in {"sum", "mnz", "borda"}:
        return None
    if _reads_union(problem):
        return weight * ((items - len(values) + 1) / 2 / (1 if problem.method == "borda" else items))
    if problem.missing == "lowest":
        return min(values.values(), default=0)
    return None


def _score(problem: FusionProblem, terms: list[float], others: list[float], count: int, user: int) -> float:
    """Return the fused score of an item: of its values, and of those of systems that lack it."""
    if problem.method in {"max", "min"}:
        return max(terms) if problem.method == "max" else min(terms)
    if problem.method == "median":
        return statistics.median(terms)
    score = math.fsum(terms + others)
    if problem.method == "anz":
        score /= count
    if problem.method == "mnz":
        score *= float(DIGITS.power(Decimal(count), Decimal(problem.power)))
    if not math.isfinite(score):
        refuse("systems", "fused scores that are not finite", row=user)
    return score
