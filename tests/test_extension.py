"""The extension module called directly, without the Python layer: as harmless as the API.

Every call ends in a result or in an error of Python; none ends the process, and the next one works.
"""

from __future__ import annotations

import copy
import io
import itertools
import math
import pickle
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

import exactk
from core_rules import STANDARD, core_rules, gains_of
from exactk import _core
from exactk._plan.metrics import evaluation_metrics
from strategies import parameter_of

ARRAYS: list[Any] = [
    None, np.zeros(0, np.int64), np.array([0, 1]), np.array([0, 2**62, 1]), np.array([-(2**63), 2**63 - 1]),
    np.array([0.5]), np.zeros((2, 2), np.int64), np.array([True]),
]  # fmt: skip
OTHER_ARRAYS: list[Any] = [
    np.array([math.nan, math.inf]), np.array([-1.0, 1e308]), np.array([2**64 - 1, 0], np.uint64),
    np.array([2**32 - 1, 0], np.uint32), np.array([-1, 0], np.int32), np.array([1, 2], ">i8"), np.arange(4)[::2],
    np.arange(4)[::-1], np.frombuffer(bytes(17), np.int64, 2, 1), np.array(1), np.array([[1]], dtype=np.int32),
    np.zeros((0, 5), np.int64), np.zeros((5, 0), np.int64), np.broadcast_to(np.float32(1), (2, 2**40)),
    np.array([[math.nan, 1.0], [-math.inf, math.inf]], np.float16),
    np.asfortranarray(np.array([[1.0, -0.0], [5e-324, 1e308]])), np.zeros((2, 2), ">f4"),
    np.zeros((2, 2), np.longdouble), np.zeros((2, 2), np.bool_), np.array(["1", "2"]), np.array([1, None]),
    np.frombuffer(bytes(33), np.float64, 4, 1).reshape(2, 2), np.array([1 + 2j]), np.zeros(2, [("a", "i8")]),
    np.ma.masked_array([1, 2], [True, False]), np.frombuffer(b"\x02\xff", np.bool_),
]  # fmt: skip
OTHERS: list[Any] = [
    "x", "", "\ud800", "x\0y", b"x", b"\xff\xfe", "x" * 100_000, 0, 1, -1, 2**31, 2**62, -(2**63), 2**63, 2**100, True,
    0.5, math.nan, math.inf, -math.inf, 1j, [], [1], [None], {}, {"gain": 1}, (), object(), int, len, ...,
]  # fmt: skip
HOSTILE = [*ARRAYS, *OTHER_ARRAYS, *OTHERS]
# Not those that take a day.
RANKABLE = [array for array in [*ARRAYS, *OTHER_ARRAYS] if array is None or array.size < 2**32]

# What is harmless: an error of ours, of an argument's type, or of a text that is none.
HARMLESS = (exactk.ExactkError, TypeError, UnicodeError)


def sound_lists() -> _core.Lists:
    return _core.Lists(np.arange(2), np.array([0, 1, 2]), None, None, "x")


def sound_scores() -> _core.Scores:
    return _core.Scores(np.array([[0.5, 1.0, 0.25], [2.0, 0.0, 1.0]]), None, None, "x")


def sound_sparse_scores() -> _core.SparseScores:
    return _core.SparseScores(sound_lists(), np.array([0.5, 1.0]), None, "x")


def sound_embeddings() -> _core.Embeddings:
    users, items = np.array([[0.5, 1.0], [2.0, 0.0]]), np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    return _core.Embeddings(users=users, items=items)


def sound_rules() -> _core.Rules:
    return core_rules(min_grade=0.5)


def sound_paired_values() -> list[_core.PairedValue]:
    return [_core.PairedValue([0], 0, False, True, False), _core.PairedValue([0, 1], -1, False, False, True)]


def sound_resampling() -> dict[str, Any]:
    columns = [np.array([0.5, math.nan, 1.0]), np.zeros(3)]
    units = {"keys": np.arange(3, dtype=np.uint64), "units": np.array([2, 0])}
    return {"columns": columns, "scales": [40, 3], **units, "seed": 7, "first": 1024, "count": 9, **EXECUTION}


def sound_values() -> list[_core.PlannedValue]:
    return [
        _core.PlannedValue(name, cutoff, parameter_of(name), core_rules(min_grade=0.5, **gains_of(info)))
        for name, info in evaluation_metrics.items()
        if not info.reads_list
        for cutoff in ((None,) if info.pairwise else (None, 3))
    ]


