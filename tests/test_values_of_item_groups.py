"""Values of the relevant items of a group: by hand, by truths that are cut to the group, and in tables, sums and comparisons."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from refusals import refusal
from strategies import examples

ENGINES = pytest.mark.parametrize("evaluate", [exactk.evaluate, exactk.reference.evaluate], ids=["core", "reference"])
TRUTH = {"ann": ["a", "b", "x"], "bob": ["a"], "cy": ["x", "y", "z"], "dee": ["b", "q"]}
LISTS = {"ann": list("axpb"), "bob": list("pabq"), "cy": list("aybx"), "dee": list("paxq")}
GROUPS = dict(zip("abpqxyz", ["head", "head", "head", "mid", "tail", "tail", "tail"], strict=True))
ITEMS = exactk.Items(list(GROUPS), item_groups=GROUPS)
LABELS = ("head", "mid", "tail")
NAN = float("nan")

BY_HAND: dict[str, tuple[Fraction | float, ...]] = {
    "recall@3": (Fraction(1, 2), 0, Fraction(2, 3)),
    "recall@3(average=micro)": (Fraction(2, 4), 0, Fraction(2, 4)),
    "recall@3(item_group_value=share)": (Fraction(1, 3), 0, Fraction(1, 6)),
    "precision@3": (Fraction(5, 24), NAN, Fraction(2, 3)),
    "precision@3(average=micro)": (Fraction(2, 9), NAN, Fraction(2, 3)),
    "precision@3(item_group_value=share)": (Fraction(1, 6), 0, Fraction(1, 6)),
    "hit_rate@3": (Fraction(2, 3), 0, 1),
    "reciprocal_rank@3": (Fraction(1, 2), 0, Fraction(1, 2)),
    "average_precision@3": (Fraction(1, 3), 0, Fraction(1, 3)),
    "average_precision@3(item_group_value=share)": (Fraction(5, 24), 0, Fraction(1, 8)),
    "num_hits@3": (Fraction(2, 3), 0, 1),
    "num_hits@3(item_group_value=share)": (Fraction(1, 2), 0, Fraction(1, 2)),
    "ndcg@3": (0.4146923, 0, 0.4635060),
    "ndcg@3(item_group_value=share)": (0.2750521, 0, 0.1480410),
}
"""The values of head, mid and tail, in which users are counted that have relevant items of the group, or, of precision, who are shown some."""


def of_every(name: str) -> str:
    """Return the metric of every group."""
    return f"{name[:-1]},item_group=every)" if name.endswith(")") else f"{name}(item_group=every)"


@ENGINES
def test_values_by_hand(evaluate: Any) -> None:
    report = evaluate(TRUTH, LISTS, [*map(of_every, BY_HAND)], items=ITEMS)
    assert tuple(report.by_item_group) == LABELS
    for name, numbers in BY_HAND.items():
        found = [report.by_item_group[label][name] for label in LABELS]
        assert found == pytest.approx([float(number) for number in numbers], rel=1e-6, nan_ok=True), name
    evaluated = report.counts["evaluated"]
    assert [evaluated[f"recall@3(item_group={label})"] for label in LABELS] == [3, 1, 2]
    assert [evaluated[f"precision@3(item_group={label})"] for label in LABELS] == [4, 0, 3]
    assert [evaluated[f"recall@3(item_group={label},item_group_value=share)"] for label in LABELS] == [4] * 3


METRICS = ["recall", "hit_rate", "reciprocal_rank", "ndcg", "average_precision", "dcg", "rbp", "num_hits"]


def drawn(
    rng: np.random.Generator, users: int, items: int, *, is_scored: bool, is_spread: bool
) -> tuple[dict[int, list[int]], dict[int, Any], list[int]]:
    """Return truths, lists or scores, and the items, whose ids may be far apart."""
    ids = (np.arange(items) * (10**12 if is_spread else 1)).tolist()
    truth, predictions = {}, {}
    for user in range(users):
        truth[user] = [ids[i] for i in rng.choice(items, rng.integers(1, 6), replace=False)]
        listed = [ids[i] for i in rng.choice(items, 12 if user % 7 else 5, replace=False)]
        predictions[user] = {item: float(rng.random()) for item in listed} if is_scored else listed
    return truth, predictions, ids


def assert_equal_to_restricted(
    truth: Any, predictions: Any, items: exactk.Items, members: dict[Any, set[int]], metrics: list[str], **options: Any
) -> None:
    """Assert that each value is that of a truth that is cut to the group, bit for bit."""
    every = [f"{name}(item_group=every)" for name in metrics]
    report = exactk.evaluate(truth, predictions, every, items=items, **options)
    assert set(report.by_item_group) == set(members)
    for label, group in members.items():
        cut = {user: [item for item in row if item in group] for user, row in truth.items()}
        with warnings.catch_warnings():  # of truths that have nothing in common with the lists
            warnings.simplefilter("ignore", exactk.EvaluationWarning)
            expected = exactk.evaluate(cut, predictions, metrics, **options)
        names = [f"{name}(item_group={'none' if label is None else label})" for name in metrics]
        assert [report[name].hex() for name in names] == [value.hex() for value in expected.values()]
        for statistic in (report.standard_deviation, report.counts["evaluated"]):
            of_cut = (
                expected.standard_deviation if statistic is report.standard_deviation else expected.counts["evaluated"]
            )
            np.testing.assert_array_equal([statistic[name] for name in names], [*of_cut.values()])
        for name, whole in zip(names if report.per_user else (), metrics, strict=False):
            np.testing.assert_array_equal(report.per_user[name], expected.per_user[whole])


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_values_of_groups_are_those_of_truths_cut_to_them(data: st.DataObject) -> None:
    """Of few and many users, who are judged in different ways, of lists and scores, few and many groups, and ids far apart."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    users, labels = data.draw(st.sampled_from([3, 150, 300])), data.draw(st.sampled_from([2, 3, 12]))
    is_scored, is_spread = data.draw(st.booleans()), data.draw(st.booleans())
    truth, predictions, ids = drawn(rng, users, 40, is_scored=is_scored, is_spread=is_spread)
    groups = {item: f"g{rng.integers(labels)}" for item in ids if rng.random() < 0.9}
    members: dict[Any, set[int]] = {label: {i for i in ids if groups.get(i) == label} for label in {*groups.values()}}
    if len(groups) < len(ids):
        members[None] = {*ids} - {*groups}
    options: dict[str, Any] = {}
    if data.draw(st.booleans()):
        options["per_user"] = True
    if data.draw(st.booleans()):
        options["weights"] = {user: float(rng.integers(1, 4)) for user in truth}
    if data.draw(st.booleans()):
        options["convention"] = {"empty_truth": data.draw(st.sampled_from(["skip", "zero", "compute"]))}
    cutoffs = data.draw(st.sampled_from([["@3"], ["@10", "@5"], ["@20"], [""]]))
    metrics = [name + cutoff for name in METRICS for cutoff in cutoffs]
    assert_equal_to_restricted(truth, predictions, exactk.Items(ids, item_groups=groups), members, metrics, **options)


