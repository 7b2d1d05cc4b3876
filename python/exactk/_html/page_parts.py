"""What a page consists of: sections of paragraphs, tables, charts and folded parts. Text is escaped when it is rendered.

Also what numbers, verdicts and keys look like on it, and where it is cut if it is too long.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeAlias

from exactk._html.svg import picture
from exactk._report.difference_table import signed_number
from exactk._runtime.faults import plural
from exactk._runtime.table import Table, format_number
from exactk._runtime.texts import DIGITS, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from exactk._html.svg import Drawing
    from exactk._inference.intervals import MeanInterval
    from exactk._report.difference import Difference


Tone = Literal["", "better", "worse", "muted"]
"""What a cell says beside its text, which says it too; a colour on the page."""


class ListItem(NamedTuple):
    """An item of a user's list."""

    rank: int
    name: str
    is_hit: bool


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    tone: Tone = ""
    is_best: bool = False
    mark: str = ""  # behind the text, such as an asterisk
    items: Sequence[ListItem] = ()  # a list below the text
    share: float | None = None  # from -1 to 1: how strongly a cell of a heat table is filled

    @property
    def kind(self) -> str:
        """The classes of the style sheet; a share is one of five steps in either direction."""
        share = 0.0 if self.share is None or math.isnan(self.share) else min(max(self.share, -1.0), 1.0)
        steps = math.ceil(5 * abs(share))
        heat = f"{'more' if share > 0 else 'less'}{steps}" if steps else ""
        return " ".join(filter(None, [self.tone, "best" if self.is_best else "", heat]))


def page_table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[Cell | str]], left: int = 1, note: str = ""
) -> Table:
    """Return a table, with a note below; the first column names the rows."""
    return Table.of_rows(header, rows, left, caption=caption, notes=[note] if note else [])


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str
    is_strong: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list of short texts."""

    items: Sequence[str]


@dataclass(frozen=True)
class Findings:
    """A list of sentences, each in the colour of what it says."""

    rows: Sequence[tuple[Tone, str]]


@dataclass(frozen=True)
class Facts:
    """Names with what they stand for."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Text as it is typed."""

    text: str
    label: str = "Code"  # for those who hear the page


@dataclass(frozen=True)
class JsonBlock:
    """Data for programs, which the page does not show."""

    text: str  # safe within an element of HTML


@dataclass(frozen=True)
class Chart:
    """A picture with the same numbers as a table."""

    title: str
    finding: str  # what it shows, in words
    svg: str  # markup, in which all text is escaped
    table: Table | None = None

    @classmethod
    def of(cls, title: str, finding: str, drawing: Drawing, table: Table | None = None, *, caption: str = "") -> Self:
        """Return the chart of a drawing; a caption, if there is one, says more than the finding."""
        return cls(title, caption or finding, picture(title, finding, drawing), table)


@dataclass(frozen=True)
class Fold:
    """Parts below a line that opens them."""

    summary: str
    parts: Sequence[Part]
    is_open: bool = False


Part: TypeAlias = "Paragraph | Bullets | Findings | Facts | Code | JsonBlock | Table | Chart | Fold"


@dataclass(frozen=True)
class Section:
    """A section of a page; one line where its data are missing."""

    anchor: str
    title: str
    question: str  # what it helps to decide
    parts: Sequence[Part] = ()
    missing: str = ""


Content: TypeAlias = "Sequence[Part] | str"
"""The parts of a section, without any of which it is left out; or why there is nothing to show, and what to write for it."""


_HYPHEN = re.compile(r"(?<![\w.])-(?=[\d.])")
_TONES: dict[str, Tone] = {"better": "better", "worse": "worse"}


def number(value: float) -> str:
    """Return a value as reports print it, with four decimals."""
    return "NaN" if math.isnan(value) else format_number(value, DIGITS)


def signed(value: float, row: Difference) -> str:
    """Return a difference with its sign, and as many decimals as the row's interval needs."""
    return with_minus_signs(signed_number(value, row))


def with_minus_signs(text: str) -> str:
    """Return numbers with minus signs where they have hyphens, but in exponents."""
    return _HYPHEN.sub("\N{MINUS SIGN}", text)


def with_intervals(values: Iterable[float], intervals: Iterable[MeanInterval]) -> list[str]:
    """Return the cells of a column: values with half of their intervals, or with both bounds if any cell needs these."""
    cells = list(zip(values, intervals, strict=True))
    if all(math.isnan(interval.low) or _has_one_width(value, interval) for value, interval in cells):
        texts = [f" ± {number((high - low) / 2)}" for _, (low, high) in cells]
    else:
        texts = [f" [{bound_text(one.low, one)}, {bound_text(one.high, one)}]" for _, one in cells]
    return [number(value) + text * (not math.isnan(one.low)) for (value, one), text in zip(cells, texts, strict=True)]


def _has_one_width(value: float, interval: MeanInterval) -> bool:
    """Return whether an interval is that of t, and its sides are printed alike."""
    return interval.method == "t" and number(value - interval.low) == number(interval.high - value)


