"""Record the p-values of libraries that compare systems: ``python tools/golden/p_values.py ranx pyterrier``.

Each library has an environment of its own, as for ``record.py``. ``--check`` records again and compares with the files
in ``tests/golden`` instead of writing them.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from golden.record import RECORDINGS, environment  # noqa: E402 - found by the line above

if TYPE_CHECKING:
    from collections.abc import Callable

Qrels = dict[str, dict[str, int]]
Run = dict[str, list[str]]
"""The documents of each query, the best first."""

QUERIES, DOCUMENTS, LENGTH = 30, 40, 10
NOISE = {"weak": 1.5, "base": 1.2, "fair": 1.1, "strong": 0.5}
METRICS = {
    "ranx": {"map": "map", "ndcg@5": "ndcg@5", "P@5": "precision@5", "mrr": "mrr"},
    "pyterrier": {"map": "AP", "ndcg@5": "nDCG@5", "P@5": "P@5", "mrr": "RR"},
}
TOLERANCE = 1e-12  # relative


def data() -> tuple[Qrels, dict[str, Run]]:
    """Return graded judgements, and the runs of four systems and of a copy of one."""
    generator = random.Random(21)  # noqa: S311 - no secrets
    qrels: Qrels = {}
    runs: dict[str, Run] = {system: {} for system in NOISE}
    for query in (f"q{number:02}" for number in range(QUERIES)):
        documents = [f"d{number:02}" for number in range(DOCUMENTS)]
        grades = {document: generator.choice([1, 1, 2]) for document in generator.sample(documents, 6)}
        qrels[query] = grades
        for system, noise in NOISE.items():
            scores = {one: grades.get(one, 0) + noise * generator.gauss(0, 1) for one in documents}
            runs[system][query] = sorted(documents, key=lambda one: -scores[one])[:LENGTH]
    return qrels, {**runs, "copy": runs["base"]}


def scored(run: Run) -> dict[str, dict[str, float]]:
    """Return scores that order the documents."""
    return {query: {document: float(LENGTH - rank) for rank, document in enumerate(run[query])} for query in run}


def ask_ranx(qrels: Qrels, runs: dict[str, Run]) -> list[dict[str, Any]]:
    """Ask ranx for the p-value of every pair."""
    import ranx

    names = METRICS["ranx"]
    report = ranx.compare(
        ranx.Qrels(qrels),
        [ranx.Run(scored(run), name=system) for system, run in runs.items()],
        list(names.values()),
        stat_test="student",
    )
    systems = list(runs)
    return [
        {
            "metric": metric,
            "system": system,
            "baseline": baseline,
            "p": plain(report.comparisons[system, baseline][name]["p_value"]),
            "outcome": [report.win_tie_loss[system, baseline][name][letter] for letter in "WTL"],
        }
        for metric, name in names.items()
        for position, baseline in enumerate(systems)
        for system in systems[position + 1 :]
    ]


def ask_pyterrier(qrels: Qrels, runs: dict[str, Run]) -> list[dict[str, Any]]:
    """Ask PyTerrier for the p-values against one baseline, under several corrections."""
    import ir_measures
    import pandas as pd
    import pyterrier as pt

    topics = pd.DataFrame({"qid": list(qrels), "query": list(qrels)})
    judged = pd.DataFrame(
        [(query, document, grade) for query, row in qrels.items() for document, grade in row.items()],
        columns=["qid", "docno", "label"],
    )
    frames = {
        system: pd.DataFrame(
            [
                (query, document, score, LENGTH - int(score))
                for query, row in scored(run).items()
                for document, score in row.items()
            ],
            columns=["qid", "docno", "score", "rank"],
        )
        for system, run in runs.items()
        if system != "copy"  # whose p-value NaN makes others NaN, or counts as a comparison
    }
    names = METRICS["pyterrier"]
    systems = list(frames)
    rows = []
    for correction in ("holm", "fdr_bh", "bonferroni"):
        table = pt.Experiment(
            list(frames.values()),
            topics,
            judged,
            [ir_measures.parse_measure(name) for name in names.values()],
            names=systems,
            baseline=systems.index("base"),
            test="t",
            correction=correction,
        ).set_index("name")
        rows += [
            {
                "metric": metric,
                "system": system,
                "baseline": "base",
                "correction": correction,
                "p": plain(table.loc[system, f"{name} p-value"]),
                "p_adjusted": plain(table.loc[system, f"{name} p-value corrected"]),
                "outcome": [int(table.loc[system, f"{name} {sign}"]) for sign in "+-"],
            }
            for metric, name in names.items()
            for system in systems
            if system != "base"
        ]
    return rows


def plain(number: float) -> float | str:
    """Return the number for JSON, which has no NaN."""
    return "nan" if math.isnan(number) else float(number)


LIBRARIES: dict[str, tuple[str, tuple[str, ...], Callable[[Qrels, dict[str, Run]], list[dict[str, Any]]]]] = {
    "ranx": ("ranx", ("ranx==0.3.21",), ask_ranx),
    "pyterrier": ("pyterrier", ("pyterrier==1.1.2", "statsmodels==0.15.0"), ask_pyterrier),
}


def recording_path(name: str) -> Path:
    """Return where the recorded p-values are."""
    return RECORDINGS / f"{name}_p_values.json"


def record(name: str) -> dict[str, Any]:
    """Ask the library, which must be importable here."""
    distribution, _, ask = LIBRARIES[name]
    qrels, runs = data()
    return {
        "library": distribution,
        "version": version(distribution),
        "command": f"python tools/golden/p_values.py {name}",
        "qrels": qrels,
        "runs": runs,
        "rows": ask(qrels, runs),
    }


def record_in_environment(name: str) -> dict[str, Any]:
    """Record in the library's environment."""
    distribution, requirements, _ = LIBRARIES[name]
    python = environment(SimpleNamespace(DISTRIBUTION=distribution, REQUIREMENTS=requirements), name)
    command = [str(python), __file__, "--inside", name]
    process = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own arguments
    if process.returncode:
        sys.exit(f"{name}: {process.stderr}")
    recording: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return recording


