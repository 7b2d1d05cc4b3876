"""Metrics of all lists together, through the public API: the core, the reference, and the definitions over pairs of lists."""

from __future__ import annotations

import math
import pickle
import random
import warnings
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import exactk
from exactk.reference.collection import COLLECTION_METRICS
from strategies import Evaluation, drawn_items, evaluations, examples, reads_history, score_evaluations, sparse_scores
from test_collection_metrics import FIELDS as METRIC_FIELDS
from test_laws import run_if_legal

# Those that read what users have in train are in test_item_groups.py.
NAMES = sorted(name for name, info in exactk.metrics.items() if info.of_collection and not info.reads_history)
FIELDS = {**METRIC_FIELDS, "list_users": ["lists", "users"], "undefined": ["zero", "one", "nan", "skip"]}


@st.composite
def collection_strings(draw: st.DrawFn) -> list[str]:
    """Draw metrics of all lists, with fields that they read."""
    texts = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5)):
        cutoff = draw(st.one_of(st.none(), st.integers(1, 6)))
        fields = [field for field in FIELDS if field in {*exactk.metrics[name].own_fields, "undefined"}]
        chosen = draw(st.lists(st.sampled_from(fields), unique=True, max_size=3))
        arguments = ",".join(f"{field}={draw(st.sampled_from(FIELDS[field]))}" for field in chosen)
        texts.append(name + (f"@{cutoff}" if cutoff else "") + (f"({arguments})" if arguments else ""))
    return texts


@st.composite
def collection_evaluations(draw: st.DrawFn, kind: str = "lists") -> Evaluation:
    """Draw calls that ask for metrics of all lists, and perhaps for others."""
    drawn: dict[str, Any] = {
        "lists": evaluations(),
        "scores": score_evaluations(),
        "sparse scores": score_evaluations(predictions=sparse_scores),
    }
    evaluation = draw(drawn[kind])
    options = {name: option for name, option in evaluation.options.items() if name not in {"weights", "groups"}}
    changes = {"foreign_items": draw(st.sampled_from(["raise", "ignore", "ignore", "count"]))}
    if draw(st.integers(0, 3)):
        changes |= {"duplicate_items": "first", "duplicate_truth": "first", "unseen_items": "rare"}
    if draw(st.integers(0, 3)):
        changes["ties"] = draw(st.sampled_from(["lowest_id", "highest_id"]))
    options |= {"items": draw(drawn_items()), "convention": options["convention"].replace(**changes)}
    others = evaluation.metrics if draw(st.booleans()) else []
    return Evaluation(evaluation.truth, evaluation.predictions, [*draw(collection_strings()), *others], options)


def outcome(evaluation: Evaluation, evaluate: Any) -> exactk.Report | exactk.InputError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            return evaluation.run(evaluate)
        except exactk.InputError as error:
            return error


@pytest.mark.parametrize("kind", ["lists", "scores", "sparse scores"])
@settings(max_examples=examples(500))
@given(data=st.data())
def test_the_core_equals_the_reference(kind: str, data: st.DataObject) -> None:
    evaluation = data.draw(collection_evaluations(kind))
    core, reference = (outcome(evaluation, evaluate) for evaluate in (exactk.evaluate, exactk.reference.evaluate))
    if isinstance(core, exactk.InputError) or isinstance(reference, exactk.InputError):
        assert type(core) is type(reference), (core, reference)
        locations = [(e.argument, e.row, e.position, e.count) for e in (core, reference)]  # type: ignore[union-attr]
        assert locations[0] == locations[1], (core, reference)
        return
    assert core.state.item_tallies == reference.state.item_tallies
    assert core.state.group_tallies == reference.state.group_tallies
    assert repr(core.by_item_group) == repr(reference.by_item_group)
    assert core.counts == reference.counts
    of_lists = [name for name in core.metrics if name.startswith(tuple(NAMES))]
    assert [repr(core[name]) for name in of_lists] == [repr(reference[name]) for name in of_lists]


