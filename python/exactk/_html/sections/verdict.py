"""Which system is better, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from exactk._figures.figures import interval_of, opposite_signs
from exactk._html.page_parts import Cell, Findings, Paragraph, Section, page_table
from exactk._html.texts import interval_clause, number, signed, tone_of, with_minus_signs
from exactk._report.comparison_table import best_systems
from exactk._report.difference_table import format_p, percentage
from exactk._report.gate import HOW_TESTED, outcome_text
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._html.page_parts import Part, Tone
    from exactk._html.page_source import Source
    from exactk._report.difference import Difference
    from exactk._report.gate import Gate

_MOST_SENTENCES, _MOST_GROUPS = 12, 3

_RELATIONS = {
    "better": "{system} is better than {baseline} in {metric}",
    "worse": "{system} is worse than {baseline} in {metric}",
    "higher": "{system} has a higher {metric} than {baseline}",
    "lower": "{system} has a lower {metric} than {baseline}",
    "equivalent": "{system} and {baseline} are equivalent in {metric}, as they differ by less than the margin",
    "not worse": "{system} is not worse than {baseline} in {metric} by more than the margin",
    "undecided": "whether {system} or {baseline} is better in {metric} is undecided, which is no evidence that they are equal",
    "undefined": "{system} and {baseline} cannot be compared in {metric}: {reason}",
}


def verdict(source: Source) -> Section:
    """Return the section."""
    parts: list[Part] = []
    if source.request.gate is not None:
        parts += _gate_parts(source.request.gate)
    if source.rows_of:
        parts += _sentences_of_pairs(source)
        parts += _table_of_verdicts(source)
    else:
        parts.append(Findings([("", _sentence_of_values(source))]))
        if source.comparison is not None:
            parts.append(Paragraph(f"Differences were not tested: {source.no_differences}."))
    return Section("verdict", "Verdict", "What these numbers say, and how sure that is.", parts)


def _gate_parts(gate: Gate) -> Iterator[Part]:
    tones: dict[str, Tone] = {"holds": "better", "observed": "", "fails": "worse", "undecided": ""}
    yield Paragraph(f"Gate {gate.status}: {outcome_text(gate)}.", is_strong=True)
    yield Findings([(tones[check.status], f"{check.status}: {check.text}") for check in gate])
    yield Paragraph(f"{HOW_TESTED[:1].upper()}{HOW_TESTED[1:]}.")


def _sentences_of_pairs(source: Source) -> Iterator[Part]:
    rows = next(iter(source.rows_of.values()))
    sentences: list[tuple[Tone, str]] = [
        (tone_of(row.verdict), _sentence(row, source)) for row in rows[:_MOST_SENTENCES]
    ]
    if len(rows) > _MOST_SENTENCES:
        sentences.append(("", f"{len(rows) - _MOST_SENTENCES} more pairs are in the table below."))
    yield Findings(sentences)


def _sentence(row: Difference, source: Source) -> str:
    relation = _RELATIONS[row.verdict].format_map(row._asdict())
    parts = [relation[:1].upper() + relation[1:] if row.verdict == "undecided" else relation]
    if row.verdict != "undefined":
        relative = "" if math.isnan(row.relative) else f" ({with_minus_signs(percentage(row.relative))})"
        difference = f"the difference is {signed(row.difference, row)}{relative}"
        if math.isfinite(row.low) and math.isfinite(row.high):
            difference += (
                f", between {signed(row.low, row)} and {signed(row.high, row)} with {source.level_text} confidence"
            )
        parts.append(difference)
        if math.isfinite(row.p_adjusted) and row.verdict not in {
            "equivalent",
            "not worse",
        }:  # which go by other p-values
            adjusted = f"{'adjusted ' * (row.p_adjusted != row.p)}p{_name_of_test(source)}"
            p = format_p(row.p_adjusted)
            parts.append(f"{adjusted} {p[:1]} {p[1:]}" if p.startswith("<") else f"{adjusted} = {p}")
    return f"{'; '.join(parts)}.{_sentence_of_groups(row, source)}"


def _name_of_test(source: Source) -> str:
    """Return the test, where it is not the two-sided one of the mean."""
    if source.comparison is None:
        return ""
    options = source.comparison.state.options
    names = {"wilcoxon": "Wilcoxon test", "sign": "sign test"}
    parts = [*["one-sided"] * (options.alternative != "two_sided"), *filter(None, [names.get(options.test)])]
    return f" ({', '.join(parts)})" if parts else ""


def _sentence_of_groups(row: Difference, source: Source) -> str:
    """Return a warning if the difference has another sign in some groups."""
    by_group = () if source.differences is None else source.differences.by_group
    pair = (row.metric, row.system, row.baseline)
    groups = [one for one in by_group if (one.metric, one.system, one.baseline) == pair]
    opposite = opposite_signs(groups, source.level)
    if not opposite:
        return ""
    against = [str(one.group) for one in groups if one.difference * row.difference < 0]
    where = ", ".join([*against[:_MOST_GROUPS], *["..."] * (len(against) > _MOST_GROUPS)]) or "some groups"
    how = "significant in both directions" if opposite == "significant" else "not significant in both directions"
    return f" The sign is opposite in {where} ({how}): see the groups."


def _table_of_verdicts(source: Source) -> Iterator[Part]:
    """Yield the verdicts of all metrics, if there are several."""
    if len(source.rows_of) < 2:
        return
    by_pair: dict[tuple[str, str], dict[str, Difference]] = {}
    for metric, rows in source.rows_of.items():
        for row in rows:
            by_pair.setdefault((row.system, row.baseline), {})[metric] = row
    metrics = list(source.rows_of)
    rows_of_pairs: list[list[Cell | str]] = [
        [source.pair_name(*pair), *(_verdict_cell(rows.get(metric)) for metric in metrics)]
        for pair, rows in by_pair.items()
    ]
    baseline = f" against {source.pairs[0][1]}" if len({one for _, one in source.pairs}) == 1 else ""
    yield page_table(f"Verdicts in all metrics{baseline}", ["system", *metrics], rows_of_pairs, left=len(metrics) + 1)


def _verdict_cell(row: Difference | None) -> Cell:
    return Cell("") if row is None else Cell(row.verdict, tone_of(row.verdict))


def _sentence_of_values(source: Source) -> str:
    """Return what the first metric is, of one system or the best."""
    value = source.values[0]
    numbers = {system: report[value.name] for system, report in source.reports.items()}
    best: Sequence[str] = best_systems(numbers, value.info.direction) or list(numbers)[:1]
    system = best[0]
    report = source.reports[system]
    users = plural(report.counts["evaluated"][value.name], "user")
    interval = interval_clause(interval_of(report, value, source.confidence), source.level_text, users)
    if not source.comparison:
        return f"{value.spelling} is {number(numbers[system])}{interval}."
    highest = "best" if value.info.direction != "none" else "first listed"
    return f"{' and '.join(best)}: {highest} in {value.spelling} with {number(numbers[system])}{interval}."
