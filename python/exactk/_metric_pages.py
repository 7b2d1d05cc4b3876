"""What ``help``, notebooks and the command line show of a metric; the reference has the value of its example."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from exactk._plan.fields import FIELDS
from exactk._plan.metrics import AGREEMENT_FIELDS, bounds_text, ignored_fields, lists_of, path_of
from exactk._plan.values import range_text
from exactk._runtime.table import Table, html_of_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from exactk._plan.metrics import MetricInfo
    from exactk._report.report import Report

_SYMBOLS = {
    r"\bh\b": "h is the number of hits among the first k items, h(i) among the first i",
    r"\bT\b": "T is the set of relevant items",
    r"\bL\b": "L is the list",
    r"\bA\b": "A and B are the first k items of the two lists",
    r"\bD_P\b": "D_P and D_R are the divisors of precision and recall, k and |T|",
    r"\bDCG\b": "DCG is the sum over i <= k of gain(i) / log2(i + 1)",
    r"\bL - B": "B is the list of base_predictions, down to the same cutoff",
    r"\bp\(i": "p(i) is the number of users of train who have the item",
    r"\bU\b": "U is the number of users of train",
    r"\bd\(i, j": "d(i, j) is the distance of two items",
    r"\bd\(i, history": "d(i, history) is the distance of the item from the nearest item that the user has in train",
    r"\bp\(g": "p(g) and q(g) are the shares of the tag in what the user has in train and, by the weights 1 / log2(i + 1), in the list",
    r"\bgain": "the gain of a relevant item is its grade, that of others 0",
}
"""What the letters of a formula mean, where it has them."""

_TRUTH = [{1: 3.0, 4: 1.0}, {21: 2.0, 3: 0.0}]
_PREDICTIONS = [[1, 2, 4], [2, 3, 21]]
_OTHERS = [[2, 1, 3], [2, 21, 3]]
_TRAIN = [[1, 2], [1, 3, 4], [1, 21]]
_HISTORIES = [[2, 3], [1, 4]]  # of the same users
_GROUPS = {1: "a", 2: "a", 3: "b", 4: "b", 21: "b"}
_VECTORS = {1: [1.0, 0.0], 2: [0.6, 0.8], 3: [0.0, 1.0], 4: [1.0, 0.0], 21: [0.0, 1.0]}
_TAGS = {1: ["drama"], 2: ["drama", "war"], 3: ["war"], 4: ["drama"], 21: ["war"]}
_REQUIRED = 100  # at most, the example's parameter for metrics without a default


def documentation(metric: MetricInfo) -> str:
    """Return the docstring of a metric."""
    function = "agreement" if metric.compares_lists else "evaluate"
    meanings = [meaning for letters, meaning in _SYMBOLS.items() if re.search(letters, metric.formula)]
    where = f", where {'; '.join(meanings)}" if meanings else ""
    paragraphs = [
        _signature(metric),
        f"{metric.summary[0].upper()}{metric.summary[1:]}.",
        f"Formula under the standard convention: {metric.formula}{where}.",
        *(f"{name[0].upper()}{name[1:]}: {text}." for name, text in _facts(metric).items() if name != "formula"),
        f"{_way_to_string(metric)} A value has the options of `exactk.{function}`, but no groups.",
    ]
    text = "\n\n".join(textwrap.fill(one, 120, break_on_hyphens=False) for one in paragraphs)
    return "\n".join([text, "", "Examples", "--------", *_example(metric), ""])


def text_page(metric: MetricInfo) -> str:
    """Return what a terminal shows of a metric: a line per fact."""
    rows = [(metric.name, metric.summary), *_facts(metric).items()]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{width}}  {text}" for name, text in rows)


def html_page(metric: MetricInfo) -> str:
    """Return what a notebook shows of a metric."""
    header, facts = [metric.name, metric.summary], list(_facts(metric).items())
    around = {"caption": _signature(metric), "notes": _example(metric), "longest": 1000}
    return html_of_tables([Table.of_rows(header, facts, 2, **around)])


def _facts(metric: MetricInfo) -> dict[str, str]:
    """Return what is known of the metric, under the standard convention where that matters."""
    ignored, own_first = ignored_fields(metric), dict.fromkeys([*metric.own_fields, *FIELDS])
    if metric.compares_lists:
        ignored |= FIELDS.keys() - set(AGREEMENT_FIELDS)
    bounds = metric.parameter
    facts = {
        "formula": metric.formula,
        "range": range_text(metric),
        "better": metric.direction,
        "also": ", ".join(metric.aliases),
        "parameter": "" if bounds is None else f"{bounds.name}, {bounds_text(bounds)}",
        "convention fields": ", ".join(name for name in own_first if name not in ignored),
        "source": metric.source,
    }
    return {name: text for name, text in facts.items() if text}


def _signature(metric: MetricInfo) -> str:
    return f"{metric.name}({lists_of(metric)}, k=None, **options) -> float"


def _way_to_string(metric: MetricInfo) -> str:
    """Return the sentence about the metric string, at a cutoff if there may be one, and about the parameter."""
    path = f"{path_of(metric)}{_required_setting(metric)}"
    if metric.pairwise:
        of_parameter = (
            ""
            if metric.parameter is None
            else f", and ``{path}.with_({metric.parameter.name}=...)`` sets the parameter"
        )
        return f'``"{metric.name}"`` is the metric string, which has no cutoff{of_parameter}.'
    if metric.parameter is None or metric.parameter.standard is None:
        return f"``{path} @ 10`` is the metric string."
    return (
        f"``{path} @ 10`` is the metric string, and ``{path}.with_({metric.parameter.name}=...)`` sets the parameter."
    )


def _required_setting(metric: MetricInfo) -> str:
    """Return the example's setting of a parameter without a default, or of gains up to 1; of other metrics none."""
    if metric.gains_to_one:
        return ".with_(gain='scaled', gain_range=[0, 3])"
    if metric.parameter is None or metric.parameter.standard is not None:
        return ""
    return f".with_({metric.parameter.name}={min(_REQUIRED, metric.parameter.high / 2):g})"


