"""The measures of ir_measures beside those of pytrec_eval, with what its other providers returned: cwl_eval and compat.

The values were recorded: EXACTK_DATA names the folder that has them in ``measures_golden.json``.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import exactk

DATA = Path(os.environ.get("EXACTK_DATA", "/nonexistent")) / "measures_golden.json"
needs_data = pytest.mark.skipif(not DATA.is_file(), reason="set EXACTK_DATA to the folder with recorded measures")


# cwl_eval adds 1, 2/3 and 1/3 to 1.9999999999999998, so that its reader, who expects 2, goes on from rank 4 to 7.
ROUNDED = {("BPM(T=2.0,max_rel=3)@10", "q01"): (3 / 7, 1 / 2)}


@cache
def recorded() -> dict[str, Any]:
    values: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return values


@needs_data
@pytest.mark.parametrize("family", ["SDCG", "INSQ", "INST", "BPM", "NERR8", "NERR9", "NERR10", "NERR11"])
def test_the_readers_of_cwl_eval(family: str) -> None:
    """The values of all queries that have judgements, and the mean."""
    inputs, measures = recorded()["inputs"], recorded()["ir_measures"]["measures"]
    queries = [query for query in recorded()["ir_measures"]["queries"] if inputs[query]["qrels"]]
    truth = {query: inputs[query]["qrels"] for query in queries}
    run = {query: dict(inputs[query]["run"]) for query in queries if inputs[query]["run"]}
    names = [measure for measure in measures if measure.partition("(")[0] == family]
    assert len(names) >= 2
    report = exactk.evaluate(truth, run, names, convention="ir_measures", per_user=True)
    for name in names:
        expected = dict(zip(recorded()["ir_measures"]["queries"], measures[name]["q"], strict=True))
        mean = measures[name]["all"]
        for query in queries:
            theirs, ours = ROUNDED.get((name, query), (expected[query], expected[query]))
            assert expected[query] == pytest.approx(theirs)
            expected[query], mean = ours, mean + (ours - theirs) / len(queries)
        values = dict(zip(report.users, report.per_user[name], strict=True))
        assert values == pytest.approx({query: expected[query] for query in queries}, abs=1e-12)
        assert report[name] == pytest.approx(mean, abs=1e-12)


@needs_data
@pytest.mark.parametrize("measure", ["Compat", "Compat(p=0.8)", "Compat(p=0.95,normalize=False)"])
def test_compat(measure: str) -> None:
    inputs, recording = recorded()["inputs"], recorded()["ir_measures"]
    queries = [query for query in recording["queries"] if inputs[query]["qrels"]]
    truth = {query: inputs[query]["qrels"] for query in queries}
    run = {query: dict(inputs[query]["run"]) for query in queries if inputs[query]["run"]}
    report = exactk.evaluate(truth, run, measure, convention="ir_measures", per_user=True)
    expected = dict(zip(recording["queries"], recording["measures"][measure]["q"], strict=True))
    values = dict(zip(report.users, report.per_user[measure], strict=True))
    assert values == pytest.approx({query: expected[query] for query in queries}, abs=1e-12)


@needs_data
@pytest.mark.parametrize(("cutoff", "beta"), [("", 1), ("", 10), ("@5", 1)])
@pytest.mark.parametrize("gains", ["1:2:3", "1:3:7"])
def test_the_q_measure_of_ntcireval(gains: str, cutoff: str, beta: int) -> None:
    inputs, recording = recorded()["inputs"], recorded()["ntcireval"]
    expected = recording["values"][f"Q-measure beta={beta}{cutoff and f' {cutoff}'}, gains {gains}"]
    truth = {query: inputs[query]["qrels"] for query in recording["queries"]}
    run = {query: dict(inputs[query]["run"]) for query in recording["queries"]}
    convention = {"ties": "highest_id", "empty_truth": "compute", "gain": "exp2" if gains == "1:3:7" else "linear"}
    metric = f"q_measure{cutoff}(beta={beta})"
    report = exactk.evaluate(truth, run, metric, convention=convention, per_user=True)
    values = dict(zip(report.users, report.per_user[metric], strict=True))
    assert [values[query] for query in recording["queries"]] == pytest.approx(expected, abs=1e-12)
