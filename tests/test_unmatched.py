"""Arguments that have no user or no item of the call are told of, with an example of each side; others are quiet."""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import exactk
from commands import write_frame
from strategies import examples
from warned import result_and_warnings, warnings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from commands import Run

SEEN = {"ann": ["i07", "i12"], "bob": ["i31"]}
TRUTH = {"ann": ["i40"], "bob": ["i12"]}
LISTS = {"ann": ["i07", "i40"], "bob": ["i31", "i12"]}
USERS, ITEMS = list(TRUTH), ["i07", "i12", "i31", "i40"]

OTHER_ITEMS: dict[str, Callable[[str], str]] = {
    "case": str.upper,
    "another prefix": lambda item: f"item_{item[1:]}",
    "no prefix": lambda item: item[1:],
    "leading zeros": lambda item: f"i0{item[1:]}",
    "float": lambda item: f"{float(item[1:])}",
    "blanks": lambda item: f"{item}  ",
    "signs": lambda item: f"i-{item[1:]}",
    "bytes as text": lambda item: str(item.encode()),
    "wide digits": lambda item: item.translate({ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789"}),
}


def under(lists: dict[str, Any], name: Callable[[str], str]) -> dict[str, Any]:
    return {user: [name(item) for item in items] for user, items in lists.items()}


def recall(truth: Any = TRUTH, predictions: Any = LISTS, **options: Any) -> float:
    return exactk.evaluate(truth, predictions, "recall@1", **options)["recall@1"]


@pytest.mark.parametrize("form", OTHER_ITEMS)
def test_f87_exclusions_of_other_items_are_told_of(form: str) -> None:
    assert recall(exclude=SEEN) == 1.0
    value, texts = result_and_warnings(partial(recall, exclude=under(SEEN, OTHER_ITEMS[form])))
    (text,) = texts
    assert value == 0
    assert text.startswith("no item of exclude (such as ")
    assert text.endswith("): check that all use the same item ids")
    examples_of_text = [part.partition(")")[0] for part in text.split("such as ")[1:]]
    names = {repr(OTHER_ITEMS[form](item)): repr(item) for item in ITEMS}
    assert names[examples_of_text[0]] == examples_of_text[1]


def frame(lists: dict[str, Any]) -> pd.DataFrame:
    rows = [(user, item, -rank) for user, items in lists.items() for rank, item in enumerate(items)]
    return pd.DataFrame(rows, columns=["user", "item", "score"])


def csr(lists: dict[str, Any]) -> exactk.Exclusions:
    offsets = np.cumsum([0, *map(len, lists.values())])
    return exactk.Exclusions(offsets, [item for items in lists.values() for item in items], users=list(lists))


def in_updates(exclude: dict[str, Any], *, merges: bool = False) -> exactk.Report:
    evaluators = [exactk.Evaluator("recall@1") for _ in range(1 + merges)]
    for number, user in enumerate(LISTS):
        options = {"exclude": {user: exclude[user]}} if user in exclude else {}
        evaluators[number % len(evaluators)].update({user: TRUTH[user]}, {user: LISTS[user]}, **options)
    if merges:
        evaluators[0].merge(pickle.loads(pickle.dumps(evaluators[1])))  # noqa: S301 - our own
    return evaluators[0].compute()


def dense() -> exactk.Scores:
    return exactk.Scores([[4, 0, 1, 3], [0, 3, 4, 1]], users=USERS, items=ITEMS)


def blocks(lists: Any = LISTS) -> Any:
    return iter([({user: TRUTH[user]}, {user: lists[user]}) for user in USERS])


def batches(order: slice = slice(None)) -> exactk.Batches:
    return exactk.Batches(lambda: [frame(LISTS)[order][:2], frame(LISTS)[order][2:]])


evaluate = partial(exactk.evaluate, metrics="recall@1")
WAYS: dict[str, Callable[[dict[str, Any]], object]] = {
    "mapping": lambda e: evaluate(TRUTH, LISTS, exclude=e),
    "frames": lambda e: evaluate(frame(TRUTH)[["user", "item"]], frame(LISTS), exclude=frame(e)[["user", "item"]]),
    "exclusions": lambda e: evaluate(TRUTH, LISTS, exclude=exactk.as_exclusions(e)),
    "CSR": lambda e: evaluate(TRUTH, LISTS, exclude=csr(e)),
    "truth": lambda e: evaluate(TRUTH, LISTS, exclude=exactk.as_truth(e)),
    "scores of items": lambda e: evaluate(TRUTH, {u: {i: -float(r) for r, i in enumerate(x)} for u, x in LISTS.items()}, exclude=e),
    "scores": lambda e: evaluate(TRUTH, dense(), exclude=e),
    "embeddings": lambda e: evaluate(
        TRUTH, exactk.Embeddings([[4.0, 0.0, 1.0, 3.0], [0.0, 3.0, 4.0, 1.0]], np.eye(4), users=USERS, items=ITEMS), exclude=e
    ),
    "batches": lambda e: evaluate(TRUTH, batches(), exclude=e),
    "batches in any order": lambda e: evaluate(TRUTH, batches(slice(None, None, -1)), exclude=e),
    "blocks": lambda e: exactk.evaluate(None, blocks(), "recall@1", exclude=e),
    "blocks with exclusions": lambda e: exactk.evaluate(None, iter([(TRUTH, LISTS, e)]), "recall@1"),
    "updates": in_updates,
    "merged updates": partial(in_updates, merges=True),
    "systems": lambda e: exactk.compare(TRUTH, {"a": LISTS, "b": frame(LISTS)}, "recall@1", exclude=e),
    "judged": lambda e: exactk.judge(TRUTH, LISTS, 1, exclude=e),
    "ranked": lambda e: exactk.topk(dense(), 1, e),
    "ranked items": lambda e: exactk.topk({u: {i: -float(r) for r, i in enumerate(x)} for u, x in LISTS.items()}, 1, e),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_f87_every_way_tells_of_exclusions(way: str) -> None:
    call, others = WAYS[way], "the scores" if way.startswith("ranked") else "the truth or the predictions"
    assert warnings_of(partial(call, SEEN)) == []
    (text,) = warnings_of(partial(call, under(SEEN, str.upper)))
    assert text.startswith("no item of exclude (such as 'I")
    assert f" is in {others} (such as 'i" in text
    if "updates" not in way:
        (text,) = warnings_of(partial(call, {"ANN": ["i07"]}))
        assert text.startswith(f"no user of exclude (such as 'ANN') is in {others} (such as '")


def test_f87_ids_beyond_the_columns_are_told_of() -> None:
    truth, scores = [[0], [1]], np.eye(2, 3)
    calls: list[Callable[[Any], object]] = [
        lambda exclude: evaluate(truth, scores, exclude=exclude),
        lambda exclude: exactk.topk(scores, 1, exclude),
    ]
    for call in calls:
        (text,) = warnings_of(partial(call, [[7], [8, 9]]))
        assert text.startswith("no item of exclude (such as 7) is in the ")
        assert warnings_of(partial(call, [[7], [2, 9]])) == warnings_of(partial(call, [[], []])) == []


def many(count: int, start: int, name: Callable[[int], Any] = int) -> dict[str, list[Any]]:
    return {f"u{user}": [name(start + (7 * user + item) % 500) for item in range(20)] for user in range(count)}


def test_f87_many_ids_of_other_numbers_are_told_of() -> None:
    lists, truth = many(40, 0), many(40, 100)
    assert warnings_of(partial(recall, truth, lists, exclude=many(40, 300))) == []
    assert len(warnings_of(partial(recall, truth, lists, exclude=many(40, 5000)))) == 1
    assert warnings_of(partial(recall, truth, lists, exclude=many(5, 5000))) == []  # who may well have others


QUIET: dict[str, tuple[Any, Any, Any]] = {
    "excluded by the system": ({"ann": ["c"]}, {"ann": ["d", "c"]}, {"ann": ["a", "b"]}),
    "numbered, excluded by the system": (
        {"ann": ["i3"]}, {"ann": [f"i{i}" for i in range(60, 99)]}, {"ann": [f"i{i}" for i in range(4, 59)]},
    ),
    "items of another user": ({"ann": ["C"], "bob": ["e"]}, {"ann": ["D"], "bob": ["E"]}, {"ann": ["e"], "bob": ["d"]}),
    "no users": (TRUTH, LISTS, {}),
    "large ids": ([[2**62]], [np.array([2**63 - 1], np.uint64)], [[7]]),
    "people": ({"ann": ["dan"], "dan": []}, {"ann": ["dan", "eve"], "dan": ["eve"], "bob": []}, {"ann": ["bob", "ann"]}),
    "no columns": ([[]], np.zeros((1, 0)), [[0]]),
    "no items": (TRUTH, LISTS, {"ann": [], "ANN": []}),
    "some in another form": (TRUTH, LISTS, {"ann": ["I07", "i12"]}),
    "numbers without keys": ([[1]], [[1, 2]], [[40, 50]]),
    "padding": (np.array([[1, -1]]), np.array([[2, 1, -1]]), np.array([[7, -1]])),
    "no truth and lists": ({"ann": []}, {"ann": []}, {"ann": ["a"]}),
    "sparse": ([[1]], exactk.SparseScores([0, 1], [1], [0.5]), scipy.sparse.csr_array(np.array([[True, False, False]]))),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:no user was evaluated")
@pytest.mark.parametrize("case", QUIET)
def test_f87_exclusions_that_may_well_match_nothing_are_quiet(case: str) -> None:
    truth, predictions, exclude = QUIET[case]
    assert not [text for text in warnings_of(partial(recall, truth, predictions, exclude=exclude)) if "exclude" in text]


KEYS = st.lists(
    st.integers(0, 999).map("n{}".format) | st.text("abcdefgh", min_size=1, max_size=6), min_size=1, unique=True
)


@settings(max_examples=examples(100))
@given(KEYS, st.sampled_from([str.upper, "x_{}".format, "{} ".format, "{}.".format]), st.data())
def test_f87_no_form_of_the_excluded_items_is_silent(keys: list[str], name: Callable[[str], str], data: Any) -> None:
    """The excluded items are those of the list under other names; a prefix is seen if what follows has one form."""
    if name("") == "x_":
        keys = [key for key in keys if key[1:].isdigit()] or ["n1"]
    listed = data.draw(st.permutations(keys))
    exclude = {"ann": [name(key) for key in keys[: 1 + len(keys) // 2]]}
    if not set(exclude["ann"]).isdisjoint(keys):
        return
    texts = warnings_of(partial(exactk.evaluate, {"ann": [keys[0]]}, {"ann": listed}, "recall", exclude=exclude))
    assert [text[:18] for text in texts] == ["no item of exclude"]


UPPER = under(LISTS, str.upper)
OF_ITEMS = [item.upper() for item in ITEMS]
TRAIN = {user.upper(): ["i07", "i40"] for user in USERS}
CATALOGUE: dict[str, Any] = {"metrics": "coverage@1(foreign_items=ignore)"}
OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "candidates": ({"candidates": OF_ITEMS}, "no item of candidates (such as 'I07') is in the predictions (such as 'i07')"),
    "candidates of users": (
        {"candidates": UPPER}, "no item of candidates (such as 'I07') is in the predictions (such as 'i07')",
    ),
    "base predictions of items": (
        {"metrics": "unexpectedness@1", "base_predictions": UPPER},
        "no item of base_predictions (such as 'I07') is in the predictions down to the cutoff of unexpectedness@1 (such as 'i07')",
    ),
    "base predictions of users": (
        {"metrics": "unexpectedness@1", "base_predictions": {"ANN": ["i07"]}},
        "no user of base_predictions (such as 'ANN') is in the predictions (such as 'ann')",
    ),
    "train of users": (
        {"metrics": "serendipity@1", "items": exactk.Items(ITEMS, train=TRAIN, features=np.eye(4))},
        "no user of train with items of the catalogue (such as 'ANN') is in the truth or the predictions (such as 'ann')",
    ),
    "catalogue": (
        {**CATALOGUE, "items": exactk.Items(OF_ITEMS)},
        "no item of the catalogue (such as 'I07') is in the predictions (such as 'i07')",
    ),
    "train of items": (
        {"metrics": "novelty@1(foreign_items=count)", "items": exactk.Items(train=UPPER)},
        "no item of the catalogue (such as 'I07') is in the predictions (such as 'i07')",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHERS)
def test_f87_other_arguments_are_told_of(case: str) -> None:
    options, start = OTHERS[case]
    options = {"metrics": "recall@1", **options}
    for truth, predictions in ((TRUTH, LISTS), (TRUTH, batches()), (None, blocks())):
        texts = warnings_of(partial(exactk.evaluate, truth, predictions, **options))
        (text,) = [text for text in texts if "check that" in text]
        assert text.startswith(start) or predictions is not LISTS
        assert text.startswith(start[: start.index(" (such as")])


def test_f87_an_evaluator_tells_of_the_catalogue_once_all_users_are_there() -> None:
    items = exactk.Items(["I07", "i12"])
    evaluator = exactk.Evaluator(CATALOGUE["metrics"], items=items)
    evaluator.update({"ann": ["i40"]}, {"ann": LISTS["ann"]})
    (text,) = warnings_of(pickle.loads(pickle.dumps(evaluator)).compute)  # noqa: S301 - our own
    assert text.startswith("no item of the catalogue (such as 'I07') is in the predictions (such as 'i07')")
    evaluator.update({"bob": ["i12"]}, {"bob": ["i12"]})
    assert warnings_of(evaluator.compute) == []


def test_short_lists_without_a_common_item_are_told_of() -> None:
    with pytest.warns(exactk.EvaluationWarning, match=r"no item of the truth \(such as 3\) is in the predictions"):
        exactk.evaluate([[3], [1], [2]] * 12, [[30, 20], [25], [27]] * 12, "mrr")


def test_f87_few_items_without_keys_may_well_be_outside_the_catalogue() -> None:
    for count in (3, 40):
        lists = [[100 + user] for user in range(count)]
        texts = warnings_of(partial(exactk.evaluate, None, lists, items=exactk.Items(50), **CATALOGUE))
        assert len(texts) == (count > 32)


PARTS: dict[str, Any] = {"popularity": 3, "features": [1.0], "item_groups": "a", "values": 2.0}


def items_with(name: str) -> exactk.Items:
    options: dict[str, Any] = {name: dict.fromkeys(OF_ITEMS, PARTS[name])}
    return exactk.Items(ITEMS, **options)


FAULTS: dict[str, tuple[Callable[[], object], str]] = {
    "weights": (lambda: recall(weights={"ANN": 1.0}), "no user of weights (such as 'ANN') is in the truth or the predictions (such as 'ann')"),
    "groups": (lambda: recall(groups={"ANN": 1, "BOB": 2}), "no user of groups (such as 'ANN') is in the truth or the predictions (such as 'ann')"),
    "clusters": (
        lambda: exactk.compare(TRUTH, {"a": LISTS, "b": LISTS}, "recall@1", clusters={"ANN": 1, "BOB": 2}),
        "no user of clusters (such as 'ANN') is in the compared lists (such as 'ann')",
    ),
    "candidates": (lambda: recall(predictions=dense(), candidates=OF_ITEMS), "no item of candidates (such as 'I07') is in the scores (such as 'i07')"),
    "users of candidates": (lambda: recall(candidates=TRAIN), "no user of candidates (such as 'ANN') is in the predictions (such as 'ann')"),
    "train": (lambda: exactk.Items(ITEMS, train=UPPER), "no item of train is in the catalogue (such as 'i07')"),
    **{name: (partial(items_with, name), f"no item of {name} is in the catalogue (such as 'i07')") for name in PARTS},
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_f87_errors_say_what_both_sides_have(case: str) -> None:
    call, text = FAULTS[case]
    with pytest.raises(exactk.InputError) as caught:
        call()
    assert f"; {text}: check that " in str(caught.value)


def test_f87_users_of_groups_in_another_block_are_no_fault() -> None:
    groups = {"bob": "a", "eve": "b"}
    pieces: Iterable[Any] = ({}, {"ann": ["i07"]}), ({"bob": ["i12"]}, {"bob": ["i12"]})
    report = exactk.evaluate(None, iter(pieces), "recall@1", groups=groups)
    assert report["recall@1"] == 1


def test_f87_commands_tell_of_them(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lists in (("truth.csv", TRUTH), ("seen.csv", under(SEEN, str.upper))):
        write_frame(frame(lists)[["user", "item"]], name)
    write_frame(frame(LISTS), "lists.csv")
    for command in (("evaluate", "truth.csv", "lists.csv", "-m", "recall@1"), ("topk", "lists.csv", "-k", "1")):
        result = run(*command, "--exclude", "seen.csv")
        assert "no item of exclude (such as 'I12') is in the " in result.err, result.err
