"""Metrics of all lists together, through the public API: the core, the reference, and the definitions over pairs of lists."""

from __future__ import annotations

import math
import pickle
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import exactk
from exactk._plan.fields import STANDARD_RULES
from exactk._plan.metrics import evaluation_metrics, metrics as metric_registry
from exactk._plan.values import counts_ranks
from exactk.reference.all_lists import COLLECTION_METRICS
from refusals import assert_refused_alike
from strategies import Evaluation, drawn_items, evaluations, examples, reads_history, score_evaluations, sparse_scores
from tallies import DrawnLists, drawn_lists
from test_collection_metrics import FIELDS as METRIC_FIELDS
from test_laws import run_if_legal
from test_reference import report_or_error

# Those that read what users have in train are in test_item_groups.py.
NAMES = sorted(name for name, info in evaluation_metrics.items() if info.of_collection and not info.reads_history)
FIELDS = {**METRIC_FIELDS, "list_users": ["lists", "users"], "undefined": ["zero", "one", "nan", "skip"]}


@st.composite
def collection_strings(draw: st.DrawFn) -> list[str]:
    """Draw metrics of all lists, with fields that they read."""
    texts = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5)):
        cutoff = draw(st.one_of(st.none(), st.integers(1, 6), st.just(2**31 - 1)))
        if counts_ranks(metric_registry[name]):
            cutoff = draw(st.integers(1, 6))
        fields = [field for field in FIELDS if field in {*metric_registry[name].own_fields, "undefined"}]
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
    options = {name: option for name, option in evaluation.options.items() if name != "weights"}
    changes = {"foreign_items": draw(st.sampled_from(["raise", "ignore", "ignore", "count"]))}
    if draw(st.integers(0, 3)):
        changes |= {"duplicate_items": "first", "duplicate_truth": "first", "unseen_items": "rare"}
    if draw(st.integers(0, 3)):
        changes["ties"] = draw(st.sampled_from(["lowest_id", "highest_id"]))
    options |= {"items": draw(drawn_items()), "convention": options["convention"].replace(**changes)}
    others = evaluation.metrics if draw(st.booleans()) else []
    return Evaluation(evaluation.truth, evaluation.predictions, [*draw(collection_strings()), *others], options)


@pytest.mark.parametrize("kind", ["lists", "scores", "sparse scores"])
@settings(max_examples=examples(300))
@given(data=st.data())
def test_the_core_equals_the_reference(kind: str, data: st.DataObject) -> None:
    evaluation = data.draw(collection_evaluations(kind))
    core, reference = (report_or_error(evaluation, by) for by in (exactk.evaluate, exactk.reference.evaluate))
    if isinstance(core, exactk.InputError) or isinstance(reference, exactk.InputError):
        assert_refused_alike(core, reference)
        return
    assert core.state.item_tallies == reference.state.item_tallies
    assert core.state.group_tallies == reference.state.group_tallies
    assert core.state.tallies_by_group == reference.state.tallies_by_group
    assert repr(core.by_item_group) == repr(reference.by_item_group)
    assert core.counts == reference.counts
    of_lists = [name for name in core.metrics if name.startswith(tuple(NAMES))]
    for one, other in ((core, reference), *zip(core.by_group.values(), reference.by_group.values(), strict=True)):
        assert [repr(one[name]) for name in of_lists] == [repr(other[name]) for name in of_lists]


