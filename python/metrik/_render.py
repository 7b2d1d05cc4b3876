"""Tables as text. Cells come as text already; nothing here knows what they mean."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[str]


def text(header: Row, rows: Sequence[Row], *, numbers: bool = True) -> str:
    """Return a table for a terminal; ``numbers`` aligns all columns but the first to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    align = str.rjust if numbers else str.ljust
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(align(cell, width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in (header, *rows)
    )


def markdown(header: Row, rows: Sequence[Row], *, numbers: bool = True) -> str:
    """Return a Markdown table; ``numbers`` aligns all columns but the first to the right."""
    rule = ["---", *(["---:" if numbers else "---"] * (len(header) - 1))]
    escaped = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in (header, rule, *rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in escaped)


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def latex(header: Row, rows: Sequence[Row]) -> str:
    """Return a LaTeX ``tabular``; needs no package."""

    def line(row: Row) -> str:
        return " & ".join("".join(_LATEX.get(character, character) for character in cell) for cell in row) + r" \\"

    columns = "l" + "r" * (len(header) - 1)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\hline",
            line(header),
            r"\hline",
            *map(line, rows),
            r"\hline",
            r"\end{tabular}",
        ]
    )
