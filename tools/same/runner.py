"""Runs all cases with the package that this process imports: ``python -m same.runner RECORDS [KIND ...]``."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from contextlib import chdir
from pathlib import Path

import numpy as np

from same import calls, commands, evaluations, inputs, tests
from same.names import install_renames
from same.record import outcome

MODULES = (evaluations, inputs, calls, commands, tests)


def main(records: Path, kinds: list[str]) -> None:
    """Write a line of JSON for each case: its name, and the lines of its outcome."""
    install_renames()
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")  # where a case is drawn; in it, all are recorded
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name, chdir(name), records.open("w", encoding="utf-8") as stream:
        folder = Path(name).resolve()
        for module in MODULES:
            for kind, draw in module.KINDS.items():
                if kinds and kind not in kinds:
                    continue
                begin = time.process_time()
                for case, function in draw():
                    record = {"name": f"{kind}/{case}", "lines": outcome(function, folder)}
                    stream.write(json.dumps(record) + "\n")
                seconds[kind] = round(time.process_time() - begin, 1)
    print(json.dumps({"seconds": seconds, "cpu": round(sum(os.times()[:4]), 1)}))  # noqa: T201 - for the caller


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
