"""Drawn evaluations, compared with the oracle: `oracle.py`, which is written from the definitions alone.

Each case has a number. EXACTK_ORACLE_CASES is how many are evaluated, EXACTK_ORACLE_FIRST the number of the first. A
failure prints its case.
"""

from __future__ import annotations

import math
import os
import warnings

import pytest

import exactk
from oracle import OF_ALL_LISTS, answer, groups
from oracle_cases import Case, draw_case
from oracle_items import RefusedError

CASES = int(os.environ.get("EXACTK_ORACLE_CASES", "10000"))
FIRST_CASE = int(os.environ.get("EXACTK_ORACLE_FIRST", "0"))
CHUNKS = 40


def is_close(actual: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(actual)
    return abs(actual - expected) <= 1e-12 * max(1.0, abs(expected))


def is_rounded(actual: float, expected: float, decimals: int | None) -> bool:
    if decimals is None or math.isnan(expected):
        return is_close(actual, expected)
    return actual == round(actual, decimals) and abs(actual - expected) <= 0.5 * 10**-decimals + 1e-12 * max(
        1.0, abs(expected)
    )


def compare_report(case: Case, report: exactk.Report) -> None:
    keys = report.users.tolist()
    for name, asked in zip(report.metrics, case.asked, strict=True):
        expected = answer(case.users, asked)
        assert is_rounded(report[name], expected.value, asked.rules["decimals"]), (name, report[name], expected)
        assert report.counts["evaluated"][name] == expected.evaluated, (name, expected)
        is_of_users = asked.metric not in OF_ALL_LISTS
        values = dict(zip(keys, report.per_user[name].tolist(), strict=True)) if is_of_users else {}
        assert values.keys() == expected.per_user.keys(), (keys, list(expected.per_user))
        wrong = {
            key: (values[key], number) for key, number in expected.per_user.items() if not is_close(values[key], number)
        }
        assert not wrong, (name, wrong)
        if case.form.has_groups:
            for group, number in groups(case.users, asked).items():
                assert is_rounded(report.by_group[group][name], number, asked.rules["decimals"]), (name, group, number)


def check_case(case: Case) -> None:
    try:
        for asked in case.asked:
            answer(case.users, asked)
    except RefusedError as refusal:
        try:
            case.evaluate(case.users)
        except exactk.InputError:
            return
        raise AssertionError(f"should be refused: {refusal}") from refusal
    report = case.evaluate(case.users)
    compare_report(case, report)
    if case.form.number % 5 == 0:
        merged = exactk.merge([case.evaluate(shard) for shard in case.halves()])
        assert (dict(merged), merged.counts) == (dict(report), report.counts)
    if case.form.number % 10 == 0:
        compare_report(case, case.evaluate(case.users, exactk.reference.evaluate))


def run(seed: int) -> None:
    case = draw_case(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            check_case(case)
        except BaseException as error:
            error.add_note(repr(case))
            raise


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_f41_the_core_agrees_with_the_oracle(chunk: int) -> None:
    for seed in range(FIRST_CASE + chunk, FIRST_CASE + CASES, CHUNKS):
        run(seed)
