"""The p-values of libraries that compare systems: ``tools/golden/p_values.py`` recorded them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from numpy.testing import assert_allclose

import exactk
from golden.p_values import recording_path

ADJUSTMENTS = {"holm": "holm", "fdr_bh": "benjamini_hochberg", "bonferroni": "bonferroni"}
CONVENTIONS = {"ranx": "ranx", "pyterrier": "ir_measures"}


def read(name: str) -> dict[str, Any]:
    recording: dict[str, Any] = json.loads(recording_path(name).read_text(encoding="utf-8"))
    return recording


def compared(name: str, recording: dict[str, Any], **options: Any) -> exactk.results.Differences:
    metrics = list(dict.fromkeys(row["metric"] for row in recording["rows"]))
    return exactk.compare(
        recording["qrels"], recording["runs"], metrics, convention=CONVENTIONS[name], **options
    ).differences


def test_every_pair_has_the_p_value_of_ranx(record_property: Any) -> None:
    recording = read("ranx")
    found = compared("ranx", recording)
    assert len(found) == len(recording["rows"]) == 40
    for row in recording["rows"]:
        difference = found[row["system"], row["baseline"], row["metric"]]
        # Where a system is compared with its copy, SciPy's p-value, and so that of ranx, is NaN.
        expected = 1.0 if row["p"] == "nan" else row["p"]
        assert_allclose(difference.p, expected, rtol=1e-10)
        assert [difference.wins, difference.ties, difference.losses] == row["outcome"]
    record_property("golden", f"ranx {recording['version']}: 40 p-values")


@pytest.mark.parametrize("correction", ADJUSTMENTS)
def test_every_column_of_pyterrier_is_reproduced(correction: str, record_property: Any) -> None:
    recording = read("pyterrier")
    runs = {system: run for system, run in recording["runs"].items() if system != "copy"}
    found = compared("pyterrier", recording | {"runs": runs}, baseline="base", adjust=ADJUSTMENTS[correction])
    rows = [row for row in recording["rows"] if row["correction"] == correction]
    assert len(found) == len(rows) == 12
    for row in rows:
        difference = found[row["system"], row["baseline"], row["metric"]]
        assert_allclose([difference.p, difference.p_adjusted], [row["p"], row["p_adjusted"]], rtol=1e-10)
        assert [difference.wins, difference.losses] == row["outcome"]
    record_property("golden", f"PyTerrier {recording['version']}, {correction}: 12 p-values and adjusted p-values")