def lists_of(evaluation: Evaluation, rules: Any, catalogue: set[int], cutoff: int | None) -> list[list[int]]:
    """Return the items of each list that counts: excluded items leave their ranks, repeated and foreign ones do not."""
    lists = []
    for truth, listed, excluded in zip(
        evaluation.truth, evaluation.predictions, evaluation.options["exclude"], strict=True
    ):
        if listed is None or (rules["list_users"] == "users" and not is_counted(truth, rules)):
            continue
        items = [item for item in listed if item not in excluded][:cutoff]
        items = items if rules["duplicate_items"] == "count" else list(dict.fromkeys(items))
        lists.append([item for item in items if item in catalogue or rules["foreign_items"] == "count"])
    return lists


def is_counted(truth: Any, rules: Any) -> bool:
    """Return whether a user with a list is of the population, and not skipped; every item is relevant."""
    return (truth is not None or rules["users"] in {"predictions", "union"}) and (
        bool(truth) or rules["empty_truth"] != "skip"
    )


@settings(max_examples=examples(500))
@given(st.data())
def test_values_are_those_of_the_definitions(data: st.DataObject) -> None:
    """The lists as drawn: no code of the package reads them."""
    ids = st.integers(0, 7)
    users = data.draw(st.integers(1, 5))
    rows = st.lists(st.one_of(st.none(), st.lists(ids, max_size=6)), min_size=users, max_size=users)
    exclude = data.draw(st.lists(st.lists(ids, max_size=2), min_size=users, max_size=users))
    truth = data.draw(
        st.lists(st.one_of(st.none(), st.lists(ids, unique=True, max_size=2)), min_size=users, max_size=users)
    )
    rules = {
        "foreign_items": data.draw(st.sampled_from(["ignore", "count"])),
        "duplicate_items": data.draw(st.sampled_from(["first", "count"])),
        "list_users": data.draw(st.sampled_from(["lists", "users"])),
        "users": data.draw(st.sampled_from(["truth", "both", "predictions", "union"])),
        "empty_truth": data.draw(st.sampled_from(["skip", "compute"])),
        "undefined": "nan",
        **{field: data.draw(st.sampled_from(choices)) for field, choices in METRIC_FIELDS.items()},
    }
    catalogue = data.draw(st.sets(ids, min_size=1))
    cutoff = data.draw(st.one_of(st.none(), st.integers(1, 6)))
    options = {"convention": rules, "items": exactk.Items(sorted(catalogue)), "exclude": exclude}
    refused = {"personalization"} if rules["duplicate_items"] == "count" else set()
    if rules["foreign_items"] == "count":
        refused |= {"coverage"}
        refused |= {"gini"} if rules["gini_items"] == "catalogue" else set()
        refused |= {"entropy"} if rules["entropy_over"] == "log_items" else set()
    names = [name for name in COLLECTION_METRICS if name not in refused]
    texts = [name if cutoff is None else f"{name}@{cutoff}" for name in names]
    evaluation = Evaluation(truth, data.draw(rows), texts, options)
    report = outcome(evaluation, exactk.evaluate)
    assert isinstance(report, exactk.Report)
    lists = lists_of(evaluation, rules, catalogue, cutoff)
    for name, text in zip(names, texts, strict=True):
        expected = COLLECTION_METRICS[name](lists, len(catalogue), rules)
        if expected is None or not lists:
            assert math.isnan(report[text]), text
        else:
            assert report[text] == pytest.approx(float(expected), rel=2e-16, abs=1e-50), text


@pytest.mark.parametrize("text", ["coverage@2", "gini", "entropy(entropy_over=log_items)"])
def test_what_divides_by_the_catalogue_counts_no_other_items(text: str) -> None:
    items = exactk.Items([1, 2, 3])
    with pytest.raises(exactk.InputError, match="foreign_items of 'ignore' or 'raise', found 'count'"):
        exactk.evaluate(None, [[1, 2], [3, 9]], text, items=items, convention={"foreign_items": "count"})


