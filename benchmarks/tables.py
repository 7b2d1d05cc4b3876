"""Tables on the terminal, and the same in the README, or another page, between its markers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import rich.box
import rich.console
import rich.table

README = Path(__file__).parents[1] / "README.md"


@dataclass(frozen=True)
class Table:
    """A heading, columns and cells; the first column names the row."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def show(self, console: rich.console.Console) -> None:
        """Print the table."""
        table = rich.table.Table(title=self.title, box=rich.box.SIMPLE, title_justify="left")
        for index, column in enumerate(self.columns):
            table.add_column(column, justify="right" if index else "left")
        for row in self.rows:
            table.add_row(*row)
        console.print(table)

    def markdown(self) -> str:
        """Return the table as the README has it."""
        rule = ["---"] + ["---:"] * (len(self.columns) - 1)
        lines = [f"| {' | '.join(cells)} |" for cells in (self.columns, rule, *self.rows)]
        return "\n".join([f"{self.title}:", "", *lines])


def write(text: str, page: Path = README, of: str = "") -> None:
    """Put the text between the markers of the README, of a part of it, or of another page."""
    begin, end = f"<!-- what make bench found{of} -->\n", f"<!-- end of what make bench found{of} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, marker, after = rest.partition(end)
    if not marker:
        raise ValueError(f"{page} has no markers for what make bench found{of}")
    page.write_text(f"{before}{begin}{text}\n{end}{after}", encoding="utf-8")