def sound_list_values() -> list[_core.PlannedValue]:
    rules = core_rules(foreign_items="count", missing_features="skip")
    infos = [info for info in _core.metric_table() if info.reads_list and not info.of_collection]
    names = [info.name for info in infos if not info.reads_features or "distance" in info.own_fields]  # without tags
    values = [_core.PlannedValue(name, cutoff, parameter_of(name), rules) for name in names for cutoff in (None, 3)]
    return [*values, _core.PlannedValue("recall", 3, 0, core_rules(weight="values", min_grade=2.0))]


def sound_item_tally() -> _core.ItemTallyRequest:
    return _core.ItemTallyRequest(core_rules(foreign_items="count"), [1, 3, None], True)


def sound_group_tallies() -> list[_core.PlannedValue]:
    rules = core_rules(foreign_items="count")
    names = [info.name for info in _core.metric_table() if info.reads_groups]
    return [_core.PlannedValue(name, cutoff, 0.0, rules) for name in names for cutoff in (None, 3)]


def sound_item_features() -> _core.ItemFeatures:
    return _core.ItemFeatures(**CALLS["ItemFeatures"][1]())


def sound_items(features: _core.ItemFeatures | None = None) -> _core.Items:
    return _core.Items(**CALLS["Items"][1]() | {"features": features or sound_item_features()})


def sound_histories() -> _core.Histories:
    return _core.Histories(*CALLS["Histories"][1]())


EXECUTION: dict[str, Any] = {"threads": 2, "isa": "", "progress": abs}

# Each function and type of the module, with arguments that it takes: by name, where there are many.
CALLS: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "Lists": (_core.Lists, lambda: [np.arange(2), np.array([0, 1, 2]), np.array([1, 1]), np.array([True, True]), "x"]),
    "validate": (_core.Lists.validate, lambda: [sound_lists(), "x", np.array([1.0, 2.0])]),
    "Scores": (_core.Scores, lambda: [np.zeros((2, 3), np.float32), 0.5, sound_lists(), "x"]),
    "SparseScores": (_core.SparseScores, lambda: [sound_lists(), np.array([3, 7]), 0.5, "x"]),
    "Embeddings": (
        _core.Embeddings,
        lambda: {
            "users": np.zeros((2, 3), np.float32), "items": np.zeros((5, 3)), "item_bias": np.zeros(5, np.float16),
            "min_score": 0.5, "candidates": sound_lists(), "present": np.array([True, False]),
        },
    ),
    "topk": (
        _core.topk,
        lambda: {
            "scores": sound_scores(), "k": 2, "exclude": sound_lists(), "ties": "lowest_id", "nan": "raise", **EXECUTION
        },
    ),
    "ItemTallyRequest": (_core.ItemTallyRequest, lambda: [sound_rules(), [1, None], True]),
    "Histories": (_core.Histories, lambda: [np.array([0, 0, 2]), np.array([0, 2], np.uint32)]),
    "Items": (
        _core.Items,
        lambda: {
            "ids": np.arange(3), "users": np.array([2, 1, 0]), "interactions": np.array([3, 1, 0]), "train_users": 2,
            "values": np.array([0.5, 2.0, math.nan]), "groups": np.array([1, -1, 0]), "group_count": 2,
        },
    ),
    "ItemFeatures": (
        _core.ItemFeatures,
        lambda: {
            "width": 2, "is_missing": np.zeros(3, np.bool_), "vectors": np.array([1.0, 0.5, 0.0, 2.0, 1.0, 1.0])
        },
    ),
    "isas": (_core.isas, list),
    "built_with": (_core.built_with, list),
    "memory_limit": (_core.memory_limit, list),
    "require_memory": (_core.require_memory, lambda: [3, 8, "x"]),
    "padded_lengths": (_core.padded_lengths, lambda: [np.array([[1, -1], [2, 3]]), "x"]),
    "discounts": (_core.discounts, lambda: [core_rules(discount="log_floored", discount_base=10.0), 5]),
    "Rules": (_core.Rules, lambda: [STANDARD | {"gain": "table", "min_grade": 0.5, "gain_table": [0.0, 1.0]}]),
    "PlannedValue": (_core.PlannedValue, lambda: ["ndcg", 3, 0.5, sound_rules()]),
    "PairedValue": (_core.PairedValue, lambda: [[0, 1], 1, False, True, True]),
    "paired_sums": (
        _core.paired_sums,
        lambda: {
            "tables": [np.zeros((2, 3)), np.ones((2, 3))], "values": sound_paired_values(), "pairs": [(1, 0)],
            "weights": np.array([1.0, 2.0, 0.5]), "groups": np.array([0, 1, 0]), "group_count": 2,
            "clusters": np.array([2, 0, 0]), "cluster_count": 3, **EXECUTION,
        },
    ),
    "geometric_terms": (_core.geometric_terms, lambda: [np.array([0.0, 0.5, 1.0])]),
    "sign_flip_sums": (_core.sign_flip_sums, sound_resampling),
    "resample_sums": (_core.resample_sums, sound_resampling),
    "truth_digest": (
        _core.truth_digest,
        lambda: [
            sound_lists(), np.array([1.0, 2.0]), np.array([7, 8], np.uint64), np.arange(9, dtype=np.uint64), 2, "",
        ],
    ),
    "hash_keys": (_core.hash_keys, lambda: [sound_vocabulary(), 3, False]),
    "join_hashes": (_core.join_hashes, lambda: [np.arange(3, dtype=np.uint64), np.arange(3, dtype=np.uint64)]),
    "judge_lists": (
        _core.judge_lists,
        lambda: {
            "truth": sound_lists(), "grades": np.array([1.0, 2.0]), "predictions": sound_lists(), "exclude": sound_lists(),
            "value": _core.PlannedValue("num_hits", 3, 0.0, sound_rules()), "user_count": 2, **EXECUTION,
        },
    ),
    "fuse": (
        _core.fuse,
        lambda: {
            "systems": [sound_lists(), sound_sparse_scores()], "weights": [1.0, 0.5], "lows": [0.0, -1.0],
            "method": "rrf", "norm": "none", "missing": "zero", "rank_constant": 60.0, "persistence": 0.8,
            "power": 1.0, "depth": 3, "k": 3, "ties": "expected", "nan": "last", **EXECUTION,
        },
    ),
    "evaluate": (
        _core.evaluate,
        lambda: {
            "truth": sound_lists(), "grades": np.array([1.0, 2.0]), "predictions": sound_lists(), "exclude": sound_lists(),
            "items": sound_items(), "histories": sound_histories(), "history_rows": np.array([1, -1]),
            "base": sound_lists(), "weights": np.array([1.0, 2.0]), "groups": np.array([0, 1]), "group_count": 2,
            "values": [*sound_values(), *sound_list_values()], "item_tallies": [sound_item_tally()],
            "group_tallies": sound_group_tallies(), "given": np.zeros(8), "tally_rules": sound_rules(),
            "per_user": True, **EXECUTION,
        },
    ),
}  # fmt: skip


