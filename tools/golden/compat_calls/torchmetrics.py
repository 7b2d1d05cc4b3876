"""Calls of the retrieval classes of torchmetrics."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "torchmetrics"
MODULE = "torchmetrics.retrieval"
REQUIREMENTS = ("torchmetrics==1.9.0", "torch==2.13.0")
TOLERANCE = 1e-6  # torchmetrics adds in float32
IMPORTS = ("from torchmetrics.retrieval import RetrievalMAP", "from exactk.compat.torchmetrics import RetrievalMAP")

_CLASSES: tuple[tuple[str, tuple[dict[str, Any], ...]], ...] = (
    ("RetrievalMAP", ({}, {"top_k": 1}, {"top_k": 3}, {"top_k": 30})),
    ("RetrievalMRR", ({}, {"top_k": 1}, {"top_k": 3}, {"top_k": 30})),
    ("RetrievalPrecision", ({}, {"top_k": 1}, {"top_k": 4}, {"top_k": 30}, {"top_k": 30, "adaptive_k": True})),
    ("RetrievalRecall", ({}, {"top_k": 1}, {"top_k": 4}, {"top_k": 30})),
    ("RetrievalHitRate", ({}, {"top_k": 1}, {"top_k": 4})),
    ("RetrievalFallOut", ({}, {"top_k": 1}, {"top_k": 4}, {"top_k": 30})),
    ("RetrievalRPrecision", ({},)),
    ("RetrievalNormalizedDCG", ({}, {"top_k": 1}, {"top_k": 3}, {"top_k": 30})),
    ("RetrievalAUROC", ({}, {"top_k": 3}, {"top_k": 30}, {"max_fpr": 0.5})),
    (
        "RetrievalPrecisionRecallCurve",
        ({}, {"max_k": 1}, {"max_k": 4}, {"max_k": 30}, {"max_k": 9, "adaptive_k": True}),
    ),
    ("RetrievalRecallAtFixedPrecision", ({}, {"min_precision": 0.4}, {"min_precision": 0.9, "max_k": 3})),
)
_OPTIONS: tuple[dict[str, Any], ...] = (
    *({}, {}, {}, {"empty_target_action": "pos"}, {"empty_target_action": "skip"}, {"empty_target_action": "error"}),
    *({"empty_target_action": "neg"}, {"ignore_index": 0}, {"ignore_index": -1}, {"ignore_index": 1}),
    *({"aggregation": "median"}, {"aggregation": "min"}, {"aggregation": "max"}, {"aggregation": "range"}),
)
_PLAIN: dict[str, Any] = {"preds": [0.2, 0.3, 0.5], "target": [0, 1, 0], "indexes": [0, 0, 0]}
_FAULTY: tuple[dict[str, Any], ...] = (
    {"preds": [0.2, 0.3]},
    {"target": [0, 1]},
    {"indexes": [0, 0]},
    {"indexes": None},
    {"indexes": [0.0, 0.0, 0.0]},
    {"indexes": [-5, 7, -5]},
    {"preds": [1, 2, 3]},
    {"target": [0, 2, 1]},
    {"target": [0, -1, 1]},
    {"target": [0.5, 0.25, 1.0]},
    {"target": [0.0, 1.0, 0.0]},
    {"target": [False, True, False]},
    {"preds": [], "target": [], "indexes": []},
    {"preds": [[0.2, 0.3, 0.5]], "target": [[0, 1, 0]], "indexes": [[0, 0, 1]]},
    {"preds": [float("inf"), 0.3, float("-inf")]},
    {"preds": [float("nan"), 0.3, 0.1]},
    {"preds": [0.1, 0.3, float("nan")]},
    {"preds": [0.0, -0.0, 0.0]},
    {"preds": [-1.0, -2.0, -3.0]},
    {"target": [1, 1, 1]},
    {"target": [0, 0, 0]},
    {"options": {"ignore_index": 0}},
    {"options": {"ignore_index": 0, "empty_target_action": "error"}},
    {"updates": 0},
    {"options": {"top_k": 0}},
    {"options": {"top_k": -1}},
    {"options": {"top_k": 1.5}},
    {"options": {"top_k": "1"}},
    {"options": {"empty_target_action": "foo"}},
    {"options": {"ignore_index": "0"}},
    {"options": {"aggregation": "sum"}},
    {"options": {"aggregation": None}},
    {"options": {"adaptive_k": 1}},
    {"options": {"max_k": 0}},
    {"options": {"min_precision": 2.0}},
    {"options": {"max_fpr": 0.0}},
    {"options": {"max_fpr": 1}},
    {"options": {"foo": 1}},
)


def draw() -> list[dict[str, Any]]:
    """Return drawn metrics of drawn updates, those with ties and graded targets where they have them, and faulty ones."""
    random_number = random.Random(1)  # noqa: S311 - no secrets
    classes = [(name, options) for name, all_options in _CLASSES for options in all_options]
    calls = [_metric(random_number, *classes[number % len(classes)]) for number in range(10 * len(classes))]
    calls += [
        {"class": name} | _PLAIN | {"options": {}} | fault
        for number, fault in enumerate(_FAULTY)
        for name in ("RetrievalMAP", "RetrievalNormalizedDCG", _CLASSES[number % len(_CLASSES)][0])
    ]
    return [*calls, {"names": True}]


def _metric(draw_from: random.Random, name: str, options: dict[str, Any]) -> dict[str, Any]:
    queries, rows = draw_from.choice([1, 3, 9]), draw_from.choice([5, 20, 60])
    digits, shift = draw_from.choice([(1, 0), (1, 0.3), (6, 0.0), (6, 0.5), (6, 4.0)])
    binary: list[list[float]] = [[0, 1], [0, 0, 0, 1]]
    graded: list[list[float]] = [[0, 1, 2, 3], [0.5, 0.25, 0.0]]
    grades = draw_from.choice([*binary, *graded] if "DCG" in name else binary)
    return {
        "class": name,
        "options": {**options, **_options(draw_from, name)},
        "preds": [round(draw_from.random() * (1 + shift) - shift, digits) for _ in range(rows)],
        "target": [draw_from.choice(grades) for _ in range(rows)],
        "indexes": [draw_from.randrange(queries) for _ in range(rows)],
        "updates": draw_from.choice([1, 1, 2, 3]),
        "use": draw_from.choice(["compute", "compute", "forward", "reset", "copy", "float targets"]),
    }


def _options(draw_from: random.Random, name: str) -> dict[str, Any]:
    """Return options; recall at a fixed precision has no aggregation of its own."""
    options = draw_from.choice(_OPTIONS)
    return {} if "aggregation" in options and name.endswith("FixedPrecision") else dict(options)


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a metric, update it, and return what it computes."""
    if "names" in call:
        return [name for name in sorted(_names(module)) if name.startswith("Retrieval")]
    options = dict(call["options"])
    if options.get("aggregation") == "range":
        options["aggregation"] = lambda values, dim: (
            values.amax(dim) - values.amin(dim) if dim is not None else values.max() - values.min()
        )
    metric = getattr(module, call["class"])(**options)
    return _used(metric, call, _tensors(call))


