"""The same bits: for any number of threads, any split, any block."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import cycle, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import exactk
from exactk import _core
from strategies import (
    ANY_ITEMS,
    OF_COLLECTION,
    Evaluation,
    evaluations,
    examples,
    reads_base,
    reads_history,
    reads_tags,
    spellings,
)
from test_laws import run_if_legal

pytestmark = pytest.mark.filterwarnings("ignore:.* as 0, the best value:exactk.EvaluationWarning")

EVERY_METRIC = [
    text for name in exactk.metrics if name not in OF_COLLECTION for text in spellings(name, [5], whole=False)
]
EVERY_METRIC += ["ndcg@10(gain=exp2)", "recall@5(average=micro)"]
# Of users without keys, a part has neither the train nor the base predictions of the whole.
METRICS = [text for text in EVERY_METRIC if not (reads_history(text) or reads_base(text) or reads_tags(text))]


@pytest.fixture(scope="module")
def many_lists() -> Evaluation:
    """3,000 users with grades, weights and groups: several blocks per thread."""
    rng = np.random.default_rng(7)
    users = 3000
    truth = [dict.fromkeys(rng.choice(60, rng.integers(0, 9), replace=False).tolist(), 1.0) for _ in range(users)]
    for row in truth:
        row.update({item: float(rng.integers(0, 4)) for item in row})
    predictions = [rng.permutation(60)[: rng.integers(0, 25)] for _ in range(users)]
    options = {"weights": rng.random(users), "groups": rng.integers(0, 5, users), "per_user": True}
    return Evaluation(truth, predictions, METRICS, options)


@pytest.mark.parametrize("weighted", [True, False])
def test_f22_f31_number_of_threads_and_instruction_set(
    many_lists: Evaluation, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = replace(many_lists, metrics=EVERY_METRIC)
    options = {} if weighted else {"weights": None}
    widest = evaluation.run(num_threads=1, **options)
    for isa, threads in zip(_core.isas(), cycle((3, 7)), strict=False):
        monkeypatch.setenv("EXACTK_ISA", isa)
        assert evaluation.run(num_threads=threads, **options) == widest


GROUPS = {item: f"group {item % 7}" for item in range(0, 50, 3)}


@pytest.fixture(scope="module")
def all_lists(many_lists: Evaluation) -> Evaluation:
    """The same lists, for values that they have together."""
    rng = np.random.default_rng(8)
    metrics = [text for name in OF_COLLECTION if not reads_history(name) for text in spellings(name, [1, 5, 10])]
    metrics += [
        "personalization@5(list_similarity=overlap)",
        "gini@5(list_users=users)",
        "num_items@5(foreign_items=count)",
    ]
    exclude = [rng.choice(60, 3, replace=False) for _ in many_lists.truth]
    options = {
        "items": exactk.Items(range(50), item_groups=GROUPS),
        "exclude": exclude,
        "convention": {"foreign_items": "ignore"},
    }
    return Evaluation(many_lists.truth, many_lists.predictions, metrics, options)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_threads_and_instruction_sets_count_the_same_items(
    all_lists: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = all_lists.run(num_threads=1)
    assert one["num_items"] == 50 < one["num_items@5(foreign_items=count)"]
    for isa in _core.isas():
        monkeypatch.setenv("EXACTK_ISA", isa)
        for threads in (1, 2, 7):
            report = all_lists.run(num_threads=threads)
            assert report == one
            assert report.state.to_bytes() == one.state.to_bytes()


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("cuts", [[0, 3000], [0, 1, 3000], [0, 0, 700, 701, 2222, 3000]])
def test_shards_count_the_same_items_in_any_order(all_lists: Evaluation, cuts: list[int]) -> None:
    whole = all_lists.run().state
    parts = [slice_users(all_lists, begin, end).run().state for begin, end in pairwise(cuts) if end > begin]
    for order in (parts, parts[::-1]):
        assert exactk.merge(order).state.to_bytes() == whole.to_bytes()
    assert exactk.State.from_bytes(whole.to_bytes()) == exactk.State.from_dict(whole.to_dict()) == whole


@pytest.mark.parametrize("name", ["AVX2", "sse2", " scalar", "native", "\udcff"])
def test_f31_instruction_set_that_is_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXACTK_ISA", name)
    with pytest.raises(exactk.InputError, match=r"EXACTK_ISA: .*scalar") as caught:
        exactk.evaluate([[1]], [[1]], "recall@1")
    assert caught.value.argument == "EXACTK_ISA"


def slice_users(evaluation: Evaluation, begin: int, end: int) -> Evaluation:
    of_users = {"weights", "groups", "exclude", "base_predictions"} & {*evaluation.options}
    cut = {name: evaluation.options[name][begin:end] for name in of_users}
    return Evaluation(
        evaluation.truth[begin:end],
        evaluation.predictions[begin:end],
        evaluation.metrics,
        {**evaluation.options, **cut},
    )


@pytest.mark.parametrize("cuts", [[0, 3000], [0, 1, 3000], [0, 0, 700, 701, 2222, 3000]])
def test_merge_of_a_split(many_lists: Evaluation, cuts: list[int]) -> None:
    parts = [slice_users(many_lists, begin, end).run() if end > begin else None for begin, end in pairwise(cuts)]
    assert exactk.merge([part for part in parts if part is not None]) == many_lists.run()


@settings(max_examples=examples(150))
@given(evaluations(min_users=2), st.data())
def test_merge_of_any_split_in_any_order(evaluation: Evaluation, data: st.DataObject) -> None:
    assume(not any(map(reads_history, evaluation.metrics)))  # whose rows of train are matched by position
    whole = run_if_legal(evaluation)
    cut = data.draw(st.integers(1, len(evaluation.truth) - 1))
    parts = [
        run_if_legal(slice_users(evaluation, 0, cut)),
        run_if_legal(slice_users(evaluation, cut, len(evaluation.truth))),
    ]
    assert exactk.merge(parts) == exactk.merge(parts[::-1]) == whole
    states = [exactk.State.from_bytes(part.state.to_bytes()) for part in parts]
    assert exactk.merge(states).state == whole.state
    assert exactk.merge(pickle.loads(pickle.dumps(parts))) == whole  # noqa: S301 - just written


@pytest.mark.parametrize("size", [1, 700, 4000])
def test_blocks_equal_the_whole(many_lists: Evaluation, size: int) -> None:
    users = 8 if size == 1 else 3000
    part = slice_users(many_lists, 0, users)
    blocks = ((part.truth[i : i + size], part.predictions[i : i + size]) for i in range(0, users, size))
    assert exactk.evaluate(None, blocks, part.metrics, items=ANY_ITEMS, **part.options) == part.run()


def test_groups_add_up_to_the_whole(many_lists: Evaluation) -> None:
    grouped = many_lists.run()
    whole = many_lists.run(groups=None)
    assert dict(grouped) == dict(whole)
    for label in range(5):
        members = np.flatnonzero(many_lists.options["groups"] == label)
        part = exactk.evaluate(
            [many_lists.truth[i] for i in members],
            [many_lists.predictions[i] for i in members],
            METRICS,
            items=ANY_ITEMS,
            weights=many_lists.options["weights"][members],
        )
        assert dict(grouped.by_group[label]) == dict(part)