@settings(max_examples=examples(300))
@given(collection_evaluations(), st.data())
def test_parts_in_any_order_make_the_whole(evaluation: Evaluation, data: st.DataObject) -> None:
    assume(not any(map(reads_history, evaluation.metrics)))  # whose rows of train are matched by position
    whole = run_if_legal(evaluation)
    users = len(evaluation.truth)
    cuts = sorted(data.draw(st.lists(st.integers(0, users), max_size=3)))
    parts = []
    for begin, end in zip([0, *cuts], [*cuts, users], strict=True):
        options = dict(evaluation.options)
        if "exclude" in options:
            options["exclude"] = options["exclude"][begin:end]
        truth, lists = evaluation.truth[begin:end], evaluation.predictions[begin:end]
        if begin < end:
            parts.append(run_if_legal(Evaluation(truth, lists, evaluation.metrics, options)))
    assume(parts)
    data.draw(st.randoms(use_true_random=False)).shuffle(parts)
    merged = exactk.merge(parts)
    assert merged == whole
    assert merged.state.to_bytes() == whole.state.to_bytes()
    states = [exactk.State.from_bytes(part.state.to_bytes()) for part in parts]
    assert exactk.merge(states).state == whole.state
    assert exactk.State.from_dict(whole.state.to_dict()) == whole.state
    assert pickle.loads(pickle.dumps(whole)) == whole  # noqa: S301 - just written


KEYS = {user: f"user {user}" for user in range(60)}


def frame_of(lists: dict[Any, list[Any]]) -> pd.DataFrame:
    rows = [(user, item, rank) for user, items in lists.items() for rank, item in enumerate(items, start=1)]
    return pd.DataFrame(rows, columns=["user", "item", "rank"])


def many_lists(of_text: bool) -> tuple[dict[Any, Any], dict[Any, Any], Any]:
    """Return the truth, lists of different lengths and a catalogue: items by number, or by name."""
    rng = random.Random(3)  # noqa: S311 - drawn, and not secret
    name: Any = "item {}".format if of_text else int
    lists = {KEYS[user]: [name(item) for item in rng.sample(range(40), rng.randrange(12))] for user in KEYS}
    truth = {key: [*items[:1], name(44)] for key, items in lists.items()}
    keys = [name(item) for item in range(45)]
    groups = {key: "abc"[i % 3] for i, key in enumerate(keys) if i % 7}
    return truth, lists, exactk.Items(keys, item_groups=groups)


METRICS = [*(f"{name}@[1,5,10]" for name in NAMES), *NAMES, "personalization@5(list_similarity=overlap)", "ndcg@5"]


@pytest.mark.filterwarnings("ignore:.* as 0, the best value:exactk.EvaluationWarning")
@pytest.mark.parametrize("of_text", [False, True])
def test_batches_iterators_and_threads(of_text: bool) -> None:
    truth, lists, items = many_lists(of_text)
    whole = exactk.evaluate(truth, lists, METRICS, items=items)
    for threads in (1, 2, 5):
        assert exactk.evaluate(truth, lists, METRICS, items=items, num_threads=threads) == whole
    keys = list(lists)
    for size in (1, 7, 60):
        parts = [{key: lists[key] for key in keys[i : i + size]} for i in range(0, 60, size)]
        frames = [frame_of(part) for part in parts if any(part.values())]
        batches = exactk.Batches(partial(list, frames))
        whole_of_frames = exactk.evaluate(truth, frame_of(lists), METRICS, items=items)
        assert exactk.evaluate(truth, batches, METRICS, items=items) == whole_of_frames
        shards = [exactk.evaluate({k: truth[k] for k in part}, part, METRICS, items=items) for part in parts]
        random.Random(size).shuffle(shards)  # noqa: S311 - drawn, and not secret
        merged = exactk.merge(shards)  # its users are in another order
        assert (dict(merged), merged.state) == (dict(whole), whole.state)
        assert merged.state.to_bytes() == whole.state.to_bytes()
    other = {key: lists[key] for key in reversed(keys)}
    assert exactk.evaluate(truth, other, METRICS, items=items) == whole


