"""What was measured, as JSON per machine under ``docs/benchmarks/results``, and the tables and the chart made of it.

``make generate`` writes the pages from these files; it needs nothing but the standard library.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from xml.sax.saxutils import escape

from benchmarks import history

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks" / "results"
DEPTH_OF_ROWS = 6  # parts, a part, tables, a table, rows, a row

Cell: TypeAlias = str | float | Sequence[float] | Mapping[str, Any] | None
"""A text, a number, the lowest and the highest of several, or a number with what it is: see `format_cell`."""


@dataclass(frozen=True)
class Table:
    """A heading, columns and cells; the first column names the row."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def markdown(self) -> str:
        """Return the table as pages have it."""
        rule = ["---"] + ["---:"] * (len(self.columns) - 1)
        cells = [[format_cell(cell) for cell in row] for row in self.rows]
        return "\n".join(f"| {' | '.join(row)} |" for row in [list(self.columns), rule, *cells])

    def __str__(self) -> str:
        return f"{self.title}:\n\n{self.markdown()}\n"


def times(value: float, ratio: float) -> Cell:
    """Return the cell of a peer: its time, and how many times ours that is."""
    return {"value": value, "times": ratio}


def with_unit(value: float, unit: str) -> Cell:
    """Return the cell of a number whose column has several units."""
    return {"value": value, "unit": unit}


def share(value: float) -> Cell:
    """Return the cell of a part of 1."""
    return {"share": value}


def format_cell(cell: Cell) -> str:
    """Return a cell as tables have it."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, Mapping):
        if "share" in cell:
            percent = 100 * cell["share"]
            return f"{percent:.1f}%" if percent < 5 else f"{percent:.0f}%"
        if "times" in cell:
            return f"{format_number(cell['value'])} ({format_number(cell['times'])} x)"
        return f"{format_number(cell['value'])} {cell['unit']}"
    if isinstance(cell, (int, float)):
        return format_number(cell)
    return "-".join(format_number(value) for value in cell)


def format_number(value: float) -> str:
    """Return the number with three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write(
    part: str, machine: Mapping[str, Any], run: Mapping[str, Any], notes: Sequence[str], tables: Sequence[Table]
) -> Path:
    """Put a part of the measurements into the file of the machine, in place of the last; return the file."""
    path = FOLDER / f"{re.sub(r'[^a-z0-9]+', '-', '{processor} {cores} cores'.format(**machine).lower())}.json"
    parts = json.loads(path.read_text(encoding="utf-8"))["parts"] if path.exists() else {}
    written = [{"title": one.title, "columns": one.columns, "rows": _rounded(one.rows)} for one in tables]
    parts[part] = {"run": run, "peers": notes, "tables": written}
    path.write_text(_dump({"machine": machine, "parts": parts}), encoding="utf-8")
    return path


def publish(
    part: str, machine: Mapping[str, Any], run: Mapping[str, Any], notes: Sequence[str], tables: Sequence[Table]
) -> None:
    """Write a part of the measurements, keep its main figures, and print it."""
    path = write(part, machine, run, notes, tables)
    history.record(path.name, machine, run, tables)
    print(*tables, *notes, f"written to {path}; `make generate` makes the pages", sep="\n")