def test_an_item_counts_in_each_of_its_tags() -> None:
    tags: dict[int, Any] = {0: {"a", "b"}, 1: {"b"}, 2: set(), 3: {"a"}, 4: {"b"}}
    items = exactk.Items(list(tags), features=tags)
    truth = {user: [user % 5, (user + 1) % 5] for user in range(200)}
    lists = {user: [(3 * user) % 5, (3 * user + 2) % 5] for user in truth}
    members: dict[Any, set[int]] = {tag: {i for i, some in tags.items() if tag in some} for tag in ("a", "b")}
    assert_equal_to_restricted(truth, lists, items, {**members, None: {2}}, ["recall@2", "ndcg@2"])


def test_grades_are_judged_before_groups() -> None:
    truth: Any = {"ann": {"a": 3, "x": 1, "y": 0.5}, "bob": {"x": 2}}
    lists = {"ann": ["x", "a", "y"], "bob": ["a", "x"]}
    convention: Any = {"min_grade": 1, "gain": "exp2"}
    report = exactk.evaluate(
        truth, lists, ["ndcg@2(item_group=tail)", "P@2(item_group=tail)"], items=ITEMS, convention=convention
    )
    cut = exactk.evaluate({"ann": {"x": 1, "y": 0.5}, "bob": {"x": 2}}, lists, "ndcg@2", convention=convention)
    assert report["ndcg@2(item_group=tail)"] == cut["ndcg@2"]
    assert report["P@2(item_group=tail)"] == 1.0


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([5, 200]))
def test_shares_add_up_to_the_whole(seed: int, is_scored: bool, users: int) -> None:
    """Exactly in sums over users; the users' own shares are rounded."""
    rng = np.random.default_rng(seed)
    truth, predictions, ids = drawn(rng, users, 30, is_scored=is_scored, is_spread=False)
    items = exactk.Items(ids[3:], item_groups={item: int(rng.integers(3)) for item in ids[5:]})  # others are in none
    shared = ["recall@4", "precision@4", "ndcg@4", "map@4", "dcg@4", "rbp@4", "num_hits@4"]
    micro = ["recall@4(average=micro)", "precision@4(average=micro)"]
    every = [of_every(name) for name in (*shared, *micro)]
    report = exactk.evaluate(
        truth, predictions, [*shared, *micro, *every], items=items, convention={"item_group_value": "share"}
    )
    assert set(report.by_item_group) <= {0, 1, 2, None}
    for name in shared:
        parts = sum(row[name] for row in report.by_item_group.values())
        assert parts == pytest.approx(report[name], rel=1e-12)
    totals = dict(zip(report.metrics, report.state.totals, strict=True))
    for name in micro:
        of_groups = [totals[f"{name.partition('(')[0]}(item_group={label},average=micro)"] for label in _texts(report)]
        whole = totals[name]
        assert sum(_sum(one) for one in of_groups) == _sum(whole)
        assert {Fraction(one.weight, 2**one.weight_scale) for one in of_groups} == {
            Fraction(whole.weight, 2**whole.weight_scale)
        }


