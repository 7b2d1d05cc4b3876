"""The HTML page of a report or comparison: one file without scripts, requests and fonts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from exactk._html import data_sections, difference_sections, list_sections, method_sections, value_sections
from exactk._html.list_sections import check_lists
from exactk._html.page_parts import Limits, Section, limited_section
from exactk._html.page_source import Source
from exactk._runtime import optional
from exactk._runtime.faults import plural
from exactk._runtime.texts import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import jinja2

    from exactk._html.page_parts import Content
    from exactk._report.comparison import Comparison
    from exactk._report.exports import PageRequest
    from exactk._report.report import Report

_MOST_BYTES = 950_000  # of a page, so that it is below 1 MB with what a server adds


class Topic(NamedTuple):
    """What a section is about, and what it contains."""

    anchor: str
    title: str
    question: str  # what it helps to decide
    content: Callable[[Source], Content]
    title_of_one: str = ""  # on the page of one system, if it is another one

    def section(self, source: Source) -> Section:
        """Return the section, within the limits of the page."""
        content = self.content(source)
        parts, missing = ((), source.named(content)) if isinstance(content, str) else (content, "")
        title = source.named(self.title if source.comparison else self.title_of_one or self.title)
        return limited_section(Section(self.anchor, title, source.named(self.question), parts, missing), source.limits)


_TOPICS: Sequence[Topic] = (
    Topic("verdict", "Verdict", "What these numbers say, and how sure that is.", difference_sections.verdict),
    Topic("values", "Values", "How good each system is.", value_sections.values),
    Topic(
        "differences",
        "Differences",
        "Whether a difference is real, and whether it is large enough to matter.",
        difference_sections.differences,
    ),
    Topic(
        "wins",
        "Wins, ties and losses",
        "Whether a difference comes from many users or from a few.",
        difference_sections.wins,
    ),
    Topic("ranks", "Ranks", "Which systems need not be told apart.", difference_sections.ranks),
    Topic(
        "curves",
        "Curves by cutoff",
        "Which list length to choose, and whether one system is better for short lists and another for long ones.",
        value_sections.curves,
    ),
    Topic(
        "users",
        "Distribution over users",
        "Whether the mean is that of most users or of a few.",
        value_sections.users,
    ),
    Topic(
        "groups",
        "Groups",
        "Which users a system is better for, and whether it is worse for some.",
        difference_sections.groups,
    ),
    Topic("trade-offs", "Trade-offs", "What one aim costs in the other.", value_sections.trade_offs),
    Topic(
        "examples",
        "Users who lose and gain most",
        "What failures look like, before they are shipped.",
        list_sections.examples,
        title_of_one="Worst and best users",
    ),
    Topic("drift", "What changed", "How far lists differ from those of another day or system.", list_sections.drift),
    Topic("data-health", "Data health", "Whether the numbers may be trusted.", data_sections.data_health),
    Topic("relevance", "Relevance", "Whether the test set is what you think.", list_sections.relevance),
    Topic("sample-size", "Sample size", "Whether to collect more users, or to stop.", data_sections.sample_size),
    Topic(
        "catalogue",
        "Catalogue",
        "Whether a system recommends more than what is popular.",
        value_sections.catalogue,
    ),
    Topic("definitions", "What was computed", "So that another reader computes the same.", method_sections.definitions),
    Topic(
        "reproduction",
        "How to reproduce",
        "So that the numbers can be checked, today and in a year.",
        method_sections.reproduction,
    ),
)
"""The sections of a page, in their order."""


def html_page(result: Report | Comparison, request: PageRequest) -> str:
    """Return the page."""
    template = optional.html_templates("exactk._html").get_template("page.html")
    source = Source(result, request)
    check_lists(source)
    source.check_headline()
    source.check_items()
    page, limits = _rendered(template, source), Limits()
    while len(page.encode()) > _MOST_BYTES and limits != limits.halved():
        limits = limits.halved()
        page = _rendered(template, replace(source, limits=limits))
    return page


def _rendered(template: jinja2.Template, source: Source) -> str:
    request = source.request
    title = request.title or ("Comparison of systems" if source.comparison else "Evaluation of a system")
    page = template.render(
        title=printable(title),
        note=printable(request.note),
        subtitle=_subtitle(source),
        sections=[one for one in (topic.section(source) for topic in _TOPICS) if one.parts or one.missing],
    )
    return page.encode(errors="backslashreplace").decode()


def _subtitle(source: Source) -> str:
    """Return what was evaluated, in a line."""
    counts = sorted({report.state.counts.users for report in source.reports.values()})
    users = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    users += source.named(" user" if counts == [1] else " users")
    systems = [plural(len(source.reports), "system")] if source.comparison else []
    return ", ".join(
        [*systems, plural(len(source.first), "metric"), users, f"convention {source.first.convention.name}"]
    )
