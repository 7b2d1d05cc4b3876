"""`exactk.agreement`: values by an oracle in fractions and by the reference, its laws, and its messages."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import agreement_oracle as oracle
import exactk
from rankings import rankings_of

Lists = dict[str, list[str]]
CUTOFFS = (1, 2, 3, 5, 8)
OF_P = (0.0, 0.5, 0.9, 0.98)


def draw_lists(seed: int, users: int = 60) -> tuple[Lists, Lists]:
    """Draw lists of each user that share some items, short and empty ones too."""
    rng = random.Random(seed)  # noqa: S311 - drawn, and not secret

    def draw(noise: float) -> list[str]:
        numbers = sorted(range(14), key=lambda number: number + rng.uniform(0, noise))
        return [f"item {number}" for number in numbers[: rng.choice([0, 2, 6, 10])]]

    one, other = ({f"user {user}": draw(rng.choice([2, 6, 20])) for user in range(users)} for _ in range(2))
    return one, other


Formula = Callable[[oracle.Items, oracle.Items], Fraction | None]


def metrics_of_oracle() -> dict[str, Formula]:
    formulas: dict[str, Formula] = {}
    for k in CUTOFFS:
        formulas[f"overlap@{k}"] = partial(oracle.overlap, k=k)
        formulas[f"jaccard@{k}"] = partial(oracle.jaccard, k=k)
        formulas[f"lip@{k}"] = partial(oracle.lip, k=k)
        if k > 1:
            formulas[f"kendall_tau@{k}"] = partial(oracle.kendall_tau, k=k)
        for p in OF_P:
            formulas[f"rbo@{k}(p={p})"] = partial(oracle.rbo_extrapolated, k=k, p=Fraction(p))
            formulas[f"rbo@{k}(p={p},rbo_over=truncated)"] = partial(oracle.rbo_truncated, k=k, p=Fraction(p))
    return formulas


@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_the_formulas_in_fractions(seed: int) -> None:
    one, other = draw_lists(seed)
    expected = metrics_of_oracle()
    report = exactk.agreement(one, other, list(expected), per_user=True)
    for metric, of_lists in expected.items():
        exact = [of_lists(one[user], other[user]) for user in one]
        row = report.per_user[metric]
        for user, value in zip(row, exact, strict=True):
            assert math.isnan(user) if value is None else abs(user - value) < 1e-14, metric
        defined = [value for value in exact if value is not None]
        assert report.counts["evaluated"][metric] == len(defined)
        assert report[metric] == pytest.approx(float(sum(defined) / len(defined)), abs=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_the_whole_lists_count_without_a_cutoff(seed: int) -> None:
    one, other = draw_lists(seed)
    metrics = ["overlap", "jaccard", "rbo", "kendall_tau"]
    at_end = [f"{metric}@{12}" for metric in metrics]
    with pytest.warns(exactk.EvaluationWarning, match="no list is longer than 10"):
        report = exactk.agreement(one, other, [*metrics, *at_end])
    assert [report[metric] for metric in metrics] == [report[metric] for metric in at_end]


def test_the_core_has_the_bits_of_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = draw_lists(10)
    metrics = [*metrics_of_oracle(), "rbo", "overlap", "jaccard", "kendall_tau", "lip", "rbo(rbo_over=truncated)"]
    expected = exactk.reference.agreement(one, other, metrics, per_user=True)
    for isa, threads in product(exactk._core.isas(), (1, 2, 5)):
        monkeypatch.setenv("EXACTK_ISA", isa)
        report = exactk.agreement(one, other, metrics, per_user=True, num_threads=threads)
        assert dict(report) == dict(expected)
        assert report.counts == expected.counts
        for metric in report.per_user:
            np.testing.assert_array_equal(report.per_user[metric], expected.per_user[metric])


def test_a_list_agrees_with_itself() -> None:
    one, _ = draw_lists(3)
    one = {user: items for user, items in one.items() if items}
    metrics = [f"{name}@{k}" for name in ("overlap", "jaccard", "rbo") for k in (1, 3, 5, 10)]
    metrics += [f"rbo@10(p={p})" for p in (0, 0.1, 0.3, 0.7, 0.99, 0.999999)]
    report = exactk.agreement(one, one, [*metrics, "kendall_tau@10", "lip@5"])
    assert {report[metric] for metric in metrics} == {1.0}
    assert report["kendall_tau@10"] == 1
    assert report["lip@5"] == 0


def test_lists_without_a_common_item_have_0_and_reversed_ones_minus_1() -> None:
    metrics = ["overlap@3", "jaccard@3", "rbo@3", "rbo@3(rbo_over=truncated)"]
    with pytest.warns(exactk.EvaluationWarning, match="no item of one .* is in other"):
        report = exactk.agreement({"ann": ["a", "b", "c"]}, {"ann": ["d", "e", "f"]}, metrics)
    assert set(report.values()) == {0.0}
    assert exactk.agreement([[1, 2, 3, 4]], [[4, 3, 2, 1]], "kendall_tau@4")["kendall_tau@4"] == -1


def test_long_lists_are_compared_in_order() -> None:
    """Their pairs are too many to compare one by one."""
    rng = np.random.default_rng(1)
    order = np.argsort(np.arange(3000) + rng.uniform(0, 500, 3000)).tolist()
    in_order = sum(np.count_nonzero(np.array(order[rank:]) > item) for rank, item in enumerate(order))
    pairs = 3000 * 2999 // 2
    assert exactk.agreement([range(3000)], [order], "kendall_tau")["kendall_tau"] == (2 * in_order - pairs) / pairs
    size = 200_000
    rotated = [*range(1, size), 0]
    assert exactk.agreement([range(size)], [rotated], "kendall_tau")["kendall_tau"] == 1 - 4 / size
    assert exactk.agreement([range(size)], [rotated], "rbo")["rbo"] < 1


def test_empty_and_missing_lists() -> None:
    one: Lists = {"both empty": [], "one empty": [], "other empty": ["a"], "only one": ["a"], "full": ["a", "b"]}
    other: Lists = {"both empty": [], "one empty": ["a"], "other empty": [], "only other": ["a"], "full": ["a", "b"]}
    metrics = ["overlap@2", "jaccard@2", "rbo@2", "rbo@2(rbo_over=truncated)"]
    with pytest.warns(exactk.EvaluationWarning, match=r"^1 user only in one and 1 user only in other: left out$"):
        report = exactk.agreement(one, other, [*metrics, "kendall_tau@2"], per_user=True)
    for metric in metrics:
        values = dict(zip(report.users.tolist(), report.per_user[metric].tolist(), strict=True))
        skipped = {user for user, value in values.items() if math.isnan(value)}
        assert skipped == {"both empty", "only one", "only other"}
        assert {user: values[user] for user in values.keys() - skipped} == {"one empty": 0, "other empty": 0, "full": 1}
    counts = {"missing_lists": 1, "missing_truth": 1, "empty_truth": 2, "empty_predictions": 2}
    assert {name: report.counts[name] for name in counts} == counts
    footer = str(report).splitlines()[-1]
    assert footer == (
        "convention standard with users='both', undefined='skip'; 6 users, 2 users without items in one, "
        "2 users without items in other, 1 user only in one, 1 user only in other, "
        f"3 users skipped in {', '.join(metrics)}, 5 users skipped in kendall_tau@2"
    )
    with pytest.warns(exactk.EvaluationWarning, match="only in"):
        zeros = exactk.agreement(one, other, "overlap@2", convention={"undefined": "zero"})
    assert zeros.counts["evaluated"]["overlap@2"] == 4


@pytest.mark.parametrize(
    "scored", [{"ann": {"tea": 1.0}}, exactk.Scores([[1.0]], users=["ann"], items=["tea"])], ids=["mapping", "matrix"]
)
def test_users_without_scores_are_missing_and_not_empty(scored: Any) -> None:
    lists = {"bob": ["tea"], "ann": ["tea"], "cy": ["tea"]}
    with pytest.warns(exactk.EvaluationWarning, match="^2 users only in one: left out"):
        report = exactk.agreement(lists, scored, "rbo@1")
    assert (report["rbo@1"], report.counts["missing_lists"], report.counts["empty_predictions"]) == (1, 2, 0)
    with pytest.warns(exactk.EvaluationWarning, match="^2 users only in other: left out"):
        report = exactk.agreement(scored, lists, "rbo@1")
    assert (report["rbo@1"], report.counts["missing_truth"], report.counts["empty_truth"]) == (1, 2, 0)


def test_shards_merge_to_the_whole() -> None:
    one, other = draw_lists(8, users=60)
    groups = {user: "even" if number % 2 else "odd" for number, user in enumerate(one)}
    weights = {user: 1.0 + number / 7 for number, user in enumerate(one)}
    options: dict[str, Any] = {"metrics": list(metrics_of_oracle()), "groups": groups, "weights": weights}
    whole = exactk.agreement(one, other, **options)
    users = list(one)
    parts = [users[0::3], users[2::3], users[1::3]]
    shards = [exactk.agreement({u: one[u] for u in part}, {u: other[u] for u in part}, **options) for part in parts]
    merged = exactk.merge(shards)
    assert merged.state == whole.state
    assert exactk.merge(shards[::-1]).state.to_bytes() == whole.state.to_bytes()
    assert exactk.Report.from_json(whole.to_json()) == whole


def test_reports_of_several_systems_are_compared() -> None:
    pytest.importorskip("scipy")
    one, other = draw_lists(9)
    third = {user: items[::-1] for user, items in other.items()}
    reports = {
        name: exactk.agreement(one, lists, ["overlap@5", "rbo@5"], per_user=True)
        for name, lists in (("a", other), ("b", third))
    }
    comparison = exactk.compare_reports(reports)
    assert comparison["rbo@5"] == {name: report["rbo@5"] for name, report in reports.items()}
    text = f"{comparison}\n{comparison.to_markdown()}"
    assert "truth" not in text
    assert "relevant" not in text
    others = {"a": reports["a"], "b": exactk.agreement(third, other, ["overlap@5", "rbo@5"], per_user=True)}
    with pytest.raises(
        exactk.InputError, match=r"compared with the same lists .* those of 'a' .60 users. and others of 'b'"
    ):
        exactk.compare_reports(others)


def forms() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return the same lists of three users in each container."""
    scores = np.array([[0.1, 0.9, 0.5, 0.3], [0.8, 0.7, 0.1, 0.9], [0.25, 0.5, 0.75, 1.0]])
    ids = [[1, 2, 3, 0], [3, 0, 1, 2], [3, 2, 1, 0]]
    long = [(user, item, scores[user, item]) for user in range(3) for item in range(4)]
    frame = pd.DataFrame(long, columns=["user_id", "item_id", "score"]).sample(frac=1, random_state=1)
    return {
        "lists": (ids, {}),
        "array of ids": (np.array(ids), {}),
        "scores": (scores, {}),
        "exactk.Scores": (exactk.Scores(scores), {}),
        "sparse": (scipy.sparse.csr_array(scores), {}),
        "sparse scores": (exactk.as_predictions(scipy.sparse.csr_array(scores)), {}),
        "embeddings": (exactk.Embeddings(scores, np.eye(4), similarity="dot"), {}),
        "topk": (exactk.topk(scores, k=4), {}),
        "rankings": (rankings_of(ids), {}),
        "frame of scores": (frame, {"keyed": True}),
        "mapping of scores": (
            {user: dict(enumerate(row.tolist())) for user, row in enumerate(scores)},
            {"keyed": True},
        ),
        "mapping": (dict(enumerate(ids)), {"keyed": True}),
        "keyed scores": (exactk.Scores(scores, users=[0, 1, 2], items=[0, 1, 2, 3]), {"keyed": True}),
        "frame of ranks": (
            frame.assign(rank=frame.groupby("user_id")["score"].rank(ascending=False).astype(int)).drop(
                columns="score"
            ),
            {"keyed": True},
        ),
        "batches": (exactk.Batches(lambda: iter([frame])), {"keyed": True}),
    }