def _texts(report: exactk.Report) -> list[str]:
    return ["none" if label is None else str(label) for label in report.by_item_group]


def _sum(sums: Any) -> Fraction:
    return Fraction(sums.total, 2**sums.total_scale)


def test_tables_and_files() -> None:
    names = ["recall@[1,3]", "recall@3(item_group=every)", "hit_rate@3(item_group=tail)"]
    report = exactk.evaluate(TRUTH, LISTS, names, items=ITEMS)
    assert list(report) == [
        *("recall@1", "recall@3"),
        *(f"recall@3(item_group={label})" for label in LABELS),
        "hit_rate@3(item_group=tail)",
    ]
    assert [line.rstrip() for line in repr(report).splitlines()[:7]] == [
        "metric     value     std",
        "recall@1  0.0833  0.1443",
        "recall@3  0.5000  0.3727",
        "item group  evaluated  recall@3  hit_rate@3",
        "head                3    0.5000",
        "mid                 1    0.0000",
        "tail                2    0.6667      1.0000",
    ]
    frame = report.to_pandas("by_item_group")
    assert frame.columns.tolist() == ["group", "metric", "k", "value", "evaluated"]
    assert frame["group"].tolist() == ["head", "mid", "tail", "tail"]
    wide = report.to_pandas("by_item_group", wide=True)
    assert wide["hit_rate@3"].isna().tolist() == [True, True, False]
    assert report.to_markdown(table="by_item_group", metrics="R@3").splitlines()[2] == "| head | recall@3 | 0.5000 |"
    assert exactk.Report.from_json(report.to_json()) == report
    assert exactk.State.from_bytes(report.state.to_bytes()) == report.state
    assert pickle.loads(pickle.dumps(report)) == report  # noqa: S301 - just written
    with_exposure = exactk.evaluate(TRUTH, LISTS, ["exposure@3", *names], items=ITEMS)
    assert dict(with_exposure.by_item_group["tail"]).keys() == {"exposure@3", "recall@3", "hit_rate@3"}
    assert with_exposure.to_pandas("by_item_group")["items"].tolist() == [3, 3, 1, 1, 3, 3, 3]
    only = exactk.evaluate(TRUTH, LISTS, "recall@3(item_group=every)", items=ITEMS)
    assert repr(only).startswith("item group  evaluated  recall@3\n")


