"""The fuzz target in the ordinary suite: its committed cases, among them past findings, and some bytes at random."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import fuzz
import junk
from core_results import plain_result
from strategies import examples


def test_committed_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most are calls that the core takes, so that what is checked of the outcomes is not that of refused arguments.

    Metrics and fields are drawn from tables, so that a new one changes what the bytes of some cases ask for.
    """
    outcomes: list[Any] = []

    def plain(result: Any) -> Any:
        outcomes.append(plain_result(result))
        return outcomes[-1]

    monkeypatch.setattr(fuzz, "plain_result", plain)
    for name, data in fuzz.corpus().items():
        try:
            fuzz.check(data)
        except BaseException as error:
            error.add_note(name)
            raise
    assert len(outcomes) > 0.9 * len(fuzz.corpus())


@settings(max_examples=examples(500))
@given(st.binary(max_size=120))
def test_any_bytes(data: bytes) -> None:
    fuzz.check(data)


def test_a_finding_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The unguided driver stops at what does not hold, and says which bytes it was."""
    assert fuzz.run_unguided(0.1, 1, tmp_path) > 0

    def check_size(data: bytes) -> None:
        assert len(data) < 50

    monkeypatch.setattr(fuzz, "check", check_size)
    with pytest.raises(AssertionError):
        fuzz.run_unguided(10, 1, tmp_path)
    finding = (tmp_path / "running").read_bytes()
    assert len(finding) >= 50
    assert finding.hex() in capsys.readouterr().err


def test_f45_junk_is_thrown_at_everything_that_the_extension_has(tmp_path: Path) -> None:
    """Each function and method is called with arguments that it takes, and with others; none ends the process."""
    assert junk.SOUND_ARGUMENTS.keys() == junk.callables().keys()
    of_another_kind = {"ArrowTable", "ArrowColumn.dictionaries", "Vocabulary.as_packed"}  # of a stream, of strings
    for name in junk.SOUND_ARGUMENTS.keys() - junk.WITHOUT_CONSTRUCTOR - of_another_kind:
        junk.sound_call(name)
    figures = junk.run(3000, 1, tmp_path)
    assert figures.keys() == {*junk.SOUND_ARGUMENTS, "results", "refusals"}
    assert figures["results"] > 100
    assert figures["results"] + figures["refusals"] == 3000
