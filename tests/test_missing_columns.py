"""Matrices with other columns than the scores or the truth beside them: never shifted, never guessed at."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st

import exactk
from exactk import reference
from test_containers import ForeignArray

# The first and the last of six items are in no row.
RELEVANT = np.array([[0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0]], bool)
OTHERS = np.array([[0, 0, 1, 1, 0, 0], [0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0]], bool)
SCORES = np.array([[6, 5, 1, 3, 2, 4], [1, 6, 5, 4, 3, 2], [2, 3, 6, 1, 5, 4]]) / 8
FORMS: dict[str, Callable[[Any], Any]] = {
    "array": lambda flags: flags,
    "foreign array": ForeignArray,
    "csr": scipy.sparse.csr_matrix,
    "csc": scipy.sparse.csc_array,
    "coo of grades": lambda flags: scipy.sparse.coo_array(flags.astype(float)),
    "truth": exactk.as_truth,
    "truth of grades": lambda flags: exactk.Truth.from_dense(np.where(flags, 1, np.nan)),
    "truth of csr": lambda flags: exactk.as_truth(scipy.sparse.csr_array(flags)),
}
SCORED: dict[str, Callable[[Any], Any]] = {
    "array": lambda scores: scores,
    "scores": exactk.Scores,
    "sparse": scipy.sparse.csr_array,
    "embeddings": lambda scores: exactk.Embeddings(scores, np.eye(scores.shape[1])),
}


def values_of(**arguments: Any) -> dict[str, float]:
    return dict(
        exactk.evaluate(metrics=["mrr", "recall@2"], **({"truth": RELEVANT, "predictions": SCORES} | arguments))
    )


@pytest.mark.parametrize("argument", ["truth", "exclude", "candidates"])
@pytest.mark.parametrize(("form", "scored"), [*product(FORMS, SCORED)])
def test_f84_missing_columns_are_asked_for(argument: str, form: str, scored: str) -> None:
    """A column of padding in the scores would shift all items by one."""
    flags = {"truth": RELEVANT, "exclude": OTHERS, "candidates": RELEVANT | OTHERS}[argument]
    predictions = SCORED[scored](SCORES)
    expected = values_of(predictions=predictions, **{argument: FORMS[form](flags)})
    for narrow, line in ((flags[:, :-1], 0), (flags[:, 1:], 1)):
        value = FORMS[form](narrow)
        with pytest.raises(exactk.InputError, match=f"^{argument}: expected 6 columns, as in the scores") as caught:
            values_of(predictions=predictions, **{argument: value})
        found = re.search(r"found 5; (.*) if the last items are in no row, (.*) if the scores begin", str(caught.value))
        assert found
        code = found[line + 1].removeprefix("make it ").removeprefix("of ")
        if isinstance(value, exactk.Truth):
            value = FORMS[form](eval(code, {"np": np, "matrix": narrow}))  # noqa: S307 - the hint
        else:
            names = {"np": np, "scipy": scipy, argument: narrow if form == "foreign array" else value}
            exec(code, names)  # noqa: S102 - the hint
            value = names[argument]
        assert values_of(predictions=predictions, **{argument: value}) == expected


# Each with the mistake, and whether it is of columns or of integers.
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "compare": lambda truth, scores: exactk.compare(truth, {"a": SCORES, "b": scores}, "mrr"),
    "blocks": lambda truth, scores: exactk.evaluate(None, iter([(truth, scores)]), "mrr"),
    "Evaluator": lambda truth, scores: exactk.Evaluator("mrr").update(truth, scores),
    "judge": lambda truth, scores: exactk.judge(truth, scores, k=2),
    "a function": lambda truth, scores: exactk.recall_at_k(truth, scores, k=2),
    "the reference": lambda truth, scores: reference.evaluate(truth, scores, "mrr"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
def test_f84_every_way_asks(way: str, form: str) -> None:
    with pytest.raises(exactk.InputError, match=r"^truth: expected 6 columns, as in the scores, found 5"):
        WAYS[way](FORMS[form](RELEVANT[:, 1:]), SCORES)
    for integers in (INTEGERS, INTEGERS.tolist()):
        with pytest.raises(exactk.InputError, match=r"^predictions: expected scores or ids, found integers") as caught:
            WAYS[way](FORMS[form](RELEVANT), integers)
        assert ("system 'b'" in str(caught.value)) == (way == "compare")


def test_f84_other_arguments_with_columns() -> None:
    for exclude in (OTHERS[:, 1:], scipy.sparse.csr_array(OTHERS[:, 1:])):
        with pytest.raises(exactk.InputError, match=r"^exclude: expected 6 columns, as in the scores, found 5; "):
            exactk.topk(SCORES, 2, exclude)
        with pytest.raises(exactk.InputError, match=r"^train: expected 6 columns, as in the catalogue, found 5; "):
            exactk.Items(6, train=exclude)
    assert len(exactk.Items(6, train=OTHERS)) == len(exactk.Items(5, train=OTHERS)) + 1


@pytest.mark.parametrize("scored", SCORED)
def test_f84_systems_with_fewer_columns_are_told_of(scored: str) -> None:
    make, wide = SCORED[scored], {"wide": SCORED[scored](SCORES)}
    message = "^predictions: scores of 5 and of 6 columns, each of them for item 0 on; np.pad"
    truth = [[1], [2], [3]]
    calls: tuple[Callable[[], Any], ...] = (
        lambda: exactk.compare(truth, {**wide, "narrow": make(SCORES[:, 1:])}, "mrr"),
        lambda: exactk.compare(None, iter([(truth, {**wide, "narrow": make(SCORES[:, 1:])})]), "mrr"),
        lambda: exactk.evaluate(truth, wide["wide"], "unexpectedness@2", base_predictions=make(SCORES[:, 1:])),
    )
    for call in calls:
        with pytest.warns(exactk.EvaluationWarning, match=message):
            call()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exactk.compare(truth, {**wide, "other": make(SCORES / 2)}, "mrr")
    assert not [str(one.message) for one in caught if "columns" in str(one.message)]


INTEGERS = (SCORES * 8).astype(int) * 7  # no ranks


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["i1", "i4", "u8"])
def test_f84_integers_in_the_shape_of_the_truth_are_scores_or_ids(form: str, dtype: str) -> None:
    """They were read as ids, even where an id has no column."""
    truth, integers = FORMS[form](RELEVANT), INTEGERS.astype(dtype)
    for predictions in (integers, ForeignArray(integers), integers.tolist()):
        with pytest.raises(exactk.InputError, match="could be either; ") as caught:
            values_of(truth=truth, predictions=predictions)
    as_scores, as_ids = re.findall(r"(exactk\.\w+\(predictions\)) if they are", str(caught.value))
    names = {"exactk": exactk, "predictions": integers}
    assert values_of(truth=truth, predictions=eval(as_scores, names)) == values_of(predictions=SCORES)  # noqa: S307
    assert values_of(truth=truth, predictions=eval(as_ids, names)) == values_of(  # noqa: S307
        truth=[np.flatnonzero(row) for row in RELEVANT], predictions=integers
    )


@pytest.mark.filterwarnings("ignore:no list has an item")
@given(st.data(), st.sampled_from(sorted(FORMS)))
def test_f84_rankings_of_all_columns_are_ids(data: st.DataObject, form: str) -> None:
    """Scores would hardly be distinct column numbers in every row."""
    orders = [data.draw(st.permutations(range(6))) for _ in range(3)]
    lengths = [data.draw(st.integers(0, 6)) for _ in range(3)]
    lists = [order[:length] for order, length in zip(orders, lengths, strict=True)]
    padded = np.array([[*row, *[-1] * (6 - len(row))] for row in lists])
    sets = [np.flatnonzero(row) for row in RELEVANT]
    assert values_of(truth=FORMS[form](RELEVANT), predictions=padded) == values_of(truth=sets, predictions=lists)


def test_f84_other_shapes_are_ids() -> None:
    shorter = np.argsort(-SCORES, axis=1)[:, :5]
    sets = [np.flatnonzero(row) for row in RELEVANT]
    assert values_of(predictions=shorter) == values_of(truth=sets, predictions=shorter)
    with pytest.warns(exactk.EvaluationWarning, match="item 6 has no column in the truth") as caught:
        values_of(predictions=shorter + 1)
    (line,) = re.findall(r"truth=(np\.pad.*?) if", str(caught[0].message))
    assert values_of(truth=eval(line, {"np": np, "truth": RELEVANT}), predictions=shorter + 1)  # noqa: S307 - the hint


@pytest.mark.parametrize("argument", ["truth", "exclude", "candidates"])
@pytest.mark.parametrize("form", ["array", "csr", "csc", "coo of grades"])
def test_f84_further_columns_without_anything_are_told_of(argument: str, form: str) -> None:
    """If the scores have no column of padding and the matrix has one, all items are shifted."""
    flags = {"truth": RELEVANT, "exclude": OTHERS, "candidates": RELEVANT | OTHERS}[argument]
    expected = values_of(**{argument: FORMS[form](flags)})
    for sides, line in (((0, 2), 0), ((1, 0), 1)):
        value = FORMS[form](np.pad(flags, ((0, 0), sides)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            values_of(**{argument: value})
        (message,) = [str(one.message) for one in caught if "nothing in the last of them" in str(one.message)]
        lines = re.findall(rf"{argument}=(\S+ \S+\]) leaves", message)
        assert values_of(**{argument: eval(lines[line], {argument: value})}) == expected  # noqa: S307 - the hint


@pytest.mark.parametrize("form", ["array", "csr", "csc"])
def test_exclusions_behind_padding_are_told_of(form: str) -> None:
    """They were shifted by one."""
    flags = np.array([[0, 0, 1, 0, 0, 1], [0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]], bool)
    value = FORMS[form](np.pad(flags, ((0, 0), (1, 0))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values_of(exclude=value)
    (message,) = [str(one.message) for one in caught if "nothing in the first of them" in str(one.message)]
    (line,) = re.findall(r"exclude=(\S+ 1:\]) leaves out the first", message)
    assert values_of(exclude=eval(line, {"exclude": value})) == values_of(exclude=flags)  # noqa: S307 - the hint
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no padding: items without a score
        values_of(exclude=FORMS[form](np.pad(flags, ((0, 0), (1, 0)), constant_values=True)))


@pytest.mark.parametrize("argument", ["truth", "exclude"])
@pytest.mark.parametrize("form", ["array", "csr"])
def test_transposed_matrices_are_told_from_missing_columns(argument: str, form: str) -> None:
    flags = RELEVANT if argument == "truth" else OTHERS
    value = FORMS[form](flags.T)
    with pytest.raises(exactk.InputError, match=rf"{argument}={argument}.T has a row for each user$"):
        values_of(**{argument: value})
    assert values_of(**{argument: value.T}) == values_of(**{argument: flags})


FROM_1: dict[str, Callable[[Any], Any]] = {
    "array": lambda ids: ids,
    "lists": lambda ids: ids.tolist(),
    "list of arrays": list,
    "ids and scores": lambda ids: (ids, np.ones(ids.shape)),
    "scores and ids": lambda ids: (np.ones(ids.shape), ids),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("given", FROM_1)
def test_ids_from_1_beside_columns_are_told_of(form: str, given: str) -> None:
    ids = np.array([[1, 4], [3, 5], [2, 6]])
    truth = FORMS[form](np.pad(RELEVANT[:, :5], ((0, 0), (0, 1))))
    with pytest.warns(exactk.EvaluationWarning, match=r"item 6 has no column .* if ids begin at 1"):
        exactk.evaluate(truth, FROM_1[given](ids), "mrr")
    if form in {"array", "foreign array"}:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a sparse matrix may lack the last items
        for others in (ids - 1, np.where(ids == 6, 7, ids), np.where(ids == 1, 0, ids)):
            exactk.evaluate(truth, FROM_1[given](others), "mrr")


@pytest.mark.parametrize("argument", ["exclude", "candidates"])
def test_f84_rows_of_flags_are_no_ids(argument: str) -> None:
    """They excluded items 0 and 1 of every user."""
    flags = OTHERS if argument == "exclude" else RELEVANT | OTHERS
    for rows in (flags.astype(int).tolist(), list(flags.astype(int)), tuple(flags.astype(int).tolist())[:3]):
        with pytest.raises(exactk.InputError, match=f"^{argument}: expected ids or flags") as caught:
            values_of(**{argument: list(rows)})
        line = str(caught.value).partition(f"; {argument}=")[2].partition(" if they are flags")[0]
        value = eval(line, {"np": np, argument: list(rows)})  # noqa: S307 - the hint
        assert values_of(**{argument: value}) == values_of(**{argument: flags})
