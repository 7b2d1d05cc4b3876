"""The main figures of each run of ``make bench``, as JSON per machine under ``docs/benchmarks/history``, and their chart.

``make generate`` draws the chart; it needs nothing but the standard library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks" / "history"
KEPT_RUNS = 100
MILLISECONDS = "exactk, ms"
# Columns of the results whose numbers are kept: the time, and how it compares with the floor.
COLUMNS = (MILLISECONDS, "ns per id", "times the floor", "share of reading", "times products")
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df")

Figures: TypeAlias = dict[str, dict[str, float]]
"""Numbers by column, by workload."""


class Measured(Protocol):
    """A table of results."""

    @property
    def columns(self) -> Sequence[str]:
        """The headings."""

    @property
    def rows(self) -> Sequence[Sequence[Any]]:
        """The cells by row."""


def main_figures(tables: Sequence[Measured]) -> Figures:
    """Return the figures that are kept of some tables: those of workloads, which have a time."""
    figures: Figures = {}
    for table in tables:
        if table.columns[0] != "workload" or MILLISECONDS not in table.columns:
            continue
        for row in table.rows:
            cells = dict(zip(table.columns, row, strict=True))
            kept = {column: _number(cells[column]) for column in COLUMNS if cells.get(column) is not None}
            figures[cells["workload"]] = {column: float(f"{value:.4g}") for column, value in kept.items()}
    return figures


def _number(cell: float | Mapping[str, float]) -> float:
    return cell["share"] if isinstance(cell, Mapping) else cell


def record(file_name: str, machine: Mapping[str, Any], run: Mapping[str, Any], tables: Sequence[Measured]) -> None:
    """Add the figures to those of the last run if it had the same commit, else as a run, and drop the oldest."""
    figures = main_figures(tables)
    if not figures:
        return
    path = FOLDER / file_name
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []
    if not runs or runs[-1]["commit"] != run["commit"]:
        runs.append({"date": run["committed"], "commit": run["commit"], "figures": {}})
    runs[-1]["figures"].update(figures)
    lines = ",\n".join(f"  {json.dumps(one)}" for one in runs[-KEPT_RUNS:])
    described = json.dumps(machine, ensure_ascii=False)
    FOLDER.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{\n "machine": {described},\n "runs": [\n{lines}\n ]\n}}\n', encoding="utf-8")


class Axes(NamedTuple):
    """Where runs and milliseconds are in the chart: runs at equal distances, times on a logarithmic axis."""

    runs: int
    lowest: int  # powers of ten
    highest: int
    left: int = 60
    right: int = 560
    top: int = 20
    bottom: int = 300

    def x(self, run: int) -> float:
        """Return where a run is; a single one is at the right."""
        return self.right - (self.right - self.left) * (self.runs - 1 - run) / max(self.runs - 1, 1)

    def y(self, milliseconds: float) -> float:
        """Return where a time is."""
        height = (math.log10(milliseconds) - self.lowest) / (self.highest - self.lowest)
        return self.bottom - (self.bottom - self.top) * height


def history_chart(workloads: Sequence[str]) -> str:
    """Return the times of some workloads over the runs of the machine that was measured last, as SVG."""
    machines = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    data = max(machines, key=lambda machine: _last_date(machine["runs"], workloads))
    series = {name: _points(data["runs"], name) for name in workloads}
    times = [value for points in series.values() for _, value in points]
    axes = Axes(len(data["runs"]), math.floor(math.log10(min(times))), math.floor(math.log10(max(times))) + 1)
    title = f"Milliseconds per evaluation by commit, logarithmic: {data['machine']['processor']}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {axes.right + 180} {axes.bottom + 50}" '
        f'font-family="sans-serif" font-size="11" role="img">\n<title>{escape(title)}</title>\n'
        + "\n".join([*_grid(axes, data["runs"]), *_lines(axes, series)])
        + "\n</svg>\n"
    )


def _last_date(runs: Sequence[Mapping[str, Any]], workloads: Sequence[str]) -> str:
    """Return the date of the last run that has one of the workloads; empty if none has."""
    return max((run["date"] for run in runs if not run["figures"].keys().isdisjoint(workloads)), default="")


def _points(runs: Sequence[Mapping[str, Any]], workload: str) -> list[tuple[int, float]]:
    """Return the number and the time of each run that has the workload."""
    figures = [run["figures"].get(workload) for run in runs]
    return [(number, one[MILLISECONDS]) for number, one in enumerate(figures) if one]


def _grid(axes: Axes, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the background, the powers of ten, and the commits of some runs."""
    body = [f'<rect width="{axes.right + 180}" height="{axes.bottom + 50}" fill="#ffffff"/>']
    for power in range(axes.lowest, axes.highest + 1):
        y = axes.y(10.0**power)
        body += [
            f'<line x1="{axes.left}" y1="{y:.1f}" x2="{axes.right}" y2="{y:.1f}" stroke="#dddddd"/>',
            f'<text x="{axes.left - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} ms</text>',
        ]
    step = math.ceil(len(runs) / 6)
    for number in range(len(runs) - 1, -1, -step):
        body += [
            f'<text x="{axes.x(number):.1f}" y="{axes.bottom + 18 + 14 * line}" text-anchor="middle">{text}</text>'
            for line, text in enumerate((runs[number]["commit"], runs[number]["date"]))
        ]
    return body


def _lines(axes: Axes, series: Mapping[str, Sequence[tuple[int, float]]]) -> list[str]:
    """Return a line per workload, with its name and its last time beside it."""
    body = []
    label_y = math.inf
    slowest_last = sorted(((points[-1][1], name) for name, points in series.items() if points))
    colours = dict(zip(series, COLOURS, strict=False))
    for last, name in slowest_last:
        colour, dots = colours[name], [(axes.x(number), axes.y(value)) for number, value in series[name]]
        label_y = min(axes.y(last) + 4, label_y - 13)  # names do not overlap
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
        body += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
            *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in dots),
            f'<text x="{axes.right + 10}" y="{label_y:.1f}" fill="{colour}">{escape(name)} {last:,.3g} ms</text>',
        ]
    return body
