"""What is asked of every library: the golden case, and seeded random ones that cross what the library can be given.

Only the standard library is imported: this runs in the environment of each library.
"""

from __future__ import annotations

import math
import random
import struct
from dataclasses import dataclass, replace
from typing import Any

Pairs = list[tuple[int, float]]


@dataclass(frozen=True)
class Case:
    """Some users, each with what is relevant to them and what they were recommended."""

    name: str
    cutoffs: list[int]
    items: int  # ids are below
    truth: list[Pairs | None]  # (item, grade); None: the user is missing from the truth
    predictions: list[Pairs | None]  # (item, score or rank) in the order given; None: the user got no list

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return vars(self) | {"truth": _rows_to_plain(self.truth), "predictions": _rows_to_plain(self.predictions)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Case:
        """Return the case that `to_dict` described."""
        return cls(
            data["name"],
            data["cutoffs"],
            data["items"],
            _rows_from_plain(data["truth"]),
            _rows_from_plain(data["predictions"]),
        )


def _rows_to_plain(rows: list[Pairs | None]) -> list[list[list[Any]] | None]:
    """Return rows for JSON, which has no infinity."""
    return [
        None if row is None else [[item, "-inf" if value == -math.inf else value] for item, value in row]
        for row in rows
    ]


def _rows_from_plain(rows: list[list[list[Any]] | None]) -> list[Pairs | None]:
    return [
        None if row is None else [(item, -math.inf if value == "-inf" else value) for item, value in row]
        for row in rows
    ]


@dataclass(frozen=True)
class Knobs:
    """What a library can be given. Each is drawn for some users of the random cases."""

    grades: tuple[float, ...] = (1.0,)  # a grade of 0 is judged and not relevant
    all_negative: bool = True  # a user of whom every grade is negative, if grades are
    empty_truth: bool = True  # a user of the truth without a judged item
    empty_list: bool = True
    missing_truth: bool = False  # a user of the predictions alone
    missing_list: bool = False
    short_list: bool = True  # lists shorter than the cutoff
    full_list: bool = False  # every item of the catalogue has a score
    sorted: bool = True  # the items are given by descending score
    ties: bool = False  # between scores
    close_scores: bool = False  # that are one number as float32
    infinite_scores: bool = False  # some are -inf; without ties, one of a list
    rank_gaps: bool = False  # items are given ranks instead of scores, and some ranks are missing
    negative_scores: bool = False
    apart: bool = False  # scores are equal and positive in every second case, different and negative in the others
    repeated_truth: bool = False  # labels that are given twice
    repeated_list: bool = False  # items that stand twice in a list
    unknown_truth: bool = False  # labels that are no items of the catalogue
    listed_truth: bool = False  # only items of a user's list are judged
    min_users: int = 1


BINARY = "every item of the truth is relevant: it has no grade"
INTEGERS = "grades are integers"
LISTS = "items are given in order, without scores"
NO_RANKS = "ranks are not given, but found"
NOT_RECORDED = "it can be given, but was not yet"
BOTH_SIDES = "truth and lists are aligned: every user has both"

GRADES = ("grade 0", "fractional grade", "negative grade")
SCORES = ("score of -inf", "float32 tie")
RANKS = ("gap in ranks",)
ONE_SIDE = ("user without truth", "user without list")
KINDS = (*GRADES, *SCORES, *RANKS, *ONE_SIDE)
"""Input on which libraries differ in silence. Each is in a library's cases, or its adapter says why not."""


def kinds_of(case: Case, given: str) -> set[str]:
    """Return the kinds of input that a case holds, whose predictions are given as rankings, ranks or scores."""
    grades = [grade for row in case.truth for _, grade in row or []]
    rows = [[value for _, value in row or []] for row in case.predictions]
    held = {
        "grade 0": 0 in grades,
        "fractional grade": any(grade % 1 for grade in grades),
        "negative grade": has_negative_grade(case),
        "score of -inf": any(-math.inf in row for row in rows),
        "float32 tie": any(_has_float32_tie(row) for row in rows),
        "gap in ranks": given == "ranks" and any(row and max(row) > len(row) for row in rows),
        "user without truth": None in case.truth,
        "user without list": None in case.predictions,
    }
    return {kind for kind in KINDS if held[kind]}


def has_negative_grade(case: Case) -> bool:
    """Return whether a grade is negative: in some libraries its gain is too, which no convention says."""
    return any(grade < 0 for row in case.truth for _, grade in row or [])


def _has_float32_tie(scores: list[float]) -> bool:
    distinct = set(scores)
    return len({struct.pack("f", score) for score in distinct}) < len(distinct)


ITEMS = 14
CUTOFFS = (1, 2, 3, 4, 5, 6, 8, 10)
RANDOM_CASES = 200


def cases(knobs: Knobs) -> list[Case]:
    """Return the golden case and the random ones."""
    return [golden(knobs), *(random_case(knobs, seed) for seed in range(RANDOM_CASES))]


def golden(knobs: Knobs) -> Case:
    """Return five users on whom the libraries of the field disagree, as far as the library can be given them."""
    relevant = [[1, 4], [11, 12, 13, 101, 102, 103, 104, 105], [21], [5, 6], []]
    lists = [[1, 2, 3, 4, 5], [1, 11, 12, 2, 13], [2, 21, 3], [], [1, 2, 3, 4, 5]]
    truth: list[Pairs | None] = [[(item, 1.0) for item in items] for items in relevant]
    predictions: list[Pairs | None] = [
        [(item, i + 1 if knobs.rank_gaps else float(9 - i)) for i, item in enumerate(items)] for items in lists
    ]
    if knobs.missing_list or not (knobs.empty_list or knobs.full_list):
        predictions[3] = None
    if knobs.missing_truth or not knobs.empty_truth:
        truth[4] = None
    users = list(range(5))
    if not knobs.missing_list:
        users = [user for user in users if predictions[user] is not None]
    if not knobs.missing_truth:
        users = [user for user in users if truth[user] is not None]
    case = Case("golden", [5], 106, [truth[user] for user in users], [predictions[user] for user in users])
    case = _fill_lists(case) if knobs.full_list else case
    return _restrict_truth_to_lists(case) if knobs.listed_truth else case


def _restrict_truth_to_lists(case: Case) -> Case:
    """Leave out of the truth what the user's list, if there is one, has not."""
    truth = []
    for judged, row in zip(case.truth, case.predictions, strict=True):
        listed_items = {item for item, _ in row or []}
        unseen = judged is None or row is None
        truth.append(judged if unseen else [(item, grade) for item, grade in judged or [] if item in listed_items])
    return replace(case, truth=truth)


def _fill_lists(case: Case) -> Case:
    """Give the items that are not in a list scores below all that are."""
    predictions = []
    for row in case.predictions:
        listed_items = {item for item, _ in row or []}
        rest = [(item, -1.0 - item) for item in range(case.items) if item not in listed_items]
        predictions.append(None if row is None else row + rest)
    return replace(case, predictions=predictions)


def random_case(knobs: Knobs, seed: int) -> Case:
    """Return a small case in which each knob is turned for some of the users."""
    generator = random.Random(seed)  # noqa: S311 - the same cases for everybody
    if knobs.apart:
        equal = seed % 2 == 0
        knobs = replace(knobs, ties=equal, close_scores=equal, negative_scores=not equal)
    users = generator.randint(knobs.min_users, 3)
    cutoffs = sorted(generator.sample(CUTOFFS, 2))
    if not knobs.short_list:
        cutoffs = [min(k, ITEMS // 2) for k in cutoffs]
    truth = [_random_truth(knobs, generator) for _ in range(users)]
    predictions = [_random_list(knobs, generator, max(cutoffs)) for _ in range(users)]
    for user in range(users):
        if knobs.missing_truth and generator.random() < 0.1:
            truth[user] = None
        elif knobs.missing_list and generator.random() < 0.15:
            predictions[user] = None
    # Somebody is in both, for a library asked about nobody may do anything.
    truth[0] = truth[0] or [(generator.randrange(ITEMS), max(knobs.grades))]
    predictions[0] = first = predictions[0] or _random_nonempty_list(knobs, generator, max(cutoffs))
    case = Case(f"random-{seed}", sorted(set(cutoffs)), ITEMS, truth, predictions)
    if knobs.listed_truth:
        case = _restrict_truth_to_lists(case)
        case.truth[0] = case.truth[0] or [(first[0][0], max(knobs.grades))]
    return case


def _random_truth(knobs: Knobs, generator: random.Random) -> Pairs | None:
    size = 0 if knobs.empty_truth and generator.random() < 0.15 else generator.choice([1, 1, 2, 3, 4, 6, 9])
    labels = generator.sample(range(ITEMS), size)
    if knobs.repeated_truth and labels and generator.random() < 0.3:
        labels += generator.choices(labels, k=generator.randint(1, 2))
    if knobs.unknown_truth and labels and generator.random() < 0.2:
        labels[-1] = ITEMS + generator.randrange(3)
    truth = [(item, generator.choice(knobs.grades)) for item in labels]
    if truth and not knobs.all_negative and all(grade < 0 for _, grade in truth):
        truth[0] = (truth[0][0], 0)
    return truth


def _random_list(knobs: Knobs, generator: random.Random, deepest: int) -> Pairs | None:
    if knobs.empty_list and generator.random() < 0.1:
        return []
    return _random_nonempty_list(knobs, generator, deepest)


def _random_nonempty_list(knobs: Knobs, generator: random.Random, deepest: int) -> Pairs:
    shortest = 1 if knobs.short_list else deepest
    size = ITEMS if knobs.full_list else generator.randint(shortest, ITEMS)
    items = generator.sample(range(ITEMS), size)
    if knobs.repeated_list and size > 1 and generator.random() < 0.2:
        first, repeated = generator.sample(range(size), 2)
        items[repeated] = items[first]
    low, high = (-40, 40) if knobs.negative_scores else (10 if knobs.apart else 1, 80)
    if knobs.ties and generator.random() < 0.6:
        scores = [generator.randint(low // 10, high // 10) / 8 for _ in items]
    else:
        scores = [value / 8 for value in generator.sample(range(low, high), size)]
    if knobs.close_scores and generator.random() < 0.3:
        if not knobs.ties and size > 1:
            first, close = generator.sample(range(size), 2)
            scores[close] = scores[first]
        offsets = [generator.randint(0, 2) for _ in scores] if knobs.ties else range(size)
        scores = [score + offset * 2**-40 for score, offset in zip(scores, offsets, strict=True)]
    if knobs.infinite_scores and generator.random() < 0.3:
        for position in generator.sample(range(size), generator.randint(1, 1 + knobs.ties * size // 3)):
            scores[position] = -math.inf
    if knobs.rank_gaps:
        has_gaps = generator.random() < 0.4
        return list(zip(items, sorted(generator.sample(range(1, size + 1 + has_gaps * 4), size)), strict=True))
    pairs = list(zip(items, scores, strict=True))
    return sorted(pairs, key=lambda pair: -pair[1]) if knobs.sorted else pairs
