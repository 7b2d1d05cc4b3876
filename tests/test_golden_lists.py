"""Metrics of lists against what libraries returned: ``tests/golden/lists_*.json`` holds the answers."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

import exactk
from golden.list_answers import ListAnswer, difference, exactk_answer, row_name, split_key
from golden.list_cases import ListCase, list_cases
from golden.list_record import (
    list_adapter_names,
    list_differences,
    load_list_adapter,
    read_list_recording,
    record_lists,
)

LIBRARIES = list_adapter_names()
METRICS = {
    *("list_fill", "user_coverage", "overlap", "rbo", "lip"),
    *("novelty", "surprisal", "arp", "popularity_rank", "aplt", "ild", "serendipity", "unexpectedness"),
    *("coverage", "num_items", "gini", "entropy", "personalization"),
}


def rows(data: dict[str, Any]) -> list[tuple[ListCase, str, list[Any]]]:
    """Return every output that is a number."""
    return [
        (ListCase.from_dict(case), key, output)
        for case in data["cases"]
        for key, output in case["outputs"].items()
        if not isinstance(output, str)
    ]


def differing_rows(
    data: dict[str, Any], answer: Callable[[ListCase, str], ListAnswer], metrics: set[str]
) -> dict[str, str]:
    """Return the first difference of each row."""
    differing: dict[str, str] = {}
    for case, key, output in rows(data):
        metric, _, _ = split_key(key)
        if metric in metrics:
            try:
                pair = difference(answer(case, key), output, data["tolerances"].get(metric, data["tolerance"]))
                text = pair and f"{pair[0]}: {pair[1]}, recorded {pair[2]}"
            except exactk.InputError as error:
                text = f"refused, {error}"
            if text:
                differing.setdefault(row_name(key), f"{case.name}, {key}, {text}")
    return differing


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_the_convention_says_what_the_library_says(name: str, record_property: Any) -> None:
    data = read_list_recording(name)
    record_property("golden", f"{name}: {data['library']} {data['version']}, {len(rows(data))} outputs of lists")
    differing = differing_rows(data, lambda case, key: exactk_answer(name, case, data, key), METRICS)
    assert {row: differing[row] for row in differing if row not in data["differs"]} == {}
    assert {*data["differs"]} <= set(differing), "what is said to differ does not"


@pytest.mark.parametrize("name", ["evidently", "recmetrics", "recommenders", "replay"])
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_unseen_items_are_as_those_outside_the_catalogue_of_train(name: str) -> None:
    """These libraries know the items of train alone; in a larger catalogue, the others are items that nobody had."""
    data = read_list_recording(name)
    metrics = {"novelty", "surprisal", "arp"} & {split_key(key)[0] for _, key, _ in rows(data)}
    larger = data | {"catalogue": "given"}
    differing = differing_rows(data, lambda case, key: exactk_answer(name, case, larger, key), metrics)
    assert set(differing) == {row for row in data["differs"] if row in metrics}


def test_each_of_these_metrics_is_recorded() -> None:
    assert {split_key(key)[0] for name in LIBRARIES for _, key, _ in rows(read_list_recording(name))} == METRICS


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_recorded_cases_are_those_that_are_drawn(name: str) -> None:
    recorded_cases = [ListCase.from_dict(case) for case in read_list_recording(name)["cases"]]
    assert recorded_cases == list_cases(load_list_adapter(name).KNOBS)


@pytest.mark.native  # another library's code is not ours to watch
def test_libraries_that_are_installed_still_say_it() -> None:
    for name in LIBRARIES:
        if find_spec(load_list_adapter(name).MODULE):
            assert list_differences(name, record_lists(name)) == []
