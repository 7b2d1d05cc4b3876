"""The HTML page of a report or comparison: one file without scripts, requests and fonts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._html.sections import SECTIONS
from exactk._html.source import Source
from exactk._report.comparison import Comparison
from exactk._report.report import Report
from exactk._runtime import optional

if TYPE_CHECKING:
    from exactk._report.exports import Exports
    from exactk._report.presentation import PageRequest


def html_page(result: Exports, request: PageRequest) -> str:
    """Return the page."""
    comparison = result if isinstance(result, Comparison) else None
    reports = {"": result} if isinstance(result, Report) else dict(comparison.reports if comparison else {})
    source = Source(reports, comparison, request)
    title = request.title or ("Comparison of systems" if comparison else "Evaluation of a system")
    template = optional.html_templates("exactk._html").get_template("page.html")
    return template.render(title=title, note=request.note, sections=[section(source) for section in SECTIONS])