def _example(metric: MetricInfo) -> list[str]:
    """Return the lines of an example, and its value by the reference."""
    from exactk import reference
    from exactk._inputs.items import Items

    lists: dict[str, Any] = {"truth": _TRUTH, "predictions": _PREDICTIONS}
    if metric.compares_lists:
        lists = {"one": _PREDICTIONS, "other": _OTHERS}
    options: dict[str, Any] = {"base_predictions": _OTHERS} if metric.reads_base else {}
    of_items = _items_of(metric) if metric.walks_list else {}
    lines = [f"{name} = {value!r}" for name, value in {**lists, **options, **of_items}.items()]
    if of_items:
        options["items"] = Items(**of_items)
        lines.append(f"items = exactk.Items({', '.join(f'{name}={name}' for name in of_items)})")
    k = None if metric.pairwise else 2 if metric.reads_beyond_cutoff else 3
    needs = _required_setting(metric)
    evaluate: Callable[..., Report] = reference.agreement if metric.compares_lists else reference.evaluate
    settings = needs.removeprefix(".with_").replace("'", "")
    string = f"{metric.name}{f'@{k}' if k else ''}{settings}"
    (value,) = evaluate(*lists.values(), string, **options).values()
    passed = ", ".join([*lists, *([f"k={k}"] if k else []), *(f"{name}={name}" for name in options)])
    code = ["import exactk", *lines, f"{path_of(metric)}{needs}({passed})"]
    return [*(f">>> {line}" for line in code), repr(value)]


def _items_of(metric: MetricInfo) -> dict[str, Any]:
    """Return the arguments of the example's `exactk.Items`."""
    train = _HISTORIES if metric.reads_history else _TRAIN
    if metric.reads_groups:
        return {"catalogue": list(_GROUPS), "train": train, "item_groups": _GROUPS}
    if metric.reads_features:
        features: dict[int, Any] = _VECTORS if "distance" in metric.own_fields else _TAGS
        return {"catalogue": list(features), **({"train": train} if metric.reads_history else {}), "features": features}
    return {"train": train}
