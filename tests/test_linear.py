"""What many states, blocks, metrics or characters cost: as much as they are, and not their square. Counted, not timed."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import exactk
from exactk._inputs.keys.vocabulary import Snapshot, Vocabulary
from exactk._plan.metric_strings import plan
from exactk._report.state import State
from exactk._report.statistics import evaluated_users
from exactk._report.sums import RunningGroupSums

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = ["P@1", "mrr"]


class Counter:
    """Counts the calls of a function, which it passes on, and how much they are given."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.calls = 0
        self.size = 0  # of all arguments that have a length
        self._function = function

    def replacement(self) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            self.size += sum(len(argument) for argument in arguments if hasattr(argument, "__len__"))
            return self._function(*arguments, **options)

        return counted


@pytest.mark.parametrize("groups", [1, 40, 60])
def test_f52_each_state_is_added_once(groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whatever group its users are, and however many groups there are by then."""
    size = 60
    of_users = [i % groups for i in range(size)]
    states = [exactk.evaluate([[1]], [[1]], METRICS, groups=[group]).state for group in of_users]
    additions, made = Counter(RunningGroupSums.add), Counter(State.__post_init__)
    monkeypatch.setattr(RunningGroupSums, "add", additions.replacement())
    monkeypatch.setattr(State, "__post_init__", made.replacement())
    merged = exactk.merge(states)
    assert (additions.calls, additions.size, made.calls) == (size - 1, size - 1, 1)  # of states, and of their groups
    blocks = exactk.evaluate(None, iter([([[1]], [[1]])] * size), METRICS, groups=of_users)
    assert (additions.size, made.calls) == (2 * (size - 1), 2 + size)  # a block makes a state
    monkeypatch.undo()
    assert merged == blocks == exactk.evaluate([[1]] * size, [[1]] * size, METRICS, groups=of_users)


@pytest.mark.parametrize(("argument", "value"), [("exclude", [2]), ("weights", 2.0), ("groups", "new")])
def test_f52_users_of_an_argument_are_not_matched_with_each_block(
    argument: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    matched: list[int] = []
    extend, find = Vocabulary.extend, Snapshot.find

    def counted_extend(users: Vocabulary, other: Snapshot, argument: str) -> Any:
        matched.append(len(other))
        return extend(users, other, argument)

    def counted_find(keys: Snapshot, users: Snapshot, argument: str) -> Any:
        matched.append(len(users))
        return find(keys, users, argument)

    monkeypatch.setattr(Vocabulary, "extend", counted_extend)
    monkeypatch.setattr(Snapshot, "find", counted_find)
    users = [f"user {i}" for i in range(60)]
    blocks = iter([({user: [1]}, {user: [1, 2]}) for user in users])
    options: dict[str, Any] = {argument: dict.fromkeys(users, value)}
    report = exactk.evaluate(None, blocks, METRICS, **options)
    assert report["mrr"] == 1
    assert 0 < sum(matched) <= 3 * len(users)


def test_f52_items_of_the_truth_are_sorted_once_for_all_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no list has any of them, so that each batch is compared with all."""
    compared = {}
    for size in (30, 60):
        unique, isin = Counter(np.unique), Counter(np.isin)
        truth = {f"user {i}": [f"item {i}"] for i in range(size)}
        frames = [pd.DataFrame({"user": [user], "item": ["other"], "rank": [1]}) for user in truth]
        batches = exactk.Batches(frames.copy)
        with monkeypatch.context() as patch:
            patch.setattr(np, "unique", unique.replacement())
            patch.setattr(np, "isin", isin.replacement())
            with pytest.warns(exactk.EvaluationWarning, match="no item of the truth"):
                exactk.evaluate(truth, batches, METRICS)
        compared[size] = unique.size + isin.size
    assert size <= compared[60] <= 2 * compared[30]


def test_f52_a_table_reads_the_sums_of_each_value_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cutoffs = "P@[" + ",".join(map(str, range(1, 101))) + "]"
    state = exactk.evaluate([[1]], [list(range(100))], cutoffs).state
    systems = exactk.Comparison({name: exactk.merge([state]) for name in "ab"})
    reads = Counter(evaluated_users)
    monkeypatch.setattr("exactk._report.statistics.evaluated_users", reads.replacement())
    for _ in range(2):
        repr(systems)
        systems.to_csv()
    assert reads.calls == 2 * 100


def steps_to_parse(spelling: str) -> int:
    """Count the lines that parsing runs."""
    steps = 0

    def count(_frame: object, event: str, _argument: object) -> Any:
        nonlocal steps
        steps += event == "line"
        return count

    previous = sys.gettrace()
    sys.settrace(count)
    try:
        with contextlib.suppress(exactk.ExactkError):
            plan(spelling, exactk.conventions["standard"])
    finally:
        sys.settrace(previous)
    return steps


LONG_STRINGS: dict[str, Callable[[int], str]] = {
    "digits of a number": lambda n: "fbeta@3(beta=" + "1" * n + "x)",
    "digits of a name": lambda n: "a_" + "1" * n,
    "spaces": lambda n: "P" + " " * n + "x",
    "commas": lambda n: "ndcg(" + "," * n + ")",
    "brackets": lambda n: "ndcg(gain_table=" + "[" * n + ")",
    "open brackets": lambda n: "ndcg(gain_table=" + "[," * n + ")",
    "gains": lambda n: "ndcg(gain=table,gain_table=[" + "1," * n + "1])",
    "cutoffs": lambda n: "ndcg@[" + "1," * n + "1]",
}


@pytest.mark.parametrize("kind", LONG_STRINGS)
def test_f52_strings_are_scanned_once(kind: str) -> None:
    few, many = (steps_to_parse(LONG_STRINGS[kind](n)) for n in (1_000, 2_000))
    assert many <= 2.1 * few + 500


@pytest.mark.parametrize("kind", LONG_STRINGS)
def test_f52_strings_beyond_64_kb_are_refused(kind: str) -> None:
    with pytest.raises(exactk.InputError, match=r"^metrics: expected at most 65536 characters per string, found \d+$"):
        exactk.evaluate([[1]], [[1]], LONG_STRINGS[kind](2**16))


def test_f52_a_message_does_not_repeat_a_long_string() -> None:
    for kind in ("digits of a number", "digits of a name", "spaces", "commas", "brackets"):
        with pytest.raises(exactk.ExactkError) as caught:
            exactk.evaluate([[1]], [[1]], LONG_STRINGS[kind](60_000))
        assert len(str(caught.value)) < 1000


def test_f52_a_canonical_name_can_be_read_again() -> None:
    """1e15 is written as 1000000000000000."""
    spelling = "ndcg(gain=table,gain_table=[" + ",".join(["1e15"] * 10_000) + "])"
    with pytest.raises(exactk.InputError, match="names of at most 65536 characters"):
        exactk.evaluate([[1]], [[1]], spelling)


def test_f52_many_cutoffs_of_a_long_gain_table_are_refused() -> None:
    spelling = f"ndcg@[{','.join(map(str, range(1, 5000)))}](gain=table,gain_table=[{','.join('1' * 20_000)}])"
    assert len(spelling) < 2**16
    with pytest.raises(exactk.InputError, match="gain tables of at most 16777216 gains in all"):
        exactk.evaluate([[1]], [[1]], spelling)
