"""The parts of a call's users add up to the part of all of them, in any split, order and grouping."""

from __future__ import annotations

import pickle
import random
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._engine.chunks import Part, PartSums
from exactk._engine.core import core_engine
from exactk._engine.fold import evaluate_with_engine
from exactk._engine.pairs import Pairing, core_paired_engine
from exactk._engine.systems import SEVERAL_SYSTEMS
from exactk._evaluate import DEFAULTS
from exactk._inputs.items import Items
from exactk._report.comparison_options import ComparisonOptions
from strategies import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._engine.findings import SystemFindings

pytestmark = pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")

USERS = [f"user {number}" for number in range(8)]
ITEMS = "abcdefgh"
TRAIN = {user: list(ITEMS[number % 3 : number % 3 + 2]) for number, user in enumerate(USERS)}

METRICS: dict[str, list[str]] = {
    "plain": ["ndcg@2", "precision(average=micro)", "fbeta@2(average=of_means)", "mrr", "ap@2(average=geometric)"],
    "undefined": ["recall@2(undefined=nan)", "precision@2(empty_list=skip)"],
    "items": ["novelty@2", "catalog_coverage@2", "gini_index@2", "exposure_gini@3"],
    "base": ["unexpectedness@2", "ndcg@2"],
}


def by_user(values: st.SearchStrategy[Any], *, least: int = 0) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(USERS), values, min_size=least)


LISTS = st.lists(st.sampled_from(ITEMS), unique=True, max_size=4)
SYSTEMS = st.dictionaries(st.sampled_from(["one", "two", "three"]), by_user(LISTS, least=1), min_size=1)


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the arguments of a call."""
    kind = draw(st.sampled_from([*METRICS]))
    items = st.sampled_from(ITEMS if draw(st.booleans()) else "xyz")  # no hit, in about half of the calls
    call: dict[str, Any] = {"truth": draw(by_user(st.dictionaries(items, st.integers(0, 2)), least=1))}
    call |= {"systems": draw(SYSTEMS), "metrics": METRICS[kind], "per_user": draw(st.booleans())}
    if draw(st.booleans()):
        call["exclude"] = draw(by_user(LISTS))
    if kind == "base":
        call["base_predictions"] = draw(by_user(LISTS, least=1))
    if kind == "items":
        return call | {"items": Items(list(ITEMS), train=TRAIN)}
    if draw(st.booleans()):
        call["weights"] = draw(st.fixed_dictionaries({user: st.sampled_from([0.5, 1.0, 3.0]) for user in USERS}))
    if draw(st.booleans()):
        call["groups"] = draw(st.fixed_dictionaries({user: st.sampled_from(["new", "old"]) for user in USERS}))
    return call


def part_of(call: dict[str, Any], users: Sequence[str]) -> Part:
    """Return the part of some users."""
    options = {**DEFAULTS, **call}
    of_users: dict[str, Any] = {"systems": {}}
    for name in ("truth", "exclude", "base_predictions", "weights", "groups"):
        value = options.pop(name) if name in options else None
        of_users[name] = None if value is None else {user: value[user] for user in users if user in value}
    systems = options.pop("systems")
    of_users["systems"] = {name: {user: one[user] for user in users if user in one} for name, one in systems.items()}
    truth, systems = of_users.pop("truth"), of_users.pop("systems")
    return evaluate_with_engine(
        core_engine,
        SEVERAL_SYSTEMS,
        truth,
        systems,
        options.pop("metrics"),
        pairing=Pairing(core_paired_engine, ComparisonOptions()),
        **options,
        **of_users,
    )


def facts_of(found: SystemFindings) -> tuple[Any, ...]:
    """Return what does not depend on the chunks: no examples, nothing of first users, nothing of one chunk's items."""
    return (
        *(found.shares_user, found.lacks_keys, found.shares_item, found.truth_items, found.list_items),
        *(found.is_partial, found.base[:4], found.candidates[:2], found.exclusions[:2]),
    )


def values_by_user(report: exactk.Report) -> dict[str, list[str]]:
    values = np.array([*report.per_user.values()]).T
    return {user: [*map(float.hex, row)] for user, row in zip(report.users.tolist(), values.tolist(), strict=True)}


def assert_same(part: Part, whole: Part, *, per_user: bool) -> None:
    assert [*part.reports] == [*whole.reports]
    for name, report in whole.reports.items():
        assert part.reports[name].state == report.state
        assert part.reports[name].state.to_bytes() == report.state.to_bytes()
        assert facts_of(part.findings.systems[name]) == facts_of(whole.findings.systems[name])
        if per_user:
            assert values_by_user(part.reports[name]) == values_by_user(report)
    assert part.findings.coverage == whole.findings.coverage
    assert part.findings.train[:4] == whole.findings.train[:4]
    assert part.rows == whole.rows
    assert (None if part.paired is None else part.paired.state) == (
        None if whole.paired is None else whole.paired.state
    )


@settings(max_examples=examples(300), deadline=None)
@given(
    calls(), st.lists(st.integers(0, 3), min_size=len(USERS), max_size=len(USERS)), st.randoms(use_true_random=False)
)
def test_parts_add_up_to_the_whole(call: dict[str, Any], chunks: list[int], rng: random.Random) -> None:
    """Bit for bit, whatever the split; with all that users keep, and all that warnings need but examples."""
    whole = part_of(call, USERS)
    parts = [
        part_of(call, [user for user, number in zip(USERS, chunks, strict=True) if number == chunk])
        for chunk in sorted(set(chunks))
    ]
    rng.shuffle(parts)
    sums = PartSums()
    for part in parts:
        sums.add(part)
    before = [
        pickle.dumps([(one.state.to_bytes(), one.users.tolist()) for one in part.reports.values()]) for part in parts
    ]
    assert_same(sums.part(), whole, per_user=call["per_user"])
    assert_same(reduce(add, parts), whole, per_user=call["per_user"])
    half = len(parts) // 2
    groups = [some for some in (parts[:half], parts[half:]) if some]
    assert_same(reduce(add, [reduce(add, some) for some in groups]), whole, per_user=call["per_user"])
    plain = [Part.from_plain(pickle.loads(pickle.dumps(part.to_plain()))) for part in parts]  # noqa: S301 - our own
    if whole.paired is None:
        assert_same(reduce(add, plain), whole.without_users(), per_user=False)
    after = [
        pickle.dumps([(one.state.to_bytes(), one.users.tolist()) for one in part.reports.values()]) for part in parts
    ]
    assert after == before