@pytest.mark.parametrize("name", forms())
def test_containers_of_any_kind_are_compared(name: str) -> None:
    plain = [[1, 3, 2], [0, 1], [3, 1, 0, 2]]
    metrics = ["overlap@2", "jaccard@3", "rbo@2", "kendall_tau@4", "lip@1"]
    form, options = forms()[name]
    one: Any = dict(enumerate(plain)) if options else plain
    expected = exactk.agreement(plain, forms()["lists"][0], metrics)
    exchanged = exactk.agreement(forms()["lists"][0], plain, metrics)
    for agreement in (exactk.agreement, exactk.reference.agreement):
        assert dict(agreement(one, form, metrics)) == dict(expected)
        assert dict(agreement(form, one, metrics)) == dict(exchanged)
        assert agreement(form, form, "rbo@3")["rbo@3"] == 1


@pytest.mark.parametrize("ties", ["lowest_id", "highest_id", "input_order"])
@pytest.mark.parametrize("seed", range(6))
def test_scores_with_ties_are_ranked_as_sorting_ranks_them(seed: int, ties: Any) -> None:
    """Items and users have keys in another order than rows and columns; each list is sorted here in plain Python."""
    rng = random.Random(seed)  # noqa: S311 - drawn, and not secret
    users, items = [[f"{prefix}{n}" for n in rng.sample(range(7), 7)] for prefix in ("user ", "item ")]
    scores = np.array([[rng.choice([0.0, 1.0, 2.0]) for _ in items] for _ in users])
    rows = {user: dict(zip(items, row.tolist(), strict=True)) for user, row in zip(users, scores, strict=True)}

    def ranked(of_user: dict[str, float]) -> list[str]:
        order = list(of_user) if ties == "input_order" else sorted(of_user, reverse=ties == "highest_id")
        return sorted(order, key=lambda item: -of_user[item])

    lists = {user: ranked(rows[user]) for user in reversed(users)}
    some = {user: dict(rng.sample(sorted(row.items()), 4)) for user, row in rows.items()}
    matrix = exactk.Scores(scores, users=users, items=items)
    other, metrics = draw_lists(seed)[0], ["rbo@3", "rbo", "overlap@2", "kendall_tau"]
    other = dict(zip(users, other.values(), strict=False))
    for scored, plain in ((rows, lists), (matrix, lists), (some, {user: ranked(row) for user, row in some.items()})):
        expected = exactk.agreement(plain, other, metrics, per_user=True)
        report = exactk.agreement(scored, other, metrics, convention={"ties": ties}, per_user=True)
        assert dict(report) == dict(expected)
        by_user = [
            dict(zip(one.users.tolist(), one.per_user["rbo"].tolist(), strict=True)) for one in (report, expected)
        ]
        assert by_user[0] == by_user[1]
        with pytest.raises(exactk.InputError, match=r"^one.*expected no tie"):
            exactk.agreement(scored, other, metrics, convention={"ties": "raise"})
        exchanged = exactk.agreement(other, scored, metrics, convention={"ties": ties})
        assert [exchanged[metric] for metric in metrics] == [expected[metric] for metric in metrics]