def sound_arguments(name: str, **changes: Any) -> dict[str, Any]:
    """Return the named arguments of a call, with some that are given."""
    arguments: dict[str, Any] = CALLS[name][1]()
    return arguments | changes


for kind, sound in (("sparse scores", sound_sparse_scores), ("scores", sound_scores), ("embeddings", sound_embeddings)):
    for function, argument in ((_core.evaluate, "predictions"), (_core.topk, "scores")):
        CALLS[f"{function.__name__} of {kind}"] = (
            function,
            lambda name=function.__name__, argument=argument, make=sound: sound_arguments(name, **{argument: make()}),  # type: ignore[misc]
        )


def call_with(call: Callable[..., Any], given: Any) -> Any:
    """Call with a list of arguments, or with a dictionary of named ones."""
    return call(**given) if isinstance(given, dict) else call(*given)


def named_arguments(call: Callable[..., Any]) -> dict[str, bool]:
    """Return the names of what a call takes by name alone, and whether each must be given."""
    function: Any = call.__init__ if isinstance(call, type) else call  # type: ignore[misc]
    signature = function.__doc__.partition("\n")[0].partition("*, ")[2]
    arguments = re.split(r", (?=\w+: )", signature)
    return {argument.partition(":")[0]: " = " not in argument for argument in arguments}


def evaluate(**given: Any) -> _core.Result:
    """Evaluate sound lists, with some arguments that are given."""
    lists: dict[str, Any] = {"truth": sound_lists(), "predictions": sound_lists()}
    values = {} if "values" in given else {"values": sound_values()}
    return _core.evaluate(**lists | values | {"tally_rules": sound_rules(), "per_user": True, "threads": 2} | given)


def ndcg(*cutoffs: int | None, **fields: Any) -> list[_core.PlannedValue]:
    rules = core_rules(**fields, min_grade=0.5)
    return [_core.PlannedValue("ndcg", cutoff, 0, rules) for cutoff in cutoffs]


def can_evaluate() -> bool:
    """Return whether the next call works."""
    result = evaluate(values=[_core.PlannedValue("precision", 1, 0, sound_rules())])
    assert result.per_user is not None
    return result.sums.rows[0][0] == 2 and result.per_user.tolist() == [[1.0, 1.0]]


def has_result(call: Callable[..., Any], *arguments: Any, **given: Any) -> bool:
    """Call; return whether there was a result."""
    try:
        call(*arguments, **given)
    except HARMLESS:
        return False
    return True


