"""What each metric reads of a convention and of `exactk.Items`, as Markdown; and the choices that it refuses of any input."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

import exactk
from exactk._plan.fields import FIELDS
from exactk._plan.metrics import evaluation_metrics, ignored_fields
from exactk._runtime.table import markdown_of_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

_NUMBERS = {
    "min_grade": ("2", "any"),
    "gain_table": ("[0,0.5,2,3]",),
    "gain_range": ("[0,3]", "[0,1]"),
    "discount_base": ("10",),
    "discount_power": ("0.5",),
    "discount_persistence": ("0.5",),
    "discount_table": ("[1,0.5]",),
    "decimals": ("1",),
}
_TOGETHER = {
    "gain=table": "gain_table=[0,0.5,2,3]",
    "gain=exp2_shifted": "min_grade=1",
    "gain=scaled": "gain_range=[0,3]",
    "discount=table": "discount_table=[1,0.5]",
    **dict.fromkeys(("item_group_value=restricted", "item_group_value=share"), "item_group=x"),
}

_ARGUMENTS: dict[str, Callable[[Any], bool]] = {
    "catalogue": lambda info: info.walks_list or info.of_collection,
    "train": lambda info: info.reads_popularity or info.reads_history,
    "popularity, train_users": lambda info: info.reads_popularity,
    "features": lambda info: info.reads_features,
    "item_groups": lambda info: info.reads_groups,
    "values": lambda info: "weight" in info.own_fields,
}


def changes_of(field: str) -> Iterator[list[str]]:
    """Yield each choice of a field as arguments of a metric, with what it needs beside it."""
    for choice in FIELDS[field].choices or _NUMBERS[field]:
        change, requires = f"{field}={choice}", FIELDS[field].requires
        others = [_TOGETHER[change]] if change in _TOGETHER else []
        if field in _NUMBERS and requires is not None:
            others.append(f"{requires.field}={requires.choices[0]}")
        yield [change, *others]


def spelled(metric: str, cutoff: int | None = None, changes: Collection[str] = ()) -> str:
    """Return the metric at a cutoff, with its required parameter and these arguments."""
    parameter = evaluation_metrics[metric].parameter
    required = (
        [f"{parameter.name}={min(parameter.high * 0.6, 40):g}"] if parameter and parameter.standard is None else []
    )
    arguments = [*required, *changes]
    return metric + ("" if cutoff is None else f"@{cutoff}") + (f"({','.join(arguments)})" if arguments else "")


def does_read(metric: str, field: str) -> bool:
    """Return whether a choice of the field may change a value of the metric."""
    return field not in ignored_fields(evaluation_metrics[metric])


@lru_cache(maxsize=1)
def refused_choices() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return, by field and choice, the metrics that refuse it although nothing is wrong with the inputs."""
    refused: dict[str, dict[str, tuple[str, ...]]] = {}
    for field in FIELDS:
        asked = [name for name in evaluation_metrics if does_read(name, field) or field in _REFUSED_WHERE_NOT_READ]
        for changes in changes_of(field):
            if names := tuple(name for name in asked if _refuses(name, changes)):
                refused.setdefault(field, {})[changes[0].partition("=")[2]] = names
    return refused


_REFUSED_WHERE_NOT_READ = ("weight", "average")


def _refuses(metric: str, changes: list[str]) -> bool:
    scores = np.array([[0.9, 0.7, 0.5, 0.3], [0.2, 0.4, 0.6, 0.8]])
    graph = [[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    info = evaluation_metrics[metric]
    features: Any = graph if "distance" in info.own_fields else [["a"], ["a", "b"], ["b"], ["c"]]
    groups, train = ["x", "y", "x", "y"], [[0, 1], [2, 3]]
    items = exactk.Items(4, train=train, features=features, item_groups=groups, values=[1.0] * 4)
    truth = [{0: 1.0, 1: 1.0 if info.gains_to_one else 2.0}, {3: 1.0 if info.gains_to_one else 3.0}]
    base: Any = {"base_predictions": scores} if info.reads_base else {}
    text = spelled(metric, None if info.pairwise else 2, changes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        try:
            exactk.evaluate(truth, scores, text, items=items, **base)
        except exactk.InputError:
            return True
    return False


def fields() -> str:
    """Return a row for each field of a convention."""
    rows = []
    for field in FIELDS:
        read = [name for name in evaluation_metrics if does_read(name, field)]
        choices: dict[tuple[str, ...], list[str]] = {}
        for choice, names in refused_choices().get(field, {}).items():
            choices.setdefault(names, []).append(choice)
        texts = [f"{', '.join(some)}: {_names(names)}" for names, some in choices.items()]
        rows.append([field, *_both(read), "; ".join(texts)])
    return markdown_of_cells(["field", "read by", "not read by", "refused by"], rows, left=4)


def arguments() -> str:
    """Return a row for each argument of `exactk.Items`."""
    rows = [
        [name, _names([metric for metric, info in evaluation_metrics.items() if reads(info)])]
        for name, reads in _ARGUMENTS.items()
    ]
    return markdown_of_cells(["argument", "read by"], rows, left=2)


def _both(read: list[str]) -> tuple[str, str]:
    """Return who reads a field and who does not, the longer list in a word."""
    others = [name for name in evaluation_metrics if name not in read]
    if not others or not read:
        return ("all", "none") if read else ("none", "all")
    return (_names(read), "the others") if len(read) <= len(others) else ("the others", _names(others))


def _names(names: Collection[str]) -> str:
    others = [name for name in evaluation_metrics if name not in names]
    return (
        f"all but {', '.join(others)}" if 0 < len(others) < len(names) // 2 else ", ".join(names) if others else "all"
    )
