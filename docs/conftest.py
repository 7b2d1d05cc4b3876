"""The pages are doctests. Examples of torch run where torch is installed: it is too large for the tests to ask for.

So do those of the libraries that train by it, of boosted trees, which `make engines` installs, and of experiment
trackers, which `make notebook` installs.
"""

from __future__ import annotations

import doctest
import os
from importlib.util import find_spec

import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")

LIBRARIES = {
    "sentence": ["sentence_transformers"],
    "torch": ["torch"],
    "torchmetric": ["torch", "torchmetrics"],
    "lightning": ["torch", "lightning"],
    "keras": ["torch", "keras"],
    "mlflow": ["mlflow"],
    "wandb": ["wandb"],
    "lgbm": ["lightgbm"],
    "xgb": ["xgboost"],
    "catboost": ["catboost"],
}
MISSING = [name for name, needed in LIBRARIES.items() if not all(map(find_spec, needed))]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave out the examples that speak of a library that is not installed, and only those."""
    page: doctest.DocTest | None = getattr(item, "dtest", None)
    if page is None:
        return
    for library in {one for needed in LIBRARIES.values() for one in needed}:  # whose warnings are no fault of the page
        item.add_marker(pytest.mark.filterwarnings(f"ignore:::{library}"))
    for example in page.examples:
        if any(name in example.source.lower() for name in MISSING):
            example.options[doctest.SKIP] = True
