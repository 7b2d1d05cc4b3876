"""What every library is asked about lists and the catalogue: a tiny input, and drawn ones.

Only the standard library is imported: this runs in the environment of each library.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

Lists = dict[int, list[int]]
"""The items of each user, the best first."""


@dataclass(frozen=True)
class ListCase:
    """What users had, what they were recommended by two systems, and what is relevant to them."""

    name: str
    cutoffs: list[int]
    catalogue: list[int]  # what could be recommended; the lists may hold other items
    features: Lists  # of each item, also of those outside the catalogue
    train: list[tuple[int, int]]  # a row an interaction: user and item, some more than once
    truth: Lists
    lists: Lists
    other: Lists  # of a second system

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, whose keys are texts."""
        return vars(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ListCase:
        """Return the case that `to_dict` described."""
        by_number = {
            name: {int(key): row for key, row in data[name].items()} for name in ("features", "truth", "lists", "other")
        }
        return cls(
            name=data["name"],
            cutoffs=data["cutoffs"],
            catalogue=data["catalogue"],
            train=[(user, item) for user, item in data["train"]],
            **by_number,
        )

    def rows_of_train(self) -> Lists:
        """Return the items of each user in train, some more than once."""
        rows: Lists = {}
        for user, item in self.train:
            rows.setdefault(user, []).append(item)
        return rows

    def items_of_train(self) -> list[int]:
        """Return the distinct items of train."""
        return sorted({item for _, item in self.train})


@dataclass(frozen=True)
class ListKnobs:
    """What a library can be given. A case of which nothing is left is not asked."""

    empty_list: bool = False  # a user whose list has no item; else the user has no list
    short_list: bool = True  # lists shorter than the deepest cutoff
    unseen_item: bool = True  # recommended items that are not in train
    foreign_item: bool = True  # recommended items that are not in the catalogue
    seen_item: bool = True  # recommended items that the user had in train


FEATURES = 3
USERS, ITEMS = 30, 40
CUTOFFS = [1, 3, 10]
LONGEST = 12
FOREIGN = (ITEMS + 1, ITEMS + 2)


def list_cases(knobs: ListKnobs) -> list[ListCase]:
    """Return the cases as the library is given them."""
    restricted = [_restrict(case, knobs) for case in (tiny(), drawn(), warm(), full())]
    return [case for case in restricted if case.lists]


def tiny() -> ListCase:
    """Return five users on whom the libraries of the field disagree."""
    return ListCase(
        name="tiny",
        cutoffs=[2],
        catalogue=[1, 2, 3, 4, 5],
        features={1: [1, 0, 0], 2: [1, 1, 0], 3: [0, 1, 0], 4: [0, 0, 1], 5: [0, 1, 1]},
        train=[(1, 1), (1, 2), (2, 1), (2, 3), (3, 1), (4, 2)],
        truth={1: [3], 2: [2, 5], 3: [5], 6: [1]},
        lists={1: [3, 4], 2: [2, 4], 3: [2, 3, 5], 4: [1], 5: [1, 2]},
        other={1: [4, 3], 2: [2, 5], 3: [2, 3, 5], 4: [2, 1], 6: [1, 2]},
    )


def drawn() -> ListCase:
    """Return lists of 0 to 12 items, with items that are not in train, and some that are not in the catalogue."""
    generator = random.Random(23)  # noqa: S311 - the same case for everybody
    catalogue = list(range(1, ITEMS + 1))
    weights = [1 / item for item in catalogue]
    cold = set(generator.sample(catalogue[10:], 6))
    train = []
    for user in range(1, USERS - 3):  # the last four users are new
        items = {generator.choices(catalogue, weights)[0] for _ in range(generator.randint(1, 9))} - cold
        train += [(user, item) for item in sorted(items)]
    train += generator.choices(train, k=12)
    had: dict[int, set[int]] = {user: {item for of, item in train if of == user} for user in range(1, USERS + 1)}

    def recommend(user: int) -> list[int]:
        pool = [item for item in (*catalogue, *FOREIGN) if item not in had[user]]
        by_chance = sorted(pool, key=lambda item: -generator.random() / (15 if item in FOREIGN else item + 3))
        return by_chance[: generator.randint(0, LONGEST)]

    lists, other = ({user: recommend(user) for user in range(1, USERS + 1) if user % of} for of in (11, 7))
    lists[USERS - 1] = [FOREIGN[0], min(cold)]  # nothing that anybody had
    truth = {user: generator.sample(catalogue, generator.randint(1, 6)) for user in range(1, USERS + 3) if user % 5}
    for user, relevant in truth.items():  # some hits
        row = lists.get(user, [])
        truth[user] = sorted({*relevant, *generator.sample(row, len(row) // 3)})
    features = {item: [generator.randint(0, 2) for _ in range(FEATURES - 1)] + [1] for item in (*catalogue, *FOREIGN)}
    return ListCase("drawn", CUTOFFS, catalogue, features, train, truth, lists, other)


def warm() -> ListCase:
    """Return the drawn lists with items of train alone, some of which the user had."""
    case = drawn()
    of_train = case.items_of_train()
    had: Lists = {}
    for user, item in case.train:
        had.setdefault(user, []).append(item)

    def recommend(lists: Lists) -> Lists:
        kept = {user: [item for item in row if item in of_train] for user, row in lists.items()}
        return {
            user: list(dict.fromkeys([*row[:2], *had.get(user, [])[:1], *row[2:]])) if user % 3 else row
            for user, row in kept.items()
        }

    return replace(case, name="warm", catalogue=of_train, lists=recommend(case.lists), other=recommend(case.other))


def full() -> ListCase:
    """Return lists of 10 to 12 items of train, for the users of train, none of which the user had."""
    case = drawn()
    generator = random.Random(24)  # noqa: S311 - the same case for everybody
    of_train = case.items_of_train()
    had = {user: {item for of, item in case.train if of == user} for user, _ in case.train}

    def recommend(user: int) -> list[int]:
        pool = [item for item in of_train if item not in had[user]]
        return sorted(pool, key=lambda item: -generator.random() / (item + 3))[: generator.randint(10, LONGEST)]

    lists, other = ({user: recommend(user) for user in had} for _ in range(2))
    truth = {user: case.truth.get(user, [1]) for user in had}
    return replace(case, name="full", catalogue=of_train, truth=truth, lists=lists, other=other)


def _restrict(case: ListCase, knobs: ListKnobs) -> ListCase:
    """Leave out what the library cannot be given."""
    of_train, had = set(case.items_of_train()), set(case.train)

    def is_given(user: int, item: int) -> bool:
        return (
            (knobs.unseen_item or item in of_train)
            and (knobs.foreign_item or item in case.catalogue)
            and (knobs.seen_item or (user, item) not in had)
        )

    def restricted(lists: Lists) -> Lists:
        rows = {user: [item for item in row if is_given(user, item)] for user, row in lists.items()}
        least = 0 if knobs.empty_list else 1
        return {
            user: row for user, row in rows.items() if len(row) >= (least if knobs.short_list else case.cutoffs[-1])
        }

    if not knobs.foreign_item:
        truth = {user: [item for item in row if item in case.catalogue] for user, row in case.truth.items()}
        case = replace(case, truth=truth)
    if not knobs.short_list:  # enough users are left
        lengths = sorted(len(row) for row in case.lists.values())
        case = replace(case, cutoffs=[k for k in case.cutoffs if k <= lengths[len(lengths) // 3]])
    return replace(case, lists=restricted(case.lists), other=restricted(case.other))
