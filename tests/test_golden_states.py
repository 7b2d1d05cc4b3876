"""The same bytes of states on every platform, by every compiler, on every Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import exactk
from exactk import _core
from golden_states import golden_states

GOLDEN = Path(__file__).parent / "golden" / "states.json"


@pytest.mark.parametrize("isa", _core.isas())
def test_f31_states_have_the_golden_bytes(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXACTK_ISA", isa)
    assert json.loads(golden_states()) == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_golden_states_are_read() -> None:
    for name, text in json.loads(GOLDEN.read_text(encoding="utf-8")).items():
        assert exactk.State.from_bytes(bytes.fromhex(text)).to_bytes().hex() == text, name
