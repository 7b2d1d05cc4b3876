"""A sharded run that is killed at random moments and started again, in forks of one process, which has imported exactk."""

from __future__ import annotations

import io
import itertools
import os
import random
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import exactk
from exactk._cli import main

FILES = ("truth.csv", "predictions.csv", "exclude.csv", "groups.csv")
COMMAND = ["evaluate", *FILES[:2], "--exclude", FILES[2], "--groups", FILES[3], "-m", "ndcg@[3,10]", "-m", "map"]
COMMAND += ["--threads", "1"]
SHARDS = ["--shards", "4", "--shard-folder", "shards"]


def write_files() -> None:
    """Write the inputs, of 200 users."""
    numbers = random.Random(0)  # noqa: S311 - not a secret
    rows = [(f"user {user}", item) for user in range(200) for item in numbers.sample(range(50), 12)]
    texts = {
        "truth.csv": ["user,item", *(f"{user},{item}" for user, item in rows[::2])],
        "predictions.csv": ["user,item,score", *(f"{user},{item},{numbers.random()}" for user, item in rows[1:])],
        "exclude.csv": ["user,item", *(f"{user},{item}" for user, item in rows[::7])],
        "groups.csv": ["user,group", *(f"user {user},{user % 3}" for user in range(200))],
    }
    for name, lines in texts.items():
        Path(name).write_text("\n".join([*lines, ""]), encoding="utf-8")


def start(arguments: list[str], output: str, last_call: int = 0) -> int:
    """Run a command in a fork, and return its process. It kills itself at a call of a function, by number, if asked."""
    process = os.fork()
    if process == 0:
        os.dup2(os.open(output, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        if last_call:
            sys.setprofile(_kill_at(last_call))
        os._exit(main(arguments))
    return process


def _kill_at(last_call: int) -> Callable[..., None]:
    calls = itertools.count(1)

    def see(*_: object) -> None:
        if next(calls) == last_call:
            os.kill(os.getpid(), signal.SIGKILL)

    return see


def finish(process: int) -> int:
    """Wait for a process; return its exit code, or the negated signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _files() -> list[Path]:
    return list(Path("shards").iterdir()) if Path("shards").exists() else []


def check_folder() -> int:
    """Check that each file of the folder is a whole state, or hidden; return the number of hidden ones."""
    paths = _files()
    hidden = [path for path in paths if path.name.startswith(".exactk-shard-")]
    for path in set(paths) - set(hidden):
        exactk.State.from_bytes(path.read_bytes())
    return len(hidden)


def _calls_of_a_run() -> int:
    calls = itertools.count()
    sys.setprofile(lambda *_: next(calls))
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        assert main([*COMMAND, *SHARDS]) == 0
    sys.setprofile(None)
    shutil.rmtree("shards")
    return next(calls)


def kill_often(kills: int, seed: int) -> dict[str, int]:
    """Kill so many runs; each evaluation that finishes must be that of one run without shards."""
    numbers, counts = random.Random(seed), Counter[str]()  # noqa: S311 - not a secret
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        assert main([*COMMAND, "--state", "expected.state"]) == 0  # also imports what forks then share
    assert finish(start(COMMAND, "expected.txt")) == 0
    expected = Path("expected.state").read_bytes(), Path("expected.txt").read_bytes()
    calls = _calls_of_a_run()
    while counts["kills"] < kills or counts["kept"]:
        last_call = numbers.randint(1, calls) if counts["kills"] < kills else 0
        code = finish(start([*COMMAND, *SHARDS, "--state", "out.state"], "out.txt", last_call))
        hidden = check_folder()
        counts["hidden files"] += hidden
        if code == 0:
            counts["evaluations"] += 1
            assert (Path("out.state").read_bytes(), Path("out.txt").read_bytes()) == expected
            assert {path.name for path in _files()} == {f"shard-{number}-of-4.state" for number in range(1, 5)}
            shutil.rmtree("shards")
            counts["kept"] = 0
        else:
            assert code == -signal.SIGKILL, code
            counts["kills"] += 1
            counts["kept"] = len(_files()) - hidden
            counts["kills after a shard"] += counts["kept"] > 0
    shutil.rmtree("shards", ignore_errors=True)
    return counts
