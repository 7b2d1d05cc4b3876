"""What other libraries returned for inputs that have every edge, recorded by hand: EXACTK_DATA names the folder."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

RECORDING = Path(os.environ.get("EXACTK_DATA", "/nonexistent")) / "measures_golden.json"
needs_recording = pytest.mark.skipif(
    not RECORDING.is_file(), reason="set EXACTK_DATA to the folder with recorded measures"
)


@cache
def recorded(name: str) -> Any:
    """Return what was recorded of a library, or under another name."""
    return json.loads(RECORDING.read_text(encoding="utf-8"))[name]