def ways_to_rank(
    build: Callable[[], Any],
    *plans: list[_core.PlannedValue],
    ties: tuple[str, ...] = ("lowest_id", "highest_id"),
    nans: tuple[str, ...] = ("last",),
    exclude: _core.Lists | None = None,
) -> int:
    """Rank what is built in these ways, if it is not refused; return how many of them had a result."""
    try:
        given = build()
    except HARMLESS:
        return 0
    results = sum(has_result(evaluate, predictions=given, values=values) for values in plans)
    for k, tie, nan in itertools.product([1, 5], ties, nans):
        results += has_result(_core.topk, scores=given, k=k, exclude=exclude, ties=tie, nan=nan, threads=2)
    return results


@pytest.mark.parametrize("name", CALLS)
def test_sound_arguments_are_accepted(name: str) -> None:
    call, arguments = CALLS[name]
    call_with(call, arguments())


@pytest.mark.parametrize("name", CALLS)
def test_each_argument_may_be_hostile(name: str) -> None:
    call, arguments = CALLS[name]
    sound = arguments()
    is_named = isinstance(sound, dict)
    for which, hostile in itertools.product(named_arguments(call) if is_named else range(len(sound)), HOSTILE):
        given = sound.copy()
        given[which] = hostile
        has_result(call_with, call, given)
    assert can_evaluate()


@pytest.mark.parametrize("name", CALLS)
def test_the_number_of_arguments_is_checked(name: str) -> None:
    call, arguments = CALLS[name]
    given = arguments()
    is_named = isinstance(given, dict)
    required = [name for name, is_required in named_arguments(call).items() if is_required] if is_named else []
    least = [{name: given[name] for name in required if name != left_out} for left_out in required]
    for few in least if is_named else [given[:size] for size in range(len(given))]:
        with pytest.raises(TypeError):
            call_with(call, few)
    args, named = ([], given) if is_named else (given, {})
    with pytest.raises(TypeError):
        call(*args, None, **named)
    with pytest.raises(TypeError):
        call(*args, **named, no_such_argument=1)
    if is_named:
        with pytest.raises(TypeError):
            call(*given.values())


def test_every_combination_of_hostile_arrays() -> None:
    good, values, results = sound_lists(), sound_values(), 0
    for items, indptr, lengths, present in itertools.product(ARRAYS, repeat=4):
        try:
            lists = _core.Lists(items, indptr, lengths, present, "hostile")
        except HARMLESS:
            continue
        for truth, predictions in ((lists, good), (good, lists), (lists, lists)):
            results += has_result(evaluate, truth=truth, predictions=predictions, exclude=lists, values=values)
    for hostile in ARRAYS:
        for size in (-1, 0, 1, 2**62):
            given = {"grades": hostile, "weights": hostile, "groups": hostile, "group_count": size}
            results += has_result(evaluate, values=values, **given)
    assert results > 0


def test_every_hostile_array_of_scores() -> None:
    """Whatever is taken for scores can be ranked, by every rule, or is refused."""
    plans = ndcg(3, nan="last"), ndcg(3, nan="last") + ndcg(3, nan="raise")
    assert sum(
        ways_to_rank(partial(_core.Scores, array, least, None, "hostile"), *plans, nans=("last", "raise"))
        for array, least in itertools.product(RANKABLE, [None, -math.inf, 0, 2**63, math.nan])
    )


def test_every_hostile_array_beside_a_matrix() -> None:
    """Whatever is taken for the rows of users, the order of ties or presence can be ranked, or is refused."""
    values, matrix = ndcg(3, None), np.array([[0.5, 1.0, 0.5], [2.0, 0.0, 2.0]])
    columns = _core.Lists(np.array([0, 2]), np.array([0, 2]), None, None, "x")
    rows = [[1, -1], [1, 0, 0, -1], [2, 0], [-2, 0], [2**62, 0], [3, 1, 1]]
    hostile = [*RANKABLE, *(np.array(one, np.int64) for one in rows)]
    flags = [array for array in hostile if array is None or array.dtype == np.bool_]
    assert sum(
        ways_to_rank(
            partial(_core.Scores, matrix, None, candidates, first, second, "hostile"),
            values,
            ties=("lowest_id", "highest_id", "input_order", "raise"),
        )
        for first, second, candidates in itertools.product(hostile, hostile, [None, columns])
    )
    assert sum(
        ways_to_rank(partial(_core.Embeddings, users=matrix, items=matrix, present=present), values)
        for present in [*flags, np.array([True, False]), np.array([False, False]), np.array([True])]
    )


