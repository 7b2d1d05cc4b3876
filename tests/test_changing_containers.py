"""Mappings and lists that another thread changes while they are read: a result, or an error of exactk.

The change comes between two lines of the package's Python, at one after another: wherever another thread can get its
turn. In the core, which reads rows without running Python, `test_object_rows.py` shows the same.
"""

from __future__ import annotations

import sys
from collections import UserDict
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactk
from strategies import examples

PACKAGE = str(Path(exactk.__file__).parent)
USERS = [f"u{number}" for number in range(6)]
ITEMS = [f"i{number}" for number in range(5)]
TRUTH = dict.fromkeys(USERS, ITEMS[:3])
LISTS = dict.fromkeys(USERS, ITEMS[1:4])
ROWS = [[1, 2], [2], [3]] * 3

Change = Callable[[Any], object]


def by_user(content: Any) -> Callable[[], Any]:
    return lambda: {user: content.copy() if hasattr(content, "copy") else content for user in USERS}


def by_item(content: Any) -> Callable[[], Any]:
    return lambda: dict.fromkeys(ITEMS, content)


def rows(content: Any) -> Callable[[], Any]:
    return lambda: [content.copy() for _ in ROWS]


def evaluate(truth: Any, predictions: Any, **options: Any) -> object:
    return exactk.evaluate(truth, predictions, "mrr", **options)


def scores() -> exactk.Scores:
    return exactk.Scores(np.eye(6, 5), users=USERS, items=ITEMS)


def systems() -> dict[str, Any]:
    return {name: deepcopy(LISTS) for name in "abc"}


def reports() -> dict[str, exactk.Report]:
    return {name: exactk.evaluate(TRUTH, LISTS, "mrr", per_user=True) for name in "abc"}


CASES: dict[str, tuple[Callable[[], Any], Change]] = {
    "lists by user": (by_user(ITEMS[:2]), lambda changing: evaluate(TRUTH, changing)),
    "truth by user": (by_user(ITEMS[:2]), lambda changing: evaluate(changing, LISTS)),
    "scores by user": (by_user({"i1": 0.5, "i2": 0.25}), lambda changing: evaluate(TRUTH, changing)),
    "grades by user": (by_user({"i1": 1, "i2": 2}), lambda changing: evaluate(changing, LISTS)),
    "sets by user": (by_user({"i1", "i2"}), lambda changing: evaluate(changing, LISTS)),
    "pairs by user": (by_user([("i1", 0.5), ("i2", 0.25)]), lambda changing: evaluate(TRUTH, changing)),
    "an item by user": (by_user("i1"), lambda changing: evaluate(changing, LISTS)),
    "another mapping": (lambda: UserDict(deepcopy(TRUTH)), lambda changing: evaluate(changing, LISTS)),
    "weights": (by_user(1.0), lambda changing: evaluate(TRUTH, LISTS, weights=changing)),
    "groups": (by_user("g"), lambda changing: evaluate(TRUTH, LISTS, groups=changing)),
    "exclusions": (by_user(["i4"]), lambda changing: evaluate(TRUTH, LISTS, exclude=changing)),
    "candidates": (by_user(ITEMS[:2]), lambda changing: evaluate(TRUTH, scores(), candidates=changing)),
    "clusters": (by_user(1), lambda changing: exactk.compare(TRUTH, systems(), "mrr", clusters=changing)),
    "systems": (systems, lambda changing: exactk.compare(TRUTH, changing, "mrr")),
    "reports": (reports, exactk.compare_reports),
    "values": (by_item(1.0), lambda changing: exactk.Items(ITEMS, values=changing)),
    "popularity": (by_item(1), lambda changing: exactk.Items(popularity=changing)),
    "features": (by_item(["tag"]), lambda changing: exactk.Items(ITEMS, features=changing)),
    "groups of items": (by_item("g"), lambda changing: exactk.Items(ITEMS, item_groups=changing)),
    "train": (by_user(ITEMS[:2]), lambda changing: exactk.Items(train=changing)),
    "convention": (lambda: {"base": "standard", "nan": "last"}, lambda changing: evaluate(ROWS, ROWS[::-1], convention=changing)),
    "update": (by_user(ITEMS[:2]), lambda changing: exactk.Evaluator("mrr").update(TRUTH, changing)),
    "judge": (by_user(ITEMS[:2]), lambda changing: exactk.judge(TRUTH, changing, 2)),
    "agreement": (by_user(ITEMS[:2]), lambda changing: exactk.agreement(LISTS, changing, "overlap@2")),
    "topk": (by_user({"i1": 0.5, "i2": 0.25}), lambda changing: exactk.topk(changing, 1)),
    "rows of integers": (rows([1, 2]), lambda changing: evaluate([[1]] * 9, changing)),
    "rows of strings": (rows(["a", "b"]), lambda changing: evaluate(changing, [["a"]] * 9)),
    "rows of scores": (rows({1: 0.5, 2: 0.25}), lambda changing: evaluate([[1]] * 9, changing)),
    "rows of pairs": (rows([(1, 0.5), (2, 0.25)]), lambda changing: evaluate([[1]] * 9, changing)),
    "rows of sets": (rows({1, 2}), lambda changing: evaluate(changing, [[1]] * 9)),
    "weights of rows": (lambda: [1.0] * 9, lambda changing: evaluate(ROWS, ROWS[::-1], weights=changing)),
    "groups of rows": (lambda: ["g"] * 9, lambda changing: evaluate(ROWS, ROWS[::-1], groups=changing)),
    "catalogue": (lambda: [*ITEMS], exactk.Items),
    "keys": (lambda: [*USERS], lambda changing: exactk.Scores(np.eye(6, 2), users=changing, items=[1, 2])),
    "metrics": (lambda: ["mrr", "map", "ndcg@5"], lambda changing: exactk.evaluate(ROWS, ROWS[::-1], changing)),
}  # fmt: skip