def _names(module: Any) -> list[str]:
    return list(getattr(module, "CLASSES", None) or module.__all__)


def _tensors(call: dict[str, Any]) -> list[Any]:
    import torch

    tensors: list[Any] = [
        None if call[name] is None else torch.tensor(call[name]) for name in ("preds", "target", "indexes")
    ]
    if call.get("use") == "float targets":
        tensors[1] = tensors[1].float()
    return tensors


def _used(metric: Any, call: dict[str, Any], tensors: list[Any]) -> Any:
    import copy
    import pickle

    count, use = call.get("updates", 1), call.get("use", "compute")
    if use == "reset":
        metric.update(*tensors)
        metric.reset()
    returned = []
    for part in range(count):
        block = [tensor if tensor is None or count == 1 else tensor[part::count] for tensor in tensors]
        returned.append(metric(*block) if use == "forward" else metric.update(*block))
    if use == "copy":
        metric = pickle.loads(pickle.dumps(copy.deepcopy(metric)))  # noqa: S301 - our own
    return [_plain(returned), _plain(metric.compute())]


def _plain(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return [_plain(one) for one in result]
    return None if result is None else [str(result.dtype), list(result.shape), result.tolist()]


def _updated(
    name: str, options: dict[str, Any], queries: int, depth: int, digits: int = 17, *, is_ordered: bool = True
) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        import torch

        torch.manual_seed(1)
        metric = getattr(module, name)(**options)
        preds = torch.rand(queries * depth)
        if digits < 17:
            preds = preds.round(decimals=digits)
        indexes = torch.arange(queries).repeat_interleave(depth)
        if not is_ordered:
            indexes = indexes[torch.randperm(len(indexes))]
        target = torch.rand(queries * depth) < 0.1
        metric.update(preds, target.long(), indexes)

        def compute() -> object:
            metric._computed = None  # noqa: SLF001 - so that it computes again
            return metric.compute()

        return compute

    return prepare


TYPICAL = {
    "RetrievalMAP, 3,000 queries x 50": _updated("RetrievalMAP", {}, 3000, 50),
    "RetrievalNormalizedDCG(top_k=10), 3,000 queries x 50": _updated("RetrievalNormalizedDCG", {"top_k": 10}, 3000, 50),
    "RetrievalRecall(top_k=10), 3,000 queries x 50": _updated("RetrievalRecall", {"top_k": 10}, 3000, 50),
    "RetrievalAUROC, 3,000 queries x 50": _updated("RetrievalAUROC", {}, 3000, 50),
    "RetrievalPrecisionRecallCurve(max_k=10), 3,000 queries x 50": _updated(
        "RetrievalPrecisionRecallCurve", {"max_k": 10}, 3000, 50
    ),
    "RetrievalMAP, 3,000 queries x 50 in no order": _updated("RetrievalMAP", {}, 3000, 50, is_ordered=False),
    "RetrievalNormalizedDCG(top_k=10), 3,000 queries x 50, scores of one decimal": _updated(
        "RetrievalNormalizedDCG", {"top_k": 10}, 3000, 50, digits=1
    ),
    "RetrievalMAP, 3,000 queries x 50, scores of two decimals": _updated("RetrievalMAP", {}, 3000, 50, digits=2),
    "RetrievalMAP, 1 query x 50": _updated("RetrievalMAP", {}, 1, 50),
    "RetrievalMRR, 300 queries x 1,000": _updated("RetrievalMRR", {}, 300, 1000),
}