@pytest.mark.parametrize(
    ("user_rows", "tie_ids", "argument"),
    [
        ([2], None, "user_rows"), ([0, -2], None, "user_rows"), ([[0]], None, "user_rows"), ([0.0], None, "user_rows"),
        (None, [0, 1], "tie_ids"), (None, [0, 1, 2, 3], "tie_ids"), (None, [], "tie_ids"), (None, ["a"], "tie_ids"),
    ],
)  # fmt: skip
def test_rows_of_users_and_ids_of_ties_that_are_none(user_rows: Any, tie_ids: Any, argument: str) -> None:
    rows, ids = (None if one is None else np.array(one, None if one else np.int64) for one in (user_rows, tie_ids))
    with pytest.raises(exactk.ExactkError, match=f"x.{argument}"):
        _core.Scores(np.zeros((2, 3)), None, None, rows, ids, "x")


def test_rows_of_users_are_copied() -> None:
    user_rows, tie_ids = np.array([1, 0, -1]), np.array([2, 1, 0])
    scores = _core.Scores(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]), None, None, user_rows, tie_ids, "x")
    user_rows[:], tie_ids[:] = 2**40, 0
    assert _core.topk(scores=scores, k=2)[0].tolist() == [[2, 1], [2, 1], [-1, -1]]


def test_every_hostile_array_of_sparse_scores() -> None:
    """Whatever is taken for the items or scores of SparseScores, or for columns, can be ranked or is refused."""
    options: dict[str, Any] = {"ties": ("lowest_id", "highest_id", "input_order"), "exclude": sound_lists()}
    values, results = ndcg(3, None), 0
    matrix = np.array([[0.5, 1.0, 0.25], [2.0, 0.0, 1.0]])
    for items, indptr in itertools.product(RANKABLE, [np.array([0, 1, 2]), np.array([0, 2])]):
        try:
            lists = _core.Lists(items, indptr, None, None, "hostile")
        except HARMLESS:
            continue
        results += ways_to_rank(partial(_core.Scores, matrix, None, lists, "hostile"), values, **options)
        for scores in RANKABLE:
            results += ways_to_rank(partial(_core.SparseScores, lists, scores, None, "hostile"), values, **options)
    assert results > 0


def test_every_hostile_array_of_embeddings() -> None:
    """Whatever is taken for vectors or biases can be ranked, by products of matrices or without, or is refused."""
    values, results, hostile = ndcg(3, None), 0, list(RANKABLE)
    floats = [math.nan, -math.inf, 0.0, -0.0, 5e-324, 1e-160, 6e-8, 65504.0, 3e38, 1e75, 1e160, 1e308]
    with np.errstate(over="ignore"):
        hostile += [np.full((2, 2), value).astype(dtype) for value in floats for dtype in ("f2", "f4", "f8")]
    users, items = np.array([[0.5, 1.0], [2.0, -1.0]]), np.tile([[0.5, 1.0], [2.0, -1.0]], (10, 1)).astype(np.float32)
    pairs = [*((array, items) for array in hostile), *((users, array) for array in hostile), (items[:2], items)]
    pairs += [(array, array) for array in hostile]
    for (users, items), bias in itertools.product(pairs, [None, np.ones(20), *hostile]):
        for similarity in ["dot", "cosine", "euclidean"] if bias is None else ["dot"]:
            build = partial(_core.Embeddings, users=users, items=items, item_bias=bias, similarity=similarity)
            results += ways_to_rank(build, values)
    assert results > 0


@pytest.mark.parametrize(
    ("name", "argument", "wrong"),
    [
        ("users", "users", [
            np.ones((2, 2, 2)), np.ones(2), np.ones((2, 3), np.int64), np.ones((2, 3), ">f8"), np.ones((3, 2)).T,
            np.ones((2, 6))[:, ::2], np.ones((2, 3))[:, ::-1], np.frombuffer(bytes(49), np.float64, 6, 1).reshape(2, 3),
        ]),
        ("users", "items", [np.ones((2, 4))]),  # which are compared with the users
        ("items", "items", [
            np.ones(3), np.ones((5, 3), np.longdouble), np.ones((5, 0)), np.asfortranarray(np.ones((5, 3))),
            np.ones((5, 3), np.uint16),  # as large as half precision
            np.frombuffer(bytes(31), np.float16, 15, 1).reshape(5, 3), np.broadcast_to(np.float32(1), (2**33, 3)),
        ]),
        ("item_bias", "item_bias", [
            np.ones(4), np.ones((5, 1)), np.ones(5, np.int32), np.frombuffer(bytes(41), np.float64, 5, 1),
        ]),
        ("similarity", "similarity", ["dot product", ""]), ("similarity", "item_bias", ["cosine"]),
        ("min_score", "items", [math.nan]),
    ],
)  # fmt: skip
def test_embeddings_that_are_none(name: str, argument: str, wrong: list[Any]) -> None:
    sound: dict[str, Any] = {"users": np.ones((2, 3)), "items": np.ones((5, 3)), "item_bias": np.ones(5)}
    for one in wrong:
        with pytest.raises(exactk.ExactkError, match=f"{argument}: expected "):
            _core.Embeddings(**sound | {name: one})