@settings(max_examples=examples(500))
@given(drawn_lists(st.integers(0, 7)), st.data())
def test_values_are_those_of_the_definitions(drawn: DrawnLists, data: st.DataObject) -> None:
    """The lists as drawn: no code of the package reads them."""
    rules = drawn.rules | {field: data.draw(st.sampled_from(choices)) for field, choices in METRIC_FIELDS.items()}
    catalogue = data.draw(st.sets(st.integers(0, 7), min_size=1))
    cutoff = data.draw(st.one_of(st.none(), st.integers(1, 6)))
    groups = data.draw(st.lists(st.sampled_from("ab"), min_size=len(drawn.lists), max_size=len(drawn.lists)))
    options = {"convention": rules, "items": exactk.Items(sorted(catalogue)), "exclude": drawn.exclude}
    options["groups"] = groups
    refused = {"personalization"} if rules["duplicate_items"] == "count" else set()
    if rules["foreign_items"] == "count":
        refused |= {"coverage"}
        refused |= {"gini", "exposure_gini"} if rules["gini_items"] == "catalogue" else set()
        refused |= {"entropy"} if rules["entropy_over"] == "log_items" else set()
    refused |= set() if cutoff else {"exposure_gini"}
    names = [name for name in COLLECTION_METRICS if name not in refused]
    texts = [name if cutoff is None else f"{name}@{cutoff}" for name in names]
    evaluation = Evaluation(drawn.truth, drawn.lists, texts, options)
    report = report_or_error(evaluation, exactk.evaluate)
    assert isinstance(report, exactk.Report)
    counted = catalogue | ({*range(8)} if rules["foreign_items"] == "count" else set())
    ranked = list(zip(groups, drawn.ranked(cutoff), strict=True))
    for group, values in ((None, report), *report.by_group.items()):
        rows = [row for label, row in ranked if row is not None and group in {None, label}]
        lists = [[item for _, item in row if item in counted] for row in rows]
        for name, text in zip(names, texts, strict=True):
            of_ranks = [dict(row) for row in rows]
            in_place = [[row.get(k) if row.get(k) in counted else None for k in range(1, 7)] for row in of_ranks]
            drawn_rules = {**STANDARD_RULES, **rules}
            expected = COLLECTION_METRICS[name](
                in_place if name == "exposure_gini" else lists, len(catalogue), drawn_rules
            )
            if expected is None or not lists:
                assert math.isnan(values[text]), text
            else:
                assert values[text] == float(expected) or (values[text] == 0 and abs(float(expected)) < 1e-55), text


@pytest.mark.parametrize("text", ["coverage@2", "gini", "entropy(entropy_over=log_items)"])
def test_what_divides_by_the_catalogue_counts_no_other_items(text: str) -> None:
    items = exactk.Items([1, 2, 3])
    with pytest.raises(exactk.InputError, match="foreign_items of 'ignore' or 'raise', found 'count'"):
        exactk.evaluate(None, [[1, 2], [3, 9]], text, items=items, convention={"foreign_items": "count"})


@settings(max_examples=examples(150))
@given(collection_evaluations(), st.data())
def test_parts_in_any_order_make_the_whole(evaluation: Evaluation, data: st.DataObject) -> None:
    assume(not any(map(reads_history, evaluation.metrics)))  # whose rows of train are matched by position
    whole = run_if_legal(evaluation)
    users = len(evaluation.truth)
    cuts = sorted(data.draw(st.lists(st.integers(0, users), max_size=3)))
    parts = []
    for begin, end in zip([0, *cuts], [*cuts, users], strict=True):
        options = dict(evaluation.options)
        for name in {"exclude", "groups"} & options.keys():
            options[name] = options[name][begin:end]
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


WHOLE = [name for name in NAMES if not counts_ranks(metric_registry[name])]
METRICS = [*(f"{name}@[1,5,10]" for name in NAMES), *WHOLE, "personalization@5(list_similarity=overlap)", "ndcg@5"]


@pytest.mark.filterwarnings("ignore:items of equal score")
def test_blocks_scores_and_embeddings() -> None:
    """Ranking first, and then the lists, gives the same tallies."""
    rng = np.random.default_rng(5)
    matrix = rng.integers(0, 6, (30, 20)).astype(np.float64)
    items = exactk.Items(20, item_groups=[i % 3 for i in range(20)])
    truth = [[int(rng.integers(0, 20))] for _ in range(30)]
    expected = exactk.evaluate(truth, exactk.topk(matrix, 20).items, METRICS, items=items)
    for predictions in (matrix, exactk.Embeddings(matrix, np.eye(20))):
        report = exactk.evaluate(truth, predictions, METRICS, items=items)
        assert report.state.item_tallies == expected.state.item_tallies
        assert report.state.group_tallies == expected.state.group_tallies
        assert dict(report) == dict(expected)
    blocks = ((truth[i : i + 7], matrix[i : i + 7]) for i in range(0, 30, 7))
    assert dict(exactk.evaluate(None, blocks, METRICS, items=items)) == dict(expected)


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