def test_files_are_read(tmp_path: Path) -> None:
    frame = forms()["frame of scores"][0]
    frame.to_csv(tmp_path / "one.csv", index=False)
    (tmp_path / "other.run").write_text("".join(f"{u} Q0 {i} 1 {s} x\n" for u, i, s in frame.itertuples(index=False)))
    value = exactk.agreement(tmp_path / "one.csv", frame, "rbo@3")
    assert value["rbo@3"] == 1


def test_nan_and_float32_are_the_conventions() -> None:
    scores = np.array([[1.0, math.nan, 0.5]])
    with pytest.raises(exactk.InputError, match=r"^one.*found NaN at row 0, position 1; convention=\{'nan': 'last'\}"):
        exactk.agreement(scores, [[0, 2, 1]], "rbo@3")
    with pytest.raises(exactk.InputError, match=r"^other"):
        exactk.agreement([[0, 2, 1]], scores, "rbo@3")
    assert exactk.agreement(scores, [[0, 2, 1]], "rbo@3", convention={"nan": "last"})["rbo@3"] == 1
    close = np.array([[1.0, 1.0 + 1e-12]])
    order = {
        dtype: exactk.agreement(close, [[0, 1]], "overlap@1", convention={"score_dtype": dtype})
        for dtype in ("native", "float32")
    }
    assert [one["overlap@1"] for one in order.values()] == [0, 1]


