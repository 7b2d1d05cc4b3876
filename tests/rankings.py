"""Rankings from any container, as the tests need them."""

from __future__ import annotations

from typing import Any

import exactk


def rankings_of(value: Any, **columns: Any) -> exactk.Rankings:
    """Return predictions that are lists of ids as rankings."""
    rankings = exactk.as_predictions(value, **columns)
    assert isinstance(rankings, exactk.Rankings)
    return rankings