def _rounded(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value with its numbers to six digits."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, (list, tuple)) else value


def _dump(value: Any, depth: int = 0) -> str:  # noqa: ANN401 - whatever JSON holds
    """Return JSON with a line per row of a table, so that changes can be read."""
    if not isinstance(value, (dict, list)) or depth == DEPTH_OF_ROWS:
        return json.dumps(value, ensure_ascii=False)
    keys = [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    parts = value.values() if isinstance(value, dict) else value
    lines = [" " * (depth + 1) + key + _dump(part, depth + 1) for key, part in zip(keys, parts, strict=True)]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([opening, ",\n".join(lines), " " * depth + closing]) if lines else opening + closing


def _machines() -> Iterator[dict[str, Any]]:
    """Yield what each file holds."""
    for path in sorted(FOLDER.glob("*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


def _latest_machine() -> dict[str, Any]:
    """Return what the file of the machine holds on which all that the README shows was measured last."""
    parts = [one.part for one in HIGHLIGHTS]
    complete = (data for data in _machines() if all(part in data["parts"] for part in parts))
    return max(complete, key=lambda data: min(data["parts"][part]["run"]["date"] for part in parts))


def page(part: str) -> str:
    """Return what was measured of a part, on each machine, as Markdown."""
    sections = []
    for data in _machines():
        if part not in data["parts"]:
            continue
        machine, measured = data["machine"], data["parts"][part]
        run = measured["run"]
        facts = [
            f"{machine['processor']}, {machine['cores']} cores",
            machine["system"],
            f"Python {run['python']}, NumPy {run['numpy']}",
            f"exactk {run['exactk']} at commit {run['commit']}",
            run["date"],
            f"load average before the run {run['load']}",
        ]
        lines = [f"{'; '.join(facts)}."]
        if measured["peers"]:
            lines += ["", *(f"- {note}" for note in measured["peers"])]
        for table in measured["tables"]:
            lines += [
                "",
                f"### {table['title']}",
                "",
                Table(table["title"], table["columns"], table["rows"]).markdown(),
            ]
        sections.append("\n".join(lines))
    return "\n\n".join(sections)


class Highlight(NamedTuple):
    """A row of the README: a workload in words, and the peers beside it."""

    part: str
    workload: str
    text: str
    nearest: str  # of all that compute as much, the fastest
    library: str


HIGHLIGHTS = (
    Highlight("lists and scores", "lists_100", "20,000 lists of 100 ids, 30 values", "NumPy, bitmap", "ranx"),
    Highlight(
        "lists and scores", "dense_20k", "scores of 4,096 users x 20,000 items, 4 values", "torch", "irspack's core"
    ),
    Highlight(
        "embeddings",
        "factors_100k",
        "vectors of 8,192 users, 100,000 items, 4 values",
        "torch.matmul, topk",
        "implicit",
    ),
    Highlight("containers", "frame_2m", "data frames of 2 million rows, 30 values", "RePlay", "recommenders"),
    Highlight("containers", "dict_20k", "dicts of 20,000 users x 100 items, 30 values", "pytrec_eval", "ranx"),
)


def _cells(data: Mapping[str, Any], one: Highlight) -> dict[str, Any]:
    """Return the cells of a workload by column."""
    for table in data["parts"][one.part]["tables"]:
        for row in table["rows"]:
            if row[0] == one.workload and "exactk, ms" in table["columns"]:
                return dict(zip(table["columns"], row, strict=True))
    raise KeyError(one.workload)


def five_rows() -> str:
    """Return the README's table, of the machine that was measured last."""
    data = _latest_machine()
    rows = []
    for one in HIGHLIGHTS:
        cells = _cells(data, one)
        peers = [f"{name}: {format_cell(cells[name])}" for name in (one.nearest, one.library)]
        rows.append([one.text, cells["exactk, ms"], *peers])
    return Table("", ["evaluated", "exactk, ms", "nearest peer, ms", "another peer, ms"], rows).markdown()


def chart() -> str:
    """Return the same as bars on a logarithmic axis, as SVG."""
    data = _latest_machine()
    left, width, bar, decades = 250, 470, 16, (0, 5)  # from 1 ms to 100 s
    height = len(HIGHLIGHTS) * (3 * bar + 14) + 60

    def x(value: float) -> float:
        return left + width * (math.log10(value) - decades[0]) / (decades[1] - decades[0])

    body = [f'<rect width="{left + width + 60}" height="{height}" fill="#ffffff"/>']
    for power in range(decades[0], decades[1] + 1):
        label = f"{10**power} ms" if power < 3 else f"{10 ** (power - 3)} s"
        body += [
            f'<line x1="{x(10**power):.1f}" y1="10" x2="{x(10**power):.1f}" y2="{height - 40}" stroke="#dddddd"/>',
            f'<text x="{x(10**power):.1f}" y="{height - 22}" text-anchor="middle">{label}</text>',
        ]
    y = 16
    for one in HIGHLIGHTS:
        cells = _cells(data, one)
        first, _, rest = one.text.partition(", ")
        body += [f'<text x="8" y="{y + 20}">{first}</text>', f'<text x="8" y="{y + 35}">{rest}</text>']
        for name, colour in (("exactk", "#1f6feb"), (one.nearest, "#999999"), (one.library, "#cccccc")):
            value = cells["exactk, ms"] if name == "exactk" else cells[name]["value"]
            body += [
                f'<rect x="{left}" y="{y}" width="{x(value) - left:.1f}" height="{bar - 2}" fill="{colour}"/>',
                f'<text x="{x(value) + 4:.1f}" y="{y + 11}">{escape(name)} {format_number(value)}</text>',
            ]
            y += bar
        y += 14
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 60} {height}" '
        f'font-family="sans-serif" font-size="11" role="img">\n<title>Milliseconds per evaluation, logarithmic</title>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def chart_of_runs() -> str:
    """Return the times of these workloads over the runs of the machine that was measured last, as SVG."""
    return history.history_chart([one.workload for one in HIGHLIGHTS])