def test_ranks_with_gaps_are_closed_and_told() -> None:
    frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": [5, 6, 7], "rank": [1, 3, 1]})
    with pytest.warns(exactk.EvaluationWarning, match=r"^one: 1 user with gaps in the ranks"):
        assert exactk.agreement(frame, {1: [5, 6], 2: [7]}, "rbo@2")["rbo@2"] == 1


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1, 1]], [[1]]), {}, r"^one: expected each item once per user, found item 1 again at row 0, position 1$"),
        (([[1]], [[1, 1]]), {}, r"^other: expected each item once in a list, found item 1 again at row 0, position 1$"),
        (([[1], [2]], [[1]]), {}, r"^other: expected .*2.*found 1"),
        (({"ann": [1]}, [[1]]), {}, r"^other: expected user keys, as in one"),
        (([[1]], {"ann": [1]}), {}, r"^one: expected user keys"),
        (({"ann": [1]}, {"ann": ["a"]}), {}, r"as in one"),
        ((None, [[1]]), {}, r"^one: expected .*found NoneType"),
        (([[1]], iter([[1]])), {}, r"^other: expected .*other=list\(other\)"),
        (([[1]], [[1]]), {"metrics": "ndcg@10"}, r"exactk.evaluate\(truth, predictions, 'ndcg@10'\) computes it"),
        (
            ([[1]], [[1]]),
            {"metrics": "overlap@2(users=union)"},
            r"overlap with changes of rbo_over, undefined, decimals",
        ),
        (([[1]], [[1]]), {"metrics": "overlap@2(average=micro)"}, r"overlap with changes of"),
        (([[1]], [[1]]), {"metrics": "overlap@2(ties=raise)"}, r"convention=\{'ties': 'raise'\}"),
        (([[1]], [[1]]), {"metrics": "rbo@2(p=1)"}, r"p of rbo in \[0,"),
        (([[1]], [[1]]), {"convention": {"users": "union"}}, r"^convention: expected a field that agreement reads"),
        (([[1]], [[1]]), {"convention": {"ties": "expected"}}, r"^convention: expected ties that are broken"),
        (([[1]], [[1]]), {"convention": {"overlap.duplicate_items": "first"}}, r"^convention: expected a field"),
        (([[1]], [[1]]), {"score": "s"}, r"^score: expected a data frame or file with columns as one or other"),
        (([[1]], [[1]]), {"per_user": 1}, r"^per_user: expected True or False"),
        (([[1]], [[1]]), {"weights": [1.0, 2.0]}, r"^weights: "),
    ],
)
def test_messages_name_one_and_other(arguments: tuple[Any, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(exactk.ExactkError) as caught:
        exactk.agreement(*arguments, **options)
    text = str(caught.value)
    assert re.search(message, text), text
    if "metrics" not in options:
        assert not re.search(r"\btruth\b|\bpredictions\b|relevan", text), text


@pytest.mark.parametrize("metric", [*exactk.agreement_metrics, "tau", "RBO@10"])
def test_evaluate_and_compare_refuse_metrics_of_two_lists(metric: str) -> None:
    hint = re.escape(f"exactk.agreement(one, other, {metric!r}) computes it")
    with pytest.raises(exactk.InputError, match=hint):
        exactk.evaluate([[1]], [[1]], metric)
    with pytest.raises(exactk.InputError, match=hint):
        exactk.compare([[1]], {"a": [[1]]}, metric)


def test_warnings_name_one_and_other() -> None:
    with pytest.warns(exactk.EvaluationWarning, match=r"^no user of one \(such as 'a'\) is in other \(such as 'b'\)"):
        exactk.agreement({"a": [1]}, {"b": [1]}, "overlap@1")
    with pytest.warns(exactk.EvaluationWarning, match=r"^other: no list is longer than 1, so overlap@2 has only these"):
        exactk.agreement([[1, 2]], [[1]], "overlap@2")
    with pytest.warns(exactk.EvaluationWarning, match=r"^one: no list is longer than 2, so lip@2 is 0"):
        exactk.agreement([[1, 2]], [[1, 2]], "lip@2")
    with pytest.warns(exactk.EvaluationWarning, match=r"^rbo_over has no effect on overlap"):
        exactk.agreement([[1, 2]], [[1, 2]], "overlap@2(rbo_over=truncated)")


def test_pairs_of_users_and_items_are_no_lists() -> None:
    pairs = [("ann", "tea"), ("ann", "milk"), ("bob", "tea")]
    with pytest.warns(exactk.EvaluationWarning, match="^each pair of strings ") as caught:
        exactk.agreement(pairs, pairs, "overlap@2")
    code = str(caught[0].message).partition(", write ")[2]
    lists = eval(f"dict({code})", {"pd": pd, "one": pairs, "other": pairs})  # noqa: S307 - our own hint
    assert [len(rankings_of(lists[argument])) for argument in ("one", "other")] == [2, 2]


def test_progress_is_reported() -> None:
    calls: list[tuple[int, int | None]] = []
    exactk.agreement([[1], [2]], [[1], [2]], "overlap@1", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (2, 2)