@pytest.mark.filterwarnings("ignore:items of equal score")
def test_blocks_scores_and_embeddings() -> None:
    """Ranking first, and then the lists, gives the same tallies."""
    rng = np.random.default_rng(5)
    matrix = rng.integers(0, 6, (30, 20)).astype(np.float64)
    items = exactk.Items(20, item_groups=[i % 3 for i in range(20)])
    truth = [[int(rng.integers(0, 20))] for _ in range(30)]
    expected = exactk.evaluate(truth, exactk.topk(matrix, 20).ids, METRICS, items=items)
    for predictions in (matrix, exactk.Embeddings(matrix, np.eye(20))):
        report = exactk.evaluate(truth, predictions, METRICS, items=items)
        assert report.state.item_tallies == expected.state.item_tallies
        assert report.state.group_tallies == expected.state.group_tallies
        assert dict(report) == dict(expected)
    blocks = ((truth[i : i + 7], matrix[i : i + 7]) for i in range(0, 30, 7))
    assert dict(exactk.evaluate(None, blocks, METRICS, items=items)) == dict(expected)


def test_other_catalogues_do_not_merge() -> None:
    one, other = (exactk.evaluate([[1]], [[1, 2]], "coverage@2", items=exactk.Items(range(size))) for size in (3, 4))
    with pytest.raises(exactk.StateMismatchError):
        exactk.merge([one, other])


def test_every_item_and_one_item() -> None:
    items = exactk.Items(range(6))
    every = exactk.evaluate(
        [[0]] * 6, [[i, (i + 1) % 6] for i in range(6)], [f"{name}@2" for name in COLLECTION_METRICS], items=items
    )
    assert (every["coverage@2"], every["num_items@2"], every["gini@2"]) == (1, 6, 0)
    assert every["entropy@2"] == pytest.approx(math.log2(6), rel=1e-15)
    same = exactk.evaluate([[0]] * 6, [[3]] * 6, [f"{name}@2" for name in COLLECTION_METRICS], items=items)
    assert [same[f"{name}@2"] for name in ("coverage", "num_items", "gini", "entropy", "personalization")] == [
        1 / 6, 1, 5 / 6, 0, 0,
    ]  # fmt: skip
    nobody = outcome(
        Evaluation([[0]], [None], [f"{name}@2" for name in COLLECTION_METRICS], {"items": items}), exactk.evaluate
    )
    assert isinstance(nobody, exactk.Report)
    assert all(map(math.isnan, nobody.values()))


@pytest.mark.parametrize("shift", [0, 5])
def test_ranks_with_gaps(shift: int) -> None:
    """A rank without an item takes one of the first k."""
    lists = exactk.Rankings([0, 3, 4], [1, 2, 3, 1], ranks=[1 + shift, 2 + shift, 4 + shift, 1 + shift])
    options: Any = {"items": exactk.Items(range(4)), "convention": {"rank_gaps": "keep"}}
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        report = evaluate([[1], [2]], lists, [f"num_items@[{1 + shift},{3 + shift},{4 + shift}]"], **options)
        assert list(report.values()) == [1, 2, 3]


def test_jaccard_is_no_choice() -> None:
    with pytest.raises(exactk.InputError, match="one of 'cosine', 'overlap', found 'jaccard'"):
        exactk.evaluate([[1]], [[1]], "personalization@2(list_similarity=jaccard)", items=exactk.Items(3))


def test_items_of_no_list_are_in_no_tally() -> None:
    (tally,) = exactk.evaluate([[1]] * 2, [[1, 2], [2]], "coverage@2", items=exactk.Items(1000)).state.item_tallies
    assert list(tally.keys) == [1, 2]
    assert tally.counts.tolist() == [[1], [2]]
    assert list(chain(*tally.list_lengths[0].tolist())) == [1, 1, 2, 1]