def test_columns_that_are_none_are_refused_by_the_core_itself() -> None:
    for items, indptr in (([0, 3], [0, 1, 2]), ([1, 0], [0, 2]), ([1, 1], [0, 2]), ([0, -1], [0, 2]), ([], [0] * 4)):
        columns = _core.Lists(np.array(items, np.int64), np.array(indptr), None, None, "x")
        restricted = _core.Scores(np.zeros((2, 3)), None, columns, "x")
        vectors = np.ones((3, 2))
        compared = _core.Embeddings(users=vectors[:2], items=vectors, candidates=columns)
        for scores in (restricted, compared):
            with pytest.raises(exactk.InputError, match="candidates"):
                _core.topk(scores=scores, k=2, threads=2)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("k", 0), ("k", -1), ("k", 2**31), ("ties", "first"), ("ties", ""), ("nan", "drop"), ("nan", "raise\0"),
        ("threads", 0), ("threads", 5000), ("isa", "mmx"),
    ],
)  # fmt: skip
def test_topk_of_wrong_arguments(name: str, wrong: object) -> None:
    with pytest.raises(exactk.InputError):
        _core.topk(**sound_arguments("topk", **{name: wrong}))


def test_topk_of_excluded_items_that_are_none() -> None:
    """The core checks its arguments, even if the package did not build them."""
    for items, indptr in (([0, -1], [0, 1, 2]), ([0, 1], [0, 1]), ([0, 1], [0, 2, 1]), ([0, 1], [0, 1, 1, 2])):
        exclude = _core.Lists(np.array(items), np.array(indptr), None, None, "exclude")
        with pytest.raises(exactk.InputError, match="exclude"):
            _core.topk(scores=sound_scores(), k=2, exclude=exclude)


@pytest.mark.parametrize("name", ["lengths", "present", "grades", "weights", "groups"])
def test_an_empty_array_is_not_an_absent_one(name: str) -> None:
    empty: Any = np.zeros(0, {"lengths": np.int64, "groups": np.int64, "present": np.bool_}.get(name, np.float64))

    def call() -> None:
        if name in {"lengths", "present"}:
            lengths, present = (empty, None) if name == "lengths" else (None, empty)
            evaluate(truth=_core.Lists(np.arange(2), np.array([0, 1, 2]), lengths, present, "x"))
        else:
            evaluate(**{name: empty})

    with pytest.raises(exactk.InputError, match=name.removesuffix("s")):
        call()


@pytest.mark.parametrize(("metric", "cutoff"), [("precision\0", 3), ("precision", 0), ("precision", 2**32 + 3)])
def test_values_that_are_none(metric: str, cutoff: int) -> None:
    value = _core.PlannedValue(metric, cutoff, 0.5, sound_rules())
    with pytest.raises(exactk.InputError, match="metric"):
        evaluate(values=[value], threads=1)


