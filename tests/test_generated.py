"""What is committed is what the code says today; `make generate` writes it anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from generate import OUTPUTS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: path.name)
def test_generated(path: Path) -> None:
    assert OUTPUTS[path]() == path.read_text(encoding="utf-8")
