"""The sums of updates as vectors that processes add: the same bits in any order, and nothing impossible is read."""

from __future__ import annotations

import itertools
import warnings
from functools import partial, reduce
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import exactk
import warned
from exactk._engine import update_digits
from exactk._engine.update_digits import _NUM_COUNTS, UpdateLayout, check_fixed_size
from exactk._engine.updates import Update
from exactk._report.state_digits import NUM_DIGITS, Vectors, carried, digits_of, integers_of
from strategies import examples
from test_evaluator import Split, splits
from warned import result_and_warnings, warnings_of, without_examples

LARGEST = 2 ** (32 * NUM_DIGITS - 1)
INTEGERS = st.one_of(
    st.integers(-LARGEST // 2**10, LARGEST // 2**10),
    st.integers(0, 2160).flatmap(lambda bits: st.sampled_from([1 << bits, -(1 << bits), (1 << bits) - 1, 1 - (1 << bits)])),
    st.integers(-3, 3),
)  # fmt: skip


@settings(max_examples=examples(500))
@given(st.lists(st.lists(INTEGERS, min_size=3, max_size=3), min_size=1, max_size=8), st.data())
def test_digits_add_as_integers_do(rows: list[list[int]], data: st.DataObject) -> None:
    total = digits_of(rows[0])
    assert integers_of(total) == rows[0]
    for row in rows[1:]:
        total = total + digits_of(row)
        if data.draw(st.booleans()):
            total = carried(total)
    assert integers_of(total) == [sum(column) for column in zip(*rows, strict=True)]
    assert integers_of(carried(total)) == integers_of(total)


def test_digits_of_many_processes_do_not_overflow() -> None:
    """Whatever they are after any number of updates, 2^30 processes add them."""
    integers = [2**2120, -1, -(2**2120), 2**2120 - 1]
    total, steps = digits_of(integers), 200
    for _ in range(steps):
        total = carried(total + digits_of(integers))
    assert np.abs(total).max() <= 2**32 + 2
    assert integers_of(total) == [(steps + 1) * integer for integer in integers]
    assert integers_of(total * 2**30) == [2**30 * (steps + 1) * integer for integer in integers]


def test_too_large_integers_are_refused() -> None:
    for integer in (LARGEST, -LARGEST - 1):
        with pytest.raises(exactk.CapacityError, match="expected sums of at most 2176 bits, found larger ones"):
            digits_of([integer])
    assert integers_of(digits_of([LARGEST - 1, -LARGEST])) == [LARGEST - 1, -LARGEST]
    with pytest.raises(ValueError, match=r"expected sums of at most 2176 bits$"):
        integers_of(2 * digits_of([LARGEST - 1]))


def layout_of(split: Split) -> UpdateLayout:
    """Return the layout of a drawn call, but for calls whose sums have no fixed size."""
    evaluation = split.evaluator()._request
    try:
        check_fixed_size(evaluation.values)
    except exactk.InputError:
        assume(False)
    return UpdateLayout(evaluation)


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(splits(fixed_size=True), st.data())
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_any_processes_give_the_report_of_one_call(split: Split, data: st.DataObject) -> None:
    assume(split.error is None)
    layout = layout_of(split)
    blocks = [split.block(*border) for border in split.borders(data)]
    assume(blocks)
    vectors = [layout.update(layout.empty, Update(**block)) for block in blocks]
    whole = reduce(Vectors.plus, data.draw(st.permutations(vectors)), layout.empty)
    by_processes = Vectors(
        np.sum([one.digits for one in vectors], axis=0),
        np.sum([one.counts for one in vectors], axis=0),
        np.max([one.largest for one in vectors], axis=0),
    )
    evaluator = split.evaluator()
    for block in blocks:
        evaluator.update(**block)
    for one in (whole, by_processes):
        report, texts = result_and_warnings(partial(layout.report, one))
        expected, expected_texts = result_and_warnings(evaluator.compute)
        assert report.state == split.state
        assert report == expected
        untold = ("no item of the truth", "no item of the catalogue")
        found = [
            [without_examples(text) for text in some if not text.startswith(untold)] for some in (texts, expected_texts)
        ]
        assert found[0] == found[1]


METRICS = ["ndcg@3", "recall@2", "map(average=geometric)", "precision@2(average=micro)"]


def sums_of(metrics: Any, *updates: Any) -> tuple[UpdateLayout, Vectors]:
    layout = UpdateLayout(exactk.Evaluator(metrics)._request)
    vectors = layout.empty
    for truth, predictions, *candidates in updates:
        options = dict(zip(["candidates"], candidates, strict=False))
        vectors = vectors.plus(layout.update(vectors, Update(truth, predictions, **options)))
    return layout, vectors


def test_before_any_update_it_is_the_report_of_no_users() -> None:
    layout, vectors = sums_of(METRICS)
    with pytest.warns(exactk.EvaluationWarning, match="no user was evaluated for ndcg@3"):
        assert layout.report(vectors) == exactk.Evaluator(METRICS).compute()


PAGES: list[Any] = [([[i] for i in range(40)], [[100 + i] for i in range(40)])] * 2
TEXTS: list[Any] = [([["a"]], [["a"]]), ([["b"]], [["c"]])]
SCORES = np.random.default_rng(0).standard_normal((40, 100)).astype(np.float32)
COMPLETE: Any = ([[1], [9]], np.eye(2, 5))
WARNED: dict[str, tuple[list[Any], list[Any], str]] = {  # updates that are warned of, and others that are not
    "disjoint items": (PAGES, [*PAGES, ([[1], [2]], [[2], [1]])], "no item of the truth is in the predictions of the same update: "),
    "candidates in no list": (
        [(*page, ["z"]) for page in TEXTS], [(*page, ["a"]) for page in TEXTS],
        "no item of candidates is in the predictions: ",
    ),
    "samples": (
        [([[0]] * 15, SCORES[:15]), ([[0]] * 25, SCORES[15:])], [([[0]] * 15, SCORES[:15]), ([[99]] * 25, SCORES[15:])],
        "every user has 100 scores and the relevant item in column 0",
    ),
    "items without a column": (
        [COMPLETE, COMPLETE], [COMPLETE, ([[1]], [[(1, 0.5), (2, 0.25)]])], "2 relevant items have no column in the scores",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WARNED)
def test_what_all_updates_together_are_warned_of(case: str) -> None:
    """Whether lists of other updates have an item is not known, which the text does not say either."""
    warned, others, start = WARNED[case]
    for updates, expected in ((warned, [start]), (others, [])):
        layout, vectors = sums_of("recall@1", *updates)
        assert [text[: len(start)] for text in warnings_of(partial(layout.report, vectors))] == expected


CATALOGUES: dict[str, list[Any]] = {
    "integers": [7, 0, 2**40, 3, 11, 5],
    "strings": ["b", "", "a", "ü", "ab", "c"],
    "bytes": [b"b", b"a", b"", b"a\0", b"ab", b"c"],
}
OF_ALL_LISTS = ["coverage@[1,3]", "num_items", "gini@2", "exposure_gini@3", "entropy@3(ties=highest_id)", "ndcg@2"]


@settings(max_examples=examples(300))
@given(st.sampled_from(list(CATALOGUES.values())), st.data())
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_counts_of_the_items_of_a_catalogue(keys: list[Any], data: st.DataObject) -> None:
    """Lists have other items too, which are not counted."""
    one_list = st.lists(st.sampled_from(keys), unique=True)
    lists, truth = (data.draw(st.lists(one_list, min_size=5, max_size=5)) for _ in range(2))
    setup: dict[str, Any] = {"items": exactk.Items(data.draw(st.permutations(keys[:4])))}
    setup["convention"] = {"foreign_items": "ignore"}
    whole = exactk.evaluate(truth, lists, OF_ALL_LISTS, **setup)
    layout = UpdateLayout(exactk.Evaluator(OF_ALL_LISTS, **setup)._request)
    border = data.draw(st.integers(0, 5))
    vectors = layout.empty
    for users in data.draw(st.permutations([slice(0, border), slice(border, 5)])):
        vectors = vectors.plus(layout.update(vectors, Update(truth[users], lists[users])))
    assert layout.report(vectors).state == whole.state
    damaged = vectors.counts.copy()
    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.sampled_from([-1, 99, 2**62 + 1]))
    _refused_or_the_same(layout, vectors, vectors._replace(counts=damaged))


def test_a_catalogue_of_other_ids_is_told_of() -> None:
    layout = UpdateLayout(
        exactk.Evaluator(
            "novelty@40", items=exactk.Items(train=[range(40)]), convention={"foreign_items": "count"}
        )._request
    )
    vectors, of_lists = layout.empty, [[*range(100, 140)]]
    for _ in range(2):
        vectors = vectors.plus(layout.update(vectors, Update([[1]], of_lists)))
    texts = warned.warnings_of(lambda: layout.report(vectors))
    assert [text.partition(":")[0] for text in texts if "catalogue" in text] == [
        "no item of the catalogue is in the predictions"
    ]
    with_one = vectors.plus(layout.update(vectors, Update([[1]], [[1]])))
    assert not [
        text for text in warned.warnings_of(lambda: layout.report(with_one)) if "no item of the catalogue" in text
    ]


REFUSED: dict[str, tuple[exactk.Items, str]] = {
    "exposure@2": (
        exactk.Items([1, 2], item_groups={1: "a", 2: "b"}),
        "metrics whose counts of items have a fixed size",
    ),
    "personalization@2(list_similarity=cosine)": (exactk.Items(3), "metrics whose counts of items have a fixed size"),
    "num_items@2(foreign_items=count)": (exactk.Items(3), "metrics whose counts of items have a fixed size"),
    "calibration@2": (exactk.Items(train=[[1]], features={1: ["a"]}), "metrics that need no train data of each user"),
}


@pytest.mark.parametrize("metric", REFUSED)
def test_sums_without_a_fixed_size_are_refused(metric: str) -> None:
    items, expected = REFUSED[metric]
    with pytest.raises(exactk.InputError) as caught:
        check_fixed_size(exactk.Evaluator(metric, items=items)._request.values)
    assert str(caught.value).startswith(f"metrics: expected {expected}, found {metric}; exactk.Evaluator takes them")


@pytest.mark.parametrize("truth", [{"ann": [1]}, exactk.Truth([0, 1], [1], users=["ann"])], ids=["mapping", "labels"])
def test_users_with_keys_are_refused(truth: Any) -> None:
    message = (
        "truth: expected rows without user keys, of which no sum can be kept, found users of type str; "
        "exactk.Evaluator takes them; torch.distributed.all_gather_object gathers evaluators, and merge adds them"
    )
    predictions = {"ann": [1]} if isinstance(truth, dict) else [[1]]
    with pytest.raises(exactk.InputTypeError) as caught:
        sums_of(METRICS, (truth, predictions))
    assert str(caught.value) == message


def test_other_arguments_than_before_are_refused() -> None:
    layout, vectors = sums_of(METRICS, ([[1]], [[1, 2]]))
    weighted = Update([[1]], [[1, 2]], weights=[2.0])
    with pytest.raises(exactk.InputTypeError, match=r"^weights: expected None, as in earlier updates, found weights"):
        layout.update(vectors, weighted)
    of_both = vectors.plus(layout.update(layout.empty, weighted))  # of another process
    with pytest.raises(exactk.StateMismatchError, match=r"^weights: expected weights in all updates or in none, found weights in 1 of 2$"):  # fmt: skip
        layout.report(of_both)
    layout, vectors = sums_of("list_fill@2", ([[1]], [[1, 2]]))
    of_both = vectors.plus(layout.update(layout.empty, Update(None, [[1, 2]])))
    with pytest.raises(exactk.StateMismatchError, match=r"^truth: expected a truth in all updates or in none, found a truth in 1 of 2$"):  # fmt: skip
        layout.report(of_both)


@pytest.mark.parametrize("other", [
    {"metrics": ["ndcg@3", "recall@3"]},
    {"metrics": ["ndcg@3", "recall@2"], "convention": "ranx"},
    {"metrics": ["ndcg@3", "recall@2"][::-1]},
], ids=["metrics", "convention", "order"])  # fmt: skip
def test_sums_of_other_plans_are_refused(other: dict[str, Any]) -> None:
    layout, vectors = sums_of(["ndcg@3", "recall@2"], ([[1]], [[1, 2]]))
    others = UpdateLayout(exactk.Evaluator(**other)._request)
    of_both = vectors.plus(others.update(others.empty, Update([[1]], [[1, 2]])))
    for one in (layout, others):
        with pytest.raises(exactk.StateMismatchError, match=r"^state: expected sums of the same metrics, convention "):
            one.report(of_both)


def test_sums_of_a_plan_whose_digest_is_lower_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes keep the larger bytes, which are those of the other plan."""
    layout, vectors = sums_of("recall@2", ([[1]], [[1, 2]]))
    with monkeypatch.context() as patch:
        patch.setattr(update_digits, "blake2b", lambda *_, **_options: SimpleNamespace(digest=lambda: bytes(16)))
        _, others = sums_of("recall@3", ([[1]], [[1, 2]]))
    with pytest.raises(exactk.StateMismatchError, match=r"^state: expected sums of the same metrics, convention and"):
        layout.report(vectors.plus(others))


def test_counts_of_items_that_no_lists_have_are_refused() -> None:
    evaluator = exactk.Evaluator("coverage@[1,2]", items=exactk.Items(2))
    layout = UpdateLayout(evaluator._request)
    vectors = layout.update(layout.empty, Update([[1]], [[1, 0]]))
    begin = len(vectors.counts) - 4 - 2 - 3 - _NUM_COUNTS  # of 2 items x 2 cutoffs, lists of up to 1 and 2 items
    assert vectors.counts[begin:-_NUM_COUNTS].tolist() == [0, 1, 1, 1, 0, 1, 0, 0, 1]
    for position, number in ((begin, -1), (begin, 2), (begin + 4, -1)):
        damaged = vectors.counts.copy()
        damaged[position] = number
        with pytest.raises(exactk.InputError, match="counts of items that grow with the cutoff"):
            layout.report(vectors._replace(counts=damaged))


def test_damaged_sums_are_refused() -> None:
    layout, vectors = sums_of(["ndcg@3", "recall@2"], ([[1], [2]], [[1, 2], [3, 2]]))
    for name, number in itertools.product(range(len(vectors.counts)), (-1, 2**62 + 1)):
        damaged = vectors.counts.copy()
        damaged[name] = number
        _refused_or_the_same(layout, vectors, vectors._replace(counts=damaged))
    for row, column, number in ((0, 3, 1), (0, 9, 1), (0, -1, -1), (1, -1, 1), (2, 0, 1), (0, -1, 2**40), (4, -1, -1)):
        damaged = vectors.digits.copy()
        damaged[row, column] = number
        with pytest.raises(exactk.InputError, match=r"^state: expected the "):
            layout.report(vectors._replace(digits=damaged))


def _refused_or_the_same(layout: UpdateLayout, vectors: Vectors, damaged: Vectors) -> None:
    """Numbers of warnings may be any; those of values are possible ones."""
    try:
        with warnings.catch_warnings(action="ignore"):
            report = layout.report(damaged)
    except exactk.ExactkError:
        return
    assert dict(report) == dict(layout.report(vectors))


CHANGES = [lambda one: one.astype(np.float64), lambda one: one[:-1], lambda one: one[:1]]


@pytest.mark.parametrize("change", CHANGES, ids=["type", "shorter", "one"])
def test_vectors_of_another_type_or_shape_are_refused(change: Any) -> None:
    layout, vectors = sums_of(METRICS, ([[1]], [[1, 2]]))
    for field in Vectors._fields:
        damaged = vectors._replace(**{field: change(getattr(vectors, field))})
        with pytest.raises(exactk.InputError, match=r"^state: expected int64 of shape .*, found .* another metric's state was"):  # fmt: skip
            layout.report(damaged)
        with pytest.raises(exactk.InputError, match=r"^state: expected int64 of shape "):
            layout.update(damaged, Update([[1]], [[1, 2]]))