def clear_contents(changing: Any) -> None:
    for content in [*(changing.values() if hasattr(changing, "values") else changing)]:
        if hasattr(content, "clear"):
            content.clear()


def grow_contents(changing: Any) -> None:
    for content in [*(changing.values() if hasattr(changing, "values") else changing)]:
        if isinstance(content, dict):
            content["new"] = 1
        elif isinstance(content, list):
            content.append("new")


def replace_contents(changing: Any) -> None:
    keys = range(len(changing)) if isinstance(changing, list) else [*changing]
    for key in keys:
        changing[key] = None


def grow(changing: Any) -> None:
    if isinstance(changing, list):
        changing.append(changing[0])
    else:
        changing["new"] = next(iter(changing.values()))


CHANGES: dict[str, Change] = {
    "shorter": lambda changing: changing.pop() if isinstance(changing, list) else changing.pop(next(iter(changing))),
    "empty": lambda changing: changing.clear(),
    "longer": grow,
    "contents empty": clear_contents,
    "contents longer": grow_contents,
    "contents None": replace_contents,
}


def lines_of(call: Change, changing: Any, change: Change | None = None, at: int = 0) -> int:
    """Call, and change the argument before a line of the package, by number; return how many lines there are."""
    numbers, lines = count(1), 0

    def trace_lines(_frame: Any, event: str, _argument: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines = next(numbers)
            if change is not None and lines == at:
                sys.settrace(None)
                change(changing)
        return trace_lines

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: trace_lines if frame.f_code.co_filename.startswith(PACKAGE) else None)
    try:
        call(changing)
    except exactk.ExactkError:
        if change is None:
            raise
    finally:
        sys.settrace(before)
    return lines


def positions(lines: int) -> Iterator[int]:
    """Yield some of the lines, or all at night; a change of a position within 20 lines comes with another of the changes."""
    step = max(1, lines // examples(100))
    yield from range(1, lines + 1, step)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("case", CASES)
def test_f95_a_container_that_changes_is_read_or_refused(case: str) -> None:
    make, call = CASES[case]
    lines_of(call, make())  # what is imported or kept by the first call
    lines = lines_of(call, make())
    for shift, change in enumerate(CHANGES.values()):
        for at in positions(lines):
            lines_of(call, make(), change, at + shift)


def test_f95_a_mapping_that_changes_while_it_is_copied_is_refused() -> None:
    class Shrinking(UserDict[str, float]):
        def __getitem__(self, item: str) -> float:
            self.data.pop("i4", None)
            return super().__getitem__(item)

    expected = r"values: expected a mapping that nothing changes while it is read, found KeyError\('i4'\)"
    with pytest.raises(exactk.InputError, match=expected):
        exactk.Items(ITEMS, values=Shrinking(dict.fromkeys(ITEMS, 1.0)))
