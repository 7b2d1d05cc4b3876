"""A warning is worth reading: once per line of the caller and cause, and only where there is something to do."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import exactk
from exactk._cli import main

if TYPE_CHECKING:
    from pathlib import Path

TRUTH = pd.DataFrame({"user": list("aabb"), "item": [1, 2, 1, 2], "rating": [1.0, 5.0, 3.0, 2.0]})
RUN = pd.DataFrame({"user": list("aabb"), "item": [1, 2, 1, 2], "score": [1.0, 2.0, 3.0, 4.0], "score_2": 1.0})
SYSTEMS = {"one": RUN, "two": RUN.assign(score=[2.0, 1.0, 3.0, 4.0]), "three": RUN}

LOOPS = {
    "evaluate": "for run in systems.values():\n    exactk.evaluate(truth, run, 'recall@1')",
    "files": "for name in systems:\n    exactk.evaluate(folder / 'truth.csv', folder / f'{name}.csv', 'recall@1')",
    "compare": "for _ in range(3):\n    exactk.compare(truth, systems, 'recall@1')",
    "as_predictions": "for run in systems.values():\n    exactk.as_predictions(run)\n    exactk.evaluate(truth, [], 'mrr') if 0 else 0",
    "updates": "e = exactk.Evaluator('recall@1')\nfor user in 'ab':\n    e.update(truth[truth.user == user], systems['one'][truth.user == user])\n"
    "e.compute()",
    "batches": "for run in systems.values():\n"
    "    exactk.evaluate(truth, exactk.Batches(lambda: [run[:2], run[2:]]), 'recall@1')",
    "other filters": "for run in systems.values():\n    warnings.catch_warnings().__enter__() if False else None\n"
    "    with warnings.catch_warnings():\n        pass\n    exactk.evaluate(truth, run, 'recall@1')",
}
"""Scripts that warn of the same columns again and again."""


@pytest.mark.native
@pytest.mark.parametrize("loop", LOOPS)
def test_f86_a_loop_over_systems_warns_once_of_each_cause(loop: str, tmp_path: Path) -> None:
    """In a process of its own, as pytest changes the filters."""
    for name, frame in {"truth": TRUTH, **SYSTEMS}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    script = f"""
    import pathlib, warnings, pandas as pd, exactk
    folder = pathlib.Path({str(tmp_path)!r})
    truth, *runs = (pd.read_csv(folder / f"{{name}}.csv") for name in ("truth", "one", "two", "three"))
    systems = dict(zip(("one", "two", "three"), runs))
    """
    code = textwrap.dedent(script) + LOOPS[loop]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    messages = Counter(
        line.partition(": EvaluationWarning: ")[2] for line in done.stderr.splitlines() if "EvaluationWarning" in line
    )
    assert max(messages.values()) == 1
    assert sum("'score_2' is not used" in message for message in messages) == 1


def test_f86_the_callers_filters_decide() -> None:
    for action, expected in (("always", 3), ("ignore", 0)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)  # type: ignore[arg-type]
            for _ in range(3):
                exactk.as_predictions(RUN)
        assert len(caught) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(exactk.EvaluationWarning):
                exactk.as_predictions(RUN)


def test_f86_one_call_warns_once_of_several_systems_and_blocks() -> None:
    def blocks() -> Any:
        return iter([(TRUTH[:2], RUN[:2]), (TRUTH[2:], RUN[2:])])

    for call in (
        lambda: exactk.compare(TRUTH, SYSTEMS, "recall@1"),
        lambda: exactk.evaluate(None, blocks(), "recall@1"),
    ):
        with pytest.warns(exactk.EvaluationWarning) as caught:
            call()
        assert sorted(str(one.message).partition(":")[0] for one in caught) == ["predictions", "truth"]


def test_f86_the_command_line_prints_each_cause_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, frame in {"truth": TRUTH, **SYSTEMS}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    paths = [str(tmp_path / f"{name}.csv") for name in ("truth", *SYSTEMS)]
    assert main(["compare", *paths, "-m", "recall@1"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("exactk: warning: ")]
    assert len(lines) == len(set(lines)) == 2


@pytest.mark.parametrize(
    ("ratings", "warns"),
    [([4, 5, 5, 4], 0), ([4.0, 4.5, 5.0, 4.5], 0), ([0, 4, 0, 5], 0), ([0, 5, 0, 5], 0), ([3, 5, 5, 4], 1), ([8, 9, 10, 7], 1)],
)  # fmt: skip
def test_f86_ratings_that_were_cut_are_quiet(ratings: list[float], warns: int, tmp_path: Path) -> None:
    frame = TRUTH.assign(rating=ratings)
    frame.to_csv(tmp_path / "truth.csv", index=False)
    for truth in (frame, tmp_path / "truth.csv"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            exactk.evaluate(truth, RUN[["user", "item", "score"]], "recall@1")
        assert len(caught) == warns
