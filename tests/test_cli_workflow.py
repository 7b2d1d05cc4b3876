"""The GitHub workflow of docs/how-to/trackers.md, run as its shell would run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from children import HUNG

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "trackers.md"
QRELS = "".join(f"q{query} 0 d{query % 3} 1\n" for query in range(60))


def run_of(depth: int) -> str:
    """Return a run that finds what is relevant at this rank in most queries, and at the next in the others."""
    lines = []
    for query in range(60):
        rank = depth + (query % 10 == 0)
        items = [f"x{index}" for index in range(20)]
        items[rank - 1] = f"d{query % 3}"
        lines += [f"q{query} Q0 {item} {index + 1} {20 - index} run\n" for index, item in enumerate(items)]
    return "".join(lines)


def commands() -> list[str]:
    """Return the commands of the steps, in order."""
    (workflow,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (gate,) = re.findall(r"run: \|\n((?:    .*\n)+)", workflow)
    (page,) = re.findall(r"run: (exactk .*)\n", workflow)
    return [gate, page]


def shell(command: str, folder: Path) -> int:
    """Run a step as GitHub does, and return its exit code."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = os.environ | {"PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    step = ["bash", "-e", "-c", command]
    return subprocess.run(step, cwd=folder, env=variables, timeout=HUNG, check=False).returncode  # noqa: S603 - the page is our own


def test_the_steps_write_a_summary_gates_and_a_page(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "main.run").write_text(run_of(2))
    gate, page = commands()
    for depth, code in ((1, 0), (3, 1)):  # the gate holds, and fails
        (tmp_path / "new.run").write_text(run_of(depth))
        (tmp_path / "summary.md").unlink(missing_ok=True)
        assert shell(gate, tmp_path) == code
        summary = (tmp_path / "summary.md").read_text()
        assert summary.startswith("| metric |")
        assert "| ndcg@10 | new |" in summary
        (case,) = ET.parse(tmp_path / "gates.xml").iter("testcase")  # noqa: S314 - our own file
        assert case.attrib["name"] == "no_worse ndcg@10 1%: new against main"
        assert [child.tag for child in case if child.tag == "failure"] == ["failure"] * code
    assert shell(page, tmp_path) == 0
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")
