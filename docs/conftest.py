"""The pages are doctests. Examples of torch run where torch is installed: it is too large for the tests to ask for."""

from __future__ import annotations

import doctest
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave out the examples that speak of torch where it is not installed, and only those."""
    page: doctest.DocTest | None = getattr(item, "dtest", None)
    if page is None or find_spec("torch"):
        return
    for example in page.examples:
        if "torch" in example.source:
            example.options[doctest.SKIP] = True
