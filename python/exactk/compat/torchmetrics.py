"""The retrieval metrics of torchmetrics 1.9.0, several times as fast: only their method ``compute`` is replaced.

The module plugs into torchmetrics, whose classes these derive from, so that states, `forward`, `reset`, several processes,
``MetricCollection`` and Lightning work as they do. Where torchmetrics is missing, the first class that is asked for says
what to install::

    from exactk.compat.torchmetrics import RetrievalMAP, RetrievalNormalizedDCG

    metric = RetrievalNormalizedDCG(top_k=10)
    metric.update(preds, target, indexes)
    metric.compute()

All classes of ``torchmetrics.retrieval`` are here: `RetrievalAUROC`, `RetrievalFallOut`, `RetrievalHitRate`, `RetrievalMAP`,
`RetrievalMRR`, `RetrievalNormalizedDCG`, `RetrievalPrecision`, `RetrievalPrecisionRecallCurve`, `RetrievalRPrecision`,
`RetrievalRecall` and `RetrievalRecallAtFixedPrecision`.
`differences` says what is not equal; the rest is as the documentation of torchmetrics says.
`exactk.torch.RetrievalMetrics` is another kind of metric, which keeps sums in the place of scores.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

CLASSES = (
    "RetrievalAUROC",
    "RetrievalFallOut",
    "RetrievalHitRate",
    "RetrievalMAP",
    "RetrievalMRR",
    "RetrievalNormalizedDCG",
    "RetrievalPrecision",
    "RetrievalPrecisionRecallCurve",
    "RetrievalRPrecision",
    "RetrievalRecall",
    "RetrievalRecallAtFixedPrecision",
)
"""The names of the classes."""

__all__ = [*CLASSES, "differences"]  # noqa: PLE0604 - strings


def differences() -> tuple[str, ...]:
    """Return what is not equal to torchmetrics, in sentences."""
    return (
        "Values may differ by 1e-6: torchmetrics adds in float32, and here values are rounded to float32 once.",
        "Queries whose value depends on the order of equal scores, or with NaN, are computed by torchmetrics, as slowly.",
        "RetrievalAUROC with max_fpr, and targets other than 0 and 1 where they are to be binary, are computed by torchmetrics.",
    )


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class of torchmetrics
    """Return a class; torchmetrics is imported for the first."""
    if name not in CLASSES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module("exactk.compat._torchmetrics_classes"), name)


def __dir__() -> list[str]:
    """Return the public names, with those of classes."""
    return sorted(__all__)