@pytest.mark.parametrize(("name", "values"), [
    ("gain", ["cubic", "", None, 1.0]), ("no_field", ["x"]), ("", [""]), ("average\0", ["x"]),
    ("min_grade", ["all", "None", math.nan, math.inf, [1.0]]),
    ("gain_table", [None, 1.0, "table", [1.0, math.nan], [1.0, -math.inf]]),
    ("discount_base", [None, 1.0, 1e300, math.nan]), ("discount_power", [-1.0, math.inf]),
    ("discount_persistence", [0.0, 1.5, math.nan]),
    ("discount_table", [[1.5], [math.nan], [1.0, -0.5]]),
])  # fmt: skip
def test_rules_that_are_none(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(exactk.InputError, match="convention"):
            core_rules(**{name: value})


@pytest.mark.parametrize("changes", [{"min_grade": {}}, {"gain_table": ["1"]}, {"gain_table": {1.0}}, {1: "x"}])
def test_rules_of_other_types(changes: dict[Any, Any]) -> None:
    with pytest.raises(TypeError, match="incompatible constructor arguments"):
        _core.Rules(STANDARD | changes)


@pytest.mark.parametrize("field", STANDARD)
def test_rules_without_a_field(field: str) -> None:
    with pytest.raises(exactk.InputError, match=f"every field, found none for {field}"):
        _core.Rules({name: value for name, value in STANDARD.items() if name != field})


def sound_vocabulary() -> _core.Vocabulary:
    vocabulary = _core.Vocabulary(True)
    vocabulary.encode_integers(np.arange(3), 1, "x")
    return vocabulary


def arrow_table(values: list[Any], dtype: Any = None) -> _core.ArrowTable:
    stream: Any = pl.DataFrame({"item": pl.Series(values, dtype=dtype)}).__arrow_c_stream__()
    return _core.ArrowTable(stream, "x")


def arrow_column(values: list[Any], dtype: Any = None) -> _core.ArrowColumn:
    return arrow_table(values, dtype).columns[0][1]


def sound_result() -> _core.Result:
    return _core.evaluate(**sound_arguments("evaluate"))


# An object of each class of the module.
SOUND: dict[str, Callable[[], Any]] = {
    "Lists": sound_lists,
    "Scores": sound_scores,
    "SparseScores": sound_sparse_scores,
    "Embeddings": sound_embeddings,
    "ItemTallyRequest": sound_item_tally,
    "ItemFeatures": sound_item_features,
    "Items": sound_items,
    "Histories": sound_histories,
    "Rules": sound_rules,
    "PlannedValue": lambda: sound_values()[0],
    "PairedValue": lambda: sound_paired_values()[0],
    "PairedSums": lambda: _core.paired_sums(**sound_arguments("paired_sums")),
    "Result": sound_result,
    "Sums": lambda: sound_result().sums,
    "Tally": lambda: sound_result().tally,
    "MetricInfo": lambda: _core.metric_table()[0],
    "MetricParameter": lambda: exactk.metrics["fbeta"].parameter,
    "ConventionField": lambda: _core.convention_fields()[0],
    "LineFault": lambda: _core.read_trec("run", io.BytesIO(b"one field\n").read),
    "TrecColumns": lambda: _core.read_trec("run", io.BytesIO(b"q Q0 d 1 0.5 t\n").read),
    "IntegerRows": lambda: _core.integer_rows([[1, 2], None], None, "x", "grades"),
    "TextRows": lambda: _core.text_rows(_core.Vocabulary(False), [{"a": 1.0}], False, float, "x", "grades"),
    "Vocabulary": sound_vocabulary,
    "ArrowTable": lambda: arrow_table([1, 2]),
    "ArrowColumn": lambda: arrow_column([1, 2]),
}
CLASSES = {name: kind for name, kind in vars(_core).items() if isinstance(kind, type)}


def test_every_class_of_the_module_is_tested() -> None:
    assert SOUND.keys() == CLASSES.keys()
    for name, sound in SOUND.items():
        assert type(sound()) is CLASSES[name]


@pytest.mark.parametrize("name", CLASSES)
def test_f45_what_cannot_be_copied_or_pickled_is_not(name: str) -> None:
    """A TypeError from every protocol; 0 and 1 make an object of the base class first, which ended the process."""
    value = SOUND[name]()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match=name):
            pickle.dumps(value, protocol)
        with pytest.raises(TypeError, match=name):
            value.__reduce_ex__(protocol)
    for copy_function in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=name):
            copy_function(value)
    assert can_evaluate()


