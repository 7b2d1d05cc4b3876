"""The command line beside what trec_eval 9.0.8 and 10.0 print."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from exactk._cli import main
from exactk._plan.trec_measures import TREC_MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(os.environ.get("EXACTK_DATA", "/nonexistent")) / "trec_eval"
pytestmark = [
    pytest.mark.skipif(not DATA.is_dir(), reason="set EXACTK_DATA to the folder with recorded outputs of trec_eval"),
    pytest.mark.filterwarnings("ignore:.*queries have ranks that contradict"),  # those of the recorded runs are drawn
]

CASES = [f"case{number:02}" for number in range(10)]
VERSIONS = {"9.0.8": "trec_eval_9", "10.0": "trec_eval"}
REFUSED = ("case05", "10.0")  # a query that the qrels lack
MISSING = {measure.name for measure in TREC_MEASURES if measure.metric is None}


def is_ours(measure: str) -> bool:
    """Return whether we have a measure, by its name with or without a cutoff or level."""
    return measure not in MISSING and measure.rpartition("_")[0] not in MISSING


def recorded_lines(case: str, version: str, options: str) -> list[tuple[str, ...]]:
    """Return the recorded lines of the measures that we have: name, query and value."""
    text = (DATA / f"{case}.{version}.{options}.out").read_text(encoding="utf-8")
    return [fields for line in text.splitlines() if is_ours((fields := tuple(line.split("\t")))[0].strip())]


def truncated_run(case: str, version: str, depth: int, folder: Path) -> Path:
    """Return the run with the best of each query alone, as -M takes it: ties by the highest id."""
    score_type = np.float32 if version == "9.0.8" else np.float64
    rows: dict[str, list[tuple[Any, str, str]]] = {}
    for line in (DATA / f"{case}.run").read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        rows.setdefault(query, []).append((score_type(score), document, line))
    lines = [line for ranked in rows.values() for _, _, line in sorted(ranked, reverse=True)[:depth]]
    path = folder / f"{case}.run"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class Recording(NamedTuple):
    """Options of trec_eval, and what is the same here."""

    arguments: Sequence[str] = ()
    convention: str = ""  # what its name ends in
    depth: int | None = None  # of the lists


RECORDINGS = {
    "q": Recording(["-q"]),
    "qc": Recording(["-q"], "_complete"),
    "l2": Recording(["--set", "min_grade=2"]),
    "M5": Recording(depth=5),
}


RECORDED = [
    f"{case} {version} {name}"
    for case in CASES
    for version in VERSIONS
    for name in RECORDINGS
    if not DATA.is_dir() or (DATA / f"{case}.{version}.{name}.out").exists()
]


@pytest.mark.parametrize("recorded", RECORDED)
def test_f71_the_text_is_that_of_trec_eval(recorded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case, version, name = recorded.split()
    recording = RECORDINGS[name]
    run = DATA / f"{case}.run"
    if recording.depth is not None:
        run = truncated_run(case, version, recording.depth, tmp_path)
    convention = VERSIONS[version] + recording.convention
    options = ["--format", "trec", "-m", "all_trec", "--convention", convention, *recording.arguments]
    code = main(["evaluate", str(DATA / f"{case}.qrels"), str(run), *options])
    printed = capsys.readouterr()
    if (case, version) == REFUSED:  # trec_eval's message names another query
        assert (code, printed.out) == (2, "")
        assert "expected queries of the qrels, as in trec_eval 10, found '2'" in printed.err
        return
    assert code == 0
    assert "trec_eval prints measures that exactk does not support: iprec_at_recall, relstring" in printed.err
    lines = [tuple(line.split("\t")) for line in printed.out.splitlines()]
    assert lines == recorded_lines(case, version, name)
