"""The table of what libraries say of one input, made from what was recorded of them."""

from __future__ import annotations

import re
import tomllib
from statistics import fmean
from typing import Any

import exactk
from exactk._plan.conventions import departures
from exactk._runtime.table import markdown_of_cells
from golden.cases import Knobs, golden
from golden.record import RECORDINGS, adapter_names, library_version, read_recording

METRICS = {
    "precision@5": "P@5",
    "recall@5": "R@5",
    "average_precision@5": "MAP@5",
    "ndcg@5": "nDCG@5",
    "reciprocal_rank@5": "MRR@5",
    "hit_rate@5": "HR@5",
    "f1@5": "F1@5",
}


def golden_case() -> str:
    """Return a row a library: its own means on the golden case; above them, exactk's."""
    case = golden(Knobs())
    truth, lists = ([[item for item, _ in row or []] for row in rows] for rows in (case.truth, case.predictions))
    report = exactk.evaluate(truth, lists, list(METRICS))
    rows = [["standard", *(f"{value:.4f}" for value in report.values())]]
    rows += [[name, *_means(read_recording(name))] for name in adapter_names()]
    return markdown_of_cells(["preset", *METRICS.values()], rows)


def _means(data: dict[str, Any]) -> list[str]:
    outputs = data["cases"][0]["outputs"]
    return [_format_mean(outputs.get(metric)) for metric in METRICS]


def _format_mean(output: Any) -> str:
    if output is None or isinstance(output, str):
        return ""
    mean, users = output
    if mean is None:
        values = [value for value in users or [] if isinstance(value, float)]
        mean = fmean(values) if values else "nan"
    return "NaN" if mean == "nan" else f"{mean:.4f}"


NOTES = {
    "capped": "recall of a perfect list is 1 at every cutoff",
    "brute_force_hnsw": "recall of an approximate index against brute force",
    "surprise_article": "the example until 2020, which articles copy: 0 / 0 is 1",
    "irspack_capped": "`recall_with_cutoff=True`",
    "trec_eval_complete": "`-c`: users without predictions are in the mean",
    "trec_eval_9_complete": "`-c`",
    "ir_measures": "judged, RBP and RR@k by its own providers",
}
"""What a preset's name does not say."""


def presets() -> str:
    """Return a row a preset: what it reproduces, and how it differs from the standard convention."""
    rows = []
    for name, convention in exactk.conventions.items():
        changes = departures(convention).split(", ")
        of_metrics: dict[str, list[str]] = {}
        for change in changes:
            metric, dot, field = change.partition("=")[0].rpartition(".")
            if dot:
                of_metrics.setdefault(metric, []).append(field + "=" + change.partition("=")[2])
        of_all = [change for change in changes if "." not in change.partition("=")[0]]
        overrides = [f"{metric}: {', '.join(fields)}" for metric, fields in of_metrics.items()]
        source = ", ".join(part for part in (_short_version(name), NOTES.get(name, "")) if part)
        rows.append([_link(name), source, ", ".join(of_all), "; ".join(overrides)])
    header = ["preset", "what it reproduces", "differs from standard in", "for single metrics"]
    return markdown_of_cells(header, rows, left=4)


def _link(name: str) -> str:
    heading = name.removesuffix("_complete") if name.startswith("trec_eval_c") else name
    return f"[{name}](libraries.md#{heading})" if heading in {*adapter_names(), "trec_eval"} else name


def _short_version(name: str) -> str:
    if name.startswith("trec_eval"):
        return "trec_eval 9.0.8" if "_9" in name else "trec_eval 10.0"
    if name not in adapter_names() or name == "brute_force_hnsw":
        return ""
    version = library_version(read_recording(name))
    commit = re.fullmatch(r"https://github.com/\S+/(\S+) at (\w{7})\w*", version)
    release = re.match(r"https://pypi.org/project/([\w-]+)/([\d.]+)", version)
    found = commit or release
    return version if found is None else f"{found[1]}{' at ' if commit else ' '}{found[2]}"


MEASURES = tomllib.loads((RECORDINGS / "measures.toml").read_text(encoding="utf-8"))
"""The values of further measures that tests/test_golden_measures.py counts."""


def measure_counts() -> str:
    """Return a row a library: how many measures and values are equal, and which are not compared, and why."""
    rows = []
    for library, table in MEASURES.items():
        equal = table.get("equal", {})
        reasons: dict[str, list[str]] = {}
        for measure, reason in table.get("not_compared", {}).items():
            reasons.setdefault(reason, []).append("all" if measure == "*" else f"`{measure}`")
        others = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        values = sum(row["values"] for row in equal.values())
        rows.append([library, str(len(equal)), f"{values:,}", others])
    rows.append(["in all", *(f"{sum(int(row[column].replace(',', '')) for row in rows):,}" for column in (1, 2)), ""])
    return markdown_of_cells(["library", "measures", "values", "not compared, and why"], rows, left=4)


def measures() -> str:
    """Return a row a measure: what exactk has in its place, and how many values are equal."""
    rows = [
        [library, f"`{measure}`", ", ".join(map(_code_of_metric, row["metric"].split(", "))), str(row["values"])]
        for library, table in MEASURES.items()
        for measure, row in table.get("equal", {}).items()
    ]
    return markdown_of_cells(["library", "measure", "exactk", "values"], rows, left=3)


def _code_of_metric(metric: str) -> str:
    return f"`{'exactk.' * metric.startswith('compat.')}{metric}`"


def libraries() -> str:
    """Return a section a preset: what was asked of which version, in what it departs, and what no convention says."""
    return "\n\n".join(_section(name, read_recording(name)) for name in adapter_names())


def _section(name: str, data: dict[str, Any]) -> str:
    values = sum(_count_values(output) for case in data["cases"] for output in case["outputs"].values())
    min_score = "" if data["min_score"] is None else f" with `min_score={data['min_score']}`"
    summary = f"{library_version(data)}: {len(data['cases'])} cases, {values} values. exactk is given {data['input']}{min_score}."
    lines = [
        f"### {name}",
        "",
        f"{summary} Departs from `standard` in: {_code_text(departures(exactk.conventions[name]))}.",
        "",
        markdown_of_cells(
            ["exactk", "the library"], [[metric, call] for metric, call in data["calls"].items()], left=2
        ),
    ]
    kinds: dict[str, list[str]] = {}
    for kind, reason in data["not_drawn"].items():
        kinds.setdefault(reason, []).append(kind)
    if kinds:
        refused = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in kinds.items())
        lines += ["", f"Not given: {refused}."]
    for metric, reason in data["differs"].items():
        lines += ["", f"**{metric} differs.** {reason}"]
    return "\n".join(lines)


def _count_values(output: Any) -> int:
    return 0 if isinstance(output, str) else (output[0] is not None) + len(output[1] or [])


def _code_text(text: str) -> str:
    return f"`{text}`" if "=" in text else text