def test_pages_have_groups_of_items() -> None:
    names = ["recall@3", "exposure@3", "recall@3(item_group=every)", "recall@3(item_group=none)"]
    report = exactk.evaluate(TRUTH, LISTS, names, items=ITEMS)
    page = report.to_html()
    assert "By group of items" in page
    assert ">mid<" in page


def test_parts_of_an_evaluation_add_up() -> None:
    names = ["ndcg@3(item_group=every)", "precision@3(item_group=every,average=micro)"]
    whole = exactk.evaluate(TRUTH, LISTS, names, items=ITEMS)
    parts = [{user: TRUTH[user] for user in users} for users in (["ann", "bob"], ["cy", "dee"])]
    reports = [exactk.evaluate(part, {user: LISTS[user] for user in part}, names, items=ITEMS) for part in parts]
    assert exactk.merge(reports).state == whole.state
    evaluator = exactk.Evaluator(names, items=ITEMS)
    for part in parts:
        evaluator.update(part, {user: LISTS[user] for user in part})
    assert evaluator.compute().state == whole.state
    blocks = ((part, {user: LISTS[user] for user in part}) for part in parts)
    assert dict(exactk.evaluate(None, blocks, names, items=ITEMS)) == dict(whole)
    other = exactk.evaluate(TRUTH, LISTS, names, items=exactk.Items(list(GROUPS), item_groups={**GROUPS, "a": "mid"}))
    with pytest.raises(exactk.StateMismatchError, match="items"):
        exactk.merge([whole, other])


def test_groups_of_users_and_of_items() -> None:
    groups = {"ann": "new", "bob": "new", "cy": "old", "dee": "old"}
    report = exactk.evaluate(TRUTH, LISTS, "recall@3(item_group=every)", items=ITEMS, groups=groups)
    old = exactk.evaluate(
        {"cy": TRUTH["cy"], "dee": TRUTH["dee"]},
        LISTS,
        "recall@3(item_group=every)",
        items=ITEMS,
        convention={"users": "both"},
    )
    assert dict(report.by_group["old"]) == dict(old)


def test_systems_are_compared_in_groups() -> None:
    systems = {"a": LISTS, "b": {user: row[::-1] for user, row in LISTS.items()}}
    names = ["recall@3", "recall@3(item_group=every)", "exposure@3"]
    comparison = exactk.compare(TRUTH, systems, names, items=ITEMS)
    assert comparison["recall@3(item_group=tail)"] == pytest.approx({"a": 2 / 3, "b": 5 / 6})
    (tail,) = [one for one in comparison.differences if one.metric == "recall@3(item_group=tail)"]
    assert tail.difference == pytest.approx(1 / 6)
    assert tail.users == 2
    lines = repr(comparison).splitlines()
    assert [line.split() for line in lines[:2]] == [["metric", "a", "b"], ["recall@3", "0.5000", "0.7083*"]]
    assert ["tail", "recall@3", "0.6667", "0.8333*", "2", "3"] in [line.split() for line in lines]
    frame = comparison.to_pandas("by_item_group")
    assert frame["system"].tolist() == ["a"] * 6 + ["b"] * 6
    assert exactk.Comparison.from_json(comparison.to_json()) == comparison
    reference = exactk.reference.compare(TRUTH, systems, names, items=ITEMS)
    assert {name: dict(comparison[name]) for name in comparison} == {name: dict(reference[name]) for name in reference}
    assert "By group of items" in comparison.to_html()


def test_an_interval_of_a_group() -> None:
    report = exactk.evaluate(TRUTH, LISTS, "hit_rate@3(item_group=head)", items=ITEMS)
    low, high = report.interval("hit_rate@3(item_group=head)")
    assert low < 2 / 3 < high


ODD = ["none", "every", "a, b", "it's", 'a "b"', "x(y)", "[z]", "3", "Sci-Fi & more", "ü", "", " edge "]


