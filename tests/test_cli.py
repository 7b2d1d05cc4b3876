from __future__ import annotations

import pytest

import metrik
from metrik._cli import main


def test_metrics_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(metrik.metrics)


def test_metrics_describes_one_by_any_of_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "MAP", "fbeta"]) == 0
    text = capsys.readouterr().out
    for name in ("average_precision", "fbeta"):
        for part in (metrik.metrics[name].formula, metrik.metrics[name].source):
            assert part in text
    assert "beta, 0 to inf, by default 1" in text


@pytest.mark.parametrize("name", metrik.metrics)
def test_metrics_describes_each(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    info = metrik.metrics[name]
    assert main(["metrics", name]) == 0
    text = capsys.readouterr().out
    assert info.summary in text
    assert ("which must be given" in text) == (info.parameter is not None and info.parameter.standard is None)


def test_conventions_lists_all_with_their_differences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conventions"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(metrik.conventions)
    assert lines[2].split(maxsplit=1) == ["capped", "recall_over='min_cutoff_relevant'"]


def test_conventions_says_in_what_two_differ(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conventions", "--diff", "capped", "standard"]) == 0
    header, line = capsys.readouterr().out.splitlines()
    assert header.split() == ["field", "capped", "standard"]
    assert line.split() == ["recall_over", "min_cutoff_relevant", "relevant"]


@pytest.mark.parametrize("arguments", [["metrics", "presicion"], ["conventions", "--diff", "standard", "nobodys"]])
def test_a_wrong_name_is_one_line_and_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.count("\n") == 1
    assert "presicion" in found.err or "nobodys" in found.err