def bound_text(bound: float, interval: MeanInterval) -> str:
    """Return a bound of an interval: ``<0.0001`` where rounding alone would put it at an end of the range."""
    least = 10.0**-DIGITS
    for end, inner, sign in zip(interval.limits, (least, -least), "<>", strict=True):
        if 0 < abs(bound - end) < least and number(bound) == number(end):
            return f"{sign}{number(end + inner)}"
    return number(bound) if math.isfinite(bound) else "-"


def interval_clause(interval: MeanInterval, level: str, users: str) -> str:
    """Return what an interval says, to follow a value in a sentence; of a bound at the end of the range, nothing."""
    low, high = (bound_text(bound, interval) for bound in interval)
    least, most = interval.limits
    says_low, says_high = interval.low > least, interval.high < most
    if says_low and says_high:
        return f", between {low} and {high} with {level} confidence ({users})"
    if says_low or says_high:
        return f"; with {level} confidence {f'at least {low}' if says_low else f'at most {high}'} ({users})"
    return ""


def tone_of(verdict: str) -> Tone:
    """Return the colour of a verdict, whose word says the same."""
    return _TONES.get(verdict, "")


def range_of_counts(counts: Collection[int]) -> str:
    """Return a count, or the range of several."""
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def joined_counts(counts: Iterable[int]) -> str:
    """Return the counts of systems, one if all are equal."""
    return "/".join(f"{count:,}" for count in dict.fromkeys(counts))


def share_text(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.2g} %"


def key_text(key: object) -> str:
    """Return the key of a user or an item as text; bytes that are none are escaped."""
    return key.decode(errors="backslashreplace") if isinstance(key, bytes) else str(key)


@dataclass(frozen=True)
class Limits:
    """The most that a page shows. A page that is too large is made again with half of each."""

    rows: int = 200  # of a table
    columns: int = 40
    characters: int = 400  # of a text
    charts: int = 6  # of a section
    marks: int = 60  # rows or lines of a chart
    examples: int = 40  # users with lists, of all pairs
    pairs: int = 3  # whose examples are shown

    def halved(self) -> Limits:
        """Return half of each limit, of the number of characters at least 40."""
        return Limits(
            rows=max(1, self.rows // 2),
            columns=max(1, self.columns // 2),
            characters=max(40, self.characters // 2),
            charts=max(1, self.charts // 2),
            marks=max(1, self.marks // 2),
            examples=self.examples // 2,
            pairs=max(1, self.pairs // 2),
        )


def limited_section(section: Section, limits: Limits) -> Section:
    """Return the section with tables, lists and texts of at most these sizes, control characters escaped."""
    return replace(section, missing=_text(section.missing, limits), parts=_limited(section.parts, limits))


def _limited(parts: Sequence[Part], limits: Limits) -> list[Part]:
    return [_limited_part(part, limits) for part in parts]


def _limited_part(part: Part, limits: Limits) -> Part:
    limited: Part = part
    match part:
        case Table():
            limited = _limited_table(part, limits)
        case Chart():
            texts = {"title": _text(part.title, limits), "finding": _text(part.finding, limits)}
            limited = replace(part, **texts, table=None if part.table is None else _limited_table(part.table, limits))
        case Fold():
            limited = replace(part, summary=_text(part.summary, limits), parts=_limited(part.parts, limits))
        case Paragraph():
            limited = replace(part, text=_text(part.text, limits))
        case Bullets():
            more = len(part.items) - limits.rows
            items = [_text(item, limits) for item in part.items[: limits.rows]]
            limited = Bullets([*items, f"{more} more"] if more > 0 else items)
        case Findings():
            more = len(part.rows) - limits.rows
            rows = [(tone, _text(text, limits)) for tone, text in part.rows[: limits.rows]]
            limited = Findings([*rows, ("", f"{more} more")] if more > 0 else rows)
        case Facts():
            limited = Facts([(_text(name, limits), _text(text, limits)) for name, text in part.rows[: limits.rows]])
    return limited


def _limited_table(table: Table, limits: Limits) -> Table:
    cells = table.cells
    rows = [
        [_cell(cell, limits, is_number=column >= table.left) for column, cell in enumerate(row[: limits.columns])]
        for row in cells[: limits.rows]
    ]
    counts = {"row": len(cells) - len(rows), "column": len(table.columns) - limits.columns}
    left_out = ", ".join(plural(count, f"more {noun}") for noun, count in counts.items() if count > 0)
    notes = [*(_text(note, limits) for note in table.notes), *([f"Left out: {left_out}."] if left_out else [])]
    header = [_text(name, limits) for name in table.header[: limits.columns]]
    return page_table(_text(table.caption, limits), header, rows, table.left, " ".join(notes))


def _cell(cell: Cell | str, limits: Limits, *, is_number: bool) -> Cell | str:
    text = _text(cell if isinstance(cell, str) else cell.text, limits)
    if is_number:
        text = with_minus_signs(text)
    return text if isinstance(cell, str) else replace(cell, text=text)


def _text(text: str, limits: Limits) -> str:
    shown = printable(text)
    return shown if len(shown) <= limits.characters else f"{shown[: limits.characters - 1]}…"