def recording_text(recording: dict[str, Any]) -> str:
    """Return the text of a file: a line for each query, run and row."""
    head = {key: recording[key] for key in ("library", "version", "command")}
    lines = json.dumps(head, indent=1)[:-2]
    for key in ("qrels", "runs"):
        entries = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in recording[key].items())
        lines += f',\n "{key}": {{\n{entries}\n }}'
    rows = ",\n".join(map(json.dumps, recording["rows"]))
    return f'{lines},\n "rows": [\n{rows}\n ]\n}}\n'


def differences(previous: dict[str, Any], recording: dict[str, Any]) -> list[str]:
    """Return where a second recording differs from the file."""
    changes = [key for key in previous if key != "rows" and previous[key] != recording[key]]
    for old, new in zip(previous["rows"], recording["rows"], strict=True):
        for key, one in old.items():
            other = new[key]
            is_close = (
                isinstance(one, float) and isinstance(other, float) and math.isclose(one, other, rel_tol=TOLERANCE)
            )
            if one != other and not is_close:
                changes.append(f"{old}: {key} is now {other!r}")
    return changes


def main() -> int:
    """Record, or compare with what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", nargs="+", choices=list(LIBRARIES))
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # in the library's environment
    arguments = parser.parse_args()
    failed = False
    for name in arguments.library:
        if arguments.inside:
            sys.stdout.write(json.dumps(record(name)) + "\n")  # for the process that asked
            continue
        recording, path = record_in_environment(name), recording_path(name)
        changes = differences(json.loads(path.read_text(encoding="utf-8")), recording) if arguments.check else []
        if not arguments.check:
            path.write_text(recording_text(recording), encoding="utf-8")
        failed = failed or bool(changes)
        sys.stdout.write("\n  ".join([f"{name}: {len(recording['rows'])} rows", *changes[:10]]) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
