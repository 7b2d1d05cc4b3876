"""The tables of what libraries say of lists and the catalogue, made from what was recorded of them."""

from __future__ import annotations

import warnings
from typing import Any

import exactk
from exactk._runtime.table import markdown_of_cells
from golden.list_answers import difference, exactk_answer, row_name, split_key
from golden.list_cases import ListCase
from golden.list_record import list_adapter_names, read_list_recording
from golden.record import library_version


def _is_public(metric: str) -> bool:
    return metric in exactk.metrics or metric in exactk.agreement_metrics


def list_differences_table() -> str:
    """Return a row per expected difference: the first input on which it shows."""
    rows = []
    for name in list_adapter_names():
        data = read_list_recording(name)
        for row, reason in data["differs"].items():
            metric = row.partition(" ")[0]
            if _is_public(metric):
                rows.append([metric, data["library"], *_first_difference(name, data, row), reason])
    header = ["metric", "library", "input", "what differs", "the library", "exactk", "why"]
    return markdown_of_cells(header, sorted(rows), left=len(header))


def _first_difference(name: str, data: dict[str, Any], row: str) -> list[str]:
    for plain_case in data["cases"]:
        case = ListCase.from_dict(plain_case)
        for key, output in plain_case["outputs"].items():
            if row_name(key) == row and not isinstance(output, str):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", exactk.EvaluationWarning)
                        ours = exactk_answer(name, case, data, key)
                except exactk.InputError:
                    return [case.name, key.partition(" where ")[0], _number(output[0]), "an error"]
                parts = difference(ours, output, data["tolerance"])
                if parts:
                    where, value, recorded = parts
                    asked = f"{key.partition(' where ')[0]}, {where}"
                    return [case.name, asked, _number(recorded), _number(value)]
    raise AssertionError(row)


def _number(value: float | str) -> str:
    return "NaN" if value in ("nan", "NaN") or value != value else f"{value:.4f}"  # noqa: PLR0124 - NaN


def list_refusals_table() -> str:
    """Return a row per error with which a library refused: the first input of each metric, and what exactk says there."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name in list_adapter_names():
        data = read_list_recording(name)
        for plain_case in data["cases"]:
            for key, output in plain_case["outputs"].items():
                metric, _, _ = split_key(key)
                if isinstance(output, str) and _is_public(metric) and (name, metric) not in rows:
                    case = ListCase.from_dict(plain_case)
                    rows[name, metric] = [metric, data["library"], case.name, key, output, _says(name, case, data, key)]
    header = ["metric", "library", "input", "what was asked", "the library", "exactk"]
    return markdown_of_cells(header, sorted(rows.values()), left=len(header))


def _says(name: str, case: ListCase, data: dict[str, Any], key: str) -> str:
    """Return exactk's value, or that it is an error too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exactk.EvaluationWarning)
            return _number(exactk_answer(name, case, data, key)[0])
    except exactk.InputError:
        return "an error"


def list_calls_table() -> str:
    """Return a row per metric and library: what was called, and on how many values exactk was compared with it."""
    rows = []
    for name in list_adapter_names():
        data = read_list_recording(name)
        for metric, call in data["calls"].items():
            if _is_public(metric.partition("@")[0]):
                rows.append([library_version(data), metric, call])
    return markdown_of_cells(["library", "exactk", "the library"], rows, left=3)