@pytest.mark.parametrize("name", CLASSES)
def test_f45_what_was_never_constructed_is_of_no_use(name: str) -> None:
    """Every attribute of it, and every way to make it, raises TypeError, in a subclass too."""
    kind: Any = CLASSES[name]

    class Subclass(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            """Leave out the constructor of the base."""

    for bare in (kind.__new__(kind), Subclass.__new__(Subclass)):
        for attribute in vars(kind):
            if not attribute.startswith("__") or attribute == "__len__":
                with pytest.raises(TypeError):
                    getattr(bare, attribute)()
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
                pickle.dumps(bare, protocol)
    members = [getattr(member, "fget", member) for name, member in vars(kind).items() if not name.startswith("_")]
    for none, member in itertools.product([None, object(), 0], filter(callable, members)):
        with pytest.raises(TypeError):
            member(none)
    for make in (Subclass, kind, partial(kind.__new__, object), partial(kind.__new__, int)):
        with pytest.raises(TypeError):
            make()
    assert can_evaluate()


def test_f45_a_class_of_two_bases_is_both_or_neither() -> None:
    class Both(_core.Lists, _core.Rules):
        def __init__(self, *, rules: bool) -> None:
            _core.Lists.__init__(self, np.arange(2), np.array([0, 1, 2]), None, None, "x")
            if rules:
                _core.Rules.__init__(self, STANDARD)

    with pytest.raises(TypeError):
        Both(rules=False)
    both = Both(rules=True)
    both.validate("x", None)
    assert _core.PlannedValue("ndcg", 3, 0.5, both) is not None


THREADED: dict[str, Callable[[int], Any]] = {
    **{
        name: lambda threads, name=name: CALLS[name][0](**sound_arguments(name, threads=threads))  # type: ignore[misc]
        for name in ("evaluate", "fuse", "judge_lists", "topk", "paired_sums", "sign_flip_sums", "resample_sums")
    },
    "truth_digest": lambda threads: CALLS["truth_digest"][0](*CALLS["truth_digest"][1]()[:-2], threads, ""),
    "encode_integers": lambda threads: sound_vocabulary().encode_integers(np.arange(9), threads, "x"),
    "encode_packed": lambda threads: _core.Vocabulary(False).encode_packed(
        np.arange(600_001), np.zeros(600_000, np.uint8), threads, "x"
    ),
    "encode_packed nothing": lambda threads: _core.Vocabulary(False).encode_packed(
        np.zeros(1, np.int64), np.zeros(0, np.uint8), threads, "x"
    ),
    "encode": lambda threads: arrow_column(["a"]).encode(_core.Vocabulary(False), threads, "x"),
    "encode nothing": lambda threads: arrow_column([], pl.String).encode(_core.Vocabulary(False), threads, "x"),
    "group_by_user": lambda threads: _core.group_by_user(
        np.arange(600_000, dtype=np.uint32)[::-1].copy(), 600_000, [], threads, "x"
    ),
    "group_by_user nothing": lambda threads: _core.group_by_user(np.zeros(0, np.uint32), 0, [], threads, "x"),
}


@pytest.mark.parametrize("users", [2**63 - 1, 2**62, -1, -(2**63)])
def test_f43_a_number_of_users_that_cannot_be_is_refused(users: int) -> None:
    codes = np.array([1, 0], np.uint32)
    for call, last in ((_core.group_by_user, ([], 1, "x")), (_core.order_by_user, (None, "x"))):
        with pytest.raises((exactk.InputError, exactk.CapacityError), match="users"):
            call(codes, users, *last)


def test_f43_every_function_that_takes_threads_is_tested() -> None:
    functions = [*vars(_core).items(), *(member for kind in CLASSES.values() for member in vars(kind).items())]
    threaded = {name for name, function in functions if "threads: " in (getattr(function, "__doc__", None) or "")}
    assert threaded == {name.split(" ")[0] for name in THREADED}


@pytest.mark.parametrize("name", THREADED)
@pytest.mark.parametrize("threads", [0, -1, -(2**31), _core.MAX_THREADS + 1, 2**31 - 1])
def test_f43_a_number_of_threads_that_cannot_be_is_refused(name: str, threads: int) -> None:
    with pytest.raises(exactk.InputError, match=f"num_threads: expected a number of threads from 1 to .*{threads}"):
        THREADED[name](threads)
    THREADED[name](2)


def test_objects_that_were_never_constructed() -> None:
    """What `type.__new__` makes is of the right type and has nothing in it: no argument of any call."""
    classes: dict[str, Any] = CLASSES
    bare = {name: kind.__new__(kind) for name, kind in classes.items()}
    one, scores = np.ones((1, 1)), ("Scores", "SparseScores", "Embeddings")
    evaluations: list[tuple[str, Any]] = [("predictions", bare[name]) for name in ("Lists", *scores)]
    evaluations += [(argument, bare["Lists"]) for argument in ("truth", "exclude")]
    evaluations += [("tally_rules", bare["Rules"]), ("items", bare["Items"]), ("histories", bare["Histories"])]
    evaluations += [("values", [bare["PlannedValue"]])]
    refused: list[Callable[[], object]] = [
        *(lambda given=given: evaluate(**dict([given])) for given in evaluations),
        *(lambda name=name: _core.topk(scores=bare[name], k=2) for name in scores),
        lambda: _core.topk(scores=sound_scores(), k=2, exclude=bare["Lists"]),
        lambda: _core.PlannedValue("ndcg", 3, 0.5, bare["Rules"]),
        lambda: _core.Scores(np.zeros((2, 3)), None, bare["Lists"], "x"),
        lambda: _core.SparseScores(bare["Lists"], np.zeros(2), None, "x"),
        lambda: _core.Embeddings(users=one, items=one, candidates=bare["Lists"]),
        lambda: _core.paired_sums(**sound_arguments("paired_sums", values=[bare["PairedValue"]])),
    ]
    for call in refused:
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"width": 0, "vectors": np.zeros(0)}, "at least one feature, found none"),
        ({"vectors": np.zeros(4)}, "one vector per item"),
        ({"vectors": np.zeros(7)}, "one number per column"),
    ],
)
def test_vectors_of_items_have_a_number_for_each_feature(features: dict[str, Any], message: str) -> None:
    items = sound_items(_core.ItemFeatures(**sound_arguments("ItemFeatures", **features)))
    with pytest.raises(exactk.InputError, match=f"features: expected {message}"):
        _core.evaluate(**sound_arguments("evaluate", items=items))