@pytest.mark.parametrize("label", [*ODD, 33, -7])
def test_labels_of_any_text(label: str | int) -> None:
    items = exactk.Items(["a", "b"], item_groups={"a": label, "b": 9 if isinstance(label, int) else "other"})
    every = exactk.evaluate({"u": ["a"]}, {"u": ["a"]}, "recall@1(average=micro,item_group=every)", items=items)
    assert every.by_item_group[label]["recall@1(average=micro)"] == 1.0
    (name,) = (one for one in every.metrics if every[one] == 1.0)
    assert exactk.evaluate({"u": ["a"]}, {"u": ["a"]}, name, items=items).metrics == (name,)
    assert exactk.Report.from_json(every.to_json()) == every
    if label not in ("none", "every") and not str(label).startswith('"'):
        asked = exactk.metrics.recall.with_(item_group=label, average="micro") @ 1
        assert exactk.evaluate({"u": ["a"]}, {"u": ["a"]}, asked, items=items).metrics == (name,)


def test_metrics_as_objects() -> None:
    assert exactk.metrics.recall.with_(item_group="tail") @ 20 == "recall@20(item_group=tail)"
    assert exactk.metrics.recall.with_(item_group=None) @ 20 == "recall@20(item_group=none)"
    assert exactk.metrics.recall.with_(item_group="every", item_group_value="share") @ [1, 2] == (
        "recall@[1,2](item_group=every,item_group_value=share)"
    )
    report = exactk.evaluate(TRUTH, LISTS, exactk.metrics.recall.with_(item_group="every"), items=ITEMS)
    assert list(report) == [f"recall(item_group={label})" for label in LABELS]


def test_a_value_that_is_asked_for_twice_is_one() -> None:
    names = ["R@3(item_group=mid)", "recall@3(item_group=every)", "recall@3(item_group=tail)"]
    report = exactk.evaluate(TRUTH, LISTS, names, items=ITEMS)
    assert list(report) == ["R@3(item_group=mid)", "recall@3(item_group=head)", "recall@3(item_group=tail)"]
    assert report.by_item_group["mid"]["recall@3"] == report.by_item_group["mid"]["R@3"] == 0.0


