"""Sections of differences: the verdict in sentences, the tests, wins and losses, ranks, groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from exactk._figures import GroupsFigure, SystemStyle, differences_figure, groups_figures, interval_of, opposite_signs
from exactk._html.charts import IntervalRow, bars_chart, intervals_chart
from exactk._html.page_parts import (
    Bullets,
    Cell,
    Chart,
    Findings,
    Fold,
    Paragraph,
    interval_clause,
    joined_counts,
    number,
    page_table,
    range_of_counts,
    share_text,
    signed,
    tone_of,
    with_minus_signs,
)
from exactk._report.comparison_table import best_systems
from exactk._report.difference_table import format_p, percentage
from exactk._report.verdicts import method_text, outcome_text, ranks_text
from exactk._runtime.errors import ExactkError
from exactk._runtime.faults import capitalized, plural
from exactk._runtime.table_exports import tables_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exactk._figures import DifferencesFigure
    from exactk._html.page_parts import Content, Part, Tone
    from exactk._html.page_source import Source
    from exactk._report.difference import Difference
    from exactk._report.differences import Differences
    from exactk._report.paired_sums import Pair
    from exactk._report.verdicts import Gate, Ranks
    from exactk._runtime.table import Table


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


def verdict(source: Source) -> Content:
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
    return parts


def _gate_parts(gate: Gate) -> Iterator[Part]:
    tones: dict[str, Tone] = {"holds": "better", "observed": "", "fails": "worse", "undecided": ""}
    yield Paragraph(f"Gate {gate.status}: {outcome_text(gate)}.", is_strong=True)
    yield Findings([(tones[check.status], f"{check.status}: {check.text}") for check in gate])
    yield Paragraph(f"{capitalized(method_text(gate))}.")


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
    by_pair: dict[Pair, dict[str, Difference]] = {}
    for metric, rows in source.rows_of.items():
        for row in rows:
            by_pair.setdefault((row.system, row.baseline), {})[metric] = row
    metrics = list(source.rows_of)
    rows_of_pairs: list[list[Cell | str]] = []
    for of_pair in by_pair.values():
        verdicts = [of_pair[metric].verdict if metric in of_pair else "" for metric in metrics]
        name = source.pair_name(next(iter(of_pair.values())))
        rows_of_pairs.append([name, *(Cell(verdict, tone_of(verdict)) for verdict in verdicts)])
    baseline = f" against {source.pairs[0][1]}" if len({one for _, one in source.pairs}) == 1 else ""
    yield page_table(f"Verdicts in all metrics{baseline}", ["system", *metrics], rows_of_pairs, left=len(metrics) + 1)


def _sentence_of_values(source: Source) -> str:
    """Return what the first metric is, of one system or the best."""
    value = source.values[0]
    numbers = {system: report[value.name] for system, report in source.reports.items()}
    best: Sequence[str] = best_systems(numbers, value.info.direction) or list(numbers)[:1]
    system = best[0]
    report = source.reports[system]
    users = plural(report.counts["evaluated"][value.name], source.named("user"))
    interval = interval_clause(interval_of(report, value, source.confidence), source.level_text, users)
    if not source.comparison:
        return f"{value.spelling} is {number(numbers[system])}{interval}."
    highest = "best" if value.info.direction != "none" else "first listed"
    return f"{' and '.join(best)}: {highest} in {value.spelling} with {number(numbers[system])}{interval}."


def differences(source: Source) -> Content:
    if source.no_differences or source.comparison is None or source.differences is None:
        return source.no_differences
    metrics = list(source.rows_of)[: source.limits.charts]
    charts = [_chart_of_differences(source, differences_figure(source.comparison, metric)) for metric in metrics]
    parts: list[Part] = [*charts[:1], *table_of_differences(source.differences)]
    if len(charts) > 1:
        left_out = len(source.rows_of) - len(metrics)
        more = f" (the first {len(metrics)}, {left_out} more in the table)" if left_out else ""
        parts.append(Fold(f"Pictures of the other metrics{more}", charts[1:]))
    return parts


def table_of_differences(rows: Differences) -> list[Part]:
    """Return the rows as they print, with verdicts in colour, and how they were tested."""
    (shown,) = tables_of(rows)
    caption, *notes = shown.notes
    parts: list[Part] = [_table_of_differences(shown, rows, f"{capitalized(caption)}.")]
    return [*parts, Bullets(list(notes))] if notes else parts


def _table_of_differences(shown: Table, rows: Differences, note: str) -> Table:
    """Return the rows with the verdict, the last column of what prints, behind the names."""
    header, cells, left = shown.header, shown.rows, shown.left
    toned: list[list[Cell | str]] = [
        [*line[:left], Cell(line[-1], tone_of(row.verdict)), *line[left:-1]]
        for line, row in zip(cells, rows, strict=True)
    ]
    return page_table(shown.caption, [*header[:left], header[-1], *header[left:-1]], toned, left + 1, note)


def _row_of_difference(name: str, row: Difference, margin: float = math.nan) -> IntervalRow:
    text, tone = signed(row.difference, row), tone_of(row.verdict) or "neutral"
    return IntervalRow(name, row.difference, row.low, row.high, text, tone=tone, margin=margin)


def _chart_of_differences(source: Source, figure: DifferencesFigure) -> Chart:
    shown = figure.rows[: source.limits.marks]
    metric = shown[0].metric
    rows = [
        _row_of_difference(source.pair_name(row), row, margin)
        for row, margin in zip(shown, figure.margins, strict=False)
    ]
    verdicts = [row.verdict for row in shown]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
    band = "; the grey band is the margin" if any(margin > 0 for margin in figure.margins) else ""
    one_baseline = len({row.baseline for row in shown}) == 1
    against = f" against {shown[0].baseline}" if one_baseline and len(shown) > 1 else ""
    title = f"Differences in {metric}{against}"
    has_intervals = any(math.isfinite(row.low) for row in shown)
    lines = f", the line its {source.level_text} confidence interval" if has_intervals else ""
    finding = f"{counts}. The point is the difference{lines}{band}."
    return Chart.of(title, finding, intervals_chart(rows, f"difference in {metric}", zero=True))


_KINDS = (("better", "wins"), ("tie", "ties"), ("worse", "losses"))


def wins(source: Source) -> Content:
    if source.no_differences:
        return source.no_differences
    rows = [row for rows in source.rows_of_users.values() for row in rows]
    if not any(sum(_counts_of_wins(row)) for row in rows):
        return "no metric has values of users, which could win or lose"
    first = [row for row in rows if row.metric == rows[0].metric]
    return [_chart_of_wins(source, first[: source.limits.marks]), _table_of_wins(source, rows)]


def _counts_of_wins(row: Difference) -> tuple[int, int, int]:
    return row.wins, row.ties, row.losses


def _chart_of_wins(source: Source, rows: Sequence[Difference]) -> Chart:
    bars = [(source.pair_name(row), _counts_of_wins(row)) for row in rows]
    first = rows[0]
    better, worse = source.words_of_sides(first.metric)
    finding = (
        f"{first.system} is {better} than {first.baseline} for {first.wins:,} {source.named('users')}, "
        f"equal for {first.ties:,} and {worse} for {first.losses:,}."
    )
    title = source.named(f"Users who win, tie and lose in {first.metric}")
    return Chart.of(title, finding, bars_chart(_KINDS, bars, source.named("share of users")))


def _table_of_wins(source: Source, rows: Sequence[Difference]) -> Table:
    cells = [
        [row.metric, source.pair_name(row), *(f"{count:,}" for count in _counts_of_wins(row)), _net_share(row)]
        for row in rows
    ]
    header = ["metric", "system", "wins", "ties", "losses", "wins less losses"]
    note = "The last column is in percent of the users. For a metric without a direction, wins are higher values."
    return page_table("Wins, ties and losses", header, cells, left=2, note=source.named(note))


def _net_share(row: Difference) -> str:
    total = sum(_counts_of_wins(row))
    if not total:
        return "-"
    net = (row.wins - row.losses) / total
    sign = "+" if net > 0 else "\N{MINUS SIGN}" if net < 0 else ""
    return f"{sign}{share_text(abs(net))}"


def ranks(source: Source) -> Content:
    found, missing = _ranks_of(source)
    if not found:
        return missing
    metric, first = next(iter(found.items()))
    method = tables_of(first)[0].notes[-1]
    return [_chart_of_ranks(source, metric, first), _table_of_ranks(found), Paragraph(f"{capitalized(method)}.")]


def _ranks_of(source: Source) -> tuple[dict[str, Ranks], str]:
    """Return the ranks by metric, and why there are none."""
    if source.no_differences or source.comparison is None:
        return {}, source.no_differences
    baseline = source.comparison.state.options.baseline
    if baseline is not None:
        return {}, f"systems are compared with {baseline} alone; baseline=None compares every pair"
    found, reasons = {}, []
    for metric in source.rows_of:
        try:
            found[metric] = source.comparison.ranks(metric)
        except ExactkError as error:
            reasons.append(str(error))
    return found, next(iter(reasons), "")


def _chart_of_ranks(source: Source, metric: str, one: Ranks) -> Chart:
    shown = list(one.items())[: source.limits.marks]
    neutral = SystemStyle(0, "circle", ())
    rows = [
        IntervalRow(
            system,
            float("nan") if interval.best < interval.worst else float(interval.best),
            float(interval.best),
            float(interval.worst),
            f"{ranks_text(interval)} ({number(one.value_of(system))})",
            source.styles.get(system, neutral),
        )
        for system, interval in shown
    ]
    top = ", ".join(one.top)
    finding = f"Tied for the top: {top}." if len(one.top) > 1 else f"Top: {top}."
    title = f"Possible ranks by {metric}"
    return Chart.of(title, finding, intervals_chart(rows, "rank", integers=True))


def _table_of_ranks(found: dict[str, Ranks]) -> Table:
    systems = list(next(iter(found.values())))
    rows = [[system, *(ranks_text(one[system]) for one in found.values())] for system in systems]
    return page_table("Possible ranks in each metric", ["system", *found], rows)


_NO_GROUPS = "there are no groups of users; groups= of exactk.evaluate and exactk.compare names them"


def groups(source: Source) -> Content:
    if not any(report.state.groups for report in source.reports.values()):
        return _NO_GROUPS
    if source.comparison is None or source.differences is None or not source.differences.by_group:
        return [_table_of_group_values(source)]
    figures = sorted(groups_figures(source.comparison), key=lambda one: [*source.rows_of].index(one.metric))
    metrics = list(source.rows_of)[: source.limits.charts // 2]
    tables = [_heat_table(source, metric, [one for one in figures if one.metric == metric]) for metric in metrics]
    parts: list[Part] = [Findings(_findings(source, figures)), _chart_of_groups(source, figures[0]), *tables[:1]]
    if len(tables) > 1:
        more = f", {len(source.rows_of) - len(metrics)} more in the next table" * (len(source.rows_of) > len(metrics))
        parts.append(Fold(f"Other metrics by group{more}", tables[1:]))
    rows = source.differences.by_group[: source.limits.rows // 8]
    left_out = len(source.differences.by_group) - len(rows)
    remark = Paragraph(f"{left_out:,} more rows: comparison.differences.by_group.to_csv() has all.")
    parts.append(Fold("Differences by group", [*table_of_differences(rows), *[remark] * (left_out > 0)]))
    parts.append(Fold("Values by group", [_table_of_group_values(source)]))
    return parts


def _findings(source: Source, figures: Sequence[GroupsFigure]) -> list[tuple[Tone, str]]:
    """Return where differences have opposite signs, or are not the same in all groups."""
    rows: list[tuple[Tone, str]] = []
    for one in figures:
        name = f"{one.metric}, {source.pair_name(one)}"
        adjusted = "" if math.isnan(one.heterogeneity) else f", adjusted {format_p(one.heterogeneity_adjusted)}"
        p = adjusted and f" (heterogeneity: p = {format_p(one.heterogeneity)}{adjusted})"
        if one.opposite == "significant":
            better, worse = source.words_of_sides(one.metric)
            rows.append(("worse", f"{name}: significantly {better} in some groups and {worse} in others{p}."))
        elif one.opposite and one.heterogeneity_adjusted <= source.level:
            rows.append(("", f"{name}: the sign differs between groups, and so does the difference{p}."))
        elif one.heterogeneity_adjusted <= source.level:
            rows.append(("", f"{name}: not the same difference in all groups{p}."))
    if not rows:
        rows = [
            ("", "No difference is shown to vary between the groups, which is no evidence that it is the same in all.")
        ]
    most = source.limits.marks
    return rows if len(rows) <= most else [*rows[:most], ("", f"{len(rows) - most} more")]


def _chart_of_groups(source: Source, figure: GroupsFigure) -> Chart:
    shown = figure.rows[: source.limits.marks]
    rows = [_row_of_difference(f"{row.group} ({plural(row.users, source.named('user'))})", row) for row in shown]
    title = f"Difference in {figure.metric} by group, {figure.system} against {figure.baseline}"
    words = {
        "": "No two groups differ in sign",
        "sign": "The signs differ",
        "significant": "Groups differ significantly in sign",
    }
    finding = f"{words[figure.opposite]}. The line is the {source.level_text} confidence interval."
    return Chart.of(title, finding, intervals_chart(rows, f"difference in {figure.metric}", zero=True))


def _heat_table(source: Source, metric: str, of_metric: Sequence[GroupsFigure]) -> Table:
    """Return the differences of all pairs in a metric: a row per group, a column per pair."""
    labels = list(dict.fromkeys(row.group for one in of_metric for row in one.rows))
    cells = {(row.group, index): row for index, one in enumerate(of_metric) for row in one.rows}
    largest = max((abs(row.difference) for row in cells.values() if math.isfinite(row.difference)), default=0.0)
    largest *= -1 if source.value_of[metric].info.direction == "lower" else 1
    rows: list[list[Cell | str]] = []
    for label in labels:
        of_pairs = [cells.get((label, index)) for index in range(len(of_metric))]
        users = range_of_counts([row.users for row in of_pairs if row is not None])
        rows.append([str(label), *(_heat_cell(row, largest, source.level) for row in of_pairs), users])
    for name, numbers, form in (
        ("p of heterogeneity", [one.heterogeneity for one in of_metric], format_p),
        ("adjusted", [one.heterogeneity_adjusted for one in of_metric], format_p),
        ("I²", [100 * one.i_squared for one in of_metric], "{:.0f} %".format),
    ):
        rows.append([name, *(Cell("-" if math.isnan(one) else form(one)) for one in numbers), ""])
    header = ["group", *map(source.pair_name, of_metric), source.named("users")]
    note = "* significant, adjusted within the group. The last rows are Welch's test of whether the difference is the same in all groups, its p adjusted by Holm over all metrics and pairs, and which share of the variation between groups is more than chance would make."
    return page_table(f"Differences in {metric} by group", header, rows, note=note)


def _heat_cell(row: Difference | None, largest: float, level: float) -> Cell:
    """Return the cell of a difference, filled by its share of the largest one, which is below 0 if lower is better."""
    if row is None or math.isnan(row.difference):
        return Cell("-")
    share = row.difference / largest if largest else 0.0
    return Cell(signed(row.difference, row), share=share, mark="*" if row.p_adjusted <= level else "")


def _table_of_group_values(source: Source) -> Table:
    labels = list(dict.fromkeys(label for report in source.reports.values() for label in report.state.groups or {}))
    most = source.limits.rows // 8
    by_system = {system: report._cells_of_groups(labels[:most]) for system, report in source.reports.items()}
    rows: list[list[str]] = []
    for label in labels:
        for value in source.values:
            if len(rows) < most:
                of_systems = [of_system.get((label, value.name)) for of_system in by_system.values()]
                texts = ("-" if row is None else number(row.value) for row in of_systems)
                evaluated = joined_counts(row.evaluated for row in of_systems if row is not None)
                rows.append([str(label), value.spelling, *texts, evaluated])
    total = len(labels) * len(source.values)
    note = f"{total - len(rows):,} more rows: to_csv(table='by_group') has all." if total > len(rows) else ""
    header = ["group", "metric", *source.column_names(), source.named("users")]
    return page_table("Values by group", header, rows, left=2, note=note)
