"""The command line, run within this process or in others, and the files that it is run on."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

QRELS = "q1 0 d1 1\nq1 0 d2 2\nq2 0 d1 1\n"
RUN = "q1 Q0 d1 1 3 t\nq1 Q0 d9 2 2 t\nq2 Q0 d7 1 1 t\n"


class CommandResult(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Run = Callable[..., CommandResult]
"""The fixture ``run``: from a command's arguments to its result."""


def assert_refused(result: CommandResult, message: str) -> None:
    """Assert that a command printed one line alone, with this in it, and ended with exit code 2."""
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result
    assert result.err.startswith("exactk: error: "), result
    assert message in result.err, f"expected {message}\nfound {result.err}"


def write_files(texts: Mapping[str, str]) -> None:
    """Write files of these names and texts, in folders that are made where there are none."""
    for name, text in texts.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def write_frame(frame: pd.DataFrame, path: str) -> None:
    """Write a frame in the format that the name's ending selects."""
    if path.endswith(".run"):
        lines = [f"{user} Q0 {item} 0 {score!r} tag\n" for user, item, score in frame.to_numpy().tolist()]
        Path(path).write_text("".join(lines), encoding="utf-8")
    elif path.endswith(".parquet"):
        frame.to_parquet(path, index=False, row_group_size=7)
    elif path.endswith(".arrow"):
        frame.reset_index(drop=True).to_feather(path)
    elif path.endswith(".jsonl"):
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path else ",")


FORKS = """
import os, shlex, sys
from exactk._cli import main
for command in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        sys.exit(main(shlex.split(command)))
    os.write(9, b"%d " % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


QUIET = ("-W", "ignore:This process:DeprecationWarning")  # NumPy's threads sleep where forks begin


class ForksResult(NamedTuple):
    """The exit code of each command, and what they all printed."""

    codes: list[int]
    out: bytes
    err: bytes


def run_forks(*commands: str, streams: str = "", before: str = "", **variables: str) -> ForksResult:
    """Run commands in forks of one Python, which is started by a shell with these streams, and end as Python does."""
    line = f"{before} {shlex.join([sys.executable, *QUIET, '-c', FORKS, *commands])} {streams} 9> codes"
    result = subprocess.run(["bash", "-c", line], capture_output=True, check=False, env=os.environ | variables)  # noqa: S603, S607 - our own
    assert result.returncode == 0, result
    return ForksResult([*map(int, Path("codes").read_text(encoding="utf-8").split())], result.stdout, result.stderr)
