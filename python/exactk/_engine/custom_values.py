"""Metrics of one's own: their functions are called with the judged lists, block by block, and what they return is checked."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactk._engine.problem import JudgedRows, with_ranking
from exactk._inputs.model.lists import Rankings
from exactk._plan.fields import fields_of
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from exactk._engine.problem import Engine, Given, Problem
    from exactk._inputs.alignment import AlignedInputs
    from exactk._plan.values import Value
    from exactk._report.judged_lists import JudgedLists

BLOCK_USERS = 65_536
_MOST = 2.0**256  # of a number and of a ratio: like gains, so that sums have room
_JUDGED = MappingProxyType(
    {"users": "union", "empty_truth": "compute", "empty_list": "compute", "missing_list": "compute", "average": "macro"}
)

_Parts: TypeAlias = "NDArray[np.float64]"  # 2 x users: numerators and denominators


def given_by_functions(engine: Engine, problem: Problem, inputs: AlignedInputs) -> Given:
    """Return what the functions of the custom values say of each user."""
    by_lists: dict[tuple[object, ...], list[Value]] = {}  # those that read the same lists
    for value in problem.values:
        if value.custom is not None:
            rules = tuple(value.rules[name] for name in fields_of("ranking", "judging"))
            by_lists.setdefault((value.cutoff, rules, value.info.may_condense), []).append(value)
    if not by_lists:
        return {}
    given = {value.identity: np.zeros((2, len(problem.truth))) for values in by_lists.values() for value in values}
    rows = JudgedRows(inputs)
    for values in by_lists.values():
        judging = _judging_problem(problem, values[0])
        for begin in range(0, len(problem.truth), BLOCK_USERS):
            block = range(begin, min(begin + BLOCK_USERS, len(problem.truth)))
            judged = rows.lists(engine.judge_lists(judging, block), block)
            for value in values:
                given[value.identity][:, block.start : block.stop] = _parts_of(value, judged, problem)
    return given


def _judging_problem(problem: Problem, value: Value) -> Problem:
    """Return the problem whose lists the function is given: those of all users."""
    whole = {} if value.info.may_condense else {"unjudged": "keep"}
    judged = value._replace(
        metric="num_hits", custom=None, function=None, rules=MappingProxyType({**value.rules, **_JUDGED, **whole})
    )
    return with_ranking(
        problem._replace(
            values=(judged,), weights=None, groups=None, group_count=1, per_user=False,
            report_progress=None,
        )
    )  # fmt: skip


def _parts_of(value: Value, judged: JudgedLists, problem: Problem) -> _Parts:
    """Return the numerators and denominators of a block, 0/0 for users whom the convention does not compute."""
    assert value.function is not None  # noqa: S101 - a plan that is evaluated has it
    try:
        result = value.function(judged)
    except Exception as error:
        error.add_note(f"in the function of {value.spelling}, called with {_users_of(judged)}")
        raise
    parts = _checked_arrays(value, result, len(judged))
    has_gaps = isinstance(problem.predictions, Rankings) and problem.predictions.ranks is not None
    is_computed = _is_computed(value, judged, has_gaps=has_gaps)
    _check_numbers(value, parts, is_computed, judged.first_user)
    return np.where(is_computed, parts, 0)


def _users_of(judged: JudgedLists) -> str:
    if not len(judged):
        return "no user"
    first, last = judged.first_user, judged.first_user + len(judged) - 1
    if judged.users is None:
        return f"the users of rows {first} to {last}"
    names = [repr(user) for user in judged.users[[0, -1]].tolist()]
    return f"the users of rows {first} ({names[0]}) to {last} ({names[1]})"


def _checked_arrays(value: Value, result: object, users: int) -> _Parts:
    """Return numerators and denominators; those of values are 1."""
    expected = f"an array of {users} float64 from the function of {value.spelling}, one per user, or a tuple of two"
    pair = result if isinstance(result, tuple) else (result, np.ones(users))
    if len(pair) != 2:
        raise type_error("metrics", expected, f"a tuple of {len(pair)}")
    arrays = []
    for one in pair:
        if not hasattr(one, "__array__"):
            raise type_error("metrics", expected, type(one).__name__)
        array = np.asarray(one)
        if array.shape != (users,) or array.dtype.kind not in "fiub" or not np.can_cast(array.dtype, np.float64):
            raise type_error("metrics", expected, f"one of {array.dtype} and shape {array.shape}")
        arrays.append(array.astype(np.float64))
    return np.stack(arrays)


def _is_computed(value: Value, judged: JudgedLists, *, has_gaps: bool) -> NDArray[np.bool_]:
    """Return of which users the value is computed, not set or skipped by a policy of the convention."""
    rules: Mapping[str, Any] = value.rules
    population = {
        "truth": judged.in_truth,
        "both": judged.in_truth & judged.has_list,
        "predictions": judged.has_list,
        "union": judged.in_truth | judged.has_list,
    }
    is_computed = population[rules["users"]].copy()
    if value.info.reads_truth and rules["empty_truth"] != "compute":
        is_computed &= judged.relevant > 0
    if rules["missing_list"] != "compute":
        is_computed &= judged.has_list
    if rules["empty_list"] != "compute" and not has_gaps:  # with gaps, the first k ranks of a list may be empty
        is_computed &= (judged.lengths > 0) | ~judged.has_list
    return is_computed


def _check_numbers(value: Value, parts: _Parts, is_computed: NDArray[np.bool_], first_user: int) -> None:
    """Raise InputError at the first computed user whose numbers are none of a value."""
    numerators, denominators = parts
    with np.errstate(all="ignore"):
        ratios = numerators / denominators
    low, high = (value.custom.range if value.custom is not None else None) or (-_MOST, _MOST)
    is_finite = (np.abs(numerators) <= _MOST) & (np.abs(denominators) <= _MOST)  # NaN is not
    is_undefined = (numerators == 0) & (denominators == 0)
    is_ratio = (denominators > 0) & (np.abs(ratios) <= _MOST)
    of = f"the function of {value.spelling}"
    for is_right, expected in (
        (is_finite, f"numbers from -2^256 to 2^256 from {of}"),
        (is_ratio | is_undefined, f"denominators above 0 from {of}, or 0 over 0, and ratios up to 2^256"),
        (is_undefined | ((ratios >= low) & (ratios <= high)), f"values from {low:g} to {high:g} (range=) from {of}"),
    ):
        wrong = np.flatnonzero(is_computed & ~is_right)
        if not len(wrong):
            continue
        row = int(wrong[0])
        one, other = float(numerators[row]), float(denominators[row])
        found = repr(one) if other == 1 else f"{one!r} / {other!r}"
        raise input_error("metrics", expected, found, row=first_user + row, count=len(wrong))