def test_one_value_of_a_group() -> None:
    metric = exactk.metrics.recall.with_(item_group="tail")
    assert metric(TRUTH, LISTS, 3, items=ITEMS) == pytest.approx(2 / 3)
    with pytest.raises(TypeError, match=r"one value is of one group of items; exactk.evaluate\(truth, predictions"):
        metric.with_(item_group="every")(TRUTH, LISTS, 3, items=ITEMS)
    with pytest.raises(exactk.InputError, match=r"'recall@3' shows the ranks of all hits"):
        exactk.explain(TRUTH, LISTS, "ann", "recall@3(item_group=tail)", items=ITEMS)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("recall@3(item_group=top)", r"^metrics: expected item_group of head, mid, tail, none or every, found 'recall@3\(item_group=top\)'"),
        ("recall@3(item_group=tial)", "did you mean item_group=tail"),
        ("recall@3(item_group=None)", "did you mean item_group=none"),
        ("auc(item_group=tail)", r"^metrics: expected auc without item_group=, found 'auc\(item_group=tail\)'; it is for precision, recall"),
        ("hit_rate@3(item_group=tail,item_group_value=share)", r"^metrics: expected hit_rate of a group with item_group_value='restricted', found 'share'"),
        ("recall@3(item_group=tail,empty_truth=error)", "^metrics: expected recall of a group with empty_truth of"),
        ("ndcg@3(item_group=tail,weight=values,item_group_value=share)", "^metrics: expected ndcg of a group with weight='one', of which"),
        ("precision@3(item_group=tail,weight=values)", "^metrics: expected precision of a group with weight='one', found weight='values'"),
        ("precision@3(item_group=tail,precision_over=list)", "^metrics: expected precision of a group without precision_over="),
        ("precision@3(item_group=tail,undefined=zero)", "^metrics: expected precision of a group without undefined="),
        ("recall@3(item_group=)", "^metrics: expected item_group=label, none or every"),
        ("map@3(item_group=tail,item_group_value=share,ap_over=hits)", "^metrics: expected average_precision: ap_over other than 'hits' for the share of a group"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused(metric: str, message: str) -> None:
    with pytest.raises(exactk.InputError, match=message):
        exactk.evaluate(TRUTH, LISTS, metric, items=ITEMS)


def test_labels_of_integers_stay_integers_beside_items_without_a_group() -> None:
    items = exactk.Items(list(GROUPS), item_groups={item: 7 for item, group in GROUPS.items() if group == "head"})
    report = exactk.evaluate(TRUTH, LISTS, "recall@3(item_group=every)", items=items)
    for frame in (report.to_pandas("by_item_group"), report.to_pandas("by_item_group", wide=True)):
        assert str(frame["group"].dtype) == "Int64"
        assert frame["group"].tolist() == [7, pd.NA]


def test_a_label_that_is_none_is_quoted() -> None:
    """Without quotation marks it is also that of the items without a group."""
    items = exactk.Items(list(GROUPS), item_groups={item: "none" for item, group in GROUPS.items() if group == "head"})
    report = exactk.evaluate(TRUTH, LISTS, ["recall@3(item_group=every)", 'recall@3(item_group="none")'], items=items)
    assert report.by_item_group["none"]["recall@3"] == report['recall@3(item_group="none")'] == 0.5
    for metric in ("recall@3(item_group=none)", exactk.metrics.recall.with_(item_group="none") @ 3):
        with pytest.raises(exactk.InputError, match='item_group="none" for the group of this label, or every'):
            exactk.evaluate(TRUTH, LISTS, metric, items=items)


def test_refused_of_ties() -> None:
    scores = {user: dict.fromkeys(row, 0.5) for user, row in LISTS.items()}
    for metric in ("recall@2(item_group=tail,item_group_value=share)", "precision@2(item_group=tail)"):
        for ties in ("optimistic", "pessimistic", "shared"):
            options: Any = {"items": ITEMS, "convention": {"ties": ties}}

            def call(engine: Any, metric: str = metric, options: Any = options) -> object:
                return engine.evaluate(TRUTH, scores, metric, **options)

            error = refusal(call)
            assert "ties of 'lowest_id', 'highest_id', 'input_order' or 'raise'" in str(error)


@pytest.mark.parametrize("items", [None, exactk.Items(list(GROUPS)), exactk.Items(["a"], features=[[1.0]])])
def test_groups_are_needed(items: exactk.Items | None) -> None:
    message = (
        r"^items: expected groups of items, which recall@3\(item_group=every\) needs, found none; items=exactk.Items"
    )
    with pytest.raises(exactk.InputError, match=message):
        exactk.evaluate(TRUTH, LISTS, "recall@3(item_group=every)", items=items)
    with pytest.raises(exactk.InputError, match=message):
        exactk.Evaluator("recall@3(item_group=every)", items=items)


def test_at_most_64_groups() -> None:
    for count in (64, 65):
        items = exactk.Items(count, item_groups=list(range(count)))
        truth, lists = [[i] for i in range(count)], [[i] for i in range(count)]
        if count == 64:
            assert set(exactk.evaluate(truth, lists, "recall@1(item_group=every)", items=items).values()) == {1.0}
            continue
        with pytest.raises(exactk.InputError, match=r"^metrics: expected at most 64 groups of items, found 65"):
            exactk.evaluate(truth, lists, "recall@1(item_group=every)", items=items)
        assert exactk.evaluate(truth, lists, "recall@1(item_group=64)", items=items)["recall@1(item_group=64)"] == 1.0


def test_a_field_without_a_group_has_no_effect() -> None:
    message = "^item_group_value has no effect on recall: leave it out"
    with pytest.warns(exactk.EvaluationWarning, match=message):
        exactk.evaluate([[1]], [[1]], "recall@1(item_group_value=share)")


# Groups by popularity.

POPULARITY = dict(zip("abcdefg", [5, 3, 3, 2, 1, 1, 0], strict=True))


def groups_of(**options: Any) -> list[str]:
    """Return the items of each group, from the most popular."""
    groups = exactk.Items.popularity_groups(exactk.Items(popularity=POPULARITY), **options)
    return ["".join(item for item in groups if groups[item] == label) for label in dict.fromkeys(groups.values())]


def test_groups_by_popularity() -> None:
    assert groups_of() == ["abc", "d", "efg"]
    assert groups_of(cold=True) == ["abc", "d", "ef", "g"]
    assert groups_of(cuts=(0.2, 0.5), by="items") == ["abc", "d", "efg"]
    assert groups_of(cuts=3, by="quantile") == ["abc", "def", "g"]
    assert groups_of(cuts=(2, 3), by="popularity") == ["abc", "d", "efg"]
    assert groups_of(cuts=(0.1, 0.4, 0.9), labels=list("stuv")) == ["a", "bc", "def", "g"]
    labels = exactk.Items.popularity_groups({"u": [1, 2], "v": [2], "w": [2, 3]}, 0.6)
    assert labels == {1: "tail", 2: "head", 3: "tail"}


def test_cuts_are_the_decimals_that_are_written() -> None:
    """8 of 10 are at least 0.8, though the nearest double of 0.8 is above it."""
    assert exactk.Items.popularity_groups(exactk.Items(popularity={"x": 8, "y": 2}), 0.8) == {"x": "head", "y": "tail"}


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=12).filter(any),
    st.sampled_from(["interactions", "items"]),
    st.lists(st.integers(1, 19), min_size=2, max_size=2, unique=True),
)
def test_equally_popular_items_stay_together(counts: list[int], by: Any, cuts: list[int]) -> None:
    shares = [Fraction(cut, 20) for cut in sorted(cuts)]
    popularity = {f"i{i}": count for i, count in enumerate(counts)}
    groups = exactk.Items.popularity_groups(exactk.Items(popularity=popularity), [float(one) for one in shares], by=by)
    for item, count in popularity.items():
        above = [other for other in counts if other > count]
        reached, whole = (len(above), len(counts)) if by == "items" else (sum(above), sum(counts))
        assert groups[item] == ("head", "mid", "tail")[sum(reached >= share * whole for share in shares)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cuts": (0.8, 0.5)}, "^cuts: expected ascending shares between 0 and 1 with by='interactions'"),
        ({"cuts": (0.5, 1.0)}, "^cuts: expected ascending shares"),
        ({"cuts": ()}, "^cuts: expected numbers"),
        ({"cuts": ["0.5"]}, "^cuts: expected numbers"),
        ({"cuts": float("nan")}, "^cuts: expected finite numbers"),
        ({"by": "rank"}, "^by: expected 'interactions', 'items', 'quantile' or 'popularity', found 'rank'"),
        ({"by": "quantile"}, "^cuts: expected the number of quantiles"),
        ({"cuts": (0.1, 0.2, 0.3)}, "^labels: expected labels of 4 groups, found none; labels="),
        ({"labels": ["a", "b"]}, "^labels: expected 3 different labels"),
        ({"labels": ["a", "b", "cold"], "cold": True}, "none of them 'cold'"),
        ({"labels": [1, 2, 3]}, "^labels: expected strings"),
        ({"labels": 3}, "^labels: expected strings, found 3"),
        ({"cuts": None}, "^cuts: expected numbers, found None"),
    ],
)
def test_cuts_that_are_none(options: dict[str, Any], message: str) -> None:
    with pytest.raises(exactk.ExactkError, match=message):
        groups_of(**options)


def test_groups_of_a_catalogue_alone() -> None:
    with pytest.raises(exactk.InputError, match=r"^train: expected interactions, or Items that know the popularity"):
        exactk.Items.popularity_groups(exactk.Items(3))


def test_frames_of_ratings() -> None:
    train = pd.DataFrame({"user_id": [1, 1, 2, 2, 3], "item_id": ["a", "b", "a", "c", "a"]})
    items = exactk.Items(train=train, item_groups=exactk.Items.popularity_groups(train, cuts=0.5))
    test = pd.DataFrame({"user_id": [1, 2], "item_id": ["c", "b"]})
    scored = pd.DataFrame({"user_id": [1, 2], "item_id": ["c", "a"], "score": [1.0, 2.0]})
    report = exactk.evaluate(test, scored, "recall@1(item_group=every)", items=items)
    assert report.by_item_group["tail"]["recall@1"] == 0.5