COUNTED: dict[tuple[str, str], Any] = {
    ("ignore", "lists"): ([1, 3], [[1, 2], [1, 2]], [[[0, 3], [1, 2]], [[0, 3], [2, 2]]]),
    ("ignore", "users"): ([1, 3], [[1, 2], [1, 2]], [[[0, 1], [1, 2]], [[0, 1], [2, 2]]]),
    ("count", "lists"): (
        [1, 3, 8], [[1, 2], [1, 2], [1, 2]], [[[0, 2], [1, 3]], [[0, 2], [1, 1], [2, 1], [3, 1]]],
    ),
    ("count", "users"): ([1, 3, 8], [[1, 2], [1, 2], [0, 1]], [[[0, 1], [1, 2]], [[0, 1], [2, 1], [3, 1]]]),
}  # fmt: skip
"""The items, their counts at the cutoffs 1 and 3, and the number of lists of each length, by hand."""


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize(("foreign", "list_users"), COUNTED)
@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
def test_which_items_and_lists_are_counted(evaluate: Any, foreign: str, list_users: str) -> None:
    lists, truth = [[3, 8, 1], [8], [1, 3, 1], [], None, [9]], [[1], [], [2], [3], [1], None]
    options = {"items": exactk.Items([1, 3]), "exclude": [[], [], [], [], [], [9]]}
    convention = {"foreign_items": foreign, "list_users": list_users, "duplicate_items": "first"}
    (tally,) = evaluate(truth, lists, "personalization@[1,3]", convention=convention, **options).state.item_tallies
    lengths = [table.tolist() for table in tally.list_lengths]
    assert (list(tally.keys), tally.counts.tolist(), lengths) == COUNTED[foreign, list_users]
    if (foreign, list_users) == ("count", "users"):
        assert tally.short_lists[1].tolist() == [[0, 2, 1], [1, 2, 1]]


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
def test_users_whom_the_convention_skips_have_no_list_that_counts(evaluate: Any) -> None:
    truth, lists = [[1], [], [2]], [[], [1], [2, 1]]
    options: Any = {"items": exactk.Items([1, 2], item_groups=["x", "y"])}
    lengths = {
        (): [[0, 1], [1, 1], [2, 1]],
        ("list_users=users",): [[0, 1], [2, 1]],
        ("list_users=users", "empty_list=skip"): [[2, 1]],
        ("list_users=users", "empty_list=skip", "empty_truth=zero"): [[1, 1], [2, 1]],
        ("list_users=users", "empty_list=zero"): [[0, 1], [2, 1]],
        ("empty_list=skip",): [[0, 1], [1, 1], [2, 1]],
    }
    for fields, expected in lengths.items():
        convention = dict(field.split("=") for field in fields)
        (tally,) = evaluate(truth, lists, "personalization", convention=convention, **options).state.item_tallies
        assert tally.list_lengths[0].tolist() == expected
    nobody = {"list_users": "users", "empty_list": "skip"}
    for metric in ("gini", "coverage", "exposure"):
        assert math.isnan(evaluate([[1]], [[]], metric, convention={**nobody, "undefined": "one"}, **options)[metric])


def test_items_of_no_list_are_in_no_tally() -> None:
    (tally,) = exactk.evaluate([[1]] * 2, [[1, 2], [2]], "coverage@2", items=exactk.Items(1000)).state.item_tallies
    assert list(tally.keys) == [1, 2]
    assert tally.counts.tolist() == [[1], [2]]
    assert list(chain(*tally.list_lengths[0].tolist())) == [1, 1, 2, 1]
