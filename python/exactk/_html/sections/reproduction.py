"""How to compute the same again, and the numbers as JSON."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exactk._html.page_parts import Code, Facts, Fold, JsonBlock, Paragraph, Section, page_table
from exactk._html.results_json import results_json
from exactk._runtime.versions import installation_facts, version_of

if TYPE_CHECKING:
    from exactk._html.page_parts import Part
    from exactk._html.page_source import Source

_QUESTION = "So that the numbers can be checked, today and in a year."
_READING = """import json, pathlib, re
page = pathlib.Path("report.html").read_text(encoding="utf-8")
block = re.search(r'<script type="application/json" id="exactk-results">(.*?)</script>', page, re.DOTALL)
results = json.loads(block[1])"""
_OF_MACHINE = ("platform", "instructions", "threads")


def reproduction(source: Source) -> Section:
    """Return the section."""
    text, left_out = results_json(source)
    parts: list[Part] = [Facts([*_facts_of_run(source), *_facts_of_machine()])]
    if source.request.inputs:
        rows = [
            [str(one["argument"]), str(one["system"] or ""), str(one["path"]), str(one["sha256"] or "none")]
            for one in source.request.inputs
        ]
        parts.append(page_table("Files", ["argument", "system", "path", "SHA-256"], rows, left=4))
    more = f" Left out, as the page would be too large: {', '.join(left_out)}." if left_out else ""
    parts.append(
        Paragraph(f"The page contains its numbers as JSON, in full precision and without data of users.{more}")
    )
    parts.append(Fold("Read them in Python", [Code(_READING, "Python code")]))
    return Section("reproduction", "How to reproduce", _QUESTION, [*parts, JsonBlock(text)])


def _facts_of_run(source: Source) -> list[tuple[str, str]]:
    facts = [("exactk", version_of("exactk")), ("written", _written())]
    if source.request.command:
        facts.append(("command", shlex.join(source.request.command)))
    digests = dict.fromkeys(report.state.truth_digest for report in source.reports.values())
    texts = [f"{digest:#034x}" for digest in digests if digest is not None]
    if texts:
        facts.append(("digest of the truth", ", ".join(texts)))
    options = None if source.comparison is None else source.comparison.state.options
    if options is not None and options.has_random_numbers:
        facts.append(
            ("random numbers", f"seed {options.seed}, {options.permutations:,} flips, {options.resamples:,} resamples")
        )
    return facts


def _written() -> str:
    """Return the time, or that of SOURCE_DATE_EPOCH, which makes equal pages of equal inputs."""
    epoch = _source_date_epoch()
    time = datetime.now(UTC) if epoch is None else datetime.fromtimestamp(epoch, UTC)
    return f"{time:%Y-%m-%d %H:%M} UTC"


def _source_date_epoch() -> int | None:
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 12 else None


def _facts_of_machine() -> list[tuple[str, str]]:
    """Return libraries and, unless the page is to be the same everywhere, the machine."""
    facts = installation_facts()
    names = ["Python", "NumPy", *([] if _source_date_epoch() is not None else _OF_MACHINE)]
    shown = [(name, facts[name]) for name in names]
    scipy = version_of("scipy")
    text = "no number depends on instructions, threads or platform"
    return [*shown, ("SciPy", scipy), ("bits", text)]
